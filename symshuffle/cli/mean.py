"""Commands about means of vectors: mean, from users' vectors to a private estimate, and calibrate."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import named_fields
from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, counted, format_decimal, shortest
from symshuffle.cli import arguments, vectors
from symshuffle.cli.deployments import NONE_GIVEN, FieldOptions
from symshuffle.cli.options import (
    PLAIN,
    Header,
    LevelOptions,
    Show,
    SurveyEps,
    TargetDelta,
    UsersOption,
    command,
)
from symshuffle.cli.progress import progress

if TYPE_CHECKING:
    from symshuffle.base.results import Bracket
    from symshuffle.vectors.means.answers import PrivateMean

app = typer.Typer()

_USUAL: Final = {"adjacency": "replace-one"}


@command(app, without=named_fields("absent", "mean"))
def mean(
    data: Annotated[
        Path, typer.Argument(metavar="FILE", help="Vectors, one per row: .npy, or .csv with or without a header.")
    ],
    eps: SurveyEps,
    delta: TargetDelta,
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
    header: Header = None,
    show: Show = PLAIN,
    fields: FieldOptions = NONE_GIVEN,
) -> None:
    """Estimate the mean of vectors of the unit ball from simulated shuffled messages, and say how far off it is."""
    import secrets

    import numpy as np

    from symshuffle.vectors.means.private import private_mean
    from symshuffle.vectors.means.rows import file_rows

    if out is not None:
        if out.suffix.lower() not in (".npy", ".csv"):
            raise InputError("--out", out, "a file that ends in .npy or .csv")
        begins = b"estimate" if out.suffix.lower() == ".csv" else b"\x93NUMPY"
        check_destination(out, argument="--out", beginning=begins)
    used = secrets.randbits(64) if seed is None else as_integer(seed, "seed", 0)
    asked: dict[str, Any] = {"eps": eps, "delta": delta, "mechanism": mechanism, **_USUAL, **fields.given}
    fixed = arguments.assignments(param)
    header = file_rows(data, header).header
    with progress() as display:
        task = display.add_task("mean", total=None)
        found = private_mean(
            data,
            **asked,
            rng=np.random.default_rng(used),
            progress=lambda text: display.update(task, description=text),
            fixed=fixed,
            header=header,
        )
    if out is not None:
        write_atomically(out, _written(found, out.suffix.lower()), argument="--out")
    named = {} if header is None else {"header": header}
    inputs = {"data": str(data), **named, **asked, **({"fixed": fixed} if param else {}), "seed": used}
    if not show.data({**found.to_dict(), "inputs": inputs}):
        written = [] if out is None else [("written", str(out))]
        sizes = f"{counted(found.n, 'row')}, {counted(found.dimension, 'column')}"
        read = sizes if header is None else f"{sizes}, header: {'yes' if header else 'no'}"
        show.rows([*found.lines.rows, ("file", f"{data}: {read}"), *_rows(found, used, explain=show.explain), *written])


def _written(found: PrivateMean, suffix: str) -> str | bytes:
    """The estimate as the content of a file: doubles, one for each coordinate."""
    import numpy as np

    if suffix == ".csv":
        return "estimate\n" + "".join(f"{float(x)!r}\n" for x in found.estimate)
    stream = io.BytesIO()
    np.save(stream, found.estimate)
    return stream.getvalue()


def _rounded_up(bracket: Bracket) -> str:
    return format_decimal(bracket.upper, digits=9, up=True)


def _rows(found: PrivateMean, seed: int, *, explain: bool, most: int = 6) -> list[tuple[str, str]]:
    chosen = found.chosen
    parameters = ", ".join(f"{name} = {shortest(value)}" for name, value in chosen.parameters.items())
    shown = ", ".join(f"{x:.6g}" for x in found.estimate[:most])
    rest = ", ..." if found.dimension > most else ""
    estimate = ("estimate", f"[{shown}{rest}], SIMULATED with seed {seed}, which is not private")
    hint = [] if found.hint is None else [("hint", found.hint)]
    if not explain:
        return [estimate, *hint]
    return [
        estimate,
        *hint,
        ("vectors", f"n = {found.n}, d = {found.dimension}"),
        ("mechanism", f"{chosen.name} ({parameters})"),
        ("certified", f"delta <= {_rounded_up(chosen.delta)} ({chosen.delta.arithmetic})"),
        ("", "root mean squared error per coordinate"),
        ("measured", f"{found.measured:.6g} (this run, seed {seed})"),
        ("exact", f"{found.expected:.6g} on these data, at most {_rounded_up(found.bracket)} on any"),
        ("central Gaussian", f"{found.central:.6g} (a trusted curator, same guarantee and adjacency)"),
        *(("not taken", f"{one.name}, worst case {_rounded_up(one.rmse)}") for one in found.candidates[1:]),
        *(("not taken", f"{name}: {reason}") for name, reason in found.refused),
        ("about", found.about),
    ]


@command(app, without=named_fields("absent", "calibrate"))
def calibrate(
    mech: Annotated[
        str, typer.Argument(metavar="MECH", help="bmg, sphere-linear, privunit, clipped-linear or gaussian.")
    ],
    n: UsersOption,
    delta: TargetDelta,
    d: Annotated[str, typer.Option("--d", help="Dimension of the vectors.")],
    target: LevelOptions,
    gap: Annotated[
        str,
        typer.Option("--gap", help="How far below the rmse a certified floor may lie, in (0, 1); none leaves it out."),
    ] = "0.01",
    param: Annotated[
        list[str] | None, typer.Option("-p", "--param", help="gamma, theta or clip, fixed instead of searched: clip=0.")
    ] = None,
    show: Show = PLAIN,
    fields: FieldOptions = NONE_GIVEN,
) -> None:
    """Parameters of smallest exact worst-case error that make n shuffled messages (eps, delta)-private."""
    from symshuffle.vectors.calibration.search import calibrate as calibrated

    users, dimension, fixed = check_n(n), vectors.dimension(d), arguments.assignments(param)
    asked: dict[str, Any] = {**_USUAL, "blanket": None, **fields.given, "n": users, "delta": delta, **target.given}
    found = calibrated(mech, dimension=dimension, gap=None if gap == "none" else gap, fixed=fixed, **asked)
    inputs = {"mechanism": mech, **asked, "d": dimension, **({"fixed": fixed} if param else {})}
    rows = [(name, str(value)) for name, value in found.to_dict()["parameters"].items()]
    if found.limit is not None:
        rows.append(("limit", found.limit))
    more = [("rmse", _rounded_up(found.bracket))]
    if found.rmse_floor is not None:
        least = format_decimal(found.rmse_floor, digits=9, up=False)
        told = f"{least}, excluded below at {counted(len(found.excluded), 'point')}"
        more.append(("no rmse below", told))
    more.append(("gaussian_rmse", f"{found.gaussian_rmse:.9g}, of a trusted curator's Gaussian noise"))
    more.append(("delta <=", found.certificate.bracket.decimals(12)["upper"]))
    show.answer(found, [*more, ("about", found.about)], inputs, asked=rows)
