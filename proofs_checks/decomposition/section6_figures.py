"""Figures 1 to 8 and Table 4, computed: CSV and picture side by side."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np

from proofs_checks.decomposition import _curves as curves
from proofs_checks.decomposition import section6_frequencies as frequencies
from symshuffle.claims.model import Claim
from symshuffle.mechanisms.registry import mechanism
from symshuffle.numbers import to_float

CLAIMS: Final[tuple[Claim, ...]] = ()

_SETTING: Final = (
    f"delta against eps at n = {curves.USERS}, replace-one adjacency; the paper states neither n nor axes; "
    f"double precision, relative width {curves.WIDTH}, upper curves at the upper end, lower curves at the lower end; "
    "nothing is clipped, and points below 1e-9 are left out"
)
_LAPLACE: Final = f"Laplace on {{0, 1}}, its law cut into {curves.CELLS} cells from above"
_SIX: Final = ("krr(k=10)", "blh", "rappor", "oue", "hadamard", "laplace")
_REPEATS: Final = 4000
_DIGITS: Final = 10**6
_COLUMNS: Final = (
    *("eps", "bound", "eps0", "eps0 (printed)", "printed meets target", "mean l2 error", "standard error"),
    *("root mean square (closed form)", "error (printed)"),
)


def _panels(texts: Sequence[str]) -> list[curves.Panel]:
    return [curves.compare_bounds(text, eps0) for text in texts for eps0 in curves.BUDGETS]


def _figure_1() -> list[curves.Panel]:
    found = []
    for eps0 in curves.BUDGETS:
        lines = [(text, curves.upper(curves.source(text, eps0))) for text in _SIX]
        end = max(curves.reach(curves.source(text, eps0)) for text in _SIX)
        found.append(curves.panel(f"eps0 = {float(eps0)}", [*lines, ("standard clone", curves.clone(eps0))], end))
    return found


def _figure_4() -> list[curves.Panel]:
    parts = ("krr(k=10)", "blh")
    whole = "parallel(" + ",".join(f"1/2:{part}" for part in parts) + ")"
    named = [(text, text) for text in (*parts, whole)]
    return [curves.upper_bounds("parallel composition", named, eps0) for eps0 in curves.BUDGETS]


def _figure_5() -> list[curves.Panel]:
    sizes = [(f"D = {d}", f"rappor(D={d})") for d in (2, 3, 4, 5, 8)]
    named = [*sizes, ("D -> infinity", "rappor")]
    return [curves.upper_bounds("RAPPOR", named, eps0) for eps0 in (*curves.BUDGETS[:1], Fraction(1), Fraction(4))]


def _figure_6() -> list[curves.Panel]:
    named = [(f"p = {p}", f"subsample(krr(k=10),{p})") for p in ("1/10", "1/2")]
    named.append(("p = 1", "krr(k=10)"))
    return [curves.upper_bounds("Poisson subsampling", named, eps0, more=True) for eps0 in curves.BUDGETS]


def _figure_7() -> list[curves.Panel]:
    named = [(f"d = {d}", f"hamming(joint(krr(k=10),4),{d})") for d in (1, 2, 3, 4)]
    return [curves.upper_bounds("joint(krr(k=10),4)", named, eps0) for eps0 in curves.BUDGETS]


_FIGURES: Final[dict[str, tuple[Callable[[], list[curves.Panel]], str]]] = {
    "decomposition.fig-1": (_figure_1, f"{_SETTING}; large-domain limits; {_LAPLACE}"),
    "decomposition.fig-2": (lambda: _panels(_SIX[:3]), f"{_SETTING}; large-domain limits; m-joint: budget eps0/m each"),
    "decomposition.fig-3": (
        lambda: _panels(("oue", "laplace")),
        f"{_SETTING}; large-domain limit; {_LAPLACE}, its joint compositions left out",
    ),
    "decomposition.fig-4": (_figure_4, _SETTING),
    "decomposition.fig-5": (_figure_5, _SETTING),
    "decomposition.fig-6": (_figure_6, f"{_SETTING}; not participating is visible"),
    "decomposition.fig-7": (_figure_7, f"{_SETTING}; records differ in d of 4 coordinates, eps0/4 each"),
    "decomposition.fig-8": (
        lambda: [curves.laplace_cdf(Fraction(1), Fraction(1, 10))],
        "distribution function of L for the Laplace mechanism on {0, 1}, from its law in 200 cells",
    ),
}


def _figure(name: str) -> Callable[[Path], list[Path]]:
    draw, remark = _FIGURES[name]
    return lambda directory: curves.write(name, draw(), remark, directory)


def table_4(directory: Path) -> list[Path]:
    """Table 4: largest budgets in millionths, certified from both sides, and the errors they leave."""
    rng = np.random.default_rng(20)
    text = io.StringIO()
    text.write(
        f"# decomposition.table-4: largest eps0 (six digits, rounded down, certified in ball arithmetic) with "
        f"delta(eps) <= 1e-6 for 10-RR, n = {frequencies.USERS}; "
        f"l2 error at that eps0 over {_REPEATS} seeded runs, Zipf(0.7) data\n"
    )
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for eps in frequencies.EPSILONS:
        budgets = (frequencies.PRINTED_BENNETT[eps], frequencies.PRINTED_OPTIMAL[eps])
        for name, printed, error in zip(("Bennett", "optimal"), budgets, frequencies.PRINTED_ERRORS[eps], strict=True):
            eps0 = _largest_budget(name, eps)
            met = "yes" if printed <= eps0 else "no"
            mean, spread, root = _l2_error(eps0, rng)
            rows.writerow(
                (
                    *(float(eps), name, f"{float(eps0):.6f}", f"{float(printed):.2f}", met),
                    *(f"{mean:.5f}", f"{spread:.5f}", f"{root:.5f}", f"{float(error):.3f}"),
                )
            )
    path = directory / "decomposition.table-4.csv"
    curves.write_atomically(path, text.getvalue())
    return [path]


def _largest_budget(name: str, eps: Fraction) -> Fraction:
    """The largest multiple of 1e-6 at which a bound certainly meets the target; it misses it at the next one."""
    low, high = 0, 5 * _DIGITS
    while high - low > 1:
        middle = (low + high) // 2
        ball = frequencies._bound(name, Fraction(middle, _DIGITS), eps)
        low, high = (middle, high) if ball.upper <= frequencies.TARGET else (low, middle)
    return Fraction(low, _DIGITS)


def _l2_error(eps0: Fraction, rng: np.random.Generator) -> tuple[float, float, float]:
    """Mean l2 error of the unbiased estimator with its standard error, and the root of the mean square."""
    k, n = frequencies.SYMBOLS, frequencies.USERS
    channel = mechanism("krr").at(k=k, eps0=eps0).channel()
    rows = np.array([[to_float(entry) for entry in row] for row in channel.rows])
    high, low = rows[0, 0], rows[0, 1]
    share = np.arange(1, k + 1) ** -0.7
    data = rng.multinomial(n, share / share.sum())
    counts = sum(rng.multinomial(data[v], rows[v] / rows[v].sum(), size=_REPEATS) for v in range(k))
    errors = np.linalg.norm((counts / n - low) / (high - low) - data / n, axis=1)
    mean_square = (high * (1 - high) + (k - 1) * low * (1 - low)) / (n * (high - low) ** 2)
    return float(errors.mean()), float(errors.std(ddof=1) / _REPEATS**0.5), float(mean_square**0.5)


REPRODUCE: Final = {**{name: _figure(name) for name in _FIGURES}, "decomposition.table-4": table_4}
