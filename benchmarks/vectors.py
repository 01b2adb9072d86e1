"""Mechanisms for vectors: how narrow brackets are with 10^3 to 10^6 users, in doubles and in balls, and what they cost.

python -m benchmarks.vectors [part of a row's name]

Costs are ratios to one bracket of 10-ary randomized response at the same number of users, in the same run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final

from benchmarks.measure import Goal, Section, duration, seconds, table, ten_ary, timed
from symshuffle import Answer, delta
from symshuffle.base.choices import Arithmetic, Relation, members
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
    VectorMechanism,
)

USERS: Final = (10**3, 10**4, 10**5, 10**6)
WIDTHS: Final = {"float64": 1e-8, "ball": 1e-12}
"""What is asked of a bracket, relative to its upper end."""

_LEVEL: Final = "--eps 0.5 --delta 1e-5 --adjacency zero-out"
FAMILIES: Final = ("bmg", "gaussian", "privunit", "clipped-linear", "sphere-linear")
SECONDS: Final = 10
"""What "within seconds" is held to mean, of process time for one bracket; an answer holds two where orders differ."""


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism at its parameters, and the level at 10^3 users; it falls like the root of their number."""

    name: str
    mechanism: VectorMechanism
    eps: Fraction
    blanket: str = "mechanism"


CASES: Final = (
    Case("bmg .95/4.6", BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5)), Fraction(1, 1500)),
    Case("bmg .5/2", BlanketMixedGaussian(Fraction(1, 2), Fraction(2), dimension=100), Fraction(1, 25)),
    Case(
        "bmg .95/4.6, largest blanket",
        BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5)),
        Fraction(1, 1500),
        "largest",
    ),
    Case("gaussian 4.6", LocalGaussian(Fraction(23, 5)), Fraction(1, 50), "largest"),
    Case("gaussian 2", LocalGaussian(Fraction(2)), Fraction(1, 8), "largest"),
    Case("gaussian 3, d = 100", LocalGaussian(Fraction(3), 100), Fraction(1, 15), "largest"),
    Case(
        "bmg .5/2, d = 100, largest blanket",
        BlanketMixedGaussian(Fraction(1, 2), Fraction(2), dimension=100),
        Fraction(1, 25),
        "largest",
    ),
    Case("privunit .8/.3, d = 16", PrivUnit(Fraction(4, 5), Fraction(3, 10), 16), Fraction(1, 4)),
    Case("sphere-linear .9, d = 16", SphereLinear(Fraction(9, 10), 16), Fraction(1, 20)),
    Case("sphere-linear .9, d = 1", SphereLinear(Fraction(9, 10), 1), Fraction(1, 5)),
)


def level(case: Case, n: int) -> Fraction:
    """Where delta is neither 0 nor near 1 at every number of users."""
    return (case.eps * 1000 / round((1000 * n) ** 0.5)).limit_denominator(10**6)


def bracketed(case: Case, n: int, adjacency: Relation, arithmetic: Arithmetic) -> Answer:
    """The bracket of one row, at the width that is asked of this arithmetic."""
    return delta(
        case.mechanism,
        n=n,
        eps=level(case, n),
        adjacency=adjacency,
        blanket=case.blanket,
        arithmetic=arithmetic,
        rtol=WIDTHS[arithmetic],
        attained=True,
    )


def rows(named: str) -> Iterator[tuple[tuple[str, ...], float, float, Arithmetic]]:
    """What is printed of each case, its relative width and the process time of a bracket."""
    krr = ten_ary("1")
    base = {n: seconds(lambda n=n: delta(krr, eps=Fraction(1, 10), n=n)) for n in USERS}  # type: ignore[misc]
    for case, n, adjacency, arithmetic in product(CASES, USERS, members(Relation), WIDTHS):
        if named in case.name:
            found, took = timed(lambda c=(case, n, adjacency, arithmetic): bracketed(*c))  # type: ignore[misc]
            width = float(found.bracket.relative_width or 0)
            brackets = 1 if adjacency == "replace-one" else 2  # both orders have one law
            cells = (case.name, f"{n:.0e}", adjacency, arithmetic, f"{float(found.bracket.upper):.3e}")
            yield (*cells, f"{width:.1e}", duration(took), f"{took / base[n]:.0f}"), width, took / brackets, arithmetic


def section(named: str = "") -> Section:
    """The table, and whether every width and every time is as asked."""
    if not any(named in case.name for case in CASES):
        raise SystemExit(f"part of a row's name = {named!r}: expected a part of {', '.join(c.name for c in CASES)}")
    found = list(rows(named))
    goals = [
        Goal(
            f"relative width at most {width:.0e} ({arithmetic}), vectors",
            f"{max(one for _, one, _, of in found if of is arithmetic):.1e}",
            all(one <= width for _, one, _, of in found if of is arithmetic),
        )
        for arithmetic, width in WIDTHS.items()
    ]
    slowest = max(took for _, _, took, _ in found)
    goals.append(Goal(f"a bracket of vectors within {SECONDS} s", duration(slowest), slowest <= SECONDS))
    head = ("", "n", "adjacency", "arithmetic", "delta", "width", "time", "times 10-RR")
    return Section(f"## Means of vectors\n\n{table(head, [cells for cells, *_ in found])}", tuple(goals))


if __name__ == "__main__":
    measured = section(*sys.argv[1:2])
    print(measured.text, *measured.goals, sep="\n")
    sys.exit(int(not all(goal.reached for goal in measured.goals)))
