"""Rounds that tell little tell something: no double decides that a number is zero."""

import itertools
from fractions import Fraction as F

import pytest

import symshuffle
from symshuffle import randomizer
from tests.oracles.messages import hockey_stick, largest, messages, product
from tests.slices import some

SCALES = (1, 8, 16, 40)


def cap(digits):
    return 1 + F(1, 10**digits)


def told(one):
    """Both ends and what is attained, by the width that was asked for."""
    bracket, attained = one.bracket, one.attained
    assert 0 < attained.lower <= bracket.upper
    assert bracket.aimed is None
    return bracket.lower, bracket.upper, attained.lower


@pytest.mark.parametrize("digits", SCALES)
@pytest.mark.parametrize("share", [F(0), F(1, 2)])
def test_two_rounds_tell_more_than_one(digits, share):
    lam, n = cap(digits), 6
    source, order = randomizer("rr").at(lam=lam), 1 + share * F(1, 10**digits)
    _, one, reached = told(symshuffle.delta(source, n=n, exp_eps=order, attained=True))
    rtol = 0.02
    low, two, both = told(symshuffle.delta(source, n=n, periods=2, exp_eps=order, attained=True, rtol=rtol))
    assert two - low <= F(rtol) * two
    assert two >= one >= reached
    rows = (lam / (1 + lam), 1 / (1 + lam)), (1 / (1 + lam), lam / (1 + lam))
    both_rounds = (product(*[messages(row, [rows[0]] * (n - 1))] * 2) for row in rows)
    true = largest(hockey_stick, *both_rounds, "both", order)
    assert both <= true <= two
    assert both >= true * F(9, 10)


@pytest.mark.parametrize(("digits", "n"), some(itertools.product(SCALES[1:], (10**6, 10**12)), 3))
def test_rounds_of_many_users(digits, n):
    source = randomizer("rr").at(lam=cap(digits))
    _, one, reached = told(symshuffle.delta(source, n=n, exp_eps=1, attained=True))
    _, two, both = told(symshuffle.delta(source, n=n, periods=2, exp_eps=1, attained=True))
    assert both >= reached * F(13, 10)  # about the square root of 2
    assert one <= two <= 2 * one


@pytest.mark.parametrize("digits", [12, 40])
def test_balls_tell_the_same(digits):
    asked = symshuffle.Deployment(randomizer("rr").at(lam=cap(digits)), periods=2)
    found = [told(symshuffle.delta(asked, n=6, exp_eps=1, attained=True, arithmetic=r)) for r in ("float64", "ball")]
    (low, high, _), (least, most, _) = found
    assert least <= high
    assert low <= most


@pytest.mark.parametrize(("digits", "n"), some(itertools.product(SCALES, (6, 10**9)), 4))
def test_renyi_of_what_tells_little(digits, n):
    source, alpha = randomizer("rr").at(lam=cap(digits)), F(3, 2)
    found = symshuffle.renyi(source, n=n, order=alpha, rtol=1e-2, attained=True)
    low, high, reached = told(found)
    assert high - low <= F(1, 100) * high
    if digits > 1:  # alpha / 2 times the squared distance, ((lam - 1) / 2)^2 4 / n, of the two laws
        limit = alpha / 2 * F(1, 10 ** (2 * digits)) / n
        assert low * F(9, 10) <= limit <= high * F(11, 10)
        assert reached >= limit * F(9, 10)
    twice = symshuffle.renyi(source, n=n, periods=2, order=alpha, rtol=1e-2)
    assert twice.bracket.upper >= high


@pytest.mark.parametrize("digits", [8, 40])
def test_eps_of_what_tells_little(digits):
    source, target = randomizer("rr").at(lam=cap(digits)), F(1, 10 ** (digits + 3))
    one = symshuffle.epsilon(source, n=10, delta=target, attained=True)
    two = symshuffle.epsilon(source, n=10, periods=2, delta=target, attained=True, rtol=1e-2)
    assert 0 < one.attained.lower <= one.bracket.upper <= two.bracket.upper <= 3 * F(1, 10**digits)
    assert 0 < two.attained.lower <= two.bracket.upper
    assert two.bracket.width <= F(1, 100) * two.bracket.upper


def test_a_million_rounds_that_tell_little_each():
    source = randomizer("rr").at(lam=1 + F(25, 10**14))
    found = symshuffle.epsilon(source, n=10**6, periods=10**6, delta="1e-15", attained=True)
    assert 0 < found.attained.lower <= found.bracket.upper
    assert found.bracket.relative_width <= 1e-3


def test_less_than_doubles_can_size_is_refused_in_one_line():
    asked = symshuffle.Deployment(randomizer("rr").at(lam=cap(200)), periods=2)
    with pytest.raises(ValueError, match=r"^total variation of one round = .*: expected .* larger local budget") as no:
        symshuffle.delta(asked, n=10, exp_eps=1)
    assert "\n" not in str(no.value)


def test_a_divergence_needs_no_losses_in_doubles():
    one, both = (symshuffle.renyi(randomizer("rr").at(lam=cap(200)), n=10, order=2, periods=t) for t in (1, 2))
    assert 0 < one.bracket.lower <= one.bracket.upper < F(1, 10**395)
    assert (both.bracket.lower, both.bracket.upper) == (2 * one.bracket.lower, 2 * one.bracket.upper)


def test_what_tells_nothing_is_zero():
    blank = symshuffle.Channel.from_rows([[F(1, 2), F(1, 2)]] * 2)
    found = symshuffle.delta(blank, n=10, periods=3, exp_eps=1).bracket
    assert (found.lower, found.upper) == (0, 0)


@pytest.mark.parametrize("digits", SCALES)
@pytest.mark.parametrize("arithmetic", ["float64", "ball"])
def test_far_above_what_many_users_lose(digits, arithmetic):
    """At half the local budget n = 10^12 users leave about exp(-10^11): less than any number that is kept."""
    source, order = randomizer("rr").at(lam=cap(digits)), 1 + F(1, 2 * 10**digits)
    found = symshuffle.delta(source, n=10**12, exp_eps=order, arithmetic=arithmetic).bracket
    assert found.lower == 0 < found.upper <= F(1, 2**16_000_000)
    assert found.aimed == 1e-6
