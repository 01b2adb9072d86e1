"""Reading budgets: a local or target level given as eps, or as the ratio exp(eps), never as both."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from symshuffle.errors import InputError
from symshuffle.numbers import Exp, Real, Verdict, less, parse_rational

LARGEST_LEVEL: Final = 5_000
"""Privacy levels in nats beyond this are refused: nobody means them, and exp of them fills pages."""


def read_budget(*, eps0: object = None, lam: object = None) -> Real | None:
    """The local ratio cap ``exp(eps0)`` as an exact real constant; None if neither form is given.

    Raises
    ------
    InputError
        If both are given, ``eps0 <= 0`` or ``lam <= 1``.
    """
    return _read("eps0", eps0, "lam", lam, strict=True)


def read_target(*, eps: object = None, exp_eps: object = None) -> Real:
    """The target ratio ``exp(eps)`` as an exact real constant.

    Raises
    ------
    InputError
        If both or neither are given, ``eps < 0`` or ``exp_eps < 1``.
    """
    target = _read("eps", eps, "exp_eps", exp_eps, strict=False)
    if target is None:
        raise InputError("eps", None, "a number >= 0 (or exp_eps, a number >= 1)")
    return target


def read_delta(delta: object) -> Fraction:
    """A target delta, exactly.

    Raises
    ------
    InputError
        If it is not in (0, 1).
    """
    target = parse_rational(delta, "delta")
    if not 0 < target < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    return target


def _read(log_name: str, log: object, ratio_name: str, ratio: object, *, strict: bool) -> Real | None:
    sign = ">" if strict else ">="
    if log is not None and ratio is not None:
        raise InputError(f"{log_name}, {ratio_name}", f"{log}, {ratio}", "one of the two, not both")
    if log is not None:
        exponent = parse_rational(log, log_name)
        if not 0 <= exponent <= LARGEST_LEVEL or (strict and exponent == 0):
            raise InputError(log_name, log, f"a number {sign} 0 and at most {LARGEST_LEVEL}")
        return Fraction(1) if exponent == 0 else Exp(exponent)
    if ratio is None:
        return None
    real = ratio if isinstance(ratio, Exp) else parse_rational(ratio, ratio_name)
    if isinstance(real, Exp) and real.exponent > LARGEST_LEVEL:
        raise InputError(ratio_name, ratio, f"at most exp({LARGEST_LEVEL})")
    if less(real, 1) is Verdict.TRUE or (strict and less(1, real) is Verdict.FALSE):
        raise InputError(ratio_name, ratio, f"a number {sign} 1")
    return real
