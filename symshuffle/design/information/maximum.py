"""The largest value of an information measure over all LDP channels, with a certificate.

The maximum is a linear program over the weights of staircase columns (ldp_tradeoff, Remarks 3.8 and 3.11). Rational
measures are solved over the rationals. A logarithmic one is bracketed: the primal vertex is exact and its value is a
ball; a rational dual vector is raised until balls show it to dominate every staircase column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint
import numpy as np

from symshuffle.base.choices import SafeEnd
from symshuffle.base.errors import CertificateError, InputError, NotDecided, Unsupported
from symshuffle.base.levels import takes_eps0
from symshuffle.base.lp import Certificate, LinearProgram
from symshuffle.base.numbers import Ball, Exp, format_decimal, to_arb, working_precision
from symshuffle.base.results import AnswerMethods, Bracket, ValueMethods, check_claim, well_formed, within
from symshuffle.base.solvers import linprog
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope, check_inputs, check_lam, staircase_row
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.channels.geometry.linprog import certificate_of_basis, few_enough, optimal_vectors, solve
from symshuffle.channels.geometry.subset_orbits import SubsetOrbit
from symshuffle.design.decision.certificate import REL, check_around, levels_around, narrowed
from symshuffle.design.decision.designs import MOST_OUTPUTS
from symshuffle.design.decision.invariant import spread_over
from symshuffle.design.information.measures import (
    COLUMN_BITS,
    PRECISIONS,
    Column,
    Measure,
    check_exchangeable,
    check_homogeneous,
    columns_up_to,
    enclosed,
)

ENUMERATION_LIMIT: Final = 14
"""Largest number of inputs for which every staircase column is certified."""

ORBIT_COLUMNS: Final = 1 << 16
"""Most orbits of subsets whose columns are certified under a group."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class MeasureDesign(ValueMethods):
    r"""The largest value of a measure over all LDP channels; the channel attains the safe lower end.

    ``float`` returns the lower end, rounded down.

    - ``lam``: level of the channel; at ``exp(eps0)`` a rational just below it.
    - ``bound``: a vector ``u`` with :math:`\varphi(S_y) \le u \cdot S_y` for every subset; its sum is the upper end.
    - ``bound_lam``: level of the bound where it is not that of the channel.
    - ``level``: the level asked for; None for ``lam`` itself.
    """

    safe: ClassVar[SafeEnd] = "lower"
    measure: Measure
    lam: Fraction
    weights: dict[int, Fraction]
    bound: tuple[Fraction, ...]
    value: Bracket
    group: SymmetryGroup | None = None
    bound_lam: Fraction | None = None
    level: Fraction | Exp | None = None

    @property
    def about(self) -> str:
        """What the number is the largest of."""
        level = self.lam if self.level is None else self.level
        return (
            f"largest {self.measure.name} over all LDP channels with {self.measure.num_inputs} inputs at lam = {level}"
        )

    @well_formed()
    def verify(self) -> None:
        """Check weights and bound on every staircase column, from the measure and the level alone."""
        m = self.measure.num_inputs
        with within("measure"):
            check_homogeneous(self.measure)
        if self.group is None and m > ENUMERATION_LIMIT:
            raise CertificateError("group", f"without symmetry {m} inputs have too many columns to check")
        if self.group is not None:
            with within("group"):
                check_exchangeable(self.measure, self.group)
        if not self.lam > 1:
            raise CertificateError("lam", f"{self.lam} is no level above 1")
        bound_lam = self.lam if self.bound_lam is None else self.bound_lam
        level = self.lam if self.level is None else self.level
        levels = [bound_lam, self.lam] if isinstance(level, Exp) else sorted({bound_lam, self.lam})
        arithmetic = check_around(level, levels, "lam")
        attained = self._attained(self.value.lower)
        self._check_bound(bound_lam)
        if self.measure.rational is None:
            arithmetic = "ball"
        bound = max(attained, sum(self.bound, start=Fraction(0)))
        check_claim(self.value, Bracket(attained, bound, arithmetic, "lp", "weights and bound"), "value")

    def _attained(self, claimed: Fraction) -> Fraction:
        """What the channel attains at least, after checking that it is one; as precisely as a claim needs it."""
        m = self.measure.num_inputs
        blocks, orbits = columns_up_to(m, self.group)
        known = {orbit.representative: orbit for orbit in orbits}
        for subset, weight in self.weights.items():
            if subset not in known:
                raise CertificateError("weights", f"{subset} is no subset that was to be weighed")
            if not isinstance(weight, Fraction) or weight < 0:
                raise CertificateError("weights", f"{weight} is no rational of at least 0")
        for i, block in enumerate(blocks):
            total = sum((w * known[y].column_sum(i, self.lam) for y, w in self.weights.items()), start=Fraction(0))
            if total != 1:
                raise CertificateError("weights", f"the probabilities of inputs {block} sum to {total}")
        attained = Fraction(0)
        for bits in PRECISIONS:
            ends = [enclosed(self.measure, staircase_row(y, m, self.lam), bits).lower for y in self.weights]
            sizes = [weight * known[y].size for y, weight in self.weights.items()]
            attained = dot(sizes, ends)
            if attained >= claimed:
                break
        return attained

    def _check_bound(self, lam: Fraction) -> None:
        """Refuse a bound that is not above every staircase column."""
        m = self.measure.num_inputs
        blocks, orbits = columns_up_to(m, self.group)
        if len(self.bound) != m:
            raise CertificateError("bound", f"{len(self.bound)} entries for {m} inputs")
        if any(self.bound[x] != self.bound[block[0]] for block in blocks for x in block):
            raise CertificateError("bound", "it differs at exchangeable inputs, where only one of them is checked")
        for orbit in orbits:
            column = staircase_row(orbit.representative, m, lam)
            limit = dot(self.bound, column)
            for bits in PRECISIONS:
                value = enclosed(self.measure, column, bits)
                if value.upper <= limit or value.lower > limit:
                    break
            if value.upper > limit:
                inputs = ", ".join(str(x) for x in range(m) if orbit.representative >> x & 1)
                short = format_decimal(value.upper - limit, digits=2, up=True)
                raise CertificateError("bound", f"below the measure at the column of inputs {{{inputs}}} by {short}")

    def to_dict(self) -> dict[str, Any]:
        """The answer with its certificate."""
        return AnswerMethods.to_dict(self) | {"certificate": self.to_json()}

    def num_outputs(self) -> int:
        """Number of outputs of the optimal channel."""
        if self.group is None:
            return len(self.weights)
        return sum(orbit.size for orbit in self.group.subset_orbits() if orbit.representative in self.weights)

    def channel(self) -> Channel:
        """The optimal channel."""
        if self.num_outputs() > MOST_OUTPUTS:
            raise Unsupported(f"the channel has {self.num_outputs()} outputs; its orbit weights describe it")
        weights = self.weights
        if self.group is not None:
            weights = {y: w for subset, w in weights.items() for y in self.group.orbit_of(subset)}
        return MaximalPolytope(self.measure.num_inputs, self.lam).channel(weights)

    def to_json(self) -> dict[str, Any]:
        """The certificate in a form that ``json.dumps`` accepts; rationals are strings."""
        weights = [{"subset": subset, "weight": str(weight)} for subset, weight in sorted(self.weights.items())]
        bound_lam = str(self.lam if self.bound_lam is None else self.bound_lam)
        return {
            "lam": str(self.lam),
            "weights": weights,
            "bound_lam": bound_lam,
            "bound": [str(u) for u in self.bound],
        }


