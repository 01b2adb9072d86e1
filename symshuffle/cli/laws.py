"""Commands about one channel as a law of templates: law."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.errors import InputError
from symshuffle.numbers import Exp, parse_rational, ungrouped

if TYPE_CHECKING:
    from symshuffle.anchored.law import AnchoredLaw
    from symshuffle.channel import Channel
    from symshuffle.frontiers.leakage import PairLeakage

app = typer.Typer()


@app.command()
def law(
    file: Annotated[
        Path, typer.Option("--file", metavar="FILE", help="Channel as CSV or JSON: one row of probabilities per input.")
    ],
    n: Annotated[str, typer.Option("--n", help="Number of users, for risks and leakage.")] = "1",
    eps: Annotated[
        str | None, typer.Option("--eps", help="Also the leakage of every ordered pair of inputs at this eps, in nats.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What a channel says and hides: templates, trace, budget, worst canonical risks, and leakage beside its envelope.

    Leakage is that of one user who holds i where all others hold j; its envelope is that of the worst channel with the
    same ratio cap. Risks are expected squared errors of the estimated composition.
    """
    from symshuffle.anchored.law import AnchoredLaw
    from symshuffle.channel_file import read_channel

    channel = read_channel(file)
    users, found = _users(n), AnchoredLaw.from_channel(channel)
    leaks = [] if eps is None else _leaks(channel, users, eps)
    if as_json:
        typer.echo(json.dumps(_json(found, users, leaks) | {"inputs": {"file": file.name, "n": users, "eps": eps}}))
    else:
        _show(found, users, leaks)


def _users(text: str) -> int:
    value = parse_rational(ungrouped(text), "--n")
    if value.denominator != 1 or value < 1:
        raise InputError("--n", text, "an integer of at least 1")
    return int(value)


def _leaks(channel: Channel, users: int, eps: str) -> list[PairLeakage]:
    from symshuffle.frontiers.leakage import leakage

    level = parse_rational(eps, "--eps")
    if level < 0:
        raise InputError("--eps", eps, "a number of at least 0")
    gamma: Fraction | Exp = Exp(level) if level else Fraction(1)
    inputs = range(channel.num_inputs)
    return [leakage(channel, i, j, n=users, gamma=gamma) for i in inputs for j in inputs if i != j]


def _risks(found: AnchoredLaw, users: int) -> dict[str, Any]:
    """The worst canonical risks as answers; infinite ones as None."""
    from symshuffle.estimation.canonical import Population, inverse_trace
    from symshuffle.estimation.worst_risk import worst_risk

    if inverse_trace(found) == math.inf:
        return {"iid_risk": None, "fixed_risk": None}
    populations = {"iid_risk": Population.IID, "fixed_risk": Population.FIXED}
    return {name: worst_risk(found, n=users, population=kind) for name, kind in populations.items()}


def _json(found: AnchoredLaw, users: int, leaks: list[PairLeakage]) -> dict[str, Any]:
    atoms = [{"template": [str(a) for a in u], "mass": str(w)} for u, w in found.template.atoms()]
    return {
        "law": atoms,
        "trace": str(found.trace()),
        "budget": str(found.pairwise_budget()),
        "ratio_cap": str(found.ratio_cap()),
        "extreme": found.is_extreme(),
        **{name: None if risk is None else risk.to_dict() for name, risk in _risks(found, users).items()},
        "leakage": [one.to_dict() | {"i": one.inputs[0], "j": one.inputs[1]} for one in leaks],
    }


def _show(found: AnchoredLaw, users: int, leaks: list[PairLeakage]) -> None:
    console = Console(highlight=False)
    table = Table("mass", *(f"input {x}" for x in range(found.num_inputs)), title="templates")
    for u, weight in found.template.atoms():
        table.add_row(_short(weight), *map(_short, u))
    console.print(table)
    facts = Table(box=None, show_header=False)
    facts.add_row("trace", _short(found.trace()))
    facts.add_row("largest chi-square of two rows", _short(found.pairwise_budget()))
    facts.add_row("largest likelihood ratio", _short(found.ratio_cap()))
    facts.add_row("extreme", "yes" if found.is_extreme() else "no: a mixture of other laws")
    labels = {"iid_risk": "worst i.i.d. risk", "fixed_risk": "worst fixed-composition risk"}
    for name, risk in _risks(found, users).items():
        shown = "infinite: some compositions look alike" if risk is None else _short(risk.bracket.exact)
        facts.add_row(f"{labels[name]}, n = {users}", shown)
    console.print(facts)
    if leaks:
        pairs = Table("i", "j", "leakage, at most", "envelope, at most", title="one user against a constant population")
        for one in leaks:
            worst = "none" if one.envelope is None else f"{float(one.envelope):.6g}"
            pairs.add_row(str(one.inputs[0]), str(one.inputs[1]), f"{float(one):.6g}", worst)
        console.print(pairs)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 16 else f"{float(value):.8g}"
