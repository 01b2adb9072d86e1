"""Section 4.1: likelihood-ratio laws of row pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.base.choices import Direction, members
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.channels.shuffled import shuffled_divergence, shuffled_law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.anchored.maps import fiber
from symshuffle.utility.frontiers.contamination import Contamination, ratio_law, shuffled_leakage
from symshuffle.utility.frontiers.convex_order import average_law, exact_atoms

ZERO: Final = Fraction(0)


ORDERS: Final = tuple(map(Fraction, ("1", "6/5", "3/2", "2")))


def _shadow(first: Any, second: Any) -> Any:
    """1 + <a_i - a_j, z> at z = phi(x), the projective map at e_j, from the coordinates i and j of the template.

    <a_x, x> is the template coordinate less 1, and the map divides by coordinate j.
    """
    return 1 + (first - second) / second


def _at_the_other(first: Any, second: Any) -> Any:
    """The map at the other input divides by coordinate i."""
    return 1 + (first - second) / first


def _shadow_law(statement: Statement, law: AnchoredLaw, i: int, j: int) -> Law:
    """The law of the shadow under the fiber: templates without coordinate j are lost."""
    atoms = [(u, weight) for u, weight in law.template.atoms() if u[j]]
    return Law.from_atoms((statement(u[i], u[j]), weight * u[j]) for u, weight in atoms)


def _shadow_for_all(statement: Statement) -> Iterator[Comparison]:
    """An arbitrary output, any number of users and any divergence."""
    q, first, second, base = sp.symbols("q u_i u_j u", positive=True)
    ratio = (q * first) / (q * second)  # an output of average mass q
    yield identity(ratio, statement(first, second), at="every channel and output: ratio of two rows")
    # A fiber in ratio coordinates: those of the template over that at the base point, here e_j (Definition 3.3).
    yield identity(first / base - second / base + 1, statement(first, base) - statement(second, base) + 1,
                   at="every template: a difference of two coordinates of the fiber")  # fmt: skip
    r, n = sp.symbols("r n", integer=True, positive=True)
    p, law = sp.IndexedBase("P"), sp.IndexedBase("Q")
    everybody = sp.Symbol("all", positive=True)  # the mass of the messages if all users hold j
    # One user, placed uniformly, holds i: her factor is exchanged for that of row i.
    placed = sp.Sum(everybody / law[r] * p[r] / n, (r, 1, n))
    averaged = everybody * sp.Sum(sp.cancel(statement(p[r], law[r])), (r, 1, n)) / n
    same = sp.simplify(placed - averaged) == 0
    at = "every n: the ratio of the shuffled pair is the average of n shadows"
    yield decide(same, at=at, claimed="average", symbolic=True)


def _check_shadow_of(channels: Sequence[Channel], statement: Statement) -> Iterator[Comparison]:
    """Channels one by one: ratio law and fiber against the stated shadow, divergences against histograms.

    n <= 3, both directions, and chi-square divergences; exact rationals.
    """
    for number, channel in enumerate(channels):
        law = AnchoredLaw.from_channel(channel)
        ratio = _shadow_law(statement, law, 0, 1)
        where = f"channel {number}"
        yield decide(
            cases.same_law(ratio_law(channel, 0, 1), ratio),
            at=where,
            claimed="the ratio law is the shadow of the fiber",
        )
        w = (ZERO, Fraction(1), *[ZERO] * (law.num_inputs - 2))
        shadows = ((1 + r[0] - r[1], weight) for r, weight in fiber(law, w).ratios.atoms())
        yield decide(cases.same_law(Law.from_atoms(shadows), ratio), at=where, claimed="and of the library's fiber")
        for n, gamma in ((1, ORDERS[1]), (2, ORDERS[2]), (3, ORDERS[0])):
            data = (0, *[1] * (n - 1)), (1,) * n
            for direction, (first, second) in zip(members(Direction), (data, data[::-1]), strict=True):
                experiment = Contamination(n, direction)
                engine = shuffled_leakage(ratio, experiment, gamma=gamma).bracket.exact
                brute = shuffled_divergence(channel, first, second, gamma)
                at = f"{where}, n={n}, order {gamma}, {direction}"
                yield decide(engine == brute, at=at, claimed=str(brute), computed=f"{engine}, from the ratio law")
        for n in (1, 2, 3):
            chi = sum((w * (v - 1) ** 2 for v, w in exact_atoms(average_law(ratio, n))), start=ZERO)
            yield compare(_chi_square(channel, n), chi, at=f"{where}, n={n}: chi-square")


def _chi_square(channel: Channel, n: int) -> Fraction:
    """Chi-square divergence of the shuffled pair, from histograms."""
    p, q = shuffled_law(channel, (0, *[1] * (n - 1))), shuffled_law(channel, (1,) * n)
    return sum(((p.get(h, ZERO) - mass) ** 2 / mass for h, mass in q.items()), start=ZERO)


def _check_shadow(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any output and n: the stated shadow is the ratio of two rows, and averages are that of the pair; symbolic.

    Then 6 channels at n <= 3 by histograms, and one value of the example, in exact rationals.
    """
    yield from _shadow_for_all(statement)
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
    yield from _shadow_for_all(statement)
    yield compare(min(losses), ZERO, ">", at="every one of these fibers loses mass")
    yield from _check_shadow_of(channels, statement)


