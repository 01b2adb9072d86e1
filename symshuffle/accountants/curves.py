r"""Curves: delta as a function of eps, eps as a function of n, and the trade-off of the two errors of a test.

One reduction is derived per curve; only its laws are evaluated at each point.

The trade-off function of a pair of experiments is the upper envelope of the lines that its divergences give,

.. math:: f(\alpha)=\sup_{\varepsilon\ge0}\max\bigl(0,\;1-\delta(\varepsilon)-e^{\varepsilon}\alpha,\;
   e^{-\varepsilon}(1-\delta(\varepsilon)-\alpha)\bigr),

for a profile delta that holds in both directions (Dong, Roth, Su 2022, Proposition 2.12; the identity itself is
Neyman-Pearson). Upper bounds on delta at finitely many levels give a *lower* bound on f, the safe side. The other side
of the bracket covers the levels between: delta is convex and falling in :math:`x=e^{\varepsilon}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias, final

from symshuffle.accountants.evaluate import check_n
from symshuffle.accountants.guided import interpolation
from symshuffle.accountants.neighbours import Neighbours
from symshuffle.accountants.reduction import Source, reduction
from symshuffle.accountants.solve import about_delta, about_epsilon, delta, epsilon
from symshuffle.choices import Question, Rigour, choice
from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import parse_rational
from symshuffle.results import Bracket

Kind: TypeAlias = Literal["delta-eps", "eps-n", "f-dp"]

MOST_POINTS: Final = 10_000
_SMALLEST_DELTA: Final = Fraction(1, 10**9)
_LEVELS: Final = 60


@final
@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve: an exact argument, and the bracket there."""

    x: Fraction
    y: Bracket


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """A sampled curve.

    Parameters
    ----------
    kind : {"delta-eps", "eps-n", "f-dp"}
        What is a function of what.
    x, y : str
        Names of the two axes.
    points : tuple of CurvePoint
        In rising order of x. The safe end is ``y.upper``, but ``y.lower`` for a trade-off curve.
    neighbours : Neighbours
        The pairs of datasets that the curve speaks about.
    about : str
        Which experiment the curve speaks about, by which theorem.
    """

    kind: Kind
    x: str
    y: str
    points: tuple[CurvePoint, ...]
    neighbours: Neighbours
    about: str

    @property
    def direction(self) -> Question:
        """Which divergence."""
        return self.neighbours.question

    @property
    def meaning(self) -> str:
        """The same as :attr:`about`."""
        return self.about

    @property
    def safe(self) -> Literal["lower", "upper"]:
        """Which end of each bracket is a bound on the shuffled experiment."""
        return "lower" if self.kind == "f-dp" else "upper"


def spaced(start: object, stop: object, points: int, *, geometric: bool = False) -> tuple[Fraction, ...]:
    """Arguments from start to stop, both included; geometric ones are rounded to four digits between the ends.

    Raises
    ------
    InputError
        If the ends are not in rising order, or the number of points is not in [2, 10000].
    """
    low, high = parse_rational(start, "from"), parse_rational(stop, "to")
    if not 2 <= points <= MOST_POINTS:
        raise InputError("points", points, f"an integer from 2 to {MOST_POINTS}")
    if low >= high:
        raise InputError("from, to", f"{start}, {stop}", "from < to")
    if not geometric:
        return tuple(low + (high - low) * Fraction(i, points - 1) for i in range(points))
    if low <= 0:
        raise InputError("from", start, "a number > 0")
    ratio = float(high / low) ** (1 / (points - 1))
    inner = (Fraction(f"{float(low) * ratio**i:.4g}") for i in range(1, points - 1))
    return tuple(sorted({low, high, *(x for x in inner if low < x < high)}))


