"""Exaggerated errors, against sums that are counted out here: the truth stays inside, and what is certain is certain.

Balls have radii of 10^-3 to 10^-1, tails some 10^-3, inner brackets widths of 0.3 to 0.9, and constants that only guide
are a hundredth and a hundred times as large. What each test notices:

- ``test_laws_of_balls``: the other end of a ball or bracket in engines and in what is ``attained``; lost allowances.
- ``test_pieces``: terms lost from what balls, rounding, nodes and aliases add to both sides of a density.
- ``test_tails``: factors and ends of what is cut off a density; ``test_densities`` goes through the door.
- ``test_nodes_that_are_not_evaluated``: a middle, a radius or a count of a stretch.
- ``test_numbers_that_are_certainly_smaller``: rounding of ends the wrong way, comparisons of the wrong ends.
- ``test_levels``: ends of a search that confirm themselves by the wrong end of a bracket.
- ``test_what_is_certainly_nothing``, ``test_nobody_is_excluded_who_meets_a_match``: a possibility taken as a certainty.
"""

from __future__ import annotations

import cmath
import contextlib
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction as F
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import flint
import pytest

from symshuffle import Ball, Bracket, Exp, Law, NotDecided, Unsupported, delta, epsilon, renyi
from symshuffle.accountants.bounds.brackets import bounds_nothing_from
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.reduced import PairClass, Reduction
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base import Arithmetic, Verdict, cost
from symshuffle.base.numbers import enclose, equal, less, lower_end, to_arb, upper_end
from symshuffle.channels.continuous_law import ContinuousLaw, ContinuousPair, LevelledPair, Piece, Stretch
from symshuffle.design.comparison.branch_and_bound import Rivals
from symshuffle.design.comparison.families import family
from symshuffle.design.comparison.matching import read_match
from symshuffle.design.comparison.monotonicity import DegradationOrder
from symshuffle.engines import FFT, registry
from symshuffle.engines.densities import beyond, gauss
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.engines.densities.doubling import two_sided
from symshuffle.utility.estimation.votes import canonical_votes
from tests.guides import KNOBS, tuned

Part = tuple[F, F, F]
"""Values spread evenly over a start and a span, 0 for an atom, and their mass."""

UNIT = 1 << 12
NOT_SCALED = {"_RUNGS", "_SHIFTS", "_ranked.sizes", "_ORDERS"}
"""An index into a table and what it counts, which go together, and tables whose entries have a range."""
MOST = 400
LIMITS = ((beyond, "over.max_terms", 30_000), (gauss, "rule.max_nodes", 400), (cost, "MOST", 300_000))
"""What a count is raised to at most; work beyond which a line is refused."""
FACTORS = pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    for module, limit, most in LIMITS:
        monkeypatch.setitem(*tuned(module.__name__, limit), most)


@pytest.fixture
def wide_everywhere(monkeypatch):
    monkeypatch.setattr(registry, "ENGINES", {"wide": f"{__name__}:Wide"})


def hockey(parts: Sequence[Part], n: int, singular: F = F(0)) -> F:
    """H(n): the mean of the positive part of a sum of n values, by how many are of which part, over n."""
    total, last = F(0), len(parts) - 1

    def count(j: int, left: int, value: F, mass: F, spans: list[F]) -> None:
        nonlocal total
        start, span, weight = parts[j]
        for k in range(left + 1) if j < last else (left,):
            chance = mass * math.comb(left, k) * weight**k
            more = [*spans, *[span] * (k if span else 0)]
            if j < last:
                count(j + 1, left - k, value + k * start, chance, more)
            elif chance:
                total += chance * uniform_mean(value + k * start, more)

    count(0, n, F(0), F(1), [])
    return total / n + singular


def uniform_mean(start: F, spans: Sequence[F]) -> F:
    """The mean of the positive part of a number and multiples of independent uniform ones: a finite difference."""
    power, total = len(spans) + 1, F(0)
    for chosen in itertools.product((0, 1), repeat=len(spans)):
        end = start + sum((s for s, taken in zip(spans, chosen, strict=True) if taken), start=F(0))
        total += (-1) ** (len(spans) - sum(chosen)) * max(end, F(0)) ** power
    return total / (math.factorial(power) * math.prod(spans))


