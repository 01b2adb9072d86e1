"""The profile of a sum of losses at the points of its lattice, at ties and at the ends of what a probability can be."""

import math
from fractions import Fraction

import pytest

from symshuffle.accountants.dominating import LatticeLaw
from symshuffle.accountants.losses import Losses, delta_of, epsilon_of, law_logarithms
from symshuffle.accountants.privacy_loss import USUAL_STEP, _usual_step
from symshuffle.choices import Side
from symshuffle.errors import Unsupported

STEP = Fraction(1, 4)
ONE = LatticeLaw(STEP, -2, (0.25, 0.0, 0.5, 0.125), Fraction(1, 8))
REVEALING = LatticeLaw(STEP, 0, (0.0, 0.0), Fraction(1))
BOTH = pytest.mark.parametrize("side", [Side.UPPER, Side.LOWER])


class Table:
    """A sum whose profile is a table; what it has no value for may not be asked."""

    def __init__(self, values):
        self.values, self.asked = values, []

    def value(self, level):
        self.asked.append(level)
        return self.values(level) if callable(self.values) else self.values[level]


def of(*laws, side=Side.UPPER):
    return Losses(tuple((law, 1) for law in laws), side)


@BOTH
@pytest.mark.parametrize("level", [0, 1, 2, 7])
def test_a_point_of_the_lattice_has_its_own_value(side, level):
    """No line is drawn there, so that nothing is rounded and no other point is asked for."""
    value = Fraction(1, 3)
    found = delta_of(of(ONE, side=side), level * STEP, lambda *_: Table({level: value}))
    assert found == value


@BOTH
@pytest.mark.parametrize(("value", "kept"), [("-1/10", "0"), ("0", "0"), ("1/2", "1/2"), ("1", "1"), ("11/10", "1")])
def test_values_are_probabilities(side, value, kept):
    assert delta_of(of(ONE, side=side), STEP, lambda *_: Table({1: Fraction(value)})) == Fraction(kept)


@BOTH
def test_a_round_that_reveals_all_leaves_what_is_revealed(side):
    """No sum is made; masses that were rounded up are not more than 1."""
    assert delta_of(of(REVEALING, side=side), STEP, None) == 1
    assert delta_of(of(LatticeLaw(STEP, 0, (1.5,), Fraction(0)), REVEALING), STEP, None) == 1
    half = LatticeLaw(STEP, 0, (0.0,), Fraction(1, 2))
    assert delta_of(of(half, half, side=side), STEP, None) == Fraction(1, 4)


@BOTH
def test_without_a_mass_at_infinity_nothing_is_revealed(side):
    """Exactly nothing, though the powers of a mass like 0.1 + 0.7 are rounded."""
    law = LatticeLaw(STEP, 0, (0.1, 0.7), Fraction(0))
    assert Losses(((law, 9), (law, 10)), side).revealed == 0
    assert Losses(((law, 9), (ONE, 1)), side).revealed > 0


@BOTH
def test_what_is_revealed_is_no_less_than_the_target(side):
    """Dyadic masses: 1/8 exactly is left. A target of 1/8 is refused, one above it is not."""
    losses = of(ONE, side=side)
    assert losses.revealed == Fraction(1, 8)
    with pytest.raises(Unsupported, match=r"no eps has delta <= 0\.125: 0\.125 is left"):
        epsilon_of(losses, Fraction(1, 8), None)
    table = Table(lambda level: Fraction(1, 8) + Fraction(1, 2 + level))
    found = epsilon_of(losses, Fraction(1, 8) + Fraction(1, 100), lambda *_: table)
    assert abs(found - 98 * STEP) < Fraction(1, 10**40)


