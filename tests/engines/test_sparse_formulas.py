"""Copies off the heaviest atom: the sum, what is neglected, where it stops and what is refused, worked out by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import flint
import pytest

from symshuffle.engines import sparse
from symshuffle.engines.exact import Exact
from symshuffle.engines.sparse import Sparse
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import Ball, working_precision
from symshuffle.results import Rigour

LAW = Law((F(3), F(1, 2), F(-1)), (F(1, 100), F(97, 100), F(1, 50)), F(1, 9))


def partial(law, n, deepest):
    """E[S_+; N <= K] over all tuples in which at most K copies are off the heaviest atom."""
    heavy = max(law.atoms(), key=lambda atom: atom[1])
    total = F(0)
    for drawn in itertools.product(law.atoms(), repeat=n):
        if sum(atom != heavy for atom in drawn) <= deepest:
            total += math.prod((w for _, w in drawn), start=F(1)) * max(sum(v for v, _ in drawn), F(0))
    return total


@pytest.mark.parametrize(("rel", "deepest"), [(0.9, 1), (1e-2, 3), (1e-10, 5)])
def test_the_sum_stops_where_the_rest_is_small(rel, deepest):
    """Over N <= K; the rest is n (1/2) q^(K+1)/(K+1)! of the heavy atom and 3 q q^K/K! of the others, q = n 3/100."""
    n = 5
    with working_precision(200):
        total, rest, reached = Sparse(rel=rel)._sum(LAW, n)
        q, ball = F(3, 100) * n, Ball.from_arb(total, 150)

    def bound(k):
        return n * F(1, 2) * q ** (k + 1) / math.factorial(k + 1) + 3 * q * q**k / math.factorial(k)

    expected = partial(LAW, n, reached)
    assert ball.lower <= expected <= ball.upper and ball.upper - ball.lower < F(1, 10**30)
    assert reached == deepest
    if reached < n:
        assert float(rest.upper()) == pytest.approx(float(bound(reached)), rel=1e-7) and rest.lower() <= 0
        assert bound(reached) < expected * F(rel) / 8
    else:
        assert rest == 0
    if reached:
        assert bound(reached - 1) >= partial(LAW, n, reached - 1) * F(rel) / 8


def test_the_bracket_is_the_sum_and_the_rest_over_n():
    n = 5
    truth = partial(LAW, n, n) / n + F(1, 9)
    found = Sparse(rel=0.9).bracket(LAW, n)
    assert found.lower <= truth <= found.upper and found.rigour is Rigour.BALL
    q = F(3, 20)
    bound = n * F(1, 2) * q**2 / 2 + 3 * q * q
    low = partial(LAW, n, 1) / n + F(1, 9)
    assert float(found.upper - low) == pytest.approx(float(bound / n), rel=1e-7)
    assert found.lower == max(low, LAW.mean + F(1, 9)) or abs(found.lower - low) < F(1, 10**40)
    fine = Sparse(rel=1e-12).bracket(LAW, n)
    assert fine.width < F(1, 10**20) and fine.lower <= truth <= fine.upper


def test_a_bracket_that_stops_at_once_is_never_below_the_mean():
    law = Law((F(1), F(9, 10)), (F(19, 20), F(1, 20)), F(1, 3))
    assert Sparse(rel=0.99).bracket(law, 9).lower >= law.mean + F(1, 3)


def test_an_enumeration_ends_where_it_may_go_no_deeper(monkeypatch):
    """Beside j + 1 copies all count vectors of j + 1 over three atoms are counted: 10 of them for three copies."""
    with working_precision(200):
        engine = Sparse(rel=1e-30, largest=9)
        assert engine._sum(LAW, 9)[2] == 2
        assert Sparse(rel=1e-30, largest=10)._sum(LAW, 9)[2] == 3
        monkeypatch.setattr(sparse, "_DEEPEST", 2)
        assert Sparse(rel=1e-30)._sum(LAW, 9)[2] == 2


def test_the_two_parts_of_what_is_neglected():
    with working_precision(100):
        heavy = sparse._on_the_heaviest(7, flint.arb("0.5"), flint.arb("0.25"), 2)
        assert float(heavy) == pytest.approx(7 * 0.5 * 0.25**3 / 6)
        assert sparse._on_the_heaviest(7, flint.arb("-0.5"), flint.arb("0.25"), 2) == 0
        beside = sparse._beside_it(F(3), flint.arb("0.25"), 2)
        assert float(beside) == pytest.approx(3 * 0.25 * 0.25**2 / 2)
        assert float(sparse._beside_it(F(3), flint.arb("0.25"), 4)) == pytest.approx(3 * 0.25**5 / 24)


@pytest.mark.parametrize("deepest", [0, 1, 3])
def test_what_is_neglected_covers_the_binomial_tails_and_little_more(deepest):
    """P(N > K) and E[N; N > K] of a binomial count of 1000 copies, a hundred thousandth each."""
    n, q = 1000, 1e-5
    chances = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(deepest + 12)][deepest + 1 :]
    mean = sum(k * chance for k, chance in enumerate(chances, deepest + 1))
    with working_precision(100):
        heavy = float(sparse._on_the_heaviest(n, flint.arb(1), flint.arb("0.01"), deepest))
        beside = float(sparse._beside_it(F(1), flint.arb("0.01"), deepest))
    assert n * sum(chances) <= heavy < 1.05 * n * sum(chances)
    assert mean * (1 - 1e-12) <= beside < 1.05 * mean


def planned(expected, rel):
    """The first K with expected^K / K! at most a millionth of rel."""
    k, term = 0, 1.0
    while term > 1e-6 * rel:
        k += 1
        term *= expected / k
    return k


@pytest.mark.parametrize("rel", [1e-10, 0.5])
def test_refusals_count_vectors_of_the_depth_that_is_planned(rel):
    """30 copies are expected off the heaviest atom of 1000; all count vectors of that depth have to be allowed."""
    deepest = planned(30.0, rel)
    largest = math.comb(deepest + 2, deepest)
    assert Sparse(rel=rel, largest=largest).refusal(LAW, 1000) is None
    assert "30 copies" in Sparse(rel=rel, largest=largest - 1).refusal(LAW, 1000)


def test_refusals_by_depth_and_what_is_never_refused(monkeypatch):
    deepest = planned(30.0, 0.5)
    monkeypatch.setattr(sparse, "_DEEPEST", deepest)
    assert Sparse(rel=0.5).refusal(LAW, 1000) is None
    monkeypatch.setattr(sparse, "_DEEPEST", deepest - 1)
    assert Sparse(rel=0.5).refusal(LAW, 1000) is not None
    assert Sparse(rel=0.5).refusal(LAW, 3) is None  # never deeper than n
    assert Sparse().refusal(Law((1.0, -1.0), (0.5, 0.5)), 3) is not None
    never = Law((F(0), F(-1)), (F(1, 2), F(1, 2)), F(1, 8))
    assert Sparse().refusal(never, 10**9) is None
    found = Sparse().bracket(never, 10**9)
    assert found.lower == found.upper == F(1, 8)
    with pytest.raises(Unsupported, match="n = 1000"):
        Sparse().bracket(LAW, 1000)


def test_the_heaviest_is_told_by_its_lower_end_and_the_others_by_their_upper_ends():
    """Weights in balls: the expected number off the heaviest atom is counted from above."""
    wide = Law((F(1), F(-1), F(0)), (Ball(F(1, 100), F(3, 100)), F(95, 100), Ball(F(2, 100), F(4, 100))))
    assert "70 copies" in Sparse(largest=1).refusal(wide, 1000)


def test_settings():
    assert Sparse.offered(LAW, Rigour.EXACT, 1e-3) is None
    assert Sparse.offered(LAW, None, 1e-3) == Sparse(rel=1e-3) == Sparse.aiming(1e-3, 64)
    assert Sparse().name == "sparse"
    for rel in (0.0, 1.0, -0.5, 2.0):
        with pytest.raises(InputError, match="rel"):
            Sparse(rel=rel)
    for total, parts in ((0, 0), (2, 0), (0, 1), (3, 1), (3, 2), (2, 4)):
        expected = [c for c in itertools.product(range(total + 1), repeat=parts) if sum(c) == total]
        assert sorted(sparse._compositions(total, parts)) == sorted(expected)


def test_copies_off_the_heaviest_atom_against_the_exact_engine():
    for n in (1, 2, 6):
        truth = Exact().bracket(LAW, n).exact
        for rel in (0.9, 1e-3, 1e-20):
            found = Sparse(rel=rel).bracket(LAW, n)
            assert found.lower <= truth <= found.upper and found.width <= F(rel) * found.upper
