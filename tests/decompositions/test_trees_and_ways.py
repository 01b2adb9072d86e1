"""Trees of mechanisms: names, refusals, ways to differ, sizes and laws, by hand and against explicit channels."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import mechanism
from symshuffle.channel import Channel
from symshuffle.choices import Others
from symshuffle.decompositions.blanket import simplified_decomposition
from symshuffle.decompositions.composition import (
    check_size,
    common_backgrounds,
    components,
    composed_law,
    decomposition,
    hamming,
    has_budget,
    is_mixture,
    is_real,
    joint,
    leaves,
    mixed_law,
    named_classes,
    open_parameters,
    parallel,
    patterns,
    subsample,
)
from symshuffle.decompositions.composition import laws as laws_module
from symshuffle.decompositions.composition import ways as ways_module
from symshuffle.decompositions.composition.tree import _inputs, silent
from symshuffle.decompositions.composition.ways import at_class, differs
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Exp

F = Fraction
X = F(6, 5)
TWO, THREE, FOUR = (mechanism("krr").at(k=k) for k in (2, 3, 4))
HALF = mechanism("half-block").at(k=4)
"""Pairs of its inputs differ in one of two ways: by their distance d = 1 or 2."""
CONSTANT = mechanism("constant").at(k=3)
NOISE = Laplace()


def test_names_and_leaves():
    tree = parallel([joint(TWO, TWO), FOUR], [F(1, 4), F(3, 4)])
    assert tree.name == f"parallel(1/4:joint({TWO!r},2),3/4:{FOUR!r})"
    assert joint(TWO, THREE).name == f"joint({TWO!r},{THREE!r})"
    assert hamming(joint(TWO, TWO), 1).name == f"hamming(joint({TWO!r},2),1)"
    assert leaves(tree) == [TWO, TWO, FOUR]
    assert leaves(TWO) == [TWO]
    assert joint(Laplace(cells=7)).name == "joint(laplace(lam, domain=binary, cells=7),1)"


def test_which_pairs_a_tree_covers():
    assert joint(TWO, TWO).pair == "the worst of all ways in which two inputs can differ"
    assert hamming(joint(TWO, TWO), 2).pair == "two inputs that differ in exactly 2 coordinates"
    assert joint(TWO, TWO).every_pair
    assert not hamming(joint(TWO, TWO), 2).every_pair
    assert not joint(TWO, HALF.pair_classes()[0]).every_pair


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (joint, "joint = no parts"),
        (lambda: parallel([TWO], [F(1, 2)]), "weights"),
        (lambda: parallel([TWO, TWO], [F(1)]), "1 weights"),
        (lambda: parallel([TWO, TWO], [F(3, 2), F(-1, 2)]), "weights"),
        (lambda: parallel([TWO, THREE], [F(1, 2), F(1, 2)]), "2, 3 inputs"),
        (lambda: hamming(joint(TWO, TWO), 3), "distance"),
        (lambda: hamming(joint(TWO, TWO), 0), "distance"),
        (lambda: hamming(parallel([TWO], [F(1)]), 1), "a joint composition"),
        (lambda: subsample(TWO, F(11, 10)), "probability"),
        (lambda: subsample(TWO, F(-1, 10)), "probability"),
        (lambda: joint(Laplace(lam=F(2))), "laplace"),
    ],
)
def test_trees_that_are_none(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_trees_at_the_ends_of_their_ranges():
    assert subsample(TWO, F(0)).weights == (0, 1)
    assert subsample(TWO, F(1)).weights == (1, 0)
    assert subsample(TWO, F(1, 4)).weights == (F(1, 4), F(3, 4))
    assert hamming(joint(TWO, TWO), 2).distance == 2
    assert parallel([TWO, CONSTANT, joint(TWO)], [F(1, 2), F(1, 4), F(1, 4)]).distance is None


def test_how_many_inputs_a_part_has():
    assert (_inputs(THREE), _inputs(NOISE), _inputs(CONSTANT), _inputs(mechanism("krr"))) == (3, None, None, None)
    assert _inputs(joint(TWO, THREE)) == 6
    assert _inputs(joint(TWO, mechanism("krr"))) is None
    assert _inputs(parallel([CONSTANT, THREE], [F(1, 2), F(1, 2)])) == 3
    assert silent(CONSTANT) and not silent(TWO)


def test_budgets_are_asked_for_where_there_is_one():
    tree = joint(TWO, TWO)
    assert tree.at(lam=4).lam == 4
    assert tree.at(eps0=1).lam == Exp(F(1))
    assert tree.at(lam=4).composition is tree
    quiet = joint(mechanism("erasure").at(k=2, p="1/3"))
    assert quiet.at().lam is None
    for composition, named, message in (
        (tree, {}, "eps0, lam"),
        (quiet, {"lam": 3}, "lam = 3"),
        (quiet, {"eps0": 3}, "eps0"),
        (joint(mechanism("krr")), {"lam": 3}, "k = None"),
    ):
        with pytest.raises(InputError, match=message):
            composition.at(**named)
    assert has_budget(tree) and has_budget(NOISE) and not has_budget(quiet)
    assert [p.name for p in open_parameters(joint(mechanism("krr"), TWO))] == ["k"]
    assert open_parameters(NOISE) == []


def test_explicit_channels():
    """Two bits at the root 2 of 4 each: the tensor of [[2/3, 1/3], [1/3, 2/3]] with itself."""
    both = joint(TWO, TWO).channel(F(4))
    single = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    assert both == single.tensor(single)
    mixed = subsample(TWO, F(1, 4)).channel(F(3))
    assert mixed.rows == ((F(3, 16), F(1, 16), F(3, 4)), (F(1, 16), F(3, 16), F(3, 4)))
    assert mixed.num_inputs == 2
    with pytest.raises(Unsupported, match="laplace"):
        joint(NOISE).channel(F(3))
    with pytest.raises(Unsupported, match="order 2"):
        joint(TWO, TWO).channel(F(3))


def test_ways_to_differ_by_hand():
    assert patterns(TWO) == [True]
    assert sorted(patterns(joint(TWO, THREE))) == [(False, True), (True, False), (True, True)]
    assert sorted(patterns(joint(TWO, TWO))) == [(True, False), (True, True)]
    assert patterns(hamming(joint(TWO, TWO, TWO), 1)) == [(True, False, False)]
    assert sorted(patterns(hamming(joint(TWO, THREE, TWO), 2))) == [(True, False, True), (True, True, False)]
    assert patterns(parallel([TWO, TWO], [F(1, 2), F(1, 2)])) == [(True, True)]
    nested = patterns(joint(joint(TWO, TWO), TWO))
    assert ((False, False), True) in nested
    assert ((False, False), False) not in nested
    # Inside: none, one or both of two; outside: two ways; without the one that differs nowhere.
    assert len(nested) == 3 * 2 - 1
    assert (
        differs(((False, False), True)) and not differs(((False, False), False)) and differs(3) and not differs(False)
    )


def test_the_limit_of_ways(monkeypatch):
    """joint(2, 3) has 2 * 2 ways before the one in which nothing differs is left out; parallel has 3 * 3."""
    tree = joint(TWO, THREE)
    monkeypatch.setattr(ways_module, "LARGEST_PATTERNS", 4)
    assert len(patterns(tree)) == 3
    monkeypatch.setattr(ways_module, "LARGEST_PATTERNS", 3)
    with pytest.raises(Unsupported, match="4 ways to differ"):
        patterns(tree)
    with pytest.raises(Unsupported, match=r"parallel.* 4 ways to differ"):
        patterns(parallel([joint(TWO, TWO)] * 2, [F(1, 2)] * 2))
    # Three equal parts with two ways each: C(2 + 3 - 1, 3) = 4 multisets.
    with pytest.raises(Unsupported, match="has 4 ways"):
        patterns(joint(TWO, TWO, TWO))


def test_parts_that_share_their_input():
    half, several = HALF, patterns(HALF)
    assert sorted(several) == [1, 2]
    first, second = several[:2]
    twice = parallel([half, half], [F(1, 2), F(1, 2)])
    assert is_real(twice, (first, first)) and not is_real(twice, (first, second))
    assert is_real(joint(half, half), (first, second))
    assert is_real(half, first)
    assert not is_real(joint(twice, TWO), ((first, second), True))
    assert is_real(parallel([half, FOUR], [F(1, 2), F(1, 2)]), (first, True))
    assert len(list(named_classes(joint(half, TWO), (first, True)))) == 1
    assert list(named_classes(joint(half, TWO), (False, True))) == []
    assert at_class(half, False) == half and at_class(half, True) == half
    assert at_class(half, first).pair.value is not None
    assert at_class(TWO, 1) == TWO


def explicit_law(channel: Channel, pair: tuple[int, int], direction: str = "forward"):
    return simplified_decomposition(channel, pair).reduction_pair().gparv(X, direction=direction)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("tree", "lam", "pattern", "pair"),
    [
        (joint(TWO, TWO), F(4), (True, False), (0, 2)),
        (joint(TWO, TWO), F(4), (True, True), (0, 3)),
        (joint(TWO, THREE), F(4), (False, True), (0, 1)),
        (subsample(THREE, F(1, 3)), F(3), (True, True), (0, 1)),
        (joint(mechanism("erasure").at(k=2, p="1/3"), TWO), F(4), (True, True), (0, 3)),
    ],
)
def test_laws_are_those_of_the_explicit_channel(tree, lam, pattern, pair, direction):
    """Row by row: inputs of a joint are numbered with the last coordinate running fastest."""
    law = composed_law(tree, pattern, X, lam=lam, direction=direction)
    expected = explicit_law(tree.channel(lam), pair, direction)
    assert law == expected
    mixed = mixed_law(tree, pattern, X, lam=lam, direction=direction)
    assert (mixed.values, mixed.weights, mixed.singular) == (law.values, law.weights, law.singular)


def test_symbolic_decompositions_of_trees():
    """Two equal bits that both differ: ratios q^2, q twice... at q = sqrt lam, and a left-over of 1 - (2/(q + 1))^2."""
    found = decomposition(joint(TWO, TWO), (True, True))
    q = sp.sqrt(LAM)
    assert sp.simplify(found.beta - (1 - (2 / (q + 1)) ** 2)) == 0
    assert {cell.ratios for cell in found.cells} == {(LAM, 1), (q, q), (1, LAM)}
    for cell in found.cells:
        assert sp.simplify(cell.a - cell.ratios[0] * cell.c) == 0
        assert sp.simplify(cell.b - cell.ratios[1] * cell.c) == 0
    exact = decomposition(joint(TWO, TWO), (True, True), others="second")
    assert exact.beta == 0
    for tree in (joint(NOISE), joint(TWO, NOISE), NOISE):
        with pytest.raises(Unsupported, match="laplace"):
            decomposition(tree, (True, True))
    lost = decomposition(joint(mechanism("erasure").at(k=2, p="1/3")), (True,))
    assert lost.singular() == sp.Rational(2, 3)


def test_digits_that_cancel_are_taken_before_they_are_lost():
    """The atom lam^(1/3) - x at lam = 8 + 10^-12 and x = 2 is 10^-12 / 12 to first order; 64 bits end at 10^-19."""
    law = composed_law(joint(TWO, TWO, TWO), (True, False, False), F(2), lam=F(8) + F(1, 10**12), bits=64)
    small = min(law.values[:-1], key=lambda v: abs(v.midpoint))
    assert float(small.midpoint) * 12e12 == pytest.approx(1, rel=1e-9)
    assert small.radius < abs(small.midpoint) / 10**9


def test_missing_budgets():
    with pytest.raises(InputError, match="lam = None"):
        composed_law(TWO, True, X, lam=None)
    quiet = mechanism("erasure").at(k=2, p="1/3")
    assert composed_law(joint(quiet), (True,), X, lam=None).singular == F(2, 3)


def test_mixtures_and_their_laws():
    assert is_mixture(NOISE) and is_mixture(parallel([NOISE, TWO], [F(1, 2)] * 2)) and is_mixture(joint(TWO, TWO))
    assert not is_mixture(joint(NOISE, TWO)) and not is_mixture(parallel([NOISE, joint(NOISE)], [F(1, 2)] * 2))
    tree = parallel([NOISE, TWO], [F(1, 4), F(3, 4)])
    for direction in ("forward", "reverse"):
        for others in ("blanket", "first", "second"):
            whole = mixed_law(tree, (True, True), X, lam=F(3), others=others, direction=direction)
            discrete = composed_law(TWO, True, X, lam=F(3), others=others, direction=direction)
            noise = Laplace(lam=F(3))
            if others == "blanket":
                part = noise.mixed_law(X, direction=direction)
            else:
                swapped = {"forward": "reverse", "reverse": "forward"}[direction]
                part = noise.mixed_background(X, direction=direction if others == "second" else swapped)
            from symshuffle.mixed_law import MixedLaw

            second = MixedLaw(discrete.values, discrete.weights, (), discrete.singular)
            assert whole == MixedLaw.mixture([(F(1, 4), part), (F(3, 4), second)])


def test_backgrounds_in_common():
    assert common_backgrounds(joint(THREE, THREE)) == [Others.THIRD, Others.SECOND, Others.FIRST]
    for tree in (joint(THREE, TWO), joint(THREE, NOISE), NOISE, TWO):
        assert common_backgrounds(tree) == [Others.SECOND, Others.FIRST]
    assert common_backgrounds(subsample(THREE, F(1, 2)))[0] is Others.THIRD


def test_how_many_components():
    """One bit has 2 cells (the input itself and the other one, whether or not two users hold it); C(3, 2) multisets."""
    assert components(TWO, True) == components(TWO, False) == 2
    assert components(THREE, True) == 3 and components(THREE, False) == 2
    assert components(NOISE, True) == 2
    assert components(joint(TWO, TWO), (True, True)) == 3
    assert components(joint(TWO, TWO), (True, False)) == 2 * 2
    assert components(joint(TWO, TWO, TWO), (True, True, True)) == 4
    assert components(joint(TWO, THREE), (True, True)) == 2 * 3
    assert components(subsample(TWO, F(1, 2)), (True, True)) == 3


def test_the_limit_of_products(monkeypatch):
    """joint(2, 2): 4 components at one way and 3 at the other, times 2 leaves: 14."""
    tree = joint(TWO, TWO)
    monkeypatch.setattr(laws_module, "LARGEST_PRODUCTS", 14)
    check_size(tree, patterns(tree))
    monkeypatch.setattr(laws_module, "LARGEST_PRODUCTS", 13)
    with pytest.raises(Unsupported, match="2 ways to differ, and about 14 products"):
        check_size(tree, patterns(tree))


def test_laplace_leaves_of_a_joint_composition_get_fewer_cells():
    """Alone all of its cells; as one of m leaves cells // (4 m), at least 1; 2 branches, 1 constant piece each."""
    noise = Laplace(cells=40)
    alone = composed_law(noise, True, X, lam=F(4), side="lower")
    assert len(alone.values) == 2 * 41 + 1  # the left-over is the atom 0
    pair = composed_law(joint(noise, TWO), (True, False), X, lam=F(16), side="lower")
    assert len(pair.values) == 2 * 2 * (40 // 8 + 1) + 1
    few = composed_law(joint(Laplace(cells=3), TWO), (True, False), X, lam=F(16), side="lower")
    assert len(few.values) == 2 * 2 * (1 + 1) + 1
