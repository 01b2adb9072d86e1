"""False certificates: every checker refuses them, naming the place, and rests on nothing but the problem."""

import inspect
import json
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import pytest
import sympy as sp

from symshuffle import CertificateError, InputError, Problem
from symshuffle.base.choices import Criterion, members
from symshuffle.base.results import AnswerMethods, outward, passes
from symshuffle.channels.geometry.groups import SymmetryGroup, cyclic_group, trivial_group
from symshuffle.design import cardioid_program, smoothed_point_masses
from symshuffle.design.information.formulas import rational_program
from symshuffle.design.information.measures import total_variation_measure
from symshuffle.design.parametric.homotopy import derive, piece_around, piecewise_optimum
from symshuffle.design.parametric.program import program_of_problem
from symshuffle.mechanisms import LAM
from tests.conditions import MODULES, UNDRIVEN, conditions, fallen
from tests.shown import as_html
from tests.soundness.catalogue import CASES, true_ones, true_pairs
from tests.soundness.false_answers import TRUE
from tests.soundness.false_designs import ORDERED
from tests.soundness.false_measures import HALF, THIRD

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", CASES)
def test_false_certificates_are_refused_at_their_place(name):
    with pytest.raises(CertificateError) as caught:
        CASES[name].check()
    assert caught.value.place == CASES[name].place


def test_true_certificates_pass():
    for found in true_ones():
        assert found.verify() is None
    for check in true_pairs():
        assert check() is None
    for answer in TRUE.values():
        assert answer().verify() is None


def test_certified_results_are_answers():
    for found in true_ones():
        if isinstance(found, AnswerMethods):
            assert hasattr(found, "verify")
            assert json.loads(json.dumps(found.to_dict()))["about"] == found.about
            lower = found.safe == "lower"
            end = found.bracket.lower if lower else found.bracket.upper
            assert float(found) == outward(end, up=not lower)
            assert len(repr(found)) < 300
            assert as_html(found).startswith("<table>")


@pytest.mark.parametrize("text", ["variable", "sign at >=", "sign at <="])
def test_a_deleted_condition_is_noticed(text):
    # All conditions: python -m tests.conditions
    cases = {name: case for name, case in CASES.items() if name.startswith("lp: ")}
    found = [condition for condition in conditions("symshuffle.base.lp") if fallen(condition, cases)]
    assert len(found) == len(list(conditions("symshuffle.base.lp")))
    assert any(text in name for condition in found for name in fallen(condition, cases))


@pytest.mark.parametrize("module", ["bound", "checker", "values"])
def test_every_condition_on_files_is_watched(module):
    kind = "bound file: " if module == "bound" else "claim file: "
    cases = {name: case for name, case in CASES.items() if name.startswith(kind)}
    found = conditions(f"symshuffle.ledger.recheck.{module}")
    assert [condition for condition in found if not fallen(condition, cases)] == []


PROBLEMS = {
    "weights": Problem.of([["1", "0"], ["1", "0"]], [[3, 1], [0, 3]]),  # -97/404 of an output at lam = 100
    "prior": Problem.of(  # a "least favourable prior" of -49/404 at lam = 100
        [["3/5", 0, "2/5"], [0, "1/3", "2/3"], ["1/3", "4/9", "2/9"]], [[3, 3, 0, 0], [1, 2, 2, 2], [3, 1, 2, 0]]
    ),
}


@pytest.mark.parametrize("lam", ["3", "100"])
@pytest.mark.parametrize("what", PROBLEMS)
def test_bases_of_formulas_carry_what_holds_at_their_levels(what, lam):
    problem = PROBLEMS[what]
    formula = derive(problem, trivial_group(problem.num_inputs), criterion="minimax")
    formula.verify()
    basis = formula.at(F(lam))
    at = {LAM: sp.Rational(lam)}
    assert all(weight.subs(at) >= 0 for _, weight in basis.weights)
    assert all(entry.subs(at) >= 0 for entry in basis.prior)
    assert sum(entry.subs(at) for entry in basis.prior) == 1


@pytest.mark.parametrize("criterion", members(Criterion))
def test_derived_formulas_verify(criterion):
    for problem in (smoothed_point_masses(3, F(1, 2)), ORDERED):
        derive(problem, trivial_group(problem.num_inputs), criterion=criterion).verify()
    measure = total_variation_measure(HALF, THIRD)
    piecewise_optimum(rational_program(measure, measure.symmetry())).verify()
    derive(cardioid_program(5, F(1))).verify()  # over a number field
    program = program_of_problem(ORDERED, trivial_group(3), criterion="minimax")
    piece_around(program, F(2)).verify()
    other = program_of_problem(PROBLEMS["prior"], trivial_group(3), criterion="minimax")
    assert not passes(replace(piece_around(program, F(2)), program=other).verify)


def test_a_group_cannot_claim_to_be_the_rotations():
    # Its orbits would be listed as necklaces, and a bound checked on a few of them only.
    with pytest.raises(InputError, match="rotation = True"):
        SymmetryGroup(3, ((1, 0, 2),), rotation=True)
    assert len(list(cyclic_group(4).subset_orbits())) == 4


def test_every_module_of_false_certificates_is_gathered():
    folder = Path(__file__).parent
    gathered = {Path(inspect.getsourcefile(case.check) or "").name for case in CASES.values()}
    assert {file.name for file in folder.glob("false_*.py")} <= {*gathered, "false_certificates.py"}


def test_every_checker_is_driven():
    """The driver deletes the conditions of every module that refuses a certificate, or its exception has a reason."""
    refusing = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "symshuffle").rglob("*.py")
        if "raise CertificateError" in path.read_text(encoding="utf-8")
    }
    assert refusing <= {*MODULES, *UNDRIVEN}
    assert set(UNDRIVEN) <= refusing
