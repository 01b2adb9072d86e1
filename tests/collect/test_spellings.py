"""Files of values and labels: each row is read as what it says, or refused with its row and column."""

import sys
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import pytest

from symshuffle.base.errors import InputError
from symshuffle.collect.files import read_labels, read_values
from tests.collect.cases import small
from tests.shell import refused, run
from tests.words import words

RANDOMIZE = words("collect randomize plan.json --values values.csv --column answer --out messages.csv")


@pytest.fixture(autouse=True)
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = small("krr", n=9)
    Path("plan.json").write_text(plan.to_json())
    return plan


READ = {  # files, and the categories of their users
    "plain": ("answer\n0\n1\n2\n", [0, 1, 2]),
    "byte order mark": ("\ufeffanswer\n0\n1\n2\n", [0, 1, 2]),
    "other line ends": ("answer\r\n0\r\n1\r\n2\r\n", [0, 1, 2]),
    "no end of the last line": ("answer\n0\n1\n2", [0, 1, 2]),
    "quotation marks": ('"answer"\n"0"\n1\n"2"\n', [0, 1, 2]),
    "another column": ("user,answer\na,0\nb,1\nc,2\n", [0, 1, 2]),
    "a line break in a cell": ('note,answer\n"a\nb",0\nb,1\nc,2\n', [0, 1, 2]),
    "a comma behind": ("answer\n0,\n1,\n2,\n", [0, 1, 2]),
    "no user": ("answer\n", []),
}


@pytest.mark.parametrize("case", READ)
def test_values_that_are_read(case, survey):
    text, users = READ[case]
    Path("values.csv").write_bytes(text.encode())
    assert read_values(Path("values.csv"), survey, "answer").tolist() == users


ODD = ["1.0", "+1", "01", "1_0", "1e0", "\uff11", "\u00bd", " 1", "1 ", "\u00a01", "-1", "4", "", " ", "1;2", "\u22121",
       "nan", "None", "'1'", "1\t", "0x1", "\ufeff1", "TRUE"]  # fmt: skip


@pytest.mark.parametrize("cell", ODD)
def test_a_value_in_another_spelling_is_refused_by_row_and_column(cell, survey, capsys):
    Path("values.csv").write_text(f"user,answer\na,0\nb,{cell}\n")
    assert "values.csv, line 3, column answer = " in refused(capsys, *RANDOMIZE)


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("", "--column"),
        ("0\n1\n2\n", "--column"),  # no header: nothing is dropped
        ("answer,answer\n0,1\n", "--column"),
        ("Answer\n0\n", "--column"),
        (" answer\n0\n", "--column"),
        ("answer;user\n0;a\n", "--column"),
        ("user,answer\na,0\nb\n", "values.csv, line 3"),
        ("user,answer\na,0\n\nb,1\n", "values.csv, line 3"),
        ("user,answer\na,0\nb,x,1\n", "values.csv, line 3"),  # a comma in a cell without quotation marks
        ('answer,note\n0,a\n1,"b\n2,c\n', "--values"),  # a quotation that does not end takes no users with it
        ('answer,note\n0,"a"b\n', "--values"),
    ],
)
def test_files_without_their_form_are_refused(text, argument, survey, capsys):
    Path("values.csv").write_text(text)
    assert refused(capsys, *RANDOMIZE).startswith(f"symshuffle: {argument} = ")
    assert not Path("messages.csv").exists()


def test_a_column_that_may_be_the_first_user_is_refused(survey, capsys):
    Path("values.csv").write_text("0\n1\n2\n0\n")
    assert "--column = 0: expected the name of a column that is no category" in refused(
        capsys, *words("collect randomize plan.json --values values.csv --column 0 --out messages.csv")
    )


@pytest.mark.parametrize("code", ["utf-16", "latin-1"])
def test_other_codes_are_refused(code, survey, capsys):
    Path("values.csv").write_bytes("\u00fcser,answer\na,0\n".encode(code))
    assert "--values = values.csv" in refused(capsys, *RANDOMIZE)


