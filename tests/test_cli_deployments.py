"""Deployments on the command line: their fields as options, files of groups, and files of earlier kinds."""

import json
import re
from fractions import Fraction

import pytest

from symshuffle import Channel, Deployment, Group, delta, epsilon, randomizer
from symshuffle.accountants.deployment.model import KEYWORDS
from tests.shell import answer, refused, run

GROUPS = """
periods = 2

[[group]]
randomizer = "krr"
parameters = { k = 4, eps0 = 1 }
count = 10_000

[[later_periods]]
[[later_periods.group]]
randomizer = "krr"
parameters = { k = 3, lam = "3/2" }
count = 20_000
"""

OLD_ROUNDS = """
[[rounds]]
mechanism = "krr"
params = { k = 4 }
eps0 = 1
n = 10_000
times = 2
reports = "fresh"

[[rounds]]
mechanism = "krr"
params = { k = 3 }
lam = "3/2"
n = 20_000
reports = "fresh"
"""

OLD_USERS = """
[[users]]
count = "2"
params = { k = 3 }
lam = 2
[[users]]
params = { k = 3 }
lam = "5/2"
"""

ROW = '[[rounds]]\nmechanism = "krr"\nparams = { k = 4 }\neps0 = 1\n'
GROUP = '[[group]]\nrandomizer = "krr"\nparameters = { k = 4, eps0 = 1 }\n'
KRR = ("krr", "-p", "k=4", "--eps0", "1")
WIDE = ("--rtol", "2e-2")


def written(folder, text, name="plan.toml"):
    file = folder / name
    file.write_text(text)
    return str(file)


def test_periods_of_one_mechanism(capsys):
    command = ("epsilon", *KRR, "--n", "10000", "--delta", "1e-6", *WIDE)
    found = answer(capsys, *command, "--periods", "5")
    assert found["rounds"] == 5 and found["inputs"]["periods"] == 5
    assert found["deployment"]["periods"] == 5
    assert found["relative_width"] <= 2e-2
    assert float(found["attained_lower"]) <= float(found["upper"]) < float(found["simpler"]["basic"])
    status, text, _ = run(capsys, *command, "--periods", "5", "--explain")
    assert status == 0
    assert "basic composition" in text and "not covered" in " ".join(text.split())


def test_one_period_is_the_answer_without_periods(capsys):
    command = ("delta", "krr", "-p", "k=4", "--lam", "2", "--n", "50", "--eps", "0.1")
    once = answer(capsys, *command, "--periods", "1")
    assert once["inputs"].pop("periods") == 1
    assert once == answer(capsys, *command)


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (("--colluding", "10%"), {"colluding": "10%"}),
        (("--colluding", "7", "--min-batch-size", "90"), {"colluding": 7, "min_batch_size": 90}),
        (("--dropout", "1/10"), {"dropout": "1/10"}),
        (("--group-size", "2"), {"group_size": 2}),
        (("--pairs", "0-1,1-2"), {"pairs": [(0, 1), (1, 2)]}),
        (("--graph", "0-1"), {"graph": [(0, 1)]}),
        (("--periods", "9", "--memoised"), {"periods": 9, "memoised": True}),
        (("--threshold", "5"), {"threshold": 5}),
        (("--reports", "2"), {"reports": 2}),
        (("--adjacency", "zero-out"), {"adjacency": "zero-out"}),
    ],
)
def test_options_are_the_fields(capsys, options, fields):
    found = answer(capsys, "delta", *KRR, "--n", "100", "--eps", "0.2", *options)
    krr = randomizer("krr").at(k=4, eps0=1)
    expected = delta(krr, n=100, eps="0.2", **fields).bracket
    assert float(found["upper"]) == pytest.approx(float(expected.upper), rel=1e-9)


def test_every_field_has_an_option_or_a_reason(capsys):
    _, shown, _ = run(capsys, "epsilon", "--help")
    text = "".join(shown.split())
    without = {"datasets"}  # two datasets are given in files
    assert [name for name in KEYWORDS if f"--{name.replace('_', '-')}" not in text] == sorted(without)


