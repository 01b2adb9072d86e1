"""The whole grid: every engine on every point it accepts, and the points that fewer than two engines tell much about.

    python -m tests.conformance.grid [--slice K --offset I] [--jobs N] [--out FILE]

Points are mechanism x size x eps0 x n x target delta. A saddle-point estimate, which is no engine, proposes the level
at which delta is about the target; there every engine answers, for every law of the bound in both directions, and every
two of their brackets must overlap. Where delta is below the target already at eps = 0 they answer there; where it is
above the target up to eps0 they answer just below eps0, and at eps0 itself, where only the singular mass may be left.

``--slice K --offset I`` takes every K-th mechanism with a budget (in an order shuffled once), so that K runs make up
the grid. ``--out`` receives one JSON object for each point, and appears when the run is complete. Exit status 1 if two
engines disagree or one fails other than by a refusal.
"""

import argparse
import itertools
import json
import math
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from symshuffle import Bracket, Exp, Law, SymshuffleError, randomizer
from symshuffle.accountants.deployment.reduced import LawFamily, Reduction, laws, mixed_laws
from symshuffle.accountants.deployment.reduction import Source, reduction
from symshuffle.base.numbers import lower_end, to_float, upper_end
from symshuffle.channels.mixed_law import MixedLaw
from symshuffle.decompositions import Composed
from symshuffle.decompositions.composition.operators import parse
from symshuffle.engines.registry import ENGINES, engine_classes
from symshuffle.mechanisms import Laplace
from symshuffle.mechanisms.registry import EXAMPLES, LARGE, MECHANISMS

BUDGETED = [name for name, make in MECHANISMS.items() if any(p.name == "lam" for p in make().parameters)]
SIZED: dict[str, list[Mapping[str, Any]]] = {
    **{name: [*EXAMPLES[name], *LARGE.get(name, ())] for name in BUDGETED},
    "laplace": [{"domain": "binary"}, {"domain": "unit"}],
    "joint(krr(k=10),2)": [{}],
    "joint(oue(D=10),2)": [{}],
    "parallel(1/2:krr(k=10),1/2:blh)": [{}],
    "subsample(krr(k=10),1/10)": [{}],
    "hamming(joint(krr(k=4),3),2)": [{}],
}
"""Sizes of what has a budget: the examples of every mechanism, Laplace noise, and compositions."""
UNBUDGETED: dict[str, list[Mapping[str, Any]]] = {
    name: list(EXAMPLES[name]) for name in MECHANISMS if name not in BUDGETED
}
BUDGETS = ("0.001", "0.1", "1", "4", "12")
USERS = (1, 2, 10, 10**3, 10**6, 10**9, 10**12)
TARGETS = ("0.5", "0.01", "1e-6", "1e-20", "1e-100")
FIXED_LEVELS = (Fraction(0), Fraction(1, 5))
"""Levels for what has no budget, and therefore no target that some level meets."""
BITS = 256
CELLS = 20
"""Cells of the Laplace law: its two sides are laws like any others, and fewer atoms cost less."""
LABELS = tuple(ENGINES)


@dataclass(frozen=True, slots=True)
class Family:
    """What every user runs."""

    name: str
    values: tuple[tuple[str, Any], ...]
    budget: str | None

    def __str__(self) -> str:
        fixed = ", ".join(f"{key}={value}" for key, value in self.values)
        shown = f"{self.name}({fixed})" if fixed else self.name
        return shown if self.budget is None else f"{shown} eps0={self.budget}"

    def source(self) -> Source:
        """The same as the library knows it."""
        values = dict(self.values)
        if self.budget is None:
            return randomizer(self.name).at(**values)
        if self.name == "laplace":
            return Laplace(Exp(Fraction(self.budget)), cells=CELLS, **values)
        if "(" in self.name:
            return Composed(parse(self.name), Exp(Fraction(self.budget)))  # type: ignore[arg-type]  # no bare mechanism
        return randomizer(self.name).at(eps0=self.budget, **values)

    def points(self) -> list[tuple[int, str | None]]:
        """Users and target of every point."""
        return list(itertools.product(USERS, (None,) if self.budget is None else TARGETS))


@dataclass(frozen=True, slots=True)
class Answer:
    """What happened at a point, in a form that JSON holds.

    Parameters
    ----------
    family, n, target
        The point.
    levels : tuple of text
        Where the engines answered.
    told : dict
        For each engine that answered on all laws of the point, whether each of its brackets is within a factor 2.
    comparisons : list of dict
        For each law: level, which law, the brackets, and why an engine refused.
    disagreements : list of text
        What cannot be true at the same time.
    seconds : float
        What it took.
    """

    family: str
    n: int
    target: str | None
    levels: tuple[str, ...]
    told: dict[str, bool]
    comparisons: list[dict[str, Any]]
    disagreements: list[str]
    seconds: float

    def __str__(self) -> str:
        return f"{self.family} n={self.n}" + ("" if self.target is None else f" delta={self.target}")

    @property
    def engines(self) -> tuple[str, ...]:
        """Engines that tell something about the point."""
        return tuple(label for label, tells in self.told.items() if tells)


