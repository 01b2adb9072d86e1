"""Reader of the file of a plan: every key has its type, and what follows from other values is compared with them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from symshuffle.accountants.deployment.model import Deployment
from symshuffle.base.documents import parse_json, parse_toml, read_text
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer
from symshuffle.collect.mechanisms import SCHEMES, root_of
from symshuffle.collect.older_plans import KIND, read_older_plan
from symshuffle.collect.plan import TABLES, SurveyPlan, check_written, digest
from symshuffle.collect.scheme import INTEGERS
from symshuffle.configuration.files import read_deployment_file, read_deployment_table
from symshuffle.configuration.randomizers import budget_of

LARGEST_PLAN: Final = 1 << 26
"""Characters of a plan's file, or bytes: labels of 10^6 categories fit in."""

_KINDS: Final[Mapping[str, Mapping[str, type[Any]]]] = {
    "target": {"eps": str, "delta": str},
    "estimator": {"mechanism": str, "k": int, "loss": str},
    "certificate": {},
}
"""Types of the keys from which the others follow."""


def read_plan(text: str, name: str = "plan") -> SurveyPlan:
    """Plan from the text of its file, in TOML or JSON.

    Parameters
    ----------
    text : str
        Content of the file.
    name : str
        How errors call the file.

    Returns
    -------
    SurveyPlan
        The plan, with the digest that the file names.

    Raises
    ------
    InputError
        If it is no plan, its digest is not that of its content, or a value is wrong or does not follow from the others.

    Notes
    -----
    The digest shows accidental changes. Whoever edits a plan can compute it again; what is printed about privacy is
    therefore calculated from the mechanism (:meth:`SurveyPlan.guarantee`) and never copied from the file.
    """
    expected = "a plan written by `symshuffle collect plan`"
    if len(text) > LARGEST_PLAN:
        raise InputError(name, f"{len(text)} characters", f"{expected}, at most {LARGEST_PLAN}")
    content: Any = _content(text, name)
    older = isinstance(content, dict) and content.get("kind") == KIND
    missing = [] if older else [key for key in TABLES if not isinstance(content, dict) or key not in content]
    if len(missing) == len(TABLES):
        raise InputError("plan", name, expected)
    for key in () if older else TABLES:
        if not isinstance(content.get(key), dict):
            raise InputError(f"{name}: {key}", content.get(key), f"a table, as in {expected}")
    written = (content if older else content["certificate"]).pop("digest", None)
    if written != digest(content):
        what = f"{digest(content)}, that of its content: the file was changed after it was written"
        raise InputError(f"{name}: digest", written, what)
    try:
        found = read_older_plan(content) if older else _plan_of(content, name)
    except InputError as error:
        place = error.argument if error.argument.startswith(name) else f"{name}: {error.argument}"
        raise InputError(place, error.value, error.expected) from None
    if older:
        found.__dict__["digest"] = written  # messages of this plan were written with the old digest
    else:
        check_written(content, found.content, f"{name}: ")
    return found


def read_plan_or_deployment(file: Path, argument: str) -> SurveyPlan | Deployment:
    """Return the plan in a file, or the deployment in one that is no plan; errors as of the two readers."""
    path, text = read_text(file, argument, LARGEST_PLAN)
    content = _content(text, str(path))
    if isinstance(content, dict) and (content.get("kind") == KIND or "certificate" in content):
        return read_plan(text, str(path))
    return read_deployment_file(path, argument).deployment


def _content(text: str, name: str) -> Any:
    if text.lstrip().startswith("{"):
        return parse_json(text, name, "plan")
    return parse_toml(text, Path(name), "plan")


def _plan_of(content: Mapping[str, Any], file: str) -> SurveyPlan:
    """Plan of the content of a file, without what follows from the other values."""
    for table, kinds in _KINDS.items():
        for key, kind in kinds.items():
            if type(content[table].get(key)) is not kind:
                raise InputError(f"{table}.{key}", content[table].get(key), f"{_WORDS[kind]}")
    target, estimator = content["target"], content["estimator"]
    labels = estimator.get("labels", [])
    if not isinstance(labels, list):
        raise InputError("estimator.labels", labels, "a list")
    name = estimator["mechanism"]
    if name not in SCHEMES:
        raise InputError("estimator.mechanism", name, "one of " + ", ".join(SCHEMES))
    deployment = read_deployment_table(dict(content), Path(file), argument="plan").deployment
    ratio = budget_of(deployment.groups[0].randomizer)
    if not isinstance(ratio, Fraction):
        raise InputError("group[0].randomizer", "given", f"{name} with a rational number lam")
    given = content["group"][0].get("parameters", {})
    integers = {one: as_integer(given.get(one), f"group[0].parameters.{one}", 1) for one in INTEGERS.get(name, ())}
    level = content["certificate"].get("epsilon_at_delta")
    return SurveyPlan(
        name,
        estimator["k"],
        root_of(name, ratio),
        integers,
        deployment,
        target["eps"],
        target["delta"],
        level,
        estimator["loss"],
        tuple(labels),
    )


_WORDS: Final = {str: "a text", int: "an integer"}
