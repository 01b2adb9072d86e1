"""The command design shuffled: the most accurate channel found for a central target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import Loss
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import as_integer, format_decimal, parse_rational
from symshuffle.cli import arguments
from symshuffle.cli.deployments import NONE_GIVEN, FieldOptions
from symshuffle.cli.options import PLAIN, Show, UsersOption
from symshuffle.cli.progress import progress

if TYPE_CHECKING:
    from symshuffle.design.shuffled.model import ShuffledDesign


def shuffled(
    k: Annotated[str, typer.Option("--k", help="Number of inputs (categories).")],
    n: UsersOption,
    eps: Annotated[str, typer.Option("--eps", help="Central target eps >= 0 after shuffling, in nats.")],
    delta: Annotated[str, typer.Option("--delta", help="Central target delta, in (0, 1).")],
    lam_cap: Annotated[
        str | None, typer.Option("--lam-cap", help="Cap on likelihood ratios, exp(eps0) > 1; rationals stay exact.")
    ] = None,
    loss: Annotated[Loss, typer.Option("--loss", help="Error that is minimised; l2 (sum of squares) alone.")] = "l2",
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", metavar="FILE", help="Write the proof of the upper end; `symshuffle check FILE` checks it."
        ),
    ] = None,
    show: Show = PLAIN,
    fields: FieldOptions = NONE_GIVEN,
) -> None:
    """Most accurate channel found that meets (eps, delta) after shuffling: a mixture of orbits, by a local search."""
    from symshuffle.design.shuffled.best import LARGEST_INPUTS, best_shuffled

    inputs = as_integer(k, "--k", 2, LARGEST_INPUTS)
    users = arguments.users(n)
    cap = None if lam_cap is None else parse_rational(lam_cap, "--lam-cap")
    if proof is not None:
        if cap is None:
            raise InputError("--proof", proof, "--lam-cap as well: without a cap there is no upper end")
        check_destination(proof, argument="--proof")
    with progress() as display:
        task = display.add_task("", total=None)
        found = best_shuffled(
            inputs,
            n=users,
            eps=eps,
            delta=delta,
            lam_cap=cap,
            loss=loss,
            progress=lambda done, of, stage: display.update(task, completed=done, total=of, description=stage),
            **fields.given,
        )
    if proof is not None:
        if found.bound is None:
            raise NotDecided(f"no proof for {proof}: the upper end found is the largest trace under the cap alone")
        write_atomically(proof, json.dumps(found.bound.to_dict()) + "\n", argument="--proof")
        typer.echo(f"{proof} proves: {found.bound.about}", err=True)
    if not show.data(found.to_dict()):
        show.rows([*found.lines.rows, *_rows(found)], _explained(found))


def _rows(found: ShuffledDesign) -> list[tuple[str, str]]:
    """The channel, what real datasets attain, what is known of all other channels, and short messages."""
    attained, blocks = found.epsilon.attained, found.blocks
    parts = ", ".join(
        f"{float(orbit.weight):.4g} x [{', '.join(f'{count} at {float(value):.6g}' for count, value in orbit.levels)}]"
        for orbit in found.orbits
    )
    rows = [("channel", f"weight x template: {parts}; ratio {float(found.ratio):.6g}, {found.bits} bits")]
    if attained is not None:
        rows.append(("attained", f"eps >= {format_decimal(attained.lower, digits=6, up=False)} by a real pair"))
    rows.append(("upper", _upper(found)))
    if blocks is not None:
        rows.append(
            (
                "blocks",
                f"k = {blocks.points} (padded), s = {blocks.size}, b = {blocks.points}: {blocks.bits} bits, risk "
                f"{float(blocks.risk(found.n)):.6g} over all {blocks.points}; "
                "same certified bound, attained pairs may differ",
            )
        )
    return rows


def _explained(found: ShuffledDesign) -> list[tuple[str, str]]:
    return [
        ("class", found.about),
        ("trace", f"{float(found.trace):.6g}, of the covariance of the template"),
        ("uniform", f"always answering uniform has a risk of at most {1 - 1 / found.k:.6g}"),
        ("meaning", found.epsilon.about),
    ]


def _upper(found: ShuffledDesign) -> str:
    """The line about all other channels."""
    if found.upper is None or found.least_risk is None:
        return "no upper end: it needs --lam-cap"
    known = "by the cap alone" if found.bound is None else "by the certified bound, with a proof"
    trace, risk = (format_decimal(x, digits=6, up=up) for x, up in ((found.upper, True), (found.least_risk, False)))
    return f"trace at most {trace}, risk at least {risk} in it, {known}"
