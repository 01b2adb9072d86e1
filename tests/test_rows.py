"""Flat rows for data frames, grouped integers on the command line, and the titles of plots."""

from fractions import Fraction

import pytest

from symshuffle import Bracket, InputError, compare, profile, randomizer, tradeoff
from symshuffle.base.numbers import as_integer, ungrouped
from symshuffle.base.rows import ends, flat
from symshuffle.cli import FAMILIES, application, main
from symshuffle.cli.vectors import dimension
from tests.shell import answer, refused

CELLS = (str, int, float, bool, type(None))


def test_ends_are_rounded_outward():
    third = Bracket(Fraction(1, 3), Fraction(1, 3), "exact", "test", "")
    found = ends(third, "x")
    assert Fraction(found["x_lower"]) < Fraction(1, 3) < Fraction(found["x_upper"])
    assert found["x_log10_lower"] < found["x_log10_upper"] < -0.477
    assert ends(None) == dict.fromkeys(("lower", "upper", "log10_lower", "log10_upper"))
    tiny = Bracket(Fraction(1, 10**400), Fraction(2, 10**400), "ball", "test", "")
    assert ends(tiny)["lower"] == 0 and ends(tiny)["upper"] == 5e-324
    assert ends(tiny)["log10_lower"] == pytest.approx(-400) and ends(tiny)["log10_lower"] <= -400
    zero = Bracket(Fraction(0), Fraction(0), "exact", "test", "")
    assert ends(zero)["log10_upper"] == float("-inf")


def test_curves_and_comparisons_have_rows_of_one_shape():
    krr = randomizer("krr").at(k=3, eps0=1)
    for found in (profile(krr, n=50, eps=["0", "0.1"]), tradeoff(krr, n=50, type_i=["0.1"], num_levels=4)):
        rows = found.to_rows()
        assert len(rows) == len(found.points) and rows[0]["safe"] == found.safe
        for row, point in zip(rows, found.points, strict=True):
            assert Fraction(row["lower"]) <= point.y.lower <= point.y.upper <= Fraction(row["upper"])
            assert all(type(cell) in CELLS for cell in row.values()) and row.keys() == rows[0].keys()
    compared = compare(3, n=100, eps0=1, delta="1e-3", mechanisms=["krr", "subset-selection"])
    rows = compared.to_rows()
    assert [row["mechanism"] for row in rows] == [row.name for row in compared.rows]
    assert rows[0].keys() == rows[1].keys() and all(type(cell) in CELLS for row in rows for cell in row.values())
    assert Fraction(rows[0]["epsilon_upper"]) >= compared.rows[0].epsilon.upper
    with pytest.raises(InputError, match="result = object"):
        flat(object())


@pytest.mark.parametrize(
    ("text", "value"),
    [("200,000", 200_000), ("200_000", 200_000), ("1,000,000", 10**6), (" 1,000 ", 1000)],
)
def test_grouped_integers(text, value):
    assert as_integer(text, "n", 1) == value and ungrouped(text) == str(value)


@pytest.mark.parametrize(
    "text",
    [
        *("0,100", "20,00", "2000,000", "1,000.5", "1,,000", "1,000e3"),
        *("1_000,000", "2000_000", "1_0", "_1", "1__0", "1,0_0", "+ 1", "1 0", "1 ,000"),
    ],
)
def test_texts_that_are_no_grouped_integers(text):
    assert ungrouped(text) == text
    with pytest.raises(InputError):
        as_integer(text, "n", 1)


@pytest.mark.parametrize(
    ("plain", "grouped"),
    [
        ("delta krr -p k=1000 --n 1000 --eps 0.1 --eps0 1", "delta krr -p k=1,000 --n 1,000 --eps 0.1 --eps0 1"),
        ("delta krr(k=10) --n 1000 --eps 0.1 --eps0 1", "delta krr(k=10) --n 1_000 --eps 0.1 --eps0 1"),
        ("subset-size --k 1000 --lam 3", "subset-size --k 1,000 --lam 3"),
        ("compare --k 1000 --n 1000 --eps0 1 --mechanism krr", "compare --k 1,000 --n 1_000 --eps0 1 --mechanism krr"),
        (
            "amplification-curve rr --eps0 1 --delta 0.01 --from 1000 --to 10000 --points 0003",
            "amplification-curve rr --eps0 1 --delta 0.01 --from 1,000 --to 10_000 --points 3",
        ),
        (
            "epsilon rr --eps0 1 --n 2000 --delta 0.01 --min-batch-size 1000",
            "epsilon rr --eps0 1 --n 2,000 --delta 0.01 --min-batch-size 1,000",
        ),
    ],
)
def test_grouped_integers_on_the_command_line(plain, grouped, capsys):
    shown = answer(capsys, *plain.split())
    assert answer(capsys, *grouped.split()) | {"inputs": 0} == shown | {"inputs": 0}


def commands(group, path=()):
    for name, command in group.commands.items():
        yield from commands(command, (*path, name)) if hasattr(command, "commands") else [((*path, name), command)]


def test_no_command_reads_an_integer_by_itself():
    """Every integer of the command line is text until `as_integer` reads it, which takes groups."""
    import typer

    found = list(commands(typer.main.get_command(application())))
    assert len(found) >= sum(len(names) or 1 for names in FAMILIES.values())
    kinds = {(path, option.name): str(option.bare_type()) for path, command in found for option in command.params}
    assert {"str", "float"} <= set(kinds.values())
    assert [place for place, kind in kinds.items() if "int" in kind] == []


def test_a_grouped_dimension():
    assert dimension("1,000") == 1000


def test_a_decimal_comma_is_refused(capsys):
    assert main(["delta", "rr", "--eps0", "1", "--eps", "0.1", "--n", "0,100"]) == 2
    assert "eps0 = 1,500" in refused(capsys, "delta", "rr", "--eps0", "1,500", "--eps", "0.1", "--n", "100")


@pytest.mark.parametrize(
    ("kind", "options"),
    [("profile", "--n 1,000 --to 1"), ("amplification-curve", "--delta 1e-3"), ("tradeoff", "--n 50")],
)
def test_plots_say_what_was_asked(tmp_path, kind, options, capsys):
    import matplotlib as mpl

    path = tmp_path / "curve.svg"
    command = [kind, "krr", "-p", "k=3", "--eps0", "1", *options.split(), "--points", "3"]
    with mpl.rc_context({"svg.fonttype": "none"}):
        assert main([*command, "--plot", str(path)]) == 0
    drawn = path.read_text()
    for said in (
        "krr, k = 3, eps0 = 1",
        *{"profile": ["n = 1,000"], "amplification-curve": ["delta = 0.001"]}.get(kind, ["n = 50"]),
    ):
        assert said in drawn
