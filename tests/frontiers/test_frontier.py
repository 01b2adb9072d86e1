import math
from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_checks._templates import slope_certificate
from symshuffle import Exp, InputError, Unsupported
from symshuffle.utility import raw_cap_trace, trace_frontier
from symshuffle.utility.frontiers.orbit import subset_orbit

F = Fraction


@pytest.mark.parametrize(
    ("k", "budget"), [(3, "1"), (4, "1"), (5, "2"), (10, "1"), (10, "10"), (2, "1/3"), (7, "1/100")]
)
def test_every_frontier_verifies(k, budget):
    found = trace_frontier(k, F(budget))
    found.verify()
    assert found.trace.width <= found.trace.upper / 10**20


def test_the_joint_problem_mixes_two_sizes():
    found = trace_frontier(4, F("0.0696599"), lam_cap=F("7/5"))
    found.verify()
    assert found.trace.exact is not None
    assert abs(found.trace.lower - F("0.1054834")) < F("1e-6")
    assert sorted(orbit.levels[0][0] for orbit in found.orbits) == [1, 2]


def test_a_cap_that_does_not_bind_changes_nothing():
    capped = trace_frontier(10, F("1/2"), lam_cap=F(6))
    capped.verify()
    assert replace(capped, lam_cap=None) == trace_frontier(10, F("1/2"))


@pytest.mark.parametrize("cap", [F(3), Exp(F(1)), F("11/10")])
@pytest.mark.parametrize("budget", [F("1/10"), F("1/2"), F(5), math.inf])
def test_joint_frontiers_verify_and_lie_below_both_caps(cap, budget):
    found = trace_frontier(8, budget, lam_cap=cap)
    found.verify()
    assert found.trace.lower <= trace_frontier(8, budget).trace.upper
    assert found.trace.lower <= trace_frontier(8, math.inf, lam_cap=cap).trace.upper
    assert found.trace.width <= found.trace.upper / 10**20


@pytest.mark.parametrize(
    "call",
    [
        lambda: trace_frontier(1, F(1)),
        lambda: trace_frontier(4, F(-1)),
        lambda: trace_frontier(4, F(1), lam_cap=F(1)),
        lambda: trace_frontier(4, math.nan),
        lambda: trace_frontier(4, -math.inf),
        lambda: trace_frontier(4, "x"),
        lambda: trace_frontier(4, None),
        lambda: trace_frontier(4.5, F(1)),
        lambda: trace_frontier(10**15 + 1, F(1)),
        lambda: trace_frontier(4, F(0)).risk_constant("iid"),
    ],
)
def test_out_of_range(call):
    with pytest.raises(InputError):
        call()


def test_joint_problems_of_many_inputs_are_refused():
    with pytest.raises(Unsupported, match="closed forms"):
        trace_frontier(5000, F(1), lam_cap=F(2))


def test_slope_certificate():
    assert slope_certificate(subset_orbit(10, 1, F(3)).template()) == (0, True)
    assert slope_certificate(subset_orbit(10, 2, F(3)).template())[0] > 0
    margin, holds = slope_certificate((F("3/2"), F("3/4"), F("3/4")))
    assert holds and margin > 0


@pytest.mark.parametrize("k", [2, 3, 10])
def test_limits_of_both_budgets(k):
    assert trace_frontier(k, F(0)).trace.exact == trace_frontier(k, F(0), lam_cap=F(2)).trace.exact == 0
    assert trace_frontier(k, math.inf).trace.exact == k * (k - 1)
    assert trace_frontier(k, F(1), lam_cap=math.inf) == trace_frontier(k, F(1))
    capped = trace_frontier(k, math.inf, lam_cap=F(2)).trace.exact
    assert capped == raw_cap_trace(k, F(2))


@pytest.mark.parametrize("budget", [F("1/10"), F(1), F(50)])
def test_two_inputs_follow_a_rational_curve(budget):
    trace = trace_frontier(2, budget).trace
    assert trace.lower <= 2 * budget / (4 + budget) <= trace.upper


def test_laws_of_many_inputs_are_refused_naming_the_short_form():
    assert trace_frontier(12, F(1)).law().trace() > 0
    with pytest.raises(Unsupported, match="orbits"):
        trace_frontier(13, F(1)).law()
