"""Reductions under zero-out: every input against a null symbol that has the law of the blanket."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from symshuffle.accountants.covering.listed import against_null
from symshuffle.accountants.covering.reduced import Datasets, LawFamily, MixedFamily, PairClass, Reduction
from symshuffle.base.choices import Adjacency, Direction, Side
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import DEFAULT_BITS, Real, Verdict, less, minimum
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.channels.mixed_law import MixedLaw
from symshuffle.mechanisms.continuous import Laplace

if TYPE_CHECKING:
    from symshuffle.decompositions.symbolic import SymbolicDecomposition
    from symshuffle.mechanisms.model import Mechanism


def of_channel(channel: Channel) -> Reduction:
    """Every input of a channel against the normed column minima."""
    least = [minimum(column) for column in channel.columns()]
    mass = sum(least, start=Fraction(0))
    if less(0, mass) is not Verdict.TRUE:
        raise InputError("null", None, "the law of a null symbol: the blanket of this channel has no mass")
    return against_null(channel, tuple(one / mass for one in least), of_blanket=True)


def of_laplace(source: Laplace) -> Reduction:
    """Either end of the interval against a null symbol that has the law of its middle, the blanket."""

    def cut(law: MixedFamily, side: Side) -> LawFamily:
        def finite(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
            found = law(exp_eps, direction, bits)
            assert isinstance(found, MixedLaw)
            return found.finite(side, source.cells, bits or DEFAULT_BITS)

        return finite

    def mixed(exp_eps: Real, direction: Direction, bits: int | None) -> MixedLaw:
        return source.mixed_null_law(exp_eps, direction=direction, bits=bits)

    def beside(exp_eps: Real, direction: Direction, bits: int | None) -> MixedLaw:
        return source.mixed_null_background(exp_eps, direction=direction, bits=bits)

    def datasets(n: int) -> str:
        return f"X0 = (0, 1 x {n - 1}), X1 = (null, 1 x {n - 1})"

    real = Datasets(datasets, cut(beside, Side.LOWER), beside)
    ends = "either end of the interval, the worst of all inputs, against the null symbol with the law of the middle"
    only = PairClass(ends, cut(mixed, Side.UPPER), cut(mixed, Side.LOWER), mixed, (real,))
    return Reduction((only,), True, Adjacency.ZERO_OUT, pairs=ends, first="X0 holding the input")


def of_mechanism(mechanism: Mechanism) -> Reduction:
    r"""The cells (a, b, c) of a pair, with the other input replaced by the null symbol of law :math:`c/\gamma`.

    Every parameter of the mechanism has a value.
    """
    from symshuffle.decompositions.counting import Cell
    from symshuffle.decompositions.symbolic import optimal_decomposition

    if not mechanism.pair.every:
        raise Unsupported("adjacency zero-out compares all inputs with the null symbol; do not choose a pair")

    def against(one: Mechanism, *, second: bool) -> LawFamily:
        @cache
        def derived() -> SymbolicDecomposition:
            found = optimal_decomposition(one)
            if found.gamma == 0:
                raise Unsupported(f"adjacency zero-out: the blanket of {one.name} has no mass to make a null symbol of")
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

    classes = tuple(
        PairClass(f"{'the second' if second else 'the first'} of {one.pair}, and the null symbol", law)
        for one in mechanism.pair_classes()
        for second in (False, True)
        for law in (against(one, second=second),)
    )
    return Reduction(
        classes,
        True,
        Adjacency.ZERO_OUT,
        pairs="the worst of all inputs against the null symbol, whose law is that of the blanket",
        first="X0 holding the input",
    )
