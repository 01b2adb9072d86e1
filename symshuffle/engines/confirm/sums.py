r"""H(n) as a sum over the counts of the atoms, in mpmath: no transform, no lattice, no ball arithmetic.

The largest and the smallest value are summed in closed form: given that m users fall on either, the number X of them on
the larger one is binomial, and with :math:`T=P(X\ge i)`, :math:`p=P(X=i)` and the probability q of the larger one

.. math:: E[X;X\ge i]=mqT+(1-q)ip.

Along a row m changes by one user at a time, and T and p follow by one recurrence, in the direction in which T grows;
where T lost ten digits all the same it is summed anew. The two likeliest other atoms are first replaced by their mean:
with the sum :math:`\bar S` of a law in which both take that value,

.. math:: E[S_+]=E[\bar S_+]+E\big[E[S_+\mid X,m]-\bar S_+\big],

where the second term is a sum over the few (m, X) that leave the sign of S open, again with one binomial tail each. The
counts of all further atoms are enumerated.

What is left out is bounded. For every c > 0, :math:`S_+\le e^{cS}/(ce)`, so the terms of a set A of counts add up to at
most :math:`M(c)^n/(ce)` times the probability of A under the weights tilted by c. There each count is binomial, given
the ones before it, and Bernstein's inequality says how far it has to be followed.

Evidence: the sums are identities, and the bound on what is left out is proved; that the guard digits of mpmath cover
its rounding is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from symshuffle.base.errors import Unsupported
from symshuffle.engines.confirm.transform import MpmathLaw, saddle

_LARGEST_SUM: Final = 300_000
"""Steps of the recurrences beyond which the sum is refused."""


_LOST: Final = 10
"""Digits that T may lose by subtraction: half of those that the context has to spare."""


_Atoms = Sequence[tuple[Any, Any]]


def by_sums(law: MpmathLaw, n: int, *, digits: int) -> tuple[Any, Any]:
    """E[S_+]/n to about ``digits`` digits, and a bound on its error, in arithmetic that rounds as mpmath does."""
    if number_of_terms(law, n, digits=digits) > _LARGEST_SUM:
        raise Unsupported(f"the sum over counts has too many terms at n = {n} with {len(law.atoms)} atoms")
    context, atoms = law.context, law.atoms
    if len(atoms) == 1:
        return max(atoms[0][0], context.mpf(0)), context.mpf(0)
    window = _Window.of(atoms, n, digits)
    total, size, left_out = context.mpf(0), context.mpf(0), 1
    for row in window.rows():
        left_out += 4
        for part, rounded in (_row_sum(context, window, row, digits), _split_sum(context, window, row, digits)):
            total, size = total + part, size + rounded
    rest = window.chernoff * left_out * context.exp(-window.exponent)
    return total / n, (rest + (size + total) * context.mpf(10) ** -(digits + _LOST)) / n


def number_of_terms(law: MpmathLaw, n: int, *, digits: int) -> float:
    """Steps of the recurrences; infinite where there is no such sum, or where it has more than that."""
    if law.smooth:
        return math.inf
    if len(law.atoms) == 1:
        return 1
    window = _Window.of(law.atoms, n, digits)
    first, second = window.tilted[:2]
    anew = 1 + math.sqrt(2 * window.exponent * n * first * second / (first + second))
    total = 0.0
    for row in window.rows():
        total += anew
        for m in row.inner:
            total += 1 + len(window.open_counts(row, m))
            if total > _LARGEST_SUM:
                return math.inf
    return total


@final
@dataclass(frozen=True, slots=True)
class _Row:
    """Fixed counts of all atoms but four, the users on those four, and how many of these may fall on the ends."""

    counts: tuple[int, ...]
    users: int
    inner: range


@final
@dataclass(frozen=True, slots=True)
class _Window:
    """Which counts are looked at.

    - ``ordered``: the larger and the smaller end, the larger and the smaller of the two likeliest others (weight 0
      where there is none), and the rest, the rarest first.
    - ``tilted``: their weights tilted by ``c``, of sum 1.
    - ``exponent``: what is left out beside one count, on either side, has at most ``exp(-exponent)`` of the tilted
      probability.
    - ``chernoff``: ``M(c)**n / (c e)``, which the tilted probabilities are multiplied by.
    - ``untilted``: the same for what is bounded without a tilt, where the sum of all users is at most n times the
      largest value.
    """

    ordered: _Atoms
    tilted: tuple[float, ...]
    n: int
    exponent: float
    chernoff: Any
    untilted: float

    @classmethod
    def of(cls, atoms: _Atoms, n: int, digits: int, *, guard: int = 14) -> _Window:
        """For atoms by falling value, the first of them positive.

        - ``guard``: decimal digits below the precision asked for at which counts are left out.
        """
        context = atoms[0][0].context
        c = saddle(atoms, n)
        raw = {atom: atom[1] * context.exp(c * (atom[0] - atoms[0][0])) for atom in atoms}
        others = sorted(atoms[1:-1], key=lambda atom: raw[atom])
        middle = sorted(others[-2:], key=lambda atom: -atom[0])
        ordered = [atoms[0], atoms[-1], *middle, *others[:-2]]
        whole = sum(raw.values())
        tilted = [float(raw[atom] / whole) for atom in ordered]
        for place in range(len(middle) + 2, 4):
            ordered.insert(place, (atoms[-1][0], context.mpf(0)))
            tilted.insert(place, 0.0)
        moment = context.fsum(w * context.exp(c * v) for v, w in atoms)
        chernoff = moment**n / (c * context.e)
        exponent = (digits + guard) * math.log(10) + math.log(n)
        largest = n * max(abs(v) for v, _ in atoms)
        untilted = exponent + max(float(context.log(largest / chernoff)), 0.0)
        return cls(ordered, tuple(tilted), n, exponent, chernoff, untilted)

    def rows(self) -> Iterator[_Row]:
        """All rows that matter, with empty ones for what is left out beside them."""
        yield from self._rows((), self.n, 1.0, self.exponent)

    def _rows(self, counts: tuple[int, ...], users: int, share: float, exponent: float) -> Iterator[_Row]:
        at = 4 + len(counts)
        if exponent <= 0:
            yield _Row((*counts, *(0 for _ in self.ordered[at:])), users, range(0))
            return
        if at == len(self.ordered):
            ends = min((self.tilted[0] + self.tilted[1]) / share, 1.0)
            likely = _likely(users, ends, exponent, exponent)
            yield _Row(counts, users, likely if self.tilted[2] else range(users, users + 1))
            return
        weight = min(self.tilted[at] / share, 1.0)
        yield _Row((*counts, *(0 for _ in self.ordered[at:])), users, range(0))
        for count in _likely(users, weight, exponent, exponent):
            rarer = exponent + _log_binomial(users, count, weight)
            yield from self._rows((*counts, count), users - count, max(share - self.tilted[at], 1e-300), rarer)

    def open_counts(self, row: _Row, m: int) -> range:
        """Users of m on the larger end for whom the other two atoms of a row decide the sign."""
        (high, _), (low, _), (third, one), (fourth, two) = self.ordered[:4]
        if not two:
            return range(0)
        others = row.users - m
        tilted = self.tilted[2] / (self.tilted[2] + self.tilted[3])
        surely = _likely(others, float(one / (one + two)), self.untilted, self.untilted).start
        most = _likely(others, tilted, self.exponent, self.exponent).stop - 1
        gap, drift = high - low, low * m + fourth * others + self.drift(row)
        first, last = (-float((drift + (third - fourth) * z) / gap) for z in (most, surely))
        slack = 1 + 1e-12 * self.n
        likely = _likely(m, self.tilted[0] / (self.tilted[0] + self.tilted[1]), self.exponent, self.exponent)
        return range(max(math.floor(first - slack), likely.start), min(math.ceil(last + slack) + 1, likely.stop))

    def drift(self, row: _Row) -> Any:
        """What the enumerated atoms add to the sum."""
        return sum((count * v for count, (v, _) in zip(row.counts, self.ordered[4:], strict=True)), start=0)


def _likely(n: int, p: float, below: float, above: float) -> range:
    """All but counts of a binomial of probability ``exp(-below)``, ``exp(-above)`` on the two sides (Bernstein)."""

    def reach(exponent: float) -> float:
        return exponent / 3 + math.sqrt(exponent**2 / 9 + 2 * exponent * n * p * (1 - p)) + 1e-12 * n

    return range(max(math.floor(n * p - reach(below)), 0), min(math.ceil(n * p + reach(above)), n) + 1)


def _log_binomial(n: int, count: int, p: float) -> float:
    """Logarithm of a binomial probability, in doubles and rounded up by far more than they lose."""
    if p <= 0 or p >= 1:
        return 0.0
    ways = math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
    return min(ways + count * math.log(p) + (n - count) * math.log1p(-p) + 1e-6 + 1e-12 * n, 0.0)


def _row_sum(context: Any, window: _Window, row: _Row, digits: int) -> tuple[Any, Any]:
    """The terms of one row with the mean of two atoms for both, and the sizes that their rounding is relative to."""
    (high, heavy), (low, light), (third, one), (fourth, two) = window.ordered[:4]
    pair, weight, gap = heavy + light, one + two, high - low
    mean = (third * one + fourth * two) / weight if weight else low
    tail = _Tail(context, heavy / pair, digits)
    drift = mean * row.users + window.drift(row)
    up = pair * mean < heavy * high + light * low  # one more user on the ends then raises T
    path = row.inner if up else row.inner[::-1]
    total, size, term, step = context.mpf(0), context.mpf(0), None, (mean - low) / gap
    for m in path:
        others = row.users - m
        if term is None:
            term = _probability(window, row, (m, others), (pair, weight))
        # The smallest count of the larger value that makes the sum positive; a sum of 0 counts on either side.
        i = max(int(context.floor(step * m - drift / gap)) + 1, 0)
        if i <= m:
            above, mass = tail.at(m, i)
            excess = (high * tail.q + low * tail.rest - mean) * m + drift
            edge = gap * tail.rest * i * mass
            total += term * (excess * above + edge)
            size += term * (edge + (gap + abs(excess)) * above)
        if up:
            term *= pair * others / (weight * (m + 1)) if weight else 0
        else:
            term *= weight * m / (pair * (others + 1))
    return total, size


def _split_sum(context: Any, window: _Window, row: _Row, digits: int) -> tuple[Any, Any]:
    """What the mean of two atoms leaves out of one row: never negative, by Jensen's inequality."""
    (high, heavy), (low, light), (third, one), (fourth, two) = window.ordered[:4]
    total, size, term, last = context.mpf(0), context.mpf(0), context.mpf(0), (0, 0)
    # Along i - j = constant a sum moves least: the ends of a law that two inputs share are nearly opposite.
    counts = sorted(((2 * i - m, m) for m in row.inner for i in window.open_counts(row, m)), reverse=True)
    if not counts:
        return total, size
    tail = _Tail(context, one / (one + two), digits)
    gap, weight, fixed = third - fourth, one + two, window.drift(row)
    mean = third * tail.q + fourth * tail.rest
    double = heavy * light / weight**2
    for difference, m in counts:
        i, others = (m + difference) // 2, row.users - m
        if last == (difference, m + 2):
            term *= (i + 1) * (m - i + 1) / (double * (others - 1) * others)
        else:
            term = _probability(window, row, (i, m - i, others), (heavy, light, weight))
        last = difference, m
        base = high * i + low * (m - i) + fixed
        z = int(context.floor(-(base + fourth * others) / gap)) + 1
        if 0 < z <= others:
            above, mass = tail.at(others, z)
            average = base + mean * others
            edge = gap * tail.rest * z * mass
            total += term * (average * above + edge - max(average, 0))
            size += term * (edge + (gap + abs(average)) * above)
    return total, size


