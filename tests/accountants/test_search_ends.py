"""Searches at equality: a value that is the target meets it, one that is above it by the least does not.

Functions are told exactly, so that ties occur; what a bracket leaves open stays open.
"""

from fractions import Fraction

import pytest

from symshuffle.accountants import search
from symshuffle.accountants.search import Crossing, Point
from symshuffle.errors import Unsupported
from symshuffle.results import Bracket, Rigour

GOAL = Fraction(1, 8)


def bracket(low, high=None):
    return Bracket(Fraction(low), Fraction(low if high is None else high), Rigour.EXACT, "told", "")


def exactly(function, asked=None):
    """A bound without width, and the arguments it is asked about."""

    def value(x, width):
        if asked is not None:
            asked.append((x, width))
        return bracket(function(x))

    return value


@pytest.mark.parametrize(
    ("low", "high", "settled"),
    [(GOAL, GOAL, True), (0, GOAL, True), (GOAL, 1, False), (GOAL + Fraction(1, 10**9), 1, True), (0, 1, False)],
)
def test_when_a_value_is_told_from_the_target(low, high, settled):
    """An upper end at the target meets it; a lower end at the target leaves it open, and all widths are tried."""
    asked = []

    def value(x, width):
        asked.append(width)
        return bracket(low, high)

    point = search.settle(value, GOAL, 1e-6, Fraction(3))
    assert (point.x, point.value) == (3, bracket(low, high))
    assert asked == ([1e-2] if settled else [1e-2, 1e-4, 1e-6, 1e-6 / 30, 1e-9])


@pytest.mark.parametrize(
    ("rel", "widths"),
    [
        (0.1, [0.1, 0.1 / 30, 0.1 / 1000]),
        (1e-3, [1e-2, 1e-3, 1e-3 / 30, 1e-3 / 1000]),
        (1e-8, [1e-2, 1e-4, 1e-8, 1e-9]),
        (1e-12, [1e-2, 1e-4, 1e-12]),
    ],
)
def test_the_widths_that_are_tried(rel, widths):
    """From a percent, or what is asked for, down to a thousandth of it, but not below 1e-9 on this account."""
    asked = []

    def value(x, width):
        asked.append(width)
        return bracket(0, 1)

    search.settle(value, GOAL, rel, Fraction(1))
    assert asked == pytest.approx(widths, rel=1e-12)


def test_where_a_finer_width_is_refused_the_coarser_value_stands():
    def value(x, width):
        if width < 1e-3:
            raise Unsupported("too fine")
        return bracket(0, 1)

    assert search.settle(value, GOAL, 1e-6, Fraction(1)).value == bracket(0, 1)


def test_where_no_width_is_answered_the_refusal_is_passed_on():
    def value(x, width):
        raise Unsupported("not at all")

    with pytest.raises(Unsupported, match="not at all"):
        search.settle(value, GOAL, 1e-6, Fraction(1))


def test_a_function_that_is_the_target_at_0_meets_it_there():
    asked = []
    found = search.smallest_meeting(exactly(lambda x: GOAL, asked), GOAL, 1e-3)
    assert found == Crossing(Fraction(0), Fraction(0), bracket(GOAL), bracket(GOAL))
    assert {x for x, _ in asked} == {0}


def test_a_step_onto_the_target():
    """The function is above the target below 1/3 and the target from there on: both ends close in on 1/3."""
    third = Fraction(1, 3)
    step = exactly(lambda x: GOAL if x >= third else GOAL + Fraction(1, 100))
    for near in (None, Fraction(1, 3), Fraction(3, 10), Fraction(1, 4), Fraction(3)):
        found = search.smallest_meeting(step, GOAL, 1e-3, near)
        assert found.above < third <= found.meets
        assert found.meets - found.above <= found.meets / 1000
        assert (found.at, found.before) == (bracket(GOAL), bracket(GOAL + Fraction(1, 100)))


