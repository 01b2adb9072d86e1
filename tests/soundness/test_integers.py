"""Integers at public doors: those of NumPy are, truth values and doubles are not; a refusal names the argument.

The doors are found by inspection: every parameter annotated as an integer of what a package exports.
"""

import contextlib
import importlib
import inspect
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import symshuffle
from proofs_checks import _extremes, _templates
from proofs_checks._gauges import householder
from symshuffle import (
    Adjacency,
    Channel,
    Deployment,
    Group,
    InputError,
    accountants,
    channels,
    collect,
    compare,
    delta,
    design,
    epsilon,
    joint,
    largest_eps0,
    optimal_decomposition,
    privacy_loss_distribution,
    randomizer,
    smallest_n,
    total_variation,
    utility,
    vectors,
)
from symshuffle.accountants.bounds import evaluate
from symshuffle.accountants.questions import adversary, curves
from symshuffle.accountants.questions.tradeoff_function import GaussianLimit, gaussian_limit, tradeoff
from symshuffle.accountants.renyi.front import renyi
from symshuffle.channels.geometry import extremal
from symshuffle.channels.geometry.groups import cyclic_group
from symshuffle.channels.law import Law
from symshuffle.decompositions.composition import hamming
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.engines.confirm import recompute
from symshuffle.engines.confirm.front import recompute_laplace
from symshuffle.ledger.claims.registry import Ledger
from symshuffle.ledger.claims.run import verify_claims
from symshuffle.mechanisms import Laplace
from symshuffle.utility.anchored.enclosed import EnclosedLaw
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation import canonical, lower_bounds
from symshuffle.utility.frontiers import caps, contamination, equivariant
from symshuffle.utility.frontiers.frontier import trace_frontier
from symshuffle.utility.likelihood import extremes
from symshuffle.utility.likelihood.law import LikelihoodRatio, likelihood_quotient
from symshuffle.utility.likelihood.worst import worst_curve
from symshuffle.vectors import calibrate, central_error, contenders, err1, errn, hcr_bound, shuffle_index, takeover
from symshuffle.vectors.privacy.pairs import worst_pair
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)
from tests.shown import shows_itself
from tests.words import words

W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
ANCHORED, ENCLOSED = AnchoredLaw.from_channel(W), EnclosedLaw.from_channel(W)
BLANKET = accountants.BlanketVariable.laplace(F(3), F(6, 5))
SOME = Group(W, min_batch_size=2, colluding="10%")
LAW = Law((F(-1), F(1)), (F(1, 2), F(1, 2)))
LEVEL = {"exp_eps": "6/5"}
RATIO = LikelihoodRatio.of(W, 0, 1)
LEDGER = Ledger("proofs_checks", (), {})
PAIR = joint(randomizer("rr"), randomizer("rr"))

MADE = tuple(
    words(
        "TraceBound. Audit. Comparison Guarantee Histogram LocalAudit. PairAudit. SurveyPlan.histogram "
        "SurveyPlan.check_messages SurveyPlan.guarantee Neighbours Outcome ShuffledAudit.n "
        "ShuffledAudit.runs SubsetOrbit.representative "
        "SubsetOrbit.size Table.resumed WorstCase"
    )
)
"""Results that the library fills in, and audits, whose integers ``audit_local`` and its like read."""

INSIDE = ("engines.", "mechanisms.outputs.", "mechanisms.symbolic.", "numbers.", "results.")
"""Called with integers that a front door has read, millions of times: each door is a row."""

PRECISIONS = ("EnclosedLaw.", "Laplace.", "LikelihoodRatio.of_mechanism.", "Mechanism.channel.")
"""Their ``bits`` come from a request, whose reader is a row."""

