"""Which order is larger, part by part: sums over histograms by enumeration, verdicts from signs, false comparisons."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import pytest

from symshuffle.accountants.chords import Node
from symshuffle.choices import Larger, Rigour
from symshuffle.errors import CertificateError, InputError
from symshuffle.numbers import Ball, Exp
from symshuffle.results import Bracket
from symshuffle.vectors import dominance
from symshuffle.vectors.dominance import OrderComparison, tangent_at_one, which_order
from symshuffle.vectors.pairs import FinitePair

BIT = FinitePair((F(3, 4), F(1, 4)), (F(1, 2), F(1, 2)), (F(1, 4), F(1, 4)), "a bit against none")
CROSSED = FinitePair((F(1, 8), F(7, 8)), (F(1, 12), F(11, 12)), (F(1, 12), F(7, 8)), "crossing")
FULL = FinitePair((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)), (F(1, 2), F(1, 2)), "a blanket without a rest")
NEVER = FinitePair((F(1, 2), F(1, 2)), (F(0), F(1)), (F(1, 4), F(1, 2)), "an output of the first law alone")
FORWARD, REVERSE, EQUAL, OPEN = Larger.FORWARD, Larger.REVERSE, Larger.EQUAL, Larger.UNDECIDED


def profile(pair, n, x, *, reverse=False):
    """E(X - xY)_+ by all sequences of n outputs."""
    rest = 1 - sum(pair.reference)
    first, second = (pair.second, pair.first) if reverse else (pair.first, pair.second)
    rows = [(p / r, q / r, r) for p, q, r in zip(first, second, pair.reference, strict=True)] + [(F(0), F(0), rest)]
    total = F(0)
    for drawn in itertools.product(rows, repeat=n):
        total += math.prod(r for *_, r in drawn) * max(sum((a - x * b for a, b, _ in drawn), F(0)), F(0))
    return total / n


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("pair", [BIT, CROSSED, FULL, NEVER], ids=lambda pair: pair.about)
def test_the_gap_is_that_of_both_profiles_at_corners_and_between(pair, n):
    sums = dominance._Sums.of(pair, n)
    assert list(sums.ratios) == sorted(set(sums.ratios))
    inner = [t for t in sums.ratios if t > 1]
    for x in (F(1), F(11, 10), F(3, 2), F(3), *inner[:3], *(1 / t for t in sums.ratios if 0 < t < 1)):
        assert sums.gap(x) == profile(pair, n, x) - profile(pair, n, x, reverse=True)


@pytest.mark.parametrize("pair", [BIT, CROSSED, FULL], ids=lambda pair: pair.about)
def test_stretches_end_where_the_sign_changes(pair):
    found = which_order(pair, 3, high=1)
    assert found.rigour is Rigour.EXACT and found.undecided == ()
    assert found.orders[0] == 1 and found.orders[-1] > math.e > found.orders[-1] - F(1, 10**6)
    for left, right in itertools.pairwise(found.verdicts):
        assert left is not right  # neighbours of one verdict are one stretch
    for (a, b), verdict in zip(itertools.pairwise(found.orders), found.verdicts, strict=True):
        gaps = [profile(pair, 3, x) - profile(pair, 3, x, reverse=True) for x in (a, (a + b) / 2, b)]
        assert {FORWARD: min(gaps) >= 0, REVERSE: max(gaps) <= 0, EQUAL: not any(gaps)}[verdict]
        assert verdict is EQUAL or gaps[1] != 0


def comparison(*verdicts, orders=None, **changed):
    orders = tuple(F(k + 4, 4) for k in range(len(verdicts) + 1)) if orders is None else orders
    given = {"pair": BIT, "n": 2, "low": orders[0], "high": orders[-1], "orders": orders, "verdicts": verdicts}
    return OrderComparison(**given | {"rigour": "exact"} | changed)


def test_the_verdict_on_the_whole_range():
    for verdicts, larger in (
        ((FORWARD, EQUAL), FORWARD),
        ((REVERSE, EQUAL, REVERSE), REVERSE),
        ((EQUAL, EQUAL), EQUAL),
        ((FORWARD, OPEN), OPEN),
        ((FORWARD, REVERSE), Larger.CROSSING),
        ((FORWARD, OPEN, REVERSE), Larger.CROSSING),
    ):
        assert comparison(*verdicts).larger is larger
    assert comparison(FORWARD, OPEN, EQUAL, OPEN).undecided == ((F(5, 4), F(3, 2)), (F(7, 4), F(2)))


def test_neighbours_of_one_verdict_are_told_as_one():
    told = comparison(FORWARD, FORWARD, REVERSE).to_dict()
    assert told["exp_eps"] == [
        {"from": 1.0, "to": 1.5, "larger": "forward"},
        {"from": 1.5, "to": 1.75, "larger": "reverse"},
    ]
    assert told["larger"] == "crossing" and told["rigour"] == "exact" and "n = 2" in told["about"]


def test_false_comparisons_fall():
    found = which_order(BIT, 2, high="1/2")
    found.verify()
    (verdict,) = set(found.verdicts)
    assert verdict is REVERSE
    for false, place in (
        (replace(found, verdicts=(FORWARD,)), "verdicts"),
        (replace(found, verdicts=(EQUAL,)), "verdicts"),
        (replace(found, verdicts=(REVERSE, REVERSE)), "orders"),
        (replace(found, orders=found.orders[::-1]), "orders"),
        (replace(found, orders=(F(1), F(1)), high=F(1)), "orders"),
        (replace(found, orders=(F(1), F(3, 2))), "orders"),  # exp(1/2) is beyond 3/2
        (replace(found, orders=(F(11, 10), found.orders[1])), "orders"),
        (replace(found, orders=(F(9, 10), found.orders[1])), "orders"),
        (replace(found, pair=NEVER, n=2, rigour="float64"), "verdicts|pair"),
    ):
        with pytest.raises(CertificateError, match=place):
            false.verify()
    replace(found, verdicts=(OPEN,)).verify()
    replace(found, orders=(F(1), F(2))).verify()
    with pytest.raises(InputError, match="n"):
        replace(found, n=0)


def test_what_follows_from_signs_at_both_ends():
    assert dominance._of_signs([F(0), F(2)]) == {OPEN, FORWARD}
    assert dominance._of_signs([F(0), F(-2), F(-1)]) == {OPEN, REVERSE}
    assert dominance._of_signs([F(0), F(0)]) == {OPEN, FORWARD, REVERSE, EQUAL}
    assert dominance._of_signs([F(1), F(-1)]) == {OPEN}


def test_the_tangent_at_one_goes_through_the_height_with_half_the_slope():
    """A profile h with h(x) = x h(1/x) + 1 - x has at 1 twice the slope h'(1) = h(1) - 1."""
    assert tangent_at_one(F(1), F(2, 5)) == F(2, 5)
    assert tangent_at_one(F(2), F(2, 5)) - F(2, 5) == -(1 - F(2, 5)) / 2
    assert tangent_at_one(F(3), F(2, 5)) - F(2, 5) == -(1 - F(2, 5))


