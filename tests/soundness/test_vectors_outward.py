"""Vectors and laws: constants, larger orders, floors and errors are rounded outward, of numbers known by brackets."""

import itertools
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from symshuffle import Ball, CertificateError, Exp, Law, Unsupported
from symshuffle.accountants.bounds import evaluate as evaluate_module
from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.base.numbers import enclose, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.engines.densities import engine
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear, err1
from symshuffle.vectors.calibration import floor, search
from symshuffle.vectors.calibration.floor import Target, at_least, least_error, root
from symshuffle.vectors.privacy import accounting, dominance, rows
from symshuffle.vectors.privacy.accounting import larger_between
from symshuffle.vectors.privacy.correspondence import Correspondence
from symshuffle.vectors.privacy.dominance import _apart, _from_one, _rational
from symshuffle.vectors.privacy.gaussian_blanket import rounding_radius
from symshuffle.vectors.privacy.pairs import worst_pair
from tests.fewbits import few_bits, just_above, just_below

BITS = pytest.mark.parametrize("bits", [8, 24])
FINE = 600


def test_constants_of_a_correspondence_hold_for_all_numbers_between_the_ends():
    """A template, the bound and what is attained, each known by two ends far apart."""
    ends = [Ball(F(1, k + 1), F(1, k)) for k in (2, 5, 11, 17)]
    shuffled, attained = (Bracket(F(k), F(k + 2), "ball", "", "") for k in (23, 19))
    made = Correspondence(9, F(1), *ends, shuffled, attained)
    leading, mills, mills_upper, central = ends
    for delta, template, above, below in (
        (shuffled, leading, made.upper_constant, None),
        (shuffled, mills, made.mills_constant, None),
        (shuffled, central, made.to_central, None),
        (attained, mills_upper, None, made.lower_constant),
    ):
        for value, at in itertools.product((delta.lower, delta.upper), (template.lower, template.upper)):
            assert above is None or value <= above * at
            assert below is None or value >= below * at


@dataclass(frozen=True)
class Named:
    """A stand-in for a pair, of which the values are given."""

    name: str

    @property
    def reverse(self):
        return Named(self.name[::-1])


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("ahead", [True, False])
def test_the_larger_of_two_orders_and_the_value_of_one_user(monkeypatch, ahead, dense):
    if dense:  # a rough look at the other order comes first
        monkeypatch.setattr(accounting, "ContinuousPair", Named)
        monkeypatch.setattr(accounting, "LevelledPair", lambda *_: None)
        monkeypatch.setattr(accounting, "at_most", lambda *_, **__: (F(10),))
    ends = [(F(a), F(b)) for a, b in ((1, 4), (2, 3), (3, 6), (1, 2), (5, 6))]
    monkeypatch.setattr(rows, "likely_larger", lambda *_: ahead)
    monkeypatch.setattr(rows, "rows_of", lambda _: None)
    for one, other in itertools.product(ends, ends):
        known = {name: Bracket(*pair, "ball", name, "") for name, pair in (("ab", one), ("ba", other))}
        monkeypatch.setattr(accounting, "_value", lambda pair, *_, known=known: known[pair.name])
        for found in (accounting.larger(*known.values()), accounting.larger_order(Named("ab"), 3, F(2))):
            assert (found.lower, found.upper) == (max(one[0], other[0]), max(one[1], other[1]))
        monkeypatch.setattr(accounting, "real_pair", lambda *_, **__: Named("ab"))
        for target in (F(3, 2), F(3), F(4), F(11, 2), F(7)):
            found = accounting.one_user_bound(None, target, exp_eps=F(2), adjacency="replace-one")
            most = max(one[1], other[1])
            assert (found is None) is (most > target)
            assert found is None or found.upper == most


