"""The search for bad datasets: what it counts, names and refuses, against plain enumeration by the definition."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from symshuffle import Bracket, Channel, InputError, Rigour, Unsupported
from symshuffle.accountants import adversary
from symshuffle.accountants.adversary import (
    WEIGHTS,
    WorstCase,
    count_families,
    gap,
    worst_background,
    worst_constant,
    worst_of_all,
    worst_of_two_types,
)
from symshuffle.accountants.reduction import reduction
from symshuffle.decompositions.blanket import simplified_decomposition
from symshuffle.numbers import Ball, Exp
from symshuffle.shuffled import histogram_law, law_divergence, shuffled_divergence

F = Fraction
X = F(6, 5)
CHANNEL = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]])
ONE = Channel.from_rows([["1/2", "1/2"]])


def families(n, pairs):
    """Every family in turn: the pair, who the others are, and the divergence of the users drawn."""
    rows = CHANNEL.rows
    for first, second in pairs:
        for x in range(3):
            yield (first, second, x), [rows[first], *[rows[x]] * (n - 1)], [rows[second], *[rows[x]] * (n - 1)]
        if n == 1:
            continue
        for (u, v), weight in itertools.product(itertools.combinations(range(3), 2), WEIGHTS):
            mixed = tuple((1 - weight) * p + weight * q for p, q in zip(rows[u], rows[v], strict=True))
            yield (first, second, u, v, weight), [rows[first], *[mixed] * (n - 1)], [rows[second], *[mixed] * (n - 1)]


def written(found, n):
    """The words for a family."""
    first, second, *others = found
    if len(others) == 1:
        return f"X0 = ({first}; {others[0]} x {n - 1}), X1 = ({second}; {others[0]} x {n - 1})"
    u, v, weight = others
    drawn = f"{n - 1} users holding {v} with probability {weight} and {u} otherwise"
    return f"X0 = ({first}; {drawn}), X1 = ({second}; the same)"


def test_the_weights_are_eighths():
    assert tuple(F(j, 8) for j in (1, 2, 3, 4, 5, 6, 7)) == WEIGHTS


def test_families_are_counted_and_refused_beyond_the_limit(monkeypatch):
    """Three ordered pairs twice; three constants, and three mixtures of seven weights from two users on."""
    assert count_families(3, 5, 1) == 6 * 3
    assert count_families(3, 5, 2) == count_families(3, 5, 10**9) == 6 * (3 + 3 * 7)
    assert count_families(1, 5, 4) == 0
    monkeypatch.setattr(adversary, "LARGEST_SEARCH", 6 * (3 + 3) * 5)
    assert count_families(3, 5, 2) == 144
    assert count_families(3, 10, 1) == 18
    for outputs, n in ((6, 2), (11, 1)):
        with pytest.raises(Unsupported, match=f"3 inputs and {outputs} outputs has too many families"):
            count_families(3, outputs, n)


@pytest.mark.parametrize("pairs", [None, [(2, 0)], [(0, 1), (1, 2)]])
@pytest.mark.parametrize("n", [1, 3])
def test_the_worst_of_two_types_is_that_of_the_plain_loop(n, pairs):
    chosen = list(itertools.permutations(range(3), 2)) if pairs is None else pairs
    values = {family: law_divergence(histogram_law(a), histogram_law(b), X) for family, a, b in families(n, chosen)}
    found = worst_of_two_types(CHANNEL, n, X, rigour=Rigour.EXACT, pairs=pairs)
    assert found.bracket.exact == max(values.values())
    assert found.datasets in {written(one, n) for one, value in values.items() if value == found.bracket.exact}
    assert found.searched == count_families(3, 3, n)
    assert "weights j/8: not all datasets" in found.space


def test_every_family_has_the_words_of_its_laws():
    """Every decomposition made is that of the datasets that its words name: the plain loop says which these are."""
    n = 3
    named = {written(one, n): (a, b) for one, a, b in families(n, itertools.permutations(range(3), 2))}
    made = adversary._distinct(CHANNEL, n, list(itertools.permutations(range(3), 2)))
    assert len(made) > 20 and len({words for words, _ in made}) == len(made)
    for words, decomposition in made:
        a, b = named[words]
        assert (decomposition.a, decomposition.b) == (tuple(a[0]), tuple(b[0]))
        assert (decomposition.c, decomposition.beta) == (tuple(a[1]), 0)


def test_families_that_differ_only_in_names_are_made_once():
    """k-RR with three inputs: the background is one of the pair, either one, or the third: 3 kinds; with mixtures of
    two types 3 pairs of kinds, and two orders that cannot be told apart are told apart by weights only."""
    same = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    pairs = list(itertools.permutations(range(3), 2))
    assert len(adversary._distinct(same, 1, pairs)) == 3
    kinds = adversary._distinct(same, 2, pairs)
    constant = [words for words, _ in kinds if "holding" not in words]
    assert len(constant) == 3 and (len(kinds) - 3) % len(WEIGHTS) == 0
    assert 3 * 7 <= len(kinds) - 3 < 6 * 3 * 7


@pytest.mark.parametrize("pairs", [None, [(2, 1)], [(0, 1), (1, 0)]])
def test_the_worst_of_all_is_that_of_every_dataset(pairs):
    seen = []
    chosen = list(itertools.permutations(range(3), 2)) if pairs is None else pairs
    found = worst_of_all(CHANNEL, 3, X, pairs=pairs, progress=lambda done, total: seen.append((done, total)))
    values = {
        (pair, others): shuffled_divergence(CHANNEL, (pair[0], *others), (pair[1], *others), X)
        for pair in chosen
        for others in itertools.combinations_with_replacement(range(3), 2)
    }
    assert found.bracket == Bracket(
        max(values.values()), max(values.values()), Rigour.EXACT, "enumeration", "every histogram of every dataset"
    )
    best = {
        f"X0 = ({a}; {others[0]}, {others[1]}), X1 = ({b}; {others[0]}, {others[1]})"
        for ((a, b), others), value in values.items()
        if value == found.bracket.lower
    }
    assert found.datasets in best
    assert found.searched == len(values)
    assert ("between the inputs compared" in found.space) == (pairs is not None)
    assert seen[-1] == (len(chosen), len(chosen))


def test_one_input_has_no_neighbours():
    for search in (worst_of_all, worst_of_two_types, worst_background):
        with pytest.raises(InputError, match="at least 2 inputs"):
            search(ONE, 2, X)


def test_all_datasets_up_to_a_tenth_of_the_largest_enumeration(monkeypatch):
    """Ten histograms of inputs of two others by ten of three outputs of three users: 6 by 10."""
    monkeypatch.setattr(adversary, "LARGEST_ENUMERATION", 600)
    assert "all neighbouring datasets" in worst_background(CHANNEL, 3, X).space
    monkeypatch.setattr(adversary, "LARGEST_ENUMERATION", 599)
    assert "not all datasets" in worst_background(CHANNEL, 3, X, pairs=[(0, 1)]).space
    doubles = Channel.from_rows([[0.5, 0.5], [0.25, 0.75]])
    assert "not all datasets" in worst_background(doubles, 2, X).space


def test_the_gap_is_the_share_that_is_not_reached():
    def bracket(low, high):
        return Bracket(F(low), F(high), Rigour.BALL, "none", "given")

    found = WorstCase(bracket(F(1, 4), F(1, 3)), "some", 1, "space")
    assert gap(found, bracket(F(1, 5), F(1, 2))) == F(1, 2)
    assert gap(found, bracket(0, F(1, 4))) == 0
    with pytest.raises(Unsupported, match=r"some exceed the bound 0\.24"):
        gap(found, bracket(0, F(24, 100)))
    assert gap(WorstCase(bracket(0, 0), "some", 1, "space"), bracket(0, 0)) == 0


def test_what_a_worst_case_says():
    found = WorstCase(Bracket(F(1, 4), F(1, 2), Rigour.BALL, "none", "given"), "these", 7, "some")
    assert found.safe.value == "lower"
    answer = found.to_dict()
    assert (answer["safe"], answer["datasets"], answer["searched"], answer["space"]) == ("lower", "these", 7, "some")
    assert float(answer["lower"]) == 0.25
    assert float(answer["upper"]) == 0.5


@pytest.mark.parametrize("n", [1, 3])
def test_the_worst_constant_background_is_the_largest_of_both_orders(n):
    found = worst_constant(reduction(CHANNEL), n, X, rigour=Rigour.EXACT)
    values = [
        shuffled_divergence(CHANNEL, (a, *[x] * (n - 1)), (b, *[x] * (n - 1)), X)
        for a, b in itertools.permutations(range(3), 2)
        for x in range(3)
    ]
    assert found.bracket.exact == max(values)
    assert found.searched == 9  # three pairs, three others
    assert "constant backgrounds at the worst of all pairs of inputs: not all datasets" in found.space


def test_no_constant_background_is_known_of_a_decomposition():
    with pytest.raises(Unsupported, match="no constant background"):
        worst_constant(reduction(simplified_decomposition(CHANNEL, (0, 1))), 3, X)


def test_a_look_at_doubles_finds_the_same_families():
    exact = worst_of_two_types(CHANNEL, 4, X, rigour=Rigour.EXACT, pairs=[(0, 2)])
    near = worst_of_two_types(CHANNEL, 4, X, rel=1e-9, pairs=[(0, 2)])
    assert near.bracket.lower <= exact.bracket.lower <= near.bracket.upper
    assert near.bracket.upper - near.bracket.lower <= F(1, 10**8) * near.bracket.upper
    assert np.isclose(float(near.bracket.upper), float(exact.bracket.lower))


def test_of_those_that_come_close_the_highest_lower_end_is_the_worst(monkeypatch):
    """Wide looks from k/100 to 1/4 leave all but those that end below the highest start; a fine look decides."""
    seen, order = [], {}

    def value(n, target, request, decomposition):
        k = order.setdefault(decomposition, len(order) + 1)
        seen.append((k, n, target, request.rel))
        return Bracket(F(k, 100), F(1, 4) if k != 5 else F(5, 100), Rigour.FLOAT64, str(k), "given")

    monkeypatch.setattr(adversary, "_value", value)
    found = worst_of_two_types(CHANNEL, 1, X, rel=1e-3)
    kinds = adversary._distinct(CHANNEL, 1, list(itertools.permutations(range(3), 2)))
    last = len(kinds)
    assert found.searched == 18 and 5 < last == len(order) < 18
    assert (found.bracket.engine, found.datasets) == (str(last), kinds[-1][0])
    assert seen[:last] == [(k, 1, X, 1e-2) for k in range(1, last + 1)]
    assert seen[last:] == [(k, 1, X, 1e-3) for k in range(1, last + 1) if k != 5]
    del seen[:]
    worst_of_two_types(CHANNEL, 1, X, rel=0.25)
    assert {rel for *_, rel in seen} == {0.25}


def test_the_law_of_two_datasets_has_the_bits_asked_for():
    (_, first), *_ = adversary._distinct(CHANNEL, 2, [(0, 1)])
    family = adversary._family(first)
    wide, fine = (
        max(value.radius for value in family(Exp(F(1, 5)), "forward", bits).values if isinstance(value, Ball))
        for bits in (60, 400)
    )
    assert fine < F(1, 2**380) < F(1, 2**70) < wide
    assert family(X, "forward", None) != family(X, "reverse", None)
