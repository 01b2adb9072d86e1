"""The first lines of an answer: the safe number, what it protects, what it assumes, how sure it is."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from symshuffle.base.numbers import format_decimal

MOST_DIGITS: Final = 7
_LEAST_DIGITS: Final = 2
"""Digits of an end that are shown even where the bracket fixes fewer: one digit alone could double a bound."""


@final
@dataclass(frozen=True, slots=True)
class FirstLines:
    """What an answer says first; a line of which there is nothing to say is empty and left out.

    - ``number``: the safe end of the bracket in at most 7 digits, rounded to the safe side, and which end it is.
    """

    name: str
    number: str
    protects: str = ""
    about: str = ""
    assumes: str = ""
    sure: str = ""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Labels and texts, at most four."""
        rest = [(label, str(getattr(self, label))) for label in ("protects", "about", "assumes", "sure")]
        return [(self.name, self.number), *((label, text) for label, text in rest if text)]

    def __str__(self) -> str:
        return "\n".join(f"{label} {text}" if label == self.name else f"{label}: {text}" for label, text in self.rows)

    def to_html(self, *more: tuple[str, str]) -> str:
        """The lines as a table of HTML, with further rows below them."""
        body = (
            f"<tr><th>{html.escape(label)}</th><td>{html.escape(text)}</td></tr>" for label, text in (*self.rows, *more)
        )
        return f"<table>{''.join(body)}</table>"


def at_target(number: str, target: str) -> str:
    """A number with the target for which it was asked, where there is one."""
    return f"{number} at {target}" if target else number


def safe_decimal(lower: Fraction, upper: Fraction, *, up: bool) -> str:
    """One end of a bracket in the digits that the bracket fixes, at least 2 and at most 7, rounded to its own side.

    A digit is fixed if a unit of it is no less than the width of the bracket.
    """
    end, width = upper if up else lower, upper - lower
    digits = MOST_DIGITS
    if width and end:
        # Ratios of huge rationals are taken before their logarithm; one digit fewer where the last is in doubt.
        digits = math.floor(_log10(abs(end)) + 1e-9) - math.ceil(_log10(width) - 1e-9) + 1
    return format_decimal(end, digits=min(max(digits, _LEAST_DIGITS), MOST_DIGITS), up=up)


def _log10(value: Fraction) -> float:
    return math.log10(value.numerator) - math.log10(value.denominator)
