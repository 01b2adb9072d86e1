"""Measure, in one run, what docs/performance.md states, and write that page (``make performance``)."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from benchmarks import (
    algorithm7,
    before,
    budgets,
    certified,
    clone,
    design,
    evaluations,
    growth,
    inverses,
    peers,
    scaling,
    shell,
    vectors,
)
from benchmarks.measure import table

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"


def page() -> str:
    # Memory first, before anything large was allocated here.
    parts = []
    for module in (
        scaling,
        growth,
        algorithm7,
        clone,
        peers,
        certified,
        inverses,
        vectors,
        budgets,
        shell,
        evaluations,
        before,
    ):
        print(f"measuring: {module.__name__}", file=sys.stderr)
        parts.append(module.section())
    goals = [goal for part in parts for goal in part.goals]
    reached = table(("what has to be reached", "measured", ""), [(g.requirement, g.measured, g.verdict) for g in goals])
    text = "\n\n".join([*(part.text for part in parts), design.section().rstrip()])
    system = f"{platform.machine()}, Python {platform.python_version()}, one process"
    return f"""# Performance

Written by `make performance` ({system}); medians of process time, unless said otherwise. `auto` is
what `symshuffle.delta` uses when no engine is named. Tests do not measure time. That no bracket excludes the truth is
for them to show, on 2,000 random laws in `tests/engines/test_engines_fuzz.py`.

{reached}

{text}
"""


if __name__ == "__main__":
    text = page()
    PAGE.write_text(text, encoding="utf-8")
    print(text)
