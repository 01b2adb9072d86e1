"""The command sweep: one of the other commands at every point of a grid, into one table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from symshuffle.base.documents import LARGEST_LIST, parse_toml, read_text
from symshuffle.base.errors import InputError, SymshuffleError
from symshuffle.base.executors import workers
from symshuffle.base.numbers import counted
from symshuffle.base.rows import FlatRow, flat
from symshuffle.base.sweeps import TABLE, check_parquet
from symshuffle.base.sweeps import tabulate as swept
from symshuffle.cli import arguments
from symshuffle.cli.options import Jobs, Json
from symshuffle.cli.progress import progress

app = typer.Typer()

COMMANDS: Final = ("delta", "epsilon", "largest-eps0", "smallest-n", "worst-datasets")
"""Commands that answer with one number, and print it with ``--json``."""

_LONG: Final = ("evaluation", "meaning", "attained_by", "space", "confirmed", "neighbours.", "inputs.")
"""Answers of many words, which are a column only if asked for."""

_KEYS: Final = ("command", "grid", "columns")
_RANGE: Final = {"from", "to", "points", "geometric"}


@app.command()
def sweep(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC.toml", help="A command, and the values of its options in [grid].")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the table; resumed if it is there.")],
    jobs: Jobs = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write table.parquet as well, at the end.")] = False,
    as_json: Json = False,
) -> None:
    """Run a command at every point of a grid; if called again, continue where it stopped.

    Rows are written to DIR/table.csv as soon as they are known; a point that failed has a reason instead of a result.
    SPEC.toml has `command` (delta, epsilon, largest-eps0, smallest-n or worst-datasets), optionally `columns` (parts of
    its --json answer), and a table [grid] with the options of the command by name, `mechanism` and `param.NAME`. Each
    is a value, a list, or { from, to, points, geometric }.
    """
    command, columns, grid = _read(spec)
    if parquet:
        check_parquet()
    processes = arguments.jobs(jobs)
    with progress() as display, workers(processes) as executor:
        task = display.add_task("", total=None)
        if columns and not (out / TABLE).exists():
            _check_columns(command, columns, {name: values[0] for name, values in grid.items()})
        told = {"known": 0, "of": 0}

        def show(known: int, of: int, failed: int) -> None:
            told.update(known=known, of=of)
            display.update(task, completed=known, total=of, description=f"{failed} failed" if failed else "")

        try:
            found = swept(partial(answer, command, columns), grid, out=out, executor=executor, progress=show)
        except KeyboardInterrupt:
            kept = f"{told['known']} of {told['of']} points are in {out / TABLE}; the same command goes on from there"
            typer.echo(f"symshuffle: {kept}", err=True)
            raise
    table = out / TABLE
    if parquet:
        found.to_parquet(out / "table.parquet")
    if as_json:
        counts = {"points": len(found.rows), "resumed": found.resumed, "failed": found.failed}
        typer.echo(json.dumps({"table": str(table), **counts}, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    points = counted(len(found.rows), "point")
    console.print(f"{points}, {found.resumed} of them from before, {found.failed} failed: {table}")


def _check_columns(command: str, columns: Sequence[str], point: dict[str, Any]) -> None:
    """Refuse columns that the first point does not have, before the others are computed; it is computed twice."""
    try:
        answer(command, columns, **point)
    except InputError as error:
        if error.argument == "columns":
            raise
    except SymshuffleError:
        return  # its row says why


def answer(command: str, columns: Sequence[str], /, **point: Any) -> FlatRow:
    """One row: what the command prints with ``--json``, its numbers as the decimals there."""
    words = [command]
    if "mechanism" in point:
        words.append(str(point["mechanism"]))
    for name, value in point.items():
        if name.startswith("param."):
            words.append(f"--param={name.removeprefix('param.')}={value}")
        elif value is True:
            words.append(f"--{name}")
        elif value is False and name == "header":  # of which neither value is the default
            words.append("--no-header")
        elif name != "mechanism" and value is not False:
            words.append(f"--{name}={value}")
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(StringIO()):  # bars of its own would cross that of the sweep
        try:
            _application(command)(args=[*words, "--json"], prog_name="symshuffle", standalone_mode=False)
        except typer.TyperException as error:
            raise SymshuffleError(error.format_message()) from None
    row = flat(json.loads(printed.getvalue()))
    if not columns:
        return {name: cell for name, cell in row.items() if not name.startswith(_LONG)}
    for name in columns:
        if name not in row:
            raise InputError("columns", name, f"some of {', '.join(row)}")
    return {name: row[name] for name in columns}


@cache
def _application(command: str) -> typer.Typer:
    from symshuffle.cli import application, family_of

    return application((str(family_of(command)),))


def _read(spec: Path) -> tuple[str, list[str], dict[str, list[Any]]]:
    """The command, the columns wanted and the axes of a specification."""
    found = parse_toml(read_text(spec, "SPEC", LARGEST_LIST)[1], spec, "SPEC")
    for name in found.keys() - set(_KEYS):
        raise InputError(f"{spec}: {name}", found[name], f"only the keys {', '.join(_KEYS)}")
    command, columns, grid = found.get("command"), found.get("columns", []), found.get("grid")
    if command not in COMMANDS:
        raise InputError(f"{spec}: command", command, f"one of {', '.join(COMMANDS)}")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise InputError(f"{spec}: columns", columns, "a list of names")
    if not isinstance(grid, dict) or not grid:
        raise InputError(f"{spec}: grid", grid, "a table of options and their values")
    parameters = grid.pop("param", {})
    if not isinstance(parameters, dict):
        raise InputError(
            f"{spec}: grid.param", parameters, "parameters of the mechanism by name, as param.k = [10, 50]"
        )
    known = _options(command)
    for name in grid:
        if name not in known:
            raise InputError(
                f"{spec}: grid.{name}", grid[name], f"only options of {command}: {', '.join(known)}, param.NAME"
            )
    named = {**grid, **{f"param.{name}": values for name, values in parameters.items()}}
    return command, columns, {name: _axis(name, values, f"{spec}: grid.{name}") for name, values in named.items()}


def _options(command: str) -> list[str]:
    parser: Any = typer.main.get_command(_application(command))
    if hasattr(parser, "commands"):
        parser = parser.commands[command]
    options = (option for parameter in parser.params for option in parameter.opts)
    found = (option.removeprefix("--") for option in options if option.startswith("--"))
    return ["mechanism", *(name for name in found if name not in ("json", "param"))]


def _axis(name: str, values: Any, place: str) -> list[Any]:
    """The values of an option."""
    from symshuffle.accountants.questions.curves import spaced

    if isinstance(values, Mapping):
        if not {"from", "to", "points"} <= values.keys() <= _RANGE:
            raise InputError(place, values, "{ from, to, points }, optionally with geometric = true")
        geometric = values.get("geometric", False)
        try:
            points = spaced(values["from"], values["to"], values["points"], geometric=geometric)
        except InputError as error:
            raise InputError(f"{place}.{error.argument}", error.value, error.expected) from None
        if name == "n":
            points = tuple(sorted({x.__class__(round(x)) for x in points}))
        return [str(x) for x in points]
    if not isinstance(values, list):
        return [values]
    if not values:
        raise InputError(place, values, "at least one value")
    for value in values:
        if not isinstance(value, str | int):
            raise InputError(place, value, "numbers and texts")
    return values
