"""One law, one bracket: which engine answers, and at which rigour."""

from __future__ import annotations

import operator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, get_args

from symshuffle.accountants.ball import BallContour
from symshuffle.accountants.contour import Contour
from symshuffle.accountants.exact import Exact
from symshuffle.accountants.fft import FFT
from symshuffle.accountants.neighbours import Question
from symshuffle.accountants.sparse import Sparse
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.mixed_law import MixedLaw
from symshuffle.numbers import format_decimal, lower_end, upper_end
from symshuffle.results import Bracket, Rigour

Engine: TypeAlias = Exact | Sparse | FFT | Contour | BallContour

LARGEST_N: Final = 10**15
_CHEAP_POWER: Final = 3_000_000
_CHEAP_COUNT: Final = 3_000
_CHEAP_COUNT_IN_BALLS: Final = 200_000
"""Count vectors that are still cheaper than a contour in balls."""

_RESOLVED: Final = 1e-9
"""Relative width below which doubles are not trusted to reach what was asked: balls answer, or refuse."""

_MOST_BITS: Final = 100_000


def check_n(n: object) -> int:
    """The number of users, checked; NumPy's integers will do.

    Raises
    ------
    InputError
        If it is below 1 or beyond ``LARGEST_N``.
    """
    try:
        count = 0 if isinstance(n, bool) else operator.index(n)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        count = 0
    if not 1 <= count <= LARGEST_N:
        raise InputError("n", n, f"an integer from 1 to {LARGEST_N}")
    return count


def check_request(direction: object, engine: object, rigour: object, rel: Any, bits: object) -> None:
    """What a caller asks of the engines, checked before any work is done.

    Raises
    ------
    InputError
        If an argument is not of the kind it has to be, or out of its range.
    """
    if direction not in get_args(Question):
        raise InputError("direction", direction, ", ".join(get_args(Question)))
    if engine is not None and not isinstance(engine, Engine):
        raise InputError("engine", engine, "an engine such as Contour(), or None")
    if rigour is not None and not isinstance(rigour, Rigour):
        raise InputError("rigour", rigour, "a Rigour, or None")
    if isinstance(rel, str) or not 0 < rel < 1:
        raise InputError("rel", rel, "a relative width in (0, 1)")
    if bits is not None and not (isinstance(bits, int) and 2 <= bits <= _MOST_BITS):
        raise InputError("bits", bits, f"an integer from 2 to {_MOST_BITS}, or None")


def choose_engine(law: Law, n: int, rigour: Rigour | None, rel: float) -> Engine:
    """The engine that answers at the rigour asked for at the least cost.

    Raises
    ------
    Unsupported
        If none does.
    """
    count = _CHEAP_COUNT_IN_BALLS if rigour is Rigour.BALL else _CHEAP_COUNT
    cheap = Exact(largest_power=_CHEAP_POWER, largest_count=count)
    rare = Sparse(rel=rel)
    if rigour is not Rigour.EXACT and cheap.refusal(law, n) is not None and rare.refusal(law, n) is None:
        return rare
    if rigour is None or rigour is Rigour.FLOAT64:
        return cheap if cheap.refusal(law, n) is None else Contour(rel=rel)
    if rigour is Rigour.EXACT and not law.exact:
        raise Unsupported("rigour exact needs rational lam, exp_eps and probabilities; use --rigour ball")
    if rigour is Rigour.BALL:
        return cheap if cheap.refusal(law, n) is None else BallContour(rel=rel)
    thorough = Exact()
    reason = thorough.refusal(law, n)
    if reason is not None:
        raise Unsupported(f"rigour exact at n = {n}: {reason}; use --rigour ball")
    return thorough


