"""Randomizers by name: what a command line or a file says of one, read, and said again of one that was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.choices import Domain, choice
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import Exp, as_integer, format_decimal, parse_rational
from symshuffle.mechanisms.names import (
    DIMENSIONS,
    VECTORS,
    mechanism_name,
    named_parameters,
    unknown_mechanism,
    unknown_parameter,
)

if TYPE_CHECKING:
    from symshuffle.accountants.deployment.reduced import Reducible
    from symshuffle.base.numbers import Real
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.closed_forms import ClosedForm
    from symshuffle.mechanisms.model import Mechanism

PARAMETERS: Final[dict[str, dict[str, str]]] = {
    "bmg": {
        "gamma": "probability of noise around 0; a number in (0, 1)",
        "sigma0": "standard deviation of the noise; a number > 0",
        "norm": "largest length of an input; a number in (0, 1] (default 1)",
        "d": "dimension; an integer >= 1 (default 1)",
    },
    "privunit": {
        "p": "probability of the cap; a number in (0, 1), or derived from eps0",
        "theta": "height of the cap; a number in (-1, 1)",
        "d": "dimension; an integer >= 2",
    },
    "sphere-linear": {
        "c": "slope of the density; a number in (0, 1), or derived from eps0",
        "d": "dimension; an integer >= 1 (default 1)",
    },
    "clipped-linear": {
        "clip": "height below which the density is constant; a number in (-1, 1)",
        "chi": "lower index, which determines the slope; a number > 0",
        "d": "dimension; an integer >= 2",
    },
    "gaussian": {
        "sigma0": "standard deviation of the noise; a number > 0",
        "d": "dimension; an integer >= 1 (default 1)",
    },
}
"""Mechanisms of vectors of the unit ball with their parameters."""

_MATRICES: Final = (".csv", ".json", ".txt", ".tsv")
"""Ends of the names of files of matrices."""

DERIVED: Final = {"privunit": "p", "sphere-linear": "c"}
"""Parameters that follow from a local budget."""


@final
@dataclass(frozen=True, slots=True)
class ArgumentNames:
    """What a caller calls the parts of the description of a randomizer, for messages.

    - ``parameter``: a parameter in general; ``assigned``: one by name, where the name stands for ``{}``.
    """

    name: str = "randomizer"
    eps0: str = "eps0"
    lam: str = "lam"
    file: str = "file"
    header: str = "header"
    parameter: str = "parameters"
    assigned: str = "parameters.{}"

    def of(self, name: str) -> str:
        """How a parameter is given."""
        return self.assigned.format(name)


IN_PYTHON: Final = ArgumentNames()


@final
@dataclass(frozen=True, slots=True)
class NamedRandomizer:
    """A randomizer by its name, with every parameter that is needed, as text.

    - ``name``: a mechanism, an expression such as ``joint(krr(k=3),2)``, or ``channel`` for a matrix in a file.
    - ``eps0``, ``lam``: the local budget; at most one.
    - ``file``, ``header``: of a matrix, as :func:`symshuffle.channels.read_channel` reads it.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    eps0: str | None = None
    lam: str | None = None
    file: Path | None = None
    header: bool | None = None
    words: ArgumentNames = IN_PYTHON

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", mechanism_name(self.name))

    def __call__(self, eps0: object, null: object = None) -> Any:
        """As :meth:`quickest` at a local budget in nats, for what is described without the budget that is asked for."""
        return replace(self, eps0=str(eps0)).quickest(null)

    def quickest(self, null: object = None) -> Any:
        """As :meth:`source`, a mechanism by its closed form on file where that will do: it loads no SymPy.

        - ``null``: the distribution of a null symbol, beside which a matrix is needed.
        """
        known = self.on_file() if null is None else None
        return self.source() if known is None else known

    def on_file(self) -> ClosedForm | None:
        """The named mechanism by its closed form on file; None where that is in doubt, or a matrix is asked about."""
        from symshuffle.decompositions.closed_forms import closed_form

        if self.file is not None or self.header is not None:
            return None
        return closed_form(self.name, self.parameters, eps0=self.eps0, lam=self.lam, surveys=True)

    def source(self) -> Any:
        """What every user runs."""
        name = self.name
        if name == "channel":
            first = next(iter(self.parameters), None)
            words = self.words
            for option, value in ((words.eps0, self.eps0), (words.lam, self.lam), (words.parameter, first)):
                if value is not None:
                    raise InputError(option, value, "none for a matrix, which is a channel with all numbers given")
            return channel_of_file(self.file, self.header, self.words)
        if self.file is not None:
            raise InputError(self.words.file, self.file, f"none with {name}; only the mechanism `channel` takes a file")
        if self.header is not None:
            raise InputError(self.words.header, self.header, f"none, unless a matrix file is given in place of {name}")
        if name == "any-ldp":
            return self._any_ldp()
        if name in PARAMETERS:
            return self._vector()
        if name == "laplace":
            return self._laplace()
        self._refuse_missing()
        from symshuffle.decompositions.closed_forms import table
        from symshuffle.decompositions.composition.operators import is_composition  # it loads SymPy

        if name not in table() and not is_composition(name):
            raise unknown_mechanism(name, [*table(), "laplace", "any-ldp", "channel", *PARAMETERS])
        return self._composed() if is_composition(name) else self._complete(self.mechanism())

    def values(self) -> ClosedForm | None:
        """The values given to a mechanism on file, checked without algebra; None for any other."""
        from symshuffle.decompositions.closed_forms import ClosedForm, table

        form = table().get(self.name)
        if form is None or form["thinned"]:
            return None
        if not form["budget"]:
            self._refuse_budget()
        return ClosedForm.read(self.name, self.parameters, eps0=self.eps0, lam=self.lam)

    def _refuse_without_classes(self) -> None:
        """Refuse what has a name and no classes of outputs."""
        from symshuffle.decompositions.closed_forms import table

        if self.name == "laplace":  # a continuum of outputs
            raise InputError(self.words.name, self.name, "a mechanism with finitely many outputs")
        if self.name == "any-ldp" or self.name in PARAMETERS:
            known = [name for name, form in table().items() if not form["thinned"]]
            raise InputError("mechanism", self.name, "one of " + ", ".join((*known, "laplace")))

    def _refuse_missing(self) -> None:
        """Refuse a mechanism on file, a parameter of which needs a value."""
        for name, allowed in () if (given := self.values()) is None else given.needed():
            raise self._missing(name, allowed)

    def mechanism(self) -> Mechanism:
        """The named mechanism with the parameters of the command line; others stay open."""
        if self.values() is None:
            self._refuse_without_classes()
        from symshuffle.mechanisms import registry

        values, definition = self.parameters, registry.mechanism(self.name)
        if all(parameter.name != "lam" for parameter in definition.parameters):
            self._refuse_budget()
        return definition.at(eps0=self.eps0, lam=self.lam, **values)

    def _any_ldp(self) -> Any:
        from symshuffle.accountants.deployment.any_ldp import any_ldp

        values = self.parameters
        for name in values.keys() - {"delta0"}:
            raise InputError(name, values[name], "no parameter of any-ldp: only the budget is known")
        self._budget()
        return any_ldp(eps0=self.eps0, lam=self.lam, delta0=values.get("delta0"))

    def _laplace(self) -> Any:
        from symshuffle.mechanisms.continuous import LARGEST_CELLS, Laplace

        values = self.parameters
        for name in values.keys() - {"domain", "cells"}:
            raise InputError(name, values[name], "a parameter of laplace: domain, cells")
        budget, domain = self._budget(), choice(Domain, values.get("domain", "binary"), "domain")
        cells = as_integer(values.get("cells", "200"), "cells", 1, LARGEST_CELLS)
        return Laplace(budget, domain, cells)

    def _composed(self) -> Any:
        from symshuffle.decompositions.composition import Composed, Composition, has_budget, open_parameters
        from symshuffle.decompositions.composition.operators import parse
        from symshuffle.mechanisms.continuous import Laplace

        for name, value in self.parameters.items():
            inside = "parameters inside the expression, as in joint(krr(k=10),4)"
            raise InputError(self.words.parameter, f"{name}={value}", inside)
        tree = parse(self.name)
        if isinstance(tree, Laplace):
            return replace(tree, lam=self._budget())
        if not isinstance(tree, Composition):
            return self._complete(tree.at(eps0=self.eps0, lam=self.lam))
        for parameter in open_parameters(tree):
            raise InputError(parameter.name, None, f"{parameter.range}, given inside the expression")
        if has_budget(tree):
            return Composed(tree, self._budget("a total budget"))
        self._refuse_budget(tree.name)
        return Composed(tree, None)

    def _budget(self, expected: str = "a number > 1") -> Real:
        budget = read_budget(eps0=self.eps0, lam=self.lam)
        if budget is None:
            raise InputError("lam", None, f"{expected}, given by {self.words.eps0} or {self.words.lam}")
        return budget

    def _refuse_budget(self, name: str | None = None) -> None:
        if self.eps0 is not None or self.lam is not None:
            option = self.words.eps0 if self.lam is None else self.words.lam
            raise InputError(option, self.eps0 or self.lam, f"no budget: {name or self.name} has none")

    def _vector(self) -> Reducible:
        """A randomizer of vectors."""
        from symshuffle.vectors.randomizers import mechanisms, sphere

        known, derived = PARAMETERS[self.name], DERIVED.get(self.name)
        values = named_parameters(self.parameters, known, DIMENSIONS)
        for key in values.keys() - known.keys():
            raise unknown_parameter(key, values[key], self.name, known)
        if derived is None:
            self._refuse_budget()
        budget = read_budget(eps0=self.eps0, lam=self.lam)
        if budget is not None and derived in values:
            given = f"no value where {self.words.eps0} or {self.words.lam} is given: it follows"
            raise InputError(str(derived), values[str(derived)], given)
        for key, meaning in known.items():
            if key not in values and "(default" not in meaning and (budget is None or key != derived):
                raise self._missing(key, meaning.split("; ")[1])
        fields: dict[str, Any] = {key: parse_rational(value, key) for key, value in values.items() if key != "d"}
        fields["dimension"] = as_integer(values.get("d", "1"), "d", 1, mechanisms.LARGEST_DIMENSION)
        if budget is not None:
            made = sphere.privunit_at if self.name == "privunit" else sphere.sphere_linear_at
            return made(budget, **fields)
        found: Reducible = getattr(mechanisms, VECTORS[self.name])(**fields)
        return found

    def _complete(self, found: Mechanism) -> Mechanism:
        fixed = found.with_defaults()
        for parameter in fixed.needed:
            raise self._missing(parameter.name, parameter.range)
        return fixed

    def _missing(self, name: str, allowed: str) -> InputError:
        budget = f"{self.words.eps0} or {self.words.lam}"
        return InputError(name, None, f"{allowed}, given by {budget if name == 'lam' else self.words.of(name)}")


