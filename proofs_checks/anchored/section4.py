"""Section 4: likelihood-ratio laws of row pairs, and the universal binary envelope."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb
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
    Correction,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    identity,
)
from symshuffle.design.convex_order import (
    average_law,
    convex_order,
    exact_atoms,
    moments_from_average,
    profile_gap,
    rigidity_gap,
    stop_loss,
)
from symshuffle.design.envelope import (
    Contamination,
    Direction,
    binary_envelope,
    certify_envelope,
    endpoint_law,
    ratio_law,
    shuffled_leakage,
)
from symshuffle.law import Law
from symshuffle.mechanisms.finite import krr, rr
from symshuffle.numbers import Exp
from symshuffle.shuffled import backgrounds, law_divergence, shuffled_divergence, shuffled_law

ZERO: Final = Fraction(0)
ORDERS: Final = tuple(map(Fraction, ("1", "6/5", "3/2", "2")))


def _shadow(law: AnchoredLaw, i: int, j: int, base: int) -> Law:
    """The law of 1 + <a_i - a_j, Z> under the fiber at an input, in ratio coordinates: r_i - r_j + 1."""
    w = tuple(Fraction(int(x == base)) for x in range(law.num_inputs))
    return Law.from_atoms((1 + r[i] - r[j], weight) for r, weight in fiber(law, w).ratios.atoms())


def _scalar_shadow(law: AnchoredLaw, i: int, j: int) -> Law:
    """The base point is the input of the reference row."""
    return _shadow(law, i, j, j)


def _same_law(left: Law, right: Law) -> bool:
    return sorted(exact_atoms(left)) == sorted(exact_atoms(right))


def _check_shadow_of(channels: Sequence[Channel], statement: Statement) -> Iterator[Comparison]:
    for number, channel in enumerate(channels):
        law = AnchoredLaw.from_channel(channel)
        ratio = statement(law, 0, 1)
        where = f"channel {number}"
        yield decide(
            _same_law(ratio_law(channel, 0, 1), ratio), at=where, claimed="the ratio law is the shadow of the fiber"
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


def _mutually_continuous(channel: Channel) -> bool:
    """Whether all rows have the same null outputs."""
    return True


def _check_continuity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(20):
        channel = cases.channel(rng, 3, 3, zeros=0.3) if trial % 2 else cases.capped_channel(rng, 3, 3, Fraction(3))
        if channel.ratio_cap() != float("inf"):
            supports = {tuple(bool(entry) for entry in row) for row in channel.rows}
            yield compare(len(supports) == 1, statement(channel), at=f"channel {trial}, cap {channel.ratio_cap()}")


def _endpoint(lam: Any) -> list[tuple[Any, Any]]:
    """Atoms and weights of the endpoint law."""
    return [(lam, 1 / (1 + lam)), (1 / lam, lam / (1 + lam))]


def _check_endpoint(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    lam = sp.Symbol("lambda", positive=True)
    atoms = statement(lam)
    yield identity(sum(w for _, w in atoms), 1, at="every lam: total mass")
    yield identity(sum(v * w for v, w in atoms), 1, at="every lam: mean")
    yield identity(sum(w * (v - 1) ** 2 for v, w in atoms), (lam - 1) ** 2 / lam, at="every lam: variance")
    high, low = rr().symbolic_rows()
    matrix = [[entry.subs(rr().parameters[0].symbol, lam) for entry in row] for row in (high, low)]
    for y, (value, weight) in enumerate(atoms):
        yield identity(matrix[0][y] / matrix[1][y], value, at=f"binary randomized response, output {y}: ratio")
        yield identity(matrix[1][y], weight, at=f"binary randomized response, output {y}: mass under the reference")
    for ratio in map(Fraction, ("1", "3/2", "7")):
        claimed = Law.from_atoms(statement(ratio))
        yield decide(_same_law(endpoint_law(ratio), claimed), at=f"lam={ratio}", claimed="the library's law")


def _random_ratio(rng: np.random.Generator, lam: Fraction, atoms: int) -> Law:
    """A random law of mean one on [1/lam, lam] that is not the endpoint law."""
    low = 1 / lam
    while True:
        values = [low + (lam - low) * Fraction(v, 12) for v in cases.integers(rng, atoms, 1, 11)]
        weights = cases.distribution(rng, atoms)
        mean = sum((v * w for v, w in zip(values, weights, strict=True)), start=ZERO)
        end = lam if mean < 1 else low
        if mean == 1:
            return Law.from_atoms(zip(values, weights, strict=True))
        share = (1 - end) / (mean - end)  # share * mean + (1 - share) * end = 1
        return Law.from_atoms([*((v, w * share) for v, w in zip(values, weights, strict=True)), (end, 1 - share)])


def _chord(value: Any, lam: Any) -> Any:
    """The weight at lam that a point of [1/lam, lam] is split with."""
    return (value - 1 / lam) / (lam - 1 / lam)


def _check_maximum(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    value, lam = sp.symbols("l lambda", positive=True)
    weight = statement(value, lam)
    yield identity(weight * lam + (1 - weight) / lam, value, at="every l, lam: the split keeps the mean")
    yield identity(weight.subs(value, lam), 1, at="weight at the upper end")
    yield identity(weight.subs(value, 1 / lam), 0, at="weight at the lower end")
    for trial in range(20):
        cap = (Fraction(3, 2), Fraction(3), Fraction(9))[trial % 3]
        ratio = _random_ratio(rng, cap, 2 + trial % 4)
        yield decide(
            convex_order(ratio, endpoint_law(cap)).holds, at=f"law {trial}, lam={cap}", claimed="below the endpoint law"
        )
        mass = sum((w * statement(v, cap) for v, w in exact_atoms(ratio)), start=ZERO)
        yield compare(mass, 1 / (1 + cap), at=f"law {trial}: the splits add up to the endpoint law")


def _coupled(value: Fraction, lam: Fraction) -> Fraction:
    """The conditional probability of lam given l in the martingale coupling with the endpoint law."""
    return Fraction(_chord(value, lam))


def _check_coupling(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(10):
        lam = (Fraction(2), Fraction(5))[trial % 2]
        ratio, end = _random_ratio(rng, lam, 2 + trial % 3), endpoint_law(lam)
        found = convex_order(ratio, end)
        yield decide(found.holds, at=f"law {trial}", claimed="a coupling exists")
        for (value, weight), row in zip(exact_atoms(ratio), found.coupling or (), strict=False):
            yield compare(row[-1] / weight, statement(value, lam), at=f"law {trial}, l={value}: weight at lam")
        reverse = convex_order(end, ratio)
        yield decide(
            not reverse.holds and reverse.threshold is not None,
            at=f"law {trial}",
            claimed="reversed order refused with a threshold",
        )
        for n in (2, 3):
            spread = convex_order(average_law(ratio, n), average_law(end, n))
            yield decide(spread.holds, at=f"law {trial}, averages of {n}", claimed="a coupling exists")


def _averages(lower: Law, upper: Law) -> bool:
    """Whether convex order passes to averages."""
    return True


def _check_averages(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(12):
        lower = Law.from_atoms(
            zip(map(Fraction, cases.integers(rng, 3, 0, 9)), cases.distribution(rng, 3), strict=True)
        )
        upper = Law.from_atoms(
            (v + step, w / 2)
            for v, w in exact_atoms(lower)
            for d in [Fraction(int(rng.integers(0, 4)))]
            for step in (d, -d)
        )
        for n in (1, 2, 3, 4):
            x, y = average_law(lower, n), average_law(upper, n)
            thresholds = [v for v, _ in (*exact_atoms(x), *exact_atoms(y))]
            below = all(stop_loss(x, t) <= stop_loss(y, t) for t in thresholds)
            yield compare(below, statement(lower, upper), at=f"spread {trial}, n={n}")


def _envelope(lam: Any, n: int, gamma: Any, forward: bool) -> Any:
    """The divergence of binary randomized response: a binomial sum."""
    total = ZERO
    for count in range(n + 1):
        average = (count * lam + (n - count) / lam) / n
        excess = average - gamma if forward else 1 - gamma * average
        total += comb(n, count) * lam ** (n - count) / (1 + lam) ** n * max(excess, ZERO)
    return total


def _swapped(lam: Any, n: int, gamma: Any, forward: bool) -> Any:
    """The weights of the endpoint law exchanged."""
    total = ZERO
    for count in range(n + 1):
        average = (count * lam + (n - count) / lam) / n
        excess = average - gamma if forward else 1 - gamma * average
        total += comb(n, count) * lam**count / (1 + lam) ** n * max(excess, ZERO)
    return total


CERTIFIED: Final = (
    ("1", 10, "6/5", Direction.FORWARD, "0.06128403344202282721802"),
    ("1", 100, "11/10", Direction.FORWARD, "0.009776283543741978847335"),
    ("1", 100, "11/10", Direction.REVERSE, "0.01151825440678075717403"),
    ("1/2", 1000, "51/50", Direction.FORWARD, "0.0008148700363884438785476"),
)
"""Budget, users, order, direction, and the envelope rounded down: computed once with mpmath from the binomial sum."""


def _check_envelope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    a, b, lam = sp.symbols("a b lambda", positive=True)  # masses of an output under the two rows
    first, second = (lam * a - b) / (lam - 1), (lam * b - a) / (lam - 1)
    yield identity((lam * first + second) / (1 + lam), a, at="every channel: the kernel gives row i from input 0")
    yield identity((first + lam * second) / (1 + lam), b, at="every channel: the kernel gives row j from input 1")
    yield identity(first.subs({a: 1, b: 1}), 1, at="every channel: total mass of a kernel row")
    for trial in range(20):
        cap = (Fraction(3, 2), Fraction(2), Fraction(4))[trial % 3]
        channel = cases.capped_channel(rng, 2 + trial % 3, 3, cap)
        certify_envelope(channel, 0, 1, lam=cap)
        n, gamma = 1 + trial % 4, 1 + (cap - 1) * Fraction(int(rng.integers(0, 8)), 8)
        for direction in Direction:
            forward = direction is Direction.FORWARD
            experiment = Contamination(n, direction)
            claimed = statement(cap, n, gamma, forward)
            where = f"lam={cap}, n={n}, order {gamma}, {direction.value}"
            value = shuffled_leakage(ratio_law(channel, 0, 1), experiment, gamma=gamma).bracket.upper
            yield compare(value, claimed, "<=", at=f"channel {trial}, {where}")
            data = (0, *[1] * (n - 1)), (1,) * n
            pair = data if forward else data[::-1]
            brute = shuffled_divergence(rr().at(lam=cap).channel(), pair[0], pair[1], gamma)
            yield compare(brute, claimed, at=f"binary randomized response by enumeration, {where}")
            library = binary_envelope(experiment, lam=cap, gamma=gamma).bracket
            yield compare(library.lower, claimed, at=f"the library's envelope, {where}")
    for eps0, n, order, direction, digits in CERTIFIED:
        bracket = binary_envelope(Contamination(n, direction), lam=Exp(Fraction(eps0)), gamma=Fraction(order)).bracket
        low = Fraction(digits)
        inside = low <= bracket.lower and bracket.upper <= low + Fraction(1, 10**21)
        yield decide(
            inside, at=f"eps0={eps0}, n={n}, order {order}, {direction.value}", claimed=digits, computed=str(bracket)
        )


def _check_cap_exceeded(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    channel = rr().at(lam=Fraction(303, 100)).channel()
    value = shuffled_divergence(channel, (0, 1, 1), (1, 1, 1), Fraction(2))
    yield compare(
        value, statement(Fraction(3), 3, Fraction(2), True), "<=", at="ratio cap 3.03 against the envelope of 3"
    )


def _all_neighbours(constant: bool, inputs: int) -> bool:
    """Whether the envelope bounds a pair of neighbouring datasets."""
    return True


def _constant_only(constant: bool, inputs: int) -> bool:
    return constant


SEARCH: Final = "2- and 3-ary response, lam = 2 and 4, n = 2, 3 (4 for 2 inputs), every pair and background, 8 orders"


def _check_neighbours(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    for lam in (Fraction(2), Fraction(4)):
        orders = [1 + (lam - 1) * Fraction(step, 8) for step in range(8)]
        for k, users in ((2, (2, 3, 4)), (3, (2, 3))):
            channel = krr().at(k=k, lam=lam).channel()
            for n, (i, j) in itertools.product(users, itertools.permutations(range(k), 2)):
                envelopes = {
                    gamma: max(
                        binary_envelope(Contamination(n, d), lam=lam, gamma=gamma).bracket.upper for d in Direction
                    )
                    for gamma in orders
                }
                covered = {True: True, False: True}
                for background in backgrounds(k, n - 1):
                    p, q = (shuffled_law(channel, (x, *background)) for x in (i, j))
                    constant = set(background) in ({i}, {j})
                    below = all(law_divergence(p, q, gamma) <= envelopes[gamma] for gamma in orders)
                    covered[constant] = covered[constant] and below
                for constant, holds in covered.items():
                    if holds or statement(constant, k):
                        kind = "constant" if constant else "mixed"
                        yield compare(holds, True, at=f"{k} inputs, lam={lam}, n={n}, pair {i},{j}, {kind} backgrounds")


def _saturates(ratio: Law, lam: Fraction) -> bool:
    """Whether the law meets the envelope at every order in both directions: only the endpoint law does."""
    return _same_law(ratio, endpoint_law(lam))


def _check_rigidity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(24):
        lam, n = (Fraction(3, 2), Fraction(3))[trial % 2], 1 + trial % 3
        ratio = endpoint_law(lam) if trial < 4 else _random_ratio(rng, lam, 1 + trial % 3)
        gaps = [rigidity_gap(ratio, Contamination(n, direction), lam=lam)[0] for direction in Direction]
        yield compare(max(gaps) == 0, statement(ratio, lam), at=f"law {trial}, lam={lam}, n={n}")
    lam = Fraction(3)
    nearly = Law.from_atoms(
        [
            (lam - Fraction(1, 10**6), Fraction(1, 4)),
            (1 / lam, Fraction(1, 2)),
            (1 / lam + Fraction(1, 10**6), Fraction(1, 4)),
        ]
    )
    gap, order = rigidity_gap(nearly, Contamination(2), lam=lam)
    yield compare(
        gap == 0,
        statement(nearly, lam),
        at=f"an atom moved inside by 1e-6: gap {float(gap):.1e} at order {float(order):.3f}",
    )


def _one_order(ratio: Law, lam: Fraction) -> bool:
    """Whether meeting the envelope at a single order in [1, lam), in one direction, happens for this law."""
    return _same_law(ratio, endpoint_law(lam))


def _check_one_order(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(24):
        lam, n = (Fraction(3, 2), Fraction(3))[trial % 2], 1 + trial % 3
        ratio = endpoint_law(lam) if trial < 4 else _random_ratio(rng, lam, 1 + trial % 3)
        for direction in Direction:
            for step in (0, 3, 7):
                gamma = 1 + (lam - 1) * Fraction(step, 8)
                gap = profile_gap(ratio, Contamination(n, direction), lam=lam, gamma=gamma)
                where = f"law {trial}, lam={lam}, n={n}, order {gamma}, {direction.value}"
                yield compare(gap == 0, statement(ratio, lam), at=where)


def _moment(law: Law, order: int) -> Fraction:
    total = ZERO
    for value, weight in exact_atoms(law):
        power = Fraction(1)
        for _ in range(order):
            power *= value
        total += weight * power
    return total


def _moment_recursion(order: int, n: int) -> Any:
    """Coefficient of the moment of that order of one variable in the same moment of the average."""
    return sp.Rational(1, n ** (order - 1))


def _check_moments(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    symbols = sp.symbols("m1:7")
    t = sp.Symbol("t")
    for n in (2, 3, 4):
        series = 1 + sum(m * t**order / sp.factorial(order) for order, m in enumerate(symbols, start=1))
        power = sp.Poly(sp.expand(series**n), t)
        for order in range(1, 7):
            moment = sp.expand(power.coeff_monomial(t**order) * sp.factorial(order) / n**order)
            yield identity(moment.coeff(symbols[order - 1]), statement(order, n), at=f"n={n}, order {order}")
            higher = moment.free_symbols - set(symbols[:order])
            yield decide(not higher, at=f"n={n}, order {order}", claimed="no higher moment enters", symbolic=True)
    for trial in range(6):
        law, n = _random_ratio(rng, Fraction(4), 3), 2 + trial % 3
        average = average_law(law, n)
        moments = [[_moment(x, m) for m in range(1, 7)] for x in (law, average)]
        yield compare(moments_from_average(moments[1], n), tuple(moments[0]), at=f"law {trial}, n={n}: recovered")


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
        scope="the channels of finite cap among 20 random ones, half of them with zeros",
        grade=Grade.EXACT_CASES,
        printed=_mutually_continuous,
        check=_check_continuity,
        controls=(Control("rows may miss different outputs", lambda channel: False),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.def-4.5",
        kind=Kind.DEFINITION,
        title="the endpoint law",
        text=(
            r"$\kappa$: mass $\frac1{1+\lambda}$ at $\lambda$ and $\frac\lambda{1+\lambda}$ at $1/\lambda$; mean 1, "
            r"variance $(\lambda-1)^2/\lambda$."
        ),
        source="anchored, Definition 4.5",
        assumptions=(r"$\lambda\ge1$",),
        scope="every lam, and against binary randomized response",
        grade=Grade.PROVED,
        printed=_endpoint,
        check=_check_endpoint,
        controls=(Control("weights exchanged", lambda lam: [(lam, lam / (1 + lam)), (1 / lam, 1 / (1 + lam))]),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="anchored.lem-4.6",
        kind=Kind.STATEMENT,
        title="the endpoint law is largest in convex order",
        text=(
            r"Every law of mean 1 on $[1/\lambda,\lambda]$ is below $\kappa$: split $l$ into $\lambda$ with weight "
            r"$a(l)=\frac{l-1/\lambda}{\lambda-1/\lambda}$, and $1/\lambda$."
        ),
        source="anchored, Lemma 4.6",
        assumptions=(r"$\lambda>1$",),
        scope="the split for every l and lam; 20 random laws by stop-loss and coupling",
        grade=Grade.PROVED,
        printed=_chord,
        check=_check_maximum,
        controls=(Control("weight l/lam", lambda value, lam: value / lam),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.rem-4.7",
        kind=Kind.STATEMENT,
        title="Strassen coupling",
        text=r"Convex order is a martingale coupling; with $\kappa$ it is $P(\lambda\mid l)=a(l)$.",
        source="anchored, Remark 4.7",
        assumptions=("finite laws",),
        scope=(
            "10 laws and their averages of 2 and 3, couplings from certified linear programs; reversed orders refused"
        ),
        grade=Grade.CERTIFIED,
        printed=_coupled,
        check=_check_coupling,
        controls=(Control("the complementary weight", lambda value, lam: 1 - _coupled(value, lam)),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.lem-4.8",
        kind=Kind.STATEMENT,
        title="convex order passes to averages",
        text=r"$X\le_{cx}Y$ implies $\bar X_n\le_{cx}\bar Y_n$.",
        source="anchored, Lemma 4.8",
        assumptions=("integrable",),
        scope="12 random mean-preserving spreads, n <= 4, all thresholds",
        grade=Grade.EXACT_CASES,
        printed=_averages,
        check=_check_averages,
        controls=(Control("it is lost under averaging", lambda lower, upper: False),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.thm-4.9",
        kind=Kind.STATEMENT,
        title="universal privacy envelope",
        text=(
            r"For the contamination pair, $\sup E_\gamma$ over all channels of cap $\lambda$ is that of binary "
            r"randomized response: $\sum_c\binom "
            r"nc\frac{\lambda^{n-c}}{(1+\lambda)^n}(\frac{c\lambda+(n-c)/\lambda}n-\gamma)_+$, and likewise reversed "
            r"and for every convex $f$."
        ),
        source="anchored, Theorem 4.9",
        assumptions=("one user against a constant population",),
        scope="post-processing kernel for every channel; 20 channels, n <= 4, both directions; balls up to n = 1000",
        grade=Grade.PROVED,
        printed=_envelope,
        check=_check_envelope,
        controls=(
            Control("weights of the endpoint law exchanged", _swapped),
            Control("one direction for both", lambda lam, n, gamma, forward: _envelope(lam, n, gamma, True)),
            Control("a channel of cap 1.01 lam", _envelope, _check_cap_exceeded),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="symshuffle.anchored-envelope-neighbours",
        kind=Kind.STATEMENT,
        title="does the envelope cover other neighbouring datasets?",
        text=(
            "The binary envelope of anchored, Theorem 4.9 bounds every pair of neighbouring datasets, whatever the "
            "other users hold."
        ),
        source="our question; the paper claims it for constant populations only",
        assumptions=(),
        scope=SEARCH,
        grade=Grade.EXACT_CASES,
        printed=_all_neighbours,
        check=_check_neighbours,
        controls=(
            Control("it covers mixed populations of two inputs", lambda constant, inputs: constant or inputs == 2),
        ),
        expected=ClaimVerdict.REFUTED,
        corrected=Correction(
            text=(
                "It bounds pairs whose other users all hold one of the two inputs of the differing user; a mixed "
                "population can exceed it (binary response, lam = 2, n = 3, one other user on each side: 5/4 of the "
                "envelope in total variation)."
            ),
            statement=_constant_only,
            grade=Grade.EXACT_CASES,
        ),
    ),
    Claim(
        id="anchored.thm-4.10",
        kind=Kind.STATEMENT,
        title="rigidity",
        text="A pair that meets the envelope at every order in both directions merges to binary randomized response.",
        source="anchored, Theorem 4.10",
        assumptions=(r"cap $\lambda$",),
        scope="24 laws, n <= 3, largest gap over all orders exactly; one atom moved by 1e-6",
        grade=Grade.EXACT_CASES,
        printed=_saturates,
        check=_check_rigidity,
        controls=(Control("every law meets it", lambda ratio, lam: True),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="symshuffle.anchored-rigidity-one-order",
        kind=Kind.STATEMENT,
        title="one order in one direction is enough for rigidity",
        text=(
            r"Meeting the envelope at a single $\gamma\in[1,\lambda)$ in a single direction already forces the "
            r"endpoint law: on the event that all $n$ ratios are interior, the coupled average takes values on both "
            r"sides of the threshold, so Jensen is strict."
        ),
        source="ours; sharpens anchored, Theorem 4.10",
        assumptions=(r"cap $\lambda>1$",),
        scope="24 laws, n <= 3, 3 orders, both directions",
        grade=Grade.EXACT_CASES,
        printed=_one_order,
        check=_check_one_order,
        controls=(Control("a law of mean one meets it too", lambda ratio, lam: True),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.rem-4.11",
        kind=Kind.STATEMENT,
        title="the average determines a bounded law",
        text=r"Moment $m$ of $\bar L_n$ is $n^{1-m}$ times moment $m$ of $L$ plus a polynomial in lower moments.",
        source="anchored, Remark 4.11",
        assumptions=("compact support",),
        scope="orders 1..6, n = 2, 3, 4 with symbolic moments; 6 laws recovered",
        grade=Grade.EXACT_CASES,
        printed=_moment_recursion,
        check=_check_moments,
        controls=(Control("coefficient n^-m", lambda order, n: sp.Rational(1, n**order)),),
        expected=ClaimVerdict.HOLDS,
    ),
)
