"""Faces of a run of the ledger: a table for the terminal, a JSON file, and one self-contained HTML page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from symshuffle.artifacts import write_atomically
from symshuffle.claims.model import ClaimVerdict
from symshuffle.claims.run import Outcome

_STYLES: Final[dict[ClaimVerdict, str]] = {
    ClaimVerdict.HOLDS: "green",
    ClaimVerdict.REFUTED: "magenta",
    ClaimVerdict.UNDECIDED: "yellow",
    ClaimVerdict.DEFINITION: "cyan",
    ClaimVerdict.NO_CONTENT: "dim",
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
            Text(outcome.grade.value if outcome.grade else "-"),
            Text(outcome.evidence),
            Text(f"{outcome.seconds:.2f}"),
        )
    return table


def _verdict(outcome: Outcome) -> str:
    found = outcome.verdict.value
    return found if outcome.verdict is outcome.recorded else f"{found} (recorded: {outcome.recorded.value})"


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line: how many claims came out how, the controls, and whether all of it is as recorded."""
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    counts = ", ".join(f"{verdicts[verdict]} {verdict.value}" for verdict in ClaimVerdict if verdicts[verdict])
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


def installed(distribution: str) -> str:
    """Version of an installed distribution, or ``not installed``."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def record(outcome: Outcome) -> dict[str, Any]:
    """The outcome as the JSON object of ``symshuffle verify --json``."""
    corrected = outcome.corrected
    return {
        "id": outcome.id,
        "paper": outcome.paper,
        "kind": outcome.kind.value,
        "title": outcome.title,
        "verdict": outcome.verdict.value,
        "grade": outcome.grade.value if outcome.grade else None,
        "scope": outcome.scope,
        "obligations": [str(obligation) for obligation in outcome.obligations],
        "comparisons": {means.value: count for means, count in outcome.means},
        "controls": outcome.controls,
        "controls_rejected": outcome.controls_rejected,
        "symbolic_rejection": outcome.symbolic_rejection,
        "seconds": round(outcome.seconds, 3),
        "printed": outcome.printed,
        "counterexample": outcome.counterexample,
        "corrected": None
        if corrected is None
        else {
            "statement": corrected.statement,
            "verdict": corrected.verdict.value,
            "grade": corrected.grade.value if corrected.grade else None,
        },
    }


def to_json(content: Any) -> str:
    """JSON text of plain data; a number that JSON cannot write is an error, never ``NaN``."""
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_html(outcomes: Sequence[Outcome]) -> str:
    """The whole run as one HTML page that needs no network and no script."""
    rows = "\n".join(_row(outcome) for outcome in outcomes)
    entries = "\n".join(_entry(outcome) for outcome in outcomes)
    return _PAGE.format(
        style=_STYLE,
        version=escape(installed("symshuffle")),
        summary=escape(summary(outcomes)),
        rows=rows,
        entries=entries,
    )


def _row(outcome: Outcome) -> str:
    cells = (
        f'<a href="#{escape(outcome.id)}">{escape(outcome.id)}</a>',
        escape(outcome.title),
        _badge(outcome),
        escape(outcome.grade.value if outcome.grade else "–"),
        escape(outcome.evidence),
        f"{outcome.controls_rejected}/{outcome.controls}",
        f"{outcome.seconds:.2f}",
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _badge(outcome: Outcome) -> str:
    trust = outcome.verdict.value if outcome.agrees_with_record else "astray"
    return f'<span class="verdict {trust}">{escape(_verdict(outcome))}</span>'


def _entry(outcome: Outcome) -> str:
    facts = [("Statement", _mathematics(outcome.printed))]
    if outcome.assumptions:
        facts.append(("Assumes", "; ".join(_mathematics(text) for text in outcome.assumptions)))
    if outcome.obligations:
        facts.append(("Owes", escape("; ".join(map(str, outcome.obligations)))))
    facts.append(("Checked", f"{_mathematics(outcome.scope)}: {escape(outcome.evidence)}"))
    if outcome.controls:
        facts.append(("Controls", _controls(outcome)))
    if outcome.counterexample is not None:
        facts.append(("Counterexample", f"<code>{escape(outcome.counterexample)}</code>"))
    if (corrected := outcome.corrected) is not None:
        grade = f", {corrected.grade.value}" if corrected.grade else ""
        found = f"{corrected.verdict.value}{grade}"
        facts.append(("Corrected", f"{_mathematics(corrected.statement)} <em>({escape(found)})</em>"))
    body = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    heading = f"{escape(outcome.title)} {_badge(outcome)}"
    source = f"{escape(outcome.id)} · {escape(outcome.source)}"
    return f'<section id="{escape(outcome.id)}"><h2>{heading}</h2><p>{source}</p><dl>{body}</dl></section>'


def _controls(outcome: Outcome) -> str:
    told = f"{outcome.controls_rejected} of {outcome.controls} rejected"
    match outcome.symbolic_rejection:
        case None:
            return told
        case True:
            return f"{told}; a symbolic comparison tells the statement from a wrong one"
        case False:
            return f"{told}, by instances only: the symbolic comparisons do not involve the statement itself"


def _mathematics(text: str) -> str:
    """Escape a text, setting what stands between dollar signs apart: it is LaTeX and stays readable as such."""
    return re.sub(r"\$([^$]+)\$", r'<span class="math">\1</span>', escape(text))


def write_html(outcomes: Sequence[Outcome], path: Path, *, argument: str = "file") -> None:
    """Write the page of :func:`to_html`, atomically."""
    write_atomically(path, to_html(outcomes), argument=argument)


def write_json(outcomes: Sequence[Outcome], path: Path, *, argument: str = "file") -> None:
    """Write the list of :func:`record` objects, atomically."""
    write_atomically(path, to_json([record(outcome) for outcome in outcomes]), argument=argument)


_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>symshuffle ledger</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>Ledger</h1>
<p>{summary}</p>
<p class="quiet">symshuffle {version}. A grade says how strong the evidence is: <b>proved</b> for all parameters by a
symbolic identity or a decision procedure; <b>certified</b> by exact or ball arithmetic; <b>exact-cases</b> on finitely
many cases; <b>sampled</b> in floating point. A control is a perturbed statement that the check has to reject.</p>
</header>
<table>
<thead><tr><th>claim<th>title<th>verdict<th>grade<th>evidence<th>controls<th>seconds</tr></thead>
<tbody>
{rows}
</tbody>
</table>
{entries}
</body>
</html>
"""

_STYLE: Final = """
:root { color-scheme: light dark; --quiet: #667; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { font-size: 1.05rem; margin-bottom: 0; }
.quiet, section > p { color: var(--quiet); margin-top: 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
td:nth-child(1) { white-space: nowrap; } td:nth-child(n+6), th:nth-child(n+6) { text-align: right; }
section { border-top: 1px solid var(--line); margin-top: 1.2rem; } section:target { outline: 2px solid #48f; }
dl { display: grid; grid-template-columns: 9rem 1fr; gap: .2rem 1rem; margin: 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.math { font-family: ui-monospace, monospace; font-size: .9em; }
.verdict { font-size: .85em; font-weight: 600; padding: 0 .4em; border-radius: .3em; background: #8882; }
.holds { color: #187a3c; } .refuted { color: #9b2fae; } .undecided { color: #a06a00; }
.definition { color: #12718a; } .no-content { color: var(--quiet); } .astray { color: #fff; background: #c22; }
"""
