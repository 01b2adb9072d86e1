"""Commands about the ledger: verify, claims, errata, show, report, cite, reproduce, doctor."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.artifacts import check_destination, installed, write_atomically
from symshuffle.claims import registry
from symshuffle.claims.errata import MEANINGS, Erratum
from symshuffle.claims.model import Claim
from symshuffle.claims.outcomes import Outcome
from symshuffle.claims.papers import bibliography
from symshuffle.claims.registry import Ledger, LedgerError, load, load_named
from symshuffle.claims.verify import verify as run_claims
from symshuffle.cli import arguments
from symshuffle.cli.progress import progress
from symshuffle.errors import InputError
from symshuffle.executors import mapped, workers
from symshuffle.numbers import enclose
from symshuffle.report.cite import bibtex
from symshuffle.report.entries import LedgerEntry, entries, groups
from symshuffle.report.entries import errata as by_severity
from symshuffle.report.records import judged, record, to_json, write_json
from symshuffle.report.terminal import clause_lines, discrepancies, outcome_table, summary

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
_Selectors = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID|PAPER|GLOB]...", help="Which claims; all by default.", show_default=False),
]
_Package = Annotated[
    str | None, typer.Option("--ledger", metavar="PACKAGE", help="A ledger of your own, by the name of its package.")
]


def _ledger(package: str | None) -> Ledger:
    return load() if package is None else load_named(package, argument="--ledger")


def _console() -> Console:
    width = shutil.get_terminal_size(fallback=(140, 50)).columns  # wide where the output is not a terminal
    return Console(width=width, highlight=False, soft_wrap=False)


@app.command()
def verify(
    selectors: _Selectors = None,
    jobs: arguments.Jobs = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the outcomes as JSON; - prints.")] = None,
    report: Annotated[
        str | None, typer.Option(metavar="DIR|FILE.html", help="Write a site, or one page, for a browser.")
    ] = None,
    certificates: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the exact comparisons of each claim, to be checked again.")
    ] = None,
    package: _Package = None,
) -> None:
    """Run claims of the ledger and compare what is found with what is recorded.

    Exit code 0 if every verdict is the recorded one and every control was rejected, 1 otherwise.
    """
    processes = arguments.jobs(jobs)
    if json not in (None, STDOUT):
        check_destination(Path(json), argument="--json")
    if report is not None:
        from symshuffle.report.site import check_report, write_report

        check_report(Path(report), argument="--report")
    if certificates is not None:
        check_destination(Path(certificates), argument="--certificates", directory=True)
    ledger = _ledger(package)
    outcomes = _run(ledger, ledger.select(selectors or ()), processes, certified=certificates is not None)
    for outcome in outcomes:
        if certificates is not None and outcome.certificate is not None:
            file = Path(certificates) / f"{outcome.id}.json"
            write_atomically(file, to_json(outcome.certificate), argument="--certificates")
    if report is not None:
        report = str(write_report(ledger, outcomes, Path(report), argument="--report"))
    if json is not None and json != STDOUT:
        write_json(outcomes, Path(json), argument="--json")
    if json == STDOUT:
        typer.echo(to_json([record(outcome) for outcome in outcomes]), nl=False)
        typer.echo(summary(outcomes), err=True)
    else:
        _print_outcomes(outcomes, report)
    raise typer.Exit(_status(outcomes))


@app.command()
def report(
    selectors: _Selectors = None,
    html: Annotated[str, typer.Option(metavar="DIR|FILE.html", help="Where the site, or the one page, goes.")] = "site",
    jobs: arguments.Jobs = None,
    package: _Package = None,
) -> None:
    """Run the ledger and write it for a browser: a dashboard with search, and a page for every entry.

    Entries that are not selected are shown with what is on record. Needs no network, then or later.
    Exit code as for verify.
    """
    from symshuffle.report.site import check_report, write_report

    processes = arguments.jobs(jobs)
    check_report(Path(html), argument="--html")
    ledger = _ledger(package)
    outcomes = _run(ledger, ledger.select(selectors or ()), processes)
    index = write_report(ledger, outcomes, Path(html), argument="--html")
    for line in discrepancies(outcomes):
        typer.echo(f"NOT AS RECORDED  {line}")
    typer.echo(summary(outcomes))
    typer.echo(f"open {index}")
    raise typer.Exit(_status(outcomes))


def _status(outcomes: Sequence[Outcome]) -> int:
    return 0 if outcomes and all(outcome.agrees_with_record for outcome in outcomes) else 1


def _run(ledger: Ledger, claims: Sequence[Claim], jobs: int, *, certified: bool = False) -> tuple[Outcome, ...]:
    with progress(logged=True) as display:
        task = display.add_task("", total=len(claims))

        def show_progress(outcome: Outcome) -> None:
            display.update(task, advance=1, description=outcome.id)

        outcomes = run_claims(ledger, claims, jobs=jobs, certified=certified, progress=show_progress)
        display.update(task, description="")
    return outcomes


def _print_outcomes(outcomes: Sequence[Outcome], report: str | None) -> None:
    console = _console()
    console.print(outcome_table(outcomes))
    console.print()
    if len(outcomes) == 1 and len(outcomes[0].clauses) > 1:
        for line in clause_lines(outcomes[0]):
            console.print(line, markup=False, soft_wrap=True)
        console.print()
    for line in discrepancies(outcomes):
        console.print(f"NOT AS RECORDED  {line}", markup=False, soft_wrap=True)
    console.print(summary(outcomes), markup=False, soft_wrap=True)
    place = "not written (give --report DIR)" if report is None else report
    console.print(f"full report: {place}", markup=False, soft_wrap=True)


@app.command()
def claims(
    paper: Annotated[
        str | None, typer.Argument(metavar="[PAPER]", help="One paper; all by default.", show_default=False)
    ] = None,
    json: _AsJson = False,
    package: _Package = None,
) -> None:
    """List the catalogue: every numbered statement, and what the ledger has on record of it."""
    asked = _chosen(entries(_ledger(package)), paper)
    chosen = [_listed(entry) for entry in asked]
    if json:
        typer.echo(to_json(chosen), nl=False)
        return
    table = Table("claim", "kind", "recorded", "grade", "title", box=None, pad_edge=False, header_style="bold")
    for entry in chosen:
        table.add_row(
            *(entry["id"], entry["kind"], entry["recorded"] or "not checked yet", entry["grade"] or "-", entry["title"])
        )
    console = _console()
    console.print(table, markup=False)
    checked = sum(entry["checked"] for entry in chosen)
    console.print(f"\n{len(chosen)} entries, {checked} checked")
    for group in groups(asked):
        strong, stated = group.strength
        if stated:
            console.print(f"{group.key}: {strong} of {stated} statements proved or certified")


def _chosen(listed: Sequence[LedgerEntry], paper: str | None, *, by: str = "paper") -> list[LedgerEntry]:
    """The entries of one paper, or all."""
    asked = [entry for entry in listed if paper in (None, getattr(entry, by))]
    if not asked:
        known = dict.fromkeys(getattr(entry, by) for entry in listed)
        raise InputError("PAPER", paper, f"one of {', '.join(known)}")
    return asked


@app.command()
def errata(
    paper: Annotated[
        str | None, typer.Argument(metavar="[PAPER]", help="One paper; all by default.", show_default=False)
    ] = None,
    json: _AsJson = False,
    package: _Package = None,
) -> None:
    """List what is wrong as printed, by severity, and what is only a matter of reading.

    Findings without a number in their paper have ids that begin with symshuffle; their source says where they are.
    """
    listed = [entry for entry in entries(_ledger(package)) if entry.erratum is not None]
    found = by_severity(_chosen(listed, paper, by="about") if listed else ())
    if json:
        pairs = [pair for _, part in found for pair in part]
        typer.echo(to_json([_erratum(entry, erratum) for entry, erratum in pairs]), nl=False)
        return
    console = _console()
    for severity, part in found:
        console.print(f"{MEANINGS[severity]} ({len(part)})", style="bold", markup=False)
        for entry, erratum in part:
            standing = "" if erratum.standing is None else f" [{MEANINGS[erratum.standing]}]"
            console.print(f"  {entry.id}: {entry.source}{standing}", markup=False, soft_wrap=True)
            console.print(f"      {erratum.because}", markup=False, soft_wrap=True)
        console.print()
    total = sum(len(part) for _, part in found)
    console.print(f"{total} entries; `symshuffle show ID` prints one with its correction", markup=False)


def _erratum(entry: LedgerEntry, erratum: Erratum) -> dict[str, Any]:
    claim = entry.claim
    assert claim is not None  # an erratum is part of one
    return {
        "id": entry.id,
        "title": entry.title,
        "source": entry.source,
        **(judged(erratum) or {}),
        "printed": claim.text,
        "corrected": claim.corrected.text if claim.corrected else None,
        "grade": entry.grade if claim.corrected else None,
    }


def _listed(entry: LedgerEntry) -> dict[str, Any]:
    claim = entry.claim
    return {
        "id": entry.id,
        "paper": entry.paper,
        "kind": entry.kind.value,
        "title": entry.title,
        "checked": claim is not None,
        "recorded": claim.expected.value if claim else None,
        "grade": claim.grade.value if claim and claim.grade else None,
    }


@app.command()
def show(
    claim_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a claim.")],
    json: _AsJson = False,
    package: _Package = None,
) -> None:
    """Show one claim: the statement, what it supposes, and how it is checked."""
    facts = _facts(_ledger(package).claim(claim_id))
    if json:
        typer.echo(to_json(facts), nl=False)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _in_words(value))
    _console().print(table, markup=False)


@app.command()
def cite(
    claim_id: Annotated[str, typer.Argument(metavar="ID", help="The id of an entry.")],
    package: _Package = None,
) -> None:
    """Print BibTeX: the paper with the number of the statement, and this tool with its verdict."""
    ledger = _ledger(package)
    found = next((entry for entry in entries(ledger) if entry.id == claim_id), None)
    if found is None:
        raise InputError("ID", claim_id, f"the id of an entry{ledger.suggestion(claim_id)}")
    typer.echo(bibtex(found, bibliography().get(found.paper)), nl=False)


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
        "grade": claim.grade.value if claim.grade else None,
        "recorded": claim.expected.value,
        "erratum": judged(claim.erratum),
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
    jobs: arguments.FewJobs = "1",
) -> None:
    """Draw figures and tables again, from the formulas of the library."""
    directory = Path(out)
    check_destination(directory, argument="--out", directory=True)
    ledger = load()
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        ledger.reproduction(name)  # refused before anything is drawn
    with tempfile.TemporaryDirectory() as staging:
        with progress() as display, workers(arguments.jobs(jobs)) as executor:
            task = display.add_task(wanted[0], total=len(wanted))

            def show(known: int, of: int) -> None:
                display.update(task, completed=known, description=wanted[known] if known < of else "")

            drawn = [
                file
                for files in mapped(partial(_drawn, ledger.package, staging), wanted, executor, show)
                for file in files
            ]
        for file in drawn:
            write_atomically(directory / file, (staging / file).read_bytes(), argument="--out")
    for file in drawn:
        typer.echo(directory / file)


def _drawn(package: str, staging: str, name: str) -> list[Path]:
    """Draw one figure or table; the files, below the folder that they were drawn in."""
    files = registry.load(package).reproduction(name)(Path(staging))
    if not files:
        raise LedgerError(f"{name} was reproduced, but no file came of it")
    return [file.relative_to(staging) for file in files]


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
