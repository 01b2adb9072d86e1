"""Reductions of channels, with and without a null symbol: laws, datasets and words, by sums over all messages."""

import itertools
import math
from fractions import Fraction

import pytest

from symshuffle import Channel, Exp, InputError, Unsupported, delta
from symshuffle.accountants.bounds.evaluate import Method, evaluate, evaluate_law
from symshuffle.accountants.deployment import listed
from symshuffle.accountants.deployment.adjacency import read_null
from symshuffle.channels import shuffled_divergence
from symshuffle.mechanisms import LAM, Laplace, Mechanism

X = Fraction(6, 5)
SKEW = (("1/2", "1/3", "1/6"), ("1/4", "1/4", "1/2"), ("1/8", "3/4", "1/8"))


def rows(*texts):
    return tuple(tuple(Fraction(entry) for entry in row) for row in texts)


def by_hand(first, second, least, n, x=X):
    """s + E[(G_1 + ... + G_n)_+]/n, G = (a - x b)/c with probability c and 0 with what is left; s where c = 0."""
    atoms = [((a - x * b) / c, c) for a, b, c in zip(first, second, least, strict=True) if c]
    atoms.append((Fraction(0), 1 - sum(least)))
    singular = sum(max(a - x * b, 0) for a, b, c in zip(first, second, least, strict=True) if not c)
    total = Fraction(0)
    for drawn in itertools.product(atoms, repeat=n):
        total += math.prod(weight for _, weight in drawn) * max(sum(value for value, _ in drawn), 0)
    return singular + total / n


def worst(pairs, least, n, x=X):
    return max(by_hand(*pair, least, n, x) for one in pairs for pair in (one, one[::-1]))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_pair_of_rows_in_both_orders(n):
    own = rows(*SKEW)
    least = [min(column) for column in zip(*own, strict=True)]
    found = delta(Channel.from_rows(SKEW), n=n, exp_eps=X, arithmetic="exact").bracket.exact
    assert found == worst(itertools.combinations(own, 2), least, n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_row_against_the_law_of_the_blanket(n):
    """The null symbol has the normed column minima, which are the minima of the whole channel as well."""
    own = rows(*SKEW)
    least = [min(column) for column in zip(*own, strict=True)]
    assert least == [Fraction(1, 8), Fraction(1, 4), Fraction(1, 8)]
    null = [2 * mass for mass in least]
    source = listed.blanket_of_channel(Channel.from_rows(SKEW))
    found = delta(source, n=n, exp_eps=X, arithmetic="exact", attained=True)
    assert found.bracket.exact == worst([(row, null) for row in own], least, n)
    whole = Channel.from_rows([*SKEW, null])
    reached = max(
        shuffled_divergence(whole, *((pair[i], *(other,) * (n - 1)) for i in order), X)
        for pair in ((0, 3), (1, 3), (2, 3))
        for other in range(4)
        for order in ((0, 1), (1, 0))
    )
    assert found.attained.lower == reached <= found.bracket.exact


@pytest.mark.parametrize("n", [1, 2])
def test_every_row_against_a_null_symbol_that_is_given(n):
    """Its law counts among the column minima; where they vanish, mass is revealed."""
    own, null = rows(*SKEW), rows(("1/10", "0", "9/10"))[0]
    least = [min(column) for column in zip(*own, null, strict=True)]
    found = delta(Channel.from_rows(SKEW), null=null, n=n, exp_eps=X, arithmetic="exact").bracket.exact
    assert found == worst([(row, null) for row in own], least, n)


def test_a_channel_without_a_blanket_has_no_such_symbol():
    with pytest.raises(InputError, match=r"null is missing: .*no mass"):
        listed.blanket_of_channel(Channel.from_rows([[1, 0], [0, 1]]))


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ((Fraction(1),), "null = 1 masses: expected 2"),
        ((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), "null = 3 masses: expected 2"),
        ((Fraction(1, 2), Fraction(1, 3)), "null = sum 5/6, which is -1/6 off: expected probabilities of sum 1"),
    ],
)
def test_null_symbols_that_are_refused(law, message):
    with pytest.raises(InputError, match=message):
        listed.against_null(Channel.from_rows([["1/2", "1/2"]]), read_null(law))


@pytest.mark.parametrize("texts", [SKEW, SKEW[:2]])
def test_a_mechanism_against_its_blanket_is_its_channel_against_it(texts):
    """The cells of all classes of pairs, either input of them, against sums over the written channel."""
    own = rows(*texts)
    least = [min(column) for column in zip(*own, strict=True)]
    null = [mass / sum(least) for mass in least]
    source = listed.blanket_of_mechanism(Mechanism.from_matrix("skew", texts, parameters=()))
    assert (source.every, source.adjacency) == (True, "zero-out")
    assert [one.pairs.split(" of ")[0] for one in source.classes[:4]] == (["the first", "the second"] * 2)[
        : len(source.classes)
    ]
    for n in (1, 2):
        assert delta(source, n=n, exp_eps=X, arithmetic="exact").bracket.exact == worst(
            [(r, null) for r in own], least, n
        )
        exact = delta(source, n=n, exp_eps=X, direction="forward", arithmetic="exact").bracket.exact
        assert exact == max(by_hand(r, null, least, n) for r in own)


