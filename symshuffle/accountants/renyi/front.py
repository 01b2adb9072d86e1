"""The front door for Rényi differential privacy of shuffled messages: from profiles, in one round or over many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.bounds.amplification import Attained, BoundMethods, SeveralRounds, largest_attained
from symshuffle.accountants.bounds.evaluate import Request
from symshuffle.accountants.deployment.experiment import Batches, Experiment, experiment
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.deployment.subjects import Subject, with_fields
from symshuffle.accountants.renyi.refined_profile import RefinedProfile
from symshuffle.base.choices import Direction, Question, Rigour
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import counted, format_decimal, parse_rational
from symshuffle.base.results import Bracket, FirstLines, at_target, safe_number

_LARGEST_ORDER: Final = 10_000
_USUAL_WIDTH: Final = 1e-3
"""Relative width of a Rényi divergence that is aimed at where none is asked for."""
_COARSER: Final = 4
"""Of the orders of a bound one in so many tells which real datasets have the most."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class RenyiBound(BoundMethods):
    """Bound on the Rényi divergence of shuffled messages, and the datasets it covers.

    ``float`` returns the upper end, rounded up.

    Parameters
    ----------
    alpha : Fraction
        Order of the divergence; at 1 it is the relative entropy.
    bracket : Bracket
        In nats, around the divergence that the profile of the optimal decomposition has; its upper end bounds the
        shuffled experiment.
    neighbours : Neighbours
        The pairs of datasets to which the bound applies.
    attained : Attained or None
        A real neighbouring pair, where one was evaluated.
    rounds : Composition or None
        For several rounds: how many; ``neighbours`` then says what is covered in each of them.
    attained_missing : str
        Reason why no real pair was evaluated although it was asked for; else empty.
    """

    alpha: Fraction
    bracket: Bracket
    neighbours: Neighbours
    attained: Attained | None = None
    rounds: SeveralRounds | None = None
    attained_missing: str = ""

    @property
    def quantity_name(self) -> str:
        """What is bounded."""
        return "Rényi divergence"

    @property
    def lines(self) -> FirstLines:
        """First lines of the answer; the first line shows the number and the order."""
        number = at_target(safe_number(self.bracket, self.safe), f"alpha = {_written(self.alpha)}")
        return self.neighbours.lines(self.quantity_name, number, self.bracket.rigour.words)

    @property
    def about(self) -> str:
        """Experiment and theorem to which the bound applies, in words."""
        order = f"of Rényi order {self.alpha} in nats (both directions of the profile enter)"
        return (
            f"upper bounds {self.neighbours.compared_by(order)}; lower is the other side of this bound, not a lower "
            f"bound on the divergence{self.neighbours.together}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: order, both ends rounded outward, and the datasets they cover."""
        return {
            "alpha": str(self.alpha),
            **self.bracket.decimals(),
            **self._keys(),
            **({} if self.rounds is None else self.rounds.to_dict()),
        }

    def __repr__(self) -> str:
        return f"<Rényi divergence of order {self.alpha}: {self.bracket}, {self.neighbours.adjacency.value}>"


def _written(order: Fraction) -> str:
    """An order as a decimal where it is one of at most 17 digits, else as a fraction."""
    decimal = format_decimal(order, up=True)
    return decimal if Fraction(decimal) == order else str(order)


@with_fields
def renyi(
    subject: Subject,
    *,
    alpha: object,
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float | None = None,
    bits: int | None = None,
    attain: bool = False,
    **fields: Any,
) -> RenyiBound:
    r"""Upper bound on the Rényi divergence of shuffled messages, in nats.

    For laws P, Q it is :math:`D_\alpha=\frac1{\alpha-1}\log\sum_yP_y^\alpha Q_y^{1-\alpha}`. It is computed as an
    integral of the profile over all orders (:mod:`symshuffle.accountants.renyi.orders`), and adds up over rounds,
    adaptive ones too. For delta and eps over rounds, :func:`symshuffle.delta` and :func:`symshuffle.epsilon` give
    tighter bounds than those that follow from a Rényi divergence.

    Parameters
    ----------
    subject, direction, bits, and the fields of a deployment
        As in :func:`symshuffle.delta`; dropout, several groups, dummies and a ``group_size`` above 1 are refused.
        ``forward`` is the divergence of M(X0) from M(X1); ``both``, which several rounds need, the larger of the two.
    alpha : number or text
        Order in [1, 10000]; at 1 the relative entropy.
    rigour : {"float64", "ball"}
        What every value of the profile must be; the integral is taken in balls.
    rel : float
        Relative width to aim at; default 1e-3. A tenth of it takes three times as many values.
    attain : bool
        Whether to evaluate real neighbouring pairs (constant backgrounds) as well.

    Returns
    -------
    RenyiBound
        ``bracket`` encloses the bound in nats; its upper end bounds the shuffled experiment. ``attained`` is None
        unless ``attain`` is set.

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
    if not 1 <= order <= _LARGEST_ORDER:
        raise InputError("alpha", alpha, f"an order in [1, {_LARGEST_ORDER}]")
    request = Request.of(direction, None, rigour, _USUAL_WIDTH if rel is None else rel, bits)
    if request.rigour is Rigour.EXACT:
        raise Unsupported("rigour exact: a Rényi divergence is a logarithm; use rigour='ball'")
    asked = experiment(subject, fields)
    asked.check_users()
    for part in asked.parts:
        _check_profile(part.reduction)
    if asked.several and request.direction is not Question.BOTH:
        raise InputError("direction", request.direction.value, "both, with rounds, which may mix the orders")
    neighbours = asked.neighbours(request.direction)
    shapes = [_shape(part, request) for part in asked.parts]
    found = [(_one(shape, order, request), part.times) for shape, part in zip(shapes, asked.parts, strict=True)]
    bracket = _together(found, request)
    attained, missing = largest_attained(lambda: _attained(asked, shapes, order, request)) if attain else (None, "")
    parts = tuple((part.times, part.n) for part in asked.parts)
    composition = SeveralRounds(asked.times, parts) if asked.several else None
    return RenyiBound(order, bracket, neighbours, attained, composition, missing)


def _check_profile(reduced: Reduction) -> None:
    """Refuse what has no profile at one order, or none that is cheap."""
    if reduced.cases:
        raise Unsupported(
            "several groups or dummies: a Rényi divergence would take hundreds of means over the number of messages; "
            "ask for delta or epsilon"
        )
    if reduced.group_size > 1:
        raise Unsupported(
            f"group_size {reduced.group_size}: a chain of neighbours bounds delta at powers of the order, which is no "
            "profile; ask for delta or epsilon instead"
        )
    if reduced.group.dropout:
        raise Unsupported(
            f"dropout {reduced.group.dropout}: a Rényi divergence would take hundreds of means over the number of "
            "messages; use min_batch_size, or ask for delta or epsilon"
        )


def _together(found: Sequence[tuple[Bracket, int]], request: Request) -> Bracket:
    """The sum over rounds."""
    low = sum((one.lower * times for one, times in found), start=Fraction(0))
    high = sum((one.upper * times for one, times in found), start=Fraction(0))
    first, rounds = found[0][0], sum(times for _, times in found)
    each = (f"{counted(times, 'round')}: {one.how}" for one, times in found)
    how = first.how if len(found) == 1 else "; ".join(each)
    aimed = None if high - low <= Fraction(request.rel) * high else request.rel
    how = how if rounds == 1 else f"sum over {rounds} rounds; {how}"
    return Bracket(low, high, request.rigour or Rigour.FLOAT64, "profile", how, aimed)


def _shape(part: Batches, request: Request) -> RefinedProfile | None:
    """The profile of one of some rounds that are alike; None if its messages tell nothing."""
    return RefinedProfile.of(part.reduction, part.users, request)


def _one(shape: RefinedProfile | None, alpha: Fraction, request: Request) -> Bracket:
    """The bound of one round."""
    if shape is None:
        return Bracket(Fraction(0), Fraction(0), Rigour.FLOAT64, "profile", "the messages tell nothing")
    return shape.narrowed(alpha, request)


def _attained(
    asked: Experiment, shapes: Sequence[RefinedProfile | None], alpha: Fraction, request: Request
) -> Attained | None:
    """What real datasets have in all rounds together, in one direction; None if a round has none that are known.

    Some of the orders of the bounds tell which datasets have the most, and these are looked at in all of the orders.
    """
    told = [shape for shape in shapes if shape is not None]
    known = [
        [(datasets, replace(shape, reduced=real, known={})) for datasets, real in shape.reduced.real_pairs(shape.n)]
        for shape in told
    ]
    if len(told) < len(shapes) or not all(known):
        return None
    orders = [sorted(shape.known) for shape in told]
    few = [[*some[::_COARSER], some[-1]] for some in orders]
    rounds, ways = [part.times for part in asked.parts], request.direction.directions

    def most(way: Direction) -> list[tuple[str, RefinedProfile]]:
        """The datasets of each part that have the most in a direction."""
        return [
            max(pairs, key=lambda pair: pair[1].lower_at(some, alpha, way))
            for pairs, some in zip(known, few, strict=True)
        ]

    def total(pairs: list[tuple[str, RefinedProfile]], places: list[list[Fraction]], way: Direction) -> Fraction:
        """The sum over all rounds in a direction, from the values at some orders."""
        each = (one.lower_at(some, alpha, way) for (_, one), some in zip(pairs, places, strict=True))
        return sum((times * low for times, low in zip(rounds, each, strict=True)), start=Fraction(0))

    _, best = max(((way, most(way)) for way in ways), key=lambda found: total(found[1], few, found[0]))
    places = ["" if asked.times == 1 else f" in {counted(times, 'round')}" for times in rounds]
    words = (f"{datasets}{place}" for (datasets, _), place in zip(best, places, strict=True))
    return Attained(max(total(best, orders, way) for way in ways), "; ".join(words))
