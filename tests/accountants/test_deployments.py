"""Every field of a deployment, and every pair of fields, against enumeration of all that a reader sees."""

import itertools
import random
from dataclasses import fields, replace
from fractions import Fraction as F
from typing import Any

import pytest

from symshuffle import Deployment, Group, delta, epsilon, randomizer, smallest_n, total_variation
from symshuffle.accountants.deployment.model import KEYWORDS
from symshuffle.base.errors import InputError, SymshuffleError, Unsupported
from tests.oracles.deployments import World, blanket, drawn_rows, hockey_stick, mixed, randomized_response

N = 3
NULL = (F(1, 4), F(1, 4), F(1, 2))
LEVELS = (F(1), F(6, 5), F(2), F(4))
"""Ratios exp(eps): of the total variation, a usual one, one near and one above the local budget of one report."""

VALUES: dict[str, Any] = {
    "min_batch_size": 2,
    "dropout": F(1, 3),
    "colluding": 1,
    "adjacency": "zero-out",
    "null": NULL,
    "blanket": "largest",
    "group_size": 2,
    "pairs": [(0, 1)],
    "graph": [(0, 1)],
    "datasets": ([0, 0, 1], [1, 0, 1]),
    "reports": 2,
    "periods": 2,
    "memoised": True,
    "threshold": 2,
    "dummies": 2,
    "groups": 2,
    "later_periods": 1,
}
"""A value of each field; groups: two of them, of 2 and of 1 user; dummies and later periods: their number."""

REFUSED = {
    "min_batch_size": {"dropout", "datasets", "memoised", "groups"},
    "dropout": {"datasets", "memoised", "reports"},
    "colluding": {"datasets"},
    "adjacency": {"pairs", "graph", "datasets", "dummies", "groups"},
    "null": {"pairs", "graph", "datasets", "dummies", "groups"},
    "blanket": {"dummies", "groups"},
    "group_size": {"datasets", "reports", "periods", "dummies", "groups", "later_periods"},
    "pairs": {"graph", "datasets"},
    "graph": {"datasets"},
    "datasets": {"reports", "periods", "memoised", "dummies", "groups", "later_periods"},
    "memoised": {"dummies", "later_periods"},
}
"""Pairs of fields that have no bound together."""

COMPOSED = {"reports", "periods", "later_periods"}
"""Fields of several batches, whose bounds take most of the time."""

PAIRS = list(itertools.combinations(VALUES, 2))


def _is_refused(one: str, other: str) -> bool:
    return other in REFUSED.get(one, ()) or one in REFUSED.get(other, ())


def _rows(seed: int) -> tuple[tuple[F, ...], ...]:
    """Rows of 2 or 3 inputs on 3 outputs, drawn; every third time randomized response."""
    if seed % 3 == 0:
        return randomized_response(3, F(3))
    rng = random.Random(seed)
    return drawn_rows(rng, rng.choice((2, 3)), 3, F(rng.choice((2, 3, 5))))


def _deployment(names: tuple[str, ...], rows: Any) -> Deployment:
    """The deployment whose named fields have the values of the table."""
    given = {name: VALUES[name] for name in names if name in KEYWORDS}
    of_group = {name: given.pop(name) for name in ("min_batch_size", "dropout", "colluding") if name in given}
    groups = [Group(rows, N, **of_group)]
    if "groups" in names:
        groups = [Group(rows, N - 1, **of_group), Group(mixed(rows, blanket(rows), F(1, 2)), 1)]
    if "dummies" in names:
        groups.append(Group.of_dummies(VALUES["dummies"]))
    made: Any = Deployment  # fields are read, whatever their types
    found: Deployment = made(groups).with_(**given)
    return replace(found, later_periods=(made(groups, found.adjacency),)) if "later_periods" in names else found


