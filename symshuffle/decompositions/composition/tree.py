"""Trees of mechanisms: what the leaves have in common, and the ways in which two inputs of a tree can differ."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Final, TypeAlias, final

import sympy as sp

from symshuffle.base.choices import Operator, replace_choice
from symshuffle.base.errors import InputError, Unsupported, check_list
from symshuffle.base.levels import read_budget, takes_eps0
from symshuffle.base.numbers import (
    Exp,
    Real,
    Rounding,
    as_integer,
    counted,
    format_decimal,
    parse_constant,
    read_law,
    summed,
)
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, Parameter, constant_of

_LONGEST: Final = 12
"""Characters of a budget that is written as a fraction; others are rounded."""

Part: TypeAlias = "Mechanism | Laplace | Composition"


@final
@dataclass(frozen=True, slots=True)
class Composition:
    """A tree of mechanisms.

    - ``parts``: what is combined; every parameter except ``lam`` fixed, and ``lam`` of Laplace open.
    - ``weights``: for ``parallel``: the probabilities of the parts.
    - ``distance``: for ``joint``: in how many coordinates neighbouring inputs differ; None stands for any number.
    - ``rounding``: where rounded weights were read and divided by their sum: how far those that round to them may be.
    """

    operator: Operator
    parts: tuple[Part, ...]
    weights: tuple[Fraction, ...] = ()
    distance: int | None = None
    rounding: Rounding | None = None

    def __post_init__(self) -> None:
        replace_choice(Operator, self, "operator")
        if not self.parts:
            raise InputError(self.operator, "no parts", "at least one mechanism")
        check_list(self.parts, "parts", "mechanisms or compositions", (Mechanism, Laplace, Composition))
        for part in self.parts:
            if isinstance(part, Laplace) and part.lam is not None:
                raise InputError("laplace", part.lam, "an open budget, Laplace(): a composition shares out one total")
            if isinstance(part, Mechanism) and part.pair.listed:
                expected = "a mechanism that does not tell its inputs apart: compose channels by tensor or direct_sum"
                raise InputError(self.operator, f"{part.name}, given by its matrix", expected)
        if self.operator == "parallel":
            read, rounding = read_law(self.weights, "weights")
            for place, weight in enumerate(read):
                if not isinstance(weight, Fraction):
                    raise InputError(f"weights[{place}]", weight, "a rational number")
            object.__setattr__(self, "weights", read)
            if rounding is not None:
                object.__setattr__(self, "rounding", rounding)
            if len(self.weights) != len(self.parts):
                raise InputError("weights", f"{len(self.weights)} weights", f"one for each of {len(self.parts)} parts")
            inputs = [size for size in map(_inputs, self.parts) if size is not None]
            if len(set(inputs)) > 1:
                sizes = ", ".join(str(size) for size in inputs)
                raise InputError("parts", f"{sizes} inputs", "parts of as many inputs: they share one")
        if self.distance is not None:
            object.__setattr__(self, "distance", as_integer(self.distance, "distance", 1, len(self.parts)))

    @property
    def name(self) -> str:
        """The tree as it is written on the command line."""
        inner = [written(part) for part in self.parts]
        if self.operator == "parallel":
            return "parallel(" + ",".join(f"{w}:{p}" for w, p in zip(self.weights, inner, strict=True)) + ")"
        same = len(set(inner)) == 1
        joint = f"joint({inner[0]},{len(inner)})" if same else f"joint({','.join(inner)})"
        return joint if self.distance is None else f"hamming({joint},{self.distance})"

    @property
    def pair(self) -> str:
        """Which pairs of inputs the bound covers."""
        where = "in any way" if self.distance is None else f"in exactly {counted(self.distance, 'coordinate')}"
        some, differ = [words for part in self.parts for words in _restricted(part)], f"two inputs that differ {where}"
        if some:
            return f"{differ}, but in {', '.join(dict.fromkeys(some))}"
        return differ if self.distance is not None else "the worst of all ways in which two inputs can differ"

    @property
    def every_pair(self) -> bool:
        """Whether the bound covers all pairs of inputs."""
        return self.distance is None and all(part.every_pair for part in self.parts)

    def at(self, *, eps0: object = None, lam: object = None) -> Composed:
        """The composition with its total budget, as ``eps0`` or as ``lam = exp(eps0)``; neither where it has none."""
        for parameter in open_parameters(self):
            raise InputError(parameter.name, None, f"{parameter.range}, fixed in its leaf")
        budget = read_budget(eps0=eps0, lam=lam)
        if budget is None and has_budget(self):
            raise InputError("eps0, lam", None, "a total budget for the composition, as composition.at(eps0=...)")
        if budget is not None and not has_budget(self):
            raise InputError("lam" if eps0 is None else "eps0", budget, f"no budget: {self.name} has none")
        return Composed(self, budget)

    @takes_eps0()
    def channel(self, lam: Real | None = None) -> Channel:
        """The explicit channel for small parts: an independent road to everything below.

        - ``lam``: total ratio cap; for a ``joint`` it must have an exact root.
        """
        if self.operator == "joint":
            share = None if lam is None else root(lam, len(self.parts))
            return reduce(Channel.tensor, (_channel(part, share) for part in self.parts))
        channels = [_channel(part, lam) for part in self.parts]
        inputs = max(channel.num_inputs for channel in channels)
        # A constant mechanism, of one output, has as many inputs as the other parts.
        widened = [c if c.num_outputs > 1 else Channel(c.rows[:1] * inputs) for c in channels]
        found = direct_sum(widened, self.weights)
        return Channel(found.rows, summed(found.rounding, self.rounding))


@final
@dataclass(frozen=True, slots=True)
class Composed:
    """Composition with its total budget; ``Composition.at`` makes one.

    Parameters
    ----------
    composition : Composition
        The tree, every parameter of its leaves fixed except ``lam``.
    lam : Real or None
        Total ratio cap ``exp(eps0)``; None where no leaf has a budget.
    """

    composition: Composition
    lam: Real | None

    def __post_init__(self) -> None:
        lam: object = self.lam
        if not isinstance(lam, Fraction | Exp | None):
            object.__setattr__(self, "lam", parse_constant(lam, "lam"))

    @property
    def shares(self) -> str:
        """How the parts share the total budget, in words; empty where each has all of it."""
        orders = dict.fromkeys(_shares(self.composition))
        if self.lam is None or all(order == 1 for _, order in orders):
            return ""
        name = "eps0" if isinstance(self.lam, Exp) else "lam"
        whole, (_, first) = _budget(self.lam), next(iter(orders))
        if all(order == first for _, order in orders):
            more = _budget(Exp(self.lam.exponent * first) if isinstance(self.lam, Exp) else self.lam**first)
            return (
                f"{name} = {whole} for all parts together, {_budget(self.lam, first)} each "
                f"(for {name} = {whole} in each part, ask for {name} = {more})"
            )
        each = ", ".join(f"{_budget(self.lam, order)} in {leaf}" for leaf, order in orders)
        return f"{name} = {whole} for all parts together: {each} (no {name} gives {whole} to every part)"


def _restricted(part: Part) -> Iterator[str]:
    """In which parts two inputs may not differ in every way, and in which they may."""
    if not isinstance(part, Composition):
        if not part.every_pair:
            yield f"{part.name} between {part.pair}"
        return
    if part.distance is not None:
        yield f"{part.name} in exactly {counted(part.distance, 'coordinate')} if at all"
    for inner in part.parts:
        yield from _restricted(inner)


def _budget(lam: Real, order: int = 1) -> str:
    """A share of a budget as it is written: of ``eps0``, where ``lam`` is given as its exponential, else of ``lam``."""
    if isinstance(lam, Exp):
        value = lam.exponent / order
    else:
        try:
            value = Fraction(str(root(lam, order)))
        except Unsupported:
            return f"{_budget(lam)}^(1/{order})"
    text = str(value)
    return text if len(text) <= _LONGEST else f"about {format_decimal(value, digits=6, up=True)}"


def _shares(part: Part, order: int = 1) -> Iterator[tuple[str, int]]:
    """The leaves that have a budget, each with the order of the root of the total ratio cap that it gets."""
    if isinstance(part, Composition):
        for inner in part.parts:
            yield from _shares(inner, order * len(part.parts) if part.operator == "joint" else order)
    elif has_budget(part):
        yield part.name, order


def _inputs(part: Part) -> int | None:
    """Number of inputs of a part; None where it is open, a continuum, or does not matter."""
    if isinstance(part, Laplace):
        return None
    if isinstance(part, Composition):
        sizes = [_inputs(p) for p in part.parts]
        if part.operator == "parallel":
            return next((size for size in sizes if size is not None), None)
        known = [size for size in sizes if size is not None]
        return math.prod(known) if len(known) == len(sizes) else None
    size = part.inputs
    return int(size) if size.is_Integer and not silent(part) else None


def written(part: Part) -> str:
    """A part as it is written on the command line."""
    if isinstance(part, Laplace):
        return f"laplace(lam, domain={part.domain}, cells={part.cells})"
    return part.name if isinstance(part, Composition) else repr(part)


def _channel(part: Part, lam: Real | None) -> Channel:
    """The explicit channel of a part at its share of the budget."""
    if isinstance(part, Composition):
        return part.channel(lam)
    if isinstance(part, Laplace):
        raise Unsupported("laplace has a continuum of outputs: there is no explicit channel")
    needs = any(parameter.name == "lam" for parameter in part.parameters)
    return part.channel(lam=lam) if needs else part.channel()


def silent(mechanism: Mechanism) -> bool:
    """Whether a mechanism sends the same whatever its input: any input of it stands for any other."""
    return all(len(output_class.states) == 1 for output_class in mechanism.classes)


def rounding_of(part: Part) -> Rounding | None:
    """How far the messages of a tree may be from those with weights that round to the ones that were given."""
    if not isinstance(part, Composition):
        return None
    return summed(part.rounding, *map(rounding_of, part.parts))


def leaves(part: Part) -> list[Mechanism | Laplace]:
    """The leaves of a tree, which may be one itself."""
    return [leaf for inner in part.parts for leaf in leaves(inner)] if isinstance(part, Composition) else [part]


def has_budget(part: Part) -> bool:
    """Whether some leaf has a budget."""
    return any(
        isinstance(leaf, Laplace) or any(parameter.symbol == LAM for parameter in leaf.parameters)
        for leaf in leaves(part)
    )


def open_parameters(part: Part) -> list[Parameter]:
    """Parameters of the leaves that have no value yet, other than the common budget."""
    named = [leaf.with_defaults() for leaf in leaves(part) if isinstance(leaf, Mechanism)]
    return [p for leaf in named for p in leaf.needed if p.symbol != LAM]


def root(lam: Real, order: int) -> Real:
    """An exact root of a ratio cap."""
    if isinstance(lam, Exp):
        return Exp(lam.exponent / order)
    root = constant_of(lam) ** sp.Rational(1, order)
    if not root.is_Rational:
        raise Unsupported(f"lam = {lam} has no rational root of order {order}: the explicit channel is not exact")
    return Fraction(int(root.p), int(root.q))


Pattern: TypeAlias = "bool | int | tuple[Any, ...]"
"""Which leaves of a tree see the two inputs differ: a truth value for a leaf, a tuple of patterns for a tree.

