"""Bounds on mechanisms as functions of eps and of n: the curves that the figures of the experiments compare.

Decompositions are derived exactly and rounded to doubles once per curve; no algebra is left for its points.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final, Literal, TypeAlias, final

from symshuffle.accountants.bounds.search import smallest_meeting
from symshuffle.accountants.deployment.reduced import LawFamily, PairClass, Reduction
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.literature.baselines import BlanketVariable, blanket_bennett, blanket_hoeffding
from symshuffle.accountants.questions.curves import Curve, along_users, amplification_curve, profile
from symshuffle.base.choices import Direction, Others, Question
from symshuffle.base.numbers import Ball, Exp, Real, Verdict, enclose, less, to_float
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.decompositions.composition import (
    Composition,
    Part,
    common_backgrounds,
    decomposition,
    hamming,
    joint,
    patterns,
)
from symshuffle.decompositions.model import Decomposition, ReductionPair
from symshuffle.mechanisms import registry
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, constant_of

TARGET: Final = Fraction(1, 10**6)
"""The delta at which eps is drawn against n."""

WIDTH: Final = 1e-2
"""Relative width of every bracket, far below what a picture shows."""

CELLS: Final = 40
"""Cells of the Laplace law."""

_ZERO: Final = 1e-12
"""Below the distance of the atoms of a Laplace law in doubles."""

Laplacian: TypeAlias = Literal["laplace"]
"""Laplace noise on a bit, which is no mechanism of finitely many outputs."""

Single: TypeAlias = "Mechanism | Laplacian"

Closed: TypeAlias = Callable[[BlanketVariable, int], Ball]
"""A closed form for the blanket."""


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on delta that can be drawn in two ways.

    Parameters
    ----------
    label : str
        Name in the legend.
    profile : callable
        From a number of users and levels eps to delta at each level.
    amplification : callable
        From numbers of users to the smallest eps at delta = ``TARGET``.
    """

    label: str
    profile: Callable[[int, Sequence[Fraction]], list[Fraction]]
    amplification: Callable[[Sequence[int]], list[Fraction]]


@cache
def mechanism(name: str) -> Mechanism:
    """One object for each name: what is derived from it is derived once."""
    return registry.mechanism(name)


def together(part: Mechanism, m: int, distance: int | None = None) -> Composition:
    """The m-fold joint composition, for neighbours that differ in ``distance`` coordinates; by default in all."""
    return hamming(joint(*[part] * m), distance or m)


def optimal(label: str, of: Part | Laplacian, eps0: Fraction) -> Bound:
    """The optimal decomposition bound at a total budget."""
    if of == "laplace":
        return _evaluated(label, _in_doubles([_laplace_pairs(eps0)[0]], eps0), "upper")
    return _evaluated(label, _in_doubles(_pairs(of, eps0), eps0), "upper")


def attained(label: str, of: Part | Laplacian, eps0: Fraction, *, participation: Fraction = Fraction(1)) -> Bound:
    """A real pair of datasets with a constant background, from below.

    The others hold a third input where there is one, as in the paper; for ``laplace`` the second of the pair. With
    ``participation`` below 1 everybody keeps silent, visibly, with the other probability.
    """
    if of == "laplace":
        return _evaluated(label, _in_doubles([_laplace_pairs(eps0)[1]], eps0), "lower", "both")
    held = common_backgrounds(of)[0]
    pairs = [_thinned(one, participation).reduction_pair() for one in decompositions(of, eps0, held)]
    return _evaluated(label, _in_doubles(pairs, eps0), "lower", "both")


def _thinned(whole: Decomposition, share: Fraction) -> Decomposition:
    """The decomposition with one more component, which everybody shares: to keep silent."""
    if share == 1:
        return whole
    a, b, c = (tuple(share * weight for weight in weights) for weights in (whole.a, whole.b, whole.c))
    silence = 1 - share
    return Decomposition((*a, silence), (*b, silence), (*c, silence), share * whole.beta)


@cache
def clone(label: str, eps0: Fraction) -> Bound:
    """The standard clone, the same for every mechanism."""
    return _evaluated(label, _in_doubles([standard_clone_pair(enclose(Exp(eps0)))], eps0), "upper")


def hoeffding(label: str, of: Single, eps0: Fraction) -> Bound:
    """The blanket by Hoeffding's inequality."""
    return _closed(label, of, eps0, blanket_hoeffding)


def bennett(label: str, of: Single, eps0: Fraction) -> Bound:
    """The blanket by Bennett's inequality."""
    return _closed(label, of, eps0, blanket_bennett)


@cache
def decompositions(part: Part, eps0: Fraction, others: Others = "blanket") -> tuple[Decomposition, ...]:
    """One for every way in which two inputs can differ, in numbers."""
    lam = constant_of(Exp(eps0))
    whole = (decomposition(part, pattern, others=others) for pattern in patterns(part))
    return tuple(one.map(lambda weight: weight.subs(LAM, lam)).numeric() for one in whole)


