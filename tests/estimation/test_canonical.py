import math
from fractions import Fraction
from types import SimpleNamespace

import pytest

from proofs_checks._estimation import fisher_information
from symshuffle import Ball, Channel, InputError
from symshuffle.base.choices import Population, members
from symshuffle.mechanisms import krr
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.estimation.canonical import (
    canonical_risk,
    enumerated_risk,
    estimated_composition,
    isotropic_risk,
    output_votes,
    project_on_simplex,
    template_votes,
    worst_canonical_risk,
    worst_risk,
)

F = Fraction
EXAMPLE = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])
LAW = AnchoredLaw.from_channel(EXAMPLE)


def vertex(i, k=3):
    return [F(int(i == j)) for j in range(k)]


def test_the_estimate_recovers_the_composition_from_exact_frequencies():
    counts = [61, 62, 57]  # proportional to the row average
    assert estimated_composition(output_votes(EXAMPLE), counts) == (F("1/3"),) * 3


def test_null_outputs_do_not_vote():
    padded = Channel(tuple((*row, F(0)) for row in EXAMPLE.rows))
    assert output_votes(padded, LAW)[-1] == (0, 0, 0)


def test_singular_covariance_means_infinite_risk():
    merged = AnchoredLaw.from_channel(EXAMPLE.merge([[0, 1], [2]]))
    assert canonical_risk(merged, [F("1/3")] * 3, n=3, population="fixed") == math.inf
    assert worst_canonical_risk(merged, n=3, population="iid")[0] == math.inf
    with pytest.raises(InputError, match="singular"):
        template_votes(merged, merged.templates)


def test_fisher_information_at_uniform_is_the_covariance():
    assert fisher_information(LAW, [F("1/3")] * 3) == LAW.covariance()
    zero = AnchoredLaw.from_channel(Channel.from_rows([["1/2", "1/2"], ["1", "0"]]))
    with pytest.raises(InputError, match="every output"):
        fisher_information(zero, [F(0), F(1)])


def test_isotropic_risk_is_the_risk_of_exchangeable_laws():
    law = AnchoredLaw.from_channel(krr().at(k=4, lam=3).channel())
    for population in members(Population):
        assert (
            isotropic_risk(4, law.trace(), population=population)
            == worst_canonical_risk(law, n=1, population=population)[0]
        )
    assert isotropic_risk(4, F(0), population="iid") == math.inf


def test_projection_on_the_simplex():
    assert project_on_simplex([F(2), F(0)]) == (1, 0)
    assert project_on_simplex([F("3/4"), F("3/4"), F(-5)]) == (F("1/2"), F("1/2"), 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: canonical_risk(LAW, [F("1/2"), F("1/4"), F("1/4")], n=3, population="fixed"),
        lambda: canonical_risk(LAW, [F("1/2"), F("1/2")], n=3, population="iid"),
        lambda: estimated_composition(output_votes(EXAMPLE), [0, 0, 0]),
        lambda: enumerated_risk(EXAMPLE, [F("1/3")] * 3, n=4, population="fixed"),
        lambda: isotropic_risk(3, F(-1), population="iid"),
        lambda: isotropic_risk(3, F(7), population="fixed"),
    ],
)
def test_out_of_range(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize("population", ["iid", "fixed"])
def test_a_worst_risk_has_the_risks_at_both_ends_of_the_sizes_of_votes(population):
    ends = (F(1, 2), F(1), F(2)), (F(3, 4), F(3, 2), F(3))
    low, high, found = (
        worst_risk(SimpleNamespace(vote_sizes=lambda sizes=sizes: sizes), n=5, population=population)[0]
        for sizes in (*ends, tuple(map(Ball, *ends)))
    )
    assert found.lower <= low.lower < high.upper <= found.upper
