"""Exact rationals, balls and decimals: arithmetic encloses, comparisons have three outcomes, text is read exactly."""

import math
import pickle
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symshuffle import Ball, Exp, InputError, NotDecided, delta
from symshuffle.base import Verdict
from symshuffle.base.levels import words_of_target
from symshuffle.base.numbers import (
    enclose,
    equal,
    exact_text,
    format_decimal,
    format_log10,
    less,
    maximum,
    minimum,
    parse_rational,
    positive_part,
    shortest,
    sums_to_one,
    to_arb,
    to_float,
    ungrouped,
    working_precision,
)
from symshuffle.decompositions.calculated import compiled

RATIONALS = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**6)
BITS = st.integers(8, 200)


def contains(ball, value):
    return ball.lower <= value <= ball.upper


@given(RATIONALS, RATIONALS, BITS, BITS)
def test_balls_enclose_arithmetic(x, y, p, q):
    a, b = enclose(x, p), enclose(y, q)
    assert contains(a + b, x + y)
    assert contains(a - b, x - y)
    assert contains(a * b, x * y)
    assert contains(-a, -x)
    assert contains(x - b, x - y)
    assert contains(x * b, x * y)
    if y and not contains(b, 0):
        assert contains(a / b, x / y)
        assert contains(x / b, x / y)
    assert contains(positive_part(a), max(x, Fraction(0)))
    assert contains(minimum([a, b]), min(x, y))
    assert contains(maximum([a, y]), max(x, y))


def test_arrays_of_no_dimension_are_numbers_unless_masked():
    for half in (np.array(0.5), np.ma.array(0.5)):
        assert parse_rational(half, "x") == Fraction(1, 2)
    for masked in (np.ma.array(0.5, mask=True), np.ma.masked):
        with pytest.raises(InputError, match=r"^x = "):
            parse_rational(masked, "x")


@pytest.mark.parametrize("value", [mpmath.e, mpmath.pi, mpmath.ln2])
def test_constants_of_mpmath_are_refused_whatever_the_precision(value):
    for digits in (15, 50):
        with mpmath.workdps(digits), pytest.raises(InputError, match="a constant of mpmath that is not rational"):
            delta([["3/4", "1/4"], ["1/4", "3/4"]], n=5, eps=value)
    assert parse_rational(mpmath.mpf("0.5"), "x") == Fraction(1, 2)


@pytest.mark.parametrize("unit", ["ns", "D", "NaT"])
def test_a_time_is_no_number_of_users(unit):
    value = np.timedelta64("NaT") if unit == "NaT" else np.timedelta64(5, unit)
    for time in (value, np.array(value)):
        with pytest.raises(InputError, match=r"^n = "):
            delta([["3/4", "1/4"], ["1/4", "3/4"]], n=time, eps=1)


def test_dividing_by_a_ball_around_zero_is_not_decided():
    with pytest.raises(NotDecided):
        Fraction(1) / Ball(Fraction(-1), Fraction(1))


@given(RATIONALS, RATIONALS)
def test_comparisons_of_balls_are_never_wrong(x, y):
    a, b = enclose(x, 16), enclose(y, 16)
    assert less(a, b) is not Verdict.of(not x < y) or less(a, b) is Verdict.UNDECIDED
    assert equal(a, b) is not Verdict.of(x != y) or equal(a, b) is Verdict.UNDECIDED
    assert less(x, y) is Verdict.of(x < y)
    assert equal(x, y) is Verdict.of(x == y)


def test_three_outcomes():
    wide = Ball(Fraction(0), Fraction(1))
    assert less(wide, Fraction(1, 2)) is Verdict.UNDECIDED
    assert equal(wide, wide) is Verdict.UNDECIDED
    with pytest.raises(NotDecided, match="raise `bits`"):
        bool(Verdict.UNDECIDED)
    values = (Verdict.TRUE, Verdict.FALSE, Verdict.UNDECIDED)
    for a in values:
        for b in values:
            assert (a & b) is ~(~a | ~b)
            assert (a & b) is (b & a)
    assert (Verdict.FALSE & Verdict.UNDECIDED) is Verdict.FALSE
    assert (Verdict.TRUE & Verdict.UNDECIDED) is Verdict.UNDECIDED


def test_exponentials_are_compared_by_their_exponents():
    near = Fraction(1, 10**100)
    assert less(Exp(Fraction(1)), Exp(1 + near)) is Verdict.TRUE
    assert equal(Exp(Fraction(1)), Exp(Fraction(1))) is Verdict.TRUE
    assert contains(
        enclose(Exp(Fraction(1))), Fraction("2.718281828459045235360287471352662497757247093699959574966967627724")
    )