For a leaf that does not treat all pairs of inputs alike a number stands for the class of pairs in which they differ.
"""


LARGEST_PATTERNS: Final = 4096
"""Ways to differ beyond which a composition is refused."""


def patterns(part: Part) -> list[Pattern]:
    """All ways in which two different inputs can differ, up to the order of equal parts."""
    if not isinstance(part, Composition):
        if isinstance(part, Laplace) or part.pair.by is None:
            return [True]
        return [int(one.pair.value) for one in part.pair_classes() if one.pair.value is not None]
    if part.operator == "parallel":
        ways = [[*patterns(p)] for p in part.parts]
        _require_few(part, math.prod(map(len, ways)))
        return list(itertools.product(*ways))
    # Which of several equal parts differ does not matter, only how many: one choice for each multiset.
    places: dict[Part, list[int]] = {}
    for place, p in enumerate(part.parts):
        places.setdefault(p, []).append(place)
    choices = [([*patterns(p), _nowhere(p)], len(alike)) for p, alike in places.items()]
    _require_few(part, math.prod(math.comb(len(ways) + m - 1, m) for ways, m in choices))
    found: list[Pattern] = []
    for chosen in itertools.product(*(itertools.combinations_with_replacement(*several) for several in choices)):
        assigned = zip(itertools.chain(*places.values()), itertools.chain(*chosen), strict=True)
        pattern = tuple(way for _, way in sorted(assigned, key=lambda pair: pair[0]))
        differing = sum(map(differs, pattern))
        if differing != 0 and part.distance in (None, differing):
            found.append(pattern)
    return found


def is_real(part: Part, pattern: Pattern) -> bool:
    """Whether two inputs can differ as a pattern says: equal parts of a parallel composition differ alike."""
    if not isinstance(part, Composition) or not isinstance(pattern, tuple):
        return True
    if not all(map(is_real, part.parts, pattern)):
        return False
    several = [(p, way) for p, way in zip(part.parts, pattern, strict=True) if len(patterns(p)) > 1]
    return part.operator == "joint" or len(set(several)) <= 1


def _require_few(part: Composition, count: int) -> None:
    if count > LARGEST_PATTERNS:
        raise Unsupported(
            f"{part.name} has {count} ways to differ (limit {LARGEST_PATTERNS}): compose fewer different parts"
        )


def _nowhere(part: Part) -> Pattern:
    """The pattern of two inputs that are equal."""
    return tuple(_nowhere(p) for p in part.parts) if isinstance(part, Composition) else False


def differs(pattern: Pattern) -> bool:
    """Whether some leaf sees the two inputs differ."""
    return any(differs(p) for p in pattern) if isinstance(pattern, tuple) else bool(pattern)


def named_classes(part: Part, pattern: Pattern) -> Iterator[str]:
    """In words, in which classes of pairs the two inputs of those leaves are that do not treat all pairs alike."""
    if isinstance(part, Composition) and isinstance(pattern, tuple):
        for p, way in zip(part.parts, pattern, strict=True):
            yield from named_classes(p, way)
    elif isinstance(part, Mechanism) and differs(pattern):
        chosen = at_class(part, pattern)
        if chosen.pair.value is not None:
            yield f"{part.name}: {chosen.pair}"


def at_class(leaf: Mechanism, pattern: Pattern) -> Mechanism:
    """A leaf at the class of pairs that a pattern names; equal inputs are a pair of no class."""
    if isinstance(pattern, bool) or leaf.pair.by is None:
        return leaf
    return leaf.at(**{str(leaf.pair.by): pattern})
