"""A sweep over eps0, an inverse and a repeated reduction: what mechanisms cost beside k-ary randomized response.

python -m benchmarks.budgets
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

from benchmarks.measure import Goal, Section, duration, seconds, table
from symshuffle import delta, largest_eps0, randomizer
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.mechanisms.model import Mechanism

SMALL, LARGE = 1_000, 10**6


def sweep(source: Mechanism, n: int) -> Callable[[], object]:
    """Ten deltas over eps0 from 1 to 1.9, never twice at the same budget, so that no reduction is found again."""
    runs = itertools.count()
    eps = Fraction(1, 4) if n == LARGE else Fraction(1, 10)

    def run() -> None:
        moved = Fraction(next(runs), 10**6)
        for i in range(10):
            delta(source.at(eps0=Fraction(10 + i, 10) + moved), eps=eps, n=n)

    return run


def section() -> Section:
    """Times and their ratios to those of k-ary randomized response, in one run."""
    krr = randomizer("krr", k=10)
    others = {
        "rappor, D = 10": randomizer("rappor", D=10),
        "rappor, limit": randomizer("rappor"),
        "subset-selection": randomizer("subset-selection", k=10, s=4),
        "olh": randomizer("olh", D=10, g=4),
    }
    tasks: dict[str, Callable[[Mechanism], Callable[[], object]]] = {
        f"ten deltas, n = {SMALL}": lambda one: sweep(one, SMALL),
        f"ten deltas, n = {LARGE}": lambda one: sweep(one, LARGE),
        "largest_eps0, n = 10^6": lambda one: lambda: largest_eps0(one, n=LARGE, eps="1/4", delta="1e-6"),
    }
    lines, goals = [], []
    for task, make in tasks.items():
        base = seconds(make(krr), 5)
        found = {name: seconds(make(one), 5) / base for name, one in others.items()}
        lines.append((task, duration(base), *(f"{ratio:.2f}" for ratio in found.values())))
        most = 3 if "solve" in task else 2
        worst = max(ratio for name, ratio in found.items() if "rappor" in name)
        goals.append(Goal(f"{task}: RAPPOR at most {most} times k-RR", f"{worst:.2f} times", worst <= most))
    at = others["rappor, D = 10"].at(eps0=1)
    again = seconds(lambda: reduction(at))
    one = seconds(lambda: delta(at, n=LARGE, eps="1/4"))
    goals.append(Goal("a second reduction is free", f"{again / one:.4f} of one delta", again <= one / 50))
    head = ("", "krr, k = 10", *others)
    return Section(f"## Sweeps over the budget\n\n{table(head, lines)}", tuple(goals))


if __name__ == "__main__":
    found = section()
    print(found.text, *found.goals, sep="\n")
