r"""Enumeration of sums in which all but a few of the n copies of G are at the heaviest atom.

Let the heaviest atom h have weight 1 - q. The number N of copies elsewhere is binomial(n, q), and
:math:`E[S_+;\,N\le K]` is a finite sum over the counts of the other atoms, whatever n is. For the rest,

.. math:: P(N>K)\le\frac{(nq)^{K+1}}{(K+1)!},\qquad E[N;\,N>K]\le nq\,\frac{(nq)^K}{K!},\qquad
   S_+\le n\,(h)_+ + N\,(\max G)_+ .

Evidence: all of it is proved, in ball arithmetic; doubles only plan. Where it stops early the bracket is wide, never
wrong, and the automatic choice goes on to the next engine.

Such laws are the hard ones for a contour integral: their characteristic function stays near 1 on the whole line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import flint

from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import (
    Ball,
    ball_arguments,
    lower_end,
    to_arb,
    to_float,
    upper_end,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.estimates import DEEPEST, copies_elsewhere
from symshuffle.engines.registry import Engine


@final
@dataclass(frozen=True, slots=True)
class Sparse(Engine):
    """Engine that enumerates the copies of G that are not on its heaviest atom.

    Parameters
    ----------
    rtol : float
        Relative width to aim at, in (0, 1).
    bits : int
        Working precision of the balls.
    largest : int
        Limit on the number of count vectors to enumerate.
    """

    name: ClassVar[str] = "sparse"
    least: ClassVar[Arithmetic] = "ball"

    rtol: float = 1e-10
    bits: int = 192
    largest: int = 20_000

    @classmethod
    def for_auto(
        cls, law: Law, arithmetic: Arithmetic | None, rtol: float, *, cheap_count: int = 2_000
    ) -> Sparse | None:
        """Engine limited to few count vectors for the automatic choice; None at arithmetic ``exact``.

        - ``cheap_count``: count vectors up to which no other engine is asked first: they take some milliseconds.
        """
        return None if arithmetic == "exact" else cls(rtol=rtol, largest=cheap_count)

    @classmethod
    def trials(cls, law: Law) -> tuple[Sparse, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        most = min(200_000, 1_000_000 // len(law.values))
        return cls(rtol=1e-6, largest=most), cls(rtol=1e-2, largest=most), cls(rtol=0.5, bits=53, largest=most)

    def refusal(self, law: Law, n: int, *, tail: float = 1e-6) -> str | None:
        """Reason why this engine cannot answer, known before it starts, or None.

        - ``tail``: what the neglected mass, relative to ``rtol``, is planned for; it may turn out larger.
        """
        if not law.enclosed:
            return "a law of doubles encloses nothing"
        if law.never_positive:
            return None
        expected = copies_elsewhere(law, n)
        # A plan, for which doubles will do: the bracket counts what is neglected, however much it is.
        term, enough, deepest = 1.0, tail * self.rtol, 0
        while term > enough and deepest < n:
            deepest += 1
            term *= expected / deepest
            if deepest > DEEPEST or math.comb(deepest + len(law.weights) - 1, deepest) > self.largest:
                return f"{expected:.3g} copies are expected outside the heaviest atom, too many to enumerate"
        return None

    def bracket(self, law: Law, n: int) -> Bracket:
        """A certified bracket around H(n)."""
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine sparse at n = {n}: {reason}")
        if law.never_positive:
            ends = lower_end(law.singular), upper_end(law.singular)
            return Bracket(*ends, "ball", self.name, "G is never positive")
        with working_precision(self.bits + 2 * max(n.bit_length(), 8)):
            total, rest, deepest = self._sum(law, n)
            singular = to_arb(law.singular)
            low = Ball.from_arb(total / n + singular).lower
            high = Ball.from_arb((total + rest) / n + singular).upper
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = law.floor + lower_end(law.singular)
        evaluation = (
            f"at most {deepest} copies outside the heaviest atom, in balls of {self.bits} bits; the rest bounded"
        )
        return Bracket(max(low, floor), high, "ball", self.name, evaluation)

    def _sum(self, law: Law, n: int) -> tuple[flint.arb, flint.arb, int]:
        """The sum over N <= K, a bound on the rest, and K: the first that is good enough, or the last allowed."""
        values, weights = ball_arguments(law.values), ball_arguments(law.weights)
        heaviest = max(range(len(weights)), key=lambda i: to_float(law.weights[i]))
        common, mass = values.pop(heaviest), weights.pop(heaviest)
        expected = n * sum(weights, start=flint.arb(0))
        top = max((upper_end(value) for value in law.values), default=Fraction(0))
        total, choices = flint.arb(0), flint.arb(1)  # choices: n (n-1) ... (n-j+1)
        parts = [[flint.arb(1)] for _ in weights]  # of each atom, weight**count / count!
        for j in range(n + 1):
            total += choices * mass ** (n - j) * _beside(values, parts, j, (n - j) * common)
            choices *= n - j
            for part, weight in zip(parts, weights, strict=True):
                part.append(part[j] * weight / (j + 1))
            rest = flint.arb(0)
            if j < n:
                rest += _on_the_heaviest(n, common, expected, j) + _beside_it(max(top, Fraction(0)), expected, j)
                rest = rest.union(flint.arb(0))
            spent = j >= DEEPEST or math.comb(j + 1 + len(values), j + 1) > self.largest
            if j == n or spent or rest < total * self.rtol / 8:
                break
        return total, rest, j


def _on_the_heaviest(n: int, value: flint.arb, expected: flint.arb, deepest: int) -> flint.arb:
    """Bound on what n copies of the heaviest atom contribute where more than ``deepest`` copies are elsewhere."""
    return n * value.nonnegative_part() * expected ** (deepest + 1) / math.factorial(deepest + 1)


def _beside_it(top: Fraction, expected: flint.arb, deepest: int) -> flint.arb:
    """Bound on what the copies elsewhere contribute where there are more than ``deepest`` of them."""
    return to_arb(top) * expected * expected**deepest / math.factorial(deepest)


def _beside(
    values: Sequence[flint.arb], parts: Sequence[Sequence[flint.arb]], left: int, excess: flint.arb
) -> flint.arb:
    """Sum over all ways to share ``left`` copies among atoms: products of parts, times the excess where positive.

    - ``parts``: for each atom ``weight**count / count!`` at counts from 0 on.
    """
    if len(values) <= 1:
        if not values:
            return excess.nonnegative_part() if left == 0 else flint.arb(0)
        return parts[0][left] * (excess + left * values[0]).nonnegative_part()
    value, part, total = values[0], parts[0], flint.arb(0)
    for count in range(left + 1):
        total += part[count] * _beside(values[1:], parts[1:], left - count, excess + count * value)
    return total
