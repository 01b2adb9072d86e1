r"""Compositions of mechanisms, as trees whose decompositions follow from those of the leaves.

- ``joint``: each coordinate of the input goes through a mechanism of its own; decompositions multiply
  (decomposition, Theorem 9).
- ``parallel``: one of several mechanisms is drawn and named with its output; decompositions mix (Theorem 11).
- ``subsample``: parallel with the constant mechanism (Example 4.4).
- ``hamming``: a joint composition whose neighbouring inputs differ in exactly so many coordinates (Section 8).

Components are keyed by their likelihood ratios, so that equal ratios merge as they arise and an m-fold joint
composition stays polynomial in m. All leaves share one total budget: under ``joint`` each of m parts gets the m-th
root of ``lam``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from typing import Any, Final, Literal, TypeAlias, final

import sympy as sp

from symshuffle.channel import Channel, direct_sum
from symshuffle.decompositions.backgrounds import background_cells, reaches
from symshuffle.decompositions.model import Direction
from symshuffle.decompositions.symbolic import (
    Cell,
    SymbolicDecomposition,
    evaluate_atom,
    optimal_decomposition,
    same_input_cells,
)
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.mechanisms.finite import constant
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, Parameter, constant_of
from symshuffle.numbers import Ball, Exp, Real, positive_part

Part: TypeAlias = "Mechanism | Composition"

Pattern: TypeAlias = "bool | tuple[Any, ...]"
"""Which leaves of a tree see the two inputs differ: a truth value for a leaf, a tuple of patterns for a tree."""

Others: TypeAlias = Literal["blanket", "third", "second", "first"]
"""What stands in for the other users: the blanket, or a constant background."""

Ratios: TypeAlias = "tuple[sp.Expr, sp.Expr]"

LARGEST_PATTERNS: Final = 4096
"""Ways to differ beyond which a composition is refused."""


@final
@dataclass(frozen=True, slots=True)
class Composition:
    """A tree of mechanisms.

    Parameters
    ----------
    operator : {"joint", "parallel"}
        How the parts are combined.
    parts : tuple of Mechanism or Composition
        What is combined; every parameter except ``lam`` fixed.
    weights : tuple of Fraction
        For ``parallel``: the probabilities of the parts.
    distance : int or None
        For ``joint``: in how many coordinates neighbouring inputs differ; None stands for any number.
    """

    operator: Literal["joint", "parallel"]
    parts: tuple[Part, ...]
    weights: tuple[Fraction, ...] = ()
    distance: int | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError(self.operator, "no parts", "at least one mechanism")
        if self.operator == "parallel":
            if len(self.weights) != len(self.parts):
                raise InputError("weights", f"{len(self.weights)} weights", f"one for each of {len(self.parts)} parts")
            if any(weight < 0 for weight in self.weights) or sum(self.weights) != 1:
                written = ", ".join(map(str, self.weights))
                raise InputError("weights", written, f"probabilities of sum 1 (sum {sum(self.weights)})")
        if self.distance is not None and not 1 <= self.distance <= len(self.parts):
            raise InputError("distance", self.distance, f"an integer from 1 to {len(self.parts)}, the coordinates")

    @property
    def name(self) -> str:
        """The tree as it is written on the command line."""
        inner = [part.name if isinstance(part, Composition) else repr(part) for part in self.parts]
        if self.operator == "parallel":
            return "parallel(" + ",".join(f"{w}:{p}" for w, p in zip(self.weights, inner, strict=True)) + ")"
        same = len(set(inner)) == 1
        joint = f"joint({inner[0]},{len(inner)})" if same else f"joint({','.join(inner)})"
        return joint if self.distance is None else f"hamming({joint},{self.distance})"

    @property
    def pair(self) -> str:
        """Which pairs of inputs the bound covers."""
        if self.distance is not None:
            return f"two inputs that differ in exactly {self.distance} coordinates"
        return "the worst of all ways in which two inputs can differ"

    def leaves(self) -> Iterator[Mechanism]:
        """The mechanisms of the tree."""
        for part in self.parts:
            if isinstance(part, Composition):
                yield from part.leaves()
            else:
                yield part

    def channel(self, lam: Real | None = None) -> Channel:
        """The explicit channel for small parts: an independent road to everything below.

        Parameters
        ----------
        lam : Real, optional
            Total ratio cap; for a ``joint`` it must have an exact root.
        """
        if self.operator == "joint":
            share = None if lam is None else _root(lam, len(self.parts))
            return reduce(Channel.tensor, (_channel(part, share) for part in self.parts))
        channels = [_channel(part, lam) for part in self.parts]
        inputs = max(channel.num_inputs for channel in channels)
        # The constant mechanism serves any number of inputs.
        widened = [c if c.num_outputs > 1 else Channel(c.rows[:1] * inputs) for c in channels]
        return direct_sum(widened, self.weights)


def joint(*parts: Part) -> Composition:
    """The joint composition of some mechanisms, one for each coordinate."""
    return Composition("joint", parts)


def parallel(parts: Sequence[Part], weights: Sequence[Fraction]) -> Composition:
    """The parallel composition: part i with probability ``weights[i]``."""
    return Composition("parallel", tuple(parts), tuple(weights))


def subsample(part: Part, probability: Fraction) -> Composition:
    """Poisson subsampling: take part with a probability in [0, 1], and send a constant otherwise."""
    if not 0 <= probability <= 1:
        raise InputError("probability", probability, "a number in [0, 1]")
    return parallel((part, constant().with_defaults()), (probability, 1 - probability))


def hamming(composition: Part, distance: int) -> Composition:
    """A joint composition whose neighbouring inputs differ in exactly ``distance`` coordinates."""
    if not isinstance(composition, Composition) or composition.operator != "joint":
        raise InputError("hamming", composition.name, "a joint composition")
    return Composition("joint", composition.parts, distance=distance)


def _root(lam: Real, order: int) -> Real:
    if isinstance(lam, Exp):
        return Exp(lam.exponent / order)
    root = constant_of(lam) ** sp.Rational(1, order)
    if not root.is_Rational:
        raise Unsupported(f"lam = {lam} has no rational root of order {order}: the explicit channel is not exact")
    return Fraction(int(root.p), int(root.q))


def _channel(part: Part, lam: Real | None) -> Channel:
    if isinstance(part, Composition):
        return part.channel(lam)
    needs = any(parameter.name == "lam" for parameter in part.parameters)
    return part.channel(lam=lam) if needs else part.channel()


def patterns(part: Part) -> list[Pattern]:
    """All ways in which two different inputs can differ, up to the order of equal parts.

    Raises
    ------
    Unsupported
        If there are more than ``LARGEST_PATTERNS``.
    """
    if isinstance(part, Mechanism):
        return [True]
    choices = [[*patterns(p), *([_nowhere(p)] if part.operator == "joint" else [])] for p in part.parts]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > LARGEST_PATTERNS:
        raise Unsupported(
            f"{part.name} has {count} ways to differ (limit {LARGEST_PATTERNS}): fix one with hamming(...)"
        )
    found: dict[Any, Pattern] = {}
    for pattern in itertools.product(*choices):
        differing = sum(_differs(p) for p in pattern)
        if differing == 0 or (part.operator == "joint" and part.distance not in (None, differing)):
            continue
        ordered = tuple(sorted(zip(map(repr, part.parts), map(repr, pattern), strict=True)))
        found.setdefault(ordered if part.operator == "joint" else pattern, pattern)
    return list(found.values())


def _nowhere(part: Part) -> Pattern:
    return False if isinstance(part, Mechanism) else tuple(_nowhere(p) for p in part.parts)


def _differs(pattern: Pattern) -> bool:
    return pattern if isinstance(pattern, bool) else any(_differs(p) for p in pattern)


def decomposition(part: Part, pattern: Pattern, *, others: Others = "blanket") -> SymbolicDecomposition:
    """The decomposition of a tree at a pair of inputs that differ as the pattern says, in the symbol ``lam``.

    Parameters
    ----------
    part : Mechanism or Composition
        The tree.
    pattern : Pattern
        One of :func:`patterns`.
    others : {"blanket", "third", "second", "first"}
        Whether to decompose against the blanket (an upper bound for all backgrounds) or exactly against a constant
        background.
    """
    table = _table(part, pattern, others, _Budget(1, None, None))
    mechanism = next(part.leaves()) if isinstance(part, Composition) else part
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
    direction: Direction = "forward",
    bits: int | None = None,
) -> Law:
    """The law of G of a tree in numbers.

    Weights become numbers at the leaves, while likelihood ratios stay symbolic and keep merging exactly: the cost of
    an m-fold joint composition is polynomial in m.

    Parameters
    ----------
    part, pattern, others
        As in :func:`decomposition`.
    exp_eps : Real
        Target ratio ``exp(eps)``.
    lam : Real or None
        Total ratio cap; None where no leaf has a budget.
    direction : {"forward", "reverse"}
        Which divergence.
    bits : int, optional
        Precision of balls where the weights are not rational.
    """
    table = _table(part, pattern, others, _Budget(1, lam, bits))
    target = constant_of(exp_eps)
    flip = 1 if direction == "forward" else -1
    atoms = [
        (evaluate_atom(first - target * second, bits), c)
        for ratios, c in table.charged
        for first, second in [ratios[::flip]]
    ]
    singular = (weights[::flip] for weights in table.singular)
    enclosed = evaluate_atom(target, bits)
    lost = sum((positive_part(a - enclosed * b) for a, b in singular), start=Fraction(0))
    return Law.from_atoms([*atoms, (Fraction(0), table.beta)], lost)


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

    def split(self, parts: int) -> _Budget:
        return _Budget(self.order * parts, self.lam, self.bits)

    def ratio(self, expression: sp.Expr) -> sp.Expr:
        """A likelihood ratio at this share."""
        if self.lam is None:
            return expression.subs(LAM, LAM ** sp.Rational(1, self.order))
        exact = isinstance(self.lam, Exp)
        share = (
            constant_of(_root(self.lam, self.order)) if exact else constant_of(self.lam) ** sp.Rational(1, self.order)
        )
        return expression.subs(LAM, share)

    def weight(self, expression: sp.Expr) -> Any:
        """A weight at this share: a number once the budget is one, or there is nothing open in the expression."""
        share = self.ratio(expression)
        return share if self.symbolic or share.free_symbols else evaluate_atom(share, self.bits)


@final
@dataclass(frozen=True, slots=True)
class _Table:
    """Components keyed by likelihood ratios: ((a/c, b/c), c), those without blanket as (a, b), and the left-over."""

    charged: tuple[tuple[Ratios, Any], ...]
    singular: tuple[tuple[Any, Any], ...]
    beta: Any

    @classmethod
    def of(cls, cells: Sequence[Cell], beta: sp.Expr, budget: _Budget) -> _Table:
        """The table of a leaf at its share of the budget."""
        charged = [
            ((budget.ratio(cell.ratios[0]), budget.ratio(cell.ratios[1])), budget.weight(cell.c))
            for cell in cells
            if cell.ratios is not None
        ]
        singular = [(budget.weight(cell.a), budget.weight(cell.b)) for cell in cells if cell.ratios is None]
        return cls(_merged(charged), tuple(singular), budget.weight(beta))

    def __mul__(self, other: _Table) -> _Table:
        both = itertools.product(self.charged, other.charged)
        charged = [((r0 * q0, r1 * q1), c * d) for ((r0, r1), c), ((q0, q1), d) in both]
        lost = itertools.chain(
            itertools.product(self.rows, other.singular), itertools.product(self.singular, other.charged_rows)
        )
        singular = tuple((a * x, b * y) for (a, b), (x, y) in lost)
        beta = self.beta + other.beta - self.beta * other.beta
        return _Table(_merged(charged), singular, beta)

    @property
    def charged_rows(self) -> list[tuple[Any, Any]]:
        """Weights (a, b) of the components that the blanket charges."""
        return [(_weight(r0, c), _weight(r1, c)) for (r0, r1), c in self.charged]

    @property
    def rows(self) -> list[tuple[Any, Any]]:
        """Weights (a, b) of all components."""
        return [*self.charged_rows, *self.singular]

    def scaled(self, weight: Any) -> _Table:
        return _Table(
            tuple((ratios, weight * c) for ratios, c in self.charged),
            tuple((weight * a, weight * b) for a, b in self.singular),
            weight * self.beta,
        )

    def __add__(self, other: _Table) -> _Table:
        return _Table(
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


@cache
def _table(part: Part, pattern: Pattern, others: Others, budget: _Budget) -> _Table:
    if isinstance(part, Mechanism):
        derived = _leaf(part.with_defaults(), bool(pattern), others)
        return _Table.of(derived.cells, derived.beta, budget)
    assert isinstance(pattern, tuple)
    if part.operator == "parallel":
        tables = [_table(p, q, others, budget) for p, q in zip(part.parts, pattern, strict=True)]
        shares = [constant_of(w) if budget.symbolic else w for w in part.weights]
        return reduce(lambda x, y: x + y, (t.scaled(w) for t, w in zip(tables, shares, strict=True)))
    share = budget.split(len(part.parts))
    return reduce(lambda x, y: x * y, (_table(p, q, others, share) for p, q in zip(part.parts, pattern, strict=True)))


def _leaf(mechanism: Mechanism, differs: bool, others: Others) -> SymbolicDecomposition:
    if others != "blanket":
        return background_cells(mechanism, others, differs=differs)
    return optimal_decomposition(mechanism) if differs else same_input_cells(mechanism)


def common_backgrounds(part: Part) -> list[Others]:
    """The constant backgrounds that every leaf of a tree can count."""
    leaves = [part] if isinstance(part, Mechanism) else list(part.leaves())
    third: list[Others] = ["third"] if all(reaches(leaf.with_defaults()) for leaf in leaves) else []
    return [*third, "second", "first"]


def open_parameters(part: Part) -> list[Parameter]:
    """Parameters of the leaves that have no value yet, other than the common budget."""
    leaves = [part] if isinstance(part, Mechanism) else list(part.leaves())
    return [p for leaf in leaves for p in leaf.with_defaults().parameters if p.symbol != LAM and not p.has_limit]
