"""Commands that run the ledger: verify, report, perturb, reproduce, doctor."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from symshuffle.base.artifacts import check_destination, installed, write_atomically
from symshuffle.base.errors import InputError
from symshuffle.base.executors import mapped, workers
from symshuffle.base.numbers import as_integer, enclose
from symshuffle.base.solvers import cvxpy, silent
from symshuffle.cli import arguments
from symshuffle.cli.catalogue import AsJson, Package, console, in_words, ledger_of
from symshuffle.cli.options import FewJobs, Jobs
from symshuffle.cli.progress import progress
from symshuffle.ledger.claims import registry
from symshuffle.ledger.claims.edits import CHANGES
from symshuffle.ledger.claims.model import Claim
from symshuffle.ledger.claims.outcomes import Outcome
from symshuffle.ledger.claims.registry import Ledger, LedgerError, load
from symshuffle.ledger.claims.run import verify_claims as run_claims
from symshuffle.ledger.report.records import (
    clause_lines,
    discrepancies,
    outcome_table,
    record,
    summary,
    to_json,
    write_json,
)

STDOUT: Final = "-"
"""What ``--json`` takes for standard output."""

app = typer.Typer()

_Selectors = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID|PAPER|GLOB]...", help="Claims by id, paper or pattern; default all.", show_default=False
    ),
]


@app.command()
def verify(
    selectors: _Selectors = None,
    jobs: Jobs = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the outcomes as JSON; - prints.")] = None,
    report: Annotated[
        str | None, typer.Option(metavar="DIR|FILE.html", help="Write a site, or one page, for a browser.")
    ] = None,
    certificates: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the exact comparisons of each claim, to be checked again.")
    ] = None,
    package: Package = None,
) -> None:
    """Run claims of the ledger and compare what is found with what is recorded.

    Exit code 0 if every verdict is the recorded one and every control was rejected, 1 otherwise.
    """
    processes = arguments.jobs(jobs)
    if json not in (None, STDOUT):
        check_destination(Path(json), argument="--json", beginning=to_json([{"id": ""}]).encode())
    if report is not None:
        from symshuffle.ledger.report.site import check_report, write_report

        check_report(Path(report), argument="--report")
    if certificates is not None:
        check_destination(Path(certificates), argument="--certificates", directory=True)
    ledger = ledger_of(package)
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
    jobs: Jobs = None,
    package: Package = None,
) -> None:
    """Run the ledger and write it for a browser: a dashboard with search, and a page for every entry.

    Entries that are not selected are shown with what is on record. Needs no network, then or later.
    Exit code as for verify.
    """
    from symshuffle.ledger.report.site import check_report, write_report

    processes = arguments.jobs(jobs)
    check_report(Path(html), argument="--html")
    ledger = ledger_of(package)
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
    page = console()
    page.print(outcome_table(outcomes))
    page.print()
    if len(outcomes) == 1 and len(outcomes[0].clauses) + len(outcomes[0].unchecked) > 1:
        for line in clause_lines(outcomes[0]):
            page.print(line, markup=False, soft_wrap=True)
        page.print()
    for line in discrepancies(outcomes):
        page.print(f"NOT AS RECORDED  {line}", markup=False, soft_wrap=True)
    page.print(summary(outcomes), markup=False, soft_wrap=True)
    place = "not written (give --report DIR)" if report is None else report
    page.print(f"full report: {place}", markup=False, soft_wrap=True)


@app.command()
def perturb(
    selectors: _Selectors = None,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help=f"One of {', '.join(CHANGES)}; all by default.")
    ] = None,
    each: Annotated[
        str, typer.Option(metavar="N", help="Largest number of perturbations of each kind for each claim.")
    ] = "1",
    seed: Annotated[str, typer.Option(metavar="S", help="Seed of the draw of perturbations.")] = "0",
    seconds: Annotated[
        str, typer.Option(metavar="T", help="Seconds after which no further comparison of a perturbation is made.")
    ] = "60",
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write all findings as JSON; - prints.")] = None,
    jobs: Jobs = None,
    package: Package = None,
) -> None:
    """Make statements of the ledger wrong by small changes, and list what no check rejects.

    Constants by 1 %, min and max, strict and weak comparisons, signs, arguments by 1, false beyond 50, exchanged
    arguments. Accepted is what no comparison refutes: a check that is too weak, or a change that changes nothing.
    """
    from symshuffle.ledger.claims.perturb import FATES

    wanted = tuple(kinds or CHANGES)
    if unknown := [one for one in wanted if one not in CHANGES]:
        raise InputError("--kind", unknown[0], "one of " + ", ".join(CHANGES))
    most, longest = as_integer(each, "--each", 1), as_integer(seconds, "--seconds", 1)
    processes = arguments.jobs(jobs)
    if json not in (None, STDOUT):
        check_destination(Path(json), argument="--json")
    ledger = ledger_of(package)
    ids = [claim.id for claim in ledger.select(selectors or ())]
    one = partial(_perturbed, ledger.package, seed, most, wanted, longest)
    with progress() as display, workers(processes) as executor:
        task = display.add_task("", total=len(ids))
        judged = mapped(one, ids, executor, lambda known, of: display.update(task, completed=known, total=of))
    found = [finding for findings_ in judged for finding in findings_]
    text = to_json(found)
    if json == STDOUT:
        typer.echo(text, nl=False)
        return
    if json is not None:
        write_atomically(Path(json), text, argument="--json")
    page = console()
    table = Table("kind", "tried", *FATES, "what is changed", box=None, pad_edge=False, header_style="bold")
    for kind in wanted:
        fates = [finding["fate"] for finding in found if finding["kind"] == kind]
        table.add_row(kind, str(len(fates)), *(str(fates.count(fate)) for fate in FATES), CHANGES[kind])
    page.print(table, markup=False)
    for finding in found:
        if finding["fate"] == "accepted":
            page.print(_PERTURBED.format(**finding), markup=False, soft_wrap=True)


_PERTURBED: Final = (
    "{claim}  {file}:{line}  {kind}: {change}  {fate} "
    "({comparisons} comparisons; its value differs in {differed} of {calls} calls)"
)


def _perturbed(
    package: str, seed: str, each: int, kinds: tuple[str, ...], seconds: int, name: str
) -> tuple[dict[str, Any], ...]:
    from symshuffle.ledger.claims.perturb import findings

    claim = registry.load(package).claim(name)
    return findings(claim, seed=seed, each=each, kinds=kinds, seconds=seconds)


@app.command()
def reproduce(
    names: Annotated[list[str], typer.Argument(metavar="ID...", help="Figures and tables.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Where the files go.")] = "out",
    jobs: FewJobs = "1",
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


DOCTORED: Final = (
    "decomposition.def-1",
    "decomposition.lem-1",
    "decomposition.def-blanket",
    "decomposition.ex-4.1",
    "decomposition.thm-12",
)
"""Five fast claims of one paper that use exact, symbolic and ball arithmetic."""

LIBRARIES: Final = ("numpy", "scipy", "sympy", "mpmath", "python-flint", "cvxpy", "highspy")


@app.command()
def doctor(json: AsJson = False) -> None:
    """Examine the installation: versions, solvers, ball arithmetic, and five fast claims.

    Exit code 0 if everything is in order, 1 otherwise.
    """
    findings = _examine(load(f"{registry.CHECKS}.decomposition"))
    if json:
        typer.echo(to_json(findings), nl=False)
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, value in {**findings["versions"], **findings}.items():
            if name != "versions":
                table.add_row(name.replace("_", " "), in_words(value))
        console().print(table, markup=False)
    raise typer.Exit(0 if findings["healthy"] else 1)


def _examine(ledger: Ledger) -> dict[str, Any]:
    from sympy.external.gmpy import GROUND_TYPES

    outcomes = run_claims(ledger, [claim for claim in ledger.claims if claim.id in DOCTORED])
    found = dict.fromkeys(DOCTORED, "missing")
    for outcome in outcomes:
        found[outcome.id] = "as recorded" if outcome.agrees_with_record else "NOT as recorded"
    with silent():
        solvers = sorted(cvxpy().installed_solvers())
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
