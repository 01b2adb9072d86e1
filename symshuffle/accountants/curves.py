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

import html
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias, Unpack, final

from symshuffle.accountants.amplification import about_delta, about_epsilon
from symshuffle.accountants.chords import Node, lines_below, meetings
from symshuffle.accountants.covered import Covering, Whom, spelled_out
from symshuffle.accountants.evaluate import Request, check_n
from symshuffle.accountants.experiments import Experiment, bound_of, covered_by, experiment, smallest_of, width_of
from symshuffle.accountants.guided import interpolation
from symshuffle.accountants.neighbours import Neighbours
from symshuffle.accountants.plan import WIDTH_OF_DELTA, WIDTH_OF_EPS, Rounds
from symshuffle.accountants.reduction import Source
from symshuffle.choices import CurveKind, Question, Rigour, replace_choice
from symshuffle.errors import InputError, Unsupported
from symshuffle.executors import mapped
from symshuffle.mechanisms.parameters import read_delta, read_target
from symshuffle.numbers import Real, as_integer, format_decimal, parse_rational
from symshuffle.results import Bracket, SafeEnd, outward
from symshuffle.rows import Row, ends

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many of how many points are known."""

MOST_POINTS: Final = 10_000
_SMALLEST_DELTA: Final = Fraction(1, 10**9)
_OF_DELTA: Final = 1e-6
_OF_EPS: Final = 1e-4
"""Relative widths that are aimed at, of one round, where none is asked for."""

_LEVELS: Final = 60
_SHOWN: Final = 50
"""Points of a curve that its table shows."""


@final
@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve: an exact argument, and the bracket there."""

    x: Fraction
    y: Bracket


@final
@dataclass(frozen=True, slots=True, repr=False)
class Curve:
    """A sampled curve: an answer at every point.

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

    kind: CurveKind
    x: str
    y: str
    points: tuple[CurvePoint, ...]
    neighbours: Neighbours
    about: str

    def __post_init__(self) -> None:
        replace_choice(CurveKind, self, "kind")

    @property
    def direction(self) -> Question:
        """Which divergence."""
        return self.neighbours.question

    @property
    def meaning(self) -> str:
        """The same as :attr:`about`."""
        return self.about

    @property
    def safe(self) -> SafeEnd:
        """Which end of each bracket is a bound on the shuffled experiment."""
        return SafeEnd.LOWER if self.kind is CurveKind.F_DP else SafeEnd.UPPER

    @property
    def how(self) -> str:
        """How the points are known: the method at the last one, which every other has in its own ``y.how``."""
        return self.points[-1].y.how

    @property
    def rigour(self) -> Rigour:
        """That of the weakest point."""
        return min((point.y.rigour for point in self.points), key=lambda rigour: rigour.strength)

    def rows(self) -> list[dict[str, str]]:
        """The points as text: the argument, both ends as decimals rounded outward, and the engine."""
        return [
            {self.x: format_decimal(p.x, digits=17, up=False), **p.y.decimals(), "engine": p.y.engine}
            for p in self.points
        ]

    def to_rows(self) -> list[Row]:
        """The points as numbers, for a data frame: both ends as doubles rounded outward, and their logarithms."""
        return [
            {
                self.x: outward(point.x, up=False),
                **ends(point.y),
                "safe": self.safe.value,
                "rigour": point.y.rigour.value,
                "engine": point.y.engine,
            }
            for point in self.points
        ]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the points, which end is safe, how they are known and whom they cover."""
        return {
            "kind": self.kind.value,
            "x": self.x,
            "y": self.y,
            "safe": self.safe.value,
            "points": self.rows(),
            "rigour": self.rigour.value,
            "how": self.how,
            "direction": self.direction.value,
            "adjacency": self.neighbours.adjacency.value,
            "neighbours": self.neighbours.to_dict(),
            "meaning": self.about,
        }

    def __float__(self) -> NoReturn:
        raise Unsupported(
            f"a curve of {len(self.points)} points is no number: use .points[i].y.lower or .points[i].y.upper, "
            f"of which the {self.safe} one is the bound"
        )

    def __repr__(self) -> str:
        first, last = (format_decimal(self.points[i].x, digits=6, up=False) for i in (0, -1))
        return f"<{self.y} by {self.x} from {first} to {last}, {len(self.points)} points, {self.rigour.value}>"

    def _repr_html_(self) -> str:
        head = f"<tr><th>{self.x}</th><th>{self.y}, lower</th><th>{self.y}, upper</th></tr>"
        cells = (
            (format_decimal(p.x, digits=9, up=False), shown["lower"], shown["upper"])
            for p in self.points[:_SHOWN]
            for shown in (p.y.decimals(9),)
        )
        body = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in cells)
        more = f"<p>and {len(self.points) - _SHOWN} more points</p>" if len(self.points) > _SHOWN else ""
        return f"<table>{head}{body}</table>{more}<p>{html.escape(self.about)}</p>"


