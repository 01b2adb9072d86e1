r"""Largest chi-square of two rows under a ratio cap, who attains it, and bounds on the privacy curve from few moments.

A privacy curve at one level is the mean of a hinge of a variable of mean 0 and variance :math:`\chi^2/n`. The bounds
``elementary``, ``quarter``, ``two-moment`` (Scarf) and ``range`` on that mean are each at most the one before.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symshuffle.base.choices import Direction, choice
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_cap, read_target, takes_eps0
from symshuffle.base.numbers import (
    Ball,
    Number,
    Real,
    Verdict,
    as_integer,
    as_precision,
    enclose,
    is_expression,
    less,
    parse_number,
    working_precision,
)
from symshuffle.utility.frontiers.convex_order import endpoint_law
from symshuffle.utility.likelihood.law import LikelihoodRatio


def bhatia_davis_bound(mean: Any, low: Any, high: Any) -> Any:
    r"""Largest variance :math:`(M-\mu)(\mu-m)` in ``[low, high]`` at a mean (alphabets, Lemma 4.1); takes symbols."""
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
    alphabets, Theorem 4.2.

    Examples
    --------
    >>> largest_chi_square(Fraction(3))
    Fraction(4, 3)
    """
    cap = lam if is_expression(lam) else read_cap(lam, strict=False)
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
    chi_square = parse_number(chi_square, "chi_square")
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


def hinge(direction: Direction, *, exp_eps: object = None, eps: object = None) -> tuple[Any, Any]:
    """Scale and kink of the privacy curve at one level, ``scale * E(U - kink)_+`` for a variable ``U`` of mean 0.

    ``1`` and ``exp(eps) - 1`` forward, with ``U = L - 1``; ``exp(eps)`` and ``1 - exp(-eps)`` reverse, ``U = 1 - L``.
    """
    way = choice(Direction, direction, "direction")
    target = read_target(eps=eps, exp_eps=exp_eps)
    order: Any = target if isinstance(target, Fraction) else enclose(target)
    return (Fraction(1), order - 1) if way == "forward" else (order, 1 - 1 / order)


@takes_eps0()
def hinge_range(direction: Direction, lam: Any) -> tuple[Any, Any]:
    """How far below and above 0 the variable of the hinge reaches under a ratio cap."""
    way, cap = choice(Direction, direction, "direction"), lam if is_expression(lam) else read_cap(lam, strict=False)
    low, high = 1 - 1 / cap, cap - 1
    return (low, high) if way == "forward" else (high, low)
