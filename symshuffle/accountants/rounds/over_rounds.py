"""The front door for several rounds: one-round profiles, their dominating laws, the sum of all losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias, final

from symshuffle.accountants.bounds.answers import Answer, Attained, Quantity, largest_attained
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.bounds.search import shortened
from symshuffle.accountants.deployment.experiment import Experiment
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.accountants.rounds.composition_bounds import advanced_epsilon, advanced_slack, basic_epsilon
from symshuffle.accountants.rounds.dominating import Profile, law_above, law_below
from symshuffle.accountants.rounds.lattice_sums import Tilted
from symshuffle.accountants.rounds.losses import Losses, delta_of, epsilon_of
from symshuffle.accountants.rounds.one_round import ROUND_WIDTH, OneRound
from symshuffle.accountants.rounds.period import Period
from symshuffle.accountants.rounds.widths import WIDTH_OF_DELTA, WIDTH_OF_EPS
from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import CertificateError, InputError, Unsupported, optional
from symshuffle.base.numbers import Ball, Exp, Real, counted, format_decimal, to_arb, working_precision
from symshuffle.base.results import Bracket

_MOST_LEVELS: Final = 6_000
_MOST_OUT_OF_REACH: Final = 500
"""Levels of one lattice for a width that takes more than the most; the answer says how wide it is."""

_WIDTH_OF_DENSITIES: Final = 2e-2
_MOST_OF_DENSITIES: Final = 60
"""Width to begin with for densities, each value of which costs tens of others, and levels from which on nothing finer
follows, where no finer width was asked for than the usual one; the answer says how wide it is."""

_CUT: Final = Fraction(1, 2_000)
"""Share of the target delta that all rounds together may lose beyond the last level."""

_SMALLEST: Final = Fraction(1, 10**60)
_SMALLEST_OF_DENSITIES: Final = Fraction(1, 10**18)
"""Values of delta below which no farther level is looked for; for densities that of each round, because masses outside
of their cells are as large as what is left there."""

_DEEP: Final = Fraction(1, 10**15)
_MOST_OF_DEEP: Final = 200
"""Values of delta below which relative widths take thousands of levels, and levels from which on nothing finer follows
there, where no finer width was asked for than the usual one; the answer says how wide it is."""

_VALUES: Final = 100
"""Levels that a lattice has at least, about: they share the limit of a named engine."""

_BITS: Final = 192

_Read: TypeAlias = "Callable[[Losses], Fraction]"
"""What is asked of a sum of losses: its eps at some delta, or its delta at some eps."""


@final
@dataclass(frozen=True, slots=True)
class _Lattice:
    """All rounds on one lattice, from above and from below.

    - ``step``: distance of two levels, in nats.
    - ``above``, ``below``: losses with a profile above, or below, that of the rounds; None where no law is below.
    """

    step: Fraction
    above: Losses
    below: Losses | None
    levels: int

    @classmethod
    def of(cls, profiles: Sequence[tuple[Profile, int]]) -> _Lattice:
        """From the profiles of the rounds, and how many are alike."""
        above = Losses(tuple((law_above(profile), times) for profile, times in profiles), "upper")
        try:
            below = Losses(tuple((law_below(profile), times) for profile, times in profiles), "lower")
        except CertificateError:
            below = None
        return cls(above.step, above, below, sum(profile.last + 1 for profile, _ in profiles))

    def low(self, read: _Read) -> Fraction:
        """The lower end of an answer; 0 where there are no losses below."""
        return Fraction(0) if self.below is None else read(self.below)


@final
@dataclass(frozen=True, slots=True)
class AllRounds:
    """All rounds, with everything that was computed of them.

    - ``balls``: whether every number is a ball, or what is proved to be above or below one.
    """

    parts: tuple[OneRound, ...]
    balls: bool
    lattices: dict[tuple[Fraction, Fraction], _Lattice] = field(default_factory=dict)

    @property
    def times(self) -> int:
        """The number of rounds."""
        return sum(part.times for part in self.parts)

    @property
    def scale(self) -> float:
        """Of all rounds together, the parameter of the Gaussian mechanism that they resemble: no bound."""
        return math.hypot(*(math.sqrt(part.times) * part.scale() for part in self.parts))

    @property
    def telling(self) -> tuple[OneRound, ...]:
        """The rounds that tell anything at all."""
        return tuple(part for part in self.parts if part.telling)

    def sum(self, losses: Losses, tilt: float) -> Tilted | Period:
        """The sum of the losses at the arithmetic of the values."""
        return Period.at(losses, tilt) if self.balls else Tilted.at(losses, tilt)

    def epsilon(self, delta: Fraction) -> _Read:
        """What reads off eps."""
        return lambda losses: epsilon_of(losses, delta, self.sum)

    def delta(self, eps: Fraction) -> _Read:
        """What reads off delta."""
        return lambda losses: delta_of(losses, eps, self.sum)

    def profiles(self, parts: Sequence[OneRound], step: Fraction, beyond: Fraction) -> list[tuple[Profile, int]]:
        """Of some rounds, at levels whose width is small beside what the lattice costs."""
        least = min(part.scale() for part in parts)
        width = min(max((float(step) / least) ** 2 / 30, 1e-9), 1e-3)
        return [(part.profile(step, beyond, width), part.times) for part in parts]

    def lattice(self, step: Fraction, beyond: Fraction) -> _Lattice:
        """All rounds on a lattice that ends where each of them has at most ``beyond`` left."""
        found = self.lattices.get((step, beyond))
        if found is None:
            found = self.lattices[step, beyond] = _Lattice.of(self.profiles(self.telling, step, beyond))
        return found

    def first_step(self, width: float, beyond: Fraction) -> Fraction:
        """A step at which the bracket of eps is about so wide: 0.8 times the square of step over scale.

        Where profiles are cut off by their ends, not by tails, one end is a level: what is lost next to it is most of
        the width.
        """
        scale = self.scale / math.sqrt(self.times)
        step = Fraction(f"{scale / 4:.2g}")
        while float(step) > scale * math.sqrt(width / 0.8):
            step /= 2
        found = (part.end_within(part.last_level(beyond)) for part in self.telling)
        end = max((level for level in found if level is not None), default=None)
        return step if end is None else end / math.ceil(end / step)

    def levels(self, step: Fraction, beyond: Fraction) -> Fraction:
        """About how many levels a lattice of all rounds has."""
        return sum((part.last_level(beyond) / step for part in self.telling), start=Fraction(0))

    @property
    def affordable(self) -> int:
        """About how many more levels there is work left for, as many as were known so far took the rest.

        Of densities chords tell most levels from few values.
        """
        if any(part.dense for part in self.telling):
            return _MOST_LEVELS
        known = sum(len(part.known) for part in self.parts)
        return cost.left() * known // max(cost.MOST - cost.left(), 1)

    def narrowed(
        self, read: _Read, beyond: Fraction, width: float, sensitivity: float, *, deep: bool = False
    ) -> _Found:
        """Both ends of an answer, on lattices of half the step each time until they are as close as asked."""
        beyond = Fraction(10) ** math.floor(math.log10(beyond.numerator) - math.log10(beyond.denominator))
        most, start = _MOST_LEVELS, width / sensitivity
        if width >= min(WIDTH_OF_EPS, WIDTH_OF_DELTA) and any(part.dense for part in self.telling):
            most, start = _MOST_OF_DENSITIES, max(start, _WIDTH_OF_DENSITIES)
        elif deep and width >= WIDTH_OF_DELTA:
            most, start = _MOST_OF_DEEP, max(start, _WIDTH_OF_DENSITIES)
        step = self.first_step(start, beyond)
        needed, affordable = self.levels(step, beyond), self.affordable
        if needed > min(_MOST_LEVELS, affordable):  # out of reach: minutes would not be enough
            most = min(_MOST_OUT_OF_REACH, max(affordable, _MOST_OF_DENSITIES))
            step *= math.ceil(needed / most)
        lost = 4 * beyond * self.times  # what is no more than the mass left out is not narrowed by finer levels
        found = self._off_known(read, beyond)
        if found is not None and found.high - found.low <= Fraction(width) * found.high:
            return found
        before = 0
        while True:
            left = cost.left()
            lattice = self.lattice(step, beyond)
            finer = 2 * (left - cost.left())  # what the next lattice takes
            low, high = lattice.low(read), read(lattice.above)
            close = high - low <= Fraction(width) * high or high <= lost
            finest = lattice.below is None or 2 * lattice.levels > most or lattice.levels == before
            before = lattice.levels  # values that are as large at all levels have no more of them on a finer lattice
            if close or finest or finer > cost.left():
                return _Found(low, high, lattice, beyond)
            step /= 2

    def _off_known(self, read: _Read, beyond: Fraction) -> _Found | None:
        """Both ends off the finest lattice that another question left here, if it reaches as far: it costs nothing."""
        kept = [place for place in self.lattices if place[1] <= beyond]
        if not kept:
            return None
        finest = min(kept)
        lattice = self.lattices[finest]
        return _Found(lattice.low(read), read(lattice.above), lattice, finest[1])

    def attained(self, read: _Read, found: _Found) -> Attained | None:
        """Divergence of real datasets that stay the same in all rounds; each part uses its most revealing pair."""
        chosen = []
        for part in self.telling:
            level = Fraction(f"{part.scale():.6g}")
            pairs = [(max(b.lower for b in one.values(level, 1e-3)), text, one) for text, one in part.alone()]
            if not pairs:
                return None
            chosen.append(max(pairs, key=lambda pair: pair[0])[1:])
        profiles = self.profiles([one for _, one in chosen], found.lattice.step, found.beyond)
        orders = [profiles]
        if any(profile.forward != profile.reverse for profile, _ in profiles):
            orders.append([(profile.swapped, times) for profile, times in profiles])
        reached = max(read(Losses(tuple((law_below(p), t) for p, t in order), "lower")) for order in orders)
        places = ["every round"] if len(self.parts) == 1 else [counted(one.times, "round") for _, one in chosen]
        return Attained(
            reached, "; ".join(f"{text} in {place}" for (text, _), place in zip(chosen, places, strict=True))
        )


@final
@dataclass(frozen=True, slots=True)
class _Found:
    """The two ends of an answer, the lattice they come from, and what that leaves out."""

    low: Fraction
    high: Fraction
    lattice: _Lattice
    beyond: Fraction


Simpler: TypeAlias = tuple[tuple[str, Fraction], ...]
"""Names and values of simpler compositions, which also bound the whole."""


@cost.forgotten
@lru_cache(maxsize=16)
def _kept(asked: Experiment, request: Method) -> AllRounds:
    rounds = tuple(OneRound(part, part.users, part.times, request) for part in asked.parts)
    return AllRounds(rounds, request.arithmetic == "ball")


def _all_rounds(asked: Experiment, request: Method) -> AllRounds:
    """The rounds with what is known of them; of the request, what does not change from question to question."""
    if request.direction != "both":
        raise InputError("direction", request.direction, "both, with rounds, which may mix the orders")
    if request.arithmetic == "exact":
        raise Unsupported(
            "arithmetic exact: the profile of several rounds is not a rational number; use arithmetic='ball'"
        )
    asked.check_users()
    rounds = _kept(
        asked, Method(engine=request.engine, arithmetic=request.arithmetic, bits=request.bits, values=_VALUES)
    )
    _neighbours(rounds)  # what has no join is refused before anything is computed
    return rounds


def epsilon(asked: Experiment, request: Method, target: Fraction, *, attained: bool = False) -> Answer:
    """The smallest eps of all rounds together at a target delta, on the safe side.

    Parameters
    ----------
    asked : Experiment
        The batches, each with its number of users.
    request : Method
        Engine and arithmetic of the values of one round; the relative width of eps to aim at.
    target : Fraction
        delta, in (0, 1).
    attained : bool
        Whether to compose a real neighbouring pair as well.

    Raises
    ------
    InputError
        If one order only is asked for.
    Unsupported
        If no eps meets the target, or a rational number is asked for.
    """
    rounds, width = _all_rounds(asked, request), request.rtol
    if not rounds.telling:
        return _nothing("epsilon", asked, rounds, delta=target)
    read = rounds.epsilon(target)
    found = rounds.narrowed(read, _CUT * target / rounds.times, width, 1.0)

    def simpler() -> Simpler:
        each = [(part.smallest(target / rounds.times), part.times) for part in rounds.parts]
        halves = [(part.smallest(target / rounds.times / 2), part.times) for part in rounds.parts]
        return ("basic", basic_epsilon(each)), ("advanced", advanced_epsilon(halves, target / 2))

    real = largest_attained(lambda: rounds.attained(read, found)) if attained else (None, "")
    return _answer("epsilon", asked, rounds, found, optional(simpler), real, width, delta=target)


def delta(asked: Experiment, request: Method, order: Real, *, attained: bool = False) -> Answer:
    """The delta of all rounds together at a target level, on the safe side.

    Parameters
    ----------
    asked, request, attained
        As in :func:`epsilon`; the relative width is that of delta.
    order : Fraction or Exp
        Target ratio ``exp(eps)``.

    Raises
    ------
    InputError, Unsupported
        As in :func:`epsilon`.
    """
    rounds, width = _all_rounds(asked, request), request.rtol
    if not rounds.telling:
        return _nothing("delta", asked, rounds, exp_eps=order)
    eps, scale = _logarithm(order), rounds.scale
    read, simpler = rounds.delta(eps), optional(lambda: _simpler_deltas(rounds, eps))
    dense = any(part.dense for part in rounds.telling)
    smallest = _SMALLEST_OF_DENSITIES * rounds.times if dense else _SMALLEST
    least = max(min((_gaussian(scale, float(eps)), *(value for _, value in simpler[0] or ()))), smallest)
    while True:
        beyond = _CUT * least / rounds.times
        told = least > smallest  # otherwise next to nothing is left, of which a coarse lattice says as much
        sensitivity = max(1.0, (float(eps) / scale) ** 2) if told else 1.0
        found = rounds.narrowed(read, beyond, width, sensitivity, deep=least < _DEEP)
        lost = 4 * beyond * rounds.times
        if least <= max(10 * found.high, smallest) or 10 * lost <= found.high - found.low:
            break
        least = max(min(found.high, least * least), smallest)
    real = largest_attained(lambda: rounds.attained(read, found)) if attained else (None, "")
    return _answer("delta", asked, rounds, found, simpler, real, width, exp_eps=order)


def _simpler_deltas(rounds: AllRounds, eps: Fraction) -> Simpler:
    """Basic composition of equal shares of eps; advanced composition of the best of some shares."""

    def together(share: Fraction) -> Fraction:
        return sum((part.values(share, ROUND_WIDTH)[0].upper * part.times for part in rounds.parts), start=Fraction(0))

    least = eps / rounds.times
    found = [min(together(least), Fraction(1))]
    best = Fraction(1)
    for k in range(1, 8):
        share = shortened(eps / Fraction(math.sqrt(rounds.times)) / 2**k)
        if share > 0:
            slack = advanced_slack([(share, rounds.times)], eps)
            best = min(best, slack + together(share)) if slack < best else best
    return ("basic", found[0]), ("advanced", best)


def _nothing(quantity: Quantity, asked: Experiment, rounds: AllRounds, **target: Any) -> Answer:
    bracket = Bracket(Fraction(0), Fraction(0), _rigour(rounds), "rounds", "no round tells anything")
    return Answer(quantity, bracket, _neighbours(rounds), rounds=_counts(rounds), deployment=asked.deployment, **target)


def _gaussian(spread: float, eps: float) -> Fraction:
    """About the delta of the Gaussian mechanism of a parameter."""
    a = eps / spread - spread / 2
    return Fraction(math.exp(-a * a / 2) if a > 0 else 1.0) / 100


def _logarithm(order: Real) -> Fraction:
    """The level, rounded down: at a smaller level delta is larger."""
    if isinstance(order, Exp):
        return order.exponent
    with working_precision(_BITS):  # of a ratio next to 1 the digits behind the 1 are what counts
        level = to_arb(order - 1).log1p() if isinstance(order, Fraction) else to_arb(order).log()
        return max(Ball.from_arb(level, _BITS).lower, Fraction(0))


def _answer(
    quantity: Quantity,
    asked: Experiment,
    rounds: AllRounds,
    found: _Found,
    simpler: tuple[Simpler | None, str],
    attained: tuple[Attained | None, str],
    width: float,
    **target: Any,
) -> Answer:
    means = "sums over one period, in balls" if rounds.balls else "tilted transforms"
    evaluation = (
        f"laws on {found.lattice.levels} levels of step {format_decimal(found.lattice.step, digits=4, up=True)}, with "
        f"profiles above and below that of one round; their losses summed by {means}"
    )
    high = found.high
    for best, value in sorted(simpler[0] or (), key=lambda one: one[1])[:1]:
        if value < high:
            evaluation, high = f"{best} composition of one-round values; {evaluation}", value
    low = min(found.low, high)
    aimed = None if high - low <= Fraction(width) * high else width
    bracket = Bracket(low, high, _rigour(rounds), "rounds", evaluation, aimed)
    real, missing = attained
    return Answer(
        quantity,
        bracket,
        _neighbours(rounds),
        attained=real,
        attained_missing=missing,
        rounds=_counts(rounds),
        simpler=simpler[0] or (),
        simpler_missing=simpler[1],
        deployment=asked.deployment,
        **target,
    )


def _rigour(rounds: AllRounds) -> Arithmetic:
    return "ball" if rounds.balls else "float64"


def _neighbours(rounds: AllRounds) -> Neighbours:
    """Whom all rounds together cover."""
    return Neighbours.joined([(part.times, part.reduced.neighbours("both", part.n)) for part in rounds.parts])


def _counts(rounds: AllRounds) -> tuple[tuple[int, int | None], ...]:
    """How many rounds are alike, and their number of users."""
    return tuple((part.times, part.n) for part in rounds.parts)
