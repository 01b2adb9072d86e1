"""The three things that mechanisms can have in common, and the local level at which each of them has it.

The level is enclosed: at the safe end the budget, or the certified delta, is at most what was asked for; at the other
end it is at least that. A mechanism runs at the safe end, and a floor under its risk holds at the other one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.bounds.evaluate import check_n
from symshuffle.accountants.questions.inverses import solve_eps0
from symshuffle.base.choices import Loss, MatchKind, replace_choice
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import DEFAULT_BITS, Number, Verdict, less, parse_rational
from symshuffle.decompositions.calculated import number_at
from symshuffle.decompositions.closed_forms import moments_on_file
from symshuffle.design.comparison.families import Family
from symshuffle.design.comparison.forms import LARGEST_EPS0, Forms, Values, matched_log
from symshuffle.design.comparison.search import Parameters
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import THINNED, is_named
from symshuffle.mechanisms.symbolic import evaluate, value_of
from symshuffle.mechanisms.unary import BitStrings
from symshuffle.utility.estimation.moments import largest_pairwise_budget

LONGEST_EXACT: Final = 64
"""Inputs up to which strings of bits get a rational ratio; beyond, their probabilities are balls."""

_BITS: Final = 50
_SMALLEST_GOAL: Final = Fraction(1, 10**12)


@final
@dataclass(frozen=True, slots=True)
class Match:
    """What the mechanisms have in common.

    Parameters
    ----------
    kind : MatchKind
        Largest pairwise chi-square divergence, local level, or central target.
    value : Fraction
        The budget, the local level, or eps.
    delta : Fraction or None
        The delta at which eps is certified; None where nobody asked.
    loss : Loss
        The error that is minimised at the match.
    """

    kind: MatchKind
    value: Fraction
    delta: Fraction | None
    loss: Loss = Loss.L2

    def __post_init__(self) -> None:
        replace_choice(MatchKind, self, "kind")
        replace_choice(Loss, self, "loss")

    @property
    def words(self) -> str:
        """In words."""
        match self.kind:
            case MatchKind.CHI_SQUARE:
                return f"largest pairwise chi-square divergence at most {self.value}"
            case MatchKind.EPS0:
                return f"local level {self.value}"
            case MatchKind.EPS_DELTA:
                delta = "" if self.delta is None else f"{float(self.delta):g}"
                return f"certified ({float(self.value):g}, {delta})-DP after shuffling"


@final
@dataclass(frozen=True, slots=True)
class Matched:
    """A mechanism on both sides of a match; parameters other than the level are the same.

    Parameters
    ----------
    at : Mechanism
        It certainly spends at most what was asked for.
    beyond : Mechanism
        It certainly spends at least that: at the match nobody with these parameters has a larger level.
    """

    at: Mechanism
    beyond: Mechanism


def read_match(*, budget: object, eps0: object, eps: object, delta: object) -> Match:
    """Exactly one of the three.

    Raises
    ------
    InputError
        If none or two are given, eps comes without delta, or a value is outside its range.
    """
    given = {name: value for name, value in (("budget", budget), ("eps0", eps0), ("eps", eps)) if value is not None}
    if len(given) != 1:
        shown = ", ".join(f"{name} = {value}" for name, value in given.items()) or "none"
        raise InputError("budget, eps0, eps", shown, "exactly one of budget, eps0, and eps with delta")
    target = None if delta is None else parse_rational(delta, "delta")
    if target is not None and not 0 < target < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    ((name, raw),) = given.items()
    value = parse_rational(raw, name)
    match name:
        case "budget":
            if value < _SMALLEST_GOAL:
                raise InputError(
                    "budget", raw, f"a number > 0, at least {float(_SMALLEST_GOAL):g} (at 0 every message is noise)"
                )
            return Match(MatchKind.CHI_SQUARE, value, target)
        case "eps0":
            if not _SMALLEST_GOAL <= value <= LARGEST_EPS0:
                raise InputError("eps0", raw, f"a number in (0, {LARGEST_EPS0}], at least {float(_SMALLEST_GOAL):g}")
            return Match(MatchKind.EPS0, value, target)
    if target is None:
        raise InputError("delta", None, "a number in (0, 1), for a match at eps and delta")
    if not 0 < value <= LARGEST_EPS0:
        raise InputError("eps", raw, f"a number in (0, {LARGEST_EPS0}]")
    return Match(MatchKind.EPS_DELTA, value, target)


def level_in_doubles(match: Match, found: Forms, goal: float) -> Callable[[Values], float]:
    """The local level of free parameters at the match, in doubles.

    For a central target ``goal`` is the blanket variance of a mechanism that was matched before.
    """
    match match.kind:
        case MatchKind.EPS0:
            return lambda values: float(match.value)
        case MatchKind.CHI_SQUARE:
            return lambda values: matched_log(found.chi_square, float(match.value), values)
    return lambda values: matched_log(found.variance, goal, values)


def matched(family: Family, values: Parameters, match: Match, found: Forms, *, n: int, rel: float) -> Matched:
    """The mechanism with all parameters fixed, at a level on the safe side of the match and at one beyond it.

    Raises
    ------
    Unsupported
        If no level has it.
    """
    fixed: dict[str, Any] = dict(values)
    match match.kind:
        case MatchKind.EPS0:
            known = family.at(eps0=match.value, **fixed)
            return Matched(known, known)
        case MatchKind.CHI_SQUARE:
            floats = {name: float(value) for name, value in values}
            level = matched_log(found.chi_square, float(match.value), floats)
            return _around_budget(family, fixed, match.value, level)
    check_n(n)
    inverse = solve_eps0(
        lambda eps0: family.source(eps0=eps0, **fixed), n=n, delta=match.delta, eps=match.value, rel=rel
    )
    return Matched(*(family.at(eps0=end, **fixed) for end in (inverse.safe_end, inverse.bracket.upper)))


def _around_budget(family: Family, fixed: dict[str, Any], budget: Fraction, level: float) -> Matched:
    """At rational ratios (long strings: rational levels) just below and above the one that doubles give."""
    rational = family.all_inputs <= LONGEST_EXACT or not any(
        isinstance(c.members, BitStrings) for c in family.general.classes
    )
    if rational:
        lam = Fraction(math.exp(level))
        short = lam.limit_denominator(1000)
        if short > 1:
            candidate = family.at(lam=short, **fixed)
            if budget_of(candidate) == budget:
                return Matched(candidate, candidate)
        unit = Fraction(1, 1 << max(_BITS - math.frexp(float(lam - 1))[1], 0))
        start = (lam - 1) // unit
        make: Callable[[Any], Mechanism] = lambda x: family.at(lam=1 + x * unit, **fixed)  # noqa: E731
    else:
        places = 14 - math.floor(math.log10(level))
        unit = Fraction(1, 10**places)
        start = Fraction(level) // unit
        make = lambda x: family.at(eps0=x * unit, **fixed)  # noqa: E731
    below = next((one for one in map(make, _away(start, -1)) if less(budget, budget_of(one)) is Verdict.FALSE), None)
    above = next((one for one in map(make, _away(start, 1)) if less(budget_of(one), budget) is Verdict.FALSE), None)
    if below is None or above is None:
        raise NotDecided(f"no ratio of {family.name} is certainly within the budget {budget}, and next to it")
    return Matched(below, above)


def _away(start: int, step: int) -> Iterator[int]:
    """Integers between 0 and twice a first one, at ever larger distances from it."""
    x = start
    while 0 < x < 2 * start:
        yield x
        x, step = x + step, 4 * step


def budget_of(mechanism: Mechanism) -> Number:
    """The largest pairwise chi-square divergence of a mechanism with all parameters fixed."""
    general, known = mechanism.general or mechanism, dict(mechanism.fixed)
    values = {
        p.name: value
        for p in general.parameters
        if p.symbol in known and (value := value_of(known[p.symbol])) is not None
    }
    base = general.name.removeprefix(THINNED)
    kept = moments_on_file(base) if is_named(general) else None
    if kept is None:
        return evaluate(largest_pairwise_budget(general).subs(known), bits=None)
    found: Any = number_at(kept["chi square"], values, DEFAULT_BITS)
    spent: Number = found if base == general.name else found * values["p"]  # of a null symbol nothing is learnt
    return spent
