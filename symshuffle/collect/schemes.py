"""The mechanisms that can be run, by the names that they have in the registry of mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.collect.encodings import BinaryHashing, LocalHashing, OptimizedUnary, Rappor
from symshuffle.collect.randomness import LARGEST_BOUND
from symshuffle.collect.responses import Hadamard, Response, Subsets
from symshuffle.collect.scheme import Scheme

LARGEST_K: Final = 10**6
"""Categories beyond which nothing is planned."""

SCHEMES: Final[Mapping[str, type[Scheme]]] = {
    one.name: one for one in (Response, Subsets, Rappor, OptimizedUnary, BinaryHashing, LocalHashing, Hadamard)
}
"""Name to class."""


def scheme(name: str, k: int, root: Fraction, parameters: Mapping[str, int]) -> Scheme:
    """The mechanism of a name."""
    if name not in SCHEMES:
        raise InputError("mechanism", name, "one of " + ", ".join(SCHEMES))
    if not root > 1:
        raise InputError("root", root, "a number > 1")
    if 4 * max(root.as_integer_ratio()) * k > LARGEST_BOUND:
        raise Unsupported(f"a level of {float(root):.3g} with {k} categories takes draws of more than 2**62 outcomes")
    kind = SCHEMES[name]
    if set(parameters) != set(kind.integers):
        raise InputError("parameters", dict(parameters), "values of " + (", ".join(kind.integers) or "nothing"))
    return kind(k, root, **parameters)
