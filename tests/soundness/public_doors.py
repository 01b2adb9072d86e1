"""One row for each argument of a public door that takes an enumeration: from its value to a result to be compared."""

from dataclasses import replace
from fractions import Fraction as F

import flint
import numpy as np

from symshuffle import (
    Channel,
    compare,
    delta,
    epsilon,
    joint,
    mechanism,
    optimal_decomposition,
    privacy_loss,
    prove,
    prove_epsilon,
)
from symshuffle.accountants import confirm
from symshuffle.accountants.bounds import evaluate
from symshuffle.accountants.covering import covered, reduction
from symshuffle.accountants.covering import reduced as classes
from symshuffle.accountants.literature import baselines
from symshuffle.accountants.questions import adversary, curves, gaussian_limit, inverses, tradeoff_function, unequal
from symshuffle.accountants.renyi import front as renyi
from symshuffle.base.numbers import Verdict
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import LevelledPair
from symshuffle.collect import make_plan
from symshuffle.decompositions import backgrounds, closed_forms, composition, laplace, rising, symbolic
from symshuffle.design.comparison import certified, families, forms, matching
from symshuffle.design.decision import reduced, symmetries
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import bayes_tradeoff, minimax_tradeoff
from symshuffle.design.parametric.walk import derive
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.engines.densities import engine as densities
from symshuffle.geometry.groups import cyclic_group
from symshuffle.ledger.claims import pictures
from symshuffle.ledger.claims.clauses import Clause
from symshuffle.ledger.claims.errata import Erratum
from symshuffle.ledger.claims.model import Claim, Comparison, Correction, Obligation
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation import canonical, votes, worst_risk
from symshuffle.utility.estimation.symbolic_law import SymbolicLaw
from symshuffle.utility.frontiers import caps, contamination, equivariant, formulas, leakage, subset_family
from symshuffle.utility.frontiers.frontier import trace_frontier
from symshuffle.utility.likelihood import certificates, normal, poisson, worst
from symshuffle.utility.likelihood.law import LikelihoodRatio
from symshuffle.vectors.calibration import cells, floor
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.privacy import confirmation, templates
from symshuffle.vectors.privacy.accounting import larger_order, pair_delta
from symshuffle.vectors.privacy.dominance import OrderComparison, which_order
from symshuffle.vectors.privacy.pairs import real_pair, worst_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, SphereLinear

HALF = F(1, 2)
W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
KRR = mechanism("krr").at(k=3, lam=2)
OPTIMAL = optimal_decomposition(KRR)
SKEW = (F(1, 4), F(3, 4))
ANCHORED = AnchoredLaw.from_channel(W)
CELLED = BlanketMixedGaussian("1/2", 2)
LINE = SphereLinear("1/2", 1)
WISH = {"n": 9, "delta": "1/10", "rel": 0.1}
REDUCED = reduction.reduction(W)
CURVE = curves.delta_curve(REDUCED, n=3, levels=[0])
LAW = REDUCED.laws(F(6, 5), "forward", None)[0]
DENSITIES = LevelledPair(worst_pair(BlanketMixedGaussian("0.9", "4"), adjacency="zero-out"), F(6, 5))
MIXED = Laplace(F(2)).mixed_law(F(6, 5))
RATIO = LikelihoodRatio.of(W, 0, 1)
LEVEL = {"exp_eps": F(6, 5)}
UNEQUAL = [unequal.Users(2, W)]
TREE = joint(mechanism("krr").at(k=3), mechanism("rr"))
WAY = composition.patterns(TREE)[0]
PROBLEM = smoothed_point_masses(3, 1)
FAMILY = families.family("krr", 3)
FORMS = forms.forms(FAMILY)
MATCH = matching.Match("eps0", HALF, None)
ASKED = {"n": 3, "eps": "1/10"}
GROUP = cyclic_group(3)
PLAN = make_plan(3, n=9, eps=1, delta="1/10", mechanism="krr")
CLAIM = Claim("own.one", "statement", "", "", "", (), "", "proved", bool, iter, (), "holds")


def rng():
    return np.random.default_rng(0)


