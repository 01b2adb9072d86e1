"""Integers at public doors: those of NumPy are, truth values and doubles are not; a refusal names the argument."""

from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import Channel, InputError, Laplace, delta, mechanism, solve_n
from symshuffle.accountants import adversary, curves, evaluate
from symshuffle.accountants.confirm import confirm
from symshuffle.design import smoothed_point_masses
from symshuffle.design.named.cardioid_formula import cardioid_design
from symshuffle.estimation import canonical, lower_bounds
from symshuffle.frontiers import caps, envelope, subset_family
from symshuffle.geometry import extremal
from symshuffle.law import Law
from symshuffle.likelihood import certificates, extremes
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, SphereLinear

W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
LAW = Law((F(-1), F(1)), (F(1, 2), F(1, 2)))
LEVEL = {"exp_eps": "6/5"}
DOORS = {
    "delta.n": (4, lambda v: delta(W, n=v, **LEVEL).bracket),
    "delta.bits": (64, lambda v: delta(W, n=3, **LEVEL, bits=v).bracket),
    "solve_n.bits": (64, lambda v: solve_n(W, eps="1/2", delta="1/10", bits=v).bracket),
    "Request.bits": (64, lambda v: evaluate.Request(bits=v)),
    "spaced.points": (4, lambda v: curves.spaced(0, 1, v)),
    "tradeoff_curve.levels": (4, lambda v: curves.tradeoff_curve(W, n=3, alphas=[0], levels=v).points),
    "amplification_curve.n": (4, lambda v: curves.amplification_curve(W, delta="1/10", users=[v], rel=0.1).points),
    "worst_constant.n": (4, lambda v: adversary.worst_of_two_types(W, v, F(6, 5)).bracket),
    "confirm.n": (4, lambda v: confirm(LAW, v, digits=10)),
    "mechanism.k": (4, lambda v: mechanism("krr").at(k=v, lam=2)),
    "mechanism.s": (2, lambda v: mechanism("subset-selection").at(k=5, s=v, lam=2)),
    "mechanism.D": (4, lambda v: mechanism("rappor").at(D=v, lam=2)),
    "Laplace.cells": (4, lambda v: Laplace(F(2), cells=v)),
    "Contamination.n": (4, envelope.Contamination),
    "raw_cap_trace.k": (4, lambda v: caps.raw_cap_trace(v, F(2))),
    "optimal_subset_sizes.k": (4, lambda v: caps.optimal_subset_sizes(v, F(2))),
    "subset_template.s": (2, lambda v: caps.subset_template(5, v, F(2))),
    "largest_budget.k": (4, lambda v: subset_family.largest_budget(v, F(2))),
    "staircase_matrix.m": (3, lambda v: extremal.staircase_matrix(v, F(2))),
    "MaximalPolytope.m": (3, lambda v: extremal.MaximalPolytope(v, F(2))),
    "smoothed_point_masses.m": (3, lambda v: smoothed_point_masses(v, 1)),
    "cardioid_design.m": (4, lambda v: cardioid_design(v, F(1, 2), F(2)).bracket),
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
