r"""Upper end on the trace under a cap on likelihood ratios: lines below stop-losses, and the law below all others.

Let an exchangeable channel have ratios at most :math:`\Lambda` and trace at least v, and :math:`\pi(c)=E(G-c)_+`.

1. *Lines.* :math:`P_c(u)` is the share of a template in :math:`\pi(c)`: the mean over pairs of
   :math:`(u_i-\gamma u_j-cm)_+`, m = min u, plus :math:`(1-m)(-c)_+`. Given :math:`u_i`, the mean over j is at least
   the value at the mean of the others (Jensen), which leaves a convex function of one coordinate with one kink t. The
   share in :math:`E G^2` is :math:`V(u)=(Aq-B)/m` with q the mean of :math:`u_i^2`, and :math:`S=kq-k`. A line
   :math:`a+bS+dV`, b >= 0, is below :math:`P_c` if, for every m, it is below for the law of a coordinate in
   :math:`[m,\min(\Lambda m,k-(k-1)m)]` of mean 1 that is worst. The factor of -q is :math:`bk+dA/m`. Where it is
   at least 0 the difference is concave on both sides of t, and such a law sits on two of the points m, t and the upper
   end. Where it is negative, the convex function is at least its value at 1, and
   :math:`q\ge1+(1-m)^2/(k-1)`. All are polynomials in m, once they are multiplied by m.
   Below :math:`1-\gamma` the same is done to :math:`E(c-G)_+=\pi(c)-(1-\gamma)+c`.
2. *Cells.* Channels are divided by their second moment :math:`E G^2`: for those of a cell [x, y] the line says
   :math:`\pi(c_i)\ge r_i=a_i+b_iv+d_ix`, or with y for x where :math:`d_i<0`. The cells cover all numbers.
3. *Minorant.* Between two points :math:`c_i` :math:`\pi` does not rise, and falls with slope at most 1: it is above
   both tangents, which meet at :math:`(c_i+r_i-r_{i+1},r_{i+1})`. The chord between the points would be no lower bound.
   The convex hull of the meeting points is the potential of a law below G in convex order, for all G of the cell.
4. *Conclusion.* If H(n) of the law of every cell is above delta, no such channel meets (eps, delta) by the certified
   bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from operator import add, mul
from typing import Any, Final, TypeAlias, final

from flint import fmpq, fmpq_poly, fmpz_poly

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.errors import CertificateError
from symshuffle.base.numbers import Exp, Real, Verdict, less
from symshuffle.base.results import Bracket, outward, passes, well_formed, within
from symshuffle.channels.geometry.linear import from_fmpq, to_fmpq
from symshuffle.channels.law import Law
from symshuffle.ledger.recheck.values import rational

_NUMBERS: Final = ("above", "delta", "lam_cap", "trace")

TRACE_FORMAT: Final = "symshuffle trace bound 1"


StopLossLine: TypeAlias = tuple[Fraction, Fraction, Fraction, Fraction]
"""A line (c, a, b, d) below the stop-loss share of every template: P_c(u) >= a + b S(u) + d V(u), with b >= 0."""


def height_of(line: StopLossLine, trace: Fraction, low: Fraction, high: Fraction | None) -> Fraction:
    """What a line says of channels of at least this trace with a second moment from ``low`` to ``high``."""
    _, a, b, d = line
    return a + b * trace + d * (low if d >= 0 or high is None else high)


@final
@dataclass(frozen=True, slots=True)
class TraceBound:
    """Proof that no capped exchangeable channel meets a target with so large a trace.

    ``float`` returns the trace, rounded up.

    Parameters
    ----------
    k, n : int
        Number of inputs and of users.
    exp_eps : Real
        The target ratio exp(eps).
    above : Fraction
        A rational of at least exp(eps), at which all is computed; the certified bound falls with it.
    delta, lam_cap, trace : Fraction
        The target delta, the largest likelihood ratio, above ``above``, and the trace.
    ends : tuple of Fraction
        Second moments of G that divide the channels into cells; none for a single cell.
    cells : tuple of tuple of StopLossLine
        The lines of each cell, one more than ``ends``: at increasing places, at least two.
    """

    k: int
    n: int
    exp_eps: Real
    above: Fraction
    delta: Fraction
    lam_cap: Fraction
    trace: Fraction
    ends: tuple[Fraction, ...]
    cells: tuple[tuple[StopLossLine, ...], ...]

    def __float__(self) -> float:
        return outward(self.trace, up=True)

    @well_formed()
    def verify(self) -> None:
        """Check every line in rational arithmetic, and that the law below all others exceeds delta.

        A CertificateError is at the field that fails, at ``cells[i].places`` or ``cells[i].lines[j]``, or at
        ``cells[i].delta`` where the lower end of H(n), in balls, is not above delta.
        """
        if not isinstance(self.k, int) or self.k < 2:
            raise CertificateError("k", f"{self.k} is no number of inputs, an integer of at least 2")
        if less(self.above, self.exp_eps) is not Verdict.FALSE:
            raise CertificateError("above", f"{self.above} is not certainly at least {self.exp_eps}")
        if not self.lam_cap > self.above:
            raise CertificateError("lam_cap", f"{self.lam_cap} is not above {self.above}: the bound is 0 at all traces")
        if not self.trace >= 0:
            raise CertificateError("trace", f"{self.trace} is negative")
        if len(self.cells) != len(self.ends) + 1:
            raise CertificateError("cells", f"{len(self.ends)} ends do not make {len(self.cells)} cells")
        for i, (low, high) in enumerate(cell_sides(self.ends)):
            with within(f"cells[{i}]"):
                self._check_cell(self.cells[i], low, high)

    def _check_cell(self, lines: tuple[StopLossLine, ...], low: Fraction, high: Fraction | None) -> None:
        places = [c for c, *_ in lines]
        if any(x >= y for x, y in pairwise(places)):
            raise CertificateError("places", "they do not increase")
        if len(places) < 2:
            raise CertificateError("places", "fewer than two")
        for i, line in enumerate(lines):
            with within(f"lines[{i}]"):
                check_line(line, self.k, self.above, self.lam_cap)
                *_, d = line
                if high is None and d < 0:
                    raise CertificateError("d", f"the slope {d} is negative, and the cell has no upper end")
        if not self._bound_of(lines, low, high).lower > self.delta:
            raise CertificateError("delta", f"H(n) of the law below all others may be {self.delta}")

    def _bound_of(self, lines: Sequence[StopLossLine], low: Fraction, high: Fraction | None) -> Bracket:
        law = law_below([height_of(line, self.trace, low, high) for line in lines], [c for c, *_ in lines], self.above)
        return _evaluated(law, self.n)

    def holds(self) -> bool:
        """Whether :meth:`verify` passes."""
        return passes(self.verify)

    def bounds(self) -> tuple[Bracket, ...]:
        """Brackets around H(n) of the law below all others, by cells."""
        return tuple(
            self._bound_of(lines, low, high)
            for lines, (low, high) in zip(self.cells, cell_sides(self.ends), strict=True)
        )

    @property
    def about(self) -> str:
        """What is proved, in one line."""
        eps = self.exp_eps.exponent if isinstance(self.exp_eps, Exp) else f"log({self.exp_eps})"
        return (
            f"no exchangeable channel with {self.k} inputs, likelihood ratios at most {self.lam_cap} and a trace of "
            f"{self.trace} or more meets eps = {eps}, delta = {self.delta} with {self.n} users by the certified bound"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, with all that :meth:`verify` reads; rationals are strings."""
        order = {"exp": str(self.exp_eps.exponent)} if isinstance(self.exp_eps, Exp) else str(self.exp_eps)
        return {
            "format": TRACE_FORMAT,
            "k": self.k,
            "n": self.n,
            "exp_eps": order,
            **{name: str(getattr(self, name)) for name in _NUMBERS},
            "ends": [str(end) for end in self.ends],
            "cells": [[[str(x) for x in line] for line in lines] for lines in self.cells],
        }

    @classmethod
    @well_formed()
    def from_dict(cls, content: Any) -> TraceBound:
        """The proof whose :meth:`to_dict` this is, not yet verified; errors name the entry."""
        if not isinstance(content, dict) or content.get("format") != TRACE_FORMAT:
            raise CertificateError("format", f"not {TRACE_FORMAT!r}")
        names = {"format", "k", "n", "exp_eps", *_NUMBERS, "ends", "cells"}
        if content.keys() != names:
            raise CertificateError(min(map(str, names ^ content.keys())), "is missing or not known")
        for name in ("k", "n"):
            if type(content[name]) is not int or content[name] < 1:
                raise CertificateError(name, f"{content[name]!r} is no positive integer")
        order = content["exp_eps"]
        exponential = isinstance(order, dict) and list(order) == ["exp"]
        if exponential and rational(order["exp"], "exp_eps") < 0:
            raise CertificateError("exp_eps", f"{order['exp']} is negative")
        above, delta, lam_cap, trace = (rational(content[name], name) for name in _NUMBERS)
        cells = tuple(
            tuple(_read_line(line, f"cells[{i}].lines[{j}]") for j, line in enumerate(cell))
            for i, cell in enumerate(content["cells"])
        )
        ends = tuple(rational(end, f"ends[{i}]") for i, end in enumerate(content["ends"]))
        target = Exp(rational(order["exp"], "exp_eps")) if exponential else rational(order, "exp_eps")
        return cls(content["k"], content["n"], target, above, delta, lam_cap, trace, ends, cells)


