"""Blackwell's order and deficiencies of small channels by hand, and each condition of their certificates."""

import dataclasses
import json
from fractions import Fraction as F

import pytest

from symshuffle import CertificateError, Channel, InputError
from symshuffle.geometry.dominated import largest_dominated
from symshuffle.geometry.orders import (
    Garbling,
    Separation,
    blackwell,
    certificate_from_json,
    deficiency,
    equivalent,
)
from symshuffle.results import Rigour


def bit(flip):
    return Channel(((1 - flip, flip), (flip, 1 - flip)))


IDENTITY = Channel(tuple(tuple(F(x == y) for y in range(3)) for x in range(3)))
NOTHING = Channel(((F(1),),) * 3)
FINE, COARSE = bit(F(1, 8)), bit(F(1, 4))


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        (FINE, COARSE, F(0)),
        (COARSE, FINE, F(1, 8)),  # by symmetry nothing beats leaving the bit as it is
        (NOTHING, IDENTITY, F(2, 3)),  # the same output whatever the input: the uniform one
        (IDENTITY, NOTHING, F(0)),
        (Channel(((F(1),),) * 2), COARSE, F(1, 4)),
        (Channel.from_rows([["1/2", "1/2", "0"], ["0", "1/2", "1/2"]]), bit(F(0)), F(1, 4)),  # erased half of the time
    ],
)
def test_deficiencies_by_hand(first, second, value):
    found = deficiency(first, second)
    found.verify()
    assert found.value.exact == value
    reached = first.push_forward(found.kernel)
    worst = max(
        sum(abs(a - b) for a, b in zip(x, y, strict=True)) / 2 for x, y in zip(reached.rows, second.rows, strict=True)
    )
    assert worst == value
    assert blackwell(first, second).dominates == (value == 0)
    blackwell(first, second).verify(first, second)


def test_each_condition_of_a_deficiency():
    found = deficiency(COARSE, FINE)
    tiny = F(1, 10**9)
    for change, place in (
        ({"kernel": bit(F(1, 10))}, "value"),
        ({"kernel": IDENTITY}, "kernel"),
        ({"value": dataclasses.replace(found.value, lower=F(1, 8) - tiny, upper=F(1, 8) - tiny)}, "value"),
        ({"value": dataclasses.replace(found.value, lower=F(1, 8) + tiny, upper=F(1, 8) + tiny)}, "value"),
        ({"second": bit(F(1, 9))}, "certificate|value"),
        ({"certificate": deficiency(FINE, COARSE).certificate}, "certificate|value"),
    ):
        with pytest.raises(CertificateError, match=f"at ({place})"):
            dataclasses.replace(found, **change).verify()


def test_separations_by_hand():
    """Gains 1 for the right answer and -1 for the wrong one: a bit of flip f earns 2 (1 - 2f)."""
    gains = Separation(((F(1), F(-1)), (F(-1), F(1))))
    assert gains.margin(COARSE, FINE) == 2 * F(3, 4) - 2 * F(1, 2)
    assert gains.margin(FINE, COARSE) == F(-1, 2) and gains.margin(FINE, FINE) == 0
    gains.verify(COARSE, FINE)
    for first, second in ((FINE, FINE), (FINE, COARSE)):
        with pytest.raises(CertificateError, match="at gains"):
            gains.verify(first, second)
    for wrong in (((F(1), F(-1)),), ((F(1),), (F(1),)), ((1 + F(1, 10**9), F(-1)), (F(-1), F(1)))):
        with pytest.raises(CertificateError, match="at gains"):
            Separation(wrong).verify(COARSE, FINE)
    with pytest.raises(CertificateError, match="at second"):
        gains.verify(NOTHING, FINE)
    # asymmetric gains: right in the first input only; earned 3/4 + 0, the best of the first 1/2 + 1/2 without looking
    assert Separation(((F(1), F(0)), (F(0), F(0)))).margin(Channel(((F(1),),) * 2), COARSE) == F(3, 4) - 1


def test_garblings_by_hand():
    """Flips of 1/8 and 1/6 make one of 1/8 * 5/6 + 7/8 * 1/6 = 1/4."""
    Garbling(bit(F(1, 6))).verify(FINE, COARSE)
    with pytest.raises(CertificateError, match="at kernel"):
        Garbling(bit(F(1, 6) + F(1, 10**9))).verify(FINE, COARSE)
    with pytest.raises(CertificateError, match="at kernel"):
        Garbling(IDENTITY).verify(FINE, COARSE)
    rough = Channel.from_rows([[0.5, 0.5], [0.25, 0.75]])
    for witness in (Garbling(bit(F(0))), Separation(((F(1), F(-1)), (F(-1), F(1))))):
        with pytest.raises(CertificateError, match="at first"):
            witness.verify(rough, FINE)
        with pytest.raises(CertificateError, match="at second"):
            witness.verify(FINE, rough)
        assert certificate_from_json(json.loads(json.dumps(witness.to_json()))) == witness


def test_who_is_equivalent_and_who_is_not_compared():
    swapped = Channel(tuple(row[::-1] for row in FINE.rows))
    split = Channel(tuple((row[0] / 3, row[0] * F(2, 3), row[1]) for row in FINE.rows))
    assert equivalent(FINE, swapped) and equivalent(FINE, split)
    assert not equivalent(FINE, COARSE) and not equivalent(COARSE, FINE)
    for call in (blackwell, deficiency):
        with pytest.raises(InputError, match=r"^second = "):
            call(NOTHING, FINE)


def test_the_largest_dominated_member():
    """A bit of flip 1/8 dominates exactly those of flip 1/8 or more."""

    def family(level):
        return bit(F(1, 2) - level)

    found = largest_dominated(FINE, family, (F(0), F(1, 2)), rel=1e-3)
    found.verify()
    assert found.bracket.lower <= F(3, 8) <= found.bracket.upper <= found.bracket.lower + F(1, 1000)
    whole = largest_dominated(FINE, family, (F(0), F(3, 8)), rel=1e-3)
    whole.verify()
    assert whole.bracket.exact == F(3, 8) and whole.separation is None
    for levels, rel, named in (
        ((F(1, 4), F(1, 4)), 1e-3, "levels"),
        ((F(7, 16), F(1, 2)), 1e-3, "levels"),
        ((F(0), F(1, 2)), 0.0, "rel"),
        ((F(0), F(1, 2)), 1.0, "rel"),
    ):
        with pytest.raises(InputError, match=f"^{named} = "):
            largest_dominated(FINE, family, levels, rel=rel)
    bracket = found.bracket
    for change, place in (
        ({"separation": None}, "bracket"),
        ({"levels": (F(2, 5), F(1, 2))}, "bracket"),
        ({"levels": (F(0), F(3, 8))}, "bracket"),
        ({"kernel": Garbling(bit(F(1, 3)))}, "kernel"),
        ({"bracket": dataclasses.replace(bracket, upper=bracket.lower)}, "separation"),
        ({"bracket": dataclasses.replace(bracket, rigour=Rigour.EXACT)}, "bracket"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            dataclasses.replace(found, **change).verify()
