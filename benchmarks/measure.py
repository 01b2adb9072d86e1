"""What every section of the page needs: the clock, the shape of a table, and a goal with its verdict."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeVar

from symshuffle import epsilon, randomizer
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.engines.registry import Engine

MILLIONTH: Final = Fraction(1, 10**6)

T = TypeVar("T")


class Goal(NamedTuple):
    """A requirement of the project, what this run measured, and whether that is enough."""

    requirement: str
    measured: str
    reached: bool

    @property
    def verdict(self) -> str:
        return "reached" if self.reached else "**not reached**"


class Section(NamedTuple):
    """A part of the page, and the goals that it decides."""

    text: str
    goals: tuple[Goal, ...] = ()


def seconds(run: Callable[[], object], repeats: int = 7) -> float:
    """Median process time of a call; the first one warms caches and does not count when there are several."""
    if repeats > 2:
        run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """Result and process time of one call."""
    start = time.process_time()
    result = run()
    return result, time.process_time() - start


def duration(took: float) -> str:
    """A time with two or three digits, in the unit that suits it."""
    return f"{1e3 * took:.3g} ms" if took < 0.1 else f"{took:.2f} s"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown writes it."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def power(n: int) -> str:
    """A power of ten as it is written on the page."""
    return f"10^{len(str(n)) - 1}"


def ten_ary(eps0: str) -> Reduction:
    """10-ary randomized response, the mechanism of the published comparisons."""
    return reduction(randomizer("krr", k=10, eps0=eps0))


def level(source: Reduction, n: int, engine: Engine | None = None) -> Fraction:
    """A level eps at which delta is near 1e-6."""
    return epsilon(source, n=n, delta=MILLIONTH, engine=engine, rtol=1e-4).bracket.upper
