"""Searches on functions whose crossing is known: both sides are right, as close as asked, and few looks are taken.

A look counts as many digits as it asks for. The numbers are those that the searches take today, with a margin of a
twentieth: what only makes a search slower shows here.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from symshuffle.accountants import guided, search
from symshuffle.accountants.gaussian_profile import level, log_profile
from symshuffle.accountants.search import Point
from symshuffle.errors import Unsupported
from symshuffle.results import Bracket, Rigour


class Looks:
    """A function seen through brackets of the width asked for, off centre by turns, and what was asked."""

    def __init__(self, value, finest=0.0, shares=(1 / 3, 2 / 3, 0)):
        self.value, self.finest, self.shares, self.asked = value, finest, shares, []

    def __call__(self, x, width):
        self.asked.append((x, width))
        middle, width = self.value(float(x)), max(width, self.finest)
        share = self.shares[len(self.asked) % len(self.shares) - 1]
        ends = middle * (1 - width * share), middle * (1 + width * (1 - share))
        return Bracket(*map(Fraction, ends), Rigour.FLOAT64, "told", "")

    @property
    def digits(self):
        return sum(-math.log10(width) for _, width in self.asked)


def within(found, root, rel=0.0):
    """On either side of the root, the side that meets the target at the right one."""
    low, high = sorted((found.above, found.meets))
    assert float(low) < root * (1 + 1e-12) and root * (1 - 1e-12) <= float(high)
    assert high - low <= max(Fraction(rel) * high, 0 if rel else 1)


def bent(x, power, bend):
    """A power of x, its logarithm bent a little: the distance of two Gaussians, as it grows in practice."""
    return x**power * (1 + bend * x / (1 + x))


def of_level(mu, bend):
    """delta as a function of eps, where the distance drifts with it."""
    return lambda x: math.exp(log_profile(x, mu * bent(x, 0, bend)))


def of_users(mu, eps, bend):
    return lambda n: math.exp(log_profile(eps, mu / math.sqrt(n) * bent(1 / n, 0, bend)))


def of_budget(mu, eps, bend):
    return lambda x: math.exp(log_profile(eps, mu * bent(x, 1, bend)))


def ending(mu, end):
    """A profile that is 0 from some level on, as that of randomized response at its budget."""
    return lambda x: max(math.exp(log_profile(x, mu)) * (1 - x / end), 0.0) if x < end else 0.0


MOST = Fraction(10**15)
LEVEL = {"eps": lambda x: x, "slope": 0.0, "falling": True, "whole": False, "most": MOST}
USERS = {"slope": -0.5, "falling": True, "whole": True, "most": MOST}
BUDGET = {"slope": 1.0, "falling": False, "whole": False, "most": Fraction(500)}


def guides():
    """Name, function, root, width, guide: good guesses and bad ones, mild bends and strong ones."""
    for off in (0.3, 0.98, 1.05, 4.0):
        for bend in (0.0, 0.4, -0.3):
            for mu, root in ((0.05, 0.11), (0.4, 2.3), (2e-4, 1.1e-3)):
                yield "level", of_level(mu, bend), root, 1e-6, guided.Guide(root * off, **LEVEL)
            for mu, eps, root in ((2.0, 0.3, 917), (0.7, 6e-4, 31_415_926)):
                yield "users", of_users(mu, eps, bend), root, 0.0, guided.Guide(root * off, lambda _, e=eps: e, **USERS)
            for mu, eps, root in ((0.05, 0.2, 1.7), (0.004, 0.01, 0.6)):
                yield (
                    "budget",
                    of_budget(mu, eps, bend),
                    root,
                    1e-6,
                    guided.Guide(root * off, lambda _, e=eps: e, **BUDGET),
                )
        for root in (0.5, 0.9, 0.999):
            zero = {"zero": lambda x: x >= 1}
            yield "ending", ending(0.4, 1.0), root, 1e-6, guided.Guide(root * off, **LEVEL, **zero)


GUIDED = {"level": (36, 215, 947), "users": (24, 116, 522), "budget": (24, 146, 651), "ending": (12, 92, 383)}
"""How many cases there are of each kind, and how many looks and digits they take together."""


@pytest.mark.parametrize("kind", GUIDED)
def test_guided_searches(kind):
    cases, took = 0, []
    for name, value, at, rel, guide in guides():
        if name == kind:
            root = at - 0.5 * guide.whole  # between two integers
            looks = Looks(value)
            found = guided.guided(looks, Fraction(value(root)), rel, guide)
            assert found is not None
            within(found, root, rel)
            took.append((len(looks.asked), looks.digits))
            cases += 1
    counted = cases, sum(looks for looks, _ in took), sum(digits for _, digits in took)
    assert_recorded(counted, GUIDED[kind])


def assert_recorded(counted, recorded):
    assert counted[0] == recorded[0]
    assert counted[1] <= recorded[1] + 2
    assert counted[2] <= recorded[2] * 1.01


PROFILES = [
    (value, root)
    for mu, roots in ((0.05, (0.02, 0.11)), (0.4, (0.3, 2.3)), (2.0, (9.0,)), (2e-4, (1.1e-3,)))
    for root in roots
    for value in (of_level(mu, 0.0), of_level(mu, 0.4))
]


NEAR = {None: (12, 747, 2277), 1.01: (12, 523, 1759), 0.93: (12, 615, 2097), 0.6: (12, 539, 1793), 30: (12, 819, 2421)}


@pytest.mark.parametrize(("off", "recorded"), NEAR.items())
def test_the_smallest_level(off, recorded):
    took = []
    for value, root in PROFILES:
        looks = Looks(value)
        near = None if off is None else Fraction(root * off)
        within(search.smallest_meeting(looks, Fraction(value(root)), 1e-6, near), root, 1e-6)
        took.append((len(looks.asked), looks.digits))
    assert_recorded((len(took), sum(a for a, _ in took), sum(b for _, b in took)), recorded)


MOVED = [
    (lambda x: math.exp(3 * x) - 1, True, (6, 240, 818)),
    (lambda x: x**-7, False, (6, 264, 880)),
    (lambda x: x**5, True, (6, 242, 788)),
]


@pytest.mark.parametrize(("value", "rising", "recorded"), MOVED)
def test_two_sides_are_moved_together(value, rising, recorded):
    took = []
    for root in (0.021, 0.5, 0.97):
        for low, high in ((0.02, 1.0), (root / 1.02, root * 1.02)):
            looks, target = Looks(value), Fraction(value(root))
            ends = [Point(Fraction(x), looks(Fraction(x), 1e-2)) for x in (low, high)]
            meets, above = ends if rising else ends[::-1]
            within(search.narrow(looks, target, 1e-6, above=above, meets=meets, what="eps"), root, 1e-6)
            took.append((len(looks.asked), looks.digits))
    assert_recorded((len(took), sum(a for a, _ in took), sum(b for _, b in took)), recorded)


def test_what_an_engine_does_not_resolve_is_refused():
    looks = Looks(lambda x: 1 / x, finest=1e-4)
    with pytest.raises(Unsupported, match="resolves eps to a relative width of"):
        ends = [Point(Fraction(x), looks(Fraction(x), 1e-2)) for x in (1, 3)]
        search.narrow(looks, Fraction(1, 2), 1e-6, above=ends[0], meets=ends[1], what="eps")


INTEGERS = {1.5: (21, 22), 2.5: (22, 22), 7.5: (22, 22), 1000.5: (27, 29), 123_456.5: (37, 45)}


@pytest.mark.parametrize("finest", [0.0, 1e-3])
@pytest.mark.parametrize(("root", "most"), INTEGERS.items())
def test_neighbouring_integers(root, finest, most):
    """Or integers as near to the crossing as the function is told from the target there."""
    looks, value = Looks(lambda x: 5 / x, finest), lambda x: 5 / x
    ends = [Point(Fraction(x), looks(Fraction(x), 1e-2)) for x in (1, 2**20)]
    within(search.narrow_integers(looks, Fraction(value(root)), 1e-6, *ends), root, max(4 * finest, 1 / root))
    assert len(looks.asked) <= most[finest > 0]


AROUND = {
    (0.5, 0.5): 1, (1.5, 0.5): 2, (7.5, 0.5): 5, (1000.5, 0.5): 18, (123_456.5, 0.5): 21,
    (0.5, 0.99): 1, (1.5, 0.99): 2, (7.5, 0.99): 2, (1000.5, 0.99): 7, (123_456.5, 0.99): 7,
    (0.5, 1.004): 1, (1.5, 1.004): 2, (7.5, 1.004): 2, (1000.5, 1.004): 6, (123_456.5, 1.004): 6,
    (0.5, 1.3): 1, (1.5, 1.3): 2, (7.5, 1.3): 4, (1000.5, 1.3): 12, (123_456.5, 1.3): 15,
}  # fmt: skip


@pytest.mark.parametrize(("case", "most"), AROUND.items())
def test_integers_around_a_guess(case, most):
    (root, off), value = case, lambda x: 5 / x
    looks = Looks(value)
    found = search.integers_around(looks, Fraction(value(root)), 5e-3, Fraction(max(round(root * off), 1)), 10**9)
    if root < 1:
        assert found.above == found.meets == 1
    else:
        within(found, root, max(5e-3, 1 / root))
    assert len(looks.asked) <= most


def test_no_integer_meets_the_target():
    with pytest.raises(Unsupported, match="no n up to 1000 "):
        search.integers_around(Looks(lambda x: 5 / x), Fraction(1, 1000), 5e-3, Fraction(900), 1000)
    assert search.integers_around(Looks(lambda x: 5 / x), Fraction(1, 199), 5e-3, Fraction(900), 1000).meets <= 1000


@pytest.mark.parametrize("goal", [1e-3, 1e-6, 1e-12, 1e-100])
@pytest.mark.parametrize("mu", [1e-4, 1e-2, 0.1])
def test_the_guess_from_the_value_at_0(mu, goal):
    """Close to the level of two Gaussians where their distance is small, which is the limit that it is of."""
    start = math.exp(log_profile(0.0, mu))
    if goal < start:
        guess = float(search.mills_guess(Fraction(start), Fraction(goal)))
        assert abs(guess / level(mu, math.log(goal)) - 1) < mu


@pytest.mark.parametrize("off", [0.999, 0.9995, 1.0, 1.0005, 1.001])
def test_an_integer_that_is_too_close_to_tell_is_passed_on_both_sides(off):
    """Half a width away on either side the function is told from the target again."""
    root, rel = 40_000.5, 5e-3
    looks = Looks(lambda x: 5 / x, finest=1e-3)
    found = search.integers_around(looks, Fraction(5 / root), rel, Fraction(round(root * off)), 10**9)
    within(found, root, rel * 1.01)
    assert 5 / found.meets <= Fraction(5 / root) < found.before.lower
    assert len(looks.asked) <= 40


@pytest.mark.parametrize("crossing", [3, 1000, 4000])
@pytest.mark.parametrize("reach", [1, 30])
def test_ends_next_to_integers_that_are_too_close_to_tell(crossing, reach):
    """Undecided within ``reach`` of the crossing: both ends are at most twice as far from it."""

    def value(x, width):
        open_ = Fraction(1000) if abs(x - crossing) <= reach else Fraction(0)
        return Bracket(crossing - x - open_, crossing - x + open_, Rigour.BALL, "", "")

    ends = [Point(Fraction(x), value(Fraction(x), 1)) for x in (-5000, 5000)]
    found = search.narrow_integers(value, Fraction(0), 1e-3, *ends)
    assert crossing - 4 * reach <= found.above < crossing - reach
    assert crossing + reach < found.meets <= crossing + 4 * reach
    assert found.before.lower > 0 >= found.at.upper


def rough_and_sure(off=0.0):
    """A quick bound, off by a little, and the one that counts; each says what it was asked."""
    return Looks(lambda x: math.exp(-x) * (1 + off), shares=(0.5,)), Looks(lambda x: math.exp(-x))


def looked_for(bound, target, rel):
    return search.smallest_meeting(bound, target, rel, Fraction(3, 2))


def test_a_quick_bound_is_confirmed_by_two_values():
    quick, sure = rough_and_sure()
    found = search.cross(looked_for, sure, Fraction(math.exp(-1.6)), 1e-6, quick=quick)
    within(found, 1.6, 1e-6)
    assert len(sure.asked) == 2
    assert found.at.upper <= Fraction(math.exp(-1.6)) < found.before.lower
    for x, width in sure.asked:  # as fine as tells it from the target, and no finer than that takes
        away = abs(math.expm1(1.6 - float(x)))
        assert away / 8 < width < away / 2


@pytest.mark.parametrize("off", [1e-4, -1e-4])
def test_a_quick_bound_that_is_wrong_is_not_believed(off):
    quick, sure = rough_and_sure(off)
    found = search.cross(looked_for, sure, Fraction(math.exp(-1.6)), 1e-6, quick=quick)
    within(found, 1.6, 1e-6)
    assert len(sure.asked) > 2


def test_where_the_quick_bound_is_refused_the_other_one_is_searched():
    def refused(x, width):
        raise Unsupported("not here")

    _, sure = rough_and_sure()
    within(search.cross(looked_for, sure, Fraction(math.exp(-1.6)), 1e-6, quick=refused), 1.6, 1e-6)
    assert len(sure.asked) > 2
    within(search.cross(looked_for, sure, Fraction(math.exp(-1.6)), 1e-6), 1.6, 1e-6)


def test_a_value_that_meets_the_target_at_0_is_confirmed_once():
    quick, sure = rough_and_sure()
    found = search.cross(search.smallest_meeting, sure, Fraction(3, 2), 1e-6, quick=quick)
    assert found.above == found.meets == 0 or found.meets < Fraction(1, 10**6)
    assert len(sure.asked) <= 2


@pytest.mark.parametrize(
    ("middle", "width"), [(0.5, 1e-2), (0.99, 2.5e-3), (1.02, 5e-3), (1 + 1e-9, 2.5e-10), (1, 1e-14)]
)
def test_how_fine_a_value_has_to_be_to_be_told_from_the_target(middle, width):
    value = Bracket(Fraction(7 * middle), Fraction(7 * middle), Rigour.FLOAT64, "", "")
    assert math.isclose(search._fine_enough(value, Fraction(7)), width, rel_tol=1e-5)
