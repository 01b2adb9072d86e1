"""Published reductions that bound nothing: exact counterexamples, and no accountant takes them."""

from fractions import Fraction

import pytest

from symshuffle import mechanism
from symshuffle.accountants.literature.unsound import UnsoundReduction, unsound_variation_ratio
from symshuffle.accountants.questions import solve
from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.decompositions.clones import unsound_stronger_clone_pair


def stronger(lam, p):
    return UnsoundReduction("stronger clone", unsound_stronger_clone_pair(lam, p))


STUDY = Channel.from_rows(
    [["1/5", "1/10", "2/5", "3/10"], ["1/10", "1/5", "2/5", "3/10"], ["1/10", "1/10", "1/5", "3/5"]]
)


def test_the_variation_ratio_value_of_record():
    """Claimed 250/2401 at k = 4, lam = 4, exp(eps) = 2, n = 4, where a real pair has 254/2401."""
    channel = mechanism("krr").channel(k=4, lam=4)
    claim = unsound_variation_ratio(channel, (0, 1)).value_without_guarantee(Fraction(2), 4)
    assert claim == Fraction(250, 2401)
    rests = ((2, 2, 2), (2, 2, 3), (0, 2, 3))
    real = max(shuffled_divergence(channel, (0, *rest), (1, *rest), Fraction(2)) for rest in rests)
    assert real == Fraction(254, 2401)


def test_two_users_of_ternary_response_exceed_the_variation_ratio():
    channel = mechanism("krr").channel(k=3, lam=2)
    found = unsound_variation_ratio(channel, (0, 1)).counterexample(
        channel, (0, 1), targets=[Fraction(17, 10)], most_users=3
    )
    assert (found.first, found.second) == ((0, 0), (1, 0))
    assert (found.claimed, found.real) == (Fraction(3, 160), Fraction(3, 80))


def test_the_stronger_clone_falls_with_two_users():
    found = stronger(Fraction(2), Fraction(1, 10)).counterexample(STUDY, (0, 1), targets=[Fraction(3, 2)], most_users=3)
    assert (found.claimed, found.real) == (Fraction(1, 100), Fraction(1, 50))


def test_binary_response_has_no_counterexample():
    channel = mechanism("rr").channel(lam=2)
    targets = [Fraction(6, 5), Fraction(3, 2), Fraction(9, 5)]
    for reduction in (unsound_variation_ratio(channel, (0, 1)), stronger(Fraction(2), Fraction(1, 3))):
        assert reduction.counterexample(channel, (0, 1), targets=targets, most_users=4) is None


def test_no_accountant_takes_one():
    reduction = stronger(Fraction(2), Fraction(1, 10))
    for source in (reduction, reduction.pair):
        with pytest.raises(InputError, match="source"):
            solve.delta(source, n=5, exp_eps="3/2")
        with pytest.raises(InputError, match="source"):
            solve.epsilon(source, n=5, delta="1/1000")


def test_a_channel_that_tells_nothing_is_refused():
    with pytest.raises(InputError, match="channel"):
        unsound_variation_ratio(Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]]), (0, 1))
