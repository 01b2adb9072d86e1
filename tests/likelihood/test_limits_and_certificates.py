"""Certificates, limits with errors, families and worst curves: bounds that hold, and checks that can fail."""

import dataclasses
import html
import itertools
import json
from fractions import Fraction as F

import numpy as np
import pytest
import sympy as sp

from proofs_checks.alphabets import _cases as cases
from symshuffle import CertificateError, Exp, InputError, Rigour, Unsupported, mechanism
from symshuffle.likelihood import families
from symshuffle.likelihood.certificates import (
    canonical_certificate,
    chi_square_certificate,
    lower_certificate,
    square_root,
)
from symshuffle.likelihood.extremes import (
    bhatia_davis_bound,
    endpoint_ratio,
    gaussian_scale,
    identifiable_obstruction,
    largest_chi_square,
    matrix_rank,
)
from symshuffle.likelihood.families import ChannelFamily
from symshuffle.likelihood.law import LikelihoodRatio
from symshuffle.likelihood.normal import (
    average_atoms,
    berry_esseen_bound,
    gaussian_profile,
    kolmogorov_distance,
    lower_profile,
    normal_profile,
)
from symshuffle.likelihood.poisson import CompoundPoisson, poisson_profile
from symshuffle.likelihood.worst import Majorant, worst_curve
from symshuffle.mechanisms.finite import K
from symshuffle.numbers import lower_end, upper_end

THREE = endpoint_ratio(F(3))
WAYS = ("forward", "reverse")


def test_forms_of_the_certificate_get_sharper_and_hold():
    rng = np.random.default_rng(5)
    for lam, ratio in cases.ratios(rng, 12):
        for n, order, way in itertools.product((1, 4), (F(11, 10), F(2)), WAYS):
            curve = ratio.profile(n, exp_eps=order, direction=way, rigour=Rigour.EXACT).exact
            found = [
                upper_end(chi_square_certificate(ratio.chi_square, n, exp_eps=order, direction=way, form=form, lam=lam))
                for form in ("elementary", "quarter", "two-moment", "range")
            ]
            assert found == sorted(found, reverse=True)
            assert curve <= found[-1]
            assert lower_end(lower_certificate(ratio.chi_square, n, lam=lam, exp_eps=order, direction=way)) <= curve
            assert curve <= upper_end(canonical_certificate(ratio.chi_square, n, exp_eps=order))


def test_the_lower_certificate_is_attained():
    exact = THREE.profile(1, exp_eps="6/5", direction="forward", rigour=Rigour.EXACT).exact
    assert lower_certificate(F(4, 3), 1, lam=F(3), exp_eps="6/5", direction="forward") == exact


@pytest.mark.parametrize("chi", [F(-1), F(3, 2)])
def test_a_budget_outside_the_range_says_what_the_range_is(chi):
    with pytest.raises(InputError, match=r"4/3"):
        worst_curve(chi, 3, lam=3, exp_eps=2)
    with pytest.raises(InputError, match=r"4/3"):
        lower_certificate(chi, 3, lam=F(3), exp_eps=2, direction="forward")


def test_elementary_forms_need_a_positive_level():
    with pytest.raises(InputError, match="two-moment takes 0"):
        chi_square_certificate(F(1), 3, eps=0, direction="forward", form="quarter")
    assert chi_square_certificate(F(1), 4, eps=0, direction="forward") == F(1, 4)


@pytest.mark.parametrize(
    ("chi", "n", "order"), [*itertools.product(("4/3", "1", "1/10"), (1, 7, 400), ("1", "6/5", "2"))]
)
@pytest.mark.parametrize("way", WAYS)
def test_the_worst_curve_meets_the_closed_form(chi, n, order, way):
    found = worst_curve(chi, n, lam=3, exp_eps=order, direction=way)
    found.verify()
    formula = chi_square_certificate(F(chi), n, exp_eps=order, direction=way, form="range", lam=F(3))
    assert found.bracket.lower <= upper_end(formula)
    assert lower_end(formula) <= found.bracket.upper
    assert found.attained.lower <= found.bracket.upper
    assert found.bracket.width <= found.bracket.upper / 10**4


