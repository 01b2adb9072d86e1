"""The other named families against enumeration: the ring, equal and unequal guessing, mutual information."""

import math
from fractions import Fraction

import pytest

from proofs_checks.ldp_tradeoff._named import best_uniform_size
from symshuffle import InputError
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.named import weighted_guessing_breakpoints, weighted_guessing_problem, weighted_guessing_risk


@pytest.mark.parametrize(("m", "eps0", "size"), [(3, "1/10", 1), (4, "1/10", 2), (6, "2", 1), (9, "1", 4), (9, "3", 1)])
def test_the_best_size_is_the_best_of_all_sizes(m, eps0, size):
    eps = float(Fraction(eps0))
    lam = math.exp(eps)

    def information(k: float) -> float:
        whole = k * lam + m - k
        return eps * k * lam / whole - math.log(whole / m)

    best, found = best_uniform_size(m, Fraction(eps0))
    assert found == max(range(1, m), key=information)
    assert float(best.midpoint) == pytest.approx(information(found), rel=1e-12)


PRIOR = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]


def test_sizes_grow_at_the_levels_by_hand():
    """P_j / pi_{j+1} - (j - 1): (1/2)/(1/3) = 3/2, then (5/6)/(1/6) - 1 = 4; at a tie the smaller size is named."""
    assert weighted_guessing_breakpoints(PRIOR) == [Fraction(3, 2), Fraction(4)]
    sizes = {lam: weighted_guessing_risk(PRIOR, Fraction(lam))[1] for lam in ("5/4", "3/2", "8/5", "4", "5")}
    assert sizes == {"5/4": 1, "3/2": 1, "8/5": 2, "4": 2, "5": 3}
    # Equal values tie at the level 1, and a value of mass zero never enters.
    assert weighted_guessing_breakpoints([Fraction(1, 2), Fraction(1, 2), Fraction(0)]) == []
    assert weighted_guessing_breakpoints([Fraction(1, 4)] * 4) == []
    assert weighted_guessing_breakpoints([Fraction(1)] + [Fraction(0)] * 2) == []


@pytest.mark.parametrize("lam", ["5/4", "3", "7"])
def test_the_risk_is_that_of_the_linear_program(lam):
    problem = weighted_guessing_problem(PRIOR)
    assert problem.loss == ((0, 1, 1), (1, 0, 1), (1, 1, 0))
    assert problem.model == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    assert problem.prior == tuple(PRIOR)
    risk, size = weighted_guessing_risk(PRIOR, Fraction(lam))
    level, masses = Fraction(lam), [Fraction(1, 2), Fraction(5, 6), Fraction(1)]
    assert risk == 1 - level * masses[size - 1] / (level + size - 1)
    assert risk == smallest_risk(problem, Fraction(lam)).value.exact


def test_priors_that_are_none():
    for prior in ([Fraction(1)], [Fraction(1, 2), Fraction(1, 3)], [Fraction(3, 2), Fraction(-1, 2)]):
        with pytest.raises(InputError, match="prior"):
            weighted_guessing_risk(prior, 2)
        with pytest.raises(InputError, match="prior"):
            weighted_guessing_breakpoints(prior)
    assert weighted_guessing_risk([Fraction(1), Fraction(0)], 2) == (0, 1)
    with pytest.raises(InputError, match="lam"):
        weighted_guessing_risk(PRIOR, 1)
