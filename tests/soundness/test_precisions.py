"""A ball is nearly as narrow as the bits that are asked for, wherever they can be: none are lost on the way."""

from fractions import Fraction as F

import pytest

from proofs_checks._divergences import kl_divergence, renyi_divergence
from proofs_checks._limits import gaussian_profile
from proofs_checks.vecmean import _templates
from symshuffle.accountants import BlanketVariable
from symshuffle.accountants.literature import baselines
from symshuffle.utility import gaussian_scale
from symshuffle.vectors import ClippedLinear, PrivUnit, SphereLinear, err1, shuffle_index
from symshuffle.vectors.error import compare
from symshuffle.vectors.error.optimal import best_density, bmg_optimal
from symshuffle.vectors.privacy import correspondence
from symshuffle.vectors.randomizers.sphere import cap_numbers, clipped_numbers, epsilon0

VARIABLE = BlanketVariable(F(1, 2), F(1, 10), F(-2), F(2), F(1))
P, Q = [F(1, 2), F(1, 4), F(1, 4)], [F(1, 3)] * 3
DOORS = {
    "blanket_hoeffding": lambda bits: baselines.blanket_hoeffding(VARIABLE, 50, bits=bits),
    "blanket_bennett": lambda bits: baselines.blanket_bennett(VARIABLE, 50, bits=bits),
    "kl_divergence": lambda bits: kl_divergence(P, Q, bits=bits),
    "renyi_divergence": lambda bits: renyi_divergence(P, Q, F(3, 2), bits=bits),
    "privunit_constant": lambda bits: compare.privunit_constant(F(1, 4), 7, bits=bits),
    "sphere_linear_error": lambda bits: compare.sphere_linear_error(F(10), 7, bits=bits),
    "privunit_error": lambda bits: compare.privunit_error(F(10), 7, bits=bits),
    "clip": lambda bits: clipped_numbers(ClippedLinear("-1/5", 5, 1), bits=bits)[1],
    "best_density": lambda bits: best_density(10, 5, bits=bits).bracket,
    "bmg_optimal": lambda bits: bmg_optimal(10, 5, bits=bits).bracket,
    "cap_numbers": lambda bits: cap_numbers(PrivUnit("3/4", "1/4", 5), bits=bits).shrinkage,
    "epsilon0": lambda bits: epsilon0(SphereLinear("1/2", 5), bits=bits),
    "shuffle_index": lambda bits: shuffle_index(SphereLinear("1/2", 5), "lower", bits=bits).bracket,
    "central_profile": lambda bits: correspondence.central_profile(F(1), F(1, 2), 10, bits=bits),
    "decay_exponent": lambda bits: _templates.decay_exponent(F(1), F(1, 2), 10, bits=bits),
    "err1": lambda bits: err1(PrivUnit("3/4", "1/4", 5), bits=bits),
    "gaussian_profile": lambda bits: gaussian_profile(F(1, 2), eps=F(1), bits=bits),
    "gaussian_scale": lambda bits: gaussian_scale(F(1, 4), 10, bits=bits),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("bits", [64, 300])
def test_balls_are_as_narrow_as_their_bits(door, bits):
    found = DOORS[door](bits)
    lower, upper = found.lower, found.upper
    assert 0 < lower <= upper
    assert upper - lower <= upper * F(2) ** (16 - bits)
