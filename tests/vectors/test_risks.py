"""Risks, certificates and optima: by enumeration, by an independent optimiser, and with false certificates."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import optimize

from proofs_checks.vecmean._errors import best_shrinkage, product_weights
from proofs_checks.vecmean._templates import decay_exponent, leading_template, mills_bracket
from symshuffle import Ball, CertificateError, Channel, InputError, NotDecided
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, LocalGaussian, LocalLaplace, PrivUnit, SphereLinear
from symshuffle.vectors.error.compare import contenders, kashin_coefficients, one_coefficient_error, takeover
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.error.minimal_risk import minimal_unbiased_risk, shuffled_problem, weighted_minimum
from symshuffle.vectors.error.optimal import best_density, bmg_optimal
from symshuffle.vectors.error.risk import affine_risk, err1, errn, hcr_bound
from symshuffle.vectors.privacy.correspondence import central_profile, profile_template
from symshuffle.vectors.randomizers import gaussian, sphere
from symshuffle.vectors.randomizers.sphere import clipped_numbers
from tests.vectors.witnesses import density_program

CHANNEL = Channel.from_rows([["1/2", "1/4", "1/8", "1/8"], ["1/4", "1/4", "1/4", "1/4"], ["1/8", "1/8", "1/4", "1/2"]])
TARGETS = [[Fraction(-1)], [Fraction(1, 5)], [Fraction(1)]]


def test_minimal_risk_is_that_of_an_independent_optimiser():
    found = minimal_unbiased_risk(CHANNEL, TARGETS)
    rows = np.array([[float(entry) for entry in row] for row in CHANNEL.rows])
    values = np.array([-1, 0.2, 1])
    start = np.linalg.pinv(rows) @ values
    kernel = np.linalg.svd(rows)[2][-1]
    worst = optimize.minimize_scalar(lambda t: (rows @ (start + t * kernel) ** 2 - values**2).max()).fun
    assert float(found) == pytest.approx(worst, rel=1e-5)
    assert found.bracket.lower <= found.bracket.upper


def test_false_certificates_fall():
    found = minimal_unbiased_risk(CHANNEL, TARGETS)
    found.verify()
    width = found.bracket.upper / 1000
    biased = tuple((row[0] * Fraction(1001, 1000),) for row in found.estimator)
    ends = found.bracket
    low = replace(ends, lower=ends.lower - width, upper=ends.upper - width)
    high = replace(ends, lower=ends.upper, upper=ends.upper + width)
    for wrong, place in (
        (replace(found, bracket=low), "bracket"),
        (replace(found, bracket=high), "bracket"),
        (replace(found, estimator=biased), "estimator"),
        (replace(found, weights=(Fraction(1), Fraction(1), Fraction(-1))), "weights"),
    ):
        with pytest.raises(CertificateError, match=place):
            wrong.verify()


def test_no_unbiased_estimator_is_said_before_solving():
    same = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    with pytest.raises(InputError, match="range of the channel"):
        minimal_unbiased_risk(same, [[1], [-1]])
    with pytest.raises(InputError, match="targets"):
        minimal_unbiased_risk(CHANNEL, [[1], [-1]])
    with pytest.raises(InputError, match="at most 3000"):
        shuffled_problem(CHANNEL, TARGETS, 20)


@pytest.mark.parametrize("n", [2, 3])
def test_n_users_have_a_share_of_the_single_risk(n):
    single = minimal_unbiased_risk(CHANNEL, TARGETS)
    channel, means = shuffled_problem(CHANNEL, TARGETS, n)
    least = weighted_minimum(channel, means, product_weights(single.weights, n))[0]
    assert n * least == single.bracket.lower
    if n == 2:
        several = minimal_unbiased_risk(channel, means).bracket
        assert float(n * several.upper) == pytest.approx(float(single.bracket.upper), rel=1e-4)


@pytest.mark.parametrize(
    ("chi", "d", "share", "risk"),
    [(1, 1, 0.5980681188992486, 4.384076203885002), (100, 10, 0.0448520804621762, 10718.33552740203)],
)
def test_best_mixed_gaussian(chi, d, share, risk):
    found = bmg_optimal(chi, d)
    found.verify()
    assert float(found.share) == pytest.approx(share, rel=1e-12)
    assert float(found.bracket.upper) / d == pytest.approx(risk, rel=1e-13)
    assert shuffle_index(found.mechanism, "lower").bracket.lower >= chi
    assert float(err1(found.mechanism)) == pytest.approx(float(found.bracket.upper), rel=1e-9)
    shifted = replace(found, share=Ball(found.share.lower * 2, found.share.upper * 2))
    with pytest.raises(CertificateError, match="share"):
        shifted.verify()
    raised = replace(found, bracket=found.bracket.scaled(Fraction(1001, 1000)))
    with pytest.raises(CertificateError, match="bracket"):
        raised.verify()


@pytest.mark.parametrize("chi", [Fraction(1, 10), 10**4])
def test_best_mixed_gaussian_at_the_ends(chi):
    found = bmg_optimal(chi, 3)
    best = float(found.bracket.lower)
    for share in np.linspace(0.001, 0.999, 200):
        u = (1 - share) / (share * float(chi)) ** 2
        assert 3 / (share**2 * np.log1p(u)) + (1 - share) / share >= best * (1 - 1e-12)


@pytest.mark.parametrize(("chi", "d"), [(3, 2), (10, 10), (100, 3)])
def test_best_density_against_the_convex_program(chi, d):
    found = best_density(chi, d)
    found.verify()
    *_, shrinkage = clipped_numbers(found.mechanism)
    assert density_program(chi, d) == pytest.approx(float(shrinkage), rel=2e-5)
    for wrong, place in (
        (replace(found, bracket=found.bracket.scaled(Fraction(999, 1000))), "bracket"),
        (replace(found, bracket=found.bracket.scaled(Fraction(1001, 1000))), "bracket"),
        (replace(found, mechanism=replace(found.mechanism, clip=found.mechanism.clip + Fraction(1, 10))), "bracket"),
    ):
        with pytest.raises(CertificateError, match=place):
            wrong.verify()


def test_kashin_constant_of_the_standard_basis_is_that_of_the_vector():
    coefficients, constant = kashin_coefficients(np.eye(4), [1.0, 0, 0, 0])
    assert constant == pytest.approx(2) and coefficients[0] == pytest.approx(1)
    with pytest.raises(InputError, match="vector"):
        kashin_coefficients(np.eye(4), np.zeros(4))


@pytest.mark.parametrize("chi", [0.3, 2, 50])
def test_one_coefficient_of_a_frame_by_exact_moments(chi):
    signs = np.array([[(-1) ** (i & j).bit_count() for j in range(8)] for i in range(8)])
    frame, x = signs[1:4] / 8**0.5, np.array([0.6, -0.3, 0.2])
    z, constant = kashin_coefficients(frame, x)
    constant *= np.linalg.norm(x)
    t = (-1 + (1 + 4 * chi**2) ** 0.5) / (2 * chi**2)
    mean, square = np.zeros(3), 0.0
    for j in range(8):
        for sign in (1, -1):
            mass = (1 + sign * t * z[j] * 8**0.5 / constant) / 16
            estimate = sign * 8**0.5 * constant * frame[:, j] / t
            mean, square = mean + mass * estimate, square + mass * estimate @ estimate
    assert mean == pytest.approx(x)
    assert square * max(1, constant) ** 2 / constant**2 == pytest.approx(
        one_coefficient_error(max(1, constant), 3, chi)
    )
    spread = t**2 * np.mean((z * 8**0.5 / constant) ** 2) / (1 - t)  # 1/chi_lo^2 of the message (number, sign)
    assert spread <= 1 / chi**2 * (1 + 1e-9)


@pytest.mark.parametrize("arguments", [(0.9, 3, 1), (2, 3, 0), (float("nan"), 3, 1)])
def test_one_coefficient_refuses_what_is_out_of_range(arguments):
    with pytest.raises(InputError):
        one_coefficient_error(*arguments)


def test_contenders_are_ordered_and_above_the_floor():
    found = contenders(100, 48)
    assert next(iter(found)) == "clipped linear density"
    assert list(found.values()) == sorted(found.values(), key=lambda error: error.upper)
    assert all(error.lower > 48 * 100**2 for error in found.values())
    assert found["mixed Gaussian"].upper < found["linear density"].lower
    slope = SphereLinear(Fraction(d_root := 2 * 48 / (48 + (48**2 + 4 * 48 * 10**4) ** 0.5)), 48)
    assert float(shuffle_index(slope, "lower").bracket.midpoint) == pytest.approx(100, rel=1e-12)
    assert float(found["linear density"].lower) == pytest.approx((48 / d_root) ** 2)
    excess = float(found["linear density"].upper / (48 * 100**2) - 1)
    assert excess == pytest.approx(d_root / (1 - d_root), rel=1e-9)  # chi^2 c^2 = d (1 - c) at the slope c
    half = PrivUnit(Fraction((1 + 2 / (1 + 40001**0.5)) / 2), 0, 48)
    assert float(shuffle_index(half, "lower").bracket.midpoint) == pytest.approx(100, rel=1e-9)
    assert float(found["PrivUnit"].lower) == pytest.approx(float(err1(half)), rel=1e-9)
    rounded = err1(best_density(100, 48).mechanism)  # over the ball, which costs 1 more than at unit inputs
    assert float(found["clipped linear density"].midpoint) == pytest.approx(float(rounded), rel=1e-12)
    for wrong in (lambda: contenders(10, 1), lambda: best_density(10, 1)):
        with pytest.raises(InputError, match="dimension"):
            wrong()
    with pytest.raises(InputError, match="chi"):
        best_density(0, 2)


def test_answers_say_what_they_are():
    for found in (minimal_unbiased_risk(CHANNEL, TARGETS), bmg_optimal(10, 2), best_density(10, 2)):
        assert "least" in found.about and found.evaluation == found.bracket.evaluation
        assert found.to_dict()


def test_the_dimension_of_a_takeover_is_where_the_order_changes():
    found = takeover(10, "linear density", "mixed Gaussian")
    before, after = (
        [name for name in contenders(10, d) if name in ("linear density", "mixed Gaussian")] for d in (found - 1, found)
    )
    assert before == ["linear density", "mixed Gaussian"] and after == before[::-1]


def test_a_takeover_that_does_not_happen_is_not_reported():
    with pytest.raises(NotDecided, match="in any dimension up to"):
        takeover(10, "linear density", "PrivUnit", most=20)
    with pytest.raises(InputError, match=r"first = .*better one in dimension 2"):
        takeover(10, "PrivUnit", "linear density")
    with pytest.raises(InputError, match=r"then = .*one of"):
        takeover(10, "linear density", "Kashin")
    with pytest.raises(InputError, match="chi = 0"):
        takeover(0, "linear density", "PrivUnit")


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (BlanketMixedGaussian("1/4", "2", dimension=3), (Fraction(64, 3), Fraction(1, 3), Fraction(1))),
        (SphereLinear("1/2", 3), (Fraction(36), Fraction(-1), Fraction(1))),
        (LocalLaplace(3), (Fraction(18), Fraction(0), Fraction(1))),
        (LocalGaussian(3, 5), (Fraction(45), Fraction(0), Fraction(1))),
    ],
)
def test_errors_are_a_number_and_a_share_of_the_squared_length(mechanism, expected):
    assert affine_risk(mechanism) == expected
    a, b, s = expected
    assert err1(mechanism) == max(a, a + b * s) and err1(mechanism, on_sphere=True) == a + b * s
    assert errn(mechanism, 7) == max(a, a + b * s) / 7


def test_the_bound_by_the_upper_index_is_dimension_over_its_inverse_square():
    found = hcr_bound(SphereLinear("1/2", 1))
    assert found.lower <= 3 <= found.upper and found.width < Fraction(1, 10**25)
    three = hcr_bound(SphereLinear("1/2", 3))
    inverse = shuffle_index(SphereLinear("1/2", 3), "upper").inverse_square
    assert float(three.upper) == pytest.approx(3 / float(inverse), rel=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "n"), [(1, 0, 1), (36, -1, 1), (5, "1/3", 4), (4, "-7/2", 1), (9, -8, 2), (3, "-1/2", 10)]
)
def test_shrinkage_is_minimax_over_a_grid(a, b, n):
    a, b = Fraction(a), Fraction(b)
    found = best_shrinkage(a, b, n=n)
    factor, risk = float(found.factor), float(found.risk)

    def worst(f):
        return max(f * f * float(a + b * s) / n + (1 - f) ** 2 * s for s in (0, 1))

    assert worst(factor) == pytest.approx(risk, rel=1e-12)
    assert all(worst(factor * (1 + d)) > risk for d in (-1e-4, 1e-4, -0.1, 0.1))


def mp_tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize(("chi", "eps", "n"), [("1", "1/2", 9), ("7/3", "1/10", 100), ("1/2", "2", 4)])
def test_templates_and_profiles_in_other_arithmetic(chi, eps, n):
    with mpmath.workdps(60):
        index, level = (mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator for v in (chi, eps))
        root = mpmath.sqrt(n)
        a = index * level * root
        expected = {
            "leading": mpmath.npdf(a) / (a**2 * index * root),
            "mills": (mpmath.npdf(a) - a * mp_tail(a)) / (index * root),
        }
        for order, value in expected.items():
            found = profile_template(Fraction(chi), Fraction(eps), n, order=order)
            assert abs(found.midpoint / Fraction(mpmath.nstr(value, 50)) - 1) < Fraction(1, 10**25)
        with mpmath.workdps(40):
            substituted = leading_template(index, level, n).evalf(30)
        assert float(substituted) == pytest.approx(float(expected["leading"]), rel=1e-14)
        b = 1 / (2 * index * root)
        profile = mp_tail(a - b) - mpmath.exp(level) * mp_tail(a + b)
        exact = Fraction(mpmath.nstr(profile, 50))
        assert abs(central_profile(Fraction(chi), Fraction(eps), n).midpoint / exact - 1) < Fraction(1, 10**25)
        multiplier = Fraction(chi) * math.isqrt(n)
        assert abs(gaussian.gaussian_profile(multiplier, eps=eps).midpoint / exact - 1) < Fraction(1, 10**15)
        factor = mpmath.npdf(a) * mpmath.exp(level / 2 - b**2 / 2)
        ends = [factor * mpmath.quad(f, [a - b, a + b]) for f in (lambda t: t**-2 - 3 * t**-4, lambda t: t**-2)]
        for found, value in zip(mills_bracket(Fraction(chi), Fraction(eps), n), ends, strict=True):
            assert float(found) == pytest.approx(float(value), rel=1e-13)
        exponent = -mpmath.log(profile) / mpmath.log(n)
        assert float(decay_exponent(Fraction(chi), Fraction(eps), n)) == pytest.approx(float(exponent), rel=1e-13)


def test_templates_refuse_what_they_do_not_cover():
    for call in (
        lambda: profile_template(Fraction(0), Fraction(1), 5), lambda: profile_template(Fraction(1), Fraction(0), 5),
        lambda: mills_bracket(Fraction(1), Fraction(1, 2), 1),
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"eps|chi"):
            call()


@pytest.mark.parametrize("theta", ["-1/3", "0", "2/5"])
@pytest.mark.parametrize("dimension", [2, 3, 6])
def test_the_numbers_of_a_cap_by_quadrature(theta, dimension):
    mechanism, edge = PrivUnit("0.7", theta, dimension), math.asin(Fraction(theta))

    def mean(function, low, high):
        law = lambda a: mpmath.cos(a) ** (dimension - 2)  # noqa: E731
        whole = mpmath.quad(law, [-mpmath.pi / 2, 0, mpmath.pi / 2])
        return float(mpmath.quad(lambda a: function(mpmath.sin(a)) * law(a), [low, high]) / whole)

    right = math.pi / 2
    q, inside = mean(lambda t: 1, -right, edge), mean(lambda t: 1, edge, right)
    height, under = mean(lambda t: t, edge, right) / inside, mean(lambda t: t, -right, edge) / q
    found = sphere.cap_numbers(mechanism)
    expected = (q, height, 0.7 * height + 0.3 * under, 0.7 + q - 1, 0.7 / inside, 0.3 / q)
    numbers = (found.q, found.alpha, found.shrinkage, found.advantage, found.high, found.low)
    assert [float(x) for x in numbers] == pytest.approx(expected, rel=1e-12)
    assert float(found.gamma) == min(float(found.high), float(found.low))
    assert sphere.cap_numbers_float(mechanism) == pytest.approx((q, height, expected[2]), rel=1e-12)
    assert float(sphere.epsilon0(mechanism)) == pytest.approx(abs(math.log(expected[4] / expected[5])), rel=1e-12)


def test_mechanisms_at_a_level_are_never_less_private():
    for bits in (8, 64):
        line = sphere.sphere_linear_at(Fraction(3), 4, bits=bits)
        assert Fraction(1, 2) - Fraction(2, 2**bits) <= line.c <= Fraction(1, 2)
        cap = sphere.privunit_at(Fraction(3), "1/4", 3, bits=bits)  # in three dimensions the height is uniform
        exact = Fraction(9, 14)
        assert exact - Fraction(1, 2**bits) <= cap.p <= exact
    assert float(sphere.epsilon0(SphereLinear("1/2", 4))) == pytest.approx(math.log(3), rel=1e-14)
    for build in (lambda lam: sphere.sphere_linear_at(lam, 4), lambda lam: sphere.privunit_at(lam, 0, 4)):
        with pytest.raises(InputError, match="lam"):
            build(Fraction(1))


@pytest.mark.parametrize(("clip", "dimension", "chi"), [("-1/2", 2, "1"), ("1/5", 3, "2"), ("0", 6, "1/2")])
def test_a_clipped_density_by_quadrature(clip, dimension, chi):
    """It has mass 1 and the index asked for, and the mean message is its moment: by its three numbers alone."""
    gamma, slope, shrinkage = map(float, clipped_numbers(ClippedLinear(clip, dimension, chi)))
    knot = float(Fraction(clip))
    nodes, weights = np.polynomial.legendre.leggauss(80)
    edge, total = math.asin(knot), np.zeros(4)
    for low, high in ((-math.pi / 2, edge), (edge, math.pi / 2)):
        angle = (low + high) / 2 + (high - low) / 2 * nodes
        law = (high - low) / 2 * weights * np.cos(angle) ** (dimension - 2)
        height = np.sin(angle)
        density = gamma + slope * np.maximum(height - knot, 0)
        total += [law @ f for f in (np.ones(80), density, (density - 1) ** 2, height * density)]
    one, spread, mean = total[1:] / total[0]
    assert (one, spread, mean) == pytest.approx((1, gamma / float(Fraction(chi)) ** 2, shrinkage), rel=1e-12)
    mechanism = ClippedLinear(clip, dimension, chi)
    assert [float(x) for x in affine_risk(mechanism)] == pytest.approx([mean**-2, -1, 1], rel=1e-12)
