"""Matrices of rounded probabilities: what is read and refused, and a bound for all matrices that round to them."""

import itertools
import json
import random
from fractions import Fraction as F

import numpy as np
import pytest

import symshuffle as s
from symshuffle import InputError, Unsupported
from symshuffle.base.numbers import enclose
from symshuffle.engines import Exact
from tests.fewbits import FINE, few_bits
from tests.shell import answer, refused
from tests.soundness.said import Claim, Part, largest

HALVES = {2: F(1, 200), 3: F(1, 2000)}


def written(rows, digits):
    return [[f"{float(p):.{digits}f}" for p in row] for row in rows]


def rounded_rows(rng, outputs, digits):
    """A row whose written form does not sum to 1."""
    while True:
        weights = [rng.randint(1, 30) for _ in range(outputs)]
        row = [F(w, sum(weights)) for w in weights]
        text = written([row], digits)[0]
        if sum(map(F, text)) != 1:
            return text


def distributions(text, half):
    """Distributions that round to a row: the corners of the box, moved back to sum 1 in one coordinate."""
    values = [F(t) for t in text]
    found = set()
    for signs in itertools.product((-1, 0, 1), repeat=len(values)):
        corner = [v + sign * half for v, sign in zip(values, signs, strict=True)]
        for y in range(len(values)):
            q = list(corner)
            q[y] += 1 - sum(corner)
            if all(p >= 0 and abs(p - v) <= half for p, v in zip(q, values, strict=True)):
                found.add(tuple(q))
    return sorted(found)


def true_delta(rows, n, x):
    pairs = frozenset(itertools.permutations(range(len(rows)), 2))
    claim = Claim(("forward", "reverse"), 1, False, ((Part(n, pairs), 1),))
    return largest(claim, x, (rows, None))


CASES = [(seed, n, digits) for seed in range(3) for n in (1, 2, 3) for digits in (2, 3)]


@pytest.mark.parametrize(("seed", "n", "digits"), CASES)
def test_no_matrix_that_rounds_to_the_file_is_above_its_bound(seed, n, digits):
    rng = random.Random(f"{seed} {n} {digits}")
    text = [rounded_rows(rng, 3, digits) for _ in range(2)]
    x, half = F(rng.randint(100, 180), 100), HALVES[digits]
    found = s.delta(s.Channel.from_rows(text), n=n, exp_eps=x, arithmetic="ball", rtol=1e-9)
    assert found.neighbours.rounding is not None
    every = 1 if found.every_matrix is None else found.every_matrix
    choices = [rng.sample(known, min(4, len(known))) for known in (distributions(row, half) for row in text)]
    truths = [true_delta(rows, n, x) for rows in itertools.product(*choices)]
    assert truths and max(truths) <= every
    normalised = [[F(t) / sum(map(F, row)) for t in row] for row in text]
    assert true_delta([tuple(row) for row in normalised], n, x) <= found.bracket.upper
    if found.every_matrix is not None:
        assert found.every_matrix - found.bracket.upper == (1 + x) * n * found.neighbours.rounding.row


def test_what_a_perturbation_adds_is_more_than_nothing():
    """The control: without its last term the bound is below what a matrix that rounds to the file has."""
    text = [["0.65", "0.18", "0.18"], ["0.18", "0.18", "0.65"]]
    found = s.delta(s.Channel.from_rows(text), n=1, exp_eps="3/2", arithmetic="ball")

    def truth(peak, middle):
        row = (F(peak), F(middle), 1 - F(peak) - F(middle))
        return true_delta([row, row[::-1]], 1, F(3, 2))

    assert found.bracket.upper < truth("0.655", "0.175") <= found.every_matrix
    assert truth("0.75", "0.15") > found.every_matrix  # ten times as far away


@pytest.mark.parametrize("seed", range(3))
def test_eps_for_every_matrix(seed):
    rng = random.Random(seed)
    text = [rounded_rows(rng, 3, 3) for _ in range(2)]
    channel, half = s.Channel.from_rows(text), HALVES[3]
    found = s.epsilon(channel, n=3, delta="1/20", arithmetic="ball")
    assert found.every_matrix > found.bracket.upper
    above = s.delta(channel, n=3, eps=found.every_matrix, arithmetic="ball")
    assert above.every_matrix <= F(1, 20) * F(1001, 1000)
    x = F(np.nextafter(np.exp(float(found.every_matrix)), 9))
    for rows in itertools.product(*(distributions(row, half)[:4] for row in text)):
        assert true_delta(rows, 3, x) <= F(1, 20)


