"""Doors that researchers looked for: each has a public name, a page of the reference, and an example there."""

import importlib
import inspect
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.mechanisms.symbolic import evaluate
from tests.shell import script
from tests.words import words

DOORS = {
    "second moment of a fiber": "utility.anchored.maps.Fiber.second_moment",
    "covariance of a fiber": "utility.anchored.maps.Fiber.covariance",
    "the same in balls": "utility.anchored.enclosed.EnclosedLaw.fisher_information",
    "mechanism of a frontier": "utility.frontiers.certificate.Frontier.mechanism",
    "channel of a frontier": "utility.frontiers.certificate.Frontier.channel",
    "one leakage call": "utility.frontiers.leakage.leakage",
    "convex envelope by name": "utility.frontiers.leakage.convex_envelope",
    "mixtures of extreme laws": "utility.frontiers.orbit.decompose",
    "vertices of the maximal polytope, streamed": "channels.geometry.extremal.MaximalPolytope.each_vertex",
    "the same, up to symmetry": "channels.geometry.extremal.MaximalPolytope.vertex_orbits",
    "slope constant": "utility.frontiers.frontier.slope_constant",
    "threshold budget": "utility.frontiers.frontier.threshold_budget",
    "tie ratio": "utility.frontiers.caps.tie_ratio",
    "breakpoints as eps0": "design.parametric.program.PiecewiseOptimum.breakpoints_eps0",
}
SHOWN = tuple(
    words(
        "utility.anchored.law.AnchoredLaw utility.anchored.enclosed.EnclosedLaw "
        "utility.anchored.maps.Fiber utility.frontiers.certificate.Frontier "
        "utility.frontiers.contamination.Leakage "
        "design.decision.designs.Design"
    )
)


@cache
def reference():
    sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
    try:
        return script("reference")
    finally:
        sys.path.pop(0)


def found(path):
    """What a dotted name means, which is shown on the page of its module."""
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        name = ".".join(("symshuffle", *parts[:cut]))
        if name in reference().modules():
            assert parts[cut] in reference().shown(name)
            value = importlib.import_module(name)
            for part in parts[cut:]:
                value = inspect.getattr_static(value, part)
            return getattr(value, "fget", None) or getattr(value, "__func__", None) or value
    raise AssertionError(f"{path} is on no page of the reference")


@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_an_example_in_the_reference(door):
    assert ">>> " in (inspect.getdoc(found(DOORS[door])) or ""), f"{DOORS[door]} has no example"


@pytest.mark.parametrize("shown", SHOWN)
def test_every_result_has_a_rich_display(shown):
    assert callable(found(shown)._repr_html_)


def test_breakpoints_that_are_roots_of_cubics_have_budgets():
    """They ended in InputError: the root of a polynomial was no constant."""
    root = sp.CRootOf(64 * X**3 - 822 * X**2 - 5261 * X - 6672, 2)
    ball = evaluate(root, bits=200)
    below, above = (64 * end**3 - 822 * end**2 - 5261 * end - 6672 for end in (ball.lower, ball.upper))
    assert below < 0 < above
    assert ball.upper - ball.lower < Fraction(1, 2**180)
    assert evaluate(sp.log(root)).lower > 0
    with pytest.raises(InputError, match="real roots"):
        evaluate(sp.CRootOf(X**3 - X + 5, 1))


X = sp.Symbol("x")