def _world(names: tuple[str, ...], rows: Any) -> World:
    """The same for the enumeration."""
    users = [rows] * N
    null = "adjacency" in names or "null" in names
    if "groups" in names:
        users[-1] = mixed(rows, blanket(rows), F(1, 2))
    if null:
        users = [(*one, NULL if "null" in names else blanket(rows)) for one in users]
    leaves = [F(1, 3)] * (N - 1) + [F(0) if "groups" in names else F(1, 3)]
    compared = [VALUES[name] for name in ("pairs", "graph") if name in names]
    found = World(
        tuple(users),
        min_batch_size=2 if "min_batch_size" in names else None,
        dropout=tuple(leaves) if "dropout" in names else None,
        colluding=1 if "colluding" in names else 0,
        may_collude=tuple(range(N - 1)) if "groups" in names else None,
        null=null,
        group_size=2 if "group_size" in names else 1,
        pairs=tuple(compared[0]) if compared else None,
        datasets=VALUES["datasets"] if "datasets" in names else None,
        reports=2 if "reports" in names else 1,
        periods=2 if "periods" in names or ("memoised" in names and "later_periods" not in names) else 1,
        memoised="memoised" in names,
        threshold=2 if "threshold" in names else 0,
        dummies=(blanket(rows),) * (2 if "dummies" in names else 0),
    )
    return (
        replace(found, later=replace(found, periods=1, reports=1, threshold=0)) if "later_periods" in names else found
    )


def _check(names: tuple[str, ...], rows: Any, levels: tuple[F, ...]) -> None:
    deployment = _deployment(names, rows)
    # Of several batches what is attained takes as long as the bound; reports about different inputs attain more.
    attained = not COMPOSED & set(names)
    for level, reached in zip(levels, _world(names, rows).divergences(levels), strict=True):
        found = delta(deployment, exp_eps=level, attained=attained)
        assert found.bracket.upper >= reached, (names, level)
        if found.attained is not None and "dropout" not in names:  # where she drops out as well, she attains less
            assert found.attained.lower <= reached, (names, level)


def test_table_of_pairs_names_every_field() -> None:
    others = {one.name for kind in (Group, Deployment) for one in fields(kind)} - {"randomizer", "count", "adjacency"}
    assert set(VALUES) == (set(KEYWORDS) | others) - {"n"}
    assert {name for row in REFUSED.values() for name in row} <= set(VALUES)


@pytest.mark.parametrize("name", VALUES)
def test_field_bounds_what_is_enumerated(name: str) -> None:
    for seed in range(1 if name in COMPOSED else 4):
        _check((name,), _rows(seed), LEVELS[1::2] if name in COMPOSED else LEVELS)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not _is_refused(*pair)], ids="-".join)
def test_two_fields_together_bound_what_is_enumerated(pair: tuple[str, str]) -> None:
    at = PAIRS.index(pair)
    if COMPOSED & set(pair):  # few outcomes: composing their losses takes most of the time
        _check(pair, drawn_rows(random.Random(at), 2, 3, F(3)), (LEVELS[1 + at % 3],))
    else:
        _check(pair, _rows(at), LEVELS[1:3])


@pytest.mark.conformance
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not _is_refused(*pair)], ids="-".join)
def test_two_fields_together_bound_what_is_enumerated_on_a_grid(pair: tuple[str, str]) -> None:
    if COMPOSED & set(pair):
        for seed in (100, 101):
            _check(pair, drawn_rows(random.Random(seed), 2, 3, F(3)), LEVELS[1::2])
    else:
        for seed in range(100, 106):
            _check(pair, _rows(seed), LEVELS)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if _is_refused(*pair)], ids="-".join)
def test_two_fields_without_a_bound_are_refused_by_name(pair: tuple[str, str]) -> None:
    with pytest.raises((InputError, Unsupported)) as told:
        delta(_deployment(pair, _rows(0)), exp_eps=2)
    named = {"adjacency": "zero-out", "null": "zero-out", "dummies": "dummies", "groups": "group"}
    assert any(named.get(name, name) in str(told.value) for name in pair)


# -- values that are attained


def test_two_reports_of_two_users_are_between_one_and_two_batches() -> None:
    rows = randomized_response(2, F(3))
    world = World((rows, rows), reports=2, varying=True)
    assert delta(rows, n=2, exp_eps=2, reports=2).bracket.exact == F(73, 256) == world.divergences((F(2),))[0]
    assert delta(rows, n=2, exp_eps=2, reports=2, memoised=True, periods=5).bracket.exact == F(73, 256)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("users", "reports"), [(1, 2), (2, 2), (1, 3)])
def test_reports_of_few_users_are_exactly_those_enumerated(users: int, reports: int, seed: int) -> None:
    rng = random.Random(seed)
    rows = drawn_rows(rng, 2, rng.choice((2, 3)), F(3))
    world = World((rows,) * users, reports=reports, varying=True)
    levels = (F(1), F(3, 2), F(4))
    for level, reached in zip(levels, world.divergences(levels), strict=True):
        found = delta(rows, n=users, exp_eps=level, reports=reports, attained=True)
        assert found.bracket.exact == reached
        assert found.attained is not None
        assert found.attained.lower == reached


