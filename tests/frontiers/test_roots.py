"""Roots inside an interval are as many as SymPy counts, which isolates them by other means."""

import random

import pytest
import sympy as sp
from flint import fmpq, fmpq_poly

from symshuffle.utility.frontiers.certificate import roots_inside


@pytest.mark.parametrize("seed", range(40))
def test_as_many_as_sympy_counts(seed):
    chance = random.Random(seed)
    x = sp.Symbol("x")
    roots = {sp.Rational(chance.randint(-8, 8), chance.randint(1, 4)) for _ in range(chance.randint(0, 4))}
    rest = x**2 + sp.Rational(chance.randint(-9, 9), 2) * x + chance.randint(-5, 5)
    polynomial = sp.Poly(sp.prod([x - root for root in roots]) * rest, x).sqf_part()
    ours = fmpq_poly([fmpq(int(c.p), int(c.q)) for c in polynomial.all_coeffs()[::-1]])
    low = chance.choice([*roots, sp.Integer(1), sp.Rational(-7, 3)])  # at a root as well
    high = chance.choice([low + 1, low + sp.Rational(9, 2), sp.oo])
    ends = sum(polynomial.eval(end) == 0 for end in (low, high) if end != sp.oo)
    expected = polynomial.count_roots(low, None if high == sp.oo else high) - ends
    above = None if high == sp.oo else fmpq(int(high.p), int(high.q))
    assert roots_inside(ours, fmpq(int(low.p), int(low.q)), above) == expected
