"""Several rounds of shuffled messages: the bound and both of its sides, against enumeration of small cases."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions.solve import delta
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import histogram_law, shuffled_law
from symshuffle.decompositions.model import simplified_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    serving,
)

Pair: TypeAlias = "tuple[tuple[Fraction, Fraction], ...]"
"""Two laws on the same outcomes: the masses that they give to each."""

_WIDTH: Final = 5e-3


def _merged(atoms: Sequence[tuple[Any, Any]]) -> Pair:
    """Outcomes of the same ratio as one."""
    found: dict[Any, list[Fraction]] = {}
    for p, q in atoms:
        if p or q:
            mass = found.setdefault(p / q if q else None, [Fraction(0), Fraction(0)])
            mass[0] += p
            mass[1] += q
    return tuple((p, q) for p, q in found.values())


def _hockey_stick(pair: Pair, x: Fraction) -> Fraction:
    return sum((max(p - x * q, Fraction(0)) for p, q in pair), start=Fraction(0))


def _product(one: Pair, other: Pair) -> Pair:
    return _merged([(p * a, q * b) for p, q in one for a, b in other])


def _of_laws(one: Any, other: Any) -> Pair:
    """Two laws as a pair, outcomes of the same ratio merged."""
    outcomes = sorted(one.keys() | other.keys())
    return tuple(sorted(_merged([(one.get(o, Fraction(0)), other.get(o, Fraction(0))) for o in outcomes])))


def _real_pairs(channel: Channel, n: int) -> tuple[Pair, ...]:
    """All neighbouring datasets of n users, in both orders."""
    found: dict[Pair, None] = {}
    for others in itertools.combinations_with_replacement(range(channel.num_inputs), n - 1):
        laws = [shuffled_law(channel, (x, *others)) for x in range(channel.num_inputs)]
        found |= dict.fromkeys(_of_laws(*two) for two in itertools.permutations(laws, 2))
    return tuple(found)


def _adaptive(pairs: tuple[Pair, ...], times: int, x: Fraction) -> Fraction:
    """The largest divergence where every pair is chosen after the outcomes before it were seen.

    Given an outcome with masses p and q, what follows is worth q (p/q) V(x q / p) = p V(x q / p).
    """
    last = _dominating(pairs)

    @cache
    def value(left: int, level: Fraction) -> Fraction:
        if left == 1:
            return _hockey_stick(last, level)
        return max(sum((p * value(left - 1, level * q / p) for p, q in pair if p), start=Fraction(0)) for pair in pairs)

    return value(times, x)


def _fixed(pairs: tuple[Pair, ...], times: int, x: Fraction) -> Fraction:
    """The same where all pairs are chosen before the first round."""
    best = Fraction(0)
    for chosen in itertools.combinations_with_replacement(pairs, times):
        total = chosen[0]
        for pair in chosen[1:]:
            total = _product(total, pair)
        best = max(best, _hockey_stick(total, x))
    return best


def _repeated(pairs: tuple[Pair, ...], times: int, x: Fraction) -> Fraction:
    """The same where one pair stays in all rounds."""
    best = Fraction(0)
    for pair in pairs:
        total = pair
        for _ in range(times - 1):
            total = _product(total, pair)
        best = max(best, _hockey_stick(total, x))
    return best


def _dominating(pairs: tuple[Pair, ...]) -> Pair:
    """The pair whose profile is the largest of some: its kinks are theirs, and where two of them cross."""
    places = sorted({p / q for pair in pairs for p, q in pair if q} | {Fraction(0)})
    places.append(places[-1] + 1)
    kinks = set(places)
    for low, high in itertools.pairwise(places):
        ends = {(_hockey_stick(pair, low), _hockey_stick(pair, high)) for pair in pairs}
        for (a, b), (c, d) in itertools.combinations(ends, 2):
            if (a - c) * (b - d) < 0:
                kinks.add(low + (high - low) * (a - c) / ((a - c) - (b - d)))
    rising = sorted(kinks)
    heights = [max(_hockey_stick(pair, x) for pair in pairs) for x in rising]
    slopes = [(b - a) / (y - x) for (x, a), (y, b) in itertools.pairwise(zip(rising, heights, strict=True))]
    masses = [(x * (s - r), s - r) for x, r, s in zip(rising[1:-1], slopes[:-1], slopes[1:], strict=True)]
    return _merged([*masses, (heights[-1], Fraction(0)), (Fraction(0), 1 + slopes[0])])


def _bound_pairs(channel: Channel, n: int) -> tuple[Pair, ...]:
    """The reduction pairs whose divergences are the bound on one round."""
    found: dict[Pair, None] = {}
    for inputs in itertools.permutations(range(channel.num_inputs), 2):
        pair = simplified_decomposition(channel, inputs).reduction_pair()
        laws = [histogram_law([first, *[pair.a2] * (n - 1)]) for first in (pair.a0, pair.a1)]
        found[_of_laws(*laws)] = None
    return tuple(found)


@cache
def _rows(name: str) -> Channel:
    return Channel.from_rows(_CHANNELS[name])


_CHANNELS: Final[dict[str, list[list[str]]]] = {
    "2-RR, lam = 3": [["3/4", "1/4"], ["1/4", "3/4"]],
    "3-RR, lam = 3": [["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"], ["1/5", "1/5", "3/5"]],
    "two unequal inputs": [["1/2", "1/2"], ["1/5", "4/5"]],
    "three unequal inputs": [["3/8", "1/4", "3/8"], ["1/4", "1/2", "1/4"], ["3/7", "2/7", "2/7"]],
    "erasure, not LDP": [["1/3", "0", "2/3"], ["0", "1/3", "2/3"]],
}
_CASES: Final = (
    ("2-RR, lam = 3", 2, 2),
    ("2-RR, lam = 3", 3, 3),
    ("3-RR, lam = 3", 2, 2),
    ("two unequal inputs", 2, 2),
    ("two unequal inputs", 3, 2),
    ("two unequal inputs", 2, 3),
    ("three unequal inputs", 2, 2),
    ("erasure, not LDP", 2, 2),
    ("erasure, not LDP", 3, 3),
)
_LEVELS: Final = (Fraction(1), Fraction(3, 2), Fraction(5, 2))


@cache
def _reduced(name: str) -> Reduction:
    return reduction(_rows(name))


@cache
def _bracket(name: str, n: int, times: int, x: Fraction) -> Bracket:
    return delta(_reduced(name), n=n, periods=times, exp_eps=x, rtol=_WIDTH).bracket


def _product_of_the_bound(name: str, n: int, times: int, x: Fraction) -> Fraction:
    """The divergence of independent copies of the pair that dominates the bound on one round, in rationals."""
    one = total = _dominating(_bound_pairs(_rows(name), n))
    for _ in range(times - 1):
        total = _product(total, one)
    return _hockey_stick(total, x)


def _two_sides(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Nine cases of channel, users and rounds at three levels: the library's bracket holds the stated value.

    As stated that is the divergence of products of the dominating pair, in rationals.
    """
    for (name, n, times), x in itertools.product(_CASES, _LEVELS):
        claimed, bracket = statement(name, n, times, x), _bracket(name, n, times, x)
        at = f"{name}, n = {n}, {times} rounds, exp(eps) = {x}"
        yield compare(bracket.lower, claimed, "<=", at=f"lower end, {at}")
        yield compare(bracket.upper, claimed, ">=", at=f"upper end, {at}")


