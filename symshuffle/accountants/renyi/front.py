"""The front door for Rényi differential privacy of shuffled messages: from profiles, in one round or over many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from symshuffle.accountants.bounds.answers import Answer, Attained, largest_attained
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.adjacency import check_one_user
from symshuffle.accountants.deployment.experiment import Experiment, experiment
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.deployment.subjects import Subject, with_fields
from symshuffle.accountants.renyi.refined_profile import RefinedProfile
from symshuffle.base import cost
from symshuffle.base.choices import DIRECTIONS, Arithmetic, Direction, Question
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import counted, parse_rational
from symshuffle.base.results import Bracket

_LARGEST_ORDER: Final = 10_000
_USUAL_WIDTH: Final = 1e-3
"""Relative width of a Rényi divergence that is aimed at where none is asked for."""
_COARSER: Final = 4
"""Of the orders of a bound one in so many tells which real datasets have the most."""


@cost.question()
@with_fields
def renyi(
    subject: Subject,
    *,
    order: object,
    direction: Question = "both",
    arithmetic: Arithmetic | None = "float64",
    rtol: float | None = None,
    bits: int | None = None,
    attained: bool = False,
    **fields: Any,
) -> Answer:
    r"""Upper bound on the Rényi divergence of shuffled messages, in nats.

    For laws P, Q it is :math:`D_\alpha=\frac1{\alpha-1}\log\sum_yP_y^\alpha Q_y^{1-\alpha}`. It is computed as an
    integral of the profile over all orders (:mod:`symshuffle.accountants.renyi.orders`), and adds up over rounds,
    adaptive ones too. For delta and eps over rounds, :func:`symshuffle.delta` and :func:`symshuffle.epsilon` give
    tighter bounds than those that follow from a Rényi divergence.

    Parameters
    ----------
    subject, direction, bits, and the fields of a deployment
        As in :func:`symshuffle.delta`; what bounds by a mean over the number of messages, or of a group, is refused.
        ``forward`` is the divergence of M(X0) from M(X1); ``both``, which several rounds need, the larger of the two.
    order : number or text
        Order in [1, 10000]; at 1 the relative entropy.
    arithmetic : {"float64", "ball"}
        Arithmetic of every value of the profile; the integral is evaluated in balls.
    rtol : float
        Relative width to aim at; default 1e-3. A tenth of it takes three times as many values.
    attained : bool
        Whether to evaluate real neighbouring pairs (constant backgrounds) as well.

    Returns
    -------
    Answer
        ``bracket`` encloses the bound in nats; its upper end bounds the shuffled experiment. ``attained`` is None
        unless ``attained`` is set.

    Raises
    ------
    InputError
        If an argument is out of its range, for groups, and where users drop out.
    Unsupported
        If the divergence is infinite, or no level is known from which on the profile is 0, and for exact arithmetic.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = renyi(randomizer("krr", k=4, eps0=1), n=1000, order=2)
    >>> round(float(found), 5), float(found.bracket.relative_width) <= 1e-3
    (0.00103, True)
    """
    alpha = parse_rational(order, "order")
    if not 1 <= alpha <= _LARGEST_ORDER:
        raise InputError("order", order, f"an order in [1, {_LARGEST_ORDER}]")
    request = Method.of(direction, None, arithmetic, _USUAL_WIDTH if rtol is None else rtol, bits)
    if request.arithmetic == "exact":
        raise Unsupported("arithmetic exact: a Rényi divergence is a logarithm; use arithmetic='ball'")
    asked = experiment(subject, fields)
    asked.check_users()
    for part in asked.parts:
        _check_profile(part)
    if asked.several and request.direction != "both":
        raise InputError("direction", request.direction, "both, with rounds, which may mix the orders")
    neighbours = asked.neighbours(request.direction)
    shapes = [_shape(part, request) for part in asked.parts]
    found = [(_one(shape, alpha, request), part.times) for shape, part in zip(shapes, asked.parts, strict=True)]
    bracket = _together(found, request)
    real, missing = largest_attained(lambda: _attained(asked, shapes, alpha, request)) if attained else (None, "")
    return Answer(
        "Rényi divergence",
        bracket,
        neighbours,
        order=alpha,
        attained=real,
        attained_missing=missing,
        rounds=tuple((part.times, part.n) for part in asked.parts) if asked.several else (),
        deployment=asked.deployment,
    )


def _check_profile(reduced: Reduction) -> None:
    """Refuse what has no profile at one order, or none that is cheap."""
    if reduced.cases:
        raise Unsupported(
            "several groups or dummies: a Rényi divergence would take hundreds of means over the number of messages; "
            "ask for delta or epsilon"
        )
    check_one_user(
        reduced.steps,
        "1: a chain of neighbours bounds delta at powers of the order, but gives no profile; ask for delta or epsilon",
    )
    reduced.group.check_fixed_number(
        "here: a Rényi divergence would take hundreds of means over the number of messages", "ask for delta or epsilon"
    )


def _together(found: Sequence[tuple[Bracket, int]], request: Method) -> Bracket:
    """The sum over rounds."""
    low = sum((one.lower * times for one, times in found), start=Fraction(0))
    high = sum((one.upper * times for one, times in found), start=Fraction(0))
    first, rounds = found[0][0], sum(times for _, times in found)
    each = (f"{counted(times, 'round')}: {one.evaluation}" for one, times in found)
    evaluation = first.evaluation if len(found) == 1 else "; ".join(each)
    aimed = None if high - low <= Fraction(request.rtol) * high else request.rtol
    evaluation = evaluation if rounds == 1 else f"sum over {rounds} rounds; {evaluation}"
    return Bracket(low, high, request.arithmetic or "float64", "profile", evaluation, aimed)


def _shape(part: Reduction, request: Method) -> RefinedProfile | None:
    """The profile of one of some rounds that are alike; None if its messages tell nothing."""
    return RefinedProfile.of(part, part.users, request)


def _one(shape: RefinedProfile | None, alpha: Fraction, request: Method) -> Bracket:
    """The bound of one round."""
    if shape is None:
        return Bracket(Fraction(0), Fraction(0), "float64", "profile", "the messages tell nothing")
    return shape.narrowed(alpha, request)


def _attained(
    asked: Experiment, shapes: Sequence[RefinedProfile | None], alpha: Fraction, request: Method
) -> Attained | None:
    """What real datasets have in all rounds together, in one direction; None if a round has none that are known.

    Some of the orders of the bounds tell which datasets have the most, and these are looked at in all of the orders.
    """
    told = [shape for shape in shapes if shape is not None]
    known = [
        [(datasets, replace(shape, reduced=real, known={})) for datasets, real in shape.reduced.real_pairs(shape.n)]
        for shape in told
    ]
    if len(told) < len(shapes) or not all(known):
        return None
    orders = [sorted(shape.known) for shape in told]
    few = [[*some[::_COARSER], some[-1]] for some in orders]
    rounds, ways = [part.times for part in asked.parts], DIRECTIONS[request.direction]

    def most(way: Direction) -> list[tuple[str, RefinedProfile]]:
        """The datasets of each part that have the most in a direction."""
        return [
            max(pairs, key=lambda pair: pair[1].lower_at(some, alpha, way))
            for pairs, some in zip(known, few, strict=True)
        ]

    def total(pairs: list[tuple[str, RefinedProfile]], places: list[list[Fraction]], way: Direction) -> Fraction:
        """The sum over all rounds in a direction, from the values at some orders."""
        each = (one.lower_at(some, alpha, way) for (_, one), some in zip(pairs, places, strict=True))
        return sum((times * low for times, low in zip(rounds, each, strict=True)), start=Fraction(0))

    _, best = max(((way, most(way)) for way in ways), key=lambda found: total(found[1], few, found[0]))
    places = ["" if asked.times == 1 else f" in {counted(times, 'round')}" for times in rounds]
    words = (f"{datasets}{place}" for (datasets, _), place in zip(best, places, strict=True))
    return Attained(max(total(best, orders, way) for way in ways), "; ".join(words))
