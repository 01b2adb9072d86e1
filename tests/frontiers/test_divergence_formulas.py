"""Divergences of contamination pairs and convex order against enumeration of all messages of two or three users."""

import itertools
import math
from fractions import Fraction as F

import pytest

from symshuffle import CertificateError, Channel, Exp, InputError, Unsupported
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers import convex_order as module
from symshuffle.utility.frontiers import leakage as leakages
from symshuffle.utility.frontiers.contamination import Contamination, ratio_law
from symshuffle.utility.frontiers.convex_order import (
    ConvexOrder,
    average_law,
    convex_order,
    moments_from_average,
    profile_gap,
    rigidity_gap,
    stop_loss,
)
from symshuffle.utility.frontiers.leakage import convex_envelope, endpoint_variance, leakage

PAIR = Channel.from_rows([["1/2", "1/3", "1/6"], ["1/4", "1/4", "1/2"]])
BITS = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])


def pair_of(channel, n):
    """Masses of all strings of messages, symmetrised: one user holds 0 and the others 1, against all hold 1."""
    rows = [[float(x) for x in row] for row in channel.rows]
    first, second = [], []
    for word in itertools.product(range(channel.num_outputs), repeat=n):
        base = math.prod(rows[1][y] for y in word)
        mixed = (
            sum(rows[0][word[i]] * math.prod(rows[1][y] for j, y in enumerate(word) if j != i) for i in range(n)) / n
        )
        first.append(mixed)
        second.append(base)
    return first, second


def divergence(name, order, p, q):
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    match name:
        case "chi-square":
            return sum((a - b) ** 2 / b for a, b in pairs)
        case "kl":
            return sum(a * math.log(a / b) for a, b in pairs if a)
        case "squared-hellinger":
            return sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in pairs)
        case "renyi":
            return math.log(sum(a**order * b ** (1 - order) for a, b in pairs)) / (order - 1)
        case _:
            return sum(abs(a - b) for a, b in pairs) / 2


NAMED = [("chi-square", None), ("kl", None), ("squared-hellinger", None), ("renyi", F(5, 2)), ("total-variation", None)]


@pytest.mark.parametrize(("name", "order"), NAMED)
@pytest.mark.parametrize("way", ["forward", "reverse"])
@pytest.mark.parametrize("n", [1, 3])
def test_divergences_by_enumeration_of_messages(name, order, way, n):
    """Of a channel, and the envelope of the cap 3 as that of binary response, which attains it."""
    exponent = None if order is None else float(order)
    for channel in (PAIR, BITS):
        p, q = pair_of(channel, n)
        value = divergence(name, exponent, p, q) if way == "forward" else divergence(name, exponent, q, p)
        found = leakage(channel, 0, 1, n=n, divergence=name, order=order, direction=way)
        assert float(found.bracket.upper) == pytest.approx(value, rel=1e-9)
        assert found.bracket.lower <= found.bracket.upper <= found.bracket.lower * (1 + F(1, 10**6))
        assert found.envelope.bracket.upper >= found.bracket.lower
    bound = convex_envelope(n, lam=F(3), function=name, order=order, direction=way).bracket
    assert float(bound.upper) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_an_output_that_one_input_never_sends(n):
    """(1/2, 1/2, 0) against (1/4, 1/2, 1/4): finite where the larger support stands second, and Hellinger always."""
    channel = Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/2", "1/4"]])
    p, q = pair_of(channel, n)
    for name, order in NAMED:
        found = leakage(channel, 0, 1, n=n, divergence=name, order=order).bracket
        exponent = None if order is None else float(order)
        assert float(found.upper) == pytest.approx(divergence(name, exponent, p, q), rel=1e-9)
    swapped = leakage(channel, 1, 0, n=n, divergence="squared-hellinger").bracket
    p, q = pair_of(Channel(channel.rows[::-1]), n)
    assert float(swapped.upper) == pytest.approx(divergence("squared-hellinger", None, p, q), rel=1e-9)
    for name, order in (("chi-square", None), ("kl", None), ("renyi", 2)):
        with pytest.raises(InputError, match="infinite"):
            leakage(channel, 1, 0, n=n, divergence=name, order=order)
        with pytest.raises(InputError, match="infinite"):
            leakage(channel, 0, 1, n=n, divergence=name, order=order, direction="reverse")


