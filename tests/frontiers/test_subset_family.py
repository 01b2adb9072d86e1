from fractions import Fraction

import pytest

from proofs_checks.alphabets._equivariant import (
    is_positive,
    ratio_derivative,
    risk_derivative,
    thinned_subset_selection,
)
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp, Verdict, lower_end, upper_end
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, evaluate
from symshuffle.utility.frontiers.caps import matched_ratio, number_of, tie_ratio
from symshuffle.utility.frontiers.certificate import orbit_mixture
from symshuffle.utility.frontiers.equivariant import largest_budget, matched_risk
from symshuffle.utility.frontiers.formulas import (
    at,
    slope_form,
    subset_budget,
    subset_trace,
    threshold_form,
    tie_form,
)
from symshuffle.utility.frontiers.frontier import slope_constant, threshold_budget

F = Fraction


def test_the_sign_is_proved_and_a_wrong_sign_is_not():
    assert is_positive(risk_derivative()) is Verdict.TRUE
    assert is_positive(-risk_derivative()) is Verdict.FALSE
    assert is_positive(ratio_derivative()) is Verdict.UNDECIDED  # the ratio falls, then rises
    assert is_positive(risk_derivative() * (LAM - 2)) is Verdict.UNDECIDED
    assert is_positive(risk_derivative() * (K - 2 * S)) is Verdict.UNDECIDED


def test_the_derivative_agrees_with_differences():
    k, s, budget, step = 400, 100, F(1), 1
    before, after = (matched_risk(k, s + d, budget, n=1).midpoint for d in (-step, step))
    ratio = matched_ratio(k, s, budget).lower
    slope = float(risk_derivative().subs({K: k, S: s, LAM: float(ratio)}))
    assert abs(float(after - before) / (2 * step) / slope - 1) < 1e-3


def test_thinning_scales_signal_and_budget():
    whole, part = (orbit_mixture(thinned_subset_selection(4, 2, F(3), F(share))) for share in ("1", "1/3"))
    assert (3 * part.trace(), 3 * part.pairwise_budget()) == (whole.trace(), whole.pairwise_budget())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matched_ratio(5, 2, F(0)), "budget = 0"),
        (lambda: matched_ratio(5, 2, "x"), "budget"),
        (lambda: matched_ratio(10, 2, F(1), lam_cap=F(2)), r"in \(0, 0.2222222\]"),
        (lambda: matched_risk(5, 2, F(1), n=0), "n = 0"),
        (lambda: thinned_subset_selection(5, 2, F(2), F(0)), "share"),
        (lambda: largest_budget(5, F(1)), "lam"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


def _spent(k, s, lam):
    """Mean over ordered pairs of coordinates of (u_i - u_j)^2 / u_j, which is not 0 for a high and a low one."""
    low = F(k) / (s * lam + k - s)
    return F(s * (k - s), k * (k - 1)) * low * (lam - 1) ** 2 * (1 + 1 / lam)


@pytest.mark.parametrize("lam", ["5/4", "2", "7/3", "4", "9"])
@pytest.mark.parametrize(("k", "s"), [(2, 1), (5, 2), (6, 5)])
def test_ratios_come_back_from_their_budgets(k, s, lam):
    """Exactly where they have 80 binary digits, and between two neighbours that have; risks follow."""
    lam = F(lam)
    budget = _spent(k, s, lam)
    found = matched_ratio(k, s, budget, lam_cap=lam)
    if lam.denominator == 3:
        assert found.lower < lam < found.upper and found.width == F(1, 2**80)
    else:
        assert found.exact == lam
    with pytest.raises(InputError, match="budget"):
        matched_ratio(k, s, budget, lam_cap=lam - F(1, 1000))
    low = F(k) / (s * lam + k - s)
    trace = s * (lam * low - 1) ** 2 + (k - s) * (low - 1) ** 2
    for population, extra in (("fixed", F(k - 1, k)), ("iid", 0)):
        risk = matched_risk(k, s, budget, n=7, population=population)
        assert risk.lower <= (F((k - 1) ** 2) / trace - extra) / 7 <= risk.upper
        assert risk.width < risk.upper / 2**70


LEVELS = (Fraction(7, 3), Exp(Fraction(1)))


@pytest.mark.parametrize(("k", "s"), [(3, 1), (10, 1), (11, 2), (50, 7), (10**9, 12345)])
def test_numbers_on_file_are_those_of_the_forms(k, s):
    """Exactly where SymPy finds a rational; to the last digits of a ball elsewhere."""
    pairs = [
        (tie_ratio(k, s), evaluate(tie_form().subs({K: k, S: s}))),
        (slope_constant(k), evaluate(slope_form().subs(K, k))),
        (threshold_budget(k), evaluate(threshold_form().subs(K, k))),
        *((number_of("trace", k=k, s=s, lam=lam), at(subset_trace(), k=k, s=s, lam=lam)) for lam in LEVELS),
        *((number_of("budget", k=k, s=s, lam=lam), at(subset_budget(), k=k, s=s, lam=lam)) for lam in LEVELS),
    ]
    for found, true in pairs:
        assert isinstance(found, Fraction) == isinstance(true, Fraction)
        assert lower_end(found) <= upper_end(true) and lower_end(true) <= upper_end(found)
        assert upper_end(found) - lower_end(found) <= upper_end(true) / 2**100
