"""What a mechanism counts is compared with the outputs that it lists, whatever kind of count it is."""

import pickle
from dataclasses import replace

import pytest
import sympy as sp

from symshuffle import InputError, Unsupported, randomizer
from symshuffle.design.comparison.families import names
from symshuffle.mechanisms import LAM, Mechanism, OutputClass, Parameter, State
from symshuffle.mechanisms.finite import half_block
from symshuffle.mechanisms.names import THINNED
from symshuffle.mechanisms.pairs import Pairs
from symshuffle.mechanisms.registry import EXAMPLES, MECHANISMS, thinned
from symshuffle.mechanisms.symbolic import EVEN, POWER_OF_TWO, PRIME, IntegerKind
from symshuffle.mechanisms.unary import hadamard, rappor


def rebuilt(definition: Mechanism, **changed) -> Mechanism:
    """The mechanism with its first class changed."""
    first, *others = definition.classes
    return replace(definition, classes=(replace(first, **changed), *others))


def shifted(counts, amount):
    """Counts with something moved from one pattern to another, sums kept where possible."""
    (*first, a), (*second, b), *others = counts
    return ((*first, a + amount), (*second, b - amount), *others)


@pytest.mark.parametrize("make", [half_block, hadamard, rappor])
def test_pair_counts_are_those_of_the_outputs(make):
    definition = make()
    assert rebuilt(definition) == definition
    counts = definition.classes[0].pair_counts
    with pytest.raises(InputError, match=r"members of class|pair_counts"):
        rebuilt(definition, pair_counts=shifted(counts, sp.Rational(1, 100)))


def test_a_class_that_is_not_homogeneous_has_to_count_its_pairs():
    with pytest.raises(InputError, match="a class that is not pair-homogeneous lists its pair_counts"):
        rebuilt(half_block(), pair_counts=None)
    assert rebuilt(hadamard(), pair_counts=None).num_outputs == sp.Symbol("D", integer=True, positive=True)


def test_triples_are_compared_as_well():
    definition = rappor()
    counts = definition.classes[0].triple_counts
    with pytest.raises(InputError, match="members of class mixed"):
        rebuilt(definition, triple_counts=shifted(counts, sp.Rational(1, 100)))


def test_classes_of_pairs_are_those_of_the_outputs():
    """Half-block with a distance that is not that of its pairs."""
    definition = half_block()
    wrong = replace(definition.pair, class_of=lambda values, x, y: 1)
    with pytest.raises(InputError, match="members of class point"):
        replace(definition, pair=wrong)


def test_a_number_of_outputs_is_that_of_the_arrangements():
    states = (State("hit", sp.Integer(2), LAM / (2 * LAM + 2)), State("miss", sp.Integer(2), 1 / (2 * LAM + 2)))
    with pytest.raises(InputError, match=r"size of class ring = 4 at .*: expected 6, the ways to distribute"):
        Mechanism("ring", "ring", sp.Integer(4), (OutputClass("ring", sp.Integer(4), states),), (_lam(),))


def test_a_state_that_some_output_lacks_is_no_state_of_the_class():
    """The blanket of a class is smallest over its states: each has to occur in each output."""
    half = sp.Rational(1, 2)
    states = (State("own", sp.Integer(1), half), State("other", sp.Integer(1), half))
    both = OutputClass("value", sp.Integer(2), states, None, lambda values: [((0, 0), 1), ((1, 1), 1)])
    with pytest.raises(InputError, match="members of class value"):
        Mechanism("two", "two", sp.Integer(2), (both,), ())


def _lam() -> Parameter:
    return Parameter(LAM, sp.Integer(1), None, False, "ratio cap")


@pytest.mark.parametrize(
    ("kind", "lower", "smallest", "refused"),
    [(EVEN, 2, [2, 4, 6], 3), (POWER_OF_TWO, 4, [4, 8, 16], 12), (PRIME, 2, [2, 3, 5], 91)],
)
def test_parameters_admit_by_a_predicate(kind: IntegerKind, lower: int, smallest: list[int], refused: int):
    q = sp.Symbol("q", integer=True, positive=True)
    parameter = Parameter(q, sp.Integer(lower), None, True, "size", kind=kind)
    assert list(parameter.smallest(3, {})) == smallest
    assert parameter.read(smallest[-1], {}) == smallest[-1]
    with pytest.raises(InputError, match=f"q = {refused}: expected {kind[0]} >= {lower}"):
        parameter.read(refused, {})


def test_a_kind_of_ones_own():
    q = sp.Symbol("q", integer=True, positive=True)
    squares = ("a square", lambda value: int(value**0.5) ** 2 == value)
    parameter = Parameter(q, sp.Integer(2), sp.Integer(30), True, "size", kind=squares)
    assert list(parameter.smallest(9, {})) == [4, 9, 16, 25]
    assert parameter.range == "a square in [2, 30]"


def test_classes_of_pairs_have_words():
    half = randomizer("half-block").at(k=4)
    assert [str(one.pair) for one in half.pair_classes()] == [f"two inputs at cyclic distance {d}" for d in (2, 1)]
    assert str(half.pair) == "two inputs at cyclic distance d"
    assert half.every_pair
    assert not half.at(d=2).every_pair
    assert randomizer("half-block").at(k=2, d=1).every_pair
    assert half.at(d=1).input_pairs() == ((0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2))
    assert [x for pair in Pairs.among(3).listed for x in pair] == [0, 1, 0, 2, 1, 2]
    with pytest.raises(InputError, match="values that fix its range"):
        randomizer("half-block").pair_classes()


@pytest.mark.parametrize("name", names())
def test_every_named_definition_is_checked_here(name):
    """The registry makes them unchecked. Made again they are checked; near misses are refused."""
    one = thinned(name.removeprefix(THINNED)) if name.startswith(THINNED) else randomizer(name)
    assert replace(one) == one
    first, *others = one.classes
    state = first.states[0]
    for wrong in (replace(state, count=state.count + 1), replace(state, probability=state.probability / 2)):
        with pytest.raises(InputError):
            replace(one, classes=(replace(first, states=(wrong, *first.states[1:])), *others))


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_compare_hash_and_pickle_by_value(name):
    made, again = MECHANISMS[name](), MECHANISMS[name]()
    assert made is not again
    assert made == again
    assert hash(made) == hash(again)
    for one in (
        made,
        *(made.at(**{"lam": 4, **size} if made.parameters[0].name == "lam" else size) for size in EXAMPLES[name]),
    ):
        there_and_back = pickle.loads(pickle.dumps(one))
        assert there_and_back == one
        assert hash(there_and_back) == hash(one)
        assert repr(there_and_back) == repr(one)


def test_what_is_too_large_to_be_compared_is_not_believed():
    size = 1000
    states = (State("in", sp.Integer(2), sp.Rational(1, 4)), State("out", sp.Integer(size - 2), sp.Integer(0)))

    def arcs(values):
        return [(tuple(0 if (y - x) % size < 2 else 1 for x in range(size)), sp.Integer(1)) for y in range(size)]

    with pytest.raises(Unsupported, match="not believed"):
        Mechanism(
            "ring",
            "ring",
            sp.Integer(size),
            (
                OutputClass("arc", sp.Integer(size), states, None, arcs),
                OutputClass("null", sp.Integer(1), (State("all", sp.Integer(size), sp.Rational(1, 2)),)),
            ),
            (),
        )