def test_a_file_of_groups_in_both_formats(capsys, tmp_path):
    told = answer(capsys, "epsilon", written(tmp_path, GROUPS), "--delta", "1e-6", *WIDE)
    assert told["parts"] == [{"rounds": 2, "n": 10000}, {"rounds": 1, "n": 20000}]
    table = {
        "periods": 2,
        "group": [{"randomizer": "krr", "parameters": {"k": 4, "eps0": 1}, "count": 10000}],
        "later_periods": [
            {"group": [{"randomizer": "krr", "parameters": {"k": 3, "lam": "3/2"}, "count": 20000}]},
        ],
    }
    again = answer(capsys, "epsilon", written(tmp_path, json.dumps(table), "plan.json"), "--delta", "1e-6", *WIDE)
    assert again["upper"] == told["upper"]
    first, second = randomizer("krr").at(k=4, eps0=1), randomizer("krr").at(k=3, lam="3/2")
    both = [Deployment(Group(first, 10_000), periods=2), Deployment(Group(second, 20_000))]
    assert float(told["upper"]) == pytest.approx(float(epsilon(both, delta="1e-6", rtol=2e-2)), rel=1e-9)


def test_the_deployment_of_an_answer_is_read_back(capsys, tmp_path):
    first = answer(capsys, "epsilon", written(tmp_path, GROUPS), "--delta", "1e-6", *WIDE)
    file = written(tmp_path, json.dumps(first), "answer.json")
    assert answer(capsys, "epsilon", file, "--delta", "1e-6", *WIDE)["upper"] == first["upper"]


def test_options_change_the_fields_of_a_file(capsys, tmp_path):
    file = written(tmp_path, GROUP + "count = 1000\n[target]\ndelta = '1e-3'\n")
    alone = answer(capsys, "epsilon", file)
    named = answer(capsys, "epsilon", *KRR, "--n", "1000", "--delta", "1e-3")
    assert alone["upper"] == named["upper"]
    changed = answer(capsys, "epsilon", file, "--n", "500", "--colluding", "9", "--delta", "1e-4")
    assert changed["upper"] == answer(capsys, "epsilon", *KRR, "--n", "491", "--delta", "1e-4")["upper"]


def test_a_matrix_is_read_beside_its_file(capsys, tmp_path):
    (tmp_path / "W.csv").write_text("3/4,1/4\n1/4,3/4\n")
    by_path = answer(capsys, "delta", written(tmp_path, "[[group]]\nrandomizer = 'W.csv'\ncount = 3\n"), "--eps", "0")
    rows = "[[group]]\nrows = [['3/4', '1/4'], ['1/4', '3/4']]\ncount = 3\n"
    by_rows = answer(capsys, "delta", written(tmp_path, rows, "rows.toml"), "--eps", "0")
    assert by_path["upper"] == by_rows["upper"]
    assert by_path["inputs"]["groups"][0]["file"] == str(tmp_path / "W.csv")


@pytest.mark.parametrize("folder", ["a", "b (1)"])
def test_an_answer_about_a_matrix_is_read_back_from_any_folder(folder, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "W.csv").write_text("a,b\n3/4,1/4\n1/4,3/4\n")
    (tmp_path / folder / "d.toml").write_text("[[group]]\nrandomizer = 'W.csv'\ncount = 3\n")
    for asked in ((f"{folder}/d.toml",), (f"{folder}/W.csv", "--n", "3")):
        first = answer(capsys, "delta", *asked, "--eps", "1/2")
        (tmp_path / folder / "answer.json").write_text(json.dumps(first))
        again = answer(capsys, "delta", f"{folder}/answer.json", "--eps", "1/2")
        assert (again["upper"], again["deployment"]) == (first["upper"], first["deployment"])
    assert delta(f"{folder}/answer.json", eps="1/2").bracket.decimals()["upper"] == first["upper"]


def test_keys_that_no_answer_has_are_refused_beside_a_deployment(capsys, tmp_path):
    asked = ("--eps", "1", "--n", "200")
    vectors = ("sphere-linear", "-p", "c=1/2", "-p", "d=2")
    for line in (("delta", *KRR), ("renyi", *KRR), ("delta", *vectors), ("epsilon", *KRR, "--periods", "2")):
        level = {"delta": asked, "renyi": ("--order", "2", "--n", "200")}.get(
            line[0], ("--delta", "1e-3", "--n", "200")
        )
        found = answer(capsys, *line, *level)
        if "deployment" in found:
            again = answer(capsys, line[0], written(tmp_path, json.dumps(found), "a.json"), *level)
            assert again["upper"] == found["upper"]
    found = answer(capsys, "delta", *KRR, *asked)
    for key in ("group", "gruop", "min_batch_size"):
        said = refused(capsys, "delta", written(tmp_path, json.dumps({**found, key: []}), "a.json"), *asked)
        assert f": {key} = []: expected no key beside those of an answer" in said


