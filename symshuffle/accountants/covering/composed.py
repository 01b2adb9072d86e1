"""Reductions of compositions: one class of pairs of inputs for each way in which the parts may differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from symshuffle.accountants.covering.reduced import Datasets, LawFamily, MixedFamily, PairClass, Reduction
from symshuffle.base.choices import Others, Side
from symshuffle.mechanisms.continuous import Laplace

if TYPE_CHECKING:
    from symshuffle.decompositions.composition import Composed, Composition, Pattern


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
    check_size(tree, ways)
    continuous = any(isinstance(leaf, Laplace) for leaf in leaves(tree))
    whole = continuous and is_mixture(tree)
    backgrounds = common_backgrounds(tree)

    def real(pattern: Pattern, others: Others) -> Datasets:
        law = family(pattern, others, Side.LOWER)
        return Datasets(_described(tree, pattern, others), law, mixed(pattern, others) if whole else None)

    classes = tuple(
        PairClass(
            tree.pair,
            family(pattern, Others.BLANKET, Side.UPPER),
            family(pattern, Others.BLANKET, Side.LOWER) if continuous else None,
            mixed(pattern, Others.BLANKET) if whole else None,
            tuple(real(pattern, others) for others in backgrounds) if is_real(tree, pattern) else (),
        )
        for pattern in ways
    )
    return Reduction(classes, tree.every_pair, pairs=tree.pair, budget=source.shares)


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
