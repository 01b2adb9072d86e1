"""Every input of a Gaussian under zero-out: cells of lengths, each below one pair."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache

import pytest

from symshuffle.errors import CertificateError, InputError
from symshuffle.vectors.accounting import pair_delta
from symshuffle.vectors.cover import every_input
from symshuffle.vectors.mechanisms import LocalGaussian
from symshuffle.vectors.pairs import short_input

NOISE = LocalGaussian("4.6")


@cache
def cover():
    return every_input(NOISE, n=100, eps="0.02", slack="1/10")


def test_no_input_exceeds_the_cover():
    found = cover()
    assert found.bracket.lower <= found.bracket.upper < F(3, 2) * found.bracket.lower
    for length in (F(1, 20), F(1, 2), F(9, 10)):
        pair = short_input(NOISE, length=length, reach=F(1))
        for one in (pair, pair.reverse):
            assert pair_delta(one, 100, found.exp_eps, rel=1e-3).lower <= found.bracket.upper


def test_false_covers_are_refused():
    found = cover()
    found.verify()
    low = replace(found.bracket, lower=F(0), upper=found.bracket.lower)
    tiny = replace(low, upper=F(1, 10**40))
    end = found.cells[0][1]
    for place, changes in (
        ("cells", {"cells": found.cells[1:]}),
        ("short", {"short": found.short * 2}),
        ("cells[0]", {"cells": ((F(0), end),), "short": F(0)}),
        ("short", {"cells": found.cells[:1], "short": found.cells[0][0], "bracket": tiny}),
        ("cells[0]", {"bracket": low}),
    ):
        with pytest.raises(CertificateError) as caught:
            replace(found, **changes).verify()
        assert caught.value.place == place


def test_what_is_wrong_is_named():
    with pytest.raises(InputError, match="slack"):
        every_input(NOISE, n=100, eps="0.02", slack=1)
