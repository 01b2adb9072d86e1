"""False answers of estimation, likelihood and vectors: more entries for the catalogue of false certificates."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from symshuffle import Ball, Channel
from symshuffle.utility import likelihood_quotient
from symshuffle.vectors import minimal_unbiased_risk
from symshuffle.vectors.error.optimal import best_density, bmg_optimal
from tests.soundness.false_certificates import false

TIED = Channel.from_rows([["1/4", "1/8", "1/2", "1/8"], ["1/8", "1/16", "1/2", "5/16"]])

TRUE: dict[str, Callable[[], Any]] = {
    "quotient": cache(lambda: likelihood_quotient(TIED, 0, 1)),
    "clipped": cache(lambda: best_density(3, 2)),
    "risk": cache(
        lambda: minimal_unbiased_risk(
            Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]), [[0], [1], [3]]
        )
    ),
    "optimal": cache(lambda: bmg_optimal(10, 3)),
}


def _answer(which: str, name: str, place: str, change: Callable[[Any], dict[str, Any]]) -> None:
    false(f"{which}: {name}", place, lambda: replace(TRUE[which](), **change(TRUE[which]())).verify())


def _ends(lower: Any = 1, upper: Any = 1) -> Callable[[Any], dict[str, Any]]:
    """The bracket with its ends multiplied."""
    return lambda d: {"bracket": replace(d.bracket, lower=d.bracket.lower * F(lower), upper=d.bracket.upper * F(upper))}


LESS, MORE = F(99, 100), F(101, 100)

_answer(
    "quotient",
    "a negative mass",
    "kernel[0]",
    lambda d: {"rows": ((-d.rows[0][0], *d.rows[0][1:]), (-d.rows[1][0], *d.rows[1][1:]))},
)

_answer("clipped", "upper end", "bracket", _ends(LESS, LESS))
_answer("clipped", "lower end", "bracket", _ends(MORE, MORE))

_answer("risk", "upper end", "bracket", _ends(LESS, LESS))
_answer("risk", "lower end", "bracket", _ends(MORE, MORE))
_answer("risk", "negative weights", "weights", lambda d: {"weights": (F(1), F(1), F(-1))})
_answer("risk", "weights of sum 2", "weights", lambda d: {"weights": tuple(2 * w for w in d.weights)})
_answer("risk", "a biased estimator", "estimator", lambda d: {"estimator": tuple((x[0] * MORE,) for x in d.estimator)})

_answer("optimal", "below", "bracket", _ends(LESS, LESS))
_answer("optimal", "above", "bracket", _ends(MORE, MORE))
_answer(
    "optimal",
    "narrower than the proof",
    "bracket",
    lambda d: {"bracket": replace(d.bracket, lower=d.bracket.upper * (1 - F(1, 10**60)))},
)
_answer("optimal", "of no width", "bracket", lambda d: {"bracket": replace(d.bracket, upper=d.bracket.lower)})
_answer("optimal", "a share below", "share", lambda d: {"share": Ball(d.share.lower / 2, d.share.upper / 2)})
_answer("optimal", "a share above", "share", lambda d: {"share": Ball(d.share.lower * 2, d.share.upper * 2)})
