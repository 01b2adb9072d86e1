"""Rounds: profiles, laws on a lattice, their sums and the levels read off them are rounded outward, in few bits too."""

from dataclasses import replace
from fractions import Fraction as F

import flint
import pytest

from symshuffle import Ball, Exp
from symshuffle.accountants.rounds.cells import LineCell, LineCells
from symshuffle.accountants.rounds.composition_bounds import advanced_epsilon, advanced_slack
from symshuffle.accountants.rounds.dominating import LatticeLaw, Profile, _rounded, law_above, law_below
from symshuffle.accountants.rounds.lattice_sums import Tilted
from symshuffle.accountants.rounds.losses import Losses, delta_of, epsilon_of
from symshuffle.accountants.rounds.over_rounds import _logarithm
from symshuffle.accountants.rounds.period import Period
from symshuffle.accountants.rounds.privacy_loss_distribution import PrivacyLossDistribution
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.base.results import Bracket
from tests.fewbits import few_bits

BITS = pytest.mark.parametrize("bits", [8, 24])
FINE = 600
FIRST, SECOND = (F(1, 2), F(1, 3), F(1, 6)), (F(1, 6), F(1, 3), F(1, 2))
STEP = F(1, 4)


def hockey(x):
    """The profile of a pair at a ratio, between two rationals."""
    with working_precision(FINE):
        at = to_arb(x)
        total = flint.arb(0)
        for p, q in zip(FIRST, SECOND, strict=True):
            part = to_arb(p) - at * to_arb(q)
            total += part if part > 0 else flint.arb(0)
        return Ball.from_arb(total, FINE)


@pytest.mark.parametrize("wide", [F(0), F(1, 100)], ids=str)
def test_a_profile_holds_the_brackets_that_it_is_made_of(wide):
    values = [hockey(Exp(i * STEP)) for i in range(6)]
    ends = [(v.lower * (1 - wide), v.upper * (1 + wide)) for v in values]
    both = [Bracket(*pair, "ball", "", "") for pair in ends]
    made = Profile.of(STEP, both, both, (F(0), F(0)) if wide else (F(1, 3), F(1, 7)))
    for got in (made.forward, made.reverse):
        assert all(one[1] >= pair[1] for one, pair in zip(got, ends, strict=True))
        if wide:
            assert all(one[0] <= pair[0] for one, pair in zip(got, ends, strict=True))
    for got, given in zip(made.revealed, (F(1, 3), F(1, 7)), strict=True):
        assert got <= given


@pytest.mark.parametrize("wide", [F(1, 10**9), F(1, 50)], ids=str)
def test_laws_are_on_both_sides_of_the_profile_that_is_in_between(wide):
    values = [hockey(Exp(i * STEP)) for i in range(6)]
    ends = [(v.lower * (1 - wide), min(v.upper * (1 + wide), F(1))) for v in values]
    profile = Profile.of_ends(STEP, ends, ends, (F(0), F(0)))
    above, below = law_above(profile), law_below(profile)
    for i in range(-4, 25, 2):
        truth = hockey(Exp(i * STEP / 3))
        with working_precision(FINE):
            x = to_arb(Exp(i * STEP / 3))
            high, low = (lattice_value(law, x) for law in (above, below))
        assert high.upper >= truth.lower
        assert low.lower <= truth.upper


def lattice_value(law, x):
    total = to_arb(law.infinity)
    for k, mass in enumerate(law.masses):
        part = 1 - x * (-to_arb(law.step) * (law.first + k)).exp()
        total += flint.arb(mass) * (part if part > 0 else flint.arb(0))
    return Ball.from_arb(total, FINE)


def test_a_double_beyond_a_ball():
    for middle in (F(1, 3), F(-1, 3), F(10), F(0)):
        ball = Ball(middle - F(1, 10**6), middle + F(1, 10**6))
        with working_precision(64):
            assert F(_rounded(ball.arb(), up=True)) > ball.upper
            assert F(_rounded(ball.arb(), up=False)) < ball.lower


LAW = LatticeLaw(F(1, 3), -2, (0.125, 0.25, 0.25, 0.25, 0.12), F(1, 200))
OTHER = LatticeLaw(F(1, 3), -3, (0.1, 0.0, 0.3, 0.0, 0.5, 0.1), F(0))