def test_from_one_on_the_smaller_is_below_the_tangent():
    """Heights 2/5 at 1, tangent 1/10 at 2: the other's upper end there decides."""
    above = [Node(F(1), F(39, 100), F(41, 100)), Node(F(2), F(0), F(1))]
    for high, sure in ((F(1, 10), True), (F(10001, 100000), False)):
        below = [Node(F(1), F(2, 5), F(41, 100)), Node(F(2), F(0), high)]
        assert dominance._from_one(above, below) is sure
        assert dominance._from_one([below[0], above[1]], [above[0], below[1]]) is sure


def test_a_comparison_by_lines_needs_them_to_be_above_at_both_ends():
    """The one is 1 everywhere, the other falls from 1 to 0: touching is enough, a little more is not."""
    above = [Node(F(x), F(1), F(1)) for x in range(4)]
    below = [Node(F(x), F(0), F(1)) for x in range(4)]
    assert dominance._apart(above, below, 1)
    higher = [Node(F(x), F(0), F(100001, 100000)) for x in range(4)]
    assert not dominance._apart(above, higher, 1)


def test_few_histograms_are_those_up_to_the_limit(monkeypatch):
    """Two outputs with a blanket and the rest: n = 4 users have comb(6, 2) = 15 histograms."""
    for limit, few in ((15, True), (14, False)):
        monkeypatch.setattr(dominance, "HISTOGRAMS", limit)
        assert dominance._few(BIT, 4) is few
    enclosed = FinitePair((Ball(F(3, 4), F(3, 4)), F(1, 4)), BIT.second, BIT.reference, "enclosed")
    monkeypatch.setattr(dominance, "HISTOGRAMS", 15)
    assert not dominance._few(enclosed, 4)
    half = FinitePair((F(3, 4), F(1, 4), F(0)), (F(1, 2), F(1, 2), F(0)), (F(1, 4), F(1, 4), F(0)), "one is empty")
    assert dominance._few(half, 4)