ELSEWHERE = {
    "Mechanism.comparing.first": "an index that fails by its name in the output classes",
    "Mechanism.comparing.second": "as the first",
    "Adjacency.check_inputs.inputs": "the number of inputs of a randomizer that was read",
    "Group.smallest.n": "the number of users of a question, which was read",
    "Group.simplified.n": "as of smallest",
    "Group.recounted.users": "the number of users of a batch, which was read",
    "Group.recounted.planned": "the number of users of a plan, which was read",
    "Law.in_units.max_multiple": "a limit of a search, which finds nothing where it is too small",
    "SymmetryGroup.subset_orbit_count.max_permutations": "a limit of work, which decides how orbits are counted",
}

HALVES = (F(1, 2), F(1, 2))
OPEN = optimal_decomposition(randomizer("krr").at(k=3, lam=2))
PAIR_OF_ROWS = OPEN.numeric().reduction_pair()
SYMBOLIC = utility.SymbolicLaw(randomizer("rr"))
OPTIMUM = design.PiecewiseOptimum((), design.cardioid_program(3, F(1, 2)))
VECTOR_PAIR = worst_pair(SphereLinear("1/2", 1), adjacency="zero-out")
NOISE = BlanketMixedGaussian("0.95", "4.6")
AUDIT = collect.audit_shuffled(W, n=4, runs=100)
PLAN = collect.plan_survey(4, n=9, eps=1, delta="1/10", mechanism="krr")


def row(arguments, function, /, *given, **named):
    """A function, what it is given, and those of its arguments that are integers."""
    name = inspect.unwrap(getattr(function, "__func__", function)).__qualname__
    return {
        f"{name}.{argument}": (named[argument], lambda v, argument=argument: function(*given, **{**named, argument: v}))
        for argument in arguments.split()
    }


