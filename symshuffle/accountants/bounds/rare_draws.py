r"""Laws of G of which some atoms are rare among n draws and far beyond what the others sum to.

Let :math:`p_r` be the weight of the rare value :math:`v_r`, p their sum, and C the law of one draw that is not rare.
Among n draws :math:`k_r` are :math:`v_r` with a multinomial probability :math:`\pi_k`; with :math:`R=\sum_rk_rv_r`, m
the number of draws that are not rare, and independent :math:`C_i` of law C,

.. math:: H(n)=\sum_k\pi_k\,\tfrac1nE\Big[\Big(R+\sum_{i\le m}C_i\Big)_+\Big]
   =\sum_k\pi_k\,\tfrac mn\,H_{C+R/m}(m),

a sum of values of laws whose atoms are of one size. For X of mean :math:`\mu` and variance V these need no engine where
:math:`\mu_+\le E[X_+]\le\mu_++V/4|\mu|` is narrow enough; where :math:`\mu<0`, Hoeffding's inequality bounds
:math:`E[X_+]\le\max(X)_+e^{-2\mu^2/m(\max C-\min C)^2}`. The terms with more than K rare draws contribute together,
since :math:`(x+y)_+\le x_++y_+` and :math:`P(\mathrm{Bin}(n,p)\ge j)\le(np)^j/j!`, at most

.. math:: \frac{(np)^K}{K!}\sum_rp_rv_r^++\frac{(np)^{K+1}}{(K+1)!}E[C_+].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Final, final

from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, weakest_arithmetic
from symshuffle.base.numbers import Ball, exact_sum, lower_end, to_arb, upper_end, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law

_SELDOM: Final = Fraction(1, 16)
"""Above the chance that one of n draws is rare."""

_FAR: Final = 1 << 12
"""Deviations of a sum of the others beyond which a rare value asks a contour for millions of nodes."""

_FEWEST: Final = 10
"""Users below which sums over counts serve."""

_MOST_DRAWS: Final = 8
_MOST_CASES: Final = 1200
"""Rare draws, and cases of them, beyond which no more are summed: cost only, as the rest is added to the upper end."""

_MOST_VALUES: Final = 12
"""Values of an engine, each of which may take a second."""

_LARGEST_EXPONENT: Final = 1 << 14
"""Of Hoeffding's bound: the digits of smaller numbers would fill the memory."""

_BITS: Final = 128


def split(law: Law, n: int, *, few_atoms: int = 50) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]] | None:
    """The common and the rare atoms; None where no atom is rare, or the rare ones are not far beyond the others.

    - ``few_atoms``: atoms up to which sums over counts serve a law whose common atoms are 0.
    """
    if n < _FEWEST or not law.enclosed:
        return None
    least = _SELDOM / (n * len(law.values))
    groups: tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]] = [], []
    for value, weight in law.atoms():
        groups[upper_end(weight) < least].append((value, weight))
    common, rare = groups
    if not (common and rare):
        return None
    size = max(max(abs(lower_end(value)), abs(upper_end(value))) for value, _ in common)
    highest = max(lower_end(value) for value, _ in rare)  # negative ones a tilt leaves out of a contour
    far = highest >= _FAR * (math.isqrt(n) + 1) * size and highest > 0
    return groups if far and (size > 0 or len(law.values) > few_atoms) else None


def by_rare_draws(
    law: Law,
    n: int,
    answer: Callable[[Law, int], Bracket | None],
    narrow: Callable[[Bracket], bool],
    *,
    per_case: int = 10_000,
) -> Bracket | None:
    """Bracket around H(n), summed over how often which rare value is drawn.

    None where the law is no such law, or engines have to say more; not narrow where one more draw would take too long.

    - ``answer``: a bracket of another law, narrower than the one asked for, or None.
    - ``narrow``: whether a bracket will do.
    - ``per_case``: terms of a contour in doubles that take as long as a case: cost only.
    """
    groups = split(law, n)
    if groups is None:
        return None
    common, rare = groups
    total, share = (exact_sum(weight for _, weight in part) for part in groups)
    parts = _Parts.of(Law.from_atoms((value, weight / total) for value, weight in common), tuple(rare), share, n)
    cases: list[_Case] = []
    arithmetic: Arithmetic = "ball"
    draws, values, last = 0, 0, None
    while True:
        if len(cases) < sum(math.comb(k + len(rare) - 1, k) for k in range(draws + 1)):
            cost.add(per_case * math.comb(draws + len(rare) - 1, draws))
            cases += [parts.case(Counter(drawn)) for drawn in combinations_with_replacement(range(len(rare)), draws)]
        beyond = parts.beyond(draws)
        lower = sum((case.lower for case in cases), start=lower_end(law.singular))
        upper = sum((case.upper for case in cases), start=upper_end(law.singular) + beyond)
        evaluation = f"up to {draws} of {n} draws are rare values, the others apart"
        found = Bracket(lower, upper, arithmetic, "none", evaluation)
        if last is not None:
            found = replace(found, engine=last.engine, evaluation=f"{evaluation}; {last.evaluation}")
        if narrow(found):
            return found
        if beyond > (upper - lower) / 2:
            draws += 1
            if draws > _MOST_DRAWS or math.comb(draws + len(rare), draws) > _MOST_CASES:
                return found
            continue
        place = max(range(len(cases)), key=lambda i: cases[i].width)
        values += 1
        if values > _MOST_VALUES or cases[place].valued:
            return None
        last = answer(cases[place].law(parts.others), cases[place].others)
        if last is None:
            return None
        arithmetic = weakest_arithmetic((arithmetic, last.arithmetic))
        cases[place] = cases[place].with_value(last)


