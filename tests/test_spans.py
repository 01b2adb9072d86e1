"""Spans enclose what they are made of: every operation is compared with rationals or balls, which know better."""

import math
import operator
import random
from fractions import Fraction

import pytest

from symshuffle import Exp, NotDecided
from symshuffle.base import enclose
from symshuffle.base.numbers.spans import Span

F = Fraction
OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


def holds(span, value):
    return F(span.low) <= value <= F(span.high)


def rational(chance):
    return F(chance.randint(-(10**9), 10**9), chance.randint(1, 10**9)) * F(2) ** chance.randint(-40, 40)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__name__)
def test_an_operation_encloses_the_result_of_rationals(operation):
    chance, moved = random.Random(1), 0
    for _ in range(2_000):
        x, y = rational(chance), rational(chance) or F(1, 3)
        span = operation(Span.around(x), Span.around(y))
        assert holds(span, operation(x, y))
        nearest = operation(float(x), float(y))
        moved += F(nearest) != operation(x, y)
    assert moved > 1_000  # what is rounded to nearest alone would exclude the result


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__name__)
def test_an_operation_encloses_the_results_of_all_that_its_operands_hold(operation):
    chance = random.Random(2)
    for _ in range(500):
        ends = [sorted((rational(chance), rational(chance))) for _ in range(2)]
        spans = [Span(float(low), float(high)) for low, high in ends]
        if operation is operator.truediv and spans[1].has_zero:
            continue
        for _ in range(4):
            points = [F(s.low) + (F(s.high) - F(s.low)) * F(chance.randint(0, 8), 8) for s in spans]
            assert holds(operation(*spans), operation(*points))


def test_a_rational_lies_in_its_span_and_an_integer_is_one_point():
    chance = random.Random(3)
    for _ in range(500):
        value = rational(chance)
        assert holds(Span.around(value), value)
    assert Span.around(F(12)) == Span(12.0, 12.0)
    assert holds(Span.around(F(2**60 + 1)), F(2**60 + 1))


@pytest.mark.parametrize("exponent", ["1/7", "1", "-3", "50", "1/1000000007"])
def test_an_exponential_lies_in_its_span(exponent):
    value = Exp(F(exponent))
    span, ball = Span.around(value), enclose(value, 300)
    assert F(span.low) <= ball.lower and ball.upper <= F(span.high)
    assert span.high - span.low <= 4 * math.ulp(span.high)


@pytest.mark.parametrize("exponent", [F(0), F(1), F(7), F(-3), F(1, 2)])
def test_a_power_encloses(exponent):
    base = F(7, 3)
    span = Span.around(base).power(exponent)
    if exponent.denominator == 1:
        assert holds(span, base**exponent.numerator)
    else:
        assert F(span.low) ** 2 <= base <= F(span.high) ** 2
        assert F(math.sqrt(7 / 3)) ** 2 != base


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Span.around(F(1)) / Span(-1.0, 1.0),
        lambda: Span(1e308, 1e308) * Span(10.0, 10.0),
        lambda: Span(1e308, 1e308) + Span(1e308, 1e308),
        lambda: Span(math.nan, 1.0),
        lambda: Span(2.0, 1.0),
        lambda: Span.around(F(10) ** 400),
        lambda: Span.around(F(2)).power(F(1, 3)),
        lambda: Span.around(F(2)).power(F(10_000)),
        lambda: Span(-1.0, 1.0).power(F(1, 2)),
        lambda: Span(-1.0, 1.0).power(F(-1)),
    ],
)
def test_what_doubles_do_not_enclose_is_not_decided(wrong):
    with pytest.raises(NotDecided):
        wrong()


def test_tiny_numbers_keep_their_place():
    product = Span(5e-324, 5e-324) * Span(0.5, 0.5)
    assert holds(product, F(5e-324) / 2)
