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
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeVar

from symshuffle.base.choices import Arithmetic, Criterion
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.numbers import Exp, as_width, enclose
from symshuffle.channels.geometry.extremal import mask
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


def levels_around(level: Exp, bits: int) -> tuple[Fraction, Fraction]:
    """Rational levels above and below an irrational one, both above 1."""
    if level.exponent <= 0:
        raise InputError("eps0", level.exponent, "a number above 0")
    return _ends(level, bits)


def _ends(level: Exp, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals above and below; next to 1, which a ball does not tell from the level, the tangent is below it."""
    ball = enclose(level, bits)
    return ball.upper, max(ball.lower, 1 + level.exponent)


def check_around(level: Fraction | Exp, levels: Sequence[Fraction], place: str, *, bits: int = 2048) -> Arithmetic:
    """Refuse rational levels from which nothing follows at the level asked for; the arithmetic of what follows.

    Lower bounds hold for all smaller levels, channels remain LDP at all larger ones. So the level itself is as good as
    ``(above, below)``, a bound from above the level and a channel from below it.

    - ``bits``: binary digits at which exp(eps0) is compared with the levels, which have at most 1280.
    """
    if isinstance(level, Exp):
        above, below = _ends(level, bits)
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
