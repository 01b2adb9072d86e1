r"""The other two inverses of an amplification bound: the largest local budget, and the fewest users.

*In n* monotonicity is a theorem, whatever the law: :math:`S_n/n` is a reverse martingale, so
:math:`H(n)=s+E[(S_n/n)_+]` never rises with n (Jensen). Hence the answer of :func:`solve_n` is the smallest n.

*In eps0* it is an assumption, true of every mechanism whose larger budget can be post-processed into a smaller one.
What is certified without it is both ends: at the budget returned the bound meets the target, at the other end it is
above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, Unpack, final

from symshuffle.accountants.bounds import bound_at, limit_variance
from symshuffle.accountants.covered import Covering, Reduction, Whom, spelled_out
from symshuffle.accountants.evaluate import LARGEST_N, Request, check_n
from symshuffle.accountants.guided import Guide, distance, guided
from symshuffle.accountants.neighbours import Neighbours, Question
from symshuffle.accountants.reduction import Composed, Source, covering_reduction, reduction
from symshuffle.accountants.search import Bound, Crossing, Point, Search, cross, narrow, settle
from symshuffle.choices import replace_choice
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.parameters import read_delta, read_target
from symshuffle.numbers import Exp, Real, to_float
from symshuffle.results import AnswerMethods, Bracket, Rigour, SafeEnd

Budgeted: TypeAlias = "Mechanism | Laplace | Composed | Callable[[Fraction], Source]"
"""What has a local budget that can be set: a mechanism with ``lam`` open, or a function of eps0 that gives a source."""

_LARGEST_EPS0: Final = 64
_WIDTH: Final = 1e-10
"""Relative width of delta at which neighbouring numbers of users are told apart."""

_LOOKS: Final = 8
_CLOSE_ENOUGH: Final = 0.01
"""Variances that are looked at for a first guess of a budget, and its relative error with which that ends."""

_FIRST_EPS0: Final = Fraction(1, 2**10)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Inverse(AnswerMethods):
    """A parameter at which a bound on delta meets a target, and one beside it at which it does not.

    Parameters
    ----------
    bracket : Bracket
        Around the exact inverse of the bound.
    safe : {"lower", "upper"}
        The end at which the bound certainly meets the target; ``safe_end`` is that number.
    delta : Bracket
        The bound on delta there.
    neighbours : Neighbours
        The pairs of datasets that the bound speaks about.
    about : str
        Which experiment the bound speaks about, which end is safe, and what is assumed between the ends.
    """

    bracket: Bracket
    safe: SafeEnd
    delta: Bracket
    neighbours: Neighbours
    about: str

    def __post_init__(self) -> None:
        replace_choice(SafeEnd, self, "safe")

    @property
    def direction(self) -> Question:
        """Which divergence."""
        return self.neighbours.question

    @property
    def meaning(self) -> str:
        """The same as :attr:`about`."""
        return self.about

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: both ends as decimals rounded outward, which is safe, delta there, and whom it covers."""
        at = self.delta.decimals()
        return {
            **self.bracket.decimals(),
            "safe": self.safe.value,
            "delta_at_safe": {"lower": at["lower"], "upper": at["upper"]},
            "rigour": self.bracket.rigour.value,
            "engine": self.bracket.engine,
            "how": self.how,
            "direction": self.direction.value,
            "adjacency": self.neighbours.adjacency.value,
            "neighbours": self.neighbours.to_dict(),
            "meaning": self.about,
        }

    def __str__(self) -> str:
        return str(self.bracket)


