"""Pictures of claims as SVG that stands inside a page: text is text, and takes the colours of the page."""

from __future__ import annotations

import io
import re
from typing import Final

from markupsafe import Markup, escape

from symshuffle.ledger.claims.pictures import CurveRole, Picture

_INK: Final = "#010203"
"""Drawn in its stead: the colour of the text around the picture, light or dark."""

_COLOURS: Final = {
    CurveRole.FOUND: ("#010204", "--ink"),
    CurveRole.PRINTED: ("#010205", "--violet"),
    CurveRole.CORRECTED: ("#010206", "--green"),
}
_OTHERS: Final = (("#010207", "--blue"), ("#010208", "--amber"), ("#010209", "--red"), ("#01020a", "--grey"))
_STYLES: Final = {CurveRole.FOUND: "-", CurveRole.PRINTED: "--", CurveRole.CORRECTED: ":"}
_OTHER_STYLES: Final = ("-", "--", "-.", ":")
_MARKERS: Final = "osD^"
_SHORT: Final = 8
"""Names up to this length stand side by side above the picture, where they hide nothing."""


def to_svg(picture: Picture, *, name: str) -> Markup:
    """The picture as one element, the same for every run."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.size": 11.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        **{f"{part}color": _INK for part in ("text.", "axes.label", "axes.edge", "xtick.", "ytick.")},
    }
    with rc_context(settings):  # type: ignore[arg-type]  # the keys are names of settings, put together here
        figure = Figure(figsize=(5.2, 4), layout="constrained")
        axes = figure.add_subplot()
        others = 0
        for curve in picture.curves:
            if curve.role is CurveRole.OTHER:
                (colour, _), style = _OTHERS[others % len(_OTHERS)], _OTHER_STYLES[others % len(_OTHER_STYLES)]
                marker, others = _MARKERS[others % len(_MARKERS)], others + 1
            else:
                (colour, _), style, marker = _COLOURS[curve.role], _STYLES[curve.role], "o"
            line = {"linestyle": style, "linewidth": 2} if curve.joined else {"linestyle": "", "marker": marker}
            axes.plot(*zip(*curve.points, strict=True), color=colour, label=curve.name, **line)
        axes.set(xlabel=picture.x, ylabel=picture.y)
        for axis, logarithmic in zip("xy", picture.logarithmic, strict=True):
            if logarithmic:
                axes.set(**{f"{axis}scale": "log"})
        axes.grid(visible=True, color=_INK, alpha=0.12)
        columns = 1 if any(len(curve.name) > _SHORT for curve in picture.curves) else 4
        figure.legend(loc="outside upper left", ncols=columns, frameon=False, labelcolor=_INK)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _in_place(out.getvalue(), picture.shows)


def _in_place(text: str, shows: str) -> Markup:
    """The drawing without the prolog of a file, with the colours of the page, and its meaning in words."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*">', "<g>", text)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>\s*", "", text, flags=re.DOTALL)  # it would hold for the whole page
    text = re.sub(r"font-family: [^;\"]*;? ?", "", text)
    for drawn, variable in (*_COLOURS.values(), *_OTHERS):
        text = text.replace(drawn, f"var({variable})")
    text = text.replace(_INK, "currentColor")
    _, _, rest = text.partition(">")
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None  # every drawing has one
    opening = f'<svg class="plot" role="img" aria-label="{escape(shows)}" {box[0]}'
    return Markup(f'{opening} xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{rest}')
