"""H(n) as a sum over the counts of the atoms, in mpmath: no transform, no lattice, no ball arithmetic.

Two atoms are summed in closed form: given how many users fall on either, their split is binomial, and E[(X - i)_+]
needs only binomial tails, accumulated from the far end. The counts of all other atoms are enumerated; those whose whole
contribution is below the precision asked for are skipped, by a Chernoff bound in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from symshuffle.accountants.confirm.transform import Transform
from symshuffle.base.errors import Unsupported

LARGEST_SUM: Final = 20_000_000
"""Candidate terms beyond which the sum is refused."""

LARGEST_N: Final = 300_000
"""Users beyond which even one table of factorials takes too long."""

_GUARD: Final = 14
"""Decimal digits below the precision asked for at which a term may be skipped."""


def by_sums(law: Transform, n: int, *, digits: int) -> Any:
    """E[S_+]/n to ``digits`` digits.

    Raises
    ------
    Unsupported
        If the sum would have more than ``LARGEST_SUM`` candidate terms, n is above ``LARGEST_N``, or the law has a
        continuous part.
    """
    terms = number_of_terms(law, n, digits=digits)
    if terms > LARGEST_SUM:
        raise Unsupported(f"a sum over counts at n = {n} with {len(law.atoms)} atoms: too many terms")
    return _positive_part(law.context, law.atoms, n, digits) / n


def number_of_terms(law: Transform, n: int, *, digits: int) -> float:
    """How many terms have to be considered; infinite where there is no such sum."""
    if law.smooth or n > LARGEST_N:
        return math.inf
    if len(law.atoms) == 1:
        return 1
    others = _split(law.atoms)[1]
    likely = _likely(law.atoms, n, digits)
    candidates = sum(math.comb(n - int(i) + len(others) - 1, len(others) - 1) if others else 1 for i in likely)
    return candidates + int(likely.sum())  # one step of a binomial tail each, at most


def _split(atoms: Sequence[tuple[Any, Any]]) -> tuple[Sequence[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """The pair that is summed in closed form, the largest and the lightest atom, and all others."""
    lightest = min(range(1, len(atoms)), key=lambda i: atoms[i][1])
    return (atoms[0], atoms[lightest]), [a for i, a in enumerate(atoms) if i not in (0, lightest)]


def _likely(atoms: Sequence[tuple[Any, Any]], n: int, digits: int) -> npt.NDArray[np.int64]:
    """Numbers of users on the pair that are not negligible."""
    pair, others = _split(atoms)
    if not others:
        return np.array([n])
    counts = np.arange(n + 1)
    return counts[_log_joint(pair, counts, n) >= _cutoff(atoms, n, digits)]


def _cutoff(atoms: Sequence[tuple[Any, Any]], n: int, digits: int) -> float:
    return _log_bound(atoms, n) - (digits + _GUARD) * math.log(10)


def _positive_part(context: Any, atoms: Sequence[tuple[Any, Any]], n: int, digits: int) -> Any:
    """E[(G_1 + ... + G_n)_+] for atoms sorted by falling value, the first of them positive."""
    if len(atoms) == 1:
        return n * atoms[0][0]
    pair, others = _split(atoms)
    cutoff = _cutoff(atoms, n, digits)
    tables = [_Table.of(atom, n) for atom in (*pair, *others)]
    total = context.mpf(0)
    for inner in _likely(atoms, n, digits).tolist():
        counts = _compositions(n - inner, len(others))
        counts = counts[_log_terms(pair, others, inner, counts, n) >= cutoff]
        if len(counts):
            total += _given_inner(context, pair, others, tables, inner, counts)
    return total * context.factorial(n)


@final
@dataclass(frozen=True, slots=True)
class _Table:
    """For all counts j of one atom: ``weight**j / j!`` and ``j * value``."""

    weights: list[Any]
    values: list[Any]

    @classmethod
    def of(cls, atom: tuple[Any, Any], n: int) -> _Table:
        value, weight = atom
        term, weights, values = weight * 0 + 1, [], []
        for j in range(n + 1):
            weights.append(term)
            values.append(j * value)
            term = term * weight / (j + 1)
        return cls(weights, values)


def _compositions(total: int, parts: int) -> npt.NDArray[np.int64]:
    """All ways to write ``total`` as an ordered sum of ``parts`` non-negative integers, shape (count, parts)."""
    if parts == 0:
        return np.zeros((1 if total == 0 else 0, 0), dtype=np.int64)
    if parts == 1:
        return np.array([[total]], dtype=np.int64)
    grids = np.indices((total + 1,) * (parts - 1), dtype=np.int64).reshape(parts - 1, -1).T
    last = total - grids.sum(axis=1, dtype=np.int64)
    kept = last >= 0
    return np.column_stack([grids[kept], last[kept]])


def _log_bound(atoms: Sequence[tuple[Any, Any]], n: int) -> float:
    """Logarithm of the Chernoff bound ``min_c M(c)**n / (c e)`` on the expectation."""
    values = np.array([float(v) for v, _ in atoms])
    logs = np.array([_log(w) for _, w in atoms])
    largest, top = float(np.abs(values).max()), float(values.max())
    cs = np.exp(np.linspace(math.log(1e-3 / n / largest), math.log((1e4 + 2 * abs(logs.min())) / top), 4000))
    exponents = np.outer(cs, values) + logs
    shift = exponents.max(axis=1)
    cumulants = shift + np.log(np.exp(exponents - shift[:, None]).sum(axis=1))
    return float((n * cumulants - np.log(cs) - 1).min())


def _log(positive: Any) -> float:
    """Natural logarithm as a double, also where the number is beyond the range of doubles."""
    return float(positive.context.log(positive))


def _log_factorial(counts: npt.NDArray[np.int64] | int) -> Any:
    """Stirling's series with its first term, at most 6e-6 off, which is more than a cutoff needs."""
    x = np.asarray(counts, dtype=float) + 1
    shifted = x + 7
    series = (shifted - 0.5) * np.log(shifted) - shifted + 0.5 * math.log(2 * math.pi) + 1 / (12 * shifted)
    return series - sum(np.log(x + j) for j in range(7))


