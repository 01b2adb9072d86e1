"""The decompositions of the named mechanisms as derived data: numbers of them need no algebra.

``closed_forms.json`` holds what :mod:`symshuffle.decompositions.symbolic` derives, written out; ``make pages`` writes
it and a test derives it again. Who asks for one number, as a command line does, then loads no SymPy. Where a number
does not settle what algebra would (a ball around zero), or a value is outside its range, the caller goes back to the
mechanism itself.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.choices import Direction, Others
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import Real, parse_constant, parse_rational, ungrouped, usual_bits
from symshuffle.channels.channel import LARGEST_CHANNEL
from symshuffle.channels.law import Law
from symshuffle.decompositions.calculated import LARGEST_COMPARED, number_at
from symshuffle.decompositions.cells import (
    counted_channel,
    counted_law,
    knows_three,
    outputs_of,
    quotient_rows,
    rises_with,
)
from symshuffle.decompositions.parameters import CAP, SHARE_OF_MESSAGES, FiledParameter
from symshuffle.mechanisms.members import TOLD
from symshuffle.mechanisms.names import NAMED_WHEN_THINNED, THINNED, mechanism_name, named_parameters, unknown_parameter

if TYPE_CHECKING:
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.quotient_texts import OpenQuotient
    from symshuffle.mechanisms.model import Mechanism

FILE: Final = "closed_forms.json"

LARGEST_LISTED: Final = 2000
"""Inputs beyond which outputs are not counted here."""

_FINER: Final = (1, 16, 256)
"""How many times the digits of the first attempt the next ones have: with large parameters values are all but 0."""


@final
@dataclass(frozen=True)
class ClosedForm:
    """A named mechanism with values of its parameters, some or all, as they were given."""

    name: str
    values: tuple[tuple[str, str], ...]
    lam: Real | None

    @classmethod
    def read(cls, name: str, given: Mapping[str, str], *, eps0: object = None, lam: object = None) -> ClosedForm:
        """The values that are given, checked as ``Mechanism.at`` does.

        Raises
        ------
        InputError
            If a name is unknown, a value is outside its range, or both ``eps0`` and ``lam`` are given.
        """
        budget = read_budget(eps0=eps0, lam=lam, constant=True)
        own, numbers = parameters_of(name), dict[str, Fraction]()
        values = named_parameters(given, own)
        for key, value in (*values.items(), *(() if budget is None else (("lam", budget),))):
            if key not in own:
                raise unknown_parameter(key, value, name, own)
        for key, parameter in own.items():
            if key in values:
                values[key] = ungrouped(values[key]) if parameter.integer else values[key]
                numbers[key] = parameter.read(values[key], numbers)
        return cls(name, tuple(values.items()), budget)

    @cached_property
    def form(self) -> Mapping[str, Any]:
        """What is on file of the mechanism; one that is thinned has the share of its own messages as last parameter."""
        return _form(self.name)

    @property
    def parameters(self) -> tuple[FiledParameter, ...]:
        """All parameters, the ratio cap first where there is one."""
        return tuple(parameters_of(self.name).values())

    @property
    def has_budget(self) -> bool:
        """Whether there is a ratio cap."""
        return bool(self.form["budget"])

    @cached_property
    def numbers(self) -> Mapping[str, Fraction]:
        """The values but for the ratio cap, as numbers."""
        found = {}
        for name, value in self.values:
            found[name] = parse_rational(value, name)
        return found

    @property
    def arguments(self) -> dict[str, str]:
        """All values as they were given, the ratio cap last."""
        return {**dict(self.values), **({} if self.lam is None else {"lam": str(self.lam)})}

    @property
    def left(self) -> tuple[FiledParameter, ...]:
        """Parameters without a value."""
        return tuple(one for one in self.parameters if one.name not in self.arguments)

    @property
    def title(self) -> str:
        """The mechanism with the names of its open parameters and its values."""
        values = (f"{name}={value}" for name, value in self.arguments.items())
        return f"{self.name}({', '.join((*(one.name for one in self.left), *values))})"

    @property
    def ranges(self) -> str:
        """Ranges of the open parameters, in words."""
        return "; ".join(f"{one.name}: {one.range(self.numbers)}" for one in self.left)

    def needed(self) -> Iterator[tuple[str, str]]:
        """Name and range of each parameter that has no value, and neither a limit nor one value for each pair."""
        given, by = dict(self.values), self.form["by"]
        for one in parameters_of(self.name).values():
            optional = one.limit or one.default is not None or one.name == by
            if self.lam is None if one.name == "lam" else one.name not in given and not optional:
                yield one.name, one.range(self.numbers)

    @cached_property
    def limits(self) -> tuple[str, ...]:
        """Parameters at their limit: those that were given no value and have one."""
        given, found = dict(self.values), []
        for one in self.form["parameters"]:
            if one["limit"] and one["name"] not in given:
                found.append(one["name"])
        return tuple(found)

    @property
    def told(self) -> str:
        """The open parameter that tells pairs of inputs apart; empty where all are alike, or one class is meant."""
        by: str | None = self.form["by"]
        return "" if by is None or by in dict(self.values) else by

    @property
    def pairs(self) -> str:
        """The pairs of inputs covered, in words."""
        by, words = self.form["by"], str(self.form["pairs"])
        return words if by is None else words.format(dict(self.values).get(by, by))

    @property
    def alike(self) -> bool:
        """Whether all pairs of inputs have the same laws, in both orders, and outputs can be listed."""
        return self.form["by"] is None and not self.limits

    @property
    def every(self) -> bool:
        """Whether these are all pairs of inputs."""
        return self.form["by"] is None or bool(self.told) or len(self._range()) == 1

    def input_pairs(self) -> tuple[tuple[int, int], ...]:
        """Ordered pairs of inputs covered."""
        values = {name: int(value) for name, value in self.numbers.items()}
        every = itertools.permutations(range(self.shape[0]), 2)
        if self.every:
            return tuple(every)
        if self.form["told"] is None:
            return self.mechanism().input_pairs()
        told, asked = TOLD[self.form["told"]], values[self.form["by"]]
        return tuple((x, y) for x, y in every if told(values, x, y) == asked)

    @property
    def kinds(self) -> tuple[ClosedForm, ...]:
        """The classes of pairs that these fall into."""
        told = self.told
        return tuple(replace(self, values=(*self.values, (told, str(d)))) for d in self._range()) if told else (self,)

    def _range(self) -> range:
        """The values that tell the classes of pairs apart, the largest first."""
        (by,) = (p for p in self.form["parameters"] if p["name"] == self.form["by"])
        low, high = (int(number_at(by[end], self._values())) for end in ("lower", "upper"))
        return range(high, low - 1, -1)

    @property
    def backgrounds(self) -> tuple[Others, ...]:
        """The constant backgrounds with a closed form, the one expected to be worst first."""
        if self.limits or self._inputs <= 2:
            return "second", "first"
        return ("third", "second", "first") if knows_three(self.kinds[0]) else ("second", "first")

    def datasets(self, others: Others, n: int) -> str:
        """The two datasets of a constant background, in words."""
        return constant_datasets(others, n, "" if self.form["by"] is None else self.pairs)

    def law(
        self,
        exp_eps: Real,
        *,
        others: Others = "blanket",
        direction: Direction = "forward",
        bits: int | None = None,
        null: bool | None = None,
    ) -> Law:
        """Law of G at a target ratio: exact where rational, otherwise balls of ``bits`` bits.

        It is found by numbers; where they do not settle it, with more digits.

        - ``null``: None for two inputs, otherwise whether the second of them is compared with a null symbol.
        """
        exp_eps, precision = parse_constant(exp_eps, "exp_eps"), bits
        for finer in _FINER:
            if finer > 1:
                precision = finer * (bits or usual_bits(exp_eps, *self._values().values()))
            try:
                return counted_law(self, exp_eps, direction, others, null, bits=precision)
            except NotDecided as told:
                reason = told
        if any(value > LARGEST_COMPARED for value in self.numbers.values()):
            near = f"a likelihood ratio of {self.name} is exp(eps) there, or too close to it to tell"
            raise Unsupported(f"eps: expected a level slightly above or below the given one: {near}")
        raise reason

    def law_against_null(
        self, exp_eps: Real, *, second: bool, direction: Direction = "forward", bits: int | None = None
    ) -> Law:
        """Law of G of one input of a pair against a null symbol that has the law of the blanket; no limit has one."""
        if self.name == "identity":
            raise Unsupported(f"adjacency zero-out: the blanket of {self.name} has no mass to make a null symbol of")
        return self.law(exp_eps, direction=direction, bits=bits, null=second)

    def spreads(self, exp_eps: Real, direction: Direction, bits: int | None) -> bool:
        """Whether the law of G certainly rises in convex order with the parameter that tells pairs apart."""
        return bool(self.told) and rises_with(self.told, self, exp_eps, direction, bits)

    def rows(self) -> list[tuple[OpenQuotient, ...]]:
        """Explicit channel as functions of the ratio cap.

        Raises
        ------
        InputError
            If a parameter is at its limit.
        """
        if self.limits:
            given = f"{self.form['inputs']} inputs, {self.form['row']['outputs']} outputs"
            raise InputError("parameters", given, "values that fix the shape")
        return quotient_rows(self._at_pair)

    @property
    def _at_pair(self) -> ClosedForm:
        """The same at some pair of inputs, where it is left open: the channel does not depend on it."""
        return replace(self, values=(*self.values, (self.told, "1"))) if self.told else self

    @property
    def _inputs(self) -> int:
        """Number of inputs; 0 in the limit."""
        return 0 if self.limits else int(number_at(self.form["inputs"], self.numbers))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of inputs and outputs."""
        if 0 < self._inputs <= LARGEST_LISTED:
            return self._inputs, outputs_of(self._at_pair)
        found = self.mechanism()
        return int(found.inputs), int(found.num_outputs)

    def channel(self, *, bits: int | None = None) -> Channel:
        """Explicit channel: exact where all probabilities are rational, and in balls of ``bits`` bits otherwise."""
        if not 0 < self._inputs <= LARGEST_LISTED or math.prod(self.shape) > LARGEST_CHANNEL:
            return self.mechanism().channel(bits=bits)  # which says why there is none
        return counted_channel(self._at_pair, bits)

    def mechanism(self) -> Mechanism:
        """The mechanism itself, for whatever needs algebra."""
        from symshuffle.mechanisms.affine import affine_hashing
        from symshuffle.mechanisms.registry import mechanism, thinned

        values: dict[str, object] = dict(self.values)
        base = self.name.removeprefix(THINNED)
        if base not in table():
            return affine_hashing().at(lam=self.lam, **values)
        return (mechanism(base) if base == self.name else thinned(base)).at(lam=self.lam, **values)

    def _values(self) -> dict[str, Real]:
        values: dict[str, Real] = {**self.numbers}
        return values if self.lam is None else values | {"lam": self.lam}


