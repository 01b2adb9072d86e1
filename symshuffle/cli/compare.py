"""The command compare: mechanisms side by side at one budget."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.measure import Measurement

from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import named_fields
from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import Loss
from symshuffle.base.errors import InputError, optional
from symshuffle.base.executors import workers
from symshuffle.base.numbers import as_integer, as_width
from symshuffle.channels.channel_file import read_channel
from symshuffle.cli import arguments
from symshuffle.cli.deployments import NONE_GIVEN, FieldOptions
from symshuffle.cli.options import PLAIN, FewJobs, Header, Show, UsersOption, command, file_rows
from symshuffle.cli.progress import progress
from symshuffle.configuration.randomizers import matrix_sizes

if TYPE_CHECKING:
    from symshuffle.channels.channel import Channel
    from symshuffle.design.comparison.table import Comparison

app = typer.Typer()

_WIDEST: Final = 400


@command(app, without=named_fields("absent", "compare"))
def compare(
    k: Annotated[str, typer.Option("--k", help="Number of inputs.")],
    n: UsersOption,
    budget: Annotated[
        str | None, typer.Option("--budget", help="Match mechanisms at this largest pairwise chi-square.")
    ] = None,
    eps0: Annotated[str | None, typer.Option("--eps0", help="Match mechanisms at this local budget in nats.")] = None,
    eps: Annotated[
        str | None, typer.Option("--eps", help="Match mechanisms at this certified eps, at --delta.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", help="delta at which eps is certified; default: no eps.")
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            "--mechanism",
            help="A row that is wanted (repeat): a name, or an expression such as joint(krr(k=3),2). Default: all.",
        ),
    ] = None,
    channel: Annotated[
        list[Path] | None,
        typer.Option("--channel", metavar="FILE", help="A row for the matrix in a file, taken as it is (repeat)."),
    ] = None,
    header: Header = None,
    variants: Annotated[
        str, typer.Option("--variants", help="Rows of one mechanism at most: its best integer parameters.")
    ] = "1",
    fields: FieldOptions = NONE_GIVEN,
    rtol: Annotated[
        float | None,
        typer.Option(
            metavar="REL",
            parser=as_width,
            help="Relative width of eps and eps0 to aim at; default 1e-4, or 5e-3 for several batches.",
        ),
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the rows as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw risk against eps and eps0.")] = None,
    loss: Annotated[
        Loss,
        typer.Option(
            "--loss",
            help="Error that is minimised: l2 (sum of squares), max (worst category), absent (a category that nobody "
            "holds), test (to tell all from none).",
        ),
    ] = "l2",
    jobs: FewJobs = "1",
    show: Show = PLAIN,
) -> None:
    """Compare all mechanisms with k inputs, each at its best parameters, at one local or central budget."""
    from symshuffle.design.comparison.compare import LARGEST_VARIANTS
    from symshuffle.design.comparison.compare import compare as compared

    inputs, users = as_integer(k, "--k", 2), check_n(n)
    for path, name in ((csv, "--csv"), (plot, "--plot")):
        if path is not None:
            check_destination(path, argument=name, beginning=b"mechanism" if name == "--csv" else b"")
    if plot is not None:
        from symshuffle.design.comparison.table import check_picture

        check_picture(plot.suffix)
    matrices = {str(path): read_channel(path, header=header) for path in channel or ()}
    if header is not None and not matrices:
        raise InputError("--header", header, "none, unless --channel is given")
    read = [{"file": path, **matrix_sizes(one)} for path, one in matrices.items()]
    with progress() as display, workers(arguments.jobs(jobs)) as executor:
        task = display.add_task("", total=None)
        found = compared(
            inputs,
            n=users,
            budget=budget,
            eps0=eps0,
            eps=eps,
            delta=delta,
            mechanisms=_rows(mechanism, matrices),
            variants=as_integer(variants, "variants", 1, LARGEST_VARIANTS),
            rtol=rtol,
            executor=executor,
            loss=loss,
            **fields.given,
            progress=lambda done, of, name: display.update(task, completed=done, total=of, description=name),
        )
    if csv is not None:
        write_atomically(csv, found.to_csv(), argument="--csv")
    undrawn = "" if plot is None else _plotted(found, plot)
    beside = ({"channels": read} if read else {}) | ({} if plot is None else {"plot_missing": undrawn or None})
    if show.data(found.to_dict() | beside):
        return
    console = Console(highlight=False)
    show.rows([*found.lines.rows, *file_rows({"channels": read})])
    shown, wide = found.table(every=show.explain), Console(highlight=False, width=_WIDEST)
    needed = Measurement.get(wide, wide.options, shown).maximum  # no column is left out of a narrow terminal
    Console(highlight=False, width=max(console.width, needed)).print(shown)
    for remark in found.remarks():
        console.print(remark)
    if show.explain:
        show.rows(
            [
                ("meaning", found.about),
                ("evaluation", found.evaluation),
                *((row.name, row.choice) for row in found.rows),
            ]
        )
    for path, missing in ((csv, ""), (plot, undrawn)):
        if path is not None:
            console.print(f"not written: {path}: {missing}" if missing else f"written: {path}")


def _plotted(found: Comparison, plot: Path) -> str:
    """Draw a comparison to a file; return the reason where there is no picture, which never refuses the answer."""
    from symshuffle.design.comparison.table import drawn

    picture, missing = optional(lambda: drawn(found, plot.suffix))
    if picture is not None:
        write_atomically(plot, picture, argument="--plot")
    return missing


def _rows(names: list[str] | None, files: Mapping[str, Channel]) -> list[object] | None:
    """The rows that are wanted; None for all."""
    matrices = [(Path(path).name, one) for path, one in files.items()]
    if not names and matrices:
        from symshuffle.design.comparison.families import names as all_names

        return [*all_names(), *matrices]
    return [*names, *matrices] if names else None
