"""Laws above and below a profile, place by place: masses worked out from the definition, and who just is refused."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import flint
import mpmath
import pytest

from symshuffle.accountants import dominating
from symshuffle.accountants.dominating import LatticeLaw, Profile, check_above, check_below, law_above, law_below
from symshuffle.choices import Rigour
from symshuffle.errors import CertificateError, InputError
from symshuffle.numbers import working_precision
from symshuffle.results import Bracket

F = Fraction
MP = mpmath.MPContext()
MP.dps = 60


def number(value):
    return MP.mpf(value.numerator) / value.denominator


def gaussian(mu, step, last):
    """The profile of two Gaussians at distance mu, as doubles one unit apart."""
    found = []
    for i in range(last + 1):
        eps = number(i * step)
        value = MP.ncdf(-eps / mu + MP.mpf(mu) / 2) - MP.exp(eps) * MP.ncdf(-eps / mu - MP.mpf(mu) / 2)
        found.append((F(float(value) * (1 - 1e-15)), F(float(value) * (1 + 1e-15))))
    return tuple(found)


SKEW = Profile(
    F(1, 8),
    tuple((F(v, 10_000), F(v + 5, 10_000)) for v in (4500, 3950, 3500, 3100)),
    tuple((F(v, 10_000), F(v + 5, 10_000)) for v in (4500, 4368, 4284, 4215)),
    (F(1, 8), F(3, 10)),
)
"""Another profile in either order, values that leave something open, and other masses that are revealed for certain."""

SMOOTH = Profile(F(1, 10), gaussian(0.5, F(1, 10), 12), gaussian(0.5, F(1, 10), 12))


def points(profile, end):
    """The places and values of a profile on all orders: below 1 by the definition of the other order."""
    found = []
    for i in range(-profile.last, profile.last + 1):
        x = MP.exp(number(i * profile.step))
        ahead = profile.forward if i >= 0 else profile.reverse
        value = number(ahead[abs(i)][end])
        found.append((x, value if i >= 0 else 1 - x + x * value))
    return found


def slope(one, other):
    return (other[1] - one[1]) / (other[0] - one[0])


def profile_of(law, x):
    """The definition: mass at infinity and the positive parts."""
    places = (MP.exp(number((law.first + k) * law.step)) for k in range(len(law.masses)))
    return number(law.infinity) + sum(p * max(1 - x / r, 0) for p, r in zip(law.masses, places, strict=True))


def largest_minorant(nodes):
    """The vertices of the lower hull by the definition: points that no chord of two others passes below."""

    def under(j):
        x, y = nodes[j]
        chords = (
            nodes[a][1] + slope(nodes[a], nodes[b]) * (x - nodes[a][0])
            for a in range(j)
            for b in range(j + 1, len(nodes))
        )
        return all(y < chord for chord in chords)

    return [j for j in range(len(nodes)) if under(j)]


@pytest.mark.parametrize("profile", [SKEW, SKEW.swapped, SMOOTH], ids=["skew", "swapped", "smooth"])
def test_the_law_above_has_the_jumps_of_slope_of_the_largest_minorant(profile):
    nodes = [(MP.mpf(0), MP.mpf(1)), *points(profile, 1)]
    kept = largest_minorant(nodes)
    slopes = [slope(nodes[a], nodes[b]) for a, b in itertools.pairwise(kept)]
    expected = [MP.mpf(0)] * len(points(profile, 1))
    for j, before, after in zip(kept[1:], slopes, [*slopes[1:], MP.mpf(0)], strict=True):
        expected[j - 1] = nodes[j][0] * (after - before)
    law = law_above(profile)
    assert kept[-1] == len(nodes) - 1 and law.infinity == profile.forward[-1][1]
    for mass, truth in zip(law.masses, expected, strict=True):
        assert truth <= mass <= truth * (1 + 1e-15) + 1e-300


def test_places_where_values_are_not_convex_get_no_mass():
    """Levels 1 and -2 lie above the chord of their neighbours."""
    bad = replace(
        SKEW,
        forward=(SKEW.forward[0], (F(37, 100), F(44, 100)), *SKEW.forward[2:]),
        reverse=(*SKEW.reverse[:2], (F(42, 100), F(436, 1000)), SKEW.reverse[3]),
    )
    nodes = [(MP.mpf(0), MP.mpf(1)), *points(bad, 1)]
    kept = largest_minorant(nodes)
    assert {1, 3, 6, 7} <= set(kept) and not {2, 5} & set(kept)
    law = law_above(bad)
    assert [k + 1 for k, mass in enumerate(law.masses) if mass] == kept[1:]


def constraints(profile):
    """Places and heights of the larger of two extended chords: at the levels and where the two lines cross."""
    low, high = points(profile, 0), points(profile, 1)
    found = []
    for k in range(len(low) - 1):
        found.append(low[k])
        one = slope(high[k - 1] if k else (MP.mpf(0), MP.mpf(1)), low[k])
        other = min(slope(low[k + 1], high[k + 2]), 0) if k + 2 < len(low) else MP.mpf(0)
        rises = (low[k][1] - one * low[k][0]) - (low[k + 1][1] - other * low[k + 1][0])
        x = rises / (other - one)
        if low[k][0] < x < low[k + 1][0]:
            found.append((x, low[k][1] + one * (x - low[k][0])))
    found.append(low[-1])
    floor = number(profile.revealed[0])
    return [(x, max(y, floor)) for x, y in found]


def chain_below(profile):
    """From (0, 1) down: at every level the least slope to any later point that has to stay above."""
    places, ahead = [x for x, _ in points(profile, 0)], constraints(profile)
    floor, now = number(profile.revealed[0]), number(profile.revealed[1]) - 1
    height, masses = 1 + now * places[0], [MP.mpf(0)] * len(places)
    for k, x in enumerate(places):
        later = min((slope((x, height), p) for p in ahead if p[0] > x), default=None)
        if later is None or height + later * (places[k + 1] - x) <= floor:
            masses[k] = height - floor - now * x
            break
        masses[k], now = x * (later - now), later
        height += now * (places[k + 1] - x)
    return masses


@pytest.mark.parametrize("profile", [SKEW, SKEW.swapped, SMOOTH], ids=["skew", "swapped", "smooth"])
def test_the_law_below_goes_down_the_steepest_lines_that_stay_below(profile):
    law, expected = law_below(profile), chain_below(profile)
    assert law.infinity == profile.revealed[0]
    assert (law.first, law.step) == (-profile.last, profile.step)
    for mass, truth in zip(law.masses, expected, strict=True):
        assert truth * (1 - 1e-13) - 1e-50 <= mass <= truth + 1e-50


def test_the_constraints_are_levels_and_cusps_above_what_is_revealed():
    with working_precision(300):
        for profile in (SKEW, SKEW.swapped, SMOOTH, replace(SKEW, revealed=(F(33, 100), F(1, 4)))):
            found, expected = dominating._constraints(profile), constraints(profile)
            assert len(found) == len(expected)
            for (x, y), (u, v) in zip(found, expected, strict=True):
                assert float(x) == pytest.approx(float(u), rel=1e-15)
                assert float(y) == pytest.approx(float(v), rel=1e-15)


def test_chords_that_are_one_line_have_no_cusp():
    """1 - x down to 1/2, in doubles exactly where it counts: the other order is revealed nowhere."""
    half = ((F(1, 2), F(1, 2)),) * 3
    with working_precision(300):
        found = dominating._constraints(Profile(F(1), half, half))
    assert float(found[-1][1]) == 0.5


DYADIC = LatticeLaw(F(1, 4), -2, (0.125, 0.0, 0.5, 0.25), F(1, 16))


def test_the_profile_of_a_law_at_its_own_losses_and_its_total():
    with working_precision(200):
        total, values = DYADIC.profile_at_nodes()
    assert float(total) == 0.9375
    assert len(values) == 4
    for k, found in enumerate(values):
        assert float(found) == pytest.approx(float(profile_of(DYADIC, MP.exp(number(F(k - 2, 4))))), rel=1e-15)
    assert float(values[-1]) == 0.0625


def test_the_profile_of_a_law_at_any_rising_places():
    places = [0.1, math.exp(-0.5), 0.7, 1.0, 1.1, math.exp(0.25), 1.3, 20.0]
    with working_precision(200):
        found = dominating._profile_at(DYADIC, [flint.arb(x) for x in places])
    for x, value in zip(places, found, strict=True):
        assert float(value) == pytest.approx(float(profile_of(DYADIC, MP.mpf(x))), rel=1e-14)


@pytest.mark.parametrize("masses", [(), (-1e-9,), (2.1,), (math.nan,)])
def test_masses_that_are_none(masses):
    with pytest.raises(InputError, match="masses"):
        LatticeLaw(F(1), 0, masses, F(0))


def test_the_ends_of_what_masses_may_be():
    assert LatticeLaw(F(1), 0, (0.0, 2.0), F(0)).array.tolist() == [0.0, 2.0]
    assert LatticeLaw(F(1), 0, (0.0,), F(1)).infinity == 1
    for infinity in (F(-1, 10**9), 1 + F(1, 10**9)):
        with pytest.raises(InputError, match="masses"):
            LatticeLaw(F(1), 0, (0.5,), infinity)


def test_the_ends_of_what_profiles_may_be():
    two = ((F(0), F(1)), (F(1, 2), F(1, 2)))
    assert Profile(F(1, 10**9), two, two).last == 1
    bad = ((F(0), F(1)), (F(1, 2), F(499, 1000)))
    for step, forward, reverse in (
        (F(0), two, two),
        (F(-1), two, two),
        (F(1), two[:1], two[:1]),
        (F(1), two, (*two, two[0])),
        (F(1), bad, two),
        (F(1), two, bad),
        (F(1), two, ((F(-1, 10**9), F(1)), two[1])),
        (F(1), ((F(0), 1 + F(1, 10**9)), two[1]), two),
    ):
        with pytest.raises(InputError):
            Profile(step, forward, reverse)


def test_brackets_become_doubles_outside_of_them_and_probabilities():
    def bracket(low, high):
        return Bracket(low, high, Rigour.BALL, "none", "given")

    third, most = F(1, 3), F(5, 4)
    one = [bracket(F(-1, 3), third), bracket(third, most), bracket(F(9, 8), most)]
    two = [bracket(third, third), bracket(F(0), F(1)), bracket(F(1, 4), F(1, 2))]
    found = Profile.of(F(1), one, two, (third, F(1, 5)))
    below, above = (F(math.nextafter(1 / 3, end)) for end in (0.0, 1.0))
    nearest = F(1 / 3)
    floor, ceiling = (nearest, above) if nearest < third else (below, nearest)
    assert found.forward == ((0, ceiling), (floor, 1), (1, 1))
    assert found.reverse == ((floor, ceiling), (0, 1), (F(1, 4), F(1, 2)))
    assert found.revealed[0] == floor
    assert 0 < F(1, 5) - found.revealed[1] < F(1, 10**16)
    assert Profile.of(F(1), one, two).revealed == (0, 0)


def test_swapping_takes_the_other_order_of_everything():
    assert SKEW.swapped == Profile(SKEW.step, SKEW.reverse, SKEW.forward, (F(3, 10), F(1, 8)))


def test_a_double_beyond_a_ball():
    third = flint.arb(1) / 3
    assert dominating._rounded(flint.arb(0.5), up=True) == math.nextafter(0.5, 1)
    assert dominating._rounded(flint.arb(0.5), up=False) == math.nextafter(0.5, 0)
    wide = flint.arb(0.5, 0.25)
    assert dominating._rounded(wide, up=True) > 0.75 and dominating._rounded(wide, up=False) < 0.25
    assert dominating._rounded(third, up=False) < 1 / 3 < dominating._rounded(third, up=True)


# Who is refused, and who just is not.

QUARTER = ((F(1, 4), F(1, 4)),) * 2
FLAT = Profile(F(1), QUARTER, QUARTER, (F(1, 4), F(1, 4)))
"""A quarter is revealed, and nothing else: mass 3/4 at 0."""


def test_what_is_all_revealed_or_nothing():
    above = law_above(FLAT)
    assert above.infinity == F(1, 4) and above.masses[::2] == (0.0, 0.0)
    assert 0.75 < above.masses[1] < 0.75 * (1 + 1e-15)
    assert law_above(Profile(F(1), ((F(0), F(1)),) * 2, ((F(0), F(1)),) * 2)).masses == (0.0, 0.0, 0.0)


def test_exact_laws_at_the_ends_of_the_conditions():
    exact = LatticeLaw(F(1), -1, (0.0, 0.75, 0.0), F(1, 4))
    check_above(exact, FLAT)
    with pytest.raises(CertificateError, match="total"):
        check_above(replace(exact, masses=(0.0, 0.75 - 2**-50, 0.0)), FLAT)
    check_above(LatticeLaw(F(1), -1, (0.0, 0.0, 0.0), F(1)), FLAT)
    with pytest.raises(CertificateError, match="total"):
        check_above(LatticeLaw(F(1), -1, (0.0, 0.0, 0.0), 1 - F(1, 2**60)), FLAT)
    moved = replace(exact, masses=(2.0**-20, 0.75, 0.0), infinity=F(1, 4) - F(1, 2**20))
    check_below(moved, FLAT)
    with pytest.raises(CertificateError, match="total"):
        check_below(replace(moved, masses=(2.0**-20 + 2.0**-60, 0.75, 0.0)), FLAT)


def test_more_at_infinity_than_is_known_is_refused_by_itself():
    """Everything else holds for so little mass."""
    law = LatticeLaw(F(1), -1, (0.0, 0.25, 0.0), F(1, 4))
    more = ((F(1, 4) + F(1, 2**20), F(1, 2)),) * 2
    known = Profile(F(1), more, more, (F(1, 4), F(1, 4)))
    check_below(law, known)
    with pytest.raises(CertificateError, match="infinity"):
        check_below(law, replace(known, revealed=(F(1, 4) - F(1, 2**60), F(1, 4))))


STEEP = Profile(F(1), ((F(2, 5), F(2, 5)), (F(1, 5), F(1, 5))), ((F(2, 5), F(2, 5)), (F(1, 5), F(1, 5))))
"""Its lines meet at x = 0.7076 and x = 1.4136, where they are at 0.434 and 0.2."""


def test_a_first_line_that_is_not_steep_enough_is_refused_by_itself():
    """f(1/e) = 0.7047 is below the profile, 0.7057; f(0.7076) = 0.432 and f(1) = 0.198 are below too."""
    law = LatticeLaw(F(1), -1, (0.0, 0.6875, 0.3125), F(0))
    check_below(law, replace(STEEP, revealed=(F(0), F(1, 5))))
    with pytest.raises(CertificateError, match="start"):
        check_below(law, replace(STEEP, revealed=(F(0), F(19, 100))))


def test_points_between_the_levels_are_compared():
    """f(1/e) = 0.662, f(1) = 0.253 and f(e) = 0 are below the profile; f(0.7076) = 0.442 is not."""
    law = LatticeLaw(F(1), -1, (0.0, 0.5, 0.40), F(0))
    with pytest.raises(CertificateError, match=r"points\[1\]"):
        check_below(law, STEEP)
    check_below(replace(law, masses=(0.0, 0.5, 0.38)), replace(STEEP, revealed=(F(0), F(1, 5))))


def test_kinks_below_level_0_do_not_end_a_law_above():
    """Its constant is above all values, but no value behind it says so."""
    none = ((F(0), F(0)),) * 2
    law = LatticeLaw(F(1), -1, (0.5, 0.0, 0.0), F(1, 2))
    with pytest.raises(CertificateError, match="infinity"):
        check_above(law, Profile(F(1), none, none))
    check_above(replace(law, masses=(0.0, 0.5, 0.0)), Profile(F(1), none, none))
    last = replace(law, masses=(0.0, 0.0, 0.875), infinity=F(1, 8))
    three = tuple((F(0), F(high, 8)) for high in (2, 1))
    check_above(last, Profile(F(1), three, three))
    with pytest.raises(CertificateError, match="infinity"):
        check_above(last, Profile(F(1), (three[0], (F(0), F(1, 8) + F(1, 2**60))), three))


def test_a_profile_that_rises_behind_its_other_order_has_no_law_above():
    one, half = ((F(1), F(1)),) * 2, ((F(1, 2), F(1, 2)),) * 2
    with pytest.raises(CertificateError, match="hull"):
        law_above(Profile(F(1), one, half))


@pytest.mark.parametrize("wrong", [{"step": F(1, 2)}, {"first": 0}, {"masses": (0.0, 0.75)}])
def test_another_lattice_is_refused(wrong):
    law = replace(LatticeLaw(F(1), -1, (0.0, 0.75, 0.0), F(1, 4)), **wrong)
    for check in (check_above, check_below):
        with pytest.raises(CertificateError, match="lattice"):
            check(law, FLAT)
