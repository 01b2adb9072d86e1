"""From what users run to the laws of G that the engines see."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

from symshuffle.channel import Channel
from symshuffle.decompositions.blanket import simplified_decomposition
from symshuffle.decompositions.model import Decomposition, Direction
from symshuffle.errors import InputError
from symshuffle.law import Law
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mixed_law import MixedLaw, Side
from symshuffle.numbers import DEFAULT_BITS, Real, enclose, is_enclosed, lower_end, maximum, minimum, to_float

if TYPE_CHECKING:
    from symshuffle.decompositions.composition import Composition, Others, Pattern


@final
@dataclass(frozen=True, slots=True)
class Composed:
    """A composition with its total budget.

    Parameters
    ----------
    composition : Composition
        The tree, every parameter of its leaves fixed except ``lam``.
    lam : Real or None
        Total ratio cap; None where no leaf has a budget.
    """

    composition: Composition
    lam: Real | None


_MOST_INPUTS: Final = 8
"""Inputs of an explicit channel up to which all of its constant backgrounds are tried."""

LawFamily: TypeAlias = Callable[[Real, Direction, int | None], Law]
"""From target ratio, direction and bits to a law of G."""

MixedFamily: TypeAlias = Callable[[Real, Direction, int | None], MixedLaw]
"""The same where the law has a continuous part."""

Background: TypeAlias = tuple[Callable[[int], str], LawFamily]
"""Datasets in words, for n users, and the law of their exact divergence."""

Source: TypeAlias = "Mechanism | Laplace | Composed | Decomposition | Channel | Reduction"
"""What can be asked about."""

Question: TypeAlias = Literal["forward", "reverse", "both"]
"""``forward`` is D(M(X0) || M(X1)), ``reverse`` the other, ``both`` the larger of the two."""


@final
@dataclass(frozen=True, slots=True)
class Reduction:
    """Everything about a source that the engines need, derived once.

    Parameters
    ----------
    bounds : tuple of LawFamily
        Laws whose largest value bounds the shuffled divergence.
    backgrounds : tuple of (callable, LawFamily)
        Real neighbouring datasets, described by a function of n, with the laws of their exact divergence.
    pair : str
        Which pair of inputs the bound compares.
    inner : tuple of LawFamily
        Where the bound itself is approached from two sides, laws on the other side of it; else empty.
    mixed, mixed_backgrounds : tuple of MixedFamily
        Where ``bounds`` and ``backgrounds`` approach laws with a continuous part: those laws, in the same order, for
        the engines that take them; else empty.
    """

    bounds: tuple[LawFamily, ...]
    backgrounds: tuple[Background, ...]
    pair: str
    inner: tuple[LawFamily, ...] = ()
    mixed: tuple[MixedFamily, ...] = ()
    mixed_backgrounds: tuple[MixedFamily, ...] = ()

    def constant_backgrounds(self) -> Iterator[tuple[Background, tuple[MixedFamily, ...]]]:
        """Each background with its law that has a continuous part, if there is one."""
        mixed = iter(self.mixed_backgrounds)
        for background in self.backgrounds:
            yield background, tuple(itertools.islice(mixed, 1))


def reduction(source: Source) -> Reduction:
    """Derive the laws of a source: a mechanism with all parameters fixed, a decomposition, or a channel.

    For a channel every pair of inputs is compared, and every constant background is tried.
    """
    match source:
        case Reduction():
            return source
        case Mechanism():
            return _of_mechanism(source)
        case Laplace():
            return _of_laplace(source)
        case Composed():
            return _of_composition(source)
        case Decomposition():
            return Reduction((_numeric(source),), (), "the pair that was decomposed")
        case Channel():
            return _of_channel(source)
    raise InputError("source", source, "a Mechanism, a Composed, a Decomposition, a Channel or a Reduction")


def laws(family: LawFamily, exp_eps: Real, question: Question, bits: int | None) -> list[Law]:
    """The laws of a family in the directions asked for; one, where both directions agree."""
    return list(dict.fromkeys(_sorted(family(exp_eps, direction, bits)) for direction in _directions(question)))


def mixed_laws(family: MixedFamily, exp_eps: Real, question: Question, bits: int | None) -> list[MixedLaw]:
    """The same for laws with a continuous part."""
    return list(dict.fromkeys(family(exp_eps, direction, bits) for direction in _directions(question)))


def _directions(question: Question) -> tuple[Direction, ...]:
    return ("forward", "reverse") if question == "both" else (question,)


def _sorted(law: Law) -> Law:
    """Atoms in rising order, so that equal laws compare equal whichever way they were found."""
    atoms = sorted(law.atoms(), key=lambda atom: (lower_end(atom[0]), lower_end(atom[1])))
    return Law(tuple(value for value, _ in atoms), tuple(weight for _, weight in atoms), law.singular)


def _of_mechanism(mechanism: Mechanism) -> Reduction:
    from symshuffle.decompositions.backgrounds import constant_backgrounds
    from symshuffle.decompositions.symbolic import SymbolicDecomposition, optimal_decomposition

    mechanism = mechanism.with_defaults()
    missing = [parameter.name for parameter in mechanism.parameters if not parameter.has_limit]
    if missing:
        raise InputError(
            "parameters", f"{', '.join(missing)} left open", f"a value for each, as {mechanism.name}.at(...)"
        )

    def family(decomposition: SymbolicDecomposition) -> LawFamily:
        return lambda exp_eps, direction, bits: decomposition.law(exp_eps, direction=direction, bits=bits)

    return Reduction(
        (family(optimal_decomposition(mechanism)),),
        tuple((background.datasets, family(background.cells)) for background in constant_backgrounds(mechanism)),
        mechanism.pair,
    )


def _of_laplace(source: Laplace) -> Reduction:
    def family(side: Side) -> LawFamily:
        return lambda exp_eps, direction, bits: source.law(exp_eps, side=side, direction=direction, bits=bits)

    def background(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
        return source.background(exp_eps, direction=direction, bits=bits)

    def datasets(n: int) -> str:
        return f"X0 = (0, 1 x {n - 1}), X1 = (1, 1 x {n - 1})"

    def mixed(exp_eps: Real, direction: Direction, bits: int | None) -> MixedLaw:
        return source.mixed_law(exp_eps, direction=direction, bits=bits)

    def mixed_background(exp_eps: Real, direction: Direction, bits: int | None) -> MixedLaw:
        return source.mixed_background(exp_eps, direction=direction, bits=bits)

    return Reduction(
        (family("upper"),), ((datasets, background),), source.pair, (family("lower"),), (mixed,), (mixed_background,)
    )


def _of_composition(source: Composed) -> Reduction:
    from symshuffle.decompositions.composition import (
        common_backgrounds,
        composed_law,
        is_mixture,
        mixed_law,
        patterns,
    )

    tree = source.composition

    def family(pattern: Pattern, others: Others, side: Side) -> LawFamily:
        return lambda exp_eps, direction, bits: composed_law(
            tree, pattern, exp_eps, lam=source.lam, others=others, side=side, direction=direction, bits=bits
        )

    def mixed(pattern: Pattern, others: Others) -> MixedFamily:
        return lambda exp_eps, direction, bits: mixed_law(
            tree, pattern, exp_eps, lam=source.lam, others=others, direction=direction, bits=bits
        )

    ways = patterns(tree)
    pairs = [(pattern, others) for pattern in ways for others in common_backgrounds(tree)]
    continuous = any(isinstance(leaf, Laplace) for leaf in tree.leaves())
    whole = continuous and is_mixture(tree)
    return Reduction(
        tuple(family(pattern, "blanket", "upper") for pattern in ways),
        tuple((_described(*pair), family(*pair, "lower")) for pair in pairs),
        tree.pair,
        tuple(family(pattern, "blanket", "lower") for pattern in ways) if continuous else (),
        tuple(mixed(pattern, "blanket") for pattern in ways) if whole else (),
        tuple(mixed(*pair) for pair in pairs) if whole else (),
    )


def _described(pattern: Pattern, others: Others) -> Callable[[int], str]:
    held = {"first": 0, "second": 1, "third": 2}[others]

    def inputs(x: int, pattern: Pattern) -> str:
        if isinstance(pattern, bool):
            return str(x if pattern else 0)
        return f"({', '.join(inputs(x, p) for p in pattern)})"

    def other(pattern: Pattern) -> str:
        if isinstance(pattern, bool):
            return str(held if pattern else (2 if held == 2 else 0))
        return f"({', '.join(map(other, pattern))})"

    return lambda n: (
        f"X0 = ({inputs(0, pattern)}, {other(pattern)} x {n - 1}), "
        f"X1 = ({inputs(1, pattern)}, {other(pattern)} x {n - 1}), inputs of each part named 0, 1, 2"
    )


def _numeric(decomposition: Decomposition) -> LawFamily:
    pair = decomposition.reduction_pair()
    enclosed = is_enclosed((*pair.a0, *pair.a1, *pair.a2))

    def family(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
        if not enclosed:  # doubles multiply with doubles only
            return pair.gparv(to_float(exp_eps), direction=direction)
        target = exp_eps if isinstance(exp_eps, Fraction) else enclose(exp_eps, bits or DEFAULT_BITS)
        return pair.gparv(target, direction=direction)

    return family


def _of_channel(channel: Channel) -> Reduction:
    inputs = range(channel.num_inputs)
    if len(inputs) < 2:
        raise InputError("channel", f"{len(inputs)} input", "at least 2 inputs: neighbours differ in one")
    pairs = [(x, y) for x in inputs for y in inputs if x < y]
    bounds = tuple(_numeric(simplified_decomposition(channel, pair)) for pair in pairs)
    backgrounds = tuple(
        (_constant(pair, other), _numeric(_real(channel, pair, other))) for pair in pairs for other in inputs
    )
    # Pairs times inputs grow too fast for large channels, whose bound is then given alone.
    few = backgrounds if len(inputs) <= _MOST_INPUTS else ()
    return Reduction(bounds, few, f"the worst of all pairs of inputs{_revealed(channel)}")


def _revealed(channel: Channel) -> str:
    """Which outputs make a channel not LDP, in words: what they reveal for certain is the singular mass of its laws."""
    outputs = [y for y, column in enumerate(channel.columns()) if minimum(column) == 0 and maximum(column) != 0]
    if not outputs:
        return ""
    some = ", ".join(map(str, outputs[:5])) + (", ..." if len(outputs) > 5 else "")
    return f" (not LDP for any budget: possible at some inputs only, and counted as singular mass: outputs {some})"


def _real(channel: Channel, pair: tuple[int, int], other: int) -> Decomposition:
    """The exact decomposition of a pair over the background in which all other users hold ``other``."""
    first, second, held = (channel.rows[x] for x in (*pair, other))
    return Decomposition(first, second, held, Fraction(0))


def _constant(pair: tuple[int, int], other: int) -> Callable[[int], str]:
    return lambda n: f"X0 = ({pair[0]}, {other} x {n - 1}), X1 = ({pair[1]}, {other} x {n - 1})"
