r"""The cardioid design for every number of readings in closed form: arcs, and how long they are.

For a subset of ``s`` of the ``m`` points of the circle the best action earns :math:`|\sum_{x\in y}e^{2\pi ix/m}|`,
which is largest for an arc, where it is :math:`Z_s=\sin(\pi s/m)/\sin(\pi/m)`: the projections of the points on the
direction of the sum are largest for the points nearest to it. Rotating the arc of the best size over the circle gives
the smallest Bayes risk over all LDP channels,

.. math:: 1-\frac\gamma2\max_{1\le s<m}\frac{(\lambda-1)Z_s}{s\lambda+m-s},

by the bound of one weight per subset (ldp_tradeoff, Remark 3.11): every channel is a mixture of staircase columns, a
column of ``s`` high entries has total mass :math:`s\lambda+m-s` for its weight, and the masses sum to ``m``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import Ball, Exp, Real, Verdict, as_integer, less, to_arb, working_precision
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd
from symshuffle.design.widths import REL, check_rel

LARGEST_CIRCLE: Final = 10**15

_PRECISIONS: Final = (128, 256, 512, 1024, 2048)


@final
@dataclass(frozen=True, slots=True, repr=False)
class CardioidDesign(AnswerMethods):
    """The smallest Bayes risk of the cardioid model, and the arcs that attain it; the safe end is the upper one.

    Parameters
    ----------
    bracket : Bracket
        The risk.
    m : int
        Number of readings.
    gamma : Fraction
        Concentration, in (0, 1].
    lam : Fraction or Exp
        Local ratio cap.
    sizes : tuple of int
        Lengths of the best arcs: one, or two that tie.
    """

    bracket: Bracket
    m: int
    gamma: Fraction
    lam: Real
    sizes: tuple[int, ...]

    @property
    def about(self) -> str:
        """What the number is the smallest of."""
        return f"smallest Bayes risk over all LDP channels, cardioid model of {self.m} readings at lam = {self.lam}"

    @property
    def safe(self) -> SafeEnd:
        """The upper end: an arc rotated over the circle attains it."""
        return SafeEnd.UPPER

    def to_dict(self) -> dict[str, Any]:
        """The answer with the lengths of the best arcs."""
        return AnswerMethods.to_dict(self) | {"sizes": list(self.sizes)}


@takes_eps0()
def cardioid_design(m: int, gamma: Fraction | int, lam: Fraction | int | Exp, *, rel: float = REL) -> CardioidDesign:
    r"""The optimal design of the cardioid model for any number of readings, in closed form.

    Parameters
    ----------
    m : int
        Number of readings, from 3 to 10^15.
    gamma : Fraction
        Concentration, in (0, 1].
    lam : Fraction, int or Exp
        ``exp(eps0)``, above 1.
    rel : float
        Relative width of the bracket.

    Raises
    ------
    NotDecided
        If two lengths cannot be told apart at 2048 bits, although no tie is rational (see :func:`cardioid_tie`).

    Examples
    --------
    >>> found = cardioid_design(12, 1, 3)
    >>> found.sizes, f"{float(found):.10f}"
    ((5,), '0.8303613269')
    """
    m = _check(m)
    if isinstance(gamma, float) or not 0 < gamma <= 1:
        raise InputError("gamma", gamma, "a rational in (0, 1]")
    if isinstance(lam, float) or less(1, lam) is not Verdict.TRUE:
        raise InputError("lam", lam, "a Fraction or an Exp above 1")
    check_rel(rel)
    level: Real = lam if isinstance(lam, Exp) else Fraction(lam)
    share = Fraction(gamma)
    sizes = _best_sizes(m, level)
    for bits in _PRECISIONS:
        with working_precision(bits):
            ratio = to_arb(level)
            gain = (ratio - 1) * _earned(sizes[0], m) / (sizes[0] * ratio + m - sizes[0])
            ball = Ball.from_arb(1 - to_arb(share / 2) * gain, bits)
        if ball.upper - ball.lower <= Fraction(rel) * ball.upper:
            break
    how = f"arcs of length {' and '.join(map(str, sizes))}, rotated over the circle; closed form, {bits} bits"
    aimed = None if ball.upper - ball.lower <= Fraction(rel) * ball.upper else rel
    bracket = Bracket(ball.lower, ball.upper, Rigour.BALL, "closed form", how, aimed)
    return CardioidDesign(bracket, m, share, level, sizes)


def cardioid_tie(m: int, s: int, *, bits: int = _PRECISIONS[0]) -> Ball:
    r"""The level :math:`\lambda_s` at which arcs of lengths ``s`` and ``s + 1`` tie; longer ones are better below it.

    .. math:: \lambda_s=\frac{(m-s)Z_{s+1}-(m-s-1)Z_s}{(s+1)Z_s-sZ_{s+1}},\qquad Z_s=\frac{\sin(\pi s/m)}{\sin(\pi/m)}.

    Examples
    --------
    >>> f"{float(cardioid_tie(6, 1)):.4f}"
    '17.3923'
    """
    m = _check(m)
    s = as_integer(s, "s", 1, m - 2)
    with working_precision(bits):
        return Ball.from_arb(_tie(m, s), bits)


def _check(m: int) -> int:
    return as_integer(m, "m", 3, LARGEST_CIRCLE)


def _tie(m: int, s: int) -> flint.arb:
    shorter, longer = _earned(s, m), _earned(s + 1, m)
    return ((m - s) * longer - (m - s - 1) * shorter) / ((s + 1) * shorter - s * longer)


def _earned(s: int, m: int) -> flint.arb:
    return flint.arb.sin_pi_fmpq(flint.fmpq(s, m)) / flint.arb.sin_pi_fmpq(flint.fmpq(1, m))


def _best_sizes(m: int, lam: Real) -> tuple[int, ...]:
    """The best lengths, by bisection: a strictly concave function over an affine one rises, ties once, and falls."""
    low, high = 1, m - 1  # the first length that is at least as good as the next one
    tied = False
    while low < high:
        middle = (low + high) // 2
        sign = _compare(m, middle, lam)
        if sign == 0:
            low, tied = middle, True
            break
        low, high = (low, middle) if sign > 0 else (middle + 1, high)
    return (low, low + 1) if tied else (low,)


def _compare(m: int, s: int, lam: Real) -> int:
    """Whether ``lam`` is above (1), at (0) or below (-1) the tie of lengths ``s`` and ``s + 1``."""
    if 2 * s + 1 == m:
        return 1  # the two arcs earn the same, and the shorter one costs less
    for bits in _PRECISIONS:
        with working_precision(bits):
            tie = Ball.from_arb(_tie(m, s), bits)
        if less(tie, lam) is Verdict.TRUE:
            return 1
        if less(lam, tie) is Verdict.TRUE:
            return -1
    if not isinstance(lam, Exp) and _is_tie(m, s, Fraction(lam)):
        return 0
    raise NotDecided(f"lengths {s} and {s + 1} of m = {m} are not told apart at lam = {lam} with {bits} bits")


def _is_tie(m: int, s: int, lam: Fraction) -> bool:
    """Whether two lengths tie at a rational level, decided in the field of the cosines."""
    from symshuffle.design.named.cardioid import cosine, cosine_field
    from symshuffle.design.parametric.signs import sign_in_field

    domain = cosine_field(m)

    def earned(size: int) -> Any:
        # Z_s is the sum of cos(pi j/m) over j = -(s - 1), -(s - 3), ..., s - 1.
        return sum((cosine(abs(2 * i - size + 1), m, domain) for i in range(size)), start=domain.zero)

    def scaled(value: Fraction) -> Any:
        return domain(value.numerator) / domain(value.denominator)

    shorter = earned(s) * scaled((s + 1) * lam + m - s - 1)
    return bool(sign_in_field(shorter - earned(s + 1) * scaled(s * lam + m - s), domain) == 0)
