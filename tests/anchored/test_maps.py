import itertools
from fractions import Fraction

import pytest

from proofs_checks._gauges import Gauge, householder, range_radius_squared
from proofs_checks._symmetry import symmetrize_channel
from symshuffle import Channel, InputError, Unsupported
from symshuffle.channels import SymmetryGroup, cyclic_group, symmetric_group
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.anchored.law import PointLaw
from symshuffle.utility.anchored.maps import (
    Fiber,
    completions,
    fiber,
    law_from_fiber,
    project,
    transport,
    unproject,
)
from symshuffle.utility.frontiers.orbit import symmetrize

F = Fraction
EXAMPLE = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])
WITH_ZERO = Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/3", "1/6", "1/2"]])
LAW = AnchoredLaw.from_channel(EXAMPLE)
W = (F("1/2"), F("1/4"), F("1/4"))


def test_boundary_fibers_report_what_they_lose():
    law = AnchoredLaw.from_channel(WITH_ZERO)
    found = fiber(law, (F(1), F(0), F(0)))
    assert found.lost == F("1/3")
    assert found.mean == (F("1/3"), F("-1/6"), F("-1/6"))
    least, most = completions(found)
    assert least.trace() <= law.trace() <= most.trace()
    assert least != most
    with pytest.raises(InputError, match="positive weights"):
        law_from_fiber(found)
    with pytest.raises(InputError, match="positive weights"):
        transport(found, W)


def test_an_interior_fiber_has_one_completion():
    assert completions(fiber(LAW, W)) == (LAW, LAW)


def test_a_fiber_of_the_wrong_mean_is_refused():
    single = Fiber(W, PointLaw(((F("2/3"), F("4/3"), F("4/3")),), (F(1),)))
    with pytest.raises(InputError, match="mean"):
        law_from_fiber(single)
    with pytest.raises(InputError, match="first moment"):
        completions(single)


def test_radius_is_unbounded_at_the_boundary():
    assert range_radius_squared(W) == F("2/3") / F("1/16")
    assert range_radius_squared((F(1), F(0), F(0))) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: project((F(3), F(0), F(0)), (F(0), F("1/2"), F("1/2"))),
        lambda: project((F(1), F(1), F(1)), (F(2), F(-1), F(0))),
        lambda: unproject((F(1), F(1), F(2)), W),
        lambda: unproject((F(-1), F(3), F(3)), W),
        lambda: Fiber(W, fiber(LAW, W).ratios, F("1/2")),
    ],
)
def test_points_outside_the_domain_are_refused(call):
    with pytest.raises(InputError):
        call()


def test_gauges():
    for k in (4, 9):
        gauge = householder(k)
        u = tuple(F(k * (i == 0)) for i in range(k))
        assert sum(entry * entry for entry in gauge.point(u)) == k * (k - 1)
        assert tuple(1 + entry for entry in gauge.lift(gauge.point(u))) == u
    with pytest.raises(InputError, match="inner product"):
        Gauge(((F(1),), (F(-1),)))


def test_groups():
    affine = SymmetryGroup(5, ((1, 2, 3, 4, 0), (0, 2, 4, 1, 3)))
    assert len(affine.listed()) == affine.order() == 20
    assert affine.is_two_transitive()
    assert not cyclic_group(4).is_two_transitive()
    assert symmetric_group(4).listed() == tuple(itertools.permutations(range(4)))
    with pytest.raises(InputError, match="permutation"):
        SymmetryGroup(2, ((0, 0),))


@pytest.mark.parametrize("base", [(F("3/2"), F("-1/2"), F(0)), (F("1/2"), F("1/4"), F(0)), (F("1/2"), F("1/2"))])
def test_base_points_outside_the_simplex_are_refused(base):
    for call in (lambda: fiber(LAW, base), lambda: project(LAW.templates[0], base)):
        with pytest.raises(InputError, match=r"sum 1|sum 3/4|one per input"):
            call()


def test_a_group_on_other_inputs_is_refused():
    for call in (lambda: symmetrize(LAW, cyclic_group(4)), lambda: symmetrize_channel(EXAMPLE, cyclic_group(4))):
        with pytest.raises(InputError, match="permutations of 0"):
            call()


def test_groups_too_large_to_list_are_refused():
    for group in (symmetric_group(9), SymmetryGroup(10, ((1, 0, *range(2, 10)), (*range(1, 10), 0)))):
        with pytest.raises(Unsupported, match="not listed"):
            group.listed()
