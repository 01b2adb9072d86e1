"""Every error term of the roads for densities keeps some bracket true: set to zero, it lets one miss."""

# No public door shows one term alone, so that private names are called and set here.
import math
from dataclasses import replace
from fractions import Fraction

import flint
import mpmath as mp
import numpy as np
import pytest

from symshuffle.base.numbers import Exp, working_precision
from symshuffle.channels.continuous_law import LevelledPair
from symshuffle.engines.densities import beyond, bromwich, bromwich_plan, doubling, gauss
from symshuffle.engines.densities import engine as densities
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.engines.densities.doubling import Atoms, positive_part
from symshuffle.vectors.privacy.pairs import worst_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian

EPS = Exp(Fraction(4, 10000))
TRUE = Fraction("2.379135330145171598564562564e-5")
PAIR = worst_pair(BlanketMixedGaussian("0.95", "4.6"), adjacency="zero-out")
FEW = worst_pair(BlanketMixedGaussian("0.9", "4"), adjacency="zero-out")
FEW_EPS = Exp(Fraction(1, 100))
TWO, THREE = Fraction("0.00374801731398906099641705593"), Fraction("0.00259075334408556413651")


@pytest.fixture(scope="module")
def law():
    return PAIR.law(EPS, tail=Fraction(1, 10**25), bits=192)


def low(height_share):
    """A height from which all is bounded at once that is far too low."""

    def found(law, n, plan, c, size, atom, least):
        height = height_share * plan.far
        return beyond.far(beyond.cell_shifts(law, c), size - atom, height), height

    return found


def test_the_bound_at_all_heights_is_needed(law, monkeypatch):
    monkeypatch.setattr(bromwich, "_height", low(0.02))
    assert bromwich_bracket(law, 1000, 1e-8).contains(TRUE)
    genuine = low(0.02)
    monkeypatch.setattr(bromwich, "_height", lambda *a: (flint.arb(0), genuine(*a)[1]))
    assert not bromwich_bracket(law, 1000, 1e-8).contains(TRUE)


def test_the_bound_on_stretches_is_needed(law, monkeypatch):
    monkeypatch.setattr(bromwich, "last_node", lambda *_: 4)
    assert bromwich_bracket(law, 1000, 1e-6).contains(TRUE)
    monkeypatch.setattr(bromwich.BromwichLine, "_stretches", lambda self, start, last: flint.arb(0))
    assert not bromwich_bracket(law, 1000, 1e-6).contains(TRUE)


def test_chernoffs_bound_is_above_all_that_its_moment_may_be(monkeypatch):
    """A moment that is known to a hundredth alone makes the bound larger, by the n-th power of the hundredth."""
    pair, plain = LevelledPair(PAIR, EPS), gauss.roughly
    known = densities.at_most(pair, 1000, near=Fraction(1, 10))[0]
    monkeypatch.setattr(gauss, "roughly", lambda *a, **k: plain(*a, **k) * flint.arb(1, 0.01))
    assert densities.at_most(pair, 1000, near=Fraction(1, 10))[0] > min(10 * known, densities.at_most(pair, 1)[0])


@pytest.mark.parametrize("whole", [True, False])
def test_the_rounding_allowance_is_needed(monkeypatch, whole):
    n, eps = 10**8, Exp(Fraction(1, 10**6))
    law = PAIR.law(eps, tail=Fraction(1, 10**25), bits=192)
    sure = bromwich_bracket(law, n, 1e-13)
    genuine = bromwich.BromwichLine.sum_in_doubles
    if not whole:
        monkeypatch.setattr(bromwich.BromwichLine, "sum_in_doubles", lambda self: (genuine(self)[0], flint.arb(0)))
    quick = bromwich_bracket(law, n, 1e-11, "float64")
    assert quick.arithmetic == "float64"
    assert (quick.lower <= sure.upper and sure.lower <= quick.upper) == whole