def grid(draw: random.Random, low: float, high: float) -> F:
    return F(round(draw.uniform(low, high) * UNIT), UNIT)


def shares(draw: random.Random, parts: int) -> list[F]:
    """Positive multiples of the unit of sum 1, some of them small."""
    rough = [10 ** draw.uniform(-1.2, 0) for _ in range(parts)]
    found = [F(max(round(r / sum(rough) * UNIT), 40), UNIT) for r in rough]
    found[found.index(max(found))] += 1 - sum(found)
    return found


def radius(draw: random.Random) -> F:
    return F(max(round(10 ** draw.uniform(-3, -1) * UNIT), 1), UNIT)


@dataclass(frozen=True)
class Case:
    """A law of balls and laws that it holds, with their singular mass, both extreme ones among them."""

    law: Any
    members: list[tuple[list[Part], F]]

    def holds(self, n: int, low: F, high: F) -> bool:
        truths = [hockey(parts, n, extra) for parts, extra in self.members]
        return low <= min(truths) and max(truths) <= high


def case(draw: random.Random, *, balls: bool = True) -> Case:
    parts = draw.randrange(2, 5)
    weights, ratio = shares(draw, parts), grid(draw, 1.5, 3)
    values = [grid(draw, -ratio, 1) for _ in range(parts - 1)] + [grid(draw, 0, 2)]
    if draw.random() < 0.3:
        values = [-abs(v) for v in values]
    alone = radius(draw) if draw.random() < 0.5 else F(0)
    up = [radius(draw) * draw.randrange(2) * balls for _ in values]
    if draw.random() < 0.2:  # multiples of one number that balls do not show
        unit = grid(draw, 0.1, 0.3)
        values, up = [round(v / unit) * unit for v in values], [F(balls, 10**20) for _ in values]
    one, other = draw.sample(range(parts), 2)
    moved = [F(0)] * parts
    moved[one] = min(radius(draw), weights[one] - F(1, UNIT), weights[other] - F(1, UNIT)) * balls
    moved[other] = -moved[one]
    law = Law(around(values, up), around(weights, moved), Ball(F(0), alone) if alone else F(0))
    members = [
        ([(v + sign * r, F(0), w + way * m) for v, r, w, m in zip(values, up, weights, moved, strict=True)], extra)
        for sign, way, extra in itertools.product((1, -1), (1, -1), {F(0), alone})
    ]
    return Case(law, members)


def around(middles: Sequence[F], radii: Sequence[F]) -> tuple[Any, ...]:
    return tuple(Ball(x - abs(r), x + abs(r)) if r else x for x, r in zip(middles, radii, strict=True))


@contextlib.contextmanager
def guided(draw: random.Random, factor: float) -> Iterator[None]:
    """A third of the constants that only guide, times a factor."""
    with pytest.MonkeyPatch.context() as at:
        for name, knobs in KNOBS.items():
            if not name.startswith(("symshuffle.engines", "symshuffle.accountants")):
                continue
            for knob in knobs:
                if knob not in NOT_SCALED and draw.random() < 1 / 3:
                    where, key = tuned(name, knob)
                    at.setitem(where, key, scaled(where[key], factor))
        yield


def answer(draw: random.Random, factor: float, door: Any, *given: object, **named: object) -> Any:
    """What a door answers with bad guides; None where it refuses."""
    with guided(draw, factor), contextlib.suppress(Unsupported, NotDecided):
        return door(*given, **named)
    return None


def source_of(family: Any) -> Reduction:
    """A source whose bound and whose datasets have these laws."""
    return Reduction((PairClass("drawn", family, datasets=lambda: (PairClass.real(lambda n: "drawn", family),)),))


def scaled(value: Any, factor: float) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(scaled(v, factor) for v in value)
    if isinstance(value, int):
        return max(min(round(value * factor), max(value, MOST)), 1)
    return type(value)(value * type(value)(factor))


