r"""Compositions of mechanisms, as trees whose decompositions follow from those of the leaves.

- ``joint``: each coordinate of the input goes through a mechanism of its own; decompositions multiply
  (decomposition, Theorem 9).
- ``parallel``: one of several mechanisms is drawn and named with its output; decompositions mix (Theorem 11).
- ``subsample``: parallel with the constant mechanism (Example 4.4).
- ``hamming``: a joint composition whose neighbouring inputs differ in exactly so many coordinates (Section 8).

Components are keyed by their likelihood ratios, so that equal ratios merge as they arise and an m-fold joint
composition stays polynomial in m (:mod:`symshuffle.decompositions.tables`). All leaves share one total budget: under
``joint`` each of m parts gets the m-th root of ``lam``.

A Laplace leaf has a continuum of ratios. It enters as finitely many components from one side in convex order
(:mod:`symshuffle.decompositions.laplace`), or, where nothing but mixtures stands above it, as it is
(:func:`mixed_law`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from typing import Any, Final, TypeAlias, final

import sympy as sp

from symshuffle.channel import Channel, direct_sum
from symshuffle.choices import Direction, Operator, Others, Side, choice, replace_choice
from symshuffle.decompositions.backgrounds import reaches
from symshuffle.decompositions.composed import Composed
from symshuffle.decompositions.counting import Cell
from symshuffle.decompositions.laplace import laplace_cells
from symshuffle.decompositions.symbolic import SymbolicDecomposition, counted_decomposition, evaluate_atom
from symshuffle.decompositions.tables import Budget, Table, root
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.finite import constant
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.parameters import read_budget
from symshuffle.mechanisms.symbolic import LAM, Parameter, constant_of
from symshuffle.mixed_law import MixedLaw
from symshuffle.numbers import Ball, Real, positive_part

Part: TypeAlias = "Mechanism | Laplace | Composition"

Pattern: TypeAlias = "bool | int | tuple[Any, ...]"
"""Which leaves of a tree see the two inputs differ: a truth value for a leaf, a tuple of patterns for a tree.

