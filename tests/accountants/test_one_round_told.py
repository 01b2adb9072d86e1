"""The profile of one round, its values told: what is kept, where the last level is, what stands on a lattice."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle import Channel, Unsupported, mechanism
from symshuffle.accountants import one_round as module
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.one_round import OneRound
from symshuffle.accountants.participation import Participation
from symshuffle.accountants.reduction import reduction
from symshuffle.choices import Question, Rigour
from symshuffle.mechanisms.parameters import LARGEST_LEVEL
from symshuffle.numbers import Exp
from symshuffle.results import Bracket

BINARY = reduction(Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]]))
SKEW = reduction(Channel.from_rows([["1/2", "1/2"], ["1/5", "4/5"]]))
KRR = reduction(mechanism("krr").at(k=3, lam=2))
ONE, EVEN = SKEW.datasets[1].alone(SKEW), KRR.datasets[0].alone(KRR)
"""Real datasets, and such as have the same divergence both ways."""


def bracket(low, high=None, aimed=None):
    return Bracket(Fraction(low), Fraction(low if high is None else high), Rigour.FLOAT64, "told", "", aimed)


@pytest.fixture
def told(monkeypatch):
    """Values by a function of level, direction and messages; what was asked is kept."""

    def by(function):
        asked = []

        def bound_at(reduced, n, order, request):
            eps = order.exponent if isinstance(order, Exp) else Fraction(0)
            asked.append((eps, n, request.direction, request.rel))
            return function(eps, request.direction, n)

        monkeypatch.setattr(module, "bound_at", bound_at)
        return asked

    return by


def falling(eps, direction=None, n=1):
    return bracket(Fraction(3, 10) * Fraction(math.exp(-float(eps))) if eps < 700 else 0)


def test_a_value_is_asked_once_if_it_is_narrow_enough(told):
    """Twice the width asked for still does, and so does one that was aimed at in vain."""
    asked = told(lambda *_: bracket(98, 100))
    one = OneRound(BINARY, 5, 1, Request())
    one.values(Fraction(1), 1e-2)
    one.values(Fraction(1), 1e-2)
    assert asked == [(1, 5, Question.BOTH, 1e-2)]
    one.values(Fraction(1), 0.99e-2)
    assert len(asked) == 2
    one.values(Fraction(2), 0.5)
    assert len(asked) == 3
    again = told(lambda *_: bracket(0, 1, aimed=1e-6))
    wide = OneRound(BINARY, 5, 1, Request())
    wide.values(Fraction(1), 1e-6)
    wide.values(Fraction(1), 1e-6)
    assert len(again) == 1


def test_both_orders_of_a_pair_that_is_not_symmetric(told):
    """The larger of both stands for both in a bound; of a pair of datasets either order has its own."""
    values = {Question.BOTH: bracket(3), Question.FORWARD: bracket(2), Question.REVERSE: bracket(1)}
    asked = told(lambda eps, direction, n: values[direction])
    assert OneRound(SKEW, 5, 1, Request()).values(Fraction(1), 1e-2) == (bracket(3), bracket(3))
    assert OneRound(ONE, 5, 1, Request()).values(Fraction(1), 1e-2) == (bracket(2), bracket(1))
    assert [direction for _, _, direction, _ in asked] == [Question.BOTH, Question.FORWARD, Question.REVERSE]
    assert OneRound(EVEN, 5, 1, Request()).values(Fraction(1), 1e-2) == (bracket(3), bracket(3))


def test_either_order_may_be_too_wide(told):
    wide = [True]
    asked = told(lambda eps, way, n: bracket(0 if wide[0] and way is Question.REVERSE else 1, 1))
    one = OneRound(ONE, 5, 1, Request())
    one.values(Fraction(1), 1e-2)
    wide[0] = False
    assert one.values(Fraction(1), 1e-2) == (bracket(1), bracket(1))
    assert len(asked) == 4


def test_the_scale_is_that_of_the_gaussian_of_equal_total_variation(told):
    """2 Phi(mu/2) - 1 = 0.3829249225480262 at mu = 1, from tables; at most that of 1 - 1e-12."""
    asked = told(lambda *_: bracket("0.38", "0.3829249225480262"))
    assert OneRound(BINARY, 5, 1, Request()).scale() == pytest.approx(1, rel=1e-12)
    assert asked == [(0, 5, Question.BOTH, 1e-2)]
    told(lambda *_: bracket(1))
    most = OneRound(BINARY, 5, 1, Request()).scale()
    assert math.erfc(most / 2 / math.sqrt(2)) == pytest.approx(1e-12, rel=1e-3)
    told(lambda eps, way, n: bracket(0 if way is Question.FORWARD else "0.3829249225480262"))
    assert OneRound(ONE, 5, 1, Request()).scale() == pytest.approx(1, rel=1e-12)


def test_what_is_left_at_the_largest_level_is_revealed(told):
    less = 1 - Fraction(1, 2**40)
    values = {Question.FORWARD: bracket("0.2", "0.3"), Question.REVERSE: bracket("-0.1", "0.4")}
    asked = told(lambda eps, way, n: values.get(way, bracket("0.25", "0.5")))
    assert OneRound(BINARY, 5, 1, Request()).revealed() == (less / 4, less / 4, Fraction(1, 2))
    assert asked == [(LARGEST_LEVEL, 5, Question.BOTH, 1e-6)]
    one_sided = OneRound(ONE, 5, 1, Request())
    assert one_sided.revealed() == (less / 5, 0, Fraction(4, 10))

    def refused(*_):
        raise Unsupported("too far")

    told(refused)
    assert OneRound(BINARY, 5, 1, Request()).revealed() == (0, 0, 0)


def test_the_larger_order_says_where_the_last_level_is(told):
    """The reverse order has half as much: the forward one is what has to be small."""
    told(lambda eps, way, n: bracket(falling(eps).upper / (1 if way is Question.FORWARD else 2)))
    one = OneRound(ONE, 5, 1, Request())
    for beyond in ("0.2", "0.01"):
        truth = math.log(0.3 / float(beyond))
        assert truth * (1 - 1e-9) <= one.last_level(Fraction(beyond)) <= truth / 0.95


@pytest.mark.parametrize("beyond", ["0.01", "1e-6", "1e-30"])
@pytest.mark.parametrize("left", ["0", "0.1"])
def test_the_last_level(told, beyond, left):
    """Of 0.3 exp(-eps) + left: its logarithm says where; the level is met, and at most a twentieth too far."""
    told(lambda eps, way, n: bracket(falling(eps).upper + Fraction(left)))
    found = OneRound(BINARY, 5, 1, Request()).last_level(Fraction(beyond))
    truth = math.log(0.3 / float(beyond))
    assert truth * (1 - 1e-9) <= found <= truth / 0.95


def test_a_last_level_at_0_and_none(told):
    told(lambda *_: bracket("0.3") if _[0] < 1 else bracket("0.1"))
    assert OneRound(BINARY, 5, 1, Request()).last_level(Fraction(2, 10)) == 0  # what is revealed counts as well
    told(lambda eps, way, n: bracket("0.3") if eps < LARGEST_LEVEL else bracket(0))
    assert LARGEST_LEVEL * Fraction(95, 100) <= OneRound(BINARY, 5, 1, Request()).last_level(Fraction(1, 10)) <= 5000
    told(lambda *_: bracket("0.3"))
    one = OneRound(BINARY, 5, 1, Request(), known=_Forgetful())
    with pytest.raises(Unsupported, match="no level up to 5000 leaves at most"):
        one.last_level(Fraction(1, 100))


class _Forgetful(dict):
    """Says once that nothing is revealed, then that all is left."""

    def __init__(self):
        super().__init__()
        self.first = True

    def get(self, eps, default=None):
        if eps == LARGEST_LEVEL and self.first:
            self.first = False
            return bracket(0), bracket(0)
        return default

    def __setitem__(self, *_):
        return None


def test_a_lattice_without_dropout(told):
    """Every level up to the last one asked for, at least three of them; one profile is above and below."""
    asked = told(lambda eps, way, n: falling(eps))
    one = OneRound(BINARY, 5, 1, Request())
    step = Fraction(1, 4)
    above, below = one.profiles(step, Fraction(1, 100), 1e-3)
    assert above is below
    assert above.last == math.ceil(one.last_level(Fraction(1, 100)) / step) == 14
    for i in (0, 1, 14):
        truth = 0.3 * math.exp(-i / 4)
        low, high = above.forward[i]
        assert low <= Fraction(truth) * (1 + Fraction(1, 10**12)) and high >= Fraction(truth) * (
            1 - Fraction(1, 10**12)
        )
        assert above.reverse[i] == above.forward[i]
    assert 1e-3 in {rel for _, _, _, rel in asked}
    assert one.profiles(Fraction(10), Fraction(1, 100), 1e-3)[0].last == 2


def by_messages(eps, way, n):
    """m messages hide like 1/m; forward is twice the reverse."""
    share = Fraction(2 if way is Question.FORWARD else 1, 2)
    return bracket(share * falling(eps).upper / n)


@pytest.mark.parametrize("level", [0, 2, 5])
def test_a_lattice_with_dropout_is_above_and_below_the_mean(told, level):
    """E[1/M] with M - 1 binomial in 7 and 3/4, summed by hand; both orders apart."""
    told(by_messages)
    n, dropout, step = 8, Fraction(1, 4), Fraction(1, 2)
    one = OneRound(replace(ONE, participation=Participation(dropout=dropout)), n, 1, Request())
    assert (one.dropout, one.usual_width) == (dropout, 1e-2)
    assert (OneRound(SKEW, n, 1, Request()).dropout, OneRound(SKEW, n, 1, Request()).usual_width) == (0, 1e-3)
    above, below = one.profiles(step, Fraction(1, 50), 1e-2)
    mean = sum(
        Fraction(math.comb(7, k)) * (1 - dropout) ** k * dropout ** (7 - k) / (k + 1) for k in range(8)
    ) * Fraction(3, 10) * Fraction(math.exp(-float(level * step)))  # fmt: skip
    for order, share in (("forward", 1), ("reverse", Fraction(1, 2))):
        high, low = getattr(above, order)[level][1], getattr(below, order)[level][0]
        assert low <= share * mean * (1 + Fraction(1, 10**9)) and share * mean * (1 - Fraction(1, 10**9)) <= high
        assert high <= low * Fraction(5, 4)
    assert above.last == below.last >= 2
    assert above.revealed == (0, 0)


def test_the_same_round_with_as_many_messages(told):
    told(by_messages)
    one = OneRound(replace(ONE, participation=Participation(dropout=Fraction(1, 4))), 9, 1, Request())
    five = one.with_messages(5)
    assert five is one.with_messages(5)
    assert (five.n, five.dropout, five.known, five.reduced.classes) == (5, 0, {}, ONE.classes)
    # On average 1 + 8 * 3/4 = 7 send; the scale is theirs.
    assert one.scale() == one.with_messages(7).scale()
    # All nine reveal the least, which is what is sure to be left.
    told(lambda eps, way, n: bracket(Fraction(1, n)))
    assert one.revealed()[2] == Fraction(1, 9)


def test_real_datasets_stand_by_themselves():
    one = OneRound(SKEW, 4, 3, Request())
    alone = list(one.alone())
    assert [text for text, _ in alone] == ["X0 = (0, 0 x 3), X1 = (1, 0 x 3)", "X0 = (0, 1 x 3), X1 = (1, 1 x 3)"]
    for (_, part), datasets in zip(alone, SKEW.datasets, strict=True):
        assert (part.n, part.times, part.reduced.real, part.known) == (4, 3, True, {})
        assert part.reduced.classes[0].upper is datasets.law


def test_the_smallest_eps_of_one_user():
    """D_x of (2/3, 1/3) and (1/3, 2/3) is (2 - x)/3: it meets 1/5 at x = 7/5, on the safe side."""
    found = OneRound(BINARY, 1, 1, Request()).smallest(Fraction(1, 5))
    assert math.log(1.4) <= found <= math.log(1.4) * 1.001
