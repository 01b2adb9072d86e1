"""The law of templates at all levels, against the laws of numbers at some."""

from fractions import Fraction as F

import pytest
import sympy as sp

from proofs_checks._estimation import fisher_information
from symshuffle import Exp, InputError, Unsupported, randomizer
from symshuffle.base import Verdict
from symshuffle.base.choices import Population, members
from symshuffle.mechanisms import LAM, Mechanism, Parameter
from symshuffle.mechanisms.finite import K, P, S
from symshuffle.mechanisms.registry import EXAMPLES
from symshuffle.mechanisms.symbolic import evaluate, same_function
from symshuffle.utility import AnchoredLaw, SymbolicLaw
from symshuffle.utility.anchored.enclosed import EnclosedLaw
from symshuffle.utility.estimation.canonical import canonical_risk, inverse_trace, worst_canonical_risk
from tests.shown import as_latex
from tests.slices import some

LEVELS = (F(4), F(25, 16))
"""Where a square root of lam occurs in a mechanism it is rational too."""

SKEW = Mechanism.from_matrix(
    "skew",
    [
        [LAM / (LAM + 2), 1 / (LAM + 2), 1 / (LAM + 2)],
        [1 / (2 * LAM + 1), LAM / (2 * LAM + 1), LAM / (2 * LAM + 1)],
        ["1/3", "1/3", "1/3"],
    ],
)
"""Three rows of which none is like another; the covariance is singular on contrasts."""

RAGGED = Mechanism.from_matrix(
    "ragged", [[LAM / (LAM + 2), 1 / (LAM + 2), 1 / (LAM + 2)], ["1/4", "1/2", "1/4"], ["1/3", "2/9", "4/9"]]
)

SMALL = [
    (name, values)
    for name, examples in EXAMPLES.items()
    for values in examples
    if max(values.get("k", 2), values.get("D", 2)) <= (2 if name == "rappor" else 4)
]


def number(expression, lam):
    value = sp.sympify(expression).subs(LAM, sp.Rational(lam.numerator, lam.denominator))
    return float("inf") if value is sp.oo else evaluate(sp.sympify(value))


def numbers(matrix, lam):
    return tuple(tuple(number(entry, lam) for entry in row) for row in matrix)


@pytest.mark.parametrize(("name", "values"), some(SMALL, 9))
def test_formulas_at_levels_are_the_numbers_of_rational_laws(name, values):
    """All formulas of a mechanism with values for all its parameters but lam."""
    one = randomizer(name).at(**values)
    law, k = SymbolicLaw(one), int(one.inputs)
    w = (F(1, 2), F(1, 2)) if k == 2 else (F(1, 2), F(1, 4), *[F(1, 4) / (k - 2)] * (k - 2))
    atoms, covariance, information = law.atoms(), law.covariance(), law.fisher_information(w)
    formulas = law.trace(), law.pairwise_budget(), law.ratio_cap(), law.pairwise_divergence(0, 1)
    risks = {}
    for lam in LEVELS:
        found = law.at(**({"lam": lam} if any(p.name == "lam" for p in one.parameters) else {}))
        assert type(found) is AnchoredLaw
        assert AnchoredLaw.from_atoms((u, m) for (m, *u) in numbers([(m, *u) for u, m in atoms], lam)) == found
        assert numbers(covariance, lam) == found.covariance()
        assert numbers(information, lam) == fisher_information(found, w)
        values = found.trace(), found.pairwise_budget(), found.ratio_cap(), found.pairwise_divergence(0, 1)
        assert tuple(number(formula, lam) for formula in formulas) == values
        if inverse_trace(found) == float("inf"):
            with pytest.raises(InputError, match="contrasts"):
                law.vote_sizes()
            continue
        for population in members(Population):
            asked = {"n": 8 * (k - 1), "population": population}
            if population not in risks:
                risks[population] = law.canonical_risk(w, **asked), law.risk_constant(population)
            worst, _ = worst_canonical_risk(found, n=1, population=population)
            assert [number(risk, lam) for risk in risks[population]] == [canonical_risk(found, w, **asked), worst]


@pytest.mark.parametrize("one", [SKEW, RAGGED])
def test_matrices_without_symmetry(one):
    law = SymbolicLaw(one)
    found = law.at(lam=F(4))
    assert numbers(law.covariance(), F(4)) == found.covariance()
    assert number(law.trace(), F(4)) == found.trace()
    assert number(law.pairwise_divergence(2, 0), F(4)) == found.pairwise_divergence(2, 0)


def test_rows_that_differ_have_risks_and_no_worst_iid_constant():
    law = SymbolicLaw(RAGGED)
    found = law.at(lam=F(4))
    w = (F(1, 2), F(1, 4), F(1, 4))
    for population in members(Population):
        formula = law.canonical_risk(w, n=4, population=population)
        assert number(formula, F(4)) == canonical_risk(found, w, n=4, population=population)
    with pytest.raises(Unsupported, match="worst"):
        law.risk_constant("iid")


