"""Section 3.2: the polytope of maximal channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._convex_order import equivalent
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cases import gather
from proofs_checks.ldp_tradeoff._cones import maximal_weights, non_extreme_output
from proofs_checks.ldp_tradeoff._rows import weights_agree
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.geometry.extremal import MaximalPolytope, dominating_extremal, proper_subsets, staircase_matrix
from symshuffle.channels.geometry.groups import cyclic_group
from symshuffle.channels.geometry.linear import rank
from symshuffle.channels.geometry.orders import blackwell
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

Weights = Mapping[int, Fraction]


def _entry(inside: bool, lam: Any) -> Any:
    """Equation (19): the entry of the staircase matrix at a subset and an input that is or is not inside."""
    return lam if inside else 1


def _check_polytope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For m = 2 to 5 at three levels: the library's matrix, and column sums of vertices, by the stated entries; exact.

    Also the rank, the number of vertices and the range of their total weight.
    """
    for m, count in ((2, 1), (3, 5), (4, 41), (5, 1291)):
        for lam in cases.LEVELS:
            matrix, polytope = staircase_matrix(m, lam), MaximalPolytope(m, lam)
            printed = [tuple(statement(bool(y >> x & 1), lam) for x in range(m)) for y in proper_subsets(m)]
            at = f"m={m}, lam={lam}"
            yield compare(list(matrix), printed, at=f"staircase matrix, {at}")
            yield compare(rank(matrix), m, at=f"its rank, {at}")
            vertices = polytope.vertices()
            yield compare(len(vertices), count, at=f"number of vertices, {at}")
            sums = [sum(vertex.values()) for vertex in vertices]
            yield compare(min(sums), Fraction(m) / ((m - 1) * lam + 1), at=f"smallest total weight, {at}")
            yield compare(max(sums), m / (lam + m - 1), at=f"largest total weight, {at}")
            for vertex in vertices[:: max(1, count // 20)]:
                columns = [sum((c * printed[y - 1][x] for y, c in vertex.items()), Fraction(0)) for x in range(m)]
                yield compare(columns, [Fraction(1)] * m, at=f"column sums of a vertex, {at}")


def _same_weight(first: Any, second: Any) -> Any:
    """Theorem 3.10: whether one subset can have these weights in two points that give equivalent channels."""
    return sp.Eq(first, second)


def _bijection_for_all(statement: Statement) -> Iterator[Comparison]:
    """Two weights of one subset, for any number of inputs, and rows on one ray gathered into one; symbolic."""
    c, gap, w = sp.symbols("c g w", positive=True)
    lam = 1 + w
    for first, second in ((c, c), (c, c + gap), (c + gap, c), (sp.Integer(0), gap)):
        claimed = statement(first, second)
        possible = sp.true if weights_agree(first, second) else sp.false
        at = f"weights {first} and {second} of one subset, any number of inputs"
        yield from serving("injective", [decide(possible == claimed, at=at, claimed=str(claimed), symbolic=True)])
    # Extreme rows on the rays of subsets (Lemma B.5) of a maximal channel (Proposition B.3), gathered by subset.
    i, one, other = sp.symbols("i q r", positive=True)
    row = 1 + (lam - 1) * i
    gathered = sp.cancel((one * row + other * row) / row)
    claimed = statement(gathered, one + other)
    at = "rows on one ray, gathered: the sums over outputs stay, any input"
    yield from serving("onto", [decide(claimed == sp.true, at=at, claimed="the sum of their weights", symbolic=True)])
    claimed = statement(gathered, one)
    at = "with the weight of one of them alone they do not"
    yield from serving("onto", [decide(claimed == sp.false, at=at, claimed="another weight", symbolic=True)])


def _same_class(statement: Statement, first: Weights, second: Weights) -> bool:
    """Whether two points are equivalent by what is stated of each subset."""
    return all(
        statement(first.get(y, Fraction(0)), second.get(y, Fraction(0))) == sp.true
        for y in first.keys() | second.keys()
    )


def _check_bijection(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any m and lam: weights of a subset can differ between equivalent channels exactly where stated; symbolic.

    Then 8 random points on 4 inputs: maximal channels, weights recovered, equivalence by two certified programs, and
    random private channels below a point.
    """
    yield from _bijection_for_all(statement)
    lam, polytope = cases.LAM, MaximalPolytope(4, cases.LAM)
    points, turn = [cases.weights(rng, 4, lam) for _ in range(8)], cyclic_group(4)
    for trial, point in enumerate(points):
        channel = polytope.channel(point)
        kept = {subset: weight for subset, weight in point.items() if weight}
        yield decide(
            non_extreme_output(channel, lam) is None, at=f"point {trial} gives a maximal channel", claimed="yes"
        )
        split = direct_sum([channel, channel], [Fraction(1, 3), Fraction(2, 3)])
        yield compare(maximal_weights(split, lam), kept, at=f"weights recovered from a split copy, point {trial}")
        yield compare(gather(split), gather(channel), at=f"one canonical form, point {trial}")
        other = points[(trial + 1) % len(points)]
        rotated = {turn.act(turn.generators[0], subset): weight for subset, weight in point.items()}
        for one, two in ((point, other), (point, dict(point)), (point, rotated)):
            pair = (polytope.channel(one), polytope.channel(two))
            same = _same_class(statement, one, two)
            yield compare(equivalent(*pair), same, at=f"equivalence decided by two programs, point {trial}")
        incomparable = not blackwell(channel, polytope.channel(other)).dominates
        yield decide(incomparable, at=f"different points are incomparable, point {trial}", claimed="yes")
        loose = cases.capped_channel(rng, 4, 3, lam)
        weights, kernel = dominating_extremal(loose, lam)
        yield compare(
            polytope.channel(weights).push_forward(kernel), loose, at=f"every LDP channel is below one, {trial}"
        )
    flat = direct_sum([cases.SINGLES, Channel.from_rows([[1]] * 3)], [Fraction(1, 2), Fraction(1, 2)])
    yield decide(non_extreme_output(flat, lam) is not None, at="a flat output", claimed="not maximal")
    separation = blackwell(flat, cases.SINGLES)
    yield decide(not separation.dominates, at="half subset selection, half nothing", claimed="strictly below")


def _binary(lam: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Equation (23), one row per input."""
    return (lam / (lam + 1), 1 / (lam + 1)), (1 / (lam + 1), lam / (lam + 1))


def _check_binary(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every lam: the one pair of weights of two inputs, solved for, gives the stated matrix; symbolic.

    Then 9 random private channels are below it, by certified programs.
    """
    lam, c, d = sp.symbols("lambda c d", positive=True)
    solution = sp.solve([c * lam + d - 1, c + d * lam - 1], [c, d], dict=True)
    yield compare(len(solution), 1, at="the polytope for two inputs is one point, for every lam")
    claimed = statement(lam)
    yield identity(solution[0][c] * lam, claimed[0][0], at="probability of the true value, all lam")
    yield identity(solution[0][d], claimed[0][1], at="probability of the other value, all lam")
    yield identity(claimed[1][1], claimed[0][0], at="symmetry, all lam")
    for trial in range(9):
        level = cases.LEVELS[trial % 3]
        response = Channel(tuple(tuple(Fraction(v) for v in row) for row in statement(level)))
        found = blackwell(response, cases.capped_channel(rng, 2, 3, level))
        yield decide(found.dominates, at=f"dominates a random LDP channel, case {trial}, lam={level}", claimed="yes")


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.def-3.9",
        kind="definition",
        title="two-level rows, their weights, and the channel of a weight vector",
        text=(
            Clause("rows", r"$S_{y,x}$ is $\lambda$ if $x\in y$ and 1 otherwise."),
            Clause("polytope", r"$\mathcal S=\{c\ge0: c^\top S=1^\top\}$."),
        ),
        source="ldp_tradeoff, Definition 3.9, equations (19)-(21)",
        assumptions=("at least two inputs",),
        scope="m = 2..5 at three levels: matrix, rank, all vertices (1, 5, 41, 1291), range of the total weight",
        grade="exact-cases",
        printed=_entry,
        check=_check_polytope,
        controls=(
            Control("levels exchanged", lambda inside, lam: 1 if inside else lam),
            Control("1/lam outside", lambda inside, lam: 1 if inside else 1 / lam),
        ),
        expected="definition",
        obligations=for_all("lam", clause=("rows", "polytope")),
    ),
    Claim(
        id="ldp_tradeoff.thm-3.10",
        kind="statement",
        title="maximal channels are the points of one polytope",
        text=r"$c\mapsto Q^{(c)}_{ex}$ is a bijection between $\mathcal S$ and the maximal channels up to equivalence.",
        source="ldp_tradeoff, Theorem 3.10",
        assumptions=("at least two inputs (for one input the polytope is empty and the constant channel maximal)",),
        scope="all m, lam and weights of a subset; 8 random points on 4 inputs by certified programs both ways",
        grade="proved",
        printed=_same_weight,
        check=_check_bijection,
        controls=(
            Control("equal supports are enough", lambda a, b: sp.Eq(sp.sign(a), sp.sign(b))),
            Control("the first weight may be smaller", sp.Le),
        ),
        expected="holds",
        obligations=for_all("first", "second", "injective", "onto"),
    ),
    Claim(
        id="ldp_tradeoff.cor-3.12",
        kind="statement",
        title="two inputs: only binary randomized response is maximal",
        text=r"For two inputs the maximal channels are those equivalent to binary randomized response.",
        source="ldp_tradeoff, Corollary 3.12",
        assumptions=("two inputs", "Theorem 3.10"),
        scope="the one point of the polytope as a function of lam; 9 random LDP channels dominated",
        grade="proved",
        printed=_binary,
        check=_check_binary,
        controls=(
            Control(
                "denominator lam + 2", lambda lam: ((lam / (lam + 2), 2 / (lam + 2)), (2 / (lam + 2), lam / (lam + 2)))
            ),
        ),
        expected="holds",
        obligations=for_all("lam"),
    ),
)
