r"""The law of one amplification variable G, the only thing that an engine sees.

Every amplification bound of the package is the number

.. math:: H(n) = s + \frac1n E\Big[\Big(\sum_{i\le n} G_i\Big)_+\Big],

where the :math:`G_i` are independent copies of :math:`G = (A_0-e^{\varepsilon}A_1)/A_2` under :math:`A_2`, and the
singular mass :math:`s` collects :math:`(A_0-e^{\varepsilon}A_1)_+` where :math:`A_2` vanishes
(decomposition, Theorem 12, extended to pairs that :math:`A_2` does not dominate).
"""

from __future__ import annotations

import math
import operator
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    AllEnds,
    Ball,
    Number,
    both_ends,
    brief,
    counted,
    exact_sum,
    is_enclosed,
    is_exact,
    lower_end,
    maximum,
    mean_and_variance,
    minimum,
    sums_to_one,
    to_floats,
    upper_end,
)

_NEARLY: Final = Fraction(1, 2**60)
"""How close to which multiples of one number atoms have to be, to be taken for these."""


def check_atoms(values: Sequence[Number], weights: Sequence[Number], singular: Number) -> None:
    """What the atoms of every law have to be, with or without a continuous part beside them."""
    if not values or len(values) != len(weights):
        raise InputError(
            "atoms", f"{counted(len(values), 'value')}, {counted(len(weights), 'weight')}", "as many, at least 1"
        )
    for weight in weights:
        if not (weight.upper if isinstance(weight, Ball) else weight) > 0:
            raise InputError("weights", weight, "positive probabilities (drop atoms of weight 0)")
    for value in (*values, singular):
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError("values", value, "finite numbers")
    if (singular.upper if isinstance(singular, Ball) else singular) < 0:
        raise InputError("singular", singular, "a mass of at least 0")


