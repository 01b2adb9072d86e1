"""Trade-offs reduced by symmetry: one weight per orbit of subsets, and a certificate that is checked without orbits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from symshuffle.channel import Channel
from symshuffle.design.certificate import worst_columns
from symshuffle.design.problems import DecisionProblem, Matrix
from symshuffle.design.programs import Array
from symshuffle.design.symmetries import check_symmetry, is_transitive_on_parameters
from symshuffle.errors import InputError, SolverFailure, Unsupported
from symshuffle.geometry.extremal import check_lam, mask
from symshuffle.geometry.linprog import solve
from symshuffle.geometry.symmetry import SubsetOrbit, SymmetryGroup
from symshuffle.lp import LinearProgram, Sense
from symshuffle.numbers import Exp, enclose
from symshuffle.results import Bracket, Rigour

_CHUNK: Final = 8192
_MAX_OUTPUTS: Final = 4096


@final
@dataclass(frozen=True, slots=True)
class OrbitDesign:
    """An optimal invariant channel: weights on orbits of subsets.

    Parameters
    ----------
    problem : DecisionProblem
        What was solved, with the prior that was used.
    group : SymmetryGroup
        Its symmetries.
    lam : Fraction
        Level of the channel.
    weights : tuple of (SubsetOrbit, Fraction)
        Weight of every subset in an orbit.
    bound : tuple of Fraction
        The dual vector, one entry per input, constant on orbits of inputs.
    value : Bracket
        The optimal risk over all LDP channels, invariant or not.
    proposed : float
        What the floating-point solver said.
    num_orbits : int
        Number of columns of the reduced program.
    """

    problem: DecisionProblem
    group: SymmetryGroup
    lam: Fraction
    weights: tuple[tuple[SubsetOrbit, Fraction], ...]
    bound: tuple[Fraction, ...]
    value: Bracket
    proposed: float
    num_orbits: int

    def verify(self) -> Bracket:
        """Check the weights and the bound again, in rational arithmetic, against the problem itself."""
        costs = self.problem.posterior_costs(self.problem.required_prior())
        for i in range(len(self.group.input_orbits())):
            total = sum((w * orbit.column_sum(i, self.lam) for orbit, w in self.weights), start=Fraction(0))
            if total != 1:
                raise InputError("weights", f"column sum {total} at input orbit {i}", "column sums of 1")
        if any(w < 0 for _, w in self.weights):
            raise InputError("weights", "a negative weight", "non-negative weights")
        for a, (slack, _) in enumerate(worst_columns(costs, self.bound, self.lam)):
            if slack < 0:
                raise InputError("bound", f"action {a} by {slack}", "a bound that holds for every LDP column")
        upper = Fraction(0)
        for orbit, weight in self.weights:
            upper += weight * orbit.size * _cost(costs, orbit.representative, self.lam)
        how = f"weights on {len(self.weights)} of {self.num_orbits} orbits; a linear bound for every LDP channel"
        return Bracket(sum(self.bound, start=Fraction(0)), upper, Rigour.EXACT, "orbit lp", how)

    def channel(self) -> Channel:
        """The channel itself, one output per subset.

        Raises
        ------
        Unsupported
            If it has more than 4096 outputs.
        """
        outputs = sum(orbit.size for orbit, _ in self.weights)
        if outputs > _MAX_OUTPUTS:
            raise Unsupported(f"the channel has {outputs} outputs; its orbit weights describe it")
        columns = [
            tuple(weight * (self.lam if y >> x & 1 else 1) for x in range(self.group.m))
            for orbit, weight in self.weights
            for y in sorted(self.group.orbit_of(orbit.representative))
        ]
        return Channel(tuple(zip(*columns, strict=True)))

    def to_json(self) -> dict[str, Any]:
        """The certificate in a form that ``json.dumps`` accepts; rationals are strings."""
        return {
            "lam": str(self.lam),
            "prior": [str(p) for p in self.problem.required_prior()],
            "orbits": [
                {
                    "representative": [x for x in range(self.group.m) if orbit.representative >> x & 1],
                    "size": str(orbit.size),
                    "weight": str(weight),
                }
                for orbit, weight in self.weights
            ],
            "bound": [str(u) for u in self.bound],
        }


def orbit_tradeoff(
    problem: DecisionProblem, lam: Fraction | int, group: SymmetryGroup, *, minimax: bool = False
) -> OrbitDesign:
    """The optimal trade-off over all LDP channels, from a program with one weight per orbit of subsets.

    Parameters
    ----------
    problem : DecisionProblem
        With a prior, unless ``minimax``.
    lam : Fraction
        ``exp(eps0)``, a rational above 1.
    group : SymmetryGroup
        Symmetries of the problem; they are checked.
    minimax : bool
        Minimise the worst case instead. The group then has to move every parameter to every other one: the uniform
        prior is least favourable, being the only invariant one.

    Notes
    -----
    ldp_tradeoff, equation (27) and Remark 3.16.
    """
    level = check_lam(lam)
    if minimax:
        check_symmetry(problem, group, minimax=True)
        if not is_transitive_on_parameters(problem, group):
            raise Unsupported("the minimax program reduces to orbits only if the group is transitive on parameters")
        problem = problem.with_prior((Fraction(1, problem.num_parameters),) * problem.num_parameters)
    costs = problem.posterior_costs(problem.required_prior())
    check_symmetry(problem, group, costs=costs)
    orbits = list(group.subset_orbits())
    chosen, proposed = _propose(costs, level, group, orbits)
    inputs = group.input_orbits()
    where = {x: i for i, block in enumerate(inputs) for x in block}
    by_counts = {
        tuple(r * len(block) // orbit.size for r, block in zip(orbit.incidences, inputs, strict=True)): orbit
        for orbit in orbits
        if group.blocks
    }
    while True:
        columns = [tuple((i, orbit.column_sum(i, level) / orbit.size) for i in range(len(inputs))) for orbit in chosen]
        program = LinearProgram(
            tuple(_cost(costs, orbit.representative, level) for orbit in chosen),
            tuple(columns),
            (Sense.EQ,) * len(inputs),
            (Fraction(1),) * len(inputs),
        )
        solution = solve(program)
        # An input orbit of size s shares its multiplier equally among its inputs.
        bound = tuple(solution.certificate.dual[where[x]] / len(inputs[where[x]]) for x in range(group.m))
        known = {orbit.representative for orbit in chosen}
        fresh = []
        for subset in _violated(costs, bound, level):
            orbit = by_counts.get(_counts(group, subset)) if group.blocks else _find(orbits, group, subset)
            if orbit is not None and orbit.representative not in known:
                known.add(orbit.representative)
                fresh.append(orbit)
        if not fresh:
            break
        chosen += fresh
    weights = tuple((chosen[j], mass / chosen[j].size) for j, mass in solution.certificate.primal)
    design = OrbitDesign(problem, group, level, weights, bound, solution.value, proposed, len(orbits))
    return replace(design, value=design.verify())


def orbit_tradeoff_at(
    problem: DecisionProblem, lam: Fraction | int | Exp, group: SymmetryGroup, *, minimax: bool = False
) -> tuple[Bracket, tuple[OrbitDesign, ...]]:
    """The same at ``exp(eps0)`` too: two designs at rational levels around it bracket the value."""
    if not isinstance(lam, Exp):
        design = orbit_tradeoff(problem, lam, group, minimax=minimax)
        return design.value, (design,)
    if lam.exponent <= 0:
        raise InputError("eps0", lam.exponent, "a number above 0")
    ball = enclose(lam, 100)
    designs = tuple(orbit_tradeoff(problem, level, group, minimax=minimax) for level in (ball.upper, ball.lower))
    how = f"certificates at two rational levels around exp({lam.exponent}); the risk decreases in lam"
    return Bracket(designs[0].value.lower, designs[1].value.upper, Rigour.BALL, "orbit lp", how), designs


def _counts(group: SymmetryGroup, subset: int) -> tuple[int, ...]:
    """For a product of symmetric groups, how many inputs of every block belong to the subset."""
    return tuple(sum(subset >> x & 1 for x in block) for block in group.blocks or ())


def _find(orbits: Sequence[SubsetOrbit], group: SymmetryGroup, subset: int) -> SubsetOrbit | None:
    images = group.orbit_of(subset)
    return next((orbit for orbit in orbits if orbit.representative in images), None)


def _cost(costs: Matrix, subset: int, lam: Fraction) -> Fraction:
    """The cost of one staircase column under its best action."""
    inside = [x for x in range(len(costs[0])) if subset >> x & 1]
    scale = math.lcm(*{v.denominator for row in costs for v in row})
    options = []
    for row in costs:
        integers = [h.numerator * (scale // h.denominator) for h in row]
        options.append(sum(integers) + (lam - 1) * sum(integers[x] for x in inside))
    return min(options) / scale


def _violated(costs: Matrix, bound: Sequence[Fraction], lam: Fraction) -> Iterator[int]:
    for slack, chosen in worst_columns(costs, bound, lam):
        if slack < 0 and 0 < len(chosen) < len(bound):
            yield mask(chosen)


def _propose(
    exact: Matrix, lam: Fraction, group: SymmetryGroup, orbits: Sequence[SubsetOrbit]
) -> tuple[list[SubsetOrbit], float]:
    """The support of the floating-point optimum, and its value; masses of orbits are the variables."""
    from scipy.optimize import linprog

    costs = np.array([[float(v) for v in row] for row in exact])
    level, flat = float(lam), costs.sum(axis=1)
    values = np.empty(len(orbits))
    for start in range(0, len(orbits), _CHUNK):
        inside = _indicators([orbit.representative for orbit in orbits[start : start + _CHUNK]], group.m)
        values[start : start + _CHUNK] = (flat + (level - 1) * (inside @ costs.T)).min(axis=1)
    shares = np.array([[r / orbit.size for r in orbit.incidences] for orbit in orbits])
    found = linprog(values, A_eq=1 + (level - 1) * shares.T, b_eq=np.ones(shares.shape[1]), method="highs-ds")
    if found.status != 0:
        raise SolverFailure("HiGHS", str(found.message), f"the program over {len(orbits)} orbits")
    support = np.flatnonzero(found.x > 1e-10)
    return [orbits[int(j)] for j in support], float(found.fun)


def _indicators(subsets: Sequence[int], m: int) -> Array:
    width = (m + 7) // 8
    packed = np.frombuffer(b"".join(subset.to_bytes(width, "little") for subset in subsets), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(len(subsets), width), axis=1, bitorder="little")
    return bits[:, :m].astype(float)
