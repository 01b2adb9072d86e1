"""The losses by which mechanisms are ranked, against the enumeration of all messages of all populations."""

import itertools
import math
from fractions import Fraction as F

import pytest

from symshuffle import InputError, compare

MATCH = {"k": 3, "n": 2, "budget": "3/8"}  # of 3-ary response at lam = 2


def errors():
    """Expected squared error of each coordinate at each pair of inputs, from the definition of 3-ary response."""
    law = [[F(1, 2) if x == y else F(1, 4) for y in range(3)] for x in range(3)]
    found = {}
    for inputs in itertools.product(range(3), repeat=2):
        total = [F(0)] * 3
        for messages in itertools.product(range(3), repeat=2):
            weight = math.prod((law[x][y] for x, y in zip(inputs, messages, strict=True)), start=F(1))
            for j in range(3):
                estimate = (F(messages.count(j), 2) - F(1, 4)) / (F(1, 2) - F(1, 4))
                total[j] += weight * (estimate - F(inputs.count(j), 2)) ** 2
        found[inputs] = total
    return found


def test_each_loss_is_that_of_the_worst_population():
    told = errors()
    at = {kind: compare(**MATCH, mechanisms=["krr"], loss=kind).row("krr").loss for kind in ("l2", "max", "absent")}
    assert at["l2"].exact == max(sum(total) for total in told.values())
    assert at["max"].exact == max(max(total) for total in told.values())
    assert at["absent"].exact == max(total[j] for x, total in told.items() for j in range(3) if j not in x)
    assert at["absent"].exact < at["max"].exact < at["l2"].exact


def test_to_tell_all_from_none_adds_two_standard_errors():
    told, found = errors(), compare(**MATCH, mechanisms=["krr"], loss="test").row("krr").loss
    own, absent = told[0, 0][0], told[1, 1][0]
    assert float(found.lower) <= math.sqrt(own) + math.sqrt(absent) <= float(found.upper) * (1 + 1e-15)
    assert float(found.width) < 1e-15


def test_losses_rank_mechanisms_differently():
    given = {"n": 1000, "mechanisms": ["krr", "subset-selection", "oue", "hadamard"]}
    five = {kind: compare(5, eps0=1, **given, loss=kind).rows[0].name for kind in ("l2", "max", "absent", "test")}
    assert five == {"l2": "krr", "max": "subset-selection", "absent": "krr", "test": "subset-selection"}
    sizes = {kind: dict(compare(10, eps0=1, **given, loss=kind).rows[0].parameters) for kind in ("l2", "max", "absent")}
    assert sizes == {"l2": {"s": 3}, "max": {"s": 4}, "absent": {"s": 2}}


def test_rows_are_in_the_order_of_the_loss():
    for kind in ("max", "absent", "test"):
        rows = compare(6, n=100, eps0=2, mechanisms=["krr", "oue", "hadamard", "subset-selection"], loss=kind).rows
        assert [row.loss.upper for row in rows] == sorted(row.loss.upper for row in rows)


def test_an_unknown_loss_is_refused():
    with pytest.raises(InputError, match=r"loss = l1: expected one of l2, max, absent, test"):
        compare(**MATCH, loss="l1")
