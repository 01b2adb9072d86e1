"""The worst curve's parts by hand: quadratics, laws on two and three atoms, and each condition of the check."""

import dataclasses
from fractions import Fraction as F

import pytest

from symshuffle import CertificateError, InputError, Rigour
from symshuffle.errors import NotDecided
from symshuffle.likelihood import worst
from symshuffle.likelihood.worst import Majorant, worst_curve
from symshuffle.results import Bracket


@pytest.mark.parametrize(
    ("coefficients", "left", "right", "least"),
    [
        ((1, -2, 1), 0, 3, 0),  # (u - 1)^2 at its bend
        ((1, -2, 1), 2, 3, 1),  # left of it nothing
        ((1, -2, 1), -3, 0, 1),
        ((5, -2, 1), 0, 3, 4),
        ((0, 2, -1), 0, 3, -3),  # concave: an end, never the bend
        ((0, 2, -1), -1, 1, -3),
        ((1, 3, 0), -1, 2, -2),
        ((0, 3, 2), -2, 2, F(-9, 8)),
    ],
)
def test_the_least_value_of_a_quadratic(coefficients, left, right, least):
    assert worst._smallest(*map(F, coefficients), F(left), F(right)) == least


def test_the_mean_of_a_quadratic():
    assert Majorant(F(3), F(100), F(5)).expectation(F(2)) == 13


@pytest.mark.parametrize(
    ("quadratic", "kink", "below", "above", "margin"),
    [
        ((0, 0, 1), 1, 2, 2, 0),  # u^2 against (u - 1)_+: at 0
        ((0, 0, 1), F(1, 5), 1, 1, F(1, 4) - F(3, 10)),  # right branch, between the ends
        ((0, F(-1), 0), 0, 1, 2, -4),  # -u against u_+: worst at the right end
        ((0, F(1), 0), 0, 2, 3, -2),  # u against 0: worst at the left end
        ((1, F(1), 0), 5, 2, 3, -1),  # the kink beyond the range: only the left branch
        ((1, 0, 0), -5, 2, 3, -7),  # the kink before the range: only the right branch, u + 5
        ((F(1, 2), F(1, 2), F(1, 8)), 0, 2, 2, 0),  # (u + 2)^2/8 touches at both -2 and 2
    ],
)
def test_the_margin_above_the_hinge(quadratic, kink, below, above, margin):
    claimed = Majorant(*map(F, quadratic))
    kink, below, above = F(kink), F(below), F(above)
    assert claimed.margin(kink, below, above) == margin
    points = [-below + (below + above) * F(j, 40) for j in range(41)]
    brute = min(claimed.alpha + u * (claimed.beta + u * claimed.gamma) - max(u - kink, 0) for u in points)
    assert margin <= brute
    lifted = claimed.lifted(kink, below, above)
    assert lifted.alpha == claimed.alpha + max(0, -margin)
    assert (lifted.beta, lifted.gamma) == (claimed.beta, claimed.gamma)
    assert lifted.margin(kink, below, above) == max(margin, 0)


def test_where_a_quadratic_dips_on_either_branch():
    """u^2 - 4u + 1: bends at 2, and against u - c at 5/2; those outside the range are left away."""
    quadratic = Majorant(F(1), F(-4), F(1))
    assert quadratic.dips(F(0), F(1), F(4)) == (F(2), F(5, 2))
    assert quadratic.dips(F(0), F(1), F(5, 2)) == (F(2), F(5, 2))
    assert quadratic.dips(F(0), F(1), F(2)) == (F(2),)
    assert quadratic.dips(F(0), F(1), F(1)) == ()
    assert Majorant(F(1), F(4), F(1)).dips(F(0), F(2), F(4)) == (F(-2), F(-3, 2))
    assert Majorant(F(1), F(4), F(1)).dips(F(0), F(3, 2), F(4)) == (F(-3, 2),)
    for gamma in (F(0), F(-1)):
        assert Majorant(F(1), F(-4), gamma).dips(F(0), F(9), F(9)) == ()


