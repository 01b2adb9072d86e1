"""A refusal of a proof or of a plan names what is refused, and a proof covers the blanket that is used in any case."""

import json
from fractions import Fraction as F

import pytest

import symshuffle
from symshuffle import Unsupported, randomizer
from symshuffle.ledger.recheck import bound
from tests.shell import refused, run

KRR = randomizer("krr").at(k=3, lam=2)
ROUNDS = 'periods = 2\n[[group]]\nrandomizer = "krr"\nparameters = {k = 3, eps0 = 1}\ncount = 9\n'
SURVEY = ("collect", "plan", "--k", 4, "--n", 2000, "--eps", 1, "--delta", "1e-3", "--out", "made.json")


@pytest.mark.parametrize("target", [("delta", "--eps", 1), ("epsilon", "--delta", "1e-3")])
def test_a_proof_covers_one_round(target, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(ROUNDS)
    line = refused(capsys, target[0], "plan.toml", *target[1:], "--proof", "p.json")
    assert "a proof covers one" in line and "n = " not in line
    again = refused(
        capsys, target[0], "krr", "-p", "k=3", "--lam", 2, "--n", 9, "--periods", 2, *target[1:], "--proof", "p"
    )
    assert "a proof covers one" in again
    twice = symshuffle.Deployment(KRR, periods=2)
    for answer in (symshuffle.delta(twice, n=9, eps=1), symshuffle.epsilon(twice, n=9, delta="1e-3")):
        with pytest.raises(Unsupported, match="a proof covers one"):
            symshuffle.prove(answer)


@pytest.mark.parametrize("name", [None, "krr", "oue", "subset-selection"])
def test_a_plan_that_no_target_helps_names_the_option(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = refused(capsys, *SURVEY, *(() if name is None else ("--mechanism", name)), "--blanket", "mechanism")
    assert "blanket" in said and "no plan" not in said and "eps = " not in said


@pytest.mark.parametrize("whom", [{}, {"adjacency": "zero-out"}, {"group_size": 2}, {"min_batch_size": 7}])
def test_a_proof_with_the_largest_blanket_is_that_without_one(whom):
    channel = symshuffle.Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    for source in (KRR, channel):
        asked = {"n": 9, "eps": "1/10", **whom}
        proofs = [
            symshuffle.prove(symshuffle.delta(source, **asked, **more)).content for more in ({}, {"blanket": "largest"})
        ]
        assert proofs[0]["statement"] == proofs[1]["statement"]
        bound.check(proofs[1])
        top = symshuffle.delta(source, n=9, eps="1/10", arithmetic="ball", blanket="largest", **whom).bracket
        assert top.lower <= F(proofs[1]["statement"]["delta"])
    with pytest.raises(Unsupported, match="blanket"):
        symshuffle.prove(symshuffle.delta(KRR, n=9, eps="1/10", blanket="mechanism")).content


def test_a_plan_with_the_largest_blanket_is_proved(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, *_ = run(capsys, *SURVEY, "--mechanism", "krr", "--blanket", "largest", "--proof", "p.json")
    assert status == 0
    bound.check(json.loads((tmp_path / "p.json").read_text()))
