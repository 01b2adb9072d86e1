"""The outputs of a class, listed one by one: the state of every input, and a weight. Integers go in; no SymPy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

ANY_TWO: Final = "any two inputs: the mechanism treats all pairs alike"
"""All pairs of inputs, in words, where none differs from another."""

Listed: TypeAlias = "Iterable[tuple[tuple[int, ...], Any]]"


def arrangements(counts: Sequence[int], first: int = 0) -> Iterator[tuple[int, ...]]:
    """All sequences with ``counts[i]`` entries equal to ``first + i``, in lexicographic order."""
    total = sum(counts)
    if len(counts) == 1:
        yield (first,) * total
        return
    for chosen in itertools.combinations(range(total), counts[0]):
        others = [place for place in range(total) if place not in set(chosen)]
        for rest in arrangements(counts[1:], first + 1):
            states = [first] * total
            for place, state in zip(others, rest, strict=True):
                states[place] = state
            yield tuple(states)


def arrangements_of(counts: Sequence[int]) -> int:
    """Number of ways to distribute the states over the inputs."""
    return math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))


def half_arcs(values: Mapping[str, int]) -> Listed:
    """Points of the cycle Z_k: an input is in state 0 if the half cycle that starts there contains the point."""
    k = values["k"]
    return ((tuple(0 if (y - x) % k < k // 2 else 1 for x in range(k)), 1) for y in range(k))


def hadamard_rows(values: Mapping[str, int]) -> Listed:
    """Rows 1 to D - 1 of the Hadamard matrix: state 0 is a plus sign in the column of an input, 1 a minus sign."""
    order = values["D"]
    return ((tuple((x & y).bit_count() % 2 for x in range(1, order)), 1) for y in range(1, order))


def hyperplanes(values: Mapping[str, int]) -> Listed:
    """Affine hyperplanes over GF(g): state 0 is an input inside, 1 one outside."""
    g, m = values["g"], values["m"]
    points = list(itertools.product(range(g), repeat=m))
    for a in points[1:]:
        products = [sum(x * y for x, y in zip(a, point, strict=True)) % g for point in points]
        for c in range(g):
            yield tuple(int(product != c) for product in products), 1


def nowhere(values: Mapping[str, int]) -> Listed:
    """The messages of local hashing that contain no input."""
    g, m = values["g"], values["m"]
    return (((0,) * g**m, 1) for _ in range(g - 1))


@final
@dataclass(frozen=True, slots=True)
class BitStrings:
    """The strings that are not all the same bit, weighted as independent bits that are 1 with probability ``other``.

    - ``other``: probability of a 1, in (0, 1): an expression, or a number.
    """

    other: Any

    def __call__(self, values: Mapping[str, int]) -> Listed:
        """All strings with their weights."""
        for states in itertools.product((0, 1), repeat=values["D"]):
            if 0 < sum(states) < values["D"]:
                yield states, self.other ** (values["D"] - sum(states)) * (1 - self.other) ** sum(states)


@final
@dataclass(frozen=True, slots=True)
class Alike:
    """The one string of D bits in which all inputs are in the same state.

    - ``weight``: an expression, or a number.
    """

    weight: Any

    def __call__(self, values: Mapping[str, int]) -> Listed:
        """That string with its weight."""
        return [((0,) * values["D"], self.weight)]


def strings_counted(members: Any, length: int) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The strings by number of ones, where inputs are alike: inputs in each state, and the weight of all of them.

    - ``members``: a :class:`BitStrings`, or an :class:`Alike`.
    """
    if isinstance(members, Alike):
        yield (length,), members.weight
        return
    for ones in range(1, length):
        zeros = length - ones
        yield (zeros, ones), members.other**zeros * (1 - members.other) ** ones * math.comb(length, ones)


def cyclic_distance(values: Mapping[str, int], x: int, y: int) -> int:
    """Distance of two inputs on the cycle Z_k."""
    return min((x - y) % values["k"], (y - x) % values["k"])


TOLD: Final[Mapping[str, Callable[[Mapping[str, int], int, int], int]]] = {"cyclic distance": cyclic_distance}
"""By name: from the parameters and two inputs to the number that tells classes of pairs apart."""
