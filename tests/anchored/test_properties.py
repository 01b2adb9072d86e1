"""Properties that hold for every law, on laws that hypothesis builds."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_checks._templates import is_exchangeable
from symshuffle import Channel
from symshuffle.utility import AnchoredLaw, fiber, law_from_fiber, transport
from symshuffle.utility.frontiers.orbit import decompose, mix_laws, symmetrize


@st.composite
def distributions(draw, size, least):
    weights = draw(st.lists(st.integers(least, 12), min_size=size, max_size=size).filter(any))
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@st.composite
def laws(draw):
    k, m = draw(st.integers(2, 4)), draw(st.integers(1, 5))
    return AnchoredLaw.from_channel(Channel(tuple(draw(distributions(m, 0)) for _ in range(k))))


@given(laws())
@settings(deadline=None, max_examples=60, derandomize=True)
def test_a_law_is_its_channel(law):
    assert AnchoredLaw.from_channel(law.to_channel()) == law


@given(laws())
@settings(deadline=None, max_examples=40, derandomize=True)
def test_extreme_parts_add_up(law):
    parts = decompose(law)
    assert mix_laws([part for _, part in parts], [share for share, _ in parts]) == law
    assert all(part.is_extreme() and len(part.weights) <= law.num_inputs for _, part in parts)
    assert len(parts) <= len(law.weights)


@given(laws())
@settings(deadline=None, max_examples=40, derandomize=True)
def test_symmetrising_keeps_the_trace_and_never_raises_the_budget(law):
    even = symmetrize(law)
    assert is_exchangeable(even)
    assert even.trace() == law.trace()
    assert even.pairwise_budget() <= law.pairwise_budget()


@given(st.data())
@settings(deadline=None, max_examples=60, derandomize=True)
def test_interior_fibers_know_the_law_and_all_other_fibers(data):
    law = data.draw(laws())
    inside = data.draw(distributions(law.num_inputs, 1))
    anywhere = data.draw(distributions(law.num_inputs, 0))
    assert law_from_fiber(fiber(law, inside)) == law
    assert transport(fiber(law, inside), anywhere) == fiber(law, anywhere)
