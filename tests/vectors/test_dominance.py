"""Which order of a pair is larger on a range of levels: against exact profiles, and never guessed."""

# No public door is given values as coarse as here, so that one private name is called.
import itertools
from fractions import Fraction as F

import pytest

from symshuffle import InputError, Law
from symshuffle.accountants.bounds.chords import Node
from symshuffle.engines import Exact
from symshuffle.vectors import PrivUnit, SphereLinear, which_order
from symshuffle.vectors.privacy import dominance
from symshuffle.vectors.privacy.pairs import FinitePair, worst_pair

BIT = FinitePair((F(3, 4), F(1, 4)), (F(1, 2), F(1, 2)), (F(1, 4), F(1, 4)), "a bit against none")
RARE = FinitePair((F(1, 10), F(9, 10)), (F(1, 20), F(19, 20)), (F(1, 20), F(9, 10)), "a rare output")
SAME = FinitePair((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)), (F(1, 4), F(1, 4)), "two bits")
CROSSED = FinitePair((F(1, 8), F(7, 8)), (F(1, 12), F(11, 12)), (F(1, 12), F(7, 8)), "crossing")


def profile(pair, n, x):
    rest = 1 - sum(pair.reference)
    rows = zip(pair.first, pair.second, pair.reference, strict=True)
    atoms = [(F(0), rest), *(((p - x * q) / r, r) for p, q, r in rows)]
    return Exact().bracket(Law.from_atoms(atoms), n).exact


@pytest.mark.parametrize("n", [1, 4, 9])
@pytest.mark.parametrize("pair", [BIT, RARE, SAME, CROSSED], ids=lambda pair: pair.about)
def test_exact_verdicts_are_the_signs_of_exact_profiles(pair, n):
    found = which_order(pair, n, high="3/4")
    found.verify()
    assert found.undecided == ()
    for (a, b), verdict in zip(itertools.pairwise(found.orders), found.verdicts, strict=True):
        for x in (a, (3 * a + b) / 4, (a + b) / 2, b):
            gap = profile(pair, n, x) - profile(pair.reverse, n, x)
            assert {"forward": gap >= 0, "reverse": gap <= 0, "equal": gap == 0}[verdict]


def test_by_brackets_as_exactly(monkeypatch):
    exact = which_order(BIT, 6, high="1/5").larger, which_order(RARE, 6, high="1/50").larger
    assert exact == ("reverse", "forward")
    monkeypatch.setitem(dominance._few.__kwdefaults__, "most", 0)
    for pair, high, larger in ((BIT, "1/5", exact[0]), (RARE, "1/50", exact[1])):
        found = which_order(pair, 6, high=high)
        assert found.larger is larger
        found.verify()
    open_one = which_order(RARE, 40, high="1/5", evaluations=5)
    assert open_one.larger == "undecided"
    assert open_one.undecided


def test_enclosed_masses_are_compared_by_brackets():
    found = which_order(
        worst_pair(PrivUnit("2/3", "1/5", 5), adjacency="zero-out"), 4, low="1/20", high="1/10", evaluations=40
    )
    assert found.arithmetic == "float64"
    assert found.to_dict()["larger"] in {"forward", "reverse"}
    found.verify()


def test_a_pair_that_is_its_own_reverse():
    found = which_order(worst_pair(SphereLinear("1/2", 3), adjacency="replace-one"), 10**6, high=1)
    assert found.larger == "equal"
    found.verify()


def test_what_is_wrong_is_named():
    pair = worst_pair(SphereLinear("1/2", 1), adjacency="zero-out")
    with pytest.raises(InputError, match="high"):
        which_order(pair, 5, low=1, high="1/2")
    with pytest.raises(InputError, match="evaluations"):
        which_order(pair, 5, high=1, evaluations=2)
    with pytest.raises(InputError, match="reference"):
        which_order(FinitePair((F(1, 2), F(1, 2)), (F(1), F(0)), (F(1, 2), F(0)), "uncovered"), 5, high=1)


def test_lines_may_cross_below_a_chord_that_they_are_above_at_both_ends():
    """Convex values 9, 5, 4, 4: between 1 and 2 all that is known is above 5 - 4 (x - 1) and above 4."""
    above = [Node(F(x), F(y), F(y)) for x, y in enumerate((9, 5, 4, 4))]
    apart = [Node(F(x), y, y) for x, y in enumerate((F(10), F(49, 10), F(39, 10), F(39, 10)))]
    below = [Node(F(x), y, y) for x, y in enumerate((F(10), F(4), F(4), F(4)))]
    assert not dominance._apart(above, apart, 1)
    assert dominance._apart(above, below, 1)