ROWS = (
    row("count runs", collect.confidence_ends, runs=4, level="0.1", count=1),
    row("block", AUDIT.power, W, block=2),
    row("n", collect.Support, p=F(1, 2), q=F(1, 4), n=4),
    row("count", collect.Support(4, F(1, 2), F(1, 4)).interval, alpha=F(1, 10), count=1),
    row("count", collect.Support(4, F(1, 2), F(1, 4)).possible, alpha=F(1, 10), count=1),
    row("k n", collect.plan_survey, n=9, eps=1, delta="1/10", mechanism="krr", k=4),
    row("n bits", delta, W, **LEVEL, n=4, bits=64),
    row("bits", smallest_n, W, eps="1/2", delta="1/10", bits=64),
    row("points", curves.spaced, 0, 1, points=4),
    row("num_levels n bits", tradeoff, W, n=4, type_i=[0], num_levels=4, bits=64),
    row("n digits least", recompute, LAW, digits=10, n=4, least=4),
    row("cells", Laplace, F(2), cells=4),
    row("k", caps.raw_cap_trace, lam=F(2), k=4),
    row("k", caps.optimal_subset_sizes, lam=F(2), k=4),
    row("s", _templates.subset_template, 5, lam=F(2), s=2),
    row("k", equivariant.largest_budget, lam=F(2), k=4),
    row("m", extremal.staircase_matrix, lam=F(2), m=3),
    row("m", extremal.MaximalPolytope, lam=F(2), m=3),
    row("m", smoothed_point_masses, gamma=1, m=3),
    row("k", canonical.isotropic_risk, trace=F(1), population="iid", k=4),
    row("k n", lower_bounds.minimax_sandwich, trace=F(1), n=4, k=4),
    row("n", _extremes.chi_square_certificate, F(1, 4), **LEVEL, direction="forward", n=4),
    row("n", extremes.gaussian_scale, F(1, 4), n=4),
    row("k", _extremes.half_block_channel, lam=F(2), k=4),
    row("dimension", SphereLinear, "0.05", dimension=4),
    row("dimension", BlanketMixedGaussian, "0.95", "4.6", "1", dimension=4),
    row("dimension n", central_error, "2", dimension=4, n=3),
    row("dimension", ClippedLinear, "1/2", chi="1/10", dimension=4),
    row("dimension", PrivUnit, "3/4", "1/4", dimension=4),
    row("n bits", privacy_loss_distribution, W, step=0.25, beyond="1/100", n=4, bits=64),
    row("count", Group, W, count=9),
    row("min_batch_size colluding", Group, W, 9, min_batch_size=3, colluding=2),
    row("count", Group.of_dummies, count=9),
    row("n", SOME.honest, n=9),
    row("n", SOME.messages, n=9),
    row("n", SOME.expected, n=9),
    row("n", SOME.colluders, n=9),
    row("n", SOME.check, n=9),
    row("group_size", Adjacency, group_size=2),
    row("reports periods threshold", Deployment, W, reports=2, periods=3, threshold=4),
    row("periods", delta, W, n=4, **LEVEL, rtol=0.5, periods=2),
    row("colluding min_batch_size", delta, W, n=9, **LEVEL, min_batch_size=5, colluding=2),
    row("group_size threshold", delta, W, n=9, **LEVEL, group_size=2, threshold=3),
    row("dimension", LocalGaussian, "2", dimension=4),
    row("bits", curves.amplification_curve, W, delta="1/10", users=[3], rtol=0.1, bits=64),
    row("n bits", curves.profile, W, eps=[0], n=4, bits=64),
    row("n bits", renyi, W, order=2, rtol=0.1, n=4, bits=64),
    row("rounds", GaussianLimit, 0.5, rounds=4),
    row("n bits", largest_eps0, randomizer("rr"), eps="1/2", delta="1/10", rtol=0.1, n=10, bits=64),
    row("n bits", total_variation, W, n=4, bits=64),
    row("n bits", epsilon, W, delta="1/10", rtol=0.1, n=4, bits=64),
    row("numerator denominator", W.likelihood_ratios, denominator=1, numerator=1),
    row("distance", hamming, PAIR, distance=1),
    row("i j", ANCHORED.pairwise_divergence, j=1, i=1),
    row("i j", ENCLOSED.pairwise_divergence, j=1, i=1),
    row("a b", likelihood_quotient, W, b=1, a=1),
    row("k n", design.best_shuffled, n=4, eps=1, delta="1/10", k=3),
    row("n bits", accountants.blanket_bennett, BLANKET, n=4, bits=64),
    row("n bits", accountants.blanket_hoeffding, BLANKET, n=4, bits=64),
    row("bits", accountants.BlanketVariable.laplace, F(3), F(6, 5), bits=64),
    row("n", accountants.standard_clone, F(3), exp_eps=F(6, 5), n=4),
    row("variants k n", compare, k=4, n=10, eps0=1, mechanisms=["krr"], variants=1),
    row("jobs", verify_claims, LEDGER, (), jobs=1),
    row("k", trace_frontier, budget=F(1), k=4),
    row("a b", LikelihoodRatio.of, W, b=1, a=1),
    row("n", RATIO.profile, **LEVEL, n=4),
    row("n", worst_curve, F(1, 4), lam=F(2), exp_eps=F(6, 5), n=3),
    row("cells", Laplace().at, lam=2, cells=4),
    row("bits", err1, NOISE, bits=64),
    row("bits n", errn, NOISE, n=3, bits=64),
    row("bits", hcr_bound, NOISE, bits=64),
    row("bits", shuffle_index, NOISE, "lower", bits=64),
    row("dimension bits", contenders, 2, dimension=3, bits=64),
    row("most", takeover, 10, "linear density", "mixed Gaussian", most=16),
    row("n dimension", calibrate, "sphere-linear", dimension=1, eps=1, delta="1/10", n=200),
    row("s k", caps.check_size, k=5, s=2),
    row("bits", OPTIMUM.breakpoints_eps0, bits=64),
    row("n", PAIR_OF_ROWS.divergence, exp_eps=F(6, 5), n=2),
    row("bits", OPEN.law, F(6, 5), bits=64),
    row("bits", OPEN.numeric, bits=64),
    row("i j", SYMBOLIC.pairwise_divergence, j=1, i=1),
    row("subset", cyclic_group(4).act, (1, 2, 3, 0), subset=3),
    row("subset", cyclic_group(4).kind, subset=3),
    row("subset", cyclic_group(4).orbit_of, subset=3),
    row("subset", cyclic_group(4).subset_orbit, subset=5),
    row("input_orbit", cyclic_group(4).subset_orbit(5).column_sum, lam=F(2), input_orbit=0),
    row("n", utility.bayes_risk, W, [((F(1, 2), F(1, 2)), F(1))], n=2),
    row("k n", utility.best_shrinkage_risk, trace=F(1), n=4, k=3),
    row("n", utility.canonical_risk, ANCHORED, HALVES, population="iid", n=4),
    row("i j", utility.certify_envelope, W, j=1, lam=F(2), i=1),
    row("n", utility.enumerated_risk, W, HALVES, population="iid", n=4),
    row("n", evaluate.evaluate_law, LAW, n=4),
    row("bits", utility.gaussian_scale, F(1, 4), 3, bits=64),
    row("i j n", utility.leakage, W, j=1, n=3, eps="1/5", i=1),
    row("k s", utility.matched_ratio, s=2, budget=F(1, 8), k=5),
    row("dimension", vectors.one_coefficient_error, 2.0, chi=0.5, dimension=4),
    row("i j", utility.ratio_law, W, j=1, i=1),
    row("bits", utility.raw_cap_trace, 4, F(2), bits=64),
    row("n", vectors.shuffled_problem, W, [[0], [1]], n=2),
    row("bits", utility.slope_constant, 4, bits=64),
    row("bits", utility.threshold_budget, 4, bits=64),
    row("k", utility.thinning_gain, budget=F(1, 8), k=3),
    row("k s bits", utility.tie_ratio, s=1, k=5, bits=64),
    row("n", vectors.worst_background_on_the_line, sigma0=1, eps="1/5", tolerance="1/2", n=2),
    row("n", utility.worst_canonical_risk, ANCHORED, population="iid", n=4),
    row("n", channels.worst_shuffled_divergence, W, (0, 1), gamma=F(6, 5), n=3),
    row("n evaluations", vectors.which_order, VECTOR_PAIR, high=1, evaluations=9, n=3),
)
DOORS = {door: found for one in ROWS for door, found in one.items()} | {
    "worst_datasets.n": (4, lambda v: adversary.worst_datasets(W, n=v, exp_eps=F(6, 5)).bracket),
    "Problem.guessing.k": (4, symshuffle.Problem.guessing),
    "SurveyPlan.k": (4, lambda v: replace(PLAN, k=v)),
    "gaussian_index_series.order": (3, vectors.gaussian_index_series),
    "gaussian_noise_series.order": (3, vectors.gaussian_noise_series),
    "amplification_curve.n": (4, lambda v: curves.amplification_curve(W, delta="1/10", users=[v], rtol=0.1).points),
    "worst_constant.n": (4, lambda v: adversary.worst_of_two_types(W, v, F(6, 5)).bracket),
    "mechanism.k": (4, lambda v: randomizer("krr").at(k=v, lam=2)),
    "mechanism.s": (2, lambda v: randomizer("subset-selection").at(k=5, s=v, lam=2)),
    "mechanism.D": (4, lambda v: randomizer("rappor").at(D=v, lam=2)),
    "Contamination.n": (4, contamination.Contamination),
    "gaussian_limit.n": (4, lambda v: gaussian_limit(W, n=v).mu),
    "Channel.column.output": (1, W.column),
    "householder.k": (4, householder),
    "AnchoredLaw.row_second_moment.x": (1, ANCHORED.row_second_moment),
    "subset_orbit.subset": (5, lambda v: cyclic_group(4).subset_orbit(v)),
    "ExtremalChannel.m": (3, lambda v: design.ExtremalChannel(v, lam=2).m),
    "ReductionPair.histogram_laws.n": (2, PAIR_OF_ROWS.histogram_laws),
    "SymmetryGroup.m": (3, lambda v: channels.SymmetryGroup(v, ((1, 2, 0),)).m),
    "cardioid_program.m": (4, lambda v: design.cardioid_program(v, F(1, 2)).columns),
    "cyclic_group.m": (4, channels.cyclic_group),
    "symmetric_group.m": (4, channels.symmetric_group),
    "optimal_equivariant_risk.k": (3, lambda v: utility.optimal_equivariant_risk(v, F(1), n=9, population="iid")[0]),
    "optimal_equivariant_risk.n": (9, lambda v: utility.optimal_equivariant_risk(3, F(1), n=v, population="iid")[0]),
    "slope_constant.k": (4, utility.slope_constant),
    "threshold_budget.k": (4, utility.threshold_budget),
}


