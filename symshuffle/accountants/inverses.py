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
from typing import Final, TypeAlias, final

from symshuffle.accountants.covered import Reduction
from symshuffle.accountants.evaluate import LARGEST_N, check_n, check_request
from symshuffle.accountants.guided import Guide, distance, guided
from symshuffle.accountants.neighbours import Neighbours, Question
from symshuffle.accountants.reduction import Composed, Source, reduction
from symshuffle.accountants.search import Bound, Crossing, Point, cross, narrow, settle
from symshuffle.accountants.solve import delta, limit_variance
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.parameters import read_target
from symshuffle.numbers import Exp, parse_rational, to_float
from symshuffle.results import Bracket, Rigour

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
@dataclass(frozen=True, slots=True)
class Inverse:
    """A parameter at which a bound on delta meets a target, and one beside it at which it does not.

    Parameters
    ----------
    bracket : Bracket
        Around the exact inverse of the bound. One end is safe.
    safe : Fraction
        That end: here the bound certainly meets the target.
    delta : Bracket
        The bound on delta there.
    neighbours : Neighbours
        The pairs of datasets that the bound speaks about.
    about : str
        Which experiment the bound speaks about, which end is safe, and what is assumed between the ends.
    """

    bracket: Bracket
    safe: Fraction
    delta: Bracket
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
    def how(self) -> str:
        """In words: the search, and the engine at the safe end."""
        return self.bracket.how

    def __str__(self) -> str:
        return str(self.bracket)


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
    direction, rigour, bits
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
    request = check_request(direction, None, rigour, rel, bits)
    direction, rigour = request.direction, request.rigour
    goal, order = _target(delta), read_target(eps=eps, exp_eps=exp_eps)
    at = _by_budget(source)

    def bound(level: Rigour | None) -> Bound:
        return lambda eps0, width: (
            _delta(at(eps0), n=n, exp_eps=order, direction=direction, rigour=level, rel=width, bits=bits).bracket
        )

    def search(value: Bound, goal: Fraction, rel: float) -> Crossing:
        guide = _budget_guide(lambda eps0: reduction(at(eps0)), n, order, goal, direction)
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

    quick = bound(Rigour.FLOAT64) if rigour is Rigour.BALL else None
    found = cross(search, bound(rigour), goal, rel, quick=quick)
    experiment = reduction(at(found.meets)).neighbours(direction, n)
    text = (
        f"at eps0 = lower, the safe end, delta bounds {experiment.compared}; at eps0 = upper this bound exceeds "
        "delta; between the ends it is assumed to rise with eps0"
    )
    return _inverse(found, "root search on delta as a function of eps0; at the safe end", experiment, text)


def solve_n(
    source: Source,
    *,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    bits: int | None = None,
    adjacency: object = None,
    blanket: object = None,
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
    direction, rigour, bits, adjacency, blanket
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
    request = check_request(direction, None, rigour, _WIDTH, bits)
    direction, rigour = request.direction, request.rigour
    goal, order = _target(delta), read_target(eps=eps, exp_eps=exp_eps)
    reduced = reduction(source, adjacency=adjacency, blanket=blanket)

    def bound(level: Rigour | None) -> Bound:
        return lambda n, width: (
            _delta(reduced, n=int(n), exp_eps=order, direction=direction, rigour=level, rel=width, bits=bits).bracket
        )

    def search(value: Bound, goal: Fraction, rel: float) -> Crossing:
        guide = _users_guide(reduced, order, goal, direction)
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

    quick = bound(Rigour.FLOAT64) if rigour is Rigour.BALL else None
    found = cross(search, bound(rigour), goal, _WIDTH, quick=quick)
    experiment = reduced.neighbours(direction, None)
    text = (
        f"from n = upper on, the safe end, delta bounds {experiment.compared}: this bound never rises with n ("
        "S_n/n is a reverse martingale)"
    )
    if found.above != found.meets:
        text += "; at n = lower it exceeds delta"
    return _inverse(found, "bisection over n; at the safe end", experiment, text)


def _budget_guide(
    at: Callable[[Fraction], Reduction], n: int, order: Fraction | Exp, goal: Fraction, direction: Question
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


def _users_guide(reduced: Reduction, order: Fraction | Exp, goal: Fraction, direction: Question) -> Guide | None:
    """The number of users from which two Gaussians have the target."""
    eps, spread = _exponent(order), limit_variance(reduced, direction)
    if spread is None or spread <= 0:
        return None
    users = min(max(spread / math.exp(2 * distance(eps, _log(goal))), 1.0), float(LARGEST_N))
    return Guide(users, lambda _: eps, -0.5, falling=True, whole=True, most=Fraction(LARGEST_N))


def _exponent(order: Fraction | Exp) -> float:
    """The level eps as a double."""
    return float(order.exponent) if isinstance(order, Exp) else math.log(to_float(order))


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


_delta = delta  # `delta` is also the name of a target, above


def _target(delta: object) -> Fraction:
    target = parse_rational(delta, "delta")
    if not 0 < target < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    return target


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
    """Step away from an undecided integer on both sides: by the smallest power of two that settles it."""
    for sign in (1, -1):
        least, most = 0, int(meets.x - undecided if sign > 0 else undecided - above.x).bit_length()
        while least < most:
            middle = (least + most) // 2
            x = undecided + sign * 2**middle
            point = settle(value, goal, rel, x) if above.x < x < meets.x else None
            if point is not None and sign > 0 and point.value.upper <= goal:
                meets, most = point, middle
            elif point is not None and sign < 0 and point.value.lower > goal:
                above, most = point, middle
            elif point is None:
                most = middle
            else:
                least = middle + 1
    return Crossing(above.x, meets.x, meets.value, above.value)


def _inverse(found: Crossing, how: str, neighbours: Neighbours, text: str) -> Inverse:
    low, high = sorted((found.above, found.meets))
    bracket = Bracket(low, high, found.at.rigour, found.at.engine, f"{how}: {found.at.how}")
    return Inverse(bracket, found.meets, found.at, neighbours, text)
