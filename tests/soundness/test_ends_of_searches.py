"""Both ends of a crossing are on their own sides, of functions that are only known by brackets, however these lie."""

from fractions import Fraction as F

import pytest

from symshuffle.accountants.bounds.brackets import largest_of
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.bounds.guided import Guide, guided
from symshuffle.accountants.bounds.search import (
    Crossing,
    Point,
    between,
    cross,
    integers_around,
    narrow,
    settle,
    simplest_between,
    smallest_meeting,
)
from symshuffle.base.errors import Unsupported
from symshuffle.base.results import Bracket

SIDES = {"above": (0, 1), "below": (1, 0), "around": (1, 1)}
"""On which sides of the value its bracket reaches: shares of the relative width."""

FALLING = {
    "power": (lambda x: 1 / (2 * (1 + x) ** 2), F(1, 8)),
    "plateau": (lambda x: F(1, 8) if 1 <= x <= 2 else F(1, 4) / (1 + x), F(1, 8)),
    "to zero": (lambda x: max(F(0), 1 - x / 3) ** 2 / 4, F(1, 1000)),
    "small": (lambda x: 1 / (2 * (1 + 1000 * x)), F(1, 3)),
    "at zero": (lambda x: F(1, 8) / (1 + x), F(1, 8)),
}


def blurred(function, floor, side):
    """What an engine says of a function that it knows no closer than to a relative width."""
    down, up = SIDES[side]

    def value(x, width):
        exact, wide = function(x), max(F(width), floor) / 2
        missed = width if wide > width / 2 else None
        return Bracket(exact * (1 - down * wide), exact * (1 + up * wide), "ball", "blurred", "", missed)

    return value


def check(found, function, target):
    """Refuse a crossing with an end that is on the wrong side, or not known to be on its own."""
    assert function(found.meets.x) <= target
    assert found.meets.y.upper <= target
    if found.above.x not in (0, found.meets.x):
        assert function(found.above.x) > target
        assert found.above.y.lower > target


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("floor", [F(0), F(1, 10**7), F(1, 50)], ids=str)
@pytest.mark.parametrize("name", FALLING)
def test_the_ends_of_a_falling_function(name, floor, side):
    function, target = FALLING[name]
    bound = blurred(function, floor, side)
    for near in (None, F(1, 500), F(99, 100), F(101, 100), F(29, 10), F(20)):
        found = smallest_meeting(bound, target, 1e-6, near)
        check(found, function, target)
        assert abs(found.meets.x - found.above.x) <= max(F(3, 2) * floor, F(1, 10**6)) * 4 or name == "plateau"
    guide = Guide(1.0, None, 0.0, falling=True, whole=False, most=F(100))
    found = guided(bound, target, 1e-6, guide)
    if found is not None:
        check(found, function, target)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("floor", [F(0), F(1, 50)], ids=str)
def test_the_ends_of_a_rising_function(floor, side):
    def function(x):
        return x * x / 4

    bound = blurred(function, floor, side)
    ends = [Point(x, bound(x, 1e-9)) for x in (F(1, 2**40), F(2))]
    found = narrow(bound, F(1, 3), 1e-6, Crossing(ends[1], ends[0]))
    check(found, function, F(1, 3))
    assert found.meets.x < found.above.x
    for target in (F(199, 800), F(201, 800)):  # next to the value in the middle of two ends that are far apart
        ends = [Point(x, bound(x, 1e-9)) for x in (F(1, 2**10), F(2**10))]
        check(narrow(bound, target, 1e-6, Crossing(ends[1], ends[0])), function, target)
    guide = Guide(1.0, None, 1.0, falling=False, whole=False, most=F(100))
    found = guided(bound, F(1, 3), 1e-6, guide)
    if found is not None:
        check(found, function, F(1, 3))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("floor", [F(0), F(1, 10**4), F(1, 20)], ids=str)
@pytest.mark.parametrize("target", [F(1, 2), F(1, 10), F(1, 1001), F(2, 3)], ids=str)
def test_the_ends_among_integers(target, floor, side):
    def function(n):
        return 1 / (1 + n)

    bound = blurred(function, floor, side)
    for start in (F(1), 1 / target, 3 / target, F(5000)):
        found = integers_around(bound, target, 1e-4, start, 10**6)
        check(found, function, target)
        guide = Guide(float(start), 1.0, -0.5, falling=True, whole=True, most=F(10**6))
        found = guided(bound, target, 1e-4, guide)
        if found is not None:
            check(found, function, target)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("by", [F(1, 100), F(-1, 100), F(1, 10**8), F(-1, 10**8)], ids=str)
def test_balls_confirm_both_ends_of_doubles_that_are_wrong(side, by):
    """Doubles search another function, above or below: each end that they give is looked at in balls."""
    function, target = FALLING["power"]

    def bound(arithmetic, x, width):
        if arithmetic == "float64":
            return blurred(lambda x: function(x) * (1 + by), F(0), "around")(x, width)
        return blurred(function, F(1, 10**5), side)(x, width)

    def search(value, goal, rtol):
        return smallest_meeting(value, goal, rtol)

    check(cross(search, bound, target, Method(arithmetic="ball", rtol=1e-6)), function, target)


@pytest.mark.parametrize("side", SIDES)
def test_a_short_end_is_one_that_meets_the_target(side):
    """At 40 the function is 0; left of it, where short numbers are too, it is not."""

    def function(x):
        return F(0) if x >= 40 else F(1, 10**6)

    bound = blurred(function, F(1, 10), side)
    for left in (F(399, 10), F(39999, 1000), F(35)):
        ends = Crossing(*(Point(x, bound(x, 1e-3)) for x in (left, F(401, 10))))
        check(between(bound, F(1, 10**8), 1e-3, ends), function, F(1, 10**8))
    # at 30, the shortest number between 29.5 and 40.1, the target is not told from the value
    ends = Crossing(*(Point(x, blurred(function, F(0), side)(x, 1e-9)) for x in (F(295, 10), F(401, 10))))
    for target in (F(97, 10**8), F(999, 10**9)):
        check(between(bound, target, 1e-3, ends), function, target)
    assert simplest_between(F(399, 10), F(401, 10)) == 40
    assert simplest_between(F(31, 100), F(34, 100)) == F(1, 3)


@pytest.mark.parametrize("side", SIDES)
def test_a_value_is_settled_only_on_its_own_side(side):
    for target in (F(99, 800), F(1, 8), F(101, 800)):
        asked = []

        def bound(x, width, asked=asked):
            asked.append(width)
            return blurred(FALLING["power"][0], F(0), side)(x, width)

        value = settle(bound, target, 1e-6, F(1)).y
        if target == F(1, 8) and side != "below":
            assert value.lower <= target < value.upper  # it is the target
        else:
            assert value.upper <= target or value.lower > target


def test_the_largest_of_some_numbers_is_between_the_largest_ends():
    ends = [(F(0), F(5)), (F(3), F(4)), (F(1), F(2))]
    above, below = ([Bracket(*pair, "ball", "", "") for pair in some] for some in (ends, ends[1:]))
    for found in (largest_of(above), largest_of(above, below)):
        assert (found.lower, found.upper) == (3, 5)
    assert largest_of(above, below[1:]).lower == 1


def test_a_bound_that_does_not_fall_is_looked_at_few_times():
    asked = []

    def flat(level, _):
        asked.append(level)
        return Bracket(F(1), F(1), "ball", "none", "does not fall")

    with pytest.raises(Unsupported, match="no eps up to 5000"):
        smallest_meeting(flat, F(1, 100), 1e-6)
    assert len(asked) <= 8 and asked[-1] == 5000
