"""A family with its parameters and its level chosen: what a row says of it, off the file of closed forms."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

import flint

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Number,
    Real,
    lower_end,
    to_arb,
    working_precision,
)
from symshuffle.decompositions.calculated import number_at
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.design.comparison.families import Family
from symshuffle.design.comparison.search import Parameters
from symshuffle.mechanisms.hashing import hyperplane_bits
from symshuffle.utility.estimation.votes import VoteNoise, named_votes

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism

HASHED: Final = {"olh": "g", "blh": "2"}
"""Mechanisms of local hashing with their number of hash values. Their outputs are all strings of supported categories,
of which a client sends one of a small family."""


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """A family with all parameters fixed."""

    family: Family
    lam: Real
    values: Parameters

    @property
    def thin(self) -> bool:
        """Whether a null symbol is sent at all."""
        return self.family.thin and self.share != 1

    @property
    def share(self) -> Fraction:
        """The share of messages that are not null symbols added to the family."""
        return Fraction(dict(self.values)["p"]) if self.family.thin else Fraction(1)

    @property
    def numbers(self) -> dict[str, Any]:
        """All parameters of the mechanism without the null symbol, by name."""
        own = {name: Fraction(value) for name, value in self.values if not (self.family.thin and name == "p")}
        return {"lam": self.lam, **self.family.sized, **own}

    @property
    def title(self) -> str:
        """The field's name for it."""
        title = str(self.family.form["row"]["title"])
        return f"{title}, or a null symbol" if self.thin else title

    @property
    def chi_square(self) -> Number:
        """The largest pairwise chi-square divergence."""
        found: Any = number_at(self.family.form["moments"]["chi square"], self.numbers, DEFAULT_BITS)
        spent: Number = found * self.share if self.thin else found
        return spent

    def level(self, bits: int | None) -> Number:
        """The local level, exact where it is rational and no precision is asked for."""
        if isinstance(self.lam, Exp):
            exact = self.lam.exponent
            return exact if bits is None else Ball(exact, exact, bits)
        if self.lam == 1:
            return Fraction(0) if bits is None else Ball(Fraction(0), Fraction(0), bits)
        with working_precision((bits or DEFAULT_BITS) + 32):
            return Ball.from_arb(to_arb(self.lam).log(), bits or DEFAULT_BITS)

    def votes(self, bits: int) -> VoteNoise:
        """The noise of the canonical estimator's votes."""
        one = self.family
        return named_votes(one.base, self.numbers, share=self.share, size=one.all_inputs, inputs=one.inputs, bits=bits)

    @property
    def bitwise(self) -> VoteNoise | None:
        """The noise of the estimator that debiases every bit by itself; None where messages are no strings of bits."""
        texts = self.family.form["row"]["bitwise"]
        if texts is None or self.thin:
            return None
        own, absent = (number_at(text, self.numbers, DEFAULT_BITS) for text in texts)
        return VoteNoise(own, absent, self.family.all_inputs, "bitwise unbiased")

    @property
    def message_bits(self) -> int:
        """Bits that name one of its outputs; of local hashing a function of a family and a value, as plans do."""
        if self.family.base in HASHED:
            g = number_at(HASHED[self.family.base], self.numbers, DEFAULT_BITS)
            return hyperplane_bits(self.family.inputs, int(lower_end(g)), more=int(self.thin))
        return bits_for(self.family.form["row"]["outputs"], self.numbers, more=int(self.thin))

    @property
    def source(self) -> ClosedForm | Mechanism:
        """The same for its privacy."""
        return self.family.source(lam=self.lam, **dict(self.values))

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism itself, for whatever needs algebra."""
        return self.family.at(lam=self.lam, **dict(self.values))

    @property
    def obstruction(self) -> str:
        """Why a mechanism whose pairs of inputs differ has no unbiased estimator."""
        size = self.family.all_inputs
        if not self.family.form["row"]["obstructed"] or size < 4 or size % 2:
            name = self.family.base
            raise Unsupported(f"{name} treats pairs of inputs differently: use AnchoredLaw.from_channel(...)")
        half = size // 2
        return (
            f"no estimator is unbiased: users half at 0 and half at {half} send messages of the same law as users half "
            f"at 1 and half at {half + 1}"
        )


def bits_for(outputs: str, values: dict[str, Any], *, more: int = 0) -> int:
    """Bits that name one of so many outputs, and ``more``: a sum, a power or a binomial coefficient of parameters.

    Examples
    --------
    >>> bits_for("binomial(k, s)", {"k": Fraction(5), "s": Fraction(2)}), bits_for("2**D", {"D": Fraction(7)})
    (4, 7)
    """
    tree = ast.parse(outputs, mode="eval").body
    if isinstance(tree, ast.Call):
        size, chosen = (_whole(part, values) for part in tree.args)
        with working_precision(DEFAULT_BITS):  # far from a power of 2 its digits need not be written out
            about = Ball.from_arb((flint.arb.bin_uiui(size, chosen) + more).log() / flint.arb(2).log(), DEFAULT_BITS)
        if math.ceil(about.lower) == math.ceil(about.upper):
            return math.ceil(about.upper)
        count = math.comb(size, chosen)
    elif isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow):
        count = _whole(tree.left, values) ** _whole(tree.right, values)
    else:
        count = _whole(tree, values)
    return (count + more - 1).bit_length()


def _whole(part: ast.expr, values: dict[str, Any]) -> int:
    found = number_at(ast.unparse(part), values, DEFAULT_BITS)
    assert isinstance(found, Fraction)
    return int(found)
