"""Matrices that round to a normalised one: what the last digits can add to a bound."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Claim, Control, Statement

# -- symshuffle.rounded-matrix


def _of_every_matrix(bound: Any, order: Any, n: Any, eta: Any) -> Any:
    return bound + (1 + order) * n * eta


def _far(one: Channel, other: Channel) -> Fraction:
    """The largest total variation of two rows of the same input."""
    pairs: Any = zip(one.rows, other.rows, strict=True)
    return max(sum((abs(p - q) for p, q in zip(*rows, strict=True)), start=Fraction(0)) / 2 for rows in pairs)


_NORMALISED: Final = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]])


def _worst(channel: Channel, n: int, order: Fraction) -> Any:
    """The largest divergence of two neighbouring datasets of n users, in either order of the two inputs."""
    return max(worst_shuffled_divergence(channel, (x, 1 - x), n, order)[0] for x in (0, 1))


_MOVES: Final = ((0, 0, 0), (1, 0, -1), (-1, 0, 1), (1, -1, 0), (0, 1, -1))


def _moved(shift: Fraction) -> Iterator[Channel]:
    for moves in itertools.product(_MOVES, repeat=2):
        rows: Any = zip(_NORMALISED.rows, moves, strict=True)
        yield Channel(tuple(tuple(p + shift * step for p, step in zip(row, move, strict=True)) for row, move in rows))


def _check_rounded(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every row of a matrix moved in each of five ways, 1 to 3 users: the worst divergence over all datasets.

    One user attains the bound: the rows move apart on the event that tells the inputs apart.
    """
    for n, order, shift in itertools.product((1, 2, 3), (Fraction(11, 10), Fraction(3, 2)), (1, 8)):
        far = Fraction(shift, 100)
        base: Any = _worst(_NORMALISED, n, order)
        for other in _moved(far):
            found: Any = _worst(other, n, order)
            at = f"n={n}, exp(eps)={order}, rows moved by {far}: {other.rows}"
            yield compare(found, statement(base, order, n, _far(_NORMALISED, other)), "<=", at=at)
    attained = Channel.from_rows([["51/100", "1/4", "24/100"], ["24/100", "1/4", "51/100"]])
    found = _worst(attained, 1, Fraction(3, 2))
    base = _worst(_NORMALISED, 1, Fraction(3, 2))
    yield compare(found, statement(base, Fraction(3, 2), 1, Fraction(1, 100)), at="one user attains it")
    thirds = Channel.from_rows([["0.333"] * 3, ["0.5", "0.25", "0.25"]])
    answer = delta(thirds, n=2, exp_eps=Fraction(11, 10), arithmetic="ball")
    assert thirds.rounding is not None
    stated = statement(answer.bracket.upper, Fraction(11, 10), 2, thirds.rounding.row)
    yield compare(answer.every_matrix, stated, at="what the library says of every matrix")


CLAIMS: Final = (
    Claim(
        id="symshuffle.rounded-matrix",
        kind="statement",
        title="the bound for every matrix that rounds to a normalised one",
        text=(
            r"Let the rows of two matrices $P,Q$ for the same input differ by at most $\eta$ in total variation. Then "
            r"$\delta_Q(\varepsilon)\le\delta_P(\varepsilon)+(1+e^\varepsilon)n\eta$ for $n$ users."
        ),
        source="symshuffle.accountants.questions.experiments",
        assumptions=("each user sends at most one message",),
        scope="a 2 x 3 matrix, each row moved in five ways by 1/100 and 8/100, 1 to 3 users, two orders",
        grade="exact-cases",
        printed=_of_every_matrix,
        check=_check_rounded,
        controls=(
            Control("without exp(eps)", lambda bound, order, n, eta: bound + n * eta),
            Control("one user's rows alone", lambda bound, order, n, eta: bound + (1 + order) * eta),
            Control("nothing added", lambda bound, order, n, eta: bound),
        ),
        expected="holds",
    ),
)