def delta_curve(
    source: Source,
    *,
    n: int,
    levels: Sequence[object],
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = 1e-6,
    bits: int | None = None,
    adjacency: object = None,
    blanket: object = None,
) -> Curve:
    """The privacy profile: a bound on delta at each level eps.

    Parameters
    ----------
    source, n, direction, rigour, rel, bits, adjacency, blanket
        As in :func:`symshuffle.delta`.
    levels : sequence of number or text
        Levels eps >= 0, in rising order.
    """
    direction = choice(Question, direction, "direction")
    if not levels:
        raise InputError("levels", levels, "at least one level")
    reduced = reduction(source, adjacency=adjacency, blanket=blanket)
    found = []
    for eps in (parse_rational(level, "eps") for level in levels):
        bound = delta(reduced, n=n, eps=eps, direction=direction, rigour=rigour, rel=rel, bits=bits)
        found.append(CurvePoint(eps, bound.bracket))
    neighbours = reduced.neighbours(direction, n)
    return Curve("delta-eps", "eps", "delta", tuple(found), neighbours, about_delta(neighbours))


def amplification_curve(
    source: Source,
    *,
    delta: object,
    users: Sequence[int],
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = 1e-4,
    bits: int | None = None,
    adjacency: object = None,
    blanket: object = None,
) -> Curve:
    """Amplification: the smallest eps at a fixed delta, as a function of the number of users.

    Parameters
    ----------
    source, delta, direction, rigour, bits, adjacency, blanket
        As in :func:`symshuffle.epsilon`.
    users : sequence of int
        Numbers of users, in rising order.
    rel : float
        Relative width of the bracket around each eps to aim at.
    """
    direction = choice(Question, direction, "direction")
    reduced = reduction(source, adjacency=adjacency, blanket=blanket)
    if not users:
        raise InputError("users", users, "at least one number of users")

    def smallest(n: int, near: Fraction | None) -> Bracket:
        return epsilon(
            reduced, n=n, delta=delta, direction=direction, rigour=rigour, rel=rel, bits=bits, near=near
        ).bracket

    neighbours = reduced.neighbours(direction, None)
    return Curve("eps-n", "n", "eps", along_users(smallest, users), neighbours, about_epsilon(neighbours))


def along_users(smallest: Callable[[int, Fraction | None], Bracket], users: Sequence[int]) -> tuple[CurvePoint, ...]:
    """The smallest eps at each number of users, every point telling where to look for the next.

    Parameters
    ----------
    smallest : callable
        From a number of users and a guess of the answer (or None) to a bracket around the smallest eps.
    users : sequence of int
        Numbers of users, in rising order.
    """
    found: list[CurvePoint] = []
    for n in users:
        found.append(CurvePoint(Fraction(n), smallest(n, _extrapolated(found, n))))
    return tuple(found)


def _extrapolated(found: Sequence[CurvePoint], n: int) -> Fraction | None:
    """Of the last points, in logarithms: the parabola through three, the line through two, 1/sqrt(n) from one."""
    if not found or found[-1].y.upper == 0:
        return None
    last = found[-3:]
    places = [math.log(point.x) for point in last]
    heights = [math.log(point.y.upper) + place / 2 for point, place in zip(last, places, strict=True)]
    return Fraction(math.exp(interpolation(places, heights)(math.log(n)) - math.log(n) / 2))


