"""The command mean: users' vectors to a private estimate of their mean, with its errors."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer
from symshuffle.cli.arguments import Explain, Json, assignments
from symshuffle.cli.progress import progress
from symshuffle.cli.shown import print_rows

if TYPE_CHECKING:
    from symshuffle.vectors.means.answers import PrivateMean

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
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the estimate: .npy, or .csv with one column.")
    ] = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Estimate the mean of vectors of the unit ball from simulated shuffled messages, and say how far off it is."""
    import secrets
    from typing import cast

    import numpy as np

    from symshuffle.base.choices import Adjacency
    from symshuffle.vectors.means.private import private_mean

    if out is not None:
        if out.suffix.lower() not in (".npy", ".csv"):
            raise InputError("--out", out, "a file that ends in .npy or .csv")
        check_destination(out, argument="--out")
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
    if out is not None:
        write_atomically(out, _written(found, out.suffix.lower()), argument="--out")
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
    rows = [*found.lines.rows, *_rows(found, used, explain=explain)]
    print_rows(rows if out is None else [*rows, ("written", str(out))])


def _written(found: PrivateMean, suffix: str) -> str | bytes:
    """The estimate as the content of a file: doubles, one for each coordinate."""
    import numpy as np

    if suffix == ".csv":
        return "estimate\n" + "".join(f"{float(x)!r}\n" for x in found.estimate)
    stream = io.BytesIO()
    np.save(stream, found.estimate)
    return stream.getvalue()


def _rows(found: PrivateMean, seed: int, *, explain: bool) -> list[tuple[str, str]]:
    chosen = found.chosen
    parameters = ", ".join(f"{name} = {float(value):.10g}" for name, value in chosen.parameters.items())
    shown = ", ".join(f"{x:.6g}" for x in found.estimate[:_SHOWN])
    rest = ", ..." if found.dimension > _SHOWN else ""
    estimate = ("estimate", f"[{shown}{rest}], simulated with seed {seed}")
    if not explain:
        return [estimate]
    return [
        estimate,
        ("vectors", f"n = {found.n}, d = {found.dimension}"),
        ("mechanism", f"{chosen.name} ({parameters})"),
        ("certified", f"delta <= {float(chosen.delta.upper):.9g} ({chosen.delta.rigour.value})"),
        ("", "root mean squared error per coordinate"),
        ("measured", f"{found.measured:.6g} (this run, seed {seed})"),
        ("exact", f"{found.expected:.6g} on these data, at most {float(found):.6g} on any"),
        ("central Gaussian", f"{found.central:.6g} (a trusted curator, same guarantee and adjacency)"),
        *(("not taken", f"{one.name}, worst case {float(one.rmse.upper):.6g}") for one in found.candidates[1:]),
        *(("not taken", f"{name}: {reason}") for name, reason in found.refused),
        ("about", found.about),
    ]