def test_two_spellings_of_the_list_of_groups_are_refused(capsys, tmp_path):
    row = "randomizer = 'krr'\nparameters = { k = 4, eps0 = 1 }\ncount = 20\n"
    both = "".join(f"[[{name}]]\n{row}" for name in ("group", "groups"))
    later = f"[[group]]\n{row}[[later_periods]]\n" + both.replace("[[", "[[later_periods.")
    for text, place in ((both, "groups"), (later, "later_periods[0].groups")):
        said = refused(capsys, "delta", written(tmp_path, text), "--eps", "1")
        assert f"{place} = [" in said
    table = {name: [{"rows": [["1/2", "1/2"]], "count": 3}] for name in ("group", "groups")}
    assert "groups = [" in refused(capsys, "delta", written(tmp_path, json.dumps(table), "p.json"), "--eps", "1")


def test_a_key_of_a_file_is_refused_as_one(capsys, tmp_path):
    file = written(tmp_path, GROUP + "count = 2000\nmin_batch_size = 1400\n")
    asked = ("epsilon", file, "--delta", "1e-6")
    for more, said in (
        (("--n", "1000"), ", line 5: group[0].min_batch_size = 1400: "),
        (("--dropout", "1/10"), ": group[0].min_batch_size, --dropout = 1400, 1/10: "),
        (("--memoised",), ", line 5: group[0].min_batch_size = 1400: "),
    ):
        assert refused(capsys, *asked, *more).startswith(f"symshuffle: {file}{said}")
    assert refused(capsys, *asked, "--min-batch-size", "5000").startswith("symshuffle: --min-batch-size = 5000: ")


def test_a_target_and_a_parameter_are_refused_as_typed(capsys):
    assert refused(capsys, "epsilon", *KRR, "--n", "9", "--delta", "1.5").startswith("symshuffle: --delta = 1.5: ")
    for asked in (("epsilon", "--n", "9", "--delta", "1e-4"), ("law", "--n", "9", "--eps", "1")):
        said = refused(capsys, asked[0], "krr", "-p", "k=20,eps0=3", *asked[1:])
        assert said.strip().endswith("k = 20,eps0=3: expected an integer >= 2")


def test_dummies_are_a_group(capsys, tmp_path):
    dummies = '[[group]]\ndummies = "uniform"\ncount = 2\n'
    rows = "[[group]]\nrows = [['3/4', '1/4'], ['1/4', '3/4']]\ncount = 3\n"
    file = written(tmp_path, rows + dummies)
    found = answer(capsys, "delta", file, "--exp-eps", "3/2", "--arithmetic", "exact")
    W = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    assert (
        Fraction(found["exact"])
        == delta([Group(W, 3), Group.of_dummies(2)], exp_eps="3/2", arithmetic="exact").bracket.exact
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD_ROUNDS, GROUPS),
        (
            OLD_USERS,
            "[[group]]\nrandomizer = 'krr'\nparameters = { k = 3, lam = 2 }\ncount = 2\n"
            "[[group]]\nrandomizer = 'krr'\nparameters = { k = 3, lam = '5/2' }\ncount = 1\n",
        ),
    ],
)
def test_files_of_earlier_kinds_are_read_with_a_notice(capsys, tmp_path, old, new):
    command = ("delta", written(tmp_path, old), "--eps", "0.1", *WIDE, "--json")
    status, out, err = run(capsys, *command)
    assert status == 0 and "an earlier kind" in err
    assert json.loads(out)["upper"] == answer(capsys, "delta", written(tmp_path, new), "--eps", "0.1", *WIDE)["upper"]


