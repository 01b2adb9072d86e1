"""Inverses and curves: the ends they promise, checked by other engines, by brute force and by closed forms."""

import itertools
import math
from fractions import Fraction

import pytest

from symshuffle.accountants.deployment.reduced import laws
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions import solve
from symshuffle.accountants.questions.curves import amplification_curve, profile, spaced
from symshuffle.accountants.questions.inverses import largest_eps0, smallest_n
from symshuffle.accountants.questions.tradeoff_function import tradeoff
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Exp
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import histogram_law
from symshuffle.engines.contours.ball import BallContour
from symshuffle.mechanisms.registry import mechanism

KRR = mechanism("krr").at(k=10)
MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize("arithmetic", ["float64", "ball"])
def test_the_three_inverses_invert_each_other(arithmetic):
    """eps = 0.0801610467 at eps0 = 1 and n = 1000: a number found by other tools."""
    eps = Fraction("0.0801610467")
    found = solve.epsilon(KRR.at(eps0=1), n=1000, delta=MILLIONTH, arithmetic=arithmetic).bracket
    assert found.lower <= eps + Fraction(1, 10**10) and eps - Fraction(1, 10**10) <= found.upper
    budget = largest_eps0(KRR, n=1000, eps=eps, delta=MILLIONTH, arithmetic=arithmetic)
    assert budget.safe == "lower" and budget.safe_end == budget.bracket.lower
    assert budget.bracket.lower <= 1 + MILLIONTH and budget.bracket.upper >= 1 - MILLIONTH
    users = smallest_n(KRR.at(eps0=1), eps=eps + MILLIONTH, delta=MILLIONTH, arithmetic=arithmetic)
    assert (users.bracket.lower, users.bracket.upper) == (999, 1000)
    assert users.safe == "upper" and users.safe_end == 1000
    assert found.arithmetic is budget.bracket.arithmetic is users.bracket.arithmetic is arithmetic


def test_the_bound_never_rises_with_n_for_laws_of_any_shape():
    """S_n/n is a reverse martingale; laws with singular mass included."""
    channel = Channel.from_rows([["1/2", "1/2", 0], ["1/6", "1/3", "1/2"]])
    for order in (Fraction(1), Fraction(3, 2)):
        values = [solve.delta(channel, n=n, exp_eps=order, arithmetic="exact").bracket.exact for n in range(1, 12)]
        assert all(one >= other for one, other in itertools.pairwise(values))


def test_targets_that_nothing_meets_or_everything_does():
    with pytest.raises(Unsupported, match="no n up to"):
        smallest_n(mechanism("identity").at(k=3), eps="0.1", delta=MILLIONTH)

    def erasure(eps0):
        """Reveals the input with probability 1/2, whatever the budget."""
        return mechanism("erasure").at(k=3, p="1/2")

    with pytest.raises(Unsupported, match="every local budget"):
        largest_eps0(erasure, n=10, eps=1, delta="0.6")
    with pytest.raises(Unsupported, match="no budget"):
        largest_eps0(erasure, n=10, eps=1, delta="0.4")
    with pytest.raises(InputError, match="lam left open"):
        largest_eps0(KRR.at(eps0=1), n=10, eps=1, delta="0.1")
    for wrong in (0, 1, -1):
        with pytest.raises(InputError, match="delta"):
            smallest_n(KRR.at(eps0=1), eps=1, delta=wrong)
    assert smallest_n(KRR.at(eps0=1), eps=1, delta="1e-9").bracket.upper == 1


def test_amplification_falls_with_n():
    users = [1000, 3000, 10**5, 10**6]
    curve = amplification_curve(KRR.at(eps0=1), delta=MILLIONTH, users=users)
    assert [point.x for point in curve.points] == users
    for n, point in zip(users, curve.points, strict=True):
        alone = solve.epsilon(KRR.at(eps0=1), n=n, delta=MILLIONTH).bracket
        assert max(point.y.lower, alone.lower) <= min(point.y.upper, alone.upper)
        assert point.y.relative_width <= Fraction(1, 10**4)


def neyman_pearson(first, second, alpha):
    """The least type II error at type I error alpha, by sorting outcomes by their likelihood ratio."""
    outcomes = sorted(set(first) | set(second), key=lambda y: -math.inf if not first.get(y) else -second[y] / first[y])
    left, missed = alpha, Fraction(1)
    for y in outcomes:
        p, q = first.get(y, Fraction(0)), second.get(y, Fraction(0))
        share = Fraction(1) if p <= left else left / p
        left, missed = left - share * p, missed - share * q
        if left <= 0 and p > 0:
            break
    return missed


