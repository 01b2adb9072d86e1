"""Commands about optimal channels: design bayes, minimax, mutual-information, f-divergence, shuffled, schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.choices import Criterion, Rigour
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp, exact_text, format_decimal, parse_rational
from symshuffle.base.results import FirstLines, SafeEnd, safe_number
from symshuffle.cli.arguments import Explain, Json
from symshuffle.cli.shown import print_rows
from symshuffle.cli.shuffled import shuffled

if TYPE_CHECKING:
    from symshuffle.base.results import Bracket
    from symshuffle.channels.channel import Channel
    from symshuffle.design.decision.problems import DecisionProblem
    from symshuffle.design.files import DecisionFile, DivergenceFile, InformationFile, ProblemFile
    from symshuffle.design.information.measures import Measure
    from symshuffle.geometry.groups import SymmetryGroup

app = typer.Typer(help="Optimal LDP channels for a problem file, with a certificate and, if wanted, a formula.")

_SPREAD: Final = 16
"""A formula with logarithms is certified at most this many times nearer to and farther from lambda = 1."""
MOST_SHOWN_OUTPUTS: Final = 512
MOST_EPS0: Final = 100
"""Largest budget; at exp(100) every optimum is within 1e-40 of that without privacy."""

MOST_LAM: Final = 10**43

Problem = Annotated[Path, typer.Option("--problem", metavar="FILE", help="Problem file (see `design schema`).")]
_Lam = Annotated[str | None, typer.Option("--lam", help="Local ratio cap exp(eps0) > 1; rationals stay exact.")]
_Eps0 = Annotated[str | None, typer.Option("--eps0", help="Local budget eps0 > 0 in nats; gives a rigorous bracket.")]
Symmetry = Annotated[
    str | None,
    typer.Option(
        "--symmetry",
        help="auto: detect the symmetries and reduce by them where that helps; file: those of the problem file.",
    ),
]
Formula = Annotated[
    bool, typer.Option("--formula", help="Derive the optimum as a function of lambda, with its interval.")
]


@final
@dataclass(frozen=True, slots=True)
class Formulation:
    """A formula in lambda as text, the interval on which it is optimal, and how that is known."""

    value: str
    interval: tuple[str, str]
    rigour: str


@final
@dataclass(frozen=True, slots=True)
class _Request:
    """What every design command is asked."""

    path: Path
    level: Fraction | Exp
    symmetry: str | None
    formula: bool
    explain: bool
    as_json: bool


def _command(name: str, summary: str, answer: Callable[[_Request], None]) -> None:
    """Register a command; all of them take the same options."""

    def command(
        problem: Problem,
        lam: _Lam = None,
        eps0: _Eps0 = None,
        symmetry: Symmetry = None,
        formula: Formula = False,
        explain: Explain = False,
        as_json: Json = False,
    ) -> None:
        answer(_Request(problem, _level(lam, eps0), symmetry, formula, explain, as_json))

    app.command(name=name, help=summary)(command)


@app.command()
def schema() -> None:
    """Print the JSON Schema of problem files."""
    from symshuffle.design.files import problem_schema

    typer.echo(json.dumps(problem_schema(), indent=2))


def _level(lam: str | None, eps0: str | None) -> Fraction | Exp:
    if (lam is None) == (eps0 is None):
        raise InputError("--lam, --eps0", f"{lam}, {eps0}", "exactly one of the two")
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


def _read(path: Path, kind: str) -> ProblemFile:
    from symshuffle.design.files import read_problem

    found = read_problem(path)
    if found.kind != kind:
        raise InputError("kind", found.kind, f"{kind} in a problem file for this command")
    return found


def _group(
    file: DecisionFile, problem: DecisionProblem, symmetry: str | None, *, criterion: Criterion
) -> SymmetryGroup | None:
    from symshuffle.design.decision.sizes import worth_reducing
    from symshuffle.design.decision.symmetries import detect_symmetry

    match symmetry:
        case None:
            return None
        case "auto":
            detected = detect_symmetry(problem, criterion=criterion)
            return detected if worth_reducing(problem, detected) else None
        case "file":
            group = file.group()
            if group is None:
                raise InputError("symmetry", None, "a field in the problem file, for --symmetry file")
            return group
        case _:
            raise InputError("--symmetry", symmetry, "auto or file")


def _decide(request: _Request, *, criterion: Criterion) -> None:
    from symshuffle.design.decision.reduced import orbit_tradeoff_at
    from symshuffle.design.decision.tradeoff import bayes_tradeoff, minimax_tradeoff
    from symshuffle.design.files import DecisionFile

    file, level = _read(request.path, "decision"), request.level
    assert isinstance(file, DecisionFile)  # its kind is "decision"
    problem = file.problem()
    if criterion is Criterion.BAYES:
        problem.required_prior()
    group = _group(file, problem, request.symmetry, criterion=criterion)
    if group is not None:
        found = orbit_tradeoff_at(problem, level, group, criterion=criterion)
        value, designs = found.value, found.designs
        channel = designs[-1].channel() if designs[-1].num_outputs() <= MOST_SHOWN_OUTPUTS else None
        certificates = [design.to_json() for design in designs]
        labels = [
            f"orbit of {_subset(w.orbit.representative)} ({w.orbit.size} outputs) -> orbit of action {w.action}"
            for w in designs[-1].weights
        ]
    else:
        design = (minimax_tradeoff if criterion is Criterion.MINIMAX else bayes_tradeoff)(problem, level)
        value, channel = design.value, design.channel()
        certificates = [certificate.to_json() for certificate in design.certificates]
        labels = [f"{_subset(subset)} -> action {action}" for subset, action, _ in design.weights]
    derived = _decision_formula(problem, level, group, criterion=criterion) if request.formula else None
    _show(request, file, criterion.value, value, channel, labels, certificates, derived)


def _decision_formula(
    problem: DecisionProblem, level: Fraction | Exp, group: SymmetryGroup | None, *, criterion: Criterion
) -> Formulation:
    from symshuffle.design.decision.sizes import check_formula
    from symshuffle.design.decision.symmetries import detect_symmetry
    from symshuffle.design.parametric.program import bayes_program, minimax_program
    from symshuffle.design.parametric.walk import piece_around

    group = group or detect_symmetry(problem, criterion=criterion)
    check_formula(group)
    program = (minimax_program if criterion is Criterion.MINIMAX else bayes_program)(problem, group)
    piece = piece_around(program, _rational_level(level))
    return Formulation(str(piece.value), (str(piece.lower), str(piece.upper)), "exact")


def _rational_level(level: Fraction | Exp) -> Fraction:
    from symshuffle.base.numbers import enclose

    return enclose(level, 60).lower if isinstance(level, Exp) else level


def _measure(request: _Request, *, kind: str) -> None:
    from symshuffle.design.files import DecisionFile, DivergenceFile
    from symshuffle.design.information.maximum import maximise, renyi_divergence

    file, level = _read(request.path, kind), request.level
    assert not isinstance(file, DecisionFile)  # its kind was checked
    if request.symmetry not in (None, "auto"):
        expected = "auto, for a measure: inputs with equal data are exchangeable"
        raise InputError("--symmetry", request.symmetry, expected)
    measure = file.measure()
    design = maximise(measure, level, group=measure.symmetry() if request.symmetry else None)
    value = design.value
    if isinstance(file, DivergenceFile) and file.divergence == "renyi" and file.order is not None:
        value = renyi_divergence(design, file.order)
    channel = design.channel() if design.num_outputs() <= MOST_SHOWN_OUTPUTS else None
    prefix = "orbit of " if design.group is not None else ""
    labels = [prefix + _subset(subset) for subset in sorted(design.weights)]
    derived = _measure_formula(measure, level) if request.formula else None
    _show(request, file, kind, value, channel, labels, [design.to_json()], derived)


def _measure_formula(measure: Measure, level: Fraction | Exp) -> Formulation:
    """The formula of a measure: exact end points where it is rational in lambda, a certified interval otherwise."""
    from symshuffle.design.decision.sizes import check_formula
    from symshuffle.design.information.logarithmic import logarithmic_piece
    from symshuffle.design.information.rational import rational_program
    from symshuffle.design.parametric.walk import piece_around

    group = measure.symmetry()
    check_formula(group)
    at = _rational_level(level)
    if measure.logs:
        found = logarithmic_piece(measure, at, (1 + (at - 1) / _SPREAD, 1 + (at - 1) * _SPREAD))
        ends = (format_decimal(found.lower, up=True), format_decimal(found.upper, up=False))
        return Formulation(str(found.value), ends, "ball")
    piece = piece_around(rational_program(measure, group), at)
    return Formulation(str(-piece.value), (str(piece.lower), str(piece.upper)), "exact")


def _show(
    request: _Request,
    file: DecisionFile | InformationFile | DivergenceFile,
    criterion: str,
    value: Bracket,
    channel: Channel | None,
    labels: list[str],
    certificates: list[dict[str, Any]],
    derived: Formulation | None,
) -> None:
    ends = (format_decimal(value.lower, up=False), format_decimal(value.upper, up=True))
    every = _of_every_problem(file, value, criterion)
    if request.as_json:
        record = {
            "lower": ends[0],
            "upper": ends[1],
            "exact": None if value.exact is None else exact_text(value.exact),
            "rigour": value.rigour.value,
            "criterion": criterion,
            "inputs": {"lam": str(request.level), "problem": file.title or request.path.name},
            "channel": None
            if channel is None
            else {"outputs": labels, "rows": [[str(v) for v in row] for row in channel.rows]},
            "certificate": certificates[0] if len(certificates) == 1 else certificates,
            "formula": None if derived is None else derived.value,
            "interval": None if derived is None else list(derived.interval),
            "formula_rigour": None if derived is None else derived.rigour,
            **({} if file.rounding is None else {"matrix": str(file.rounding), "every_problem": every}),
        }
        typer.echo(json.dumps(record))
        return
    console = Console(highlight=False)
    shown = exact_text(value.exact) if value.exact is not None else f"[{ends[0]}, {ends[1]}]"
    gap = value.rigour is Rigour.EXACT and value.exact is None
    kind = f"rational ends by weak duality, gap {float(value.width):.1e}" if gap else value.rigour.value
    about = (
        f"all channels with likelihood ratios of at most lam = {request.level}, for {file.title or request.path.name}"
    )
    sure = f"a certificate, checked {value.rigour.words}"
    number = safe_number(value, SafeEnd.NEITHER)
    print_rows(FirstLines(f"{criterion} optimum", number, about=about, sure=sure).rows)
    if request.explain:
        console.print(f"{criterion} optimum at lam = {request.level}: {shown} ({kind})", markup=False)
    if file.rounding is not None:
        said = "nothing can be said" if every is None else f"the optimum lies in [{', '.join(every)}]"
        words = f"of {file.rounding}; of every problem that rounds to the file, {said}"
        console.print(words, markup=False)
    if derived is not None:
        kind = "proved" if derived.rigour == "exact" else "certified in balls"
        interval = ", ".join(derived.interval)
        console.print(f"formula: {derived.value} for lambda in [{interval}], {kind}", markup=False)
    table = Table("output", *(f"input {x}" for x in range(channel.num_inputs)) if channel else ())
    if channel is not None and len(labels) == channel.num_outputs and channel.num_inputs <= 10:
        for label, column in zip(labels, channel.columns(), strict=True):
            table.add_row(label, *(_short(v) for v in column))
        console.print(table)
    else:
        for label in labels:
            console.print(label, markup=False)


def _of_every_problem(file: ProblemFile, value: Bracket, criterion: str) -> list[str] | None:
    """Both ends of the optimum of every decision problem that rounds to the file, if that says anything."""
    from symshuffle.design.files import DecisionFile

    if file.rounding is None or not isinstance(file, DecisionFile):
        return None
    off = file.moved(file.rounding, prior=criterion == Criterion.BAYES)
    return [format_decimal(value.lower - off, up=False), format_decimal(value.upper + off, up=True)]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 12 else f"{float(value):.6g}"


def _subset(subset: int) -> str:
    return "{" + ",".join(str(x) for x in range(subset.bit_length()) if subset >> x & 1) + "}"


_command(
    "bayes",
    "Smallest Bayes risk over all eps0-LDP channels, for the prior of the problem file.",
    partial(_decide, criterion=Criterion.BAYES),
)
_command(
    "minimax", "Smallest worst-case risk over all eps0-LDP channels.", partial(_decide, criterion=Criterion.MINIMAX)
)
_command(
    "mutual-information",
    "Largest mutual information, in nats, of input and output over all eps0-LDP channels.",
    partial(_measure, kind="mutual-information"),
)
_command(
    "f-divergence",
    "Largest divergence of the two output laws over all eps0-LDP channels.",
    partial(_measure, kind="f-divergence"),
)
app.command(name="shuffled")(shuffled)
