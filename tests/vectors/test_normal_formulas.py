"""Templates, Gaussian profiles, normal brackets and the witness by quadrature: against SciPy and hand-made sums."""

import itertools
import math
from fractions import Fraction as F

import flint
import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from symshuffle.choices import Adjacency, Blanket
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import working_precision
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors import confirmation, correspondence
from symshuffle.vectors.clipped import clipped_numbers
from symshuffle.vectors.confirmation import confirm_pair
from symshuffle.vectors.correspondence import Correspondence
from symshuffle.vectors.gaussian import calibrate_gaussian, gaussian_profile
from symshuffle.vectors.gaussian_integrals import mean_weight, upper_variance
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear
from symshuffle.vectors.normal import normal_bracket, terms, tilt
from symshuffle.vectors.pairs import FinitePair
from symshuffle.vectors.templates import central_profile, decay_exponent, mills_bracket, profile_template


def profile(s, eps):
    return norm.sf(eps * s - 1 / (2 * s)) - math.exp(eps) * norm.sf(eps * s + 1 / (2 * s))


@pytest.mark.parametrize(("s", "eps"), [(1.0, 0.5), (4.0, 0.25), (0.5, 0.0)])
def test_the_profile_of_gaussian_noise(s, eps):
    assert float(gaussian_profile(F(s), eps=F(eps))) == pytest.approx(profile(s, eps))
    assert float(central_profile(F(s) / 2, F(eps), 4)) == pytest.approx(profile(s, eps))


def test_the_smallest_multiplier_meets_the_target():
    found = calibrate_gaussian(eps="1/2", delta="1e-4", rel=1e-9)
    assert profile(float(found.upper), 0.5) == pytest.approx(1e-4, rel=1e-6)
    assert (
        gaussian_profile(found.upper, eps="1/2").upper <= F(1, 10**4) <= gaussian_profile(found.lower, eps="1/2").upper
    )
    for wrong in ({"delta": 0}, {"delta": 1}, {"rel": 0.0}, {"rel": 1.0}):
        with pytest.raises(InputError):
            calibrate_gaussian(**{"eps": 1, "delta": "1e-4"} | wrong)
    with pytest.raises(InputError, match="noise_multiplier"):
        gaussian_profile(F(0), eps=1)


def test_templates_by_their_formulas():
    chi, eps, n = F(3), F(1, 10), 100
    a = 3.0
    assert float(profile_template(chi, eps, n, order="leading")) == pytest.approx(norm.pdf(a) / (a * a * 30))
    assert float(profile_template(chi, eps, n)) == pytest.approx((norm.pdf(a) - a * norm.sf(a)) / 30)
    for wrong, name in (((F(0), eps), "chi"), ((chi, F(0)), "eps")):
        with pytest.raises(InputError, match=name):
            profile_template(*wrong, n)
    with pytest.raises(InputError, match="order"):
        profile_template(chi, eps, n, order="other")
    low, high = mills_bracket(F(3), F(1, 2), 100)
    true = central_profile(F(3), F(1, 2), 100)
    assert low.upper <= true.lower and true.upper <= high.lower
    # 2b/(a^2 - b^2) less the cubes, times phi(a) exp(eps/2 - b^2/2), at a = 15 and b = 1/60
    b = 1 / 60
    front = norm.pdf(15) * math.exp(0.25 - b * b / 2)
    assert float(high) == pytest.approx(front * 2 * b / (225 - b * b))
    assert float(low) == pytest.approx(front * (2 * b / (225 - b * b) - ((15 - b) ** -3 - (15 + b) ** -3)))
    assert float(decay_exponent(F(3), F(1, 10), 100)) == pytest.approx(-math.log(profile(30, 0.1)) / math.log(100))
    with pytest.raises(InputError, match="eps"):
        mills_bracket(F(1), F(1, 200), 100)  # a = b there


def test_two_gaussian_integrals_by_quadrature():
    z = np.linspace(-14, 16, 300_001)
    toward, away = np.exp(0.5 * z - 0.125), np.exp(-0.5 * z - 0.125)
    with working_precision(60):
        found = float(upper_variance(flint.arb("0.3"), flint.arb("0.5")).mid())
        plain = float(upper_variance(flint.arb(0), flint.arb("0.5")).mid())
    assert found == pytest.approx(np.trapezoid((toward - 1) ** 2 / (0.3 + 0.7 * away) * norm.pdf(z), z))
    assert plain == pytest.approx(np.trapezoid((toward - 1) ** 2 / away * norm.pdf(z), z))
    # W(rho) in dimension 1 is the mean of w over N(rho, 1)
    w = 1 / (0.3 + 0.7 * np.exp(-0.5 * abs(z) - 0.125))
    with working_precision(60):
        weight = float(mean_weight(flint.arb("0.3"), flint.arb("0.5"), 1, flint.arb("0.8")).mid())
        bare = float(mean_weight(flint.arb(0), flint.arb("0.5"), 1, flint.arb("0.8")).mid())
    assert weight == pytest.approx(np.trapezoid(w * norm.pdf(z, 0.8), z), rel=1e-6)
    assert bare == pytest.approx(np.trapezoid(np.exp(0.5 * abs(z) + 0.125) * norm.pdf(z, 0.8), z), rel=1e-6)


