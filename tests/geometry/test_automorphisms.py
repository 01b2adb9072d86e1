"""Groups of matrices whose orders are known, and permutations checked by brute force."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest

from symshuffle.base.errors import Unsupported
from symshuffle.channels.geometry.automorphisms import column_automorphisms


def group_of(rows):
    """The group of column permutations that permute the rows of an integer matrix."""
    codes = np.array(rows, dtype=np.int64)
    return column_automorphisms(codes, codes.shape[1], lambda g: preserves(rows, g), advice="pass generators")


def preserves(rows, permutation):
    back = np.argsort(permutation)
    return Counter(tuple(row[x] for x in back) for row in rows) == Counter(map(tuple, rows))


def circle(m):
    return [[min((x - t) % m, (t - x) % m) for x in range(m)] for t in range(m)]


def cube(d):
    return [[(x ^ y).bit_count() for x in range(2**d)] for y in range(2**d)]


def paley(q):
    squares = {x * x % q for x in range(1, q)}
    return [[0 if x == y else 1 + ((x - y) % q in squares) for x in range(q)] for y in range(q)]


def clusters(count, size):
    return [[0 if x == y else 1 + (x // size != y // size) for x in range(count * size)] for y in range(count * size)]


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        (circle(7), 14),
        (circle(30), 60),
        ([[(x - t) % 9 for x in range(9)] for t in range(9)], 9),
        (cube(3), 48),
        (cube(5), 2**5 * math.factorial(5)),
        ([[(x & y).bit_count() % 2 for x in range(8)] for y in range(8)], 168),
        ([[(x & y).bit_count() % 2 for x in range(16)] for y in range(16)], 20160),
        (paley(13), 78),
        (paley(29), 406),
        (clusters(4, 3), math.factorial(3) ** 4 * math.factorial(4)),
        ([[int(x == t) for x in range(20)] for t in range(20)], math.factorial(20)),
        ([[abs(x - t) for x in range(11)] for t in range(11)], 2),
    ],
)
def test_known_orders(rows, order):
    group = group_of(rows)
    assert group.order() == order
    assert all(preserves(rows, generator) for generator in group.generators)


@pytest.mark.parametrize("seed", range(12))
def test_small_matrices_by_brute_force(seed):
    rng = random.Random(seed)
    m = rng.choice([3, 4, 5])
    rows = [[rng.randrange(2) for _ in range(m)] for _ in range(rng.choice([2, 3, 4]))]
    expected = sum(preserves(rows, permutation) for permutation in itertools.permutations(range(m)))
    assert group_of(rows).order() == expected


def test_columns_that_are_not_meant_are_permuted_among_themselves_only():
    # Columns 0, 1 may be exchanged if the marks in columns 2, 3 are exchanged too; columns 2, 3 count as one kind.
    codes = np.array([[1, 0, 5, 0], [0, 1, 0, 5]], dtype=np.int64)
    assert column_automorphisms(codes, 2, lambda _: True, advice="").order() == 2
    marked = np.array([[1, 0, 5, 0], [0, 1, 0, 0]], dtype=np.int64)
    assert column_automorphisms(marked, 2, lambda _: False, advice="").order() == 1


def test_a_matrix_that_is_too_large_is_refused_before_it_is_searched():
    codes = np.broadcast_to(np.int64(0), (20_000, 20_000))
    with pytest.raises(Unsupported, match=r"20000 x 20000 matrix would take about 40 s .*pass generators"):
        column_automorphisms(codes, 20_000, lambda _: True, advice="pass generators")
