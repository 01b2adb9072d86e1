"""Several rounds on the command line: --rounds, --rounds-file, and what a file of rounds says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from symshuffle.base.documents import LARGEST_LIST, parse_json, parse_toml, read_text
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import as_integer
from symshuffle.cli import arguments
from symshuffle.cli.arguments import One
from symshuffle.cli.options import NONE_ASKED, CoveringOptions, Eps0, File, Header, Lam, Params

if TYPE_CHECKING:
    from symshuffle.accountants.rounds.plan import Rounds

_KEYS: Final = (
    "mechanism",
    "params",
    "eps0",
    "lam",
    "n",
    "times",
    "reports",
    "participation",
    "messages",
    "file",
    "header",
)

RelOrUsual = Annotated[
    float | None,
    typer.Option(help="Relative width of the bracket to aim at, in (0, 1); default 1e-6, of several rounds 1e-3."),
]

_REFUSED: Final = {
    ("reports", "reused"): "fresh: rounds that repeat one report depend on each other, which no bound here covers",
    ("participation", "fixed-size"): "all: how many of a fixed number take part depends on who does (independent coins "
    "are a mechanism, subsample(...))",
    ("messages", "linkable"): "unlinkable: messages that can be told to be of one user are no shuffled rounds",
}
_ALLOWED: Final = {"reports": "fresh", "participation": "all", "messages": "unlinkable"}


@final
@dataclass(frozen=True, slots=True)
class Given:
    """Rounds of a file as they were written."""

    place: str
    run: One
    n: str | None
    times: str

    def source(self, eps0: Fraction | None, covering: CoveringOptions) -> Any:
        """What every user runs; ``eps0`` is the level where the file leaves it open."""
        open_ = eps0 is not None and self.run.lam is self.run.eps0 is None
        try:
            return (replace(self.run, eps0=str(eps0)) if open_ else self.run).quickest(covering)
        except InputError as error:
            raise InputError(f"{self.place}.{error.argument}", error.value, error.expected) from None

    def numbers(self) -> tuple[int, int | None]:
        """Number of rounds, and of users where the file has it."""
        try:
            return number(self.times, "times"), None if self.n is None else arguments.users(self.n)
        except InputError as error:
            raise InputError(f"{self.place}.{error.argument}", error.value, error.expected) from None

    def told(self) -> dict[str, Any]:
        """As it is echoed."""
        run = self.run
        known: dict[str, Any] = {
            "mechanism": run.mech,
            "eps0": run.eps0,
            "lam": run.lam,
            "n": self.n,
            "times": self.times,
        }
        if run.mech == "channel" and run.file is not None:
            known |= {"file": str(run.file), **arguments.matrix(arguments.channel(run.file, run.header))}
        return {key: value for key, value in known.items() if value is not None} | {"params": run.param}


def read_rounds(file: Path) -> list[Given]:
    """The rounds of a file, with a word on standard error about what it leaves to be assumed."""
    _, text = read_text(file, "--rounds-file", LARGEST_LIST)
    if file.suffix.lower() == ".json":  # numbers stay the text they are in the file: 0.1 is one tenth
        data = parse_json(text, file, "--rounds-file", parse_float=str, parse_constant=str)
    else:
        data = parse_toml(text, file, "--rounds-file")
    rows = data.get("rounds") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError("--rounds-file", file, "a list `rounds` of tables, at least one")
    for key in data.keys() - {"rounds"}:
        raise InputError(f"{file}: {key}", data[key], "nothing beside the list `rounds`")
    found = [_given(row, f"{file}: rounds[{i}]") for i, row in enumerate(rows)]
    silent = [f"rounds[{i}]" for i, row in enumerate(rows) if "reports" not in row]
    if silent:
        typer.echo(f'{", ".join(silent)}: no key `reports`; assumed "fresh": new randomness in every round', err=True)
    return found


def _given(row: dict[str, Any], place: str) -> Given:
    for key, value in row.items():
        if key not in _KEYS:
            raise InputError(f"{place}.{key}", value, f"only keys of a round: {', '.join(_KEYS)}")
    for key, allowed in _ALLOWED.items():
        value = row.get(key, allowed)
        if value != allowed:
            raise InputError(f"{place}.{key}", value, _REFUSED.get((key, str(value)), allowed))
    params = row.get("params", {})
    if not isinstance(row.get("mechanism"), str):
        raise InputError(f"{place}.mechanism", row.get("mechanism"), "the name of a mechanism, or an expression")
    if not isinstance(params, dict):
        raise InputError(f"{place}.params", params, "a table of parameters")
    eps0, lam, n = (None if row.get(key) is None else str(row[key]) for key in ("eps0", "lam", "n"))
    if eps0 is not None and lam is not None:
        raise InputError(f"{place}.lam", lam, "none where eps0 is given")
    where = None if row.get("file") is None else Path(str(row["file"]))
    pairs = [f"{name}={value}" for name, value in params.items()]
    run = One(row["mechanism"], eps0, lam, pairs, where, told_header(row.get("header"), place))
    return Given(place, run, n, str(row.get("times", 1)))


def told_header(header: object, place: str) -> bool | None:
    """What a table of a file says about the first line of a matrix."""
    if header is not None and not isinstance(header, bool):
        raise InputError(f"{place}.header", header, "true or false")
    return header


def of_file(given: list[Given], covering: CoveringOptions, *, users: bool, eps0: Fraction | None = None) -> Rounds:
    """The rounds of a file as a source.

    - ``users``: whether every round has to say its number of users; if not, none may.
    - ``eps0``: the level of the rounds that have none.
    """
    from symshuffle.accountants.rounds.plan import Round, Rounds

    parts = []
    for one in given:
        if users and one.n is None:
            raise InputError(f"{one.place}.n", None, "the number of users of these rounds")
        if not users and one.n is not None:
            raise InputError(f"{one.place}.n", one.n, "none: it is what is asked for")
        source = one.source(eps0, covering)
        times, n = one.numbers()
        parts.append(Round(source, times, n))
    return Rounds(tuple(parts))


def number(text: str, argument: str = "rounds") -> int:
    """A number of rounds."""
    from symshuffle.accountants.rounds.plan import MOST_ROUNDS

    return as_integer(text, argument, 1, MOST_ROUNDS)


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """What a command asks about.

    - ``users``: number of users of every round; None where a file has them, or they are asked for.
    """

    source: Any
    reduced: Any
    users: int | None
    inputs: dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What a command asks about, as it was written: a mechanism or a file of rounds, and whom the bound covers."""

    mech: Annotated[
        str | None,
        typer.Argument(
            metavar="MECH",
            help="A mechanism (see `symshuffle mechanisms`), or an expression such as joint(krr(k=3),2); none with "
            "--rounds-file.",
            show_default=False,
        ),
    ] = None
    n: Annotated[
        str | None, typer.Option("--n", help="Number of users, the differing one included; none with --rounds-file.")
    ] = None
    eps0: Eps0 = None
    lam: Lam = None
    param: Params = None
    file: File = None
    header: Header = None
    rounds: Annotated[
        str | None,
        typer.Option(
            "--rounds", help="Number of rounds, fixed before the first, each with fresh randomness and messages."
        ),
    ] = None
    rounds_file: Annotated[
        Path | None,
        typer.Option(
            "--rounds-file",
            metavar="FILE",
            help=f"Rounds that differ: TOML (or JSON) of tables [[rounds]] with {', '.join(_KEYS)}.",
        ),
    ] = None
    covering: CoveringOptions = NONE_ASKED

    def subject(self, *, users: bool = True, **echo: Any) -> Subject:
        """One source, several rounds of it, or the rounds of a file."""
        from symshuffle.accountants.covering.covered import Covering
        from symshuffle.accountants.questions.experiments import experiment
        from symshuffle.accountants.rounds.plan import rounds as repeated

        whom, covering = Covering.of(**self.covering.whom), self.covering
        if self.rounds_file is not None:
            if self.rounds is not None:
                expected = f"none with --rounds-file {self.rounds_file}, which says how often each is run"
                raise InputError("--rounds", self.rounds, expected)
            given, inputs = self._of_file(self.rounds_file)
            plan = of_file(given, covering, users=users)
            asked = {name: str(value) for name, value in echo.items() if value is not None}
            return Subject(plan, experiment(plan, whom), None, inputs | asked | covering.written)
        one, many = self._named(users=users)
        found = one.quickest(covering)
        inputs = one.echoed(found, n=many, **echo) | covering.written
        if self.rounds is not None:
            inputs["rounds"] = times = number(self.rounds)
            found = repeated(found, times) if times > 1 else found
        return Subject(found, experiment(found, whom), many, inputs)

    def budgeted(self) -> tuple[Callable[[Fraction], Any], Any, int | None, dict[str, Any]]:
        """What is run as a function of the local budget; as it is named at 1 nat, users, and what is echoed.

        In a file, the budget is that of the rounds that say none.
        """
        if self.rounds_file is not None:
            given, inputs = self._of_file(self.rounds_file, rounds=self.rounds)
            if all(one.run.eps0 is not None or one.run.lam is not None for one in given):
                expected = "a round without eps0 and lam: its budget is asked for"
                raise InputError("--rounds-file", self.rounds_file, expected)
            return lambda eps0: of_file(given, self.covering, users=True, eps0=eps0), None, None, inputs
        one, users = self._named()
        if one.mech == "channel":
            raise InputError("mechanism", one.mech, "a mechanism with a local budget")

        def run(eps0: str) -> Any:
            return replace(one, eps0=eps0).quickest(self.covering)

        try:
            asked = run("1")
        except InputError as error:
            if error.argument == "--eps0":  # the user gave none
                raise InputError("mechanism", one.mech, "a mechanism with a local budget") from None
            raise
        times = 1 if self.rounds is None else number(self.rounds)

        def at(eps0: Fraction) -> Any:
            from symshuffle.accountants.rounds import plan

            return run(str(eps0)) if times == 1 else plan.rounds(run(str(eps0)), times)

        return at, asked, users, {} if self.rounds is None else {"rounds": times}

    def check_confirmable(self, source: Any) -> None:
        """A confirmation recomputes one round, in which all users send and one differs."""
        from symshuffle.accountants.rounds.plan import Rounds

        if isinstance(source, Rounds):
            raise Unsupported("--confirm recomputes one round; not with several rounds")
        if not self.covering.of_all_users:
            raise Unsupported("--confirm recomputes the bound for n users who all send; leave --min-users, ... away")

    def _named(self, *, users: bool = True) -> tuple[One, int | None]:
        """The mechanism and, if it has to be said, the number of users."""
        if self.mech is None:
            raise InputError("MECH", None, "a mechanism (see `symshuffle mechanisms`), or --rounds-file")
        if users and self.n is None:
            raise InputError("--n", None, "a number of users")
        one = One(self.mech, self.eps0, self.lam, self.param, self.file, self.header)
        return one, None if self.n is None else arguments.users(self.n)

    def _of_file(self, file: Path, **more: object) -> tuple[list[Given], dict[str, Any]]:
        """The rounds of a file, alone, and what is echoed."""
        for option in ("n", "mech", "eps0", "lam", "param", "file", "header"):
            more.setdefault(option, getattr(self, option))
        for option, value in more.items():
            if value not in (None, [], ()):
                name = "MECH" if option == "mech" else f"--{option.replace('_', '-')}"
                raise InputError(name, value, f"none with --rounds-file {file}, which says it for every round")
        given = read_rounds(file)
        return given, {"rounds": [one.told() for one in given], "rounds_file": str(file)}
