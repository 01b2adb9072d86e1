"""Section 3.3: the stronger clone of a given dataset, and its four-point repair."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    STUDY,
    channels,
    named_channels,
    never_negative,
    shown,
    targets,
)
from symshuffle.base.lp import LinearProgram
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linprog import solve
from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.decompositions.clones import StrongerClone, stronger_clone
from symshuffle.decompositions.model import primary_decomposition
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import krr
from symshuffle.mechanisms.symbolic import LAM

POSITIONS = (Fraction(0), Fraction(1, 2), Fraction(1))
"""Where a clone probability lies between the smallest and the largest possible one."""


def subset_selection(lam: int) -> Channel:
    """Subset selection of two of three inputs."""
    ((_, channel),) = named_channels(("subset-selection", {"lam": lam, "k": 3, "s": 2}))
    return channel


# -- decomposition.thm-3


def _rows_of(lam: Any, p: Any, q0: Any, q1: Any, own: Any, other: Any) -> tuple[Any, Any, Any]:
    """Both rows of the pair and the row of another user, at one output."""
    rest = (1 - p - lam * p) * own
    return lam * p * q0 + p * q1 + rest, p * q0 + lam * p * q1 + rest, p * q0 + p * q1 + (1 - 2 * p) * other


def _existence(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """One output with open rows and budget: the clones that the pair demands fit into all rows, by signs.

    The stated rows are linear in the measures with weights of total 1, and their difference determines p (Q0 - Q1):
    symbolic. Then ten channels at the smallest, middle and largest p: the library's measures give the rows under the
    statement; the largest p is the optimum of a certified linear program.
    """
    h, g, w = sp.symbols("h g w", positive=True)
    lam = 1 + w
    # An output that the first row likes better by h; LDP says that the second row is at least h/(lam - 1).
    second = h / w + g
    first = second + h
    clone = h / w  # the part of p Q0 that the pair itself demands; p Q1 demands nothing here
    yield never_negative(first - lam * clone, at="room in R(x0) for lam p Q0, any rows and budget")
    yield never_negative(second - clone, at="room in R(x1) for p Q0")
    yield never_negative(sp.cancel(first / lam - clone), at="room for p Q0 in any row, which is at least R(x0)/lam")
    p, q0, q1, own, x = sp.symbols("p q0 q1 q x")
    rows = statement(LAM, p, q0, q1, own, x)
    yield identity(rows[0] - rows[1], (LAM - 1) * p * (q0 - q1), at="the pair determines p (Q0 - Q1)")
    measures = (q0, q1, own, x)
    shares = [statement(LAM, p, *(sp.Integer(int(i == j)) for j in range(4))) for i in range(4)]
    for row in range(3):
        mixed = sum(share[row] * measure for share, measure in zip(shares, measures, strict=True))
        yield identity(mixed, rows[row], at=f"row {row} is a mixture, any measures")
        yield identity(sum(share[row] for share in shares), 1, at=f"row {row}: weights of total 1, any p and budget")
    for channel in [STUDY, subset_selection(3), *channels(rng, 8, ((3, 3), (3, 4), (4, 2)))]:
        for position in POSITIONS:
            clone_ = stronger_clone(channel, PAIR, position=position)
            lam_: Any = clone_.lam
            yield compare(clone_.p, 1 / (lam_ + 1), "<=", at=f"p at position {position} of {shown(channel)}")
            yield from _reassembled(statement, clone_, channel)
        yield from _largest(channel)


def _reassembled(statement: Statement, clone: StrongerClone, channel: Channel) -> Iterator[Comparison]:
    """The library's measures at every output are at least 0 and give the three rows back under the statement."""
    p: Any = clone.p
    lam: Any = clone.lam
    own: Any = 1 - p - lam * p
    floor: Any = channel.blanket()
    measures: list[tuple[Any, Any, Any]] = list(zip(clone.first, clone.second, clone.rest, strict=True))
    for y, (u, v, rest) in enumerate(measures):
        yield compare(
            min(u, v, rest, floor[y] - u - v), Fraction(0), ">=", at=f"masses at output {y} of {shown(channel)}"
        )
        for x in range(channel.num_inputs):
            left_over = (channel.rows[x][y] - u - v) / (1 - 2 * p)
            claimed = statement(lam, p, u / p, v / p, rest / own if own else Fraction(0), left_over)
            rows = (channel.rows[0][y], channel.rows[1][y], channel.rows[x][y])
            yield compare(rows, claimed, at=f"output {y}, other input {x} of {shown(channel)}")


