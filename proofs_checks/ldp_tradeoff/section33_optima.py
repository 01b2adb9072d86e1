"""Section 3.3: optimising an invariant risk over orbit weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import OrbitPolytope
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cones import maximal_weights
from proofs_checks.ldp_tradeoff._properties import Property, examine
from proofs_checks.ldp_tradeoff._rows import linear_in_weights, mixture_not_below
from proofs_checks.ldp_tradeoff.section32_optima import (
    EXCESS,
    UNATTAINED,
    approaching,
    escaping_risk,
    optimum_over_weights,
)
from symshuffle.base.choices import Criterion, members
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope
from symshuffle.channels.geometry.groups import (
    cyclic_group,
    product_of_symmetric_groups,
    symmetric_group,
)
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.named import weighted_guessing_problem
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
)


def _invariant_optimisation(lam: Fraction) -> tuple[bool, Fraction]:
    """Equation (27): the infimum over LDP channels is a minimum over the orbit polytope at the same level."""
    return True, lam


def _check_invariant_optimisation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For three rings: optima over all private channels and over orbit weights at the stated level; exact.

    Whether the infimum is a minimum, as stated, is decided by an invariant risk whose values fall to 0 and are never 0;
    its properties are tested on random cases.
    """
    for m in (3, 4, 5):
        problem, group = cases.ring(m), cyclic_group(m)
        _, level = statement(cases.LAM)
        for criterion in members(Criterion):
            reduced = smallest_risk(problem, level, group=group, criterion=criterion).value.exact
            whole = smallest_risk(problem, cases.LAM, criterion=criterion).value.exact
            yield compare(whole, reduced, at=f"ring of {m}, {criterion}")
    # The risk of equation (22)'s counterexample, summed over the orbit of {0}, is invariant and quasi-convex on stacks.
    group = symmetric_group(3)

    def draw(generator: np.random.Generator) -> Channel:
        return MaximalPolytope(3, cases.LAM).channel(cases.weights(generator, 3, cases.LAM))

    for which in (Property.INVARIANT, Property.QUASI_CONVEX, Property.DPI):
        report = examine(orbit_risk, which, num_inputs=3, rng=rng, trials=60, group=group, draw=draw)
        yield decide(
            report.counterexample is None, at=f"{which.value} of that risk, {report.decided} cases", claimed="holds"
        )
    values = [orbit_risk(channel) for channel in approaching(20)]
    yield compare(values, [Fraction(3, 5 * 2**step) for step in range(20)], at="its values along invariant channels")
    attained, _ = statement(cases.LAM)
    found = f"its values {values[0]}, {values[1]}, {values[2]}, ... are positive"
    yield compare(False, attained, at="the infimum 0 of that risk is a minimum", found=found)


def _check_corrected_invariant_optimisation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every lam and any such risk: two-level rows at the stated level suffice; no minimum; symbolic.

    Shares of the symmetrised channel add up to 1. Then all cases of :func:`_check_invariant_optimisation`.
    """
    lam = 1 + sp.Symbol("w", positive=True)
    attained, level = statement(lam)
    yield from serving("risks", optimum_over_weights(level, lam))
    # The symmetrised substitute (Theorem 3.7) has the average weights, and these are constant on orbits: the shares of
    # the stack, 1/|G| each, add up to 1, and a further element only exchanges the parts.
    order, part = sp.symbols("G g", integer=True, positive=True)
    shares = sp.Sum(1 / order, (part, 1, order)).doit()
    yield from serving("risks", [identity(shares, 1, at="weights of the symmetrised channel, any finite group")])
    yield compare(attained, False, at="no minimum is promised")
    yield from _check_invariant_optimisation(statement, rng)


def orbit_risk(channel: Channel) -> Fraction:
    """The risk of :func:`escaping_risk` made invariant: the total weight of the singletons, or 1 where that is zero."""
    base = escaping_risk(channel)
    if base == 0 or not channel.is_ldp(cases.LAM):
        return base
    try:
        weights = maximal_weights(channel, cases.LAM)
    except ValueError:
        return Fraction(1)
    return sum((weights.get(y, Fraction(0)) for y in (1, 2, 4)), Fraction(0)) or Fraction(1)


def _orbit_corner(values: Sequence[Fraction]) -> Fraction:
    """Remark 3.16: the optimum of a concave risk from its values at the vertices of the orbit polytope."""
    return min(values)


def _orbit_corners_for_all(statement: Statement) -> Iterator[Comparison]:
    """Two vertices, the second no better; more by induction, the mixture of the others in the place of the second."""
    low, gap = sp.Symbol("v", real=True), sp.Symbol("g", positive=True)
    share = 1 / (1 + sp.Symbol("o", positive=True))
    for values in ((low, low + gap), (low + gap, low)):
        claimed = statement(values)
        between = mixture_not_below(claimed, values, share, sp.Symbol("b", nonnegative=True))
        yield from serving("concave", [decide(between, at="any point between", claimed="not below", symbolic=True)])
        best = identity(low, claimed, at="the best vertex is a point of the polytope")
        yield from serving("concave", [best])
        # An additive risk is linear in weights: at the mixture it is the average, without a bend.
        linear = linear_in_weights() and mixture_not_below(claimed, values, share, sp.Integer(0))
        at = "the sum of F over weighted rows, any homogeneous F"
        yield from serving("additive", [decide(linear, at=at, claimed="not below", symbolic=True)])
        yield from serving("additive", [identity(low, claimed, at="the best vertex is a point of the program")])


def _check_orbit_corners(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any two values of a concave or additive risk: nothing between is below the stated optimum; symbolic.

    More vertices by induction. Then two problems under Sym(2)xSym(2): all vertices and both programs, in exact
    rationals.
    """
    yield from _orbit_corners_for_all(statement)
    lam = cases.LAM
    for prior in ((3, 3, 2, 2), (5, 5, 4, 4)):
        weights = [Fraction(v, sum(prior)) for v in prior]
        problem = weighted_guessing_problem(weights)
        group = product_of_symmetric_groups([(0, 1), (2, 3)])
        polytope = OrbitPolytope(group, lam)
        family = MaximalPolytope(4, lam)
        values = [problem.bayes_risk(family.channel(polytope.lift(vertex)))[0] for vertex in polytope.vertices()]
        optimum = smallest_risk(problem, lam, group=group)
        yield compare(optimum.value.exact, statement(values), at=f"vertices against the program, {prior}")
        yield compare(smallest_risk(problem, lam).value.exact, optimum.value.exact, at=f"no loss by symmetry, {prior}")
        linear = Fraction(0)
        for orbit, _, weight in optimum.weights:
            linear += weight * orbit.size * _column_risk(problem, orbit.representative, lam)
        yield compare(linear, optimum.value.exact, at=f"objective linear in orbit weights, {prior}")


