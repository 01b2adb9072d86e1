"""False certificates of frontiers, of the best laws on templates and of the largest members of a family."""

import math
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from symshuffle import Bracket, Exp
from symshuffle.utility import trace_frontier
from symshuffle.utility.frontiers.certificate import DualCertificate, Frontier
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, subset_orbit
from tests.soundness.false_certificates import WIDE, exactly, false


@cache
def frontier(k: int = 5, budget: F | float = F("1/8"), lam_cap: Any = None) -> Frontier:
    """A true one."""
    return trace_frontier(k, budget, lam_cap=lam_cap)


FREE = DualCertificate(5, F(0), F(1000))


def _frontier(name: str, place: str, **changes: Any) -> None:
    false(f"frontier: {name}", place, lambda: replace(frontier(), **{"trace": WIDE} | changes).verify())


def _line(name: str, place: str, *arguments: Any) -> None:
    false(f"line: {name}", place, lambda: DualCertificate(*arguments).verify())


_line("one input", "k", 1, F(0), F(0))
_line("half an input", "k", 2.5, F(0), F(1000))
_line("falls", "eta", 5, F(-1), F(1000), F(2))
_line("cap 1", "lam_cap", 3, F(0), F(0), F(1))
_line("below all curves", "curves[0]", 5, F(0), F(0), F(3))
false(
    "line: crosses a curve",
    "curves[0]",
    lambda: replace(c := frontier(4, F("0.0696599"), F("7/5")).certificate, intercept=c.intercept - F("1e-9")).verify(),
)


def _law(name: str, place: str, *orbits: Orbit, **changes: Any) -> None:
    _frontier(name, place, orbits=orbits, certificate=FREE, **changes)


_law("a double as weight", "orbits[0].weight", Orbit(1.0, centre_orbit(5).levels))  # type: ignore[arg-type]
_law("a negative weight", "orbits[1].weight", subset_orbit(5, 1, F(3), F(2)), centre_orbit(5, F(-1)), budget=F(10))
_law("half a coordinate", "orbits[0].levels", Orbit(F(1), ((2.5, F(1)), (2.5, F(1)))))  # type: ignore[arg-type]
_law("coordinates below 0", "orbits[0].levels", Orbit(F(1), ((6, F(1)), (-1, F(1)))))
_law("a double as level", "orbits[0].levels", Orbit(F(1), ((5, 1.0),)))  # type: ignore[arg-type]
_law("a negative level", "orbits[0].levels", Orbit(F(1), ((1, F(-1, 2)), (4, F(11, 8)))), budget=F(10))
_law("other inputs", "orbits[0].levels", Orbit(F(1), ((10, F(1, 2)),)))
_law("1000 coordinates of 1/2", "orbits[0].levels", Orbit(F(1), ((1000, F(1, 2)),)), budget=F(0), trace=exactly(250))
_law("no template", "orbits[0].levels", Orbit(F(1), ((5, F(2)),)))
_law("no coordinates", "orbits[0].levels", Orbit(F(1), ()))
_law("no orbits", "orbits")
_law("half the weight", "orbits", centre_orbit(5, F(1, 2)))
_law("beyond the budget", "orbits", subset_orbit(5, 1, F(3)), budget=F(1, 100))
_law("beyond the cap", "orbits[0].levels", subset_orbit(5, 1, F(3)), budget=F(10), lam_cap=F(2))
_law("zeros under a cap", "orbits[0].levels", Orbit(F(1), ((1, F(5)), (4, F(0)))), budget=math.inf, lam_cap=F(2))
_frontier("not a budget", "budget", budget=math.nan)
_frontier("another k", "certificate.k", k=7)
_frontier("a certificate of another k", "certificate.k", certificate=DualCertificate(6, F(0), F(1000)))
_frontier("a rising line without a budget", "certificate.eta", budget=math.inf)
_frontier("a line that falls", "certificate.eta", certificate=DualCertificate(5, F(-1), F(1000), F(2)))
_frontier("a trace above the law", "trace", trace=Bracket(F(1), F(1000), "exact", "", ""))
_frontier("a trace below the line", "trace", trace=exactly(0))
for cap, other in ((None, "7/5"), (F(2), "7/5"), (Exp(F(1)), "7/5")):
    false(
        f"frontier: a line for the cap {other} where {cap} is allowed",
        "certificate.lam_cap",
        lambda cap=cap: replace(frontier(4, F("0.0696599"), F("7/5")), lam_cap=cap).verify(),
    )
