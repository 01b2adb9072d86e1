"""Small plans of every mechanism, and the law of a message by enumerating all draws of its sampler."""

import itertools
from collections import Counter
from fractions import Fraction as F

import numpy as np

from symshuffle.accountants.deployment.model import UNSAID
from symshuffle.collect import Client, SurveyPlan

PARAMETERS = {
    "krr": {},
    "subset-selection": {"s": 2},
    "rappor": {},
    "oue": {},
    "blh": {},
    "olh": {"g": 3},
    "hadamard": {},
}
ROOTS = {"rappor": F(2)}


def small(name, k=4, root=None, **given):
    """A plan that was not searched for: nothing is certified, and the sampler does not ask."""
    deployment = UNSAID.with_(n=given.pop("n", 8), min_batch_size=given.pop("min_batch_size", 1))
    fields = {"deployment": deployment, "eps": F(1), "delta": F(1, 100)} | given
    return SurveyPlan(name=name, k=k, root=root or ROOTS.get(name, F(3)), parameters=PARAMETERS[name], **fields)


class Branch(Exception):
    """The next draw, which has not been decided yet."""


def enumerated(run):
    """Law of what a function of a source of uniform integers returns: all its draws, as rationals."""
    law, open_ones = Counter(), [((), F(1))]
    while open_ones:
        decided, weight = open_ones.pop()
        left = iter(decided)

        def draw(bound, shape, left=left):
            size = int(np.prod(shape))
            found = list(itertools.islice(left, size))
            if len(found) < size:
                raise Branch(bound)
            return np.array(found, dtype=np.int64).reshape(shape)

        try:
            law[run(draw)] += weight
        except Branch as branch:
            (bound,) = branch.args
            open_ones += [((*decided, i), weight / bound) for i in range(bound)]
    return law


def law_of(plan, value):
    """Law of the message of a user with this value."""
    return enumerated(lambda draw: Client(plan.scheme, plan.places, draw)(value))


def supported(plan, message):
    """Categories that a message supports, from the definition of its mechanism."""
    k, numbers = plan.k, [int(x) for x in message.split()]
    match plan.name:
        case "krr" | "subset-selection":
            return set(numbers)
        case "rappor" | "oue":
            return {j for j in range(k) if message[j] == "1"}
        case "hadamard":
            return {j for j in range(k) if (numbers[0] & (j + 1)).bit_count() % 2 == 0}
    g = plan.scheme.g
    products = [sum(map(int.__mul__, digits(numbers[0], g), digits(j, g))) % g for j in range(k)]
    return {j for j in range(k) if products[j] == numbers[1]}


def digits(number, base):
    """Digits of a number, the last one first, with zeros behind."""
    return [number // base**i % base for i in range(20)]
