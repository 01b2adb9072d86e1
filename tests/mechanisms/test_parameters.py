"""Parameters of mechanisms: ranges, budgets, what has to be given, and what a description must satisfy."""

from fractions import Fraction

import pytest
import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_budget, read_target
from symshuffle.base.numbers import Ball, Exp, Verdict
from symshuffle.decompositions.closed_forms import ClosedForm, table
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.mechanisms.finite import K
from symshuffle.mechanisms.given import LAM_PARAMETER
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass, State
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import LAM, Parameter, evaluate


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("krr", {"k": 1}, "k = 1: expected an integer >= 2"),
        ("krr", {"k": "5/2"}, "k = 5/2: expected an integer >= 2"),
        ("krr", {"q": 1}, "q = 1: expected a parameter of krr: lam, k"),
        ("krr", {"lam": "9/10"}, "lam = 9/10: expected a number >= 1"),
        ("krr", {"eps0": -1}, "eps0 = -1: expected a number >= 0"),
        ("krr", {"eps0": 1, "lam": 3}, "one of the two, not both"),
        ("krr", {"k": 10**16}, f"k = {10**16}"),
        ("subset-selection", {"k": 3, "s": 3}, r"s = 3: expected an integer in \[1, k - 1\] \(here 2\)"),
        ("aug-rr", {"p": 2}, r"p = 2: expected a number in \[0, 1\]"),
        ("half-block", {"k": 5}, "k = 5: expected an even integer"),
        ("half-block", {"k": 6, "d": 4}, r"d = 4: expected an integer in \[1, k/2\] \(here 3\)"),
    ],
)
def test_ranges(name, parameters, message):
    with pytest.raises(InputError, match=message):
        mechanism(name).at(**parameters)


INTEGERS = [(name, one) for name in table() for one in ClosedForm(name, (), None).parameters if one.integer]


@pytest.mark.parametrize(("name", "parameter"), INTEGERS, ids=[f"{name} {one.name}" for name, one in INTEGERS])
def test_an_integer_beyond_the_largest_is_refused_with_the_largest(name, parameter):
    """By the reader of SymPy's mechanisms and by that of the file."""
    within, beyond = {"k": 2**49}, 2**60  # both are of every kind
    others = {key: value for key, value in within.items() if parameter.name != key and parameter.upper is not None}
    own = mechanism(name.removeprefix("thinned "))
    for door in (lambda value: own.at(**others, **{parameter.name: value}), lambda value: parameter.read(value, {})):
        with pytest.raises(InputError) as refusal:
            door(beyond)
        assert refusal.value.argument == parameter.name and refusal.value.expected.endswith(f", at most {10**15}")
        with pytest.raises(InputError) as refusal:
            door("5/2")
        assert str(10**15) not in refusal.value.expected
    assert own.at(**others, **{parameter.name: 2**48}).name == own.name


def test_names_are_suggested():
    with pytest.raises(InputError, match=r"expected a known name; did you mean subset-selection\?$"):
        mechanism("subset-selecton")


def test_budgets_stay_exact():
    assert read_budget(eps0="0.1") == Exp(Fraction(1, 10))
    assert read_budget(lam="6/5") == Fraction(6, 5)
    assert read_budget() is None
    assert read_target(eps=0) == 1
    assert read_target(exp_eps=1) == 1
    with pytest.raises(InputError, match="at most 5000"):
        read_target(eps=10**6)
    with pytest.raises(InputError, match="at most"):
        read_budget(lam=Exp(Fraction(10**6)))


@pytest.mark.parametrize("k", [4, "4", "4.0", 4.0, "4e0", Fraction(4)])
def test_integers_are_read_however_they_are_written(k):
    """A mechanism that lists its outputs once lost k = "4.0" on the way."""
    channel = mechanism("half-block").at(k=k, lam=2).channel()
    assert channel == mechanism("half-block").at(k=4, lam=2).channel()
    assert channel.num_outputs == 4


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("rr", {}), ("krr", {"k": 4}), ("subset-selection", {"k": 4, "s": 2}), ("aug-rr", {"k": 3, "p": "1/3"})],
)
def test_channels_have_the_level_they_claim(name, parameters):
    """A unary-encoding client in the wild was not eps-LDP for years: nobody had asked its matrix."""
    assert mechanism(name).at(lam="7/3", **parameters).channel().ratio_cap() == Fraction(7, 3)
    balls = mechanism(name).at(eps0=1, **parameters).channel()
    cap = balls.ratio_cap()
    assert isinstance(cap, Ball)
    assert balls.is_ldp(3) is Verdict.TRUE
    assert balls.is_ldp(Fraction(27, 10)) is Verdict.FALSE


