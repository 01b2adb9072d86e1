"""Pairs of finitely many likelihood ratios: their law of G by hand, refusals, caps, the two points of a line."""

from fractions import Fraction as F

import pytest
from scipy.stats import beta

from symshuffle.errors import InputError, NotDecided
from symshuffle.numbers import Ball, to_float
from symshuffle.vectors.mechanisms import PrivUnit, SphereLinear
from symshuffle.vectors.pairs import FinitePair, cap_complement, real_pair, worst_pair

WORDS = "two laws"


def atoms(law):
    return sorted((to_float(g), mass) for g, mass in zip(law.values, law.weights, strict=True))


def test_the_law_of_g_is_the_definition_output_by_output():
    """G = (p - x q)/r with mass r, 0 with what the blanket lacks."""
    pair = FinitePair((F(1, 2), F(1, 2)), (F(1, 4), F(3, 4)), (F(1, 5), F(2, 5)), WORDS)
    law = pair.law(F(3, 2))
    assert atoms(law) == [(-25 / 16, F(2, 5)), (0, F(2, 5)), (5 / 8, F(1, 5))]
    assert law.singular == 0
    # The other order: (q - x p)/r.
    back = pair.reverse.law(F(3, 2))
    assert atoms(back) == [(-2.5, F(1, 5)), (0, F(4, 5))]
    assert pair.reverse.reverse == pair and pair.reverse.about == WORDS


def test_what_the_blanket_never_sends_is_singular_where_it_is_a_gain():
    """On two of three outputs without blanket mass, p - x q is 1/8 and -1/4: only the first is revealed."""
    pair = FinitePair((F(1, 4), F(1, 4), F(1, 2)), (F(1, 8), F(1, 2), F(3, 8)), (F(0), F(0), F(1, 2)), WORDS)
    law = pair.law(F(1))
    assert to_float(law.singular) == 1 / 8
    assert atoms(law) == [(0, F(1, 2)), (0.25, F(1, 2))]
    assert to_float(pair.reverse.law(F(1)).singular) == 1 / 4
    assert pair.law(F(2)).singular == 0


def test_an_enclosed_blanket_mass_next_to_zero_is_not_decided():
    unsure = Ball(F(0), F(1, 100))
    with pytest.raises(NotDecided):
        FinitePair((F(1, 2), F(1, 2)), (F(1, 2), F(1, 2)), (unsure, F(1, 2)), WORDS).law(F(2))
    sure = FinitePair((F(1, 2), F(1, 2)), (F(1, 2), F(1, 2)), (Ball(F(1, 100), F(1, 50)), F(1, 2)), WORDS)
    assert len(sure.law(F(2)).values) == 3


HALVES = (F(1, 2), F(1, 2))


@pytest.mark.parametrize(
    ("first", "second", "reference", "name"),
    [
        ((F(1, 2), F(1, 3)), HALVES, HALVES, "first"),
        ((F(1, 2), F(2, 3)), HALVES, HALVES, "first"),
        (HALVES, (F(1, 2), F(1, 3)), HALVES, "second"),
        (HALVES, HALVES, (F(1, 2), F(501, 1000)), "reference"),
        ((F(3, 2), F(-1, 2)), HALVES, HALVES, "first"),
        (HALVES, HALVES, (F(1, 2), F(-1, 100)), "reference"),
        ((0.5, 0.5), HALVES, HALVES, "first"),
        ([F(1, 2), F(1, 2)], HALVES, HALVES, "first"),
        ((F(1, 2), F(1, 4), F(1, 4)), HALVES, HALVES, "first"),
        (HALVES, HALVES, (F(1, 2),), "first"),
    ],
)
def test_what_is_no_pair_is_refused(first, second, reference, name):
    with pytest.raises(InputError, match=name):
        FinitePair(first, second, reference, WORDS)


def test_what_just_is_a_pair_is_taken():
    assert FinitePair((1, 0), (0, 1), HALVES, WORDS).first == (1, 0)
    assert FinitePair(HALVES, HALVES, (F(0), F(0)), WORDS).reference == (0, 0)
    near = Ball(F(49, 100), F(51, 100))
    assert FinitePair((near, F(1, 2)), (F(1, 2), near), (near, F(1, 2)), WORDS).about == WORDS


C = F(1, 3)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_linear_density_on_two_points(adjacency, real):
    """Of u = 1 and u = -1 each has the density 1 + c u x over two, the blanket (1 - c)/2 each, the others hold -1."""
    mechanism = SphereLinear(C, 1)
    pair = real_pair(mechanism, adjacency=adjacency) if real else worst_pair(mechanism, adjacency=adjacency)
    toward, away, null, least = (F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)), HALVES, (F(1, 3), F(1, 3))
    assert pair.first == toward
    assert pair.second == (null if adjacency == "zero-out" else away)
    assert pair.reference == (away if real else least)


def sizes_of(theta, dimension):
    """Probabilities that a uniform point is in both caps, in the first alone, in neither, by its height alone."""
    half = (dimension - 1) / 2
    law = beta(half, half, loc=-1, scale=2)
    cap, both = law.sf(theta), max(law.cdf(-theta) - law.cdf(theta), 0)
    return cap, both, cap - both, 1 - 2 * cap + both


@pytest.mark.parametrize("p", ["0.9", "0.02"])
@pytest.mark.parametrize(("theta", "dimension"), [("0.3", 4), ("-0.4", 3), ("0", 5), ("0.2", 2), ("-0.7", 7)])
def test_caps_have_the_masses_of_their_overlaps(theta, dimension, p):
    mechanism = PrivUnit(p, theta, dimension)
    cap, both, alone, neither = sizes_of(float(F(theta)), dimension)
    hit, missed = float(mechanism.p) / cap, (1 - float(mechanism.p)) / (1 - cap)
    rows = [(alone, hit, missed), (alone, missed, hit), (both, hit, hit), (neither, missed, missed)]
    rows = [row for row in rows if row[0] > 1e-9]
    least = min(hit, missed)
    first = [size * here for size, here, _ in rows]
    second = [size * there for size, _, there in rows]
    sizes = [size for size, _, _ in rows]

    def same(masses, expected):
        assert [to_float(mass) for mass in masses] == pytest.approx(expected, rel=1e-11)

    pair = worst_pair(mechanism, adjacency="replace-one")
    for masses, expected in ((pair.first, first), (pair.second, second)):
        same(masses, expected)
    same(pair.reference, [least * size for size in sizes])
    for adjacency, other in (("replace-one", second), ("zero-out", sizes)):
        real = real_pair(mechanism, adjacency=adjacency)
        for masses, expected in ((real.first, first), (real.second, other), (real.reference, second)):
            same(masses, expected)
    removed = worst_pair(mechanism, adjacency="zero-out")
    same(removed.first, [float(mechanism.p), 1 - float(mechanism.p)])
    same(removed.second, [cap, 1 - cap])
    same(removed.reference, [least * cap, least * (1 - cap)])


@pytest.mark.parametrize("dimension", [2, 3, 10])
@pytest.mark.parametrize("theta", ["-0.9", "-0.001", "0", "0.25", "0.8"])
def test_the_share_below_a_height_is_a_beta_law(theta, dimension):
    half = (dimension - 1) / 2
    found = cap_complement(F(theta), dimension)
    assert to_float(found) == pytest.approx(beta(half, half).cdf((1 + float(F(theta))) / 2), rel=1e-12)
    assert (found == F(1, 2)) is (theta == "0") if theta == "0" else isinstance(found, Ball)
