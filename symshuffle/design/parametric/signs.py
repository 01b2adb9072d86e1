"""Signs of polynomials in ``lam`` over the rationals or a real number field, decided exactly.

An element of a number field is a polynomial in the generator: whether it is zero is algebra, and its sign is then
decided by balls around the generator. A polynomial over the field changes its sign only at roots of its norm, a
polynomial over the rationals, whose real roots SymPy isolates.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import sympy as sp

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import Ball, enclose, to_arb, working_precision
from symshuffle.mechanisms.symbolic import LAM


def interval_of_signs(conditions: Iterable[Any], lam: Fraction, domain: Any) -> tuple[sp.Expr, sp.Expr] | None:
    """The largest interval above 1 around a level on which polynomials over a field are all non-negative.

    None where one of them is negative at the level itself.
    """
    level = domain(lam.numerator) / domain(lam.denominator)
    at = sp.Rational(lam.numerator, lam.denominator)
    lower, upper = sp.Integer(1), sp.oo
    binding: list[Any] = []
    kept = [condition for condition in conditions if condition]
    for polynomial in {condition.monic() * domain(sign_in_field(condition.LC, domain)) for condition in kept}:
        if sign_in_field(polynomial.evaluate(0, level), domain) < 0:
            return None
        generator = polynomial.ring.gens[0]
        shifted = polynomial.compose(generator, generator + polynomial.ring.one)
        if any(sign_in_field(c, domain) < 0 for c in shifted.coeffs()):  # else there is no change of sign above 1
            binding.append(polynomial)
    for polynomial in binding if domain.is_QQ else _nearest(binding, lam, domain):
        for root in sign_changes(polynomial, domain):
            if root <= at:
                lower = root if root > lower else lower
            else:
                upper = root if root < upper else upper
    return lower, upper


def _nearest(polynomials: Sequence[Any], lam: Fraction, domain: Any, *, bits: int = 256) -> list[Any]:
    """The polynomials that may have the root next to a level, on either side, by isolating balls.

    Exact roots over a number field are expensive. A polynomial whose roots the balls do not separate stays in the list.
    """
    kept: list[Any] = []
    sides: dict[int, list[tuple[flint.arb, Any]]] = {-1: [], 1: []}
    with working_precision(bits):
        here = to_arb(lam)
        for polynomial in polynomials:
            coefficients = [_field_ball(polynomial.coeff(polynomial.ring.gens[0] ** k), domain, bits)
                            for k in range(1, polynomial.degree() + 1)]  # fmt: skip
            constant = _field_ball(polynomial.coeff(1), domain, bits)
            try:
                roots = flint.acb_poly([constant, *coefficients]).roots()
            except ValueError:
                kept.append(polynomial)
                continue
            for root in (r.real for r in roots if r.imag.contains(0)):
                if root.overlaps(here):
                    kept.append(polynomial)
                else:
                    sides[1 if root > here else -1].append((root, polynomial))
        for sign, found in sides.items():
            nearest = min((sign * root for root, _ in found), key=lambda r: float(r.mid()), default=here)
            kept += [polynomial for root, polynomial in found if not sign * root > nearest]
    return list(dict.fromkeys(kept))


def sign_in_field(element: Any, domain: Any, *, precisions: tuple[int, ...] = (64, 128, 256, 512, 1024)) -> int:
    """The sign of an element of the rationals or of a real number field: exact zero test, then balls."""
    if not element:
        return 0
    if domain.is_QQ:
        return 1 if element > 0 else -1
    for bits in precisions:
        ball = _field_ball(element, domain, bits)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
    raise NotDecided(f"the sign of {domain.to_sympy(element)} is not decided at {precisions[-1]} bits")


def _field_ball(element: Any, domain: Any, bits: int) -> flint.arb:
    """A ball around an element of a real number field, by Horner's rule at its generator."""
    lower, upper = _generator(domain, bits)
    with working_precision(bits + 32):
        at = to_arb(lower).union(to_arb(upper))
        total = flint.arb(0)
        for c in element.to_list():
            total = total * at + to_arb(Fraction(int(c.numerator), int(c.denominator)))
    return total


@cache
def _generator(domain: Any, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals around the generator of a real number field: a refined isolating interval of its minimal polynomial."""
    minimal = sp.Poly(domain.mod.to_list(), LAM, domain=sp.QQ)
    near = sp.Rational(str(sp.N(domain.ext, 30)))
    for isolated, _ in minimal.intervals(eps=sp.Rational(1, 10**15)):
        low, high = isolated
        if low - sp.Rational(1, 10**12) <= near <= high + sp.Rational(1, 10**12):
            interval = (low, high) if low == high else minimal.refine_root(low, high, eps=sp.Rational(1, 1 << bits))
            ends = [Fraction(int(end.p), int(end.q)) for end in interval]
            return ends[0], ends[1]
    raise NotDecided(f"the generator {domain.ext} is not among the roots of its minimal polynomial")


def nearby(element: Any, domain: Any, *, bits: int = 128) -> Fraction:
    """A rational close to a field element; the element itself if the field is that of the rationals."""
    if domain.is_QQ:
        return Fraction(int(element.numerator), int(element.denominator))
    return enclosure(element, domain, bits=bits).midpoint


def enclosure(element: Any, domain: Any, *, bits: int = 128) -> Ball:
    """A ball of about ``bits`` bits around an element of the rationals or of a real number field."""
    if domain.is_QQ:
        return enclose(nearby(element, domain), bits)
    with working_precision(bits + 32):  # the ends of a ball are rounded at the precision that is set
        return Ball.from_arb(_field_ball(element, domain, bits), bits)


def sign_changes(polynomial: Any, domain: Any) -> list[sp.Expr]:
    """The points above 1 at which a polynomial over a real field changes its sign, exactly, ascending.

    The norm of the polynomial to the rationals contains its roots; between them the sign is decided at rational points.
    """
    if polynomial.degree() <= 0:
        return []
    poly = sp.Poly.from_dict(dict(polynomial), LAM, domain=domain)
    rational = poly if domain.is_QQ else poly.lift()
    factors = [f for f, _ in rational.factor_list()[1] if f.degree() and f.count_roots(1, sp.oo)]
    roots = sorted({root for f in factors for root in sp.real_roots(f) if root > 1})
    if not roots:
        return []
    points = _separators(roots)
    signs = [
        sign_in_field(polynomial.evaluate(0, domain(int(point.p)) / domain(int(point.q))), domain) for point in points
    ]
    return [root for root, before, after in zip(roots, signs[:-1], signs[1:], strict=True) if before * after < 0]


def _separators(roots: Sequence[sp.Expr]) -> list[sp.Rational]:
    """Rationals around and between sorted distinct reals above 1; the first one is above 1 too."""
    for digits in (20, 40, 80, 160):
        values = [sp.Rational(str(sp.N(root, digits))) for root in roots]
        slack = sp.Rational(1, 10 ** (digits // 2))
        inner = [(a + b) / 2 for a, b in itertools.pairwise(values)]
        if values[0] - 1 > slack and all(b - a > slack for a, b in itertools.pairwise(values)):
            return [(values[0] + 1) / 2, *inner, values[-1] + 1]
    raise NotDecided("two roots could not be separated")