def convolved(parts):
    """Places, masses and mass at infinity of the sum, in rationals."""
    found, rest = {0: F(1)}, F(1)
    for law, times in parts:
        for _ in range(times):
            step = {}
            for place, mass in found.items():
                for k, p in enumerate(law.masses):
                    step[place + law.first + k] = step.get(place + law.first + k, F(0)) + mass * F(p)
            found = step
            rest *= sum(map(F, law.masses), start=law.infinity)
    return found, rest - sum(found.values())


def truth_of(parts, eps):
    found, left = convolved(parts)
    with working_precision(FINE):
        at = to_arb(eps)
        kept = (
            to_arb(m) * (1 - (at - to_arb(parts[0][0].step) * p).exp()) for p, m in found.items() if p * F(1, 3) > eps
        )
        return Ball.from_arb(sum(kept, start=to_arb(left)), FINE)


PARTS = [((LAW, 2),), ((LAW, 1), (OTHER, 2))]


@BITS
@pytest.mark.parametrize("method", [Tilted, Period])
@pytest.mark.parametrize("parts", PARTS, ids=range(len(PARTS)))
def test_sums_are_on_their_own_side(parts, method, bits):
    left = convolved(parts)[1]
    for side, sign in (("upper", 1), ("lower", -1)):
        losses = Losses(parts, side)
        with few_bits(bits):
            assert sign * losses.revealed >= sign * left
        if method is Period and bits == 8:
            continue  # which turn no longer round
        for eps in (F(0), F(1, 2), F(4, 3)):
            exact = truth_of(parts, eps)
            with few_bits(bits):
                found = delta_of(losses, eps, method.at)
            assert found >= exact.upper if side == "upper" else found <= exact.lower


@BITS
@pytest.mark.parametrize("parts", PARTS, ids=range(len(PARTS)))
def test_levels_of_sums_are_on_their_own_side(parts, bits):
    """Along lines between the levels the profile of a lattice law is itself: its value at an end tells the side."""
    left = convolved(parts)[1]
    for delta in (F(1, 4), F(1, 10), F(1, 20)):
        if delta <= left * F(6, 5):
            continue
        for side in ("upper", "lower"):
            with few_bits(bits):
                eps = epsilon_of(Losses(parts, side), delta, Tilted.at)
            exact = truth_of(parts, eps)
            if side == "upper":
                assert exact.lower <= delta
            elif eps > 0:
                assert exact.upper >= delta


class Exact:
    """The sum with its exact values."""

    def __init__(self, parts):
        self.known = {level: truth_of(parts, level * F(1, 3)).lower for level in range(20)}

    def value(self, level):
        return self.known[level]


@pytest.mark.parametrize("bits", [6, 12, 24])
@pytest.mark.parametrize("parts", PARTS, ids=range(len(PARTS)))
def test_lines_between_levels_are_read_outward(parts, bits):
    """Of exact values at the levels only what is between them is rounded."""
    known = Exact(parts)
    for side, sign in (("upper", 1), ("lower", -1)):
        losses = Losses(parts, side)
        for eps in (F(1, 2), F(5, 7), F(1), F(6, 5)):
            target = truth_of(parts, eps).upper
            with few_bits(bits):
                found = delta_of(losses, eps, lambda *_: known)
            assert sign * (found - target) >= -F(1, 2**150)
            with few_bits(max(bits, 12)):
                found = epsilon_of(losses, target, lambda *_: known)
            assert sign * (found - eps) >= -F(1, 2**150)


@BITS
@pytest.mark.parametrize("slack", [F(1, 10**6), F(1, 2)], ids=str)
def test_advanced_composition_is_rounded_up(slack, bits):
    levels = [(F(1, 3), 10), (F(1, 50), 100)]
    fine = advanced_epsilon(levels, slack)
    few = few_bits(bits)
    with few:
        assert advanced_epsilon(levels, slack) >= fine * (1 - F(1, 10**20))
    for eps in (F(2), F(3)):
        known = advanced_slack(levels, eps)
        with few_bits(bits):
            assert advanced_slack(levels, eps) >= known * (1 - F(1, 10**20))


@BITS
def test_a_level_is_rounded_down_and_a_written_profile_up(bits):
    for order in (F(3), F(101, 100), F(10**30 + 1, 10**30)):
        with few_bits(bits):
            found = _logarithm(order)
        with working_precision(FINE):
            assert found <= Ball.from_arb(to_arb(order - 1).log1p(), FINE).lower
    loss = PrivacyLossDistribution(LAW, {})
    with few_bits(bits):
        written = loss.deltas()
    for i, both in enumerate(zip(written, loss.deltas(), strict=True)):
        assert all(F(shown) >= truth_of(((LAW, 1),), i * F(1, 3)).lower for shown in both)
    third = replace(LAW, infinity=F(1, 3))
    assert F(str(PrivacyLossDistribution(third, {}).lines).partition("mass ")[2].split(maxsplit=1)[0]) >= third.infinity


