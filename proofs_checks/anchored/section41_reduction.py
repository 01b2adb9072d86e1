"""Section 4.1: likelihood-ratio laws of row pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.anchored import AnchoredLaw, fiber
from symshuffle.channel import Channel
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    for_all,
    identity,
)
from symshuffle.frontiers.convex_order import (
    average_law,
    exact_atoms,
)
from symshuffle.frontiers.envelope import (
    Contamination,
    Direction,
    ratio_law,
    shuffled_leakage,
)
from symshuffle.law import Law
from symshuffle.shuffled import shuffled_divergence, shuffled_law

ZERO: Final = Fraction(0)


ORDERS: Final = tuple(map(Fraction, ("1", "6/5", "3/2", "2")))


def _shadow(law: AnchoredLaw, i: int, j: int, base: int) -> Law:
    """The law of 1 + <a_i - a_j, Z> under the fiber at an input, in ratio coordinates: r_i - r_j + 1."""
    w = tuple(Fraction(int(x == base)) for x in range(law.num_inputs))
    return Law.from_atoms((1 + r[i] - r[j], weight) for r, weight in fiber(law, w).ratios.atoms())


def _scalar_shadow(law: AnchoredLaw, i: int, j: int) -> Law:
    """The base point is the input of the reference row."""
    return _shadow(law, i, j, j)


def _check_shadow_of(channels: Sequence[Channel], statement: Statement) -> Iterator[Comparison]:
    for number, channel in enumerate(channels):
        law = AnchoredLaw.from_channel(channel)
        ratio = statement(law, 0, 1)
        where = f"channel {number}"
        yield decide(
            cases.same_law(ratio_law(channel, 0, 1), ratio),
            at=where,
            claimed="the ratio law is the shadow of the fiber",
        )
        for n, gamma in ((1, ORDERS[1]), (2, ORDERS[2]), (3, ORDERS[0])):
            data = (0, *[1] * (n - 1)), (1,) * n
            for direction, (first, second) in zip(Direction, (data, data[::-1]), strict=True):
                experiment = Contamination(n, direction)
                engine = shuffled_leakage(ratio, experiment, gamma=gamma).bracket.exact
                brute = shuffled_divergence(channel, first, second, gamma)
                at = f"{where}, n={n}, order {gamma}, {direction.value}"
                yield decide(engine == brute, at=at, claimed=str(brute), computed=f"{engine}, from the ratio law")
        for n in (1, 2, 3):
            chi = sum((w * (v - 1) ** 2 for v, w in exact_atoms(average_law(ratio, n))), start=ZERO)
            yield compare(_chi_square(channel, n), chi, at=f"{where}, n={n}: chi-square")


def _chi_square(channel: Channel, n: int) -> Fraction:
    """Chi-square divergence of the shuffled pair, from histograms."""
    p, q = shuffled_law(channel, (0, *[1] * (n - 1))), shuffled_law(channel, (1,) * n)
    return sum(((p.get(h, ZERO) - mass) ** 2 / mass for h, mass in q.items()), start=ZERO)


def _check_shadow(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield from _check_shadow_of([cases.EXAMPLE, *(cases.channel(rng, 3, 3) for _ in range(5))], statement)
    ratio = ratio_law(cases.EXAMPLE, 0, 2)
    yield decide(
        shuffled_leakage(ratio, Contamination(2), gamma=1).bracket.exact == Fraction(13, 36),
        at="the example, rows 1 and 3, n=2",
        claimed="13/36",
    )


def _check_boundary(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Channels where the two rows share a zero that the third row fills: the fiber at the vertex loses mass."""
    channels = []
    for _ in range(6):
        first, second, third = cases.distribution(rng, 3), cases.distribution(rng, 3), cases.distribution(rng, 4)
        channels.append(Channel(((*first, ZERO), (*second, ZERO), third)))
    losses = [fiber(AnchoredLaw.from_channel(c), (ZERO, Fraction(1), ZERO)).lost for c in channels]
    yield compare(min(losses), ZERO, ">", at="every one of these fibers loses mass")
    yield from _check_shadow_of(channels, statement)


def _only_ratio(first: Channel, second: Channel, gamma: Fraction, n: int) -> bool:
    """Whether two channels whose first two rows have one likelihood-ratio law leak the same."""
    return True


