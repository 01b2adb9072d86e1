"""Figures 1 to 8, computed: CSV and picture side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeAlias

from proofs_checks.decomposition import _curves as curves
from proofs_checks.decomposition._curves import Bound, mechanism, together
from proofs_checks.decomposition._panels import (
    BLACK,
    BLUE,
    GREEN,
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
from proofs_checks.decomposition.appendix_b_laplace import APPENDIX_B
from symshuffle.base.numbers import Exp, to_float
from symshuffle.decompositions.composition import Part, hamming, joint, parallel, subsample
from symshuffle.ledger.claims.model import Claim
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism

CLAIMS: Final[tuple[Claim, ...]] = ()

BUDGETS: Final = (Fraction(1, 10), Fraction(4))
"""The low and the large eps0 of the paper."""

SIZES: Final = (1000, 10_000)
"""Numbers of users at which delta is drawn against eps."""

USERS: Final = (1000, 3162, 10_000, 100_000, 1_000_000)
POINTS: Final = 11
REACH: Final = Fraction(13, 10)
"""Levels go this far beyond the eps at delta = 1e-6: there delta is about 1e-10."""

SHOWN: Final = (1e-10, 1.0)

_UPPER: Final = Look(BLUE, width=2.2)
_ATTAINED: Final = Look(BLACK, (0, (4, 3)), width=1.1)
_HOEFFDING: Final = Look(ORANGE, "-.")
_BENNETT: Final = Look(VERMILION, (0, (6, 2)))
_CLONE: Final = Look(PURPLE, ":", width=2.0)
_JOINT: Final = {2: Look(SKY, marker="o"), 4: Look(GREEN, marker="s")}

Drawn: TypeAlias = tuple[Bound, Look]


def _row(title: str, eps0: Fraction, drawn: Sequence[Drawn], *, leading: int | None = None) -> list[Panel]:
    """Delta against eps at both sizes, and eps against n; the levels cover the first ``leading`` bounds."""
    setting = f"{title}, ε₀ = {float(eps0):g}"
    reached = [bound.amplification(USERS) for bound, _ in drawn]
    found = []
    for n in SIZES:
        last = max(eps[USERS.index(n)] for eps in reached[:leading])
        levels = [min(REACH * last, eps0) * j / (POINTS - 1) for j in range(POINTS)]
        profiles = [bound.profile(n, levels) for bound, _ in drawn]
        found.append(Panel(f"{setting}, n = {n}", ("ε", "δ"), _series(drawn, levels, profiles), shown=SHOWN))
    users = [Fraction(n) for n in USERS]
    against = Panel(f"{setting}, δ = 1e-6", ("n (users)", "ε"), _series(drawn, users, reached), ("log", "log"))
    return [*found, against]


def _series(drawn: Sequence[Drawn], x: Sequence[Fraction], y: Sequence[Sequence[Fraction]]) -> tuple[Series, ...]:
    return tuple(
        Series(bound.label, tuple(zip(map(float, x), map(float, heights), strict=True)), look)
        for (bound, look), heights in zip(drawn, y, strict=True)
    )


def _all_bounds(title: str, of: Mechanism | None) -> list[Panel]:
    """Every bound on one mechanism, or without one on Laplace noise, at both budgets."""
    panels = []
    for eps0 in BUDGETS:
        whole: curves.Single = of or "laplace"
        drawn = [
            (curves.optimal("optimal upper bound", whole, eps0), _UPPER),
            (curves.attained("real pair of datasets (lower bound)", whole, eps0), _ATTAINED),
            (curves.hoeffding("blanket, Hoeffding", whole, eps0), _HOEFFDING),
            (curves.bennett("blanket, Bennett", whole, eps0), _BENNETT),
            (curves.clone("standard clone", eps0), _CLONE),
        ]
        if of is not None:
            drawn += [(curves.optimal(f"{m}-joint, optimal", together(of, m), eps0), _JOINT[m]) for m in (2, 4)]
        panels += _row(title, eps0, drawn, leading=1)
    return panels


def _upper_bounds(title: str, named: Sequence[tuple[str, Part]], budgets: Sequence[Fraction] = BUDGETS) -> list[Panel]:
    """The optimal bounds of several mechanisms."""
    panels = []
    for eps0 in budgets:
        bounds = [curves.optimal(label, part, eps0) for label, part in named]
        panels += _row(title, eps0, list(zip(bounds, SERIES, strict=False)))
    return panels


def _ten_rr() -> Mechanism:
    return mechanism("krr").at(k=10)


def _figure_1() -> list[Panel]:
    parts = {"10-RR": _ten_rr(), "BLH": mechanism("blh"), "RAPPOR": mechanism("rappor"), "OUE": mechanism("oue")}
    parts["Hadamard"] = mechanism("hadamard")
    panels = []
    for eps0 in BUDGETS:
        bounds = [curves.optimal(name, part, eps0) for name, part in parts.items()]
        bounds += [curves.optimal("Laplace", "laplace", eps0), curves.clone("standard clone", eps0)]
        drawn = list(zip(bounds, SERIES, strict=True))
        panels += _row("all mechanisms", eps0, drawn, leading=len(parts))
    return panels


def _figure_4() -> list[Panel]:
    first, second = _ten_rr(), mechanism("blh")
    whole = parallel((first, second), (Fraction(1, 2), Fraction(1, 2)))
    return _upper_bounds("parallel", [("10-RR", first), ("BLH", second), ("½ 10-RR + ½ BLH", whole)])


def _figure_5() -> list[Panel]:
    rappor = mechanism("rappor")
    named: list[tuple[str, Part]] = [(f"D = {d}", rappor.at(D=d)) for d in (2, 3, 4, 5, 8)]
    return _upper_bounds("RAPPOR", [*named, ("D → ∞", rappor)], (BUDGETS[0], Fraction(1), BUDGETS[1]))


def _figure_6() -> list[Panel]:
    panels, whole = [], _ten_rr()
    for eps0 in BUDGETS:
        drawn: list[Drawn] = []
        for p, look in zip((Fraction(1, 10), Fraction(1, 2), Fraction(1)), SERIES, strict=False):
            part = subsample(whole, p) if p < 1 else whole
            lower = curves.attained(f"p = {p}, lower bound", whole, eps0, participation=p)
            drawn += [
                (curves.optimal(f"p = {p}", part, eps0), look),
                (lower, replace(look, colour=BLACK, width=0.8)),
            ]
        panels += _row("10-RR, participation p", eps0, drawn)
    return panels


def _figure_7() -> list[Panel]:
    whole = joint(*[_ten_rr()] * 4)
    return _upper_bounds("four 10-RR", [(f"d = {d}", hamming(whole, d)) for d in (1, 2, 3, 4)])


def _figure_8() -> list[Panel]:
    """The distribution function of L: the closed form of Appendix B, and the library's law in a few cells."""
    eps0, eps, cells = Fraction(1), Fraction(1, 10), 20
    lam, x = to_float(Exp(eps0)), to_float(Exp(eps))
    gamma = float(APPENDIX_B.printed("gamma", float(eps0)))
    bottom, middle, top = 1 - lam * x, 1 - x, lam - x  # of L/gamma
    exact = [(gamma * bottom - 0.1, 0.0), (gamma * bottom, 0.0)]
    for what, low, high in (("lower cdf", bottom, middle), ("upper cdf", middle, top)):
        for j in range(101):
            t = low + (high - low) * j / 100
            exact.append((gamma * t, float(APPENDIX_B.printed(what, float(eps0), x, t))))
    exact += [(gamma * top, 1.0), (gamma * top + 0.1, 1.0)]
    law = Laplace(Exp(eps0), cells=cells).law(Exp(eps), side="lower")
    total, stairs = 0.0, [exact[0]]
    for value, weight in sorted((gamma * to_float(v), to_float(w) / gamma) for v, w in law.atoms() if v != 0):
        stairs += [(value, total), (value, total + weight)]
        total += weight
    stairs.append((exact[-1][0], total))
    drawn = (
        Series("closed form (Appendix B)", tuple(exact), _UPPER),
        Series(f"law of the library, {cells} cells a side", tuple(stairs), _ATTAINED),
    )
    title = f"Laplace on {{0, 1}}, ε₀ = {float(eps0):g}, ε = {float(eps):g}"
    return [Panel(title, ("t", "P(L ≤ t)"), drawn, ("linear", "linear"))]


