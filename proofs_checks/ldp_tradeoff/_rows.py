"""Arguments about an arbitrary row of a channel, shared by the statements that rest on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from symshuffle.ledger.claims.comparisons import Comparison, decide
from symshuffle.ledger.claims.model import identity


def layers(level: Any, lam: Any) -> Iterator[Comparison]:
    """Every row of an LDP channel at ``lam`` is a sum of two-level rows at ``level``, and these are LDP.

    Let a row have the smallest entry a and rise by d_1, d_2, ... to its larger levels; d_j is added on the inputs
    that reach the j-th. That set is not empty, and without the inputs at a not everything. A two-level row at a set is
    1 + (level - 1) times its indicator i. It is taken d_j/(level - 1) times; what is left is a multiple of the all-ones
    row, and that is a multiple of the sum of the rows of a set and of its complement.
    """
    d, i = sp.symbols("d i", nonnegative=True)
    term = d / (level - 1) * (1 + (level - 1) * i)
    yield identity(term, d / (level - 1) + d * i, at="one layer at one input: its rise, and a constant to subtract")
    low, share = sp.symbols("a t", positive=True)
    top = (lam * low + share * low) / (1 + share)  # any largest entry from a to lam a
    rest = low - (top - low) / (level - 1)
    at = "what is left of the smallest entry is not negative, any rise up to a factor lam"
    yield decide(_positive(rest), at=at, claimed=">= 0", symbolic=True)
    pair = (1 + (level - 1) * i) + (1 + (level - 1) * (1 - i))
    yield identity(pair, level + 1, at="a set and its complement make a constant row")
    allowed = sp.expand(lam - level).is_nonnegative is True
    yield decide(allowed, at="two-level rows at this level are LDP", claimed="yes", symbolic=True)


def _positive(expression: Any) -> bool:
    """Whether all terms of the numerator are non-negative, and the denominator is positive."""
    numerator, denominator = sp.fraction(sp.factor(sp.cancel(expression)))
    return bool(sp.expand(numerator).is_nonnegative and sp.expand(denominator).is_positive)


def off_the_ray(lam: Any) -> bool:
    """Whether the two-level rows of two different non-empty proper subsets are never on one ray.

    Inputs fall into four cells: in both, in the first alone, in the second alone, in neither. Of every pattern of
    non-empty cells that two different such subsets can have, some 2 x 2 minor is not zero for any ``lam`` > 1.
    """
    for cells in itertools.product((False, True), repeat=4):
        there = [kind for kind, full in zip(((1, 1), (1, 0), (0, 1), (0, 0)), cells, strict=True) if full]
        sides = [{kind[side] for kind in there} for side in (0, 1)]
        if sides != [{0, 1}, {0, 1}] or not {(1, 0), (0, 1)} & set(there):
            continue  # a subset is empty or everything, or the two are equal
        rows = [[1 + (lam - 1) * kind[side] for kind in there] for side in (0, 1)]
        minors = [sp.expand(rows[0][i] * rows[1][j] - rows[0][j] * rows[1][i])
                  for i, j in itertools.combinations(range(len(there)), 2)]  # fmt: skip
        if not any(minor.is_nonzero for minor in minors):
            return False
    return True


def weights_agree(first: Any, second: Any) -> bool:
    """Whether two maximal channels of weights can be equivalent if one subset has these two weights.

    The row of y in the first is a sum of kernel entries times rows of the second, all in the cone. That row is extreme,
    so every summand is on its ray; rows of other subsets are not, so only the row of y contributes. Its kernel entry is
    from 0 to 1: the weight in the first is at most that in the second, and by the other kernel the reverse.
    """
    lam = 1 + sp.Symbol("w", positive=True)
    gap = sp.expand(sp.sympify(first) - second)
    if gap == 0 or not off_the_ray(lam):
        return True
    q = 1 / (1 + sp.Symbol("z", nonnegative=True))  # a kernel entry in (0, 1]; 0 would give weight 0
    larger, smaller = (first, second) if gap.is_positive else (second, first)
    reached = sp.factor(sp.cancel(q * smaller - larger))
    return sp.expand(sp.fraction(reached)[0]).is_negative is not True


def perspective_excess(convex: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    """Differences that vanish for the measure b f(a/b) of a row, with a and b linear in it, b positive, f convex.

    It is homogeneous. Two rows exceed their sum by (b + b') times the gap in Jensen's inequality for f at a/b and a'/b'
    with the weights b/(b + b') and b'/(b + b'), which is not negative.
    """
    a, other_a = sp.symbols("a a'", real=True)
    b, other_b, scale = sp.symbols("b b' c", positive=True)

    def measure(upper: Any, lower: Any) -> Any:
        return lower * convex(upper / lower)

    yield "homogeneous", measure(scale * a, scale * b) - scale * measure(a, b)
    share, rest = b / (b + other_b), other_b / (b + other_b)
    middle = sp.cancel(share * (a / b) + rest * (other_a / other_b))
    yield "the average of the two ratios is the ratio of the sums", sp.cancel(middle - (a + other_a) / (b + other_b))
    jensen = share * convex(a / b) + rest * convex(other_a / other_b) - convex((a + other_a) / (b + other_b))
    excess = measure(a, b) + measure(other_a, other_b) - measure(a + other_a, b + other_b)
    yield "excess is a multiple of Jensen's gap", excess - (b + other_b) * jensen


def mixture_not_below(smallest: Any, values: tuple[Any, Any], share: Any, bend: Any) -> bool:
    """Whether a risk at a mixture of two points is at least ``smallest``, from its values at the points.

    It exceeds the average of the two by ``bend``: at least 0 for a concave risk, of any sign for another.
    """
    return _positive(sp.expand(share * values[0] + (1 - share) * values[1] + bend - smallest))


def linear_in_weights() -> bool:
    """Whether the sum of F over weighted rows is linear between two points, for any F with F(c v) = c F(v).

    Of one subset, with the row (a, b); a sum over subsets adds up. Such an F is a f(b/a) with any function f.
    """
    c, other, a, b, share = sp.symbols("c d a b t", positive=True)
    f = sp.Function("f")

    def added(weight: Any) -> Any:
        first, second = weight * a, weight * b
        return first * f(sp.cancel(second / first))

    mixed = added(share * c + (1 - share) * other)
    return bool(sp.expand(mixed - share * added(c) - (1 - share) * added(other)) == 0)
