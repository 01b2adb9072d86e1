"""Parameters out of range, samplers against exact moments, and PrivUnit's numbers by two roads."""

from fractions import Fraction

import numpy as np
import pytest

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp, enclose, less
from symshuffle.vectors import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
    central_error,
)
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.randomizers.sampling import estimate, sample, shrinkage
from symshuffle.vectors.randomizers.sphere import epsilon0, privunit_at, sphere_linear_at

MECHANISMS = [
    BlanketMixedGaussian("0.5", "1", 1, 3),
    PrivUnit("0.7", "0.3", 3),
    PrivUnit("0.4", "-0.3", 2),
    PrivUnit("0.9", "0.8", 10),
    SphereLinear("0.8", 3),
    SphereLinear("0.8", 1),
    ClippedLinear("-0.3", 5, 2),
    LocalGaussian(2, 3),
    LocalLaplace(2),
]


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: BlanketMixedGaussian("0.5", 1, "1.01"), "norm"),
        (lambda: BlanketMixedGaussian("nan", 1), "gamma"),
        (lambda: PrivUnit(1, 0, 3), "p"),
        (lambda: LocalLaplace(0), "scale"),
        (lambda: central_error(0, 1, 5), "sigma"),
        (lambda: privunit_at(Fraction(1), 0, 3), "lam"),
    ],
)
def test_parameters_out_of_range_are_named(build, argument):
    with pytest.raises(InputError, match=f"^{argument} = "):
        build()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_estimates_have_the_exact_mean_and_error(mechanism):
    rng = np.random.default_rng(12)
    x = np.zeros((40_000, mechanism.dimension))
    x[:, 0] = 1
    found = estimate(mechanism, sample(mechanism, x, rng))
    error = float(err1(mechanism, on_sphere=True))
    assert np.abs(found.mean(axis=0) - x[0]).max() < 5 * (error / len(x)) ** 0.5
    assert ((found - x) ** 2).sum(axis=1).mean() == pytest.approx(error, rel=0.06)


def test_mean_message_of_the_linear_density_is_exact():
    # E[u (1 + c <u, x>)] = c x / d, because E[u u^T] = I / d on the sphere.
    assert shrinkage(SphereLinear("1/2", 5)) == Fraction(1, 10)
    assert shrinkage(BlanketMixedGaussian("0.95", 1)) == Fraction(1, 20)


def test_local_level_replaces_a_parameter_and_is_never_exceeded():
    for lam in (Exp(Fraction(1)), Fraction(3)):
        level = enclose(lam, 128).arb().log()
        for mechanism in (privunit_at(lam, "1/10", 10), sphere_linear_at(lam, 3)):
            found = epsilon0(mechanism)
            assert found.upper <= Fraction(float(level)) + Fraction(1, 10**12)
            assert float(found) == pytest.approx(float(level), abs=1e-15)
    assert less(epsilon0(SphereLinear("1/2", 3)), Fraction(110, 100))


def test_an_uninformative_privunit_has_no_estimate():
    with pytest.raises(InputError, match="p = 1/2"):
        estimate(PrivUnit("1/2", 0, 3), [[1.0, 0.0, 0.0]])
