r"""The best channel under a raw local cap: subset selection, and which subset size.

Under :math:`u_i\le\lambda u_j` the trace is largest on two-level templates, so the design problem is one integer: the
number ``s`` of high coordinates. Trace, tie points and best sizes are derived from the definition of subset selection
(:mod:`symshuffle.utility.frontiers.formulas`); numbers are read off the forms on file, without SymPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, overload

import flint

from symshuffle.base.choices import Loss, Population, choice
from symshuffle.base.crossings import first_integer
from symshuffle.base.errors import InputError, NotDecided, Unsupported, listed
from symshuffle.base.levels import read_budget, takes_eps0
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Real,
    Verdict,
    as_integer,
    as_precision,
    format_decimal,
    less,
    lower_end,
    parse_constant,
    parse_rational,
    to_arb,
    working_precision,
)
from symshuffle.base.numbers.readers import LARGEST_PARAMETER
from symshuffle.base.results import Bracket
from symshuffle.decompositions.calculated import number_at
from symshuffle.decompositions.closed_forms import table
from symshuffle.decompositions.quotients import polynomials, quotient_of
from symshuffle.utility.estimation.canonical import isotropic_risk
from symshuffle.utility.estimation.votes import VoteNoise, named_votes

if TYPE_CHECKING:
    import sympy as sp

_PRECISIONS: Final = (128, 256, 512, 1024, 2048, 4096)
_BITS: Final = 80
"""Binary digits after the point of a calibrated ratio."""


def capped_forms() -> dict[str, Any]:
    """The closed forms of subset selection on file, as texts; ``lam`` is the ratio cap."""
    found: dict[str, Any] = table()["subset-selection"]["capped"]
    return found


def number_of(form: str, *, k: int, s: int | None = None, lam: Real | None = None, bits: int | None = None) -> Number:
    """A closed form on file at some values: a fraction where it is rational and no bits are given, otherwise a ball.

    - ``form``: ``trace``, ``budget``, ``tie ratio``, ``tangent``, ``slope constant`` or ``threshold budget``.
    """
    given: dict[str, Real | None] = {"k": Fraction(int(k)), "s": None if s is None else Fraction(int(s)), "lam": lam}
    values = {name: value for name, value in given.items() if value is not None}
    precision = None if bits is None else as_precision(bits)
    found = number_at(capped_forms()[form], values, precision or DEFAULT_BITS)
    return Ball(found, found, precision) if precision is not None and isinstance(found, Fraction) else found


@overload
def tie_ratio() -> sp.Expr: ...
@overload
def tie_ratio(k: int, s: int, *, bits: int | None = None) -> Number: ...
def tie_ratio(k: int | None = None, s: int | None = None, *, bits: int | None = None) -> Any:
    r"""Ratio cap at which subset sizes ``s`` and ``s + 1`` have the same trace.

    It is the number :math:`\lambda_s`.

    Parameters
    ----------
    k : int, optional
        Number of inputs, at least 3.
    s : int, optional
        Size of the smaller subset, from 1 to (k - 1)/2; given exactly if ``k`` is.
    bits : int, optional
        Precision of the ball where the number is not rational.

    Returns
    -------
    sympy.Expr, Fraction or Ball
        Without ``k`` and ``s`` an expression in both; with both a fraction where the number is rational, and otherwise
        a ball.

    Raises
    ------
    InputError
        If only one of ``k`` and ``s`` is given, or ``s`` is not in ``1..(k - 1)/2``: larger sizes never tie above 1.

    Examples
    --------
    >>> tie_ratio(10, 1)
    Fraction(6, 1)
    """
    if k is None and s is None:
        from symshuffle.utility.frontiers.formulas import tie_form

        return tie_form()
    if k is None or s is None:
        raise InputError("k, s", listed(k, s), "both or neither")
    k = check_inputs(k, 3)
    s = as_integer(s, "s", 1, (k - 1) // 2)
    return number_of("tie ratio", k=k, s=s, bits=bits)


def sign_at(coefficients: Sequence[Fraction | int], lam: Real) -> int:
    """Sign of a polynomial, given by its coefficients, highest first, at a ratio cap, decided exactly.

    A rational power of e other than 1 is transcendental and no root of the polynomial: more precision settles the sign.
    """
    if isinstance(lam, Fraction):
        value = reduce(lambda total, c: total * lam + c, coefficients, Fraction(0))
        return (value > 0) - (value < 0)
    if not any(coefficients):
        return 0
    for bits in _PRECISIONS:
        with working_precision(bits):
            at = to_arb(lam)
            found: flint.arb = reduce(lambda total, c: total * at + to_arb(c), coefficients, flint.arb(0))
            if found > 0 or found < 0:
                return 1 if found > 0 else -1
    raise NotDecided(f"the sign of a polynomial at lambda = {lam} is not decided at {_PRECISIONS[-1]} bits")


def _tie_sign(k: int, s: int, lam: Real) -> int:
    """Sign of the tie polynomial: 1 where size s is better than size s + 1."""
    return sign_at(in_ratio(capped_forms()["tie"], k, s)[0][::-1], lam)


def in_ratio(text: str, k: int, s: int) -> tuple[list[Fraction], list[Fraction]]:
    """Coefficients of numerator and denominator of a closed form in ``lam``, the constant first."""
    parts = polynomials(quotient_of(text, {"k": k, "s": s}))
    above, below = ([Fraction(int(c.p), int(c.q)) for c in part.coeffs()[::2]] for part in parts)
    return above, below


@takes_eps0()
def optimal_subset_sizes(k: int, lam: Real, *, loss: Loss = "l2") -> tuple[int, ...]:
    """Best subset sizes under a ratio cap: one size, or two that tie.

    Parameters
    ----------
    k : int
        Number of inputs, at least 2 (there is no upper limit short of 10^15: the search is by bisection).
    lam : number, text or Exp
        Ratio cap ``exp(eps0) > 1``.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.
    loss : {"l2", "max", "absent", "test"}
        Error that is smallest. By ``l2`` the sizes have the largest trace, and no channel under the cap is better. By
        another loss they are the best among subset selections of at most 1000 inputs, each of which is computed.

    Returns
    -------
    tuple of int
        One size, or two consecutive ones, each from 1 to k - 1; by another loss than ``l2`` all that tie.

    Raises
    ------
    InputError
        If ``k``, ``lam`` or ``loss`` is out of range.
    Unsupported
        For more than 1000 inputs and another loss than ``l2``.

    Notes
    -----
    anchored, Theorem 9.3. The tie polynomial increases with ``s``, so its sign change is found by bisection.

    Examples
    --------
    >>> optimal_subset_sizes(10, Fraction(6))
    (1, 2)
    """
    k = check_inputs(k)
    lam = check_cap(lam)
    if (kind := choice(Loss, loss, "loss")) != "l2":
        return best_sizes(k, lam, kind)
    size = first_integer(lambda s: _tie_sign(k, s, lam) >= 0, 0, k - 1)
    tied = _tie_sign(k, size, lam) == 0  # never at k - 1, where the tie ratio is 0
    return (size, size + 1) if tied else (size,)


def check_inputs(k: int, least: int = 2) -> int:
    """Read a number of inputs in ``[least, 10^15]``."""
    return as_integer(k, "k", least, LARGEST_PARAMETER)


def check_cap(lam: object, name: str = "lam") -> Real:
    """The ratio cap as an exact number, refused if it is infinite, or not above 1."""
    read = parse_constant(lam, name)
    if less(1, read) is not Verdict.TRUE:
        raise InputError(name, lam, "a number > 1 (at lam = 1 every channel is constant and every trace is 0)")
    return read


@takes_eps0()
def raw_cap_trace(k: int, lam: Real, *, bits: int | None = None) -> Number:
    r"""Largest trace of a channel with ratio cap ``lam``.

    It is :math:`T^*=\max_sT_k(s;\lambda)`.

    Parameters
    ----------
    k : int
        Number of inputs, at least 2.
    lam : number, text or Exp
        Ratio cap ``exp(eps0) > 1``.
    bits : int, optional
        Precision of the ball for an ``Exp``.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    Fraction or Ball
        Exact for a rational ``lam``, a ball for ``exp(eps0)``.

    Raises
    ------
    InputError
        If ``k`` or ``lam`` is out of range.

    Notes
    -----
    anchored, Theorem 9.3.

    Examples
    --------
    >>> raw_cap_trace(10, Fraction(3))
    Fraction(105, 32)
    """
    k, lam = check_inputs(k), check_cap(lam)
    return number_of("trace", k=k, s=optimal_subset_sizes(k, lam)[0], lam=lam, bits=bits)


@takes_eps0()
def raw_cap_risk_constant(k: int, lam: Real, *, population: Population) -> Number:
    """Users times the smallest worst-case canonical risk under the ratio cap (anchored, Theorem 9.4)."""
    population = choice(Population, population, "population")
    risk: Number = isotropic_risk(k, raw_cap_trace(k, lam), population=population)
    return risk


def best_sizes(k: int, lam: Real, loss: Loss, *, most: int = 1000) -> tuple[int, ...]:
    """Sizes with the smallest loss among all subset selections of k inputs at a ratio: several only if they tie.

    - ``most``: inputs up to which each size is computed.
    """
    if k > most:
        raise Unsupported(f"{k} inputs: for another loss than l2 each size is computed, up to {most} inputs")
    left = list(range(1, k))
    for bits in _PRECISIONS:
        losses: dict[int, Number] = {s: size_noise(k, s, lam, bits).loss(loss, 1) for s in left}
        best = left[0]
        for s in left[1:]:
            if less(losses[s], losses[best]) is Verdict.TRUE:
                best = s
        left = [s for s in left if less(losses[best], losses[s]) is not Verdict.TRUE]
        if all(less(losses[best], losses[s]) is Verdict.FALSE for s in left if s != best):
            return tuple(left)
    raise NotDecided(f"which of the sizes {', '.join(map(str, left))} has the smallest loss is not decided")


def size_noise(k: int, s: int, lam: Real, bits: int = 128) -> VoteNoise:
    """The noise of the votes of subset selection."""
    values = {"k": Fraction(k), "s": Fraction(s), "lam": read_budget(lam=lam)}
    return named_votes("subset-selection", values, share=Fraction(1), size=k, inputs=k, bits=bits)


def check_size(k: int, s: int) -> tuple[int, int]:
    """Read a number of inputs and the size of a proper, non-empty subset of them."""
    k = check_inputs(k)
    return k, as_integer(s, "s", 1, k - 1)


def check_budget(budget: object) -> Fraction:
    """Read a budget, a number > 0."""
    read = parse_rational(budget, "budget")
    if read <= 0:
        raise InputError("budget", budget, "a rational number > 0 (0 allows only channels that say nothing)")
    return read


def matched_ratio(k: int, s: int, budget: Fraction, *, lam_cap: Real | None = None) -> Bracket:
    r"""Ratio cap at which subset selection of size ``s`` has a given pairwise budget.

    It is the :math:`C_s>1` with :math:`\chi_{k,s}(C_s)=B`.

    Parameters
    ----------
    k, s : int
        Number of inputs and size of the subsets, ``1 <= s <= k - 1``.
    budget : number or text
        ``B > 0``; without a cap every such budget is attained, because :math:`\chi_{k,s}` grows from 0 without bound.
    lam_cap : number, text or Exp, optional
        Largest ratio allowed.

    Returns
    -------
    Bracket
        Of width ``2**-80``; of width 0 where the ratio is a multiple of that.

    Raises
    ------
    InputError
        If ``k``, ``s`` or the budget is out of range, or the budget is not attained under the cap; the message gives
        the attainable range.

    Notes
    -----
    alphabets, Theorem 12.1.

    Examples
    --------
    >>> matched_ratio(10, 1, Fraction(3, 22)).exact
    Fraction(2, 1)
    """
    k, s = check_size(k, s)
    target = check_budget(budget)
    if lam_cap is not None:
        top = number_of("budget", k=k, s=s, lam=check_cap(lam_cap, "lam_cap"))
        if less(top, target) is Verdict.TRUE:
            most = format_decimal(lower_end(top), digits=7, up=False)
            raise InputError(
                "budget",
                budget,
                f"a number in (0, {most}], the range of size {s} of {k} up to ratio {lam_cap}",
            )
    parts = in_ratio(capped_forms()["budget"], k, s)
    spent, unit = (flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in part]) for part in parts)
    excess = spent - flint.fmpq(target.numerator, target.denominator) * unit

    def beyond(scaled: int) -> bool:
        return bool(excess(flint.fmpq(scaled, 1 << _BITS)) > 0)

    low, high = 1 << _BITS, 2 << _BITS
    while not beyond(high):
        low, high = high, 2 * high
    high = first_integer(beyond, low, high)
    exact = excess(flint.fmpq(high - 1, 1 << _BITS)) == 0
    lower, upper = Fraction(high - 1, 1 << _BITS), Fraction(high - exact, 1 << _BITS)
    return Bracket(lower, upper, "exact", "bisection", f"signs of the budget equation of size {s} over Q")
