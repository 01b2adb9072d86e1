"""The client of a plan that `symshuffle collect plan` wrote, as a program: a label in each line, a message for each.

    python planned.py PLAN

A line of several labels with commas between them is a survey: its messages are shuffled. It draws from the operating
system's randomness.
"""

import random
import sys
from pathlib import Path

from symshuffle.collect import read_plan

client = read_plan(Path(sys.argv[1]).read_text(encoding="utf-8")).client()
for line in sys.stdin:
    messages = [client(label) for label in line.strip().split(",")]
    random.SystemRandom().shuffle(messages)
    print(*messages, sep=",")