def _largest(channel: Channel) -> Iterator[Comparison]:
    """The largest p against a linear program, solved and certified in rationals."""
    clone = stronger_clone(channel, PAIR)
    lam: Any = clone.lam
    cells = 2 * channel.num_outputs
    constraints: list[tuple[list[Fraction], str, Any]] = []

    def constrain(y: int, first: Any, second: Any, sense: str, bound: Any) -> None:
        row = [Fraction(0)] * cells
        row[2 * y], row[2 * y + 1] = Fraction(first), Fraction(second)
        constraints.append((row, sense, bound))

    for y in range(channel.num_outputs):
        a: Any = channel.rows[0][y]
        b: Any = channel.rows[1][y]
        constrain(y, 1, -1, "==", (a - b) / (lam - 1))
        constrain(y, lam, 1, "<=", a)
        for other in channel.column(y):
            constrain(y, 1, 1, "<=", other)
    costs = [-1 if i % 2 == 0 else 0 for i in range(cells)]
    solution = solve(LinearProgram.from_rows(costs, constraints))
    at = f"largest p by linear programming, {shown(channel)}"
    yield compare(-solution.value.upper, clone.p_max, at=at, solution=solution)


THM_3 = Claim(
    id="decomposition.thm-3",
    kind="statement",
    title="three-component mixtures for a given dataset",
    text=(
        Clause(
            "mixtures",
            r"For an $\varepsilon_0$-LDP channel and inputs $x_1^0,x_1^1,x_2,\dots,x_n$ there are "
            r"$p\in[0,\frac1{e^{\varepsilon_0}+1}]$ and distributions with "
            r"$R(x_1^0)=e^{\varepsilon_0}pQ_0+pQ_1+(1-p-e^{\varepsilon_0}p)Q$, $R(x_1^1)$ the same with "
            "$Q_0,Q_1$ exchanged, and $R(x_i)=pQ_0+pQ_1+(1-2p)Q_i$.",
        ),
        Clause("interval", "All such $p$ form an interval with ends in closed form (ours)."),
    ),
    source="decomposition, Theorem 3",
    assumptions=("eps0 > 0", "finitely many outputs"),
    scope="all rows and budgets, output by output; ten channels, where the largest p is a certified LP optimum",
    grade="proved",
    printed=_rows_of,
    check=_existence,
    controls=(
        Control(
            "other users with left-over weight 1 - p",
            lambda lam, p, q0, q1, own, x: (*_rows_of(lam, p, q0, q1, own, x)[:2], p * q0 + p * q1 + (1 - p) * x),
        ),
        Control(
            "the pair not exchanged",
            lambda lam, p, q0, q1, own, x: (
                _rows_of(lam, p, q0, q1, own, x)[0],
                _rows_of(lam, p, q0, q1, own, x)[0],
                _rows_of(lam, p, q0, q1, own, x)[2],
            ),
        ),
    ),
    expected="holds",
    obligations=for_all("lam", "p", "q0", "q1", "own", "other", clause=("mixtures", "interval")),
)


# -- decomposition.sec-3.3-four-point