@dataclass(frozen=True)
class Wide(registry.Engine):
    """H(n) counted out, and between two numbers that are 0.3 to 0.9 of the upper one apart."""

    seed: int = 0
    least: ClassVar[Arithmetic] = "ball"
    name: ClassVar[str] = "wide"

    @classmethod
    def with_tolerance(cls, *_: object) -> Wide:
        return cls()

    for_auto = trials = with_tolerance

    def refusal(self, *_: object) -> None:
        return None

    @lru_cache(maxsize=512)  # noqa: B019  # the engines of a test are few
    def ends(self, law: Law, n: int) -> list[F]:
        """By the lower ends of all numbers, and by the upper ones."""
        return [
            hockey([(end(v), F(0), end(w)) for v, w in law.atoms()], n, end(law.singular))
            for end in (lower_end, upper_end)
        ]

    def bracket(self, law: Law, n: int) -> Bracket:
        ends = self.ends(law, n)
        draw = random.Random(f"{self.seed} {n} {float(ends[1])}")
        width, place = F(draw.randrange(30, 91), 100), F(draw.randrange(101), 100)
        low = ends[0] * (1 - width * place)
        return Bracket(low, max(ends[1], low / (1 - width)), "ball", "wide", "counted, and made wide")


def engine_named(draw: random.Random, label: str, rtol: float) -> Any:
    """An engine that spends little, or None."""
    if label == "auto":
        return None
    if label == "fft":
        return FFT(step=grid(draw, 0.01, 0.4)) if draw.random() < 0.5 else FFT(largest=2**10, rtol=rtol)
    engine: Any = registry.engine_class(label).with_tolerance(rtol, 64)
    cheap = {"ball": 1_000, "contour": 20_000}
    return replace(engine, largest=cheap[label]) if label in cheap else engine


@FACTORS
@pytest.mark.parametrize("label", [*registry.ENGINES, "wide", "auto"])
def test_laws_of_balls(label, factor):
    draw, answered = random.Random(f"{label} {factor}"), 0
    for k in range(20):
        one, n = case(draw, balls=k % 4 > 0), draw.randrange(2, 6)
        rtol = draw.choice([0.3, 0.6, 0.9])
        engine = Wide(k) if label == "wide" else engine_named(draw, label, rtol)
        asked = {"n": n, "exp_eps": 2, "engine": engine, "arithmetic": None, "rtol": rtol, "attained": True}
        found = answer(draw, factor, delta, source_of(lambda *_, law=one.law: law), **asked)
        if found is None:
            continue
        answered += 1
        above = found.bracket.upper if found.bracket.upper < 1 else F(n * 10)  # a bound is cut at 1, which holds less
        ends = [end for end in (found.bracket, found.attained) if end is not None]  # attained costs work of its own
        assert one.holds(n, max(end.lower for end in ends), above), (one, n, found)
    assert answered


def number(value: F, off: F = F(0)) -> flint.arb:
    """A ball of a radius."""
    return to_arb(Ball(value - off, value + off))


def line(start: flint.arb, slope: flint.arb) -> Any:
    """A function that is affine."""
    return lambda u: u * slope + start


def spread(draw: random.Random, *, flat: bool, balls: bool) -> Case:
    """Up to three pieces side by side."""
    count = draw.randrange(1, 4)
    weights, ratio = shares(draw, count + 1), grid(draw, 1.5, 3)
    starts = [grid(draw, -ratio, 1) for _ in range(count)]
    spans = [F(0) if flat else grid(draw, 0.2, 2) * draw.choice([1, -1]) for _ in range(count)]
    starts[0] = abs(starts[0])
    lengths = [grid(draw, 0.5, 2) for _ in range(count)]
    off = [radius(draw) * draw.randrange(2) * balls for _ in range(count)]
    least = weights[-1] / (2 * count)
    loose = [min(radius(draw), w / 2, least) * draw.randrange(2) * balls for w in weights[:-1]]
    rows = list(zip(starts, spans, weights[:-1], off, loose, lengths, strict=True))
    pieces, place = [], F(-4)
    for start, span, weight, r, m, length in rows:
        value = line(number(start, r) - number(place * span / length), number(span / length))
        density = line(number(weight / length, m / length), flint.arb(0))
        pieces.append(Piece(place, place + length, value, density))
        place += length
    left = sum(loose)
    members = []
    for sign, way in itertools.product((1, -1), (1, -1)):
        parts = [(a + sign * r, b, w + way * m) for a, b, w, r, m, _ in rows]
        members.append(([*parts, (F(0), F(0), 1 - sum(w for _, _, w in parts))], F(0)))
    return Case(ContinuousLaw(tuple(pieces), Ball(weights[-1] - left, weights[-1] + left)), members)


