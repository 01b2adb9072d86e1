r"""Decompositions and laws of G of trees, from those of the leaves.

Components are keyed by their likelihood ratios, which stay symbolic and merge exactly; weights become numbers as soon
as the budget is one. A Laplace leaf has finitely many components, below or above in convex order: the range of
:math:`u=\log r` is cut into m cells, and all ratios are rational powers of ``lam``.

*Why the sides carry over.* Let every leaf i of a tree have the law :math:`\mu_i` of its ratios
:math:`(r_0,r_1)=(A_0,A_1)/A_2` under :math:`A_2`. Under ``joint`` the ratios of the tree are products, so that
:math:`G=\prod_i r_0^{(i)}-e^{\varepsilon}\prod_i r_1^{(i)}` is linear in the pair of each leaf when the others are
held. On the residual of the blanket G is 0 whatever happens, and the pair of a leaf there may be taken as (0, 0), a
component that no side changes. Replacing :math:`\mu_i` by a law :math:`\nu_i\ge_{cx}\mu_i` therefore replaces, given
all else, G by a linear image of a larger law: :math:`E f(G)` rises for each convex f, also after averaging over all
else. ``parallel`` draws a leaf, and a mixture of laws above a law is above the mixture. So both sides hold for G, and
with it for :math:`E[(G_1+\dots+G_n)_+]`, the sum being linear in each :math:`G_i`. The singular mass has no part in
it: the blanket of a Laplace leaf charges all of its outputs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from typing import Any, Final, final

import sympy as sp

from symshuffle.base.choices import Direction, Others, Side
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Exp, Real, positive_part
from symshuffle.channels.law import Law
from symshuffle.channels.mixed_law import MixedLaw
from symshuffle.decompositions.backgrounds import reaches
from symshuffle.decompositions.calculated import Cell
from symshuffle.decompositions.composition.tree import (
    Composition,
    Part,
    Pattern,
    at_class,
    differs,
    has_budget,
    leaves,
    root,
    silent,
    written,
)
from symshuffle.decompositions.counting import Ratios
from symshuffle.decompositions.symbolic import SymbolicDecomposition, counted_decomposition, evaluate_atom
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, constant_of


@cache
def laplace_cells(cells: int, side: Side, others: Others, *, differs: bool) -> tuple[tuple[Cell, ...], sp.Expr]:
    r"""The components and the left-over of Laplace noise on a bit, in ``lam``.

    - ``cells``: cells of the range of u, which is :math:`[0,\varepsilon_0]` for the blanket, else twice as long.
    """
    one, half = sp.Integer(1), sp.Rational(1, 2)
    if others == "blanket":
        rising = [(LAM, 1 / (2 * LAM)), *_cut(Fraction(0), Fraction(1), cells, side, 1 / (4 * sp.sqrt(LAM)))]
        pairs = [*((r, one, c) for r, c in rising), *((one, r, c) for r, c in rising)]
        beta = 1 - LAM**-half
    else:
        if not differs:
            return (Cell(one, one, one, (one, one)),), sp.Integer(0)
        rising = [
            (LAM, 1 / (2 * LAM)),
            (1 / LAM, half),
            *_cut(Fraction(-1), Fraction(1), cells, side, 1 / (4 * sp.sqrt(LAM))),
        ]
        pairs = [(r, one, c) if others == "second" else (one, r, c) for r, c in rising]
        beta = sp.Integer(0)
    ratios = [(r0, r1 if differs else r0, c) for r0, r1, c in pairs]
    return tuple(Cell(r0 * c, r1 * c, c, (r0, r1)) for r0, r1, c in ratios), beta


def _cut(
    start: Fraction, stop: Fraction, cells: int, side: Side, density: sp.Expr
) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """Ratios ``lam**t`` and weights of a measure ``density * exp(-u/2) du`` for ``u = t log(lam)``, t in a range."""
    step = (stop - start) / cells
    grow = LAM ** constant_of(step / 2)
    for j in range(cells):
        low = start + j * step
        mass = 2 * density * LAM ** constant_of(-low / 2) * (1 - 1 / grow)
        if side == "lower":  # the mean of exp(u) over a cell is exp of its midpoint
            yield LAM ** constant_of(low + step / 2), mass
        else:
            yield LAM ** constant_of(low), mass * grow / (1 + grow)
            yield LAM ** constant_of(low + step), mass / (1 + grow)


@final
@dataclass(frozen=True, slots=True)
class _Budget:
    """A leaf's share of the total budget: the root of order ``order`` of ``lam``, as a symbol or as a number."""

    order: int
    lam: Real | None
    bits: int | None

    @property
    def symbolic(self) -> bool:
        """Whether weights stay expressions."""
        return self.lam is None and self.bits is None

    def ratio(self, expression: sp.Expr) -> sp.Expr:
        """A likelihood ratio at this share."""
        if self.lam is None:
            return expression.subs(LAM, LAM ** sp.Rational(1, self.order))
        exact = isinstance(self.lam, Exp)
        share = (
            constant_of(root(self.lam, self.order)) if exact else constant_of(self.lam) ** sp.Rational(1, self.order)
        )
        return expression.subs(LAM, share)

    def weight(self, expression: sp.Expr) -> Any:
        """A weight at this share: a number once the budget is one, or there is nothing open in the expression."""
        share = self.ratio(expression)
        return share if self.symbolic or share.free_symbols else evaluate_atom(share, self.bits)


