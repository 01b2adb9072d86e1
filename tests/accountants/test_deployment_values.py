"""Deployments, groups and adjacencies are values: equal, hashed, kept in files of pickle, changed and shown."""

import copy
import itertools
import pickle
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from symshuffle import Adjacency, Channel, Deployment, Group, InputError, any_ldp, delta, randomizer
from symshuffle.accountants.deployment.model import KEYWORDS, fields_set

deployment: Any = Deployment  # fields are read, whatever their types
group: Any = Group
adjacency: Any = Adjacency

ROWS = [["3/4", "1/4"], ["1/4", "3/4"]]
RR = Channel.from_rows(ROWS)
KRR = randomizer("krr").at(k=3, lam=3)

VALUES: dict[str, Any] = {
    "n": 10,
    "min_batch_size": 5,
    "dropout": "1/10",
    "colluding": "20%",
    "adjacency": "zero-out",
    "null": ["1/2", "1/2"],
    "blanket": "largest",
    "group_size": 2,
    "pairs": "0-1",
    "graph": [(0, 1)],
    "datasets": ([0, 1], [1, 1]),
    "reports": 2,
    "periods": 7,
    "memoised": True,
    "threshold": 5,
}


def made() -> list[Deployment]:
    """A deployment for each field, and some of more than one."""
    each = [deployment(RR).with_(**{name: value}) for name, value in VALUES.items()]
    return [
        deployment(RR),
        deployment(KRR),
        deployment(any_ldp(eps0=1)),
        *each,
        deployment(group(KRR, 200, colluding=3), periods=30),
        deployment([group(RR, 5), group(RR, 7, dropout="1/2")]),
        deployment([group(RR, 5), Group.of_dummies(7)]),
        deployment([group(RR, 5), Group.of_dummies(7, ["1/2", "1/2"])]),
        deployment(group(RR, 5), later_periods=(deployment(group(RR, 5), reports=2),)),
    ]


def test_every_keyword_has_a_value() -> None:
    assert set(VALUES) == set(KEYWORDS)


def test_equal_exactly_where_all_fields_are() -> None:
    for (i, one), (j, other) in itertools.product(enumerate(made()), enumerate(made())):
        assert (one == other) is (i == j), (one, other)
        if i == j:
            assert hash(one) == hash(other)
    assert len(set(made())) == len(made())
    assert deployment(RR) != group(RR)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (deployment(ROWS), deployment(RR)),
        (deployment(RR), deployment([group(RR)])),
        (deployment(RR), deployment(group(np.array([[0.75, 0.25], [0.25, 0.75]])))),
        (deployment(RR, "zero-out"), deployment(RR, adjacency("zero-out"))),
        (deployment(group(RR, 10, dropout=0.1)), deployment(group(RR, 10, dropout=F(1, 10)))),
        (deployment(group(RR, 10, colluding="30%")), deployment(group(RR, 10, colluding=0.3))),
        (deployment(group(RR, 10, colluding=0)), deployment(group(RR, 10))),
        (deployment(group(RR, np.int64(10))), deployment(group(RR, 10))),
        (deployment(RR, periods=7.0), deployment(RR, periods=7)),
        (deployment(RR, adjacency(pairs=[[0, 1], (0, 1)])), deployment(RR, adjacency(pairs="0-1"))),
        (deployment(RR, adjacency(graph=[(1, 0), (0, 1)])), deployment(RR, adjacency(graph="0-1"))),
        (deployment(RR, adjacency(null=[0.5, 0.5])), deployment(RR, adjacency("zero-out", null=["1/2", "1/2"]))),
        (deployment(RR, adjacency(datasets=([0], [1]))), deployment(RR, adjacency(datasets=((0,), (1,))))),
    ],
)
def test_spellings_of_one_value_are_equal(one: Deployment, other: Deployment) -> None:
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize("value", made(), ids=lambda one: str(made().index(one)))
def test_kept_by_pickle_and_copies(value: Deployment) -> None:
    for kept in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert kept == value
        assert hash(kept) == hash(value)
        assert repr(kept) == repr(value)


@pytest.mark.parametrize(
    "value", [deployment(RR), group(RR, 10), adjacency()], ids=("deployment", "group", "adjacency")
)
def test_fields_are_not_assigned(value: Any) -> None:
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        setattr(value, fields(value)[0].name, None)
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        value.other = 1


