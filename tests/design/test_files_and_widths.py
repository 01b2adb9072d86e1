"""Problem files field by field, and how narrow a bracket has to be before no more bits are spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest

from symshuffle.design.files import SymmetrySpec, _exact, parse_problem, problem_schema, read_problem
from symshuffle.design.widths import check_rel, narrowed
from symshuffle.errors import InputError
from symshuffle.results import Bracket, Rigour

F = Fraction
DECISION = {
    "kind": "decision", "model": [["1/2", "0.5"], [0, 1]], "loss": [[0, 1], [1, "1/3"]], "prior": ["1/4", "3/4"],
}  # fmt: skip


def test_numbers_of_a_file():
    assert [_exact(v) for v in (3, "1/3", "0.25", F(2, 7))] == [3, F(1, 3), F(1, 4), F(2, 7)]
    for wrong in (True, 0.5, None, "x", "1/0"):
        with pytest.raises(ValueError):  # what pydantic turns into a message
            _exact(wrong)


def test_a_decision_file():
    found = parse_problem(DECISION)
    problem = found.problem()
    assert problem.model == ((F(1, 2), F(1, 2)), (0, 1))
    assert problem.loss == ((0, 1), (1, F(1, 3)))
    assert problem.prior == (F(1, 4), F(3, 4))
    assert found.group() is None and found.title == ""
    assert parse_problem({k: v for k, v in DECISION.items() if k != "prior"}).problem().prior is None
    swap = parse_problem({**DECISION, "symmetry": {"form": "cyclic"}, "title": "t"})
    assert (swap.group().order(), swap.title) == (2, "t")


def test_symmetries_of_a_file():
    assert SymmetrySpec(generators=[[1, 0, 2]]).group(3).order() == 2
    assert SymmetrySpec(blocks=[[0, 1, 2], [3]]).group(4).order() == 6
    assert SymmetrySpec(form="cyclic").group(5).order() == 5
    assert SymmetrySpec(form="dihedral").group(5).order() == 10
    for spec in (SymmetrySpec(), SymmetrySpec(form="cyclic", blocks=[[0, 1]])):
        with pytest.raises(InputError, match="exactly one"):
            spec.group(2)
    with pytest.raises(InputError, match=r"partition of the inputs 0..4"):
        SymmetrySpec(blocks=[[0, 1, 2], [3]]).group(5)


PAIR = {"kind": "f-divergence", "p": ["3/4", "1/4"], "q": ["1/2", "1/2"]}


@pytest.mark.parametrize(
    ("name", "order", "value"),
    [
        # At the column (3, 1): v.P = 5/2 and v.Q = 2.
        ("tv", None, F(1, 2)),
        ("chi-square", None, F(1, 8)),
        ("hockey-stick", "9/8", F(1, 4)),
        ("hockey-stick", 0, F(5, 2)),
        ("kl", None, None),
        ("renyi", 2, None),
    ],
)
def test_a_divergence_file(name, order, value):
    data = {**PAIR, "divergence": name} | ({} if order is None else {"order": order})
    measure = parse_problem(data).measure()
    column = (F(3), F(1))
    if value is not None:
        assert measure.rational(column) == value
    else:
        expected = {"kl": 2.5 * 0.2231435513142097, "renyi": 2.5**2 / 2}[name]  # log(5/4)
        assert float(measure.column_ball(column)) == pytest.approx(expected, rel=1e-14)
    wrong = {**PAIR, "divergence": name} | ({"order": 2} if order is None else {})
    with pytest.raises(InputError, match="order"):
        parse_problem(wrong).measure()


def test_a_source_file():
    measure = parse_problem({"kind": "mutual-information", "source": ["1/3", "2/3"]}).measure()
    assert measure.name == "mutual information" and measure.data == ((F(1, 3), F(2, 3)),)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"model": [["1/2", 0.5], [0, 1]]}, r"model\[0\]\[1\] = 0.5"),
        ({"kind": "other"}, "problem"),
        ({"extra": 1}, "extra = 1"),
        ({"symmetry": {"form": "square"}}, r"symmetry\.form = square"),
        ({"prior": ["1/4", "x" * 61]}, rf"prior\[1\] = {'x' * 57}\.\.\."),
        ({"prior": ["1/4", "x" * 60]}, rf"prior\[1\] = {'x' * 60}:"),
    ],
)
def test_fields_that_are_wrong_are_named(change, field):
    with pytest.raises(InputError, match=field):
        parse_problem({**DECISION, **change})


def test_files_that_are_none(tmp_path, monkeypatch):
    from symshuffle.design import files

    path = tmp_path / "p.json"
    with pytest.raises(InputError, match="an existing JSON file"):
        read_problem(path)
    for text, message in (("[1]", "a JSON object"), ("{", "JSON"), ('{"kind": 3}', "problem")):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_problem(path)
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="JSON"):
        read_problem(path)
    text = '{"kind": "mutual-information", "source": ["1/3", "2/3"]}'
    path.write_text(text)
    monkeypatch.setattr(files, "_MAX_BYTES", len(text))
    assert read_problem(path).source == [F(1, 3), F(2, 3)]
    monkeypatch.setattr(files, "_MAX_BYTES", len(text) - 1)
    with pytest.raises(InputError, match="at most"):
        read_problem(path)
    assert problem_schema()["$schema"].startswith("https://json-schema.org")


@dataclass(frozen=True)
class Fake:
    value: Bracket
    bits: int


def solver(widths: dict[int, Fraction], rigour: Rigour = Rigour.BALL, top: int = 2):
    asked: list[int] = []

    def solve(bits: int) -> Fake:
        asked.append(bits)
        return Fake(Bracket(top - widths[bits], F(top), rigour, "x", "y"), bits)

    return solve, asked


def test_no_more_bits_than_asked_for():
    """A width of exactly rel * upper is narrow enough; 2^-10 of 2 and a little more are told apart."""
    rel, limit = 2.0**-10, F(2, 1024)
    solve, asked = solver({1: limit + F(1, 10**9), 2: limit, 3: F(0)})
    found = narrowed(solve, rel, (1, 2, 3))
    assert (found.bits, asked, found.value.aimed) == (2, [1, 2], None)
    solve, asked = solver({1: F(1), 2: F(1, 2)})
    found = narrowed(solve, rel, (1, 2))
    assert (found.bits, asked, found.value.aimed) == (2, [1, 2], rel)
    solve, asked = solver({1: F(1), 2: F(0)}, Rigour.EXACT)
    found = narrowed(solve, rel, (1, 2))
    assert (found.bits, asked, found.value.aimed) == (1, [1], rel)
    solve, _ = solver({1: F(1, 1000)}, top=-1)
    assert narrowed(solve, 0.01, (1,)).value.aimed is None  # negative values have a size too


def test_relative_widths():
    for rel in (0, 1, -0.1, 1.5, float("nan")):
        with pytest.raises(InputError, match="rel"):
            check_rel(rel)
        with pytest.raises(InputError, match="rel"):
            narrowed(lambda bits: None, rel, (1,))
    check_rel(1e-300)
    check_rel(0.999)
