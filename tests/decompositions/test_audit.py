"""The auditor's question: level and blanket of a channel against what is claimed of them."""

import json
from fractions import Fraction

import pytest

from symshuffle import Channel, Exp, InputError
from symshuffle.decompositions.stated import check_blanket, check_level
from tests.shell import refused, run

F = Fraction
W = Channel.from_rows([["1/2", "1/4", "1/4", 0], ["1/4", "1/2", "1/4", 0], ["1/8", "1/4", "5/8", 0]])


def test_the_level_is_that_of_the_worst_pair_and_output():
    found = check_level(W)
    assert (found.largest.first, found.largest.second, found.largest.output, found.largest.ratio) == (0, 2, 0, 4)
    assert found.as_claimed is None and found.above == ()
    assert found.largest.ratio == W.ratio_cap() and found.eps0.lower < F("1.38629436112") < found.eps0.upper + F("1e-9")
    assert check_level(W, F(4)).as_claimed is True
    below = check_level(W, F(4) - F(1, 10**12))
    assert below.as_claimed is False and [place.output for place in below.above] == [0]
    assert [(p.first, p.second, p.output) for p in check_level(W, F(9, 4)).above] == [(0, 2, 0), (2, 0, 2)]


def test_an_irrational_cap_is_told_from_any_ratio():
    logarithm = F("1.386294361119890618834464242916353136151")  # of 4, to 39 digits
    assert check_level(W, Exp(logarithm + F(1, 10**38))).as_claimed is True
    assert check_level(W, Exp(logarithm - F(1, 10**38))).as_claimed is False


def test_a_possible_and_an_impossible_input_have_no_level():
    erasure = Channel.from_rows([["2/3", 0, "1/3"], [0, "2/3", "1/3"]])
    found = check_level(erasure, F(10**6))
    assert found.largest.ratio is None and found.eps0 is None and not found.as_claimed and len(found.above) == 2
    assert found.to_dict()["eps0"] == {"lower": None, "upper": None}


def test_the_blanket():
    found = check_blanket(W)
    assert found.mass == F(5, 8) and found.masses == (F(1, 8), F(1, 4), F(1, 4), 0) and found.as_claimed is None
    assert check_blanket(W, mass=F(5, 8)).as_claimed and check_blanket(W, masses=found.masses).as_claimed
    less, more = check_blanket(W, mass=F(624, 1000)), check_blanket(W, mass=F(626, 1000))
    assert (less.as_claimed, less.safe, more.as_claimed, more.safe) == (False, True, False, False)
    moved = check_blanket(W, mass=F(5, 8), masses=(F(1, 4), F(1, 8), F(1, 4), 0))
    assert moved.differs == (0, 1) and not moved.as_claimed and not moved.safe


@pytest.mark.parametrize(
    ("options", "said"),
    [({"mass": F(2)}, "blanket_mass = 2"), ({"masses": [F(1)]}, "blanket = 1 masses: expected 4, one per output")],
)
def test_blankets_that_are_none(options, said):
    with pytest.raises(InputError, match=said):
        check_blanket(W, **options)


def test_channels_that_cannot_be_checked():
    with pytest.raises(InputError, match="not rational"):
        check_level(Channel(((0.5, 0.5), (0.25, 0.75))))
    with pytest.raises(InputError, match="1 input"):
        check_blanket(Channel.from_rows([["1/2", "1/2"]]))


def test_the_command(tmp_path, capsys):
    file = tmp_path / "W.csv"
    file.write_text("0.5,0.25,0.25\n0.25,0.5,0.25\n0.125,0.25,0.625\n")
    asked = ["check", str(file)]
    status, out, _ = run(capsys, *asked)
    assert status == 0 and "inputs 0 and 2 at output 0: ratio 4" in out
    assert run(capsys, *asked, "--eps0", "1.4", "--blanket-mass", "0.625")[0] == 0
    assert run(capsys, *asked, "--lam", "3", "--json")[0] == 1
    status, out, _ = run(capsys, *asked, "--eps0", "1", "--blanket-mass", "0.63", "--json")
    found = json.loads(out)
    assert status == 1 and found["level"]["above"][0] == {"pair": [0, 2], "output": 0, "ratio": "4"}
    assert found["as_claimed"] is False
    assert found["blanket"]["safe"] is False and found["blanket"]["mass"] == "5/8"
    status, out, _ = run(capsys, *asked, "--blanket", "0.1,0.25,0.25")
    assert status == 1 and "output 0: 1/8, not 1/10" in out
    for wrong, said in (
        (["check"], "FILE is missing"),
        ([*asked, "--eps0", "0"], "eps0 = 0"),
        ([*asked, "--blanket-mass", "x"], "--blanket-mass = x"),
        ([*asked, "--blanket", "1"], "blanket = 1 masses"),
    ):
        assert said in refused(capsys, *wrong)
    file.write_text("0.5,0.4\n0.5,0.5\n")
    refused(capsys, *asked)
