"""Searches find what they look for from any start, and both ends that they print hold by values of their own."""

import itertools
import math
from fractions import Fraction as F
from typing import Any

import pytest

from symshuffle import delta
from symshuffle.collect.mechanisms import scheme
from symshuffle.collect.search import plan_survey
from symshuffle.vectors.calibration import smallest_error
from symshuffle.vectors.calibration.search import calibrate
from symshuffle.vectors.calibration.smallest_error import _strongest

ENDS = (-12.0, 9.0)
CLOSE = 1e-4
SHAPES: dict[str, Any] = {
    "line": lambda x: x,
    "steep": lambda x: 900 * x,
    "flat": lambda x: x / 1000,
    "bent": lambda x: math.expm1(x) if x < 20 else math.inf,
    "saturated": lambda x: smallest_error._FAR if x > 0 else -smallest_error._FAR,
    "cancelled": lambda x: smallest_error._FAR if x > 0.7 else x,
    "nothing": lambda x: -smallest_error._FAR if x < -0.7 else x,
}
"""Excesses over a target that rise with the strength and are 0 or jump at 0."""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_strongest_is_found_from_every_start(shape):
    """The crossing may be far below or above the start, at either end, or next to it."""
    for root, start in itertools.product((-11.99, -5.0, 0.0, 0.013, 8.99), (-40.0, -12.0, -3.0, 0.0, 0.02, 9.0, 40.0)):
        found = _strongest(lambda x, root=root: SHAPES[shape](x - root), start, ENDS, CLOSE)
        assert found is not None and abs(found - root) <= 2 * CLOSE, (root, start)


def test_where_every_strength_or_none_meets_the_target_the_search_ends():
    for start in (-40.0, -12.0, 0.0, 9.0, 40.0):
        assert _strongest(lambda _: -1.0, start, ENDS, CLOSE) == ENDS[1]
        assert _strongest(lambda _: 1.0, start, ENDS, CLOSE) is None


def stronger(mechanism: Any) -> Any:
    """The mechanism with less noise."""
    return type(mechanism)(mechanism.sigma0 * F(98, 100), mechanism.dimension)


@pytest.mark.parametrize(("n", "eps", "goal"), [(1, "1e-6", "1e-6"), (1, "5", "0.5"), (1, "1e-3", "0.9")])
@pytest.mark.parametrize("moved", [-4.0, 0.0, 2.0])
def test_a_calibrated_gaussian_meets_the_target_and_less_noise_does_not(n, eps, goal, moved, monkeypatch):
    """A start far too strong or too weak makes no difference."""
    plain = smallest_error._strongest
    monkeypatch.setattr(
        smallest_error,
        "_strongest",
        lambda excess, start, *rest: plain(excess, start + moved, *rest),
    )
    found = calibrate("gaussian", n=n, dimension=2, delta=goal, eps=eps, gap=None)
    asked: dict[str, Any] = {"n": n, "eps": eps, "blanket": found.blanket}
    assert delta(found.parameters, arithmetic="ball", **asked).bracket.upper <= F(goal)
    assert found.limit is not None or delta(stronger(found.parameters), **asked).bracket.lower > F(goal)


SURVEYS = [
    (1, "1e-3", "1e-6"),
    (1, "40", "1e-6"),
    (1000, "1e-6", "1e-9"),
    pytest.param(1000, "0.1", "1e-60", marks=pytest.mark.conformance),
    (10**9, "1e-6", "1e-12"),
    (1000, "0.1", "0.01"),
    (2, "3", "0.3"),
]
"""Users, eps and delta."""


@pytest.mark.parametrize("name", ["krr", "oue"])
@pytest.mark.parametrize(("n", "eps", "goal"), SURVEYS)
def test_a_plan_holds_and_a_larger_ratio_does_not(name, n, eps, goal):
    plan = plan_survey(3, n=n, eps=eps, delta=goal, mechanism=name)

    def value(root: F, level: Any) -> Any:
        return delta(scheme(name, 3, root, plan.parameters).source(), n=n, eps=level, rtol=1e-9).bracket

    assert value(plan.root, eps).upper <= F(goal)
    larger = min(1 + (plan.root - 1) * (1 + F(1, 1000)), plan.root * (1 + F(1, 10**5))).limit_denominator(10**12)
    if larger < 10**15:  # beyond it messages are not drawn
        assert value(larger, eps).lower > F(goal)
    certified = plan.certified_eps
    assert certified <= F(eps)
    assert value(plan.root, certified).upper <= F(goal)
    assert certified == 0 or value(plan.root, certified * F(99, 100)).lower > F(goal)
