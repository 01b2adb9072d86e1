r"""The other two inverses of an amplification bound: the largest local budget, and the fewest users.

In n monotonicity is a theorem: :math:`S_n/n` is a reverse martingale, so :math:`H(n)=s+E[(S_n/n)_+]` never rises with n
(Jensen). In eps0 it is an assumption; certified without it are both ends, where the bound meets the target or is above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from symshuffle.accountants.bounds.answers import Answer, Quantity
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.bounds.gaussian_limit import distance
from symshuffle.accountants.bounds.guided import Guide, guided
from symshuffle.accountants.bounds.search import (
    Bound,
    Crossing,
    Point,
    cross,
    integers_around,
    narrow,
    settle,
    shortened,
    tolerant,
)
from symshuffle.accountants.deployment.adjacency import check_steps
from symshuffle.accountants.deployment.any_ldp import AnyLdp
from symshuffle.accountants.deployment.experiment import Experiment, experiment, experiment_of
from symshuffle.accountants.deployment.group import EVERYBODY, LARGEST_N
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.accountants.deployment.reduction import Source
from symshuffle.accountants.deployment.subjects import Subject, read_deployment, with_fields
from symshuffle.accountants.questions.enumeration import enumeration
from symshuffle.accountants.questions.experiments import bound_of, limit_distance
from symshuffle.accountants.questions.solve import USUAL_WIDTH
from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, Question
from symshuffle.base.crossings import first_integer
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import LARGEST_LEVEL, read_delta, read_target
from symshuffle.base.numbers import Exp, Real, format_decimal, natural_log, shortest
from symshuffle.base.results import Bracket
from symshuffle.mechanisms.continuous import Laplace

if TYPE_CHECKING:
    from symshuffle.decompositions.composition import Composed
    from symshuffle.mechanisms.model import Mechanism

Budgeted: TypeAlias = "Mechanism | Laplace | AnyLdp | Composed | Callable[[Fraction], Source]"
"""What has a local budget that can be set: a mechanism with ``lam`` open, or a function of eps0 that gives a source."""

_LARGEST_EPS0: Final = LARGEST_LEVEL

_COARSE_WIDTH: Final = 5e-3
"""Default relative width of a budget or a number of users for means over the number of messages or several batches."""

_WIDTH: Final = 1e-10
"""Relative width of delta at which neighbouring numbers of users are distinguished."""


_FIRST_EPS0: Final = Fraction(1, 2**10)
_MOST_SQUARINGS: Final = 12
"""How often a budget that does not meet the target is squared: the last is below every delta that is read."""


@cost.question()
@with_fields
def largest_eps0(
    subject: Subject,
    *,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    direction: Question = "both",
    arithmetic: Arithmetic | None = "float64",
    rtol: float | None = None,
    bits: int | None = None,
    **fields: Any,
) -> Answer:
    """Largest local budget eps0, in nats, at which the bound meets a target.

    At ``bracket.lower`` the bound on delta meets the target; at ``bracket.upper`` it is above it, or ``bracket.aimed``
    is set and it is not told from it.

    Parameters
    ----------
    subject : Mechanism, Laplace, AnyLdp, Composed, callable, or a deployment of such
        A mechanism with ``lam`` open and all else fixed; a composition (its total budget is replaced); a function from
        eps0 to what is run with it; or a deployment whose groups run these, all of which then get the same budget.
    delta : number or text
        Target, in (0, 1); kept exact.
    eps, exp_eps : number, text or Exp
        Target level, as in :func:`symshuffle.delta`.
    direction, arithmetic, bits, and the fields of a deployment
        As in :func:`symshuffle.delta`.
    rtol : float
        Relative width of the bracket around eps0 to aim at; default 1e-6, for means over the number of messages
        or several batches 5e-3.

    Returns
    -------
    Answer
        ``bracket`` encloses the budget in nats; ``safe_end`` is its lower end, and ``delta_at_ends[0]`` the bound on
        delta there.

    Raises
    ------
    InputError
        If delta is not in (0, 1), or another argument is out of its range.
    Unsupported
        If every budget up to 5000 nats meets the target, or none does.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = largest_eps0(randomizer("krr", k=10), n=1000, eps="0.0801610467", delta="1e-6", rtol=1e-4)
    >>> round(float(found.bracket.lower), 3)
    1.0
    """
    deployment = read_deployment(subject, fields)
    for one in deployment.kinds:
        for group in one.users:
            if group.count is None:
                raise InputError("n", None, "a number of users")
            check_steps(deployment.adjacency.group_size, group.count)
            _by_budget(group.randomizer)  # refuses a randomizer without a local budget
    size = deployment.adjacency.group_size
    costly = deployment.batches > 1 or len(deployment.groups) > 1
    usual = _COARSE_WIDTH if costly else USUAL_WIDTH
    request = Method.of(direction, None, arithmetic, usual if rtol is None else rtol, bits)
    goal, order = read_delta(delta), read_target(eps=eps, exp_eps=exp_eps)

    def at(eps0: Fraction) -> Experiment:
        return experiment_of(deployment.with_randomizers(lambda run: _by_budget(run)(eps0)))

    def bound(arithmetic: Arithmetic | None, eps0: Fraction, width: float) -> Bracket:
        return bound_of(at(eps0), order, replace(_of_delta(request, arithmetic, width, costly=costly), goal=goal))

    def search(value: Bound, goal: Fraction, rtol: float) -> Crossing:
        guide = _budget_guide(lambda eps0: limit_distance(at(eps0), request.direction), order, goal)
        found = None if guide is None else guided(value, goal, rtol, guide)
        if found is not None:
            return found
        value = value if request.arithmetic == "exact" else tolerant(value)
        first = order.exponent / size if isinstance(order, Exp) else _FIRST_EPS0
        meets = settle(value, goal, rtol, min(first, Fraction(_LARGEST_EPS0)))
        for _ in range(_MOST_SQUARINGS):  # a first budget that meets the target, however small it has to be
            if meets.y.upper <= goal:
                break
            meets = settle(value, goal, rtol, shortened(min(meets.x * meets.x, meets.x / 16)))
        else:
            smallest = format_decimal(meets.x, digits=2, up=True)
            raise Unsupported(f"no budget down to {smallest} has delta <= {shortest(goal)}")
        above, factor = settle(value, goal, rtol, min(2 * meets.x, Fraction(_LARGEST_EPS0))), Fraction(3, 2)
        while above.y.lower <= goal:
            meets = above if above.y.upper <= goal else meets
            if above.x >= _LARGEST_EPS0 and above.y.upper > goal:
                break
            if above.x >= _LARGEST_EPS0:
                largest = format_decimal(meets.x, digits=4, up=False)
                raise Unsupported(f"every local budget up to {largest} meets delta <= {shortest(goal)}")
            above = settle(value, goal, rtol, min(above.x * factor, Fraction(_LARGEST_EPS0)))
            factor *= factor
        return narrow(value, goal, rtol, Crossing(above, meets))

    found = cross(search, bound, goal, request)
    neighbours = at(found.meets.x).neighbours(request.direction)
    return _answer(
        "eps0", found, "root search on delta as a function of eps0", request, neighbours, order, goal, deployment
    )


@cost.question()
@with_fields
def smallest_n(
    subject: Subject,
    *,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    direction: Question = "both",
    arithmetic: Arithmetic | None = "float64",
    bits: int | None = None,
    **fields: Any,
) -> Answer:
    """Smallest number of users at which the bound on delta meets a target.

    At ``bracket.upper`` the bound on delta meets the target; at ``bracket.lower`` (one user fewer, where the engine
    resolves that) the bound exceeds the target. The bound never rises with n, so every larger n meets the target as
    well.

    Parameters
    ----------
    subject : randomizer or Deployment
        What every user runs, all parameters fixed, or a deployment of one group without a count; all periods get the
        same number of users. For several batches, or means over the number of messages, the number of users is found
        to a relative width of 5e-3.
    delta : number or text
        Target probability, in (0, 1); kept exact.
    eps, exp_eps : number, text or Exp
        Target level, as in :func:`symshuffle.delta`.
    direction, arithmetic, bits, and the fields of a deployment
        As in :func:`symshuffle.delta`.

    Returns
    -------
    Answer
        ``bracket`` encloses the number of users; ``safe_end`` is its upper end, and ``delta_at_ends[0]`` the bound on
        delta there.

    Raises
    ------
    InputError
        If delta is not in (0, 1), another argument is out of its range, or a round has a number of users of its own.
    Unsupported
        If no n up to 10^15 meets the target.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> smallest_n(randomizer("krr", k=10, eps0=1), eps="0.0802", delta="1e-6").bracket.upper
    Fraction(1000, 1)
    """
    asked = experiment(subject, fields)
    asked.check_open()
    costly = asked.coarse
    request = Method.of(direction, None, arithmetic, _COARSE_WIDTH if costly else _WIDTH, bits)
    goal, order = read_delta(delta), read_target(eps=eps, exp_eps=exp_eps)
    few = (
        None if isinstance(subject, Experiment) else _few_users(read_deployment(subject, fields), request, order, goal)
    )
    if few is not None:
        return few
    neighbours = asked.neighbours(request.direction)

    def bound(arithmetic: Arithmetic | None, n: Fraction, width: float) -> Bracket:
        return bound_of(asked.with_users(int(n)), order, _of_delta(request, arithmetic, width, costly=costly))

    def search(value: Bound, goal: Fraction, rtol: float) -> Crossing:
        guide = _users_guide(limit_distance(_of_one_user(asked), request.direction), order, goal)
        if costly and guide is not None:
            return integers_around(value, goal, rtol, Fraction(round(guide.start)), LARGEST_N, apart=rtol)
        found = None if guide is None else guided(value, goal, rtol, guide)
        value = value if request.arithmetic == "exact" else tolerant(value)
        return integers_around(value, goal, rtol, Fraction(1), LARGEST_N) if found is None else found

    found = cross(search, bound, goal, request)
    return _answer("n", found, "bisection over n", request, neighbours, order, goal, asked.deployment)


def _answer(
    quantity: Quantity,
    found: Crossing,
    search: str,
    request: Method,
    neighbours: Neighbours,
    order: Real,
    goal: Fraction,
    deployment: Deployment | None,
) -> Answer:
    """The answer of a crossing, with the bound on delta at both ends."""
    at = found.meets.y
    return Answer(
        quantity,
        found.bracket(f"{search}; at the safe end: {at.evaluation}", request.rtol),
        neighbours,
        exp_eps=order,
        delta=goal,
        delta_at_ends=(at, found.above.y),
        deployment=deployment,
    )


def _few_users(deployment: Deployment, request: Method, order: Real, goal: Fraction) -> Answer | None:
    """The answer where so few users are enough that they are enumerated, as :func:`symshuffle.delta` does."""
    if deployment.reports == 1:
        return None

    @cache
    def at(n: int) -> Answer | None:
        listed = enumeration(deployment, {"n": n}, request)
        return None if listed is None else listed.delta(order, request.direction, attained=False)

    def passed(n: int) -> bool:
        found = at(n)
        return found is None or found.bracket.upper <= goal

    high = least = deployment.users[0].fewest
    while not passed(high):
        high *= 2
    n = first_integer(passed, max(high // 2, least - 1), high)
    found, before = at(n), at(n - 1) if n > least else None
    if found is None:
        return None
    below = before is not None and before.bracket.lower > goal
    above = Point(Fraction(n - 1 if below else 0), (before or found).bracket)
    crossing = Crossing(above, Point(Fraction(n), found.bracket), below or n == least)
    covered = replace(found.neighbours, users=None)
    return _answer("n", crossing, "bisection over n", request, covered, order, goal, deployment)


def _of_one_user(asked: Experiment) -> Experiment:
    """One user in each batch, all of whom send: only the laws count."""
    return Experiment(tuple(replace(one, n=1, group=EVERYBODY) for one in asked.parts))


def _of_delta(
    request: Method,
    arithmetic: Arithmetic | None,
    width: float,
    *,
    costly: bool,
    delta_width: float = 3.0,
    widest: float = 0.5,
) -> Method:
    """What is asked of delta at one parameter: where it costs much no more than tells the parameter.

    - ``delta_width``: relative width of delta, in that of the parameter: delta moves by a few dozen times what the
      parameter moves.
    - ``widest``: relative width of delta beyond which nothing is told by it.
    """
    rtol = max(width, delta_width * request.rtol) if costly else width
    return replace(request, arithmetic=arithmetic, rtol=min(rtol, widest))


def _budget_guide(
    distance_at: Callable[[Fraction], float | None],
    order: Real,
    goal: Fraction,
    *,
    looks: int = 8,
    close_enough: float = 0.01,
) -> Guide | None:
    """Where all messages vary as much as two Gaussians that have the target; None if no budget does.

    - ``looks``: variances that are looked at for a first guess of a budget; ``close_enough``: its relative error with
      which that ends.
    """
    eps = _exponent(order)
    wanted = math.exp(2 * distance(eps, natural_log(goal)))
    least, most = max(eps, 1e-9), float(_LARGEST_EPS0)
    budget = min(max(math.sqrt(wanted), least * 1.01), most)
    power, before = 2.0, None
    for _ in range(looks):
        spread = distance_at(shortened(Fraction(budget)))
        if spread is None or spread <= 0:
            return None
        if before is not None and before[0] != budget:
            power = max(math.log(spread / before[1]) / math.log(budget / before[0]), 0.5)
        before = budget, spread
        if abs(math.log(wanted / spread)) < close_enough * power:
            break
        budget = min(max(budget * (wanted / spread) ** (1 / power), least * 1.01), most)
    edge = order.exponent if isinstance(order, Exp) else None  # at this local level nothing exceeds exp(eps)
    return Guide(budget, eps, 1.0, falling=False, whole=False, most=Fraction(_LARGEST_EPS0), edge=edge)


def _users_guide(spread: float | None, order: Real, goal: Fraction) -> Guide | None:
    """The number of users from which two Gaussians have the target, by their squared distance at one user."""
    eps = _exponent(order)
    if spread is None or spread <= 0:
        return None
    users = min(max(spread / math.exp(2 * distance(eps, natural_log(goal))), 1.0), float(LARGEST_N))
    return Guide(users, eps, -0.5, falling=True, whole=True, most=Fraction(LARGEST_N))


def _exponent(order: Real) -> float:
    """The level eps as a double."""
    return float(order.exponent) if isinstance(order, Exp) else natural_log(order)


def _by_budget(source: Any) -> Callable[[Fraction], Any]:
    if isinstance(source, FunctionType | partial):
        return source
    from symshuffle.decompositions.composition import Composed  # SymPy loads when used
    from symshuffle.mechanisms.model import Mechanism

    match source:
        case Mechanism():
            if all(parameter.name != "lam" for parameter in source.parameters):
                raise InputError("source", source.name, "a mechanism with lam left open")
            return lambda eps0: source.at(eps0=eps0)
        case Laplace() | AnyLdp():
            return lambda eps0: replace(source, lam=Exp(eps0))
        case Composed():
            if source.lam is None:
                raise InputError("source", source.composition.name, "a composition with a budget")
            return lambda eps0: replace(source, lam=Exp(eps0))
    if not callable(source):
        raise InputError("source", source, "a mechanism with lam left open, or a callable that takes eps0")
    made: Callable[[Fraction], Any] = source
    return made