@pytest.mark.parametrize("road", ["cells", "ball", "float64"])
@FACTORS
def test_pieces(factor, road):
    draw = random.Random(f"pieces {factor} {road}")
    for _ in range(10):
        flat, n = road == "cells" and draw.random() < 0.5, draw.randrange(2 if road == "cells" else 3, 6)
        one = spread(draw, flat=flat, balls=road == "cells" or draw.random() < 0.5)
        if road == "cells":
            found = answer(draw, factor, two_sided, one.law, n, cells=draw.choice([4, 30, 150]))
        else:
            rtol = draw.choice([0.3, 0.6, 0.9])
            found = answer(draw, factor, bromwich_bracket, one.law, n, rtol, road, bits=64)
        assert found is None or one.holds(n, found.lower, found.upper), (one, n, found)


class Line(NamedTuple):
    """A pair of densities whose far stretch no window holds, the law of G that is meant, and that of the window."""

    pair: ContinuousPair
    meant: list[Part]
    inside: list[Part]
    tail: F


def pair(draw: random.Random, ratio: F, *, cut: bool = True) -> Line:
    """Masses of both laws and the reference on cells; on the last one, which is cut, some thousandths of both."""
    count = draw.randrange(2, 5)
    far = [F(draw.randrange(0, 30), UNIT) * cut for _ in range(2)]
    first, second = ([w * (1 - gone) for w in shares(draw, count)] for gone in far)
    reference = [w * draw.choice([F(1), F(9, 10)]) for w in shares(draw, count + 1)]
    if draw.random() < 0.5:  # S is likely positive: then what the second law has far out counts in full
        best = max(range(count), key=lambda j: first[j] - ratio * second[j])
        reference = [w / 10 for w in reference[:-1]] + reference[-1:]
        reference[best] = 1 - sum(reference) + reference[best]
    slopes = [F(draw.choice([-1, 0, 0, 1]) * draw.randrange(1, 9), 9) for _ in range(2 * count)]
    stretches, meant = [], []
    for j, (p, q, r) in enumerate(zip([*first, far[0]], [*second, far[1]], reference, strict=True)):
        tilts = (slopes[2 * j], slopes[2 * j + 1]) if j < count else (F(0), F(0))
        low = F(j - 2)
        one, other = (
            line(number(w * (1 - t - 2 * t * low)), number(2 * w * t)) for w, t in zip((p, q), tilts, strict=True)
        )
        flat, unit = line(number(r), flint.arb(0)), line(flint.arb(1), flint.arb(0))
        stretches.append(Stretch(low, low + 1, unit, one, other, flat, F(0) if j < count or not cut else F(5)))
        ends = [(p * (1 + sign * tilts[0]) - ratio * q * (1 + sign * tilts[1])) / r for sign in (-1, 1)]
        meant.append((ends[0], ends[1] - ends[0], r))
    zero, kept = ((F(0), F(0), 1 - sum(some)) for some in (reference, reference[:-1]))
    return Line(ContinuousPair(tuple(stretches), "drawn"), [*meant, zero], [*meant[:-1], kept], far[0] + ratio * far[1])


@FACTORS
def test_tails(factor):
    draw = random.Random(f"tails {factor}")
    for _ in range(20):
        ratio, n = grid(draw, 1.5, 3), draw.randrange(2, 6)
        drawn = pair(draw, ratio)
        truth, rest = hockey(drawn.meant, n), hockey(drawn.inside, n)
        cut = drawn.pair.law(ratio, tail=drawn.tail + F(1, UNIT))
        assert -cut.missing[0] <= truth - rest <= cut.missing[1]
        found = answer(draw, factor, two_sided, cut, n, cells=draw.choice([4, 100, 400]))
        assert found.lower <= truth <= found.upper


