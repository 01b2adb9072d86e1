"""Curves: a bound at every point of a line, as delta at levels eps, or eps at numbers of users.

One reduction is derived per curve; only its laws are evaluated at each point. The trade-off of the two errors of a test
is a curve as well (:mod:`symshuffle.accountants.questions.tradeoff_function`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, final

from symshuffle.accountants.bounds.answers import about_delta, about_epsilon
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.bounds.guided import interpolated
from symshuffle.accountants.bounds.search import Point
from symshuffle.accountants.deployment.experiment import Experiment, experiment, experiment_of
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.accountants.deployment.subjects import Subject, read_deployment, with_fields
from symshuffle.accountants.questions.enumeration import Enumeration, enumeration
from symshuffle.accountants.questions.experiments import bound_of, smallest_of
from symshuffle.accountants.questions.solve import USUAL_WIDTH
from symshuffle.accountants.rounds.widths import WIDTH_OF_DELTA, WIDTH_OF_EPS
from symshuffle.base import cost
from symshuffle.base.choices import EVALUATED, Arithmetic, CurveKind, Question, SafeEnd, weakest_arithmetic
from symshuffle.base.errors import InputError, Progress, check_list, check_progress
from symshuffle.base.executors import mapped
from symshuffle.base.levels import LARGEST_LEVEL, read_delta, read_target, words_of_target
from symshuffle.base.numbers import Real, as_integer, counted, format_decimal, parse_rational
from symshuffle.base.results import Bracket, FirstLines, at_target, outward
from symshuffle.base.rows import FlatRow, ends

MOST_POINTS: Final = 10_000
_OF_EPS: Final = 1e-4
"""Relative widths that are aimed at, of one round, where none is asked for."""
_SHOWN: Final = 50
"""Points of a curve that its table shows."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Curve:
    """Bracket at every point of a sampled curve.

    Parameters
    ----------
    kind : {"delta-eps", "eps-n", "f-dp"}
        Which quantity is a function of which: delta of eps, eps of n, or type II error of type I error.
    x, y : str
        Names of the two axes.
    points : tuple of Point
        In rising order of x. The safe end is ``y.upper``, but ``y.lower`` for a trade-off curve.
    neighbours : Neighbours
        The pairs of datasets to which the curve applies.
    about : str
        To which experiment the curve applies, and by which theorem.
    target : str
        The delta at which a curve of eps is taken, in words.
    """

    kind: CurveKind
    x: str
    y: str
    points: tuple[Point, ...]
    neighbours: Neighbours
    about: str
    target: str = ""

    @property
    def direction(self) -> Question:
        """Divergence that is bounded: one direction, or the larger of the two."""
        return self.neighbours.question

    @property
    def safe(self) -> SafeEnd:
        """End of each bracket that bounds the shuffled experiment."""
        return "lower" if self.kind == "f-dp" else "upper"

    @property
    def evaluation(self) -> str:
        """Method at the last point; every other point has its own in ``y.evaluation``."""
        return self.points[-1].y.evaluation

    @property
    def arithmetic(self) -> Arithmetic:
        """Arithmetic of the weakest point."""
        return weakest_arithmetic(point.y.arithmetic for point in self.points)

    @property
    def lines(self) -> FirstLines:
        """First lines of the curve: safe end of its points, protected users, assumptions, evidence."""
        way = "rounded up" if self.safe == "upper" else "rounded down"
        number = at_target(f"{self.safe} ends at {counted(len(self.points), 'point')} ({way})", self.target)
        return self.neighbours.lines(f"{self.y} by {self.x}", number, EVALUATED[self.arithmetic])

    def rows(self) -> list[dict[str, str]]:
        """Points as text: the argument, both ends rounded outward, and the engine."""
        return [
            {self.x: format_decimal(p.x, digits=17, up=self.safe == "upper"), **p.y.decimals(), "engine": p.y.engine}
            for p in self.points
        ]

    def to_rows(self) -> list[FlatRow]:
        """Points as numbers, for a data frame.

        Both ends are doubles rounded outward, with their logarithms.
        """
        return [
            {
                self.x: outward(point.x, up=self.safe == "upper"),
                **ends(point.y),
                "safe": self.safe,
                "arithmetic": point.y.arithmetic,
                "engine": point.y.engine,
            }
            for point in self.points
        ]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: the points, the safe end, the method and the datasets covered."""
        return {
            "kind": self.kind,
            "x": self.x,
            "y": self.y,
            "safe": self.safe,
            "points": self.rows(),
            "arithmetic": self.arithmetic,
            "evaluation": self.evaluation,
            **self.neighbours.keys(self.about),
        }

    def __repr__(self) -> str:
        first, last = (format_decimal(self.points[i].x, digits=6, up=False) for i in (0, -1))
        return f"<{self.y} by {self.x} from {first} to {last}, {len(self.points)} points, {self.arithmetic}>"

    def _repr_html_(self) -> str:
        head = f"<tr><th>{self.x}</th><th>{self.y}, lower</th><th>{self.y}, upper</th></tr>"
        cells = (
            (format_decimal(p.x, digits=9, up=self.safe == "upper"), shown["lower"], shown["upper"])
            for p in self.points[:_SHOWN]
            for shown in (p.y.decimals(9),)
        )
        body = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in cells)
        more = f"<p>and {len(self.points) - _SHOWN} more points</p>" if len(self.points) > _SHOWN else ""
        return f"{self.lines.to_html()}<table>{head}{body}</table>{more}"


def spaced(start: object, stop: object, points: int, *, geometric: bool = False) -> tuple[Fraction, ...]:
    """Arguments from start to stop, both included; geometric ones are rounded to four digits between the ends.

    - ``start``, ``stop``: the ends, in rising order; above 0 for geometric arguments.
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


