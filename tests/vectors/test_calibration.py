"""Calibrated randomizers: the target is met and nearly attained, the search finds the best shape, certificates bite."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle.cli import main
from symshuffle.errors import CertificateError, InputError
from symshuffle.vectors.calibration import calibrate
from symshuffle.vectors.mechanisms import BlanketMixedGaussian

GOAL = Fraction(1, 10**5)


def test_the_command_meets_its_target_and_shows_the_parameters(capsys):
    text = "calibrate bmg --adjacency zero-out --n 10000 --eps 0.02 --delta 1e-5 --d 100 --json"
    assert main(text.split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert Fraction("0.9999") * GOAL < Fraction(told["certificate"]["upper"]) <= GOAL
    assert told["gaussian_rmse"] == pytest.approx(0.013179697830592, rel=1e-9)
    assert told["rmse"] == pytest.approx(0.0231537853, rel=1e-6)
    gamma, sigma0 = (float(told["parameters"][name]) for name in ("gamma", "sigma0"))
    error = (100 * sigma0**2 / (1 - gamma) ** 2 + gamma / (1 - gamma)) / (100 * 10**4)
    assert told["rmse"] == pytest.approx(error**0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "d", "adjacency"),
    [
        ("sphere-linear", 3, "zero-out"),
        ("privunit", 20, "replace-one"),
        ("clipped-linear", 20, "zero-out"),
        ("gaussian", 1, "zero-out"),
    ],
)
def test_other_families_meet_their_target(name, d, adjacency):
    found = calibrate(name, n=2000, dimension=d, eps="0.05", delta="1e-4", adjacency=adjacency)
    assert Fraction("0.9999e-4") < found.certificate.bracket.upper <= Fraction("1e-4")
    assert found.gaussian_rmse < found.rmse


@pytest.fixture(scope="module")
def found():
    return calibrate("bmg", n=1000, dimension=2, eps="0.1", delta="1e-4", adjacency="zero-out")


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


def test_no_neighbouring_shape_is_better(found):
    """At a gamma beside the one found, the noise that gives the same error does not meet the target."""
    from symshuffle.vectors.accounting import vector_delta
    from symshuffle.vectors.risk import err1

    given = {"n": 1000, "eps": "0.1", "adjacency": "zero-out", "lower": False, "rel": 1e-5}
    best = found.parameters
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        rest = (1 - best.gamma) * factor
        scale = Fraction(float((err1(best) - (1 - rest) / rest) * rest**2 / 2) ** 0.5).limit_denominator(10**8)
        beside = BlanketMixedGaussian(1 - rest, scale, 1, 2)
        assert float(err1(beside)) == pytest.approx(float(err1(best)), rel=1e-6)
        assert vector_delta(beside, **given).bracket.lower > Fraction("1e-4")


def test_wrong_input_is_named():
    for wrong, name in (
        ({"delta": 2}, "delta"),
        ({"dimension": 0}, "dimension"),
        ({"adjacency": "add"}, "adjacency"),
        ({"n": 0}, "n"),
    ):
        with pytest.raises(InputError, match=name):
            calibrate("bmg", **{"n": 100, "dimension": 2, "eps": 1, "delta": "1e-4", "adjacency": "zero-out"} | wrong)
    with pytest.raises(InputError, match="mechanism"):
        calibrate("krr", n=100, dimension=2, eps=1, delta="1e-4")
