"""The upper end on the trace after shuffling: lines below stop-losses, and the law below all others."""

import random
from fractions import Fraction as F
from itertools import pairwise, permutations, product
from math import lcm

import pytest
from flint import fmpq, fmpq_poly

from symshuffle import CertificateError, Law
from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.design.shuffled.minorant import check_line, height_of, law_below, nonnegative_between
from symshuffle.design.shuffled.search import blanket_law, trace_of
from symshuffle.design.shuffled.upper import trace_proof, trace_upper
from symshuffle.utility.anchored.law import template_signal
from symshuffle.utility.frontiers.convex_order import stop_loss
from symshuffle.utility.frontiers.orbit import centre_orbit, subset_orbit, tuple_orbit
from tests.slices import some

CASES = [(2, F(5, 4), F(3)), (3, F(1), F(5)), (4, F(5, 4), F(4)), (10, F(5, 3), F(18))]


def share(u, gamma, c):
    """The share of a template in E(G - c)_+, by pairs, in integers."""
    one = lcm(*(x.denominator for x in (*u, gamma, c)))
    tall, factor, place = [int(x * one) for x in u], int(gamma * one), int(c * one)
    inside = [max(x * one - factor * y - place * min(tall), 0) for x, y in permutations(tall, 2)]
    return F(sum(inside), one**2 * len(inside)) + (1 - min(u)) * max(-c, F(0))


def lines_by_cells(k, gamma, cap, trace, ends):
    """The lines of each cell of second moments."""
    return trace_proof(k, n=1, exp_eps=gamma, delta=F(1, 2), lam_cap=cap, trace=trace, ends=ends).cells


def second(u, gamma):
    """The share of a template in E G^2, by pairs."""
    pairs = list(permutations(range(len(u)), 2))
    return sum((u[i] - gamma * u[j]) ** 2 for i, j in pairs) / (min(u) * len(pairs))


@pytest.mark.parametrize(("k", "gamma", "cap"), some(CASES, 2))
def test_lines_are_below_the_shares_of_templates(k, gamma, cap):
    chance = random.Random(k)
    lines = [line for cell in lines_by_cells(k, gamma, cap, F(k, 4), (F(k), F(3 * k, 2))) for line in cell]
    kinds = [subset_orbit(k, s, ratio).template() for s in range(1, k) for ratio in (F(11, 10), F(2), cap)]
    for trial in range(60):
        high = cap if trial % 2 else 1 + (cap - 1) * F(chance.randrange(1, 50), 50)
        raw = [1 + (high - 1) * F(chance.choice((0, chance.randrange(101), 100)), 100) for _ in range(k)]
        kinds.append(tuple(y * k / sum(raw) for y in raw))
    closest = min(
        share(u, gamma, c) - a - b * signal - d * moment
        for u, signal, moment in [(u, template_signal(u), second(u, gamma)) for u in kinds]
        for c, a, b, d in lines[::7]
    )
    assert 0 <= closest < F(1, 100)


def least_gap(line, k, gamma, cap):
    """The least height of a template's share over ``b S + d V``, of templates of two values."""
    c, _, b, d = line
    found = []
    for step, large in product(range(21), range(1, k)):
        shape = [F(1)] * (k - large) + [1 + (cap - 1) * F(step, 20)] * large
        u = [x * k / sum(shape) for x in shape]
        found.append(share(u, gamma, c) - b * template_signal(u) - d * second(u, gamma))
    return min(found)


def drawn_lines():
    """Lines of intercept 0, each with k, the ratio and the cap: some that lean on each piece of a share, some drawn."""
    draw = random.Random(45)
    yield from (
        ((F(-11, 8), F(0), F(7, 32), F(1, 8)), 2, F(5, 4), F(17, 4)),
        ((F(-3, 2), F(0), F(0), F(1, 8)), 2, F(9, 4), F(9, 2)),
        ((F(-5, 4), F(0), F(7, 32), F(7, 64)), 4, F(5, 4), F(29, 8)),
        ((F(11, 8), F(0), F(0), F(3, 32)), 4, F(11, 8), F(7, 4)),
    )
    for _ in range(60):
        gamma = F(draw.randint(9, 24), 8)
        line = (F(draw.randint(-16, 12), 8), F(0), F(draw.randint(0, 8), 32), F(draw.randint(-8, 8), 64))
        yield line, draw.choice((2, 3, 4)), gamma, gamma + F(draw.randint(1, 24), 8)


def test_lines_above_the_share_of_a_template_are_refused():
    for line, *channel in drawn_lines():
        c, _, b, d = line
        with pytest.raises(CertificateError):
            check_line((c, least_gap(line, *channel) + F(1, 1000), b, d), *channel)


