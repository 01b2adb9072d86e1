"""What a computation returns: a number together with what it speaks about and how it is known, and what it says first.

Every result that carries a number is a frozen dataclass of its own; what can be said once for all of them (float,
display, JSON) is in :class:`AnswerMethods`, which has no data. Where the number comes with a proof, ``verify()`` checks
the proof from the problem alone, returns None, and raises :class:`~symshuffle.base.errors.CertificateError` naming
the place where it fails.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.choices import EVALUATED, STRENGTH, Arithmetic, SafeEnd, replace_choice
from symshuffle.base.errors import CertificateError, InputError, SymshuffleError, Unsupported
from symshuffle.base.numbers import (
    brief,
    check_rational,
    exact_text,
    format_decimal,
    format_log10,
    natural_log,
    parse_rational,
)

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
        found = [(self.name, self.number)]
        for label in ("protects", "about", "assumes", "sure"):
            if text := getattr(self, label):
                found.append((label, str(text)))
        return found

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
        # Logarithms of huge rationals; one digit fewer where the last is in doubt.
        sizes = natural_log(abs(end)) / math.log(10), natural_log(width) / math.log(10)
        digits = math.floor(sizes[0] + 1e-9) - math.ceil(sizes[1] - 1e-9) + 1
    return format_decimal(end, digits=min(max(digits, _LEAST_DIGITS), MOST_DIGITS), up=up)


@final
@dataclass(frozen=True, slots=True)
class Bracket:
    """Two rationals that enclose a real number, and how they are known.

    ``float`` does not take it, as either end may be the safe one.

    Parameters
    ----------
    lower, upper : Fraction
        End points, ``lower <= upper``.
    arithmetic : Arithmetic
        How the end points are known.
    engine : str
        Name of the engine that produced them.
    evaluation : str
        In words: the method, its size, and the error terms it accounts for.
    aimed : float, optional
        The relative width that was asked for, where the bracket is wider than that.
    pair : str
        The pair of inputs and the blanket that were evaluated, where that depends on the level; else empty.

    Raises
    ------
    InputError
        If ``lower > upper``, an end point is neither a Fraction nor an integer, or the arithmetic is unknown.
    """

    lower: Fraction
    upper: Fraction
    arithmetic: Arithmetic
    engine: str
    evaluation: str
    aimed: float | None = None
    pair: str = ""

    def __post_init__(self) -> None:
        given: Any = self.arithmetic
        if type(given) is not str or given not in STRENGTH:
            replace_choice(Arithmetic, self, "arithmetic")
        for name in ("lower", "upper"):
            if type(end := getattr(self, name)) is not Fraction:
                check_rational(end, name)
        if self.lower > self.upper:
            raise InputError("bracket", f"[{float(self.lower)}, {float(self.upper)}]", "lower <= upper")

    @property
    def exact(self) -> Fraction | None:
        """The value itself, where both ends are the same exact rational; otherwise None."""
        return self.lower if self.arithmetic == "exact" and self.lower == self.upper else None

    @property
    def midpoint(self) -> Fraction:
        """Centre of the bracket."""
        return (self.lower + self.upper) / 2

    @property
    def width(self) -> Fraction:
        """Distance of the end points."""
        return self.upper - self.lower

    @property
    def relative_width(self) -> Fraction | None:
        """Width divided by the upper end; None where the upper end is zero."""
        return self.width / self.upper if self.upper else None

    def contains(self, value: Fraction) -> bool:
        """Whether a rational lies in the bracket."""
        return self.lower <= parse_rational(value, "value") <= self.upper

    def shifted(self, amount: Fraction) -> Bracket:
        """The bracket of the number plus a rational."""
        more = parse_rational(amount, "amount")
        return replace(self, lower=self.lower + more, upper=self.upper + more)

    def scaled(self, factor: Fraction) -> Bracket:
        """The bracket of the number times a non-negative rational."""
        if (factor := parse_rational(factor, "factor")) < 0:
            raise InputError("factor", factor, "a non-negative rational (a negative one swaps the directions)")
        return replace(self, lower=self.lower * factor, upper=self.upper * factor)

    def decimals(self, digits: int = 17) -> dict[str, str]:
        """Decimal strings of both ends and of their logarithms, rounded outward."""
        return {
            "lower": format_decimal(self.lower, digits=digits, up=False),
            "upper": format_decimal(self.upper, digits=digits, up=True),
            "log10_lower": format_log10(self.lower, up=False),
            "log10_upper": format_log10(self.upper, up=True),
        }

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: both ends, the exact value or None, arithmetic, engine and method."""
        return {
            **self.decimals(),
            "exact": None if self.exact is None else exact_text(self.exact),
            "arithmetic": self.arithmetic,
            "engine": self.engine,
            "evaluation": self.evaluation,
        }

    def __repr__(self) -> str:
        ends = ", ".join(f"{name}={_shown(value)}" for name, value in (("lower", self.lower), ("upper", self.upper)))
        known = f"arithmetic={self.arithmetic!r}, engine={self.engine!r}, evaluation={self.evaluation!r}"
        return f"Bracket({ends}, {known}, aimed={self.aimed!r})"

    def __str__(self) -> str:
        if self.exact is not None and self.exact.denominator < 10**12:
            return f"{self.exact} ({self.arithmetic}, {self.engine})"
        ends = self.decimals(10)
        return f"[{ends['lower']}, {ends['upper']}] ({self.arithmetic}, {self.engine})"

    def _repr_html_(self) -> str:
        ends = self.decimals(10)
        rows = (("lower", ends["lower"]), ("upper", ends["upper"]), ("arithmetic", self.arithmetic))
        body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
        return f"<table>{body}<tr><th>engine</th><td>{self.engine}</td></tr></table>"


