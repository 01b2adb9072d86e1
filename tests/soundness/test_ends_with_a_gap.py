"""Ends that optimal certificates do not tell apart: of certificates that leave a gap each proves its own end alone."""

from dataclasses import replace
from fractions import Fraction as F
from functools import partial

import pytest

from symshuffle import CertificateError, Exp
from symshuffle.base.choices import Criterion, members
from symshuffle.base.results import Bracket
from symshuffle.channels.geometry.groups import symmetric_group
from symshuffle.design import smoothed_point_masses
from symshuffle.design.decision import tradeoff
from symshuffle.design.decision.certificate import levels_around
from symshuffle.design.decision.tradeoff import smallest_risk
from tests.fewbits import just_above, just_below
from tests.soundness.false_designs import ORDERED

BOTH = (smallest_risk, partial(smallest_risk, criterion="minimax"))

POINTS = smoothed_point_masses(3, F(1, 2))
GAP = F(1, 100)


def low_bound(certificate):
    """The same certificate with a bound that is lower than it has to be."""
    return replace(certificate, bound=tuple(end - GAP for end in certificate.bound))


def constant_channel(certificate):
    """The same certificate with the channel that tells nothing, and the weights of it."""
    others = ((F(0),) * ORDERED.num_inputs,) * (ORDERED.num_actions - 1)
    return replace(certificate, rows=((F(1),) * ORDERED.num_inputs, *others)), ((0, 0, F(1)),)


def refused(answer, place="value"):
    with pytest.raises(CertificateError) as caught:
        answer.verify()
    assert caught.value.place == place


@pytest.mark.parametrize("level", [F(3), Exp(F(1))], ids=str)
@pytest.mark.parametrize("solve", BOTH)
def test_a_design_proves_what_its_certificates_do(solve, level):
    best = solve(ORDERED, level)
    first, *rest = best.certificates
    low = low_bound(first).prove(ORDERED).lower
    assert low < best.value.lower
    loose = replace(best, certificates=(low_bound(first), *rest))
    refused(loose)
    replace(loose, value=replace(best.value, lower=low)).verify()
    last, weights = constant_channel(best.certificates[-1])
    high = last.prove(ORDERED).upper
    assert high > best.value.upper
    loose = replace(best, certificates=(*best.certificates[:-1], last), weights=weights)
    refused(loose)
    replace(loose, value=replace(best.value, upper=high)).verify()


def with_a_gap(*arguments, solved=tradeoff._over_orbits):
    """An invariant design whose bound is lower than it has to be."""
    best = solved(*arguments)
    (proof,) = best.certificates
    value = Bracket(best.value.lower - len(proof.bound) * GAP, best.value.upper, "exact", "orbit lp", "")
    made = replace(best, certificates=(replace(proof, bound=tuple(end - GAP for end in proof.bound)),), value=value)
    made.verify()
    return made


@pytest.mark.parametrize("criterion", members(Criterion))
def test_invariant_designs_prove_their_own_ends(monkeypatch, criterion):
    group, level = symmetric_group(3), Exp(F(1))
    best = smallest_risk(POINTS, level, group=group, criterion=criterion)
    monkeypatch.setattr(tradeoff, "_over_orbits", with_a_gap)
    found = smallest_risk(POINTS, level, group=group, criterion=criterion)
    found.verify()
    assert found.value.lower < best.value.lower
    assert found.value.upper >= best.value.lower + F(1, 10**40)
    refused(replace(found, value=replace(found.value, lower=best.value.lower)))
    refused(replace(found, value=replace(found.value, upper=found.certificates[-1].prove(POINTS).lower)))


@pytest.mark.parametrize("solve", BOTH)
def test_weak_duality_around_a_level(monkeypatch, solve):
    level = Exp(F(1))
    best = solve(ORDERED, level)
    monkeypatch.setitem(tradeoff._at_rational.__kwdefaults__, "exact_rows", 1)
    found = solve(ORDERED, level, method="compact")
    found.verify()
    assert any(one.prove(ORDERED).lower < one.prove(ORDERED).upper for one in found.certificates)
    assert found.value.lower <= best.value.lower
    assert best.value.upper <= found.value.upper + F(1, 2**90)


@pytest.mark.parametrize("exponent", [F(1), F(1, 10**20), F(1, 10**32), F(1, 10**700)], ids=lambda x: f"{float(x):g}")
def test_the_levels_around_are_on_both_sides_of_a_level_next_to_1(exponent):
    """Beside 1 a ball tells nothing: the level below is between 1 and the true one."""
    level = Exp(exponent)
    for bits in (6, 100):
        above, below = levels_around(level, bits)
        assert 1 < below <= just_below(level, 20_000) < just_above(level, 20_000) <= above
    for solve in BOTH:
        found = solve(POINTS, level)
        found.verify()
        assert found.value.upper >= solve(POINTS, 1 + exponent + exponent**2).value.lower  # a larger level
    smallest_risk(POINTS, level, group=symmetric_group(3)).verify()
