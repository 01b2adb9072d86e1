r"""The engine for laws of G with a density: tails are cut, then Bromwich's integral or two finite laws bound H(n).

*Where the integrand falls too slowly* (few users, or values of G that a density hardly spreads) the law is put between
two finite ones, by :mod:`symshuffle.engines.densities.doubling`.

Evidence. *Proved*: what the cut tails add, in balls; all else is that of the module that then bounds,
:mod:`symshuffle.engines.densities.bromwich` or that of doubling.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

import flint

from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, choice
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousLaw, LevelledPair
from symshuffle.channels.law import NOTHING
from symshuffle.engines.densities import bromwich_plan, gauss, jump_plan, jumps
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.engines.densities.bromwich_plan import steepest_line
from symshuffle.engines.densities.doubling import two_sided

_FIRST_TAIL: Final = Fraction(1, 10**16)
"""Mass of the tails that are cut at first: cost only, as what they hold is added to both ends."""


_LEAST_TAIL: Final = Fraction(1, 10**300)
"""The least mass of tails that are cut: cost only."""

_FIRST_CELLS: Final = 300
"""Cells of a first bracket: cost only."""


_CHERNOFF: Final = "Chernoff's bound, tails cut"


def density_bracket(
    law: LevelledPair,
    n: int,
    *,
    arithmetic: Arithmetic | str,
    rtol: float,
    goal: Fraction | None = None,
    coarse_widths: tuple[float, ...] = (1e-5, 1e-3),
    many: int = 1000,
    few_users: int = 50,
    near_factor: int = 6,
    near_factor_several: int = 100,
    several: int = 8,
    negligible: Fraction = Fraction(1, 10**150),
) -> Bracket:
    """H(n) of a pair of densities at a level; any bracket below ``goal`` is narrow enough.

    - ``coarse_widths``: widths that are tried where the one asked for is out of reach.
    - ``many``: users beyond which the road by cells is not taken: each addition widens the bracket.
    - ``few_users``: users up to which cells are looked at first.
    - ``near_factor``: as many widths of few cells are reached by a few more.
    - ``near_factor_several``: the same for several intervals, whose lines cost more.
    - ``several``: number of intervals from which on there are several.
    - ``negligible``: an upper end whose lower end is 0 is reduced to about this size where Chernoff's bound reaches it.
    """
    arithmetic = choice(Arithmetic, arithmetic, "arithmetic")
    if arithmetic == "exact":
        raise Unsupported("a law with a density has no exact sums: use arithmetic float64 or ball")
    cells = n <= many and arithmetic == "float64"
    # Of few users the integrand falls late, where it falls at all.
    few = _of_few_cells(law, n) if cells and n <= few_users and rtol >= coarse_widths[0] else None
    try:
        if few is not None:
            if goal is not None and few.upper <= goal:
                return few
            about = near_factor if len(law.pair.stretches) < several else near_factor_several
            found = _by_cells(law, n, rtol, few) if _width_of(few) <= about * rtol else few
            if found.width <= Fraction(rtol) * found.upper:
                return _capped(found, at_most(law, n)[0])
        return _said(_with_its_cost(law, n, arithmetic, rtol), rtol)
    except (Unsupported, NotDecided) as reason:
        ceiling, road = at_most(law, n)
        if ceiling < NOTHING:
            ceiling, road = _or_chernoff((ceiling, road), _chernoff(law, n, negligible))
            return Bracket(Fraction(0), ceiling, arithmetic, "none", f"at most {road} ({reason})", aimed=rtol)
        few = _of_few_cells(law, n) if cells and few is None else few
        near = _width_of(few)
        for coarser in coarse_widths if cost.left() else ():
            wanted = max(coarser, rtol)
            if near <= near_factor * wanted:
                found = _capped(_by_cells(law, n, wanted, few), ceiling)
                if (found.relative_width or 0) <= wanted:
                    return _said(found, rtol)
            with contextlib.suppress(Unsupported, NotDecided):
                if coarser > rtol:
                    return _said(_with_its_cost(law, n, arithmetic, coarser), rtol)
        if n > many:
            raise
        refusal = str(reason)
    if arithmetic != "float64":
        raise Unsupported(f"{arithmetic} at n = {n}: the integrand falls too slowly; ask for float64: {refusal}")
    return _capped(_by_cells(law, n, rtol, few), ceiling)


def _capped(found: Bracket, ceiling: Fraction) -> Bracket:
    """The bracket, no higher than what holds of H(n) anyway."""
    top = min(ceiling, Fraction(1))
    return found if found.upper <= top else replace(found, upper=max(top, found.lower))


def _said(found: Bracket, rtol: float) -> Bracket:
    """The bracket, which says so where it is wider than asked."""
    if found.width <= Fraction(rtol) * found.upper:
        return found
    wide = float(found.relative_width or 0)
    return replace(
        found, evaluation=f"{found.evaluation}; relative width {wide:.1e} where {rtol:.1e} was aimed at", aimed=rtol
    )


def at_most(law: LevelledPair, n: int, *, near: Fraction = NOTHING, looks: int = 1) -> tuple[Fraction, str]:
    r"""A number that H(n) is not above, and why; it is of use where it is next to nothing, or compared with ``near``.

    H(n) never rises with n, so its value for one user will do; and :math:`x_+\le e^{\theta x}/(e\theta)` gives
    :math:`H(n)\le M(\theta)^n/(e\theta n)` for the law whose tails are cut, plus what the cut may hold.

    - ``looks``: how often tails are cut at most, the next time where they hold less than what was found.
    """
    found = _chernoff(law, n, near) if near > NOTHING else None
    for _ in range(looks - 1):
        again = None if found is None else _chernoff(law, n, 100 * found)
        if found is None or again is None or again >= found:
            break
        found = again
    if found is not None and found <= near:
        return found, _CHERNOFF
    ceiling = law.ceiling
    known = (Fraction(1), "1") if ceiling is None else (ceiling, "the value for one user, where G may be positive")
    if known[0] < NOTHING:
        return known
    found = _chernoff(law, n, near) if found is None else found
    return _or_chernoff(known, found)


def _or_chernoff(known: tuple[Fraction, str], found: Fraction | None) -> tuple[Fraction, str]:
    """An upper end with its reason, or Chernoff's bound where that is smaller."""
    return known if found is None or found >= known[0] else (found, _CHERNOFF)