def test_false_worst_curves_are_rejected():
    found = worst_curve(1, 5, lam=3, exp_eps="6/5")
    sunk = dataclasses.replace(found.majorant, alpha=found.majorant.alpha - F(1, 10**6))
    lowered = dataclasses.replace(found.bracket, upper=found.bracket.upper - F(1, 10**9))
    raised = dataclasses.replace(found.bracket, lower=found.bracket.lower + F(1, 10**9))
    heavy = ((found.law[0][0], found.law[0][1] + F(1, 10**9)), *found.law[1:])
    outside = ((F(-2), F(0)), *found.law)
    for change, place in (
        ({"majorant": sunk}, "majorant"),
        ({"bracket": lowered}, "value"),
        ({"bracket": raised}, "value"),
        ({"law": heavy}, "law"),
        ({"law": outside}, "law"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            dataclasses.replace(found, **change).verify()


def test_a_majorant_is_checked_between_grid_points():
    dips = Majorant(F(0), F(0), F(1))  # u^2 against (u - 1/5)_+: touches nothing, then dips below at 1/2 for kink 1/5
    assert dips.margin(F(1, 5), F(1), F(1)) == F(0) + min(F(0), F(1, 4) - F(3, 10))


def test_average_atoms_are_the_enumeration():
    ratio = LikelihoodRatio.of_mechanism(mechanism("krr").at(k=4, lam=2))
    total = {F(0): F(1)}
    for _ in range(4):
        grown = {}
        for (s, m), (v, w) in itertools.product(total.items(), ratio.atoms()):
            grown[s + v] = grown.get(s + v, F(0)) + m * w
        total = grown
    assert dict(average_atoms(ratio, 4)) == {s / 4: m for s, m in total.items()}
    assert sum(m for _, m in average_atoms(ratio, 4, under="Q")) == 1


def test_catalogued_distances():
    for n, value in ((10, 0.168092476611034), (100, 0.0534708238482482), (1000, 0.0169865459091714)):
        found = kolmogorov_distance(THREE, n)
        assert abs(float(found) - value) < 1e-14
        assert found.upper <= berry_esseen_bound(THREE, n).lower
    with pytest.raises(Unsupported, match="places"):
        kolmogorov_distance(THREE, 10**6)
    with pytest.raises(InputError, match="point mass"):
        kolmogorov_distance(THREE.dilute(F(0)), 5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [1, 10, 300, 10**5])
def test_the_normal_profile_holds_the_curve(n, way):
    for eps in ("0", "1/200", "1/20"):
        near = normal_profile(THREE, n, direction=way, eps=eps)
        curve = THREE.profile(n, eps=eps, direction=way)
        assert near.bracket.lower <= curve.upper and curve.lower <= near.bracket.upper
        assert lower_profile(THREE, n, direction=way, eps=eps) <= curve.upper
        assert float(near.error) <= float(Exp(F(eps)).exponent + 1.1) / n


@pytest.mark.parametrize(("lam", "n"), [(3, 1), (3, 20), (20, 4), (20, 1000)])
def test_what_lies_between_the_normal_limit_and_the_gaussian_curve(lam, n):
    """The two approximations are no farther apart than the second error exceeds the first."""
    for way, eps in itertools.product(WAYS, ("0", "1/10", "1")):
        near = normal_profile(endpoint_ratio(F(lam)), n, direction=way, eps=eps)
        apart = max(near.limit.lower - near.gaussian.upper, near.gaussian.lower - near.limit.upper, F(0))
        assert apart <= near.gaussian_error.upper - near.error.lower
        assert eps != "0" or apart > 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("k", [2, 10, 1000])
def test_the_poisson_profile_holds_the_curve(k, way):
    ratio = LikelihoodRatio.of_mechanism(mechanism("krr").at(k=k, lam=3))
    near = poisson_profile(ratio, k, direction=way, exp_eps=1 + F(1, k))
    curve = ratio.profile(k, exp_eps=1 + F(1, k), direction=way)
    assert near.bracket.lower <= curve.upper and curve.lower <= near.bracket.upper


def test_what_the_poisson_sum_leaves_out_is_in_the_ball():
    """A coarse sum has to contain a fine one: that is what the tail bound is for."""
    jumps = CompoundPoisson((F(2), F(-2, 3)), (F(5), F(15)))
    coarse, fine = jumps.hinge(F(1), bits=12), jumps.hinge(F(1), bits=200)
    assert coarse.lower <= fine.lower and fine.upper <= coarse.upper
    assert fine.upper - fine.lower < F(1, 10**30)
    with pytest.raises(Unsupported, match="normal_profile"):
        CompoundPoisson((F(2), F(-2, 3)), (F(10**6), F(10**6))).hinge(F(0))


def test_gaussian_profile_at_zero_is_its_total_variation():
    found = gaussian_profile(F(1), eps=0)
    assert abs(float(found) - 0.3829249225480262) < 1e-15
    with pytest.raises(InputError, match="mu"):
        gaussian_profile(F(0), eps=0)


def test_families_and_their_limits():
    assert families.GRR.kind == "diluting"
    assert families.HALF_BLOCK.kind == families.HALF_SUBSETS.kind == "persistent"
    assert families.HALF_BLOCK.at(lam=3).diluted(1 / K).kind == "diluting"
    assert families.GRR.at(lam=3).size(10**9).chi_square == F(16, 3 * (10**9 + 2))
    with pytest.raises(InputError, match="even"):
        families.HALF_BLOCK.at(lam=3).size(7)
    with pytest.raises(InputError, match="eta"):
        families.HALF_BLOCK.at(lam=3).diluted(K).size(4)
    with pytest.raises(Unsupported, match="no common ratio cap"):
        ChannelFamily("growing", ((K, 1 / (K + 1)), (1 / K, K / (K + 1))))
    with pytest.raises(AttributeError):
        families.NOTHING


@pytest.mark.parametrize("k", [2, 4, 10, 20])
def test_an_obstruction_of_full_rank(k):
    channel = identifiable_obstruction(k, F(5, 2))
    assert matrix_rank(channel) == k
    assert channel.ratio_cap() == F(5, 2)
    assert LikelihoodRatio.of(channel, 0, 1) == endpoint_ratio(F(5, 2))


def test_extremes_refuse_what_is_out_of_range():
    with pytest.raises(InputError, match="mean"):
        bhatia_davis_bound(F(2), F(0), F(1))
    with pytest.raises(InputError, match="lam"):
        largest_chi_square(F(1, 2))
    with pytest.raises(InputError, match="lam"):
        identifiable_obstruction(4, F(1))
    with pytest.raises(InputError, match="chi_square"):
        gaussian_scale(F(-1), 3)
    assert square_root(F(9, 4)) == F(3, 2)


def test_answers_say_what_they_are_about():
    ratio = LikelihoodRatio.of_mechanism(mechanism("krr").at(k=10, lam=3))
    for answer in (
        worst_curve(1, 5, lam=3, exp_eps="6/5"),
        normal_profile(THREE, 50, direction="reverse", eps="1/10"),
        poisson_profile(ratio, 10, direction="forward", eps="1/10"),
    ):
        assert F(float(answer)) >= answer.bracket.upper
        assert "canonical pair" in answer.about and answer.about in repr(answer)
        assert html.escape(answer.about) in answer._repr_html_()
        assert json.loads(json.dumps(answer.to_dict()))["how"] == answer.how


@pytest.mark.parametrize("eta", [sp.sqrt(K), K / 10], ids=str)
def test_a_dilution_that_leaves_its_range_is_named(eta):
    """In balls as well as over Q."""
    with pytest.raises(InputError, match=r"^eta = a negative mass .* expected a dilution weight in \[0, 1\]"):
        families.HALF_BLOCK.at(lam=3).diluted(eta).size(20, bits=64)
