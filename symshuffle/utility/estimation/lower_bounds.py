r"""Lower bounds on the risk of every estimator: van Trees, and from the pairwise budget near a corner.

Lower bounds on the risk of every estimator: van Trees, and what it says about shuffled compositions.

For a parameter in ``m`` dimensions whose prior :math:`\pi` vanishes on the faces of its box the risk is at least
:math:`m^2/(E_\pi\operatorname{tr}I(\theta)+J(\pi))` with :math:`J(\pi)=\sum_j\int(\partial_j\pi)^2/\pi` (anchored,
Lemma A.1).

Lower bounds on frequency estimation from the pairwise budget alone, near a corner of the simplex.

Where input ``a`` has the share :math:`\theta_a`, every message has probability at least :math:`\theta_aW_a`, so that
information and divergences along the edges from ``a`` are at most :math:`\chi_*/\theta_a`. From it follow Cramer-Rao,
a hypercube of side ``h`` (alphabets, Section 8) with a sharper form, and van Trees with a cosine prior on the cube.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint

from symshuffle.base.choices import SafeEnd
from symshuffle.base.crossings import least_between
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.numbers import (
    Ball,
    Number,
    Verdict,
    as_integer,
    less,
    lower_end,
    parse_number,
    parse_rational,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.base.results import AnswerMethods, Bracket, check_claim, well_formed
from symshuffle.channels.channel import Channel, check_channel, exact_columns
from symshuffle.channels.geometry.linear import dot
from symshuffle.channels.shuffled import histogram_law
from symshuffle.utility.anchored.law import check_composition
from symshuffle.utility.estimation.canonical import isotropic_risk

_BITS: Final = 128


def van_trees_bound(information: Any, prior: Any, *, dimension: int) -> Any:
    r"""Bound :math:`m^2/(E\operatorname{tr}I+J)` in ``m`` dimensions (anchored, Lemma A.1).

    - ``information``: trace of the Fisher information of all observations, averaged over the prior.
    - ``prior``: the information :math:`J` of the prior, summed over coordinates; above 0.
    """
    if dimension < 1:
        raise InputError("dimension", dimension, "an integer of at least 1")
    if isinstance(prior, Fraction | Ball | float | int) and less(0, prior) is not Verdict.TRUE:
        raise InputError("prior", prior, "a number > 0: a prior that vanishes on the boundary has positive information")
    return dimension**2 / (information + prior)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Sandwich(AnswerMethods):
    """Bounds on the minimax risk, the lower one by a prior on a cube of half side ``radius``; the upper is attained.

    ``float`` returns the upper end, rounded up.
    """

    safe: ClassVar[SafeEnd] = "upper"
    lower: Bracket
    upper: Bracket
    canonical: Bracket
    radius: Fraction
    inputs: int
    users: int
    trace: Number

    @well_formed()
    def verify(self) -> None:
        """Evaluate the three formulas again at the radius, from the numbers of inputs and users and the trace alone."""
        k, n = self.inputs, self.users
        if not self.radius > 0 or self.radius**2 * (k - 1) ** 2 * k >= 1:
            raise CertificateError(
                "radius", f"{self.radius}: the cube around the uniform composition leaves the simplex"
            )
        for place, proved in _bounds(k, self.trace, n, self.radius).items():
            check_claim(getattr(self, place), proved, place)

    @property
    def bracket(self) -> Bracket:
        """The minimax risk, between both bounds."""
        evaluation = f"lower: {self.lower.evaluation}; upper: {self.upper.evaluation}"
        return Bracket(self.lower.lower, self.upper.upper, "ball", "closed form", evaluation)

    @property
    def about(self) -> str:
        """Whose risk it is."""
        return f"minimax risk of the composition of {self.users} i.i.d. users with {self.inputs} inputs, capped trace"

    @property
    def ratio(self) -> Fraction:
        """Lower bound over canonical risk, certified; it tends to 1 where the canonical estimator is optimal."""
        return self.lower.lower / self.canonical.upper


def minimax_sandwich(k: int, trace: Number, n: int) -> Sandwich:
    r"""Bounds on the i.i.d. minimax risk over all estimators and channels of a trace.

    Lower bound: van Trees with the cosine prior on the cube of radius ``r`` around the uniform composition,

    .. math:: L=\frac{(k-1)^2}{nT/(1-r^2(k-1)^2k)+(k-1)\pi^2/r^2}.

    Upper bound: the canonical estimator of an exchangeable law of trace ``T``, best shrunk
    (:func:`best_shrinkage_risk`).

    Parameters
    ----------
    k : int
        Number of inputs, at least 2.
    trace : Number
        Cap ``T > 0`` on the trace, a fraction or ball.
    n : int
        Number of users.

    Returns
    -------
    Sandwich
        Both bounds, and the radius of the prior.

    Raises
    ------
    InputError
        If ``k`` or ``n`` is out of range, or the trace is not in (0, k(k - 1)].

    Notes
    -----
    anchored, Theorem 8.1 and Corollary 9.6; the symmetric prior improves the rate of the paper's argument.

    Examples
    --------
    >>> found = minimax_sandwich(4, Fraction(1), 1000)
    >>> round(float(found.lower.lower), 5), round(float(found.upper.upper), 5)
    (0.00218, 0.00846)
    """
    n, k, trace = as_integer(n, "n", 1), as_integer(k, "k", 2), parse_number(trace, "trace")
    if less(0, trace) is not Verdict.TRUE:
        raise InputError("trace", trace, "a number > 0")
    if less(k * (k - 1), trace) is Verdict.TRUE:
        raise InputError("trace", trace, f"at most {k * (k - 1)}, the trace of the identity channel")
    radius = _radius(k, float(trace), n)
    return Sandwich(**_bounds(k, trace, n, radius), radius=radius, inputs=k, users=n, trace=trace)


def _bounds(k: int, trace: Number, n: int, radius: Fraction) -> dict[str, Bracket]:
    """Both bounds and the canonical risk: each by its formula, in balls; any admissible radius gives a lower bound."""
    with working_precision(_BITS):
        m = k - 1
        cap = to_arb(trace)
        squared = to_arb(radius) ** 2
        bound = m**2 / (n * cap / (1 - squared * m**2 * k) + m * flint.arb.pi() ** 2 / squared)
        canonical = isotropic_risk(k, cap, population="iid") / n
        return {
            "lower": ball_bracket(bound, "van Trees with a cosine prior"),
            "upper": ball_bracket(to_arb(best_shrinkage_risk(k, trace, n)), "canonical estimator, best shrinkage"),
            "canonical": ball_bracket(canonical, "canonical estimator of an exchangeable law"),
        }


def best_shrinkage_risk(k: int, trace: Number, n: int) -> Number:
    r"""Smallest worst-case i.i.d. risk among estimators shrunk to the uniform one.

    The estimators are the multiples of the canonical estimate around the uniform composition. With
    :math:`K=(k-1)^2/T`, :math:`M=1-1/k` and :math:`b=|w-\frac1k1|^2\le M` the estimate shrunk by ``a`` has risk
    :math:`\frac{a^2}n(K-b)+(1-a)^2b`. If :math:`K-M\ge\sqrt nM` the worst ``b`` is ``M`` and the best value is
    :math:`\frac{M(K-M)}{nM+K-M}`; otherwise all compositions have the same risk :math:`\frac K{(1+\sqrt n)^2}`.

    Parameters
    ----------
    k : int
        Number of inputs, at least 2.
    trace : Number
        Trace ``T > 0`` of an exchangeable channel, fraction or ball.
    n : int
        Number of users, at least 1.

    Returns
    -------
    Fraction or Ball
        Exact for a rational trace if the value is rational, otherwise a ball.

    Raises
    ------
    InputError
        If ``k`` or ``n`` is out of range, or the trace is not in (0, k(k - 1)].

    Examples
    --------
    >>> best_shrinkage_risk(2, Fraction(1, 2), 4)
    Fraction(3, 14)
    """
    n, k, trace = as_integer(n, "n", 1), as_integer(k, "k", 2), parse_number(trace, "trace")
    constant: Any = isotropic_risk(k, trace, population="iid")
    if constant == math.inf:
        raise InputError("trace", trace, "a number above 0: at trace 0 messages do not depend on the inputs")
    largest = Fraction(k - 1, k)
    noise = constant - largest
    root = math.isqrt(n)
    with working_precision(_BITS):
        level: Any = Fraction(root) if root * root == n else Ball.from_arb(flint.arb(n).sqrt(), _BITS)
    if less(noise, level * largest) is Verdict.FALSE:
        far: Number = largest * noise / (n * largest + noise)
        return far
    near: Number = constant / ((1 + level) * (1 + level))
    return near


def bayes_risk(channel: Channel, prior: Sequence[tuple[Sequence[Fraction], Fraction]], *, n: int) -> Fraction:
    """Exact Bayes risk of estimating the composition of i.i.d. users.

    The risk is the expected squared error of the best estimator under a finite prior. No estimator has a smaller
    worst-case risk.

    Parameters
    ----------
    channel : Channel
        The local randomizer, over Q.
    prior : sequence of (composition, mass)
        Compositions with their prior probabilities, of sum 1.
    n : int
        Number of users; all histograms are enumerated.

    Returns
    -------
    Fraction
        The risk, exactly.

    Raises
    ------
    InputError
        If a composition is no probability vector, or the masses do not sum to 1.

    Examples
    --------
    >>> response = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> half = Fraction(1, 2)
    >>> bayes_risk(response, [((1, 0), half), ((0, 1), half)], n=1)
    Fraction(3, 8)
    """
    check_channel(channel)
    n = as_integer(n, "n", 1)
    atoms = [(check_composition(w, channel.num_inputs), parse_rational(mass, "prior")) for w, mass in prior]
    total = sum((mass for _, mass in atoms), start=Fraction(0))
    if total != 1 or min(mass for _, mass in atoms) < 0:
        raise InputError("prior", f"masses of sum {total}", "non-negative masses of sum 1")
    columns = exact_columns(channel)
    risk = sum((mass * dot(w, w) for w, mass in atoms), start=Fraction(0))
    seen: dict[tuple[int, ...], list[Fraction]] = {}
    for w, mass in atoms:
        mixture = tuple(dot(w, column) for column in columns)
        for histogram, probability in histogram_law([mixture] * n).items():
            sums = seen.setdefault(histogram, [Fraction(0)] * (len(w) + 1))
            for i, entry in enumerate((*w, Fraction(1))):
                sums[i] += mass * probability * entry
    return risk - sum((dot(sums[:-1], sums[:-1]) / sums[-1] for sums in seen.values()), start=Fraction(0))


def ball_bracket(value: flint.arb, evaluation: str) -> Bracket:
    """A closed form that was evaluated in balls."""
    ball = Ball.from_arb(value, _BITS)
    return Bracket(lower_end(ball), upper_end(ball), "ball", "closed form", evaluation)


def _radius(k: int, trace: float, n: int) -> Fraction:
    """A good radius: any one below 1/((k-1) sqrt(k)) gives a valid bound, so floating point may choose it."""
    m = k - 1
    largest = 1 / (m * math.sqrt(k))

    def denominator(share: float) -> float:
        r = share * largest
        return n * trace / (1 - share * share) + m * math.pi**2 / (r * r)

    best = min((step / 1000 for step in range(1, 1000)), key=denominator)
    fine = min((best + step / 10**6 for step in range(-1000, 1000) if 0 < best + step / 10**6 < 0.999), key=denominator)
    return Fraction(fine * largest).limit_denominator(10**12)


def near_vertex_bound(k: int, budget: Number, *, rho: Fraction, n: int) -> Any:
    r"""Bound :math:`(1-\rho)(k-1)/(n\chi_*)` on locally unbiased estimators at a share ``1 - rho`` (Theorem 8.1)."""
    k, n = check_problem(k, budget, n)
    if not 0 < rho < 1:
        raise InputError("rho", rho, "a share in (0, 1)")
    return (1 - Fraction(rho)) * (k - 1) / (n * budget)


def two_regime_bound(k: int, budget: Number, *, n: int) -> Any:
    r"""Bound :math:`\min\{\frac{k-1}{n\chi_*},\frac1{k-1}\}/64` on every estimator (alphabets, Corollary 8.5)."""
    k, n = check_problem(k, budget, n)
    few, many = Fraction(1, 64 * (k - 1)), (k - 1) / (64 * n * budget)
    return few if less(few, many) is Verdict.TRUE else many


def sharp_cube_bound(k: int, budget: Number, *, n: int, h: Fraction | None = None) -> Bracket:
    r"""Bound :math:`\frac{(k-1)h^2}4\big(1+\frac{h^2\chi_*}{1-(k-1)h}\big)^{-n}` on every estimator.

    The mean risk on an edge is the posterior variance
    :math:`\frac{h^2}2\sum\frac{pq}{p+q}\ge\frac{h^2}4\big(\sum\sqrt{pq}\big)^2`, and
    :math:`-2\log\sum\sqrt{pq}\le KL\le\log(1+\chi^2)` adds up over users.

    - ``h``: side, in ``(0, 1/(k-1))``; by default the best one, found in doubles: every side gives a valid bound.
    """
    k, n = check_problem(k, budget, n)
    m, chi = k - 1, float(budget)

    def value(side: float) -> float:
        return 2 * math.log(side) - n * math.log1p(side * side * chi / (1 - m * side))

    chosen = _best_side(m, value) if h is None else _check_side(h, m)
    with working_precision(_BITS):
        side = to_arb(chosen)
        divergence = side**2 * to_arb(budget) / (1 - m * side)
        bound = side**2 * m / 4 * (-n * (1 + divergence).log()).exp()
    return ball_bracket(bound, f"cube of side {float(chosen):.3g}, Hellinger affinity of an edge")


def corner_van_trees(k: int, budget: Number, *, n: int, h: Fraction | None = None) -> Bracket:
    r"""Bound :math:`(k-1)/(\frac{n\chi_*}{1-(k-1)h}+\frac{4\pi^2}{h^2})`, with cosine priors on ``(0, h)``."""
    k, n = check_problem(k, budget, n)
    m, chi = k - 1, float(budget)

    def value(side: float) -> float:
        return -(n * chi / (1 - m * side) + 4 * math.pi**2 / side**2)

    chosen = _best_side(m, value) if h is None else _check_side(h, m)
    with working_precision(_BITS):
        side = to_arb(chosen)
        information = Ball.from_arb(m * n * to_arb(budget) / (1 - m * side), _BITS)
        prior = Ball.from_arb(m * 4 * flint.arb.pi() ** 2 / side**2, _BITS)
        bound = to_arb(van_trees_bound(information, prior, dimension=m))
    return ball_bracket(bound, f"van Trees, cosine priors on a cube of side {float(chosen):.3g} at a corner")


def _best_side(m: int, value: Callable[[float], float]) -> Fraction:
    """A good side below 1/m, as a rational: unimodal in log h, by golden section."""
    side = least_between(lambda t: -value(math.exp(t)), math.log(1e-12 / m), math.log((1 - 1e-9) / m), steps=200)
    return Fraction(math.exp(side)).limit_denominator(10**9 * m * m) or Fraction(1, 2 * m)


def _check_side(h: Fraction, m: int) -> Fraction:
    if not 0 < h < Fraction(1, m):
        raise InputError("h", h, f"a side in (0, {Fraction(1, m)}), so that the corner keeps some mass")
    return Fraction(h)


def check_problem(k: int, budget: Number, n: int) -> tuple[int, int]:
    """Numbers of inputs and users, checked; the budget is an exact number above 0."""
    k, n = as_integer(k, "k", 2), as_integer(n, "n", 1)
    if isinstance(budget, float) or less(0, budget) is not Verdict.TRUE:
        raise InputError(
            "budget", budget, "an exact number > 0 (budget 0 needs no bound, because nothing can be learned)"
        )
    return k, n
