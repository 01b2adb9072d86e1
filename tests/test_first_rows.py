"""First lines of matrix files: probabilities, names of columns, or refused; and what answers say was read."""

import json
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symshuffle import InputError, Unsupported, delta
from symshuffle.channels import read_channel
from symshuffle.cli import main
from symshuffle.cli.options import Header
from symshuffle.collect import plan_survey
from symshuffle.design import read_problem
from tests.shell import refused

BODY = "0.25,0.75\n0.4,0.6\n"
REFUSED = (
    "99%,1%",
    "1 / 2,1 / 2",
    "½,½",
    "=1/2,=1/2",
    "0.5f,0.5f",
    "0.5;0.5,0.5;0.5",
    "~0.5,~0.5",
    "5e\N{MINUS SIGN}1,5e\N{MINUS SIGN}1",
    "\N{MINUS SIGN}0.5,1.5",
    "\N{FULLWIDTH DIGIT FIVE},\N{FULLWIDTH DIGIT FIVE}",
    "\N{ROMAN NUMERAL EIGHT},b",
    "x\N{SUPERSCRIPT TWO},y",
    "\N{CJK UNIFIED IDEOGRAPH-4E00},\N{CJK UNIFIED IDEOGRAPH-4E8C}",
    "nan,nan",
    "NaN,b",
    "inf,0",
    "Infinity,b",
    "None,null",
    "NA,n",
    "True,False",
    "1_0,1",
    "0x1,0x2",
    "1/0,1",
    "0.5.5,0.5",
    "1e-1e,b",
    "e-5,e-6",
    "O.5,O.5",
    "_.6,_.4",
    "exp(1),exp(2)",
    "sqrt(2)/2,b",
    "p=0.5,q=0.5",
    "A: 0.5,B: 0.5",
    "about .5,b",
    "p/q,r",
    "<0.5,>0.5",
    "x%,y",
    "a,0.5",
    "0.5,b",
    ",",
    "a,",
    "a,b,c",
    "a",
    "#N/A,1",
    "#DIV/0!,b",
    "0,1",
    "00,01",
    "+0,+1",
    "-0,1",
    "0, 0001",
    "2/3,2/3",
    "-0.5,1.5",
)
READ = {"0.5,0.5": (F(1, 2),) * 2, "+0.5,5e-1": (F(1, 2),) * 2, " 1/2 , .5 ": (F(1, 2),) * 2, "1,0": (F(1), F(0))}
READ |= {"0.0,1.0": (F(0), F(1)), '"0.5","0.5"': (F(1, 2),) * 2, "1e0,0e0": (F(1), F(0))}
NAMES = (
    "a,b",
    "_x,_y",
    "yes, no",
    "y-1,y-2",
    "out 0,out 1",
    "A+,O-",
    "E1,E2",
    "p(0),p(1)",
    '"a","b"',
    "naïve,été",
    "甲,乙",
)


def written(folder, *rows):
    file = folder / "w.csv"
    file.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize("row", REFUSED)
def test_a_first_line_that_is_neither_numbers_nor_names_is_refused(tmp_path, row):
    file = written(tmp_path, row, BODY.rstrip())
    with pytest.raises(InputError):
        read_channel(file)
    assert main(["check", str(file)]) == 2


@pytest.mark.parametrize("row", READ)
def test_a_first_line_of_numbers_is_a_row(tmp_path, row):
    found = read_channel(written(tmp_path, row, BODY.rstrip()))
    assert (found.header, found.num_inputs, found.rows[0]) == (False, 3, READ[row])


@pytest.mark.parametrize("row", NAMES)
def test_a_first_line_of_names_is_a_header(tmp_path, row):
    found = read_channel(written(tmp_path, row, BODY.rstrip()))
    assert (found.header, found.num_inputs) == (True, 2)


def test_the_line_and_column_of_the_first_doubtful_cell_are_named(tmp_path):
    for rows, place in ((("# made by us", "", "a,1%"), "line 3, column 2"), (("0.5,½", BODY), "line 1, column 2")):
        with pytest.raises(InputError, match=place):
            read_channel(written(tmp_path, *rows, BODY.rstrip()))


