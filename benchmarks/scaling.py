"""Cost against the number of users, and memory."""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial
from typing import Final

from benchmarks.measure import Goal, Section, duration, level, seconds, table, ten_ary
from symshuffle import delta
from symshuffle.engines import Contour

BUDGETS: Final = ("0.1", "1", "4")
PROGRAM: Final = """
from symshuffle import delta, randomizer; import resource
krr = randomizer('krr').at(k=10, eps0=1)
for n, eps in ((10**3, '0.08'), (10**9, '0.00008')): delta(krr, n=n, eps=eps)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def costs() -> tuple[str, dict[str, float]]:
    """Cost of delta at relative width 1e-6, law included, and the ratio of 10^9 to 10^3 at each budget."""
    took: dict[tuple[str, int], float] = {}
    rows = []
    for exponent in range(3, 13):
        cells = []
        for eps0 in BUDGETS:
            source, n = ten_ary(eps0), 10**exponent
            eps = level(source, n, Contour(rtol=1e-6))  # finer than the search would ask: delta is flat near eps = 0
            ask = partial(delta, source, n=n, eps=eps, rtol=1e-6)
            width = float(ask().bracket.relative_width or 0)
            took[eps0, exponent] = seconds(ask)
            cells += [f"{float(eps):.6g}", f"{width:.0e}, {duration(took[eps0, exponent])}"]
        rows.append((f"10^{exponent}", *cells))
    head = [text for eps0 in BUDGETS for text in (f"eps at eps0 = {eps0}", "width, time")]
    return table(("n", *head), rows), {eps0: took[eps0, 9] / took[eps0, 3] for eps0 in BUDGETS}


def peak_memory() -> float:
    """Megabytes of a process of its own that answers at n = 10^3 and 10^9."""
    printed = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    return megabytes(int(printed))


def megabytes(peak: int) -> float:
    """Peak memory in the unit of this system as megabytes."""
    return peak / (1024 if sys.platform != "darwin" else 1024**2)


def section() -> Section:
    memory = peak_memory()  # first: a child's peak starts at its parent's
    shown, growth = costs()
    here = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    text = f"""## Cost against n, and memory

10-ary randomized response: delta at relative width 1e-6, the law of G derived anew at each call. Each eps is an upper
end, within 1e-4, of the level at which delta is 1e-6; it is 0 where delta is below 1e-6 everywhere:

{shown}

Peak resident memory of a process that answers at n = 10^3 and 10^9: {memory:.0f} MB. This process peaked at {here:.0f}
MB so far."""
    ratios = ", ".join(f"{ratio:.2f} at eps0 = {eps0}" for eps0, ratio in growth.items())
    goals = (
        Goal("cost at n = 10^9 at most 1.5 times that at n = 10^3", ratios, max(growth.values()) <= 1.5),
        Goal("peak memory below 200 MB", f"{memory:.0f} MB", memory < 200),
    )
    return Section(text, goals)
