"""The picture of a comparison: what each mechanism costs in risk and in privacy."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

from symshuffle.base.errors import InputError
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.model import Comparison, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: Final = ("pdf", "png", "svg")


def draw(found: Comparison) -> Figure:
    """Risk against the certified eps (where one was asked for) and against the local level, with the answer uniform."""
    from matplotlib.figure import Figure

    central = any(row.epsilon is not None and row.risk is not None for row in found.rows)
    figure = Figure(figsize=(11 if central else 6, 4.5), layout="constrained")
    axes: Any = figure.subplots(1, 2 if central else 1, squeeze=False, sharey=True)
    if central:
        _draw_on(axes[0][0], found, "certified eps", lambda row: row.epsilon)
    _draw_on(axes[0][-1], found, "local level eps0", lambda row: row.eps0)
    axes[0][0].set_ylabel("risk")
    figure.suptitle(f"k = {found.inputs}, n = {found.users}, {found.match.words}", fontsize=10)
    return figure


def _draw_on(axis: Any, found: Comparison, label: str, level: Any) -> None:
    places: dict[tuple[float, float], list[str]] = {}
    for row in found.rows:
        place = _place(row, level(row))
        if place is not None:
            places.setdefault(place, []).append(row.name)
    for (x, y), at in places.items():
        axis.scatter([x], [y], s=25)
        axis.annotate(", ".join(at), (x, y), textcoords="offset points", xytext=(4, 4), fontsize=8)
    axis.axhline(1 - 1 / found.inputs, linestyle=":", color="gray", linewidth=1)
    axis.set_yscale("log")
    axis.set_xlabel(label)
    axis.margins(x=0.15)


def _place(row: Row, level: Bracket | None) -> tuple[float, float] | None:
    if row.risk is None or level is None:
        return None
    return float(f"{float(level.upper):.6g}"), float(f"{float(row.risk.upper):.6g}")


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
    kind = check_picture(suffix)
    stream = io.BytesIO()
    draw(found).savefig(stream, format=kind)
    return stream.getvalue()


def check_picture(suffix: str) -> str:
    """The kind of file that a suffix stands for.

    Raises
    ------
    InputError
        If it is none that can be written.
    """
    kind = suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise InputError("--plot", suffix or "no suffix", "a file name that ends in ." + ", .".join(FORMATS))
    return kind
