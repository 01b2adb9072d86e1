"""Of laws with a density and many users eps is found more widely where no width is asked for, and says so."""

from fractions import Fraction as F

from symshuffle import epsilon
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