@pytest.mark.parametrize(("n", "eps", "rtol"), [(1000, "4/10000", 1e-8), (10**8, "1/1000000", 1e-10)])
def test_the_sum_in_doubles_is_that_in_balls_within_its_allowance(n, eps, rtol):
    seen = PAIR.law(Exp(Fraction(eps)), tail=Fraction(1, 10**25), bits=192)
    with working_precision(192):
        plan, taken = bromwich_plan.plan_for(seen, n, rtol)
        # What the rule leaves out widens balls and allowance alike; without it the balls are points.
        line = replace(bromwich.BromwichLine.of(taken, n, plan), error=flint.arb(0))
        total, allowance = line.sum_in_doubles()
        sure, nothing = line.sum_in_balls()
        weight = line.step / flint.arb.pi()
        assert nothing == 0
        assert abs(total - sure) * weight < allowance
        assert allowance < abs(sure) * weight * 1e-6  # and it says something


@pytest.mark.parametrize("part", ["zero", "tilted", "rule"])
def test_balls_that_are_wider_than_a_rounding_are_covered_to_their_ends(part):
    seen = PAIR.law(Exp(Fraction(4, 10000)), tail=Fraction(1, 10**25), bits=192)
    with working_precision(192):
        plan, taken = bromwich_plan.plan_for(seen, 1000, 1e-8)
        line = replace(bromwich.BromwichLine.of(taken, 1000, plan), error=flint.arb(0))

        def moved(by):
            return {
                "zero": lambda: replace(line, zero=line.zero + by),
                "tilted": lambda: replace(line, tilted=tuple(w * (1 + by) for w in line.tilted)),
                "rule": lambda: replace(line, rule=replace(line.rule, values=tuple(v + by for v in line.rule.values))),
            }[part]()

        total, allowance = moved(flint.arb(0, 1e-9)).sum_in_doubles()
        weight, narrow = line.step / flint.arb.pi(), line.sum_in_doubles()[1]
        for end in (-1e-9, 1e-9):
            off = abs(total - moved(flint.arb(end)).sum_in_balls()[0]) * weight
            assert 2 * narrow < off < allowance


def test_a_power_grows_with_the_error_of_its_base():
    """Of 1000 users a base 2e-3 too large makes the power e^2 times as large, and not 1 + 2 times."""
    seen = PAIR.law(Exp(Fraction(4, 10000)), tail=Fraction(1, 10**25), bits=192)
    with working_precision(192):
        plan, taken = bromwich_plan.plan_for(seen, 1000, 1e-8)
        line = replace(bromwich.BromwichLine.of(taken, 1000, plan), error=flint.arb(0))
        total, allowance = replace(line, zero=line.zero + flint.arb(0, 2e-3)).sum_in_doubles()
        largest = replace(line, zero=line.zero + flint.arb(2e-3)).sum_in_balls()[0]
        assert abs(total - largest) * line.step / flint.arb.pi() < allowance


def test_a_wide_factor_of_single_terms_is_covered_to_its_ends(monkeypatch):
    seen = PAIR.law(Exp(Fraction(4, 10000)), tail=Fraction(1, 10**25), bits=192)
    with working_precision(192):
        plan, taken = bromwich_plan.plan_for(seen, 1000, 1e-8)
        line = replace(bromwich.BromwichLine.of(taken, 1000, plan), error=flint.arb(0))
        weight, factor = line.step / flint.arb.pi(), flint.arb("0.25")

        def summed(by, name):
            monkeypatch.setattr(bromwich.BromwichLine, "single", property(lambda _: factor + by))
            return getattr(line, name)()

        total, allowance = summed(flint.arb(0, 1e-7), "sum_in_doubles")
        for end in (-1e-7, 1e-7):
            off = abs(total - summed(flint.arb(end), "sum_in_balls")[0]) * weight
            assert 2 * summed(flint.arb(0), "sum_in_doubles")[1] < off < allowance


class Rough:
    """NumPy with functions that are as far off as the engine says they may be: units of exp, round-offs of a phase."""

    def __init__(self, units, turns):
        self.units, self.turns = units * 2.0**-53, turns * 2.0**-53

    def __getattr__(self, name):
        return getattr(np, name)

    def exp(self, z):
        return np.exp(z) * (1 + self.units)

    def outer(self, a, b):
        return np.outer(a, b) * (1 + self.turns)


def off_and_allowed(line):
    total, allowance = line.sum_in_doubles()
    return abs(total - line.sum_in_balls()[0]) * line.step / flint.arb.pi(), allowance


