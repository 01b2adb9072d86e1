"""What is attained is what the datasets named really have, in one direction: counted out for every door and covering.

The truth is made here from rows of probabilities alone: the laws of the histogram of messages of the two datasets that
an answer names, read back from its words, and of all neighbours that a covering allows.
"""

import inspect
import itertools
import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction as F
from typing import Any

import pytest

from symshuffle import (
    Channel,
    Deployment,
    Group,
    InputError,
    delta,
    epsilon,
    joint,
    parallel,
    randomizer,
    renyi,
    subsample,
)
from symshuffle.accountants.deployment.model import KEYWORDS
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions.adversary import worst_constant, worst_of_channel
from symshuffle.cli import main
from symshuffle.decompositions import Composed, hamming
from symshuffle.mechanisms import Laplace
from symshuffle.vectors import SphereLinear
from tests.oracles.messages import Law, Row, exponential, hockey_stick, largest, messages, product, renyi_divergence
from tests.public import PUBLIC

ORDER = F(101, 100)
"""Next to 1, where either direction may have the most, from one number of messages to the next."""

NULL = (F(1, 4), F(3, 4))
NAMED = re.compile(
    r"X0 = \((.+), (\(.*\)|\w+) x (\d+)\), X1 = \((.+), (\(.*\)|\w+) x (\d+)\)(?:, inputs (?:of each part )?named(.*))?"
)
"""Two datasets in the words of an answer: who differs, what the others hold and how many they are; which inputs."""


# What is asked about.


@dataclass(frozen=True)
class Case:
    """A source, the row of an input by the name that answers give it, and all rows with those of neighbours."""

    source: Any
    row: Callable[[str, str], Row]
    pairs: tuple[tuple[Row, Row], ...] = ()
    held: tuple[Row, ...] = ()

    def named(self, datasets: str, dropout: F = F(0)) -> tuple[Law, Law, int]:
        """The laws of two datasets by their words, and how many users they have."""
        found = NAMED.fullmatch(datasets)
        assert found is not None, datasets
        first, same, count, second, other, again, words = found.groups()
        assert (same, count) == (other, again)
        others = [self.row(same, words or "")] * int(count)
        one, other_law = (messages(self.row(x, words or ""), others, dropout) for x in (first, second))
        return one, other_law, int(count) + 1

    def worst(self, n: int, direction: str, x: F, dropout: F = F(0), group: int = 1) -> F:
        """The largest divergence of all datasets that differ in as many users, the first of whom sends for certain."""
        found = F(0)
        for several in itertools.chain(*(itertools.product(self.pairs, repeat=g) for g in range(1, group + 1))):
            for turned in itertools.product((1, -1), repeat=len(several) - 1):
                changed = [several[0], *(pair[::turn] for pair, turn in zip(several[1:], turned, strict=True))]
                for others in itertools.combinations_with_replacement(self.held, n - len(several)):
                    laws = [
                        messages(changed[0][i], [*(pair[i] for pair in changed[1:]), *others], dropout) for i in (0, 1)
                    ]
                    found = max(found, largest(hockey_stick, *laws, direction, x))
        return found


def listed(rows: list[list[F]], covering: dict[str, Any]) -> Case:
    """A channel of rows; X0 holds the input with the smaller number, or the input against the null symbol."""
    inputs = tuple(map(tuple, rows))
    if covering.get("adjacency") == "zero-out":
        least = [min(column) for column in zip(*inputs, strict=True)]
        null = tuple(mass / sum(least) for mass in least)
    else:
        null = covering.get("null")
    compared = covering.get("pairs", covering.get("graph"))
    pairs = itertools.combinations(inputs, 2) if null is None else ((row, null) for row in inputs)
    if compared is not None:
        pairs = ((inputs[min(pair)], inputs[max(pair)]) for pair in compared)
    held = inputs if null is None else (*inputs, null)
    return Case(
        Channel.from_rows(rows), lambda name, _: null if name == "null" else inputs[int(name)], tuple(pairs), held
    )


