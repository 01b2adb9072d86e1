r"""Minimal balanced collections of subsets, up to renaming the players, and one by one.

A collection of proper subsets of m players is *balanced* if positive weights d have :math:`\sum_{y\ni x}d_y=1` for
every player x, and *minimal* if no smaller collection inside it is: a vertex of the polytope of maximal LDP channels.
Collections grow by adding a subset to one representative of each orbit under renaming. A collection is one word of 64
bits, its representative the smallest word among its images.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import as_integer

MOST_PLAYERS: Final = 6
"""Players up to which collections are enumerated: at 6 it takes two seconds, at 7 days."""


Words: TypeAlias = "npt.NDArray[np.uint64]"
_Subsets: TypeAlias = "npt.NDArray[np.int64]"
"""Shape ``(collections, subsets)``: bit masks of players, each row ascending."""


Weights: TypeAlias = tuple[tuple[int, Fraction], ...]
"""A minimal balanced collection: its subsets as ascending bit masks, with their weights."""


def renamed(m: int, weights: Weights) -> Iterator[dict[int, Fraction]]:
    """All renamings of a collection, each once, in the order of their words."""
    images = _image_words(m)[:, [subset for subset, _ in weights]]
    _, first = np.unique(images.sum(axis=1, dtype=np.uint64), return_index=True)
    for row in images[first]:
        subsets = (int(word).bit_length() - 1 for word in row)
        yield dict(sorted(zip(subsets, (weight for _, weight in weights), strict=True)))


def check_players(m: int) -> int:
    """Refuse numbers of players whose collections cannot be enumerated."""
    m = as_integer(m, "m", 2)
    if m > MOST_PLAYERS:
        raise Unsupported(
            f"m = {m}: more than 10^8 minimal balanced collections (at m = {MOST_PLAYERS} there are 200213); "
            "use a linear program (optimal) or a symmetry group instead"
        )
    return m


def minimal_balanced_collections(m: int) -> tuple[dict[int, Fraction], ...]:
    """The minimal balanced collections of ``m`` players without the grand coalition, with their weights, sorted."""
    return tuple(dict(weights) for weights in sorted(tuple(one.items()) for one in each_balanced_collection(m)))


def each_balanced_collection(m: int) -> Iterator[dict[int, Fraction]]:
    """The same one by one, small collections first, without holding them."""
    return itertools.chain.from_iterable(renamed(m, weights) for weights, _ in balanced_orbits(m))


@cache
def balanced_orbits(m: int) -> tuple[tuple[Weights, int], ...]:
    """One minimal balanced collection of each orbit under renaming the players, with the size of its orbit.

    It takes two seconds for six players.
    """
    m = check_players(m)
    found: list[tuple[Weights, int]] = []
    level: _Subsets = np.arange(1, (1 << m) - 1)[:, None]  # independent collections, one of each orbit
    level = _representatives(level, m)
    for size in range(1, m + 1):
        for collection, weights in _balanced_among(level, m):
            images = _image_words(m)[:, collection].sum(axis=1, dtype=np.uint64)
            found.append((tuple(zip(collection, weights, strict=True)), len(np.unique(images))))
        if size < m:
            level = _grown(level, m, last=size + 1 == m)
    return tuple(found)


def _grown(level: _Subsets, m: int, *, last: bool, chunk: int = 1 << 16) -> _Subsets:
    """Representatives of the independent collections of one subset more; of the last size only the balanced ones.

    - ``chunk``: collections that are examined at once.
    """
    kept = []
    for start in range(0, len(level), max(1, chunk >> m)):
        part = level[start : start + max(1, chunk >> m)]
        grown = np.concatenate([np.c_[part, np.full(len(part), y)] for y in range(1, (1 << m) - 1)])
        grown = grown[~(grown[:, :-1] == grown[:, -1:]).any(axis=1)]
        balanced, determinants, _ = _solved(grown, m)
        kept.append(_representatives(grown[balanced if last else determinants > 0], m))
    return _representatives(np.concatenate(kept), m)


def _balanced_among(level: _Subsets, m: int) -> Iterator[tuple[list[int], list[Fraction]]]:
    """The balanced ones of independent collections, with their weights."""
    balanced, determinants, numerators = _solved(level, m)
    for i in np.flatnonzero(balanced):
        yield level[i].tolist(), [Fraction(int(top), int(determinants[i])) for top in numerators[i]]


def _solved(collections: _Subsets, m: int) -> tuple[npt.NDArray[np.bool_], _Subsets, _Subsets]:
    r"""Which collections are balanced, and the numerators of their weights over the denominators.

    With the indicator vectors as columns of A, the denominator is :math:`\det A^TA`, 0 where they are dependent, and
    the numerators are :math:`\det(A^TA)\,(A^TA)^{-1}A^T1`: integers, and so small that rounding their floating-point
    values is exact. Whether players sum to the denominators is decided in integers.
    """
    indicators = (collections[:, None, :] >> np.arange(m)[None, :, None] & 1).astype(float)
    gram = indicators.transpose(0, 2, 1) @ indicators
    determinants = np.rint(np.linalg.det(gram)).astype(np.int64)
    numerators = np.zeros(collections.shape, dtype=np.int64)
    regular = determinants > 0
    solutions = np.linalg.solve(gram[regular], indicators[regular].sum(axis=1)[:, :, None])[:, :, 0]
    numerators[regular] = np.rint(solutions * determinants[regular, None]).astype(np.int64)
    sums = (indicators.astype(np.int64) @ numerators[:, :, None])[:, :, 0]
    return (sums == determinants[:, None]).all(axis=1) & (numerators > 0).all(axis=1), determinants, numerators


def _representatives(collections: _Subsets, m: int) -> _Subsets:
    """One collection of each orbit: the one whose word is smallest."""
    words = np.left_shift(np.uint64(1), collections.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    _, first = np.unique(words, return_index=True)
    distinct = collections[first]
    least = np.full(len(distinct), np.iinfo(np.uint64).max, dtype=np.uint64)
    for images in _image_words(m):
        np.minimum(least, images[distinct].sum(axis=1, dtype=np.uint64), out=least)
    bits = np.unique(least)[:, None] >> np.arange(1 << m, dtype=np.uint64)[None, :] & np.uint64(1)
    return np.nonzero(bits)[1].reshape(-1, collections.shape[1])


@cache
def _image_words(m: int) -> Words:
    """Shape ``(m!, 2**m)``: the word of the image of every subset under every renaming; words of collections add up."""
    subsets = np.arange(1 << m)
    images = [
        sum((subsets >> x & 1) << image for x, image in enumerate(renaming))
        for renaming in itertools.permutations(range(m))
    ]
    return np.left_shift(np.uint64(1), np.array(images, dtype=np.uint64))
