"""Calibrated randomizers: the target is met and nearly attained, the search finds the best shape, certificates bite."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symshuffle import CertificateError, InputError, Law
from symshuffle.cli import main
from symshuffle.engines import Exact
from symshuffle.engines.densities.bromwich_plan import ceiling
from symshuffle.vectors import calibrate

GOAL = Fraction(1, 10**5)


def test_the_command_meets_its_target_and_shows_the_parameters(capsys):
    text = "calibrate bmg --adjacency zero-out --n 10000 --eps 0.02 --delta 1e-5 --d 100 --json"
    assert main(text.split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert Fraction("0.9999") * GOAL < Fraction(told["certificate"]["upper"]) <= GOAL
    assert told["gaussian_rmse"] == pytest.approx(0.013179697830592, rel=1e-9)
    assert told["rmse"] == pytest.approx(0.0231537853, rel=1e-5)
    gamma, sigma0 = (float(told["parameters"][name]) for name in ("gamma", "sigma0"))
    error = (100 * sigma0**2 / (1 - gamma) ** 2 + gamma / (1 - gamma)) / (100 * 10**4)
    assert told["rmse"] == pytest.approx(error**0.5, rel=1e-12)
    assert told["certificate"]["rmse_floor"] > 0.98999 * told["rmse"]


@pytest.mark.parametrize(
    ("name", "d", "adjacency", "points"),
    [
        ("sphere-linear", 3, "zero-out", 1),
        ("privunit", 20, "replace-one", 4),
        ("clipped-linear", 20, "zero-out", 4),
        ("gaussian", 1, "zero-out", 1),
    ],
)
def test_other_families_meet_their_target_near_a_floor(name, d, adjacency, points):
    found = calibrate(name, n=2000, dimension=d, eps="0.05", delta="1e-4", adjacency=adjacency, gap="1/4")
    assert found.rmse_floor is not None and "no others of this family" in found.about
    assert found.gap < (1e-5 if points == 1 else 0.2501)
    assert len(found.excluded) == points if points == 1 else len(found.excluded) >= points - 1
    assert Fraction("0.9999e-4") < found.certificate.bracket.upper <= Fraction("1e-4")
    assert found.gaussian_rmse < found.rmse


@pytest.fixture(scope="module")
def found():
    return calibrate("bmg", n=1000, dimension=2, eps="0.1", delta="1e-4", adjacency="zero-out", gap="1/20")


def test_a_certificate_is_checked_from_the_parameters_alone(found):
    found.verify()
    noisy = found.parameters
    for false, place in (
        (replace(found, parameters=replace(noisy, sigma0=noisy.sigma0 * Fraction(99, 100))), "certificate"),
        (replace(found, goal=found.goal * Fraction(99, 100)), "certificate"),
        (replace(found, bracket=found.bracket.scaled(Fraction(99, 100))), "rmse"),
    ):
        with pytest.raises(CertificateError, match=place):
            false.verify()


def test_the_floor_is_near_and_told(found):
    assert 0 < found.gap < 0.051
    told = found.to_dict()["certificate"]
    assert told["gap"] == found.gap and told["rmse_floor"] < found.rmse
    assert len(told["excluded"]) == len(found.excluded)
    assert told["floor_about"].startswith("the accountant's bound with the mechanism blanket")


def test_wrong_input_is_named():
    for wrong, name in (
        ({"delta": 2}, "delta"),
        ({"adjacency": "add"}, "adjacency"),
        ({"gap": 1}, "gap"),
        ({"gap": 0}, "gap"),
    ):
        with pytest.raises(InputError, match=name):
            calibrate("bmg", **{"n": 100, "dimension": 2, "eps": 1, "delta": "1e-4", "adjacency": "zero-out"} | wrong)
    with pytest.raises(InputError, match="mechanism"):
        calibrate("krr", n=100, dimension=2, eps=1, delta="1e-4")


def test_what_an_order_may_be_is_above_what_it_is():
    values, weights = np.array([1.0, -0.5, 0.0]), np.array([0.2, 0.4, 0.4])
    for n in (10, 100, 300):
        value = Exact().bracket(Law((1, Fraction(-1, 2), 0), (Fraction(1, 5), Fraction(2, 5), Fraction(2, 5))), n).upper
        assert value < ceiling(values, weights, n) < 10 * value
    assert ceiling(-np.abs(values), weights, 10) == 0


def test_with_next_to_no_noise_what_lies_beyond_doubles_is_counted():
    """Few users and a large delta: at so little noise the value for one user decides, and is certified."""
    found = calibrate("bmg", n=10, dimension=10, eps="1/2", delta="1/2")
    found.verify()
    assert found.certificate.bracket.upper <= Fraction(1, 2)
    assert found.rmse < 0.101
