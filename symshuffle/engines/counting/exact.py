"""Enumeration of the sum of n copies of G: exact in rationals, enclosed in balls.

The other engines are compared with this one wherever it is affordable.

Evidence: integer, rational or ball arithmetic throughout; nothing is neglected and no double enters.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, final

import flint

from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    ball_arguments,
    is_exact,
    lower_end,
    upper_end,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.estimates import CHEAP_VECTORS, count_vectors
from symshuffle.engines.registry import Engine


@final
@dataclass(frozen=True, slots=True)
class Exact(Engine):
    """Engine that sums over all values of the sum of n copies of G.

    A rational law lies on a lattice: its n-fold convolution is the n-th power of an integer polynomial. Where that
    lattice is too fine, and for any other enclosed law, the sum is over the counts of the atoms, in rationals or balls.

    Parameters
    ----------
    bits : int
        Working precision for laws that are not rational.
    largest_power : int
        Limit on the bits of the power of the integer polynomial; above it that method is refused.
    largest_count : int
        Limit on the number of count vectors; above it the sum over counts is refused.
    largest_sum : int
        Limit on the bits of all their probabilities together; above it the sum over counts is refused.
    """

    name: ClassVar[str] = "exact"
    least: ClassVar[Arithmetic] = "ball"

    bits: int = DEFAULT_BITS
    largest_power: int = 2_000_000_000
    largest_count: int = 300_000
    largest_sum: int = 10**11

    @classmethod
    def with_tolerance(cls, rtol: float, bits: int) -> Exact:
        """Engine with default limits; balls of ``bits`` bits if a law is not rational."""
        return cls(bits=bits)

    @classmethod
    def for_auto(
        cls,
        law: Law,
        arithmetic: Arithmetic | None,
        rtol: float,
        *,
        cheap_power: int = 3_000_000,
        cheap_count: int = 3_000,
        cheap_in_balls: int = CHEAP_VECTORS,
        few_atoms: int = 4,
        cheap_sum: int = 3 * 10**9,
    ) -> Exact | None:
        """Engine limited to cheap sums; with default limits for exact arithmetic, None if the law is not rational.

        - ``cheap_power``: bits of a power of the polynomial that cost less than a contour.
        - ``cheap_count``: count vectors that cost less than a contour in doubles.
        - ``cheap_in_balls``: the same in balls, of more than ``few_atoms`` atoms.
        - ``few_atoms``: atoms up to which engine ``counts`` answers in balls at less cost.
        - ``cheap_sum``: bits of all terms of a sum over counts that take about two seconds.
        """
        if arithmetic == "exact":
            return cls() if law.exact else None
        count = cheap_in_balls if arithmetic == "ball" and len(law.values) > few_atoms else cheap_count
        return cls(largest_power=cheap_power, largest_count=count, largest_sum=cheap_sum)

    @classmethod
    def trials(cls, law: Law) -> tuple[Exact, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        return (cls(bits=256, largest_count=20_000),)

    def refusal(self, law: Law, n: int) -> str | None:
        """Why this engine cannot answer, or None if it can."""
        if not law.enclosed:
            return "a law of doubles encloses nothing"
        if law.never_positive:
            return None
        lattice = _Lattice.of(law) if is_exact((*law.values, *law.weights)) else None
        if lattice is not None and lattice.size(n) <= self.largest_power:
            return None
        count = count_vectors(law, n)
        if count > self.largest_count:
            return f"over {self.largest_count} count vectors to enumerate"
        bits = n if lattice is None else lattice.bits(n)  # of the multinomial, which balls form too
        return None if count * bits <= self.largest_sum else f"{count} count vectors with numbers of {bits} bits"

    def bracket(self, law: Law, n: int) -> Bracket:
        """The value of H(n), exactly or as a ball."""
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine exact at n = {n}: {reason}; use engine fft or contour")
        if law.never_positive:
            known: Arithmetic = "exact" if isinstance(law.singular, Fraction) else "ball"
            ends = lower_end(law.singular), upper_end(law.singular)
            return Bracket(*ends, known, self.name, "G is never positive")
        lattice = _Lattice.of(law) if is_exact((*law.values, *law.weights)) else None
        if lattice is not None and lattice.size(n) <= self.largest_power and not self._few(law, n, lattice):
            value: Any = lattice.positive_part(n) / n + law.singular
            evaluation = f"{n}-th power of an integer polynomial of degree {lattice.span}"
        elif lattice is not None:
            value = _counted(law, n) / n + law.singular
            evaluation = f"sum over {math.comb(n + len(law.values) - 1, n)} count vectors in rationals"
        else:
            value = self._enclosed(law, n) + law.singular
            evaluation = f"sum over {math.comb(n + len(law.values) - 1, n)} count vectors in balls of {self.bits} bits"
        if isinstance(value, Ball):
            return Bracket(max(value.lower, Fraction(0)), value.upper, "ball", self.name, evaluation)
        return Bracket(value, value, "exact", self.name, evaluation)

    def _few(self, law: Law, n: int, lattice: _Lattice, *, per_vector: int = 200) -> bool:
        """Whether count vectors are so few, and the lattice so fine, that they are cheaper: a choice.

        - ``per_vector``: points of a lattice that cost as much as a count vector in rationals.
        """
        count = math.comb(n + len(law.values) - 1, n)
        return count <= self.largest_count and per_vector * count < n * lattice.span

    def _enclosed(self, law: Law, n: int) -> Ball:
        with working_precision(self.bits + 16):
            atoms = []
            for value, weight in zip(ball_arguments(law.values), ball_arguments(law.weights), strict=True):
                shares = [power / flint.arb.fac_ui(count) for count, power in enumerate(_powers(weight, n))]
                atoms.append(([count * value for count in range(n + 1)], shares))
            return Ball.from_arb(_gains(atoms, 0, n, flint.arb(0)) * flint.arb.fac_ui(n) / n, self.bits)


_Drawn: TypeAlias = tuple[list[flint.arb], list[flint.arb]]
"""Of an atom, by the number c of its draws: ``c v`` and ``w^c / c!``."""


def _gains(atoms: Sequence[_Drawn], first: int, left: int, excess: flint.arb) -> flint.arb:
    """The positive part of the excess times the shares, summed over all ways to distribute ``left`` draws.

    They are distributed among the atoms from ``first`` on.
    """
    sums, shares = atoms[first]
    total = shares[left] * (excess + sums[left]).nonnegative_part()
    if first + 1 == len(atoms):
        return total
    for count in range(1, left):
        total += shares[count] * _gains(atoms, first + 1, left - count, excess + sums[count])
    return total + _gains(atoms, first + 1, left, excess)


def _counted(law: Law, n: int) -> Fraction:
    """E[(G_1 + ... + G_n)_+] over count vectors, for rational atoms whose lattice is too fine to convolve on."""
    lattice = _Lattice.of(law)
    masses = [flint.fmpz(mass) for mass in lattice.masses]
    total = flint.fmpz(0)
    for counts in _compositions(n, len(masses)):
        place = n * lattice.origin + lattice.step * sum(map(operator.mul, counts, lattice.places))
        if place > 0:
            total += _multinomial(counts) * math.prod(map(pow, masses, counts)) * place
    return Fraction(int(total), lattice.unit * lattice.scale**n)


def _powers(base: flint.arb, n: int) -> list[flint.arb]:
    return list(itertools.accumulate(range(n), lambda power, _: power * base, initial=flint.arb(1)))


def _multinomial(counts: Sequence[int]) -> flint.fmpz:
    result, total = flint.fmpz(1), 0
    for count in counts:
        total += count
        result *= flint.fmpz.bin_uiui(total, count)
    return result


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write ``total`` as an ordered sum of ``parts`` non-negative integers."""
    for bars in itertools.combinations(range(total + parts - 1), parts - 1):
        ends = (-1, *bars, total + parts - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(ends))


