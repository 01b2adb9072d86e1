r"""What proves an optimal trade-off: a channel with its rule on one side, a linear bound on every channel on the other.

Let :math:`h_{a,x} = \sum_\theta \pi_\theta \ell(\theta,a) P(x|\theta)`. If a vector ``u`` satisfies
:math:`\sum_x v_x (h_{a,x} - u_x) \ge 0` for every action and every ``v`` of the LDP cone, then *every* LDP channel,
with any number of outputs and any rule, has Bayes risk at least :math:`\sum_x u_x` under the prior
:math:`\pi`, hence worst-case risk at least that. The condition needs no list of subsets: the most negative ``v`` takes
``lam`` exactly where :math:`h_{a,x} < u_x`, so it reads
:math:`\sum_x (h_{a,x}-u_x) + (\lambda-1) \sum_x \min(0, h_{a,x}-u_x) \ge 0`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeVar, final

from symshuffle.base.choices import Arithmetic, Criterion, choice
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.numbers import Exp, as_width, enclose, parse_rational
from symshuffle.base.results import Bracket, well_formed
from symshuffle.channels.geometry.extremal import mask
from symshuffle.channels.geometry.linear import dot
from symshuffle.design.decision.problems import Problem

Solved = TypeVar("Solved", bound=Any)
"""A design, as a dataclass, whose optimum lies in the bracket ``value``."""

REL: Final = 1e-20
"""Relative width of a bracket where the caller names none."""


def narrowed(solve_at: Callable[[int], Solved], rtol: float, precisions: Sequence[int]) -> Solved:
    """Solve with more and more bits until the bracket is as narrow as asked; the last one says where it is not."""
    rtol = as_width(rtol)
    for bits in precisions:
        found = solve_at(bits)
        if found.value.width <= Fraction(rtol) * abs(found.value.upper):
            return found
        if found.value.arithmetic == "exact":
            break  # rational ends with a gap, which more bits do not close
    return replace(found, value=replace(found.value, aimed=rtol))


RISKS: Final[Mapping[Criterion, str]] = {"bayes": "Bayes", "minimax": "worst-case"}
"""The risk that is minimised, in words."""

LEVELS: Final = (100, 200, 400, 800)
"""Widths of the rational enclosure of exp(eps0), in bits, until a bracket is narrow enough."""

_LEVEL_BITS: Final = 2048
"""Binary digits at which exp(eps0) is compared with the rational levels around it, which have at most 1280."""


@final
@dataclass(frozen=True, slots=True)
class TradeoffCertificate:
    """Certificate for a bracket on the optimal risk over all LDP channels.

    It can be checked in rational arithmetic without a solver.

    Parameters
    ----------
    lam : Fraction
        Privacy level, above 1.
    prior : tuple of Fraction
        The prior of a Bayes problem; for a minimax problem, the least favourable one.
    rows : tuple of tuple of Fraction
        Shape ``(actions, inputs)``: the probability that an input leads to each action, through a channel that
        publishes nothing but the action.
    bound : tuple of Fraction
        The vector ``u``, one entry per input.
    criterion : Criterion
        Whether the average under ``prior`` is meant, or the worst case over parameters.
    """

    lam: Fraction
    prior: tuple[Fraction, ...]
    rows: tuple[tuple[Fraction, ...], ...]
    bound: tuple[Fraction, ...]
    criterion: Criterion

    @well_formed()
    def verify(self, problem: Problem) -> None:
        """Check every condition against the problem, in rational arithmetic.

        A CertificateError is at ``lam``, ``criterion``, ``prior``, ``rows`` or ``rows[a]`` of an action, or ``bound``.
        """
        m, actions = problem.num_inputs, problem.num_actions
        if not self.lam > 1:
            raise CertificateError("lam", f"{self.lam} is no level above 1")
        if self.criterion not in tuple(RISKS):
            raise CertificateError("criterion", f"{self.criterion!r} is none")
        if self.criterion == "bayes" and self.prior != problem.prior:
            raise CertificateError("prior", "it is not the one of the problem")
        if len(self.prior) != problem.num_parameters:
            raise CertificateError("prior", f"{len(self.prior)} entries for {problem.num_parameters} parameters")
        if min(self.prior) < 0:
            raise CertificateError("prior", f"an entry {min(self.prior)} < 0")
        if sum(self.prior) != 1:
            raise CertificateError("prior", f"the entries sum to {sum(self.prior)}")
        if len(self.rows) != actions or any(len(row) != m for row in self.rows):
            raise CertificateError("rows", f"their shape does not fit {actions} actions and {m} inputs")
        for a, row in enumerate(self.rows):
            # A negative entry fails here too: the largest entry is then above lam times the smallest.
            if max(row) > self.lam * min(row):
                raise CertificateError(f"rows[{a}]", f"the likelihood ratio of action {a} exceeds lam = {self.lam}")
        for x in range(m):
            if (total := sum(row[x] for row in self.rows)) != 1:
                raise CertificateError("rows", f"the probabilities of input {x} do not sum to 1 but to {total}")
        if len(self.bound) != m:
            raise CertificateError("bound", f"{len(self.bound)} entries for {m} inputs")
        check_bound(problem.posterior_costs(self.prior), self.bound, self.lam)

    def prove(self, problem: Problem) -> Bracket:
        """Check every condition, and return the bracket that is proved."""
        self.verify(problem)
        risks = problem.action_risks(self.rows)
        upper = max(risks) if self.criterion == "minimax" else dot(self.prior, risks)
        lower = sum(self.bound, start=Fraction(0))
        evaluation = f"a channel attains the upper end; a linear bound holds for every LDP channel at lam = {self.lam}"
        if lower < upper:
            evaluation = f"weak duality over the rationals, gap {float(upper - lower):.1e}: {evaluation}"
        return Bracket(lower, upper, "exact", "lp", evaluation)

    def to_json(self) -> dict[str, Any]:
        """A form that ``json.dumps`` accepts; rationals are strings."""
        return {
            "lam": str(self.lam),
            "criterion": self.criterion,
            "prior": [str(p) for p in self.prior],
            "rows": [[str(v) for v in row] for row in self.rows],
            "bound": [str(u) for u in self.bound],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TradeoffCertificate:
        """Read the form that :meth:`to_json` wrote."""

        def read(values: Sequence[str], name: str) -> tuple[Fraction, ...]:
            return tuple(parse_rational(value, name) for value in values)

        return cls(
            parse_rational(data["lam"], "lam"),
            read(data["prior"], "prior"),
            tuple(read(row, "rows") for row in data["rows"]),
            read(data["bound"], "bound"),
            choice(Criterion, data["criterion"], "criterion"),
        )


def levels_around(level: Exp, bits: int) -> tuple[Fraction, Fraction]:
    """Rational levels above and below an irrational one, both above 1."""
    if level.exponent <= 0:
        raise InputError("eps0", level.exponent, "a number above 0")
    return _ends(level, bits)


def _ends(level: Exp, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals above and below; next to 1, which a ball does not tell from the level, the tangent is below it."""
    ball = enclose(level, bits)
    return ball.upper, max(ball.lower, 1 + level.exponent)


