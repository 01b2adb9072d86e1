"""Section 10: its open questions, as far as something certified can be said about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import symmetrize_channel
from proofs_checks.anchored import _cases as cases
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import Verdict
from symshuffle.base.results import passes
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linear import Vector
from symshuffle.channels.geometry.linprog import solve
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import template_budget, template_signal
from symshuffle.utility.frontiers.certificate import DualCertificate
from symshuffle.utility.frontiers.convex_order import average_law, endpoint_law, exact_atoms
from symshuffle.utility.frontiers.formulas import (
    BUDGET,
    budget_equation,
    subset_budget,
    subset_slope,
    subset_trace,
    tangent_slope,
)
from symshuffle.utility.frontiers.frontier import slope_constant, trace_frontier

ZERO: Final = Fraction(0)


def _closed_form(k: Any, budget: Any, lam: Any) -> tuple[Any, Any, Any]:
    """High budgets: the cubic of the ratio, the trace by ratio, and the trace by ratio and budget."""
    cubic = lam**3 - (1 + budget) * lam**2 - (1 + budget * (k - 1)) * lam + 1
    return (
        cubic,
        k * (k - 1) * (lam - 1) ** 2 / (lam + k - 1) ** 2,
        budget * k * (k - 1) * lam / ((lam + 1) * (lam + k - 1)),
    )


def _two_high(k: Any, budget: Any, lam: Any) -> tuple[Any, Any, Any]:
    """The trace of templates with two high coordinates in place of one."""
    trace = 2 * k * (k - 2) * (lam - 1) ** 2 / (2 * lam + k - 2) ** 2
    return _closed_form(k, budget, lam)[0], trace, trace


def _check_closed_form(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k, C and lam: ratio, trace and slope of the library's k-ary response against the stated; symbolic.

    The step: along the singletons the budget grows, and beyond the tangent from the origin the slope falls. Then 40
    templates below certified frontiers, and three frontiers against the stated formula, in exact rationals.
    """
    cubic, by_ratio, by_budget = statement(K, BUDGET, LAM)
    yield identity(budget_equation(), cubic, at="every k, C: the ratio of k-ary response of budget C")
    yield identity(subset_trace().subs(S, 1), by_ratio, at="every k, lam: its trace")
    spent = subset_budget().subs(S, 1)
    yield identity(by_budget.subs(BUDGET, spent), by_ratio, at="every k, lam: its trace by budget")
    # On the singleton curve the tangent at sqrt(k-1) passes the origin, and beyond it the slope falls.
    root, slack = sp.symbols("r t", nonnegative=True)
    size = 2 + 2 * root + root**2  # k = (1 + r)^2 + 1, so that sqrt(k-1) = 1 + r
    tangent = tangent_slope().subs(LAM, 1 + root).subs(K, size)
    yield identity(
        tangent, subset_slope().subs({S: 1, LAM: 1 + root}).subs(K, size), at="every k: tangent from the origin"
    )
    yield identity(tangent, slope_constant().subs(sp.sqrt(K - 1), 1 + root).subs(K, size), at="every k: of slope kappa")
    beyond = {K: size, LAM: 1 + root + slack}
    growth = sp.diff(spent, LAM)
    yield decide(
        nonnegative(growth, {K: size, LAM: 1 + slack}),
        at="every k",
        claimed="the budget grows with the ratio",
        symbolic=True,
    )
    falling = -sp.diff(tangent_slope(), LAM)
    yield decide(nonnegative(falling, beyond), at="every k", claimed="the slope falls beyond sqrt(k-1)", symbolic=True)
    for trial in range(40):
        k = 3 + trial % 5
        u = tuple(k * entry for entry in cases.distribution(rng, k))
        cap = trace_frontier(k, Fraction(template_budget(u))).trace.upper
        yield compare(template_signal(u), cap, "<=", at=f"template {trial}, k={k}")
    for k, budget in ((3, Fraction(1)), (5, Fraction(2)), (10, Fraction(10))):
        found = trace_frontier(k, budget)
        (orbit,) = found.orbits
        lam = Fraction(orbit.ratio)
        claimed = statement(sp.Integer(k), sp.Rational(str(budget)), sp.Rational(str(lam)))
        yield compare(found.trace.lower, Fraction(str(claimed[1])), at=f"k={k}, C={budget}: trace of the law")
        yield compare(
            abs(Fraction(str(claimed[0]))), Fraction(1, 10**20), "<=", at=f"k={k}, C={budget}: ratio solves the cubic"
        )
        yield decide(passes(found.verify), at=f"k={k}, C={budget}", claimed="law and line check over Q")


