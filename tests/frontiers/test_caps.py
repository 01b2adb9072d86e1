import math
from fractions import Fraction

import pytest

from proofs_checks._templates import block_design_law, extreme_templates, split_template, subset_template
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Exp
from symshuffle.mechanisms.finite import K, S, subset_selection
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.frontiers.caps import optimal_subset_sizes, raw_cap_trace, sign_at, tie_ratio
from symshuffle.utility.frontiers.orbit import orbit_law
from symshuffle.utility.frontiers.subset_forms import subset_budget, subset_trace

F = Fraction


@pytest.mark.parametrize(("k", "s", "lam"), [(4, 2, "3"), (5, 2, "3/2"), (6, 3, "7/3"), (7, 3, "5/2")])
def test_closed_forms_agree_with_the_explicit_channel(k, s, lam):
    law = AnchoredLaw.from_channel(subset_selection().at(k=k, s=s, lam=lam).channel())
    values = {K: k, S: s, LAM: F(lam)}
    assert law == orbit_law(subset_template(k, s, F(lam)))
    assert law.trace() == F(str(subset_trace().subs(values)))
    assert law.pairwise_budget() == F(str(subset_budget().subs(values)))


def test_splitting_shows_why_a_template_is_no_vertex():
    weight, first, second = split_template((F("4/3"), F(1), F("2/3")), F(2))
    assert tuple(weight * a + (1 - weight) * b for a, b in zip(first, second, strict=True)) == (F("4/3"), 1, F("2/3"))
    assert first != second
    assert all(split_template(u, F(2)) is None for u in extreme_templates(4, F(2)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: optimal_subset_sizes(1, F(2)),
        lambda: optimal_subset_sizes(3, F(1)),
        lambda: optimal_subset_sizes(3, F("1/2")),
        lambda: optimal_subset_sizes(3, math.inf),
        lambda: optimal_subset_sizes(3, math.nan),
        lambda: optimal_subset_sizes(3, 2.5),
        lambda: raw_cap_trace(3, math.inf),
        lambda: subset_template(4, 1, F(-1)),
        lambda: block_design_law([], 3, F(2)),
        lambda: subset_template(4, 4, F(2)),
        lambda: split_template((F(2), F(0)), F(2)),
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


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 9, 10])
def test_ties_in_closed_form(k):
    """Sizes s and s + 1 tie at the square root of (k-s)(k-s-1)/(s(s+1)), where that is above 1."""
    for s in range(1, k):
        square = F((k - s) * (k - s - 1), s * (s + 1))
        if square > 1:
            tie = tie_ratio(k, s)
            assert tie**2 == square if isinstance(tie, F) else tie.lower**2 <= square <= tie.upper**2


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