@final
@dataclass(frozen=True, slots=True)
class _Case:
    """Some rare draws: their chance over n, their sum, the number of the other draws, and the ends of E[X_+].

    - ``valued``: whether the ends are those of an engine.
    """

    chance: tuple[Fraction, Fraction]
    drawn: Any
    others: int
    ends: tuple[Fraction, Fraction]
    valued: bool = False

    @property
    def lower(self) -> Fraction:
        """At least what the case adds to H(n)."""
        return self.chance[0] * self.ends[0]

    @property
    def upper(self) -> Fraction:
        """At most what the case adds to H(n)."""
        return self.chance[1] * self.ends[1]

    @property
    def width(self) -> Fraction:
        """What the case leaves open."""
        return self.upper - self.lower

    def law(self, common: Law) -> Law:
        """The law of the other draws, each with its share of the rare ones."""
        shift = self.drawn / Fraction(self.others)
        return Law.from_atoms((value + shift, weight) for value, weight in common.atoms())

    def with_value(self, found: Bracket) -> _Case:
        """The case with a bracket of that law in it."""
        low, high = self.ends
        ends = max(low, self.others * found.lower), min(high, self.others * found.upper)
        return replace(self, ends=ends, valued=True)


@final
@dataclass(frozen=True, slots=True)
class _Parts:
    """The law of the other draws, the rare atoms with the sum of their weights, and the number of draws.

    - ``values``, ``mean``: ends of the values of the other draws, and of their mean.
    - ``ceiling``, ``variance``: what their positive mean and their variance are not above.
    - ``seldom``, ``rare_mean``: what the expected number of rare draws, and the mean of one where it is positive, are
      not above.
    """

    others: Law
    rare: tuple[tuple[Any, Any], ...]
    share: Any
    n: int
    values: tuple[Fraction, Fraction]
    mean: tuple[Fraction, Fraction]
    ceiling: Fraction
    variance: Fraction
    seldom: Fraction
    rare_mean: Fraction

    @classmethod
    def of(cls, others: Law, rare: tuple[tuple[Any, Any], ...], share: Any, n: int) -> _Parts:
        """With what every case needs of the other draws, computed once."""
        values = min(map(lower_end, others.values)), max(map(upper_end, others.values))
        mean = lower_end(others.mean), upper_end(others.mean)
        seldom = n * sum((upper_end(weight) for _, weight in rare), start=Fraction(0))
        rare_mean = sum((upper_end(w) * max(upper_end(v), Fraction(0)) for v, w in rare), start=Fraction(0))
        known = others.ceiling, upper_end(others.variance), seldom, rare_mean
        return cls(others, rare, share, n, values, mean, *known)

    def case(self, counts: Counter[int]) -> _Case:
        """A case by how often which rare value is drawn, of those that are, with ends that need no engine."""
        m = self.n - counts.total()
        drawn = exact_sum(Fraction(k) * self.rare[i][0] for i, k in counts.items())
        return _Case(self._chance(counts, m), drawn, m, self._ends(drawn, m))

    def beyond(self, draws: int) -> Fraction:
        """What more rare draws add at most."""
        below = self.seldom**draws / math.factorial(draws)
        return below * (self.rare_mean + self.seldom / (draws + 1) * self.ceiling)

    def _chance(self, counts: Counter[int], m: int) -> tuple[Fraction, Fraction]:
        """The multinomial probability of a case, over n."""
        ways = math.prod(range(m + 1, self.n + 1)) // math.prod(map(math.factorial, counts.values()))
        with working_precision(_BITS + self.n.bit_length()):
            none = (m * (-to_arb(self.share)).log1p()).exp()
            start = to_arb(Fraction(ways, self.n))
            chance = none * math.prod((to_arb(self.rare[i][1]) ** k for i, k in counts.items()), start=start)
            ball = Ball.from_arb(chance, _BITS)
        return max(ball.lower, Fraction(0)), ball.upper

    def _ends(self, drawn: Any, m: int) -> tuple[Fraction, Fraction]:
        """Both ends of E[X_+], X the sum of what is drawn and of m other draws, from its mean and variance."""
        nothing, high = Fraction(0), upper_end(drawn)
        low, top = self.values
        if high + m * top <= 0:
            return nothing, nothing
        mean = lower_end(drawn) + m * self.mean[0], high + m * self.mean[1]
        least, most = max(mean[0], nothing), max(high, nothing) + m * self.ceiling
        spread = m * self.variance
        if mean[0] > 0:
            most = min(most, mean[1] + spread / (4 * mean[0]))
        elif mean[1] < 0:
            most = min(most, -spread / (4 * mean[1]))
            exponent = 2 * mean[1] ** 2 / (m * (top - low) ** 2) if top > low else nothing
            with working_precision(_BITS):
                tail = Ball.from_arb((-to_arb(min(exponent, Fraction(_LARGEST_EXPONENT)))).exp(), _BITS).upper
            most = min(most, (high + m * top) * tail)
        return least, max(least, most)
