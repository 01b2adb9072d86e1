"""Two laws of messages and a blanket that differ by finitely many likelihood ratios: caps of a sphere, two points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Real, Verdict, less, positive_part, to_arb, working_precision
from symshuffle.channels.law import Law


@final
@dataclass(frozen=True, slots=True)
class FinitePair:
    """Two laws and a blanket that differ by finitely many likelihood ratios.

    - ``reference``: masses of the blanket, of sum at most 1.
    - ``whole``: whether the blanket is a law itself, of sum 1: balls do not show that nothing is left.
    """

    first: tuple[Any, ...]
    second: tuple[Any, ...]
    reference: tuple[Any, ...]
    about: str
    whole: bool = False

    def __post_init__(self) -> None:
        for name in ("first", "second", "reference"):
            masses = getattr(self, name)
            if not isinstance(masses, tuple) or len(masses) != len(self.reference):
                raise InputError(name, masses, "a tuple of masses, as many as the blanket has")
            for mass in masses:
                if type(mass) not in (int, Fraction, Ball) or less(mass, 0) is Verdict.TRUE:
                    raise InputError(name, mass, "rationals or balls of at least 0")
            total = sum(masses, start=Fraction(0))
            full = name != "reference" or self.whole
            if less(1, total) is Verdict.TRUE or (full and less(total, 1) is Verdict.TRUE):
                raise InputError(name, masses, "masses of sum 1, of the blanket at most 1")

    @property
    def reverse(self) -> FinitePair:
        """The pair in the other order."""
        return replace(self, first=self.second, second=self.first)

    def law(self, exp_eps: Real, *, bits: int = DEFAULT_BITS) -> Law:
        """The law of G: 0 where the message is not a blanket message; what the blanket never sends is singular mass."""
        x: Any = exp_eps
        if not isinstance(exp_eps, int | Fraction):
            with working_precision(bits):
                x = Ball.from_arb(to_arb(exp_eps), bits)
        atoms: list[tuple[Any, Any]] = []
        revealed: Any = Fraction(0)
        for p, q, r in zip(self.first, self.second, self.reference, strict=True):
            match less(0, r):
                case Verdict.TRUE:
                    atoms.append(((p - x * q) / r, r))
                case Verdict.FALSE if less(0, p - x * q) is not Verdict.FALSE:
                    revealed += positive_part(p - x * q)
                case Verdict.FALSE:
                    pass
                case _:
                    raise NotDecided("whether the blanket ever sends a message; raise bits")
        rest: Any = Fraction(0) if self.whole else 1 - sum((r for _, r in atoms), start=Fraction(0))
        return Law.from_atoms([(Fraction(0), rest), *atoms], revealed)