def families() -> list[Family]:
    """All families, shuffled once: every slice is a fair sample."""
    found = [
        Family(name, tuple(values.items()), budget)
        for name, sizes in SIZED.items()
        for values, budget in itertools.product(sizes, BUDGETS)
    ]
    found += [Family(name, tuple(values.items()), None) for name, sizes in UNBUDGETED.items() for values in sizes]
    random.Random(20261121).shuffle(found)
    return found


def engines(law: Law | MixedLaw) -> list[tuple[str, Any]]:
    """Every engine of the registry that takes the law; where the first setting of one refuses, the next is tried."""
    mixed = isinstance(law, MixedLaw)
    found = ((label, kind) for label, kind in engine_classes() if kind.continuous or not mixed)
    return [(label, engine) for label, kind in found for engine in kind.trials(law)]


def brackets(law: Law | MixedLaw, n: int) -> tuple[dict[str, Bracket], dict[str, str], list[str]]:
    """The brackets of all engines that accept a law, why the others do not, and what went wrong."""
    faults: list[str] = []
    found: dict[str, Bracket] = {}
    refused: dict[str, str] = {}
    for label, engine in engines(law):
        if label not in found:
            try:
                found[label] = engine.bracket(law, n)
            except SymshuffleError as reason:
                refused[label] = str(reason)
            except Exception as fault:  # anything but a refusal is a finding, and the run goes on
                faults.append(f"{label} raised {fault!r}")
    return found, {label: reason for label, reason in refused.items() if label not in found}, faults


def contradictions(law: Law | MixedLaw, found: dict[str, Bracket]) -> Iterator[str]:
    """Brackets that do not overlap, or that leave something where nothing but the singular mass can be."""
    for (one, first), (other, second) in itertools.combinations(found.items(), 2):
        if first.lower > second.upper or second.lower > first.upper:
            yield f"{one} {first} against {other} {second}"
    if law.never_positive:
        ends = lower_end(law.singular), upper_end(law.singular)
        for label, bracket in found.items():
            if (bracket.lower, bracket.upper) != ends:
                yield f"{label} {bracket} where G is never positive"


def log_estimate(family: LawFamily, level: Fraction, n: int) -> float:
    """Logarithm of delta by the saddle-point approximation, given that not every copy of G is 0."""
    law = family(Exp(level), "forward", 64)
    values, weights = (np.array([to_float(x) for x in side]) for side in (law.values, law.weights))
    singular = to_float(law.singular)
    if float(values.max()) <= 0:
        return math.log(singular) if singular else -math.inf
    c = np.geomspace(1e-3 / n / float(np.abs(values).max()), 2e3 / float(values.max()), 500)
    terms = weights * np.exp(np.outer(c, values - values.max()))
    grown = terms.sum(axis=1)
    cumulants = np.log(grown) + c * float(values.max())
    slope = terms @ values / grown
    curvature = terms @ values**2 / grown - slope**2
    idle = n * (math.log(max(float(weights[values == 0].sum()), 1e-300)) - cumulants)
    moving = -np.expm1(np.minimum(idle, -1e-12))  # the tilted chance that some copy is not 0
    first, second = n * slope / moving, (n * curvature + (n * slope) ** 2) / moving
    spread = np.maximum(second - first**2, 0) + 2 / c**2
    powers = n * cumulants + np.log(moving) - 2 * np.log(c)
    best = int(np.argmin(powers))
    found = float(powers[best] - np.log(2 * math.pi * spread[best]) / 2 - math.log(n))
    return found if singular == 0 else math.log(singular + math.exp(found))


def levels(bound: LawFamily, budget: str | None, n: int, target: str | None) -> list[Fraction]:
    """Where the engines answer: about where delta is the target, or at the ends of [0, eps0]."""
    if budget is None or target is None:
        return list(FIXED_LEVELS)
    goal = math.log(float(target))
    low, high = Fraction(0), Fraction(budget)
    if log_estimate(bound, low, n) <= goal:
        return [low]
    closest = high * Fraction(9999, 10000)
    if log_estimate(bound, closest, n) > goal:
        return [closest, high]
    for _ in range(16):  # on a logarithmic scale as soon as the lower end is positive
        middle = (low + high) / 2 if low else high / 8
        middle = Fraction(f"{float(middle):.7g}")
        if log_estimate(bound, middle, n) > goal:
            low = middle
        else:
            high = middle
    return [high]


