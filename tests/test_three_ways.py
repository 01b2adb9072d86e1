"""A deployment in Python, from its file and on the command line: equal objects, equal answers."""

import random
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from symshuffle import Deployment, Group, SymshuffleError, delta, randomizer
from symshuffle.mechanisms import Mechanism
from symshuffle.mechanisms.symbolic import Parameter
from tests.shell import answer

NAMED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("krr", {"k": 2, "lam": 3}),
    ("krr", {"k": 3, "eps0": "0.5"}),
    ("krr", {"k": "1,000", "eps0": 1}),
    ("rr", {"lam": "9/2"}),
    ("subset-selection", {"k": 5, "s": 2, "lam": 4}),
    ("half-block", {"k": 4, "lam": 3}),
    ("half-block", {"k": 4, "d": 1, "eps0": 1}),
    ("erasure", {"p": 0.5, "k": 3}),
    ("aug-rr", {"p": "1/2", "k": 3, "lam": 2}),
    ("oue", {"D": 3, "lam": 4}),
    ("olh", {"g": 4, "lam": 3}),
    ("rappor", {"D": 2, "eps0": 1}),
    ("hadamard", {"lam": 4, "D": 4}),
    ("any-ldp", {"eps0": 1}),
    ("joint(krr(k=3),2)", {"eps0": 1}),
)
FIELDS: tuple[dict[str, Any], ...] = (
    {}, {}, {"colluding": 1}, {"dropout": "1/8"}, {"reports": 2}, {"reports": 2, "threshold": 2},
    {"memoised": True, "periods": 3}, {"min_batch_size": 2}, {"periods": 2},
)  # fmt: skip


def spelled(draw: random.Random, name: str, given: dict[str, Any]) -> Any:
    """The randomizer with its values given at once, or one after the other in some order."""
    if name != "any-ldp" and "(" not in name and draw.random() < 0.5:
        made = randomizer(name)
        for key, value in draw.sample(sorted(given.items()), len(given)):
            try:
                made = made.at(**{key: value})
            except SymshuffleError:  # its range depends on one that is open
                return randomizer(name, **given)
        return made
    return randomizer(name, **given)


def command(name: str, given: dict[str, Any], fields: dict[str, Any]) -> list[str]:
    found = ["delta", name, "--n", str(fields["n"]), "--exp-eps", "3/2", "--rtol", "0.01"]
    for key, value in given.items():
        found += [f"--{key}", str(value)] if key in ("eps0", "lam") else ["-p", f"{key}={value}"]
    for key, value in fields.items():
        if key != "n":
            found += [f"--{key.replace('_', '-')}", *([] if value is True else [str(value)])]
    return found


def answered(subject: Any) -> str:
    try:
        return str(delta(subject, exp_eps="3/2", rtol=0.01).bracket)
    except SymshuffleError as told:
        return f"{type(told).__name__}: {told}"


@pytest.mark.parametrize("seed", range(100))
def test_three_ways_have_equal_deployments_and_answers(seed: int, tmp_path: Any, capsys: Any) -> None:
    draw = random.Random(seed)
    name, given = NAMED[seed % len(NAMED)]
    fields = {"n": draw.choice((3, 5, 8)), **draw.choice(FIELDS)}
    one = Deployment(spelled(draw, name, given)).with_(**fields)
    file = tmp_path / "d.toml"
    one.save(file)
    again = Deployment.read(file)
    assert again == one
    assert hash(again) == hash(one)
    assert again.to_toml() == one.to_toml()
    if seed >= 40:  # answers take seconds where batches are composed
        return
    found = answered(one)
    assert answered(again) == answered(file) == found
    if "Error" not in found and "Unsupported" not in found:
        bracket = delta(one, exp_eps="3/2", rtol=0.01).bracket
        shown = answer(capsys, *command(name, given, fields))
        expected = bracket.decimals(10)
        assert shown["arithmetic"] == bracket.arithmetic
        assert shown["engine"] == bracket.engine
        assert float(shown["upper"]) == pytest.approx(float(expected["upper"]), rel=1e-9)


def test_reports_of_a_named_mechanism_are_enumerated_in_python() -> None:
    krr = randomizer("krr", k=2, lam=3)
    assert delta(krr, n=2, reports=2, exp_eps=2).bracket.exact == Fraction(73, 256)
    assert delta(krr, n=2, reports=2, exp_eps=2, arithmetic="exact").bracket.exact == Fraction(73, 256)


@pytest.mark.parametrize(
    ("groups", "eps"),
    [
        ([Group(randomizer("krr", k=5, eps0=1), 900), Group(randomizer("krr", k=5, eps0=3), 100)], "0.15"),
        ([Group(randomizer("krr", k=3, eps0=1), 5), Group.of_dummies(2)], "0.5"),
    ],
)
def test_groups_at_irrational_budgets_are_answered_as_from_a_file(groups: Any, eps: str, tmp_path: Any) -> None:
    Deployment(groups).save(tmp_path / "d.toml")
    found = delta(groups, eps=eps)
    assert 0 < found.bracket.upper < 1
    assert found.bracket == delta(tmp_path / "d.toml", eps=eps).bracket


def test_a_mechanism_of_ones_own_with_a_known_name_stays_itself() -> None:
    lam = sp.Symbol("lam", positive=True)
    rows = [[(lam + 1) / (2 * lam + 2), (lam + 1) / (2 * lam + 2)], [lam / (lam + 1), 1 / (lam + 1)]]
    own = Mechanism.from_matrix("rr", rows, parameters=(Parameter(lam, sp.Integer(1), None, False, "cap"),)).at(lam=3)
    assert Group(own, 9).randomizer is own


def test_a_randomizer_of_a_mechanism_is_that_mechanism() -> None:
    krr = randomizer("krr", k=3, eps0=1)
    assert randomizer(krr) is krr
    assert Group(randomizer("krr", k=3), 9).randomizer == randomizer("krr", k=3)  # its budget is open
