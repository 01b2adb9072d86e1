"""Section 3.3, continued: transitive groups, where one orbit is a channel, and subset selection."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import OrbitPolytope
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._named import subset_weight, uniform_information
from proofs_checks.ldp_tradeoff._orbits import column_sum, incidence, level
from proofs_checks.ldp_tradeoff._rows import layers, mixture_not_below, perspective_excess
from proofs_checks.ldp_tradeoff.section32_optima import EXCESS
from symshuffle.base.numbers import Exp
from symshuffle.channels.geometry.extremal import MaximalPolytope
from symshuffle.channels.geometry.groups import (
    cyclic_group,
    dihedral_group,
    symmetric_group,
)
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information import measures
from symshuffle.design.information.maximum import maximise
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    serving,
)


def _single_orbit_weight(m: Any, size: Any, k: Any, lam: Any) -> Any:
    """Equation (28)."""
    return m / (size * (k * lam + m - k))


def _one_orbit_for_all(statement: Statement, sizes: tuple[Any, Any, Any, Any]) -> Iterator[Comparison]:
    """A point of the orbit polytope is a mixture of single orbits, and a concave risk is least at one of these."""
    m, size, k, lam = sizes
    w = sp.Symbol("w", nonnegative=True)
    single, column = statement(m, size, k, lam), column_sum(size, incidence(m, size, k), lam)
    yield identity(single * column, 1, at="one orbit with its weight is a channel")
    share = w / single
    yield identity(
        share, w * column, at="its share in a point of weight w is its part of the column sum, and these add up to 1"
    )
    low, gap = sp.Symbol("v", real=True), sp.Symbol("g", nonnegative=True)
    of_first = 1 / (1 + sp.Symbol("o", positive=True))
    best = mixture_not_below(low, (low, low + gap), of_first, sp.Symbol("b", nonnegative=True))
    yield decide(
        best, at="a mixture is not below the best single orbit, any concave risk", claimed="yes", symbolic=True
    )


def _check_transitive(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any transitive group, orbit and lam: one orbit of the stated weight is a channel; symbolic.

    A point is a mixture of such, and a concave risk is no better there. Then three rings: the best single orbit against
    the certified optimum, in exact rationals.
    """
    m, size, k, lam = sp.symbols("m N k lambda", positive=True)
    yield from serving("risks", _one_orbit_for_all(statement, (m, size, k, lam)))
    for name, group in (("Z_4", cyclic_group(4)), ("D_5", dihedral_group(5)), ("Z_6", cyclic_group(6))):
        polytope = OrbitPolytope(group, cases.LAM)
        problem = cases.ring(group.m)
        family, risks = MaximalPolytope(group.m, cases.LAM), []
        for orbit in polytope.orbits:
            weight = statement(Fraction(group.m), orbit.size, orbit.representative.bit_count(), cases.LAM)
            subsets = {y: Fraction(weight) for y in group.orbit_of(orbit.representative)}
            yield decide(
                family.contains(subsets), at=f"{name}: orbit of {orbit.representative} is a channel", claimed="yes"
            )
            if family.contains(subsets):
                risks.append(problem.bayes_risk(family.channel(subsets))[0])
        best = smallest_risk(problem, cases.LAM).value.exact
        yield compare(min(risks, default=None), best, at=f"{name}: best single orbit against all LDP channels")


def _selection_weight(m: Any, k: Any, lam: Any) -> Any:
    """Equation (30)."""
    return m / (sp.binomial(m, k) * (k * lam + m - k))


