"""Section 10: the phase set, and how the two design problems compare."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._templates import subset_template
from symshuffle.base.numbers import Verdict, less
from symshuffle.base.results import passes
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import Claim, Control, Statement, by_cases, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.mechanisms.finite import K, S, augmented_randomized_response
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw, template_budget
from symshuffle.utility.estimation.moments import trace
from symshuffle.utility.frontiers.caps import optimal_subset_sizes, raw_cap_trace
from symshuffle.utility.frontiers.formulas import subset_trace
from symshuffle.utility.frontiers.frontier import threshold_budget, trace_frontier
from symshuffle.utility.frontiers.orbit import subset_orbit


def _reduced(k: Any, lam: Any, s: Any) -> Any:
    """The trace of subset selection, but for a factor that does not depend on the size."""
    return s * (k - s) / (s * lam + k - s) ** 2


def _phase_set(k: int, lam: Fraction) -> set[int]:
    """The sizes that maximise the reduced trace."""
    values = {s: _reduced(k, lam, Fraction(s)) for s in range(1, k)}
    return {s for s, value in values.items() if value == max(values.values())}


def _phase(k: Any, lam: Any, p: Any, margin: Any) -> tuple[Any, Any, Any]:
    """Best sizes, whether augmented response attains the largest trace under the cap, and its share of plain response.

    It does so at p = 1 where the margin is at least 0. For symbols the first two are the reduced trace and the margin.
    """
    if isinstance(k, sp.Expr):
        return _reduced(k, lam, S), margin, p
    return _phase_set(k, lam), p == 1 and margin >= 0, p


def _not_augmented(k: Any, lam: Any, p: Any) -> tuple[Any, Any, Any]:
    return _phase(k, lam, p, -1)


def _always_plain(k: Any, lam: Any, p: Any) -> tuple[Any, Any, Any]:
    return _phase(k, lam, p, 0)


def _augmented_optimal(k: Any, lam: Any, p: Any) -> tuple[Any, Any, Any]:
    """Plain response is optimal from the tie of sizes 1 and 2 on."""
    return _phase(k, lam, p, 2 * lam * lam - (k - 1) * (k - 2))


def _size_1(k: Any, lam: Any, p: Any) -> tuple[Any, Any, Any]:
    sizes, attains, share = _augmented_optimal(k, lam, p)
    return {1} if isinstance(sizes, set) else sizes, attains, share


def _phase_for_all(statement: Statement) -> Iterator[Comparison]:
    """Every k, lam, p: the trace by size, the share of a null symbol, and when size 1 is as good as size 2.

    By its derivative (symshuffle.anchored-nearest-size) the trace falls in the size once it does not rise from 1 to 2:
    then size 1 is best.
    """
    (part,) = (one.symbol for one in augmented_randomized_response().parameters if one.symbol not in {K, LAM})
    reduced, margin, share = statement(K, LAM, part)
    yield identity(K * (LAM - 1) ** 2 * reduced, subset_trace(), at="every k, s, lam: the trace of subset selection")
    yield identity(
        trace(augmented_randomized_response()), share * subset_trace().subs(S, 1), at="every k, lam, p: its trace"
    )
    gap = sp.numer(sp.together(reduced.subs(S, 1) - reduced.subs(S, 2)))
    yield identity(gap, K * margin, at="every k, lam: the margin of size 1 over size 2, but for what is positive")
    slope = K * (K - S * (LAM + 1)) / (S * LAM + K - S) ** 3
    yield identity(sp.diff(reduced, S), slope, at="every k, lam: rises in the size up to k/(lam + 1), then falls")


def _check_phase(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every k, lam, p; then four k, four caps, p = 1/2, 1: sizes, and whether augmented response is best, as stated.

    The library's sizes and traces in exact rationals.
    """
    yield from _phase_for_all(statement)
    for k in (3, 4, 5, 10):
        for lam in map(Fraction, ("3/2", "2", "6", "9")):
            for p in map(Fraction, ("1/2", "1")):
                law = AnchoredLaw.from_channel(augmented_randomized_response().at(k=k, lam=lam, p=p).channel())
                sizes, attains, share = statement(k, lam, p)
                where = f"k={k}, lam={lam}, p={p}"
                yield compare(set(optimal_subset_sizes(k, lam)), sizes, at=f"{where}: sizes")
                found, largest = law.trace(), raw_cap_trace(k, lam)
                words = f"a trace of {found}, where the largest is {largest}"
                yield compare(found == largest, attains, at=f"{where}: augmented response is optimal", found=words)
                plain = subset_trace().subs({K: k, S: 1, LAM: sp.Rational(str(lam))})
                yield compare(found, share * Fraction(str(plain)), at=f"{where}: the share of plain response")