def drawn(seed: int, inputs: int) -> list[list[F]]:
    rng = random.Random(seed)
    weights = [[rng.randint(1, 9) for _ in range(2)] for _ in range(inputs)]
    return [[F(w, sum(row)) for w in row] for row in weights]


CHANNELS = {
    "one that was wrong": [[F(1, 2), F(1, 2)], [F(3, 5), F(2, 5)]],
    "skew": [[F(1, 2), F(1, 2)], [F(1, 10), F(9, 10)]],
    "two inputs": drawn(1, 2),
    "three inputs": drawn(2, 3),
}

COVERINGS: dict[str, dict[str, Any]] = {
    "all": {},
    "adjacency": {"adjacency": "replace-one"},
    "blanket": {"blanket": "largest"},
    "zero-out": {"adjacency": "zero-out"},
    "null": {"null": NULL},
    "min_batch_size": {"min_batch_size": 2},
    "dropout": {"dropout": F(1, 3)},
    "group_size": {"group_size": 2},
    "colluding": {"colluding": 1},
    "pairs": {"pairs": [(0, 1)]},
    "graph": {"graph": [(1, 0)]},
    "threshold": {"threshold": 3},
    "memoised": {"memoised": True},
    "zero-out with dropout": {"adjacency": "zero-out", "dropout": F(1, 2)},
    "null with dropout": {"null": NULL, "dropout": F(1, 5)},
    "null of at least 2": {"null": NULL, "min_batch_size": 2},
    "group with dropout": {"group_size": 2, "dropout": F(1, 3)},
    "null for groups with dropout": {"null": NULL, "group_size": 2, "dropout": F(2, 3)},
}


def honest(n: int, covering: dict[str, Any]) -> int:
    """How many messages certainly are in a batch, and are of users whom nobody else knows."""
    users: int = covering.get("min_batch_size", n) - covering.get("colluding", 0)
    return users


# The doors, each against what the datasets that it names have.


def of_delta(case: Case, n: int, direction: str, covering: dict[str, Any], arithmetic: str = "exact") -> Any:
    """What the named datasets have, once it is shown to be attained."""
    asked = {"n": n, "exp_eps": ORDER, "direction": direction, "attained": True, "arithmetic": arithmetic}
    found, dropout = delta(case.source, **asked, **covering), covering.get("dropout", F(0))
    one, other, users = case.named(found.attained.datasets, dropout)
    assert users == honest(n, covering)
    has = largest(hockey_stick, one, other, direction, ORDER)
    if arithmetic == "exact":
        assert found.attained.lower == has
    assert has * F(999, 1000) <= found.attained.lower <= has <= found.bracket.upper
    if case.pairs:
        constant = itertools.product(case.pairs, case.held)
        backgrounds = ([messages(x, [held] * (users - 1), dropout) for x in pair] for pair, held in constant)
        assert has == max(largest(hockey_stick, *laws, direction, ORDER) for laws in backgrounds)
        assert has <= case.worst(users, direction, ORDER, dropout, covering.get("group_size", 1)) <= found.bracket.upper
    return has


def of_delta_rounded(case: Case, n: int, direction: str, covering: dict[str, Any]) -> None:
    of_delta(case, n, direction, covering, "float64")
    of_delta(case, n, direction, covering, "ball")


def of_epsilon(case: Case, n: int, direction: str, covering: dict[str, Any]) -> None:
    target = delta(case.source, n=n, exp_eps=ORDER, direction=direction, attained=True, **covering).attained.lower
    found = epsilon(case.source, n=n, delta=target, direction=direction, rtol=1e-2, attained=True, **covering)
    level = found.attained.lower
    one, other, _ = case.named(found.attained.datasets, covering.get("dropout", F(0)))
    assert 0 < level <= found.bracket.upper
    assert largest(hockey_stick, one, other, direction, exponential(level)) > target * (1 - F(1, 10**20))
    assert largest(hockey_stick, one, other, direction, exponential(level * F(102, 100))) < target


def of_renyi(case: Case, n: int, direction: str, covering: dict[str, Any]) -> None:
    found = renyi(case.source, n=n, order=3, direction=direction, rtol=3e-2, attained=True, **covering)
    one, other, _ = case.named(found.attained.datasets)
    has = largest(renyi_divergence, one, other, direction, 3)
    assert 0.95 * has <= found.attained.lower <= has * (1 + 1e-12)
    assert found.attained.lower <= found.bracket.upper


