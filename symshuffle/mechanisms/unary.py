r"""Unary encodings and local hashing: likelihoods of strings of independent bits, one bit per input.

In a unary encoding the output is a string of D bits; bit x of input x is 1 with probability a, every other bit with
probability b. Local hashing has the same likelihoods: the output (h, y) of a hash function to g values and a value
stands for the string of bits [h(x) = y]. Relative to independent bits of probability b, the likelihood of an output is
a/b where the input's own bit is 1, and (1 - a)/(1 - b) where it is 0; the strings are counted with that weight.

Two strings are special, for in them all inputs are in the same state and the blanket is larger: all ones and all zeros.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import sympy as sp

from symshuffle.mechanisms import definitions
from symshuffle.mechanisms.given import LAM_PARAMETER, each_output
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass
from symshuffle.mechanisms.symbolic import LAM, POWER_OF_TWO, Parameter

D: Final = sp.Symbol("D", integer=True, positive=True)
G: Final = sp.Symbol("g", integer=True, positive=True)

_DOMAIN: Final = Parameter(D, sp.Integer(2), None, True, "domain size (default: the large-domain limit)", sp.oo)


def _of_bits(classes: definitions.Classes) -> tuple[OutputClass, ...]:
    """The classes of a definition, the weights of whose strings are expressions."""
    members: Any = [c.members for c in classes]
    fields = [{f.name: sp.sympify(getattr(one, f.name)) for f in dataclasses.fields(one)} for one in members]
    listed = [dataclasses.replace(one, **known) for one, known in zip(members, fields, strict=True)]
    return tuple(dataclasses.replace(c, members=one) for c, one in zip(classes, listed, strict=True))


def rappor() -> Mechanism:
    """Basic one-time RAPPOR: every bit of the one-hot encoding is kept with probability t/(1 + t), t = sqrt(lam)."""
    return Mechanism(
        "rappor",
        "basic one-time RAPPOR (symmetric unary encoding)",
        D,
        _of_bits(definitions.rappor(LAM, D)),
        (LAM_PARAMETER, _DOMAIN),
        source="decomposition, Appendix A.2",
    )


def oue() -> Mechanism:
    """Optimized unary encoding: the own bit is uniform, every other bit is 1 with probability 1/(1 + lam)."""
    return Mechanism(
        "oue",
        "optimized unary encoding",
        D,
        _of_bits(definitions.oue(LAM, D)),
        (LAM_PARAMETER, _DOMAIN),
        source="decomposition, Appendix A.3",
    )


def blh() -> Mechanism:
    """Binary local hashing: a uniform hash function to one bit, and binary randomized response on the hash."""
    return Mechanism(
        "blh",
        "binary local hashing",
        D,
        _of_bits(definitions.blh(LAM, D)),
        (LAM_PARAMETER, _DOMAIN),
        source="decomposition, Appendix A.1",
    )


def olh() -> Mechanism:
    """Local hashing to g values: a uniform hash function, and g-ary randomized response on the hash."""
    return Mechanism(
        "olh",
        "local hashing to g values",
        D,
        _of_bits(definitions.olh(LAM, G, D)),
        (LAM_PARAMETER, Parameter(G, sp.Integer(2), None, True, "number of hash values"), _DOMAIN),
        source="optimized local hashing; at g = 2 binary local hashing",
    )


def hadamard() -> Mechanism:
    """Hadamard response: a row index y of the Hadamard matrix, lam times as likely where column x has a plus sign.

    Inputs are the non-zero columns 1, ..., D - 1. Row 0 has plus signs only. Two columns see each pair of signs in a
    quarter of the rows; three see each triple in an eighth, unless one is the sum of the other two. Rows and columns
    are numbered from 0, so that the entry is the parity of the common bits of both numbers.
    """
    return Mechanism(
        "hadamard",
        "Hadamard response",
        D - 1,
        tuple(each_output(c, D - 1, D) for c in definitions.hadamard(LAM, D)),
        (
            LAM_PARAMETER,
            Parameter(D, sp.Integer(4), None, True, "matrix order (default: the limit)", sp.oo, kind=POWER_OF_TWO),
        ),
        source="decomposition, Appendix A.4",
    )
