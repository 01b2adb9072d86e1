"""Section 5.1: the best decomposition bound as a positive part, over all users or the active ones; Appendix C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from proofs_checks.decomposition._algorithms import blanket_laws
from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    REVEALING,
    STUDY,
    Excess,
    binomial_mass,
    height,
    key_identity,
    labelled_channels,
    named_channels,
    one_more_coin,
    one_over,
    open_height,
    open_rows,
    outside_identity,
    plus,
    sole_coin,
    targets,
)
from proofs_checks.decomposition.section51_gparv import LDP, NOT_LDP, ratios
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import law_divergence, worst_shuffled_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
)
from symshuffle.ledger.claims.parts import Erratum

# -- decomposition.thm-13


Value: TypeAlias = Callable[[Statement, Any, Any, Any, int, Any], Any]
"""What a statement says of rows, blanket, number of users and exp(eps)."""


def _directly(statement: Statement, first: Any, second: Any, floor: Any, n: int, exp_eps: Any) -> Any:
    """The stated sum itself."""
    return height(statement(first, second, floor, n, exp_eps))


def _optimal(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The comparisons under LDP, then outputs that the blanket does not charge, where the printed sum falls short.

    These are a third output with open masses for n <= 2, symbolic, and two channels that are not LDP, n <= 3, in
    rationals.
    """
    yield from _optimal_under_ldp(statement, rng)
    yield outside_identity()
    yield from _beyond_ldp(statement, _directly)