For a leaf that does not treat all pairs of inputs alike a number stands for the class of pairs in which they differ.
"""

LARGEST_PATTERNS: Final = 4096
"""Ways to differ beyond which a composition is refused."""


LARGEST_PRODUCTS: Final = 60_000
"""Products of components beyond which a composition is refused: each takes about a millisecond."""


_LOST_BITS: Final = 12
"""Bits that a difference of two ratios may lose to cancellation before it is taken symbolically."""


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
        if self.distance is not None and not 1 <= self.distance <= len(self.parts):
            raise InputError("distance", self.distance, f"an integer from 1 to {len(self.parts)}, the coordinates")

    @property
    def name(self) -> str:
        """The tree as it is written on the command line."""
        inner = [_written(part) for part in self.parts]
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
    return int(size) if size.is_Integer and not _silent(part) else None


def _written(part: Part) -> str:
    if isinstance(part, Laplace):
        return f"laplace(lam, domain={part.domain}, cells={part.cells})"
    return part.name if isinstance(part, Composition) else repr(part)


def _channel(part: Part, lam: Real | None) -> Channel:
    if isinstance(part, Composition):
        return part.channel(lam)
    if isinstance(part, Laplace):
        raise Unsupported("laplace has a continuum of outputs: there is no explicit channel")
    needs = any(parameter.name == "lam" for parameter in part.parameters)
    return part.channel(lam=lam) if needs else part.channel()


def patterns(part: Part) -> list[Pattern]:
    """All ways in which two different inputs can differ, up to the order of equal parts.

    Raises
    ------
    Unsupported
        If there are more than ``LARGEST_PATTERNS``.
    """
    if not isinstance(part, Composition):
        return _classes(part)
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
        differing = sum(map(_differs, pattern))
        if differing != 0 and part.distance in (None, differing):
            found.append(pattern)
    return found


def _classes(leaf: Mechanism | Laplace) -> list[Pattern]:
    """The ways in which two inputs of a leaf can differ."""
    if isinstance(leaf, Laplace) or leaf.pair.by is None:
        return [True]
    return [int(one.pair.value) for one in leaf.pair_classes() if one.pair.value is not None]


def is_real(part: Part, pattern: Pattern) -> bool:
    """Whether two inputs can differ as a pattern says.

    Parts of a parallel composition share their input. Where several of them can differ in more than one way, their
    patterns are combined freely, which covers more than there is; real are those in which equal parts differ alike.
    """
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
    return tuple(_nowhere(p) for p in part.parts) if isinstance(part, Composition) else False


def _differs(pattern: Pattern) -> bool:
    return any(_differs(p) for p in pattern) if isinstance(pattern, tuple) else bool(pattern)


def named_classes(part: Part, pattern: Pattern) -> Iterator[str]:
    """In words, in which classes of pairs the two inputs of those leaves are that do not treat all pairs alike."""
    if isinstance(part, Composition) and isinstance(pattern, tuple):
        for p, way in zip(part.parts, pattern, strict=True):
            yield from named_classes(p, way)
    elif isinstance(part, Mechanism) and _differs(pattern):
        chosen = _at_class(part, pattern)
        if chosen.pair.value is not None:
            yield f"{part.name}: {chosen.pair}"


def _at_class(leaf: Mechanism, pattern: Pattern) -> Mechanism:
    """A leaf at the class of pairs that a pattern names; equal inputs are a pair of no class."""
    if isinstance(pattern, bool) or leaf.pair.by is None:
        return leaf
    return leaf.at(**{str(leaf.pair.by): pattern})


def decomposition(part: Part, pattern: Pattern, *, others: Others | str = "blanket") -> SymbolicDecomposition:
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

    Raises
    ------
    Unsupported
        If a leaf is Laplace noise, whose components are a continuum.
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

    Parameters
    ----------
    part, pattern, others
        As in :func:`decomposition`.
    exp_eps : Real
        Target ratio ``exp(eps)``.
    lam : Real or None
        Total ratio cap; None where no leaf has a budget.
    side : {"upper", "lower"}
        On which side of the law of G, where the tree has Laplace leaves.
    direction : {"forward", "reverse"}
        Which divergence.
    bits : int, optional
        Precision of balls where the weights are not rational.
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
        raise InputError("lam", lam, f"a total ratio cap, which {_written(part)} shares out")
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


def components(part: Part, pattern: Pattern) -> int:
    """At most so many components a tree has at a pattern: equal parts that differ alike merge to multisets."""
    if not isinstance(part, Composition):
        return 2 if isinstance(part, Laplace) else len(_leaf(part, _differs(pattern), Others.BLANKET).cells)
    assert isinstance(pattern, tuple)
    sizes: dict[tuple[Part, Pattern], int] = {}
    for one in zip(part.parts, pattern, strict=True):
        sizes[one] = sizes.get(one, 0) + 1
    each = [(components(*one), count) for one, count in sizes.items()]
    if part.operator == "parallel":
        return sum(size for size, _ in each)
    return math.prod(math.comb(count + size - 1, count) for size, count in each)


def check_size(part: Composition, ways: Sequence[Pattern]) -> None:
    """Refuse a tree whose components take minutes to multiply.

    Raises
    ------
    Unsupported
        If there are more than ``LARGEST_PRODUCTS`` products.
    """
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
        derived = _leaf(_at_class(part, pattern).with_defaults(), bool(pattern), others)
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
    if others is Others.THIRD and _silent(mechanism):
        others = Others.SECOND
    return counted_decomposition(mechanism, differs=differs, others=others)


def _silent(mechanism: Mechanism) -> bool:
    """Whether a mechanism sends the same whatever its input: any input of it stands for any other."""
    return all(len(output_class.states) == 1 for output_class in mechanism.classes)


def leaves(part: Part) -> list[Mechanism | Laplace]:
    """The leaves of a tree, which may be one itself."""
    return list(part.leaves()) if isinstance(part, Composition) else [part]


def common_backgrounds(part: Part) -> list[Others]:
    """The constant backgrounds that every leaf of a tree can count; Laplace noise on a bit has no third input."""
    named = [leaf.with_defaults() if isinstance(leaf, Mechanism) else None for leaf in leaves(part)]
    all_reach = all(leaf is not None and (_silent(leaf) or reaches(leaf)) for leaf in named)
    third = [Others.THIRD] if all_reach else []
    return [*third, Others.SECOND, Others.FIRST]


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
