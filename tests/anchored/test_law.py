from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, Unsupported
from symshuffle.channels import chi_square
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.anchored.law import PointLaw, template_budget, template_signal
from symshuffle.utility.frontiers.orbit import mix_laws, orbit_law

EXAMPLE = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])
WITH_ZERO = Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/3", "1/6", "1/2"]])


def F(text):
    return Fraction(text)


def test_refinements_and_null_outputs_do_not_change_the_law():
    split = Channel(tuple((row[0] / 3, row[0] * F("2/3"), row[1], F(0), row[2]) for row in EXAMPLE.rows))
    assert AnchoredLaw.from_channel(split) == AnchoredLaw.from_channel(EXAMPLE)
    assert AnchoredLaw.from_channel(EXAMPLE.merge([[0, 1], [2]])) != AnchoredLaw.from_channel(EXAMPLE)


def test_budget_agrees_with_the_rows_and_is_infinite_at_a_zero():
    law = AnchoredLaw.from_channel(EXAMPLE)
    for i in range(3):
        for j in range(3):
            assert law.pairwise_divergence(i, j) == chi_square(EXAMPLE.rows[i], EXAMPLE.rows[j])
    assert law.pairwise_budget() == F("34/25")
    zero = AnchoredLaw.from_channel(WITH_ZERO)
    assert zero.pairwise_divergence(0, 1) == 1
    assert zero.pairwise_divergence(1, 0) == float("inf")
    assert zero.pairwise_budget() == zero.ratio_cap() == float("inf")


def test_templates_have_signal_and_budget():
    u = (F(2), F("1/2"), F("1/2"))
    assert template_signal(u) == F("3/2")
    assert template_budget(u) == F("15/8")
    assert template_budget((F(3), F(0), F(0))) == float("inf")
    assert orbit_law(u).pairwise_budget() == template_budget(u)


@pytest.mark.parametrize(
    ("atoms", "message"),
    [
        ([((F(2), F(0)), F("3/4")), ((F(0), F(2)), F("1/4"))], "off by 1/2"),
        ([((F(2), F(-1), F(2)), F(1))], "smallest -1"),
        ([((F(1), F(2)), F(1))], "sum 2"),
        ([((F(1),), F(1))], "at least 2"),
        ([((F(1), F(1)), F("1/2"))], "off by -1/2"),
    ],
)
def test_what_is_no_law_is_refused_with_the_amount(atoms, message):
    with pytest.raises(InputError, match=message):
        AnchoredLaw.from_atoms(atoms)


def test_a_mean_off_by_one_in_a_billion_is_refused():
    with pytest.raises(InputError, match="off by"):
        AnchoredLaw.from_atoms([((F(2), F(0)), F("1/2") + F("1e-9")), ((F(0), F(2)), F("1/2") - F("1e-9"))])


def test_doubles_have_no_exact_templates():
    with pytest.raises(InputError, match="rational entries"):
        AnchoredLaw.from_channel(Channel(((0.5, 0.5), (0.25, 0.75))))
    with pytest.raises(InputError, match="rational numbers"):
        PointLaw(((0.5, 1.5),), (F(1),))


def test_compositions_are_checked():
    law = AnchoredLaw.from_channel(EXAMPLE)
    with pytest.raises(InputError, match="composition"):
        law.mixture([F("1/2"), F("1/4"), F("1/8")])
    with pytest.raises(InputError, match="one per input"):
        law.mixture([F("1/2"), F("1/2")])


@pytest.mark.parametrize("entry", [float("nan"), float("inf"), "a", None])
def test_compositions_are_finite_numbers(entry):
    law = AnchoredLaw.from_channel(EXAMPLE)
    with pytest.raises(InputError, match=r"^composition\[0\]"):
        law.mixture([entry, F("1/2"), F("1/2")])


@pytest.mark.parametrize("coefficients", [(F("3/2"), F("-1/2")), (F("1/2"), F("1/4"))])
def test_mixtures_need_probabilities(coefficients):
    law = AnchoredLaw.from_channel(EXAMPLE)
    with pytest.raises(InputError, match="sum"):
        mix_laws([law, law], coefficients)


def test_orbits_of_many_different_entries_are_refused_naming_the_short_form():
    with pytest.raises(Unsupported, match="one template per orbit"):
        orbit_law(tuple(Fraction(2 * i, 11) for i in range(12)))
