"""The client of a plan that `symshuffle collect plan` wrote, as a program: a label in each line, a message for each.

    python planned.py PLAN

It draws from the operating system's randomness.
"""

import sys
from pathlib import Path

from symshuffle.collect import read_plan

client = read_plan(Path(sys.argv[1]).read_text(encoding="utf-8")).client()
for line in sys.stdin:
    print(client(line.strip()))
