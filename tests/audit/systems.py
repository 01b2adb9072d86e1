"""Clients and pipelines with a seed, honest and broken, and exact laws of counts."""

import itertools
import math
from fractions import Fraction as F

import numpy as np

from symshuffle.collect import Client
from symshuffle.collect.randomness import uniform
from tests.collect.cases import small


def binomial(runs, p):
    """Exact law of a number of hits."""
    return [math.comb(runs, c) * p**c * (1 - p) ** (runs - c) for c in range(runs + 1)]


def seeded(plan, seed):
    """The client of a plan, with a seed."""
    return Client(plan.scheme, plan.categories, uniform(np.random.default_rng(seed).bytes))


def pairs_of_counts(runs, rows):
    """Counts of two messages for two inputs, and their exact probabilities."""
    laws = [binomial(runs, F(row[0])) for row in rows]
    for c, d in itertools.product(range(runs + 1), repeat=2):
        yield [[c, runs - c], [d, runs - d]], laws[0][c] * laws[1][d]


__all__ = ["F", "binomial", "pairs_of_counts", "seeded", "small"]