@BOTH
@pytest.mark.parametrize("crossing", [0, 1, 2, 3, 40, 500])
def test_a_target_that_is_the_value_at_a_point(side, crossing):
    """From ``crossing`` on values meet the target, at that point by equality; no level is asked for twice."""
    target = Fraction(1, 4)
    table = Table(lambda level: target * Fraction(crossing + 1, level + 1))
    found = epsilon_of(of(ONE, side=side), target, lambda *_: table)
    assert abs(found - crossing * STEP) < Fraction(1, 10**40)
    assert (found >= crossing * STEP) if side is Side.UPPER else (found <= crossing * STEP)
    assert len(table.asked) == len(set(table.asked)) <= 6 + 2 * math.log2(crossing + 1)


@BOTH
def test_a_crossing_near_a_guess_takes_few_looks(side):
    """The saddle point formula of this law puts 1/4 at some level g; a crossing d levels off takes 2 log2(d) looks."""
    losses, target = of(ONE, side=side), Fraction(1, 4)
    guess = max(math.ceil(losses.guess(math.log(0.25))[0] / STEP), 1)
    for away in (0, 1, 2, 5, 30, 1000):
        table = Table(lambda level, at=guess + away: target + Fraction(1, 100) if level < at else target)
        found = epsilon_of(losses, target, lambda *_, table=table: table)
        assert (guess + away - 1) * STEP < found <= (guess + away) * STEP + Fraction(1, 10**40)
        assert len(table.asked) <= 4 + 2 * math.log2(away + 1)
        assert table.asked[:2] == [0, guess]


@BOTH
def test_a_target_between_two_points_is_on_a_line_in_the_ratio(side):
    """Between 1/2 at level 0 and 1/4 at level 1 the target 3/8 lies half way in exp(eps)."""
    table = Table({0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 8), 3: Fraction(1, 8)})
    found = epsilon_of(of(ONE, side=side), Fraction(3, 8), lambda *_: table)
    assert float(found) == pytest.approx(math.log((1 + math.exp(0.25)) / 2), rel=1e-14)
    level = math.log(1 + 0.25 * (math.exp(0.25) - 1))
    near = delta_of(of(ONE, side=side), Fraction(level), lambda *_: table)
    assert float(near) == pytest.approx(0.5 - 0.25 * 0.25, rel=1e-14)


@BOTH
def test_the_line_starts_at_the_level_before(side):
    table = Table({3: Fraction(1, 2), 4: Fraction(1, 4)})
    level = Fraction(math.log(math.exp(0.75) + (math.exp(1) - math.exp(0.75)) * 0.75))
    found = delta_of(of(ONE, side=side), level, lambda *_: table)
    assert float(found) == pytest.approx(0.5 - 0.75 * 0.25, rel=1e-13)


def test_places_of_positive_mass():
    places, logs = law_logarithms(ONE)
    assert list(places) == [-0.5, 0.0, 0.25]
    assert list(logs) == pytest.approx([math.log(0.25), math.log(0.5), math.log(0.125)], rel=1e-15)


def test_the_sum_is_asked_for_at_the_tilt_of_the_level():
    got = []

    def method(losses, tilt):
        got.append(tilt)
        return Table(lambda level: Fraction(1, 4))

    losses = of(ONE)
    delta_of(losses, Fraction(1, 10), method)
    epsilon_of(losses, Fraction(1, 4), method)
    assert got == [losses.tilt(0.1), losses.guess(math.log(0.25))[1]]


# The step of an export.


@pytest.mark.parametrize(
    ("scale", "doublings"),
    [(0.0, 0), (20.001e-4, 0), (39.99e-4, 0), (40.01e-4, 1), (19.99e-4, -1), (10.01e-4, -1), (9.99e-4, -2), (1.0, 8)],
)
def test_there_are_twenty_to_forty_levels_within_the_scale(scale, doublings):
    """Half of a scale of 20 steps has 20 halves of them; a scale of 0 leaves the usual step."""
    assert _usual_step(scale) == USUAL_STEP * 2.0**doublings
    assert scale == 0 or 20 <= scale / _usual_step(scale) < 40
