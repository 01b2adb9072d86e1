"""Deployments in files: 500 drawn ones are written and read back equal, in TOML and in JSON."""

import json
import random
from fractions import Fraction

import pytest

from symshuffle import Channel, Deployment, Group, InputError, delta, randomizer
from symshuffle.accountants.deployment.adjacency import Adjacency
from symshuffle.accountants.deployment.model import KEYWORDS
from symshuffle.cli import main
from symshuffle.configuration.files import read_deployment_file
from symshuffle.configuration.randomizers import PARAMETERS, NamedRandomizer
from symshuffle.configuration.tables import deployment_table
from symshuffle.mechanisms.registry import EXAMPLES
from tests.shell import refused

W = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
SQUARE = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])

NAMED = (
    ("krr", {"k": "4"}, {"eps0": "1"}),
    ("krr", {"k": "10"}, {"lam": "9/2"}),
    ("rr", {}, {"lam": "3"}),
    ("subset-selection", {"k": "6", "s": "2"}, {"eps0": "1/2"}),
    ("oue", {"D": "5"}, {"eps0": "2"}),
    ("rappor", {"D": "5"}, {"lam": "4"}),
    ("laplace", {}, {"eps0": "1"}),
    ("any-ldp", {}, {"eps0": "3/2"}),
    ("gaussian", {"sigma0": "2"}, {}),
    ("bmg", {"gamma": "1/3", "sigma0": "1/2", "d": "2"}, {}),
    ("joint(krr(k=3),2)", {}, {"eps0": "1"}),
    ("subsample(krr(k=4),1/10)", {}, {"eps0": "1"}),
)


def drawn_randomizer(draw):
    if draw.random() < 0.3:
        return draw.choice((W, SQUARE))
    name, parameters, budget = draw.choice(NAMED[: -2 if draw.random() < 0.8 else None])
    return NamedRandomizer(name, parameters, budget.get("eps0"), budget.get("lam")).quickest()


def group(draw, run=None):
    count = draw.choice((None, 1, 7, 200, 10**6))
    fields = {}
    if count is not None and count > 1:
        kind = draw.randrange(5)
        if kind == 0:
            fields["min_batch_size"] = draw.randint(1, count)
        elif kind == 1:
            fields["dropout"] = Fraction(draw.randint(0, 9), 10)
        elif kind == 2:
            fields["colluding"] = draw.choice(("10%", 1, "1/3"))
    return Group(drawn_randomizer(draw) if run is None else run, count, **fields)


def adjacency(draw):
    fields = draw.choice(
        (
            {},
            {},
            {"relation": "zero-out"},
            {"relation": "replace-one", "group_size": 3},
            {"pairs": [(0, 1)]},
            {"graph": [(0, 1), (1, 2)]},
            {"blanket": "largest"},
            {"null": ["1/3", "2/3"]},
        )
    )
    return Adjacency(**fields)


def drawn(draw, near=None, depth=0):
    near = adjacency(draw) if near is None else near
    groups = [group(draw)]
    plain = near == Adjacency()
    if plain and draw.random() < 0.3:
        groups = [Group(draw.choice((W, SQUARE)), draw.randint(1, 99)) for _ in range(draw.randint(1, 3))]
        if draw.random() < 0.5:
            groups.append(Group.of_dummies(draw.randint(1, 9), draw.choice(("uniform", "blanket", ["1/2", "1/2"]))))
    fields = {"periods": draw.choice((1, 1, 30)), "reports": draw.choice((1, 1, 3))}
    if draw.random() < 0.2:
        fields["threshold"] = draw.randint(1, 99)
    if depth == 0 and draw.random() < 0.2:
        fields["later_periods"] = [drawn(draw, near, 1) for _ in range(draw.randint(1, 2))]
    elif draw.random() < 0.2:
        fields["memoised"] = True
    try:
        return Deployment(tuple(groups), near, **fields)
    except InputError:  # fields that exclude each other
        return drawn(draw, near if depth else None, depth)