@pytest.mark.parametrize(("n", "eps"), [(1000, "4/10000"), (10**8, "1/1000000")])
def test_sums_that_are_as_wrong_as_they_may_be_are_allowed_for(n, eps, monkeypatch):
    """Four units of every exponential and one round-off of every addition take a good part of the allowance."""
    halved = bromwich._halved
    monkeypatch.setattr(bromwich, "np", Rough(4, 0))
    monkeypatch.setattr(bromwich, "_halved", lambda x: halved(x) * (1 + math.ceil(math.log2(len(x))) * 2.0**-53))
    seen = PAIR.law(Exp(Fraction(eps)), tail=Fraction(1, 10**25), bits=192)
    with working_precision(192):
        plan, taken = bromwich_plan.plan_for(seen, n, 1e-8)
        off, allowance = off_and_allowed(replace(bromwich.BromwichLine.of(taken, n, plan), error=flint.arb(0)))
        assert allowance / 4 < off < allowance


@pytest.mark.parametrize("turns", [3, -3])
def test_phases_that_are_as_wrong_as_they_may_be_are_allowed_for(law, turns, monkeypatch):
    """Far up a line that is far out a phase of thousands of turns is off by as many round-offs."""
    monkeypatch.setattr(bromwich, "np", Rough(0, turns))
    with working_precision(192):
        plan, taken = bromwich_plan.plan_for(law, 1000, 1e-8)
        line = bromwich.BromwichLine.of(taken, 1000, plan)
        few = replace(line.rule, values=(flint.arb(1), flint.arb("0.5")), weights=line.rule.weights[:2])
        far = replace(plan, c=1e4, step=1.0)
        half = flint.arb("0.25")
        line = replace(
            line, n=1, plan=far, c=flint.arb(10**4), step=flint.arb(1), rule=few, tilted=(half, half),
            zero=2 * half, error=flint.arb(0), nodes=2000,
        )  # fmt: skip
        off, allowance = off_and_allowed(line)
        assert off < allowance
        whole = flint.arb(sum(3 * t * 0.375 / (1e8 + t * t) for t in range(2001)) * 2.0**-53) / flint.arb.pi()
        assert whole < allowance  # were all phases to push one way


def test_sums_and_powers_of_doubles_are_formed_in_a_known_order():
    """Every term of the sum goes through as many additions as there are halvings; a power errs by 3 (n - 1) units."""
    for m in (1, 2, 3, 7, 64, 1000):
        assert bromwich._halved(np.arange(m, dtype=complex)[:, None])[0] == m * (m - 1) // 2
    base = np.exp(1j * np.linspace(0.1, 3, 40)) * 0.9999999
    for n in (1, 2, 3, 1000, 10**6 + 7):
        found = bromwich.integer_power(base, n)
        for z, power in zip(base, found, strict=True):
            with mp.workdps(40):
                truth = mp.mpc(z) ** n
                assert abs(mp.mpc(power) - truth) <= 3 * max(n - 1, 0) * 2.0**-53 * abs(truth)


def line_at(monkeypatch, height, step):
    """A line too close to 0 or too far from it, of a step too long: aliases of one side or of the other."""
    plain = bromwich_plan.choose

    def moved(*given):
        plan = plain(*given)
        return replace(plan, c=height * plan.c, step=step * plan.step, slope=max(plan.slope, 1.5 * height * plan.c))

    monkeypatch.setattr(bromwich_plan, "choose", moved)


def aliases_times(monkeypatch, factor):
    plain = bromwich.BromwichLine.aliases
    monkeypatch.setattr(bromwich.BromwichLine, "aliases", lambda self, value: factor * plain(self, value))


@pytest.mark.parametrize("kept", [1.0, 0.9, 0.0])
def test_the_aliases_of_sums_far_below_are_needed(law, monkeypatch, kept):
    """On a line close to 0 those of m > 0 are nearly all there is, and the bound is what they are to a tenth."""
    line_at(monkeypatch, 0.2, 1)
    assert bromwich_bracket(law, 1000, 1e-8).contains(TRUE)
    aliases_times(monkeypatch, kept)
    assert bromwich_bracket(law, 1000, 1e-8).contains(TRUE) == (kept == 1)


