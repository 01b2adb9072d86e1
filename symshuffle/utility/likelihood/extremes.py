r"""How much chi-square two rows of a local channel can have, and who attains it.

A ratio with mean 1 on :math:`[1/\lambda,\lambda]` has variance at most :math:`(\lambda-1)^2/\lambda` (Bhatia and
Davis), with equality only on the two end points. The half-block channel attains it along opposite inputs on every even
alphabet; :func:`identifiable_obstruction` does so with a matrix of full rank, so identifiability does not help.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symshuffle.base.errors import InputError
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import (
    Ball,
    Exp,
    Number,
    Real,
    Verdict,
    as_integer,
    as_precision,
    enclose,
    less,
    working_precision,
)
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.utility.frontiers.envelope import endpoint_law
from symshuffle.utility.likelihood.law import LikelihoodRatio, check_share


def bhatia_davis_bound(mean: Any, low: Any, high: Any) -> Any:
    r"""The largest variance of a variable in ``[low, high]`` of a given mean: :math:`(M-\mu)(\mu-m)`.

    Attained exactly by the law on the two end points (alphabets, Lemma 4.1). Symbols are welcome.
    """
    if all(isinstance(x, Fraction | int) for x in (mean, low, high)) and not low <= mean <= high:
        raise InputError("mean", mean, f"a number in [{low}, {high}]")
    return (high - mean) * (mean - low)


@takes_eps0()
def largest_chi_square(lam: Any) -> Any:
    r"""Largest chi-square divergence of two rows under a ratio cap.

    It is :math:`(\lambda-1)^2/\lambda`.

    Parameters
    ----------
    lam : Fraction, Ball, Exp or sympy.Expr
        Local ratio cap ``exp(eps0)``, at least 1.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    Fraction, Ball or sympy.Expr
        A number of the kind of ``lam`` (a ball for an ``Exp``).

    Raises
    ------
    InputError
        If the cap is below 1.

    Notes
    -----
    alphabets, Theorem 4.2; the bound of :func:`bhatia_davis_bound` at mean 1 on ``[1/lam, lam]``.

    Examples
    --------
    >>> largest_chi_square(Fraction(3))
    Fraction(4, 3)
    """
    cap = read_cap(lam)
    return bhatia_davis_bound(1, 1 / cap, cap)


@takes_eps0(as_ball=True)
def endpoint_ratio(lam: Number) -> LikelihoodRatio:
    """The law that attains :func:`largest_chi_square`, that of binary randomized response (alphabets, Theorem 4.2)."""
    return LikelihoodRatio.from_atoms(endpoint_law(lam).atoms())


def gaussian_scale(chi_square: Number, n: int, *, bits: int = 128) -> Ball:
    r"""Gaussian parameter mu of one user against a constant population.

    It is :math:`\mu=\sqrt{\chi^2/n}`.

    Parameters
    ----------
    chi_square : Number
        Chi-square divergence of the two rows, at least 0; fraction or ball.
    n : int
        Number of users, at least 1.
    bits : int
        Precision of the ball.

    Returns
    -------
    Ball
        Around mu.

    Raises
    ------
    InputError
        If an argument is out of range.

    Notes
    -----
    alphabets, Corollary 4.3.

    Examples
    --------
    >>> round(float(gaussian_scale(Fraction(4), 100)), 6)
    0.2
    """
    if less(chi_square, 0) is Verdict.TRUE:
        raise InputError("chi_square", chi_square, "a number of at least 0")
    n, bits = as_integer(n, "n", 1), as_precision(bits)
    with working_precision(bits + 16):
        return Ball.from_arb((enclose(chi_square, bits + 16).arb() / n).nonnegative_part().sqrt(), bits)


@takes_eps0()
def check_attainable(chi_square: Number, lam: Real) -> None:
    """Check that a pairwise chi-square can occur under a ratio cap."""
    top = largest_chi_square(lam)
    if isinstance(chi_square, float):
        raise InputError("chi_square", chi_square, "a rational or a ball (a double is no exact budget)")
    if less(chi_square, 0) is Verdict.TRUE or less(top, chi_square) is Verdict.TRUE:
        raise InputError("chi_square", chi_square, f"a number in [0, (lam - 1)^2/lam] = [0, {top}]")


def read_cap(lam: Any) -> Any:
    """A ratio cap as something to calculate with; an ``Exp`` becomes a ball."""
    if isinstance(lam, Exp):
        return enclose(lam)
    if isinstance(lam, float):
        raise InputError("lam", lam, "a Fraction, an Exp or a Ball (a double is no exact cap)")
    if isinstance(lam, int | Fraction | Ball) and less(lam, 1) is Verdict.TRUE:
        raise InputError("lam", lam, "a number of at least 1")
    return Fraction(lam) if isinstance(lam, int) else lam


def dilute(channel: Channel, eta: Fraction) -> Channel:
    r"""Run the channel with probability ``eta`` and send one common symbol otherwise.

    The ratio law of every pair becomes :math:`\eta\,\nu+(1-\eta)\,\delta_1`, its chi-square ``eta`` times what it was:
    every decay of the budget in the size of the alphabet is reached (alphabets, Corollary 7.3).
    """
    check_share("eta", eta)
    null = Channel(((Fraction(1),),) * channel.num_inputs)
    return direct_sum([channel, null], [eta, 1 - eta]).without_null_outputs()[0]


def half_block_channel(k: int, lam: Fraction) -> Channel:
    """The half-block channel as a matrix, input 0 opposite to input ``k/2`` (alphabets, Definition 5.1)."""
    from symshuffle.mechanisms.finite import half_block

    k = as_integer(k, "k", 2)
    if k % 2:
        raise InputError("k", k, "an even number of inputs, at least 2 (the half-block channel has two equal halves)")
    return half_block().at(k=k, lam=lam).channel()


def identifiable_obstruction(k: int, lam: Fraction) -> Channel:
    r"""A channel of rank ``k`` and ratio cap ``lam`` whose pair (0, 1) has the endpoint law: nothing is lost.

    Outputs form two halves. Row 0 favours the second half, row 1 the first, both uniform inside a half with the
    endpoint ratios between them; every other row is the mean of the two, with some mass moved from one output to the
    next inside a half. The moves sum to 0 on each half and rows 0 and 1 are constant on halves, so all rows are
    independent.

    - ``k``: number of inputs and outputs, even, at least 2.
    - ``lam``: ratio cap, above 1.

    Examples
    --------
    >>> W = identifiable_obstruction(6, Fraction(3))
    >>> W.ratio_cap(), LikelihoodRatio.of(W, 0, 1) == endpoint_ratio(Fraction(3))
    (Fraction(3, 1), True)

    Answers what alphabets leaves open after Theorem 5.2, whose channel has rank ``k/2 + 1``.
    """
    k = as_integer(k, "k", 2)
    if k % 2:
        raise InputError("k", k, "an even number of inputs, at least 2")
    if not isinstance(lam, Fraction | int) or lam <= 1:
        raise InputError("lam", lam, "a rational number > 1 (at lam = 1 all rows agree)")
    half, cap = k // 2, Fraction(lam)
    high, low = cap / (half * (1 + cap)), 1 / (half * (1 + cap))
    middle, move = Fraction(1, k), (high - low) / 2
    rows = [[low] * half + [high] * half, [high] * half + [low] * half]
    for first in (*range(half - 1), *range(half, k - 1)):
        rows.append([middle + move * ((y == first) - (y == first + 1)) for y in range(k)])
    return Channel(tuple(map(tuple, rows)))


def identifiable_half_block(k: int, lam: Fraction, tau: Fraction) -> Channel:
    r"""Half-block with probability ``1 - tau`` and k-ary response otherwise, published with which of them was run.

    The rank is ``k`` for every ``tau > 0``; along the opposite pair the chi-square falls by :func:`mixing_loss`.
    """
    from symshuffle.mechanisms.finite import krr

    check_share("tau", tau)
    block = half_block_channel(k, lam)
    return direct_sum([block, krr().at(k=k, lam=lam).channel()], [1 - tau, tau]).without_null_outputs()[0]


def mixing_loss(k: Any, lam: Any, tau: Any) -> Any:
    r"""What the response part of :func:`identifiable_half_block` costs along the opposite pair.

    .. math:: \tau\,\frac{(\lambda-1)^2(k-2)}{\lambda(\lambda+k-1)}

    The chi-square of the opposite pair is :func:`largest_chi_square` minus this. Symbols are welcome.
    """
    return tau * (lam - 1) ** 2 * (k - 2) / (lam * (lam + k - 1))
