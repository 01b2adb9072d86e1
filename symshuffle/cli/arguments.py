"""Reading the arguments of commands about one mechanism: names, numbers, options."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError
from symshuffle.base.executors import MOST_JOBS
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import as_integer, parse_rational
from symshuffle.cli import vectors
from symshuffle.cli.options import CoveringOptions, Eps0, File, Header, Lam, Mech, Params
from symshuffle.engines.registry import ENGINES, engine_class, engine_classes
from symshuffle.mechanisms.names import mechanism_name, unknown_mechanism

if TYPE_CHECKING:
    from symshuffle.base.numbers import Real
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.closed_forms import ClosedForm
    from symshuffle.decompositions.filed_values import FiledValues
    from symshuffle.engines.registry import Engine
    from symshuffle.mechanisms.model import Mechanism

LAW_BITS: Final = 256
"""Precision of the atoms of a law: enough for fifty confirmed digits."""


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


@final
@dataclass(frozen=True, slots=True)
class One:
    """One mechanism, with every parameter that is needed."""

    mech: Mech
    eps0: Eps0 = None
    lam: Lam = None
    param: Params = None
    file: File = None
    header: Header = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mech", mechanism_name(self.mech))

    def quickest(self, covering: CoveringOptions | None = None) -> Any:
        """As :meth:`source`, a mechanism by its closed form on file where that will do: it loads no SymPy."""
        known = self.on_file() if covering is None or covering.null is None else None
        return self.source() if known is None else known

    def on_file(self) -> ClosedForm | None:
        """The named mechanism by its closed form on file; None where that is in doubt, or a matrix is asked about."""
        from symshuffle.decompositions.closed_forms import closed_form

        if self.file is not None or self.header is not None:
            return None
        return closed_form(self.mech, assignments(self.param), eps0=self.eps0, lam=self.lam)

    def source(self) -> Any:
        """What every user runs."""
        name = self.mech
        if name == "channel":
            for option, value in (("--eps0", self.eps0), ("--lam", self.lam), ("-p", self.param and self.param[0])):
                if value:
                    raise InputError(option, value, "nothing but --file for `channel`")
            return channel(self.file, self.header)
        if self.file is not None:
            raise InputError("--file", self.file, f"the mechanism `channel` to go with it, not {name}")
        if self.header is not None:
            raise InputError("--header", self.header, f"none but with a --file, not with {name}")
        if name == "any-ldp":
            return self._any_ldp()
        if name in vectors.PARAMETERS:
            return vectors.mechanism(name, self.eps0, self.lam, assignments(self.param))
        if name == "laplace":
            return self._laplace()
        self._refuse_missing()
        from symshuffle.decompositions.closed_forms import table
        from symshuffle.decompositions.composition.operators import is_composition  # it loads SymPy

        if name not in table() and not is_composition(name):
            raise unknown_mechanism(name, [*table(), "laplace", "any-ldp", "channel", *vectors.PARAMETERS])
        return self._composed() if is_composition(name) else _complete(self.mechanism())

    def values(self) -> FiledValues | None:
        """The values given to a mechanism on file, checked without algebra; None for any other."""
        from symshuffle.decompositions.closed_forms import table
        from symshuffle.decompositions.filed_values import FiledValues

        form = table().get(self.mech)
        if form is None or form["thinned"]:
            return None
        if not form["budget"]:
            self._refuse_budget()
        return FiledValues.read(self.mech, form, assignments(self.param), eps0=self.eps0, lam=self.lam)

    def _refuse_without_classes(self) -> None:
        """Refuse what has a name and no classes of outputs."""
        from symshuffle.decompositions.closed_forms import table

        if self.mech == "laplace":  # a continuum of outputs
            raise InputError("MECH", self.mech, "a mechanism with finitely many outputs")
        if self.mech == "any-ldp" or self.mech in vectors.PARAMETERS:
            known = [name for name, form in table().items() if not form["thinned"]]
            raise InputError("mechanism", self.mech, "one of " + ", ".join((*known, "laplace")))

    def _refuse_missing(self) -> None:
        """Refuse a mechanism on file, a parameter of which needs a value."""
        for name, allowed in () if (given := self.values()) is None else given.needed():
            raise _missing(name, allowed)

    def mechanism(self) -> Mechanism:
        """The named mechanism with the parameters of the command line; others stay open."""
        if self.values() is None:
            self._refuse_without_classes()
        from symshuffle.mechanisms import registry

        values, definition = assignments(self.param), registry.mechanism(self.mech)
        if all(parameter.name != "lam" for parameter in definition.parameters):
            self._refuse_budget()
        return definition.at(eps0=self.eps0, lam=self.lam, **values)

    def echoed(self, found: Any, **asked: Any) -> dict[str, Any]:
        """All parameters exactly as they were understood."""
        given = _named(found)
        for name, value in {"eps0": self.eps0, "lam": self.lam, "file": self.file, **asked}.items():
            if value is not None:
                given[name] = str(value) if isinstance(value, Path) else value
                if isinstance(value, str):
                    given[name] = str(parse_rational(value, name))
        return given

    def _any_ldp(self) -> Any:
        from symshuffle.accountants.deployment.any_ldp import any_ldp

        values = assignments(self.param)
        for name in values.keys() - {"delta0"}:
            raise InputError(name, values[name], "no parameter of any-ldp: only the budget is known")
        self._budget()
        return any_ldp(eps0=self.eps0, lam=self.lam, delta0=values.get("delta0"))

    def _laplace(self) -> Any:
        from symshuffle.mechanisms.continuous import LARGEST_CELLS, Laplace

        values = assignments(self.param)
        for name in values.keys() - {"domain", "cells"}:
            raise InputError(name, values[name], "a parameter of laplace: domain, cells")
        budget, domain = self._budget(), values.get("domain", "binary")
        cells = as_integer(values.get("cells", "200"), "cells", 1, LARGEST_CELLS)
        return Laplace(budget, domain, cells)

    def _composed(self) -> Any:
        from symshuffle.decompositions.composition import Composed, Composition, has_budget, open_parameters
        from symshuffle.decompositions.composition.operators import parse
        from symshuffle.mechanisms.continuous import Laplace

        if self.param:
            raise InputError("-p", self.param[0], "parameters inside the expression, as in joint(krr(k=10),4)")
        tree = parse(self.mech)
        if isinstance(tree, Laplace):
            return replace(tree, lam=self._budget())
        if not isinstance(tree, Composition):
            return _complete(tree.at(eps0=self.eps0, lam=self.lam))
        for parameter in open_parameters(tree):
            raise InputError(parameter.name, None, f"{parameter.range}, given inside the expression")
        if has_budget(tree):
            return Composed(tree, self._budget("a total budget, given by --eps0 or --lam"))
        self._refuse_budget(tree.name)
        return Composed(tree, None)

    def _budget(self, expected: str = "a number > 1, given by --eps0 or --lam") -> Real:
        budget = read_budget(eps0=self.eps0, lam=self.lam)
        if budget is None:
            raise InputError("lam", None, expected)
        return budget

    def _refuse_budget(self, name: str | None = None) -> None:
        if self.eps0 is not None or self.lam is not None:
            option = "--eps0" if self.lam is None else "--lam"
            raise InputError(option, self.eps0 or self.lam, f"no budget: {name or self.mech} has none")


def channel(file: Path | None, header: bool | None = None) -> Channel:
    """The matrix in a file."""
    from symshuffle.channels.channel_file import read_channel

    if file is None:
        raise InputError("--file", None, "the CSV or JSON file of the channel")
    return read_channel(file, header=header)


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


def matrix(found: Channel) -> dict[str, Any]:
    """What was read of a matrix, as it is echoed; ``header`` is missing where it was not read from a file."""
    read = {} if found.header is None else {"header": found.header}
    return {"inputs": found.num_inputs, "outputs": found.num_outputs, **read}


def assignments(param: list[str] | None) -> dict[str, str]:
    """The NAME=VALUE pairs of the command line, as text."""
    values: dict[str, str] = {}
    for item in param or ():
        key, equals, value = item.partition("=")
        if not equals or not key or key in values or key in ("lam", "eps0"):
            raise InputError("-p", item, "NAME=VALUE, each name once, as k=10 (lam and eps0 have options of their own)")
        values[key] = value
    return values


def _complete(found: Mechanism) -> Mechanism:
    fixed = found.with_defaults()
    for parameter in fixed.needed:
        raise _missing(parameter.name, parameter.range)
    return fixed


def _missing(name: str, allowed: str) -> InputError:
    return InputError(name, None, f"{allowed}, given by {'--eps0 or --lam' if name == 'lam' else f'-p {name}='}")


def users(text: str) -> int:
    """The number of users, checked."""
    from symshuffle.accountants.deployment.group import check_n

    return check_n(text)


def jobs(text: str | None) -> int:
    """The number of processes; one per core where none is given."""
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


def _named(found: Any) -> dict[str, Any]:
    """What is asked about, by name and parameters; algebra loads last."""
    from symshuffle.accountants.deployment.any_ldp import AnyLdp
    from symshuffle.accountants.deployment.reduced import Reducible
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
            return {"mechanism": "channel", **matrix(found)}
    from symshuffle.decompositions.composition import Composed

    if isinstance(found, Composed):
        return {"mechanism": found.composition.name}
    fixed = {name: str(value) for name, value in found.values if name != "lam"}
    left = {parameter.name: "limit" if parameter.has_limit else "all" for parameter in found.parameters}
    return {"mechanism": found.name, **fixed, **left}