@FACTORS
def test_densities(factor):
    draw, answered = random.Random(f"densities {factor}"), 0
    for _ in range(8):
        ratio, n = grid(draw, 1.5, 3), draw.randrange(2, 6)
        drawn = pair(draw, ratio, cut=False)
        mixed = PairClass("drawn", None, mixed=lambda order, *_, pair=drawn.pair: LevelledPair(pair, order))
        asked = {"n": n, "exp_eps": ratio, "direction": "forward", "rtol": draw.choice([0.3, 0.9])}
        found = answer(draw, factor, delta, Reduction((mixed,)), **asked)
        if found is not None:
            answered += 1
            assert found.bracket.lower <= hockey(drawn.meant, n) <= found.bracket.upper
    assert answered


def test_numbers_that_are_certainly_smaller():
    draw, decided = random.Random("numbers"), 0
    for _ in range(300):
        far = [F(draw.choice([-1, 1]) * round(10 ** draw.uniform(6, 8))) for _ in range(2)]
        exponents = [min(x, F(9_000_000)) if draw.random() < 0.3 else grid(draw, -4, 4) for x in far]
        one, other = (enclose(Exp(x)) for x in exponents)
        balls = [Ball(x - radius(draw), x + radius(draw)) for x in exponents]
        verdicts = [(less(0, one), True), (less(one, 0), False), (less(-one, 0), True), (less(0, -one), False)]
        verdicts += [(less(one, other), exponents[0] < exponents[1]), (equal(one, other), exponents[0] == exponents[1])]
        for a, b in itertools.product(*[(ball.lower, ball.upper, ball.midpoint) for ball in balls]):
            verdicts += [(less(*balls), a < b), (equal(*balls), a == b)]
        for verdict, true in verdicts:
            assert verdict in (Verdict.UNDECIDED, Verdict.of(true)), exponents
            decided += verdict is not Verdict.UNDECIDED
    assert decided > 100


@dataclass(frozen=True)
class Family:
    """A law at every level: the masses of two laws, one of them within balls, a reference, and what is singular."""

    first: tuple[F, ...]
    second: tuple[F, ...]
    reference: tuple[F, ...]
    off: F
    singular: F

    def law(self, order: Any, *_: Any) -> Law:
        ratio = order if isinstance(order, F) else enclose(order)
        first = around(self.first, (self.off, self.off, *[F(0)] * (len(self.first) - 2)))
        values = tuple((p - ratio * q) / r for p, q, r in zip(first, self.second, self.reference, strict=True))
        return Law(values, self.reference, Ball(F(0), self.singular) if self.singular else F(0))

    def truths(self, order: F, n: int) -> list[F]:
        members = [(self.first[0] + move, self.first[1] - move, *self.first[2:]) for move in (-self.off, self.off)]
        laws = [
            [((p - order * q) / r, F(0), r) for p, q, r in zip(first, self.second, self.reference, strict=True)]
            for first in members
        ]
        return [hockey(law, n, extra) for law in laws for extra in (F(0), self.singular)]


def levelled(draw: random.Random) -> Family:
    count = draw.randrange(2, 5)
    first, second, reference = (tuple(shares(draw, count)) for _ in range(3))
    off = min(radius(draw), first[0] / 2, first[1] / 2) * draw.randrange(2)
    return Family(first, second, reference, off, radius(draw) * draw.randrange(2))


def exponential(x: F) -> F:
    """About e^x, to 28 digits."""
    return F((Decimal(x.numerator) / Decimal(x.denominator)).exp())