_SETTING: Final = (
    "the paper states neither n nor delta nor axes: delta against eps at n = 1000 and 10000, eps against n at "
    "delta = 1e-6; eps in nats, replace-one adjacency; doubles, relative width "
    f"{curves.WIDTH}, upper bounds at the upper end, lower bounds at the lower end; nothing is clipped in these "
    f"numbers, the picture shows delta from {SHOWN[0]:g} to {SHOWN[1]:g}"
)
_BASELINES: Final = (
    f"{_SETTING}; large-domain limits; m-joint: budget eps0/m each, records that differ in all m coordinates; lower "
    "bound: all others hold a third input; closed forms: the smallest value up to each eps, since delta falls"
)
_LAPLACE: Final = f"Laplace noise on {{0, 1}}: its law in {curves.CELLS} cells"

_FIGURES: Final[dict[str, tuple[Callable[[], list[Panel]], str]]] = {
    "decomposition.fig-1": (_figure_1, f"{_SETTING}; large-domain limits; {_LAPLACE}, from above"),
    "decomposition.fig-2": (
        lambda: [
            *_all_bounds("10-RR", _ten_rr()),
            *_all_bounds("BLH", mechanism("blh")),
            *_all_bounds("RAPPOR", mechanism("rappor")),
        ],
        _BASELINES,
    ),
    "decomposition.fig-3": (
        lambda: [*_all_bounds("OUE", mechanism("oue")), *_all_bounds("Laplace", None)],
        f"{_BASELINES}; {_LAPLACE}, lower bound with the second input of the pair, no joint compositions",
    ),
    "decomposition.fig-4": (_figure_4, f"{_SETTING}; BLH in the large-domain limit"),
    "decomposition.fig-5": (_figure_5, _SETTING),
    "decomposition.fig-6": (_figure_6, f"{_SETTING}; who does not take part sends a symbol of its own"),
    "decomposition.fig-7": (_figure_7, f"{_SETTING}; records differ in exactly d of 4 coordinates, eps0/4 each"),
    "decomposition.fig-8": (
        _figure_8,
        "distribution function of the blanket variable L of Laplace noise, by the closed form of Appendix B; beside it "
        "the finite law of the library with equal outputs merged, which crosses it in every cell",
    ),
}


def _figure(name: str) -> Callable[[Path], list[Path]]:
    draw, remark = _FIGURES[name]
    return lambda directory: write(name, draw(), remark, directory)


REPRODUCE: Final = {name: _figure(name) for name in _FIGURES}