def _chernoff(law: LevelledPair, n: int, near: Fraction, *, least_bits: int = 128) -> Fraction | None:
    """Chernoff's bound where tails are cut, and what they may hold; None where none can be cut.

    - ``least_bits``: least precision of the masses.
    """
    try:
        bits = max(least_bits, _bits(near / 10**3))
        cut = law.pair.law(law.exp_eps, tail=near / 10**3, bits=bits)
        theta = steepest_line(cut, n)
    except Unsupported:
        return None
    with working_precision(bits):
        slope = to_arb(Fraction(theta))
        size = (n * gauss.roughly(cut, slope, power=n).log()).exp() / (flint.arb(1).exp() * slope * n)
        return Ball.from_arb(size, bits).upper + cut.missing[1] if size.is_finite() else Fraction(1)


def _with_its_cost(law: LevelledPair, n: int, arithmetic: Arithmetic, rtol: float) -> Bracket:
    """By Bromwich's integral; in balls its nodes take about as long again as all else, and their time is counted."""
    before = cost.left()
    try:
        return _by_transform(law, n, arithmetic, rtol)
    finally:
        if arithmetic == "ball":
            cost.add(before - cost.left())


def _by_transform(
    law: LevelledPair,
    n: int,
    arithmetic: Arithmetic,
    rtol: float,
    *,
    tail_share: Fraction = Fraction(1, 8),
    step: Fraction = Fraction(1, 10**24),
    tail_step: Fraction = Fraction(1, 10**6),
    passes: int = 24,
    finest: float = 1e-45,
    largest_step: float = 1e-9,
    negligible: Fraction = Fraction(1, 10**150),
    least_bits: int = 128,
) -> Bracket:
    """By passes of which each cuts tails where what they hold is small against the result of the one before.

    - ``tail_share``: share of the width aimed at that the cut tails may take.
    - ``step``: how much less than what is cut off H(n) is taken to be where a pass says nothing about it.
    - ``tail_step``: the smallest share of the tails that a step leaves, before the first pass.
    - ``passes``: number of passes.
    - ``finest``: the finest width a pass is made for.
    - ``largest_step``: the largest step towards it.
    - ``negligible``: values that no pass is repeated for.
    - ``least_bits``: least precision of a sum.
    """
    tail, finer, share = _FIRST_TAIL * Fraction(rtol) * 10**8, rtol, tail_share * Fraction(rtol)
    best: Bracket | None = None
    likely, known = _likely(law, n, tail)
    while not known and tail > 2 * share * likely > 0 and tail > _LEAST_TAIL:
        # What is cut may hold more than what is left: it is cut less by steps until it does not.
        tail = max(share * likely, tail * tail_step, _LEAST_TAIL)
        likely, known = _likely(law, n, tail)
    if known:
        tail = max(share * likely, _LEAST_TAIL)
    for _ in range(passes):
        bits = _bits(tail)
        cut = law.pair.law(law.exp_eps, tail=tail, bits=bits)
        try:
            error = max(float(tail) * finer / rtol, float(likely if best is None else best.lower) * finer)
            found = _of_cut(cut, n, arithmetic, finer, error=error, bits=max(bits, least_bits))
        except (Unsupported, NotDecided):
            if best is None or not best.lower:
                raise
            return best  # wider than asked, and true
        best = found if best is None or found.width < best.width else best
        if not cost.left():
            break
        missing = sum(cut.missing)
        if missing > 2 * share * found.upper and tail >= _LEAST_TAIL:
            # About H(n) of the law whose tails are cut; with a long tail it says little, and the window grows by steps.
            about = max(found.lower, found.upper - cut.missing[1], missing * step)
            tail = min(share * about, tail / 100)
            continue
        # Of next to nothing a wide bracket is enough: finer passes go on for long there.
        if found.width <= Fraction(rtol) * found.upper or finer < finest or found.upper < negligible:
            break
        finer *= max(largest_step, min(0.1, rtol * float(found.lower / found.width) / 4))
    if best is None:
        raise NotDecided("no evaluation was finished within the limits")
    return best