def test_drawn_deployments_are_read_back(tmp_path):
    draw = random.Random(46)
    toml, js = tmp_path / "d.toml", tmp_path / "d.json"
    for _ in range(500):
        one = drawn(draw)
        one.save(toml)
        assert Deployment.read(toml) == one, one.to_toml()
        js.write_text(json.dumps(deployment_table(one)))
        assert Deployment.read(js) == one


def test_what_is_no_deployment_is_not_replaced(tmp_path):
    file = tmp_path / "d.toml"
    for text in ("adjacent = 1\n", "x,y\n1,2\n", "[[group]\n"):
        file.write_text(text)
        with pytest.raises(InputError, match="file"):
            Deployment((Group(W, 10),), periods=2).save(file)
        assert file.read_text() == text


def test_what_has_no_name_is_not_written(tmp_path):
    one = Deployment((Group(randomizer("krr").at(k=4), 10),))  # its budget is open
    with pytest.raises(InputError):
        one.to_toml()
    with pytest.raises(InputError):
        Deployment((Group(lambda eps0: W, 10),)).to_toml()
    krr = randomizer("krr").at(k=4, eps0=1)
    written = Deployment((Group(krr, 10),)).to_toml()
    (tmp_path / "krr.toml").write_text(written)
    again = Deployment.read(tmp_path / "krr.toml")
    assert delta(again, eps="0.1", arithmetic="ball").bracket == delta(krr, n=10, eps="0.1", arithmetic="ball").bracket
    rounded = Channel.from_rows([["0.333", "0.667"], ["0.667", "0.333"]])
    assert Deployment((Group(rounded, 10),)).to_toml()


def test_targets_and_matrices_are_kept_beside_the_deployment(tmp_path):
    (tmp_path / "W.csv").write_text("3/4,1/4\n1/4,3/4\n")
    file = tmp_path / "d.toml"
    file.write_text("[[group]]\nrandomizer = 'W.csv'\ncount = 3\n[target]\ndelta = '1e-8'\n")
    found = read_deployment_file(file)
    assert found.target == {"delta": "1e-8"} and found.matrices == (("group[0]", tmp_path / "W.csv"),)
    assert found.deployment == Deployment((Group(W, 3),))


TABLES = """reports = true
[adjacency]
group_size = 1
[[group]]
randomizer = "krr"
parameters = { k = 4, eps0 = 1 }
count = 20
[[group]]
randomizer = "krr"
parameters = { k = 4, eps0 = 2 }
count = 30
[[later_periods]]
periods = 2
[[later_periods.group]]
randomizer = "krr"
parameters = { k = 4, eps0 = 1 }
count = 40
"""


EVERY = {
    **{
        name: dict(small[0]) | ({} if name in ("identity", "constant", "erasure") else {"eps0": 1})
        for name, small in EXAMPLES.items()
    },
    "any-ldp": {"eps0": 1},
    "laplace": {"eps0": 1, "domain": "binary", "cells": 10},
    "bmg": {"gamma": "1/2", "sigma0": 1, "norm": 1, "d": 2},
    "privunit": {"p": "3/4", "theta": "1/10", "d": 3},
    "sphere-linear": {"c": "1/2", "d": 2},
    "clipped-linear": {"clip": "-1/2", "chi": 1, "d": 3},
    "gaussian": {"sigma0": 1, "d": 2},
    "joint(krr(k=3),2)": {"eps0": 1},
}
"""Every named randomizer with a value of every parameter."""


def two_groups(name, first, second, form):
    """A file of two groups of a randomizer with these parameters, and the line of each parameter of the second one."""
    if form == "JSON":
        groups = [{"randomizer": name, "parameters": one, "count": 6} for one in (first, second)]
        text = json.dumps({"group": groups}, indent=1)
        start = text.count("\n", 0, text.rindex('"parameters"')) + 2
        return text, {key: start + i for i, key in enumerate(second)}
    lines, places = [], {}
    for parameters in (first, second):
        values = [f"{key} = {json.dumps(value)}" for key, value in parameters.items()]
        lines += ["[[group]]", f'randomizer = "{name}"', "count = 6"]
        lines += ["[group.parameters]"] if form == "table" else []
        places = {key: len(lines) + 1 + (form != "inline") * i for i, key in enumerate(parameters)}
        inline = [f"parameters = {{ {', '.join(values)} }}"]
        lines += {"inline": inline, "dotted": [f"parameters.{value}" for value in values], "table": values}[form]
    return "\n".join(lines), places