def certified(part: Part, eps0: Fraction) -> Reduction:
    """The optimal bound of a mechanism, with every number a ball."""
    classes = tuple(found for one in decompositions(part, eps0) for found in reduction(one).classes)
    return Reduction(classes, True, pairs="the worst of all ways in which two inputs can differ")


def _pairs(part: Part, eps0: Fraction, others: Others = "blanket") -> list[ReductionPair]:
    return [one.reduction_pair() for one in decompositions(part, eps0, others)]


def _in_doubles(pairs: Iterable[ReductionPair], eps0: Fraction) -> Reduction:
    """A reduction whose atoms are rounded to doubles once."""

    def family(pair: ReductionPair) -> LawFamily:
        rounded = ReductionPair(*(tuple(map(to_float, masses)) for masses in (pair.a0, pair.a1, pair.a2)))

        def law(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
            if less(exp_eps, Exp(eps0)) is Verdict.FALSE:  # no atom is positive, which doubles may not notice
                return Law((Fraction(0),), (Fraction(1),))
            return rounded.gparv(to_float(exp_eps), direction=direction)

        return law

    return Reduction(tuple(PairClass("the pair that was decomposed", family(pair)) for pair in pairs))


def _evaluated(label: str, of: Reduction, end: Literal["lower", "upper"], direction: Question = "forward") -> Bound:
    """A bound by the engines; all blankets here are symmetric in the pair, so that one direction is both."""

    def ends(curve: Curve) -> list[Fraction]:
        return [getattr(point.y, end) for point in curve.points]

    def values(n: int, levels: Sequence[Fraction]) -> list[Fraction]:
        return ends(profile(of, n=n, eps=levels, direction=direction, rtol=WIDTH))

    @cache
    def amplification(users: tuple[int, ...]) -> list[Fraction]:
        return ends(amplification_curve(of, delta=TARGET, users=users, direction=direction, rtol=WIDTH))

    return Bound(label, values, lambda users: amplification(tuple(users)))


def _closed(label: str, of: Single, eps0: Fraction, bound: Closed) -> Bound:
    """A closed form: it need not fall in eps, but delta does, so a value at a smaller eps holds at a larger one."""
    variable = _blanket_variable(of, eps0)

    def at(n: int) -> Callable[[Fraction, float], Bracket]:
        def value(eps: Fraction, width: float) -> Bracket:
            ball = Ball(Fraction(0), Fraction(0)) if eps >= eps0 else bound(variable(eps), n)
            return Bracket(ball.lower, ball.upper, "ball", "closed form", label)

        return value

    def values(n: int, levels: Sequence[Fraction]) -> list[Fraction]:
        return list(itertools.accumulate((at(n)(eps, WIDTH).upper for eps in levels), min))

    def smallest(n: int, near: Fraction | None) -> Bracket:
        found = smallest_meeting(at(n), TARGET, WIDTH, near)
        return Bracket(found.above.x, found.meets.x, "ball", "closed form", label)

    return Bound(label, values, lambda users: [min(point.y.upper, eps0) for point in along_users(smallest, users)])


def _blanket_variable(of: Single, eps0: Fraction) -> Callable[[Fraction], BlanketVariable]:
    """From eps to the blanket variable, which the closed forms need."""
    if of == "laplace":
        return lambda eps: BlanketVariable.laplace(Exp(eps0), Exp(eps))
    (whole,) = decompositions(of, eps0)
    return lambda eps: BlanketVariable.of(whole, enclose(Exp(eps)))


def _laplace_pairs(eps0: Fraction) -> tuple[ReductionPair, ReductionPair]:
    """Finite pairs above the blanket of Laplace noise and below its constant background, from their laws of G.

    In the first one of the two likelihood ratios is 1 in every component; in the second the second ratio is 1. So the
    law at exp(eps) = 1, where G is the difference of both, tells the pair; what is 0 there is left over, or has both
    ratios 1.
    """
    source = Laplace(Exp(eps0), cells=CELLS)
    law = source.law(Fraction(1), side="upper")
    atoms = [(to_float(v), to_float(w)) for v, w in law.atoms()]
    moving = [(v, w) for v, w in atoms if abs(v) > _ZERO]
    beta = 1 - to_float(BlanketVariable.laplace(Exp(eps0), Fraction(1)).gamma)
    common = sum(w for v, w in atoms if abs(v) <= _ZERO) - beta
    above = (*(w * max(1.0, 1.0 + v) for v, w in moving), common, 0.0)
    below = (*(w * max(1.0, 1.0 - v) for v, w in moving), common, 0.0)
    blanket = ReductionPair(above, below, (*(w for _, w in moving), common, beta))
    held = [(to_float(v), to_float(w)) for v, w in source.background(Fraction(1)).atoms()]
    weights = tuple(w for _, w in held)
    return blanket, ReductionPair(tuple(w * (1.0 + v) for v, w in held), weights, weights)
