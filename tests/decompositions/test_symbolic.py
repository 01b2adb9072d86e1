"""The derived closed forms, against the decomposition of the explicit channel; the formula follows the definition."""

import itertools
from fractions import Fraction

import pytest
import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Exp, Verdict
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.decompositions.backgrounds import constant_backgrounds, datasets
from symshuffle.decompositions.model import simplified_decomposition
from symshuffle.decompositions.symbolic import counted_decomposition, optimal_decomposition
from symshuffle.mechanisms.finite import K, krr
from symshuffle.mechanisms.given import LAM_PARAMETER
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass, State
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import LAM, Exponential, Parameter, evaluate, positive

CASES = [
    ("rr", {}),
    *(("krr", {"k": k}) for k in (2, 3, 4, 7)),
    *(("subset-selection", {"k": k, "s": s}) for k in (2, 3, 4, 6) for s in range(1, k)),
    *(("aug-rr", {"k": k, "p": p}) for k in (2, 4) for p in ("0", "1/3", "1")),
    *(("half-block", {"k": k, "d": d}) for k in (2, 4, 6, 10) for d in range(1, k // 2 + 1)),
    *(("identity", {"k": k}) for k in (2, 3, 5)),
    *(("constant", {"k": k}) for k in (2, 4)),
    *(("erasure", {"k": k, "p": p}) for k in (2, 3) for p in ("0", "1/3", "1")),
]


def fixed(name, parameters, lam=Fraction(5, 2)):
    definition = mechanism(name)
    return definition.at(**parameters, **({"lam": lam} if LAM_PARAMETER in definition.parameters else {}))


def triples(decomposition):
    """Weights up to order, of the components that matter to either row or to the blanket."""
    cells = zip(decomposition.a, decomposition.b, decomposition.c, strict=True)
    return sorted(cell for cell in cells if any(cell)), decomposition.beta


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_derived_form_is_the_decomposition_of_the_channel(name, parameters):
    """Two independent roads: counting output classes, and minimising the columns of the explicit matrix."""
    source = fixed(name, parameters)
    pair = (0, parameters.get("d", 1))
    derived = triples(optimal_decomposition(source).numeric())
    assert derived == triples(simplified_decomposition(source.channel(), pair))


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_laws_agree_with_the_reduction_pair(name, parameters):
    derived = optimal_decomposition(fixed(name, parameters))
    pair = derived.numeric().reduction_pair()
    for order, direction in itertools.product((Fraction(1), Fraction(6, 5), Fraction(4)), ("forward", "reverse")):
        law, other = derived.law(order, direction=direction), pair.gparv(order, direction=direction)
        assert sorted(law.atoms()) == sorted(other.atoms())
        assert law.singular == other.singular


@pytest.mark.parametrize("name", ["krr", "subset-selection", "aug-rr"])
def test_open_parameters_commute_with_values(name):
    """Deriving and then substituting equals substituting and then deriving."""
    parameters = {"krr": {"k": 5}, "subset-selection": {"k": 5, "s": 2}, "aug-rr": {"k": 5, "p": "1/3"}}[name]
    general, special = optimal_decomposition(mechanism(name)), optimal_decomposition(fixed(name, parameters))
    values = {sp.Symbol(n): sp.Rational(str(v)) for n, v in parameters.items()} | {LAM.name: sp.Rational(5, 2)}
    by_name = {str(key): value for key, value in values.items()}

    def at(expression):
        return expression.subs({symbol: by_name[symbol.name] for symbol in expression.free_symbols})

    assert sorted((at(c.a), at(c.b), at(c.c)) for c in general.cells) == sorted((c.a, c.b, c.c) for c in special.cells)
    assert at(general.beta) == special.beta
    assert general.check_sums().keys() == {"a", "b", "c + beta", "E[G] + exp(eps)"}
    assert all(value == 1 for value in general.check_sums().values())


def response(hit, *, hits=1):
    """k-ary response with another weight on the symbols that are hit."""
    total = hits * hit + K - hits
    size = sp.binomial(K, hits)
    weight = hits * size / K * hit + (K - hits) * size / K
    assert sp.simplify(weight * K / size - total) == 0
    states = (State("hit", sp.Integer(hits), hit / weight), State("miss", K - hits, 1 / weight))
    parameters = (LAM_PARAMETER, Parameter(K, sp.Integer(hits + 1), None, True, "number of inputs"))
    return Mechanism("own", "own", K, (OutputClass("symbol", size, states),), parameters)


def test_the_formula_follows_the_definition():
    """The definition decides: lam^2 on the hit, or two hits, change the derived weights accordingly."""
    original = optimal_decomposition(krr())
    squared = optimal_decomposition(response(LAM**2))
    assert {c.a for c in original.cells} == {LAM / (LAM + K - 1), 1 / (LAM + K - 1), (K - 2) / (LAM + K - 1)}
    for before, after in zip(original.cells, squared.cells, strict=True):
        assert sp.simplify(after.a - before.a.subs(LAM, LAM**2)) == 0
        assert sp.simplify(after.c - before.c.subs(LAM, LAM**2)) == 0
    assert sp.simplify(squared.gamma - K / (LAM**2 + K - 1)) == 0
    double = optimal_decomposition(response(LAM, hits=2))
    assert sp.simplify(double.gamma - K / (2 * LAM + K - 2)) == 0


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("own", [response(LAM**2), response(LAM, hits=2)], ids=["squared", "two hits"])
def test_own_mechanisms_agree_with_their_channel(own, k):
    source = own.at(k=k, lam=2)
    derived = triples(optimal_decomposition(source).numeric())
    assert derived == triples(simplified_decomposition(source.channel(), (0, 1)))


def test_a_matrix_of_expressions():
    rows = [[LAM / (LAM + 2), 1 / (LAM + 2), 1 / (LAM + 2)], [1 / (LAM + 2), LAM / (LAM + 2), 1 / (LAM + 2)]]
    own = Mechanism.from_matrix("own", rows)
    source = own.at(lam=3)
    assert triples(optimal_decomposition(source).numeric()) == triples(
        simplified_decomposition(source.channel(), (0, 1))
    )
    with pytest.raises(InputError, match="probabilities of sum 1"):
        Mechanism.from_matrix("own", [[LAM, 1]])


def test_what_depends_on_open_parameters_is_not_guessed():
    p = sp.Symbol("p", nonnegative=True)
    rows = [[p, 1 - p], [1 - p, p]]
    own = Mechanism.from_matrix("own", rows, parameters=(Parameter(p, sp.Integer(0), sp.Integer(1), False, "bias"),))
    with pytest.raises(Unsupported, match="smallest depends on the open parameters"):
        optimal_decomposition(own)
    assert optimal_decomposition(own.at(p="1/3")).gamma == sp.Rational(2, 3)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("krr", {"k": 4}), ("subset-selection", {"k": 4, "s": 2}), ("erasure", {"k": 3, "p": "1/3"})],
)
def test_constant_backgrounds_are_real_pairs(name, parameters, n):
    source = fixed(name, parameters)
    channel = source.channel()
    found = constant_backgrounds(source)
    assert found == ("third", "second", "first")
    for others, held in zip(found, (2, 1, 0), strict=True):
        pair = counted_decomposition(source, others=others).numeric().reduction_pair()
        for order in (Fraction(1), Fraction(6, 5)):
            real = shuffled_divergence(channel, (0, *[held] * (n - 1)), (1, *[held] * (n - 1)), order)
            assert pair.divergence(n, order) == real
        named = ", ".join(map(str, sorted({0, 1, held})))
        assert (
            datasets(source, others, n)
            == f"X0 = (0, {held} x {n - 1}), X1 = (1, {held} x {n - 1}), inputs named {named}"
        )


