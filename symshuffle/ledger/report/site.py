"""The ledger as a site that needs no network: a dashboard with search, a page for each entry, the code of checks."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from symshuffle.base.artifacts import check_destination, installed, write_atomically
from symshuffle.base.errors import InputError
from symshuffle.ledger.claims.comparisons import Comparison
from symshuffle.ledger.claims.outcomes import Outcome
from symshuffle.ledger.claims.parts import MEANINGS, Picture
from symshuffle.ledger.claims.registry import CHECKS, Ledger, bibliography
from symshuffle.ledger.report.entries import (
    GRADES,
    RECONSTRUCTED,
    VERDICTS,
    LedgerEntry,
    colours,
    counts,
    entries,
    errata,
    groups,
    listing,
)
from symshuffle.ledger.report.mathematics import to_markup, to_number
from symshuffle.ledger.report.records import bibtex, summary

ONE_PAGE: Final = ".html"
"""Ending of a destination that asks for one page instead of a site."""

MEANS: Final = {
    "symbolic": "symbolic",
    "exact": "exact rationals",
    "ball": "balls",
    "float": "floating point",
}
SIGNS: Final = {"==": "=", "<": "<", ">": ">", "<=": "≤", ">=": "≥"}
ABOUT: Final = (
    "Every numbered statement of five papers about local and shuffle differential privacy, and what a computation "
    "finds of it: whether it holds as printed, how strong the evidence is, and what is true instead where it does not."
)
"""What the ledger of the papers is a ledger of."""

_GENERATOR: Final = '<meta name="generator" content="symshuffle'


def check_report(path: Path, *, argument: str) -> None:
    """Refuse a destination that cannot be written, or a directory that holds something else than a site."""
    one_page = path.suffix == ONE_PAGE
    check_destination(path, argument=argument, directory=not one_page)
    if not one_page and path.is_dir() and any(path.iterdir()):
        index = path / "index.html"
        if not index.is_file() or _GENERATOR not in index.read_text(encoding="utf-8", errors="replace")[:2000]:
            expected = "a directory that is new, empty, or holds a ledger written before"
            raise InputError(argument, path, expected)


def write_report(ledger: Ledger, outcomes: Sequence[Outcome], path: Path, *, argument: str = "path") -> Path:
    """Write the ledger for a browser: a directory with a page for each entry, or one page with all of them."""
    if path.suffix == ONE_PAGE:
        write_atomically(path, one_page(ledger, outcomes), argument=argument)
        return path
    for name, content in site(ledger, outcomes).items():  # the index comes last: what it links to is there
        write_atomically(path / name, content, argument=argument)
    return path / "index.html"


def one_page(ledger: Ledger, outcomes: Sequence[Outcome]) -> str:
    """The whole ledger as one HTML page, its style and script within."""
    listed = entries(ledger, outcomes)
    page = _environment(ledger).get_template("index.html")
    inside = {"style": Markup(_data("style.css")), "script": Markup(_data("site.js"))}
    return page.render(
        **_dashboard(listed, outcomes, ours=ledger.package == CHECKS),
        inline=True,
        root="",
        link=lambda entry: f"#{entry.id}",
        **inside,
    )


def site(ledger: Ledger, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Every file of the site by its path from the root."""
    environment = _environment(ledger)
    listed = entries(ledger, outcomes)
    files = {"style.css": _data("style.css") + colours(), "site.js": _data("site.js")}
    places = (place for entry in listed for place in (entry.check_place, entry.statement_place))
    for module in sorted({place[0] for place in places if place is not None}):
        page = environment.get_template("source.html")
        files[f"source/{module}.html"] = page.render(
            title=module, module=module, code=listing(module), root="../", inline=False
        )
    page = environment.get_template("claim.html")
    for before, entry, after in zip([None, *listed[:-1]], listed, [*listed[1:], None], strict=True):
        files[f"claims/{entry.id}.html"] = page.render(
            title=f"{entry.id}: {entry.title}",
            entry=entry,
            before=before,
            after=after,
            root="../",
            inline=False,
            link=partial(_page_of, folder=""),
        )
    link = partial(_page_of, folder="claims/")
    if found := errata(listed):
        page = environment.get_template("errata.html")
        files["errata.html"] = page.render(title="Errata", errata=found, inline=False, root="", link=link)
    page = environment.get_template("index.html")
    files["index.html"] = page.render(
        **_dashboard(listed, outcomes, ours=ledger.package == CHECKS), inline=False, root="", link=link
    )
    return files


