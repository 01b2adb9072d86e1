"""Section 3.1, continued: invariance, and what symmetry and column sums give optimal risks and information."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp
from sympy.combinatorics.free_groups import free_group

from proofs_checks._symmetry import act_on_channel, symmetrize_channel
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cones import non_extreme_output
from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from proofs_checks.ldp_tradeoff._orbits import moved_levels
from proofs_checks.ldp_tradeoff._properties import Functional, Property, examine, random_channel
from proofs_checks.ldp_tradeoff._risks import best_of_parts, carried_rules, composed_rules, stacked_rules
from proofs_checks.ldp_tradeoff._rows import layers, perspective_excess
from symshuffle.base.numbers import Verdict
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope, dominating_extremal
from symshuffle.channels.geometry.groups import cyclic_group, symmetric_group
from symshuffle.design.decision.problems import Problem, smoothed_point_masses
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
from symshuffle.mechanisms.symbolic import same_function


def _unmoved(functional: Callable[[Channel], Any], g: Sequence[int], sigma: Sequence[int], channel: Channel) -> bool:
    """Definition 3.5 for one element, one action on the outputs and one channel."""
    return bool(functional(act_on_channel(g, channel, sigma)) == functional(channel))


def _check_unmoved(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For all of Sym(3) with random relabelings: Bayes and minimax risk are unmoved in the stated sense; exact.

    Under a skewed prior the Bayes risk of some random channel moves.
    """
    for g in itertools.permutations(range(3)):
        channel = random_channel(rng, 3, 3)
        sigma = tuple(int(v) for v in rng.permutation(3))
        for name, functional in (("Bayes", cases.bayes), ("minimax", cases.minimax)):
            yield decide(
                statement(functional, g, sigma, channel), at=f"{name} risk, g={g}, sigma={sigma}", claimed="same"
            )
    skewed = cases.PROBLEM.with_prior((Fraction(3, 4), Fraction(1, 8), Fraction(1, 8)))
    moved = [
        statement(lambda c: skewed.bayes_risk(c)[0], (1, 0, 2), (0, 1, 2), random_channel(rng, 3, 3)) for _ in range(10)
    ]
    yield decide(not all(moved), at="Bayes risk under a skewed prior", claimed="not invariant")


_TESTED: Final = {
    "Bayes": {Property.DPI, Property.ADDITIVE, Property.INVARIANT},
    "minimax": {Property.DPI, Property.QUASI_CONVEX, Property.INVARIANT},
}


def _risk_properties() -> dict[str, set[Property]]:
    """Proposition 3.6, for an invariant problem with an invariant prior."""
    return _TESTED


def _properties_for_all(statement: Statement) -> Iterator[Comparison]:
    """Each property of each risk, for any sizes: what matrix algebra shows against whether it is stated; symbolic."""
    additive, quasi_convex = best_of_parts()
    proofs = {
        ("Bayes", Property.DPI): composed_rules(),
        ("minimax", Property.DPI): composed_rules(),
        ("Bayes", Property.ADDITIVE): stacked_rules() and additive,
        ("minimax", Property.QUASI_CONVEX): stacked_rules() and quasi_convex,
        ("Bayes", Property.INVARIANT): carried_rules(),
        ("minimax", Property.INVARIANT): carried_rules(),
    }
    claimed = statement()
    for (name, which), holds in proofs.items():
        said = which in claimed[name]
        at = f"{name} risk, any sizes, {which.value}"
        yield from serving(which.value, [decide(holds is said, at=at, claimed=str(said), symbolic=True)])