def tradeoff_curve(
    source: Source,
    *,
    n: int,
    alphas: Sequence[object],
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = 1e-6,
    bits: int | None = None,
    levels: int = _LEVELS,
    adjacency: object = None,
    blanket: object = None,
) -> Curve:
    """The f-DP trade-off: the least type II error of any test of two neighbours, at each type I error.

    Parameters
    ----------
    source, n, rigour, rel, bits, adjacency, blanket
        As in :func:`symshuffle.delta`. Both directions are taken.
    alphas : sequence of number or text
        Type I errors in [0, 1], in rising order.
    levels : int
        Levels eps at which the profile is evaluated; more of them narrow the bracket.

    Raises
    ------
    InputError
        If an error is outside [0, 1] or there are fewer than two levels.
    """
    n = check_n(n)
    errors = [parse_rational(alpha, "alpha") for alpha in alphas]
    for alpha in errors:
        if not 0 <= alpha <= 1:
            raise InputError("alpha", alpha, "a type I error in [0, 1]")
    if levels < 2:
        raise InputError("levels", levels, "at least 2")
    reduced = reduction(source, adjacency=adjacency, blanket=blanket)
    profile = [
        CurvePoint(x, delta(reduced, n=n, exp_eps=x, rigour=rigour, rel=rel, bits=bits).bracket)
        for x in _orders(reduced, n, levels)
    ]
    last = profile[-1].y
    how = f"envelope of {len(profile)} levels of the profile; at the last: {last.how}"
    weakest = min((point.y.rigour for point in profile), key=lambda level: level.strength)
    points = []
    for alpha in errors:
        low = max(_lines(point.x, point.y.upper, alpha) for point in profile)
        high = max(low, *_between(profile, alpha))
        points.append(CurvePoint(alpha, Bracket(low, min(high, 1 - alpha), weakest, last.engine, how)))
    neighbours = reduced.neighbours(Question.BOTH, n)
    text = (
        "lower bounds the type II error, at each type I error alpha, of every test of two datasets, as the envelope of "
        f"the lines of a profile delta that bounds {neighbours.compared}; upper is the other side of "
        "this envelope"
    )
    return Curve("f-dp", "alpha", "beta", tuple(points), neighbours, text)


def _orders(source: Source, n: int, levels: int) -> Iterator[Fraction]:
    """Rational target ratios from 1 to where delta is of no account, denser towards 1."""
    try:
        top = float(epsilon(source, n=n, delta=_SMALLEST_DELTA, rel=1e-2).bracket.upper)
    except Unsupported:  # a histogram reveals more than that for certain, at every level
        top = 10.0
    yield Fraction(1)
    for i in range(1, levels):
        x = Fraction(math.expm1(top * i / (levels - 1))).limit_denominator(10**12)
        if x > 0:
            yield 1 + x


def _lines(x: Fraction, delta: Fraction, alpha: Fraction) -> Fraction:
    """The best lower bound on the type II error that one level of the profile gives."""
    return max(Fraction(0), 1 - delta - x * alpha, (1 - delta - alpha) / x)


def _between(profile: Sequence[CurvePoint], alpha: Fraction) -> Iterator[Fraction]:
    """Upper bounds on what the levels between the sampled ones, and beyond the last, could add to the envelope.

    Between two levels delta is above both neighbouring chords, extended; on that lower bound of delta both lines of
    the envelope are largest at an end or where the two chords meet. Beyond the last level delta is at least 0,
    which leaves the other side at alpha = 0 at 1 even where a histogram reveals something for certain.
    """
    for i in range(len(profile) - 1):
        left, right = profile[i], profile[i + 1]
        # Each chord extended: a value at the near end that is certainly not above delta, and its slope.
        chords = [(right.x, right.y.lower, Fraction(0))]
        if i > 0:
            before = profile[i - 1]
            slope = (left.y.lower - before.y.upper) / (left.x - before.x)
            chords.append((left.x, left.y.lower, min(slope, Fraction(0))))
        if i + 2 < len(profile):
            after = profile[i + 2]
            slope = (after.y.upper - right.y.lower) / (after.x - right.x)
            chords[0] = (right.x, right.y.lower, min(slope, Fraction(0)))
        places = {left.x, right.x}
        if len(chords) == 2 and chords[0][2] != chords[1][2]:
            (x0, y0, s0), (x1, y1, s1) = chords
            places.add(min(max((y1 - y0 + s0 * x0 - s1 * x1) / (s0 - s1), left.x), right.x))
        for x in places:
            below = max(Fraction(0), *(y + slope * (x - at) for at, y, slope in chords))
            yield _lines(x, below, alpha)
    last = profile[-1].x
    yield max(Fraction(0), 1 - last * alpha, (1 - alpha) / last)
