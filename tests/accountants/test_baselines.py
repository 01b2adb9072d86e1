"""The closed-form baselines: known numbers, order against the exact value, refusals."""

import math
from fractions import Fraction

import mpmath
import pytest

from symshuffle import InputError, optimal_decomposition, randomizer
from symshuffle.accountants import BlanketVariable, blanket_bennett, blanket_hoeffding, standard_clone
from symshuffle.accountants.questions import solve
from symshuffle.base.numbers import Ball, Exp, enclose, lower_end
from symshuffle.decompositions import simplified_decomposition
from symshuffle.engines import Exact
from symshuffle.mechanisms import Laplace
from symshuffle.mechanisms.finite import erasure, krr

TEN_RR = optimal_decomposition(krr().at(lam=3, k=10)).numeric()


def bennett(eps0, eps):
    cells = optimal_decomposition(krr().at(eps0=eps0, k=10)).numeric()
    return blanket_bennett(BlanketVariable.of(cells, enclose(Exp(Fraction(eps)))), 1000)


@pytest.mark.parametrize(
    ("eps", "eps0"),
    [("1/100", 171118), ("1/20", 624952), ("1/10", 1003208), ("1/5", 1512399), ("1/2", 2367060), ("1", 3060147)],
)
def test_bennett_meets_one_in_a_million_at_the_known_budgets(eps, eps0):
    target = Fraction(1, 10**6)
    assert bennett(Fraction(eps0 - 1, 10**6), eps).upper < target < bennett(Fraction(eps0 + 1, 10**6), eps).lower


@pytest.mark.parametrize("bound", [blanket_hoeffding, blanket_bennett])
@pytest.mark.parametrize("n", [1, 1000, 10**6])
def test_baselines_are_continuous_at_zero(bound, n):
    """The published forms exceed every number as eps falls to 0, where the divergence is largest, and below 1."""
    at_zero = bound(BlanketVariable.of(TEN_RR, Fraction(1)), n)
    for j in (10, 20, 40):
        near = bound(BlanketVariable.of(TEN_RR, 1 + Fraction(1, 10**j)), n)
        assert abs(float(near.upper / at_zero.lower) - 1) < 10 ** (4 - j) + 1e-15
    unresolved = BlanketVariable.of(TEN_RR, Ball(1 - Fraction(1, 10**50), 1 + Fraction(1, 10**50)))
    assert abs(float(bound(unresolved, n).upper / at_zero.lower) - 1) < 1e-15


def test_the_blanket_variable_of_laplace_lies_between_its_finite_laws():
    """Second moments of finite laws on either side in convex order; at eps0 = 1, eps = 0.1 a known number."""
    for eps0, eps in ((1, Fraction(1, 10)), (4, Fraction(2))):
        variable = BlanketVariable.laplace(Exp(Fraction(eps0)), Exp(eps))
        assert abs(float(variable.gamma) - math.exp(-eps0 / 2)) < 1e-15
        sides = [Laplace(Exp(Fraction(eps0))).law(Exp(eps), side=side) for side in ("lower", "upper")]
        moments = [variable.gamma * sum((v * v * w for v, w in law.atoms()), start=Fraction(0)) for law in sides]
        assert moments[0].upper < variable.second_moment.lower < variable.second_moment.upper < moments[1].lower
        assert moments[1].upper / moments[0].lower < Fraction(1001, 1000)
        assert abs(variable.smallest.lower / lower_end(variable.gamma * sides[0].support[0]) - 1) < Fraction(1, 10**9)
        assert abs(variable.largest.lower / lower_end(variable.gamma * sides[0].support[1]) - 1) < Fraction(1, 10**9)
    known = BlanketVariable.laplace(Exp(Fraction(1)), Exp(Fraction(1, 10))).second_moment
    assert abs(float(known) - 0.845911255881932) < 1e-15


@pytest.mark.parametrize("gap", [0, Fraction(1, 10**40), Fraction(1, 10**10)])
def test_bennett_where_the_largest_value_is_hardly_positive(gap):
    """At eps = eps0 as balls nobody knows whether L is ever positive, and the formula divides zero by zero."""
    cells = optimal_decomposition(krr().at(eps0=4, k=10)).numeric()
    for n in (1, 1000):
        exact = Exact().bracket(TEN_RR.reduction_pair().gparv(3 - gap), n).exact if n == 1 else 0
        assert exact <= blanket_bennett(BlanketVariable.of(TEN_RR, 3 - gap), n).upper < 1
        assert blanket_bennett(BlanketVariable.of(cells, enclose(Exp(Fraction(4) - gap))), n).upper < 200


