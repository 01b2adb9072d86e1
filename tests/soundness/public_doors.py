"""One row for each argument of a public door that takes an enumeration: from its value to a result to be compared."""

import inspect
from dataclasses import replace
from fractions import Fraction as F

import flint
import numpy as np

from symshuffle import (
    Bracket,
    Channel,
    compare,
    delta,
    epsilon,
    joint,
    optimal,
    optimal_decomposition,
    privacy_loss_distribution,
    randomizer,
    total_variation,
)
from symshuffle.accountants.bounds import evaluate
from symshuffle.accountants.deployment import adjacency, reduction
from symshuffle.accountants.deployment.group import Group
from symshuffle.accountants.literature import baselines
from symshuffle.accountants.questions import curves, inverses, tradeoff_function
from symshuffle.accountants.renyi import front as renyi
from symshuffle.channels import cyclic_group
from symshuffle.channels.continuous_law import LevelledPair
from symshuffle.collect import plan_survey
from symshuffle.decompositions import composition, symbolic
from symshuffle.design import smoothed_point_masses
from symshuffle.design.comparison import branch_and_bound, families, matching
from symshuffle.design.decision import invariant
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.parametric.homotopy import derive
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.engines import confirm
from symshuffle.engines.densities import engine as densities
from symshuffle.ledger import Claim, Clause, Correction, Erratum
from symshuffle.mechanisms import Laplace
from symshuffle.utility import AnchoredLaw, LikelihoodRatio, SymbolicLaw, trace_frontier
from symshuffle.utility.estimation import canonical, votes
from symshuffle.utility.frontiers import caps, contamination, equivariant, leakage
from symshuffle.utility.likelihood import extremes, worst
from symshuffle.vectors import BlanketMixedGaussian, SphereLinear, shuffle_index
from symshuffle.vectors.calibration import cells, floor
from symshuffle.vectors.privacy import confirmation, correspondence
from symshuffle.vectors.privacy.accounting import larger_order, pair_delta
from symshuffle.vectors.privacy.dominance import OrderComparison, which_order
from symshuffle.vectors.privacy.pairs import real_pair, worst_pair

HALF = F(1, 2)
W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
KRR = randomizer("krr").at(k=3, lam=2)
OPTIMAL = optimal_decomposition(KRR)
SKEW = (F(1, 4), F(3, 4))
ANCHORED = AnchoredLaw.from_channel(W)
CELLED = BlanketMixedGaussian("1/2", 2)
LINE = SphereLinear("1/2", 1)
PAIR = worst_pair(LINE, adjacency="zero-out")
WIDE = BlanketMixedGaussian("0.95", "4.6")
WISH = {"n": 9, "delta": "1/10", "rtol": 0.1}
REDUCED = reduction.reduction(W)
CURVE = curves.profile(REDUCED, n=3, eps=[0])
LAW = REDUCED.laws(F(6, 5), "forward", None)[0]
DENSITIES = LevelledPair(worst_pair(BlanketMixedGaussian("0.9", "4"), adjacency="zero-out"), F(6, 5))
MIXED = Laplace(F(2)).mixed_law(F(6, 5))
RATIO = LikelihoodRatio.of(W, 0, 1)
LEVEL = {"exp_eps": F(6, 5)}
UNEQUAL = [Group(W, 1), Group(W, 1)]
TREE = joint(randomizer("krr").at(k=3), randomizer("rr"))
WAY = composition.patterns(TREE)[0]
PROBLEM = smoothed_point_masses(3, 1)
FAMILY = families.family("krr", 3)
MATCH = matching.Match("eps0", HALF, None)
ASKED = {"n": 3, "eps": "1/10"}
GROUP = cyclic_group(3)
NOISE = votes.VoteNoise(F(1), F(2), 3, "")
PLAN = plan_survey(3, n=9, eps=1, delta="1/10", mechanism="krr")
CLAIM = Claim("own.one", "statement", "", "", "", (), "", "proved", bool, iter, (), "holds")


def rng():
    return np.random.default_rng(0)


def row(arguments, function, /, *given, **named):
    """A function, what it is given otherwise, and the arguments that take an enumeration."""
    body = inspect.unwrap(getattr(function, "__func__", function))
    place = f"{body.__module__.removeprefix('symshuffle.')}.{body.__qualname__}"
    return {
        f"{place}.{argument}": lambda v, argument=argument: function(*given, **{**named, argument: v})
        for argument in arguments.split()
    }


def several(arguments, function, /, *given, **named):
    """The same of a function that is asked about several groups."""
    return {f"{name} of groups": call for name, call in row(arguments, function, *given, **named).items()}


