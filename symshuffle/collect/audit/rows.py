"""Rows of two samples: the messages of each, and what is refused because it may not be what it looks like."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from symshuffle.base.documents import folded, is_name
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import parse_rational
from symshuffle.collect.audit.claims import as_run

Run = tuple[str, ...]


def check_names(first: Sequence[Any], second: Sequence[Any], *samples: Sequence[Run]) -> None:
    """Refuse a first row of names, or a comment, of which nothing is a message of another row.

    Counted as a run, a line of names that both files have would be a message that the samples have in common.
    """
    others = {message for runs in samples for run in runs[1:] for message in run}
    for name, rows, runs in (("first", first, samples[0]), ("second", second, samples[1])):
        named = isinstance(rows[0], str) and (all(map(is_name, runs[0])) or rows[0].lstrip().startswith("#"))
        if named and not others & {*runs[0]}:
            expected = "a message of another row; if these are names of columns, header=True, or else header=False"
            raise InputError(f"{name}[0]", rows[0], expected)


def check_spellings(first: Sequence[Run], second: Sequence[Run]) -> None:
    """Refuse samples without a common message, and a message of both that is written differently in each."""
    seen = [{message for run in runs for message in run} for runs in (first, second)]
    if not seen[0] & seen[1]:
        shown = " and ".join(", ".join(map(repr, sorted(some)[:3])) for some in seen)
        expected = "a message that is in both samples; if both have the same notation, disjoint=True"
        raise InputError("second", shown, expected)
    common = {folded(message) for message in seen[0] & seen[1]}
    alike = {folded(message): message for message in seen[0]}
    for message in sorted(seen[1] - seen[0]):
        key = folded(message)
        if key in alike and key not in common:
            expected = (
                f"the spelling of the first sample, {alike[key]!a}: they differ in case or blanks only; if these "
                "are two messages, disjoint=True"
            )
            raise InputError("second", ascii(message), expected)


def read_row(row: Any, place: str) -> Run:
    """Return the messages of a row: a text is split as CSV, and equal numbers become equal texts.

    To merge messages is to process them, so that no lower bound on eps becomes false.
    """
    try:
        parts = next(csv.reader([row], strict=True)) or [""] if isinstance(row, str) else as_run(row)
    except csv.Error as error:
        raise InputError(place, row, f"a row of a CSV file ({error})") from None
    return tuple(_value(part.strip()) for part in parts)


@lru_cache(maxsize=1 << 12)
def _value(message: str) -> str:
    """Return a number in lowest terms as text, and any other text unchanged."""
    try:
        return str(parse_rational(message, "message"))
    except ValueError:
        return message