def _only_ratio(third: Any) -> Any:
    """By how much the likelihood ratio of the shuffled pair changes with the entry of any other row."""
    return 0 * third


def _check_only_ratio(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any output: change of the shadow with a third row, and with a split, against the stated; symbolic.

    So for the shuffled divergence of 6 pairs of channels with two rows in common, one of them refined, in exact
    rationals.
    """
    q, first, second, third, other = sp.symbols("q u_i u_j u_l v_l", positive=True)
    # Another entry of a third row changes the average mass and all templates; splitting an output scales its entries.
    before = _shadow(first / q, second / q)
    after = _shadow(first / (q + other - third), second / (q + other - third))
    yield identity(after - before, statement(third), at="every channel: other rows cancel in the shadow")
    split = sp.Symbol("t", positive=True)
    halves = _shadow(split * first, split * second)
    yield identity(halves - before, statement(split), at="every channel: so does the share of a refinement")
    for trial in range(6):
        channel = cases.channel(rng, 3, 3)
        changed = Channel((*channel.rows[:2], cases.distribution(rng, 3)))
        refined = Channel(tuple((row[0] / 3, 2 * row[0] / 3, *row[1:]) for row in changed.rows))
        n, gamma = 2 + trial % 2, ORDERS[trial % 4]
        values = [shuffled_divergence(c, (0, *[1] * (n - 1)), (1,) * n, gamma) for c in (channel, refined)]
        at = f"pair {trial}, n={n}, order {gamma}"
        yield compare(values[1] - values[0], statement(Fraction(1, 3)), at=at)


def _beside_a_null_entry(lam: Any) -> Any:
    """The largest entry that another row can have at an output that one row does not have, under the cap."""
    return 0 * lam


def _check_continuity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every lam: the largest entry that the cap allows beside a null one, solved for, is the stated; symbolic.

    Then the random channels of finite cap among 20: largest entries beside a null one, in exact rationals.
    """
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
        kind="statement",
        title="pairwise likelihood ratios are scalar shadows",
        text=(
            Clause("shadow", r"The ratio of rows $i$ and $j$ is $1+\langle a_i-a_j,Z\rangle$, $Z\sim\eta_{e_j}$."),
            Clause("pair", r"The shuffled contamination pair has $D_f=Ef(\bar L_n)$."),
        ),
        source="anchored, Proposition 4.1",
        assumptions=("row $i$ dominated by row $j$",),
        scope="every channel, output and n; 6 channels, n <= 3, both directions, by histograms; chi-square",
        grade="proved",
        printed=_shadow,
        check=_check_shadow,
        controls=(Control("the fiber at the other input", _at_the_other),),
        expected="holds",
        obligations=for_all("first", "second", clause=("shadow", "pair")),
    ),
    Claim(
        id="anchored.rem-4.2",
        kind="statement",
        title="the reduction at a vertex needs no mean-zero fiber",
        text=(
            Clause("reduction", "The pairwise reduction holds at the vertex $e_j$."),
            Clause(
                "mean",
                "The fiber there need not have mean zero: it does not see points to which neither of the two "
                "rows gives probability.",
            ),
        ),
        source="anchored, Remark 4.2",
        assumptions=("row $i$ dominated by row $j$",),
        scope="every channel, output and n; 6 channels whose fiber at the vertex loses mass, n <= 3, both directions",
        grade="proved",
        printed=_shadow,
        check=_check_boundary,
        controls=(Control("the fiber at the other input", _at_the_other),),
        expected="holds",
        obligations=for_all("first", "second", clause=("reduction", "mean")),
    ),
    Claim(
        id="anchored.rem-4.3",
        kind="statement",
        title="the pair depends on its likelihood-ratio law only",
        text=(
            "The shuffled contamination pair depends on the channel only through the law of the ratio of its two rows."
        ),
        source="anchored, Remark 4.3 (first shown elsewhere in another form)",
        assumptions=(),
        scope="every channel and refinement, with Proposition 4.1; 6 pairs with two rows in common, n = 2, 3",
        grade="proved",
        printed=_only_ratio,
        check=_check_only_ratio,
        controls=(Control("a thousandth of the third row enters", lambda third: third / 1000),),
        expected="holds",
        obligations=for_all("third"),
    ),
    Claim(
        id="anchored.rem-4.4",
        kind="statement",
        title="a common cap makes rows mutually absolutely continuous",
        text="Under a finite local cap all rows have the same null outputs.",
        source="anchored, Remark 4.4",
        assumptions=(r"$\varepsilon_0<\infty$",),
        scope="every lam, output and pair; the channels of finite cap among 20 random ones, half of them with zeros",
        grade="proved",
        printed=_beside_a_null_entry,
        check=_check_continuity,
        controls=(Control("an additive slack of a millionth", lambda lam: lam / 10**6),),
        expected="holds",
        obligations=for_all("lam"),
    ),
)
