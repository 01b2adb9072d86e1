"""Section 3.3: invariant weights and the orbit polytope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import OrbitPolytope, act_on_channel, average_weights
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cases import gather
from proofs_checks.ldp_tradeoff._cones import maximal_weights
from proofs_checks.ldp_tradeoff._orbits import column_sum, moved_levels
from proofs_checks.ldp_tradeoff._rows import weights_agree
from symshuffle.channels.geometry.extremal import MaximalPolytope, proper_subsets
from symshuffle.channels.geometry.groups import (
    SymmetryGroup,
    cyclic_group,
    dihedral_group,
    product_of_symmetric_groups,
    symmetric_group,
)
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    serving,
)

GROUPS: Final = (
    ("Z_4", cyclic_group(4)),
    ("D_5", dihedral_group(5)),
    ("Sym(4)", symmetric_group(4)),
    ("Sym(2)xSym(2)", product_of_symmetric_groups([(0, 1), (2, 3)])),
)


def _moved(g: Any, weights: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Section 3.3: weights after moving by g, as functions on elements of an orbit."""
    return lambda y: weights(g**-1 * y)


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of a finite group: inverse, and image of a subset."""

    group: SymmetryGroup
    images: tuple[int, ...]

    def __pow__(self, power: int) -> _Element:
        """The inverse, as that is the only power."""
        inverse = tuple(self.images.index(x) for x in range(self.group.m))
        return _Element(self.group, inverse if power < 0 else self.images)

    def __mul__(self, subset: int) -> int:
        return self.group.act(self.images, subset)


def _every_group(statement: Statement) -> Iterator[Comparison]:
    """Any group: two elements g, h are words, an orbit is its words times a subset; symbolic.

    Every group with two marked elements is an image of the free group on them, and so is its orbit.
    """
    from sympy.combinatorics.free_groups import free_group

    words, g, h = free_group("g h")

    def open_weights(word: Any) -> Any:
        return sp.Symbol(f"c({word})")

    y, one = words.identity, words.identity
    moved = {element: statement(element, open_weights) for element in (g, h, one)}
    yield identity(moved[one](y), open_weights(y), at="every group, c, y: the identity moves nothing")
    twice, at_once = statement(g, moved[h])(y), statement(g * h, open_weights)(y)
    yield identity(twice, at_once, at="every group, c, y: h, then g, is g h")
    # c is moved onto itself at every place exactly where the weights of g^-1 y and y agree, for all g and y: one orbit.
    yield identity(moved[g](g * y), open_weights(y), at="every group, c, y: g y has what y had")
    change = moved[g](y) - open_weights(y)
    yield identity(change, open_weights(g**-1) - open_weights(y), at="every group, c, y: fixed exactly if constant")


def _check_invariant_weights(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any group, by words: the stated motion is an action, and fixes what is constant on orbits; symbolic.

    For four groups: points moved as stated stay in the polytope, and their channels move along; exact. Averages over
    the group are fixed, and constant on orbits.
    """
    yield from serving("groups", _every_group(statement))
    for name, group in GROUPS:
        polytope = MaximalPolytope(group.m, cases.LAM)
        for trial in range(4):
            point = cases.weights(rng, group.m, cases.LAM)
            for g in group.generators:
                moved = _all_moved(statement, group, g, point)
                yield decide(polytope.contains(moved), at=f"{name}: stays inside, {trial}", claimed="yes")
                acted = gather(act_on_channel(g, polytope.channel(point)))
                target = gather(polytope.channel(moved))
                yield compare(acted, target, at=f"{name}: moving weights moves the channel, {trial}")
            averaged = average_weights(point, group)
            fixed = all(_all_moved(statement, group, g, averaged) == averaged for g in group.generators)
            constant = all(len({averaged.get(y, 0) for y in group.orbit_of(subset)}) == 1 for subset in averaged)
            yield compare(fixed, constant, at=f"{name}: fixed by generators, constant on orbits, {trial}")
            yield compare(fixed, polytope.contains(averaged), at=f"{name}: average is a fixed point inside, {trial}")


def _all_moved(
    statement: Statement, group: SymmetryGroup, g: tuple[int, ...], weights: Mapping[int, Fraction]
) -> dict[int, Fraction]:
    """All weights that are not 0 after moving by an element of a finite group."""
    moved = statement(_Element(group, tuple(g)), lambda y: weights.get(y, Fraction(0)))
    return {y: moved(y) for y in proper_subsets(group.m) if moved(y)}


