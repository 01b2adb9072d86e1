r"""Coordinates in which mechanisms of a family degrade one another, so that a box of parameters has two corners.

A mechanism *degrades* another if its messages can be made from the other's by noise that knows no input. Trace,
chi-square divergences and the bound of the optimal decomposition then all fall, and the risk of the canonical
estimator rises (``symshuffle.degraded``). Below, the *level* rises, and messages with it become more informative.

* Most mechanisms: the level is ``lam - 1``, and at a smaller one they are the same with noise added. A smaller share
  ``p`` of messages that are not null is made by erasing messages.
* Local hashing shows the input with some probability :math:`\tau`: every bit of its string is 1 with probability
  ``1/g``, and the own bit is set to 1 with probability :math:`\tau=\rho/(1+\rho)`, :math:`\rho=(\lambda-1)/g`. The
  level is :math:`\rho`, or :math:`\sigma=p\tau`, the share of messages that show it. At either level strings of fewer
  hash values are made bit by bit; those of a smaller share at one :math:`\rho` by erasing messages, those of a larger
  share at one :math:`\sigma` by sending a string of noise for some of the null symbols. In the limit of many hash
  values, or of the smallest share at one :math:`\sigma`, the input is shown or nothing is: the risk is then
  :math:`(1-\frac1k)(\frac1\sigma-1)/n`, and nobody at this :math:`\sigma` has less.

Where only some inputs of a mechanism are used the risk is no function of the trace; that it falls with the level is
decided from its derivative.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias, final

from symshuffle.decompositions.quotients import falls, quotient_of
from symshuffle.design.comparison.families import Family, Parameters

HASHING: Final = "olh"
"""The mechanism whose hash values are ordered as described."""

Setting: TypeAlias = "tuple[int | None, Fraction]"
"""The integer, None where there is none, and the share, 1 where there is none."""


Box: TypeAlias = "tuple[tuple[int, int | None] | None, tuple[Fraction, Fraction] | None]"
"""First and last integer, the last None where there is none, and ends of shares in [0, 1], all included.

Either is None alone where the family has no such free parameter.
"""


@final
@dataclass(frozen=True, slots=True)
class DegradationOrder:
    """The coordinates of a family.

    - ``by_truth``: for local hashing: whether the level is the share of messages that show the input, or ``rho``.
    """

    family: Family
    by_truth: bool = True

    @property
    def hashes(self) -> bool:
        """Whether the integers are ordered, at one level; elsewhere each is a box of its own."""
        return self.family.base == HASHING

    @property
    def ordered(self) -> bool:
        """Whether less noise means less risk: always with all inputs in use."""
        return self.family.all_inputs == self.family.inputs or risk_falls(self.family)

    def best(self, box: Box) -> Setting | None:
        """Whom all others of the box degrade at one level; None for the input or nothing."""
        integers, shares = box[0], box[1] or (Fraction(1), Fraction(1))
        if not self.hashes:
            return (None if integers is None else integers[0]), shares[1]
        assert integers is not None
        share = shares[0] if self.by_truth else shares[1]
        return None if integers[1] is None or share == 0 else (integers[1], share)

    def worst(self, box: Box) -> Setting:
        """Who degrades all others of the box at one level."""
        integers, shares = box[0], box[1] or (Fraction(1), Fraction(1))
        first = None if integers is None else integers[0]
        return first, shares[1] if self.hashes and self.by_truth else shares[0]

    def excess(self, point: Setting, level: Fraction) -> Fraction | None:
        """The excess ``lam - 1`` of the ratio cap of a point over 1; None where no ratio has this level."""
        if not self.hashes:
            return level
        values, share = point
        assert values is not None
        if not self.by_truth:
            return values * level
        return values * level / (share - level) if level < share else None

    def level(self, point: Setting, excess: Fraction) -> Fraction:
        """The level of a point at a ratio cap."""
        if not self.hashes:
            return excess
        values, share = point
        assert values is not None
        return share * excess / (values + excess) if self.by_truth else excess / values

    def shown(self, box: Box, truth: Fraction) -> Fraction | None:
        """The level at which the input or nothing, the best corner of local hashing, shows the input so often."""
        if self.by_truth:
            return truth
        _, shares = box
        share = Fraction(1) if shares is None else shares[1]
        return truth / (share - truth) if truth < share else None

    def parameters(self, point: Setting) -> Parameters:
        """Names and values of the free parameters at a point."""
        integer, share = point
        return tuple((p.name, integer if p.integer and integer is not None else share) for p in self.family.free)


@cache
def risk_falls(family: Family) -> bool:
    """Whether the risk on the inputs in use provably falls as the ratio cap grows, at this size.

    A share ``p`` divides the part of the risk that depends on the ratio cap, and so changes nothing.
    """
    moments = family.form["moments"]
    if moments["strings"] or family.size is None or any(p.name != "p" or not family.thin for p in family.free):
        return False
    trace, own, absent = (quotient_of(text, family.sized) for text in moments["sums"])
    return falls((own + (family.inputs - 1) * absent) / trace**2)
