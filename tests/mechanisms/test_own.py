"""A user's own mechanism, by its states or by its matrix, is as good as one with a name."""

import pytest
import sympy as sp

from symshuffle import InputError, optimal_decomposition, randomizer
from symshuffle.base import Verdict
from symshuffle.mechanisms import LAM, Mechanism, Parameter
from symshuffle.mechanisms.symbolic import same_function

K = sp.Symbol("k", integer=True, positive=True)
S = sp.Symbol("s", integer=True, positive=True)
AVOID = 1 / (LAM * (K - 1) + 1)


def avoid():
    return Mechanism.symmetric("avoid", K, {"value": {"own": (1, AVOID), "other": (K - 1, LAM * AVOID)}})


def test_by_states_equals_the_same_mechanism_written_differently():
    """Any value but one's own is subset selection with subsets of size k - 1, up to the names of the outputs."""
    own = sorted(zip(*avoid().channel(k=4, lam=3).rows, strict=True))
    named = sorted(zip(*randomizer("subset-selection").channel(k=4, s=3, lam=3).rows, strict=True))
    assert own == named


def test_the_formula_follows_the_definition():
    total = sp.binomial(K, S) * (S * LAM + K - S) / K
    size = Parameter(S, sp.Integer(1), K - 1, True, "size of the subset")
    subset = {"subset": {"hit": (S, LAM / total), "miss": (K - S, 1 / total)}}
    own = optimal_decomposition(Mechanism.symmetric("mine", K, subset, parameters=[size]))
    named = optimal_decomposition(randomizer("subset-selection"))
    assert same_function(own.beta, named.beta) is Verdict.TRUE
    assert len(own.cells) == len(named.cells)
    for mine, theirs in zip(own.cells, named.cells, strict=True):
        assert same_function(mine.c, theirs.c) is Verdict.TRUE


def test_three_states_have_multinomially_many_outputs():
    third = sp.Rational(1, 12)
    three = Mechanism.symmetric("three", 4, {"y": {"a": (1, third), "b": (1, third), "c": (2, third)}})
    assert three.num_outputs == 12
    assert three.channel().num_outputs == 12


@pytest.mark.parametrize(
    ("states", "named"),
    [
        ({"own": (1, AVOID), "other": (K, LAM * AVOID)}, "counts of class value"),
        ({"own": (1, AVOID), "other": (K - 1, AVOID)}, "probabilities"),
        ({"own": (S, AVOID), "other": (K - S, LAM * AVOID)}, "parameters"),
    ],
)
def test_wrong_descriptions_are_refused(states, named):
    with pytest.raises(InputError) as refusal:
        Mechanism.symmetric("wrong", K, {"value": states})
    assert refusal.value.argument == named
