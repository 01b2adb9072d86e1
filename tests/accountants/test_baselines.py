"""The closed-form baselines: known numbers, order against the exact value, refusals."""

from fractions import Fraction

import pytest

from symshuffle.accountants.baselines import BlanketVariable, blanket_bennett, blanket_hoeffding
from symshuffle.accountants.exact import Exact
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.errors import InputError
from symshuffle.mechanisms.finite import erasure, krr
from symshuffle.numbers import Exp, enclose

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


@pytest.mark.parametrize("n", [1, 10, 60])
def test_baselines_lie_above_the_exact_value(n):
    exact = Exact().bracket(TEN_RR.reduction_pair().gparv(Fraction(3, 2)), n).exact
    variable = BlanketVariable.of(TEN_RR, Fraction(3, 2))
    assert exact <= blanket_bennett(variable, n).lower
    assert exact <= blanket_hoeffding(variable, n).lower


def test_nothing_is_clipped():
    variable = BlanketVariable.of(TEN_RR, Fraction(5, 2))
    tiny = blanket_bennett(variable, 10**6)
    assert 0 < tiny.lower <= tiny.upper < Fraction(1, 10**1000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BlanketVariable.of(TEN_RR, Fraction(1)), "exp_eps = 1: expected a target ratio above 1"),
        (lambda: blanket_hoeffding(BlanketVariable.of(TEN_RR, Fraction(2)), 0), "n = 0"),
        (lambda: blanket_bennett(BlanketVariable.of(TEN_RR, Fraction(4)), 5), "can be positive"),
        (
            lambda: BlanketVariable.of(optimal_decomposition(erasure().at(k=3, p="1/3")).numeric(), Fraction(2)),
            "components inside the blanket",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()