def closed_form(
    name: str, values: Mapping[str, str], *, eps0: object = None, lam: object = None, surveys: bool = False
) -> ClosedForm | None:
    """The named mechanism at some values, as numbers in the order of its parameters; None wherever that is in doubt.

    None is no refusal: :func:`symshuffle.mechanisms.mechanism` knows more, and says what is wrong.

    - ``surveys``: whether the hashing that surveys run is a name, too.
    """
    name = mechanism_name(name)
    form = (_file() if surveys else table()).get(name)
    if form is None or form["thinned"]:
        return None
    own = parameters_of(name)
    try:
        given = named_parameters(values, own)
        for key, parameter in own.items():
            if parameter.default is not None:
                given.setdefault(key, parameter.default)
        found = ClosedForm.read(name, given, eps0=eps0, lam=lam)
    except InputError:
        return None
    if any(found.needed()):
        return None
    ordered = []
    for key in own:
        if key in found.numbers:
            ordered.append((key, str(found.numbers[key])))
    return ClosedForm(name, tuple(ordered), found.lam)


@cache
def parameters_of(name: str) -> Mapping[str, FiledParameter]:
    """The parameters of a mechanism by name, the ratio cap first where there is one."""
    form = _form(name)
    found = {"lam": CAP} if form["budget"] else {}
    for one in form["parameters"]:
        found[one["name"]] = FiledParameter(**one)
    return found