def test_moments_under_a_tilt():
    law = Law.from_atoms([(F(-1), F(1, 2)), (F(0), F(1, 4)), (F(2), F(1, 4))])
    with working_precision(100):
        found = tilt(law, F(1, 2))
    g, w = np.array([-1, 0, 2]), np.array([0.5, 0.25, 0.25]) * np.exp([-0.5, 0, 1])
    mass = w.sum()
    mean = (w * g).sum() / mass
    square, fourth = (((g - mean) ** k * w).sum() / mass for k in (2, 4))
    expected = math.log(mass), mean, square, math.sqrt(square * fourth)
    names = ("log_mass", "mean", "variance", "third")
    assert [float(getattr(found, name).mid()) for name in names] == pytest.approx(expected)
    assert float(found.third.mid()) >= (abs(g - mean) ** 3 * w).sum() / mass


def test_the_value_for_a_normal_sum_and_its_error():
    """M^n/n E[s_+ exp(-lam s)] for s of law N(n m, n sigma^2), and M^n/n beta/sigma^2."""
    lam, n, log_mass, mean, variance, third = 0.2, 9, -0.05, 0.1, 0.64, 0.7
    with working_precision(100):
        found = [float(x.mid()) for x in terms(*(flint.arb(x) for x in (lam, n, log_mass, mean, variance, third)))]
    s = np.linspace(0, 40, 400_001)
    value = np.trapezoid(s * np.exp(-lam * s) * norm.pdf(s, n * mean, math.sqrt(n * variance)), s)
    front = math.exp(n * log_mass) / n
    assert found == pytest.approx([front * value, front * third / variance])


def test_the_normal_bracket_holds_the_truth_for_few_users():
    """Of one bit, by all counts of 40 users; the error term is no more than half of the bracket's width."""
    pair = FinitePair((F(2, 3), F(1, 3)), (F(1, 2), F(1, 2)), (F(1, 2), F(1, 2)), "a bit")
    ratio, n = 1.05, 40
    g = (4 / 3 - ratio, 2 / 3 - ratio)
    true = sum(math.comb(n, k) / 2**n * max(k * g[0] + (n - k) * g[1], 0) for k in range(n + 1)) / n
    found = normal_bracket(pair, n, F("1.05"))
    assert found.lower <= true <= found.upper and float(found.upper) < 4 * true


def row(**changed):
    ball = correspondence.Ball
    given = {
        "n": 7,
        "eps": F(1, 3),
        "leading": ball(F(2), F(3)),
        "mills": ball(F(4), F(5)),
        "mills_upper": ball(F(6), F(7)),
        "central": ball(F(8), F(9)),
        "shuffled": Bracket(F(10), F(11), Rigour.BALL, "x", "y"),
        "attained": Bracket(F(12), F(13), Rigour.BALL, "x", "y"),
    }
    return Correspondence(**given | changed)


def test_constants_take_the_ends_that_are_certified():
    one = row()
    assert (one.upper_constant, one.lower_constant) == (F(11, 2), F(12, 7))
    assert (one.mills_constant, one.to_central) == (F(11, 4), F(11, 8))
    told = one.to_dict()
    assert told["constants"] == {"upper_f": 5.5, "upper_g": 2.75, "lower_g": 12 / 7, "upper_central": 1.375}
    assert (told["n"], told["eps"], told["f"]) == (7, "1/3", str(one.leading))
    assert told["attained"] == one.attained.decimals() and told["shuffled"] == one.shuffled.decimals()


def test_levels_of_a_sequence(monkeypatch):
    """sqrt(c log n / n) / chi to nine digits, at chi = 2 and c = 3."""
    found = correspondence._level(F(2), 50, F(3))
    assert float(found) == pytest.approx(math.sqrt(3 * math.log(50) / 50) / 2, rel=1e-8)
    linear = SphereLinear("0.4", 1)
    assert float(correspondence._index(linear, "lower")) == pytest.approx(math.sqrt(0.6) / 0.4)
    (one,) = correspondence.correspondence(linear, [20], growth="1/2")
    assert float(one.eps) == pytest.approx(math.sqrt(math.log(20) / 40) * 0.4 / math.sqrt(0.6), rel=1e-8)
    assert one.attained.upper <= one.shuffled.upper and one.n == 20
    upper = math.sqrt((0.16 / 1.4 + 0.16 / 0.6) / 2) ** -1
    assert float(one.mills_upper) == pytest.approx(float(profile_template(F(upper), one.eps, 20)))
    assert float(one.central) == pytest.approx(profile(math.sqrt(20 * 0.6) / 0.4, float(one.eps)))
    for wrong in ({"users": [2]}, {"growth": 0}):
        with pytest.raises(InputError):
            correspondence.correspondence(linear, **{"users": [20]} | wrong)


