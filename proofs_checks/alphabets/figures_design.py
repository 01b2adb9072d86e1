"""Figures 1, 2, 3, 7, 8 and Example 10.4: the paper prints no figure, these are the curves its statements define."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from proofs_checks._estimation import cramer_rao_trace
from proofs_checks.alphabets.section10_thinning import INSTANCES, example_row
from proofs_checks.decomposition._panels import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SERIES,
    SKY,
    VERMILION,
    Look,
    Panel,
    Series,
    write,
)
from symshuffle.base.artifacts import write_atomically
from symshuffle.base.numbers import Exp, lower_end, to_float
from symshuffle.ledger.claims.model import Claim
from symshuffle.mechanisms.finite import K, krr
from symshuffle.mechanisms.symbolic import evaluate
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import isotropic_risk
from symshuffle.utility.estimation.lower_bounds import (
    best_shrinkage_risk,
    corner_van_trees,
    minimax_sandwich,
    near_vertex_bound,
    sharp_cube_bound,
    two_regime_bound,
)
from symshuffle.utility.frontiers.equivariant import matched_risk, thinning_gain
from symshuffle.utility.frontiers.formulas import at, subset_budget, subset_trace
from symshuffle.utility.frontiers.frontier import threshold_budget, trace_frontier

CLAIMS: Final[tuple[Claim, ...]] = ()

_CLOUD: Final = 400
_LINE: Final = Look(VERMILION, (0, (6, 2)))


def _grid(low: float, high: float, points: int) -> list[Fraction]:
    return [Fraction(float(x)).limit_denominator(10**6) for x in np.geomspace(low, high, points)]


def _frontier(k: int = 10) -> list[Panel]:
    """Signal against budget at k = 10: k-ary response, its tangent, the frontier, random templates; their slopes."""
    pairs = k * (k - 1)
    ratios = _grid(1.01, 35, 80)
    curve = [
        (float(at(subset_budget(), k=k, s=1, lam=c)), float(at(subset_trace(), k=k, s=1, lam=c)) / pairs)
        for c in ratios
    ]
    threshold, slope = (1 - 1 / 3) ** 2, 1 / 16
    budgets = [Fraction(step, 20) for step in range(1, 61)]
    envelope = [(float(b), float(trace_frontier(k, b).trace.upper) / pairs) for b in budgets]
    u = np.random.default_rng(2026).dirichlet(np.full(k, 3.0), size=20 * _CLOUD) * k
    squares, reciprocals = (u**2).sum(axis=1), (1 / u).sum(axis=1)
    spent = (squares * reciprocals - k * k) / pairs
    kept = np.flatnonzero(spent < 3)[:_CLOUD]
    cloud = tuple((float(spent[i]), float(squares[i] - k) / pairs) for i in kept)
    series = (
        Series("k-ary response", tuple(point for point in curve if point[0] <= 3), Look(BLUE)),
        Series("tangent from the origin, slope 1/16", ((0.0, 0.0), (threshold, slope * threshold)), _LINE),
        Series("frontier of all equivariant channels", ((0.0, 0.0), *envelope), Look(BLACK, ":", width=2.2)),
        Series("random orbit templates", cloud, Look(GREY, "none", ".")),
    )
    slopes = tuple(Series(one.label, tuple((x, y / x) for x, y in one.points if x), one.look) for one in series)
    return [
        Panel(f"k = {k}", ("budget B", "signal coefficient A"), series, ("linear", "linear")),
        Panel(f"k = {k}, threshold 4/9", ("budget B", "A over B"), slopes, ("linear", "linear")),
    ]


def _gain() -> list[Panel]:
    """Risk of calibrated over that of thinned k-ary response, against the budget as a share of the threshold."""
    shares = _grid(0.003, 1, 40)
    series = []
    for k, look in zip((3, 10, 100, 1000), SERIES, strict=False):
        threshold = lower_end(evaluate(threshold_budget().subs(K, k)))
        points = tuple((float(share), float(thinning_gain(k, share * threshold).midpoint)) for share in shares)
        series.append(Series(f"k = {k}", points, look))
    return [
        Panel("calibrated over thinned response", ("B over threshold", "risk ratio"), tuple(series), ("log", "linear"))
    ]


def _sizes(k: int = 20) -> list[Panel]:
    """Risk of subset selection against its size, at three budgets."""
    series = []
    for budget, look in zip((Fraction(1, 10), Fraction(1), Fraction(5)), SERIES, strict=False):
        points = tuple((float(s), float(matched_risk(k, s, budget, n=1).midpoint)) for s in range(1, k))
        series.append(Series(f"B = {float(budget):g}", points, look))
    return [Panel(f"k = {k}", ("subset size s", "n times the risk"), tuple(series))]


def _bounds(k: int = 10) -> list[Panel]:
    """Upper and lower bounds on the risk against the number of users, at k = 10 and budget 1/10."""
    budget = Fraction(1, 10)
    trace = trace_frontier(k, budget).trace
    constant = isotropic_risk(k, trace.lower, population="iid")
    near = Fraction(1, 10**6)
    rows: tuple[tuple[str, Look, Callable[[int], Any]], ...] = (
        ("unbiased optimum, worst i.i.d. risk", Look(BLACK), lambda n: constant / n),
        ("the same, shrunken", Look(GREY, "-."), lambda n: best_shrinkage_risk(k, trace.lower, n)),
        (
            "locally unbiased, near a vertex (8.2)",
            Look(BLUE, (0, (6, 2))),
            lambda n: near_vertex_bound(k, budget, rho=near, n=n),
        ),
        ("all estimators, two regimes (8.5)", Look(VERMILION), lambda n: two_regime_bound(k, budget, n=n)),
        ("all estimators, sharper cube", Look(ORANGE, marker="o"), lambda n: sharp_cube_bound(k, budget, n=n).lower),
        (
            "all estimators, van Trees at a corner",
            Look(GREEN, marker="s"),
            lambda n: corner_van_trees(k, budget, n=n).lower,
        ),
        (
            "all estimators, van Trees at uniform",
            Look(PURPLE, marker="^"),
            lambda n: minimax_sandwich(k, trace.upper, n).lower.lower,
        ),
    )
    users = [int(10 ** (step / 2)) for step in range(2, 19)]
    series = tuple(
        Series(label, tuple((float(n), to_float(value(n))) for n in users), look) for label, look, value in rows
    )
    return [Panel(f"k = {k}, B = {float(budget):g}", ("n (users)", "risk"), series, ("log", "log"))]


def _vertex() -> list[Panel]:
    """Cramer-Rao trace of k-ary response near a vertex, in units of the vertex bound."""
    shares = _grid(1e-4, 0.6, 30)
    series = []
    for k, look in zip((3, 5, 8), (Look(BLUE), Look(VERMILION, (0, (6, 2))), Look(SKY, "-.")), strict=True):
        law = AnchoredLaw.from_channel(krr().at(k=k, lam=2).channel())
        unit = (k - 1) / Fraction(law.pairwise_budget())
        points = []
        for rho in shares:
            w = (1 - rho, *(rho / (k - 1),) * (k - 1))
            points.append((float(rho), float(cramer_rao_trace(law, w, n=1) / unit)))
        series.append(Series(f"k = {k}", tuple(points), look))
    axes = ("share rho of the other inputs", "tr J^-1 over (k-1)/chi")
    return [Panel("k-ary response, C = 2", axes, tuple(series), ("log", "linear"))]


_FIGURES: Final[dict[str, tuple[Callable[[], list[Panel]], str]]] = {
    "alphabets.fig-1": (_frontier, "k = 10; frontier by certificates over Q; 400 random templates, seed 2026"),
    "alphabets.fig-2": (_gain, "fixed composition, n = 1 (the ratio does not depend on n); exact brackets, midpoints"),
    "alphabets.fig-3": (_sizes, "fixed composition, k = 20; every size at the ratio of its budget"),
    "alphabets.fig-7": (_bounds, "k = 10, budget 1/10; lower bounds at their lower ends; near-vertex at rho = 1e-6"),
    "alphabets.fig-8": (_vertex, "others share rho evenly; limits at rho = 0: 15/8, 7/4, 5/3; exact values"),
}


def _figure(name: str) -> Callable[[Path], list[Path]]:
    draw, remark = _FIGURES[name]
    return lambda directory: write(name, draw(), remark, directory)


def _example(directory: Path) -> list[Path]:
    """Write the rows of Example 10.4 as a table."""
    text = io.StringIO()
    text.write(
        "# alphabets.ex-10.4: the paper's two instances are not legible; seven of ours, by fractions and balls\n"
    )
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["k", "C", "budget B", "share zeta", "n * smallest risk", "n * calibrated risk", "ratio"])
    for k, ratio, _ in INSTANCES:
        shown = "e" if isinstance(ratio, Exp) else str(ratio)
        rows.writerow([k, shown, *(f"{to_float(value):.15g}" for value in example_row(k, ratio))])
    path = directory / "alphabets.ex-10.4.csv"
    write_atomically(path, text.getvalue())
    return [path]


REPRODUCE: Final = {**{name: _figure(name) for name in _FIGURES}, "alphabets.ex-10.4": _example}
