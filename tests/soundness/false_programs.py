"""False certificates of linear programs."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

from symshuffle.base.lp import Certificate, LinearProgram
from symshuffle.channels.geometry.linprog import solve
from symshuffle.design.decision.modelling import CertifiedModel
from tests.soundness.false_certificates import exactly, false


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
false(
    "model: a relaxed program of other tolerances",
    "relaxed",
    lambda: CertifiedModel(F(1), program(), F(0), False, None, (), (((0, None), F(1)),), program()).verify(),
)
false(
    "model: solution of a relaxed program",
    "tightened.value",
    lambda: CertifiedModel(
        F(1), program(), F(0), False, None, (), (), None, replace(program(), value=exactly(2))
    ).verify(),
)
