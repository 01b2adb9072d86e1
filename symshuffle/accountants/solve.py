"""The front door: what (eps, delta) a shuffled mechanism has, as a bracket that says what it bounds.

One chain, whatever the question: decomposition -> law of G -> engine -> bracket.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal, final

from symshuffle.accountants.covered import Datasets, MixedFamily, Reduction, laws, mixed_laws
from symshuffle.accountants.evaluate import Engine, check_n, check_request, evaluate_law, evaluate_mixed
from symshuffle.accountants.guided import Guide, guided, level
from symshuffle.accountants.neighbours import Neighbours
from symshuffle.accountants.reduction import Source, reduction
from symshuffle.accountants.search import Bound, Crossing, cross, mills_guess, smallest_meeting
from symshuffle.choices import Question, Rigour, choice
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.mechanisms.parameters import LARGEST_LEVEL, read_target
from symshuffle.numbers import Exp, format_decimal, parse_rational, to_float, upper_end
from symshuffle.results import Bracket

_WIDE: Final = 1e-2
_FEW: Final = 2
"""Laws beyond which a look of relative width ``_WIDE`` at each tells first which of them may have the largest value."""

_FIRST_WIDTH: Final = 1e-3
"""Relative width at which two finite laws are compared first."""


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
    """An amplification bound and whom it covers.

    Parameters
    ----------
    quantity : {"delta", "epsilon"}
        What is bounded.
    bracket : Bracket
        Around the decomposition bound on delta (or on eps); its upper end bounds the shuffled experiment.
    neighbours : Neighbours
        The pairs of datasets that it speaks about.
    attained : Attained or None
        A real neighbouring pair, where one was evaluated.
    """

    quantity: Literal["delta", "epsilon"]
    bracket: Bracket
    neighbours: Neighbours
    attained: Attained | None = None

    @property
    def n(self) -> int:
        """Number of users, the differing one included."""
        assert self.neighbours.users is not None
        return self.neighbours.users

    @property
    def direction(self) -> Question:
        """Which divergence."""
        return self.neighbours.question

    @property
    def about(self) -> str:
        """Which experiment the bound speaks about, by which theorem."""
        return (about_delta if self.quantity == "delta" else about_epsilon)(self.neighbours)

    @property
    def meaning(self) -> str:
        """The same as :attr:`about`."""
        return self.about

    @property
    def how(self) -> str:
        """In words: the method, its size, and the error terms it accounts for."""
        return self.bracket.how

    @property
    def gap(self) -> Fraction | None:
        """The share of the bound, in [0, 1], that no real pair evaluated here reaches; None if none was."""
        if self.attained is None:
            return None
        return 1 - self.attained.lower / self.bracket.upper if self.bracket.upper else Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: both ends as decimals rounded outward, how they are known, and whom they cover."""
        exact, wide, attained, gap = self.bracket.exact, self.bracket.relative_width, self.attained, self.gap
        return {
            **self.bracket.decimals(),
            "exact": None if exact is None else str(exact),
            "relative_width": None if wide is None else float(wide),
            "aimed": self.bracket.aimed,
            "safe": "upper",
            "rigour": self.bracket.rigour.value,
            "engine": self.bracket.engine,
            "how": self.how,
            "direction": self.direction,
            "adjacency": self.neighbours.adjacency.value,
            "neighbours": self.neighbours.to_dict(),
            "meaning": self.about,
            "attained_lower": None if attained is None else format_decimal(attained.lower, up=False),
            "attained_by": None if attained is None else attained.datasets,
            "gap": None if gap is None else format_decimal(gap, digits=6, up=True),
        }

    def __float__(self) -> float:
        """The safe end, rounded up."""
        nearest = float(self.bracket.upper)
        return nearest if Fraction(nearest) >= self.bracket.upper else math.nextafter(nearest, math.inf)

    def __str__(self) -> str:
        return str(self.bracket)

    def __repr__(self) -> str:
        return f"<{self.quantity} {self.bracket}, n = {self.n}, {self.neighbours.adjacency.value}>"

    def _repr_html_(self) -> str:
        return f"{self.bracket._repr_html_()}<p>{html.escape(self.about)}</p>"