def outward(value: Fraction, *, up: bool) -> float:
    """The double next to a rational on one side, at least the value if ``up``; the value itself if it is a double."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if nearest < value if up else nearest > value:
        return math.nextafter(nearest, math.inf if up else -math.inf)
    return nearest


def safe_number(bracket: Bracket, safe: SafeEnd) -> str:
    """The safe end of a bracket in at most 7 digits, rounded to its side, and which it is; both if none is safe."""
    low = safe_decimal(bracket.lower, bracket.upper, up=False)
    high = safe_decimal(bracket.lower, bracket.upper, up=True)
    exact, wide = bracket.exact, ""
    short = None if exact is None or exact.denominator >= _SHORT else f"exactly {exact}"
    if bracket.aimed is not None:
        wide = f"; relative width {float(bracket.relative_width or 0):.1e}, aimed at {bracket.aimed:.1e}"
    match safe:
        case "upper":
            return f"<= {high} (upper end, {short or 'rounded up'}{wide})"
        case "lower":
            return f">= {low} (lower end, {short or 'rounded down'}{wide})"
        case "neither":
            return short or f"from {low} to {high} (both ends, rounded outward{wide})"


class AnswerMethods:
    """Float, display and JSON of answers: dataclasses that say what is declared first; base of them all.

    It has no data, so that frozen dataclasses with slots may derive from it; ``repr=False`` keeps the short text form.
    An answer with ``verify()`` carries its proof, which is checked from the problem alone.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def bracket(self) -> Bracket:
            """The number, between two rationals."""

        @property
        def about(self) -> str:
            """What the number is, and what it speaks about."""

        @property
        def safe(self) -> SafeEnd:
            """The end that ``float`` returns, rounded outward."""

    @property
    def evaluation(self) -> str:
        """How the bracket was evaluated."""
        return self.bracket.evaluation

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: the bracket, its arithmetic, its meaning and its method."""
        return self.bracket.to_dict() | {"about": self.about, "evaluation": self.evaluation}

    @property
    def safe_end(self) -> Fraction:
        """The safe end itself, not rounded."""
        if self.safe == "neither":
            name = type(self).__name__
            raise Unsupported(f"neither end of this {name} is the safe one: use .bracket.lower or .bracket.upper")
        return self.bracket.upper if self.safe == "upper" else self.bracket.lower

    def __float__(self) -> float:
        return outward(self.safe_end, up=self.safe == "upper")

    def __str__(self) -> str:
        return f"{self.bracket}: {self.about}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    @property
    def lines(self) -> FirstLines:
        """First lines of the answer: the safe number, its subject, and its evidence."""
        arithmetic = self.bracket.arithmetic
        return FirstLines(
            "value", safe_number(self.bracket, self.safe), about=self.about, sure=f"evaluated {EVALUATED[arithmetic]}"
        )

    def _repr_html_(self) -> str:
        return self.lines.to_html()


class ValueMethods(AnswerMethods):
    """The same for dataclasses whose field ``value`` is the bracket."""

    __slots__ = ()

    value: Bracket

    @property
    def bracket(self) -> Bracket:
        """The value and how it is known."""
        return self.value


def _shown(end: Fraction, bits: int = 256) -> str:
    """An end as an expression, or as its first digits where that is long."""
    return repr(end) if max(end.numerator.bit_length(), end.denominator.bit_length()) <= bits else brief(end)


_SHORT: Final = 10**6
"""Denominators below it are shown."""


def is_far(found: Bracket, goal: Fraction | None) -> bool:
    """Whether a bracket is on one side of a number, by a factor of 4: who only compares needs no narrower one."""
    return goal is not None and (found.upper * 4 <= goal or found.lower >= goal * 4)


def check_claim(claimed: Bracket, proved: Bracket, place: str) -> None:
    """Refuse a bracket that says more than a proof of the same number does."""
    if not claimed.lower <= proved.lower or not proved.upper <= claimed.upper:
        raise CertificateError(place, f"{claimed} is claimed, {proved} is proved")
    if STRENGTH[claimed.arithmetic] > STRENGTH[proved.arithmetic]:
        raise CertificateError(place, f"{claimed.arithmetic} is claimed, {proved.arithmetic} is proved")


def passes(verify: Callable[[], None]) -> bool:
    """Whether a check passes: False where it raises :class:`~symshuffle.base.errors.CertificateError`."""
    with suppress(CertificateError):
        verify()
        return True
    return False


_MALFORMED = (SymshuffleError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a malformed part causes on its way through the arithmetic."""


@contextmanager
def within(place: str) -> Iterator[None]:
    """Check a part of a certificate: what fails inside is refused as a failure of this part.

    A :class:`CertificateError` gets the place as a prefix. Any other error that a malformed part causes on its way
    through the arithmetic (a missing entry, a text where a number belongs, a group that does not act) becomes one.
    """
    try:
        yield
    except CertificateError as error:
        dot = "" if error.place.startswith("[") else "."
        raise CertificateError(f"{place}{dot}{error.place}", error.what) from None
    except _MALFORMED as error:
        raise CertificateError(place, str(error) or type(error).__name__) from error


@contextmanager
def well_formed() -> Iterator[None]:
    """Decorates every ``verify``: what is too malformed to be checked is refused like what is false, at ``form``."""
    try:
        yield
    except CertificateError:
        raise
    except _MALFORMED as error:
        raise CertificateError("form", str(error) or type(error).__name__) from error
