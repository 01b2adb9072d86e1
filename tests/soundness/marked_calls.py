"""Cheap calls of public functions, in which every argument that takes numbers is marked with what it takes."""

from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import symshuffle
from symshuffle import Bracket, Channel, Deployment, Group, Law, joint, randomizer
from symshuffle.accountants import BlanketVariable, GaussianLimit
from symshuffle.channels import cyclic_group
from symshuffle.channels.shuffled import shuffled_law
from symshuffle.collect import Support, plan_survey
from symshuffle.decompositions import simplified_decomposition
from symshuffle.design import f_divergence, smoothed_point_masses
from symshuffle.mechanisms import Laplace
from symshuffle.utility import AnchoredLaw, Contamination, LikelihoodRatio, fiber, ratio_law
from symshuffle.vectors import BlanketMixedGaussian, SphereLinear


@dataclass(frozen=True)
class Number:
    """An argument that takes a number, with a value that every type can hold: a fraction of few bits."""

    value: F


@dataclass(frozen=True)
class Integer:
    """An argument that takes an integer."""

    value: int


@dataclass(frozen=True)
class Several:
    """An argument that takes a list of numbers: a distribution, levels, numbers of users."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """An argument that takes rows of numbers."""

    rows: tuple[tuple[F, ...], ...]


def num(text):
    return Number(F(text))


def law(text):
    return Several(tuple(F(part) for part in text.split()))


HALF, TWO = F(1, 2), F(2)
W = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
KRR = randomizer("krr").at(k=3, lam=2)
RR = randomizer("rr")
OPEN = randomizer("krr").at(k=3)
PROBLEM = smoothed_point_masses(3, HALF)
ANCHORED = AnchoredLaw.from_channel(W)
RATIO = ratio_law(W, 0, 1)
LAW = Law((F(1), F(-2)), (HALF, HALF))
GAUSS = BlanketMixedGaussian("1/2", 2)
LINE = SphereLinear("1/2", 1)
PLAN = plan_survey(3, n=9, eps=1, delta="1/10", mechanism="krr")
VARIABLE = BlanketVariable.of(simplified_decomposition(W, (0, 1)), F(3, 2))
UNIT = ((F(1), F(0)), (F(0), F(1)))
QUOTIENT = LikelihoodRatio.of(W, 0, 1)
BRACKET = Bracket(F(1, 4), F(1, 2), "exact", "", "")
MEASURE = f_divergence((F(1), F(0), F(0)), (F(0), F(1), F(0)), lambda t: (t - 1) * (t - 1))


COVERING = {
    "null": {"null": law("1/2 1/2")},
    "dropout": {"dropout": num("1/4"), "rtol": HALF},
    "min_batch_size": {"min_batch_size": Integer(2)},
    "group_size": {"group_size": Integer(2)},
}


def front(name, *asked, whom="null dropout min_batch_size group_size", source=W, **given):
    """Calls of a front function: what it is asked, and the same with each way to say whom it covers."""
    base = {"subject": source, "n": Integer(3), **given}
    return [(name, base | one) for one in ({}, *asked, *(COVERING[key] for key in whom.split()))]


USERS = [Group(W, 1), Group(W, 2)]

CALLS = [
    ("optimal", {"problem": PROBLEM, "lam": num("3/2")}),
    ("optimal", {"problem": PROBLEM, "eps0": num("1/2"), "rtol": num("1/64")}),
    *front(
        "delta", {"exp_eps": num("3/2"), "eps": None}, {"subject": Table(W.rows)}, eps=num("1/2"), rtol=num("1/1024")
    ),
    *front("delta", eps=HALF, bits=Integer(64), arithmetic="ball", whom=""),
    *front("epsilon", {"near": num("1/4")}, delta=num("1/8"), rtol=num("1/1024"), bits=Integer(64)),
    *front("total_variation", rtol=num("1/1024"), bits=Integer(64)),
    *front("renyi", order=num("2"), rtol=num("1/2"), bits=Integer(64), whom="null min_batch_size"),
    *front("profile", eps=Several((F(0), HALF)), rtol=num("1/16"), bits=Integer(64)),
    *front(
        "tradeoff",
        type_i=Several((F(1, 4), HALF)),
        rtol=num("1/16"),
        bits=Integer(64),
        num_levels=Integer(3),
        whom="null dropout min_batch_size",
    ),
    *front("gaussian_limit", whom="null min_batch_size group_size"),
    ("gaussian_limit", {"subject": W, "n": 3, "dropout": num("1/4")}),
    *front(
        "privacy_loss_distribution", step=num("1/4"), beyond=num("1/64"), rtol=num("1/16"), bits=Integer(64), whom=""
    ),
    (
        "privacy_loss_distribution",
        {"subject": W, "n": 2, "step": HALF, "beyond": F(1, 16), "rtol": HALF, "null": law("1/2 1/2")},
    ),
    ("worst_datasets", {"subject": W, "n": Integer(3), "exp_eps": num("3/2"), "rtol": num("1/16")}),
    ("worst_datasets", {"subject": W, "n": Integer(3), "eps": num("1/2"), "min_batch_size": Integer(2)}),
    ("randomizer", {"source": "krr", "k": Integer(3), "lam": num("3/2")}),
    ("randomizer", {"source": "krr", "k": 3, "eps0": num("1/2")}),
    (
        "sweep",
        {"question": "total_variation", "subject": W, "n": [2], "distances": Table(((F(0), F(1, 2)), (F(1, 2), F(0))))},
    ),
    ("prove", {"answer": symshuffle.delta(W, n=3, eps="1/2"), "delta": num("1/2")}),
    ("amplification_curve", {"subject": W, "delta": num("1/8"), "users": Several((2, 3)), "rtol": num("1/4")}),
    ("amplification_curve", {"subject": W, "delta": F(1, 8), "users": [3], "rtol": HALF, "bits": Integer(64)}),
    *(
        ("amplification_curve", {"subject": W, "delta": F(1, 8), "users": [3], "rtol": HALF} | one)
        for key, one in COVERING.items()
        if key != "min_batch_size"
    ),
    *front("largest_eps0", source=OPEN, delta=num("1/8"), eps=num("1/2"), rtol=num("1/4"), bits=Integer(64), whom=""),
    ("largest_eps0", {"subject": OPEN, "n": 9, "delta": F(1, 8), "exp_eps": num("3/2"), "rtol": HALF}),
    (
        "largest_eps0",
        {"subject": OPEN, "n": 9, "delta": F(1, 8), "eps": HALF, "rtol": HALF, "min_batch_size": Integer(4)},
    ),
    ("smallest_n", {"subject": W, "delta": num("1/8"), "eps": num("1/2"), "bits": Integer(64)}),
    ("smallest_n", {"subject": W, "delta": F(1, 8), "exp_eps": num("3/2"), "null": law("1/2 1/2")}),
    ("smallest_n", {"subject": W, "delta": F(1, 8), "eps": HALF, "dropout": num("1/4")}),
    ("smallest_n", {"subject": W, "delta": F(1, 8), "eps": HALF, "group_size": Integer(2)}),
    ("delta", {"subject": USERS, "eps": num("1/2"), "rtol": num("1/16"), "bits": Integer(64)}),
    ("delta", {"subject": USERS, "exp_eps": num("3/2")}),
    ("delta", {"subject": W, "n": 3, "eps": HALF, "periods": Integer(2), "rtol": HALF}),
    ("delta", {"subject": W, "n": 3, "eps": HALF, "reports": Integer(2), "rtol": HALF}),
    ("delta", {"subject": W, "n": 3, "eps": HALF, "colluding": Integer(2)}),
    ("delta", {"subject": W, "n": 3, "eps": HALF, "colluding": num("1/4")}),
    ("delta", {"subject": W, "n": 3, "eps": HALF, "threshold": Integer(2)}),
    ("epsilon", {"subject": USERS, "delta": num("1/8"), "rtol": num("1/16"), "bits": Integer(64)}),
    ("any_ldp", {"eps0": num("1/2")}),
    ("any_ldp", {"lam": num("3/2")}),
    ("any_ldp", {"lam": F(2), "delta0": num("0")}),
    ("sweep", {"question": "delta", "subject": W, "eps": num("1/2"), "n": 3}),
    ("hockey_stick", {"p": law("1/4 3/4"), "q": law("1/2 1/2"), "gamma": num("3/2")}),
    ("chi_square", {"p": law("1/4 3/4"), "q": law("1/2 1/2")}),
    ("direct_sum", {"channels": [W, W], "weights": law("1/4 3/4")}),
    ("parallel", {"parts": [RR, RR], "weights": law("1/4 3/4")}),
    ("subsample", {"part": RR, "probability": num("1/4")}),
    ("hamming", {"composition": joint(RR, RR), "distance": Integer(1)}),
    ("recompute", {"law": LAW, "n": Integer(2), "digits": Integer(8), "least": Integer(4)}),
    ("compare", {"k": Integer(3), "n": Integer(9), "eps0": num("1"), "mechanisms": ["krr"], "rtol": num("1/4")}),
    ("compare", {"k": 3, "n": 9, "budget": num("1/4"), "mechanisms": ["krr"], "variants": Integer(1)}),
    ("compare", {"k": 3, "n": 99, "eps": num("1/2"), "delta": num("1/64"), "mechanisms": ["krr"], "rtol": 0.1}),
    ("optimal", {"problem": PROBLEM, "eps0": num("1/2"), "rtol": num("1/64"), "criterion": "minimax"}),
    ("binary_envelope", {"experiment": Contamination(3), "lam": num("2"), "gamma": num("3/2")}),
    ("binary_envelope", {"experiment": Contamination(3), "eps0": num("1/2"), "gamma": F(1)}),
    ("optimal_subset_sizes", {"k": Integer(5), "lam": num("5/2")}),
    ("optimal_subset_sizes", {"k": 5, "eps0": num("1/2")}),
    ("trace_frontier", {"k": Integer(3), "budget": num("1/4"), "lam_cap": num("3")}),
    ("trace_frontier", {"k": 3, "budget": num("1/4")}),
    ("likelihood_quotient", {"channel": W, "a": Integer(0), "b": Integer(1)}),
    ("shuffled_divergence", {"channel": W, "first": Several((0, 1)), "second": Several((1, 1)), "gamma": num("3/2")}),
    ("simplified_decomposition", {"channel": W, "pair": Several((0, 1))}),
    ("worst_curve", {"chi_square": num("1/4"), "n": Integer(3), "lam": num("2"), "exp_eps": num("3/2")}),
    ("channels.cyclic_group", {"m": Integer(3)}),
    ("channels.symmetric_group", {"m": Integer(3)}),
    ("channels.staircase_matrix", {"m": Integer(3), "lam": num("3/2")}),
    ("channels.dominating_extremal", {"channel": W, "lam": num("4")}),
    (
        "channels.law_divergence",
        {"first": shuffled_law(W, (0, 1)), "second": shuffled_law(W, (1, 1)), "gamma": num("3/2")},
    ),
    (
        "channels.worst_shuffled_divergence",
        {"channel": W, "pair": Several((0, 1)), "n": Integer(2), "gamma": num("3/2")},
    ),
    (
        "decompositions.stronger_clone",
        {"channel": W, "pair": Several((0, 1)), "lam": num("4"), "others": Several((0,)), "position": num("1/2")},
    ),
    ("decompositions.stronger_clone", {"channel": W, "pair": (0, 1), "eps0": num("3/2")}),
    ("accountants.evaluate_law", {"law": LAW, "n": Integer(2), "rtol": num("1/64")}),
    ("accountants.standard_clone", {"lam": num("2"), "exp_eps": num("3/2"), "n": Integer(3), "rtol": num("1/64")}),
    ("accountants.standard_clone", {"eps0": num("1/2"), "exp_eps": F(3, 2), "n": 3}),
    ("utility.best_shrinkage_risk", {"k": Integer(3), "trace": num("1/2"), "n": Integer(4)}),
    ("utility.minimax_sandwich", {"k": Integer(3), "trace": num("1/2"), "n": Integer(4)}),
    ("utility.canonical_risk", {"law": ANCHORED, "composition": law("1/4 3/4"), "n": Integer(4), "population": "iid"}),
    ("utility.enumerated_risk", {"channel": W, "composition": law("1/4 3/4"), "n": Integer(4), "population": "iid"}),
    ("utility.worst_canonical_risk", {"law": ANCHORED, "n": Integer(4), "population": "iid"}),
    ("utility.certify_envelope", {"channel": W, "i": Integer(0), "j": Integer(1), "lam": num("3")}),
    ("utility.endpoint_law", {"lam": num("3/2")}),
    ("utility.endpoint_law", {"eps0": num("3/2")}),
    ("utility.fiber", {"law": ANCHORED, "composition": law("1/4 3/4")}),
    ("utility.transport", {"source": fiber(ANCHORED, (HALF, HALF)), "composition": law("1/4 3/4")}),
    ("utility.project", {"u": law("1/2 3/2"), "composition": law("1/4 3/4")}),
    ("utility.template_budget", {"u": law("1/2 3/2")}),
    ("utility.template_signal", {"u": law("1/2 3/2")}),
    ("utility.gaussian_scale", {"chi_square": num("1/4"), "n": Integer(3), "bits": Integer(64)}),
    ("utility.largest_chi_square", {"lam": num("3/2")}),
    ("utility.largest_chi_square", {"eps0": num("3/2")}),
    ("utility.ratio_law", {"channel": W, "i": Integer(0), "j": Integer(1)}),
    ("utility.leakage", {"channel": W, "i": Integer(0), "j": Integer(1), "n": Integer(3), "eps": num("1/2")}),
    ("utility.leakage", {"channel": W, "i": 0, "j": 1, "n": 3, "gamma": num("3/2"), "rtol": num("1/64")}),
    ("utility.leakage", {"channel": W, "i": 0, "j": 1, "n": 3, "divergence": "renyi", "order": num("2")}),
    (
        "utility.shuffled_leakage",
        {"ratio": RATIO, "experiment": Contamination(3), "gamma": num("3/2"), "rtol": num("1/64")},
    ),
    ("utility.rigidity_gap", {"ratio": RATIO, "experiment": Contamination(3), "lam": num("4")}),
    ("utility.matched_ratio", {"k": Integer(5), "s": Integer(2), "budget": num("1/4"), "lam_cap": num("4")}),
    ("utility.thinning_gain", {"k": Integer(5), "budget": num("1/4")}),
    (
        "utility.optimal_equivariant_risk",
        {"k": Integer(5), "budget": num("1/4"), "n": Integer(4), "population": "iid", "lam_cap": num("4")},
    ),
    ("utility.raw_cap_trace", {"k": Integer(5), "lam": num("5/2"), "bits": Integer(64)}),
    ("utility.raw_cap_trace", {"k": 5, "eps0": num("1/2")}),
    ("utility.slope_constant", {"k": Integer(5), "bits": Integer(64)}),
    ("utility.threshold_budget", {"k": Integer(5), "bits": Integer(64)}),
    ("utility.tie_ratio", {"k": Integer(5), "s": Integer(1), "bits": Integer(64)}),
    ("utility.law_formulas", {"mechanism": RR, "n": Integer(4), "gamma": num("3/2")}),
    ("design.smoothed_point_masses", {"m": Integer(3), "gamma": num("1/4")}),
    ("design.cardioid_program", {"m": Integer(3), "gamma": num("1/4")}),
    ("design.weighted_guessing_breakpoints", {"prior": law("1/4 3/4")}),
    ("design.weighted_guessing_problem", {"prior": law("1/4 3/4")}),
    ("design.weighted_guessing_risk", {"prior": law("1/4 3/4"), "lam": num("3/2")}),
    ("design.maximise", {"measure": MEASURE, "lam": num("3/2")}),
    ("design.maximise", {"measure": MEASURE, "eps0": num("1/2"), "rtol": num("1/64")}),
    ("design.f_divergence", {"p": law("1/4 3/4"), "q": law("1/2 1/2"), "generator": lambda t: (t - 1) * (t - 1)}),
    ("optimal", {"problem": PROBLEM, "lam": num("3/2"), "group": cyclic_group(3)}),
    (
        "design.best_shuffled",
        {"k": Integer(3), "n": Integer(4), "eps": num("1"), "delta": num("1/8"), "lam_cap": num("4")},
    ),
    ("design.best_shuffled", {"k": 3, "n": 4, "exp_eps": num("3"), "delta": F(1, 8), "lam_cap": F(4)}),
    (
        "design.shuffled_sizes",
        {"inputs": Several((3,)), "users": Several((4,)), "eps": num("1"), "delta": num("1/8")},
    ),
    ("design.shuffled_sizes", {"inputs": (3,), "users": (4,), "exp_eps": num("3"), "delta": F(1, 8)}),
    ("collect.audit_local", {"source": W, "runs": Integer(500), "confidence": num("3/4")}),
    ("collect.audit_shuffled", {"source": W, "n": Integer(2), "runs": Integer(500), "confidence": num("3/4")}),
    ("collect.audit_pair", {"first": "a", "second": "b", "runs": Integer(500), "eps": num("1/2"), "delta": num("0")}),
    ("collect.audit_pair", {"first": "a", "second": "b", "runs": 500, "exp_eps": num("3/2"), "confidence": num("3/4")}),
    (
        "collect.audit_samples",
        {"first": ["a", "b"] * 20, "second": ["a", "b"] * 20, "eps": num("1/2"), "delta": num("0")},
    ),
    (
        "collect.audit_samples",
        {"first": ["a", "b"] * 20, "second": ["a", "b"] * 20, "exp_eps": num("3/2"), "confidence": num("3/4")},
    ),
    ("collect.confidence_ends", {"count": Integer(2), "runs": Integer(9), "level": num("1/8")}),
    ("collect.named_claim", {"name": "krr", "parameters": {"k": "3"}, "eps0": num("1/2")}),
    ("collect.named_claim", {"name": "krr", "parameters": {"k": "3"}, "lam": num("3/2")}),
    ("collect.simulate", {"plan": PLAN, "seed": 1, "confidence": num("3/4")}),
    (
        "utility.bayes_risk",
        {"channel": W, "prior": [((HALF, HALF), F(1, 4)), ((F(1), F(0)), F(3, 4))], "n": Integer(2)},
    ),
    ("accountants.blanket_bennett", {"variable": VARIABLE, "n": Integer(5), "bits": Integer(64)}),
    ("accountants.blanket_hoeffding", {"variable": VARIABLE, "n": Integer(5), "bits": Integer(64)}),
    (
        "collect.plan_survey",
        {"k": Integer(3), "n": Integer(9), "eps": num("1"), "delta": num("1/8"), "mechanism": "krr"},
    ),
    (
        "collect.plan_survey",
        {"k": 3, "n": 9, "eps": 1, "delta": F(1, 8), "mechanism": "krr", "min_batch_size": Integer(4)},
    ),
    ("vectors.err1", {"mechanism": LINE, "bits": Integer(64)}),
    ("vectors.errn", {"mechanism": LINE, "n": Integer(3), "bits": Integer(64)}),
    ("vectors.hcr_bound", {"mechanism": LINE, "bits": Integer(64)}),
    ("vectors.shuffle_index", {"mechanism": LINE, "side": "lower", "bits": Integer(64)}),
    ("vectors.gaussian_index_series", {"order": Integer(3)}),
    ("vectors.gaussian_noise_series", {"order": Integer(3)}),
    ("vectors.one_coefficient_error", {"constant": num("3/2"), "dimension": Integer(3), "chi": num("1/4")}),
    ("vectors.minimal_unbiased_risk", {"channel": W, "targets": Table(((F(1),), (F(0),)))}),
    ("vectors.shuffled_problem", {"channel": W, "targets": Table(((F(1),), (F(0),))), "n": Integer(2)}),
    # classes whose objects users make
    ("Group", {"randomizer": W, "count": Integer(9), "min_batch_size": Integer(2)}),
    ("Group", {"randomizer": W, "count": 9, "dropout": num("1/4")}),
    ("Group", {"randomizer": W, "count": 9, "colluding": Integer(2)}),
    ("Group", {"randomizer": Table(W.rows), "count": 9, "colluding": num("1/4")}),
    ("Adjacency", {"group_size": Integer(2), "null": law("1/4 3/4")}),
    ("Adjacency", {"pairs": Table(((F(0), F(1)), (F(1), F(2))))}),
    ("Adjacency", {"graph": Table(((F(0), F(1)), (F(1), F(2))))}),
    ("Adjacency", {"datasets": Table(((F(0), F(1)), (F(1), F(1))))}),
    ("Deployment", {"groups": Table(W.rows), "reports": Integer(2), "periods": Integer(3), "threshold": Integer(2)}),
    ("Contamination", {"n": Integer(3)}),
    ("Laplace", {"lam": num("3/2"), "cells": Integer(9)}),
    ("FFT", {"step": num("1/4"), "largest": Integer(99), "rtol": num("1/64")}),
    ("BallContour", {"rtol": num("1/64"), "bits": Integer(64), "largest": Integer(99), "goal": num("1/4")}),
    ("Contour", {"rtol": num("1/64"), "largest": Integer(99), "goal": num("1/4")}),
    ("Counts", {"rtol": num("1/64"), "bits": Integer(64), "largest": Integer(99)}),
    (
        "Exact",
        {
            "bits": Integer(64),
            "largest_power": Integer(99),
            "largest_count": Integer(99),
            "largest_sum": Integer(99),
        },
    ),
    ("Sparse", {"rtol": num("1/64"), "bits": Integer(64), "largest": Integer(99)}),
    ("channels.MaximalPolytope", {"m": Integer(3), "lam": num("3/2")}),
    ("channels.SymmetryGroup", {"m": Integer(3), "generators": ((1, 2, 0),)}),
    ("design.ExtremalChannel", {"m": Integer(3), "lam": num("3/2")}),
    ("design.ExtremalChannel", {"m": 3, "eps0": num("1/2")}),
    ("collect.Support", {"n": Integer(9), "p": num("3/4"), "q": num("1/4")}),
    ("collect.Program", {"command": "cat", "per_process": Integer(9), "timeout": num("5/2")}),
    (
        "vectors.BlanketMixedGaussian",
        {"gamma": num("1/2"), "sigma0": num("2"), "norm": num("1/2"), "dimension": Integer(2)},
    ),
    ("vectors.central_error", {"sigma": num("3/2"), "dimension": Integer(2), "n": Integer(3)}),
    ("vectors.ClippedLinear", {"clip": num("-1/4"), "dimension": Integer(3), "chi": num("3")}),
    ("vectors.LocalGaussian", {"sigma0": num("3/2"), "dimension": Integer(2)}),
    ("vectors.LocalLaplace", {"scale": num("3/2")}),
    ("vectors.PrivUnit", {"p": num("3/4"), "theta": num("1/4"), "dimension": Integer(3)}),
    ("vectors.SphereLinear", {"c": num("1/4"), "dimension": Integer(3)}),
    # methods
    ("Channel.from_rows", {"rows": Table(W.rows)}),
    ("Channel.is_ldp", {"self": W, "lam": num("3/2")}),
    ("Channel.is_ldp", {"self": W, "eps0": num("3/2")}),
    ("Channel.column", {"self": W, "output": Integer(1)}),
    ("Channel.likelihood_ratios", {"self": W, "numerator": Integer(1), "denominator": Integer(0)}),
    ("Channel.restrict", {"self": W, "inputs": Several((1, 0))}),
    ("Channel.merge", {"self": W, "groups": Table(((F(0), F(1)),))}),
    ("AnchoredLaw.mixture", {"self": ANCHORED, "composition": law("1/4 3/4")}),
    ("AnchoredLaw.row_second_moment", {"self": ANCHORED, "x": Integer(1)}),
    ("AnchoredLaw.pairwise_divergence", {"self": ANCHORED, "i": Integer(1), "j": Integer(0)}),
    ("Contamination.of", {"first": Several((0, 1)), "second": Several((1, 1))}),
    ("Problem.of", {"model": Table(W.rows), "loss": Table(UNIT), "prior": law("1/4 3/4")}),
    ("Problem.with_prior", {"self": PROBLEM, "prior": law("1/4 1/4 1/2")}),
    ("Problem.posterior_costs", {"self": PROBLEM, "prior": law("1/4 1/4 1/2")}),
    ("Problem.risk", {"self": PROBLEM, "channel": KRR.channel(), "rule": Table(((F(1), F(0), F(0)),) * 3)}),
    ("Problem.action_risks", {"self": PROBLEM, "rows": Table(((F(1), F(0), F(0)),) * 3)}),
    ("Deployment.with_", {"self": Deployment(W), "periods": Integer(2), "n": Integer(5), "threshold": Integer(2)}),
    ("GaussianLimit.tradeoff", {"self": GaussianLimit(0.5), "type_i": num("1/4")}),
    ("GaussianLimit.renyi", {"self": GaussianLimit(0.5), "order": num("3/2")}),
    ("Group.of_dummies", {"count": Integer(3), "distribution": law("1/4 3/4")}),
    ("Group.colluders", {"self": Group(W, 9, colluding=2), "n": Integer(9)}),
    ("Laplace.at", {"self": Laplace(), "lam": num("3/2"), "cells": Integer(9)}),
    ("Laplace.at", {"self": Laplace(), "eps0": num("3/2")}),
    ("Laplace.mixed_law", {"self": Laplace(TWO), "exp_eps": num("3/2"), "bits": Integer(64)}),
    ("Laplace.law", {"self": Laplace(TWO), "exp_eps": num("3/2"), "bits": Integer(64), "side": "upper"}),
    ("Laplace.background", {"self": Laplace(TWO), "exp_eps": num("3/2"), "bits": Integer(64)}),
    ("LikelihoodRatio.of", {"channel": W, "a": Integer(0), "b": Integer(1)}),
    ("LikelihoodRatio.dilute", {"self": QUOTIENT, "eta": num("1/4")}),
    (
        "LikelihoodRatio.profile",
        {"self": QUOTIENT, "n": Integer(3), "exp_eps": num("3/2"), "rtol": HALF},
    ),
    ("LikelihoodRatio.profile", {"self": QUOTIENT, "n": 3, "eps": num("1/2"), "rtol": num("1/4")}),
    ("Mechanism.at", {"self": randomizer("krr"), "k": Integer(3), "lam": num("3/2")}),
    ("Mechanism.at", {"self": randomizer("krr"), "k": 3, "eps0": num("3/2")}),
    ("Mechanism.at", {"self": randomizer("aug-rr"), "k": 3, "lam": 2, "p": num("1/4")}),
    ("Mechanism.from_matrix", {"name": "own", "rows": Table(W.rows), "parameters": ()}),
    ("collect.Support.interval", {"self": Support(9, F(3, 4), F(1, 4)), "count": Integer(3), "alpha": num("1/8")}),
    ("collect.Support.possible", {"self": Support(9, F(3, 4), F(1, 4)), "count": Integer(3), "alpha": num("1/8")}),
    ("accountants.BlanketVariable.laplace", {"lam": num("3/2"), "exp_eps": num("3/2"), "bits": Integer(64)}),
    ("collect.SurveyPlan.guarantee", {"self": PLAN, "messages": Integer(9), "users": Integer(9)}),
    ("Bracket.contains", {"self": BRACKET, "value": num("3/8")}),
    ("Bracket.shifted", {"self": BRACKET, "amount": num("3/8")}),
    ("Bracket.scaled", {"self": BRACKET, "factor": num("3/8")}),
]
"""One or several calls of each public function that takes numbers, of classes and of methods; names below
``symshuffle``."""
