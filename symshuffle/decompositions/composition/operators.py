"""How mechanisms are put together: a function for each operator, and a reader of expressions.

Such as ``joint(krr(k=10),4)``: a small recursive parser over names, numbers and ``( ) , : =``. Text never reaches
``eval``, ``sympify`` or pickle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar, final

from symshuffle.base.errors import InputError, check_list
from symshuffle.base.numbers import as_integer, parse_inside, parse_rational, ungrouped
from symshuffle.decompositions.composition.tree import Composition, Part
from symshuffle.mechanisms.continuous import LARGEST_CELLS, Laplace
from symshuffle.mechanisms.finite import constant
from symshuffle.mechanisms.registry import mechanism


def joint(*parts: Part | int) -> Composition:
    """Composition that runs one mechanism on each coordinate of the input.

    The parts share one total budget: of m parts each has eps0/m.

    Parameters
    ----------
    *parts : Mechanism, Laplace or Composition
        At least one, every parameter fixed except ``lam``; or one and the number of its copies, at most 64.

    Returns
    -------
    Composition
        With an open budget, which :meth:`symshuffle.decompositions.composition.tree.Composition.at` fixes.

    Raises
    ------
    InputError
        If there are no parts, a Laplace part has a fixed budget, or a part is given by its matrix.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> joint(randomizer("krr", k=4), randomizer("krr", k=2)).operator
    'joint'
    >>> joint(randomizer("krr", k=10), 6).name
    'joint(krr(lam, k=10),6)'
    """
    if len(parts) == 2 and isinstance(parts[1], int) and not isinstance(parts[1], bool):
        parts = parts[:1] * as_integer(parts[1], "copies", 1, LARGEST_JOINT)
    return Composition("joint", parts)  # type: ignore[arg-type]  # what is no part is refused there


def parallel(parts: Sequence[Part], weights: Sequence[object]) -> Composition:
    """Composition that runs part ``i`` with probability ``weights[i]``, publicly.

    Every part has the whole budget, and the output names the part that was run.

    Parameters
    ----------
    parts : sequence of Mechanism, Laplace or Composition
        At least one, all with the same number of inputs, every parameter fixed except ``lam``.
    weights : sequence of numbers or texts
        One probability per part, of sum 1; doubles by their shortest decimal form. Rounded weights are divided by
        their sum, as the rows of a matrix are.

    Returns
    -------
    Composition
        With an open budget, which :meth:`symshuffle.decompositions.composition.tree.Composition.at` fixes.

    Raises
    ------
    InputError
        If there are no parts, the weights are not one probability per part with sum 1, the parts differ in their number
        of inputs, or a part is given by its matrix.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> parts = randomizer("krr", k=4), randomizer("subset-selection", k=4, s=2)
    >>> parallel(parts, [Fraction(1, 4), Fraction(3, 4)]).weights
    (Fraction(1, 4), Fraction(3, 4))
    """
    check_list(parts, "parts", "a list of mechanisms or compositions")
    return Composition("parallel", tuple(parts), weights)  # type: ignore[arg-type]  # which it reads


def subsample(part: Part, probability: object) -> Composition:
    """Poisson subsampling: each user takes part with a given probability.

    A user who does not take part sends a constant.

    Parameters
    ----------
    part : Mechanism, Laplace or Composition
        What a user who takes part runs, every parameter fixed except ``lam``.
    probability : number or text
        Probability of taking part, in [0, 1]; kept exact, a double by its shortest decimal form.

    Returns
    -------
    Composition
        The parallel composition of the part and the constant mechanism.

    Raises
    ------
    InputError
        If the probability is outside [0, 1].

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> subsample(randomizer("krr", k=4), Fraction(1, 10)).weights
    (Fraction(1, 10), Fraction(9, 10))
    """
    share = parse_inside(probability, "probability", "[0, 1]")
    return parallel((part, constant().with_defaults()), (share, 1 - share))


def hamming(composition: Part, distance: int) -> Composition:
    """Joint composition whose neighbours differ in exactly ``distance`` coordinates.

    Parameters
    ----------
    composition : Composition
        A joint composition of m parts.
    distance : int
        Number of coordinates in which neighbouring inputs differ, from 1 to m.

    Returns
    -------
    Composition
        The same parts with this distance.

    Raises
    ------
    InputError
        If ``composition`` is not a joint composition, or ``distance`` is out of range.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> hamming(joint(*[randomizer("krr", k=4)] * 3), 1).distance
    1
    """
    if not isinstance(composition, Composition) or composition.operator != "joint":
        raise InputError("hamming", getattr(composition, "name", composition), "a joint composition")
    return Composition("joint", composition.parts, distance=distance)


_LONGEST_TEXT: Final = 2_000
"""Characters beyond which an expression is refused."""

LARGEST_JOINT: Final = 64
"""Coordinates beyond which a joint composition is refused."""

_TOKEN: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*|[0-9._]+(?:[eE][+-]?[0-9]+)?(?:/[0-9]+)?|[(),:=])")
_OPERATORS: Final = ("joint", "parallel", "subsample", "hamming")

_T = TypeVar("_T")


def parse(text: str) -> Part:
    """Read a mechanism expression."""
    if len(text) > _LONGEST_TEXT:
        raise InputError("mechanism", f"{text[:40]}...", f"an expression of at most {_LONGEST_TEXT} characters")
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
    return InputError("mechanism", text, f"{expected} at character {position + 1} (forms: docs/expressions.md)")


@final
@dataclass(slots=True)
class _Reader:
    r"""The tokens of an expression and how far they have been read.

    expression := "laplace" [ "(" ( "domain" "=" ( "binary" | "unit" ) | "cells" "=" integer ) { "," ... } ")" ]
                | name [ "(" name "=" number { "," name "=" number } ")" ]
                | "joint" "(" expression "," integer ")"  |  "joint" "(" expression { "," expression } ")"
                | "parallel" "(" number ":" expression { "," number ":" expression } ")"
                | "subsample" "(" expression "," number ")"
                | "hamming" "(" expression "," integer ")"
    """

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
            case "subsample" | "hamming":
                self.expect("(")
                part = self.expression()
                self.expect(",")
                several = name == "hamming"
                number = self.integer("a distance", LARGEST_JOINT) if several else self.number()
                self.expect(")")
                return hamming(part, int(number)) if several else subsample(part, Fraction(number))
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