@final
@dataclass(frozen=True, slots=True)
class _RatioTable:
    """Components keyed by likelihood ratios: ((a/c, b/c), c), those without blanket as (a, b), and the left-over."""

    charged: tuple[tuple[Ratios, Any], ...]
    singular: tuple[tuple[Any, Any], ...]
    beta: Any

    @classmethod
    def of(cls, cells: Sequence[Cell], beta: sp.Expr, budget: _Budget) -> _RatioTable:
        """The table of a leaf at its share of the budget."""
        charged = [
            ((budget.ratio(cell.ratios[0]), budget.ratio(cell.ratios[1])), budget.weight(cell.c))
            for cell in cells
            if cell.ratios is not None
        ]
        singular = [(budget.weight(cell.a), budget.weight(cell.b)) for cell in cells if cell.ratios is None]
        return cls(_merged(charged), tuple(singular), budget.weight(beta))

    def __mul__(self, other: _RatioTable) -> _RatioTable:
        both = itertools.product(self.charged, other.charged)
        charged = [((r0 * q0, r1 * q1), c * d) for ((r0, r1), c), ((q0, q1), d) in both]
        rows = [*self.charged_rows, *self.singular]
        lost = [*itertools.product(rows, other.singular), *itertools.product(self.singular, other.charged_rows)]
        singular = tuple((a * x, b * y) for (a, b), (x, y) in lost)
        beta = self.beta + other.beta - self.beta * other.beta
        return _RatioTable(_merged(charged), singular, beta)

    @property
    def charged_rows(self) -> list[tuple[Any, Any]]:
        """Weights (a, b) of the components that the blanket charges."""
        return [(_weight(r0, c), _weight(r1, c)) for (r0, r1), c in self.charged]

    def scaled(self, weight: Any) -> _RatioTable:
        """The table of a part that is drawn with this probability."""
        return _RatioTable(
            tuple((ratios, weight * c) for ratios, c in self.charged),
            tuple((weight * a, weight * b) for a, b in self.singular),
            weight * self.beta,
        )

    def __add__(self, other: _RatioTable) -> _RatioTable:
        return _RatioTable(
            _merged((*self.charged, *other.charged)), (*self.singular, *other.singular), self.beta + other.beta
        )


def _weight(ratio: sp.Expr, c: Any) -> Any:
    """The product of a symbolic ratio and a weight, in the kind of the weight."""
    if isinstance(c, sp.Basic):
        return ratio * c
    return evaluate_atom(ratio, c.bits if isinstance(c, Ball) else None) * c


def _merged(charged: Sequence[tuple[Ratios, Any]]) -> tuple[tuple[Ratios, Any], ...]:
    found: dict[Ratios, Any] = {}
    for ratios, c in charged:
        found[ratios] = found[ratios] + c if ratios in found else c
    return tuple((ratios, c) for ratios, c in found.items() if not (isinstance(c, sp.Basic | Fraction) and c == 0))


LARGEST_PRODUCTS: Final = 60_000
"""Products of components beyond which a composition is refused: each takes about a millisecond."""


