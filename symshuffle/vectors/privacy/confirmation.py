r"""An independent confirmation of brackets for the mixed Gaussian, by mpmath: it shares nothing with the engines.

No law of G, no Gauss rule, no tail cut, no tilt: Bromwich's integral runs to the *left* of 0, where the log-normal
tail has a transform, along the whole normal density, by a trapezoid rule in the normal variable and another along
the line,

.. math:: E[S_+]=E[S_-]+n\gamma(1-e^{\varepsilon})

(the other way round for the other order), and the sum is repeated on a second line with other steps: digits on
which both agree are reported.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, Final

from symshuffle.base.choices import Blanket, Relation, choice
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp, Real, Verdict, less
from symshuffle.channels.law import Law
from symshuffle.mechanisms.names import source_name
from symshuffle.vectors.privacy.gaussian_blanket import last_rounded, rounding_radius
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)

_FEWEST: Final = 10
"""Users below which the integrand falls too slowly."""


def confirm_pair(
    mechanism: Any,
    *,
    n: int,
    exp_eps: Fraction | Exp,
    adjacency: Relation = "replace-one",
    blanket: Blanket | None = None,
    digits: int = 14,
) -> tuple[str, int]:
    """The larger order of the bound for a randomizer of vectors, and the digits on which two quadratures agree.

    The second one has other panels, a wider window and another line. A numerical witness, not a certificate. A pair of
    finitely many likelihood ratios has no density to make the integrand fall: it goes to
    :func:`symshuffle.engines.recompute`, which searches the whole line.
    """
    from mpmath import mp

    if not isinstance(mechanism, BlanketMixedGaussian | LocalGaussian | SphereLinear | ClippedLinear | PrivUnit):
        raise Unsupported(f"no independent quadrature is known for {source_name(mechanism)}")
    if n < _FEWEST:
        raise Unsupported(f"the independent quadrature needs at least {_FEWEST} users, not {n}")
    near = choice(Relation, adjacency, "adjacency")
    kind = None if blanket is None else choice(Blanket, blanket, "blanket")
    largest = isinstance(mechanism, LocalGaussian) or kind == "largest"
    if largest and isinstance(mechanism, BlanketMixedGaussian | LocalGaussian) and mechanism.dimension > 1:
        raise Unsupported("the largest blanket of a Gaussian is confirmed in dimension 1 only")
    with mp.workdps(digits + 15):
        ratio = mp.exp(_mpf(exp_eps.exponent)) if isinstance(exp_eps, Exp) else _mpf(exp_eps)
        if isinstance(mechanism, PrivUnit) or (isinstance(mechanism, SphereLinear) and mechanism.dimension == 1):
            return _of_atoms(_rows(mechanism, near, kind, digits, 1, exp_eps), n, ratio, digits)
        pairs = [_rows(mechanism, near, kind, digits, factor, exp_eps) for factor in (1, 2)]
        found = []
        for reverse in (False, True):
            values = [
                _left_of_zero([(q, p, r, w) if reverse else (p, q, r, w) for p, q, r, w in rows], n, ratio, digits, f)
                for rows, f in zip(pairs, (mp.mpf(1), mp.mpf("1.37")), strict=True)
            ]
            found.append(values)
        value, other = max(found)
        gap = abs(value - other)
        agree = digits if gap == 0 else max(0, min(digits, int(-mp.log10(gap / abs(value)))))
        return str(mp.nstr(value, max(agree, 1))), agree


def _of_atoms(rows: list[tuple[Any, ...]], n: int, ratio: Any, digits: int) -> tuple[str, int]:
    """Finitely many values of G: the integrand comes back far up the line, so the whole line has to be looked at."""
    from symshuffle.engines.confirm import recompute

    found = []
    for reverse in (False, True):
        atoms = []
        for p, q, r, w in rows:
            first, second = (q, p) if reverse else (p, q)
            atoms.append((_fraction((first - ratio * second) / r), _fraction(r * w)))
        rest = 1 - sum(mass for _, mass in atoms)
        found.append(recompute(Law.from_atoms([(Fraction(0), rest), *atoms]), n, digits=digits))
    largest = max(found, key=lambda one: one.exactly)
    return largest.value, largest.digits


def _fraction(value: Any) -> Fraction:
    """A number of mpmath as it is stored."""
    sign, mantissa, exponent, _ = value._mpf_
    found: Fraction = Fraction(-mantissa if sign else mantissa) * Fraction(2) ** exponent
    return found


def _mpf(value: Fraction) -> Any:
    from mpmath import mp

    return mp.mpf(value.numerator) / value.denominator


def _rows(
    mechanism: Any, adjacency: Relation, blanket: Blanket | None, digits: int, factor: int, exp_eps: Real
) -> list[tuple[Any, ...]]:
    """Densities of both laws and of the blanket at nodes, relative to the null symbol's, with the nodes' weights."""
    from mpmath import mp

    removed = adjacency == "zero-out"
    if isinstance(mechanism, PrivUnit):
        d, p, theta = mechanism.dimension, _mpf(mechanism.p), _mpf(mechanism.theta)
        half = (d - mp.mpf(1)) / 2
        q = mp.betainc(half, half, 0, (1 + theta) / 2, regularized=True)
        inside, outside = p / (1 - q), (1 - p) / q
        sizes = (1 - q, 1 - q, mp.mpf(0), 2 * q - 1) if theta >= 0 else (q, q, 1 - 2 * q, mp.mpf(0))
        here, there = (inside, outside, inside, outside), (outside, inside, inside, outside)
        least = min(inside, outside)
        rows = zip(here, there, sizes, strict=True)
        return [(a, mp.mpf(1) if removed else b, least, size) for a, b, size in rows if size > 0]
    if isinstance(mechanism, SphereLinear):
        c, d = _mpf(mechanism.c), mechanism.dimension
        if d == 1:
            nodes = [(mp.mpf(1), mp.mpf("0.5")), (mp.mpf(-1), mp.mpf("0.5"))]
        else:
            scale = mp.gamma(mp.mpf(d) / 2) / mp.gamma(mp.mpf(d - 1) / 2) / mp.sqrt(mp.pi)
            angles = _panels([-mp.pi / 2, 0, mp.pi / 2], digits, factor)
            nodes = [(mp.sin(a), w * scale * mp.cos(a) ** (d - 2)) for a, w in angles]
        return [(1 + c * t, mp.mpf(1) if removed else 1 - c * t, 1 - c, w) for t, w in nodes]
    if isinstance(mechanism, ClippedLinear):
        return _clipped_rows(mechanism, removed, digits, factor)
    gamma = _mpf(mechanism.gamma) if isinstance(mechanism, BlanketMixedGaussian) else mp.mpf(0)
    v = (_mpf(mechanism.norm) if isinstance(mechanism, BlanketMixedGaussian) else 1) / _mpf(mechanism.sigma0)

    def density(z: Any) -> Any:
        return gamma + (1 - gamma) * mp.exp(v * z - v * v / 2)

    largest = blanket == "largest" or gamma == 0
    radius = _mpf(_radius(mechanism, exp_eps)) if largest and removed else mp.mpf(0)

    def rounded_blanket(z: Any) -> Any:
        if abs(z) >= radius:
            return density(-abs(z))
        return gamma + (1 - gamma) * mp.exp(-v * z * z / (2 * radius) - v * (radius + v) / 2)

    width = mp.sqrt(2 * mp.log(10) * (digits + 12)) + factor
    even = [mp.mpf(k) * width / (4 * factor) for k in range(-4 * factor, 4 * factor + 1)]
    ends = sorted({*even, *(end for end in (-radius, radius) if abs(end) < width)})
    return [
        (
            density(z),
            mp.mpf(1) if removed else density(-z),
            rounded_blanket(z) if largest else gamma,
            w * mp.npdf(z),
        )
        for z, w in _panels(ends, digits, 1)
    ]


def _radius(mechanism: Any, exp_eps: Real) -> Fraction:
    """How far from 0 the blanket of the bound is rounded for zero-out, in units of sigma0."""
    if isinstance(mechanism, BlanketMixedGaussian):
        return rounding_radius(exp_eps, reach=mechanism.norm / mechanism.sigma0, gamma=mechanism.gamma)
    last = last_rounded(mechanism.sigma0)
    if last is None or less(last, exp_eps) is not Verdict.FALSE:
        raise Unsupported("the quadrature that confirms takes the null symbol up to the last level of rounding only")
    return rounding_radius(exp_eps, reach=1 / mechanism.sigma0)


def _clipped_rows(mechanism: ClippedLinear, removed: bool, digits: int, factor: int) -> list[tuple[Any, ...]]:
    """The clipped density by its shape alone: mass and index determine slope and blanket, all by quadrature."""
    from mpmath import mp

    d, clip = mechanism.dimension, _mpf(mechanism.clip)
    kinks = sorted({mp.asin(clip), -mp.asin(clip), -mp.pi / 2, mp.pi / 2})
    scale = mp.gamma(mp.mpf(d) / 2) / mp.gamma(mp.mpf(d - 1) / 2) / mp.sqrt(mp.pi)
    nodes = [(mp.sin(a), w * scale * mp.cos(a) ** (d - 2)) for a, w in _panels(kinks, digits, factor)]

    def ramp(t: Any) -> Any:
        return max(t - clip, mp.mpf(0))

    first, second = (mp.fsum(w * ramp(t) ** k for t, w in nodes) for k in (1, 2))
    # 1 = gamma + slope first, and slope^2 (second - first^2) = gamma / chi^2
    spread = (second - first**2) * _mpf(mechanism.chi) ** 2
    slope = (mp.sqrt(first**2 + 4 * spread) - first) / (2 * spread)
    gamma = 1 - slope * first
    return [(gamma + slope * ramp(t), mp.mpf(1) if removed else gamma + slope * ramp(-t), gamma, w) for t, w in nodes]


def _panels(ends: list[Any], digits: int, factor: int) -> list[tuple[Any, Any]]:
    """Gauss's rules of mpmath on panels."""
    from mpmath import mp
    from mpmath.calculus.quadrature import GaussLegendre

    nodes = _nodes(4 if len(ends) > _FEWEST else 5 + (factor - 1), mp.prec)
    return [node for low, high in pairwise(ends) for node in GaussLegendre(mp).transform_nodes(nodes, low, high)]