@pytest.mark.parametrize("door", DOORS)
def test_an_integer_of_numpy_is_one_and_nothing_else_is(door):
    value, call = DOORS[door]
    found = call(np.int64(value))
    assert found == call(value) and shows_itself(found)
    assert call(float(value)) == call(np.float32(value)) == found
    for wrong in (True, np.bool_(True), value + 0.5, "x"):
        with pytest.raises(InputError) as refusal:
            call(wrong)
        assert door.rpartition(".")[2] in refusal.value.argument or "users" in refusal.value.argument


def exported():
    """The integer parameters of what the package and its folders export."""
    rooms = (f"symshuffle.{stub.parent.name}" for stub in Path(symshuffle.__file__).parent.glob("*/__init__.pyi"))
    for package in map(importlib.import_module, ("symshuffle", *rooms)):
        for thing in (getattr(package, name) for name in getattr(package, "__all__", ())):
            place = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
            if not place.startswith("symshuffle.") or any(f".{room}" in place for room in INSIDE):
                continue
            bodies = {"": inspect.unwrap(thing)}
            if isinstance(thing, type):
                public = {f".{name}": found for name, found in vars(thing).items() if not name.startswith("_")}
                bodies = {"": thing.__init__} | public
            for name, body in bodies.items():
                function = inspect.unwrap(getattr(body, "__func__", body))
                for argument, text in getattr(function, "__annotations__", {}).items():
                    if argument != "return" and str(text) in ("int", "int | None"):
                        yield f"{thing.__qualname__}{name}.{argument}"


