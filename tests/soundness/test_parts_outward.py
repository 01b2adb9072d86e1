"""Parts of an answer that are rounded outward: of dropouts, of groups, of audits, of cells, of levels."""

import math
from fractions import Fraction as F
from math import comb

import pytest

from symshuffle import Ball, Channel, Exp, Unsupported, randomizer
from symshuffle.accountants.deployment.groups import group_bound
from symshuffle.accountants.deployment.message_counts import means_between, partial_cdf
from symshuffle.base.numbers import enclose, enclose_log
from symshuffle.base.results import Bracket
from symshuffle.collect import audit_local, audit_pair, named_claim
from symshuffle.collect.audit.shares import lower_share, upper_share
from symshuffle.collect.audit.verdicts import Audit, Event, cell_outside, cell_words
from tests.fewbits import FINE, few_bits
from tests.oracles.means import mean_over_dropouts

BITS = pytest.mark.parametrize("bits", [8, 128])
SIDES = {"above": (0, 1), "below": (1, 0), "around": (1, 1)}
DROPOUTS = [F(1, 3), F(19, 20)]


def wide(value, share, side, sign=1):
    """A bracket of a number, wider by a share of it, on one side or both; or by more, below 0."""
    down, up = SIDES[side]
    return Bracket(value * (1 - down * share), value * (1 + up * share), "ball", "wide", "")


def weights(users, dropout):
    """Probabilities of 1 to all messages, one of them for certain."""
    others = users - 1
    return [comb(others, m) * (1 - dropout) ** m * dropout ** (others - m) for m in range(users)]


VALUES = {
    "power": lambda m: F(1, m + 1),
    "steep": lambda m: F(1, 3**m),
    "tiny": lambda m: F(1, 2 ** (3990 + m)),
    "zero": lambda m: F(0),
    "edge": lambda m: F(int(m < 7), 2),
}


@BITS
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", VALUES)
def test_a_mean_over_dropouts_is_between_its_ends(name, side, bits):
    value, share = VALUES[name], F(1, 20) if bits < 128 else F(1, 10**30)
    for users in (2, 30):
        for dropout in DROPOUTS:
            truth = sum((p * value(m + 1) for m, p in enumerate(weights(users, dropout))), start=F(0))
            with few_bits(bits):
                partial_cdf.cache_clear()
                found = mean_over_dropouts(lambda m, _: wide(value(m), share, side), users, dropout, 1e-9)
                partial_cdf.cache_clear()
            assert found.lower <= truth <= found.upper
            exact = mean_over_dropouts(lambda m, _: wide(value(m), share, side), users, dropout, 1e-9, exact=True)
            assert exact.lower <= truth <= exact.upper
            assert exact.width <= 2 * share * truth


def test_a_mean_of_brackets_that_reach_below_zero_is_between_its_ends():
    for users, dropout in ((5, F(1, 3)), (30, F(1, 2))):
        truth = sum((p / (m + 1) for m, p in enumerate(weights(users, dropout))), start=F(0))
        for low in (F(-1), F(-1, 10**3)):

            def value(m, _, low=low):
                return Bracket(low, F(1, m), "ball", "", "")

            found = mean_over_dropouts(value, users, dropout, 1e-3)
            assert found.lower <= truth <= found.upper <= truth * F(1001, 1000)


@BITS
@pytest.mark.parametrize("side", SIDES)
def test_means_of_rounded_numbers_are_on_both_sides(side, bits):
    """Numbers of messages rounded down and up: both means around the exact ones, for values known by brackets."""
    users, dropout, share = 40, F(1, 4), F(1, 20)
    mass, all_of = weights(users, dropout), range(1, users + 1)
    for value in (VALUES["power"], VALUES["steep"]):
        counts = [1, 22, 25, 28, 29, 30, 31, 34, 37, 40]
        with few_bits(bits):
            partial_cdf.cache_clear()
            found = means_between(counts, [wide(value(m), share, side) for m in counts], partial_cdf(users, dropout))
            partial_cdf.cache_clear()
        down = sum(p * value(max(c for c in counts if c <= m)) for m, p in enumerate(mass, 1))
        alone = {m for m in counts if m + 1 in (*counts, users + 1)}
        upward = [m if m in alone else min(c for c in counts if c > m) for m in all_of]
        up = sum(p * value(m) for m, p in zip(upward, mass, strict=True))
        for (low, high), truth in zip(found, (down, up), strict=True):
            assert low <= truth <= high
        middle = sum(p * value(m) for m, p in enumerate(mass, 1))
        assert found[1][0] <= middle <= found[0][1]


def natural_log_above(order):
    """A rational just above the logarithm of a ratio."""
    return order.exponent if isinstance(order, Exp) else F(math.log(float(order))) + F(1, 10**12)


@BITS
@pytest.mark.parametrize("order", [F(3), Exp(F(1)), F(10**40 + 1, 10**40), Exp(F(1, 10**40))], ids=lambda x: str(x)[:9])
def test_a_chain_of_steps_is_a_bound_at_the_level_asked_for(order, bits):
    """The power of the ratio is no larger, and the sum of powers, times a value, is rounded outward.

    Values fall from the ratio 1 on so steeply that the chain of the largest steps is the best.
    """
    for group in (2, 3, 5):
        asked = []
        end = enclose(Exp(natural_log_above(order) / group), FINE).upper * F(51, 50)

        def value(ratio, _, asked=asked, end=end):
            asked.append(ratio)
            at = enclose(ratio, FINE)
            low, high = (max(end - one, F(0)) for one in (at.upper, at.lower))
            return Bracket(low / 1001, high / 1000, "ball", "", "")

        with few_bits(bits):
            found = group_bound(value, order, group, 1e-3, exact=False)
        ratio = asked[0]
        if isinstance(order, Exp):
            assert ratio == Exp(order.exponent / group)
        else:
            assert ratio >= 1 and ratio**group <= order
        ends = enclose(ratio, FINE)
        low, high = (sum(one**j for j in range(group)) for one in (ends.lower, ends.upper))
        assert found.lower * 1001 <= high * (end - ends.lower)
        assert found.upper * 1000 >= low * (end - ends.upper)


