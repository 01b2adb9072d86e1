"""Orbits, subset sizes and laws on templates by hand, and every refusal with its next neighbour."""

import itertools
import math
from fractions import Fraction as F

import pytest

from symshuffle import Exp, InputError, Unsupported
from symshuffle.anchored import AnchoredLaw, template_signal
from symshuffle.errors import CertificateError
from symshuffle.frontiers import caps, template_laws
from symshuffle.frontiers.caps import (
    block_design_law,
    check_cap,
    extreme_templates,
    optimal_subset_sizes,
    phase_boundaries,
    raw_cap_risk_constant,
    raw_cap_trace,
    split_template,
    subset_template,
    tie_ratio,
)
from symshuffle.frontiers.orbit import Orbit, centre_orbit, check_orbit, orbit_mechanism, subset_orbit, tuple_orbit
from symshuffle.frontiers.template_laws import best_law, extreme_laws


def signal(u):
    return sum((x - 1) ** 2 for x in u)


def budget(u):
    """The mean chi-square over ordered pairs of coordinates: over rearrangements, E (u_i - u_j)^2 / u_j."""
    k = len(u)
    return sum((x - y) ** 2 / y for x, y in itertools.permutations(u, 2)) / (k * (k - 1))


@pytest.mark.parametrize(
    "orbit", [subset_orbit(4, 1, F(3)), subset_orbit(5, 3, F(1, 2)), tuple_orbit(4, [F(3), F(2)]), centre_orbit(3)]
)
def test_signal_budget_and_ratio_of_orbits_from_their_template(orbit):
    u = orbit.template()
    assert sum(u) == len(u) and list(u) == sorted(u, reverse=True)
    assert orbit.signal == signal(u) and orbit.budget == budget(u) and orbit.ratio == max(u) / min(u)
    check_orbit(orbit, len(u))


def test_orbits_by_hand():
    assert subset_orbit(3, 1, F(4)) == Orbit(F(1), ((1, F(2)), (2, F(1, 2))))
    assert subset_orbit(3, 1, F(4), F(1, 3)).weight == F(1, 3)
    assert tuple_orbit(3, [F(2), F(1), F(2)]).levels == ((2, F(6, 5)), (1, F(3, 5)))
    assert tuple_orbit(2, [F(1, 2)], F(1, 7)) == Orbit(F(1, 7), ((1, F(4, 3)), (1, F(2, 3))))
    assert centre_orbit(3, F(1, 2)) == Orbit(F(1, 2), ((3, F(1)),))
    zero = Orbit(F(1), ((1, F(0)), (1, F(2))))
    assert zero.budget == zero.ratio == math.inf and zero.signal == 2
    for values in ([], [F(1)] * 4, [F(0)], [F(2), F(-1)]):
        with pytest.raises(InputError, match=r"^values"):
            tuple_orbit(3, values)


@pytest.mark.parametrize(
    ("weight", "levels", "place"),
    [
        (F(0), ((2, F(1)),), "weight"),
        (0.5, ((2, F(1)),), "weight"),
        (F(1), ((0, F(1)), (2, F(1))), "levels"),
        (F(1), ((2.0, F(1)),), "levels"),
        (F(1), ((1, F(-1)), (1, F(3))), "levels"),
        (F(1), ((2, 1),), "levels"),
        (F(1), ((3, F(2, 3)),), "levels"),
        (F(1), ((2, F(1) + F(1, 10**9)),), "levels"),
    ],
)
def test_what_is_no_orbit(weight, levels, place):
    with pytest.raises(CertificateError, match=f"at {place}"):
        check_orbit(Orbit(weight, levels), 2)
    check_orbit(Orbit(F(1, 10**9), ((1, F(0)), (1, F(2)))), 2)


def test_the_mechanism_of_a_mixture_of_orbits():
    """Half on (2, 1/2, 1/2) with three rearrangements, half on the centre: 2/6, 1/12, 1/12 and 1/2."""
    rows = orbit_mechanism([subset_orbit(3, 1, F(4), F(1, 2)), centre_orbit(3, F(1, 2))]).channel().rows
    assert sorted(rows[0]) == [F(1, 12), F(1, 12), F(1, 3), F(1, 2)]
    pairs = orbit_mechanism([tuple_orbit(3, [F(3), F(2)])]).channel()
    assert sorted(pairs.rows[0]) == sorted(F(v, 12) for v in (3, 3, 2, 2, 1, 1))
    for weight in (F(1, 2) - F(1, 10**9), F(1, 2) + F(1, 10**9)):
        with pytest.raises(InputError, match=r"^orbits = weights of sum"):
            orbit_mechanism([subset_orbit(3, 1, F(4), F(1, 2)), centre_orbit(3, weight)])
    for orbits in ([], [centre_orbit(3, F(1, 2)), centre_orbit(2, F(1, 2))]):
        with pytest.raises(InputError, match=r"^orbits = inputs"):
            orbit_mechanism(orbits)