ROWS = (
    row("loss", plan_survey, 3, **ASKED, delta="1/2", mechanism="krr"),
    row("loss", matching.Match, "eps0", HALF, None),
    row("loss", votes.VoteNoise(F(1), F(2), 3, "").worst),
    row("direction arithmetic", curves.profile, W, n=3, eps=[F(1, 10)]),
    row("direction arithmetic", curves.amplification_curve, W, delta="1/10", users=[3], rtol=0.1),
    row("arithmetic", tradeoff_function.tradeoff, W, n=3, type_i=[HALF], num_levels=3),
    row("direction arithmetic", renyi.renyi, W, n=3, order=2, rtol=0.1),
    row("direction", tradeoff_function.gaussian_limit, W, n=3),
    row("arithmetic", densities.density_bracket, DENSITIES, 1, rtol=0.5),
    row("direction arithmetic", evaluate.Method.of),
    row("arithmetic", evaluate.evaluate_law, LAW, 3),
    row("direction arithmetic", inverses.largest_eps0, randomizer("rr"), n=10, eps="1/2", delta="1/10", rtol=0.1),
    row("direction arithmetic", inverses.smallest_n, W, eps="1/2", delta="1/10"),
    row("relation blanket", adjacency.Adjacency),
    row("arithmetic", privacy_loss_distribution, W, n=3, step="1/4", beyond="1e-2"),
    row("direction arithmetic", delta, W, n=3, exp_eps="6/5"),
    row("direction arithmetic", epsilon, W, n=3, delta="1/10", rtol=0.1),
    row("direction arithmetic", total_variation, W, n=3),
    several("direction arithmetic", delta, UNEQUAL, **LEVEL),
    several("direction arithmetic", epsilon, UNEQUAL, delta="1/10"),
    row("arithmetic", branch_and_bound.Rivals, FAMILY, MATCH, 9, HALF),
    row("direction", OPTIMAL.numeric().reduction_pair().gparv, F(6, 5)),
    row("direction", OPTIMAL.numeric().reduction_pair().divergence, 2, F(6, 5)),
    row("direction", OPTIMAL.gparv),
    row("direction", OPTIMAL.singular),
    row("direction", OPTIMAL.law, F(6, 5)),
    row("direction", OPTIMAL.gparv_latex),
    row("others", symbolic.counted_decomposition, KRR),
    row("direction", contamination.Contamination, 3),
    row(
        "arithmetic",
        contamination.shuffled_leakage,
        contamination.ratio_law(W, 0, 1),
        contamination.Contamination(3),
        gamma=F(6, 5),
    ),
    row("population", equivariant.optimal_equivariant_risk, 5, F(1, 8), n=1),
    row("function direction", leakage.convex_envelope, 3, lam=F(2), function="kl"),
    row("divergence direction", leakage.leakage, W, 0, 1, n=3, divergence="kl"),
    row("population", trace_frontier(3, F(1)).risk_constant),
    row("population", caps.raw_cap_risk_constant, 4, F(3)),
    row("population", equivariant.matched_risk, 5, 2, F(1, 8), n=1),
    row("role", Clause, "i", "one thing"),
    row("grade", Correction, "", bool),
    row("method criterion", optimal, PROBLEM, lam=2),
    row("criterion method", smallest_risk, PROBLEM, 2),
    row("criterion", invariant.detect_symmetry, PROBLEM),
    row("criterion", derive, PROBLEM, GROUP),
    row("direction", Laplace(F(2)).mixed_null_law, F(6, 5)),
    row("direction", Laplace(F(2)).mixed_null_background, F(6, 5)),
    row("population", canonical.canonical_risk, ANCHORED, SKEW, n=4),
    row("population", canonical.worst_canonical_risk, ANCHORED, n=4),
    row("population", canonical.isotropic_risk, 3, F(1)),
    row("population", canonical.enumerated_risk, W, SKEW, n=4),
    row("population", canonical.worst_risk, ANCHORED, n=4),
    row("domain", Laplace, F(2)),
    row("domain", Laplace().at, lam=2),
    row("side direction", Laplace(F(2)).law, F(6, 5), side="upper"),
    row("direction", Laplace(F(2)).mixed_law, F(6, 5)),
    row("direction", Laplace(F(2)).background, F(6, 5)),
    row("direction", Laplace(F(2)).mixed_background, F(6, 5)),
    row("arithmetic", baselines.standard_clone, F(2), exp_eps=F(6, 5), n=3),
    row("direction", extremes.hinge, **LEVEL),
    row("direction arithmetic", RATIO.profile, 3, **LEVEL),
    row("direction", worst.worst_curve, F(1, 4), 3, lam=F(2), exp_eps=F(6, 5)),
    row("arithmetic", OrderComparison, PAIR, 3, F(1), F(2), (F(1), F(2)), ("undecided",)),
    row("arithmetic", pair_delta, PAIR, 3, F(6, 5)),
    row("arithmetic", larger_order, PAIR, 3, F(6, 5)),
    row(
        "adjacency blanket", confirmation.confirm_pair, WIDE, n=20, exp_eps=F(101, 100), digits=6, adjacency="zero-out"
    ),
    row("blanket", floor.Target, 3, F(6, 5), F(1, 10), "zero-out"),
    row("adjacency", cells.cells_of, CELLED),
    row("blanket", cells.cells_of, CELLED, "zero-out"),
    row("side", shuffle_index, LINE),
    row("blanket", shuffle_index, LINE, "lower"),
    row("adjacency", real_pair, LINE),
    row("adjacency blanket", worst_pair, LINE, adjacency="zero-out"),
    row("order", correspondence.profile_template, F(1), F(1, 10), 100),
    row("population", SymbolicLaw(KRR).canonical_risk, ["1/3"] * 3, n=3),
    row("population", SymbolicLaw(KRR).risk_constant),
)
DOORS = {door: call for one in ROWS for door, call in one.items()} | {
    "collect.plan.SurveyPlan.loss": lambda v: replace(PLAN, loss=v),
    "collect.plan.SurveyPlan.expected.loss": PLAN.expected,
    "design.comparison.compare.compare.loss": lambda v: compare(3, n=9, eps0=1, mechanisms=["krr"], loss=v).rows,
    "design.shuffled.best.best_shuffled.loss": lambda v: best_shuffled(3, n=4, eps=1, delta="1/10", loss=v).trace,
    "utility.estimation.votes.VoteNoise.loss.loss": lambda v: votes.VoteNoise(F(1), F(2), 3, "").loss(v, 4),
    "channels.mixed_law.MixedLaw.finite.side": lambda v: MIXED.finite(v, 4),
    "engines.confirm.front.recompute.route": lambda v: confirm.recompute(LAW, 3, digits=8, route=v).value[:6],
    "utility.estimation.votes.VoteNoise.worst.loss": lambda v: votes.joint_noise([NOISE] * 2).worst(v),
    "utility.frontiers.caps.optimal_subset_sizes.loss": lambda v: caps.optimal_subset_sizes(5, F(6), loss=v),
    "design.comparison.matching.Match.kind": lambda v: matching.Match(v, HALF, None),
    "decompositions.composition.tree.Composition.operator": lambda v: composition.Composition(v, (KRR,), (F(1),)),
    "ledger.claims.model.Claim.kind": lambda v: replace(CLAIM, kind=v),
    "ledger.claims.model.Claim.expected": lambda v: replace(CLAIM, expected=v),
    "ledger.claims.model.Claim.grade": lambda v: replace(CLAIM, grade=v),
    "ledger.claims.parts.Erratum.severity": lambda v: Erratum(v, None if v == "question" else "granted", "why"),
    "ledger.claims.parts.Erratum.standing": lambda v: Erratum("wording", v, "why"),
    "utility.likelihood.extremes.hinge_range.direction": lambda v: extremes.hinge_range(v, F(2)),
    "vectors.privacy.dominance.OrderComparison.verdicts": lambda v: OrderComparison(
        PAIR, 3, F(1), F(2), (F(1), F(2)), (v,), "float64"
    ),
    "vectors.privacy.dominance.which_order.arithmetic": lambda v: which_order(
        worst_pair(SphereLinear("1/2", 1), adjacency="zero-out"),
        3,
        low="1/20",
        high="1/10",
        arithmetic=v,
        evaluations=5,
    ).to_dict(),
    "vectors.calibration.floor.Target.adjacency": lambda v: floor.Target(3, F(6, 5), F(1, 10), v, "largest"),
    "vectors.calibration.cells.cells.adjacency": lambda v: cells.mixed_pair(
        cells.cells(CELLED, F(2), v, "largest"), flint.arb(0)
    ),
    "vectors.calibration.cells.cells.blanket": lambda v: cells.mixed_pair(
        cells.cells(CELLED, F(2), "zero-out", v), flint.arb(0)
    ),
    "base.results.Bracket.arithmetic": lambda v: Bracket(F(0), F(0), v, "none", ""),
}