def _four_points(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The stated weights sum to 1 for open p, q and lam; for k-RR, any k, they are those of the derived blanket.

    Both symbolic. Then six channels at three p, n <= 2, both directions: the library's repaired clone meets its
    conditions and has the stated weights; the truth over all backgrounds and the blanket are at most its divergence; in
    rationals.
    """
    p, q = sp.symbols("p q")
    a, b, c, beta = statement(LAM, p, q)
    for name, weights in (("a", a), ("b", b), ("c and beta", (*c, beta))):
        yield identity(sum(weights), 1, at=f"sum of {name}: a general clone, so Theorems 4 and 6 apply")
    whole = optimal_decomposition(krr())
    k = krr().inputs
    clones = 1 / (LAM + k - 1)
    cells = list(zip(*statement(LAM, clones, (k - 2) * clones)[:3], strict=True))
    for cell in whole.cells:
        weight = (cell.a, cell.b, cell.c)
        known = [all(sp.cancel(x - y) == 0 for x, y in zip(weight, other, strict=True)) for other in cells]
        yield decide(any(known), at=f"cell {weight} of k-RR, any k", claimed="a cell of the blanket", symbolic=True)
    yield identity(statement(LAM, clones, (k - 2) * clones)[3], whole.beta, at="left-over of k-RR, any k")
    for channel in [STUDY, subset_selection(3), *channels(rng, 4, ((3, 3), (4, 2)))]:
        for position in POSITIONS:
            clone = stronger_clone(channel, PAIR, position=position)
            repaired = clone.four_point(channel)
            at = f"p={clone.p} of {shown(channel)}"
            yield compare(repaired.violations(channel, PAIR), [], at=at)
            own: Any = repaired.gamma - 2 * clone.p if len(repaired.c) == 3 else Fraction(0)
            *weights, rest = statement(clone.lam, clone.p, own)
            claimed = tuple(tuple(column[: len(repaired.c)]) for column in weights)
            yield compare((repaired.a, repaired.b, repaired.c, repaired.beta), (*claimed, rest), at=f"weights, {at}")
            for n in (1, 2):
                for exp_eps in targets(channel.ratio_cap())[:3]:
                    for direction, inputs in DIRECTIONS:
                        where = f"n={n}, exp(eps)={exp_eps}, {direction}, {at}"
                        bound = repaired.reduction_pair().divergence(n, exp_eps, direction=direction)
                        best = primary_decomposition(channel, inputs).reduction_pair().divergence(n, exp_eps)
                        truth, _ = worst_shuffled_divergence(channel, inputs, n, exp_eps)
                        yield compare(truth, bound, "<=", at=f"truth, {where}")
                        yield compare(best, bound, "<=", at=f"blanket, {where}")


def _four_point_weights(lam: Any, p: Any, q: Any) -> tuple[Any, Any, Any, Any]:
    """The weights a, b, c and the left-over's, the third component being Q."""
    own = 1 - p - lam * p
    return (lam * p, p, own), (p, lam * p, own), (p, p, q), 1 - 2 * p - q


SEC_3_3_FOUR_POINT = Claim(
    id="decomposition.sec-3.3-four-point",
    kind="statement",
    title="a repaired stronger clone with four components",
    text=(
        Clause(
            "general clone",
            "With $R(x_i)=pQ_0+pQ_1+qQ+(1-2p-q)Q_i$ the stronger clone is a general clone with weights "
            r"$a=(e^{\varepsilon_0}p,p,1-p-e^{\varepsilon_0}p)$, $b$ with the first two exchanged, "
            "$c=(p,p,q)$.",
        ),
        Clause("bound", "It bounds the shuffled divergence."),
        Clause("blanket", "It never beats the blanket, and is the blanket for k-RR at $q=(k-2)p$."),
    ),
    source="decomposition, Section 3.3, last display; Example 4.1",
    assumptions=(
        "eps0 > 0",
        "q at most the largest weight that every input allows",
        "a general clone is a bound and never beats the blanket (Theorems 4 and 6)",
    ),
    scope="a general clone for all p, q, budgets, and k-RR for all k; six channels at three p, n <= 2",
    grade="proved",
    printed=_four_point_weights,
    check=_four_points,
    controls=(
        Control("left-over of weight 1 - 2p", lambda lam, p, q: (*_four_point_weights(lam, p, q)[:3], 1 - 2 * p)),
        Control(
            "k - 1 instead of k - 2 further symbols",
            lambda lam, p, q: _four_point_weights(lam, p, q + p),
        ),
    ),
    expected="holds",
    obligations=for_all("lam", "p", "q", clause=("general clone", "bound", "blanket")),
)

CLAIMS: tuple[Claim, ...] = (THM_3, SEC_3_3_FOUR_POINT)