Part = tuple[Case, int, int]
"""Rounds that are alike: what is run, how often, and by how many users."""


def summed(one: list[Law], other: list[Law], alpha: int) -> float:
    return sum(renyi_divergence(*pair, alpha) for pair in zip(one, other, strict=True))


def all_rounds(parts: list[Part], datasets: str, dropout: F = F(0)) -> tuple[list[Law], list[Law]]:
    """The laws of the messages of every round, for both datasets that an answer about several rounds names."""
    laws: tuple[list[Law], list[Law]] = [], []
    for (case, times, users), text in zip(parts, datasets.split("; "), strict=True):
        found = re.fullmatch(r"(.*) in (every round|\d+ rounds?)", text)
        assert found is not None
        assert found[2].split()[0] == str(times) or (found[2] == "every round" and len(parts) == 1)
        one, other, named = case.named(found[1], dropout)
        assert named == users
        laws[0].extend([one] * times)
        laws[1].extend([other] * times)
    return laws


def in_all_rounds(one: list[Law], other: list[Law], x: F) -> F:
    return hockey_stick(product(*one), product(*other), x)


def of_delta_in_rounds(case: Case, n: int, direction: str, covering: dict[str, Any]) -> None:
    """Losses of few outcomes are off the lattice, which at this width keeps two thirds of delta, and a third of eps."""
    found = delta(case.source, n=n, periods=2, exp_eps=ORDER, rtol=0.03, attained=True, **covering)
    parts = [(case, 2, honest(n, covering))]
    laws = all_rounds(parts, found.attained.datasets, covering.get("dropout", F(0)))
    has = largest(in_all_rounds, *laws, direction, ORDER)
    assert has * F(2, 3) <= found.attained.lower <= has
    assert found.attained.lower <= found.bracket.upper


def of_epsilon_in_rounds(case: Case, n: int, direction: str, covering: dict[str, Any]) -> None:
    target = delta(case.source, n=n, exp_eps=1, attained=True, **covering).attained.lower / 3
    found = epsilon(case.source, n=n, periods=2, delta=target, rtol=0.03, attained=True, **covering)
    parts = [(case, 2, honest(n, covering))]
    laws, level = all_rounds(parts, found.attained.datasets, covering.get("dropout", F(0))), found.attained.lower
    assert 0 < level <= found.bracket.upper
    assert largest(in_all_rounds, *laws, direction, exponential(level)) > target * (1 - F(1, 10**9))
    assert largest(in_all_rounds, *laws, direction, exponential(3 * level)) < target


def of_renyi_in_rounds(case: Case, n: int, direction: str, covering: dict[str, Any]) -> None:
    found = renyi(case.source, n=n, periods=2, order=3, rtol=3e-2, attained=True, **covering)
    laws = all_rounds([(case, 2, honest(n, covering))], found.attained.datasets)
    has = largest(summed, *laws, direction, 3)
    assert 0.95 * has <= found.attained.lower <= has * (1 + 1e-12)


def of_the_worst_constant(case: Case, n: int, direction: str, covering: dict[str, Any]) -> None:
    found = worst_constant(reduction(case.source, **covering), n, ORDER, arithmetic="exact")
    dropout = covering.get("dropout", F(0))
    one, other, _ = case.named(found.datasets, dropout)
    assert found.bracket.exact == largest(hockey_stick, one, other, found.direction, ORDER)
    assert f"D(M({'X0' if found.direction == 'forward' else 'X1'}) || " in found.about