def spaced(start: object, stop: object, points: int, *, geometric: bool = False) -> tuple[Fraction, ...]:
    """Arguments from start to stop, both included; geometric ones are rounded to four digits between the ends.

    Raises
    ------
    InputError
        If the ends are not in rising order, or the number of points is not in [2, 10000].
    """
    low, high = parse_rational(start, "from"), parse_rational(stop, "to")
    points = as_integer(points, "points", 2, MOST_POINTS)
    if low >= high:
        raise InputError("from, to", f"{start}, {stop}", "from < to")
    if not geometric:
        return tuple(low + (high - low) * Fraction(i, points - 1) for i in range(points))
    if low <= 0:
        raise InputError("from", start, "a number > 0")
    ratio = float(high / low) ** (1 / (points - 1))
    inner = (Fraction(f"{float(low) * ratio**i:.4g}") for i in range(1, points - 1))
    return tuple(sorted({low, high, *(x for x in inner if low < x < high)}))


@spelled_out
def delta_curve(
    source: Source | Rounds | Sequence[Rounds],
    *,
    n: int | None,
    levels: Sequence[object],
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float | None = None,
    bits: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **whom: Unpack[Whom],
) -> Curve:
    """The privacy profile: a bound on delta at each level eps.

    Parameters
    ----------
    source, n, direction, rigour, rel, bits, adjacency, blanket, null, min_users, dropout, group
        As in :func:`symshuffle.delta`.
    levels : sequence of number or text
        Levels eps >= 0, in rising order.
    executor : Executor, optional
        Who computes the points, as in :func:`symshuffle.sweep`; without one, this process.
    progress : callable, optional
        Called with the numbers of points known and wanted.
    """
    asked = experiment(source, Covering.of(**whom))
    request = Request.of(direction, None, rigour, width_of(asked, rel, _OF_DELTA, WIDTH_OF_DELTA), bits)
    if not levels:
        raise InputError("levels", levels, "at least one level")
    places = [parse_rational(level, "eps") for level in levels]
    at = partial(_at_order, *_sent(source, whom, asked, executor), n, request)
    neighbours, together = covered_by(asked, n, request.direction)
    values = mapped(at, [read_target(eps=eps) for eps in places], executor, progress)
    found = tuple(map(CurvePoint, places, values))
    return Curve(CurveKind.DELTA_EPS, "eps", "delta", found, neighbours, f"{about_delta(neighbours)}{together}")


def _sent(source: Any, whom: Whom, asked: Experiment, executor: Executor | None) -> tuple[Any, Covering]:
    """What points are computed with: the reduction made here, or what was given, where workers reduce it themselves."""
    return (asked, Covering()) if executor is None else (source, Covering.of(**whom))


def _at_order(source: Any, covering: Covering, n: int | None, request: Request, order: Real) -> Bracket:
    return bound_of(experiment(source, covering), n, order, request)


def _at_users(
    source: Any, covering: Covering, target: Fraction, request: Request, n: int, near: Fraction | None = None
) -> Bracket:
    return smallest_of(experiment(source, covering), n, target, request, near)


@spelled_out
def amplification_curve(
    source: Source | Rounds | Sequence[Rounds],
    *,
    delta: object,
    users: Sequence[int],
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float | None = None,
    bits: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **whom: Unpack[Whom],
) -> Curve:
    """Amplification: the smallest eps at a fixed delta, as a function of the number of users.

    Parameters
    ----------
    source, delta, direction, rigour, bits, adjacency, blanket, null, min_users, dropout, group
        As in :func:`symshuffle.epsilon`.
    users : sequence of int
        Numbers of users, in rising order.
    rel : float
        Relative width of the bracket around each eps to aim at; default 1e-4, with dropout or several rounds 1e-3.
    executor, progress
        As in :func:`delta_curve`. With an executor points do not tell each other where to look, so that brackets may
        differ within ``rel`` from those computed here.
    """
    asked = experiment(source, Covering.of(**whom))
    width = width_of(asked, rel, _OF_EPS, WIDTH_OF_EPS)
    request, target = Request.of(direction, None, rigour, width, bits), read_delta(delta)
    neighbours, together = covered_by(asked, None, request.direction)
    if not users:
        raise InputError("users", users, "at least one number of users")
    numbers = [check_n(n) for n in users]
    at = partial(_at_users, *_sent(source, whom, asked, executor), target, request)
    if executor is None:
        points = along_users(at, numbers, progress)
    else:
        values = mapped(at, numbers, executor, progress)
        points = tuple(CurvePoint(Fraction(n), value) for n, value in zip(numbers, values, strict=True))
    return Curve(CurveKind.EPS_N, "n", "eps", points, neighbours, f"{about_epsilon(neighbours)}{together}")


def along_users(
    smallest: Callable[[int, Fraction | None], Bracket], users: Sequence[int], progress: Progress | None = None
) -> tuple[CurvePoint, ...]:
    """The smallest eps at each number of users, every point telling where to look for the next.

    Parameters
    ----------
    smallest : callable
        From a number of users and a guess of the answer (or None) to a bracket around the smallest eps.
    users : sequence of int
        Numbers of users, in rising order.
    progress : callable, optional
        Called with the numbers of points known and wanted.
    """
    found: list[CurvePoint] = []
    for n in users:
        found.append(CurvePoint(Fraction(n), smallest(n, _extrapolated(found, n))))
        if progress is not None:
            progress(len(found), len(users))
    return tuple(found)


