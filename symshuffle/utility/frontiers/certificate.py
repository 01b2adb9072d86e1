r"""Mixtures of orbit laws in short, lines above all templates, and real roots counted exactly.

Real roots of a polynomial over the rationals between two places, counted exactly.

Mixtures of orbit laws in short, and lines above all templates: the two halves of a frontier certificate.

Among templates of ratio at most :math:`\lambda` a maximiser of :math:`S-\eta B` has at most one coordinate strictly
between the ends: the derivative in a coordinate ``v`` is a cubic without linear term over :math:`v^2`, so that two of
them could be pulled apart with gain (claim ``symshuffle.anchored-joint-frontier``). So a line is above all templates if
it is above ``k - 1`` curves in one variable, polynomials over Q whose signs are decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, final

from flint import fmpq, fmpq_poly

from symshuffle.base.choices import Population, SafeEnd, choice
from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.base.numbers import Exp, Real, enclose, format_decimal
from symshuffle.base.results import MOST_DIGITS, AnswerMethods, Bracket, check_claim, passes, well_formed, within
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import isotropic_risk
from symshuffle.utility.frontiers.orbit import Orbit, check_orbit, mix_laws, orbit_law, orbit_mechanism

if TYPE_CHECKING:
    from symshuffle.channels.channel import Channel
    from symshuffle.mechanisms.model import Mechanism


def roots_inside(polynomial: fmpq_poly, low: fmpq, high: fmpq | None) -> int:
    """Number of real roots of a square-free polynomial strictly between two places, by Sturm's theorem.

    - ``high``: the upper place, or None for infinity.

    Examples
    --------
    >>> squared_less_two = fmpq_poly([-2, 0, 1])
    >>> roots_inside(squared_less_two, fmpq(0), fmpq(2)), roots_inside(squared_less_two, fmpq(2), None)
    (1, 0)
    """
    chain = [polynomial, polynomial.derivative()]
    while chain[-1].degree() > 0:
        chain.append(-(chain[-2] % chain[-1]))
    ends = [part.leading_coefficient() if high is None else part(high) for part in chain]
    up_to_high = _changes([part(low) for part in chain]) - _changes(ends)  # in (low, high]
    return up_to_high - (high is not None and polynomial(high) == 0)


def _changes(values: list[fmpq]) -> int:
    """Number of changes of sign in a sequence, zeros left out."""
    signs = [value > 0 for value in values if value != 0]
    return sum(one != other for one, other in pairwise(signs))


@final
@dataclass(frozen=True, slots=True)
class DualCertificate:
    r"""A line :math:`S\le\eta B+c` above all templates of ratio at most ``lam_cap`` (None for no cap)."""

    k: int
    eta: Fraction
    intercept: Fraction
    lam_cap: Fraction | None = None

    @property
    def line(self) -> str:
        """The right-hand side in digits, rounded up."""
        return " B + ".join(format_decimal(one, digits=MOST_DIGITS, up=True) for one in (self.eta, self.intercept))

    def curves(self) -> Iterator[tuple[fmpq_poly, Fraction | None]]:
        r"""Polynomials :math:`(\eta B+c-S)\,tP^2` in the one free ratio ``t``, to be at least 0 on ``[1, lam_cap]``."""
        cap = self.lam_cap
        for high in range(self.k - 1 if cap is not None else 1):
            yield self._curve(high, cap if cap is not None else Fraction(1)), cap

    def _curve(self, high: int, cap: Fraction) -> fmpq_poly:
        """With ``high`` coordinates at the cap, one at ``t``, the others at 1."""
        k, flat = self.k, self.k - 1 - high
        top, eta, intercept = (fmpq(*one.as_integer_ratio()) for one in (cap, self.eta, self.intercept))
        ratio = fmpq_poly([0, 1])
        total, squares = ratio + (flat + high * top), ratio * ratio + (flat + high * top * top)
        reciprocals = ratio * (flat + high / top) + 1  # times t
        square = total * total
        budget = (squares * reciprocals * total - ratio * square * k) * fmpq(1, k - 1)
        signal = ratio * squares * k**2 - ratio * square * k
        return budget * eta + ratio * square * intercept - signal

    @well_formed()
    def verify(self) -> None:
        """Decide over Q that the line is above all templates."""
        if not isinstance(self.k, int) or self.k < 2:
            raise CertificateError("k", f"{self.k} is no number of inputs, an integer of at least 2")
        if not self.eta >= 0:
            raise CertificateError("eta", f"the slope {self.eta} is negative")
        if self.lam_cap is not None and not self.lam_cap > 1:
            raise CertificateError("lam_cap", f"{self.lam_cap} is no cap above 1")
        for high, (polynomial, cap) in enumerate(self.curves()):
            _check_nonnegative(polynomial, cap, f"curves[{high}]")

    def holds(self) -> bool:
        """Whether the line is above all templates: whether :meth:`verify` passes."""
        return passes(self.verify)

    def bound(self, budget: Fraction | float) -> Fraction:
        """The largest trace at this budget that the line allows."""
        return self.intercept if self.eta == 0 else self.eta * Fraction(budget) + self.intercept


def _check_nonnegative(polynomial: fmpq_poly, cap: Fraction | None, place: str) -> None:
    """Refuse a rational polynomial that is negative on [1, cap], or on [1, oo): roots of odd multiplicity decide."""
    if polynomial.is_zero():
        return
    low, high = fmpq(1), None if cap is None else fmpq(*cap.as_integer_ratio())
    for factor, power in polynomial.factor_squarefree()[1]:
        if power % 2 and roots_inside(factor, low, high):
            raise CertificateError(place, "the line crosses the curve")
    probe = low + 1 if high is None else (low + high) / 2
    while polynomial(probe) == 0:
        probe = (probe + low) / 2
    if polynomial(probe) < 0:
        raise CertificateError(place, f"the line is below the curve at ratio {probe}")


def _at_most(ratio: Real | float | None, cap: Real | float | None, *, bits: int = 256) -> bool:
    """Whether a ratio is for certain at most a cap; None and infinity are no cap, and nothing else is at most a cap."""
    if cap is None:
        return True
    if ratio is None or isinstance(ratio, float) or isinstance(cap, float):
        return False
    largest = enclose(ratio, bits).upper if isinstance(ratio, Exp) else ratio
    smallest = enclose(cap, bits).lower if isinstance(cap, Exp) else cap
    return largest <= smallest


@final
@dataclass(frozen=True, slots=True, repr=False)
class Frontier(AnswerMethods):
    """The best trace under a budget, with a law that attains the lower end and a certificate of the upper end.

    ``float`` returns the lower end, rounded down.
    """

    safe: ClassVar[SafeEnd] = "lower"
    k: int
    budget: Fraction | float
    trace: Bracket
    orbits: tuple[Orbit, ...]
    certificate: DualCertificate
    lam_cap: Real | None = None

    @property
    def bracket(self) -> Bracket:
        """The largest trace."""
        return self.trace

    @property
    def about(self) -> str:
        """What the number is the largest of."""
        cap = "" if self.lam_cap is None else f" and likelihood ratios of at most {self.lam_cap}"
        return f"largest trace of channels with {self.k} inputs and pairwise chi-square at most {self.budget}{cap}"

    @well_formed()
    def verify(self) -> None:
        """Check the law and the certificate in rational arithmetic, from the inputs and the caps alone."""
        if not isinstance(self.budget, Fraction | int) and self.budget != math.inf:
            raise CertificateError("budget", f"{self.budget} is no rational, nor infinite")
        if self.certificate.k != self.k:
            raise CertificateError("certificate.k", f"a line for {self.certificate.k} inputs, where there are {self.k}")
        with within("certificate"):
            self.certificate.verify()
        if self.certificate.lam_cap is not None and not _at_most(self.lam_cap, self.certificate.lam_cap):
            what = f"a line for ratios up to {self.certificate.lam_cap}, where {self.lam_cap} is allowed"
            raise CertificateError("certificate.lam_cap", what)
        if self.budget == math.inf and self.certificate.eta > 0:
            raise CertificateError("certificate.eta", "a line that rises bounds nothing where there is no budget")
        for j, orbit in enumerate(self.orbits):
            with within(f"orbits[{j}]"):
                check_orbit(orbit, self.k)
            if not _at_most(orbit.ratio, self.lam_cap):
                raise CertificateError(f"orbits[{j}].levels", f"a ratio of {orbit.ratio} above the cap {self.lam_cap}")
        if (total := sum(orbit.weight for orbit in self.orbits)) != 1:
            raise CertificateError("orbits", f"the weights sum to {total}")
        if (spent := sum(orbit.weight * orbit.budget for orbit in self.orbits)) > self.budget:
            raise CertificateError("orbits", f"a divergence of {spent} above the budget {self.budget}")
        attained = sum((orbit.weight * orbit.signal for orbit in self.orbits), start=Fraction(0))
        bound = self.certificate.bound(self.budget)
        check_claim(self.trace, Bracket(attained, bound, "exact", "orbits", "law and line"), "trace")

    def to_dict(self) -> dict[str, Any]:
        """The answer with its law and its line; rationals are strings."""
        line = self.certificate
        return AnswerMethods.to_dict(self) | {
            "law": [
                {"weight": str(orbit.weight), "levels": [[count, str(value)] for count, value in orbit.levels]}
                for orbit in self.orbits
            ],
            "certificate": {
                "eta": str(line.eta),
                "intercept": str(line.intercept),
                "lam_cap": None if line.lam_cap is None else str(line.lam_cap),
            },
        }

    def law(self) -> AnchoredLaw:
        """The law itself, atom by atom."""
        return orbit_mixture(self.orbits)

    def mechanism(self) -> Mechanism:
        """The mechanism that attains the lower end, at any number of inputs: a source for :func:`symshuffle.delta`.

        >>> from symshuffle.utility.frontiers.frontier import trace_frontier
        >>> trace_frontier(1000, Fraction(1)).mechanism().num_outputs
        1000
        """
        return orbit_mechanism(self.orbits)

    def channel(self) -> Channel:
        """The explicit channel that attains the lower end.

        >>> from symshuffle import delta
        >>> from symshuffle.utility.frontiers.frontier import trace_frontier
        >>> channel = trace_frontier(5, Fraction(1, 8)).channel()
        >>> channel.num_outputs, delta(channel, n=3, eps=Fraction(1, 10), arithmetic="ball").bracket.arithmetic
        (6, 'ball')
        """
        return self.mechanism().channel()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{float(orbit.weight):.6g}</td><td>"
            f"{', '.join(f'{count} x {float(value):.6g}' for count, value in orbit.levels)}</td></tr>"
            for orbit in self.orbits
        )
        line = f"S &le; {self.certificate.line}"
        law = f"<tr><th>weight</th><th>template, in any order</th></tr>{rows}"
        return f"{AnswerMethods._repr_html_(self)}<table><caption>{line}</caption>{law}</table>"

    def risk_constant(self, population: Population) -> Bracket:
        """``n`` times the smallest worst-case canonical risk under the budget (anchored, Theorem 7.6)."""
        population = choice(Population, population, "population")
        if self.trace.lower == 0:
            raise InputError("budget", self.budget, "a number > 0 (at budget 0 the canonical risk is infinite)")
        ends = [isotropic_risk(self.k, value, population=population) for value in (self.trace.upper, self.trace.lower)]
        return Bracket(ends[0], ends[1], self.trace.arithmetic, "closed form", "from the trace, decreasing")


def orbit_mixture(orbits: Sequence[Orbit], *, largest: int = 12) -> AnchoredLaw:
    """The law of an equivariant channel given by its orbits: run an orbit with its weight and publish which.

    - ``largest``: inputs beyond which a law is given by its orbits and not by all its atoms.
    """
    k = sum(count for count, _ in orbits[0].levels) if orbits else 0
    if k > largest:
        raise Unsupported(f"k = {k}: laws are written out up to k = {largest}; `orbits` has them in short")
    return mix_laws([orbit_law(orbit.template()) for orbit in orbits], [orbit.weight for orbit in orbits])
