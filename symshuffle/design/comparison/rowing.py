"""Rows: of a family whose parameters and level are chosen, and of a randomizer of which only the budget is known."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from symshuffle.accountants.deployment.any_ldp import NAME, any_ldp
from symshuffle.accountants.questions.solve import epsilon
from symshuffle.base.choices import Arithmetic, Loss, MatchKind
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Number, enclose, lower_end, upper_end
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.certified import Settled
from symshuffle.design.comparison.choosing import votes_of
from symshuffle.design.comparison.chosen import Chosen
from symshuffle.design.comparison.families import Family
from symshuffle.design.comparison.forms import LARGEST_EPS0, Forms, gaussian_epsilon
from symshuffle.design.comparison.matching import Match
from symshuffle.design.comparison.row import BOUNDS, Row, bracket_of
from symshuffle.design.comparison.search import Parameters
from symshuffle.utility.estimation.corner import corner_van_trees, near_vertex_bound, sharp_cube_bound, two_regime_bound
from symshuffle.utility.estimation.lower_bounds import minimax_sandwich
from symshuffle.utility.estimation.votes import VertexNoise, VoteNoise

_BITS: Final = 160
_CAP_BITS: Final = 64


def cap_of(at: Chosen) -> float:
    """The ratio cap, rounded up."""
    return float(upper_end(at.lam if isinstance(at.lam, Fraction) else enclose(at.lam, _CAP_BITS)))


def row_of(
    one: Family,
    closed: Forms,
    at: Chosen,
    match: Match,
    n: int,
    rtol: float,
    settled: Settled,
) -> Row:
    """The row of a family at its match, with what is known of all other parameters."""
    noise, reason = votes_of(at)
    chi_square, bitwise = at.chi_square, at.bitwise
    level = at.level(_BITS if match.kind is MatchKind.CHI_SQUARE else None)
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
        **_certified(closed, at, match, n, rtol),
    )


def estimated(noise: VoteNoise | VertexNoise | None, loss: Loss, n: int, inputs: int) -> dict[str, Any]:
    """What a row says of an unbiased estimator, by the names of its fields."""
    if noise is None:
        return {}
    risks = {"risk": noise.risk(n), "iid_risk": noise.iid_risk(n), "variance": noise.coordinate_variance(n)}
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
    asked = {"arithmetic": Arithmetic.FLOAT64, **asked}
    found = epsilon(match.asked(source), n=n, delta=match.delta, rtol=rtol, attained=once, **asked)
    bracket = found.bracket
    if solved and match.kind is MatchKind.EPS_DELTA and match.value < bracket.upper:
        bracket = replace(bracket, lower=min(bracket.lower, match.value), upper=match.value)
    return {"epsilon": bracket, "attained": found.attained, "privacy": found.about, "neighbours": found.neighbours}


def _guess(closed: Forms, at: Chosen, delta: Fraction, n: int) -> Fraction | None:
    floats = {name: float(value) for name, value in at.values}
    variance = closed.variance(cap_of(at), floats)
    if not 0 < variance < math.inf:
        return None
    most = float(LARGEST_EPS0)  # no local level is above it
    return Fraction(f"{min(gaussian_epsilon(variance, n, float(delta)), most):.6g}") or None


def _certified(closed: Forms, at: Chosen, match: Match, n: int, rtol: float) -> dict[str, Any]:
    if match.delta is None:
        return {}
    try:
        if match.rounds > 1:  # on the lattice on which the level was found
            return central(at.source, match, n, rtol)
        messages = match.messages(n)
        near = match.value if match.kind is MatchKind.EPS_DELTA else _guess(closed, at, match.delta, messages)
        return central(at.source, match, n, rtol, bits=_BITS, near=near)
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
    if match.kind is MatchKind.CHI_SQUARE:
        raise InputError("mechanisms", NAME, "a match at eps0 or eps: no more is known of it than its local level")
    if match.kind is MatchKind.EPS_DELTA:
        level = match.largest_eps0(lambda eps0: any_ldp(eps0=eps0), n, rtol)
    else:
        level = Bracket(match.value, match.value, Arithmetic.EXACT, "as given", "the local level that is matched")
    source = any_ldp(eps0=level.lower)
    return Row(
        source.name,
        "any randomizer of this budget",
        (),
        level,
        reason="the randomizer is not known: no estimator",
        **central(source, match, n, rtol),
    )