def test_a_missing_key_of_an_earlier_kind_prints_what_is_assumed(capsys, tmp_path):
    status, _, err = run(capsys, "delta", written(tmp_path, ROW + "n = 9"), "--eps", "0.1", "--rtol", "0.1")
    assert status == 0
    assert 'rounds[0]: no key `reports`; assumed "fresh"' in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW + 'n = 9\nreports = "reused"', "rounds[0].reports = reused: expected fresh"),
        (ROW + 'n = 9\nparticipation = "fixed-size"', "rounds[0].participation = fixed-size: expected all"),
        (ROW + 'n = 9\nmessages = "linkable"', "rounds[0].messages = linkable: expected unlinkable"),
        (ROW + "n = 9\ntimes = 0", "rounds[0].times = 0: expected an integer from 1"),
        (ROW, "group[0].count is missing: expected a number of users"),
        (ROW + "n = 9\nlam = 3", "rounds[0].lam = 3: expected none where eps0 is given"),
        (ROW + "n = 9\nweight = 3", "line 6 = weight: expected a key of rounds[0]"),
        ("n = 3", "line 1 = n: expected a key of a deployment"),
        ("rounds = [", "TOML"),
        ("[[rounds]]\nn = 3", "rounds[0].mechanism is missing"),
        (2 * "[[users]]\nmechanism = 'oue'\neps0 = 1\nparams = { D = 2 }\n", "probabilities that are not rational"),
        ("[[users]]\nlam = 2\neps0 = 1\nparams = { k = 3 }", "users[0].lam = 2: expected none where eps0 is given"),
        ("[[users]]\nbudget = 2", "line 2 = budget: expected a key of users[0]"),
        ("[[users]]\ncount = 0\nlam = 2\nparams = { k = 3 }", "users[0].count = 0"),
        ("[[users]]\nmechanism = 'krrr'\neps0 = 1", "users[0].mechanism = krrr"),
        (OLD_USERS.replace("k = 3 }\nlam = 2", "k = 4 }\nlam = 2"), "as in group[0]"),
        ("users = 3", "tables [[users]] and no other key"),
        ("[[users", "TOML"),
        (GROUP, "group[0].count is missing: expected a number of users"),
        (GROUP + "count = 0", "group[0].count = 0: expected an integer"),
        (GROUP + "count = 9\ncolluding = 9", "group[0].colluding = 9: expected at most 8"),
        (GROUP + "count = 9\ncoluding = 9", "line 5 = coluding: expected a key of group[0]"),
        (GROUP.replace("k = 4", "k = 1") + "count = 9", "group[0].parameters.k = 1"),
        (GROUP.replace(", eps0 = 1", "") + "count = 9", "given by parameters.eps0 or parameters.lam"),
        ("adjacency = 'replace'\n" + GROUP + "count = 9", "adjacency = replace"),
        ("periods = 0\n" + GROUP + "count = 9", "periods = 0: expected an integer from 1"),
        (
            "memoised = true\nperiods = 9\n" + GROUP + "count = 9\ndropout = '1/9'",
            "dropout = 1/9: expected none with memoised",
        ),
        ("threshold = 0\n" + GROUP + "count = 9", "threshold = 0"),
        ("[target]\nbudget = 1\n" + GROUP + "count = 9", "line 2 = budget: expected a key of target"),
        ("[[group]]\ndummies = 'uniform'\ncount = 9", "at least one group of users"),
        ("[[group]]\nrandomizer = 'no.csv'\ncount = 9", "no.csv: expected a readable file"),
    ],
)
def test_wrong_files_are_refused_in_one_line(capsys, tmp_path, text, message):
    status, out, err = run(capsys, "delta", written(tmp_path, text), "--eps", "0.1")
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]  # a notice may stand before it


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--eps0", "1"), "--eps0 = 1: expected none with the file"),
        (("-p", "k=3"), "-p = k=3: expected none with the file"),
        (("--header",), "--header = True: expected none with the file"),
        (("--no-header",), "--header = False: expected none with the file"),
        (("--lam", ""), "--lam = : expected none with the file"),
        (("--arithmetic", "exact"), "arithmetic exact"),
        (("--direction", "reverse"), "direction = reverse: expected both"),
        (
            ("--group-size", "2"),
            "--group-size = 2: expected 1 with several batches of messages; or ask for --reports 1 and --periods 1",
        ),
    ],
)
def test_what_does_not_go_with_a_file_is_refused(capsys, tmp_path, extra, message):
    assert message in refused(capsys, "epsilon", written(tmp_path, GROUPS), "--delta", "1e-6", *extra)


