"""The law of G: what is no law, how atoms merge, and its moments."""

from fractions import Fraction

import pytest
from hypothesis import given

from symshuffle import Ball, Exp, InputError, Law
from symshuffle.base import enclose
from symshuffle.decompositions import simplified_decomposition
from symshuffle.testing import channels, laws, ratios
from tests.shown import as_html

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("values", "weights", "singular", "message"),
    [
        ((), (), 0, "at least 1"),
        ((1,), (HALF, HALF), 0, "1 value, 2 weights"),
        ((Fraction(1),), (Fraction(0),), 0, "drop atoms of weight 0"),
        ((Fraction(1),), (Fraction(-1),), 0, "positive probabilities"),
        ((1.0,), (float("nan"),), 0, "positive probabilities"),
        ((Fraction(1),), (HALF,), 0, "sum 1/2"),
        ((Fraction(1),), (0.5,), 0, "sum 0.5"),
        ((float("nan"),), (1.0,), 0, "finite numbers"),
        ((float("inf"),), (1.0,), 0, "finite numbers"),
        ((Fraction(1),), (Fraction(1),), Fraction(-1), "a mass of at least 0"),
    ],
)
def test_refusals(values, weights, singular, message):
    with pytest.raises(InputError, match=message):
        Law(values, weights, singular)


def test_atoms_are_collected():
    law = Law.from_atoms([(Fraction(1), HALF), (Fraction(2), Fraction(0)), (Fraction(1), HALF)])
    assert (law.values, law.weights) == ((Fraction(1),), (Fraction(1),))
    same = enclose(Exp(Fraction(1)))
    assert len(Law.from_atoms([(same, HALF), (same, HALF)]).values) == 1
    other = enclose(Exp(Fraction(1)))
    assert len(Law.from_atoms([(same, HALF), (other, HALF)]).values) == 2  # equal balls need not hold equal numbers


@given(laws())
def test_moments_and_support(law):
    assert law.exact and law.enclosed
    assert law.mean == sum(v * w for v, w in law.atoms())
    assert law.variance == sum(v * v * w for v, w in law.atoms()) - law.mean**2
    assert law.support == (min(law.values), max(law.values))
    assert law.never_positive == (max(law.values) <= 0)
    assert all((value / law.lattice).denominator == 1 for value in law.values)


@given(channels(), ratios())
def test_mean_of_gparv(channel, order):
    """E[G] = 1 - exp(eps), less what the blanket misses."""
    pair = simplified_decomposition(channel, (0, 1)).reduction_pair()
    law = pair.gparv(order)
    missed = [(a, b) for a, b, c in zip(pair.a0, pair.a1, pair.a2, strict=True) if c == 0]
    assert law.mean == 1 - order - sum(a - order * b for a, b in missed)
    assert law.singular == sum(max(a - order * b, Fraction(0)) for a, b in missed)


def test_kinds_of_numbers():
    mixed = Law((Ball(Fraction(0), Fraction(1)), Fraction(-1)), (HALF, HALF))
    assert mixed.enclosed and not mixed.exact and mixed.lattice is None and not mixed.never_positive
    assert not Law((1.0,), (1.0,)).enclosed
    assert "<td>1.0</td>" in as_html(Law((1.0,), (1.0,)))


@given(laws(max_atoms=4))
def test_the_floor_is_the_mean_where_that_is_positive(law):
    assert law.floor == max(law.mean, 0)
    assert Law(tuple(enclose(v) for v in law.values), law.weights).floor <= law.floor


@pytest.mark.parametrize("bent", [0, 1])
def test_multiples_are_seen_in_doubles_only_where_they_may_be(bent):
    """Balls around multiples of an irrational number; one that is off by 10^-9 of it is none, and is found exactly."""
    unit = enclose(Exp(Fraction(1, 3)), 200)
    values = (-unit, unit * (2 + bent * Fraction(1, 10**9)), enclose(Fraction(0), 200))
    found = Law(values, (HALF, Fraction(1, 4), Fraction(1, 4))).in_units()
    assert (found is None) == bool(bent)


