"""Appendix B, continued: maximality row by row, and operations that change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._convex_order import equivalent
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cases import gather
from proofs_checks.ldp_tradeoff._cones import PolyhedralCone
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope, cone_inequalities, dominating_extremal
from symshuffle.channels.geometry.orders import blackwell
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)


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
    """For any sizes: a row that splits leads strictly above, extreme rows alone are simulated back; symbolic.

    That is maximal exactly where stated. Then 11 channels of 3 inputs: whether each dominates its extremal refinement,
    by certified programs.
    """
    split = not _splitting_is_strict()
    at = "an extreme row and one that splits: the split channel is strictly above, any sizes"
    for rows in ([True, False], [False], [False, True]):
        claimed = statement(rows)
        yield from serving("only if", [decide(split is claimed, at=at, claimed=str(claimed), symbolic=True)])
    claimed = statement([True, True])
    at = "extreme rows alone: whatever dominates is dominated, any sizes"
    yield from serving("if", [decide(_simulated_back() is claimed, at=at, claimed=str(claimed), symbolic=True)])
    lam, polytope = cases.LAM, MaximalPolytope(3, cases.LAM)
    cone = PolyhedralCone(cone_inequalities(3, lam))
    made = [cases.capped_channel(rng, 3, 2, lam) for _ in range(5)]
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
    """For each stated operation: a kernel that makes it and one that undoes it, by open entries and blocks; symbolic.

    Blocks stand for any number of inputs and outputs. Then 10 random channels: both orders by certified programs, and
    one canonical form.
    """
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


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.prop-B.3",
        kind="statement",
        title="maximality row by row",
        text=r"An LDP channel is maximal exactly if each non-zero row is an extreme direction of $\mathcal K$.",
        source="ldp_tradeoff, Proposition B.3",
        assumptions=("at least two inputs",),
        scope="any channel: a strict measure where a row splits, a kernel back from extreme ones; 11 channels",
        grade="proved",
        printed=_maximal_by_rows,
        check=_check_maximality,
        controls=(
            Control("one extreme row is enough", any),
            Control("every channel is maximal", lambda extreme: True),
            Control("a channel with two or more outputs never is", lambda extreme: extreme == [True]),
        ),
        expected="holds",
        obligations=for_all("if", "only if"),
    ),
    Claim(
        id="ldp_tradeoff.lem-B.4",
        kind="statement",
        title="relabeling, zero rows and proportional splits change nothing",
        text=(
            Clause("relabelled", "Relabelled channels are equivalent to the original."),
            Clause("zero rows", "So are zero-padded ones."),
            Clause("split", "So are ones with rows split in proportion."),
        ),
        source="ldp_tradeoff, Lemma B.4",
        assumptions=(),
        scope="kernels both ways for blocks of any size, and entry by entry for 2 x 3 symbols; 10 random channels",
        grade="proved",
        printed=_operations,
        check=_check_operations,
        controls=(
            Control("a split into rows that are not proportional", _uneven_split),
            Control("a split whose parts do not add up to the row", _split_too_much),
        ),
        expected="holds",
        obligations=for_all("rows", "t", "sizes", clause=("relabelled", "zero rows", "split")),
    ),
)
