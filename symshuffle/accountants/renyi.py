"""The front door for Rényi differential privacy of shuffled messages: from profiles, in one round or over many."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Unpack, final

from symshuffle.accountants.amplification import Attained, Composition
from symshuffle.accountants.covered import Covering, Datasets, Reduction, Whom, spelled_out
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.experiments import covered_by, experiment
from symshuffle.accountants.neighbours import AboutNeighbours, Neighbours
from symshuffle.accountants.plan import Round, Rounds, unrolled
from symshuffle.accountants.reduction import Source
from symshuffle.accountants.refined_profile import RefinedProfile
from symshuffle.choices import Question, Rigour
from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import counted, format_decimal, parse_rational
from symshuffle.results import AnswerMethods, Bracket, SafeEnd

LARGEST_ORDER: Final = 10_000
USUAL_WIDTH: Final = 1e-3
"""Relative width of a Rényi divergence that is aimed at where none is asked for."""
_COARSER: Final = 4
"""Of the orders of a bound one in so many tells which real datasets have the most."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class RenyiBound(AboutNeighbours, AnswerMethods):
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
        Of several rounds: how many; ``neighbours`` then says what is covered in each of them.
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
        return (
            f"upper bounds {self.neighbours.compared_by(order)}; lower is the other side of this bound, not a lower "
            f"bound on the divergence{self.neighbours.together}"
        )

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
            **self.neighbours.keys(self.about),
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
    neighbours = covered_by(asked, n, request.direction)
    found = [(_one(part, order, request, attain=attain), part.times) for part in plan.parts]
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
    how = (
        first.how
        if len(found) == 1
        else "; ".join(f"{counted(times, 'round')}: {one.how}" for (one, _), times in found)
    )
    aimed = None if high - low <= Fraction(request.rel) * high else request.rel
    how = how if rounds == 1 else f"sum over {rounds} rounds; {how}"
    bracket = Bracket(low, high, request.rigour or Rigour.FLOAT64, "profile", how, aimed)
    reached = [(one, times) for (_, one), times in found if one is not None]
    if len(reached) < len(found):
        return bracket, None
    words = "; ".join(
        one.datasets if rounds == 1 else f"{one.datasets} in {counted(times, 'round')}" for one, times in reached
    )
    return bracket, Attained(sum((one.lower * times for one, times in reached), start=Fraction(0)), words)


def _one(part: Round, alpha: Fraction, request: Request, *, attain: bool) -> tuple[Bracket, Attained | None]:
    """Of one of some rounds that are alike: the bound, and what real datasets have."""
    reduced, n = part.source, part.n
    assert isinstance(reduced, Reduction) and n is not None
    shape = RefinedProfile.of(reduced, n, request)
    if shape is None:
        return Bracket(Fraction(0), Fraction(0), Rigour.FLOAT64, "profile", "the messages tell nothing"), None
    bracket = shape.narrowed(alpha, request)
    if not attain:
        return bracket, None
    return bracket, _attained(reduced, n, alpha, request, shape)


def _attained(reduced: Reduction, n: int, alpha: Fraction, request: Request, shape: RefinedProfile) -> Attained | None:
    """What real datasets have: all of them at some of the orders of the bound, and the best of them at every one."""
    orders = sorted(shape.known)
    best: tuple[Fraction, Datasets, RefinedProfile] | None = None
    for real in reduced.datasets:
        own = RefinedProfile(real.alone(reduced), n, shape.request, shape.scale, shape.last)
        low = own.lower_at([*orders[::_COARSER], orders[-1]], alpha, request.direction)
        if best is None or low > best[0]:
            best = low, real, own
    if best is None:
        return None
    low, real, own = best
    return Attained(
        max(low, own.lower_at(orders, alpha, request.direction)), real.describe(reduced.participation.min_users or n)
    )
