"""Quotients of polynomials in the root of the ratio cap, over the rationals: closed forms as functions of ``lam``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import flint

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp, Real
from symshuffle.decompositions.calculated import LARGEST_COMPARED, compiled
from symshuffle.mechanisms.definitions import Infinite


@final
@dataclass(frozen=True, slots=True, init=False)
class CapQuotient:
    """A quotient in lowest terms, the denominator with leading coefficient 1; equal ones compare equal.

    - ``above``, ``below``: coefficients, the constant first, in ``t`` with ``lam = t^2``.
    """

    above: tuple[Any, ...]
    below: tuple[Any, ...]

    def __init__(self, above: Any, below: Any = 1) -> None:
        one, other = flint.fmpq_poly(above), flint.fmpq_poly(below)
        if not other.coeffs():
            raise ZeroDivisionError("a quotient by 0")
        common = one.gcd(other) * other.coeffs()[-1]
        object.__setattr__(self, "above", tuple(divmod(one, common)[0].coeffs()))
        object.__setattr__(self, "below", tuple(divmod(other, common)[0].coeffs()))

    def __hash__(self) -> int:
        return hash(str((self.above, self.below)))

    @property
    def polynomials(self) -> tuple[Any, Any]:
        """Numerator and denominator."""
        return flint.fmpq_poly(list(self.above)), flint.fmpq_poly(list(self.below))

    @classmethod
    def of(cls, value: CapQuotient | flint.fmpq | Fraction | int) -> CapQuotient:
        """A number as a quotient."""
        if isinstance(value, CapQuotient):
            return value
        return cls([value if isinstance(value, flint.fmpq) else flint.fmpq(*value.as_integer_ratio())])

    def __neg__(self) -> CapQuotient:
        one, other = self.polynomials
        return CapQuotient(-one, other)

    def __add__(self, other: CapQuotient | Fraction | int) -> CapQuotient:
        (a, b), (c, d) = self.polynomials, CapQuotient.of(other).polynomials
        return CapQuotient(a * d + c * b, b * d)

    __radd__ = __add__

    def __sub__(self, other: CapQuotient | Fraction | int) -> CapQuotient:
        return self + -CapQuotient.of(other)

    def __rsub__(self, other: Fraction | int) -> CapQuotient:
        return CapQuotient.of(other) - self

    def __mul__(self, other: CapQuotient | Fraction | int) -> CapQuotient:
        (a, b), (c, d) = self.polynomials, CapQuotient.of(other).polynomials
        return CapQuotient(a * c, b * d)

    __rmul__ = __mul__

    def __truediv__(self, other: CapQuotient | Fraction | int) -> CapQuotient:
        (a, b), (c, d) = self.polynomials, CapQuotient.of(other).polynomials
        return CapQuotient(a * d, b * c)

    def __rtruediv__(self, other: Fraction | int) -> CapQuotient:
        return CapQuotient.of(other) / self

    def __pow__(self, exponent: CapQuotient | Fraction | int | Infinite) -> CapQuotient:
        if exponent == Fraction(1, 2):
            return _root(self)
        if isinstance(exponent, Infinite):
            return CapQuotient([0])
        power = CapQuotient.of(exponent).whole
        if abs(power) > LARGEST_COMPARED:
            raise Unsupported(f"a power is above {LARGEST_COMPARED}, so that its polynomial is too long")
        one, other = self.polynomials
        return CapQuotient(one**power, other**power) if power >= 0 else CapQuotient(other**-power, one**-power)

    @property
    def whole(self) -> int:
        """The integer that it is."""
        if len(self.above) > 1 or self.below != (1,) or (self.above and self.above[0].q != 1):
            raise Unsupported("an exponent is no integer")
        return int(self.above[0].p) if self.above else 0

    @property
    def text(self) -> str:
        """It as a text of closed forms."""
        one, other = (
            shown if shown.isalnum() else f"({shown})" for shown in map(_polynomial, (self.above, self.below))
        )
        return _polynomial(self.above) if other == "1" else f"{one}/{other}"

    @property
    def falls(self) -> bool:
        """Whether it certainly falls from ``lam = 1`` on: its derivative has no positive coefficient in ``t - 1``."""
        one, other = self.polynomials
        slope = one * other.derivative() - one.derivative() * other
        return all(coefficient >= 0 for coefficient in slope(flint.fmpq_poly([1, 1])).coeffs())


def _polynomial(coefficients: tuple[Any, ...]) -> str:
    terms = []
    for power, number in enumerate(coefficients):
        if number != 0:
            half, odd = divmod(power, 2)
            factors = [f"lam**{half}" if half > 1 else "lam"] * (half > 0) + ["sqrt(lam)"] * odd
            whole = number.q == 1 and number > 0
            shown = [str(number.p) if whole else f"({number.p}/{number.q})"] * (number != 1 or not factors)
            terms.append("*".join([*shown, *factors]))
    return " + ".join(terms) or "0"


def _root(value: CapQuotient) -> CapQuotient:
    if value != CapQuotient([0, 0, 1]):
        raise Unsupported("roots are known of the ratio cap only")
    return CapQuotient([0, 1])


def quotient_of(text: str, values: Mapping[str, Fraction | int]) -> CapQuotient:
    """The function of ``lam`` that a text denotes, all other names having rational values.

    Examples
    --------
    >>> quotient_of("lam/(lam + k - 1)", {"k": 3}) == quotient_of("1 - 2/(2 + lam)", {})
    True
    >>> quotient_of("(lam - 1)**2/(lam - sqrt(lam))", {}).text
    '((-1/1) + (-1/1)*sqrt(lam) + lam + lam*sqrt(lam))/(sqrt(lam))'
    """
    rationals = {name: Fraction(value) for name, value in values.items()}
    numbers = {name: CapQuotient([flint.fmpq(v.numerator, v.denominator)]) for name, v in rationals.items()}
    known = numbers | {"lam": CapQuotient([0, 0, 1])}
    found = compiled(text, tuple(known), lambda whole: CapQuotient([whole]), _root)(*known.values())
    return found if isinstance(found, CapQuotient) else CapQuotient([found])


def level_between(one: CapQuotient, other: CapQuotient, lam: Real, level: Real) -> bool:
    """Whether ``one`` is ``other`` times a level, at a value of ``lam``: decided, unless ``lam`` is a square.

    The root of an exponential is transcendental: two polynomials in it with rational coefficients are the same one, or
    differ. Of a rational ``lam`` its root has degree 2.

    Examples
    --------
    >>> from symshuffle.base.numbers import Exp
    >>> root, unit = quotient_of("sqrt(lam)", {}), quotient_of("1", {})
    >>> [level_between(root, unit, Exp(Fraction(1)), Exp(eps)) for eps in (Fraction(1, 2), Fraction(1, 3))]
    [True, False]
    """
    (a, b), (c, d) = one.polynomials, other.polynomials
    left, right = a * d, c * b
    if isinstance(lam, Fraction):
        of_root = flint.fmpq_poly([flint.fmpq(-lam.numerator, lam.denominator), 0, 1])
        left, right = left % of_root, right % of_root
    if not left or not right:
        return not left and not right
    if isinstance(level, Fraction):
        return bool(left == right * flint.fmpq(level.numerator, level.denominator))
    power = left.degree() - right.degree()
    return isinstance(lam, Exp) and power * lam.exponent == 2 * level.exponent and bool(left == right.left_shift(power))
