"""Decompositions and laws of G of trees, from those of the leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from typing import Any, Final

import sympy as sp

from symshuffle.base.choices import Direction, Others, Side, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Real, positive_part
from symshuffle.channels.law import Law
from symshuffle.channels.mixed_law import MixedLaw
from symshuffle.decompositions.backgrounds import reaches
from symshuffle.decompositions.composition.tree import Composition, Part, has_budget, leaves, silent, written
from symshuffle.decompositions.composition.ways import Pattern, at_class, differs
from symshuffle.decompositions.counting import Cell
from symshuffle.decompositions.laplace import laplace_cells
from symshuffle.decompositions.symbolic import SymbolicDecomposition, counted_decomposition, evaluate_atom
from symshuffle.decompositions.tables import Budget, Table
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import constant_of

LARGEST_PRODUCTS: Final = 60_000
"""Products of components beyond which a composition is refused: each takes about a millisecond."""


_LOST_BITS: Final = 12
"""Bits that a difference of two ratios may lose to cancellation before it is taken symbolically."""


def decomposition(part: Part, pattern: Pattern, *, others: Others | str = "blanket") -> SymbolicDecomposition:
    """The decomposition of a tree at a pair of inputs that differ as the pattern says, in the symbol ``lam``.

    - ``others``: whether to decompose against the blanket (an upper bound for all backgrounds) or exactly against a
      constant background.
    """
    others = choice(Others, others, "others")
    mechanism, *more = leaves(part)
    if isinstance(mechanism, Laplace) or any(isinstance(leaf, Laplace) for leaf in more):
        raise Unsupported("laplace has a continuum of components; its laws of G lie between those of composed_law")
    table = _table(part, pattern, others, Budget(1, None, None), "upper")
    cells = [Cell(r0 * c, r1 * c, c, (r0, r1)) for (r0, r1), c in table.charged]
    cells += [Cell(a, b, sp.Integer(0), None) for a, b in table.singular]
    return SymbolicDecomposition(mechanism, tuple(cells), table.beta)


def composed_law(
    part: Part,
    pattern: Pattern,
    exp_eps: Real,
    *,
    lam: Real | None,
    others: Others | str = "blanket",
    side: Side | str = "upper",
    direction: Direction | str = "forward",
    bits: int | None = None,
) -> Law:
    """The law of G of a tree in numbers; with Laplace leaves, a law on one side of it in convex order.

    Weights become numbers at the leaves, while likelihood ratios stay symbolic and keep merging exactly: the cost of
    an m-fold joint composition is polynomial in m.

    - ``exp_eps``: target ratio ``exp(eps)``.
    - ``lam``: total ratio cap; None where no leaf has a budget.
    - ``side``: on which side of the law of G, where the tree has Laplace leaves.
    - ``bits``: precision of balls where the weights are not rational.
    """
    others = choice(Others, others, "others")
    side = choice(Side, side, "side")
    direction = choice(Direction, direction, "direction")
    # Without a budget nothing depends on its value, and 1 has a rational root of every order.
    table = _table(part, pattern, others, Budget(1, _total(part, lam), bits), side)
    target = constant_of(exp_eps)
    enclosed = evaluate_atom(target, bits)
    flip = 1 if direction == "forward" else -1
    known: dict[sp.Expr, Any] = {}

    def value(first: sp.Expr, second: sp.Expr) -> Any:
        """The difference in numbers, each ratio being evaluated once; symbolic first where digits would be lost."""
        for ratio in (first, second):
            if ratio not in known:
                known[ratio] = evaluate_atom(ratio, bits)
        quick = known[first] - enclosed * known[second]
        if isinstance(quick, Ball) and quick.radius * 2 ** (quick.bits - _LOST_BITS) > abs(quick.midpoint):
            return evaluate_atom(first - target * second, bits)
        return quick

    atoms = [(value(*ratios[::flip]), c) for ratios, c in table.charged]
    singular = (weights[::flip] for weights in table.singular)
    lost = sum((positive_part(a - enclosed * b) for a, b in singular), start=Fraction(0))
    return Law.from_atoms([*atoms, (Fraction(0), table.beta)], lost)


def _total(part: Part, lam: Real | None) -> Real:
    if lam is None and has_budget(part):
        raise InputError("lam", lam, f"a total ratio cap, which {written(part)} shares out")
    return Fraction(1) if lam is None else lam


def mixed_law(
    part: Part,
    pattern: Pattern,
    exp_eps: Real,
    *,
    lam: Real | None,
    others: Others | str = "blanket",
    direction: Direction | str = "forward",
    bits: int | None = None,
) -> MixedLaw:
    """The law of G itself of a tree whose Laplace leaves are under ``parallel`` only; see :func:`is_mixture`.

    Under ``parallel`` the law of G is the mixture of the laws of the parts. Parameters are those of
    :func:`composed_law`.
    """
    others = choice(Others, others, "others")
    direction = choice(Direction, direction, "direction")
    if isinstance(part, Laplace):
        leaf = replace(part, lam=lam)
        if others == "blanket":
            return leaf.mixed_law(exp_eps, direction=direction, bits=bits)
        # By symmetry the first input as background is the second one with the two inputs of the pair exchanged.
        same = (others == "second") == (direction == "forward")
        return leaf.mixed_background(exp_eps, direction="forward" if same else "reverse", bits=bits)
    if isinstance(part, Composition) and part.operator == "parallel":
        assert isinstance(pattern, tuple)
        laws = (
            mixed_law(p, q, exp_eps, lam=lam, others=others, direction=direction, bits=bits)
            for p, q in zip(part.parts, pattern, strict=True)
        )
        return MixedLaw.mixture(zip(part.weights, laws, strict=True))
    law = composed_law(part, pattern, exp_eps, lam=lam, others=others, direction=direction, bits=bits)
    return MixedLaw(law.values, law.weights, (), law.singular)


def is_mixture(part: Part) -> bool:
    """Whether no Laplace leaf is under ``joint``."""
    if isinstance(part, Composition) and part.operator == "parallel":
        return all(is_mixture(p) for p in part.parts)
    return isinstance(part, Laplace) or not any(isinstance(leaf, Laplace) for leaf in leaves(part))


def common_backgrounds(part: Part) -> list[Others]:
    """The constant backgrounds that every leaf of a tree can count; Laplace noise on a bit has no third input."""
    named = [leaf.with_defaults() if isinstance(leaf, Mechanism) else None for leaf in leaves(part)]
    all_reach = all(leaf is not None and (silent(leaf) or reaches(leaf)) for leaf in named)
    third = [Others.THIRD] if all_reach else []
    return [*third, Others.SECOND, Others.FIRST]


def components(part: Part, pattern: Pattern) -> int:
    """At most so many components a tree has at a pattern: equal parts that differ alike merge to multisets."""
    if not isinstance(part, Composition):
        return 2 if isinstance(part, Laplace) else len(_leaf(part, differs(pattern), Others.BLANKET).cells)
    assert isinstance(pattern, tuple)
    sizes: dict[tuple[Part, Pattern], int] = {}
    for one in zip(part.parts, pattern, strict=True):
        sizes[one] = sizes.get(one, 0) + 1
    each = [(components(*one), count) for one, count in sizes.items()]
    if part.operator == "parallel":
        return sum(size for size, _ in each)
    return math.prod(math.comb(count + size - 1, count) for size, count in each)


def check_size(part: Composition, ways: Sequence[Pattern]) -> None:
    """Refuse a tree whose components take minutes to multiply."""
    products = sum(components(part, way) for way in ways) * len(leaves(part))
    if products > LARGEST_PRODUCTS:
        raise Unsupported(
            f"{part.name} has {len(ways)} ways to differ, and about {products} products of components over them (limit "
            f"{LARGEST_PRODUCTS}): compose fewer parts, or fix in how many they differ by hamming"
        )


@cache
def _table(part: Part, pattern: Pattern, others: Others, budget: Budget, side: Side) -> Table:
    if isinstance(part, Laplace):
        assert others != "third"
        # An m-fold joint composition has about (m cells)^2/2 components: here as many for every m.
        cells = part.cells if budget.order == 1 else max(1, part.cells // (4 * budget.order))
        return Table.of(*laplace_cells(cells, side, others, differs=bool(pattern)), budget)
    if isinstance(part, Mechanism):
        derived = _leaf(at_class(part, pattern).with_defaults(), bool(pattern), others)
        return Table.of(derived.cells, derived.beta, budget)
    assert isinstance(pattern, tuple)
    if part.operator == "parallel":
        tables = [_table(p, q, others, budget, side) for p, q in zip(part.parts, pattern, strict=True)]
        shares = [constant_of(w) if budget.symbolic else w for w in part.weights]
        return reduce(lambda x, y: x + y, (t.scaled(w) for t, w in zip(tables, shares, strict=True)))
    share = budget.split(len(part.parts))
    pairs = zip(part.parts, pattern, strict=True)
    return reduce(lambda x, y: x * y, (_table(p, q, others, share, side) for p, q in pairs))


def _leaf(mechanism: Mechanism, differs: bool, others: Others) -> SymbolicDecomposition:
    if others is Others.THIRD and silent(mechanism):
        others = Others.SECOND
    return counted_decomposition(mechanism, differs=differs, others=others)