def test_irrational_budgets_are_opaque_and_exact():
    source = mechanism("krr").at(k=3, eps0="3.14159265")
    derived = optimal_decomposition(source)
    law = derived.law(Exp(Fraction("3.14159265")))
    assert law.never_positive
    assert max(value for value in law.values if isinstance(value, Fraction)) == 0
    constant = Exponential(sp.Rational(1, 2))
    assert constant is Exponential(sp.Rational(1, 2))
    assert evaluate(constant**2 - Exponential(sp.Integer(1))) == 0
    assert constant > 1 and constant < 2
    assert str(constant) == "exp(1/2)"
    assert sp.Poly(constant**3 + 1).degree() == 3
    import pickle

    assert pickle.loads(pickle.dumps(constant)) is constant


def test_positive_is_strict():
    t = sp.Symbol("t", nonnegative=True)
    x = sp.Symbol("x", nonnegative=True)
    assert positive(x - 1, {x: 2 + t}) is Verdict.TRUE
    assert positive(x - 2, {x: 2 + t}) is Verdict.UNDECIDED
    assert positive(1 - x, {x: 2 + t}) is Verdict.FALSE


def test_positive_is_strict_at_upper_ends_too():
    """k - s is positive on [1, k), and 0 at s = k: no state may be taken for present there."""
    k, s, t, u = sp.symbols("k s t u", positive=True)
    slacks = {k: 2 + t, s: (1 + (1 + t) * u) / (1 + u)}
    assert positive(k - s, slacks) is Verdict.TRUE
    assert positive(k - s, {k: 2 + t, s: (1 + (2 + t) * u) / (1 + u)}) is Verdict.UNDECIDED
