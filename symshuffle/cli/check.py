"""The command check: whether a channel in a file is what is said of it, and whether a proof file proves its bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import format_decimal, parse_rational
from symshuffle.cli import arguments
from symshuffle.cli.arguments import File, Json
from symshuffle.cli.proofs import check_proof, is_proof

app = typer.Typer()

_SHOWN = 5
"""Places that are written out; --json has all."""

_CODES = (
    "Exit code 0: as claimed, or nothing was claimed; proved. 1: the level or the blanket is not as claimed; not "
    "proved. 2: wrong input, as a row that does not sum to 1."
)


@app.command(epilog=_CODES)
def check(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A file that --proof wrote, or that of a channel.", show_default=False),
    ] = None,
    file: File = None,
    eps0: Annotated[str | None, typer.Option("--eps0", help="Claimed local level in nats.")] = None,
    lam: Annotated[str | None, typer.Option("--lam", help="Claimed ratio cap exp(eps0).")] = None,
    blanket_mass: Annotated[
        str | None, typer.Option("--blanket-mass", help="Claimed weight of the blanket, exactly.")
    ] = None,
    blanket: Annotated[
        str | None, typer.Option("--blanket", help="Claimed least probability of every output, comma-separated.")
    ] = None,
    expect: Annotated[
        Path | None,
        typer.Option("--expect", metavar="FILE", help="Of a proof: the statement, in JSON, that it has to prove."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Is the channel in a file eps0-LDP as claimed, is its blanket what you think; does a proof prove its bound.

    The file of a channel is named by --file or without it; a file that --proof wrote is recognised by its format, and
    checked by bound.py, which does the same without symshuffle.
    """
    from symshuffle.base.levels import read_budget
    from symshuffle.decompositions.stated import check_blanket, check_level

    if path is not None and file is not None:
        raise InputError("--file", file, f"one file, not {path} as well")
    if path is not None and is_proof(path):
        raise typer.Exit(0 if check_proof(path, expect, as_json=as_json) else 1)
    if expect is not None:
        raise InputError("--expect", expect, "a file that --proof wrote to go with it")
    file = file or path
    if file is None:
        raise InputError("--file", None, "the CSV or JSON file of the channel, one row per input")
    claimed = read_budget(eps0=eps0, lam=lam)
    mass = None if blanket_mass is None else parse_rational(blanket_mass, "--blanket-mass")
    masses = None if blanket is None else [parse_rational(part, "--blanket") for part in blanket.split(",")]
    channel = arguments.channel(file)
    level = check_level(channel, claimed)
    common = check_blanket(channel, mass=mass, masses=masses)
    verdicts = [verdict for verdict in (level.as_claimed, common.as_claimed) if verdict is not None]
    if as_json:
        answer = {
            "file": str(file),
            "inputs": channel.num_inputs,
            "outputs": channel.num_outputs,
            **({} if channel.rounding is None else {"matrix": str(channel.rounding)}),
            "as_claimed": all(verdicts) if verdicts else None,
            "level": level.to_dict(),
            "blanket": common.to_dict(),
        }
        typer.echo(json.dumps(answer, indent=2))
        raise typer.Exit(0 if all(verdicts) else 1)
    table = Table.grid(padding=(0, 2))
    own = level.eps0
    shown = "infinite: not LDP for any budget" if own is None else format_decimal(own.upper, digits=9, up=True)
    table.add_row("eps0 <=", shown)
    table.add_row("largest ratio", str(level.largest))
    if level.every_matrix is not None:
        least, most = level.every_matrix
        low = format_decimal(least, digits=9, up=False)
        ends = f"{low} or more" if most is None else f"from {low} to {format_decimal(most, digits=9, up=True)}"
        table.add_row("matrix", str(channel.rounding))
        table.add_row("largest ratio, any such", ends)
    if level.claimed is not None:
        table.add_row("claimed level", f"exp(eps0) <= {level.claimed}: {'yes' if level.as_claimed else 'NO'}")
        for place in level.above[:_SHOWN]:
            table.add_row("", str(place))
        if len(level.above) > _SHOWN:
            table.add_row("", f"and at {len(level.above) - _SHOWN} more outputs")
    table.add_row("blanket mass", f"{common.mass} ({format_decimal(common.mass, digits=9, up=False)})")
    if common.as_claimed is not None:
        harm = "no more than there is: bounds made with it hold" if common.safe else "more than there is: UNSAFE"
        table.add_row("claimed blanket", "yes" if common.as_claimed else f"NO, {harm}")
        for y in common.differs[:_SHOWN]:
            table.add_row("", f"output {y}: {common.masses[y]}, not {(common.claimed_masses or ())[y]}")
        if len(common.differs) > _SHOWN:
            table.add_row("", f"and {len(common.differs) - _SHOWN} more outputs")
    Console(highlight=False).print(table)
    raise typer.Exit(0 if all(verdicts) else 1)
