"""What a comparison reads off the file of closed forms or decides in quotients of polynomials, against algebra."""

from fractions import Fraction as F

import hypothesis.strategies as st
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given

from symshuffle import Exp, Unsupported
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.decompositions.closed_forms import closed_form
from symshuffle.decompositions.quotients import falls, level_between, polynomials, quotient_of
from symshuffle.design.comparison.families import HASHED, FamilyMember, family, names, names_on_file
from symshuffle.design.comparison.monotonicity import risk_falls
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.estimation.votes import canonical_votes
from tests.bitwise import bitwise_votes

VALUES = {"s": 2, "g": 3, "p": F(2, 5)}


def chosen(name, k, lam):
    one = family(name, k)
    return FamilyMember(one, lam, tuple((p.name, VALUES[p.name]) for p in one.free))


def test_names_on_file_are_those_of_the_registry():
    assert names_on_file() == names()


@pytest.mark.parametrize("lam", [F(4), Exp(F(3, 2))], ids=str)
@pytest.mark.parametrize("name", [name for name in names() if family(name, 2 if name == "rr" else 4).has_budget])
def test_a_row_says_what_the_mechanism_does(name, lam):
    at = chosen(name, 2 if name == "rr" else 4, lam)
    mechanism, size = at.mechanism, at.family.all_inputs
    assert at.title == mechanism.title and size == int(mechanism.inputs)
    outputs = int(sp.sympify(mechanism.num_outputs))
    if at.family.base not in HASHED:  # of whose outputs a client names few: see test_messages
        assert at.message_bits == (outputs - 1).bit_length()
    bits = bitwise_votes(mechanism)
    assert (at.bitwise is None) == (bits is None)
    if bits is not None:
        assert abs(float(at.bitwise.risk(1)) / float(bits.risk(1)) - 1) < 1e-14
    if at.family.alike:
        assert at.votes(120).risk(3) == canonical_votes(mechanism, inputs=at.family.inputs, bits=120).risk(3)
    if lam == 4:
        law = AnchoredLaw.from_channel(mechanism.channel())
        assert at.chi_square == law.pairwise_budget()


@pytest.mark.parametrize("k", [4, 6, 8])
def test_two_populations_of_a_half_block_send_the_same_messages(k):
    at, half = chosen("half-block", k, F(3)), k // 2
    rows = at.mechanism.channel().rows
    assert [a + b for a, b in zip(rows[0], rows[half], strict=True)] == [
        a + b for a, b in zip(rows[1], rows[half + 1], strict=True)
    ]
    assert f"users half at 0 and half at {half}" in at.obstruction
    with pytest.raises(Unsupported, match="differently"):
        _ = chosen("half-block", 2, F(3)).obstruction


@pytest.mark.parametrize("k", [3, 5, 10, 20])
def test_the_risk_of_some_inputs_falls_with_the_ratio(k):
    """Hadamard response with some inputs unused: risks at ratios that rise, from the explicit votes."""
    one = family("hadamard", k)
    assert risk_falls(one) and not risk_falls(family("olh", k))
    risks = [canonical_votes(one.at(lam=lam), inputs=k).risk(1) for lam in (F(11, 10), F(2), F(5), F(100))]
    assert risks == sorted(risks, reverse=True)


def test_quotients_are_in_lowest_terms():
    lam = sp.Symbol("lam", positive=True)
    for text in (
        "(lam**2 - 1)/(lam - 1)",
        "lam/(k + lam - 1) + 2/3",
        "(sqrt(lam) - 1)*(sqrt(lam) + 1)/lam",
        "3**k/lam",
    ):
        found = quotient_of(text, {"k": 5})
        again = str(found).replace("lambda", "lam")
        shown = sp.sympify(again, locals={"lam": lam})
        assert sp.simplify(shown - sp.sympify(text, locals={"lam": lam}).subs("k", 5)) == 0
        assert quotient_of(again, {}) == found and hash(quotient_of(again, {})) == hash(found)
    assert quotient_of("lam*s - lam", {"s": 1}) == quotient_of("0", {}) != quotient_of("lam", {})
    assert falls(quotient_of("1/(1 + lam)", {})) and not falls(quotient_of("lam/(1 + lam)", {}))
    assert not falls(quotient_of("(lam - 2)**2", {}))
    with pytest.raises(ZeroDivisionError):
        quotient_of("1/(lam - lam)", {})


@given(st.data())
def test_a_level_between_two_quotients_is_found(data):
    """One quotient is another times a level, or nearly so: balls of 400 bits tell the two cases apart."""
    number, power = st.builds(fmpq, st.integers(-3, 3), st.integers(1, 3)), st.integers(0, 3)
    root = quotient_of("sqrt(lam)", {})
    some = st.lists(number, min_size=1, max_size=3).map(lambda c: sum((x * root**i for i, x in enumerate(c)), 0 * root))
    other = data.draw(some) / data.draw(some.filter(bool))
    near = data.draw(st.sampled_from([fmpq(1), fmpq(5, 4), fmpq(126, 100), fmpq(2)]))
    one = other * near * root ** data.draw(power)
    lam = data.draw(st.sampled_from([F(2), F(8, 3), Exp(F(1)), Exp(F(2, 3))]))
    level = data.draw(st.sampled_from([F(1), F(5, 4), F(2), *(Exp(F(1, i)) for i in (1, 2, 3, 7))]))
    with working_precision(400):
        root = to_arb(lam).sqrt()
        (a, b), (c, d) = (
            [sum((arb(x) * root**i for i, x in enumerate(p.coeffs())), start=arb(0)) for p in polynomials(quotient)]
            for quotient in (one, other)
        )
        assert level_between(one, other, lam, level) == (a * d - to_arb(level) * c * b).contains(0)


def test_what_vanishes_at_some_values_is_decided_without_algebra():
    """Subsets of one: messages that hit the third input twice do not occur, and at the cap a value of G is 0."""
    form = closed_form("subset-selection", {"k": "10", "s": "1"}, eps0=2)
    law = form.law(Exp(F(2)), others="third", bits=160)
    again = closed_form("krr", {"k": "10"}, eps0=2).law(Exp(F(2)), others="third", bits=160)
    assert len(law.values) == len(again.values) and F(0) in law.values
    exact = closed_form("aug-rr", {"k": "10", "p": "1"}, lam=4).law(F(4), others="second")
    plain = closed_form("krr", {"k": "10"}, lam=4).law(F(4), others="second")
    assert sorted(exact.atoms()) == sorted(plain.atoms())
