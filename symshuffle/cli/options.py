"""Options that commands share, groups of options as one argument of a command, and how an answer is printed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, final, get_type_hints

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import Arithmetic, Loss, Question
from symshuffle.base.numbers import as_width, counted

if TYPE_CHECKING:
    from symshuffle.accountants.bounds.answers import Answer
    from symshuffle.base.results import Bracket

F = TypeVar("F", bound=Callable[..., None])

Mech = Annotated[
    str,
    typer.Argument(
        metavar="MECH",
        help="A mechanism (see `symshuffle mechanisms`), an expression such as joint(krr(k=3),2), or the file of a "
        "matrix: CSV or JSON, one row per input, entries p, p/q, 0.1.",
    ),
]
Eps0 = Annotated[
    str | None,
    typer.Option(
        "--eps0",
        help="Local budget eps0 >= 0 in nats; of a composition the total: joint(krr(k=3),2) gives each part half.",
    ),
]
Lam = Annotated[
    str | None,
    typer.Option("--lam", help="Local ratio cap exp(eps0) >= 1, of a composition the total; rationals stay exact."),
]
NamedMech = Annotated[
    str,
    typer.Argument(
        metavar="MECH",
        help="A mechanism by its name (see `symshuffle mechanisms`), not an expression; or the file of a matrix: CSV "
        "or JSON, one row per input, entries p, p/q, 0.1.",
    ),
]
NamedEps0 = Annotated[str | None, typer.Option("--eps0", help="Local budget eps0 > 0 in nats.")]
NamedLam = Annotated[str | None, typer.Option("--lam", help="Local ratio cap exp(eps0) > 1; rationals stay exact.")]
Params = Annotated[list[str] | None, typer.Option("-p", "--param", help="Parameter of the mechanism, as k=10.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file has names of columns; by default, if another line follows and each "
        "cell is a name (a letter or _ first; no sign, per cent, fraction or exponent), or the cells are 0,1,2,...; "
        "two cells 0,1 are refused, as they may be a row, and of vectors one cell 0.",
        show_default=False,
    ),
]
UsersOption = Annotated[str, typer.Option("--n", help="Number of users, the differing one included.")]
TargetEps = Annotated[str | None, typer.Option("--eps", help="Target eps >= 0 in nats.")]
SurveyEps = Annotated[str, typer.Option("--eps", help="Target eps > 0 in nats, of the shuffled messages.")]
TargetDelta = Annotated[str, typer.Option("--delta", help="Target delta in (0, 1).")]
OptionalDelta = Annotated[
    str | None, typer.Option("--delta", help="Target delta in (0, 1); default: that of the file.")
]
QuestionOption = Annotated[
    Question,
    typer.Option(help="forward is D(M(X0)||M(X1)), X0 holding the first input of a pair; both takes the larger."),
]


Rel = Annotated[
    float,
    typer.Option(metavar="REL", parser=as_width, help="Relative width of the bracket to aim at, in (0, 1)."),
]
RigourOption = Annotated[
    Arithmetic | None,
    typer.Option(
        "--arithmetic",
        help="Arithmetic of the result: float64, ball or exact. Default: with --engine, that of the engine; else ball "
        "where that costs little, and float64 otherwise.",
    ),
]
LossOption = Annotated[
    Loss, typer.Option("--loss", help="Error that is minimised: l2, max, absent or test (see `compare`).")
]
Jobs = Annotated[str | None, typer.Option("--jobs", metavar="J", help="Processes; by default one per core.")]
FewJobs = Annotated[
    str, typer.Option("--jobs", metavar="J", help="Processes that share the points, one per core at most.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print what the answer means and how it is known, in full.")]


def command(
    app: typer.Typer,
    name: str | None = None,
    *,
    without: Collection[str] = (),
    **given: Any,
) -> Callable[[F], F]:
    """Decorator that adds a command; an argument whose type is a dataclass of options stands for all of them.

    - ``without``: options of such groups that the command does not have.
    """

    def decorate(function: F) -> F:
        shown = inspect.signature(function, eval_str=True)
        groups: dict[str, Any] = {}
        parameters: list[inspect.Parameter] = []
        for key, one in shown.parameters.items():
            if is_dataclass(one.annotation):
                groups[key] = one.annotation
                parameters += _options(one.annotation, without)
            else:
                parameters.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))

        @wraps(function)
        def run(**values: Any) -> None:
            for key, group in groups.items():
                values[key] = _made(group, values)
            function(**values)

        run.__signature__ = shown.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer reads
        app.command(name, **given)(run)
        return function

    return decorate


def _options(group: Any, without: Collection[str]) -> list[inspect.Parameter]:
    """Return the parameters of a command that a group of options stands for."""
    found, kinds = [], get_type_hints(group, include_extras=True)
    for one in fields(group):
        if is_dataclass(kinds[one.name]):
            found += _options(kinds[one.name], without)
        elif one.name not in without:
            default = inspect.Parameter.empty if one.default is MISSING else one.default
            here = inspect.Parameter.KEYWORD_ONLY
            found.append(inspect.Parameter(one.name, here, default=default, annotation=kinds[one.name]))
    return found


def _made(group: Any, values: dict[str, Any]) -> Any:
    """Return the group of the values that are its own, which are taken away."""
    own, kinds = dict[str, Any](), get_type_hints(group, include_extras=True)
    for one in fields(group):
        if is_dataclass(kinds[one.name]):
            own[one.name] = _made(kinds[one.name], values)
        elif one.name in values:
            own[one.name] = values.pop(one.name)
    return group(**own)


@final
@dataclass(frozen=True, slots=True)
class LevelOptions:
    """Level at which delta is asked for."""

    eps: TargetEps = None
    exp_eps: Annotated[str | None, typer.Option("--exp-eps", help="Target ratio exp(eps) >= 1.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The keywords of a front door."""
        return {"eps": self.eps, "exp_eps": self.exp_eps}


