"""Programs that ask about one number of users take the fields of a deployment: those that change it, and no others."""

import json
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import Channel, Deployment, Group, InputError, delta, epsilon, randomizer
from symshuffle.accountants.deployment.model import KEYWORDS
from symshuffle.accountants.deployment.subjects import smallest_batch
from symshuffle.accountants.questions.adversary import worst_of_channel
from symshuffle.collect import audit_local, audit_pair, audit_samples, audit_shuffled, claim, plan_survey
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.vectors import calibrate, private_mean
from tests.shell import answer, refused, run
from tests.words import words

RESPONSE = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
DATA = np.full((60, 1), 0.5)
SAMPLES = ([0] * 600 + [1] * 200, [1] * 800)

REDUCED = [  # fields, and the number of users that they leave of 60
    ({"colluding": 6}, 54),
    ({"colluding": "10%", "min_batch_size": 50}, 44),
    ({"min_batch_size": 50}, 50),
    ({"memoised": True, "periods": 30, "threshold": 3, "colluding": 59}, 1),
    ({"min_batch_size": 3, "colluding": 10}, 1),
]
"""A batch of 3 messages may be of colluding users but for that of the one who differs."""


def calibrated(n=60, **fields):
    found = calibrate("sphere-linear", n=n, dimension=1, eps=3, delta="1e-3", gap=None, **fields)
    found.verify()
    return found.parameters, found.bracket, found.certificate.bracket


def mean(n=60, **fields):
    given = {"eps": 3, "delta": "1e-3", "mechanism": "sphere-linear", "rng": np.random.default_rng(1)}
    chosen = private_mean(DATA[:n], **given, **fields).chosen
    return chosen.mechanism, chosen.delta


def best(n=60, **fields):
    found = best_shuffled(3, n=n, eps=2, delta="1e-2", **fields)
    return found.orbits, found.risk, found.epsilon.bracket, found.delta.bracket


def audited(n=60, **fields):
    found = audit_shuffled(RESPONSE, n=n, runs=3000, **fields)
    return found.price, found.beside, found.events


PROGRAMS = {"calibrate": calibrated, "mean": mean, "design shuffled": best, "audit shuffled": audited}
REFUSED = {
    "dropout": "1/10", "periods": 2, "reports": 2, "group_size": 2, "null": ["1/2", "1/2"], "pairs": [(0, 1)],
    "graph": [(0, 1)], "datasets": ([0] * 60, [1] + [0] * 59), "adjacency": "zero-out", "blanket": "largest",
}  # fmt: skip
OWN = {"calibrate": {"adjacency", "blanket", "null"}, "mean": {"adjacency", "null"}, "design shuffled": set(),
       "audit shuffled": {"dropout", "periods"}}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("fields, left", REDUCED[:2])
def test_a_program_answers_as_for_the_honest_users_of_the_smallest_batch(program, fields, left):
    assert PROGRAMS[program](**fields) == PROGRAMS[program](left)


@pytest.mark.parametrize("fields, left", REDUCED)
def test_the_smallest_batch_has_the_bound_of_the_deployment(fields, left):
    deployment = Deployment(Group(RESPONSE, 60)).with_(**fields)
    assert smallest_batch(deployment) == left
    assert delta(deployment, eps="1/10").bracket == delta(RESPONSE, n=left, eps="1/10").bracket


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_has_no_bound_is_refused_by_name(program):
    for name, value in REFUSED.items():
        if name not in OWN[program]:
            with pytest.raises(InputError, match=rf"^{name} = .*(ask|give)"):
                PROGRAMS[program](**{name: value})
    with pytest.raises(InputError, match=r"^colluding = "):
        PROGRAMS[program](colluding=60)
    with pytest.raises(InputError, match=r"^min_batch_size = "):
        PROGRAMS[program](min_batch_size=61)


