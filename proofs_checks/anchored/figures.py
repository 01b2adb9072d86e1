"""Figures of the paper's geometry: the paper prints none, these are the ones its statements ask for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from proofs_checks._gauges import helmert
from proofs_checks.anchored import _cases as cases
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import Exp, to_float
from symshuffle.ledger.claims.model import Claim
from symshuffle.mechanisms.finite import K
from symshuffle.mechanisms.symbolic import evaluate
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.anchored.maps import fiber, project
from symshuffle.utility.estimation.lower_bounds import minimax_sandwich
from symshuffle.utility.frontiers.caps import optimal_subset_sizes, tie_ratio
from symshuffle.utility.frontiers.contamination import Contamination, binary_envelope, ratio_law, shuffled_leakage
from symshuffle.utility.frontiers.formulas import at, subset_budget, subset_trace
from symshuffle.utility.frontiers.frontier import slope_constant, trace_frontier
from symshuffle.utility.frontiers.orbit import symmetrize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLAIMS: Final[tuple[Claim, ...]] = ()


def _plane(points: Sequence[Sequence[Fraction]]) -> Any:
    """Points of three inputs in the Helmert plane."""
    gauge = np.array(helmert(3).tolist(), dtype=float)
    return np.array([[float(entry) for entry in point] for point in points]) @ gauge


def draw_triangle(axes: Axes) -> None:
    """The polytope of three inputs, with the atoms of the example and of its symmetrisation."""
    corners = _plane([[Fraction(3 * (i == j % 3)) for i in range(3)] for j in range(4)])
    axes.plot(*corners.T, color="0.4")
    law = AnchoredLaw.from_channel(cases.EXAMPLE)
    for chosen, label, colour in ((law, "example", "tab:blue"), (symmetrize(law), "symmetrised", "tab:orange")):
        sizes = [2000 * float(weight) / 3 for weight in chosen.weights]
        x, y = _plane(chosen.templates).T
        axes.scatter(x, y, s=sizes, alpha=0.6, label=label, color=colour)
    axes.set_aspect("equal")
    axes.set_title("A channel as a law on the triangle; area = mass")
    axes.legend(markerscale=0.4)


def draw_ranges(axes: Axes) -> None:
    """Ranges of the projective map of three inputs, opening up towards the boundary, with the example's fibers."""
    law = AnchoredLaw.from_channel(cases.EXAMPLE)
    for colour, text in enumerate(("1/3 1/3 1/3", "1/2 1/4 1/4", "4/5 1/10 1/10", "1 0 0")):
        w = tuple(Fraction(entry) for entry in text.split())
        ends = [tuple(Fraction(3 * (i == j)) for i in range(3)) for j in range(3) if w[j]]
        corners = _plane([project(u, w) for u in (*ends, ends[0])])
        axes.plot(*corners.T, color=f"C{colour}", linewidth=1)
        x, y = _plane(fiber(law, w).ratios.points).T
        axes.scatter(x, y, color=f"C{colour}", s=20, label=f"w = ({text})")
    axes.set_aspect("equal")
    axes.set_title("Fibers of one channel at four compositions")
    axes.legend()


def draw_envelope(axes: Axes) -> None:
    """The universal envelope: delta against eps for four budgets and four populations."""
    for colour, eps0 in enumerate(("1/2", "1", "2", "4")):
        for style, n in zip(("-", "--", "-.", ":"), (1, 10, 1000, 10**6), strict=True):
            grid = [Fraction(eps0) * Fraction(step, 40) for step in range(40)]
            brackets = [
                binary_envelope(Contamination(n), lam=Exp(Fraction(eps0)), gamma=Exp(eps)).bracket for eps in grid
            ]
            kept = [
                (float(eps), float(b.upper)) for eps, b in zip(grid, brackets, strict=True) if float(b.upper) > 1e-16
            ]
            label = f"eps0 = {eps0}" if style == "-" else None
            axes.semilogy(*zip(*kept, strict=True), style, color=f"C{colour}", label=label)
    axes.set(xlabel="eps", ylabel="delta", title="Universal envelope, n = 1, 10, 1000, 10^6")
    axes.legend()


def draw_profile(axes: Axes) -> None:
    """The profile of a channel under its envelope, both directions."""
    lam, n = Fraction(18, 5), 5
    orders = [1 + (lam - 1) * Fraction(step, 40) for step in range(40)]
    ratio = ratio_law(cases.EXAMPLE, 0, 2)
    for direction, colour in zip(members(Direction), ("C0", "C1"), strict=True):
        experiment = Contamination(n, direction)
        profile = [float(shuffled_leakage(ratio, experiment, gamma=gamma).bracket.upper) for gamma in orders]
        envelope = [float(binary_envelope(experiment, lam=lam, gamma=gamma).bracket.upper) for gamma in orders]
        axes.plot([float(g) for g in orders], profile, color=colour, label=f"channel, {direction}")
        axes.plot([float(g) for g in orders], envelope, "--", color=colour, label=f"envelope, {direction}")
    axes.set(xlabel="order gamma", ylabel="hockey-stick divergence", title=f"Rows 1 and 3 of the example, n = {n}")
    axes.legend()