@takes_eps0()
def maximise(
    measure: Measure, lam: Fraction | int | Exp, *, group: SymmetryGroup | None = None, rtol: float = REL
) -> MeasureDesign:
    """Largest value of an information measure over all eps0-LDP channels.

    Parameters
    ----------
    measure : Measure
        A measure of :mod:`symshuffle.design.information.measures`, or one of your own.
    lam : number, text or Exp
        ``exp(eps0)``, above 1.
    group : SymmetryGroup, optional
        Permutations of exchangeable inputs, such as ``measure.symmetry()``: one column per orbit of subsets.
    rtol : float
        Relative width of the bracket; ``value.aimed`` says where it is missed.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    MeasureDesign
        The value as a bracket, a channel that attains its lower end, and the certificates.

    Raises
    ------
    InputError
        If the level is not above 1, the measure is not homogeneous of degree one on a test column, or the group moves
        inputs on which the data of the measure differ.
    Unsupported
        For more than 14 inputs without a group, or more than 65 536 orbits with one, where not every column can be
        certified one by one.

    Notes
    -----
    At ``Exp(eps0)`` the value lies between the maxima at two rational levels around it: it increases with the level.

    Examples
    --------
    >>> from symshuffle.design.information.measures import mutual_information
    >>> found = maximise(mutual_information([Fraction(1, 2), Fraction(1, 2)]), 3)
    >>> round(float(found.value.lower), 4)
    0.1308
    """
    m = check_inputs(measure.num_inputs)
    if m > ENUMERATION_LIMIT and group is None:
        raise Unsupported(
            f"m = {m}: {2**m - 2} staircase columns would be certified one by one; reduce by the symmetry of the "
            f"measure (group=measure.symmetry()), or use at most {ENUMERATION_LIMIT} inputs"
        )
    if group is not None and (count := group.subset_orbit_count()).number > ORBIT_COLUMNS:
        raise Unsupported(
            f"m = {m}: {count} orbits of columns would be certified one by one, at most {ORBIT_COLUMNS}; "
            "merge inputs with nearly equal data so that more of them are exchangeable"
        )
    check_homogeneous(measure)
    if group is not None:
        check_exchangeable(measure, group)
    if not isinstance(lam, Exp):
        level = check_lam(lam)
        return narrowed(lambda bits: _maximise_at(measure, level, group, bits), rtol, PRECISIONS)
    return narrowed(lambda bits: _maximise_around(measure, lam, group, bits), rtol, PRECISIONS)