def test_every_field_either_changes_the_number_alone_or_is_refused():
    for name in KEYWORDS:
        value = REFUSED.get(
            name, {"n": 60, "min_batch_size": 50, "colluding": 6, "memoised": True, "threshold": 3}.get(name)
        )
        assert value is not None, name
        deployment = Deployment(Group(RESPONSE, 60)).with_(**{name: value})
        if name in REFUSED:
            with pytest.raises(InputError, match=r"ask|give"):
                smallest_batch(deployment)
        else:
            left = smallest_batch(deployment)
            assert delta(deployment, eps="1/10").bracket == delta(RESPONSE, n=left, eps="1/10").bracket
    several = Deployment([Group(RESPONSE, 9), Group.of_dummies(3, ["1/2", "1/2"])])
    for one in (several, Deployment(Group(RESPONSE, 9), later_periods=(Deployment(Group(RESPONSE, 9)),))):
        with pytest.raises(InputError, match="ask epsilon or delta"):
            smallest_batch(one)


def test_the_mean_is_that_of_all_vectors_and_names_whom_it_covers():
    found = private_mean(
        DATA, eps=3, delta="1e-3", mechanism="sphere-linear", colluding=6, rng=np.random.default_rng(1)
    )
    assert found.n == 60 and "6 users collude" in found.lines.assumes and "60 users" in found.lines.protects
    fewer = calibrate("sphere-linear", n=54, dimension=1, eps=3, delta="1e-3", gap=None)
    assert float(found) == pytest.approx(float(fewer.bracket.upper) * (54 / 60) ** 0.5, rel=1e-9)
    with pytest.raises(InputError, match=r"^n = 59: expected 60"):
        private_mean(DATA, n=59, eps=3, delta="1e-3", mechanism="sphere-linear")


def test_an_audit_takes_a_deployment_a_group_a_file_and_a_plan(tmp_path):
    group = Group(RESPONSE, 60, colluding=6)
    (tmp_path / "d.toml").write_text(Deployment(group, periods=3).to_toml())
    for subject in (
        group,
        Deployment(group),
        Deployment(group, periods=3),
        tmp_path / "d.toml",
        str(tmp_path / "d.toml"),
    ):
        found = audit_shuffled(subject, runs=3000)
        assert (found.price, found.beside, found.events) == audited(54)
        assert claim(subject).channel.rows == RESPONSE.rows
        assert audit_local(subject, runs=200).events == audit_local(RESPONSE, runs=200).events
    named = Group(randomizer("krr").at(k=3, lam=2), 30)
    (tmp_path / "krr.toml").write_text(Deployment(named).to_toml())
    assert claim(tmp_path / "krr.toml").channel.rows == randomizer("krr").at(k=3, lam=2).channel().rows
    plan = plan_survey(
        3, n=30, eps=2, delta="1e-2", mechanism="krr", min_batch_size=25, colluding=5, labels=("a", "b", "c")
    )
    (tmp_path / "p.toml").write_text(plan.to_toml())
    for subject in (plan, tmp_path / "p.toml"):
        assert audit_shuffled(subject, runs=5000).price == audit_shuffled(plan, n=20, runs=5000).price
        assert claim(subject).inputs == ("a", "b", "c")


def test_samples_and_pairs_are_held_against_the_bound_of_a_deployment():
    deployment = Deployment(Group(RESPONSE, 12, colluding=2), periods=3)
    bound = delta(deployment, eps="1/10").bracket.upper
    by_eps = audit_samples(*SAMPLES, claim=deployment, eps="1/10")
    assert 0 <= by_eps.findings[0].delta - bound < F(1, 10**6) * bound
    by_fields = audit_samples(*SAMPLES, claim=RESPONSE, n=12, colluding=2, periods=3, eps="1/10")
    assert by_fields.about == by_eps.about
    level = epsilon(deployment, delta="1/10").bracket.upper
    pair = audit_pair("a", "b", runs=2000, claim=deployment, delta="1/10")
    assert pair.delta == F(1, 10) and 0 <= float(pair.target.exponent - level) < 1e-6
    for given in ({"claim": deployment}, {"claim": deployment, "eps": 1, "delta": "1e-2"}):
        with pytest.raises(InputError, match="one of eps and delta"):
            audit_samples(*SAMPLES, **given)
    with pytest.raises(InputError, match=r"^colluding = 2: expected none, unless claim is a deployment"):
        audit_samples(*SAMPLES, eps=1, colluding=2)
    with pytest.raises(InputError, match=r"^colluding = 60"):
        audit_samples(*SAMPLES, claim=RESPONSE, n=12, colluding=60, eps=1)


