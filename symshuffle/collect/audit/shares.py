r"""Exact confidence ends of a probability (Clopper, Pearson 1934), and the power of a test that is made of two of them.

With c hits the lower end is the largest p with :math:`P_p(C\ge c)\le` ``level``, the upper end the smallest with
:math:`P_p(C\le c)\le` ``level``: each is on the wrong side of the true probability with probability at most ``level``.
An end is looked for in doubles, moved outward, and then proved by the tails of :mod:`symshuffle.collect.intervals`, in
enclosures or integers. Power is a forecast, and is left in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final, final

import numpy as np

from symshuffle.base.crossings import first_integer, halved
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import as_integer, enclose_log, format_decimal, parse_rational, target_decimal
from symshuffle.collect.intervals import SMALLEST_ALPHA, exceeds

CAUGHT: Final = 0.9
"""Probability with which a forecast says that something is caught."""

MOST_RUNS: Final = 10**8
"""Runs beyond which nothing is forecast."""


def at_least(count: int, runs: int, level: Fraction, p: Fraction) -> bool:
    """Whether P(Bin(runs, p) >= count) is at most the level: so many hits are too many for ``p``."""
    if p <= 0 or p >= 1:
        return count > 0 and p <= 0
    return not exceeds(count, runs, runs, p, p, level)


def at_most(count: int, runs: int, level: Fraction, p: Fraction) -> bool:
    """Whether P(Bin(runs, p) <= count) is at most the level: so few hits are too few for ``p``."""
    return at_least(runs - count, runs, level, 1 - p)


def lower_share(count: int, runs: int, level: Fraction) -> Fraction:
    """Lower end of the probability of a hit, wrong with probability at most ``level``."""
    from scipy.special import betaincinv

    if count == 0:
        return Fraction(0)
    near = float(betaincinv(count, runs - count + 1, float(level)))
    return _proved(near, -1, 0, partial(at_least, count, runs, level), f"lower end of {count} hits in {runs}")


def upper_share(count: int, runs: int, level: Fraction) -> Fraction:
    """Upper end of the probability of a hit, wrong with probability at most ``level``."""
    from scipy.special import betainccinv

    if count == runs:
        return Fraction(1)
    near = float(betainccinv(count + 1, runs - count, float(level)))
    return _proved(near, 1, 1, partial(at_most, count, runs, level), f"upper end of {count} hits in {runs}")


def _proved(
    near: float, sign: int, last: int, holds: Callable[[Fraction], bool], end: str, first: float = 1e-9, tries: int = 40
) -> Fraction:
    """The first number outward from a double, up to 0 or 1, that is proved to be an end.

    - ``first``: relative distance that is tried first; it doubles.
    """
    for i in range(tries):
        p = min(max(Fraction(near * (1 + sign * first * 2**i)), Fraction(0)), Fraction(1))
        if p == last or holds(p):
            return p
    raise NotDecided(f"the {end} runs is not certified near its value in doubles")


def confidence_ends(count: int, runs: int, level: object) -> tuple[Fraction, Fraction]:
    """Two ends of a probability, each wrong with probability at most ``level``.

    Parameters
    ----------
    count, runs : int
        Hits, and independent runs, at least 1.
    level : number or text
        In (0, 1), at least 1e-100.

    Returns
    -------
    tuple of Fraction
        Lower and upper end of Clopper and Pearson, within a billionth of themselves, on the safe side.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> low, up = confidence_ends(0, 10, "0.05")
    >>> float(low), round(float(up), 6)
    (0.0, 0.258866)
    """
    runs = as_integer(runs, "runs", 1, MOST_RUNS)
    error = parse_rational(level, "level")
    if not SMALLEST_ALPHA <= error < 1:
        raise InputError("level", level, "a number in (0, 1), at least 1e-100")
    count = as_integer(count, "count", 0, runs)
    return lower_share(count, runs, error), upper_share(count, runs, error)


def level_words(ratio: Fraction, *, up: bool) -> str:
    """The logarithm in 12 digits, rounded to one side; an eps of as many, of which the ratio was rounded, as it is."""
    log, slack = enclose_log(ratio).midpoint, Fraction(1, 10**25)
    return format_decimal(log * (1 - slack if up else 1 + slack), digits=12, up=up)


def claim_words(ratio: Fraction, delta: Fraction) -> str:
    """A claim of log ratio and delta, none of them shown too small."""
    return f"({level_words(ratio, up=True)}, {target_decimal(delta, up=True)})-DP"


def least_runs(ratio: Fraction, delta: Fraction, level: Fraction) -> int | None:
    """Runs of each of two inputs below which nothing refutes (log ratio, delta), even all against none; or None."""

    def refutes(runs: int) -> bool:
        return lower_share(runs, runs, level) - ratio * upper_share(0, runs, level) > delta

    return first_integer(refutes, 0, MOST_RUNS) if refutes(MOST_RUNS) else None


def check_runs(runs: int, ratio: Fraction, delta: Fraction, level: Fraction) -> int:
    """The least number of runs; fewer are refused, with which nothing would refute a claim."""
    least = least_runs(ratio, delta, level)
    if least is None:
        what = claim_words(ratio, delta)
        raise InputError("runs", runs, f"a claim that {MOST_RUNS} runs could refute, not {what}")
    if runs < least:
        raise InputError("runs", runs, f"at least {least} of each input: fewer runs can never refute")
    return least


@final
@dataclass(frozen=True, slots=True)
class Power:
    """Forecast of the test that refutes (log ratio, delta) where ``low(P0) - ratio * up(P1) > delta``."""

    ratio: float
    delta: float
    level: float

    def at(self, runs: int, p0: float, p1: float) -> float:
        """Probability of a refutation with so many runs of each input: it rises with ``p0`` and falls with ``p1``.

        Of very many runs it is a number slightly below, as counts of the first input are taken by the block.
        """
        from scipy.special import bdtr, betaincinv

        counts, masses = _window(runs, p0)
        hits = np.maximum(counts, 1)
        low = np.where(counts > 0, betaincinv(hits, runs - hits + 1, self.level), 0.0)
        allowed = np.clip((low - self.delta) / self.ratio, 0.0, 1.0)
        # The most hits of the second input whose upper end is below what is allowed, by halving; -1 for none.
        least, most = np.full(len(counts), -1.0), np.full(len(counts), float(runs))
        while np.any(most - least > 1):
            middle = np.floor((least + most) / 2)
            passed = (allowed > 0) & (bdtr(middle, runs, allowed) < self.level)
            least, most = np.where(passed, middle, least), np.where(passed, most, middle)
        few = np.where(least >= 0, 1.0 if p1 <= 0 else bdtr(np.maximum(least, 0), runs, p1), 0.0)
        return min(1.0, float(masses @ few))

    def runs(self, p0: float, p1: float, wanted: float = CAUGHT) -> int | None:
        """Number of runs of each input, to half a percent, from which on they refute with probability ``wanted``.

        None if P0 and P1 keep the claim, or if the largest power of 2 up to :data:`MOST_RUNS` is too few.
        """
        if not p0 - self.ratio * p1 > self.delta:
            return None
        most = 1
        while self.at(most, p0, p1) < wanted:
            most *= 2
            if most > MOST_RUNS:
                return None
        step = max(1, most // 400)
        found = first_integer(lambda i: self.at(i * step, p0, p1) >= wanted, most // (2 * step), most // step + 1)
        return found * step

    def caught(self, runs: int, p0: float, wanted: float = CAUGHT) -> float | None:
        """Smallest ratio of P0 = ``p0`` to P1 that is refuted with the wanted probability; None if even P1 = 0 is not.

        By monotony it is so for every pair with P0 at least ``p0`` and a ratio at least this one.
        """
        if self.at(runs, p0, 0.0) < wanted:
            return None
        least, most = math.log(self.ratio), math.log(p0 / (p0 * 1e-12))
        return math.exp(halved(lambda x: self.at(runs, p0, p0 * math.exp(-x)) >= wanted, least, most, settled=26)[1])


def _window(runs: int, p: float, spread: float = 9.0, blocks: int = 1000) -> tuple[Any, Any]:
    """Counts that matter of a binomial variable, each the least of a block, and the probabilities of the blocks.

    - ``spread``: standard deviations on each side of the mean.
    - ``blocks``: their number, for speed: a least count makes power smaller.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    reach = spread * math.sqrt(runs * p * (1 - p)) + 20
    counts = np.arange(max(0, math.floor(runs * p - reach)), min(runs, math.ceil(runs * p + reach)) + 1, dtype=float)
    logs = gammaln(runs + 1) - gammaln(counts + 1) - gammaln(runs - counts + 1)
    masses = np.exp(logs + xlogy(counts, p) + xlog1py(runs - counts, -p))
    starts = np.arange(0, len(counts), 1 + len(counts) // blocks)
    return counts[starts], np.add.reduceat(masses, starts)


def about_runs(runs: int | None) -> str:
    """A number of runs in words, in two digits; None is no number."""
    return "no number of runs" if runs is None else f"about {float(f'{runs:.2g}'):.0f} runs"
