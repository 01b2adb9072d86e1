"""Orbit designs, brackets around exponential levels and modelled families: small cases by hand, each field."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symshuffle.design import DecisionProblem, bayes_tradeoff, smoothed_point_masses
from symshuffle.design.decision.modelling import ExtremalChannel, _level
from symshuffle.design.decision.optimal_channel import weights_by_subset
from symshuffle.design.decision.reduced import OrbitWeight, orbit_tradeoff, orbit_tradeoff_at
from symshuffle.errors import CertificateError, InputError, Unsupported
from symshuffle.geometry.groups import symmetric_group
from symshuffle.numbers import Exp
from symshuffle.results import SafeEnd

F = Fraction
LAM = F(3)
GUESS = smoothed_point_masses(3, 1)
DESIGN = orbit_tradeoff(GUESS, LAM, symmetric_group(3))


def test_an_orbit_design_by_hand():
    """Guessing one of 3 at lam = 3: randomized response with weight 1/5 each, risk 2/5, bound 2/15 an input."""
    assert DESIGN.value.exact == F(2, 5)
    (weight,) = DESIGN.weights
    assert (weight.orbit.size, weight.weight, weight.orbit.representative.bit_count()) == (3, F(1, 5), 1)
    assert DESIGN.bound == (F(2, 15),) * 3
    assert DESIGN.num_outputs() == 3 and DESIGN.num_orbits.number == 2
    assert {tuple(sorted(row)) for row in DESIGN.channel().rows} == {(F(1, 5), F(1, 5), F(3, 5))}
    assert DESIGN.least_favourable_prior == (F(1, 3),) * 3
    assert DESIGN.safe is SafeEnd.UPPER and DESIGN.bracket is DESIGN.value
    found = DESIGN.to_json()
    assert found["orbits"][0] | {"representative": 0, "action": 0} == {
        "representative": 0, "action": 0, "size": "3", "weight": "1/5",
    }  # fmt: skip
    assert (found["lam"], found["bound"]) == ("3", ["2/15"] * 3)
    DESIGN.verify()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"lam": F(1)}, "lam"),
        ({"criterion": "bayes"}, "criterion"),
        ({"bound": (F(2, 15),) * 2}, "bound"),
        ({"bound": (F(2, 15), F(2, 15), F(2, 15) + F(1, 10**9))}, "bound"),
        ({"bound": (F(1, 15),) * 3}, "value"),
        ({"weights": (replace(DESIGN.weights[0], weight=F(1, 6)),)}, "weights"),
        ({"weights": (replace(DESIGN.weights[0], weight=F(-1, 5)),)}, r"weights\[0\]"),
        ({"weights": (replace(DESIGN.weights[0], action=7),)}, r"weights\[0\]"),
    ],
)
def test_orbit_designs_that_are_none(change, place):
    with pytest.raises(CertificateError, match=place):
        replace(DESIGN, **change).verify()


def test_orbits_are_counted_again():
    orbit = DESIGN.weights[0].orbit
    for wrong in (replace(orbit, size=2), replace(orbit, representative=7), replace(orbit, representative=0)):
        with pytest.raises(CertificateError, match=r"weights\[0\]"):
            replace(DESIGN, weights=(OrbitWeight(wrong, 0, F(1, 5)),)).verify()


def test_too_many_outputs_are_not_written_out(monkeypatch):
    from symshuffle.design.decision import reduced

    monkeypatch.setattr(reduced, "_MAX_OUTPUTS", 3)
    assert DESIGN.channel().num_outputs == 3
    monkeypatch.setattr(reduced, "_MAX_OUTPUTS", 2)
    with pytest.raises(Unsupported, match="3 outputs"):
        DESIGN.channel()


@pytest.mark.parametrize("rel", [1e-20, 1e-40])
def test_brackets_around_an_exponential_level(rel):
    """The risk 2/(lam + 2) at lam = e, by orbits and by columns."""
    orbits = orbit_tradeoff_at(GUESS, Exp(F(1)), symmetric_group(3), rel=rel)
    columns = bayes_tradeoff(GUESS, Exp(F(1)), rel=rel)
    for found in (orbits, columns):
        value = found.value
        assert float(value.lower) == pytest.approx(2 / (math.e + 2), rel=1e-15)
        assert value.lower <= value.upper <= value.lower + F(rel)
        assert value.aimed is None
        found.verify()
    assert orbits.designs[0].lam > orbits.designs[1].lam
    assert columns.certificates[0].lam > columns.certificates[1].lam == columns.lam
    with pytest.raises(CertificateError, match="designs"):
        replace(orbits, designs=orbits.designs[::-1]).verify()
    with pytest.raises(CertificateError, match="value"):
        replace(orbits, value=replace(orbits.value, lower=orbits.value.upper)).verify()
    for level in (Exp(F(0)), Exp(F(-1))):
        with pytest.raises(InputError, match="eps0"):
            orbit_tradeoff_at(GUESS, level, symmetric_group(3))
        with pytest.raises(InputError, match="eps0"):
            bayes_tradeoff(GUESS, level)


def test_a_design_of_columns_by_hand():
    """Binary guessing with costs 0 and 1 at lam = 3: 1/4 of the errors; the weights are those of both subsets."""
    found = bayes_tradeoff(smoothed_point_masses(2, 1), LAM)
    assert found.value.exact == F(1, 4)
    assert weights_by_subset(found) == {1: F(1, 4), 2: F(1, 4)}
    assert found.channel().ratio_cap() == 3
    assert found.least_favourable_prior == (F(1, 2), F(1, 2))
    found.verify()
    for change, place in (
        ({"weights": found.weights[:1]}, "weights"),
        ({"weights": tuple((y, a, -w) for y, a, w in found.weights)}, "weights"),
        ({"level": F(2)}, "certificates"),
        ({"certificates": found.certificates * 2}, "certificates"),
        ({"criterion": "bayes"}, "criterion"),
        ({"value": replace(found.value, lower=F(26, 100), upper=F(26, 100))}, "value"),
        ({"problem": DecisionProblem(found.problem.model, ((F(0), F(2)), (F(1), F(0))), found.problem.prior)}, "cert"),
    ):
        with pytest.raises(CertificateError, match=place):
            replace(found, **change).verify()


def test_levels_of_a_family():
    assert _level(F(3), None) == 3
    low = _level(None, F(1))
    e = F("2.718281828459045235360287471352662497757")
    assert e - F(1, 10**26) < low < e
    for lam, eps0, name in ((F(3), F(1), "lam, eps0"), (None, None, "lam, eps0"), (F(1), None, "lam"),
                            (None, F(0), "eps0"), (None, 0.5, "eps0"), (None, F(1, 2**101), "eps0")):  # fmt: skip
        with pytest.raises(InputError, match=name):
            _level(lam, eps0)
    assert _level(None, F(1, 2**90)) > 1


def test_families_of_extremal_channels():
    family = ExtremalChannel(2, lam=LAM)
    assert family.staircase.tolist() == [[3, 1], [1, 3]]
    assert ExtremalChannel(12, lam=LAM).m == 12
    for m in (13, 20):
        with pytest.raises(Unsupported, match=f"m = {m}"):
            ExtremalChannel(m, lam=LAM)
    with pytest.raises(InputError, match="m"):
        ExtremalChannel(1, lam=LAM)
    third = ExtremalChannel(2, lam=F(10, 3))
    assert third._exact(float(F(10, 3))) == F(10, 3)
    assert third._exact(-float(F(10, 3))) == F(-10, 3)
    assert third._exact(0.1) == F(1, 10)
    assert third._exact(-2.5) == F(-5, 2)
    for wrong in (math.inf, math.nan):
        with pytest.raises(InputError, match="coefficient"):
            third._exact(wrong)


def test_the_program_behind_a_model_by_hand():
    """One equality, one inequality; of the bounds 0 is a sign, 2 and 3 are rows, infinite ones are none."""
    from types import SimpleNamespace

    from scipy.sparse import csc_array

    from symshuffle.lp import Sense

    data = {
        "A": csc_array(np.array([[1.0, 0.5, 0.0], [0.0, 3.0, -1.0]])),
        "b": [1.0, 0.1],
        "c": [1.0, 0.0, -2.0],
        "dims": SimpleNamespace(zero=1, nonneg=1),
        "lower_bounds": [0.0, 2.0, -math.inf],
        "upper_bounds": [math.inf, math.inf, 3.0],
    }
    program = ExtremalChannel(2, lam=LAM)._program(data)
    assert program.costs == (1, 0, -2)
    assert program.columns == (((0, 1),), ((0, F(1, 2)), (1, 3), (2, 1)), ((1, -1), (3, 1)))
    assert program.senses == (Sense.EQ, Sense.LE, Sense.GE, Sense.LE)
    assert program.rhs == (1, F(1, 10), 2, 3)
    assert program.free == frozenset({1, 2})