def test_a_line_that_touches_everywhere_is_accepted():
    check_line((F(100), F(0), F(0), F(0)), 3, F(2), F(4))


@pytest.mark.parametrize(("k", "gamma", "cap"), CASES)
def test_law_below_is_below_every_channel_of_the_trace(k, gamma, cap):
    mixtures = [(subset_orbit(k, 1, (1 + cap) / 2),)]  # of the least second moment at its trace
    mixtures.append((tuple_orbit(k, [cap, (1 + cap) / 2], F(2, 3)), centre_orbit(k, F(1, 3))))
    for orbits in mixtures:
        law = blanket_law(orbits, gamma)
        moment = sum((value**2 * weight for value, weight in law.atoms()), start=F(0))
        trace = trace_of(orbits)
        cells = lines_by_cells(k, gamma, cap, trace, (moment,))
        assert len(orbits) > 1 or any(d < 0 for *_, d in cells[0])
        for lines, (low, high) in zip(cells, ((F(0), moment), (moment, None)), strict=True):
            below = law_below([height_of(one, trace, low, high) for one in lines], [c for c, *_ in lines], gamma)
            assert below.mean == law.mean
            assert all(stop_loss(below, c) <= stop_loss(law, c) for c in (*below.values, *law.values))


def chords(places, law):
    """The law whose potential interpolates the potential of a law."""
    heights = [stop_loss(law, c) for c in places]
    slopes = [F(-1), *((s - r) / (d - c) for (c, r), (d, s) in pairwise(zip(places, heights, strict=True))), F(0)]
    return Law.from_atoms((c, b - a) for c, (a, b) in zip(places, pairwise(slopes), strict=True))


def test_a_grid_without_tangents_falls():
    """The chord of a potential is above it: at few places it would exclude the channel itself."""
    law = blanket_law((subset_orbit(10, 1, F(14)),), F(5, 3))
    places = [F(-23), F(-9), F(-2), F(-1, 3), F(2), F(13)]
    below = law_below([stop_loss(law, c) for c in places], places, F(5, 3))
    true = evaluate_law(law, 100, arithmetic="ball").lower
    assert evaluate_law(below, 100, arithmetic="ball").upper < true
    assert evaluate_law(chords(places, law), 100, arithmetic="ball").lower > true


def test_bracket_at_the_ratio_in_use():
    """At most 1.1 at (10, 1000, 1/2, 1e-6) with a cap of 1.3 times the ratio in use, and narrower at that ratio."""
    ends = {"n": 1000, "eps": "1/2", "delta": "1e-6"}
    found = best_shuffled(10, lam_cap=F(186, 10), **ends)
    assert F(13, 10) * found.ratio <= F(186, 10)
    assert found.trace <= found.upper <= F(11, 10) * found.trace
    found.bound.verify()
    assert found.least_risk <= found.risk


@pytest.mark.parametrize(
    ("k", "n", "eps", "delta", "cap"),
    [(2, 1, "0", "1/4", F(6)), (4, 5, "1", "1/100", F(8)), (5, 100, "1/2", "1/1000", F(2))],
)
def test_lower_end_is_at_most_the_upper(k, n, eps, delta, cap):
    found = best_shuffled(k, n=n, eps=eps, delta=delta, lam_cap=cap)
    assert found.trace <= found.upper
    assert (found.bound is None) == (found.upper == max(subset_orbit(k, s, cap).signal for s in range(1, k)))


def test_bracket_shrinks_with_the_cap():
    order, delta = F(5, 4), F(1, 1000)
    ends = [trace_upper(5, n=50, exp_eps=order, delta=delta, lam_cap=cap, least=F(1, 2))[0] for cap in (F(4), F(8))]
    assert ends[0] <= ends[1]


def test_cap_below_the_target_ratio_needs_no_proof():
    assert trace_upper(4, n=9, exp_eps=F(3), delta=F(1, 9), lam_cap=F(2), least=F(0)) == (
        max(subset_orbit(4, s, F(2)).signal for s in (1, 2, 3)),
        None,
    )


def test_polynomials_on_an_interval():
    low, high, little = fmpq(0), fmpq(1), fmpq(1, 1000)
    assert nonnegative_between(fmpq_poly([0, 1, -1]), low, high)
    assert not nonnegative_between(fmpq_poly([-little, 1, -1]), low, high)
    assert not nonnegative_between(fmpq_poly([fmpq(1, 4) - little, -1, 1]), low, high)
    assert nonnegative_between(fmpq_poly([fmpq(1, 4) + little, -1, 1]), low, high)
