"""The source of which only the local budget is known: against enumeration, and where its assumption fails."""

import itertools
import random
from fractions import Fraction as F
from typing import Any

import pytest
from typer.testing import CliRunner

from symshuffle import Channel, any_ldp, compare, delta, epsilon, largest_eps0, prove, randomizer, renyi, smallest_n
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels import shuffled_divergence
from symshuffle.cli import app
from symshuffle.ledger.recheck import bound
from tests.shown import as_html


def ldp_channel(rng: random.Random, lam: int, inputs: int) -> Channel:
    """A channel whose rows are all within a factor lam, with rational entries."""
    outputs = rng.randint(2, 4)
    while True:
        rows = []
        for _ in range(inputs):
            raw = [rng.choice((1, lam, rng.randint(1, lam))) for _ in range(outputs)]
            rows.append([F(x, sum(raw)) for x in raw])
        found = Channel.from_rows(rows)
        cap = found.ratio_cap()
        if isinstance(cap, F) and 1 < cap <= lam:
            return found


def test_the_bound_holds_for_drawn_channels_of_the_budget() -> None:
    rng = random.Random(5)
    for _ in range(25):
        lam, n = rng.randint(2, 4), rng.randint(1, 3)
        channel = ldp_channel(rng, lam, 3)
        target = 1 + (F(lam) - 1) * F(rng.randint(0, 3), 4)
        generic = delta(any_ldp(lam=lam), n=n, exp_eps=target, arithmetic="exact").bracket.exact
        assert generic is not None
        for x, z in itertools.permutations(range(3), 2):
            for others in itertools.combinations_with_replacement(range(3), n - 1):
                assert shuffled_divergence(channel, (x, *others), (z, *others), target) <= generic


def two_users_apart(lam: F, target: F) -> F:
    """Binary randomized response on {a, b} by one user and on {c, d} by the other: shuffling hides nothing."""
    high, low = lam / (lam + 1), 1 / (lam + 1)
    first = {"a": high, "b": low}, {"a": low, "b": high}
    second = {"c": high, "d": low}
    laws: list[dict[tuple[str, ...], F]] = [{}, {}]
    for law, own in zip(laws, first, strict=True):
        for (y, p), (z, q) in itertools.product(own.items(), second.items()):
            multiset = tuple(sorted((y, z)))
            law[multiset] = law.get(multiset, F(0)) + p * q
    return sum((max(F(0), laws[0][m] - target * laws[1][m]) for m in laws[0]), start=F(0))


def test_two_users_with_disjoint_alphabets_exceed_the_bound() -> None:
    lam, target = F(3), F(6, 5)
    found = delta(any_ldp(lam=lam), n=2, exp_eps=target, arithmetic="exact")
    assert found.bracket.exact is not None
    assert two_users_apart(lam, target) > found.bracket.exact
    assert "all users run the same one, or different ones whose rows all together are within exp(eps0)" in found.about


def test_binary_randomized_response_has_the_same_bound_and_the_best_pair_is_named() -> None:
    binary, generic = randomizer("rr").at(eps0=1), any_ldp(eps0=1)
    found = epsilon(generic, n=10_000, delta="1e-6", attained=True)
    assert round(float(found.bracket.upper), 4) == 0.0432
    assert found.bracket.upper == epsilon(binary, n=10_000, delta="1e-6").bracket.upper
    assert found.attained is not None
    attained = [
        epsilon(one, n=10_000, delta="1e-6", attained=True).attained
        for one in (binary, *(randomizer("krr").at(eps0=1, k=k) for k in (3, 4, 5)))
    ]
    best = max(one.lower for one in attained if one is not None)
    assert found.attained.lower >= best
    assert found.attained.datasets.startswith("krr k=3 at exp(eps0) = exp(1), X0 = (0, 2 x 9999)")


