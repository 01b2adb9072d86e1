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
from itertools import pairwise, zip_longest
from typing import Any, Final, TypeAlias, final

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.choices import Rigour
from symshuffle.base.errors import CertificateError
from symshuffle.base.numbers import Exp, Real, Verdict, less
from symshuffle.base.results import Bracket, passes, well_formed, within
from symshuffle.channels.law import Law
from symshuffle.ledger.recheck.values import rational

Polynomial: TypeAlias = "tuple[Fraction, ...]"
"""Coefficients, constant first."""

_DEPTH: Final = 40
_WIDTH: Final = 1e-3
_ONE: Final = (Fraction(1),)
_M: Final = (Fraction(0), Fraction(1))
_NUMBERS: Final = ("above", "delta", "lam_cap", "trace")

TRACE_FORMAT: Final = "symshuffle trace bound 1"


@final
@dataclass(frozen=True, slots=True)
class StopLossLine:
    """A line below the stop-loss share of every template: P_c(u) >= a + b S(u) + d V(u).

    - ``a``, ``b``: intercept, and slope in the signal S, at least 0.
    """

    c: Fraction
    a: Fraction
    b: Fraction
    d: Fraction = Fraction(0)

    def height(self, trace: Fraction, low: Fraction, high: Fraction | None) -> Fraction:
        """What the line says of channels of at least this trace with a second moment from ``low`` to ``high``."""
        end = low if self.d >= 0 or high is None else high
        return self.a + self.b * trace + self.d * end


@final
@dataclass(frozen=True, slots=True)
class TraceBound:
    """Proof that no capped exchangeable channel meets a target with so large a trace.

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

    @well_formed()
    def verify(self) -> None:
        """Check every line in rational arithmetic, and that the law below all others exceeds delta.

        Raises
        ------
        CertificateError
            At ``k``, ``above``, ``lam_cap``, ``trace``, ``cells``, ``cells[i].places`` or ``cells[i].lines[j]`` where a
            condition fails, or at ``cells[i].delta`` where the lower end of H(n), in balls, is not above delta.
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
        for i, (low, high) in enumerate(self._sides()):
            with within(f"cells[{i}]"):
                self._check_cell(self.cells[i], low, high)

    def _check_cell(self, lines: tuple[StopLossLine, ...], low: Fraction, high: Fraction | None) -> None:
        places = [line.c for line in lines]
        if any(x >= y for x, y in pairwise(places)):
            raise CertificateError("places", "they do not increase")
        if len(places) < 2:
            raise CertificateError("places", "fewer than two")
        for i, line in enumerate(lines):
            with within(f"lines[{i}]"):
                check_line(line, self.k, self.above, self.lam_cap)
                if high is None and line.d < 0:
                    raise CertificateError("d", f"the slope {line.d} is negative, and the cell has no upper end")
        if not self._bound_of(lines, low, high).lower > self.delta:
            raise CertificateError("delta", f"H(n) of the law below all others may be {self.delta}")

    def _sides(self) -> Iterator[tuple[Fraction, Fraction | None]]:
        """Both ends of each cell; the last one has no upper end."""
        return zip((Fraction(0), *self.ends), (*self.ends, None), strict=True)

    def _bound_of(self, lines: Sequence[StopLossLine], low: Fraction, high: Fraction | None) -> Bracket:
        law = law_below([line.height(self.trace, low, high) for line in lines], [line.c for line in lines], self.above)
        return evaluate_law(law, self.n, rigour=Rigour.BALL, rel=_WIDTH)

    def holds(self) -> bool:
        """Whether :meth:`verify` passes."""
        return passes(self.verify)

    def bounds(self) -> tuple[Bracket, ...]:
        """Brackets around H(n) of the law below all others, by cells."""
        return tuple(
            self._bound_of(lines, low, high) for lines, (low, high) in zip(self.cells, self._sides(), strict=True)
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
            "above": str(self.above),
            "delta": str(self.delta),
            "lam_cap": str(self.lam_cap),
            "trace": str(self.trace),
            "ends": [str(end) for end in self.ends],
            "cells": [[[str(x) for x in (line.c, line.a, line.b, line.d)] for line in lines] for lines in self.cells],
        }

    @classmethod
    @well_formed()
    def from_dict(cls, content: Any) -> TraceBound:
        """The proof whose :meth:`to_dict` this is, not yet verified.

        Raises
        ------
        CertificateError
            At the entry that is missing, not known or of another kind.
        """
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
            tuple(StopLossLine(*(rational(x, f"cells[{i}].lines[{j}]") for x in line)) for j, line in enumerate(cell))
            for i, cell in enumerate(content["cells"])
        )
        ends = tuple(rational(end, f"ends[{i}]") for i, end in enumerate(content["ends"]))
        target = Exp(rational(order["exp"], "exp_eps")) if exponential else rational(order, "exp_eps")
        return cls(content["k"], content["n"], target, above, delta, lam_cap, trace, ends, cells)


