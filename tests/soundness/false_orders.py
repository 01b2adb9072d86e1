"""False certificates of orders between channels, and of couplings."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from proofs_checks._convex_order import ConvexOrder
from symshuffle import Channel, Law
from symshuffle.channels.geometry.orders import BlackwellOrder, blackwell, deficiency
from symshuffle.vectors import which_order
from symshuffle.vectors.privacy.pairs import FinitePair
from tests.soundness.false_certificates import exactly, false

FINE = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
COARSE = Channel.from_rows([["5/8", "3/8"], ["3/8", "5/8"]])
DOUBLES = Channel(((0.75, 0.25), (0.25, 0.75)))
THREE = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]])
KERNEL = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
SAME = Channel.from_rows([[1, 0], [0, 1]])

false("garbling: another kernel", "kernel", lambda: BlackwellOrder(SAME).verify(FINE, COARSE))
false("garbling: another shape", "kernel", lambda: BlackwellOrder(THREE).verify(FINE, COARSE))
false("garbling: doubles", "first", lambda: BlackwellOrder(SAME).verify(DOUBLES, DOUBLES))


@cache
def separation() -> Any:
    """A true one: the coarse channel does not dominate the fine one."""
    return blackwell(COARSE, FINE)


def _separation(name: str, place: str, change: Callable[[Any], Any], first: Channel, second: Channel) -> None:
    false(
        f"separation: {name}",
        place,
        lambda: BlackwellOrder(gains=tuple(tuple(map(change, row)) for row in separation().gains)).verify(
            first, second
        ),
    )


_separation("gains beyond 1", "gains", lambda g: 9 * g, COARSE, FINE)
_separation("no margin", "gains", lambda g: g, FINE, FINE)
_separation("other inputs", "second", lambda g: g, FINE, THREE)
false(
    "separation: shape",
    "gains",
    lambda: BlackwellOrder(gains=tuple((*row, F(-1)) for row in separation().gains)).verify(COARSE, FINE),
)


@cache
def lacking() -> Any:
    """A true deficiency."""
    return deficiency(COARSE, FINE)


false("deficiency: value", "value", lambda: replace(lacking(), value=exactly(0)).verify())
false("deficiency: kernel", "kernel", lambda: replace(lacking(), kernel=THREE).verify())
false(
    "deficiency: certificate",
    "certificate.dual",
    lambda: replace(lacking(), certificate=replace(lacking().certificate, dual=())).verify(),
)

INNER = Law.from_atoms([(F(1, 2), F(1, 2)), (F(3, 2), F(1, 2))])
OUTER = Law.from_atoms([(F(0), F(1, 2)), (F(2), F(1, 2))])


SPREAD = Law.from_atoms([(F(0), F(3, 8)), (F(1), F(1, 4)), (F(2), F(3, 8))])


def _coupling(name: str, upper: Law, *rows: tuple[F, ...]) -> None:
    false(f"coupling: {name}", "coupling", lambda: ConvexOrder(rows, None).verify(INNER, upper))


def _eighths(*numerators: F | int) -> tuple[F, ...]:
    return tuple(F(n) / 8 for n in numerators)


_coupling("shape", OUTER, _eighths(4))
_coupling("negative", SPREAD, _eighths(F(3, 2), 3, F(-1, 2)), _eighths(F(3, 2), -1, F(7, 2)))
_coupling("means", OUTER, _eighths(2, 2), _eighths(2, 2))
_coupling("rows", OUTER, _eighths(2, 1), _eighths(2, 3))
_coupling("columns", SPREAD, _eighths(3, 0, 1), _eighths(1, 0, 3))
false("coupling: threshold", "threshold", lambda: ConvexOrder(None, F(1)).verify(INNER, OUTER))
false("coupling: a threshold beyond all atoms", "threshold", lambda: ConvexOrder(None, F(100)).verify(INNER, OUTER))
false("coupling: means agree", "means", lambda: ConvexOrder(None, None).verify(INNER, OUTER))


@cache
def larger() -> Any:
    """A true one: the reverse order is larger on the whole range."""
    pair = FinitePair((F(3, 4), F(1, 4)), (F(1, 2), F(1, 2)), (F(1, 4), F(1, 4)), "a bit against none")
    return which_order(pair, 3, low="1/10", high="1/5")


def _larger(name: str, place: str, **changes: Any) -> None:
    false(f"order: {name}", place, lambda: replace(larger(), **changes).verify())


_larger("the other one", "verdicts[0]", verdicts=("forward",))
_larger("too few places", "orders", orders=(F(2),))
_larger("a verdict too many", "orders", verdicts=("reverse", "reverse"))
_larger("places that fall", "orders", orders=(F(1), F(2), F(3, 2)), verdicts=("reverse", "undecided"))
_larger("places below 1", "orders", orders=(F(1, 2), F(5, 4)), verdicts=("undecided",))
_larger("a range that is too short", "orders", orders=(F(9, 8), F(5, 4)))
_larger("an end that is too near", "orders", orders=(F(1), F(9, 8)))