def delta(
    source: Source,
    *,
    n: int,
    exp_eps: object = None,
    eps: object = None,
    direction: Question | str = "both",
    engine: Engine | None = None,
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = 1e-6,
    bits: int | None = None,
    attain: bool = False,
    adjacency: object = None,
    blanket: object = None,
) -> Amplification:
    """Bound the delta of a shuffled mechanism at a target level.

    Parameters
    ----------
    source : Mechanism, Decomposition, Channel or Reduction
        What every user runs; a mechanism with all parameters fixed. All pairs of inputs are compared, unless the source
        speaks about one only: a decomposition, or a mechanism whose pair was fixed. ``about`` of the result says which.
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
    adjacency : {"replace-one", "zero-out"}, optional
        In what neighbours differ; default replace-one.
    blanket : {"mechanism", "largest"}, optional
        Of vector mechanisms, what stands in for the messages of the others; default ``mechanism`` where there is one.

    Examples
    --------
    >>> from symshuffle import Rigour, mechanism
    >>> krr = mechanism("krr").at(k=10, lam=3)
    >>> delta(krr, n=6, exp_eps="6/5", rigour=Rigour.EXACT).bracket.exact
    Fraction(55591, 829440)
    """
    n = check_n(n)
    request = check_request(direction, engine, rigour, rel, bits)
    direction, rigour = request.direction, request.rigour
    target = read_target(eps=eps, exp_eps=exp_eps)
    reduced = reduction(source, adjacency=adjacency, blanket=blanket)

    def values(found: Iterable[Law], width: float = rel) -> list[Bracket]:
        """Of the laws that may have the largest value; the others are below one of them by a first, wide look."""
        several = list(dict.fromkeys(found))
        if len(several) > _FEW and width < _WIDE and engine is None and rigour is not Rigour.EXACT:
            rough = [evaluate_law(law, n, engine=engine, rigour=rigour, rel=_WIDE) for law in several]
            leading = max(bracket.lower for bracket in rough)
            several = [law for law, bracket in zip(several, rough, strict=True) if bracket.upper >= leading]
        return [evaluate_law(law, n, engine=engine, rigour=rigour, rel=width) for law in several]

    def mixed_values(families: Sequence[MixedFamily], *, alone: bool) -> list[Bracket]:
        """Of the laws themselves, where they have a continuous part and the engine takes it; else none."""
        if not alone and (rigour is Rigour.EXACT or (engine is not None and not engine.continuous)):
            return []
        found = (law for family in families for law in mixed_laws(family, target, direction, bits))
        try:
            return [evaluate_mixed(law, n, engine=engine, rigour=rigour, rel=rel) for law in found]
        except Unsupported:  # finite laws on both sides may do
            if alone:
                raise
            return []

    def above() -> list[Law]:
        return reduced.laws(target, direction, bits)

    def below() -> list[Law]:
        return [law for family in reduced.inner for law in laws(family, target, direction, bits)]

    def between() -> Bracket:
        """From finite laws on both sides, the engine being no finer than their distance makes worth while."""
        width = max(rel, _FIRST_WIDTH) if engine is None else rel
        while True:
            bracket = _largest(values(above(), width), values(below(), width))
            if width <= rel or bracket.width > 3 * Fraction(width) * bracket.upper:
                return bracket
            width = max(rel, width / 10)

    def real(one: Datasets) -> list[Bracket]:
        width = max(rel, _FIRST_WIDTH) if reduced.inner else rel
        mixed = () if one.mixed is None else (one.mixed,)
        direct = mixed_values(mixed, alone=one.law is None)
        return direct if one.law is None else direct or values(laws(one.law, target, direction, bits), width)

    direct = mixed_values(reduced.mixed, alone=bool(reduced.mixed) and not reduced.bounds) or (
        [] if reduced.inner else values(above())
    )
    bracket = _largest(direct) if direct else between()
    attained = None
    if attain:
        pairs = [Attained(found.lower, one.describe(n)) for one in reduced.datasets for found in real(one)]
        attained = max(pairs, key=lambda pair: pair.lower, default=None)
    return Amplification("delta", bracket, reduced.neighbours(direction, n), attained)