EVERY = ("forward", "reverse", "both")
DOORS: dict[str, tuple[Callable[..., None], tuple[int, ...], tuple[str, ...], tuple[str, ...]]] = {
    "delta": (of_delta, (2, 4), EVERY, ("one that was wrong", "two inputs", "three inputs")),
    "delta, rounded": (of_delta_rounded, (3,), ("both",), ("skew", "three inputs")),
    "epsilon": (of_epsilon, (2,), EVERY, ("one that was wrong",)),
    "renyi": (of_renyi, (3,), EVERY, ("skew",)),
    "delta of rounds": (of_delta_in_rounds, (3,), ("both",), ("skew",)),
    "epsilon of rounds": (of_epsilon_in_rounds, (3,), ("both",), ("skew",)),
    "renyi of rounds": (of_renyi_in_rounds, (3,), ("both",), ("skew",)),
    "worst constant": (of_the_worst_constant, (4,), ("both",), ("one that was wrong", "skew", "three inputs")),
}
"""What is asked, for how many users, in which directions, of which channels."""


def refused(door: str, covering: dict[str, Any]) -> bool:
    """Rényi divergences take no mean over messages; neither they nor rounds take a group."""
    several = "of rounds" in door
    return ("dropout" in covering and "renyi" in door) or ("group_size" in covering and (several or "renyi" in door))


UNPUBLISHED: dict[str, Callable[..., Any]] = {
    "delta": lambda source, **asked: delta(source, exp_eps=ORDER, arithmetic="exact", **asked),
    "delta, rounded": lambda source, **asked: delta(source, exp_eps=ORDER, **asked),
    "epsilon": lambda source, **asked: epsilon(source, delta="1/100", **asked),
    "renyi": lambda source, **asked: renyi(source, order=3, **asked),
    "delta of rounds": lambda source, **asked: delta(source, periods=2, exp_eps=ORDER, rtol=0.03, **asked),
    "epsilon of rounds": lambda source, **asked: epsilon(source, periods=2, delta="1/100", rtol=0.03, **asked),
    "renyi of rounds": lambda source, **asked: renyi(source, periods=2, order=3, **asked),
}
"""Where small counts are not published: datasets have the divergence of all counts, so that nothing is attained."""


@pytest.mark.parametrize("covering", COVERINGS)
@pytest.mark.parametrize("door", DOORS)
def test_what_is_attained_is_what_the_datasets_named_have(door, covering):
    check, sizes, directions, channels = DOORS[door]
    asked = COVERINGS[covering]
    if "memoised" in asked and "of rounds" in door:  # the messages of the first period are sent in all
        check, asked = DOORS[door.removesuffix(" of rounds")][0], asked | {"periods": 2}
    for name, n, direction in itertools.product(channels, sizes, directions):
        case = listed(CHANNELS[name], asked)
        if n < max(asked.get("min_batch_size", 1), asked.get("group_size", 1)) or (
            "group_size" in asked and direction != "both"
        ):
            continue
        if "threshold" in asked and door in UNPUBLISHED:
            assert UNPUBLISHED[door](case.source, n=n, direction=direction, attained=True, **asked).attained is None
        elif refused(door, asked):
            with pytest.raises(InputError, match=r"^(dropout|group_size) = .*: expected "):
                check(case, n, direction, asked)
        else:
            check(case, n, direction, asked)


def test_no_door_and_no_covering_is_missing():
    answers = {
        name: value
        for name, value in PUBLIC.items()
        if is_dataclass(value) and "attained" in {one.name for one in fields(value)}
    }
    doors = {
        name
        for name, value in PUBLIC.items()
        if inspect.isfunction(value)
        and (inspect.signature(value).return_annotation in answers or "attained" in inspect.signature(value).parameters)
    }
    # total variation is delta at eps = 0; searches answer without a pair
    assert doors == {"delta", "epsilon", "renyi", "total_variation", "smallest_n", "largest_eps0"}
    assert {f"{door}{of}" for door in ("delta", "epsilon", "renyi") for of in ("", " of rounds")} <= DOORS.keys()
    alone = {name for covering in COVERINGS.values() for name in covering if len(covering) == 1}
    assert set(KEYWORDS) - {"n", "periods", "reports", "datasets"} == alone  # periods are those "of rounds"


def test_nothing_is_attained_unless_that_is_asked():
    source = Channel.from_rows(CHANNELS["skew"])
    assert delta(source, n=2, exp_eps=ORDER).attained is None
    assert epsilon(source, n=2, delta="1/20").attained is None
    assert renyi(source, n=2, order=2, rtol=0.1).attained is None


