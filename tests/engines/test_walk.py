"""The walk along lines of counts, against enumeration in rationals and the engines that answered before."""

import math
import random
from fractions import Fraction

import flint
import pytest

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Exp, to_arb, working_precision
from symshuffle.channels.law import Law
from symshuffle.engines.contours.contour import Contour
from symshuffle.engines.counting.counts import Counts
from symshuffle.engines.counting.exact import Exact
from symshuffle.engines.counting.tails import tails
from symshuffle.engines.counting.walk import Walk
from symshuffle.engines.counting.walk_plan import Plan
from symshuffle.vectors.privacy.pairs import worst_pair
from symshuffle.vectors.randomizers.mechanisms import PrivUnit


def random_law(draw, atoms):
    values = draw.sample(range(-12, 13), atoms)
    values[0] = max(values[0], 13)
    masses = [draw.randint(1, 30) for _ in values]
    unit = draw.choice([5, 7, 11])
    return Law(tuple(Fraction(v, unit) for v in values), tuple(Fraction(m, sum(masses)) for m in masses))


def cap_law(adjacency, eps, theta="0.3", p="0.8"):
    pair = worst_pair(PrivUnit(p, theta, 16), adjacency=adjacency)
    return pair.law(Exp(Fraction(eps)), bits=192)


@pytest.mark.parametrize("atoms", [2, 3, 4])
def test_it_holds_the_exact_value_at_the_width_asked_for(atoms):
    draw = random.Random(atoms)
    for _ in range(12):
        law, n = random_law(draw, atoms), draw.randint(1, 9)
        exact = Exact().bracket(law, n).exact
        for rel in (1e-12, 0.1):
            found = Walk(rel=rel).bracket(law, n)
            assert found.lower <= exact <= found.upper
            assert found.upper - found.lower <= Fraction(rel) * exact


@pytest.mark.parametrize("up", [Fraction(1, 3), Fraction(9, 10)])
def test_every_tail_of_a_path_holds_the_exact_one(up):
    draw, path = random.Random(7), [(10, 4)]
    for _ in range(120):  # paths that leave 1 <= k <= N on either side, and come back
        copies, count = path[-1]
        path.append((min(max(copies + draw.randint(-2, 2), 0), 20), min(max(count + draw.randint(-3, 3), -2), 23)))

    def mass(copies, k):
        return math.comb(copies, k) * up**k * (1 - up) ** (copies - k)

    with working_precision(100):
        found = list(tails(to_arb(up), to_arb(1 - up), path))
        assert len(found) == len(path)
        for (copies, count), (tail, at) in zip(path, found, strict=True):
            exact = sum((mass(copies, k) for k in range(max(count, 0), copies + 1)), start=Fraction(0))
            inside = 1 <= count <= copies
            for ball, truth in ((tail, exact), (at, mass(copies, count) if inside else Fraction(0))):
                held = Ball.from_arb(ball)
                assert held.lower <= truth <= held.upper
                assert held.upper - held.lower < Fraction(1, 2**80)


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize(("theta", "p"), [("0.3", "0.8"), ("-0.2", "0.9"), ("0", "0.7")])
def test_it_agrees_with_sums_over_all_counts(adjacency, theta, p):
    law, n = cap_law(adjacency, "0.02", theta, p), 150
    one, other = Walk(rel=1e-12).bracket(law, n), Counts(rel=1e-12, bits=128).bracket(law, n)
    assert one.lower <= other.upper and other.lower <= one.upper
    assert one.relative_width < 1e-12 and other.relative_width < 1e-11


@pytest.mark.parametrize(("adjacency", "eps", "n"), [("zero-out", "0.005", 10**6), ("replace-one", "0.05", 10**4)])
def test_it_agrees_with_a_contour(adjacency, eps, n):
    law = cap_law(adjacency, eps)
    one, other = Walk(rel=1e-10).bracket(law, n), Contour(rel=1e-5).bracket(law, n)
    assert other.lower <= one.lower and one.upper <= other.upper


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_work_grows_with_the_root_of_the_users(adjacency):
    """At an eps that falls with that root, as budgets do."""
    with working_precision(200):
        few = Plan.of(cap_law(adjacency, "0.05"), 10**4, 1e-12)
        many = Plan.of(cap_law(adjacency, "0.005"), 10**6, 1e-12)
    assert many.count <= few.count + 1
    assert many.steps < 12 * few.steps < 2e6
    assert many.last - many.first < 16 * 500


