"""Sums of waves against the same sums term by term, and what balls have to be wider by."""

import random

import flint
import pytest

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import working_precision
from symshuffle.engines.densities.exponential_sums import exponential_sums

STEP = flint.arb(0.37)


def atoms(count, *, turned=False, seed=1):
    """Values up to thousands of places from 0, weights of many sizes."""
    draw = random.Random(seed)
    values = [flint.arb(draw.uniform(-1, 1) * 10 ** draw.randrange(4)) for _ in range(count)]
    weights = [flint.arb(draw.random() ** 20 / count) for _ in values]
    return values, [flint.acb(w, w / 4) for w in weights] if turned else weights


def directly(values, weights, index):
    with working_precision(200):
        return sum(
            (w * flint.acb(0, index * STEP * v).exp() for v, w in zip(values, weights, strict=True)), flint.acb(0)
        )


def close(found, truth):
    return abs(found.real.mid() - truth.real) + abs(found.imag.mid() - truth.imag)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("count", "points"), [(1, 1), (1, 9), (3, 700), (200, 1), (200, 40), (900, 5)])
def test_sums_are_those_term_by_term(count, points, turned):
    values, weights = atoms(count, turned=turned)
    with working_precision(90):
        found = exponential_sums(values, weights, STEP, points)
    assert len(found) == points
    for index in {0, points // 2, points - 1}:
        truth = directly(values, weights, index)
        assert found[index].overlaps(truth)
        assert found[index].real.rad() + found[index].imag.rad() < flint.arb("1e-23")
        assert close(found[index], truth) < flint.arb("1e-23")


def test_what_powers_leave_out_is_in_the_ball():
    """At few digits few powers are taken, and one atom far from its place shows what is missing."""
    with working_precision(200):
        at = (flint.arb.pi() / 8 * flint.arb("0.499")).mid() / STEP  # half way between two of sixteen places
    left_out = flint.arb(0)
    for bits in range(4, 40, 4):
        with working_precision(bits):
            found = exponential_sums([at], [flint.arb(1)], STEP, 16)[15]
        truth = directly([at], [flint.arb(1)], 15)
        assert found.overlaps(truth)
        left_out = left_out.max(close(found, truth) * 2 ** (bits + 4))
    assert left_out > 1  # more than all roundings


def test_what_values_are_off_by_is_in_the_ball():
    for by in ("1e-9", "-1e-9"):
        values, weights = atoms(50)
        wide = [v + flint.arb(0, 1e-9) for v in values]
        ends = [v + flint.arb(by) for v in values]
        with working_precision(90):
            found, narrow = (
                exponential_sums(wide, weights, STEP, 30)[29],
                exponential_sums(values, weights, STEP, 30)[29],
            )
        truth = directly(ends, weights, 29)
        assert found.overlaps(truth)
        assert not narrow.overlaps(truth)


def test_no_atoms_are_no_sum_and_no_value_is_refused():
    assert exponential_sums([], [], STEP, 3) == [0, 0, 0]
    with pytest.raises(NotDecided, match="could not be evaluated"):
        exponential_sums([flint.arb("nan")], [flint.arb(1)], STEP, 3)