def answer(family: Family, reduced: Reduction, n: int, target: str | None) -> Answer:
    """Let every engine that accepts the point answer, and compare."""
    start = time.perf_counter()
    told: dict[str, list[bool]] = {label: [] for label in LABELS}
    comparisons: list[dict[str, Any]] = []
    disagreements: list[str] = []
    chosen = levels(reduced.bounds[0], family.budget, n, target)
    for level in chosen:
        sides: dict[str, list[tuple[str, Bracket]]] = {}
        # In this order: where the law has a continuous part, it lies between two finite ones.
        for side, of, bounds in (
            ("inner", laws, reduced.inner),
            ("mixed", mixed_laws, reduced.mixed),
            ("bound", laws, reduced.bounds),
        ):
            for i, bound in enumerate(bounds):
                for law in of(bound, Exp(level), "both", BITS):
                    found, refused, faults = brackets(law, n)
                    faults += contradictions(law, found)
                    disagreements += (f"eps = {float(level)}: {fault}" for fault in faults)
                    sides.setdefault(side, []).extend(found.items())
                    for label in LABELS if side != "mixed" else ():
                        bracket = found.get(label)
                        told[label].append(bracket is not None and bracket.upper <= 2 * bracket.lower)
                    comparisons.append(_record(level, f"{side} {i}", law, found, refused))
        for low, high in itertools.combinations(sides, 2):
            for (one, inner), (other, outer) in itertools.product(sides[low], sides[high]):
                if inner.lower > outer.upper:
                    disagreements.append(f"eps = {float(level)}: {low} {one} {inner} above {high} {other} {outer}")
    return Answer(
        str(family),
        n,
        target,
        tuple(map(str, chosen)),
        {label: all(each) for label, each in told.items()},
        comparisons,
        disagreements,
        time.perf_counter() - start,
    )


def _record(
    level: Fraction, which: str, law: Law | MixedLaw, found: dict[str, Bracket], refused: dict[str, str]
) -> dict[str, Any]:
    ends = {label: bracket.decimals(12) for label, bracket in found.items()}
    shown = {label: [each["lower"], each["upper"]] for label, each in ends.items()}
    return {"eps": str(level), "law": which, "brackets": shown, "refused": refused}


def answers(family: Family) -> list[Answer]:
    """All points of a family; what is derived from the mechanism is derived once."""
    reduced = reduction(family.source())
    return [answer(family, reduced, n, target) for n, target in family.points()]


def run(chosen: Sequence[Family], jobs: int, out: Path | None) -> list[Answer]:
    """Answer on worker processes, telling every 5 % of the way on stderr how far it is."""
    start, found = time.monotonic(), []
    partial = None if out is None else out.with_name(out.name + ".partial")
    with ProcessPoolExecutor(jobs) as pool:
        told = 0
        for done, some in enumerate(pool.map(answers, chosen), start=1):
            found += some
            if partial is not None:
                with partial.open("a" if done > 1 else "w", encoding="utf-8") as lines:
                    lines.writelines(json.dumps(_jsonable(one)) + "\n" for one in some)
            if 20 * done // len(chosen) > told:
                told = 20 * done // len(chosen)
                spent = time.monotonic() - start
                print(f"{5 * told} % after {spent:.0f} s, {len(found)} points", file=sys.stderr, flush=True)
    if partial is not None and out is not None:
        partial.replace(out)
    return found


def _jsonable(one: Answer) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Answer.__slots__}


def report(found: Sequence[Answer]) -> int:
    """Print what was found; the number of disagreements."""
    print(f"{len(found)} points, {sum(bool(a.engines) for a in found)} told by some engine")
    for label in LABELS:
        answered = sum(any(label in c["brackets"] for c in a.comparisons) for a in found)
        print(f"  {label}: answered at {answered}, within a factor 2 at {sum(label in a.engines for a in found)}")
    thin = [a for a in found if len(a.engines) < 2]
    print(f"{len(thin)} points told by fewer than two engines")
    groups = Counter((a.family, a.n, ", ".join(a.engines) or "none") for a in thin)
    for (family, n, names), count in sorted(groups.items()):
        print(f"  {family} n={n}: {names} at {count} of the targets")
    shared = sum(set(a.engines) == {"contour", "ball"} for a in found)
    print(f"{shared} points told by the two contours alone, which share their constants but not their arithmetic")
    wrong = [a for a in found if a.disagreements]
    for a in wrong:
        print(f"DISAGREE {a}: {'; '.join(a.disagreements)}")
    print(f"{len(wrong)} points with a disagreement")
    return len(wrong)


def main() -> int:
    """Run the grid, or a slice of it, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slice", type=int, default=1, metavar="K", help="only every K-th mechanism with a budget")
    parser.add_argument("--offset", type=int, default=0, metavar="I", help="the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="worker processes")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON lines, one for each point")
    arguments = parser.parse_args()
    return 1 if report(run(families()[arguments.offset :: arguments.slice], arguments.jobs, arguments.out)) else 0


if __name__ == "__main__":
    sys.exit(main())
