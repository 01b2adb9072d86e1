"""Commands that invert an amplification bound or draw it: solve-eps0, solve-n, curve."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import CurveKind, Question, Rigour
from symshuffle.base.errors import InputError, optional
from symshuffle.base.executors import workers
from symshuffle.base.numbers import as_integer, format_decimal, ungrouped
from symshuffle.base.results import SafeEnd
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

_WIDTH = 1e-4
"""Relative width of the points of a curve of one round."""


@command(app, name="solve-eps0", without=("eps0", "lam", "header"))
def solve_eps0(
    asked: Asked,
    delta: TargetDelta,
    target: LevelOptions,
    direction: QuestionOption = Question.BOTH,
    rel: RelOrUsual = None,
    rigour: RigourOption = None,
    show: Show = PLAIN,
) -> None:
    """Largest local budget eps0 whose shuffled mechanism is (eps, delta)-private; the lower end is the safe one."""
    from symshuffle.accountants.questions import inverses

    deployment, inputs = asked.budgeted()
    found = inverses.solve_eps0(
        deployment,
        delta=delta,
        direction=direction,
        rigour=rigour or Rigour.FLOAT64,
        rel=rel,
        bits=LAW_BITS,
        **target.given,
    )
    _show(found, inputs | arguments.understood(**target.given, delta=delta) | asked.fields.values, show)


@command(app, name="solve-n", without=("n",))
def solve_n(
    asked: Asked,
    delta: TargetDelta,
    target: LevelOptions,
    direction: QuestionOption = Question.BOTH,
    rigour: RigourOption = None,
    show: Show = PLAIN,
) -> None:
    """Smallest number of users that makes a mechanism (eps, delta)-private; the upper end is the safe one."""
    from symshuffle.accountants.questions import inverses

    targets = {**target.given, "delta": delta}
    subject, level = asked.subject(users=False, **targets), rigour or Rigour.FLOAT64
    found = inverses.solve_n(subject.deployment, direction=direction, rigour=level, bits=LAW_BITS, **targets)
    _show(found, subject.inputs, show)


@command(app)
def curve(
    asked: Asked,
    kind: Annotated[CurveKind, typer.Option(help="delta as a function of eps, eps of n, or type II of type I error.")],
    delta: Annotated[str | None, typer.Option("--delta", help="Target delta in (0, 1), for eps-n.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="First eps, n or type I error; default 0, 1000 or 0.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option("--to", help="Last eps (required for delta-eps), n or type I error; default 1e6 or 1.")
    ] = None,
    points: Annotated[str, typer.Option(help="How many points; geometric in n, even otherwise.")] = "30",
    direction: QuestionOption = Question.BOTH,
    rel: RelOrUsual = None,
    rigour: RigourOption = None,
    table: Annotated[Path | None, typer.Option("--csv", help="Write the points to this CSV file as well.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the curve to this file (.png, .pdf, .svg).")] = None,
    jobs: FewJobs = "1",
    show: Show = PLAIN,
) -> None:
    """Profile delta(eps), amplification eps(n) at fixed delta, or the f-DP trade-off, as brackets at each point."""
    from symshuffle.accountants.questions.curves import MOST_POINTS

    if plot is not None and plot.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError("--plot", plot, "a file that ends in .png, .pdf or .svg")
    for option, target in (("--csv", table), ("--plot", plot)):
        if target is not None:
            check_destination(target, argument=option)
    number = as_integer(points, "points", 2, MOST_POINTS)
    if kind is CurveKind.EPS_N:
        start, stop = (None if end is None else ungrouped(end) for end in (start, stop))
    ends: dict[str, Any] = {"from": start, "to": stop}
    of_file = asked.path is not None
    _check_axis(kind, None if of_file else asked.n, delta, stop, named_users=of_file)
    subject = asked.subject(users=kind is not CurveKind.EPS_N, delta=delta, **ends)
    several = subject.batches is not None and subject.batches.several
    with progress() as display, workers(arguments.jobs(jobs)) as executor:
        task = display.add_task("points", total=None)
        found = _curve(
            subject,
            kind,
            delta,
            (start, stop, number),
            direction,
            rigour=rigour or Rigour.FLOAT64,
            rel=_WIDTH if rel is None and not several else rel,
            bits=LAW_BITS,
            executor=executor,
            progress=lambda known, of: display.update(task, completed=known, total=of),
        )
    inputs = subject.inputs
    limit, no_limit = _limit(subject) if kind is CurveKind.F_DP else (None, "")
    if table is not None:
        write_atomically(table, _csv(found), argument="--csv")
    undrawn = "" if plot is None else _plotted(found, plot, _title(inputs), limit)
    beside: dict[str, Any] = {} if plot is None else {"plot_missing": undrawn or None}
    if kind is CurveKind.F_DP:
        beside |= {"gaussian": None if limit is None else limit.to_dict(), "gaussian_missing": no_limit or None}
    if show.data({**found.to_dict(), **beside, "inputs": inputs | {"points": number}}):
        return
    _print(found, limit, no_limit, inputs, show)
    for path, missing in ((table, ""), (plot, undrawn)):
        if path is not None:
            said = f"not written: {path}: {missing}" if missing else f"written: {path}"
            Console(highlight=False).print(said, soft_wrap=True)


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
        shown.add_row(format_decimal(point.x, digits=9, up=False), ends["lower"], ends["upper"], *near)
    console = Console(highlight=False)
    console.print(shown)
    if show.explain:
        console.print(f"the {found.safe} end is the bound: {found.meaning}")
    if limit is not None:
        console.print(f"Gaussian, mu about {limit.mu:.6g}: {limit.about}")
    if no_limit:
        console.print(f"Gaussian: missing: {no_limit}", soft_wrap=True)


def _limit(asked: DescribedDeployment) -> tuple[GaussianLimit | None, str]:
    """The Gaussian mechanism that comes near, or None and the reason why none is known."""
    from symshuffle.accountants.questions.tradeoff_function import limit_of

    return optional(lambda: limit_of(asked.experiment))


def _check_axis(kind: CurveKind, n: str | None, delta: str | None, stop: str | None, *, named_users: bool) -> None:
    """Refuse a number of users, a target or a last level where the kind of curve has no place for one, or lacks one."""
    if kind is CurveKind.DELTA_EPS and stop is None:
        raise InputError("--to", None, "the last eps > 0 of the curve, for delta-eps")
    if not named_users and (n is None) != (kind is CurveKind.EPS_N):
        raise InputError(
            "--n", n, "not given for eps-n, whose axis it is" if n else f"a number of users for {kind.value}"
        )
    if (delta is None) == (kind is CurveKind.EPS_N):
        raise InputError("--delta", delta, f"no target for {kind.value}" if delta else "a target in (0, 1) for eps-n")


def _curve(
    subject: DescribedDeployment,
    kind: CurveKind,
    delta: str | None,
    axis: tuple[str | None, str | None, int],
    direction: Question,
    **options: Any,
) -> Curve:
    from symshuffle.accountants.questions import curves
    from symshuffle.accountants.questions.tradeoff_function import tradeoff_curve

    (start, stop, points), asked = axis, subject.deployment
    if kind is CurveKind.EPS_N:
        where = curves.spaced(start or "1000", stop or "1e6", points, geometric=True)
        users = sorted({arguments.users(str(x if x in (where[0], where[-1]) else round(x))) for x in where})
        return curves.amplification_curve(asked, delta=delta, users=users, direction=direction, **options)
    if kind is CurveKind.DELTA_EPS:
        levels = curves.spaced(start or "0", stop, points)
        return curves.delta_curve(asked, eps=levels, direction=direction, **options)
    if direction is not Question.BOTH:
        raise InputError("--direction", direction.value, "both: a trade-off takes both")
    alphas = curves.spaced(start or "0", stop or "1", points)
    return tradeoff_curve(asked, type_i=alphas, **options)


def _show(found: Answer, inputs: dict[str, Any], show: Show) -> None:
    safe, ends = found.safe, found.bracket.decimals(12)
    other = SafeEnd.UPPER if safe is SafeEnd.LOWER else SafeEnd.LOWER
    rows = [
        ("safe end", ends[safe]),
        ("other end", ends[other]),
        ("delta there <=", found.delta_at_ends[0].decimals(12)["upper"]),
    ]
    show.answer(found, [*rows, *known(found), ("meaning", found.meaning)], inputs)


def _csv(found: Curve) -> str:
    rows, text = found.rows(), io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _title(inputs: dict[str, Any]) -> str:
    """What was asked, in one line: the mechanism with its parameters, n and the target."""

    def brief(value: Any) -> str:
        if not isinstance(value, str) or "/" not in value:
            return f"{value:,}" if isinstance(value, int) else str(value)
        try:
            return f"{float(Fraction(value)):g}"
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
    bound = low if found.safe is SafeEnd.LOWER else high
    axes.plot(
        x,
        bound,
        color="#0072B2",
        marker="" if found.kind is CurveKind.F_DP else ".",
        label=f"{found.safe} end (the bound)",
    )
    names = {"eps": "ε", "delta": "δ", "n": "n (users)", "type_i": "type I error", "type_ii": "type II error"}
    axes.set(xlabel=names[found.x], ylabel=names[found.y])
    axes.set_title("\n".join(wrap(title, 70)), fontsize="medium")
    axes.grid(alpha=0.3)
    if found.kind is CurveKind.F_DP:
        axes.plot([0, 1], [1, 0], linestyle=":", color="0.4", label="perfect privacy")
        if limit is not None:
            near = [limit.tradeoff(point.x) for point in found.points]
            axes.plot(x, near, linestyle="--", color="#D55E00", label=f"Gaussian, μ ≈ {limit.mu:.3g} (no bound)")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    elif max(low) > 0:
        axes.set_yscale("log", nonpositive="mask")  # from eps0 on delta is 0
    if found.kind is CurveKind.EPS_N:
        axes.set_xscale("log")
    axes.legend(loc="lower left" if found.kind is CurveKind.F_DP else "best")
    data = io.BytesIO()
    figure.savefig(data, format=form, dpi=120)
    return data.getvalue()
