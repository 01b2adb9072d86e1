"""The command line: one application, and how its errors reach the user.

Each module of this package holds a family of commands in a ``typer.Typer`` named ``app``; adding a family is one line
of ``FAMILIES``. Only the family of the command that was given is loaded; help, and a command that nobody knows, load
all of them. Modules parse, call the library and print; nothing is computed here.
"""

from __future__ import annotations

import importlib
import io
import itertools
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from symshuffle.base.artifacts import installed
from symshuffle.base.errors import InputError, NotDecided, SolverFailure, SymshuffleError, Unsupported
from symshuffle.cli.progress import after_a_while

FAILED: Final = 1
WRONG_INPUT: Final = 2
NO_ANSWER: Final = 3
CANNOT_WRITE: Final = 4
INTERRUPTED: Final = 130

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "ledger": ("verify", "report", "perturb", "reproduce", "doctor"),
    "catalogue": ("claims", "errata", "show", "cite"),
    "privacy": ("delta", "epsilon", "decompose", "mechanisms", "example"),
    "curves": ("largest-eps0", "smallest-n", "profile", "amplification-curve", "tradeoff"),
    "views": ("renyi", "gdp", "pld", "worst-datasets"),
    "design": (),
    "geometry": ("frontier", "subset-size"),
    "laws": ("law",),
    "compare": ("compare",),
    "mean": ("mean", "calibrate"),
    "collect": (),
    "audit": (),
    "sweep": ("sweep",),
    "check": ("check",),
}
"""Module to its commands, in the order of the help page; without any, they form a group of the module's name."""


OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "command": ("--program",),
    "datasets": ("--x0, --x1",),
    "eps": ("--from, --to",),
    "first": ("FILE1",),
    "first, second": ("FILE1, FILE2",),
    "file": ("FILE", "MECH", "--claim", "--channel"),
    "mechanism": ("MECH", "--claim"),
    "name": ("--claim", "MECH"),
    "plan": ("FILE",),
    "second": ("FILE2", "--inputs"),
    "suffix": ("--plot",),
}
"""Arguments that refusals of the library name, to the options that give them, of which the first that a command has is
said. An argument that a command has by its own name needs no line."""

PHRASES: Final[Mapping[str, str]] = {
    " s (timeout)": " s (--timeout)",
    "given by eps0 or lam": "given by --eps0 or --lam",
    "discard=True": "--discard-draft",
    "the compact form (optimal)": "the compact form (no --symmetry)",
    "the orbit form (optimal with a group)": "the orbit form (--symmetry auto)",
    "(group=measure.symmetry())": "(--symmetry auto)",
}
"""What refusals of the library advise beside arguments, to the words of the command line."""


OUTPUTS: Final = frozenset({"--out", "--proof", "--csv", "--plot", "--json", "--report", "--html", "--certificates"})
"""Options that name a file or a folder that is written, where they take a value."""


class _Verbatim(TyperGroup):
    """Commands whose help is shown as it is written, and that never write over a file that they read."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        _shield(self)
        _keep_inputs(self)


def _keep_inputs(command: Any) -> None:
    """Make a command, or those below it, refuse to write over a file that it reads, or one file twice."""
    for inner in getattr(command, "commands", {}).values():
        _keep_inputs(inner)
    if command.callback is not None and (outputs := {one.name for one in command.params if {*one.opts} & OUTPUTS}):
        names = {one.name: next((text for text in one.opts if text[:2] == "--"), one.metavar) for one in command.params}

        @wraps(run := command.callback)
        def checked(**values: Any) -> Any:
            given = [
                (name, one)
                for name, value in values.items()
                for one in _paths(value, name in outputs, name in ("mech", "claim"))
            ]
            for place, (name, path) in enumerate(given):
                others = (*given[:place], *(one for one in given[place + 1 :] if one[0] not in outputs))
                for other, one in others if name in outputs else ():
                    if os.path.realpath(path) == os.path.realpath(one) or _is_same(path, one):
                        raise InputError(names[name], path, f"another file than that of {names[other]}")
            return run(**values)

        command.callback = checked


def _paths(value: object, output: bool, file: bool) -> list[Path]:
    """Return the paths among the values of an argument: texts of an output, or in the place of a mechanism."""
    found = []
    for one in value if isinstance(value, list | tuple) else (value,):
        text = isinstance(one, str) and one != "-"
        if isinstance(one, Path) or (text and (output or (file and "(" not in one and Path(one).suffix))):
            found.append(Path(one))
    return found


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file that is there, as hard links do."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def _shield(command: Any) -> None:
    """Escape brackets, Rich's markup, in the help of a command, of its parameters and of the commands below it."""
    for holder, name in [(command, "help"), (command, "short_help"), (command, "epilog")] + [
        (parameter, "help") for parameter in command.params
    ]:
        text = getattr(holder, name, None)
        if text and "[" in text:
            from rich.markup import escape

            setattr(holder, name, escape(text))
    for inner in getattr(command, "commands", {}).values():
        _shield(inner)


