"""k-ary randomized response as somebody may have written it: a client, or with commas in a line a shuffled survey.

    python response.py K LAM [--seed S] [--block B]

Reads values from 0 to K - 1, one in each line, and answers each with a message. A line of several values with commas
between them is a survey: its messages are shuffled. Two defects can be switched on: `--seed` makes every process draw
the same, and `--block` shuffles B users at a time and keeps the blocks in order.
"""

import argparse
import random
import sys

parser = argparse.ArgumentParser()
parser.add_argument("k", type=int)
parser.add_argument("lam", type=float)
parser.add_argument("--seed")
parser.add_argument("--block", type=int)
given = parser.parse_args()
source = random.SystemRandom() if given.seed is None else random.Random(given.seed)


def message(value):
    if source.random() * (given.lam + given.k - 1) < given.lam:
        return value
    return (value + 1 + source.randrange(given.k - 1)) % given.k


def shuffled(messages):
    size = given.block or len(messages)
    blocks = [messages[i : i + size] for i in range(0, len(messages), size)]
    for block in blocks:
        source.shuffle(block)
    return [one for block in blocks for one in block]


for line in sys.stdin:
    print(*shuffled([message(int(value)) for value in line.split(",")]), sep=",")
