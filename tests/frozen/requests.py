"""The requests that are kept, drawn from a grammar by a fixed seed.

A request is what a user writes: an expression in the top-level names of symshuffle (``F`` is a fraction), a line that
begins with ``symshuffle``, or ``claim`` and an id.
"""

import contextlib
import io
import json
import random
import re
from functools import cache
from pathlib import Path

from symshuffle.cli import main

SEED = "symshuffle 2026"
GRAMMAR = Path(__file__).with_name("grammar.txt")
NAME = re.compile(r"{(\w+)}")


@cache
def grammar():
    """The grammar of the kept requests."""
    return parsed(GRAMMAR.read_text(encoding="utf-8"))


def parsed(text):
    """Alternatives by name, each as often as its weight says, and how many are drawn of each part."""
    rules, numbers, head = {}, {}, ""
    for line in text.splitlines():
        if line.startswith("  "):
            rules[head] += _weighted(line)
        elif found := re.match(r"(\w+):(.*)", line):
            rules[found[1]] = [text for one in found[2].split("|") for text in _weighted(one)]
        elif line and not line.startswith("#"):
            head, _, number = line.partition(" ")
            rules[head], numbers = [], numbers | ({head: int(number)} if number else {})
    return rules, numbers


def _weighted(text):
    found = re.match(r" *(?:(\d+)\*(?= |$))?(.*)", text)
    return [found[2].strip()] * int(found[1] or 1)


PARTS = (*grammar()[1], "claims")


def expanded(text, rng, rules=None):
    """The text with every name in braces replaced by one of its alternatives, until none is left."""
    rules = rules or grammar()[0]
    while NAME.search(text):
        text = NAME.sub(lambda found: rng.choice(rules[found[1]]), text)
    return " ".join(text.split())


def claims():
    """The ids of all claims."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main(["claims", "--json"])
    return [entry["id"] for entry in json.loads(out.getvalue())]


def drawn(parts=PARTS):
    """Pairs of a part and a request, always the same; a request that is drawn again counts once."""
    for part in parts:
        rng = random.Random(f"{SEED} {part}")
        if part == "claims":
            yield from ((part, f"claim {name}") for name in claims())
        else:
            yield from dict.fromkeys((part, expanded(f"{{{part}}}", rng)) for _ in range(grammar()[1][part]))
