"""The bound by the normal law with an explicit error, against engines and exact values."""

from dataclasses import replace
from fractions import Fraction as F

import flint
import pytest

from proofs_checks.vecmean import _normal as normal
from proofs_checks.vecmean._normal import normal_bracket
from symshuffle.channels.continuous_law import ContinuousPair
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import worst_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, SphereLinear

BIT = worst_pair(SphereLinear("1/2", 1), adjacency="zero-out")


@pytest.mark.parametrize("n", [1, 20, 10**4, 10**6])
def test_it_contains_what_the_engines_find(n):
    x = 1 + F(f"{0.7 / n**0.5:.6e}")
    for pair in (BIT, BIT.reverse):
        found, known = normal_bracket(pair, n, x), pair_delta(pair, n, x, rtol=1e-6)
        assert found.lower <= known.upper
        assert known.lower <= found.upper
        if n == 10**6:
            assert found.relative_width < F(3, 20)


def test_a_density_with_a_long_tail():
    pair, x = worst_pair(BlanketMixedGaussian("0.95", "4.6"), adjacency="zero-out"), 1 + F(1, 30000)
    for one in (pair, pair.reverse):
        found, known = normal_bracket(one, 10**6, x), pair_delta(one, 10**6, x, rtol=1e-4)
        assert found.lower <= known.upper
        assert known.lower <= found.upper
        assert found.relative_width < F(1, 5)


def test_the_error_is_needed(monkeypatch):
    """Without it the bracket misses the truth."""

    def bare(*given):
        return terms(*given)[0], flint.arb(0)

    terms = normal.terms
    monkeypatch.setattr(normal, "terms", bare)
    found, known = normal_bracket(BIT, 20, F(11, 10)), pair_delta(BIT, 20, F(11, 10))
    assert not (found.lower <= known.upper and known.lower <= found.upper)


@pytest.mark.parametrize("whole", [True, False])
def test_the_mass_beyond_the_window_is_needed(whole, monkeypatch):
    """Cut where it holds more than the bound itself, a tail that is left out takes the bound with it."""
    pair, x = worst_pair(BlanketMixedGaussian("0.95", "4.6"), adjacency="zero-out"), 1 + F(1, 30000)
    known = pair_delta(pair, 10**6, x, rtol=1e-4)
    monkeypatch.setattr(normal, "_TAIL", F(1, 10**4))
    if not whole:
        cut = ContinuousPair.law
        monkeypatch.setattr(ContinuousPair, "law", lambda *a, **k: replace(cut(*a, **k), missing=(F(0), F(0))))
    found = normal_bracket(pair, 10**6, x)
    assert (found.lower <= known.upper and known.lower <= found.upper) == whole
