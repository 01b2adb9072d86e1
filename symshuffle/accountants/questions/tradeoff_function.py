r"""The trade-off function (f-DP), and the Gaussian mechanism that many shuffled messages resemble, which is no bound.

The least type II error of a test of two neighbours, at each type I error, is the upper envelope of the lines

.. math:: f(\alpha)=\sup_{\varepsilon\ge0}\max\bigl(0,\;1-\delta(\varepsilon)-e^{\varepsilon}\alpha,\;
   e^{-\varepsilon}(1-\delta(\varepsilon)-\alpha)\bigr),

for a profile delta that holds in both directions (Dong, Roth, Su 2022, Proposition 2.12). Upper bounds on delta at
finitely many levels give a lower bound on f, the safe side; between them delta is convex and falling in
:math:`x=e^{\varepsilon}`. For growing n the profile of one round tends to that of two Gaussians a distance
:math:`\mu=\sqrt{\operatorname{Var}(G)/n}` apart, G taken at eps = 0; rounds add up in :math:`\mu^2`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Any, Final, final

from symshuffle.accountants.bounds.chords import Node, height, lines_below, meetings
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.bounds.search import Point
from symshuffle.accountants.deployment.adjacency import check_one_user
from symshuffle.accountants.deployment.experiment import Experiment, experiment
from symshuffle.accountants.deployment.subjects import Subject, with_fields
from symshuffle.accountants.questions.curves import Curve, at_order, sent
from symshuffle.accountants.questions.experiments import certain, limit_distance, smallest_of
from symshuffle.accountants.questions.solve import USUAL_WIDTH
from symshuffle.accountants.rounds.widths import WIDTH_OF_DELTA
from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, Question, choice, weakest_arithmetic
from symshuffle.base.errors import InputError, Progress, Unsupported, check_list
from symshuffle.base.executors import mapped
from symshuffle.base.numbers import Exp, as_integer, enclose, parse_rational
from symshuffle.base.results import Bracket, FirstLines

_SMALLEST_DELTA: Final = Fraction(1, 10**9)

_LEVELS: Final = 60
_MOST_LEVELS: Final = 100_000


@cost.question()
@with_fields
def tradeoff(
    subject: Subject,
    *,
    type_i: Sequence[object],
    arithmetic: Arithmetic | None = "float64",
    rtol: float | None = None,
    bits: int | None = None,
    num_levels: int = _LEVELS,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Curve:
    """Smallest type II error of any test of two neighbours, per type I error (f-DP).

    Parameters
    ----------
    subject, arithmetic, rtol, bits, and the fields of a deployment
        As in :func:`symshuffle.delta`. Both directions are taken; a group of more than one user is refused.
    type_i : sequence of number or text
        Type I errors in [0, 1], in rising order.
    num_levels : int
        Number of levels eps at which the profile is evaluated, at least 2; more levels narrow the bracket.
    executor, progress
        As in :func:`symshuffle.profile`; the points are those levels.

    Returns
    -------
    Curve
        One point per type I error: ``x``, and the bracket around the type II error: ``y``, the lower end of
        which is the safe one.

    Raises
    ------
    InputError
        If no type I error is given, one is outside [0, 1], there are fewer than two levels, or neighbours differ in
        several users.
    Unsupported
        If no engine evaluates the source with the arithmetic asked for.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = tradeoff(randomizer("krr", k=4, eps0=1), n=100, type_i=["0.1"], num_levels=20)
    >>> round(float(found.points[0].y.lower), 3)
    0.881
    """
    check_list(type_i, "type_i", "a list of type I errors in [0, 1]")
    errors = [parse_rational(alpha, "type_i") for alpha in type_i]
    for alpha in errors:
        if not 0 <= alpha <= 1:
            raise InputError("type_i", alpha, "a type I error in [0, 1]")
    if not errors:
        raise InputError("type_i", type_i, "at least one type I error")
    num_levels = as_integer(num_levels, "num_levels", 2, _MOST_LEVELS)
    asked = experiment(subject, fields)
    asked.check_users()
    request = Method.of("both", None, arithmetic, asked.width(rtol, USUAL_WIDTH, WIDTH_OF_DELTA), bits)
    neighbours = asked.neighbours("both")
    check_one_user(neighbours.steps, "1 in a trade-off function; ask for delta(eps)")
    orders, revealing = _orders(asked, num_levels)
    at = partial(at_order, sent(subject, fields, asked, executor), request)
    # The highest level first: of several rounds, what is computed for it is enough for all others.
    falling = orders[::-1]
    profile = list(map(Point, falling, mapped(at, falling, executor, progress)))[::-1]
    last = profile[-1].y
    revealed = _revealed(at) if revealing else Fraction(0)
    evaluation = f"envelope of {len(profile)} levels of the profile; at the last: {last.evaluation}"
    weakest = weakest_arithmetic(point.y.arithmetic for point in profile)
    points = []
    for alpha in errors:
        low = max(_lines(point.x, point.y.upper, alpha) for point in profile)
        high = max(low, *_between(profile, alpha, revealed))
        points.append(Point(alpha, Bracket(low, min(high, 1 - alpha), weakest, last.engine, evaluation)))
    text = (
        "lower bounds the type II error, at each type I error alpha, of every test of two datasets, as the envelope of "
        f"the lines of a profile delta that bounds {neighbours.compared}; upper is the other side of "
        f"this envelope{neighbours.together}"
    )
    return Curve("f-dp", "type_i", "type_ii", tuple(points), neighbours, text)


def _orders(asked: Experiment, levels: int) -> tuple[tuple[Fraction, ...], bool]:
    """Rational target ratios from 1 to where delta is of no account, denser towards 1; whether it ever is of some."""
    request = Method(rtol=1e-2)
    try:
        top, revealing = float(smallest_of(asked, _SMALLEST_DELTA, request).upper), False
    except Unsupported:  # a histogram reveals more than that for certain, at every level
        top, revealing = 10.0, True
    steps = (_near_expm1(top * i / (levels - 1)) for i in range(1, levels))
    return (Fraction(1), *(1 + x for x in steps if x > 0)), revealing


def _near_expm1(level: float, *, largest_double_level: float = 700.0) -> Fraction:
    """Rational near ``exp(level) - 1``, also beyond the range of doubles; any rational makes a valid envelope.

    - ``largest_double_level``: levels beyond it have ratios that are computed in balls: doubles end at exp(709).
    """
    if level > largest_double_level:
        return Fraction(math.floor(enclose(Exp(Fraction(level))).lower))
    return Fraction(math.expm1(level)).limit_denominator(10**12)


def _revealed(at: Callable[[Fraction], Bracket], *, far_out: Fraction = Fraction(10**100)) -> Fraction:
    """What delta is not below at any level: a profile is convex and falls, so that where it is level it stays so.

    - ``far_out``: an order at which a profile that does not end is looked at.
    """
    try:
        first, second = at(far_out), at(2 * far_out)
    except Unsupported:
        return Fraction(0)
    return second.lower if first.upper == second.lower else Fraction(0)


def _lines(x: Fraction, delta: Fraction, alpha: Fraction) -> Fraction:
    """The best lower bound on the type II error that one level of the profile gives."""
    return max(Fraction(0), 1 - delta - x * alpha, (1 - delta - alpha) / x)


def _between(profile: Sequence[Point], alpha: Fraction, revealed: Fraction = Fraction(0)) -> Iterator[Fraction]:
    """Upper bounds on what levels between the sampled ones, and beyond the last, could add to the envelope.

    The lines of the envelope rise as delta falls, so they are taken at a lower bound on delta: on a stretch between two
    levels the larger of the :func:`~symshuffle.accountants.bounds.chords.lines_below`. Where that is straight, a line
    of the envelope is monotone in ``x = exp(eps)`` or straight, so over a stretch it is largest at an end, or where the
    lines below meet. Beyond the last level delta is at least what a histogram reveals for certain, as far as known.
    """
    nodes = [Node(point.x, point.y.lower, point.y.upper) for point in profile]
    for i, (left, right) in enumerate(itertools.pairwise(nodes)):
        lines = lines_below(nodes, i)
        for x in (left.x, right.x, *meetings(lines, left.x, right.x)):
            yield _lines(x, max(height(line, x) for line in lines), alpha)
    last = profile[-1].x
    yield _lines(last, revealed, alpha)


NO_GUARANTEE: Final = (
    "an approximation for many users by the central limit theorem, and no guarantee: the messages may be easier to "
    "tell apart than this Gaussian; what holds is the certified trade-off, delta or eps"
)
"""What is said of every number that comes from the limit."""

_STANDARD: Final = NormalDist()


@final
@dataclass(frozen=True, slots=True)
class GaussianLimit:
    """Parameter mu of Gaussian differential privacy that approximates shuffling.

    Parameters
    ----------
    mu : float
        Distance of the means of two Gaussians of variance 1, at least 0.
    rounds : int
        Number of rounds, at least 1.

    Raises
    ------
    InputError
        If ``mu`` is negative or infinite, or ``rounds`` is no integer of at least 1.

    Notes
    -----
    It has no bracket and is no :class:`~symshuffle.base.results.Answer`: nothing is proved about it.
    """

    mu: float
    rounds: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.mu < math.inf:
            raise InputError("mu", self.mu, "a distance of at least 0")
        object.__setattr__(self, "rounds", as_integer(self.rounds, "rounds", 1))

    @property
    def about(self) -> str:
        """Sentence that says what the approximation does not guarantee."""
        return NO_GUARANTEE

    @property
    def lines(self) -> FirstLines:
        """First lines of the approximation."""
        return FirstLines(
            "mu",
            f"is about {self.mu:.6g} (neither end: nothing is bounded)",
            about="which Gaussian mechanism the messages of many users resemble",
            sure="an approximation for many users by the central limit theorem, and no guarantee",
        )

    def tradeoff(self, type_i: object) -> float:
        """Type II error of the Gaussian approximation at a type I error in [0, 1].

        Raises
        ------
        InputError
            If the error is outside [0, 1].
        """
        error = float(parse_rational(type_i, "type_i"))
        if not 0 <= error <= 1:
            raise InputError("type_i", type_i, "a type I error in [0, 1]")
        if error in (0, 1):
            return 1 - error
        return _STANDARD.cdf(-_STANDARD.inv_cdf(error) - self.mu)

    def renyi(self, order: object) -> float:
        """Rényi divergence of the Gaussian approximation at an order, in nats: ``order * mu**2 / 2``."""
        return float(parse_rational(order, "order")) * self.mu**2 / 2

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the parameter, and that it guarantees nothing."""
        return {"mu": self.mu, "rounds": self.rounds, "certified": False, "about": self.about}


