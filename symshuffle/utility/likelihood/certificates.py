r"""Finite-n bounds on the privacy curve of a canonical pair from a few moments, both ways.

Write :math:`X=L_n-1`, of mean 0 and variance :math:`\sigma^2=\chi^2/n`. Forward,
:math:`\delta=E(X-c)_+` with :math:`c=e^\varepsilon-1`; reverse, :math:`\delta=e^\varepsilon E(-X-a)_+` with
:math:`a=1-e^{-\varepsilon}`. Both are expectations of one hinge, so each bound is written once, for a hinge:

=============  ==========================================  =====================================================
form           bound on :math:`E(X-c)_+`                   uses
=============  ==========================================  =====================================================
elementary     :math:`\sigma^2/c`                          :math:`x-c\le x^2/c` beyond c (alphabets, Theorem 6.2 (v))
quarter        :math:`\sigma^2/(4c)`                       :math:`(x-2c)^2\ge0`: four times smaller
two-moment     :math:`(\sqrt{\sigma^2+c^2}-c)/2`           the best from mean and variance (Scarf); finite at c = 0
range          three cases                                 the best from mean, variance and range
=============  ==========================================  =====================================================

From below, on a range :math:`[-A,B]`, :math:`(x-c)_+\ge(x+A)(x-c)/(A+B)` gives :math:`(\sigma^2-cA)/(A+B)`; this too is
the best from these data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.bounds.evaluate import check_n
from symshuffle.base.choices import CertificateForm, Direction, choice
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_target, takes_eps0
from symshuffle.base.numbers import Ball, Number, Verdict, enclose, less, upper_end, working_precision
from symshuffle.utility.likelihood.extremes import check_attainable, read_cap

_BITS: Final = 128


@final
@dataclass(frozen=True, slots=True)
class Hinge:
    r"""The privacy curve at one level as ``scale * E(U - kink)_+`` for a variable ``U`` of mean 0.

    - ``scale``, ``kink``: ``1`` and ``exp(eps) - 1`` forward, with ``U = L - 1``; ``exp(eps)`` and ``1 - exp(-eps)``
      reverse, with ``U = 1 - L``.
    """

    scale: Any
    kink: Any

    @classmethod
    def of(cls, direction: Direction | str, *, exp_eps: object = None, eps: object = None) -> Hinge:
        """The hinge of a direction and a level."""
        way = choice(Direction, direction, "direction")
        target = read_target(eps=eps, exp_eps=exp_eps)
        order: Any = target if isinstance(target, Fraction) else enclose(target)
        return cls(Fraction(1), order - 1) if way is Direction.FORWARD else cls(order, 1 - 1 / order)


@takes_eps0()
def hinge_range(direction: Direction | str, lam: Any) -> tuple[Any, Any]:
    """How far below and above 0 the variable of the hinge reaches under a ratio cap."""
    way, cap = choice(Direction, direction, "direction"), read_cap(lam)
    return (1 - 1 / cap, cap - 1) if way is Direction.FORWARD else (cap - 1, 1 - 1 / cap)


def elementary_bound(variance: Any, kink: Any) -> Any:
    """``variance / kink``."""
    return variance / kink


def quarter_bound(variance: Any, kink: Any) -> Any:
    """``variance / (4 kink)``."""
    return variance / (4 * kink)


def two_moment_bound(variance: Any, kink: Any) -> Any:
    """The supremum of ``E(U - kink)_+`` over all laws of mean 0 and this variance; attained by two atoms."""
    return (square_root(variance + kink * kink) - kink) / 2


def range_bound(variance: Any, kink: Any, below: Any, above: Any) -> Any:
    """The supremum of ``E(U - kink)_+`` over laws of mean 0 and this variance on ``[-below, above]``.

    Two atoms attain it: around the kink where both fit; else one at the end that is in the way. Rationals only, except
    that the middle case is a ball.
    """
    if kink >= above:
        return Fraction(0)
    if variance > below * below + 2 * kink * below:
        return below * (variance - kink * below) / (below * below + variance)
    if variance > above * above - 2 * kink * above:
        return variance * (above - kink) / (variance + above * above)
    return two_moment_bound(variance, kink)


_BOUNDS: Final = {
    CertificateForm.ELEMENTARY: elementary_bound,
    CertificateForm.QUARTER: quarter_bound,
    CertificateForm.TWO_MOMENT: two_moment_bound,
}


@takes_eps0()
def chi_square_certificate(
    chi_square: Number,
    n: int,
    *,
    exp_eps: object = None,
    eps: object = None,
    direction: Direction | str,
    form: CertificateForm | str = CertificateForm.TWO_MOMENT,
    lam: Fraction | None = None,
) -> Number:
    r"""An upper bound on one direction of the privacy curve of every canonical pair of this chi-square.

    - ``chi_square``: :math:`\chi^2(W_b\Vert W_a)`, at least 0.
    - ``exp_eps``, ``eps``: level; above 0 for the forms ``elementary`` and ``quarter``.
    - ``form``: see the table of the module; each is at most the one before it.
    - ``lam``: ratio cap, for the form ``range``.
    - returned: exact where the form is rational, else a ball. It bounds the canonical pair only, not other
      backgrounds.

    Examples
    --------
    >>> chi_square_certificate(Fraction(4, 3), 10, exp_eps=2, direction="forward", form="quarter")
    Fraction(1, 30)

    alphabets, Theorem 6.2 (v) and Corollary 6.6, with better constants.
    """
    n = check_n(n)
    form = choice(CertificateForm, form, "form")
    if isinstance(chi_square, float) or less(chi_square, 0) is Verdict.TRUE:
        raise InputError("chi_square", chi_square, "a rational or a ball of at least 0")
    hinge = Hinge.of(direction, exp_eps=exp_eps, eps=eps)
    variance: Any = chi_square / Fraction(n)
    if form in (CertificateForm.ELEMENTARY, CertificateForm.QUARTER) and less(0, hinge.kink) is Verdict.FALSE:
        raise InputError("eps", 0, f"a level above 0 for the form {form} (two-moment takes 0)")
    if form is CertificateForm.RANGE:
        if lam is None:
            raise InputError("lam", None, "the ratio cap, for the form range")
        check_attainable(chi_square, lam)
        below, above = hinge_range(direction, lam)
        if not all(isinstance(x, Fraction) for x in (variance, hinge.kink, below, above)):
            raise InputError("form", form, "rational chi_square, exp_eps and lam (cases are told apart exactly)")
        found: Number = hinge.scale * range_bound(variance, hinge.kink, below, above)
        return found
    bound = _BOUNDS[form]
    result: Number = hinge.scale * bound(variance, hinge.kink)
    return result


def canonical_certificate(eta: Number, n: int, *, exp_eps: object = None, eps: object = None) -> Number:
    r"""A bound on both directions for all canonical pairs of a channel with :math:`\chi_*\le\eta`.

    The larger two-moment bound, which is the reverse one (alphabets, Corollary 6.6, sharpened). It says nothing about
    datasets with mixed backgrounds.
    """
    both = [chi_square_certificate(eta, n, exp_eps=exp_eps, eps=eps, direction=direction) for direction in Direction]
    return max(both, key=upper_end)


def square_root(value: Any) -> Any:
    """The square root of a rational or a ball, rational where it is; of a SymPy expression, SymPy's."""
    if isinstance(value, int | Fraction):
        exact = Fraction(value)
        top, bottom = math.isqrt(exact.numerator), math.isqrt(exact.denominator)
        if top * top == exact.numerator and bottom * bottom == exact.denominator:
            return Fraction(top, bottom)
        value = enclose(exact, _BITS)
    if isinstance(value, Ball):
        with working_precision(value.bits + 16):
            return Ball.from_arb(value.arb().nonnegative_part().sqrt(), value.bits)
    import sympy as sp

    return sp.sqrt(value)
