"""Of laws with a density and many users eps is found more widely where no width is asked for, and says so."""

from fractions import Fraction as F

import pytest

from symshuffle import delta, epsilon, randomizer
from symshuffle.accountants.questions import solve
from symshuffle.vectors import LocalGaussian


def test_many_users_get_a_wider_bracket_that_says_so(monkeypatch):
    asked = {"n": 1000, "delta": "1e-3"}
    monkeypatch.setattr(solve, "_MANY_OF_DENSITIES", 1000)
    wide = epsilon(LocalGaussian(F(2)), **asked).bracket
    told = epsilon(LocalGaussian(F(2)), rtol=1e-3, **asked).bracket
    assert wide.aimed == solve.USUAL_WIDTH
    assert told.aimed is None
    assert (wide.lower, wide.upper) == (told.lower, told.upper)


@pytest.mark.parametrize("rtol", [1e-1, 1e-2, 1e-4])
def test_a_value_far_below_the_first_tails_is_known_at_every_width(rtol):
    """The mass of tails that are cut at first is millions of times the value, 6.9707e-18."""
    found = delta(randomizer("gaussian", sigma0=2), n=10_000, eps="1/2", rtol=rtol).bracket
    assert F("6.970e-18") * F(9, 10) < found.lower <= F("6.9708e-18") and F("6.9705e-18") <= found.upper
    assert found.aimed is None and found.width <= F(rtol) * found.upper
