"""Cells of densities: what is known of a cell is rounded outward, in balls of few bits and in units that are large."""

from contextlib import ExitStack
from fractions import Fraction as F
from types import SimpleNamespace

import flint
import pytest

from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.rounds import cells
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.base.results import Bracket
from tests.accountants.test_rounds_cells import SOURCES, pair_of, truth_of
from tests.fewbits import few_bits

PLACES = [(F(-1), F(-1, 3)), (F(1, 7), F(1, 2)), (F(-1, 3), F(1, 3)), (F(2, 3), F(4, 3))]
FINE = 256


def places_of(name):
    """Stretches of a pair with intervals inside of them."""
    for stretch in pair_of(name)[0].stretches:
        for low, high in PLACES:
            start = low if stretch.low is None else max(low, stretch.low)
            end = high if stretch.high is None else min(high, stretch.high)
            if start < end:
                yield stretch, start, end


def values(stretch, u):
    """D and B at a place."""
    at = flint.acb(to_arb(u))
    second, reference = stretch.second(at), stretch.reference(at)
    return [(top / reference).real for top in (stretch.first(at) - second, second)]


@pytest.mark.parametrize("bits, units", [(11, 96), (18, 96), (128, 5), (128, 11)])
@pytest.mark.parametrize("name", ["gaussian", "bmg", "sphere"])
def test_numbers_of_a_cell_are_known_outward(name, bits, units):
    for stretch, low, high in places_of(name):
        with working_precision(FINE):
            fine = cells._cell(stretch, low, high)
            seen = [values(stretch, low + (high - low) * F(k, 8)) for k in range(9)]
            balls = [[Ball.from_arb(one, FINE) for one in both] for both in seen]
        with ExitStack() as stack:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr(cells, "_PLACES", units)
            stack.enter_context(few_bits(bits))
            found = cells._cell(stretch, low, high)
        unit, one = F(1, 1 << units), F(1, 1 << 96)
        assert 0 <= found.mass * unit <= (fine.mass + fine.unsure) * one
        assert (found.mass + found.unsure) * unit >= fine.mass * one
        for which in (0, 1):
            least, most = (end * unit for end in found.means[which])
            assert least <= fine.means[which][1] * one and most >= fine.means[which][0] * one
            least, most = (end * unit for end in found.ranges[which])
            assert all(least <= both[which].upper and both[which].lower <= most for both in balls)


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_what_is_not_known_of_a_mass_counts_at_the_largest_value(up, reverse):
    """D = 1 and B = 1/2 on a cell of mass 1/4 to 3/8: at the ratio 2 G is 1/2, and -5/2 in the other order."""
    one = 1 << cells._PLACES
    cell = cells.LineCell(one // 4, one // 8, ((one, one), (one // 2, one // 2)), ((one, one), (one // 2, one // 2)))
    law, off = cells.LineCells((cell,), (F(0), F(0))).law(F(2), reverse=reverse, up=up)
    value = F(-5, 2) if reverse else F(1, 2)
    assert set(law.values) == {F(0), value}
    assert off >= abs(value) / 8


@pytest.mark.parametrize("name", ["gaussian", "bmg"])
def test_masses_outside_of_cells_are_rounded_up(name):
    stretches = pair_of(name)[0].stretches
    with working_precision(FINE):
        _, fine = cells._window(stretches, F(1, 4))
    for bits in (10, 14, 18):
        with few_bits(bits):
            _, found = cells._window(stretches, F(1, 4))
        assert all(one >= other for one, other in zip(found, fine, strict=True))


@pytest.mark.parametrize("name", ["sphere"])
def test_a_ratio_of_few_bits_is_taken_on_both_sides(monkeypatch, name):
    source, whom, eps = SOURCES[name]
    truth = max((truth_of(name, reverse=way == "reverse") for way in members(Direction)), key=lambda one: one.lower)
    for bits in (7, 10):
        monkeypatch.setattr(cells, "_RATIO_BITS", bits)
        found = cells.Between().bracket(reduction(source, **whom), 1000, F(eps), 1e-2, "both")
        assert 0 <= found.lower <= truth.lower and truth.upper <= found.upper


@pytest.mark.parametrize("other", [F(0), F(9, 10)], ids=["smaller", "larger"])
def test_both_ends_of_laws_on_cells_are_taken_with_what_is_outside(monkeypatch, other):
    """Laws of given values: of one order between 2/10 and 4/10, of the other one perhaps more, known from above."""
    off = F(1, 10)
    known = {
        (False, False): (F(2, 10), F(3, 10)),
        (False, True): (F(3, 10), F(4, 10)),
        (True, False): (F(1, 20), F(1, 10)),
        (True, True): (other, max(other, F(1, 10))),
    }
    stub = SimpleNamespace(law=lambda _, *, reverse, up: ((reverse, up), off))
    monkeypatch.setattr(cells, "cells_of", lambda *_, **__: stub)
    monkeypatch.setattr(cells, "evaluate", lambda law, *_: Bracket(*known[law], "float64", "given", ""))
    source, whom, eps = SOURCES["bmg, largest"]
    found = cells.Between().bracket(reduction(source, **whom), 1000, F(eps), 1e-2, "both")
    assert 0 <= found.lower <= F(2, 10) - off
    assert found.upper >= max(known[False, True][1], known[True, True][1] if other else F(0)) + off
    monkeypatch.setattr(cells, "evaluate", lambda *_: Bracket(F(0), F(1, 20), "float64", "given", ""))
    assert cells.Between().bracket(reduction(source, **whom), 1000, F(eps), 1e-2, "both").lower == 0
