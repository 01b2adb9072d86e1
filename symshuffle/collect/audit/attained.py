r"""Two neighbouring datasets whose shuffled messages are known exactly, and the likelihood-ratio events between them.

All other users hold one input c: :math:`X_0=(a,c,\ldots,c)`, :math:`X_1=(b,c,\ldots,c)` (decomposition, Theorem 14).
For messages :math:`y_1,\ldots,y_n` in any order

.. math:: \frac{P_0-e^{\varepsilon}P_1}{P_c}=\frac1n\sum_i s(y_i),\qquad
   s(y)=\frac{W_a(y)-e^{\varepsilon}W_b(y)}{W_c(y)},

so that the best event at a level is that the sum of the scores s is positive. Probabilities here are in doubles: they
choose events and forecast power; no error probability rests on them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from symshuffle.base.doubles import Array
from symshuffle.channels.shuffled import count_histograms
from symshuffle.collect.scheme import Integers

_ROUNDING: Final = 1e-9
"""Ratios in doubles that are taken for equal, and sums of scores, over the largest one, that count as positive.

For choosing events: no error probability depends on it.
"""


@final
@dataclass(frozen=True, eq=False)
class ConstantDatasets:
    """Datasets of n users that hold c, but for the first one, who holds a or b.

    - ``rows``: probabilities of messages for a, b and c, all positive where one is.
    """

    a: int
    b: int
    c: int
    n: int
    rows: Array

    @cached_property
    def _ratios(self) -> tuple[Array, Integers]:
        """Different pairs of ratios to c, and the class of each message; a message that never occurs is of the last."""
        known = self.rows[2] > 0
        ratios = np.where(known, self.rows[:2] / np.where(known, self.rows[2], 1.0), 1.0).T
        rounded = np.round(np.log(ratios) / _ROUNDING)
        _, at, classes = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        return ratios[at], classes.reshape(-1)

    @property
    def classes(self) -> int:
        """Number of classes: messages of one have the same score at every level."""
        return len(self._ratios[0])

    def scores(self, ratio: float) -> Array:
        """Score of each message at exp(eps) = ``ratio``, over the largest."""
        found: Array = self.class_scores(ratio)[self._ratios[1]]
        return found

    def class_scores(self, ratio: float) -> Array:
        """Score of each class, over the largest."""
        ratios = self._ratios[0]
        scores = ratios[:, 0] - ratio * ratios[:, 1]
        found: Array = scores / np.abs(scores).max()
        return found

    def shares(self, users: int, rows: Array | None = None) -> Callable[..., tuple[float, float]]:
        """Probabilities of an event for both datasets, of the first user and ``users - 1`` others, by rows.

        They depend on exp(eps) of the event, and on how likely the first user's message is among those looked at.
        """
        from scipy.special import gammaln, xlogy

        given = self.rows if rows is None else rows
        masses = np.array([np.bincount(self._ratios[1], weights=row, minlength=self.classes) for row in given])
        histograms = _histograms(users - 1, self.classes)
        logs = gammaln(users) + (xlogy(histograms, masses[2]) - gammaln(histograms + 1)).sum(axis=1)
        weights = np.exp(logs)

        def at(ratio: float, inside: float = 1.0) -> tuple[float, float]:
            scores = self.class_scores(ratio)
            sums = histograms @ scores
            own = np.array([float(weights[sums + score > _ROUNDING].sum()) for score in scores])
            first, second, other = masses @ own
            p0, p1 = (min(1.0, inside * float(one) + (1 - inside) * float(other)) for one in (first, second))
            return p0, p1

        return at


def occurs(scores: Array, messages: Integers) -> npt.NDArray[np.bool_]:
    """In which rows of messages the sum of the scores is positive."""
    found: npt.NDArray[np.bool_] = scores[messages].sum(axis=1) > _ROUNDING
    return found


def _histograms(total: int, cells: int) -> Integers:
    """All ways to write a total as an ordered sum."""
    if cells == 1:
        return np.array([[total]], dtype=np.int64)
    if cells == 2:
        return np.column_stack((np.arange(total + 1), np.arange(total, -1, -1)))
    rests = [_histograms(total - first, cells - 1) for first in range(total + 1)]
    return np.column_stack((np.repeat(np.arange(total + 1), list(map(len, rests))), np.concatenate(rests)))


def candidates(rows: Array, n: int, *, most: int = 2_000_000) -> Iterator[ConstantDatasets]:
    """Datasets with few enough histograms; of two with the same probabilities at as many messages only one.

    - ``most``: histograms over classes of messages beyond which datasets are left out.
    """
    seen: set[Any] = set()
    for a, b in itertools.permutations(range(len(rows)), 2):
        for c in range(len(rows)):
            kind = tuple(sorted(map(tuple, np.round(rows[[a, b, c]].T, 12).tolist())))
            if kind in seen:
                continue
            seen.add(kind)
            found = ConstantDatasets(a, b, c, n, rows[[a, b, c]])
            if count_histograms(n - 1, found.classes) <= most:
                yield found


def sharpened(rows: Array) -> Array:
    """Rows in proportion to their squares: often the same mechanism at twice its level."""
    squares = rows**2
    found: Array = squares / squares.sum(axis=1, keepdims=True)
    return found


def blocks(n: int) -> tuple[int, ...]:
    """All users, and first users in powers of two below: a shuffler that keeps blocks in order shows these."""
    return (n, *(1 << i for i in range(math.ceil(math.log2(n)) - 1, -1, -1))) if n > 1 else (1,)
