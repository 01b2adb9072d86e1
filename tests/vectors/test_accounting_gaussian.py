"""The central mechanism: deep tails, calibration, templates, and the calibrated mixture."""

import math
from fractions import Fraction

import pytest

from symshuffle.vectors.calibration.search import calibrate
from symshuffle.vectors.randomizers.gaussian import calibrate_gaussian, gaussian_profile


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