def _page_of(entry: LedgerEntry, *, folder: str) -> str:
    return f"{folder}{quote(entry.id)}.html"


def _dashboard(listed: Sequence[LedgerEntry], outcomes: Sequence[Outcome], *, ours: bool) -> dict[str, Any]:
    by_paper, checked = groups(listed), sum(entry.claim is not None for entry in listed)
    stated = f"{len(listed)} entries, {checked} with a check."
    verdicts, grades = ({getattr(entry, name) for entry in listed} for name in ("verdict", "grade"))
    return {
        "title": "The ledger of five papers on shuffle privacy" if ours else "The ledger",
        "about": ABOUT if ours else "",
        "lead": f"{stated} This run: {summary(outcomes)}." if outcomes else f"{stated} Verdicts are those on record.",
        "listed": listed,
        "groups": by_paper,
        "errata": errata(listed),
        "filters": [
            ("paper", [(key, key) for key in by_paper]),
            ("verdict", [(verdict, verdict) for verdict in VERDICTS if verdict in verdicts]),
            ("grade", [(grade, grade) for grade in GRADES if grade in grades]),
        ],
    }


def _environment(ledger: Ledger) -> Environment:
    made = Environment(
        loader=PackageLoader("symshuffle.ledger.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters["math"] = to_markup
    made.filters["number"] = to_number
    made.filters["stated"] = _stated
    made.filters["counts"] = counts
    made.filters["bibtex"] = lambda entry: bibtex(entry, bibliography().get(entry.paper))
    option = "" if ledger.package == CHECKS else f" --ledger {ledger.package}"
    made.globals["plot"] = lambda entry: _plot(ledger, entry)
    made.globals.update(version=installed("symshuffle"), means=MEANS, meanings=MEANINGS, option=option)
    made.globals.update(reconstructed=RECONSTRUCTED, papers=bibliography())
    return made


def _plot(ledger: Ledger, entry: LedgerEntry) -> dict[str, str] | None:
    if (plot := ledger.plots.get(entry.id)) is None:
        return None
    picture = plot()
    return {"svg": to_svg(picture, name=entry.id), "shows": picture.shows}


def _stated(comparison: Comparison) -> str:
    """What a statement says of a value; a claim in words may bring its own relation."""
    if comparison.claimed.startswith(("<", ">")):
        return comparison.claimed
    return f"{SIGNS[comparison.relation]} {to_number(comparison.claimed)}"


def _data(name: str) -> str:
    return resources.files("symshuffle.ledger.report").joinpath("templates", name).read_text(encoding="utf-8")


_INK: Final = "#010203"
"""Drawn in its stead: the colour of the text around the picture, light or dark."""

_COLOURS: Final = {
    "found": ("#010204", "--ink", "-"),
    "printed": ("#010205", "--violet", "--"),
    "corrected": ("#010206", "--green", ":"),
}
_OTHERS: Final = (
    ("#010207", "--blue", "-"),
    ("#010208", "--amber", "--"),
    ("#010209", "--red", "-."),
    ("#01020a", "--grey", ":"),
)
"""Colour that is drawn, the variable of the page that takes its place, and style of the line."""

_MARKERS: Final = "osD^"


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
        for label, role, points, joined in picture.curves:
            colour, _, style = _COLOURS.get(role, _OTHERS[others % len(_OTHERS)])
            marker = "o" if role in _COLOURS else _MARKERS[others % len(_MARKERS)]
            others += role not in _COLOURS
            line = {"linestyle": style, "linewidth": 2} if joined else {"linestyle": "", "marker": marker}
            axes.plot(*zip(*points, strict=True), color=colour, label=label, **line)
        axes.set(xlabel=picture.x, ylabel=picture.y)
        for axis, logarithmic in zip("xy", picture.logarithmic, strict=True):
            if logarithmic:
                axes.set(**{f"{axis}scale": "log"})
        axes.grid(visible=True, color=_INK, alpha=0.12)
        # Short names stand side by side above the picture, where they hide nothing.
        columns = 1 if any(len(label) > 8 for label, *_ in picture.curves) else 4
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
    for drawn, variable, _ in (*_COLOURS.values(), *_OTHERS):
        text = text.replace(drawn, f"var({variable})")
    text = text.replace(_INK, "currentColor")
    _, _, rest = text.partition(">")
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None  # every drawing has one
    opening = f'<svg class="plot" role="img" aria-label="{escape(shows)}" {box[0]}'
    return Markup(f'{opening} xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{rest}')
