r"""That no other parameters do better at a match, box by box.

In the coordinates of :mod:`symshuffle.design.comparison.monotonicity` a box of parameters lies, at every level, between
a *worst* corner and a *best* one, and is settled by two evaluations: below the level at which the best corner has the
risk to beat, nobody in the box has less risk; and where the worst corner is beyond the match at that level already,
nobody meets the match above it.

Integers without an order are settled one by one. Sizes of subsets need no box at a chi-square budget (``alphabets``,
Theorem 12.1: size 1; with a null symbol no equivariant channel is better,
:func:`symshuffle.utility.frontiers.frontier.trace_frontier`), nor at a local level
(:func:`symshuffle.utility.frontiers.caps.optimal_subset_sizes`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.accountants.bounds.gaussian_limit import log_profile
from symshuffle.accountants.deployment.experiment import experiment
from symshuffle.accountants.questions.solve import delta
from symshuffle.base.choices import Arithmetic, Question, replace_choice
from symshuffle.base.crossings import zero_between
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import Ball, Exp, Verdict, less, lower_end, natural_log, to_arb, working_precision
from symshuffle.base.numbers.readers import LARGEST_PARAMETER
from symshuffle.base.results import Bracket
from symshuffle.decompositions.calculated import calculated
from symshuffle.design.comparison.families import Family, Parameters
from symshuffle.design.comparison.matching import Match
from symshuffle.design.comparison.monotonicity import HASHING, Box, DegradationOrder, Setting
from symshuffle.design.comparison.proposals import LARGEST_EPS0, loss_of, moment
from symshuffle.utility.estimation.votes import named_votes

GAP: Final = Fraction(1, 100)
"""Relative gain below which better shares are not excluded."""

MOST_INPUTS: Final = 200
"""Inputs beyond which boxes are not searched."""

_BITS: Final = 80

DOUBT: Final = 5.0
"""The usual doubt of the Gaussian limit: infinitely much asks for every bound, and excludes no less."""


_LAST: Final = 6

_CAP: Final = Fraction(math.exp(LARGEST_EPS0))


@final
@dataclass(frozen=True, slots=True)
class Settled:
    """What is known about all parameters of a family at a match.

    - ``floor``: no parameters certainly have a risk below it; None where the search was only local.
    - ``rest``: boxes of shares that are still to be excluded; no others have a risk below what was asked.
    """

    floor: Fraction | None
    evaluation: str
    left: tuple[Parameters, ...] = ()
    rest: tuple[Box, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Rivals:
    """Everybody else at a match: who might still have a risk below ``goal``.

    - ``arithmetic``: of the bounds on delta: ``BALL`` makes a theorem of what is excluded.
    - ``doubt``: by how much the logarithm of delta may at first be above that of the Gaussian limit, where bounds are
      asked for.
    - ``rest``: boxes outside which nobody has a risk below the goal, if that is known; all boxes otherwise.
    - ``seen``: where bounds were asked for (a share, or an integer), and by how much they were above the guess.
    - ``spared``: guesses for which no bound was asked for.
    - ``settled``: whether boxes are excluded for which every bound was asked for.
    - ``excesses``: of best corners of boxes, the excess of the ratio cap at which they have the risk to beat.
    - ``ahead``: by how much the logarithm of a bound is larger in one order than in the other, as far as a larger box
      told: the order in which it is smaller is not asked then.
    - ``long``: the logarithm of the ratio of both ends of the last shares that were excluded.
    - ``off``: the logarithm of the last bound over the target.
    - ``alike``: not empty where one direction was once no larger than the other, which then is not asked for.
    """

    family: Family
    match: Match
    n: int
    goal: Fraction
    arithmetic: Arithmetic = "float64"
    doubt: float = DOUBT
    rest: list[Box] = field(default_factory=list, compare=False)
    seen: list[tuple[float, float]] = field(default_factory=list, compare=False)
    spared: list[float] = field(default_factory=list, compare=False)
    settled: dict[Box, bool] = field(default_factory=dict, init=False, compare=False)
    ahead: dict[Box, float] = field(default_factory=dict, init=False, compare=False)
    long: list[float] = field(default_factory=list, init=False, compare=False)
    off: list[float] = field(default_factory=list, init=False, compare=False)
    excesses: dict[Setting, Fraction] = field(default_factory=dict, init=False, compare=False)
    alike: list[bool] = field(default_factory=list, init=False, compare=False)

    def __post_init__(self) -> None:
        replace_choice(Arithmetic, self, "arithmetic")

    def left(self, known: frozenset[int] = frozenset()) -> tuple[Parameters, ...] | None:
        """What may have a risk below the goal, besides the known integers.

        All such integers, or the first share found; None where there are too many boxes, also where every bound is
        asked for, whatever guesses say.
        """
        found = self._left(known)
        if found is not None or not self.spared:
            return found
        again = replace(self, doubt=math.inf)
        again.settled.update(self.settled)
        again.excesses.update(self.excesses)
        return again._left(known)

    def _left(
        self, known: frozenset[int], *, most: int = 600, most_two_sided: int = 300
    ) -> tuple[Parameters, ...] | None:
        found: list[Parameters] = []
        boxes, looked = list(self.rest) or self._all(), 0
        while boxes:
            integers, shares = box = boxes.pop()
            single = integers[0] if integers is not None and shares is None and integers[0] == integers[1] else None
            if single is not None and single in known:
                continue
            if integers is not None and integers[0] > LARGEST_PARAMETER:
                return None  # no mechanism is asked about so far out
            ahead = self._stride(box)
            if ahead is not None:
                boxes.extend(ahead)
                continue
            looked += 1
            if looked > (most_two_sided if shares and self.family.base == HASHING else most):
                return None
            if self.excludes(box):
                if shares is not None and shares[0] > 0:
                    self.long[:] = [math.log(shares[1] / shares[0])]
                continue
            halves = self._halves(box)
            if halves is not None:
                if box in self.ahead:
                    self.ahead.update(dict.fromkeys(halves, self.ahead[box] / 2))
                boxes.extend(halves)
                continue
            largest = (None if integers is None else integers[0]), (shares or (1, Fraction(1)))[1]
            if single is None:
                self.rest[:] = [*boxes, box]
                return (DegradationOrder(self.family).parameters(largest),)
            found.append(DegradationOrder(self.family).parameters(largest))
        return tuple(found)

    def _stride(self, box: Box, *, stride: float = 1.4) -> tuple[Box, Box] | None:
        """A box cut beside one hardly longer than the last that was excluded; None where it is asked whole.

        - ``stride``: length of a box in that of the last one that was excluded.
        """
        integers, shares = box
        if not (self.long and shares and shares[0] > 0 and math.isinf(self.doubt)):
            return None
        low, high = shares
        if self.family.base == HASHING or math.log(high / low) < 2 * self.long[0]:
            return None
        cut = Fraction(f"{float(high) * math.exp(-stride * self.long[0]):.6g}")
        return ((integers, (low, cut)), (integers, (cut, high))) if low < cut < high else None

    def _all(self) -> list[Box]:
        shares = (Fraction(0), Fraction(1)) if any(not p.integer for p in self.family.free) else None
        integers = [p for p in self.family.free if p.integer]
        if not integers:
            return [(None, shares)]
        low, high = self.family.free_range(integers[0])
        if self.family.base == HASHING:
            return [((int(low), None), shares)]
        return [((i, i), shares) for i in range(int(low), int(high) + 1)]

    def _halves(self, box: Box, *, finest: Fraction = Fraction(1, 2000)) -> tuple[Box, Box] | None:
        """Two halves along the side that tells its corners further apart; None where there is nothing left to halve.

        - ``finest``: relative width at which a box of shares that is not excluded becomes a proposal.
        """
        integers, shares = box
        wide, tall = 0.0, 0.0
        if integers is not None:
            first, last = integers
            wide = math.inf if last is None else math.log(last / first)
        if shares is not None:
            low, high = shares
            tall = math.inf if low == 0 else math.log(high / low)
        if wide and (wide >= tall or tall < finest):
            middle = 2 * first if last is None else max(first, math.isqrt(first * last))
            return ((first, middle), shares), ((middle + 1, last), shares)
        if tall < finest:
            return None
        cut = high / 4 if low == 0 else Fraction(f"{math.sqrt(low * high):.6g}")
        cut = cut if low < cut < high else (low + high) / 2
        return (integers, (low, cut)), (integers, (cut, high))

    def excludes(self, box: Box, *, apart: float = 0.05) -> bool:
        """Whether nobody in the box certainly meets the match with a risk below the goal.

        - ``apart``: difference of logarithms of bounds in two orders up to which both are asked for.
        """
        if box in self.settled:
            return self.settled[box]
        both, before = self.family.base == HASHING and box[1] is not None, len(self.spared)
        first, ahead = self.match.kind != "eps-delta", self.ahead.get(box)  # one excludes more boxes
        ways = (first, not first) if both else (True,)
        if ahead is not None and self._halves(box) is not None:
            ways = (ahead > 0,) if abs(ahead) > apart else (ahead > 0, ahead <= 0)
        off: dict[bool, float] = {}
        found = False
        for by in ways:
            self.off.clear()
            found = self._excludes(box, DegradationOrder(self.family, by))
            off.update((by, last) for last in self.off)
            if found:
                break
        if found or len(self.spared) == before:
            self.settled[box] = found
        if len(off) == 2:
            self.ahead[box] = off[True] - off[False]
        return found

    def _excludes(self, box: Box, order: DegradationOrder) -> bool:
        level = self._level(box, order)
        if level is None:
            return True  # not even at the largest level
        return level > 0 and self._is_beyond(order.worst(box), order, level, whole=self._halves(box) is None)

    def _level(self, box: Box, order: DegradationOrder, *, unit: int = 1 << 64) -> Fraction | None:
        """A level at which the best corner certainly has at least the risk to beat; None if all have at every level.

        - ``unit``: in how many parts shares of messages are rounded.
        """
        shown = Fraction(0)
        if order.hashes:  # shown with probability a: risk (1 - 1/k) (1/a - 1)/n
            truth = 1 / (1 + self.n * self.goal / (1 - Fraction(1, self.family.inputs)))
            found = order.shown(box, Fraction(math.floor(truth * unit), unit))
            if found is None:
                return None
            shown = found
        best = order.best(box)
        if best is None:
            return shown
        if best[1] == 0:
            return None  # null symbols only
        values = {name: float(value) for name, value in order.parameters(best)}
        risk = loss_of(self.family)
        assert risk is not None
        aim = float(self.goal) * self.n * (1 + 1e-11)
        top, (integers, shares) = _CAP - 1, box
        if order.hashes and integers is not None and best[0] is not None:
            top *= Fraction(best[0], integers[0])  # fewer hash values have a larger rho at the largest ratio cap
        if risk(float(1 + top), values) >= aim and self._risk_at_least(best, top):
            only = not (order.hashes and order.by_truth) or shares is None or shares[0] == shares[1]
            return None if only else max(shown, order.level(best, top))
        if best not in self.excesses:
            self.excesses[best] = self._excess(best, self._root(values, aim))
        excess = self.excesses[best]
        return max(shown, order.level(best, excess)) if excess else shown

    def _excess(self, best: Setting, low: float) -> Fraction:
        """An excess just below one that doubles give, with certainly at least the risk to beat; 0 if none is found."""
        for back in (1e-12, 1e-10, 1e-8, 1e-6):
            root = math.sqrt(1 + low * (1 - back)) - 1  # squares: no surds in RAPPOR
            unit = Fraction(1, 1 << max(48 - math.frexp(root)[1], 0)) if root > 0 else Fraction(1)
            short = Fraction(root) // unit * unit
            excess = (1 + short) ** 2 - 1
            if excess > 0 and self._risk_at_least(best, excess):
                return excess
        return Fraction(0)

    def _root(self, values: dict[str, float], aim: float) -> float:
        """The excess of the ratio cap over 1 at which doubles give a risk."""
        risk = loss_of(self.family)
        assert risk is not None

        def excess(log: float) -> float:
            found = risk(1 + math.exp(log), values)
            if not 0 < found < math.inf:  # rounding, at either end
                return 1e3 if log < 0 else -1e3
            return math.log(found / aim)

        return math.exp(zero_between(excess, math.log(1e-13), float(LARGEST_EPS0), xtol=1e-13, rtol=1e-13))

    def _values(self, point: Setting, excess: Fraction) -> dict[str, Fraction]:
        """The parameters of a point, other than the share of messages that are not null."""
        chosen = dict(DegradationOrder(self.family).parameters(point))
        own = {p.name: Fraction(chosen[p.name]) for p in self.family.free if p.integer or not self.family.thin}
        return {"lam": 1 + excess, **self.family.sized, **own}

    def _share(self, point: Setting) -> Fraction:
        return point[1] if self.family.thin else Fraction(1)

    def _risk_at_least(self, point: Setting, excess: Fraction) -> bool:
        one, values = self.family, self._values(point, excess)
        noise = named_votes(
            one.base,
            values,
            share=self._share(point),
            size=one.all_inputs,
            inputs=one.inputs,
            bits=_BITS,
            balls=True,
        )
        return lower_end(noise.risk(self.n)) >= self.goal

    def _is_beyond(self, point: Setting, order: DegradationOrder, level: Fraction, *, whole: bool = True) -> bool:
        """Whether a point, and with it all that it degrades, is certainly beyond the match at a level.

        - ``whole``: whether its box is not halved: other guesses may be wrong, as two halves are looked at then.
        """
        if point[1] == 0:
            return False
        excess = order.excess(point, level)
        if excess is None:
            return True  # nobody has this level
        match self.match.kind:
            case "chi-square":
                values = self._values(point, excess)
                spent = _ball(self.family.form["moments"]["chi square"], values)
                return less(self.match.value, spent * self._share(point)) is Verdict.TRUE
            case "eps0":
                return less(Exp(self.match.value), 1 + excess) is Verdict.TRUE
        assert self.match.delta is not None
        goal, likely = natural_log(self.match.delta), self._likely(point, excess)
        place = float(point[0] or 0) if point[1] == 1 else float(point[1])
        if likely < goal - (self._doubt() if whole else min(self._doubt(), self._above(place))):
            self.spared.append(likely)
            return False
        try:
            found = self._spent(self.match.delta, point, excess)
        except (Unsupported, NotDecided):
            return False
        if found.lower > 0:
            self.off.append(natural_log(found.lower) - goal)
            if math.isfinite(likely):
                self.seen.append((place, natural_log(found.lower) - likely))
        return found.lower > self.match.delta

    def _spent(
        self,
        target: Fraction,
        point: Setting,
        excess: Fraction,
        *,
        looks: tuple[tuple[Question, float], ...] = (("forward", 0.1), ("both", 0.01), ("both", 1e-06)),
    ) -> Bracket:
        """Delta of a point, in the larger direction or one, as closely as it takes to tell it from a target."""
        source = self.family.source(lam=1 + excess, **dict(DegradationOrder(self.family).parameters(point)))
        laws = experiment(self.match.asked(source), {"n": self.n})
        asked: dict[str, Any] = {"eps": self.match.value, "arithmetic": self.arithmetic}
        for way, rtol in looks:
            found = delta(laws, direction=way, rtol=rtol, **asked).bracket
            if way == "forward":
                forward = found
            elif found.lower <= forward.upper:
                self.alike.append(True)
            if found.lower > target or (found.upper <= target and (way == "both" or self.alike)):
                break
        return found

    def _likely(self, point: Setting, excess: Fraction) -> float:
        """Logarithm of delta in the Gaussian limit; a guess that affects cost only."""
        values = {name: float(value) for name, value in DegradationOrder(self.family).parameters(point)}
        variance = moment(self.family, "variance")(float(1 + excess), values)
        try:
            return log_profile(float(self.match.value), math.sqrt(variance / self.match.messages(self.n)))
        except (ValueError, OverflowError, ZeroDivisionError):  # so far off that doubles do not tell
            return math.inf

    def _doubt(self, *, margin: float = 0.05) -> float:
        """Estimate of how far a bound may be above its guess: the largest of the last differences, and a margin.

        A point for which no bound is computed is not excluded, so that a small estimate costs time only.

        - ``margin``: what is added to the largest of the last differences.
        """
        told = len(self.seen) >= _LAST and not math.isinf(self.doubt)
        return max(above for _, above in self.seen[-_LAST:]) + margin if told else self.doubt

    def _above(self, place: float) -> float:
        """Estimate of how far a bound is above its guess at a place, by the line through the last two differences."""
        if math.isinf(self.doubt) or len(self.seen) < _LAST:
            return self.doubt
        at, above = self.seen[-1]
        before = next((one for one in reversed(self.seen[-_LAST:]) if one[0] != at), None)
        slope = 0.0 if before is None else (above - before[1]) / (at - before[0])
        return above + slope * (place - at)


def _ball(text: str, values: dict[str, Fraction]) -> Ball:
    with working_precision(_BITS + 32):
        known = {name: to_arb(value) for name, value in values.items()}
        return Ball.from_arb(flint.arb(calculated(text)(known)), _BITS)