def _probability(window: _Window, row: _Row, counts: tuple[int, ...], weights: tuple[Any, ...]) -> Any:
    """Of these counts and those of the row."""
    context = weights[0].context
    found = context.factorial(window.n)
    for count, weight in zip((*counts, *row.counts), (*weights, *(w for _, w in window.ordered[4:])), strict=True):
        found *= weight**count / context.factorial(count)
    return found


class _Tail:
    """P(X >= i) and P(X = i) of a binomial count X of m users, followed from one pair (m, i) to the next."""

    def __init__(self, context: Any, q: Any, digits: int) -> None:
        self.context, self.q, self.rest = context, q, 1 - q
        self.least = context.mpf(10) ** -_LOST
        self.rounding = context.mpf(10) ** -(digits + 18)
        self.m = self.i = -1
        self.above = self.mass = self.peak = context.mpf(0)

    def at(self, m: int, i: int, *, near: int = 40) -> tuple[Any, Any]:
        """For 0 <= i <= m.

        - ``near``: steps of the recurrence that cost less than a new sum.
        """
        if self.m < 1 or abs(m - self.m) + abs(i - self.i) > near or not 1 <= i <= self.m:
            self._anew(m, i)
            return self.above, self.mass
        while self.i > i:
            self.mass *= self.i * self.rest / ((self.m - self.i + 1) * self.q)
            self.i -= 1
            self.above += self.mass
        while self.m < m:
            each = self.mass * self.rest / (self.m - self.i + 1)
            self.m += 1
            self.above += each * self.i
            self.mass = each * self.m
        while self.i < i:
            self._take(self.mass)
            self.mass *= (self.m - self.i) * self.q / ((self.i + 1) * self.rest)
            self.i += 1
        while self.m > m:
            each = self.mass / self.m
            self._take(each * self.i)
            self.mass = each * (self.m - self.i) / self.rest
            self.m -= 1
        if self.above <= self.peak * self.least:
            self._anew(m, i)
        return self.above, self.mass

    def _take(self, mass: Any) -> None:
        self.peak = max(self.peak, self.above)
        self.above -= mass

    def _anew(self, m: int, i: int) -> None:
        """Sum the shorter side term by term until a geometric series bounds the rest."""
        context, self.m, self.i = self.context, m, i
        ways = context.factorial(m) / context.factorial(i) / context.factorial(m - i)
        self.mass = term = ways * self.q**i * self.rest ** (m - i)
        upwards = i > m * self.q
        total, j, sign = (term if upwards else context.mpf(0)), i, 1 if upwards else -1
        odds = self.q / self.rest if upwards else self.rest / self.q
        while 0 <= j <= m:
            ratio = odds * (m - j if upwards else j) / (j + 1 if upwards else m - j + 1)
            term, j = term * ratio, j + sign
            total += term
            if ratio < 1 and term * ratio <= (1 - ratio) * total * self.rounding:
                break
        self.above = self.peak = total if upwards else 1 - total