@cost.question()
@with_fields
def gaussian_limit(
    subject: Subject,
    *,
    direction: Question = "both",
    **fields: Any,
) -> GaussianLimit:
    """Approximate parameter mu of Gaussian differential privacy; no guarantee.

    Parameters
    ----------
    subject, direction, and the fields of a deployment
        As in :func:`symshuffle.delta`. For a group, mu is multiplied by its size, as for any Gaussian mechanism;
        where users drop out, the mean number of messages replaces the number of messages.

    Returns
    -------
    GaussianLimit
        The parameter mu, at least 0, and the number of rounds.

    Raises
    ------
    InputError
        If an argument is out of its range.
    Unsupported
        If the variance of the amplification variable is unknown, or some messages reveal for certain what the user
        holds, so that no Gaussian limit exists.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> krr = randomizer("krr", k=4, eps0=1)
    >>> round(gaussian_limit(krr, n=10_000).mu, 5), round(gaussian_limit(krr, n=10_000, periods=4).mu, 5)
    (0.01016, 0.02032)
    """
    return limit_of(experiment(subject, fields), choice(Question, direction, "direction"))


def limit_of(asked: Experiment, question: Question = "both") -> GaussianLimit:
    """As :func:`gaussian_limit`, of laws that were derived already."""
    asked.check_users()
    if certain(asked, question):
        raise Unsupported(
            "the Gaussian limit does not exist, because some messages reveal for certain what the user holds; ask for "
            "delta or epsilon instead"
        )
    distance = limit_distance(asked, question)
    if distance is None:
        raise Unsupported(
            "the Gaussian limit needs the variance of the amplification variable, which is not known here"
        )
    return GaussianLimit(math.sqrt(distance), asked.times)
