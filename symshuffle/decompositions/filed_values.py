"""Parameters of named mechanisms as the file of closed forms has them: values are read and refused without SymPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import Real, parse_rational, ungrouped
from symshuffle.base.numbers.readers import KINDS, LARGEST_PARAMETER
from symshuffle.decompositions.calculated import calculated
from symshuffle.mechanisms.names import named_parameters, unknown_parameter


@final
@dataclass(frozen=True, slots=True)
class FiledParameter:
    """One parameter: ends of its range as texts in the parameters before it, and what an integer has to be.

    - ``limit``: whether the parameter left open means its limit at infinity.
    """

    name: str
    lower: str
    upper: str | None
    integer: bool
    limit: bool = False
    kind: str | None = None
    default: str | None = None

    def range(self, known: Mapping[str, Fraction]) -> str:
        """The allowed range in words, in numbers where the parameters that it speaks about are known."""
        kind = self.kind or ("an integer" if self.integer else "a number")
        low, high = (None if end is None else _written(end, known) for end in (self.lower, self.upper))
        return f"{kind} >= {low}" if high is None else f"{kind} in [{low}, {high}]"

    def read(self, value: object, known: Mapping[str, Fraction]) -> Fraction:
        """A value, checked against the range at the values of earlier parameters."""
        real = parse_rational(value, self.name)
        if self.integer and abs(real) > LARGEST_PARAMETER:
            raise InputError(self.name, value, f"{self.range({})}, at most {LARGEST_PARAMETER}")
        if self.integer and not self._admits(real):
            raise InputError(self.name, value, self.range({}))
        try:
            low = calculated(self.lower)(known)
            high = None if self.upper is None else calculated(self.upper)(known)
        except KeyError as missing:
            raise InputError("parameters", f"{missing.args[0]} left open", "a value for each") from None
        for end, limit, outside in (
            (self.lower, low, real < low),
            (self.upper, high, high is not None and real > high),
        ):
            if outside:
                detail = "" if str(limit) == end else f" (here {limit})"
                raise InputError(self.name, value, self.range({}) + detail)
        return real

    def _admits(self, value: Fraction) -> bool:
        return value.denominator == 1 and (self.kind is None or KINDS[self.kind](value.numerator))


CAP: Final = FiledParameter("lam", "1", None, False)
"""The local ratio cap."""


def _written(end: str, known: Mapping[str, Fraction]) -> str:
    try:
        return str(calculated(end)(known))
    except KeyError:
        return end


@final
@dataclass(frozen=True, slots=True)
class FiledValues:
    """Values of some parameters of a named mechanism, as they were given and as numbers."""

    name: str
    form: Mapping[str, Any]
    given: Mapping[str, str]
    numbers: Mapping[str, Fraction]
    lam: Real | None

    @classmethod
    def read(
        cls, name: str, form: Mapping[str, Any], given: Mapping[str, str], *, eps0: object = None, lam: object = None
    ) -> FiledValues:
        """The values that are given, checked as ``Mechanism.at`` does.

        Raises
        ------
        InputError
            If a name is unknown, a value is outside its range, or both ``eps0`` and ``lam`` are given.
        """
        budget = read_budget(eps0=eps0, lam=lam, constant=True)
        own = {parameter.name: parameter for parameter in parameters_of(form)}
        given = named_parameters(given, own)
        for key, value in (*given.items(), *(() if budget is None else (("lam", budget),))):
            if key not in own:
                raise unknown_parameter(key, value, name, own)
        given = {key: ungrouped(value) if own[key].integer else value for key, value in given.items()}
        numbers: dict[str, Fraction] = {}
        for key, parameter in own.items():
            if key in given:
                numbers[key] = parameter.read(given[key], numbers)
        return cls(name, form, given, numbers, budget)

    @property
    def inputs(self) -> dict[str, str]:
        """All values as they were given, the ratio cap last."""
        return {**self.given, **({} if self.lam is None else {"lam": str(self.lam)})}

    @property
    def left(self) -> tuple[FiledParameter, ...]:
        """Parameters without a value."""
        return tuple(one for one in parameters_of(self.form) if one.name not in self.inputs)

    @property
    def title(self) -> str:
        """The mechanism with the names of its open parameters and its values."""
        values = (f"{name}={value}" for name, value in self.inputs.items())
        return f"{self.name}({', '.join((*(one.name for one in self.left), *values))})"

    @property
    def ranges(self) -> str:
        """Ranges of the open parameters, in words."""
        return "; ".join(f"{one.name}: {one.range(self.numbers)}" for one in self.left)

    def needed(self) -> Iterator[tuple[str, str]]:
        """Name and range of each parameter that has no value, and neither a limit nor one value for each pair."""
        for one in parameters_of(self.form):
            if one.name == "lam":
                given = self.lam is not None
            else:
                given = one.name in self.numbers or one.limit or one.default is not None or one.name == self.form["by"]
            if not given:
                yield one.name, one.range(self.numbers)


def parameters_of(form: Mapping[str, Any]) -> tuple[FiledParameter, ...]:
    """The parameters of a mechanism on file, the ratio cap first where it has one."""
    return (*((CAP,) if form["budget"] else ()), *(FiledParameter(**one) for one in form["parameters"]))
