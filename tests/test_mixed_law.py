"""Segments: quadrature, transform and finite neighbours, each against SciPy's quadrature of the density."""

import cmath
import math
from fractions import Fraction

import flint
import pytest
from scipy.integrate import quad

from symshuffle.base.numbers import Ball, enclose_log, to_arb, working_precision
from symshuffle.channels.mixed_law import MixedLaw, Segment, quadrature_error, segment_decay, segment_transform
from tests.fewbits import few_bits

SEGMENTS = [
    Segment(Fraction(-6, 5), Fraction(1), Fraction(1, 5), Fraction(1)),
    Segment(Fraction(1), Fraction(-6, 5), Fraction(1, 5), Fraction(4)),
    Segment(Fraction(-3), Fraction(1, 50), Fraction(1, 4), Fraction(8)),
]
POINTS = [complex(0.3, 0.01), complex(0.2, 2.0), complex(0.05, 9.0), complex(0.4, 8.0)]


def transformed(segment: Segment, s: complex) -> complex:
    """The moment generating function by adaptive quadrature of the density as it is defined."""
    a, b, w, span = (float(x) for x in (segment.constant, segment.slope, segment.weight, segment.span))  # type: ignore[arg-type]

    def part(u: float) -> complex:
        return w * math.exp(-u / 2) * cmath.exp(s * (a + b * math.exp(u)))

    real, imaginary = (
        quad(lambda u, f=f: f(part(u)), 0, span, limit=5000, epsabs=1e-12)[0]
        for f in (lambda z: z.real, lambda z: z.imag)
    )
    return complex(real, imaginary)


def middle(value: flint.acb) -> complex:
    return complex(float(value.real.mid()), float(value.imag.mid()))


@pytest.mark.parametrize("segment", SEGMENTS)
@pytest.mark.parametrize("s", POINTS)
def test_closed_form_is_the_transform(segment: Segment, s: complex) -> None:
    with working_precision(192):
        found = middle(segment_transform(segment.numbers, flint.acb(s.real, s.imag)))
    assert abs(found - transformed(segment, s)) < 1e-10 * max(1.0, transformed(segment, complex(s.real)).real)


@pytest.mark.parametrize("segment", SEGMENTS)
@pytest.mark.parametrize("s", POINTS)
@pytest.mark.parametrize("order", [4, 16, 64])
def test_gauss_nodes_err_by_less_than_the_bound(segment: Segment, s: complex, order: int) -> None:
    with working_precision(256):
        numbers, at = segment.numbers, flint.acb(s.real, s.imag)
        nodes = sum(((at * to_arb(v)).exp() * to_arb(w) for v, w in segment.nodes(order, 256)), start=flint.acb(0))
        bound = quadrature_error(numbers, order, flint.arb(s.real), flint.arb(s.imag))
        assert not abs(nodes - segment_transform(numbers, at)) > bound


def test_too_few_gauss_nodes_are_seen() -> None:
    """The bound of a finer rule is one that the coarse rule breaks."""
    with working_precision(256):
        numbers, at = SEGMENTS[1].numbers, flint.acb(0.2, 2)
        nodes = sum(((at * to_arb(v)).exp() * to_arb(w) for v, w in SEGMENTS[1].nodes(8, 256)), start=flint.acb(0))
        assert abs(nodes - segment_transform(numbers, at)) > quadrature_error(
            numbers, 192, flint.arb(0.2), flint.arb(2)
        )


@pytest.mark.parametrize("segment", SEGMENTS)
@pytest.mark.parametrize("s", POINTS)
def test_decay(segment: Segment, s: complex) -> None:
    with working_precision(192):
        numbers = segment.numbers
        found = segment_transform(numbers, flint.acb(s.real, s.imag))
        assert abs(found) * s.imag <= segment_decay(numbers, flint.arb(s.real))


@pytest.mark.parametrize("segment", SEGMENTS)
def test_moments(segment: Segment) -> None:
    a, b, w, span = (float(x) for x in (segment.constant, segment.slope, segment.weight, segment.span))  # type: ignore[arg-type]
    root = [math.log(-a / b)] if 1 < -a / b < math.exp(span) else None
    for found, power in zip(segment.moments(128), (lambda g: 1.0, lambda g: g, lambda g: max(g, 0.0)), strict=True):
        integrand = lambda u, f=power: f(a + b * math.exp(u)) * w * math.exp(-u / 2)  # noqa: E731
        assert float(found) == pytest.approx(quad(integrand, 0, span, points=root, limit=500)[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("segment", SEGMENTS)
@pytest.mark.parametrize("s", [0.1, 0.7])
def test_finite_laws_enclose_in_convex_order(segment: Segment, s: float) -> None:
    below, above = (
        sum(float(w) * math.exp(s * float(v)) for v, w in segment.finite(side, 6, 128))  # type: ignore[arg-type]
        for side in ("lower", "upper")
    )
    truth = transformed(segment, complex(s, 0.0)).real
    assert below < truth < above
    assert below < above * (1 - 1e-6)  # the sides differ by more than rounding


def test_mass_has_to_be_one() -> None:
    with pytest.raises(ValueError, match="probabilities of sum 1, those of the segments included"):
        MixedLaw((Fraction(0),), (Fraction(1),), (SEGMENTS[0],))


@pytest.mark.parametrize(("slope", "weight"), [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))])
def test_degenerate_segments_are_refused(slope: Fraction, weight: Fraction) -> None:
    with pytest.raises(ValueError, match="expected a"):
        Segment(Fraction(1), slope, weight, Fraction(1))


def test_mixtures() -> None:
    share = Segment(Fraction(1), Fraction(2), Fraction(1, 2), Fraction(1))
    rest = 1 - share.moments(128)[0]
    law = MixedLaw((Fraction(0),), (rest,), (share,))
    drawn = MixedLaw.mixture([(Fraction(1, 4), law), (Fraction(3, 4), MixedLaw((Fraction(0),), (Fraction(1),), ()))])
    assert len(drawn.values) == 1
    assert abs(float(drawn.mean) - float(law.mean) / 4) < 1e-15
    assert abs(float(drawn.positive_mean()) - float(law.positive_mean()) / 4) < 1e-15


@pytest.mark.parametrize("bits", [8, 24, 128])
def test_bounds_on_every_value_are_on_their_sides(bits: int) -> None:
    """The share of the segment in the expectation of G is 3/2, and of the atom -1/2."""
    segment = Segment(Fraction(1), Fraction(1), Fraction(1, 2), enclose_log(Fraction(4)))
    law = MixedLaw((Fraction(-1),), (Fraction(1, 2),), (segment,), Ball(Fraction(0), Fraction(1, 8)))
    with few_bits(bits):
        assert Fraction(7, 8) < law.floor <= 1
        assert Fraction(13, 8) <= law.ceiling < 2
