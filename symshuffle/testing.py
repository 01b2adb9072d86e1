"""Hypothesis strategies for channels, laws and levels: random inputs whose every number is an exact rational.

Needs the package ``hypothesis``, which symshuffle does not install; nothing else in symshuffle imports this module.

Examples
--------
>>> from hypothesis import given
>>> from symshuffle import testing
>>> @given(testing.channels(max_inputs=3))
... def rows_sum_to_one(channel):
...     assert all(sum(row) == 1 for row in channel.rows)
>>> rows_sum_to_one()
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law


def _normalised(weights: Sequence[int]) -> tuple[Fraction, ...]:
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)


def distributions(size: int, *, largest: int = 12, support: int = 0) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Distributions on ``size`` points, from integer weights of at most ``largest``.

    Parameters
    ----------
    size : int
        Number of points.
    largest : int
        Largest integer weight before normalising.
    support : int
        Smallest integer weight; 0 allows points of probability zero.
    """
    weights = st.lists(st.integers(support, largest), min_size=size, max_size=size)
    return weights.filter(any).map(_normalised)


@st.composite
def channels(draw: st.DrawFn, *, max_inputs: int = 4, max_outputs: int = 4, support: int = 0) -> Channel:
    """Channels over the rationals with two inputs or more; null outputs occur unless ``support > 0``."""
    inputs, outputs = draw(st.integers(2, max_inputs)), draw(st.integers(1, max_outputs))
    return Channel(tuple(draw(distributions(outputs, support=support)) for _ in range(inputs)))


@st.composite
def ldp_channels(draw: st.DrawFn, *, lam: Fraction, max_inputs: int = 4, max_outputs: int = 4) -> Channel:
    """Channels that are log(lam)-LDP with every output possible.

    Every row is a density between 1 and r over one distribution, normalised: a likelihood ratio is then at most r from
    the densities and r from the normalisers, and r is chosen with ``r * r <= lam``.
    """
    inputs, outputs = draw(st.integers(2, max_inputs)), draw(st.integers(1, max_outputs))
    base = draw(distributions(outputs, support=1))
    top = Fraction(1) + (lam - 1) / (lam + 1) / 2
    share = st.fractions(0, 1, max_denominator=6)
    rows = []
    for _ in range(inputs):
        masses = [mass * (1 + (top - 1) * draw(share)) for mass in base]
        rows.append(tuple(mass / sum(masses) for mass in masses))
    return Channel(tuple(rows))


def ratios(*, largest: int = 6, max_denominator: int = 6) -> st.SearchStrategy[Fraction]:
    """Ratios ``exp(eps) >= 1`` or ``exp(eps0) >= 1`` as rationals."""
    return st.fractions(1, largest, max_denominator=max_denominator)


@st.composite
def laws(draw: st.DrawFn, *, max_atoms: int = 5, singular: bool = True) -> Law:
    """Laws of G with rational atoms on both sides of zero, some of them rare, and perhaps a singular mass."""
    value = st.fractions(-8, 8, max_denominator=6)
    values: list[Any] = draw(st.lists(value, min_size=1, max_size=max_atoms, unique=True))
    weights = draw(st.lists(st.integers(1, 12), min_size=len(values), max_size=len(values)))
    if draw(st.booleans()):  # a rare atom: this is where relative accuracy is lost
        weights[0] = 1
        weights[1:] = [weight * 10 ** draw(st.integers(1, 15)) for weight in weights[1:]]
    mass = draw(st.fractions(0, 1, max_denominator=6)) if singular else Fraction(0)
    return Law(tuple(values), _normalised(weights), mass)