def law_below(heights: Sequence[Fraction], places: Sequence[Fraction], above: Fraction) -> Law:
    """Law whose potential is the largest convex function that heights at places and both tangents allow.

    - ``heights``, ``places``: lower bounds on the potential, and increasing places, at least two. At the first and
      the last one Jensen's bound and 0 are used.
    - ``above``: the mean of G is ``1 - above``.
    - returned: below every G in convex order to which the heights apply.
    """
    mean = 1 - above
    # The potential falls with slope -1 left of the corners: one that left the line of the mean would have to be steeper
    # next to it, and one that rose a negative mass. Such a law is refused where it is made.
    # In a cell without channels a height may be above every potential: a chord from end to end is.
    fall = (mean - places[0]) / (places[-1] - places[0])
    heights = [
        max(min(height, fall * (places[-1] - c)), mean - c, Fraction(0))
        for height, c in zip(heights, places, strict=True)
    ]
    heights[0], heights[-1] = mean - places[0], Fraction(0)
    hull: list[tuple[Fraction, Fraction]] = []
    corners = [(c + r - right, right) for c, (r, right) in zip(places, pairwise(heights), strict=False)]
    for x, y in sorted(corners):
        if hull and hull[-1][0] == x:
            if hull[-1][1] <= y:
                continue
            hull.pop()
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    slopes = [Fraction(-1), *(_slope(p, q) for p, q in pairwise(hull)), Fraction(0)]
    return Law.from_atoms((x, after - before) for (x, _), (before, after) in zip(hull, pairwise(slopes), strict=True))


def _slope(p: tuple[Fraction, Fraction], q: tuple[Fraction, Fraction]) -> Fraction:
    return (q[1] - p[1]) / (q[0] - p[0])


def check_line(line: StopLossLine, k: int, gamma: Fraction, cap: Fraction) -> None:
    """Refuse a line that is above the stop-loss share of some template of ratio at most the cap."""
    if line.b < 0:
        raise CertificateError("b", f"the slope {line.b} is negative")
    for low, high, polynomial in gaps(line, k, gamma, cap):
        if not nonnegative_between(polynomial, low, high):
            raise CertificateError("a", f"the line is not below for min u in [{float(low):.6g}, {float(high):.6g}]")


