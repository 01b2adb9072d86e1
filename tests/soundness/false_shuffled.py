"""False proofs of an upper end on the trace after shuffling."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from symshuffle.design.shuffled.minorant import StopLossLine, TraceBound
from symshuffle.design.shuffled.upper import lines_for
from tests.soundness.false_certificates import false

ORDER, CAP = F(5, 4), F(4)


@cache
def trace_bound(trace: F = F(2)) -> TraceBound:
    """A true one: no channel with 4 inputs and ratios at most 4 has trace 2 at (log(5/4), 1/20) with 5 users."""
    return TraceBound(4, 5, ORDER, ORDER, F(1, 20), CAP, trace, lines_for(4, ORDER, CAP, trace))


def _false(name: str, place: str, **changes: Any) -> None:
    false(f"trace bound: {name}", place, lambda: replace(trace_bound(), **changes).verify())


def _other_line(i: int, **changes: Any) -> tuple[StopLossLine, ...]:
    lines = trace_bound().lines
    return (*lines[:i], replace(lines[i], **changes), *lines[i + 1 :])


_false("one input", "k", k=1)
_false("half an input", "k", k=4.5)
_false("a ratio below exp(eps)", "above", exp_eps=F(13, 10))
_false("a cap below exp(eps)", "lam_cap", lam_cap=F(6, 5))
_false("a negative trace", "trace", trace=F(-1), delta=F(-1))
_false("two lines at one place", "places", lines=(trace_bound().lines[0], *trace_bound().lines))
_false("one line", "places", lines=trace_bound().lines[:1], delta=F(-1))
_false("a slope below 0", "lines[5].b", lines=_other_line(5, a=F(-100), b=F(-1)))
_false("a line above a template", "lines[60].a", lines=_other_line(60, a=trace_bound().lines[60].a + F(1, 10)))
_false("too small a trace", "delta", trace=F(1))
_false("a larger delta", "delta", delta=F(1, 5))