def test_every_line_between_is_visited_once():
    """The masses of all lines are those of all counts, where windows are whole."""
    draw = random.Random(3)
    for _ in range(5):
        law, n = random_law(draw, 4), 9
        with working_precision(150):
            plan = Plan.of(law, n, 1e-12)
            assert (plan.first, plan.last) == (0, n)
            lines = list(plan.lines())
            total = sum((mass for line in lines[1:] for mass in line.masses), start=flint.arb(0))
            own = law.weights[law.values.index(min(law.values))], law.weights[law.values.index(max(law.values))]
            exact = sum(
                math.comb(n, i) * math.comb(n - i, j) * own[0] ** i * own[1] ** j * (1 - sum(own)) ** (n - i - j)
                for i in range(n + 1) for j in range(n + 1 - i) if plan.since <= j - i < plan.until
            )  # fmt: skip
            assert abs(total - to_arb(Fraction(exact))) < 1e-30


def test_it_says_why_it_refuses():
    five = Law(tuple(map(Fraction, (-3, -1, 0, 1, 2))), (Fraction(1, 5),) * 5)
    assert "5 atoms, more than 4" in Walk().refusal(five, 10)
    doubles = Law((1.0, -1.0), (0.5, 0.5))
    assert "encloses nothing" in Walk().refusal(doubles, 10)
    unsure = Law(
        (Fraction(1), Fraction(-1)), (Ball(Fraction(-1, 10), Fraction(1, 10)), Ball(Fraction(9, 10), Fraction(1)))
    )
    assert "may be 0" in Walk().refusal(unsure, 10)
    with pytest.raises(Unsupported, match="steps; use engine ball"):
        Walk(largest=10).bracket(cap_law("zero-out", "0.1"), 1000)
    with pytest.raises(InputError, match="rel"):
        Walk(rel=0)


def test_atoms_or_thresholds_that_are_not_told_apart_are_refused_not_raised():
    """So that the automatic choice goes on."""
    wide = Ball(Fraction(-1, 10), Fraction(1, 10))
    half = Fraction(1, 2)
    close = Law((Fraction(1), wide, Fraction(0), Fraction(-2)), (half / 2,) * 4)
    with pytest.raises(Unsupported, match="which of two atoms is larger"):
        Walk().bracket(close, 4)
    moved = Law((Fraction(1), Ball(Fraction(-3, 2), Fraction(-1, 2))), (half, half))
    with pytest.raises(Unsupported, match="from which count on"):
        Walk().bracket(moved, 4)
    assert evaluate_law(moved, 4, rigour="ball", rel=0.9).upper > 0


def test_one_atom_and_laws_that_are_never_positive_need_no_walk():
    assert Walk().bracket(Law((Fraction(1, 3),), (Fraction(1),), Fraction(1, 4)), 5).upper == Fraction(7, 12)
    never = Law((Fraction(-1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)), Fraction(1, 4))
    assert Walk().bracket(never, 5).lower == Walk().bracket(never, 5).upper == Fraction(1, 4)


def test_singular_mass_is_added():
    law = Law((Fraction(1), Fraction(-1)), (Fraction(1, 3), Fraction(2, 3)), Fraction(1, 7))
    exact = Exact().bracket(law, 6).exact
    found = Walk().bracket(law, 6)
    assert found.lower <= exact <= found.upper


def test_it_takes_part_where_balls_or_fine_widths_are_asked_for():
    law = cap_law("zero-out", "0.005")
    assert Walk.offered(law, None, 1e-8) is None and Walk.offered(law, Rigour.EXACT, 1e-12) is None
    found = evaluate_law(law, 10**6, rigour="ball", rel=1e-12)
    assert found.engine == "walk" and found.relative_width < 1e-12
