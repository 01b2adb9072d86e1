"""Every door that takes a relative width: one outside of (0, 1) is refused, and whether it is met is said."""

from fractions import Fraction as F

import pytest

import symshuffle as ss
from symshuffle import InputError
from symshuffle.accountants.literature import baselines
from symshuffle.accountants.questions import adversary
from symshuffle.accountants.renyi import front as renyi
from symshuffle.design import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information.maximum import maximise
from symshuffle.design.information.measures import kullback_leibler
from symshuffle.engines import Counts
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.utility.frontiers import contamination
from symshuffle.vectors.randomizers.gaussian import calibrate_gaussian

KRR = ss.randomizer("krr").at(k=3, lam=2)
W = ss.Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
PROBLEM = smoothed_point_masses(3, 1)
E1 = ss.Exp(F(1))
DOORS = {
    "Contour": lambda rtol: ss.engines.Contour(rtol=rtol),
    "BallContour": lambda rtol: ss.engines.BallContour(rtol=rtol),
    "FFT": lambda rtol: ss.engines.FFT(rtol=rtol),
    "Sparse": lambda rtol: ss.engines.Sparse(rtol=rtol),
    "Counts": lambda rtol: Counts(rtol=rtol),
    "bromwich_bracket": lambda rtol: bromwich_bracket(None, 3, rtol),
    "delta": lambda rtol: ss.delta(KRR, n=30, eps="1/5", rtol=rtol).bracket,
    "epsilon": lambda rtol: ss.epsilon(KRR, n=30, delta="1/100", rtol=rtol).bracket,
    "largest_eps0": lambda rtol: (
        ss.largest_eps0(ss.randomizer("rr"), n=30, eps="1/2", delta="1/100", rtol=rtol).bracket
    ),
    "renyi": lambda rtol: renyi.renyi(W, n=5, order=2, rtol=rtol).bracket,
    "delta of groups": lambda rtol: ss.delta([ss.Group(W, 1), ss.Group(W, 3)], exp_eps=F(6, 5), rtol=rtol).bracket,
    "epsilon of groups": lambda rtol: ss.epsilon([ss.Group(W, 1), ss.Group(W, 3)], delta="1/100", rtol=rtol).bracket,
    "worst_of_two_types": lambda rtol: adversary.worst_of_two_types(W, 6, F(6, 5), rtol=rtol).bracket,
    "standard_clone": lambda rtol: baselines.standard_clone(E1, exp_eps=F(6, 5), n=30, rtol=rtol),
    "smallest risk": lambda rtol: smallest_risk(PROBLEM, E1, rtol=rtol).value,
    "smallest worst-case risk": lambda rtol: smallest_risk(PROBLEM, E1, rtol=rtol, criterion="minimax").value,
    "maximise": lambda rtol: (
        maximise(kullback_leibler([F(1, 3)] * 3, [F(1, 2), F(1, 4), F(1, 4)]), F(2), rtol=rtol).value
    ),
    "calibrate_gaussian": lambda rtol: calibrate_gaussian(delta="1e-5", eps=1, rtol=rtol),
    "shuffled_leakage": lambda rtol: (
        contamination.shuffled_leakage(
            contamination.ratio_law(W, 0, 1),
            contamination.Contamination(9),
            gamma=F(6, 5),
            arithmetic="ball",
            rtol=rtol,
        ).bracket
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_width_is_in_the_unit_interval(door):
    for rtol in (0, 1, 1.5, -1e-3):
        with pytest.raises(InputError, match="rtol"):
            DOORS[door](rtol)


@pytest.mark.parametrize("door", list(DOORS)[7:])
@pytest.mark.parametrize("rtol", [0.1, 1e-5])
def test_a_width_that_is_met_is_not_said_to_be_missed(door, rtol):
    found = DOORS[door](rtol)
    assert found.upper > 0
    met = found.width <= F(rtol) * found.upper
    assert met == (getattr(found, "aimed", None) is None)
