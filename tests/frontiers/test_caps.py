import math
from fractions import Fraction

import pytest

from proofs_checks._templates import extreme_templates
from symshuffle import Exp, InputError, Unsupported
from symshuffle.utility import optimal_subset_sizes
from symshuffle.utility.frontiers.caps import raw_cap_trace, sign_at, tie_ratio

F = Fraction


@pytest.mark.parametrize(
    "call",
    [
        lambda: optimal_subset_sizes(1, F(2)),
        lambda: optimal_subset_sizes(3, F(1)),
        lambda: optimal_subset_sizes(3, F("1/2")),
        lambda: optimal_subset_sizes(3, math.inf),
        lambda: optimal_subset_sizes(3, math.nan),
        lambda: raw_cap_trace(3, math.inf),
    ],
)
def test_out_of_range(call):
    with pytest.raises(InputError):
        call()


def test_vertices_of_many_inputs_are_refused_naming_the_orbits():
    with pytest.raises(Unsupported, match="orbits"):
        extreme_templates(40, F(2))


def _trace(k, s, lam):
    """The squared distance of the template from the constant one."""
    low = F(k) / (s * lam + k - s)
    return s * (lam * low - 1) ** 2 + (k - s) * (low - 1) ** 2


@pytest.mark.parametrize("lam", ["101/100", "3/2", "2", "3", "6", "7", "40"])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 10, 13])
def test_the_best_sizes_are_those_of_a_list(k, lam):
    values = {s: _trace(k, s, F(lam)) for s in range(1, k)}
    best = tuple(s for s in values if values[s] == max(values.values()))
    assert raw_cap_trace(k, F(lam)) == max(values.values())
    if k == 3 or len(best) < 3:
        assert optimal_subset_sizes(k, F(lam)) == best


@pytest.mark.parametrize(("k", "s"), [(10, 0), (10, 5), (9, 5), (2, 1), (4, 2)])
def test_sizes_that_never_tie(k, s):
    with pytest.raises(InputError):
        tie_ratio(k, s)


@pytest.mark.parametrize(
    ("coefficients", "lam", "sign"),
    [
        ([1, -2], F(2), 0),
        ([1, -2], F(3), 1),
        ([1, -2], F("3/2"), -1),
        ([1, -2], Exp(F(1)), 1),
        ([1, -3], Exp(F(1)), -1),
        ([0, 1], Exp(F(1)), 1),
        ([0, -1], Exp(F(1)), -1),
        ([0, 0], Exp(F(1)), 0),
    ],
)
def test_signs_of_polynomials(coefficients, lam, sign):
    assert sign_at(coefficients, lam) == sign