@pytest.mark.parametrize("command", ["epsilon", "largest-eps0", "smallest-n"])
def test_fewer_than_one_period_is_refused(capsys, command):
    given = {"epsilon": ("--n", "9", "--eps0", "1"), "largest-eps0": ("--n", "9", "--eps", "1")}
    asked = given.get(command, ("--eps", "1", "--eps0", "1"))
    said = refused(capsys, command, "krr", "-p", "k=4", "--delta", "1e-3", *asked, "--periods", "0")
    assert "periods = 0: expected an integer from 1" in said


@pytest.mark.parametrize(
    ("command", "message"),
    [("smallest-n", "n = 10000: expected none"), ("largest-eps0", "its budget is asked for")],
)
def test_what_is_asked_for_is_left_open_by_all_periods(capsys, tmp_path, command, message):
    assert message in refused(capsys, command, written(tmp_path, GROUPS), "--delta", "1e-3", "--eps", "1")


def test_a_budget_is_found_for_groups_without_one(capsys, tmp_path):
    file = written(tmp_path, GROUP.replace(", eps0 = 1", "") + "count = 1000\n")
    target = ("--delta", "1e-6", "--eps", "0.2")
    alone = answer(capsys, "largest-eps0", file, *target)
    assert alone["lower"] == answer(capsys, "largest-eps0", "krr", "-p", "k=4", "--n", "1000", *target)["lower"]


VALUES = {
    "min_batch_size": ("7", 7),
    "dropout": ("0.1", "1/10"),
    "colluding": ("10%", "1/10"),
    "adjacency": ("replace-one", "replace-one"),
    "null": ("0.4,3/5", ["2/5", "3/5"]),
    "blanket": ("largest", "largest"),
    "group_size": ("2", 2),
    "pairs": ("0-1,1-2", [[0, 1], [1, 2]]),
    "graph": ("1-0", [[0, 1]]),
    "reports": ("2", 2),
    "periods": ("1e1", 10),
    "memoised": ("", True),
    "threshold": ("3", 3),
}
"""Of each field that is an option, a text and the value that it is."""
ASKED = ("delta", *KRR, "--n", "20", "--eps", "0.1", *WIDE)


def option(name):
    return [f"--{name.replace('_', '-')}", *filter(None, [VALUES[name][0]])]


def test_every_field_has_a_value_here():
    assert VALUES.keys() == {*KEYWORDS} - {"n", "datasets"}


@pytest.mark.parametrize("name", VALUES)
def test_a_field_is_echoed_as_the_value_that_it_is(name, capsys, tmp_path):
    source = {
        "null": (written(tmp_path, "3/4,1/4\n1/4,3/4\n", "w.csv"),),
        "blanket": ("sphere-linear", "-p", "c=0.3", "--adjacency", "zero-out"),
    }
    asked = ("delta", *source.get(name, KRR), "--n", "20", "--eps", "0.1", *WIDE)
    assert answer(capsys, *asked, *option(name))["inputs"][name] == VALUES[name][1]


def test_no_colluders_are_echoed_as_their_number(capsys):
    assert answer(capsys, *ASKED, "--colluding", "0")["inputs"]["colluding"] == 0


@pytest.mark.parametrize("name", VALUES)
def test_refusals_of_fields_advise_options(name, capsys):
    """Each field beside every other one, and each with a wrong value: no line has a field as Python writes it."""
    python = re.compile(rf"\b\w*[a-z]_[a-z]\w*\b|(?<!-)\b({'|'.join(KEYWORDS)}) = \d|\b\w+='|=True|=False")
    lines = [(*ASKED, *option(name), *option(other)) for other in VALUES if other != name]
    lines += [(*ASKED, *option(name)[:1], *wrong) for wrong in (["-1"], ["x"], ["1e30"], ["0,1"], ["zero-out"])]
    lines += [(question, *KRR, *option(name), *given) for question, given in (
        ("smallest-n", ("--eps", "1", "--delta", "0.1")),
        ("renyi", ("--order", "2", "--n", "9")),
        ("delta", ("--eps", "1", "--n", "9", "--proof", "no/such/folder")),
        ("delta", ("--eps", "1", "--n", "9", "--arithmetic", "exact")),
        ("pld", ("--n", "9", "--out", "no/such/folder")),
    )]  # fmt: skip
    said = [err for status, _, err in (run(capsys, *line) for line in lines) if status == 2]
    assert len(said) > 4
    assert [line for line in said if python.search(line.partition(": expected ")[2] or line)] == []


