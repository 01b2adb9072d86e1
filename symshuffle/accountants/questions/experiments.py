"""What curves and inverses ask about: the messages of one round, or of several, reduced once for many questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from symshuffle.accountants.bounds.amplification import Amplification
from symshuffle.accountants.bounds.brackets import bound_at, first_guess, limit_variance, reveals, smallest_eps
from symshuffle.accountants.bounds.evaluate import Request, check_n
from symshuffle.accountants.covering.covered import Covering
from symshuffle.accountants.covering.neighbours import Neighbours
from symshuffle.accountants.covering.reduced import Reduction
from symshuffle.accountants.covering.reduction import covering_reduction
from symshuffle.accountants.rounds.plan import Rounds, plan_of, unrolled
from symshuffle.base.choices import Question
from symshuffle.base.errors import SymshuffleError
from symshuffle.base.numbers import Exp, Real, enclose, upper_end
from symshuffle.base.results import Bracket

Experiment: TypeAlias = Reduction | Rounds
"""One round by its reduction, or rounds whose sources are reductions."""


def experiment(source: Any, covering: Covering) -> Experiment:
    """A source as its reduction, several rounds as rounds of reductions."""
    plan = plan_of(source)
    if plan is None:
        return covering_reduction(source, covering)
    return Rounds(tuple(replace(part, source=covering_reduction(part.source, covering)) for part in plan.parts))


def of_several(source: Any) -> bool:
    """Whether a source consists of more than one round."""
    plan = plan_of(source)
    return plan is not None and plan.times > 1


def coarse(asked: Experiment) -> bool:
    """Whether every value is made of many, so that few are looked at: several rounds, or users who drop out."""
    return of_several(asked) or any(reduced.participation.dropout for reduced in _reductions(asked))


def width_of(asked: Experiment, rel: float | None, one: float, several: float) -> float:
    """The relative width to aim at: what is asked for, or the usual one, of one round and of several."""
    if rel is not None:
        return rel
    if of_several(asked):
        return several
    return _reductions(asked)[0].participation.width(one)


def _reductions(asked: Experiment) -> tuple[Reduction, ...]:
    """What is run: in the one round, or in each of several."""
    return tuple(part.source for part in asked.parts) if isinstance(asked, Rounds) else (asked,)  # type: ignore[misc]


def bound_of(asked: Experiment, n: int | None, order: Real, request: Request) -> Bracket:
    """The bound on delta at the level ``exp(eps) = order``; ``n`` is None where every round has its own users."""
    plan, alone, users = unrolled(asked, n)
    if plan is None:
        return bound_at(alone, users, order, request)
    from symshuffle.accountants.rounds import over_rounds

    return over_rounds.delta(plan, Covering(), request, order).bracket


def smallest_of(
    asked: Experiment, n: int | None, target: Fraction, request: Request, near: Fraction | None = None
) -> Bracket:
    """The smallest eps at a target delta; a guess ``near`` changes the cost of one round only."""
    plan, alone, users = unrolled(asked, n)
    if plan is None:
        guess = first_guess(alone, users, target, request) if near is None else near
        found = smallest_eps(alone, users, target, request, guess)
        how = f"root search on delta(eps); at the upper end: {found.at.how}"
        return found.bracket(how, request.rel)
    from symshuffle.accountants.rounds import over_rounds

    return over_rounds.epsilon(plan, Covering(), request, target).bracket


def covered_by(asked: Experiment, n: int | None, question: Question) -> Neighbours:
    """Whom a bound covers: one round, or several together."""
    plan = plan_of(asked)
    parts: list[tuple[int, Any, int | None]] = [(1, asked, n)]
    if plan is not None:
        parts = [(part.times, part.source, n if part.n is None else part.n) for part in plan.parts]
    found = [(times, one.neighbours(question, None if m is None else check_n(m))) for times, one, m in parts]
    return found[0][1] if sum(times for times, _ in found) == 1 else Neighbours.joined(found)


def certain(asked: Experiment, question: Question) -> bool:
    """Whether a message of some round can reveal for certain what a user holds: then nothing tends to Gaussians."""
    return any(reveals(reduced, question) for reduced in _reductions(asked))


def limit_distance(asked: Experiment, n: int | None, question: Question) -> float | None:
    """The squared distance of the Gaussians that all messages together tend to; None where it is not to be had.

    The distance of a group is that of a chain; the number of messages is that expected.
    """
    plan, alone, users = unrolled(asked, n)
    parts: list[tuple[Any, Any, int]] = [(alone, users, 1)]
    if plan is not None:
        parts = [(part.source, part.n, part.times) for part in plan.parts]
    total = 0.0
    for source, messages, times in parts:
        found, who = limit_variance(source, question), source.participation
        if found is None:
            return None
        total += found * who.group**2 / who.expected(messages) * times
    return total


_MOST_STEPS: Final = 20
_MARGIN: Final = Fraction(1, 1000)
"""Relative distance by which a level that a smaller level suggests may be missed."""


def with_every_matrix(
    found: Amplification, target: Real, solve: Callable[[Fraction], Amplification] | None = None
) -> Amplification:
    """The answer, with the bound for every matrix that rounds to the one read beside it where one was normalised.

    - ``solve``: for ``epsilon``: the answer at another delta.
    """
    if found.neighbours.rounding is None:
        return found
    hidden = found.neighbours.hidden
    if solve is None:
        bound = found.bracket.upper + (1 + _upper(target)) * hidden
        return replace(found, every_matrix=bound if bound < 1 else None)
    assert isinstance(target, Fraction)  # a delta
    return replace(found, every_matrix=_smallest(lambda delta: solve(delta).bracket.upper, target, hidden))


def _upper(ratio: Real) -> Fraction:
    return ratio if isinstance(ratio, Fraction) else upper_end(enclose(ratio))


def _smallest(solve: Callable[[Fraction], Fraction], delta: Fraction, hidden: Fraction) -> Fraction | None:
    """A level E whose bound is at most ``delta - (1 + exp(E)) hidden``; None if none is found.

    Each level suggests the next one: it meets what the level before it leaves of delta. A level that is no larger than
    the one for which delta was reduced is one.
    """
    reached = Fraction(0)
    for _ in range(_MOST_STEPS):
        beyond = reached * (1 + _MARGIN)
        left = delta - (1 + (_upper(Exp(beyond)) if beyond else 1)) * hidden
        if left <= 0:
            return None
        try:
            reached = solve(left)
        except SymshuffleError:  # no eps meets what is left of delta, or none is found
            return None
        if reached <= beyond:
            return reached
    return None
