"""A run of the ledger as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table
from rich.text import Text

from symshuffle.base.artifacts import installed, write_atomically
from symshuffle.base.choices import members
from symshuffle.ledger.claims.model import ClaimVerdict
from symshuffle.ledger.claims.outcomes import Outcome
from symshuffle.ledger.claims.parts import Erratum

if TYPE_CHECKING:
    from symshuffle.ledger.report.entries import LedgerEntry


def record(outcome: Outcome) -> dict[str, Any]:
    """The outcome as the JSON object of ``symshuffle verify --json``."""
    corrected = outcome.corrected
    return {
        "id": outcome.id,
        "paper": outcome.paper,
        "kind": outcome.kind,
        "title": outcome.title,
        "verdict": outcome.verdict,
        "grade": outcome.grade,
        "scope": outcome.scope,
        "obligations": [str(obligation) for obligation in outcome.obligations],
        "clauses": [
            {
                "of": clause.of,
                "verdict": clause.verdict,
                "comparisons": dict(clause.means),
            }
            for clause in outcome.clauses
        ],
        "unchecked": {one.id: one.role for one in outcome.unchecked},
        "comparisons": dict(outcome.means),
        "controls": outcome.controls,
        "controls_rejected": outcome.controls_rejected,
        "symbolic_rejection": outcome.symbolic_rejection,
        "seconds": round(outcome.seconds, 3),
        "printed": outcome.printed,
        "counterexample": outcome.counterexample,
        "corrected": None
        if corrected is None
        else {
            "statement": corrected.of,
            "verdict": corrected.verdict,
            "grade": corrected.grade,
        },
    }


def judged(erratum: Erratum | None) -> dict[str, Any] | None:
    """An erratum as JSON."""
    if erratum is None:
        return None
    standing = erratum.standing
    return {
        "severity": erratum.severity,
        "standing": standing,
        "because": erratum.because,
        "quote": erratum.quote or None,
        "same_as": erratum.same_as or None,
    }


def to_json(content: Any) -> str:
    """JSON text of plain data; a number that JSON cannot write is an error, never ``NaN``."""
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def write_json(outcomes: Sequence[Outcome], path: Path, *, argument: str = "file") -> None:
    """Write the list of :func:`record` objects, atomically."""
    write_atomically(path, to_json([record(outcome) for outcome in outcomes]), argument=argument)


_STYLES: Final[dict[ClaimVerdict, str]] = {
    "holds": "green",
    "refuted": "magenta",
    "undecided": "yellow",
    "definition": "cyan",
    "no-content": "dim",
}


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """The outcomes as a table: claim, verdict, grade, evidence, seconds."""
    table = Table("claim", "verdict", "grade", "evidence", box=None, pad_edge=False, header_style="bold")
    table.add_column("seconds", justify="right", no_wrap=True)
    table.columns[0].overflow = "fold"
    for outcome in outcomes:
        style = _STYLES[outcome.verdict] if outcome.agrees_with_record else "bold red"
        table.add_row(
            Text(outcome.id),
            Text(_verdict(outcome), style=style),
            Text(outcome.grade or "-"),
            Text(outcome.evidence),
            Text(f"{outcome.seconds:.2f}"),
        )
    return table


def clause_lines(outcome: Outcome) -> list[str]:
    """One line for each part of a claim: what it is, its verdict, how it was decided, or why it was not."""
    found = [f"{clause.of}: {clause.verdict} ({clause.evidence})" for clause in outcome.clauses]
    return found + [f"clause {one.id}: {one.role}, not checked here" for one in outcome.unchecked]


def _verdict(outcome: Outcome) -> str:
    found = outcome.verdict
    return found if outcome.verdict == outcome.recorded else f"{found} (recorded: {outcome.recorded})"


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line: how many claims came out how, the controls, and whether all of it is as recorded."""
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in members(ClaimVerdict) if verdicts[verdict])
    controls = sum(outcome.controls for outcome in outcomes)
    rejected = sum(outcome.controls_rejected for outcome in outcomes)
    astray = sum(not outcome.agrees_with_record for outcome in outcomes)
    record = f"{astray} NOT as recorded" if astray else "all as recorded"
    counted = f"{len(outcomes)} claims: {counts}" if outcomes else "0 claims"
    return f"{counted}; {rejected} of {controls} controls rejected; {record}"


def discrepancies(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for each outcome that is not as recorded, saying why."""
    return [
        f"{outcome.id}: {'; '.join((_verdict(outcome), *outcome.faults, *filter(None, [outcome.counterexample])))}"
        for outcome in outcomes
        if not outcome.agrees_with_record
    ]


def bibtex(entry: LedgerEntry, paper: Mapping[str, Any] | None) -> str:
    """BibTeX of the paper with the number of the statement, if a paper makes it, and of the tool with its verdict."""
    found = f"claim {entry.id}: {entry.verdict}"
    if entry.claim is not None and entry.grade != "none":
        found += f", {'corrected statement ' if entry.verdict == 'refuted' else ''}{entry.grade}"
    tool = _item(
        "symshuffle",
        title="{symshuffle}: symbolic and certified numerics for shuffle and local differential privacy",
        author="{The symshuffle developers}",
        note=f"Version {installed('symshuffle')}; {_latex(found)}",
    )
    if paper is None:
        return tool
    where = entry.source.partition(", ")[2] or entry.title
    item = _item(
        f"{paper['authors'][0].partition(',')[0].lower()}{paper['year']}{paper['key'].replace('_', '')}",
        title=f"{{{_latex(paper['title'])}}}",
        author=_latex(" and ".join(paper["authors"])),
        year=str(paper["year"]),
        eprint=paper["arxiv"],
        archiveprefix="arXiv",
        note=_latex(where[0].upper() + where[1:]),
    )
    return f"{item}\n{tool}"


def _item(key: str, **fields: str) -> str:
    lines = "".join(f"  {name:<13} = {{{value}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}\n"


def _latex(text: str) -> str:
    """A text in which the signs that LaTeX reserves stand for themselves; formulas stay."""
    pieces = re.split(r"(\$[^$]+\$)", text)
    return "".join(piece if i % 2 else re.sub(r"([_&%#])", r"\\\1", piece) for i, piece in enumerate(pieces))
