"""What a bound says of itself is read back into whom it covers, and enumerated: no pair of datasets is above it.

What the reader of `tests.soundness.said` finds (which order, how many users, who may change between what, who sends, in
which rounds) has to be what was asked for, and the largest divergence over exactly those datasets must not exceed the
bound.
"""

import itertools
import math
import random
import re
from dataclasses import replace
from fractions import Fraction as F

import pytest

import symshuffle as s
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.errors import InputError
from symshuffle.cli import main
from symshuffle.decompositions import Composed, hamming
from symshuffle.mechanisms import Mechanism
from tests.shell import answer
from tests.soundness.said import (
    Claim,
    Part,
    covered,
    half_block,
    krr,
    largest,
    near,
    product,
    read,
    read_lines,
    uneven,
    world,
)

# Requests.

LAM = 4
ROWS = uneven([[1, 2, 1], [3, 1, 2], [1, 1, 1]])
TILTED = uneven([[4, 2, 1], [1, 1, 1], [1, 2, 4]])
NEAR = s.randomizer("half-block").at(k=4, d=1)
RR = s.randomizer("rr")
TWO = product(krr(2, 2), krr(2, 2))


def sources():
    half = s.randomizer("half-block")
    tilted = [[str(p) for p in row] for row in TILTED]
    mixed = tuple(
        tuple(p / 3 for p in a) + tuple(2 * p / 3 for p in b) for a, b in zip(krr(2, 4), krr(2, 4), strict=True)
    )
    yield "krr", s.randomizer("krr").at(k=3, lam=LAM), world(krr(3, LAM)), None
    yield "half-block", half.at(k=4, lam=LAM), world(half_block(4, LAM)), None
    yield (
        "half-block, d = 1",
        half.at(k=4, d=1, lam=LAM),
        world(half_block(4, LAM)),
        lambda x, y: near(x[0], y[0], 4) == 1,
    )
    yield "half-block of two", half.at(k=2, d=1, lam=LAM), world(half_block(2, LAM)), None
    hadamard = s.randomizer("hadamard").at(D=4, lam=LAM)
    yield "hadamard", hadamard, world(hadamard.channel().rows), None
    yield "matrix", Mechanism.from_matrix("own", tilted, parameters=()), world(TILTED), None
    yield "inputs 1 and 2", Mechanism.from_matrix("own", tilted, parameters=(), pair=(1, 2)), world(TILTED), \
        lambda x, y: {*x, *y} == {1, 2}  # fmt: skip
    yield "channel", s.Channel.from_rows(ROWS), world(ROWS), None
    yield "decomposed", s.decompositions.simplified_decomposition(s.Channel.from_rows(ROWS), (2, 0)), \
        world(ROWS, chosen=(2, 0)), lambda x, y: {*x, *y} == {0, 2}  # fmt: skip
    yield (
        "joint",
        Composed(s.joint(half.at(k=4), RR), F(LAM)),
        world(product(half_block(4, 2), krr(2, 2)), 4, 2),
        None,
    )
    yield "joint of near", Composed(s.joint(NEAR, RR), F(LAM)), \
        world(product(half_block(4, 2), krr(2, 2)), 4, 2, parts=(("half-block", slice(0, 1)),)), \
        lambda x, y: near(x[0], y[0], 4) < 2  # fmt: skip
    yield "hamming", Composed(hamming(s.joint(RR, RR), 1), F(LAM)), world(TWO, 2, 2), \
        lambda x, y: sum(map(int.__ne__, x, y)) == 1  # fmt: skip
    yield "hamming inside", Composed(s.joint(hamming(s.joint(RR, RR), 1), RR), F(16)), \
        world(product(TWO, krr(2, 4)), 2, 2, 2, parts=(("hamming(joint(rr(lam),2),1)", slice(0, 2)),)), \
        lambda x, y: sum(map(int.__ne__, x[:2], y[:2])) < 2  # fmt: skip
    yield "parallel", Composed(s.parallel([RR, s.randomizer("krr").at(k=2)], [F(1, 3), F(2, 3)]), F(LAM)), \
        world(mixed), None  # fmt: skip
    yield "subsampled", Composed(s.subsample(half.at(k=4), F(1, 3)), F(LAM)), \
        world(tuple((*(p / 3 for p in row), F(2, 3)) for row in half_block(4, LAM))), None  # fmt: skip


