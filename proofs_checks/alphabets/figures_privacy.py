"""Figures 4 to 6 of the catalogue: privacy curves, the two poles, and the normal approximation."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final

from proofs_checks._extremes import chi_square_certificate
from proofs_checks._limits import berry_esseen_bound, gaussian_profile, kolmogorov_distance
from proofs_checks.decomposition._panels import BLACK, GREY, SERIES, Look, Panel, Series, write
from symshuffle.base.artifacts import write_atomically
from symshuffle.base.choices import Direction, Under, members
from symshuffle.base.numbers import Exp, Number, Real, upper_end
from symshuffle.ledger.claims.model import Claim
from symshuffle.mechanisms.registry import mechanism
from symshuffle.utility.likelihood.extremes import endpoint_ratio, gaussian_scale, largest_chi_square
from symshuffle.utility.likelihood.law import LikelihoodRatio

CLAIMS: Final[tuple[Claim, ...]] = ()

LAM: Final = Fraction(3)
USERS: Final = 50
LEVELS: Final = tuple(Fraction(step, 40) for step in range(25))
ALPHABETS: Final = (2, 4, 10, 100, 1000)
CAPS: Final[tuple[Real, ...]] = (Fraction(2), Exp(Fraction(1)), Fraction(5), Fraction(10))
SIZES: Final = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)


def _grr(k: int, lam: Real = LAM) -> LikelihoodRatio:
    return LikelihoodRatio.of_mechanism(mechanism("krr").at(k=k, lam=lam))


def _half_block(k: int, lam: Real = LAM) -> LikelihoodRatio:
    return LikelihoodRatio.of_mechanism(mechanism("half-block").at(k=k, d=k // 2, lam=lam))


def _curve(label: str, look: Look, height: Callable[[Fraction], Number]) -> Series:
    return Series(label, tuple((float(eps), float(upper_end(height(eps)))) for eps in LEVELS), look)


def _privacy_curves(direction: Direction) -> Panel:
    """Exact curves of five laws in one direction, with the Gaussian curve and the bound from chi-square."""
    laws = [("half-block = binary", _half_block(64)), *((f"GRR, k = {k}", _grr(k)) for k in (4, 16, 64))]
    laws.append(("half-block, diluted by 1/4", _half_block(64).dilute(Fraction(1, 4))))
    chi = largest_chi_square(LAM)

    def profile(law: LikelihoodRatio) -> Callable[[Fraction], Number]:
        return lambda eps: law.profile(USERS, eps=eps, direction=direction).upper

    def bound(eps: Fraction) -> Number:
        return chi_square_certificate(chi, USERS, eps=eps, direction=direction, form="two-moment")

    curves = [_curve(name, look, profile(law)) for (name, law), look in zip(laws, SERIES, strict=False)]
    scale = gaussian_scale(chi, USERS)
    curves.append(_curve("Gaussian, binary", Look(GREY, ":", width=2.0), lambda eps: gaussian_profile(scale, eps=eps)))
    curves.append(_curve("bound from chi^2, binary", Look(BLACK, (0, (4, 3)), width=1.1), bound))
    title = f"canonical pair, lam = {LAM}, n = {USERS}, {direction}"
    return Panel(title, ("eps", "delta"), tuple(curves), ("linear", "log"), shown=(1e-10, 1.0))


def figure_4(directory: Path) -> list[Path]:
    """Privacy curves of the two poles, of what lies between them, and the bounds from chi-square."""
    panels = [_privacy_curves(direction) for direction in members(Direction)]
    return write("alphabets.fig-4", panels, "privacy curves of canonical pairs, upper ends", directory, columns=2)


def figure_5(directory: Path) -> list[Path]:
    """The poles: largest chi-square of GRR and of half-block, with the universal bound, exact where rational."""
    text = io.StringIO()
    text.write("# alphabets.fig-5: largest pairwise chi-square of the two poles and the universal bound\n")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["lam", "k", "GRR", "half-block", "bound (lam-1)^2/lam"])
    for lam in CAPS:
        bound = largest_chi_square(lam)
        for k in ALPHABETS:
            rows.writerow([lam, k, *map(_shown, (_grr(k, lam).chi_square, _half_block(k, lam).chi_square, bound))])
    path = directory / "alphabets.fig-5.csv"
    write_atomically(path, text.getvalue())
    return [path]


def _shown(value: Number) -> str:
    return f"{float(value):.15g}"


def _distances(under: Under) -> Panel:
    """Exact Kolmogorov distances of two laws against the number of users, with their bounds."""
    curves = []
    for (name, law), look in zip((("binary", endpoint_ratio(LAM)), ("GRR, k = 10", _grr(10))), SERIES, strict=False):
        found = [(n, kolmogorov_distance(law, n, under=under), berry_esseen_bound(law, n, under=under)) for n in SIZES]
        for label, dash, column in ((name, "-", 1), (f"{name}: bound", (0, (4, 3)), 2)):
            points = tuple((float(row[0]), float(upper_end(row[column]))) for row in found)
            curves.append(Series(label, points, Look(look.colour, dash)))
        if under == "P":  # the form of the paper: E|g-1|^3 at most (lam - 1) chi^2
            coarser = (LAM - 1) * law.chi_square / law.third_absolute_moment
            points = tuple((float(n), float(upper_end(bound * coarser))) for n, _, bound in found)
            curves.append(Series(f"{name}: 0.4748 (lam - 1)/sqrt(n chi^2)", points, Look(look.colour, ":")))
    axes = "n (users)", "sup |Pr[T <= t] - Phi(t)|"
    return Panel(f"score and normal law, under {under}", axes, tuple(curves), ("log", "log"))


def figure_6(directory: Path) -> list[Path]:
    """Exact Kolmogorov distances and Berry-Esseen bounds against the number of users."""
    panels = [_distances(under) for under in members(Under)]
    return write("alphabets.fig-6", panels, "exact distances and bounds, lam = 3", directory, columns=2)


REPRODUCE: Final = {"alphabets.fig-4": figure_4, "alphabets.fig-5": figure_5, "alphabets.fig-6": figure_6}