def _optimal_under_ldp(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """What a cell and the residual atom add, at open masses, counts and n; two open outputs for n <= 2: symbolic.

    Then eight LDP channels, n <= 3, both directions: the blanket pair's divergence equals the stated sum, and the truth
    over all backgrounds is at most that; in rationals.
    """
    yield from key_identity(statement, residual=True)
    yield from _for_ldp(statement, _directly, rng)


def _beyond_ldp(statement: Statement, value: Value) -> Iterator[Comparison]:
    """A third output that the blanket does not charge, open masses; and two channels that are not LDP."""
    yield from _open_channel(statement, value, outputs=3)
    revealing = ("an output that one input never sends", REVEALING)
    yield from _optimal_for(statement, value, [*named_channels(*NOT_LDP[:1]), revealing])


def _for_ldp(statement: Statement, value: Value, rng: np.random.Generator) -> Iterator[Comparison]:
    """Two outputs with open masses for n <= 2, and eight LDP channels."""
    yield from _open_channel(statement, value, outputs=2)
    labelled = [*named_channels(*LDP), ("the study channel", STUDY)]
    labelled += labelled_channels(rng, 3, ((3, 3), (4, 2)))
    yield from _optimal_for(statement, value, labelled)


def _open_channel(statement: Statement, value: Value, *, outputs: int) -> Iterator[Comparison]:
    """The divergence of the blanket experiment by enumeration, masses and exp(eps) open, against the stated value."""
    rows, x = open_rows()
    floor, first, second = (row[:outputs] for row in rows)
    for n in (1, 2):
        computed = open_height(first, second, floor, x, n, residual=True)
        at = f"{outputs} outputs with open masses, any exp(eps), n={n}"
        yield identity(computed, value(statement, first, second, floor, n, x), at=at)


def _optimal_for(statement: Statement, value: Value, labelled: list[tuple[str, Channel]]) -> Iterator[Comparison]:
    """Given channels, n <= 3, four orders, both directions: the blanket pair's divergence equals the stated value.

    The truth over all backgrounds is at most that; in rationals.
    """
    for label, channel in labelled:
        cap: Any = channel.ratio_cap()
        for n in (1, 2, 3):
            for exp_eps in targets(min(cap, 2)):
                for direction, pair in DIRECTIONS:
                    at = f"{label}, n={n}, exp(eps)={exp_eps}, {direction}"
                    own, other = (channel.rows[x] for x in pair)
                    first, second = blanket_laws(channel, pair, n)
                    claimed = value(statement, own, other, channel.blanket(), n, exp_eps)
                    yield compare(law_divergence(first, second, exp_eps), claimed, at=f"{at}: blanket pair")
                    truth, background = worst_shuffled_divergence(channel, pair, n, exp_eps)
                    yield compare(truth, claimed, "<=", at=f"{at}: truth, background {background}")


def _optimal_value(first: Any, second: Any, floor: Any, n: Any, exp_eps: Any) -> Excess:
    """The same for the primary decomposition: with a residual atom 0."""
    rest = (Fraction(0), 1 - sum(floor, Fraction(0)))
    return one_over(n), n, [*ratios(first, second, floor, exp_eps), rest], Fraction(0)


def _outside(first: Any, second: Any, floor: Any, exp_eps: Any) -> Any:
    """What the outputs that the blanket does not charge reveal for certain."""
    columns = zip(first, second, floor, strict=True)
    return sum((plus(a - exp_eps * b) for a, b, c in columns if not c), Fraction(0))


THM_13 = Claim(
    id="decomposition.thm-13",
    kind="statement",
    title="best decomposition bound as a positive part of a sum",
    text=(
        Clause(
            "bound",
            r"For a local randomizer, $D_{e^\varepsilon}(M_S(X^0)\Vert M_S(X^1))\le "
            r"D_{e^\varepsilon}(P_0^B\Vert P_1^B)=\frac1n E[\sum_{i\le n}G_i]_+$ with $G$ of Definition 9.",
        ),
        Clause(
            "without LDP",
            "As printed, without the LDP assumption of Theorems 1, 2 and 4, the identity fails where the "
            "pair sends outputs outside the blanket, and the sum is then no bound.",
        ),
    ),
    source="decomposition, Theorem 13",
    assumptions=("gamma > 0", "eps >= 0", "the blanket bounds the shuffled divergence (Theorem 2)"),
    scope="what a cell adds, for any cell, count and n; open masses for n <= 2; eight LDP channels and two that are "
    "not, all backgrounds, both directions, n <= 3",
    grade="refuted",
    printed=_optimal_value,
    check=_optimal,
    controls=(
        Control(
            "without the residual atom",
            lambda first, second, floor, n, x: (one_over(n), n, ratios(first, second, floor, x), Fraction(0)),
            _optimal_under_ldp,
        ),
        Control(
            "1/(n + 1) instead of 1/n",
            lambda first, second, floor, n, x: (one_over(n + 1), *_optimal_value(first, second, floor, n, x)[1:]),
            _optimal_under_ldp,
        ),
    ),
    expected="refuted",
    erratum=Erratum(
        "hypothesis",
        "granted",
        "The theorem omits the local privacy that the theorems around it suppose; with it nothing changes.",
        quote="Let R be a local randomizer",
    ),
    corrected=Correction(
        r"The same for randomizers that are LDP (or, more generally, with $R(x_1^0),R(x_1^1)\ll\omega$); otherwise add "
        r"$\sum(R(x_1^0)(y)-e^\varepsilon R(x_1^1)(y))_+$ over the outputs outside the blanket.",
        lambda first, second, floor, n, x: (
            *_optimal_value(first, second, floor, n, x)[:3],
            _outside(first, second, floor, x),
        ),
        "proved",
    ),
    obligations=for_all("first", "second", "floor", "n", "x", clause=("bound", "without LDP")),
)


# -- decomposition.lem-3


def _active(first: Any, second: Any, floor: Any, n: Any, exp_eps: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """For m of n users who take the blanket: mass, share of the sum, atoms of L, and what lies outside."""
    gamma = sum(floor, Fraction(0))
    law = ratios(first, second, [mass / gamma for mass in floor], exp_eps)
    return binomial_mass(n, m, gamma), one_over(n) / gamma, law, Fraction(0)


def _by_active_users(statement: Statement, first: Any, second: Any, floor: Any, n: int, exp_eps: Any) -> Any:
    """The stated mean over the number of active users."""
    terms = [(m, statement(first, second, floor, n, exp_eps, m)) for m in range(1, n + 1)]
    outside = terms[0][1][3]
    return sum((weight * height((share, m, law, 0)) for m, (weight, share, law, _) in terms), Fraction(0)) + outside


def _random_number(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The comparisons under LDP, then outputs that the blanket does not charge, where the printed sum falls short.

    As for Theorem 13: open masses for n <= 2, symbolic; two channels that are not LDP, n <= 3, in rationals.
    """
    yield from _random_under_ldp(statement, rng)
    yield outside_identity()
    yield from _beyond_ldp(statement, _by_active_users)


def _random_under_ldp(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The stated mass of m active users by induction: one user, and one more; any n, m and gamma.

    What an active user's cell adds, for open masses, n and m, by identity. Then two open outputs for n <= 2 and eight
    LDP channels, n <= 3, as for Theorem 13, the value summed over m.
    """
    a, b, x, n, m = sp.symbols("a b x n m", positive=True)
    c1, c2 = sp.symbols("c1 c2", positive=True)

    def mass(users: Any, active: Any, share: Any) -> Any:
        return statement((a,), (b,), (share,), users, x, active)[0]

    yield one_more_coin(mass)
    yield from sole_coin(mass)
    _, share, law, outside = statement((a, a), (b, b), (c1, c2), n, x, m)
    yield identity(outside, 0, at="nothing outside, any n")
    for (value, weight), c in zip(law, (c1, c2), strict=True):
        yield identity((a - x * b) / c / n, share * value, at="what an active user adds, for any cell, n and m")
        yield identity(weight * (c1 + c2), c, at="an active user's cell, for any n and m")
    yield from _for_ldp(statement, _by_active_users, rng)


LEM_3 = Claim(
    id="decomposition.lem-3",
    kind="statement",
    title="the same bound over a random number of blanket users",
    text=(
        Clause(
            "bound",
            r"$D_{e^\varepsilon}(P_0^B\Vert P_1^B)=\frac1{\gamma n}\sum_{m=1}^n\binom "
            r"nm\gamma^m(1-\gamma)^{n-m}E[\sum_{i\le m}L_i]_+$ bounds the shuffled divergence.",
        ),
        Clause("without LDP", "As printed, without an LDP assumption, it fails like Theorem 13."),
    ),
    source="decomposition, Lemma 3 and equation (11)",
    assumptions=("gamma > 0", "eps >= 0", "the blanket bounds the shuffled divergence (Theorem 2)"),
    scope="number of blanket users by induction, and what each adds, for any n and m; open masses for n <= 2; eight "
    "LDP channels and two that are not, all backgrounds, both directions, n <= 3",
    grade="refuted",
    printed=_active,
    check=_random_number,
    controls=(
        Control(
            "1/n instead of 1/(gamma n)",
            lambda first, second, floor, n, x, m: (
                _active(first, second, floor, n, x, m)[0],
                one_over(n),
                *_active(first, second, floor, n, x, m)[2:],
            ),
            _random_under_ldp,
        ),
        Control(
            "Bin(n + 1, gamma) blanket users",
            lambda first, second, floor, n, x, m: (
                _active(first, second, floor, n + 1, x, m)[0],
                *_active(first, second, floor, n, x, m)[1:],
            ),
            _random_under_ldp,
        ),
    ),
    expected="refuted",
    erratum=Erratum(
        "hypothesis",
        "granted",
        "As in Theorem 13 local privacy is used and not supposed; with it nothing changes.",
        quote="Lemma 3 and (11), for every local randomizer",
        same_as="decomposition.thm-13",
    ),
    corrected=Correction(
        r"The same for LDP randomizers; otherwise add $\sum(R(x_1^0)(y)-e^\varepsilon R(x_1^1)(y))_+$ over the outputs "
        r"outside the blanket.",
        lambda first, second, floor, n, x, m: (
            *_active(first, second, floor, n, x, m)[:3],
            _outside(first, second, floor, x),
        ),
        "proved",
    ),
    obligations=for_all("first", "second", "floor", "n", "x", "m", clause=("bound", "without LDP")),
)

CLAIMS: tuple[Claim, ...] = (THM_13, LEM_3)
