"""Reader of the file of a plan: every key has its type, and what follows from other values is compared with them.

Files that were written before plans were deployment files are JSON of one table; they are read and not written.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from symshuffle.accountants.deployment.model import KEYWORDS, MOST_PERIODS, UNSAID, Deployment, fields_set, named_fields
from symshuffle.base.choices import Loss, members
from symshuffle.base.documents import line_of_key, parse_json, parse_toml, read_text
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, format_decimal, parse_rational, upper_end
from symshuffle.collect.guarantee import LARGEST_USERS, out_of_plan, rounded_up
from symshuffle.collect.mechanisms import SCHEMES, root_of
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
    older = isinstance(content, dict) and content.get("kind") == _KIND
    missing = [] if older else [key for key in TABLES if not isinstance(content, dict) or key not in content]
    if len(missing) == len(TABLES):
        raise InputError("plan", name, expected)
    try:
        return _read_content(content, name, text, older=older)
    except InputError as error:
        raise placed(error, name, text) from None


def placed(error: InputError, name: str, text: str) -> InputError:
    """A refusal of the content of a plan, with the file and the line of the key that it names."""
    place = error.argument.removeprefix("plan: ").removeprefix(f"{name}: ")
    if place == name or place.startswith(f"{name}, line "):
        return error
    if _KIND in text:
        place = place.replace("certificate.", "certified.")
    else:
        place = _TABLE_OF.get(place.split()[0], "") + place
    line = line_of_key(place, text, missing=error.value is None)
    where = name if line is None else f"{name}, line {line}"
    return InputError(f"{where}: {place}", error.value, error.expected)


_TABLE_OF: Final = {
    **dict.fromkeys(("k", "loss", "labels"), "estimator."),
    **dict.fromkeys(("eps", "delta"), "target."),
    "label": "estimator.labels, ",
}
"""Tables of the keys that have the names of fields of a plan."""


def _read_content(content: dict[str, Any], name: str, text: str, *, older: bool) -> SurveyPlan:
    """Plan of the content of a file, which has the digest that it names and nothing that does not follow."""
    for key in () if older else TABLES:
        if not isinstance(content.get(key), dict):
            raise InputError(key, content.get(key), "a table, as in a plan written by `symshuffle collect plan`")
    written = (content if older else content["certificate"]).pop("digest", None)
    if written != digest(content):
        what = f"{digest(content)}, that of its content: the file was changed after it was written"
        raise InputError("digest" if older else "certificate.digest", written, what)
    if not older:
        found = _plan_of(content, name, text)
        check_written(content, found.content, "")
        return found
    found = _read_older_plan(content)
    found.__dict__["digest"] = written  # messages of this plan were written with the old digest
    return found


def read_plan_or_deployment(file: Path, argument: str) -> SurveyPlan | Deployment:
    """Return the plan in a file, or the deployment in one that is no plan; errors as of the two readers."""
    path, text = read_text(file, argument, LARGEST_PLAN)
    content = _content(text, str(path))
    if isinstance(content, dict) and (content.get("kind") == _KIND or "certificate" in content):
        return read_plan(text, str(path))
    return read_deployment_file(path, argument).deployment


def _content(text: str, name: str) -> Any:
    if text.lstrip().startswith("{"):
        return parse_json(text, name, "plan")
    return parse_toml(text, Path(name), "plan")


def _plan_of(content: Mapping[str, Any], file: str, text: str) -> SurveyPlan:
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
    deployment = read_deployment_table(dict(content), Path(file), text, "plan").deployment
    ratio, given = budget_of(deployment.groups[0].randomizer), content["group"][0].get("parameters", {})
    if not isinstance(ratio, Fraction):
        raise InputError("group[0].parameters", given, f"those of {name} with a rational number lam")
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


_KIND: Final = "symshuffle collection plan"
"""Kind and version 1 begin a file of the earlier kind."""

_EARLIER: Final = "a plan of an earlier kind: `collect plan` writes the deployment with further tables (docs: surveys)"

_OLDER_KINDS: Final[Mapping[str, tuple[type[Any], str]]] = {
    **dict.fromkeys(("mechanism", "root", "eps", "delta", "loss"), (str, "a text")),
    **dict.fromkeys(("k", "n", "min_users"), (int, "an integer")),
    **dict.fromkeys(("parameters", "certified"), (dict, "an object")),
    **dict.fromkeys(("labels", "table"), (list, "a list")),
}
"""JSON types of the keys from which the others follow, and their words; ``rounds`` may be left out."""

_CERTIFIED: Final = frozenset({"epsilon_at_delta", "covering"})

_OLDER_KEYS: Final = frozenset({"delta_at_eps", "rigour", "engine", "meaning"})
"""Further keys of certificates of older versions; nothing that is printed is made from them."""

_OLD_NAMES: Final = {"min_users": "min_batch_size", "group": "group_size"}

_FIELDS: Final = {*KEYWORDS, *_OLD_NAMES} - {"n", "null", "periods", "threshold", *named_fields("absent", "survey")}
"""Fields of a deployment that such a plan may have, by their names of today and of before."""


def _read_older_plan(content: Mapping[str, Any]) -> SurveyPlan:
    """Plan of the content of a file of the earlier kind, without its digest, which was compared.

    Raises
    ------
    InputError
        If a key is unknown or missing, a value is not written as the planner wrote it or does not follow from the
        others, or a bound on delta is below the one calculated now.
    """
    if content.get("version") != 1:
        raise InputError("version", content.get("version"), "1 in a plan written by `symshuffle collect plan`")
    for key, (kind, expected) in _OLDER_KINDS.items():
        if not isinstance(content.get(key), kind):
            raise InputError(key, content.get(key), expected)
    _check_table(content["table"])
    certified, n = content["certified"], as_integer(content["n"], "n", 1, LARGEST_USERS)
    covered = _covered(certified, n, as_integer(content["min_users"], "min_users", 1, n))
    level = certified.get("epsilon_at_delta")
    found = SurveyPlan(
        content["mechanism"],
        content["k"],
        content["root"],
        content["parameters"],
        covered.with_(n=n, periods=as_integer(content.get("rounds", 1), "rounds", 1, MOST_PERIODS)),
        content["eps"],
        content["delta"],
        level,
        content["loss"],
        tuple(content["labels"]),
        tuple(content["table"]),
        (_EARLIER,),
    )
    if level is not None and level != rounded_up(found.certified_eps or Fraction(0)):
        raise InputError("certified.epsilon_at_delta", level, "a decimal, as it is written")
    check_written(content, _written(found, content), "")
    if "delta_at_eps" in certified:
        _check_delta(found, certified["delta_at_eps"])
    return found


def _covered(certified: Mapping[str, Any], n: int, least: int) -> Deployment:
    """What a certificate covers, its number of users left open."""
    least_said = None if least == n else least
    if certified == {}:
        return UNSAID.with_(min_batch_size=least_said)
    if certified.keys() not in (_CERTIFIED, _CERTIFIED | _OLDER_KEYS):
        wrong = (certified.keys() ^ _CERTIFIED) - _OLDER_KEYS or _OLDER_KEYS - certified.keys()
        raise InputError("certified", ", ".join(sorted(map(str, wrong))), "the keys " + ", ".join(sorted(_CERTIFIED)))
    for key in certified.keys() - {"covering"}:
        if not isinstance(certified[key], str):
            raise InputError(f"certified.{key}", certified[key], "a text")
    options = certified["covering"]
    if not isinstance(options, dict) or not options.keys() <= _FIELDS:
        raise InputError("certified.covering", options, "fields " + ", ".join(sorted(_FIELDS - _OLD_NAMES.keys())))
    named: dict[str, Any] = {_OLD_NAMES.get(str(name), str(name)): value for name, value in options.items()}
    memoised = named.get("memoised")
    read = UNSAID.with_(**{**named, **({} if memoised is None else {"memoised": memoised == "True"})})
    told = {name: str(value) for name, value in fields_set(read).items()}
    if told != named:
        raise InputError("certified.covering", options, f"{told}, as it is written")
    if read.groups[0].min_batch_size != least_said:
        raise InputError("certified.covering", options, f"min_batch_size = {least}, as min_users of the plan")
    return read


def _check_table(table: list[Any]) -> None:
    """Refuse a row of the mechanisms that were compared that is not written as the planner wrote it."""
    keys = {"mechanism", "parameters", "ratio", *members(Loss), "bits_per_message"}
    for i, row in enumerate(table):
        known = isinstance(row, dict) and row.keys() == keys and isinstance(row["parameters"], dict)
        if not known or row["mechanism"] not in tuple(SCHEMES):
            raise InputError(f"table[{i}]", row, "a mechanism with the keys " + ", ".join(sorted(keys)))
        for name, value in (*row["parameters"].items(), ("bits_per_message", row["bits_per_message"])):
            if type(value) is not int or value < 0:
                raise InputError(f"table[{i}].{name}", value, "an integer of at least 0")
        for name in ("ratio", *members(Loss)):
            text = row[name] if isinstance(row[name], str) else repr(row[name])
            value = parse_rational(text, f"table[{i}].{name}")
            written = f"{float(value):.7g}" if name == "ratio" else format_decimal(value, digits=4, up=True)
            if row[name] != written or value < 0:
                raise InputError(f"table[{i}].{name}", text, "a decimal of at least 0, as it is written")


def _written(found: SurveyPlan, content: Mapping[str, Any]) -> dict[str, Any]:
    """Content of the file as it was written, from the values from which the others follow."""
    made, periods = found.scheme, found.deployment.periods
    return {
        "kind": _KIND,
        "version": 1,
        "mechanism": found.name,
        "k": found.k,
        "root": str(found.root),
        "ratio": str(made.ratio),
        "parameters": dict(found.parameters),
        "n": found.n,
        "min_users": found.min_batch_size,
        "eps": str(found.eps),
        "delta": str(found.delta),
        **({} if periods == 1 else {"rounds": periods}),
        "certified": content["certified"],
        "loss": found.loss,
        "labels": list(found.labels),
        "p": str(made.p),
        "q": str(made.q),
        "bits_per_message": made.bits,
        "expected": {
            kind: format_decimal(upper_end(found.expected(kind)), digits=7, up=True) for kind in members(Loss)
        },
        "table": content["table"],
        "not_covered": out_of_plan(periods),
    }


def _check_delta(found: SurveyPlan, text: str) -> None:
    """Refuse a bound on delta that is not written as the planner wrote it, or is below the one calculated now."""
    value, last = parse_rational(text, "certified.delta_at_eps"), rounded_up(found.delta)
    if text != rounded_up(value) or not 0 <= value <= Fraction(last):
        raise InputError("certified.delta_at_eps", text, f"a decimal from 0 to {last}, as it is written")
    bound = found.bound
    if bound is not None and bound.bracket.lower > value:
        raise InputError("certified.delta_at_eps", text, f"at least {rounded_up(bound.bracket.upper)}")
