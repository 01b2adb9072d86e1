"""Files of plans that were written before plans were deployment files: JSON of one table, read and not written."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from symshuffle.accountants.deployment.model import MOST_PERIODS, UNSAID, Deployment, fields_set
from symshuffle.base.choices import Loss, members
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, format_decimal, parse_rational, upper_end
from symshuffle.collect.guarantee import LARGEST_USERS, out_of_plan, rounded_up
from symshuffle.collect.mechanisms import SCHEMES
from symshuffle.collect.plan import SurveyPlan, check_written

KIND: Final = "symshuffle collection plan"
"""Kind and version 1 begin such a file."""

_NOTICE: Final = "a plan of an earlier kind: `collect plan` writes the deployment with further tables (docs: surveys)"

_KINDS: Final[Mapping[str, tuple[type[Any], str]]] = {
    **dict.fromkeys(("mechanism", "root", "eps", "delta", "loss"), (str, "a text")),
    **dict.fromkeys(("k", "n", "min_users"), (int, "an integer")),
    **dict.fromkeys(("parameters", "certified"), (dict, "an object")),
    **dict.fromkeys(("labels", "table"), (list, "a list")),
}
"""JSON types of the keys from which the others follow, and their words; ``rounds`` may be left out."""

_KEYS: Final = frozenset({"epsilon_at_delta", "covering"})

_OLDER_KEYS: Final = frozenset({"delta_at_eps", "rigour", "engine", "meaning"})
"""Further keys of certificates of older versions; nothing that is printed is made from them."""

_FIELDS: Final = frozenset(
    ("min_users", "min_batch_size", "dropout", "colluding", "group", "group_size", "adjacency", "blanket", "memoised")
)
"""Fields of a deployment that such a plan may have, by their names of today and of before."""

_OLD_NAMES: Final = {"min_users": "min_batch_size", "group": "group_size"}


def read_older_plan(content: Mapping[str, Any]) -> SurveyPlan:
    """Plan of the content of a file of the earlier kind, without its digest, which was compared.

    Raises
    ------
    InputError
        If a key is unknown or missing, a value is not written as the planner wrote it or does not follow from the
        others, or a bound on delta is below the one calculated now.
    """
    if content.get("version") != 1:
        raise InputError("version", content.get("version"), "1 in a plan written by `symshuffle collect plan`")
    for key, (kind, expected) in _KINDS.items():
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
        (_NOTICE,),
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
    if certified.keys() not in (_KEYS, _KEYS | _OLDER_KEYS):
        wrong = (certified.keys() ^ _KEYS) - _OLDER_KEYS or _OLDER_KEYS - certified.keys()
        raise InputError("certified", ", ".join(sorted(map(str, wrong))), "the keys " + ", ".join(sorted(_KEYS)))
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
        raise InputError("certified.covering", options, f"min_batch_size = {least_said}, as min_users of the plan")
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
        "kind": KIND,
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
