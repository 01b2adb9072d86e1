r"""Who counts as a user: a least number of messages, users who drop out, and groups of users.

*At least m messages.* The bound H(n) of every source here is :math:`s+\frac1nE[(G_1+\dots+G_n)_+]`, which never rises
with n; so H(m) covers every number of messages from m on.

*Dropout.* Each other user sends with probability :math:`1-q`, whatever the inputs, and the number M of messages is
public: the divergence is at most :math:`E[H(M)]`, :math:`M-1\sim\mathrm{Bin}(n-1,1-q)`. On an interval of numbers H
lies between its values at the two ends, so finitely many values and binomial tails bound the mean from both sides;
intervals are halved where that gains most. By monotonicity the mean is never above :math:`H(m)+P(M<m)`, whatever m.

*Groups.* Datasets that differ in g users are joined by a chain of g steps, and
:math:`(p-xyr)_+\le(p-xq)_++x(q-yr)_+` adds them up: :math:`D_{x^g}\le(1+x+\dots+x^{g-1})H(x)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal, Unpack, final

from symshuffle.accountants.amplification import about_delta, about_epsilon
from symshuffle.accountants.bounds import bound_at, first_guess, ratio_of, smallest_eps
from symshuffle.accountants.covered import Reduction, Whom, spelled_out
from symshuffle.accountants.dropout import mean_over_dropouts
from symshuffle.accountants.evaluate import Engine, Request, check_n
from symshuffle.accountants.neighbours import Neighbours
from symshuffle.accountants.reduction import Source, reduction
from symshuffle.accountants.search import smallest_meeting
from symshuffle.choices import Question, Rigour
from symshuffle.errors import InputError
from symshuffle.mechanisms.parameters import read_delta, read_target
from symshuffle.numbers import (
    DEFAULT_BITS,
    Exp,
    Real,
    as_integer,
    enclose,
    lower_end,
    parse_rational,
    upper_end,
)
from symshuffle.results import AnswerMethods, Bracket, SafeEnd

REL: Final = 1e-3
"""Relative width to aim at with dropout, where every halving costs values of H."""


@final
@dataclass(frozen=True, slots=True)
class Population:
    """Who sends messages, and in how many users two datasets differ.

    Parameters
    ----------
    users : int
        Number of users n, those who differ included.
    min_users : int, optional
        How many messages there are at least, whoever sends them; in [1, n].
    dropout : Fraction, optional
        With which probability each other user drops out, independently of all inputs, in [0, 1). The number of messages
        is public.
    group : int
        In how many users neighbours differ, in [1, n].

    Raises
    ------
    InputError
        If one is out of range, or both a least number and dropout are given.
    """

    users: int
    min_users: int | None = None
    dropout: Fraction | None = None
    group: int = 1

    def __post_init__(self) -> None:
        users = check_n(self.users)
        object.__setattr__(self, "users", users)
        object.__setattr__(self, "group", as_integer(self.group, "group", 1, users))
        if self.min_users is not None:
            object.__setattr__(self, "min_users", as_integer(self.min_users, "min_users", 1, users))
        if self.dropout is None:
            return
        if self.min_users is not None:
            raise InputError("min_users, dropout", f"{self.min_users}, {self.dropout}", "one of the two, not both")
        dropout = parse_rational(self.dropout, "dropout")
        if not 0 <= dropout < 1:
            raise InputError("dropout", self.dropout, "a probability in [0, 1)")
        object.__setattr__(self, "dropout", dropout)

    @property
    def words(self) -> str:
        """What is supposed of who sends, and what it rests on; empty for n users who all do."""
        found = []
        if self.min_users is not None:
            found.append(
                f"at least {self.min_users} of {self.users} users send a message: the bound never rises with the "
                "number of messages (claim symshuffle.more-users), honest ones counted only"
            )
        if self.dropout is not None:
            found.append(
                f"each other user of {self.users} drops out independently with probability {self.dropout}, whatever "
                "the inputs, and the number of messages is public: a mean over it (claim symshuffle.dropout)"
            )
        return "; ".join(found)


@final
@dataclass(frozen=True, slots=True, repr=False)
class PopulationBound(AnswerMethods):
    """An amplification bound under what is supposed of the users.

    Parameters
    ----------
    quantity : {"delta", "epsilon"}
        What is bounded.
    bracket : Bracket
        Around the bound; the upper end is safe.
    neighbours : Neighbours
        The pairs of datasets of the bound for one user.
    population : Population
        Who sends messages, and in how many users datasets differ.
    """

    quantity: Literal["delta", "epsilon"]
    bracket: Bracket
    neighbours: Neighbours
    population: Population

    @property
    def about(self) -> str:
        """Which experiment the bound speaks about, and what it supposes."""
        said = (about_delta if self.quantity == "delta" else about_epsilon)(self.neighbours)
        group = self.population.group
        if group > 1:
            where = "upper" if self.quantity == "delta" else "at eps = upper, delta"
            said = (
                f"{where} bounds the larger divergence at order exp(eps) of datasets that differ in at most {group} "
                f"users, by a chain of {group} neighbours (claim symshuffle.group-privacy) from the bound at order "
                f"exp(eps/{group}) on {self.neighbours.compared}; lower is the other side of this bound"
            )
        return f"{said}; {self.population.words}" if self.population.words else said

    @property
    def safe(self) -> SafeEnd:
        """The upper end."""
        return SafeEnd.UPPER

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        dropout = self.population.dropout
        return AnswerMethods.to_dict(self) | {
            "safe": "upper",
            "aimed": self.bracket.aimed,
            "direction": self.neighbours.question,
            "adjacency": self.neighbours.adjacency.value,
            "neighbours": self.neighbours.to_dict(),
            "meaning": self.about,
            "users": self.population.users,
            "min_users": self.population.min_users,
            "dropout": None if dropout is None else str(dropout),
            "group": self.population.group,
        }


@spelled_out
def delta(
    source: Source,
    population: Population,
    *,
    exp_eps: object = None,
    eps: object = None,
    direction: Question | str = "both",
    engine: Engine | None = None,
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = REL,
    bits: int | None = None,
    **whom: Unpack[Whom],
) -> PopulationBound:
    """Bound delta at a target level for a population.

    Parameters
    ----------
    source, exp_eps, eps, direction, engine, rigour, bits, adjacency, blanket, null
        As in :func:`symshuffle.delta`; for a group both directions.
    population : Population
        Who sends messages, and in how many users datasets differ.
    rel : float
        Relative width to aim at.

    Raises
    ------
    Unsupported
        If rigour exact is asked for with dropout beyond 300 users, or at a level whose root is irrational.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> krr = mechanism("krr").at(k=10, lam=3)
    >>> delta(krr, Population(6, dropout="1/2"), exp_eps="6/5", rigour="exact").bracket.exact
    Fraction(8024761, 79626240)
    """
    request = _request(population, direction, engine, rigour, rel, bits)
    order = read_target(eps=eps, exp_eps=exp_eps)
    reduced = reduction(source, **whom)
    bracket = bound_for(reduced, population, order, request)
    return PopulationBound("delta", bracket, _neighbours(reduced, population, request), population)


@spelled_out
def epsilon(
    source: Source,
    population: Population,
    *,
    delta: object,
    direction: Question | str = "both",
    engine: Engine | None = None,
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = REL,
    bits: int | None = None,
    **whom: Unpack[Whom],
) -> PopulationBound:
    """The smallest eps at which the bound for a population meets a target delta.

    Parameters
    ----------
    source, delta, direction, engine, rigour, bits, adjacency, blanket, null
        As in :func:`symshuffle.epsilon`; for a group both directions.
    population : Population
        Who sends messages, and in how many users datasets differ.
    rel : float
        Relative width of the bracket around eps to aim at.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If no finite eps meets the target, or rigour exact is asked for.
    """
    request = _request(population, direction, engine, rigour, rel, bits)
    target = read_delta(delta)
    reduced = reduction(source, **whom)

    def bound(level: Fraction, width: float) -> Bracket:
        return bound_for(reduced, population, ratio_of(level), replace(request, rel=width))

    found = smallest_meeting(bound, target, rel, _near(reduced, population, target, request))
    how = f"root search on delta(eps); at the upper end: {found.at.how}"
    bracket = Bracket(found.above, found.meets, found.at.rigour, found.at.engine, how)
    return PopulationBound("epsilon", bracket, _neighbours(reduced, population, request), population)


def bound_for(reduced: Reduction, population: Population, order: Real, request: Request) -> Bracket:
    """The bound on delta for a population at the level ``exp(eps) = order``; a group takes both directions."""
    one = _root(order, population.group)
    if population.dropout:
        found = mean_over_dropouts(
            lambda n, width: bound_at(reduced, n, one, replace(request, rel=width)),
            population.users,
            population.dropout,
            request.rel,
            exact=request.rigour is Rigour.EXACT,
        )
    else:
        found = bound_at(reduced, population.min_users or population.users, one, request)
    return found if population.group == 1 else _chained(found, one, population.group)


def _request(
    population: Population,
    direction: Question | str,
    engine: Engine | None,
    rigour: Rigour | str | None,
    rel: float,
    bits: int | None,
) -> Request:
    request = Request.of(direction, engine, rigour, rel, bits)
    if population.group > 1 and request.direction is not Question.BOTH:
        raise InputError("direction", request.direction, "both, for a group: its chain may use either order")
    return request


def _neighbours(reduced: Reduction, population: Population, request: Request) -> Neighbours:
    return reduced.neighbours(request.direction, population.min_users or population.users)


def _near(reduced: Reduction, population: Population, target: Fraction, request: Request) -> Fraction:
    """Where to look first: the level of as many users as send on average, a share of the target for each of a group."""
    users = population.min_users or max(1, round(population.users * (1 - (population.dropout or 0))))
    goal, rough = target / population.group, Request(request.direction, rel=1e-2)
    guess = first_guess(reduced, users, goal, rough)
    return population.group * smallest_eps(reduced, users, goal, rough, guess).meets


def _root(target: Real, group: int) -> Real:
    """A ratio whose power ``group`` is at most the target: the root itself, where it can be written."""
    if group == 1:
        return target
    if isinstance(target, Exp):
        return Exp(target.exponent / group)
    near = Fraction(float(target) ** (1 / group))
    for guess in (near.limit_denominator(10**6), near):
        if guess**group == target:
            return guess
    step = Fraction(1, 2**50)
    while near**group > target:
        near -= step
    return max(near, Fraction(1))


def group_factor(group: int, ratio: Any) -> Any:
    """What the bound for one user at a ratio is multiplied by for a group: the sum of the powers below ``group``."""
    total: Any = Fraction(0)
    for _ in range(group):
        total = 1 + ratio * total
    return total


def _chained(found: Bracket, one: Real, group: int) -> Bracket:
    ratio = one if isinstance(one, Fraction) else enclose(one, DEFAULT_BITS)
    factor = group_factor(group, ratio)
    low = min(found.lower * lower_end(factor), Fraction(1))
    high = min(found.upper * upper_end(factor), Fraction(1))
    rigour = found.rigour if isinstance(factor, Fraction) or found.rigour is not Rigour.EXACT else Rigour.BALL
    return replace(
        found, lower=low, upper=high, rigour=rigour, how=f"{group} steps between neighbours, at most 1: {found.how}"
    )
