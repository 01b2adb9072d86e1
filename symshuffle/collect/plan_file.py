"""Reader of the file of a plan: every key has its type, and what follows from other values is compared with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from symshuffle.base.documents import parse_json
from symshuffle.base.errors import InputError
from symshuffle.collect.plan import KIND, Plan, canonical_text, digest

LARGEST_PLAN: Final = 1 << 26
"""Characters of a plan's file, or bytes: labels of 10^6 categories fit in."""


def read_plan(text: str, name: str = "plan") -> Plan:
    """Plan from the text of its file.

    Parameters
    ----------
    text : str
        Content of the file.
    name : str
        How errors call the file.

    Returns
    -------
    Plan
        The plan, with the digest that the file names.

    Raises
    ------
    InputError
        If it is no plan, its digest is not that of its content, or a value is wrong or does not follow from the others.

    Notes
    -----
    The digest shows accidental changes. Whoever edits a plan can compute it again; what is printed about privacy is
    therefore calculated from the mechanism (:meth:`Plan.guarantee`) and never copied from the file.
    """
    expected = "a plan written by `symshuffle collect plan`"
    if len(text) > LARGEST_PLAN:
        raise InputError(name, f"{len(text)} characters", f"{expected}, at most {LARGEST_PLAN}")
    content: Any = parse_json(text, name, "plan")
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise InputError("plan", name, expected)
    if content.get("version") != 1:
        raise InputError(f"{name}: version", content.get("version"), f"1 in {expected}")
    written = content.pop("digest", None)
    if written != digest(content):
        what = f"{digest(content)}, that of its content: the file was changed after it was written"
        raise InputError(f"{name}: digest", written, what)
    try:
        found = _plan_of(content)
    except InputError as error:
        raise InputError(f"{name}: {error.argument}", error.value, error.expected) from None
    _check_written(content, found.content, f"{name}: ")
    return found


def _plan_of(content: Mapping[str, Any]) -> Plan:
    """Plan of the content of a file, without what follows from the other values."""
    for key, (kind, expected) in _KINDS.items():
        if not isinstance(content.get(key), kind):
            raise InputError(key, content.get(key), expected)
    for i, row in enumerate(content["table"]):
        if not isinstance(row, dict) or not isinstance(row.get("parameters"), dict):
            raise InputError(f"table[{i}]", row, "an object with an object parameters")
    return Plan(
        content["mechanism"],
        content["k"],
        content["root"],
        content["parameters"],
        content["n"],
        content["min_users"],
        content["eps"],
        content["delta"],
        content["certified"],
        content["loss"],
        tuple(content["labels"]),
        tuple(content["table"]),
        content.get("rounds", 1),
    )


_KINDS: Final[Mapping[str, tuple[type[Any], str]]] = {
    **dict.fromkeys(("mechanism", "root", "eps", "delta", "loss"), (str, "a text")),
    **dict.fromkeys(("k", "n", "min_users"), (int, "an integer")),
    **dict.fromkeys(("parameters", "certified"), (dict, "an object")),
    **dict.fromkeys(("labels", "table"), (list, "a list")),
}
"""JSON types of the keys of a plan from which the others follow, and their words; ``rounds`` may be left out."""


def _check_written(content: Mapping[str, Any], made: Mapping[str, Any], place: str) -> None:
    """Refuse the first key of a plan's file that is unknown, missing, or not as it follows from the others.

    Values are compared as text: true and 1.0 are no 1, and every node is spelled as it is written.
    """
    for key in [*made, *content]:
        if key not in made:
            raise InputError(f"{place}{key}", content[key], "no such key in a plan")
        value, wanted = content.get(key), made[key]
        if canonical_text(value) == canonical_text(wanted) and key in content:
            continue
        if isinstance(value, dict) and isinstance(wanted, dict):
            _check_written(value, wanted, f"{place}{key}.")
        raise InputError(f"{place}{key}", value, f"{wanted}, which follows from the rest of the plan")
