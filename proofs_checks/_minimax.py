r"""The exact minimax risk of estimating a composition from few shuffled messages, from both sides.

All estimators are admitted: one vector of :math:`\mathbb R^k` for every histogram. Their worst-case risk is convex, and
cvxpy minimises it over finitely many compositions; nothing it says is believed. Its multipliers, made rational, are a
prior, whose exact Bayes risk is the lower end. Its estimator, made rational, has a worst-case risk over *all*
compositions, certified by Bernstein coefficients (i.i.d. users) or by the finite list of compositions of ``n`` users
(fixed composition): the upper end. Compositions where the estimator does badly are added, and the program is solved
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from proofs_checks._simplex import Exponent, exponents, histogram_forms, largest_value, risk_form
from symshuffle.base.choices import Population
from symshuffle.base.errors import CertificateError, SolverFailure
from symshuffle.base.results import Bracket
from symshuffle.base.solvers import cvxpy, solve_model
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.channels.shuffled import Tally
from symshuffle.utility.estimation.canonical import population_law
from symshuffle.utility.estimation.lower_bounds import bayes_risk

_STEPS: Final = {2: 24, 3: 10, 4: 5, 5: 3, 6: 2}
_DENOMINATOR: Final = 10**9
_ROUNDS: Final = 8


@final
@dataclass(frozen=True, slots=True)
class Minimax:
    """The minimax risk of one channel, bracketed, with the prior and the estimator that prove it.

    Parameters
    ----------
    channel : Channel
        The local randomizer, over Q.
    n : int
        Number of users.
    population : Population
        How inputs arise from the composition.
    bracket : Bracket
        Around the smallest worst-case expected squared error of any estimator.
    prior : tuple of (Vector, Fraction)
        Compositions and masses; its Bayes risk is the lower end.
    estimator : tuple of (Histogram, Vector)
        An estimate for every histogram; its worst-case risk is at most the upper end.
    """

    channel: Channel
    n: int
    population: Population
    bracket: Bracket
    prior: tuple[tuple[Vector, Fraction], ...]
    estimator: tuple[tuple[Tally, Vector], ...]

    def verify(self) -> None:
        """Recompute both ends from the channel, the prior and the estimator alone.

        Raises
        ------
        CertificateError
            If an end does not follow; the message names it.
        """
        lower = prior_risk(self.channel, self.prior, n=self.n, population=self.population)
        if lower < self.bracket.lower:
            raise CertificateError("prior", f"Bayes risk {float(lower)}, below {float(self.bracket.lower)}")
        gap, estimates = self.bracket.upper / 1000, dict(self.estimator)
        for _ in range(_ROUNDS):  # a closer look only lowers the upper end, so it ends below what was claimed, or above
            found = worst_risk(self.channel, estimates, n=self.n, population=self.population, gap=gap)
            if found.upper <= self.bracket.upper:
                return
            if found.lower > self.bracket.upper:
                break
            gap /= 10
        raise CertificateError("estimator", f"worst risk {float(found.upper)}, above {float(self.bracket.upper)}")


def prior_risk(
    channel: Channel, prior: Sequence[tuple[Vector, Fraction]], *, n: int, population: Population
) -> Fraction:
    """Exact Bayes risk under a finite prior over compositions: no estimator has a smaller worst-case risk."""
    if population == "iid":
        return bayes_risk(channel, prior, n=n)
    risk = sum((mass * dot(w, w) for w, mass in prior), start=Fraction(0))
    seen: dict[Tally, list[Fraction]] = {}
    for w, mass in prior:
        for histogram, probability in population_law(channel, w, n, population).items():
            sums = seen.setdefault(histogram, [Fraction(0)] * (len(w) + 1))
            for i, entry in enumerate((*w, Fraction(1))):
                sums[i] += mass * probability * entry
    return risk - sum((dot(s[:-1], s[:-1]) / s[-1] for s in seen.values()), start=Fraction(0))


def estimator_risk(
    channel: Channel, estimates: Mapping[Tally, Vector], w: Vector, *, n: int, population: Population
) -> Fraction:
    """Exact expected squared error of any estimator at one composition."""
    total = Fraction(0)
    for histogram, mass in population_law(channel, w, n, population).items():
        total += mass * sum((a - b) ** 2 for a, b in zip(estimates[histogram], w, strict=True))
    return total


def worst_risk(
    channel: Channel, estimates: Mapping[Tally, Vector], *, n: int, population: Population, gap: Fraction
) -> Bracket:
    """The largest risk of an estimator over all compositions: certified, never read off a grid."""
    return _worst(channel, estimates, n, population, gap)[0]


def _worst(
    channel: Channel, estimates: Mapping[Tally, Vector], n: int, population: Population, gap: Fraction
) -> tuple[Bracket, Vector]:
    if population == "iid":
        forms: dict[Exponent, Any] = dict(histogram_forms(channel, n))
        return largest_value(risk_form(forms, estimates), gap=gap)
    risks = [
        (estimator_risk(channel, estimates, w, n=n, population=population), w) for w in grid(channel.num_inputs, n)
    ]
    worst, where = max(risks)
    return Bracket(worst, worst, "exact", "enumeration", f"all {len(risks)} compositions of {n} users"), where


def grid(k: int, steps: int) -> list[Vector]:
    """Compositions with denominators ``steps``."""
    return [tuple(Fraction(part, steps) for part in parts) for parts in exponents(steps, k)]


def minimax_risk(channel: Channel, *, n: int, population: Population, rtol: Fraction = Fraction(1, 1000)) -> Minimax:
    """The minimax risk over all estimators and all compositions, from both sides.

    Parameters
    ----------
    channel : Channel
        The local randomizer, over Q, with 2 to 6 inputs.
    n : int
        Number of users, a few.
    population : Population
        ``IID``: all compositions of the simplex. ``FIXED``: those of ``n`` users.
    rtol : Fraction
        Relative width at which the search stops; the bracket says what was reached.

    Notes
    -----
    The converse of alphabets, Section 8: what its lower bounds leave on the table.
    """
    k = channel.num_inputs
    support = grid(k, n if population == "fixed" else _STEPS[k])
    best: Minimax | None = None
    for _ in range(_ROUNDS if population == "iid" else 1):
        estimates, prior = _propose(channel, support, n, population)
        lower = prior_risk(channel, prior, n=n, population=population)
        found, where = _worst(channel, estimates, n, population, rtol * lower / 4)
        evaluation = f"Bayes risk of {len(prior)} compositions; estimator: {found.evaluation}"
        lower = max(lower, best.bracket.lower) if best else lower
        if best is None or found.upper < best.bracket.upper or lower > best.bracket.lower:
            keep = best is not None and best.bracket.upper <= found.upper
            kept = best.estimator if keep and best else tuple(sorted(estimates.items()))
            upper = best.bracket.upper if keep and best else found.upper
            kept_prior = best.prior if best and lower == best.bracket.lower else prior
            bracket = Bracket(lower, upper, "exact", "minimax", evaluation)
            best = Minimax(channel, n, population, bracket, kept_prior, kept)
        if best.bracket.width <= rtol * best.bracket.upper or where in support:
            break
        near = tuple(entry.limit_denominator(10**4) for entry in where[:-1])
        support = [*support, (*near, 1 - sum(near, start=Fraction(0)))]
    assert best is not None
    return best


def _propose(
    channel: Channel, support: Sequence[Vector], n: int, population: Population
) -> tuple[dict[Tally, Vector], tuple[tuple[Vector, Fraction], ...]]:
    """An estimator and a prior from the program over finitely many compositions, both made rational."""
    cp = cvxpy()
    laws = [population_law(channel, w, n, population) for w in support]
    histograms = sorted({h for law in laws for h in law})
    index = {h: i for i, h in enumerate(histograms)}
    k = channel.num_inputs
    estimate = cp.Variable((len(histograms), k))
    level = cp.Variable()
    constraints = []
    for w, law in zip(support, laws, strict=True):
        weights: npt.NDArray[np.float64] = np.zeros((len(histograms), 1))
        for h, mass in law.items():
            weights[index[h], 0] = float(mass) ** 0.5
        shifted = estimate - np.array([list(map(float, w))] * len(histograms))
        constraints.append(cp.sum_squares(cp.multiply(weights, shifted)) <= level)
    problem = cp.Problem(cp.Minimize(level), constraints)
    solve_model(problem, cp.CLARABEL)
    if problem.status not in ("optimal", "optimal_inaccurate") or estimate.value is None:
        raise SolverFailure("Clarabel", str(problem.status), f"a minimax program of {len(support)} compositions")
    estimates = {
        h: tuple(Fraction(float(entry)).limit_denominator(10**6) for entry in estimate.value[i])
        for h, i in index.items()
    }
    multipliers = [max(float(np.sum(constraint.dual_value)), 0.0) for constraint in constraints]
    total = sum(multipliers)
    masses = [Fraction(round(value / total * _DENOMINATOR)) for value in multipliers]
    whole = sum(masses, start=Fraction(0))
    prior = tuple((w, mass / whole) for w, mass in zip(support, masses, strict=True) if mass)
    return estimates, prior
