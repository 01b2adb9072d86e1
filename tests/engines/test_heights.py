"""Bounds on a transform at all heights from some height on, against transforms in closed form and by integrals."""

# No public door chooses a path: the private name of the choice is replaced.
import random
from fractions import Fraction as F

import flint
import pytest

from symshuffle.base.numbers import Ball, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import beyond, gauss

NONE = flint.arb(0)
ONE = flint.arb(1)


def law_of(value, density, width=F(1)):
    return ContinuousLaw((Piece(-width, width, value, density),), Ball(F(0), F(0)))


def even(u):
    return u * 0 + ONE / 2


def normal(u):
    return (-u * u / 2).exp() / (2 * flint.arb.pi()).sqrt()


LAWS = {
    "uniform": law_of(lambda u: u, even),
    "falling": law_of(lambda u: 1 - 2 * u, even),
    "square": law_of(lambda u: u * u, even),
    "log-normal": law_of(lambda u: (2 * u).exp() / 100, normal, F(5)),
}


def bound(law, c, height):
    known = beyond.cell_shifts(law, c)
    return beyond.far(known, gauss.expectation(law, c), height)


def transform(law, c, t):
    return abs(sum((p.integral(lambda u, p=p: (flint.acb(c, t) * p.value(u)).exp()) for p in law.pieces), flint.acb(0)))


@pytest.mark.parametrize("height", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("name", LAWS)
def test_the_bound_is_above_the_transform_at_that_height_and_above(name, height):
    law, c = LAWS[name], flint.arb("0.003")
    with working_precision(100):
        found = bound(law, c, height)
        assert all(transform(law, c, flint.arb(height * times)) < found for times in (1, 1.3, 2, 7))
        assert found <= gauss.expectation(law, c) * (1 + flint.arb("1e-12"))


@pytest.mark.parametrize("path", range(4))
def test_any_path_will_do(path, monkeypatch):
    draw, plain = random.Random(path), beyond._chosen

    def chosen(one, height):
        states = [draw.randrange(4) if k % 4 == 0 else None for k in range(len(one[0]))]
        runs = [state if state is not None else states[k - k % 4] for k, state in enumerate(states)]
        return [shift if one[1][k][shift - 1][0].is_finite() else 0 for k, shift in enumerate(runs)]

    monkeypatch.setattr(beyond, "_chosen", chosen)
    law, c = LAWS["log-normal"], flint.arb("0.003")
    with working_precision(100):
        loose = bound(law, c, 2.0)
        assert transform(law, c, flint.arb(2)) < loose
        monkeypatch.setattr(beyond, "_chosen", plain)
        assert bound(law, c, 2.0) < loose


def test_legs_are_needed():
    """Of the uniform law all that is left far up the line comes from the ends; the path between is next to nothing."""
    s = flint.acb(1, 50)
    truth = abs((s.exp() - (-s).exp()) / (2 * s))
    law = LAWS["uniform"]
    known, size = beyond.cell_shifts(law, ONE), gauss.expectation(law, ONE)
    assert truth < beyond.far(known, size, 50.0) < 40 * truth
    bare = tuple((*one[:2], [[(NONE, NONE)] * len(row) for row in one[2]]) for one in known)
    assert beyond.far(bare, size, 50.0) < truth


def test_a_tail_that_is_moved_is_saved_from_the_whole():
    """At a height at which only large values turn: the bound is a little below M(c), as the transform is."""
    law, c = LAWS["log-normal"], flint.arb("0.01")
    with working_precision(100):
        size, found = gauss.expectation(law, c), bound(law, c, 0.3)
        saved, most = size - found, size - transform(law, c, flint.arb("0.3"))
        assert 0 < saved < most
        assert most < 1000 * saved
        assert found > flint.arb("0.99") * size


@pytest.mark.parametrize("near", ["0.05", "0.2", "0.5"])
def test_no_path_goes_beyond_a_pole_of_the_density(near):
    """G is the coordinate and has none; what a path beyond the pole leaves out is its residue, e^(-t near) pi/near."""
    squared = flint.arb(near) ** 2
    law = law_of(lambda u: u, lambda u: 1 / (u * u + squared))
    with working_precision(100):
        known, size = beyond.cell_shifts(law, NONE), gauss.expectation(law, NONE)
        for height in (2.0, 5.0, 20.0):
            assert transform(law, NONE, flint.arb(height)) < beyond.far(known, size, height)
    cell = known[0][1][50]
    assert [term[0].is_finite() for term in cell] == [shift < float(near) for shift in (0.6, 0.15, 0.0375)]
    assert [term[0].is_finite() for term in known[0][1][97]] == [True] * 3
