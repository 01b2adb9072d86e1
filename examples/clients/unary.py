"""Unary encoding as somebody may have written it: the bits of one of K values, each flipped on its own.

    python unary.py K LAM [--seed S] [--wrong-flip]

Two values differ in two bits, so each bit may have odds sqrt(LAM). The defect is `--wrong-flip`: it gives each bit LAM.
"""

import argparse
import math
import random
import sys

parser = argparse.ArgumentParser()
parser.add_argument("k", type=int)
parser.add_argument("lam", type=float)
parser.add_argument("--seed")
parser.add_argument("--wrong-flip", action="store_true")
given = parser.parse_args()
source = random.SystemRandom() if given.seed is None else random.Random(given.seed)
odds = given.lam if given.wrong_flip else math.sqrt(given.lam)

for line in sys.stdin:
    bits = [int(j == int(line)) for j in range(given.k)]
    print("".join(str(bit ^ (source.random() * (odds + 1) < 1)) for bit in bits))