def _worst_adaptive(name: str, n: int, times: int, x: Fraction) -> Fraction:
    """The largest divergence of real datasets, those of a round being chosen after all messages before it."""
    return _adaptive(_real_pairs(_rows(name), n), times, x)


def _covers(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Nine cases of channel, users and rounds at three levels: the upper end is at least the stated divergence.

    As stated that is the largest of datasets chosen on the way, by recursion over all of them in rationals; one pair in
    all rounds and, for two rounds, pairs fixed before reach no more.
    """
    for (name, n, times), x in itertools.product(_CASES, _LEVELS):
        at = f"{name}, n = {n}, {times} rounds, exp(eps) = {x}"
        claimed = statement(name, n, times, x)
        yield compare(_bracket(name, n, times, x).upper, claimed, ">=", at=f"the bound, {at}")
        pairs = _real_pairs(_rows(name), n)
        yield compare(_repeated(pairs, times, x), claimed, "<=", at=f"one pair of datasets in all rounds, {at}")
        if times == 2:
            yield compare(_fixed(pairs, times, x), claimed, "<=", at=f"pairs fixed before the first round, {at}")


_GAP: Final = ("three unequal inputs", 2, 2, Fraction(2))


def _four_attackers() -> tuple[Fraction, ...]:
    """At :data:`_GAP`: one pair repeated, pairs fixed before, pairs chosen on the way, the dominating pair."""
    return Fraction(2, 49), Fraction(3, 64), Fraction(7, 128), Fraction(1, 16)


_ATTACKERS: Final = ("repeated", "fixed", "adaptive", "dominating")


def _gaps(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """One channel, two users, two rounds: four attackers' divergences, by enumeration, are the stated numbers.

    The numbers rise strictly, and the library's bound is at least the last.
    """
    name, n, times, x = _GAP
    pairs = _real_pairs(_rows(name), n)
    one = _dominating(pairs)
    found = (
        _repeated(pairs, times, x),
        _fixed(pairs, times, x),
        _adaptive(pairs, times, x),
        _hockey_stick(_product(one, one), x),
    )
    claimed = statement()
    for value, number, what in zip(found, claimed, _ATTACKERS, strict=True):
        yield from serving(what, [compare(value, number, "==", at=what)])
    yield decide(list(claimed) == sorted(set(claimed)), at="the four values", claimed="each larger than the one before")
    yield compare(_bracket(*_GAP).upper, claimed[-1], ">=", at="the bound is above all of them")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="symshuffle.rounds-two-sides",
        kind="statement",
        title="both sides of the bound on several rounds",
        text=r"The bracket around $\delta$ of T shuffled rounds holds the divergence of T independent copies of the "
        r"pair whose profile is the one-round bound, the larger over all pairs of inputs and both orders.",
        source="symshuffle.accountants.rounds.over_rounds",
        assumptions=("rational channels with few outputs",),
        scope="2-RR, 3-RR, two asymmetric channels and erasure (singular mass); n = 2, 3; 2 and 3 rounds; three levels",
        grade="exact-cases",
        printed=_product_of_the_bound,
        check=_two_sides,
        controls=(
            Control("one percent more", lambda *at: _product_of_the_bound(*at) * Fraction(101, 100)),
            Control("one percent less", lambda *at: _product_of_the_bound(*at) * Fraction(99, 100)),
            Control("one round more", lambda name, n, times, x: _product_of_the_bound(name, n, times + 1, x)),
            Control("one user more", lambda name, n, times, x: _product_of_the_bound(name, n + 1, times, x)),
        ),
        expected="holds",
    ),
    Claim(
        id="symshuffle.rounds-adaptive",
        kind="statement",
        title="the bound on several rounds covers datasets that are chosen on the way",
        text=r"The upper end for T rounds is above the divergence of every choice of neighbouring datasets, one pair "
        r"per round, each chosen after the messages of the rounds before were seen.",
        source="symshuffle.accountants.rounds.over_rounds",
        assumptions=("fresh randomness in every round", "rational channels with few outputs"),
        scope="the channels of symshuffle.rounds-two-sides; n = 2, 3; 2 and 3 rounds; three levels; all datasets",
        grade="exact-cases",
        printed=_worst_adaptive,
        check=_covers,
        controls=(
            Control("one round more", lambda name, n, times, x: _worst_adaptive(name, n, times + 1, x)),
            Control("one user fewer", lambda name, n, times, x: _worst_adaptive(name, n - 1, times, x)),
            Control(
                "one pair of datasets in all rounds is the worst",
                lambda name, n, times, x: _repeated(_real_pairs(_rows(name), n), times, x),
            ),
        ),
        expected="holds",
    ),
    Claim(
        id="symshuffle.rounds-gaps",
        kind="statement",
        title="four attackers on two rounds, each stronger than the one before",
        text=(
            Clause(
                "repeated",
                r"There is a channel with three inputs for which, at n = 2, two rounds and $e^\varepsilon=2$, one pair "
                "of datasets in both rounds reaches 2/49.",
            ),
            Clause("fixed", "Two pairs fixed before reach 3/64."),
            Clause("adaptive", "A second pair chosen after the first messages reaches 7/128."),
            Clause(
                "dominating",
                "Two copies of the pair that dominates every pair of one round reach 1/16, more than any single pair "
                "in both rounds: no single pair of datasets has the largest profile at every level.",
            ),
        ),
        source="symshuffle.accountants.rounds.over_rounds",
        assumptions=("rows (3/8, 1/4, 3/8), (1/4, 1/2, 1/4), (3/7, 2/7, 2/7)",),
        scope="one channel, enumerated in rationals: all neighbouring datasets, all choices",
        grade="exact-cases",
        printed=_four_attackers,
        check=_gaps,
        controls=(
            Control(
                "fixed pairs do as well as chosen ones",
                lambda: (Fraction(2, 49), Fraction(7, 128), Fraction(7, 128), Fraction(1, 16)),
            ),
            Control("1/128 less at the end", lambda: (*_four_attackers()[:3], Fraction(7, 128))),
        ),
        expected="holds",
        obligations=tuple(one for what in _ATTACKERS for one in by_cases(what, clause=what)),
    ),
)
