"""Samplers against the channels that are accounted for, by enumerating every draw."""

import itertools
import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle.collect import Client
from symshuffle.collect.scheme import random_order, uniform
from tests.collect.cases import PARAMETERS, enumerated, law_of, small, supported

NAMES = tuple(PARAMETERS)


def columns(laws):
    """How often each column occurs, whatever its message is called."""
    messages = set().union(*laws)
    return Counter(tuple(law.get(message, F(0)) for law in laws) for message in messages)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_the_tree_of_draws_is_the_channel_accounted_for(name, k):
    if name == "subset-selection" and k == 2:
        return  # of two categories no pair is chosen
    plan = small(name, k)
    laws = [law_of(plan, j) for j in range(k)]
    assert all(sum(law.values()) == 1 for law in laws)
    rows = plan.scheme.mechanism().channel().rows[:k]
    told = Counter(zip(*(map(F, row) for row in rows), strict=True))
    assert columns(laws) == told
    wrong = [dict(law) for law in laws]
    first, second = sorted(wrong[0])[:2]
    wrong[0][first] += F(1, 1000)
    wrong[0][second] -= F(1, 1000)
    assert columns(wrong) != told


@pytest.mark.parametrize("name", NAMES)
def test_supports_have_the_probabilities_of_the_plan(name):
    plan = small(name)
    for value in range(plan.k):
        law = law_of(plan, value)
        for j in range(plan.k):
            share = sum(weight for message, weight in law.items() if j in supported(plan, message))
            assert share == (plan.scheme.p if j == value else plan.scheme.q)


@pytest.mark.parametrize("name", ["krr", "subset-selection", "rappor", "oue", "blh", "hadamard"])
def test_messages_of_two_users_are_independent(name):
    plan = small(name, 3, F(2))

    def both(draw):
        rows = plan.scheme.sample(np.array([2, 0]), draw)
        return tuple(map(tuple, rows.tolist()))

    alone = [enumerated(lambda draw, v=v: tuple(plan.scheme.sample(np.array([v]), draw)[0].tolist())) for v in (2, 0)]
    expected = {(a, b): alone[0][a] * alone[1][b] for a, b in itertools.product(*alone)}
    assert enumerated(both) == expected


@pytest.mark.parametrize("bound, width", [(2, 1), (3, 1), (4, 1), (5, 2), (600, 2), (1000, 2)])
def test_every_word_is_one_outcome_or_none(bound, width):
    asked = []

    def source(size):
        asked.append(size)
        if len(asked) == 1:
            return b"".join(i.to_bytes(width, "little") for i in range(256**width))
        return bytes(size)  # the rejected ones are 0 then

    found = Counter(uniform(source)(bound, 256**width).tolist())
    share, left = divmod(256**width, bound)
    if share * bound == 256**width or left == 0:
        left = 0
    found[0] -= left
    assert found == dict.fromkeys(range(bound), share)
    assert asked[1:] == ([left * width] if left else [])


def test_each_order_has_the_same_probability():
    orders = Counter()
    for keys in itertools.product(range(3), repeat=3):
        drawn = iter([keys, (2, 1, 0)])
        first = tuple(random_order(3, lambda bound, size, drawn=drawn: np.array(next(drawn))).tolist())
        if len(set(keys)) == 3:
            orders[first] += 1
        else:
            assert first == (2, 1, 0)  # the tie was drawn again
    assert orders == dict.fromkeys(itertools.permutations(range(3)), 1)


def test_no_double_is_drawn_with():
    """Levels of 60 bits: a comparison in doubles would not tell them apart."""
    top = (1 << 55) + 1
    plan = small("krr", 2, F(top, 1))
    draw = {"last": None}

    def fixed(value):
        def one(bound, shape):
            draw["last"] = bound
            return np.full(shape, value, dtype=np.int64)

        return one

    assert Client(plan.scheme, plan.places, fixed(top - 1))(0) == "0"
    assert Client(plan.scheme, plan.places, fixed(top))(0) == "1"
    assert draw["last"] == top + 1


def test_draws_of_too_many_outcomes_are_refused():
    with pytest.raises(ValueError, match="more than 2\\*\\*62 outcomes"):
        small("krr", 2, F(2**62, 3))
    with pytest.raises(ValueError, match=r"not drawn \(limit 2\*\*62\)"):
        uniform()(2**63, 1)


def test_a_message_takes_few_draws():
    """Work in proportion to the message: a draw for each number in it, and at most two more."""
    for name in NAMES:
        plan = small(name, 4)
        drawn = []

        def counting(bound, shape, drawn=drawn):
            drawn.append(int(np.prod(shape)))
            return np.zeros(shape, dtype=np.int64)

        Client(plan.scheme, plan.places, counting)(1)
        assert sum(drawn) <= plan.scheme.width + 2, name
        assert math.prod(plan.scheme.sample(np.array([1, 2]), uniform()).shape) == 2 * plan.scheme.width


@pytest.mark.parametrize("k", [40, 600])
def test_long_messages_are_arranged_like_short_ones(k, monkeypatch, tmp_path):
    """Sorted and counted against Python's own, shuffled with nothing lost: 5 and 75 bytes a message."""
    from symshuffle.collect.messages import arranged, counted, lines, randomized, shuffled

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scheme, draw = small("oue", k, F(300)).scheme, uniform(np.random.default_rng(k).bytes)
    packed = randomized(scheme, np.arange(500) % 2, draw)
    packed[250:] = packed[:250]

    def text(rows):
        return [line for block in lines(scheme, rows) for line in block.splitlines()]

    drawn = text(packed)
    mixed = text(shuffled(packed, draw))
    assert mixed != drawn and Counter(mixed) == Counter(drawn)
    rows, numbers = counted(shuffled(packed, draw))
    assert dict(zip(text(rows), numbers.tolist(), strict=True)) == Counter(drawn) and text(rows) == sorted(set(drawn))
    assert text(arranged(packed)) == sorted(drawn)
    assert not list(tmp_path.iterdir())


def test_long_messages_without_room_are_refused(monkeypatch):
    from symshuffle.base.errors import InputError
    from symshuffle.collect.messages import randomized

    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 75 * 500}))
    with pytest.raises(InputError, match=r"values = 500 rows of 75 bytes: expected room for them in .* are free"):
        randomized(small("oue", 600).scheme, np.zeros(500, dtype=np.int64), uniform())
