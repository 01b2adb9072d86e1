"""Section 7.3: orbit laws and the global frontier."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import sympy as sp

from proofs_checks._templates import is_exchangeable, reduce_mixture, subset_template
from proofs_checks.anchored import _cases as cases
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import Verdict, less
from symshuffle.base.results import passes
from symshuffle.channels.geometry.linear import Vector
from symshuffle.channels.geometry.linprog import solve
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import template_budget, template_signal
from symshuffle.utility.frontiers.formulas import BUDGET, subset_budget, subset_trace, tangent_slope
from symshuffle.utility.frontiers.frontier import slope_constant, threshold_budget, trace_frontier
from symshuffle.utility.frontiers.orbit import orbit_law

ZERO: Final = Fraction(0)


def _orbit_point(u: Vector) -> tuple[Fraction, Fraction]:
    """Budget and trace of an orbit law."""
    k = len(u)
    squares = sum((v * v for v in u), start=ZERO)
    reciprocals = sum((1 / v for v in u), start=ZERO)
    return (squares * reciprocals - k * k) / (k * (k - 1)), squares - k


def _check_orbits(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 12 random templates: budget and trace of the library's orbit law against the stated; exact rationals.

    The orbit has as many atoms as rearrangements, and is exchangeable.
    """
    for trial in range(12):
        u = cases.template(rng, 3 + trial % 3)
        law = orbit_law(u)
        yield compare((law.pairwise_budget(), law.trace()), statement(u), at=f"template {tuple(map(str, u))}")
        size = math.factorial(len(u)) // math.prod(math.factorial(u.count(v)) for v in set(u))
        yield compare((len(law.weights), is_exchangeable(law)), (size, True), at=f"template {trial}: orbit")


def _three_points(dimension: int) -> int:
    """How many points suffice."""
    return dimension + 1