@BITS
@pytest.mark.parametrize("order", [Exp(F(1, 3)), Exp(F(1, 10**30)), F(3, 2)], ids=str)
def test_levels_of_a_comparison_are_on_the_outer_sides(order, bits):
    with few_bits(bits):
        low, high = _rational(order, up=False), _rational(order, up=True)
    truth = enclose(order, FINE)
    assert 1 <= low <= truth.lower and truth.upper <= high


def test_a_comparison_of_orders_reaches_over_its_levels_and_says_only_what_lower_ends_do(monkeypatch):
    pair = worst_pair(SphereLinear("1/2", 1), adjacency="zero-out")
    for bits in (8, 24, 128):
        with few_bits(bits):
            found = dominance.which_order(pair, 3, low="1/3", high=1)
        assert found.orders[0] <= enclose(Exp(F(1, 3)), FINE).lower
        assert found.orders[-1] >= enclose(Exp(F(1)), FINE).upper
    monkeypatch.setattr(dominance, "_few", lambda *_: False)
    orders = [F(1), F(4, 3), F(5, 3), F(2), F(3)]
    for shift in (F(0), F(1, 8), F(-1, 8)):
        ends = ((x, 1 / (4 * x)) for x in orders)
        seen = {
            x: tuple(Bracket(v + by - F(1, 7), v + by + F(1, 7), "ball", "", "") for by in (F(0), shift))
            for x, v in ends
        }
        made = dominance._Profiles(pair, 3, "ball", seen)
        assert all(made.follows(orders, i) == {"undecided"} for i in range(len(orders) - 1))


def test_the_other_order_of_laws_counts_by_its_upper_end(monkeypatch):
    """Values of laws on either side, by order: that of the other order is only known by a glance."""
    for glance, upper in (((0, F(3, 2)), F(3, 2)), ((0, F(9, 10)), F(103, 100)), ((F(9, 10), 2), F(2))):
        known = {
            ("below", False): (1, F(101, 100)),
            ("above", False): (F(102, 100), F(103, 100)),
            ("above", True): glance,
        }

        def value(law, _, request, known=known):
            ends = known[law]
            if law == ("above", False) and request.rtol == 0.1:
                ends = (F(102, 100), F(10))  # a glance makes it the order that is looked at
            return Bracket(F(ends[0]), F(ends[1]), "ball", "", "")

        monkeypatch.setattr(accounting, "_laws_around", lambda *_, reverse: (("below", reverse), ("above", reverse)))
        monkeypatch.setattr(accounting, "evaluate", value)
        asked = {"exp_eps": F(2), "adjacency": "zero-out", "rtol": 0.3 if upper < F(11, 10) else 0.999}
        found = accounting.larger_between(ClippedLinear("1/5", 5, "2"), 3, **asked)
        assert (found.lower, found.upper) == (1, upper)


def test_a_profile_is_the_larger_one_only_by_its_lower_ends():
    """Two convex functions that are equal, known by brackets: neither is certainly the larger one, in any part."""
    from symshuffle.accountants.bounds.chords import Node

    def nodes(shift, wide):
        return [Node(F(x), 1 / F(x) + shift - wide, 1 / F(x) + shift + wide) for x in (1, 2, 3, 4)]

    for i in range(3):
        assert not _apart(nodes(F(0), F(1, 100)), nodes(F(0), F(1, 100)), i)
        assert not _apart(nodes(F(0), F(1, 3)), nodes(F(-1, 8), F(1, 3)), i)
        assert not _apart(nodes(F(1, 4), F(1, 5)), nodes(F(0), F(1, 5)), i)
    assert _apart(nodes(F(1), F(1, 100)), nodes(F(0), F(1, 100)), 1)
    above = [Node(F(1), F(1, 4), F(1, 2)), Node(F(2), F(0), F(1, 8))]
    for low, high in ((F(0), F(1, 4)), (F(1, 100), F(1, 5))):
        assert not _from_one(above, [Node(F(1), F(1, 5), F(1, 2)), Node(F(2), low, high)])


