"""The front door for Rényi differential privacy of shuffled messages: from profiles, in one round or over many."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Unpack, final

import flint

from symshuffle.accountants.amplification import Attained, Composition
from symshuffle.accountants.bounds import bound_at, bounds_nothing_from
from symshuffle.accountants.chords import Node
from symshuffle.accountants.covered import Covering, Datasets, Reduction, Whom, mixed_laws, spelled_out
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.experiments import covered_by, experiment
from symshuffle.accountants.neighbours import Neighbours
from symshuffle.accountants.one_round import OneRound
from symshuffle.accountants.orders import BITS, Stretch, divergence, stretches, whole_line
from symshuffle.accountants.plan import Round, Rounds, unrolled
from symshuffle.accountants.reduction import Source
from symshuffle.choices import Direction, Question, Rigour
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.parameters import LARGEST_LEVEL
from symshuffle.numbers import format_decimal, lower_end, parse_rational, to_arb, working_precision
from symshuffle.results import AnswerMethods, Bracket, SafeEnd

LARGEST_ORDER: Final = 10_000
USUAL_WIDTH: Final = 1e-3
"""Relative width of a Rényi divergence that is aimed at where none is asked for."""

_MOST_NODES: Final = 3_000
_COARSER: Final = 4
"""Of the orders of a bound one in so many tells which real datasets have the most."""

_PER_SCALE: Final = 2
"""Levels within the scale of a round on the first grid."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class RenyiBound(AnswerMethods):
    """A bound on the Rényi divergence of shuffled messages, and whom it covers.

    Parameters
    ----------
    alpha : Fraction
        Its order; at 1 it is the relative entropy.
    bracket : Bracket
        In nats, around the divergence that the profile of the optimal decomposition has; its upper end bounds the
        shuffled experiment.
    neighbours : Neighbours
        The pairs of datasets that it speaks about.
    attained : Attained or None
        A real neighbouring pair, where one was evaluated.
    rounds : Composition or None
        Of several rounds: how many, what is covered; ``neighbours`` then speaks about each of them.
    """

    alpha: Fraction
    bracket: Bracket
    neighbours: Neighbours
    attained: Attained | None = None
    rounds: Composition | None = None

    @property
    def about(self) -> str:
        """Which experiment the bound speaks about, by which theorem."""
        order = f"of Rényi order {self.alpha} in nats (both directions of the profile enter)"
        text = (
            f"upper bounds {self.neighbours.compared_by(order)}; lower is the other side of this bound, not a lower "
            "bound on the divergence"
        )
        return text if self.rounds is None else f"{text}; {self.rounds.covered}"

    @property
    def safe(self) -> SafeEnd:
        """The upper end: it bounds the shuffled experiment."""
        return SafeEnd.UPPER

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: order, both ends as decimals rounded outward, how they are known, and whom they cover."""
        wide, attained = self.bracket.relative_width, self.attained
        return {
            "alpha": str(self.alpha),
            **self.bracket.decimals(),
            "relative_width": None if wide is None else float(wide),
            "aimed": self.bracket.aimed,
            "safe": self.safe.value,
            "rigour": self.bracket.rigour.value,
            "engine": self.bracket.engine,
            "how": self.how,
            "direction": self.neighbours.question.value,
            "adjacency": self.neighbours.adjacency.value,
            "neighbours": self.neighbours.to_dict(),
            "meaning": self.about,
            "attained_lower": None if attained is None else format_decimal(attained.lower, up=False),
            "attained_by": None if attained is None else attained.datasets,
            **({} if self.rounds is None else self.rounds.to_dict()),
        }

    def __str__(self) -> str:
        return str(self.bracket)

    def __repr__(self) -> str:
        return f"<Rényi divergence of order {self.alpha}: {self.bracket}, {self.neighbours.adjacency.value}>"

    def _repr_html_(self) -> str:
        return f"{self.bracket._repr_html_()}<p>{html.escape(self.about)}</p>"


@spelled_out
def renyi(
    source: Source | Rounds | Sequence[Rounds],
    *,
    n: int | None,
    alpha: object,
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float | None = None,
    bits: int | None = None,
    attain: bool = False,
    **whom: Unpack[Whom],
) -> RenyiBound:
    r"""Bound the Rényi divergence of shuffled messages.

    Of laws P, Q it is :math:`D_\alpha=\frac1{\alpha-1}\log\sum_yP_y^\alpha Q_y^{1-\alpha}`. Here it is
    an integral of the profile over all orders (:mod:`symshuffle.accountants.orders`), and adds up over rounds, adaptive
    ones too. Rényi's divergence is a view for those who account in it: of delta and eps over rounds
    :func:`symshuffle.delta` and :func:`symshuffle.epsilon` know more than can be read off it.

    Parameters
    ----------
    source, n, direction, bits, adjacency, blanket, null, min_users
        As in :func:`symshuffle.delta`; dropout and groups are refused. ``forward`` is the divergence of M(X0) from
        M(X1); ``both``, which several rounds need, the larger of the two.
    alpha : number or text
        Order in [1, 10000]; at 1 the relative entropy.
    rigour : {"float64", "ball"}
        What every value of the profile must be; the integral is taken in balls.
    rel : float
        Relative width to aim at; default 1e-3. A tenth of it takes three times as many values.
    attain : bool
        Whether to evaluate real neighbouring pairs (constant backgrounds) as well.

    Raises
    ------
    InputError
        If an argument is out of its range.
    Unsupported
        If the divergence is infinite, or no level is known from which on the profile is 0; for rigour exact, dropout
        and groups.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> found = renyi(mechanism("krr").at(k=4, eps0=1), n=1000, alpha=2)
    >>> round(float(found), 5), float(found.bracket.relative_width) <= 1e-3
    (0.00103, True)
    """
    order = parse_rational(alpha, "alpha")
    if not 1 <= order <= LARGEST_ORDER:
        raise InputError("alpha", alpha, f"an order in [1, {LARGEST_ORDER}]")
    request = Request.of(direction, None, rigour, USUAL_WIDTH if rel is None else rel, bits)
    if request.rigour is Rigour.EXACT:
        raise Unsupported("rigour exact: a Rényi divergence is a logarithm; use --rigour ball")
    asked = experiment(source, Covering.of(**whom))
    several, alone, users = unrolled(asked, n)
    plan = Rounds((Round(alone, 1, users),)) if several is None else several
    for part in plan.parts:
        _check_participation(part.source)
    if several is not None and request.direction is not Question.BOTH:
        raise InputError("direction", request.direction.value, "both, with rounds, which may mix the orders")
    found = [(_one(part, order, request, attain=attain), part.times) for part in plan.parts]
    neighbours, _ = covered_by(asked, n, request.direction)
    bracket, attained = _together(found, request)
    parts = tuple((part.times, part.n) for part in plan.parts)
    composition = None if several is None else Composition(plan.times, parts)
    return RenyiBound(order, bracket, neighbours, attained, composition)


def _check_participation(reduced: Source) -> None:
    """Refuse what has no profile at one order, or none that is cheap.

    Raises
    ------
    Unsupported
        For groups, which are bounded at another order for every order, and for dropout.
    """
    assert isinstance(reduced, Reduction)
    who = reduced.participation
    if who.group > 1:
        raise Unsupported(
            f"group {who.group}: a chain of neighbours bounds delta at powers of the order, which is no profile; ask "
            "for delta or epsilon instead"
        )
    if who.dropout:
        raise Unsupported(
            f"dropout {who.dropout}: a Rényi divergence takes hundreds of orders, each a mean over the number of "
            "messages; ask for --min-users, or for delta or epsilon"
        )


def _together(
    found: Sequence[tuple[tuple[Bracket, Attained | None], int]], request: Request
) -> tuple[Bracket, Attained | None]:
    """The sum over rounds."""
    low = sum((one.lower * times for (one, _), times in found), start=Fraction(0))
    high = sum((one.upper * times for (one, _), times in found), start=Fraction(0))
    first, rounds = found[0][0][0], sum(times for _, times in found)
    how = first.how if len(found) == 1 else "; ".join(f"{times} rounds: {one.how}" for (one, _), times in found)
    aimed = None if high - low <= Fraction(request.rel) * high else request.rel
    how = how if rounds == 1 else f"sum over {rounds} rounds; {how}"
    bracket = Bracket(low, high, request.rigour or Rigour.FLOAT64, "profile", how, aimed)
    reached = [(one, times) for (_, one), times in found if one is not None]
    if len(reached) < len(found):
        return bracket, None
    place = "" if rounds == 1 else " in {} rounds"
    words = "; ".join(f"{one.datasets}{place.format(times)}" for one, times in reached)
    return bracket, Attained(sum((one.lower * times for one, times in reached), start=Fraction(0)), words)


def _one(part: Round, alpha: Fraction, request: Request, *, attain: bool) -> tuple[Bracket, Attained | None]:
    """Of one of some rounds that are alike: the bound, and what real datasets have."""
    reduced, n = part.source, part.n
    assert isinstance(reduced, Reduction) and n is not None
    shape = _Profile.of(reduced, n, request)
    if shape is None:
        return Bracket(Fraction(0), Fraction(0), Rigour.FLOAT64, "profile", "the messages tell nothing"), None
    bracket = shape.narrowed(alpha, request)
    if not attain:
        return bracket, None
    return bracket, _attained(reduced, n, alpha, request, shape)


def _attained(reduced: Reduction, n: int, alpha: Fraction, request: Request, shape: _Profile) -> Attained | None:
    """What real datasets have: all of them at some of the orders of the bound, and the best of them at every one."""
    orders = sorted(shape.known)
    best: tuple[Fraction, Datasets, _Profile] | None = None
    for real in reduced.datasets:
        own = _Profile(real.alone(reduced), n, shape.request, shape.scale, shape.last)
        low = own.lower_at([*orders[::_COARSER], orders[-1]], alpha, request.direction)
        if best is None or low > best[0]:
            best = low, real, own
    if best is None:
        return None
    low, real, own = best
    return Attained(
        max(low, own.lower_at(orders, alpha, request.direction)), real.describe(reduced.participation.min_users or n)
    )


@dataclass(frozen=True, slots=True)
class _Profile:
    """Two-sided values of the profile of one round at rational orders from 1 to one from which on it is 0."""

    reduced: Reduction
    n: int
    request: Request
    scale: float
    last: Fraction
    known: dict[Fraction, tuple[Bracket, Bracket]] = field(default_factory=dict)

    @classmethod
    def of(cls, reduced: Reduction, n: int, request: Request) -> _Profile | None:
        """With nothing known but where it ends; None where there is nothing to be known."""
        wanted = Request(rigour=request.rigour, rel=max(request.rel / 50, 1e-12), bits=request.bits)
        scale = OneRound(reduced, n, 1, wanted).scale()
        if scale <= 0:
            return None
        return cls(reduced, n, wanted, scale, _last(reduced, wanted))

    def values(self, x: Fraction) -> tuple[Bracket, Bracket]:
        """Both directions at an order."""
        found = self.known.get(x)
        if found is None:
            one = self._value(x, Question.FORWARD)
            same = x < self.last and self._same_both_ways(x)
            found = self.known[x] = one, one if same else self._value(x, Question.REVERSE)
        return found

    def _same_both_ways(self, x: Fraction) -> bool:
        of, bits = self.reduced, self.request.bits

        def laws(question: Question) -> list[Any]:
            if of.mixed:
                return [law for family in of.mixed for law in mixed_laws(family, x, question, bits)]
            return list(of.laws(x, question, bits))

        return laws(Question.FORWARD) == laws(Question.REVERSE)

    def _value(self, x: Fraction, question: Question) -> Bracket:
        if x >= self.last:
            return Bracket(Fraction(0), Fraction(0), Rigour.BALL, "none", "G is never positive")
        return bound_at(self.reduced, self.n, x, _asked(self.request, question))

    def nodes(self, direction: Direction) -> list[Node]:
        """The profile on all orders."""
        orders = sorted(self.known)
        one, other = (
            [Node(x, self.known[x][place].lower, self.known[x][place].upper) for x in orders] for place in (0, 1)
        )
        return whole_line(one, other) if direction is Direction.FORWARD else whole_line(other, one)

    def ends(self, alpha: Fraction, direction: Direction) -> tuple[Fraction, Fraction]:
        """The divergence, from two sides."""
        with working_precision(BITS):
            found = stretches(self.nodes(direction), alpha)
            low = divergence(sum((one.low for one in found), start=flint.arb(0)), alpha)
            high = divergence(sum((one.high for one in found), start=flint.arb(0)), alpha)
        return max(low.lower, Fraction(0)), high.upper

    def lower_at(self, orders: Sequence[Fraction], alpha: Fraction, question: Question) -> Fraction:
        """What the divergence is not below, from the values at these orders."""
        for x in orders:
            self.values(x)
        return max(self.ends(alpha, direction)[0] for direction in question.directions)

    def narrowed(self, alpha: Fraction, request: Request) -> Bracket:
        """More values where they matter, until both ends are as close as asked."""
        self._first(alpha)
        directions = request.direction.directions
        before = None
        while True:
            ends = [self.ends(alpha, direction) for direction in directions]
            low, high = (max(end) for end in zip(*ends, strict=True))
            close = high - low <= Fraction(request.rel) * high
            stuck = before is not None and (high - low) * 10 > before * 9
            if close or stuck or 2 * len(self.known) > _MOST_NODES:
                how = f"integral over {len(self.known)} orders of the profile, between chords and extended chords"
                return Bracket(
                    low, high, request.rigour or Rigour.FLOAT64, "profile", how, None if close else request.rel
                )
            before = high - low
            self._refine(alpha, directions)

    def _first(self, alpha: Fraction) -> None:
        """A first grid, from 1 to where what is left hardly counts, and the end."""
        self.values(Fraction(1))
        self.values(self.last)
        eps, most = 0.0, _logarithm(self.last)
        while True:
            eps += self.scale / _PER_SCALE
            x = _order(eps)
            if eps >= most or x >= self.last:
                return
            self.values(x)
            found = stretches(self.nodes(Direction.FORWARD), alpha)
            with working_precision(BITS):
                whole = sum((one.high for one in found[:-1]), start=flint.arb(0))
                small = to_arb(Fraction(1, 10**6))
                if found[-1].high < whole * small and found[0].high < whole * small:
                    return

    def _refine(self, alpha: Fraction, directions: Sequence[Direction]) -> None:
        """Halve the stretches that keep the ends apart most, seven eighths of what does."""
        orders = sorted(self.known)
        gaps = [0.0] * (len(orders) - 1)
        for direction in directions:
            found = stretches(self.nodes(direction), alpha)
            for i, share in enumerate(_shares(found)):
                place = i - (len(orders) - 1)
                gaps[place if place >= 0 else -place - 1] += share
        left = sum(gaps) / 8
        for i in sorted(range(len(gaps)), key=gaps.__getitem__):
            left -= gaps[i]
            if left < 0:
                middle = (_logarithm(orders[i]) + _logarithm(orders[i + 1])) / 2
                self.values(_order(middle))


def _shares(found: Sequence[Stretch]) -> list[float]:
    """What every stretch has of the distance between the ends."""
    with working_precision(BITS):
        gaps = [one.high - one.low for one in found]
        total = sum(gaps, start=flint.arb(0))
        return [max(float((gap / total).mid()), 0.0) if total > 0 else 0.0 for gap in gaps]


def _asked(request: Request, question: Question) -> Request:
    return Request(question, None, request.rigour, request.rel, request.bits)


def _logarithm(x: Fraction) -> float:
    return math.log1p(float(x - 1)) if x < 2 else math.log(x.numerator) - math.log(x.denominator)


def _order(eps: float) -> Fraction:
    """About exp(eps), a short rational."""
    if eps < 1:
        return 1 + Fraction(f"{math.expm1(eps):.7g}")
    return Fraction(f"{Decimal(eps).exp():.7g}")


def _last(reduced: Reduction, request: Request) -> Fraction:
    """An order from which on the profile is certainly 0, about the smallest.

    Raises
    ------
    Unsupported
        If there is none up to the largest level.
    """
    top = _order(float(LARGEST_LEVEL))
    if not bounds_nothing_from(reduced, top, request):
        for law in reduced.laws(top, request.direction, request.bits):
            if lower_end(law.singular) > 0:
                raise Unsupported(
                    "the Rényi divergence is infinite: some messages reveal for certain what the user holds; ask for "
                    "delta or epsilon instead"
                )
        raise Unsupported(
            f"no level up to {LARGEST_LEVEL} is known from which on delta is 0: the Rényi divergence may be infinite; "
            "ask for delta or epsilon instead"
        )
    low, high = 1.0 / 128, 1.0 / 64
    while not bounds_nothing_from(reduced, _order(high), request):
        low, high = high, min(2 * high, float(LARGEST_LEVEL))
    while high - low > low / 50:
        middle = (low + high) / 2
        low, high = (low, middle) if bounds_nothing_from(reduced, _order(middle), request) else (middle, high)
    return _order(high)
