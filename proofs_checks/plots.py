"""Pictures on the pages of claims: what is printed, what is true, and where the two part.

Both statements are the callables of the claim; everything else comes from the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import sympy as sp

from proofs_checks._symmetry import symmetrize_channel
from proofs_checks.anchored.section92_tables import table_2_row
from proofs_checks.decomposition.section33_published_pair import three_cell_laws
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.channels.shuffled import law_divergence, shuffled_divergence, worst_shuffled_divergence
from symshuffle.decompositions.clones import stronger_clone
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.model import Claim, Correction
from symshuffle.ledger.claims.parts import Picture, Plot, curve
from symshuffle.ledger.claims.registry import load
from symshuffle.mechanisms.finite import krr, subset_selection
from symshuffle.utility.frontiers.caps import raw_cap_trace
from symshuffle.utility.frontiers.formulas import at, subset_trace
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian

CLAIMS: tuple[Claim, ...] = ()


def _statements(name: str) -> tuple[Any, Any]:
    """The statement as printed, and the corrected one."""
    claim = load().claim(name)
    corrected = claim.corrected
    assert isinstance(corrected, Correction)
    return claim.printed, corrected.statement


def _steps(low: Fraction | int, high: Fraction | int, count: int) -> list[Fraction]:
    return [low + Fraction(high - low) * step / count for step in range(count + 1)]


def two_steps() -> Picture:
    """vecmean.sec-2.3-adj."""
    printed, corrected = _statements("vecmean.sec-2.3-adj")
    mass = Fraction(1, 10)
    orders = _steps(1, 4, 30)
    return Picture(
        "The printed mass for replacing a user stays at twice that of adding one, whatever the order; the true one, "
        "which is attained, grows with the order. They agree at order 1 only.",
        "order exp(eps) of one step",
        "mass for two steps (one has 1/10)",
        (
            curve("printed", "printed", ((order, printed(order, mass)[1]) for order in orders)),
            curve("corrected, attained", "corrected", ((order, corrected(order, mass)[1]) for order in orders)),
        ),
    )


def stronger() -> Picture:
    """decomposition.eq-1."""
    printed, corrected = _statements("decomposition.eq-1")
    channel = subset_selection().at(k=3, s=2, lam=3).channel()
    clone = stronger_clone(channel, (0, 1), position=Fraction(1))
    intended, generic = (three_cell_laws(term, clone.lam, clone.p, 2) for term in (printed, corrected))
    levels = _steps(1, Fraction(59, 20), 39)
    rows = {
        ("two real datasets", "found"): [shuffled_divergence(channel, (0, 0), (1, 0), level) for level in levels],
        ("intended bound", "printed"): [law_divergence(intended[0], intended[1], level) for level in levels],
        ("generic bound, equation (1)", "corrected"): [
            law_divergence(generic[0], generic[1], level) for level in levels
        ],
    }
    return Picture(
        "Subset selection of two of three inputs, two users: the divergence of two real datasets exceeds the intended "
        "bound at the larger orders, and stays below the generic one.",
        "order exp(eps)",
        "divergence",
        tuple(curve(*key, zip(levels, values, strict=True)) for key, values in rows.items()),
        (False, True),
    )


def backgrounds() -> Picture:
    """decomposition.sec-7."""
    printed, _ = _statements("decomposition.sec-7")
    lam, pair, users = Fraction(3), (0, 1), 3
    channel = krr().at(k=3, lam=lam).channel()
    levels = _steps(1, Fraction(29, 10), 38)
    named, _covered = printed("krr", lam, 3, pair, users)
    third = [max(shuffled_divergence(channel, (0, *rest), (1, *rest), level) for rest in named) for level in levels]
    worst = [worst_shuffled_divergence(channel, pair, users, level)[0] for level in levels]
    return Picture(
        "3-ary response, three users: at small orders the conjectured background, a third input throughout, is worst; "
        "from an order below 2 on others leak more.",
        "order exp(eps), where exp(eps0) = 3",
        "divergence",
        (
            curve("worst background", "found", zip(levels, worst, strict=True)),
            curve("conjectured background", "printed", zip(levels, third, strict=True)),
        ),
        (False, True),
    )


def amplification_range() -> Picture:
    """decomposition.prop-2."""
    printed, corrected = _statements("decomposition.prop-2")
    lam = Fraction(3)
    orders = _steps(1, 5, 40)
    return Picture(
        "The printed upper end of the range of G falls below 0 beyond the local budget, where G is 0 with positive "
        "probability.",
        "order exp(eps), where exp(eps0) = 3",
        "upper end of the range of G",
        (
            curve("corrected", "corrected", ((order, corrected(lam, order)[2]) for order in orders)),
            curve("printed", "printed", ((order, printed(lam, order)[2]) for order in orders)),
        ),
    )


def thinned() -> Picture:
    """alphabets.rem-12.2."""
    stated = load().claim("alphabets.rem-12.2").printed
    ratio = sp.Symbol("C")
    slopes = {k: sp.lambdify(ratio, stated(sp.Integer(k), 1, ratio)[1]) for k in (2, 3, 5, 10)}
    values = {k: [(c, float(slope(float(c)))) for c in _steps(1, 8, 70)] for k, slope in slopes.items()}
    return Picture(
        "From three inputs on the slope has its maximum at the ratio sqrt(k - 1); with two inputs it only falls, and "
        "its end at the ratio 1 belongs to no mechanism.",
        "ratio C",
        "slope, subsets of one input",
        tuple(curve(f"k = {k}", "other", points) for k, points in values.items()),
    )


def augmented() -> Picture:
    """anchored.sec-10.phase."""
    caps = _steps(Fraction(11, 10), 8, 46)
    rows = {
        k: [(lam, at(subset_trace(), k=k, s=1, lam=lam) / raw_cap_trace(k, lam)) for lam in caps] for k in (3, 5, 10)
    }
    return Picture(
        "Plain response, the end point of augmented response, has the largest trace under a cap from some cap on: at "
        "three inputs always, at five and ten where the curve reaches 1.",
        "cap exp(eps0), k-ary response",
        "trace, over the largest one",
        tuple(curve(f"k = {k}", "other", points) for k, points in rows.items()),
    )


def shrinking() -> Picture:
    """symshuffle.anchored-open-3."""
    printed, corrected = _statements("symshuffle.anchored-open-3")
    users = [1, 2, 4, 9, 16, 25, 49, 100]
    points = [
        [(n, float(statement(sp.Integer(1), sp.Integer(n)) * n)) for n in users] for statement in (printed, corrected)
    ]
    return Picture(
        "The worst risk of the shrunk estimate is below the canonical one for every number of users; the two approach "
        "each other slowly.",
        "users n",
        "n times the risk over K",
        (
            curve("canonical value", "printed", points[0]),
            curve("shrunk estimate", "corrected", points[1]),
        ),
        (True, False),
    )


def symmetrised() -> Picture:
    """symshuffle.anchored-symmetrised-profile."""
    eighths = [[Fraction(part, 8) for part in row] for row in ((1, 3, 4), (2, 4, 2))]
    before = Channel.from_rows(eighths)
    orders = _steps(1, Fraction(39, 20), 38)

    def largest(channel: Any, gamma: Fraction) -> Any:
        return max(shuffled_divergence(channel, (i, j), (j, j), gamma) for i, j in ((0, 1), (1, 0)))

    after = symmetrize_channel(before)
    return Picture(
        "Two users: between the orders at which the curves cross, symmetrising a channel of two inputs makes its "
        "largest divergence larger.",
        "order",
        "largest divergence, two users",
        (
            curve("before", "found", ((gamma, largest(before, gamma)) for gamma in orders)),
            curve("after symmetrising", "printed", ((gamma, largest(after, gamma)) for gamma in orders)),
        ),
        (False, True),
    )


def parallel() -> Picture:
    """symshuffle.parallel-between."""
    lam, exp_eps, users = Fraction(10), Fraction(9), 4
    mechanisms = krr().at(lam=lam, k=10), subset_selection().at(lam=lam, k=10, s=9)
    first, second = (optimal_decomposition(one).numeric().reduction_pair().gparv(exp_eps) for one in mechanisms)

    def bound(share: Fraction) -> Any:
        parts: list[tuple[Any, Any]] = [
            (value, weight * mass)
            for weight, law in ((share, first), (1 - share, second))
            for value, mass in law.atoms()
        ]
        return Exact().bracket(Law.from_atoms([part for part in parts if part[1]]), users).exact

    shares = _steps(0, 1, 8)
    ends = [bound(Fraction(share)) for share in (1, 0)]
    return Picture(
        "Four users: the bound of a mixture of 10-ary response and selection of nine inputs is not between those of "
        "its two parts, but higher than both over almost all of the way.",
        "share of 10-ary response",
        "blanket bound at exp(eps) = 9",
        (
            curve("mixture", "found", ((share, bound(share)) for share in shares)),
            curve("10-ary response alone", "other", ((share, ends[0]) for share in (0, 1))),
            curve("selection alone", "other", ((share, ends[1]) for share in (0, 1))),
        ),
    )


def dimensions() -> Picture:
    """symshuffle.vecmean-error-in-dimension."""
    printed, corrected = _statements("symshuffle.vecmean-error-in-dimension")
    gamma, sigma = Fraction(1, 2), Fraction(1)
    sizes = range(1, 13)
    single: Any = err1(BlanketMixedGaussian(gamma, sigma))
    found: list[Any] = [err1(BlanketMixedGaussian(gamma, sigma, dimension=d)) for d in sizes]
    return Picture(
        "The error of the mixed Gaussian grows with the dimension by a line that does not pass through the origin, "
        "so that it is not proportional to it.",
        "dimension d",
        "error, in units of that in dimension 1",
        (
            curve(
                "error",
                "found",
                ((d, error / single) for d, error in zip(sizes, found, strict=True)),
                joined=False,
            ),
            curve("printed: proportional", "printed", ((d, printed(gamma, sigma, d)) for d in sizes)),
            curve("corrected", "corrected", ((d, corrected(gamma, sigma, d)) for d in sizes)),
        ),
    )


def gaps() -> Picture:
    """anchored.sec-9.2."""
    levels = ["1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8", "1", "5/4", "3/2", "7/4", "2"]
    rows = {k: [(Fraction(eps), table_2_row(k, eps)) for eps in levels] for k in (3, 5, 10, 20)}
    return Picture(
        "At twelve budgets: the gap between trace and low-budget cap does not follow the local budget; it rises and "
        "falls, as the best subset size changes.",
        "local budget eps0",
        "gap to the cap, relative",
        tuple(
            curve(f"k = {k}", "other", ((eps, 1 - trace / cap) for eps, (trace, cap, _) in row))
            for k, row in rows.items()
        ),
    )


PLOTS: Final[Mapping[str, Plot]] = {
    "vecmean.sec-2.3-adj": two_steps,
    "decomposition.eq-1": stronger,
    "decomposition.sec-7": backgrounds,
    "decomposition.prop-2": amplification_range,
    "alphabets.rem-12.2": thinned,
    "anchored.sec-10.phase": augmented,
    "anchored.sec-9.2": gaps,
    "symshuffle.anchored-open-3": shrinking,
    "symshuffle.anchored-symmetrised-profile": symmetrised,
    "symshuffle.parallel-between": parallel,
    "symshuffle.vecmean-error-in-dimension": dimensions,
}
