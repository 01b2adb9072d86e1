"""Sizes of messages in comparisons and plans, and rows at many categories."""

from fractions import Fraction as F

import pytest

from symshuffle import compare, randomizer
from symshuffle.base.numbers import enclose
from symshuffle.collect import plan_survey
from symshuffle.design.comparison.families import HASHED
from symshuffle.mechanisms.hashing import hyperplane_bits, hyperplanes
from symshuffle.mechanisms.registry import thinned
from symshuffle.utility.estimation import votes


@pytest.mark.parametrize("name", ["olh", "blh"])
@pytest.mark.parametrize(("k", "n", "eps"), [(300, 100_000, "1"), (40, 1000, "1/2")])
def test_a_comparison_and_a_plan_send_messages_of_one_size(name, k, n, eps):
    (row,) = compare(k, n=n, eps=eps, delta="1e-6", mechanisms=[name]).rows
    plan = plan_survey(k, n=n, eps=eps, delta="1e-6", mechanism=name)
    assert row.bits == plan.scheme.bits < k


@pytest.mark.parametrize("name", sorted(HASHED))
@pytest.mark.parametrize("k", [30, 300])
def test_hashing_that_is_brought_sends_the_same_messages(name, k):
    fixed = {"g": 3} if name == "olh" else {}
    g = fixed.get("g", 2)
    null = thinned(name).at(k=k, p=F(1, 2), **fixed)
    found = compare(k, n=1000, eps0=1, mechanisms=[randomizer(name).at(k=k, **fixed), null])
    assert {"thinned" in row.name: row.bits for row in found.rows} == {
        False: hyperplane_bits(k, g),
        True: hyperplane_bits(k, g, more=1),
    }


def test_hashing_in_an_expression_sends_the_same_messages():
    (row,) = compare(30, n=1000, eps0=1, mechanisms=["joint(olh(k=10,g=3),blh(k=3))"]).rows
    assert row.bits == (hyperplanes(10, 3) * hyperplanes(3, 2) - 1).bit_length()


def test_bits_name_every_hyperplane():
    for k in range(2, 40):
        for g in (2, 3, 5, 7):
            length = next(m for m in range(1, 9) if g**m >= k)
            assert 2 ** (hyperplane_bits(k, g) - 1) < g ** (length + 1) <= 2 ** hyperplane_bits(k, g)
    assert hyperplane_bits(300, 6) == hyperplane_bits(300, 7)


@pytest.mark.parametrize(("hit", "miss", "other"), [(F(9, 2), F(1, 2), F(1, 9)), (F(50), F(1, 20), F(1, 1000))])
def test_sums_near_the_mean_enclose_the_whole_sums(monkeypatch, hit, miss, other):
    whole = votes._string_sums(3000, enclose(hit), miss, other, 128)
    monkeypatch.setitem(votes._string_sums.__kwdefaults__, "longest_whole", 100)
    near = votes._string_sums(3000, enclose(hit), miss, other, 128)
    for one, two in zip(whole, near, strict=True):
        assert two.lower <= one.upper and one.lower <= two.upper
        assert two.upper - two.lower <= two.upper / 2**100
    monkeypatch.setitem(votes._added_near_mean.__kwdefaults__, "reach", 2)
    for one, two in zip(whole, votes._string_sums(3000, enclose(hit), miss, other, 128), strict=True):
        assert two.lower <= one.lower and one.upper <= two.upper
        assert two.lower < one.lower - one.lower / 10**6


def test_a_million_categories_have_a_row():
    (row,) = compare(10**6, n=10**6, eps0=12, mechanisms=["olh"]).rows
    assert row.bits < 64
    assert 0 < row.risk.lower <= row.risk.upper