DOORS = {
    "accountants.questions.proof.prove.direction": lambda v: prove(KRR, n=3, eps=1, direction=v),
    "accountants.questions.proof.prove_epsilon.direction": lambda v: prove_epsilon(KRR, n=3, delta="1/10", direction=v),
    "collect.plan.Plan.loss": lambda v: replace(PLAN, loss=v),
    "collect.plan.Plan.expected.loss": PLAN.expected,
    "collect.search.make_plan.loss": lambda v: make_plan(3, **ASKED, delta="1/2", mechanism="krr", loss=v),
    "design.comparison.compare.compare.loss": lambda v: compare(3, n=9, eps0=1, mechanisms=["krr"], loss=v).rows,
    "design.shuffled.best.best_shuffled.loss": lambda v: best_shuffled(3, n=4, eps=1, delta="1/10", loss=v).trace,
    "design.comparison.matching.Match.loss": lambda v: matching.Match("eps0", HALF, None, v),
    "utility.estimation.votes.VoteNoise.loss.loss": lambda v: votes.VoteNoise(F(1), F(2), 3, "").loss(v, 4),
    "utility.estimation.votes.VoteNoise.worst.loss": lambda v: votes.VoteNoise(F(1), F(2), 3, "").worst(v),
    "accountants.questions.adversary.worst_of_two_types.rigour": lambda v: adversary.worst_of_two_types(
        W, 3, F(6, 5), rigour=v
    ),
    "accountants.questions.adversary.WorstCase.direction": lambda v: adversary.WorstCase(
        CURVE.points[0].y, "", 1, "", v
    ),
    "accountants.questions.adversary.worst_constant.rigour": lambda v: adversary.worst_constant(
        REDUCED, 3, F(6, 5), rigour=v
    ),
    "accountants.confirm.front.confirm.route": lambda v: confirm.confirm(LAW, 3, digits=8, route=v).value[:6],
    "accountants.questions.curves.delta_curve.direction": lambda v: curves.delta_curve(
        W, n=3, levels=[F(1, 10)], direction=v
    ),
    "accountants.questions.curves.delta_curve.rigour": lambda v: curves.delta_curve(
        W, n=3, levels=[F(1, 10)], rigour=v
    ),
    "accountants.questions.curves.amplification_curve.direction": lambda v: curves.amplification_curve(
        W, delta="1/10", users=[3], direction=v
    ),
    "accountants.questions.curves.amplification_curve.rigour": lambda v: curves.amplification_curve(
        W, delta="1/10", users=[3], rigour=v, rel=0.1
    ),
    "accountants.questions.tradeoff_function.tradeoff_curve.rigour": lambda v: tradeoff_function.tradeoff_curve(
        W, n=3, alphas=[HALF], levels=3, rigour=v
    ),
    "accountants.renyi.front.renyi.direction": lambda v: renyi.renyi(W, n=3, alpha=2, rel=0.1, direction=v),
    "accountants.renyi.front.renyi.rigour": lambda v: renyi.renyi(W, n=3, alpha=2, rel=0.1, rigour=v),
    "accountants.questions.gaussian_limit.gaussian_limit.direction": lambda v: gaussian_limit.gaussian_limit(
        W, n=3, direction=v
    ),
    "accountants.questions.gaussian_limit.limit_of.direction": lambda v: gaussian_limit.limit_of(REDUCED, 3, v),
    "engines.densities.engine.density_bracket.rigour": lambda v: densities.density_bracket(
        DENSITIES, 2, rigour=v, rel=0.5
    ),
    "accountants.bounds.evaluate.Request.direction": lambda v: evaluate.Request(direction=v),
    "accountants.bounds.evaluate.Request.rigour": lambda v: evaluate.Request(rigour=v),
    "accountants.bounds.evaluate.Request.of.direction": lambda v: evaluate.Request.of(direction=v),
    "accountants.bounds.evaluate.Request.of.rigour": lambda v: evaluate.Request.of(rigour=v),
    "accountants.bounds.evaluate.choose_engine.rigour": lambda v: evaluate.choose_engine(LAW, 3, v, 1e-6),
    "accountants.bounds.evaluate.evaluate_law.rigour": lambda v: evaluate.evaluate_law(LAW, 3, rigour=v),
    "accountants.questions.inverses.solve_eps0.direction": lambda v: inverses.solve_eps0(
        mechanism("rr"), n=10, eps="1/2", delta="1/10", direction=v, rel=0.1
    ),
    "accountants.questions.inverses.solve_eps0.rigour": lambda v: inverses.solve_eps0(
        mechanism("rr"), n=10, eps="1/2", delta="1/10", rigour=v, rel=0.1
    ),
    "accountants.questions.inverses.solve_n.direction": lambda v: inverses.solve_n(
        W, eps="1/2", delta="1/10", direction=v
    ),
    "accountants.questions.inverses.solve_n.rigour": lambda v: inverses.solve_n(W, eps="1/2", delta="1/10", rigour=v),
    "accountants.covering.neighbours.Neighbours.adjacency": lambda v: replace(
        REDUCED.neighbours("both", 3), adjacency=v
    ),
    "accountants.covering.neighbours.Neighbours.question": lambda v: replace(REDUCED.neighbours("both", 3), question=v),
    "accountants.covering.covered.Covering.adjacency": lambda v: covered.Covering(adjacency=v),
    "accountants.covering.covered.Covering.blanket": lambda v: covered.Covering(blanket=v),
    "accountants.questions.curves.Curve.kind": lambda v: replace(CURVE, kind=v),
    "accountants.covering.reduced.Reduction.adjacency": lambda v: replace(REDUCED, adjacency=v),
    "accountants.rounds.privacy_loss.privacy_loss.rigour": lambda v: privacy_loss(
        W, n=3, step="1/4", beyond="1e-2", rigour=v
    ),
    "accountants.questions.unequal.unequal_delta.direction": lambda v: unequal.unequal_delta(
        UNEQUAL, **LEVEL, direction=v
    ),
    "accountants.questions.unequal.unequal_delta.rigour": lambda v: unequal.unequal_delta(UNEQUAL, **LEVEL, rigour=v),
    "accountants.questions.unequal.unequal_epsilon.direction": lambda v: unequal.unequal_epsilon(
        UNEQUAL, delta="1/10", direction=v
    ),
    "accountants.questions.unequal.unequal_epsilon.rigour": lambda v: unequal.unequal_epsilon(
        UNEQUAL, delta="1/10", rigour=v
    ),
    "accountants.questions.solve.delta.direction": lambda v: delta(W, **ASKED, direction=v),
    "accountants.questions.solve.delta.rigour": lambda v: delta(W, n=3, exp_eps="6/5", rigour=v),
    "accountants.questions.solve.epsilon.direction": lambda v: epsilon(W, n=3, delta="1/10", direction=v),
    "accountants.questions.solve.epsilon.rigour": lambda v: epsilon(W, n=3, delta="1/10", rigour=v, rel=0.1),
    "design.comparison.certified.Rivals.rigour": lambda v: certified.Rivals(FAMILY, FORMS, MATCH, 9, HALF, v),
    "design.comparison.matching.Match.kind": lambda v: matching.Match(v, HALF, None),
    "decompositions.backgrounds.ConstantBackground.others": lambda v: backgrounds.ConstantBackground(KRR, v),
    "decompositions.closed_forms.ClosedForm.datasets.others": lambda v: closed_forms.closed_form(
        "krr", {"k": "3"}, lam=2
    ).datasets(v, 4),
    "decompositions.closed_forms.ClosedForm.law.others": lambda v: closed_forms.closed_form(
        "krr", {"k": "3"}, lam=2
    ).law(F(6, 5), others=v),
    "decompositions.closed_forms.ClosedForm.law.direction": lambda v: closed_forms.closed_form(
        "krr", {"k": "3"}, lam=2
    ).law(F(6, 5), direction=v),
    "decompositions.closed_forms.ClosedForm.law_in_doubles.others": lambda v: closed_forms.closed_form(
        "krr", {"k": "3"}, lam=2
    ).law_in_doubles(F(6, 5), others=v, direction="forward"),
    "decompositions.closed_forms.ClosedForm.law_in_doubles.direction": lambda v: closed_forms.closed_form(
        "krr", {"k": "3"}, lam=2
    ).law_in_doubles(F(6, 5), others="blanket", direction=v),
    "decompositions.closed_forms.ClosedForm.spreads.direction": lambda v: closed_forms.closed_form(
        "half-block", {"k": "6"}, lam=2
    ).spreads(F(6, 5), v, None),
    "decompositions.symbolic.filed_decomposition.others": lambda v: symbolic.filed_decomposition(KRR, others=v).gparv(),
    "decompositions.symbolic.quick_law.others": lambda v: symbolic.quick_law(KRR, F(6, 5), others=v),
    "decompositions.symbolic.quick_law.direction": lambda v: symbolic.quick_law(KRR, F(6, 5), direction=v),
    "decompositions.composition.tree.Composition.operator": lambda v: composition.Composition(v, (KRR,), (F(1),)),
    "decompositions.composition.laws.decomposition.others": lambda v: composition.decomposition(TREE, WAY, others=v),
    "decompositions.composition.laws.composed_law.others": lambda v: composition.composed_law(
        TREE, WAY, F(6, 5), lam=F(4), others=v
    ),
    "decompositions.composition.laws.composed_law.side": lambda v: composition.composed_law(
        TREE, WAY, F(6, 5), lam=F(4), side=v
    ),
    "decompositions.composition.laws.composed_law.direction": lambda v: composition.composed_law(
        TREE, WAY, F(6, 5), lam=F(4), direction=v
    ),
    "decompositions.composition.laws.mixed_law.others": lambda v: composition.mixed_law(
        TREE, WAY, F(6, 5), lam=F(4), others=v
    ),
    "decompositions.composition.laws.mixed_law.direction": lambda v: composition.mixed_law(
        TREE, WAY, F(6, 5), lam=F(4), direction=v
    ),
    "decompositions.laplace.laplace_cells.side": lambda v: laplace.laplace_cells(4, v, "blanket", differs=True),
    "decompositions.laplace.laplace_cells.others": lambda v: laplace.laplace_cells(4, "upper", v, differs=True),
    "decompositions.model.ReductionPair.gparv.direction": lambda v: (
        OPTIMAL.numeric().reduction_pair().gparv(F(6, 5), direction=v)
    ),
    "decompositions.model.ReductionPair.divergence.direction": lambda v: (
        OPTIMAL.numeric().reduction_pair().divergence(2, F(6, 5), direction=v)
    ),
    "decompositions.symbolic.SymbolicDecomposition.gparv.direction": lambda v: OPTIMAL.gparv(direction=v),
    "decompositions.symbolic.SymbolicDecomposition.singular.direction": lambda v: OPTIMAL.singular(direction=v),
    "decompositions.symbolic.SymbolicDecomposition.law.direction": lambda v: OPTIMAL.law(F(6, 5), direction=v),
    "decompositions.symbolic.SymbolicDecomposition.gparv_latex.direction": lambda v: OPTIMAL.gparv_latex(direction=v),
    "decompositions.symbolic.counted_decomposition.others": lambda v: symbolic.counted_decomposition(KRR, others=v),
    "utility.frontiers.contamination.Contamination.direction": lambda v: contamination.Contamination(3, v),
    "utility.frontiers.contamination.shuffled_leakage.rigour": lambda v: contamination.shuffled_leakage(
        contamination.ratio_law(W, 0, 1), contamination.Contamination(3), gamma=F(6, 5), rigour=v
    ),
    "utility.frontiers.equivariant.optimal_equivariant_risk.population": lambda v: equivariant.optimal_equivariant_risk(
        5, F(1, 8), n=1, population=v
    ),
    "utility.frontiers.equivariant.calibrated_risk.population": lambda v: equivariant.calibrated_risk(
        5, F(1, 8), n=1, population=v
    ),
    "utility.frontiers.formulas.hockey_stick_envelope.direction": lambda v: formulas.hockey_stick_envelope(
        3, 2, gamma=2, direction=v
    ),
    "utility.frontiers.leakage.convex_envelope.function": lambda v: leakage.convex_envelope(3, lam=F(2), function=v),
    "utility.frontiers.leakage.convex_envelope.direction": lambda v: leakage.convex_envelope(
        3, lam=F(2), function="kl", direction=v
    ),
    "utility.frontiers.leakage.leakage.divergence": lambda v: leakage.leakage(W, 0, 1, n=3, divergence=v),
    "utility.frontiers.leakage.leakage.direction": lambda v: leakage.leakage(
        W, 0, 1, n=3, divergence="kl", direction=v
    ),
    "utility.frontiers.orbits.Frontier.risk_constant.population": lambda v: trace_frontier(3, F(1)).risk_constant(v),
    "utility.frontiers.caps.raw_cap_risk_constant.population": lambda v: caps.raw_cap_risk_constant(
        4, F(3), population=v
    ),
    "utility.frontiers.subset_family.matched_risk.population": lambda v: subset_family.matched_risk(
        5, 2, F(1, 8), n=1, population=v
    ),
    "ledger.claims.model.Claim.kind": lambda v: replace(CLAIM, kind=v),
    "ledger.claims.model.Claim.expected": lambda v: replace(CLAIM, expected=v),
    "ledger.claims.model.Claim.grade": lambda v: replace(CLAIM, grade=v),
    "ledger.claims.errata.Erratum.severity": lambda v: Erratum(v, None if v == "question" else "granted", "why"),
    "ledger.claims.errata.Erratum.standing": lambda v: Erratum("wording", v, "why"),
    "ledger.claims.clauses.Clause.role": lambda v: Clause("i", "one thing", v),
    "ledger.claims.pictures.PlottedCurve.role": lambda v: pictures.PlottedCurve("one", v, ((0.0, 1.0),)),
    "ledger.claims.model.Correction.grade": lambda v: Correction("", bool, v),
    "ledger.claims.comparisons.Comparison.means": lambda v: Comparison("1", "1", "==", Verdict.TRUE, v, "here"),
    "ledger.claims.model.Obligation.quantifier": lambda v: Obligation(v, "n"),
    "design.decision.reduced.orbit_tradeoff.criterion": lambda v: reduced.orbit_tradeoff(
        PROBLEM, 2, GROUP, criterion=v
    ),
    "design.decision.reduced.orbit_tradeoff_at.criterion": lambda v: reduced.orbit_tradeoff_at(
        PROBLEM, 2, GROUP, criterion=v
    ),
    "design.decision.symmetries.detect_symmetry.criterion": lambda v: symmetries.detect_symmetry(PROBLEM, criterion=v),
    "design.parametric.walk.derive.criterion": lambda v: derive(PROBLEM, GROUP, criterion=v),
    "mechanisms.continuous.Laplace.mixed_null_law.direction": lambda v: Laplace(F(2)).mixed_null_law(
        F(6, 5), direction=v
    ),
    "mechanisms.continuous.Laplace.mixed_null_background.direction": lambda v: Laplace(F(2)).mixed_null_background(
        F(6, 5), direction=v
    ),
    "design.decision.tradeoff.bayes_tradeoff.method": lambda v: bayes_tradeoff(PROBLEM, 2, method=v),
    "design.decision.tradeoff.minimax_tradeoff.method": lambda v: minimax_tradeoff(PROBLEM, 2, method=v),
    "utility.estimation.canonical.canonical_risk.population": lambda v: canonical.canonical_risk(
        ANCHORED, SKEW, n=4, population=v
    ),
    "utility.estimation.canonical.worst_canonical_risk.population": lambda v: canonical.worst_canonical_risk(
        ANCHORED, n=4, population=v
    ),
    "utility.estimation.canonical.isotropic_risk.population": lambda v: canonical.isotropic_risk(3, F(1), population=v),
    "utility.estimation.canonical.enumerated_risk.population": lambda v: canonical.enumerated_risk(
        W, SKEW, n=4, population=v
    ),
    "utility.estimation.worst_risk.worst_risk.population": lambda v: worst_risk.worst_risk(ANCHORED, n=4, population=v),
    "mechanisms.continuous.Laplace.domain": lambda v: Laplace(F(2), v),
    "mechanisms.continuous.Laplace.at.domain": lambda v: Laplace().at(lam=2, domain=v),
    "mechanisms.continuous.Laplace.law.side": lambda v: Laplace(F(2)).law(F(6, 5), side=v),
    "mechanisms.continuous.Laplace.law.direction": lambda v: Laplace(F(2)).law(F(6, 5), side="upper", direction=v),
    "mechanisms.continuous.Laplace.mixed_law.direction": lambda v: Laplace(F(2)).mixed_law(F(6, 5), direction=v),
    "mechanisms.continuous.Laplace.background.direction": lambda v: Laplace(F(2)).background(F(6, 5), direction=v),
    "mechanisms.continuous.Laplace.mixed_background.direction": lambda v: Laplace(F(2)).mixed_background(
        F(6, 5), direction=v
    ),
    "channels.mixed_law.Segment.finite.side": lambda v: list(MIXED.segments[0].finite(v, 4, 64)),
    "channels.mixed_law.MixedLaw.finite.side": lambda v: MIXED.finite(v, 4),
    "accountants.covering.reduced.Reduction.neighbours.question": lambda v: REDUCED.neighbours(v, 3),
    "accountants.covering.reduced.Reduction.laws.question": lambda v: REDUCED.laws(F(6, 5), v, None),
    "accountants.covering.reduced.laws.question": lambda v: classes.laws(REDUCED.bounds[0], F(6, 5), v, None),
    "accountants.covering.reduced.mixed_laws.question": lambda v: classes.mixed_laws(
        reduction.reduction(Laplace(F(2))).mixed[0], F(6, 5), v, None
    ),
    "accountants.covering.reduced.Reduction.laws_in_doubles.question": lambda v: REDUCED.laws_in_doubles(F(6, 5), v),
    "accountants.literature.baselines.standard_clone.rigour": lambda v: baselines.standard_clone(
        F(2), exp_eps=F(6, 5), n=3, rigour=v
    ),
    "decompositions.rising.Slope.spreads.direction": lambda v: rising.Slope(()).spreads(F(6, 5), v, None),
    "utility.likelihood.certificates.Hinge.of.direction": lambda v: certificates.Hinge.of(v, **LEVEL),
    "utility.likelihood.certificates.hinge_range.direction": lambda v: certificates.hinge_range(v, F(2)),
    "utility.likelihood.certificates.chi_square_certificate.direction": lambda v: certificates.chi_square_certificate(
        RATIO.chi_square, 3, **LEVEL, direction=v
    ),
    "utility.likelihood.certificates.chi_square_certificate.form": lambda v: certificates.chi_square_certificate(
        RATIO.chi_square, 3, **LEVEL, direction="forward", form=v, lam=F(2)
    ),
    "utility.likelihood.law.LikelihoodRatio.profile.direction": lambda v: RATIO.profile(3, **LEVEL, direction=v),
    "utility.likelihood.law.LikelihoodRatio.profile.rigour": lambda v: RATIO.profile(3, **LEVEL, rigour=v),
    "utility.likelihood.normal.average_atoms.under": lambda v: normal.average_atoms(RATIO, 3, under=v),
    "utility.likelihood.normal.kolmogorov_distance.under": lambda v: normal.kolmogorov_distance(RATIO, 3, under=v),
    "utility.likelihood.normal.berry_esseen_bound.under": lambda v: normal.berry_esseen_bound(RATIO, 3, under=v),
    "utility.likelihood.normal.normal_profile.direction": lambda v: normal.normal_profile(
        RATIO, 3, **LEVEL, direction=v
    ),
    "utility.likelihood.poisson.poisson_profile.direction": lambda v: poisson.poisson_profile(
        RATIO, 3, **LEVEL, direction=v
    ),
    "utility.likelihood.worst.worst_curve.direction": lambda v: worst.worst_curve(
        F(1, 4), 3, lam=F(2), exp_eps=F(6, 5), direction=v
    ),
    "vectors.privacy.dominance.OrderComparison.verdicts": lambda v: OrderComparison(
        worst_pair(SphereLinear("1/2", 1), adjacency="zero-out"), 3, F(1), F(2), (F(1), F(2)), (v,), "float64"
    ),
    "vectors.privacy.dominance.OrderComparison.rigour": lambda v: OrderComparison(
        worst_pair(SphereLinear("1/2", 1), adjacency="zero-out"), 3, F(1), F(2), (F(1), F(2)), ("undecided",), v
    ),
    "vectors.privacy.dominance.which_order.rigour": lambda v: which_order(
        worst_pair(SphereLinear("1/2", 3), adjacency="zero-out"), 3, low="1/20", high="1/10", rigour=v, evaluations=5
    ).to_dict(),
    "vectors.privacy.accounting.pair_delta.rigour": lambda v: pair_delta(
        worst_pair(LINE, adjacency="zero-out"), 3, F(6, 5), rigour=v
    ),
    "vectors.privacy.accounting.larger_order.rigour": lambda v: larger_order(
        worst_pair(LINE, adjacency="zero-out"), 3, F(6, 5), rigour=v
    ),
    "vectors.privacy.confirmation.confirm_pair.adjacency": lambda v: confirmation.confirm_pair(
        BlanketMixedGaussian("0.95", "4.6"), n=20, exp_eps=F(101, 100), adjacency=v, digits=6
    ),
    "vectors.privacy.confirmation.confirm_pair.blanket": lambda v: confirmation.confirm_pair(
        BlanketMixedGaussian("0.95", "4.6"), n=20, exp_eps=F(101, 100), blanket=v, digits=6, adjacency="zero-out"
    ),
    "vectors.calibration.floor.Target.adjacency": lambda v: floor.Target(3, F(6, 5), F(1, 10), v, "largest"),
    "vectors.calibration.floor.Target.blanket": lambda v: floor.Target(3, F(6, 5), F(1, 10), "zero-out", v),
    "vectors.calibration.cells.cells.adjacency": lambda v: cells.cells(
        BlanketMixedGaussian("1/2", 2), F(2), v, "largest"
    ).pair(flint.arb(0)),
    "vectors.calibration.cells.cells.blanket": lambda v: cells.cells(
        BlanketMixedGaussian("1/2", 2), F(2), "zero-out", v
    ).pair(flint.arb(0)),
    "vectors.calibration.cells.cells_of.adjacency": lambda v: cells.cells_of(BlanketMixedGaussian("1/2", 2), v),
    "vectors.calibration.cells.cells_of.blanket": lambda v: cells.cells_of(
        BlanketMixedGaussian("1/2", 2), "zero-out", v
    ),
    "vectors.error.indices.shuffle_index.side": lambda v: shuffle_index(LINE, v),
    "vectors.error.indices.shuffle_index.blanket": lambda v: shuffle_index(LINE, "lower", blanket=v),
    "vectors.privacy.pairs.real_pair.adjacency": lambda v: real_pair(LINE, adjacency=v),
    "vectors.privacy.pairs.worst_pair.adjacency": lambda v: worst_pair(LINE, adjacency=v),
    "vectors.privacy.pairs.worst_pair.blanket": lambda v: worst_pair(LINE, blanket=v, adjacency="zero-out"),
    "vectors.privacy.templates.profile_template.order": lambda v: templates.profile_template(
        F(1), F(1, 10), 100, order=v
    ),
    "base.results.Bracket.rigour": lambda v: Bracket(F(0), F(0), v, "none", ""),
    "utility.estimation.symbolic_law.SymbolicLaw.canonical_risk.population": lambda v: SymbolicLaw(KRR).canonical_risk(
        ["1/3"] * 3, n=3, population=v
    ),
    "utility.estimation.symbolic_law.SymbolicLaw.risk_constant.population": lambda v: SymbolicLaw(KRR).risk_constant(v),
}
