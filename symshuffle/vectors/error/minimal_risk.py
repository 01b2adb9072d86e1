r"""The least worst-case error of unbiased estimators for a finite channel: a cone program with an exact certificate.

The program is :math:`\min_X\max_i\sum_yR_i(y)|X_y|^2-|v_i|^2` subject to :math:`RX=V`: estimates :math:`X_y` per output
that are right on average at every input. For weights w on the inputs, the weighted average error is least at a point
that linear algebra gives, and that least average is below the optimum. The same point is feasible, so its worst error
is above. Both are rationals: the weights alone are the certificate, and a solver only proposes them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, final

import flint

from symshuffle.base.choices import Arithmetic, SafeEnd
from symshuffle.base.errors import CertificateError, InputError, SolverFailure
from symshuffle.base.numbers import as_integer, listed, parse_rationals
from symshuffle.base.results import AnswerMethods, Bracket, check_claim
from symshuffle.base.solvers import cvxpy, solve_model
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.channels.geometry.linear import dot, from_fmpq, product, to_fmpq, transpose
from symshuffle.channels.shuffled import count_histograms, shuffled_law

_Rows: TypeAlias = "tuple[tuple[Fraction, ...], ...]"

LARGEST_PROGRAM: Final = 3000
"""Histograms times datasets beyond which the program of n users is refused."""


@final
@dataclass(frozen=True, slots=True)
class MinimalRisk(AnswerMethods):
    """A certified bracket of the least worst-case error of unbiased estimators.

    ``float`` returns the upper end, rounded up.

    - ``weights``: non-negative weights on the inputs, of sum 1: the certificate.
    - ``estimator``: an unbiased estimator, an estimate for each output.
    - ``bracket``: upper end: the largest error of ``estimator`` at an input; lower end: the least error of any unbiased
      estimator, averaged over the inputs by ``weights``.
    """

    safe: ClassVar[SafeEnd] = "upper"
    channel: Channel
    targets: _Rows
    weights: tuple[Fraction, ...]
    estimator: _Rows
    bracket: Bracket

    @property
    def about(self) -> str:
        """What the number is."""
        return f"least worst-case error of an unbiased estimator over {self.channel.num_inputs} inputs"

    def verify(self) -> None:
        """Check the certificate from the problem alone."""
        rows: Any = self.channel.rows
        if any(weight < 0 for weight in self.weights) or sum(self.weights) != 1:
            raise CertificateError("weights", f"{self.weights} are not non-negative rationals of sum 1")
        for i, (mean, target) in enumerate(zip(product(rows, self.estimator), self.targets, strict=True)):
            if mean != target:
                raise CertificateError("estimator", f"mean {mean} at input {i}, expected unbiased: {target}")
        worst = max(_errors(self.channel, self.targets, self.estimator))
        least = weighted_minimum(self.channel, self.targets, self.weights)[0]
        check_claim(self.bracket, replace(self.bracket, lower=least, upper=worst), "bracket")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "risk": self.bracket.decimals(),
            "weights": [str(weight) for weight in self.weights],
            "estimator": [[str(entry) for entry in row] for row in self.estimator],
        }


def minimal_unbiased_risk(channel: Channel, targets: Sequence[Sequence[Fraction | int]]) -> MinimalRisk:
    """Smallest worst-case squared error of an unbiased estimator, with a certificate.

    Parameters
    ----------
    channel : Channel
        A channel over the rationals.
    targets : sequence of sequence of Fraction
        The vector to estimate at each input: k vectors, all of one length.

    Returns
    -------
    MinimalRisk
        The error as a bracket, and the certificate of both ends.

    Raises
    ------
    InputError
        If the sizes disagree, the channel is not over the rationals, or no estimator is unbiased.
    SolverFailure
        If the cone solver gives no weights.

    Notes
    -----
    vecmean, Lemma A.2.

    Examples
    --------
    >>> response = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> minimal_unbiased_risk(response, [[1], [-1]]).bracket.exact
    Fraction(3, 1)
    """
    check_channel(channel)
    vectors = tuple(parse_rationals(target, f"targets[{x}]") for x, target in enumerate(listed(targets, "targets")))
    if len(vectors) != channel.num_inputs or len({len(vector) for vector in vectors}) != 1:
        raise InputError("targets", f"{len(vectors)} vectors", f"{channel.num_inputs} vectors of one length")
    if not channel.exact:
        raise InputError("channel", "entries that are not rational", "a channel over the rationals")
    channel, _ = channel.without_null_outputs()
    uniform = (Fraction(1, channel.num_inputs),) * channel.num_inputs
    weighted_minimum(channel, vectors, uniform)  # refuses before a solver is asked
    best = min(
        (_bracketed(channel, vectors, weights) for weights in (uniform, _proposed(channel, vectors))),
        key=lambda found: found.bracket.width,
    )
    best.verify()
    return best


def _bracketed(channel: Channel, targets: _Rows, weights: tuple[Fraction, ...]) -> MinimalRisk:
    lower, estimator = weighted_minimum(channel, targets, weights)
    upper = max(_errors(channel, targets, estimator))
    arithmetic: Arithmetic = "exact" if lower == upper else "ball"
    bracket = Bracket(lower, upper, arithmetic, "cone program", "weights on inputs; both ends by exact linear algebra")
    return MinimalRisk(channel, targets, weights, estimator, bracket)


def weighted_minimum(channel: Channel, targets: _Rows, weights: Sequence[Fraction]) -> tuple[Fraction, _Rows]:
    r"""The least weighted error of an unbiased estimator, and where it is attained.

    With :math:`D=\mathrm{diag}(w^\top R)` the minimum is at :math:`X=D^{-1}R^\top\Lambda`, where
    :math:`RD^{-1}R^\top\Lambda=V`.
    """
    check_channel(channel)
    rows: Any = channel.rows
    columns = transpose(rows)
    masses = [dot(weights, column) for column in columns]
    if not all(masses):
        raise InputError(
            "weights", list(map(str, weights)), "weights under which every output has positive probability"
        )
    scaled = [[p / mass for p in column] for column, mass in zip(columns, masses, strict=True)]
    multipliers = _solve(product(rows, scaled), targets)
    if multipliers is None:
        raise InputError("targets", "not in the range of the channel", "vectors that some estimator meets on average")
    estimator = product(scaled, multipliers)
    return dot(weights, _errors(channel, targets, estimator)), estimator


def _errors(channel: Channel, targets: _Rows, estimator: _Rows) -> list[Fraction]:
    """Squared error at each input; the estimator is unbiased, so that it is a difference of second moments."""
    rows: Any = channel.rows
    squares = [dot(row, row) for row in estimator]
    return [dot(row, squares) - dot(target, target) for row, target in zip(rows, targets, strict=True)]


def _solve(matrix: Sequence[Sequence[Fraction]], right: _Rows) -> _Rows | None:
    """Some solution of a consistent linear system, None where there is none."""
    size, width = len(matrix), len(right[0])
    table = flint.fmpq_mat([[to_fmpq(x) for x in (*row, *rhs)] for row, rhs in zip(matrix, right, strict=True)])
    reduced, rank = table.rref()
    found = [[Fraction(0)] * width for _ in range(size)]
    for i in range(rank):
        pivot = next(j for j in range(size + width) if reduced[i, j] != 0)
        if pivot >= size:
            return None
        found[pivot] = [from_fmpq(reduced[i, size + j]) for j in range(width)]
    return tuple(map(tuple, found))


def _proposed(channel: Channel, targets: _Rows, *, denominator: int = 10**12) -> tuple[Fraction, ...]:
    """Weights on the inputs from the multipliers of the cone program."""
    import numpy as np

    rows = np.array([[float(entry) for entry in row] for row in channel.rows])
    values = np.array([[float(entry) for entry in target] for target in targets])
    cp = cvxpy()
    estimates = cp.Variable((rows.shape[1], values.shape[1]))
    worst = cp.Variable()
    limits = [
        cp.sum_squares(cp.multiply(np.sqrt(row)[:, None], estimates)) - float(np.sum(value**2)) <= worst
        for row, value in zip(rows, values, strict=True)
    ]
    problem = cp.Problem(cp.Minimize(worst), [rows @ estimates == values, *limits])
    solve_model(problem, cp.CLARABEL)
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise SolverFailure("Clarabel", str(problem.status), f"a cone program over {len(rows)} inputs")
    raw = [max(0.0, float(np.squeeze(limit.dual_value))) for limit in limits]
    parts = [Fraction(weight / sum(raw)).limit_denominator(denominator) for weight in raw]
    # An output that only an input of weight zero can send needs some weight.
    padded = [part + Fraction(1, denominator) for part in parts]
    return tuple(part / sum(padded) for part in padded)


def shuffled_problem(channel: Channel, targets: Sequence[Sequence[Fraction | int]], n: int) -> tuple[Channel, _Rows]:
    """Channel and targets of the estimation problem of n shuffled users.

    Parameters
    ----------
    channel : Channel
        The local randomizer, with k inputs.
    targets : sequence of sequence of Fraction
        The vector of each input: k vectors, all of one length.
    n : int
        Number of users, at least 1.

    Returns
    -------
    channel : Channel
        Inputs are the datasets up to order, outputs the histograms of messages.
    targets : tuple of tuple of Fraction
        For each dataset the mean of its users' vectors.

    Raises
    ------
    InputError
        If ``n`` is below 1, or there would be more than 3,000 entries (histograms times datasets).

    Examples
    --------
    >>> response = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> channel, targets = shuffled_problem(response, [[1], [-1]], 2)
    >>> channel.num_inputs, channel.num_outputs, targets
    (3, 3, ((Fraction(1, 1),), (Fraction(0, 1),), (Fraction(-1, 1),)))
    """
    check_channel(channel)
    n = as_integer(n, "n", 1)
    vectors = tuple(parse_rationals(target, f"targets[{x}]") for x, target in enumerate(listed(targets, "targets")))
    size = count_histograms(n, channel.num_outputs) * count_histograms(n, channel.num_inputs)
    if size > LARGEST_PROGRAM:
        raise InputError(
            "n", n, f"a number of users with at most {LARGEST_PROGRAM} histograms times datasets, not {size}"
        )
    datasets = list(itertools.combinations_with_replacement(range(channel.num_inputs), n))
    laws = [shuffled_law(channel, dataset) for dataset in datasets]
    histograms = sorted(set().union(*laws))
    rows = tuple(tuple(law.get(histogram, Fraction(0)) for histogram in histograms) for law in laws)
    means = tuple(
        tuple(sum((vectors[x][j] for x in dataset), Fraction(0)) / n for j in range(len(vectors[0])))
        for dataset in datasets
    )
    return Channel(rows), means