def _largest(above: Sequence[Bracket], below: Sequence[Bracket] = ()) -> Bracket:
    """The bracket of the largest of some numbers, where given from brackets below and above it."""
    top = max(above, key=lambda bracket: bracket.upper)
    return replace(top, lower=max(bracket.lower for bracket in below or above))


_delta = delta  # `delta` is also the name of a target, below


def _certainly_zero(law: Law) -> bool:
    """Whether H(n) is 0 for every n."""
    return law.never_positive and upper_end(law.singular) == 0


def _all_zero(laws: Sequence[Law]) -> bool:
    """Whether there are laws, and all are certainly at most 0: of densities nothing is known by this."""
    return bool(laws) and all(map(_certainly_zero, laws))


def limit_variance(source: Reduction, direction: Question | str) -> float | None:
    """The largest variance of G at eps = 0: over n, the squared distance of the Gaussians that the profile tends to.

    None where a law is not to be had there, or all have densities.
    """
    question = choice(Question, direction, "direction")
    try:
        return max((to_float(law.variance) for law in source.laws(Fraction(1), question, None)), default=None)
    except (Unsupported, OverflowError):
        return None


def about_delta(neighbours: Neighbours) -> str:
    """What a bracket around delta says."""
    return (
        f"upper bounds {neighbours.compared}; lower is the other side of this bound, not a lower bound on the "
        "divergence"
    )


def about_epsilon(neighbours: Neighbours) -> str:
    """What a bracket around eps says."""
    return (
        f"at eps = upper, delta bounds {neighbours.compared}; at eps = lower this bound exceeds delta, which the "
        "datasets themselves need not"
    )


def epsilon(
    source: Source,
    *,
    n: int,
    delta: object,
    direction: Question | str = "both",
    engine: Engine | None = None,
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = 1e-6,
    bits: int | None = None,
    attain: bool = False,
    near: Fraction | None = None,
    adjacency: object = None,
    blanket: object = None,
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
    adjacency, blanket
        As in :func:`delta`.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If no finite eps meets the target, because a histogram reveals more than delta for certain.
    """
    n = check_n(n)
    request = check_request(direction, engine, rigour, rel, bits)
    direction, rigour = request.direction, request.rigour
    target = parse_rational(delta, "delta")
    if not 0 < target < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    reduced = reduction(source, adjacency=adjacency, blanket=blanket)

    def bound(one: Reduction, level: Rigour | None = request.rigour) -> Callable[[Fraction, float], Bracket]:
        return lambda eps, width: (
            _delta(one, n=n, eps=eps, direction=direction, engine=engine, rigour=level, rel=width, bits=bits).bracket
        )

    def crossing(one: Reduction) -> Crossing:
        quick = bound(one, Rigour.FLOAT64) if engine is None and rigour is Rigour.BALL else None
        return cross(partial(_smallest, one), bound(one), target, rel, quick=quick)

    def _smallest(one: Reduction, value: Bound, goal: Fraction, width: float) -> Crossing:
        start = None if near is None else float(near)
        if start is None:
            spread = limit_variance(one, direction)
            log_target = math.log(goal.numerator) - math.log(goal.denominator)
            start = level(math.sqrt(spread / n), log_target) if spread else None
        if start is not None:
            guide = Guide(
                start,
                lambda x: x,
                0.0,
                falling=True,
                whole=False,
                most=Fraction(LARGEST_LEVEL),
                zero=lambda eps: _all_zero(one.laws(Exp(eps), direction, bits)),
            )
            found = guided(value, goal, width, guide)
            if found is not None:
                return found
        return smallest_meeting(value, goal, width, near)

    if near is None and not reduced.bounds:  # each value of a density costs more than a guess
        near = mills_guess(bound(reduced)(Fraction(0), _WIDE).upper, target)
    found = crossing(reduced)
    how = f"root search on delta(eps); at the upper end: {found.at.how}"
    bracket = Bracket(found.above, found.meets, found.at.rigour, found.at.engine, how)
    attained = None
    if attain:
        reached = [Attained(crossing(one.alone(reduced)).above, one.describe(n)) for one in reduced.datasets]
        attained = max(reached, key=lambda pair: pair.lower, default=None)
    return Amplification("epsilon", bracket, reduced.neighbours(direction, n), attained)
