"""Commands that print what is on record: claims, errata, show, cite."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.choices import members
from symshuffle.base.errors import InputError
from symshuffle.ledger.claims.parts import MEANINGS, Erratum, Severity
from symshuffle.ledger.claims.registry import Ledger, bibliography, load, load_named
from symshuffle.ledger.claims.run import counterexample
from symshuffle.ledger.report.entries import (
    RECONSTRUCTED,
    LedgerEntry,
    Mistake,
    entries,
    groups,
    number_of_errata,
    strength,
)
from symshuffle.ledger.report.entries import errata as by_severity
from symshuffle.ledger.report.mathematics import to_lines
from symshuffle.ledger.report.records import bibtex, judged, to_json

app = typer.Typer()

_Paper = Annotated[str | None, typer.Argument(metavar="[PAPER]", help="One paper; all by default.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Package = Annotated[
    str | None, typer.Option("--ledger", metavar="PACKAGE", help="A ledger of your own, by the name of its package.")
]


def ledger_of(package: str | None) -> Ledger:
    """The ledger of a package of sections, by default that of the five papers."""
    return load() if package is None else load_named(package, argument="--ledger")


def console() -> Console:
    """Where tables are printed: as wide as the terminal."""
    width = shutil.get_terminal_size(fallback=(140, 50)).columns  # wide where the output is not a terminal
    return Console(width=width, highlight=False, soft_wrap=False)


@app.command()
def claims(
    paper: _Paper = None,
    json: AsJson = False,
    package: Package = None,
) -> None:
    """List the catalogue: every numbered statement, and what the ledger has on record of it."""
    asked = _chosen(entries(ledger_of(package)), paper)
    chosen = [_listed(entry) for entry in asked]
    if json:
        typer.echo(to_json(chosen), nl=False)
        return
    table = Table("claim", "kind", "recorded", "grade", "title", box=None, pad_edge=False, header_style="bold")
    for entry in chosen:
        table.add_row(
            *(entry["id"], entry["kind"], entry["recorded"] or "not checked yet", entry["grade"] or "-", entry["title"])
        )
    page = console()
    page.print(table, markup=False)
    checked = sum(entry["checked"] for entry in chosen)
    page.print(f"\n{len(chosen)} entries, {checked} checked")
    for key, part in groups(asked).items():
        strong, stated = strength(part)
        if stated:
            page.print(f"{key}: {strong} of {stated} statements proved or certified")


def _chosen(listed: Sequence[LedgerEntry], paper: str | None, *, by: str = "paper") -> list[LedgerEntry]:
    """The entries of one paper, or all."""
    asked = [entry for entry in listed if paper in (None, getattr(entry, by))]
    if not asked:
        known = dict.fromkeys(getattr(entry, by) for entry in listed)
        raise InputError("PAPER", paper, f"one of {', '.join(known)}")
    return asked


@app.command()
def errata(
    paper: _Paper = None,
    json: AsJson = False,
    package: Package = None,
) -> None:
    """List what is wrong as printed, by severity, and what is only a matter of reading.

    Findings without a number in their paper have ids that begin with symshuffle; their source says where they are.
    """
    listed = [entry for entry in entries(ledger_of(package)) if entry.erratum is not None]
    found = by_severity(_chosen(listed, paper, by="about") if listed else ())
    if json:
        mistakes = [mistake for _, part in found for mistake in part]
        everywhere = [entry for mistake in mistakes for entry in (mistake[0], *mistake[2])]
        judged_entries = [(entry, entry.erratum) for entry in everywhere if entry.erratum is not None]
        judged_entries.sort(key=lambda pair: members(Severity).index(pair[1].severity))
        typer.echo(to_json([_erratum(entry, erratum) for entry, erratum in judged_entries]), nl=False)
        return
    page = console()
    for severity, part in found:
        page.print(f"{MEANINGS[severity]} ({len(part)})", style="bold", markup=False)
        for standing, judged_alike in groupby(part, key=lambda mistake: mistake[1].standing):
            if standing is not None:
                page.print(f"  {MEANINGS[standing]}:", markup=False)
            for mistake in judged_alike:
                _print_mistake(page, mistake)
        page.print()
    page.print(
        f"{number_of_errata(found)}; `symshuffle show ID` prints one with counterexample and correction", markup=False
    )


def _print_mistake(page: Console, mistake: Mistake) -> None:
    entry, erratum, also = mistake
    lines = [f"  {entry.id}: {entry.source}"]
    if erratum.quote:
        lines.append(f"      accuses: {erratum.quote}")
    lines.append(f"      {erratum.because}")
    if also:
        lines.append(f"      The same mistake: {', '.join(f'{other.id} ({other.source})' for other in also)}")
    for line in lines:
        page.print(line, markup=False, soft_wrap=True)


def _erratum(entry: LedgerEntry, erratum: Erratum) -> dict[str, Any]:
    claim = entry.claim
    assert claim is not None  # an erratum is part of one
    return {
        "id": entry.id,
        "title": entry.title,
        "source": entry.source,
        **(judged(erratum) or {}),
        "printed": claim.words,
        "corrected": claim.corrected.text if claim.corrected else None,
        "grade": entry.grade if claim.corrected else None,
    }


def _listed(entry: LedgerEntry) -> dict[str, Any]:
    claim = entry.claim
    return {
        "id": entry.id,
        "paper": entry.paper,
        "kind": entry.kind,
        "title": entry.title,
        "checked": claim is not None,
        "recorded": claim.expected if claim else None,
        "grade": claim.grade if claim else None,
    }


@app.command()
def show(
    claim_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a claim.")],
    json: AsJson = False,
    package: Package = None,
) -> None:
    """Show one claim: the statement, its assumptions, and how it is checked."""
    ledger = ledger_of(package)
    entry = next(one for one in entries(ledger) if one.claim is ledger.claim(claim_id))
    facts = _facts(entry)
    if json:
        typer.echo(to_json(facts), nl=False)
        return
    page = console()
    rows = [(name.replace("_", " "), in_words(value)) for name, value in facts.items() if value not in (None, [])]
    indent = max(len(name) for name, _ in rows) + 2
    room = max(page.width - indent, 20)
    for name, text in rows:
        lines = [line for part in text.split("\n") for line in to_lines(part, room)]
        for place, line in enumerate(lines):
            page.print(f"{name if not place else '':{indent}}{line}", markup=False, soft_wrap=True)


@app.command()
def cite(
    claim_id: Annotated[str, typer.Argument(metavar="ID", help="The id of an entry.")],
    package: Package = None,
) -> None:
    """Print BibTeX: the paper with the number of the statement, and this tool with its verdict."""
    ledger = ledger_of(package)
    found = next((entry for entry in entries(ledger) if entry.id == claim_id), None)
    if found is None:
        raise InputError("ID", claim_id, f"the id of an entry{ledger.suggestion(claim_id)}")
    typer.echo(bibtex(found, bibliography().get(found.paper)), nl=False)


def _facts(entry: LedgerEntry) -> dict[str, Any]:
    claim = entry.claim
    assert claim is not None  # it was found by its id
    corrected = claim.corrected
    refuted_by = counterexample(claim) if claim.expected == "refuted" else None
    return {
        "id": claim.id,
        "paper": claim.paper,
        "kind": claim.kind,
        "title": claim.title,
        "source": claim.source,
        "statement": claim.words,
        "note": RECONSTRUCTED if entry.reconstructed else None,
        "assumptions": list(claim.assumptions),
        "scope": claim.scope,
        "obligations": [": ".join(filter(None, (str(one), ", ".join(one.clauses)))) for one in claim.obligations],
        "grade": claim.grade,
        "recorded": claim.expected,
        "erratum": judged(claim.erratum),
        "counterexample": str(refuted_by) if refuted_by else None,
        "controls": [control.name for control in claim.controls],
        "corrected": {"statement": corrected.text, "grade": corrected.grade} if corrected else None,
    }


def in_words(value: Any) -> str:
    """A value of a JSON document as a cell of a table."""
    match value:
        case None | []:
            return "-"
        case list():
            return "\n".join(value)
        case dict():
            return "\n".join(f"{name}: {part}" for name, part in value.items() if part is not None)
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
