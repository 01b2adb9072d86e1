"""Mechanism expressions as text: ``joint(krr(k=10),4)``, ``parallel(1/2:krr(k=10),1/2:blh)``, and any nesting.

A small recursive parser over names, numbers and ``( ) , : =``. Text never reaches ``eval``, ``sympify`` or pickle.

    expression := "laplace" [ "(" ( "domain" "=" ( "binary" | "unit" ) | "cells" "=" integer ) { "," ... } ")" ]
                | name [ "(" name "=" number { "," name "=" number } ")" ]
                | "joint" "(" expression "," integer ")"  |  "joint" "(" expression { "," expression } ")"
                | "parallel" "(" number ":" expression { "," number ":" expression } ")"
                | "subsample" "(" expression "," number ")"
                | "hamming" "(" expression "," integer ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import parse_rational, ungrouped
from symshuffle.decompositions.composition import Composition, Part, hamming, joint, parallel, subsample
from symshuffle.mechanisms.continuous import LARGEST_CELLS, Laplace
from symshuffle.mechanisms.registry import mechanism

_LONGEST: Final = 2_000
"""Characters beyond which an expression is refused."""

LARGEST_JOINT: Final = 64
"""Coordinates beyond which a joint composition is refused."""

_TOKEN: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*|[0-9._]+(?:[eE][+-]?[0-9]+)?(?:/[0-9]+)?|[(),:=])")
_OPERATORS: Final = ("joint", "parallel", "subsample", "hamming")

_T = TypeVar("_T")


def parse(text: str) -> Part:
    """Read a mechanism expression.

    Examples
    --------
    >>> parse("hamming(joint(krr(k=10),4),2)").name
    'hamming(joint(krr(lam, k=10),4),2)'
    """
    if len(text) > _LONGEST:
        raise InputError("mechanism", f"{text[:40]}...", f"an expression of at most {_LONGEST} characters")
    reader = _Reader(text, _tokens(text))
    part = reader.expression()
    reader.end()
    return part


def is_composition(text: str) -> bool:
    """Whether the text is more than the name of a mechanism."""
    return "(" in text or text.strip() in _OPERATORS


def _tokens(text: str) -> list[tuple[str, int]]:
    found, position = [], 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            start = position + len(text[position:]) - len(text[position:].lstrip())
            raise _malformed(text, start, "a name, a number or one of ( ) , : =")
        found.append((match.group(1), match.start(1)))
        position = match.end()
    return found


def _malformed(text: str, position: int, expected: str) -> InputError:
    return InputError("mechanism", text, f"{expected} at character {position + 1}")


@final
@dataclass(slots=True)
class _Reader:
    """The tokens of an expression and how far they have been read."""

    text: str
    tokens: list[tuple[str, int]]
    place: int = 0

    def peek(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def position(self) -> int:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else len(self.text)

    def expect(self, *wanted: str) -> str:
        if self.peek() not in wanted:
            raise _malformed(self.text, self.position(), " or ".join(repr(w) for w in wanted))
        self.place += 1
        return self.tokens[self.place - 1][0]

    def end(self) -> None:
        if self.peek():
            raise _malformed(self.text, self.position(), "the end of the expression")

    def name(self) -> str:
        if not self.peek()[:1].isalpha():
            raise _malformed(self.text, self.position(), "a name")
        self.place += 1
        return self.tokens[self.place - 1][0]

    def number(self) -> Fraction:
        if not self.peek()[:1].isdigit() and not self.peek().startswith("."):
            raise _malformed(self.text, self.position(), "a number")
        self.place += 1
        return parse_rational(ungrouped(self.tokens[self.place - 1][0]), "mechanism")

    def integer(self, what: str, largest: int) -> int:
        start = self.position()
        number = self.number()
        if number.denominator != 1 or not 1 <= number <= largest:
            raise _malformed(self.text, start, f"{what}, an integer from 1 to {largest},")
        return int(number)

    def listed(self, read: Callable[[], _T]) -> list[_T]:
        """Items between parentheses, separated by commas."""
        self.expect("(")
        items = [read()]
        while self.expect(",", ")") == ",":
            items.append(read())
        return items

    def expression(self) -> Part:
        name = self.name()
        match name:
            case "joint":
                return self._joint()
            case "parallel":
                pairs = self.listed(self._weighted)
                return parallel([part for _, part in pairs], [weight for weight, _ in pairs])
            case "subsample":
                self.expect("(")
                part = self.expression()
                self.expect(",")
                probability = self.number()
                self.expect(")")
                return subsample(part, probability)
            case "hamming":
                self.expect("(")
                composition = self.expression()
                self.expect(",")
                distance = self.integer("a distance", LARGEST_JOINT)
                self.expect(")")
                return hamming(composition, distance)
        if name == "laplace":
            return self._laplace()
        values: dict[str, Fraction] = {}
        if self.peek() == "(":
            self.listed(lambda: self._assign(values))
        return mechanism(name).at(**values)

    def _laplace(self) -> Laplace:
        """The one mechanism with a parameter in words."""
        words: dict[str, Any] = {}

        def assign() -> None:
            start = self.position()
            name = self.name()
            if name not in ("domain", "cells") or name in words:
                raise _malformed(self.text, start, "domain or cells, each once,")
            self.expect("=")
            words[name] = self.expect("binary", "unit") if name == "domain" else self.integer("cells", LARGEST_CELLS)

        if self.peek() == "(":
            self.listed(assign)
        return Laplace(**words)

    def _joint(self) -> Composition:
        self.expect("(")
        parts: list[Part] = [self.expression()]
        while self.expect(",", ")") == ",":
            if len(parts) == 1 and self.peek()[:1].isdigit():
                parts *= self.integer("a number of coordinates", LARGEST_JOINT)
                self.expect(")")
                break
            parts.append(self.expression())
        if len(parts) > LARGEST_JOINT:
            raise InputError("joint", f"{len(parts)} coordinates", f"at most {LARGEST_JOINT}")
        return joint(*parts)

    def _weighted(self) -> tuple[Fraction, Part]:
        weight = self.number()
        self.expect(":")
        return weight, self.expression()

    def _assign(self, values: dict[str, Fraction]) -> None:
        start = self.position()
        name = self.name()
        if name in ("lam", "eps0"):
            raise _malformed(self.text, start, "a parameter other than the budget, which is given once, in total,")
        if name in values:
            raise _malformed(self.text, start, f"each parameter once, but {name} again")
        self.expect("=")
        values[name] = self.number()
