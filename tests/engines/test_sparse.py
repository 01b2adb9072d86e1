"""Enumeration of the rare copies, and the laws that used to defeat the contour."""

import random
from fractions import Fraction

import pytest

from symshuffle import Exp, InputError, Law, Unsupported, randomizer
from symshuffle.accountants.deployment.reduced import laws
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions import solve
from symshuffle.engines import Contour, Exact, Sparse


def random_law(draw):
    size = draw.randint(1, 4)
    values = draw.sample([Fraction(v, 3) for v in range(-9, 10)], size)
    rare = [Fraction(draw.randint(1, 30), 10 ** draw.randint(2, 12)) for _ in range(size - 1)]
    return Law(tuple(values), (1 - sum(rare, start=Fraction(0)), *rare), Fraction(draw.randint(0, 1), 7))


@pytest.mark.parametrize("seed", range(60))
def test_no_bracket_excludes_the_exact_value(seed):
    draw = random.Random(seed)
    law, n = random_law(draw), draw.randint(1, 12)
    truth = Exact().bracket(law, n).exact
    for rtol in (1e-10, 0.5):
        bracket = Sparse(rtol=rtol).bracket(law, n)
        assert bracket.contains(truth)
        assert not bracket.contains(truth * (1 + 3 * Fraction(rtol)) + Fraction(1, 10**200))
    if max(law.values) > 0:
        assert Contour().bracket(law, n).contains(truth)


@pytest.mark.parametrize("arithmetic", ["float64", "ball"])
@pytest.mark.parametrize(("eps0", "k", "n"), [("12.345", 100, 1000), ("40", 10, 1000), ("1000", 10, 10**9)])
def test_huge_budgets_have_an_answer(eps0, k, n, arithmetic):
    """Nearly all copies are on the atom 0: the contour refused these, and other tools overflow."""
    krr = randomizer("krr").at(k=k, eps0=eps0)
    found = solve.delta(krr, n=n, eps=1, arithmetic=arithmetic).bracket
    sparse = solve.delta(krr, n=n, eps=1, engine=Sparse(), arithmetic=arithmetic).bracket
    assert sparse.engine == "sparse" and found.lower <= sparse.upper and sparse.lower <= found.upper
    assert found.relative_width < Fraction(1, 10**6)
    other = solve.delta(krr, n=n, eps="1.0001", arithmetic=arithmetic).bracket
    assert other.upper <= found.upper


def test_what_is_not_rare_is_refused():
    law = Law((Fraction(1), Fraction(-2)), (Fraction(1, 2), Fraction(1, 2)))
    with pytest.raises(Unsupported, match="outside the heaviest atom"):
        Sparse().bracket(law, 10**6)
    with pytest.raises(InputError, match="rtol"):
        Sparse(rtol=0)


@pytest.mark.parametrize("n", [2, 3, 30])
@pytest.mark.parametrize("weight", [Fraction(1, 10**6), Fraction(1, 10**19)])
def test_steep_lattices(n, weight):
    """The saddle point of a lattice minimises with the lattice's own kernel."""
    law = Law((Fraction(1), Fraction(-1), Fraction(0)), (weight, 1 - 3 * weight, 2 * weight))
    truth = Exact().bracket(law, n).exact
    found = Contour(rtol=1e-3).bracket(law, n)
    assert found.contains(truth)
    assert found.lower > truth * Fraction(99, 100)


def test_a_law_that_is_never_positive_needs_no_enumeration():
    """With nothing to add up, no neglected mass was ever small enough: minutes went by."""
    law = laws(reduction(randomizer("rr").at(eps0=12)).bounds[0], Exp(Fraction(12)), "forward", 256)[0]
    bracket = Sparse(largest=200_000).bracket(law, 10**6)
    assert bracket.lower == bracket.upper == 0
