"""Pictures as data: panels of curves, written as numbers and drawn from the same numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, final

from symshuffle.base.artifacts import write_atomically

if TYPE_CHECKING:
    from matplotlib.artist import Artist

Points = tuple[tuple[float, float], ...]
Scale = Literal["linear", "log"]
Dash = str | tuple[float, tuple[float, ...]]


@final
@dataclass(frozen=True, slots=True)
class Look:
    """How a curve is drawn; two looks differ in more than colour."""

    colour: str
    dash: Dash = "-"
    marker: str = ""
    width: float = 1.4


# Okabe and Ito's palette, told apart by colour-blind readers; yellow is left out, which white paper swallows.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"

SERIES: Final = (
    Look(BLUE),
    Look(VERMILION, (0, (6, 2))),
    Look(GREEN, "-."),
    Look(ORANGE, marker="o"),
    Look(SKY, (0, (3, 1)), "s"),
    Look(PURPLE, marker="^"),
    Look(BLACK, ":"),
)
"""Looks of like curves, in the order of the legend."""


_LETTERS_PER_INCH: Final = 12
_HANDLE: Final = 7
"""How many letters of a legend fit, and how many a line and its margins take."""


@final
@dataclass(frozen=True, slots=True)
class Series:
    """One curve of a panel, not clipped."""

    label: str
    points: Points
    look: Look


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """Curves on common axes.

    Parameters
    ----------
    title : str
        Setting of the panel.
    axes : tuple of str
        Names of x and y.
    curves : tuple of Series
        What is drawn.
    scales : tuple of {"linear", "log"}
        Of x and of y.
    shown : tuple of float or None
        Range of y in the picture; the numbers are written whole.
    """

    title: str
    axes: tuple[str, str]
    curves: tuple[Series, ...]
    scales: tuple[Scale, Scale] = ("linear", "log")
    shown: tuple[float, float] | None = None


def write(name: str, panels: Sequence[Panel], remark: str, directory: Path, *, columns: int = 3) -> list[Path]:
    """The numbers as CSV, with the setting as a comment, and the picture beside them."""
    text = io.StringIO()
    text.write(f"# {name}: {remark}\n")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["panel", "curve", "x name", "x", "y name", "y"])
    for panel in panels:
        for curve in panel.curves:
            rows.writerows(
                (panel.title, curve.label, panel.axes[0], f"{x:.10g}", panel.axes[1], f"{y:.10g}")
                for x, y in curve.points
            )
    table, picture = directory / f"{name}.csv", directory / f"{name}.png"
    write_atomically(table, text.getvalue())
    write_atomically(picture, drawn(panels, columns))
    return [table, picture]


def drawn(panels: Sequence[Panel], columns: int) -> bytes:
    """The panels as PNG, row by row, with one legend for all of them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    columns = min(columns, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4.0 * columns + 0.4, 2.9 * lines + 0.7), layout="constrained")
    FigureCanvasAgg(figure)
    known: dict[str, Artist] = {}
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(lines, columns, place)
        axes.set_xscale(panel.scales[0])
        axes.set_yscale(panel.scales[1])
        for curve in panel.curves:
            look = curve.look
            (line,) = axes.plot(
                *zip(*curve.points, strict=True),
                color=look.colour,
                linestyle=look.dash,
                marker=look.marker,
                markersize=3.5,
                linewidth=look.width,
            )
            known.setdefault(curve.label, line)
        axes.set_title(panel.title, fontsize="medium")
        axes.set(xlabel=panel.axes[0], ylabel=panel.axes[1], ylim=panel.shown)
        axes.grid(alpha=0.25)
        if panel.scales[0] == "linear":
            axes.ticklabel_format(axis="x", scilimits=(-2, 3))
            axes.locator_params(axis="x", nbins=6)
        elif panel.scales[1] == "log":
            axes.yaxis.set_minor_formatter(NullFormatter())
    # A legend wider than the figure is cut off: as many columns as the longest label leaves room for.
    room = int(_LETTERS_PER_INCH * figure.get_figwidth() / (max(map(len, known)) + _HANDLE))
    beside = max(1, min(len(known), room, 4 if columns > 1 else 1))
    figure.legend(list(known.values()), list(known), loc="outside upper center", ncols=beside)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=120, metadata={"Software": None})
    return data.getvalue()
