"""Every error term of an engine keeps some bracket true: set to zero, it lets one miss.

Good constants make most terms negligible, so that a bracket would hold without them. Here the constants are bad on
purpose: lines far from the saddle point, steps too long, ends too near, stretches closed too early, windows too short,
sums stopped at once. The engine as it is holds the truth at every one of them; with one term zero it misses somewhere.

No public door shows one term alone, so that private names are called and set here.
"""

import math
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest

from symshuffle import Ball, InputError, Law, SymshuffleError
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.engines import FFT, BallContour, Contour, Counts, Exact, Sparse
from symshuffle.engines.contours import contour, saddle
from symshuffle.engines.contours.characteristic import Region, line_regions
from symshuffle.engines.counting import count_tables, counts, sparse
from symshuffle.engines.transforms import fft, tilted
from tests.soundness.test_engine_allowances import ATOM, HUGE, STUCK, WEIGHT, WITHIN

CLOSE = Fraction(1, 10**12)


def missed(bracket, truth):
    """Whether a bracket, or the attempt to make one, excludes the truth; its ends are known to 1e-12 of it."""
    try:
        found = bracket()
    except InputError as crossed:
        assert "lower <= upper" in str(crossed)
        return True
    except SymshuffleError:
        return False
    low, high = truth
    return found.lower > high or found.upper < low


def random_law(draw, atoms):
    values = draw.sample(range(-3 * atoms, 2 * atoms + 1), atoms)
    values[0] = max(values[0], 1)
    masses = [draw.randint(1, 100) for _ in values]
    law = Law.from_atoms(
        (Fraction(v, 2 * atoms), Fraction(m, sum(masses))) for v, m in zip(values, masses, strict=True)
    )
    # Off any lattice that one period would use up: the smoothed line is another road.
    shift = draw.choice([Fraction(0), Fraction(1, 10**6 + 3)])
    return Law(tuple(v + shift for v in law.values), law.weights)


@cache
def small():
    """Laws of 2 to 2,000 atoms and few users, with their exact values."""
    draw, found = random.Random(2026), []
    for atoms, n in [*((draw.randint(2, 4), draw.randint(1, 12)) for _ in range(24)), (30, 3), (2000, 2)]:
        law = random_law(draw, atoms)
        exact = Exact(largest_count=2_100_000).bracket(law, n).exact
        found.append((law, n, (exact, exact)))
    return found


@cache
def large():
    """Very many users: values in balls, from near the mean to e^-3700000."""
    found = []
    third = Fraction(1, 3)
    for values, masses, users in [
        ((1, -1), (third, 2 * third), (10**3, 10**5)),
        ((1, -3), (third, 2 * third), (10**7,)),
        ((3, Fraction(-1, 7), 0), (Fraction(1, 10**5), third, 1), (10**6,)),
        ((1, -1), (Fraction(10**6 - 1, 2 * 10**6), Fraction(10**6 + 1, 2 * 10**6)), (10**12,)),
    ]:
        law = Law(tuple(map(Fraction, values)), tuple(mass / sum(masses) for mass in masses))
        for n in users:
            bracket = BallContour(rtol=1e-13).bracket(law, n)
            assert bracket.relative_width < CLOSE
            found.append((law, n, (bracket.lower, bracket.upper)))
    return found


def bad_plan(draw, law, n):
    """Constants that nobody would choose."""
    rough = saddle.tilt(law)
    plan = saddle.choose(rough, n, rtol=10 ** draw.uniform(-8, -0.5), lattice=law.lattice)
    c = plan.c * 10 ** draw.choice([0, 0, draw.uniform(-0.7, 0.7)])
    if plan.lattice is not None:
        half = max(1, math.ceil(plan.nodes * draw.choice([1, 1, 1 / 4, 1 / 16, 1 / 64])))
        return replace(plan, c=c, nodes=half, step=math.pi / float(plan.lattice) / half)
    step = plan.step * draw.choice([1, 2, 4, 8])
    return replace(plan, c=c, step=step, nodes=max(1, int(plan.end * draw.choice([1, 0.5, 0.2, 0.1]) / step)))


