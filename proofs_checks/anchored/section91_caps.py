"""Section 9: the raw local cap, subset selection, and the phase diagram of its sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._templates import extreme_templates, split_template
from symshuffle.base.numbers import Exp
from symshuffle.channels.geometry.linear import Vector, dot, row_dependence
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, for_all
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, nonnegative, sign_factor
from symshuffle.utility.anchored.law import template_signal
from symshuffle.utility.frontiers.caps import optimal_subset_sizes, tie_ratio
from symshuffle.utility.frontiers.formulas import NEIGHBOUR_CHART, subset_trace

CAPS: Final = tuple(map(Fraction, ("11/10", "3/2", "2", "7")))


def _extreme_levels(low: Any, high: Any, between: Any, ratio: Any, lam: Any) -> Any:
    """Whether a template with so many lowest, so many highest and so many other entries is a vertex.

    ``ratio`` is that of the highest to the lowest; equal entries count as lowest or as highest.
    """
    return sp.And(sp.Eq(between, 0), sp.Eq(sp.factor(ratio - lam), 0), sp.Ge(low, 1), sp.Ge(high, 1))


def _patterns(statement: Statement, k: int, lam: Fraction) -> Iterator[tuple[int, ...]]:
    """Which coordinates of a vertex are high."""
    level = sp.Rational(lam.numerator, lam.denominator)
    for pattern in itertools.product((0, 1), repeat=k):
        counts = sp.Integer(k - sum(pattern)), sp.Integer(sum(pattern))
        ratio = level if all(counts) else sp.Integer(1)
        if statement(*counts, sp.Integer(0), ratio, level) == sp.true:
            yield pattern


def _active_set_vertices(k: int, lam: Fraction) -> set[Vector]:
    """Vertices of the capped simplex, by solving every choice of k - 1 active ratio constraints."""
    constraints = [
        tuple(Fraction(int(t == i)) - lam * int(t == j) for t in range(k))
        for i, j in itertools.permutations(range(k), 2)
    ]
    found = set()
    for chosen in itertools.combinations(constraints, k - 1):
        columns = list(zip(*chosen, strict=True))
        ray = row_dependence(columns)
        if ray is None or _nullity(columns) > 1 or sum(ray) == 0:
            continue
        u = tuple(entry * k / sum(ray) for entry in ray)
        if all(dot(c, u) <= 0 for c in constraints):
            found.add(u)
    return found


def _nullity(columns: list[Any]) -> int:
    from symshuffle.channels.geometry.linear import rank

    return len(columns) - rank(columns)


def _exposed(k: Any, s: Any, lam: Any) -> bool:
    """Whether the template with s high entries is alone in maximising their sum x.

    Adding up all ratio constraints between high and low coordinates gives lam s (k - x) >= (k - s) x; equality forces
    each of them, so all high entries are lam times every low one.
    """
    total = sp.Symbol("x")
    (largest,) = sp.solve(lam * s * (k - total) - (k - s) * total, total)
    high = k * lam / (s * lam + k - s)
    return bool(sp.simplify(largest - s * high) == 0)


def _movable(lam: Any, *, inside: bool) -> bool:
    """Whether one entry has room both ways, the others fixed, and their sum restored by a common factor.

    Inside: an entry l + d + p strictly between the lowest l and the highest lam l = l + 2 d + p + q, moved by d. No
    entry inside and the highest h below lam l: any entry, by half of what is left, spread over both constraints.
    """
    low, step, below, above, high = sp.symbols("l d p q h", positive=True)
    if inside:
        top = low + 2 * step + below + above
        return all(sp.expand(room).is_positive for room in (top - (low + 2 * step + below), (low + below) - low))
    half = (lam * low - high) / (2 * (1 + lam))
    left = sp.factor(lam * (low - half) - (high + half) - (lam * low - high) / 2)
    return bool(left == 0)


def _check_extreme(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any number of entries per level: a functional exposes the template, or it moves both ways; symbolic.

    It is a vertex exactly where stated. Then k = 2 to 5: all active sets and the library's list against the stated
    vertices; 40 random templates are split, in exact rationals.
    """
    low, high = (1 + count for count in sp.symbols("a b", integer=True, nonnegative=True))
    more, zero = sp.Symbol("e", integer=True, positive=True), sp.Integer(0)
    excess, share = sp.symbols("w s", positive=True)
    lam = 1 + excess
    below = (lam + share) / (1 + share)
    for name, counts, ratio, vertex in (
        ("two levels of ratio lam", (low, high, zero), lam, _exposed(low + high, high, lam)),
        ("others between", (low, high, more), lam, not _movable(lam, inside=True)),
        ("a smaller ratio", (low, high, zero), below, not _movable(lam, inside=False)),
        ("a smaller ratio, others between", (low, high, more), below, not _movable(lam, inside=False)),
        ("constant", (1 + low, zero, zero), sp.Integer(1), not _movable(lam, inside=False)),
        ("constant, called high", (zero, 1 + high, zero), sp.Integer(1), not _movable(lam, inside=False)),
    ):
        claimed = statement(*counts, ratio, lam)
        truth = sp.true if vertex else sp.false
        yield decide(truth == claimed, at=f"{name}, every k and lam", claimed=str(claimed), symbolic=True)
    for k, caps in ((2, CAPS), (3, CAPS), (4, CAPS), (5, CAPS[2:3])):
        for lam in caps:
            claimed = set()
            for pattern in _patterns(statement, k, lam):
                scale = sum(lam if high else Fraction(1) for high in pattern)
                claimed.add(tuple((lam if high else Fraction(1)) * k / scale for high in pattern))
            where = f"k={k}, lam={lam}"
            yield compare(_active_set_vertices(k, lam), claimed, at=f"{where}, by active sets")
            yield compare(set(extreme_templates(k, lam)), claimed, at=f"{where}, the library's list")
            yield compare(
                all(split_template(u, lam) is None for u in claimed), True, at=f"{where}, none of them splits"
            )
    for trial in range(40):
        k, lam = 3 + trial % 4, CAPS[trial % 4]
        raw = [1 + (lam - 1) * Fraction(int(v), 7) for v in rng.integers(0, 8, size=k)]
        u = tuple(entry * k / sum(raw) for entry in raw)
        parts = split_template(u, lam)
        if parts is not None:
            weight, first, second = parts
            again = tuple(weight * a + (1 - weight) * b for a, b in zip(first, second, strict=True))
            inside = all(max(v) <= lam * min(v) for v in (first, second))
            yield compare((again, inside, first != second), (u, True, True), at=f"random template {trial}: split")