SOURCES = {name: rest for name, *rest in sources()}


@pytest.mark.parametrize("direction", ["both", "forward", "reverse"])
@pytest.mark.parametrize("name", SOURCES)
def test_the_pairs_that_are_named_are_bounded(name, direction):
    """What is said is what was asked for; a single user hides behind nobody, so that his bound is attained."""
    source, run, allowed = SOURCES[name]
    ordered = {"decomposed": [(2, 0)], "inputs 1 and 2": [(1, 2)]}
    pairs = covered(run, allowed)
    if direction != "both" and name in ("channel", "matrix"):
        pairs = frozenset((x, y) for x, y in pairs if x < y)
    elif direction != "both" and name in ordered:
        pairs = frozenset(ordered[name])
    orders = ("forward", "reverse") if direction == "both" else (direction,)
    for n in (1, 2) if direction == "both" or len(run.rows) <= 4 else (1,):
        found = s.delta(source, n=n, exp_eps="6/5", arithmetic="exact", direction=direction, attained=True)
        claim = read(found.about, run)
        assert claim == Claim(orders, 1, False, ((Part(n, pairs), 1),))
        assert read_lines(found.lines, run) == claim
        real = largest(claim, F(6, 5), (run.rows, None))
        assert found.bracket.exact >= real
        assert found.attained is None or found.attained.lower <= real
        assert n > 1 or found.bracket.exact == real
        assert found.neighbours.every == (allowed is None)
        assert found.to_dict()["neighbours"]["every_pair"] == (allowed is None)


@pytest.mark.parametrize("ask", [{"exp_eps": "6/5"}, {"delta": "1/20"}])
def test_a_matrix_that_was_normalised_is_named(ask):
    """The same rows, written as fractions and rounded, have different sentences and the same bound."""
    door = s.delta if "exp_eps" in ask else s.epsilon
    thirds, read_off = [["1/3"] * 3, ["1/2", "1/4", "1/4"]], [["0.333"] * 3, ["0.5", "0.25", "0.25"]]
    exactly, rounded = (door(s.Channel.from_rows(rows), n=2, arithmetic="ball", **ask) for rows in (thirds, read_off))
    assert rounded.bracket == exactly.bracket
    run = world(uneven([[1, 1, 1], [2, 1, 1]]))
    assert read(rounded.about, run) == replace(read(exactly.about, run), normalised=True)
    assert read_lines(rounded.lines, run) == replace(read_lines(exactly.lines, run), normalised=True)
    said = re.search(
        r"for every matrix that rounds to the one read, the bound on (\w+) is (\S+) \(claim", rounded.about
    )
    assert said[1] == rounded.quantity and F(said[2]) >= rounded.every_matrix > rounded.bracket.upper
    assert "matrix that rounds" not in exactly.about


NULL = (F(1, 2), F(1, 4), F(1, 4))


@pytest.mark.parametrize("seed", range(24))
def test_requests_at_random(seed):
    rng = random.Random(2400 + seed)
    rows = uneven([[rng.randint(1, 5) for _ in range(3)] for _ in range(rng.choice((2, 3)))])
    n, direction = rng.randint(1, 3), rng.choice(("both", "forward", "reverse"))
    asked = rng.choice(({}, {"min_batch_size": rng.randint(1, n)}, {"dropout": F(1, rng.randint(2, 4))}))
    group = rng.randint(1, min(n, 2)) if direction == "both" else 1
    null = NULL if rng.random() < 0.4 else None
    x = rng.choice((F(1), F(9, 4)))
    channel, run = s.Channel.from_rows(rows), world(rows)
    found = s.delta(
        channel, n=n, exp_eps=x, arithmetic="exact", direction=direction, group_size=group, null=null, **asked
    )
    ordered = direction != "both" and null is None
    pairs = frozenset((a, b) for a, b in run.pairs() if a < b or not ordered)
    orders = ("forward", "reverse") if direction == "both" else (direction,)
    part = Part(n, pairs, asked.get("min_batch_size"), asked.get("dropout", F(0)))
    claim = read(found.about, run)
    assert claim == Claim(orders, group, null is not None, ((part, 1),))
    assert read_lines(found.lines, run) == claim
    assert found.bracket.exact >= largest(claim, x, (rows, null))
    eps = s.epsilon(channel, n=n, delta="1/20", direction=direction, group_size=group, null=null, rtol=1e-3, **asked)
    assert read(eps.about, run) == claim
    above = F(math.exp(eps.bracket.upper)) * (1 + F(1, 10**12))
    assert largest(claim, above, (rows, null)) <= F(1, 20)