@lru_cache(64, typed=True)  # asked for when a proof is made, and whenever it is verified
def _evaluated(law: Law, n: int, *, rtol: float = 0.001) -> Bracket:
    return evaluate_law(law, n, arithmetic="ball", rtol=rtol)


def cell_sides(ends: Sequence[Fraction]) -> list[tuple[Fraction, Fraction | None]]:
    """Both ends of each cell; the last one has no upper end."""
    return list(zip((Fraction(0), *ends), (*ends, None), strict=True))


def law_below(heights: Sequence[Fraction], places: Sequence[Fraction], above: Fraction) -> Law:
    """Law whose potential is the largest convex function that heights at places and both tangents allow.

    - ``heights``, ``places``: lower bounds on the potential, and increasing places, at least two; its ends are known.
    - ``above``: the mean of G is ``1 - above``.
    """
    mean, at = 1 - to_fmpq(above), [to_fmpq(c) for c in places]
    # The potential falls with slope -1 left of the corners: one that left the line of the mean would have to be steeper
    # next to it, and one that rose a negative mass. Such a law is refused where it is made.
    # In a cell without channels a height may be above every potential: a chord from end to end is.
    fall = (mean - at[0]) / (at[-1] - at[0])
    r = [
        max(min(to_fmpq(height), fall * (at[-1] - c)), mean - c, fmpq(0)) for height, c in zip(heights, at, strict=True)
    ]
    r[0], r[-1] = mean - at[0], fmpq(0)
    hull: list[tuple[fmpq, fmpq]] = []
    slopes = [fmpq(-1)]  # left of each point of the hull
    for x, y in sorted((c + left - right, right) for c, (left, right) in zip(at, pairwise(r), strict=False)):
        if hull and hull[-1][0] == x:
            continue  # above the one before
        while hull:
            slope = (y - hull[-1][1]) / (x - hull[-1][0])
            if len(hull) == 1 or slopes[-1] < slope:
                slopes.append(slope)
                break
            hull.pop()
            slopes.pop()
        hull.append((x, y))
    masses = (after - before for before, after in pairwise((*slopes, fmpq(0))))
    return Law.from_atoms((from_fmpq(x), from_fmpq(mass)) for (x, _), mass in zip(hull, masses, strict=True))


