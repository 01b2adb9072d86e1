"""Outward edits of the driver of mutants: which they are, and that every reason in the list is about one of them."""

from pathlib import Path

import pytest

from tests.edits import ROOT, mutants
from tests.mutants import likely_tests, places, reasons

SOURCE = """
def end(ball, error, runs, x):
    low = max(ball.lower - error, 0)
    far = math.nextafter(low, -math.inf)
    shown = format_decimal(low, up=False)
    kept = (runs + 1) * x
    return min(far, 1), math.floor(kept), max(far, shown)
"""

EDITS = {
    "low = (ball.lower - error)",
    "low = max(ball.lower, 0)",
    "low = max(ball.upper - error, 0)",
    "far = math.nextafter(low, math.inf)",
    "shown = format_decimal(low, up=True)",
    "return (far), math.floor(kept), max(far, shown)",
    "return min(far, 1), math.ceil(kept), max(far, shown)",
}


def test_outward_edits_are_ends_sides_errors_and_clips():
    found = [one for one in mutants(SOURCE, "end.py") if one.outward(SOURCE)]
    assert {places(one, SOURCE)[1] for one in found} == {("end.py", "end", line) for line in EDITS}
    assert {places(one, SOURCE)[0][2] for one in found} == {
        line.strip() for line in SOURCE.splitlines()[2:] if "kept =" not in line
    }


@pytest.mark.parametrize("file", sorted({file for file, _, _ in reasons()}))
def test_every_reason_is_about_an_edit(file):
    """By the text of a line and its function: a line that is changed or gone needs no reason."""
    text = (ROOT / file).read_text(encoding="utf-8")
    known = {place for one in mutants(text, file) if one.outward(text) for place in places(one, text)}
    listed = {place for place in reasons() if place[0] == file}
    assert listed <= known
    assert all(why.strip() for why in reasons().values())


def test_tests_of_a_module_are_those_of_its_packages():
    found = likely_tests(["symshuffle/collect/audit/shares.py"])
    assert {"tests/audit", "tests/collect", "tests/soundness"} <= set(found)
    assert all(Path(ROOT, one).exists() for one in found)