@cost.question()
@with_fields
def profile(
    subject: Subject,
    *,
    eps: Sequence[object],
    direction: Question = "both",
    arithmetic: Arithmetic | None = "float64",
    rtol: float | None = None,
    bits: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Curve:
    """Privacy profile of a shuffled mechanism: a bound on delta at each level eps.

    Parameters
    ----------
    subject, direction, arithmetic, rtol, bits, and the fields of a deployment
        As in :func:`symshuffle.delta`.
    eps : sequence of number or text
        Levels >= 0 in nats, in rising order.
    executor : Executor, optional
        Executor that computes the points, as in :func:`symshuffle.sweep`; by default they are computed here.
    progress : callable, optional
        Called with the number of points computed so far and the number of all points.

    Returns
    -------
    Curve
        One point per level: ``x`` is eps in nats, and ``y`` the bracket around the bound on delta.

    Raises
    ------
    InputError
        If no level is given, or an argument is out of its range.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = profile(randomizer("krr", k=4, eps0=1), n=100, eps=[0, "0.1"])
    >>> [round(float(point.y.upper), 4) for point in found.points]
    [0.0404, 0.0092]
    """
    check_list(eps, "eps", "a list of levels")
    if not len(eps):
        raise InputError("eps", eps, "at least one level")
    places = [parse_rational(level, "eps") for level in eps]
    request = Method.of(direction, None, arithmetic, USUAL_WIDTH if rtol is None else rtol, bits)
    listed = enumeration(subject, fields, request)
    if listed is not None:
        listed, few = listed.kept(request.direction), replace(listed.neighbours, question=request.direction)
        orders = [read_target(eps=level) for level in places]
        exact = mapped(partial(_enumerated, listed, request.direction), orders, None, progress)
        return Curve("delta-eps", "eps", "delta", tuple(map(Point, places, exact)), few, about_delta(few))
    asked = experiment(subject, fields)
    asked.check_users()
    request = replace(request, rtol=asked.width(None if rtol is None else request.rtol, USUAL_WIDTH, WIDTH_OF_DELTA))
    at = partial(at_order, sent(subject, fields, asked, executor), request)
    neighbours = asked.neighbours(request.direction)
    values = mapped(at, [read_target(eps=level) for level in places], executor, progress)
    found = _falling(list(map(Point, places, values)))
    return Curve("delta-eps", "eps", "delta", found, neighbours, about_delta(neighbours))


def _falling(found: Sequence[Point]) -> tuple[Point, ...]:
    """Points of a falling function: one that is wider than asked is not above those before it."""
    points, top = list(found), Fraction(LARGEST_LEVEL)
    for place in sorted(range(len(points)), key=lambda place: points[place].x):
        x, y = points[place].x, points[place].y
        if y.aimed is not None and top < y.upper:
            points[place] = Point(x, replace(y, lower=min(y.lower, top), upper=top))
        top = min(top, points[place].y.upper)
    return tuple(points)


def sent(
    subject: Any, fields: Mapping[str, Any], asked: Experiment, executor: Executor | None
) -> Experiment | Deployment:
    """What points are computed with: the laws made here, or the deployment, where workers derive them themselves."""
    return asked if executor is None or isinstance(subject, Experiment) else read_deployment(subject, fields)


def _received(given: Experiment | Deployment) -> Experiment:
    return given if isinstance(given, Experiment) else experiment_of(given)


def at_order(given: Experiment | Deployment, request: Method, order: Real) -> Bracket:
    """The bound on delta at one order exp(eps), of what :func:`sent` gave."""
    with cost.question():  # of a worker, which is asked nothing else
        return bound_of(_received(given), order, request)


def _enumerated(listed: Enumeration, question: Question, order: Real) -> Bracket:
    return listed.delta(order, question, attained=False).bracket


def _at_users(
    given: Experiment | Deployment,
    described: Deployment | None,
    target: Fraction,
    request: Method,
    n: int,
    near: Fraction | None = None,
) -> Bracket:
    """The smallest eps at a number of users, as :func:`symshuffle.epsilon` finds it: few are enumerated."""
    listed = None if described is None else enumeration(described, {"n": n}, request)
    if listed is not None:
        return listed.epsilon(target, request.direction, attained=False).bracket
    with cost.question():
        return smallest_of(_received(given).with_users(n), target, request, near)


@cost.question()
@with_fields
def amplification_curve(
    subject: Subject,
    *,
    delta: object,
    users: Sequence[int],
    direction: Question = "both",
    arithmetic: Arithmetic | None = "float64",
    rtol: float | None = None,
    bits: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Curve:
    """Smallest eps at a fixed delta, as a function of the number of users.

    Parameters
    ----------
    subject, delta, direction, arithmetic, bits, and the fields of a deployment
        As in :func:`symshuffle.epsilon`.
    users : sequence of int
        Numbers of users, in rising order.
    n
        Refused: ``users`` are given.
    rtol : float
        Relative width of the bracket around each eps to aim at; default 1e-4, for means over the number of
        messages or several batches 1e-3.
    executor, progress
        As in :func:`profile`. With an executor no point starts its search from the points before it, so that
        brackets may differ within ``rtol`` from those computed in this process.

    Returns
    -------
    Curve
        One point per number of users: ``x`` is n, and ``y`` the bracket around the smallest eps in nats.

    Raises
    ------
    InputError
        If no number of users is given, or an argument is out of its range.
    Unsupported
        As in :func:`symshuffle.epsilon`.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = amplification_curve(randomizer("krr", k=4, eps0=1), delta="1e-6", users=[100, 10_000])
    >>> [(int(point.x), round(float(point.y.upper), 3)) for point in found.points]
    [(100, 0.398), (10000, 0.034)]
    """
    asked = experiment(subject, fields)
    asked.check_open()
    width = asked.width(rtol, _OF_EPS, WIDTH_OF_EPS)
    request, target = Method.of(direction, None, arithmetic, width, bits), read_delta(delta)
    neighbours = asked.neighbours(request.direction)
    check_list(users, "users", "a list of numbers of users")
    check_progress(progress)
    if not len(users):
        raise InputError("users", users, "at least one number of users")
    numbers = [check_n(n) for n in users]
    described = None if isinstance(subject, Experiment) else read_deployment(subject, fields)
    at = partial(_at_users, sent(subject, fields, asked, executor), described, target, request)
    if executor is None:
        points = along_users(at, numbers, progress)
    else:
        values = mapped(at, numbers, executor, progress)
        points = tuple(Point(Fraction(n), value) for n, value in zip(numbers, values, strict=True))
    words = words_of_target(delta=target)
    return Curve("eps-n", "n", "eps", _falling(points), neighbours, about_epsilon(neighbours), words)


def along_users(
    smallest: Callable[[int, Fraction | None], Bracket], users: Sequence[int], progress: Progress | None = None
) -> tuple[Point, ...]:
    """The smallest eps at each number of users, every point telling where to look for the next.

    - ``smallest``: from a number of users and a guess of the answer (or None) to a bracket around the smallest eps.
    """
    found: list[Point] = []
    for n in users:
        with cost.part(len(users) - len(found)):
            found.append(Point(Fraction(n), smallest(n, _extrapolated(found, n))))
        if progress is not None:
            progress(len(found), len(users))
    return tuple(found)


def _extrapolated(found: Sequence[Point], n: int) -> Fraction | None:
    """Of the last points, in logarithms: the parabola through three, the line through two, 1/sqrt(n) from one."""
    if not found or found[-1].y.upper == 0:
        return None
    last = found[-3:]
    points = [(math.log(point.x), math.log(point.y.upper) + math.log(point.x) / 2) for point in last]
    return Fraction(math.exp(interpolated(points, math.log(n)) - math.log(n) / 2))
