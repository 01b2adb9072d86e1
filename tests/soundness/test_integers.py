"""Integers at public doors: those of NumPy are, truth values and doubles are not; a refusal names the argument.

The doors are found by inspection: every parameter annotated as an integer of what a package exports.
"""

import importlib
import inspect
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import symshuffle
from symshuffle import (
    Channel,
    InputError,
    Laplace,
    accountants,
    audit,
    channels,
    collect,
    compare,
    delta,
    design,
    epsilon,
    geometry,
    joint,
    mechanism,
    optimal_decomposition,
    privacy_loss,
    prove,
    prove_epsilon,
    solve_eps0,
    solve_n,
    utility,
    vectors,
)
from symshuffle.accountants.bounds import evaluate
from symshuffle.accountants.questions import adversary, curves
from symshuffle.accountants.questions.gaussian_limit import GaussianLimit, gaussian_limit
from symshuffle.accountants.questions.tradeoff_function import tradeoff_curve
from symshuffle.accountants.questions.unequal import Users, unequal_delta, unequal_epsilon
from symshuffle.accountants.renyi.front import renyi
from symshuffle.accountants.rounds.plan import rounds
from symshuffle.channels.law import Law
from symshuffle.decompositions.composition import hamming
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.engines.confirm import confirm
from symshuffle.engines.confirm.front import confirm_laplace
from symshuffle.geometry import extremal
from symshuffle.geometry.groups import cyclic_group
from symshuffle.ledger.claims.registry import Ledger
from symshuffle.ledger.claims.verify import verify
from symshuffle.utility.anchored import gauge
from symshuffle.utility.anchored.enclosed import EnclosedLaw
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation import canonical, lower_bounds
from symshuffle.utility.frontiers import caps, contamination, subset_family, templates
from symshuffle.utility.frontiers.frontier import trace_frontier
from symshuffle.utility.likelihood import certificates, extremes
from symshuffle.utility.likelihood.law import LikelihoodRatio
from symshuffle.utility.likelihood.quotient import likelihood_quotient
from symshuffle.utility.likelihood.worst import worst_curve
from symshuffle.vectors import calibrate, contenders, err1, errn, hcr_bound, shuffle_index, takeover
from symshuffle.vectors.privacy.pairs import worst_pair
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    CentralGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)

W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
ANCHORED, ENCLOSED = AnchoredLaw.from_channel(W), EnclosedLaw.from_channel(W)
BLANKET = accountants.BlanketVariable.laplace(F(3), F(6, 5))
LAW = Law((F(-1), F(1)), (F(1, 2), F(1, 2)))
LEVEL = {"exp_eps": "6/5"}
RATIO = LikelihoodRatio.of(W, 0, 1)
LEDGER = Ledger("proofs_checks", (), {})
PAIR = joint(mechanism("rr"), mechanism("rr"))

MADE = (
    "TraceBound.",
    "Audit.",
    "Comparison",
    "Histogram",
    "LocalAudit.",
    "PairAudit.",
    "Plan.histogram",
    "Plan.too_few",
    "Neighbours",
    "Outcome",
    "ShuffledAudit.n",
    "ShuffledAudit.runs",
    "SubsetOrbit.representative",
    "SubsetOrbit.size",
    "WorstCase",
)
"""Results that the library fills in, and audits, whose integers ``audit_local`` and its like read."""

INSIDE = ("engines.", "mechanisms.outputs.", "mechanisms.symbolic.", "numbers.", "results.")
"""Called with integers that a front door has read, millions of times: each door is a row."""

PRECISIONS = ("EnclosedLaw.", "Laplace.", "LikelihoodRatio.of_mechanism.", "Mechanism.channel.")
"""Their ``bits`` come from a request, whose reader is a row."""

ELSEWHERE = {
    "rounds.times": "read, and refused by the name that users of the command line see, rounds",
    "Mechanism.comparing.first": "an index that fails by its name in the output classes",
    "Mechanism.comparing.second": "as the first",
}

