import pytest
import sympy as sp

from symshuffle import Unsupported
from symshuffle.mechanisms.finite import half_block, krr
from symshuffle.mechanisms.registry import EXAMPLES, MECHANISMS
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.estimation.moments import pairwise_budget, template_classes, trace

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
    assert sum(mass for mass, _ in template_classes(mechanism)) == 1
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