def _check_selection(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any m, k, lam: weight by counting subsets, and as the one orbit of a size, against the stated; symbolic.

    Then orbits and weights for m = 3 to 6, and the best subset selection against the certified optimum for m = 3, 4.
    """
    m, k, lam = sp.symbols("m k lambda", positive=True)
    yield identity(subset_weight(m, k, lam), statement(m, k, lam), at="weight by counting subsets, all m, k, lam")
    # The subsets of size k with a given input, and all subsets of size k: two ways to the incidence of one orbit.
    orbit = sp.binomial(m, k)
    through = identity(incidence(m, orbit, k), sp.binomial(m - 1, k - 1), at="subsets of size k that contain an input")
    yield from serving("risks", [through])
    yield from serving("risks", _one_orbit_for_all(lambda m, size, k, lam: statement(m, k, lam), (m, orbit, k, lam)))
    first, second, both = sp.symbols("a b i", integer=True, nonnegative=True)  # sizes of the differences and the meet
    (exchanged,) = sp.solve(sp.Eq(first + both, second + both), first)
    at = "subsets of one size: as many inputs in one alone as in the other alone; exchanging them is in Sym(m)"
    yield identity(exchanged, second, at=at)
    yield from _best_size(statement)
    for inputs in (3, 4, 5, 6):
        orbits = list(symmetric_group(inputs).subset_orbits())
        expected = sorted((size, math.comb(inputs, size)) for size in range(1, inputs))
        found = sorted((orbit.representative.bit_count(), orbit.size) for orbit in orbits)
        yield compare(found, expected, at=f"orbits of Sym({inputs}) are the sizes")
        polytope = OrbitPolytope(symmetric_group(inputs), cases.LAM)
        for orbit in polytope.orbits:
            claimed = statement(sp.Integer(inputs), sp.Integer(orbit.representative.bit_count()), sp.Integer(3))
            weight = polytope.single_orbit_weight(orbit)
            yield compare(weight, Fraction(int(claimed.p), int(claimed.q)), at=f"m={inputs}, size {orbit.size}")


def _best_size(statement: Statement) -> Iterator[Comparison]:
    """Invariant risks: the best subset selection, with the stated weight, against the certified optimum."""
    for inputs in (3, 4):
        family, problem = MaximalPolytope(inputs, cases.LAM), smoothed_point_masses(inputs, Fraction(3, 4))
        risks = []
        for size in range(1, inputs):
            claimed = statement(sp.Integer(inputs), sp.Integer(size), sp.Integer(3))
            weight = Fraction(int(claimed.p), int(claimed.q))
            subsets = {y: weight for y in range(1, 2**inputs - 1) if y.bit_count() == size}
            if family.contains(subsets):
                risks.append(problem.bayes_risk(family.channel(subsets))[0])
        best = smallest_risk(problem, cases.LAM).value.exact
        yield compare(min(risks, default=None), best, at=f"m={inputs}: an optimal channel is a subset selection")


def _largest_information(values: Sequence[Any]) -> Any:
    """Remark 3.19: the largest information of any LDP channel, from those of subset selections of sizes 1, 2, ...."""
    result = values[0]
    for value in values[1:]:
        result = value if value - result > 0 else result
    return result


def _information_for_all(statement: Statement) -> Iterator[Comparison]:
    """A maximal channel of any weights c_y has an average of the informations of subset selections.

    The information of a uniform input is the sum over rows of a measure that depends on the size of the subset alone.
    """
    m, k, lam, c = sp.symbols("m k lambda c", positive=True)
    total = k * lam + m - k
    # The measure of a two-level row, and the information of subset selection with its binomial(m, k) equal weights.
    row = (k * lam * sp.log(lam * m / total) + (m - k) * sp.log(m / total)) / m
    selection = sp.binomial(m, k) * subset_weight(m, k, lam) * row
    share = c * total / m
    yield identity(c * row, share * selection, at="a row is a share of a subset selection")
    inside = level(1, lam) * k + level(0, lam) * (m - k)
    yield identity(m * share, c * inside, at="its share is its part of the column sums, m in all: shares add up to 1")
    for name, difference in perspective_excess(lambda t: t * sp.log(t)):
        yield identity(difference, 0, at=f"rows split into two-level ones lose nothing: {name}")
    yield from layers(1 + EXCESS, 1 + EXCESS)
    low, gap = sp.Symbol("v", real=True), sp.Symbol("g", positive=True)
    of_first = 1 / (1 + sp.Symbol("o", positive=True))
    for values in ((low, low + gap), (low + gap, low)):
        claimed = statement(values)
        above = mixture_not_below(-claimed, (-values[0], -values[1]), of_first, sp.Integer(0))
        yield decide(above, at="an average of two sizes is not above", claimed=str(claimed), symbolic=True)
        yield identity(low + gap, claimed, at="the better size attains it")


def _check_information(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any channel, m and lam: its information is an average over sizes, not above the stated; symbolic.

    Two sizes stand for any number. Then m = 2 to 6 at four budgets: the certified maximum within 1e-20 of the best
    size, in balls.
    """
    yield from serving("channels", _information_for_all(statement))
    for inputs in (2, 3, 4, 5, 6):
        for eps0 in (Fraction(1, 10), Fraction(1), Fraction(5, 2), Fraction(5)):
            balls = [uniform_information(inputs, size, eps0) for size in range(1, inputs)]
            midpoints = [ball.midpoint for ball in balls]
            best = balls[midpoints.index(statement(midpoints))]
            found = maximise(measures.mutual_information([Fraction(1, inputs)] * inputs), Exp(eps0)).value
            gap = abs(found.midpoint - best.midpoint)
            yield compare(
                gap, Fraction(1, 10**20), "<=", at=f"certified maximum against its best size, m={inputs}, eps0={eps0}"
            )


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.cor-3.17",
        kind="statement",
        title="transitive symmetry: one orbit is optimal",
        text=(
            Clause(
                "weight",
                r"For a transitive group one orbit has the weight $w_O=m/(|O|(k\lambda+m-k))$.",
                "definition",
            ),
            Clause("optimal", "This one orbit is optimal for concave invariant risks."),
        ),
        source="ldp_tradeoff, Corollary 3.17",
        assumptions=("a finite group, transitive on inputs", "DPI, DS-QCVX, CCV and invariance"),
        scope="any transitive group, orbit, lam, concave risk; three rings: best orbit and certified optimum",
        grade="proved",
        printed=_single_orbit_weight,
        check=_check_transitive,
        controls=(
            Control("the order of the group instead of the orbit", lambda m, size, k, lam: m / (m * (k * lam + m - k))),
            Control("levels exchanged", lambda m, size, k, lam: m / (size * (k + (m - k) * lam))),
        ),
        expected="holds",
        obligations=for_all("m", "size", "k", "lam", "risks", clause="optimal"),
    ),
    Claim(
        id="ldp_tradeoff.rem-3.18",
        kind="statement",
        title="full symmetry leads to subset selection",
        text=(
            Clause(
                "subset selection", r"For a $\mathrm{Sym}(m)$-invariant risk the optimal channel is a subset selection."
            ),
            Clause("orbits", r"The orbits are the $k$-subsets and $w_O=m/(\binom mk(k\lambda+m-k))$."),
        ),
        source="ldp_tradeoff, Remark 3.18, equation (30)",
        assumptions=("Corollary 3.17",),
        scope="any m, k, lam and concave risk; orbits and weights for m = 3..6; one problem each for m = 3, 4",
        grade="proved",
        printed=_selection_weight,
        check=_check_selection,
        controls=(
            Control("the binomial of m - 1", lambda m, k, lam: m / (sp.binomial(m - 1, k) * (k * lam + m - k))),
            Control("levels exchanged", lambda m, k, lam: m / (sp.binomial(m, k) * (k + (m - k) * lam))),
        ),
        expected="holds",
        obligations=for_all("m", "k", "lam", "risks", clause=("subset selection", "orbits")),
    ),
    Claim(
        id="ldp_tradeoff.rem-3.19",
        kind="statement",
        title="largest mutual information of a uniform input",
        text=r"For a uniform input, $I(X;Y)$ over $\epsilon$-LDP channels is largest for a subset selection mechanism.",
        source="ldp_tradeoff, Remark 3.19",
        assumptions=("uniform input",),
        scope="any channel, m and lam, two sizes at a time; m = 2..6 at four budgets: certified maximum within 1e-20",
        grade="proved",
        printed=_largest_information,
        check=_check_information,
        controls=(
            Control("size one is always best", lambda values: values[0]),
            Control("the largest size is always best", lambda values: values[-1]),
        ),
        expected="holds",
        obligations=for_all("values", "channels"),
    ),
)
