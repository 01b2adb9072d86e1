"""The law of the template of a channel at an irrational level, in balls.

Balls cannot decide that two templates are equal, so equal ones stay separate atoms, one per output; moments do not
change by that. Moments, fibers and exact risks are enclosed; what needs equality stays with
:class:`~symshuffle.utility.anchored.law.AnchoredLaw`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import flint

from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Verdict,
    as_integer,
    enclose,
    equal,
    exact_sum,
    is_enclosed,
    less,
    maximum,
    minimum,
    squared,
    to_arb,
    working_precision,
)
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.channels.geometry.linear import second_moment
from symshuffle.utility.anchored.law import AnchoredLaw, check_composition

Balls: TypeAlias = "tuple[Ball, ...]"
BallMatrix: TypeAlias = "tuple[Balls, ...]"


@final
@dataclass(frozen=True, slots=True)
class EnclosedLaw:
    r"""Templates :math:`u(y)=W_\cdot(y)/\bar W(y)` of a channel and their masses, in balls."""

    templates: tuple[Balls, ...]
    weights: Balls

    def __post_init__(self) -> None:
        if self.num_inputs < 2:
            raise InputError("inputs", self.num_inputs, "at least 2: a single input has no pair")
        with working_precision(DEFAULT_BITS):
            means = _arbs(self.templates).transpose() * _arbs([[w] for w in self.weights])
        for i in range(self.num_inputs):
            if not means[i, 0].contains(1):
                raise InputError("templates", f"mean {means[i, 0]} in coordinate {i}", "mean 1")

    @classmethod
    def from_channel(cls, channel: Channel) -> EnclosedLaw:
        """The law of a channel of balls or rationals; outputs of probability zero are dropped."""
        check_channel(channel)
        templates, weights = [], []
        for column in channel.columns():
            if not is_enclosed(column):
                raise InputError("channel", "doubles", "rationals or balls (Channel at lam = Exp(eps0))")
            if all(equal(entry, 0) is Verdict.TRUE for entry in column):
                continue
            balls = [enclose(entry) for entry in column]
            average: Ball = exact_sum(balls) / channel.num_inputs
            if less(0, average) is not Verdict.TRUE:
                raise NotDecided(f"whether an output of mass {average} can occur is not decided at {DEFAULT_BITS} bits")
            templates.append(tuple(entry / average for entry in balls))
            weights.append(average)
        return cls(tuple(templates), tuple(weights))

    def atoms(self) -> tuple[tuple[Balls, Ball], ...]:
        """Pairs (template, weight), by output."""
        return tuple(zip(self.templates, self.weights, strict=True))

    @property
    def num_inputs(self) -> int:
        """Number ``k`` of inputs."""
        return len(self.templates[0])

    def covariance(self) -> BallMatrix:
        r"""The matrix :math:`C=E[(u-1)(u-1)^T]`."""
        with working_precision(DEFAULT_BITS):
            found = self._covariance()
            return tuple(tuple(Ball.from_arb(entry, DEFAULT_BITS) for entry in row) for row in found.table())

    def _covariance(self) -> flint.arb_mat:
        """The covariance at the current precision: one matrix product, not an operation on balls for each term."""
        shifted = [[entry - 1 for entry in row] for row in _arbs(self.templates).table()]
        weighted = [[to_arb(w) * entry for entry in row] for w, row in zip(self.weights, shifted, strict=True)]
        return flint.arb_mat(shifted).transpose() * flint.arb_mat(weighted)

    def trace(self) -> Ball:
        r"""The number :math:`E\sum_i(u_i-1)^2`."""
        found: Ball = exact_sum(w * exact_sum((a - 1) * (a - 1) for a in u) for u, w in self.atoms())
        return found

    def pairwise_divergence(self, i: int, j: int) -> Ball | float:
        r"""The divergence :math:`\chi^2(W_i\Vert W_j)`; ``inf`` where row ``j`` misses an output."""
        i, j = (as_integer(x, name, 0, self.num_inputs - 1) for name, x in (("i", i), ("j", j)))
        with working_precision(DEFAULT_BITS):
            found = self._divergence(_arbs(self.templates).table(), [to_arb(w) for w in self.weights], i, j)
            return math.inf if found is None else Ball.from_arb(found, DEFAULT_BITS)

    @staticmethod
    def _divergence(templates: list[Any], weights: list[Any], i: int, j: int) -> Any:
        """The divergence at the current precision; None if it is infinite."""
        total = flint.arb(0)
        for u, w in zip(templates, weights, strict=True):
            if not u[j].is_zero():
                total += w * squared(u[i] - u[j]) / u[j]
            elif not u[i].is_zero():
                return None
        return total

    def pairwise_budget(self) -> Ball | float:
        r"""The budget :math:`\max_{i\ne j}\chi^2(W_i\Vert W_j)` (anchored, Definition 5.8)."""
        with working_precision(DEFAULT_BITS):
            templates, weights = _arbs(self.templates).table(), [to_arb(w) for w in self.weights]
            largest = flint.arb(0)
            for i, j in itertools.permutations(range(self.num_inputs), 2):
                found = self._divergence(templates, weights, i, j)
                if found is None:
                    return math.inf
                largest = largest.max(found)
            return Ball.from_arb(largest, DEFAULT_BITS)

    def ratio_cap(self) -> Ball | float:
        """The largest ratio of two coordinates of a template."""
        found: list[Ball] = []
        for u in self.templates:
            low: Ball = minimum(u)
            if equal(low, 0) is not Verdict.FALSE:
                return math.inf
            found.append(maximum(u) / low)
        largest: Ball = maximum(found)
        return largest

    def fisher_information(self, composition: Sequence[Fraction]) -> BallMatrix:
        r"""Fisher information :math:`E[zz^T]`, :math:`Vz=r-\frac1k\sum_ir_i`, of one message at a composition.

        The ratio vector is :math:`r=u/(w\cdot u)`; at a boundary composition this is its second moment.

        >>> from symshuffle import Exp, randomizer
        >>> law = template_law(randomizer("krr").channel(k=2, lam=Exp(Fraction(1))))
        >>> f"{float(law.fisher_information((Fraction(1, 4), Fraction(3, 4)))[0][0]):.10f}"
        '0.2255964240'
        """
        w = check_composition(composition, self.num_inputs)
        points, weights = [], []
        for u, weight in self.atoms():
            mass = exact_sum(a * b for a, b in zip(w, u, strict=True) if a)
            if equal(mass, 0) is Verdict.TRUE:
                continue
            if less(0, mass) is not Verdict.TRUE:
                raise NotDecided(f"whether the composition sees a template, of mass {mass}, is not decided")
            ratios = [entry / mass for entry in u]
            mean = exact_sum(ratios) / len(ratios)
            points.append(tuple(entry - mean for entry in ratios))
            weights.append(weight * mass)
        return second_moment(points, weights)

    def vote_sizes(self) -> Balls | None:
        r"""The numbers :math:`E_{W_i}|c(u)|^2` of the canonical estimator by row; None at a singular covariance."""
        k = self.num_inputs
        share = Fraction(1, k)
        with working_precision(DEFAULT_BITS):
            shifted = flint.arb_mat([[entry + to_arb(share) for entry in row] for row in self._covariance().table()])
            try:
                inverse = shifted.inv()
            except ZeroDivisionError:
                if len(self.templates) < k:
                    return None
                raise NotDecided(f"whether the covariance is singular is not decided at {DEFAULT_BITS} bits") from None
            templates = _arbs(self.templates)
            # A = (C + 1/k 11^T)^-1 - 1/k 11^T, and u sums to k: the second part takes 1 from every entry.
            votes = (templates * inverse.transpose()).table()
            lengths = [
                [to_arb(w) * sum((squared(entry - 1) for entry in vote), flint.arb(0))]
                for w, vote in zip(self.weights, votes, strict=True)
            ]
            sizes = templates.transpose() * flint.arb_mat(lengths)
            return tuple(Ball.from_arb(sizes[i, 0], DEFAULT_BITS) for i in range(k))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>({', '.join(f'{float(a):.6g}' for a in u)})</td><td>{float(w):.6g}</td></tr>"
            for u, w in self.atoms()
        )
        return f"<table><tr><th>template</th><th>mass</th></tr>{rows}</table>"


def _arbs(rows: Sequence[Sequence[Ball]]) -> flint.arb_mat:
    """A matrix of balls at the current precision."""
    return flint.arb_mat([[to_arb(entry) for entry in row] for row in rows])


def template_law(channel: Channel) -> AnchoredLaw | EnclosedLaw:
    """The law of the template of any channel: exact over the rationals, enclosed where an entry is a ball."""
    check_channel(channel)
    return AnchoredLaw.from_channel(channel) if channel.exact else EnclosedLaw.from_channel(channel)