def _maximise_around(measure: Measure, lam: Exp, group: SymmetryGroup | None, bits: int) -> MeasureDesign:
    """The channel at a rational level below, the bound at one above: the maximum increases with the level."""
    share = bits * 5 // 8
    upper, lower = (_maximise_at(measure, level, group, bits) for level in levels_around(lam, share))
    evaluation = (
        f"maxima at two rational levels around exp({lam.exponent}), {share} bits; the maximum increases with the level"
    )
    value = Bracket(lower.value.lower, upper.value.upper, "ball", "lp", evaluation)
    return replace(lower, bound=upper.bound, value=value, bound_lam=upper.lam, level=lam)


def _maximise_at(measure: Measure, lam: Fraction, group: SymmetryGroup | None, bits: int) -> MeasureDesign:
    """The maximum at a rational level: exact where the measure is rational, otherwise in balls of so many bits."""
    reduced = _Reduced.of(measure, lam, group)
    if measure.rational is not None:
        solution = solve(reduced.program([measure.rational(column) for column in reduced.columns]))
        certificate, bound = solution.certificate, reduced.spread(solution.certificate.dual)
        value = Bracket(-solution.value.upper, -solution.value.lower, "exact", "lp", solution.value.evaluation)
    else:
        with working_precision(bits):
            certificate, bound, value = enclosed_maximum(measure, reduced, bits)
    return MeasureDesign(measure, lam, reduced.weigh(certificate.primal), bound, value, group)


@final
@dataclass(frozen=True, slots=True)
class _Reduced:
    """The linear program under a group: one column per orbit of subsets, one row per orbit (``blocks``) of inputs.

    A variable is the total weight of an orbit of subsets; without a group every orbit is a single subset or input.

    - ``rows``: by orbit of subsets, what one unit of its total weight adds to an input of each orbit of inputs.
    """

    m: int
    lam: Fraction
    blocks: tuple[tuple[int, ...], ...]
    orbits: list[SubsetOrbit]
    columns: list[Vector]
    rows: list[Vector]

    @classmethod
    def of(cls, measure: Measure, lam: Fraction, group: SymmetryGroup | None) -> _Reduced:
        """The columns that compete for a measure."""
        m = measure.num_inputs
        blocks, orbits = columns_up_to(m, group)
        columns = [staircase_row(o.representative, m, lam) for o in orbits]
        rows = [tuple(o.column_sum(i, lam) / o.size for i in range(len(blocks))) for o in orbits]
        return cls(m, lam, blocks, orbits, columns, rows)

    def program(self, gains: Sequence[Fraction]) -> LinearProgram:
        """Maximise the gains (minimise their negatives) with the probabilities of every input summing to 1."""
        entries = tuple(tuple(enumerate(row)) for row in self.rows)
        count = len(self.blocks)
        return LinearProgram(tuple(-gain for gain in gains), entries, ("==",) * count, (Fraction(1),) * count)

    def spread(self, dual: Sequence[Fraction]) -> Vector:
        """The vector u over the inputs: the negated multiplier of an orbit, shared equally by its inputs."""
        return spread_over(self.blocks, [-y for y in dual], self.m)

    def weigh(self, primal: Sequence[tuple[int, Fraction]]) -> dict[int, Fraction]:
        """The weight of every subset of an orbit, by its representative."""
        return {self.orbits[j].representative: mass / self.orbits[j].size for j, mass in primal}


