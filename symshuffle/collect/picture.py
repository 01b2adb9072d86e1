"""The picture of a histogram: estimates with intervals and the band."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

from symshuffle.collect.estimate import Histogram
from symshuffle.design.comparison.picture import check_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST: Final = 60
"""Categories that are drawn; of more the largest estimates."""


def draw(found: Histogram) -> Figure:
    """Estimated users in each category, with the interval (thick), the band (thin), and the truth where it is known."""
    from matplotlib.figure import Figure

    ranked = sorted(range(len(found.rows)), key=lambda j: found.rows[j].estimate, reverse=True)[:MOST]
    chosen = sorted(ranked) if len(found.rows) <= MOST else ranked
    rows, places = [found.rows[j] for j in chosen], range(len(chosen))
    figure = Figure(figsize=(max(6.0, 2 + 0.19 * len(rows)), 4.5), layout="constrained")
    axis: Any = figure.subplots()
    share = f"{100 * float(found.confidence):.6g} %"
    estimates = [float(row.estimate) for row in rows]
    axis.bar(places, estimates, color="#c9d7e8", width=0.8, label="unbiased estimate")
    bands = [row.band_low for row in rows], [row.band_high for row in rows]
    axis.vlines(places, *bands, color="#1f4e79", linewidth=0.9, label=f"{share} band, all categories at once")
    for side in bands:
        axis.plot(places, side, "_", color="#1f4e79", markersize=5, markeredgewidth=0.9)
    ends = [row.low for row in rows], [row.high for row in rows]
    axis.vlines(places, *ends, color="#1f4e79", linewidth=3.2, label=f"{share} interval of a category")
    if found.truth is not None:
        held = [found.truth[j] for j in chosen]
        axis.plot(places, held, "x", color="#c0392b", markersize=5, label="truth (simulated)")
    axis.set_xticks(list(places), [row.label for row in rows], rotation=90 if len(rows) > 8 else 0, fontsize=8)
    axis.set_ylabel("users")
    axis.set_xlabel("category" if len(found.rows) <= MOST else f"the {MOST} categories with the largest estimates")
    axis.axhline(0, color="black", linewidth=0.6)
    axis.margins(x=0.01)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(f"{found.n} messages of {found.scheme.name}, k = {found.scheme.k}", fontsize=10)
    axis.legend(fontsize=8, frameon=False)
    return figure


def drawn(found: Histogram, suffix: str) -> bytes:
    """Picture of a histogram as the bytes of a file.

    Parameters
    ----------
    found : Histogram
        Estimates with their intervals.
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
    draw(found).savefig(stream, format=kind, dpi=150)
    return stream.getvalue()
