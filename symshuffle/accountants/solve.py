"""The front door: what (eps, delta) a shuffled mechanism has, as a bracket that says what it bounds.

One chain, whatever the question: decomposition -> law of G -> engine -> bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final, final

from symshuffle.accountants.evaluate import Engine, check_n, check_request, evaluate_law, evaluate_mixed
from symshuffle.accountants.exact import Exact
from symshuffle.accountants.fft import FFT
from symshuffle.accountants.reduction import (
    LawFamily,
    MixedFamily,
    Question,
    Reduction,
    Source,
    laws,
    mixed_laws,
    reduction,
)
from symshuffle.accountants.search import Crossing, cross, smallest_meeting
from symshuffle.accountants.sparse import Sparse
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.parameters import read_target
from symshuffle.numbers import parse_rational
from symshuffle.results import Bracket, Rigour

ADJACENCY: Final = "replace-one"
"""Neighbouring relation of every bound: one user's input is replaced; n counts that user."""

_FIRST_WIDTH: Final = 1e-3
"""Relative width at which two finite laws are compared first."""

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

    @property
    def gap(self) -> Fraction | None:
        """The share of the bound, in [0, 1], that no real pair evaluated here reaches; None if none was."""
        if self.attained is None:
            return None
        return 1 - self.attained.lower / self.bracket.upper if self.bracket.upper else Fraction(0)

    def __str__(self) -> str:
        return str(self.bracket)

    def _repr_html_(self) -> str:
        return f"{self.bracket._repr_html_()}<p>{self.meaning}</p>"


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
        Default: chosen by :func:`symshuffle.accountants.evaluate.choose_engine`.
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
    n = check_n(n)
    check_request(direction, engine, rigour, rel, bits)
    target = read_target(eps=eps, exp_eps=exp_eps)
    reduced = reduction(source)

    def values(families: Sequence[LawFamily], width: float = rel) -> list[Bracket]:
        found = (law for family in families for law in laws(family, target, direction, bits))
        return [evaluate_law(law, n, engine=engine, rigour=rigour, rel=width) for law in dict.fromkeys(found)]

    def mixed_values(families: Sequence[MixedFamily]) -> list[Bracket]:
        """Of the laws themselves, where they have a continuous part and the engine takes it; else none."""
        if rigour is Rigour.EXACT or isinstance(engine, Exact | Sparse | FFT):
            return []
        found = (law for family in families for law in mixed_laws(family, target, direction, bits))
        try:
            return [evaluate_mixed(law, n, engine=engine, rigour=rigour, rel=rel) for law in found]
        except Unsupported:  # finite laws on both sides may do
            return []

    def between() -> Bracket:
        """From finite laws on both sides, the engine being no finer than their distance makes worth while."""
        width = max(rel, _FIRST_WIDTH) if engine is None else rel
        while True:
            bracket = _largest(values(reduced.bounds, width), values(reduced.inner, width))
            if width <= rel or bracket.width > 3 * Fraction(width) * bracket.upper:
                return bracket
            width = max(rel, width / 10)

    direct = mixed_values(reduced.mixed) or ([] if reduced.inner else values(reduced.bounds))
    bracket = _largest(direct) if direct else between()
    attained = None
    if attain:
        pairs = [
            Attained(one.lower, datasets(n))
            for (datasets, family), mixed in reduced.constant_backgrounds()
            for one in mixed_values(mixed) or values([family], max(rel, _FIRST_WIDTH) if reduced.inner else rel)
        ]
        attained = max(pairs, key=lambda pair: pair.lower, default=None)
    return Amplification(bracket, n, direction, meaning_of_delta(reduced, direction, f"n = {n}"), attained)


def _largest(above: Sequence[Bracket], below: Sequence[Bracket] = ()) -> Bracket:
    """The bracket of the largest of some numbers, where given from brackets below and above it."""
    top = max(above, key=lambda bracket: bracket.upper)
    return replace(top, lower=max(bracket.lower for bracket in below or above))


_delta = delta  # `delta` is also the name of a target, below


def compared(reduced: Reduction, direction: Question, users: str) -> str:
    """Which divergence of which datasets a bound on delta speaks about, and by which theorem."""
    return (
        f"{_DIVERGENCE[direction]} at order exp(eps) for all pairs of datasets of {users} users that differ in the "
        f"input of one user, by the optimal decomposition at {reduced.pair} (decomposition, Theorems 4 to 7, 12 and 13)"
    )


def meaning_of_delta(reduced: Reduction, direction: Question, users: str) -> str:
    """What a bracket around delta says."""
    return (
        f"upper bounds {compared(reduced, direction, users)}; lower is the other side of this bound, not a lower bound "
        "on the divergence"
    )


def meaning_of_epsilon(reduced: Reduction, direction: Question, users: str) -> str:
    """What a bracket around eps says."""
    return (
        f"at eps = upper, delta bounds {compared(reduced, direction, users)}; at eps = lower this bound exceeds delta, "
        "which the datasets themselves need not"
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
    near: Fraction | None = None,
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
    near : Fraction, optional
        A guess of the answer to start the search from; it changes the cost only.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If no finite eps meets the target, because a histogram reveals more than delta for certain.
    """
    n = check_n(n)
    check_request(direction, engine, rigour, rel, bits)
    target = parse_rational(delta, "delta")
    if not 0 < target < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    reduced = reduction(source)

    def bound(one: Reduction, level: Rigour | None = rigour) -> Callable[[Fraction, float], Bracket]:
        return lambda eps, width: (
            _delta(one, n=n, eps=eps, direction=direction, engine=engine, rigour=level, rel=width, bits=bits).bracket
        )

    def crossing(one: Reduction) -> Crossing:
        quick = bound(one, Rigour.FLOAT64) if engine is None and rigour is Rigour.BALL else None
        return cross(partial(smallest_meeting, near=near), bound(one), target, rel, quick=quick)

    found = crossing(reduced)
    how = f"root search on delta(eps); at the upper end: {found.at.how}"
    bracket = Bracket(found.above, found.meets, found.at.rigour, found.at.engine, how)
    attained = None
    if attain:
        reached = [
            Attained(crossing(Reduction((family,), (), reduced.pair, mixed=mixed)).above, datasets(n))
            for (datasets, family), mixed in reduced.constant_backgrounds()
        ]
        attained = max(reached, key=lambda pair: pair.lower, default=None)
    return Amplification(bracket, n, direction, meaning_of_epsilon(reduced, direction, f"n = {n}"), attained)
