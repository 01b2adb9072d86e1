"""Appendix B: the LDP cone, maximality row by row, extreme rows, and the counting identities of the proofs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff import _cases as cases
from symshuffle.channel import Channel
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    identity,
)
from symshuffle.geometry.cones import PolyhedralCone, rank
from symshuffle.geometry.extremal import (
    LDPCone,
    MaximalPolytope,
    dominating_extremal,
    gather,
    proper_subsets,
    staircase_row,
)
from symshuffle.geometry.groups import cyclic_group, dihedral_group, symmetric_group
from symshuffle.geometry.orders import blackwell, equivalent
from symshuffle.geometry.symmetry import OrbitPolytope, act_on_channel

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
    for lam in cases.LEVELS:
        for m in (2, 3, 4):
            cone = LDPCone(m, lam)
            edge = [(Fraction(1),) * (m - 1) + (lam * factor,) for factor in (Fraction(1), Fraction(201, 200))]
            for vector in [*edge, *_vectors(rng, m, lam, 20)]:
                claimed = statement(vector, lam)
                yield compare(cone.contains(vector), claimed, at=f"m={m}, lam={lam}")
                yield compare(cone.polyhedral().contains(vector), claimed, at=f"as inequalities, m={m}, lam={lam}")


def _constraint(z: int, other: int, x: int, lam: Any) -> Any:
    """Equation (54)."""
    return lam if x == z else -1 if x == other else 0


def _check_rows(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for m, lam in itertools.product((2, 3, 4), cases.LEVELS):
        printed = [
            tuple(Fraction(statement(z, other, x, lam)) for x in range(m))
            for z, other in itertools.permutations(range(m), 2)
        ]
        signs = [tuple(Fraction(int(x == z)) for x in range(m)) for z in range(m)]
        yield compare(list(LDPCone(m, lam).matrix()), [*printed, *signs], at=f"matrix of the cone, m={m}, lam={lam}")
        cone = PolyhedralCone((*printed, *signs))
        yield decide(cone.is_pointed(), at=f"pointed, m={m}, lam={lam}", claimed="yes")
        yield decide(cone.contains((Fraction(1),) * m), at=f"non-trivial, m={m}, lam={lam}", claimed="yes")
        for trial in range(6):
            made = cases.ldp_channel(rng, m, 2, lam) if trial % 2 else next(cases.channels(rng, 1, m))
            rowwise = all(cone.contains(column) for column in made.columns())  # type: ignore[arg-type]
            yield compare(bool(made.is_ldp(lam)), rowwise, at=f"row by row, m={m}, lam={lam}, channel {trial}")


def _maximal_by_rows(extreme: Sequence[bool]) -> bool:
    """Proposition B.3, from which non-zero rows are extreme directions."""
    return all(extreme)


def _check_maximality(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    lam, polytope = cases.LAM, MaximalPolytope(3, cases.LAM)
    cone = LDPCone(3, lam).polyhedral()
    made = [cases.ldp_channel(rng, 3, 2, lam) for _ in range(5)]
    made += [polytope.channel(cases.weights(rng, 3, lam)) for _ in range(5)]
    half = [[Fraction(1, 2) * v for v in row] for row in cases.SINGLES.rows]
    made.append(Channel.from_rows([[*row, Fraction(1, 2)] for row in half]))
    for trial, channel in enumerate(made):
        columns = [column for column in channel.columns() if any(column)]
        claimed = statement([cone.is_extreme(column) for column in columns])  # type: ignore[arg-type]
        weights, _ = dominating_extremal(channel, lam)
        # The refined channel dominates; the channel is maximal exactly if it dominates back.
        back = blackwell(channel, polytope.channel(weights))
        yield compare(back.dominates, claimed, at=f"channel {trial}: dominates its refinement, certified")


Rows = Sequence[Sequence[Any]]


def _operations(rows: Rows, t: Any) -> list[Rows]:
    """Lemma B.4: relabel the outputs, append a null output, split the first output; one row per input."""
    relabelled = tuple(tuple(row[::-1]) for row in rows)
    padded = tuple((*row, Fraction(0)) for row in rows)
    split = tuple((t * row[0], (1 - t) * row[0], *row[1:]) for row in rows)
    return [relabelled, padded, split]


def _operation_kernels(t: Any) -> tuple[tuple[sp.Matrix, sp.Matrix], ...]:
    """For three outputs, the kernel of each operation and one that undoes it."""
    exchange, one = sp.Matrix([[0, 0, 1], [0, 1, 0], [1, 0, 0]]), sp.eye(3)
    pad, forget = one.row_join(sp.zeros(3, 1)), one.col_join(sp.Matrix([[1, 0, 0]]))
    split = sp.Matrix([[t, 1 - t, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    merge = sp.Matrix([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    return (exchange, exchange), (pad, forget), (split, merge)


def _kernel_identities() -> Iterator[tuple[str, bool]]:
    """The kernels of the three operations as block matrices, for channels of any size (rows are inputs)."""
    k, m, more = sp.symbols("k m n", integer=True, positive=True)
    t = sp.Symbol("t", positive=True)
    whole, first, rest = sp.MatrixSymbol("Q", k, m), sp.MatrixSymbol("q", k, 1), sp.MatrixSymbol("R", k, m)
    one, other = sp.Identity(1), sp.Identity(m)
    relabel = sp.MatrixSymbol("S", m, m)
    yield "relabelling is undone", (whole * relabel * relabel.inv()).doit() == whole
    padded = sp.BlockMatrix([[whole, sp.ZeroMatrix(k, more)]])
    forget = sp.BlockMatrix([[other], [sp.MatrixSymbol("K", more, m)]])
    yield "null outputs may go anywhere", sp.block_collapse(padded * forget) == whole
    pad = sp.BlockMatrix([[other, sp.ZeroMatrix(m, more)]])
    yield "null outputs may be added", sp.block_collapse(sp.BlockMatrix([[whole]]) * pad) == padded
    row, column = sp.ZeroMatrix(1, m), sp.ZeroMatrix(m, 1)
    pair, split = sp.BlockMatrix([[first, rest]]), sp.BlockMatrix([[t * first, (1 - t) * first, rest]])
    apart = sp.BlockMatrix([[t * one, (1 - t) * one, row], [column, column, other]])
    merge = sp.BlockMatrix([[one, row], [one, row], [column, other]])
    yield "a proportional split is a post-processing", sp.block_collapse(pair * apart) == split
    yield "and merging undoes it", sp.block_collapse(split * merge) == pair


def _entries(matrix: sp.Matrix) -> Iterator[tuple[tuple[int, int], Any]]:
    return (((x, y), matrix[x, y]) for x in range(matrix.rows) for y in range(matrix.cols))


def _check_operations(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for name, holds in _kernel_identities():
        yield decide(holds, at=f"{name}, any size", claimed="identity", symbolic=True)
    t, channel_of_symbols = sp.Symbol("t", positive=True), sp.Matrix(2, 3, sp.symbols("q:6", positive=True))
    made = statement([channel_of_symbols.row(x) for x in range(2)], t)
    for number, (rows, (there, back)) in enumerate(zip(made, _operation_kernels(t), strict=True), start=1):
        claimed = sp.Matrix([list(row) for row in rows])
        for (x, y), entry in _entries(channel_of_symbols * there):
            yield identity(entry, claimed[x, y], at=f"operation {number} by its kernel, entry ({x}, {y}), all t")
        for (x, y), entry in _entries(claimed * back):
            yield identity(entry, channel_of_symbols[x, y], at=f"operation {number} undone, entry ({x}, {y}), all t")
    for trial, channel in enumerate(cases.channels(rng, 10, 3)):
        others = [Channel(tuple(map(tuple, rows))) for rows in statement(channel.rows, Fraction(trial, 9))]
        for number, other in enumerate(others, start=1):
            yield decide(
                equivalent(channel, other),
                at=f"operation {number}, channel {trial}, both kernels",
                claimed="equivalent",
            )
            yield compare(gather(other), gather(channel), at=f"operation {number}, channel {trial}, canonical form")


def _uneven_split(rows: Rows, t: Any) -> list[Rows]:
    shares = [t, *[Fraction(1, 2)] * (len(rows) - 1)]
    split = tuple((s * row[0], (1 - s) * row[0], *row[1:]) for row, s in zip(rows, shares, strict=True))
    return [*_operations(rows, t)[:2], split]


def _extreme_subsets(m: int) -> set[int]:
    """Lemma B.5: the extreme directions, by the subset on which the larger level is taken."""
    return set(proper_subsets(m))


def _check_extreme(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for m, lam in itertools.product((2, 3, 4), cases.LEVELS):
        rays = LDPCone(m, lam).polyhedral().extreme_rays()
        claimed = {tuple(v / max(row) for v in row) for row in (staircase_row(y, m, lam) for y in statement(m))}
        yield compare(set(rays), claimed, at=f"all rays of the cone by exhaustion, m={m}, lam={lam}")
    lam = sp.Symbol("lambda", positive=True)
    for m, subset in ((size, y) for size in (2, 3, 4, 5) for y in statement(size)):
        # Active pairs (z outside, z' inside) give lam at z, -1 at z'; their kernel has to be one line, for every lam.
        inside = [x for x in range(m) if subset >> x & 1]
        outside = [x for x in range(m) if x not in inside]
        rows = [[lam if x == z else -1 if x == w else 0 for x in range(m)] for z in outside for w in inside]
        kernel = sp.Matrix(rows).nullspace() if rows else [sp.eye(m)[:, x] for x in range(m)]
        at = f"kernel of the active constraints, m={m}, subset {inside}, all lam"
        yield decide(len(kernel) == 1, at=at, claimed="one line", symbolic=True)
    for m in (3, 4):
        levels = (cases.LAM, Fraction(2), *[Fraction(1)] * (m - 2))
        cone = LDPCone(m, cases.LAM).polyhedral()
        tight = [cone.rows[i] for i in cone.active(levels)]
        yield compare(m - rank(tight), 2, ">=", at=f"three levels, m={m}: kernel of dimension two or more")


def _identities(m: Any, size: Any, k: Any, lam: Any) -> tuple[Any, Any, Any]:
    """Equations (77), (78) and (79): incidence r, coefficient r-tilde, and weight of an orbit."""
    return size * k / m, size / m * (k * lam + m - k), m / (size * (k * lam + m - k))


def _check_identities(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    m, size, k, lam = sp.symbols("m N k lambda", positive=True)
    inside, coefficient, weight = statement(m, size, k, lam)
    yield identity(lam * inside + size - inside, coefficient, at="(25) with (77) gives (78)")
    yield identity(weight * coefficient, 1, at="(76) gives (79)")
    for name, group in (("Z_6", cyclic_group(6)), ("D_5", dihedral_group(5)), ("Sym(5)", symmetric_group(5))):
        polytope = OrbitPolytope(group, cases.LAM)
        for orbit in polytope.orbits:
            found = statement(Fraction(group.m), orbit.size, orbit.representative.bit_count(), cases.LAM)
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
        kind=Kind.DEFINITION,
        title="cone of admissible rows",
        text=r"$\mathcal K=\{v\ge0:\lambda v_x-v_{x'}\ge0\ \forall x,x'\}$.",
        source="ldp_tradeoff, Definition B.1",
        assumptions=("lam > 1", "at least two inputs"),
        scope="180 random vectors and 18 at the edge, m = 2..4 at three levels",
        grade=Grade.EXACT_CASES,
        printed=_in_ldp_cone,
        check=_check_cone,
        controls=(Control("a ratio one percent larger", lambda v, lam: _in_ldp_cone(v, lam * Fraction(101, 100))),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="ldp_tradeoff.lem-B.2",
        kind=Kind.STATEMENT,
        title="local privacy row by row",
        text=(
            r"$Q$ is LDP exactly if all its rows are in $\mathcal "
            r"K$, a pointed non-trivial cone with matrix $T\oplus I$."
        ),
        source="ldp_tradeoff, Lemma B.2",
        assumptions=("lam > 1",),
        scope="m = 2..4 at three levels: matrix, pointedness, 54 channels row by row",
        grade=Grade.EXACT_CASES,
        printed=_constraint,
        check=_check_rows,
        controls=(Control("roles exchanged", lambda z, other, x, lam: _constraint(other, z, x, lam)),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="ldp_tradeoff.prop-B.3",
        kind=Kind.STATEMENT,
        title="maximality row by row",
        text=r"An LDP channel is maximal exactly if each non-zero row is an extreme direction of $\mathcal K$.",
        source="ldp_tradeoff, Proposition B.3",
        assumptions=("at least two inputs",),
        scope="11 channels on 3 inputs: extreme rows by kernels, maximality by certified programs",
        grade=Grade.EXACT_CASES,
        printed=_maximal_by_rows,
        check=_check_maximality,
        controls=(
            Control("one extreme row is enough", any),
            Control("every channel is maximal", lambda extreme: True),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="ldp_tradeoff.lem-B.4",
        kind=Kind.STATEMENT,
        title="relabeling, zero rows and proportional splits change nothing",
        text=r"Relabelled, zero-padded and row-split channels are equivalent to the original.",
        source="ldp_tradeoff, Lemma B.4",
        assumptions=(),
        scope="kernels both ways for 2 x 3 symbols; blocks of any size, by kernels alone; 10 random channels",
        grade=Grade.EXACT_CASES,
        printed=_operations,
        check=_check_operations,
        controls=(Control("a split into rows that are not proportional", _uneven_split),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="ldp_tradeoff.lem-B.5",
        kind=Kind.STATEMENT,
        title="extreme rows are the two-level ones",
        text=r"$v$ is extreme exactly if $v=c\lambda$ on a non-empty proper subset and $c$ off it, $c>0$.",
        source="ldp_tradeoff, Lemma B.5",
        assumptions=("at least two inputs", "lam > 1"),
        scope="all rays for m = 2..4 at three levels by exhaustion; kernels symbolic in lam for m = 2..5",
        grade=Grade.EXACT_CASES,
        printed=_extreme_subsets,
        check=_check_extreme,
        controls=(
            Control("the full set too", lambda m: {*_extreme_subsets(m), (1 << m) - 1}),
            Control("singletons only", lambda m: {1 << x for x in range(m)}),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="ldp_tradeoff.eq-69-75",
        kind=Kind.STATEMENT,
        title="counting identities behind the orbit results",
        text=r"$mr=|O|k$, $\tilde r=\frac{|O|}m(k\lambda+m-k)$, $w_O=1/\tilde r$, $gQ^{(c)}_{ex}=Q^{(gc)}_{ex}$.",
        source="ldp_tradeoff, equations (69)-(79)",
        assumptions=("for (77)-(79): a transitive group",),
        scope="identities symbolic in m, |O|, k, lam; double counting on every orbit of three groups; 5 random points",
        grade=Grade.EXACT_CASES,
        printed=_identities,
        check=_check_identities,
        controls=(
            Control("incidence k instead of |O| k / m", lambda m, size, k, lam: (k, *_identities(m, size, k, lam)[1:])),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
)