def on_file(source: Any) -> Any:
    """Return a named mechanism at numbers by its closed form on file, as a file that names it is read.

    Any other source, and a mechanism of one's own that has the name of another, is returned as it is.
    """
    return _of_named(source) if type(source).__name__ == "Mechanism" else source


@lru_cache(maxsize=128)
def _of_named(source: Mechanism) -> ClosedForm | Mechanism:
    values: dict[str, Any] = dict(source.values)
    level = values.pop("lam", None)
    try:
        found = closed_form(source.name, {name: str(value) for name, value in values.items()}, lam=level, surveys=True)
    except InputError:  # a name that no mechanism can have
        return source
    if found is None:
        return source
    named, own = found.mechanism(), source.with_defaults()
    alike = (
        (named.general or named) == (own.general or own)
        and named.pair == own.pair
        and dict(named.fixed) == dict(own.fixed)
    )
    return found if alike else source


def constant_datasets(others: Others, n: int, who: str = "") -> str:
    """The two datasets of a constant background, in words.

    - ``who``: which pair of inputs is meant, where the mechanism does not treat all alike.
    """
    if others == "blanket":
        raise InputError("others", others, "an input that the others hold: first, second or third")
    place = ("first", "second", "third").index(others)
    named = f"; 0 and 1 are {who}" if who else ""
    inputs = "0, 1, 2" if place == 2 else "0, 1"
    return f"X0 = (0, {place} x {n - 1}), X1 = (1, {place} x {n - 1}), inputs named {inputs}{named}"


