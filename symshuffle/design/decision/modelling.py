"""Extremal channels as cvxpy variables: write any objective and constraints, get a certificate when they are linear."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from symshuffle.base.choices import Rigour
from symshuffle.base.doubles import Array
from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.base.lp import LinearProgram, Sense
from symshuffle.base.numbers import Exp, enclose, parse_rational
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd, well_formed, within
from symshuffle.base.solvers import cvxpy, silent
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope, check_inputs, check_lam, proper_subsets
from symshuffle.channels.geometry.linprog import Solution, solve
from symshuffle.design.decision.programs import indicator_matrix

_LARGEST = 12

_LEVEL_BITS = 100
"""Width of the rational enclosure of exp(eps0), in bits."""


@final
@dataclass(frozen=True, init=False)
class ExtremalChannel:
    """Maximal LDP channels on ``m`` inputs, as variables of a cvxpy model.

    Parameters
    ----------
    m : int
        Number of inputs, from 2 to 12.
    lam : Fraction
        ``exp(eps0)``, a rational above 1.
    eps0 : Fraction
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

    def __init__(self, m: int, *, lam: Fraction | int | None = None, eps0: Fraction | int | None = None) -> None:
        if check_inputs(m) > _LARGEST:
            raise Unsupported(
                f"m = {m}: {2**m - 2} variables in the user's model, at most {2**_LARGEST - 2} (m = {_LARGEST}); "
                "decision problems take the compact form (bayes_tradeoff, minimax_tradeoff) "
                "or the orbit form (orbit_tradeoff)"
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

        The model that cvxpy hands to the solver is read back: the double nearest to ``lam`` stands for ``lam`` itself,
        every other one for its shortest decimal form. The certificate proves the optimum of that rational program.
        """
        cp = cvxpy()
        if not problem.is_dcp() or problem.is_mixed_integer():
            raise Unsupported("the model is not convex by cvxpy's rules, or has integer variables: no certificate")
        try:
            with silent():
                data, _, _ = problem.get_problem_data(cp.HIGHS)
        except cp.error.SolverError as error:
            reason = str(error).splitlines()[0]
            raise Unsupported(f"the model is not a linear program ({reason}): no certificate") from None
        if data.get("P") is not None and data["P"].nnz:
            raise Unsupported("the model is quadratic, not linear: no certificate")
        solution = solve(self._program(data))
        _, offset, *_ = data["param_prob"].apply_parameters()
        constant, maximised = self._exact(offset), isinstance(problem.objective, cp.Maximize)
        optimum = solution.value.lower + constant
        return CertifiedModel(-optimum if maximised else optimum, solution, constant, maximised)

    def _program(self, data: dict[str, Any]) -> LinearProgram:
        """The rational program behind the arrays that cvxpy prepared."""
        matrix = data["A"].tocsc()
        size = matrix.shape[1]
        columns: list[list[tuple[int, Fraction]]] = []
        for j in range(size):
            span = slice(matrix.indptr[j], matrix.indptr[j + 1])
            entries = zip(matrix.indices[span], matrix.data[span], strict=True)
            columns.append([(int(i), self._exact(v)) for i, v in entries if v])
        senses = [Sense.EQ] * data["dims"].zero + [Sense.LE] * data["dims"].nonneg
        rhs = [self._exact(v) for v in data["b"]]
        free = set(range(size))
        for bounds, sense in ((data.get("lower_bounds"), Sense.GE), (data.get("upper_bounds"), Sense.LE)):
            for j, bound in enumerate(bounds if bounds is not None else ()):
                if sense is Sense.GE and bound == 0:
                    free.discard(j)
                elif np.isfinite(bound):
                    columns[j].append((len(rhs), Fraction(1)))
                    senses.append(sense)
                    rhs.append(self._exact(bound))
        costs = tuple(self._exact(v) for v in data["c"])
        return LinearProgram(costs, tuple(map(tuple, columns)), tuple(senses), tuple(rhs), frozenset(free))

    def _exact(self, value: float) -> Fraction:
        number = float(value)
        if not np.isfinite(number):
            raise InputError("coefficient", number, "a finite number")
        for sign in (1, -1):
            if number == sign * float(self.lam):
                return sign * self.lam
        return parse_rational(repr(number), "coefficient")

    def exact_channel(self, model: CertifiedModel) -> Channel:
        """Optimal channel over the rationals; the first variables of the model have to be the weights."""
        point = model.solution.primal()
        weights = {subset: point[i] for i, subset in enumerate(proper_subsets(self.m)) if point[i]}
        return MaximalPolytope(self.m, self.lam).channel(weights)


def _level(lam: Fraction | int | None, eps0: Fraction | int | None) -> Fraction:
    if lam is not None and eps0 is None:
        return check_lam(lam)
    if lam is not None or eps0 is None:
        raise InputError("lam, eps0", f"{lam}, {eps0}", "exactly one of the two")
    if isinstance(eps0, float) or not eps0 > 0:
        raise InputError("eps0", eps0, "a rational above 0")
    rounded = enclose(Exp(Fraction(eps0)), _LEVEL_BITS).lower
    if rounded <= 1:
        raise InputError("eps0", eps0, f"a rational of at least 2**-{_LEVEL_BITS - 2}")
    return rounded


@final
@dataclass(frozen=True, slots=True, repr=False)
class CertifiedModel(AnswerMethods):
    """A linear model solved over the rationals: a :class:`~symshuffle.base.results.Certified` answer."""

    value: Fraction
    solution: Solution
    constant: Fraction
    maximised: bool

    @property
    def bracket(self) -> Bracket:
        """The optimum of the model."""
        return Bracket(self.value, self.value, Rigour.EXACT, "lp", self.solution.value.how)

    @property
    def about(self) -> str:
        """Which program was solved."""
        return f"optimum of a model over LDP channels, {self.solution.program.describe()}"

    @property
    def safe(self) -> SafeEnd:
        """The end that the solution attains."""
        return SafeEnd.LOWER if self.maximised else SafeEnd.UPPER

    @well_formed()
    def verify(self) -> None:
        """Check the solution of the rational program, and that the value is its optimum up to sign and constant."""
        with within("solution"):
            proved = self.solution.certificate.prove(self.solution.program).shifted(self.constant)
        if self.value != (-proved.upper if self.maximised else proved.lower) or proved.exact is None:
            raise CertificateError("value", f"{self.value} is claimed, the program proves {proved}")