def evaluate_law(
    law: Law, n: int, *, engine: Engine | None = None, rigour: Rigour | None = Rigour.FLOAT64, rel: float = 1e-6
) -> Bracket:
    """H(n) of one law, at the rigour asked for.

    A law that is never positive has H(n) equal to its singular mass, exactly, and needs no engine.

    Raises
    ------
    Unsupported
        If the engine refuses, or delivers less than the rigour asked for.
    """
    check_n(n)
    if law.never_positive:
        return _at(_only_singular(law), rigour)
    found = _in_units(law, n, engine, rigour, rel)
    if found is None:
        chosen = engine if engine is not None else choose_engine(law, n, rigour, rel)
        found = _at(_answer(law, n, chosen, rel, free=engine is None), rigour)
    # Where an engine says little, one user says more.
    return found if found.upper <= law.ceiling else replace(found, upper=law.ceiling)


def _answer(law: Any, n: int, chosen: Engine, rel: float, *, free: bool) -> Bracket:
    """What the engine answers; where the choice is free and doubles do not resolve what was asked, what balls do.

    A bracket that is wider than what was aimed at says so.
    """
    retry = free and isinstance(chosen, Contour) and rel < _RESOLVED
    try:
        found = chosen.bracket(law, n)
    except Unsupported:
        if not retry:
            raise
        found = BallContour(rel=rel).bracket(law, n)
    width = found.relative_width
    if width is None or width <= Fraction(rel):
        return found
    if retry and found.rigour is Rigour.FLOAT64:
        return _answer(law, n, BallContour(rel=rel), rel, free=False)
    return replace(found, how=f"{found.how}; relative width {float(width):.1e} where {rel:.1e} was aimed at")


def _in_units(law: Law, n: int, engine: Engine | None, rigour: Rigour | None, rel: float) -> Bracket | None:
    """H(n) by way of a lattice that balls do not show, where there is one and what that neglects is small enough."""
    scaled = law.in_units() if rigour is not Rigour.EXACT else None
    if scaled is None:
        return None
    multiples, unit, error = scaled
    chosen = engine if engine is not None else choose_engine(multiples, n, rigour, rel)
    found = _answer(multiples, n, chosen, rel, free=engine is None).scaled(unit)
    if error > found.upper * Fraction(rel) / 8:
        return None
    low = max(found.lower - error, Fraction(0)) + lower_end(law.singular)
    known = Rigour.BALL if found.rigour is Rigour.EXACT else found.rigour
    high = found.upper + error + upper_end(law.singular)
    shown = format_decimal(unit, digits=4, up=False)
    return _at(Bracket(low, high, known, found.engine, f"in units of {shown}: {found.how}"), rigour)


def evaluate_mixed(
    law: MixedLaw,
    n: int,
    *,
    engine: Contour | BallContour | None = None,
    rigour: Rigour | None = Rigour.FLOAT64,
    rel: float = 1e-6,
) -> Bracket:
    """H(n) of a law with a continuous part, at the rigour asked for; of one user, in closed form.

    Raises
    ------
    Unsupported
        If the engine refuses, or delivers less than the rigour asked for.
    """
    check_n(n)
    if law.never_positive:
        return _at(_only_singular(law), rigour)
    if n == 1 and engine is None:
        value = law.positive_mean() + law.singular
        return _at(Bracket(lower_end(value), upper_end(value), Rigour.BALL, "none", "closed form of one user"), rigour)
    chosen = engine or (BallContour(rel=rel) if rigour is Rigour.BALL else Contour(rel=rel))
    return _at(_answer(law, n, chosen, rel, free=engine is None), rigour)


def _only_singular(law: Law | MixedLaw) -> Bracket:
    known = Rigour.EXACT if isinstance(law.singular, Fraction) else Rigour.BALL
    ends = lower_end(law.singular), upper_end(law.singular)
    return Bracket(*ends, known, "none", "G is never positive: only the singular mass is left")


def _at(bracket: Bracket, rigour: Rigour | None) -> Bracket:
    """The bracket at the rigour asked for: more is relabelled, less is refused."""
    if rigour is None:
        return bracket
    if bracket.rigour.strength < rigour.strength:
        raise Unsupported(f"engine {bracket.engine} answers at rigour {bracket.rigour.value}, not {rigour.value}")
    return bracket if bracket.rigour is rigour else replace(bracket, rigour=rigour)
