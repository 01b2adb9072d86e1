"""The three things that mechanisms can have in common, and the local level at which each of them has it.

The level is enclosed: at the safe end the budget, or the certified delta, is at most what was asked for; at the other
end it is at least that. A mechanism runs at the safe end, and a floor under its risk holds at the other one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.accountants.deployment.experiment import Experiment, experiment
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import UNSAID, Deployment
from symshuffle.accountants.questions.inverses import largest_eps0
from symshuffle.accountants.questions.repeated import one_of_rounds, solve_eps0_of_rounds
from symshuffle.accountants.questions.solve import delta
from symshuffle.base.choices import Loss, MatchKind, replace_choice
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import Real, Verdict, less, parse_rational, target_decimal
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.families import Family, FamilyMember, Parameters
from symshuffle.design.comparison.proposals import LARGEST_EPS0, Values, matched_log, moment

if TYPE_CHECKING:
    pass


RTOL: Final = 1e-4
"""Relative width of the brackets around eps and eps0 of one round: cost only."""


@lru_cache(maxsize=64)
def _laws(source: Any, covered: Deployment) -> Experiment:
    """Each source has its laws derived once, so that what was computed to find a level says its eps too."""
    return experiment(covered.with_randomizers(lambda _: source), {})


@final
@dataclass(frozen=True, slots=True)
class Match:
    """What the mechanisms have in common.

    - ``delta``: the delta at which eps is certified; None where nobody asked.
    - ``covered``: what eps covers: a deployment of one group, its randomizer and number of users left open. The
      certified (eps, delta) holds for all its periods together; the loss is that of one period.
    """

    kind: MatchKind
    value: Fraction
    delta: Fraction | None
    loss: Loss = "l2"
    covered: Deployment = UNSAID

    def __post_init__(self) -> None:
        replace_choice(MatchKind, self, "kind")
        replace_choice(Loss, self, "loss")

    @property
    def words(self) -> str:
        """In words."""
        match self.kind:
            case "chi-square":
                return f"largest pairwise chi-square divergence at most {self.value}"
            case "eps0":
                return f"local level {self.value}"
            case "eps-delta":
                delta = "" if self.delta is None else target_decimal(self.delta, up=True)
                return f"certified ({target_decimal(self.value, up=True)}, {delta})-DP after shuffling{self.over}"

    @property
    def over(self) -> str:
        """Over what eps is certified, in words: periods and who sends; empty for n users once."""
        times, group = self.rounds, self.covered.groups[0]
        said = f" of {times} periods together" if times > 1 else ""
        return said + group.sending_words

    @property
    def rounds(self) -> int:
        """Number of batches of messages; the certified (eps, delta) holds for all of them together."""
        return self.covered.batches

    def messages(self, n: int) -> int:
        """The smallest number of honest messages of n users."""
        return self.covered.groups[0].messages(n)

    def of_one_batch(self) -> Deployment:
        """What eps covers, of one batch of messages alone."""
        return replace(self.covered, periods=1, reports=1)

    def asked(self, source: Any) -> Experiment | Deployment:
        """What is asked about for users who run something."""
        if self.rounds > 1:
            return _laws(source, self.covered)
        return self.covered.with_randomizers(lambda _: source)

    def of_one_round(self) -> Match:
        """What one of the rounds has in the Gaussian limit, by which parameters are searched; no bound."""
        if self.rounds == 1 or self.kind != "eps-delta" or self.delta is None:
            return self
        eps, delta = one_of_rounds(self.value, self.delta, self.rounds)
        return replace(self, value=eps, delta=delta, covered=self.of_one_batch())

    def largest_eps0(
        self, source: Callable[[Fraction], Any], n: int, rtol: float, *, near: Fraction | None = None
    ) -> Bracket:
        """The local level at which a central target is met, and one at which it is not; of rounds the former twice.

        - ``near``: where the search for the level of several rounds begins.
        """
        assert self.delta is not None
        target: dict[str, Any] = {"n": n, "delta": self.delta, "eps": self.value, "rtol": rtol}
        if self.rounds == 1:
            return largest_eps0(self.covered.with_randomizers(lambda _: source), **target).bracket
        level = solve_eps0_of_rounds(self.covered, source, near=near, **target)
        return Bracket(level, level, "float64", "rounds", "a level at which all rounds together meet the target")


def read_match(
    *, budget: object, eps0: object, eps: object, delta: object, least: Fraction = Fraction(1, 10**12)
) -> Match:
    """Exactly one of the three, of one round of all users.

    - ``least``: the smallest budget or eps0 that is matched.
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
            if value < least:
                raise InputError(
                    "budget", raw, f"a number > 0, at least {float(least):g} (at 0 every message is noise)"
                )
            return Match("chi-square", value, target)
        case "eps0":
            if not least <= value <= LARGEST_EPS0:
                raise InputError("eps0", raw, f"a number in (0, {LARGEST_EPS0}], at least {float(least):g}")
            return Match("eps0", value, target)
    if target is None:
        raise InputError("delta", None, "a number in (0, 1), for a match at eps and delta")
    if not 0 < value <= LARGEST_EPS0:
        raise InputError("eps", raw, f"a number in (0, {LARGEST_EPS0}]")
    return Match("eps-delta", value, target)


