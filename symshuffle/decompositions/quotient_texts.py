r"""Closed forms at values of some of their parameters: quotients of polynomials in what stays open, read and written.

The variables are the names that a text leaves open, :math:`\sqrt\lambda` where it occurs, a budget ``exp(q)``, and one
variable for each power with an open exponent, such as ``(lambda + 1)**D``. Everything else is integer arithmetic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp, Real
from symshuffle.decompositions.calculated import compiled, names_in
from symshuffle.mechanisms.definitions import Classes, classes_of

_MOST_VARIABLES: Final = 24

_SAMPLE: Final[Mapping[str, Fraction]] = {
    "lambda": Fraction(49),
    "p": Fraction(1, 3),
    "s": Fraction(5, 4),
    "d": Fraction(5, 4),
    "g": Fraction(11),
}
"""A place inside every range, at which factors are given the sign that they have there."""
_UNSIGNED: Final = ("x", "c")
"""A target ratio and a count, differences with which may have either sign."""

_LARGE: Final = Fraction(64)
"""That of all other names: numbers of inputs, of users."""


def terms_of(polynomial: Any) -> list[tuple[tuple[int, ...], int]]:
    """Powers of the variables, and coefficients."""
    return [(tuple(map(int, powers)), int(coefficient)) for powers, coefficient in polynomial.terms()]


def _spelled(base: str, latex: bool) -> str:
    """A name or the text of a sum, in LaTeX where asked for."""
    if not latex:
        return base
    base = re.sub(r"exp\((.*?)\)", r"e^{\1}", re.sub(r"sqrt\((.*?)\)", r"\\sqrt{\1}", base))
    base = re.sub(r"\*\*(\d+)", r"^{\1}", base)
    return base.replace("*", " ").replace("lambda", r"\lambda")


def _closed(base: str, latex: bool) -> str:
    if " + " not in base and " - " not in base:
        return base
    return rf"\left({base}\right)" if latex else f"({base})"


def _to_power(base: str, exponent: str, latex: bool) -> str:
    base = rf"\left({base}\right)" if latex and base.startswith("e^") else base
    return f"{base}^{{{exponent}}}" if latex else f"{base}**{f'({exponent})' if '*' in exponent else exponent}"


def _product(parts: Sequence[str], latex: bool) -> str:
    if not latex:
        return "*".join(parts)
    return re.sub(r"(?<=\d) (?=\d)", r" \\cdot ", " ".join(parts))


@final
@dataclass(frozen=True, slots=True)
class _Variable:
    """What stands for one variable: ``base**exponent``, or the square root of ``base`` where there is no exponent.

    - ``base``: a name, a number, or the text of a sum.
    - ``sample``: its value at a place inside the range; None where no sign is meant there.
    """

    base: str
    sample: Fraction | None
    root: bool = False
    exponent: str = ""

    def to_power(self, number: int, latex: bool) -> list[str]:
        """The factors of which a power of it consists."""
        base = _spelled(self.base, latex)
        if self.exponent:
            shown = _spelled(self.exponent, latex)
            product = shown if number == 1 else f"{number} {shown}" if latex else f"{number}*{shown}"
            return [_to_power(_closed(base, latex), product, latex)]
        whole, odd = divmod(number, 2) if self.root else (number, 0)
        powers = [] if not whole else [base] if whole == 1 else [_to_power(_closed(base, latex), str(whole), latex)]
        return powers + ([rf"\sqrt{{{base}}}" if latex else f"sqrt({base})"] if odd else [])


class QuotientTexts:
    """Reader and writer of closed forms at some values.

    - ``values``: rational values of parameters by name.
    - ``lam``: the ratio cap; None leaves it open.
    - ``root``: whether square roots of the ratio cap occur.
    - ``longest``: exponents beyond which a power is refused; None for no limit.
    """

    def __init__(
        self, values: Mapping[str, Fraction], lam: Real | None, *, root: bool, longest: int | None = None
    ) -> None:
        self.longest = longest
        self._context = flint.fmpz_mpoly_ctx.get([f"v{i}" for i in range(_MOST_VARIABLES)], "lex")
        self._variables: list[_Variable] = []
        self._square: tuple[int, int] | None = None
        """Number of the variable that is the root of an integer, and that integer."""
        self._known: dict[str, OpenQuotient] = {name: self.number(value) for name, value in values.items()}
        self._root: OpenQuotient | None = None
        if lam is None or isinstance(lam, Exp):
            name = "lambda" if lam is None else str(lam)
            sample = _SAMPLE["lambda"] if lam is None else Fraction(math.exp(lam.exponent / 2)) ** 2
            one = self._variable(_Variable(name, Fraction(math.isqrt(int(sample))) if root else Fraction(sample), root))
            self._root, self._known["lam"] = (one, one * one) if root else (None, one)
        else:
            self._known["lam"] = self.number(lam)
            if root:
                self._root = self._root_of(lam)

    def number(self, value: flint.fmpq | Fraction | int) -> OpenQuotient:
        """A number as a quotient."""
        parts = (value.p, value.q) if isinstance(value, flint.fmpq) else value.as_integer_ratio()
        top, bottom = (self._constant(int(part)) for part in parts)
        return OpenQuotient(self, top, bottom)

    def read(self, text: str) -> OpenQuotient:
        """The quotient that a text denotes.

        Examples
        --------
        >>> reader = QuotientTexts({"k": Fraction(3)}, None, root=False)
        >>> str(reader.read("1 - (lam - 1)/(lam + k - 1)"))
        '3/(lambda + 2)'
        """
        names = {name: self._name(name) for name in names_in(text)}
        return compiled(text, tuple(names), self.number, self.rooted)(*names.values())  # type: ignore[no-any-return]

    def classes(self, name: str, parameters: Sequence[str]) -> Classes:
        """The classes of outputs of a named randomizer, in the parameters that are open."""
        values = {parameter: self._name(parameter) for parameter in parameters}
        return classes_of(name, values)[0]

    def _constant(self, number: int) -> Any:
        return self._context.constant(number)

    def _name(self, name: str) -> OpenQuotient:
        if name not in self._known:
            sample = None if name in _UNSIGNED else _SAMPLE.get(name, _LARGE)
            self._known[name] = self._variable(_Variable(name, sample))
        return self._known[name]

    def _variable(self, one: _Variable) -> OpenQuotient:
        if one not in self._variables:
            if len(self._variables) == _MOST_VARIABLES:
                raise Unsupported("the closed form has too many different powers")
            self._variables.append(one)
        return OpenQuotient(self, self._context.gens()[self._variables.index(one)], self._constant(1))

    def name_of(self, powers: tuple[int, ...]) -> str:
        """The name whose first power this is; empty for no power."""
        place = next((i for i, power in enumerate(powers) if power), None)
        return "" if place is None else self._variables[place].base

    def rooted(self, value: OpenQuotient) -> OpenQuotient:
        """The root of the ratio cap, of which alone there is one."""
        if self._root is None or value != self._known["lam"]:
            raise Unsupported("roots are known of the ratio cap only")
        return self._root

    def _root_of(self, lam: Fraction) -> OpenQuotient:
        product = lam.numerator * lam.denominator
        whole = math.isqrt(product)
        if whole * whole == product:
            return self.number(Fraction(whole, lam.denominator))
        sample = Fraction(math.sqrt(product))
        root = self._variable(_Variable(str(product), sample, root=True))
        self._square = len(self._variables) - 1, product
        return root / self.number(lam.denominator)

    def reduced(self, polynomial: Any) -> tuple[Any, Any]:
        """Parts without and with the root of an integer, of which there is one at most."""
        plain, rooted = self._constant(0), self._constant(0)
        if self._square is None:
            return polynomial, rooted
        place, square = self._square
        for powers, coefficient in terms_of(polynomial):
            number, odd = divmod(powers[place], 2)
            rest = (*powers[:place], 0, *powers[place + 1 :])
            term = self._context.from_dict({rest: coefficient * square**number})
            plain, rooted = (plain, rooted + term) if odd else (plain + term, rooted)
        return plain, rooted

    @property
    def surd(self) -> Any:
        """The variable that is the root of an integer."""
        assert self._square is not None
        return self._context.gens()[self._square[0]]

    def to_power(self, polynomial: Any, exponent: str) -> OpenQuotient:
        """A polynomial to an open power: the product of its factors to this power, each a variable of its own."""
        content, factors = polynomial.factor()
        parts = [(self._oriented(factor), times) for factor, times in factors]
        sign = math.prod(sign**times for (_, sign), times in parts) * int(content)
        if sign <= 0:
            raise Unsupported(
                "a power with an open exponent has a base that may be negative: give the parameters values"
            )
        found = self.number(1)
        if sign != 1:
            found = self._variable(_Variable(str(sign), Fraction(sign) ** int(_LARGE), exponent=exponent))
        for (factor, _), times in parts:
            at, base = self._sample(factor), self._sum(factor, False)
            if at is None:
                raise Unsupported("a power of a target ratio has an open exponent: give the parameters values")
            power = self._variable(_Variable(base, at ** int(_SAMPLE.get(exponent, _LARGE)), exponent=exponent))
            found = found * power**times
        return found

    def _sample(self, polynomial: Any) -> Fraction | None:
        """The value at the place inside the range; None where it depends on the target ratio."""
        total = Fraction(0)
        for powers, coefficient in terms_of(polynomial):
            term = Fraction(coefficient)
            for one, power in zip(self._variables, powers, strict=False):
                if power and one.sample is None:
                    return None
                term *= one.sample**power if power and one.sample is not None else 1
            total += term
        return total

    def _oriented(self, factor: Any) -> tuple[Any, int]:
        """The factor with the sign that is positive on the range, where that is known, and the sign taken away."""
        at = self._sample(factor)
        return (-factor, -1) if at is not None and at < 0 else (factor, 1)

    def _terms(self, polynomial: Any) -> list[tuple[tuple[int, ...], int]]:
        """The terms in the order in which they are written: positive ones first, then by the names of variables."""
        order = self._order
        terms = terms_of(polynomial)
        terms.sort(key=lambda term: (term[1] < 0, [-term[0][i] for i in order]))
        return terms

    @property
    def _order(self) -> list[int]:
        """The variables in the order of their names; exponentials and open powers come last."""
        names = [one.base for one in self._variables]
        return sorted(range(len(names)), key=lambda i: (not names[i].isalpha(), names[i], i))

    def _monomial(self, powers: tuple[int, ...], latex: bool) -> list[str]:
        order = sorted(range(len(self._variables)), key=lambda i: self._variables[i].base)
        return [part for i in order if powers[i] for part in self._variables[i].to_power(powers[i], latex)]

    def _sum(self, polynomial: Any, latex: bool) -> str:
        shown = ""
        for powers, coefficient in self._terms(polynomial):
            parts = self._monomial(powers, latex)
            number = [str(abs(coefficient))] if abs(coefficient) != 1 or not parts else []
            sign = (" - " if shown else "-") if coefficient < 0 else " + " if shown else ""
            shown += sign + _product(number + parts, latex)
        return shown or "0"

    def _factors(self, polynomial: Any) -> tuple[int, list[tuple[Any, int]]]:
        """Integer content with its sign, and factors with their multiplicities as they are written."""
        content, factors = polynomial.factor()
        number, found = int(content), []
        for factor, times in factors:
            oriented, sign = self._oriented(factor)
            number *= sign**times
            found.append((oriented, times))
        order = self._order

        def place(part: tuple[Any, int]) -> tuple[int, list[str], list[tuple[list[int], int]]]:
            """Names first, then sums of two terms, each kind in the order of its variables."""
            terms = self._terms(part[0])
            name = self._monomial(terms[0][0], latex=False) if len(terms) == 1 else []
            return len(terms), name, [([-powers[i] for i in order], c) for powers, c in terms]

        found.sort(key=place)
        return number, found

    def write(self, value: OpenQuotient, latex: bool = False) -> str:
        """The quotient as text, factored, as far as that is known with factors that are positive on the range."""
        above, tops = self._factors(value.top)
        below, bottoms = self._factors(value.bottom)
        sign = -1 if above * below < 0 else 1
        for i, (factor, times) in enumerate(tops):
            if sign < 0 and times % 2 and self._sample(factor) is None:
                tops[i], sign = (-factor, times), 1
        above, below = abs(above), abs(below)
        if not bottoms and below == 1 and len(tops) == 1 and tops[0][1] == 1:
            return self._sum(tops[0][0] * (sign * above), latex)
        one, other = (
            [str(number)] * (number != 1 or not parts) + [p for part in parts for p in self._power(*part, latex)]
            for number, parts in ((above, tops), (below, bottoms))
        )
        minus = "-" if sign < 0 else ""
        if below == 1 and not bottoms:
            return minus + _product(one, latex)
        if latex:
            if above == 1 and len(tops) == 1 and tops[0][1] == 1:
                one = [self._sum(tops[0][0], True)]
            if below == 1 and len(bottoms) == 1 and bottoms[0][1] == 1:
                other = [self._sum(bottoms[0][0], True)]
            return rf"{minus}\frac{{{_product(one, True)}}}{{{_product(other, True)}}}"
        divisor = _product(other, False)
        return f"{minus}{_product(one, False)}/{f'({divisor})' if len(other) > 1 else divisor}"

    def _power(self, factor: Any, times: int, latex: bool) -> list[str]:
        if len(factor) == 1:
            ((powers, _),) = self._terms(factor)
            return self._monomial(tuple(power * times for power in powers), latex)
        shown = _closed(self._sum(factor, latex), latex)
        return [shown if times == 1 else _to_power(shown, str(times), latex)]


@final
class OpenQuotient:
    """A quotient of two polynomials in lowest terms; equal ones compare equal."""

    __slots__ = ("_reader", "bottom", "top")

    def __init__(self, reader: QuotientTexts, top: Any, bottom: Any) -> None:
        plain, rooted = reader.reduced(bottom)
        if rooted != 0:  # times the conjugate
            other = plain - rooted * reader.surd
            top, bottom = top * other, bottom * other
        above, beside = reader.reduced(top)
        below, _ = reader.reduced(bottom)
        if beside != 0:
            above = above + beside * reader.surd
        if below == 0:
            raise ZeroDivisionError("a quotient by 0")
        common = above.gcd(below)
        common = common if (below // common).leading_coefficient() > 0 else -common
        self._reader, self.top, self.bottom = reader, above // common, below // common

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenQuotient) and self.top == other.top and self.bottom == other.bottom

    def __hash__(self) -> int:
        return hash((str(self.top), str(self.bottom)))

    def __bool__(self) -> bool:
        return bool(self.top != 0)

    def __neg__(self) -> OpenQuotient:
        return OpenQuotient(self._reader, -self.top, self.bottom)

    def _of(self, value: OpenQuotient | flint.fmpq | Fraction | int) -> OpenQuotient:
        return value if isinstance(value, OpenQuotient) else self._reader.number(value)

    def __add__(self, other: OpenQuotient | flint.fmpq | Fraction | int) -> OpenQuotient:
        two = self._of(other)
        return OpenQuotient(self._reader, self.top * two.bottom + two.top * self.bottom, self.bottom * two.bottom)

    __radd__ = __add__

    def __sub__(self, other: OpenQuotient | flint.fmpq | Fraction | int) -> OpenQuotient:
        return self + -self._of(other)

    def __rsub__(self, other: flint.fmpq | Fraction | int) -> OpenQuotient:
        return self._of(other) - self

    def __mul__(self, other: OpenQuotient | flint.fmpq | Fraction | int) -> OpenQuotient:
        two = self._of(other)
        return OpenQuotient(self._reader, self.top * two.top, self.bottom * two.bottom)

    __rmul__ = __mul__

    def __truediv__(self, other: OpenQuotient | flint.fmpq | Fraction | int) -> OpenQuotient:
        two = self._of(other)
        return OpenQuotient(self._reader, self.top * two.bottom, self.bottom * two.top)

    def __rtruediv__(self, other: flint.fmpq | Fraction | int) -> OpenQuotient:
        return self._of(other) / self

    def __rpow__(self, base: flint.fmpq | Fraction | int) -> OpenQuotient:
        return self._of(base) ** self

    def __pow__(self, exponent: OpenQuotient | flint.fmpq | Fraction | int) -> OpenQuotient:
        if not isinstance(exponent, OpenQuotient | flint.fmpq | Fraction | int):
            return NotImplemented  # the size of an unbounded domain says what a power to it is
        if exponent == Fraction(1, 2):
            return self._reader.rooted(self)
        if isinstance(exponent, int):
            if self._reader.longest is not None and abs(exponent) > self._reader.longest:
                raise Unsupported(f"a power above {self._reader.longest}: its polynomial is too long")
            one, other = (self.top, self.bottom) if exponent >= 0 else (self.bottom, self.top)
            return OpenQuotient(self._reader, one ** abs(exponent), other ** abs(exponent))
        exponent = self._of(exponent)
        found = self._reader.number(1)
        for name, times in exponent.linear():
            one = self
            if name:
                one = self._reader.to_power(self.top, name) / self._reader.to_power(self.bottom, name)
            found = found * one**times
        return found

    def linear(self) -> Iterator[tuple[str, int]]:
        """Names and coefficients of a sum of names with integer coefficients; the empty name for the constant."""
        if self.bottom != 1:
            raise Unsupported("an exponent is no integer")
        for powers, coefficient in terms_of(self.top):
            if sum(powers) > 1:
                raise Unsupported("an exponent is no sum of parameters")
            yield self._reader.name_of(powers), coefficient

    def latex(self) -> str:
        """It as LaTeX."""
        return self._reader.write(self, latex=True)

    def __str__(self) -> str:
        return self._reader.write(self)

    __repr__ = __str__