def _log_joint(pair: Sequence[tuple[Any, Any]], inner: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.float64]:
    """Upper bound on the logarithm of the contribution of all terms with ``inner`` users on the pair."""
    weight = pair[0][1] + pair[1][1]
    binomial = _log_factorial(n) - _log_factorial(inner) - _log_factorial(n - inner)
    rest = _log(1 - weight) if weight < 1 else -math.inf
    bound: npt.NDArray[np.float64] = binomial + inner * _log(weight) + (n - inner) * rest
    return bound + math.log(n) + _log(pair[0][0])


def _log_terms(
    pair: Sequence[tuple[Any, Any]],
    others: Sequence[tuple[Any, Any]],
    inner: int,
    counts: npt.NDArray[np.int64],
    n: int,
) -> npt.NDArray[np.float64]:
    """Upper bounds on the logarithm of each term: its probability, times the largest excess, times a binomial tail."""
    high, low = float(pair[0][0]), float(pair[1][0])
    log = _log_factorial(n) - _log_factorial(inner) + inner * _log(pair[0][1] + pair[1][1])
    terms = log - _log_factorial(counts).sum(axis=1) + counts @ np.array([_log(w) for _, w in others])
    drift = counts @ np.array([float(v) for v, _ in others]) if others else np.zeros(len(counts))
    threshold: npt.NDArray[np.float64] = -(low * inner + drift) / (high - low)
    share = np.clip(threshold / max(inner, 1), 0.0, 1.0)
    q = float(pair[0][1] / (pair[0][1] + pair[1][1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(share > 0, share * np.log(share / q), 0.0) + np.where(
            share < 1, (1 - share) * np.log((1 - share) / (1 - q)), 0.0
        )
    tail = np.where(share > q, -inner * divergence, 0.0)
    terms += tail + math.log(n) + _log(pair[0][0])
    bound: npt.NDArray[np.float64] = np.where(threshold > inner + 1e-6 * n, -np.inf, terms)
    return bound


def _given_inner(
    context: Any,
    pair: Sequence[tuple[Any, Any]],
    others: Sequence[tuple[Any, Any]],
    tables: Sequence[_Table],
    inner: int,
    counts: npt.NDArray[np.int64],
) -> Any:
    """The sum over the counts of the other atoms, given how many users fall on the pair."""
    (high, _), (low, _) = pair
    gap, base = high - low, low * inner
    starts = _starts(context, gap, base, others, counts)
    lowest = int(starts.min())
    if lowest > inner:
        return context.mpf(0)
    tail, moment = _binomial_tails(tables[0], tables[1], inner, lowest, context)
    lifted = [gap * mean for mean in moment]
    weights, values = [], []
    for row, start in zip(counts.tolist(), starts.tolist(), strict=True):
        if start <= inner:
            weight, drift = context.mpf(1), base
            for count, table in zip(row, tables[2:], strict=True):
                weight, drift = weight * table.weights[count], drift + table.values[count]
            weights.append(weight)
            values.append(lifted[start - lowest] + drift * tail[start - lowest])
    return context.fdot(weights, values)


def _starts(
    context: Any, gap: Any, base: Any, others: Sequence[tuple[Any, Any]], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The smallest count of the high atom for which the sum is positive; doubtful cases are decided at precision."""
    values = np.array([float(value) for value, _ in others])
    drifts = counts @ values if others else np.zeros(len(counts))
    threshold: npt.NDArray[np.float64] = -(float(base) + drifts) / float(gap)
    starts: npt.NDArray[np.int64] = np.maximum(np.floor(threshold).astype(np.int64) + 1, 0)
    scale = 1e-12 * (1 + abs(float(base)) + float(np.abs(values).max(initial=0)) * float(counts.max(initial=0)))
    for i in np.flatnonzero(np.abs(threshold - np.rint(threshold)) < scale / float(gap)):
        drift = sum((int(c) * v for c, (v, _) in zip(counts[i], others, strict=True)), start=base)
        starts[i] = max(0, int(context.floor(-drift / gap)) + 1)
    return starts


def _binomial_tails(high: _Table, low: _Table, size: int, start: int, context: Any) -> tuple[list[Any], list[Any]]:
    """Mass and first moment of the count of the high atom from i upward, for i = start..size, given both counts' sum.

    Both are left without the factor ``n!``, which is common to all terms.
    """
    tail, moment = [], []
    above, mean = context.mpf(0), context.mpf(0)
    for i in range(size, start - 1, -1):
        mass = high.weights[i] * low.weights[size - i]
        above += mass
        mean += i * mass
        tail.append(above)
        moment.append(mean)
    return tail[::-1], moment[::-1]
