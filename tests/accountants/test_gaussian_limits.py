"""The Gaussian that messages resemble: its parameter from variances that are worked out by hand."""

import math
from fractions import Fraction

import pytest

from symshuffle import Channel, Deployment, Group, InputError, Unsupported, gaussian_limit
from symshuffle.accountants import GaussianLimit
from symshuffle.accountants.deployment.experiment import experiment
from symshuffle.accountants.questions.tradeoff_function import NO_GUARANTEE, limit_of
from symshuffle.mechanisms import Mechanism

BINARY = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
"""At eps = 0, G is 1 and -1 with probability 1/3 each (the column minima) and 0 with 1/3: a variance of 2/3."""
OTHER = Channel.from_rows([["1/2", "1/2"], ["1/5", "4/5"]])
"""Column minima 1/5 and 1/2: G is 3/2 with probability 1/5, -3/5 with 1/2, 0 with 3/10: a variance of 9/20 + 9/50."""


def test_the_range_of_its_parameters():
    for mu in (-1e-300, math.inf, math.nan):
        with pytest.raises(InputError, match="mu"):
            GaussianLimit(mu)
    assert (GaussianLimit(0.0).mu, GaussianLimit(0.5).rounds) == (0, 1)
    with pytest.raises(InputError, match="rounds"):
        GaussianLimit(0.5, 0)


def test_its_trade_off():
    """Phi(Phi^-1(1 - alpha) - mu): at alpha = 1/2 that is Phi(-mu), from tables."""
    limit = GaussianLimit(1.0)
    assert (limit.tradeoff(0), limit.tradeoff(1)) == (1, 0)
    assert limit.tradeoff("1/2") == pytest.approx(0.15865525393145705, rel=1e-12)
    assert limit.tradeoff(limit.tradeoff("1/10")) == pytest.approx(0.1, rel=1e-12)  # it is its own inverse
    assert GaussianLimit(0.0).tradeoff("1/10") == pytest.approx(0.9, rel=1e-12)
    for alpha in (-1e-9, 1 + 1e-9):
        with pytest.raises(InputError, match=r"type_i = .*a type I error in"):
            limit.tradeoff(alpha)


def test_its_renyi_divergence_and_what_is_told():
    assert GaussianLimit(0.5).renyi(3) == 3 * 0.25 / 2
    assert GaussianLimit(0.5, 7).to_dict() == {"mu": 0.5, "rounds": 7, "certified": False, "about": NO_GUARANTEE}


@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
@pytest.mark.parametrize(("source", "variance"), [(BINARY, 2 / 3), (OTHER, 0.63)])
def test_one_round_by_hand(source, variance, direction):
    found = gaussian_limit(source, n=50, direction=direction)
    assert found.mu == pytest.approx(math.sqrt(variance / 50), rel=1e-12)
    assert found.rounds == 1


def test_who_sends_and_how_many_differ():
    """A group of g multiplies mu by g; on average 1 + 49 * 3/4 messages are sent, or as many as have to be."""
    for whom, users, times in (
        ({"group_size": 2}, 50, 2),
        ({"dropout": "1/4"}, 1 + 49 * 3 / 4, 1),
        ({"min_batch_size": 20}, 20, 1),
    ):
        assert gaussian_limit(BINARY, n=50, **whom).mu == pytest.approx(times * math.sqrt(2 / 3 / users), rel=1e-12)


def test_rounds_add_up_in_squares():
    found = gaussian_limit([Deployment(Group(BINARY, 50), periods=3), Deployment(OTHER, periods=4)], n=20)
    assert found.mu == pytest.approx(math.sqrt(3 * (2 / 3) / 50 + 4 * 0.63 / 20), rel=1e-12)
    assert found.rounds == 7
    asked = experiment(Deployment(BINARY, periods=5), {"n": 10})
    assert limit_of(asked).mu == pytest.approx(math.sqrt(5 * (2 / 3) / 10), rel=1e-12)


def test_where_there_is_none():
    told = Mechanism.from_matrix("told", [[1, 0], [0, 1]], parameters=())
    for source, n in ((told, 9), (Deployment(told, periods=2), 9), ([Deployment(BINARY), Deployment(told)], 9)):
        with pytest.raises(Unsupported, match="reveal for certain"):
            gaussian_limit(source, n=n)
    for n in (None, 0):
        with pytest.raises(InputError, match="n"):
            gaussian_limit(BINARY, n=n)
    counted = Deployment(Group(BINARY, 5), periods=2)
    assert gaussian_limit(counted, n=6) == gaussian_limit(BINARY, n=6, periods=2)
    with pytest.raises(InputError, match="n = 6: expected none"):
        gaussian_limit([counted, counted], n=6)


def test_a_density_has_no_variance_that_is_known_here():
    from symshuffle.vectors.randomizers.mechanisms import SphereLinear

    with pytest.raises(Unsupported, match="variance of the amplification variable, which is not known"):
        gaussian_limit(SphereLinear("0.05", 64), n=10, adjacency="zero-out")


def test_half_of_what_is_revealed_counts():
    """Erasure with a common symbol: the first two outputs are singular, whatever the direction."""
    erasure = Channel.from_rows([["1/3", "0", "2/3"], ["0", "1/3", "2/3"]])
    for direction in ("forward", "reverse", "both"):
        with pytest.raises(Unsupported, match="reveal for certain"):
            gaussian_limit(erasure, n=5, direction=direction)
    assert gaussian_limit(BINARY, n=6).mu == pytest.approx(float(Fraction(1, 3)), rel=1e-12)
