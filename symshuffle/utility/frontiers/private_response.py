r"""Thinned k-ary response priced by its exact delta: what the chi-square budget stands for at finite ``n``.

The paper holds the pairwise chi-square divergence fixed, a surrogate for privacy that is exact only in the Gaussian
limit. Here the canonical pair of datasets has to meet ``(eps, delta)`` after shuffling, both ways. Erasing a symbol, or
replacing it by a random one, is post-processing of each message: delta grows with the share at every ratio, and with
the ratio at share 1. So for each ratio the largest admissible share is found by bisection, and its delta is certified
again in balls. The search over ratios is a search: its answer is private and its risk exact, but it may not be best.

Only the canonical pair is priced. For ``k >= 3`` a background of third inputs shows more (claim
``symshuffle.alphabets-third-background``), so this is no guarantee for all datasets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.choices import Direction, Population, Rigour, choice
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.utility.estimation.canonical import check_users, isotropic_risk
from symshuffle.utility.frontiers.caps import check_cap, check_inputs
from symshuffle.utility.frontiers.envelope import Contamination, shuffled_leakage

SHARES: Final = 1 << 8
"""Shares are multiples of its reciprocal."""

_RATIO_BITS: Final = 8
_FACTORS: Final = (Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3))


@final
@dataclass(frozen=True, slots=True)
class PricedResponse:
    """A thinned k-ary response that meets a target for the canonical pair.

    Parameters
    ----------
    k, n : int
        Numbers of inputs and users.
    gamma, target : Fraction
        The order ``exp(eps)`` and the delta to be met.
    lam : Fraction
        Ratio of the response.
    share : Fraction
        Share of the users' messages that are not null.
    bracket : Bracket
        Delta of the canonical pair, the larger of both directions, in balls; at most the target.
    """

    k: int
    n: int
    gamma: Fraction
    target: Fraction
    lam: Fraction
    share: Fraction
    bracket: Bracket

    @property
    def about(self) -> str:
        """What the number is."""
        return (
            f"delta at exp(eps) = {self.gamma} of the canonical pair of {self.n} users, both directions, for "
            f"{self.k}-ary response at ratio {self.lam} with share {self.share}"
        )

    @property
    def how(self) -> str:
        """How it is known."""
        return self.bracket.how

    @property
    def signal(self) -> Fraction:
        r"""Signal coefficient :math:`\zeta\big(\frac{C-1}{C+k-1}\big)^2`."""
        return self.share * ((self.lam - 1) / (self.lam + self.k - 1)) ** 2

    @property
    def budget(self) -> Fraction:
        """Pairwise chi-square divergence."""
        return self.share * (self.lam - 1) ** 2 * (self.lam + 1) / (self.lam * (self.lam + self.k - 1))

    def risk(self, population: Population | str) -> Fraction:
        """The worst canonical risk."""
        population = choice(Population, population, "population")
        return Fraction(isotropic_risk(self.k, self.k * (self.k - 1) * self.signal, population=population)) / self.n

    def __float__(self) -> float:
        value = float(self.bracket.upper)
        return value if Fraction(value) >= self.bracket.upper else float(self.bracket.upper * (1 + Fraction(1, 10**15)))

    def __repr__(self) -> str:
        return f"PricedResponse(k={self.k}, n={self.n}, lam={self.lam}, share={self.share}, delta {self.bracket})"

    def _repr_html_(self) -> str:
        return f"<p>{self.about}</p>{self.bracket._repr_html_()}"

    def verify(self) -> None:
        """Compute delta again in balls; raises if it is above the target or outside the bracket."""
        found = canonical_delta(self.k, self.n, lam=self.lam, share=self.share, gamma=self.gamma, rigour=Rigour.BALL)
        if found.lower > self.bracket.upper or found.upper < self.bracket.lower:
            raise CertificateError("bracket", f"{self.bracket} is no enclosure of {found}")
        if self.bracket.upper > self.target:  # which is not below what was found
            raise CertificateError("delta", f"{float(self.bracket.upper)} is above the target {float(self.target)}")

    def to_dict(self) -> dict[str, Any]:
        """The answer, ready for JSON; rationals are strings."""
        exact = {name: str(getattr(self, name)) for name in ("gamma", "target", "lam", "share", "signal", "budget")}
        return {"about": self.about, "how": self.how, "k": self.k, "n": self.n, **exact, **self.bracket.decimals()}


def response_ratios(k: int, lam: Fraction, share: Fraction) -> Law:
    """The law of the likelihood ratio of two inputs of thinned k-ary response: atoms ``1/lam``, ``1`` and ``lam``."""
    total = lam + k - 1
    return Law.from_atoms(
        [(1 / lam, share * lam / total), (lam, share / total), (Fraction(1), 1 - share * (lam + 1) / total)]
    )


def canonical_delta(
    k: int,
    n: int,
    *,
    lam: Fraction,
    share: Fraction,
    gamma: Fraction,
    rigour: Rigour | str = Rigour.BALL,
    rel: float = 1e-6,
) -> Bracket:
    """Delta of the canonical pair of thinned k-ary response at order ``gamma``, the larger of both directions."""
    rigour = choice(Rigour, rigour, "rigour")
    k = check_inputs(k)
    n = check_users(n)
    check_cap(lam)
    if not 0 < share <= 1:
        raise InputError("share", share, "a number in (0, 1]")
    ratios = response_ratios(k, Fraction(lam), Fraction(share))
    ends = [
        shuffled_leakage(ratios, Contamination(n, direction), gamma=gamma, rigour=rigour, rel=rel).bracket
        for direction in Direction
    ]
    upper = max(ends, key=lambda bracket: bracket.upper)
    return Bracket(max(end.lower for end in ends), upper.upper, upper.rigour, upper.engine, upper.how)


def plain_response(k: int, n: int, *, gamma: Fraction, delta: Fraction) -> PricedResponse:
    """K-ary randomized response at the largest ratio, up to ``2**-8``, that meets the target for the canonical pair.

    Raises
    ------
    InputError
        If ``delta`` is not in (0, 1), or ``gamma`` is below 1.
    """
    _check_target(gamma, delta)
    unit = 1 << _RATIO_BITS

    def meets(scaled: int) -> bool:
        return _meets(k, n, Fraction(scaled, unit), Fraction(1), gamma, delta)

    low, high = unit, 2 * unit
    while meets(high) and high < unit << 40:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    while low > unit:
        found = _priced(k, n, Fraction(low, unit), Fraction(1), gamma, delta)
        if found is not None:
            return found
        low -= 1
    raise InputError("delta", float(delta), f"a larger one: no ratio of at least 1 + 1/{unit} meets it")


def thinned_response(
    k: int, n: int, *, gamma: Fraction, delta: Fraction, ratios: Sequence[Fraction] | None = None
) -> PricedResponse:
    """The response of smallest risk among some ratios, each with its largest share, that meets the target.

    Parameters
    ----------
    k, n : int
        Numbers of inputs, at least 3, and of users.
    gamma : Fraction
        ``exp(eps)``, at least 1.
    delta : Fraction
        Target in (0, 1), for the canonical pair in both directions.
    ratios : sequence of Fraction, optional
        Ratios to try beside that of :func:`plain_response`; by default 5/4, 3/2, 2 and 3 times that. Each costs some
        16 evaluations of delta, tenths of a second each for thousands of users.

    Returns
    -------
    PricedResponse
        Certified private for the canonical pair; never worse than :func:`plain_response`.
    """
    k = check_inputs(k, 3)
    plain = plain_response(k, n, gamma=gamma, delta=delta)
    tried = ratios or [plain.lam * factor for factor in _FACTORS]
    best = plain
    for lam in tried:
        check_cap(lam)
        low, high = 0, SHARES + 1
        while high - low > 1:
            middle = (low + high) // 2
            inside = _meets(k, n, Fraction(lam), Fraction(middle, SHARES), gamma, delta)
            low, high = (middle, high) if inside else (low, middle)
        if low:
            found = _priced(k, n, Fraction(lam), Fraction(low, SHARES), gamma, delta)
            if found is not None and found.signal > best.signal:
                best = found
    return best


def _meets(k: int, n: int, lam: Fraction, share: Fraction, gamma: Fraction, delta: Fraction) -> bool:
    """In doubles: where to look. What is returned in the end is certified in balls."""
    return canonical_delta(k, n, lam=lam, share=share, gamma=gamma, rigour=Rigour.FLOAT64).upper <= delta


def _priced(k: int, n: int, lam: Fraction, share: Fraction, gamma: Fraction, delta: Fraction) -> PricedResponse | None:
    bracket = canonical_delta(k, n, lam=lam, share=share, gamma=gamma, rigour=Rigour.BALL)
    return None if bracket.upper > delta else PricedResponse(k, n, gamma, delta, lam, share, bracket)


def _check_target(gamma: Fraction, delta: Fraction) -> None:
    if not isinstance(gamma, Fraction | int) or gamma < 1:
        raise InputError("gamma", gamma, "an exact number of at least 1")
    if not isinstance(delta, Fraction | int) or not 0 < delta < 1:
        raise InputError("delta", delta, "an exact number in (0, 1)")
