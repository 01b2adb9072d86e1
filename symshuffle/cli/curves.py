"""Commands that invert an amplification bound, or take it at every point of a line."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.accountants.deployment.group import LARGEST_N, check_n
from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.errors import InputError, optional
from symshuffle.base.executors import workers
from symshuffle.base.numbers import as_integer, format_decimal, shortest, ungrouped
from symshuffle.base.rows import csv_text
from symshuffle.cli import arguments
from symshuffle.cli.arguments import LAW_BITS
from symshuffle.cli.deployments import Asked, DescribedDeployment, RelOrUsual
from symshuffle.cli.options import (
    PLAIN,
    FewJobs,
    LevelOptions,
    QuestionOption,
    RigourOption,
    Show,
    TargetDelta,
    command,
    file_rows,
    known,
)
from symshuffle.cli.progress import progress

if TYPE_CHECKING:
    from symshuffle.accountants.bounds.answers import Answer
    from symshuffle.accountants.questions.curves import Curve
    from symshuffle.accountants.questions.tradeoff_function import GaussianLimit

app = typer.Typer()


@command(app, name="largest-eps0", without=("eps0", "lam", "header"))
def largest_eps0(
    asked: Asked,
    delta: TargetDelta,
    target: LevelOptions,
    direction: QuestionOption = "both",
    rtol: RelOrUsual = None,
    arithmetic: RigourOption = None,
    show: Show = PLAIN,
) -> None:
    """Largest local budget eps0 whose shuffled mechanism is (eps, delta)-private; the lower end is the safe one."""
    from symshuffle.accountants.questions import inverses

    deployment, inputs = asked.budgeted()
    found = inverses.largest_eps0(
        deployment,
        delta=delta,
        direction=direction,
        arithmetic=arithmetic or "float64",
        rtol=rtol,
        bits=LAW_BITS,
        **target.given,
    )
    _show(found, inputs | arguments.understood(**target.given, delta=delta) | asked.fields.values, show)


@command(app, name="smallest-n", without=("n",))
def smallest_n(
    asked: Asked,
    delta: TargetDelta,
    target: LevelOptions,
    direction: QuestionOption = "both",
    arithmetic: RigourOption = None,
    show: Show = PLAIN,
) -> None:
    """Smallest number of users that makes a mechanism (eps, delta)-private; the upper end is the safe one."""
    from symshuffle.accountants.questions import inverses

    targets = {**target.given, "delta": delta}
    subject, level = asked.subject(users=False, **targets), arithmetic or "float64"
    found = inverses.smallest_n(subject.deployment, direction=direction, arithmetic=level, bits=LAW_BITS, **targets)
    _show(found, subject.inputs, show)


@final
@dataclass(frozen=True, slots=True)
class _CurveOptions:
    """How a curve is computed, and where it is written."""

    points: Annotated[str, typer.Option(help="How many points, the two ends included.")] = "30"
    rtol: RelOrUsual = None
    arithmetic: RigourOption = None
    table: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the points to this CSV file as well.")
    ] = None
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the curve to this file (.png, .pdf, .svg).")
    ] = None
    jobs: FewJobs = "1"

    def check(self, axis: str) -> int:
        """Number of points; files that cannot be written are refused, those of another first column too."""
        if self.plot is not None and self.plot.suffix.lower() not in (".png", ".pdf", ".svg"):
            raise InputError("--plot", self.plot, "a file that ends in .png, .pdf or .svg")
        for option, target in (("--csv", self.table), ("--plot", self.plot)):
            if target is not None:
                check_destination(target, argument=option, beginning=axis.encode() if option == "--csv" else b"")
        from symshuffle.accountants.questions.curves import MOST_POINTS

        return as_integer(self.points, "points", 2, MOST_POINTS)

    def show(
        self,
        subject: DescribedDeployment,
        show: Show,
        ask: Callable[..., Curve],
        limit: tuple[GaussianLimit | None, str] | None = None,
        usual: float = 1e-4,
    ) -> None:
        """Compute a curve and print it.

        - ``ask``: the question; ``limit``: the Gaussian approximation beside a trade-off, or why there is none.
        - ``usual``: relative width of the points of a curve of one round.
        """
        several = subject.batches is not None and subject.batches.several
        with progress() as display, workers(arguments.jobs(self.jobs)) as executor:
            task = display.add_task("points", total=None)
            found = ask(
                subject.deployment,
                arithmetic=self.arithmetic or "float64",
                rtol=usual if self.rtol is None and not several else self.rtol,
                bits=LAW_BITS,
                executor=executor,
                progress=lambda known, of: display.update(task, completed=known, total=of),
            )
        near, no_limit = limit or (None, "")
        if self.table is not None:
            rows = found.rows()
            write_atomically(self.table, csv_text(list(rows[0]), rows), argument="--csv")
        undrawn = "" if self.plot is None else _plotted(found, self.plot, _title(subject.inputs), near)
        beside: dict[str, Any] = {} if self.plot is None else {"plot_missing": undrawn or None}
        if limit is not None:
            beside |= {"gaussian": None if near is None else near.to_dict(), "gaussian_missing": no_limit or None}
        if show.data({**found.to_dict(), **beside, "inputs": subject.inputs | {"points": len(found.points)}}):
            return
        _print(found, near, no_limit, subject.inputs, show)
        for path, missing in ((self.table, ""), (self.plot, undrawn)):
            if path is not None:
                said = f"not written: {path}: {missing}" if missing else f"written: {path}"
                Console(highlight=False).print(said, soft_wrap=True)


USUAL_CURVE: Final = _CurveOptions()


@command(app, name="profile")
def profile(
    asked: Asked,
    stop: Annotated[str, typer.Option("--to", help="Last eps, above the first.")],
    start: Annotated[str, typer.Option("--from", help="First eps, at least 0.")] = "0",
    direction: QuestionOption = "both",
    options: _CurveOptions = USUAL_CURVE,
    show: Show = PLAIN,
) -> None:
    """Privacy profile: a bound on delta at levels eps, as brackets."""
    from symshuffle.accountants.questions.curves import profile, spaced

    number = options.check("eps")
    subject = asked.subject(users=True, **{"from": start, "to": stop})
    levels = spaced(start, stop, number)
    options.show(subject, show, partial(profile, eps=levels, direction=direction))


@command(app, name="amplification-curve", without=("n",))
def amplification_curve(
    asked: Asked,
    delta: TargetDelta,
    start: Annotated[str, typer.Option("--from", help="First number of users.")] = "1000",
    stop: Annotated[
        str, typer.Option("--to", help="Last number of users; the numbers between are spaced geometrically.")
    ] = "1e6",
    direction: QuestionOption = "both",
    options: _CurveOptions = USUAL_CURVE,
    show: Show = PLAIN,
) -> None:
    """Smallest eps at a fixed delta as a function of the number of users, as brackets."""
    from symshuffle.accountants.questions import curves

    number = options.check("n")
    start, stop = ungrouped(start), ungrouped(stop)
    for name, end in (("from", start), ("to", stop)):
        as_integer(end, name, 1, LARGEST_N)
    subject = asked.subject(users=False, delta=delta, **{"from": start, "to": stop})
    where = curves.spaced(start, stop, number, geometric=True)
    users = sorted({check_n(str(x if x in (where[0], where[-1]) else round(x))) for x in where})
    options.show(subject, show, partial(curves.amplification_curve, delta=delta, users=users, direction=direction))


@command(app, name="tradeoff")
def tradeoff(
    asked: Asked,
    start: Annotated[str, typer.Option("--from", help="First type I error, at least 0.")] = "0",
    stop: Annotated[str, typer.Option("--to", help="Last type I error, at most 1.")] = "1",
    options: _CurveOptions = USUAL_CURVE,
    show: Show = PLAIN,
) -> None:
    """Smallest type II error of a test of neighbouring datasets at type I errors (f-DP), as brackets."""
    from symshuffle.accountants.questions.curves import spaced
    from symshuffle.accountants.questions.tradeoff_function import limit_of, tradeoff

    number = options.check("type_i")
    subject = asked.subject(users=True, **{"from": start, "to": stop})
    errors = spaced(start, stop, number)
    options.show(subject, show, partial(tradeoff, type_i=errors), optional(lambda: limit_of(subject.experiment)))


def _plotted(found: Curve, plot: Path, title: str, limit: GaussianLimit | None) -> str:
    """Draw a curve to a file; return the reason where there is no picture, which never refuses the answer."""
    drawn, missing = optional(lambda: _drawn(found, plot.suffix.lower().lstrip("."), title, limit))
    if drawn is not None:
        write_atomically(plot, drawn, argument="--plot")
    return missing


def _print(found: Curve, limit: GaussianLimit | None, no_limit: str, inputs: Mapping[str, Any], show: Show) -> None:
    show.rows([*found.lines.rows, *file_rows(inputs)])
    titles = (found.x, f"{found.y}, lower", f"{found.y}, upper", *(() if limit is None else ("Gaussian, no bound",)))
    shown = Table(*titles, title=f"{found.y} by {found.x}")
    for point in found.points:
        ends = point.y.decimals(9)
        near = () if limit is None else (f"{limit.tradeoff(point.x):.6g}",)
        shown.add_row(format_decimal(point.x, digits=9, up=found.safe == "upper"), ends["lower"], ends["upper"], *near)
    console = Console(highlight=False)
    console.print(shown)
    if show.explain:
        console.print(f"the {found.safe} end is the bound: {found.about}")
    if limit is not None:
        console.print(f"Gaussian, mu about {limit.mu:.6g}: {limit.about}")
    if no_limit:
        console.print(f"Gaussian: missing: {no_limit}", soft_wrap=True)


def _show(found: Answer, inputs: dict[str, Any], show: Show) -> None:
    safe, ends = found.safe, found.bracket.decimals(12)
    other = "upper" if safe == "lower" else "lower"
    rows = [
        ("safe end", ends[safe]),
        ("other end", ends[other]),
        ("delta there <=", found.delta_at_ends[0].decimals(12)["upper"]),
    ]
    show.answer(found, [*rows, *known(found), ("meaning", found.about)], inputs)


def _title(inputs: dict[str, Any]) -> str:
    """What was asked, in one line: the mechanism with its parameters, n and the target."""

    def brief(value: Any) -> str:
        if not isinstance(value, str) or "/" not in value:
            return f"{value:,}" if isinstance(value, int) else str(value)
        try:
            return shortest(Fraction(value))
        except ValueError:  # a path
            return Path(value).name

    axis = ("mechanism", "from", "to", "points")
    told = (
        f"{name} = {brief(value)}" for name, value in inputs.items() if name not in axis and not isinstance(value, list)
    )
    return ", ".join([str(inputs.get("mechanism", "several rounds")), *told])


def _drawn(found: Curve, form: str, title: str, limit: GaussianLimit | None) -> bytes:
    """The brackets as a band, with the end that is the bound as a line, and what they come near to as dashes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    x = [float(point.x) for point in found.points]
    low, high = ([float(getattr(point.y, end)) for point in found.points] for end in ("lower", "upper"))
    # Okabe and Ito's blue, which colour-blind readers tell from the grey of the reference line.
    axes.fill_between(x, low, high, alpha=0.3, color="#0072B2", linewidth=0, label="bracket")
    bound = low if found.safe == "lower" else high
    axes.plot(
        x,
        bound,
        color="#0072B2",
        marker="" if found.kind == "f-dp" else ".",
        label=f"{found.safe} end (the bound)",
    )
    names = {"eps": "ε", "delta": "δ", "n": "n (users)", "type_i": "type I error", "type_ii": "type II error"}
    axes.set(xlabel=names[found.x], ylabel=names[found.y])
    axes.set_title("\n".join(wrap(title, 70)), fontsize="medium")
    axes.grid(alpha=0.3)
    if found.kind == "f-dp":
        axes.plot([0, 1], [1, 0], linestyle=":", color="0.4", label="perfect privacy")
        if limit is not None:
            near = [limit.tradeoff(point.x) for point in found.points]
            axes.plot(x, near, linestyle="--", color="#D55E00", label=f"Gaussian, μ ≈ {limit.mu:.3g} (no bound)")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    elif max(low) > 0:
        axes.set_yscale("log", nonpositive="mask")  # from eps0 on delta is 0
    if found.kind == "eps-n":
        axes.set_xscale("log")
    axes.legend(loc="lower left" if found.kind == "f-dp" else "best")
    data = io.BytesIO()
    figure.savefig(data, format=form, dpi=120)
    return data.getvalue()