def test_one_request_one_sentence():
    """Over all options of one channel: who is asked for whom is told whom, and nobody is told what another is."""
    channel = s.Channel.from_rows(ROWS)
    whom = [{}, {"min_batch_size": 2}, {"min_batch_size": 1}, {"dropout": "1/3"}, {"group_size": 2},
            {"null": ("1/2", "1/4", "1/4")}, {"null": ("1/4", "1/2", "1/4")}, {"adjacency": "zero-out"}]  # fmt: skip
    answers = [
        s.delta(channel, n=n, exp_eps="6/5", direction=direction, rtol=0.1, **options)
        for n, direction, options in itertools.product((2, 3), ("both", "forward", "reverse"), whom)
        if direction == "both" or "group_size" not in options
    ]
    several = itertools.product((2, 3), (1, 2), ({}, {"min_batch_size": 1}))
    answers += [s.delta(channel, n=n, periods=t, exp_eps=2, rtol=0.9, **one) for t, n, one in several]
    assert len({found.about for found in answers}) == len(answers)
    assert len({(found.lines.protects, found.lines.assumes) for found in answers}) == len(answers)


# Rounds.


KRR, HALF = s.randomizer("krr").at(k=4, lam=2), s.randomizer("half-block").at(k=4, d=1, lam=2)
ALL, CLOSE = world(krr(4, 2)), world(half_block(4, 2))
THREE = s.Channel.from_rows(ROWS)
ONE_PAIR = s.decompositions.simplified_decomposition(THREE, (0, 1))
CLOSE_PAIRS = covered(CLOSE, lambda x, y: near(x[0], y[0], 4) == 1)