def matrix_path(name: str) -> Path | None:
    """Return the path of a matrix where a file stands in the place of a mechanism; None for a name or an expression."""
    return Path(name) if Path(name).suffix.lower() in _MATRICES else None


def channel_of_file(file: Path | None, header: bool | None = None, words: ArgumentNames = IN_PYTHON) -> Channel:
    """Return the matrix in a file, which has to be named."""
    from symshuffle.channels.channel_file import read_channel

    if file is None:
        raise InputError(words.file, None, "the CSV or JSON file of the channel")
    return read_channel(file, header=header)


def description(found: Any) -> dict[str, Any]:
    """Return name and parameters of a randomizer, as they were understood; algebra loads last.

    A budget is not among them.
    """
    from symshuffle.decompositions.closed_forms import ClosedForm

    if isinstance(found, ClosedForm):
        still_open = dict.fromkeys(found.limits, "limit") | ({found.told: "all"} if found.told else {})
        return {"mechanism": found.name, **dict(found.values), **still_open}
    from symshuffle.accountants.deployment.any_ldp import AnyLdp
    from symshuffle.accountants.deployment.reduced import Reducible
    from symshuffle.channels.channel import Channel
    from symshuffle.mechanisms.continuous import Laplace

    match found:
        case Laplace():
            return {"mechanism": found.name, "domain": found.domain, "cells": found.cells}
        case AnyLdp():
            return {"mechanism": found.name}
        case Reducible():
            return _described_vector(found)
        case Channel():
            return {"mechanism": "channel", **matrix_sizes(found)}
    from symshuffle.decompositions.composition import Composed

    if isinstance(found, Composed):
        return {"mechanism": found.composition.name}
    fixed = {name: str(value) for name, value in found.values if name != "lam"}
    left = {parameter.name: "limit" if parameter.has_limit else "all" for parameter in found.parameters}
    return {"mechanism": found.name, **fixed, **left}