@spelled_out
def solve_eps0(
    source: Budgeted,
    *,
    n: int,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = 1e-6,
    bits: int | None = None,
    **whom: Unpack[Whom],
) -> Inverse:
    """The largest local budget eps0 whose shuffled mechanism certainly is (eps, delta)-private.

    At ``bracket.lower`` the bound on delta meets the target; at ``bracket.upper`` it is above it.

    Parameters
    ----------
    source : Mechanism, Laplace, Composed or callable
        A mechanism with ``lam`` open and all else fixed; a composition (its total budget is replaced); or a function
        from eps0 to what is run with it.
    n : int
        Number of users, the differing one included.
    delta : number or text
        Target, in (0, 1); kept exact.
    eps, exp_eps : number, text or Exp
        Target level, as in :func:`symshuffle.delta`.
    direction, rigour, bits, adjacency, blanket, null
        As in :func:`symshuffle.delta`.
    rel : float
        Relative width of the bracket around eps0 to aim at.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If every budget up to 64 nats meets the target, or none does.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> found = solve_eps0(mechanism("krr").at(k=10), n=1000, eps="0.0801610467", delta="1e-6", rel=1e-4)
    >>> round(float(found.bracket.lower), 3)
    1.0
    """
    n = check_n(n)
    request = Request.of(direction, None, rigour, rel, bits)
    goal, order = read_delta(delta), read_target(eps=eps, exp_eps=exp_eps)
    covering, made = Covering.of(**whom), _by_budget(source)

    def at(eps0: Fraction) -> Reduction:
        return covering_reduction(made(eps0), covering)

    def bound(rigour: Rigour | None) -> Bound:
        return lambda eps0, width: bound_at(at(eps0), n, order, replace(request, rigour=rigour, rel=width))

    def search(value: Bound, goal: Fraction, rel: float) -> Crossing:
        guide = _budget_guide(at, n, order, goal, request.direction)
        found = None if guide is None else guided(value, goal, rel, guide)
        if found is not None:
            return found
        start = order.exponent if isinstance(order, Exp) else _FIRST_EPS0
        meets = settle(value, goal, rel, start)
        for _ in range(40):  # a first budget that meets the target, however small it has to be
            if meets.value.upper <= goal:
                break
            meets = settle(value, goal, rel, meets.x / 16)
        else:
            raise Unsupported(f"no budget down to {float(meets.x):.1e} has delta <= {float(goal):.6g}")
        above = settle(value, goal, rel, 2 * meets.x)
        while above.value.lower <= goal:
            meets = above if above.value.upper <= goal else meets
            if above.x > _LARGEST_EPS0:
                raise Unsupported(f"every local budget up to {float(meets.x):.4g} meets delta <= {float(goal):.6g}")
            above = settle(value, goal, rel, above.x * Fraction(3, 2))
        return narrow(value, goal, rel, above=above, meets=meets, what="eps0")

    found = _crossing(search, bound, goal, request)
    experiment = at(found.meets).neighbours(request.direction, n)
    text = (
        f"at eps0 = lower, the safe end, delta bounds {experiment.compared}; at eps0 = upper this bound exceeds "
        "delta; between the ends it is assumed to rise with eps0"
    )
    return _inverse(
        found, SafeEnd.LOWER, "root search on delta as a function of eps0; at the safe end", experiment, text
    )


@spelled_out
def solve_n(
    source: Source,
    *,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    bits: int | None = None,
    **whom: Unpack[Whom],
) -> Inverse:
    """The smallest number of users at which a shuffled mechanism certainly is (eps, delta)-private.

    At ``bracket.upper`` the bound on delta meets the target; at ``bracket.lower`` (one user fewer, where the engine
    resolves that) it is above it. Since the bound never rises with n, every larger n meets the target as well.

    Parameters
    ----------
    source : Mechanism, Decomposition, Channel or Reduction
        What every user runs, all parameters fixed.
    delta : number or text
        Target, in (0, 1); kept exact.
    eps, exp_eps : number, text or Exp
        Target level, as in :func:`symshuffle.delta`.
    direction, rigour, bits, adjacency, blanket, null
        As in :func:`symshuffle.delta`.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If no n up to 10^15 meets the target.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> solve_n(mechanism("krr").at(k=10, eps0=1), eps="0.0802", delta="1e-6").bracket.upper
    Fraction(1000, 1)
    """
    request = Request.of(direction, None, rigour, _WIDTH, bits)
    goal, order = read_delta(delta), read_target(eps=eps, exp_eps=exp_eps)
    reduced = reduction(source, **whom)

    def bound(rigour: Rigour | None) -> Bound:
        return lambda n, width: bound_at(reduced, int(n), order, replace(request, rigour=rigour, rel=width))

    def search(value: Bound, goal: Fraction, rel: float) -> Crossing:
        guide = _users_guide(reduced, order, goal, request.direction)
        found = None if guide is None else guided(value, goal, rel, guide)
        if found is not None:
            return found
        above = meets = settle(value, goal, rel, Fraction(1))
        while meets.value.upper > goal:
            above = meets if meets.value.lower > goal else above
            if meets.x >= LARGEST_N:
                least = f"delta is at least {float(meets.value.lower):.6g} there"
                raise Unsupported(f"no n up to {LARGEST_N} has delta <= {float(goal):.6g}: {least}")
            meets = settle(value, goal, rel, min(4 * meets.x, Fraction(LARGEST_N)))
        return _narrow_integers(value, goal, rel, above, meets)

    found = _crossing(search, bound, goal, request)
    experiment = reduced.neighbours(request.direction, None)
    text = (
        f"from n = upper on, the safe end, delta bounds {experiment.compared}: this bound never rises with n ("
        "S_n/n is a reverse martingale)"
    )
    if found.above != found.meets:
        text += "; at n = lower it exceeds delta"
    return _inverse(found, SafeEnd.UPPER, "bisection over n; at the safe end", experiment, text)