def test_nothing_is_clipped():
    variable = BlanketVariable.of(TEN_RR, Fraction(5, 2))
    tiny = blanket_bennett(variable, 10**6)
    assert 0 < tiny.lower <= tiny.upper < Fraction(1, 10**1000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BlanketVariable.of(TEN_RR, Fraction(1, 2)), "exp_eps = 1/2: expected a target ratio of at least 1"),
        (lambda: BlanketVariable.laplace(Fraction(1), Fraction(2)), "lam = 1"),
        (lambda: BlanketVariable.laplace(Fraction(2), Fraction(1, 2)), "exp_eps = 1/2"),
        (lambda: standard_clone(Fraction(1), exp_eps=Fraction(2), n=5), "lam = 1"),
        (lambda: standard_clone(Fraction(2), exp_eps=Fraction(1, 2), n=5), "exp_eps = 1/2"),
        (
            lambda: BlanketVariable.of(optimal_decomposition(erasure().at(k=3, p="1/3")).numeric(), Fraction(2)),
            "components inside the blanket",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("n", [1, 10, 60])
def test_the_limits_at_both_ends_of_the_targets_are_bounds(n):
    exact = Exact().bracket(TEN_RR.reduction_pair().gparv(Fraction(1)), n).exact
    for bound in (blanket_hoeffding, blanket_bennett):
        assert exact <= bound(BlanketVariable.of(TEN_RR, Fraction(1)), n).lower
        for beyond in (Fraction(3), Fraction(4)):
            assert bound(BlanketVariable.of(TEN_RR, beyond), n).upper == 0
    assert standard_clone(Fraction(3), exp_eps=Fraction(3), n=n).upper == 0


@pytest.mark.parametrize("name", ["krr", "subset-selection", "half-block"])
def test_generic_bounds_lie_above_the_optimal_one(name):
    values = {"krr": {"k": 4}, "subset-selection": {"k": 4, "s": 2}, "half-block": {"k": 4}}[name]
    channel = randomizer(name).channel(lam=3, **values)
    for n in (1, 3, 8):
        for exp_eps in (Fraction(1), Fraction(3, 2), Fraction(5, 2)):
            law = simplified_decomposition(channel, (0, 1)).reduction_pair().gparv(exp_eps)
            optimal = Exact().bracket(law, n).exact
            clone = standard_clone(Fraction(3), exp_eps=exp_eps, n=n, arithmetic="exact").exact
            assert optimal <= clone


def test_the_standard_clone_has_the_known_target():
    """On a coarse lattice eps = 0.010223 and 3.990458 at eps0 = 0.1 and 4, n = 1000, delta = 1e-6; the pair less."""
    for eps0, below, above in (("1/10", "0.01015", "0.0102"), ("4", "3.98", "3.99")):
        low, high = (standard_clone(Exp(Fraction(eps0)), exp_eps=Exp(Fraction(e)), n=1000) for e in (below, above))
        assert high.upper < Fraction(1, 10**6) < low.lower


def test_accountants_take_no_closed_form_for_a_source():
    with pytest.raises(InputError, match="source"):
        solve.delta(BlanketVariable.of(TEN_RR, Fraction(2)), n=5, exp_eps=2)


def mp_hoeffding(gamma, drift, width, n):
    """Both forms in mpmath, each as the docstring prints it."""
    shrink = mpmath.exp(-2 * drift**2 / width**2)
    share = 1 - gamma * (1 - shrink)
    root = width * mpmath.sqrt(mpmath.pi * gamma * n / 8 * shrink / share)
    forms = [width**2 / (4 * drift), root] if drift else [root]
    return [share**n / (gamma * n) * form for form in forms]


def mp_bennett(gamma, drift, top, second, n):
    spread = (second - drift**2) / (gamma * n)
    forms = [(mpmath.sqrt(drift**2 + spread) - drift) / 2]
    if drift:
        u = drift * top / second
        phi = (1 + u) * mpmath.log(1 + u) - u
        share = 1 - gamma + gamma * mpmath.exp(-second / top**2 * phi)
        forms.insert(0, (share**n - (1 - gamma) ** n) / (mpmath.log(1 + u) / top * gamma * n))
    return forms


@pytest.mark.parametrize("x", [Fraction(1), Fraction(101, 100), Fraction(6, 5), Fraction(2), Fraction(29, 10)])
@pytest.mark.parametrize("n", [1, 2, 50, 4000])
def test_both_forms_of_both_bounds_in_other_arithmetic(x, n):
    """Of 10-ary randomized response at lam = 3 the blanket variable is (5/6)(3-x, 1-3x, 1-x eight times), gamma 5/6."""
    values = [Fraction(5, 6) * v for v in (3 - x, 1 - 3 * x, *[1 - x] * 8)]
    second = sum(v * v for v in values) / 10
    known = BlanketVariable.of(TEN_RR, x)
    assert known == BlanketVariable(Fraction(5, 6), x - 1, min(values), max(values), second)
    with mpmath.workdps(60):
        gamma, drift, top, low, moment = (
            mpmath.mpf(v.numerator) / v.denominator
            for v in (known.gamma, known.drift, known.largest, known.smallest, known.second_moment)
        )
        for found, forms in (
            (blanket_hoeffding(known, n), mp_hoeffding(gamma, drift, top - low, n)),
            (blanket_bennett(known, n), mp_bennett(gamma, drift, top, moment, n)),
        ):
            expected = Fraction(mpmath.nstr(min(forms), 50))
            assert abs(found.midpoint / expected - 1) < Fraction(1, 10**35)
            assert found.radius < found.midpoint / 10**30


def test_each_form_is_the_smaller_one_somewhere():
    for name, forms in (("hoeffding", mp_hoeffding(0.5, 0.1, 2.0, 5)), ("bennett", mp_bennett(0.5, 0.01, 1.0, 0.3, 5))):
        assert forms[1] < forms[0], name
    assert mp_hoeffding(0.5, 1.0, 2.0, 500)[0] < mp_hoeffding(0.5, 1.0, 2.0, 500)[1]
    assert mp_bennett(0.5, 0.5, 1.0, 0.3, 500)[0] < mp_bennett(0.5, 0.5, 1.0, 0.3, 500)[1]
