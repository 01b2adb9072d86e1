r"""A coarse rule for the nodes of a line that are not evaluated.

The sum over the nodes wants a rule that errs by next to nothing, but only up to the last of them. From there up to the
height at which all is bounded at once (:func:`symshuffle.engines.densities.heights.far`), often a hundred times as
high, it is enough to know that the transform is small: a rule may err by a share of its total there, and leaves out the
tails whose values turn the fastest.

With :math:`\hat w` its weights, a the bound on its error up to the height, both relative to the same number, and
:math:`\sigma^2=\sum\hat w\sum\hat w(G-\mu)^2` for any :math:`\mu`,

.. math:: |M(c+it)|\le|\hat M(c+it_0)|+|t-t_0|\,\sigma+a

on every stretch below the height, as :math:`|\frac d{dt}e^{-i\mu t}\hat M(c+it)|\le\sum\hat w|G-\mu|\le\sigma`.

Evidence: *proved*, in balls, at whatever error the rule has; how coarse it is, and where it is used, are choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint
import numpy as np

from symshuffle.base.doubles import Array
from symshuffle.base.numbers import squared, to_arb
from symshuffle.channels.continuous_law import ContinuousLaw
from symshuffle.engines.contours.waves import waves
from symshuffle.engines.densities import gauss

_PLENTY: Final = 1_500
"""Nodes of a rule up to the greatest height, from which on a coarse one is made for what is beyond the last node."""

_COARSE: Final = 0.1
"""n times what a coarse rule may err by, as a share of M(c)."""


@final
@dataclass(frozen=True, slots=True)
class Cover:
    """A rule of which all is relative to one number, that of the sum over the nodes.

    - ``values``, ``weights``: G at the nodes, and the weights, the factor ``exp(c G)`` included, shape ``(m,)`` each.
    """

    values: tuple[flint.arb, ...]
    weights: tuple[flint.arb, ...]
    zero: flint.arb
    error: flint.arb

    def along(self, first: flint.arb, distance: flint.arb, count: int) -> list[flint.acb]:
        """The rule at evenly spaced heights; its error is not in it."""
        turned = []
        for value, weight in zip(self.values, self.weights, strict=True):
            sine, cosine = (first * value).sin_cos()
            turned.append(flint.acb(cosine * weight, sine * weight))
        return [self.zero + wave for wave in waves(self.values, turned, distance, count)]

    @property
    def spread(self) -> flint.arb:
        """How fast the rule, turned back by its mean, moves with the height at most."""
        values, weights = (self.zero * 0, *self.values), (self.zero, *self.weights)
        total = sum(weights, start=flint.arb(0))
        mean = (sum((w * v for v, w in zip(values, weights, strict=True)), start=flint.arb(0)) / total).mid()
        square = sum((w * squared(v - mean) for v, w in zip(values, weights, strict=True)), start=flint.arb(0))
        return flint.arb((total * square).upper().sqrt())

    @property
    def in_doubles(self) -> tuple[Array, Array]:
        """Values and weights, about: for choices."""
        return _doubles(self.values), _doubles(self.weights)

    def over(self, number: flint.arb) -> Cover:
        """The same, relative to another number: the one it is relative to now is 1."""
        weights = tuple(w / number for w in self.weights)
        return Cover(self.values, weights, self.zero / number, flint.arb((self.error / number).upper()))


def coarse(law: ContinuousLaw, c: flint.arb, *, n: int, size: float, tolerance: float, top: float) -> Cover | None:
    """A coarse rule up to a height; None where a fine one takes few nodes."""
    if gauss.least_nodes(law, c, height=top, tolerance=tolerance) <= _PLENTY:
        return None
    found = gauss.rule(law, c, height=top, tolerance=max(tolerance, _COARSE * size / n))
    return on_line(law, c, found).over(to_arb(Fraction(size)))


def on_line(law: ContinuousLaw, c: flint.arb, rule: gauss.Rule) -> Cover:
    """A rule for a law, at a line: relative to 1."""
    grown = tuple(w * (c * v).exp() for v, w in zip(rule.values, rule.weights, strict=True))
    return Cover(rule.values, grown, to_arb(law.zero).max(flint.arb(0)), rule.error)


def _doubles(numbers: tuple[flint.arb, ...]) -> Array:
    return np.array([float(x.mid()) for x in numbers])


__all__ = ["Cover", "coarse", "on_line"]
