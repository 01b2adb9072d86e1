"""Plans: rational parameters, the certificate at exactly these, and what their files refuse."""

import json
from dataclasses import replace
from fractions import Fraction as F

import pytest

from symshuffle import Deployment, Exp, InputError, Unsupported, delta, epsilon, randomizer
from symshuffle.accountants.deployment.model import UNSAID
from symshuffle.collect import plan_survey, read_plan
from symshuffle.collect.mechanisms import SCHEMES

SMALL = {"n": 1000, "eps": 1, "delta": "1e-6"}
REGISTERED = {
    "krr": lambda plan: randomizer("krr").at(k=plan.k, lam=plan.root),
    "rappor": lambda plan: randomizer("rappor").at(D=plan.k, lam=plan.root**2),
    "oue": lambda plan: randomizer("oue").at(D=plan.k, lam=plan.root),
    "hadamard": lambda plan: randomizer("hadamard").at(D=8, lam=plan.root),
}


@pytest.mark.parametrize("name", REGISTERED)
def test_plan_agrees_with_epsilon_and_is_rounded_little(name):
    plan = plan_survey(5, mechanism=name, **SMALL)
    at = REGISTERED[name](plan)
    found = epsilon(at, n=1000, delta="1e-6").bracket
    assert float(found.upper) == pytest.approx(float(plan.certified_eps), rel=1e-6)
    assert delta(at, n=1000, exp_eps=Exp(F(1)), arithmetic="ball").bracket.upper <= F(1, 10**6)
    assert found.lower <= 1
    # A ratio larger by twice what is rounded off, or a root by that, is not private enough.
    beyond = plan.__class__(**{**vars_of(plan), "root": plan.root * (1 + F(3, 10**6))})
    assert delta(REGISTERED[name](beyond), n=1000, exp_eps=Exp(F(1))).bracket.lower > F(1, 10**6)


def vars_of(plan):
    return {name: getattr(plan, name) for name in plan.__dataclass_fields__}


@pytest.mark.parametrize("name", ["blh", "olh"])
def test_local_hashing_is_accounted_for_with_its_family(name):
    plan = plan_survey(3, n=50, eps=1, delta="1e-3", mechanism=name)
    g = plan.scheme.g
    rows = plan.scheme.mechanism().channel().rows
    assert len(rows) == g**plan.scheme.length
    for first, second in ((0, 1), (1, 2)):
        agree = sum(a for a, b in zip(rows[first], rows[second], strict=True) if a == b)
        apart = F(g - 1, g) * (plan.root + 1) / (plan.root + g - 1)  # values differ, and the message is one of the two
        assert 1 - agree == apart
    assert delta(plan.scheme.mechanism(), n=50, exp_eps=Exp(F(1))).bracket.upper <= F(1, 1000)


def test_the_best_mechanism_is_chosen_and_the_rest_shown():
    plan = plan_survey(4, loss="max", **SMALL)
    losses = [float(row["max"]) for row in plan.table]
    assert losses == sorted(losses)
    assert {row["mechanism"] for row in plan.table} == {
        "krr", "subset-selection", "rappor", "oue", "blh", "olh", "hadamard",
    }  # fmt: skip
    assert plan.table[0]["mechanism"] == plan.name
    assert float(plan.expected("max").upper if hasattr(plan.expected("max"), "upper") else plan.expected("max")) < 1


def test_expected_losses_are_those_of_the_support_count():
    plan = plan_survey(5, mechanism="krr", **SMALL)
    p, q = plan.root / (plan.root + 4), 1 / (plan.root + 4)
    own, absent = p * (1 - p) / (p - q) ** 2, q * (1 - q) / (p - q) ** 2
    assert plan.expected("l2") == (own + 4 * absent) / 1000
    assert plan.expected("max") == max(own, absent) / 1000
    assert plan.expected("absent") == absent / 1000


def test_privacy_is_certified_at_the_honest_users():
    fewer = plan_survey(5, mechanism="krr", min_batch_size=500, **SMALL)
    alone = plan_survey(5, mechanism="krr", n=500, eps=1, delta="1e-6")
    assert fewer.root == alone.root < plan_survey(5, mechanism="krr", **SMALL).root
    assert fewer.n == 1000 and fewer.min_batch_size == 500


def test_a_group_is_covered():
    two = plan_survey(5, mechanism="krr", group_size=2, **SMALL)
    assert two.root < plan_survey(5, mechanism="krr", **SMALL).root
    assert two.content["adjacency"] == {"group_size": 2}
    assert delta(REGISTERED["krr"](two), n=1000, exp_eps=Exp(F(1)), group_size=2).bracket.upper <= F(1, 10**6)


