"""The commands audit local, shuffled and samples: somebody's program against its claim."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from symshuffle.accountants.deployment.model import UNSAID, fields_that_change, named_fields
from symshuffle.base.documents import read_text
from symshuffle.base.errors import InputError, listed
from symshuffle.channels.channel import Channel
from symshuffle.channels.channel_file import read_channel
from symshuffle.cli import arguments
from symshuffle.cli.deployments import NONE_GIVEN, FieldOptions
from symshuffle.cli.options import PLAIN, Header, NamedEps0, NamedLam, Params, Show, command, file_rows
from symshuffle.cli.progress import progress
from symshuffle.configuration.files import holds_matrix
from symshuffle.configuration.randomizers import matrix_sizes

if TYPE_CHECKING:
    from symshuffle.accountants.deployment.model import Deployment
    from symshuffle.collect import Audit, Claim, SurveyPlan

app = typer.Typer(
    help="Somebody's program against its claim. Exit status 0: not refuted; 1: privacy refuted; 3: another channel."
)

LARGEST_SAMPLE: Final = 1 << 32
"""Bytes of a file of runs: more would not fit into memory."""

Confidence = Annotated[
    str, typer.Option("--confidence", help="Least probability that an honest program is accused of nothing.")
]
PerProcess = Annotated[
    str,
    typer.Option(
        "--per-process",
        metavar="M",
        help="Lines given to one process; one line each shows a client seeded at its start.",
    ),
]
Eps = Annotated[str | None, typer.Option("--eps", help="A bare claim: eps >= 0 in nats.")]
Delta = Annotated[str, typer.Option("--delta", help="Delta of a bare claim, in [0, 1).")]


@final
@dataclass(frozen=True, slots=True)
class _Runs:
    """The program of somebody else, and how often it is run."""

    program: Annotated[
        str,
        typer.Option(
            "--program", metavar="COMMAND", help="Program that reads inputs and writes messages, a line each."
        ),
    ]
    runs: Annotated[str, typer.Option("--runs", help="Runs of each input, or of each of two datasets.")]
    timeout: Annotated[str, typer.Option("--timeout", metavar="SECONDS", help="Time that a process may take.")] = "600"

    def run(self, found: Any, per_process: str, show: Show, matrix: Mapping[str, Any]) -> None:
        """Run an audit whose events are fixed, and print what it found."""
        from symshuffle.collect import Program

        made = Program(self.program, per_process, self.timeout)
        typer.echo(f"price: {found.price}; at most {made.per_process} lines to a process", err=show.as_json)
        with progress() as display:
            task = display.add_task("runs", total=None)
            result = found.run(made, progress=lambda done, of: display.update(task, completed=done, total=of))
        _show(result, found.price, show, matrix)


@final
@dataclass(frozen=True, slots=True)
class _Claimed:
    """What the program is said to be."""

    claim: Annotated[
        str | None,
        typer.Option(
            "--claim",
            metavar="MECH|FILE",
            help="What is claimed: a mechanism with -p and a budget, or the file of a matrix or of a deployment.",
        ),
    ] = None
    param: Params = None
    eps0: NamedEps0 = None
    lam: NamedLam = None
    header: Header = None
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="Plan written by `collect plan`, in place of --claim.")
    ] = None

    @property
    def file(self) -> Path | None:
        """The file of what is claimed, where it is in one."""
        if self.claim is None or "(" in self.claim or not Path(self.claim).suffix:
            return None
        return Path(self.claim)

    def read(self) -> Claim | SurveyPlan | Deployment | Channel | None:
        """What is claimed; None for a bare claim."""
        from symshuffle.collect import named_claim

        param, budget = self.param and self.param[0], {"--eps0": self.eps0, "--lam": self.lam}
        if self.plan is not None:
            _refuse({"--claim": self.claim, "-p": param, **budget, "--header": self.header})
            return arguments.plan(self.plan)
        if self.file is not None:
            _refuse({"-p": param, **budget})
            if self.file.suffix.lower() not in (".toml", ".json") or holds_matrix(self.file):
                return read_channel(self.file, header=self.header)
            _refuse({"--header": self.header})
            return arguments.claim_subject(self.file, "--claim")
        _refuse({"--header": self.header})
        if self.claim is None:
            _refuse({"-p": param})
            return None
        return named_claim(self.claim, arguments.assignments(self.param), eps0=self.eps0, lam=self.lam)

    def matrix(self, said: Any) -> dict[str, Any]:
        """What was read of the file of a channel, as it is echoed."""
        return {"file": str(self.file), **matrix_sizes(said)} if isinstance(said, Channel) else {}


@command(app)
def local(
    program: _Runs,
    claimed: _Claimed,
    inputs: Annotated[
        str | None, typer.Option("--inputs", metavar="A,B", help="Without a channel: the two inputs to compare.")
    ] = None,
    delta: Delta = "0",
    confidence: Confidence = "0.99",
    per_process: PerProcess = "10000",
    show: Show = PLAIN,
) -> None:
    """Test whether a client keeps its local budget, and whether it is the claimed channel."""
    from symshuffle.collect import audit_local, audit_pair

    found: Any
    said = claimed.read()
    if said is None:
        pair = _two(inputs)
        level: dict[str, Any] = {"eps": claimed.eps0, "exp_eps": claimed.lam, "delta": delta}
        found = audit_pair(*pair, runs=program.runs, confidence=confidence, **level)
    else:
        _refuse({"--inputs": inputs, "--delta": None if delta == "0" else delta})
        found = audit_local(said, runs=program.runs, confidence=confidence)
    program.run(found, per_process, show, claimed.matrix(said))


@command(app, without=named_fields("absent", "audit"))
def shuffled(
    program: _Runs,
    claimed: _Claimed,
    n: Annotated[
        str | None, typer.Option("--n", help="Number of users in a run; default: that of the plan or deployment.")
    ] = None,
    order: Annotated[str, typer.Option("--order", help="Order of the messages of a run: random or sorted.")] = "random",
    x0: Annotated[
        str | None, typer.Option("--x0", metavar="A,B,...", help="Without --claim and --plan: the inputs of a dataset.")
    ] = None,
    x1: Annotated[
        str | None,
        typer.Option(
            "--x1",
            metavar="A,B,...",
            help="Without --claim and --plan: the inputs of the dataset that --x0 is compared with.",
        ),
    ] = None,
    eps: Eps = None,
    delta: Delta = "0",
    confidence: Confidence = "0.99",
    per_process: PerProcess = "1000",
    show: Show = PLAIN,
    fields: FieldOptions = NONE_GIVEN,
) -> None:
    """Test whether a pipeline of clients and a shuffler keeps the certified delta(eps); a line is a run of n users."""
    from symshuffle.collect import audit_pair, audit_shuffled

    found: Any
    said = claimed.read()
    if said is None:
        changed = fields_that_change(UNSAID.with_(**fields.given))
        _refuse({f"--{name.replace('_', '-')}": value for name, value in fields.written.items() if name in changed})
        if x0 is None or x1 is None:
            raise InputError("--x0, --x1", listed(x0, x1), "two neighbouring datasets, or a claim")
        first, second = (tuple(x.strip() for x in data.split(",")) for data in (x0, x1))
        found = audit_pair(first, second, runs=program.runs, eps=eps, delta=delta, confidence=confidence)
    else:
        _refuse({"--x0": x0, "--x1": x1, "--eps": eps, "--delta": None if delta == "0" else delta})
        asked: dict[str, Any] = {"n": n, **fields.given}
        found = audit_shuffled(said, runs=program.runs, confidence=confidence, order=order, **asked)
    program.run(found, per_process, show, claimed.matrix(said))


@command(app)
def samples(
    a: Annotated[
        Path, typer.Argument(metavar="FILE1", help="Outputs of the program for one input or dataset, one run per line.")
    ],
    b: Annotated[Path, typer.Argument(metavar="FILE2", help="Outputs for the other one, one run per line.")],
    claim: Annotated[
        Path | None,
        typer.Option(
            "--claim",
            metavar="FILE",
            help="Deployment whose certified delta at --eps, or eps at --delta, is the claim.",
        ),
    ] = None,
    eps: Eps = None,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta", help="Delta of the claim, in [0, 1); default 0, or with --claim the certified delta at --eps."
        ),
    ] = None,
    confidence: Confidence = "0.99",
    disjoint: Annotated[
        bool,
        typer.Option(
            "--disjoint",
            help="Accept samples that have no message in common, or differ in spelling or in the number of cells of a "
            "line; both use the same notation.",
        ),
    ] = False,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of both files has column names. By default it has none, and a first line that "
            "may be names is refused.",
            show_default=False,
        ),
    ] = None,
    show: Show = PLAIN,
) -> None:
    """Bound eps from below by two samples: an event is learned on every second line and tested on the others."""
    from symshuffle.collect import audit_samples

    first, second = (_lines(path, option) for path, option in ((a, "FILE1"), (b, "FILE2")))
    level: dict[str, Any] = {"eps": eps, "delta": delta, "confidence": confidence}
    if claim is not None:
        level["claim"] = arguments.claim_subject(claim, "--claim")
    try:
        found = audit_samples(first, second, **level, disjoint=disjoint, header=header)
    except InputError as error:
        row = re.fullmatch(r"(first|second)\[(\d+)\]", error.argument)
        if row is None:
            raise
        place = f"{a if row[1] == 'first' else b}, line {int(row[2]) + 1}"
        raise InputError(place, error.value, error.expected) from None
    _show(found, "", show, {})


def _refuse(given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value is not None:
            raise InputError(option, value, "nothing: it does not go with the other options")


def _two(inputs: str | None) -> tuple[str, str]:
    words = [] if inputs is None else [word.strip() for word in inputs.split(",")]
    if len(words) != 2:
        raise InputError("--inputs", inputs, "two inputs as A,B; or what is claimed, by --claim or --plan")
    return words[0], words[1]


def _lines(path: Path, option: str) -> list[str]:
    text = read_text(path, option, LARGEST_SAMPLE)[1]
    return text.removesuffix("\n").split("\n") if text else []


def _show(found: Audit, price: str, show: Show, matrix: Mapping[str, Any]) -> None:
    if not show.data({**found.to_dict(), "price": price, **({"channel": matrix} if matrix else {})}):
        show.rows([*found.lines.rows, *file_rows(matrix), *found.rows()], found.explained() if show.explain else ())
    raise typer.Exit(found.exit_status)
