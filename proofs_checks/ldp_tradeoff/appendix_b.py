"""Appendix B: the LDP cone, maximality row by row, extreme rows, and the counting identities of the proofs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._orbits import column_sum, incidence, moved_levels
from symshuffle.channel import Channel
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Grade,
    Kind,
    Statement,
    by_cases,
    compare,
    decide,
    for_all,
    identity,
    serving,
)
from symshuffle.geometry.cones import PolyhedralCone
from symshuffle.geometry.extremal import (
    LDPCone,
    MaximalPolytope,
    dominating_extremal,
    gather,
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


def _product(statement: Statement, lam: Any, entries: tuple[Any, Any, Any]) -> Any:
    """A row of T times a vector: the entries at z and at z', and the sum of all others, which share a coefficient.

    By symmetry there is one kind of ordered pair (0, 1), and one kind of input 2 that is neither.
    """
    return sum((statement(0, 1, x, lam) * entry for x, entry in enumerate(entries)), sp.Integer(0))


def _rows_for_every_size(statement: Statement) -> Iterator[Comparison]:
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
    yield from _rows_for_every_size(statement)
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


def _spread(v: Any, total: Any) -> Any:
    """One coordinate of a measure of a row v with entries adding up to ``total``: the sum of v_x^2 over the total."""
    return v**2 / total


def _splitting_is_strict() -> bool:
    """Whether a row that is split into two off its ray gives a channel that the first does not dominate.

    The sum of the measure over rows never grows by post-processing: it is homogeneous, a coordinate of two rows exceeds
    that of their sum by a square, and every output of the kernel takes shares of rows that add up to 1. The excess is
    0 in all coordinates only for proportional rows, so the split channel has a larger sum.
    """
    u, w = sp.symbols("u w", nonnegative=True)
    a, b, share = sp.symbols("a b t", positive=True)
    homogeneous = sp.cancel(_spread(share * u, share * a) - share * _spread(u, a))
    excess = sp.cancel(_spread(u, a) + _spread(w, b) - _spread(u + w, a + b))
    square = (b * u - a * w) ** 2 / (a * b * (a + b))
    return homogeneous == 0 and sp.cancel(excess - square) == 0 and (a * b * (a + b)).is_positive is True


def _simulated_back() -> bool:
    """Whether a channel Q with extreme rows dominates every LDP channel P that dominates it.

    Q_y is the sum of W_yz P_z, a sum of vectors of the cone. By the definition of an extreme ray W_yz P_z = c_yz Q_y.
    The kernel c gives P back, because W has sums 1, and it has sums 1, because no Q_y is zero (a null output of Q only
    takes null outputs of P). Rows and sums are over any finite number of outputs.
    """
    y, z = sp.symbols("y z", integer=True, positive=True)
    outputs, others = sp.symbols("N M", integer=True, positive=True)
    kernel, first = sp.IndexedBase("W"), sp.IndexedBase("P")
    sums_to_one = sp.Sum(kernel[y, z], (y, 1, outputs))
    # The sum over y of c_yz Q_y = W_yz P_z; P_z does not depend on y.
    back = sp.Sum(kernel[y, z] * first[z], (y, 1, outputs)).factor().subs(sums_to_one, 1)
    shares, row = sp.IndexedBase("c"), sp.Symbol("q", positive=True)
    total = sp.Sum(shares[y, z] * row, (z, 1, others)).factor()  # the sum over z of W_yz P_z = c_yz Q_y, which is Q_y
    weight = sp.Symbol("s", real=True)
    solved = sp.solve(sp.Eq(total.subs(sp.Sum(shares[y, z], (z, 1, others)), weight), row), weight)
    return bool(back == first[z]) and solved == [1]


def _check_maximality(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    split = not _splitting_is_strict()
    at = "an extreme row and one that splits: the split channel is strictly above, any sizes"
    for rows in ([True, False], [False], [False, True]):
        claimed = statement(rows)
        yield from serving("only if", [decide(split is claimed, at=at, claimed=str(claimed), symbolic=True)])
    claimed = statement([True, True])
    at = "extreme rows alone: whatever dominates is dominated, any sizes"
    yield from serving("if", [decide(_simulated_back() is claimed, at=at, claimed=str(claimed), symbolic=True)])
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


def _block(rows: Sequence[Sequence[Any]], heights: Sequence[Any], widths: Sequence[Any]) -> sp.BlockMatrix:
    """A matrix of blocks of given heights and widths, 0 and 1 standing for null and identity matrices."""

    def one(entry: Any, height: Any, width: Any) -> Any:
        if entry == 0:
            return sp.ZeroMatrix(height, width)
        return sp.Identity(height) * entry if sp.sympify(entry).is_Matrix is not True else entry

    return sp.BlockMatrix(
        [[one(e, h, w) for e, w in zip(row, widths, strict=True)] for row, h in zip(rows, heights, strict=True)]
    )


def _check_any_size(statement: Statement) -> Iterator[Comparison]:
    """Three blocks of outputs: the first is one output, the second another, the third any number of them.

    Turning the order of two blocks around rotates the outputs, of these three exchanges two of them besides: all
    relabellings are made of the two.
    """
    k, m, more = sp.symbols("k m n", integer=True, positive=True)
    t = sp.Symbol("t", positive=True)
    first, second, rest = sp.MatrixSymbol("q", k, 1), sp.MatrixSymbol("r", k, 1), sp.MatrixSymbol("R", k, m)
    sizes = (1, 1, m)
    channel = sp.BlockMatrix([[first, second, rest]])
    relabelled, padded, split = (rows[0] for rows in statement([[first, second, rest]], t))
    turned = sp.BlockMatrix([list(relabelled)])
    turn = (
        _block([[0, 0, 1], [0, 1, 0], [1, 0, 0]], sizes, (m, 1, 1)),
        _block([[0, 0, 1], [0, 1, 0], [1, 0, 0]], (m, 1, 1), sizes),
    )
    wide = sp.BlockMatrix([[*padded[:-1], sp.ZeroMatrix(k, more) if padded[-1] == 0 else padded[-1]]])
    anywhere = [sp.MatrixSymbol(f"K{i}", more, size) for i, size in enumerate(sizes)]  # a kernel from the null outputs
    pad = (
        _block([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], sizes, (*sizes, more)),
        _block([[1, 0, 0], [0, 1, 0], [0, 0, 1], anywhere], (*sizes, more), sizes),
    )
    apart = sp.BlockMatrix([list(split)])
    cut = (
        _block([[t, 1 - t, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], sizes, (1, *sizes)),
        _block([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], (1, *sizes), sizes),
    )
    for name, made, (there, back) in (("relabelled", turned, turn), ("padded", wide, pad), ("split", apart, cut)):
        forward = sp.block_collapse(channel * there) == sp.block_collapse(made)
        undone = sp.block_collapse(sp.block_collapse(made * back)) == channel
        at = f"{name}, any number of inputs and outputs"
        yield decide(bool(forward), at=f"{at}, by a kernel", claimed="identity", symbolic=True)
        yield decide(bool(undone), at=f"{at}, and back", claimed="identity", symbolic=True)


def _entries(matrix: sp.Matrix) -> Iterator[tuple[tuple[int, int], Any]]:
    return (((x, y), matrix[x, y]) for x in range(matrix.rows) for y in range(matrix.cols))


def _check_operations(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    t, channel_of_symbols = sp.Symbol("t", positive=True), sp.Matrix(2, 3, sp.symbols("q:6", positive=True))
    made = statement([channel_of_symbols.row(x) for x in range(2)], t)
    for number, (rows, (there, back)) in enumerate(zip(made, _operation_kernels(t), strict=True), start=1):
        claimed = sp.Matrix([list(row) for row in rows])
        for (x, y), entry in _entries(channel_of_symbols * there):
            yield identity(entry, claimed[x, y], at=f"operation {number} by its kernel, entry ({x}, {y}), all t")
        for (x, y), entry in _entries(claimed * back):
            yield identity(entry, channel_of_symbols[x, y], at=f"operation {number} undone, entry ({x}, {y}), all t")
    yield from serving("sizes", _check_any_size(statement))
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


def _split_too_much(rows: Rows, t: Any) -> list[Rows]:
    return [*_operations(rows, t)[:2], tuple((t * row[0], t * row[0], *row[1:]) for row in rows)]


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
        rays = LDPCone(m, level).polyhedral().extreme_rays()
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
        assumptions=("lam > 1", "at least two inputs"),
        scope="all m and lam, by one pair of inputs and the sum of the others; m = 2..4 at three levels, 54 channels",
        grade=Grade.PROVED,
        printed=_constraint,
        check=_check_rows,
        controls=(
            Control("roles exchanged", lambda z, other, x, lam: _constraint(other, z, x, lam)),
            Control("a negative entry elsewhere", lambda z, other, x, lam: lam if x == z else -1),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=(*by_cases("z", "other", "x"), *for_all("lam", "row by row", "pointed", "non-trivial")),
    ),
    Claim(
        id="ldp_tradeoff.prop-B.3",
        kind=Kind.STATEMENT,
        title="maximality row by row",
        text=r"An LDP channel is maximal exactly if each non-zero row is an extreme direction of $\mathcal K$.",
        source="ldp_tradeoff, Proposition B.3",
        assumptions=("at least two inputs",),
        scope="any channel: a strict measure where a row splits, a kernel back from extreme ones; 11 channels",
        grade=Grade.PROVED,
        printed=_maximal_by_rows,
        check=_check_maximality,
        controls=(
            Control("one extreme row is enough", any),
            Control("every channel is maximal", lambda extreme: True),
            Control("a channel with two or more outputs never is", lambda extreme: extreme == [True]),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("if", "only if"),
    ),
    Claim(
        id="ldp_tradeoff.lem-B.4",
        kind=Kind.STATEMENT,
        title="relabeling, zero rows and proportional splits change nothing",
        text=r"Relabelled, zero-padded and row-split channels are equivalent to the original.",
        source="ldp_tradeoff, Lemma B.4",
        assumptions=(),
        scope="kernels both ways for blocks of any size, and entry by entry for 2 x 3 symbols; 10 random channels",
        grade=Grade.PROVED,
        printed=_operations,
        check=_check_operations,
        controls=(
            Control("a split into rows that are not proportional", _uneven_split),
            Control("a split whose parts do not add up to the row", _split_too_much),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("rows", "t", "sizes"),
    ),
    Claim(
        id="ldp_tradeoff.lem-B.5",
        kind=Kind.STATEMENT,
        title="extreme rows are the two-level ones",
        text=r"$v$ is extreme exactly if $v=c\lambda$ on a non-empty proper subset and $c$ off it, $c>0$.",
        source="ldp_tradeoff, Lemma B.5",
        assumptions=("at least two inputs", "lam > 1"),
        scope="all m, lam: kernels with any numbers of entries per level; all rays by exhaustion for m = 2..4",
        grade=Grade.PROVED,
        printed=_two_levels,
        check=_check_extreme,
        controls=(
            Control("the full set too", lambda a, b, e, r, lam: _two_levels(a + 1, b, e, r, lam)),
            Control("not singletons", lambda a, b, e, r, lam: _two_levels(a, b - 1, e, r, lam)),
            Control("three levels", lambda a, b, e, r, lam: _two_levels(a, b, sp.Integer(0), r, lam)),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("bottom", "top", "between", "ratio", "lam"),
    ),
    Claim(
        id="ldp_tradeoff.eq-69-75",
        kind=Kind.STATEMENT,
        title="counting identities behind the orbit results",
        text=r"$mr=|O|k$, $\tilde r=\frac{|O|}m(k\lambda+m-k)$, $w_O=1/\tilde r$, $gQ^{(c)}_{ex}=Q^{(gc)}_{ex}$.",
        source="ldp_tradeoff, equations (69)-(79)",
        assumptions=("for (77)-(79): a transitive group",),
        scope="any transitive group, orbit, subset and lam; every orbit of three groups; 5 random points",
        grade=Grade.PROVED,
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
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("m", "size", "k", "lam", "before", "after"),
    ),
)
