"""``float`` of every answer is the double next to its safe end, on the safe side; its class says which end that is."""

import importlib
import inspect
import math
import pkgutil
from fractions import Fraction as F

import numpy as np
import pytest

import symshuffle
from symshuffle import Bracket, Channel, delta, gaussian_limit, largest_eps0, profile, randomizer, renyi, smallest_n
from symshuffle.accountants.questions.adversary import worst_of_all
from symshuffle.base.lp import LinearProgram
from symshuffle.channels import cyclic_group, deficiency
from symshuffle.channels.geometry.linprog import solve
from symshuffle.design import ExtremalChannel, f_divergence, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information.maximum import maximise
from symshuffle.utility import (
    Contamination,
    binary_envelope,
    leakage,
    minimax_sandwich,
    trace_frontier,
    worst_curve,
)
from symshuffle.vectors import (
    SphereLinear,
    calibrate,
    minimal_unbiased_risk,
    private_mean,
    shuffle_index,
    worst_background_on_the_line,
)
from symshuffle.vectors.error.optimal import best_density
from tests.soundness.false_shuffled import trace_bound

W = Channel.from_rows([["3/4", "1/4"], ["1/3", "2/3"]])
OTHER = Channel.from_rows([["2/3", "1/3"], ["1/4", "3/4"]])
KRR = randomizer("krr").at(k=3, eps0=1)
PROBLEM = smoothed_point_masses(3, "1/2")
LINE = SphereLinear("1/3", 1)
MASSES = (F(1), F(0), F(0)), (F(0), F(1), F(0))


def model():
    import cvxpy as cp

    family = ExtremalChannel(3, lam=3)
    weights = family.variable()
    return family.certified(cp.Problem(cp.Maximize(weights[0] + weights[1] / 3), family.constraints(weights)))


def program():
    return solve(LinearProgram.from_rows([F(-2), F(-1, 3)], [([1, 3], "<=", F(1))]))


ANSWERS = {
    "Answer": ("upper", lambda: delta(KRR, n=9, eps="0.1")),
    "Attained": ("lower", lambda: delta(W, n=5, exp_eps="6/5", attained=True).attained),
    "LeastError": ("upper", lambda: best_density(3, 2)),
    "Calibration": ("upper", lambda: calibrate("sphere-linear", n=200, dimension=1, eps=1, delta="1/10", gap=None)),
    "CertifiedModel": ("lower", model),
    "Deficiency": ("upper", lambda: deficiency(W, OTHER)),
    "Design": ("upper", lambda: smallest_risk(PROBLEM, eps0="1/2", rtol="1/64")),
    "Frontier": ("lower", lambda: trace_frontier(5, 0.3)),
    "Answer about n": ("upper", lambda: smallest_n(KRR, eps="1/2", delta="1/10")),
    "Answer about eps0": (
        "lower",
        lambda: largest_eps0(randomizer("rr"), n=9, eps="1/2", delta="1/10", rtol=0.1),
    ),
    "Leakage": ("upper", lambda: binary_envelope(Contamination(3), lam=2, gamma="6/5")),
    "MeasureDesign": (
        "lower",
        lambda: maximise(f_divergence(*MASSES, lambda t: (t - 1) * (t - 1)), eps0="1/2", rtol="1/64"),
    ),
    "MinimalRisk": ("upper", lambda: minimal_unbiased_risk(W, [[0], [1]])),
    "Design of orbits": ("upper", lambda: smallest_risk(PROBLEM, symshuffle.Exp(F(1, 2)), group=cyclic_group(3))),
    "Leakage of a pair": ("upper", lambda: leakage(W, 0, 1, n=3, eps="1/3")),
    "PrivateMean": (
        "upper",
        lambda: private_mean(
            [[0.5]] * 99, eps=1, delta="1/10", mechanism="sphere-linear", rng=np.random.default_rng(1)
        ),
    ),
    "Answer about a divergence": ("upper", lambda: renyi(KRR, n=9, order=2)),
    "Sandwich": ("upper", lambda: minimax_sandwich(3, "1/3", 7)),
    "ShuffleIndex": ("lower", lambda: shuffle_index(LINE, side="lower")),
    "Solution": ("upper", program),
    "TraceBound": ("upper", lambda: trace_bound(F(201, 100))),
    "WorstBackground": (
        "upper",
        lambda: worst_background_on_the_line(n=2, sigma0=1, eps="1/5", tolerance="1/2"),
    ),
    "WorstCase": ("lower", lambda: worst_of_all(W, 3, F(6, 5))),
    "WorstCurve": ("upper", lambda: worst_curve(chi_square="1/3", n=3, lam=2, exp_eps="6/5")),
}
"""Of each class of answers, the safe end, and an answer: upper for losses and errors, lower for what is reached."""

NOT_ANSWERS = {"Ball", "Exponential"}
"""Numbers themselves, and an exit status."""
BASES = {"AnswerMethods", "ValueMethods"}


def classes():
    """All classes of the library whose objects ``float`` takes."""
    for found in pkgutil.walk_packages(symshuffle.__path__, "symshuffle."):
        module = importlib.import_module(found.name)
        for one in vars(module).values():
            if inspect.isclass(one) and one.__module__ == found.name and hasattr(one, "__float__"):
                yield one


def test_every_class_of_answers_is_asked_and_says_its_end():
    known = {one.__name__: one for one in classes()}
    assert known.keys() - NOT_ANSWERS - BASES == {name.split()[0] for name in ANSWERS}
    assert [name for name in known.keys() - NOT_ANSWERS - BASES if "``float`` returns" not in known[name].__doc__] == []


@pytest.mark.parametrize("name", ANSWERS)
def test_a_float_is_next_to_the_safe_end(name):
    side, ask = ANSWERS[name]
    found = ask()
    assert type(found).__name__ == name.split()[0]
    bracket = getattr(found, "bracket", None)
    if bracket is None:  # one number, which is the end itself
        end = found.lower if name == "Attained" else found.trace
    else:
        end = bracket.upper if side == "upper" else bracket.lower
        assert getattr(found, "safe", side) == side
    value = float(found)
    if side == "upper":
        assert F(value) >= end and F(math.nextafter(value, -math.inf)) < end
    else:
        assert F(value) <= end and F(math.nextafter(value, math.inf)) > end


def test_what_is_not_one_number_is_not_converted():
    for found in (
        Bracket(F(1, 3), F(1, 2), "exact", "", ""),
        profile(W, n=3, eps=[0]),
        gaussian_limit(KRR, n=99),
    ):
        with pytest.raises(TypeError):
            float(found)
