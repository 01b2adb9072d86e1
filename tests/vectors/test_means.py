"""Means of vectors: the estimate, its exact error, its guarantee, and the command."""

# No public door repeats one simulation so often, so that one private name is called.
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import symshuffle
from symshuffle import Exp, InputError, Unsupported
from symshuffle.base.results import AnswerMethods
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, PrivUnit, SphereLinear, calibrate, private_mean
from symshuffle.vectors.means import private as means
from symshuffle.vectors.means.private import candidates
from symshuffle.vectors.means.rows import array_rows, survey
from tests.shell import answer, refused, run
from tests.slices import some

GOAL = Fraction(1, 10**5)


@pytest.fixture
def vectors():
    x = np.random.default_rng(7).standard_normal((400, 3))
    return x / np.maximum(1.01, np.linalg.norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize(
    "mechanism",
    [
        BlanketMixedGaussian("0.9", "4", dimension=3),
        SphereLinear("0.6", 3),
        PrivUnit("0.8", 0, 3),
        PrivUnit("0.7", "0.2", 3),
        ClippedLinear("-0.2", 3, 1),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_measured_errors_scatter_around_the_exact_one(vectors, mechanism):
    level = "0.01" if isinstance(mechanism, BlanketMixedGaussian) else 2
    found = private_mean(vectors, eps=level, delta="0.1", mechanism=mechanism, rng=np.random.default_rng(0))
    rows = array_rows(vectors)
    count, *_ = survey(rows)
    runs = [means._simulated(rows, mechanism, count, np.random.default_rng(seed)) for seed in range(60)]
    assert (runs[0] == found.estimate).all()
    squares = np.array([((run - found.mean) ** 2).sum() / 3 for run in runs])
    # 180 normal coordinates: the relative standard deviation of their mean square is sqrt(2/180).
    assert squares.mean() == pytest.approx(found.expected**2, rel=3.5 * math.sqrt(2 / 180))
    assert found.expected <= float(found)
    bias = np.mean([run - found.mean for run in runs], axis=0)
    assert np.abs(bias).max() < 4 * found.expected / math.sqrt(60)


def test_the_guarantee_is_that_of_the_accountant(vectors):
    asked = {"eps": 1, "delta": GOAL, "adjacency": "zero-out"}
    found = private_mean(vectors, **asked, mechanism="privunit", rng=np.random.default_rng(1))
    bound = symshuffle.delta(found.chosen.mechanism, n=400, eps=1, adjacency="zero-out")
    assert bound.bracket.lower <= found.chosen.delta.upper <= GOAL
    assert isinstance(found, AnswerMethods)
    assert json.loads(json.dumps(found.to_dict()))["n"] == 400
    assert found.central < float(found)
    more = found.chosen.mechanism
    more = PrivUnit(more.p * Fraction(1001, 1000), more.theta, 3)
    assert symshuffle.delta(more, n=400, eps=1, adjacency="zero-out").bracket.lower > GOAL


@pytest.mark.parametrize("dimension", [1, *some([2, 16], 1)])
def test_auto_takes_the_smallest_error_and_says_what_it_could_not_use(dimension):
    """What an estimate excludes has a larger error, as its calibration shows."""
    asked = {"n": 500, "dimension": dimension, "order": Exp(Fraction(1)), "goal": GOAL, "adjacency": "replace-one"}
    names, refused = ("privunit", "sphere-linear"), []
    quick, every = candidates(names, **asked, refused=refused, every=False), candidates(names, **asked)
    assert quick[0] == every[0] and quick[0].rmse.relative_width < 1e-9
    excluded = [one for one in every if one not in quick]
    assert all(one.rmse.lower > quick[0].rmse.upper for one in excluded)
    assert len(excluded) == sum("cannot win" in reason for _, reason in refused)
    assert dimension > 1 or (len(every) == 1 and "dimension 2" in refused[0][1])


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"mechanism": "gaussian"}, r"mechanism = gaussian: expected auto, .* \(LocalGaussian has no certified bound"),
        ({"mechanism": "laplace"}, r"mechanism = laplace: expected auto, .* \(LocalLaplace has no certified bound"),
        ({"mechanism": SphereLinear("0.9", 4)}, "mechanism = of dimension 4: expected dimension 3"),
        ({"mechanism": PrivUnit("0.999", 0, 3), "eps": "0.1"}, "mechanism = with delta <= .*: expected at most"),
        ({"mechanism": BlanketMixedGaussian("0.5", 1, "0.5", 3)}, "norm 1/2"),
        ({"mechanism": 3}, "mechanism = 3"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"eps": "x"}, "eps"),
        ({"rng": 7}, r"rng = 7: expected a numpy.random.Generator"),
        ({"adjacency": "both"}, "adjacency = both: expected one of replace-one, zero-out"),
    ],
)
def test_wrong_arguments_are_refused(vectors, asked, match):
    with pytest.raises(InputError, match=match):
        private_mean(vectors, **{"eps": 1, "delta": GOAL, "mechanism": "privunit"} | asked)