COMMANDS = {
    "calibrate": "calibrate sphere-linear --d 1 --eps 3 --delta 1e-3 --gap none",
    "worst-datasets": "worst-datasets krr -p k=3 --lam 2 --exp-eps 6/5",
    "design shuffled": "design shuffled --k 3 --eps 2 --delta 1e-2",
}
KEPT = {
    "calibrate": ("parameters", "rmse"),
    "worst-datasets": ("attained_lower", "exact", "upper", "attained_by"),
    "design shuffled": ("risk", "orbits"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_answer_as_for_the_reduced_number(command, capsys):
    n, left = (7, 5) if command == "worst-datasets" else (60, 54)
    line = words(COMMANDS[command])
    found = answer(capsys, *line, "--n", n, "--colluding", n - left)
    fewer = answer(capsys, *line, "--n", left)
    for key in KEPT[command]:
        assert found[key] == fewer[key], key
    for option, value in (("--dropout", "1/10"), ("--periods", "2"), ("--reports", "2"), ("--group-size", "2")):
        assert f"{option} = {value}: expected" in refused(capsys, *line, "--n", n, option, value)


def test_worst_background_takes_a_file(tmp_path, capsys):
    file = tmp_path / "d.toml"
    file.write_text(Deployment(Group(RESPONSE, 7, colluding=2), periods=9, memoised=True).to_toml())
    found = answer(capsys, "worst-datasets", file, "--exp-eps", "6/5")
    assert F(found["exact"]) == worst_of_channel(RESPONSE, 5, F(6, 5)).bracket.exact
    assert "9 periods" in json.dumps(found["neighbours"]) and found["inputs"]["file"] == str(file)


def test_the_command_mean_takes_fields(tmp_path, capsys):
    np.save(tmp_path / "x.npy", DATA)
    line = ("mean", tmp_path / "x.npy", *words("--eps 3 --delta 1e-3 --mechanism sphere-linear --seed 1"))
    found = answer(capsys, *line, "--colluding", "10%")
    assert found["inputs"]["colluding"] == "10%" and "1/10 of the users" in " ".join(
        run(capsys, *line, "--colluding", "10%")[1].split()
    )
    assert "--periods = 2: expected" in refused(capsys, *line, "--periods", 2)


def audit_answer(capsys, *line):
    """What an audit prints with --json, whatever it finds."""
    status, out, _ = run(capsys, "audit", *line, "--json")
    assert status in (0, 1, 3)
    return json.loads(out)


def test_the_commands_audit_take_files(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Deployment(Group(RESPONSE, 8, colluding=3)).save("d.toml")
    client = "import random, sys\nfor line in sys.stdin:\n    print(*random.choices('01', k=len(line) // 2), sep=',')\n"
    (tmp_path / "client.py").write_text(client)
    program = ("--program", "python client.py", "--runs", "3000", "--per-process", "3000")
    for more, users in (((), 5), (("--colluding", "4"), 4), (("--n", "9"), 6)):
        found = audit_answer(capsys, "shuffled", *program, "--claim", "d.toml", *more)
        assert found["price"].startswith(f"6000 runs of {users} users")
    assert audit_answer(capsys, "local", *program, "--claim", "d.toml")["price"].startswith("6000 runs")
    for name, rows in zip("ab", SAMPLES, strict=True):
        (tmp_path / f"{name}.csv").write_text("".join(f"{row}\n" for row in rows))
    asked = words("samples a.csv b.csv --claim d.toml --eps 1/10")
    bound = delta(Deployment.read("d.toml"), eps="1/10").bracket.upper
    assert f"{float(bound):.6g}" in json.dumps(audit_answer(capsys, *asked))
    assert "one of eps and delta" in refused(capsys, "audit", *asked, "--delta", "1e-2")
    assert "--eps0" in refused(capsys, "audit", "local", *program, "--claim", "d.toml", "--eps0", "1")


def test_the_worst_datasets_of_some_pairs_are_searched(capsys):
    line = ("worst-datasets", "krr", "-p", "k=3", "--lam", "3", "--n", "3", "--exp-eps", "6/5")
    assert F(answer(capsys, *line, "--pairs", "0-1")["attained_lower"]) <= F(answer(capsys, *line)["attained_lower"])