def application(families: Iterable[str] = FAMILIES, *, plain: bool = False) -> typer.Typer:
    """The application with some families of commands.

    - ``plain``: whether it is for a line that asks for no help and names no file to write.
    """
    made = typer.Typer(
        cls=TyperGroup if plain else _Verbatim,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for family in families:
        module = importlib.import_module(f"symshuffle.cli.{family}")
        made.add_typer(module.app, name=None if FAMILIES[family] else family)
    made.callback(invoke_without_command=True)(_root)
    return made


def family_of(word: str | None) -> str | None:
    """The family that knows a command, or None."""
    for family, commands in FAMILIES.items():
        if word in (commands or (family,)):
            return family
    return None


def __getattr__(name: str) -> Any:
    """``app``, with all families: made when it is asked for."""
    if name != "app":
        raise AttributeError(f"module 'symshuffle.cli' has no attribute {name!r}")
    globals()["app"] = application()
    return globals()["app"]


def _root(
    context: typer.Context,
    wants_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Shuffle and local differential privacy: certified bounds, and a ledger of verified theorems."""
    if wants_version:
        typer.echo(f"symshuffle {installed('symshuffle')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done, and as expected. 1: done, but something is not as the ledger, or a claim, has it. 2: wrong input. 3: a
    solver or a comparison gave no answer; of `audit`: a program is another channel than is claimed. 4: the output
    cannot be written. 130: interrupted. But for the first two and audits, a line on standard error says what is wrong.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a formula must not fail where its letters cannot be shown
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except OSError as error:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # what is left in the buffer can go nowhere
        return _refuse(f"standard output cannot be written: {error.strerror or error}", CANNOT_WRITE)
    return status


def _run(arguments: Sequence[str]) -> int:
    family = family_of(arguments[0] if arguments else None)
    plain = family is not None
    for word in arguments:
        plain = plain and word.partition("=")[0] not in (*OUTPUTS, "--help", "-h")
    app = application(FAMILIES if family is None else (family,), plain=plain)
    try:
        for option, value in itertools.pairwise(arguments):
            if option in OUTPUTS and not value:
                raise InputError(option, "an empty text", "the name of a file or a folder")
        with after_a_while(f"symshuffle {arguments[0] if arguments else ''}: at work, Ctrl-C to stop"):
            status = app(args=arguments, prog_name="symshuffle", standalone_mode=False)
    except typer.TyperException as error:
        return _refuse(_refused_value(error, arguments) or _explain(error), WRONG_INPUT)
    except SymshuffleError as error:
        return _refuse(in_options(str(error), parameters_of(app, arguments)), _STATUS.get(type(error), FAILED))
    except typer.Abort:
        return _refuse("interrupted", INTERRUPTED)
    return status if isinstance(status, int) else 0


_STATUS: Final[Mapping[type[SymshuffleError], int]] = {
    InputError: WRONG_INPUT,
    Unsupported: WRONG_INPUT,
    SolverFailure: NO_ANSWER,
    NotDecided: NO_ANSWER,
}


def parameters_of(app: typer.Typer, words: Sequence[str]) -> dict[str, str]:
    """Return how a command line names each parameter of its command: by its first long option, or its metavariable."""
    parser: Any = typer.main.get_command(app)
    for word in words:
        if word not in getattr(parser, "commands", {}):
            break
        parser = parser.commands[word]
    return {one.name: _spelling(one) for one in parser.params}


def _spelling(parameter: Any) -> str:
    long = next((option for option in parameter.opts if option.startswith("--")), "")
    return long or str(re.findall(r"\w+", parameter.metavar or parameter.name.upper())[0])


def in_options(message: str, parameters: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a refusal of the library in the words of the command line, with options for arguments.

    - ``parameters``: names of the parameters of the command, and how the command line names them.
    """
    begun = _BEGINNING.match(message)
    first, rest = ("", message) if begun is None else (begun[1], message[begun.end(1) :])
    whole, parts = _option(first, parameters), [_option(part, parameters) for part in first.split(", ")]
    start = whole or (", ".join(parts) if all(parts) else first)
    value, expected, advice = rest.rpartition(": expected ")
    if not expected:
        message = _in_advice(start + rest, parameters)
    else:  # what begins with a place in a file names keys of the file
        message = start + value + expected + _in_advice(advice, parameters, keys=not first)
    for phrase, written in PHRASES.items():
        message = message.replace(phrase, written)
    return message


def _in_advice(text: str, parameters: Mapping[str, str], *, keys: bool = False) -> str:
    """Return a text with options for arguments: ``name=True``, ``name='value'``, names with _, fields with a value.

    - ``keys``: whether names that are not written as arguments are keys of a file, which stay.
    """
    from symshuffle.accountants.deployment.model import KEYWORDS

    known = {name: f"--{name.replace('_', '-')}" for name in KEYWORDS if "_" in name} | dict(parameters)
    for name, option in known.items():
        if option.startswith("--"):
            text = re.sub(rf"\b{name}=True\b", option, text)
            text = re.sub(rf"\b{name}=False\b", option.replace("--", "--no-", 1), text)
            text = re.sub(rf"\b{name}='([^']*)'", rf"{option} \1", text)
            if keys:
                continue
            if name in (*KEYWORDS, "users") and name != "n":
                text = re.sub(rf"(?<!-)\b{name} = (?=\d)", f"{option} ", text)
            if "_" in name:
                text = re.sub(rf"\b{name}\b(?!\()", option, text)
    return text


_BEGINNING: Final = re.compile(r"([\w\[\], ]+?)(?: = | is missing: | are missing: |: )")
"""Arguments by which a refusal begins."""


def _option(argument: str, parameters: Mapping[str, str]) -> str:
    """Return how a command names an argument, maybe with the place of an entry behind it; empty if it does not."""
    name, _, place = argument.partition("[")
    if place and not re.fullmatch(r"\d+\]", place):
        return ""
    here = [f"--{name.replace('_', '-')}", parameters.get(name, ""), name, *OPTIONS.get(name, ())]
    known = {*parameters.values()}
    found = next((one for one in here if one and {*one.split(", ")} <= known), "")
    return f"{found}[{place}" if found and place else found


def _refuse(message: str, status: int) -> int:
    typer.echo(f"symshuffle: {' '.join(message.splitlines())}", err=True)
    return status


def _refused_value(error: typer.TyperException, arguments: Sequence[str]) -> str:
    """Return the refusal of a value by the parser in the words of the library; empty where no value is refused."""
    cause: Any = error.__cause__
    parameter, switch = getattr(error, "param", None), f"{getattr(error, 'option_name', None)}="
    given = [word.removeprefix(switch) for word in arguments if word.startswith(switch)]
    if given and "possibilities" not in vars(error):
        return str(InputError(switch[:-1], given[0], "no value: it is a switch"))
    if parameter is None or not hasattr(cause, "errors"):
        return ""
    found = cause.errors()[0]
    reason = found.get("ctx", {}).get("error", found["msg"])
    expected = getattr(reason, "expected", None) or str(reason).rpartition(" is not ")[2].rstrip(".").replace("'", "")
    return str(InputError(_spelling(parameter), found["input"], expected))


def _explain(error: typer.TyperException) -> str:
    """The message of the parser, followed by what it would have accepted."""
    context: Any = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    if hasattr(error, "option_name"):
        options = (option for parameter in context.command.params for option in parameter.opts)
        known = [*(option for option in options if option.startswith("-")), "--help"]
        return f"{error.message} (options: {', '.join(known)})"
    if hasattr(context.command, "list_commands"):
        return f"{error.format_message()} (commands: {', '.join(context.command.list_commands(context))})"
    return f"{error.format_message()} ({context.get_usage()})"
