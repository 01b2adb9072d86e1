r"""The other side of the dichotomy: few informative messages, and a compound Poisson limit instead of a Gaussian.

Let :math:`p=\Pr[g\ne1]`. Among n messages a binomial number is informative; with a Poisson number of the same mean the
sum :math:`n(L_n-1)=\sum_i(g(Y_i)-1)` becomes compound Poisson,

.. math:: S=\sum_j(r_j-1)N_j,\qquad N_j\sim\mathrm{Poisson}(n q_j)\ \text{independent}.

Replacing one Bernoulli count of mean p by a Poisson one costs at most :math:`2(e^{-p}-1+p)\le p^2` in Wasserstein
distance, each counted message moves the sum by :math:`E|g-1|/p` on average, and both sums have mean 0, so

.. math:: \Big|E(L_n-1-c)_+-\tfrac1nE(S-nc)_+\Big|\le\tfrac12\,p\,E|g-1| ,

for every law and every n. For k-ary response the jumps are :math:`\lambda-1` and :math:`-(1-1/\lambda)` at rates
:math:`n/(\lambda+k-1)` and :math:`n\lambda/(\lambda+k-1)`: on :math:`n=ck` a Skellam variable with unequal steps, which
no Gaussian replaces, since :math:`n\chi^2` stays bounded.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint

from symshuffle.accountants.bounds.evaluate import check_n
from symshuffle.base.choices import Direction, Rigour, choice
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Verdict, equal, is_exact, to_arb, upper_end, working_precision
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd
from symshuffle.utility.likelihood.certificates import Hinge
from symshuffle.utility.likelihood.law import LikelihoodRatio

MOST_TERMS: Final = 400_000
"""Vectors of Poisson counts beyond which the sum is refused."""


@final
@dataclass(frozen=True, slots=True)
class CompoundPoisson:
    """The variable ``S``: independent Poisson counts times jumps.

    - ``jumps``: the values ``r - 1`` other than 0.
    """

    jumps: tuple[Any, ...]
    rates: tuple[Any, ...]

    @classmethod
    def of(cls, ratio: LikelihoodRatio, n: int) -> CompoundPoisson:
        """The limit object of ``n (L_n - 1)``."""
        atoms: list[tuple[Any, Any]] = [(v - 1, w * n) for v, w in ratio.atoms() if equal(v, 1) is not Verdict.TRUE]
        return cls(tuple(jump for jump, _ in atoms), tuple(rate for _, rate in atoms))

    def hinge(self, kink: Any, *, upward: bool = True, bits: int = DEFAULT_BITS) -> Ball:
        """The number ``E(S - kink)_+``, or ``E(-S - kink)_+``, for a kink of at least 0.

        Sums over counts; what is left out is bounded by Poisson tails.
        """
        jumps = [jump if upward else -jump for jump in self.jumps]
        most = [_last_count(upper_end(rate), bits) for rate in self.rates]
        size = math.prod(m + 1 for m in most)
        if size > MOST_TERMS:
            raise Unsupported(f"{size} vectors of Poisson counts (limit {MOST_TERMS}): use normal_profile")
        with working_precision(bits + 32):
            steps, means, level = [to_arb(j) for j in jumps], [to_arb(r) for r in self.rates], to_arb(kink)
            masses = [_poisson_masses(mean, m) for mean, m in zip(means, most, strict=True)]
            total = flint.arb(0)
            exact = is_exact((*jumps, kink)) if isinstance(kink, Fraction) else False
            for counts in itertools.product(*(range(m + 1) for m in most)):
                if exact and sum((c * j for c, j in zip(counts, jumps, strict=True)), start=-kink) <= 0:
                    continue
                excess = sum((c * s for c, s in zip(counts, steps, strict=True)), start=-level)
                mass = flint.arb(1)
                for count, table in zip(counts, masses, strict=True):
                    mass *= table[count]
                total += mass * excess.nonnegative_part()
            left = self._left_out(jumps, most)
            return Ball.from_arb(total + flint.arb(0).union(left), bits)

    def _left_out(self, jumps: list[Any], most: list[int]) -> flint.arb:
        """A bound on what vectors with a count beyond the last one contribute: at most the positive jumps there."""
        total = flint.arb(0)
        for i, (rate, last) in enumerate(zip(self.rates, most, strict=True)):
            for j, (jump, mean) in enumerate(zip(jumps, self.rates, strict=True)):
                if not (jump.upper if isinstance(jump, Ball) else jump) > 0:
                    continue
                beyond = last - 1 if i == j else last
                total += to_arb(jump) * to_arb(mean) * _poisson_tail(to_arb(rate), beyond)
        return total


@final
@dataclass(frozen=True, slots=True, repr=False)
class PoissonProfile(AnswerMethods):
    """A privacy curve at one level, by its compound Poisson approximation with a proved error.

    - ``limit``: the approximation, ``scale * E(S - n kink)_+ / n``.
    - ``error``: at least the distance of the curve from it.
    """

    safe: ClassVar[SafeEnd] = SafeEnd.UPPER
    limit: Ball
    error: Ball
    jumps: CompoundPoisson
    n: int
    direction: Direction

    @property
    def bracket(self) -> Bracket:
        """Around the curve itself."""
        low = max(Fraction(0), self.limit.lower - self.error.upper)
        how = "compound Poisson approximation, a Poisson number of informative messages"
        return Bracket(low, self.limit.upper + self.error.upper, Rigour.BALL, "poisson", how)

    @property
    def about(self) -> str:
        """What the number speaks about."""
        return f"{self.direction} delta of a canonical pair of {self.n} users"


def poisson_error(ratio: LikelihoodRatio) -> Any:
    r"""The bound :math:`\frac12pE|g-1|` on the forward error; it does not depend on n."""
    return ratio.active * ratio.wasserstein_to_one / 2


def poisson_profile(
    ratio: LikelihoodRatio,
    n: int,
    *,
    direction: Direction | str,
    exp_eps: object = None,
    eps: object = None,
    bits: int = DEFAULT_BITS,
) -> PoissonProfile:
    """The profile of the canonical pair from a compound Poisson variable, with a certified error.

    Good where few messages are informative: k-ary response on large alphabets, diluted channels.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> ratio = LikelihoodRatio.of_mechanism(mechanism("krr").at(k=10**6, lam=3))
    >>> found = poisson_profile(ratio, 10**6, direction="forward", eps=0)
    >>> round(1e9 * float(found.limit)), float(found.error) < 1e-11
    (907, True)
    """
    n = check_n(n)
    way = choice(Direction, direction, "direction")
    hinge = Hinge.of(way, exp_eps=exp_eps, eps=eps)
    jumps = CompoundPoisson.of(ratio, n)
    value = jumps.hinge(hinge.kink * n, upward=way is Direction.FORWARD, bits=bits + 16)
    with working_precision(bits + 16):
        scale = to_arb(hinge.scale)
        return PoissonProfile(
            Ball.from_arb(scale * value.arb() / n, bits),
            Ball.from_arb(scale * to_arb(poisson_error(ratio)), bits),
            jumps,
            n,
            way,
        )


def _last_count(rate: Fraction, bits: int) -> int:
    """A count beyond which a Poisson variable of this mean has less than about ``2^-bits``."""
    mean, last = float(rate), 2
    while last <= mean or mean - last + last * math.log(last / mean) < 0.7 * bits:
        last += max(1, last // 16)
    return last


def _poisson_masses(mean: flint.arb, last: int) -> list[flint.arb]:
    masses = [(-mean).exp()]
    for count in range(1, last + 1):
        masses.append(masses[-1] * mean / count)
    return masses


def _poisson_tail(mean: flint.arb, last: int) -> flint.arb:
    """The probability of more than ``last``, at most the first term left out over one minus the ratio of terms."""
    first = (-mean + mean.log() * (last + 1) - flint.arb(last + 2).lgamma()).exp()
    ratio = mean / (last + 2)
    return first / (1 - ratio)
