"""A named engine says before it starts what many values of it would cost; deep tails and limits of rounds answer."""

import json

import pytest

import symshuffle
from symshuffle import Group, Unsupported, delta, epsilon, randomizer
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.engines import BallContour, Counts
from tests.shell import answer, refused, run
from tests.words import words

KRR, SMALL = randomizer("krr").at(k=3, eps0=1), randomizer("krr").at(k=3, lam="3/2")
PLAN = (
    '[[group]]\nrandomizer = "krr"\nparameters = { k = 4, eps0 = 1 }\ncount = 1000\n'
    '[[later_periods]]\n[[later_periods.group]]\nrandomizer = "krr"\n'
    'parameters = { k = 3, lam = "3/2" }\ncount = 2000\n'
)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: delta([Group(SMALL, 9), Group(randomizer("krr").at(k=3, lam=2), 5)], eps="0.1", engine=BallContour()),
        lambda: epsilon(randomizer("krr").at(k=4, eps0=1), n=1000, periods=2, delta="1e-3", engine=Counts()),
    ],
    ids=["groups", "rounds"],
)
def test_many_values_of_a_named_engine_are_refused_at_once(ask):
    with pytest.raises(Unsupported, match=r"values; leave the choice to auto"):
        ask()


def test_dropout_is_one_value_of_a_named_engine():
    found = delta(KRR, n=10, eps="0.1", dropout="1/10", engine=BallContour(), rtol=1e-9).bracket
    free = delta(KRR, n=10, eps="0.1", dropout="1/10").bracket
    assert found.lower <= free.upper and free.lower <= found.upper


def test_a_limit_is_shared_unless_the_caller_sets_it():
    alone, shared = Method(engine=Counts()), Method(engine=Counts(), values=20)
    assert alone.sharing == Counts() and shared.sharing.largest < Counts().largest
    own = Counts(largest=10**7)
    assert Method(engine=own, values=20).sharing == own
    assert Method(engine=symshuffle.engines.Exact(), values=20).sharing == symshuffle.engines.Exact()


def test_a_delta_far_below_doubles_has_an_eps(tmp_path, capsys):
    (tmp_path / "plan.toml").write_text(PLAN)
    found = answer(capsys, "epsilon", tmp_path / "plan.toml", "--delta", "1e-1000", "--rtol", "5e-2")
    assert 0 <= float(found["lower"]) <= float(found["upper"]) < 3


def test_a_deep_tail_of_rounds_takes_few_levels_and_says_how_wide_it_is():
    blh = randomizer("blh").at(lam="3/2").with_defaults()
    found = delta(blh, n=100, eps="1/2", reports=2).bracket
    assert 0 < found.upper < 1e-30 and found.lower > 0 and found.aimed is not None


def test_a_limit_has_no_matrix_to_enumerate():
    blh = randomizer("blh").at(lam="3/2").with_defaults()
    assert 0 < delta(blh, n=20, eps=0, reports=2, rtol=0.1).bracket.upper < 1


def test_a_plan_may_have_a_threshold(tmp_path, capsys):
    asked = words("collect plan --k 3 --n 500 --eps 0.5 --delta 1e-4 --mechanism krr --threshold 5 --out")
    made = tmp_path / "made.json"
    assert run(capsys, *asked, made)[0] == 0
    assert json.loads(made.read_text())["threshold"] == 5
    assert run(capsys, "check", made)[0] == 0


def test_nothing_is_printed_before_all_files_are_read(tmp_path, capsys):
    proof = symshuffle.prove(delta(randomizer("krr").at(k=3, lam=3), n=4, exp_eps="6/5"))
    (tmp_path / "proof.json").write_text(json.dumps(proof.content))
    refused(capsys, "check", str(tmp_path / "proof.json"), "--file", str(tmp_path / "none.csv"))


@pytest.mark.parametrize("program", ["x", "./sweep.toml"])
def test_a_program_that_cannot_start_is_refused_before_its_price(program, capsys):
    claim = words("--claim krr -p k=3 --lam 3 --runs 200")
    assert refused(capsys, "audit", "local", "--program", program, *claim).startswith("symshuffle: --program = ")
