"""Reading the arguments of commands about one mechanism: names, numbers, options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, TypeVar

import typer

from symshuffle.base.choices import STRENGTH, Arithmetic
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, parse_rational
from symshuffle.configuration.randomizers import ArgumentNames, NamedRandomizer, description, matrix_path
from symshuffle.engines.registry import ENGINES, engine_class, engine_classes
from symshuffle.mechanisms.names import mechanism_name

if TYPE_CHECKING:
    from symshuffle.accountants.deployment.model import Deployment
    from symshuffle.channels.channel import Channel
    from symshuffle.collect.plan import SurveyPlan
    from symshuffle.engines.registry import Engine
    from symshuffle.mechanisms.model import Mechanism

F = TypeVar("F")

OPTION_WORDS: Final = ArgumentNames("MECH", "--eps0", "--lam", "MECH", "--header", "-p", "-p {}=")

LAW_BITS: Final = 256
"""Precision of the atoms of a law: enough for fifty confirmed digits."""


if TYPE_CHECKING:
    EngineName: TypeAlias = str
else:
    EngineName = Literal[("auto", *ENGINES)]  # those of the registry


EngineOption = Annotated[EngineName, typer.Option("--engine", help="Engine; auto picks the cheapest that will do.")]
Confirm = Annotated[
    bool, typer.Option("--confirm", help="Recompute in mpmath by another route, with the digits it has.")
]


def named_randomizer(
    mech: str, eps0: str | None, lam: str | None, param: list[str] | None, header: bool | None
) -> NamedRandomizer:
    """The randomizer of the options of a command: one mechanism, or the file of a matrix."""
    file, name = matrix_path(mech), mechanism_name(mech)
    if file is None and name == "channel":
        raise InputError("MECH", name, "a mechanism, or the file of a matrix in its place (CSV or JSON)")
    if file is None and header is not None:
        raise InputError("--header", header, f"none, unless a matrix file is given in place of {name}")
    return NamedRandomizer(
        name if file is None else "channel", assignments(param), eps0, lam, file, header, OPTION_WORDS
    )


def echoed(one: NamedRandomizer, found: Any, **asked: Any) -> dict[str, Any]:
    """All parameters of a randomizer exactly as they were understood."""
    file = {} if one.file is None else {"file": str(one.file)}
    return description(found) | understood(eps0=one.eps0, lam=one.lam) | file | understood(**asked)


def understood(**given: Any) -> dict[str, Any]:
    """Numbers exactly as they were understood; what was not given is left out."""
    found = {}
    for name, value in given.items():
        if value is not None:
            found[name] = str(parse_rational(value, name)) if isinstance(value, str) else value
    return found


def explicit(found: Channel, inputs: Mapping[str, str]) -> Mechanism:
    """A channel as a mechanism without parameters, comparing the pair of inputs that is named."""
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.mechanisms.symbolic import constant_of

    values = {"first": "0", "second": "1", **inputs}
    for name in values.keys() - {"first", "second"}:
        raise InputError(name, values[name], "first or second, the inputs to compare")
    pair = []
    for name, value in values.items():
        x = parse_rational(value, name)
        if x.denominator != 1 or not 0 <= x < found.num_inputs:
            raise InputError(name, value, f"an input from 0 to {found.num_inputs - 1}")
        pair.append(int(x))
    rows = [[constant_of(Fraction(entry)) for entry in row] for row in found.rows]  # type: ignore[arg-type]  # as read
    return Mechanism.from_matrix("channel", rows, parameters=(), pair=(pair[0], pair[1]), title="explicit channel")


def assignments(param: list[str] | None) -> dict[str, str]:
    """The NAME=VALUE pairs of the command line, as text."""
    values: dict[str, str] = {}
    for item in param or ():
        key, equals, value = item.partition("=")
        if not equals or not key or key in values or key in ("lam", "eps0"):
            raise InputError("-p", item, "NAME=VALUE, each name once, as k=10 (lam and eps0 have options of their own)")
        values[key] = value
    return values


def jobs(text: str | None) -> int:
    """The number of processes; one per core where none is given."""
    from symshuffle.base.executors import MOST_JOBS

    return min(os.cpu_count() or 1, MOST_JOBS) if text is None else as_integer(text, "--jobs", 1, MOST_JOBS)


def engine_and_rigour(
    name: EngineName, rtol: float, arithmetic: Arithmetic | None
) -> tuple[Engine | None, Arithmetic | None]:
    """The engine asked for, None for the automatic choice, and the arithmetic asked for."""
    if name == "auto":
        return None, arithmetic
    chosen = engine_class(name).with_tolerance(rtol, LAW_BITS)
    if arithmetic is None:
        return chosen, None if name == "exact" else "float64"
    if STRENGTH[chosen.least] < STRENGTH[arithmetic]:  # the same method in balls, where there is one
        for _, found in engine_classes():
            if found.name == chosen.name and STRENGTH[found.least] >= STRENGTH[arithmetic]:
                return found.with_tolerance(rtol, LAW_BITS), arithmetic
    return chosen, arithmetic


def plan(path: Path) -> SurveyPlan:
    """Return the plan of a survey in a file; notices about the file are printed."""
    from symshuffle.collect.files import read_plan_file

    return _told(path, read_plan_file(path))


def claim_subject(path: Path, option: str) -> SurveyPlan | Deployment:
    """Return the plan in a file, or the deployment in one that is no plan; notices as of :func:`plan`."""
    from symshuffle.collect.plan_file import read_plan_or_deployment

    return _told(path, read_plan_or_deployment(path, option))


def _told(path: Path, found: F) -> F:
    for notice in getattr(found, "notices", ()):
        typer.echo(f"{path}: {notice}", err=True)
    return found
