"""Estimates and intervals of runs with seeds, against exact laws; messages as files and iterables have them."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import binom

from symshuffle.base.errors import InputError
from symshuffle.collect import Client, Support
from symshuffle.collect.scheme import uniform
from tests.collect.cases import PARAMETERS, small
from tests.collect.test_coverage import count_law, coverage
from tests.slices import some

SEEDS = 200
HELD = (30, 20, 10, 0)


@pytest.mark.parametrize("name", some(PARAMETERS, 3))
def test_over_seeds_intervals_cover_and_losses_are_those_expected(name):
    """200 populations of 60 users: the number that are covered, and the mean loss, in their exact regions."""
    plan, n = small(name, n=60), sum(HELD)
    values = [j for j, m in enumerate(HELD) for _ in range(m)]
    covered, losses = [0] * 4, [0.0] * 4
    for seed in range(SEEDS):
        client = Client(plan.scheme, plan.places, uniform(np.random.default_rng(seed).bytes))
        found = plan.estimate(client.messages(values), confidence="0.8")
        for j, row in enumerate(found.rows):
            covered[j] += row.low <= HELD[j] <= row.high
            losses[j] += float(row.estimate - HELD[j]) ** 2 / SEEDS
    p, q = plan.scheme.p, plan.scheme.q
    ends = [Support(n, p, q).interval(c, F(1, 5)) for c in range(n + 1)]
    for j, m in enumerate(HELD):
        law = count_law(n, m, p, q)
        share = float(coverage(law, ends, m))
        assert share >= 0.8
        assert binom.ppf(1e-6, SEEDS, share) <= covered[j] <= binom.isf(1e-6, SEEDS, share)
        errors = [((c - n * q) / (p - q) - m) ** 2 for c in range(n + 1)]
        mean = sum(map(F.__mul__, law, errors))
        spread = float(sum(w * e * e for w, e in zip(law, errors, strict=True)) - mean**2)
        assert mean == (m * p * (1 - p) + (n - m) * q * (1 - q)) / (p - q) ** 2
        assert abs(losses[j] - float(mean)) <= 4 * math.sqrt(spread / SEEDS)


@pytest.mark.parametrize("name", PARAMETERS)
def test_supports_of_messages_are_counted(name):
    """Against the definition of each mechanism, through text."""
    from tests.collect.cases import supported

    plan = small(name, n=300)
    messages = list(plan.client().messages([i % 3 for i in range(300)]))
    found = plan.estimate(messages)
    for j, row in enumerate(found.rows):
        assert row.supports == sum(j in supported(plan, message) for message in messages)
        assert row.estimate == (row.supports - 300 * plan.scheme.q) / (plan.scheme.p - plan.scheme.q)


def test_the_columns_of_a_histogram():
    plan = small("krr", 3, n=100)
    found = plan.estimate(["0"] * 70 + ["1"] * 29 + ["2"], confidence="0.9")
    p, q = plan.scheme.p, plan.scheme.q
    law = Support(100, p, q)
    for row in found.rows:
        assert (row.low, row.high) == law.interval(row.supports, F(1, 10))
        assert (row.band_low, row.band_high) == law.interval(row.supports, F(1, 30))
        variances = [(m * p * (1 - p) + (100 - m) * q * (1 - q)) / (p - q) ** 2 for m in range(row.low, row.high + 1)]
        assert row.largest_error == pytest.approx(math.sqrt(max(variances)), rel=1e-14)
        assert F(row.largest_error) ** 2 >= max(variances)
    assert sum(row.projected for row in found.rows) == 100 and min(row.projected for row in found.rows) == 0
    assert min(row.estimate for row in found.rows) < 0
    assert "intervals do not cover the column projected" in found.about and "not covered: users who" in found.about


@pytest.mark.parametrize(
    "name, message, told",
    [
        ("krr", "4", "an integer from 0 to 3"),
        ("krr", "-1", "an integer from 0 to 3"),
        ("krr", "1.0", "an integer from 0 to 3"),
        ("krr", "1 2", "an integer from 0 to 3"),
        ("krr", "", "an integer from 0 to 3"),
        ("krr", "9" * 30, "an integer from 0 to 3"),
        ("subset-selection", "2 1", "2 integers"),
        ("subset-selection", "1 1", "2 integers"),
        ("subset-selection", "0 1 2", "2 integers"),
        ("rappor", "0112", "4 digits 0 or 1"),
        ("oue", "011", "4 digits 0 or 1"),
        ("oue", "01111", "4 digits 0 or 1"),
        ("olh", "8 3", "2 integers"),
        ("hadamard", "8", "an integer from 0 to 7"),
    ],
)
def test_a_message_outside_the_alphabet_is_refused(name, message, told):
    plan = small(name)
    good = list(plan.client().messages([0, 1]))
    with pytest.raises(InputError, match=rf"messages\[2\] = .*: expected {told}"):
        plan.estimate([*good, message, *good])


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, "nan", "0.5x", 1 - F(1, 10**95)])
def test_confidence_is_inside_the_unit_interval(confidence):
    with pytest.raises(InputError, match="confidence = "):
        small("krr").estimate(["0"], confidence=confidence)


def test_fewer_messages_than_certified_are_refused():
    plan = small("krr", min_batch_size=3)
    assert plan.estimate(["0"] * 3).n == 3
    for few in (["0"] * 2, []):
        with pytest.raises(InputError, match=f"messages = {len(few)} messages?: expected at least 3"):
            plan.estimate(few)


def test_a_client_says_who_must_shuffle():
    client = small("krr").client()
    assert "not shuffled" in client.about and "uniformly random order" in client.about
    with pytest.raises(InputError, match="value = 7: expected one of the 4 categories"):
        client(7)
