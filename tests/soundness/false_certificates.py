"""What a false certificate is: a check of something false, and the place that the refusal has to name.

One module for each family of checkers (``false_*.py``) enters its own; tests/soundness/catalogue.py gathers them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F

from symshuffle import Bracket, Exp


@dataclass(frozen=True)
class Case:
    """A check of something false, and the place that the refusal has to name."""

    check: Callable[[], object]
    place: str


CASES: dict[str, Case] = {}


def false(name: str, place: str, check: Callable[[], object]) -> None:
    """Enter a false certificate."""
    assert name not in CASES, name
    CASES[name] = Case(check, place)


def exactly(value: object) -> Bracket:
    """A forged exact value."""
    return Bracket(F(value), F(value), "exact", "forged", "forged")  # type: ignore[arg-type]


WIDE = Bracket(F(0), F(10**9), "exact", "forged", "claims nothing")

E1 = Exp(F(1))
"""A level that is no rational."""
