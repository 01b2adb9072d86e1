r"""The canonical estimator of a population's composition, and its exact risk at every number of users.

A message with template :math:`u` votes with :math:`c(u)=A(u-1)`, :math:`A=(C+\frac1k11^T)^{-1}-\frac1k11^T` for the
covariance :math:`C`; the estimate is the uniform composition plus the mean vote (anchored, Section 5). *Fixed
composition*: exactly :math:`nw_i` users hold ``i``; *i.i.d.*: every user draws from :math:`w`. Risks are expected
squared Euclidean errors; ``inf`` where the covariance is singular on contrasts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symshuffle.base.choices import Arithmetic, Population, choice
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, lower_end, upper_end
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel, check_channel, exact_columns
from symshuffle.channels.geometry.linear import Matrix, Vector, dot, inverse
from symshuffle.channels.shuffled import histogram_law
from symshuffle.utility.anchored.enclosed import EnclosedLaw
from symshuffle.utility.anchored.law import AnchoredLaw, check_composition


def template_votes(law: AnchoredLaw, templates: Iterable[Sequence[Fraction]]) -> tuple[Vector, ...]:
    """What messages with these templates add to the sum of votes, by the canonical estimator of a law."""
    precision = _precision(law)
    if precision is None:
        raise InputError(
            "law", "a singular covariance", "rows that span all contrasts (the canonical risk is infinite)"
        )
    return _votes(precision, templates)


def _votes(precision: Matrix, templates: Iterable[Sequence[Fraction]]) -> tuple[Vector, ...]:
    return tuple(tuple(dot(row, u) for row in precision) for u in templates)


def output_votes(channel: Channel, law: AnchoredLaw | None = None) -> tuple[Vector, ...]:
    """The vote of every output of a channel; null outputs, which never occur, vote for nothing.

    - ``law``: whose canonical estimator it is; default: that of the channel.
    """
    check_channel(channel)
    k = channel.num_inputs
    templates = [[entry * k / (sum(column) or k) for entry in column] for column in exact_columns(channel)]
    return template_votes(AnchoredLaw.from_channel(channel) if law is None else law, templates)


def estimated_composition(votes: Sequence[Vector], histogram: Sequence[int]) -> Vector:
    """The estimated composition from the votes and the counts of every output (it may leave the simplex)."""
    n, k = sum(histogram), len(votes[0])
    if len(histogram) != len(votes) or n < 1:
        raise InputError("histogram", tuple(histogram), f"{len(votes)} counts of at least one message")
    return tuple(
        Fraction(1, k) + sum((count * vote[i] for count, vote in zip(histogram, votes, strict=True)), Fraction(0)) / n
        for i in range(k)
    )


def _precision(law: AnchoredLaw) -> Matrix | None:
    share = Fraction(1, law.num_inputs)
    inverted = inverse([[entry + share for entry in row] for row in law.covariance()])
    return None if inverted is None else tuple(tuple(entry - share for entry in row) for row in inverted)


def inverse_trace(law: AnchoredLaw) -> Fraction | float:
    r"""The number :math:`\operatorname{tr}\Sigma^{-1}`; ``inf`` where the covariance is singular."""
    precision = _precision(law)
    return math.inf if precision is None else sum((row[i] for i, row in enumerate(precision)), start=Fraction(0))


def vote_sizes(law: AnchoredLaw) -> Vector | None:
    r"""The numbers :math:`E_{W_i}|c(u)|^2=\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})` by row; None if singular."""
    precision = _precision(law)
    if precision is None:
        return None
    votes = _votes(precision, law.templates)
    weighted = [weight * dot(vote, vote) for vote, weight in zip(votes, law.weights, strict=True)]
    return tuple(dot(weighted, coordinate) for coordinate in zip(*law.templates, strict=True))


def canonical_risk(
    law: AnchoredLaw, composition: Sequence[Fraction], *, n: int, population: Population
) -> Fraction | float:
    r"""Exact risk of the canonical estimator of the composition.

    It is the expected squared error :math:`E|\hat w-w|^2`:

    .. math::
        R_{\rm fix}(w)=\frac1n\Big[\sum_iw_i\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})-\Big(1-\frac1k\Big)\Big],\qquad
        R_{\rm iid}(w)=\frac1n\Big[\sum_iw_i\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})-|w|^2+\frac1k\Big].

    Parameters
    ----------
    law : AnchoredLaw
        The channel.
    composition : sequence of Fraction
        The truth ``w``; for a fixed composition ``n w`` must be integers.
    n : int
        Number of users.
    population : Population
        How inputs arise from ``w``.

    Returns
    -------
    Fraction or float
        Exact; ``inf`` if the covariance is singular.

    Raises
    ------
    InputError
        If the composition is no probability vector of length k, or ``n w`` is not integer for a fixed composition.

    Notes
    -----
    anchored, Propositions 5.5 and 5.7, Convention 5.3.

    Examples
    --------
    >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> canonical_risk(law, [Fraction(1, 2), Fraction(1, 2)], n=4, population="fixed")
    Fraction(3, 8)
    """
    population = choice(Population, population, "population")
    w, n = _check_population(composition, law.num_inputs, n, population)
    sizes = vote_sizes(law)
    if sizes is None:
        return math.inf
    return _risk(w, sizes, n, population)


def worst_canonical_risk(law: AnchoredLaw, *, n: int, population: Population) -> tuple[Fraction | float, Vector]:
    """Largest canonical risk over all compositions, and a composition that attains it.

    The fixed-composition risk is affine, so a constant population is worst. The i.i.d. risk is concave quadratic: its
    maximiser is the projection of half the vote sizes on the simplex, found exactly by sorting.

    Parameters
    ----------
    law : AnchoredLaw
        The channel.
    n : int
        Number of users, at least 1.
    population : {"fixed", "iid"}
        How inputs arise from the composition.

    Returns
    -------
    risk : Fraction or float
        Exact; ``inf`` if the covariance is singular.
    composition : tuple of Fraction
        One entry per input; the uniform composition where the risk is infinite.

    Raises
    ------
    InputError
        If ``n`` is no integer of at least 1, or the population is unknown.

    Examples
    --------
    >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> worst_canonical_risk(law, n=4, population="iid")
    (Fraction(1, 2), (Fraction(1, 2), Fraction(1, 2)))
    """
    population = choice(Population, population, "population")
    n = as_integer(n, "n", 1)
    k = law.num_inputs
    sizes = vote_sizes(law)
    if sizes is None:
        return math.inf, (Fraction(1, k),) * k
    return _worst(sizes, n, population)


def project_on_simplex(point: Sequence[Fraction]) -> Vector:
    """The probability vector nearest to a point, exactly."""
    total, shift = Fraction(0), Fraction(0)
    for i, entry in enumerate(sorted(point, reverse=True), start=1):
        total += entry
        if entry > (total - 1) / i:
            shift = (total - 1) / i
    return tuple(max(entry - shift, Fraction(0)) for entry in point)


def isotropic_risk(k: int, trace: Any, *, population: Population) -> Any:
    r"""``n`` times the worst canonical risk of an exchangeable law, from its trace alone.

    It is :math:`(k-1)^2/\operatorname{tr}\Sigma`, and :math:`(k-1)/k` less for a fixed composition. Accepts fractions,
    balls and SymPy expressions; ``inf`` at trace 0 (anchored, Theorem 6.2 and Corollary 6.3).
    """
    population = choice(Population, population, "population")
    k = as_integer(k, "k", 2)
    if isinstance(trace, Fraction | int):
        if not 0 <= trace <= k * (k - 1):
            raise InputError("trace", trace, f"a trace in [0, {k * (k - 1)}]: the largest is that of the identity")
        if trace == 0:
            return math.inf
    constant = Fraction((k - 1) ** 2) / trace if isinstance(trace, int) else (k - 1) ** 2 / trace
    return constant if population == "iid" else constant - Fraction(k - 1, k)


def _check_population(composition: Sequence[Fraction], k: int, n: int, population: Population) -> tuple[Vector, int]:
    """The composition and the number of users, refused if they cannot have it."""
    n = as_integer(n, "n", 1)
    w = check_composition(composition, k)
    if population == "fixed" and any((entry * n).denominator != 1 for entry in w):
        raise InputError("composition", tuple(map(str, w)), f"multiples of 1/{n} for a fixed composition of {n} users")
    return w, n


def enumerated_risk(
    channel: Channel, composition: Sequence[Fraction], *, n: int, population: Population
) -> tuple[Fraction, Vector]:
    """Risk and mean of the canonical estimate, by enumeration of all histograms.

    Parameters
    ----------
    channel : Channel
        The local randomizer, over the rationals.
    composition : sequence of Fraction
        The truth ``w``, of length k; for a fixed composition ``n w`` must be integers.
    n : int
        Number of users, at least 1.
    population : {"fixed", "iid"}
        How inputs arise from ``w``.

    Returns
    -------
    risk : Fraction
        Expected squared error.
    mean : Vector
        Expected estimate, which is the composition.

    Raises
    ------
    InputError
        If the composition is no probability vector of length k, or ``n w`` is not integer for a fixed composition.

    Examples
    --------
    >>> response = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> enumerated_risk(response, [Fraction(1, 2), Fraction(1, 2)], n=4, population="fixed")
    (Fraction(3, 8), (Fraction(1, 2), Fraction(1, 2)))
    """
    check_channel(channel)
    population = choice(Population, population, "population")
    w, n = _check_population(composition, channel.num_inputs, n, population)
    votes = output_votes(channel)
    risk, mean = Fraction(0), [Fraction(0)] * channel.num_inputs
    for histogram, mass in population_law(channel, w, n, population).items():
        found = estimated_composition(votes, histogram)
        risk += mass * sum((a - b) ** 2 for a, b in zip(found, w, strict=True))
        mean = [total + mass * entry for total, entry in zip(mean, found, strict=True)]
    return risk, tuple(mean)


def population_law(channel: Channel, w: Vector, n: int, population: Population) -> Mapping[tuple[int, ...], Any]:
    """Law of the histogram of the messages of ``n`` users of a composition."""
    check_channel(channel)
    if population == "iid":
        mixture = tuple(dot(w, column) for column in exact_columns(channel))
        return histogram_law([mixture] * n)
    return histogram_law([channel.rows[i] for i, entry in enumerate(w) for _ in range(int(entry * n))])


def worst_risk(law: AnchoredLaw | EnclosedLaw, *, n: int, population: Population) -> tuple[Bracket, Vector]:
    """The largest canonical risk of a law at any level, and the composition (anchored, Propositions 5.5 and 5.7).

    With :math:`s_i=E_{W_i}|c(u)|^2` the risk increases with every :math:`s_i`, so the worst cases at the lower and at
    the upper ends of the balls enclose it.
    """
    population = choice(Population, population, "population")
    n = as_integer(n, "n", 1)
    sizes = vote_sizes(law) if isinstance(law, AnchoredLaw) else law.vote_sizes()
    if sizes is None:
        raise InputError(
            "law", "a singular covariance", "rows that span all contrasts (the canonical risk is infinite)"
        )
    evaluation = "affine in the composition" if population == "fixed" else "concave quadratic in the composition"
    arithmetic: Arithmetic = "exact" if isinstance(law, AnchoredLaw) else "ball"
    lower, _ = _worst(tuple(map(lower_end, sizes)), n, population)
    upper, _ = _worst(tuple(map(upper_end, sizes)), n, population)
    _, w = _worst([size if isinstance(size, Fraction) else size.midpoint for size in sizes], n, population)
    return Bracket(lower, upper, arithmetic, "closed form", evaluation), w


def _worst(sizes: Sequence[Fraction], n: int, population: Population) -> tuple[Fraction, Vector]:
    """The risk at the composition that is worst for these sizes of votes, and that composition."""
    if population == "fixed":
        w: Vector = tuple(Fraction(int(x == sizes.index(max(sizes)))) for x in range(len(sizes)))
    else:
        w = project_on_simplex([size / 2 for size in sizes])
    return _risk(w, sizes, n, population), w


def _risk(w: Vector, sizes: Sequence[Fraction], n: int, population: Population) -> Fraction:
    share = Fraction(1, len(w))
    explained = 1 - share if population == "fixed" else dot(w, w) - share
    return (dot(w, sizes) - explained) / n