def test_the_aliases_of_sums_far_above_are_needed(law, monkeypatch):
    """On a line far from 0 those of m < 0 are what matters; Chernoff's bound on them is made next to nothing."""
    line_at(monkeypatch, 2, 2)
    assert bromwich_bracket(law, 1000, 1e-8).contains(TRUE)
    plain = bromwich.BromwichLine.aliases

    def of_one_side(self, value):
        with pytest.MonkeyPatch.context() as at:
            at.setattr(gauss, "expectation", lambda *_: flint.arb("1e-30"))
            return plain(self, value)

    monkeypatch.setattr(bromwich.BromwichLine, "aliases", of_one_side)
    assert not bromwich_bracket(law, 1000, 1e-8).contains(TRUE)


def coarse_orders(monkeypatch):
    """Every panel by a rule of six nodes, whatever it errs by; none is left out."""
    plain = gauss.rule
    monkeypatch.setattr(gauss, "_ORDERS", (6,))
    monkeypatch.setattr(gauss, "mass", lambda *_, **__: flint.arb("inf"))
    monkeypatch.setattr(gauss, "rule", lambda *given, **named: plain(*given, **named | {"tolerance": 1e3}))


def coarse_cuts(monkeypatch):
    """Panels are left out that are ten million times too heavy for it, at the error that they have."""
    plain, mass = gauss.rule, gauss.mass
    monkeypatch.setattr(gauss, "mass", lambda *given, **named: mass(*given, **named) / 10**7)

    def rule(*given, **named):
        found = plain(*given, **named)
        return replace(found, error=10**7 * found.error)

    monkeypatch.setattr(gauss, "rule", rule)


@pytest.mark.parametrize("coarse", [coarse_orders, coarse_cuts])
def test_the_error_of_the_rule_is_needed(law, monkeypatch, coarse):
    coarse(monkeypatch)
    assert bromwich_bracket(law, 1000, 1e-8).contains(TRUE)
    plain = gauss.rule
    monkeypatch.setattr(gauss, "rule", lambda *given, **named: replace(plain(*given, **named), error=flint.arb(0)))
    assert not bromwich_bracket(law, 1000, 1e-8).contains(TRUE)


def test_cut_tails_count_for_few_users():
    law = FEW.law(FEW_EPS, tail=Fraction(1, 50))
    assert doubling.two_sided(law, 2, cells=900).contains(TWO)
    careless = replace(law, missing=(Fraction(0), Fraction(0)))
    assert not doubling.two_sided(careless, 2, cells=900).contains(TWO)


def test_each_side_of_the_convex_order_is_needed():
    below, above = doubling.merged_and_spread(FEW.law(FEW_EPS, tail=Fraction(1, 10**18)), 300)
    value = 2 * float(TWO)
    assert positive_part(below, 2, 600, spread=False)[0] < value < positive_part(above, 2, 600, spread=True)[0]
    value, bins = 3 * float(THREE), 60  # coarse bins after the first addition are what separates the sides
    assert positive_part(below, 3, bins, spread=False)[0] < value < positive_part(below, 3, bins, spread=True)[0]
    assert positive_part(above, 3, bins, spread=False)[0] < value


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("kind", ["shift", "share"])
def test_declared_errors_are_carried_through(kind, kept):
    """Two-point laws with exact values, spoilt by as much as is declared."""
    exact = Atoms(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 0.0, 0.0)
    off = 1e-4
    spoilt = {
        "shift": Atoms(exact.values - off, exact.weights, off if kept else 0.0, 0.0),
        "share": Atoms(exact.values, exact.weights * (1 - off), 0.0, off if kept else 0.0),
    }[kind]
    for n in (1, 2, 5, 8):
        true = positive_part(exact, n, 4000, spread=True)[0]
        value, error = positive_part(spoilt, n, 4000, spread=True)
        assert (abs(true - value) <= error + 1e-12) == kept


def test_binomials_are_bracketed():
    """A law whose sums are known: the two sides contain the exact value for odd and even numbers of users."""
    from symshuffle.channels.law import Law
    from symshuffle.engines.counting.exact import Exact

    values, weights = (Fraction(1), Fraction(-1, 3), Fraction(-2, 7)), (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    atoms = Atoms(np.array([float(v) for v in values]), np.array([float(w) for w in weights]), 2.0**-53, 2.0**-53)
    for n in (1, 2, 3, 7, 12):
        exact = Exact().bracket(Law(values, weights), n).exact * n
        (less, a), (more, b) = (positive_part(atoms, n, 200, spread=s) for s in (False, True))
        assert Fraction(less) - Fraction(a) <= exact <= Fraction(more) + Fraction(b)
        assert more - less < 0.02 * more
