"""Parameters out of range, samplers against exact moments, and PrivUnit's numbers by two roads."""

from fractions import Fraction

import flint
import numpy as np
import pytest

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp, enclose, less
from symshuffle.vectors import (
    BlanketMixedGaussian,
    CentralGaussian,
    ClippedLinear,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.randomizers.sampling import estimate, sample, shrinkage
from symshuffle.vectors.randomizers.sphere import (
    cap_numbers,
    cap_numbers_float,
    density_constant,
    epsilon0,
    partial_moments,
    privunit_at,
    sphere_linear_at,
)

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
        (lambda: BlanketMixedGaussian(1, 1), "gamma"),
        (lambda: BlanketMixedGaussian(0, 1), "gamma"),
        (lambda: BlanketMixedGaussian("0.5", 0), "sigma0"),
        (lambda: BlanketMixedGaussian("0.5", 1, "1.01"), "norm"),
        (lambda: BlanketMixedGaussian("0.5", 1, 1, 0), "dimension"),
        (lambda: BlanketMixedGaussian("nan", 1), "gamma"),
        (lambda: PrivUnit("0.6", 1, 3), "theta"),
        (lambda: PrivUnit("0.6", -1, 3), "theta"),
        (lambda: PrivUnit(1, 0, 3), "p"),
        (lambda: PrivUnit("0.6", 0, 1), "dimension"),
        (lambda: SphereLinear(1, 3), "c"),
        (lambda: LocalGaussian(-1), "sigma0"),
        (lambda: LocalLaplace(0), "scale"),
        (lambda: CentralGaussian(0, 1), "sigma"),
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


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if isinstance(m, PrivUnit)], ids=str)
def test_privunit_numbers_agree_with_scipy_and_with_quadrature(mechanism):
    found = cap_numbers(mechanism)
    assert cap_numbers_float(mechanism) == pytest.approx(
        [float(found.q), float(found.alpha), float(found.shrinkage)], rel=1e-12
    )
    theta, d = flint.arb(mechanism.theta.numerator) / mechanism.theta.denominator, mechanism.dimension
    constant = density_constant(d)
    # In the angle the density has no singularity; the mean message is that of h, by quadrature.
    edge = float(mechanism.theta)
    angle = np.arccos(edge)
    for lower, upper, share in ((0.0, angle, float(found.high)), (angle, np.pi, float(found.low))):
        grid = np.linspace(lower, upper, 20001)
        mass = share * np.trapezoid(np.sin(grid) ** (d - 2), grid) * float(constant)
        assert mass == pytest.approx(float(mechanism.p if lower == 0 else 1 - mechanism.p), abs=1e-7)
    moments = partial_moments(theta, d)
    assert float(moments[0]) == pytest.approx(float(found.q))


@pytest.mark.parametrize("d", [2, 3, 8])
def test_partial_moments_agree_with_quadrature(d):
    clip = flint.arb("0.3")
    angle = np.linspace(np.arccos(0.3), np.pi, 200_001)
    weight = np.sin(angle) ** (d - 2) * float(density_constant(d))
    for power, moment in enumerate(partial_moments(clip, d)):
        assert float(moment) == pytest.approx(np.trapezoid(np.cos(angle) ** power * weight, angle), abs=1e-9)


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


@pytest.mark.parametrize(
    ("mechanism", "vectors", "message"),
    [
        (ClippedLinear(0, 2, 3), [[0.5, 0.0]], "unit vector"),
        (LocalGaussian(1, 2), [[1.0, 1.0]], r"vectors\[0\] = length 1.41421"),
        (LocalGaussian(1, 2), [[0.0, 0.0], [float("nan"), 0.0]], r"vectors\[1\]"),
        (LocalGaussian(1, 2), [[0.0]], "shape"),
        (PrivUnit("0.6", 0, 2), [[0.5, 0.0]], "unit vector"),
        (BlanketMixedGaussian("0.5", 1, "0.5", 2), [[0.6, 0.0]], "at most 0.5"),
    ],
)
def test_wrong_vectors_are_refused_and_never_clipped(mechanism, vectors, message):
    with pytest.raises(InputError, match=message):
        sample(mechanism, vectors, np.random.default_rng(0))


def test_an_uninformative_privunit_has_no_estimate():
    with pytest.raises(InputError, match="p = 1/2"):
        estimate(PrivUnit("1/2", 0, 3), [[1.0, 0.0, 0.0]])
