"""Rényi divergences from profiles, and the Gaussian that comes near."""

import json
import math
from fractions import Fraction as F

import flint
import pytest

from proofs_checks._divergences import kl_divergence, renyi_divergence
from symshuffle import Channel, Deployment, Group, InputError, Unsupported, gaussian_limit, randomizer, renyi
from symshuffle.accountants.bounds.chords import Node
from symshuffle.accountants.renyi.orders import divergence, stretches, whole_line
from symshuffle.base.numbers import working_precision
from symshuffle.base.results import AnswerMethods
from symshuffle.channels import hockey_stick
from symshuffle.decompositions import ReductionPair
from tests.shown import as_html

UNEQUAL = Channel.from_rows([["9/10", "1/10"], ["1/2", "1/2"]])
LAWS = ([F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)])
ORDERS = (F(1), F(3, 2), F(2), F(7))


def ends(masses, orders, alpha, blur=F(0)):
    """Both ends from the profile of two laws at some orders."""
    sides = [
        [Node(x, d * (1 - blur), d * (1 + blur)) for x in orders for d in (hockey_stick(*two, x),)]
        for two in (masses, masses[::-1])
    ]
    with working_precision(300):
        found = stretches(whole_line(*sides), alpha)
        low = divergence(sum((low for low, _ in found), start=flint.arb(0)), alpha)
        high = divergence(sum((high for _, high in found), start=flint.arb(0)), alpha)
    return low.lower, high.upper


def test_ends_below_all_doubles_are_rounded_outward():
    """Of more digits than are kept."""
    given = [Node(F(x), F(2**90 + 1, x * 3**700), F(2**91 + 1, x * 3**700)) for x in (1, 2)]
    for found, known in zip(whole_line(given, given)[-2:], given, strict=True):
        assert known.low * (1 - F(1, 2**60)) < found.low < known.low
        assert known.high < found.high < known.high * (1 + F(1, 2**60))


def exact(masses, alpha):
    return kl_divergence(*masses) if alpha == 1 else renyi_divergence(*masses, alpha)


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("blur", [F(0), F(1, 50)])
def test_few_orders_leave_it_between_both_ends(alpha, blur):
    truth = exact(LAWS, alpha).midpoint
    for orders in ([F(1), F(4)], [F(1), F(7, 5), F(5)], [F(1), F(11, 10), F(5, 4), F(8, 5), F(5, 2), F(4)]):
        low, high = ends(LAWS, orders, alpha, blur)
        assert 0 <= low < truth < high


def test_more_orders_bring_the_ends_together():
    truth, widths = exact(LAWS, F(3)).midpoint, []
    for parts in (8, 32, 128):
        low, high = ends(LAWS, [1 + F(3 * i, parts) for i in range(parts + 1)], F(3))
        assert low <= truth <= high
        widths.append(high - low)
    assert widths[2] < widths[1] / 4 < widths[0] / 8


@pytest.mark.parametrize("alpha", [1, 3, 20])
def test_one_user_has_the_divergence_of_the_rows_in_every_direction(alpha):
    """The two directions differ; a profile of one direction in both places would miss one of them."""
    p, q = UNEQUAL.rows
    pair = ReductionPair(p, q, q)
    truth = {"forward": exact((p, q), alpha).midpoint, "reverse": exact((q, p), alpha).midpoint}
    truth["both"] = max(truth.values())
    assert abs(truth["forward"] - truth["reverse"]) > F(1, 20)
    for direction, value in truth.items():
        found = renyi(pair, n=1, order=alpha, direction=direction, rtol=1e-2)
        assert found.bracket.lower <= value <= found.bracket.upper
        assert found.bracket.relative_width <= 1e-2
        assert isinstance(found, AnswerMethods)
        assert float(found) >= found.bracket.upper