HALVES = (F(1, 2), F(1, 2))
OPEN = optimal_decomposition(mechanism("krr").at(k=3, lam=2))
PAIR_OF_ROWS = OPEN.numeric().reduction_pair()
SYMBOLIC = utility.SymbolicLaw(mechanism("rr"))
OPTIMUM = design.PiecewiseOptimum((), design.cardioid_program(3, F(1, 2)))
VECTOR_PAIR = worst_pair(SphereLinear("1/2", 1), adjacency="zero-out")
NOISE = BlanketMixedGaussian("0.95", "4.6")
AUDIT = audit.audit_shuffled(W, n=4, runs=100)
PLAN = collect.make_plan(4, n=9, eps=1, delta="1/10", mechanism="krr")
DOORS = {
    "Plan.k": (4, lambda v: replace(PLAN, k=v)),
    "Plan.n": (9, lambda v: replace(PLAN, n=v)),
    "Plan.min_users": (9, lambda v: replace(PLAN, min_users=v)),
    "confidence_ends.count": (1, lambda v: audit.confidence_ends(v, 4, "0.1")),
    "confidence_ends.runs": (4, lambda v: audit.confidence_ends(1, v, "0.1")),
    "ShuffledAudit.power.block": (2, lambda v: AUDIT.power(W, block=v)),
    "Support.n": (4, lambda v: collect.Support(v, F(1, 2), F(1, 4))),
    "Support.interval.count": (1, lambda v: collect.Support(4, F(1, 2), F(1, 4)).interval(v, F(1, 10))),
    "make_plan.k": (4, lambda v: collect.make_plan(v, n=9, eps=1, delta="1/10", mechanism="krr")),
    "make_plan.n": (9, lambda v: collect.make_plan(4, n=v, eps=1, delta="1/10", mechanism="krr")),
    "prove.n": (4, lambda v: prove(W, n=v, eps=1)["statement"]),
    "prove_epsilon.n": (4, lambda v: prove_epsilon(W, n=v, delta="1/10")["statement"]),
    "gaussian_index_series.order": (3, vectors.gaussian_index_series),
    "gaussian_noise_series.order": (3, vectors.gaussian_noise_series),
    "delta.n": (4, lambda v: delta(W, n=v, **LEVEL).bracket),
    "delta.bits": (64, lambda v: delta(W, n=3, **LEVEL, bits=v).bracket),
    "solve_n.bits": (64, lambda v: solve_n(W, eps="1/2", delta="1/10", bits=v).bracket),
    "Request.bits": (64, lambda v: evaluate.Request(bits=v)),
    "spaced.points": (4, lambda v: curves.spaced(0, 1, v)),
    "tradeoff_curve.levels": (4, lambda v: tradeoff_curve(W, n=3, alphas=[0], levels=v).points),
    "amplification_curve.n": (4, lambda v: curves.amplification_curve(W, delta="1/10", users=[v], rel=0.1).points),
    "worst_constant.n": (4, lambda v: adversary.worst_of_two_types(W, v, F(6, 5)).bracket),
    "confirm.n": (4, lambda v: confirm(LAW, v, digits=10)),
    "mechanism.k": (4, lambda v: mechanism("krr").at(k=v, lam=2)),
    "mechanism.s": (2, lambda v: mechanism("subset-selection").at(k=5, s=v, lam=2)),
    "mechanism.D": (4, lambda v: mechanism("rappor").at(D=v, lam=2)),
    "Laplace.cells": (4, lambda v: Laplace(F(2), cells=v)),
    "Contamination.n": (4, contamination.Contamination),
    "raw_cap_trace.k": (4, lambda v: caps.raw_cap_trace(v, F(2))),
    "optimal_subset_sizes.k": (4, lambda v: caps.optimal_subset_sizes(v, F(2))),
    "subset_template.s": (2, lambda v: templates.subset_template(5, v, F(2))),
    "largest_budget.k": (4, lambda v: subset_family.largest_budget(v, F(2))),
    "staircase_matrix.m": (3, lambda v: extremal.staircase_matrix(v, F(2))),
    "MaximalPolytope.m": (3, lambda v: extremal.MaximalPolytope(v, F(2))),
    "smoothed_point_masses.m": (3, lambda v: smoothed_point_masses(v, 1)),
    "isotropic_risk.k": (4, lambda v: canonical.isotropic_risk(v, F(1), population="iid")),
    "minimax_sandwich.k": (4, lambda v: lower_bounds.minimax_sandwich(v, F(1), 10).bracket),
    "minimax_sandwich.n": (4, lambda v: lower_bounds.minimax_sandwich(3, F(1), v).bracket),
    "chi_square_certificate.n": (
        4,
        lambda v: certificates.chi_square_certificate(F(1, 4), v, **LEVEL, direction="forward"),
    ),
    "gaussian_scale.n": (4, lambda v: extremes.gaussian_scale(F(1, 4), v)),
    "half_block_channel.k": (4, lambda v: extremes.half_block_channel(v, F(2))),
    "SphereLinear.dimension": (4, lambda v: SphereLinear("0.05", v)),
    "BlanketMixedGaussian.dimension": (4, lambda v: BlanketMixedGaussian("0.95", "4.6", "1", v)),
    "CentralGaussian.dimension": (4, lambda v: CentralGaussian("2", v)),
    "ClippedLinear.dimension": (4, lambda v: ClippedLinear("1/2", v, "1/10")),
    "PrivUnit.dimension": (4, lambda v: PrivUnit("3/4", "1/4", v)),
    "privacy_loss.n": (4, lambda v: privacy_loss(W, n=v, step=0.25, beyond="1/100").law),
    "privacy_loss.bits": (64, lambda v: privacy_loss(W, n=3, step=0.25, beyond="1/100", bits=v).law),
    "rounds.n": (4, lambda v: rounds(W, 2, n=v)),
    "LocalGaussian.dimension": (4, lambda v: LocalGaussian("2", dimension=v)),
    "confirm.digits": (10, lambda v: confirm(LAW, 3, digits=v)),
    "confirm.least": (4, lambda v: confirm(LAW, 3, least=v)),
    "amplification_curve.bits": (
        64,
        lambda v: curves.amplification_curve(W, delta="1/10", users=[3], rel=0.1, bits=v).points,
    ),
    "delta_curve.n": (4, lambda v: curves.delta_curve(W, n=v, levels=[0]).points),
    "delta_curve.bits": (64, lambda v: curves.delta_curve(W, n=3, levels=[0], bits=v).points),
    "tradeoff_curve.n": (4, lambda v: tradeoff_curve(W, n=v, alphas=[0], levels=3).points),
    "tradeoff_curve.bits": (64, lambda v: tradeoff_curve(W, n=3, alphas=[0], levels=3, bits=v).points),
    "renyi.n": (4, lambda v: renyi(W, n=v, alpha=2, rel=0.1).bracket),
    "renyi.bits": (64, lambda v: renyi(W, n=3, alpha=2, rel=0.1, bits=v).bracket),
    "gaussian_limit.n": (4, lambda v: gaussian_limit(W, n=v).mu),
    "GaussianLimit.rounds": (4, lambda v: GaussianLimit(0.5, rounds=v)),
    "solve_eps0.n": (10, lambda v: solve_eps0(mechanism("rr"), n=v, eps="1/2", delta="1/10", rel=0.1).bracket),
    "solve_eps0.bits": (
        64,
        lambda v: solve_eps0(mechanism("rr"), n=10, eps="1/2", delta="1/10", rel=0.1, bits=v).bracket,
    ),
    "epsilon.n": (4, lambda v: epsilon(W, n=v, delta="1/10", rel=0.1).bracket),
    "epsilon.bits": (64, lambda v: epsilon(W, n=3, delta="1/10", rel=0.1, bits=v).bracket),
    "Channel.column.output": (1, W.column),
    "Channel.likelihood_ratios.numerator": (1, lambda v: W.likelihood_ratios(v, 0)),
    "Channel.likelihood_ratios.denominator": (1, lambda v: W.likelihood_ratios(0, v)),
    "hamming.distance": (1, lambda v: hamming(PAIR, v)),
    "helmert.k": (4, gauge.helmert),
    "householder.k": (4, gauge.householder),
    "AnchoredLaw.row_second_moment.x": (1, ANCHORED.row_second_moment),
    "AnchoredLaw.pairwise_divergence.i": (1, lambda v: ANCHORED.pairwise_divergence(v, 0)),
    "AnchoredLaw.pairwise_divergence.j": (1, lambda v: ANCHORED.pairwise_divergence(0, v)),
    "EnclosedLaw.row_second_moment.x": (1, ENCLOSED.row_second_moment),
    "EnclosedLaw.pairwise_divergence.i": (1, lambda v: ENCLOSED.pairwise_divergence(v, 0)),
    "EnclosedLaw.pairwise_divergence.j": (1, lambda v: ENCLOSED.pairwise_divergence(0, v)),
    "likelihood_quotient.a": (1, lambda v: likelihood_quotient(W, v, 0)),
    "likelihood_quotient.b": (1, lambda v: likelihood_quotient(W, 0, v)),
    "best_shuffled.k": (3, lambda v: design.best_shuffled(v, n=4, eps=1, delta="1/10").trace),
    "best_shuffled.n": (4, lambda v: design.best_shuffled(3, n=v, eps=1, delta="1/10").trace),
    "blanket_bennett.n": (4, lambda v: accountants.blanket_bennett(BLANKET, v)),
    "blanket_bennett.bits": (64, lambda v: accountants.blanket_bennett(BLANKET, 4, bits=v)),
    "blanket_hoeffding.n": (4, lambda v: accountants.blanket_hoeffding(BLANKET, v)),
    "blanket_hoeffding.bits": (64, lambda v: accountants.blanket_hoeffding(BLANKET, 4, bits=v)),
    "BlanketVariable.laplace.bits": (64, lambda v: accountants.BlanketVariable.laplace(F(3), F(6, 5), bits=v)),
    "standard_clone.n": (4, lambda v: accountants.standard_clone(F(3), exp_eps=F(6, 5), n=v)),
    "compare.variants": (1, lambda v: compare(4, n=10, eps0=1, mechanisms=["krr"], variants=v)),
    "verify.jobs": (1, lambda v: verify(LEDGER, (), jobs=v)),
    "compare.k": (4, lambda v: compare(v, n=10, eps0=1, mechanisms=["krr"])),
    "compare.n": (10, lambda v: compare(4, n=v, eps0=1, mechanisms=["krr"])),
    "trace_frontier.k": (4, lambda v: trace_frontier(v, F(1)).trace),
    "LikelihoodRatio.of.a": (1, lambda v: LikelihoodRatio.of(W, v, 0)),
    "LikelihoodRatio.of.b": (1, lambda v: LikelihoodRatio.of(W, 0, v)),
    "LikelihoodRatio.profile.n": (4, lambda v: RATIO.profile(v, **LEVEL)),
    "worst_curve.n": (3, lambda v: worst_curve(F(1, 4), v, lam=F(2), exp_eps=F(6, 5))),
    "Laplace.at.cells": (4, lambda v: Laplace().at(lam=2, cells=v)),
    "subset_orbit.subset": (5, lambda v: cyclic_group(4).subset_orbit(v)),
    "Users.count": (2, lambda v: Users(v, W)),
    "unequal_delta.bits": (64, lambda v: unequal_delta([Users(2, W)], **LEVEL, bits=v).bracket),
    "unequal_epsilon.bits": (64, lambda v: unequal_epsilon([Users(9, W)], delta="1/10", rel=0.1, bits=v).bracket),
    "err1.bits": (64, lambda v: err1(NOISE, bits=v)),
    "errn.bits": (64, lambda v: errn(NOISE, 3, bits=v)),
    "errn.n": (3, lambda v: errn(NOISE, v)),
    "hcr_bound.bits": (64, lambda v: hcr_bound(NOISE, bits=v)),
    "shuffle_index.bits": (64, lambda v: shuffle_index(NOISE, "lower", bits=v).bracket),
    "contenders.dimension": (3, lambda v: contenders(2, v)),
    "contenders.bits": (64, lambda v: contenders(2, 3, bits=v)),
    "takeover.most": (16, lambda v: takeover(10, "linear density", "mixed Gaussian", most=v)),
    "calibrate.n": (200, lambda v: calibrate("sphere-linear", n=v, dimension=1, eps=1, delta="1/10").parameters),
    "calibrate.dimension": (
        1,
        lambda v: calibrate("sphere-linear", n=200, dimension=v, eps=1, delta="1/10").parameters,
    ),
    "check_size.s": (2, lambda v: subset_family.check_size(5, v)),
    "check_size.k": (5, lambda v: subset_family.check_size(v, 2)),
    "ExtremalChannel.m": (3, lambda v: design.ExtremalChannel(v, lam=2).m),
    "PiecewiseOptimum.breakpoints_eps0.bits": (64, lambda v: OPTIMUM.breakpoints_eps0(bits=v)),
    "ReductionPair.divergence.n": (2, lambda v: PAIR_OF_ROWS.divergence(v, F(6, 5))),
    "ReductionPair.histogram_laws.n": (2, PAIR_OF_ROWS.histogram_laws),
    "SymbolicDecomposition.law.bits": (64, lambda v: OPEN.law(F(6, 5), bits=v)),
    "SymbolicDecomposition.numeric.bits": (64, lambda v: OPEN.numeric(bits=v)),
    "SymbolicLaw.pairwise_divergence.i": (1, lambda v: SYMBOLIC.pairwise_divergence(v, 0)),
    "SymbolicLaw.pairwise_divergence.j": (1, lambda v: SYMBOLIC.pairwise_divergence(0, v)),
    "SymmetryGroup.m": (3, lambda v: geometry.SymmetryGroup(v, ((1, 2, 0),)).m),
    "SymmetryGroup.act.subset": (3, lambda v: cyclic_group(4).act((1, 2, 3, 0), v)),
    "SymmetryGroup.kind.subset": (3, lambda v: cyclic_group(4).kind(v)),
    "SymmetryGroup.orbit_of.subset": (3, lambda v: cyclic_group(4).orbit_of(v)),
    "SymmetryGroup.subset_orbit.subset": (5, lambda v: cyclic_group(4).subset_orbit(v)),
    "SubsetOrbit.column_sum.input_orbit": (0, lambda v: cyclic_group(4).subset_orbit(5).column_sum(v, F(2))),
    "bayes_risk.n": (2, lambda v: utility.bayes_risk(W, [((F(1, 2), F(1, 2)), F(1))], n=v)),
    "best_shrinkage_risk.k": (3, lambda v: utility.best_shrinkage_risk(v, F(1), 4)),
    "best_shrinkage_risk.n": (4, lambda v: utility.best_shrinkage_risk(3, F(1), v)),
    "canonical_risk.n": (4, lambda v: utility.canonical_risk(ANCHORED, HALVES, n=v, population="iid")),
    "cardioid_program.m": (4, lambda v: design.cardioid_program(v, F(1, 2)).columns),
    "certify_envelope.i": (1, lambda v: utility.certify_envelope(W, v, 0, lam=F(2)).rows),
    "certify_envelope.j": (1, lambda v: utility.certify_envelope(W, 0, v, lam=F(2)).rows),
    "cyclic_group.m": (4, geometry.cyclic_group),
    "symmetric_group.m": (4, geometry.symmetric_group),
    "enumerated_risk.n": (4, lambda v: utility.enumerated_risk(W, HALVES, n=v, population="iid")),
    "evaluate_law.n": (4, lambda v: evaluate.evaluate_law(LAW, v)),
    "gaussian_scale.bits": (64, lambda v: utility.gaussian_scale(F(1, 4), 3, bits=v)),
    "leakage.i": (1, lambda v: utility.leakage(W, v, 0, n=3, eps="1/5").bracket),
    "leakage.j": (1, lambda v: utility.leakage(W, 0, v, n=3, eps="1/5").bracket),
    "leakage.n": (3, lambda v: utility.leakage(W, 0, 1, n=v, eps="1/5").bracket),
    "matched_ratio.k": (5, lambda v: utility.matched_ratio(v, 2, F(1, 8))),
    "matched_ratio.s": (2, lambda v: utility.matched_ratio(5, v, F(1, 8))),
    "one_coefficient_error.dimension": (4, lambda v: vectors.one_coefficient_error(2.0, v, 0.5)),
    "optimal_equivariant_risk.k": (3, lambda v: utility.optimal_equivariant_risk(v, F(1), n=9, population="iid")[0]),
    "optimal_equivariant_risk.n": (9, lambda v: utility.optimal_equivariant_risk(3, F(1), n=v, population="iid")[0]),
    "ratio_law.i": (1, lambda v: utility.ratio_law(W, v, 0)),
    "ratio_law.j": (1, lambda v: utility.ratio_law(W, 0, v)),
    "raw_cap_trace.bits": (64, lambda v: utility.raw_cap_trace(4, F(2), bits=v)),
    "shuffled_problem.n": (2, lambda v: vectors.shuffled_problem(W, [[0], [1]], v)),
    "slope_constant.k": (4, utility.slope_constant),
    "slope_constant.bits": (64, lambda v: utility.slope_constant(4, bits=v)),
    "threshold_budget.k": (4, utility.threshold_budget),
    "threshold_budget.bits": (64, lambda v: utility.threshold_budget(4, bits=v)),
    "thinning_gain.k": (3, lambda v: utility.thinning_gain(v, F(1, 8))),
    "tie_ratio.k": (5, lambda v: utility.tie_ratio(v, 1)),
    "tie_ratio.s": (1, lambda v: utility.tie_ratio(5, v)),
    "tie_ratio.bits": (64, lambda v: utility.tie_ratio(5, 1, bits=v)),
    "worst_background_on_the_line.n": (
        2,
        lambda v: vectors.worst_background_on_the_line(n=v, sigma0=2, eps=1, tolerance="1/2").bracket,
    ),
    "worst_canonical_risk.n": (4, lambda v: utility.worst_canonical_risk(ANCHORED, n=v, population="iid")),
    "worst_shuffled_divergence.n": (3, lambda v: channels.worst_shuffled_divergence(W, (0, 1), v, F(6, 5))),
    "which_order.n": (3, lambda v: vectors.which_order(VECTOR_PAIR, v, high=1, evaluations=9)),
    "which_order.evaluations": (9, lambda v: vectors.which_order(VECTOR_PAIR, 3, high=1, evaluations=v)),
}


