"""Curves of delta against eps, one function for each bound that the figures of the experiments compare."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

from symshuffle.accountants import solve
from symshuffle.accountants.baselines import BlanketVariable, blanket_bennett, blanket_hoeffding, standard_clone
from symshuffle.accountants.reduction import Composed, Reduction, Source, reduction
from symshuffle.decompositions.expression import parse
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.law import Law
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism
from symshuffle.numbers import DEFAULT_BITS, Ball, Exp, enclose, lower_end, maximum, minimum

USERS: Final = 1000
WIDTH: Final = 1e-2
"""Relative width of every bracket, far below what a picture shows."""

CELLS: Final = 40
SHORTEST: Final = Fraction(1, 10**9)
"""Curves end where the optimal bound falls to this delta."""

POINTS: Final = 12
BUDGETS: Final = (Fraction(1, 10), Fraction(4))
Curve = Callable[[Fraction], Fraction]
"""From eps to delta."""


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """Curves on common axes; each is a label and its points, absent where the curve has no value."""

    title: str
    axes: tuple[str, str]
    curves: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    scale: str = "log"


def source(text: str, eps0: Fraction) -> Source:
    """A mechanism expression, or ``laplace``, at a total budget."""
    if text == "laplace":
        return Laplace(Exp(eps0), cells=CELLS)
    part = parse(text)
    return part.at(eps0=eps0) if isinstance(part, Mechanism) else Composed(part, Exp(eps0))


def upper(of: Source) -> Curve:
    """The optimal decomposition bound."""
    derived = reduction(of)
    return lambda eps: solve.delta(derived, n=USERS, eps=eps, rel=WIDTH).bracket.upper


def lower(of: Source) -> Curve:
    """The worst of the real pairs with a constant background."""
    whole = reduction(of)
    derived = Reduction(whole.bounds[:1], whole.backgrounds, whole.pair)

    def value(eps: Fraction) -> Fraction:
        attained = solve.delta(derived, n=USERS, eps=eps, rel=WIDTH, attain=True).attained
        return attained.lower if attained else Fraction(0)

    return value


def clone(eps0: Fraction) -> Curve:
    """The standard clone, the same for every mechanism."""
    return lambda eps: standard_clone(enclose(Exp(eps0)), exp_eps=Exp(eps), n=USERS, rel=WIDTH).upper


def blanket(of: Mechanism | Laplace, bound: Callable[[BlanketVariable, int], Ball]) -> Curve:
    """A closed form for the blanket."""
    if isinstance(of, Mechanism):
        cells = optimal_decomposition(of).numeric()
        return lambda eps: bound(BlanketVariable.of(cells, enclose(Exp(eps))), USERS).upper
    return lambda eps: bound(_laplace_variable(of, Exp(eps)), USERS).upper


def _laplace_variable(of: Laplace, exp_eps: Exp) -> BlanketVariable:
    """From the law above in convex order, whose second moment is not below the true one."""
    law = of.law(exp_eps, side="upper")
    gamma = blanket_share(law)
    values: Any = [gamma * v for v in law.values]
    atoms: list[tuple[Any, Any]] = list(zip(values, law.weights, strict=True))
    moment = sum((v * v * (w / gamma) for v, w in atoms), start=Fraction(0))
    drift: Any = enclose(exp_eps, DEFAULT_BITS)
    return BlanketVariable(gamma, drift - 1, minimum(values), maximum(values), moment)


def blanket_share(law: Law) -> Any:
    """Weight of the blanket: whatever is not the residual atom at zero."""
    idle: Any = sum((w for v, w in law.atoms() if isinstance(v, Fraction) and v == 0), start=Fraction(0))
    return 1 - idle


def compare_bounds(text: str, eps0: Fraction) -> Panel:
    """All bounds on one mechanism."""
    of = source(text, eps0)
    curves: list[tuple[str, Curve]] = [("optimal upper bound", upper(of)), ("constant background", lower(of))]
    if isinstance(of, Mechanism | Laplace):
        curves += [("Hoeffding", blanket(of, blanket_hoeffding)), ("Bennett", blanket(of, blanket_bennett))]
    curves.append(("standard clone", clone(eps0)))
    if text != "laplace":
        curves += [(f"{m}-joint, upper", upper(source(f"joint({text},{m})", eps0))) for m in (2, 4)]
    return panel(f"{text}, eps0 = {float(eps0)}", curves, reach(of))


def upper_bounds(title: str, sources: Sequence[tuple[str, str]], eps0: Fraction, *, more: bool = False) -> Panel:
    """The optimal bounds of several mechanisms, with the real pairs below them if asked."""
    curves: list[tuple[str, Curve]] = []
    for label, text in sources:
        curves.append((label, upper(source(text, eps0))))
        if more:
            curves.append((f"{label}, constant background", lower(source(text, eps0))))
    return panel(f"{title}, eps0 = {float(eps0)}", curves, max(reach(source(text, eps0)) for _, text in sources))


def reach(of: Source) -> Fraction:
    """The eps at which the optimal bound is as small as the curves go."""
    return solve.epsilon(of, n=USERS, delta=SHORTEST, rel=0.05).bracket.upper


def panel(title: str, curves: Sequence[tuple[str, Curve]], end: Fraction) -> Panel:
    """Evaluate curves on a common grid from 0 to ``end``; points below the shortest delta are left out."""
    grid = [end * j / POINTS for j in range(POINTS)]
    evaluated = []
    for label, curve in curves:
        points = [(float(eps), float(curve(eps))) for eps in grid]
        evaluated.append((label, tuple(point for point in points if point[1] >= SHORTEST)))
    return Panel(title, ("eps", f"delta at n = {USERS}"), tuple(evaluated))


def laplace_cdf(eps0: Fraction, eps: Fraction) -> Panel:
    """Distribution function of the blanket variable L of the Laplace mechanism on {0, 1}, from its law."""
    law = Laplace(Exp(eps0), cells=200).law(Exp(eps), side="lower")
    gamma = float(lower_end(blanket_share(law)))
    atoms = sorted((gamma * float(lower_end(v)), float(lower_end(w)) / gamma) for v, w in law.atoms() if v != 0)
    total, points = 0.0, [(atoms[0][0], 0.0)]
    for value, weight in atoms:
        points.append((value, total))
        total += weight
        points.append((value, total))
    return Panel(
        f"Laplace, eps0 = {float(eps0)}, eps = {float(eps)}", ("L", "P(L <= t)"), (("CDF", tuple(points)),), "linear"
    )


def write(name: str, panels: Sequence[Panel], remark: str, directory: Path) -> list[Path]:
    """The numbers as CSV, with the setting as a comment, and the picture beside them."""
    text = io.StringIO()
    text.write(f"# {name}: {remark}\n")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["panel", "curve", "x", "y"])
    for part in panels:
        rows.writerows(
            (part.title, label, f"{x:.10g}", f"{y:.10g}") for label, points in part.curves for x, y in points
        )
    table, picture = directory / f"{name}.csv", directory / f"{name}.png"
    write_atomically(table, text.getvalue())
    write_atomically(picture, _drawn(panels))
    return [table, picture]


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write beside the file and rename, so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content.encode() if isinstance(content, str) else content)
    part.replace(path)


def _drawn(panels: Sequence[Panel]) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(6 * columns, 4 * lines), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, part in zip(figure.subplots(lines, columns, squeeze=False).flat, panels, strict=True):
        for label, points in part.curves:
            if points:
                axes.plot(*zip(*points, strict=True), label=label)
        axes.set(title=part.title, xlabel=part.axes[0], ylabel=part.axes[1], yscale=part.scale)
        axes.legend(fontsize="small")
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=120, metadata={"Software": None})
    return data.getvalue()
