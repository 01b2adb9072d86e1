"""What is rational stays rational on its way, and what is irrational is enclosed and says so."""

import itertools
from fractions import Fraction

import pytest

import symshuffle as ss
from proofs_checks._estimation import fisher_information
from symshuffle.base.choices import Population, members
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp, Verdict, enclose, equal
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.decompositions.composition import Composed, joint, parallel, subsample
from symshuffle.mechanisms.finite import erasure, krr
from symshuffle.utility.anchored.enclosed import EnclosedLaw, template_law
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.anchored.maps import fiber
from symshuffle.utility.estimation.canonical import canonical_risk, isotropic_risk, worst_canonical_risk, worst_risk
from symshuffle.utility.frontiers.contamination import Contamination, ratio_law, shuffled_leakage
from symshuffle.utility.frontiers.frontier import trace_frontier
from symshuffle.utility.frontiers.leakage import convex_envelope

F = Fraction


def test_compositions_without_a_common_budget_are_exact():
    first, second = krr().at(k=3, lam=F(4)), krr().at(k=2, lam=F(2))
    common = ss.delta(Composed(joint(krr().at(k=3), krr().at(k=2)), F(4)), n=3, exp_eps=F(6, 5), arithmetic="exact")
    same = joint(krr().at(k=3, lam=F(2)), krr().at(k=2, lam=F(2)))
    assert ss.delta(Composed(same, None), n=3, exp_eps=F(6, 5), arithmetic="exact").bracket == common.bracket
    for tree in (
        joint(first, second),
        parallel((first, first), (F(1, 4), F(3, 4))),
        joint(first, erasure().at(k=3, p=F(1, 3))),
        parallel((erasure().at(k=3, p=F(1, 3)), first), (F(1, 4), F(3, 4))),
        subsample(joint(first, second), F(1, 3)),
    ):
        exact = ss.delta(Composed(tree, None), n=3, exp_eps=F(6, 5), arithmetic="exact").bracket
        assert exact.exact is not None
        assert ss.delta(Composed(tree, None), n=3, exp_eps=F(6, 5)).bracket.contains(exact.exact)
        assert ss.delta(Composed(tree, None), n=3, exp_eps=F(6, 5), arithmetic="ball").bracket.contains(exact.exact)
    with pytest.raises(InputError, match="lam"):
        ss.delta(Composed(joint(krr().at(k=3), second), None), n=3, exp_eps=F(6, 5))


def test_anchored_geometry_at_irrational_levels():
    """At exp(1) the law is in balls, and its numbers enclose those of the closed form."""
    channel = krr().at(k=3).channel(lam=Exp(F(1)))
    with pytest.raises(InputError, match="EnclosedLaw"):
        AnchoredLaw.from_channel(channel)
    law = template_law(channel)
    ball = enclose(Exp(F(1)))
    closed = 6 * ((ball - 1) / (ball + 2)) * ((ball - 1) / (ball + 2))
    trace = law.trace()
    assert equal(trace, closed) is Verdict.UNDECIDED
    assert trace.upper - trace.lower < F(1, 10**25)
    assert equal(law.ratio_cap(), Exp(F(1))) is Verdict.UNDECIDED
    for population in members(Population):
        expected = isotropic_risk(3, closed, population=population) / 7
        found, _ = worst_risk(law, n=7, population=population)
        assert found.arithmetic == "ball"
        assert found.lower <= expected.upper
        assert expected.lower <= found.upper
        assert found.relative_width < F(1, 10**20)
        assert float(found.upper) == pytest.approx(float(expected))


def test_enclosed_laws_agree_with_rational_ones():
    rows = [["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]]
    channel = Channel.from_rows(rows)
    law, balls = AnchoredLaw.from_channel(channel), EnclosedLaw.from_channel(channel)
    w = (F(1, 2), F(1, 3), F(1, 6))

    def close(matrix, other):
        pairs = zip(itertools.chain(*matrix), itertools.chain(*other), strict=True)
        return all(ball.lower <= value <= ball.upper and ball.radius < F(1, 10**25) for value, ball in pairs)

    assert close(law.covariance(), balls.covariance())
    assert close([[law.trace(), law.pairwise_budget()]], [[balls.trace(), balls.pairwise_budget()]])
    seen = fiber(law, w)
    assert seen.second_moment() == seen.covariance() == fisher_information(law, w)
    assert close(seen.second_moment(), balls.fisher_information(w))
    for population in members(Population):
        value, argument = worst_canonical_risk(law, n=6, population=population)
        exact, composition = worst_risk(law, n=6, population=population)
        assert (exact.exact, composition) == (value, argument)
        enclosed, composition = worst_risk(balls, n=6, population=population)
        assert enclosed.lower <= value <= enclosed.upper
        assert abs(canonical_risk(law, composition, n=6, population=population) - value) < F(1, 10**30)
    with pytest.raises(InputError, match="covariance"):
        worst_risk(AnchoredLaw.from_channel(channel.merge([[0, 1], [2]])), n=2, population="iid")
    with pytest.raises(InputError, match="covariance"):
        worst_risk(EnclosedLaw.from_channel(channel.merge([[0, 1], [2]])), n=2, population="iid")
    with pytest.raises(InputError):
        EnclosedLaw(balls.templates, balls.weights[::-1])


def test_orders_and_levels_may_be_exponentials():
    channel = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    found = shuffled_leakage(ratio_law(channel, 0, 1), Contamination(4), gamma=Exp(F(1, 10)), arithmetic="ball")
    assert found.bracket.relative_width < F(1, 10**6)
    envelope = convex_envelope(3, lam=Exp(F(1)), function="chi-square")
    assert envelope.bracket.arithmetic == "ball"


def test_a_frontier_with_two_ends_is_not_exact():
    for found in (trace_frontier(5, F(2)), trace_frontier(5, F(2), lam_cap=Exp(F(1))), trace_frontier(5, F(1, 2))):
        assert (found.trace.arithmetic == "exact") == (found.trace.lower == found.trace.upper)
        found.verify()


def test_direct_sum_stays_exact():
    half = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    assert direct_sum([half, half], [F(1, 2), F(1, 2)]).exact
