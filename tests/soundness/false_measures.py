"""False certificates of the largest information measures, at a level and as formulas with logarithms."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from symshuffle import Bracket
from symshuffle.channels.geometry.groups import symmetric_group, trivial_group
from symshuffle.design.information import measures
from symshuffle.design.information.formulas import logarithmic_piece
from symshuffle.design.information.maximum import maximise
from tests.soundness.false_certificates import E1, exactly, false

HALF, THIRD = (F(1, 2), F(1, 4), F(1, 4)), (F(1, 3),) * 3


@cache
def largest(which: str) -> Any:
    """A true one."""
    chi, information = measures.chi_square_measure(HALF, THIRD), measures.mutual_information(HALF)
    many = measures.mutual_information([F(1, 15)] * 15)
    return {
        "rational": lambda: maximise(chi, F(3)),
        "logarithmic": lambda: maximise(information, F(3)),
        "level": lambda: maximise(chi, E1),
        "grouped": lambda: maximise(information, F(3), group=information.symmetry()),
        "many": lambda: maximise(many, F(3), group=many.symmetry()),
    }[which]()


def _largest(name: str, place: str, which: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    def check() -> None:
        found = largest(which)
        loose = Bracket(F(0), F(10**9), found.value.arithmetic, "", "")
        replace(found, **{"value": loose} | changes(found)).verify()

    false(f"measure: {name}", place, check)


_largest("weights doubled", "weights", "rational", lambda d: {"weights": {y: 2 * w for y, w in d.weights.items()}})
_largest("the empty set", "weights", "rational", lambda d: {"weights": {**d.weights, 0: F(0)}})
_largest("a double as weight", "weights", "rational", lambda d: {"weights": {1: 0.25, 6: 0.25}})
_largest(  # {1, 6} and {2, 5} with 1/4 each are two points of the polytope
    "negative weights", "weights", "rational", lambda d: {"weights": {1: F(1, 2), 6: F(1, 2), 2: F(-1, 4), 5: F(-1, 4)}}
)
_largest("a bound too low", "bound", "rational", lambda d: {"bound": tuple(u * F(99, 100) for u in d.bound)})
_largest(
    "a bound of balls too low", "bound", "logarithmic", lambda d: {"bound": tuple(u * F(99, 100) for u in d.bound)}
)
_largest("a bound of two", "bound", "rational", lambda d: {"bound": d.bound[:2]})
_largest("an asymmetric bound", "bound", "grouped", lambda d: {"bound": tuple(u + i for i, u in enumerate(d.bound))})
_largest("level 1", "lam", "rational", lambda d: {"lam": F(1), "level": F(1)})
_largest("two levels", "lam", "rational", lambda d: {"bound_lam": F(4)})
_largest("another level", "lam", "rational", lambda d: {"level": F(4)})
_largest("a bound from below", "lam", "level", lambda d: {"bound_lam": d.lam})
_largest("no symmetry", "group", "rational", lambda d: {"group": symmetric_group(3)})
_largest("other inputs", "group", "rational", lambda d: {"group": trivial_group(4)})
_largest("too many inputs", "group", "many", lambda d: {"group": None})
_largest(
    "not homogeneous", "measure", "rational", lambda d: {"measure": replace(d.measure, rational=lambda column: F(1))}
)
_largest("a value too high", "value", "rational", lambda d: {"value": exactly(10)})
_largest("balls as exact", "value", "logarithmic", lambda d: {"value": replace(d.value, arithmetic="exact")})


def _logs() -> Any:
    measure = measures.kullback_leibler([F(1, 2), F(1, 3), F(1, 6)], [F(1, 6), F(1, 3), F(1, 2)])
    return logarithmic_piece(measure, LEVELS[0], LEVELS)


LEVELS = (F(2), F(5, 2))
logs = cache(_logs)


def _log_piece(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    def check() -> None:
        piece = logs()
        replace(piece, **changes(piece)).verify()

    false(f"log piece: {name}", place, check)


_log_piece("ends swapped", "levels", lambda p: {"lower": p.upper, "upper": p.lower})
_log_piece("inputs that differ", "group", lambda p: {"group": symmetric_group(3)})
_log_piece("an orbit too few", "basis", lambda p: {"basis": p.basis[1:]})
_log_piece("no orbit", "basis", lambda p: {"basis": (*p.basis[1:], 0)})
_log_piece("weights doubled", "weights", lambda p: {"weights": tuple((o, 2 * w) for o, w in p.weights)})
_log_piece("value", "value", lambda p: {"value": p.value * F(101, 100)})
_log_piece("a condition more", "conditions", lambda p: {"conditions": p.conditions + 1})
_log_piece("beyond its interval", "conditions", lambda p: {"upper": F(40)})
