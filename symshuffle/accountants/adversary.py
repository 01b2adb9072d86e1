r"""How bad real neighbouring datasets are: lower bounds that can be pointed at.

For few users every pair of neighbouring datasets is enumerated. For many users two families are searched, whose
divergence is a number of the same kind as the bound itself:

- *constant backgrounds*: all other users hold one input (decomposition, Theorem 14);
- *two-type backgrounds*: every other user holds one of two inputs, drawn independently with a common weight. The
  hockey-stick divergence is jointly convex, so the value of the mixture is at most the average of the values of the
  datasets that it draws: some fixed dataset of these two types is at least as bad.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.reduction import Reduction
from symshuffle.accountants.solve import delta
from symshuffle.channel import Channel
from symshuffle.decompositions.model import Decomposition
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import Number, Real, lower_end
from symshuffle.results import Bracket, Rigour
from symshuffle.shuffled import LARGEST_ENUMERATION, count_histograms, worst_shuffled_divergence

WEIGHTS: Final = tuple(Fraction(j, 8) for j in range(1, 8))
"""Weights of the second type that a two-type search tries."""


@final
@dataclass(frozen=True, slots=True)
class WorstCase:
    """The worst neighbouring datasets that a search found.

    Parameters
    ----------
    bracket : Bracket
        Their shuffled divergence; for a two-type background, a lower bound on that of some dataset of these types.
    datasets : str
        The two datasets.
    searched : int
        Number of pairs of datasets, or of families of them, that were evaluated.
    space : str
        What was searched, and whether that is everything.
    """

    bracket: Bracket
    datasets: str
    searched: int
    space: str


def worst_of_all(channel: Channel, n: int, exp_eps: Fraction) -> WorstCase:
    """The worst of all neighbouring datasets of ``n`` users, by enumeration in exact arithmetic.

    Parameters
    ----------
    channel : Channel
        Exact.
    n : int
        Number of users, the differing one included.
    exp_eps : Fraction
        Target ratio ``exp(eps)``, at least 1.

    Raises
    ------
    InputError
        If the channel is not exact.
    Unsupported
        If that would enumerate more than ``LARGEST_ENUMERATION`` histograms for a pair of inputs.
    """
    if not channel.exact:
        raise InputError("channel", "not rational", "rational entries, for an exact enumeration")
    found: list[tuple[Any, str]] = []
    for pair in itertools.permutations(range(channel.num_inputs), 2):
        value, background = worst_shuffled_divergence(channel, pair, n, exp_eps)
        found.append((value, _written(pair, background)))
    best = max(found, key=lambda item: item[0], default=None)
    if best is None:
        raise InputError("channel", f"{channel.num_inputs} input", "at least 2 inputs")
    searched = len(found) * count_histograms(n - 1, channel.num_inputs)
    bracket = Bracket(best[0], best[0], Rigour.EXACT, "enumeration", "every histogram of every dataset")
    return WorstCase(bracket, best[1], searched, f"all neighbouring datasets of {n} users, up to their order")


def _written(pair: tuple[int, int], background: tuple[int, ...]) -> str:
    others = ", ".join(map(str, background))
    return f"X0 = ({pair[0]}; {others}), X1 = ({pair[1]}; {others})"


def worst_of_two_types(
    channel: Channel,
    n: int,
    exp_eps: Real,
    *,
    rel: float = 1e-6,
    rigour: Rigour | None = Rigour.FLOAT64,
    bits: int | None = None,
) -> WorstCase:
    """The worst of all constant backgrounds and of two-type backgrounds on a grid of weights, at any ``n``.

    Parameters
    ----------
    channel : Channel
        The local randomizer.
    n, exp_eps, rel, rigour, bits
        As for :func:`symshuffle.accountants.solve.delta`.

    Raises
    ------
    Unsupported
        If an engine cannot answer at the rigour asked for.
    """
    best: tuple[Bracket, str] | None = None
    searched = 0
    for datasets, decomposition in _families(channel, n):
        one = Reduction((_family(decomposition),), (), "a real pair of datasets")
        bracket = delta(one, n=n, exp_eps=exp_eps, direction="forward", rigour=rigour, rel=rel, bits=bits).bracket
        searched += 1
        if best is None or bracket.lower > best[0].lower:
            best = bracket, datasets
    if best is None:
        raise InputError("channel", f"{channel.num_inputs} input", "at least 2 inputs")
    space = f"constant backgrounds, and two-type backgrounds with weights j/{len(WEIGHTS) + 1}: not all datasets"
    return WorstCase(best[0], best[1], searched, space)


def _family(decomposition: Decomposition) -> Any:
    from symshuffle.numbers import DEFAULT_BITS, enclose

    pair = decomposition.reduction_pair()

    def family(exp_eps: Real, direction: str, bits: int | None) -> Law:
        target: Number = exp_eps if isinstance(exp_eps, Fraction) else enclose(exp_eps, bits or DEFAULT_BITS)
        return pair.gparv(target, direction="forward" if direction == "forward" else "reverse")

    return family


def _families(channel: Channel, n: int) -> Iterator[tuple[str, Decomposition]]:
    """Backgrounds with the exact decomposition of every ordered pair of inputs over them."""
    inputs = range(channel.num_inputs)
    for first, second in itertools.permutations(inputs, 2):
        a, b = channel.rows[first], channel.rows[second]
        for held in inputs:
            datasets = f"X0 = ({first}; {held} x {n - 1}), X1 = ({second}; {held} x {n - 1})"
            yield datasets, Decomposition(a, b, channel.rows[held], Fraction(0))
        for (u, v), weight in itertools.product(itertools.combinations(inputs, 2), WEIGHTS if n > 1 else ()):
            mixed: tuple[Any, ...] = tuple(
                (1 - weight) * p + weight * q for p, q in zip(channel.rows[u], channel.rows[v], strict=True)
            )
            others = f"{n - 1} users holding {v} with probability {weight} and {u} otherwise"
            yield f"X0 = ({first}; {others}), X1 = ({second}; the same)", Decomposition(a, b, mixed, Fraction(0))


def worst_background(channel: Channel, n: int, exp_eps: Real, *, rel: float = 1e-6) -> WorstCase:
    """The worst neighbouring datasets: of all of them where that can be enumerated, otherwise of two types.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> worst_background(mechanism("rr").channel(lam=3), 3, Fraction(6, 5)).bracket.exact
    Fraction(81, 320)
    """
    size = count_histograms(n - 1, channel.num_inputs) * count_histograms(n, channel.num_outputs)
    if channel.exact and isinstance(exp_eps, Fraction) and size <= LARGEST_ENUMERATION // 10:
        return worst_of_all(channel, n, exp_eps)
    return worst_of_two_types(channel, n, exp_eps, rel=rel)


def gap(found: WorstCase, bound: Bracket) -> Fraction:
    """How much of the bound is not reached by the datasets found, in [0, 1].

    Raises
    ------
    Unsupported
        If the datasets exceed the bound: one of the two would be wrong.
    """
    if lower_end(found.bracket.lower) > bound.upper:
        raise Unsupported(f"datasets {found.datasets} exceed the bound {float(bound.upper):.6g}: please report this")
    return 1 - found.bracket.lower / bound.upper if bound.upper else Fraction(0)