def test_every_door_without_a_matrix_takes_it() -> None:
    source = any_ldp(eps0=1)
    assert smallest_n(source, eps="0.1", delta="1e-6").bracket.upper == 2096
    budget = largest_eps0(any_ldp(), n=10_000, eps="0.1", delta="1e-6").bracket.lower
    assert epsilon(any_ldp(eps0=budget), n=10_000, delta="1e-6").bracket.upper <= F(1, 10) + F(1, 10**6)
    whole = epsilon(source, n=1000, delta="1e-6").bracket.upper
    for whom in ({"group_size": 2}, {"dropout": "1/10"}, {"min_batch_size": 500}):
        assert epsilon(source, n=1000, delta="1e-6", **whom).bracket.upper > whole
    assert renyi(source, n=1000, order=2).bracket.upper > 0
    content = prove(delta(source, n=1000, eps="0.1")).content
    assert "any-ldp" in bound.check(content)


@pytest.mark.parametrize(
    "asked",
    [
        ["delta", "--n", "100", "--eps", "0.5"],
        ["epsilon", "--n", "100", "--delta", "1e-3"],
        ["epsilon", "--n", "100", "--delta", "1e-3", "--periods", "3"],
        ["smallest-n", "--eps", "0.5", "--delta", "1e-3"],
        ["renyi", "--n", "100", "--order", "2"],
    ],
)
def test_the_commands_take_it(asked: list[str]) -> None:
    command, *options = asked
    found = CliRunner().invoke(app, [command, "any-ldp", "--eps0", "1", *options])
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize(
    ("whom", "named"), [({"adjacency": "zero-out"}, "null symbol"), ({"blanket": "largest"}, "blanket largest")]
)
def test_what_it_cannot_cover_is_refused_by_name(whom: dict[str, Any], named: str) -> None:
    with pytest.raises(Unsupported, match=named):
        delta(any_ldp(eps0=1), n=10, eps=1, **whom)


@pytest.mark.parametrize(("values", "named"), [({"eps0": 1, "delta0": "1e-9"}, "delta0"), ({"eps0": -1}, "eps0")])
def test_what_is_no_pure_budget_is_refused_by_name(values: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        any_ldp(**values)
    with pytest.raises(InputError, match="eps0"):
        delta(any_ldp(), n=10, eps=1)


def test_a_comparison_at_a_local_level_shows_what_holds_for_any_randomizer() -> None:
    found = compare(10, n=10_000, eps0=1, delta="1e-6", mechanisms=["krr", "any-ldp"])
    rows = {row.name: row for row in found.rows}
    known, generic = rows["krr"].epsilon, rows["any-ldp"].epsilon
    assert known is not None
    assert generic is not None
    assert known.upper < generic.lower
    alone = epsilon(any_ldp(eps0=1), n=10_000, delta="1e-6").bracket
    assert generic.lower <= alone.upper
    assert alone.lower <= generic.upper
    assert rows["any-ldp"].risk is None


def test_what_is_attained_by_one_of_a_group_is_said_to_be() -> None:
    alone, both = (delta(any_ldp(eps0=1), n=50, eps="0.3", group_size=g, attained=True) for g in (1, 2))
    assert "one user differs" in both.to_dict()["attained_by"] and "one user differs" in as_html(both)
    assert "one user differs" not in alone.to_dict()["attained_by"]


def test_it_is_a_row_at_a_central_target() -> None:
    found = compare(3, n=1000, eps="0.1", delta="1e-6", mechanisms=["any-ldp"]).row("any-ldp")
    budget = largest_eps0(any_ldp(), n=1000, eps="0.1", delta="1e-6", rtol=1e-4).bracket
    assert found.eps0 == budget and found.epsilon is not None and found.epsilon.upper == F(1, 10)
    with pytest.raises(InputError, match="mechanisms = any-ldp: expected a match at eps0 or eps"):
        compare(3, n=1000, budget="1/4", mechanisms=["any-ldp"])
