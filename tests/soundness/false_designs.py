"""False certificates of optimal channels: one problem at a level, and under a group."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from symshuffle import Exp, Problem
from symshuffle.channels import symmetric_group
from symshuffle.design import TradeoffCertificate, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from tests.soundness.false_certificates import E1, exactly, false

ORDERED = Problem.of(
    [[int(x == t) for x in range(3)] for t in range(3)],
    [[(t - a) ** 2 for a in range(3)] for t in range(3)],
    [F(1, 3)] * 3,
)
CONSTANT = TradeoffCertificate(
    F(3), (F(1, 3),) * 3, ((F(1),) * 3, (F(0),) * 3, (F(0),) * 3), (F(-100),) * 3, criterion="minimax"
)
"""A true one that says little: always the first action, and a bound far below."""


def _tradeoff(name: str, place: str, **changes: Any) -> None:
    false(f"trade-off: {name}", place, lambda: replace(CONSTANT, **changes).verify(ORDERED))


_tradeoff("a criterion by name", "criterion", criterion="worst")
_tradeoff("level 1", "lam", lam=F(1))
_tradeoff("another prior", "prior", criterion="bayes", prior=(F(1), F(0), F(0)))
_tradeoff("a prior of four", "prior", prior=(F(1, 4),) * 4)
_tradeoff("a negative prior", "prior", prior=(F(2), F(-1), F(0)))
_tradeoff("a prior of sum 1/2", "prior", prior=(F(1, 2), F(0), F(0)))
_tradeoff("two actions", "rows", rows=CONSTANT.rows[:2])
_tradeoff("two inputs", "rows", rows=((F(1),) * 2, (F(0),) * 2, (F(0),) * 2))
_tradeoff("a larger ratio", "rows[0]", rows=((F(1), F(0), F(0)), (F(0), F(1), F(1)), (F(0),) * 3))
_tradeoff("negative rows", "rows[0]", rows=((F(-1),) * 3, (F(2),) * 3, (F(0),) * 3))
_tradeoff("rows of sum 1/2", "rows", rows=((F(1, 2),) * 3, *CONSTANT.rows[1:]))
_tradeoff("a bound of four", "bound", bound=(F(-100),) * 4)
_tradeoff("a bound too high", "bound", bound=(F(5),) * 3)


@cache
def design(level: F | Exp = F(3)) -> Any:
    """A true one."""
    return smallest_risk(ORDERED, level, criterion="minimax")


def _design(name: str, place: str, level: F | Exp, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"design: {name}", place, lambda: replace(design(level), **changes(design(level))).verify())


def _first_weight(found: Any, **changes: Any) -> dict[str, Any]:
    (subset, action, weight), *rest = found.weights
    first = {"subset": subset, "action": action, "weight": weight} | changes
    return {"weights": ((first["subset"], first["action"], first["weight"]), *rest)}


_design("no certificates", "certificates", F(3), lambda d: {"certificates": ()})
_design("another level", "certificates", F(3), lambda d: {"level": F(4)})
_design("swapped levels", "certificates", E1, lambda d: {"certificates": d.certificates[::-1]})
_design("one of two levels", "certificates", E1, lambda d: {"certificates": d.certificates[:1]})
_design("both below", "certificates", E1, lambda d: {"certificates": d.certificates[1:] * 2})
_design("both above", "certificates", E1, lambda d: {"certificates": d.certificates[:1] * 2})
_design("no criterion", "criterion", F(3), lambda d: {"criterion": "worst"})
_design("another criterion", "certificates[0]", F(3), lambda d: {"criterion": "bayes"})
_design(
    "rows missing",
    "certificates[0].rows",
    F(3),
    lambda d: {"certificates": (replace(d.certificates[0], rows=d.certificates[0].rows[1:]),)},
)
_design("another channel", "weights", F(3), lambda d: _first_weight(d, weight=2 * d.weights[0][2]))
_design(
    "negative weights",
    "weights",
    F(3),
    lambda d: {"weights": (*d.weights, (*d.weights[0][:2], F(1)), (*d.weights[0][:2], F(-1)))},
)
_design("no such action", "weights", F(3), lambda d: _first_weight(d, action=99))
_design("value", "value", F(3), lambda d: {"value": exactly(0)})


@cache
def channel_risk() -> Any:
    """A true one."""
    return minimax_risk(ORDERED, design().channel())


false("channel risk: value", "value", lambda: replace(channel_risk(), value=exactly(0)).verify())
false("channel risk: rule", "rule", lambda: replace(channel_risk(), rule=channel_risk().rule[1:]).verify())
false("channel risk: prior", "prior", lambda: replace(channel_risk(), prior=(F(2), F(-1), F(0))).verify())

# Designs under a group


@cache
def guessing() -> Any:
    """A true one: value 4/7."""
    return smallest_risk(smoothed_point_masses(5, 1), F(3), group=symmetric_group(5)).certificates[0]


GUESSED = smoothed_point_masses(5, 1)


def _orbits(name: str, place: str, problem: Problem = GUESSED, **changes: Any) -> None:
    false(f"orbits: {name}", place, lambda: replace(guessing(), **changes).verify(problem))


def _used(name: str, place: str, changes: Callable[[Any, int, Any], tuple[Any, int, Any]], **others: Any) -> None:
    def check() -> None:
        (used,) = guessing().weights
        replace(guessing(), weights=(changes(*used),), **others).verify(GUESSED)

    false(f"orbits: {name}", place, check)


_used("a size", "weights[0].orbit", lambda orbit, action, weight: (replace(orbit, size=10), action, weight))
_used("incidences", "weights[0].orbit", lambda orbit, action, weight: (replace(orbit, incidences=(3,)), action, weight))
# Ten singletons, of which every input is in three: the column sums are (10 + 2 * 3) / 16, the risk 10 / 16 * 4 / 5.
_used(
    "1/2 where the optimum is 4/7",
    "weights[0].orbit",
    lambda orbit, action, _: (replace(orbit, size=10, incidences=(3,)), action, F(1, 16)),
    bound=(F(1, 10),) * 5,
)
_used(
    "the full set",
    "weights[0].orbit",
    lambda orbit, action, _: (replace(orbit, representative=31, size=1, incidences=(1,)), action, F(1, 3)),
)
_used(
    "no such input",
    "weights[0].orbit",
    lambda orbit, action, weight: (replace(orbit, representative=1 << 7), action, weight),
)
_used(
    "the empty subset",
    "weights[0].orbit",
    lambda orbit, action, weight: (replace(orbit, representative=0, size=1, incidences=(0,)), action, weight),
)
_used("no such action", "weights[0].action", lambda orbit, _, weight: (orbit, 99, weight))
_used("a double as weight", "weights[0].weight", lambda orbit, action, _: (orbit, action, 0.5))
_used("a column sum", "weights", lambda orbit, action, weight: (orbit, action, weight / 2))
_orbits("no weights", "weights", weights=())
_orbits("level 1", "lam", lam=F(1))
_orbits("a bound of four", "bound", bound=(F(0),) * 4)
_orbits("a bound too high", "bound", bound=(F(1, 4),) * 5)
_orbits("no prior", "prior", problem=replace(GUESSED, prior=None))
UNEVEN = (F(1, 2), *[F(1, 8)] * 4)
_orbits("no symmetry", "group", problem=GUESSED.with_prior(UNEVEN), prior=UNEVEN, bound=(F(0),) * 5)
_orbits("a smaller group", "group", group=symmetric_group(4))


def _negative_orbit() -> None:
    singles, pairs = (guessing().group.subset_orbit(y) for y in (1, 3))
    ((_, action, _),) = guessing().weights
    weights = (  # column sums 7 w + 18 v = 1 with v < 0
        (singles, action, F(19, 7)),
        (pairs, action, F(-1)),
    )
    assert sum(weight * orbit.column_sum(0, F(3)) for orbit, _, weight in weights) == 1
    replace(guessing(), weights=weights).verify(GUESSED)


false("orbits: a negative weight", "weights[1].weight", _negative_orbit)


@cache
def two_levels() -> Any:
    """A true one."""
    return smallest_risk(smoothed_point_masses(5, 1), E1, group=symmetric_group(5))


def _levels(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"two levels: {name}", place, lambda: replace(two_levels(), **changes(two_levels())).verify())


_levels("another problem", "value", lambda d: {"problem": smoothed_point_masses(5, F(1, 2))})
_levels(
    "another criterion",
    "certificates[1]",
    lambda d: {"certificates": (d.certificates[0], replace(d.certificates[1], criterion="minimax"))},
)
_levels(
    "a criterion by name",
    "certificates[0]",
    lambda d: {"certificates": tuple(replace(design, criterion="worst") for design in d.certificates)},
)
_levels("value", "value", lambda d: {"value": exactly(0)})
_levels("swapped", "certificates", lambda d: {"certificates": d.certificates[::-1]})
_levels(
    "a weight",
    "certificates[0].weights",
    lambda d: {"certificates": (replace(d.certificates[0], weights=()), d.certificates[1])},
)
_levels("another channel", "weights", lambda d: {"weights": d.weights[1:]})