def test_closed_forms_of_chi_square():
    assert endpoint_variance(F(3)) == F(4, 3) and endpoint_variance(1) == 0
    assert float(endpoint_variance(Exp(F(1)))) == pytest.approx((math.e - 1) ** 2 / math.e, rel=1e-15)
    assert convex_envelope(5, lam=F(3), function="chi-square").bracket.exact == F(4, 15)
    found = convex_envelope(5, lam=Exp(F(1)), function="chi-square").bracket
    assert float(found.upper) == pytest.approx((math.e - 1) ** 2 / math.e / 5, rel=1e-14)
    assert leakage(PAIR, 0, 1, n=7, divergence="chi-square").bracket.exact == (F(1, 4) + F(1, 36) + F(2, 9)) / 7


def test_convex_functions_by_enumeration():
    """(t - 1)^2 t at cap 2 and two users: averages 1/2, 5/4, 2 with masses 4/9, 4/9, 1/9."""
    found = convex_envelope(2, lam=F(2), function=lambda t: (t - 1) * (t - 1) * t)
    assert found.bracket.exact == F(4, 9) * F(1, 8) + F(4, 9) * F(5, 64) + F(1, 9) * 2
    assert convex_envelope(2, lam=F(2), function=lambda t: t - 1).bracket.exact == 0
    for function in (lambda t: t, lambda t: -((t - 1) ** 2)):
        with pytest.raises(InputError, match=r"^function"):
            convex_envelope(2, lam=F(2), function=function)


def test_what_is_refused(monkeypatch):
    for ask, named in (
        ({"lam": F(1, 2), "function": "kl"}, "lam"),
        ({"lam": 2.0, "function": "kl"}, "lam"),
        ({"lam": F(2), "function": "hockey-stick"}, "function"),
        ({"lam": F(2), "function": "kl", "order": 2}, "order"),
        ({"lam": F(2), "function": "renyi"}, "order"),
        ({"lam": F(2), "function": "renyi", "order": 1}, "order"),
        ({"lam": F(2), "function": "renyi", "order": 1.5}, "order"),
        ({"lam": F(2), "function": lambda t: t - 1, "order": 2}, "order"),
        ({"lam": Exp(F(1)), "function": lambda t: t - 1}, "lam"),
    ):
        with pytest.raises(InputError, match=f"^{named} = "):
            convex_envelope(2, **ask)
    for ask in (
        {},
        {"eps": 1, "gamma": 2},
        {"divergence": "kl", "eps": 1},
        {"divergence": "total-variation", "eps": 1},
    ):
        with pytest.raises(InputError, match=r"^eps, gamma = "):
            leakage(BITS, 0, 1, n=2, **ask)
    monkeypatch.setattr(leakages, "_LARGEST_SUM", 3)
    convex_envelope(3, lam=F(2), function="kl")
    with pytest.raises(Unsupported, match="n = 4"):
        convex_envelope(4, lam=F(2), function="kl")
    monkeypatch.setattr(leakages, "LARGEST_EXACT_ENVELOPE", 3)
    convex_envelope(3, lam=F(2), function=lambda t: t - 1)
    with pytest.raises(Unsupported, match="n = 4"):
        convex_envelope(4, lam=F(2), function=lambda t: t - 1)


def test_orders_of_the_hockey_stick():
    """One user: 3/4 - 1/4 at order 1, 3/4 - 1/2 at order 2; below 1 there is no envelope."""
    assert leakage(BITS, 0, 1, n=1, eps=0).bracket.exact == F(1, 2)
    found = leakage(BITS, 0, 1, n=1, gamma=2)
    assert found.bracket.exact == found.envelope.bracket.exact == F(1, 4) and found.order == 2
    below = leakage(BITS, 0, 1, n=1, gamma=F(1, 2))
    assert below.envelope is None and below.bracket.exact == F(3, 4) - F(1, 8) + F(1, 4) - F(3, 8) * 1 + F(1, 8)
    assert leakage(BITS, 0, 1, n=1, eps=F(1)).order == Exp(F(1))


LOW, HIGH = Law((F(0), F(2)), (F(1, 2), F(1, 2))), Law((F(-1), F(1), F(3)), (F(1, 4), F(1, 2), F(1, 4)))


