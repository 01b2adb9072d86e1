r"""The universal envelope: what binary randomized response leaks bounds every channel under the same local cap.

Among all laws of a likelihood ratio on :math:`[1/\lambda,\lambda]` of mean 1 the one on the two end points is the
largest in convex order, so that it has the largest divergence of one user against a constant population
(:mod:`symshuffle.utility.frontiers.contamination`; anchored, Section 4).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import flint

from symshuffle.base.choices import Direction, Rigour
from symshuffle.base.errors import CertificateError, InputError, NotDecided, check_kind
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import Ball, Exp, Number, Real, Verdict, less, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers.contamination import Contamination, Leakage, pair_of_rows

LARGEST_EXACT_ENVELOPE: Final = 3000
"""Users beyond which the envelope is enclosed in balls even where it is rational."""

_PRECISIONS: Final = (192, 384, 768, 1536, 3072, 6144)
_RELATIVE: Final = Fraction(1, 10**18)


@takes_eps0(as_ball=True)
def endpoint_law(lam: Number) -> Law:
    r"""Law with the two values ``lam`` and ``1/lam`` and mean 1.

    The weight of :math:`\lambda` is :math:`1/(1+\lambda)`. At ``lam = 1`` it is the point mass at 1.

    At ``lam = 1`` it is the point mass at 1 (anchored, Definition 4.5).

    Parameters
    ----------
    lam : Number
        A finite number of at least 1.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    Law
        Of the likelihood ratio of binary randomized response.

    Raises
    ------
    InputError
        If ``lam`` is below 1 or not finite.

    Notes
    -----
    anchored, Definition 4.5.

    Examples
    --------
    >>> endpoint_law(Fraction(3)).mean
    Fraction(1, 1)
    """
    if less(lam, 1) is Verdict.TRUE or (isinstance(lam, float) and not math.isfinite(lam)):
        raise InputError("lam", lam, "a finite number of at least 1")
    ratio: Any = lam
    return Law.from_atoms([(ratio, 1 / (1 + ratio)), (1 / ratio, ratio / (1 + ratio))])


@takes_eps0()
def binary_envelope(experiment: Contamination, *, lam: Real | float, gamma: Real | float) -> Leakage:
    r"""Largest divergence of one user against a constant population under a ratio cap.

    The datasets are ``(i, j, ..., j)`` and ``(j, ..., j)``; the maximum is over all channels of ratio cap ``lam`` and
    all inputs i, j.

    .. math:: E(\bar K_n-\gamma)_+=q\,\Pr[B_{n-1}\ge t-1]+p\,\Pr[B_{n-1}\ge t]-\gamma\Pr[B_n\ge t],

    where :math:`p=1/(1+\lambda)=1-q`, :math:`B_m` is binomial :math:`(m,p)` and ``t`` the first count of high ratios
    with :math:`\bar K_n>\gamma`; the reverse direction is the same sum over the counts below :math:`1/\gamma`.

    Parameters
    ----------
    experiment : Contamination
        Number of users and direction; nothing else is covered.
    lam, gamma : Fraction, Exp or inf
        Local ratio cap ``exp(eps0) >= 1`` and order ``exp(eps) >= 1``; the divergence is 1 without a cap, and 0 from
        ``gamma = lam`` on.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    Leakage
        Exact for rational input and n up to 3000, otherwise a ball of relative width below 1e-18.

    Raises
    ------
    InputError
        If ``lam`` or ``gamma`` is below 1, or both are infinite.

    Notes
    -----
    anchored, Theorem 4.9; attained by binary randomized response.

    Examples
    --------
    >>> binary_envelope(Contamination(2), lam=Fraction(3), gamma=Fraction(1)).bracket.exact
    Fraction(3, 8)
    """
    check_kind(experiment, Contamination, "experiment", "an experiment, as Contamination(100)")
    for name, value in (("lam", lam), ("gamma", gamma)):
        if not isinstance(value, Fraction | int | Exp) and value != math.inf:
            raise InputError(name, value, "a Fraction or an Exp of at least 1, or inf")
        if less(value, 1) is Verdict.TRUE:
            raise InputError(name, value, "a number of at least 1")
    if isinstance(lam, float):
        if isinstance(gamma, float):
            raise InputError("gamma", gamma, "a finite order where the cap is infinite")
        why = "no cap: the identity channel tells the pair apart"
        return Leakage(Bracket(Fraction(1), Fraction(1), Rigour.EXACT, "closed form", why), experiment, EVERY_CHANNEL)
    if isinstance(gamma, float) or less(gamma, lam) is not Verdict.TRUE:
        why = "gamma >= lam: no likelihood ratio exceeds it"
        zero = Bracket(Fraction(0), Fraction(0), Rigour.EXACT, "closed form", why)
        return Leakage(zero, experiment, EVERY_CHANNEL)
    if experiment.n <= LARGEST_EXACT_ENVELOPE and isinstance(lam, Fraction) and isinstance(gamma, Fraction):
        exact = _envelope_sum(experiment, lam, gamma)
        return Leakage(
            Bracket(exact, exact, Rigour.EXACT, "closed form", "finite binomial sum"), experiment, EVERY_CHANNEL
        )
    for bits in _PRECISIONS:
        ball = _envelope_ball(experiment, lam, gamma, bits)
        if ball.upper - ball.lower <= _RELATIVE * ball.upper:
            break
    lower = max(ball.lower, Fraction(0))
    how = f"three binomial tails as incomplete beta functions, {bits} bits"
    return Leakage(Bracket(lower, max(lower, ball.upper), Rigour.BALL, "closed form", how), experiment, EVERY_CHANNEL)


EVERY_CHANNEL: Final = "every channel with this local ratio cap and every pair of its inputs (anchored, Theorem 4.9)"


def _envelope_sum(experiment: Contamination, lam: Fraction, gamma: Fraction) -> Fraction:
    n = experiment.n
    total = Fraction(0)
    for count in range(n + 1):
        average = (count * lam + (n - count) / lam) / n
        excess = average - gamma if experiment.direction is Direction.FORWARD else 1 - gamma * average
        if excess > 0:
            total += math.comb(n, count) * lam ** (n - count) * excess
    return total / (1 + lam) ** n


def _envelope_ball(experiment: Contamination, lam: Real, gamma: Real, bits: int) -> Ball:
    n, forward = experiment.n, experiment.direction is Direction.FORWARD
    with working_precision(bits):
        ratio, order = to_arb(lam), to_arb(gamma)
        p, q = 1 / (1 + ratio), ratio / (1 + ratio)
        level = order if forward else 1 / order
        place = Ball.from_arb(n * (level - 1 / ratio) / (ratio - 1 / ratio), bits)
        found: flint.arb | None = None
        # Where the threshold sits on a count, both neighbours of it give the same sum: the summand is zero there.
        for t in range(math.floor(place.lower) + 1, math.floor(place.upper) + 2):
            if forward:
                value = q * _tail(n - 1, t - 1, p) + p * _tail(n - 1, t, p) - order * _tail(n, t, p)
            else:
                seen = q * _tail(n - 1, n - t + 1, q) + p * _tail(n - 1, n - t, q)
                value = _tail(n, n - t + 1, q) - order * seen
            found = value if found is None else found.union(value)
        if found is None:
            raise NotDecided(f"no count of high ratios can be the threshold at {bits} bits")
        return Ball.from_arb(found, bits)


def _tail(n: int, t: int, p: flint.arb) -> flint.arb:
    """The probability that a binomial (n, p) count is at least t."""
    if t <= 0:
        return flint.arb(1)
    return flint.arb(0) if t > n else p.beta_lower(t, n - t + 1, regularized=True)


def certify_envelope(channel: Channel, i: int, j: int, *, lam: Fraction) -> Channel:
    r"""Kernel from binary randomized response to two rows of a channel, checked.

    Feeding the output of randomized response of ratio ``lam`` into the kernel reproduces :math:`W_i` from input 0 and
    :math:`W_j` from input 1: :math:`W_i=\frac{\lambda K_0+K_1}{1+\lambda}`,
    :math:`W_j=\frac{K_0+\lambda K_1}{1+\lambda}`. Since local post-processing commutes with shuffling, no divergence of
    the pair can exceed that of randomized response.

    Parameters
    ----------
    channel : Channel
        A channel over the rationals.
    i, j : int
        Two inputs, each from 0 to k - 1.
    lam : Fraction
        Ratio cap ``exp(eps0)`` of the randomized response, above 1.

    Returns
    -------
    Channel
        With 2 inputs and the outputs of the channel: randomized response of ratio ``lam`` followed by the kernel is the
        channel on the inputs ``(i, j)``.

    Raises
    ------
    InputError
        If a likelihood ratio of the two rows is outside ``[1/lam, lam]``, or ``lam <= 1``.
    CertificateError
        At ``kernel`` if the kernel does not reproduce the rows.

    Notes
    -----
    anchored, Lemma 4.6 and Remark 4.7, in experiment form.

    Examples
    --------
    >>> response = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(certify_envelope(response, 0, 1, lam=Fraction(3)))
    5/6  1/6
    1/6  5/6
    """
    if lam <= 1:
        raise InputError("lam", lam, "a number > 1 (at lam = 1 the two rows agree)")
    pair = pair_of_rows(channel, i, j)
    columns = []
    for y, (a, b) in enumerate(exact_columns(pair)):
        if a > lam * b or b > lam * a:
            raise InputError("lam", lam, f"a cap that output {y} respects (its rows have {a} and {b})")
        columns.append(((lam * a - b) / (lam - 1), (lam * b - a) / (lam - 1)))
    kernel = Channel(tuple(zip(*columns, strict=True)))
    high, low = lam / (1 + lam), 1 / (1 + lam)
    if Channel(((high, low), (low, high))).push_forward(kernel) != pair:
        raise CertificateError("kernel", "randomized response followed by it is not the two rows")
    return kernel
