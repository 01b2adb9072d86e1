"""Tables of ratios: sums, products and shares of a budget against plain vectors (a, b, c) over components."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from symshuffle.decompositions.counting import Cell
from symshuffle.decompositions.laplace import laplace_cells
from symshuffle.decompositions.tables import Budget, Table, root
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Ball, Exp

F = Fraction
ONE, TWO = sp.Integer(1), sp.Integer(2)
HALF = sp.Rational(1, 2)

LEFT = Table((((TWO, HALF), F(1, 4)), ((HALF, ONE), F(1, 4))), ((F(3, 8), F(5, 8)),), F(1, 2))
RIGHT = Table((((HALF, TWO), F(1, 2)), ((TWO, ONE), F(1, 4))), ((F(1, 4), F(0)), (F(0), F(1, 8))), F(1, 4))


def triples(table: Table) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Components as (a, b, c)."""
    charged = [(F(str(r0)) * c, F(str(r1)) * c, c) for (r0, r1), c in table.charged]
    return charged + [(a, b, F(0)) for a, b in table.singular]


def law(parts: list[tuple[Fraction, Fraction, Fraction]]) -> dict[object, tuple[Fraction, ...]]:
    """The triples added up by their ratios: what a table may merge."""
    found: dict[object, tuple[Fraction, ...]] = {}
    for a, b, c in parts:
        key = (a / c, b / c) if c else (a, b, "singular")
        found[key] = tuple(x + y for x, y in zip(found.get(key, (F(0),) * 3), (a, b, c), strict=True))
    return found


def test_rows_are_weights_under_both_inputs():
    assert LEFT.charged_rows == [(F(1, 2), F(1, 8)), (F(1, 8), F(1, 4))]
    assert LEFT.rows == [(F(1, 2), F(1, 8)), (F(1, 8), F(1, 4)), (F(3, 8), F(5, 8))]


def test_products_are_products_of_all_pairs_of_components():
    product = LEFT * RIGHT
    pairs = [
        tuple(x * y for x, y in zip(p, q, strict=True)) for p, q in itertools.product(triples(LEFT), triples(RIGHT))
    ]
    assert law(triples(product)) == law(pairs)
    # (2, 1/2)(1/2, 2) and (1/2, 1)(2, 1) are both (1, 1): they merge to 1/8 + 1/16.
    assert dict(product.charged)[ONE, ONE] == F(3, 16)
    assert len(product.charged) == 3
    assert product.beta == 1 - (1 - F(1, 2)) * (1 - F(1, 4))


def test_sums_are_unions_and_multiples_scale_everything():
    both = LEFT.scaled(F(1, 3)) + RIGHT.scaled(F(2, 3))
    parts = [tuple(F(1, 3) * v for v in t) for t in triples(LEFT)]
    parts += [tuple(F(2, 3) * v for v in t) for t in triples(RIGHT)]
    assert law(triples(both)) == law(parts)
    assert both.beta == F(1, 3) * F(1, 2) + F(2, 3) * F(1, 4)
    assert dict((LEFT + LEFT).charged)[TWO, HALF] == F(1, 2)


def test_weights_that_vanish_are_left_out():
    assert LEFT.scaled(F(0)).charged == tuple((ratios, 0) for ratios, _ in LEFT.charged)
    assert (LEFT.scaled(F(0)) + LEFT).charged == LEFT.charged
    assert (LEFT.scaled(F(0)) + LEFT.scaled(F(0))).charged == ()
    symbolic = Table((((ONE, TWO), sp.Integer(0)), ((TWO, ONE), LAM)), (), sp.Integer(0))
    assert (symbolic + symbolic).charged == (((TWO, ONE), 2 * LAM),)
    ball = Table((((ONE, TWO), Ball(F(0), F(0))),), (), F(0))
    assert len((ball + ball).charged) == 1  # a ball is no number that is known to vanish


def test_roots_of_levels():
    assert root(F(8, 27), 3) == F(2, 3)
    assert root(F(4), 2) == 2
    assert root(F(5), 1) == 5
    assert root(Exp(F(3)), 6) == Exp(F(1, 2))
    with pytest.raises(Unsupported, match="order 2"):
        root(F(8), 2)


def test_shares_of_a_budget():
    open_budget, number = Budget(2, None, None), Budget(2, F(9), None)
    assert open_budget.symbolic and not number.symbolic and not Budget(1, None, 64).symbolic
    assert open_budget.split(3) == Budget(6, None, None)
    assert number.split(2).split(3) == Budget(12, F(9), None)
    assert open_budget.ratio(1 / (LAM + 1)) == 1 / (sp.sqrt(LAM) + 1)
    assert open_budget.weight(1 / (LAM + 1)) == 1 / (sp.sqrt(LAM) + 1)
    assert number.ratio(1 / (LAM + 1)) == sp.Rational(1, 4)
    assert number.weight(1 / (LAM + 1)) == F(1, 4)
    assert isinstance(number.weight(1 / (LAM + 1)), Fraction)
    assert float(Budget(2, Exp(F(4)), 64).ratio(LAM)) == pytest.approx(math.exp(2), rel=1e-14)
    weight = Budget(4, F(9), 80).weight(LAM)  # sqrt 3 as a ball
    assert weight.lower**2 < 3 < weight.upper**2
    assert weight.upper - weight.lower < F(1, 2**70)