def _check_caratheodory(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every dimension: more points than stated lose one, and a simplex needs all of them; symbolic.

    The step moves the weights along a direction until one is 0. Then the library reduces 20 planar configurations, mean
    and mass kept, in exact rationals.
    """
    d, more, fewer = (sp.Symbol(name, integer=True, positive=True) for name in ("d", "e", "f"))
    bound = statement(d)
    # Mass and d coordinates are d + 1 equations: more points leave weights a direction, and one reaches 0 first.
    weight, size, gap = sp.symbols("w c g", positive=True)
    step = weight / size
    ends = [sp.expand(value) for value in (weight - step * size, weight + gap * size - step * size)]
    drops = sp.expand(bound + more - (d + 1)).is_positive is True and ends[0] == 0 and ends[1].is_positive is True
    yield decide(drops, at="every dimension: more points than that lose one", claimed="fewer points", symbolic=True)
    needed = sp.expand(d + 1 - (bound - fewer)).is_positive  # a point inside a simplex uses all d + 1 corners
    yield decide(needed is True, at="every dimension: a simplex needs them", claimed="no fewer", symbolic=True)
    yield identity(bound, d + 1, at="every dimension: as many points as equations")
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


def _two_orbits(k: Any, budget: Any) -> tuple[int, Any]:
    """How many orbit laws suffice, and the supremum of the frontier."""
    return 2, k * (k - 1)


BUDGETS: Final = tuple(map(Fraction, ("1/50", "2/25", "3/10", "1", "3", "10", "30")))


def _check_lowered_line(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """A line one percent lower than the one that touches the templates, offered as a certificate."""
    for budget in BUDGETS:
        found = trace_frontier(4, budget)
        lower = replace(found.certificate, intercept=found.certificate.intercept * Fraction(99, 100))
        forged = replace(found, certificate=lower)
        yield decide(passes(forged.verify), at=f"k=4, C={budget}", claimed="law and line check over Q")


def _by_closed_form(statement: Statement) -> Iterator[Comparison]:
    """Every k and budget: the laws that attain the frontier, and its shape, from the curve of singleton orbits.

    Up to the budget of the ratio sqrt(k-1) the frontier is the line of slope kappa (anchored.lem-7.2), beyond it the
    trace of the singleton of that budget (symshuffle.anchored-frontier): no template is above.
    """
    root, slack, share = sp.symbols("r t p", nonnegative=True)
    size = 2 + 2 * root + root**2  # k = (1 + r)^2 + 1, so that sqrt(k-1) = 1 + r
    spent, trace = subset_budget().subs(S, 1), subset_trace().subs(S, 1)
    count, top = statement(K, BUDGET)
    corner = {LAM: 1 + root, K: size}
    best, most = sp.cancel(trace.subs(corner)), sp.cancel(spent.subs(corner))
    slope = slope_constant().subs(sp.sqrt(K - 1), 1 + root).subs(K, size)
    mixture = ((1 - share, (sp.Integer(0), sp.Integer(0))), (share, (most, best)))  # the centre and a singleton
    reached = [sum(weight * point[place] for weight, point in mixture) for place in (0, 1)]
    yield identity(reached[1], slope * reached[0], at="every k, low budgets: a mixture on the line, the budget spent")
    yield decide(Verdict.of(count == len(mixture)), at="every k: orbits of it", claimed=f"{count}", symbolic=True)
    yield identity(sp.limit(trace, LAM, sp.oo), top, at="every k: the supremum, by one orbit of growing budget")
    short = sp.cancel((top - trace).subs({LAM: 1 + slack, K: 2 + root}))
    yield decide(nonnegative(short, {}), at="every k and budget", claimed="below the supremum", symbolic=True)
    rising = tangent_slope().subs({LAM: 1 + root + slack, K: size})
    yield decide(nonnegative(sp.cancel(rising), {}), at="every k, high budgets", claimed="increasing", symbolic=True)
    joined = tangent_slope().subs(LAM, 1 + root).subs(K, size)
    yield identity(joined, slope, at="every k: where line and curve meet they have one slope")
    falling = -sp.diff(tangent_slope(), LAM).subs({LAM: 1 + root + slack, K: size})
    yield decide(nonnegative(sp.cancel(falling), {}), at="every k, high budgets", claimed="concave", symbolic=True)


def _check_two_orbits(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every k and budget, by closed form; then k = 3, 4, 6 at 7 budgets: verified frontier laws as stated; exact.

    The budget is spent, and the values are concave and increasing. At k = 3 linear programs over a grid of templates do
    not beat them.
    """
    yield from _by_closed_form(statement)
    most = 0
    for k in (3, 4, 6):
        values, grid = [], [(ZERO, ZERO)]
        for budget in BUDGETS:
            found = trace_frontier(k, budget)
            count, top = statement(k, budget)
            most = max(most, len(found.orbits))
            yield compare(len(found.orbits), count, "<=", at=f"k={k}, C={budget}: orbits of the optimal law")
            yield compare(found.trace.upper, top, "<", at=f"k={k}, C={budget}: below the supremum")
            yield decide(passes(found.verify), at=f"k={k}, C={budget}", claimed="law and line check over Q")
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
        at = f"k=3, C={budget}: {len(grid)} templates do not beat the frontier"
        yield compare(value, frontier.upper, "<=", at=at, solution=solution)
        yield compare(value, frontier.lower * Fraction(97, 100), ">=", at=f"k=3, C={budget}: and come within 3 percent")
        yield compare(
            sum(v > 0 for v in solution.primal()), 2, "<=", at=f"k=3, C={budget}: templates of a basic optimum"
        )


Points: TypeAlias = list[tuple[Fraction, Fraction]]


def _envelope_of(points: Points, budget: Fraction) -> Fraction:
    """The upper concave envelope of finitely many orbit points at a budget: the highest chord or point there."""
    chords = [s0 + (s1 - s0) * (budget - b0) / (b1 - b0) for b0, s0 in points for b1, s1 in points if b0 < budget <= b1]
    return max(chords)


def _line_only(points: Points, budget: Fraction) -> Fraction:
    return Fraction(99, 100) * _envelope_of(points, budget)


def _high_below_threshold(points: Points, budget: Fraction) -> Fraction:
    """One percent higher at budgets up to 3/100, which are below the threshold."""
    low = isinstance(budget, Fraction) and budget <= Fraction(3, 100)
    return _envelope_of(points, budget) * (Fraction(101, 100) if low else 1)


def _without_chords(points: Points, budget: Fraction) -> Fraction:
    """The largest trace of one orbit law within the budget: increasing, and not concave."""
    return max(signal for spent, signal in points if spent <= budget)


def _orbit_points(rng: np.random.Generator, k: int) -> Points:
    """The orbit points of the centre, of 40 singletons of ratio up to 6, and of 10 pairs and 10 random templates."""
    singletons = [subset_template(k, 1, 1 + Fraction(step, 8)) for step in range(1, 41)]
    pairs = [subset_template(k, 2, 1 + Fraction(step, 3)) for step in range(1, 11)]
    others = [cases.template(rng, k) for _ in range(10)]
    return [_orbit_point(u) for u in ((Fraction(1),) * k, *singletons, *pairs, *others)]


PROGRESSIONS: Final = tuple(
    tuple(map(Fraction, row)) for row in (("1/100", "1/50", "3/100"), ("1/4", "1/2", "3/4"), ("1", "3/2", "2"))
)
"""Budgets in arithmetic progression; the first three are below the threshold."""


def _on_the_curve(statement: Statement) -> Iterator[Comparison]:
    """Every k and budget: the stated envelope of the points that matter is the closed form, which no point exceeds.

    A point of the line from the centre to the singleton of ratio sqrt(k-1), and a singleton beyond it. That the closed
    form is concave and above all orbit points is shown at anchored.thm-7.9 and in the claims that it names.
    """
    root, slack = sp.symbols("r t", positive=True)
    budget, rest = sp.symbols("C B", positive=True)
    size = 2 + 2 * root + root**2
    slope = slope_constant().subs(sp.sqrt(K - 1), 1 + root).subs(K, size)
    centre = (sp.Integer(0), sp.Integer(0))
    corner = (budget + rest, slope * (budget + rest))
    yield identity(statement([centre, corner], budget), slope * budget, at="every k: budgets below the corner")
    beyond = {LAM: 1 + root + slack, K: size}
    point = tuple(sp.cancel(value.subs(S, 1).subs(beyond)) for value in (subset_budget(), subset_trace()))
    yield identity(statement([centre, point], point[0]), point[1], at="every k: budgets beyond the corner")


def _check_envelope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every k and budget; then k = 3 to 6 at 9 budgets: certified frontiers against 61 orbit points; exact.

    The envelope of these few is at most the frontier and at least it less half a percent, below the threshold too. The
    frontier is concave at three times three budgets.
    """
    yield from _on_the_curve(statement)
    for k in (3, 4, 5, 6):
        points = _orbit_points(rng, k)
        below = less(max(PROGRESSIONS[0]), threshold_budget(k))
        yield decide(below, at=f"k={k}, C={max(PROGRESSIONS[0])}", claimed="below the threshold")
        for budgets in PROGRESSIONS:
            values = [trace_frontier(k, budget).trace for budget in budgets]
            for budget, frontier in zip(budgets, values, strict=True):
                envelope, where = (
                    statement(points, budget),
                    f"k={k}, C={budget}: envelope of {len(points)} orbit points",
                )
                yield compare(envelope, frontier.upper, "<=", at=f"{where}, not above the frontier")
                yield compare(
                    envelope, frontier.lower * Fraction(199, 200), ">=", at=f"{where}, nor half a percent below"
                )
            chord = (values[0].lower + values[2].lower) / 2
            yield compare(values[1].upper, chord, ">=", at=f"k={k}, C={budgets[1]}: the frontier is concave")


CLAIMS: Final = (
    Claim(
        id="anchored.def-7.7",
        kind="definition",
        title="orbit laws",
        text=(
            Clause("orbit law", r"$\mu_u$ is uniform on the rearrangements of $u$."),
            Clause("trace and budget", "Its trace is $S(u)$, its budget $B(u)$."),
            Clause("set", r"$\Gamma_k$ is the set of these pairs.", "definition"),
        ),
        source="anchored, Definition 7.7",
        assumptions=("$u>0$",),
        scope="12 random templates, k = 3..5, repeated coordinates among them",
        grade="exact-cases",
        printed=_orbit_point,
        check=_check_orbits,
        controls=(
            Control("budget per k^2 pairs", lambda u: (_orbit_point(u)[0] * (len(u) - 1) / len(u), _orbit_point(u)[1])),
        ),
        expected="definition",
        obligations=for_all("u", clause=("orbit law", "trace and budget")),
    ),
    Claim(
        id="anchored.lem-7.8",
        kind="statement",
        title="planar Caratheodory reduction",
        text="A point of the convex hull of a planar set is a convex combination of at most three of its points.",
        source="anchored, Lemma 7.8",
        assumptions=(),
        scope="every dimension and number of points; 20 configurations of 4..9 points, collinear ones among them",
        grade="proved",
        printed=_three_points,
        check=_check_caratheodory,
        controls=(Control("two points suffice", lambda dimension: dimension),),
        expected="holds",
        obligations=for_all("dimension"),
    ),
    Claim(
        id="anchored.thm-7.9",
        kind="statement",
        title="two-orbit reduction of the global frontier",
        text=(
            Clause("two orbits", "$F_k(C)$ is attained by a mixture of at most two orbit laws that spends the budget."),
            Clause("frontier", "$F_k$ is finite, concave, strictly increasing and below $k(k-1)$."),
        ),
        source="anchored, Theorem 7.9",
        assumptions=(
            r"$C\ge0$",
            "no template above the frontier: claims anchored.lem-7.2, symshuffle.anchored-frontier",
        ),
        scope=(
            "every k and budget, by the closed form; k = 3, 4, 6 at 7 budgets with rational certificates; exact linear "
            "programs over a grid of templates at k = 3"
        ),
        grade="proved",
        printed=_two_orbits,
        check=_check_two_orbits,
        controls=(
            Control("one orbit law suffices", lambda k, budget: (1, _two_orbits(k, budget)[1])),
            Control("supremum (k-1)^2", lambda k, budget: (2, (k - 1) ** 2)),
            Control("the line one percent lower", _two_orbits, _check_lowered_line),
        ),
        expected="holds",
        obligations=for_all("k", "budget", clause=("two orbits", "frontier")),
    ),
    Claim(
        id="anchored.cor-7.10",
        kind="statement",
        title="the frontier is a concave envelope",
        text=r"$C\mapsto F_k(C)$ is the upper concave envelope of $\Gamma_k$.",
        source="anchored, Corollary 7.10",
        assumptions=("concave, and above all orbit points: claims anchored.thm-7.9, anchored.lem-7.2",),
        scope="every k and budget, by the points that attain it; the envelope of 61 orbit points within half a percent "
        "of certified values, k = 3..6, 9 budgets",
        grade="proved",
        printed=_envelope_of,
        check=_check_envelope,
        controls=(
            Control("one percent lower", _line_only),
            Control("one percent higher", lambda points, budget: Fraction(101, 100) * _envelope_of(points, budget)),
            Control("one percent higher, below the threshold only", _high_below_threshold),
            Control("the best single orbit law, without mixtures", _without_chords),
        ),
        expected="holds",
        obligations=for_all("points", "budget"),
    ),
)
