"""The best channel found for a central target: search, certificates by the accountant, a design with few bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import UNSAID, Deployment
from symshuffle.accountants.deployment.subjects import smallest_batch, with_fields
from symshuffle.accountants.questions.solve import delta as delta_bound
from symshuffle.accountants.questions.solve import epsilon as epsilon_bound
from symshuffle.base.choices import Loss, choice
from symshuffle.base.errors import InputError, NamedProgress, NotDecided, Unsupported, check_progress
from symshuffle.base.levels import read_delta, read_target
from symshuffle.base.numbers import Exp, Real, as_integer, counted, enclose, format_decimal
from symshuffle.design.shuffled.model import BlockDesign, ShuffledDesign, block_designs, fixed_risk, orbit_reduction
from symshuffle.design.shuffled.search import (
    MOST_STEPS,
    ExactTarget,
    best_thinned,
    improve,
    ratios_by_size,
    sizes_tried,
    trace_of,
)
from symshuffle.design.shuffled.upper import trace_upper
from symshuffle.utility.frontiers.caps import check_cap
from symshuffle.utility.frontiers.orbit import Orbit, subset_orbit

LARGEST_INPUTS = 10_000
"""Inputs up to which channels are searched."""


@with_fields
def best_shuffled(
    k: int,
    *,
    n: int,
    eps: object = None,
    exp_eps: object = None,
    delta: object,
    lam_cap: Fraction | None = None,
    loss: Loss = "l2",
    progress: NamedProgress | None = None,
    **fields: Any,
) -> ShuffledDesign:
    r"""Most accurate channel found that meets (eps, delta) after shuffling.

    The best subset size is found first, at the largest ratio at which the certified bound meets the target, and the
    best thinned orbit: subsets at the cap (or at smaller ratios), sent with some probability and replaced by a blank
    otherwise. From both, a local search mixes orbits: subsets of other sizes, a null output, ordered pairs. The
    accountant certifies the best channel met.

    Parameters
    ----------
    k : int
        Number of inputs (categories), 2 to 10 000.
    n : int
        Number of users, at least 1; privacy and risk are those of the honest ones of the smallest batch.
    eps, exp_eps : number or text
        The central target: eps at least 0 in nats, or exp(eps) at least 1. One of the two.
    delta : number or text
        The target delta, in (0, 1).
    lam_cap : Fraction, optional
        Largest likelihood ratio of the channel, above 1. With it the answer has an upper end on the trace.
    loss : {"l2"}
        Loss that is minimised: the sum of squared errors of the estimated shares.
    progress : callable, optional
        Called before every stage with the number of stages done, the largest total, and the name of the next one with
        its size; at the end with both numbers equal. A search takes a minute where few users allow large ratios.
    and the fields of a deployment
        Those that only change how many honest messages a batch has; another is refused, and the message names a
        question that supports it.

    Returns
    -------
    ShuffledDesign
        The channel with its exact risk, both privacy numbers and the length of a message. The search is local: other
        exchangeable channels may be better, with a cap by no more than ``upper`` says.

    Raises
    ------
    InputError
        If an argument is out of its range.
    Unsupported
        For other losses than l2, which do not follow the trace.
    NotDecided
        If no channel with a trace above 0 was certified to meet the target.

    Examples
    --------
    >>> found = best_shuffled(5, n=100, eps="1/2", delta="1/1000")
    >>> found.size, found.delta.bracket.upper <= Fraction(1, 1000)
    (1, True)
    """
    k, covered = as_integer(k, "k", 2, LARGEST_INPUTS), UNSAID.with_(n=check_n(n), **fields)
    n = smallest_batch(covered)
    order, goal = read_target(eps=eps, exp_eps=exp_eps), read_delta(delta)
    if choice(Loss, loss, "loss") != "l2":
        raise Unsupported(f"loss = {loss}: only l2 follows the trace; `symshuffle compare` ranks by the others")
    cap = None if lam_cap is None else check_cap(lam_cap, "lam_cap")
    if isinstance(cap, Exp):
        raise InputError("lam_cap", lam_cap, "a rational number > 1")
    target = ExactTarget(k, n, _below(order), goal, cap)
    check_progress(progress, 3)
    total = 4 + 2 * MOST_STEPS

    def tell(done: int, stage: str) -> None:
        if progress is not None:
            progress(done, total, stage)

    tell(0, f"{counted(len([*sizes_tried(k)]), 'subset size')}, alone and thinned")
    starts = _starts(target)
    if not starts:
        raise NotDecided(f"no informative channel was certified to meet eps = {order}, delta = {goal} with {n} users")

    def step_of(start: int, step: int) -> None:
        tell(1 + start * MOST_STEPS + step, f"step {step + 1} of local search {start + 1} of {len(starts)}")

    ends = [improve(orbits, target, partial(step_of, i)) for i, orbits in enumerate(starts)]
    tell(total - 3, "the certified bound of the best mixture")
    orbits, found = _certified([*starts, *ends], covered, order, goal)
    channel, size = orbit_reduction(orbits), _size(max(starts, key=trace_of))
    tell(total - 2, "the smallest eps of the best mixture")
    level = epsilon_bound(covered.with_randomizers(lambda _: channel), delta=goal, attained=True)
    upper, bound = None, None
    if target.cap is not None:
        tell(total - 1, "the upper end on the trace")
        upper, bound = trace_upper(k, n=n, exp_eps=order, delta=goal, lam_cap=target.cap, least=trace_of(orbits))
    tell(total, "")
    return ShuffledDesign(
        k, n, order, goal, target.cap, "l2", orbits, size, found, level, _best_blocks(target, k, n), upper, bound
    )


def shuffled_sizes(
    inputs: Iterable[int], users: Iterable[int], *, eps: object = None, exp_eps: object = None, delta: object
) -> dict[tuple[int, int], tuple[int, Fraction]]:
    """Best subset size for a central target, and its risk, by inputs and users.

    Parameters
    ----------
    inputs, users : iterable of int
        Numbers of inputs k (2 to 10 000) and of users n.
    eps, exp_eps : number or text
        The central target: eps at least 0 in nats, or exp(eps) at least 1. One of the two.
    delta : number or text
        The target delta, in (0, 1).

    Returns
    -------
    dict
        ``(k, n)`` to the best size among subset selection alone and its canonical l2 risk at fixed compositions. A risk
        above 1 - 1/k is larger than that of always answering "uniform". Pairs without a ratio above 1 that meets the
        target are left out.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> {at: size for at, (size, _) in shuffled_sizes([4], [20, 200], eps=1, delta="1/100").items()}
    {(4, 20): 1, (4, 200): 1}
    """
    order, goal = _below(read_target(eps=eps, exp_eps=exp_eps)), read_delta(delta)
    numbers = [check_n(n) for n in users]
    found = {}
    for k in [as_integer(k, "k", 2, LARGEST_INPUTS) for k in inputs]:
        for n in numbers:
            ratios = ratios_by_size(ExactTarget(k, n, order, goal, None))
            traces = {s: subset_orbit(k, s, ratio).signal for s, ratio in ratios.items()}
            if traces:
                size = max(traces, key=traces.__getitem__)
                found[k, n] = size, fixed_risk(k, traces[size], n)
    return found


def _starts(target: ExactTarget) -> list[tuple[Orbit, ...]]:
    """Where the search begins: the best subset orbit, and the best thinned one if its trace is larger."""
    k, ratios = target.k, ratios_by_size(target)
    alone = [(subset_orbit(k, s, ratio),) for s, ratio in ratios.items()]
    starts = [max(alone, key=trace_of)] if alone else []
    least = max(map(trace_of, starts), default=Fraction(0))
    thinned = best_thinned(target, least, max(ratios.values(), default=Fraction(1)))
    return [*starts, *([thinned] if thinned else [])]


def _certified(
    mixtures: Iterable[tuple[Orbit, ...]], covered: Deployment, order: Real, goal: Fraction
) -> tuple[tuple[Orbit, ...], Answer]:
    """The mixture of the largest trace that the accountant certifies, and its delta."""
    best = None
    for orbits in sorted(mixtures, key=trace_of, reverse=True):
        made = replace(covered, groups=(replace(covered.groups[0], randomizer=orbit_reduction(orbits)),))
        found = delta_bound(made, exp_eps=order, attained=True)
        if found.bracket.upper <= goal:
            return orbits, found
        best = min(found.bracket.upper, best or found.bracket.upper)
    least = format_decimal(best or Fraction(1), digits=7, up=True)
    raise NotDecided(f"the accountant certifies delta = {least} only, above the target {goal}")


def _size(orbits: Sequence[Orbit]) -> int:
    """The subset size of a start."""
    return max(orbits[0].levels, key=lambda level: level[1])[0]


def _below(order: Real, *, unit: int = 1 << 40) -> Fraction:
    """A short rational at most exp(eps), at least 1: what meets it meets the target."""
    lower = enclose(order).lower if isinstance(order, Exp) else Fraction(order)
    return lower if lower.denominator < unit else max(Fraction(1), Fraction(int(lower * unit), unit))


def _best_blocks(target: ExactTarget, k: int, n: int) -> BlockDesign | None:
    """The projective space with the smallest risk at the target; None if there is none with few points."""
    found = []
    for design in block_designs(k):
        padded = ExactTarget(design.points, n, target.exp_eps, target.delta, target.cap)
        ratio = padded.ratio(design.size)
        if ratio > 1:
            found.append(replace(design, ratio=ratio))
    return min(found, key=lambda one: one.risk(n), default=None)