def test_one_dimension_has_no_caps():
    with pytest.raises(Unsupported, match="dimension 2"):
        private_mean(np.zeros((10, 1)), eps=1, delta=GOAL, mechanism="privunit")


def test_command(tmp_path, vectors, capsys):
    np.savetxt(tmp_path / "x.csv", vectors, delimiter=",")
    np.save(tmp_path / "x.npy", vectors)
    options = ["--eps", "1", "--delta", "1e-5", "--mechanism", "sphere-linear", "--seed", "3"]
    answers = []
    for name in ("x.csv", "x.npy"):
        answers.append(answer(capsys, "mean", tmp_path / name, *options))
    assert answers[0]["estimate"] == pytest.approx(answers[1]["estimate"])
    named = private_mean(str(tmp_path / "x.npy"), eps=1, delta="1e-5", mechanism="sphere-linear")
    assert "replace-one" in named.about and named.bracket.decimals()["upper"] == answers[0]["upper"]
    assert {"measured_rmse", "expected_rmse", "central_gaussian_rmse", "about", "arithmetic"} <= answers[0].keys()
    out = [tmp_path / "mean.npy", tmp_path / "mean.csv"]
    for file in out:
        asked = ("mean", tmp_path / "x.npy", *options, "--explain", "--out", file)
        status, shown, _ = run(capsys, *asked)
        assert status == 0 and "central Gaussian" in shown and "seed 3" in shown
    assert np.load(out[0]).tolist() == answers[0]["estimate"] == [float(x) for x in out[1].read_text().split()[1:]]


def test_progress_is_told_step_by_step(vectors):
    told = []
    found = private_mean(vectors, eps=1, delta=GOAL, mechanism="privunit", progress=told.append)
    assert told == ["checking the vectors", "calibrating privunit", "simulating 400 messages of privunit"]
    assert found.chosen.name == "privunit"


def test_mean_takes_what_calibrate_finds(vectors):
    """One search behind both doors: with and without a height that is given."""
    asked = {"eps": "1/2", "delta": "1e-5", "adjacency": "zero-out"}
    for name, fixed in (("privunit", None), ("clipped-linear", None), ("privunit", {"theta": 0})):
        found = private_mean(vectors, mechanism=name, **asked, fixed=fixed)
        other = calibrate(name, n=400, dimension=3, **asked, gap=None, fixed=fixed)
        assert found.chosen.mechanism == other.parameters
        assert fixed is None or found.chosen.mechanism.theta == 0


def test_what_is_fixed_is_a_shape_of_a_named_mechanism(vectors, tmp_path, capsys):
    np.save(tmp_path / "x.npy", vectors)
    command = ["mean", str(tmp_path / "x.npy"), "--eps", "1", "--delta", "1e-5", "-p"]
    for wrong in ("theta=0", "p=1/2 --mechanism privunit", "theta=2 --mechanism privunit"):
        refused(capsys, *command, *wrong.split())
    told = answer(capsys, *command, "theta=0", "--mechanism", "privunit")
    assert told["chosen"]["parameters"]["theta"] == "0" and told["inputs"]["fixed"] == {"theta": "0"}


def test_the_command_says_what_was_read_of_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ("--mechanism", "sphere-linear", "--eps", "1", "--delta", "1e-4", "--seed", "7")
    body = "0.3,0.4\n" * 20
    (tmp_path / "pandas.csv").write_text("0,1\n" + body)
    (tmp_path / "named.csv").write_text("x,y\n" + body)
    assert refused(capsys, "mean", "pandas.csv", *asked).startswith("symshuffle: pandas.csv, line 1 = 0,1: ")
    named = run(capsys, "mean", "named.csv", *asked)[1]
    assert "named.csv: 20 rows, 2 columns, header: yes" in named
    again = run(capsys, "mean", "pandas.csv", "--header", *asked)[1]
    assert again.replace("pandas.csv", "named.csv").split() == named.split()
    found = answer(capsys, "mean", "pandas.csv", "--no-header", *asked)
    assert (found["n"], found["inputs"]["header"]) == (21, False)
    with pytest.raises(InputError, match="header"):
        private_mean([[0.5]], eps=1, delta="1e-4", header=True)