@pytest.mark.parametrize("n", [1, 3])
def test_a_trade_off_contains_that_of_the_reduction_pair(n):
    """Against the Neyman-Pearson lemma: two inputs, nobody else, so the bound is the divergence of its own pair."""
    pair = reduction(mechanism("rr").at(lam=3))
    alphas = [Fraction(i, 8) for i in range(9)]
    curve = tradeoff(pair, n=n, type_i=alphas, num_levels=20)
    from symshuffle.decompositions.symbolic import optimal_decomposition

    laws = optimal_decomposition(mechanism("rr").at(lam=3)).numeric().reduction_pair().histogram_laws(n)
    for alpha, point in zip(alphas, curve.points, strict=True):
        truth = neyman_pearson(*laws, alpha)
        assert point.y.lower - Fraction(1, 10**9) <= truth <= point.y.upper + Fraction(1, 10**9)
        assert point.y.width < Fraction(1, 1000)


def test_beyond_the_last_level_a_trade_off_is_bounded_by_what_is_revealed():
    """Where mass is revealed levels end at 10, and the ratio of an output is e^16: lines beyond still count."""
    rare, mass = Fraction(1, 10**12), Fraction(1, 10**5)
    first, second = (mass, 1 - 3 * mass, 2 * mass), (rare, 1 - rare, Fraction(0))
    alphas = [rare / 100, rare / 10, rare / 2, rare, 10 * rare]
    curve = tradeoff(Channel((first, second)), n=1, type_i=alphas, num_levels=40)
    for alpha, point in zip(alphas, curve.points, strict=True):
        truth = neyman_pearson(dict(enumerate(second)), dict(enumerate(first)), alpha)
        assert point.y.lower <= truth <= point.y.upper


def test_a_real_pair_of_datasets_is_above_the_trade_off():
    channel = mechanism("krr").at(k=3, lam=3).channel()
    alphas = [Fraction(i, 10) for i in range(11)]
    curve = tradeoff(channel, n=3, type_i=alphas)
    real = [histogram_law([channel.rows[x], channel.rows[2], channel.rows[2]]) for x in (0, 1)]
    for alpha, point in zip(alphas, curve.points, strict=True):
        assert neyman_pearson(*real, alpha) >= point.y.lower
    assert curve.safe == "lower"
    with pytest.raises(InputError, match="type_i"):
        tradeoff(channel, n=3, type_i=["3/2"])


def test_a_trade_off_of_what_reveals_everything_is_zero():
    curve = tradeoff(mechanism("identity").at(k=3), n=5, type_i=["0", "1/2", "1"])
    assert all(point.y.lower == 0 for point in curve.points)
    assert all(point.y.upper < Fraction(1, 10**4) for point in curve.points if point.x > 0)


def test_arguments_of_a_curve():
    assert spaced("0", "1", 3) == (0, Fraction(1, 2), 1)
    assert spaced("10", "1000", 3, geometric=True) == (10, 100, 1000)
    for arguments, message in ((("1", "1", 3), "from < to"), (("0", "1", 1), "points"), (("x", "1", 3), "from")):
        with pytest.raises(InputError, match=message):
            spaced(*arguments)
    with pytest.raises(InputError, match="> 0"):
        spaced("0", "1", 3, geometric=True)


def test_a_level_is_found_where_the_bound_is_flat():
    """Near eps = 0 delta falls slowly: to resolve eps it has to be known more finely than eps."""
    source = mechanism("krr").at(k=10, eps0="0.1")
    found = solve.epsilon(source, n=10**8, delta="1e-6", rtol=1e-4).bracket
    assert found.relative_width <= 1e-4
    ends = [BallContour(rtol=1e-8).bracket(law, 10**8) for law in laws_at(source, (found.lower, found.upper))]
    assert ends[0].lower > Fraction(1, 10**6) >= ends[1].upper


def test_users_at_level_zero():
    """The widest margin there is: eighty billion users, where the finest widths are out of reach."""
    found = smallest_n(mechanism("krr").at(k=10, eps0=1), eps=0, delta="1e-6")
    assert found.bracket.relative_width < 1e-3
    assert found.delta_at_ends[0].upper <= Fraction(1, 10**6)


def laws_at(source, levels):
    family = reduction(source).bounds[0]
    return [law for level in levels for law in laws(family, Exp(level), "forward", 256)]


def test_arguments_are_shown_on_the_side_on_which_the_safe_end_holds():
    """A profile falls: its value at 1/3 bounds no smaller level. So does a trade-off, whose lower end is safe."""
    third = Fraction(1, 3)
    (found,) = profile(KRR.at(eps0=1), n=100, eps=[third, 1]).rows()[:1]
    assert Fraction(found["eps"]) > third
    (found,) = tradeoff(KRR.at(eps0=1), n=100, type_i=[third, 1], num_levels=5).rows()[:1]
    assert Fraction(found["type_i"]) < third