def _read_line(entries: Sequence[Any], place: str) -> StopLossLine:
    c, a, b, d = (rational(x, place) for x in entries)
    return c, a, b, d


def check_line(line: StopLossLine, k: int, gamma: Fraction, cap: Fraction) -> None:
    """Refuse a line that is above the stop-loss share of some template of ratio at most the cap."""
    c, a, b, d = map(to_fmpq, line)
    if b < 0:
        raise CertificateError("b", f"the slope {b} is negative")
    above = _above(k, c, a, b, d, to_fmpq(gamma), to_fmpq(cap))
    if above is not None:
        raise CertificateError("a", f"the line is not below for min u in [{above[0]:.6g}, {above[1]:.6g}]")


@lru_cache(8192)  # as above
def _above(k: int, c: fmpq, a: fmpq, b: fmpq, d: fmpq, gamma: fmpq, cap: fmpq) -> tuple[float, float] | None:
    """An interval of min u on which a line is not proved to be below; None if it is below on all."""
    for low, high, polynomial in _gaps(k, c, a, b, d, gamma, cap):
        if not nonnegative_between(polynomial, low, high):
            return float(low), float(high)
    return None


def gaps(line: StopLossLine, k: int, gamma: Fraction, cap: Fraction) -> Iterator[tuple[fmpq, fmpq, fmpq_poly]]:
    """Intervals of m = min u, and on each a positive multiple of the worst share minus the line: it has to be >= 0."""
    return _gaps(k, *map(to_fmpq, (*line, gamma, cap)))


