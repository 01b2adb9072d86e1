"""What n shuffled messages of vectors reveal: brackets for both orders of the pair, and a real pair beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.accountants.bounds.evaluate import Request, check_n, evaluate
from symshuffle.accountants.bounds.search import mills_guess, smallest_meeting
from symshuffle.base.choices import Adjacency, Blanket, Rigour, choice
from symshuffle.base.levels import read_delta, read_target
from symshuffle.base.numbers import Ball, Exp, Real, enclose, to_arb, working_precision
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair, Stretch
from symshuffle.engines.densities.engine import at_most
from symshuffle.vectors.privacy.pairs import (
    FinitePair,
    Pair,
    Randomizer,
    real_pair,
    worst_pair,
)

_ROUGH: Final = 1e-2
"""Relative width at which an order is told to be the smaller one, where no cheaper bound tells."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class VectorBound(AnswerMethods):
    """The bound on delta for both orders of the worst pair, and what a real pair of datasets attains.

    Parameters
    ----------
    forward, reverse : Bracket
        The bound for (x, other) and for (other, x).
    real_forward, real_reverse : Bracket
        The exact divergence of a real pair of datasets, in the same orders: below the bound.
    about : str
        What the number speaks about.
    """

    forward: Bracket
    reverse: Bracket
    real_forward: Bracket | None
    real_reverse: Bracket | None
    about: str

    @property
    def bracket(self) -> Bracket:
        """The bracket around the larger of the two: what a guarantee needs."""
        return larger(self.forward, self.reverse)

    @property
    def lower(self) -> Bracket | None:
        """The bracket around the divergence that the real pair attains in its worse order."""
        if self.real_forward is None or self.real_reverse is None:
            return None
        return larger(self.real_forward, self.real_reverse)

    @property
    def safe(self) -> SafeEnd:
        """The upper end."""
        return SafeEnd.UPPER

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        orders = {"forward": self.forward, "reverse": self.reverse}
        real = {"forward": self.real_forward, "reverse": self.real_reverse}
        return {
            "about": self.about,
            "how": self.how,
            "rigour": self.bracket.rigour.value,
            **self.bracket.decimals(),
            "orders": {name: bracket.decimals() for name, bracket in orders.items()},
            "real_pair": {name: b.decimals() for name, b in real.items() if b is not None},
        }

    def _repr_html_(self) -> str:
        rows = [("(x, other)", self.forward), ("(other, x)", self.reverse)]
        rows += [("a real pair attains", b) for b in (self.lower,) if b is not None]
        cells = "".join(f"<tr><th>{name}</th><td>{b}</td></tr>" for name, b in rows)
        return f"<table><caption>{self.about}</caption>{cells}</table>"


def vector_delta(
    mechanism: Randomizer,
    *,
    n: int,
    eps: object = None,
    exp_eps: object = None,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    blanket: Blanket | str = Blanket.MECHANISM,
    rigour: Rigour | str = Rigour.FLOAT64,
    rel: float | None = None,
    lower: bool = True,
    both: bool = True,
) -> VectorBound:
    """A bound on delta for n shuffled messages, in both orders of the pair.

    Parameters
    ----------
    mechanism : BlanketMixedGaussian, LocalGaussian, SphereLinear or PrivUnit
        What every user runs.
    n : int
        Number of users, the differing one included.
    eps, exp_eps : number, text or Exp
        Target level.
    adjacency : {"zero-out", "replace-one"}
        Which datasets are neighbours.
    blanket : {"mechanism", "largest"}
        The blanket of the bound.
    rigour : Rigour
        Doubles with an allowance, or balls.
    rel : float, optional
        Relative width to aim at; 1e-8 in doubles, 1e-12 in balls.
    lower : bool
        Whether a real pair is evaluated as well.
    both : bool
        Whether the smaller order is evaluated as finely as the larger one; otherwise any bound on it serves that is
        below the larger one.

    Raises
    ------
    InputError
        If an argument is out of range.
    Unsupported
        If no worst pair is known, or the width is out of reach.

    Notes
    -----
    vecmean, Appendix C.

    Examples
    --------
    >>> from symshuffle.vectors import BlanketMixedGaussian
    >>> mixed = BlanketMixedGaussian("0.95", "4.6")
    >>> bound = vector_delta(mixed, n=1000, eps="0.0004", adjacency="zero-out", lower=False)
    >>> f"{float(bound.forward.upper):.8e} {float(bound.reverse.upper):.8e}"
    '2.37913533e-05 2.32041697e-05'
    """
    n = check_n(n)
    order = read_target(eps=eps, exp_eps=exp_eps)
    level, near = choice(Rigour, rigour, "rigour"), choice(Adjacency, adjacency, "adjacency")
    aim = rel if rel is not None else (1e-8 if level is Rigour.FLOAT64 else 1e-12)
    request = Request(rigour=level, rel=aim)
    kind = choice(Blanket, blanket, "blanket")
    pair = worst_pair(mechanism, adjacency=near, blanket=kind, exp_eps=order)
    forward, reverse = _both(pair, n, order, request) if both else _larger_first(pair, n, order, request)
    real: list[Bracket | None] = [None, None]
    if lower:
        other = real_pair(mechanism, adjacency=near)
        coarser = replace(request, rel=max(aim, 1e-8))
        real = list(_both(other, n, order, coarser))
    about = f"upper bound on delta of n = {n} shuffled messages, {near} adjacency: {pair.about}"
    return VectorBound(forward, reverse, real[0], real[1], about)


