"""Reading the arguments of commands about one mechanism: names, numbers, options."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, final

import typer

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, parse_rational
from symshuffle.cli import vectors
from symshuffle.cli.options import CoveringOptions, Eps0, File, Lam, Mech, Params
from symshuffle.engines.registry import ENGINES, engine_class, engine_classes

if TYPE_CHECKING:
    from symshuffle.accountants.covering.reduced import Reducible
    from symshuffle.base.numbers import Real
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.closed_forms import ClosedForm
    from symshuffle.decompositions.composition import Composed
    from symshuffle.engines.registry import Engine
    from symshuffle.mechanisms.continuous import Laplace
    from symshuffle.mechanisms.model import Mechanism

LAW_BITS: Final = 256
"""Precision of the atoms of a law: enough for fifty confirmed digits."""

Run: TypeAlias = "Mechanism | ClosedForm | Laplace | Composed | Reducible | Channel"
"""What every user runs."""


if TYPE_CHECKING:

    class EngineName(StrEnum):
        """Names of the engines on the command line: those of the registry, and ``auto``."""

        AUTO = "auto"
else:
    EngineName = StrEnum("EngineName", {name.upper(): name for name in ("auto", *ENGINES)})


EngineOption = Annotated[EngineName, typer.Option("--engine", help="Engine; auto picks the cheapest that will do.")]
Confirm = Annotated[
    bool, typer.Option("--confirm", help="Recompute in mpmath by another route, with the digits it has.")
]


def quickest(
    name: str,
    eps0: str | None,
    lam: str | None,
    param: list[str] | None,
    file: Path | None,
    covering: CoveringOptions,
) -> Run:
    """As :func:`source_or_channel`, a mechanism by its closed form on file where that will do: it loads no SymPy."""
    from symshuffle.decompositions.closed_forms import closed_form

    will_do = file is None and covering.replaces_one
    known = closed_form(name, assignments(param), eps0=eps0, lam=lam) if will_do else None
    return source_or_channel(name, eps0, lam, param, file) if known is None else known


def source_or_channel(
    name: str, eps0: str | None, lam: str | None, param: list[str] | None, file: Path | None
) -> Mechanism | Laplace | Composed | Reducible | Channel:
    """What a command line asks about, where `channel` with a file is welcome too."""
    if name != "channel":
        if file is not None:
            raise InputError("--file", file, f"the mechanism `channel` to go with it, not {name}")
        return source(name, eps0, lam, param)
    for option, value in (("--eps0", eps0), ("--lam", lam), ("-p", param and param[0])):
        if value:
            raise InputError(option, value, "nothing but --file for `channel`")
    return channel(file)


@final
@dataclass(frozen=True, slots=True)
class One:
    """One mechanism, with every parameter that is needed."""

    mech: Mech
    eps0: Eps0 = None
    lam: Lam = None
    param: Params = None
    file: File = None

    def source(self) -> Mechanism | Laplace | Composed | Reducible | Channel:
        """What every user runs."""
        return source_or_channel(self.mech, self.eps0, self.lam, self.param, self.file)

    def quickest(self, covering: CoveringOptions) -> Run:
        """The same, by its closed form on file where that will do."""
        return quickest(self.mech, self.eps0, self.lam, self.param, self.file, covering)

    def echoed(self, found: Run, **asked: Any) -> dict[str, Any]:
        """All parameters exactly as they were understood."""
        return echoed(found, self.eps0, self.lam, file=self.file, **asked)


def source(
    name: str, eps0: str | None, lam: str | None, param: list[str] | None
) -> Mechanism | Laplace | Composed | Reducible:
    """What a command line asks about, with every parameter that is needed."""
    if name == "any-ldp":
        return _any_ldp(eps0, lam, param)
    if name in vectors.PARAMETERS:
        return vectors.mechanism(name, eps0, lam, assignments(param))
    if name == "laplace":
        return _laplace(eps0, lam, param)
    from symshuffle.decompositions.composition.operators import is_composition  # it loads SymPy

    if is_composition(name):
        return _composed(name, eps0, lam, param)
    return _complete(mechanism(name, eps0, lam, param))


def _any_ldp(eps0: str | None, lam: str | None, param: list[str] | None) -> Reducible:
    from symshuffle.accountants.covering.any_ldp import any_ldp

    values = assignments(param)
    for name in values.keys() - {"delta0"}:
        raise InputError(name, values[name], "no parameter of any-ldp: only the budget is known")
    _required_budget(eps0, lam)
    return any_ldp(eps0=eps0, lam=lam, delta0=values.get("delta0"))


def channel(file: Path | None) -> Channel:
    """The matrix in a file."""
    from symshuffle.channels.channel_file import read_channel

    if file is None:
        raise InputError("--file", None, "the CSV or JSON file of the channel")
    return read_channel(file)


def explicit(found: Channel, param: list[str] | None) -> Mechanism:
    """A channel as a mechanism without parameters, comparing the pair of inputs that is named."""
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.mechanisms.symbolic import constant_of

    values = {"first": "0", "second": "1", **assignments(param)}
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


def _laplace(eps0: str | None, lam: str | None, param: list[str] | None) -> Laplace:
    from symshuffle.mechanisms.continuous import LARGEST_CELLS, Laplace

    values = assignments(param)
    for name in values.keys() - {"domain", "cells"}:
        raise InputError(name, values[name], "a parameter of laplace: domain, cells")
    budget = _required_budget(eps0, lam)
    domain: Any = values.get("domain", "binary")
    return Laplace(budget, domain, as_integer(values.get("cells", "200"), "cells", 1, LARGEST_CELLS))


def _required_budget(eps0: str | None, lam: str | None) -> Real:
    from symshuffle.base.levels import read_budget

    budget = read_budget(eps0=eps0, lam=lam)
    if budget is None:
        raise InputError("lam", None, "a number > 1, given by --eps0 or --lam")
    return budget


def assignments(param: list[str] | None) -> dict[str, str]:
    """The NAME=VALUE pairs of the command line, as text."""
    values: dict[str, str] = {}
    for item in param or ():
        key, equals, value = item.partition("=")
        if not equals or not key or key in values or key in ("lam", "eps0"):
            raise InputError("-p", item, "NAME=VALUE, each name once, as k=10 (lam and eps0 have options of their own)")
        values[key] = value
    return values


def mechanism(name: str, eps0: str | None, lam: str | None, param: list[str] | None) -> Mechanism:
    """The named mechanism with the parameters of the command line; others stay open."""
    from symshuffle.mechanisms import registry

    values = assignments(param)
    definition = registry.mechanism(name)
    if not hasattr(definition, "parameters"):  # Laplace noise has a continuum of outputs and no classes
        raise InputError("MECH", name, "a mechanism with finitely many outputs")
    needs_budget = any(parameter.name == "lam" for parameter in definition.parameters)
    if not needs_budget and (eps0 is not None or lam is not None):
        raise InputError("--eps0" if lam is None else "--lam", eps0 or lam, f"no budget: {name} has none")
    return definition.at(eps0=eps0, lam=lam, **values)


def _complete(found: Mechanism) -> Mechanism:
    fixed = found.with_defaults()
    for parameter in fixed.needed:
        option = "--eps0 or --lam" if parameter.name == "lam" else f"-p {parameter.name}="
        raise InputError(parameter.name, None, f"{parameter.range}, given by {option}")
    return fixed


def _composed(text: str, eps0: str | None, lam: str | None, param: list[str] | None) -> Mechanism | Laplace | Composed:
    from symshuffle.base.levels import read_budget
    from symshuffle.decompositions.composition import Composed, Composition, has_budget, open_parameters
    from symshuffle.decompositions.composition.operators import parse
    from symshuffle.mechanisms.continuous import Laplace

    if param:
        raise InputError("-p", param[0], "parameters inside the expression, as in joint(krr(k=10),4)")
    tree = parse(text)
    if isinstance(tree, Laplace):
        return replace(tree, lam=_required_budget(eps0, lam))
    if not isinstance(tree, Composition):
        return _complete(tree.at(eps0=eps0, lam=lam))
    for parameter in open_parameters(tree):
        raise InputError(parameter.name, None, f"{parameter.range}, given inside the expression")
    budget = read_budget(eps0=eps0, lam=lam)
    needed = has_budget(tree)
    if needed and budget is None:
        raise InputError("lam", None, "a total budget, given by --eps0 or --lam")
    if not needed and budget is not None:
        raise InputError("--eps0" if lam is None else "--lam", eps0 or lam, f"no budget: {tree.name} has none")
    return Composed(tree, budget)


def users(text: str) -> int:
    """The number of users, checked."""
    from symshuffle.accountants.bounds.evaluate import check_n

    return check_n(text)


def jobs(text: str | None) -> int:
    """The number of processes; one per core where none is given."""
    from symshuffle.base.executors import MOST_JOBS

    return min(os.cpu_count() or 1, MOST_JOBS) if text is None else as_integer(text, "--jobs", 1, MOST_JOBS)


def engine_and_rigour(name: EngineName, rel: float, rigour: Rigour | None) -> tuple[Engine | None, Rigour | None]:
    """The engine asked for, None for the automatic choice, and the rigour asked for."""
    if not 0 < rel < 1:
        raise InputError("rel", rel, "a relative width in (0, 1)")
    level = rigour
    if str(name) == "auto":
        return None, level or Rigour.FLOAT64
    chosen = engine_class(name).aiming(rel, LAW_BITS)
    if level is None:
        return chosen, None if name == "exact" else Rigour.FLOAT64
    if chosen.least.strength < level.strength:  # the same method in balls, where there is one
        stronger = (
            found.aiming(rel, LAW_BITS) for _, found in engine_classes() if found.least.strength >= level.strength
        )
        chosen = next((engine for engine in stronger if engine.name == chosen.name), chosen)
    return chosen, level


def echoed(found: Run, eps0: str | None, lam: str | None, **asked: Any) -> dict[str, Any]:
    """All parameters exactly as they were understood."""
    given = _named(found)
    for name, value in {"eps0": eps0, "lam": lam, **asked}.items():
        if value is not None:
            given[name] = str(value) if isinstance(value, Path) else value
            if isinstance(value, str):
                given[name] = str(parse_rational(value, name))
    return given


def _named(found: Run) -> dict[str, Any]:
    """What is asked about, by name and parameters; algebra loads last."""
    from symshuffle.accountants.covering.any_ldp import AnyLdp
    from symshuffle.accountants.covering.reduced import Reducible
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.closed_forms import ClosedForm
    from symshuffle.mechanisms.continuous import Laplace

    match found:
        case ClosedForm():
            still_open = dict.fromkeys(found.limits, "limit") | ({found.told: "all"} if found.told else {})
            return {"mechanism": found.name, **dict(found.values), **still_open}
        case Laplace():
            return {"mechanism": found.name, "domain": found.domain, "cells": found.cells}
        case AnyLdp():
            return {"mechanism": found.name}
        case Reducible():
            return vectors.echoed(found)
        case Channel():
            return {"mechanism": "channel", "inputs": found.num_inputs, "outputs": found.num_outputs}
    from symshuffle.decompositions.composition import Composed

    if isinstance(found, Composed):
        return {"mechanism": found.composition.name}
    fixed = {name: str(value) for name, value in found.values if name != "lam"}
    left = {parameter.name: "limit" if parameter.has_limit else "all" for parameter in found.parameters}
    return {"mechanism": found.name, **fixed, **left}
