"""Calls that a fuzzer drew and that ended in a traceback or left files: each is an answer, or one line."""

from fractions import Fraction as F

import pytest

from symshuffle import Exp, epsilon, optimal, randomizer
from symshuffle.base.errors import InputError
from symshuffle.channels.geometry.groups import symmetric_group
from symshuffle.design import Problem
from tests.shell import refused, run

GUESS = Problem([[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]], [[F(0), F(1)], [F(1), F(0)]], [F(1, 2), F(1, 2)])


def test_a_level_beyond_doubles_has_no_optimum():
    for group in (None, symmetric_group(2)):
        for lam in (Exp(F(700)), Exp(F(5000)), F(10) ** 400):
            with pytest.raises(InputError, match="a ratio below 1e300"):
                optimal(GUESS, lam=lam, group=group)
        assert abs(float(optimal(GUESS, lam=Exp(F(690)), group=group)) - 1 / 3) < 1e-12


def test_a_width_below_what_doubles_hold_is_refused():
    with pytest.raises(InputError, match="at least 1e-300"):
        epsilon(randomizer("hadamard", D=64, eps0=4), n=20, delta="1e-3", group_size=2, rtol=2.0**-1074)


def test_no_randomizer_is_missing():
    with pytest.raises(InputError, match="source is missing"):
        randomizer(None)


def test_numbers_beyond_doubles_are_printed(capsys):
    status, text, _ = run(capsys, "law", "oue", "-p", "D=3", "--lam", "1e400", "--n", "1", "--eps", "0.1")
    assert status == 0 and "e+" in text


def test_an_empty_name_of_an_output_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "--out" in refused(capsys, "reproduce", "alphabets.fig-1", "--out", "")
    assert not any(tmp_path.iterdir())
