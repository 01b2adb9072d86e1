"""The first lines of commands, read back from the shell and held against the answer in JSON or another computation."""

import json
import re
from fractions import Fraction as F

import pytest

import symshuffle as s
from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.base.choices import Loss, members
from symshuffle.base.errors import InputError
from symshuffle.channels import read_channel
from symshuffle.cli import main
from symshuffle.utility.estimation.votes import canonical_votes
from tests.shell import answer, refused

LABELS = {"protects", "about", "assumes", "sure"}


@pytest.fixture
def shell(capsys, monkeypatch, tmp_path):
    """Run a command; its first lines by label, and all that it prints."""
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.chdir(tmp_path)

    def run(words):
        assert main(words.split()) == 0
        out = capsys.readouterr().out
        pairs = [line.split(None, 1) for line in out.splitlines() if line.strip()]
        name = next(iter(pairs))[0]
        lines = {label: rest[0].strip() for label, *rest in pairs[:4] if label in {name, *LABELS} and rest}
        return lines, out

    return run


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("smallest-n krr -p k=4 --eps0 1 --eps 0.3 --delta 1e-4", "at eps = 0.3, delta = 0.0001"),
        ("largest-eps0 krr -p k=4 --n 500 --exp-eps 6/5 --delta 1e-4", "at exp(eps) = 1.2, delta = 0.0001"),
        ("delta krr -p k=4 --eps0 1 --n 50 --eps 1/3", "at eps = 1/3"),
        ("epsilon krr -p k=4 --eps0 1 --n 50 --delta 0.00012345678", "at delta = 0.00012345678"),
        ("epsilon krr -p k=4 --eps0 1 --n 50 --delta 1e-3 --periods 2", "at delta = 0.001"),
        ("worst-datasets rr --lam 3 --n 4 --exp-eps 6/5", "at exp(eps) = 1.2"),
        ("amplification-curve krr -p k=4 --eps0 1 --delta 1e-3 --from 10 --to 20 --points 2", "at delta = 0.001"),
        ("subset-size --k 10 --lam 6", "at exp(eps0) = 6"),
    ],
)
def test_the_target_stands_in_the_first_line(shell, words, target):
    """Each is exact: a target of more digits is not shortened to another one."""
    _, out = shell(words)
    assert out.splitlines()[0].rstrip().endswith(target)


def test_law_says_a_risk_and_that_it_is_no_guarantee(shell, capsys):
    lines, _ = shell("law krr -p k=3 --lam 4 --n 10")
    assert set(lines) == {"risk", "about", "sure"}
    noise = canonical_votes(s.randomizer("krr").at(k=3, lam=4))
    assert lines["risk"] == "<= 0.2 (upper end, exactly 1/5) for 10 users of the worst fixed composition"
    assert noise.risk(10) == F(1, 5)
    assert "no guarantee about shuffled messages" in lines["about"] and "mechanism krr, k 3, lam 4" in lines["about"]
    lines, _ = shell("law krr -p k=3")
    assert lines["trace"] == "6*(lambda - 1)**2/(lambda + 2)**2 (exact)"
    assert F(answer(capsys, *["law", "krr", "-p", "k=3", "--lam", "4"])["trace"]) == F(6 * 9, 36)
    assert "leakage" in shell("law krr -p k=3 --lam 4 --explain")[1]


def test_law_names_rows_that_were_normalised(shell, tmp_path):
    (tmp_path / "thirds.csv").write_text("0.333,0.333,0.333\n0.5,0.25,0.25\n0.25,0.25,0.5\n")
    lines, _ = shell("law thirds.csv")
    assert lines["assumes"].startswith(f"{Assumption.NORMALISED}: the normalised matrix")


def test_decompose_says_what_it_returns_and_for_which_pair(shell):
    lines, _ = shell("decompose krr -p k=4")
    assert set(lines) == {"gamma", "about", "sure"}
    assert lines["gamma"] == "4/(lambda + 3) (exact)"
    similarity = sum(min(column) for column in zip(*s.randomizer("krr").channel(k=4, lam=3).rows, strict=True))
    assert similarity == F(4, 6)
    assert "any two inputs" in lines["about"] and "no guarantee by itself" in lines["about"]
    lines, out = shell("decompose half-block -p d=1 -p k=4 --explain")
    assert "two inputs at cyclic distance" in lines["about"] and "law of G" in out


