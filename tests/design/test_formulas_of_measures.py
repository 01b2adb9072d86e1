"""Formulas of information measures: exact breakpoints where rational, isolated ones where logarithmic."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp

from symshuffle.design.information import measures as me
from symshuffle.design.information.logarithmic import logarithmic_formula, logarithmic_piece
from symshuffle.design.information.maximum import maximise
from symshuffle.design.information.rational import rational_formula, rational_program
from symshuffle.design.named.uniform import best_uniform_size
from symshuffle.design.parametric.walk import piece_around
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Exp, enclose

P = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
Q = [Fraction(1, 8), Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)]
SLOPE = [Fraction(1), Fraction(-1, 2), Fraction(-1, 4), Fraction(-1, 4)]


def at(expression, level):
    return expression.subs(LAM, sp.Rational(level.numerator, level.denominator))


def random_pair(seed, m):
    rng = random.Random(seed)
    rows = [[rng.randrange(1, 9) for _ in range(m)] for _ in range(2)]
    return [[Fraction(v, sum(row)) for v in row] for row in rows]


@pytest.mark.parametrize(
    "measure",
    [
        me.chi_square_measure(P, Q),
        me.fisher_information(P, SLOPE),
        me.hockey_stick_measure(P, Q, Fraction(5, 4)),
        me.total_variation_measure(P, Q),
        me.chi_square_measure(*random_pair(1, 3)),
        me.chi_square_measure(*random_pair(2, 3)),
        me.hockey_stick_measure(*random_pair(3, 4), Fraction(6, 5)),
    ],
    ids=lambda measure: f"{measure.name} {measure.num_inputs}",
)
def test_rational_measures(measure):
    found = rational_formula(measure)
    for level in (Fraction(5, 4), Fraction(3), Fraction(30)):
        value = maximise(measure, level).value.exact
        assert -at(found.at(level).value, level) == sp.Rational(value.numerator, value.denominator)
        piece = piece_around(rational_program(measure, measure.symmetry()), level)
        assert (piece.lower, piece.upper, piece.value) == (
            found.at(level).lower,
            found.at(level).upper,
            found.at(level).value,
        )
    for before, after in pairwise(found.pieces):
        assert abs(sp.N((before.value - after.value).subs(LAM, sp.N(before.upper, 40)), 30)) < 1e-25


def test_breakpoints_of_a_chi_square_divergence_are_exact():
    assert rational_formula(me.chi_square_measure(P, Q)).breakpoints == (21 + 4 * sp.sqrt(29),)
    formula = rational_formula(me.hockey_stick_measure(P, Q, Fraction(5, 4)))
    assert formula.breakpoints == (sp.Rational(19, 11),)
    (budget,) = formula.breakpoints_eps0()
    assert budget.radius < Fraction(1, 10**30)
    assert float(budget) == pytest.approx(math.log(19 / 11))


def test_sizes_of_the_uniform_source_are_rediscovered():
    m = 12
    levels = (Fraction(3, 2), Fraction(40))
    found = logarithmic_formula(me.mutual_information([Fraction(1, m)] * m), levels)
    sizes = [piece.weights[0][0].representative.bit_count() for piece in found.pieces]
    assert sizes == list(range(5, 0, -1))
    for piece, d in zip(found.pieces, sizes, strict=True):
        total = d * LAM + m - d
        closed = d * LAM * sp.log(LAM) / total - sp.log(total / m)
        middle = (piece.lower + piece.upper) / 2
        assert abs(sp.N(at(piece.value - closed, middle), 30)) < 1e-25
    for eps0 in (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)):
        level = enclose(Exp(eps0), 60).lower
        piece = next(piece for piece in found.pieces if piece.lower <= level <= piece.upper)
        assert best_uniform_size(m, eps0)[1] == piece.weights[0][0].representative.bit_count()
    assert (found.pieces[0].lower, found.pieces[-1].upper) == levels
    for (low, high), (below, above) in zip(found.breakpoints, found.breakpoints_eps0(), strict=True):
        assert float(below) == pytest.approx(math.log(low))
        assert float(above) == pytest.approx(math.log(high))
        assert below < above
    for (low, high), (before, after) in zip(found.breakpoints, pairwise(found.pieces), strict=True):
        assert 0 < high - low < Fraction(1, 10**7)
        # The two formulas cross in between.
        assert sp.N(at(before.value - after.value, low), 40) > 0 > sp.N(at(before.value - after.value, high), 40)


@pytest.mark.parametrize(
    "measure",
    [me.kullback_leibler(P, Q), me.kullback_leibler(*random_pair(4, 4)), me.mutual_information(P)],
    ids=["kl", "kl random", "mutual information"],
)
def test_logarithmic_measures_without_transitive_symmetry(measure):
    found = logarithmic_formula(measure, (Fraction(3, 2), Fraction(30)))
    for piece in found.pieces:
        for level in (piece.lower, (piece.lower + piece.upper) / 2, piece.upper):
            bracket = maximise(measure, level).value
            value = Fraction(str(sp.N(at(piece.value, level), 40)))
            assert bracket.lower - Fraction(1, 10**30) <= value <= bracket.upper + Fraction(1, 10**30)
            assert bracket.width < Fraction(1, 10**8)
        orbits = measure.symmetry().input_orbits()
        for i in range(len(orbits)):
            total = sum(w * (LAM * o.incidences[i] + o.size - o.incidences[i]) for o, w in piece.weights)
            assert sp.simplify(total - 1) == 0
    one = logarithmic_piece(measure, Fraction(3), (Fraction(3, 2), Fraction(30)))
    assert any(one.value == piece.value for piece in found.pieces)


def test_columns_that_are_always_equally_good_do_not_hide_the_optimum():
    # Without its symmetry the problem has many columns of the same value; their reduced costs vanish identically.
    measure = replace(me.mutual_information([Fraction(1, 3)] * 3), data=())
    piece = logarithmic_piece(measure, Fraction(8), (Fraction(7), Fraction(9)))
    assert (piece.lower, piece.upper) == (7, 9)


def test_refusals():
    with pytest.raises(Unsupported, match="Renyi power"):
        logarithmic_formula(me.renyi_power(P, Q, Fraction(2)), (Fraction(2), Fraction(3)))
    with pytest.raises(Unsupported, match="relative entropy"):
        rational_formula(me.kullback_leibler(P, Q))
    with pytest.raises(InputError, match="levels"):
        logarithmic_formula(me.kullback_leibler(P, Q), (Fraction(3), Fraction(2)))
    with pytest.raises(InputError, match="lam"):
        logarithmic_formula(me.kullback_leibler(P, Q), (Fraction(1), Fraction(2)))


def test_a_tie_in_two_right_hand_sides_does_not_hide_the_basis():
    # Two inputs used to receive the same perturbation, which left a degenerate vertex degenerate.
    assert len(rational_formula(me.total_variation_measure(P, Q)).pieces) == 1