# Audits.


@BITS
@pytest.mark.parametrize("eps", ["1", "1/7"])
def test_the_claim_that_is_tested_is_no_stronger_than_the_one_made(eps, bits):
    truth = enclose(Exp(F(eps)), FINE).upper
    with few_bits(bits):
        assert audit_pair("a", "b", runs=4000, eps=eps, confidence="0.5").ratio >= truth
    if bits > 8:  # which tell no rows apart
        with few_bits(bits):
            events = audit_local(randomizer("krr").at(k=3, eps0=eps), runs=4000, confidence="0.5").events
        assert all(event.ratio >= truth for event in events)


@BITS
@pytest.mark.parametrize("name", ["krr", "subset-selection"])
def test_a_claim_by_name_is_no_stronger_than_its_budget(name, bits):
    parameters = {"k": "4"} | ({"s": "2"} if name == "subset-selection" else {})
    truth = enclose(Exp(F(1)), FINE).upper
    with few_bits(bits):
        assert named_claim(name, parameters, eps0=1).cap >= truth


def test_rows_that_balls_do_not_tell_apart_have_no_event():
    wide = Ball(F(1, 2) - F(1, 10**30), F(1, 2) + F(1, 10**30))
    narrow = Ball(F(1, 2) - F(1, 10**31), F(1, 2) + F(1, 10**31))
    with pytest.raises(Unsupported):
        audit_local(Channel.from_rows([[wide, wide], [narrow, narrow]]), runs=4000)


THIRD = F(1, 3)
SHARES = [(2 * THIRD, THIRD), (THIRD + F(1, 10**9), THIRD), (F(1, 7), THIRD), (THIRD**40, THIRD**41), (F(1), THIRD)]


@pytest.mark.parametrize("low, up", SHARES, ids=str)
@pytest.mark.parametrize("delta", [F(0), F(1, 10**6), F(1, 3)], ids=str)
@pytest.mark.parametrize("ratio", [F(1), F(3, 2)], ids=str)
def test_what_an_audit_writes_is_certified(low, up, delta, ratio):
    found = Event("", "", "", ratio, delta, None, (3, 1), (9, 9), low, up)
    shown = found.to_dict()
    assert F(shown["lower_end"]) <= low
    assert F(shown["upper_end"]) >= up
    least_delta, least_ratio = max(low - ratio * up, F(0)), max((low - delta) / up, F(1))
    truth = enclose_log(least_ratio)
    assert found.least_delta == least_delta
    assert F(shown["delta"]) <= least_delta
    assert truth.upper * (1 - F(1, 10**12)) <= F(shown["eps"]) <= truth.upper
    eps, shown_delta = (F(part.split(maxsplit=1)[0]) for part in found.bounds.split(">= ")[1:])
    assert eps <= F(shown["eps"]) and shown_delta <= least_delta
    assert found.refuted is (low - ratio * up > delta)
    for claimed in (True, False):
        said = str(Audit("", "", F(9, 10), (found,), claimed=claimed).lines)
        if "eps >= " in said:
            assert F(said.split("eps >= ")[1].split(maxsplit=1)[0]) <= F(shown["eps"])


def test_the_eps_of_an_audit_is_rounded_down_next_to_zero():
    """Beside ratios next to 1 the logarithms of two long numbers differ by less than they are rounded."""
    for k in range(1, 200):
        low = F(k * 7919, 2**53)
        found = Event("", "", "", F(1), F(0), None, (3, 1), (9, 9), low + F(k, 2**70), low)
        truth = enclose_log(found.least_ratio).upper
        assert 0 < F(found.eps) <= truth
        with few_bits(20):
            assert F(found.eps) <= truth


@pytest.mark.parametrize("seen", [0, 30, 50, 70, 100])
def test_a_cell_is_outside_only_if_all_of_its_claim_is(seen):
    """A claimed probability that is known by a ball is outside if both ends are, on one side."""
    level, runs = F(1, 1000), 100
    for low, high in ((F(1, 2), F(1, 2)), (F(1, 100), F(99, 100)), (F(1, 2), F(99, 100)), (F(1, 100), F(1, 2))):
        found = cell_outside(Ball(low, high), seen, runs, level)
        points = [low + (high - low) * F(i, 50) for i in range(51)]
        assert found is all(cell_outside(p, seen, runs, level) for p in points)
    ends = cell_words("", F(1, 3), seen, runs, level).split("[")[1].split("]")[0].split(", ")
    low, up = (F(end) for end in ends)
    assert low <= lower_share(seen, runs, level) and upper_share(seen, runs, level) <= up
    assert up - low < F(2, 5)


def test_the_level_of_a_claim_is_between_the_ends_that_are_written():
    for bits in (24, 128):
        with few_bits(bits):
            written = audit_local(randomizer("krr").at(k=3, eps0="1"), runs=4000, confidence="0.5").beside[0]
        low, high = (F(end) for end in written.partition("between ")[2].split(" and "))
        assert low < 1 < high
