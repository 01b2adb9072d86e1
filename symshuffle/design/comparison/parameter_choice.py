"""Choices of the free parameters at a match: matched exactly, and what is known about all others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from symshuffle.accountants.bounds.gaussian_limit import log_profile
from symshuffle.accountants.questions.solve import delta
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import Exp, enclose, lower_end, natural_log, upper_end
from symshuffle.decompositions.parameters import FiledParameter
from symshuffle.design.comparison.branch_and_bound import DOUBT, GAP, MOST_INPUTS, Rivals, Settled
from symshuffle.design.comparison.families import COMPARISON_BITS, Family, FamilyMember, Parameters
from symshuffle.design.comparison.matching import RTOL, Match, matched
from symshuffle.design.comparison.monotonicity import DegradationOrder
from symshuffle.design.comparison.proposals import LARGEST_EPS0, LARGEST_FREE, loss_of, moment
from symshuffle.utility.estimation.votes import VoteNoise
from symshuffle.utility.frontiers.caps import optimal_subset_sizes

_SUBSETS: Final = "subset-selection"
CLOSEST: Final = Fraction(1, 50)
"""Relative distance of shares below which neighbours are not looked at."""


_GAIN: Final = Fraction(1, 1000)
"""Relative gain of loss that is looked for: cost only."""

_ABOVE: Final = Fraction(1, 2500)
"""Relative distance of a share from the smallest one that can be matched, at which it is tried."""


LOCAL: Final = "local search: a better choice is not excluded"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Parameters on both sides of a match, and their loss on the safe one, where they run.

    - ``here``: it certainly spends at most what was asked for.
    - ``beyond``: it certainly spends at least that: at the match nobody with these parameters has a larger level.
    """

    risk: Fraction
    here: FamilyMember
    beyond: FamilyMember

    @property
    def values(self) -> Parameters:
        """The free parameters."""
        return self.here.values


def candidate_at(one: Family, values: Parameters, match: Match, n: int, rtol: float) -> Candidate:
    """The parameters at the level that matches, with their loss."""
    here, beyond = matched(one, values, match, n=n, rtol=rtol)
    noise, _ = votes_of(here)
    return Candidate(Fraction(0) if noise is None else upper_end(noise.loss(match.loss, n)), here, beyond)


def least_risk(candidate: Candidate, n: int) -> Fraction:
    """Risk that nobody with these parameters certainly goes below at the match: that of a level beyond it."""
    noise, _ = votes_of(candidate.beyond)
    return Fraction(0) if noise is None else lower_end(noise.risk(n))


def matched_of(one: Family, choices: Sequence[Parameters], match: Match, n: int, rtol: float) -> list[Candidate]:
    """Those of the choices that some level matches."""
    found = []
    for values in choices:
        try:
            found.append(candidate_at(one, values, match, n, rtol))
        except Unsupported:
            continue
    return found


def around(one: Family, best: Candidate, match: Match, n: int, rtol: float) -> list[Candidate]:
    """Neighbouring shares, ever closer to the best of them."""
    found: list[Candidate] = []
    step, start, coarse = Fraction(1, 5), best, max(rtol, RTOL)
    while step > CLOSEST:
        share = share_of(best)
        ends = [Fraction(f"{float(p):.6g}") for p in (share * (1 - step), min(Fraction(1), share * (1 + step)))]
        near = [tuple((name, end if name == "p" else value) for name, value in best.values) for end in ends]
        found += matched_of(one, near, match, n, coarse)
        better = min([best, *found], key=lambda entry: entry.risk)
        step, best = (step, better) if better is not best else (step / 2, best)
    return found if best is start or coarse == rtol else [*found, *matched_of(one, [best.values], match, n, rtol)]


def is_unusual(one: Family, best: Candidate, match: Match, n: int, goal: float, *, usual: float = 0.1) -> bool:
    """Whether so few users are far from the Gaussian limit, by which doubles rank parameters.

    - ``goal``: the variance at which they were ranked.
    - ``usual``: difference of the logarithm of delta from that of the limit, up to which doubles rank.
    """
    assert match.delta is not None
    variance = moment(one, "variance")(float(upper_end(enclose(best.here.lam))), {k: float(v) for k, v in best.values})
    try:
        guess = log_profile(float(match.value), math.sqrt(goal / match.messages(n)))
    except (ValueError, OverflowError, ZeroDivisionError):
        return True
    far = abs(guess - natural_log(match.delta)) > usual or abs(math.log(variance / goal)) > usual
    return far or is_rare(one, best, match, n)


