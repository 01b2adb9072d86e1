"""The whole grid: every engine on every point it accepts, and the points that fewer than two engines cover.

    python -m tests.conformance.grid [--slice K]

Points are mechanism x size x eps0 x n x target delta. At each point the contour finds the level at which delta is the
target; there all engines answer, and every two of their brackets must overlap. Exit status 1 if two do not.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from symshuffle import FFT, BallContour, Bracket, Contour, Exact, Exp, Unsupported, epsilon, mechanism
from symshuffle.accountants.reduction import laws, reduction

SIZED = {
    "rr": [{}],
    "krr": [{"k": k} for k in (2, 3, 10, 1000)],
    "subset-selection": [{"k": k, "s": max(1, k // 3)} for k in (3, 10, 1000)],
    "aug-rr": [{"k": k, "p": "1/2"} for k in (3, 10, 1000)],
    "half-block": [{"k": k} for k in (2, 10)],
    "rappor": [{"D": d} for d in (2, 3, 10, 1000)],
    "oue": [{"D": d} for d in (2, 3, 10, 1000)],
    "blh": [{"D": d} for d in (2, 3, 10, 1000)],
    "olh": [{"D": d, "g": 4} for d in (2, 10, 1000)],
    "hadamard": [{"D": d} for d in (4, 16, 1024)],
}
BUDGETS = ("0.001", "0.1", "1", "4", "12")
USERS = (1, 2, 10, 10**3, 10**6, 10**9)
TARGETS = ("0.5", "0.01", "1e-6", "1e-20", "1e-100")


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the grid."""

    name: str
    values: tuple[tuple[str, object], ...]
    budget: str
    n: int
    target: str

    def __str__(self) -> str:
        fixed = ",".join(f"{key}={value}" for key, value in self.values)
        return f"{self.name}({fixed}) eps0={self.budget} n={self.n} delta={self.target}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What happened at a point: the engines that answered, or why there is nothing to answer, and any disagreement."""

    point: Point
    engines: tuple[str, ...] = ()
    nothing: str = ""
    disagreement: str = ""


def grid() -> list[Point]:
    """All points, in a fixed order."""
    return [
        Point(name, tuple(values.items()), *rest)
        for name, sizes in SIZED.items()
        for values in sizes
        for rest in itertools.product(BUDGETS, USERS, TARGETS)
    ]


def answer(point: Point) -> Answer:
    """Let every engine that accepts the point answer, and compare."""
    source = mechanism(point.name).at(eps0=point.budget, **dict(point.values))
    reduced = reduction(source)
    try:
        level = epsilon(reduced, n=point.n, delta=point.target, rel=1e-3, bits=256).bracket.upper
    except Unsupported as refusal:
        return Answer(point, nothing=str(refusal))
    if level == 0:
        return Answer(point, nothing="the target is met at eps = 0")
    brackets: dict[str, Bracket] = {}
    for law in laws(reduced.bounds[0], Exp(level), "both", 256):
        if law.never_positive:
            return Answer(point, nothing="only reached at eps0 itself")
        for label, engine in (
            ("contour", Contour(rel=1e-4, largest=5_000_000)),
            ("ball", BallContour(rel=1e-4, largest=100_000)),
            ("fft", FFT(largest=2**20)),
            ("exact", Exact(bits=256, largest_count=20_000)),
        ):
            if engine.refusal(law, point.n) is None:
                try:
                    brackets[label] = engine.bracket(law, point.n)
                except Unsupported:
                    continue
        for (one, first), (other, second) in itertools.combinations(brackets.items(), 2):
            if first.lower > second.upper or second.lower > first.upper:
                return Answer(point, tuple(brackets), disagreement=f"{one} {first} against {other} {second}")
    return Answer(point, tuple(brackets))


def main() -> int:
    """Run the grid, or every K-th point of it, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slice", type=int, default=1, metavar="K", help="only every K-th point")
    points = grid()[:: parser.parse_args().slice]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(answer, points, chunksize=4))
    asked = [a for a in answers if not a.nothing]
    thin = [a for a in asked if len(a.engines) < 2]
    wrong = [a for a in asked if a.disagreement]
    print(f"{len(points)} points, {len(points) - len(asked)} with nothing to compute, {len(asked)} answered")
    for label in ("contour", "ball", "fft", "exact"):
        print(f"  {label}: {sum(label in a.engines for a in asked)}")
    print(f"{len(thin)} points with fewer than two engines")
    for a in thin:
        print(f"  {a.point}: {', '.join(a.engines) or 'none'}")
    for a in wrong:
        print(f"DISAGREE {a.point}: {a.disagreement}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
