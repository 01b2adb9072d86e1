"""The front door: what (eps, delta) a shuffled mechanism has, as a bracket that says what it bounds.

One chain, whatever the question: decomposition -> law of G -> engine -> bracket.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias, final

from symshuffle.accountants.ball import BallContour
from symshuffle.accountants.contour import Contour
from symshuffle.accountants.exact import Exact
from symshuffle.accountants.fft import FFT
from symshuffle.accountants.reduction import Question, Reduction, Source, laws, reduction
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.mechanisms.parameters import read_target
from symshuffle.numbers import lower_end, parse_rational, upper_end
from symshuffle.results import Bracket, Rigour

Engine: TypeAlias = "Exact | FFT | Contour | BallContour"

ADJACENCY: Final = "replace-one"
"""Neighbouring relation of every bound: one user's input is replaced; n counts that user."""

LARGEST_N: Final = 10**15
_FIRST_EPS: Final = Fraction(1, 2**30)
_LARGEST_EPS: Final = 1000
_CHEAP_POWER: Final = 3_000_000
_CHEAP_COUNT: Final = 3_000
_DIVERGENCE: Final = {
    "forward": "D(M(X0) || M(X1))",
    "reverse": "D(M(X1) || M(X0))",
    "both": "the larger of D(M(X0) || M(X1)) and D(M(X1) || M(X0))",
}


@final
@dataclass(frozen=True, slots=True)
class Attained:
    """What a real neighbouring pair certainly has.

    Parameters
    ----------
    lower : Fraction
        A number that the pair's own delta (or eps) is not below.
    datasets : str
        The two datasets.
    """

    lower: Fraction
    datasets: str


@final
@dataclass(frozen=True, slots=True)
class Amplification:
    """An amplification bound and what it speaks about.

    Parameters
    ----------
    bracket : Bracket
        Around the decomposition bound on delta (or on eps); its upper end bounds the shuffled experiment.
    n : int
        Number of users, the differing one included.
    direction : {"forward", "reverse", "both"}
        Which divergence.
    meaning : str
        Which experiment the bound speaks about, by which theorem.
    attained : Attained or None
        A real neighbouring pair, where one was evaluated.
    """

    bracket: Bracket
    n: int
    direction: Question
    meaning: str
    attained: Attained | None = None

    def __str__(self) -> str:
        return str(self.bracket)

    def _repr_html_(self) -> str:
        return f"{self.bracket._repr_html_()}<p>{self.meaning}</p>"