def test_a_file_is_read_back_and_not_edited_by_hand():
    plan = plan_survey(3, mechanism="krr", labels=("yes", "no", "don't know"), **SMALL)
    assert read_plan(plan.to_json()) == plan and read_plan(plan.to_json()).digest == plan.digest
    content = json.loads(plan.to_json())
    for key, value in (
        ("periods", 2), ("group", []), ("target", {"eps": "2", "delta": "1e-6"}), ("estimator", {}), ("extra", 1),
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"plan, line 1: certificate\.digest = "):
            read_plan(json.dumps(content | {key: value}))
    for edited in (plan.to_toml().replace("1000", "2000", 1), plan.to_toml().replace('"no"', '"maybe"')):
        assert edited != plan.to_toml()
        with pytest.raises(InputError, match=r"plan, line \d+: certificate\.digest = "):
            read_plan(edited)
    for key in content:
        with pytest.raises(InputError):
            read_plan(json.dumps({name: value for name, value in content.items() if name != key}))
    for text in ("", "{}", "[1]", plan.to_json()[:-20], plan.deployment.to_toml()):
        with pytest.raises(InputError, match=r"^plan = plan: expected"):
            read_plan(text)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_file_of_a_plan_is_that_of_its_deployment(name, tmp_path):
    """Every question takes the file, in TOML and in JSON, and answers as for the mechanism that runs."""
    plan = plan_survey(3, n=60, eps=1, delta="1e-2", mechanism=name, colluding=3, min_batch_size=50, threshold=2)
    for file in (tmp_path / "plan.toml", tmp_path / "plan.json"):
        file.write_text(plan.text(file))
        assert Deployment.read(file) == plan.deployment
        assert read_plan(plan.text(file)) == plan
        found = delta(file, eps=1).bracket
        assert found == delta(plan.scheme.source(), n=60, colluding=3, min_batch_size=50, eps=1).bracket
        assert found.upper <= plan.delta < delta(file, eps=1, colluding=20).bracket.upper
    again = epsilon(tmp_path / "plan.toml", delta=plan.delta).bracket
    assert again.lower <= plan.certified_eps <= 1 and plan.certified_eps - again.upper < F(1, 10**5)


@pytest.mark.parametrize(
    "given",
    [{"periods": 3}, {"periods": 30, "memoised": True}, {"dropout": "1/10"}, {"group_size": 2}, {"threshold": 3},
     {"adjacency": "zero-out"}, {"labels": ("a\x7fb", 'x"y', "\u00e4\n\tz")}],
)  # fmt: skip
def test_every_field_of_a_survey_is_kept_in_its_file(given):
    plan = plan_survey(3, n=40, eps=2, delta="1/10", mechanism="krr", **given)
    for text in (plan.to_toml(), plan.to_json()):
        again = read_plan(text)
        assert again == plan and again.digest == plan.digest and again.lines == plan.lines
    for name, value in given.items():
        if name != "labels":
            assert name in plan.to_toml() and UNSAID.with_(**{name: value}).adjacency == plan.deployment.adjacency


@pytest.mark.parametrize("name", ["reports", "pairs"])
def test_fields_that_no_survey_has_are_refused_by_name(name):
    value = {"reports": 2, "pairs": [(0, 1)]}[name]
    with pytest.raises(InputError, match=f"{name} = .*none in a survey"):
        plan_survey(3, mechanism="krr", **{name: value}, **SMALL)
    plan = plan_survey(3, mechanism="krr", **SMALL)
    with pytest.raises(InputError, match=f"{name} = .*none in a survey"):
        replace(plan, deployment=plan.deployment.with_(**{name: value}))


@pytest.mark.parametrize(
    "given, message",
    [
        ({"eps": 0}, r"eps = 0: expected a number in \(0, 64\]"),
        ({"delta": 1}, r"delta = 1: expected a number in \(0, 1\)"),
        ({"mechanism": "half-block"}, "mechanism = half-block: expected one of krr, subset-selection"),
        ({"min_batch_size": 1001}, "min_batch_size = 1001: expected an integer from 1 to 1000"),
        ({"labels": ("a", "b")}, "labels = 2 labels: expected k = 3"),
        ({"labels": ("a", "b", "a")}, "label 3 = a: expected a label that no other category has"),
        ({"labels": ("a", "b", " ")}, "label 3 = ' ': expected a text"),
    ],
)
def test_wrong_input_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        plan_survey(**({"k": 3, "mechanism": "krr"} | SMALL | given))


def test_a_guarantee_that_every_level_meets_has_no_plan():
    with pytest.raises(Unsupported, match=r"no plan for eps = 64, delta = 1/2"):
        plan_survey(3, n=1000, eps=64, delta="1/2", mechanism="krr")
