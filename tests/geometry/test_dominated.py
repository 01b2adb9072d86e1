from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.results import Bracket, Certified
from symshuffle.geometry.dominated import largest_dominated
from symshuffle.mechanisms.finite import krr, rr

F = Fraction


def binary(lam):
    return rr().at(lam=lam).channel()


def ternary(lam):
    return krr().at(k=3, lam=lam).channel()


def test_two_inputs_of_ternary_response_contain_binary_response():
    """Splitting the third output gives (9, 3)/12, ratio 3; by total variation nothing beyond is inside."""
    pair = ternary(F(4)).restrict((0, 1))
    found = largest_dominated(pair, binary, (F(11, 10), F(4)), rel=1e-9)
    found.verify()
    assert isinstance(found, Certified)
    assert found.bracket.relative_width < F(1, 10**8)
    # Total variation of the pair is 1/2; binary response of ratio lam has (lam - 1)/(lam + 1).
    assert found.bracket.lower <= 3 <= found.bracket.upper
    assert "kernel" in found.to_dict()


def test_a_channel_dominates_its_own_family_up_to_itself():
    found = largest_dominated(ternary(F(4)), ternary, (F(11, 10), F(4)))
    found.verify()
    assert found.bracket.exact == 4
    inside = largest_dominated(ternary(F(4)), ternary, (F(11, 10), F(9)), rel=1e-6)
    assert inside.bracket.lower <= 4 <= inside.bracket.upper
    assert float(inside) <= 4


def test_false_certificates_are_refused():
    found = largest_dominated(ternary(F(4)), ternary, (F(11, 10), F(9)), rel=1e-3)
    low, high = found.bracket.lower, found.bracket.upper

    def between(lower, upper, rigour=Rigour.BALL):
        return replace(found, bracket=Bracket(lower, upper, rigour, "bisection", ""))

    for place, false in (
        ("kernel", between(low + F(1, 1000), high)),
        ("separation", between(low, low)),
        ("bracket", between(low, F(10))),
        ("bracket", between(low, high, Rigour.EXACT)),
        ("bracket", replace(found, separation=None)),
    ):
        with pytest.raises(CertificateError) as caught:
            false.verify()
        assert caught.value.place.split(".")[0] == place


def test_refusals():
    for levels, rel in (((F(4), F(2)), 1e-3), ((F(5), F(9)), 1e-3), ((F(11, 10), F(9)), 2)):
        with pytest.raises(InputError):
            largest_dominated(ternary(F(4)), ternary, levels, rel=rel)
