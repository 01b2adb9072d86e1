"""The picture of a comparison: what each mechanism costs in error and in privacy."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from symshuffle.base.choices import Loss
from symshuffle.base.errors import InputError
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.model import Comparison
from symshuffle.design.comparison.row import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: Final = ("pdf", "png", "svg")
_MARKERS: Final = "osD^v<>P"
_NEAR: Final = 0.06
_LETTER: Final = 0.016
"""Shares of an axis: within which two points have one label, and that a letter of a label takes."""


def draw(found: Comparison) -> Figure:
    """Loss against the certified eps and against the local level, whichever differ between rows.

    Points are numbered, the smallest loss first; the names stand beside the picture, so that no two of them overlap.
    """
    from matplotlib.figure import Figure

    points = _points(found)
    levels: list[tuple[str, Callable[[Row], Bracket | None]]] = [
        ("certified eps", lambda row: row.epsilon),
        ("local level eps0", lambda row: row.eps0),
    ]
    # What all have in common is no axis: it is in the title.
    panels = [one for one in levels if len({place[0] for row, _ in points if (place := _place(row, one[1](row)))}) > 1]
    panels = panels or levels[1:]
    size = (2 + 5 * len(panels) + 2, max(4.5, 1 + 0.22 * len(points)))
    figure = Figure(figsize=size, layout="constrained")
    axes: Any = figure.subplots(1, len(panels), squeeze=False, sharey=True)
    for axis, (label, level) in zip(axes[0], panels, strict=True):
        _draw_on(axis, found, points, label, level)
    axes[0][0].set_ylabel(found.match.loss.words if found.match.loss is not Loss.L2 else "risk")
    handles, labels = axes[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=8, frameon=False)
    figure.suptitle(f"k = {found.inputs}, n = {found.users}, {found.match.words}", fontsize=10)
    return figure


def _points(found: Comparison) -> list[tuple[Row, str]]:
    """The rows that have a place, each with the names of all that share it: the same loss, eps and level."""
    shared: dict[tuple[object, ...], tuple[Row, list[str]]] = {}
    for row in found.rows:
        if row.loss is not None:
            place = tuple(
                None if one is None else f"{float(one.upper):.6g}" for one in (row.loss, row.epsilon, row.eps0)
            )
            shared.setdefault(place, (row, []))[1].append(row.cells()["mechanism"])
    return [(row, " = ".join(names)) for row, names in shared.values()]


def _draw_on(axis: Any, found: Comparison, points: list[tuple[Row, str]], label: str, level: Any) -> None:
    places: dict[tuple[float, float], list[str]] = {}
    for number, (row, names) in enumerate(points, start=1):
        place = _place(row, level(row))
        if place is None:
            axis.plot([], [], " ", label=f"{number}  {names}")
            continue
        axis.plot([place[0]], [place[1]], _MARKERS[number % len(_MARKERS)], markersize=6, label=f"{number}  {names}")
        places.setdefault(place, []).append(str(number))
    _number(axis, places)
    uniform = 1 - 1 / found.inputs
    if found.match.loss is Loss.L2 and any(place[1] > uniform / 10 for place in places):
        axis.axhline(uniform, linestyle=":", color="gray", linewidth=1, label="the answer uniform")
    axis.set_yscale("log")
    axis.set_xlabel(label)
    axis.margins(x=0.08, y=0.12)
    axis.locator_params(axis="x", nbins=5)
    axis.grid(alpha=0.3)


def _number(axis: Any, places: dict[tuple[float, float], list[str]]) -> None:
    """Numbers beside the points; those of points that lie close together in one label."""
    if not places:
        return
    across = [x for x, _ in places]
    up = [math.log(y) for _, y in places]
    wide, high = max(across) - min(across) or 1.0, max(up) - min(up) or 1.0
    # A label starts at its point; one that would reach another label becomes part of it.
    labels = sorted((x, math.log(y), numbers) for (x, y), numbers in places.items())
    for _ in places:
        for (i, left), (j, right) in itertools.combinations(enumerate(labels), 2):
            reach = (_NEAR + _LETTER * len(", ".join(left[2]))) * wide
            if right[0] - left[0] < reach and abs(left[1] - right[1]) < _NEAR * high:
                labels[i] = (left[0], left[1], [*left[2], *right[2]])
                del labels[j]
                break
        else:
            break
    for x, y, numbers in labels:
        text = ", ".join(sorted(numbers, key=int))
        axis.annotate(text, (x, math.exp(y)), textcoords="offset points", xytext=(5, 5), fontsize=8)


def _place(row: Row, level: Bracket | None) -> tuple[float, float] | None:
    if row.loss is None or level is None:
        return None
    return float(f"{float(level.upper):.6g}"), float(f"{float(row.loss.upper):.6g}")


def drawn(found: Comparison, suffix: str) -> bytes:
    """Picture of a comparison as the bytes of a file.

    Parameters
    ----------
    found : Comparison
        What :func:`symshuffle.compare` returned.
    suffix : {".png", ".svg", ".pdf"}
        Format of the file.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    InputError
        If the format is another one.
    """
    return picture(draw(found), suffix, dpi=120)


def picture(figure: Figure, suffix: str, *, dpi: int) -> bytes:
    """A figure as the bytes of a file."""
    stream = io.BytesIO()
    figure.savefig(stream, format=check_picture(suffix), dpi=dpi)
    return stream.getvalue()


def check_picture(suffix: str) -> str:
    """The kind of file that a suffix stands for."""
    kind = suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise InputError("suffix", suffix or "no suffix", "a file name that ends in ." + ", .".join(FORMATS))
    return kind
