"""Two Gaussians a distance apart: Mills' ratio and its slope on both sides of 30, and the roots that read them back."""

import math

import mpmath
import pytest

from symshuffle.accountants import gaussian_profile as module
from symshuffle.accountants.gaussian_profile import distance, level, log_profile, rising_root


def mills(x):
    """(1 - Phi(x)) / phi(x), and minus its derivative 1 - x (1 - Phi)/phi, in fifty digits."""
    with mpmath.workdps(50):
        x = mpmath.mpf(x)
        found = mpmath.erfc(x / mpmath.sqrt(2)) / 2 / mpmath.npdf(x)
        return float(found), float(1 - x * found)


@pytest.mark.parametrize(
    ("x", "off"), [(-3.0, 1e-14), (0.0, 1e-15), (1.0, 1e-14), (29.9, 1e-12), (30.0, 2e-9), (60.0, 1e-11), (1e4, 1e-14)]
)
def test_mills_ratio_and_its_slope(x, off):
    """From 30 on by four terms of a series, whose next one is ``945 / x^8`` of the first: 1.4e-9 at 30, 6e-12 at 60."""
    ratio, slope = mills(x)
    assert module._fall(x) == pytest.approx(slope, rel=max(off, 1e-13 * x * x if x < 30 else 0))
    assert module._mills(x) == pytest.approx(ratio, rel=max(off / max(x * x, 1) * 2, 1e-14))


@pytest.mark.parametrize(("eps", "mu"), [(0.0, 1e-3), (0.0, 1.0), (0.3, 0.9999), (0.3, 1.0001), (5.0, 2.0)])
def test_the_profile_by_its_definition(eps, mu):
    """Phi(-a) - exp(eps) Phi(-b), a = eps/mu - mu/2 and b = eps/mu + mu/2."""
    with mpmath.workdps(50):
        a, b = mpmath.mpf(eps) / mu - mpmath.mpf(mu) / 2, mpmath.mpf(eps) / mu + mpmath.mpf(mu) / 2
        exact = mpmath.log(mpmath.ncdf(-a) - mpmath.exp(eps) * mpmath.ncdf(-b))
    assert log_profile(eps, mu) == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("mu", [1e-12, 1e-9, 1e-3, 5.0])
def test_a_distance_is_found_again_however_small(mu):
    assert math.exp(distance(0.0, log_profile(0.0, mu))) == pytest.approx(mu, rel=1e-8)


def test_the_level_is_0_where_the_target_is_met_there():
    start = log_profile(0.0, 0.5)
    assert level(0.5, start) == level(0.5, start + 0.1) == level(0.5, -1e-9) == 0
    assert 0 < level(0.5, start - 1e-6) < 1e-5


@pytest.mark.parametrize(("mu", "times"), [(1e-9, 1.0), (0.5, 1e-6), (0.5, 8.0), (2.0, 30.0)])
def test_a_level_is_found_again(mu, times):
    assert level(mu, log_profile(mu * times, mu)) == pytest.approx(mu * times, rel=1e-6)


class Counted:
    def __init__(self, function):
        self.function, self.asked = function, []

    def __call__(self, x):
        self.asked.append(x)
        return self.function(x)


@pytest.mark.parametrize("root", [0.3, 3.0, 7.5])
def test_the_secant_of_a_line_is_its_root(root):
    """After both ends and the middle; what the secants leave of the other side is then halved."""
    line = Counted(lambda x: 7 * (x - root))
    assert rising_root(line, -1.0, 8.0) == pytest.approx(root, rel=1e-12)
    assert line.asked[:4] == pytest.approx([-1.0, 8.0, 3.5, root], rel=1e-12)
    assert len(line.asked) <= 70
    assert all(-1 <= x <= 8 for x in line.asked)


def test_roots_where_secants_creep():
    """x^9 - 1e-6 hardly moves at first: a third of the steps halve, so that 120 are plenty."""
    steep = Counted(lambda x: x**9 - 1e-6)
    assert rising_root(steep, -1.0, 1e3) == pytest.approx(1e-6 ** (1 / 9), rel=1e-9)
    assert len(steep.asked) <= 122
    assert all(-1 <= x <= 1e3 for x in steep.asked)


@pytest.mark.parametrize("error", [ValueError, OverflowError])
def test_what_fails_counts_as_below_0(error):
    def rising(x):
        if x < 0.7:
            raise error
        return x - 0.9

    assert rising_root(rising, 0.0, 1.0) == pytest.approx(0.9, rel=1e-12)
    assert rising_root(lambda x: rising(x) if x < 1 else rising(0), 0.0, 1.0) == pytest.approx(0.9, rel=1e-12)


def test_wide_and_narrow_ends():
    assert rising_root(lambda x: x - 1e6, 1e6 - 1e-12, 1e6 + 1e-12) == pytest.approx(1e6, rel=1e-15)
    near = Counted(lambda x: x - 1e6)
    rising_root(near, 1e6, 1e6 * (1 + 0.9e-15))
    assert len(near.asked) == 2  # as close as doubles tell them