@pytest.mark.parametrize("bits", [8, 128])
def test_what_a_level_in_balls_adds_for_every_matrix_is_rounded_up(bits):
    ratio = enclose(s.Exp(F(1, 3)), FINE).upper
    with few_bits(bits):
        found = s.delta(s.Channel.from_rows([["0.33", "0.66"], ["0.66", "0.33"]]), n=2, eps="1/3", rtol=0.9)
    assert found.every_matrix - found.bracket.upper >= (1 + ratio) * found.neighbours.hidden


def test_nothing_can_be_said_where_the_last_digits_hide_too_much():
    channel = s.Channel.from_rows([["0.333", "0.333", "0.333"], ["0.25", "0.25", "0.5"]])
    assert s.epsilon(channel, n=100, delta="1e-6").every_matrix is None
    found = s.delta(channel, n=1000, eps="0.1")
    assert found.every_matrix is None and "nothing can be said" in found.about
    assert found.to_dict()["every_matrix"] is None


def test_rounds_add_up():
    channel = s.Channel.from_rows(np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]]))
    one = s.delta(channel, n=50, eps="0.1").neighbours
    three = s.delta([s.Deployment(channel, periods=2), s.Deployment(s.Group(channel, 70))], n=50, eps="0.5")
    assert three.neighbours.hidden == 2 * one.hidden + F(70, 50) * one.hidden
    assert three.every_matrix - three.bracket.upper > 2 * three.neighbours.hidden


def test_a_law_of_the_blanket_that_changes_with_the_matrix():
    channel = s.Channel.from_rows([["0.333", "0.333", "0.333"], ["0.25", "0.25", "0.5"]])
    assert s.delta(channel, n=2, eps="0.1", adjacency="zero-out").every_matrix is None
    assert s.delta(channel, n=2, eps="0.1", null=["1/3"] * 3).every_matrix is not None


@pytest.mark.parametrize("request_", [{"arithmetic": "exact"}, {"arithmetic": None, "engine": Exact()}])
def test_no_exact_answer_about_what_was_rounded(request_):
    channel = s.Channel.from_rows([["0.333", "0.333", "0.333"], ["1/4", "1/4", "1/2"]])
    with pytest.raises(Unsupported, match="arithmetic exact"):
        s.delta(channel, n=2, exp_eps="6/5", **request_)


@pytest.mark.parametrize(
    ("rows", "far"),
    [
        ([["0.333", "0.333", "0.333"]], F(15, 10**4)),  # 0.001 that the sum is off, and half a unit
        ([["0.33", "0.33", "0.33"]], F(15, 10**3)),
        ([["0.333333", "0.333333", "0.333333"], ["1", "0", "0"]], F(15, 10**7)),
        ([["3.33e-1", "3.33e-1", "3.33e-1"], ["9.90e-1", "5.00e-3", "5.00e-3"]], F(15, 10**4)),
        ([["1/4", "0.333", "0.416"]], None),
    ],
)
def test_the_digits_say_how_much_may_be_hidden(rows, far):
    if far is None:  # 1/4 is exact: two entries hide 1/1000 at most, and they are off by exactly that
        assert s.Channel.from_rows(rows).rounding.entry == F(15, 10**4)
    else:
        assert s.Channel.from_rows(rows).rounding.entry == far


@pytest.mark.parametrize(
    "rows",
    [
        [["0.333", "0.333", "0.332"]],  # off by 2/1000, three entries hide 15/10^4
        [["1/4", "0.333", "0.415"]],
        [["0.5", "0.4"]],  # one decimal is no rounding
        [["1/3", "1/3"]],
        [["1", "1"]],
        [["0.33333333", "0.3333", "0.3333"]],
    ],
)
def test_what_the_digits_cannot_hide_is_refused(rows):
    with pytest.raises(InputError, match=r"rows\[0\] = sum .*off by"):
        s.Channel.from_rows(rows)


def test_doubles_written_with_all_formats_of_numpy(tmp_path):
    rng = np.random.default_rng(0)
    for size in (2, 5, 20):
        weights = rng.random((3, size))
        matrix = weights / weights.sum(axis=1)[:, None]
        for style in ({}, {"fmt": "%.16f", "delimiter": ","}, {"fmt": "%.6f", "delimiter": ",", "header": "a,b"}):
            np.savetxt(tmp_path / "w.csv", matrix, **style)
            read = s.channels.read_channel(tmp_path / "w.csv")
            assert all(sum(row) == 1 for row in read.rows)
            for row, given in zip(read.rows, matrix, strict=True):
                assert max(abs(float(p) - q) for p, q in zip(row, given, strict=True)) < 1e-5
        direct = s.Channel.from_rows(matrix)
        if direct.rounding is not None:
            exactly = [[F(float(p)) for p in row] for row in matrix]
            for row, given in zip(direct.rows, exactly, strict=True):
                assert max(abs(p - q) for p, q in zip(row, given, strict=True)) <= direct.rounding.entry


