"""Section 7.1: signal and budget of templates, and their largest ratio."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._templates import critical_ratio, slope_certificate, subset_template
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.shuffled import chi_square
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, for_all
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw, template_budget, template_signal
from symshuffle.utility.frontiers.formulas import subset_budget, subset_slope, subset_trace
from symshuffle.utility.frontiers.frontier import slope_constant
from symshuffle.utility.frontiers.orbit import orbit_law, symmetrize

ZERO: Final = Fraction(0)


SQUARE_SIZES: Final = {5: 2, 10: 3, 17: 4, 26: 5}
"""Numbers of inputs k with the integer square root of k - 1."""


def _signal_budget(k: Any, squares: Any, reciprocals: Any) -> tuple[Any, Any]:
    """Signal and budget from the sums of squares and of reciprocals."""
    return squares - k, (squares * reciprocals - k**2) / (k * (k - 1))


def _check_signal(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k: signal and average divergence of a template of sum k, expanded, against the stated; symbolic.

    Then 12 random channels against the divergences of their rows, and 12 templates against the library, in exact
    rationals.
    """
    k, squares, reciprocals, total, entry = sp.symbols("k Q R s u", positive=True)
    signal, budget = statement(k, squares, reciprocals)
    yield identity((squares - 2 * total + k).subs(total, k), signal, at="every k: sum of (u_i - 1)^2")
    # sum_j (u_j - u)^2/u = Q/u - 2s + k u, and over u: QR - 2ks + ks
    row = (squares - 2 * entry * total + k * entry**2) / entry
    yield identity(row, squares / entry - 2 * total + k * entry, at="every k: one reference row")
    pairs = (squares * reciprocals - 2 * k * total + k * total).subs(total, k)
    yield identity(pairs / (k * (k - 1)), budget, at="every k: average over ordered pairs")
    for trial in range(12):
        channel = cases.channel(rng, 2 + trial % 4, 4)
        law, size = AnchoredLaw.from_channel(channel), channel.num_inputs
        sums = [(w, sum(v**2 for v in u), sum(1 / v for v in u)) for u, w in law.template.atoms()]
        claimed = [statement(Fraction(size), Fraction(q), Fraction(r)) for _, q, r in sums]
        rows = [chi_square(channel.rows[j], channel.rows[i]) for i, j in itertools.permutations(range(size), 2)]
        average = sum((w * b for (w, _, _), (_, b) in zip(sums, claimed, strict=True)), start=ZERO)
        yield compare(sum(rows) / len(rows), average, at=f"channel {trial}: divergences of the rows")
        yield compare(
            law.trace(),
            sum((w * s for (w, _, _), (s, _) in zip(sums, claimed, strict=True)), start=ZERO),
            at=f"channel {trial}: trace",
        )
        yield compare(
            Fraction(symmetrize(law).pairwise_budget()), average, at=f"channel {trial}: exchangeable, all pairs alike"
        )
    for trial in range(12):
        u = cases.template(rng, 2 + trial % 5)
        claimed_pair = statement(Fraction(len(u)), sum(v**2 for v in u), sum(1 / v for v in u))
        yield compare((template_signal(u), template_budget(u)), claimed_pair, at=f"template {trial}: the library")


def _two_level(k: Any, s: Any, lam: Any) -> tuple[Any, Any, Any, Any]:
    """Signal, budget, slope, and the derivative of slope/(k(k-1)) of the two-level template."""
    total = s * lam + k - s
    return (
        k * s * (k - s) * (lam - 1) ** 2 / total**2,
        s * (k - s) * (lam - 1) ** 2 * (lam + 1) / ((k - 1) * lam * total),
        k * (k - 1) * lam / ((lam + 1) * total),
        (k - s - s * lam**2) / ((lam + 1) ** 2 * total**2),
    )