@BITS
@pytest.mark.parametrize("ratio", [Exp(F(1, 250)), F(251, 250), Exp(F(1))], ids=str)
def test_a_radius_is_rounded_up(ratio, bits):
    for reach, gamma in ((F(10, 46), F(0)), (F(1, 3), F(1, 7))):
        with working_precision(FINE):
            level = (to_arb(ratio) - to_arb(gamma)) / to_arb(1 - gamma)
            growth = to_arb(reach * reach / 2).expm1()
            first, second = level - 1, (level - 1) / 2 + level * growth / 8
            truth = Ball.from_arb(to_arb(reach) * first.max(second), FINE)
        with few_bits(bits):
            assert rounding_radius(ratio, reach=reach, gamma=gamma) >= truth.upper
        assert rounding_radius(ratio, reach=reach, gamma=gamma) >= truth.upper


@pytest.mark.parametrize(
    "mechanism", [SphereLinear("1/2", 3), PrivUnit("3/4", "1/4", 5), LocalGaussian("3/2", 2)], ids=str
)
def test_errors_and_floors_are_on_their_own_sides(mechanism):
    single = enclose(err1(mechanism), FINE)
    for n in (1, 7):
        found = search._error(mechanism, n)
        size = n * mechanism.dimension
        assert found.lower**2 * size <= single.upper and single.lower <= found.upper**2 * size
    for value in (F(2), F(1, 3), F(10**9 + 1), F(1, 4**60) * F(5, 4), F(1, 4**60) * F(49, 2), F(9, 4)):
        assert root(value) ** 2 <= value < (root(value) + F(2, 2**60)) ** 2


FLOORS = [
    [SphereLinear("1/2", 2)],
    [LocalGaussian("3/2", 2)],
    [BlanketMixedGaussian("1/5", "2"), BlanketMixedGaussian("2/5", "1")],
    [ClippedLinear("-3/10", 5, "2"), ClippedLinear("1/10", 5, "3")],
]


@pytest.mark.parametrize("points", FLOORS, ids=lambda x: type(x[0]).__name__)
def test_a_floor_of_few_bits_is_lower(points):
    fine = least_error(points)
    for bits in (12, 24):
        with few_bits(bits), suppress(CertificateError):
            assert least_error(points) <= fine


def test_the_root_of_an_error_between_two_numbers(monkeypatch):
    for ends in ((F(1), F(4)), (F(49, 2) / 4**60, F(73, 2) / 4**60)):
        monkeypatch.setattr(search, "err1", lambda _, ends=ends: Ball(*ends))
        found = search._error(SphereLinear("1/2", 1), 1)
        assert found.lower**2 <= ends[0] and ends[1] <= found.upper**2


def test_a_point_is_excluded_by_lower_ends_alone(monkeypatch):
    """A bound that may be on either side of the target excludes nothing, and a closed form no more in few bits."""
    for mechanism in (SphereLinear("1/2", 3), ClippedLinear("1/5", 5, "2")):
        monkeypatch.setattr(floor, "_excluded", lambda *_: False)
        monkeypatch.setattr(floor, "at_least", lambda *_, **__: F(0))
        for ends, missed in (((0, 1), False), ((F(1, 100), 1), False), ((F(1, 99), 1), True)):
            made = Bracket(*map(F, ends), "ball", "", "")
            monkeypatch.setattr(floor, "pair_delta", lambda *_, made=made, **__: made)
            target = Target(10**4, F(2), F(1, 100), "replace-one", "mechanism")
            assert floor.misses(mechanism, target) is missed
    assert all(F(floor._rounded_down(number)) < F(1, 3) for number in (F(1, 3), Ball(F(1, 3), F(2, 3))))


