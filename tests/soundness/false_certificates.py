"""False certificates, each with the place at which it has to be refused; tests/conditions.py reads them too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import cache
from typing import Any

import sympy as sp

from symshuffle.anchored import AnchoredLaw, template_signal
from symshuffle.channel import Channel
from symshuffle.choices import Criterion
from symshuffle.design import DecisionProblem, bayes_tradeoff, minimax_tradeoff, smoothed_point_masses
from symshuffle.design.decision.certificate import TradeoffCertificate
from symshuffle.design.decision.channel_risk import minimax_risk
from symshuffle.design.decision.modelling import CertifiedModel
from symshuffle.design.decision.reduced import orbit_tradeoff, orbit_tradeoff_at
from symshuffle.design.information import measures
from symshuffle.design.information.logarithmic import logarithmic_formula
from symshuffle.design.information.maximum import maximise
from symshuffle.design.parametric.walk import derive
from symshuffle.estimation.lower_bounds import minimax_sandwich
from symshuffle.frontiers.caps import extreme_templates
from symshuffle.frontiers.convex_order import ConvexOrder, convex_order
from symshuffle.frontiers.frontier import trace_frontier
from symshuffle.frontiers.orbits import DualCertificate, Frontier, Orbit, centre_orbit, subset_orbit
from symshuffle.frontiers.template_laws import best_law
from symshuffle.geometry.dominated import largest_dominated
from symshuffle.geometry.groups import symmetric_group, trivial_group
from symshuffle.geometry.linprog import solve
from symshuffle.geometry.orders import Garbling, Separation, blackwell, deficiency
from symshuffle.law import Law
from symshuffle.likelihood.quotient import likelihood_quotient
from symshuffle.likelihood.worst import worst_curve
from symshuffle.lp import Certificate, LinearProgram
from symshuffle.mechanisms.finite import krr
from symshuffle.numbers import Exp
from symshuffle.results import Bracket, Rigour
from tests.soundness.false_claim_files import enter


@dataclass(frozen=True)
class Case:
    """A check of something false, and the place that the refusal has to name."""

    check: Callable[[], object]
    place: str


CASES: dict[str, Case] = {}


def false(name: str, place: str, check: Callable[[], object]) -> None:
    """Enter a false certificate."""
    assert name not in CASES, name
    CASES[name] = Case(check, place)


def exactly(value: object) -> Bracket:
    """A forged exact value."""
    return Bracket(F(value), F(value), Rigour.EXACT, "forged", "forged")  # type: ignore[arg-type]


WIDE = Bracket(F(0), F(10**9), Rigour.EXACT, "forged", "claims nothing")

# Linear programs


def _lp(name: str, place: str, costs: list[int], rows: Any, primal: Any, dual: Any, free: tuple[int, ...] = ()) -> None:
    program = LinearProgram.from_rows(costs, rows, free=free)
    false(f"lp: {name}", place, lambda: Certificate(tuple(primal), tuple(dual)).verify(program))


AT_LEAST, AT_MOST, EQUAL = ([1], ">=", 1), ([1], "<=", 1), ([1], "==", 1)
_lp("variable beyond the last", "primal[1]", [1], [EQUAL], [(0, F(1)), (1, F(0))], [F(1)])
_lp("variable before the first", "primal[-1]", [1], [EQUAL], [(-1, F(1))], [F(1)])
_lp("variable twice", "primal[0]", [1], [([1], "==", 2)], [(0, F(1)), (0, F(1))], [F(1)])
_lp("a double", "primal[0]", [1], [EQUAL], [(0, 1.0)], [F(1)])
_lp("a negative variable", "primal[0]", [1], [([1], ">=", -1)], [(0, F(-1))], [F(0)])
_lp("an equation", "rows[0]", [1], [EQUAL], [(0, F(2))], [F(1)])
_lp("a >= row", "rows[0]", [1], [AT_LEAST], [], [F(1)])
_lp("a <= row", "rows[0]", [1], [AT_MOST], [(0, F(2))], [F(0)])
_lp("multipliers missing", "dual", [1], [EQUAL], [(0, F(1))], [])
_lp("a double as multiplier", "dual[0]", [1], [EQUAL], [(0, F(1))], [1.0])
_lp("sign at >=", "dual[0]", [1], [AT_LEAST], [(0, F(1))], [F(-1)])
_lp("sign at <=", "dual[0]", [1], [AT_MOST], [], [F(1)])
_lp("reduced cost", "reduced_costs[0]", [1], [AT_LEAST], [(0, F(1))], [F(2)])
_lp("reduced cost of a free variable", "reduced_costs[0]", [1], [EQUAL], [(0, F(1))], [F(0)], (0,))


@cache
def program() -> Any:
    """A solved linear program."""
    return solve(LinearProgram.from_rows([1], [AT_LEAST]))


false("solution: value", "value", lambda: replace(program(), value=exactly(2)).verify())
false(
    "solution: certificate",
    "certificate.dual",
    lambda: replace(program(), certificate=Certificate(((0, F(1)),), ())).verify(),
)
false("model: value", "value", lambda: CertifiedModel(F(2), program(), F(0), False).verify())
false("model: sign", "value", lambda: CertifiedModel(F(1), program(), F(0), True).verify())
false(
    "model: a gap",
    "value",
    lambda: CertifiedModel(
        F(0), replace(program(), certificate=Certificate(((0, F(1)),), (F(0),))), F(0), False
    ).verify(),
)
false(
    "model: solution",
    "solution.dual",
    lambda: CertifiedModel(F(1), replace(program(), certificate=Certificate(((0, F(1)),), ())), F(0), False).verify(),
)

# Frontiers


@cache
def frontier(k: int = 5, budget: F | float = F("1/8"), lam_cap: Any = None) -> Frontier:
    """A true one."""
    return trace_frontier(k, budget, lam_cap=lam_cap)


FREE = DualCertificate(5, F(0), F(1000))


def _frontier(name: str, place: str, **changes: Any) -> None:
    false(f"frontier: {name}", place, lambda: replace(frontier(), **{"trace": WIDE} | changes).verify())


def _line(name: str, place: str, *arguments: Any) -> None:
    false(f"line: {name}", place, lambda: DualCertificate(*arguments).verify())


_line("one input", "k", 1, F(0), F(0))
_line("half an input", "k", 2.5, F(0), F(1000))
_line("falls", "eta", 5, F(-1), F(1000), F(2))
_line("cap 1", "lam_cap", 3, F(0), F(0), F(1))
_line("below all curves", "curves[0]", 5, F(0), F(0), F(3))
false(
    "line: crosses a curve",
    "curves[0]",
    lambda: replace(c := frontier(4, F("0.0696599"), F("7/5")).certificate, intercept=c.intercept - F("1e-9")).verify(),
)


def _law(name: str, place: str, *orbits: Orbit, **changes: Any) -> None:
    _frontier(name, place, orbits=orbits, certificate=FREE, **changes)


_law("a double as weight", "orbits[0].weight", Orbit(1.0, centre_orbit(5).levels))  # type: ignore[arg-type]
_law("a negative weight", "orbits[1].weight", subset_orbit(5, 1, F(3), F(2)), centre_orbit(5, F(-1)), budget=F(10))
_law("half a coordinate", "orbits[0].levels", Orbit(F(1), ((2.5, F(1)), (2.5, F(1)))))  # type: ignore[arg-type]
_law("coordinates below 0", "orbits[0].levels", Orbit(F(1), ((6, F(1)), (-1, F(1)))))
_law("a double as level", "orbits[0].levels", Orbit(F(1), ((5, 1.0),)))  # type: ignore[arg-type]
_law("a negative level", "orbits[0].levels", Orbit(F(1), ((1, F(-1, 2)), (4, F(11, 8)))), budget=F(10))
_law("other inputs", "orbits[0].levels", Orbit(F(1), ((10, F(1, 2)),)))
_law("1000 coordinates of 1/2", "orbits[0].levels", Orbit(F(1), ((1000, F(1, 2)),)), budget=F(0), trace=exactly(250))
_law("no template", "orbits[0].levels", Orbit(F(1), ((5, F(2)),)))
_law("no coordinates", "orbits[0].levels", Orbit(F(1), ()))
_law("no orbits", "orbits")
_law("half the weight", "orbits", centre_orbit(5, F(1, 2)))
_law("beyond the budget", "orbits", subset_orbit(5, 1, F(3)), budget=F(1, 100))
_law("beyond the cap", "orbits[0].levels", subset_orbit(5, 1, F(3)), budget=F(10), lam_cap=F(2))
_law("zeros under a cap", "orbits[0].levels", Orbit(F(1), ((1, F(5)), (4, F(0)))), budget=math.inf, lam_cap=F(2))
_frontier("not a budget", "budget", budget=math.nan)
_frontier("another k", "certificate.k", k=7)
_frontier("a certificate of another k", "certificate.k", certificate=DualCertificate(6, F(0), F(1000)))
_frontier("a rising line without a budget", "certificate.eta", budget=math.inf)
_frontier("a line that falls", "certificate.eta", certificate=DualCertificate(5, F(-1), F(1000), F(2)))
_frontier("a trace above the law", "trace", trace=Bracket(F(1), F(1000), Rigour.EXACT, "", ""))
_frontier("a trace below the line", "trace", trace=exactly(0))
for cap, other in ((None, "7/5"), (F(2), "7/5"), (Exp(F(1)), "7/5")):
    false(
        f"frontier: a line for the cap {other} where {cap} is allowed",
        "certificate.lam_cap",
        lambda cap=cap: replace(frontier(4, F("0.0696599"), F("7/5")), lam_cap=cap).verify(),
    )

# Trade-offs

ORDERED = DecisionProblem.of(
    [[int(x == t) for x in range(3)] for t in range(3)],
    [[(t - a) ** 2 for a in range(3)] for t in range(3)],
    [F(1, 3)] * 3,
)
CONSTANT = TradeoffCertificate(
    F(3), (F(1, 3),) * 3, ((F(1),) * 3, (F(0),) * 3, (F(0),) * 3), (F(-100),) * 3, criterion=Criterion.MINIMAX
)
"""A true one that says little: always the first action, and a bound far below."""


def _tradeoff(name: str, place: str, **changes: Any) -> None:
    false(f"trade-off: {name}", place, lambda: replace(CONSTANT, **changes).verify(ORDERED))


_tradeoff("a criterion by name", "criterion", criterion="minimax")
_tradeoff("level 1", "lam", lam=F(1))
_tradeoff("another prior", "prior", criterion=Criterion.BAYES, prior=(F(1), F(0), F(0)))
_tradeoff("a prior of four", "prior", prior=(F(1, 4),) * 4)
_tradeoff("a negative prior", "prior", prior=(F(2), F(-1), F(0)))
_tradeoff("a prior of sum 1/2", "prior", prior=(F(1, 2), F(0), F(0)))
_tradeoff("two actions", "rows", rows=CONSTANT.rows[:2])
_tradeoff("two inputs", "rows", rows=((F(1),) * 2, (F(0),) * 2, (F(0),) * 2))
_tradeoff("a larger ratio", "rows[0]", rows=((F(1), F(0), F(0)), (F(0), F(1), F(1)), (F(0),) * 3))
_tradeoff("negative rows", "rows[0]", rows=((F(-1),) * 3, (F(2),) * 3, (F(0),) * 3))
_tradeoff("rows of sum 1/2", "rows", rows=((F(1, 2),) * 3, *CONSTANT.rows[1:]))
_tradeoff("a bound of four", "bound", bound=(F(-100),) * 4)
_tradeoff("a bound too high", "bound", bound=(F(5),) * 3)


@cache
def design(level: F | Exp = F(3)) -> Any:
    """A true one."""
    return minimax_tradeoff(ORDERED, level)


E1 = Exp(F(1))


def _design(name: str, place: str, level: F | Exp, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"design: {name}", place, lambda: replace(design(level), **changes(design(level))).verify())


def _first_weight(found: Any, **changes: Any) -> dict[str, Any]:
    (subset, action, weight), *rest = found.weights
    first = {"subset": subset, "action": action, "weight": weight} | changes
    return {"weights": ((first["subset"], first["action"], first["weight"]), *rest)}


_design("no certificates", "certificates", F(3), lambda d: {"certificates": ()})
_design("another level", "certificates", F(3), lambda d: {"level": F(4)})
_design("swapped levels", "certificates", E1, lambda d: {"certificates": d.certificates[::-1]})
_design("one of two levels", "certificates", E1, lambda d: {"certificates": d.certificates[:1]})
_design("both below", "certificates", E1, lambda d: {"certificates": d.certificates[1:] * 2})
_design("both above", "certificates", E1, lambda d: {"certificates": d.certificates[:1] * 2})
_design("no criterion", "criterion", F(3), lambda d: {"criterion": "minimax"})
_design("another criterion", "certificates[0]", F(3), lambda d: {"criterion": Criterion.BAYES})
_design(
    "rows missing",
    "certificates[0].rows",
    F(3),
    lambda d: {"certificates": (replace(d.certificates[0], rows=d.certificates[0].rows[1:]),)},
)
_design("another channel", "weights", F(3), lambda d: _first_weight(d, weight=2 * d.weights[0][2]))
_design(
    "negative weights",
    "weights",
    F(3),
    lambda d: {
        "weights": (*d.weights, (*d.weights[0][:2], F(1)), (*d.weights[0][:2], F(-1))),
    },
)
_design("no such action", "weights", F(3), lambda d: _first_weight(d, action=99))
_design("value", "value", F(3), lambda d: {"value": exactly(0)})


@cache
def channel_risk() -> Any:
    """A true one."""
    return minimax_risk(ORDERED, design().channel())


false("channel risk: value", "value", lambda: replace(channel_risk(), value=exactly(0)).verify())
false("channel risk: rule", "rule", lambda: replace(channel_risk(), rule=channel_risk().rule[1:]).verify())
false("channel risk: prior", "prior", lambda: replace(channel_risk(), prior=(F(2), F(-1), F(0))).verify())

# Designs under a group


@cache
def guessing() -> Any:
    """A true one: value 4/7."""
    return orbit_tradeoff(smoothed_point_masses(5, 1), F(3), symmetric_group(5))


def _orbits(name: str, place: str, **changes: Any) -> None:
    false(f"orbits: {name}", place, lambda: replace(guessing(), **{"value": WIDE} | changes).verify())


def _used(name: str, place: str, changes: Callable[[Any], dict[str, Any]], **others: Any) -> None:
    def check() -> None:
        (used,) = guessing().weights
        replace(guessing(), weights=(replace(used, **changes(used)),), **{"value": WIDE} | others).verify()

    false(f"orbits: {name}", place, check)


_used("a size", "weights[0].orbit", lambda w: {"orbit": replace(w.orbit, size=10)})
_used("incidences", "weights[0].orbit", lambda w: {"orbit": replace(w.orbit, incidences=(3,))})
# Ten singletons, of which every input is in three: the column sums are (10 + 2 * 3) / 16, the risk 10 / 16 * 4 / 5.
_used(
    "1/2 where the optimum is 4/7",
    "weights[0].orbit",
    lambda w: {"orbit": replace(w.orbit, size=10, incidences=(3,)), "weight": F(1, 16)},
    bound=(F(1, 10),) * 5,
    value=exactly(F(1, 2)),
)
_used(
    "the full set",
    "weights[0].orbit",
    lambda w: {"orbit": replace(w.orbit, representative=31, size=1, incidences=(1,)), "weight": F(1, 3)},
)
_used("no such input", "weights[0].orbit", lambda w: {"orbit": replace(w.orbit, representative=1 << 7)})
_used("no such action", "weights[0].action", lambda w: {"action": 99})
_used("a double as weight", "weights[0].weight", lambda w: {"weight": 0.5})
_used("a column sum", "weights", lambda w: {"weight": w.weight / 2})
_orbits("no weights", "weights", weights=())
_orbits("level 1", "lam", lam=F(1))
_orbits("a bound of four", "bound", bound=(F(0),) * 4)
_orbits("a bound too high", "bound", bound=(F(1, 4),) * 5)
_orbits("no prior", "problem", problem=replace(smoothed_point_masses(5, 1), prior=None))
_orbits("no symmetry", "problem", problem=smoothed_point_masses(5, 1).with_prior([F(1, 2), *[F(1, 8)] * 4]))
_orbits("value", "value", value=exactly(F(1, 2)))


def _negative_orbit() -> None:
    singles, pairs = (guessing().group.subset_orbit(y) for y in (1, 3))
    (used,) = guessing().weights
    weights = (  # column sums 7 w + 18 v = 1 with v < 0
        replace(used, orbit=singles, weight=F(19, 7)),
        replace(used, orbit=pairs, weight=F(-1)),
    )
    assert sum(w.weight * w.orbit.column_sum(0, F(3)) for w in weights) == 1
    replace(guessing(), weights=weights, value=WIDE).verify()


false("orbits: a negative weight", "weights[1].weight", _negative_orbit)


@cache
def two_levels() -> Any:
    """A true one."""
    return orbit_tradeoff_at(smoothed_point_masses(5, 1), E1, symmetric_group(5))


def _levels(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"two levels: {name}", place, lambda: replace(two_levels(), **changes(two_levels())).verify())


_levels("another problem", "designs[0]", lambda d: {"problem": smoothed_point_masses(5, F(1, 2))})
_levels(
    "another criterion",
    "designs[1]",
    lambda d: {"designs": (d.designs[0], replace(d.designs[1], criterion=Criterion.MINIMAX))},
)
_levels(
    "a criterion by name",
    "designs[0].criterion",
    lambda d: {"designs": tuple(replace(design, criterion="bayes") for design in d.designs)},
)
_levels("value", "value", lambda d: {"value": exactly(0)})
_levels("swapped", "designs", lambda d: {"designs": d.designs[::-1]})
_levels("a weight", "designs[0].weights", lambda d: {"designs": (replace(d.designs[0], weights=()), d.designs[1])})

# Largest measures

HALF, THIRD = (F(1, 2), F(1, 4), F(1, 4)), (F(1, 3),) * 3


@cache
def largest(which: str) -> Any:
    """A true one."""
    chi, information = measures.chi_square_measure(HALF, THIRD), measures.mutual_information(HALF)
    many = measures.mutual_information([F(1, 15)] * 15)
    return {
        "rational": lambda: maximise(chi, F(3)),
        "logarithmic": lambda: maximise(information, F(3)),
        "level": lambda: maximise(chi, E1),
        "grouped": lambda: maximise(information, F(3), group=information.symmetry()),
        "many": lambda: maximise(many, F(3), group=many.symmetry()),
    }[which]()


def _largest(name: str, place: str, which: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    def check() -> None:
        found = largest(which)
        loose = Bracket(F(0), F(10**9), found.value.rigour, "", "")
        replace(found, **{"value": loose} | changes(found)).verify()

    false(f"measure: {name}", place, check)


_largest("weights doubled", "weights", "rational", lambda d: {"weights": {y: 2 * w for y, w in d.weights.items()}})
_largest("the empty set", "weights", "rational", lambda d: {"weights": {**d.weights, 0: F(0)}})
_largest("a double as weight", "weights", "rational", lambda d: {"weights": {1: 0.25, 6: 0.25}})
_largest(  # {1, 6} and {2, 5} with 1/4 each are two points of the polytope
    "negative weights",
    "weights",
    "rational",
    lambda d: {"weights": {1: F(1, 2), 6: F(1, 2), 2: F(-1, 4), 5: F(-1, 4)}},
)
_largest("a bound too low", "bound", "rational", lambda d: {"bound": tuple(u * F(99, 100) for u in d.bound)})
_largest(
    "a bound of balls too low", "bound", "logarithmic", lambda d: {"bound": tuple(u * F(99, 100) for u in d.bound)}
)
_largest("a bound of two", "bound", "rational", lambda d: {"bound": d.bound[:2]})
_largest("an asymmetric bound", "bound", "grouped", lambda d: {"bound": tuple(u + i for i, u in enumerate(d.bound))})
_largest("level 1", "lam", "rational", lambda d: {"lam": F(1), "level": F(1)})
_largest("two levels", "lam", "rational", lambda d: {"bound_lam": F(4)})
_largest("another level", "lam", "rational", lambda d: {"level": F(4)})
_largest("a bound from below", "lam", "level", lambda d: {"bound_lam": d.lam})
_largest("no symmetry", "group", "rational", lambda d: {"group": symmetric_group(3)})
_largest("other inputs", "group", "rational", lambda d: {"group": trivial_group(4)})
_largest("too many inputs", "group", "many", lambda d: {"group": None})
_largest(
    "not homogeneous",
    "measure",
    "rational",
    lambda d: {"measure": replace(d.measure, rational=lambda column: F(1))},
)
_largest("a value too high", "value", "rational", lambda d: {"value": exactly(10)})
_largest("balls as exact", "value", "logarithmic", lambda d: {"value": replace(d.value, rigour=Rigour.EXACT)})

# Formulas


@cache
def formula() -> Any:
    """A true one, of two pieces."""
    return derive(ORDERED, trivial_group(3), criterion=Criterion.MINIMAX)


def _basis(name: str, place: str, changes: Callable[[Any], dict[str, Any]], which: int = 0) -> None:
    def check() -> None:
        found = formula()
        basis = found.pieces[which].bases[0]
        bases = (replace(basis, **changes(basis)), *found.pieces[which].bases[1:])
        piece = replace(found.pieces[which], bases=bases)
        pieces = (*found.pieces[:which], piece, *found.pieces[which + 1 :])
        replace(found, pieces=pieces).verify()

    false(f"basis: {name}", f"pieces[{which}].bases[0].{place}", check)


_basis("weights doubled", "weights", lambda b: {"weights": tuple((c, 2 * w) for c, w in b.weights)})
_basis("no such column", "weights", lambda b: {"weights": ((replace(b.weights[0][0], subset=99), sp.Integer(1)),)})
_basis("a bound that is no function of lambda", "bound", lambda b: {"bound": (sp.Symbol("x"), *b.bound[1:])})
_basis("bound halved", "bound", lambda b: {"bound": tuple(u / 2 for u in b.bound)})
_basis("bound doubled", "bound", lambda b: {"bound": tuple(2 * u for u in b.bound)})
_basis("a multiplier missing", "bound", lambda b: {"bound": (b.bound[0], b.bound[1] + b.bound[2])})
_basis("a multiplier moved", "bound", lambda b: {"bound": (b.bound[0] + 5, b.bound[1] - 5, *b.bound[2:])})
_basis("prior doubled", "prior", lambda b: {"prior": tuple(2 * p for p in b.prior)})
_basis("a prior missing", "prior", lambda b: {"prior": (b.prior[0], b.prior[1] + b.prior[2])})
_basis(
    "a negative prior",
    "prior",
    lambda b: {"prior": (sp.Integer(2), sp.Integer(-1), sp.Integer(0))},
)
_basis("a higher risk", "value", lambda b: {"value": b.value / 2, "bound": tuple(u / 2 for u in b.bound)})


def _pieces(name: str, place: str, changes: Callable[[Any], tuple[Any, ...]]) -> None:
    false(f"formula: {name}", place, lambda: replace(formula(), pieces=changes(formula().pieces)).verify())


_pieces("far into the next interval", "pieces[0].bases[0].bound", lambda p: (_stretched(p[0], 50), p[1]))
_pieces("into the next interval", "pieces[0].bases[0].bound", lambda p: (_stretched(p[0], sp.Rational(301, 100)), p[1]))
_pieces("the neighbour's formula", "pieces[0].bases", lambda p: (replace(p[0], value=p[1].value), p[1]))
_pieces("beyond the bases", "pieces[0].bases", lambda p: (replace(p[0], upper=sp.Integer(50)), p[1]))
_pieces("before the bases", "pieces[1].bases", lambda p: (p[0], replace(p[1], lower=sp.Integer(1))))
_pieces("a gap", "pieces", lambda p: (p[0], replace(p[1], lower=sp.Integer(100))))
_pieces("nothing at large levels", "pieces", lambda p: p[:1])


def _stretched(piece: Any, upper: Any) -> Any:
    assert piece.upper == 3
    end = sp.sympify(upper)
    return replace(piece, bases=tuple(replace(basis, upper=end) for basis in piece.bases), upper=end)


@cache
def bayes_formula() -> Any:
    """A true one, for a prior."""
    return derive(smoothed_point_masses(3, 1), trivial_group(3))


def _bayes_value() -> None:
    (piece,) = bayes_formula().pieces
    basis = piece.bases[0]
    low = replace(basis, value=basis.value / 2, bound=tuple(u / 2 for u in basis.bound))
    replace(bayes_formula(), pieces=(replace(piece, value=low.value, bases=(low,)),)).verify()


false("basis: another cost", "pieces[0].bases[0].value", _bayes_value)


# Orders and couplings

FINE = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
COARSE = Channel.from_rows([["5/8", "3/8"], ["3/8", "5/8"]])
DOUBLES = Channel(((0.75, 0.25), (0.25, 0.75)))
THREE = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]])
KERNEL = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
SAME = Channel.from_rows([[1, 0], [0, 1]])

false("garbling: another kernel", "kernel", lambda: Garbling(SAME).verify(FINE, COARSE))
false("garbling: another shape", "kernel", lambda: Garbling(THREE).verify(FINE, COARSE))
false("garbling: doubles", "first", lambda: Garbling(SAME).verify(DOUBLES, DOUBLES))


@cache
def separation() -> Any:
    """A true one: the coarse channel does not dominate the fine one."""
    return blackwell(COARSE, FINE)


def _separation(name: str, place: str, change: Callable[[Any], Any], first: Channel, second: Channel) -> None:
    false(
        f"separation: {name}",
        place,
        lambda: Separation(tuple(tuple(map(change, row)) for row in separation().gains)).verify(first, second),
    )


_separation("gains beyond 1", "gains", lambda g: 9 * g, COARSE, FINE)
_separation("no margin", "gains", lambda g: g, FINE, FINE)
_separation("other inputs", "second", lambda g: g, FINE, THREE)
false(
    "separation: shape",
    "gains",
    lambda: Separation(tuple((*row, F(1)) for row in separation().gains)).verify(COARSE, FINE),
)


@cache
def lacking() -> Any:
    """A true deficiency."""
    return deficiency(COARSE, FINE)


false("deficiency: value", "value", lambda: replace(lacking(), value=exactly(0)).verify())
false("deficiency: kernel", "kernel", lambda: replace(lacking(), kernel=THREE).verify())
false(
    "deficiency: certificate",
    "certificate.dual",
    lambda: replace(lacking(), certificate=replace(lacking().certificate, dual=())).verify(),
)

INNER = Law.from_atoms([(F(1, 2), F(1, 2)), (F(3, 2), F(1, 2))])
OUTER = Law.from_atoms([(F(0), F(1, 2)), (F(2), F(1, 2))])


SPREAD = Law.from_atoms([(F(0), F(3, 8)), (F(1), F(1, 4)), (F(2), F(3, 8))])


def _coupling(name: str, upper: Law, *rows: tuple[F, ...]) -> None:
    false(f"coupling: {name}", "coupling", lambda: ConvexOrder(rows, None).verify(INNER, upper))


def _eighths(*numerators: F | int) -> tuple[F, ...]:
    return tuple(F(n) / 8 for n in numerators)


_coupling("shape", OUTER, _eighths(4))
_coupling("negative", SPREAD, _eighths(F(3, 2), 3, F(-1, 2)), _eighths(F(3, 2), -1, F(7, 2)))
_coupling("means", OUTER, _eighths(2, 2), _eighths(2, 2))
_coupling("rows", OUTER, _eighths(2, 1), _eighths(2, 3))
_coupling("columns", SPREAD, _eighths(3, 0, 1), _eighths(1, 0, 3))
false("coupling: threshold", "threshold", lambda: ConvexOrder(None, F(1)).verify(INNER, OUTER))
false("coupling: means agree", "means", lambda: ConvexOrder(None, None).verify(INNER, OUTER))


def true_ones() -> Iterator[Any]:
    """What the false certificates were made from, and a few more: all of them verify."""
    yield from (frontier(), frontier(4, F("0.0696599"), F("7/5")), frontier(4, F("1/10"), E1), frontier(6, math.inf))
    yield from (design(), design(E1), bayes_tradeoff(ORDERED, F(3)), bayes_tradeoff(ORDERED, E1), channel_risk())
    yield from (guessing(), two_levels(), program(), CertifiedModel(F(1), program(), F(0), False), lacking())
    yield from map(largest, ("rational", "logarithmic", "level", "grouped", "many"))
    yield from (formula(), bayes_formula(), logs(), logs().pieces[0], sandwich(), quotient(), worst())


def true_pairs() -> Iterator[Callable[[], None]]:
    """Checks of true certificates that are given what they speak about."""
    yield lambda: convex_order(INNER, OUTER).verify(INNER, OUTER)
    yield lambda: convex_order(OUTER, INNER).verify(OUTER, INNER)
    yield lambda: convex_order(INNER, SPREAD).verify(INNER, SPREAD)
    yield lambda: blackwell(FINE, COARSE).verify(FINE, COARSE)
    yield lambda: separation().verify(COARSE, FINE)
    yield lambda: CONSTANT.verify(ORDERED)


# Laws on templates, and members of a family


def _law_on_templates() -> Any:
    return best_law(extreme_templates(3, F(4)), template_signal)


def _inside() -> Any:
    def ternary(lam: F) -> Channel:
        return krr().at(k=3, lam=lam).channel()

    return largest_dominated(ternary(F(4)), ternary, (F(11, 10), F(9)), rel=1e-3)


def _span(lower: F, upper: F, rigour: Rigour = Rigour.BALL) -> Bracket:
    return Bracket(lower, upper, rigour, "forged", "forged")


best, member = cache(_law_on_templates), cache(_inside)
false(
    "best law: another template",
    "law",
    lambda: replace(best(), law=AnchoredLaw.from_atoms([((F(1),) * 3, F(1))])).verify(),
)
false(
    "best law: prices too low", "prices", lambda: replace(best(), prices=tuple(z / 2 for z in best().prices)).verify()
)
false("best law: value", "value", lambda: replace(best(), value=exactly(best().value.exact * 2)).verify())
false("best law: form", "form", lambda: replace(best(), gains=best().gains[1:]).verify())
false("dominated: beyond the levels", "bracket", lambda: replace(member(), bracket=_span(F(2), F(10))).verify())
false(
    "dominated: kernel",
    "kernel.kernel",
    lambda: replace(member(), bracket=_span(member().bracket.lower + F(1, 10**6), member().bracket.upper)).verify(),
)
false(
    "dominated: separation",
    "separation.gains",
    lambda: replace(member(), bracket=_span(member().bracket.lower, member().bracket.lower)).verify(),
)
false("dominated: nothing above", "bracket", lambda: replace(member(), separation=None).verify())
false(
    "dominated: two exact ends",
    "bracket",
    lambda: replace(member(), bracket=_span(member().bracket.lower, member().bracket.upper, Rigour.EXACT)).verify(),
)


# Formulas with logarithms


def _logs() -> Any:
    return logarithmic_formula(
        measures.kullback_leibler([F(1, 2), F(1, 3), F(1, 6)], [F(1, 6), F(1, 3), F(1, 2)]), LEVELS
    )


LEVELS = (F(2), F(5, 2))
HALVES, SKEWED = [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]
logs = cache(_logs)


def _log_piece(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    def check() -> None:
        piece = logs().pieces[0]
        replace(piece, **changes(piece)).verify()

    false(f"log piece: {name}", place, check)


def _log_formula(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"log formula: {name}", place, lambda: replace(logs(), **changes(logs())).verify())


_log_piece("ends swapped", "levels", lambda p: {"lower": p.upper, "upper": p.lower})
_log_piece("inputs that differ", "group", lambda p: {"group": symmetric_group(3)})
_log_piece("an orbit too few", "basis", lambda p: {"basis": p.basis[1:]})
_log_piece("no orbit", "basis", lambda p: {"basis": (*p.basis[1:], 0)})
_log_piece("weights doubled", "weights", lambda p: {"weights": tuple((o, 2 * w) for o, w in p.weights)})
_log_piece("value", "value", lambda p: {"value": p.value * F(101, 100)})
_log_piece("a condition more", "conditions", lambda p: {"conditions": p.conditions + 1})
_log_piece("beyond its interval", "conditions", lambda p: {"upper": F(40)})
_log_formula("a piece fails", "pieces[0].value", lambda f: {"pieces": (replace(f.pieces[0], value=sp.Integer(0)),)})
_log_formula(
    "a piece of another measure",
    "pieces[1].measure",
    lambda f: {"pieces": (*f.pieces, *logarithmic_formula(measures.kullback_leibler(HALVES, SKEWED), LEVELS).pieces)},
)
_log_formula("a gap at the end", "gaps[1]", lambda f: {"levels": (F(2), F(3))})


# Bounds of the minimax risk


@cache
def sandwich() -> Any:
    """A true one."""
    return minimax_sandwich(3, F(1), 100)


def _sandwich(name: str, place: str, **changes: Any) -> None:
    false(f"sandwich: {name}", place, lambda: replace(sandwich(), **changes).verify())


_sandwich("no cube", "radius", radius=F(0))
_sandwich("a cube beyond the simplex", "radius", radius=F(1, 2))
_sandwich("a lower bound too high", "lower", lower=exactly(F(1, 2)))
_sandwich("an upper bound too low", "upper", upper=exactly(F(0)))


# Quotients by the likelihood ratio, and worst curves


@cache
def quotient() -> Any:
    """A true one, of three blocks."""
    tied = [["1/6", "1/3", "1/4", "1/4"], ["1/12", "1/6", "1/2", "1/4"]]
    return likelihood_quotient(Channel.from_rows(tied), 0, 1)


def _quotient(name: str, place: str, **changes: Any) -> None:
    false(f"quotient: {name}", place, lambda: replace(quotient(), **changes).verify())


_quotient("an output missing", "blocks", blocks=((0, 1), (3,), ()))
_quotient("a ratio twice", "ratios", ratios=(F(1, 2), F(1), F(1)))
_quotient("a ratio too many", "ratios", ratios=(F(1, 2), F(1), F(2), F(3)))
_quotient("an empty block", "kernel[3]", blocks=((0, 1), (3,), (2,), ()), ratios=(F(1, 2), F(1), F(2), F(3)))
_quotient("another ratio", "outputs[2]", ratios=(F(1, 2), F(1), F(3)))


@cache
def worst() -> Any:
    """A true one."""
    return worst_curve(1, 5, lam=3, exp_eps="6/5")


def _worst(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"worst curve: {name}", place, lambda: replace(worst(), **changes(worst())).verify())


_worst("it dips", "majorant", lambda f: {"majorant": replace(f.majorant, alpha=f.majorant.alpha - F(1, 10**6))})
_worst("an atom below the range", "law", lambda f: {"law": ((F(-2), F(0)), *f.law)})
_worst("a negative mass", "law", lambda f: {"law": (*f.law, (F(0), F(-1, 9)), (F(0), F(1, 9)))})
_worst("other moments", "law", lambda f: {"law": ((f.law[0][0], f.law[0][1] + F(1, 10**9)), *f.law[1:])})
_worst("upper end", "value", lambda f: {"bracket": replace(f.bracket, upper=f.bracket.lower)})
# Files of claims

enter(false)