@cache
def contour_cases():
    """Laws, users, truth, plan, and the exponent that counts as negligible."""
    draw, found = random.Random(9), []
    for law, n, truth in [*small(), *large()]:
        for _ in range(2 if len(law.values) > 100 else 8):
            found.append((law, n, truth, bad_plan(draw, law, n), draw.choice([46.0, 46.0, 46.0, 3.0, -3.0])))
    for law, n, truth in large():  # a line so close to 0 that the scale has hardly any rounding, and the good one
        plan = saddle.choose(saddle.tilt(law), n, rtol=1e-6, lattice=law.lattice)
        close = replace(plan, c=plan.c / 100, step=plan.step / 128, nodes=plan.nodes * 128)
        far = [replace(plan, c=plan.c * k) for k in (2, 4)]  # nodes cancel: what rounds them is more than the sum has
        found += [(law, n, truth, one, 46.0) for one in (plan, close, *far)]
    return sorted(found, key=lambda case: len(case[0].values) > 100)  # what takes seconds comes last


def contour_misses(patch):
    """Whether the contour misses at one of the cases, its plan given."""
    for law, n, truth, plan, quiet in contour_cases():
        with pytest.MonkeyPatch.context() as at:
            at.setattr(saddle, "QUIET", quiet)
            at.setattr(saddle, "choose", lambda *_, plan=plan, **__: plan)
            patch(at)
            engine = Contour(largest=max(5_000, 200_000 // len(law.values)))
            if missed(lambda law=law, n=n, e=engine: e._attempt(law, n, saddle.tilt(law), 1e-3)[0], truth):
                return True
    return False


def scaled_result(at, owner, name, factor):
    """Let a function return its result times a factor."""
    plain = getattr(owner, name)
    at.setattr(owner, name, lambda *given, **named: factor * plain(*given, **named))


def scaled_part(at, owner, name, index, factor):
    """Let one part of what a function returns be multiplied."""
    plain = getattr(owner, name)

    def changed(*given, **named):
        parts = list(plain(*given, **named))
        parts[index] = factor * parts[index]
        return tuple(parts)

    at.setattr(owner, name, changed)


def without_n(at):
    """The errors of a characteristic function, not multiplied by n."""
    plain = contour._nodes

    def once(region, n, plan, indices):
        with pytest.MonkeyPatch.context() as inner:
            ratio = Region.log_ratio

            def divided(self, t):
                value, error = ratio(self, t)
                return value, error / n

            inner.setattr(Region, "log_ratio", divided)
            return plain(region, n, plan, indices)

    at.setattr(contour, "_nodes", once)


CONTOUR = {
    "truncation": lambda at: scaled_result(at, contour, "_truncation", 0.0),
    "aliasing": lambda at: scaled_result(at, contour, "_aliasing", 0.0),
    "negligible intervals": lambda at: scaled_part(at, contour, "active_intervals", 2, 0.0),
    "node noise": lambda at: scaled_part(at, contour, "_nodes", 2, 0.0),
    "node noise without n": without_n,
    "scale rounding": lambda at: scaled_result(at, contour, "_scale_noise", 0.0),
    "scale rounding without n": lambda at: at.setattr(
        contour, "_scale_noise", lambda tilt, n, c, scale: 8 * contour.UNIT * (tilt.at(c).noise + 16)
    ),
}


def test_the_contour_holds_the_truth_for_any_constants():
    assert not contour_misses(lambda at: None)


@pytest.mark.parametrize("term", CONTOUR)
def test_each_term_of_the_contour_is_needed(term):
    assert contour_misses(CONTOUR[term])


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_half_of_the_truncation_is_too_little(monkeypatch, share):
    """Where nearly all copies are 0 nothing decays but the smoothing, and the bound is what is missing, to a tenth."""
    rare = Fraction(1, 10**9)
    law, tau = Law((Fraction(0), Fraction(1), Fraction(-1)), (1 - 2 * rare, rare, rare)), 0.1
    exact = Exact().bracket(law, 5).exact
    plan = saddle.ContourPlan(c=0.5, step=0.01, nodes=4000, tau=tau)
    monkeypatch.setattr(saddle, "choose", lambda *_, **__: plan)
    scaled_result(monkeypatch, contour, "_truncation", share)
    scaled_result(monkeypatch, contour, "_aliasing", 0.0)  # the step is short: e^-157
    assert missed(lambda: Contour()._attempt(law, 5, saddle.tilt(law), 1e-3)[0], (exact, exact)) == (share < 1)


@pytest.mark.parametrize("atoms", [2, 30, 2000])
def test_the_rounding_of_the_sum_over_atoms_is_bounded(atoms):
    """The logarithm of the tilted characteristic function and the cumulant, against balls, for any number of atoms."""
    draw, worst, worst_scale = random.Random(atoms), 0.0, 0.0
    law = random_law(draw, atoms)
    tilt = saddle.tilt(law)
    for c in (1e-6, 1e-2, 1.0, 30.0):
        plan = saddle.ContourPlan(c, 1.0, 4, 1.0)
        (region,) = line_regions(law, tilt, plan, tolerance=0.0)[0]
        t = np.array([1e-6, 1e-3, 0.3, 2.0, 40.0]) / max(float(tilt.at(c).variance), 1e-6) ** 0.5
        found, error = region.log_ratio(t)
        with working_precision(256):
            exact = [(to_arb(v), to_arb(w)) for v, w in law.atoms()]
            total = sum((w * (to_arb(Fraction(c)) * v).exp() for v, w in exact), start=flint.arb(0))
            off = abs(float((total.log() - to_arb(Fraction(tilt.at(c).cumulant))).mid()))
            worst_scale = max(worst_scale, off / contour._scale_noise(tilt, 1, c, tilt.at(c).cumulant))
            for each, at, bound in zip(found, t, error, strict=True):
                s = flint.acb(to_arb(Fraction(c)), to_arb(Fraction(float(at))))
                ratio = sum((w * (s * v).exp() for v, w in exact), start=flint.acb(0)) / total
                lost = ratio.log() - flint.acb(to_arb(Fraction(each.real)), to_arb(Fraction(each.imag)))
                turns = round(float(lost.imag.mid()) / (2 * math.pi))
                lost -= flint.acb(0, 2 * turns * flint.arb.pi())
                worst = max(worst, float(lost.abs_upper().mid()) / bound)
    assert worst <= 1 and worst_scale <= 1
    assert worst > 1e-3, "a bound a thousand times too wide says nothing about its constants"


def old_weight_at_zero(at):
    """The mass at 0 in doubles, as it was: n round-offs, and no allowance."""

    def in_doubles(law, n, plan, scale):
        weight = float(sum(w for v, w in law.atoms() if v == 0))
        added = plan.tau / math.sqrt(2 * math.pi) * math.exp(n * math.log(weight) - scale) * (1 - 1e-12)
        return contour._scaled(added, scale, up=False)

    at.setattr(contour, "_smoothing_at_zero", in_doubles)


@pytest.mark.parametrize("patch", [lambda at: None, old_weight_at_zero], ids=["as it is", "in doubles"])
def test_the_mass_at_zero_needs_balls(monkeypatch, patch):
    """What is subtracted for it is at most what is there: a round-off n times over is more."""
    patch(monkeypatch)
    calls, subtracted = [], contour._smoothing_at_zero

    def seen(*given):
        calls.append((given, subtracted(*given)))
        return calls[-1][1]

    monkeypatch.setattr(contour, "_smoothing_at_zero", seen)
    Contour().bracket(STUCK, HUGE)
    (law, n, plan, _), value = calls[-1]
    weight = sum(Fraction(w) for v, w in law.atoms() if v == 0)
    with working_precision(512):
        there = to_arb(Fraction(plan.tau)) / (2 * flint.arb.pi()).sqrt() * (n * to_arb(weight).log()).exp()
        assert (to_arb(value) > there) == (patch is old_weight_at_zero)
        assert abs(to_arb(value) / there - 1) < (1e-3 if patch is old_weight_at_zero else 1e-30)


@pytest.mark.parametrize("engine", [Contour(), FFT(step=Fraction(1, 10))], ids=lambda engine: engine.name)
@pytest.mark.parametrize("part", ["values", "weights"])
def test_the_radius_of_balls_is_needed(monkeypatch, engine, part):
    def midpoint(number):
        return number.midpoint if isinstance(number, Ball) else number

    law, (inner, _) = {"values": (ATOM, WITHIN[ATOM]), "weights": (WEIGHT, WITHIN[WEIGHT])}[part]
    exact = Exact().bracket(inner, 3).exact
    assert not missed(lambda: engine.bracket(law, 3), (exact, exact))
    middle = Law(tuple(map(midpoint, law.values)), tuple(map(midpoint, law.weights)))
    assert missed(lambda: engine.bracket(middle, 3), (exact, exact))
    monkeypatch.setattr(contour, "enclosure_error", lambda *_: 0.0)
    assert missed(lambda: engine.bracket(law, 3), (exact, exact)) == isinstance(engine, Contour)


@cache
def scattered():
    """Laws whose atoms fit no step of a short transform, with their exact values."""
    found = []
    for n in (1, 2, 5, 9):
        values = (Fraction(1), Fraction(355, 997), Fraction(-113, 991), Fraction(-1009, 1013))
        law = Law(values, (Fraction(1, 7), Fraction(2, 11), Fraction(3, 13), 1 - Fraction(556, 1001)))
        exact = Exact(largest_power=0).bracket(law, n).exact
        found.append((law, n, (exact, exact)))
    return found


def fft_misses(patch):
    """Whether a transform misses: with windows that are too short, and with values far below its absolute error."""
    for law, n, truth in [*small()[:24], *large()[:2], *scattered()]:
        for engine, quiet in [(FFT(largest=2**9), 60.0), (FFT(largest=2**10), 1.0), (FFT(step=Fraction(1, 50)), 60.0)]:
            with pytest.MonkeyPatch.context() as at:
                at.setitem(tilted._chernoff.__kwdefaults__, "quiet", quiet)
                patch(at)
                if missed(lambda law=law, n=n, engine=engine: engine.bracket(law, n), truth):
                    return True
    return False


def exact_convolution(at):
    """Transforms that claim to be exact."""
    plain = tilted.convolve
    for module in (fft, tilted):
        at.setattr(module, "convolve", lambda *given: (plain(*given)[0], 0.0))


TRANSFORM = {
    "window tail": lambda at: at.setattr(tilted.Window, "_outside", lambda *_: 0.0),
    "evaluation": exact_convolution,
    "rounding up to the lattice": lambda at: at.setattr(fft, "dilated", tilted.contracted),
    "rounding down to the lattice": lambda at: at.setattr(fft, "contracted", tilted.dilated),
}


def test_the_transform_holds_the_truth_for_any_window():
    assert not fft_misses(lambda at: None)


@pytest.mark.parametrize("term", TRANSFORM)
def test_each_term_of_the_transform_is_needed(term):
    assert fft_misses(TRANSFORM[term])


RARE = [
    Law((Fraction(0), Fraction(1), Fraction(-1)), (Fraction(9, 10), Fraction(1, 20), Fraction(1, 20))),
    Law((Fraction(1), Fraction(-3)), (Fraction(9, 10), Fraction(1, 10))),
    Law((Fraction(1), Fraction(9, 10)), (Fraction(19, 20), Fraction(1, 20))),
]


def sparse_misses(patch):
    """Whether an enumeration that stops at once misses."""
    for law in RARE:
        for n in (2, 5, 9):
            exact = Exact().bracket(law, n).exact
            with pytest.MonkeyPatch.context() as at:
                patch(at)
                if missed(lambda law=law, n=n: Sparse(rtol=0.9).bracket(law, n), (exact, exact)):
                    return True
    return False


ENUMERATION = {
    "mass on the heaviest atom": lambda at: at.setattr(sparse, "_on_the_heaviest", lambda *_: 0),
    "mass beside it": lambda at: at.setattr(sparse, "_beside_it", lambda *_: 0),
}


def test_the_enumeration_holds_the_truth_wherever_it_stops():
    assert not sparse_misses(lambda at: None)


@pytest.mark.parametrize("term", ENUMERATION)
def test_each_term_of_the_enumeration_is_needed(term):
    assert sparse_misses(ENUMERATION[term])


COUNTED = [
    (Law((Fraction(1), Fraction(-1, 3), Fraction(-2)), (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))), 12),
    (Law((Fraction(1), Fraction(-1)), (Fraction(9, 10), Fraction(1, 10))), 9),
    (Law((Fraction(5), Fraction(1, 7), Fraction(-1), Fraction(0)), tuple(Fraction(k, 10) for k in (1, 2, 3, 4))), 10),
    (Law((Fraction(1), Fraction(-2)), (Fraction(1, 10), Fraction(9, 10))), 30),
]


def counted_misses(patch, *, quiet=None, bits=128, rtol=1e-30):
    """Whether a sum over counts misses, with windows of some exponent or in coarse numbers."""
    window = count_tables._window
    for law, n in COUNTED:
        exact = Exact(largest_power=10**9).bracket(law, n).exact
        with pytest.MonkeyPatch.context() as at:
            if quiet is not None:
                at.setattr(count_tables, "_window", lambda n, share, _: window(n, share, quiet))
            patch(at)
            if missed(lambda law=law, n=n: Counts(rtol=rtol, bits=bits).bracket(law, n), (exact, exact)):
                return True
    return False


def without_side(sign):
    """Chernoff's bound on one side of the windows only."""
    plain = count_tables._chernoff

    def one_sided(n, whole, part, count, slope):
        return flint.arb(0) if slope * sign > 0 else plain(n, whole, part, count, slope)

    return lambda at: at.setattr(count_tables, "_chernoff", one_sided)


def table_without(**fields):
    """Tables that claim to be exact."""
    plain = count_tables.FactorTable.of
    return lambda at: at.setattr(count_tables.FactorTable, "of", lambda *given: replace(plain(*given), **fields))


@pytest.mark.parametrize("quiet", [None, 0.05, 0.5, 2.0])
@pytest.mark.parametrize("bits", [None, 2, 5, 128])
def test_the_counts_hold_the_truth_for_any_window_and_precision(quiet, bits):
    assert not counted_misses(lambda at: None, quiet=quiet, bits=bits)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("bits", [None, 128])
def test_either_side_of_the_windows_is_bounded(sign, bits):
    """Only one side of one window is cut: where several are, a count too large here is one too small there."""
    (law, n), plain = COUNTED[1], counts.Windows.choose
    exact = Exact().bracket(law, n).exact

    def cut(*given):
        whole = {"low": [0, 0], "high": [n, n]}
        return replace(plain(*given), **whole | ({"high": [n - 1, n]} if sign > 0 else {"low": [7, 0]}))

    def misses(patch):
        with pytest.MonkeyPatch.context() as at:
            at.setattr(counts.Windows, "choose", cut)
            patch(at)
            return missed(lambda: Counts(rtol=1e-30, bits=bits).bracket(law, n), (exact, exact))

    assert not misses(lambda at: None)
    assert not misses(without_side(-sign))
    assert misses(without_side(sign))


def test_the_rounding_of_the_tables_is_counted():
    assert counted_misses(table_without(noise=Fraction(0)), bits=5)


def test_the_rounding_of_doubles_is_counted():
    def without(at):
        table_without(noise=Fraction(0), error=Fraction(0))(at)
        at.setattr(count_tables, "UNIT", 0.0)

    assert not counted_misses(lambda at: None, bits=None)
    assert counted_misses(without, bits=None)


@pytest.mark.parametrize("engine", [Counts(rtol=1e-20, bits=128), Counts()], ids=["integers", "doubles"])
@pytest.mark.parametrize(("part", "field"), [("values", "error"), ("weights", "noise")])
def test_the_counts_need_the_radius_of_balls(monkeypatch, engine, part, field):
    law, (inner, _) = {"values": (ATOM, WITHIN[ATOM]), "weights": (WEIGHT, WITHIN[WEIGHT])}[part]
    exact = Exact().bracket(inner, 3).exact
    assert not missed(lambda: engine.bracket(law, 3), (exact, exact))
    table_without(**{field: Fraction(0)})(monkeypatch)
    if part == "weights":  # the scale knows the radius as well
        plain = counts.scale_of
        monkeypatch.setattr(counts, "scale_of", lambda *given: flint.arb(plain(*given).mid()))
    assert missed(lambda: engine.bracket(law, 3), (exact, exact))


def test_the_next_count_belongs_to_the_mass_that_rounding_moves(monkeypatch):
    """The middle of a ball puts S below 0 where it may be above: what may be lost lies beyond the last count."""
    tiny, rare = Fraction(1, 10**9), Fraction(1, 100)
    law = Law((Fraction(1), Ball(-1 - 3 * tiny, -1 + tiny)), (rare, 1 - rare))
    exact = Exact().bracket(Law((Fraction(1), -1 + tiny), law.weights), 2).exact
    engine = Counts(rtol=1e-20, bits=128)
    assert not missed(lambda: engine.bracket(law, 2), (exact, exact))
    plain = count_tables._plane

    def without_the_next(*given):
        with pytest.MonkeyPatch.context() as at:
            at.setattr(count_tables.np, "minimum", lambda row, size: row - 1)
            return plain(*given)

    monkeypatch.setattr(count_tables, "_plane", without_the_next)
    assert missed(lambda: engine.bracket(law, 2), (exact, exact))
