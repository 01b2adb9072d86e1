"""Trees of mechanisms: how they are put together, and what the leaves have in common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, final

from symshuffle.channel import Channel, direct_sum
from symshuffle.choices import Operator, replace_choice
from symshuffle.decompositions.tables import root
from symshuffle.errors import InputError, Unsupported
from symshuffle.levels import read_budget, takes_eps0
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.finite import constant
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, Parameter
from symshuffle.numbers import Real, as_integer

Part: TypeAlias = "Mechanism | Laplace | Composition"


@final
@dataclass(frozen=True, slots=True)
class Composition:
    """A tree of mechanisms.

    Parameters
    ----------
    operator : {"joint", "parallel"}
        How the parts are combined.
    parts : tuple of Mechanism, Laplace or Composition
        What is combined; every parameter except ``lam`` fixed, and ``lam`` of Laplace open.
    weights : tuple of Fraction
        For ``parallel``: the probabilities of the parts.
    distance : int or None
        For ``joint``: in how many coordinates neighbouring inputs differ; None stands for any number.
    """

    operator: Operator
    parts: tuple[Part, ...]
    weights: tuple[Fraction, ...] = ()
    distance: int | None = None

    def __post_init__(self) -> None:
        replace_choice(Operator, self, "operator")
        if not self.parts:
            raise InputError(self.operator, "no parts", "at least one mechanism")
        for part in self.parts:
            if isinstance(part, Laplace) and part.lam is not None:
                raise InputError("laplace", part.lam, "an open budget, Laplace(): a composition shares out one total")
            if isinstance(part, Mechanism) and part.pair.listed:
                expected = "a mechanism that does not tell its inputs apart: compose channels by tensor or direct_sum"
                raise InputError(self.operator, f"{part.name}, given by its matrix", expected)
        if self.operator == "parallel":
            if len(self.weights) != len(self.parts):
                raise InputError("weights", f"{len(self.weights)} weights", f"one for each of {len(self.parts)} parts")
            if any(weight < 0 for weight in self.weights) or sum(self.weights) != 1:
                written = ", ".join(map(str, self.weights))
                raise InputError("weights", written, f"probabilities of sum 1 (sum {sum(self.weights)})")
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
        where = "in any way" if self.distance is None else f"in exactly {self.distance} coordinates"
        some = [f"{leaf.name} between {leaf.pair}" for leaf in self.leaves() if not leaf.every_pair]
        if some:
            return f"two inputs that differ {where}, but in {', '.join(dict.fromkeys(some))}"
        return (
            "the worst of all ways in which two inputs can differ"
            if self.distance is None
            else f"two inputs that differ {where}"
        )

    @property
    def every_pair(self) -> bool:
        """Whether the bound covers all pairs of inputs."""
        return self.distance is None and all(leaf.every_pair for leaf in self.leaves())

    def leaves(self) -> Iterator[Mechanism | Laplace]:
        """The mechanisms of the tree."""
        for part in self.parts:
            if isinstance(part, Composition):
                yield from part.leaves()
            else:
                yield part

    def at(self, *, eps0: object = None, lam: object = None) -> Composed:
        """The composition with its total budget, as ``eps0`` or as ``lam = exp(eps0)``; neither where it has none.

        Raises
        ------
        InputError
            If it needs a budget and has none, or the reverse, or a parameter of a leaf is open.
        """
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

        Parameters
        ----------
        lam : Real, optional
            Total ratio cap; for a ``joint`` it must have an exact root.
        """
        if self.operator == "joint":
            share = None if lam is None else root(lam, len(self.parts))
            return reduce(Channel.tensor, (_channel(part, share) for part in self.parts))
        channels = [_channel(part, lam) for part in self.parts]
        inputs = max(channel.num_inputs for channel in channels)
        # The constant mechanism serves any number of inputs.
        widened = [c if c.num_outputs > 1 else Channel(c.rows[:1] * inputs) for c in channels]
        return direct_sum(widened, self.weights)


@final
@dataclass(frozen=True, slots=True)
class Composed:
    """A composition with its total budget: what can be asked about. :meth:`Composition.at` makes one.

    Parameters
    ----------
    composition : Composition
        The tree, every parameter of its leaves fixed except ``lam``.
    lam : Real or None
        Total ratio cap; None where no leaf has a budget.
    """

    composition: Composition
    lam: Real | None


def joint(*parts: Part) -> Composition:
    """The joint composition of some mechanisms, one for each coordinate."""
    return Composition(Operator.JOINT, parts)


def parallel(parts: Sequence[Part], weights: Sequence[Fraction]) -> Composition:
    """The parallel composition: part i with probability ``weights[i]``."""
    return Composition(Operator.PARALLEL, tuple(parts), tuple(weights))


def subsample(part: Part, probability: Fraction) -> Composition:
    """Poisson subsampling: take part with a probability in [0, 1], and send a constant otherwise."""
    if not 0 <= probability <= 1:
        raise InputError("probability", probability, "a number in [0, 1]")
    return parallel((part, constant().with_defaults()), (probability, 1 - probability))


def hamming(composition: Part, distance: int) -> Composition:
    """A joint composition whose neighbouring inputs differ in exactly ``distance`` coordinates."""
    if not isinstance(composition, Composition) or composition.operator != "joint":
        raise InputError("hamming", composition.name, "a joint composition")
    return Composition(Operator.JOINT, composition.parts, distance=distance)


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


def leaves(part: Part) -> list[Mechanism | Laplace]:
    """The leaves of a tree, which may be one itself."""
    return list(part.leaves()) if isinstance(part, Composition) else [part]


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
