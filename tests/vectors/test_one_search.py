"""One search behind `calibrate` and `mean`: near the best of a far wider box, and an answer to every loose target."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betainc
from scipy.stats import binom

import symshuffle
from symshuffle.base.errors import SymshuffleError
from symshuffle.vectors import ClippedLinear, PrivUnit, err1
from symshuffle.vectors.calibration.search import calibrate


def rmse(mechanism, n):
    return math.sqrt(float(err1(mechanism)) / (n * mechanism.dimension))


def cap_delta(p, outside, n, ratio):
    """Zero-out: who sends blanket messages in the cap, or beside it, is binomial. Of both orders, by hand."""
    low = (1 - p) / (1 - outside)  # the least density, a share of blanket messages
    first, null = np.array([p, 1 - p]), np.array([outside, 1 - outside])
    best = 0.0
    for one, other in ((first, null), (null, first)):
        gain = (one - ratio * other) / (null * low)
        heads = np.arange(n + 1)
        total = 0.0
        for messages in range(1, n + 1):  # of the blanket
            share = binom.pmf(messages, n, low)
            if share < 1e-18:
                continue
            k = heads[: messages + 1]
            value = np.maximum(gain[0] * k + gain[1] * (messages - k), 0) / n
            total += share * float(binom.pmf(k, messages, outside) @ value)
        best = max(best, total)
    return best


def widest_caps(n, d, ratio, delta, heights):
    """The least error of caps at these heights, each as likely as the target allows."""
    errors = []
    for theta in heights:
        outside = betainc((d - 1) / 2, 0.5, 1 - theta**2) / 2
        outside = outside if theta >= 0 else 1 - outside

        def excess(odds, outside=outside):
            p = outside + (1 - outside) / (1 + math.exp(-odds))
            return cap_delta(p, outside, n, ratio) - delta

        odds = brentq(excess, -12, 12, xtol=1e-4)
        errors.append(rmse(PrivUnit(F(outside + (1 - outside) / (1 + math.exp(-odds))), F(theta), d), n))
    return min(errors)


@pytest.mark.parametrize(("n", "d", "eps", "delta"), [(60, 10, 0.5, 1e-3), (100, 30, 3.0, 1e-4)])
def test_caps_are_near_the_best_of_three_times_the_box(n, d, eps, delta):
    heights = np.linspace(-0.5, 9, 20) / math.sqrt(d)
    best = widest_caps(n, d, math.exp(eps), delta, [t for t in heights if abs(t) < 1])
    found = calibrate("privunit", n=n, dimension=d, eps=str(eps), delta=delta, adjacency="zero-out", gap=None)
    assert found.rmse < 1.01 * best
    assert found.certificate.bracket.upper <= F(str(delta))


def least_clipped(n, d, asked, clips, delta):
    """By bisection over chi at every clip, with the bound's own command: no estimate and no derivative."""
    errors = []
    for clip in clips:
        low, high = math.log(0.2), math.log(0.5)
        while high - low > 8e-3:
            middle = (low + high) / 2
            one = ClippedLinear(F(clip), d, F(str(math.exp(middle))))
            met = symshuffle.delta(one, n=n, **asked, rel=1e-2).bracket.upper <= delta
            low, high = (low, middle) if met else (middle, high)
        errors.append(rmse(ClippedLinear(F(clip), d, F(str(math.exp(high)))), n))
    return min(errors)


def test_a_clip_above_0_is_found():
    """At n = 1000, d = 10, eps = 1/2 the best clip is 0.3: with no clip above 0 the error is a sixth larger."""
    asked = {"eps": "1/2", "adjacency": "zero-out"}
    best = least_clipped(1000, 10, asked, ["0.15", "0.3", "0.45"], F("1e-5"))
    found = calibrate("clipped-linear", n=1000, dimension=10, delta="1e-5", **asked, gap=None)
    assert found.rmse < 1.01 * best and found.rmse < 0.02456
    fixed = calibrate("clipped-linear", n=1000, dimension=10, delta="1e-5", **asked, fixed={"clip": 0})
    assert fixed.parameters.clip == 0 and 0.0289 < fixed.rmse < 0.0291 and fixed.floor is None


def test_caps_are_searched_beyond_height_3():
    """At eps = 4, n = 10^4, d = 100 the best cap is at theta sqrt(d) = 3.6."""
    asked = {"n": 10**4, "dimension": 100, "eps": 4, "delta": "1e-5", "adjacency": "zero-out", "gap": None}
    found, fixed = (calibrate("privunit", **asked, fixed=given) for given in (None, {"theta": "3/10"}))
    assert fixed.parameters.theta == F(3, 10)
    assert found.rmse < 0.95 * fixed.rmse
    assert float(found.parameters.theta) > 0.33


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("name", ["sphere-linear", "privunit", "clipped-linear"])
def test_loose_and_trivial_targets_are_answered(name, adjacency):
    """An answer whose certified delta meets the target, also where it is met by all that a family has."""
    for n, eps, delta in ((1, 1, "1e-5"), (1, 3, "0.9"), (3, 2, "1e-5"), (3, 1, "0.9")):
        d = 1 if name == "sphere-linear" and n == 1 else 3
        asked = {"n": n, "eps": eps, "adjacency": adjacency}
        found = calibrate(name, dimension=d, delta=delta, gap=None, **asked)
        again = symshuffle.delta(found.parameters, **asked, rel=1e-4)
        assert again.bracket.lower <= found.certificate.bracket.upper <= F(delta)


def test_a_target_that_all_slopes_meet_takes_the_least_noise():
    """At n = 1, d = 1 and eps = 1, c = .6 has delta 0 against the null symbol: no ratio exceeds e."""
    found = calibrate("sphere-linear", n=1, dimension=1, eps=1, delta="1e-5", adjacency="zero-out", gap=None)
    # a bit against the null symbol: 1/2 - e (1 - c)/2 reaches 1e-5 first
    assert float(found.parameters.c) == pytest.approx(1 - (1 - 2e-5) / math.e, rel=1e-5)
    loose = calibrate("sphere-linear", n=50, dimension=1, eps=1, delta="0.9", adjacency="zero-out", gap=None)
    assert loose.parameters.c > F("0.998") and loose.certificate.bracket.upper < F(1, 2)


def test_what_cannot_be_answered_says_why():
    for name in ("privunit", "clipped-linear"):
        with pytest.raises(SymshuffleError, match="needs dimension 2 or more"):
            calibrate(name, n=50, dimension=1, eps=1, delta="1e-5")
