"""Laws above and below a profile, and the sum of their losses: every condition and every error term is looked at."""

# No public door shows one term alone, so that private names are called and set here.
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest

from symshuffle.accountants.rounds import dominating, period
from symshuffle.accountants.rounds import lattice_sums as transforms
from symshuffle.accountants.rounds.dominating import LatticeLaw, Profile, check_above, check_below, law_above, law_below
from symshuffle.accountants.rounds.lattice_sums import Tilted
from symshuffle.accountants.rounds.losses import Losses, delta_of, epsilon_of
from symshuffle.accountants.rounds.period import Period
from symshuffle.base.choices import Side, members
from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.engines.transforms import tilted


def gaussian(mu, step, last, width=0.0):
    """The profile of two Gaussians at distance mu, its values known to a relative width."""
    with working_precision(200):
        m, found = to_arb(Fraction(mu)), []
        for i in range(last + 1):
            eps = to_arb(i * step)
            tail = [((eps / m + sign * m / 2) / flint.arb(2).sqrt()).erfc() / 2 for sign in (-1, 1)]
            value = tail[0] - eps.exp() * tail[1]
            found.append((Fraction(float(value) * (1 - 1e-15 - width)), Fraction(float(value) * (1 + 1e-15 + width))))
    return Profile(step, tuple(found), tuple(found))


def value(law, x):
    """The profile of a law, in rationals where the points of the lattice are doubles."""
    points = [math.exp(float(law.step) * (law.first + k)) for k in range(len(law.masses))]
    return float(law.infinity) + math.fsum(p * max(1 - x / r, 0.0) for p, r in zip(law.masses, points, strict=True))


PROFILE = gaussian("0.5", Fraction(1, 20), 60)
FAR = gaussian("0.01", Fraction(1, 500), 100)
"""Its last value is below 10^-80."""


def test_a_law_below_gives_up_some_mass_where_its_lines_end_above_their_chords():
    """By the middles of its lines alone this one ends a hair above them, and no law would be found."""
    profile = gaussian("0.001", Fraction(73, 20000), 125)
    below = law_below(profile)
    check_below(below, profile)
    whole = replace(below, masses=tuple(mass / (1 - 2.0**-40) for mass in below.masses))
    with pytest.raises(CertificateError, match="points"):
        check_below(whole, profile)


def test_the_laws_enclose_the_profile_also_between_the_levels_and_below_one():
    above, below = law_above(PROFILE), law_below(PROFILE)
    fine = gaussian("0.5", Fraction(1, 100), 300)
    for i in range(0, 300, 7):
        x, truth = math.exp(i / 100), float(fine.forward[i][0])
        assert value(below, x) <= truth * (1 + 1e-12) <= value(above, x) * (1 + 2e-12)
        assert value(above, x) - value(below, x) < (0.1 if x < math.exp(1.5) else 1) * truth
        mirrored = 1 - 1 / x + truth / x
        assert value(below, 1 / x) <= mirrored + 1e-13
        assert value(above, 1 / x) >= mirrored - 1e-13


def test_values_that_are_not_convex_are_repaired_by_the_hull_and_not_by_clipping():
    fine = gaussian("0.5", Fraction(1, 60), 180)
    step, noise = fine.step, np.random.default_rng(3).uniform(0, 1e-2, len(fine.forward))
    upper = tuple((low, high * (1 + Fraction(u))) for (low, high), u in zip(fine.forward, noise, strict=True))
    above = law_above(Profile(step, upper, upper))
    x = [math.exp(float(step) * i) for i in range(len(upper))]
    u = [float(high) for _, high in upper]
    slopes = [(b - a) / (q - p) for (p, a), (q, b) in itertools.pairwise(zip(x, u, strict=True))]
    assert min(np.diff(slopes)) < 0  # the values are not convex
    clipped = math.fsum(max(jump, 0.0) * r for jump, r in zip(np.diff(slopes), x[1:-1], strict=True))
    hull = math.fsum(mass for k, mass in enumerate(above.masses) if k > -above.first)
    assert hull < 0.8 * clipped
    assert all(value(above, r) >= float(low) for r, (low, _) in zip(x, fine.forward, strict=True))


