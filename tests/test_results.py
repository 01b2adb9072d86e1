"""A bracket is two rationals with a number between them; it prints outward and never claims more than it knows."""

import json
import math
import random
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np
import pytest

from symshuffle import Bracket, CertificateError, InputError, Unsupported
from symshuffle.base.choices import SafeEnd
from symshuffle.base.results import AnswerMethods, check_claim, outward, safe_decimal
from tests.shown import as_html


def bracket(lower, upper, arithmetic="ball"):
    return Bracket(Fraction(lower), Fraction(upper), arithmetic, "test", "by hand")


def test_ends_are_ordered():
    with pytest.raises(InputError, match="lower <= upper"):
        bracket(1, 0)


def test_only_an_exact_point_is_exact():
    assert bracket("1/3", "1/3", "exact").exact == Fraction(1, 3)
    assert bracket("1/3", "1/3").exact is None
    assert bracket("1/3", "1/2", "exact").exact is None


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
    assert str(bracket("1/3", "1/3", "exact")) == "1/3 (exact, test)"
    assert str(bracket("1/3", "2/3")) == "[0.3333333333, 0.6666666667] (ball, test)"
    assert str(bracket("-1/3", "1/3")) == "[-0.3333333334, 0.3333333334] (ball, test)"
    assert "0.3333333333" in as_html(bracket("1/3", "2/3"))


def test_outward_is_next_to_the_value_on_the_asked_side():
    rng = np.random.default_rng(5)
    for _ in range(300):
        value = Fraction(int(rng.integers(-(10**9), 10**9)), int(rng.integers(1, 10**9))) * Fraction(10) ** int(
            rng.integers(-340, 320)
        )
        low, high = outward(value, up=False), outward(value, up=True)
        assert low <= value <= high
        assert low == high or math.nextafter(low, math.inf) == high


def test_outward_beyond_the_doubles():
    huge = Fraction(10) ** 400
    assert outward(huge, up=True) == math.inf
    assert outward(huge, up=False) == outward(-huge, up=True) * -1 == sys.float_info.max
    assert (outward(1 / huge, up=False), outward(1 / huge, up=True)) == (0.0, math.ulp(0.0))


@final
@dataclass(frozen=True, slots=True, repr=False)
class Sample(AnswerMethods):
    bracket: Bracket
    safe: SafeEnd
    about: str = "a <number>"


def test_answers_share_float_display_and_json():
    third = Bracket(Fraction(1, 3), Fraction(2, 3), "ball", "ball", "by hand")
    for end, value in (("lower", third.lower), ("upper", third.upper)):
        found = Sample(third, end)
        assert isinstance(found, AnswerMethods)
        assert not hasattr(found, "verify")
        assert float(found) == outward(value, up=end == "upper")
    assert repr(found) == "Sample([0.3333333333, 0.6666666667] (ball, ball): a <number>)"
    assert "a &lt;number&gt;" in as_html(found)
    assert json.loads(json.dumps(found.to_dict()))["about"] == found.about
    with pytest.raises(Unsupported, match=r"Sample.*\.bracket\.lower or \.bracket\.upper"):
        float(Sample(third, "neither"))


@pytest.mark.parametrize(
    "claimed",
    [
        Bracket(Fraction(1, 2), Fraction(1), "ball", "", ""),
        Bracket(Fraction(0), Fraction(1, 2), "ball", "", ""),
        Bracket(Fraction(0), Fraction(1), "exact", "", ""),
    ],
)
def test_a_claim_beyond_its_proof_is_refused(claimed):
    proved = Bracket(Fraction(1, 3), Fraction(2, 3), "ball", "", "")
    check_claim(replace(proved, lower=Fraction(0), arithmetic="float64"), proved, "value")
    with pytest.raises(CertificateError) as caught:
        check_claim(claimed, proved, "value")
    assert caught.value.place == "value"


@pytest.mark.parametrize("seed", range(40))
def test_a_shown_end_is_on_its_own_side_and_has_no_digit_that_the_bracket_leaves_open(seed):
    rng = random.Random(seed)
    for _ in range(50):
        lower = Fraction(rng.randint(1, 10 ** rng.randint(1, 30)), rng.randint(1, 10 ** rng.randint(1, 30)))
        wide = rng.choice((0, Fraction(rng.randint(1, 10**6), 10 ** rng.randint(5, 20))))
        upper = lower * (1 + wide)
        for up, end in ((True, upper), (False, lower)):
            text = safe_decimal(lower, upper, up=up)
            shown = Fraction(text)
            assert shown >= upper if up else shown <= lower
            digits = len(text.partition("e")[0].replace(".", "").strip("0"))
            assert 1 <= digits <= 7
            # No more digits than are fixed: unless there are two, a unit of the last is no less than the width.
            unit = Fraction(1)
            while unit * 10 ** (digits - 1) > shown:
                unit /= 10
            while unit * 10**digits <= shown:
                unit *= 10
            assert digits <= 2 or unit >= upper - lower
            # No fewer: the next digit, of a number that does not end, would be open or an eighth.
            assert abs(shown - end) <= max(10 * (upper - lower), 2 * unit, end / 10)


def test_ends_at_zero_and_next_to_a_power_of_ten():
    assert safe_decimal(Fraction(0), Fraction(0), up=True) == "0"
    assert safe_decimal(Fraction(0), Fraction(3, 7), up=True) == "0.43"
    assert safe_decimal(Fraction(0), Fraction(3, 7), up=False) == "0"
    assert safe_decimal(Fraction(999_999_95, 10**8), Fraction(999_999_95, 10**8), up=True) == "1"
    assert safe_decimal(Fraction(370), Fraction(371), up=True) == "371"
    assert Fraction(safe_decimal(Fraction(1), Fraction(123_456_789), up=True)) >= 123_456_789
    assert safe_decimal(Fraction(1, 10**5000), Fraction(2, 10**5000), up=True) == "2e-5000"
