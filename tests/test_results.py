"""A bracket is two rationals with a number between them; it prints outward and never claims more than it knows."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from symshuffle.errors import InputError
from symshuffle.results import Bracket, Rigour


def bracket(lower, upper, rigour=Rigour.BALL):
    return Bracket(Fraction(lower), Fraction(upper), rigour, "test", "by hand")


def test_ends_are_ordered():
    with pytest.raises(InputError, match="lower <= upper"):
        bracket(1, 0)


def test_only_an_exact_point_is_exact():
    assert bracket("1/3", "1/3", Rigour.EXACT).exact == Fraction(1, 3)
    assert bracket("1/3", "1/3").exact is None
    assert bracket("1/3", "1/2", Rigour.EXACT).exact is None


def test_geometry():
    found = bracket("1/4", "1/2")
    assert (found.midpoint, found.width, found.relative_width) == (Fraction(3, 8), Fraction(1, 4), Fraction(1, 2))
    assert found.contains(Fraction(1, 4)) and found.contains(Fraction(1, 2)) and not found.contains(Fraction(1))
    assert bracket(0, 0).relative_width is None
    assert found.shifted(Fraction(1)).lower == Fraction(5, 4)
    assert found.scaled(Fraction(2)).upper == 1
    with pytest.raises(InputError, match="swaps the directions"):
        found.scaled(Fraction(-1))


def test_decimals_are_outward():
    ends = bracket("1/3", "2/3").decimals(5)
    assert (ends["lower"], ends["upper"]) == ("0.33333", "0.66667")
    assert float(ends["log10_lower"]) <= float(ends["log10_upper"])
    assert bracket(0, 0).decimals()["log10_lower"] == "-inf"


def test_text():
    assert str(bracket("1/3", "1/3", Rigour.EXACT)) == "1/3 (exact, test)"
    assert str(bracket("1/3", "2/3")) == "[0.3333333333, 0.6666666667] (ball, test)"
    assert "0.3333333333" in bracket("1/3", "2/3")._repr_html_()


def test_levels_are_ordered():
    assert Rigour.FLOAT64.strength < Rigour.BALL.strength < Rigour.EXACT.strength


def test_a_bracket_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        bracket(0, 1).lower = Fraction(-1)  # type: ignore[misc]