@pytest.mark.parametrize(
    "row",
    ["#0.99,0.01", "# 0.99, 0.01", "## 1/2 1/2", "#0.5;0.5", "#0,5;0,5", "#0.5\t0.5", "# 0.5 | 0.5", '#"0.5";"0.5"'],
)
def test_numbers_behind_the_sign_of_a_comment_are_refused(tmp_path, row, capsys):
    for rows in ((row, "0.25,0.75", "0.4,0.6"), ("0.25,0.75", row, "0.4,0.6")):
        assert main(["check", str(written(tmp_path, *rows)), "--eps0", "2"]) == 2
        assert "a comment has words" in capsys.readouterr().err
    assert read_channel(written(tmp_path, "# 2 outputs, made in 2026", "0.25,0.75", "0.4,0.6")).num_inputs == 2


FILE = (
    ["check", "{}"],
    ["delta", "{}", "--n", "4", "--eps", "1"],
    ["epsilon", "{}", "--n", "4", "--delta", "0.1"],
    ["renyi", "{}", "--n", "4", "--order", "2"],
    ["gdp", "{}", "--n", "4"],
    ["smallest-n", "{}", "--delta", "0.1", "--eps", "1"],
    ["profile", "{}", "--n", "4", "--to", "1", "--points", "2"],
    ["worst-datasets", "{}", "--n", "3", "--eps", "1/10"],
    ["decompose", "{}"],
    ["law", "{}"],
    ["compare", "--k", "2", "--n", "99", "--eps0", "1", "--mechanism", "krr", "--channel", "{}"],
)


def test_a_file_of_messages_is_no_matrix_and_no_vectors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan = plan_survey(2, n=4, eps=1, delta="1/2", mechanism="krr")
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "values.csv").write_text("v\n0\n1\n0\n1\n")
    for name, more in (("m.csv", []), ("counts.csv", ["--counts"])):
        made = ["collect", "randomize", "plan.json", "--values", "values.csv", "--column", "v", "--out", name, *more]
        assert main(made) == 0
        for command in (
            *([part.format(name) for part in one] for one in FILE),
            ["mean", name, "--eps", "1", "--delta", "0.1"],
            ["collect", "randomize", "plan.json", "--values", name, "--column", "message", "--out", "new.csv"],
        ):
            said = refused(capsys, *command)
            assert "not messages of a survey" in said and '"kind"' not in said, said


