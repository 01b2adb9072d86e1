"""Subset sizes that are best for another loss than the sum of squares: the losses of all are compared."""

from __future__ import annotations

from typing import Final

from symshuffle.base.choices import Loss
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import Number, Real, Verdict, less
from symshuffle.mechanisms.finite import subset_selection
from symshuffle.utility.estimation.votes import VoteNoise, canonical_votes

_MOST_INPUTS: Final = 1000
_PRECISIONS: Final = (128, 512, 2048)


def best_sizes(k: int, lam: Real, loss: Loss) -> tuple[int, ...]:
    """Sizes with the smallest loss among all subset selections of k inputs at a ratio: several only if they tie.

    - ``lam``: ratio cap ``exp(eps0) > 1``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> best_sizes(10, Fraction(3), Loss.L2), best_sizes(10, Fraction(3), Loss.ABSENT)
    ((3,), (2,))
    """
    if k > _MOST_INPUTS:
        raise Unsupported(f"{k} inputs: for another loss than l2 each size is computed, up to {_MOST_INPUTS} inputs")
    left = list(range(1, k))
    for bits in _PRECISIONS:
        losses: dict[int, Number] = {s: size_noise(k, s, lam, bits).loss(loss, 1) for s in left}
        best = left[0]
        for s in left[1:]:
            if less(losses[s], losses[best]) is Verdict.TRUE:
                best = s
        left = [s for s in left if less(losses[best], losses[s]) is not Verdict.TRUE]
        if all(less(losses[best], losses[s]) is Verdict.FALSE for s in left if s != best):
            return tuple(left)
    raise NotDecided(f"the losses of the sizes {', '.join(map(str, left))} are not told apart")


def size_noise(k: int, s: int, lam: Real, bits: int = 128) -> VoteNoise:
    """The noise of the votes of subset selection."""
    return canonical_votes(subset_selection().at(k=k, s=s, lam=read_budget(lam=lam)), bits=bits)
