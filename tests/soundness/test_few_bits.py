"""Brackets from balls of a few bits hold those of many: where an end is taken on the wrong side, they miss them."""

from dataclasses import replace
from fractions import Fraction as F
from functools import partial

import pytest

from symshuffle import CertificateError, Exp, Group, any_ldp, delta, epsilon, randomizer, renyi
from symshuffle.base.numbers import enclose
from symshuffle.base.results import Bracket
from symshuffle.channels.geometry.groups import symmetric_group
from symshuffle.design import smoothed_point_masses
from symshuffle.design.decision.certificate import check_around
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.utility import Contamination, binary_envelope, trace_frontier
from symshuffle.utility.frontiers.leakage import convex_envelope
from tests.fewbits import few_bits, just_above, just_below
from tests.soundness.test_precisions import DOORS as BALLS

BOTH = (smallest_risk, partial(smallest_risk, criterion="minimax"))

LEVEL_BITS = check_around.__kwdefaults__["bits"]
CAP, LEVEL = Exp(F(1)), Exp(F(1, 3))
KRR, RR = randomizer("krr").at(k=3, lam=3), randomizer("rr")
ROUGH = {"arithmetic": "ball", "rtol": 0.9}
POINTS = smoothed_point_masses(3, F(1, 2))
USERS = [Group(RR.at(lam=3).channel(), 2), Group(RR.at(lam=2).channel(), 2)]

BRACKETS = {
    "frontier": lambda: trace_frontier(4, F(1, 2), lam_cap=CAP).trace,
    "risk": lambda: trace_frontier(4, F(1, 2), lam_cap=CAP).risk_constant("fixed"),
    "envelope": lambda: binary_envelope(Contamination(3), lam=CAP, gamma=LEVEL).bracket,
    "envelope in reverse": lambda: binary_envelope(Contamination(3, "reverse"), lam=CAP, gamma=LEVEL).bracket,
    "envelope of many": lambda: binary_envelope(Contamination(200), lam=F(3), gamma=Exp(F(1, 10))).bracket,
    "envelope of kl": lambda: convex_envelope(3, lam=CAP, function="kl").bracket,
    "envelope of chi-square": lambda: convex_envelope(3, lam=CAP, function="chi-square").bracket,
    "the same in reverse": lambda: convex_envelope(3, lam=CAP, function="chi-square", direction="reverse").bracket,
    "bayes": lambda: smallest_risk(POINTS, CAP, rtol=0.9).bracket,
    "minimax": lambda: smallest_risk(POINTS, CAP, rtol=0.9, criterion="minimax").bracket,
    "orbits": lambda: smallest_risk(POINTS, CAP, group=symmetric_group(3), rtol=0.9).bracket,
    "delta": lambda: delta(KRR, n=3, exp_eps=LEVEL, **ROUGH).bracket,
    "delta of a group": lambda: delta(KRR, n=4, exp_eps=Exp(F(1, 2)), group_size=2, **ROUGH).bracket,
    "delta with dropout": lambda: delta(KRR, n=4, exp_eps=LEVEL, dropout="1/4", **ROUGH).bracket,
    "delta at a local level": lambda: delta(randomizer("krr").at(k=3, lam=CAP), n=3, exp_eps=LEVEL, **ROUGH).bracket,
    "delta of any mechanism": lambda: delta(any_ldp(eps0=1), n=3, exp_eps=LEVEL, **ROUGH).bracket,
    "delta of two reports": lambda: delta(KRR, n=2, reports=2, exp_eps=LEVEL, arithmetic="ball").bracket,
    "epsilon of two reports": lambda: epsilon(KRR, n=2, reports=2, delta=F(1, 5), arithmetic="ball").bracket,
    "delta of unequal users": lambda: delta(USERS, exp_eps=LEVEL, arithmetic="ball").bracket,
    "renyi": lambda: renyi(KRR, n=3, order=2).bracket,
    "renyi of order 3/2": lambda: renyi(KRR, n=3, order=F(3, 2)).bracket,
    **{f"ball: {name}": (lambda door=door: door(64)) for name, door in BALLS.items() if name != "bmg_optimal"},
}
FINEST = {"delta of unequal users", "ball: best_density", "ball: decay_exponent"}
"""Where 8 bits decide nothing."""


@pytest.mark.parametrize("name", BRACKETS)
def test_few_bits_give_wider_brackets_of_the_same_number(name):
    found = BRACKETS[name]()
    for bits in (24,) if name in FINEST else (8, 24):
        with few_bits(bits):
            wide = BRACKETS[name]()
        assert wide.lower <= found.lower
        assert found.upper <= wide.upper


WIDE = Bracket(F(-(10**9)), F(10**9), "ball", "forged", "")


@pytest.mark.parametrize("solve", BOTH)
def test_certificates_stand_around_the_level(solve):
    """A bound from above the level and a channel from below it; on the other side, however near, nothing follows."""
    design = solve(POINTS, CAP)
    above, below = (design.certificates[0], design.certificates[1])
    for levels in ((just_below(CAP, LEVEL_BITS), None), (None, just_above(CAP, LEVEL_BITS))):
        ends = [
            old if level is None else solve(POINTS, level) for level, old in zip(levels, (above, below), strict=True)
        ]
        made = tuple(end if end in (above, below) else end.certificates[0] for end in ends)
        weights = ends[1].weights if levels[1] else design.weights
        with pytest.raises(CertificateError) as caught:
            replace(design, certificates=made, weights=weights, value=WIDE).verify()
        assert caught.value.place == "certificates"
    replace(design, value=WIDE).verify()


def test_designs_stand_around_the_level():
    found = smallest_risk(POINTS, CAP, group=symmetric_group(3))
    for place, level in enumerate((just_below(CAP, LEVEL_BITS), just_above(CAP, LEVEL_BITS))):
        designs = list(found.certificates)
        designs[place] = smallest_risk(POINTS, level, group=symmetric_group(3)).certificates[0]
        with pytest.raises(CertificateError) as caught:
            replace(found, certificates=tuple(designs), value=WIDE).verify()
        assert caught.value.place == "certificates"
    ball = enclose(CAP, LEVEL_BITS)
    ends = tuple(smallest_risk(POINTS, level, group=symmetric_group(3)) for level in (ball.upper, ball.lower))
    proved = Bracket(ends[0].value.lower, ends[1].value.upper, "ball", "orbit lp", "")
    proofs = tuple(end.certificates[0] for end in ends)
    replace(found, certificates=proofs, weights=ends[-1].weights, value=proved).verify()
    for value in (replace(proved, lower=ends[1].value.lower), replace(proved, upper=ends[0].value.upper)):
        with pytest.raises(CertificateError):
            replace(found, certificates=proofs, weights=ends[-1].weights, value=value).verify()
