"""Values of densities between two finite laws on cells: against the transforms of the engine for densities."""

import re
from fractions import Fraction
from functools import cache

import pytest

from symshuffle import delta, epsilon
from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.rounds.cells import Between, cells_of
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import Exp, enclose
from symshuffle.channels.continuous_law import LevelledPair
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, LocalGaussian, SphereLinear
from symshuffle.vectors.privacy.pairs import worst_pair
from tests.slices import some

TAIL = Fraction(1, 10**20)

SOURCES = {
    "bmg, largest": (BlanketMixedGaussian("0.9", 3), {"adjacency": "zero-out", "blanket": "largest"}, "0.003"),
    "bmg": (BlanketMixedGaussian("0.5", 1), {}, "0.1"),
    "gaussian": (LocalGaussian(3), {"blanket": "largest"}, "0.08"),
    "sphere": (SphereLinear("0.5", 3), {"adjacency": "zero-out"}, "0.03"),
    "clipped": (ClippedLinear("0.2", 4, 1), {}, "0.1"),
}


def pair_of(name):
    source, whom, eps = SOURCES[name]
    return worst_pair(source, **whom, exp_eps=Exp(Fraction(eps))), Fraction(eps)


@cache
def truth_of(name, *, reverse=False, n=1000):
    """The value of the density, by the transforms."""
    pair, eps = pair_of(name)
    return evaluate(LevelledPair(pair.reverse if reverse else pair, Exp(eps)), n, Method(rtol=1e-6))


def ends(cells, n, eps, *, reverse):
    ratio = enclose(Exp(eps), 160)
    found = []
    for up, at in ((False, ratio.upper), (True, ratio.lower)):
        law, off = cells.law(at, reverse=reverse, up=up)
        value = evaluate(law, n, Method(rtol=1e-4, goal=Fraction(10**6)))
        found.append(value.upper + off if up else value.lower - off)
    return found


@pytest.mark.parametrize("name", some(SOURCES, 3))
def test_the_value_lies_between_the_two_laws(name):
    n = 1000
    pair, eps = pair_of(name)
    rough, fine = (cells_of(pair, tail=TAIL, inflation=share) for share in (5e-2, 2e-3))
    assert len(rough.cells) < len(fine.cells)
    for reverse in (False, True):
        truth = truth_of(name, reverse=reverse)
        for cells, width in ((rough, 0.9), (fine, 0.15)):
            low, high = ends(cells, n, eps, reverse=reverse)
            assert low <= truth.lower and truth.upper <= high
            assert high - low <= width * high


def test_what_is_cut_off_is_counted():
    """With a tail that matters each end is wrong once what lies outside is left out."""
    pair, eps = pair_of("gaussian")
    cut = cells_of(pair, tail=Fraction(1, 500), inflation=1e-3)
    truth = truth_of("gaussian")
    low, high = ends(cut, 1000, eps, reverse=False)
    assert low <= truth.lower and truth.upper <= high
    assert ends(type(cut)(cut.cells, (Fraction(0), Fraction(0))), 1000, eps, reverse=False)[1] < truth.lower


def test_means_on_cells_are_below():
    pair, eps = pair_of("bmg")
    cells, ratio = cells_of(pair, tail=TAIL, inflation=1e-1), enclose(Exp(eps), 160)
    truth = truth_of("bmg")
    merged, _ = cells.law(ratio.upper, reverse=False, up=False)
    spread, _ = cells.law(ratio.lower, reverse=False, up=True)
    below, above = (evaluate(law, 1000, Method(rtol=1e-3)) for law in (merged, spread))
    assert below.upper < truth.lower < truth.upper < above.lower
    assert sum(spread.weights) == sum(merged.weights) == 1


def test_masses_that_are_not_known_move_the_ends():
    pair, eps = pair_of("sphere")
    cells = cells_of(pair, tail=TAIL, inflation=1e-2)
    one, other = cells.cells[0], cells.cells[1]
    loose = type(one)(one.mass - (1 << 60), 1 << 61, one.means, one.ranges)
    moved = type(cells)((loose, other, *cells.cells[2:]), cells.outside)
    low, high = ends(cells, 100, eps, reverse=False)
    least, most = ends(moved, 100, eps, reverse=False)
    assert least < low and high < most


@pytest.mark.parametrize("name", ["bmg, largest", "sphere"])
def test_of_both_orders_the_larger_one_is_bounded(name):
    source, whom, eps = SOURCES[name]
    reduced, known = reduction(source, **whom), Between()
    assert known.serves(reduced, 1000) and not known.serves(reduced, 2)
    found = known.bracket(reduced, 1000, Fraction(eps), 1e-3, "both")
    one_way = [
        evaluate(reduced.mixed[0](Exp(Fraction(eps)), way, None), 1000, Method(rtol=1e-6)).lower
        for way in members(Direction)
    ]
    assert found.lower <= max(one_way) <= found.upper


def test_several_rounds_of_densities_lie_between_one_and_the_sum():
    source = SphereLinear("0.5", 3)
    one, two = (
        epsilon(source, n=1000, periods=times, delta="1e-6", attained=times > 1, rtol=None if times > 1 else 1e-3)
        for times in (1, 2)
    )
    assert one.bracket.upper < two.bracket.lower
    assert two.attained.lower <= two.bracket.upper <= min(value for _, value in two.simpler)
    assert two.bracket.width <= Fraction(3, 100) * two.bracket.upper


def test_far_out_rounds_of_densities_end_where_their_cells_do():
    """Outside of the cells is a mass that no level reduces: lattices that ask for less go on to 20 nats."""
    found = delta(LocalGaussian(4), n=1000, periods=2, eps="0.2").bracket
    assert 0 < found.lower < found.upper < Fraction(1, 10**14)
    levels = re.match(r"laws on (\d+) levels", found.evaluation)
    assert levels and int(levels[1]) < 300


@pytest.mark.parametrize("reverse", [False, True])
def test_an_end_below_one_of_a_ratio_of_at_least_one_is_one(reverse):
    """Balls around exp(eps) reach below 1 for the smallest eps, where laws were made at a negative level."""
    pair, _ = pair_of("gaussian")
    cells = cells_of(pair, tail=TAIL, inflation=1e-1)
    below = enclose(Exp(Fraction(1, 10**400)), 64).lower
    assert below < 1
    for up in (True, False):
        assert cells.law(below, reverse=reverse, up=up) == cells.law(Fraction(1), reverse=reverse, up=up)
