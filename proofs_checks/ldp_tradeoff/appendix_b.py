"""Appendix B: the LDP cone, its extreme rows, and the counting identities of the proofs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import OrbitPolytope, act_on_channel
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cases import gather
from proofs_checks.ldp_tradeoff._cones import PolyhedralCone
from proofs_checks.ldp_tradeoff._orbits import column_sum, incidence, moved_levels
from symshuffle.channels.geometry.extremal import MaximalPolytope, cone_inequalities, in_cone, staircase_row
from symshuffle.channels.geometry.groups import cyclic_group, dihedral_group, symmetric_group
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    identity,
    serving,
)

Vector = tuple[Any, ...]


def _vectors(rng: np.random.Generator, m: int, lam: Fraction, count: int) -> Iterator[tuple[Fraction, ...]]:
    """Random vectors: inside the cone, outside, on its boundary, and with a negative entry."""
    for trial in range(count):
        top = lam if trial % 2 else lam * 2
        entries = [1 + (top - 1) * Fraction(int(v), 4) for v in rng.integers(0, 5, size=m)]
        if trial % 5 == 4:
            entries[0] = -entries[0]
        yield tuple(entries)


def _in_ldp_cone(v: Vector, lam: Any) -> bool:
    """Equation (52)."""
    return all(entry >= 0 for entry in v) and all(lam * a - b >= 0 for a in v for b in v)


def _check_cone(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For m = 2 to 4, three levels, vectors at random and at the edge: membership in the library's cone as stated."""
    for lam in cases.LEVELS:
        for m in (2, 3, 4):
            cone = PolyhedralCone(cone_inequalities(m, lam))
            edge = [(Fraction(1),) * (m - 1) + (lam * factor,) for factor in (Fraction(1), Fraction(201, 200))]
            for vector in [*edge, *_vectors(rng, m, lam, 20)]:
                claimed = statement(vector, lam)
                yield compare(in_cone(vector, lam), claimed, at=f"m={m}, lam={lam}")
                yield compare(cone.contains(vector), claimed, at=f"as inequalities, m={m}, lam={lam}")


def _constraint(z: int, other: int, x: int, lam: Any) -> Any:
    """Equation (54)."""
    return lam if x == z else -1 if x == other else 0


def _product(statement: Statement, lam: Any, entries: tuple[Any, Any, Any]) -> Any:
    """A row of T times a vector: the entries at z and at z', and the sum of all others, which share a coefficient.

    By symmetry there is one kind of ordered pair (0, 1), and one kind of input 2 that is neither.
    """
    return sum((statement(0, 1, x, lam) * entry for x, entry in enumerate(entries)), sp.Integer(0))


def _rows_for_every_size(statement: Statement) -> Iterator[Comparison]:
    """Any m and lam: a stated row at one pair of inputs, times that pair and the sum of all others; symbolic."""
    excess = sp.Symbol("w", positive=True)
    lam, (v, other, rest) = 1 + excess, sp.symbols("v v' r", nonnegative=True)
    forward, backward = _product(statement, lam, (v, other, rest)), _product(statement, lam, (other, v, rest))
    # (2) at one output and the pair of inputs (z, z'): so the inequalities of a channel are those of its rows.
    yield from serving(
        "row by row", [identity(forward, lam * v - other, at="(54) times a row is (2), any m, any pair")]
    )
    sign = sp.expand(lam * forward + backward - (lam**2 - 1) * v)
    at = "the pairwise inequalities imply v >= 0, and v = 0 if -v satisfies them as well"
    implied = sign == 0 and sp.expand(lam**2 - 1).is_positive is True
    yield from serving("pointed", [decide(implied, at=at, claimed="(lam^2 - 1) v", symbolic=True)])
    ones = sp.expand(_product(statement, lam, (sp.Integer(1), sp.Integer(1), rest)))
    yield from serving(
        "non-trivial", [decide(ones.is_positive is True, at="the all-ones vector", claimed="inside", symbolic=True)]
    )