def test_given_datasets_of_a_file_are_answered_as_in_python(tmp_path, capsys):
    group = '[[group]]\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
    path = written(tmp_path, f"{group}[adjacency]\ndatasets = [[0, 0], [0, 1]]\n")
    found = answer(capsys, "delta", path, "--eps", "0")
    assert found["exact"] == "3/8" and found["attained_by"] == "X0 = (0 x 2), X1 = (0, 1)"
    assert found["exact"] == str(delta(path, eps=0).bracket.exact)
    assert answer(capsys, "epsilon", path, "--delta", "0.1")["upper"] == epsilon(path, delta="0.1").to_dict()["upper"]
    assert "two given datasets" in refused(capsys, "renyi", path, "--order", "2")


@pytest.mark.parametrize("width", ["1e-3", "0.001", "1/1000", " 1/1000 "])
def test_a_width_is_read_in_every_spelling(width, capsys):
    asked = ("delta", *KRR, "--n", "20", "--eps", "0.1", "--rtol")
    assert answer(capsys, *asked, width) == answer(capsys, *asked, "1e-3")
    for wrong in ("2", "0", "x", "nan"):
        assert "--rtol" in refused(capsys, *asked, wrong)


TYPED = (
    (("--pairs", "0,1"), "pairs of different inputs, by their numbers, from 0 to 1000000, as 0-1,1-2"),
    (("--pairs", "a-b,b-c"), "by their numbers, from 0"),
    (("--graph", "0-1,2-2"), "pairs of different inputs"),
    (("--graph", "0-1,1-9"), "inputs from 0 to 3"),
    (("--pairs", "0-1", "--graph", "1-2"), "one of them"),
    (("--pairs", "0-1", "--adjacency", "zero-out"), "none with adjacency zero-out"),
    (("--dropout", "105%"), "a number in [0, 1), as 1/20 or 5%"),
    (("--dropout", "5%%"), "a number in [0, 1)"),
    (("--dropout", "often"), "a number in [0, 1)"),
    (("--dropout", "5%", "--reports", "2"), "none with several reports"),
    (("--dropout", "5%", "--min-batch-size", "1e1"), "one of the two"),
    (("--colluding", "100%"), "a share in [0, 1)"),
    (("--colluding", "97%"), "at most 19 of 20 users"),
    (("--colluding", "1_0"), "a share in [0, 1)"),
)


@pytest.mark.parametrize(("words", "expected"), TYPED, ids=lambda one: " ".join(one) if type(one) is tuple else "")
def test_a_refusal_shows_what_was_typed_and_a_form_that_can_be(words, expected, capsys):
    said = refused(capsys, *ASKED, *words)
    options, values = words[::2], words[1::2]
    shown = [f"{options[0]} = {values[0]}:", f"{', '.join(options)} = {', '.join(values)}:"]
    shown.append(f"{', '.join(options[::-1])} = {', '.join(values[::-1])}:")
    assert any(one in said for one in shown) and expected in said
    advised = re.search(r", as (\S+)$", said)
    if advised:
        assert answer(capsys, *ASKED, words[0], advised[1])


def test_pairs_that_a_channel_does_not_have_are_shown_as_options(capsys):
    laplace = ("delta", "laplace", "--eps0", "1", "--n", "20", "--eps", "0.1", "--pairs", "0-1")
    assert "--pairs = 0-1: expected none with laplace" in refused(capsys, *laplace)


@pytest.mark.parametrize(("name", "share", "same"), [("dropout", "5%", "1/20"), ("colluding", "10%", "1/10")])
def test_shares_are_read_in_per_cent_everywhere(name, share, same, capsys, tmp_path):
    typed, plain = (answer(capsys, *ASKED, f"--{name}", one) for one in (share, same))
    assert typed == plain and typed["inputs"][name] == same
    file = written(tmp_path, f'{GROUP}count = 20\n{name} = "{share}"\n')
    assert answer(capsys, "delta", file, "--eps", "0.1", *WIDE)["upper"] == plain["upper"]