def subset_traces(k, lam):
    return {s: signal(subset_template(k, s, lam)) for s in range(1, k)}


@pytest.mark.parametrize(
    ("k", "lam"),
    [
        (2, F(101, 100)),
        (2, F(9)),
        (3, F(101, 100)),
        (4, F(3, 2)),
        (7, F(2)),
        (10, F(6)),
        (10, F(599, 100)),
        (10, F(601, 100)),
    ],
)
def test_the_best_sizes_are_those_of_largest_trace(k, lam):
    """All sizes are tried; at k = 10 and lam = 6 the sizes 1 and 2 tie."""
    traces = subset_traces(k, lam)
    largest = max(traces.values())
    assert optimal_subset_sizes(k, lam) == tuple(s for s, value in traces.items() if value == largest)
    assert raw_cap_trace(k, lam) == largest
    assert raw_cap_risk_constant(k, lam, population="iid") == F((k - 1) ** 2) / largest
    assert raw_cap_risk_constant(k, lam, population="fixed") == F((k - 1) ** 2) / largest - F(k - 1, k)


def test_ties_by_hand():
    """Sizes s and s + 1 tie at lam^2 = (k - s)(k - s - 1)/(s (s + 1)): 9 * 8/2 = 36 at k = 10."""
    assert tie_ratio(10, 1) == 6
    assert float(tie_ratio(10, 2)) == pytest.approx(math.sqrt(8 * 7 / 6), rel=1e-15)
    assert tie_ratio(9, 4) == 1
    assert tie_ratio(3, 1) == 1
    for k, s in ((10, 0), (10, 5), (2, 1)):
        with pytest.raises(InputError):
            tie_ratio(k, s)
    for k, s in ((10, None), (None, 1)):
        with pytest.raises(InputError, match="both or neither"):
            tie_ratio(k, s)
    found = phase_boundaries(6)
    assert [s for s, _ in found] == [1, 2]
    for s, ball in found:
        assert float(ball) == pytest.approx(math.log((6 - s) * (5 - s) / (s * (s + 1))) / 2, rel=1e-15)
    assert [s for s, _ in phase_boundaries(5)] == [1] and phase_boundaries(3) == () and phase_boundaries(2) == ()


def test_sizes_at_irrational_levels():
    """log 6 = 1.79..: below it size 2 is best of ten inputs, above it size 1."""
    assert optimal_subset_sizes(10, Exp(F(179, 100))) == (2,)
    assert optimal_subset_sizes(10, Exp(F(180, 100))) == (1,)


def test_caps_and_templates_that_are_refused():
    assert check_cap(F(1) + F(1, 10**9)) > 1
    for lam in (F(1), F(1, 2), 2.0, math.inf):
        with pytest.raises(InputError, match=r"^lam = "):
            check_cap(lam)
    assert subset_template(3, 1, F(4)) == (2, F(1, 2), F(1, 2))
    assert subset_template(3, 2, F(1, 4)) == (F(1, 2), F(1, 2), 2)
    for s, lam in ((0, F(2)), (3, F(2)), (1, F(0)), (1, F(-1))):
        with pytest.raises(InputError):
            subset_template(3, s, lam)


def test_the_extreme_templates(monkeypatch):
    found = extreme_templates(3, F(4))
    high = {tuple(x) for x in set(itertools.permutations((F(2), F(1, 2), F(1, 2))))}
    low = set(itertools.permutations((F(4, 3), F(4, 3), F(1, 3))))
    assert set(found) == high | low and len(found) == 6 and list(found) == sorted(found)
    monkeypatch.setattr(caps, "LARGEST_VERTEX_INPUTS", 3)
    extreme_templates(3, F(4))
    with pytest.raises(Unsupported, match="k = 4"):
        extreme_templates(4, F(4))
    monkeypatch.setattr(caps, "LARGEST_DIAGRAM", 5)
    phase_boundaries(5)
    with pytest.raises(Unsupported, match="k = 6: all 2"):
        phase_boundaries(6)


