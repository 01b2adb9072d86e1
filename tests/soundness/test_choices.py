"""What the library makes is taken by its doors, in every form; what is not complete is refused."""

from fractions import Fraction

import numpy as np
import pytest

from symshuffle import Channel, Exp, InputError, delta, joint, optimal_decomposition, randomizer
from symshuffle.base.choices import Question, members
from symshuffle.decompositions import Composed
from symshuffle.mechanisms import Laplace

RESPONSE = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
SKEW = (Fraction(1, 4), Fraction(3, 4))


KRR = randomizer("krr").at(k=3, lam=2)
TREE = joint(randomizer("krr").at(k=3), randomizer("rr"))
BARE = joint(randomizer("identity").at(k=2))
SOURCES = {
    "symbolic decomposition": (optimal_decomposition(KRR), KRR),
    "reduction pair": (optimal_decomposition(KRR).numeric().reduction_pair(), KRR),
    "nested lists": ([["2/3", Fraction(1, 3)], ["1/3", "2/3"]], RESPONSE),
    "integers of NumPy": (np.eye(2, dtype=int), Channel.from_rows([[1, 0], [0, 1]])),
    "doubles of NumPy": (np.array([[0.75, 0.25], [0.25, 0.75]]), Channel.from_rows([[0.75, 0.25], [0.25, 0.75]])),
    "composition at a budget": (TREE.at(eps0=2), Composed(TREE, Exp(Fraction(2)))),
    "composition without a budget": (BARE, Composed(BARE, None)),
    "laplace": (randomizer("laplace").at(eps0=1), Laplace(Exp(Fraction(1)))),
}


@pytest.mark.parametrize("name", SOURCES)
def test_delta_takes_what_the_library_makes(name):
    for direction in members(Question):
        rtol = 1e-3 if name == "doubles of NumPy" else None  # with few users a contour of doubles is dear
        found, expected = (delta(one, n=3, eps="1/10", direction=direction, rtol=rtol) for one in SOURCES[name])
        # The same number by other arithmetic: the brackets meet, and both are narrow.
        assert max(found.bracket.lower, expected.bracket.lower) <= min(found.bracket.upper, expected.bracket.upper)
        assert found == expected or found.bracket.width < Fraction(1, 10**6) * found.bracket.upper


INCOMPLETE = (
    TREE,
    optimal_decomposition(randomizer("krr")),
    randomizer("laplace"),
    [1, 2],
    "krr",
    None,
    np.array([1.0]),
)


@pytest.mark.parametrize("source", INCOMPLETE, ids=str)
def test_delta_refuses_what_is_not_complete(source):
    with pytest.raises(InputError):
        delta(source, n=3, eps="1/10")