@pytest.mark.parametrize("door", DOORS)
def test_an_integer_of_numpy_is_one_and_nothing_else_is(door):
    value, call = DOORS[door]
    assert call(np.int64(value)) == call(value)
    doubles = () if door.startswith("mechanism.") else (float(value), np.float64(value))  # at() reads 4.0 as text
    for wrong in (True, np.bool_(True), *doubles, value + 0.5, "x"):
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
    "EnclosedLaw.row_second_moment.x EnclosedLaw.pairwise_divergence.i EnclosedLaw.pairwise_divergence.j "
    "likelihood_quotient.a likelihood_quotient.b LikelihoodRatio.of.a LikelihoodRatio.of.b subset_orbit.subset",
    1: "delta.n amplification_curve.n worst_constant.n confirm.n mechanism.s Laplace.cells Contamination.n "
    "subset_template.s minimax_sandwich.n chi_square_certificate.n gaussian_scale.n SphereLinear.dimension "
    "BlanketMixedGaussian.dimension CentralGaussian.dimension privacy_loss.n rounds.n LocalGaussian.dimension "
    "confirm.least delta_curve.n tradeoff_curve.n renyi.n gaussian_limit.n GaussianLimit.rounds solve_eps0.n epsilon.n "
    "hamming.distance compare.n LikelihoodRatio.profile.n Laplace.at.cells Users.count check_size.s",
    2: "delta.bits Request.bits spaced.points tradeoff_curve.levels mechanism.k mechanism.D raw_cap_trace.k "
    "optimal_subset_sizes.k largest_budget.k staircase_matrix.m MaximalPolytope.m smoothed_point_masses.m "
    "isotropic_risk.k minimax_sandwich.k ClippedLinear.dimension PrivUnit.dimension privacy_loss.bits "
    "delta_curve.bits tradeoff_curve.bits renyi.bits solve_eps0.bits helmert.k compare.k trace_frontier.k "
    "unequal_delta.bits",
    4: "householder.k half_block_channel.k",
}
"""The smallest integers that doors take, as their pages say; of other doors it depends on what else is given."""


@pytest.mark.parametrize(("least", "door"), [(least, door) for least, doors in LEAST.items() for door in doors.split()])
def test_the_smallest_integer_is_taken_and_one_less_is_not(least, door):
    _, ask = DOORS[door]
    ask(least)
    with pytest.raises(InputError):
        ask(least - 1)


def test_few_digits_confirm_where_few_are_asked_for():
    assert confirm(LAW, 3, digits=1, least=1).digits == 1
    with pytest.raises(InputError, match="digits = 0"):
        confirm(LAW, 3, digits=0, least=1)
    assert confirm_laplace(F(3), F(6, 5), 1, digits=1, least=1).digits == 1
    with pytest.raises(InputError, match="digits = 0"):
        confirm_laplace(F(3), F(6, 5), 1, digits=0, least=1)