@FACTORS
@pytest.mark.parametrize("engine", ["named", "everywhere"])
def test_levels(engine, factor, wide_everywhere):
    draw, answered = random.Random(f"epsilon {engine} {factor}"), 0
    for k in range(9):
        one, n = levelled(draw), draw.randrange(2, 6)
        goal = max(one.truths(grid(draw, 1.5, 3), n)) + F(1, 10**6)
        wide = Wide(k) if engine == "named" else None
        asked = {"n": n, "delta": goal, "engine": wide, "arithmetic": None, "rtol": 0.5, "attained": True}
        found = answer(draw, factor, epsilon, source_of(one.law), **asked)
        if found is None:
            continue
        answered += 1
        assert max(one.truths(exponential(found.bracket.upper), n)) <= goal
        for low in {found.bracket.lower, found.attained.lower} - {F(0)}:
            assert min(one.truths(exponential(low), n)) >= goal
    assert answered


def test_what_is_certainly_nothing(wide_everywhere):
    draw, infinite = random.Random("nothing"), 0
    for _ in range(8):
        one, n, order = levelled(draw), draw.randrange(2, 6), grid(draw, 1.5, 3)
        if bounds_nothing_from(source_of(one.law), order, Method()):
            assert not any(one.truths(order, n))
        if one.singular:
            infinite += 1
            with pytest.raises(Unsupported):
                renyi(source_of(one.law), n=n, order=2, rtol=0.9)
    assert infinite


@pytest.mark.parametrize(("name", "k"), [("olh", 4), ("aug-rr", 3), ("subset-selection", 4)])
def test_nobody_is_excluded_who_meets_a_match(name, k, wide_everywhere):
    draw, one = random.Random(name), family(name, k)
    for _ in range(2):
        n, lam = draw.randrange(2, 6), grid(draw, 3.1, 5)
        eps = F(round(math.log(grid(draw, 1.5, 3)) * 100), 100)
        box = (None, (F(3, 4), F(3, 4))) if name == "aug-rr" else ((2, 2), None)
        here = one.at(lam=lam, **dict(DegradationOrder(one).parameters((2, F(3, 4)))))
        met = max(reduction(here).laws(Exp(eps), "both", None), key=lambda law: Wide().ends(law, n)[1])
        goal = upper_end(canonical_votes(here, inputs=k, bits=100).risk(n)) * F(1001, 1000)
        match = read_match(budget=None, eps0=None, eps=eps, delta=F(math.ceil(Wide().ends(met, n)[1] * 10**9), 10**9))
        assert not Rivals(one, match, n, goal).excludes(box)


@FACTORS
def test_nodes_that_are_not_evaluated(factor):
    """The sum of what they have is at most the bound, where long stretches are settled by their middles."""
    draw = random.Random(f"nodes {factor}")
    for _ in range(60):
        n, apart = draw.randrange(2, 6), draw.uniform(0.5, 2)
        law = draw.choice(
            [[(apart, 0.5), (-apart, 0.5)], [(float(grid(draw, -2, 2)), float(w)) for w in shares(draw, 3)]]
        )
        step, c = draw.uniform(0.02, 0.2), draw.choice([1.0, 3.0, 10.0])
        spread = math.sqrt(sum(w * v * v for v, w in law))

        def value(t: float, law: Any = law) -> complex:
            return sum((w * cmath.exp(1j * v * t) for v, w in law), start=0j)

        start = min(range(4, 60), key=lambda k: abs(value(k * step)))  # from there on the transform grows
        last = start + draw.randrange(1, 2 * start)

        def along(first: flint.arb, distance: flint.arb, many: int) -> list[flint.acb]:
            return [flint.acb(value(float(first) + k * float(distance))) for k in range(many)]

        def bound(middle: Any, half: Any, left: Any, n: int = n, c: float = c, spread: float = spread) -> Any:
            return (abs(middle) + half * spread).min(flint.arb(1)) ** n / (c * c + left * left)

        truth = sum(abs(value(k * step)) ** n / (c * c + (k * step) ** 2) for k in range(start, last + 1))
        ends = {"start": start, "last": last, "allowed": 100.0 * draw.random(), "terms": 1}
        found = answer(draw, factor, beyond.over, along, bound, step=flint.arb(step), **ends)
        assert float(found) >= truth * (1 - 1e-9)
