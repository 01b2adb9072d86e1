"""Doubles at public doors: refused where a docstring says Fraction, read as decimals where it says number."""

import inspect
import re
from fractions import Fraction

import pytest

import symshuffle
from symshuffle import Ball, Bracket, Exp, InputError, Problem, randomizer
from symshuffle.base.lp import LinearProgram
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.engines import FFT, BallContour, Contour
from symshuffle.utility import binary_envelope, optimal_subset_sizes, trace_frontier
from symshuffle.utility.frontiers.contamination import Contamination
from tests.public import PUBLIC, TOP

HALF, TWO = Fraction(1, 2), Fraction(2)
KRR = randomizer("krr").at(k=3, lam=2)
RR = randomizer("rr")
PROBLEM = smoothed_point_masses(3, 1)
UNIT = ((1, 0), (0, 1))

EXACT = {
    "Ball.lower": lambda v: Ball(v, TWO),
    "Ball.upper": lambda v: Ball(Fraction(0), v),
    "Bracket.lower": lambda v: Bracket(v, TWO, "exact", "", ""),
    "Bracket.upper": lambda v: Bracket(Fraction(0), v, "exact", "", ""),
    "Problem.model": lambda v: Problem(((v, HALF), (HALF, HALF)), UNIT),
    "Problem.loss": lambda v: Problem(UNIT, ((v, HALF), (HALF, HALF))),
    "Problem.prior": lambda v: Problem(UNIT, UNIT, (v, HALF)),
    "Exp.exponent": Exp,
    "LinearProgram.from_rows": lambda v: LinearProgram.from_rows([1], [([v], ">=", 1)]),
}
"""Doors whose docstrings ask for a Fraction, fed with a number; those of results, which the library fills in, apart."""

READ = {
    "BallContour.goal": lambda v: BallContour(goal=v),
    "Contour.goal": lambda v: Contour(goal=v),
    "FFT.step": lambda v: FFT(step=v),
    "Problem.action_risks.rows": lambda v: PROBLEM.action_risks([[v, HALF, HALF]] * 3),
    "Problem.risk.rule": lambda v: PROBLEM.risk(KRR.channel(), [[v, HALF, Fraction(0)]] * 3),
    "smallest_risk.lam": lambda v: smallest_risk(PROBLEM, v + 2),
    "binary_envelope.gamma": lambda v: binary_envelope(Contamination(3), lam=TWO, gamma=v + 1),
    "binary_envelope.lam": lambda v: binary_envelope(Contamination(3), lam=v + 2, gamma=TWO),
    "optimal_subset_sizes.lam": lambda v: optimal_subset_sizes(5, v + 2),
    "parallel.weights": lambda v: symshuffle.parallel([RR, RR], [v, HALF]),
    "subsample.probability": lambda v: symshuffle.subsample(RR, v),
    "trace_frontier.budget": lambda v: trace_frontier(3, v),
    "trace_frontier.lam_cap": lambda v: trace_frontier(3, HALF, lam_cap=v + 2),
}
"""Functions that refused doubles, and read them as the decimals that they show."""

FILLED_IN = {"Answer", "Attained", "Design", "GaussianLimit", "Mechanism"}
"""Results, and a mechanism, which :meth:`Mechanism.at` and its constructors make."""


def arguments():
    """The parameters of public names whose docstring asks for a Fraction and for nothing looser."""
    for name in sorted(set(TOP) | {door.partition(".")[0] for door in EXACT} & set(PUBLIC)):
        value = PUBLIC[name]
        inside = vars(value).items() if inspect.isclass(value) else ()
        methods = [(f"{name}.{key}", getattr(value, key)) for key, _ in inside if not key.startswith("_")]
        for place, found in [(name, value), *methods]:
            part = re.search(r"Parameters\n-+\n(.*?)(\n\n\w+\n-+|\Z)", inspect.getdoc(found) or "", re.S)
            for names, kind in re.findall(r"^(\S.*?) : (.*)", part[1] if part else "", re.M):
                if "Fraction" in kind and name not in FILLED_IN:
                    yield from (f"{place}.{one}" for one in names.split(", "))


def test_every_door_for_a_fraction_is_fed():
    assert set(arguments()) <= EXACT.keys() | READ.keys()


@pytest.mark.parametrize("door", EXACT)
def test_no_double_passes_for_a_fraction(door):
    with pytest.raises(InputError) as refusal:
        EXACT[door](0.5)
    named = {"level": "lam", "from_rows": "rows"}.get(door.rpartition(".")[2], door.rpartition(".")[2])
    assert refusal.value.argument.startswith(named)
    EXACT[door](HALF)


@pytest.mark.parametrize("door", READ)
def test_doubles_are_read_as_the_decimals_that_they_show(door):
    assert repr(READ[door](0.5)) == repr(READ[door](HALF))


@pytest.mark.parametrize("ask", [symshuffle.delta, symshuffle.profile, symshuffle.renyi], ids=lambda f: f.__name__)
def test_where_a_number_is_read_a_double_is_the_decimal_that_it_shows(ask):
    name = {"delta": "eps", "profile": "eps", "renyi": "order"}[ask.__name__]
    numbers = [1.1, "1.1", Fraction(11, 10)]
    given = [[number] for number in numbers] if ask.__name__ == "profile" else numbers
    first, *others = [ask(KRR, n=3, **{name: one, **({"rtol": 0.1} if name == "order" else {})}) for one in given]
    assert all(other.to_dict() == first.to_dict() for other in others)


def test_the_package_says_what_a_number_is():
    assert "0.1`` means one tenth" in symshuffle.__doc__ and "a double is refused" in symshuffle.__doc__
