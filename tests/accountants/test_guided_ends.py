"""Guided searches: what counts as an end, when two ends are close enough, where nothing is found."""

from fractions import Fraction

import pytest

from symshuffle.accountants import guided as module
from symshuffle.accountants.guided import Guide, guided
from symshuffle.accountants.search import Crossing, Point
from symshuffle.errors import Unsupported
from symshuffle.results import Bracket, Rigour

GOAL = Fraction(1, 8)
LEVEL = Guide(1.0, lambda x: x, 0.0, falling=True, whole=False, most=Fraction(1000))
USERS = Guide(1.0, lambda _: 0.1, -0.5, falling=True, whole=True, most=Fraction(1000))


def bracket(low, high=None):
    return Bracket(Fraction(low), Fraction(low if high is None else high), Rigour.EXACT, "told", "")


def point(x, low, high=None):
    return Point(Fraction(x), bracket(low, high))


def test_the_ends_next_to_a_crossing():
    """A value that is the target meets it; one whose lower end is the target is on neither side."""
    meets, above, open_ = point(5, GOAL), point(2, GOAL + Fraction(1, 9)), point(3, GOAL, 1)
    assert module._ends([open_], GOAL) == (None, None)
    assert module._ends([meets, open_], GOAL) == (None, meets)
    assert module._ends([above, open_], GOAL) == (above, None)
    near = point("2.5", GOAL + Fraction(1, 10**9)), point("4.5", GOAL - Fraction(1, 10**9))
    assert module._ends([above, meets, open_, near[0], near[1]], GOAL) == near
    assert module._ends([near[0], near[1], meets, above], GOAL) == near
    rising = point(2, 0), point(3, GOAL), point(4, 1), point(5, 1)
    assert module._ends(rising, GOAL) == (rising[2], rising[1])
    assert module._ends(rising[:2], GOAL) == (None, rising[1])  # the last one that was seen


def test_ends_that_are_close_enough():
    assert module._close(Fraction(6), Fraction(8), 0.25, LEVEL) and module._close(Fraction(8), Fraction(6), 0.25, LEVEL)
    assert not module._close(Fraction(8), Fraction("5.99"), 0.25, LEVEL)
    assert module._close(Fraction(7), Fraction(8), 1e-9, USERS) and module._close(Fraction(8), Fraction(7), 0.5, USERS)
    for wide in (6, 8):
        assert not module._close(Fraction(wide), Fraction(8), 0.5, USERS)


@pytest.mark.parametrize("rel", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("end", [Fraction(2, 3), Fraction(1, 10**6)])
def test_about_the_smallest_argument_at_which_a_function_is_0(end, rel):
    """At the one returned it certainly is, and a tenth of the width below it is not."""
    found = module._first_zero(lambda x: x >= end, Fraction(1), rel)
    assert end <= found <= end / (1 - Fraction(rel) / 10)


def test_arguments_in_few_digits():
    assert module._rounded(0.123456, 1e-2, LEVEL) == Fraction("0.1235")
    assert module._rounded(0.123456, 1e-3, LEVEL) == Fraction("0.12346")
    assert module._rounded(98765.4321, 1e-2, LEVEL) == 98765
    assert module._rounded(0.0, 1e-2, LEVEL) == module._rounded(-1.0, 1e-2, LEVEL) == 0
    for x in (3.14159e-7, 0.5, 27.3, 9.99e5):
        for fine in (1e-2, 1e-5):
            assert abs(module._rounded(x, fine, LEVEL) - Fraction(x)) <= x * fine / 10
    assert [module._rounded(x, 1e-2, USERS) for x in (0.2, 1.6, 999.6, 5000.0)] == [1, 2, 1000, 1000]


def test_a_target_that_is_met_at_0():
    asked = []

    def bound(x, width):
        asked.append(x)
        return bracket(GOAL)

    start = Guide(0.0, lambda x: x, 0.0, falling=True, whole=False, most=Fraction(1000))
    assert guided(bound, GOAL, 1e-6, start) == Crossing(Fraction(0), Fraction(0), bracket(GOAL), bracket(GOAL))
    assert asked == [0]


def test_a_bound_that_is_refused_leads_nowhere():
    def refused(x, width):
        raise Unsupported("not here")

    assert guided(refused, GOAL, 1e-6, LEVEL) is None


def test_a_bound_that_is_never_told_from_the_target_leads_nowhere():
    asked = []

    def wide(x, width):
        asked.append(x)
        return bracket(0, 1)

    assert guided(wide, GOAL, 1e-6, LEVEL) is None
    assert len(asked) <= 16


@pytest.mark.parametrize("root", [1, 2, 3, 10, 400])
@pytest.mark.parametrize("start", [0.5, 1.0, 1.7])
def test_integers_whose_value_is_the_target_meet_it(root, start):
    """``1/(8 n)`` against its own value at ``root``: both ends are neighbours, the upper one meets by equality."""
    guide = Guide(root * start, lambda _: 0.1, -0.5, falling=True, whole=True, most=Fraction(1000))
    goal = Fraction(1, 8 * root)
    found = guided(lambda n, width: bracket(1 / (8 * n)), goal, 1e-6, guide)
    if root == 1:
        assert found is None  # nothing is above the target: a plain search has to say so
    else:
        assert found == Crossing(
            Fraction(root - 1), Fraction(root), bracket(goal), bracket(Fraction(1, 8 * (root - 1)))
        )


def test_the_ends_are_values_of_the_bound():
    """Whatever is guessed: a straight line down to 0 at 1, told as 0 from there on."""

    def line(x):
        return max(1 - x, Fraction(0))

    guide = Guide(3.0, lambda x: x, 0.0, falling=True, whole=False, most=Fraction(1000), zero=lambda x: x >= 1)
    found = guided(lambda x, width: bracket(line(x)), Fraction(1, 1000), 1e-4, guide)
    assert found.above < Fraction(999, 1000) <= found.meets
    assert found.meets - found.above <= found.meets / 10**4
    assert found.at.upper <= Fraction(1, 1000) < found.before.lower