def test_users_of_unequal_budgets_are_told_a_bound_alone():
    """It is above every dataset in either direction, and nothing is said to be attained."""
    rows = [[[F(3, 5), F(2, 5)], [F(2, 5), F(3, 5)]], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]]
    users = [Group(Channel.from_rows(rows[0]), 1), Group(Channel.from_rows(rows[1]), 2)]
    found = delta(users, exp_eps=ORDER, arithmetic="exact")
    run = [tuple(map(tuple, rows[i])) for i in (0, 1, 1)]
    for place, held in itertools.product(range(3), itertools.product((0, 1), repeat=3)):
        senders = [run[i][x] for i, x in enumerate(held) if i != place]
        laws = [messages(run[place][x], senders) for x in (0, 1)]
        assert largest(hockey_stick, *laws, "both", ORDER) <= found.bracket.exact
    assert found.attained is None
    assert epsilon(users, delta="1/20").attained is None


# Sources whose answers name inputs by what they are to each other.


def krr(k: int, lam: int, x: int) -> Row:
    return tuple(F(lam if x == y else 1, lam + k - 1) for y in range(k))


def oue(lam: int, x: int) -> Row:
    """Two inputs: the own bit is on with probability 1/2, the other one with 1/(lam + 1)."""
    on = [F(1, 2) if x == y else F(1, lam + 1) for y in range(2)]
    return tuple(math.prod(p if bit else 1 - p for p, bit in zip(on, bits, strict=True)) for bits in EVERY_TWO)


def half_block(lam: int, x: int, words: str) -> Row:
    """Four inputs on a cycle; 0 and 1 are at the distance that the words say."""
    distance = re.search(r"cyclic distance (\d)", words)
    place = 0 if distance is None else x * int(distance[1])
    return tuple(F(lam if (y - place) % 4 < 2 else 1, 2 * (lam + 1)) for y in range(4))


EVERY_TWO = tuple(itertools.product((0, 1), repeat=2))


def of_parts(name: str) -> list[int]:
    return [int(digit) for digit in re.findall(r"\d", name)]


def both_of(*rows: Row) -> Row:
    """The row of a joint composition."""
    return tuple(math.prod(each, start=F(1)) for each in itertools.product(*rows))


def either_of(weight: F, one: Row, other: Row) -> Row:
    """The row of a parallel composition."""
    return (*(weight * p for p in one), *((1 - weight) * p for p in other))


K2, K3, HALF = randomizer("krr").at(k=2), randomizer("krr").at(k=3), randomizer("half-block").at(k=4)
NAMED_SOURCES = {
    "krr": Case(randomizer("krr").at(k=3, lam=3), lambda x, _: krr(3, 3, int(x))),
    "oue": Case(randomizer("oue").at(D=2, lam=3), lambda x, _: oue(3, int(x))),
    "half-block": Case(randomizer("half-block").at(k=4, lam=3), lambda x, words: half_block(3, int(x), words)),
    "half-block, d = 1": Case(
        randomizer("half-block").at(k=4, d=1, lam=3), lambda x, _: half_block(3, int(x), "cyclic distance 1")
    ),
    "joint": Case(
        Composed(joint(K2, K3), F(4)),
        lambda x, _: both_of(*(krr(k, 2, y) for k, y in zip((2, 3), of_parts(x), strict=True))),
    ),
    "hamming": Case(
        Composed(hamming(joint(K3, K3), 1), F(4)), lambda x, _: both_of(*(krr(3, 2, y) for y in of_parts(x)))
    ),
    "joint with half-block": Case(
        Composed(joint(HALF, K2), F(9)),
        lambda x, words: both_of(half_block(3, of_parts(x)[0], words), krr(2, 3, of_parts(x)[1])),
    ),
    "parallel": Case(
        Composed(parallel([K2, randomizer("oue").at(D=2)], [F(1, 3), F(2, 3)]), F(3)),
        lambda x, _: either_of(F(1, 3), krr(2, 3, of_parts(x)[0]), oue(3, of_parts(x)[1])),
    ),
    "subsampled": Case(
        Composed(subsample(K3, F(1, 4)), F(3)), lambda x, _: either_of(F(1, 4), krr(3, 3, of_parts(x)[0]), (F(1),))
    ),
}