def level_in_doubles(match: Match, family: Family, goal: float) -> Callable[[Values], float]:
    """The local level of free parameters at the match, in doubles.

    For a central target ``goal`` is the blanket variance of a mechanism that was matched before.
    """
    match match.kind:
        case "eps0":
            return lambda values: float(match.value)
        case "chi-square":
            return lambda values: matched_log(moment(family, "chi square"), float(match.value), values)
    return lambda values: matched_log(moment(family, "variance"), goal, values)


def matched(
    family: Family,
    values: Parameters,
    match: Match,
    *,
    n: int,
    rtol: float,
    near: Fraction | None = None,
) -> tuple[FamilyMember, FamilyMember]:
    """The mechanism with all parameters fixed, at a level on the safe side of the match and at one beyond it.

    - ``near``: where the search for the level of several rounds begins; these have no level beyond the match.
    """
    match match.kind:
        case "eps0":
            known = FamilyMember(family, _cap(eps0=match.value), values)
            return known, known
        case "chi-square":
            floats = {name: float(value) for name, value in values}
            level = matched_log(moment(family, "chi square"), float(match.value), floats)
            return _around_budget(family, values, match.value, level)
    n = check_n(n)
    ends = _next_to_eps(family, values, match, n, rtol) if match.rounds == 1 else None
    if ends is None:
        fixed: dict[str, Any] = dict(values)
        bracket = match.largest_eps0(lambda eps0: family.source(eps0=eps0, **fixed), n, rtol, near=near)
        ends = bracket.lower, bracket.upper
    lower, upper = (FamilyMember(family, _cap(eps0=end), values) for end in ends)
    return lower, upper


def _next_to_eps(
    family: Family, values: Parameters, match: Match, n: int, rtol: float, *, wide: float = 0.1
) -> tuple[Fraction, Fraction] | None:
    """The central level itself, which meets its own target, and a level next to it that certainly exceeds the target.

    None where that is not so: looked at only where so few users amplify little, if anything.
    """
    if float(match.value) < math.log(match.messages(n)):
        return None
    assert match.delta is not None
    beyond = match.value * (1 + Fraction(rtol) / 2)
    sources = (family.source(eps0=level, **dict[str, Any](values)) for level in (beyond, match.value))
    try:
        far = delta(match.asked(next(sources)), n=n, eps=match.value, rtol=wide, arithmetic="float64").bracket
        if far.lower <= match.delta:
            return None
        near = delta(match.asked(next(sources)), n=n, eps=match.value, rtol=wide, arithmetic="float64").bracket
    except (Unsupported, NotDecided):
        return None
    return (match.value, beyond) if near.upper <= match.delta else None


def _cap(*, eps0: object = None, lam: object = None) -> Real:
    """The ratio cap, where a level is given."""
    found = read_budget(eps0=eps0, lam=lam, constant=True)
    assert found is not None
    return found


def _around_budget(
    family: Family, values: Parameters, budget: Fraction, level: float, *, longest: int = 64, bits: int = 50
) -> tuple[FamilyMember, FamilyMember]:
    """At rational ratios (long strings: rational levels) just below and above the one that doubles give.

    - ``longest``: inputs up to which strings of bits get a rational ratio; beyond, probabilities are balls.
    """
    rational = family.all_inputs <= longest or not has_strings(family)
    if rational:
        lam = Fraction(math.exp(level))
        short = lam.limit_denominator(1000)
        if short > 1:
            candidate = FamilyMember(family, short, values)
            if candidate.chi_square == budget:
                return candidate, candidate
        unit = Fraction(1, 1 << max(bits - math.frexp(float(lam - 1))[1], 0))
        start = (lam - 1) // unit
        make: Callable[[Any], FamilyMember] = lambda x: FamilyMember(family, 1 + x * unit, values)  # noqa: E731
    else:
        places = 14 - math.floor(math.log10(level))
        unit = Fraction(1, 10**places)
        start = Fraction(level) // unit
        make = lambda x: FamilyMember(family, _cap(eps0=x * unit), values)  # noqa: E731
    below = next((one for one in map(make, _away(start, -1)) if less(budget, one.chi_square) is Verdict.FALSE), None)
    above = next((one for one in map(make, _away(start, 1)) if less(one.chi_square, budget) is Verdict.FALSE), None)
    if below is None or above is None:
        raise NotDecided(f"no ratio cap of {family.name} near the budget {budget} is certified to be within it")
    return below, above


def has_strings(family: Family) -> bool:
    """Whether some messages are strings of independent bits."""
    moments = family.form.get("moments")
    return moments is not None and bool(moments["strings"])


def _away(start: int, step: int) -> Iterator[int]:
    """Integers between 0 and twice a first one, at ever larger distances from it."""
    x = start
    while 0 < x < 2 * start:
        yield x
        x, step = x + step, 4 * step
