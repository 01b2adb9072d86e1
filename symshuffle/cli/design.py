"""Commands about optimal channels: design bayes, minimax, mutual-information, f-divergence, shuffled, schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import named_fields
from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import EVALUATED, Arithmetic, Criterion, Loss
from symshuffle.base.errors import InputError, NotDecided, listed, optional
from symshuffle.base.numbers import Exp, as_integer, counted, enclose, exact_text, format_decimal, parse_rational
from symshuffle.base.results import MOST_DIGITS, FirstLines, safe_number
from symshuffle.cli.deployments import NONE_GIVEN, FieldOptions
from symshuffle.cli.options import PLAIN, Show, UsersOption, command
from symshuffle.cli.progress import progress

if TYPE_CHECKING:
    from symshuffle.base.results import Bracket
    from symshuffle.channels.channel import Channel
    from symshuffle.channels.geometry.groups import SymmetryGroup
    from symshuffle.design.decision.problems import Problem
    from symshuffle.design.files import ProblemFile
    from symshuffle.design.information.measures import Measure
    from symshuffle.design.shuffled.model import ShuffledDesign

app = typer.Typer(help="Optimal LDP channels for a problem file, with a certificate and, if wanted, a formula.")

_SPREAD: Final = 16
"""A formula with logarithms is certified at most this many times nearer to and farther from lambda = 1."""
MOST_SHOWN_OUTPUTS: Final = 512
MOST_EPS0: Final = 100
"""Largest budget; at exp(100) every optimum is within 1e-40 of that without privacy."""

MOST_LAM: Final = 10**43


Formula: TypeAlias = tuple[str, tuple[str, str], Arithmetic]
"""A formula in lambda as text, the interval on which it is optimal, and how that is known."""


@final
@dataclass(frozen=True, slots=True)
class _ProblemOptions:
    """What every design command is asked."""

    problem: Annotated[Path, typer.Argument(metavar="FILE", help="Problem file (see `design schema`).")]
    lam: Annotated[str | None, typer.Option("--lam", help="Local ratio cap exp(eps0) > 1; rationals stay exact.")] = (
        None
    )
    eps0: Annotated[
        str | None, typer.Option("--eps0", help="Local budget eps0 > 0 in nats; gives a rigorous bracket.")
    ] = None
    symmetry: Annotated[
        str | None,
        typer.Option(
            "--symmetry",
            help="auto: detect the symmetries and reduce by them where that helps; file: those of the problem file.",
        ),
    ] = None
    formula: Annotated[
        bool, typer.Option("--formula", help="Derive the optimum as a function of lambda, with its interval.")
    ] = False

    def level(self) -> Fraction | Exp:
        """The ratio cap."""
        lam, eps0 = self.lam, self.eps0
        if (lam is None) == (eps0 is None):
            raise InputError("--lam, --eps0", listed(lam, eps0), "exactly one of the two")
        if lam is not None:
            value = parse_rational(lam, "--lam")
            if value <= 1:
                raise InputError("--lam", lam, "a number above 1")
            if value > MOST_LAM:
                raise InputError("--lam", lam, f"at most {float(MOST_LAM):.0e}, where optima are those without privacy")
            return value
        exponent = parse_rational(eps0 or "", "--eps0")
        if exponent <= 0:
            raise InputError("--eps0", eps0, "a number above 0")
        if exponent > MOST_EPS0:
            raise InputError("--eps0", eps0, f"at most {MOST_EPS0}, where optima are those without privacy")
        return Exp(exponent)

    def read(self, kind: str) -> ProblemFile:
        """The problem."""
        from symshuffle.design.files import read_problem

        found = read_problem(self.problem)
        if found.kind != kind:
            raise InputError(f"{self.problem}: kind", found.kind, f"{kind} in a problem file for this command")
        return found


@command(app)
def bayes(asked: _ProblemOptions, show: Show = PLAIN) -> None:
    """Smallest Bayes risk over all eps0-LDP channels, for the prior of the problem file."""
    _decide(asked, "bayes", show)


@command(app)
def minimax(asked: _ProblemOptions, show: Show = PLAIN) -> None:
    """Smallest worst-case risk over all eps0-LDP channels."""
    _decide(asked, "minimax", show)


@command(app, name="mutual-information")
def mutual_information(asked: _ProblemOptions, show: Show = PLAIN) -> None:
    """Largest mutual information, in nats, of input and output over all eps0-LDP channels."""
    _measure(asked, "mutual-information", show)


@command(app, name="f-divergence")
def f_divergence(asked: _ProblemOptions, show: Show = PLAIN) -> None:
    """Largest divergence of the two output laws over all eps0-LDP channels."""
    _measure(asked, "f-divergence", show)


@command(app, without=named_fields("absent", "design"))
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
    from symshuffle.design.shuffled.minorant import TRACE_FORMAT

    inputs = as_integer(k, "--k", 2, LARGEST_INPUTS)
    users = check_n(n)
    cap = None if lam_cap is None else parse_rational(lam_cap, "--lam-cap")
    if proof is not None:
        if cap is None:
            raise InputError("--proof", proof, "--lam-cap as well: without a cap there is no upper end")
        check_destination(proof, argument="--proof", beginning=json.dumps({"format": TRACE_FORMAT}).encode())
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
    explanation = [
        ("class", found.about),
        ("trace", f"{float(found.trace):.6g}, of the covariance of the template"),
        ("uniform", f"always answering uniform has a risk of at most {1 - Fraction(1, found.k)}"),
        ("meaning", found.epsilon.about),
    ]
    if not show.data(found.to_dict()):
        show.rows([*found.lines.rows, *_mixture_rows(found)], explanation)


@app.command()
def schema() -> None:
    """Print the JSON Schema of problem files."""
    from symshuffle.design.files import problem_schema

    typer.echo(json.dumps(problem_schema(), indent=2))


def _group(file: Any, problem: Problem, symmetry: str | None, criterion: Criterion) -> SymmetryGroup | None:
    from symshuffle.design.decision.invariant import detect_symmetry
    from symshuffle.design.decision.programs import worth_reducing

    match symmetry:
        case None:
            return None
        case "auto":
            detected = detect_symmetry(problem, criterion=criterion)
            return detected if worth_reducing(problem, detected) else None
        case "file":
            group: SymmetryGroup | None = file.group()
            if group is None:
                raise InputError("symmetry", None, "a field in the problem file, for --symmetry file")
            return group
        case _:
            raise InputError("--symmetry", symmetry, "auto or file")


def _decide(asked: _ProblemOptions, criterion: Criterion, show: Show) -> None:
    from symshuffle.design.decision.tradeoff import smallest_risk

    level, file = asked.level(), asked.read("decision")
    problem: Problem = file.problem()  # type: ignore[union-attr]  # of that kind
    if criterion == "bayes":
        try:
            problem.required_prior()
        except InputError as error:
            raise InputError(f"{asked.problem}: {error.argument}", error.value, error.expected) from None
    group = _group(file, problem, asked.symmetry, criterion)
    found = smallest_risk(problem, level, criterion=criterion, group=group)
    if group is not None:
        channel = found.channel() if found.num_outputs() <= MOST_SHOWN_OUTPUTS else None
        labels = [
            f"orbit of {_subset(orbit.representative)} ({orbit.size} outputs) -> orbit of action {action}"
            for orbit, action, _ in found.weights
        ]
    else:
        channel = found.channel()
        labels = [f"{_subset(subset)} -> action {action}" for subset, action, _ in found.weights]
    certificates = [certificate.to_json() for certificate in found.certificates]
    formula: tuple[Formula | None, str] = (None, "")
    if asked.formula:
        formula = optional(lambda: _decision_formula(problem, level, group, criterion))
    _show(asked, level, file, criterion, found.value, channel, labels, certificates, formula, show)


def _decision_formula(
    problem: Problem, level: Fraction | Exp, group: SymmetryGroup | None, criterion: Criterion
) -> Formula:
    from symshuffle.design.decision.invariant import detect_symmetry
    from symshuffle.design.decision.programs import check_formula
    from symshuffle.design.parametric.homotopy import piece_around
    from symshuffle.design.parametric.program import program_of_problem

    group = group or detect_symmetry(problem, criterion=criterion)
    check_formula(group)
    program = program_of_problem(problem, group, criterion=criterion)
    piece = piece_around(program, _rational_level(level))
    return (str(piece.value), (str(piece.lower), str(piece.upper)), "exact")


def _rational_level(level: Fraction | Exp) -> Fraction:
    return enclose(level, 60).lower if isinstance(level, Exp) else level


def _measure(asked: _ProblemOptions, kind: str, show: Show) -> None:
    from symshuffle.design.information.maximum import maximise, renyi_divergence

    level, file = asked.level(), asked.read(kind)
    if asked.symmetry not in (None, "auto"):
        expected = "auto, for a measure: inputs with equal data are exchangeable"
        raise InputError("--symmetry", asked.symmetry, expected)
    measure: Measure = file.measure()  # type: ignore[union-attr]  # of that kind
    design = maximise(measure, level, group=measure.symmetry() if asked.symmetry else None)
    value, order = design.value, getattr(file, "order", None)
    if getattr(file, "divergence", None) == "renyi" and order is not None:
        value = renyi_divergence(design, order)
    channel = design.channel() if design.num_outputs() <= MOST_SHOWN_OUTPUTS else None
    prefix = "orbit of " if design.group is not None else ""
    labels = [prefix + _subset(subset) for subset in sorted(design.weights)]
    formula = optional(lambda: _measure_formula(measure, level)) if asked.formula else (None, "")
    _show(asked, level, file, kind, value, channel, labels, [design.to_json()], formula, show)


def _measure_formula(measure: Measure, level: Fraction | Exp) -> Formula:
    """The formula of a measure: exact end points where it is rational in lambda, a certified interval otherwise."""
    from symshuffle.design.decision.programs import check_formula
    from symshuffle.design.information.formulas import logarithmic_piece, rational_program
    from symshuffle.design.parametric.homotopy import piece_around

    group = measure.symmetry()
    check_formula(group)
    at = _rational_level(level)
    if measure.logs:
        found = logarithmic_piece(measure, at, (1 + (at - 1) / _SPREAD, 1 + (at - 1) * _SPREAD))
        ends = (format_decimal(found.lower, up=True), format_decimal(found.upper, up=False))
        return (str(found.value), ends, "ball")
    piece = piece_around(rational_program(measure, group), at)
    return (str(-piece.value), (str(piece.lower), str(piece.upper)), "exact")


def _show(
    asked: _ProblemOptions,
    level: Fraction | Exp,
    file: ProblemFile,
    criterion: str,
    value: Bracket,
    channel: Channel | None,
    labels: list[str],
    certificates: list[dict[str, Any]],
    formula: tuple[Formula | None, str],
    show: Show,
) -> None:
    """Print the optimum, one channel that attains it (None if it is too large to show), and its proof.

    - ``formula``: None and the reason where one was asked for and is missing: it never refuses the optimum.
    """
    (text, interval, known), no_formula = formula[0] or (None, None, None), formula[1]
    ends = (format_decimal(value.lower, up=False), format_decimal(value.upper, up=True))
    every, named = _of_every_problem(file, value, criterion), file.title or asked.problem.name
    rows = [] if channel is None else [[str(v) for v in row] for row in channel.rows]
    record = {
        "lower": ends[0],
        "upper": ends[1],
        "exact": None if value.exact is None else exact_text(value.exact),
        "arithmetic": value.arithmetic,
        "criterion": criterion,
        "inputs": {"lam": str(level), "problem": named},
        "channel": None if channel is None else {"outputs": labels, "rows": rows},
        "certificate": certificates[0] if len(certificates) == 1 else certificates,
        "formula": text,
        "interval": interval and list(interval),
        "formula_rigour": known,
        "formula_missing": no_formula or None,
        **({} if file.rounding is None else {"matrix": str(file.rounding), "every_problem": every}),
    }
    if show.data(record):
        return
    console = Console(highlight=False)
    shown = exact_text(value.exact) if value.exact is not None else f"[{ends[0]}, {ends[1]}]"
    gap = value.arithmetic == "exact" and value.exact is None
    width = format_decimal(value.width, digits=2, up=True)
    kind = f"rational ends by weak duality, gap {width}" if gap else value.arithmetic
    about = f"all channels with likelihood ratios of at most lam = {level}, for {named}"
    sure = f"a certificate, checked {EVALUATED[value.arithmetic]}"
    number = safe_number(value, "neither")
    show.rows(FirstLines(f"{criterion} optimum", number, about=about, sure=sure).rows)
    if show.explain:
        console.print(f"{criterion} optimum at lam = {level}: {shown} ({kind})", markup=False)
    if file.rounding is not None:
        said = "nothing can be said" if every is None else f"the optimum lies in [{', '.join(every)}]"
        console.print(f"of {file.rounding}; of every problem that rounds to the file, {said}", markup=False)
    if interval is not None:
        kind = "proved" if known == "exact" else "certified in balls"
        console.print(f"formula: {text} for lambda in [{', '.join(interval)}], {kind}", markup=False)
    if no_formula:
        console.print(f"formula: missing: {no_formula}", markup=False)
    if channel is None or len(labels) != channel.num_outputs or channel.num_inputs > 10:
        for label in labels:
            console.print(label, markup=False)
        return
    table = Table("output", *(f"input {x}" for x in range(channel.num_inputs)))
    for label, column in zip(labels, channel.columns(), strict=True):
        table.add_row(label, *(str(v) if len(str(v)) <= 12 else f"{float(v):.6g}" for v in column))
    console.print(table)


def _of_every_problem(file: ProblemFile, value: Bracket, criterion: str) -> list[str] | None:
    """Both ends of the optimum of every decision problem that rounds to the file, if that says anything."""
    from symshuffle.design.files import DecisionFile

    if file.rounding is None or not isinstance(file, DecisionFile):
        return None
    off = file.moved(file.rounding, prior=criterion == "bayes")
    return [format_decimal(value.lower - off, up=False), format_decimal(value.upper + off, up=True)]


def _subset(subset: int) -> str:
    return "{" + ",".join(str(x) for x in range(subset.bit_length()) if subset >> x & 1) + "}"


def _rounded_up(value: Fraction | float) -> str:
    return format_decimal(value, digits=MOST_DIGITS, up=True) if isinstance(value, Fraction) else str(value)


def _mixture_rows(found: ShuffledDesign) -> list[tuple[str, str]]:
    """The channel, what real datasets attain, what is known of all other channels, and short messages."""
    attained, blocks = found.epsilon.attained, found.blocks
    parts = ", ".join(
        f"{float(orbit.weight):.4g} x [{', '.join(f'{count} at {float(value):.6g}' for count, value in orbit.levels)}]"
        for orbit in found.orbits
    )
    rows = [("channel", f"weight x template: {parts}; ratio {_rounded_up(found.ratio)}, {counted(found.bits, 'bit')}")]
    if attained is not None:
        rows.append(("attained", f"eps >= {format_decimal(attained.lower, digits=6, up=False)} by a real pair"))
    rows.append(("upper", _upper(found)))
    if blocks is not None:
        rows.append(
            (
                "blocks",
                f"k = {blocks.points} (padded), s = {blocks.size}, b = {blocks.points}: {counted(blocks.bits, 'bit')}, "
                f"risk {_rounded_up(blocks.risk(found.n))} over all {blocks.points}; "
                "same certified bound, attained pairs may differ",
            )
        )
    return rows


def _upper(found: ShuffledDesign) -> str:
    """The line about all other channels."""
    if found.upper is None or found.least_risk is None:
        return "no upper end: it needs --lam-cap"
    known = "by the cap alone" if found.bound is None else "by the certified bound, with a proof"
    trace, risk = (format_decimal(x, digits=6, up=up) for x, up in ((found.upper, True), (found.least_risk, False)))
    return f"trace at most {trace}, risk at least {risk} in it, {known}"