INVISIBLE = [
    *[chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cf"][::7],
    *"\u200b\u200d\u2060\ufeff\u00ad\u202e\u034f\ufe0f\u3164\uffa0\x00\x7f",
]
ALIKE = [("u1", "u1 "), ("u1", " u1"), ("u1", "U1"), ("u1", "u 1"), ("u1", "u\u00a01"), ("u  1", "u 1"),
 ("u\t1", "u 1"), ("u 1", "u  1"), ("u1", "u\uff11"),
         ("a\u0301", "\u00c1"), ("stra\u00dfe", "STRASSE"),
         *(("u1", f"u{char}1") for char in INVISIBLE), ("u1", "u1\u2800"), ("u1", "u\u00b9"), ("fi1", "\ufb011"),
         ("\u01c41", "d\u017e1"), ("\u0345a", "\u0399A"),
         *(("1", other) for other in ("01", "1.0", "+1", "1e0", "1E0", "10e-1", "2/2")),
         *(("1", other) for other in ("\uff11", "\uff10\uff11", "\u0661")),
         ("-1", "\u22121"), ("0.5", "\u00bd"), ("1/2", ".50"), ("0", "-0")]  # fmt: skip


@pytest.mark.parametrize("pair", ALIKE)
def test_identities_that_differ_in_case_or_blanks_only_are_named(pair, survey, capsys):
    Path("values.csv").write_text("user,answer\nx,0\n" + "".join(f"{who},1\n" for who in pair))
    error = refused(capsys, *RANDOMIZE, "--id", "user")
    assert all(ascii(who) in error for who in pair) and "values.csv, line 4, column user" in error and "line 3" in error
    assert not Path("messages.csv").exists()
    assert run(capsys, *RANDOMIZE, "--id", "user", "--exact-ids")[0] == 0


def test_equal_identities_are_refused_and_different_ones_are_read(survey, capsys):
    for ids, row in ((("a", "b", "a"), 3), (("a", "b", " "), 3), (("a", "", "b"), 2), (("a", "\u200b", "b"), 2)):
        Path("values.csv").write_text("user,answer\n" + "".join(f"{who},1\n" for who in ids))
        for more in ((), ("--exact-ids",)):
            assert f"line {row + 1}, column user" in refused(capsys, *RANDOMIZE, "--id", "user", *more)
    Path("values.csv").write_text(
        "user,answer\n" + "".join(f"{who},1\n" for who in ("a1", "a2", "a01", "1a", "1-1", "1", "2"))
    )
    assert run(capsys, *RANDOMIZE, "--id", "user")[0] == 0
    assert "--exact-ids" in refused(capsys, *RANDOMIZE[:-1], "again.csv", "--exact-ids")


def test_more_rows_than_users_are_named(survey, capsys):
    Path("values.csv").write_text("answer\n" + "0\n1\n" * 5)
    status, out, _ = run(capsys, *RANDOMIZE)
    assert status == 0 and "more than the n = 9 users of the plan" in out and "--users 10" in out
    assert "MESSAGES = 10 messages: expected at most n = 9" in refused(
        capsys, *words("collect estimate plan.json messages.csv --out h.csv")
    )


def test_labels_are_lines():
    for text, labels in (
        ("a\nb\n", ("a", "b")),
        ("\ufeffa\r\nb", ("a", "b")),
        ("", ()),
        ("a\u2028b\nc\n", ("a\u2028b", "c")),
        ("a\x0bb\nc\n", ("a\x0bb", "c")),
    ):
        Path("labels.txt").write_bytes(text.encode())
        assert read_labels(Path("labels.txt")) == labels


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="Parquet files need pyarrow")
def test_a_cell_of_two_lines_is_no_two_messages(survey):
    import pyarrow as arrow
    import pyarrow.parquet

    from symshuffle.collect.files import read_messages, write_messages
    from symshuffle.collect.messages import randomized
    from symshuffle.collect.scheme import uniform

    packed = randomized(survey.scheme, read_values_of(survey), uniform())
    write_messages(Path("m.parquet"), survey, packed, "sorted", counts=False)
    table = pyarrow.parquet.read_table("m.parquet")
    changed = arrow.table({"message": ["0\n1", "2"]}).replace_schema_metadata(table.schema.metadata)
    pyarrow.parquet.write_table(changed, "m.parquet")
    with pytest.raises(InputError, match="messages of one line each"):
        read_messages(Path("m.parquet"), survey)


def read_values_of(survey):
    Path("values.csv").write_text("answer\n0\n1\n")
    return read_values(Path("values.csv"), survey, "answer")


def test_a_message_of_two_lines_is_refused(survey):
    with pytest.raises(InputError, match="messages of one line each"):
        survey.estimate(["0\n1", "2"])