@pytest.mark.parametrize("near", [None, Fraction(0), Fraction(-1), Fraction(1, 100)])
def test_the_largest_level_is_looked_at_before_all_is_refused(near):
    """No function above the target at the largest level meets it; one that is the target there does."""
    most = Fraction(search.LARGEST_LEVEL)
    for last, meets in ((GOAL, True), (GOAL + Fraction(1, 10**6), False)):
        bound = exactly(lambda x, last=last: last if x >= most else Fraction(1, 2))
        if meets:
            assert search.smallest_meeting(bound, GOAL, 1e-3, near).meets == most
        else:
            with pytest.raises(Unsupported, match=f"no eps up to {most} has delta <= 0.125: 0.125001 is left there"):
                search.smallest_meeting(bound, GOAL, 1e-3, near)


def test_an_undecided_value_is_neither_end():
    """Within 1/50 of 1 the function cannot be told from the target: no end lies there."""

    def value(x, width):
        open_ = Fraction(1) if abs(x - 1) < Fraction(1, 50) else Fraction(0)
        return bracket(GOAL + 1 - x - open_, GOAL + 1 - x + open_)

    found = search.smallest_meeting(value, GOAL, 0.1, Fraction(1))
    assert found.before.lower > GOAL >= found.at.upper
    assert found.above <= Fraction(49, 50) and Fraction(51, 50) <= found.meets
    with pytest.raises(Unsupported, match="resolves eps to a relative width of"):
        search.smallest_meeting(value, GOAL, 1e-3, Fraction(1))


def test_two_arguments_are_moved_until_they_are_as_close_as_asked_and_no_further():
    asked = []
    above, meets = (Point(x, bracket(GOAL / x)) for x in (Fraction(1, 2), Fraction(2)))
    wide = exactly(lambda x: GOAL / x, asked)
    just = search.narrow(wide, GOAL, 0.75, above=above, meets=meets, what="eps")
    assert (just.above, just.meets, asked) == (above.x, meets.x, [])  # 3/2 apart, three quarters of the larger
    found = search.narrow(wide, GOAL, 0.25, above=above, meets=meets, what="eps")
    assert 0 < found.meets - found.above <= Fraction(1, 4) * found.meets
    assert found.above < 1 <= found.meets


@pytest.mark.parametrize("crossing", [1, 2, 3, 7, 8, 100])
def test_integers_whose_value_is_the_target_meet_it(crossing):
    """``5/x`` has its target at ``x = crossing`` exactly."""
    goal = Fraction(5, crossing)
    bound = exactly(lambda x: 5 / x)
    far = Point(Fraction(1024), bracket(Fraction(5, 1024)))
    if crossing > 1:
        found = search.narrow_integers(bound, goal, 1e-6, Point(Fraction(1), bracket(5)), far)
        assert (found.above, found.meets) == (crossing - 1, crossing)
        assert (found.at.upper, found.before.lower) == (goal, Fraction(5, crossing - 1))
    for start in (1, crossing, crossing + 1, 40):
        around = search.integers_around(bound, goal, 1e-9, Fraction(start), 10**6)
        assert (around.above, around.meets) == (max(crossing - 1, 1), crossing)


def test_the_largest_integer_may_be_the_answer():
    bound = exactly(lambda x: 5 / x)
    assert search.integers_around(bound, Fraction(5, 1000), 1e-9, Fraction(900), 1000).meets == 1000
    with pytest.raises(Unsupported, match=r"no n up to 999 has delta <= 0\.005"):
        search.integers_around(bound, Fraction(5, 1000), 1e-9, Fraction(900), 999)


@pytest.mark.parametrize(("reach", "crossing"), [(0, 300), (1, 300), (2, 301), (5, 317)])
def test_undecided_integers_are_left_between_the_ends(reach, crossing):
    """Only arguments farther than ``reach`` are told; the ends are not farther than twice that from one of them."""

    def value(x, width):
        open_ = Fraction(1000) if abs(x - crossing) <= reach else Fraction(0)
        return bracket(crossing - x - open_, crossing - x + open_)

    ends = [Point(Fraction(x), value(Fraction(x), 1)) for x in (1, 1023)]
    found = search.narrow_integers(value, Fraction(0), 1e-3, *ends)
    if reach == 0:
        assert {found.above, found.meets} <= {crossing - 1, crossing + 1, crossing - 2, crossing + 2}
    assert found.above < crossing - reach and crossing + reach < found.meets
    assert found.meets - found.above <= 8 * reach + 2


