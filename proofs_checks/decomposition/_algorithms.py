r"""Reduction pairs and shuffled messages as stochastic maps of one another (decomposition, Algorithms 1 to 6).

Each algorithm of the paper simulates one experiment from the outcome of another. Here an algorithm is a *kernel*: from
an outcome to the law of what it is turned into. Pushing the law of the first experiment through the kernel has to give
the law of the second one, as an identity between exact laws; the data-processing inequality then orders their
divergences.

Outcomes are histograms. The outcome :math:`(|b|, Y)` of the blanket experiment is the histogram of the multiset
:math:`Y`, whose size is always :math:`|b| + 1`.

Probabilities may be fractions, doubles or elements of a polynomial ring: nothing here compares them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Number, equal
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import HistogramLaw, Tally, histogram_law
from symshuffle.decompositions.model import Decomposition, privacy_blanket

Distribution: TypeAlias = Sequence[Any]
"""Probabilities by message."""

Kernel: TypeAlias = Callable[[Tally], Mapping[Tally, Any]]
"""From a histogram to the law of the histogram that it is turned into."""


def push_forward(law: HistogramLaw, kernel: Kernel) -> dict[Tally, Any]:
    """Law of the output of a kernel on a random histogram."""
    image: dict[Tally, Any] = {}
    for histogram, mass in law.items():
        for output, probability in kernel(histogram).items():
            image[output] = image.get(output, Fraction(0)) + mass * probability
    return image


def _samples(users: Sequence[Distribution], messages: int) -> dict[Tally, Any]:
    """Law of the histogram of one draw from each distribution; the empty histogram if there is none."""
    return histogram_law(users) if users else {(0,) * messages: Fraction(1)}


def _check_left_overs(count: int, left_overs: Sequence[Distribution]) -> None:
    if not 0 <= count <= len(left_overs):
        raise InputError("histogram", f"{count} users without a shared sample", f"at most the {len(left_overs)} others")


def _mixture(laws: Iterable[tuple[Any, Mapping[Tally, Any]]]) -> dict[Tally, Any]:
    total: dict[Tally, Any] = {}
    for weight, law in laws:
        for histogram, mass in law.items():
            total[histogram] = total.get(histogram, Fraction(0)) + weight * mass
    return total


def _union(first: Mapping[Tally, Any], second: Mapping[Tally, Any]) -> dict[Tally, Any]:
    """Law of the union of two independent multisets."""
    total: dict[Tally, Any] = {}
    for (h, p), (g, q) in itertools.product(first.items(), second.items()):
        key = tuple(i + j for i, j in zip(h, g, strict=True))
        total[key] = total.get(key, Fraction(0)) + p * q
    return total


def _drawn_in_turn(left_overs: Sequence[Distribution], draws: int, messages: int) -> dict[Tally, Any]:
    """One sample from the left-over of each user that is drawn, one after the other and without replacement."""
    if draws == 0:
        return _samples((), messages)
    share = Fraction(1, len(left_overs))
    return _mixture(
        (
            share,
            _union(
                histogram_law([left_over]),
                _drawn_in_turn([*left_overs[:j], *left_overs[j + 1 :]], draws - 1, messages),
            ),
        )
        for j, left_over in enumerate(left_overs)
    )


def standard_clone_map(first: Distribution, second: Distribution, left_overs: Sequence[Distribution]) -> Kernel:
    r"""Simulate the shuffled messages from a histogram of clones.

    Symbol 0 becomes a sample of ``first``, symbol 1 one of ``second``; each symbol 2 becomes a sample of the left-over
    of a user drawn without replacement.

    - ``first``, ``second``: :math:`R(x_1^0)` and :math:`R(x_1^1)`, or the two extreme distributions that they mix.
    - ``left_overs``: left-overs of the users ``2..n``, in any order.

    decomposition, Algorithm 1. Outcomes are histograms ``(n0, n1, n2)`` of the paper's string of symbols, whose order
    the shuffler forgets anyway.
    """

    def kernel(histogram: Tally) -> dict[Tally, Any]:
        n0, n1, n2 = histogram
        _check_left_overs(n2, left_overs)
        shared = _samples([first] * n0 + [second] * n1, len(first))
        return _union(shared, _drawn_in_turn(left_overs, n2, len(first)))

    return kernel


def blanket_map(left_overs: Sequence[Distribution], *, messages: int) -> Kernel:
    """Simulate the shuffled messages from the blanket experiment: add samples of users drawn without replacement.

    - ``left_overs``: left-overs of the users ``2..n`` under the blanket, in any order.

    decomposition, Algorithm 2.
    """

    def kernel(histogram: Tally) -> dict[Tally, Any]:
        missing = len(left_overs) + 1 - sum(histogram)
        _check_left_overs(missing, left_overs)
        return _union({histogram: Fraction(1)}, _drawn_in_turn(left_overs, missing, messages))

    return kernel


def general_clone_map(components: Sequence[Distribution], left_overs: Sequence[Distribution]) -> Kernel:
    """Simulate the shuffled messages from a histogram over the components of a decomposition.

    A count of component ``j`` becomes as many samples of it; a count ``m`` of the last cell becomes one sample from
    the left-over of each user of a uniformly random ``m``-subset of the users ``2..n``.

    - ``left_overs``: left-overs of the users ``2..n``, in any order.

    decomposition, Algorithm 3.
    """
    messages = len(components[0])

    def kernel(histogram: Tally) -> dict[Tally, Any]:
        *counts, rest = histogram
        _check_left_overs(rest, left_overs)
        shared = [q for count, q in zip(counts, components, strict=True) for _ in range(count)]
        subsets = list(itertools.combinations(left_overs, rest))
        share = Fraction(1, len(subsets))
        return _mixture((share, _samples([*shared, *subset], messages)) for subset in subsets)

    return kernel


def blanket_to_primary(n: int) -> Kernel:
    """The bijection from the blanket experiment to the primary optimal decomposition.

    It writes the number of users who did not take the blanket into a last cell.

    decomposition, Algorithm 4.
    """
    return lambda histogram: {(*histogram, n - sum(histogram)): Fraction(1)}


def clone_to_blanket(components: Sequence[Distribution], common: Distribution, keep: Any) -> Kernel:
    """Simulate the blanket experiment from a histogram over the components of any decomposition.

    A count of component ``j`` becomes as many samples of it; each count of the last cell becomes a sample of
    ``common`` with probability ``keep`` and vanishes otherwise.

    decomposition, Algorithm 5; :func:`common_left_over` gives the last two arguments.
    """
    messages = len(components[0])

    def kernel(histogram: Tally) -> dict[Tally, Any]:
        *counts, rest = histogram
        shared = [q for count, q in zip(counts, components, strict=True) for _ in range(count)]
        return _mixture(
            (
                math.comb(rest, kept) * keep**kept * (1 - keep) ** (rest - kept),
                _samples([*shared, *[common] * kept], messages),
            )
            for kept in range(rest + 1)
        )

    return kernel


def common_left_over(decomposition: Decomposition, channel: Channel) -> tuple[tuple[Any, ...], Any]:
    r"""What the left-overs of a decomposition have in common, and with which weight.

    - returned ``common``: :math:`Q^{com}=(\gamma\omega-\sum_j c_jQ^j)/\mu` with :math:`\mu=\gamma-\sum_j c_j`; where
      :math:`\mu=0`, any distribution will do and the first component is returned.
    - returned ``keep``: :math:`\mu/\beta`; 0 where there is no left-over.

    decomposition, proof of Theorem 6, with equation (4) as the condition that is checked.
    """
    floor, shared = channel.blanket(), decomposition.common()
    excess: list[Any] = [b - s for b, s in zip(floor, shared, strict=True)]
    for y, mass in enumerate(excess):
        if mass < 0:
            raise InputError(f"shared part at output {y}", shared[y], f"at most the blanket, {floor[y]}")
    mu = sum(excess, start=Fraction(0))
    if equal(mu, 0):
        return tuple(decomposition.components[0]), Fraction(0)
    return tuple(mass / mu for mass in excess), mu / decomposition.beta


def blanket_to_simplified(groups: Sequence[Sequence[int]], n: int) -> Kernel:
    """From the blanket experiment to a decomposition that merges outputs.

    decomposition, Algorithm 6.
    """
    return lambda histogram: {
        (*(sum(histogram[y] for y in group) for group in groups), n - sum(histogram)): Fraction(1)
    }


def blanket_laws(channel: Channel, pair: tuple[int, int], n: int) -> tuple[HistogramLaw, HistogramLaw]:
    r"""Both laws of the blanket experiment.

    :math:`|b|\sim\mathrm{Bin}(n-1,\gamma)`; the outcome is the multiset of one sample of :math:`R(x_1^a)` and
    :math:`|b|` samples of the blanket distribution.

    decomposition, Definition 6.
    """
    blanket = privacy_blanket(channel)
    gamma: Any = blanket.gamma
    omega: Sequence[Number] = blanket.omega or ()

    def law(x: int) -> dict[Tally, Any]:
        return _mixture(
            (
                math.comb(n - 1, size) * gamma**size * (1 - gamma) ** (n - 1 - size),
                histogram_law([channel.rows[x], *[omega] * size]),
            )
            for size in range(n if omega else 1)
        )

    return _charged(law(pair[0])), _charged(law(pair[1]))


def _charged(law: Mapping[Tally, Any]) -> dict[Tally, Any]:
    """The law without the outcomes of probability zero."""
    return {histogram: mass for histogram, mass in law.items() if not (isinstance(mass, Fraction) and mass == 0)}