def test_every_exported_integer_is_a_door():
    apart = {door for door in exported() if door.startswith(MADE)}
    apart |= {door for door in exported() if door.startswith(PRECISIONS) and door.endswith(".bits")}
    assert set(exported()) - apart - set(DOORS) == set(ELSEWHERE)


LEAST = {
    0: "Channel.column.output Channel.likelihood_ratios.numerator Channel.likelihood_ratios.denominator "
    "AnchoredLaw.row_second_moment.x AnchoredLaw.pairwise_divergence.i AnchoredLaw.pairwise_divergence.j "
    "EnclosedLaw.pairwise_divergence.i EnclosedLaw.pairwise_divergence.j "
    "likelihood_quotient.a likelihood_quotient.b LikelihoodRatio.of.a LikelihoodRatio.of.b subset_orbit.subset",
    1: "delta.n amplification_curve.n worst_constant.n worst_datasets.n recompute.n mechanism.s Laplace.cells "
    "Contamination.n subset_template.s minimax_sandwich.n "
    "chi_square_certificate.n gaussian_scale.n SphereLinear.dimension "
    "BlanketMixedGaussian.dimension central_error.dimension central_error.n privacy_loss_distribution.n "
    "LocalGaussian.dimension "
    "recompute.least profile.n tradeoff.n renyi.n gaussian_limit.n GaussianLimit.rounds largest_eps0.n "
    "epsilon.n hamming.distance compare.n LikelihoodRatio.profile.n Laplace.at.cells Group.count "
    "Group.of_dummies.count Group.colluders.n "
    "Group.min_batch_size Adjacency.group_size Deployment.reports Deployment.periods Deployment.threshold "
    "check_size.s plan_survey.n blanket_bennett.n blanket_hoeffding.n standard_clone.n compare.variants errn.n "
    "ReductionPair.divergence.n ReductionPair.histogram_laws.n bayes_risk.n best_shrinkage_risk.n "
    "canonical_risk.n enumerated_risk.n worst_canonical_risk.n evaluate_law.n leakage.n matched_ratio.s "
    "one_coefficient_error.dimension shuffled_problem.n worst_shuffled_divergence.n "
    "gaussian_noise_series.order optimal_equivariant_risk.n calibrate.n calibrate.dimension",
    2: "delta.bits spaced.points tradeoff.num_levels mechanism.k mechanism.D raw_cap_trace.k "
    "optimal_subset_sizes.k largest_budget.k staircase_matrix.m MaximalPolytope.m smoothed_point_masses.m "
    "Problem.guessing.k "
    "isotropic_risk.k minimax_sandwich.k ClippedLinear.dimension PrivUnit.dimension privacy_loss_distribution.bits "
    "profile.bits tradeoff.bits renyi.bits largest_eps0.bits compare.k trace_frontier.k "
    "plan_survey.k best_shrinkage_risk.k ExtremalChannel.m slope_constant.k "
    "Group.honest.n Group.messages.n Group.expected.n Group.check.n "
    "threshold_budget.k",
    3: "optimal_equivariant_risk.k thinning_gain.k cardioid_program.m",
    4: "householder.k half_block_channel.k",
}
"""The smallest integers that doors take, as their pages say; of other doors it depends on what else is given."""


