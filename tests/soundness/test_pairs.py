"""A bound covers the pairs of inputs that it says it covers, whichever road leads to it."""

import random
from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import Channel, InputError, delta, joint, largest_eps0, randomizer, smallest_n
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions.curves import amplification_curve, profile
from symshuffle.accountants.questions.solve import epsilon
from symshuffle.accountants.questions.tradeoff_function import tradeoff
from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.decompositions import privacy_blanket, simplified_decomposition
from symshuffle.mechanisms import LAM, Laplace, Mechanism, OutputClass, State
from symshuffle.mechanisms.given import LAM_PARAMETER
from tests.shell import answer

TILTED = [[LAM**2, LAM, 1], [1, 1, 1], [1, LAM, LAM**2]]
"""Rows up to their sums: inputs 0 and 2 are farther apart than inputs 0 and 1."""

ORDER = Fraction(6, 5)
LEVEL = Fraction(4)


def tilted(**pair) -> Mechanism:
    return Mechanism.from_matrix("tilted", [[sp.sympify(entry) / sum(row) for entry in row] for row in TILTED], **pair)


def exact(source, n, exp_eps=ORDER, **asked):
    return delta(source, n=n, exp_eps=exp_eps, arithmetic="exact", **asked).bracket.exact


def worst(channel, n, exp_eps=ORDER, pairs=None):
    """The largest divergence over all neighbouring datasets, or over those of some ordered pairs, by enumeration."""
    inputs = range(channel.num_inputs)
    chosen = [(x, y) for x in inputs for y in inputs if x != y] if pairs is None else pairs
    return max(worst_shuffled_divergence(channel, pair, n, exp_eps)[0] for pair in chosen)


def test_a_matrix_compares_every_pair_of_inputs():
    source = tilted().at(lam=2)
    assert worst(source.channel(), 2, Fraction(3, 2)) == Fraction(23, 98)
    assert exact(source, 2, Fraction(3, 2)) >= Fraction(23, 98)
    assert exact(tilted(pair=(0, 1)).at(lam=2), 2, Fraction(3, 2)) == Fraction(13, 147)


def test_users_are_counted_for_every_pair_of_inputs():
    assert smallest_n(tilted().at(lam=2), eps="0.1", delta="1e-6").bracket.upper == 3390
    assert smallest_n(tilted(pair=(0, 1)).at(lam=2), eps="0.1", delta="1e-6").bracket.upper == 947


def test_half_block_at_a_chosen_distance_speaks_of_that_distance_only():
    near = randomizer("half-block").at(k=4, d=1, lam=3)
    found = delta(near, n=3, exp_eps="6/5", arithmetic="exact")
    assert found.bracket.exact == Fraction(197, 1280)
    assert worst(near.channel(), 3, Fraction(6, 5)) == Fraction(81, 320)
    assert "all pairs" not in found.about
    assert "who changes between two inputs at cyclic distance 1 (users who change otherwise are not" in found.about


def test_a_class_whose_members_are_not_pair_homogeneous_is_refused():
    """Arcs of length 2 on a cycle of 8: believed, the bound is 51/245, where a real pair has 43/180."""
    inside, total = sp.Integer(2), 2 * LAM + 6
    states = (State("in", inside, LAM / total), State("out", sp.Integer(6), 1 / total))

    def arcs(values):
        return [(tuple(0 if (y - x) % 8 < 2 else 1 for x in range(8)), sp.Integer(1)) for y in range(8)]

    with pytest.raises(InputError, match="arc"):
        Mechanism(
            "ring", "ring", sp.Integer(8), (OutputClass("arc", sp.Integer(8), states, None, arcs),), (LAM_PARAMETER,)
        )


def random_rows(rng: random.Random) -> list[list[Fraction]]:
    """Rows of small rationals; every third matrix has zeros."""
    inputs, outputs = rng.randint(2, 4), rng.randint(2, 4)
    least = rng.choice((0, 1, 1))
    rows = []
    for _ in range(inputs):
        weights = [rng.randint(least, 6) for _ in range(outputs)]
        weights[rng.randrange(outputs)] += 1
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    return rows


