"""Reduction pairs, decompositions, blankets and clones: every weight worked out by hand or from its definition."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from symshuffle.channel import Channel
from symshuffle.decompositions.blanket import (
    merge_proportional,
    primary_decomposition,
    privacy_blanket,
    simplified_decomposition,
)
from symshuffle.decompositions.model import Decomposition, ReductionPair
from symshuffle.errors import InputError

F = Fraction
HALF, THIRD, QUARTER = F(1, 2), F(1, 3), F(1, 4)
PAIR = ReductionPair((HALF, QUARTER, QUARTER), (QUARTER, HALF, QUARTER), (HALF, HALF, F(0)))


def test_the_law_of_g_by_hand():
    """G = (a - x b)/c where c > 0; the rest gives (a - x b)_+: at x = 1/2 the third one 1/4 - 1/8."""
    law = PAIR.gparv(HALF)
    assert dict(zip(law.values, law.weights, strict=True)) == {F(3, 4): HALF, F(0): HALF}
    assert law.singular == F(1, 8)
    back = PAIR.gparv(HALF, direction="reverse")
    assert dict(zip(back.values, back.weights, strict=True)) == {F(0): HALF, F(3, 4): HALF}
    skew = ReductionPair((HALF, HALF, F(0)), (QUARTER, QUARTER, HALF), (HALF, QUARTER, QUARTER))
    forward, reverse = skew.gparv(2), skew.gparv(2, direction="reverse")
    assert dict(zip(forward.values, forward.weights, strict=True)) == {F(0): F(3, 4), F(-4): QUARTER}
    assert dict(zip(reverse.values, reverse.weights, strict=True)) == {F(-3, 2): HALF, F(-3): QUARTER, F(2): QUARTER}
    assert forward.singular == reverse.singular == 0
    assert PAIR.gparv(2).singular == 0  # 1/4 - 2/4 is negative


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("x", [1, F(3, 2)])
def test_the_divergence_is_the_sum_over_strings(n, x):
    """Every string of n components, its counts, its probability under both laws."""
    laws = []
    for own in (PAIR.a0, PAIR.a1):
        law: dict[tuple[int, ...], Fraction] = {}
        for string in itertools.product(range(3), repeat=n):
            mass = own[string[0]]
            for j in string[1:]:
                mass *= PAIR.a2[j]
            key = tuple(string.count(j) for j in range(3))
            law[key] = law.get(key, F(0)) + mass
        laws.append(law)
    for direction, (p, q) in (("forward", laws), ("reverse", laws[::-1])):
        expected = sum(max(p[h] - x * q[h], F(0)) for h in p)
        assert PAIR.divergence(n, x, direction=direction) == expected
        # Theorem 12: the same from independent copies of G, plus the singular mass.
        law = PAIR.gparv(x, direction=direction)
        atoms = list(zip(law.values, law.weights, strict=True))
        mean = F(0)
        for drawn in itertools.product(atoms, repeat=n):
            weight = F(1)
            for _, w in drawn:
                weight *= w
            mean += weight * max(sum(v for v, _ in drawn), F(0))
        assert mean / n + law.singular == expected


def test_skew_pairs_have_two_divergences():
    skew = ReductionPair((HALF, HALF), (QUARTER, F(3, 4)), (HALF, HALF))
    assert skew.divergence(1, 2) == 0
    assert skew.divergence(1, F(3, 2)) == F(1, 8)
    assert skew.divergence(1, F(5, 4), direction="reverse") == F(1, 8)
    assert not skew.unsound
    with pytest.raises(InputError, match="n = 0"):
        skew.divergence(0, 2)
    with pytest.raises(InputError, match="direction"):
        skew.divergence(1, 2, direction="sideways")


@pytest.mark.parametrize("place", ["a0", "a1", "a2"])
def test_a_pair_needs_three_distributions(place):
    good = {"a0": (HALF, HALF), "a1": (F(1), F(0)), "a2": (THIRD, F(2, 3))}
    ReductionPair(**good)
    for masses in ((HALF, F(2, 3)), (F(3, 2), F(-1, 2))):
        with pytest.raises(InputError, match=f"{place} ="):
            ReductionPair(**{**good, place: masses})
    with pytest.raises(InputError, match="masses"):
        ReductionPair(**{**good, place: (HALF, QUARTER, QUARTER)})


QS = ((F(1), F(0), F(0)), (F(0), HALF, HALF))
PARTS = Decomposition((HALF, HALF), (QUARTER, F(3, 4)), (QUARTER, QUARTER), HALF, QS)


def test_parts_of_a_decomposition():
    assert PARTS.gamma == HALF
    assert PARTS.common() == (QUARTER, F(1, 8), F(1, 8))
    pair = PARTS.reduction_pair()
    assert (pair.a0, pair.a1) == ((HALF, HALF, 0), (QUARTER, F(3, 4), 0))
    assert pair.a2 == (QUARTER, QUARTER, HALF)
    assert PARTS.left_over((HALF, QUARTER, QUARTER)) == (HALF, QUARTER, QUARTER)
    assert PARTS.left_over((QUARTER, F(5, 8), F(1, 8))) == (0, 1, 0)


def test_parts_that_are_not_there():
    with pytest.raises(InputError, match="components"):
        Decomposition((F(1),), (F(1),), (HALF,), HALF).left_over((F(1),))
    with pytest.raises(InputError, match="beta"):
        Decomposition((F(1),), (F(1),), (F(1),), F(0), ((F(1),),)).left_over((F(1),))
    assert Decomposition((F(1),), (F(1),), (HALF,), HALF).violations(Channel.from_rows([[1]]), (0, 0)) == [
        "the decomposition carries no components"
    ]


def test_every_violation_is_named_and_no_other():
    rows = [["1/2", "1/4", "1/4"], ["1/4", "3/8", "3/8"], ["1/4", "5/8", "1/8"]]
    assert PARTS.violations(Channel.from_rows(rows), (0, 1)) == []
    assert PARTS.violations(Channel.from_rows(rows), (1, 0)) == [
        *(f"sum of a_j Q^j differs from row 1 at output {y}" for y in range(3)),
        *(f"sum of b_j Q^j differs from row 0 at output {y}" for y in range(3)),
    ]
    rows[2] = ["1/4", "21/32", "3/32"]  # the third entry is below 1/8
    assert PARTS.violations(Channel.from_rows(rows), (0, 1)) == ["left-over of input 2 is negative at output 2"]


def test_weights_that_are_none():
    good = ((HALF, HALF), (HALF, HALF), (QUARTER, QUARTER), HALF)
    Decomposition(*good)
    for i, name in ((0, "a"), (1, "b"), (2, "c and beta")):
        for masses in ((HALF, THIRD), (F(5, 4), F(-1, 4)) if i < 2 else (F(3, 4), F(-1, 4))):
            with pytest.raises(InputError, match=f"{name} ="):
                Decomposition(*(masses if j == i else part for j, part in enumerate(good)))
        with pytest.raises(InputError, match="weights"):
            Decomposition(*((HALF, QUARTER, QUARTER) if j == i else part for j, part in enumerate(good)))
    with pytest.raises(InputError, match="c and beta = -1/4"):
        Decomposition((F(1),), (F(1),), (F(5, 4),), -QUARTER)


W = Channel.from_rows([["1/2", "1/4", "1/4", 0], ["1/4", "1/2", "1/4", 0], ["1/8", "1/8", "3/4", 0]])


def test_the_blanket_by_hand():
    found = privacy_blanket(W)
    assert found.gamma == HALF
    assert found.omega == (QUARTER, QUARTER, HALF, 0)
    assert found.left_overs == ((F(3, 4), QUARTER, 0, 0), (QUARTER, F(3, 4), 0, 0), (0, 0, 1, 0))


def test_blankets_of_nothing_and_of_everything():
    apart = privacy_blanket(Channel.from_rows([[1, 0], [0, 1]]))
    assert (apart.gamma, apart.omega, apart.left_overs) == (0, None, ((1, 0), (0, 1)))
    same = privacy_blanket(Channel.from_rows([["1/3", "2/3"]] * 2))
    assert (same.gamma, same.omega, same.left_overs) == (1, (THIRD, F(2, 3)), None)
    # 0.1 + 0.2 + 0.7 is below 1 in doubles: the rest is rounding, and no left-over.
    rounded = Channel.from_rows([[0.1, 0.2, 0.7]] * 2)
    assert privacy_blanket(rounded).left_overs is None
    assert primary_decomposition(rounded, (0, 1)).beta == 0.0
    whole = Channel.from_rows([[0.25, 0.75], [0.75, 0.25]])
    assert privacy_blanket(whole).left_overs == ((0.0, 1.0), (1.0, 0.0))
    assert primary_decomposition(whole, (0, 1)).beta == 0.5


def test_the_primary_decomposition_by_hand():
    found = primary_decomposition(W, (2, 0))
    assert (found.a, found.b) == (W.rows[2], W.rows[0])
    assert found.c == (F(1, 8), F(1, 8), QUARTER, 0)
    assert found.beta == HALF
    assert found.components == tuple(tuple(F(int(y == z)) for z in range(4)) for y in range(4))
    for pair, name in (((-1, 0), "first"), ((3, 0), "first"), ((0, 3), "second")):
        with pytest.raises(InputError, match=f"{name} of pair"):
            primary_decomposition(W, pair)


def test_outputs_of_equal_ratios_merge_and_null_ones_go():
    """Of a : b : c = 2:1:1, 4:2:2, 0:0:0, 1:2:1 the first two merge; shares 4 and 8 of 12 of their components."""
    a, b = (F(2, 8), F(4, 8), F(0), F(2, 8)), (F(1, 8), F(2, 8), F(0), F(5, 8))
    c = (F(1, 8), F(2, 8), F(0), F(1, 8))
    points = tuple(tuple(F(int(y == z)) for z in range(4)) for y in range(4))
    merged = merge_proportional(Decomposition(a, b, c, HALF, points))
    assert (merged.a, merged.b, merged.c) == ((F(6, 8), F(2, 8)), (F(3, 8), F(5, 8)), (F(3, 8), F(1, 8)))
    assert merged.beta == HALF
    assert merged.components == ((THIRD, F(2, 3), 0, 0), (0, 0, 0, 1))
    assert merge_proportional(Decomposition(a, b, c, HALF)).components == ()
    null_first = (F(0), THIRD, F(2, 3)), (F(0), F(2, 3), THIRD), (F(0), HALF, HALF)
    first = merge_proportional(Decomposition(*null_first, F(0)))
    assert (first.a, first.b, first.c) == ((THIRD, F(2, 3)), (F(2, 3), THIRD), (HALF, HALF))
    alone = merge_proportional(Decomposition((F(1),), (F(1),), (HALF,), HALF, ((THIRD, F(2, 3)),)))
    assert alone.components == ((THIRD, F(2, 3)),)
    assert alone.common() == (F(1, 6), THIRD)


def test_singular_masses_add_up():
    apart = ReductionPair((HALF, QUARTER, QUARTER), (F(0), F(1, 8), F(7, 8)), (F(0), F(0), F(1)))
    assert apart.gparv(1).singular == HALF + F(1, 8)
    assert apart.gparv(3).singular == HALF


@pytest.mark.parametrize("other", [(1, 1, 2), (1, 2, 1), (2, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_weights_that_agree_in_one_ratio_only_stay_apart(other):
    """Beside 1 : 1 : 1 every other triple has a minor that does not vanish."""
    a, b, c = (tuple(F(v, 6) for v in (1, w, 5 - w)) for w in other)
    found = merge_proportional(Decomposition(a, b, tuple(v / 2 for v in c), HALF))
    assert (found.a[0], found.b[0], found.c[0]) == (F(1, 6), F(1, 6), F(1, 12))
    assert len(found.a) == 3


def test_merging_keeps_the_law_of_g():
    full, short = primary_decomposition(W, (0, 2)), simplified_decomposition(W, (0, 2))
    assert len(short.a) == 3
    for x in (F(1), F(5, 4), F(3)):
        assert full.reduction_pair().gparv(x) == short.reduction_pair().gparv(x)