def is_rare(one: Family, best: Candidate, match: Match, n: int) -> bool:
    """Whether the input, shown with probability delta, may have less risk than the best choice."""
    assert match.delta is not None
    return has_share(one) and (1 - Fraction(1, one.inputs)) * (1 / match.delta - 1) < n * best.risk


def descended(one: Family, start: Candidate, match: Match, n: int, rtol: float) -> list[Candidate]:
    """The best choice on the way down from one, and from a share that is hardly ever sent, one parameter at a time."""
    coarse, seen = max(rtol, RTOL), {start.values: start}

    def at(values: Parameters) -> Candidate | None:
        if values not in seen:
            seen.update((found.values, found) for found in matched_of(one, [values], match, n, coarse))
        return seen.get(values)

    def down(best: Candidate, least: Fraction) -> None:
        before = None
        while before is None or best.risk < before * (1 - _GAIN):
            before = best.risk
            for p in one.free:
                first, last = one.free_range(p) if p.integer else (0.0, 1.0)
                best = _along(p, best, at, first - 1 if p.integer else float(least), min(last, LARGEST_FREE))

    down(start, Fraction(0))
    if is_rare(one, start, match, n):
        least = _least_share(one, start, match, n)
        rare = at(_moved(start.values, "p", Fraction(f"{float(least * (1 + _ABOVE)):.6g}"))) if least < 1 else None
        if rare is not None:
            down(rare, least)
    best = min(seen.values(), key=lambda entry: entry.risk)
    if best is start or coarse == rtol:
        return [best]
    return matched_of(one, [best.values], match, n, rtol) or [best]


def beside(one: Family, best: Candidate, variants: int, match: Match, n: int, rtol: float) -> list[Candidate]:
    """The integers next to the best one, where several rows are wanted and no share is to be chosen."""
    if variants == 1 or has_share(one):
        return []
    name = integer_of(one)
    at, (first, last) = int(dict(best.values)[name]), one.free_range(next(p for p in one.free if p.integer))
    near = [x for x in range(at - variants + 1, at + variants) if x != at and first <= x <= last]
    return matched_of(one, [_moved(best.values, name, x) for x in near], match, n, rtol)


def _moved(values: Parameters, name: str, value: int | Fraction) -> Parameters:
    return tuple((other, value if other == name else kept) for other, kept in values)


def _least_share(one: Family, best: Candidate, match: Match, n: int) -> Fraction:
    """About the smallest share at which some level meets the match."""
    assert match.delta is not None
    share = match.delta
    for _ in range(2):
        source = one.source(eps0=LARGEST_EPS0, **dict[str, Any](_moved(best.values, "p", share)))
        try:
            spent = delta(match.asked(source), n=n, eps=match.value, rtol=RTOL, arithmetic="float64").bracket.upper
        except (Unsupported, NotDecided):
            return Fraction(1)
        share = Fraction(f"{float(share * match.delta / spent):.6g}") if share * match.delta < spent else Fraction(1)
    return share


def _along(
    p: FiledParameter,
    best: Candidate,
    at: Callable[[Parameters], Candidate | None],
    base: float,
    high: float,
    *,
    parabolas: int = 5,
) -> Candidate:
    """The best of some values of one parameter: ever longer steps while the loss falls, then vertices of parabolas."""
    least, step = (0.0, math.log(2)) if p.integer else (math.log(base * float(_ABOVE)) if base else -math.inf, 0.1)
    most = math.log(high - base)
    found = {best.values: best}

    def loss(t: float) -> float:
        x = base + math.exp(t)
        one = at(_moved(best.values, p.name, round(x) if p.integer else Fraction(f"{min(x, 1):.6g}")))
        if one is not None:
            found[one.values] = one
        return math.inf if one is None else math.log(one.risk)

    start = min(max(math.log(dict(best.values)[p.name] - base), least), most)
    known = {start: math.log(best.risk)}
    for way in (1, -1):
        far, here = step * (20 if base and not p.integer else 1), start
        while (after := min(max(here + way * far, least), most)) not in known:
            known[after] = loss(after)
            if not known[after] < known[here] - float(_GAIN):
                break
            here, far = after, 2 * far
        if here != start:
            break
    for _ in range(parabolas):
        places = sorted(known)
        i = places.index(min(known, key=lambda t: known[t]))
        if not 0 < i < len(places) - 1:
            break
        (a, b, c), (x, y, z) = places[i - 1 : i + 2], (known[t] for t in places[i - 1 : i + 2])
        left, right = (b - a) * (z - y), (c - b) * (x - y)
        vertex = (a + b) / 2 if z == math.inf else (b + c) / 2
        if max(x, z) < math.inf and left + right > 0:
            vertex = b + ((c - b) * right - (b - a) * left) / (2 * (left + right))
        if min(abs(vertex - t) for t in places) < step / 32:
            break
        known[vertex] = loss(vertex)
    return min(found.values(), key=lambda entry: entry.risk)