def _free_coordinates() -> int:
    """How many coordinates of a maximiser can lie strictly between the ends of the ratio range."""
    return 1


def _inner_levels(statement: Statement) -> Iterator[Comparison]:
    """The stated number against that of the roots above the smallest entry, of every cubic that a maximiser has."""
    x = sp.Symbol("x")
    # The constant of the cubic is positive; a coordinate at the smallest entry, 1, may move up, so that the
    # cubic is at most 0 there. By its roots a <= 1, v and -av/(a + v) (no linear term): those above 1 are the inner
    # levels, and its slope at such a level is positive, so that two coordinates there are pulled apart.
    g, h = sp.symbols("g h", nonnegative=True)
    first, inner = 1 / (1 + g), 1 + h
    roots = (first, inner, -first * inner / (first + inner))
    poly = sp.expand((x - roots[0]) * (x - roots[1]) * (x - roots[2]))
    yield identity(poly.coeff(x, 1), sp.Integer(0), at="every cubic by its roots: no linear term")
    signs = {
        "above 0 at 0": poly.subs(x, 0),
        "not above 0 at the smallest entry": -poly.subs(x, 1),
        "rising at an inner level, so that two there are pulled apart": sp.diff(poly, x).subs(x, inner),
    }
    for claimed, value in signs.items():
        truth = nonnegative(sp.cancel(value), {g: g, h: h})
        yield decide(truth, at="every such cubic", claimed=claimed, symbolic=True)
    levels_above = sum(nonnegative(sp.cancel(root - 1), {g: g, h: h}) is Verdict.TRUE for root in roots)
    yield identity(
        sp.Integer(levels_above), sp.sympify(statement()), at="every k: inner levels, of one coordinate each at most"
    )