def _check_only_ratio(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(6):
        channel = cases.channel(rng, 3, 3)
        other = Channel((*channel.rows[:2], cases.distribution(rng, 3)))
        split = Channel(tuple((row[0] / 3, 2 * row[0] / 3, *row[1:]) for row in other.rows))
        n, gamma = 2 + trial % 2, ORDERS[trial % 4]
        values = [shuffled_divergence(c, (0, *[1] * (n - 1)), (1,) * n, gamma) for c in (channel, split)]
        yield compare(
            values[0] == values[1], statement(channel, split, gamma, n), at=f"pair {trial}, n={n}, order {gamma}"
        )


def _beside_a_null_entry(lam: Any) -> Any:
    """The largest entry that another row can have at an output that one row does not have, under the cap."""
    return 0 * lam


def _check_continuity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    lam, null, entry = sp.Symbol("lambda", positive=True), sp.Integer(0), sp.Symbol("w", real=True)
    (largest,) = sp.solve(sp.Eq(entry, lam * null), entry)  # the cap: an entry is at most lam times any other
    yield identity(largest, statement(lam), at="every lam, output and pair of rows")
    for trial in range(20):
        channel = cases.channel(rng, 3, 3, zeros=0.3) if trial % 2 else cases.capped_channel(rng, 3, 3, Fraction(3))
        cap = channel.ratio_cap()
        if cap != float("inf"):
            beside = [max(column) for column in zip(*channel.rows, strict=True) if min(column) == 0]
            yield compare(max(beside, default=ZERO), statement(Fraction(3)), "<=", at=f"channel {trial}, cap {cap}")


CLAIMS: Final = (
    Claim(
        id="anchored.prop-4.1",
        kind=Kind.STATEMENT,
        title="pairwise likelihood ratios are scalar shadows",
        text=(
            r"The ratio of rows $i$ and $j$ is $1+\langle a_i-a_j,Z\rangle$, $Z\sim\eta_{e_j}$; the shuffled "
            r"contamination pair has $D_f=Ef(\bar L_n)$."
        ),
        source="anchored, Proposition 4.1",
        assumptions=("row $i$ dominated by row $j$",),
        scope="6 channels, n <= 3, both directions, by histograms; chi-square",
        grade=Grade.EXACT_CASES,
        printed=_scalar_shadow,
        check=_check_shadow,
        controls=(Control("the fiber at the other input", lambda law, i, j: _shadow(law, i, j, i)),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.rem-4.2",
        kind=Kind.STATEMENT,
        title="the boundary base point does no harm",
        text="The reduction at the vertex $e_j$ needs no mean-zero fiber: mass that neither row has may be lost.",
        source="anchored, Remark 4.2",
        assumptions=("row $i$ dominated by row $j$",),
        scope="6 channels whose fiber at the vertex loses mass, n <= 3, both directions",
        grade=Grade.EXACT_CASES,
        printed=_scalar_shadow,
        check=_check_boundary,
        controls=(Control("the fiber at the other input", lambda law, i, j: _shadow(law, i, j, i)),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.rem-4.3",
        kind=Kind.STATEMENT,
        title="the pair depends on its likelihood-ratio law only",
        text=(
            "The shuffled contamination pair depends on the channel only through the law of the ratio of its two rows."
        ),
        source="anchored, Remark 4.3 (first shown elsewhere in another form)",
        assumptions=(),
        scope="6 pairs of channels that agree in two rows up to refinement, n = 2, 3",
        grade=Grade.EXACT_CASES,
        printed=_only_ratio,
        check=_check_only_ratio,
        controls=(Control("it depends on the third row too", lambda first, second, gamma, n: False),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.rem-4.4",
        kind=Kind.STATEMENT,
        title="a common cap makes rows mutually absolutely continuous",
        text="Under a finite local cap all rows have the same null outputs.",
        source="anchored, Remark 4.4",
        assumptions=(r"$\varepsilon_0<\infty$",),
        scope="every lam, output and pair; the channels of finite cap among 20 random ones, half of them with zeros",
        grade=Grade.PROVED,
        printed=_beside_a_null_entry,
        check=_check_continuity,
        controls=(Control("an additive slack of a millionth", lambda lam: lam / 10**6),),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("lam"),
    ),
)
