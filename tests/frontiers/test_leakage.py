import math
import random
from fractions import Fraction

import pytest

from proofs_checks import _divergences
from symshuffle import Channel, Exp, InputError
from symshuffle.base.choices import Direction, Divergence, members
from symshuffle.base.numbers import lower_end, upper_end
from symshuffle.channels import shuffled
from symshuffle.channels.shuffled import histogram_law
from symshuffle.mechanisms import rr
from symshuffle.utility import Contamination, binary_envelope
from symshuffle.utility.frontiers.leakage import convex_envelope, leakage
from tests.shown import as_html

F = Fraction
W = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])
BRUTE = {
    "total-variation": _divergences.total_variation,
    "chi-square": shuffled.chi_square,
    "kl": _divergences.kl_divergence,
    "renyi": lambda p, q: _divergences.renyi_divergence(p, q, F(5, 2)),
}


def _laws(channel, i, j, n):
    first = histogram_law([channel.rows[i], *[channel.rows[j]] * (n - 1)])
    second = histogram_law([channel.rows[j]] * n)
    support = sorted(set(first) | set(second))
    return tuple([law.get(h, F(0)) for h in support] for law in (first, second))


@pytest.mark.parametrize("name", BRUTE)
@pytest.mark.parametrize("direction", members(Direction))
def test_against_the_histograms(name, direction):
    """The divergence of the two laws of the histogram, written out."""
    order = F(5, 2) if name == "renyi" else None
    for n in (1, 2, 3):
        pair = _laws(W, 0, 2, n)
        expected = BRUTE[name](*(pair if direction == "forward" else pair[::-1]))
        found = leakage(W, 0, 2, n=n, divergence=name, order=order, direction=direction)
        assert found.bracket.lower <= upper_end(expected)
        assert lower_end(expected) <= found.bracket.upper
        assert found.bracket.width <= F(1, 10**30)
        assert found.bracket.upper <= found.envelope.bracket.upper


@pytest.mark.parametrize("name", [name for name in members(Divergence) if name != "hockey-stick"])
@pytest.mark.parametrize("direction", members(Direction))
def test_randomized_response_attains_the_envelope(name, direction):
    channel, order = rr().at(lam=F(3)).channel(), F(3) if name == "renyi" else None
    found = leakage(channel, 0, 1, n=5, divergence=name, order=order, direction=direction)
    assert abs(found.bracket.midpoint - found.envelope.bracket.midpoint) < F(1, 10**40)


def test_hockey_stick_takes_eps_or_gamma():
    found = leakage(W, 0, 2, n=3, gamma=F(3, 2))
    assert found.bracket.exact == F(17, 180)
    assert found.envelope.bracket == binary_envelope(Contamination(3), lam=F(18, 5), gamma=F(3, 2)).bracket
    near = leakage(W, 0, 2, n=3, eps=F(405465108, 10**9))
    assert near.bracket.lower <= F(17, 180) + F(1, 10**8)
    assert float(near) == pytest.approx(17 / 180, abs=1e-8)
    assert "envelope" in as_html(near)
    assert set(near.to_dict()) >= {"lower", "upper", "about", "evaluation", "divergence", "envelope"}


def test_envelopes_at_irrational_levels_enclose_those_beside():
    source = random.Random(3)
    for name in ("chi-square", "kl", "squared-hellinger", "renyi", "total-variation"):
        order, n = (F(2) if name == "renyi" else None), source.randint(2, 6)
        low, mid, high = (
            convex_envelope(n, lam=lam, function=name, order=order).bracket
            for lam in (F(271828, 100000), Exp(F(1)), F(271829, 100000))
        )
        assert low.upper < mid.lower
        assert mid.upper < high.lower


def test_refusals():
    erased = Channel.from_rows([["1/2", "1/2", "0"], ["0", "1/2", "1/2"]])
    for call in (
        lambda: leakage(W, 0, 1, n=2),
        lambda: leakage(W, 0, 1, n=2, eps=1, gamma=2),
        lambda: leakage(W, 0, 1, n=2, eps=1, divergence="kl"),
        lambda: leakage(W, 0, 1, n=2, divergence="renyi"),
        lambda: leakage(W, 0, 1, n=2, divergence="kl", order=2),
        lambda: leakage(W, 0, 1, n=2, divergence="hellinger"),
        lambda: leakage(W, 0, 7, n=2, eps=1),
        lambda: leakage(erased, 0, 1, n=2, divergence="kl"),
        lambda: leakage(erased, 0, 1, n=2, divergence="kl", direction="reverse"),
        lambda: convex_envelope(3, lam=math.inf, function="kl"),
        lambda: convex_envelope(3, lam=F(1, 2), function="kl"),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize(
    ("function", "convex"),
    [
        (lambda t: (t - 1) ** 2, True),
        (lambda t: t - 1, True),  # affine: every second difference is 0
        (lambda t: 1 - t, True),
        (lambda t: 1 - t**2, False),
        (lambda t: 10 - 10 * t - (t - 1) ** 2 / 100, False),  # a little concave beside a steep slope
    ],
)
def test_convexity_is_asked_of_second_differences(function, convex):
    n, lam = 3, F(3)
    if not convex:
        with pytest.raises(InputError, match="not convex"):
            convex_envelope(n, lam=lam, function=function)
        return
    points = [(1 / lam + F(c, n) * (lam - 1 / lam), math.comb(n, c) * lam ** (n - c)) for c in range(n + 1)]
    expected = sum(function(t) * w for t, w in points) / (1 + lam) ** n
    assert convex_envelope(n, lam=lam, function=function).bracket.exact == expected
