"""The front door: what (eps, delta) a shuffled mechanism has, as a bracket that says what it bounds.

One chain, whatever the question: decomposition -> law of G -> engine -> bracket.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

from symshuffle.accountants.bounds.answers import Answer, Attained, largest_attained
from symshuffle.accountants.bounds.brackets import bound_at, first_guess, ratio_of, reached_at, smallest_eps
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.experiment import experiment
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.deployment.subjects import Subject, with_fields
from symshuffle.accountants.questions.enumeration import enumeration
from symshuffle.accountants.questions.experiments import smallest_of, with_every_matrix
from symshuffle.accountants.rounds.widths import WIDTH_OF_DELTA, WIDTH_OF_EPS
from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, Question
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.levels import LARGEST_LEVEL, read_delta, read_target
from symshuffle.base.numbers import Real, parse_rational
from symshuffle.base.results import Bracket
from symshuffle.engines.registry import Engine

USUAL_WIDTH: Final = 1e-6
"""Relative width of the answer about one round that is aimed at where none is asked for."""

_MANY_OF_DENSITIES: Final = 50_000
_WIDTH_OF_DENSITIES: Final = 1e-3
"""Users from which on eps of a law with a density is found to this width where none is asked for: values of delta that
tell it more closely take many times as long there; the answer says how wide it is."""

_LEAST_CERTIFIED: Final = Fraction(1, 10**50)
"""Bound on delta below which doubles do where nothing is asked for: balls cost many times as much in so far a tail."""

_FINEST: Final = 1e-9


@cost.question()
@with_fields
def delta(
    subject: Subject,
    *,
    exp_eps: object = None,
    eps: object = None,
    direction: Question = "both",
    engine: Engine | None = None,
    arithmetic: Arithmetic | None = None,
    rtol: float | None = None,
    bits: int | None = None,
    attained: bool = False,
    **fields: Any,
) -> Answer:
    """Upper bound on delta of a shuffled mechanism at a target level eps.

    Parameters
    ----------
    subject : Deployment, Group, randomizer, or a list of groups or of deployments
        What the bound is about. A randomizer is what every user runs: a mechanism with all parameters fixed, a channel
        or its matrix. A list of deployments is a sequence of periods. All pairs of inputs are compared, unless the
        randomizer has one pair only: a decomposition, or a mechanism whose pair was fixed. ``about`` of the result says
        which.
    n : int, optional
        Number of users, at least 1, the differing one included; none where every group has its own number.
    exp_eps, eps : number, text or Exp
        Target: the ratio ``exp(eps)``, at least 1, or its logarithm, at least 0. One of the two; kept exact.
    direction : {"forward", "reverse", "both"}
        Which divergence; ``both`` takes the larger.
    engine : Engine, optional
        Default: the cheapest that will do.
    arithmetic : Arithmetic or None
        Weakest arithmetic that is accepted. None: balls for one batch of users of one group with a finite channel and a
        bound of at least 1e-50, where they cost little more, else float64; with ``engine``, the arithmetic of that
        engine.
    rtol : float
        Relative width to aim at, where the engine has a width; default 1e-6, for means over the number of messages
        1e-3, for several batches of messages 1e-2.
    bits : int, optional
        Precision of balls in the law, at least 2.
    attained : bool
        Whether to evaluate real neighbouring pairs (constant backgrounds) as well.
    and the fields of a deployment
        As :class:`Group`, :class:`Adjacency` and :class:`Deployment` say.

    Returns
    -------
    Answer
        ``bracket`` encloses the bound on delta, a probability. In the direction asked for, the hockey-stick divergence
        of the pairs in ``neighbours`` is at most ``bracket.upper``; ``bracket.arithmetic`` says how this end is known.
        ``attained`` is None unless ``attained`` is set.

    Raises
    ------
    InputError
        If an argument is out of its range, or both or neither of ``eps`` and ``exp_eps`` are given.
    Unsupported
        If no engine evaluates this source with the arithmetic asked for; the message names the reason.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> krr = randomizer("krr", k=10, lam=3)
    >>> delta(krr, n=6, exp_eps="6/5", arithmetic="exact").bracket.exact
    Fraction(55591, 829440)
    """
    asked = Method.of(direction, engine, arithmetic, WIDTH_OF_DELTA if rtol is None else rtol, bits)
    order = read_target(eps=eps, exp_eps=exp_eps)
    listed = enumeration(subject, fields, asked)
    if listed is not None:
        return with_every_matrix(listed.delta(order, asked.direction, attained=attained), order)
    several = experiment(subject, fields)
    several.check_users()
    if several.several:
        from symshuffle.accountants.rounds import over_rounds

        request = replace(asked, arithmetic=asked.arithmetic or "float64")
        together = over_rounds.delta(several, request, order, attained=attained)
        return with_every_matrix(together, order)
    (reduced,) = several.parts
    n = reduced.users
    neighbours = reduced.neighbours(asked.direction, n)
    request = replace(asked, rtol=reduced.width(USUAL_WIDTH)) if rtol is None else asked
    bracket = _delta_of_batch(reduced, n, order, request)

    def most() -> Attained | None:
        approached = bool(reduced.inner)
        real = (
            Attained(reached_at(pair, n, order, request, approached=approached), datasets)
            for datasets, pair in reduced.real_pairs(n)
        )
        return max(real, key=lambda pair: pair.lower, default=None)

    covered = replace(neighbours, pairs=bracket.pair) if bracket.pair else neighbours
    found = Answer("delta", bracket, covered, exp_eps=order, deployment=several.deployment)
    return with_every_matrix(_with_attained(found, most) if attained else found, order)


def _delta_of_batch(reduced: Reduction, n: int, order: Real, request: Method) -> Bracket:
    """The bound at the arithmetic asked for; in doubles first, and in balls where these cost little, if none is."""
    if request.arithmetic is not None or request.engine is not None:
        return bound_at(reduced, n, order, request)
    found = bound_at(reduced, n, order, replace(request, arithmetic="float64"))
    if not cost.left():
        return found
    if found.arithmetic != "float64" or found.upper < _LEAST_CERTIFIED or not _is_cheap_in_balls(reduced):
        return found
    try:
        certified = bound_at(reduced, n, order, replace(request, arithmetic="ball"))
    except Unsupported:
        return found
    return found if certified.aimed is not None and found.aimed is None else certified


def _is_cheap_in_balls(reduced: Reduction) -> bool:
    """Whether the bound is that of finite laws at one number of messages: then balls cost little more than doubles."""
    averaged = reduced.cases or reduced.steps > 1
    return bool(reduced.bounds) and not (averaged or reduced.mixed or reduced.inner)


@cost.question()
@with_fields
def total_variation(
    subject: Subject,
    *,
    direction: Question = "both",
    engine: Engine | None = None,
    arithmetic: Arithmetic | None = None,
    rtol: float | None = None,
    bits: int | None = None,
    attained: bool = False,
    **fields: Any,
) -> Answer:
    """Upper bound on the total variation distance of the messages: delta at eps = 0.

    Parameters
    ----------
    subject, direction, engine, arithmetic, rtol, bits, attained, and the fields of a deployment
        As in :func:`delta`.

    Returns
    -------
    Answer
        As of :func:`delta` at ``eps=0``.

    Examples
    --------
    >>> rr = [["3/4", "1/4"], ["1/4", "3/4"]]
    >>> total_variation(rr, datasets=([0, 0], [0, 1])).bracket.exact
    Fraction(3, 8)
    """
    asked: Any = delta
    found: Answer = asked(
        subject,
        exp_eps=1,
        direction=direction,
        engine=engine,
        arithmetic=arithmetic,
        rtol=rtol,
        bits=bits,
        attained=attained,
        **fields,
    )
    return found


def _with_attained(found: Answer, most: Callable[[], Attained | None]) -> Answer:
    attained, missing = largest_attained(most)
    return replace(found, attained=attained, attained_missing=missing)


@cost.question()
@with_fields
def epsilon(
    subject: Subject,
    *,
    delta: object,
    direction: Question = "both",
    engine: Engine | None = None,
    arithmetic: Arithmetic | None = None,
    rtol: float | None = None,
    bits: int | None = None,
    attained: bool = False,
    near: object = None,
    **fields: Any,
) -> Answer:
    """Smallest eps, in nats, at which a shuffled mechanism is (eps, delta)-private.

    The upper end of the result is the safe one: at ``bracket.upper`` the bound on delta meets the target; at
    ``bracket.lower`` the bound exceeds the target, unless both ends are 0. Where no level is told from the target as
    closely as asked, the bracket is wider, its lower end may be 0, and ``bracket.aimed`` is set.

    Parameters
    ----------
    subject, direction, engine, arithmetic, bits, attained, and the fields of a deployment
        As in :func:`delta`.
    delta : number or text
        Target probability, in (0, 1); kept exact.
    rtol : float
        Relative width of the bracket around eps to aim at; default 1e-6, for means over the number of messages, several
        batches of messages, or a density and 50,000 users or more 1e-3.
    near : number or text, optional
        A guess of the answer to start the search from; it changes the cost of one round only.

    Returns
    -------
    Answer
        ``bracket`` encloses the smallest eps in nats at which the bound on delta meets the target. ``attained`` is None
        unless ``attained`` is set.

    Raises
    ------
    InputError
        If delta is not in (0, 1), or another argument is out of its range.
    Unsupported
        If no finite eps meets the target because a histogram reveals an input with a probability above delta, or if no
        engine evaluates this source with the arithmetic asked for.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = epsilon(randomizer("krr", k=10, eps0=1), n=1000, delta="1e-6")
    >>> round(float(found.bracket.upper), 4)
    0.0802
    """
    asked = Method.of(direction, engine, arithmetic, WIDTH_OF_EPS if rtol is None else rtol, bits)
    target = read_delta(delta)
    listed = enumeration(subject, fields, asked)
    if listed is not None:
        first = listed.epsilon(target, asked.direction, attained=attained)
        return with_every_matrix(first, target, lambda left: listed.epsilon(left, asked.direction, attained=False))
    several = experiment(subject, fields)
    several.check_users()
    if several.several:
        from symshuffle.accountants.rounds import over_rounds

        request = replace(asked, arithmetic=asked.arithmetic or "float64")
        together = over_rounds.epsilon(several, request, target, attained=attained)
        return with_every_matrix(together, target, lambda left: over_rounds.epsilon(several, request, left))
    (reduced,) = several.parts
    n = reduced.users
    neighbours = reduced.neighbours(asked.direction, n)
    request = replace(asked, rtol=reduced.width(USUAL_WIDTH)) if rtol is None else asked
    if arithmetic is None and engine is None:
        certified = target >= _LEAST_CERTIFIED and _is_cheap_in_balls(reduced)
        request = replace(request, arithmetic="ball" if certified else "float64", lenient=True)
    guess = None if near is None else parse_rational(near, "near")
    if guess is not None and not 0 <= guess <= LARGEST_LEVEL:
        raise InputError("near", near, f"a level from 0 to {LARGEST_LEVEL}")
    wide = rtol is None and n >= _MANY_OF_DENSITIES and bool(reduced.mixed)
    request = replace(request, rtol=max(request.rtol, _WIDTH_OF_DENSITIES)) if wide else request
    if guess is None and not reduced.cases and not reduced.bounds:
        guess = first_guess(reduced, n, target, request)

    def at(target: Fraction) -> Answer:
        try:
            bracket = smallest_of(several, target, request, guess)
        except (Unsupported, NotDecided):
            if arithmetic is not None or request.arithmetic != "ball":
                raise
            bracket = smallest_of(several, target, replace(request, arithmetic="float64"), guess)
        if wide and bracket.width > Fraction(USUAL_WIDTH) * bracket.upper:
            bracket = replace(bracket, aimed=USUAL_WIDTH)
        covered = replace(neighbours, pairs=bracket.pair) if bracket.pair else neighbours
        return Answer("epsilon", bracket, covered, delta=target, deployment=several.deployment)

    def most(bound: Bracket) -> Attained | None:
        """The real pair with the largest eps: one whose delta is met at that of another has no larger one."""
        best: Attained | None = None
        for datasets, real in reduced.real_pairs(n):
            if best is None and _exceeds(real, n, target, bound.lower, request):
                return Attained(bound.lower, datasets)
            if best is None or not _meets(real, n, target, best.lower, request):
                lower = smallest_eps(real, n, target, request, guess).above.x
                best = Attained(lower, datasets) if best is None or lower > best.lower else best
        return best

    found = at(target)
    if attained:
        found = _with_attained(found, partial(most, found.bracket))
    return found if neighbours.rounding is None else with_every_matrix(found, target, at)


def _exceeds(real: Reduction, n: int, target: Fraction, eps: Fraction, request: Method) -> bool:
    """Whether two datasets are certainly above a target at the level at which the bound is."""
    asked = replace(request, rtol=max(request.rtol / 8, _FINEST), goal=target)
    try:
        return not _meets(real, n, target, eps, request) and bound_at(real, n, ratio_of(eps), asked).lower > target
    except Unsupported:
        return False


def _meets(real: Reduction, n: int, target: Fraction, eps: Fraction, request: Method, *, look: float = 1e-2) -> bool:
    """Whether a wide look tells that two datasets meet a target at a level, and so at every larger one.

    - ``look``: relative width of a value that is to tell one real pair from another.
    """
    try:
        return (
            bound_at(real, n, ratio_of(eps), replace(request, rtol=max(request.rtol, look), goal=target)).upper
            <= target
        )
    except Unsupported:
        return False
