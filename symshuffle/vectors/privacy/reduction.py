"""From a randomizer of vectors to what the front doors ask for: the worst pair, and a real pair beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from symshuffle.accountants.deployment.adjacency import Adjacency
from symshuffle.accountants.deployment.reduced import (
    LawFamily,
    MixedFamily,
    PairClass,
    Reduction,
    own_reduction,
)
from symshuffle.base.choices import Blanket, Direction, Relation
from symshuffle.base.numbers import DEFAULT_BITS, Real, Verdict, less
from symshuffle.channels.continuous_law import LevelledPair
from symshuffle.channels.law import Law
from symshuffle.vectors.privacy.finite_pair import FinitePair
from symshuffle.vectors.privacy.pairs import Pair, last_rounded, real_pair, worst_pair
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)

_LAW_BITS = 192
_WHY = "why no other pair is worse: symshuffle.vectors.privacy.pairs"


def usual_blanket(mechanism: object) -> Blanket:
    """The blanket that is meant where none is named: that of the null symbol, where it has any mass."""
    return "largest" if isinstance(mechanism, LocalGaussian) else "mechanism"


@own_reduction.register(BlanketMixedGaussian | LocalGaussian | SphereLinear | PrivUnit | ClippedLinear)
def _reduction(mechanism: Any, adjacency: Adjacency) -> Reduction:
    """The worst pair of a randomizer as the laws of one class of pairs."""
    relation = adjacency.relation or "replace-one"
    kind = adjacency.blanket or usual_blanket(mechanism)
    at = cache(lambda x: worst_pair(mechanism, adjacency=relation, blanket=kind, exp_eps=x))
    pair, pairs, real_one = at(Fraction(1)), at(Fraction(1)).about, real_pair(mechanism, adjacency=relation)
    finite, mixed = families(pair)
    if finite is None:
        mixed = _levelled(at)
    if isinstance(mechanism, LocalGaussian) and relation == "zero-out":
        last = last_rounded(mechanism.sigma0)
        mixed, pairs = _null_of_gaussian(at, last, real_one), _null_in_words(pair, last)
    real, beside = families(real_one)
    datasets = PairClass.real(_describe(mechanism, relation), real, beside)
    return Reduction(
        (PairClass(pairs, finite, mixed=mixed, datasets=(datasets,)),),
        True,
        relation,
        pairs=pairs,
        theorem=f"vecmean, Appendix C; {_WHY}",
        first="X0 holding the vector" if relation == "zero-out" else "",
    )


def _levelled(at: Callable[[Real], Pair]) -> MixedFamily:
    """Of each level the pair meant there: of some the blanket depends on it."""

    def mixed(exp_eps: Real, direction: Direction, _: int | None) -> LevelledPair:
        pair = at(exp_eps)
        one = pair if direction == "forward" else pair.reverse
        assert not isinstance(one, FinitePair)
        return LevelledPair(one, exp_eps)

    return mixed


def _null_of_gaussian(at: Callable[[Real], Pair], last: Fraction | None, real: Pair) -> MixedFamily:
    """Unmixed Gaussian noise against the null symbol: beyond the last level of rounding the smallest of three bounds.

    They are that of opposite inputs, that of the null symbol at the last level of rounding, since no divergence rises
    with the level, and that of one user, since none rises with the number of users.
    """
    plain = _levelled(at)

    def mixed(exp_eps: Real, direction: Direction, bits: int | None) -> LevelledPair:
        main = plain(exp_eps, direction, bits)
        assert isinstance(main, LevelledPair)
        if last is not None and less(last, exp_eps) is Verdict.FALSE:
            return main
        single = real if direction == "forward" else real.reverse
        assert not isinstance(single, FinitePair)
        others = () if last is None else (plain(last, direction, bits),)
        return replace(main, others=others, single=single)  # type: ignore[arg-type]  # of levels alone

    return mixed


def _null_in_words(pair: Pair, last: Fraction | None) -> str:
    if last is None:
        return f"{pair.about}, or of a single user a unit vector x against the null symbol: the smaller bound"
    return f"{pair.about}, up to exp(eps) = {last}; beyond, the smallest of three bounds, which the method names"


def families(pair: Pair) -> tuple[LawFamily | None, MixedFamily | None]:
    """A pair as a family of finite laws, or of levelled pairs; one of the two."""
    if not isinstance(pair, FinitePair):
        return None, _levelled(lambda _: pair)

    def finite(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
        one = pair if direction == "forward" else pair.reverse
        return one.law(exp_eps, bits=max(bits or DEFAULT_BITS, _LAW_BITS))

    return finite, None


def _describe(mechanism: object, adjacency: Relation) -> Callable[[int], str]:
    """The real pair in words."""
    other = "null" if adjacency == "zero-out" else "-x"
    length = mechanism.norm if isinstance(mechanism, BlanketMixedGaussian) else 1
    return lambda n: f"X0 = (x, -x x {n - 1}), X1 = ({other}, -x x {n - 1}), |x| = {length}"
