import pytest
import sympy as sp

from symshuffle.anchored import AnchoredLaw
from symshuffle.channel import Channel
from symshuffle.errors import Unsupported
from symshuffle.estimation.moments import pairwise_budget, template_classes, trace
from symshuffle.mechanisms.finite import half_block, krr
from symshuffle.mechanisms.registry import MECHANISMS

SETTINGS = {"k": 4, "lam": 3, "s": 2, "p": "1/3"}


def concrete():
    for name, build in MECHANISMS.items():
        mechanism = build()
        known = {p.name: SETTINGS[p.name] for p in mechanism.parameters if p.name in SETTINGS}
        try:
            fixed = mechanism.at(**known).with_defaults()
            channel = fixed.channel()
        except (
            Exception
        ):  # a mechanism with parameters of its own, or without an explicit channel, is not for this test
            continue
        if isinstance(channel, Channel) and channel.exact and 2 <= channel.num_inputs <= 12:
            yield pytest.param(fixed, channel, id=name)


CASES = list(concrete())


def test_most_named_mechanisms_are_covered():
    assert {case.id for case in CASES} >= {
        "rr",
        "krr",
        "subset-selection",
        "aug-rr",
        "half-block",
        "erasure",
        "identity",
    }


@pytest.mark.parametrize(("mechanism", "channel"), CASES)
def test_closed_forms_follow_the_definition(mechanism, channel):
    law = AnchoredLaw.from_channel(channel)
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