@cache
def table() -> dict[str, Any]:
    """What is on file of mechanisms with a name, by that name."""
    named = {name: form for name, form in _file().items() if "row" in form}
    alike = [name for name, form in named.items() if form["budget"] and form["by"] is None]
    thin = [name for name in alike if name not in NAMED_WHEN_THINNED and "p" not in _names(named[name])]
    return named | {THINNED + name: _form(THINNED + name) for name in thin}


def _names(form: Mapping[str, Any]) -> list[str]:
    return [one["name"] for one in form["parameters"]]


@cache
def _form(name: str) -> dict[str, Any]:
    """What is on file; of a thinned mechanism, what is on file of it without the null symbol."""
    base = name.removeprefix(THINNED)
    found: dict[str, Any] = _file()[base]
    if base == name:
        return found
    described = {key: found[key] for key in ("pairs", "by", "told", "defaults", "inputs", "budget")}
    return {"thinned": True, **described, "parameters": [*found["parameters"], asdict(SHARE_OF_MESSAGES)]}


@cache
def _file() -> dict[str, Any]:
    """The same, and the hashing that surveys run."""
    text = resources.files("symshuffle.decompositions").joinpath(FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def moments_on_file(name: str) -> Mapping[str, Any] | None:
    """What a comparison asks of a named mechanism, as texts; None where it is not kept.

    ``chi square`` is the largest pairwise divergence, ``variance`` the second moment of the blanket, ``sums`` those of
    votes over all classes of one template, ``strings`` the probabilities (hit, miss, other) of each class of strings.
    The last two are kept where all pairs of inputs are alike.
    """
    kept: Mapping[str, Any] | None = table().get(name, {}).get("moments")
    return kept