def check_around(level: Fraction | Exp, levels: Sequence[Fraction], place: str) -> Arithmetic:
    """Refuse rational levels from which nothing follows at the level asked for; the arithmetic of what follows.

    Lower bounds hold for all smaller levels, channels remain LDP at all larger ones. So the level itself is as good as
    ``(above, below)``, a bound from above the level and a channel from below it.
    """
    if isinstance(level, Exp):
        above, below = _ends(level, _LEVEL_BITS)
        if len(levels) != 2 or not (levels[0] >= above and levels[1] <= below):
            raise CertificateError(place, f"their levels are not one above and one below {level}")
        return "ball"
    if list(levels) != [level]:
        raise CertificateError(place, f"their levels are not the one level {level}")
    return "exact"


def check_bound(costs: Sequence[Sequence[Fraction]], bound: Sequence[Fraction], lam: Fraction) -> None:
    """Refuse a vector that is no lower bound for every column of the LDP cone, at ``bound``."""
    for a, (slack, _) in enumerate(worst_columns(costs, bound, lam)):
        if slack < 0:
            raise CertificateError("bound", f"the lower bound fails at action {a} by {slack}")


def worst_columns(
    costs: Sequence[Sequence[Fraction]], bound: Sequence[Fraction], lam: Fraction
) -> list[tuple[Fraction, list[int]]]:
    r"""For every action, the smallest :math:`\sum_x v_x (h_x - u_x)` over vectors of 1 and ``lam``, and where."""
    scale = math.lcm(*{v.denominator for row in costs for v in row}, *{u.denominator for u in bound})
    scaled = [u.numerator * (scale // u.denominator) for u in bound]
    found = []
    for row in costs:
        gaps = [h.numerator * (scale // h.denominator) - u for h, u in zip(row, scaled, strict=True)]
        negative = [x for x, gap in enumerate(gaps) if gap < 0]
        found.append(((sum(gaps) + (lam - 1) * sum(gaps[x] for x in negative)) / Fraction(scale), negative))
    return found


def lowered(costs: Sequence[Sequence[Fraction]], bound: Sequence[Fraction], lam: Fraction) -> tuple[Fraction, ...]:
    """Multipliers lowered by the same amount everywhere until they bound every LDP channel."""
    deficit = max(Fraction(0), *(-slack for slack, _ in worst_columns(costs, bound, lam)))
    # Lowering every entry by s raises each row's slack by at least s * m.
    return tuple(u - deficit / len(bound) for u in bound)


def violated_columns(
    costs: Sequence[Sequence[Fraction]], bound: Sequence[Fraction], lam: Fraction
) -> Iterator[tuple[int, int]]:
    """For every action, the subset of most negative reduced cost, where that is negative; no list of subsets needed."""
    for a, (slack, chosen) in enumerate(worst_columns(costs, bound, lam)):
        # Where all gaps are negative, every proper subset has a negative reduced cost as well.
        proper = chosen[1:] if len(chosen) == len(bound) else chosen
        if slack < 0 and proper:
            yield mask(proper), a


def action_rows(
    problem: Problem, weights: Iterable[tuple[int, int, Fraction]], lam: Fraction
) -> tuple[tuple[Fraction, ...], ...]:
    """The channel from inputs to actions that a weighted family of columns induces, by action and input."""
    rows = [[Fraction(0)] * problem.num_inputs for _ in range(problem.num_actions)]
    for subset, a, weight in weights:
        for x in range(problem.num_inputs):
            rows[a][x] += weight * (lam if subset >> x & 1 else 1)
    return tuple(tuple(row) for row in rows)