@pytest.mark.parametrize(
    ("values", "weights", "singular", "floor", "ceiling", "variance", "lattice"),
    [
        ("-1 2", "1/2 1/2", "0", "1/2", "1", "9/4", "1"),
        ("-2 1", "1/2 1/2", "1/5", "0", "7/10", "9/4", "1"),
        ("-1 1", "1/2 1/2", "0", "0", "1/2", "1", "1"),
        ("-1/2 3/4", "1/3 2/3", "1/7", "1/3", "9/14", "25/72", "1/4"),
        ("-6 4", "1/2 1/2", "0", "0", "2", "25", "2"),
        ("0", "1", "1/3", "0", "1/3", "0", "1"),
        ("5/3", "1", "0", "5/3", "5/3", "0", "5/3"),
    ],
)
def test_laws_by_hand(values, weights, singular, floor, ceiling, variance, lattice):
    atoms = [tuple(map(Fraction, text.split())) for text in (values, weights)]
    law = Law(*atoms, Fraction(singular))
    found = (law.floor, law.ceiling, law.variance, law.lattice)
    assert found == tuple(map(Fraction, (floor, ceiling, variance, lattice)))
    assert law.never_positive == (max(law.values) <= 0)


def test_the_ends_of_balls_bound_from_the_right_side():
    law = Law((Ball(Fraction(-1), Fraction(1)), Ball(Fraction(3), Fraction(4))), (HALF, HALF), Fraction(1, 8))
    assert 0 <= law.ceiling - (HALF + 2 + Fraction(1, 8)) < Fraction(1, 2**20)
    assert 1 - Fraction(1, 2**20) < law.floor <= 1  # balls of these ends are a little wider
    assert not law.never_positive
    assert Law((Ball(Fraction(-1), Fraction(0)),), (Fraction(1),)).never_positive


def test_the_ceiling_has_the_upper_ends_of_weights_and_of_what_is_singular():
    some, others = Ball(Fraction(1, 4), HALF), Ball(HALF, Fraction(3, 4))
    ceilings = (Law((Fraction(3), Fraction(-1)), (some, others), end).ceiling for end in (0, Ball(Fraction(0), HALF)))
    for found, truth in zip(ceilings, (3 * HALF, 3 * HALF + HALF), strict=True):
        assert 0 <= found - truth < Fraction(1, 2**20)


def test_multiples_are_not_sought_where_there_are_none():
    balls = tuple(Ball(Fraction(x) - Fraction(1, 2**80), Fraction(x) + Fraction(1, 2**80)) for x in (1, 2))
    assert Law(balls, (HALF, HALF)).in_units() is not None
    wide = tuple(Ball(x.lower - Fraction(1, 2**50), x.upper) for x in balls)
    assert Law(wide, (HALF, HALF)).in_units() is None
    assert Law((Fraction(1), Fraction(2)), (HALF, HALF)).in_units() is None
    assert Law((1.0, 2.0), (0.5, 0.5)).in_units() is None
    assert Law((Ball(Fraction(-1), Fraction(1)),), (Fraction(1),)).in_units() is None


def test_multiples_are_found_in_comparisons_linear_in_the_atoms(monkeypatch):
    tiny = Fraction(1, 10**30)
    atoms = [k % 3 + 1 + k * tiny for k in range(300)]
    law = Law(tuple(Ball(atom - tiny / 4, atom + tiny / 4, 192) for atom in atoms), (Fraction(1, 300),) * 300)
    counted, plain = [], Fraction._richcmp
    monkeypatch.setattr(Fraction, "_richcmp", lambda *given: counted.append(1) or plain(*given))
    multiples, _, error = law.in_units()
    assert len(counted) < 20 * 300
    assert set(multiples.values) == {1, 2, 3} and 0 < error < 1000 * tiny
