r"""Unary encodings and local hashing: one bit per input, all bits independent.

In a unary encoding the output is a string of D bits; bit x of input x is 1 with probability a, every other bit with
probability b. Local hashing has the same likelihoods: the output (h, y) of a hash function to g values and a value
stands for the string of bits [h(x) = y]. Relative to independent bits of probability b, the likelihood of an output is
a/b where the input's own bit is 1, and (1 - a)/(1 - b) where it is 0; the strings are counted with that weight.

Two strings are special, for in them all inputs are in the same state and the blanket is larger: all ones and all zeros.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

import sympy as sp

from symshuffle.mechanisms.given import LAM_PARAMETER
from symshuffle.mechanisms.members import Alike, BitStrings, hadamard_rows
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass, State
from symshuffle.mechanisms.symbolic import LAM, POWER_OF_TWO, Parameter

D: Final = sp.Symbol("D", integer=True, positive=True)
G: Final = sp.Symbol("g", integer=True, positive=True)

_DOMAIN: Final = Parameter(D, sp.Integer(2), None, True, "domain size (default: the large-domain limit)", sp.oo)
_ONE: Final = sp.Integer(1)


def _bits(own: sp.Expr, other: sp.Expr) -> tuple[OutputClass, ...]:
    """The strings of D bits: mixed ones, all ones, all zeros."""
    hit, miss = own / other, (1 - own) / (1 - other)
    ones, zeros = other**D, (1 - other) ** D
    mixed = 1 - ones - zeros

    def patterns(inputs: int) -> tuple[Any, ...]:
        """Weights of the mixed strings that show given bits at some inputs: independent bits, less the two strings."""
        weights = (other, 1 - other)
        return tuple(
            (
                *states,
                sp.Mul(*(weights[i] for i in states)) - (ones if not any(states) else zeros if all(states) else 0),
            )
            for states in itertools.product((0, 1), repeat=inputs)
        )

    one = State("one", D * (other - ones) / mixed, hit)
    zero = State("zero", D * (1 - other - zeros) / mixed, miss)
    return (
        OutputClass("mixed", mixed, (one, zero), patterns(2), BitStrings(other), 2**D - 2, patterns(3)),
        _same("ones", ones, hit),
        _same("zeros", zeros, miss),
    )


def _same(name: str, weight: sp.Expr, probability: sp.Expr) -> OutputClass:
    """The one string in which all inputs are in the same state."""
    counts = ((0, 0, weight),), Alike(weight), _ONE, ((0, 0, 0, weight),)
    return OutputClass(name, weight, (State("all", D, probability),), *counts)


def rappor() -> Mechanism:
    """Basic one-time RAPPOR: every bit of the one-hot encoding is kept with probability t/(1 + t), t = sqrt(lam)."""
    t = sp.sqrt(LAM)
    return Mechanism(
        "rappor",
        "basic one-time RAPPOR (symmetric unary encoding)",
        D,
        _bits(t / (1 + t), 1 / (1 + t)),
        (LAM_PARAMETER, _DOMAIN),
        source="decomposition, Appendix A.2",
    )


def oue() -> Mechanism:
    """Optimized unary encoding: the own bit is uniform, every other bit is 1 with probability 1/(1 + lam)."""
    return Mechanism(
        "oue",
        "optimized unary encoding",
        D,
        _bits(sp.Rational(1, 2), 1 / (1 + LAM)),
        (LAM_PARAMETER, _DOMAIN),
        source="decomposition, Appendix A.3",
    )


def blh() -> Mechanism:
    """Binary local hashing: a uniform hash function to one bit, and binary randomized response on the hash."""
    return Mechanism(
        "blh",
        "binary local hashing",
        D,
        _bits(LAM / (1 + LAM), sp.Rational(1, 2)),
        (LAM_PARAMETER, _DOMAIN),
        source="decomposition, Appendix A.1",
    )


def olh() -> Mechanism:
    """Local hashing to g values: a uniform hash function, and g-ary randomized response on the hash."""
    return Mechanism(
        "olh",
        "local hashing to g values",
        D,
        _bits(LAM / (LAM + G - 1), 1 / G),
        (LAM_PARAMETER, Parameter(G, sp.Integer(2), None, True, "number of hash values"), _DOMAIN),
        source="optimized local hashing; at g = 2 binary local hashing",
    )


def hadamard() -> Mechanism:
    """Hadamard response: a row index y of the Hadamard matrix, lam times as likely where column x has a plus sign.

    Inputs are the non-zero columns 1, ..., D - 1. Row 0 has plus signs only. Two columns see each pair of signs in a
    quarter of the rows; three see each triple in an eighth, unless one is the sum of the other two. Rows and columns
    are numbered from 0, so that the entry is the parity of the common bits of both numbers.
    """
    high, low = 2 * LAM / (D * (LAM + 1)), 2 / (D * (LAM + 1))
    quarter = D / 4

    return Mechanism(
        "hadamard",
        "Hadamard response",
        D - 1,
        (
            OutputClass(
                "row",
                D - 1,
                (State("plus", D / 2 - 1, high), State("minus", D / 2, low)),
                ((0, 0, quarter - 1), (0, 1, quarter), (1, 0, quarter), (1, 1, quarter)),
                hadamard_rows,
            ),
            OutputClass("constant row", _ONE, (State("plus", D - 1, high),)),
        ),
        (
            LAM_PARAMETER,
            Parameter(D, sp.Integer(4), None, True, "matrix order (default: the limit)", sp.oo, kind=POWER_OF_TWO),
        ),
        source="decomposition, Appendix A.4",
    )