def _extrapolated(found: Sequence[CurvePoint], n: int) -> Fraction | None:
    """Of the last points, in logarithms: the parabola through three, the line through two, 1/sqrt(n) from one."""
    if not found or found[-1].y.upper == 0:
        return None
    last = found[-3:]
    places = [math.log(point.x) for point in last]
    heights = [math.log(point.y.upper) + place / 2 for point, place in zip(last, places, strict=True)]
    return Fraction(math.exp(interpolation(places, heights)(math.log(n)) - math.log(n) / 2))


@spelled_out
def tradeoff_curve(
    source: Source | Rounds | Sequence[Rounds],
    *,
    n: int | None,
    alphas: Sequence[object],
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float | None = None,
    bits: int | None = None,
    levels: int = _LEVELS,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **whom: Unpack[Whom],
) -> Curve:
    """The f-DP trade-off: the least type II error of any test of two neighbours, at each type I error.

    Parameters
    ----------
    source, n, rigour, rel, bits, adjacency, blanket, null, min_users, dropout, group
        As in :func:`symshuffle.delta`. Both directions are taken.
    alphas : sequence of number or text
        Type I errors in [0, 1], in rising order.
    levels : int
        Levels eps at which the profile is evaluated; more of them narrow the bracket.
    executor, progress
        As in :func:`delta_curve`; the points are those levels.

    Raises
    ------
    InputError
        If an error is outside [0, 1] or there are fewer than two levels.
    """
    errors = [parse_rational(alpha, "alpha") for alpha in alphas]
    for alpha in errors:
        if not 0 <= alpha <= 1:
            raise InputError("alpha", alpha, "a type I error in [0, 1]")
    if not errors:
        raise InputError("alphas", alphas, "at least one type I error")
    levels = as_integer(levels, "levels", 2)
    asked = experiment(source, Covering.of(**whom))
    request = Request.of(Question.BOTH, None, rigour, width_of(asked, rel, _OF_DELTA, WIDTH_OF_DELTA), bits)
    neighbours, together = covered_by(asked, n, Question.BOTH)
    if neighbours.participation.group > 1:
        raise Unsupported(f"group {neighbours.participation.group}: the trade-off of one user only; ask for delta(eps)")
    orders = tuple(_orders(asked, n, levels))
    at = partial(_at_order, *_sent(source, whom, asked, executor), n, request)
    falling = orders[::-1]  # of several rounds, what the last level takes is enough for all others
    profile = list(map(CurvePoint, falling, mapped(at, falling, executor, progress)))[::-1]
    last = profile[-1].y
    how = f"envelope of {len(profile)} levels of the profile; at the last: {last.how}"
    weakest = min((point.y.rigour for point in profile), key=lambda level: level.strength)
    points = []
    for alpha in errors:
        low = max(_lines(point.x, point.y.upper, alpha) for point in profile)
        high = max(low, *_between(profile, alpha))
        points.append(CurvePoint(alpha, Bracket(low, min(high, 1 - alpha), weakest, last.engine, how)))
    text = (
        "lower bounds the type II error, at each type I error alpha, of every test of two datasets, as the envelope of "
        f"the lines of a profile delta that bounds {neighbours.compared}; upper is the other side of "
        f"this envelope{together}"
    )
    return Curve(CurveKind.F_DP, "alpha", "beta", tuple(points), neighbours, text)


def _orders(asked: Experiment, n: int | None, levels: int) -> Iterator[Fraction]:
    """Rational target ratios from 1 to where delta is of no account, denser towards 1."""
    request = Request(rel=1e-2)
    try:
        top = float(smallest_of(asked, n, _SMALLEST_DELTA, request).upper)
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
    """Upper bounds on what levels between the sampled ones, and beyond the last, could add to the envelope.

    The lines of the envelope rise as delta falls, so they are taken at a lower bound on delta: on a stretch between two
    levels the larger of the :func:`~symshuffle.accountants.chords.lines_below`. Where that is straight, a line of the
    envelope is monotone in ``x = exp(eps)`` or straight, so over a stretch it is largest at an end, or where the lines
    below meet. Beyond the last level delta is at least 0, which leaves the envelope at alpha = 0 at 1 even where a
    histogram reveals something for certain.
    """
    nodes = [Node(point.x, point.y.lower, point.y.upper) for point in profile]
    for i, (left, right) in enumerate(itertools.pairwise(nodes)):
        lines = lines_below(nodes, i)
        for x in (left.x, right.x, *meetings(lines, left.x, right.x)):
            yield _lines(x, max(line.at(x) for line in lines), alpha)
    last = profile[-1].x
    yield max(Fraction(0), 1 - last * alpha, (1 - alpha) / last)
