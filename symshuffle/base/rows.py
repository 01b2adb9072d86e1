"""Results as flat rows, for tables: one text, number, truth value or None per name.

``pandas.DataFrame(rows)`` and ``polars.DataFrame(rows)`` take a list of such rows as it is.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any, TypeAlias

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import is_truth_value
from symshuffle.base.results import Bracket, outward

Scalar: TypeAlias = "str | int | float | bool | None"
FlatRow: TypeAlias = "dict[str, Scalar]"


def ends(bracket: Bracket | None, name: str = "") -> FlatRow:
    """Ends of a bracket as doubles, rounded outward, and their logarithms, under a name; None without a bracket."""
    before = f"{name}_" if name else ""
    names = tuple(f"{before}{end}" for end in ("lower", "upper", "log10_lower", "log10_upper"))
    if bracket is None:
        return dict.fromkeys(names)
    decimals = bracket.decimals()
    logs = [float(decimals[f"log10_{end}"]) for end in ("lower", "upper")]
    # One step outward: the decimals are rounded so, and reading them as doubles rounds to the nearest.
    logs = [
        math.nextafter(x, way) if math.isfinite(x) else x for x, way in zip(logs, (-math.inf, math.inf), strict=True)
    ]
    return dict(zip(names, (outward(bracket.lower, up=False), outward(bracket.upper, up=True), *logs), strict=True))


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]], *, head: bool = True) -> str:
    """Rows as lines of a CSV file; a cell that a row does not have is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    if head:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def flat(found: object) -> FlatRow:
    """A result as one row.

    - ``found``: A number or text becomes the column ``value``; a mapping its entries, nested ones with their names
      joined by a point; a result what its ``to_dict()`` says. Lists become JSON.
    """
    if isinstance(found, Bracket) or (not isinstance(found, Mapping) and hasattr(found, "to_dict")):
        found = found.to_dict()
    if not isinstance(found, Mapping):
        return {"value": _cell(found)}
    row: FlatRow = {}
    for name, value in found.items():
        if isinstance(value, Mapping):
            row.update((f"{name}.{inner}", cell) for inner, cell in flat(value).items())
        else:
            row[str(name)] = _cell(value)
    return row


def _cell(value: Any) -> Scalar:
    if value is None or isinstance(value, str):
        return value
    if is_truth_value(value):
        return bool(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, RealNumber):
        return float(value)
    if isinstance(value, Sequence):
        return json.dumps(list(value), default=str)
    raise InputError(
        "result", type(value).__name__, "a number, a text, a mapping of these, or a result of this package"
    )
