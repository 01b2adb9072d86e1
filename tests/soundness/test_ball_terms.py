"""Every error term of the contour in balls keeps some bracket true: set to zero, it lets one miss.

As in the tests of the contour in doubles the constants are bad on purpose.

No public door shows one term alone, so that private names are called and set here.
"""

from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from symshuffle import Law
from symshuffle.base.numbers import working_precision
from symshuffle.engines import BallContour, Exact
from symshuffle.engines.contours import ball, saddle
from symshuffle.engines.contours.integrand import ContourLine
from tests.soundness.test_engine_terms import contour_cases, missed

ZERO = flint.arb(0)


def ball_misses(patch):
    """Whether the contour in balls misses at one of the cases of the one in doubles."""
    for law, n, truth, plan, quiet in contour_cases():
        if plan.nodes * len(law.values) > 30_000:
            continue
        with pytest.MonkeyPatch.context() as at:
            at.setattr(saddle, "QUIET", quiet)
            at.setattr(saddle, "choose", lambda *_, plan=plan, **__: plan)
            patch(at)
            engine = BallContour(bits=96, largest=3_000)
            if missed(lambda law=law, n=n, e=engine: e._attempt(law, n, saddle.tilt(law), 1e-3)[0], truth):
                return True
    return False


def nothing_negligible(at):
    """Nodes that are not evaluated count as if they had been."""
    plain = ball._evaluated
    at.setattr(ball, "_negligible_exponent", lambda *_: -3.0)
    at.setattr(ball, "_evaluated", lambda line, active: (*plain(line, active)[:2], line.plan.nodes + 1))


TERMS = {
    "truncation": lambda at: at.setattr(ContourLine, "truncation", lambda *_: ZERO),
    "aliasing": lambda at: at.setattr(ContourLine, "aliasing", lambda *_: ZERO),
    "negligible intervals": nothing_negligible,
}


def test_the_contour_in_balls_holds_the_truth_for_any_constants():
    assert not ball_misses(lambda at: None)


def test_it_does_so_where_nearly_everything_is_called_negligible():
    assert not ball_misses(lambda at: at.setattr(ball, "_negligible_exponent", lambda *_: -3.0))


@pytest.mark.parametrize("term", TERMS)
def test_each_term_of_the_contour_in_balls_is_needed(term):
    assert ball_misses(TERMS[term])


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_half_of_the_truncation_in_balls_is_too_little(monkeypatch, share):
    """Where nearly all copies are 0 nothing decays but the smoothing, and the bound is what is missing, to a tenth."""
    rare = Fraction(1, 10**9)
    law = Law((Fraction(0), Fraction(1), Fraction(-1)), (1 - 2 * rare, rare, rare))
    exact = Exact().bracket(law, 5).exact
    plan = saddle.ContourPlan(c=0.5, step=0.01, nodes=4000, tau=0.1)
    monkeypatch.setattr(saddle, "choose", lambda *_, **__: plan)
    plain = ContourLine.truncation
    monkeypatch.setattr(ContourLine, "truncation", lambda self: plain(self) * share)
    monkeypatch.setattr(ContourLine, "aliasing", lambda *_: ZERO)  # the step is short: e^-157
    engine = BallContour(bits=96)
    assert missed(lambda: engine._attempt(law, 5, saddle.tilt(law), 1e-3)[0], (exact, exact)) == (share < 1)


@pytest.mark.parametrize("error", ["0", "1e-3", "0.2"])
def test_what_is_called_negligible_is_negligible_with_the_error_of_the_nodes(error):
    """Every node that is not evaluated is below the threshold, the error of the line counted in."""
    law = Law((Fraction(0), Fraction(1), Fraction(-3, 2)), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    plan, n, threshold = saddle.ContourPlan(c=0.3, step=0.02, nodes=600, tau=0.05), 7, 6.0
    with working_precision(96):
        line = replace(ContourLine.of(law, n, plan, 1e-3), error=flint.arb(error))
        active, negligible = ball._intervals(line, saddle.tilt(law), threshold, plan.nodes + 1, 10**6)
        evaluated = {index for start, stop in active for index in range(start, stop)}
        assert negligible or error == "0.2"
        for index in set(range(plan.nodes + 1)) - evaluated:
            size = line.ratio(index).abs_upper()
            assert size**n < flint.arb(-threshold).exp() * (1 + flint.arb("1e-9"))