def test_mass_beyond_the_last_level_is_kept():
    short = gaussian("0.5", Fraction(1, 20), 10)
    above = law_above(short)
    assert above.infinity == short.forward[-1][1] > 0
    with pytest.raises(CertificateError):
        check_above(replace(above, infinity=Fraction(0)), short)


def test_one_sided_hulls_do_not_fit_at_level_0():
    """Chords between mirror images bound the value at 0; the hull of one side alone would need a negative mass."""
    values = list(PROFILE.forward)
    values[0] = values[0][0], values[0][1] * Fraction(11, 10)
    above = law_above(Profile(PROFILE.step, tuple(values), tuple(values)))
    assert min(above.masses) >= 0
    assert value(above, 1.0) < float(values[0][1]) * 0.95


def test_both_orders_are_used():
    low = tuple((a / 2, b / 2) for a, b in PROFILE.forward)
    one, other = (law_above(Profile(PROFILE.step, *pair)) for pair in ((PROFILE.forward, low), (low, PROFILE.forward)))
    assert value(one, 2.0) > 1.5 * value(other, 2.0)
    assert value(other, 0.5) > value(one, 0.5) > 0.5


def test_a_law_below_is_compared_between_the_levels_too():
    """The profile with all lower values as they are, linear in between, is not below: chords are above."""
    above = law_above(PROFILE)
    shrunk = replace(above, masses=tuple(p * (1 - 1e-9) for p in above.masses), infinity=Fraction(0))
    with pytest.raises(CertificateError, match="points"):
        check_below(shrunk, PROFILE)


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": Fraction(0)},
        {"forward": PROFILE.forward[:-1]},
        {"forward": ((Fraction(1, 2), Fraction(1, 3)), *PROFILE.forward[1:])},
        {"forward": ((Fraction(1), Fraction(2)), *PROFILE.forward[1:])},
    ],
)
def test_wrong_profiles_are_refused(wrong):
    with pytest.raises(InputError):
        replace(PROFILE, **wrong)


# The sum of losses.


def brute(law, times, level):
    """The profile of a sum by adding one round after the other, in doubles of positive terms."""
    total = np.array([1.0])
    for _ in range(times):
        total = np.convolve(total, law.array)
    y = (np.arange(len(total)) + times * law.first - level) * float(law.step)
    mass = math.fsum(law.masses)
    left = (mass + float(law.infinity)) ** times - mass**times
    return left + math.fsum(total * np.where(y > 0, -np.expm1(-np.maximum(y, 0)), 0))


def losses(side, times=4, profile=PROFILE):
    law = law_above(profile) if side == "upper" else law_below(profile)
    return Losses(((law, times),), side)


@pytest.mark.parametrize("method", [Tilted.at, Period.at])
@pytest.mark.parametrize("side", list(members(Side)))
@pytest.mark.parametrize("level", [0, 13, 60])
def test_both_methods_give_the_sum_from_their_side(method, side, level):
    summed = losses(side)
    found = method(summed, summed.tilt(level * float(summed.step))).value(level)
    truth = brute(summed.parts[0][0], 4, level)
    assert float(found) == pytest.approx(truth, rel=1e-9)
    slack = Fraction(truth) * Fraction(1, 10**11)
    assert found >= Fraction(truth) - slack if side == "upper" else found <= Fraction(truth) + slack


def test_the_two_methods_agree_and_balls_lie_between_the_doubles():
    for times, level in ((3, 40), (50, 120)):
        law = law_above(PROFILE)
        up, down = (Losses(((law, times),), side) for side in ("upper", "lower"))
        tilt = up.tilt(level * float(up.step))
        high, low = Tilted.at(up, tilt).value(level), Tilted.at(down, tilt).value(level)
        above, below = Period.at(up, tilt).value(level), Period.at(down, tilt).value(level)
        assert low <= below <= above <= high
        assert float(high / low - 1) < 1e-8
        assert float(above / below - 1) < 1e-12


