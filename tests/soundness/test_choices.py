"""Named choices: a member and its text are the same at every public door, and anything else is refused."""

from fractions import Fraction

import pytest

from symshuffle.anchored.law import AnchoredLaw
from symshuffle.channel import Channel
from symshuffle.design.envelope import Contamination, binary_envelope
from symshuffle.errors import InputError
from symshuffle.estimation.canonical import Population, canonical_risk, enumerated_risk

RESPONSE = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
SKEW = (Fraction(1, 4), Fraction(3, 4))


def test_text_names_the_direction_of_a_contamination():
    """``Contamination(n, "forward")`` computed the reverse divergence, and so did ``"nonsense"``."""
    found = binary_envelope(Contamination(3, "forward"), lam=Fraction(3), gamma=Fraction(6, 5)).bracket
    assert found == binary_envelope(Contamination(3), lam=Fraction(3), gamma=Fraction(6, 5)).bracket
    for nonsense in ("nonsense", "Forward", True, None):
        with pytest.raises(InputError, match="direction"):
            Contamination(3, nonsense)


def test_text_names_the_population():
    """``population="fixed"`` was the i.i.d. value in one function and the fixed one in another."""
    law = AnchoredLaw.from_channel(RESPONSE)
    fixed = canonical_risk(law, SKEW, n=4, population=Population.FIXED)
    assert canonical_risk(law, SKEW, n=4, population="fixed") == fixed
    assert enumerated_risk(RESPONSE, SKEW, n=4, population="fixed")[0] == fixed
    for door, source in ((canonical_risk, law), (enumerated_risk, RESPONSE)):
        with pytest.raises(InputError, match="population"):
            door(source, SKEW, n=4, population="nonsense")