def _orbit_coefficient(lam: Any, size: Any, inside: Any) -> Any:
    """Equation (25): the contribution of one unit of weight on an orbit to the column sum of an input."""
    return lam * inside + (size - inside)


def _check_orbit_polytope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For four groups at lam = 7/3, every orbit and input: column sums counted one by one, as stated; exact.

    Also the library's sums and dimension, vertices that lift, and the numbers of orbits for m = 3 to 10.
    """
    lam = Fraction(7, 3)
    for name, group in GROUPS:
        polytope = OrbitPolytope(group, lam)
        inputs = group.input_orbits()
        for orbit in polytope.orbits:
            subsets = group.orbit_of(orbit.representative)
            for i, block in enumerate(inputs):
                for x in block:  # any representative of the orbit of inputs
                    summed = sum(lam if y >> x & 1 else 1 for y in subsets)
                    inside = sum(y >> x & 1 for y in subsets)
                    yield compare(
                        summed,
                        statement(lam, len(subsets), inside),
                        at=f"{name}, orbit of {orbit.representative}, x={x}",
                    )
                    yield compare(orbit.column_sum(i, lam), Fraction(summed), at=f"{name}, library, x={x}")
        yield compare(polytope.dimension, len(polytope.orbits) - len(inputs), at=f"{name}: dimension")
        for vertex in polytope.vertices():
            lifted = polytope.lift(vertex)
            yield decide(MaximalPolytope(group.m, lam).contains(lifted), at=f"{name}: vertex lifts", claimed="inside")
            yield compare(len(vertex), len(inputs), "<=", at=f"{name}: support of a vertex")
    counts = {"Z": (2, 4, 6, 12, 18, 34, 58, 106), "D": (2, 4, 6, 11, 16, 28, 44, 76)}
    for m, cyclic, dihedral in zip(range(3, 11), counts["Z"], counts["D"], strict=True):
        yield compare(len(list(cyclic_group(m).subset_orbits())), cyclic, at=f"necklaces, m={m}")
        yield compare(len(list(dihedral_group(m).subset_orbits())), dihedral, at=f"bracelets, m={m}")


def _invariant_class(weight: Any, moved: Any) -> Any:
    """Theorem 3.15: whether a class can be invariant if a subset and its image have these weights."""
    return sp.Eq(weight, moved)


def _fixed(statement: Statement, group: SymmetryGroup, weights: Mapping[int, Fraction]) -> bool:
    """Whether a point is invariant by what is stated of each subset and its image."""
    subsets = {group.act(g, y) for y in weights for g in group.generators} | set(weights)
    return all(
        statement(weights.get(y, Fraction(0)), weights.get(group.act(g, y), Fraction(0))) == sp.true
        for y in subsets
        for g in group.generators
    )


def _respects_equivalence() -> bool:
    """Whether a permutation of the inputs carries a post-processing of a channel to that of the carried channel."""
    k, m, n = sp.symbols("k m n", integer=True, positive=True)
    turn, channel, kernel = sp.MatrixSymbol("X", k, k), sp.MatrixSymbol("Q", k, m), sp.MatrixSymbol("W", m, n)
    return bool((turn * (channel * kernel)).doit() == ((turn * channel) * kernel).doit())


def _orbits_for_all(statement: Statement) -> Iterator[Comparison]:
    """Weights of a subset and its image under any group element, and an orbit with one weight; symbolic."""
    c, gap = sp.symbols("c g", positive=True)
    lam = 1 + sp.Symbol("w", positive=True)
    acted, image, *_ = moved_levels(lam)
    # g Q(c) has the weight of y on the row of g y. If Q(c) is equivalent to an invariant channel it is to g Q(c), whose
    # weights then agree with its own (Theorem 3.10); if weights agree on images, g Q(c) is Q(c) with rows exchanged.
    carried = _respects_equivalence() and sp.expand(acted - image) == 0
    for weight, moved in ((c, c), (c, c + gap), (c + gap, c), (sp.Integer(0), gap)):
        claimed = statement(weight, moved)
        possible = sp.true if carried and weights_agree(weight, moved) else sp.false
        at = f"weights {weight} of y and {moved} of g y, any group, m and lam"
        yield from serving("invariant", [decide(possible == claimed, at=at, claimed=str(claimed), symbolic=True)])
    # One weight per orbit: what it adds to a column is what (24) counts, and it is read off at any subset of the orbit.
    size, inside = sp.symbols("N r", positive=True)
    counted = sp.expand(c * column_sum(size, inside, lam) - c * (lam * inside + size - inside))
    claimed = statement(c + counted, c)
    at = "the equation of an input in weights of subsets and of orbits"
    yield from serving("one weight per orbit", [decide(claimed == sp.true, at=at, claimed="equal", symbolic=True)])


def _check_orbit_bijection(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any group, m and lam: a class is invariant exactly where the weights of a subset and its image are as stated.

    Symbolic; then four groups with random, averaged and half averaged points by canonical forms, and vertices recovered
    from their channels, in exact rationals.
    """
    yield from _orbits_for_all(statement)
    for name, group in GROUPS:
        polytope = MaximalPolytope(group.m, cases.LAM)
        for trial in range(5):
            point = cases.weights(rng, group.m, cases.LAM)
            averaged = average_weights(point, group)
            # Half way to the average the support is that of the average, invariant, while the weights are not.
            between = {y: (point.get(y, Fraction(0)) + weight) / 2 for y, weight in averaged.items()}
            for label, weights in (("random", point), ("averaged", averaged), ("half averaged", between)):
                channel = polytope.channel(weights)
                # g Q is equivalent to Q for all g exactly if the canonical forms agree.
                same = all(gather(act_on_channel(g, channel)) == gather(channel) for g in group.generators)
                yield compare(same, _fixed(statement, group, weights), at=f"{name}, {label} weights {trial}")
        orbits = OrbitPolytope(group, cases.LAM)
        lifted = [orbits.lift(vertex) for vertex in orbits.vertices()]
        recovered = [maximal_weights(polytope.channel(weights), cases.LAM) for weights in lifted]
        yield compare(recovered, lifted, at=f"{name}: orbit weights recovered from their channels")


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.def-3.13",
        kind="definition",
        title="weights constant on orbits",
        text=(
            Clause("moved", r"$(gc)_y=c_{g^{-1}y}$, and $c$ is invariant if all $g$ fix it.", "definition"),
            Clause("orbits", "That is, if it is constant on orbits of subsets."),
        ),
        source="ldp_tradeoff, Definition 3.13",
        assumptions=("a finite group",),
        scope="every group, by words in two elements; four groups, 4 random points each: channels move along, averages",
        grade="proved",
        printed=_moved,
        check=_check_invariant_weights,
        controls=(
            Control("the inverse forgotten", lambda g, weights: lambda y: weights(g * y)),
            Control("nothing moved", lambda g, weights: weights),
        ),
        expected="definition",
        obligations=for_all("groups", clause="orbits"),
    ),
    Claim(
        id="ldp_tradeoff.def-3.14",
        kind="definition",
        title="polytope of orbit weights",
        text=r"$\sum_O w_O\tilde r_{\mathfrak O,O}=1$ with $\tilde r=\lambda r+(|O|-r)$, $r=\#\{y\in O: x\in y\}$.",
        source="ldp_tradeoff, Definition 3.14, equations (24)-(26)",
        assumptions=("a finite group",),
        scope="four groups at lam = 7/3, every orbit and every input; all vertices; orbit counts for m = 3..10",
        grade="exact-cases",
        printed=_orbit_coefficient,
        check=_check_orbit_polytope,
        controls=(
            Control("the order of the group instead of the orbit", lambda lam, size, r: lam * r + (2 * size - r)),
        ),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.thm-3.15",
        kind="statement",
        title="invariant maximal channels are the points of the orbit polytope",
        text=(
            r"$w\mapsto Q^{(w)}_{ex,G}$ is a bijection between $\mathcal "
            r"S^G$ and invariant maximal channels up to equivalence."
        ),
        source="ldp_tradeoff, Theorem 3.15",
        assumptions=("a finite group", "at least two inputs"),
        scope="any group, m, lam, weights of a subset and its image; four groups, 15 points each; vertices recovered",
        grade="proved",
        printed=_invariant_class,
        check=_check_orbit_bijection,
        controls=(
            Control("an invariant support is enough", lambda weight, moved: sp.Eq(sp.sign(weight), sp.sign(moved))),
            Control("no two weights agree", lambda weight, moved: sp.false),
        ),
        expected="holds",
        obligations=for_all("weight", "moved", "invariant", "one weight per orbit"),
    ),
)
