"""The hash family: pairwise uniform, and accounted for as it is, with inputs left out where k is no power of g."""

import itertools
from collections import Counter
from fractions import Fraction as F

import pytest

from symshuffle import Channel, delta, randomizer
from symshuffle.accountants.deployment.model import UNSAID
from symshuffle.collect import SurveyPlan

CASES = [
    ("blh", {}, 3),
    ("blh", {}, 4),
    ("blh", {}, 5),
    ("olh", {"g": 3}, 4),
    ("olh", {"g": 3}, 3),
    ("olh", {"g": 5}, 4),
]


def plan_of(name, parameters, k):
    return SurveyPlan(name, k, F(4), parameters, UNSAID.with_(n=20, min_batch_size=1), F(1), F(1, 100))


@pytest.mark.parametrize(("name", "parameters", "k"), CASES)
def test_values_of_two_categories_are_pairwise_uniform(name, parameters, k):
    """Over a and b: the family of the page, written down again."""
    made = plan_of(name, parameters, k).scheme
    g, m = made.g, made.length
    vectors = [[j // g**i % g for i in range(m)] for j in range(k)]
    for x, y in itertools.combinations(vectors, 2):
        pairs = Counter()
        for *a, b in itertools.product(range(g), repeat=m + 1):
            pairs[tuple((sum(map(int.__mul__, a, v)) + b) % g for v in (x, y))] += 1
        assert pairs == dict.fromkeys(itertools.product(range(g), repeat=2), g ** (m - 1))


@pytest.mark.parametrize(("name", "parameters", "k"), CASES)
def test_the_bound_is_that_of_the_categories_in_use(name, parameters, k):
    """Inputs that stand for no category change nothing: no hyperplane contains all of the first k vectors but a = 0."""
    whole = plan_of(name, parameters, k).scheme.mechanism()
    used = Channel(whole.channel().rows[:k])
    for n in (2, 3, 20):
        one, other = delta(whole, n=n, exp_eps=2, arithmetic="ball"), delta(used, n=n, exp_eps=2)
        assert float(one.bracket.upper) == pytest.approx(float(other.bracket.upper), rel=1e-6)


def test_random_functions_have_another_bound():
    """The bound of independent hash values, at the same parameters, is a different number."""
    whole = plan_of("blh", {}, 4).scheme.mechanism()
    bounds = [delta(one, n=20, exp_eps=2).bracket for one in (whole, randomizer("blh").at(D=4, lam=4))]
    assert bounds[0].upper < bounds[1].lower * F(99, 100)


@pytest.mark.parametrize("g", [1, 4, 9, 10**6 + 3])
def test_other_fields_are_refused(g):
    with pytest.raises(ValueError, match=f"g = {g}: expected"):
        plan_of("olh", {"g": g}, 1000)