@pytest.mark.parametrize(
    "u", [(F(1), F(1), F(1)), (F(6, 5), F(9, 10), F(9, 10)), (F(12, 7), F(6, 7), F(3, 7)), (F(12, 7), F(5, 7), F(4, 7))]
)
def test_templates_that_are_no_vertices_are_split(u):
    """Two templates of ratio at most 4, not equal, of which the first is a mean with the weight."""
    weight, first, second = split_template(u, F(4))
    assert first != second and 0 < weight < 1
    for v in (first, second):
        assert sum(v) == 3 and max(v) <= 4 * min(v) and min(v) > 0
    assert tuple(weight * x + (1 - weight) * y for x, y in zip(first, second, strict=True)) == u


def test_vertices_are_not_split_and_others_are_refused():
    assert split_template((F(2), F(1, 2), F(1, 2)), F(4)) is None
    assert split_template((F(4, 3), F(4, 3), F(1, 3)), F(4)) is None
    with pytest.raises(InputError, match="ratios of at most"):
        split_template((F(2), F(1, 2), F(1, 2)), F(4) - F(1, 10**9))


def test_laws_of_block_designs():
    """The seven lines of the Fano plane have the covariance of all blocks of three."""
    lines = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]
    law = block_design_law(lines, 7, F(3))
    assert law.trace() == signal(subset_template(7, 3, F(3))) and len(law.templates) == 7
    for blocks in ([(0, 1), (2,)], [], [(0, 1, 2)], [(0, 1), (0, 2)]):
        with pytest.raises(InputError):
            block_design_law(blocks, 3, F(2))


def test_extreme_laws_by_hand(monkeypatch):
    points = [(F(a), F(2 - a)) for a in (0, 1, 2)]
    laws = list(extreme_laws(points))
    assert [sorted(law.template.atoms()) for law in laws] == [
        [((1, 1), 1)],
        [((0, 2), F(1, 2)), ((2, 0), F(1, 2))],
    ]
    assert [law.template.atoms() for law in extreme_laws([(1, 1)])] == [(((1, 1), 1),)]
    assert list(extreme_laws([(F(1, 2), F(3, 2))])) == []
    uneven = list(extreme_laws([(F(1, 2), F(3, 2)), (F(4, 3), F(2, 3))]))
    assert [dict(law.template.atoms()) for law in uneven] == [
        {(F(1, 2), F(3, 2)): F(2, 5), (F(4, 3), F(2, 3)): F(3, 5)}
    ]
    monkeypatch.setattr(template_laws, "LARGEST_SEARCH", 6)
    assert len(list(extreme_laws([*points, points[0]]))) == 2  # three single ones and three pairs
    monkeypatch.setattr(template_laws, "LARGEST_SEARCH", 5)
    with pytest.raises(Unsupported, match="6 sets of at most 2 of 3"):
        next(extreme_laws(points))
    for given in ([], [(F(1), F(1)), (F(1), F(1), F(1))], [(F(1), F(2))]):
        with pytest.raises(InputError):
            list(extreme_laws(given))


def test_the_best_law_by_hand_and_each_condition_of_its_check():
    """Signals 2 at the ends and 0 in the middle: the ends, each with 1/2; prices (1, 1) at 2 per template."""
    points = [(F(a), F(2 - a)) for a in (0, 1, 2)]
    found = best_law(points, template_signal)
    found.verify()
    assert found.value.exact == 2 and found.gains == (2, 0, 2) and sum(found.prices) == 2
    centre = AnchoredLaw.from_atoms([((F(1), F(1)), F(1))])
    other = AnchoredLaw.from_atoms([((F(1, 2), F(3, 2)), F(1, 2)), ((F(3, 2), F(1, 2)), F(1, 2))])
    for change, place in (
        ({"law": centre}, "value"),
        ({"law": other}, "law"),
        ({"prices": (F(1), F(1) - F(1, 10**9))}, "prices"),
        ({"prices": (F(1), F(1) + F(1, 10**9))}, "value"),
        ({"gains": (F(2), F(2) + F(1, 10**9), F(2))}, "prices"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            type(found)(**{name: getattr(found, name) for name in found.__slots__} | change).verify()
    with pytest.raises(InputError, match="convex hull"):
        best_law([(F(1, 2), F(3, 2))], template_signal)