@pytest.mark.parametrize(("variance", "below"), [(F(0), F(1)), (F(2), F(1)), (F(1, 3), F(2))])
def test_the_law_with_an_atom_at_the_lower_end(variance, below):
    law = worst._two_atoms(variance, below)
    assert [sum(w * u**power for u, w in law) for power in range(3)] == [1, 0, variance]
    assert variance == 0 or (law[0][0] == -below and len(law) == 2)


def test_the_best_law_on_three_points_and_its_quadratic():
    """Mean 0, variance 1, kink 1.

    The atoms (-1, 0, 2) have masses 1/3, 1/2, 1/6 and mean hinge 1/6; (-1, 1, 2) only (1/2, 1/2, 0) and 0; (0, 1, 2)
    none. The quadratic through (-1, 0), (0, 0), (2, 1) is u(u + 1)/6, of mean 1/6.
    """
    grid = [F(-1), F(0), F(1), F(2)]
    law, quadratic = worst._best_law(grid, [0.3, 0.5, 0.0, 0.2], F(1), F(1))
    assert law == ((F(-1), F(1, 3)), (F(0), F(1, 2)), (F(2), F(1, 6)))
    assert quadratic == Majorant(F(0), F(1, 6), F(1, 6))
    assert quadratic.expectation(F(1)) == F(1, 6)
    law, quadratic = worst._best_law([F(-2), F(1), F(2)], [0.4, 0.3, 0.3], F(1, 2), F(3))
    assert law == ((F(-2), F(5, 12)), (F(1), F(1, 3)), (F(2), F(1, 4)))
    assert quadratic == Majorant(F(-1, 12), F(3, 8), F(5, 24))  # through (-2, 0), (1, 1/2), (2, 3/2)
    with pytest.raises(NotDecided, match="too coarse"):
        worst._best_law([F(1), F(2), F(3)], [1.0, 0.0, 0.0], F(1), F(1))


def test_a_law_without_its_third_atom():
    """Variance 2 on -1, 2 alone, with a third point of mass 0 that is left away."""
    law, _ = worst._best_law([F(-1), F(1), F(2)], [0.5, 0.0, 0.5], F(1), F(2))
    assert law == ((F(-1), F(2, 3)), (F(2), F(1, 3)))


def test_points_too_close_to_others_are_left_away():
    grid = worst._spread([F(0), F(1)], [F(1, 10), F(1, 2), F(9, 10), F(-2), F(2), F(3)], F(1, 10), F(1), F(2))
    assert grid == [F(0), F(1, 2), F(1), F(2)]
    assert worst._spread([], [F(-1), F(-1), F(2)], F(0), F(1), F(2)) == [F(-1), F(2)]
    assert worst._spread([], [F(0), F(11, 100)], F(1, 10), F(1), F(2)) == [F(0), F(11, 100)]


@pytest.mark.parametrize(
    ("chi", "n", "lam", "order", "way", "low", "high"),
    [
        ("4/3", 1, 3, "3/2", "reverse", F(-2), F(2, 3)),  # binary response, all that is left
        ("5/9", 1, 8, "5/3", "forward", F(-1, 3), F(5, 3)),  # around the kink 2/3, as far as sqrt(5/9 + 4/9)
        ("3/2", 8, 9, "2", "reverse", F(-27, 128), F(8, 9)),  # one at the upper end, the other at -(3/16)/(8/9)
    ],
)
def test_worst_curves_by_hand(chi, n, lam, order, way, low, high):
    """Scale times the mean of (u - kink)_+ under the two atoms of mean 0 that attain it."""
    scale, kink = (1, F(order) - 1) if way == "forward" else (F(order), 1 - 1 / F(order))
    assert -low * high == F(chi) / n
    value = scale * -low / (high - low) * (high - kink)
    found = worst_curve(chi, n, lam=lam, exp_eps=order, direction=way)
    found.verify()
    assert value * (1 - F(1, 10**4)) <= found.bracket.lower <= value <= found.bracket.upper <= value * (1 + F(1, 10**4))
    assert (found.n, found.lam, str(found.direction)) == (n, lam, way)