def test_explicit_channels_of_explosive_size_are_refused():
    with pytest.raises(Unsupported, match="closed form without the matrix"):
        mechanism("krr").at(k=10**6, lam=2).channel()
    with pytest.raises(InputError, match="k inputs"):
        mechanism("krr").at(lam=2).channel()


def own(states, size=K):
    return Mechanism("own", "own", K, (OutputClass("symbol", size, states),), (LAM_PARAMETER,))


def test_descriptions_are_checked():
    total = LAM + K - 1
    one = sp.Integer(1)
    own((State("hit", one, LAM / total), State("miss", K - 1, 1 / total)))
    with pytest.raises(InputError, match="state counts of sum k"):
        own((State("hit", one, LAM / total), State("miss", K, 1 / total)))
    with pytest.raises(InputError, match="a sum of 1"):
        own((State("hit", one, LAM / total), State("miss", K - 1, LAM / total)))


def test_evaluation_never_goes_through_doubles():
    third = evaluate(sp.Rational(1, 3), bits=64)
    assert third.lower <= Fraction(1, 3) <= third.upper
    root = evaluate(sp.sqrt(2), bits=200)
    assert root.lower**2 <= 2 <= root.upper**2
    assert root.radius < Fraction(1, 2**195)
    with pytest.raises(InputError, match="left open"):
        evaluate(LAM)
    with pytest.raises(InputError, match="exact number"):
        evaluate(sp.Float("0.1"))


def test_defaults_may_depend_on_defaults():
    first, second = sp.symbols("first second", integer=True, positive=True)
    parameters = (
        Parameter(first, sp.Integer(2), None, True, "inputs", default=sp.Integer(4)),
        Parameter(second, sp.Integer(1), first, True, "half of them", default=first / 2),
    )
    size = sp.binomial(first, second)
    states = (State("near", second, 1 / size), State("far", first - second, 1 / size))
    own = Mechanism("own", "own", first, (OutputClass("symbol", size, states),), parameters)
    assert own.with_defaults().parameters == ()
    assert own.with_defaults().classes[0].states[0].count == 2
    assert own.at(first=10).with_defaults().classes[0].states[0].count == 5


def test_pair_counts_must_account_for_both_inputs():
    """Counts that fit the inputs on average can still leave one input of the pair without some of its outputs."""
    half = sp.Rational(1, 2)
    states = (State("own", sp.Integer(1), half), State("other", sp.Integer(1), half))

    def described(count: int) -> Mechanism:
        shown = ((0, 1, sp.Integer(1)), (1, 0, sp.Integer(count)))
        only = OutputClass("value", sp.Integer(2), states, shown, lambda values: [((0, 1), 1), ((1, 0), 1)])
        return Mechanism("two", "two", sp.Integer(2), (only,), ())

    assert described(1).num_outputs == 2
    with pytest.raises(InputError, match="pair_counts = sum 3/2 at the first input of the pair: expected a sum of 1"):
        described(2)


def test_a_number_of_subsets_too_long_to_write_is_kept_as_a_binomial():
    """The decomposition does not need the number of outputs, which has 112,000 digits here."""
    huge = mechanism("subset-selection").at(k=10**6, s=10**5, lam=3)
    assert str(huge.num_outputs) == "binomial(1000000, 100000)"
    with pytest.raises(Unsupported, match=r"binomial\(1000000, 100000\) outputs \(limit 2000000 entries\)"):
        huge.channel()
    law = optimal_decomposition(huge).law(Fraction(6, 5))
    assert sum(law.weights) == 1
    assert law.mean == 1 - Fraction(6, 5)