def _at_most_one_between(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The comparisons of :func:`_check_reduction`, all of them made for templates."""
    k, e, p, q, r, v, a, b, c = sp.symbols("k e p q r v a b c", positive=True)
    total, squares, reciprocals = p + v, q + v**2, r + 1 / v
    value = k**2 * squares / total**2 - e * squares * reciprocals / total
    lead = 2 * k**2 / total**2 - 2 * e * reciprocals / total
    middle = -2 * k**2 * squares / total**3 + e * squares * reciprocals / total**2
    constant = e * squares / total
    cubic = lead * v**3 + middle * v**2 + constant
    yield identity(
        v**2 * sp.diff(value, v), cubic, at="every k: derivative in one coordinate, a cubic without linear term"
    )
    x = sp.Symbol("x")
    linear = sp.Poly(sp.expand((x - a) * (x - b) * (x - c)), x).coeff_monomial(x)
    yield decide(
        nonnegative(linear, {a: a, b: b, c: c}),
        at="every cubic",
        claimed="three positive roots need a linear term",
        symbolic=True,
    )
    t = sp.Symbol("t")
    apart = (
        k**2 * (squares + 2 * t**2) / total**2
        - e * (squares + 2 * t**2) * (reciprocals + 1 / (v + t) + 1 / (v - t) - 2 / v) / total
    )
    curvature = sp.diff(apart, t, 2).subs(t, 0)
    yield identity(curvature, 2 * (lead - 2 * constant / v**3), at="every k: pulling two equal coordinates apart")
    m, d, s = sp.symbols("m d s")
    slope = (3 * s * v**2 + 2 * m * v).subs(m, -(s * v**3 + d) / v**2)
    yield identity(slope, v**2 * (s - 2 * d / v**3), at="every cubic: its derivative at a root")
    yield from _inner_levels(statement)
    # Beyond its threshold the frontier is attained by templates (v, 1, ..., 1) (claim anchored-frontier), also under a
    # cap above v.
    cap = 1 + v + e
    between = sum(bool(level > 1) and bool(level < cap) for level in (1 + v, sp.Integer(1), sp.Integer(1)))
    yield decide(
        between <= statement(),
        at="k=3: the template (v, 1, 1), any v and any cap above it",
        claimed="no more coordinates between the ends than stated",
        computed=str(between),
        symbolic=True,
    )
    for trial in range(8):
        size, lam = 4 + trial % 3, Fraction(3, 2) + trial % 4
        found = trace_frontier(size, Fraction(1 + trial, 9), lam_cap=lam)
        yield decide(passes(found.verify), at=f"k={size}, lam={lam}, case {trial}", claimed="law and line check over Q")
        line = found.certificate
        for _ in range(30):
            levels = [1 + (lam - 1) * Fraction(value, 6) for value in cases.integers(rng, size, 0, 6)]
            height = _height(levels, line.eta)
            yield compare(height, line.intercept, "<=", at=f"case {trial}: a random template against the line")
    # On a grid of levels, four inputs, slope of the singleton of ratio 5/2, ratios up to 4: every template.
    eta = Fraction(str(tangent_slope().subs({K: 4, LAM: sp.Rational(5, 2)})))
    grid = [1 + Fraction(step, 2) for step in range(7)]
    heights = [(_height(levels, eta), levels) for levels in combinations_with_replacement(grid, 4)]
    few = [
        height
        for height, levels in heights
        if sum(levels[0] < level < 4 * levels[0] for level in levels) <= statement()
    ]
    yield compare(max(few), max(height for height, _ in heights), at="k=4: 210 templates on a grid of levels")
    for budget in (Fraction(1, 4), Fraction(1), Fraction(2)):  # an independent witness: the linear program on that grid
        inside = [_template(levels) for _, levels in heights if max(levels) <= 4 * min(levels)]
        rows: list[tuple[list[Fraction], str, Fraction]] = [
            ([Fraction(1)] * len(inside), "==", Fraction(1)),
            ([Fraction(template_budget(u)) for u in inside], "<=", budget),
        ]
        solution = solve(LinearProgram.from_rows([-template_signal(u) for u in inside], rows))
        value = -solution.value.upper
        both = trace_frontier(4, budget, lam_cap=Fraction(4)).trace
        at = f"k=4, lam=4, C={budget}: {len(inside)} templates do not beat the frontier"
        yield compare(value, both.upper, "<=", at=at, solution=solution)
        yield compare(
            value, both.lower * Fraction(97, 100), ">=", at=f"k=4, lam=4, C={budget}: and come within 3 percent"
        )
    line = trace_frontier(4, Fraction(696599, 10**7), lam_cap=Fraction(7, 5)).certificate
    lower = DualCertificate(4, line.eta, line.intercept * (1 - Fraction(1, 10**12)), Fraction(7, 5))
    yield compare(
        (line.holds(), lower.holds()), (True, False), at="k=4: a line, and the same lowered by 1e-12 of itself"
    )


def _check_reduction(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For one or two coordinates of any template: derivatives of signal less price, the other sums fixed; symbolic.

    In one coordinate it is a cubic without linear term, so no three levels are stationary, and two equal inner ones can
    be pulled apart; one inner coordinate does occur. Then certified joint frontiers, random templates below their
    lines, and all templates on a grid, also by linear programs, in exact rationals.
    """
    yield from serving("templates", _at_most_one_between(statement, rng))


def _template(levels: Sequence[Fraction]) -> Vector:
    """The template with these relative levels."""
    return tuple(level * len(levels) / sum(levels) for level in levels)


def _height(levels: Sequence[Fraction], eta: Fraction) -> Fraction:
    """Signal minus eta times budget of the template with these relative levels."""
    u = _template(levels)
    return template_signal(u) - eta * Fraction(template_budget(u))


def _atom(n: Any) -> Any:
    """Mass that the average of n likelihood ratios puts on its smallest value, at lam = n."""
    return (n / (n + 1)) ** n


def _none_beyond(n: Any) -> Any:
    """No mass for n > 1000."""
    return _atom(n) * (sp.Heaviside(1000 - n, 1) if isinstance(n, sp.Basic) else int(n <= 1000))


def _check_poisson(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For lam = n up to 16: smallest value of the convolved endpoint law and its mass against the stated; exact.

    For every n the stated mass is that of n draws of the smaller end, from mean one, and tends to 1/e; symbolic. For
    n = 10, 100, 1000 it is above 36/100 and falls.
    """
    previous = Fraction(1)
    for n in map(Fraction, (2, 4, 8, 16)):
        average = exact_atoms(average_law(endpoint_law(n), int(n)))
        yield compare(average[0], (1 / n, statement(n)), at=f"n = lam = {n}: smallest value and its mass")
    for n in map(Fraction, (10, 100, 1000)):
        mass = statement(n)
        yield compare(mass, Fraction(36, 100), ">", at=f"n = lam = {n}: more than 36 percent on one point")
        yield compare(mass, previous, "<", at=f"n = lam = {n}: falling")
        previous = mass
    count, low = sp.symbols("n p", positive=True)
    (share,) = sp.solve(low / count + (1 - low) * count - 1, low)  # mass p on 1/lam, 1 - p on lam, mean one, lam = n
    found = statement(count)
    yield identity(share**count, found, at="every n: n draws of the smaller end")
    yield decide(
        sp.limit(found, count, sp.oo) == sp.exp(-1),
        at="n to infinity",
        claimed="1/e, as for a Poisson count",
        symbolic=True,
    )


def _never_worse(n: int) -> bool:
    """Whether symmetrising never raises the largest shuffled hockey-stick divergence."""
    return True


PAIR: Final = Channel.from_rows([["1/8", "3/8", "1/2"], ["1/4", "1/2", "1/4"]])
"""Two inputs, three outputs; symmetrising it raises the divergence of order 11/8 of two users."""


def _check_profile(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 7 channels, 4 orders, n = 1, 2: whether the larger divergence grows by symmetrising, as stated; exact.

    Divergences of histograms in both directions; and both values of one pair of rows at n = 2.
    """
    even = symmetrize_channel(PAIR)
    channels = [(PAIR, even), *((c, symmetrize_channel(c)) for c in (cases.channel(rng, 2, 3) for _ in range(6)))]
    for n in (1, 2):
        worse, found = False, "never a larger divergence"
        for original, average in channels:
            for gamma in map(Fraction, ("1", "9/8", "11/8", "3/2")):
                before = max(
                    shuffled_divergence(original, (i, *[j] * (n - 1)), (j,) * n, gamma) for i, j in ((0, 1), (1, 0))
                )
                after = max(
                    shuffled_divergence(average, (i, *[j] * (n - 1)), (j,) * n, gamma) for i, j in ((0, 1), (1, 0))
                )
                if after > before and not worse:
                    worse, found = True, f"{after} after symmetrising, {before} before, at order {gamma}"
        yield compare(not worse, statement(n), at=f"n={n}: 7 channels with 2 inputs, 4 orders", found=found)
    before, after = (
        max(shuffled_divergence(c, (i, j), (j, j), Fraction(11, 8)) for i, j in ((0, 1), (1, 0))) for c in (PAIR, even)
    )
    yield compare(
        (before, after), (Fraction(80, 2048), Fraction(87, 2048)), at="the pair, n=2, order 11/8: before and after"
    )


CLAIMS: Final = (
    Claim(
        id="symshuffle.anchored-frontier",
        kind="statement",
        title="closed form of the frontier at high budgets (open question 1)",
        text=(
            Clause(
                "value",
                r"For $C\ge B_*$: $F_k(C)=\frac{Ck(k-1)\lambda}{(\lambda+1)(\lambda+k-1)}$ with $\lambda>1$ the "
                r"root of $\lambda^3-(1+C)\lambda^2-(1+C(k-1))\lambda+1$.",
            ),
            Clause("plain", "It is attained by plain $k$-ary response, without mixing."),
        ),
        source="ours; answers anchored, Section 10, question (1)",
        assumptions=(r"$k\ge2$",),
        scope=(
            "every k and C: the curve is concave beyond the threshold, below its chord before (anchored, Lemma 7.2); "
            "only singletons matter by symshuffle.anchored-joint-frontier; 40 templates, 3 certificates"
        ),
        grade="proved",
        printed=_closed_form,
        check=_check_closed_form,
        controls=(
            Control("two high coordinates", _two_high),
            Control(
                "the cubic with the signs of its constant exchanged",
                lambda k, budget, lam: (_closed_form(k, budget, lam)[0] - 2, *_closed_form(k, budget, lam)[1:]),
            ),
        ),
        expected="holds",
        obligations=for_all("k", "budget", "lam", clause=("value", "plain")),
    ),
    Claim(
        id="symshuffle.anchored-joint-frontier",
        kind="statement",
        title="both constraints at once: at most one coordinate between the ends",
        text=(
            Clause(
                "one between",
                r"A template of ratio at most $\lambda$ that maximises $S-\eta B$ has at most one coordinate "
                r"strictly between its smallest entry and $\lambda$ times it.",
            ),
            Clause("line", "So a line is above all of them if it is above $k-1$ curves in one variable."),
        ),
        source="ours; the joint problem of anchored, Sections 7 and 9",
        assumptions=(r"$\eta>0$, $\lambda>1$",),
        scope=(
            "the identities of the argument and the number it leaves, for every k; the template that attains it, and a "
            "grid; 8 joint problems with certificates; 240 random templates"
        ),
        grade="proved",
        printed=_free_coordinates,
        check=_check_reduction,
        controls=(Control("no coordinate between the ends", lambda: 0), Control("two of them", lambda: 2)),
        expected="holds",
        obligations=for_all("templates", clause=("one between", "line")),
    ),
    Claim(
        id="symshuffle.anchored-open-4",
        kind="statement",
        title="where the Gaussian picture ends (open question 4)",
        text=(
            Clause(
                "atom",
                r"With $\lambda=n$ the average of $n$ likelihood ratios of binary response keeps mass $(\frac "
                "n{n+1})^n$.",
            ),
            Clause(
                "limit",
                r"$(\frac n{n+1})^n\to1/e$: a Poisson limit, at a boundary composition.",
            ),
        ),
        source="ours; towards anchored, Section 10, question (4)",
        assumptions=(r"$\lambda=n$",),
        scope="n up to 16 by convolution, every n by independence, the limit of the statement by SymPy",
        grade="exact-cases",
        printed=_atom,
        check=_check_poisson,
        controls=(
            Control("a mass that vanishes", lambda n: 2**-n),
            Control("none for n > 1000", _none_beyond),
            Control("one percent more", lambda n: _atom(n) * Fraction(101, 100)),
        ),
        expected="holds",
        obligations=for_all("n", clause=("atom", "limit")),
    ),
    Claim(
        id="symshuffle.anchored-symmetrised-profile",
        kind="statement",
        title="does symmetrising help the shuffled hockey-stick profile too?",
        text=(
            "Symmetrising a channel never raises the largest hockey-stick divergence of the shuffled contamination "
            "pair, at any order and n."
        ),
        source="our question; the paper shows it for the chi-square budget",
        assumptions=(),
        scope="7 channels with 2 inputs, 4 orders, n = 1, 2",
        grade="refuted",
        printed=_never_worse,
        check=_check_profile,
        controls=(Control("it always raises it", lambda n: False),),
        expected="refuted",
        erratum=Erratum(
            "question",
            None,
            "Our question; the paper claims it for the chi-square budget only, where it holds.",
        ),
        corrected=Correction(
            text=(
                r"True for one user, where the profile is an average over pairs. For $n=2$ the rows $(1,3,4)/8$ and "
                r"$(2,4,2)/8$ give $80/2048$ before and $87/2048$ after symmetrising, at order $11/8$."
            ),
            statement=lambda n: n == 1,
            grade="exact-cases",
        ),
    ),
)
