from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from symshuffle.base.choices import Population
from symshuffle.base.errors import Unsupported
from symshuffle.mechanisms.finite import half_block, krr
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import EXAMPLES, MECHANISMS
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.utility.anchored import AnchoredLaw
from symshuffle.utility.estimation.moments import pairwise_budget, template_classes, trace
from symshuffle.utility.estimation.symbolic_law import SymbolicLaw
from symshuffle.utility.estimation.worst_risk import _worst

RATIONAL = 4
"""The budget at which every channel is rational."""
STRINGS = {"rappor", "oue", "blh", "olh"}
"""Their bit strings have any number of ones: a closed form by one template is for D = 2 only, and was wrong beyond."""
LARGEST = 10
"""Inputs beyond which the law of a channel takes long to write down."""


def concrete():
    for name, build in MECHANISMS.items():
        mechanism = build()
        budget = {"lam": RATIONAL} if any(p.name == "lam" for p in mechanism.parameters) else {}
        for values in EXAMPLES[name]:
            fixed = mechanism.at(**budget, **values).with_defaults()
            if int(fixed.inputs) <= LARGEST and 2 ** values.get("D", 0) <= 64:
                yield pytest.param(fixed, fixed.channel(), id=f"{name} {values}")


CASES = list(concrete())


def test_every_mechanism_is_covered():
    assert {case.values[0].name for case in CASES} == {build().name for build in MECHANISMS.values()}


@pytest.mark.parametrize(("mechanism", "channel"), CASES)
def test_closed_forms_follow_the_definition(mechanism, channel):
    law = AnchoredLaw.from_channel(channel)
    if mechanism.name in STRINGS and mechanism.inputs != 2:
        with pytest.raises(Unsupported, match="not rearrangements of one template"):
            trace(mechanism)
        return
    assert sp.Rational(str(law.trace())) == trace(mechanism)
    assert sum(c.mass for c in template_classes(mechanism)) == 1
    try:
        budget = pairwise_budget(mechanism)
    except Unsupported:
        return
    expected = law.pairwise_budget()
    assert budget == (sp.oo if expected == float("inf") else sp.Rational(str(expected)))


def test_pairs_that_differ_have_no_common_budget():
    with pytest.raises(Unsupported, match="pairs of inputs differently"):
        pairwise_budget(half_block())


def test_a_changed_definition_changes_the_formula():
    """The closed form is derived, so it follows the mechanism: half of the time a message says nothing."""
    mechanism = krr()
    classes = tuple(
        type(c)(c.name, c.size, tuple(type(s)(s.name, s.count, s.probability / 2) for s in c.states))
        for c in mechanism.classes
    )
    null = type(classes[0])(
        "null", sp.Integer(1), (type(classes[0].states[0])("all", mechanism.inputs, sp.Rational(1, 2)),)
    )
    diluted = type(mechanism)("diluted", "diluted", mechanism.inputs, (*classes, null), mechanism.parameters)
    assert sp.simplify(trace(diluted) - trace(mechanism) / 2) == 0
    assert sp.simplify(pairwise_budget(diluted) - pairwise_budget(mechanism) / 2) == 0


@pytest.mark.parametrize("power", [1, 2])
def test_sizes_of_votes_where_the_entries_are_roots(power):
    """Two rows of which none is a rearrangement of the other, in a root of lam; in numbers at lam = 64."""
    root = LAM ** sp.Rational(1, power)
    matrix = [[root / (root + 1), 1 / (root + 1)], [1 / (2 * root + 1), 2 * root / (2 * root + 1)]]
    law = SymbolicLaw(Mechanism.from_matrix("roots", matrix))
    found = [float(size.subs(LAM, 64)) for size in law.vote_sizes()]
    rows = np.array([[float(entry.subs(LAM, 64)) for entry in row] for row in matrix])
    templates = rows / rows.mean(axis=0)
    covariance = (templates - 1) @ np.diag(rows.mean(axis=0)) @ (templates - 1).T
    votes = np.linalg.inv(covariance + 0.5) @ (templates - 1)
    assert found == pytest.approx(list(rows @ (votes**2).sum(axis=0)), rel=1e-9)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_the_inverse_of_a_matrix_of_roots(power):
    root = LAM ** sp.Rational(1, power)
    law = SymbolicLaw(Mechanism.from_matrix("coin", [["1/2", "1/2"], ["1/4", "3/4"]]))
    ((found,),) = law._inverse([[root + 1]])
    assert float(found.subs(LAM, 64)) == pytest.approx(1 / (64 ** (1 / power) + 1))


@pytest.mark.parametrize(
    ("population", "sizes", "value", "worst"),
    [
        (Population.FIXED, "1 2 3/2", "4/15", "0 1 0"),
        (Population.FIXED, "3 2", "1/2", "1 0"),
        (Population.IID, "1 1", "1/5", "1/2 1/2"),
        (Population.IID, "1 2", "13/40", "1/4 3/4"),
        (Population.IID, "1 5", "9/10", "0 1"),
    ],
)
def test_worst_compositions_of_vote_sizes_by_hand(population, sizes, value, worst):
    sizes, worst = (tuple(map(Fraction, text.split())) for text in (sizes, worst))
    found, w = _worst(sizes, 5, population)
    assert (found, tuple(w)) == (Fraction(value), worst)
