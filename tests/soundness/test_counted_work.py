"""Expensive requests answer or are refused within a number of operations, which is counted and not timed.

An operation is a call, of Python or of a library, as the interpreter reports it; what is done in arrays is priced in
waves, and the prices of both contours are tested below.
"""

import sys
from contextlib import contextmanager
from fractions import Fraction as F

import pytest

import symshuffle as ss
from symshuffle.accountants.reduction import reduction
from symshuffle.decompositions.composition import Composed
from symshuffle.design import DecisionProblem
from symshuffle.design.named.cardioid import cardioid_program
from symshuffle.design.named.cardioid_formula import cardioid_design
from symshuffle.design.parametric.walk import derive
from symshuffle.engines import ball, contour
from symshuffle.errors import InputError, SymshuffleError, Unsupported
from symshuffle.frontiers.orbits import DualCertificate
from symshuffle.law import Law
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.results import Bracket, Rigour


class OverBudget(BaseException):
    """No error of the library, so that nothing catches it."""


@contextmanager
def at_most(calls, of=None):
    """Count calls (of one name only, if given), and stop what takes more of them."""
    left, before = calls, sys.getprofile()

    def count(frame, event, argument):
        nonlocal left
        if event == "c_call" and of is not None:
            left -= getattr(argument, "__name__", "") == of
        elif of is None:
            left -= event in ("call", "c_call")
        if left < 0:
            sys.setprofile(before)
            raise OverBudget(f"more than {calls} calls")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


@pytest.fixture(scope="module", autouse=True)
def _imported():
    """What is imported on first use is no work on a request."""
    for engine in (ss.Contour(), ss.FFT(), ss.BallContour(rel=1e-3)):
        ss.delta(krr(3, lam=3), n=200, exp_eps=F(6, 5), engine=engine)
    ss.epsilon(krr(3, lam=3), n=200, delta=F(1, 1000))
    ss.delta(Laplace(lam=F(3)), n=20, exp_eps=F(6, 5))


def krr(k, **levels):
    return ss.mechanism("krr").at(k=k, **levels)


NEAR_TIE = DecisionProblem.of(
    [[1, 0], [0, 1]],
    [[0, 1, F(1, 2)], [1, 0, F(1, 2) + F(1, 10**9)]],
    prior=[F(1, 2) + F(1, 10**9), F(1, 2) - F(1, 10**9)],
)
EXPENSIVE = {
    "n = 1e8, tiny delta": (100_000, lambda: ss.delta(krr(10, eps0=1), n=10**8, eps="0.1")),
    "n = 1e12": (25_000, lambda: ss.delta(krr(10, eps0=1), n=10**12, eps="0.1")),
    "just below the budget": (
        800_000,
        lambda: ss.delta(ss.mechanism("rr").at(eps0=50), n=10**9, eps="49.99999999"),
    ),
    "a width of 1e-30": (50_000, lambda: ss.delta(krr(10, eps0=1), n=1000, eps="0.1", rel=1e-30)),
    "contour in balls at one user": (
        4_000_000,
        lambda: ss.delta(krr(10, lam=3), n=1, eps=F(1, 10), engine=ss.BallContour(rel=1e-6)),
    ),
    "joint of 30": (
        2_000_000,
        lambda: ss.delta(Composed(ss.joint(*[krr(50)] * 30), F(3)), n=1000, eps=F(1, 10)),
    ),
    "laws of a joint of 8": (
        1_500_000,
        lambda: reduction(ss.joint(*[krr(50, lam=3)] * 8)).laws(F(11, 10), ss.Question.BOTH, None),
    ),
    "noise at one user": (20_000, lambda: ss.delta(Laplace(lam=F(3)), n=1, exp_eps=F(6, 5), rigour="ball")),
    "noise next to its budget": (
        200_000,
        lambda: ss.delta(Laplace(lam=ss.Exp(F(1))), n=5, exp_eps=ss.Exp(1 - F(1, 10**30))),
    ),
    "cardioid program of 20": (100, lambda: cardioid_program(20, F(1))),
    "cardioid of 40 in closed form": (4_000, lambda: cardioid_design(40, F(1), lam=F(3))),
    "a line that holds nothing": (200, lambda: DualCertificate(3, F(0), F(0), lam_cap=F(1)).verify()),
    "breakpoints 1e-9 apart": (300_000, lambda: derive(NEAR_TIE)),
    "exact at n = 1e9": (60_000, lambda: ss.delta(krr(5, lam=3), n=10**9, exp_eps=F(6, 5), rigour="exact")),
}
"""Calls within which each has to end: about three times what it takes. An answer is also written."""


@pytest.mark.parametrize("request_", EXPENSIVE)
def test_it_ends_within_its_budget(request_):
    calls, ask = EXPENSIVE[request_]
    with at_most(calls):
        try:
            found = ask()
        except SymshuffleError as refusal:
            assert "\n" not in str(refusal) and len(str(refusal)) < 400
        else:
            assert str(found)
            assert repr(found)


MANY = Law.from_atoms([(F(j * j % 997 - 300, 7), F(1, 400)) for j in range(400)])


def test_the_contour_in_balls_costs_no_more_waves_than_its_price(monkeypatch):
    """A limit on nodes alone let a law of 2,000 atoms run for hours."""
    monkeypatch.setattr(ball, "_PRICIEST", 40_000)
    engine = ss.BallContour(rel=1e-6)
    with (
        at_most(2 * 40_000, of="sin_cos"),
        pytest.raises(Unsupported, match="waves for this width; ask for a larger rel"),
    ):
        engine.bracket(MANY, 3)


def test_the_contour_in_doubles_refuses_beyond_its_price(monkeypatch):
    monkeypatch.setattr(contour, "_PRICIEST", 40_000)
    with pytest.raises(Unsupported, match="ask for a larger rel"):
        ss.Contour(rel=1e-6).bracket(MANY, 3)


def test_noise_next_to_its_budget_is_next_to_nothing():
    found = ss.delta(Laplace(lam=ss.Exp(F(1))), n=5, exp_eps=ss.Exp(1 - F(1, 10**30))).bracket
    assert found.lower == 0
    assert found.upper < F(6, 10**31)


LONG = F(3**40_000 + 1, 5**30_000)


@pytest.mark.parametrize("ends", [(LONG, LONG), (LONG, 2 * LONG), (-LONG, LONG)])
def test_long_rationals_are_written_at_once(ends):
    """``repr`` ended in ValueError, "Exceeds the limit (4300 digits)"; so did a refusal that quoted such a number."""
    found = Bracket(*ends, Rigour.EXACT if ends[0] == ends[1] else Rigour.BALL, "none", "")
    with at_most(2_000):
        for write in (str, repr, Bracket._repr_html_):
            assert len(write(found)) < 300
        assert len(str(InputError("delta", LONG, "a number below 1"))) < 300
    exact = found.to_dict()["exact"]
    assert (exact is None) if found.exact is None else (len(exact) > 30_000)
