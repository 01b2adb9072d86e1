"""Choices of the free parameters at a match: matched exactly, and what is known about all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from symshuffle.base.choices import Loss, MatchKind
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp, lower_end, upper_end
from symshuffle.design.comparison.certified import GAP, MOST_INPUTS, Rivals, Settled, frontier_risk
from symshuffle.design.comparison.chosen import Chosen
from symshuffle.design.comparison.degrading import Degrading
from symshuffle.design.comparison.families import Family
from symshuffle.design.comparison.forms import Forms
from symshuffle.design.comparison.matching import Match, Matched, matched
from symshuffle.design.comparison.search import Parameters, Proposal
from symshuffle.utility.estimation.votes import VoteNoise
from symshuffle.utility.frontiers.caps import optimal_subset_sizes

_BITS: Final = 160
_SUBSETS: Final = "subset-selection"
CLOSEST: Final = Fraction(1, 50)
"""Relative distance of shares below which neighbours are not looked at."""

_NEIGHBOURS: Final = 1e-4
"""Relative width at which the levels of neighbouring shares are matched; that of the best one is matched again."""

LOCAL: Final = "local search: a better choice is not excluded"


@dataclass(frozen=True, slots=True)
class Tried:
    """Parameters on both sides of the match, and their loss on the safe one, where they run."""

    risk: Fraction
    found: Matched
    values: Parameters


def tried_at(one: Family, values: Parameters, match: Match, closed: Forms, n: int, rel: float) -> Tried:
    """The parameters at the level that matches, with their loss."""
    found = matched(one, values, match, closed, n=n, rel=rel)
    noise, _ = votes_of(found.here)
    return Tried(Fraction(0) if noise is None else upper_end(noise.loss(match.loss, n)), found, values)


def least_risk(tried: Tried, n: int) -> Fraction:
    """Risk that nobody with these parameters certainly goes below at the match: that of a level beyond it."""
    noise, _ = votes_of(tried.found.beyond)
    return Fraction(0) if noise is None else lower_end(noise.risk(n))


def matched_of(
    one: Family, choices: Sequence[Parameters], match: Match, closed: Forms, n: int, rel: float
) -> list[Tried]:
    """Those of the choices that some level matches."""
    found = []
    for values in choices:
        try:
            found.append(tried_at(one, values, match, closed, n, rel))
        except Unsupported:
            continue
    return found


def around(one: Family, best: Tried, match: Match, closed: Forms, n: int, rel: float) -> list[Tried]:
    """Neighbouring shares, ever closer to the best of them."""
    found: list[Tried] = []
    step, start, coarse = Fraction(1, 5), best, max(rel, _NEIGHBOURS)
    while step > CLOSEST:
        share = share_of(best)
        ends = [Fraction(f"{float(p):.6g}") for p in (share * (1 - step), min(Fraction(1), share * (1 + step)))]
        near = [tuple((name, end if name == "p" else value) for name, value in best.values) for end in ends]
        found += matched_of(one, near, match, closed, n, coarse)
        better = min([best, *found], key=lambda entry: entry.risk)
        step, best = (step, better) if better is not best else (step / 2, best)
    return found if best is start or coarse == rel else [*found, *matched_of(one, [best.values], match, closed, n, rel)]


def share_of(tried: Tried) -> Fraction:
    """The share of messages that was chosen."""
    return Fraction(dict(tried.values)["p"])


def has_share(one: Family) -> bool:
    """Whether a share of messages is to be chosen."""
    return any(not p.integer for p in one.free)


def integer_of(one: Family) -> str:
    """The name of the integer to be chosen."""
    return next(p.name for p in one.free if p.integer)


def named(one: Family, match: Match, candidates: Sequence[Proposal]) -> list[Parameters]:
    """The proposals, and the sizes of subsets that theorems name."""
    found = [candidate.values for candidate in candidates]
    if one.name == _SUBSETS and match.kind is not MatchKind.EPS_DELTA:
        best = (1,) if match.kind is MatchKind.CHI_SQUARE else optimal_subset_sizes(one.inputs, Exp(match.value))
        found += [values for s in best if (values := ((integer_of(one), s),)) not in found]
    return found


def settled_for(
    one: Family, closed: Forms, match: Match, n: int, tried: Sequence[Tried], before: Settled | None = None
) -> Settled:
    """What is known about all parameters of a family, given the risks of some, and what was known of fewer."""
    if not one.free:
        return Settled(None, "no free parameters")
    if closed.risk is None or match.loss is not Loss.L2:  # what follows is about the sum of squares
        return Settled(None, "no risk to compare" if closed.risk is None else LOCAL)
    best = min(entry.risk for entry in tried)
    if one.name == _SUBSETS and match.kind is not MatchKind.EPS_DELTA:
        floor = min(least_risk(entry, n) for entry in tried)
        if match.kind is MatchKind.CHI_SQUARE:
            return Settled(floor, "proved: size 1 is best at a chi-square budget (alphabets, Theorem 12.1)")
        return Settled(floor, "proved: the best sizes under a ratio cap, ties included (anchored, Theorem 9.3)")
    below = frontier_risk(one.inputs, match, n) if one.all_inputs == one.inputs else None
    if below is not None and below >= best * (1 - GAP):
        return Settled(below, "proved: no equivariant channel has less at this chi-square budget")
    if below is not None:
        local = Settled(below, f"{LOCAL}; floor: no equivariant channel has less at this chi-square budget")
    else:
        local = Settled(None, LOCAL)
    if one.inputs > MOST_INPUTS or not Degrading(one).ordered:
        return local
    if has_share(one):
        floor = best * (1 - GAP)
        rivals = Rivals(one, closed, match, n, floor, rest=[] if before is None else list(before.rest))
        left = rivals.left()
        if left is None or left:
            return replace(local, left=left or (), rest=tuple(rivals.rest))
        return Settled(floor, f"certified: no parameters have a risk smaller by {float(GAP):.0%}")
    name = integer_of(one)
    least = {int(dict(entry.values)[name]): least_risk(entry, n) for entry in tried}
    left = Rivals(one, closed, match, n, best).left(frozenset(least))
    if left is None:
        return local
    # The risk of what was tried is known up to the width of its level: some may have less than the best at the match.
    near = {value for value, risk in least.items() if risk <= best}
    close = sorted({*(int(dict(values)[name]) for values in left), *near})
    how = f"every {name} but {', '.join(map(str, close))} has a larger risk, and these were matched one by one"
    if left:
        return Settled(None, f"certified: {how}", left)
    return Settled(
        min(best, *least.values()),
        f"certified: {how}" if len(close) > 1 else f"certified: every other {name} has a larger risk",
    )


def votes_of(at: Chosen) -> tuple[VoteNoise | None, str]:
    """The votes of the best unbiased estimator known, or why there is none."""
    if not at.family.alike:
        return None, at.obstruction
    return at.votes(_BITS), ""