def pair_delta(
    pair: Pair, n: int, exp_eps: Real, *, rigour: Rigour | str = Rigour.FLOAT64, rel: float = 1e-8
) -> Bracket:
    """H(n) of one pair in one order.

    Raises
    ------
    Unsupported
        If the width is out of reach.
    """
    return _value(pair, n, exp_eps, Request.of(rigour=rigour, rel=rel))


def _both(pair: Pair, n: int, exp_eps: Real, request: Request) -> tuple[Bracket, Bracket]:
    """H(n) of a pair in both orders, computed once where they have the same law."""
    forward, back = _value(pair, n, exp_eps, request), pair.reverse
    return forward, forward if back is pair else _value(back, n, exp_eps, request)


def _larger_first(pair: Pair, n: int, exp_eps: Real, request: Request) -> tuple[Bracket, Bracket]:
    """H(n) of the larger order; of the other one the cheapest upper bound that is below it."""
    forward, back = _value(pair, n, exp_eps, request), pair.reverse
    if back is pair:
        return forward, forward
    if isinstance(back, ContinuousPair):
        most, road = at_most(LevelledPair(back, exp_eps), n)
        if most <= forward.lower:
            return forward, Bracket(Fraction(0), most, Rigour.BALL, "none", f"at most {road}", aimed=request.rel)
        rough = _value(back, n, exp_eps, replace(request, rel=max(request.rel, _ROUGH)))
        if rough.upper <= forward.lower:
            return forward, rough
    return forward, _value(back, n, exp_eps, request)


def one_user_bound(
    mechanism: Randomizer, target: Fraction, *, exp_eps: Real, adjacency: Adjacency
) -> VectorBound | None:
    """The bound for one user, which no larger number exceeds, in both orders; None where it is above a target.

    A single message of the longest input against that of the null symbol, or of the opposite input: no blanket enters.
    """
    pair = real_pair(mechanism, adjacency=adjacency)
    alone = _both(pair, 1, exp_eps, Request(rel=1e-8))
    if larger(*alone).upper > target:
        return None
    how = "at most the value for one user, in closed form"
    forward, reverse = (Bracket(Fraction(0), one.upper, one.rigour, "none", how) for one in alone)
    about = f"upper bound on delta of one message and more, {adjacency} adjacency: {pair.about}"
    return VectorBound(forward, reverse, None, None, about)


def _value(pair: Pair, n: int, exp_eps: Real, request: Request) -> Bracket:
    if isinstance(pair, FinitePair):
        return evaluate(pair.law(exp_eps, bits=192), n, request)
    return evaluate(LevelledPair(pair, exp_eps), n, request)