@final
@dataclass(frozen=True, slots=True)
class _Lattice:
    """A rational law in integers: atom i is ``(origin + step places[i]) / unit``, of weight ``masses[i] / scale``."""

    places: tuple[int, ...]
    masses: tuple[int, ...]
    origin: int
    step: int
    unit: int
    scale: int

    @classmethod
    def of(cls, law: Law) -> _Lattice:
        values = [Fraction(value) for value in law.values]  # type: ignore[arg-type]  # exact by the caller's test
        weights = [Fraction(weight) for weight in law.weights]  # type: ignore[arg-type]
        unit = math.lcm(*(value.denominator for value in values))
        scale = math.lcm(*(weight.denominator for weight in weights))
        integers = [int(value * unit) for value in values]
        origin = min(integers)
        step = math.gcd(*(value - origin for value in integers)) or 1
        places = tuple((value - origin) // step for value in integers)
        return cls(places, tuple(int(weight * scale) for weight in weights), origin, step, unit, scale)

    @property
    def span(self) -> int:
        """Degree of the generating polynomial of one copy."""
        return max(self.places)

    def size(self, n: int) -> int:
        """Bits that the n-th power takes."""
        return (n * self.span + 1) * self.bits(n)

    def bits(self, n: int) -> int:
        """Bits of the probability of one count vector."""
        return n * max(1, self.scale.bit_length())

    def positive_part(self, n: int) -> Fraction:
        """E[(G_1 + ... + G_n)_+], exactly."""
        coefficients = [0] * (self.span + 1)
        for place, mass in zip(self.places, self.masses, strict=True):
            coefficients[place] += mass
        power = flint.fmpz_poly(coefficients) ** n
        first = max(0, -((n * self.origin) // self.step))  # the first place whose value is not below 0
        # Of the coefficients from there on, the sum and the sum of places beyond: a value and a slope at 1.
        above = flint.fmpz_poly(power.coeffs()[first:])
        total = (n * self.origin + self.step * first) * above(1) + self.step * above.derivative()(1)
        return Fraction(int(total), self.unit * self.scale**n)
