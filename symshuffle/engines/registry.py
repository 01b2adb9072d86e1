"""The engines by label, and what each of them has to offer.

A new engine is one module and one line of ``ENGINES``: the automatic choice, the command line, the conformance grid,
the random tests and the import contracts are read off, or compared with, this table. Modules load when used.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from symshuffle.base.numbers import as_integer, as_precision, as_width, parse_rational
from symshuffle.engines.estimates import too_long

if TYPE_CHECKING:
    from symshuffle.base.choices import Arithmetic
    from symshuffle.base.results import Bracket

ENGINES: Final[Mapping[str, str]] = {
    "exact": "symshuffle.engines.counting.exact:Exact",
    "sparse": "symshuffle.engines.counting.sparse:Sparse",
    "counts": "symshuffle.engines.counting.counts:Counts",
    "contour": "symshuffle.engines.contours.contour:Contour",
    "ball": "symshuffle.engines.contours.ball:BallContour",
    "fft": "symshuffle.engines.transforms.fft:FFT",
}
"""Label to class, in the order in which the automatic choice asks them."""


class Engine(ABC):
    """Base class of engines, frozen dataclasses that compute a bracket around H(n) from a law of G alone.

    - ``name``: name of the engine in results.
    - ``least``: what its brackets are at the least.
    - ``continuous``: whether it takes a law with a continuous part, a ``MixedLaw``.
    """

    __slots__ = ()

    name: ClassVar[str]
    least: ClassVar[Arithmetic]
    continuous: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Read the fields that are not at their defaults.

        ``rtol`` is a relative width, ``bits`` a precision, ``step`` and ``goal`` are rationals, and any other field is
        an integer of at least 0.
        """
        for one in fields(self):  # type: ignore[arg-type]  # a dataclass
            name, value = one.name, getattr(self, one.name)
            if value is None or value is one.default:
                continue
            if name == "rtol":
                read: object = as_width(value)
            elif name == "bits":
                read = as_precision(value)
            else:
                read = parse_rational(value, name) if name in ("step", "goal") else as_integer(value, name, 0)
            object.__setattr__(self, name, read)

    @classmethod
    def with_tolerance(cls, rtol: float, bits: int) -> Self:
        """Engine with default limits and, where it has them, a width and a precision."""
        made: Any = cls
        found: Self = made(rtol=rtol)
        return found

    @classmethod
    def for_auto(cls, law: Any, arithmetic: Arithmetic | None, rtol: float) -> Self | None:
        """Engine limited to cheap requests for the automatic choice; None if it stays out."""
        return None

    @classmethod
    @abstractmethod
    def trials(cls, law: Any) -> tuple[Self, ...]:
        """Settings that take about a second, the careful ones first: under all of them its brackets have to hold."""

    @abstractmethod
    def refusal(self, law: Any, n: int) -> str | None:
        """Reason why the engine cannot answer, found before it starts, or None."""

    @abstractmethod
    def bracket(self, law: Any, n: int) -> Bracket:
        """A bracket around H(n), at every n where G is never positive, or ``Unsupported``."""


def engine_class(label: str) -> type[Engine]:
    """The class of this label."""
    module, name = ENGINES[label].split(":")
    found: type[Engine] = getattr(importlib.import_module(module), name)
    return found


def engine_classes() -> Iterator[tuple[str, type[Engine]]]:
    """All labels with their classes, in the order of the automatic choice."""
    return ((label, engine_class(label)) for label in ENGINES)


def offers(
    law: Any, n: int, arithmetic: Arithmetic | None, rtol: float, *, continuous: bool = False
) -> Iterator[Engine]:
    """The engines that would answer, as the automatic choice asks them."""
    for label in ENGINES:
        if not continuous and too_long(label, law, n, arithmetic, rtol):
            continue
        found = engine_class(label)
        if found.continuous or not continuous:
            engine = found.for_auto(law, arithmetic, rtol)
            if engine is not None and engine.refusal(law, n) is None:
                yield engine
