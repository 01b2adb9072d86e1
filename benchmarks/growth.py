"""Time and memory against users, inputs, dimension, atoms and rounds, each on a log-log picture with its slope.

python -m benchmarks.growth    draw the picture into docs/pictures, and print the section of the page
"""

from __future__ import annotations

import io
import json
import math
import random
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measure import Section, duration, seconds, table
from benchmarks.scaling import megabytes
from symshuffle import Law, delta, epsilon, randomizer
from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.vectors import SphereLinear

PICTURE: Final = Path(__file__).parents[1] / "docs" / "pictures" / "growth.svg"
_ONCE: Final = 0.3
"""Seconds from which on a call is timed only once."""


class Series(NamedTuple):
    """One question at growing values of one thing; the others are fixed."""

    name: str
    question: str
    values: tuple[int, ...]
    ask: Callable[[int], object]


def _of_users(n: int) -> object:
    source = randomizer("krr", k=10, eps0=1)
    return delta(source, n=n, eps=Fraction(1, round(10 * math.sqrt(n / 1000))), rtol=1e-6)


def _of_inputs(k: int) -> object:
    return epsilon(randomizer("krr", k=k, eps0=2), n=10**6, delta="1e-8")


def _of_dimensions(d: int) -> object:
    source = SphereLinear(Fraction(1, 2), d)
    return delta(source, n=1000, eps=Fraction(1, 5), adjacency="zero-out", rtol=1e-3)


def _of_atoms(m: int) -> object:
    """A law of mean -1/4, with values that share no lattice."""
    chance = random.Random(m)
    values = [Fraction(chance.randint(-(10**9), 10**9), 10**9) for _ in range(m)]
    mean = sum(values, start=Fraction(0)) / m
    law = Law(tuple(value - mean - Fraction(1, 4) for value in values), (Fraction(1, m),) * m)
    return evaluate_law(law, 100, rtol=1e-6)


def _of_rounds(times: int) -> object:
    return epsilon(randomizer("krr", k=50, eps0=2), n=200_000, periods=times, delta="1e-8")


SERIES: Final = (
    Series("users n", "delta of 10-RR at eps0 = 1", tuple(10**i for i in range(3, 13)), _of_users),
    Series("inputs k", "epsilon of k-RR at eps0 = 2, n = 10^6", tuple(10**i for i in range(1, 7)), _of_inputs),
    Series("dimension d", "delta of sphere-linear, zero-out, n = 1000", (2, 4, 8, 16, 32, 64), _of_dimensions),
    Series("atoms", "H(100) of a law without a lattice", (4, 8, 16, 32, 64, 128, 256), _of_atoms),
    Series("rounds", "epsilon of rounds of 50-RR, n = 200,000", (3, 10, 30, 100, 300, 1000), _of_rounds),
)


def measured(series: Series) -> list[tuple[int, float, float]]:
    """Value, seconds and peak memory in MB up to there, in this process."""
    found = []
    for value in series.values:
        took = seconds(lambda value=value: series.ask(value), 1)  # type: ignore[misc]
        took = took if took > _ONCE else seconds(lambda value=value: series.ask(value), 3)  # type: ignore[misc]
        found.append((value, took, megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)))
    return found


def slope(places: Sequence[float], heights: Sequence[float]) -> float:
    """The slope of the least-squares line through the logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in zip(places, heights, strict=True)]
    mean, height = (sum(part) / len(logs) for part in zip(*logs, strict=True))
    return sum((x - mean) * (y - height) for x, y in logs) / sum((x - mean) ** 2 for x, _ in logs)


def drawn(found: Mapping[str, Sequence[tuple[int, float, float]]]) -> bytes:
    """Time above and memory below, a column for each series."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    figure = Figure(figsize=(2.6 * len(found), 5), layout="constrained")
    axes = figure.subplots(2, len(found), squeeze=False)
    for column, (name, points) in enumerate(found.items()):
        places, *kinds = zip(*points, strict=True)
        for row, (heights, unit) in enumerate(zip(kinds, ("CPU time in s", "peak memory in MB"), strict=True)):
            here = axes[row][column]
            here.loglog(places, heights, "o-", color="#0072B2")
            here.set(xlabel=name, ylabel=unit, title=f"slope {slope(places, heights):.2f}")
            here.set_ylim(10.0 ** math.floor(math.log10(min(heights))), 10.0 ** math.ceil(math.log10(max(heights))))
            here.minorticks_off()
            for axis in (here.xaxis, here.yaxis):
                axis.set_major_locator(LogLocator(numticks=3))
                axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "symshuffle", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(rb"<!--.*?-->|(?<=>)\s+(?=<)", b"", stream.getvalue())  # the picture stays small


def section() -> Section:
    """The pictures with their slopes; every series has a process of its own."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    for series in SERIES:
        command = [sys.executable, "-m", "benchmarks.growth", series.name]
        run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
        found[series.name] = [(int(x), float(y), float(z)) for x, y, z in json.loads(run.stdout.splitlines()[-1])]
    PICTURE.write_bytes(drawn(found))
    rows = []
    for series in SERIES:
        places, times, memory = zip(*found[series.name], strict=True)
        steep, large = slope(places, times), slope(places, memory)
        first, last = f"{duration(times[0])} at {places[0]:,}", f"{duration(times[-1])} at {places[-1]:,}"
        rows.append((series.name, series.question, first, last, f"{steep:.2f}", f"{memory[-1]:.0f} MB", f"{large:.2f}"))
    head = ("against", "question", "first", "last", "slope of time", "peak memory", "slope of memory")
    text = f"""## How cost grows

CPU time and peak memory against one thing at a time, on logarithmic scales: slope 1 is proportional growth, 0 none.
Memory includes the interpreter and its libraries.

![CPU time and memory against users, inputs, dimension, atoms and rounds](pictures/growth.svg)

{table(head, rows)}"""
    return Section(text)


def main(arguments: Sequence[str]) -> int:
    """Print one series as JSON, or the section."""
    if arguments:
        (series,) = (one for one in SERIES if one.name == arguments[0])
        print(json.dumps(measured(series)))
    else:
        print(section().text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