def enclosed_maximum(measure: Measure, reduced: _Reduced, bits: int) -> tuple[Certificate, Vector, Bracket]:
    """An optimal vertex, a vector above every column, and the bracket between their values.

    The program is solved over the rationals at the midpoints of the balls. Its vertex is feasible whatever the true
    gains are, so that its value is a lower end; its dual vector is raised until it is certainly above every column.
    """
    gains = [measure.column_ball(column) for column in reduced.columns]
    strange = next((o.representative for o, v in zip(reduced.orbits, gains, strict=True) if not v.is_finite()), None)
    if strange is not None:
        raise InputError("measure", measure.name, f"a finite value on the staircase column of subset {strange}")
    flat = measure.column_ball((Fraction(1),) * reduced.m)
    flat = flat if flat.is_finite() else flint.arb(0)
    program = reduced.program([Ball.from_arb(gain, bits).midpoint for gain in gains])
    basis = _float_basis(reduced.rows, [gain - flat for gain in gains], flat, reduced.lam)
    found = (
        optimal_vectors(program, basis)[0]
        if few_enough(program)  # for pivots over the rationals
        else certificate_of_basis(program, basis, range(program.num_rows))
    )
    if found is None or any(value < 0 for _, value in found.primal):
        raise NotDecided(f"the basis proposed for {measure.name} is not feasible over the rationals")
    attained = sum((to_arb(mass) * gains[j] for j, mass in found.primal), start=flint.arb(0))
    bound = reduced.spread(found.dual)
    limits = (to_arb(dot(bound, column)) for column in reduced.columns)
    excess = (Ball.from_arb(gain - limit).upper for gain, limit in zip(gains, limits, strict=True))
    # Raising every entry of u by s raises u . S_y by at least s * m, since no entry of a column is below 1.
    raised = max(Fraction(0), *excess) / len(bound)
    bound = tuple(u + raised for u in bound)
    lower = Ball.from_arb(attained, bits).lower
    evaluation = f"an exact vertex with its value as a ball; a vector that dominates all {len(gains)} kinds of columns"
    value = Bracket(lower, max(lower, sum(bound, start=Fraction(0))), "ball", "lp", evaluation)
    return found, bound, value


def _float_basis(columns: Sequence[Column], gains: Sequence[Any], flat: Any, lam: Fraction) -> list[int]:
    """A full basis around the support of a floating-point optimum; empty where the solver has none.

    Columns are ``1 + (lam - 1) g``. With the common value ``K`` of the sums of ``c g`` as a variable, the rows
    ``c . g = K`` and ``sum(c) + (lam - 1) K = 1`` say the same, and no two of them become parallel as ``lam`` goes
    to 1. Gains are what columns are worth beyond the constant column, which is worth ``flat``.
    """
    step = lam - 1
    inside = np.array([[float((v - 1) / step) for v in column] for column in columns])
    m = inside.shape[1]
    matrix = np.c_[inside, np.ones(len(columns))]
    scale = max((abs(float(gain)) for gain in gains), default=0.0) or 1.0
    worth = np.array([float(gain) / scale for gain in gains])
    common = np.r_[-np.ones(m), float(step)]
    found = linprog(
        np.r_[-worth, float(flat * to_arb(step)) / scale],
        A_eq=np.c_[matrix.T, common],
        b_eq=np.r_[np.zeros(m), 1.0],
        method="highs-ds",
    )
    if found.status != 0:
        return []
    reduced = matrix @ -found.eqlin.marginals - worth
    order = sorted(range(len(columns)), key=lambda j: (found.x[j] <= 1e-11, abs(reduced[j]), j))
    basis: list[int] = []
    for j in order:
        if np.linalg.matrix_rank(np.vstack([common, matrix[[*basis, j]]]), tol=1e-9) == len(basis) + 2:
            basis.append(j)
        if len(basis) == m:
            break
    return basis


def renyi_divergence(design: MeasureDesign, alpha: Fraction) -> Bracket:
    """The largest Renyi divergence of order ``alpha``, from the largest Renyi power."""
    with working_precision(COLUMN_BITS):
        ends = [to_arb(end).log() / to_arb(alpha - 1) for end in (design.value.lower, design.value.upper)]
        lower, upper = Ball.from_arb(ends[0], COLUMN_BITS).lower, Ball.from_arb(ends[1], COLUMN_BITS).upper
    return Bracket(lower, upper, "ball", "lp", design.value.evaluation)