def test_the_order_of_the_rounds_does_not_matter_and_rounds_add_up():
    one, other = law_above(PROFILE), law_above(gaussian("0.2", PROFILE.step, 40))
    first = delta_of(Losses(((one, 3), (other, 2)), "upper"), Fraction(2), Tilted.at)
    second = delta_of(Losses(((other, 2), (one, 3)), "upper"), Fraction(2), Tilted.at)
    split = delta_of(Losses(((one, 1), (other, 2), (one, 2)), "upper"), Fraction(2), Tilted.at)
    assert float(first) == pytest.approx(float(second), rel=1e-9) == pytest.approx(float(split), rel=1e-9)


def test_many_gaussian_rounds_are_one_gaussian_round():
    step, times = Fraction(1, 200), 25
    one = gaussian("0.1", step, 170)
    low, high = (delta_of(losses(side, times, one), Fraction(1), Tilted.at) for side in ("lower", "upper"))
    truth = gaussian("0.5", Fraction(1), 1).forward[1]
    assert low < truth[0] < truth[1] < high
    assert float(high / low - 1) < 0.03
    ends = [epsilon_of(losses(side, times, one), truth[1], Tilted.at) for side in ("lower", "upper")]
    assert ends[0] < 1 < ends[1] < ends[0] * Fraction(1005, 1000)


def test_what_is_revealed_for_certain_is_refused_with_its_number():
    third = Fraction(1, 4)
    flat = Profile(Fraction(1, 2), ((third, third),) * 3, ((third, third),) * 3, (third, third))
    summed = Losses(((law_below(flat), 2),), "lower")
    assert float(summed.revealed) == pytest.approx(7 / 16)
    with pytest.raises(Unsupported, match=r"0\.437499 is left, revealed for certain"):
        epsilon_of(summed, Fraction(2, 5), Tilted.at)


def test_levels_between_points_of_the_lattice_are_on_a_line_in_the_ratio():
    summed = losses("upper")
    found = Tilted.at(summed, summed.tilt(1.0))
    low, high = math.exp(1.0), math.exp(1.05)
    share = (math.exp(1.02) - low) / (high - low)
    line = float(found.value(20)) * (1 - share) + float(found.value(21)) * share
    assert float(delta_of(summed, Fraction("1.02"), Tilted.at)) == pytest.approx(line, rel=1e-9)


# Error terms: with one of them gone, some value is on the wrong side.


def missed(patch, module, name, worse):
    """Whether a value passes to the wrong side of the truth in balls, at constants that nobody would choose."""
    law = law_above(PROFILE)
    up, down = (Losses(((law, 3),), side) for side in ("upper", "lower"))
    with pytest.MonkeyPatch.context() as at:
        for where, what, bad in worse:
            at.setattr(where, what, bad)
        if patch is not None:
            at.setattr(module, name, patch(getattr(module, name)))
        for level, tilt in itertools.product((0, 20, 60, 120), (0.3, 3.0, 8.0)):
            truth = Fraction(brute_in_balls(law, level))
            high, low = Tilted.at(up, tilt).value(level), Tilted.at(down, tilt).value(level)
            if high < truth * (1 - Fraction(1, 10**25)) or low > truth * (1 + Fraction(1, 10**25)):
                return True
    return False


def brute_in_balls(law, level):
    with working_precision(400):
        power = flint.arb_poly([flint.arb(p) for p in law.masses])
        power = power * power * power
        h, total = to_arb(law.step), flint.arb(0)
        for k, mass in enumerate(power.coeffs()):
            y = k + 3 * law.first - level
            if y > 0:
                total += mass * (1 - (-h * y).exp())
        mass = sum((flint.arb(p) for p in law.masses), start=flint.arb(0))
        total += (mass + to_arb(law.infinity)) ** 3 - mass**3
        man, exp = total.mid().man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)