@pytest.mark.parametrize("name", VALUES)
def test_changed_sets_one_field_of_a_copy(name: str) -> None:
    plain = deployment(RR)
    found = plain.with_(**{name: VALUES[name]})
    assert plain == deployment(RR)
    assert found != plain
    assert set(fields_set(found)) - {"adjacency"} == {name} - {"adjacency"}
    assert found.with_(**fields_set(found)) == found == plain.with_(**fields_set(found))
    assert found.with_(**{name: None}) == found.with_() == found


def test_changed_refuses_what_is_not_one_field() -> None:
    with pytest.raises(InputError, match="perods"):
        deployment(RR).with_(perods=3)
    for name in ("n", "dropout", "colluding", "min_batch_size"):
        with pytest.raises(InputError, match=name):
            deployment([group(RR, 5), group(RR, 7)]).with_(**{name: VALUES[name]})
    with pytest.raises(InputError, match="periods"):
        deployment(RR).with_(periods=0)


def test_changes_reach_later_periods_where_they_are_of_users_or_neighbours() -> None:
    both = deployment(RR, later_periods=(deployment(KRR),))
    found = both.with_(n=9, group_size=1, pairs=[(0, 1)], periods=1)
    assert [one.users[0].count for one in found.kinds] == [9, 9]
    assert [one.adjacency.pairs for one in found.kinds] == [((0, 1),)] * 2
    for name in ("periods", "reports", "memoised", "threshold"):
        with pytest.raises(InputError, match=f"{name} = .*each has its own"):
            both.with_(**{name: VALUES[name]})
    own = deployment(RR, later_periods=(deployment(group(KRR, 4)),)).with_(n=9)
    assert [one.users[0].count for one in own.kinds] == [9, 4]
    with pytest.raises(InputError, match="n = 9"):
        own.with_(n=9)


@pytest.mark.parametrize("value", made(), ids=lambda one: str(made().index(one)))
def test_shown_on_one_line_and_in_a_notebook(value: Deployment) -> None:
    shown, html = repr(value), value._repr_html_()
    assert shown.startswith("<deployment of ")
    assert shown.endswith(">")
    assert "\n" not in shown
    assert " at 0x" not in shown
    assert "<deployment" not in html
    assert len(shown) <= len(html) <= 4000
    for part in (*value.groups, value.adjacency):
        assert "\n" not in repr(part)
        assert " at 0x" not in repr(part)


def test_long_fields_are_shown_in_short() -> None:
    many = list(range(2)) * 5000
    pairs = [(x, y) for x in range(60) for y in range(60) if x != y]
    for near in (adjacency(datasets=(many, many)), adjacency(pairs=pairs)):
        assert len(deployment(RR, near)._repr_html_()) <= 4000


def test_every_field_is_shown() -> None:
    shown = {name: repr(deployment(RR).with_(**{name: value})) for name, value in VALUES.items()}
    plain = repr(deployment(RR))
    assert [name for name, text in shown.items() if text == plain] == []


def test_equal_deployments_have_equal_answers() -> None:
    asked = [deployment(group(ROWS, 6, colluding="1/3")), deployment(group(RR, 6, colluding=2)).with_(n=6)]
    answers = [delta(one, exp_eps=2).bracket for one in asked]
    answers.append(delta(RR, n=6, colluding=2, exp_eps=2).bracket)
    answers.append(delta(group(RR, colluding=2), n=6, exp_eps=2).bracket)
    answers.append(delta(pickle.loads(pickle.dumps(asked[0])), exp_eps=2).bracket)
    assert len(set(answers)) == 1


@pytest.mark.parametrize("truth", [True, False])
def test_truth_values_of_numpy_are_read_by_value(truth: bool) -> None:
    for value in (np.bool_(truth), np.array(truth)):
        assert deployment(RR, memoised=value) == deployment(RR, memoised=truth)
        assert type(deployment(RR, memoised=value).memoised) is bool
        law = ["1/2", "1/2"] if truth else ROWS
        assert group(law, 5, dummies=value) == group(law, 5, dummies=truth)
        asked: dict[str, Any] = {"n": 9, "eps": "1/2", "periods": 2}
        assert delta(RR, memoised=value, **asked) == delta(RR, memoised=truth, **asked)
    for value in (1, "true", np.int64(1), np.array([truth]), []):
        for made_with in (lambda v: deployment(RR, memoised=v), lambda v: group(RR, dummies=v)):
            with pytest.raises(InputError, match="expected true or false"):
                made_with(value)
