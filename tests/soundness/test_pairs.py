"""A bound covers the pairs of inputs that it says it covers, whichever road leads to it."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import LAM, InputError, Mechanism, OutputClass, Rigour, State, delta, mechanism, solve_n
from symshuffle.mechanisms.model import LAM_PARAMETER
from symshuffle.shuffled import worst_shuffled_divergence

TILTED = [[LAM**2, LAM, 1], [1, 1, 1], [1, LAM, LAM**2]]
"""Rows up to their sums: inputs 0 and 2 are farther apart than inputs 0 and 1."""


def tilted() -> Mechanism:
    return Mechanism.from_matrix("tilted", [[sp.sympify(entry) / sum(row) for entry in row] for row in TILTED])


def exact(source, n, exp_eps, **asked):
    return delta(source, n=n, exp_eps=exp_eps, rigour=Rigour.EXACT, **asked).bracket.exact


def worst(channel, n, exp_eps, pairs=None):
    """The largest divergence over all neighbouring datasets, or over those of some ordered pairs, by enumeration."""
    inputs = range(channel.num_inputs)
    chosen = [(x, y) for x in inputs for y in inputs if x != y] if pairs is None else pairs
    return max(worst_shuffled_divergence(channel, pair, n, exp_eps)[0] for pair in chosen)


def test_a_matrix_compares_every_pair_of_inputs():
    source = tilted().at(lam=2)
    assert worst(source.channel(), 2, Fraction(3, 2)) == Fraction(23, 98)
    assert exact(source, 2, Fraction(3, 2)) >= Fraction(23, 98)


def test_users_are_counted_for_every_pair_of_inputs():
    assert solve_n(tilted().at(lam=2), eps="0.1", delta="1e-6").bracket.upper == 3390


def test_half_block_at_a_chosen_distance_speaks_of_that_distance_only():
    near = mechanism("half-block").at(k=4, d=1, lam=3)
    found = delta(near, n=3, exp_eps="6/5", rigour=Rigour.EXACT)
    assert found.bracket.exact == Fraction(197, 1280)
    assert worst(near.channel(), 3, Fraction(6, 5)) == Fraction(81, 320)
    assert "all pairs" not in found.meaning


def test_a_class_whose_members_are_not_pair_homogeneous_is_refused():
    """Arcs of length 2 on a cycle of 8: believed, the bound is 51/245, where a real pair has 43/180."""
    inside, total = sp.Integer(2), 2 * LAM + 6
    states = (State("in", inside, LAM / total), State("out", sp.Integer(6), 1 / total))

    def arcs(values):
        return [(tuple(0 if (y - x) % 8 < 2 else 1 for x in range(8)), sp.Integer(1)) for y in range(8)]

    with pytest.raises(InputError, match="arc"):
        Mechanism(
            "ring", "ring", sp.Integer(8), (OutputClass("arc", sp.Integer(8), states, None, arcs),), (LAM_PARAMETER,)
        )