@pytest.mark.parametrize(("least", "door"), [(least, door) for least, doors in LEAST.items() for door in doors.split()])
def test_the_smallest_integer_is_taken_and_one_less_is_not(least, door):
    _, ask = DOORS[door]
    ask(least)
    with pytest.raises(InputError):
        ask(least - 1)


MOST = {
    1: "Channel.column.output Channel.likelihood_ratios.numerator Channel.likelihood_ratios.denominator "
    "AnchoredLaw.row_second_moment.x AnchoredLaw.pairwise_divergence.i AnchoredLaw.pairwise_divergence.j "
    "EnclosedLaw.pairwise_divergence.i EnclosedLaw.pairwise_divergence.j SymbolicLaw.pairwise_divergence.i "
    "SymbolicLaw.pairwise_divergence.j likelihood_quotient.a likelihood_quotient.b LikelihoodRatio.of.a "
    "LikelihoodRatio.of.b certify_envelope.i leakage.i ratio_law.i ratio_law.j",
    4: "check_size.s mechanism.s subset_template.s matched_ratio.s",
    15: "subset_orbit.subset SymmetryGroup.act.subset SymmetryGroup.kind.subset SymmetryGroup.orbit_of.subset",
}
"""The largest integers that doors take, as what they are given with has so many inputs."""


@pytest.mark.parametrize(("most", "door"), [(most, door) for most, doors in MOST.items() for door in doors.split()])
def test_one_more_than_the_largest_integer_is_refused(most, door):
    _, ask = DOORS[door]
    with contextlib.suppress(InputError):  # of two indices that have to differ, this may be the other one
        ask(most)
    with pytest.raises(InputError) as refusal:
        ask(most + 1)
    assert refusal.value.argument.partition("[")[0] == door.rpartition(".")[2]


def test_few_digits_confirm_where_few_are_asked_for():
    assert recompute(LAW, 3, digits=1, least=1).digits == 1
    with pytest.raises(InputError, match="digits = 0"):
        recompute(LAW, 3, digits=0, least=1)
    assert recompute_laplace(F(3), F(6, 5), 1, digits=1, least=1).digits == 1
    with pytest.raises(InputError, match="digits = 0"):
        recompute_laplace(F(3), F(6, 5), 1, digits=0, least=1)
