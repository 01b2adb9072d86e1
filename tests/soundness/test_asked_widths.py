"""Every door that takes a relative width: one outside of (0, 1) is refused, and whether it is met is said."""

from fractions import Fraction as F

import pytest

import symshuffle as ss
from symshuffle import Counts, InputError, bayes_tradeoff, minimax_tradeoff
from symshuffle.accountants.literature import baselines
from symshuffle.accountants.questions import adversary
from symshuffle.accountants.renyi import front as renyi
from symshuffle.design import maximise, smoothed_point_masses
from symshuffle.design.information.measures import kullback_leibler
from symshuffle.engines.densities.bromwich import Bromwich
from symshuffle.utility.frontiers import contamination
from symshuffle.vectors.randomizers.gaussian import calibrate_gaussian

KRR = ss.mechanism("krr").at(k=3, lam=2)
W = ss.Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
PROBLEM = smoothed_point_masses(3, 1)
E1 = ss.Exp(F(1))
DOORS = {
    "Contour": lambda rel: ss.Contour(rel=rel),
    "BallContour": lambda rel: ss.BallContour(rel=rel),
    "FFT": lambda rel: ss.FFT(rel=rel),
    "Sparse": lambda rel: ss.Sparse(rel=rel),
    "Counts": lambda rel: Counts(rel=rel),
    "Bromwich": lambda rel: Bromwich(rel=rel),
    "delta": lambda rel: ss.delta(KRR, n=30, eps="1/5", rel=rel).bracket,
    "epsilon": lambda rel: ss.epsilon(KRR, n=30, delta="1/100", rel=rel).bracket,
    "solve_eps0": lambda rel: ss.solve_eps0(ss.mechanism("rr"), n=30, eps="1/2", delta="1/100", rel=rel).bracket,
    "renyi": lambda rel: renyi.renyi(W, n=5, order=2, rel=rel).bracket,
    "delta of groups": lambda rel: ss.delta([ss.Group(W, 1), ss.Group(W, 3)], exp_eps=F(6, 5), rel=rel).bracket,
    "epsilon of groups": lambda rel: ss.epsilon([ss.Group(W, 1), ss.Group(W, 3)], delta="1/100", rel=rel).bracket,
    "worst_of_two_types": lambda rel: adversary.worst_of_two_types(W, 6, F(6, 5), rel=rel).bracket,
    "standard_clone": lambda rel: baselines.standard_clone(E1, exp_eps=F(6, 5), n=30, rel=rel),
    "bayes_tradeoff": lambda rel: bayes_tradeoff(PROBLEM, E1, rel=rel).value,
    "minimax_tradeoff": lambda rel: minimax_tradeoff(PROBLEM, E1, rel=rel).value,
    "maximise": lambda rel: maximise(kullback_leibler([F(1, 3)] * 3, [F(1, 2), F(1, 4), F(1, 4)]), F(2), rel=rel).value,
    "calibrate_gaussian": lambda rel: calibrate_gaussian(delta="1e-5", eps=1, rel=rel),
    "shuffled_leakage": lambda rel: (
        contamination.shuffled_leakage(
            contamination.ratio_law(W, 0, 1), contamination.Contamination(9), gamma=F(6, 5), rigour="ball", rel=rel
        ).bracket
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_width_is_in_the_unit_interval(door):
    for rel in (0, 1, 1.5, -1e-3):
        with pytest.raises(InputError, match="rel"):
            DOORS[door](rel)


@pytest.mark.parametrize("door", list(DOORS)[7:])
@pytest.mark.parametrize("rel", [0.1, 1e-5])
def test_a_width_that_is_met_is_not_said_to_be_missed(door, rel):
    found = DOORS[door](rel)
    assert found.upper > 0
    met = found.width <= F(rel) * found.upper
    assert met == (getattr(found, "aimed", None) is None)
