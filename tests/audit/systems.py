"""Clients and pipelines with a seed, honest and broken, and exact laws of counts."""

import itertools
import math
from fractions import Fraction as F

import numpy as np

from symshuffle.collect import Client
from symshuffle.collect.messages import lines, pack
from symshuffle.collect.scheme import random_order, uniform


def binomial(runs, p):
    """Exact law of a number of hits."""
    return [math.comb(runs, c) * p**c * (1 - p) ** (runs - c) for c in range(runs + 1)]


def seeded(plan, seed):
    """The client of a plan, with a seed."""
    return Client(plan.scheme, plan.places, uniform(np.random.default_rng(seed).bytes))


def pairs_of_counts(runs, rows):
    """Counts of two messages for two inputs, and their exact probabilities."""
    laws = [binomial(runs, F(row[0])) for row in rows]
    for c, d in itertools.product(range(runs + 1), repeat=2):
        yield [[c, runs - c], [d, runs - d]], laws[0][c] * laws[1][d]


def pipeline(plan, seed, block=None):
    """Clients of a plan and a shuffler, as a function of a dataset; blocks of users are kept in order."""
    draw = uniform(np.random.default_rng(seed).bytes)

    def run(data):
        sent = pack(plan.scheme, plan.scheme.sample(np.array([plan.places[x] for x in data]), draw))
        texts = b"".join(lines(plan.scheme, sent)).decode().split("\n")[:-1]
        size = block or len(texts)
        parts = [texts[i : i + size] for i in range(0, len(texts), size)]
        return [part[j] for part in parts for j in random_order(len(part), draw)]

    return run
