"""Laws made without algebra, by balls or by doubles, hold the laws that algebra gives."""

from fractions import Fraction

import pytest

from symshuffle import Exp, NotDecided, delta, randomizer
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import lower_end, upper_end
from symshuffle.decompositions.symbolic import counted_decomposition, quick_law
from symshuffle.mechanisms import Mechanism
from symshuffle.mechanisms.registry import EXAMPLES, MECHANISMS

F = Fraction
SMALL = [(name, EXAMPLES[name][-1]) for name in MECHANISMS if any(p.name == "lam" for p in randomizer(name).parameters)]
TARGETS = [F(6, 5), Exp(F(1, 10)), Exp(F(7, 10))]


def fixed(name, values, eps0):
    return randomizer(name).at(eps0=eps0, **values).pair_classes()[0]


def sorted_atoms(law):
    return sorted(law.atoms(), key=lambda atom: lower_end(atom[0]))


@pytest.mark.parametrize(("name", "values"), SMALL, ids=str)
@pytest.mark.parametrize("direction", list(members(Direction)))
def test_a_quick_law_holds_the_law(name, values, direction):
    one, made = fixed(name, values, "1/2"), 0
    for target in TARGETS:
        known = counted_decomposition(one).law(target, direction=direction, bits=256)
        try:
            quick = quick_law(one, target, direction=direction)
        except NotDecided:
            continue
        made += 1
        pairs = list(zip(sorted_atoms(quick), sorted_atoms(known), strict=True))
        for (value, weight), (true, mass) in pairs:
            for wide, narrow in ((value, true), (weight, mass)):
                assert lower_end(wide) <= upper_end(narrow) and lower_end(narrow) <= upper_end(wide)
                if not isinstance(wide, F):
                    assert upper_end(wide) > lower_end(wide)
        assert sum(upper_end(w) for w in quick.weights) >= 1 >= sum(lower_end(w) for w in quick.weights)
    assert made or name == "half-block"


def test_at_rational_levels_a_quick_law_is_the_exact_one():
    one = randomizer("krr").at(k=10, lam=3)
    for others in ("blanket", "third", "first"):
        quick = quick_law(one, F(6, 5), others=others)
        exact = counted_decomposition(one, others=others).law(F(6, 5))
        assert sorted(quick.atoms()) == sorted(exact.atoms()) and quick.singular == exact.singular


def test_without_a_general_form_algebra_answers():
    matrix = Mechanism.from_matrix("own", [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    bound = delta(matrix.at(lam=2), n=50, eps="1/10")
    assert bound.bracket.lower <= delta(matrix.channel(lam=2), n=50, eps="1/10").bracket.upper


def test_at_level_zero_the_lattice_is_seen():
    one = randomizer("krr").at(k=10, eps0=1)
    assert "in units of" in delta(one, n=1000, eps=0).bracket.evaluation
