r"""Laws of G with a long upper tail: sums are told apart by how many of their terms are jumps.

Where a tail as long as that of a log-normal law decides, one large value of G in place of many middling ones, no line
serves the whole transform: :math:`M(c)^n` exceeds the value by more than doubles, or any patience, resolve. So the
coordinate is cut where G passes a threshold. With :math:`M_0` the transform of the rest of the law (it keeps the
probability of G = 0 and has a mass below 1) and J that of the jumps, the events of exactly k jumps are disjoint, and

.. math:: E[S_+]=\sum_{k<K}E_k+E_{\ge K},\qquad
   E_k=\binom nk\frac1{2\pi i}\int_{\Re s=c_k}\frac{M_0(s)^{n-k}J(s)^k}{s^2}\,ds ,

each with a line of its own; :math:`E_0` is that of :mod:`symshuffle.engines.bromwich`. For k = 1, J is cut once more,
into bins of near values, whose terms simply add up: each has its own line too.

**Error terms.** A term of :math:`k\ge1` is a trapezoid sum of step :math:`2\pi/X`; with
:math:`\Phi(s)=M_0(s)^{n-k}J(s)^k` (the binomial factor aside)

- its aliases are not negative, so that it is an upper bound as it stands. Those of m > 0 are at most
  :math:`e^{-cmX}(E_k+mX\Phi(0))`, those of m < 0 at most :math:`e^{-(\theta-c)|m|X}\Phi(\theta)/(e\theta)` for any
  :math:`\theta>c`;
- nodes beyond the last one are bounded on stretches, by :math:`|M_0(c+it)|\le|M_0(c+it_0)|+|t-t_0|E[|G-\mu|e^{cG}]` and
  :math:`|J(c+it)|\le J(c)`, and from some height h on by :func:`symshuffle.engines.gauss.far` of both factors, as the
  weights :math:`1/|s|^2` times the step sum to at most 1/h;
- a term with :math:`\Phi(c)/(ec)` below what is asked for lies between 0 and that number (:math:`x_+\le e^{cx}/(ec)`);
- with at least K jumps, :math:`E_{\ge K}\le E[\sum_iG_i^+;\ge K]`. Of the other n - 1 terms at least K - 1 are jumps
  where :math:`G_i` is one, and at least K where it is none; with p the mass of the jumps,

  .. math:: \tfrac1nE_{\ge K}\le\tbinom{n-1}{K-1}p^{K-1}\,p\sup G+\tbinom{n-1}Kp^K\,E[G^+;\text{no jump}],\qquad
     E[G^+;\text{no jump}]\le\frac{M_0(\theta)}{e\theta}.

Evidence: *proved*, in balls, with sums over nodes in balls too; thresholds, bins, lines and steps are choices, at any
of which the bracket is true. What :mod:`symshuffle.engines.bromwich` assumes of doubles is assumed of
:math:`E_0` alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, final

import flint
import numpy as np

from symshuffle.continuous_law import ContinuousLaw, Piece
from symshuffle.engines import bromwich_plan, gauss, saddle
from symshuffle.engines.bromwich import Bromwich
from symshuffle.engines.bromwich_plan import Array
from symshuffle.engines.waves import waves
from symshuffle.errors import NotDecided, Unsupported
from symshuffle.numbers import Ball, to_arb, working_precision
from symshuffle.results import Bracket, Rigour

_FELT: Final = 1e-3
"""Expected number of jumps under the tilt of the whole law from which on they are told apart."""

_SHARE: Final = 0.05
"""Share of the error allowed that each of the errors may take."""

_LOSS: Final = 25.0
"""Logarithm of what a bin may have too much on its line."""

_MOST_BINS: Final = 24
_MOST_NODES: Final = 60_000
_MOST_TERMS: Final = 4_000_000
"""Bins; nodes of a line; nodes of the line times nodes of the rules."""

_HALVINGS: Final = 30
"""Bisections towards the coordinate at which G passes a threshold: any coordinate serves."""

_HIGHEST: Final = 28
_LEAST_MASS: Final = 1e-290


@final
@dataclass(frozen=True, slots=True)
class Split:
    """A law cut into what is no jump and bins of jumps.

    Parameters
    ----------
    calm : ContinuousLaw
        The law without its jumps: of a mass below 1.
    jumps : tuple of Piece
        All that is left.
    most : int
        Sums with so many jumps, or more, are bounded at once: K.
    """

    calm: ContinuousLaw
    jumps: tuple[Piece, ...]
    most: int


def split(law: ContinuousLaw, n: int, error: float) -> Split | None:
    """The law cut at a threshold above which K jumps at once are negligible; None where none is felt.

    Parameters
    ----------
    law : ContinuousLaw
        Law of G, its tails cut.
    n : int
        Number of users.
    error : float
        The error that will do, of H(n).
    """
    about = bromwich_plan.rough(law)
    values, weights = about.values, about.weights
    if law.transform is not None or n < 2 or not float(values.max()) > 0:
        return None
    c = saddle.saddle_point(about, n)
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    above = np.cumsum(weights[::-1])[::-1]  # mass from each atom on
    gain = float(weights @ np.maximum(values, 0))
    allowed = above * (n * above * gain + values[-1] * above) * n < _SHARE * error
    allowed &= values > 0
    if not allowed.any():
        return None
    threshold = float(values[int(np.argmax(allowed))])
    felt = n * float(about.tilted(c)[about.values >= threshold].sum())
    if felt < _FELT:
        return None
    calm, jumps = _cut(law.pieces, threshold)
    return Split(replace(law, pieces=tuple(calm)), tuple(jumps), 2) if calm and jumps else None


def bracket(law: ContinuousLaw, cut: Split, n: int, *, rigour: Rigour, error: float, bits: int) -> Bracket:
    """H(n) of the law that was meant, jumps told apart.

    Parameters
    ----------
    law : ContinuousLaw
        Law of G, its tails cut.
    cut : Split
        What :func:`split` makes of it.
    n : int
        Number of users.
    rigour : {Rigour.BALL, Rigour.FLOAT64}
        How the sums without a jump are formed; all others are formed in balls.
    error : float
        The error to aim at, of H(n).
    bits : int
        Working precision.

    Raises
    ------
    Unsupported
        If a term takes too many nodes.
    NotDecided
        If a bound could not be evaluated at this precision.
    """
    base = _without(cut.calm, n, rigour=rigour, error=error, bits=bits)
    lower, upper = base.lower, base.upper
    terms = 0
    with working_precision(bits + max(n.bit_length(), 8)):
        for pieces in _bins(cut, n, error):
            low, high = _one_jump(cut.calm, pieces, n, error=_SHARE * error)
            lower += max(Ball.from_arb(low, bits).lower, Fraction(0))
            upper += Ball.from_arb(high, bits).upper
            terms += 1
        upper += Ball.from_arb(_several(cut, n), bits).upper
    below, above = law.missing
    known = Rigour.FLOAT64 if base.rigour is Rigour.FLOAT64 else Rigour.BALL
    how = (
        f"sums by their number of jumps, {terms} bins of jumps in balls; without a jump: {base.how}; "
        f"tails cut at {float(below + above):.1e}"
    )
    return Bracket(max(lower - below, Fraction(0)), upper + above, known, "bromwich", how)


def _without(calm: ContinuousLaw, n: int, *, rigour: Rigour, error: float, bits: int) -> Bracket:
    """What sums without a jump add to H(n)."""
    tilt = bromwich_plan.rough(calm)
    nothing = Bracket(Fraction(0), Fraction(0), Rigour.BALL, "none", "G is nowhere positive")
    positive = float(tilt.values.max()) > 0
    c = saddle.saddle_point(tilt, n) if positive else 1.0 / float(np.abs(tilt.values).max())
    with working_precision(bits):
        slope = to_arb(Fraction(c))
        size = _expectation(calm, slope) ** n / (flint.arb(1).exp() * slope * n)
        most = Ball.from_arb(size, bits).upper
    if most < Fraction(_SHARE * error):
        return replace(nothing, upper=most, how="next to nothing (Chernoff's bound)")
    rel = min(0.5, error / float(most))
    return Bromwich(rel, rigour, bits=bits).bracket(replace(calm, missing=(Fraction(0), Fraction(0))), n)


def _several(cut: Split, n: int) -> flint.arb:
    """A bound on what sums of K jumps or more add to H(n)."""
    jumps = ContinuousLaw(cut.jumps, Ball.from_arb(flint.arb(0)))
    mass = _expectation(jumps, flint.arb(0)).upper()
    tops = [gauss.range_of(piece)[1] for piece in cut.jumps]
    top = max(tops, key=float).max(flint.arb(0))
    atoms = _atoms(cut.calm.pieces, cut.calm.zero)
    slopes = np.geomspace(1e-3, 1e3, 60) / max(float(np.abs(atoms[0]).max()), 1.0)
    slope = to_arb(Fraction(float(slopes[int(np.argmin(_logs(atoms, slopes) - np.log(slopes)))])))
    calm = _expectation(cut.calm, slope) / (flint.arb(1).exp() * slope)
    k = cut.most
    found = math.comb(n - 1, k - 1) * mass**k * top + math.comb(n - 1, k) * mass**k * calm
    return flint.arb(found.upper())


def _cut(pieces: tuple[Piece, ...] | list[Piece], threshold: float) -> tuple[list[Piece], list[Piece]]:
    """Pieces below and above a threshold of G, as far as ends and one crossing show: any cut is a cut."""
    calm: list[Piece] = []
    jumps: list[Piece] = []
    for piece in pieces:
        left, right = (_at(piece, u) > threshold for u in (piece.low, piece.high))
        if left == right:
            (jumps if left else calm).append(piece)
            continue
        low, high = piece.low, piece.high
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if (_at(piece, middle) > threshold) == left else (low, middle)
        if low in (piece.low, piece.high):
            (jumps if right else calm).append(piece)
            continue
        first, last = replace(piece, high=low), replace(piece, low=low)
        (jumps if left else calm).append(first)
        (jumps if right else calm).append(last)
    return calm, jumps


def _at(piece: Piece, u: Fraction) -> float:
    """G at a coordinate, about."""
    with working_precision(53):
        return float(piece.value(flint.acb(to_arb(u))).real.mid())


def _bins(cut: Split, n: int, error: float) -> Iterator[tuple[Piece, ...]]:
    """Jumps in bins that have a line each, halved where they span too much for one."""
    calm = _atoms(cut.calm.pieces, cut.calm.zero)
    stack = [cut.jumps]
    left = _MOST_BINS
    while stack:
        pieces = stack.pop()
        jumps = _atoms(pieces)
        left -= 1
        low, high = float(jumps[0].min()), float(jumps[0].max())
        c, size = _line(calm, jumps, n)
        heard = size - 1 - math.log(c) > math.log(_SHARE * error) - 5
        if left > 0 and heard and c * (high - low) > _LOSS:
            halves = _cut(list(pieces), math.sqrt(low * high) if low > 0 else (low + high) / 2)
            if all(halves):
                stack += [tuple(half) for half in halves]
                continue
        yield pieces


def _atoms(pieces: tuple[Piece, ...], zero: Ball | None = None) -> tuple[Array, Array]:
    """Values and weights of a rule of low order, of their own mass: for choices only."""
    found = [] if zero is None else [(0.0, max(float(zero), 0.0))]
    with working_precision(53):
        for piece in pieces:
            count = max(1, math.ceil((piece.high - piece.low) * 2))
            width = (piece.high - piece.low) / count
            for k in range(count):
                for root, weight in gauss.gauss(8, 53):
                    u = flint.acb(to_arb(piece.low + width * k + width / 2) + to_arb(width / 2) * root)
                    mass = float((to_arb(width / 2) * weight * piece.density(u).real).mid())
                    found.append((float(piece.value(u).real.mid()), mass))
    kept = [(v, w) for v, w in found if w > _LEAST_MASS] or [(v, _LEAST_MASS) for v, _ in found]
    return np.array([v for v, _ in kept]), np.array([w for _, w in kept])


def _logs(atoms: tuple[Array, Array], slopes: Array) -> Array:
    """``log sum w exp(c v)`` at several slopes."""
    exponents = np.multiply.outer(slopes, atoms[0]) + np.log(np.maximum(atoms[1], _LEAST_MASS))
    shift = exponents.max(axis=1)
    found: Array = shift + np.log(np.exp(exponents - shift[:, None]).sum(axis=1))
    return found


def _log_size(calm: tuple[Array, Array], jumps: tuple[Array, Array], n: int, slopes: Array) -> Array:
    r""":math:`\log\Phi` of one jump, the factor 1/n of H(n) and the n places of the jump included."""
    found: Array = (n - 1) * _logs(calm, slopes) + _logs(jumps, slopes)
    return found


def _line(calm: tuple[Array, Array], jumps: tuple[Array, Array], n: int) -> tuple[float, float]:
    r"""The line on which :math:`\Phi(c)/c^2` is about least, and :math:`\log\Phi` there: a choice."""
    widest = max(float(np.abs(calm[0]).max()), float(np.abs(jumps[0]).max()))
    slopes = np.geomspace(1e-3 / (n * widest), 1e4 / widest, 160)
    for _ in range(3):
        sizes = _log_size(calm, jumps, n, slopes) - 2 * np.log(slopes)
        best = int(np.argmin(sizes))
        slopes = np.geomspace(slopes[max(best - 1, 0)], slopes[min(best + 1, len(slopes) - 1)], 40)
    c = float(slopes[20])
    return c, float(_log_size(calm, jumps, n, np.array([c]))[0])


def _variance(atoms: tuple[Array, Array], c: float) -> float:
    """The variance of atoms under a tilt."""
    exponents = c * atoms[0] + np.log(atoms[1])
    tilted = np.exp(exponents - exponents.max())
    tilted /= tilted.sum()
    return float(tilted @ (atoms[0] - tilted @ atoms[0]) ** 2)


def _expectation(law: ContinuousLaw, slope: flint.arb, power: int = 0, centre: flint.arb | None = None) -> flint.arb:
    return gauss.expectation(law, slope, power, centre)


@final
@dataclass(frozen=True, slots=True)
class _Plan:
    """The line, the period of the aliases, the slope for those of m < 0, and what is negligible relative to Phi(c)."""

    c: float
    period: float
    slope: float
    small: float


def _plan(calm: tuple[Array, Array], jumps: tuple[Array, Array], n: int, error: float) -> _Plan:
    c, size = _line(calm, jumps, n)
    small = math.exp(min(math.log(error) - size, -2.0))
    widest = max(float(np.abs(calm[0]).max()), float(np.abs(jumps[0]).max()))
    reach = 5 / c
    mass = float(_log_size(calm, jumps, n, np.array([1e-9 / (n * widest)]))[0]) - size
    slopes = c * (1 + np.geomspace(1e-3, 30, 60))
    grown = _log_size(calm, jumps, n, slopes) - size - np.log(slopes)
    while True:
        right = -c * reach + math.log(reach) + max(mass, 0.0)
        left = grown - (slopes - c) * reach
        if max(right, float(left.min())) < math.log(small) - 1:
            return _Plan(c, reach, float(slopes[int(np.argmin(left))]), small)
        reach *= 1.1
        if reach > 1e12 / c:
            raise Unsupported("sums with a jump have tails that no period outruns")


def _one_jump(calm: ContinuousLaw, pieces: tuple[Piece, ...], n: int, *, error: float) -> tuple[flint.arb, flint.arb]:
    """Bounds on what sums with one jump, in one bin, add to H(n)."""
    jump = ContinuousLaw(pieces, Ball.from_arb(flint.arb(0)))
    plan = _plan(_atoms(calm.pieces, calm.zero), _atoms(pieces), n, error)
    c = to_arb(Fraction(plan.c))
    sizes = _expectation(calm, c), _expectation(jump, c)
    scale = sizes[0] ** (n - 1) * sizes[1]
    most = (scale / (flint.arb(1).exp() * c)).upper()
    if most < to_arb(Fraction(error)):
        return flint.arb(0), flint.arb(most)
    line = _JumpLine.of(calm, jump, n, plan, sizes)
    value, rest = line.value(), line.rest()
    upper = value + rest
    lower = value - rest - line.aliases(upper)
    return lower * line.scale, upper * line.scale


@final
@dataclass(frozen=True, slots=True)
class _JumpLine:
    """The integrand of one jump on its line, relative to ``scale``, which is Phi(c) by the rules."""

    calm: ContinuousLaw
    jump: ContinuousLaw
    n: int
    plan: _Plan
    c: flint.arb
    step: flint.arb
    rules: tuple[gauss.Rule, gauss.Rule]
    tilted: tuple[tuple[flint.arb, ...], tuple[flint.arb, ...]]
    totals: tuple[flint.arb, flint.arb]
    zero: flint.arb
    scale: flint.arb
    far: flint.arb
    height: float
    nodes: int

    @classmethod
    def of(
        cls, calm: ContinuousLaw, jump: ContinuousLaw, n: int, plan: _Plan, sizes: tuple[flint.arb, flint.arb]
    ) -> _JumpLine:
        c = to_arb(Fraction(plan.c))
        step = 2 * flint.arb.pi() / to_arb(Fraction(plan.period))
        atom = to_arb(calm.zero).max(flint.arb(0))
        far, height = _far(calm, jump, n, plan, sizes, atom)
        tolerance = plan.small * plan.c / 10
        rules = (
            gauss.rule(calm, c, height=height, tolerance=float(sizes[0].mid()) * tolerance / n),
            gauss.rule(jump, c, height=height, tolerance=float(sizes[1].mid()) * tolerance),
        )
        grown = [[w * (c * v).exp() for v, w in zip(r.values, r.weights, strict=True)] for r in rules]
        totals = sum(grown[0], start=atom), sum(grown[1], start=flint.arb(0))
        tilted = tuple(g / totals[0] for g in grown[0]), tuple(g / totals[1] for g in grown[1])
        scale = totals[0] ** (n - 1) * totals[1]
        line = cls(calm, jump, n, plan, c, step, rules, tilted, totals, atom / totals[0], scale, far, height, 0)
        return replace(line, nodes=line._last())

    @property
    def errors(self) -> tuple[flint.arb, flint.arb]:
        """Of the rules, relative to their sums."""
        one, other = ((r.error / total).upper() for r, total in zip(self.rules, self.totals, strict=True))
        return flint.arb(one), flint.arb(other)

    @property
    def end(self) -> int:
        """The last node below the height from which all is bounded at once."""
        return math.ceil(self.height * self.plan.period / (2 * math.pi))

    def _last(self) -> int:
        """The last node worth evaluating: a choice."""
        values, weights = (
            [np.array([float(x.mid()) for x in row]) for row in rows]
            for rows in (tuple(r.values for r in self.rules), self.tilted)
        )
        step, zero = float(self.step.mid()), float(self.zero.mid())
        end = self.end
        for start in range(1, min(end, _MOST_NODES), bromwich_plan.BLOCK):
            index = np.arange(start, start + bromwich_plan.BLOCK)
            turns = [np.exp(1j * np.outer(step * index, v)) @ w for v, w in zip(values, weights, strict=True)]
            size = np.abs(zero + turns[0]) ** (self.n - 1) * np.abs(turns[1])
            part = size / (self.plan.c**2 + (step * index) ** 2) * step * (1 + index)
            quiet = np.flatnonzero(part < self.plan.small / 40)
            if len(quiet):
                return min(int(start + quiet[0]), end)
        if end > _MOST_NODES:
            raise Unsupported(f"sums with a jump take more than {_MOST_NODES} nodes; ask for a larger rel")
        return end

    def value(self) -> flint.arb:
        """The sum over the nodes, times step/pi."""
        count = self.nodes + 1
        if count * sum(map(len, self.tilted)) > _MOST_TERMS:
            raise Unsupported(f"sums with a jump take {count} nodes of many terms; ask for a larger rel")
        offs = [flint.acb(flint.arb(0, e), flint.arb(0, e)) for e in self.errors]
        rows = [waves(r.values, w, self.step, count) for r, w in zip(self.rules, self.tilted, strict=True)]
        total = flint.arb(0)
        for index, (calm, jump) in enumerate(zip(*rows, strict=True)):
            s = flint.acb(self.c, self.step * index)
            part = ((self.zero + calm + offs[0]) ** (self.n - 1) * (jump + offs[1]) / (s * s)).real
            total += part / 2 if index == 0 else part
        return total * self.step / flint.arb.pi()

    def rest(self) -> flint.arb:
        """A bound on the sum over all later nodes, times step/pi."""
        last = max(self.nodes, self.end)
        beyond = self.far / (flint.arb.pi() * self.step * last)
        return self._stretches(self.nodes + 1, last) * self.step / flint.arb.pi() + beyond

    def _stretches(self, start: int, last: int) -> flint.arb:
        """A bound on the sum over the nodes from ``start`` to ``last``, stretch by stretch."""
        if start > last:
            return flint.arb(0)
        mean = (_expectation(self.calm, self.c, 1) / self.totals[0]).mid()
        spread = (_expectation(self.calm, self.c, 2, mean) / self.totals[0]).upper().sqrt()
        # The law is known by a rule: its error counts at the middle of a stretch.
        off = self.errors[0]
        total, index, width = flint.arb(0), start, 1
        allowed = self.plan.small / (last + 1 - start)
        while index <= last:
            stop = min(index + width, last + 1)
            left, right = self.step * index, self.step * (stop - 1)
            radius, middle = (right - left) / 2, (left + right) / 2
            real, imaginary = self.zero, flint.arb(0)
            for value, weight in zip(self.rules[0].values, self.tilted[0], strict=True):
                sine, cosine = (middle * value).sin_cos()
                real += cosine * weight
                imaginary += sine * weight
            size = (abs(flint.acb(real, imaginary)) + 2 * off + radius * spread).upper().min(1 + 2 * off)
            part = (flint.arb(size) ** (self.n - 1) * (1 + self.errors[1]) / (self.c**2 + left**2)).upper()
            if float(part * self.step) > allowed and stop - index > 1:
                width = max(1, (stop - index) // 2)
                continue
            total += part * (stop - index)
            index, width = stop, 2 * width
        return flint.arb(total.upper())

    def aliases(self, value: flint.arb) -> flint.arb:
        """A bound on the aliases, relative to ``scale``; ``value`` bounds the sum itself."""
        reach = 2 * flint.arb.pi() / self.step
        q = (-self.c * reach).exp()
        mass = self._whole(flint.arb(0)) / self.scale
        right = value.upper() * q / (1 - q) + reach * q / (1 - q) ** 2 * mass
        theta = to_arb(Fraction(self.plan.slope))
        ratio = (-(theta - self.c) * reach).exp()
        left = ratio / (1 - ratio) * self._whole(theta) / self.scale / (flint.arb(1).exp() * theta)
        if not (left.is_finite() and right.is_finite()):
            raise NotDecided("the bound on the aliases could not be evaluated; raise bits")
        return flint.arb((left + right).upper())

    def _whole(self, slope: flint.arb) -> flint.arb:
        """Phi at a real argument, by certified integrals."""
        return _expectation(self.calm, slope) ** (self.n - 1) * _expectation(self.jump, slope)


def _far(
    calm: ContinuousLaw,
    jump: ContinuousLaw,
    n: int,
    plan: _Plan,
    sizes: tuple[flint.arb, flint.arb],
    atom: flint.arb,
) -> tuple[flint.arb, float]:
    """A height from which the rest is small enough, and a bound on the modulus of Phi there, relative to Phi(c)."""
    c = to_arb(Fraction(plan.c))
    height = 4 / math.sqrt(max(_variance(_atoms(calm.pieces, calm.zero), plan.c), 1e-300))
    for _ in range(_HIGHEST):
        still = ((atom + gauss.far(calm, c, height, sizes[0])) / sizes[0]).upper().min(flint.arb(1))
        bound = flint.arb(still) ** (n - 1)
        if not bound / (flint.arb.pi() * to_arb(Fraction(height))) < plan.small:
            turned = (gauss.far(jump, c, height, sizes[1]) / sizes[1]).upper().min(flint.arb(1))
            bound *= turned
        if bound / (flint.arb.pi() * to_arb(Fraction(height))) < plan.small:
            return flint.arb(bound.upper()), height
        height *= 1.5
    raise Unsupported("sums with a jump have a transform that falls too slowly; ask for a larger rel")


__all__ = ["Split", "bracket", "split"]