def _gaps(
    k: int, c: fmpq, a: fmpq, slope: fmpq, d: fmpq, g: fmpq, most: fmpq
) -> Iterator[tuple[fmpq, fmpq, fmpq_poly]]:
    b = slope * k
    m, one = fmpq_poly([0, 1]), fmpq_poly([1])
    if c >= 1 - g:
        rise, kink = 1 + g / (k - 1), c * m + g * k / (k - 1)
        rest = (one - m) * max(-c, fmpq(0))
    else:
        rise, kink, rest = g + fmpq(1, k - 1), fmpq(k, k - 1) - c * m, one * (1 - g - c)
    t = kink / rise
    second, shift = second_moment(k, g)
    # m times the difference: m (worst share - a + bk) + dB - (bkm + dA) q, with q to come.
    offset = m * (rest - a + b) + d * shift
    curve = -b * m - d * second  # the factor of q; where it is above 0, the difference is convex
    turn, least = fmpq(k) / (most + k - 1), 1 / most
    lines = (curve, *(t - other for other in (m, most * m, k - (k - 1) * m, one)))
    ends = {least, fmpq(1), turn, *(-line[0] / line[1] for line in lines if line.degree() == 1)}
    rising = m * (rise - kink)  # m times the value at the mean, above t
    for low, high in pairwise(sorted(end for end in ends if least <= end <= 1)):
        middle = (low + high) / 2
        top = most * m if middle < turn else k - (k - 1) * m
        at, end = t(middle), top(middle)
        share = (one - m, (most - 1) * m) if middle < turn else (one, k * one)
        if curve(middle) > 0:
            # The mean of u_i squared is at least 1 + (1 - m)^2/(k - 1).
            yield low, high, offset + (rising if at < 1 else 0) + curve * (1 + (1 - m) ** 2 / (k - 1))
            continue
        # The kink is above m: kink - rise m falls in m, and is at least 0 at 1, on either side of the place 1 - g.
        lost = curve * _pair(m, top)
        if at >= end:
            yield low, high, offset + lost
        else:
            yield low, high, share[0] * m * (rise * top - kink) + share[1] * (offset + lost)
            if at >= 1:
                yield low, high, offset + curve * _pair(m, t)
            if at <= 1:
                yield low, high, rising + offset + curve * _pair(t, top)


def second_moment(k: int, gamma: Any) -> tuple[Any, Any]:
    """A and B of a template's share (A q - B)/min u in the second moment of G, q the mean of u_i squared."""
    return 1 + gamma**2 + 2 * gamma / (k - 1), 2 * gamma * k / (k - 1)


def _pair(p: fmpq_poly, q: fmpq_poly) -> fmpq_poly:
    """E u^2 of a law of mean 1 on two points."""
    return p + q - p * q


def nonnegative_between(p: fmpq_poly, low: fmpq, high: fmpq, *, depth: int = 40) -> bool:
    """Whether a polynomial is proved to be at least 0 on an interval: by its Bernstein coefficients on halves.

    A zero inside an interval may not be settled; the answer is then False.
    """
    # In integers, times positive numbers; min u is ``inside`` over ``whole``, from 0 to 1.
    width, degree = high - low, max(p.degree(), 0)
    whole = low.q * width.q
    inside = fmpz_poly([low.p * width.q, width.p * low.q])
    shifted = fmpz_poly([x * whole ** (degree - j) for j, x in enumerate(p.numer().coeffs())])(inside)
    terms = [int(shifted[j]) for j in range(degree + 1)]
    return _by_halves([sum(map(mul, row, terms)) for row in _bernstein(degree)], depth)


@cache
def _bernstein(degree: int) -> list[list[int]]:
    """Rows whose products with the coefficients of a polynomial are its Bernstein coefficients, times a number."""
    whole = math.factorial(degree)
    return [[whole * math.comb(i, j) // math.comb(degree, j) for j in range(i + 1)] for i in range(degree + 1)]


def _by_halves(b: list[int], depth: int) -> bool:
    if min(b) >= 0:
        return True
    if b[0] < 0 or b[-1] < 0 or depth == 0:
        return False
    degree = len(b) - 1
    left, right, row = [b[0] << degree], [b[-1] << degree], b
    for doublings in range(degree - 1, -1, -1):
        row = list(map(add, row, row[1:]))
        left.append(row[0] << doublings)
        right.append(row[-1] << doublings)
    return _by_halves(left, depth - 1) and _by_halves(right[::-1], depth - 1)