@pytest.mark.parametrize("seed", range(14))
def test_four_roads_agree(seed, tmp_path, capsys):
    """By counting in SymPy, by the columns of the matrix, by the command line; all above every pair of datasets."""
    rng = random.Random(9000 + seed)
    rows, n = random_rows(rng), rng.randint(1, 3)
    order = rng.choice((Fraction(1), ORDER, Fraction(3, 2)))
    channel, own = Channel.from_rows(rows), Mechanism.from_matrix("own", rows, parameters=())
    by_columns, by_counting = exact(channel, n, order), exact(own, n, order)
    assert by_columns == by_counting
    path = tmp_path / "channel.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows))
    asked = ["delta", str(path), "--exp-eps", str(order), "--n", str(n), "--arithmetic", "exact"]
    told = answer(capsys, *asked)
    assert Fraction(told["exact"]) == by_columns
    real = worst(channel, n, order)
    assert by_columns >= real
    assert told["neighbours"]["every_pair"]
    attained = delta(channel, n=n, exp_eps=order, arithmetic="exact", attained=True).attained
    assert attained is not None
    assert attained.lower <= real
    for x in range(len(rows)):
        for y in range(x + 1, len(rows)):
            only = Mechanism.from_matrix("own", rows, parameters=(), pair=(x, y))
            assert only.every_pair == (len(rows) == 2)
            assert by_columns >= exact(only, n, order) >= worst(channel, n, order, [(x, y), (y, x)])


def test_one_pair_cannot_say_all():
    channel = Channel.from_rows([["1/2", "1/2"], ["1/3", "2/3"], ["1/10", "9/10"]])
    pair = simplified_decomposition(channel, (0, 1))
    assert privacy_blanket(channel).gamma == Fraction(6, 10)
    near = randomizer("half-block").at(k=4, d=1)
    answers = [
        delta(pair, n=5, exp_eps=ORDER),
        epsilon(pair, n=5, delta="1e-2"),
        smallest_n(pair, eps="0.5", delta="1e-2"),
        largest_eps0(near, n=50, eps="0.5", delta="1e-2", rtol=1e-2),
        profile(pair, n=5, eps=["0.1"]),
        amplification_curve(pair, delta="1e-2", users=[5]),
        tradeoff(pair, n=5, type_i=["0.5"], num_levels=3),
        delta(Laplace(Fraction(3), domain="unit", cells=10), n=5, exp_eps=ORDER, rtol=1e-2),
    ]
    for one in answers:
        assert not one.neighbours.every
        assert "all pairs" not in one.about
        assert "are not covered" in one.about
    assert delta(Laplace(Fraction(3), cells=10), n=5, exp_eps=ORDER, rtol=1e-2).neighbours.every


def test_worst_backgrounds_of_a_chosen_pair_stay_within_it(capsys):
    """Searched over all pairs, they exceeded the bound of the chosen one, and the user was asked to report that."""
    asked = ["worst-datasets", "half-block", "-p", "k=4", "-p", "d=1", "--lam", "3", "--exp-eps", "6/5", "--n", "3"]
    told = answer(capsys, *asked)
    near = randomizer("half-block").at(k=4, d=1, lam=3)
    assert Fraction(told["exact"]) == worst(near.channel(), 3, ORDER, near.input_pairs())
    assert "are not covered" in told["meaning"]


def test_a_matrix_as_a_leaf_is_refused_in_one_line():
    with pytest.raises(InputError, match=r"^joint = tilted, given by its matrix: expected"):
        joint(tilted(), randomizer("rr"))


@pytest.mark.parametrize("pair", [(0, 0), (0, 3), (-1, 1)])
def test_a_pair_is_two_inputs(pair):
    with pytest.raises(InputError, match="pair = "):
        tilted(pair=pair)


def test_half_block_covers_all_distances_by_the_widest_law():
    """One law is evaluated where it provably dominates; without that proof all are, and the answer is the same."""
    source = reduction(randomizer("half-block").at(k=8, lam=3))
    assert len(source.classes) == 4
    assert len(source.laws(ORDER, "forward", None)) == 1
    every = [law for family in source.bounds for law in [family(ORDER, "forward", None)]]
    assert len(set(every)) == 4
    for n in (1, 3):
        values = [exact(randomizer("half-block").at(k=8, lam=3, d=d), n) for d in (4, 3, 2, 1)]
        assert values == sorted(values, reverse=True)
        assert exact(randomizer("half-block").at(k=8, lam=3), n) == values[0]


@pytest.mark.parametrize("arithmetic", ["float64", "ball"])
def test_a_first_look_at_many_pairs_loses_none_that_matters(arithmetic):
    """Twenty laws, of which most are seen to be smaller at one per cent: the answer is that of the largest."""
    rng = random.Random(17)
    weights = [[rng.randint(1, 9) for _ in range(3)] for _ in range(5)]
    rows = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    found = delta(Channel.from_rows(rows), n=40, exp_eps=ORDER, arithmetic=arithmetic, rtol=1e-5).bracket
    singles = [
        delta(
            simplified_decomposition(Channel.from_rows(rows), (x, y)),
            n=40,
            exp_eps=ORDER,
            arithmetic=arithmetic,
            rtol=1e-5,
        )
        for x in range(5)
        for y in range(x + 1, 5)
    ]
    assert len({one.bracket.upper for one in singles}) == 10
    assert found.upper == max(one.bracket.upper for one in singles)
    assert found.lower == max(one.bracket.lower for one in singles)