def matrix_sizes(found: Channel) -> dict[str, Any]:
    """Return what was read of a matrix; ``header`` is missing where it was not read from a file."""
    from symshuffle.channels.channel import check_channel

    check_channel(found, "found")
    read = {} if found.header is None else {"header": found.header}
    return {"inputs": found.num_inputs, "outputs": found.num_outputs, **read}


def _described_vector(found: Any) -> dict[str, Any]:
    """The parameters, and the local budget where there is one."""
    from symshuffle.vectors.randomizers.sphere import epsilon0

    name = next(name for name, kind in VECTORS.items() if kind == type(found).__name__)
    given: dict[str, Any] = {"mechanism": name}
    for key in type(found).__dataclass_fields__:
        value = getattr(found, key)
        given["d" if key == "dimension" else key] = value if isinstance(value, int) else str(value)
    if name in DERIVED:
        given["eps0"] = format_decimal(epsilon0(found).upper, digits=12, up=True)
    return given


def budget_of(found: Any) -> Real | None:
    """Return the local budget that a randomizer was made with, as the ratio exp(eps0); None where it has none."""
    values = getattr(found, "values", ())
    named: dict[str, Any] = dict(values) if isinstance(values, tuple) else {}
    level = named.get("lam", getattr(found, "lam", None))
    return level if isinstance(level, Exp | Fraction) else None