def _check_risk_properties(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any sizes: each property by matrix algebra on an arbitrary rule, against whether it is stated; symbolic.

    Then random cases of two problems with groups, none of which violates a stated property.
    """
    yield from _properties_for_all(statement)
    for name, properties in statement().items():
        for which in sorted(properties, key=lambda item: item.value):
            for problem, group in ((cases.PROBLEM, symmetric_group(3)), (cases.ring(4), cyclic_group(4))):
                functional = _functional(problem, name)
                report = examine(
                    functional,
                    which,
                    num_inputs=problem.num_inputs,
                    rng=rng,
                    trials=60 if name == "Bayes" else 20,
                    group=group,
                )
                yield decide(
                    report.counterexample is None and report.decided == report.trials,
                    at=f"{name} risk, {which.value}, {report.decided} random cases, {problem.num_inputs} inputs",
                    claimed="no violation",
                )


def _functional(problem: Problem, name: str) -> Functional:
    """The Bayes or the minimax risk of a problem as a function of the channel."""
    if name == "Bayes":
        return lambda channel: problem.bayes_risk(channel)[0]
    return lambda channel: minimax_risk(problem, channel).value.lower


def _reduction(original: Any, lam: Any) -> tuple[Any, Any]:
    """Theorem 3.7, per channel: the largest risk of its maximal and symmetrised substitutes, and the ratio of these."""
    return original, lam


def _shift_is_undone() -> bool:
    """Equation (49): whether the block of h^-1 g at the preimage under h is the block of g, in any group.

    The block of g holds the channel at the preimage of the input under g.
    """
    _, g, h = free_group("g, h")
    return bool((h**-1 * g) ** -1 * h**-1 == g**-1)


def _reduction_for_all(statement: Statement) -> Iterator[Comparison]:
    """Any functional, as an open number less what its properties take away; the substitutes row by row; symbolic."""
    lam = 1 + sp.Symbol("w", positive=True)
    risk = sp.Symbol("r", real=True)
    bound, level = statement(risk, lam)
    # What DPI, and then DS-QCVX at channels of one risk (invariance), take away for an arbitrary functional.
    by_processing, by_stacking = sp.symbols("a b", nonnegative=True)
    for clause, substitute in (("maximal", risk - by_processing), ("invariant", risk - by_processing - by_stacking)):
        slack = sp.expand(bound - substitute).is_nonnegative is True
        at = f"an arbitrary functional, {clause} substitute"
        yield from serving(clause, [decide(slack, at=at, claimed="no larger", symbolic=True)])
        same = identity(risk, bound, at=f"a constant functional, {clause} substitute: no smaller bound")
        yield from serving(clause, [same])
    # The substitute, of which any LDP channel is a post-processing: two-level rows of the stated ratio, which Lemma B.5
    # and Proposition B.3 call maximal. Permuted they stay such rows, and the stack over a group is invariant.
    yield from serving("maximal", layers(level, lam))
    acted, image, *_ = moved_levels(level)
    at = "a permuted two-level row is the two-level row of the image, any permutation"
    yield from serving("invariant", [identity(acted, image, at=at)])
    yield from serving("invariant", layers(level, lam))
    at = "(49): the stack over a group is invariant"
    yield from serving("invariant", [decide(_shift_is_undone(), at=at, claimed="yes", symbolic=True)])


def _check_reduction(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any functional: maximal and symmetrised substitutes are no worse than the stated bound; symbolic.

    The step: every row is a sum of two-level rows, and the stack over a group is invariant. Then 12 random private
    channels, their substitutes, and optima over orbits, in exact rationals.
    """
    yield from _reduction_for_all(statement)
    for m in (3, 4):
        problem, group, lam = cases.ring(m), cyclic_group(m), cases.LAM
        for trial in range(6):
            channel = cases.capped_channel(rng, m, 3, lam)
            weights, _ = dominating_extremal(channel, lam)
            above = MaximalPolytope(m, lam).channel(weights)
            spread = symmetrize_channel(above, group)
            at = f"m={m}, random LDP channel {trial}"
            for name in ("Bayes", "minimax"):
                risk = _functional(problem, name)
                bound, _ = statement(risk(channel), lam)
                yield decide(risk(above) <= bound, at=f"{name}: a maximal channel is no worse, {at}", claimed="<=")
                yield decide(
                    risk(spread) <= statement(risk(above), lam)[0], at=f"{name}: symmetrised, {at}", claimed="<="
                )
            yield decide(
                non_extreme_output(spread, lam) is None, at=f"symmetrised channel is maximal, {at}", claimed="yes"
            )
            yield decide(_rotates(spread, group.order(), above.num_outputs), at=f"and invariant, {at}", claimed="yes")
        value = smallest_risk(problem, lam, group=group).value.exact
        yield compare(smallest_risk(problem, lam).value.exact, value, at=f"optimum over invariant channels, m={m}")


def _rotates(spread: Channel, order: int, outputs: int) -> bool:
    """Whether the symmetrised channel is fixed by the shift (y, g) -> (y, hg); one block of outputs per g."""
    columns = [spread.columns()[g * outputs : (g + 1) * outputs] for g in range(order)]
    step = tuple((x + 1) % spread.num_inputs for x in range(spread.num_inputs))
    moved = [tuple(tuple(column[step.index(x)] for x in range(len(step))) for column in block) for block in columns]
    return sorted(moved) == sorted(columns)


def _check_reduction_needs_invariance(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Drop the hypothesis: for a skewed problem the best invariant channel is strictly worse."""
    skewed = smoothed_point_masses(3, 1).with_prior((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))
    risk = _functional(skewed, "Bayes")
    polytope = MaximalPolytope(3, Fraction(2))
    best = min(
        (polytope.channel(vertex) for vertex in polytope.vertices()), key=lambda channel: skewed.bayes_risk(channel)[0]
    )
    spread = symmetrize_channel(best, symmetric_group(3))
    yield decide(risk(spread) <= statement(risk(best), Fraction(2))[0], at="a skewed prior", claimed="<=")


_MEASURES: Final[dict[str, measures.Measure]] = {
    "total variation": measures.total_variation_measure(cases.P0, cases.P1),
    "chi-square": measures.chi_square_measure(cases.P0, cases.P1),
    "hockey-stick 5/4": measures.hockey_stick_measure(cases.P0, cases.P1, Fraction(5, 4)),
    "Fisher information": measures.fisher_information(cases.P0, cases.SLOPE),
    "relative entropy": measures.kullback_leibler(cases.P0, cases.P1),
    "mutual information, uniform input": measures.mutual_information([Fraction(1, 4)] * 4),
}


def _measure_properties() -> tuple[int, set[Property]]:
    """Remark 3.8: the sign with which a divergence or an information is a risk, and the properties that risk has."""
    return -1, {Property.DPI, Property.ADDITIVE}


def _positive(rng: np.random.Generator) -> Channel:
    """A random private channel without null entries."""
    return cases.capped_channel(rng, 4, 3, cases.LAM)


def _perspectives() -> dict[str, Callable[[Any], Any]]:
    """The convex function f of each measure: at a row v it is a sum of terms b f(a/b) with a and b linear in v.

    f-divergences: a and b are the products of v with the two laws. Mutual information: for every input, its entry and
    the product of v with the input law, times the probability of the input. Fisher information: the products with the
    derivative and with the law.
    """
    return {
        "f-divergences": sp.Function("f"),
        "mutual information": lambda t: t * sp.log(t),
        "Fisher information": lambda t: t**2,
    }


def _measures_for_all(statement: Statement) -> Iterator[Comparison]:
    """Each measure by its convex function, any size: homogeneous, and no larger after merging rows; symbolic."""
    sign, properties = statement()
    jensen, t = sp.Symbol("j", nonnegative=True), sp.Symbol("t", positive=True)
    for name, convex in _perspectives().items():
        shown = all(same_function(excess, 0) is Verdict.TRUE for _, excess in perspective_excess(convex))
        curvature = convex(t).diff(t, 2)
        shown = shown and (name == "f-divergences" or curvature.is_positive is True)
        # Outputs are merged: rows add up, and the measure loses b + b' times Jensen's gap. A risk gains what it loses.
        holds = (
            shown
            and sp.expand(-sign * jensen).is_nonnegative is True
            and {Property.DPI, Property.ADDITIVE} <= properties
        )
        at = f"{name}: homogeneous, and no larger after merging rows, any size"
        yield from serving(name, [decide(holds, at=at, claimed=f"sign {sign}", symbolic=True)])


def _check_measures(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any convex f and size: merging rows costs Jensen's gap, which has the stated sign for a risk; symbolic.

    Then six measures on random channels, none of which violates a stated property, and two largest divergences in exact
    rationals.
    """
    yield from _measures_for_all(statement)
    sign, properties = statement()
    for name, measure in _MEASURES.items():
        for which in sorted(properties, key=lambda item: item.value):
            if measure.rational is None and which is Property.ADDITIVE:
                continue  # decided symbolically above: balls cannot prove an equality

            def risk(channel: Channel, measure: Any = measure) -> Any:
                return sign * measure.of(channel)

            report = examine(risk, which, num_inputs=4, rng=rng, trials=60, draw=_positive)
            yield decide(
                report.counterexample is None and report.decided > report.trials // 2,
                at=f"{name}, {which.value}, {report.decided} cases decided",
                claimed="no violation",
            )
    for (gamma, value), lam in (((Fraction(1), Fraction(1, 4)), 3), ((Fraction(5, 4), Fraction(3, 20)), 3)):
        found = maximise(measures.hockey_stick_measure(cases.P0, cases.P1, gamma), lam).value.exact
        yield compare(found, value, at=f"largest hockey-stick divergence at order {gamma}, lam={lam}")


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.def-3.5",
        kind="definition",
        title="risks that ignore relabeling by a group",
        text=r"$R^*(g\circ_\sigma Q)=R^*(Q)$ for every action $\sigma$ on the outputs, every $g$ and $Q$.",
        source="ldp_tradeoff, Definition 3.5",
        assumptions=("a finite group",),
        scope="all of Sym(3) with random relabelings, Bayes and minimax; a skewed prior is not invariant",
        grade="exact-cases",
        printed=_unmoved,
        check=_check_unmoved,
        controls=(Control("the identity alone is asked", lambda f, g, s, q: _unmoved(f, (0, 1, 2), s, q)),),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.prop-3.6",
        kind="statement",
        title="properties that optimal losses have",
        text=(
            Clause("Bayes", "$R_B^*$ has DPI and DSA."),
            Clause("minimax", "$R_M^*$ has DPI and DS-QCVX."),
            Clause("invariant", "Both are invariant for invariant problems."),
        ),
        source="ldp_tradeoff, Proposition 3.6",
        assumptions=("for invariance: an invariant problem, and an invariant prior",),
        scope="any sizes, by matrix algebra on an arbitrary rule; two problems with groups, 20-60 cases each",
        grade="proved",
        printed=_risk_properties,
        check=_check_risk_properties,
        controls=(
            Control("minimax risk is additive", lambda: {**_TESTED, "minimax": {Property.ADDITIVE}}),
            Control("minimax risk is concave", lambda: {**_TESTED, "minimax": {Property.CONCAVE}}),
            Control("Bayes risk has DPI only", lambda: {**_TESTED, "Bayes": {Property.DPI}}),
        ),
        expected="holds",
        obligations=(
            *for_all("data processing inequality", clause=("Bayes", "minimax")),
            *for_all("direct-sum additivity", clause="Bayes"),
            *for_all("direct-sum quasi-convexity", clause="minimax"),
            *for_all("invariance", clause="invariant"),
        ),
    ),
    Claim(
        id="ldp_tradeoff.thm-3.7",
        kind="statement",
        title="maximal, and invariant maximal, channels suffice",
        text=(
            Clause("maximal", "With DPI the infimum over LDP channels is that over maximal ones."),
            Clause("invariant", "With invariance and DS-QCVX it is that over invariant maximal ones."),
        ),
        source="ldp_tradeoff, Theorem 3.7",
        assumptions=("DPI", "for the second part: invariance and DS-QCVX", "a finite group"),
        scope="any functional, row and group; 12 LDP channels on 3 and 4 inputs, substitutes, optima",
        grade="proved",
        printed=_reduction,
        check=_check_reduction,
        controls=(
            Control("better by one percent of a unit", lambda original, lam: (original - Fraction(1, 100), lam)),
            Control("substitutes of a ratio one percent smaller", lambda original, lam: (original, lam * 99 / 100)),
            Control("substitutes of a ratio one percent larger", lambda original, lam: (original, lam * 101 / 100)),
            Control("no invariance assumed", _reduction, _check_reduction_needs_invariance),
        ),
        expected="holds",
        obligations=(
            *for_all("original", "lam", clause=("maximal", "invariant")),
            *for_all("maximal", clause="maximal"),
            *for_all("invariant", clause="invariant"),
        ),
    ),
    Claim(
        id="ldp_tradeoff.rem-3.8",
        kind="statement",
        title="divergences and informations as risks",
        text=(
            Clause("f-divergences", "f-divergences have reversed DPI and DSA."),
            Clause("mutual information", "So has mutual information at uniform input."),
            Clause("Fisher information", "So has Fisher information."),
        ),
        source="ldp_tradeoff, Remark 3.8",
        assumptions=("null outputs count zero", "positive denominators, as at every row of an LDP channel"),
        scope="any convex f, any size; six measures on 60 random channels each; two maxima",
        grade="proved",
        printed=_measure_properties,
        check=_check_measures,
        controls=(Control("the measures themselves have DPI", lambda: (1, _measure_properties()[1])),),
        expected="holds",
        obligations=(
            *for_all("f-divergences", clause="f-divergences"),
            *for_all("mutual information", clause="mutual information"),
            *for_all("Fisher information", clause="Fisher information"),
        ),
    ),
)
