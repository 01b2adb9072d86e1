r"""That no other parameters do better at a match, box by box.

A mechanism *degrades* another if its messages can be made from the other's by noise that knows no input. Trace,
chi-square divergences and the bound of the optimal decomposition then all fall, and the risk of the canonical
estimator rises. So a box of parameters whose mechanisms lie, at every level, between a *worst* corner and a *best* one
is settled by two evaluations: below the level at which the best corner has the risk to beat, nobody in the box has less
risk; and where the worst corner is beyond the match at that level already, nobody meets the match above it.

The orders used are these.

* The ratio cap: at a smaller one, everything here is the same mechanism with noise added.
* A share ``p`` of messages that are not null: a smaller share is made by erasing messages.
* Hash values ``g`` of local hashing: with :math:`\rho=(\lambda-1)/g` every bit of its string has the likelihood ratios
  :math:`\frac{1+\rho g}{1+\rho}` where it is 1 and :math:`\frac1{1+\rho}` where it is 0. The first grows with ``g``
  and :math:`\rho`, the second falls with :math:`\rho`: strings of fewer hash values at the same :math:`\rho` are made
  bit by bit. As ``g`` grows the strings tend to the input or nothing, shown with probability
  :math:`\rho/(1+\rho)`, whose risk is :math:`(1-\frac1k)/(n\rho)`: one evaluation settles all large ``g``.

Other integers are settled one by one. Sizes of subsets need no box at a chi-square budget (``alphabets``, Theorem 12.1:
size 1; with a null symbol no equivariant channel is better, :func:`symshuffle.frontiers.frontier.trace_frontier`), nor
at a local level (:func:`symshuffle.frontiers.caps.optimal_subset_sizes`).

That the bound of the optimal decomposition falls: the messages of the larger blanket, made noisy, are dominated by the
blanket of the noisy mechanism, so that the law of G moves down in convex order twice (conditional means).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, final

import sympy as sp

from symshuffle.accountants.reduction import reduction
from symshuffle.accountants.solve import delta
from symshuffle.choices import MatchKind, Population, replace_choice
from symshuffle.comparison.families import Family
from symshuffle.comparison.forms import LARGEST_EPS0, Forms
from symshuffle.comparison.matching import Match
from symshuffle.comparison.search import Parameters
from symshuffle.errors import NotDecided, Unsupported
from symshuffle.estimation.moments import largest_pairwise_budget
from symshuffle.estimation.votes import vote_balls
from symshuffle.frontiers.frontier import trace_frontier
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, ball_at
from symshuffle.numbers import Exp, Verdict, less, lower_end
from symshuffle.results import Rigour

GAP: Final = Fraction(1, 100)
"""Relative gain below which better shares are not excluded."""

MOST_INPUTS: Final = 200
"""Inputs beyond which boxes are not searched."""

_MOST_BOXES: Final = 600
_RISING: Final = "olh"
"""The mechanism whose integer orders it as described."""

_BITS: Final = 80
_REL: Final = 1e-6
_CAP: Final = Fraction(math.exp(LARGEST_EPS0))
_FINEST: Final = Fraction(1, 2000)
"""Relative width at which a box of shares that is not excluded becomes a proposal."""


@final
@dataclass(frozen=True, slots=True)
class Settled:
    """What is known about all parameters of a family at a match.

    Parameters
    ----------
    floor : Fraction or None
        No parameters certainly have a risk below it; None where the search was only local.
    how : str
        In words.
    left : tuple of parameters
        What may have less risk, and is to be matched.
    """

    floor: Fraction | None
    how: str
    left: tuple[Parameters, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class _Box:
    """Integers and shares between two ends each, both included; the last integer may be infinite."""

    integers: tuple[int, int | None] | None
    shares: tuple[Fraction, Fraction] | None

    def split(self) -> tuple[_Box, _Box] | None:
        """Two halves along the longer side; None where there is nothing left to halve."""
        wide = 0.0 if self.integers is None else math.inf
        if self.integers is not None and self.integers[1] is not None:
            wide = math.log(self.integers[1] / self.integers[0])
        tall = 0.0
        if self.shares is not None:
            low, high = self.shares
            tall = float("inf") if low == 0 else math.log(high / low)
        if wide == tall == 0:
            return None
        if wide >= tall and self.integers is not None and (self.shares is None or self.shares[0] > 0):
            first, last = self.integers
            middle = 2 * first if last is None else max(first, math.isqrt(first * last))
            below, above = (first, middle), (middle + 1, last)
            return replace(self, integers=below), replace(self, integers=above)
        assert self.shares is not None
        low, high = self.shares
        if low and high - low < _FINEST * high:
            return None
        cut = high / 4 if low == 0 else Fraction(f"{math.sqrt(low * high):.6g}")
        cut = cut if low < cut < high else (low + high) / 2
        return replace(self, shares=(low, cut)), replace(self, shares=(cut, high))


@final
@dataclass(frozen=True, slots=True)
class Rivals:
    """Everybody else at a match: who might still have a risk below ``goal``.

    Parameters
    ----------
    family : Family
        All inputs are in use.
    closed : Forms
        Its closed forms, with a risk: they say where to look.
    match : Match
        What is matched.
    n : int
        Number of users.
    goal : Fraction
        The risk to beat.
    rigour : Rigour
        Of the bounds on delta: ``BALL`` makes a theorem of what is excluded.
    """

    family: Family
    closed: Forms
    match: Match
    n: int
    goal: Fraction
    rigour: Rigour = Rigour.FLOAT64

    def __post_init__(self) -> None:
        replace_choice(Rigour, self, "rigour")

    def left(self, known: frozenset[int] = frozenset()) -> tuple[Parameters, ...] | None:
        """What may have a risk below the goal, besides the known integers.

        All such integers, or the first share found; None where there are too many boxes.
        """
        if self._rising and len(self.family.free) > 1:
            return None  # boxes of two sides are too many
        found: list[Parameters] = []
        boxes, looked = self._all(), 0
        while boxes:
            box = boxes.pop()
            single = box.integers is not None and box.integers[0] == box.integers[1] and box.shares is None
            if single and box.integers is not None and box.integers[0] in known:
                continue
            looked += 1
            if looked > _MOST_BOXES:
                return None
            if self.excludes(box):
                continue
            halves = box.split()
            if halves is not None:
                boxes.extend(halves)
            elif single:
                found.append(self._corner(box, best=True))
            else:
                return (self._corner(box, best=True),)
        return tuple(found)

    def _all(self) -> list[_Box]:
        shares = (Fraction(0), Fraction(1)) if any(not p.integer for p in self.family.free) else None
        integers = [p for p in self.family.free if p.integer]
        if not integers:
            return [_Box(None, shares)]
        low, high = self.family.free_range(integers[0])
        if self._rising:
            return [_Box((int(low), None), shares)]
        return [_Box((i, i), shares) for i in range(int(low), int(high) + 1)]

    @property
    def _rising(self) -> bool:
        return self.family.general.name == _RISING

    def excludes(self, box: _Box) -> bool:
        """Whether nobody in the box certainly meets the match with a risk below the goal."""
        level = self._level(box)
        if level is None:
            return True  # not even at the largest level
        if level <= 0 or (box.shares is not None and box.shares[0] == 0):
            return False
        return self._is_beyond(box, level)

    def _level(self, box: _Box) -> Fraction | None:
        """A level at which the best corner certainly has at least the risk to beat; None if it has at every level.

        It is ``lam - 1``, or that over ``g``.
        """
        if box.integers is not None and box.integers[1] is None:
            share = Fraction(1) if box.shares is None else box.shares[1]
            k = self.family.inputs  # in use are all of them
            # Shown with probability a: risk (1 - 1/k) (1/a - 1)/n; a = p rho/(1 + rho).
            shown = 1 / (1 + self.n * self.goal / (1 - Fraction(1, k))) / share
            return None if shown >= 1 else shown / (1 - shown) * (1 - Fraction(1, 10**9))
        first, last = box.integers if self._rising and box.integers is not None else (1, 1)
        per = Fraction(last or 1)
        values = {name: float(value) for name, value in self._corner(box, best=True)}
        assert self.closed.risk is not None
        aim = float(self.goal) * self.n * (1 + 1e-11)
        top = (_CAP - 1) / first
        if self.closed.risk(float(1 + top * per), values) >= aim and self._risk_at_least(box, top):
            return None
        low = self._root(values, aim)
        for back in (1e-12, 1e-10, 1e-8, 1e-6):
            root = math.sqrt(1 + low * (1 - back)) - 1  # squares: no surds in RAPPOR
            unit = Fraction(1, 1 << max(48 - math.frexp(root)[1], 0)) if root > 0 else Fraction(1)
            short = Fraction(root) // unit * unit
            level = ((1 + short) ** 2 - 1) / per
            if level > 0 and self._risk_at_least(box, level):
                return level
        return Fraction(0)

    def _root(self, values: dict[str, float], aim: float) -> float:
        """The excess of the ratio cap over 1 at which doubles give a risk."""
        from scipy.optimize import brentq

        assert self.closed.risk is not None
        risk = self.closed.risk

        def excess(log: float) -> float:
            found = risk(1 + math.exp(log), values)
            if not 0 < found < math.inf:  # rounding, at either end
                return 1e3 if log < 0 else -1e3
            return math.log(found / aim)

        ends = math.log(1e-13), float(LARGEST_EPS0)
        if excess(ends[1]) > 0:
            return math.exp(ends[1])
        if excess(ends[0]) < 0:
            return math.exp(ends[0])
        return math.exp(float(brentq(excess, *ends, xtol=1e-13, rtol=1e-13)))

    def _corner(self, box: _Box, *, best: bool) -> Parameters:
        found: list[tuple[str, int | Fraction]] = []
        for parameter in self.family.free:
            ends = box.integers if parameter.integer else box.shares
            assert ends is not None
            chosen = ends[best]
            assert chosen is not None
            found.append((parameter.name, chosen))
        return tuple(found)

    def _values(self, box: _Box, level: Fraction, *, best: bool) -> tuple[dict[sp.Symbol, Fraction | int], Fraction]:
        """The parameters of a corner, and its share."""
        chosen = dict(self._corner(box, best=best))
        per = next((chosen[p.name] for p in self.family.free if p.integer), 1) if self._rising else 1
        found: dict[sp.Symbol, Fraction | int] = {LAM: 1 + level * per}
        share = Fraction(1)
        for parameter in self.family.free:
            if self.family.thin and not parameter.integer:
                share = Fraction(chosen[parameter.name])
            else:
                found[parameter.symbol] = chosen[parameter.name]
        if self.family.size is not None and self.family.at_size is not None:
            found[self.family.size] = self.family.at_size
        return found, share

    def _at(self, box: _Box, level: Fraction, *, best: bool) -> Mechanism:
        values = self._corner(box, best=best)
        integers = dict(values)
        per = next((integers[p.name] for p in self.family.free if p.integer), 1) if self._rising else 1
        return self.family.at(lam=1 + level * per, **dict(values))

    def _risk_at_least(self, box: _Box, level: Fraction) -> bool:
        values, share = self._values(box, level, best=True)
        one = self.family
        noise = vote_balls(one.general, values, share=share, size=one.all_inputs, inputs=one.inputs, bits=_BITS)
        return lower_end(noise.risk(self.n)) >= self.goal

    def _is_beyond(self, box: _Box, level: Fraction) -> bool:
        """Whether the worst corner is certainly beyond the match."""
        values, share = self._values(box, level, best=False)
        match self.match.kind:
            case MatchKind.CHI_SQUARE:
                spent = ball_at(largest_pairwise_budget(self.family.general), values, _BITS)
                return less(self.match.value, spent * share) is Verdict.TRUE
            case MatchKind.EPS0:
                return less(Exp(self.match.value), Fraction(values[LAM])) is Verdict.TRUE
        assert self.match.delta is not None
        try:
            reduced = reduction(self._at(box, level, best=False))
            found = delta(reduced, n=self.n, eps=self.match.value, rel=_REL, rigour=self.rigour).bracket
        except (Unsupported, NotDecided):
            return False
        return found.lower > self.match.delta


def frontier_risk(k: int, match: Match, n: int) -> Fraction | None:
    """No equivariant channel with k inputs has a smaller risk at a chi-square budget; None at another match."""
    if match.kind is not MatchKind.CHI_SQUARE or k < 3:
        return None
    return trace_frontier(k, match.value).risk_constant(Population.FIXED).scaled(Fraction(1, n)).lower
