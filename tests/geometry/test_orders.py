"""The Blackwell order and Le Cam's deficiency: certificates either way, and known values."""

import json
from fractions import Fraction

import pytest

from proofs_checks._convex_order import equivalent
from symshuffle import CertificateError, Channel, InputError
from symshuffle.channels import MaximalPolytope
from symshuffle.channels.geometry.orders import BlackwellOrder, blackwell, deficiency

LAM = Fraction(3)
SINGLES = MaximalPolytope(3, LAM).channel({1: Fraction(1, 5), 2: Fraction(1, 5), 4: Fraction(1, 5)})
PAIRS = MaximalPolytope(3, LAM).channel({3: Fraction(1, 7), 5: Fraction(1, 7), 6: Fraction(1, 7)})


@pytest.mark.parametrize(
    ("first", "second", "margin"), [(SINGLES, PAIRS, Fraction(12, 35)), (PAIRS, SINGLES, Fraction(36, 35))]
)
def test_incomparable_maximal_channels(first, second, margin):
    certificate = blackwell(first, second)
    assert not certificate.dominates
    certificate.verify(first, second)
    assert certificate.margin(first, second) == margin
    gains = json.loads(json.dumps(certificate.to_json()))["gains"]
    assert BlackwellOrder(gains=tuple(tuple(map(Fraction, row)) for row in gains)) == certificate
    with pytest.raises(CertificateError, match="at gains"):
        certificate.verify(first, first)
    found = deficiency(first, second)
    found.verify()
    assert found.value.exact > 0


def test_garblings_are_recognised():
    kernel = Channel.from_rows([["1/2", "1/2"], ["1/3", "2/3"], [1, 0], [0, 1]])
    for shift in range(4):
        columns = [[3 + shift, 4, 5], [6, 4 + shift, 5], [4, 6, 3 + shift]]
        rows = [[Fraction(v, 30) for v in row] for row in zip(*columns, strict=True)]
        channel = Channel(tuple((*row, 1 - sum(row)) for row in rows))
        coarse = channel.push_forward(kernel)
        certificate = blackwell(channel, coarse)
        assert certificate.dominates
        certificate.verify(channel, coarse)
        assert deficiency(channel, coarse).value.exact == 0
        back = blackwell(coarse, channel)
        assert not back.dominates
        back.verify(coarse, channel)


def test_deficiency_to_a_constant_channel_is_total_variation():
    # From nothing, the best imitation of (P, Q) misses each by half of their total variation distance.
    nothing = Channel.from_rows([[1], [1]])
    pair = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    found = deficiency(nothing, pair)
    found.verify()
    assert found.value.exact == Fraction(1, 4)
    assert found.kernel == Channel.from_rows([["1/2", "1/2"]])


def test_equivalence_operations():
    split = Channel(tuple((row[0] / 3, row[1], 2 * row[0] / 3, row[2], Fraction(0)) for row in SINGLES.rows))
    assert equivalent(SINGLES, split)
    assert not equivalent(SINGLES, PAIRS)
    merged = Channel(tuple((row[0] + row[1], *row[2:]) for row in SINGLES.rows))
    assert blackwell(SINGLES, merged).dominates
    assert not equivalent(SINGLES, merged)
    assert not equivalent(merged, SINGLES)
    with pytest.raises(InputError, match="inputs"):
        blackwell(SINGLES, Channel.from_rows([[1], [1]]))