def test_doubles_enclose_nothing():
    with pytest.raises(InputError, match="a double encloses nothing"):
        to_arb(0.1)


def test_precision_is_restored():
    before = flint.ctx.prec
    with pytest.raises(ZeroDivisionError), working_precision(333):
        assert flint.ctx.prec == 333
        raise ZeroDivisionError
    assert flint.ctx.prec == before


def test_balls_travel_between_processes():
    ball = enclose(Exp(Fraction(1)), 77)
    assert pickle.loads(pickle.dumps(ball)) == ball
    assert hash(ball) == hash(enclose(Exp(Fraction(1)), 77))
    with pytest.raises(InputError, match="lower <= upper"):
        Ball(Fraction(1), Fraction(0))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        (" 6/5 ", Fraction(6, 5)),
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        (".5", Fraction(1, 2)),
        ("-2.5E3", Fraction(-2500)),
        (7, Fraction(7)),
        ("1e3000", Fraction(10**3000)),
    ],
)
def test_text_is_read_as_written(text, value):
    assert parse_rational(text, "x") == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nan",
        "inf",
        "-inf",
        "1/0",
        "1/00",
        "0x10",
        "1_000",
        "1e3001",
        "1e99999",
        "9" * 5000,
        "1 2",
        "1//2",
        "٣",
        True,
        None,
        float("nan"),
        float("inf"),
        "__import__('os')",
    ],
)
def test_other_text_is_refused_in_one_short_line(text):
    with pytest.raises(InputError) as refusal:
        parse_rational(text, "x")
    assert str(refusal.value).startswith(("x = ", "x is missing"))
    assert len(str(refusal.value)) < 200


@given(RATIONALS.filter(bool), st.integers(1, 30))
@example(Fraction(999_999_999), 3)
@example(Fraction(1, 10**400), 5)
@example(Fraction(10**400 - 1), 5)
@example(Fraction(-1, 3), 4)
def test_decimals_are_outward_and_tight(value, digits):
    low, high = (Fraction(format_decimal(value, digits=digits, up=up)) for up in (False, True))
    assert low <= value <= high
    assert high - low <= abs(value) * Fraction(10) ** (1 - digits)
    if value == round(value, 0) and abs(value) < 10**digits:
        assert low == value == high


@given(st.fractions(min_value=0, max_value=10**6).filter(bool))
@example(Fraction(1))
@example(Fraction(1, 10**500))
def test_logarithms_are_outward(value):
    low, high = (float(format_log10(value, up=up)) for up in (False, True))
    exact = math.log10(value.numerator) - math.log10(value.denominator)
    assert low <= high
    assert low - 1e-12 * (1 + abs(exact)) <= exact <= high + 1e-12 * (1 + abs(exact))


def test_logarithm_of_zero_and_one():
    assert format_log10(Fraction(0), up=True) == "-inf"
    assert format_log10(Fraction(1), up=True) == format_log10(Fraction(1), up=False) == "0"


@pytest.mark.parametrize(
    ("masses", "verdict"),
    [
        ((Fraction(1, 3), Fraction(2, 3)), True),
        ((Fraction(1, 3), Fraction(1, 3)), False),
        ((0.1,) * 10, True),
        ((0.1,) * 9, False),
        ((float("nan"), 1.0), False),
        ((enclose(Fraction(1, 3)), Fraction(2, 3)), True),
    ],
)
def test_probabilities_sum_to_one(masses, verdict):
    assert sums_to_one(masses) is verdict


def test_nearest_doubles():
    assert to_float(Exp(Fraction(1))) == math.e
    assert to_float(enclose(Fraction(1, 3))) == 1 / 3


def test_texts_of_rationals():
    assert [shortest(x) for x in (Fraction(1, 10**8), Fraction(1, 3), Fraction(3))] == ["1e-08", "1/3", "3"]
    assert (exact_text(Fraction(6, 5)), len(exact_text(Fraction(10**5000)))) == ("6/5", 5001)
    assert [ungrouped(text) for text in ("200,000", "1_000", "1_0", "0,100")] == ["200000", "1000", "1_0", "0,100"]
    assert words_of_target(exp_eps=Exp(Fraction(1, 10)), delta=Fraction(1, 10**8)) == "eps = 0.1, delta = 1e-08"
    assert words_of_target(exp_eps=Fraction(6, 5)) == "exp(eps) = 1.2"


def test_a_closed_form_is_compiled_for_doubles():
    assert compiled("(lam**2 + k)/2", ("lam", "k"), float, math.sqrt)(3.0, 1.0) == 5.0