def test_callers_say_whether_there_is_a_header(tmp_path, capsys):
    file = written(tmp_path, "99%,1%", BODY.rstrip())
    assert read_channel(str(file), header=True).num_inputs == 2
    for header in (False, None, "yes", 1):
        with pytest.raises(InputError):
            read_channel(file, header=header)
    assert main(["check", str(file), "--header", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["header"] is True
    numbered = written(tmp_path, "0,1", "0.5,0.5")
    assert [read_channel(numbered, header=header).num_inputs for header in (True, False)] == [1, 2]
    assert [read_channel(numbered, header=np.bool_(header)).header for header in (True, False)] == [True, False]
    for names in ("0,1,2", "00,01,02", "+0,+1,+2"):
        assert read_channel(written(tmp_path, names, "0.2,0.3,0.5")).header is True
    for row in ("00,01", "+0,+1", "-0,1"):
        with pytest.raises(InputError, match=r"line 1 = .*expected names of columns, or a row written 0\.0,1\.0"):
            read_channel(written(tmp_path, row, BODY.rstrip()))
        assert read_channel(written(tmp_path, row, BODY.rstrip()), header=False).rows[0] == (0, 1)
    as_json = tmp_path / "w.json"
    as_json.write_text("[[0.5, 0.5], [0.25, 0.75]]")
    assert read_channel(as_json).header is False
    with pytest.raises(InputError, match="header"):
        read_channel(as_json, header=True)
    assert main(["delta", "krr", "-p", "k=3", "--lam", "3", "--n", "9", "--eps", "1", "--header"]) == 2


CELLS = st.sampled_from(
    ("0.5", "1/2", "1", "0", ".25", "75e-2", "a", "b1", "50%", "½", "", "nan", "=1", "y 2", "-1", "+0.5")
)
LINES = st.lists(st.tuples(CELLS, CELLS).map(",".join), min_size=1, max_size=2)


@settings(max_examples=300, deadline=None)
@given(first=LINES)
def test_without_its_first_line_a_file_has_one_input_less(tmp_path_factory, first):
    folder = tmp_path_factory.mktemp("files")
    lines = [*first, "0.25,0.75", "0.4,0.6"]
    try:
        whole = read_channel(written(folder, *lines))
    except InputError:
        return
    rest = read_channel(written(folder, *lines[1:]))
    assert whole.num_inputs == rest.num_inputs + (not whole.header)
    assert not (whole.header and rest.header)


@pytest.mark.parametrize("command", FILE, ids=lambda command: command[0])
@pytest.mark.parametrize("named", [True, False])
def test_answers_about_a_file_say_what_was_read(tmp_path, capsys, command, named):
    file = written(tmp_path, *(["a,b"] if named else []), BODY.rstrip())
    line = [part.format(file) for part in command]
    assert main(line) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"2 inputs, 2 outputs, header: {'yes' if named else 'no'}" in text
    assert main([*line, "--json"]) == 0
    assert f'"header": {"true" if named else "false"}' in capsys.readouterr().out


def test_files_of_rounds_and_of_users_say_what_was_read(tmp_path, capsys):
    file = written(tmp_path, "a,b", BODY.rstrip())
    rounds, unequal = ["epsilon", "--delta", "0.1"], ["epsilon", "--delta", "0.1"]
    for name, table, command in (("r", "rounds", rounds), ("u", "users", unequal)):
        users = "n = 4\nreports = 'fresh'" if name == "r" else "count = 4"
        listed = tmp_path / f"{name}.toml"
        listed.write_text(f"[[{table}]]\nmechanism = 'channel'\nfile = '{file}'\n{users}\n")
        assert main([*command, str(listed)]) == 0
        assert "2 inputs, 2 outputs, header: yes" in " ".join(capsys.readouterr().out.split())
        listed.write_text(f"[[{table}]]\nmechanism = 'channel'\nfile = '{file}'\nheader = false\n{users}\n")
        assert main([*command, str(listed)]) == 2


def test_questions_read_a_file_as_commands_do(tmp_path, capsys):
    """A matrix as CSV or JSON, maybe behind a byte order mark, or a deployment."""
    rows = tmp_path / "w.json"
    rows.write_text("\ufeff[[0.25, 0.75], [0.4, 0.6]]", encoding="utf-8")
    deployed = tmp_path / "d.json"
    deployed.write_text('\ufeff{"group": [{"rows": [["1/4", "3/4"], ["2/5", "3/5"]], "count": 9}]}', encoding="utf-8")
    expected = delta(read_channel(rows), n=9, eps="0.1").bracket
    for file in (written(tmp_path, BODY.rstrip()), written(tmp_path, "a,b", BODY.rstrip()), rows, deployed):
        assert delta(str(file), n=9, eps="0.1").bracket == delta(file, n=9, eps="0.1").bracket == expected
        assert main(["delta", str(file), "--n", "9", "--eps", "0.1", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["upper"] == expected.decimals()["upper"]
    assert main(["check", str(rows)]) == 0
    with pytest.raises(InputError, match="not messages of a survey"):
        delta(written(tmp_path, '# {"kind": "symshuffle messages", "plan": "0"}', "message,count", "0,1"), n=9, eps=1)


def test_paths_are_texts_or_paths(tmp_path):
    file = written(tmp_path, BODY.rstrip())
    assert read_channel(str(file)) == read_channel(file)
    problem = tmp_path / "p.json"
    problem.write_text('{"kind": "mutual-information", "source": ["1/2", "1/2"]}')
    assert read_problem(str(problem)) == read_problem(problem)
    for read in (read_channel, read_problem):
        for path in (3, None, b"x", [], "", "no such file", "a\0b", tmp_path):
            with pytest.raises((InputError, Unsupported)):
                read(path)


def test_the_help_of_header_says_when_a_first_line_has_names(tmp_path, monkeypatch, capsys):
    """Its sentence names what is read: the only line, names, numbers of columns, and two cells 0,1."""
    monkeypatch.chdir(tmp_path)
    said = Header.__metadata__[0].help
    assert "if another line follows and each cell is a name" in said and "two cells 0,1 are refused" in said
    for first, status in (("a,b", 0), ("0,1", 2), ("0,1,2", 0), ("0", 0)):
        cells = first.count(",") + 1
        (tmp_path / "w.csv").write_text("\n".join([first, *[",".join([f"1/{cells}"] * cells)] * 2]))
        assert main(["check", "w.csv"]) == status
        assert ("header: yes" in capsys.readouterr().out) == (status == 0)
    (tmp_path / "w.csv").write_text("1/2,1/2\n1/4,3/4\n")
    assert main(["check", "w.csv"]) == 0 and "header: no" in capsys.readouterr().out
