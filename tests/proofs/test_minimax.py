import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_checks import _simplex as simplex
from proofs_checks._minimax import estimator_risk, grid, minimax_risk, worst_risk
from proofs_checks._simplex import dirichlet_bayes_risk, dirichlet_mean, histogram_forms, largest_value
from symshuffle import Bracket, CertificateError, Channel
from symshuffle.base.choices import Population, members
from symshuffle.channels.shuffled import histogram_law
from symshuffle.mechanisms import krr
from symshuffle.utility import bayes_risk

F = Fraction
BINARY = krr().at(k=2, lam=4).channel()
TERNARY = krr().at(k=3, lam=4).channel()
IDENTITY = Channel.from_rows([["1", "0"], ["0", "1"]])


def value_at(form, point):
    return sum(c * math.prod(x**e for x, e in zip(point, exponent, strict=True)) for exponent, c in form.items())


def test_forms_are_the_histogram_law():
    w = (F("1/2"), F("1/3"), F("1/6"))
    mixture = tuple(sum(a * row[y] for a, row in zip(w, TERNARY.rows, strict=True)) for y in range(3))
    law = histogram_law([mixture] * 3)
    forms = histogram_forms(TERNARY, 3)
    assert {h: value_at(form, w) for h, form in forms.items()} == law


def test_dirichlet_means():
    assert dirichlet_mean({(2, 1): F(1)}, [F(1), F(1)]) == F("1/12")  # int x^2 (1-x)
    assert dirichlet_mean({(1, 0): F(1)}, [F("1/2"), F("3/2")]) == F("1/4")


@pytest.mark.parametrize("n", [1, 2, 5])
def test_bayes_risk_of_the_uniform_prior_without_noise(n):
    assert dirichlet_bayes_risk(IDENTITY, [F(1)] * 2, n=n) == 2 * F(1, 6 * (n + 2))


def test_dirichlet_risk_agrees_with_a_fine_finite_prior():
    steps = 60
    prior = [((F(2 * j + 1, 2 * steps), 1 - F(2 * j + 1, 2 * steps)), F(1, steps)) for j in range(steps)]
    fine, exact = bayes_risk(BINARY, prior, n=3), dirichlet_bayes_risk(BINARY, [F(1)] * 2, n=3)
    assert abs(fine - exact) < F(1, 1000)


def test_the_largest_value_is_found_between_all_grid_points():
    # -(x - c y)^2 (x + y)^2 peaks on the line x = c y, far from corners and binary fractions
    c = F(7, 13)
    square = simplex.multiply(simplex.linear([F(1), -c]), simplex.linear([F(1), -c]))
    whole = simplex.multiply(simplex.linear([F(1), F(1)]), simplex.linear([F(1), F(1)]))
    form = {e: -v for e, v in simplex.multiply(square, whole).items()}
    bracket, point = largest_value(form, gap=F(1, 10**6))
    assert bracket.lower <= 0 <= bracket.upper
    assert bracket.width <= F(1, 10**6)
    assert value_at(form, point) == bracket.lower


def test_the_upper_end_dominates_random_points():
    rng = np.random.default_rng(3)
    form = {e: F(int(rng.integers(-9, 10))) for e in simplex.exponents(5, 3)}
    bracket, _ = largest_value(form, gap=F(1, 100))
    for draw in rng.integers(1, 40, size=(200, 3)):
        w = [F(int(v), int(draw.sum())) for v in draw]
        assert value_at(form, w) <= bracket.upper


@pytest.mark.parametrize("population", list(members(Population)))
@pytest.mark.parametrize(("channel", "n"), [(BINARY, 1), (BINARY, 3), (TERNARY, 2)])
def test_both_ends_meet(channel, n, population):
    found = minimax_risk(channel, n=n, population=population)
    found.verify()
    assert found.bracket.lower <= found.bracket.upper
    assert found.bracket.relative_width < F(1, 1000)
    for w in grid(channel.num_inputs, n):
        risk = estimator_risk(channel, dict(found.estimator), w, n=n, population=population)
        assert risk <= found.bracket.upper


def test_both_ends_are_those_of_the_best_round():
    """The first estimator is 4e-4 worse than a later one, found once the worst composition has joined the program."""
    channel = Channel.from_rows([["9/10", "1/10"], ["1/3", "2/3"]])
    found = minimax_risk(channel, n=2, rtol=1e-4, population="iid").bracket
    assert found.width <= F(1, 10**4) * found.upper


def test_one_user_knows_only_the_vertices():
    # two vertices, each seen right with probability 4/5: posterior variance 4/25 per coordinate
    found = minimax_risk(BINARY, n=1, population="fixed")
    assert abs(found.bracket.midpoint - F("8/25")) < F(1, 10**7)


def test_false_certificates_are_refused():
    found = minimax_risk(BINARY, n=2, population="iid")
    with pytest.raises(CertificateError, match="prior"):
        replace(found, prior=(((F("1/2"), F("1/2")), F(1)),)).verify()
    wrong = tuple((h, (F(1), F(0))) for h, _ in found.estimator)
    with pytest.raises(CertificateError, match="estimator"):
        replace(found, estimator=wrong).verify()
    higher = Bracket(found.bracket.lower * F("101/100"), found.bracket.upper * 2, "exact", "minimax", "raised")
    with pytest.raises(CertificateError, match="prior"):
        replace(found, bracket=higher).verify()
    lower = Bracket(found.bracket.lower / 2, found.bracket.upper * F("99/100"), "exact", "minimax", "lowered")
    with pytest.raises(CertificateError, match="estimator"):
        replace(found, bracket=lower).verify()


def test_the_worst_case_of_a_constant_estimate_is_a_vertex():
    flat = {h: (F("1/3"),) * 3 for h in histogram_forms(TERNARY, 2)}
    bracket = worst_risk(TERNARY, flat, n=2, population="iid", gap=F(1, 100))
    assert bracket.lower == F("2/3")
