"""Any question at every point of a grid of its arguments."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from symshuffle.accountants.deployment.model import named_fields
from symshuffle.accountants.deployment.subjects import Subject
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import parse_rational
from symshuffle.base.rows import FlatRow, ends, flat
from symshuffle.base.sweeps import Table, tabulate

QUESTIONS: Final[Mapping[str, str]] = {
    "delta": "questions.solve",
    "epsilon": "questions.solve",
    "total_variation": "questions.solve",
    "renyi": "renyi.front",
    "profile": "questions.curves",
    "tradeoff": "questions.tradeoff_function",
    "gaussian_limit": "questions.tradeoff_function",
    "smallest_n": "questions.inverses",
    "largest_eps0": "questions.inverses",
    "worst_datasets": "questions.adversary",
}
"""Questions with the modules of this package that define them."""

SEQUENCES: Final = frozenset({*named_fields("read", "sequence"), "type_i"})
"""Arguments whose value is a sequence itself."""


def sweep(
    question: str | Callable[..., object],
    subject: Subject = None,
    *,
    out: Path | str | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int, int], None] | None = None,
    distances: Sequence[Sequence[object]] | None = None,
    **arguments: Any,
) -> Table:
    """Table of the answers to a question at every point of a grid.

    Parameters
    ----------
    question : str or callable
        Name of a question, as ``"epsilon"``; or any function of keyword arguments, without ``subject``, as
        :func:`symshuffle.base.sweeps.tabulate` takes it.
    subject : Deployment, Group, randomizer, or a list of groups or of deployments
        As in :func:`symshuffle.delta`.
    out, executor, progress
        Folder of the table, executor that computes the points, and a function that is told how many are known, as in
        :func:`symshuffle.base.sweeps.tabulate`.
    distances : sequence of sequence of number or text, optional
        Distance of each pair of inputs, a symmetric matrix: an axis ``distance`` with the bound over the pairs of
        inputs at each distance above 0 (metric privacy). No other choice of pairs beside it.
    **arguments
        Arguments of the question by keyword. A list or a range is an axis of the grid; every other value, and the value
        of an argument that is a sequence itself (``type_i``, ``eps`` of a profile, and fields that hold pairs, datasets
        or a distribution), is the same at all points.

    Returns
    -------
    Table
        One row per point, the last axis varying fastest: the arguments, and of an answer ``lower`` and ``upper`` with
        their logarithms, how they are known, and the engine; or the ``reason`` why there is none.

    Raises
    ------
    InputError
        If there is no question of this name, or the grid is empty or larger than 10^6 points.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = sweep("epsilon", randomizer("krr", k=4, eps0=1), n=[100, 10_000], delta="1e-6", rtol=1e-3)
    >>> [(row["n"], round(row["upper"], 3)) for row in found.rows]
    [(100, 0.399), (10000, 0.034)]
    """
    if not isinstance(question, str):
        for name, value in (("subject", subject), ("distances", distances)):
            if value is not None:
                raise InputError(name, value, "none with a function: its arguments are keywords")
        function: Callable[..., object] = question
        sequences: frozenset[str] = frozenset()
    elif question in QUESTIONS:
        for name in arguments.keys() - inspect.signature(_question(question)).parameters - {"distance"}:
            raise InputError(name, arguments[name], f"only arguments of {question}")
        classes = {} if distances is None else pairs_by_distance(distances)
        function = partial(_row, question, subject, classes)
        sequences = SEQUENCES | ({"eps"} if question == "profile" else set())
    else:
        raise InputError("question", question, f"one of {', '.join(QUESTIONS)}")
    if "distance" in arguments:
        raise InputError("distance", arguments["distance"], "distances, a matrix with one row per input")
    grid = {name: _axis(value, whole=name in sequences) for name, value in arguments.items()}
    if distances is not None:
        grid["distance"] = list(pairs_by_distance(distances))
    return tabulate(function, grid, out=out, executor=executor, progress=progress)


def _axis(value: Any, *, whole: bool) -> Sequence[object]:
    """The values of an argument: those of a list, a range or an array; everything else is one value."""
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview | tuple)
    array = hasattr(value, "__array__") and getattr(value, "ndim", 0) > 0
    return list(value) if not whole and (listed or array) else [value]


def pairs_by_distance(distances: Sequence[Sequence[object]]) -> dict[Fraction, list[tuple[int, int]]]:
    """Return the pairs of inputs at each distance above 0, in rising order of the distance.

    Raises
    ------
    InputError
        If the matrix is not square and symmetric with zeros on its diagonal, or an entry is negative.
    """
    rows = [[parse_rational(x, f"distances[{i}][{j}]") for j, x in enumerate(row)] for i, row in enumerate(distances)]
    found: dict[Fraction, list[tuple[int, int]]] = {}
    for i, row in enumerate(rows):
        if len(row) != len(rows):
            raise InputError(f"distances[{i}]", f"{len(row)} entries", f"{len(rows)}, as many as rows")
        for j, distance in enumerate(row):
            if distance < 0 or distance != (rows[j][i] if i < len(rows[j]) else None) or (i == j and distance):
                raise InputError(f"distances[{i}][{j}]", distance, "0 on the diagonal, else at least 0 and symmetric")
            if i < j and distance:
                found.setdefault(distance, []).append((i, j))
    if not found:
        raise InputError("distances", "no distance above 0", "at least one pair of inputs at a distance above 0")
    return {distance: found[distance] for distance in sorted(found)}


def _question(name: str) -> Callable[..., Any]:
    """Return the function of a question."""
    found: Callable[..., Any] = getattr(importlib.import_module(f"symshuffle.accountants.{QUESTIONS[name]}"), name)
    return found


def _row(
    question: str,
    subject: Subject,
    classes: Mapping[Fraction, list[tuple[int, int]]],
    *,
    distance: Fraction | None = None,
    **point: Any,
) -> FlatRow:
    """The answer at a point, as a row."""
    if distance is not None:
        if point.get("pairs") is not None:
            raise InputError("pairs", point["pairs"], "none with distances, which name the pairs")
        point["pairs"] = classes[distance]
    found = _question(question)(subject, **point)
    bracket = getattr(found, "bracket", None)
    if bracket is None:
        return flat(found)
    return {**ends(bracket), "arithmetic": bracket.arithmetic, "engine": bracket.engine}
