"""Privacy in other terms than (eps, delta): renyi, gdp."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.choices import Question, Rigour
from symshuffle.cli.arguments import LAW_BITS, Direction, Json
from symshuffle.cli.rounds import Asked, with_asked

app = typer.Typer()


@app.command(
    epilog="The upper end bounds the true divergence of every pair of neighbouring datasets; the lower end is the "
    "other side of that bound, and what real datasets are known to reach is reported as attained."
)
@with_asked()
def renyi(
    asked: Asked,
    alpha: Annotated[str, typer.Option("--alpha", help="Order, from 1 (relative entropy) to 10,000.")],
    direction: Direction = Question.BOTH,
    rel: Annotated[float, typer.Option(help="Relative width of the bracket to aim at, in (0, 1).")] = 1e-3,
    rigour: Annotated[
        Rigour, typer.Option("--rigour", help="What every value of the profile must be: float64 or ball.")
    ] = Rigour.FLOAT64,
    as_json: Json = False,
) -> None:
    """Rényi divergence of shuffled messages, from their profile; over rounds it adds up."""
    from symshuffle.accountants.renyi import front as view

    subject = asked.subject(alpha=alpha)
    found = view.renyi(
        subject.reduced,
        n=subject.users,
        alpha=alpha,
        direction=direction,
        rigour=rigour,
        rel=rel,
        bits=LAW_BITS,
        attain=True,
    )
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "inputs": subject.inputs}, indent=2))
        return
    bracket, ends = found.bracket, found.bracket.decimals(9)
    shown = Table.grid(padding=(0, 2))
    shown.add_row(f"Rényi divergence of order {found.alpha} <=", ends["upper"])
    shown.add_row("lower end of the bound", ends["lower"])
    if found.attained is not None:
        shown.add_row("attained", f"{found.to_dict()['attained_lower']} by {found.attained.datasets}")
    if bracket.aimed is not None:
        wide = float(bracket.relative_width or 0)
        shown.add_row("width", f"{wide:.1e}, wider than the {bracket.aimed:.1e} that was aimed at")
    shown.add_row("rigour", f"{bracket.rigour.value}, engine {bracket.engine}: {bracket.how}")
    shown.add_row("adjacency", found.neighbours.adjacency.value)
    shown.add_row("meaning", found.about)
    Console(highlight=False).print(shown)


@app.command()
@with_asked()
def gdp(
    asked: Asked,
    direction: Direction = Question.BOTH,
    as_json: Json = False,
) -> None:
    """About which Gaussian mechanism shuffled messages resemble: an approximation for many users, and no guarantee."""
    from symshuffle.accountants.questions.gaussian_limit import limit_of

    subject = asked.subject()
    found = limit_of(subject.reduced, subject.users, direction)
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "inputs": subject.inputs}, indent=2))
        return
    shown = Table.grid(padding=(0, 2))
    shown.add_row("mu is about", f"{found.mu:.6g}")
    shown.add_row("certified", "no")
    shown.add_row("meaning", found.about)
    shown.add_row("what holds", "symshuffle curve --kind f-dp, with the same options, draws both")
    Console(highlight=False).print(shown)
