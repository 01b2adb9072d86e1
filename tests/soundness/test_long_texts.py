"""Texts of a million characters, as numbers, rows and names: refused in one short line, without work."""

import time

import pytest

from symshuffle import Channel, SymshuffleError, any_ldp, delta, epsilon, randomizer
from symshuffle.channels import read_channel
from tests.shell import refused

DIGITS, NAME = "1" * 10**6, "k" * 10**6
SECONDS, CHARACTERS = 5, 600
SOURCE = any_ldp(eps0=1)

CALLS = {
    "n": lambda text: delta(SOURCE, n=text, eps=1),
    "eps": lambda text: delta(SOURCE, n=9, eps=text),
    "fraction": lambda text: epsilon(SOURCE, n=9, delta="0." + text),
    "budget": lambda text: any_ldp(eps0=text),
    "width": lambda text: delta(SOURCE, n=9, eps=1, rtol=text),
    "row": lambda text: Channel.from_rows([["1/2", text], ["1/2", "1/2"]]),
    "engine": lambda text: delta(SOURCE, n=9, eps=1, engine=text),
    "choice": lambda text: delta(SOURCE, n=9, eps=1, adjacency=text),
    "mechanism": randomizer,
    "expression": lambda text: delta("joint(" + text, n=9, eps=1),
    "parameter": lambda text: randomizer("krr").at(k=text, eps0=1),
    "name of a parameter": lambda text: randomizer("krr").at(**{text: 1}),
}


@pytest.mark.parametrize("text", [DIGITS, NAME], ids=["digits", "letters"])
@pytest.mark.parametrize("name", CALLS)
def test_a_long_text_is_refused_in_one_short_line(name, text):
    start = time.process_time()
    with pytest.raises(SymshuffleError) as caught:
        CALLS[name](text)
    assert time.process_time() - start < SECONDS
    assert len(str(caught.value)) < CHARACTERS and "\n" not in str(caught.value)


@pytest.mark.parametrize("cell", ["0." + "1" * 5000, "1" * 5000, "x" * 5000 + "%", "0" * 900 + ".x"])
def test_a_long_cell_is_echoed_by_its_beginning(cell, tmp_path, capsys):
    """In a matrix, in vectors and in samples."""
    (tmp_path / "w.csv").write_text(f"0.5,0.5\n{cell},0.5\n")
    vectors = () if cell[-1].isdigit() else (("mean", "--eps", "1", "--delta", "0.1"),)
    for name, *options in (("check",), *vectors):
        line = refused(capsys, name, tmp_path / "w.csv", *options)
        echoed = line.partition("w.csv, line 2, column 1 = ")[2].partition(": expected")[0]
        assert echoed.endswith("...") and 50 <= len(echoed) <= 60
    (tmp_path / "b.csv").write_text("0\n" * 9)
    line = refused(capsys, "audit", "samples", tmp_path / "b.csv", tmp_path / "w.csv")
    assert len(line) < CHARACTERS


def test_a_path_is_echoed_whole(tmp_path):
    path = tmp_path / ("long-" * 20 + ".csv")
    for given in (path, str(path)):
        with pytest.raises(SymshuffleError, match=f"file = {path}: expected a readable file"):
            read_channel(given)
