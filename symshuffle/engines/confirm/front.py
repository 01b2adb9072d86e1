"""Which of the two routes recomputes H(n), and with how many digits.

Evidence: what either route leaves out has a proved bound. That the guard digits of mpmath cover its rounding is
assumed, so that the error shown is an estimate and no bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.choices import Direction, Relation, Route, choice
from symshuffle.base.errors import InputError, Unsupported, check_kind
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import Exp, Real, Verdict, as_integer, less
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.confirm.inversion import by_inversion
from symshuffle.engines.confirm.sums import by_sums, number_of_terms
from symshuffle.engines.confirm.transform import (
    MpmathLaw,
    laplace_null_transform,
    laplace_transform,
    one_user,
    saddle,
    transform,
)

LEAST_DIGITS: Final = 6
"""Digits of a bracket of the usual width 1e-6; fewer do not count as a confirmation."""

_SUMS: Final = "mpmath, sum over the counts of the atoms with binomial tails for pairs of them"
_INVERSION: Final = "mpmath, Gauss-Legendre panels on two lines of the inversion integral"


_LINE_DIGITS: Final = 14
"""Digits aimed at where the line never ends; each further one needs a line three times as long."""

_MOST_USERS: Final = 10**15
_MOST_DIGITS: Final = 100_000


@final
@dataclass(frozen=True, slots=True)
class Confirmation:
    """A value recomputed at high precision.

    - ``value``: decimal string, of as many digits as ``error`` leaves.
    - ``error``: estimate of the absolute error, rounding of the string included. Of a sum over counts it is a bound,
      if mpmath rounds as it says; of an inversion it is none: the quadrature error in it is the difference of two
      computations.
    """

    value: str
    digits: int
    error: str
    route: str

    @property
    def exactly(self) -> Fraction:
        """The decimal string as a rational."""
        return Fraction(self.value)

    def inside(self, bracket: Bracket) -> bool:
        """Whether the value lies in a bracket, its own error granted."""
        error = Fraction(self.error)
        return bracket.lower - error <= self.exactly <= bracket.upper + error


def recompute(law: Law, n: int, *, digits: int = 50, route: Route = "auto", least: int = LEAST_DIGITS) -> Confirmation:
    """Value of H(n) recomputed in mpmath, to up to ``digits`` significant digits.

    H(n) is :math:`E[(S_n/n)_+]` plus the singular mass, for S_n a sum of n independent copies of G. The sum over
    counts, and the inversion of a law on a coarse lattice, give all digits. The inversion of any other law gives fewer,
    because the integral has to be truncated: some 6 to 10 at n = 10^3, up to 14 at large n.

    Parameters
    ----------
    law : Law
        The law of G; of a ball the midpoint is used, and its radius counts as an error.
    n : int
        Number of users, at least 1.
    digits : int
        Significant digits aimed at, at least 1.
    route : {"auto", "sums", "inversion"}
        Method of computation; ``auto`` chooses by cost.
    least : int
        If fewer digits than this can be had, the request is refused; at least 1.

    Returns
    -------
    Confirmation
        The value as a decimal string, the number of digits meant to be right, and an estimate of the error, which is no
        bound.

    Raises
    ------
    InputError
        If the weights of the law are no probabilities, the sign of its largest value is open, or ``n``, ``digits`` or
        ``least`` is no integer of at least 1.
    Unsupported
        If fewer than ``least`` digits can be had at a reasonable cost.

    Examples
    --------
    >>> law = Law((Fraction(1), Fraction(-2)), (Fraction(1, 3), Fraction(2, 3)))
    >>> recompute(law, 4, digits=20).value
    '0.037037037037037037037'
    """
    check_kind(law, Law, "law", "a law of G, as Law(values, weights)")
    route, n = choice(Route, route, "route"), as_integer(n, "n", 1, _MOST_USERS)
    digits, least = as_integer(digits, "digits", 1, _MOST_DIGITS), as_integer(least, "least", 1)
    if law.never_positive:
        return _from_transform(transform(law, n, digits=digits), Fraction(0), Fraction(0), digits, least, _SUMS)
    read = transform(law, n, digits=digits)
    if read.atoms[0][0] <= 0:
        raise InputError("law", "a ball around 0 as largest value", "a largest value of known sign (raise bits)")
    return _dispatch(read, n, digits, route, least)


@takes_eps0()
def recompute_laplace(
    lam: Real,
    exp_eps: Real,
    n: int,
    *,
    adjacency: Relation = "replace-one",
    direction: Direction = "forward",
    digits: int = _LINE_DIGITS,
    least: int = LEAST_DIGITS,
) -> Confirmation:
    """Recompute H(n) of Laplace noise from its densities, by quadrature over the outputs inside the inversion.

    - ``adjacency``: the two ends of the interval are compared, or one end with the null symbol of the blanket's law.
    - ``direction``: forward, the first dataset holds the end that is compared; of two ends both directions agree.
    """
    n = as_integer(n, "n", 1)
    digits, least = as_integer(digits, "digits", 1), as_integer(least, "least", 1)
    removed = choice(Relation, adjacency, "adjacency") == "zero-out"
    reverse = choice(Direction, direction, "direction") == "reverse"
    squared = Exp(2 * exp_eps.exponent) if isinstance(exp_eps, Exp) else exp_eps * exp_eps
    if less(squared if removed else exp_eps, lam) is Verdict.FALSE:
        return Confirmation("0", digits, "0", "G is never positive")
    if removed:
        law = laplace_null_transform(lam, exp_eps, n, digits=digits, reverse=reverse)
    else:
        law = laplace_transform(lam, exp_eps, n, digits=digits)
    if n == 1:
        evaluation = "mpmath, tanh-sinh quadrature of (f0 - x f1)_+ over the outputs"
        return _from_transform(law, one_user(law), 0, digits, least, evaluation)
    return _dispatch(law, n, digits, "inversion", least)


def _dispatch(
    law: MpmathLaw, n: int, digits: int, route: Route, least: int, *, quick_sum: int = 30_000
) -> Confirmation:
    terms = number_of_terms(law, n, digits=digits) if route != "inversion" else math.inf
    if route == "sums" or terms <= quick_sum:
        return _by_sums(law, n, digits, least)
    try:
        aim = digits if law.lattice is not None else min(digits, _LINE_DIGITS)
        value, error, where = by_inversion(law, n, digits=aim)
        return _from_transform(law, value, error, aim, least, f"{_INVERSION}: {where}")
    except Unsupported:
        if not math.isfinite(terms):
            raise
        return _by_sums(law, n, digits, least)


def _by_sums(law: MpmathLaw, n: int, digits: int, least: int) -> Confirmation:
    value, error = by_sums(law, n, digits=digits)
    return _from_transform(law, value, error + value * law.noise(n, saddle(law.atoms, n)), digits, least, _SUMS)


def _from_transform(law: MpmathLaw, value: Any, error: Any, aim: int, least: int, route: str) -> Confirmation:
    """The singular mass added, and no digit shown that the error denies."""
    context = law.context
    total, error = law.singular + value, abs(error) + value * context.mpf(10) ** -(aim + 5)
    lost = context.log10(error / abs(total)) if error and total else -context.inf
    digits = aim if lost <= -aim - 1 else math.floor(-lost)
    if digits < least:
        raise Unsupported(
            f"confirmation: {max(digits, 0)} digits can be had at a reasonable cost, fewer than {least} confirm nothing"
        )
    shown = context.nstr(total, digits, strip_zeros=False)
    rounding = abs(total) * context.mpf(10) ** (1 - digits)
    return Confirmation(shown, digits, context.nstr(error + rounding, 3), route)
