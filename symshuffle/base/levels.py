"""Reading budgets: a local or target level given as eps, or as the ratio exp(eps), never as both."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    Ball,
    Exp,
    Real,
    Verdict,
    enclose,
    is_expression,
    less,
    parse_constant,
    parse_number,
    parse_rational,
    shortest,
)
from symshuffle.base.results import Bracket

P = ParamSpec("P")
R = TypeVar("R")

LARGEST_LEVEL: Final = 5_000
"""Privacy levels in nats beyond this are refused: nobody means them, and exp of them fills pages."""


def as_probability(found: Bracket) -> Bracket:
    """Return the bracket of a probability with both ends in [0, 1]; nothing is lost, since the number is there."""
    zero, one = Fraction(0), Fraction(1)
    low, high = min(max(found.lower, zero), one), min(max(found.upper, zero), one)
    return found if (low, high) == (found.lower, found.upper) else replace(found, lower=low, upper=high)


def read_budget(*, eps0: object = None, lam: object = None, constant: bool = False) -> Real | None:
    """The ratio cap ``exp(eps0)``, exactly; None if neither is given. ``constant``: whether ``eps0 = 0`` will do."""
    return _read("eps0", eps0, "lam", lam, strict=not constant)


def read_cap(lam: object, *, strict: bool = True) -> Fraction | Ball:
    """Return a ratio cap to calculate with: a rational, or a ball, also around the exponential of a rational.

    - ``strict``: whether 1, the cap of a constant channel, is refused.
    """
    cap = enclose(lam) if isinstance(lam, Exp) else parse_number(lam, "lam")
    if less(cap, 1) is Verdict.TRUE or (strict and less(1, cap) is not Verdict.TRUE):
        raise InputError("lam", lam, "a ratio cap exp(eps0) above 1" if strict else "a number of at least 1")
    return cap


def takes_eps0(*, as_ball: bool = False) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """Decorates a door with a parameter ``lam``, which then takes ``eps0``, the logarithm of it, in its place.

    ``lam`` is read here, by :func:`~symshuffle.base.numbers.parse_number`. An expression of SymPy is handed on.

    - ``as_ball``: whether the door computes with numbers only: it is handed a ball around ``exp(eps0)``, else an
      ``Exp``, and expressions of SymPy are refused.

    Examples
    --------
    >>> @takes_eps0()
    ... def shown(name, lam):
    ...     return f"{name}: {lam}"
    >>> shown("cap", 3), shown("cap", eps0="1/2")
    ('cap: 3', 'cap: exp(1/2)')
    """

    def decorate(door: Callable[P, R]) -> Callable[..., R]:
        shown = inspect.signature(door)
        parameters = list(shown.parameters.values())
        place = list(shown.parameters).index("lam")
        required = parameters[place].default is inspect.Parameter.empty
        keyword = parameters[place].kind is inspect.Parameter.KEYWORD_ONLY

        @wraps(door)
        def either(*given: Any, eps0: object = None, **named: Any) -> R:
            lam_given = "lam" in named or (not keyword and len(given) > place)
            lam = (named["lam"] if "lam" in named else given[place]) if lam_given else None
            if eps0 is None:
                if required and lam is None:
                    raise InputError("lam", None, "a number > 1 (or eps0, a number > 0)")
                if lam is None or (is_expression(lam) and not as_ball):
                    return door(*given, **named)
                ratio = _ratio(lam, as_ball=as_ball)
                if "lam" in named:
                    return door(*given, **named | {"lam": ratio})
                read: Any = (*given[:place], ratio, *given[place + 1 :])
                return door(*read, **named)
            budget = read_budget(eps0=eps0, lam=lam)
            assert budget is not None
            cap: Real | Ball = enclose(budget) if as_ball else budget
            return door(*given, **named | {"lam": cap})

        by_keyword = inspect.Parameter("eps0", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="object")
        either.__signature__ = shown.replace(parameters=[*parameters, by_keyword])  # type: ignore[attr-defined]
        return either

    return decorate


def _ratio(lam: object, *, as_ball: bool) -> Real | Ball:
    """A ratio cap as it is handed to a door; infinity, which is none, stays what it is."""
    if lam == math.inf:
        return lam  # type: ignore[return-value]  # the door refuses it, or takes it as no cap
    if isinstance(lam, Exp):
        return enclose(lam) if as_ball else lam
    return parse_number(lam, "lam")


def read_target(*, eps: object = None, exp_eps: object = None) -> Real:
    """The target ratio ``exp(eps)`` as an exact real constant."""
    target = _read("eps", eps, "exp_eps", exp_eps, strict=False)
    if target is None:
        raise InputError("eps", None, "a number >= 0 (or exp_eps, a number >= 1)")
    return target


def read_delta(delta: object) -> Fraction:
    """A target delta, exactly."""
    read = parse_rational(delta, "delta")
    if not 0 < read < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    return read


def words_of_target(*, exp_eps: Real | None = None, delta: Fraction | None = None) -> str:
    """A target in words, as the first line of an answer names it."""
    found = []
    if isinstance(exp_eps, Exp):
        found.append(f"eps = {shortest(exp_eps.exponent)}")
    elif exp_eps is not None:
        found.append("eps = 0" if exp_eps == 1 else f"exp(eps) = {shortest(exp_eps)}")
    if delta is not None:
        found.append(f"delta = {shortest(delta)}")
    return ", ".join(found)


def _read(log_name: str, log: object, ratio_name: str, ratio: object, *, strict: bool) -> Real | None:
    sign = ">" if strict else ">="
    if log is not None and ratio is not None:
        raise InputError(f"{log_name}, {ratio_name}", f"{log}, {ratio}", "one of the two, not both")
    if hasattr(log, "free_symbols"):  # an expression of SymPy
        inside = _argument_of(log, "log")
        if inside is not None and inside >= 1:  # the logarithm of a rational is the level of that ratio
            log, ratio = None, inside
    elif hasattr(ratio, "free_symbols"):
        power = _argument_of(ratio, "exp")
        ratio = ratio if power is None else Exp(power)
    if log is not None:
        exponent = parse_rational(log, log_name)
        if not 0 <= exponent <= LARGEST_LEVEL or (strict and exponent == 0):
            raise InputError(log_name, log, f"a number {sign} 0 and at most {LARGEST_LEVEL}")
        return Fraction(1) if exponent == 0 else Exp(exponent)
    if ratio is None:
        return None
    real = parse_constant(ratio, ratio_name)
    if isinstance(real, Exp) and real.exponent > LARGEST_LEVEL:
        raise InputError(ratio_name, ratio, f"at most exp({LARGEST_LEVEL})")
    if less(real, 1) is Verdict.TRUE or (strict and less(1, real) is Verdict.FALSE):
        raise InputError(ratio_name, ratio, f"a number {sign} 1")
    return real


def _argument_of(value: Any, function: str) -> Fraction | None:
    """The rational of which an expression of SymPy is the ``exp`` or ``log``; None of any other value."""
    base, inside = value.as_base_exp()
    if function == "log":
        inside = value.args[0] if type(value).__name__ == "log" else None
    elif str(base) != "E":
        return None
    return Fraction(int(inside.p), int(inside.q)) if getattr(inside, "is_Rational", False) else None
