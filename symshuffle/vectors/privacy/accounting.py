r"""Bounds of the worst pair of a randomizer of vectors: of one pair, between two finite laws, and as a reduction.

What n shuffled messages of one pair of inputs reveal, in one order or in the larger one.

The bound of a clipped linear density between two finite laws: few messages of the blanket suffice.

On a cell of heights between its corners G is linear. With a and b the ends of the cell and t the mean height of a
uniform point in it, the atom G(t) is below the law of G on the cell in convex order, and atoms at G(a) and G(b) of that
mean are above it. H(n) rises in that order, so that each finite law gives an end. They approach each other as the
square of the width of the cells; where G is constant both are the law itself.

Evidence: *proved*, in balls; the rest is that of the engine that evaluates the finite laws.

From a randomizer of vectors to what the front doors ask for: the worst pair, and a real pair beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Final

import flint

from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.deployment.adjacency import Adjacency
from symshuffle.accountants.deployment.reduced import (
    LawFamily,
    MixedFamily,
    PairClass,
    Reduction,
    own_reduction,
)
from symshuffle.base.choices import Arithmetic, Blanket, Direction, Relation, weakest_arithmetic
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Real, Verdict, less, to_arb, to_float, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair
from symshuffle.channels.law import NOTHING, Law
from symshuffle.engines.densities.engine import at_most
from symshuffle.vectors.privacy.gaussian_blanket import last_rounded
from symshuffle.vectors.privacy.pairs import FinitePair, Pair, Randomizer, real_pair, worst_pair
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.randomizers.sphere import clipped_numbers, partial_moments


def pair_delta(pair: Pair, n: int, exp_eps: Real, *, arithmetic: Arithmetic = "float64", rtol: float = 1e-8) -> Bracket:
    """H(n) of one pair in one order."""
    return _value(pair, n, exp_eps, Method.of(arithmetic=arithmetic, rtol=rtol))


def larger_order(
    pair: Pair,
    n: int,
    exp_eps: Real,
    *,
    arithmetic: Arithmetic = "float64",
    rtol: float = 1e-8,
    rough_rtol: float = 1e-2,
) -> Bracket:
    """The larger H(n) of the two orders of a pair; the smaller one is computed only as finely as that needs."""
    request = Method.of(arithmetic=arithmetic, rtol=rtol)
    from symshuffle.vectors.privacy.rows import likely_larger, rows_of

    one, other = pair, pair.reverse
    if other is one:
        return _value(one, n, exp_eps, request)
    if not likely_larger(rows_of(pair), n, to_float(exp_eps)):
        one, other = other, one
    known = _value(one, n, exp_eps, request)
    if isinstance(other, ContinuousPair):
        if at_most(LevelledPair(other, exp_eps), n, near=max(known.lower, NOTHING))[0] <= known.lower:
            return known
        rough = _value(other, n, exp_eps, replace(request, rtol=max(request.rtol, rough_rtol), goal=known.lower))
        if rough.upper <= known.lower:
            return known
    return larger(known, _value(other, n, exp_eps, request))


def one_user_bound(
    mechanism: Randomizer,
    target: Fraction,
    *,
    exp_eps: Real,
    adjacency: Relation,
    arithmetic: Arithmetic = "float64",
) -> Bracket | None:
    """Around the delta of every number of users, at most that of one user; None where that is above a target.

    A single message of the longest input against that of the null symbol, or of the opposite input: no blanket enters.
    """
    pair, request = real_pair(mechanism, adjacency=adjacency), Method.of(rtol=1e-8, arithmetic=arithmetic)
    alone = _value(pair, 1, exp_eps, request)
    if alone.upper > target:
        return None
    if pair.reverse is not pair:
        alone = larger(alone, _value(pair.reverse, 1, exp_eps, request))
    if alone.upper > target:
        return None
    evaluation = "at most the value for one user, in closed form"
    return Bracket(Fraction(0), alone.upper, alone.arithmetic, "none", evaluation)


def _value(pair: Pair, n: int, exp_eps: Real, request: Method) -> Bracket:
    if isinstance(pair, FinitePair):
        return evaluate(pair.law(exp_eps, bits=192), n, request)
    return evaluate(LevelledPair(pair, exp_eps), n, request)


def larger(one: Bracket, other: Bracket) -> Bracket:
    """The bracket around the larger of two numbers."""
    first, second = (one, other) if one.upper >= other.upper else (other, one)
    weakest = weakest_arithmetic((first.arithmetic, second.arithmetic))
    return replace(first, lower=max(first.lower, second.lower), arithmetic=weakest)


_BITS: Final = 160


def larger_between(
    mechanism: ClippedLinear,
    n: int,
    *,
    exp_eps: Real,
    adjacency: Relation,
    rtol: float,
    arithmetic: Arithmetic = "float64",
    counts: tuple[int, ...] = (120, 480, 1920),
) -> Bracket:
    """The larger H(n) of the two orders of the worst pair.

    - ``counts``: cells of the heights, the next number where the laws are too far apart.
    """
    glance, request = (Method.of(arithmetic=arithmetic, rtol=width) for width in (0.1, rtol / 4))
    # With opposite inputs both directions have one law.
    orders = (False,) if adjacency == "replace-one" else (False, True)
    few = {reverse: _laws_around(mechanism, exp_eps, adjacency, counts[0], reverse=reverse) for reverse in orders}
    most = {reverse: evaluate(above, n, glance) for reverse, (_, above) in few.items()}
    one = max(most, key=lambda reverse: most[reverse].upper)
    for count in counts:
        below, above = _laws_around(mechanism, exp_eps, adjacency, count, reverse=one)
        low, high = evaluate(below, n, request), evaluate(above, n, request)
        # The other order is below what is certain of this one, or its upper end counts.
        upper = max([high.upper, *(most[k].upper for k in orders if k is not one and most[k].upper > low.lower)])
        if upper - low.lower <= Fraction(rtol) * upper:
            evaluation = f"laws on either side in convex order, {count} cells of a height: {high.evaluation}"
            return replace(high, lower=low.lower, upper=upper, evaluation=evaluation)
    raise Unsupported(f"laws on either side of a clipped density are farther apart than {rtol:.1e}")


def _laws_around(
    mechanism: ClippedLinear, exp_eps: Real, adjacency: Relation, count: int, *, reverse: bool
) -> tuple[Law, Law]:
    """Laws of G below and above in convex order."""
    d, clip = mechanism.dimension, mechanism.clip
    corners = [clip] if adjacency == "zero-out" else [clip, -clip]
    ends = _height_ends(d, corners, count)
    with working_precision(_BITS):
        (gamma, slope, _), ratio = map(to_arb, clipped_numbers(mechanism, bits=_BITS)), to_arb(exp_eps)

        def gain(height: flint.arb, side: Fraction) -> flint.arb:
            """G at a height, by the formulas that hold around another one."""
            first = gamma + slope * (height - to_arb(clip)) if side > clip else gamma
            other = flint.arb(1)
            if adjacency == "replace-one":
                other = gamma + slope * (-height - to_arb(clip)) if -side > clip else gamma
            return (other - ratio * first if reverse else first - ratio * other) / gamma

        below, above = [], []
        for low, high, mass, mean in _height_cells(ends, d):
            side, weight = (low + high) / 2, gamma * mass
            left, right = to_arb(low), to_arb(high)
            below.append((gain(mean, side), weight))
            if adjacency == "zero-out" and side < clip:
                above.append((gain(left, side), weight))
                continue
            share = (mean - left) / (right - left)
            above += [(gain(left, side), weight * (1 - share)), (gain(right, side), weight * share)]
        return _ball_law(below), _ball_law(above)


def _ball_law(atoms: Sequence[tuple[flint.arb, flint.arb]]) -> Law:
    """A law of balls; G is 0 with what probability is left."""
    rest = 1 - sum((w for _, w in atoms), start=flint.arb(0))
    if not all(w > 0 for _, w in atoms):
        raise NotDecided("whether a cell of heights has mass 0 is not decided")
    balls = [(Ball.from_arb(v, _BITS), Ball.from_arb(w, _BITS)) for v, w in atoms]
    return Law.from_atoms([(Fraction(0), Ball.from_arb(rest, _BITS)), *balls])


def _height_ends(
    dimension: int,
    corners: Sequence[Fraction],
    count: int,
    *,
    denominator: int = 2**40,
    wider: float = 3.0,
    beyond_all: int = 24,
) -> list[Fraction]:
    """Ends of cells from -1 to 1, corners among them: below the only one there is one cell, as G is constant there."""
    wide = NormalDist(0, math.sqrt(wider / dimension))
    low = corners[0] if len(corners) == 1 else Fraction(-1)
    start, stop = wide.cdf(float(low)), wide.cdf(1.0)
    inner = [wide.inv_cdf(start + (stop - start) * k / count) for k in range(1, count)]
    step = 1 / math.sqrt(dimension) / 4
    beyond = [inner[-1] + step * k for k in range(1, beyond_all)]
    beyond += [] if len(corners) == 1 else [-end for end in beyond]
    grid = {Fraction(round(end * denominator), denominator) for end in (*inner, *beyond)}
    return sorted({end for end in grid if low < end < 1} | {Fraction(-1), Fraction(1), *corners})


def _height_cells(ends: Sequence[Fraction], dimension: int) -> list[tuple[Fraction, Fraction, flint.arb, flint.arb]]:
    """Cells with their masses and mean heights, of a uniform point: from the side on which nothing cancels."""
    found = []
    moments = {end: partial_moments(to_arb(-abs(end)), dimension)[:2] for end in ends}
    for low, high in pairwise(ends):
        if low < 0 < high:
            mass = 1 - moments[low][0] - moments[high][0]
            part = moments[high][1] - moments[low][1]
        else:
            near, far = (low, high) if low >= 0 else (high, low)
            mass, part = (moments[near][k] - moments[far][k] for k in (0, 1))
            part = -part if low >= 0 else part
        found.append((low, high, mass, part / mass))
    return found


_WHY = "why no other pair is worse: symshuffle.vectors.privacy.pairs"


def usual_blanket(mechanism: object) -> Blanket:
    """The blanket that is meant where none is named: that of the null symbol, where it has any mass."""
    return "largest" if isinstance(mechanism, LocalGaussian) else "mechanism"


@own_reduction.register(BlanketMixedGaussian | LocalGaussian | SphereLinear | PrivUnit | ClippedLinear)
def _reduction(mechanism: Any, adjacency: Adjacency) -> Reduction:
    """The worst pair of a randomizer as the laws of one class of pairs."""
    relation = adjacency.relation or "replace-one"
    kind = adjacency.blanket or usual_blanket(mechanism)
    at = cache(lambda x: worst_pair(mechanism, adjacency=relation, blanket=kind, exp_eps=x))
    pair, pairs, real_one = at(Fraction(1)), at(Fraction(1)).about, real_pair(mechanism, adjacency=relation)
    finite, mixed = families(pair)
    if finite is None:
        mixed = _levelled(at)
    if isinstance(mechanism, LocalGaussian) and relation == "zero-out":
        last = last_rounded(mechanism.sigma0)
        mixed, pairs = _null_of_gaussian(at, last, real_one), _null_in_words(pair, last)
    real, beside = families(real_one)
    datasets = PairClass.real(_describe(mechanism, relation), real, beside)
    return Reduction(
        (PairClass(pairs, finite, mixed=mixed, datasets=lambda: (datasets,)),),
        True,
        relation,
        pairs=pairs,
        theorem=f"vecmean, Appendix C; {_WHY}",
        first="X0 holding the vector" if relation == "zero-out" else "",
    )


def _levelled(at: Callable[[Real], Pair]) -> MixedFamily:
    """Of each level the pair meant there: of some the blanket depends on it."""

    def mixed(exp_eps: Real, direction: Direction, _: int | None) -> LevelledPair:
        pair = at(exp_eps)
        one = pair if direction == "forward" else pair.reverse
        assert not isinstance(one, FinitePair)
        return LevelledPair(one, exp_eps)

    return mixed


def _null_of_gaussian(at: Callable[[Real], Pair], last: Fraction | None, real: Pair) -> MixedFamily:
    """Unmixed Gaussian noise against the null symbol: beyond the last level of rounding the smallest of three bounds.

    They are that of opposite inputs, that of the null symbol at the last level of rounding, since no divergence rises
    with the level, and that of one user, since none rises with the number of users.
    """
    plain = _levelled(at)

    def mixed(exp_eps: Real, direction: Direction, bits: int | None) -> LevelledPair:
        main = plain(exp_eps, direction, bits)
        assert isinstance(main, LevelledPair)
        if last is not None and less(last, exp_eps) is Verdict.FALSE:
            return main
        single = real if direction == "forward" else real.reverse
        assert not isinstance(single, FinitePair)
        others = () if last is None else (plain(last, direction, bits),)
        return replace(main, others=others, single=single)  # type: ignore[arg-type]  # of levels alone

    return mixed


def _null_in_words(pair: Pair, last: Fraction | None) -> str:
    if last is None:
        return f"{pair.about}, or of a single user a unit vector x against the null symbol: the smaller bound"
    return f"{pair.about}, up to exp(eps) = {last}; beyond, the smallest of three bounds, which the method names"


def families(pair: Pair, *, least: int = 192) -> tuple[LawFamily | None, MixedFamily | None]:
    """A pair as a family of finite laws, in so many bits at least, or of levelled pairs; one of the two."""
    if not isinstance(pair, FinitePair):
        return None, _levelled(lambda _: pair)

    def finite(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
        one = pair if direction == "forward" else pair.reverse
        return one.law(exp_eps, bits=max(bits or DEFAULT_BITS, least))

    return finite, None


def _describe(mechanism: object, adjacency: Relation) -> Callable[[int], str]:
    """The real pair in words."""
    other = "null" if adjacency == "zero-out" else "-x"
    length = mechanism.norm if isinstance(mechanism, BlanketMixedGaussian) else 1
    return lambda n: f"X0 = (x, -x x {n - 1}), X1 = ({other}, -x x {n - 1}), |x| = {length}"