@pytest.mark.parametrize("covering", ["all", "min_batch_size", "dropout", "group with dropout"])
@pytest.mark.parametrize("name", NAMED_SOURCES)
def test_datasets_named_in_words_have_what_is_attained(name, covering):
    for n, direction in itertools.product((2, 3), ("both",) if "group" in covering else EVERY):
        assert 0 <= of_delta(NAMED_SOURCES[name], n, direction, COVERINGS[covering]) <= 1


# Beyond one covering and one round.


@pytest.mark.parametrize("question", ["delta", "renyi"])
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3)])
def test_rounds_that_differ_have_one_direction_in_common(question, sizes):
    """One part has the most forward and the other one back: a pair of datasets has either of the two sums."""
    rows = CHANNELS["skew"]
    cases = [listed(rows, {}), listed(rows[::-1], {})]
    plan = [Deployment(Group(case.source, n)) for case, n in zip(cases, sizes, strict=True)]
    parts = [(case, 1, n) for case, n in zip(cases, sizes, strict=True)]
    if question == "delta":
        found = delta(plan, n=None, exp_eps=ORDER, rtol=0.03, attained=True).attained
        least, has = F(2, 3), largest(in_all_rounds, *all_rounds(parts, found.datasets), "both", ORDER)
    else:
        found = renyi(plan, n=None, order=3, rtol=1e-2, attained=True).attained
        least, has = 0.97, largest(summed, *all_rounds(parts, found.datasets), "both", 3) * (1 + 1e-12)
    assert least * has <= found.lower <= has


CONTINUOUS = {"laplace": (Laplace(F(2), cells=10), 4), "sphere-linear": (SphereLinear("1/4", 1), 3)}
"""At these numbers of users one direction has more than at one message less, and the other one less."""


@pytest.mark.parametrize("name", CONTINUOUS)
def test_two_datasets_with_densities_have_the_larger_of_two_means(name):
    source, n = CONTINUOUS[name]
    asked = {"n": n, "exp_eps": ORDER, "adjacency": "zero-out", "dropout": "1/3", "attained": True, "rtol": 1e-2}
    found = {way: delta(source, direction=way, **asked).attained.lower for way in EVERY}
    assert found["forward"] != found["reverse"]
    assert found["both"] == max(found["forward"], found["reverse"])


def test_the_worst_datasets_are_named_with_their_direction():
    for name, rows in CHANNELS.items():
        case = listed(rows, {})
        found = worst_of_channel(case.source, 3, ORDER)
        first, second = (tuple(map(int, re.findall(r"\d", one))) for one in found.datasets.split("), "))
        laws = [messages(case.held[one[1]], [case.held[x] for x in one[2:]]) for one in (first, second)]
        assert found.bracket.exact == hockey_stick(*laws, ORDER) == case.worst(3, "both", ORDER), name


def test_the_shell_tells_what_the_datasets_have(tmp_path, capsys):
    path = tmp_path / "channel.csv"
    path.write_text("1/2,1/2\n3/5,2/5\n")
    asked = ["--exp-eps", "101/100", "--dropout", "1/3", "--arithmetic", "exact", "--json"]
    assert main(["delta", str(path), "--n", "2", *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    case = listed(CHANNELS["one that was wrong"], {})
    one, other, _ = case.named(told["attained_by"], F(1, 3))
    has = largest(hockey_stick, one, other, "both", F(101, 100))
    assert has == F(209, 3000) and 0 <= has - F(told["attained_lower"]) < F(1, 10**15)
    assert main(["delta", "oue", "-p", "D=2", "--lam", "3", "--n", "4", "--exp-eps", "3/2", *asked[2:]]) == 0
    told = json.loads(capsys.readouterr().out)
    one, other, _ = NAMED_SOURCES["oue"].named(told["attained_by"], F(1, 3))
    assert 0 <= largest(hockey_stick, one, other, "both", F(3, 2)) - F(told["attained_lower"]) < F(1, 10**15)
