r"""Upper end on the trace under a cap on likelihood ratios: lines below stop-losses, and the law below all others.

Let an exchangeable channel have ratios at most :math:`\Lambda` and trace at least v, and :math:`\pi(c)=E(G-c)_+`.

1. *Lines.* :math:`P_c(u)` is the share of a template in :math:`\pi(c)`: the mean over pairs of
   :math:`(u_i-\gamma u_j-cm)_+`, m = min u, plus :math:`(1-m)(-c)_+`. Given :math:`u_i`, the mean over j is at least
   the value at the mean of the others (Jensen), which leaves a convex function of one coordinate with one kink t. A
   line :math:`a+bS`, b >= 0, is below :math:`P_c` if, for every m, it is below for the law of a coordinate in
   :math:`[m,\min(\Lambda m,k-(k-1)m)]` of mean 1 that is worst. The function minus :math:`bu^2` is concave on both
   sides of t, so such a law sits on two of the points m, t and the upper end: polynomials in m of degree at most 3.
   Below :math:`1-\gamma` the same is done to :math:`E(c-G)_+=\pi(c)-(1-\gamma)+c`.
2. *Minorant.* At the points :math:`c_i` then :math:`\pi(c_i)\ge r_i=a_i+b_iv`. Between two of them :math:`\pi` does not
   rise, and falls with slope at most 1: it is above both tangents, which meet at :math:`(c_i+r_i-r_{i+1},r_{i+1})`. The
   chord between the points would be no lower bound. The convex hull of the meeting points is the potential of a law
   :math:`G_v` below G in convex order.
3. *Conclusion.* If H(n) of :math:`G_v` is above delta, no such channel meets (eps, delta) by the certified bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, TypeAlias, final

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.choices import Rigour
from symshuffle.base.errors import CertificateError
from symshuffle.base.numbers import Real, Verdict, less
from symshuffle.base.results import Bracket, passes, well_formed, within
from symshuffle.channels.law import Law

Polynomial: TypeAlias = "tuple[Fraction, ...]"
"""Coefficients, constant first."""

_DEPTH: Final = 40
_WIDTH: Final = 1e-3
_ONE: Final = (Fraction(1),)
_M: Final = (Fraction(0), Fraction(1))


@final
@dataclass(frozen=True, slots=True)
class StopLossLine:
    """A line below the stop-loss share of every template: P_c(u) >= a + b S(u).

    Parameters
    ----------
    c : Fraction
        Where the stop-loss is taken.
    a, b : Fraction
        Intercept, and slope in the signal S, at least 0.
    """

    c: Fraction
    a: Fraction
    b: Fraction


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
    lines : tuple of StopLossLine
        At increasing places, at least two.
    """

    k: int
    n: int
    exp_eps: Real
    above: Fraction
    delta: Fraction
    lam_cap: Fraction
    trace: Fraction
    lines: tuple[StopLossLine, ...]

    @well_formed()
    def verify(self) -> None:
        """Check every line in rational arithmetic, and that the law below all others exceeds delta.

        Raises
        ------
        CertificateError
            At ``k``, ``above``, ``lam_cap``, ``trace``, ``places`` or ``lines[i]`` where a condition fails, or at
            ``delta`` where the lower end of H(n), in balls, is not above delta.
        """
        if not isinstance(self.k, int) or self.k < 2:
            raise CertificateError("k", f"{self.k} is no number of inputs, an integer of at least 2")
        if less(self.above, self.exp_eps) is not Verdict.FALSE:
            raise CertificateError("above", f"{self.above} is not certainly at least {self.exp_eps}")
        if not self.lam_cap > self.above:
            raise CertificateError(
                "lam_cap", f"{self.lam_cap} is not above {self.above}: the bound is 0 at every trace"
            )
        if not self.trace >= 0:
            raise CertificateError("trace", f"{self.trace} is negative")
        places = [line.c for line in self.lines]
        if any(x >= y for x, y in pairwise(places)):
            raise CertificateError("places", "they do not increase")
        if len(places) < 2:
            raise CertificateError("places", "fewer than two")
        for i, line in enumerate(self.lines):
            with within(f"lines[{i}]"):
                check_line(line, self.k, self.above, self.lam_cap)
        if not self.bound().lower > self.delta:
            raise CertificateError("delta", f"H(n) of the law below all others may be {self.delta}")

    def holds(self) -> bool:
        """Whether :meth:`verify` passes."""
        return passes(self.verify)

    def bound(self) -> Bracket:
        """Bracket around H(n) of the law below all others."""
        law = law_below(self.lines, self.trace, mean=1 - self.above)
        return evaluate_law(law, self.n, rigour=Rigour.BALL, rel=_WIDTH)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form; rationals are strings."""
        return {
            "trace": str(self.trace),
            "above": str(self.above),
            "lam_cap": str(self.lam_cap),
            "lines": [[str(line.c), str(line.a), str(line.b)] for line in self.lines],
        }


def law_below(lines: Sequence[StopLossLine], trace: Fraction, *, mean: Fraction) -> Law:
    """Law whose potential is the largest convex function that the lines and both tangents allow.

    Parameters
    ----------
    lines : sequence of StopLossLine
        At increasing places, at least two. At the first and the last one Jensen's bound and 0 are used.
    trace : Fraction
        Least trace of the channels.
    mean : Fraction
        Mean of G, ``1 - exp(eps)``.

    Returns
    -------
    Law
        Below G in convex order, for every channel of at least this trace to which the lines apply.
    """
    places = [line.c for line in lines]
    # The potential falls with slope -1 left of the corners: one that left the line of the mean would have to be steeper
    # next to it, and one that rose a negative mass. Such a law is refused where it is made.
    heights = [max(line.a + line.b * trace, mean - line.c, Fraction(0)) for line in lines]
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
    """Refuse a line that is above the stop-loss share of some template of ratio at most the cap.

    Raises
    ------
    CertificateError
        At ``b`` if the slope is negative, or at ``a`` with an interval of min u on which the line is not below.
    """
    if line.b < 0:
        raise CertificateError("b", f"the slope {line.b} is negative")
    for low, high, polynomial in gaps(line, k, gamma, cap):
        if not nonnegative_between(polynomial, low, high):
            raise CertificateError("a", f"the line is not below for min u in [{float(low):.6g}, {float(high):.6g}]")


def gaps(line: StopLossLine, k: int, gamma: Fraction, cap: Fraction) -> Iterator[tuple[Fraction, Fraction, Polynomial]]:
    """Polynomials in m = min u that have to be at least 0, with their intervals.

    Yields
    ------
    low, high : Fraction
        Ends of the interval.
    polynomial : Polynomial
        Positive multiple of the worst share minus the line.
    """
    c, b = line.c, line.b * k
    if c >= 1 - gamma:
        rise, kink, rest = (
            1 + gamma / (k - 1),
            (gamma * k / (k - 1), c),
            _scaled((Fraction(1), Fraction(-1)), max(-c, Fraction(0))),
        )
    else:
        rise, kink, rest = gamma + Fraction(1, k - 1), (Fraction(k, k - 1), -c), (1 - gamma - c,)
    t = _scaled(kink, 1 / rise)
    offset = _sum(rest, (-line.a + b,))  # minus a - bS, with S = k E u^2 - k and b E u^2 to come
    turn, least = Fraction(k) / (cap + k - 1), 1 / cap
    ends = {least, Fraction(1), turn}
    for other in (_M, (Fraction(0), cap), (Fraction(k), Fraction(1 - k)), _ONE):
        ends |= _zeros(_sum(t, _scaled(other, Fraction(-1))))
    for low, high in pairwise(sorted(m for m in ends if least <= m <= 1)):
        middle = (low + high) / 2
        top = (Fraction(0), cap) if middle < turn else (Fraction(k), Fraction(1 - k))
        at, end = _value(t, middle), _value(top, middle)
        share = ((Fraction(1), Fraction(-1)), _scaled(_M, cap - 1)) if middle < turn else (_ONE, (Fraction(k),))
        spread = _pair(_M, top)
        if at <= middle:
            whole = _sum((rise,), _scaled(kink, Fraction(-1)))
            yield low, high, _sum(_sum(whole, offset), _scaled(spread, -b))
        elif at >= end:
            yield low, high, _sum(offset, _scaled(spread, -b))
        else:
            above = _sum(_scaled(top, rise), _scaled(kink, Fraction(-1)))
            far = _sum(_product(share[0], above), _product(share[1], _sum(offset, _scaled(spread, -b))))
            yield low, high, far
            if at >= 1:
                yield low, high, _sum(offset, _scaled(_pair(_M, t), -b))
            if at <= 1:
                whole = _sum((rise,), _scaled(kink, Fraction(-1)))
                yield low, high, _sum(_sum(whole, offset), _scaled(_pair(t, top), -b))


def _pair(p: Polynomial, q: Polynomial) -> Polynomial:
    """E u^2 of a law of mean 1 on two points: p + q - pq."""
    return _sum(_sum(p, q), _scaled(_product(p, q), Fraction(-1)))


def _sum(p: Polynomial, q: Polynomial) -> Polynomial:
    size = max(len(p), len(q))
    zeros = (Fraction(0),)
    return tuple(x + y for x, y in zip(p + zeros * (size - len(p)), q + zeros * (size - len(q)), strict=True))


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
    shifted = shifted[: degree + 1] + (Fraction(0),) * (degree + 1 - len(shifted))
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