def test_irrational_budgets_of_a_null_symbol():
    """Binary response at eps0 = 1: e/(e + 1) - x/2 and 1/2 - x/(e + 1), in doubles and in balls."""
    response = Mechanism.from_matrix("response", [[LAM / (LAM + 1), 1 / (LAM + 1)], [1 / (LAM + 1), LAM / (LAM + 1)]])
    source = listed.blanket_of_mechanism(response.at(eps0=1))
    for direction, value in (("forward", math.e / (math.e + 1) - 0.6), ("reverse", 0.5 - 1.2 / (math.e + 1))):
        for arithmetic in ("float64", "ball"):
            found = delta(source, n=1, exp_eps=X, direction=direction, arithmetic=arithmetic).bracket
            assert float(found.upper) == pytest.approx(value, rel=1e-9)
            assert found.relative_width < Fraction(1, 10**5)


def test_mechanisms_that_have_no_null_symbol():
    told = Mechanism.from_matrix("told", [[1, 0], [0, 1]], parameters=())
    with pytest.raises(Unsupported, match="the blanket of told has no mass"):
        delta(listed.blanket_of_mechanism(told), n=2, eps=1)
    with pytest.raises(Unsupported, match="do not choose a pair"):
        listed.blanket_of_mechanism(Mechanism.from_matrix("skew", SKEW, parameters=(), pair=(0, 2)))


# Laplace noise: the two laws of the interval's end and of its middle are half the interval apart.


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("eps", ["0", "0.2"])
def test_one_user_of_laplace_noise_against_the_middle(direction, eps):
    """Two Laplace laws a distance d apart in scales have ``1 - exp((eps - d)/2)``; here d is half of eps0."""
    reduced = listed.blanket_of_laplace(Laplace(Exp(Fraction(1)), cells=40))
    order = Exp(Fraction(eps)) if eps != "0" else Fraction(1)
    value = 1 - math.exp((float(eps) - 0.5) / 2)
    (only,), (real,) = reduced.classes, reduced.datasets
    for family in (only.mixed, real.mixed):
        assert float(evaluate(family(order, direction, None), 1, Method()).upper) == pytest.approx(value, rel=1e-12)
    above, below, reached = (
        float(evaluate_law(family(order, direction, None), 1, rtol=1e-9).upper)
        for family in (only.upper, only.inner, real.upper)
    )
    assert value * (1 - 1e-9) <= above <= value * 1.01 and 0.99 * value <= below <= value * (1 + 1e-9)
    assert 0.99 * value <= reached <= value * (1 + 1e-9)
    # Cells cut where G changes sign: between two of them both sides of convex order are told apart.
    spread = [
        sum(float(v) ** 2 * float(w) for v, w in f(order, direction, None).atoms()) for f in (only.inner, only.upper)
    ]
    assert spread[0] < spread[1]


# What is listed, in numbers.


def test_a_channel_has_two_inputs_at_least():
    with pytest.raises(InputError, match="channel = 1 input: expected at least 2 inputs"):
        listed.of_channel(Channel.from_rows([["1/2", "1/2"]]))
    assert listed.of_channel(Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"]])).every
    surely = read_null((Fraction(1), Fraction(0)))
    assert len(listed.against_null(Channel.from_rows([["1/2", "1/2"]]), surely).classes) == 1


def wide(inputs):
    return Channel.from_rows([[Fraction(1, x + 2), 1 - Fraction(1, x + 2)] for x in range(inputs)])


def test_backgrounds_are_tried_up_to_eight_inputs():
    for inputs, many in ((8, 28 * 8), (9, 0)):
        assert len(listed.of_channel(wide(inputs)).datasets) == many
    for inputs, many in ((7, 7 * 8), (8, 0)):  # the null symbol is one more
        assert len(listed.against_null(wide(inputs), read_null((Fraction(1, 2),) * 2)).datasets) == many


@pytest.mark.parametrize(
    ("outputs", "named"), [(0, None), (1, "outputs 0)"), (5, "outputs 0, 1, 2, 3, 4)"), (6, "0, 1, 2, 3, 4, ...)")]
)
def test_outputs_that_only_some_inputs_have_are_named(outputs, named):
    """The last output is everybody's, the one before nobody's."""
    first = [*[Fraction(1, 12)] * outputs, Fraction(0), 1 - Fraction(outputs, 12)]
    second = [*[Fraction(0)] * outputs, Fraction(0), Fraction(1)]
    pairs = listed.of_channel(Channel.from_rows([first, second])).pairs
    assert ("not LDP" in pairs) is (named is not None)
    assert named is None or pairs.endswith(named)
