"""The command mean: users' vectors to a private estimate of their mean, with its errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.numbers import as_integer
from symshuffle.cli.arguments import Json, assignments
from symshuffle.cli.progress import progress

if TYPE_CHECKING:
    from symshuffle.vectors.means.private import PrivateMean

app = typer.Typer()

_SHOWN = 6


@app.command("mean")
def mean(
    data: Annotated[Path, typer.Option("--data", help="Vectors, one per row: .npy, or .csv with or without a header.")],
    eps: Annotated[str, typer.Option("--eps", help="Target eps > 0 in nats, of the shuffled messages.")],
    delta: Annotated[str, typer.Option("--delta", help="Target delta in (0, 1).")],
    adjacency: Annotated[str, typer.Option("--adjacency", help="replace-one or zero-out.")] = "replace-one",
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism",
            help="privunit, sphere-linear, clipped-linear, bmg, or auto for the smallest certified error.",
        ),
    ] = "auto",
    param: Annotated[
        list[str] | None,
        typer.Option("-p", "--param", help="gamma, theta or clip, fixed instead of searched: theta=0."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Seed of the simulation; drawn and printed if absent.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Estimate the mean of vectors of the unit ball from simulated shuffled messages, and say how far off it is."""
    import secrets
    from typing import cast

    import numpy as np

    from symshuffle.base.choices import Adjacency
    from symshuffle.vectors.means.private import private_mean

    used = secrets.randbits(64) if seed is None else as_integer(seed, "seed", 0)
    with progress() as display:
        task = display.add_task("mean", total=None)
        found = private_mean(
            data,
            eps=eps,
            delta=delta,
            rng=np.random.default_rng(used),
            adjacency=cast("Adjacency", adjacency),
            mechanism=mechanism,
            progress=lambda text: display.update(task, description=text),
            fixed=assignments(param),
        )
    inputs: dict[str, object] = {
        "data": str(data),
        "eps": eps,
        "delta": delta,
        "adjacency": adjacency,
        "mechanism": mechanism,
    }
    if param:
        inputs["fixed"] = assignments(param)
    if as_json:
        typer.echo(json.dumps(found.to_dict() | {"inputs": inputs | {"seed": used}}, indent=2))
        return
    console = Console(highlight=False)
    console.print(_table(found, used))
    for candidate in found.candidates[1:]:
        console.print(f"not taken: {candidate.name}, worst case {float(candidate.rmse.upper):.6g}")
    for name, reason in found.refused:
        console.print(f"not taken: {name}: {reason}")


def _table(found: PrivateMean, seed: int) -> Table:
    chosen = found.chosen
    parameters = ", ".join(f"{name} = {float(value):.10g}" for name, value in chosen.parameters.items())
    shown = ", ".join(f"{x:.6g}" for x in found.estimate[:_SHOWN])
    rest = ", ..." if found.dimension > _SHOWN else ""
    table = Table.grid(padding=(0, 2))
    table.add_row("vectors", f"n = {found.n}, d = {found.dimension}")
    table.add_row("mechanism", f"{chosen.name} ({parameters})")
    table.add_row("certified", f"delta <= {float(chosen.delta.upper):.9g} ({chosen.delta.rigour.value})")
    table.add_row("estimate", f"[{shown}{rest}]")
    table.add_row("", "root mean squared error per coordinate")
    table.add_row("measured", f"{found.measured:.6g} (this run, seed {seed})")
    table.add_row("exact", f"{found.expected:.6g} on these data, at most {float(found):.6g} on any")
    table.add_row("central Gaussian", f"{found.central:.6g} (a trusted curator, same guarantee and adjacency)")
    table.add_row("about", found.about)
    return table