@pytest.mark.parametrize("fields_given", [{"null": (F(1, 3), F(2, 3))}, {"pairs": [(0, 2)]}], ids=("null", "pairs"))
@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
def test_reports_of_other_neighbours_are_exactly_those_enumerated(fields_given: Any, direction: str) -> None:
    rows = drawn_rows(random.Random(5), 3, 2, F(3))
    own = (*rows, fields_given["null"]) if "null" in fields_given else rows
    pairs = tuple(fields_given.get("pairs", ())) or None
    world = World((own, own), reports=2, varying=True, null="null" in fields_given, pairs=pairs)
    found = delta(rows, n=2, exp_eps=F(6, 5), reports=2, direction=direction, **fields_given)
    assert found.bracket.exact == world.divergences((F(6, 5),), direction)[0]


@pytest.mark.parametrize("given", [{"reports": 2}, {"threshold": 2}, {"reports": 2, "threshold": 2}])
def test_what_separate_and_full_batches_attain_is_not_claimed(given: Any) -> None:
    """One batch of all reports, or counts of which some are left out, have smaller divergences."""
    rows = randomized_response(3, F(3))
    assert delta(rows, n=12, exp_eps=2, attained=True, **given).attained is None
    assert delta(rows, n=2, exp_eps=2, attained=True, reports=2, threshold=2).attained is None


def test_many_users_with_reports_have_the_bound_on_separate_batches() -> None:
    rows = randomized_response(3, F(3))
    few, many = delta(rows, n=4, exp_eps=2, reports=2), delta(rows, n=12, exp_eps=2, reports=2)
    assert (few.bracket.engine, many.bracket.engine) == ("enumeration", "rounds")
    assert many.bracket.upper < few.bracket.upper
    wider = delta(rows, n=4, exp_eps=2, periods=2)
    assert wider.bracket.upper >= few.bracket.upper


@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
def test_two_given_datasets_have_their_exact_divergence(direction: str) -> None:
    rows = drawn_rows(random.Random(1), 3, 3, F(4))
    datasets = ([0, 1, 1], [2, 1, 0])
    world = World((rows,) * 3, datasets=(tuple(datasets[0]), tuple(datasets[1])))
    for level in LEVELS:
        found = delta(rows, datasets=datasets, exp_eps=level, direction=direction, arithmetic="exact")
        assert found.bracket.exact == world.divergences((level,), direction)[0]
        target = found.bracket.exact
        if 0 < target < 1 and level > 1:
            eps = epsilon(rows, datasets=datasets, delta=target, direction=direction).bracket
            assert delta(rows, datasets=datasets, eps=eps.upper, direction=direction).bracket.upper <= target
            assert delta(rows, datasets=datasets, eps=max(eps.lower - F(1, 10**6), 0)).bracket.lower >= target
    found = total_variation(rows, datasets=datasets, direction=direction)
    assert found.bracket.exact == world.divergences((F(1),), direction)[0]


def test_two_given_datasets_may_run_what_is_not_rational() -> None:
    krr = randomizer("krr").at(k=3, eps0=1)
    found = delta(krr, datasets=([0, 1, 1], [2, 1, 1]), eps="1/10").bracket
    assert 0 < found.lower <= found.upper < found.lower + F(1, 10**20)
    near = randomized_response(3, F(271828182845904523536, 10**20))
    exact = World((near,) * 3, datasets=((0, 1, 1), (2, 1, 1))).divergences((F(11051709180756476248, 10**19),))[0]
    assert abs(exact - found.upper) < F(1, 10**15)


@pytest.mark.parametrize(
    "given", [{"datasets": ([0, 9], [1, 1])}, {"datasets": ([0, 1], [1, 1]), "n": 3}, {"datasets": ([0], [0, 1])}]
)
def test_datasets_that_do_not_fit_are_refused(given: Any) -> None:
    with pytest.raises(InputError):
        delta(randomized_response(2, F(3)), eps=1, **given)


def test_what_cannot_be_enumerated_exactly_is_refused() -> None:
    rows = randomized_response(2, F(3))
    for given in ({"reports": 2, "n": 2}, {"datasets": ([0, 1], [1, 1])}):
        with pytest.raises(Unsupported):
            delta(rows, eps=1, arithmetic="exact", **given)  # type: ignore[arg-type]  # a field
    with pytest.raises(Unsupported):
        delta(rows, eps=1, datasets=([0] * 50_000, [1] * 50_000))