@pytest.mark.parametrize(("chi", "order"), [("1/2", "3"), ("1/2", "4"), ("0", "2"), ("0", "1")])
def test_nothing_beyond_the_range_and_without_variance(chi, order):
    """Without variance nothing but 0 is left of the range, so the constant 0 is above the hinge."""
    found = worst_curve(chi, 2, lam=3, exp_eps=order)
    found.verify()
    assert found.bracket.exact == 0 and found.majorant == Majorant(F(0), F(0), F(0))
    with pytest.raises(CertificateError, match="at majorant"):
        dataclasses.replace(found, majorant=Majorant(F(-1, 10**9), F(0), F(0))).verify()


def test_what_a_real_channel_has_of_it():
    """Half of the largest chi-square 4/3: binary response with probability 1/2, so half of 1/4 (3 - 2)."""
    found = worst_curve("2/3", 1, lam=3, exp_eps=2)
    assert float(found.attained.upper) == pytest.approx(1 / 8, rel=1e-6)


def test_each_condition_of_the_check_by_itself():
    """A true certificate by hand: chi-square 4/3 and cap 3 at order 2; the hinge is (u - 1)_+ on [-2/3, 2].

    The quadratic (u + 2/3)^2 9/64 touches at -2/3 and 2 (64/9 * 9/64 = 1), of mean 1/16 + 9/64 * 4/3 = 1/4.
    """
    good = worst.WorstCurve(
        F(4, 3),
        1,
        F(3),
        F(2),
        "forward",
        Majorant(F(1, 16), F(3, 16), F(9, 64)),
        ((F(-2, 3), F(3, 4)), (F(2), F(1, 4))),
        Bracket(F(1, 4), F(1, 4), Rigour.EXACT, "lp", "by hand"),
        Bracket(F(1, 4), F(1, 4), Rigour.EXACT, "lp", "by hand"),
    )
    good.verify()
    tiny = F(1, 10**9)
    dataclasses.replace(good, law=(*good.law, (F(0), F(0)))).verify()
    # moments 1, 0, v with a negative mass: -2/3, 2 and a pair of atoms that cancels only in sum
    ends = ((F(-2, 3), F(1)), (F(0), F(-1)), (F(2, 3), F(1)), (F(0), F(0)))
    for change, place in (
        ({"majorant": Majorant(F(1, 16) - tiny, F(3, 16), F(9, 64))}, "majorant"),
        ({"law": ends}, "law"),
        ({"law": ((F(-2, 3) - tiny, F(0)), *good.law)}, "law"),
        ({"law": (*good.law, (F(2) + tiny, F(0)))}, "law"),
        ({"law": ((F(-2, 3), F(3, 4)), (F(2), F(1, 4)), (F(0), tiny))}, "law"),
        ({"law": ((F(-1, 3), F(3, 4)), (F(1), F(1, 4)))}, "law"),
        ({"law": ((F(-1, 3), F(1, 2)), (F(2), F(1, 2)))}, "law"),
        ({"bracket": dataclasses.replace(good.bracket, upper=F(1, 4) - tiny, lower=F(1, 5))}, "value"),
        ({"bracket": dataclasses.replace(good.bracket, lower=F(1, 4) + tiny, upper=F(1, 3))}, "value"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            dataclasses.replace(good, **change).verify()


def test_a_negative_mass_with_right_moments_is_found():
    """At chi-square 4/9 the masses 2, -3, 2 at -1/3, 0, 1/3 have moments 1, 0, 4/9: only the sign is wrong."""
    law = ((F(-1, 3), F(2)), (F(0), F(-3)), (F(1, 3), F(2)))
    assert [sum(w * u**power for u, w in law) for power in range(3)] == [1, 0, F(4, 9)]
    found = worst_curve("4/9", 1, lam=3, exp_eps=2)
    with pytest.raises(CertificateError, match="at law"):
        dataclasses.replace(found, law=law, bracket=dataclasses.replace(found.bracket, lower=F(0))).verify()


@pytest.mark.parametrize(("argument", "lam"), [("lam", 1), ("lam", "1/2")])
def test_caps_that_leave_nothing(argument, lam):
    with pytest.raises(InputError, match=f"^{argument} = "):
        worst_curve(0, 2, lam=lam, exp_eps=2)
