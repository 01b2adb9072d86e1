"""Divergences of contamination pairs and convex order against enumeration of all messages of two or three users."""

import itertools
import math
from fractions import Fraction as F

import pytest

from symshuffle import Channel, Exp, InputError, Law, Unsupported
from symshuffle.utility.frontiers import leakage as leakages
from symshuffle.utility.frontiers.convex_order import stop_loss
from symshuffle.utility.frontiers.leakage import convex_envelope, leakage

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
        ({"lam": F(2), "function": "hockey-stick"}, "function"),
        ({"lam": F(2), "function": "kl", "order": 2}, "order"),
        ({"lam": F(2), "function": "renyi"}, "order"),
        ({"lam": F(2), "function": "renyi", "order": 1}, "order"),
        ({"lam": F(2), "function": lambda t: t - 1, "order": 2}, "order"),
        ({"lam": Exp(F(1)), "function": lambda t: t - 1}, "lam"),
    ):
        with pytest.raises(InputError, match=f"^{named} (= |is missing|are missing)"):
            convex_envelope(2, **ask)
    for ask in (
        {},
        {"eps": 1, "gamma": 2},
        {"divergence": "kl", "eps": 1},
        {"divergence": "total-variation", "eps": 1},
    ):
        with pytest.raises(InputError, match=r"^eps, gamma (= |are missing)"):
            leakage(BITS, 0, 1, n=2, **ask)
    monkeypatch.setattr(leakages, "_LARGEST_SUM", 3)
    convex_envelope(3, lam=F(2), function="kl")
    with pytest.raises(Unsupported, match="n = 4"):
        convex_envelope(4, lam=F(2), function="kl")
    monkeypatch.setattr(leakages, "LARGEST_EXACT_ENVELOPE", 3)
    convex_envelope(3, lam=F(2), function=lambda t: t - 1)
    with pytest.raises(Unsupported, match="n = 4"):
        convex_envelope(4, lam=F(2), function=lambda t: t - 1)


LOW, HIGH = Law((F(0), F(2)), (F(1, 2), F(1, 2))), Law((F(-1), F(1), F(3)), (F(1, 4), F(1, 2), F(1, 4)))


def test_laws_that_are_not_rational_are_not_compared():
    for law in (Law((F(1),), (1.0,)), Law((1.0,), (F(1),)), Law((F(1),), (F(1),), F(1, 2))):
        with pytest.raises(InputError, match=r"^law = "):
            stop_loss(law, F(0))