def test_rounds_add_up():
    krr = randomizer("krr").at(k=3, lam=2)
    one = renyi(krr, n=50, order=4, rtol=1e-2)
    seven = renyi(krr, n=50, periods=7, order=4, rtol=1e-2)
    assert seven.bracket.upper == 7 * one.bracket.upper
    assert seven.bracket.lower == 7 * one.bracket.lower
    assert "may depend on earlier messages" in seven.about
    assert seven.to_dict()["rounds"] == 7
    mixed = renyi(
        [Deployment(Group(krr, 50), periods=2), Deployment(Group(UNEQUAL, 9), periods=3)],
        n=None,
        order=4,
        rtol=1e-2,
        attained=True,
    )
    other = renyi(UNEQUAL, n=9, order=4, rtol=1e-2)
    assert mixed.bracket.upper == 2 * one.bracket.upper + 3 * other.bracket.upper
    assert 0 < mixed.attained.lower <= mixed.bracket.upper
    assert "in 2 rounds" in mixed.attained.datasets
    assert renyi(krr, n=50, periods=1, order=4, rtol=1e-2).bracket == one.bracket


def test_balls():
    found = renyi(UNEQUAL, n=4, order="5/2", arithmetic="ball", rtol=1e-2)
    assert found.bracket.arithmetic == "ball"
    assert found.bracket.relative_width <= 1e-2
    assert json.loads(json.dumps(found.to_dict()))["order"] == "5/2"
    assert "5/2" in repr(found)
    assert "<table>" in as_html(found)


def test_a_width_that_is_missed_is_said(monkeypatch):
    monkeypatch.setattr("symshuffle.accountants.renyi.refined_profile._MOST_NODES", 20)
    assert renyi(UNEQUAL, n=4, order=2, rtol=1e-6).bracket.aimed == 1e-6


def test_nothing_told_is_nothing():
    found = renyi(randomizer("constant").at(k=3), n=5, order=2, attained=True)
    assert found.bracket.upper == 0
    assert float(found) == 0


def test_an_infinite_divergence_is_refused():
    with pytest.raises(Unsupported, match="infinite: some messages reveal"):
        renyi(randomizer("erasure").at(k=3, p="1/2"), n=10, order=2)
    from symshuffle.vectors import BlanketMixedGaussian

    with pytest.raises(Unsupported, match="may be infinite"):
        renyi(BlanketMixedGaussian("0.9", "2"), n=10, order=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "1/2"}, "order"),
        ({"order": 10_001}, "order"),
        ({"order": "two"}, "order"),
        ({"order": 2, "rtol": 2}, "rtol"),
        ({"order": 2, "arithmetic": "exact"}, "logarithm"),
    ],
)
def test_wrong_input_is_refused(options, message):
    with pytest.raises((InputError, Unsupported), match=message):
        renyi(UNEQUAL, **{"n": 5, **options})


def test_rounds_have_no_direction():
    with pytest.raises(InputError, match="mix the orders"):
        renyi(UNEQUAL, n=5, periods=2, order=2, direction="forward")


def test_the_gaussian_comes_near_and_promises_nothing():
    krr = randomizer("krr").at(k=4, eps0=1)
    plan = Deployment(krr, periods=9)
    found = gaussian_limit(plan, n=10_000)
    assert found.mu == pytest.approx(3 * gaussian_limit(krr, n=10_000).mu)
    assert found.renyi(2) == pytest.approx(float(renyi(plan, n=10_000, order=2)), rel=1e-2)
    assert found.to_dict()["certified"] is False
    assert "no guarantee" in found.about
    assert not isinstance(found, AnswerMethods)
    assert (found.tradeoff(0), found.tradeoff(1)) == (1, 0)
    # At level 0 the errors sum to one minus the total variation distance of the two Gaussians.
    assert 1 - 2 * found.tradeoff(found.tradeoff("1/2")) == pytest.approx(0, abs=1e-9)
    assert found.tradeoff("1/2") == pytest.approx((1 + math.erf(-found.mu / math.sqrt(2))) / 2)
    with pytest.raises(InputError, match="type_i"):
        found.tradeoff(2)
    with pytest.raises(InputError, match="n"):
        gaussian_limit(krr, n=None)