def vector_epsilon(
    mechanism: Randomizer,
    *,
    n: int,
    delta: object,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    blanket: Blanket | str = Blanket.MECHANISM,
    rigour: Rigour | str = Rigour.FLOAT64,
    rel: float = 1e-9,
) -> Bracket:
    """The smallest eps at which n shuffled messages certainly are (eps, delta)-private, from both sides.

    ``upper`` is the safe end: there the bound on delta, in its worse order, meets the target.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    """
    n = check_n(n)
    goal, request = read_delta(delta), Request.of(rigour=rigour, rel=rel)
    level = request.rigour or Rigour.FLOAT64

    def bound(eps: Fraction, width: float) -> Bracket:
        order = Exp(eps)
        pair = worst_pair(mechanism, adjacency=adjacency, blanket=blanket, exp_eps=order)
        return larger(*_both(pair, n, order, replace(request, rel=width)))

    start = bound(Fraction(0), 1e-6)
    if start.upper <= goal:
        return Bracket(Fraction(0), Fraction(0), level, start.engine, "delta is met already at eps = 0")
    found = smallest_meeting(bound, goal, rel, mills_guess(start.upper, goal))
    return Bracket(found.above, found.meets, found.at.rigour, found.at.engine, f"at the safe end: {found.at.how}")


def curve(
    mechanism: Randomizer,
    *,
    n: int,
    levels: list[Fraction],
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    rel: float = 1e-6,
) -> list[VectorBound]:
    """The privacy profile at some levels, without the real pair."""
    return [vector_delta(mechanism, n=n, eps=eps, adjacency=adjacency, rel=rel, lower=False) for eps in levels]


def order_margin(pair: Pair, *, bits: int = 128) -> Ball:
    r"""A number that is positive where (x, other) has the larger bound at small eps, negative where (other, x) has.

    With :math:`L_k=A_k/A_2` and :math:`D=L_0-L_1` the two orders have the same mean, variances that differ by
    :math:`-2(e^\varepsilon-1)(\operatorname{Var}L_0-\operatorname{Var}L_1)` and third cumulants :math:`\pm E[D^3]`. To
    first order of Edgeworth's expansion of :math:`E[S_+]` the difference of the orders has the sign of

    .. math:: E[D^3]-3\operatorname{Var}(D)\,(\operatorname{Var}L_0-\operatorname{Var}L_1).

    Where :math:`A_1` is proportional to :math:`A_2` on its support this is :math:`E[\ell_0^3]>3E[\ell_0^2]^2`.

    Notes
    -----
    An asymptotic criterion; the integrals of a density on the whole line are taken over 40 units on either side.
    """
    if isinstance(pair, FinitePair):
        rows = list(zip(pair.first, pair.second, pair.reference, strict=True))
        cube: Any = sum(
            ((p - q) ** 3 if isinstance(p - q, Fraction) else (p - q) * (p - q) * (p - q)) / (r * r) for p, q, r in rows
        )
        square: Any = sum((p - q) * (p - q) / r for p, q, r in rows)
        spread: Any = sum((p * p - q * q) / r for p, q, r in rows)
        return enclose(cube - 3 * square * spread, bits) if isinstance(cube, Fraction) else cube - 3 * square * spread
    with working_precision(bits):
        cubes, squares, spreads = (
            sum((_moment(s, power) for s in pair.stretches), start=flint.arb(0))
            for power in ("cube", "square", "spread")
        )
        return Ball.from_arb(cubes - 3 * squares * spreads, bits)


def _moment(stretch: Stretch, power: str) -> flint.arb:
    low, high = (
        to_arb(Fraction(sign * 40) if end is None else end) for sign, end in ((-1, stretch.low), (1, stretch.high))
    )

    def function(u: flint.acb, _: bool) -> flint.acb:
        p, q, r = stretch.first(u), stretch.second(u), stretch.reference(u)
        term = {
            "cube": lambda: (p - q) ** 3 / r**2,
            "square": lambda: (p - q) ** 2 / r,
            "spread": lambda: (p * p - q * q) / r,
        }
        return stretch.base(u) * term[power]()

    return flint.acb.integral(function, flint.acb(low), flint.acb(high)).real


def larger(one: Bracket, other: Bracket) -> Bracket:
    """The bracket around the larger of two numbers."""
    first, second = (one, other) if one.upper >= other.upper else (other, one)
    return replace(first, lower=max(first.lower, second.lower))