def gaps(line: StopLossLine, k: int, gamma: Fraction, cap: Fraction) -> Iterator[tuple[Fraction, Fraction, Polynomial]]:
    """Polynomials in m = min u that have to be at least 0, with their intervals.

    - returned ``low, high``: Ends of the interval.
    - returned ``polynomial``: Positive multiple of the worst share minus the line.
    """
    c, b = line.c, line.b * k
    if c >= 1 - gamma:
        rise, kink = 1 + gamma / (k - 1), (gamma * k / (k - 1), c)
        rest: Polynomial = _scaled((Fraction(1), Fraction(-1)), max(-c, Fraction(0)))
    else:
        rise, kink, rest = gamma + Fraction(1, k - 1), (Fraction(k, k - 1), -c), (1 - gamma - c,)
    t = _scaled(kink, 1 / rise)
    second, shift = second_moment(k, gamma)
    # m times the difference: m (worst share - a + bk) + dB - (bkm + dA) q, with q to come.
    offset = _sum(_product(_M, _sum(rest, (-line.a + b,))), (line.d * shift,))
    curve = (-line.d * second, -b)  # the factor of q; where it is above 0, the difference is convex
    turn, least = Fraction(k) / (cap + k - 1), 1 / cap
    ends = {least, Fraction(1), turn, *_zeros(curve)}
    for other in (_M, (Fraction(0), cap), (Fraction(k), Fraction(1 - k)), _ONE):
        ends |= _zeros(_sum(t, _scaled(other, Fraction(-1))))
    rising = _product(_M, _sum((rise,), _scaled(kink, Fraction(-1))))  # m times the value at the mean, above t
    for low, high in pairwise(sorted(m for m in ends if least <= m <= 1)):
        middle = (low + high) / 2
        top = (Fraction(0), cap) if middle < turn else (Fraction(k), Fraction(1 - k))
        at, end = _value(t, middle), _value(top, middle)
        share = ((Fraction(1), Fraction(-1)), _scaled(_M, cap - 1)) if middle < turn else (_ONE, (Fraction(k),))
        if _value(curve, middle) > 0:
            whole = _sum(rising, offset) if at < 1 else offset
            yield low, high, _sum(whole, _product(curve, _least_square(k)))
            continue
        lost = _product(curve, _pair(_M, top))
        if at <= middle:
            yield low, high, _sum(_sum(rising, offset), lost)
        elif at >= end:
            yield low, high, _sum(offset, lost)
        else:
            above = _product(_M, _sum(_scaled(top, rise), _scaled(kink, Fraction(-1))))
            yield low, high, _sum(_product(share[0], above), _product(share[1], _sum(offset, lost)))
            if at >= 1:
                yield low, high, _sum(offset, _product(curve, _pair(_M, t)))
            if at <= 1:
                yield low, high, _sum(_sum(rising, offset), _product(curve, _pair(t, top)))


def second_moment(k: int, gamma: Fraction) -> tuple[Fraction, Fraction]:
    """A and B of a template's share (A q - B)/min u in the second moment of G, q the mean of u_i squared."""
    return 1 + gamma**2 + 2 * gamma / (k - 1), 2 * gamma * k / (k - 1)


def _least_square(k: int) -> Polynomial:
    """Smallest mean of u_i squared at the smallest coordinate m: 1 + (1 - m)^2/(k - 1)."""
    return Fraction(k, k - 1), Fraction(-2, k - 1), Fraction(1, k - 1)


def _pair(p: Polynomial, q: Polynomial) -> Polynomial:
    """E u^2 of a law of mean 1 on two points: p + q - pq."""
    return _sum(_sum(p, q), _scaled(_product(p, q), Fraction(-1)))


def _sum(p: Polynomial, q: Polynomial) -> Polynomial:
    return tuple(x + y for x, y in zip_longest(p, q, fillvalue=Fraction(0)))


def _scaled(p: Polynomial, factor: Fraction) -> Polynomial:
    return tuple(factor * x for x in p)


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    found = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            found[i + j] += x * y
    return tuple(found)


def _value(p: Polynomial, m: Fraction) -> Fraction:
    return sum((x * m**i for i, x in enumerate(p)), start=Fraction(0))


def _zeros(p: Polynomial) -> set[Fraction]:
    """Zero of a polynomial of degree at most 1 that is not constant."""
    return {-p[0] / p[1]} if len(p) > 1 and p[1] else set()


def nonnegative_between(p: Polynomial, low: Fraction, high: Fraction) -> bool:
    """Whether a polynomial is proved to be at least 0 on an interval: by its Bernstein coefficients on halves.

    A zero inside an interval may not be settled; the answer is then False.
    """
    return _by_halves(_bernstein(p, low, high), _DEPTH)


def _bernstein(p: Polynomial, low: Fraction, high: Fraction) -> list[Fraction]:
    degree = len(p) - 1
    shifted: Polynomial = (Fraction(0),)
    for x in reversed(p):
        shifted = _sum(_product(shifted, (low, high - low)), (x,))
    return [
        sum((Fraction(math.comb(i, j), math.comb(degree, j)) * shifted[j] for j in range(i + 1)), start=Fraction(0))
        for i in range(degree + 1)
    ]


def _by_halves(b: list[Fraction], depth: int) -> bool:
    if min(b) >= 0:
        return True
    if b[0] < 0 or b[-1] < 0 or depth == 0:
        return False
    left, right, row = [b[0]], [b[-1]], b
    while len(row) > 1:
        row = [(x + y) / 2 for x, y in pairwise(row)]
        left.append(row[0])
        right.append(row[-1])
    return _by_halves(left, depth - 1) and _by_halves(right[::-1], depth - 1)
