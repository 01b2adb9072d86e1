"""Command doctor: whether the installation is in order."""

from __future__ import annotations

import platform
from fractions import Fraction
from typing import Any, Final

import typer
from rich.table import Table

from symshuffle.base.artifacts import installed
from symshuffle.base.numbers import enclose
from symshuffle.base.solvers import cvxpy, silent
from symshuffle.cli.catalogue import AsJson, console, in_words
from symshuffle.ledger.claims.registry import Ledger, load
from symshuffle.ledger.claims.verify import verify as run_claims
from symshuffle.ledger.report.records import to_json

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


@app.command()
def doctor(json: AsJson = False) -> None:
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
