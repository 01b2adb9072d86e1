"""The command pld: the privacy-loss distribution of one round, in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import Rigour
from symshuffle.cli import arguments
from symshuffle.cli.arguments import LAW_BITS, Eps0, Explain, File, Json, Lam, Mech, Params, Rel, UsersOption
from symshuffle.cli.covering import NONE_ASKED, CoveringOptions, with_covering
from symshuffle.cli.shown import print_rows

app = typer.Typer()


@app.command()
@with_covering
def pld(
    mech: Mech,
    n: UsersOption,
    out: Annotated[Path, typer.Option("--out", help="Write the distribution to this JSON file.")],
    eps0: Eps0 = None,
    lam: Lam = None,
    param: Params = None,
    file: File = None,
    step: Annotated[
        str | None,
        typer.Option(help="Distance of the losses in nats; default 1e-4 times a power of 2 that suits the round."),
    ] = None,
    beyond: Annotated[str, typer.Option(help="Mass that may be put at an infinite loss, in (0, 1).")] = "1e-15",
    rel: Rel = 1e-4,
    rigour: Annotated[Rigour, typer.Option(help="What every value must be: float64 or ball.")] = Rigour.FLOAT64,
    explain: Explain = False,
    as_json: Json = False,
    covering: CoveringOptions = NONE_ASKED,
) -> None:
    """Write the privacy-loss distribution of one round, on the safe side, for other accountants."""
    from symshuffle.accountants.rounds.privacy_loss import privacy_loss

    check_destination(out, argument="--out")
    asked = arguments.quickest(mech, eps0, lam, param, file, covering)
    users = arguments.users(n)
    found = privacy_loss(
        asked, n=users, step=step, beyond=beyond, rigour=rigour, rel=rel, bits=LAW_BITS, **covering.whom
    )
    inputs = arguments.echoed(asked, eps0, lam, file=file, n=users, step=step, beyond=beyond) | covering.written
    answer = found.to_dict() | {"inputs": inputs}
    write_atomically(out, json.dumps(answer, indent=1) + "\n", argument="--out")
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    rows = [*found.lines.rows, ("written", str(out))]
    if explain:
        rows.append(("first loss", str(found.law.first)))
        rows += [(name.replace("_", " "), found.about[name]) for name in ("rigour", "meaning", "proved", "not_proved")]
    print_rows(rows)
