"""The command worst-background: which neighbouring datasets come closest to a bound."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.cli import arguments
from symshuffle.cli.arguments import Eps0, Json, Lam, Mech, Params, Rel, Users
from symshuffle.errors import InputError
from symshuffle.numbers import format_decimal

app = typer.Typer()


@app.command("worst-background")
def worst_background(
    mech: Mech,
    n: Users,
    eps0: Eps0 = None,
    lam: Lam = None,
    eps: Annotated[str | None, typer.Option("--eps", help="Target eps >= 0 in nats.")] = None,
    exp_eps: Annotated[str | None, typer.Option("--exp-eps", help="Target ratio exp(eps) >= 1.")] = None,
    param: Params = None,
    rel: Rel = 1e-6,
    as_json: Json = False,
) -> None:
    """Search for the worst real neighbouring datasets, and say how far below the bound they stay."""
    from symshuffle.accountants import adversary, solve
    from symshuffle.accountants.reduction import Composed
    from symshuffle.mechanisms.continuous import Laplace
    from symshuffle.mechanisms.parameters import read_target

    target = read_target(eps=eps, exp_eps=exp_eps)
    asked = arguments.source(mech, eps0, lam, param)
    users = arguments.users(n)
    if isinstance(asked, Laplace):
        raise InputError("mechanism", mech, "a mechanism with finitely many outputs")
    channel = asked.composition.channel(asked.lam) if isinstance(asked, Composed) else asked.channel(bits=None)
    found = adversary.worst_background(channel, users, target, rel=rel)
    bound = solve.delta(channel, n=users, exp_eps=target, rel=rel).bracket
    missing = adversary.gap(found, bound)
    answer = {
        "attained_lower": format_decimal(found.bracket.lower, up=False),
        "attained_by": found.datasets,
        "exact": None if found.bracket.exact is None else str(found.bracket.exact),
        "rigour": found.bracket.rigour.value,
        "searched": found.searched,
        "space": found.space,
        "upper": format_decimal(bound.upper, up=True),
        "gap": format_decimal(missing, digits=6, up=True),
        "inputs": arguments.echoed(asked, eps0, lam, n=users, eps=eps, exp_eps=exp_eps),
    }
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    table = Table.grid(padding=(0, 2))
    table.add_row("attained", f"{answer['attained_lower']} by {found.datasets}")
    table.add_row("searched", f"{found.searched}: {found.space}")
    table.add_row("bound", f"{answer['upper']}; the datasets stay below it by a share of {answer['gap']}")
    Console(highlight=False).print(table)
