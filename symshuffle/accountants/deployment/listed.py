"""Reductions of what is listed: a channel's rows, compared pair by pair, with or without a null symbol."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from symshuffle.accountants.deployment.reduced import (
    LawFamily,
    MixedFamily,
    PairClass,
    Reduction,
    first_decided,
)
from symshuffle.base.choices import Direction, Others, Side
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Number,
    Real,
    Verdict,
    coarser,
    enclose,
    is_enclosed,
    less,
    maximum,
    minimum,
    to_float,
    usual_bits,
)
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.model import Decomposition, ReductionPair, simplified_weights

if TYPE_CHECKING:
    from symshuffle.channels.mixed_law import MixedLaw
    from symshuffle.decompositions.composition import Composed, Composition, Pattern
    from symshuffle.decompositions.symbolic import SymbolicDecomposition
    from symshuffle.mechanisms.continuous import Laplace
    from symshuffle.mechanisms.model import Mechanism

_MOST_INPUTS: Final = 8
"""Inputs of an explicit channel up to which all of its constant backgrounds are tried."""


def numeric(source: Decomposition | ReductionPair) -> LawFamily:
    """The laws of a decomposition or a pair in numbers."""
    pair = source.reduction_pair() if isinstance(source, Decomposition) else source
    enclosed = is_enclosed((*pair.a0, *pair.a1, *pair.a2))

    def family(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
        if not enclosed:  # doubles multiply with doubles only
            return pair.gparv(to_float(exp_eps), direction=direction)
        target = exp_eps if isinstance(exp_eps, Fraction) else enclose(exp_eps, bits or usual_bits(exp_eps))
        return pair.gparv(target, direction=direction)

    return family


def of_channel(channel: Channel, compared: Sequence[tuple[int, int]] | None = None) -> Reduction:
    """Every pair of inputs of a channel, or some pairs."""
    inputs = range(channel.num_inputs)
    if len(inputs) < 2:
        raise InputError("channel", f"{len(inputs)} input", "at least 2 inputs: neighbours differ in one")
    # Pairs times inputs grow too fast for large channels, whose bound is then given alone.
    others, names, floor = inputs if len(inputs) <= _MOST_INPUTS else (), list(map(str, inputs)), channel.blanket()
    return Reduction(
        tuple(
            _compared(channel, floor, (x, y), f"inputs {x} and {y}", others, names)
            for x, y in (itertools.combinations(inputs, 2) if compared is None else compared)
        ),
        compared is None,
        pairs=f"{pairs_in_words(compared)}{_revealed(channel)}",
        first=f"X0 holding the {'input with the smaller number' if compared is None else 'first of the two'}",
        rounding=channel.rounding,
    )


def pairs_in_words(compared: Sequence[tuple[int, int]] | None) -> str:
    """The pairs of inputs that are compared; None for all."""
    if compared is None:
        return "the worst of all pairs of inputs"
    shown = ", ".join(f"{x} and {y}" for x, y in compared[:_MOST_INPUTS])
    return f"inputs {shown}{', ...' if len(compared) > _MOST_INPUTS else ''}"


def against_null(channel: Channel, null: Channel, *, of_blanket: bool = False) -> Reduction:
    """Every input against the null symbol, which becomes one more row: others may hold it as well.

    - ``null``: its law, as a channel of one input.
    """
    if null.num_outputs != channel.num_outputs:
        raise InputError("null", f"{null.num_outputs} masses", f"{channel.num_outputs}, one per output")
    law, symbol = null.rows[0], channel.num_inputs
    whole, rounding = Channel((*channel.rows, law)), coarser(channel.rounding, null.rounding)
    more = ", ..." if len(law) > _MOST_INPUTS else ""
    said = "that of the blanket" if of_blanket else f"({', '.join(map(str, law[:_MOST_INPUTS]))}{more})"
    others, names = range(symbol + 1) if symbol < _MOST_INPUTS else (), [*map(str, range(symbol)), "null"]
    floor = whole.blanket()
    if rounding is not None and of_blanket:  # the law of the blanket may change by any amount with the matrix
        rounding = replace(rounding, row=Fraction(1))
    return Reduction(
        tuple(
            _compared(whole, floor, (x, symbol), f"input {x} and the null symbol", others, names) for x in range(symbol)
        ),
        True,
        "zero-out",
        pairs=f"the worst of all inputs against the null symbol, whose law is {said}{_revealed(whole)}",
        first="X0 holding the input",
        rounding=rounding,
    )


def _compared(
    channel: Channel,
    floor: Sequence[Number],
    pair: tuple[int, int],
    said: str,
    others: Sequence[int],
    names: Sequence[str],
) -> PairClass:
    """One pair of rows, with the datasets in which all other users hold one input, where those are listed."""
    x, y = pair

    def real(held: int) -> PairClass:
        first, second, other = names[x], names[y], names[held]
        exact = Decomposition(channel.rows[x], channel.rows[y], channel.rows[held], Fraction(0))
        return PairClass.real(
            lambda n: f"X0 = ({first}, {other} x {n - 1}), X1 = ({second}, {other} x {n - 1})", numeric(exact)
        )

    bound = numeric(simplified_weights(channel.rows[x], channel.rows[y], floor))
    return PairClass(said, bound, datasets=lambda: tuple(map(real, others)))


def _revealed(channel: Channel) -> str:
    """Which outputs make a channel not LDP, in words: what they reveal for certain is the singular mass of its laws."""
    outputs = [y for y, column in enumerate(channel.columns()) if minimum(column) == 0 and maximum(column) != 0]
    if not outputs:
        return ""
    some = ", ".join(map(str, outputs[:5])) + (", ..." if len(outputs) > 5 else "")
    return f" (not LDP for any budget: possible at some inputs only, and counted as singular mass: outputs {some})"


def blanket_of_channel(channel: Channel) -> Reduction:
    """Every input of a channel against the normed column minima."""
    least = [minimum(column) for column in channel.columns()]
    mass = sum(least, start=Fraction(0))
    if less(0, mass) is not Verdict.TRUE:
        raise InputError("null", None, "the law of a null symbol: the blanket of this channel has no mass")
    return against_null(channel, Channel((tuple(one / mass for one in least),)), of_blanket=True)


def blanket_of_laplace(source: Laplace) -> Reduction:
    """Either end of the interval against a null symbol that has the law of its middle, the blanket."""

    def cut(law: Callable[..., MixedLaw], side: Side) -> LawFamily:
        return lambda order, way, bits: law(order, direction=way, bits=bits).finite(
            side, source.cells, bits or DEFAULT_BITS
        )

    def whole(law: Callable[..., MixedLaw]) -> MixedFamily:
        return lambda order, way, bits: law(order, direction=way, bits=bits)

    bound, beside = source.mixed_null_law, source.mixed_null_background
    real = PairClass.real(
        lambda n: f"X0 = (0, 1 x {n - 1}), X1 = (null, 1 x {n - 1})", cut(beside, "lower"), whole(beside)
    )
    ends = "either end of the interval, the worst of all inputs, against the null symbol with the law of the middle"
    only = PairClass(ends, cut(bound, "upper"), cut(bound, "lower"), whole(bound), lambda: (real,))
    return Reduction((only,), True, "zero-out", pairs=ends, first="X0 holding the input")


def blanket_of_mechanism(mechanism: Mechanism) -> Reduction:
    r"""The cells (a, b, c) of a pair, with the other input replaced by the null symbol of law :math:`c/\gamma`.

    Every parameter of the mechanism has a value.
    """
    from symshuffle.decompositions.calculated import Cell
    from symshuffle.decompositions.symbolic import optimal_decomposition

    several = tuple(mechanism.pair_classes())

    def against(place: int, second: bool) -> LawFamily:
        @cache
        def derived() -> SymbolicDecomposition:
            found = optimal_decomposition(several[place])
            if found.gamma == 0:
                name = several[place].name
                raise Unsupported(f"adjacency zero-out: the blanket of {name} has no mass to make a null symbol of")
            cells = tuple(
                Cell(
                    cell.b if second else cell.a,
                    cell.c / found.gamma,
                    cell.c,
                    None if cell.ratios is None else (cell.ratios[second], 1 / found.gamma),
                )
                for cell in found.cells
            )
            return replace(found, cells=cells)

        return lambda exp_eps, direction, bits: derived().law(exp_eps, direction=direction, bits=bits)

    return against_blanket([str(one.pair) for one in several], against, every=mechanism.pair.every)


def blanket_of_closed_form(form: ClosedForm) -> Reduction:
    """The same from the file; where numbers do not settle what algebra would, the mechanism is asked."""
    algebra, kinds = cache(lambda: blanket_of_mechanism(form.mechanism())), form.kinds

    def against(place: int, second: bool) -> LawFamily:
        return first_decided(
            lambda x, way, bits: kinds[place].law_against_null(x, second=second, direction=way, bits=bits),
            lambda: algebra().bounds[2 * place + second],
        )

    return against_blanket([one.pairs for one in kinds], against, every=form.every)


def against_blanket(pairs: Sequence[str], against: Callable[[int, bool], LawFamily], *, every: bool) -> Reduction:
    """Either input of each class of pairs against the null symbol.

    - ``against``: from the number of a class, and whether its second input is meant, to laws.
    """
    if not every:
        raise Unsupported("adjacency zero-out compares all inputs with the null symbol; do not choose a pair")
    classes = tuple(
        PairClass(f"{'the second' if second else 'the first'} of {pair}, and the null symbol", against(i, second))
        for i, pair in enumerate(pairs)
        for second in (False, True)
    )
    return Reduction(
        classes,
        True,
        "zero-out",
        pairs="the worst of all inputs against the null symbol, whose law is that of the blanket",
        first="X0 holding the input",
    )


def of_composition(source: Composed) -> Reduction:
    """Every way in which two inputs of a composition differ."""
    from symshuffle.decompositions.composition import (
        check_size,
        common_backgrounds,
        composed_law,
        is_mixture,
        is_real,
        leaves,
        mixed_law,
        patterns,
        rounding_of,
    )
    from symshuffle.mechanisms.continuous import Laplace

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
    check_size(tree, ways)
    continuous = any(isinstance(leaf, Laplace) for leaf in leaves(tree))
    whole = continuous and is_mixture(tree)
    backgrounds = common_backgrounds(tree)

    def real(pattern: Pattern, others: Others) -> PairClass:
        law = family(pattern, others, "lower")
        return PairClass.real(_described(tree, pattern, others), law, mixed(pattern, others) if whole else None)

    def datasets(pattern: Pattern) -> tuple[PairClass, ...]:
        return tuple(real(pattern, others) for others in backgrounds) if is_real(tree, pattern) else ()

    classes = tuple(
        PairClass(
            tree.pair,
            family(pattern, "blanket", "upper"),
            family(pattern, "blanket", "lower") if continuous else None,
            mixed(pattern, "blanket") if whole else None,
            partial(datasets, pattern),
        )
        for pattern in ways
    )
    every = tree.every_pair
    return Reduction(classes, every, pairs=tree.pair, budget=source.shares, rounding=rounding_of(tree))


def _described(tree: Composition, pattern: Pattern, others: Others) -> Callable[[int], str]:
    from symshuffle.decompositions.composition import named_classes

    held = {"first": 0, "second": 1, "third": 2}[others]
    named = "".join(f"; 0 and 1 of {words}" for words in dict.fromkeys(named_classes(tree, pattern)))

    def inputs(x: int, pattern: Pattern) -> str:
        if not isinstance(pattern, tuple):
            return str(x if pattern else 0)
        return f"({', '.join(inputs(x, p) for p in pattern)})"

    def other(pattern: Pattern) -> str:
        if not isinstance(pattern, tuple):
            return str(held if pattern else (2 if held == 2 else 0))
        return f"({', '.join(map(other, pattern))})"

    return lambda n: (
        f"X0 = ({inputs(0, pattern)}, {other(pattern)} x {n - 1}), "
        f"X1 = ({inputs(1, pattern)}, {other(pattern)} x {n - 1}), inputs of each part named 0, 1, 2{named}"
    )