def _column_risk(problem: Any, subset: int, lam: Fraction) -> Fraction:
    """What one two-level output adds to the Bayes risk."""
    costs = problem.posterior_costs(problem.required_prior())
    row = [lam if subset >> x & 1 else Fraction(1) for x in range(problem.num_inputs)]
    return min(sum((h * v for h, v in zip(line, row, strict=True)), Fraction(0)) for line in costs)


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.eq-27",
        kind="statement",
        title="optimising over orbit weights",
        text=(
            r"For invariant $R^*$ with DPI and DS-QCVX the infimum is "
            r"the minimum of $R^*(Q^{(w)}_{ex,G})$ over $\mathcal S^G$."
        ),
        source="ldp_tradeoff, equation (27)",
        assumptions=("DPI, DS-QCVX and invariance", "at least two inputs"),
        scope=(
            "an explicit invariant risk whose infimum is not attained, its DPI and DS-QCVX tested in 60 cases; optima "
            "of three rings agree"
        ),
        grade="refuted",
        printed=_invariant_optimisation,
        check=_check_invariant_optimisation,
        controls=(
            Control("the polytope of a ratio one percent smaller", lambda lam: (False, lam * Fraction(99, 100))),
            Control(
                "excess one percent smaller, for all risks",
                lambda lam: (False, 1 + (lam - 1) * sp.Rational(99, 100)),
                lambda statement, rng: serving("risks", optimum_over_weights(statement(1 + EXCESS)[1], 1 + EXCESS)),
            ),
        ),
        expected="refuted",
        erratum=replace(UNATTAINED, quote="inf R*(Q) = min R*(Q_ex,G^(w)) (27)", same_as="ldp_tradeoff.eq-22"),
        corrected=Correction(
            text=(
                r"The infimum over LDP channels is the infimum over $\mathcal S^G$; it is attained if the risk is "
                r"lower semicontinuous in $w$, as Bayes and minimax risks are, or concave."
            ),
            statement=lambda lam: (False, lam),
            grade="proved",
            check=_check_corrected_invariant_optimisation,
        ),
        obligations=for_all("lam", "risks"),
    ),
    Claim(
        id="ldp_tradeoff.rem-3.16",
        kind="statement",
        title="orbit optimum at corners, or by linear programming",
        text=(
            Clause("concave", r"Concave risks are optimised at a vertex of $\mathcal S^G$."),
            Clause("additive", "Additive ones are optimised by a linear program over it."),
        ),
        source="ldp_tradeoff, Remark 3.16",
        assumptions=("invariance, and the conditions of Remark 3.11",),
        scope="any two values of an arbitrary risk; two problems under Sym(2)xSym(2): all vertices, both programs",
        grade="proved",
        printed=_orbit_corner,
        check=_check_orbit_corners,
        controls=(
            Control("the worst vertex", max),
            Control("the average vertex", lambda values: sum(values, Fraction(0)) / len(values)),
        ),
        expected="holds",
        obligations=(
            *for_all("values", clause=("concave", "additive")),
            *for_all("concave", clause="concave"),
            *for_all("additive", clause="additive"),
        ),
    ),
)