def test_every_named_randomizer_is_here():
    assert {*EXAMPLES, *PARAMETERS, "laplace", "any-ldp"} == EVERY.keys() - {"joint(krr(k=3),2)"}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("form", ["inline", "dotted", "table", "JSON"])
def test_a_wrong_parameter_is_refused_by_its_key_and_its_line(name, form, tmp_path):
    right = EVERY[name]
    file = tmp_path / f"plan.{'json' if form == 'JSON' else 'toml'}"
    for key in (*right, *("lam" for budget in ("eps0",) if budget in right)):
        wrong = {**{other: value for other, value in right.items() if (key, other) != ("lam", "eps0")}, key: "x"}
        text, places = two_groups(name, right, wrong, form)
        file.write_text(text)
        with pytest.raises(InputError) as refusal:
            read_deployment_file(file)
        assert refusal.value.argument == f"{file}, line {places[key]}: group[1].parameters.{key}"
        assert refusal.value.value == "x"


@pytest.mark.parametrize(("form", "line"), [("inline", 8), ("dotted", 9), ("table", 10), ("JSON", 13)])
def test_a_missing_parameter_is_refused_at_its_table(form, line, tmp_path):
    file = tmp_path / f"plan.{'json' if form == 'JSON' else 'toml'}"
    file.write_text(two_groups("krr", {"k": 3, "eps0": 1}, {"eps0": 1}, form)[0])
    with pytest.raises(InputError, match=rf"line {line}: group\[1\].parameters.k is missing: expected an integer >= 2"):
        read_deployment_file(file)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", "", "line 1: reports = true: expected an integer from 1"),
        ("group_size = 1", 'group_size = "x"', "line 3: adjacency.group_size = x: expected an integer"),
        ("count = 20", "count = -20", "line 7: group[0].count = -20: expected an integer"),
        ("count = 30", "count = false", "line 11: group[1].count = false: expected an integer"),
        ("eps0 = 2", 'eps0 = "x"', "line 10: group[1].parameters.eps0 = x: expected"),
        ("periods = 2", "periods = 0", "line 13: later_periods[0].periods = 0: expected"),
        ("count = 40", "count = [1]", "line 17: later_periods[0].group[0].count = [1]: expected an integer"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(before, after, said, tmp_path):
    right = TABLES.replace("reports = true", "reports = 1")
    (tmp_path / "plan.toml").write_text(right.replace(before, after) if before else TABLES)
    with pytest.raises(InputError) as refusal:
        Deployment.read(tmp_path / "plan.toml")
    assert said in str(refusal.value)


def test_a_wrong_value_in_json_has_a_line(tmp_path):
    row = '{"randomizer": "krr", "parameters": {"k": 4, "eps0": 1},\n"count": 0}'
    for rows, said in ((row, "line 3: group[0].count = 0"), (f"{row},\n{row}", "line 3: group[0].count = 0")):
        (tmp_path / "plan.json").write_text(f'{{"group": [\n{rows}]}}')
        with pytest.raises(InputError) as refusal:
            Deployment.read(tmp_path / "plan.json")
        assert said in str(refusal.value)


def test_reports_kept_in_later_periods_leave_the_first_one_fresh(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.csv").write_text("1/2,1/2\n1/4,3/4\n")
    one = 'randomizer = "w.csv"\ncount = 3\n'
    (tmp_path / "d.toml").write_text(
        f"[[group]]\n{one}[[later_periods]]\nperiods = 5\nmemoised = true\n[[later_periods.group]]\n{one}"
    )
    assert main(["delta", "d.toml", "--eps", "1/2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "fresh randomness" in shown and "sent in each of 5 periods" in shown and shown.count("w.csv: 2 inputs") == 1
    (tmp_path / "e.toml").write_text(f"periods = 5\nmemoised = true\n[[group]]\n{one}")
    assert main(["delta", "e.toml", "--eps", "1/2"]) == 0
    assert "fresh randomness" not in capsys.readouterr().out


KRR = '[[group]]\nrandomizer = "krr"\nparameters = { k = 3, eps0 = 1 }\n'
COUNTED = f"{KRR}count = 100\n"
WRONG_FIELDS = {  # what is wrong where the randomizer is known, the place, and the option
    "adjacency": (f'[adjacency]\nrelation = "all"\n{COUNTED}', "line 2: adjacency.relation", "all"),
    "null": (f"[adjacency]\nnull = [0.3, 0.3, 0.4]\n{COUNTED}", "line 2: adjacency.null", "0.3,0.3,0.4"),
    "blanket": (f'[adjacency]\nblanket = "all"\n{COUNTED}', "line 2: adjacency.blanket", "all"),
    "group_size": (f"[adjacency]\ngroup_size = 101\n{COUNTED}", "line 2: adjacency.group_size", "101"),
    "pairs": (f"[adjacency]\npairs = [[0, 3]]\n{COUNTED}", "line 2: adjacency.pairs", "0-3"),
    "graph": (f"[adjacency]\ngraph = [[0, 3]]\n{COUNTED}", "line 2: adjacency.graph", "0-3"),
    "datasets": (f"[adjacency]\ndatasets = [[0, 1], [0, 3]]\n{KRR}", "line 2: adjacency.datasets", None),
    "n": (f"{KRR}count = 0\n", "line 4: group[0].count", "0"),
    "min_batch_size": (f"{COUNTED}min_batch_size = 101\n", "line 5: group[0].min_batch_size", "101"),
    "dropout": (f"{COUNTED}dropout = 2\n", "line 5: group[0].dropout", "2"),
    "colluding": (f"{COUNTED}colluding = 100\n", "line 5: group[0].colluding", "100"),
    "reports": (f"reports = 0\n{COUNTED}", "line 1: reports", "0"),
    "periods": (f"periods = 0\n{COUNTED}", "line 1: periods", "0"),
    "memoised": (f'memoised = "no"\n{COUNTED}', "line 1: memoised", None),
    "threshold": (f"threshold = 0\n{COUNTED}", "line 1: threshold", "0"),
}


def test_every_field_has_a_wrong_value():
    assert set(WRONG_FIELDS) == set(KEYWORDS)


@pytest.mark.parametrize("name", WRONG_FIELDS)
def test_a_wrong_field_is_named_where_it_stands(name, tmp_path, capsys):
    """In the file by its key and line, as an option by the option."""
    text, place, value = WRONG_FIELDS[name]
    file = tmp_path / "d.toml"
    file.write_text(text)
    for command in (("delta", "--eps", "0.3"), ("epsilon", "--delta", "0.1")):
        assert refused(capsys, command[0], file, *command[1:]).startswith(f"symshuffle: {file}, {place} = ")
    if value is not None:
        file.write_text(COUNTED)
        option = f"--{name.replace('_', '-')}"
        assert refused(capsys, "delta", file, "--eps", "0.3", option, value).startswith(f"symshuffle: {option} = ")


def test_later_periods_have_no_adjacency_of_their_own(tmp_path, capsys):
    group = 'randomizer = "krr"\nparameters = { k = 3, lam = 3 }\ncount = 10\n'
    file = tmp_path / "periods.toml"
    file.write_text(
        f'adjacency = "zero-out"\n[[group]]\n{group}[[later_periods]]\nadjacency = "replace-one"\n'
        f"[[later_periods.group]]\n{group}"
    )
    with pytest.raises(InputError, match="adjacency: expected a key of later_periods"):
        Deployment.read(file)
