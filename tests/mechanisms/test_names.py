"""Synonyms of mechanisms and sizes mean the same in Python and on the command line; unknown names are refused there."""

import inspect
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from symshuffle import InputError, collect, delta, randomizer, vectors
from symshuffle.base.errors import SymshuffleError
from symshuffle.cli import main
from symshuffle.decompositions.closed_forms import constant_datasets
from symshuffle.mechanisms.names import DIMENSIONS, SIZE_NAMES, SYNONYMS, VECTORS
from symshuffle.mechanisms.registry import EXAMPLES, MECHANISMS
from tests.public import PUBLIC
from tests.shell import answer, refused, run

PAGE = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text(encoding="utf-8")
ASKED = ("--n", "20", "--eps", "1/2")


def words(name, values):
    """A mechanism on the command line; a budget goes with those that have one."""
    open_to = {"lam"} & {parameter.name for parameter in randomizer(name).parameters}
    return [
        name,
        *(word for key, value in values.items() for word in ("-p", f"{key}={value}")),
        *["--lam", "3"] * bool(open_to),
    ]


@pytest.mark.parametrize("synonym", SYNONYMS)
def test_a_synonym_is_its_mechanism(synonym, capsys):
    name = SYNONYMS[synonym]
    assert name in {*MECHANISMS, *VECTORS} and synonym not in {*MECHANISMS, *VECTORS}
    for spelling in (synonym, synonym.upper(), synonym.replace("-", "_")):
        if name in MECHANISMS:
            assert randomizer(spelling) is randomizer(name)
        else:
            with pytest.raises(InputError, match="given by parameters"):
                randomizer(spelling)
    if name in MECHANISMS:
        line = words(name, EXAMPLES[name][-1])
        assert answer(capsys, "delta", synonym, *line[1:], *ASKED) == answer(capsys, "delta", *line, *ASKED)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if {*SIZE_NAMES} & {*EXAMPLES[name][-1]}])
def test_either_name_of_a_size_is_read(name, capsys):
    values = EXAMPLES[name][-1]
    (own,) = {*SIZE_NAMES} & {*values}
    (other,) = {*SIZE_NAMES} - {own}
    renamed = {other if key == own else key: value for key, value in values.items()}
    assert randomizer(name).at(**renamed).values == randomizer(name).at(**values).values
    found = [answer(capsys, "delta", *words(name, given), *ASKED) for given in (values, renamed)]
    assert found[0] == found[1] and own in found[0]["inputs"]
    with pytest.raises(InputError, match=f"^{other} = 3"):
        randomizer(name).at(**values, **{other: 3})


def test_names_are_read_wherever_a_mechanism_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for one, file in (("grr", "a.toml"), ("krr", "b.toml")):
        (tmp_path / file).write_text(f'[[users]]\ncount = 9\nmechanism = "{one}"\nparams = {{ k = 3 }}\nlam = "3/2"\n')
    same = [
        (("epsilon", "a.toml", "--delta", "1/100"), ("epsilon", "b.toml", "--delta", "1/100")),
        *(
            (tuple(line.format("grr", "D").split()), tuple(line.format("krr", "k").split()))
            for line in (
                "delta joint({}({}=3),2) --eps0 1 --n 50 --eps 1/2",
                "decompose {} --eps0 1 -p {}=3",
                "law {}",
                "compare --k 3 --n 100 --budget 1/2 --mechanism {}",
                "audit local --program cat --claim {} -p {}=3 --lam 3 --runs 3",
            )
        ),
    ]
    for first, second in same:
        found = [re.sub("[ab].toml", "", "".join(map(str, run(capsys, *line)))) for line in (first, second)]
        assert found[0] == found[1], first
    plans = []
    for name in ("grr", "krr"):
        assert (
            main(
                [
                    "collect",
                    "plan",
                    "--k",
                    "3",
                    "--n",
                    "100",
                    "--eps",
                    "1",
                    "--delta",
                    "1/100",
                    "--mechanism",
                    name,
                    "--out",
                    f"{name}.toml",
                ]
            )
            == 0
        )
        plans.append(tomllib.loads((tmp_path / f"{name}.toml").read_text()))
    assert plans[0] == plans[1]


def test_dimensions_of_vectors(capsys):
    line = ("delta", "privunit", "-p", "theta=1/10", "--eps0", "1", "--n", "1000", "--eps", "1/2")
    assert len({json.dumps(answer(capsys, *line, "-p", f"{name}=3")) for name in DIMENSIONS}) == 1


def test_unknown_names_are_refused_with_the_nearest(capsys):
    for line, meant in (
        ("delta privunitt", "privunit"),
        ("delta gr", "krr"),
        ("decompose kr", "krr"),
        ("law opt", "oue"),
    ):
        said = refused(capsys, *line.split(), *ASKED[: 4 if line.startswith("delta") else 0])
        assert meant in said.partition("expected")[2]
    assert "did you mean D?" in refused(capsys, "delta", "rappor", "-p", "n=10", "--lam", "3", *ASKED)
    with pytest.raises(InputError, match=r"^n = 10: expected a parameter of rappor: .*did you mean D\?"):
        randomizer("rappor").at(n=10)


def doors():
    for one in PUBLIC.values():
        if hasattr(one, "__wrapped__") and "adjacency" in inspect.signature(one).parameters:
            yield one


def test_unknown_keywords_are_reported_by_the_function_that_was_called():
    found = list(doors())
    assert delta in found and len(found) >= 10
    for door in found:
        with pytest.raises((TypeError, SymshuffleError)) as refusal:
            door(randomizer("krr").at(k=3, lam=2), group_sice=2)
        assert str(refusal.value).startswith(f"{door.__name__}() ") and "group_size" in str(refusal.value)


def test_the_page_lists_the_names():
    rows = re.findall(r"^\| `([\w-]+)` \| ((?:`[\w-]+`(?:, )?)+) \|$", PAGE, flags=re.MULTILINE)
    listed = {other: name for name, others in rows for other in re.findall("`([^`]+)`", others)}
    assert listed == dict(SYNONYMS)


def test_names_are_read_in_claims_calibrations_and_means():
    """Each of these doors reads the name by itself."""
    claims = [collect.named_claim(name, {"k": "3"}, lam=3) for name in ("krr", "GRR")]
    assert claims[0] == claims[1]
    target = {"eps": 1, "delta": "1/10"}
    tuned = [
        vectors.calibrate(name, n=200, dimension=1, gap=None, **target) for name in ("sphere-linear", "SPHERE_LINEAR")
    ]
    assert tuned[0].parameters == tuned[1].parameters
    data, draw = np.full((200, 2), 0.5), np.random.default_rng
    means = [
        vectors.private_mean(data, mechanism=name, fixed={"theta": "0"}, rng=draw(1), **target)
        for name in ("privunit", "Priv_Unit")
    ]
    assert (means[0].estimate == means[1].estimate).all()


@pytest.mark.parametrize(
    ("text", "near"), [("gr", "krr"), ("symetric-unary-encoding", "rappor"), ("local-hashin", "olh")]
)
def test_a_misspelt_synonym_is_answered_with_a_name(text, near):
    with pytest.raises(InputError, match=rf"did you mean .*\b{near}\b"):
        randomizer(text)


def test_datasets_name_the_inputs_that_they_hold():
    for others, held in (("first", "0, 1"), ("second", "0, 1"), ("third", "0, 1, 2")):
        said = constant_datasets(others, 5)
        assert said.endswith(f"inputs named {held}")
        pairs = re.findall(r"= \((\d), (\d) x 4\)", said)
        assert {x for pair in pairs for x in pair} == {*held.split(", ")}
