"""Means of vectors part by part: errors from their definitions, which bound a given mechanism gets, what is told."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import norm

from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import Ball, Exp
from symshuffle.results import Bracket, Rigour, SafeEnd
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear, means
from symshuffle.vectors.accounting import vector_delta
from symshuffle.vectors.means import Candidate, candidates, private_mean
from symshuffle.vectors.risk import err1
from symshuffle.vectors.rows import Rows, array_rows, survey

DATA = np.array([[0.6, 0.0], [0.0, -0.8], [0.3, 0.4], [0.0, 0.0]])
FLAT = SphereLinear("0.2", 2)
"""Its ratios are below exp(1/2): its delta is 0 there, without any engine."""


def asked(**changed):
    given = {"eps": "1/2", "delta": "1e-5", "mechanism": FLAT, "rng": np.random.default_rng(1)}
    return private_mean(DATA, **given | changed)


@pytest.fixture
def bound(monkeypatch):
    """Whatever is asked, this is the bound on delta."""

    def of(value):
        found = Bracket(F(0), F(value), Rigour.BALL, "test", "set by the test")
        monkeypatch.setattr(means, "sloped_delta", lambda *_: found)
        monkeypatch.setattr(means, "vector_delta", lambda *_, **__: type("Bound", (), {"bracket": found}))

    return of


def test_errors_are_those_of_the_formula_on_these_very_data():
    """Of the linear density the error is d^2/c^2 - |x|^2 per user: 100 less the mean square (0.36+0.64+0.25)/4."""
    found = asked()
    assert found.mean == pytest.approx([0.225, -0.1])
    assert found.expected == pytest.approx(math.sqrt((100 - 1.25 / 4) / 8))
    assert float(found) == pytest.approx(math.sqrt(100 / 8))
    assert found.bracket is found.chosen.rmse and found.bracket.rigour is Rigour.BALL
    assert found.measured == pytest.approx(math.sqrt(((found.estimate - found.mean) ** 2).sum() / 2))
    assert (found.n, found.dimension, found.safe) == (4, 2, SafeEnd.UPPER)
    assert found.candidates == (found.chosen,) and found.refused == ()
    assert not found.estimate.flags.writeable and not found.mean.flags.writeable


def test_the_estimate_is_the_mean_message_over_the_shrinkage():
    """Each message is a unit vector, and m = c/d = 1/10: with seed 1 the four are added and divided by 4 m."""
    found = asked()
    assert np.linalg.norm(found.estimate) <= 10
    again = asked(rng=np.random.default_rng(1))
    assert (again.estimate == found.estimate).all()
    assert (asked(rng=np.random.default_rng(2)).estimate != found.estimate).any()


@pytest.mark.parametrize(("adjacency", "sensitivity"), [("zero-out", 1), ("replace-one", 2)])
def test_the_curator_pays_for_what_neighbours_differ_in(adjacency, sensitivity):
    """At the multiplier s = n rmse / sensitivity the profile of Gaussian noise is the target."""
    found = asked(adjacency=adjacency, delta="1e-4")
    s = found.central * 4 / sensitivity
    profile = norm.sf(s / 2 - 1 / (2 * s)) - math.exp(0.5) * norm.sf(s / 2 + 1 / (2 * s))
    assert profile == pytest.approx(1e-4, rel=1e-6)
    assert f"under {adjacency} adjacency" in found.about and "(0.5, 0.0001)-private" in found.about


def test_the_answer_as_plain_data():
    found = asked()
    told = found.to_dict()
    assert (told["n"], told["dimension"], told["refused"]) == (4, 2, {})
    assert (told["measured_rmse"], told["expected_rmse"]) == (found.measured, found.expected)
    assert told["central_gaussian_rmse"] == found.central and told["estimate"] == found.estimate.tolist()
    assert told["chosen"] == told["candidates"][0] == found.chosen.to_dict()
    assert told["worst_case_rmse"] == found.bracket.decimals() == told["chosen"]["rmse"]


@pytest.mark.parametrize(
    ("mechanism", "parameters"),
    [
        (BlanketMixedGaussian("0.9", "2", dimension=3), {"gamma": "9/10", "sigma0": "2"}),
        (SphereLinear("0.6", 3), {"c": "3/5"}),
        (PrivUnit("0.7", "0.2", 3), {"p": "7/10", "theta": "1/5"}),
        (ClippedLinear("-0.2", 3, 5), {"clip": "-1/5", "chi": "5"}),
    ],
)
def test_candidates_name_their_parameters(mechanism, parameters):
    nothing = Bracket(F(0), F(1, 7), Rigour.EXACT, "exact", "test")
    one = Candidate("some", mechanism, means._rmse(mechanism, 5), nothing)
    assert {name: str(value) for name, value in one.parameters.items()} == parameters
    told = one.to_dict()
    assert told["mechanism"] == "some" and told["parameters"] == parameters
    assert told["delta"] == nothing.decimals() and told["rmse"] == one.rmse.decimals()
    assert float(one.rmse.midpoint) == pytest.approx(math.sqrt(float(err1(mechanism)) / 15))


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (BlanketMixedGaussian("0.9", "2", dimension=2), "bmg"),
        (SphereLinear("0.6", 2), "sphere-linear"),
        (PrivUnit("0.7", 0, 2), "privunit"),
        (PrivUnit("0.7", "0.2", 2), "privunit"),
        (ClippedLinear("-0.2", 2, 5), "clipped-linear"),
    ],
)
def test_a_given_mechanism_meets_the_target_or_is_refused(mechanism, name, bound):
    bound("1e-5")
    found = means._given(mechanism, 4, 2, Exp(F(1)), F(1, 10**5), "zero-out")
    assert found.name == name and found.mechanism is mechanism and found.delta.upper == F(1, 10**5)
    bound("1.0000001e-5")
    with pytest.raises(InputError, match="at most 1e-05"):
        means._given(mechanism, 4, 2, Exp(F(1)), F(1, 10**5), "zero-out")


def test_a_given_mechanism_serves_the_whole_ball_of_the_data(bound):
    bound(0)
    for wrong, match in (
        (SphereLinear("0.6", 3), "of dimension 3: expected dimension 2"),
        (BlanketMixedGaussian("0.9", "2", "0.999", 2), "norm 999/1000"),
        (LocalGaussian(2, 2), "or one of these with its parameters"),
    ):
        with pytest.raises(InputError, match=match):
            means._given(wrong, 4, 2, Exp(F(1)), F(1, 10), "zero-out")


def test_a_cap_of_another_height_gets_the_bound_of_its_own_pair():
    """The cap at height 0.2 holds 0.4 of the sphere, where the ratio is 1.75: at 1.6 it reveals something."""
    mechanism, order = PrivUnit("0.7", "0.2", 3), F(8, 5)
    found = means._given(mechanism, 4, 3, order, F(99, 100), "zero-out")
    expected = vector_delta(mechanism, n=4, exp_eps=order, adjacency="zero-out", lower=False, rel=1e-6).bracket
    assert found.delta == expected and found.delta.lower > 0


def test_dimension_1_has_neither_caps_nor_clips():
    given = {"n": 50, "dimension": 1, "order": Exp(F(1)), "goal": F(1, 100), "adjacency": "zero-out"}
    refused, told = [], []
    assert candidates(("privunit", "clipped-linear"), **given, refused=refused, progress=told.append) == ()
    assert [name for name, _ in refused] == ["privunit", "clipped-linear"]
    assert all("needs dimension 2 or more" in reason for _, reason in refused)
    assert told == ["calibrating privunit", "calibrating clipped-linear"]
    assert candidates(("privunit",), **given) == ()
    with pytest.raises(Unsupported, match="privunit: needs dimension 2"):
        private_mean(np.zeros((50, 1)), eps=1, delta="1/100", mechanism="privunit")


def test_every_name_gets_its_family(monkeypatch):
    """In two dimensions each name is calibrated by the search of its own family."""
    seen = []

    def steepest(family, **given):
        seen.append((family.__name__, given["n"], given["dimension"]))
        return family(F(1, 2), given["dimension"]), Bracket(F(0), F(0), Rigour.EXACT, "exact", "test")

    def calibrate(name, **given):
        seen.append((name, given["n"], given["dimension"]))
        one = BlanketMixedGaussian("0.5", 1, 1, 2) if name == "bmg" else ClippedLinear(0, 2, 1)
        certificate = type("Bound", (), {"bracket": Bracket(F(0), F(0), Rigour.EXACT, "exact", "test")})
        return type("Found", (), {"parameters": one, "certificate": certificate})

    monkeypatch.setattr(means, "steepest", steepest)
    monkeypatch.setattr(means, "calibrate", calibrate)
    given = {"n": 50, "dimension": 2, "order": Exp(F(1)), "goal": F(1, 100), "adjacency": "zero-out"}
    found = candidates(means.NAMES, **given)
    assert seen == [("half_sphere", 50, 2), ("linear_density", 50, 2), ("clipped-linear", 50, 2), ("bmg", 50, 2)]
    assert [one.rmse.upper for one in found] == sorted(one.rmse.upper for one in found)
    assert {one.name: type(one.mechanism) for one in found} == {
        "privunit": PrivUnit,
        "sphere-linear": SphereLinear,
        "clipped-linear": ClippedLinear,
        "bmg": BlanketMixedGaussian,
    }


def test_blocks_are_added_up_and_counted(monkeypatch):
    """Next to no noise and no blanket: the estimate is the mean of all three blocks."""
    blocks = [DATA[:2], DATA[2:3], DATA[3:]]
    rows = Rows("blocks", 2, lambda: iter(blocks), lambda row: f"row {row}")
    quiet = BlanketMixedGaussian("1e-9", "1e-9", 1, 2)
    found = means._simulated(rows, quiet, survey(rows), np.random.default_rng(3))
    assert found == pytest.approx(DATA.mean(axis=0), abs=1e-6)
    seen = survey(rows)
    del blocks[1]
    with pytest.raises(InputError, match="3 rows at the second pass: expected 4"):
        means._simulated(rows, quiet, seen, np.random.default_rng(3))


@pytest.mark.parametrize("mechanism", [PrivUnit("0.7", 0, 2), ClippedLinear(0, 2, 1)])
def test_what_wants_unit_vectors_gets_them(mechanism):
    rows = array_rows(DATA)
    assert means._simulated(rows, mechanism, survey(rows), np.random.default_rng(3)).shape == (2,)


@pytest.mark.parametrize("delta", ["0", "1", "-1/2", "2"])
def test_delta_is_a_probability_that_is_neither_0_nor_1(delta):
    with pytest.raises(InputError, match="delta"):
        asked(delta=delta)


def test_names_that_have_no_bound_say_why():
    for name, words in (("gaussian", r"\(LocalGaussian"), ("laplace", r"\(LocalLaplace"), ("other", "bmg$")):
        with pytest.raises(InputError, match=words):
            asked(mechanism=name)


def test_a_double_of_a_ball_is_its_upper_end():
    assert means._double(Ball(F(1), F(3, 2))) == 1.5 and means._double(F(1, 4)) == 0.25


def test_auto_asks_for_all_names_and_progress_is_told(monkeypatch):
    told, names = [], []

    def found(given, **rest):
        names.append(given)
        rest["progress"]("calibrating")
        return (Candidate("sphere-linear", FLAT, means._rmse(FLAT, 4), Bracket(F(0), F(0), Rigour.BALL, "x", "y")),)

    monkeypatch.setattr(means, "candidates", found)
    asked(mechanism="auto", progress=told.append)
    asked(mechanism="bmg")
    assert names == [means.NAMES, ("bmg",)]
    assert told == ["checking the vectors", "calibrating", "simulating 4 messages of sphere-linear"]
