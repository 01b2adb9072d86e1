"""Commands about the ledger: verify, claims, show, reproduce, doctor."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.artifacts import check_destination, write_atomically
from symshuffle.claims.model import Claim, ClaimVerdict, Grade
from symshuffle.claims.registry import Entry, Ledger, LedgerError, catalogue, load, papers
from symshuffle.claims.run import MOST_JOBS, Outcome
from symshuffle.claims.run import verify as run_claims
from symshuffle.cli.progress import progress
from symshuffle.errors import InputError
from symshuffle.numbers import enclose
from symshuffle.report import (
    discrepancies,
    installed,
    outcome_table,
    record,
    summary,
    to_json,
    write_html,
    write_json,
)

STDOUT: Final = "-"
"""What ``--json`` takes for standard output."""

DOCTORED: Final = (
    "decomposition.def-1",
    "decomposition.lem-1",
    "decomposition.def-blanket",
    "decomposition.ex-4.1",
    "decomposition.thm-12",
)
"""Five fast claims that use exact, symbolic and ball arithmetic."""

LIBRARIES: Final = ("numpy", "scipy", "sympy", "mpmath", "python-flint", "cvxpy", "highspy")

app = typer.Typer()

_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _console() -> Console:
    width = shutil.get_terminal_size(fallback=(140, 50)).columns  # wide where the output is not a terminal
    return Console(width=width, highlight=False, soft_wrap=False)


@app.command()
def verify(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID|PAPER|GLOB]...", help="Which claims; all by default.", show_default=False),
    ] = None,
    jobs: Annotated[str | None, typer.Option(metavar="N", help="Processes; by default one per core.")] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the outcomes as JSON; - prints.")] = None,
    report: Annotated[str | None, typer.Option(metavar="FILE", help="Write the full report as HTML.")] = None,
) -> None:
    """Run claims of the ledger and compare what is found with what is recorded.

    Exit code 0 if every verdict is the recorded one and every control was rejected, 1 otherwise.
    """
    processes = min(os.cpu_count() or 1, MOST_JOBS) if jobs is None else _jobs(jobs)
    for path, option in ((json, "--json"), (report, "--report")):
        if path is not None and (option, path) != ("--json", STDOUT):
            check_destination(Path(path), argument=option)
    ledger = load()
    outcomes = _run(ledger, ledger.select(selectors or ()), processes)
    if report is not None:
        write_html(outcomes, Path(report), argument="--report")
    if json is not None and json != STDOUT:
        write_json(outcomes, Path(json), argument="--json")
    if json == STDOUT:
        typer.echo(to_json([record(outcome) for outcome in outcomes]), nl=False)
        typer.echo(summary(outcomes), err=True)
    else:
        _print_outcomes(outcomes, report)
    raise typer.Exit(0 if outcomes and all(outcome.agrees_with_record for outcome in outcomes) else 1)


def _jobs(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(MOST_JOBS)) or not 1 <= int(text) <= MOST_JOBS:
        raise InputError("--jobs", text, f"an integer from 1 to {MOST_JOBS}")
    return int(text)


def _run(ledger: Ledger, claims: Sequence[Claim], jobs: int) -> tuple[Outcome, ...]:
    with progress(logged=True) as display:
        task = display.add_task("", total=len(claims))

        def show_progress(outcome: Outcome) -> None:
            display.update(task, advance=1, description=outcome.id)

        outcomes = run_claims(ledger, claims, jobs=jobs, progress=show_progress)
        display.update(task, description="")
    return outcomes


def _print_outcomes(outcomes: Sequence[Outcome], report: str | None) -> None:
    console = _console()
    console.print(outcome_table(outcomes))
    console.print()
    for line in discrepancies(outcomes):
        console.print(f"NOT AS RECORDED  {line}", markup=False, soft_wrap=True)
    console.print(summary(outcomes), markup=False, soft_wrap=True)
    place = "not written (give --report FILE)" if report is None else report
    console.print(f"full report: {place}", markup=False, soft_wrap=True)


@app.command()
def claims(
    paper: Annotated[
        str | None, typer.Argument(metavar="[PAPER]", help="One paper; all by default.", show_default=False)
    ] = None,
    json: _AsJson = False,
) -> None:
    """List the catalogue: every numbered statement, and what the ledger has on record of it."""
    entries = [entry for entry in _entries(load()) if paper in (None, entry["paper"])]
    if not entries:
        raise InputError("PAPER", paper, f"one of {', '.join(papers())}")
    if json:
        typer.echo(to_json(entries), nl=False)
        return
    table = Table("claim", "kind", "recorded", "grade", "title", box=None, pad_edge=False, header_style="bold")
    for entry in entries:
        table.add_row(
            *(entry["id"], entry["kind"], entry["recorded"] or "not checked yet", entry["grade"] or "-", entry["title"])
        )
    console = _console()
    console.print(table, markup=False)
    checked = sum(entry["checked"] for entry in entries)
    console.print(f"\n{len(entries)} entries, {checked} checked")


def _entries(ledger: Ledger) -> list[dict[str, Any]]:
    found = {claim.id: claim for claim in ledger.claims}
    sources: list[Entry | Claim] = [*catalogue().values()]
    sources += [claim for claim in ledger.claims if claim.id not in catalogue()]
    return [_listed(source, found.get(source.id)) for source in sources]


def _listed(source: Entry | Claim, claim: Claim | None) -> dict[str, Any]:
    return {
        "id": source.id,
        "paper": source.paper,
        "kind": source.kind.value,
        "title": source.title,
        "checked": claim is not None,
        "recorded": claim.expected.value if claim else None,
        "grade": _recorded_grade(claim) if claim else None,
    }


def _recorded_grade(claim: Claim) -> str | None:
    if claim.expected is ClaimVerdict.REFUTED:
        return Grade.REFUTED.value
    return claim.grade.value if claim.grade else None


@app.command()
def show(
    claim_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a claim.")],
    json: _AsJson = False,
) -> None:
    """Show one claim: the statement, what it supposes, and how it is checked."""
    facts = _facts(load().claim(claim_id))
    if json:
        typer.echo(to_json(facts), nl=False)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _in_words(value))
    _console().print(table, markup=False)


def _facts(claim: Claim) -> dict[str, Any]:
    corrected = claim.corrected
    return {
        "id": claim.id,
        "paper": claim.paper,
        "kind": claim.kind.value,
        "title": claim.title,
        "source": claim.source,
        "statement": claim.text,
        "assumptions": list(claim.assumptions),
        "scope": claim.scope,
        "obligations": [str(obligation) for obligation in claim.obligations],
        "grade": _recorded_grade(claim),
        "recorded": claim.expected.value,
        "controls": [control.name for control in claim.controls],
        "corrected": {"statement": corrected.text, "grade": corrected.grade.value} if corrected else None,
    }


def _in_words(value: Any) -> str:
    match value:
        case None | []:
            return "-"
        case list():
            return "\n".join(value)
        case dict():
            return "\n".join(f"{name}: {part}" for name, part in value.items())
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)


@app.command()
def reproduce(
    names: Annotated[list[str], typer.Argument(metavar="ID...", help="Figures and tables.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Where the files go.")] = "out",
) -> None:
    """Draw figures and tables again, from the formulas of the library."""
    directory = Path(out)
    check_destination(directory, argument="--out", directory=True)
    ledger = load()
    functions = {name: ledger.reproduction(name) for name in names}
    with tempfile.TemporaryDirectory() as staging:
        drawn: list[Path] = []
        with progress() as display:
            task = display.add_task("", total=len(functions))
            for name, function in functions.items():
                display.update(task, description=name)
                files = function(Path(staging))
                if not files:
                    raise LedgerError(f"{name} was reproduced, but no file came of it")
                drawn.extend(file.relative_to(staging) for file in files)
                display.advance(task)
            display.update(task, description="")
        for file in drawn:
            write_atomically(directory / file, (staging / file).read_bytes(), argument="--out")
    for file in drawn:
        typer.echo(directory / file)


@app.command()
def doctor(json: _AsJson = False) -> None:
    """Examine the installation: versions, solvers, ball arithmetic, and five fast claims.

    Exit code 0 if everything is in order, 1 otherwise.
    """
    findings = _examine(load())
    if json:
        typer.echo(to_json(findings), nl=False)
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, value in {**findings["versions"], **findings}.items():
            if name != "versions":
                table.add_row(name.replace("_", " "), _in_words(value))
        _console().print(table, markup=False)
    raise typer.Exit(0 if findings["healthy"] else 1)


def _examine(ledger: Ledger) -> dict[str, Any]:
    import cvxpy
    from sympy.external.gmpy import GROUND_TYPES

    outcomes = run_claims(ledger, [claim for claim in ledger.claims if claim.id in DOCTORED])
    found = dict.fromkeys(DOCTORED, "missing")
    for outcome in outcomes:
        found[outcome.id] = "as recorded" if outcome.agrees_with_record else "NOT as recorded"
    solvers = sorted(cvxpy.installed_solvers())  # type: ignore[no-untyped-call]  # cvxpy annotates in part
    balls = _balls_agree()
    versions = {"python": platform.python_version(), "symshuffle": installed("symshuffle")}
    versions |= {library: installed(library) for library in LIBRARIES}
    return {
        "versions": versions,
        "sympy_ground_types": GROUND_TYPES,
        "cvxpy_solvers": solvers,
        "ball_precision": "restored and enclosing" if balls else "BROKEN",
        "claims": found,
        "healthy": balls and {"CLARABEL", "HIGHS"} <= set(solvers) and set(found.values()) == {"as recorded"},
    }


def _balls_agree() -> bool:
    """Whether balls enclose a rational, sharpen with their precision, and leave no precision behind."""
    third = Fraction(1, 3)
    before, sharp, after = (enclose(third, bits) for bits in (53, 400, 53))
    enclosing = all(ball.lower < third < ball.upper for ball in (before, sharp, after))
    return enclosing and before == after and sharp.radius < Fraction(1, 2**390)
