"""Values that questions share: the bound of all batches at a level, the smallest level, the Gaussian limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.bounds.brackets import bound_at, first_guess, limit_variance, reveals, smallest_eps
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.experiment import Experiment
from symshuffle.base.choices import Question
from symshuffle.base.errors import SymshuffleError
from symshuffle.base.numbers import Exp, Real, enclose, upper_end
from symshuffle.base.results import Bracket


def bound_of(asked: Experiment, order: Real, request: Method) -> Bracket:
    """The bound on delta at the level ``exp(eps) = order``."""
    if not asked.several:
        (alone,) = asked.parts
        return bound_at(alone, alone.users, order, request)
    from symshuffle.accountants.rounds import over_rounds

    return over_rounds.delta(asked, request, order).bracket


def smallest_of(asked: Experiment, target: Fraction, request: Method, near: Fraction | None = None) -> Bracket:
    """The smallest eps at a target delta; a guess ``near`` changes the cost of one batch only."""
    if not asked.several:
        (alone,) = asked.parts
        users = alone.users
        if near is None and not alone.cases and not alone.bounds:
            near = first_guess(alone, users, target, request)
        found = smallest_eps(alone, users, target, request, near)
        evaluation = f"root search on delta(eps); at the upper end: {found.meets.y.evaluation}"
        return found.bracket(evaluation, request.rtol)
    from symshuffle.accountants.rounds import over_rounds

    return over_rounds.epsilon(asked, request, target).bracket


def certain(asked: Experiment, question: Question) -> bool:
    """Whether a message can reveal for certain what a user holds: then nothing tends to Gaussians."""
    return any(reveals(reduced, question) for reduced in asked.parts)


def limit_distance(asked: Experiment, question: Question) -> float | None:
    """The squared distance of the Gaussians that all messages together tend to; None where it is not to be had.

    The distance of a group is that of a chain; the number of messages is that expected.
    """
    total = 0.0
    for part in asked.parts:
        found = limit_variance(part, question)
        if found is None or part.cases:
            return None
        total += found * part.steps**2 / part.group.expected(part.users) * part.times
    return total


_MOST_STEPS: Final = 20


def with_every_matrix(found: Answer, target: Real, solve: Callable[[Fraction], Answer] | None = None) -> Answer:
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


def _smallest(
    solve: Callable[[Fraction], Fraction], delta: Fraction, hidden: Fraction, *, margin: Fraction = Fraction(1, 1000)
) -> Fraction | None:
    """A level E whose bound is at most ``delta - (1 + exp(E)) hidden``; None if none is found.

    Each level suggests the next one: it meets what the level before it leaves of delta. A level that is no larger than
    the one for which delta was reduced is one.

    - ``margin``: relative distance by which a level that a smaller level suggests may be missed.
    """
    reached = Fraction(0)
    for _ in range(_MOST_STEPS):
        beyond = reached * (1 + margin)
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
