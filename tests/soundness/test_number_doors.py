"""What is no distribution, no number and no law is refused where it enters."""

import math
from fractions import Fraction

import pytest

from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.divergences import chi_square, hockey_stick, kl_divergence, renyi_divergence, total_variation
from symshuffle.errors import InputError
from symshuffle.law import Law
from symshuffle.mechanisms.model import Mechanism

HALF = Fraction(1, 2)
NO_DISTRIBUTION = {
    "nan": [math.nan, 1.0],
    "infinite": [math.inf, 0.5],
    "negative": [1.5, -0.5],
    "negative fraction": [Fraction(3, 2), -HALF],
    "sum 0.4": [0.2, 0.2],
    "sum 2/5": [Fraction(1, 5), Fraction(1, 5)],
    "text": ["one", "half"],
    "truth values": [True, False],
    "empty": [],
}
DIVERGENCES = {
    "hockey_stick": lambda p, q: hockey_stick(p, q, 1),
    "total_variation": total_variation,
    "chi_square": chi_square,
    "kl_divergence": kl_divergence,
    "renyi_divergence": lambda p, q: renyi_divergence(p, q, 2),
}


@pytest.mark.parametrize("divergence", DIVERGENCES.values(), ids=DIVERGENCES)
def test_divergences_take_distributions_only(divergence):
    for masses in NO_DISTRIBUTION.values():
        for pair in ((masses, [HALF] * len(masses)), ([HALF] * len(masses), masses)):
            with pytest.raises(InputError):
                divergence(*pair)


@pytest.mark.parametrize("weights", [(HALF,), (0.5,), (Fraction(3, 2),)])
def test_weights_of_a_law_sum_to_one(weights):
    with pytest.raises(InputError, match="weights"):
        Law((Fraction(1),), weights)


def test_integers_stay_exact():
    assert standard_clone_pair(3) == standard_clone_pair(Fraction(3))


def test_text_never_reaches_the_parser_of_sympy():
    """An entry such as ``__import__('os').system(...)`` ran."""
    for entry in ("__import__('os').system('true')", "lam/2", 0.5, math.nan, True):
        with pytest.raises(InputError, match=r"rows\[0\]\[0\]"):
            Mechanism.from_matrix("own", [[entry, HALF], [HALF, HALF]], parameters=())
        with pytest.raises(InputError):
            Mechanism.symmetric("own", 2, {"value": {"all": (2, entry)}})
    assert (
        Mechanism.from_matrix("own", [["1/2", HALF], [HALF, "0.5"]], parameters=()).channel().rows
        == ((HALF, HALF),) * 2
    )