def _bits(tail: Fraction) -> int:
    """Enough to tell what is left out from 0."""
    needed = tail.denominator.bit_length() - tail.numerator.bit_length() + 72
    return max(128, -(-needed // 64) * 64)  # few precisions: masses are computed once for each


def _likely(
    law: LevelledPair,
    n: int,
    tail: Fraction,
    *,
    share: Fraction = Fraction(1, 50),
    rtol: float = 1e-3,
    least: float = 1e-11,
) -> tuple[Fraction, bool]:
    """About H(n), and whether it is: otherwise what it is likely to be at least. Both are choices.

    - ``share``: share of Chernoff's bound that H(n) is likely to be at least.
    - ``rtol``: how closely H(n) is estimated before.
    - ``least``: from what size on the estimate is believed.
    """
    cut = law.pair.law(law.exp_eps, tail=tail, bits=_bits(tail))
    about = bromwich_plan.rough(cut)
    with contextlib.suppress(Unsupported):
        found = bromwich_plan.estimate(about.values, about.weights, n, rtol=rtol)
        if found > least and bromwich_plan.crowded(cut, n):
            return Fraction(min(found, 1.0)), True
    return Fraction(min(bromwich_plan.ceiling(about.values, about.weights, n), 1.0)) * share, False


def _of_cut(cut: ContinuousLaw, n: int, arithmetic: Arithmetic, finer: float, *, error: float, bits: int) -> Bracket:
    """H(n) of a law of mass 1, by one line; by one for each number of jumps where a long upper tail is felt."""
    parts = jump_plan.split(cut, n, error)
    if parts is not None and not _left_serves(cut, n, finer):
        with contextlib.suppress(Unsupported, NotDecided):
            return jumps.bracket(cut, parts, n, arithmetic=arithmetic, error=error, bits=bits)
    return bromwich_bracket(cut, n, finer, arithmetic, bits=bits, whole=True)


def long_tailed(law: LevelledPair, n: int, value: Fraction) -> bool:
    """Whether sums of so small values are split by how many of their terms are jumps: a guess."""
    near = max(value, _LEAST_TAIL * 10**3)
    cut = law.pair.law(law.exp_eps, tail=near / 10**3, bits=_bits(near / 10**3))
    return jump_plan.split(cut, n, float(near)) is not None


def _left_serves(cut: ContinuousLaw, n: int, finer: float, *, lost: float = 1e-45) -> bool:
    """Whether the integral along a line to the left of 0, where long upper tails cost nothing, keeps enough digits.

    - ``lost``: share of the sum to the left of 0 that may be negligible where it is taken before jumps are.
    """
    try:
        plan, seen = bromwich_plan.plan_for(cut, n, finer)
    except Unsupported:
        return False
    keeps = plan.small > lost * plan.size if bromwich_plan.crowded(cut, n) else plan.in_doubles
    return seen is not cut and keeps


def _of_few_cells(law: LevelledPair, n: int) -> Bracket | None:
    """A first bracket by cells, where there is one."""
    with contextlib.suppress(Unsupported, NotDecided):
        return two_sided(law.pair.law(law.exp_eps, tail=_FIRST_TAIL), n, cells=_FIRST_CELLS)
    return None


def _width_of(found: Bracket | None) -> float:
    """Its relative width."""
    return math.inf if found is None else float(found.relative_width or math.inf)


def _by_cells(
    law: LevelledPair,
    n: int,
    rtol: float,
    few: Bracket | None = None,
    *,
    max_cells: int = 2000,
    enough_cells: int = 600,
    power: float = 0.4,
) -> Bracket:
    """Between two finite laws, on cells as many as the width takes, or as are affordable; ``few`` is known of few.

    - ``max_cells``: number of cells at most.
    - ``enough_cells``: number of cells where even twice the most would not reach the width aimed at.
    - ``power``: how fast the number of cells grows with one over the width.
    """
    tail, count = min(_FIRST_TAIL, Fraction(rtol) / 10**4), _FIRST_CELLS
    while True:
        cut = law.pair.law(law.exp_eps, tail=tail)
        found = two_sided(cut, n, cells=count) if few is None or tail < _FIRST_TAIL else few
        few = None
        if found.upper * Fraction(rtol) < 10 * sum(cut.missing) and tail > _LEAST_TAIL and cost.left():
            tail = min(max(found.upper * Fraction(rtol) / 1000, tail / 10**20), tail / 100)
            continue
        wide = float(found.relative_width or 1)
        needed = math.ceil(count * max(1.2 * (wide / rtol) ** power, 1.5))
        # Out of reach: cells that would take a minute and still not be enough are not spent.
        most = max_cells if needed <= 2 * max_cells else enough_cells
        if found.width <= Fraction(rtol) * found.upper or count >= most or not cost.left():
            return _said(found, rtol)
        count = min(most, needed, 3 * count)