@final
@dataclass(frozen=True, slots=True)
class Show:
    """How an answer is printed: its first lines, the same with the full text below them, or one JSON object."""

    explain: Explain = False
    as_json: Json = False

    @property
    def full(self) -> bool:
        """Whether more than the first lines is printed; what only stands below them is not computed otherwise."""
        return self.explain or self.as_json

    def data(self, content: Mapping[str, Any]) -> bool:
        """Print the JSON object where that is asked for, and say whether it is."""
        if self.as_json:
            typer.echo(json.dumps(content, indent=2))
        return self.as_json

    def rows(self, rows: Iterable[tuple[str, str]], explanation: Iterable[tuple[str, str]] = ()) -> None:
        """Print names and values below each other, those of an explanation if it is asked for."""
        table = Table.grid(padding=(0, 2))
        for row in (*rows, *(explanation if self.explain else ())):
            table.add_row(*row)
        Console(highlight=False).print(table)

    def answer(
        self,
        found: Any,
        explanation: Iterable[tuple[str, str]],
        inputs: Mapping[str, Any],
        *,
        asked: Iterable[tuple[str, str]] = (),
        beside: Mapping[str, Any] | None = None,
    ) -> None:
        """Print an answer, which has ``lines`` and ``to_dict``.

        - ``asked``: rows between the first lines and the explanation.
        - ``beside``: more of the JSON object.
        """
        if self.as_json:
            self.data({**found.to_dict(), **(beside or {}), "inputs": inputs})
        else:
            files = file_rows(inputs) if inputs else ()
            self.rows([*found.lines.rows, *files, *asked], explanation)


PLAIN: Final = Show()


def file_rows(inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a row for each different file in the echoed arguments, with its numbers of inputs and outputs."""
    if "header" in inputs:
        return [("file", f"{inputs['file']}: {matrix_words(inputs)}")]
    parts = [one for several in inputs.values() if isinstance(several, list) for one in several]
    return list(dict.fromkeys(row for one in parts if isinstance(one, Mapping) for row in file_rows(one)))


def matrix_words(echoed: Mapping[str, Any]) -> str:
    """Return the text of the echoed numbers of inputs and outputs of a file, and whether it has a header."""
    found = counted(echoed["inputs"], "input"), counted(echoed["outputs"], "output")
    return f"{', '.join(found)}, header: {'yes' if echoed['header'] else 'no'}"


def width(bracket: Bracket) -> list[tuple[str, str]]:
    """The row of a bracket that is wider than was asked for."""
    if bracket.aimed is None:
        return []
    wide = float(bracket.relative_width or 0)
    return [("width", f"{wide:.1e}, wider than the {bracket.aimed:.1e} that was aimed at")]


def known(found: Any) -> list[tuple[str, str]]:
    """The rows that say how an answer is known, and for which adjacency."""
    bracket = found.bracket
    arithmetic = f"{bracket.arithmetic}, engine {bracket.engine}: {bracket.evaluation}"
    return [("arithmetic", arithmetic), ("adjacency", found.neighbours.adjacency)]


Proof = Annotated[
    Path | None,
    typer.Option(
        "--proof",
        metavar="FILE",
        help="Write a file that proves the upper end; `symshuffle check FILE`, or bound.py alone, checks it.",
    ),
]


def check_proof(file: Path) -> None:
    """Refuse a place for a proof where none can be written, or where it would replace a file of another kind."""
    from symshuffle.ledger.recheck.bound import FORMAT

    check_destination(file, argument="--proof", beginning=json.dumps({"format": FORMAT}, indent=1).encode())


def write_proof(file: Path, answer: Answer) -> None:
    """Write the proof of an answer, and say on standard error what was proved."""
    from symshuffle.accountants.questions.proof import prove

    proved = prove(answer)
    write_atomically(file, proved.text, argument="--proof")
    rounding = answer.neighbours.rounding
    of = "" if rounding is None else f"; it is about {rounding}"
    typer.echo(f"{file} proves {proved}{of}", err=True)