def legendre(ends, digits, factor):
    """Gauss's rules of NumPy on panels: those of mpmath take seconds."""
    node, mass = np.polynomial.legendre.leggauss(40)
    panels = itertools.pairwise([float(end) for end in ends])
    return [
        (mpmath.mpf(low + (high - low) * (1 + x) / 2), mpmath.mpf(w * (high - low) / 2))
        for low, high in panels
        for x, w in zip(node, mass, strict=True)
    ]


def test_panels_of_the_witness_integrate():
    with mpmath.workdps(15):
        nodes = confirmation._panels([mpmath.mpf(-1), mpmath.mpf(0), mpmath.mpf(2)], 8, 1)
        assert float(mpmath.fsum(w * abs(x) ** 3 for x, w in nodes)) == pytest.approx(1 / 4 + 4)


def test_rows_of_the_witness_are_the_densities(monkeypatch):
    monkeypatch.setattr(confirmation, "_panels", legendre)

    def rows(mechanism, adjacency, blanket=None):
        return np.array([[float(x) for x in one] for one in confirmation._rows(mechanism, adjacency, blanket, 8, 1)]).T

    with mpmath.workdps(20):
        for adjacency in Adjacency:
            removed = adjacency is Adjacency.ZERO_OUT
            for mechanism in (SphereLinear("0.4", 3), SphereLinear("0.4", 1), ClippedLinear("0.1", 3, 2), PrivUnit("0.8", "0.3", 3), PrivUnit("0.2", "-0.3", 3)):  # fmt: skip  # noqa: E501
                p, q, r, w = rows(mechanism, adjacency)
                for law in (p, q):
                    assert w @ law == pytest.approx(1, abs=1e-9)
                assert w.sum() == pytest.approx(1, abs=1e-9) and (r <= p + 1e-12).all() and (r <= q + 1e-12).all()
                assert min(p) == pytest.approx(r[0], abs=0.02)
                assert (q == 1).all() if removed else sorted(p) == pytest.approx(sorted(q))
            numbers = clipped_numbers(ClippedLinear("0.1", 3, 2))
            assert rows(ClippedLinear("0.1", 3, 2), adjacency)[2][0] == pytest.approx(float(numbers.gamma))
            for mechanism, gamma, v in ((BlanketMixedGaussian("0.7", 2, "0.8"), 0.7, 0.4), (LocalGaussian(2), 0, 0.5)):
                for blanket in (None, Blanket.LARGEST):
                    p, q, r, w = rows(mechanism, adjacency, blanket)
                    assert w @ p == pytest.approx(1) and w @ q == pytest.approx(1)
                    z = (np.log((p - gamma) / (1 - gamma)) + v * v / 2) / v
                    assert w @ z == pytest.approx(0, abs=1e-9) and w @ z**2 == pytest.approx(1)
                    away = gamma + (1 - gamma) * np.exp(-v * z - v * v / 2)
                    assert q == pytest.approx(np.ones_like(q) if removed else away)
                    least = np.minimum(p, away) if blanket or not gamma else np.full_like(p, gamma)
                    assert r == pytest.approx(least)


def test_the_witness_says_whom_it_does_not_confirm():
    with pytest.raises(Unsupported, match="at least 10 users, not 9"):
        confirm_pair(SphereLinear("0.4", 1), n=9, exp_eps=F(2))
    for mechanism in (LocalGaussian(2, 2), BlanketMixedGaussian("0.5", 2, 1, 2)):
        with pytest.raises(Unsupported, match="dimension 1 only"):
            confirm_pair(mechanism, n=10, exp_eps=F(2), blanket="largest")
    with pytest.raises(Unsupported, match="str"):
        confirm_pair("other", n=10, exp_eps=F(2))
    with mpmath.workdps(20):
        assert confirmation._fraction(mpmath.mpf(-3) / 8) == F(-3, 8) and confirmation._mpf(F(-3, 8)) == -0.375


def test_the_witness_of_a_bit_is_its_sum_over_counts():
    text, digits = confirm_pair(SphereLinear("1/3", 1), n=10, exp_eps=F(6, 5), adjacency="zero-out", digits=10)

    def by_hand(p, q):
        total = 0.0
        for a in range(11):
            for b in range(11 - a):
                weight = math.comb(10, a) * math.comb(10 - a, b) / 3**10
                total += weight * max(a * (p[0] - 1.2 * q[0]) * 3 + b * (p[1] - 1.2 * q[1]) * 3, 0)
        return total / 10

    p, q = (2 / 3, 1 / 3), (0.5, 0.5)
    assert float(text) == pytest.approx(max(by_hand(p, q), by_hand(q, p)), rel=1e-8) and digits >= 8
