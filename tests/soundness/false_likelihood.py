"""False certificates of bounds of the minimax risk, of quotients by the likelihood ratio and of worst curves."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from symshuffle import Channel
from symshuffle.utility import likelihood_quotient, minimax_sandwich, worst_curve
from tests.soundness.false_certificates import exactly, false


@cache
def sandwich() -> Any:
    """A true one."""
    return minimax_sandwich(3, F(1), 100)


def _sandwich(name: str, place: str, **changes: Any) -> None:
    false(f"sandwich: {name}", place, lambda: replace(sandwich(), **changes).verify())


_sandwich("no cube", "radius", radius=F(0))
_sandwich("a cube beyond the simplex", "radius", radius=F(1, 2))
_sandwich("a lower bound too high", "lower", lower=exactly(F(1, 2)))
_sandwich("an upper bound too low", "upper", upper=exactly(F(0)))


# Quotients by the likelihood ratio, and worst curves


@cache
def quotient() -> Any:
    """A true one, of three blocks."""
    tied = [["1/6", "1/3", "1/4", "1/4"], ["1/12", "1/6", "1/2", "1/4"]]
    return likelihood_quotient(Channel.from_rows(tied), 0, 1)


def _quotient(name: str, place: str, **changes: Any) -> None:
    false(f"quotient: {name}", place, lambda: replace(quotient(), **changes).verify())


_quotient("an output missing", "blocks", blocks=((0, 1), (3,), ()))
_quotient("a ratio twice", "ratios", ratios=(F(1, 2), F(1), F(1)))
_quotient("a ratio too many", "ratios", ratios=(F(1, 2), F(1), F(2), F(3)))
_quotient("an empty block", "kernel[3]", blocks=((0, 1), (3,), (2,), ()), ratios=(F(1, 2), F(1), F(2), F(3)))
_quotient("another ratio", "outputs[2]", ratios=(F(1, 2), F(1), F(3)))


@cache
def worst() -> Any:
    """A true one."""
    return worst_curve(1, 5, lam=3, exp_eps="6/5")


def _worst(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"worst curve: {name}", place, lambda: replace(worst(), **changes(worst())).verify())


_worst("it dips", "majorant", lambda f: {"majorant": (f.majorant[0] - F(1, 10**6), *f.majorant[1:])})
_worst("an atom below the range", "law", lambda f: {"law": ((F(-2), F(0)), *f.law)})
_worst("a negative mass", "law", lambda f: {"law": (*f.law, (F(0), F(-1, 9)), (F(0), F(1, 9)))})
_worst("other moments", "law", lambda f: {"law": ((f.law[0][0], f.law[0][1] + F(1, 10**9)), *f.law[1:])})
_worst("upper end", "value", lambda f: {"bracket": replace(f.bracket, upper=f.bracket.lower)})