def test_next_to_an_undecided_integer_its_neighbours_are_taken():
    def value(x, width):
        return bracket(-1, 1) if x == 512 else bracket(max(512 - x, 0))  # the target itself meets it

    ends = [Point(Fraction(x), value(Fraction(x), 1)) for x in (1, 1023)]
    found = search.narrow_integers(value, Fraction(0), 1e-3, *ends)
    assert (found.above, found.meets) == (511, 513)


def test_powers_of_two_towards_an_undecided_integer_as_far_as_it_is_decided():
    """Decided from 5 away on: 8 is the least power of two; where only 3 away is known, it stays."""

    def look(x):
        return Point(x, bracket(1 if abs(x - 100) >= 5 else 0))

    def decided(value):
        return value.lower == 1

    for known, nearest in ((200, 108), (30, 92), (107, 107), (108, 108), (109, 108)):
        assert search._nearest(look, decided, look(Fraction(known)), Fraction(100)).x == nearest


# Balls confirm what doubles found.


def told(meets, above, at, before):
    return lambda bound, target, rel: Crossing(Fraction(above), Fraction(meets), bracket(at), bracket(before))


@pytest.mark.parametrize(
    ("at_meets", "at_above", "believed"),
    [
        (GOAL, GOAL + Fraction(1, 100), True),
        (GOAL + Fraction(1, 10**9), GOAL + Fraction(1, 100), False),
        (GOAL, GOAL, False),
    ],
)
def test_both_ends_have_to_be_confirmed(at_meets, at_above, believed):
    sure = exactly(lambda x: at_meets if x == 2 else at_above if x == 1 else GOAL)
    again = Crossing(Fraction(5), Fraction(6), bracket(0), bracket(1))
    quick = exactly(lambda x: Fraction(0))

    def search_once(bound, target, rel):
        return told(2, 1, 0, 1)(bound, target, rel) if bound is quick else again

    found = search.cross(search_once, sure, GOAL, 1e-3, quick=quick)
    if believed:
        assert found == Crossing(Fraction(1), Fraction(2), bracket(at_meets), bracket(at_above))
    else:
        assert found == again


@pytest.mark.parametrize(("at", "believed"), [(GOAL, True), (GOAL + Fraction(1, 10**9), False)])
def test_an_answer_of_width_0_is_confirmed_by_one_value(at, believed):
    asked = []
    sure = exactly(lambda x: at, asked)
    again = Crossing(Fraction(5), Fraction(6), bracket(0), bracket(1))
    quick = exactly(lambda x: Fraction(0))

    def search_once(bound, target, rel):
        return told(0, 0, 0, 0)(bound, target, rel) if bound is quick else again

    found = search.cross(search_once, sure, GOAL, 1e-3, quick=quick)
    assert found == (Crossing(Fraction(0), Fraction(0), bracket(at), bracket(at)) if believed else again)
    assert len(asked) == (1 if believed else 2)


@pytest.mark.parametrize(
    ("start", "goal", "eps"),
    [
        # With s = sqrt(2 pi) start the value at a is s (phi(a) - a Q(a)): at a = 1 that is s * 0.0833154705876862.
        (Fraction(1, 100), Fraction("0.0833154705876862") / 100 * Fraction("2.5066282746310002"), 0.025066282746310002),
        (Fraction(1, 100), Fraction(1, 100), 0.0),
    ],
)
def test_the_guess_at_one_standard_deviation(start, goal, eps):
    """phi(1) = 0.2419707245191434 and Q(1) = 0.1586552539314571, from tables."""
    assert float(search.mills_guess(start, goal)) == pytest.approx(eps, rel=1e-11, abs=1e-15)