UNIT = 1 << 96


def around(value):
    """The two multiples of 2^-96 next to a rational."""
    return (value.numerator * UNIT // value.denominator, -(-value.numerator * UNIT // value.denominator))


@pytest.mark.parametrize("ratio", [F(1), F(4, 3), F(7, 3)], ids=str)
@pytest.mark.parametrize("reverse", [False, True])
def test_cells_make_laws_above_and_below_in_rationals(reverse, ratio):
    """Cells of two points each, with exact numbers that are no multiples of 2^-96: H(1) and H(2) by enumeration."""
    rows = [(F(1, 8), (F(1, 3), F(5, 7))), (F(1, 4), (F(-1, 7), F(2, 3))), (F(1, 2), (F(-1, 3), F(-1, 3)))]
    seconds = [(F(8, 9), F(7, 9)), (F(6, 5), F(8, 7)), (F(5, 7), F(5, 7))]
    cells, atoms = [], []
    for (mass, ds), bs in zip(rows, seconds, strict=True):
        means = tuple(around(sum(some) / 2) for some in (ds, bs))
        ranges = tuple((around(min(some))[0], around(max(some))[1]) for some in (ds, bs))
        cells.append(LineCell(int(mass * UNIT), 0, means, ranges))
        atoms += [(mass / 2, (-ratio * d if reverse else d) - (ratio - 1) * b) for d, b in zip(ds, bs, strict=True)]
    # G is P - x Q over the reference, which is D - (x - 1) B; and Q - x P is -x D - (x - 1) B.
    atoms.append((1 - sum(w for w, _ in atoms), F(0)))
    made = LineCells(tuple(cells), (F(0), F(0)))
    for up in (True, False):
        law, off = made.law(ratio, reverse=reverse, up=up)
        assert off == 0
        known = [(w, v) for v, w in zip(law.values, law.weights, strict=True)]
        for n in (1, 2):
            truth, found = mean_of_sum(atoms, n), mean_of_sum(known, n)
            assert found >= truth if up else found <= truth
            assert abs(found - truth) < F(1, 5)


def mean_of_sum(atoms, n):
    if n == 1:
        return sum(w * max(v, F(0)) for w, v in atoms)
    return sum(w * u * max(v + t, F(0)) for w, v in atoms for u, t in atoms) / 2


def test_the_ratio_of_cells_is_on_the_outer_side():
    """A law above is made at a ratio from below, one below at a ratio from above: both hold for the ratio between."""
    made = LineCells((LineCell(UNIT // 2, 0, (around(F(1, 3)),) * 2, (around(F(1, 3)),) * 2),), (F(0), F(0)))
    for ratio in (F(4, 3), F(7, 5)):
        truth = max(F(1, 3) - (ratio - 1) / 3, F(0)) / 2
        up, down = (
            mean_of_sum([(w, v) for v, w in made.law(ratio, reverse=False, up=way)[0].atoms()], 1)
            for way in (True, False)
        )
        assert down <= truth <= up


def test_the_ratio_of_cells_is_rounded_where_nothing_else_is():
    """D and B are integers of 2^-96, and large: only the ratio is rounded, and by far more than its last bit."""
    size = F(10**6)
    made = LineCells((LineCell(UNIT // 2, 0, (around(size),) * 2, (around(size),) * 2),), (F(0), F(0)))
    for ratio in (F(4, 3), F(5, 3), F(8, 7)):
        above, below = (made.law(ratio, reverse=False, up=way)[0] for way in (True, False))
        assert max(below.values) <= size * (2 - ratio) <= max(above.values)


def test_what_is_outside_of_cells_is_added():
    made = LineCells((LineCell(UNIT // 2, 3, (around(F(1, 3)),) * 2, (around(F(1, 3)),) * 2),), (F(1, 100), F(1, 1000)))
    for reverse, own, other in ((False, F(1, 100), F(1, 1000)), (True, F(1, 1000), F(1, 100))):
        _, off = made.law(F(4, 3), reverse=reverse, up=True)
        assert off >= own
        _, off = made.law(F(4, 3), reverse=reverse, up=False)
        assert off >= F(4, 3) * other
