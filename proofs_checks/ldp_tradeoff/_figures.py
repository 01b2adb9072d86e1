"""Figures computed from the library: Figure 2 for three inputs, and curves of the closed forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._named import best_uniform_size
from symshuffle.base.numbers import Exp
from symshuffle.channels.geometry.extremal import MaximalPolytope
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information import measures
from symshuffle.design.information.maximum import maximise
from symshuffle.design.named import cardioid_program
from symshuffle.design.parametric.homotopy import derive
from symshuffle.mechanisms.symbolic import LAM


def _axes(**options: Any) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    return figure, figure.add_subplot(**options)


def _save(figure: Any, directory: Path, name: str) -> Sequence[Path]:
    path = directory / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    return [path]


def polytope(directory: Path) -> Sequence[Path]:
    """Maximal channels on three inputs at lam = 3: a bipyramid, with the invariant ones as its axis."""
    figure, axes = _axes(projection="3d")
    vertices = MaximalPolytope(3, cases.LAM).vertices()
    points = np.array([[float(vertex.get(y, 0)) for y in (1, 2, 4)] for vertex in vertices])
    for i, first in enumerate(vertices):
        for j, second in enumerate(vertices[:i]):
            # Two vertices of a simple bipyramid are adjacent unless they are its two apexes.
            if {len(first), len(second)} != {3}:
                axes.plot(*points[[i, j]].T, color="0.5", linewidth=1)
    apexes = [i for i, vertex in enumerate(vertices) if len(vertex) == 3]
    axes.plot(*points[apexes].T, color="C3", linewidth=2, label="invariant under all permutations")
    axes.scatter(*points.T, color="C0")
    axes.set(xlabel="weight of {0}", ylabel="weight of {1}", zlabel="weight of {2}")
    axes.legend()
    return _save(figure, directory, "ldp_tradeoff.fig-2")


def guessing(directory: Path) -> Sequence[Path]:
    """Optimal guessing risk against the local budget, certified at every point."""
    figure, axes = _axes()
    budgets = [Fraction(i, 4) for i in range(1, 25)]
    for m in (2, 4, 8, 16):
        problem = smoothed_point_masses(m, 1)
        axes.plot(
            [float(b) for b in budgets],
            [float(smallest_risk(problem, Exp(b)).value.midpoint) for b in budgets],
            label=f"m = {m}",
        )
    axes.set(xlabel=r"$\epsilon_0$", ylabel="optimal error probability")
    axes.legend()
    return _save(figure, directory, "ldp_tradeoff.guessing-curves")


def cardioid(directory: Path) -> Sequence[Path]:
    """Optimal cosine risk with the size of the optimal runs, from the derived formulas."""
    import sympy as sp

    figure, axes = _axes()
    twin = axes.twinx()
    budgets = np.linspace(0.05, 6, 120)
    for index, m in enumerate((3, 5, 6)):
        optimum = derive(cardioid_program(m, Fraction(1)))
        pieces = [optimum.at(sp.Float(float(np.exp(b)))) for b in budgets]
        values = [float(piece.value.subs(LAM, float(np.exp(b)))) for piece, b in zip(pieces, budgets, strict=True)]
        axes.plot(budgets, values, color=f"C{index}", label=f"m = {m}")
        sizes = [piece.weights[0][0].subset.bit_count() for piece in pieces]
        twin.step(budgets, sizes, color=f"C{index}", linestyle=":")
    axes.set(xlabel=r"$\epsilon_0$", ylabel="optimal cosine risk")
    twin.set(ylabel="readings in the optimal run (dotted)", yticks=[1, 2, 3])
    axes.legend()
    return _save(figure, directory, "ldp_tradeoff.cardioid-curves")


def information(directory: Path) -> Sequence[Path]:
    """Largest mutual information at a uniform input, and the size of the optimal subsets."""
    figure, axes = _axes()
    twin = axes.twinx()
    budgets = [Fraction(i, 10) for i in range(1, 61)]
    for index, m in enumerate((4, 8, 16)):
        best = [best_uniform_size(m, budget) for budget in budgets]
        axes.plot([float(b) for b in budgets], [float(value) for value, _ in best], color=f"C{index}", label=f"m = {m}")
        twin.step([float(b) for b in budgets], [size for _, size in best], color=f"C{index}", linestyle=":")
    axes.set(xlabel=r"$\epsilon_0$", ylabel="information in nats")
    twin.set(ylabel="optimal subset size (dotted)")
    axes.legend()
    return _save(figure, directory, "ldp_tradeoff.information-curves")


def divergences(directory: Path) -> Sequence[Path]:
    """Largest relative entropy and chi-square over LDP channels, with randomized response below them."""
    figure, axes = _axes()
    budgets = [Fraction(i, 3) for i in range(1, 19)]
    for index, measure in enumerate(
        (measures.kullback_leibler(cases.P0, cases.P1), measures.chi_square_measure(cases.P0, cases.P1))
    ):
        best, response = [], []
        for budget in budgets:
            design = maximise(measure, Exp(budget))
            best.append(float(design.value.midpoint))
            weight = 1 / (design.lam + 3)
            channel = MaximalPolytope(4, design.lam).channel(dict.fromkeys((1, 2, 4, 8), weight))
            response.append(float(measure.of(channel)))
        grid = [float(b) for b in budgets]
        axes.plot(grid, best, color=f"C{index}", label=f"{measure.name}, optimal")
        axes.plot(grid, response, color=f"C{index}", linestyle=":", label="4-ary randomized response")
    axes.set(xlabel=r"$\epsilon_0$", ylabel="divergence of the output laws")
    axes.legend()
    return _save(figure, directory, "ldp_tradeoff.divergence-curves")


DRAWINGS: Final[dict[str, Callable[[Path], Sequence[Path]]]] = {
    "ldp_tradeoff.fig-2": polytope,
    "ldp_tradeoff.guessing-curves": guessing,
    "ldp_tradeoff.cardioid-curves": cardioid,
    "ldp_tradeoff.information-curves": information,
    "ldp_tradeoff.divergence-curves": divergences,
}