@pytest.mark.parametrize("question", [lambda rows, **given: smallest_n(rows, eps=1, delta="1e-3", **given)])
def test_other_questions_refuse_two_given_datasets(question: Any) -> None:
    with pytest.raises(SymshuffleError):
        question(randomized_response(2, F(3)), datasets=([0, 1], [1, 1]))


def test_levels_of_enumerated_reports_meet_their_target() -> None:
    rows = randomized_response(2, F(3))
    for target in (F(1, 100), F(1, 10), F(73, 256)):
        eps = epsilon(rows, n=2, reports=2, delta=target).bracket
        assert delta(rows, n=2, reports=2, eps=eps.upper).bracket.upper <= target
        assert delta(rows, n=2, reports=2, eps=eps.lower - F(1, 10**9)).bracket.lower > target
    assert epsilon(rows, n=2, reports=2, delta="99/100").bracket.upper == 0
    erasure = [["1/2", "1/2", 0], [0, "1/2", "1/2"]]
    with pytest.raises(Unsupported):
        epsilon(erasure, n=2, reports=2, delta="1/4")


@pytest.mark.parametrize("level", LEVELS)
def test_fields_of_post_processing_change_nothing(level: F) -> None:
    rows = _rows(1)
    plain = delta(rows, n=N, exp_eps=level).bracket
    for given in ({"threshold": 2}, {"memoised": True, "periods": 30}, {"min_batch_size": N}, {"dropout": 0}):
        assert delta(rows, n=N, exp_eps=level, **given).bracket == plain


def test_total_variation_is_delta_at_zero() -> None:
    rows = _rows(2)
    for given in ({}, {"dropout": F(1, 3)}, {"reports": 2}, {"colluding": 1}):
        assert total_variation(rows, n=N, **given).bracket == delta(rows, n=N, eps=0, **given).bracket


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("colluding", [2, "2/3", "50%"])
def test_all_others_collude(level: F, colluding: Any) -> None:
    """One honest user is left, whose local divergence is attained."""
    rows = _rows(4)
    reached = World((rows,) * N, colluding=2).divergences((level,))[0]
    found = delta(rows, n=N, exp_eps=level, colluding=colluding, arithmetic="exact").bracket.exact
    assert found == reached == World((rows,)).divergences((level,))[0]


@pytest.mark.parametrize("level", LEVELS)
def test_shares_of_colluding_users_are_rounded_up(level: F) -> None:
    rows = _rows(5)
    exact = [
        delta(rows, n=N, exp_eps=level, colluding=c, arithmetic="exact").bracket.exact for c in ("1/3", 1, "1%", "34%")
    ]
    assert exact[0] == exact[1] == exact[2] <= exact[3]
    with pytest.raises(InputError):
        delta(rows, n=N, exp_eps=level, colluding="99%")


def test_dropout_of_all_reports_together_exceeds_separate_batches() -> None:
    """Why several reports and dropout are refused: separate batches would draw anew who drops out of each."""
    rows, level, gone = randomized_response(2, F(3)), F(4), F(1, 10)
    together = World((rows, rows), reports=2, dropout=(F(0), gone)).divergences((level,))[0]
    separate = delta(rows, n=2, periods=2, dropout=gone, exp_eps=level).bracket.upper
    assert together > separate
    with pytest.raises(InputError):
        delta(rows, n=2, reports=2, dropout=gone, exp_eps=level)


def test_dummies_are_shared_by_the_reports_of_a_period() -> None:
    rows = randomized_response(2, F(3))
    given: Any = {"exp_eps": F(6, 5), "reports": 2}
    found = [delta([Group(rows, 2), Group.of_dummies(d)], **given).bracket.upper for d in (2, 3, 4)]
    assert found[0] == found[1] > found[2]
    world = World((rows, rows), reports=2, varying=True, dummies=((F(1, 2), F(1, 2)),) * 2)
    assert found[0] >= world.divergences((F(6, 5),))[0]


def test_oracle_counts_two_histograms() -> None:
    """The oracle by hand: 2-RR at lam = 3, datasets (0, 0) and (0, 1): 2/16 * (9 - 3) above the diagonal."""
    rows = randomized_response(2, F(3))
    views = [World((rows, rows)).view(((0,), (x,)), {0, 1}, set(), {0}) for x in (0, 1)]
    assert [sum(view.values()) for view in views] == [1, 1]
    assert hockey_stick(views[0], views[1], F(1)) == F(3, 8)
