"""From every kind of source to its laws: against the explicit channel, dataset by dataset, and who is refused."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest

from symshuffle import Channel, InputError, Mechanism, Unsupported, mechanism, shuffled_divergence
from symshuffle.accountants import reduction as sources
from symshuffle.accountants.covered import PairClass, Reduction
from symshuffle.accountants.evaluate import Request, evaluate
from symshuffle.accountants.participation import Participation
from symshuffle.accountants.reduction import reduction
from symshuffle.choices import Adjacency, Side
from symshuffle.decompositions.blanket import simplified_decomposition
from symshuffle.decompositions.closed_forms import closed_form
from symshuffle.decompositions.composition import Composed, joint, subsample
from symshuffle.decompositions.model import ReductionPair
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.mechanisms.continuous import Laplace

F = Fraction
X = F(6, 5)
EXACT = Request.of("forward", rigour="exact")
KRR = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])


def values(found, order=X, n=2):
    return sorted(evaluate(law, n, EXACT).lower for law in found.laws(order, "both", None))


def real_values(found, n=2):
    """By the words of each pair of datasets, the divergence forward that its law has."""
    return {real.describe(n): evaluate(real.finite()(X, "forward", None), n, EXACT).lower for real in found.datasets}


def read_constant(words):
    """The inputs that words such as ``X0 = (0, 1 x 3), X1 = (2, 1 x 3)`` speak about."""
    first, held, times, second, again, same = map(int, re.findall(r"(?<![X\d])\d+", words)[:6])
    assert (held, times) == (again, same)
    return (first, *[held] * times), (second, *[held] * times)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    "source", [mechanism("krr").at(k=3, lam=2), closed_form("krr", {"k": "3"}, lam=2)], ids=["mechanism", "closed form"]
)
def test_a_named_mechanism_has_the_laws_of_its_matrix(source, n):
    found = reduction(source)
    assert found.every and found.adjacency is Adjacency.REPLACE_ONE and len(found.classes) == 1
    assert max(values(found, n=n)) == max(values(reduction(KRR), n=n))
    assert found.laws_in_doubles(X, "both")
    for words, value in real_values(found, n).items():
        one, other = read_constant(words)
        assert value == shuffled_divergence(KRR, one, other, X)
    assert len(found.datasets) == 3 and found.pairs == str(mechanism("krr").at(k=3, lam=2).pair)


def test_one_pair_is_covered_of_a_decomposition_and_of_a_pair():
    one = simplified_decomposition(KRR, (0, 1))
    for source, words in ((one, "that were decomposed"), (one.reduction_pair(), "that the pair was made for")):
        found = reduction(source)
        assert not found.every and words in found.classes[0].pairs and found.datasets == ()
        assert values(found) == values(reduction(KRR))[:1]
    symbols = reduction(optimal_decomposition(mechanism("krr").at(k=3, lam=2)))
    assert not symbols.every and symbols.classes[0].pairs.endswith(", as decomposed")
    assert values(symbols) == values(reduction(KRR))[:1]


def test_pairs_that_bound_nothing_are_refused():
    pair = simplified_decomposition(KRR, (0, 1)).reduction_pair()
    with pytest.raises(InputError, match="kept for study"):
        reduction(ReductionPair(pair.a0, pair.a1, pair.a2, unsound=True))
    assert reduction(pair).classes


def test_matrices_are_channels():
    rows = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]
    assert values(reduction(rows)) == values(reduction(KRR)) == values(reduction(tuple(rows)))
    doubles = reduction(np.array([[0.75, 0.25], [0.25, 0.75]])).laws(F(2), "forward", None)
    assert doubles[0].values and not doubles[0].exact


@pytest.mark.parametrize("source", ["krr", 3, None, object()])
def test_what_is_no_source(source):
    with pytest.raises(InputError, match=r"source.*a mechanism, a composition, a decomposition, a channel"):
        reduction(source)


def test_open_parameters_are_named():
    with pytest.raises(InputError, match=r"parameters.*k.*left open"):
        reduction(mechanism("krr"))
    with pytest.raises(InputError, match=r"source.*lambda left open"):
        reduction(optimal_decomposition(mechanism("krr").at(k=3)))


ROWS = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]]


@pytest.mark.parametrize("most", [3, 2])
def test_a_mechanism_of_listed_pairs_has_a_class_for_each(monkeypatch, most):
    """Three pairs; constant backgrounds of all, or of the first pair only where that is too many."""
    monkeypatch.setattr(sources, "_MOST_CLASSES", most)
    made = Mechanism.from_matrix(f"listed{most}", ROWS, parameters=())
    found, channel = reduction(made), Channel.from_rows(ROWS)
    assert found.every and found.first == "X0 holding the first of the two"
    assert [len(one.datasets) for one in found.classes] == ([2, 2, 2] if most == 3 else [2, 0, 0])
    assert max(values(found)) == max(values(reduction(channel)))
    for words, value in real_values(found).items():
        assert value == shuffled_divergence(channel, *read_constant(words), X)
    assert reduction(mechanism("krr").at(k=3, lam=2)).first == ""


def test_laplace_noise_lies_between_its_laws():
    found = reduction(Laplace(F(3)))
    only = found.classes[0]
    asked = (X, "forward", None)
    assert only.upper(*asked) == Laplace(F(3)).law(X, side=Side.UPPER, direction="forward")
    assert only.inner(*asked) == Laplace(F(3)).law(X, side=Side.LOWER, direction="forward")
    assert only.mixed(*asked) == Laplace(F(3)).mixed_law(X, direction="forward")
    (real,) = found.datasets
    assert real.law(*asked) == Laplace(F(3)).background(X, direction="forward")
    assert real.mixed(*asked) == Laplace(F(3)).mixed_background(X, direction="forward")
    assert real.describe(5) == "X0 = (0, 1 x 4), X1 = (1, 1 x 4)"
    assert found.every and not reduction(Laplace(F(3), "unit")).every


def test_the_datasets_of_a_composition_are_those_of_its_words():
    """Two reports by 3-RR at a third of the ratio each, enumerated as one channel of nine inputs and outputs."""
    tree = joint(mechanism("krr").at(k=3), mechanism("krr").at(k=3))
    found, channel = reduction(Composed(tree, F(4))), tree.channel(F(4))
    assert len(found.classes) == 2 and len(found.datasets) == 6 and found.inner == found.mixed == ()
    seen = set()
    for words, value in real_values(found).items():
        assert words.endswith(", inputs of each part named 0, 1, 2") and "x 1)" in words
        a, o, b, again = (3 * int(i) + int(j) for i, j in re.findall(r"\((\d), (\d)\)", words))
        assert o == again
        assert value == shuffled_divergence(channel, (a, o), (b, o), X)
        seen.add((a, b, o))
    assert {(a, b) for a, b, _ in seen} == {(0, 3), (0, 4)} or {(a, b) for a, b, _ in seen} == {(0, 1), (0, 4)}
    assert {o for a, b, o in seen if b == 4} == {0, 4, 8}
    assert {o for a, b, o in seen if b != 4} in ({0, 3, 8}, {0, 1, 8})
    assert found.every == tree.every_pair and found.pairs == tree.pair


def test_compositions_with_a_density_are_approached_from_both_sides():
    found = reduction(Composed(joint(mechanism("krr").at(k=2), Laplace()), F(4)))
    assert len(found.inner) == len(found.bounds) == len(found.classes)
    assert found.mixed == () and all(real.mixed is None for real in found.datasets)
    mixture = reduction(Composed(subsample(Laplace(), F(1, 2)), F(4)))
    assert len(mixture.mixed) == len(mixture.inner) == 1 and mixture.datasets[0].mixed is not None
    low, high = (
        max(evaluate(family(X, "forward", None), 1, Request.of(rigour="ball")).upper for family in side)
        for side in (found.inner, found.bounds)
    )
    assert low < high < low * F(101, 100)


# Coverings.


def test_a_reduction_has_the_covering_it_was_made_for():
    found, who = reduction(KRR), Participation(None, F(1, 4), 1)
    assert reduction(found) == found == reduction(found, adjacency="replace-one")
    with pytest.raises(InputError, match=r"adjacency.*replace-one, that of the reduction"):
        reduction(found, adjacency="zero-out")
    with pytest.raises(InputError, match=r"blanket.*derived for one"):
        reduction(found, blanket="largest")
    with pytest.raises(InputError, match="a Channel, where the law of a null symbol is given"):
        reduction(found, null=("1", "0", "0"))
    some = reduction(found, dropout="1/4")
    assert some.participation == who and some.classes == found.classes
    assert reduction(some, dropout="1/4") == some == reduction(some)
    with pytest.raises(InputError, match="participation"):
        reduction(some, group=2)


def test_zero_out_has_a_null_symbol_with_the_law_of_the_blanket():
    """Of 3-RR: the uniform law, by hand; against each input, as a fourth row."""
    whole = Channel.from_rows([*(list(row) for row in KRR.rows), [F(1, 3)] * 3])
    expected = max(shuffled_divergence(whole, (a,), (b,), X) for x in range(3) for a, b in ((x, 3), (3, x)))
    for source in (KRR, mechanism("krr").at(k=3, lam=2)):
        found = reduction(source, adjacency="zero-out")
        assert found.adjacency is Adjacency.ZERO_OUT
        assert max(values(found, n=1)) == expected
    assert reduction(Laplace(F(3)), adjacency="zero-out").adjacency is Adjacency.ZERO_OUT
    given = reduction(KRR, null=("1/3", "1/3", "1/3"))
    assert max(values(given, n=1)) == expected
    with pytest.raises(Unsupported, match="no null symbol here"):
        reduction(simplified_decomposition(KRR, (0, 1)), adjacency="zero-out")
    with pytest.raises(InputError, match="a Channel, where the law of a null symbol is given"):
        reduction(mechanism("krr").at(k=3, lam=2), null=("1/3", "1/3", "1/3"))
    with pytest.raises(InputError, match="left open"):
        reduction(mechanism("krr"), adjacency="zero-out")


def test_finite_mechanisms_have_one_blanket():
    with pytest.raises(Unsupported, match="blanket mechanism"):
        reduction(KRR, blanket="mechanism")
    assert values(reduction(KRR, blanket="largest")) == values(reduction(KRR))


def test_a_source_of_another_adjacency_is_refused(monkeypatch):
    only = Reduction((PairClass("some", None),))
    monkeypatch.setattr(sources, "_derived", lambda source, covering: only)
    with pytest.raises(Unsupported, match="adjacency zero-out: this source has a reduction for replace-one only"):
        reduction(KRR, adjacency="zero-out")
    assert reduction(KRR) == only == reduction(KRR, adjacency="replace-one")


def test_all_pairs_of_a_channel_are_its_classes():
    channel = Channel.from_rows(ROWS)
    found = reduction(channel)
    assert [one.pairs for one in found.classes] == [
        f"inputs {x} and {y}" for x, y in itertools.combinations(range(3), 2)
    ]
    for words, value in real_values(found).items():
        assert value == shuffled_divergence(channel, *read_constant(words), X)