def test_one_user_alone_excludes_by_the_lower_end():
    mechanism = PrivUnit("3/4", "1/4", 5)

    def missed(goal):
        target = Target(3, Exp(F(1, 3)), goal, "replace-one", "mechanism")
        return floor.misses_alone(mechanism, target)

    low, high = F(0), F(1)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle) else (low, middle)
    assert low > 0
    for k in range(1, 25):
        with few_bits(14):
            assert not missed(high * (1 + F(k**2, 2**16)))


def test_levels_are_covered_for_certain_or_not():
    low, high = Exp(F(1, 3)), Exp(F(1))
    assert dominance._covers(low, high, enclose(low, 96).lower, enclose(high, 96).upper)
    assert not dominance._covers(low, high, just_above(low, 96), enclose(high, 96).upper)
    assert not dominance._covers(low, high, enclose(low, 96).lower, just_below(high, 96))


def test_the_value_of_one_user_and_of_very_many_by_both_ends():
    mean = Ball(F(1, 5), F(1, 4))
    mixed = SimpleNamespace(kind="segments", never_positive=False, positive_mean=lambda: mean, singular=F(1, 7))
    found = evaluate(mixed, 1, Method(arithmetic="ball"))
    assert found.lower <= F(1, 5) + F(1, 7) and F(1, 4) + F(1, 7) <= found.upper
    law = Law((F(1), F(-2)), (F(1, 2), F(1, 2)), singular=Ball(F(1, 5), F(1, 4)))
    found = evaluate(law, 10**12, Method(arithmetic="ball"))
    assert found.lower <= F(1, 5) and F(1, 4) <= found.upper


@dataclass(frozen=True)
class Densities:
    """A stand-in for a pair of densities at a level: its name, and the numbers that are known of it."""

    pair: object
    exp_eps: F = F(2)
    others: tuple = ()
    single: object = None
    ceiling: F | None = None
    never_positive: bool = False
    kind: str = "densities"

    @property
    def of_single(self):
        return None if self.single is None else Densities(self.single, self.exp_eps)

    def alone(self):
        return self.pair.alone


def test_several_bounds_on_densities_by_both_ends(monkeypatch):
    """The smallest upper end counts, and the smallest lower one: each is a bound, and none is the number itself."""
    alone = Ball(F(1, 5), F(1, 4))
    first, second, one = (
        type("Pair", (), {"about": f"{name}, one", "alone": alone, "ends": ends})
        for name, ends in (("a", (F(1, 10), F(1, 2))), ("b", (F(1, 20), F(1, 3))), ("c", None))
    )

    def bracket(law, n, **_):
        return Bracket(*law.pair.ends, "ball", "given", "", aimed=0.1)

    def at_most(law, n, **_):
        return (F(1) if law.ceiling is None else law.ceiling), "the value for one user"

    monkeypatch.setattr(engine, "density_bracket", bracket)
    monkeypatch.setattr(engine, "at_most", at_most)  # Chernoff's bound needs a density

    def ends(law, n):
        found = evaluate(law, n, Method(arithmetic="ball"))
        return found.lower, found.upper

    assert ends(Densities(first), 1) == (F(1, 5), F(1, 4))
    assert ends(Densities(first), 5) == (F(1, 10), F(1, 2))
    assert ends(Densities(first, ceiling=F(1, 3)), 5) == (F(1, 10), F(1, 3))
    assert ends(Densities(first, ceiling=F(1, 20)), 5) == (F(1, 20), F(1, 20))
    assert ends(Densities(first, others=(Densities(second),)), 5) == (F(1, 20), F(1, 3))
    assert ends(Densities(first, others=(Densities(second),), single=one), 5) == (F(1, 20), F(1, 4))
    assert ends(Densities(first, single=one), 1) == (F(1, 5), F(1, 4))