@cache
def _nodes(degree: int, prec: int) -> list[tuple[Any, Any]]:
    """Nodes and weights of Gauss's rule on [-1, 1], which take longer than a sum over them."""
    from mpmath import mp
    from mpmath.calculus.quadrature import GaussLegendre

    found: list[tuple[Any, Any]] = GaussLegendre(mp).calc_nodes(degree, prec)
    return found


def _left_of_zero(
    rows: list[tuple[Any, ...]], n: int, ratio: Any, digits: int, factor: Any, *, most_nodes: int = 3000
) -> Any:
    r"""E of the positive part of the sum over n, by :math:`E[S_+]=E[S_-]+nE[G]`.

    - ``most_nodes``: nodes on one line; where much of the mass of G is in atoms, the integrand falls no
      faster than 1/t^2.
    """
    from mpmath import mp

    law = [((p - ratio * q) / r, r * w) for p, q, r, w in rows]
    mass = mp.fsum(w for _, w in law)
    mean = mp.fsum(w * v for v, w in law)
    spread = mp.sqrt(n * (mp.fsum(w * v * v for v, w in law) - mean * mean))
    c = factor * 2 / spread
    step = 2 * mp.pi * c / (mp.mpf("2.4") * (digits + 6)) / factor
    start = [w * mp.exp(-c * v) for v, w in law]

    def term_at(s: Any, waves: list[Any]) -> Any:
        return (1 - mass + mp.fsum(waves)) ** n / s**2

    slow = f"the quadrature that confirms falls too slowly at n = {n} for over {most_nodes} nodes"
    least = mp.mpf(10) ** (-digits - 3)
    # No sum of the terms, which are at most those on the real line times 1/(1 + (kh/c)^2), exceeds this one.
    most = term_at(c, start).real * (mp.mpf("0.5") + mp.pi * c / (2 * step))
    end = mp.mpc(c, step * most_nodes)
    last = abs(term_at(end, [a * mp.expj(-end.imag * v) for (v, _), a in zip(law, start, strict=True)]))
    if last * most_nodes > most * least:
        raise Unsupported(slow)
    turns, waves = [mp.expj(-step * v) for v, _ in law], start
    total, k = mp.mpf(0), 0
    while True:
        s = mp.mpc(c, step * k)
        term = term_at(s, waves)
        total += term.real / 2 if k == 0 else term.real
        if k > 3 and abs(term) * (k + 1) < abs(total) * least:
            return total * step / mp.pi / n + mean
        k += 1
        if k > most_nodes:
            raise Unsupported(slow)
        waves = [a * b for a, b in zip(waves, turns, strict=True)]  # a product costs a fifth of an exponential
