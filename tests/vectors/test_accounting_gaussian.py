"""The central mechanism: its profile against quadrature, calibration, templates, and the calibrated mixture."""

import math
from fractions import Fraction

import pytest
from mpmath import mp

from symshuffle.vectors.calibration.search import calibrate
from symshuffle.vectors.randomizers.gaussian import calibrate_gaussian, gaussian_profile


@pytest.mark.parametrize(("s", "eps"), [("1", "1"), ("100", "0.05"), ("0.5", "10"), ("1000", "0.003")])
def test_profile_is_the_integral(s, eps):
    value = gaussian_profile(Fraction(s), eps=eps)
    with mp.workdps(40):
        noise, level = mp.mpf(s), mp.mpf(eps)
        start = level * noise - 1 / (2 * noise)

        def density(t):
            return (1 - mp.exp(level - (t + 1 / (2 * noise)) / noise)) * mp.npdf(t)

        integral = mp.quad(
            density, [start, *(start + mp.mpf(k) / 16 for k in range(1, 33)), start + 4, start + 12, start + 40]
        )
        assert abs(mp.mpf(value.midpoint.numerator) / value.midpoint.denominator / integral - 1) < mp.mpf("1e-15")


def test_deep_tails_keep_their_digits():
    value = gaussian_profile(Fraction(100), eps=1)
    assert value.upper < Fraction(1, 10**2000)
    assert value.radius < value.lower / 10**15


def test_calibration_inverts_the_profile():
    found = calibrate_gaussian(eps="0.0002", delta="1e-5")
    assert float(found.upper) / 100 == pytest.approx(58.837257680071, rel=1e-12)
    assert (
        gaussian_profile(found.upper, eps="0.0002").upper
        <= Fraction(1, 10**5)
        < gaussian_profile(found.lower, eps="0.0002").upper
    )


def test_calibrated_mixture_meets_its_target():
    found = calibrate("bmg", n=10**4, dimension=1, eps="0.001", delta="1e-5", adjacency="zero-out", gap=None)
    assert found.certificate.bracket.upper <= Fraction(1, 10**5)
    assert found.gaussian_rmse == pytest.approx(0.17242590335838, rel=1e-10)
    assert found.gaussian_rmse < found.rmse <= 0.1946877289063 * (1 + 1e-5)  # the rule by index alone gives this
    assert math.isclose(float(found), found.rmse)
