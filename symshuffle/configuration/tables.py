"""Deployments as tables of TOML or JSON: the content of a file that describes one, and its text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from symshuffle.accountants.deployment.adjacency import Adjacency
from symshuffle.accountants.deployment.group import Group
from symshuffle.accountants.deployment.model import Deployment, field_values
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp
from symshuffle.channels.channel import Channel
from symshuffle.configuration.files import OF_ADJACENCY, OF_DEPLOYMENT, OF_GROUP
from symshuffle.configuration.randomizers import NamedRandomizer, budget_of, description


def deployment_table(
    deployment: Deployment, matrices: Mapping[str, Path] | None = None, place: str = ""
) -> dict[str, Any]:
    """Return the content of a file that says a deployment: JSON-ready, with exact numbers as text.

    - ``matrices``: paths that stand for matrices, by the place of their group (``group[0]``); absolute ones are
      written, which name the same file wherever the content is read.
    - ``place``: what stands before the place of a group.

    Raises
    ------
    InputError
        If a randomizer has no name, as a symbolic mechanism of one's own, or is known in part only.
    """
    found: dict[str, Any] = {}
    for name in OF_DEPLOYMENT:
        value = getattr(deployment, name)
        if value != Deployment.__dataclass_fields__[name].default:
            found[name] = value
    near = _adjacency_table(deployment.adjacency)
    if near:
        found["adjacency"] = near["relation"] if near.keys() == {"relation"} else near
    found["group"] = [
        _group_table(group, (matrices or {}).get(f"{place}group[{i}]")) for i, group in enumerate(deployment.groups)
    ]
    if deployment.later_periods:
        found["later_periods"] = [
            {
                name: value
                for name, value in deployment_table(one, matrices, f"later_periods[{i}].").items()
                if name != "adjacency"
            }
            for i, one in enumerate(deployment.later_periods)
        ]
    return found


def _adjacency_table(adjacency: Adjacency) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in OF_ADJACENCY:
        value = getattr(adjacency, name)
        if value != Adjacency.__dataclass_fields__[name].default:
            found[name] = _exact_row(value) if isinstance(value, Channel) else _json_value(value)
    if adjacency.null is not None:
        found.pop("relation")
    return found


def json_fields(deployment: Deployment) -> dict[str, Any]:
    """Return the fields of a deployment of one group by the keywords of questions, JSON-ready."""
    return {name: _json_value(value) for name, value in field_values(deployment).items()}


def _json_value(value: Any) -> Any:
    """A field as a number, a truth value or a list; exact numbers other than integers and names as text."""
    if isinstance(value, Channel):
        return [str(entry) for entry in value.rows[0]]
    if isinstance(value, tuple):
        return [list(one) for one in value]
    return value if value is None or isinstance(value, int) else str(value)


def _exact_row(channel: Channel) -> list[str]:
    if not channel.exact or channel.rounding is not None:
        raise InputError("null", "rounded", "a distribution of rational numbers, to be written to a file")
    return [str(entry) for entry in channel.rows[0]]


def _group_table(group: Group, matrix: Path | None) -> dict[str, Any]:
    if group.dummies:
        law = group.randomizer
        return {"dummies": law if isinstance(law, str) else _exact_row(law), "count": group.count}
    found: dict[str, Any] = _randomizer_table(group.randomizer, matrix)
    for name in OF_GROUP:
        value = getattr(group, name)
        if value is not None:
            found[name] = _json_value(value)
    return found


def _randomizer_table(run: Any, matrix: Path | None) -> dict[str, Any]:
    if matrix is not None:
        header = {} if run.header is None else {"header": run.header}
        return {"randomizer": str(matrix.absolute()), **header}
    if isinstance(run, Channel):
        if not run.exact or run.rounding is not None:
            raise InputError("randomizer", "a rounded matrix", "a matrix of rational rows, to be written to a file")
        return {"rows": [[str(entry) for entry in row] for row in run.rows]}
    if isinstance(run, NamedRandomizer):  # its budget is asked for
        parameters = dict(run.parameters)
        return {"randomizer": run.name, **({"parameters": parameters} if parameters else {})}
    if callable(run):
        raise InputError("randomizer", "a function", "a mechanism with a name, to be written to a file")
    named = description(run)
    name, lam = named.pop("mechanism"), budget_of(run)
    if lam is not None:
        named.pop("eps0", None)
    name = _LEAF.sub(_assigned, name)
    values = {key: value for key, value in named.items() if value not in ("limit", "all")}
    level = {} if lam is None else {"eps0": str(lam.exponent)} if isinstance(lam, Exp) else {"lam": str(lam)}
    table = {"randomizer": name, **({"parameters": {**values, **level}} if values or level else {})}
    if not _is_told(run, NamedRandomizer(name, values, level.get("eps0"), level.get("lam"))):
        raise InputError(
            "randomizer", name, "a mechanism that its name and parameters determine, to be written to a file"
        )
    return table


def _is_told(run: Any, named: NamedRandomizer) -> bool:
    """Whether a name and parameters tell a randomizer whole: its closed form on file is as good as itself."""
    named = replace(named, parameters={key: str(value) for key, value in named.parameters.items()})
    try:
        if bool(named.quickest() == run):
            return True
        again = named.source()
    except InputError:
        return False
    alike = type(again) is type(run) and description(again) == description(run) and budget_of(again) == budget_of(run)
    return bool(again == run) or (alike and str(getattr(again, "pair", None)) == str(getattr(run, "pair", None)))


_LEAF: Final = re.compile(r"([\w-]+)\(([^()]*)\)")
"""A mechanism in an expression with its parameters."""


def _assigned(leaf: re.Match[str]) -> str:
    """A mechanism with the parameters that have values; open ones, and the budget, are not written."""
    inside = ", ".join(one for one in leaf[2].split(", ") if "=" in one)
    return f"{leaf[1]}({inside})" if inside else leaf[1]


def deployment_text(deployment: Deployment) -> str:
    """Return a deployment as the text of a TOML file, which is read back by ``read_deployment_file``.

    Raises
    ------
    InputError
        As :func:`deployment_table`.
    """
    return table_text(deployment_table(deployment))


def table_text(table: Mapping[str, Any], headed: Sequence[str] = ()) -> str:
    """Return a table as the text of a TOML file.

    - ``headed``: keys of tables that are written with a head of their own, behind all others.
    """
    text = list(_lines({name: value for name, value in table.items() if name not in headed}))
    for name in headed:
        text += ["", f"[{name}]", *_lines(table[name])]
    return "\n".join(text).lstrip("\n") + "\n"


def _lines(table: Mapping[str, Any], head: str = "") -> Iterator[str]:
    """The lines of a table of TOML: values first, then lists of tables."""
    inner: list[tuple[str, Any]] = []
    for name, value in table.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            inner.append((name, value))
        else:
            yield f"{name} = {_value(value)}"
    for name, rows in inner:
        for row in rows:
            yield ""
            yield f"[[{head}{name}]]"
            yield from _lines(row, f"{head}{name}.")


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_value(one)}' for name, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML does not allow this character