PLANS = {
    "alike": ([s.Deployment(THREE, periods=2)], [world(ROWS)], [Part(2, covered(world(ROWS), None))], [2]),
    "all, then near": ([s.Deployment(KRR), s.Deployment(HALF)], [ALL, CLOSE],
                       [Part(2, covered(ALL, None)), Part(2, CLOSE_PAIRS)], [1, 1]),
    "near, then all": ([s.Deployment(HALF), s.Deployment(KRR)], [CLOSE, ALL],
                       [Part(2, CLOSE_PAIRS), Part(2, covered(ALL, None))], [1, 1]),
    "near twice": ([s.Deployment(HALF, periods=2)], [CLOSE], [Part(2, CLOSE_PAIRS)], [2]),
    "one pair": ([s.Deployment(ONE_PAIR, periods=2)], [world(ROWS)], [Part(2, frozenset([(0, 1), (1, 0)]))], [2]),
    "users": ([s.Deployment(s.Group(THREE, 1)), s.Deployment(s.Group(THREE, 2), periods=2)], [world(ROWS), world(ROWS)],
              [Part(1, covered(world(ROWS), None)), Part(2, covered(world(ROWS), None))], [1, 2]),
    "senders": ([s.Deployment(reduction(THREE, min_batch_size=1)), s.Deployment(THREE)], [world(ROWS), world(ROWS)],
                [Part(2, covered(world(ROWS), None), 1), Part(2, covered(world(ROWS), None))], [1, 1]),
    "dropout": ([s.Deployment(reduction(THREE, dropout="1/3")), s.Deployment(THREE)], [world(ROWS), world(ROWS)],
                [Part(2, covered(world(ROWS), None), None, F(1, 3)), Part(2, covered(world(ROWS), None))], [1, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_rounds_say_whom_they_cover_together(name):
    plan, runs, parts, times = PLANS[name]
    n = None if name == "users" else 2
    x = F(5, 4)
    answers = [s.delta(plan, n=n, exp_eps=x, rtol=0.05), s.profile(plan, n=n, eps=["0.25"], rtol=0.5),
               s.epsilon(plan, n=n, delta="1/5", rtol=0.1)]  # fmt: skip
    counted = tuple(sorted(zip(parts, times, strict=True), key=str))
    for one in answers:
        claim = read(one.about, *runs)
        assert claim == Claim(("forward", "reverse"), 1, False, counted)
        assert read_lines(one.lines, *runs) == claim
    assert len(answers[0].neighbours.to_dict()["rounds"]) == len(parts)
    rows = dict(zip(parts, runs, strict=True))
    channels = [(rows[part].rows, None) for part, _ in claim.parts]
    assert answers[0].bracket.upper >= largest(claim, x, *channels)


def test_neighbours_of_one_round_that_are_none_of_another_are_refused():
    null = reduction(THREE, null=("1/2", "1/4", "1/4"))
    for door in (
        lambda plan: s.delta(plan, n=2, exp_eps=2),
        lambda plan: s.epsilon(plan, n=2, delta="1/10"),
        lambda plan: s.renyi(plan, n=2, order=2),
        lambda plan: s.smallest_n(plan, delta="1/10", eps=1),
        lambda plan: s.profile(plan, n=2, eps=["1"]),
    ):
        with pytest.raises(InputError, match="adjacency = zero-out, replace-one: expected the same in all"):
            door([s.Deployment(null), s.Deployment(THREE)])


def test_a_number_of_one_is_no_plural():
    plan = [s.Deployment(s.Group(THREE, 1)), s.Deployment(s.Group(s.randomizer("rr").at(lam=2), 2))]
    found = s.delta(plan, exp_eps=2, rtol=0.1, attained=True)
    order = s.renyi(plan, order=2, rtol=0.1, attained=True)
    least = s.delta(THREE, n=1, exp_eps=2, min_batch_size=1)
    for text in (
        found.about,
        found.attained.datasets,
        order.about,
        order.evaluation,
        order.attained.datasets,
        least.about,
    ):
        assert not re.search(r"\b1 (rounds|users|of them send)\b", text)


# Unequal budgets.


@pytest.mark.parametrize("seed", range(12))
def test_unequal_budgets_cover_all_pairs_in_either_order(seed):
    rng = random.Random(seed)
    omega = [F(rng.randint(1, 4)) for _ in range(2)]
    omega = [w / sum(omega) for w in omega]

    def channel():
        gamma = F(rng.randint(1, 3), 4)
        share = F(rng.randint(0, 2), 4)
        rest = ((1, 0), (share, 1 - share)) if rng.random() < 0.5 else ((share, 1 - share), (0, 1))
        rows = tuple(tuple(gamma * w + (1 - gamma) * p for w, p in zip(omega, row, strict=True)) for row in rest)
        low = [min(column) for column in zip(*rows, strict=True)]
        return rows if [w / sum(low) for w in low] == omega else channel()

    runs = [channel() for _ in range(rng.randint(2, 3))]
    counts = [rng.randint(1, 2) for _ in runs]
    users = [s.Group(s.Channel.from_rows(rows), many) for many, rows in zip(counts, runs, strict=True)]
    everybody = [rows for many, rows in zip(counts, runs, strict=True) for _ in range(many)]
    x = rng.choice((F(1), F(6, 5), F(2)))
    said = set()
    for direction in ("forward", "reverse", "both"):
        found = s.delta(users, exp_eps=x, direction=direction, arithmetic="exact")
        run = world(runs[0])
        claim = read(found.about, run)
        orders = ("forward", "reverse") if direction == "both" else (direction,)
        assert claim == Claim(orders, 1, False, ((Part(sum(counts), frozenset({(0, 1), (1, 0)})), 1),))
        assert found.bracket.exact >= largest(claim, x, (everybody, None))
        assert f"{counts[0]} user" in found.about
        assert read_lines(found.lines, run) == claim
        assert f"public randomizers: {counts[0]} user" in found.lines.assumes
        said.add(found.about)
    assert len(said) == 3


def test_unequal_budgets_in_one_direction_are_not_the_smaller_of_two():
    users = [s.Group(s.Channel.from_rows([["1/2", "1/2"], ["1/10", "9/10"]]), 1)] * 2
    values = {d: s.delta(users, exp_eps=2, direction=d, arithmetic="exact").bracket.exact for d in ORDERS_ASKED}
    assert set(values.values()) == {F(17, 100)}


ORDERS_ASKED = ("forward", "reverse", "both")


# Targets that are met at eps = 0, and budgets that are shared.


def test_below_the_lower_end_a_bound_exceeds_its_target_or_nothing_is_said():
    source = s.randomizer("krr").at(k=4, eps0="1/100")
    met = s.epsilon(source, n=1000, delta="1/10")
    assert met.bracket.upper == 0 and "exceeds" not in met.about and "meets delta at eps = 0 already" in met.about
    plan = s.epsilon(source, n=1000, periods=2, delta="1/10")
    assert plan.bracket.upper > 0 or "exceeds" not in plan.about
    found = s.epsilon(source, n=1000, delta="1/100000")
    assert found.bracket.lower > 0 and "at every eps below lower this bound exceeds delta" in found.about
    under = s.delta(source, n=1000, eps=found.bracket.lower * F(999, 1000), arithmetic="ball")
    assert under.bracket.lower > F(1, 100000)


def shared(text: str) -> tuple:
    m = re.search(r"with (eps0|lam) = (\S+) for all parts together, (\S+) each \(for \1 = (\S+) in each part, ask for "
                  r"\1 = (\S+)\)", text)  # fmt: skip
    assert m, text
    return m[1], F(m[2]), F(m[3]), F(m[4]), F(m[5])


def test_a_composition_says_how_its_parts_share_the_budget(capsys):
    tree = s.joint(*[s.randomizer("krr").at(k=4)] * 3)
    found = s.delta(tree.at(eps0=3), n=50, eps=1)
    assert shared(found.about) == ("eps0", 3, 1, 3, 9)
    assert shared(s.delta(tree.at(lam=8), n=50, eps=1).about) == ("lam", 8, 2, 8, 512)
    told = answer(capsys, "delta", "joint(krr(k=4),3)", "--eps0", "3", "--n", "50", "--eps", "1")
    assert shared(told["meaning"]) == ("eps0", 3, 1, 3, 9)
    assert told["neighbours"]["budget"].startswith("eps0 = 3 for all parts together, 1 each")
    # asked for as it is told, every part has the budget that its user meant
    alone = s.delta(s.randomizer("krr").at(k=4, eps0=3), n=1, eps=1).bracket
    assert s.delta(tree.at(eps0=9), n=1, eps=1).bracket.lower > alone.upper
    for plain in (s.randomizer("krr").at(k=4, eps0=3), s.subsample(s.randomizer("krr").at(k=4), F(1, 2)).at(eps0=3)):
        assert "together" not in s.delta(plain, n=50, eps=1).about
    nested = s.joint(s.joint(RR, RR), RR).at(lam=16)
    assert "lam = 16 for all parts together: 2 in rr, 4 in rr" in s.delta(nested, n=100, eps=1).about
    plan = s.delta(
        [s.Deployment(s.joint(RR, RR).at(eps0=2)), s.Deployment(RR.at(lam=2))], n=3, eps="1/2", rtol=0.5
    ).about
    assert shared(plan) == ("eps0", 2, 1, 2, 4)


@pytest.mark.parametrize("command", ["delta", "epsilon", "profile", "renyi", "worst-datasets"])
def test_the_help_of_a_budget_speaks_of_compositions(command, capsys):
    assert main([command, "--help"]) == 0
    told = " ".join(re.sub(r"[│|]", " ", capsys.readouterr().out).split())
    assert "of a composition the total" in told