SHORT = [(transforms, "_OUTSIDE", 3.0), (transforms, "_SLACK", 0.0)]


@pytest.mark.parametrize("up", [True, False])
def test_tilted_masses_are_rounded_to_their_side(up):
    law, tilt, length = law_above(PROFILE), 3.0, 128

    def wrong():
        """How many masses are on the other side of what they stand for."""
        found, scale = transforms._folded(law, tilt, length, up=up)
        with working_precision(200):
            step = to_arb(law.step)
            tilts = [(tilt * step * (law.first + k) - scale).exp() for k in range(len(law.masses))]
            exact = [flint.arb(p) * factor for p, factor in zip(law.masses, tilts, strict=True)]
        pairs = zip(found[: len(exact)], exact, strict=True)
        return sum(bool(flint.arb(float(a)) < b) if up else bool(flint.arb(float(a)) > b) for a, b in pairs)

    assert wrong() == 0
    with pytest.MonkeyPatch.context() as at:
        at.setattr(transforms, "UNIT", 0.0)
        assert wrong() > 0


def test_the_window_is_charged():
    assert not missed(None, None, None, SHORT)
    assert missed(lambda _: -700.0, transforms, "_SLACK", SHORT[:1])


def test_the_round_off_of_the_transforms_is_charged():
    assert not missed(None, None, None, [])
    assert missed(lambda _: 0.0, transforms, "PER_STAGE", [(transforms, "UNIT", 0.0)])


@pytest.mark.parametrize("side", members(Side))
def test_the_line_between_two_levels_is_rounded_to_the_side(monkeypatch, side):
    """At 24 bits the ball around a point of the line is wide: the end taken is the safe one, for delta and for eps."""
    law = law_above(PROFILE) if side == "upper" else law_below(PROFILE)
    finite = Losses(((replace(law, infinity=Fraction(0)), 3),), side)
    whole = Losses(((replace(law, infinity=Fraction(1, 10**9)), 3),), side)

    def ends():
        return (
            delta_of(finite, Fraction(47, 100), Tilted.at),
            epsilon_of(finite, Fraction(1, 100), Tilted.at),
            whole.revealed,
        )

    fine = ends()
    monkeypatch.setattr("symshuffle.accountants.rounds.losses._BITS", 24)
    sign = 1 if side == "upper" else -1
    assert all(sign * (far - near) > 0 for far, near in zip(ends(), fine, strict=True))


def test_aliases_of_a_period_are_taken_off():
    law = law_below(PROFILE)
    summed = Losses(((law, 3),), "lower")
    truth = Fraction(brute_in_balls(law, 40))
    with pytest.MonkeyPatch.context() as at:
        at.setattr(period, "_SILENT", 2.0)
        short = Period.at(summed, 3.0)
        assert short.value(40) <= truth
        at.setattr(Period, "_aliases", lambda self, level: flint.arb(0))
        assert short.value(40) > truth


def test_precision_of_the_hull_is_needed():
    """In doubles second differences of the mirrored side lose the tails."""
    with pytest.MonkeyPatch.context() as at:
        at.setattr(dominating, "_SPARE_BITS", -(10**4))
        with pytest.raises(CertificateError):
            law_below(FAR)
        at.setattr(dominating, "_BITS", 40)
        with pytest.raises(CertificateError):
            law_above(PROFILE)
    check_below(law_below(FAR), FAR)
    assert tilted.UNIT == 2.0**-53


THREE = Losses(
    (
        (LatticeLaw(Fraction(1, 4), -2, (0.125, 0.0, 0.5, 0.25), Fraction(1, 8)), 2),
        (LatticeLaw(Fraction(1, 4), 0, (0.5, 0.375), Fraction(1, 16)), 1),
    ),
    "upper",
)
"""Two rounds of one law and one of another, whose masses are dyadic."""


