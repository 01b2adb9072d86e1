"""Channels written straight from the words of their definitions, sharing nothing with the library but ``Channel``."""

import itertools
from fractions import Fraction

from symshuffle.channels.channel import Channel


def local_hashing(size: int, values: int, lam: Fraction) -> Channel:
    """A uniform hash function [size] -> [values], then randomized response on the hash of the input."""
    functions = list(itertools.product(range(values), repeat=size))
    total = lam + values - 1
    return Channel(
        tuple(
            tuple((lam if h[x] == y else 1) / total / len(functions) for h in functions for y in range(values))
            for x in range(size)
        )
    )


def unary(size: int, own: Fraction, other: Fraction) -> Channel:
    """Bit x of input x is 1 with probability ``own``, every other bit with probability ``other``."""

    def probability(x: int, string: tuple[int, ...]) -> Fraction:
        product = Fraction(1)
        for i, bit in enumerate(string):
            one = own if i == x else other
            product *= one if bit else 1 - one
        return product

    strings = list(itertools.product((0, 1), repeat=size))
    return Channel(tuple(tuple(probability(x, s) for s in strings) for x in range(size)))


def hadamard(order: int, lam: Fraction) -> Channel:
    """Rows of the Sylvester matrix, built by doubling; inputs are the columns other than the first."""
    matrix = [[1]]
    while len(matrix) < order:
        matrix = [row + row for row in matrix] + [row + [-e for e in row] for row in matrix]
    weight = {1: lam, -1: Fraction(1)}
    rows = []
    for x in range(1, order):
        column = [weight[matrix[y][x]] for y in range(order)]
        rows.append(tuple(w / sum(column) for w in column))
    return Channel(tuple(rows))