def _budget_guide(
    at: Callable[[Fraction], Reduction], n: int, order: Real, goal: Fraction, direction: Question
) -> Guide | None:
    """Where n copies vary as much as two Gaussians that have the target; None if no budget does."""
    eps = _exponent(order)
    wanted = n * math.exp(2 * distance(eps, _log(goal)))
    least, most = max(eps, 1e-9), float(_LARGEST_EPS0)
    budget = min(max(math.sqrt(wanted), least * 1.01), most)
    power, before = 2.0, None
    for _ in range(_LOOKS):
        spread = limit_variance(at(Fraction(budget).limit_denominator(10**6)), direction)
        if spread is None or spread <= 0:
            return None
        if before is not None and before[0] != budget:
            power = max(math.log(spread / before[1]) / math.log(budget / before[0]), 0.5)
        before = budget, spread
        if abs(math.log(wanted / spread)) < _CLOSE_ENOUGH * power:
            break
        budget = min(max(budget * (wanted / spread) ** (1 / power), least * 1.01), most)
    return Guide(budget, lambda _: eps, 1.0, falling=False, whole=False, most=Fraction(_LARGEST_EPS0))


def _users_guide(reduced: Reduction, order: Real, goal: Fraction, direction: Question) -> Guide | None:
    """The number of users from which two Gaussians have the target."""
    eps, spread = _exponent(order), limit_variance(reduced, direction)
    if spread is None or spread <= 0:
        return None
    users = min(max(spread / math.exp(2 * distance(eps, _log(goal))), 1.0), float(LARGEST_N))
    return Guide(users, lambda _: eps, -0.5, falling=True, whole=True, most=Fraction(LARGEST_N))


def _exponent(order: Real) -> float:
    """The level eps as a double."""
    return float(order.exponent) if isinstance(order, Exp) else math.log(to_float(order))


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _crossing(search: Search, bound: Callable[[Rigour | None], Bound], goal: Fraction, request: Request) -> Crossing:
    """What a search finds; balls confirm what doubles, which cost less, found."""
    quick = bound(Rigour.FLOAT64) if request.rigour is Rigour.BALL else None
    return cross(search, bound(request.rigour), goal, request.rel, quick=quick)


def _by_budget(source: Budgeted) -> Callable[[Fraction], Source]:
    match source:
        case Mechanism():
            if all(parameter.name != "lam" for parameter in source.parameters):
                raise InputError("source", source.name, "a mechanism with lam left open")
            return lambda eps0: source.at(eps0=eps0)
        case Laplace():
            return lambda eps0: replace(source, lam=Exp(eps0))
        case Composed():
            if source.lam is None:
                raise InputError("source", source.composition.name, "a composition with a budget")
            return lambda eps0: replace(source, lam=Exp(eps0))
    return source


def _narrow_integers(value: Bound, goal: Fraction, rel: float, above: Point, meets: Point) -> Crossing:
    """Bisect to neighbouring integers, or to where the engine no longer tells the function from the target."""
    while meets.x - above.x > 1:
        middle = settle(value, goal, rel, Fraction(int(meets.x + above.x) // 2))
        if middle.value.upper <= goal:
            meets = middle
        elif middle.value.lower > goal:
            above = middle
        else:
            return _around(value, goal, rel, above, meets, middle.x)
    return Crossing(above.x, meets.x, meets.value, above.value)


def _around(value: Bound, goal: Fraction, rel: float, above: Point, meets: Point, undecided: Fraction) -> Crossing:
    """Both ends as near to an undecided integer as the engine tells the function there from the target.

    Kept throughout: ``above.x < undecided < meets.x``, the function is certainly above the target at ``above`` and
    certainly not at ``meets``.
    """

    def look(x: Fraction) -> Point:
        return settle(value, goal, rel, x)

    meets = _nearest(look, lambda found: found.upper <= goal, meets, undecided)
    above = _nearest(look, lambda found: found.lower > goal, above, undecided)
    return Crossing(above.x, meets.x, meets.value, above.value)


def _nearest(
    look: Callable[[Fraction], Point], decided: Callable[[Bracket], bool], known: Point, undecided: Fraction
) -> Point:
    """The decided point nearest to an undecided integer, among ``known`` and those a power of two towards it.

    The further away, the easier to decide, so the exponent is bisected. Kept throughout: ``known`` is decided, an
    exponent from ``most`` on leads no nearer, and one below ``least`` leads to an undecided point.
    """
    step = 1 if known.x > undecided else -1
    least, most = 0, int(abs(known.x - undecided)).bit_length()
    while least < most:
        middle = (least + most) // 2
        if 2**middle >= abs(known.x - undecided):  # beyond what is known
            most = middle
            continue
        point = look(undecided + step * 2**middle)
        if decided(point.value):
            known, most = point, middle
        else:
            least = middle + 1
    return known


def _inverse(found: Crossing, safe: SafeEnd, how: str, neighbours: Neighbours, text: str) -> Inverse:
    low, high = sorted((found.above, found.meets))
    bracket = Bracket(low, high, found.at.rigour, found.at.engine, f"{how}: {found.at.how}")
    return Inverse(bracket, safe, found.at, neighbours, text)
