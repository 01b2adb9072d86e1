"""Section 7: signal and budget, the trace cap, augmented randomized response, and the global frontier."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.anchored import (
    AnchoredLaw,
    is_exchangeable,
    orbit_law,
    symmetrize,
    template_budget,
    template_signal,
)
from symshuffle.anchored.linear import Vector
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
    identity,
)
from symshuffle.design.frontier import critical_ratio, slope_constant, threshold_budget, trace_frontier
from symshuffle.design.orbits import reduce_mixture
from symshuffle.design.raw_cap import subset_budget, subset_slope, subset_template, subset_trace
from symshuffle.divergences import chi_square
from symshuffle.estimation.canonical import (
    Population,
    enumerated_risk,
    isotropic_risk,
    worst_canonical_risk,
)
from symshuffle.estimation.moments import pairwise_budget, trace
from symshuffle.geometry.linprog import solve
from symshuffle.lp import LinearProgram
from symshuffle.mechanisms.finite import K, P, S, augmented_randomized_response
from symshuffle.mechanisms.symbolic import LAM, nonnegative

ZERO: Final = Fraction(0)
SQUARE_SIZES: Final = {5: 2, 10: 3, 17: 4, 26: 5}
"""Numbers of inputs k with the integer square root of k - 1."""


def _template(rng: np.random.Generator, k: int) -> Vector:
    return tuple(k * entry for entry in cases.distribution(rng, k))


def _signal_budget(k: Any, squares: Any, reciprocals: Any) -> tuple[Any, Any]:
    """Signal and budget from the sums of squares and of reciprocals."""
    return squares - k, (squares * reciprocals - k**2) / (k * (k - 1))


def _check_signal(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    k, squares, reciprocals, total, entry = sp.symbols("k Q R s u", positive=True)
    signal, budget = statement(k, squares, reciprocals)
    yield identity((squares - 2 * total + k).subs(total, k), signal, at="every k: sum of (u_i - 1)^2")
    # sum_j (u_j - u)^2/u = Q/u - 2s + k u, and over u: QR - 2ks + ks
    row = (squares - 2 * entry * total + k * entry**2) / entry
    yield identity(row, squares / entry - 2 * total + k * entry, at="every k: one reference row")
    pairs = (squares * reciprocals - 2 * k * total + k * total).subs(total, k)
    yield identity(pairs / (k * (k - 1)), budget, at="every k: average over ordered pairs")
    for trial in range(12):
        channel = cases.channel(rng, 2 + trial % 4, 4)
        law, size = AnchoredLaw.from_channel(channel), channel.num_inputs
        sums = [(w, sum(v**2 for v in u), sum(1 / v for v in u)) for u, w in law.template.atoms()]
        claimed = [statement(Fraction(size), Fraction(q), Fraction(r)) for _, q, r in sums]
        rows = [chi_square(channel.rows[j], channel.rows[i]) for i, j in itertools.permutations(range(size), 2)]
        average = sum((w * b for (w, _, _), (_, b) in zip(sums, claimed, strict=True)), start=ZERO)
        yield compare(sum(rows) / len(rows), average, at=f"channel {trial}: divergences of the rows")
        yield compare(
            law.trace(),
            sum((w * s for (w, _, _), (s, _) in zip(sums, claimed, strict=True)), start=ZERO),
            at=f"channel {trial}: trace",
        )
        yield compare(
            Fraction(symmetrize(law).pairwise_budget()), average, at=f"channel {trial}: exchangeable, all pairs alike"
        )
    for trial in range(12):
        u = _template(rng, 2 + trial % 5)
        claimed_pair = statement(Fraction(len(u)), sum(v**2 for v in u), sum(1 / v for v in u))
        yield compare((template_signal(u), template_budget(u)), claimed_pair, at=f"template {trial}: the library")


def _two_level(k: Any, s: Any, lam: Any) -> tuple[Any, Any, Any, Any]:
    """Signal, budget, slope, and the derivative of slope/(k(k-1)) of the two-level template."""
    total = s * lam + k - s
    return (
        k * s * (k - s) * (lam - 1) ** 2 / total**2,
        s * (k - s) * (lam - 1) ** 2 * (lam + 1) / ((k - 1) * lam * total),
        k * (k - 1) * lam / ((lam + 1) * total),
        (k - s - s * lam**2) / ((lam + 1) ** 2 * total**2),
    )


def _check_two_level(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    signal, budget, slope, derivative = statement(K, S, LAM)
    yield identity(subset_trace(), signal, at="every k, s, lam: signal")
    yield identity(subset_budget(), budget, at="every k, s, lam: budget")
    yield identity(subset_slope(), slope, at="every k, s, lam: slope")
    yield identity(
        sp.diff(subset_slope(), LAM) / (K * (K - 1)), derivative, at="every k, s, lam: derivative of the slope"
    )
    root = sp.Symbol("q", positive=True)  # the critical ratio, k = s(1 + q^2)
    value = subset_slope().subs(LAM, root).subs(K, S * (1 + root**2))
    claimed = (K * (K - 1) / (sp.sqrt(S) + sp.sqrt(S) * root) ** 2).subs(K, S * (1 + root**2))
    yield identity(value, claimed, at="every s: slope at the critical ratio")
    yield identity(critical_ratio() ** 2, (K - S) / S, at="every k, s: critical ratio")
    mirrored = subset_trace().subs({S: K - S, LAM: 1 / LAM}, simultaneous=True)
    yield identity(mirrored, subset_trace(), at="swapping high and low")
    for k, s, lam in ((4, 2, Fraction(3)), (5, 2, Fraction(3, 2)), (7, 3, Fraction(5, 2))):
        law = orbit_law(subset_template(k, s, lam))
        found = statement(Fraction(k), Fraction(s), lam)
        yield compare((law.trace(), law.pairwise_budget()), found[:2], at=f"k={k}, s={s}, lam={lam}, all outputs")


def _slope_cap(k: Any) -> tuple[Any, Any]:
    """The largest slope, and the ratio of the only template that has it, both by the root of k - 1."""
    return k * (k - 1) / (1 + sp.sqrt(k - 1)) ** 2, sp.sqrt(k - 1)


def _check_slope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    cap, best = statement(K)
    a, b, c, h, low = sp.symbols("a b c h l", positive=True)
    v = sp.Symbol("v")
    # At fixed sum and squares a minimiser of the reciprocals solves 2 beta u^3 + alpha u^2 - 1 = 0: no linear term.
    linear = sp.Poly(sp.expand((v - a) * (v - b) * (v - c)), v).coeff_monomial(v)
    slacks = {symbol: symbol for symbol in (a, b, c)}
    yield decide(
        nonnegative(linear, slacks), at="every k", claimed="three positive roots need a linear term", symbolic=True
    )
    # Two high coordinates and a low one can be replaced by two equal lower ones and one higher.
    pair, single = (h + 2 * low) / 3, (4 * h - low) / 3
    yield identity(2 * pair + single, 2 * h + low, at="the replacement keeps the sum")
    yield identity(2 * pair**2 + single**2, 2 * h**2 + low**2, at="the replacement keeps the squares")
    gain = 2 / h + 1 / low - 2 / pair - 1 / single
    yield identity(
        gain, 4 * (h - low) ** 3 / (h * low * (h + 2 * low) * (4 * h - low)), at="and lowers the reciprocals"
    )
    # So only singletons matter, and along them the slope is largest at the critical ratio.
    root = sp.Symbol("t", positive=True)
    size = root**2 + 1
    along = subset_slope().subs(S, 1).subs(K, size)
    gap = (size * root**2) * (1 / along - 1 / cap.subs(K, size))
    yield identity(gap, (LAM - root) ** 2 / LAM, at="every k: distance of the inverse slope from its minimum")
    yield identity(slope_constant().subs(K, size), cap.subs(K, size), at="every k: the library's constant")
    yield identity(critical_ratio().subs(S, 1), best, at="every k: the extremal ratio")
    for size_exact, ratio in SQUARE_SIZES.items():
        u = subset_template(size_exact, 1, Fraction(str(sp.sympify(statement(sp.Integer(size_exact))[1]))))
        slope = template_signal(u) / Fraction(template_budget(u))
        yield compare(
            slope, Fraction(str(statement(sp.Integer(size_exact))[0])), at=f"k={size_exact}: equality at ratio {ratio}"
        )
    for trial in range(60):
        k = list(SQUARE_SIZES)[trial % 4]
        u = _template(rng, k) if trial % 2 else tuple(subset_template(k, 1 + trial % 3, 1 + Fraction(1 + trial, 9)))
        value = Fraction(str(statement(sp.Integer(k))[0])) * Fraction(template_budget(u))
        yield compare(template_signal(u), value, "<=", at=f"template {trial}, k={k}")


def _augmented(k: int, p: Fraction, lam: Fraction) -> list[tuple[Vector, Fraction]]:
    """Templates and masses: the centre with 1 - p, and z_i = k(lam-1)/(lam+k-1) a_i with p/k each."""
    shift = k * (lam - 1) / (lam + k - 1)
    atoms = [((Fraction(1),) * k, 1 - p)]
    for i in range(k):
        vertex = tuple(Fraction(int(i == j)) - Fraction(1, k) for j in range(k))
        atoms.append((tuple(1 + shift * entry for entry in vertex), p / k))
    return atoms


AUGMENTED: Final = (
    (5, Fraction(1, 2), Fraction(2)),
    (6, Fraction(1, 3), Fraction(5)),
    (10, Fraction(3, 4), Fraction(3)),
    (4, Fraction(1), Fraction(3)),
)


def _check_augmented(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    for k, p, lam in AUGMENTED:
        channel = augmented_randomized_response().at(k=k, p=p, lam=lam).channel()
        atoms = statement(k, p, lam)
        law = AnchoredLaw.from_channel(channel)
        where = f"k={k}, p={p}, lam={lam}"
        expected = sorted((u, weight) for u, weight in atoms if weight)
        yield decide(list(law.template.atoms()) == expected, at=where, claimed="the printed atoms")
        yield compare(law.ratio_cap(), lam, at=f"{where}: ratio cap")
        yield compare(law.is_extreme(), p == 1, at=f"{where}: extreme only without the null output")


def _augmented_moments(k: Any, p: Any, lam: Any) -> tuple[Any, Any, Any]:
    """Trace, budget, and threshold budget."""
    signal = p * k * (k - 1) * (lam - 1) ** 2 / (lam + k - 1) ** 2
    budget = p * (lam - 1) ** 2 * (lam + 1) / (lam * (lam + k - 1))
    return signal, budget, (1 - 1 / sp.sqrt(k - 1)) ** 2


def _check_augmented_moments(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    mechanism = augmented_randomized_response()
    signal, budget, threshold = statement(K, P, LAM)
    yield identity(trace(mechanism), signal, at="every k, p, lam: trace")
    yield identity(pairwise_budget(mechanism), budget, at="every k, p, lam: budget")
    root = sp.Symbol("t", positive=True)
    at_best = {K: root**2 + 1, LAM: root}
    yield identity(budget.subs(at_best), P * threshold.subs(K, root**2 + 1), at="every k: budget at the optimal ratio")
    yield identity(
        threshold_budget().subs(K, root**2 + 1), threshold.subs(K, root**2 + 1), at="every k: the library's threshold"
    )
    yield identity(
        (signal / budget).subs(at_best), slope_constant().subs(K, root**2 + 1), at="every k: slope at the optimal ratio"
    )
    for k, p, lam in AUGMENTED:
        law = AnchoredLaw.from_channel(mechanism.at(k=k, p=p, lam=lam).channel())
        yield compare(
            (law.trace(), law.pairwise_budget()), statement(Fraction(k), p, lam)[:2], at=f"k={k}, p={p}, lam={lam}"
        )


def _trace_cap(root: int) -> Fraction:
    """The constant in front of the budget, at k = root^2 + 1."""
    k = root**2 + 1
    return Fraction(k * (k - 1), (1 + root) ** 2)


def _check_trace_cap(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield identity(slope_constant().subs(K, 5), sp.Rational(str(statement(2))), at="k=5: the library's constant")
    for trial in range(30):
        law = AnchoredLaw.from_channel(cases.channel(rng, 5, 2 + trial % 6))
        yield compare(
            law.trace(), statement(2) * Fraction(law.pairwise_budget()), "<=", at=f"random channel {trial}, k=5"
        )
    for k, root in ((5, 2), (10, 3)):
        threshold = (1 - Fraction(1, root)) ** 2
        for share in (Fraction(1, 4), Fraction(1)):
            budget = share * threshold
            found = trace_frontier(k, budget)
            yield decide(found.verify(), at=f"k={k}, C={budget}", claimed="law and line check over Q")
            yield decide(
                found.trace.exact == statement(root) * budget,
                at=f"k={k}, C={budget}",
                claimed=str(statement(root) * budget),
                computed=str(found.trace.exact),
            )
            mechanism = augmented_randomized_response().at(k=k, p=share, lam=root).channel()
            if k == 5:
                yield compare(
                    found.law(), AnchoredLaw.from_channel(mechanism), at=f"k={k}, C={budget}: the optimal law"
                )
        above = trace_frontier(k, 2 * threshold).trace.upper
        yield compare(above, statement(root) * 2 * threshold, "<", at=f"k={k}: not attained above the threshold")
    yield from _unique_optimum(statement)


def _unique_optimum(statement: Statement) -> Iterator[Comparison]:
    """At k = 5, C = 1/8: no other weights on the centre and the permuted singletons are optimal."""
    u = subset_template(5, 1, Fraction(2))
    points = [(Fraction(1),) * 5, *orbit_law(u).templates]
    for j in range(len(points)):
        for sign in (1, -1):
            costs = [Fraction(sign * (i == j)) for i in range(len(points))]
            rows: list[tuple[list[Fraction], str, Fraction]] = [
                ([p[c] for p in points], "==", Fraction(1)) for c in range(5)
            ]
            rows.append(([template_signal(p) for p in points], "==", statement(2) / 8))
            value = solve(LinearProgram.from_rows(costs, rows)).value.exact
            expected = Fraction(1, 2) if j == 0 else Fraction(1, 10)
            yield decide(
                value == sign * expected,
                at=f"k=5, C=1/8, weight {j}, {'least' if sign > 0 else 'most'}",
                claimed=str(expected),
            )


def _finite_optimum(root: int, budget: Fraction) -> tuple[Fraction, Fraction]:
    """Users times the smallest worst-case canonical risk, i.i.d. and fixed composition, k = root^2 + 1."""
    k = root**2 + 1
    iid = Fraction((k - 1) * (1 + root) ** 2) / (k * budget)
    return iid, iid - Fraction(k - 1, k)


def _check_finite(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    budget = Fraction(1, 8)
    iid, fixed = statement(2, budget)
    channel = augmented_randomized_response().at(k=5, p=Fraction(1, 2), lam=2).channel()
    uniform = (Fraction(1, 5),) * 5
    skew = tuple(map(Fraction, ("1/2", "1/4", "1/8", "1/16", "1/16")))
    bias = sum((entry**2 for entry in skew), start=ZERO) - Fraction(1, 5)
    for n in (1, 2, 3):
        found, _ = enumerated_risk(channel, uniform, n=n, population=Population.IID)
        yield compare(n * found, iid, at=f"k=5, C=1/8, n={n}: i.i.d. at uniform, by enumeration")
        found, mean = enumerated_risk(channel, skew, n=n, population=Population.IID)
        yield compare((n * found, mean), (iid - bias, skew), at=f"n={n}: i.i.d. at a skew composition")
    for held in ((3, 0, 0, 0, 0), (1, 1, 1, 0, 0), (2, 1, 0, 0, 0)):
        w = tuple(Fraction(v, 3) for v in held)
        found, _ = enumerated_risk(channel, w, n=3, population=Population.FIXED)
        yield compare(3 * found, fixed, at=f"n=3, fixed composition {held}, by enumeration")
    optimum = trace_frontier(5, budget)
    for population, claimed in ((Population.IID, iid), (Population.FIXED, fixed)):
        yield decide(
            optimum.risk_constant(population).exact == claimed,
            at=f"k=5, C=1/8, {population.value}: the library",
            claimed=str(claimed),
        )
    for trial in range(12):
        law = AnchoredLaw.from_channel(cases.channel(rng, 5, 6))
        spent = Fraction(law.pairwise_budget())
        if spent <= Fraction(1, 4):
            continue
        diluted = AnchoredLaw.from_atoms(
            [((Fraction(1),) * 5, 1 - budget / spent), *((u, w * budget / spent) for u, w in law.template.atoms())]
        )
        for population, claimed in ((Population.IID, iid), (Population.FIXED, fixed)):
            worst, _ = worst_canonical_risk(diluted, n=1, population=population)
            yield decide(
                worst > claimed,
                at=f"random channel {trial} diluted to C=1/8, {population.value}",
                claimed=f"> {claimed}",
            )


def _orbit_point(u: Vector) -> tuple[Fraction, Fraction]:
    """Budget and trace of an orbit law."""
    k = len(u)
    squares = sum((v * v for v in u), start=ZERO)
    reciprocals = sum((1 / v for v in u), start=ZERO)
    return (squares * reciprocals - k * k) / (k * (k - 1)), squares - k


def _check_orbits(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(12):
        u = _template(rng, 3 + trial % 3)
        law = orbit_law(u)
        yield compare((law.pairwise_budget(), law.trace()), statement(u), at=f"template {tuple(map(str, u))}")
        size = math.factorial(len(u)) // math.prod(math.factorial(u.count(v)) for v in set(u))
        yield compare((len(law.weights), is_exchangeable(law)), (size, True), at=f"template {trial}: orbit")


def _three_points(dimension: int) -> int:
    """How many points suffice."""
    return dimension + 1


def _check_caratheodory(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    longest = 0
    for trial in range(20):
        count = 4 + trial % 6
        points = [
            (Fraction(a), Fraction(b))
            for a, b in zip(cases.integers(rng, count, -5, 5), cases.integers(rng, count, -5, 5), strict=True)
        ]
        if trial % 5 == 0:
            points = [(x, 2 * x + 1) for x, _ in points]
        weights = cases.distribution(rng, count)
        kept = reduce_mixture(points, weights)
        target = tuple(sum((w * p[c] for w, p in zip(weights, points, strict=True)), start=ZERO) for c in range(2))
        again = tuple(sum((w * points[i][c] for i, w in kept), start=ZERO) for c in range(2))
        total = sum((w for _, w in kept), start=ZERO)
        yield compare(
            (again, total, min(w for _, w in kept) > 0), (target, Fraction(1), True), at=f"{count} points, case {trial}"
        )
        yield compare(len(kept), statement(1 if trial % 5 == 0 else 2), "<=", at=f"case {trial}: points left")
        longest = max(longest, len(kept))
    yield compare(longest, statement(2), at="three points are needed somewhere")


def _two_orbits(k: int, budget: Fraction) -> tuple[int, Fraction]:
    """How many orbit laws suffice, and the supremum of the frontier."""
    return 2, Fraction(k * (k - 1))


BUDGETS: Final = tuple(map(Fraction, ("1/50", "2/25", "3/10", "1", "3", "10", "30")))


def _check_two_orbits(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    most = 0
    for k in (3, 4, 6):
        values, grid = [], [(ZERO, ZERO)]
        for budget in BUDGETS:
            found = trace_frontier(k, budget)
            count, top = statement(k, budget)
            most = max(most, len(found.orbits))
            yield compare(len(found.orbits), count, "<=", at=f"k={k}, C={budget}: orbits of the optimal law")
            yield compare(found.trace.upper, top, "<", at=f"k={k}, C={budget}: below the supremum")
            yield decide(found.verify(), at=f"k={k}, C={budget}", claimed="law and line check over Q")
            spent = sum((orbit.weight * Fraction(orbit.budget) for orbit in found.orbits), start=ZERO)
            yield compare(spent, budget * (1 - Fraction(1, 10**20)), ">=", at=f"k={k}, C={budget}: the budget is spent")
            values.append(found.trace)
            grid.append((budget, found.trace.lower))
        slopes = [(s1 - s0) / (b1 - b0) for (b0, s0), (b1, s1) in itertools.pairwise(grid)]
        falling = all(later <= earlier * (1 + Fraction(1, 10**20)) for earlier, later in itertools.pairwise(slopes))
        yield decide(falling and min(slopes) > 0, at=f"k={k}", claimed="concave and strictly increasing")
    yield compare(most, statement(3, Fraction(1))[0], at="two orbits are needed somewhere")
    yield compare(
        trace_frontier(3, math.inf).trace.lower,
        statement(3, Fraction(1))[1],
        at="k=3: the supremum, at no finite budget",
    )
    yield from _grid_programs()


def _grid_programs() -> Iterator[Comparison]:
    """An independent witness at k = 3: the exact linear program over all sorted templates with entries in Z/10."""
    size = 30
    grid = [
        tuple(Fraction(3 * v, size) for v in (a, b, size - a - b))
        for a in range(1, size) for b in range(1, a + 1) if 1 <= size - a - b <= b
    ]  # fmt: skip
    for budget in (Fraction(2, 25), Fraction(1), Fraction(3)):
        costs = [-template_signal(u) for u in grid]
        rows: list[tuple[list[Fraction], str, Fraction]] = [
            ([Fraction(1)] * len(grid), "==", Fraction(1)),
            ([Fraction(template_budget(u)) for u in grid], "<=", budget),
        ]
        solution = solve(LinearProgram.from_rows(costs, rows))
        value = -solution.value.upper
        frontier = trace_frontier(3, budget).trace
        yield compare(
            value, frontier.upper, "<=", at=f"k=3, C={budget}: {len(grid)} templates do not beat the frontier"
        )
        yield compare(value, frontier.lower * Fraction(97, 100), ">=", at=f"k=3, C={budget}: and come within 3 percent")
        yield compare(
            sum(v > 0 for v in solution.primal()), 2, "<=", at=f"k=3, C={budget}: templates of a basic optimum"
        )


def _envelope_of(k: int, budget: Fraction) -> Fraction:
    """The upper concave envelope of the orbit points at a budget, from above."""
    return trace_frontier(k, budget).trace.upper


def _line_only(k: int, budget: Fraction) -> Fraction:
    return Fraction(99, 100) * _envelope_of(k, budget)


def _check_envelope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(60):
        k = 3 + trial % 4
        u = _template(rng, k) if trial % 2 else subset_template(k, 1 + trial % (k - 1), 1 + Fraction(1 + trial, 7))
        yield compare(
            template_signal(u), statement(k, Fraction(template_budget(u))), "<=", at=f"orbit point {trial}, k={k}"
        )
    for k in (3, 4, 5, 6):
        for lam in (Fraction(3), Fraction(7)):
            u = subset_template(k, 1, lam)  # beyond the threshold the envelope touches the singleton curve
            near = template_signal(u) * (1 + Fraction(1, 10**15))
            yield compare(statement(k, Fraction(template_budget(u))), near, "<=", at=f"singleton of ratio {lam}, k={k}")


CLAIMS: Final = (
    Claim(
        id="anchored.lem-7.1",
        kind=Kind.STATEMENT,
        title="signal and budgets in template coordinates",
        text=(
            r"$\operatorname{tr}\Sigma=E[Q-k]$; the average over ordered pairs of $\chi^2(W_j\Vert W_i)$ is "
            r"$E\frac{QR-k^2}{k(k-1)}$, and for exchangeable laws all pairs have it."
        ),
        source="anchored, Lemma 7.1",
        assumptions=(r"$Q=\sum u_i^2$, $R=\sum1/u_i$",),
        scope="every k from sum u = k; 12 random channels against their rows, 12 templates",
        grade=Grade.PROVED,
        printed=_signal_budget,
        check=_check_signal,
        controls=(
            Control("k in place of k^2", lambda k, q, r: (q - k, (q * r - k) / (k * (k - 1)))),
            Control("without the number of pairs", lambda k, q, r: (q - k, q * r - k**2)),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.eq-7.two-level",
        kind=Kind.STATEMENT,
        title="two-level templates",
        text=(
            r"$S=\frac{ks(k-s)(\lambda-1)^2}{(s\lambda+k-s)^2}$, "
            r"$B=\frac{s(k-s)(\lambda-1)^2(\lambda+1)}{(k-1)\lambda(s\lambda+k-s)}$, $\frac "
            r"SB=\frac{k(k-1)\lambda}{(\lambda+1)(s\lambda+k-s)}$, critical at $\lambda^2=\frac{k-s}s$."
        ),
        source="anchored, proof of Lemma 7.2",
        assumptions=(r"$1\le s\le k-1$, $\lambda>1$",),
        scope="every k, s, lam; three orbits in full",
        grade=Grade.PROVED,
        printed=_two_level,
        check=_check_two_level,
        controls=(
            Control(
                "denominator with lambda^2",
                lambda k, s, lam: (
                    _two_level(k, s, lam)[0],
                    _two_level(k, s, lam)[1],
                    k * (k - 1) * lam / ((lam + 1) * (s * lam**2 + k - s)),
                    _two_level(k, s, lam)[3],
                ),
            ),
            Control(
                "budget without lambda + 1",
                lambda k, s, lam: (
                    _two_level(k, s, lam)[0],
                    _two_level(k, s, lam)[1] / (lam + 1),
                    *_two_level(k, s, lam)[2:],
                ),
            ),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.lem-7.2",
        kind=Kind.STATEMENT,
        title="pointwise slope inequality",
        text=(
            r"$S(u)\le\kappa_kB(u)$, $\kappa_k=\frac{k(k-1)}{(1+\sqrt{k-1})^2}$, with equality only at $u=1$ and the "
            r"singletons of ratio $\sqrt{k-1}$."
        ),
        source="anchored, Lemma 7.2",
        assumptions=(r"$k\ge3$",),
        scope=(
            "Lagrange count, replacement of triples and the singleton curve for every k; 60 templates at square k - 1"
        ),
        grade=Grade.PROVED,
        printed=_slope_cap,
        check=_check_slope,
        controls=(
            Control(
                "a constant smaller by 1e-9",
                lambda k: (_slope_cap(k)[0] * (1 - sp.Rational(1, 10**9)), _slope_cap(k)[1]),
            ),
            Control(
                "the constant of two high coordinates",
                lambda k: (k * (k - 1) / (sp.sqrt(2) + sp.sqrt(k - 2)) ** 2, _slope_cap(k)[1]),
            ),
            Control("equality at ratio k - 1", lambda k: (_slope_cap(k)[0], k - 1)),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.def-7.3",
        kind=Kind.DEFINITION,
        title="augmented randomized response",
        text=r"$\mu_{p,\lambda}=(1-p)\delta_0+\frac pk\sum_i\delta_{z_i}$, $z_i=\frac{k(\lambda-1)}{\lambda+k-1}a_i$.",
        source="anchored, Definition 7.3",
        assumptions=(r"$0\le p\le1$, $\lambda>1$",),
        scope="4 parameter choices, p = 1 among them, against the mechanism",
        grade=Grade.EXACT_CASES,
        printed=_augmented,
        check=_check_augmented,
        controls=(Control("points without the factor k", lambda k, p, lam: _augmented(k, p, 1 + (lam - 1) / k)),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="anchored.lem-7.4",
        kind=Kind.STATEMENT,
        title="trace and budget of augmented randomized response",
        text=(
            r"$\operatorname{tr}\Sigma=\frac{pk(k-1)(\lambda-1)^2}{(\lambda+k-1)^2}$, budget "
            r"$\frac{p(\lambda-1)^2(\lambda+1)}{\lambda(\lambda+k-1)}$; at $\lambda=\sqrt{k-1}$ the slope is "
            r"$\kappa_k$ and the budget $p(1-1/\sqrt{k-1})^2$."
        ),
        source="anchored, Lemma 7.4",
        assumptions=(r"$0\le p\le1$, $\lambda>1$",),
        scope="every k, p, lam; 4 channels",
        grade=Grade.PROVED,
        printed=_augmented_moments,
        check=_check_augmented_moments,
        controls=(
            Control("threshold 1 - 1/(k-1)", lambda k, p, lam: (*_augmented_moments(k, p, lam)[:2], 1 - 1 / (k - 1))),
            Control(
                "budget with lambda - 1 for lambda + 1",
                lambda k, p, lam: (
                    _augmented_moments(k, p, lam)[0],
                    p * (lam - 1) ** 3 / (lam * (lam + k - 1)),
                    _augmented_moments(k, p, lam)[2],
                ),
            ),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.thm-7.5",
        kind=Kind.STATEMENT,
        title="exact trace cap",
        text=(
            r"$\operatorname{tr}\Sigma\le\kappa_k\,\chi$ for every law of budget $\chi$; up to $B_*$ it is attained "
            r"by augmented response at $\lambda=\sqrt{k-1}$, $p=C/B_*$, and by no other law."
        ),
        source="anchored, Theorem 7.5",
        assumptions=(r"$k\ge3$",),
        scope=(
            "k = 5 and 10 with rational certificates, 30 random channels; uniqueness by linear programs at k = 5 "
            "(the inequality for every k: anchored.lem-7.2)"
        ),
        grade=Grade.CERTIFIED,
        printed=_trace_cap,
        check=_check_trace_cap,
        controls=(
            Control("a constant smaller by 1e-9", lambda root: _trace_cap(root) * (1 - Fraction(1, 10**9))),
            Control("the crude constant k(k-1)", lambda root: Fraction((root**2 + 1) * root**2)),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.thm-7.6",
        kind=Kind.STATEMENT,
        title="exact finite-n canonical optimum under the budget",
        text=(
            r"For $0<C\le B_*$ the smallest worst-case canonical risk is $\frac{(k-1)(1+\sqrt{k-1})^2}{nkC}$ "
            r"(i.i.d.), less $\frac{k-1}{nk}$ (fixed composition)."
        ),
        source="anchored, Theorem 7.6",
        assumptions=(r"$k\ge3$",),
        scope="k = 5, C = 1/8: enumeration for n <= 3, certificate, and random channels diluted to the same budget",
        grade=Grade.CERTIFIED,
        printed=_finite_optimum,
        check=_check_finite,
        controls=(
            Control("the two constants exchanged", lambda root, budget: _finite_optimum(root, budget)[::-1]),
            Control(
                "ratio 3 instead of the root of k - 1",
                lambda root, budget: tuple(
                    isotropic_risk(5, Fraction(str(subset_slope().subs({K: 5, S: 1, LAM: 3}))) * budget, population=p)
                    for p in (Population.IID, Population.FIXED)
                ),
            ),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.def-7.7",
        kind=Kind.DEFINITION,
        title="orbit laws",
        text=(
            r"$\mu_u$ is uniform on the rearrangements of $u$; its trace is $S(u)$, its budget $B(u)$, and $\Gamma_k$ "
            r"is the set of these pairs."
        ),
        source="anchored, Definition 7.7",
        assumptions=("$u>0$",),
        scope="12 random templates, k = 3..5, repeated coordinates among them",
        grade=Grade.EXACT_CASES,
        printed=_orbit_point,
        check=_check_orbits,
        controls=(
            Control("budget per k^2 pairs", lambda u: (_orbit_point(u)[0] * (len(u) - 1) / len(u), _orbit_point(u)[1])),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="anchored.lem-7.8",
        kind=Kind.STATEMENT,
        title="planar Caratheodory reduction",
        text="A point of the convex hull of a planar set is a convex combination of at most three of its points.",
        source="anchored, Lemma 7.8",
        assumptions=(),
        scope="20 random configurations of 4..9 points, collinear ones among them",
        grade=Grade.EXACT_CASES,
        printed=_three_points,
        check=_check_caratheodory,
        controls=(Control("two points suffice", lambda dimension: dimension),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.thm-7.9",
        kind=Kind.STATEMENT,
        title="two-orbit reduction of the global frontier",
        text=(
            r"$F_k(C)$ is attained by a mixture of at most two orbit laws that spends the budget; $F_k$ is finite, "
            r"concave, strictly increasing and below $k(k-1)$."
        ),
        source="anchored, Theorem 7.9",
        assumptions=(r"$C\ge0$",),
        scope=(
            "k = 3, 4, 6 at 7 budgets with rational certificates; exact linear programs over a grid of templates at "
            "k = 3"
        ),
        grade=Grade.CERTIFIED,
        printed=_two_orbits,
        check=_check_two_orbits,
        controls=(
            Control("one orbit law suffices", lambda k, budget: (1, _two_orbits(k, budget)[1])),
            Control("supremum (k-1)^2", lambda k, budget: (2, Fraction((k - 1) ** 2))),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.cor-7.10",
        kind=Kind.STATEMENT,
        title="the frontier is a concave envelope",
        text=r"$C\mapsto F_k(C)$ is the upper concave envelope of $\Gamma_k$.",
        source="anchored, Corollary 7.10",
        assumptions=(),
        scope="60 orbit points below it, k = 3..6; touching points; each value with its own certificate",
        grade=Grade.CERTIFIED,
        printed=_envelope_of,
        check=_check_envelope,
        controls=(
            Control("one percent lower", _line_only),
            Control("one percent higher", lambda k, budget: Fraction(101, 100) * _envelope_of(k, budget)),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
)
