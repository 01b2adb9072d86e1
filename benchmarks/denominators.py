"""Times of what ratios are taken to, by names that the commit before the issue has too: run in a tree, prints JSON.

It imports nothing of this folder, because it runs in trees where that is another one.
"""

import json
import time
from collections.abc import Callable
from fractions import Fraction

from symshuffle import delta, epsilon, largest_eps0, randomizer
from symshuffle.accountants import amplification_curve

try:
    from symshuffle.base.choices import ProgramForm as Program
    from symshuffle.design.decision.problems import Problem
    from symshuffle.design.decision.tradeoff import smallest_risk
except ImportError:  # before rooms
    from symshuffle.design.problems import Problem
    from symshuffle.design.tradeoff import Program
    from symshuffle.design.tradeoff import bayes_tradeoff as smallest_risk

LONG = 0.3
"""Seconds from which on one call is enough."""


def ten_deltas(name: str, n: int, **values: int) -> None:
    """A sweep over eps0 from 1 to 1.9."""
    source, eps = randomizer(name).at(**values), "1/4" if n >= 10**6 else "1/10"
    for i in range(10):
        delta(source.at(eps0=Fraction(10 + i, 10)), eps=eps, n=n)


def narrow() -> Problem:
    """A problem of 18 inputs without symmetries, whose model and losses need no random generator."""
    model = []
    for t in range(6):
        masses = [2 ** ((7 * x * (t + 1) + 3 * x * x + t) % 8) for x in range(18)]
        model.append([Fraction(mass, sum(masses)) for mass in masses])
    loss = [[Fraction((5 * t + 3 * a + t * a) % 10) for a in range(6)] for t in range(6)]
    return Problem.of(model, loss, [Fraction(1, 6)] * 6)


KRR = randomizer("krr", k=10, eps0=1)
USERS = sorted({round(10 ** (3 + 4 * i / 29)) for i in range(30)})
TASKS: dict[str, Callable[[], object]] = {
    "k-RR, delta to 1e-6, n = 10^6": lambda: delta(KRR, n=10**6, eps="0.002"),
    "k-RR, delta to 1e-10, n = 10^6": lambda: delta(KRR, n=10**6, eps="0.002", rtol=1e-10),
    "k-RR, delta to 1e-10, n = 1000": lambda: delta(KRR, n=1000, eps="0.08", rtol=1e-10),
    "k-RR, delta to 1e-10, n = 100": lambda: delta(KRR, n=100, eps="0.2", rtol=1e-10),
    "k-RR, delta to 1e-6, n = 100": lambda: delta(KRR, n=100, eps="0.2"),
    "k-RR, ten deltas over eps0, n = 1000": lambda: ten_deltas("krr", 1000, k=10),
    "k-RR, ten deltas over eps0, n = 10^6": lambda: ten_deltas("krr", 10**6, k=10),
    "k-RR, largest_eps0, n = 10^6": lambda: largest_eps0(randomizer("krr", k=10), n=10**6, eps="1/4", delta="1e-6"),
    "RAPPOR, ten deltas over eps0, n = 1000": lambda: ten_deltas("rappor", 1000, D=10),
    "k-RR at eps0 = 0.1, epsilon in balls, n = 1000": lambda: epsilon(
        randomizer("krr", k=10, eps0="0.1"), n=1000, delta="1e-6", arithmetic="ball"
    ),
    "k-RR, curve of 30 points eps(n)": lambda: amplification_curve(KRR, delta="1e-6", users=USERS),
    "all 262 142 subsets, m = 18, Bayes": lambda: smallest_risk(narrow(), Fraction(20), method=Program.POLYTOPE),
}
"""What is measured, in this order; the first call of each warms caches, unless it is long."""


def seconds(run: Callable[[], object]) -> float:
    """CPU of a call: the smallest of five after a first one, or that first one where it is long."""
    took = []
    for _ in range(6):
        start = time.process_time()
        run()
        took.append(time.process_time() - start)
        if took[0] > LONG:
            return took[0]
    return min(took[1:])


if __name__ == "__main__":
    print(json.dumps({name: seconds(run) for name, run in TASKS.items()}))