def test_convex_order_by_hand():
    """0 splits to -1 and 1, 2 to 1 and 3; the other way round the order fails at a threshold."""
    good = ConvexOrder(((F(1, 4), F(1, 4), F(0)), (F(0), F(1, 4), F(1, 4))), None)
    good.verify(LOW, HIGH)
    found = convex_order(LOW, HIGH)
    found.verify(LOW, HIGH)
    assert found.holds and convex_order(LOW, LOW).holds
    back = convex_order(HIGH, LOW)
    back.verify(HIGH, LOW)
    assert not back.holds and stop_loss(HIGH, back.threshold) > stop_loss(LOW, back.threshold)
    assert stop_loss(HIGH, F(0)) == F(5, 4) and stop_loss(LOW, F(0)) == 1 and stop_loss(LOW, F(2)) == 0
    other = Law((F(0), F(3)), (F(1, 2), F(1, 2)))
    assert convex_order(LOW, other) == ConvexOrder(None, None)
    ConvexOrder(None, None).verify(LOW, other)
    for witness, place in (
        (ConvexOrder(None, None), "means"),
        (ConvexOrder(None, F(0)), "threshold"),
        (ConvexOrder(None, F(5)), "threshold"),
        (ConvexOrder(good.coupling[:1], None), "coupling"),
        (ConvexOrder(((F(1, 4), F(1, 4)), (F(1, 4), F(1, 4))), None), "coupling"),
        # an unfair split of 0; a negative mass with right sums and means; rows of wrong mass; a wrong upper marginal
        (ConvexOrder(((F(1, 4), F(1, 8), F(1, 8)), (F(0), F(3, 8), F(1, 8))), None), "coupling"),
        (ConvexOrder(((F(1, 8), F(1, 2), F(-1, 8)), (F(1, 8), F(0), F(3, 8))), None), "coupling"),
        (ConvexOrder(((F(1, 4), F(1, 4), F(0)), (F(0), F(1, 8), F(1, 8))), None), "coupling"),
        (ConvexOrder(((F(1, 4), F(1, 4), F(0)), (F(1, 8), F(0), F(3, 8))), None), "coupling"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            witness.verify(LOW, HIGH)


def test_averages_and_their_moments(monkeypatch):
    law = Law((F(1, 2), F(1), F(3)), (F(2, 5), F(2, 5), F(1, 5)))
    brute = {}
    for drawn in itertools.product(law.atoms(), repeat=3):
        value = sum(v for v, _ in drawn) / 3
        brute[value] = brute.get(value, 0) + math.prod((w for _, w in drawn), start=F(1))
    assert dict(average_law(law, 3).atoms()) == brute
    moments = [sum(w * v**m for v, w in brute.items()) for m in (1, 2, 3, 4)]
    assert moments_from_average(moments, 3) == tuple(sum(w * v**m for v, w in law.atoms()) for m in (1, 2, 3, 4))
    monkeypatch.setattr(module, "LARGEST_AVERAGE", 10)
    average_law(law, 3)
    monkeypatch.setattr(module, "LARGEST_AVERAGE", 9)
    with pytest.raises(Unsupported, match="up to 10 atoms"):
        average_law(law, 3)


@pytest.mark.parametrize("way", ["forward", "reverse"])
def test_gaps_to_the_envelope(way):
    """None for binary response; for the other channel the largest over orders is at least that of a fine grid."""
    experiment = Contamination(2, way)
    assert rigidity_gap(ratio_law(BITS, 0, 1), experiment, lam=F(3))[0] == 0
    ratio = ratio_law(PAIR, 0, 1)
    worst, order = rigidity_gap(ratio, experiment, lam=F(3))
    assert profile_gap(ratio, experiment, lam=F(3), gamma=order) == worst > 0
    grid = [profile_gap(ratio, experiment, lam=F(3), gamma=1 + F(j, 20)) for j in range(40)]
    assert min(grid) >= 0 and max(grid) <= worst <= max(grid) + F(1, 50)
    p, q = pair_of(PAIR, 2)
    first, second = (p, q) if way == "forward" else (q, p)
    value = sum(max(a - 1.25 * b, 0) for a, b in zip(first, second, strict=True))
    p, q = pair_of(BITS, 2)
    first, second = (p, q) if way == "forward" else (q, p)
    bound = sum(max(a - 1.25 * b, 0) for a, b in zip(first, second, strict=True))
    found = profile_gap(ratio, experiment, lam=F(3), gamma=F(5, 4))
    assert float(found) == pytest.approx(bound - value, abs=1e-12)


def test_couplings_of_uneven_laws():
    """Atoms 0, 2, 4 of masses 1/4, 1/4, 1/2, each moved by one up or down with a fair coin."""
    lower = Law((F(0), F(2), F(4)), (F(1, 4), F(1, 4), F(1, 2)))
    upper = Law((F(-1), F(1), F(3), F(5)), (F(1, 8), F(1, 4), F(3, 8), F(1, 4)))
    found = convex_order(lower, upper)
    found.verify(lower, upper)
    assert found.holds and [sum(row) for row in found.coupling] == [F(1, 4), F(1, 4), F(1, 2)]


def test_laws_that_are_not_rational_are_not_compared():
    for law in (Law((F(1),), (1.0,)), Law((1.0,), (F(1),)), Law((F(1),), (F(1),), F(1, 2))):
        with pytest.raises(InputError, match=r"^law = "):
            stop_loss(law, F(0))
