"""Budgets at public doors: where a ratio cap is taken, its logarithm is taken beside it; exactly one of the two."""

import importlib
import inspect
import pkgutil
import re
from fractions import Fraction as F

import pytest

import symshuffle
from proofs_checks.decomposition import _clones
from symshuffle import Channel, Exp, InputError, randomizer
from symshuffle.base import enclose
from symshuffle.base.levels import takes_eps0
from symshuffle.decompositions import clones
from symshuffle.design import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information import measures
from symshuffle.design.information.maximum import maximise
from symshuffle.utility import Contamination
from symshuffle.utility.frontiers import caps, contamination
from symshuffle.utility.likelihood import extremes
from symshuffle.vectors.randomizers import sphere
from tests.words import words

INSIDE = set(
    words(
        "decompositions.cells.classes_at "
        "decompositions.cells.quotient_at collect.scheme.Scheme.mechanism collect.scheme.Scheme.source "
        "engines.confirm.transform.laplace_transform engines.confirm.transform.laplace_null_transform "
        "decompositions.closed_forms.closed_form "
        "decompositions.composition.laws.composed_law decompositions.composition.laws.mixed_law "
        "decompositions.composition.tree.root utility.frontiers.caps.number_of utility.frontiers.caps.check_cap "
        "utility.frontiers.formulas.at "
        "decompositions.quotients.level_between utility.frontiers.caps.sign_at utility.frontiers.caps.best_sizes "
        "utility.frontiers.caps.size_noise "
        "base.levels.read_cap decompositions.clones.require_ldp utility.frontiers.filed_laws.law_numbers"
    )
)
"""Behind a door: they are given a cap that was read already, or read it."""

FORMULAS = (
    "design.named.candidate_risks",
    "design.named.guessing",
    "design.named.subset_weight",
    "channels.geometry.extremal.staircase_row",
    "utility.likelihood.extremes.mixing",
    "mechanisms.definitions",
)
"""Expressions in ``lam``, whatever stands for it."""


def doors():
    """Every public function with ``lam`` that a cap exp(eps0) could be given to: not those of rationals only."""
    for info in pkgutil.walk_packages(symshuffle.__path__, "symshuffle."):
        if info.name.endswith("__main__") or info.name.startswith("symshuffle.cli"):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
                continue
            methods = vars(value).items() if isinstance(value, type) else ()
            found = [(f"{name}.{method}", getattr(f, "__func__", f)) for method, f in methods if method[0] != "_"]
            for place, body in [*found, (name, value)]:
                if inspect.isfunction(body) and "lam" in inspect.signature(body).parameters:
                    taken = str(inspect.signature(body).parameters["lam"].annotation)
                    if set(re.findall(r"\w+", taken)) & {"Real", "Exp", "Number", "object", "Any"}:
                        yield f"{info.name.removeprefix('symshuffle.')}.{place}", body


WALKED = {place: body for place, body in doors() if place not in INSIDE and not place.startswith(FORMULAS)}


def test_the_walk_finds_doors():
    assert len(WALKED) > 30 and set(dict(doors())) >= INSIDE


@pytest.mark.parametrize("place", WALKED)
def test_a_budget_is_taken_beside_a_cap(place):
    assert inspect.signature(WALKED[place]).parameters["eps0"].default is None


W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
GUESS = smoothed_point_masses(3, F(1, 2))
KL = measures.kullback_leibler([F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)])
CASES = {
    "is_ldp": W.is_ldp,
    "standard_clone_pair": clones.standard_clone_pair,
    "standard_clone": lambda **b: _clones.standard_clone(W, (0, 1), **b),
    "smallest_risk": lambda **b: smallest_risk(GUESS, **b).bracket,
    "smallest_risk of the worst case": lambda **b: smallest_risk(GUESS, **b, criterion="minimax").bracket,
    "maximise": lambda **b: maximise(KL, **b).bracket,
    "optimal_subset_sizes": lambda **b: caps.optimal_subset_sizes(10, **b),
    "raw_cap_trace": lambda **b: caps.raw_cap_trace(5, **b),
    "binary_envelope": lambda **b: contamination.binary_envelope(Contamination(5), gamma=F(6, 5), **b).bracket,
    "hinge_range": lambda **b: extremes.hinge_range("forward", **b),
    "largest_chi_square": extremes.largest_chi_square,
    "endpoint_ratio": extremes.endpoint_ratio,
    "sphere_linear_at": lambda **b: sphere.sphere_linear_at(dimension=3, **b),
    "mechanism": lambda **b: randomizer("krr").at(k=3, **b),
}


@pytest.mark.parametrize("case", CASES)
def test_a_budget_is_its_cap_and_one_of_the_two_is_given(case):
    door = CASES[case]
    cap = Exp(F(1))
    try:
        known = door(lam=cap)
    except (
        symshuffle.SymshuffleError,
        TypeError,
        AttributeError,
    ):  # a door that computes with numbers is handed a ball
        known = door(lam=enclose(cap))
    assert door(eps0="1") == known
    with pytest.raises(InputError, match="one of the two"):
        door(lam=cap, eps0=1)
    with pytest.raises(InputError, match="eps0 = -1"):
        door(eps0=-1)


def test_neither_is_one_line_too():
    with pytest.raises(InputError, match=r"lam is missing: expected a number > 1 \(or eps0, a number > 0\)"):
        caps.raw_cap_trace(5)
    assert takes_eps0()(lambda x, lam=2: (x, lam))(1) == (1, 2)
