"""Ends where what is neglected or rounded is made large: a window of one deviation, a grid of a few shares."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import Ball, CertificateError
from symshuffle.channels.law import Law
from symshuffle.vectors.calibration import floor
from symshuffle.vectors.privacy import conjecture
from symshuffle.vectors.privacy.conjecture import worst_background_on_the_line
from tests.vectors.test_conjecture import divergence


@pytest.fixture
def short_window(monkeypatch):
    """Grids that end one deviation beyond the largest input: a third of each message is outside."""
    kept = (conjecture._grid, conjecture._likelihoods, conjecture._cells)
    for one in kept:
        one.cache_clear()
    monkeypatch.setattr(conjecture, "_WINDOW", 1)
    yield
    for one in kept:
        one.cache_clear()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("inputs", [(1, -1), (1, 1), (F(1, 2), F(1, 4)), (0, -1)], ids=str)
def test_what_is_outside_of_the_grid_is_added(short_window, inputs, reverse):
    exact = divergence([float(x) for x in inputs], 0.2, reverse)
    search = conjecture._Search(2, F(1), F(1, 5), reverse)
    rational = tuple(map(F, inputs))
    assert search.merged(rational) <= exact <= search.value(rational)


def test_a_false_bound_on_all_backgrounds_is_not_believed():
    """Somewhere in some box there is more: the middle alone does not bound a box."""
    found = worst_background_on_the_line(n=2, sigma0=1, eps="1/5", tolerance="1/5")
    for share in (F(1, 3), F(3, 4)):
        with pytest.raises(CertificateError):
            replace(found, bracket=replace(found.bracket, lower=F(0), upper=found.conjectured.lower * share)).verify()


@pytest.mark.parametrize("singular", [F(1, 7), Ball(F(1, 5), F(1, 4))], ids=["exact", "ball"])
@pytest.mark.parametrize("found, lost", [(2.0, 0.5), (0.25, 0.5), (1.0, 0.0), (np.inf, 1.0), (1.0, np.inf)])
def test_what_sums_of_doubles_lose_is_taken_off(monkeypatch, found, lost, singular):
    monkeypatch.setattr(floor, "positive_part", lambda *_, **__: (found, lost))
    law = Law((F(1), F(-2)), (F(1, 2), F(1, 2)), singular=singular)
    least = max(F(found) - F(lost), F(0)) if np.isfinite(found - lost) else F(0)
    known = floor.at_least(law, 4)
    assert 0 <= known <= least / 4 + (singular if isinstance(singular, F) else singular.lower)


def test_a_root_is_at_most_the_root():
    for k in (2**60, 3 * 2**59, 12345678912345):
        for off in (F(0), F(1, 2), F(1, 10**9), F(-1, 10**9)):
            value = (k * k + off) / F(4**60)
            assert floor.root(value) ** 2 <= value < (floor.root(value) + F(1, 2**60)) ** 2


def test_a_bound_between_the_aim_and_the_next_double_excludes_nothing(monkeypatch):
    monkeypatch.setitem(conjecture._Search.below.__kwdefaults__, "most", 8)
    monkeypatch.setattr(conjecture._Search, "_slack", lambda *_: 0.0)
    search = conjecture._Search(2, F(1), F(1, 5), False)
    for aim in (F(1, 3), F(2, 3), F(3, 10)):
        above = float(aim) if F(float(aim)) > aim else math.nextafter(float(aim), math.inf)
        monkeypatch.setattr(conjecture._Search, "value", lambda *_, above=above: above)
        assert search.below(aim)[1] is not None


@pytest.mark.parametrize("users", [2, 3])
def test_positive_parts_of_symmetrised_products_are_those_of_enumeration(users):
    """On grids of a few points, where products on the diagonal count; a third of them is below 0."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        parts, weights = rng.normal(size=(users, 4)), rng.uniform(0.1, 1, size=4)
        total = 0.0
        for place in itertools.product(range(4), repeat=users):
            orders = itertools.permutations(place)
            mean = sum(math.prod(part[i] for part, i in zip(parts, order, strict=True)) for order in orders)
            total += math.prod(weights[i] for i in place) * max(mean / math.factorial(users), 0)
        found = conjecture._positive_part(parts[0], list(parts[1:]), weights)
        assert found == pytest.approx(total, rel=1e-12)
