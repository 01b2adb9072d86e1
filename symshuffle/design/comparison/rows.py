"""A row of a comparison: one mechanism at the match, with what it costs and what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.bounds.answers import Attained
from symshuffle.accountants.deployment.any_ldp import NAME, any_ldp
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.accountants.questions.solve import epsilon
from symshuffle.base.choices import Arithmetic, Loss
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Number, enclose, exact_text, format_decimal, lower_end, upper_end
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.branch_and_bound import Settled
from symshuffle.design.comparison.families import COMPARISON_BITS, Family, FamilyMember, Parameters
from symshuffle.design.comparison.matching import Match
from symshuffle.design.comparison.parameter_choice import votes_of
from symshuffle.design.comparison.proposals import LARGEST_EPS0, gaussian_epsilon, moment
from symshuffle.utility.estimation.lower_bounds import (
    corner_van_trees,
    minimax_sandwich,
    near_vertex_bound,
    sharp_cube_bound,
    two_regime_bound,
)
from symshuffle.utility.estimation.votes import VoteNoise

MARK: Final = "!"
"""Marks a risk above that of the answer ``uniform``."""

INFINITE: Final = "infinite"


def bracket_of(value: Number, evaluation: str) -> Bracket:
    """An exact number, or a ball, as a bracket."""
    arithmetic: Arithmetic = "ball" if isinstance(value, Ball) else "exact"
    return Bracket(lower_end(value), upper_end(value), arithmetic, "closed form", evaluation)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A mechanism at the match.

    - ``name``, ``title``: as in the registry; ``thinned`` before it where a null symbol was added.
    - ``parameters``: the free parameters, as chosen; the size last where it is not k.
    - ``eps0``: local level: the logarithm of the largest likelihood ratio.
    - ``risk``: exact squared error for a fixed composition, the same at every one, so that the worst and the uniform
      agree; None where it is infinite.
    - ``bitwise_risk``: risk of debiasing every bit by itself, which is what is usually run on strings of bits.
    - ``worse_than_uniform``: whether the risk is certainly above 1 - 1/k, which the answer ``uniform`` never exceeds.
    - ``privacy``: whom eps covers, or why there is none.
    - ``over_bounds``: risk of i.i.d. users over lower bounds on it, by name: at least 1 where the bound holds for
      this estimator.
    - ``bits``: bits of a message: they name its output, or of local hashing a function and a value, as a plan does.
    - ``floor``: no choice of the free parameters at this match certainly has a risk below it; None where none is
      known.
    - ``loss``: the error by which rows are sorted; None where it is infinite.
    - ``neighbours``: the pairs of datasets that ``epsilon`` covers.
    """

    name: str
    title: str
    parameters: Parameters
    eps0: Bracket
    chi_square: Bracket | None = None
    trace: Bracket | None = None
    risk: Bracket | None = None
    iid_risk: Bracket | None = None
    variance: Bracket | None = None
    estimator: str = ""
    bitwise_risk: Bracket | None = None
    reason: str = ""
    worse_than_uniform: bool = False
    epsilon: Bracket | None = None
    attained: Attained | None = None
    privacy: str = "no delta was given"
    over_bounds: tuple[tuple[str, Bracket], ...] = ()
    bits: int = 0
    floor: Fraction | None = None
    choice: str = "no free parameters"
    loss: Bracket | None = None
    worst: str = ""
    neighbours: Neighbours | None = None
    excess: str = ""
    rounding: str = ""

    @property
    def order(self) -> tuple[bool, Fraction, bool, Fraction]:
        """Smaller loss first; ties by eps, then what has none."""
        risk, eps = self.loss, self.epsilon
        return (
            risk is None,
            Fraction(0) if risk is None else risk.upper,
            eps is None,
            Fraction(0) if eps is None else eps.upper,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; null where there is no number, and ``risk`` is the text ``infinite`` where it is."""
        infinite = INFINITE if self.risk is None else None
        return {
            "mechanism": self.name,
            "title": self.title,
            "parameters": {name: value if isinstance(value, int) else str(value) for name, value in self.parameters},
            "eps0": _ends(self.eps0),
            "epsilon": _ends(self.epsilon),
            "attained_lower": None if self.attained is None else format_decimal(self.attained.lower, up=False),
            "attained_by": None if self.attained is None else self.attained.datasets,
            "privacy": self.privacy,
            "chi_square": _ends(self.chi_square),
            "trace": _ends(self.trace),
            "risk": infinite or _ends(self.risk),
            "uniform_risk": infinite or _ends(self.risk),
            "iid_risk": infinite or _ends(self.iid_risk),
            "largest_coordinate_variance": infinite or _ends(self.variance),
            "estimator": self.estimator or None,
            "bitwise_risk": _ends(self.bitwise_risk),
            "reason": self.reason or None,
            "worse_than_uniform": self.worse_than_uniform,
            "iid_risk_over": {name: _ends(ratio) for name, ratio in self.over_bounds},
            "bits_per_message": self.bits,
            "risk_floor": None if self.floor is None else format_decimal(self.floor, up=False),
            "choice": self.choice,
            "loss": infinite or _ends(self.loss),
            "loss_worst_at": self.worst or None,
            "excess": self.excess or None,
            "matrix": self.rounding or None,
        }

    @property
    def over_any(self) -> tuple[Bracket, ...]:
        """Risk over the lower bounds that hold for every estimator, biased ones included."""
        return tuple(ratio for name, ratio in self.over_bounds if name != BOUNDS[0])

    def cells(self) -> dict[str, str]:
        """The row as short texts: upper ends, and what is attained rounded down."""
        values = ", ".join(f"{name}={_brief(value)}" for name, value in self.parameters)
        return {
            "mechanism": f"{self.name} {values}".strip(),
            "eps0": _short(self.eps0),
            "eps": _short(self.epsilon),
            "attained": "" if self.attained is None else format_decimal(self.attained.lower, digits=4, up=False),
            "chi2": _short(self.chi_square),
            "trace": _short(self.trace),
            "risk": (_short(self.risk) if self.risk else INFINITE) + (f" {MARK}" if self.worse_than_uniform else ""),
            "variance": _short(self.variance) if self.variance else INFINITE,
            "loss": "" if self.loss in (None, self.risk, self.variance) else _short(self.loss),
            "risk/bound": _short(min(self.over_any, key=lambda ratio: ratio.upper, default=None)),
            "bits": str(self.bits),
        }


BOUNDS: Final = ("near-vertex", "two-regime", "sharp cube", "corner van Trees", "trace van Trees")
"""Lower bounds that a risk is divided by."""


def _ends(bracket: Bracket | None) -> dict[str, Any] | None:
    if bracket is None:
        return None
    exact = bracket.exact
    return {
        "lower": format_decimal(bracket.lower, up=False),
        "upper": format_decimal(bracket.upper, up=True),
        "exact": None if exact is None or len(exact_text(exact)) > 200 else exact_text(exact),
        "arithmetic": bracket.arithmetic,
    }


def _short(bracket: Bracket | None) -> str:
    return "" if bracket is None else format_decimal(bracket.upper, digits=4, up=True)


def _brief(value: int | Fraction) -> str:
    return str(value) if isinstance(value, int) or value.denominator < 1000 else f"{float(value):.4g}"


def cap_of(at: FamilyMember, *, bits: int = 64) -> float:
    """The ratio cap, rounded up."""
    return float(upper_end(at.lam if isinstance(at.lam, Fraction) else enclose(at.lam, bits)))


def row_of(
    one: Family,
    at: FamilyMember,
    match: Match,
    n: int,
    rtol: float,
    settled: Settled,
) -> Row:
    """The row of a family at its match, with what is known of all other parameters."""
    noise, reason = votes_of(at)
    chi_square, bitwise = at.chi_square, at.bitwise
    level = at.level(COMPARISON_BITS if match.kind == "chi-square" else None)
    told = estimated(noise, match.loss, n, one.inputs)
    sized: Parameters = () if one.all_inputs == one.inputs else ((str(one.size), one.at_size or 0),)
    trace = None if noise is None else noise.trace
    return Row(
        one.name,
        at.title,
        (*at.values, *sized),
        bracket_of(level, "logarithm of the ratio cap"),
        bracket_of(chi_square, "closed form in the parameters"),
        None if trace is None else bracket_of(trace, "closed form, or a sum over the number of ones"),
        bitwise_risk=None if bitwise is None else bracket_of(bitwise.risk(n), bitwise.estimator),
        reason=reason,
        over_bounds=() if noise is None else tuple(over_bounds(one, told["iid_risk"], chi_square, trace, n)),
        bits=at.message_bits,
        floor=settled.floor,
        choice=settled.evaluation,
        **told,
        **_certified(at, match, n, rtol),
    )


def estimated(noise: VoteNoise | None, loss: Loss, n: int, inputs: int) -> dict[str, Any]:
    """What a row says of an unbiased estimator, by the names of its fields."""
    if noise is None:
        return {}
    risks = {"risk": noise.risk(n), "iid_risk": noise.iid_risk(n), "variance": noise.loss("max", n)}
    told = {name: bracket_of(value, noise.estimator) for name, value in (risks | {"loss": noise.loss(loss, n)}).items()}
    worse = told["risk"].lower > 1 - Fraction(1, inputs)
    return {**told, "estimator": noise.estimator, "worse_than_uniform": worse, "worst": noise.worst(loss)}


def central(source: Any, match: Match, n: int, rtol: float, *, solved: bool = True, **asked: Any) -> dict[str, Any]:
    """What a row says of eps after shuffling, by the names of its fields.

    - ``solved``: whether a level that is matched at (eps, delta) was solved so that this eps is met.
    """
    if match.delta is None:
        return {}
    once = match.rounds == 1  # with several rounds, real datasets would double the cost
    asked = {"arithmetic": "float64", **asked}
    found = epsilon(match.asked(source), n=n, delta=match.delta, rtol=rtol, attained=once, **asked)
    bracket = found.bracket
    if solved and match.kind == "eps-delta" and match.value < bracket.upper:
        bracket = replace(bracket, lower=min(bracket.lower, match.value), upper=match.value)
    return {"epsilon": bracket, "attained": found.attained, "privacy": found.about, "neighbours": found.neighbours}


def _guess(at: FamilyMember, delta: Fraction, n: int) -> Fraction | None:
    floats = {name: float(value) for name, value in at.values}
    variance = moment(at.family, "variance")(cap_of(at), floats)
    if not 0 < variance < math.inf:
        return None
    most = float(LARGEST_EPS0)  # no local level is above it
    return Fraction(f"{min(gaussian_epsilon(variance, n, float(delta)), most):.6g}") or None


def _certified(at: FamilyMember, match: Match, n: int, rtol: float) -> dict[str, Any]:
    if match.delta is None:
        return {}
    try:
        if match.rounds > 1:  # on the lattice on which the level was found
            return central(at.source, match, n, rtol)
        messages = match.messages(n)
        near = match.value if match.kind == "eps-delta" else _guess(at, match.delta, messages)
        return central(at.source, match, n, rtol, bits=COMPARISON_BITS, near=near)
    except Unsupported as error:
        return {"privacy": str(error)}


def over_bounds(
    one: Family, iid: Bracket, chi_square: Number, trace: Number | None, n: int
) -> list[tuple[str, Bracket]]:
    """The risk over every lower bound that speaks about this mechanism."""
    k = one.inputs
    near, few = near_vertex_bound(k, chi_square, rho=Fraction(1, 10**9), n=n), two_regime_bound(k, chi_square, n=n)
    cube, corner = sharp_cube_bound(k, chi_square, n=n), corner_van_trees(k, chi_square, n=n)
    bounds: list[tuple[Fraction, Fraction]] = [
        (lower_end(near), upper_end(near)),
        (lower_end(few), upper_end(few)),
        (cube.lower, cube.upper),
        (corner.lower, corner.upper),
    ]
    if trace is not None and one.all_inputs == k:
        sandwich = minimax_sandwich(k, trace, n).lower
        bounds.append((sandwich.lower, sandwich.upper))
    return [
        (name, Bracket(iid.lower / high, iid.upper / low, iid.arithmetic, "closed form", "risk over lower bound"))
        for name, (low, high) in zip(BOUNDS, bounds, strict=False)
        if low > 0
    ]


def generic_row(match: Match, n: int, rtol: float) -> Row:
    """Row of ``any-ldp`` at a common local level, or at the largest level that meets a central target."""
    if match.kind == "chi-square":
        raise InputError("mechanisms", NAME, "a match at eps0 or eps: no more is known of it than its local level")
    if match.kind == "eps-delta":
        level = match.largest_eps0(lambda eps0: any_ldp(eps0=eps0), n, rtol)
    else:
        level = Bracket(match.value, match.value, "exact", "as given", "the local level that is matched")
    source = any_ldp(eps0=level.lower)
    return Row(
        source.name,
        "any randomizer of this budget",
        (),
        level,
        reason="the randomizer is not known: no estimator",
        **central(source, match, n, rtol),
    )
