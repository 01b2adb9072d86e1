"""Every risk of several users, by population: n times fewer, as the risk of the channel that attains it."""

from fractions import Fraction as F

import pytest

from symshuffle import randomizer
from symshuffle.base.choices import Population, members
from symshuffle.utility import AnchoredLaw, canonical_risk
from symshuffle.utility.frontiers.equivariant import matched_risk


@pytest.mark.parametrize("population", members(Population))
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(("k", "lam"), [(3, F(2)), (5, F(7, 2))])
def test_calibrated_response(k, lam, times, population):
    n = times * k
    law = AnchoredLaw.from_channel(randomizer("krr").at(k=k, lam=lam).channel())
    risk = canonical_risk(law, [F(1, k)] * k, n=n, population=population)
    found = matched_risk(k, 1, law.pairwise_budget(), n=n, population=population)
    assert found.lower <= risk <= found.upper
    assert found.width <= risk / 10**6