@pytest.mark.parametrize(("name", "values"), [("krr", {}), ("subset-selection", {"s": 2}), ("aug-rr", {"p": F(1, 3)})])
def test_formulas_for_all_numbers_of_inputs(name, values):
    law = SymbolicLaw(randomizer(name))
    for k in (3, 5):
        found = law.at(k=k, lam=F(9, 4), **values)
        at = {K: k, LAM: sp.Rational(9, 4), S: 2, P: sp.Rational(1, 3)}
        assert evaluate(law.trace().subs(at)) == found.trace()
        assert evaluate(law.pairwise_budget().subs(at)) == found.pairwise_budget()
        for population in members(Population):
            worst, _ = worst_canonical_risk(found, n=1, population=population)
            assert evaluate(law.risk_constant(population).subs(at)) == worst


def test_the_trace_of_randomized_response_at_all_k_and_lam():
    """The closed form of anchored, Definition 7.3 at p = 1, and near misses of it."""
    found = SymbolicLaw(randomizer("krr")).trace()
    closed = K * (K - 1) * (LAM - 1) ** 2 / (LAM + K - 1) ** 2
    assert same_function(found, closed) is Verdict.TRUE
    for wrong in (closed * sp.Rational(101, 100), closed * K / (K - 1), closed.subs(LAM, 1 / LAM)):
        assert same_function(found, wrong) is Verdict.FALSE


def test_irrational_levels_are_enclosed():
    law = SymbolicLaw(randomizer("krr").at(k=3))
    balls = law.at(lam=Exp(F(1)))
    assert type(balls) is EnclosedLaw
    value = evaluate(law.trace().subs(LAM, sp.E), bits=200)
    assert balls.trace().lower <= value.lower <= value.upper <= balls.trace().upper


def test_fibers_and_their_information():
    law = SymbolicLaw(randomizer("krr").at(k=3))
    w = (F(1, 2), F(1, 3), F(1, 6))
    seen = law.fiber(w)
    information = law.fisher_information(w)
    assert same_function(sum(mass for _, mass in seen), 1) is Verdict.TRUE
    for i in range(3):
        for j in range(3):
            # sum over the fiber of (r - mean r)(r - mean r)^T, which is the Fisher information of one message
            moment = sum(m * (r[i] - sum(r) / 3) * (r[j] - sum(r) / 3) for r, m in seen)
            assert same_function(moment, information[i][j]) is Verdict.TRUE


def test_what_is_not_symbolic_is_refused_in_one_line():
    open_k = SymbolicLaw(randomizer("krr"))
    cross = Mechanism.from_matrix("cross", [[LAM / (LAM + 1), 1 / (LAM + 1)], ["1/3", "2/3"], ["1/2", "1/2"]])
    refused = (
        (open_k.covariance, "inputs = k"),
        (lambda: open_k.fiber(["1/2", "1/2"]), "inputs = k"),
        (SymbolicLaw(randomizer("rappor")).trace, "shape"),
        (SymbolicLaw(cross).pairwise_budget, "not decided"),
        (lambda: SymbolicLaw(randomizer("rr")).canonical_risk(["1/2", "1/3"], n=2, population="iid"), "composition"),
        (lambda: SymbolicLaw(randomizer("rr")).canonical_risk(["1/2", "1/2"], n=3, population="fixed"), "multiples"),
        (lambda: SymbolicLaw(randomizer("rr")).canonical_risk(["1/2", "1/2"], n=0, population="iid"), "n = 0"),
        (lambda: open_k.risk_constant("nonsense"), "population"),
        (lambda: SymbolicLaw(randomizer("rr").channel(lam=2)), "AnchoredLaw"),
        (lambda: SymbolicLaw(randomizer("constant")).risk_constant("iid"), "contrasts"),
    )
    for call, words in refused:
        with pytest.raises((InputError, Unsupported), match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_chosen_pair_does_not_narrow_the_budget():
    """Half-block compared at distance 1 only: the budget is still the largest of all pairs."""
    law = SymbolicLaw(randomizer("half-block").at(k=4, d=1))
    assert number(law.pairwise_budget(), F(4)) == law.at(lam=F(4)).pairwise_budget()


def test_infinite_budgets_are_infinite():
    assert SymbolicLaw(randomizer("identity")).pairwise_budget() is sp.oo
    assert SymbolicLaw(randomizer("identity")).ratio_cap() is sp.oo


@pytest.mark.parametrize("name", ["krr", "subset-selection", "half-block", "rappor", "erasure"])
def test_shown_in_a_notebook(name):
    shown = as_latex(SymbolicLaw(randomizer(name)))
    assert shown.startswith("$\\displaystyle")
    assert shown.endswith("$")
    assert "chi_*" in shown
    assert "zoo" not in shown


def test_other_parameters_than_lam():
    """A parameter of one's own, in the range that it is given."""
    q = sp.Symbol("q", positive=True)
    flip = Mechanism.from_matrix(
        "flip",
        [[1 - q, q], [q, 1 - q]],
        parameters=(Parameter(q, sp.Rational(1, 10), sp.Rational(1, 2), False, "flip"),),
    )
    law = SymbolicLaw(flip)
    assert same_function(law.trace(), 2 * (1 - 2 * q) ** 2) is Verdict.TRUE
    assert law.at(q=F(1, 4)).trace() == F(1, 2)