def test_doubles_that_arithmetic_moved_are_read_as_far_as_their_sums_show():
    off = [[0.1 + 0.2, 0.7 - 3e-13], [0.5, 0.5]]
    found = s.Channel.from_rows(off)
    assert found.rounding.row > F(29, 10**14)
    assert s.delta(s.Channel(tuple(map(tuple, off))), n=3, eps="0.1").bracket == s.delta(off, n=3, eps="0.1").bracket
    with pytest.raises(InputError, match="off by"):
        s.Channel.from_rows([[0.1 + 0.2, 0.7 - 3e-12]])


def test_a_row_of_names_is_read_over(tmp_path):
    file = tmp_path / "w.csv"
    file.write_text("yes, no\n2/3, 1/3\n1/3, 2/3\n")
    assert s.channels.read_channel(file).rows == ((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)))
    file.write_text("yes,0.5\n2/3,1/3\n")
    with pytest.raises(InputError) as refusal:
        s.channels.read_channel(file)
    assert str(refusal.value).startswith(f"{file}, line 1, column 1 = yes: expected ")


@pytest.mark.parametrize("command", [["delta", "--n", "20", "--eps", "0.5"], ["check"], ["law"]])
def test_a_file_is_named_with_row_and_column(command, tmp_path, capsys):
    file = tmp_path / "w.csv"
    file.write_text("0.5,0.5\n0.3,O.7\n")
    assert f"{file}, line 2, column 2 = O.7: expected a number" in refused(capsys, *command, file)


def test_the_shell_says_both(tmp_path, capsys):
    file = tmp_path / "w.csv"
    file.write_text("a,b,c\n0.333333,0.333333,0.333333\n0.25,0.25,0.5\n")
    asked = ["delta", str(file), "--n", "20", "--eps", "0.5"]
    found = answer(capsys, *asked)
    assert "of the normalised matrix" in found["meaning"]
    assert float(found["every_matrix"]) > float(found["upper"])
    assert "arithmetic exact" in refused(capsys, *asked, "--arithmetic", "exact")


def test_check_says_what_a_matrix_that_rounds_to_the_file_may_have(tmp_path, capsys):
    file = tmp_path / "w.csv"
    file.write_text("0.667,0.167,0.167\n0.167,0.667,0.167\n")
    found = answer(capsys, "check", file, "--lam", "4")
    least, most = (F(found["level"]["every_matrix"][end]) for end in ("least", "most"))
    assert "the normalised matrix" in found["matrix"]
    for first, second in itertools.product(distributions(["0.667", "0.167", "0.167"], HALVES[3]), repeat=2):
        rows = first, (second[1], second[0], second[2])
        assert s.Channel(rows).ratio_cap() <= most
        assert max(p / q for p, q in zip(*rows, strict=True)) >= least
    file.write_text("1.000,0.000,0.000\n0.333,0.333,0.333\n")
    assert answer(capsys, "check", file)["level"]["every_matrix"]["most"] is None
    assert "normalised" in answer(capsys, "law", file)["inputs"]["matrix"]


@pytest.mark.parametrize("command", ["bayes", "minimax"])
def test_problem_files_are_normalised(command, tmp_path, capsys):
    model, loss, prior = [["0.333", "0.333", "0.333"], ["0.25", "0.25", "0.5"]], [[0, 1], [3, 0]], ["0.333", "0.666"]
    file = tmp_path / "p.json"

    def optimum(model, prior):
        data = {"kind": "decision", "model": model, "loss": loss, "prior": prior}
        file.write_text(json.dumps(data, default=str))
        return answer(capsys, "design", command, file, "--lam", "3")

    found = optimum(model, prior)
    assert "normalised" in found["matrix"]
    low, high = map(F, found["every_problem"])
    assert low < F(found["lower"]) <= F(found["upper"]) < high
    for row, end in itertools.product(distributions(model[0], HALVES[3])[::3], distributions(prior, HALVES[3])):
        exact = optimum([[str(p) for p in row], model[1]], [str(p) for p in end])
        assert "matrix" not in exact and low <= F(exact["lower"]) <= F(exact["upper"]) <= high
    file.write_text(json.dumps({"kind": "decision", "model": [["0.3", "0.33"]], "loss": loss, "prior": prior}))
    assert "model[0] = sum 63/100" in refused(capsys, "design", command, file, "--lam", "3")