def places_of_three():
    """Every sum of three finite losses, in steps, with its mass."""
    laws = [law for law, times in THREE.parts for _ in range(times)]
    for picked in itertools.product(*(range(len(law.masses)) for law in laws)):
        mass = math.prod(Fraction(law.masses[k]) for law, k in zip(laws, picked, strict=True))
        yield sum(law.first + k for law, k in zip(laws, picked, strict=True)), mass


def test_what_is_revealed_is_all_mass_but_the_finite_one():
    expected = Fraction(1) * Fraction(15, 16) - Fraction(7, 8) ** 3
    upper, lower = THREE.revealed, replace(THREE, side="lower").revealed
    assert lower <= expected <= upper and upper - lower < Fraction(1, 2**150)
    nothing = Losses(((LatticeLaw(Fraction(1), 0, (0.75,), Fraction(0)), 3),), "upper")
    assert nothing.revealed == 0
    one = Losses(((LatticeLaw(Fraction(1), 0, (0.75,), Fraction(1, 4)), 1), nothing.parts[0]), "upper")
    assert abs(one.revealed - Fraction(27, 64) / 4) < Fraction(1, 2**150)


class Direct:
    """The profile of three rounds by adding up all outcomes."""

    def value(self, level):
        with mpmath.workdps(60):
            over = sum(
                mpmath.mpf(m.numerator) / m.denominator * (1 - mpmath.exp(mpmath.mpf(level - place) / 4))
                for place, m in places_of_three()
                if place > level
            )
            return Fraction(mpmath.nstr(over, 50)) + Fraction(15, 16) - Fraction(7, 8) ** 3


@pytest.mark.parametrize("eps", [Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(7, 10)])
def test_a_profile_between_points_of_the_lattice_and_back(eps):
    """Every outcome, one by one, at levels on the lattice and off it; the target then leads back to the level."""
    with mpmath.workdps(60):
        level = mpmath.mpf(eps.numerator) / eps.denominator
        over = sum(
            mpmath.mpf(m.numerator) / m.denominator * max(1 - mpmath.exp(level - mpmath.mpf(place) / 4), 0)
            for place, m in places_of_three()
        )
        expected = Fraction(mpmath.nstr(over, 50)) + Fraction(15, 16) - Fraction(7, 8) ** 3
    for side in ("upper", "lower"):
        losses = replace(THREE, side=side)
        found = delta_of(losses, eps, lambda *_: Direct())
        assert abs(found - expected) < Fraction(1, 10**40)
        assert abs(
            epsilon_of(losses, expected + (Fraction(1, 10**45) if eps == 0 else 0), lambda *_: Direct()) - eps
        ) < (Fraction(1, 10**40))


def test_losses_that_are_none():
    law = THREE.parts[0][0]
    for parts in ((), ((law, 0),), ((law, 1), (LatticeLaw(Fraction(1, 2), 0, (1.0,), Fraction(0)), 1))):
        with pytest.raises(InputError, match="parts"):
            Losses(parts, "upper")


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_points_of_a_period_that_are_not_evaluated_are_bounded(side):
    """With few points evaluated the bound on the others is what keeps the truth inside."""
    law = law_above(PROFILE) if side == "upper" else law_below(PROFILE)
    summed = Losses(((law, 3),), side)
    sign, missed = 1 if side == "upper" else -1, []
    with pytest.MonkeyPatch.context() as at:
        at.setattr(period, "_SILENT", 60.0)
        for level, exponent in itertools.product((10, 25, 40), (-4.0, -2.0, 0.0, 3.0)):
            truth = Fraction(brute_in_balls(law, level))
            at.setattr(period, "_NEGLIGIBLE", exponent)
            short = Period.at(summed, 3.0)
            assert sign * (short.value(level) - truth) >= -Fraction(1, 10**20)  # of the sum in balls
            missed.append(sign * (replace(short, silent=flint.arb(0)).value(level) - truth) < -Fraction(1, 10**12))
    assert any(missed)