def test_a_mean_is_at_least_what_is_said_of_it():
    """Weights and values that no double has, of H(1) and H(2) in rationals."""
    law = Law.from_atoms([(F(1, 3), F(1, 7)), (F(2, 3), F(1, 7)), (F(-1, 5), F(5, 7))])
    atoms = list(law.atoms())
    assert at_least(law, 1) <= sum(w * max(v, F(0)) for v, w in atoms)
    assert at_least(law, 2) <= sum(w * u * max(v + t, F(0)) for v, w in atoms for t, u in atoms) / 2
    balls = Law.from_atoms([(Ball(v - F(1, 100), v + F(1, 100)), w) for v, w in atoms])
    assert at_least(balls, 1) <= sum(w * max(v - F(1, 100), F(0)) for v, w in atoms)
    singular = replace(law, singular=Ball(F(1, 4), F(3, 4)))
    assert at_least(singular, 1) <= F(1, 4) + sum(w * max(v, F(0)) for v, w in atoms)


SINGULAR = [F(1, 4), Ball(F(1, 5), F(1, 4))]


@pytest.mark.parametrize("singular", SINGULAR, ids=["exact", "ball"])
def test_a_singular_mass_counts_by_both_its_ends(singular):
    """Laws whose value is known but for the singular mass: never positive, in units, of one user."""
    low, high = (singular.lower, singular.upper) if isinstance(singular, Ball) else (singular, singular)
    never = Law((F(-1),), (F(1),), singular=singular)
    found = evaluate(never, 5, Method(arithmetic="ball"))
    assert (found.lower, found.upper) == (low, high)
    law = Law((F(1), F(-2)), (F(1, 2), F(1, 2)), singular=singular)
    for n, value in ((1, F(1, 2)), (2, F(1, 4))):
        found = evaluate(law, n, Method(arithmetic="ball", rtol=1e-3))
        assert found.lower <= low + value and high + value <= found.upper


@pytest.mark.parametrize("error", [F(0), F(1, 10**9), F(1, 10**5)], ids=str)
def test_what_a_lattice_neglects_is_added_on_both_sides(monkeypatch, error):
    law = Law((Ball(F(1), F(1)), Ball(F(-2), F(-2))), (F(1, 2), F(1, 2)), singular=Ball(F(1, 5), F(1, 4)))
    units = Law((F(1), F(-2)), (F(1, 2), F(1, 2)))
    monkeypatch.setattr(Law, "in_units", lambda self: (units, F(1, 3), error) if self is law else None)
    found = evaluate(law, 2, Method(arithmetic="ball", rtol=1e-2))
    truth = F(1, 4) / 3
    assert found.lower <= truth - error + F(1, 5)
    assert found.upper >= truth + error + F(1, 4)


def test_a_lattice_keeps_both_ends_of_the_value_on_it(monkeypatch):
    law = Law((Ball(F(1), F(1)), Ball(F(-2), F(-2))), (F(1, 2), F(1, 2)))
    units = Law((F(1), F(-2)), (F(1, 2), F(1, 2)))
    monkeypatch.setattr(Law, "in_units", lambda self: (units, F(1, 3), F(1, 10**9)) if self is law else None)
    monkeypatch.setattr(evaluate_module, "_of_atoms", lambda *_: Bracket(F(1, 5), F(2, 7), "ball", "given", ""))
    found = evaluate(law, 2, Method(arithmetic="ball", rtol=1e-2))
    assert found.lower <= F(1, 15) and found.upper >= F(2, 21)


@BITS
@pytest.mark.parametrize("adjacency", ["replace-one", "zero-out"])
def test_laws_of_heights_are_on_both_sides(adjacency, bits):
    """Two numbers of cells: their brackets overlap, and the wide one of few bits holds what many bits say."""
    mechanism = ClippedLinear("1/5", 5, "2")
    fine = larger_between(mechanism, 3, exp_eps=F(6, 5), adjacency=adjacency, rtol=0.05)
    try:
        with few_bits(bits * 4):
            wide = larger_between(mechanism, 3, exp_eps=F(6, 5), adjacency=adjacency, rtol=0.2)
    except Unsupported:
        return
    assert wide.lower <= fine.upper and fine.lower <= wide.upper