def share_of(candidate: Candidate) -> Fraction:
    """The share of messages that was chosen."""
    return Fraction(dict(candidate.values)["p"])


def has_share(one: Family) -> bool:
    """Whether a share of messages is to be chosen."""
    return any(not p.integer for p in one.free)


def integer_of(one: Family) -> str:
    """The name of the integer to be chosen."""
    return next(p.name for p in one.free if p.integer)


def named(one: Family, match: Match, proposals: Sequence[Parameters]) -> list[Parameters]:
    """The proposals, and the sizes of subsets that theorems name."""
    found = [*proposals]
    if one.name == _SUBSETS and match.kind != "eps-delta":
        best = (1,) if match.kind == "chi-square" else optimal_subset_sizes(one.inputs, Exp(match.value))
        found += [values for s in best if (values := ((integer_of(one), s),)) not in found]
    return found


def settled_for(
    one: Family,
    match: Match,
    n: int,
    tried: Sequence[Candidate],
    before: Settled | None = None,
    *,
    doubt: float = DOUBT,
) -> Settled:
    """What is known about all parameters of a family, given the risks of some, and what was known of fewer."""
    if not one.free:
        return Settled(None, "no free parameters")
    if loss_of(one) is None or match.loss != "l2":  # what follows is about the sum of squares
        return Settled(None, "no risk to compare" if loss_of(one) is None else LOCAL)
    best = min(entry.risk for entry in tried)
    if one.name == _SUBSETS and match.kind != "eps-delta":
        floor = min(least_risk(entry, n) for entry in tried)
        if match.kind == "chi-square":
            return Settled(floor, "proved: size 1 is best at a chi-square budget (alphabets, Theorem 12.1)")
        return Settled(floor, "proved: the best sizes under a ratio cap, ties included (anchored, Theorem 9.3)")
    below = frontier_risk(one.inputs, match, n) if one.all_inputs == one.inputs else None
    if below is not None and below >= best * (1 - GAP):
        return Settled(below, "proved: no equivariant channel has less at this chi-square budget")
    if below is not None:
        local = Settled(below, f"{LOCAL}; floor: no equivariant channel has less at this chi-square budget")
    else:
        local = Settled(None, LOCAL)
    if one.inputs > MOST_INPUTS or not DegradationOrder(one).ordered:
        return local
    if has_share(one):
        floor = best * (1 - GAP)
        rivals = Rivals(one, match, n, floor, doubt=doubt, rest=[] if before is None else list(before.rest))
        left = rivals.left()
        if left is None or left:
            return replace(local, left=left or (), rest=tuple(rivals.rest))
        return Settled(floor, f"certified: no parameters have a risk smaller by {float(GAP):.0%}")
    name = integer_of(one)
    least = {int(dict(entry.values)[name]): least_risk(entry, n) for entry in tried}
    left = Rivals(one, match, n, best, doubt=doubt).left(frozenset(least))
    if left is None:
        return local
    # The risk of what was tried is known up to the width of its level: some may have less than the best at the match.
    near = {value for value, risk in least.items() if risk <= best}
    close = sorted({*(int(dict(values)[name]) for values in left), *near})
    evaluation = f"every {name} but {', '.join(map(str, close))} has a larger risk, and these were matched one by one"
    if left:
        return Settled(None, f"certified: {evaluation}", left)
    return Settled(
        min(best, *least.values()),
        f"certified: {evaluation}" if len(close) > 1 else f"certified: every other {name} has a larger risk",
    )


def frontier_risk(k: int, match: Match, n: int) -> Fraction | None:
    """No equivariant channel with k inputs has a smaller risk at a chi-square budget; None at another match."""
    if match.kind != "chi-square" or k < 3:
        return None
    from symshuffle.utility.frontiers.frontier import trace_frontier  # it loads algebra

    return trace_frontier(k, match.value).risk_constant("fixed").scaled(Fraction(1, n)).lower


def votes_of(at: FamilyMember) -> tuple[VoteNoise | None, str]:
    """The votes of the best unbiased estimator known, or why there is none."""
    if not at.family.alike:
        return None, at.obstruction
    return at.votes(COMPARISON_BITS), ""