def _differ(k: int, lam: Fraction) -> bool:
    """Whether the optimal channel under the cap is off the frontier of its own budget."""
    return _differ_from(k, lam, Fraction(1), Fraction(1))


def _differ_from(k: int, lam: Fraction, tangent: Fraction, tie: Fraction) -> bool:
    """The same with factors on the two parts of the boundary."""
    return lam * lam < max(tangent * (k - 1), tie * Fraction((k - 1) * (k - 2), 2))


def _check_designs(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For four k and eight caps or more: whether the best trace under the cap is off the frontier, as stated.

    Three of the caps are within 1/400 of the boundary, or on it. Each frontier at the budget of that channel is
    verified over Q and compared in exact rationals.
    """
    for k, boundary in ((3, 2), (4, 3), (5, 6), (10, 36)):  # the square of the boundary: k - 1 at k = 3, 4
        edges = [Fraction(math.isqrt(boundary * 400**2) + step, 400) for step in (-1, 0, 1)]
        for lam in (*map(Fraction, ("11/10", "7/5", "3/2", "5/2", "7")), *edges):
            s = optimal_subset_sizes(k, lam)[0]
            spent = Fraction(template_budget(subset_template(k, s, lam)))
            best = trace_frontier(k, spent)
            yield decide(passes(best.verify), at=f"k={k}, lam={lam}", claimed="law and line check over Q")
            yield compare(raw_cap_trace(k, lam), best.trace.upper, "<=", at=f"k={k}, lam={lam}: below the frontier")
            off = bool(less(raw_cap_trace(k, lam), best.trace.lower))
            yield compare(off, statement(k, lam), at=f"k={k}, lam={lam}: size {s} is off the frontier")
            if not statement(k, lam):
                found = [compare(s, 1, at=f"k={k}, lam={lam}: k-ary response is best under the cap")]
                yield from serving("response", found)


def _floor(size: Any) -> Any:
    return sp.floor(size) if isinstance(size, sp.Basic) else math.floor(size)


def _nearest(k: Any, lam: Any) -> set[Any]:
    """The integers on either side of the relaxed optimum, at least 1."""
    size = k / (lam + 1)
    return {max(1, _floor(size)), max(1, -_floor(-size))}


def _rounded(k: int, lam: Fraction) -> set[int]:
    return {max(1, round(k / (lam + 1)))}


def _check_sizes(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k and lam: the relaxed trace rises to k/(lam + 1), then falls, by its derivative; symbolic.

    Best sizes are among the stated ones: the library's at six k and seven caps, and the best integer where k/(lam + 1)
    is a tenth below or above it, for every such integer from 3 on and every lam.
    """
    slope = sp.diff(S * (K - S) / (S * LAM + K - S) ** 2, S)
    yield identity(
        slope, K * (K - S * (LAM + 1)) / (S * LAM + K - S) ** 3, at="every k, lam: rises to k/(lam+1), then falls"
    )
    for k in (3, 4, 5, 10, 100, 10**6):
        for lam in map(Fraction, ("11/10", "3/2", "2", "59/10", "6", "9", "500")):
            sizes = set(optimal_subset_sizes(k, lam))
            yield decide(
                sizes <= statement(k, lam), at=f"k={k}, lam={lam}: {sorted(sizes)}", claimed="next to k/(lam+1)"
            )
    # A tenth below and a tenth above an integer m, for every m >= 3 and lam: m beats its neighbour on the other side.
    below, excess = sp.Symbol("p", integer=True, positive=True), sp.Symbol("w", positive=True)
    m, cap = below + 2, 1 + excess
    for offset, other in ((-sp.Rational(1, 10), m - 1), (sp.Rational(1, 10), m + 1)):
        k = (m + offset) * (cap + 1)
        best, second = ((S * (K - S) / (S * LAM + K - S) ** 2).subs({S: s, K: k, LAM: cap}) for s in (m, other))
        yield decide(
            nonnegative(sp.cancel(best - second), {}) & Verdict.of(m in statement(k, cap)),
            at=f"k = ({m + offset}) (lam + 1), any lam: {m} beats {other}",
            claimed=f"{m} is next to k/(lam+1)",
            symbolic=True,
        )


def _settled(k: int, budget: Fraction) -> int:
    """How many orbit laws an optimal mixture needs at most."""
    return 2


def _one_beyond(k: int, budget: Fraction) -> int:
    return 1


def _check_settled(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For k = 3, 5, 10 at five budgets: orbit laws of a verified optimal mixture, at most the stated number; exact.

    It is reached below the threshold, where the best two-level orbit law within the budget has less than 95 percent of
    the frontier, over a grid of ratios. Two mixtures of the centre with one orbit and of equal budget have different
    traces, both below the frontier.
    """
    for k in (3, 5, 10):
        for budget in map(Fraction, ("1/100", "1", "2", "10", "1000")):
            found = trace_frontier(k, budget)
            yield decide(passes(found.verify), at=f"k={k}, C={budget}", claimed="law and line check over Q")
            yield compare(len(found.orbits), statement(k, budget), "<=", at=f"k={k}, C={budget}: orbit laws needed")
            if less(budget, threshold_budget(k)):
                yield compare(len(found.orbits), statement(k, budget), at=f"k={k}, C={budget}: no fewer do")
                levels = [subset_orbit(k, s, 1 + Fraction(step, 100)) for s in range(1, k) for step in range(1, 101)]
                single = max(orbit.signal for orbit in levels if orbit.budget <= budget)
                short = found.trace.lower * Fraction(19, 20)
                yield compare(single, short, "<", at=f"k={k}, C={budget}: one two-level orbit law")
    # Two orbits alone do not fix the number: mixtures of two that spend the same budget have different traces.
    pair = [subset_orbit(5, s, Fraction(9)) for s in (1, 2)]
    budget = Fraction(1)
    traces = [budget / Fraction(orbit.budget) * orbit.signal for orbit in pair]
    yield compare(traces[0], traces[1], ">", at="k=5, C=1: the centre with one or with two high coordinates")
    yield compare(traces[0], trace_frontier(5, budget).trace.lower, "<", at="k=5, C=1: both below the frontier")


CLAIMS: Final = (
    Claim(
        id="anchored.sec-10.phase",
        kind="statement",
        title="phase set, and augmented response under a raw cap",
        text=(
            Clause(
                "optimiser",
                "The raw-cap optimiser is subset selection of a size that maximises "
                r"$\frac{s(k-s)}{(s\lambda+k-s)^2}$ (the phase set).",
            ),
            Clause("thinned", "Augmented randomized response with a null symbol, $p<1$, is not that optimiser."),
            Clause("plain", r"Plain $k$-ary response, $p=1$, is one exactly for $\lambda^2\ge\frac{(k-1)(k-2)}2$."),
            Clause("rest", "Parts (b) to (d) of the discussion have claims of their own.", "quoted"),
        ),
        source="anchored, Section 10",
        assumptions=("augmented response as in Definition 7.3, activation probability $p\\le1$",),
        scope="every k, lam and p, by traces and the tie of sizes 1 and 2; k = 3, 4, 5, 10, four caps, p = 1/2 and 1",
        grade="proved",
        printed=_augmented_optimal,
        check=_check_phase,
        controls=(
            Control("it never is, plain response included", _not_augmented),
            Control("it always is at p = 1", _always_plain),
            Control("size 1 throughout", _size_1),
            Control("a null symbol costs nothing", lambda k, lam, p: (*_augmented_optimal(k, lam, p)[:2], p**0)),
        ),
        expected="holds",
        obligations=(*for_all("k", "lam", clause=("optimiser", "thinned", "plain")), *for_all("p", clause="thinned")),
    ),
    Claim(
        id="symshuffle.anchored-designs-differ",
        kind="statement",
        title="where the raw-cap and the budget problem differ (Section 10, b)",
        text=(
            Clause(
                "off",
                "The optimal channel under a raw cap is off the frontier of its own budget exactly for "
                r"$\lambda^2<\max(k-1,\frac{(k-1)(k-2)}2)$.",
            ),
            Clause("from there on", "From there on both problems have $k$-ary response as solution."),
        ),
        source="anchored, Section 10 says that the problems differ; the boundary is ours",
        assumptions=(r"$k\ge3$",),
        scope="k = 3, 4, 5, 10, five caps each and three next to the boundary, with frontier certificates",
        grade="exact-cases",
        printed=_differ,
        check=_check_designs,
        controls=(
            Control("they always differ", lambda k, lam: True),
            Control("they never differ", lambda k, lam: False),
            Control("from the tie of sizes 1 and 2 on", lambda k, lam: 2 * lam * lam < (k - 1) * (k - 2)),
            Control("k - 1 one percent larger", lambda k, lam: _differ_from(k, lam, Fraction(101, 100), Fraction(1))),
            Control("k - 1 one percent smaller", lambda k, lam: _differ_from(k, lam, Fraction(99, 100), Fraction(1))),
            Control("the tie one percent larger", lambda k, lam: _differ_from(k, lam, Fraction(1), Fraction(101, 100))),
        ),
        expected="holds",
        obligations=(*for_all("k", "lam", clause="off"), *by_cases("response", clause="from there on")),
    ),
    Claim(
        id="symshuffle.anchored-nearest-size",
        kind="statement",
        title="the best subset size is next to k/(lam + 1) (Section 10, c)",
        text=(
            Clause(
                "neighbours",
                r"Every optimal size is $\lfloor\frac k{\lambda+1}\rfloor$ or $\lceil\frac k{\lambda+1}\rceil$, "
                "and 1 where the floor is 0.",
            ),
            Clause("nearer", "It need not be the nearer of the two."),
        ),
        source="anchored, Section 10, on Ye and Barg, who state it for large k",
        assumptions=(r"$\lambda>1$",),
        scope="the derivative of the relaxed trace for every k, s, lam; six k up to 10^6, seven caps",
        grade="proved",
        printed=_nearest,
        check=_check_sizes,
        controls=(
            Control("the floor", lambda k, lam: {max(1, _floor(k / (lam + 1)))}),
            Control("the nearest integer", _rounded),
        ),
        expected="holds",
        obligations=for_all("k", "lam", clause=("neighbours", "nearer")),
    ),
    Claim(
        id="symshuffle.anchored-two-orbits-settle",
        kind="statement",
        title="the two-orbit theorem closes the global frontier (Section 10, d)",
        text=(
            Clause(
                "suffice",
                "Beyond the low-budget threshold as below it, two orbit laws suffice. In that sense the problem "
                "is closed.",
            ),
            Clause(
                "value",
                "The number $F_k(C)$ does not follow from it (mixtures of two orbits that spend the same budget "
                "differ).",
            ),
            Clause(
                "one orbit",
                "It follows from the singleton reduction, by which one orbit suffices beyond the threshold.",
            ),
        ),
        source="anchored, Section 10",
        assumptions=(r"$k\ge3$",),
        scope="k = 3, 5, 10 at five budgets on both sides of the threshold, with certificates",
        grade="exact-cases",
        printed=_settled,
        check=_check_settled,
        controls=(
            Control("one orbit law at every budget", _one_beyond),
            Control("five orbit laws", lambda k, budget: 5),
            Control("three orbit laws", lambda k, budget: 3),
        ),
        expected="holds",
        obligations=for_all("k", "budget", clause=("suffice", "value", "one orbit")),
    ),
)