def test_a_blanket_misses_no_output_of_either_law():
    def pair(p, q):
        return FinitePair((1 - p, p), (1 - q, q), (F(1, 2), F(0)), "a test")

    dominance._dominated(pair(F(0), F(0)))
    for p, q in ((F(1, 9), F(0)), (F(0), F(1, 9)), (F(1, 9), F(1, 9))):
        with pytest.raises(InputError, match=r"reference\[1\]"):
            dominance._dominated(pair(p, q))


def test_levels_are_rounded_to_the_outer_side():
    near = Exp(F(1, 3))
    low, high = (dominance._rational(near, up=up) for up in (False, True))
    assert low < F(math.exp(1 / 3)) + F(1, 10**15) and low < high and high - low < F(1, 10**20)
    assert dominance._rational(F(7, 5), up=True) == F(7, 5)
    assert dominance._rational(Exp(F(0)), up=False) == 1
    assert dominance._covers(near, near, low, high)
    assert not dominance._covers(near, near, high, high) and not dominance._covers(near, near, low, low)
    assert dominance._covers(F(2), F(3), F(2), F(3)) and not dominance._covers(F(2), F(3), F(21, 10), F(3))


class Fake:
    """Settles what is left of 9/8, and asks for more elsewhere."""

    def best(self, orders, i):
        return FORWARD if orders[i + 1] <= F(9, 8) else OPEN


def test_the_widest_open_stretches_are_halved_until_short_or_spent():
    orders, verdicts = dominance._refined(Fake(), F(1), F(2), 9)
    assert len(orders) == 9 and len(verdicts) == 8 and orders == sorted(set(orders))
    assert (orders[0], orders[-1]) == (1, 2)
    assert orders[1] == F(9, 8) and verdicts[0] is FORWARD and set(verdicts[1:]) == {OPEN}
    many, _ = dominance._refined(Fake(), F(1), F(2), 10**4)
    widths = {b - a for a, b in itertools.pairwise(many) if a >= F(9, 8)}
    assert max(widths) <= F(1, 1000) < 2 * max(widths)


def test_brackets_decide_a_stretch_from_one_on(monkeypatch):
    """The same pair without its histograms: every verdict of brackets is that of exact profiles, at all places."""
    exact = dominance._Profiles(BIT, 3, Rigour.EXACT)
    orders = [F(1), F(5, 4), F(3, 2), F(7, 4)]
    expected = [exact.best(orders, i) for i in range(3)]
    monkeypatch.setattr(dominance, "HISTOGRAMS", 0)
    asked = []

    def value(pair, n, x, **_):
        asked.append(x)
        at = profile(pair, n, x)
        return Bracket(at, at, Rigour.EXACT, "exact", "enumeration")

    monkeypatch.setattr(dominance, "pair_delta", value)
    profiles = dominance._Profiles(BIT, 3, Rigour.FLOAT64)
    found = [profiles.best(orders, i) for i in range(3)]
    assert all(one in (two, OPEN) for one, two in zip(found, expected, strict=True)) and REVERSE in found
    assert sorted(set(asked)) == orders and len(asked) == 8  # each level once, in both orders
    swapped = dominance._Profiles(BIT.reverse, 3, Rigour.FLOAT64)
    turned = {REVERSE: FORWARD, FORWARD: REVERSE, OPEN: OPEN}
    assert [swapped.best(orders, i) for i in range(3)] == [turned[one] for one in found]