def collected(atoms: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Values and weights of some atoms, those of weight 0 dropped, those of equal value merged."""
    values, masses = dict[object, Any](), dict[object, Any]()
    for value, weight in atoms:
        if weight == 0 or (isinstance(weight, Ball) and weight.lower == weight.upper == 0):
            continue
        # Equal for certain are numbers of one value; a ball of any width is only the same as itself.
        wide = isinstance(value, Ball) and value.lower != value.upper
        key = ("ball", id(value)) if wide else value.lower if isinstance(value, Ball) else value
        masses[key] = masses[key] + weight if key in values else weight
        values[key] = value
    return tuple(values.values()), tuple(masses.values())


NOTHING: Final = Fraction(1, 10**30)
"""What one user may reveal at most where that much is all that can be said: no integrand falls so far in doubles."""


@final
@dataclass(frozen=True)
class Law:
    """Finitely supported law of the amplification variable G, with a singular mass.

    Parameters
    ----------
    values : tuple of Number
        The atoms of G.
    weights : tuple of Number
        Their probabilities, positive, of sum 1.
    singular : Number
        The mass that every histogram reveals for certain, at least 0.

    Raises
    ------
    InputError
        If the lengths differ, there is no atom, a weight is not positive, the weights do not sum to 1, a value is not
        finite, or the singular mass is negative.
    """

    kind: ClassVar[Literal["atoms"]] = "atoms"

    values: tuple[Number, ...]
    weights: tuple[Number, ...]
    singular: Number = Fraction(0)

    def __post_init__(self) -> None:
        check_atoms(self.values, self.weights, self.singular)
        if not sums_to_one(self.weights):
            total: Any = sum(self.weights, start=Fraction(0))
            raise InputError("weights", f"sum {brief(total)}", "probabilities of sum 1")

    @classmethod
    def from_atoms(cls, atoms: Iterable[tuple[Any, Any]], singular: Number = Fraction(0)) -> Law:
        """Law from (value, weight) pairs. Atoms of weight 0 are dropped, atoms of equal value are merged."""
        return cls(*collected(atoms), singular)

    @cached_property
    def exact(self) -> bool:
        """Whether all numbers are rational."""
        return is_exact((*self.values, *self.weights, self.singular))

    @cached_property
    def enclosed(self) -> bool:
        """Whether all numbers are rational or balls."""
        return is_enclosed((*self.values, *self.weights, self.singular))

    @cached_property
    def ends(self) -> tuple[AllEnds, AllEnds]:
        """Lower and upper ends of the values, and of the weights; a double is taken at its word."""
        return both_ends(self.values), both_ends(self.weights)

    @cached_property
    def doubles(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The doubles nearest to values and weights, or ``OverflowError`` where a value is beyond their range."""
        return to_floats(self.values), to_floats(self.weights)

    @property
    def mean(self) -> Any:
        """Expectation of G; ``1 - exp(eps)`` if no output lies outside the blanket (decomposition, Property 2)."""
        if self.exact:
            return exact_sum(map(operator.mul, self.values, self.weights))
        return mean_and_variance(self.values, self.weights)[0]

    @property
    def variance(self) -> Any:
        """Variance of G."""
        return mean_and_variance(self.values, self.weights)[1]

    @cached_property
    def ceiling(self) -> Fraction:
        """Upper bound on H(n) for every n: H(1), because S_n / n is a reverse martingale."""
        total = upper_end(self.singular)
        (_, values), (_, weights) = self.ends
        for value, weight in zip(values, weights, strict=True):
            total += max(value, Fraction(0)) * weight
        return total

    @cached_property
    def floor(self) -> Fraction:
        """Lower bound on H(n) for every n, without the singular mass: the positive part of E[G]."""
        try:
            rough = math.fsum(map(operator.mul, *self.doubles))
        except OverflowError:
            rough = 0.0
        return Fraction(0) if rough < 0 else max(lower_end(self.mean), Fraction(0))

    @cached_property
    def lattice(self) -> Fraction | None:
        """Spacing of the coarsest lattice through 0 that holds every atom. None if some atom is not rational."""
        if not is_exact(self.values):
            return None
        values = [value for value in self.values if isinstance(value, Fraction)]
        unit = math.lcm(*(value.denominator for value in values))
        return Fraction(math.gcd(*(int(value * unit) for value in values)) or 1, unit)

    def in_units(self, *, max_multiple: int = 64, rtol: float = 1e-6) -> tuple[Law, Fraction, Fraction] | None:
        """Law of small multiples of one number, that number and the error, or None.

        At eps = 0 the atoms are multiples of an irrational number, which their balls alone do not show; near it they
        nearly are. No atom is farther than the error from its multiple, and neither is H(n), which is 1-Lipschitz in
        the atoms. The singular mass is left out.

        - ``max_multiple``: largest multiple that atoms are taken for.
        - ``rtol``: how close doubles have to be to multiples of the smallest one that is not next to 0, for an exact
          look to be worth while.
        """
        if is_exact(self.values):
            return None
        try:
            values, _ = self.doubles
            sizes = sorted(map(abs, values))
            unit = sizes[bisect(sizes, sizes[-1] * _NEARLY)]
            for value in values:
                if abs(value / unit - round(value / unit)) >= rtol:
                    return None
        except (OverflowError, IndexError):  # doubles do not tell
            pass
        return self._near_multiples(max_multiple) if is_enclosed(self.values) else None

    def _near_multiples(self, max_multiple: int) -> tuple[Law, Fraction, Fraction] | None:
        """The same, as the ends of the atoms tell."""
        ends = list(zip(*self.ends[0], strict=True))
        sizes = [abs(low + high) / 2 for low, high in ends if not low <= 0 <= high]
        if not sizes:
            return None
        least = max(sizes) * _NEARLY  # what is smaller is next to 0
        unit = min(size for size in sizes if size > least)
        multiples = [round((low + high) / 2 / unit) for low, high in ends]
        error = max(abs(end - k * unit) for pair, k in zip(ends, multiples, strict=True) for end in pair)
        if error > unit * _NEARLY or max(map(abs, multiples)) > max_multiple:
            return None
        return Law.from_atoms(zip(map(Fraction, multiples), self.weights, strict=True)), unit, error

    @property
    def support(self) -> tuple[Any, Any]:
        """Smallest and largest atom."""
        return minimum(self.values), maximum(self.values)

    def thinning(self, share: Fraction) -> Law:
        """The law of G over ``share``, in (0, 1), with that probability, and of 0 otherwise.

        Its H(n) is the mean of H(M), M - 1 being the number of n - 1 other messages that are sent, each with that
        probability: ``P(M = m) / m = P(N = m) / (n share)`` for the number N of all n where each is sent so.
        """
        some = ((value / share, share * weight) for value, weight in self.atoms())
        return Law.from_atoms([(Fraction(0), 1 - share), *some], self.singular)

    @cached_property
    def never_positive(self) -> bool:
        """Whether G is certainly at most 0, so that the finite part of H(n) is exactly 0."""
        (_, highest), _ = self.ends
        return max(highest) <= 0

    def atoms(self) -> tuple[tuple[Number, Number], ...]:
        """Pairs (value, weight)."""
        return tuple(zip(self.values, self.weights, strict=True))

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{value}</td><td>{weight}</td></tr>" for value, weight in self.atoms())
        return f"<table><tr><th>G</th><th>probability</th></tr>{rows}</table>"
