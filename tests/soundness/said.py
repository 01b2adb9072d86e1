"""Sentences about bounds, read back into whom they cover, and the largest divergence of exactly those datasets.

The reader knows the words of a sentence and nothing of the library; the enumeration is in rationals.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cache

# Channels by hand: their rows, what each input is called, and the coordinates that a part of a composition sees.


def uneven(weights):
    return tuple(tuple(F(w) / sum(map(F, row)) for w in row) for row in weights)


def krr(k, lam):
    return uneven([[lam if x == y else 1 for y in range(k)] for x in range(k)])


def half_block(k, lam):
    """Output y is likely at half of the cycle: at y and the k/2 - 1 inputs before or after it."""
    return uneven([[lam if (y - x) % k < k // 2 else 1 for y in range(k)] for x in range(k)])


def product(one, other):
    return tuple(tuple(a * b for a, b in itertools.product(p, q)) for p, q in itertools.product(one, other))


@dataclass(frozen=True)
class World:
    """What is run: one law for each input; an input is the tuple of its coordinates."""

    rows: tuple
    sizes: tuple
    parts: tuple = ()
    chosen: tuple = (0, 1)
    """The pair that "the two inputs that were decomposed" means."""

    @property
    def inputs(self):
        return list(itertools.product(*map(range, self.sizes)))

    def pairs(self):
        return [(x, y) for x in range(len(self.inputs)) for y in range(len(self.inputs)) if x != y]


def world(rows, *sizes, **parts):
    return World(rows, sizes or (len(rows),), **parts)


def covered(run: World, allowed) -> frozenset:
    inputs = run.inputs
    return frozenset((x, y) for x, y in run.pairs() if allowed is None or allowed(inputs[x], inputs[y]))


# The reader.


@dataclass(frozen=True)
class Part:
    """Some rounds that are alike: how many users, which ordered pairs (X0, X1) of inputs, and who sends."""

    users: int
    pairs: frozenset
    least: int | None = None
    dropout: F = F(0)


@dataclass(frozen=True)
class Claim:
    """Whom a sentence says that a bound covers; ``parts`` counts rounds, ``normalised`` which matrix it is about."""

    orders: tuple
    group: int
    zero_out: bool
    parts: tuple
    normalised: bool = False


ORDERS = {
    "D(M(X0) || M(X1))": ("forward",),
    "D(M(X1) || M(X0))": ("reverse",),
    "the larger of D(M(X0) || M(X1)) and D(M(X1) || M(X0))": ("forward", "reverse"),
}


def near(x, y, size):
    return min((x - y) % size, (y - x) % size)


def between(words: str, run: World) -> set:
    """The pairs of different inputs that some words mean, in both orders."""
    inputs = run.inputs
    parts = dict(run.parts)

    def allowed(x, y):
        x, y = inputs[x], inputs[y]
        if m := re.fullmatch(r"two inputs at cyclic distance (\d+)(, as decomposed)?", words):
            return near(x[0], y[0], run.sizes[0]) == int(m[1])
        if m := re.fullmatch(r"two inputs that differ in exactly (\d+) coordinates?", words):
            return sum(map(int.__ne__, x, y)) == int(m[1])
        if m := re.fullmatch(r"two inputs that differ in any way, but in (\S+) between (.*)", words):
            seen = parts[m[1]]
            inner = World((), run.sizes[seen], ())
            pair = inner.inputs.index(x[seen]), inner.inputs.index(y[seen])
            return pair[0] == pair[1] or pair in between(m[2], inner)
        if m := re.fullmatch(
            r"two inputs that differ in any way, but in (\S+) in exactly (\d+) coordinates? if at all", words
        ):
            seen = parts[m[1]]
            return sum(map(int.__ne__, x[seen], y[seen])) in (0, int(m[2]))
        raise AssertionError(f"words that nobody can read: {words}")

    if re.match(r"any two inputs|any input and the null symbol", words):
        return set(run.pairs())
    if m := re.fullmatch(r"inputs (\d+) and (\d+)", words):
        return {(int(m[1]), int(m[2])), (int(m[2]), int(m[1]))}
    if words == "the two inputs that were decomposed":
        return {run.chosen, run.chosen[::-1]}
    return {pair for pair in run.pairs() if allowed(*pair)}


def in_order(pairs: set, first: str, run: World, words: str) -> set:
    """The pairs (X0, X1) left by a clause that says which of two inputs X0 holds."""
    match first:
        case "":
            return pairs
        case "X0 holding the input with the smaller number":
            return {(x, y) for x, y in pairs if x < y}
        case "X0 holding the input":
            return pairs  # zero-out: X1 holds the null symbol
        case "X0 holding the first of the two":
            if m := re.match(r"inputs (\d+) and (\d+)", words):
                return {(int(m[1]), int(m[2]))}
            return {run.chosen} if "decomposed" in words else {(x, y) for x, y in pairs if x < y}
    raise AssertionError(f"words that nobody can read: {first}")


def who_sends(text: str) -> dict:
    least = re.search(r"where at least (\d+) of them sends? a message", text)
    drop = re.search(r"where each other user drops out independently with probability (\S+),", text)
    return {"least": int(least[1]) if least else None, "dropout": F(drop[1]) if drop else F(0)}


def read(text: str, *runs: World) -> Claim:
    """Whom a sentence covers, where the rounds run those channels in this order (one, where all run the same)."""
    m = re.search(r"bounds (.*?) at order exp\(eps\) for (all pairs|those pairs) of datasets (.*?), by (?:a chain of"
                  r" .*? and )?the optimal decomposition(.*)", text)  # fmt: skip
    assert m, text
    orders, every, whom, rest = ORDERS[m[1]], m[2] == "all pairs", m[3], m[4]
    group = re.search(r"at most (\d+) users", whom)
    zero_out = "null symbol" in whom
    times = re.search(r"M sends the messages of all (\d+) rounds? together", rest)
    several = int(times[1]) if times else 1
    assert several == 1 or ("may change from round to round" in rest and "depend on earlier messages" in rest)
    assert every == ("are not covered)" not in whom)
    apart = re.findall(r"in (\d+) rounds? (of n = \d+ users?.*?)(?= and in \d+ rounds? of n| \(users who|$)", whom)
    if apart:
        assert len(runs) == len(apart) and sum(int(many) for many, _ in apart) == several
    else:
        apart = [(several, whom)]
    parts: Counter = Counter()
    for (many, words), run in zip(apart, runs if len(apart) > 1 else runs[:1], strict=True):
        users = int(re.search(r"of n = (\d+) users?", words)[1])
        change = re.search(r"between (.*?)(, X0 .*?)?(?: \(users who|, where|, with|$)", words)
        said = change[1] if change else "any two inputs"
        first = re.search(r", (X0 holding [^(]*?)(?: \(users|$)", words)
        pairs = in_order(between(said, run), first[1] if first else "", run, said)
        sends = who_sends(words if ", where" in words else rest.split("; ")[0] + rest)
        parts[Part(users, frozenset(pairs), **sends)] += int(many)
    normalised = ", of the normalised matrix (each row read is divided by its sum" in rest
    return Claim(orders, int(group[1]) if group else 1, zero_out, tuple(sorted(parts.items(), key=str)), normalised)


def read_lines(lines, *runs: World) -> Claim:
    """The same as :func:`read` from the second and third line of an answer alone."""
    protects, details = lines.protects, {}
    for named in lines.assumes.split("; "):
        name, _, detail = named.partition(": ")
        assert name not in details
        details[name] = detail
    assert list(details)[:3] == ["honest users", "fresh randomness", "unlinkable"]
    m = re.fullmatch(
        r"any (?:one|(\d+)) (?:of ([\d,]+) users? |users? )(?:together )?may "
        r"(change their values?|have their values? replaced by the null symbol)"
        r"(?: in (?:each of (\d+) rounds together|1 round))?(?:: (.*))?",
        protects,
    )
    assert m, protects
    group, zero_out = int(m[1] or 1), "null symbol" in m[3]
    several = int(m[4] or 1)
    assert ("rounds fixed beforehand" in details) == (" round" in protects)
    named_apart = re.findall(r"in (\d+) rounds? (of n = \d+ users?.*?)(?= and in \d+ rounds? of n|$)", m[5] or "")
    orders = ORDERS["the larger of D(M(X0) || M(X1)) and D(M(X1) || M(X0))"]
    first = ""
    if "one direction" in details:
        said, _, first = details["one direction"].partition(", ")
        orders = ORDERS[said]
    parts: Counter = Counter()
    apart = named_apart or [(several, f"of n = {(m[2] or '').replace(',', '')} users")]
    assert sum(int(many) for many, _ in apart) == several
    for (many, words), run in zip(apart, runs if len(apart) > 1 else runs[:1], strict=True):
        users = int(re.search(r"of n = (\d+) users?", words)[1])
        change = re.search(r"between (.*?)(?:, where|, with|$)", words)
        if named_apart:
            said = change[1] if change else "any two inputs"
            assert ("part of the pairs" in details) == bool(change)
        else:
            said = details.get("part of the pairs", "between any two inputs").removeprefix("between ")
        least, drop = details.get("enough users", ""), details.get("data-independent dropout", "")
        sends = {
            "least": int(least.removeprefix("at least ").removesuffix(" send")) if least else None,
            "dropout": F(re.match(r"probability (\S+) for", drop)[1]) if drop else F(0),
        } if "as named above" not in (least, drop) else who_sends(words)  # fmt: skip
        parts[Part(users, frozenset(in_order(between(said, run), first, run, said)), **sends)] += int(many)
    return Claim(orders, group, zero_out, tuple(sorted(parts.items(), key=str)), "normalised rows" in details)


# The enumeration.


def histograms(rows, drop=()):
    """The law of the multiset of the messages of some users; those of the places in ``drop`` may get lost."""
    found = {(): F(1)}
    for place, row in enumerate(rows):
        lost = dict(drop).get(place, F(0))
        then: dict = {}
        for sent, mass in found.items():
            for y, p in [*((y, (1 - lost) * p) for y, p in enumerate(row)), (None, lost)]:
                if p:
                    now = sent if y is None else tuple(sorted((*sent, y)))
                    then[now] = then.get(now, F(0)) + mass * p
        found = then
    return found


def neighbours(part: Part, claim: Claim, runs) -> Iterator:
    """The laws of all pairs of datasets that one round covers; ``runs`` has a channel for each user, or one for all."""
    rows, null = runs
    per_user = rows if len(rows) == part.users and isinstance(rows[0][0], tuple) else [rows] * part.users
    symbols = [*range(len(per_user[0])), *((None,) if claim.zero_out else ())]

    def sent_by(user, x):
        return null if x is None else per_user[user][x]

    changes = {(x, None) for x in range(len(per_user[0]))} if claim.zero_out else part.pairs
    for present in range(part.least or part.users, part.users + 1):
        alike = all(one == per_user[0] for one in per_user)
        for g in range(1, min(claim.group, present) + 1):
            spots = [tuple(range(g))] if alike else itertools.combinations(range(present), g)
            for differing in spots:
                others = [u for u in range(present) if u not in differing]
                held_by = (
                    itertools.combinations_with_replacement(symbols, len(others))
                    if alike
                    else itertools.product(symbols, repeat=len(others))
                )
                for held, moves in itertools.product(held_by, itertools.product(changes, repeat=g)):
                    base = [sent_by(u, x) for u, x in zip(others, held, strict=True)]
                    drop = tuple((place, part.dropout) for place in range(len(base)))
                    two = [
                        histograms(
                            [*base, *(sent_by(u, move[i]) for u, move in zip(differing, moves, strict=True))], drop
                        )
                        for i in (0, 1)
                    ]
                    for order in claim.orders:
                        yield tuple(two if order == "forward" else two[::-1])


def ratios(p, q):
    """(ratio or None where it is infinite, mass under the second law or the first) of two laws, merged."""
    found: Counter = Counter()
    for o in p.keys() | q.keys():
        b = q.get(o, F(0))
        found[p.get(o, F(0)) / b if b else None] += b or p[o]
    return tuple(sorted(found.items(), key=str))


def largest(claim: Claim, x: F, *channels) -> F:
    """The largest divergence that a sentence covers; each round is chosen when those before it were seen."""
    several = [
        (times, sorted({ratios(*two) for two in neighbours(part, claim, run)}, key=str))
        for (part, times), run in zip(claim.parts, channels, strict=True)
    ]
    rounds = [laws for times, laws in several for _ in range(times)]

    @cache
    def value(place: int, x: F) -> F:
        if place == len(rounds):
            return max(1 - x, F(0))
        return max(
            sum((m if r is None else m * r * value(place + 1, x / r) for r, m in law if r != 0), F(0))
            for law in rounds[place]
        )

    return value(0, x)
