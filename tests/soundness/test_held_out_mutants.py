"""Edits that `python -m tests.mutants --seed 2027` drew and no test noticed at first, each with what notices it now."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from symshuffle import epsilon, mechanism, rounds
from symshuffle.accountants.covered import Covering, Datasets
from symshuffle.accountants.experiments import coarse, experiment
from symshuffle.accountants.plan import Round, Rounds
from symshuffle.channel import Channel
from symshuffle.engines import bromwich, bromwich_plan, contour, saddle
from symshuffle.engines.characteristic import form
from symshuffle.errors import CertificateError, InputError, Unsupported
from symshuffle.estimation.simplex import largest_value
from symshuffle.estimation.symbolic_law import SymbolicLaw
from symshuffle.frontiers import leakage, orbits
from symshuffle.geometry.groups import product_of_symmetric_groups
from symshuffle.geometry.symmetry import OrbitPolytope
from symshuffle.law import Law
from symshuffle.numbers import Exp, working_precision
from symshuffle.vectors.mechanisms import BlanketMixedGaussian
from symshuffle.vectors.pairs import worst_pair

F = Fraction
X = sp.Symbol("x")


@pytest.mark.parametrize("tau", [0.03, 0.2, 0.7, 3.0])
@pytest.mark.parametrize("n", [1, 7])
def test_silent_nodes_are_bounded_by_both_terms_of_their_kernel(tau, n):
    """Close to the real axis the kernel hardly falls, and the bound on a few nodes is what they are."""
    law = Law((F(-1), F(1, 3), F(1)), (F(1, 2), F(1, 4), F(1, 4)))
    plan = saddle.Plan(c=4.0, step=0.01, nodes=5, tau=tau)
    region = form(law, saddle.tilt(law), plan, tolerance=0.0).regions[0]
    kept, _, silent = contour._loud_stretches(region, n, plan, -math.inf, 10**6)
    assert len(kept) == 0
    s = plan.c + 1j * plan.step * np.arange(plan.nodes + 1)
    moments = [sum(float(w) * np.exp(z * float(v)) for v, w in zip(law.values, law.weights, strict=True)) for z in s]
    kernels = 1 / np.abs(s) ** 2 + tau**2  # of the sum from below; that from above has the first term
    true = float((np.abs(np.array(moments) / moments[0]) ** n * np.exp(-((tau * s.imag) ** 2) / 2) * kernels).sum())
    assert true <= silent * (1 + 1e-12) and silent <= 1.02 * true


def test_a_stretch_of_two_nodes_is_bounded_at_its_louder_end():
    """The likelihood ratio varies by more than 1, and many users make every share of it count."""
    pair = worst_pair(BlanketMixedGaussian("0.1", "0.5"), adjacency="zero-out")
    law = pair.law(Exp(F(1, 2)), tail=F(1, 100), bits=64)
    with working_precision(96):
        plan, seen = bromwich_plan.plan_for(law, 20, 0.1)
        line = bromwich._Line.of(seen, 20, plan)
        line = replace(line, n=300, plan=replace(plan, small=1e9))  # no stretch is too coarse
        first = 2
        left = line.step * (first + 1)
        added = line._stretches(first, first + 2) - line._stretches(first, first)
        louder = (abs(line.ratio(left)) ** line.n - line.zero**line.n) / (line.c**2 + left**2)
        assert 0 < louder < added


@pytest.mark.parametrize("cap", [None, F(3)])
def test_a_curve_that_is_0_at_the_place_looked_at_is_looked_at_elsewhere(cap):
    """The probe is at ratio 2; what tells is the sign on [1, cap], next to the zero and nowhere else."""
    touching = (X - 2) ** 2
    before = X - sp.Rational(3, 4)  # changes its sign below 1, where nothing is claimed
    for polynomial, above in [
        (touching, True), (-touching, False), (touching * before, True), (-touching * before, False),
        (touching * (X - sp.Rational(3, 2)) ** 2, True), (-touching * (X - sp.Rational(3, 2)) ** 2, False),
    ]:  # fmt: skip
        if above:
            orbits._check_nonnegative(sp.Poly(polynomial, X), cap, "curves[0]")
        else:
            with pytest.raises(CertificateError, match="curves"):
                orbits._check_nonnegative(sp.Poly(polynomial, X), cap, "curves[0]")


@pytest.mark.parametrize("blocks", [[(0, 1), (2, 3)], [(0, 1, 2), (3, 4, 5)], [(0, 1), (2, 3), (4, 5)]])
def test_an_orbit_that_is_a_channel_by_itself_is_a_vertex(blocks):
    """Subsets with as many inputs of every block satisfy all equations at once: a vertex of one orbit."""
    polytope = OrbitPolytope(product_of_symmetric_groups(blocks), F(7, 3))
    single = []
    for index, orbit in enumerate(polytope.orbits):
        sums = {orbit.column_sum(i, polytope.lam) for i in range(len(blocks))}
        single += [{index: 1 / sums.pop()}] if len(sums) == 1 else []
    assert len(single) == len(blocks[0]) - 1
    assert [vertex for vertex in polytope.vertices() if len(vertex) == 1] == single


@pytest.mark.parametrize("corner", [0, 1, 2])
def test_a_largest_value_at_a_corner_is_found_at_once(corner):
    form = {tuple(2 * int(i == j) for j in range(3)): F(1 + int(i == corner)) for i in range(3)}
    found, point = largest_value(form, gap=F(1, 1000))
    assert (found.lower, found.upper) == (2, 2)
    assert point == tuple(F(int(i == corner)) for i in range(3))


def test_the_sum_over_counts_is_refused_beyond_its_limit(monkeypatch):
    monkeypatch.setattr(leakage, "LARGEST_SUM", 20)
    assert leakage.convex_envelope(20, lam=F(3), function="kl").bracket.upper > 0
    with pytest.raises(Unsupported, match="n = 21"):
        leakage.convex_envelope(21, lam=F(3), function="kl")


def test_templates_of_unlike_outputs_are_listed_where_their_number_is_known():
    unlike = mechanism("rappor")
    listed = SymbolicLaw(unlike.at(D=3)).tabulated()
    assert sp.simplify(sum(one.mass for one in listed) - 1) == 0 and len(listed) > 3
    assert SymbolicLaw(unlike).tabulated() == ()


def test_datasets_of_a_density_alone_have_no_finite_law():
    with pytest.raises(Unsupported, match="density"):
        Datasets(lambda n: f"{n} users", None).finite()


def test_every_round_has_its_number_of_users_or_that_of_the_question():
    source = mechanism("krr").at(k=3, eps0=1)
    mixed = Rounds((Round(source, 2), Round(source, 1, 10)))
    with pytest.raises(InputError, match="n = None: expected a number of users"):
        mixed.for_users(None)
    assert [part.n for part in mixed.for_users(5).parts] == [5, 10]
    with pytest.raises(InputError, match="every round has its own"):
        mixed.for_users(5).for_users(5)


def test_values_are_costly_with_several_rounds_and_with_dropout():
    source = mechanism("krr").at(k=3, eps0=1)
    assert coarse(experiment(source, Covering.of(dropout="1/10")))
    assert coarse(experiment(rounds(source, 2), Covering.of()))
    assert not coarse(experiment(source, Covering.of()))


def test_rounds_that_tell_nothing_cost_nothing():
    same = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    telling, silent = rounds(mechanism("krr").at(k=3, eps0=1), 2), rounds(same, 3)
    asked = {"n": 1000, "delta": "1e-4", "rel": 0.02}
    alone, beside = (epsilon(one, **asked).bracket for one in ([telling], [telling, silent]))
    assert beside.lower <= alone.upper and alone.lower <= beside.upper
    assert epsilon(silent, **asked).bracket.upper == 0