def test_what_stays_open_stays_an_expression():
    p = sp.Symbol("p")
    assert Budget(2, F(9), None).weight(p * LAM) == 3 * p
    assert Table((((LAM, HALF), LAM),), (), sp.Integer(0)).rows == [(LAM**2, LAM / 2)]
    ((a, b),) = Table((((TWO, HALF), Ball(F(2), F(3))),), (), F(0)).rows
    assert (a.midpoint, b.midpoint) == (5, F(5, 4))


def test_the_table_of_a_leaf():
    """Randomized response at the square root 2 of 4: weights lam/(lam+1), 1/(lam+1) over a blanket of twice that."""
    high, low = LAM / (LAM + 1), 1 / (LAM + 1)
    cells = [Cell(high, low, low, (LAM, ONE)), Cell(low, high, low, (ONE, LAM)), Cell(low, high, sp.Integer(0), None)]
    table = Table.of(cells, 1 - 2 * low, Budget(2, F(4), None))
    assert table.charged == (((TWO, ONE), F(1, 3)), ((ONE, TWO), F(1, 3)))
    assert table.singular == ((F(1, 3), F(2, 3)),)
    assert table.beta == F(1, 3)


Y = np.arange(-30 * 10**3, 31 * 10**3) / 10**3 + 1 / 2000  # midpoints, the kinks 0, 1/2 and 1 between them
DENSITY = [np.exp(-np.abs(Y - x)) / 2 for x in (0, 1)]
"""Laplace noise of scale 1/eps0 = 1 on a bit, by input."""


@pytest.mark.parametrize("others", ["blanket", "first", "second"])
def test_cells_of_laplace_noise_enclose_it_in_convex_order(others):
    """Under the law of the others E (r - t)_+ of both ratios, mass and means, each by a sum over 61,000 midpoints."""
    other = {"blanket": np.minimum(*DENSITY), "first": DENSITY[0], "second": DENSITY[1]}[others]
    mass, means = other.sum() / 1000, [d.sum() / 1000 for d in DENSITY]
    for side, sign in (("lower", -1), ("upper", 1)):
        found, beta = laplace_cells(6, side, others, differs=True)
        rows = [[c.a, c.b, c.c, *c.ratios] for c in found]
        at = np.array(sp.lambdify(LAM, rows, "math")(math.e))
        assert at[:, :2] == pytest.approx(at[:, 3:] * at[:, 2:3], rel=1e-12)
        assert at[:, 2].sum() == pytest.approx(mass, abs=1e-6)
        assert float(sp.sympify(beta).subs(LAM, sp.E)) == pytest.approx(1 - mass, abs=1e-6)
        assert at[:, :2].sum(axis=0) == pytest.approx(means, abs=1e-6)
        for input_, t in itertools.product((0, 1), (0.45, 0.6, 1.0, 1.3, 2.1, 2.6)):
            true = np.maximum(DENSITY[input_] - t * other, 0).sum() / 1000
            value = (at[:, 2] * np.maximum(at[:, 3 + input_] - t, 0)).sum()
            assert sign * (value - true) > -1e-6
            assert abs(value - true) < 0.01


@pytest.mark.parametrize(("others", "count"), [("blanket", 2 * 5), ("first", 6), ("second", 6)])
def test_how_many_cells(others, count):
    """Of 4 cells the lower side has one atom each, the upper two; beside them the constant pieces, 1 or 2 a branch."""
    lower, _ = laplace_cells(4, "lower", others, differs=True)
    upper, _ = laplace_cells(4, "upper", others, differs=True)
    assert (len(lower), len(upper)) == (count, count + (8 if others == "blanket" else 4))


def test_equal_coordinates():
    same, beta = laplace_cells(3, "lower", "first", differs=False)
    assert [(c.a, c.b, c.c, c.ratios) for c in same] == [(1, 1, 1, (1, 1))]
    assert beta == 0
    blanket, left = laplace_cells(3, "upper", "blanket", differs=False)
    assert all(c.ratios[0] == c.ratios[1] and c.a == c.b for c in blanket)
    assert left == 1 - 1 / sp.sqrt(LAM)
    assert float(sum(c.a for c in blanket).subs(LAM, 7)) == pytest.approx(1)
    for wrong in ({"side": "both", "others": "first"}, {"side": "lower", "others": "nobody"}):
        with pytest.raises(InputError):
            laplace_cells(3, differs=True, **wrong)