def _check_rows(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any m, lam and pair of inputs: a stated row times a vector is inequality (2) for that pair; symbolic.

    The step: both orders of a pair imply v >= 0, and v = 0 if -v satisfies them too. Then m = 2 to 4 at three levels:
    the library's matrix, and 54 channels row by row, in exact rationals.
    """
    yield from _rows_for_every_size(statement)
    for m, lam in itertools.product((2, 3, 4), cases.LEVELS):
        printed = [
            tuple(Fraction(statement(z, other, x, lam)) for x in range(m))
            for z, other in itertools.permutations(range(m), 2)
        ]
        signs = [tuple(Fraction(int(x == z)) for x in range(m)) for z in range(m)]
        yield compare(list(cone_inequalities(m, lam)), [*printed, *signs], at=f"matrix of the cone, m={m}, lam={lam}")
        cone = PolyhedralCone((*printed, *signs))
        yield decide(cone.is_pointed(), at=f"pointed, m={m}, lam={lam}", claimed="yes")
        yield decide(cone.contains((Fraction(1),) * m), at=f"non-trivial, m={m}, lam={lam}", claimed="yes")
        for trial in range(6):
            made = cases.capped_channel(rng, m, 2, lam) if trial % 2 else next(cases.channels(rng, 1, m))
            rowwise = all(cone.contains(column) for column in made.columns())  # type: ignore[arg-type]
            yield compare(bool(made.is_ldp(lam)), rowwise, at=f"row by row, m={m}, lam={lam}, channel {trial}")


def _two_levels(bottom: Any, top: Any, between: Any, ratio: Any, lam: Any) -> Any:
    """Lemma B.5 for a vector with so many entries c, so many entries ``ratio`` c, and so many strictly between."""
    return sp.And(sp.Eq(between, 0), sp.Eq(sp.factor(ratio - lam), 0), sp.Ge(bottom, 1), sp.Ge(top, 1))


def _kernel_of_levels(bottom: Any, top: Any, between: Any, *, tight: bool) -> Any:
    """The dimension of the kernel of the active constraints lam v_z = v_z' of a vector with such levels.

    They are active between the bottom and the top, if these are a factor lam apart. Then every top entry of a vector u
    in the kernel is lam times any bottom entry: all top entries are equal, and so are all bottom entries, which leaves
    one dimension. An entry of another level occurs in no active constraint. Without an active constraint all are free.
    """
    if not tight or 0 in (bottom, top):
        return bottom + top + between
    lam, low = sp.Symbol("lambda", positive=True), sp.Symbol("u_z", real=True)
    one_top, other_top, other_low = sp.symbols("u_1 u_2 u_3", real=True)
    (solved,) = sp.linsolve(
        [lam * low - one_top, lam * low - other_top, lam * other_low - one_top], [one_top, other_top, other_low]
    )
    linked = [solved[0] - lam * low, solved[1] - solved[0], solved[2] - low]
    return 1 + between if all(sp.expand(difference) == 0 for difference in linked) else sp.nan


def _check_extreme(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any number of entries per level: the kernel of the active rows is a line exactly where stated; symbolic.

    By Proposition A.5 that is extreme. Then all rays of the cone by exhaustion for m = 2 to 4, in exact rationals.
    """
    bottom, top = (1 + count for count in sp.symbols("a b", integer=True, nonnegative=True))
    more = sp.Symbol("e", integer=True, positive=True)
    excess, share = sp.symbols("w s", positive=True)
    lam = 1 + excess
    below = (lam + share) / (1 + share)  # any ratio from 1 to lam, without the ends
    zero = sp.Integer(0)
    for name, levels, ratio in (
        ("a factor lam apart, nothing between", (bottom, top, zero), lam),
        ("a factor lam apart, e entries between", (bottom, top, more), lam),
        ("less than lam apart", (bottom, top, zero), below),
        ("less than lam apart, e entries between", (bottom, top, more), below),
        ("constant, the subset of no inputs", (1 + bottom, zero, zero), lam),
        ("constant, the subset of all inputs", (zero, 1 + top, zero), lam),
    ):
        kernel = _kernel_of_levels(*levels, tight=ratio == lam)
        extreme = sp.Eq(sp.expand(kernel - 1), 0)  # Proposition A.5
        claimed = statement(*levels, ratio, lam)
        at = f"{name}: kernel of dimension {kernel}"
        yield decide(extreme == claimed, at=at, claimed=str(claimed), symbolic=True)
    outside = (lam * zero - share).is_negative is True  # an entry s beside an entry 0
    yield decide(outside, at="no other vectors: one with an entry 0 is 0", claimed="outside", symbolic=True)
    for m, level in itertools.product((2, 3, 4), cases.LEVELS):
        rays = PolyhedralCone(cone_inequalities(m, level)).extreme_rays()
        number = sp.Rational(level.numerator, level.denominator)
        rows = [
            staircase_row(y, m, level) if 0 < y < 2**m - 1 else (Fraction(1),) * m
            for y in range(2**m)
            if statement(sp.Integer(m - y.bit_count()), sp.Integer(y.bit_count()), zero, number, number) == sp.true
        ]
        claimed = {tuple(v / max(row) for v in row) for row in rows}
        yield compare(set(rays), claimed, at=f"all rays of the cone by exhaustion, m={m}, lam={level}")


def _identities(m: Any, size: Any, k: Any, lam: Any, before: Any, after: Any) -> tuple[Any, Any, Any, Any]:
    """Equations (77), (78) and (79), incidence r, coefficient r-tilde and weight of an orbit; the level in (74).

    The last is the level of the row of g y at the input x, where ``before`` and ``after`` are 1 if the preimage of x
    under g, or its image, is in y, and 0 otherwise.
    """
    return size * k / m, size / m * (k * lam + m - k), m / (size * (k * lam + m - k)), 1 + (lam - 1) * before


def _check_identities(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any transitive group, orbit, subset and lam: incidence, coefficient, weight and level as stated; symbolic.

    By counting pairs of an input and a subset twice. Then every orbit of three groups and 5 random points, in exact
    rationals.
    """
    m, size, k, lam = sp.symbols("m N k lambda", positive=True)
    acted, image, before, after = moved_levels(lam)
    inside, coefficient, weight, level = statement(m, size, k, lam, before, after)
    yield identity(incidence(m, size, k), inside, at="(77) by counting pairs, any transitive group")
    yield identity(column_sum(size, inside, lam), coefficient, at="(25) with (77) gives (78)")
    yield identity(weight * column_sum(size, incidence(m, size, k), lam), 1, at="(76) gives (79)")
    yield identity(acted, level, at="(74): the row of y in the channel acted on, any g and y")
    yield identity(image, level, at="(74): the row of g y in the channel of the moved weights, any g and y")
    at = "(69): an orbit with one weight, any incidence r"
    r, w = sp.symbols("r w", positive=True)
    yield identity(w * column_sum(size, r, lam), w * (lam * r + (size - r)), at=at)
    for name, group in (("Z_6", cyclic_group(6)), ("D_5", dihedral_group(5)), ("Sym(5)", symmetric_group(5))):
        polytope = OrbitPolytope(group, cases.LAM)
        for orbit in polytope.orbits:
            found = statement(Fraction(group.m), orbit.size, orbit.representative.bit_count(), cases.LAM, 0, 0)
            yield compare(
                Fraction(orbit.incidences[0]), found[0], at=f"{name}: incidence of orbit {orbit.representative}"
            )
            yield compare(orbit.column_sum(0, cases.LAM), found[1], at=f"{name}: coefficient")
    group, family = cyclic_group(4), MaximalPolytope(4, cases.LAM)
    for trial in range(5):
        point = cases.weights(rng, 4, cases.LAM)
        g = group.generators[0]
        moved = {group.act(g, subset): w for subset, w in point.items()}
        acted = gather(act_on_channel(g, family.channel(point)))
        yield compare(acted, gather(family.channel(moved)), at=f"(74): g Q(c) = Q(gc), point {trial}")
        orbits = OrbitPolytope(group, cases.LAM)
        sums = sum((w * orbits.orbits[o].column_sum(0, cases.LAM) for o, w in orbits.vertices()[trial % 4].items()),
                   Fraction(0))  # fmt: skip
        yield compare(sums, Fraction(1), at=f"(69), vertex {trial}")


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.def-B.1",
        kind="definition",
        title="cone of admissible rows",
        text=r"$\mathcal K=\{v\ge0:\lambda v_x-v_{x'}\ge0\ \forall x,x'\}$.",
        source="ldp_tradeoff, Definition B.1",
        assumptions=("lam > 1", "at least two inputs"),
        scope="180 random vectors and 18 at the edge, m = 2..4 at three levels",
        grade="exact-cases",
        printed=_in_ldp_cone,
        check=_check_cone,
        controls=(Control("a ratio one percent larger", lambda v, lam: _in_ldp_cone(v, lam * Fraction(101, 100))),),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.lem-B.2",
        kind="statement",
        title="local privacy row by row",
        text=(
            Clause("rows", r"$Q$ is LDP exactly if all its rows are in $\mathcal K$."),
            Clause("cone", r"$\mathcal K$ is a pointed non-trivial cone with matrix $T\oplus I$."),
        ),
        source="ldp_tradeoff, Lemma B.2",
        assumptions=("lam > 1", "at least two inputs"),
        scope="all m and lam, by one pair of inputs and the sum of the others; m = 2..4 at three levels, 54 channels",
        grade="proved",
        printed=_constraint,
        check=_check_rows,
        controls=(
            Control("roles exchanged", lambda z, other, x, lam: _constraint(other, z, x, lam)),
            Control("a negative entry elsewhere", lambda z, other, x, lam: lam if x == z else -1),
        ),
        expected="holds",
        obligations=(
            *by_cases("z", "other", "x", clause=("rows", "cone")),
            *for_all("lam", clause=("rows", "cone")),
            *for_all("row by row", clause="rows"),
            *for_all("pointed", "non-trivial", clause="cone"),
        ),
    ),
    Claim(
        id="ldp_tradeoff.lem-B.5",
        kind="statement",
        title="extreme rows are the two-level ones",
        text=r"$v$ is extreme exactly if $v=c\lambda$ on a non-empty proper subset and $c$ off it, $c>0$.",
        source="ldp_tradeoff, Lemma B.5",
        assumptions=("at least two inputs", "lam > 1"),
        scope="all m, lam: kernels with any numbers of entries per level; all rays by exhaustion for m = 2..4",
        grade="proved",
        printed=_two_levels,
        check=_check_extreme,
        controls=(
            Control("the full set too", lambda a, b, e, r, lam: _two_levels(a + 1, b, e, r, lam)),
            Control("not singletons", lambda a, b, e, r, lam: _two_levels(a, b - 1, e, r, lam)),
            Control("three levels", lambda a, b, e, r, lam: _two_levels(a, b, sp.Integer(0), r, lam)),
        ),
        expected="holds",
        obligations=for_all("bottom", "top", "between", "ratio", "lam"),
    ),
    Claim(
        id="ldp_tradeoff.eq-69-75",
        kind="statement",
        title="counting identities behind the orbit results",
        text=(
            Clause("counting", "$mr=|O|k$."),
            Clause("totals", r"$\tilde r=\frac{|O|}m(k\lambda+m-k)$."),
            Clause("weights", r"$w_O=1/\tilde r$."),
            Clause("action", "$gQ^{(c)}_{ex}=Q^{(gc)}_{ex}$."),
        ),
        source="ldp_tradeoff, equations (69)-(79)",
        assumptions=("for (77)-(79): a transitive group",),
        scope="any transitive group, orbit, subset and lam; every orbit of three groups; 5 random points",
        grade="proved",
        printed=_identities,
        check=_check_identities,
        controls=(
            Control(
                "incidence k instead of |O| k / m", lambda m, size, k, *rest: (k, *_identities(m, size, k, *rest)[1:])
            ),
            Control(
                "(74) moves by the inverse",
                lambda m, size, k, lam, before, after: _identities(m, size, k, lam, after, before),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("m", "size", "k", clause=("counting", "totals", "weights")),
            *for_all("lam", clause=("totals", "weights")),
            *for_all("before", "after", clause="action"),
        ),
    ),
)