def draw_frontier(axes: Axes, k: int = 5) -> None:
    """The frontier with the line of the trace cap and the curves of the subset mechanisms."""
    budgets = np.geomspace(1e-3, 1e2, 60)
    values = [float(trace_frontier(k, Fraction(b).limit_denominator(10**6)).trace.lower) for b in budgets]
    axes.semilogx(budgets, values, "k", linewidth=2, label="frontier")
    axes.semilogx(
        budgets,
        np.minimum(to_float(evaluate(slope_constant().subs(K, k))) * budgets, k * (k - 1)),
        "k:",
        label="trace cap",
    )
    for s in range(1, k // 2 + 1):
        ratios = [Fraction(r).limit_denominator(1000) for r in np.geomspace(1.05, 60, 60)]
        curve = [
            (float(at(subset_budget(), k=k, s=s, lam=r)), float(at(subset_trace(), k=k, s=s, lam=r))) for r in ratios
        ]
        axes.semilogx(*zip(*curve, strict=True), "--", label=f"subsets of size {s}")
    axes.set(xlabel="budget", ylabel="trace", title=f"Frontier of {k} inputs")
    axes.legend()


def draw_cloud(axes: Axes, k: int = 4) -> None:
    """Random orbit points below the frontier."""
    rng = np.random.default_rng(2026)
    u = rng.dirichlet(np.full(k, 2.0), size=100_000) * k
    squares, reciprocals = (u**2).sum(axis=1), (1 / u).sum(axis=1)
    budget = (squares * reciprocals - k * k) / (k * (k - 1))
    shown = (budget > 1e-3) & (budget < 100)
    axes.scatter(budget[shown], squares[shown] - k, s=0.2, alpha=0.3)
    grid = np.geomspace(1e-3, 100, 60)
    hull = [float(trace_frontier(k, Fraction(b).limit_denominator(10**6)).trace.lower) for b in grid]
    axes.semilogx(grid, hull, "k")
    axes.set(xlabel="budget", ylabel="trace", title=f"10^5 orbit laws of {k} inputs and their envelope")


def draw_phases(axes: Axes) -> None:
    """Best subset size against budget and number of inputs, with the exact tie points."""
    sizes = range(2, 61)
    budgets = [Fraction(step, 15) for step in range(1, 61)]
    image = np.array([[optimal_subset_sizes(k, Exp(eps))[0] for eps in budgets] for k in sizes])
    axes.imshow(image, origin="lower", aspect="auto", extent=(0, 4, 1.5, 60.5), cmap="viridis")
    for s in range(1, 6):
        ties = [(math.log(float(tie_ratio(k, s))), k) for k in sizes if 2 * s + 1 < k]
        axes.plot(*zip(*ties, strict=True), color="white", linewidth=1)
    axes.set(xlabel="eps0", ylabel="inputs k", xlim=(0, 4), title="Best subset size; lines: exact ties")


def draw_sandwich(axes: Axes) -> None:
    """The van Trees bound over the canonical risk, tending to one."""
    exponents = np.linspace(1, 10, 37)
    for k in (3, 6, 10):
        trace = trace_frontier(k, Fraction(1, 1000)).trace.upper
        ratios = [float(minimax_sandwich(k, trace, int(1000 * 10**x)).ratio) for x in exponents]
        axes.semilogx(10**exponents, ratios, label=f"k = {k}")
    axes.set(xlabel="n C", ylabel="lower bound / canonical risk", title="Minimax sandwich at C = 1/1000")
    axes.legend()


def draw_gap(axes: Axes) -> None:
    """The raw-cap trace over the low-budget cap: the prose claim of Section 9.2."""
    grid = [Fraction(step, 50) for step in range(1, 201)]
    for k in (3, 5, 10, 20):
        constant = to_float(evaluate(slope_constant().subs(K, k)))
        ratios = []
        for eps in grid:
            s = optimal_subset_sizes(k, Exp(eps))[0]
            spent, exact = (float(at(e, k=k, s=s, lam=Exp(eps))) for e in (subset_budget(), subset_trace()))
            ratios.append(exact / (constant * spent))
        axes.plot([float(eps) for eps in grid], ratios, label=f"k = {k}")
    axes.set(xlabel="eps0", ylabel="exact trace / low-budget cap", title="How far below the cap")
    axes.legend()


def _figure(draw: Callable[[Axes], None], name: str) -> Callable[[Path], list[Path]]:
    """A function that writes a drawing as a PNG file into a directory."""

    def write(directory: Path) -> list[Path]:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 5), layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure.subplots())
        path = directory / f"{name}.png"
        figure.savefig(path, dpi=120, metadata={"Software": None})
        return [path]

    return write


REPRODUCE: Final = {
    f"anchored.figure-{name}": _figure(draw, f"anchored.figure-{name}")
    for name, draw in {
        "triangle": draw_triangle,
        "ranges": draw_ranges,
        "envelope": draw_envelope,
        "profile": draw_profile,
        "frontier": draw_frontier,
        "cloud": draw_cloud,
        "phases": draw_phases,
        "sandwich": draw_sandwich,
        "gap": draw_gap,
    }.items()
}
