"""False certificates: every checker refuses them, naming the place, and rests on nothing but the problem."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F

import pytest
import sympy as sp

from symshuffle.design import DecisionProblem, bayes_tradeoff, measures, minimax_tradeoff, smoothed_point_masses
from symshuffle.design.cardioid import cardioid_program
from symshuffle.design.frontier import trace_frontier
from symshuffle.design.maximum import maximise
from symshuffle.design.orbits import DualCertificate, Frontier, Orbit
from symshuffle.design.parametric import derive
from symshuffle.design.reduced import orbit_tradeoff
from symshuffle.design.tradeoff import Criterion
from symshuffle.errors import CertificateError
from symshuffle.geometry.groups import symmetric_group, trivial_group
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Exp
from symshuffle.results import Bracket, Rigour


def refused(check, place):
    """Whether a check refuses by the error of certificates, naming this place; anything else is said in the failure."""
    try:
        answer = check()
    except Exception as error:
        assert type(error).__name__ == "CertificateError", f"a bare {error!r}"
        return error.place == place
    raise AssertionError(f"accepted: {answer}")


def exactly(value):
    return Bracket(F(value), F(value), Rigour.EXACT, "forged", "forged")


IMPOSSIBLE = Frontier(
    5, F(0), exactly(250), (Orbit(F(1), ((1000, F(1, 2)),)),), DualCertificate(5, F(0), F(250))
)  # 1000 coordinates for 5 inputs: trace 1000 / 4


def test_a_template_of_other_inputs_is_refused():
    assert refused(IMPOSSIBLE.verify, "orbits[0].levels")


@pytest.mark.parametrize("found", [trace_frontier(5, F("1/8")), trace_frontier(5, F(2))])
def test_a_frontier_of_another_number_of_inputs_is_refused(found):
    assert refused(replace(found, k=7).verify, "certificate.k")
    assert refused(replace(found, certificate=replace(found.certificate, k=6)).verify, "certificate.k")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"orbits": ()}, "orbits"),
        ({"budget": math.inf}, "certificate.eta"),
        ({"budget": math.nan}, "budget"),
        ({"orbits": (Orbit(F(1), ()),)}, "orbits[0].levels"),
        ({"orbits": (Orbit(F(1), ((5, F(-1)),)),)}, "orbits[0].levels"),
        ({"certificate": DualCertificate(5, F(3), F(0), F(1))}, "certificate.lam_cap"),
        ({"certificate": DualCertificate(1, F(3), F(0))}, "certificate.k"),
    ],
)
def test_tampering_with_a_frontier_is_refused_and_named(changes, place):
    assert refused(replace(trace_frontier(5, F("1/8")), **changes).verify, place)


def _guessing():
    return orbit_tradeoff(smoothed_point_masses(5, 1), F(3), symmetric_group(5))


def test_sizes_and_incidences_of_orbits_are_counted_again():
    design = _guessing()
    assert design.value.exact == F("4/7")
    (used,) = design.weights
    for changes, weight in (
        ({"size": used.orbit.size * 7 // 8 or 1}, used.weight),
        ({"incidences": (used.orbit.incidences[0] + 1,)}, used.weight),
    ):
        forged = replace(used, orbit=replace(used.orbit, **changes), weight=weight)
        assert refused(replace(design, weights=(forged,)).verify, "weights[0].orbit")


def test_a_forged_orbit_cannot_attain_one_half():
    design = _guessing()
    (used,) = design.weights
    # Ten singletons, of which every input is in three: the column sums are (10 + 2 * 3) / 16, the risk 10 / 16 * 4 / 5.
    forged = replace(used, orbit=replace(used.orbit, size=10, incidences=(3,)), weight=F(1, 16))
    low = tuple(u * F(7, 8) for u in design.bound)
    claimed = replace(design, weights=(forged,), bound=low, value=exactly(F(1, 2)))
    assert refused(claimed.verify, "weights[0].orbit")


def test_tampering_with_an_orbit_design_is_refused_and_named():
    design = _guessing()
    (used,) = design.weights
    for changes, place in (
        ({"weights": (replace(used, action=99),)}, "weights[0].action"),
        ({"weights": (replace(used, orbit=replace(used.orbit, representative=1 << 7)),)}, "weights[0].orbit"),
        ({"weights": (replace(used, orbit=replace(used.orbit, representative=0)),)}, "weights[0].orbit"),
        ({"weights": ()}, "weights"),
        ({"bound": design.bound[:-1]}, "bound"),
        ({"bound": (*design.bound, F(0))}, "bound"),
        ({"lam": F(1)}, "lam"),
        ({"problem": replace(design.problem, prior=None)}, "problem"),
        ({"value": exactly("1/2")}, "value"),
    ):
        assert refused(replace(design, **changes).verify, place), place


PROBLEMS = {
    "weights": DecisionProblem.of([["1", "0"], ["1", "0"]], [[3, 1], [0, 3]]),  # -97/404 of an output at lam = 100
    "prior": DecisionProblem.of(  # a "least favourable prior" of -49/404 at lam = 100
        [["3/5", 0, "2/5"], [0, "1/3", "2/3"], ["1/3", "4/9", "2/9"]], [[3, 3, 0, 0], [1, 2, 2, 2], [3, 1, 2, 0]]
    ),
}


@pytest.mark.parametrize("lam", ["3", "100"])
@pytest.mark.parametrize("what", PROBLEMS)
def test_pieces_of_formulas_carry_what_holds_at_their_levels(what, lam):
    problem = PROBLEMS[what]
    piece = derive(problem, trivial_group(problem.num_inputs), minimax=True).at(F(lam)).basis(F(lam))
    at = {LAM: sp.Rational(lam)}
    assert all(weight.subs(at) >= 0 for _, weight in piece.weights)
    assert all(entry.subs(at) >= 0 for entry in piece.prior)
    assert sum(entry.subs(at) for entry in piece.prior) == 1


@pytest.mark.parametrize("minimax", [False, True])
def test_derived_formulas_verify(minimax):
    for problem in (smoothed_point_masses(3, F(1, 2)), ORDERED):
        derive(problem, trivial_group(problem.num_inputs), minimax=minimax).verify()
    for problem in PROBLEMS.values():
        derive(problem, trivial_group(problem.num_inputs), minimax=True).verify()
    if minimax:
        derive(cardioid_program(5, F(1))).verify()  # over a number field


ORDERED = DecisionProblem.of(
    [[int(x == t) for x in range(3)] for t in range(3)],
    [[(t - a) ** 2 for a in range(3)] for t in range(3)],
    [F(1, 3)] * 3,
)


def _with_basis(formula, i, j, **changes):
    piece = formula.pieces[i]
    bases = (*piece.bases[:j], replace(piece.bases[j], **changes), *piece.bases[j + 1 :])
    return replace(formula, pieces=(*formula.pieces[:i], replace(piece, bases=bases), *formula.pieces[i + 1 :]))


def test_false_formulas_are_refused_and_named():
    formula = derive(ORDERED, trivial_group(3), minimax=True)
    assert len(formula.pieces) == 2
    first, last = (piece.bases[0] for piece in (formula.pieces[0], formula.pieces[-1]))
    doubled = tuple((column, 2 * weight) for column, weight in first.weights)
    known = "pieces[0].bases[0]"
    for changes, place in (
        ({"weights": doubled}, f"{known}.weights"),
        ({"weights": ((replace(first.weights[0][0], subset=99), sp.Integer(1)),)}, f"{known}.weights"),
        ({"bound": tuple(2 * u for u in first.bound)}, f"{known}.bound"),
        ({"bound": first.bound[:-1]}, f"{known}.bound"),
        ({"prior": tuple(2 * p for p in first.prior)}, f"{known}.prior"),
        ({"prior": first.prior[:-1]}, f"{known}.prior"),
        ({"upper": sp.oo}, known),  # the neighbour's interval
    ):
        with pytest.raises(CertificateError) as caught:
            _with_basis(formula, 0, 0, **changes).verify()
        assert caught.value.place.startswith(place), changes
    gap = replace(formula, pieces=(formula.pieces[0], replace(formula.pieces[1], lower=sp.Integer(100))))
    short = replace(formula, pieces=formula.pieces[:1])
    wide = replace(formula, pieces=(formula.pieces[0], replace(formula.pieces[1], lower=sp.Integer(1))))
    other = replace(formula, pieces=(replace(formula.pieces[0], value=last.value), formula.pieces[1]))
    for false, place in (
        (gap, "pieces"),
        (short, "pieces"),
        (wide, "pieces[1].bases"),
        (other, "pieces[0].bases"),
    ):
        assert refused(false.verify, place), place


def _measure_designs():
    half, third = [F(1, 2), F(1, 4), F(1, 4)], [F(1, 3)] * 3
    yield maximise(measures.chi_square(half, third), F(3))
    yield maximise(measures.mutual_information(half), F(3))
    yield maximise(measures.chi_square(half, third), Exp(F(1)))
    information = measures.mutual_information(half)
    yield maximise(information, F(3), group=information.symmetry())


def test_designs_verify():
    for design in _measure_designs():
        design.verify()
    problem = ORDERED
    for level in (F(3), Exp(F(1))):
        for tradeoff in (bayes_tradeoff, minimax_tradeoff):
            design = tradeoff(problem, level)
            design.verify()
            assert float(design) >= design.value.upper
    _guessing().verify()


def test_false_measure_designs_are_refused_and_named():
    plain, logarithmic, level, grouped = _measure_designs()
    others = dict.fromkeys(plain.weights, F(0))
    first = next(iter(plain.weights))
    for design, changes, place in (
        (plain, {"weights": {y: 2 * w for y, w in plain.weights.items()}}, "weights"),
        (plain, {"weights": {**plain.weights, 0: F(1)}}, "weights"),
        (plain, {"weights": {**plain.weights, first: -plain.weights[first]}}, "weights"),
        (plain, {"weights": others}, "weights"),
        (plain, {"bound": tuple(u * F(99, 100) for u in plain.bound)}, "bound"),
        (plain, {"bound": plain.bound[:2]}, "bound"),
        (plain, {"lam": F(1)}, "lam"),
        (plain, {"bound_lam": F(2)}, "lam"),
        (plain, {"level": F(4)}, "lam"),
        (plain, {"group": symmetric_group(3)}, "group"),
        (plain, {"group": trivial_group(4)}, "group"),
        (plain, {"value": replace(plain.value, lower=plain.value.upper * 2, upper=plain.value.upper * 2)}, "value"),
        (logarithmic, {"bound": tuple(u * F(99, 100) for u in logarithmic.bound)}, "bound"),
        (logarithmic, {"value": replace(logarithmic.value, rigour=Rigour.EXACT)}, "value"),
        (level, {"bound_lam": level.lam}, "lam"),
        (level, {"level": Exp(F(2))}, "lam"),
        (grouped, {"bound": tuple(u + s for u, s in zip(grouped.bound, (0, 1, 2), strict=True))}, "bound"),
    ):
        assert refused(replace(design, **changes).verify, place), (place, changes)
    inputs = measures.mutual_information([F(1, 15)] * 15)
    large = maximise(inputs, F(3), group=inputs.symmetry())
    assert refused(replace(large, group=None).verify, "group")


def test_false_designs_are_refused_and_named():
    design = minimax_tradeoff(ORDERED, F(3))
    both = minimax_tradeoff(ORDERED, Exp(F(1)))
    (certificate,) = design.certificates
    (subset, action, weight), *rest = design.weights
    for false, place in (
        (replace(design, certificates=()), "certificates"),
        (replace(design, level=F(4)), "certificates"),
        (replace(design, certificates=both.certificates), "certificates"),
        (replace(both, certificates=both.certificates[::-1]), "certificates"),
        (replace(both, certificates=both.certificates[:1]), "certificates"),
        (replace(both, level=Exp(F(2))), "certificates"),
        (replace(design, criterion=Criterion.BAYES), "certificates[0]"),
        (replace(design, certificates=(replace(certificate, rows=certificate.rows[1:]),)), "certificates[0].rows"),
        (replace(design, weights=((subset, action, 2 * weight), *rest)), "weights"),
        (replace(design, weights=((subset, action, -weight), (subset, action, 2 * weight), *rest)), "weights"),
        (replace(design, weights=((subset, 99, weight), *rest)), "weights"),
        (replace(design, value=exactly(0)), "value"),
    ):
        assert refused(false.verify, place), place
