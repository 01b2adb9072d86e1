"""Laws made without algebra, by balls or by doubles, hold the laws that algebra gives."""

from fractions import Fraction

import pytest

from symshuffle import Exp, NotDecided, delta, randomizer
from symshuffle.accountants.deployment.reduction import reduction
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
@pytest.mark.parametrize("doubles", [False, True], ids=["balls", "doubles"])
@pytest.mark.parametrize("direction", list(members(Direction)))
def test_a_quick_law_holds_the_law(name, values, doubles, direction):
    one, made = fixed(name, values, "1/2"), 0
    for target in TARGETS:
        known = counted_decomposition(one).law(target, direction=direction, bits=256)
        try:
            quick = quick_law(one, target, direction=direction, doubles=doubles)
        except NotDecided:
            continue
        made += 1
        pairs = list(zip(sorted_atoms(quick), sorted_atoms(known), strict=True))
        for (value, weight), (true, mass) in pairs:
            for wide, narrow in ((value, true), (weight, mass)):
                assert lower_end(wide) <= upper_end(narrow) and lower_end(narrow) <= upper_end(wide)
                if doubles and not isinstance(wide, F):
                    assert lower_end(wide) <= lower_end(narrow) and upper_end(narrow) <= upper_end(wide)
                    assert upper_end(wide) > lower_end(wide)
        assert sum(upper_end(w) for w in quick.weights) >= 1 >= sum(lower_end(w) for w in quick.weights)
    assert made or name == "half-block"


def test_at_rational_levels_a_quick_law_is_the_exact_one():
    one = randomizer("krr").at(k=10, lam=3)
    for others in ("blanket", "third", "first"):
        quick = quick_law(one, F(6, 5), others=others, doubles=True)
        exact = counted_decomposition(one, others=others).law(F(6, 5))
        assert sorted(quick.atoms()) == sorted(exact.atoms()) and quick.singular == exact.singular


def test_without_a_general_form_algebra_answers():
    matrix = Mechanism.from_matrix("own", [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    bound = delta(matrix.at(lam=2), n=50, eps="1/10")
    assert bound.bracket.lower <= delta(matrix.channel(lam=2), n=50, eps="1/10").bracket.upper


@pytest.mark.parametrize("name", ["krr", "rappor", "subset-selection"])
@pytest.mark.parametrize("n", [50, 10**4, 10**8])
def test_the_bracket_of_a_law_in_doubles_meets_that_in_balls(name, n):
    one = randomizer(name).at(eps0="1", **EXAMPLES[name][-1])
    target = Exp(F(1, 100 if n < 10**6 else 10**5))
    found = reduction(one).laws_in_doubles(target, "both")
    assert found and all(not law.exact and law.enclosed for law in found)
    quick, slow = (delta(one, n=n, exp_eps=target, bits=bits).bracket for bits in (None, 128))
    assert quick.lower <= slow.upper and slow.lower <= quick.upper
    assert quick.aimed is None


def test_at_level_zero_the_lattice_is_seen():
    one = randomizer("krr").at(k=10, eps0=1)
    assert "in units of" in delta(one, n=1000, eps=0).bracket.evaluation