def _check_two_level(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k, s, lam: the library's signal, budget, slope and derivative against the stated; symbolic.

    Also the slope at the critical ratio, and high and low exchanged; three orbits with all outputs in exact rationals.
    """
    signal, budget, slope, derivative = statement(K, S, LAM)
    yield identity(subset_trace(), signal, at="every k, s, lam: signal")
    yield identity(subset_budget(), budget, at="every k, s, lam: budget")
    yield identity(subset_slope(), slope, at="every k, s, lam: slope")
    yield identity(
        sp.diff(subset_slope(), LAM) / (K * (K - 1)), derivative, at="every k, s, lam: derivative of the slope"
    )
    root = sp.Symbol("q", positive=True)  # the critical ratio, k = s(1 + q^2)
    value = subset_slope().subs(LAM, root).subs(K, S * (1 + root**2))
    claimed = (K * (K - 1) / (sp.sqrt(S) + sp.sqrt(S) * root) ** 2).subs(K, S * (1 + root**2))
    yield identity(value, claimed, at="every s: slope at the critical ratio")
    yield identity(critical_ratio() ** 2, (K - S) / S, at="every k, s: critical ratio")
    mirrored = subset_trace().subs({S: K - S, LAM: 1 / LAM}, simultaneous=True)
    yield identity(mirrored, subset_trace(), at="swapping high and low")
    for k, s, lam in ((4, 2, Fraction(3)), (5, 2, Fraction(3, 2)), (7, 3, Fraction(5, 2))):
        law = orbit_law(subset_template(k, s, lam))
        found = statement(Fraction(k), Fraction(s), lam)
        yield compare((law.trace(), law.pairwise_budget()), found[:2], at=f"k={k}, s={s}, lam={lam}, all outputs")


def _slope_cap(k: Any) -> tuple[Any, Any]:
    """The largest slope, and the ratio of the only template that has it, both by the root of k - 1."""
    return k * (k - 1) / (1 + sp.sqrt(k - 1)) ** 2, sp.sqrt(k - 1)


def _check_slope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k: templates reduce to singletons, whose inverse slope exceeds the stated one by a square; symbolic.

    The step: a stationary template has two levels (a cubic without linear term has no three positive roots), and two
    high coordinates can be exchanged for one. Then templates in exact rationals, where the root of k - 1 is irrational
    by a certificate.
    """
    cap, best = statement(K)
    a, b, c, h, low = sp.symbols("a b c h l", positive=True)
    v = sp.Symbol("v")
    # At fixed sum and squares a minimiser of the reciprocals solves 2 beta u^3 + alpha u^2 - 1 = 0: no linear term.
    linear = sp.Poly(sp.expand((v - a) * (v - b) * (v - c)), v).coeff_monomial(v)
    slacks = {symbol: symbol for symbol in (a, b, c)}
    yield decide(
        nonnegative(linear, slacks), at="every k", claimed="three positive roots need a linear term", symbolic=True
    )
    # Two high coordinates and a low one can be replaced by two equal lower ones and one higher.
    pair, single = (h + 2 * low) / 3, (4 * h - low) / 3
    yield identity(2 * pair + single, 2 * h + low, at="the replacement keeps the sum")
    yield identity(2 * pair**2 + single**2, 2 * h**2 + low**2, at="the replacement keeps the squares")
    gain = 2 / h + 1 / low - 2 / pair - 1 / single
    yield identity(
        gain, 4 * (h - low) ** 3 / (h * low * (h + 2 * low) * (4 * h - low)), at="and lowers the reciprocals"
    )
    # So only singletons matter, and along them the slope is largest at the critical ratio.
    root = sp.Symbol("t", positive=True)
    size = root**2 + 1
    along = subset_slope().subs(S, 1).subs(K, size)
    gap = (size * root**2) * (1 / along - 1 / cap.subs(K, size))
    yield identity(gap, (LAM - root) ** 2 / LAM, at="every k: distance of the inverse slope from its minimum")
    yield identity(slope_constant().subs(K, size), cap.subs(K, size), at="every k: the library's constant")
    yield identity(critical_ratio().subs(S, 1), best, at="every k: the extremal ratio")
    for size_exact, ratio in SQUARE_SIZES.items():
        u = subset_template(size_exact, 1, Fraction(str(sp.sympify(statement(sp.Integer(size_exact))[1]))))
        slope = template_signal(u) / Fraction(template_budget(u))
        yield compare(
            slope, Fraction(str(statement(sp.Integer(size_exact))[0])), at=f"k={size_exact}: equality at ratio {ratio}"
        )
    for trial in range(24):  # also where the constant is irrational: by the sign of x^2 - (k-1)
        k = (3, 4, 6, 7, 8)[trial % 5]
        margin, holds = slope_certificate(cases.template(rng, k))
        yield decide(
            holds and margin > 0, at=f"random template {trial}, k={k}", claimed="strictly below", computed=str(margin)
        )
    for trial in range(60):
        k = list(SQUARE_SIZES)[trial % 4]
        u = (
            cases.template(rng, k)
            if trial % 2
            else tuple(subset_template(k, 1 + trial % 3, 1 + Fraction(1 + trial, 9)))
        )
        value = Fraction(str(statement(sp.Integer(k))[0])) * Fraction(template_budget(u))
        yield compare(template_signal(u), value, "<=", at=f"template {trial}, k={k}")


CLAIMS: Final = (
    Claim(
        id="anchored.lem-7.1",
        kind="statement",
        title="signal and budgets in template coordinates",
        text=(
            Clause("trace", r"$\operatorname{tr}\Sigma=E[Q-k]$."),
            Clause(
                "divergence",
                r"The average over ordered pairs of $\chi^2(W_j\Vert W_i)$ is $E\frac{QR-k^2}{k(k-1)}$, and for "
                "exchangeable laws all pairs have it.",
            ),
        ),
        source="anchored, Lemma 7.1",
        assumptions=(r"$Q=\sum u_i^2$, $R=\sum1/u_i$",),
        scope="every k from sum u = k; 12 random channels against their rows, 12 templates",
        grade="proved",
        printed=_signal_budget,
        check=_check_signal,
        controls=(
            Control("k in place of k^2", lambda k, q, r: (q - k, (q * r - k) / (k * (k - 1)))),
            Control("without the number of pairs", lambda k, q, r: (q - k, q * r - k**2)),
        ),
        expected="holds",
        obligations=for_all("k", "squares", "reciprocals", clause=("trace", "divergence")),
    ),
    Claim(
        id="anchored.eq-7.two-level",
        kind="statement",
        title="two-level templates",
        text=(
            Clause("trace", r"$S=\frac{ks(k-s)(\lambda-1)^2}{(s\lambda+k-s)^2}$."),
            Clause("budget", r"$B=\frac{s(k-s)(\lambda-1)^2(\lambda+1)}{(k-1)\lambda(s\lambda+k-s)}$."),
            Clause("slope", r"$\frac SB=\frac{k(k-1)\lambda}{(\lambda+1)(s\lambda+k-s)}$."),
            Clause("critical", r"The slope is critical at $\lambda^2=\frac{k-s}s$."),
        ),
        source="anchored, proof of Lemma 7.2",
        assumptions=(r"$1\le s\le k-1$, $\lambda>1$",),
        scope="every k, s, lam; three orbits in full",
        grade="proved",
        printed=_two_level,
        check=_check_two_level,
        controls=(
            Control(
                "denominator with lambda^2",
                lambda k, s, lam: (
                    _two_level(k, s, lam)[0],
                    _two_level(k, s, lam)[1],
                    k * (k - 1) * lam / ((lam + 1) * (s * lam**2 + k - s)),
                    _two_level(k, s, lam)[3],
                ),
            ),
            Control(
                "budget without lambda + 1",
                lambda k, s, lam: (
                    _two_level(k, s, lam)[0],
                    _two_level(k, s, lam)[1] / (lam + 1),
                    *_two_level(k, s, lam)[2:],
                ),
            ),
        ),
        expected="holds",
        obligations=for_all("k", "s", "lam", clause=("trace", "budget", "slope", "critical")),
    ),
    Claim(
        id="anchored.lem-7.2",
        kind="statement",
        title="pointwise slope inequality",
        text=(
            Clause("inequality", r"$S(u)\le\kappa_kB(u)$, $\kappa_k=\frac{k(k-1)}{(1+\sqrt{k-1})^2}$."),
            Clause("equality", r"Equality holds only at $u=1$ and the singletons of ratio $\sqrt{k-1}$."),
        ),
        source="anchored, Lemma 7.2",
        assumptions=(r"$k\ge3$",),
        scope=(
            "Lagrange count, replacement of triples and the singleton curve for every k; 60 templates at square k - 1"
        ),
        grade="proved",
        printed=_slope_cap,
        check=_check_slope,
        controls=(
            Control(
                "a constant smaller by 1e-9",
                lambda k: (_slope_cap(k)[0] * (1 - sp.Rational(1, 10**9)), _slope_cap(k)[1]),
            ),
            Control(
                "the constant of two high coordinates",
                lambda k: (k * (k - 1) / (sp.sqrt(2) + sp.sqrt(k - 2)) ** 2, _slope_cap(k)[1]),
            ),
            Control("equality at ratio k - 1", lambda k: (_slope_cap(k)[0], k - 1)),
        ),
        expected="holds",
        obligations=for_all("k", clause=("inequality", "equality")),
    ),
)
