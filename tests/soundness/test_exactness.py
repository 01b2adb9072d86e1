"""What is rational stays rational on its way, and what is irrational is enclosed and says so."""

from fractions import Fraction

import pytest

import symshuffle as ss
from symshuffle.accountants.reduction import Composed
from symshuffle.anchored import AnchoredLaw, fiber
from symshuffle.channel import Channel, direct_sum
from symshuffle.decompositions.composition import joint, parallel
from symshuffle.design.envelope import Contamination, ratio_law, shuffled_leakage
from symshuffle.design.frontier import trace_frontier
from symshuffle.design.leakage import convex_envelope
from symshuffle.mechanisms.finite import erasure, krr
from symshuffle.numbers import Exp, enclose
from symshuffle.results import Rigour

F = Fraction


def test_compositions_without_a_common_budget_are_exact():
    first, second = krr().at(k=3, lam=F(4)), krr().at(k=2, lam=F(2))
    common = ss.delta(Composed(joint(krr().at(k=3), krr().at(k=2)), F(4)), n=3, exp_eps=F(6, 5), rigour=Rigour.EXACT)
    same = joint(krr().at(k=3, lam=F(2)), krr().at(k=2, lam=F(2)))
    assert ss.delta(Composed(same, None), n=3, exp_eps=F(6, 5), rigour=Rigour.EXACT).bracket == common.bracket
    for tree in (
        joint(first, second),
        parallel((first, first), (F(1, 4), F(3, 4))),
        joint(first, erasure().at(k=3, p=F(1, 3))),
    ):
        exact = ss.delta(Composed(tree, None), n=3, exp_eps=F(6, 5), rigour=Rigour.EXACT).bracket
        assert exact.exact is not None
        assert ss.delta(Composed(tree, None), n=3, exp_eps=F(6, 5)).bracket.contains(exact.exact)
        assert ss.delta(Composed(tree, None), n=3, exp_eps=F(6, 5), rigour=Rigour.BALL).bracket.contains(exact.exact)


@pytest.mark.xfail(strict=True, reason="balls are refused")
def test_anchored_geometry_at_irrational_levels():
    """At exp(1) the law is in balls, and its numbers enclose those of the closed form."""
    lam = Exp(F(1))
    law = AnchoredLaw.from_channel(krr().at(k=3).channel(lam=lam))
    ball = enclose(lam)
    closed = 6 * ((ball - 1) / (ball + 2)) * ((ball - 1) / (ball + 2))
    trace = law.trace()
    assert trace.lower <= closed.upper
    assert closed.lower <= trace.upper
    assert trace.upper - trace.lower < F(1, 10**25)
    seen = fiber(law, (F(1, 2), F(1, 4), F(1, 4)))
    assert len(seen.ratios.points) == 3


def test_orders_and_levels_may_be_exponentials():
    channel = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    found = shuffled_leakage(ratio_law(channel, 0, 1), Contamination(4), gamma=Exp(F(1, 10)), rigour=Rigour.BALL)
    assert found.bracket.relative_width < F(1, 10**6)
    envelope = convex_envelope(3, lam=Exp(F(1)), function="chi-square")
    assert envelope.bracket.rigour is Rigour.BALL


def test_a_frontier_with_two_ends_is_not_exact():
    for found in (trace_frontier(5, F(2)), trace_frontier(5, F(2), lam_cap=Exp(F(1))), trace_frontier(5, F(1, 2))):
        assert (found.trace.rigour is Rigour.EXACT) == (found.trace.lower == found.trace.upper)
        found.verify()


def test_direct_sum_stays_exact():
    half = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    assert direct_sum([half, half], [F(1, 2), F(1, 2)]).exact