def test_a_survey_says_what_its_plan_certified_and_a_simulation_protects_nobody(shell, tmp_path):
    lines, _ = shell(
        "collect plan --k 3 --n 200 --min-batch-size 150 --eps 1 --delta 1e-3 --mechanism krr --out plan.json"
    )
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert lines["epsilon"] == f"<= {plan['certificate']['epsilon_at_delta']} (upper end, rounded up) at delta = 0.001"
    assert lines["assumes"].endswith("enough users: at least 150 send")
    (tmp_path / "values.csv").write_text("a\n" + "0\n1\n" * 90)
    shell("collect randomize plan.json --values values.csv --column a --out m.csv")
    found, _ = shell("collect estimate plan.json m.csv --out h.csv --confidence 0.9")
    told = re.search(r"the interval of each of 3 categories covers with probability >= (\S+),", found["histogram"])
    assert F(told[1]) == F(9, 10)
    assert found["protects"] == f"{lines['protects']}: epsilon {lines['epsilon']}"
    assert found["assumes"] == lines["assumes"]
    simulated, _ = shell("collect estimate plan.json --simulate --seed 1 --out g.csv")
    assert simulated["about"] == "SIMULATED with seed 1, which is not private; it protects nobody"
    assert not {"protects", "assumes"} & simulated.keys() and "plan" not in simulated["sure"]


@pytest.mark.parametrize("loss", members(Loss))
@pytest.mark.parametrize("lam", [F(6), F(5, 2)])
def test_the_best_size_by_a_loss_is_the_smallest_of_all(loss, lam):
    """Against the closed sums of each size: sum of squares, worst coordinate, a category that nobody holds, both."""
    noises = {
        size: canonical_votes(s.randomizer("subset-selection").at(k=10, s=size, lam=lam)) for size in range(1, 10)
    }
    losses = {
        "l2": lambda v: float(v.own + 9 * v.absent),
        "max": lambda v: float(max(v.own, v.absent)),
        "absent": lambda v: float(v.absent),
        "test": lambda v: float(v.own) ** 0.5 + float(v.absent) ** 0.5,
    }
    values = {size: losses[loss](noise) for size, noise in noises.items()}
    best = min(values.values())
    assert s.utility.optimal_subset_sizes(10, lam, loss=loss) == tuple(
        z for z in values if values[z] < best * (1 + 1e-12)
    )


def test_losses_rank_subset_sizes_differently(shell):
    sizes = {loss: s.utility.optimal_subset_sizes(10, F(6), loss=loss) for loss in members(Loss)}
    assert sizes == {"l2": (1, 2), "max": (3,), "absent": (1,), "test": (3,)}
    _, out = shell("subset-size --k 10 --lam 6 --loss absent")
    assert "n x loss <= 0.56 (upper end, rounded up)" in out and "(nobody holds the category)" in out
    assert canonical_votes(s.randomizer("subset-selection").at(k=10, s=1, lam=6)).absent == F(56, 100)
    assert main(["subset-size", "--k", "1001", "--lam", "6", "--loss", "max"]) != 0


def test_numbers_of_columns_are_no_row(tmp_path):
    """pandas writes them; of two columns they could be a row, which is refused and not guessed."""
    file = tmp_path / "w.csv"
    file.write_text("0,1,2\n1/2,1/4,1/4\n1/4,1/2,1/4\n")
    assert read_channel(file).rows == ((F(1, 2), F(1, 4), F(1, 4)), (F(1, 4), F(1, 2), F(1, 4)))
    file.write_text("0,1\n1/2,1/2\n1/4,3/4\n")
    with pytest.raises(InputError, match=r"line 1 = 0,1: expected"):
        read_channel(file)
    file.write_text("0.0,1.0\n1/2,1/2\n")
    assert read_channel(file).rows == ((0, 1), (F(1, 2), F(1, 2)))
    file.write_text("1,0\n0,1\n")
    assert read_channel(file).rows == ((1, 0), (0, 1))


def test_close_names_are_a_question_and_a_proof_names_normalised_rows(capsys, tmp_path):
    assert "did you mean krr or rr?" in refused(capsys, "delta", "krrr", "--eps0", "1", "--n", "9", "--eps", "1")
    file = tmp_path / "thirds.csv"
    file.write_text("0.333,0.333,0.333\n0.5,0.25,0.25\n")
    assert main(["delta", str(file), "--n", "5", "--eps", "0.1", "--proof", str(tmp_path / "p")]) == 0
    assert "it is about the normalised matrix" in capsys.readouterr().err


def test_a_column_that_no_answer_has_is_refused_at_the_first_point(capsys, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'command = "delta"\ncolumns = ["uper"]\n[grid]\nmechanism = "rr"\nlam = 3\neps = "0.1"\nn = [5, 6]\n'
    )
    assert "columns = uper: expected some of lower, upper" in refused(
        capsys, "sweep", str(spec), "--out", str(tmp_path / "out"), "--jobs", "1"
    )
    assert not (tmp_path / "out").exists()