_LOST_BITS: Final = 12
"""Bits that a difference of two ratios may lose to cancellation before it is taken symbolically."""


def decomposition(part: Part, pattern: Pattern, *, others: Others = "blanket") -> SymbolicDecomposition:
    """The decomposition of a tree at a pair of inputs that differ as the pattern says, in the symbol ``lam``."""
    mechanism, *more = leaves(part)
    if isinstance(mechanism, Laplace) or any(isinstance(leaf, Laplace) for leaf in more):
        raise Unsupported("laplace has no finite decomposition; use composed_law, whose two laws enclose it")
    table = _table(part, pattern, others, _Budget(1, None, None), "upper")
    cells = [Cell(r0 * c, r1 * c, c, (r0, r1)) for (r0, r1), c in table.charged]
    cells += [Cell(a, b, sp.Integer(0), None) for a, b in table.singular]
    return SymbolicDecomposition(mechanism, tuple(cells), table.beta)


def composed_law(
    part: Part,
    pattern: Pattern,
    exp_eps: Real,
    *,
    lam: Real | None,
    others: Others = "blanket",
    side: Side = "upper",
    direction: Direction = "forward",
    bits: int | None = None,
) -> Law:
    """The law of G of a tree in numbers; with Laplace leaves, a law on one side of it in convex order.

    Weights become numbers at the leaves, while likelihood ratios stay symbolic and keep merging exactly: the cost of
    an m-fold joint composition is polynomial in m.
    """
    if lam is None and has_budget(part):
        raise InputError("lam", lam, f"a total ratio cap, which {written(part)} shares out")
    # Without a budget nothing depends on its value, and 1 has a rational root of every order.
    table = _table(part, pattern, others, _Budget(1, Fraction(1) if lam is None else lam, bits), side)
    target = constant_of(exp_eps, "exp_eps")
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


def mixed_law(
    part: Part,
    pattern: Pattern,
    exp_eps: Real,
    *,
    lam: Real | None,
    others: Others = "blanket",
    direction: Direction = "forward",
    bits: int | None = None,
) -> MixedLaw:
    """The law of G itself of a tree whose Laplace leaves are under ``parallel`` only; see :func:`is_mixture`.

    Under ``parallel`` the law of G is the mixture of the laws of the parts.
    """
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
    third: list[Others] = ["third"] if all_reach else []
    return [*third, "second", "first"]


def components(part: Part, pattern: Pattern) -> int:
    """At most so many components a tree has at a pattern: equal parts that differ alike merge to multisets."""
    if not isinstance(part, Composition):
        return 2 if isinstance(part, Laplace) else len(_leaf(part, differs(pattern), "blanket").cells)
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
def _table(part: Part, pattern: Pattern, others: Others, budget: _Budget, side: Side) -> _RatioTable:
    if isinstance(part, Laplace):
        assert others != "third"
        # An m-fold joint composition has about (m cells)^2/2 components: here as many for every m.
        cells = part.cells if budget.order == 1 else max(1, part.cells // (4 * budget.order))
        return _RatioTable.of(*laplace_cells(cells, side, others, differs=bool(pattern)), budget)
    if isinstance(part, Mechanism):
        derived = _leaf(at_class(part, pattern).with_defaults(), bool(pattern), others)
        return _RatioTable.of(derived.cells, derived.beta, budget)
    assert isinstance(pattern, tuple)
    if part.operator == "parallel":
        tables = [_table(p, q, others, budget, side) for p, q in zip(part.parts, pattern, strict=True)]
        shares = [constant_of(w) if budget.symbolic else w for w in part.weights]
        return reduce(lambda x, y: x + y, (t.scaled(w) for t, w in zip(tables, shares, strict=True)))
    share = replace(budget, order=budget.order * len(part.parts))
    pairs = zip(part.parts, pattern, strict=True)
    return reduce(lambda x, y: x * y, (_table(p, q, others, share, side) for p, q in pairs))


def _leaf(mechanism: Mechanism, differs: bool, others: Others) -> SymbolicDecomposition:
    if others == "third" and silent(mechanism):
        others = "second"
    return counted_decomposition(mechanism, differs=differs, others=others)
