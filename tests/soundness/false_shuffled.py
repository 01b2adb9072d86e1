"""False proofs of an upper end on the trace after shuffling."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from symshuffle.design.shuffled.minorant import StopLossLine, TraceBound
from symshuffle.design.shuffled.upper import trace_proof
from tests.soundness.false_certificates import false

ORDER, CAP, END = F(5, 4), F(4), F(4)


@cache
def trace_bound(trace: F = F(2)) -> TraceBound:
    """A true one: no channel with 4 inputs and ratios at most 4 has trace 2 at (log(5/4), 1/20) with 5 users.

    Every eighth line of the proof is enough for a delta that is so far below."""
    found = trace_proof(4, n=5, exp_eps=ORDER, delta=F(1, 20), lam_cap=CAP, trace=trace, ends=(END,))
    return replace(found, cells=tuple((*lines[:-1:8], lines[-1]) for lines in found.cells))


def _false(name: str, place: str, **changes: Any) -> None:
    false(f"trace bound: {name}", place, lambda: replace(trace_bound(), **changes).verify())


def _other_line(i: int, cell: int = 0, **changes: Any) -> tuple[tuple[StopLossLine, ...], ...]:
    lines = trace_bound().cells[cell]
    entries = dict(zip("cabd", lines[i], strict=True)) | changes
    changed = (*lines[:i], (entries["c"], entries["a"], entries["b"], entries["d"]), *lines[i + 1 :])
    return (changed, trace_bound().cells[1]) if cell == 0 else (trace_bound().cells[0], changed)


def _first(*lines: StopLossLine) -> tuple[tuple[StopLossLine, ...], ...]:
    return lines, trace_bound().cells[1]


def _false_file(name: str, place: str, **changes: Any) -> None:
    """A file that says something else than a true one; an entry that is None is missing."""
    entries = {key: value for key, value in {**trace_bound().to_dict(), **changes}.items() if value is not None}
    false(f"trace bound: file with {name}", place, lambda: TraceBound.from_dict(entries).verify())


LINES = trace_bound().cells[0]
_, HEIGHT, _, SLOPE = LINES[8]

_false("one input", "k", k=1)
_false("half an input", "k", k=4.5)
_false("a ratio below exp(eps)", "above", exp_eps=F(13, 10))
_false("a cap below exp(eps)", "lam_cap", lam_cap=F(6, 5))
_false("a negative trace", "trace", trace=F(-1), delta=F(-1))
_false("one cell without an end", "cells", ends=())
_false("an end without a cell", "cells", ends=(END, END + 1))
_false("two lines at one place", "cells[0].places", cells=_first(LINES[0], *LINES))
_false("one line", "cells[0].places", cells=_first(LINES[0]), delta=F(-1))
_false("a slope below 0", "cells[0].lines[5].b", cells=_other_line(5, a=F(-100), b=F(-1), d=F(0)))
_false("a line above a template", "cells[0].lines[8].a", cells=_other_line(8, a=HEIGHT + F(1, 10)))
_false("a steeper line", "cells[0].lines[8].a", cells=_other_line(8, d=SLOPE - F(1, 10), a=HEIGHT + F(2, 5)))
_false("a fall without an end", "cells[1].lines[5].d", cells=_other_line(5, 1, a=F(-100), d=F(-1)))
_false("too small a trace", "cells[0].delta", trace=F(1))
_false("a larger delta", "cells[0].delta", delta=F(1, 5))
false("trace bound: file that is a list", "format", lambda: TraceBound.from_dict([]))
_false_file("another format", "format", format="symshuffle trace bound 0")
_false_file("no delta", "delta", delta=None)
_false_file("an entry too many", "colour", colour=1)
_false_file("k as a text", "k", k="4")
_false_file("no users", "n", n=0)
_false_file("a negative eps", "exp_eps", exp_eps={"exp": "-1"})
_false_file("a larger eps", "above", exp_eps={"exp": "1"})
_false_file("a double", "trace", trace="2.5")
_false_file("an end that is none", "ends[0]", ends=["x"])