def _raw_cap(k: Any, s: Any, lam: Any) -> tuple[Any, Any]:
    """The trace of size s, and the derivative in s of s(k-s)/(s lam + k - s)^2."""
    return k * s * (k - s) * (lam - 1) ** 2 / (s * lam + k - s) ** 2, k * (k - s * (lam + 1)) / (s * lam + k - s) ** 3


def _bracketing(k: int, lam: Fraction) -> set[int]:
    """The integers that can maximise: those next to k/(lam + 1), at least 1."""
    return {max(1, floor(k / (lam + 1))), max(1, ceil(k / (lam + 1)))}


def _check_raw_cap(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k, s, lam: the library's trace and the derivative in s against the stated; symbolic.

    The signal in one coordinate falls, then rises, so that two levels suffice. Then 60 random choices: maximisers over
    sizes and, up to k = 8, over all vertices, in exact rationals.
    """
    formula, derivative = statement(K, S, LAM)
    yield identity(subset_trace(), formula, at="every k, s, lam: trace of subset selection")
    yield identity(sp.diff(S * (K - S) / (S * LAM + K - S) ** 2, S), derivative, at="every k, s, lam: relaxation")
    # With q, p the sum of squares and the sum of the other coordinates, one coordinate t contributes (q+t^2)/(p+t)^2 to
    # (S + k)/k^2; it falls and then rises in t, so pushing t to an end of [low, lam low] never lowers the signal.
    q, p, t = sp.symbols("q p t", positive=True)
    slope = sp.diff((q + t**2) / (p + t) ** 2, t)
    yield identity(slope, 2 * (p * t - q) / (p + t) ** 3, at="every k: the signal in one coordinate falls, then rises")
    for trial in range(60):
        k, lam = 2 + trial % 11, 1 + Fraction(int(rng.integers(1, 400)), int(rng.integers(10, 90)))
        traces = {s: statement(k, s, lam)[0] for s in range(1, k)}
        best = max(traces.values())
        sizes = optimal_subset_sizes(k, lam)
        where = f"k={k}, lam={lam}"
        yield compare(set(sizes), {s for s, value in traces.items() if value == best}, at=f"{where}, maximisers")
        yield decide(set(sizes) <= _bracketing(k, lam), at=where, claimed="next to k/(lam+1)", computed=str(sizes))
        if k <= 8:
            signals = {u: template_signal(u) for u in extreme_templates(k, lam)}
            top = max(signals.values())
            yield compare(top, best, at=f"{where}, over all vertices")
            attaining = {u.count(max(u)) for u, signal in signals.items() if signal == top}
            yield compare(attaining, set(sizes), at=f"{where}, sizes of the vertices that attain it")


def _tie(k: Any, s: Any) -> Any:
    """The ratio at which sizes s and s + 1 tie."""
    return sp.sqrt((k - s) * (k - s - 1) / (s * (s + 1)))


RATIONAL_TIES: Final = (
    (10, 1, "6"), (27, 2, "10"), (51, 1, "35"), (52, 3, "14"), (58, 8, "35/6"), (85, 4, "18"), (126, 5, "22"),
    (175, 6, "26"), (232, 7, "30"), (245, 2, "99"), (267, 24, "99/10"), (290, 1, "204"), (297, 8, "34"),
)  # fmt: skip
"""All (k, s, lam) with a tie at a rational lam > 1 for k <= 300."""


def _check_ties(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k and s: the tie point, and which of two neighbouring sizes is better, against the stated; symbolic.

    Tie points fall with s. Then both sides of 13 rational ties in exact rationals, and of 17 ties in balls.
    """
    lam_tie = statement(K, S)
    yield identity(tie_ratio() ** 2, lam_tie**2, at="every k, s: tie point")
    difference = subset_trace() - subset_trace().subs(S, S + 1)
    claimed_sign = S * (S + 1) * (LAM**2 - lam_tie**2)
    yield identity(sign_factor(difference, NEIGHBOUR_CHART), claimed_sign, at="every k, s, lam: sign of T(s)-T(s+1)")
    falling = sign_factor(lam_tie**2 - lam_tie.subs(S, S + 1) ** 2, NEIGHBOUR_CHART)
    yield decide(
        nonnegative(falling, NEIGHBOUR_CHART), at="every k, s", claimed="tie points fall with s", symbolic=True
    )
    for k, s, lam in RATIONAL_TIES:
        tie = Fraction(lam)
        yield compare(tie**2, Fraction(str(statement(sp.Integer(k), sp.Integer(s)) ** 2)), at=f"k={k}, s={s}")
        yield compare(optimal_subset_sizes(k, tie), (s, s + 1), at=f"k={k}, lam={lam}: both sizes")
        yield compare(optimal_subset_sizes(k, tie + Fraction(1, 10**12)), (s,), at=f"k={k}, just above {lam}")
        yield compare(optimal_subset_sizes(k, tie - Fraction(1, 10**12)), (s + 1,), at=f"k={k}, just below {lam}")
    for k in (4, 5, 6, 10, 20):
        for s in range(1, (k - 1) // 2 + (k % 2 == 0)):
            exponent = sp.log(statement(sp.Integer(k), sp.Integer(s)))
            centre = Fraction(str(sp.Rational(str(sp.N(exponent, 40)))))
            if centre > 0:
                for offset, sizes in ((Fraction(1, 10**12), (s,)), (Fraction(-1, 10**12), (s + 1,))):
                    found = optimal_subset_sizes(k, Exp(centre + offset))
                    yield compare(found, sizes, at=f"k={k}, s={s}, eps0 = tie {float(offset):+.0e}, in balls")


CLAIMS: Final = (
    Claim(
        id="anchored.lem-9.2",
        kind="statement",
        title="extreme templates under the ratio cap",
        text=(
            Clause("number", r"$\{u:\sum u_i=k,\ u_i\le\lambda u_j\}$ has $2^k-2$ vertices."),
            Clause("levels", r"They are the templates with both levels of ratio $\lambda$ and no third."),
        ),
        source="anchored, Lemma 9.2",
        assumptions=(r"$\lambda>1$",),
        scope="every k and lam, by exposing functionals and segments; all active sets, k = 2..5; 40 templates split",
        grade="proved",
        printed=_extreme_levels,
        check=_check_extreme,
        controls=(
            Control("no low coordinate is needed", lambda a, b, e, r, lam: _extreme_levels(a + 1, b, e, lam, lam)),
            Control("two high coordinates at least", lambda a, b, e, r, lam: _extreme_levels(a, b - 1, e, r, lam)),
            Control("three levels", lambda a, b, e, r, lam: _extreme_levels(a, b, sp.Integer(0), r, lam)),
        ),
        expected="holds",
        obligations=for_all("low", "high", "between", "ratio", "lam", clause=("number", "levels")),
    ),
    Claim(
        id="anchored.thm-9.3",
        kind="statement",
        title="exact raw-cap trace maximisation",
        text=(
            Clause(
                "trace",
                r"The largest trace under the cap is $\max_sT_k(s;\lambda)$, "
                r"$T_k=ks(k-s)(\lambda-1)^2/(s\lambda+k-s)^2$, at an integer next to $k/(\lambda+1)$.",
            ),
            Clause(
                "attained",
                "It is attained by mixtures of the subset laws of the best sizes only: vertices alone are best, "
                "and those of these sizes.",
            ),
        ),
        source="anchored, Theorem 9.3",
        assumptions=(r"$\lambda>1$, $k\ge2$",),
        scope="trace, relaxation and the coordinate argument for every k, s, lam; maximisers and vertices in 60 cases",
        grade="proved",
        printed=_raw_cap,
        check=_check_raw_cap,
        controls=(
            Control("denominator with lambda^2", lambda k, s, lam: _raw_cap(k, s, lam**2)),
            Control(
                "a trace without its factor k", lambda k, s, lam: (_raw_cap(k, s, lam)[0] / k, _raw_cap(k, s, lam)[1])
            ),
            Control(
                "the relaxation peaks at k/lambda",
                lambda k, s, lam: (_raw_cap(k, s, lam)[0], k * (k - s * lam) / (s * lam + k - s) ** 3),
            ),
        ),
        expected="holds",
        obligations=for_all("k", "s", "lam", clause=("trace", "attained")),
    ),
    Claim(
        id="anchored.eq-9.ties",
        kind="statement",
        title="exact tie points of the phase diagram",
        text=(
            Clause("tie", r"Sizes $s$ and $s+1$ tie exactly at $\lambda_s^2=\frac{(k-s)(k-s-1)}{s(s+1)}$."),
            Clause("order", r"Above it $s$ is better, below it $s+1$, and $\lambda_s$ falls with $s$."),
        ),
        source="anchored, Section 9 (derived from Theorem 9.3)",
        assumptions=(r"$\lambda>1$, $1\le s\le k-2$",),
        scope="every k, s, lam; the 13 rational ties up to k = 300; both sides of 17 ties in balls",
        grade="proved",
        printed=_tie,
        check=_check_ties,
        controls=(
            Control("where the relaxed maximiser crosses s + 1/2", lambda k, s: (2 * k - 2 * s - 1) / (2 * s + 1)),
            Control("the neighbouring tie point", lambda k, s: _tie(k, s + 1)),
        ),
        expected="holds",
        obligations=for_all("k", "s", clause=("tie", "order")),
    ),
)
