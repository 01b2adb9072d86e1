"""Extremal channels as cvxpy variables: write any objective and constraints, get a certificate when they are linear."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from importlib import import_module
from typing import Any, TypeAlias, final

import numpy as np

from symshuffle.base.choices import SafeEnd
from symshuffle.base.doubles import Array
from symshuffle.base.errors import CertificateError, InputError, NotDecided, SolverFailure, Unsupported, listed
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import Exp, enclose, format_decimal, parse_inside, parse_rational
from symshuffle.base.results import AnswerMethods, Bracket, well_formed, within
from symshuffle.base.solvers import cvxpy, silent
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope, check_inputs, check_lam, proper_subsets
from symshuffle.channels.geometry.linprog import Solution, solve
from symshuffle.design.decision.coefficients import CoefficientPlace, read_coefficient, relaxed_programs
from symshuffle.design.decision.programs import indicator_matrix

ConstraintRows: TypeAlias = "int | tuple[ConstraintRows, ...]"
"""Numbers of rows of a program, in the shape of a constraint."""

_LARGEST = 12

_ULPS_WORDS = "4 units in the last place"


@final
@dataclass(frozen=True, init=False)
class ExtremalChannel:
    """Maximal LDP channels on ``m`` inputs, as variables of a cvxpy model.

    Parameters
    ----------
    m : int
        Number of inputs, from 2 to 12.
    lam : number or text
        ``exp(eps0)``, a rational above 1; ``Fraction(5, 3)`` and "5/3" are exact, a double is read by its shortest
        decimal.
    eps0 : number or text
        Instead of ``lam``: the local budget in nats, above 0. ``lam`` is then the lower end of an enclosure of
        ``exp(eps0)`` to 100 bits: every channel of the family is eps0-LDP, and certificates are for that ``lam``.

    Raises
    ------
    InputError
        If not exactly one of ``lam`` and ``eps0`` is given, or it is out of range.
    Unsupported
        For more than 12 inputs; the message names the forms that take more.

    Examples
    --------
    >>> import cvxpy as cp
    >>> family = ExtremalChannel(3, lam=Fraction(3))
    >>> weights = family.variable()
    >>> best_guess = cp.Problem(cp.Maximize(cp.sum(weights) * 3 / 3), family.constraints(weights))
    >>> family.certified(best_guess).value
    Fraction(3, 5)
    """

    m: int
    lam: Fraction

    def __init__(self, m: int, *, lam: object = None, eps0: object = None) -> None:
        m = check_inputs(m)
        if m > _LARGEST:
            raise Unsupported(
                f"m = {m}: {2**m - 2} variables in the user's model, at most {2**_LARGEST - 2} (m = {_LARGEST}); "
                "decision problems take the compact form (optimal) "
                "or the orbit form (optimal with a group)"
            )
        object.__setattr__(self, "m", m)
        object.__setattr__(self, "lam", _level(lam, eps0))

    @cached_property
    def staircase(self) -> Array:
        """Staircase matrix in doubles, shape ``(2**m - 2, m)``; row ``i`` is of the subset with bit mask ``i + 1``."""
        return 1 + (float(self.lam) - 1) * indicator_matrix(self.m)

    def variable(self) -> Any:
        """A non-negative cvxpy variable: the weight of every staircase column."""
        return cvxpy().Variable((1 << self.m) - 2, nonneg=True)

    def constraints(self, weights: Any) -> list[Any]:
        """The constraint that makes the weights a channel."""
        return [self.staircase.T @ weights == 1]

    def matrix(self, weights: Any) -> Any:
        """The channel as a cvxpy expression, one row per output and one column per input."""
        cp = cvxpy()
        return cp.multiply(self.staircase, cp.reshape(weights, (len(self.staircase), 1), order="C"))

    def channel(self, weights: Any) -> Channel:
        """The channel of a solved variable, in doubles."""
        found = np.asarray(weights.value)
        columns = [row * weight for row, weight in zip(self.staircase, found, strict=True) if weight > 1e-12]
        rows = np.array(columns).T / np.array(columns).sum(axis=0)[:, None]
        return Channel(tuple(map(tuple, rows.tolist())))

    def certified(self, problem: Any) -> CertifiedModel:
        """Solve a linear model to certified optimality; any other model is Unsupported.

        The model that cvxpy hands to the solver is read back, and the certificate proves the optimum of that rational
        program. A double is read as the decimal that it shows, if that has at most 12 digits; as a short multiple of
        ``lam``, a short ratio, or a sum of two such, if one is within 4 units in the last place; otherwise as its
        shortest decimal. ``posed`` of the answer encloses the optimum of all models within that distance of the
        coefficients of the last kind.

        As after ``problem.solve``, the problem has its value, its variables theirs, and every constraint its
        ``dual_value``, in doubles; ``duals`` of the answer are the same multipliers as rationals.
        """
        cp = cvxpy()
        if not problem.is_dcp() or problem.is_mixed_integer():
            raise Unsupported("the model is not convex by cvxpy's rules, or has integer variables: no certificate")
        try:
            with silent():
                data, chain, inverse = problem.get_problem_data(cp.HIGHS)
        except cp.error.SolverError as error:
            reason = str(error).splitlines()[0]
            raise Unsupported(f"the model is not a linear program ({reason}): no certificate") from None
        if data.get("P") is not None and data["P"].nnz:
            raise Unsupported("the model is quadratic, not linear: no certificate")
        rounded: dict[CoefficientPlace, Fraction] = {}
        read = partial(read_coefficient, self.lam, rounded)
        solution = solve(_program(data, read))
        _, offset, *_ = data["param_prob"].apply_parameters()
        constant, maximised = read(offset, None, None), isinstance(problem.objective, cp.Maximize)
        optimum = solution.value.lower + constant
        rows = _unpack(problem, chain, inverse, solution)
        value = -optimum if maximised else optimum
        sides = _sides(solution.program, rounded) if rounded else (None, None)
        return CertifiedModel(value, solution, constant, maximised, self.lam, rows, tuple(rounded.items()), *sides)

    def exact_channel(self, model: CertifiedModel) -> Channel:
        """Optimal channel over the rationals; the first variables of the model have to be the weights."""
        point = model.solution.primal()
        weights = {subset: point[i] for i, subset in enumerate(proper_subsets(self.m)) if point[i]}
        return MaximalPolytope(self.m, self.lam).channel(weights)


def _program(data: dict[str, Any], read: Callable[[float, int | None, int | None], Fraction]) -> LinearProgram:
    """The rational program behind the arrays that cvxpy prepared."""
    matrix = data["A"].tocsc()
    size = matrix.shape[1]
    columns: list[list[tuple[int, Fraction]]] = []
    for j in range(size):
        span = slice(matrix.indptr[j], matrix.indptr[j + 1])
        entries = zip(matrix.indices[span], matrix.data[span], strict=True)
        columns.append([(int(i), read(v, int(i), j)) for i, v in entries if v])
    senses = ["=="] * data["dims"].zero + ["<="] * data["dims"].nonneg
    rhs = [read(v, i, None) for i, v in enumerate(data["b"])]
    free = set(range(size))
    for bounds, sense in ((data.get("lower_bounds"), ">="), (data.get("upper_bounds"), "<=")):
        for j, bound in enumerate(bounds if bounds is not None else ()):
            if sense == ">=" and bound == 0:
                free.discard(j)
            elif np.isfinite(bound):
                rhs.append(read(bound, len(rhs), None))
                columns[j].append((len(rhs) - 1, Fraction(1)))
                senses.append(sense)
    costs = tuple(read(v, None, j) for j, v in enumerate(data["c"]))
    return LinearProgram(costs, tuple(map(tuple, columns)), tuple(senses), tuple(rhs), frozenset(free))


def _unpack(problem: Any, chain: Any, inverse: Any, solution: Solution) -> tuple[ConstraintRows, ...]:
    """Set primal and dual values of a cvxpy problem; return the rows of the program that belong to each constraint."""
    # cvxpy's inverse reductions map rows to constraints: they are applied to the row numbers, then to the duals.
    solver, kept = chain.reductions[-1], inverse[-1]
    rows = np.arange(sum(one.size for one in (*kept[solver.EQ_CONSTR], *kept[solver.NEQ_CONSTR])))
    dual = np.array([float(-y) for y in solution.certificate.dual])
    point = np.array([float(x) for x in solution.primal()])
    found = []
    for values in (rows, dual):
        duals, start = {}, 0
        for one in (*kept[solver.EQ_CONSTR], *kept[solver.NEQ_CONSTR]):
            part = values[start : start + one.size]
            duals[one.id] = part[0] if one.size == 1 else part
            start += one.size
        state: Any = cvxpy().settings
        solved = import_module("cvxpy.reductions.solution").Solution(
            state.OPTIMAL, float(solution.value.lower), {solver.VAR_ID: point}, duals, {}
        )
        for reduction, back in reversed(list(zip(chain.reductions[:-1], inverse[:-1], strict=True))):
            solved = reduction.invert(solved, back)
        found.append(solved)
    problem.unpack(found[1])
    return tuple(_nested(found[0].dual_vars.get(one.id)) for one in problem.constraints)


def _nested(rows: Any) -> ConstraintRows:
    """Return row numbers as nested tuples in the shape of a constraint."""
    return () if rows is None else _tuples(np.asarray(rows).tolist())


def _tuples(rows: Any) -> ConstraintRows:
    return tuple(map(_tuples, rows)) if isinstance(rows, list) else int(rows)


def _sides(
    program: LinearProgram, rounded: dict[CoefficientPlace, Fraction]
) -> tuple[Solution, Solution] | tuple[None, None]:
    """Solutions of the program with rows relaxed and tightened by the tolerances; None where there are none."""
    with suppress(NotDecided, SolverFailure):  # the tightened program may be infeasible
        if (sides := relaxed_programs(program, rounded)) is not None:
            return solve(sides[0]), solve(sides[1])
    return None, None


def _level(lam: object, eps0: object, *, bits: int = 100) -> Fraction:
    if lam is not None and eps0 is None:
        return check_lam(parse_rational(lam, "lam"))
    if lam is not None or eps0 is None:
        raise InputError("lam, eps0", listed(lam, eps0), "exactly one of the two")
    budget = parse_inside(eps0, "eps0", "(0, inf)")
    rounded = enclose(Exp(budget), bits).lower
    if rounded <= 1:
        raise InputError("eps0", eps0, f"a rational of at least 2**-{bits - 2}")
    return rounded


@final
@dataclass(frozen=True, slots=True, repr=False)
class CertifiedModel(AnswerMethods):
    """A linear model solved over the rationals: an answer with a proof.

    ``float`` returns the lower end, rounded down, of a maximum, and the upper end, rounded up, of a minimum.

    - ``value``: optimum of the rational program.
    - ``lam``: the level of the program; None if unknown.
    - ``rows``: rows of the program of each constraint of the model, in its shape.
    - ``tolerances``: row, column and tolerance of each coefficient that was read as a decimal of more than 12 digits;
      row None for costs, column None for right-hand sides.
    - ``relaxed``, ``tightened``: the program with rows relaxed and tightened by the tolerances; None where their effect
      is not enclosed: a coefficient of an equation, a variable without a bound, or no solution.
    """

    value: Fraction
    solution: Solution
    constant: Fraction
    maximised: bool
    lam: Fraction | None = None
    rows: tuple[ConstraintRows, ...] = ()
    tolerances: tuple[tuple[CoefficientPlace, Fraction], ...] = ()
    relaxed: Solution | None = None
    tightened: Solution | None = None

    @property
    def bracket(self) -> Bracket:
        """The optimum of the rational program."""
        return Bracket(self.value, self.value, "exact", "lp", self.solution.value.evaluation)

    @property
    def posed(self) -> Bracket | None:
        """Optimum of every model within 4 units in the last place of the rounded coefficients; None if not enclosed.

        It is ``bracket`` where all coefficients were recognised.
        """
        if not self.tolerances:
            return self.bracket
        sides = relaxed_programs(self.solution.program, dict(self.tolerances))
        if sides is None or self.relaxed is None or self.tightened is None:
            return None
        low = self.relaxed.value.lower - sides[2] + self.constant
        high = self.tightened.value.upper + sides[2] + self.constant
        ends = (-high, -low) if self.maximised else (low, high)
        evaluation = f"rows relaxed and tightened by {_ULPS_WORDS} of {len(self.tolerances)} coefficients"
        return Bracket(*ends, "exact", "lp", evaluation)

    @property
    def duals(self) -> tuple[Any, ...]:
        """Multipliers of the constraints of the model, in order and shape, as rationals in nested tuples.

        The signs are those of cvxpy's ``dual_value``: at least 0 for inequalities, also of a model that is maximised.
        """
        return tuple(self._multiplier(rows) for rows in self.rows)

    def _multiplier(self, rows: ConstraintRows) -> Any:
        if isinstance(rows, int):
            return -self.solution.certificate.dual[rows]
        return tuple(map(self._multiplier, rows))

    @property
    def about(self) -> str:
        """Which program was solved."""
        level = "" if self.lam is None else f", lam = {self.lam}"
        rounded = ""
        if self.tolerances:
            posed = self.posed
            effect = (
                "their effect is not enclosed"
                if posed is None
                else f"within {_ULPS_WORDS} of them the optimum moves by at most "
                f"{format_decimal(max(posed.upper - self.value, self.value - posed.lower), digits=2, up=True)}"
            )
            rounded = f"; {len(self.tolerances)} coefficients are decimals of doubles, {effect}"
        return f"optimum of a model over LDP channels{level}, {self.solution.program.describe()}{rounded}"

    @property
    def safe(self) -> SafeEnd:
        """The end that the solution attains."""
        return "lower" if self.maximised else "upper"

    @well_formed()
    def verify(self) -> None:
        """Check the solution of the rational program, and that the value is its optimum up to sign and constant."""
        with within("solution"):
            proved = self.solution.certificate.prove(self.solution.program).shifted(self.constant)
        if self.value != (-proved.upper if self.maximised else proved.lower) or proved.exact is None:
            raise CertificateError("value", f"{self.value} is claimed, the program proves {proved}")
        sides = relaxed_programs(self.solution.program, dict(self.tolerances)) or (None, None)
        for name, side, expected in (("relaxed", self.relaxed, sides[0]), ("tightened", self.tightened, sides[1])):
            if side is None:
                continue
            if side.program != expected:
                raise CertificateError(name, "expected the program that follows from the tolerances")
            with within(name):
                side.verify()
