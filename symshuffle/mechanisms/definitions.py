"""The named randomizers as functions of their parameters, each written once for numbers of every kind.

A definition returns classes of outputs: rationals, balls, quotients of polynomials or SymPy's expressions go in, and
the same come out; ``lam**0`` is the number 1 of their kind. Probabilities are those of all outputs of a class together,
so that no number of subsets is left; :mod:`symshuffle.mechanisms.finite` and :mod:`symshuffle.mechanisms.unary` share
them among the outputs. The states of a class come with falling probability.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

from symshuffle.mechanisms.members import Alike, BitStrings, hadamard_rows, half_arcs, hyperplanes, nowhere
from symshuffle.mechanisms.names import THINNED
from symshuffle.mechanisms.outputs import OutputClass, State

Classes: TypeAlias = "tuple[OutputClass, ...]"


@final
class _Infinite:
    """The size of an unbounded domain: quotients by it and powers of numbers in (0, 1) to it are 0."""

    def _same(self, other: object) -> _Infinite:
        return self

    __add__ = __sub__ = __mul__ = __rmul__ = __truediv__ = _same

    def __rtruediv__(self, other: object) -> int:
        return 0

    __rpow__ = __rtruediv__


UNBOUNDED: Final = _Infinite()


def _null(inputs: Any, mass: Any) -> OutputClass:
    """One output that every input sends with the same probability."""
    return OutputClass("null", 1, (State("all", inputs, mass),))


def _response(lam: Any, k: Any, mass: Any) -> OutputClass:
    """The k outputs of k-ary randomized response, run with probability ``mass``."""
    each = mass * k / (lam + k - 1)
    return OutputClass("symbol", 1, (State("hit", 1, lam * each, 1), State("miss", k - 1, each)))


def rr(lam: Any) -> Classes:
    """Binary randomized response: the true bit is ``lam`` times as likely as the other one."""
    each = 2 / (lam + 1)
    return (OutputClass("bit", 1, (State("hit", 1, lam * each, 1), State("miss", 1, each))),)


def krr(lam: Any, k: Any) -> Classes:
    """k-ary randomized response: the true input has ``lam`` times the probability of each other symbol."""
    return (_response(lam, k, 1),)


def subset_selection(lam: Any, k: Any, s: Any) -> Classes:
    """An s-subset of the inputs, ``lam`` times as likely if it contains the input."""
    each = k / (s * lam + k - s)
    return (OutputClass("subset", 1, (State("hit", s, lam * each, 1), State("miss", k - s, each))),)


def augmented_randomized_response(lam: Any, k: Any, p: Any) -> Classes:
    """k-ary randomized response with probability ``p``, and otherwise a null symbol."""
    return _null(k, 1 - p), _response(lam, k, p)


def half_block(lam: Any, k: Any, d: Any) -> Classes:
    """A point of the cycle Z_k, ``lam`` times as likely on the half cycle that starts at the input.

    - ``d``: cyclic distance of the two inputs that are compared.
    """
    low, apart, half = 2 / (lam + 1), d / k, lam**0 / 2
    states = State("inside", k / 2, lam * low, 1), State("outside", k / 2, low)
    pairs = (0, 0, half - apart), (0, 1, apart), (1, 0, apart), (1, 1, half - apart)
    return (OutputClass("point", 1, states, pairs, half_arcs, k),)


def identity(k: Any) -> Classes:
    """The input itself."""
    return (OutputClass("symbol", 1, (State("hit", 1, k), State("miss", k - 1, 0, None))),)


def constant(k: Any) -> Classes:
    """One output whatever the input."""
    return (_null(k, 1),)


def erasure(k: Any, p: Any) -> Classes:
    """The input with probability ``1 - p``, and otherwise an erasure mark."""
    return OutputClass("symbol", 1, (State("hit", 1, k * (1 - p)), State("miss", k - 1, 0, None))), _null(k, p)


def _bits(own: Any, other: Any, length: Any) -> Classes:
    """The strings of ``length`` bits: mixed ones, all ones, all zeros.

    - ``own``, ``other``: probability of a 1 at the input's own bit, and at another one.
    """
    hit, miss, rest = own / other, (1 - own) / (1 - other), 1 - other
    ones, zeros = other**length, rest**length
    mixed = 1 - ones - zeros

    def patterns(inputs: int) -> tuple[Any, ...]:
        """Weights of the mixed strings that show given bits at some inputs: independent bits, less the two strings."""
        return tuple((*states, _mixed(states)) for states in itertools.product((0, 1), repeat=inputs))

    def _mixed(states: tuple[int, ...]) -> Any:
        weight, *others = (rest if bit else other for bit in states)
        for one in others:
            weight = weight * one
        if len(set(states)) > 1:
            return weight
        return 0 if length == len(states) else weight - (zeros if states[0] else ones)

    one, zero = (
        State("one", length * (other - ones) / mixed, hit, 1),
        State("zero", length * (rest - zeros) / mixed, miss),
    )
    return (
        OutputClass("mixed", mixed, (one, zero), patterns(2), BitStrings(other), 2**length - 2, patterns(3)),
        _same("ones", length, ones, hit),
        _same("zeros", length, zeros, miss),
    )


def _same(name: str, length: Any, weight: Any, probability: Any) -> OutputClass:
    """The one string in which all inputs are in the same state."""
    counts = ((0, 0, weight),), Alike(weight), 1, ((0, 0, 0, weight),)
    return OutputClass(name, weight, (State("all", length, probability),), *counts)


def rappor(lam: Any, D: Any, root: Any = None) -> Classes:
    """Basic one-time RAPPOR: every bit of the one-hot encoding is kept with probability t/(1 + t), t = sqrt(lam).

    - ``root``: the root, where it is no power of ``lam``.
    """
    root = lam ** Fraction(1, 2) if root is None else root
    return _bits(root / (1 + root), 1 / (1 + root), D)


def oue(lam: Any, D: Any) -> Classes:
    """Optimized unary encoding: the own bit is uniform, every other bit is 1 with probability 1/(1 + lam)."""
    return _bits(lam**0 / 2, 1 / (1 + lam), D)


def blh(lam: Any, D: Any) -> Classes:
    """Binary local hashing: a uniform hash function to one bit, and binary randomized response on the hash."""
    return _bits(lam / (1 + lam), lam**0 / 2, D)


def olh(lam: Any, g: Any, D: Any) -> Classes:
    """Local hashing to g values: a uniform hash function, and g-ary randomized response on the hash."""
    return _bits(lam / (lam + g - 1), 1 / g, D)


def hadamard(lam: Any, D: Any) -> Classes:
    """A row of the Hadamard matrix of order ``D``, ``lam`` times as likely where the column of the input has a plus.

    Inputs are the non-zero columns 1, ..., D - 1. Row 0 has plus signs only. Two columns see each pair of signs in a
    quarter of the rows.
    """
    low, share, quarter = 2 / (lam + 1), lam**0 / D, lam**0 / 4
    states = State("plus", D * lam**0 / 2 - 1, lam * low, 1), State("minus", D * lam**0 / 2, low)
    pairs = (0, 0, quarter - share), (0, 1, quarter), (1, 0, quarter), (1, 1, quarter)
    return (
        OutputClass("row", 1 - share, states, pairs, hadamard_rows, D - 1),
        OutputClass("constant row", share, (State("plus", D - 1, lam * low),)),
    )


def affine_hashing(lam: Any, g: Any, m: Any) -> Classes:
    """Local hashing by inner products over GF(g): an affine hyperplane, all of the ``g**m`` inputs, or none."""
    size = g**m
    hit, miss = lam / ((lam + g - 1) * size), 1 / ((lam + g - 1) * size)
    alike, apart = size / g - 1, size - size / g  # numbers of a != 0 with equal and with different values at two inputs
    pairs = (0, 0, alike), (0, 1, apart), (1, 0, apart), (1, 1, alike * (g - 1) + apart * (g - 2))
    states = State("inside", size / g, hit, 1), State("outside", size - size / g, miss)
    return (
        OutputClass("hyperplane", g * (size - 1), states, pairs, hyperplanes),
        OutputClass("everywhere", 1, (State("all", size, hit),)),
        OutputClass("nowhere", g - 1, (State("all", size, miss),), ((0, 0, g - 1),), nowhere),
    )


def thinned(classes: Classes, inputs: Any, p: Any) -> Classes:
    """The classes of a randomizer that is run with probability ``p``; a null symbol is sent otherwise."""
    whole = (replace(c, states=tuple(replace(s, probability=p * s.probability) for s in c.states)) for c in classes)
    return *whole, _null(inputs, 1 - p)


_DEFINITIONS: Final[Mapping[str, Callable[..., Classes]]] = {
    "rr": rr,
    "krr": krr,
    "subset-selection": subset_selection,
    "aug-rr": augmented_randomized_response,
    "half-block": half_block,
    "identity": identity,
    "constant": constant,
    "erasure": erasure,
    "rappor": rappor,
    "oue": oue,
    "blh": blh,
    "olh": olh,
    "hadamard": hadamard,
    "affine-hashing": affine_hashing,
}


def classes_of(name: str, values: Mapping[str, Any]) -> tuple[Classes, Any]:
    """Classes of outputs and number of inputs of a named randomizer, thinned or not, at values of its parameters."""
    base, own = name.removeprefix(THINNED), dict(values)
    share = None if base == name else own.pop("p")
    if base == "affine-hashing":
        inputs = own["g"] ** own["m"]
    elif base == "rr":
        inputs = 2 * own["lam"] ** 0
    else:
        inputs = own["k"] if "k" in own else own["D"] - 1 if base == "hadamard" else own["D"]
    found = _DEFINITIONS[base](**own)
    return (found if base == name else thinned(found, inputs, share)), inputs