def check_n(n: int) -> int:
    """The number of users, checked.

    Raises
    ------
    InputError
        If it is below 1 or beyond ``LARGEST_N``.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= LARGEST_N:
        raise InputError("n", n, f"an integer from 1 to {LARGEST_N}")
    return n


def choose_engine(law: Law, n: int, rigour: Rigour | None, rel: float) -> Engine:
    """The engine that answers at the rigour asked for at the least cost.

    Raises
    ------
    Unsupported
        If none does.
    """
    cheap = Exact(largest_power=_CHEAP_POWER, largest_count=_CHEAP_COUNT)
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
        known = Rigour.EXACT if isinstance(law.singular, Fraction) else Rigour.BALL
        ends = lower_end(law.singular), upper_end(law.singular)
        return _at(Bracket(*ends, known, "none", "G is never positive: only the singular mass is left"), rigour)
    chosen = engine if engine is not None else choose_engine(law, n, rigour, rel)
    return _at(chosen.bracket(law, n), rigour)


def _at(bracket: Bracket, rigour: Rigour | None) -> Bracket:
    """The bracket at the rigour asked for: more is relabelled, less is refused."""
    if rigour is None:
        return bracket
    if bracket.rigour.strength < rigour.strength:
        raise Unsupported(f"engine {bracket.engine} answers at rigour {bracket.rigour.value}, not {rigour.value}")
    return bracket if bracket.rigour is rigour else replace(bracket, rigour=rigour)


def delta(
    source: Source,
    *,
    n: int,
    exp_eps: object = None,
    eps: object = None,
    direction: Question = "both",
    engine: Engine | None = None,
    rigour: Rigour | None = Rigour.FLOAT64,
    rel: float = 1e-6,
    bits: int | None = None,
    attain: bool = False,
) -> Amplification:
    """Bound the delta of a shuffled mechanism at a target level.

    Parameters
    ----------
    source : Mechanism, Decomposition, Channel or Reduction
        What every user runs; a mechanism with all parameters fixed. For a channel all pairs of inputs are compared.
    n : int
        Number of users, at least 1, the differing one included.
    exp_eps, eps : number, text or Exp
        Target: the ratio ``exp(eps)``, at least 1, or its logarithm, at least 0. One of the two; kept exact.
    direction : {"forward", "reverse", "both"}
        Which divergence; ``both`` takes the larger.
    engine : Engine, optional
        Default: chosen by :func:`choose_engine`.
    rigour : Rigour or None
        What the result must be; None leaves it at what the engine delivers.
    rel : float
        Relative width to aim at, where the engine lets one aim.
    bits : int, optional
        Precision of balls in the law.
    attain : bool
        Whether to evaluate real neighbouring pairs (constant backgrounds) as well.

    Examples
    --------
    >>> from symshuffle import Rigour, mechanism
    >>> krr = mechanism("krr").at(k=10, lam=3)
    >>> delta(krr, n=6, exp_eps="6/5", rigour=Rigour.EXACT).bracket.exact
    Fraction(55591, 829440)
    """
    check_n(n)
    target = read_target(eps=eps, exp_eps=exp_eps)
    reduced = reduction(source)

    def value(law: Law) -> Bracket:
        return evaluate_law(law, n, engine=engine, rigour=rigour, rel=rel)

    brackets = [value(law) for family in reduced.bounds for law in laws(family, target, direction, bits)]
    below = [value(law) for family in reduced.inner for law in laws(family, target, direction, bits)]
    top = max(brackets, key=lambda bracket: bracket.upper)
    bracket = replace(top, lower=max(bracket.lower for bracket in below or brackets))
    attained = None
    if attain:
        found = [
            Attained(value(law).lower, datasets(n))
            for datasets, family in reduced.backgrounds
            for law in laws(family, target, direction, bits)
        ]
        attained = max(found, key=lambda pair: pair.lower, default=None)
    return Amplification(bracket, n, direction, meaning(reduced, n, direction), attained)


_delta = delta  # `delta` is also the name of a target, below


def meaning(reduced: Reduction, n: int, direction: Question) -> str:
    """Which experiment a bound speaks about, and by which theorem."""
    return (
        f"upper bounds {_DIVERGENCE[direction]} at order exp(eps) for all pairs of datasets of n = {n} users that "
        f"differ in the input of one user, by the optimal decomposition at {reduced.pair} (decomposition, Theorems "
        "4 to 7, 12 and 13); lower is the other side of this bound, not a lower bound on the divergence"
    )


def epsilon(
    source: Source,
    *,
    n: int,
    delta: object,
    direction: Question = "both",
    engine: Engine | None = None,
    rigour: Rigour | None = Rigour.FLOAT64,
    rel: float = 1e-6,
    bits: int | None = None,
    attain: bool = False,
) -> Amplification:
    """The smallest eps at which a shuffled mechanism is (eps, delta)-private, on the safe side.

    At ``bracket.upper`` the bound on delta meets the target; at ``bracket.lower`` it is above it.

    Parameters
    ----------
    source, n, direction, engine, rigour, bits, attain
        As in :func:`delta`.
    delta : number or text
        Target, in (0, 1); kept exact.
    rel : float
        Relative width of the bracket around eps to aim at.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If no finite eps meets the target, because a histogram reveals more than delta for certain.
    """
    check_n(n)
    target = parse_rational(delta, "delta")
    if not 0 < target < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    reduced = reduction(source)

    def bound(one: Reduction) -> Callable[[Fraction, float], Bracket]:
        return lambda eps, width: (
            _delta(one, n=n, eps=eps, direction=direction, engine=engine, rigour=rigour, rel=width, bits=bits).bracket
        )

    low, high, last = smallest_meeting(bound(reduced), target, rel)
    how = f"root search on delta(eps); at the upper end: {last.how}"
    bracket = Bracket(low, high, last.rigour, last.engine, how)
    attained = None
    if attain:
        found = [
            Attained(smallest_meeting(bound(Reduction((family,), (), reduced.pair)), target, rel)[0], datasets(n))
            for datasets, family in reduced.backgrounds
        ]
        attained = max(found, key=lambda pair: pair.lower, default=None)
    return Amplification(bracket, n, direction, meaning(reduced, n, direction), attained)


def smallest_meeting(
    bound: Callable[[Fraction, float], Bracket], target: Fraction, rel: float
) -> tuple[Fraction, Fraction, Bracket]:
    """The smallest argument at which a falling function is at most ``target``, from both sides.

    Parameters
    ----------
    bound : callable
        From an argument and a relative width to aim at, to a bracket around the function.
    target : Fraction
        What the function should fall to.
    rel : float
        Relative width to aim at, of the argument.

    Returns
    -------
    low, high : Fraction
        The function is certainly above the target at ``low`` (unless ``low = high = 0``) and at most it at ``high``.
    at_high : Bracket
        The function at ``high``.

    Raises
    ------
    Unsupported
        If the function never meets the target, or the width asked for is out of the engine's reach.
    """

    def decide(eps: Fraction) -> tuple[Fraction, Bracket]:
        for width in (1e-2, 1e-4, rel):
            value = bound(eps, max(width, rel))
            if value.upper <= target or value.lower > target:
                break
        return eps, value

    low = decide(Fraction(0))
    if low[1].upper <= target:
        return Fraction(0), *low
    # Growing from below keeps every evaluation near the target; far beyond the root the function costs more.
    high = decide(_FIRST_EPS)
    while high[1].upper > target:
        if high[0] > _LARGEST_EPS:
            certain = f"a histogram reveals {float(high[1].upper):.6g}"
            raise Unsupported(f"no finite eps has delta <= {float(target):.6g}: {certain} for certain")
        low = high if high[1].lower > target else low
        high = decide(4 * high[0])
    while high[0] - low[0] > Fraction(rel) * high[0]:
        before = low, high
        for eps in _candidates(low, high, target, rel):
            if low[0] < eps < high[0]:
                point = decide(eps)
                high = point if point[1].upper <= target else high
                low = point if point[1].lower > target else low
        if before == (low, high):
            width = float((high[0] - low[0]) / high[0])
            raise Unsupported(f"the engine resolves eps to a relative width of {width:.1e}; ask for a rel above that")
    return low[0], *high


def _candidates(
    low: tuple[Fraction, Bracket], high: tuple[Fraction, Bracket], target: Fraction, rel: float
) -> Iterator[Fraction]:
    """Arguments to try: just above and just below the interpolated root, then the middle."""
    guess = _guess(low, high, target)
    margin = Fraction(rel) * guess / 3
    for eps in (guess + margin, guess - margin, (low[0] + high[0]) / 2):
        # A short decimal, but fine enough to tell the candidates apart.
        places = max(0, 3 - math.floor(math.log10(float(min(margin, high[0] - low[0])))))
        yield Fraction(round(eps * 10**places), 10**places)


def _guess(low: tuple[Fraction, Bracket], high: tuple[Fraction, Bracket], target: Fraction) -> Fraction:
    """Where the logarithm of the function, interpolated, crosses the target; the middle if that is not to be had."""
    if high[1].upper == 0:
        return (low[0] + high[0]) / 2
    above, below = _log(low[1].upper) - _log(target), _log(target) - _log(high[1].upper)
    share = min(max(above / (above + below), 0.01), 0.99) if above + below > 0 else 0.5
    return low[0] + (high[0] - low[0]) * Fraction(share)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
