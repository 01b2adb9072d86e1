"""The bound of a reduction at one level, and the smallest level at which it meets a target: what every question asks.

A reduction and a :class:`~symshuffle.accountants.bounds.evaluate.Request` go in, brackets come out; nothing here reads
what a user wrote.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.bounds.gaussian_limit import level, mills_guess
from symshuffle.accountants.bounds.guided import Guide, guided
from symshuffle.accountants.bounds.search import Bound, Crossing, cross, smallest_meeting, tolerant
from symshuffle.accountants.deployment.group import EVERYBODY
from symshuffle.accountants.deployment.message_counts import (
    LARGEST_EXACT,
    VALUES_OF_A_MEAN,
    coins_cdf,
    mean_over_counts,
)
from symshuffle.accountants.deployment.reduced import MixedFamily, Reduction, distinct, laws, mixed_laws
from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, Question, weakest_arithmetic
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import LARGEST_LEVEL, as_probability
from symshuffle.base.numbers import Exp, Real, format_decimal, natural_log, upper_end
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law

if TYPE_CHECKING:
    from symshuffle.channels.continuous_law import LevelledPair
    from symshuffle.channels.mixed_law import MixedLaw

_WIDE: Final = 1e-2

_LEAST_OF_TAILS: Final = Fraction(1, 10**100)
"""Target below which laws with long tails have no search that ends soon."""

_FIRST_WIDTH: Final = 1e-3
"""Relative width at which two finite laws are compared first."""


def bound_at(source: Reduction, n: int, order: Real, request: Method) -> Bracket:
    """The decomposition bound on delta at the level ``exp(eps) = order``: the largest H(n) of the laws of a source.

    It is read off the laws with a continuous part, where an engine takes them; off finite laws that have the bound as
    their largest value; or, where finite laws only approach it, off laws on both sides. Where users drop out, these are
    laws of means over how many do (:meth:`symshuffle.channels.law.Law.thinning`). It is a probability: no end is below
    0 or above 1.
    """
    exact = request.engine is not None and request.engine.name == "exact" and request.arithmetic is None
    if source.rounding is not None and (exact or request.arithmetic == "exact"):
        raise Unsupported(
            "arithmetic exact: the rows read do not sum to 1, and were normalised; write them as fractions"
        )
    who = source.group
    if source.cases:
        each = replace(request, values=request.values * len(source.cases))
        return largest_of([_of_case(case, n, order, each) for case in source.cases])
    messages = n
    if who != EVERYBODY:
        who.check(n)
        messages = who.messages(n)
    if source.steps == 1:
        found = _bound_of_messages(source, messages, order, request)
        return found if found.lower >= 0 and found.upper <= 1 else as_probability(found)
    if request.direction != "both":
        raise InputError("direction", request.direction, "both, for a group: its chain may use either order")
    request = replace(request, goal=None)  # no value of one user is compared with it
    from symshuffle.accountants.deployment.groups import group_bound

    def at(messages: int, ratio: Real, width: float) -> Bracket:
        return _bound_of_messages(source, messages, ratio, replace(request, rtol=width))

    of_one = partial(at, messages)
    found = group_bound(of_one, order, source.steps, request.rtol, exact=request.arithmetic == "exact")
    return as_probability(found)


def _of_case(case: Reduction, n: int, order: Real, request: Method) -> Bracket:
    """The mean over how many of the others are draws from the blanket: X0 may hold either input of a pair."""
    coins, exact = case.coins(n), request.arithmetic == "exact"
    most = 1 + sum(count for count, _ in coins)
    if exact and most > LARGEST_EXACT:
        raise Unsupported(
            f"arithmetic exact with several groups or dummies takes at most {LARGEST_EXACT} users, not {most}"
        )
    centre = sum(count * float(chance) for count, chance in coins)
    spread = math.sqrt(sum(count * float(chance * (1 - chance)) for count, chance in coins))
    both = replace(request, direction="both", goal=None, values=request.values * min(most, VALUES_OF_A_MEAN))
    alone = replace(case, sharing=())
    return mean_over_counts(
        lambda m, width: bound_at(alone, m + case.dummies, order, replace(both, rtol=width)),
        most,
        coins_cdf(coins, exact=exact),
        (centre, spread),
        request.rtol,
        exact=exact,
    )


def _bound_of_messages(source: Reduction, n: int, order: Real, request: Method) -> Bracket:
    """The bound for n messages and one user who differs."""
    direct = _of_mixed(source.mixed, n, order, request, alone=not source.bounds) if source.mixed else None
    if direct:
        return largest_of(direct)
    if source.inner:
        return _from_both_sides(source, n, order, request)
    several = source.laws(order, request.direction, request.bits)
    return evaluate(several[0], n, request) if len(several) == 1 else largest_of(_of_finite(several, n, request))


def reached_at(real: Reduction, n: int, order: Real, request: Method, *, approached: bool) -> Fraction:
    """A number that the divergence of two real datasets is certainly not below, in the worst direction asked for."""
    coarse = approached and not real.mixed
    asked = replace(request, rtol=max(request.rtol, _FIRST_WIDTH)) if coarse else request
    return bound_at(real, n, order, asked).lower


def _of_finite(found: Iterable[Law], n: int, request: Method, *, few: int = 2) -> list[Bracket]:
    """Brackets among which is that of the largest law; laws that are below another by a first, wide look have none.

    - ``few``: laws beyond which a look of relative width ``_WIDE`` at each tells first which of them may have the
      largest value.
    """
    several = list(found)
    looks = request.engine is None and request.arithmetic != "exact" and request.rtol < _WIDE
    if looks and len(several) > few:
        rough = [evaluate(law, n, replace(request, rtol=_WIDE)) for law in several]
        leading = max(bracket.lower for bracket in rough)
        several = [law for law, bracket in zip(several, rough, strict=True) if bracket.upper >= leading]
    return [_evaluate(law, n, request, len(several) - place) for place, law in enumerate(several)]


def _evaluate(law: Law | MixedLaw | LevelledPair, n: int, request: Method, of: int) -> Bracket:
    """Of so many laws that are left the first one, by no more than its share of the work."""
    with cost.part(of):
        return evaluate(law, n, request)


def _of_mixed(families: Sequence[MixedFamily], n: int, order: Real, request: Method, *, alone: bool) -> list[Bracket]:
    """Of the laws with a continuous part; none where the request cannot be met on them and finite laws may do."""
    takes = request.arithmetic != "exact" and (request.engine is None or request.engine.continuous)
    if not takes and not alone:
        return []
    several = [law for family in families for law in mixed_laws(family, order, request.direction, request.bits)]
    found: list[Bracket] = []
    try:
        for place, law in enumerate(several):
            if not _smaller(law, n, max((bracket.lower for bracket in found), default=Fraction(0))):
                found.append(_evaluate(law, n, request, len(several) - place))
    except Unsupported:
        if alone:
            raise
        return []
    return found


def _smaller(law: MixedLaw | LevelledPair, n: int, leading: Fraction) -> bool:
    """Whether a cheap bound on H(n) of a pair of densities is at most a number: an engine costs far more.

    Chernoff's bound, or the value for one user, of any pair whose H(n) bounds the same divergence.
    """
    if not leading or law.kind != "densities":
        return False
    from symshuffle.engines.densities.engine import at_most  # NumPy loads when used

    one = law.of_single
    alone = None if one is None else one.ceiling
    if alone is not None and alone <= leading:
        return True
    return any(at_most(one, n, near=leading)[0] <= leading for one in (law, *law.others))


def _from_both_sides(source: Reduction, n: int, order: Real, request: Method) -> Bracket:
    """From finite laws above and below the bound.

    The laws stay as far apart as they are, so the engine is asked for no more than makes a difference: its width falls
    by tens until that distance, not the width, is what keeps the ends apart.
    """
    above = source.laws(order, request.direction, request.bits)
    below = distinct([law for family in source.inner for law in laws(family, order, request.direction, request.bits)])
    width = max(request.rtol, _FIRST_WIDTH) if request.engine is None else request.rtol
    while True:
        asked = replace(request, rtol=width)
        bracket = largest_of(_of_finite(above, n, asked), _of_finite(below, n, asked))
        if width <= request.rtol or bracket.width > 3 * Fraction(width) * bracket.upper:
            return bracket
        width = max(request.rtol, width / 10)


def largest_of(above: Sequence[Bracket], below: Sequence[Bracket] = ()) -> Bracket:
    """The bracket of the largest of some numbers, where given from brackets below and above it."""
    if len(above) == 1 and not below:
        return above[0]
    top = max(above, key=attrgetter("upper"))
    # That the others are smaller is known only at their own arithmetic.
    weakest = weakest_arithmetic(bracket.arithmetic for bracket in (*above, *below))
    return replace(top, lower=max(bracket.lower for bracket in below or above), arithmetic=weakest)


def smallest_eps(
    source: Reduction,
    n: int,
    target: Fraction,
    request: Method,
    near: Fraction | None = None,
    *,
    values_of_a_search: int = 10,
) -> Crossing:
    """The smallest eps at which the bound meets a target delta, from both sides, ``request.rtol`` apart.

    - ``values_of_a_search``: about as many levels as a search for one takes.
    """
    averaged, size = bool(source.cases), source.steps
    values = request.values * values_of_a_search if averaged else request.values

    def bound(arithmetic: Arithmetic | None, eps: Fraction, width: float) -> Bracket:
        asked = replace(request, arithmetic=arithmetic, rtol=width, goal=target, values=values)
        found = bound_at(source, n, ratio_of(eps), asked)
        if eps == 0 and averaged and found.lower <= target < found.upper:
            return _exact_mean(source, n, asked) or found  # a level may be 0 exactly
        return found

    if target < _LEAST_OF_TAILS and near is not None:
        _affordable(source, n, target, near, request)

    strict = request.engine is not None or request.arithmetic == "exact"

    def search(value: Bound, goal: Fraction, width: float) -> Crossing:
        start = None
        if not averaged:  # else every value is a mean over dozens of others, so few and wide ones are evaluated
            start = _gaussian_level(source, n, goal, request.direction) if near is None else float(near)
        if start is not None:
            zero_from = Guide(
                start,
                None,
                0.0,
                falling=True,
                whole=False,
                most=Fraction(LARGEST_LEVEL),
                zero=lambda eps: _all_zero(source.laws(Exp(eps / size), request.direction, request.bits)),
            )
            found = guided(value, goal, width, zero_from)
            if found is not None:
                return found
        return smallest_meeting(value if strict else tolerant(value), goal, width, near)

    return cross(search, bound, target, request)


def _exact_mean(source: Reduction, n: int, request: Method, *, most_exact: int = 64) -> Bracket | None:
    """The bound at eps = 0 in rationals; None where that is not to be had, or takes long.

    - ``most_exact``: users up to which a mean over dropouts is computed in rationals to tell whether a level is 0:
      seconds at most.
    """
    if n > most_exact or request.engine is not None:
        return None
    try:
        found = bound_at(source, n, Fraction(1), replace(request, arithmetic="exact", bits=None))
    except Unsupported:
        return None
    return replace(found, arithmetic=request.arithmetic or "exact")


def _affordable(source: Reduction, n: int, target: Fraction, near: Fraction, request: Method) -> None:
    """Refuse a search near a level whose every value takes minutes."""
    from symshuffle.engines.densities.engine import long_tailed  # NumPy loads when used

    order = ratio_of(near)
    pairs = [law for family in source.mixed for law in mixed_laws(family, order, request.direction, request.bits)]
    if any(law.kind == "densities" and long_tailed(law, n, target) for law in pairs):
        written = format_decimal(target, digits=6, up=False)
        least = f"at least {float(_LEAST_OF_TAILS):g} for n = {n} and a density with so long a tail"
        raise InputError("delta", written, f"{least}: below it each value takes minutes")


def first_guess(source: Reduction, n: int, target: Fraction, request: Method) -> Fraction:
    """Where to look first for the smallest eps of densities, each value of which costs more than this one at eps = 0.

    Of finite laws the variance tells where to look.
    """
    return mills_guess(bound_at(source, n, Fraction(1), replace(request, rtol=_WIDE)).upper, target)


def ratio_of(eps: Fraction) -> Real:
    """The ratio ``exp(eps)`` of a level, exactly."""
    return Exp(eps) if eps else Fraction(1)


def limit_variance(source: Reduction, question: Question) -> float | None:
    """The largest variance of G at eps = 0: over n, the squared distance of the Gaussians that the profile tends to.

    None where a law is not to be had there, or all have densities.
    """
    try:
        everybody = source if source.group == EVERYBODY else replace(source, group=EVERYBODY)
        found = everybody.laws(Fraction(1), question, None)
        return max(map(float, map(attrgetter("variance"), found)), default=None)
    except (Unsupported, OverflowError):
        return None


def reveals(source: Reduction, question: Question) -> bool:
    """Whether a message can reveal for certain what a user holds: at eps = 0 a law has singular mass."""
    try:
        return any(upper_end(law.singular) > 0 for law in source.laws(Fraction(1), question, None))
    except Unsupported:  # densities, where nothing is singular, or no law at all, which has no variance either
        return False


def _gaussian_level(source: Reduction, n: int, goal: Fraction, question: Question) -> float | None:
    """Where the two Gaussians that n copies tend to have the target; None where no variance is known, or it is 0."""
    spread, size = limit_variance(source, question), source.steps
    if not spread:
        return None
    distance = math.sqrt(spread / (n if source.group == EVERYBODY else source.group.expected(n)))
    return size * level(distance, natural_log(goal / size))


def bounds_nothing_from(source: Reduction, order: Real, request: Method) -> bool:
    """Whether the bound at the level ``exp(eps) = order``, and so at every larger one, is certainly 0 for every n."""
    if source.bounds:
        return _all_zero(source.laws(order, request.direction, request.bits))
    found = [law for family in source.mixed for law in mixed_laws(family, order, request.direction, request.bits)]
    return bool(found) and all(
        law.never_positive and (law.kind == "densities" or upper_end(law.singular) == 0) for law in found
    )


def _all_zero(laws: Sequence[Law]) -> bool:
    """Whether there are laws, and H(n) of all is certainly 0 for every n: of densities nothing is known by this."""
    return bool(laws) and all(law.never_positive and upper_end(law.singular) == 0 for law in laws)
