r"""Users with local budgets of their own: each hides the others by his own blanket.

Let user i run :math:`W_i(x)=\gamma_i\omega+(1-\gamma_i)L_{i,x}`. Once it is shown who of the others drew from his
left-over, and what, there remains the message of the differing user j among N draws from :math:`\omega`, N a sum of
independent coins :math:`\gamma_i, i\ne j`: the divergence is at most :math:`E[H_j(N+1)]`, which falls with N. Where
blankets differ a count of draws is not all that matters: this is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final, final

import flint

from symshuffle.accountants.bounds.amplification import Amplification
from symshuffle.accountants.bounds.brackets import bound_at, largest_of, ratio_of
from symshuffle.accountants.bounds.evaluate import Request
from symshuffle.accountants.bounds.search import smallest_meeting
from symshuffle.accountants.covering.assumptions import Assumption
from symshuffle.accountants.covering.listed import numeric
from symshuffle.accountants.covering.neighbours import Neighbours
from symshuffle.accountants.covering.participation import LARGEST_EXACT, Cdf, exact_sums, mean_over_counts
from symshuffle.accountants.covering.reduced import PairClass, Reduction
from symshuffle.accountants.questions.experiments import with_every_matrix
from symshuffle.base.choices import Adjacency, Question, Rigour
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_delta, read_target, words_of_target
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Real, as_integer, counted, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.model import ReductionPair, privacy_blanket

_WIDTH: Final = 1e-3
_MOST_USERS: Final = 100_000
_BITS: Final = 4 * DEFAULT_BITS
"""Precision of products of coins: what is far from their mean is a small difference of large numbers."""

THEOREM: Final = "each user's own blanket, claim symshuffle.unequal-budgets"


@final
@dataclass(frozen=True, slots=True)
class Users:
    """A number of users who run the same channel.

    Parameters
    ----------
    count : int
        How many users, from 1 to 100,000.
    channel : Channel
        What each of them runs: a channel of rationals with at least 2 inputs.

    Raises
    ------
    InputError
        If the count is out of range, or the channel has one input only or entries that are not rational.
    """

    count: int
    channel: Channel

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", as_integer(self.count, "count", 1, _MOST_USERS))
        given: object = self.channel  # callers are not type-checked
        if not isinstance(given, Channel):
            raise InputError("channel", type(given).__name__, "a Channel, as Channel.from_rows(...)")
        if not self.channel.exact or self.channel.num_inputs < 2:
            kind = f"{self.channel.num_inputs} inputs" if self.channel.exact else "probabilities that are not rational"
            raise InputError("channel", kind, "a channel of rationals with at least 2 inputs")


def unequal_delta(
    users: Sequence[Users],
    *,
    exp_eps: object = None,
    eps: object = None,
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = _WIDTH,
    bits: int | None = None,
) -> Amplification:
    """Upper bound on delta for users with different channels.

    The differing user may be any of the users. It is public which user runs which channel.

    Parameters
    ----------
    users : sequence of Users
        All users, grouped by what they run; their channels have the same inputs, outputs and blanket distribution.
    exp_eps, eps, direction, rigour, bits
        As in :func:`symshuffle.delta`.
    rel : float
        Relative width of the bracket to aim at; default 1e-3.

    Returns
    -------
    Amplification
        ``bracket`` encloses the largest bound on delta over the users who may differ.

    Raises
    ------
    InputError
        If there are no users, or their channels differ in the number of inputs or outputs.
    Unsupported
        If the blankets differ, a channel has none, or there are more than 100,000 users (rigour exact: 300).

    Examples
    --------
    >>> careful, open_ = (Channel.from_rows([[p, 1 - p], [1 - p, p]]) for p in (Fraction(3, 5), Fraction(3, 4)))
    >>> unequal_delta([Users(2, careful), Users(1, open_)], exp_eps=1, rigour="exact").bracket.exact
    Fraction(13, 50)
    """
    request, asked = Request.of(direction, None, rigour, rel, bits), _read(users)
    order = read_target(eps=eps, exp_eps=exp_eps)
    words = words_of_target(exp_eps=order)
    found = Amplification("delta", _bound(asked, order, request), _covered(asked, request), target=words)
    return with_every_matrix(found, order)


def unequal_epsilon(
    users: Sequence[Users],
    *,
    delta: object,
    direction: Question | str = "both",
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float = _WIDTH,
    bits: int | None = None,
) -> Amplification:
    """Smallest eps, in nats, at a target delta for users with different channels.

    Parameters
    ----------
    users, direction, rigour, bits
        As in :func:`unequal_delta`.
    delta : number or text
        Target probability, in (0, 1); kept exact.
    rel : float
        Relative width of eps to aim at; default 1e-3.

    Returns
    -------
    Amplification
        ``bracket`` encloses the smallest eps in nats at which the bound on delta meets the target.

    Raises
    ------
    InputError, Unsupported
        As in :func:`unequal_delta`, and if no eps meets the target.

    Examples
    --------
    >>> channels = (Channel.from_rows([[p, 1 - p], [1 - p, p]]) for p in (Fraction(3, 5), Fraction(3, 4)))
    >>> users = [Users(count, channel) for count, channel in zip((20, 20), channels, strict=True)]
    >>> round(float(unequal_epsilon(users, delta="1e-2").bracket.upper), 2)
    0.26
    """
    request, asked, target = Request.of(direction, None, rigour, rel, bits), _read(users), read_delta(delta)

    def at(target: Fraction) -> Amplification:
        found = smallest_meeting(
            lambda x, width: _bound(asked, ratio_of(x), replace(request, rel=width)), target, request.rel
        )
        how = f"root search on delta(eps); at the upper end: {found.at.how}"
        return Amplification("epsilon", found.bracket(how, request.rel), _covered(asked, request), target=words)

    words = words_of_target(delta=target)
    return with_every_matrix(at(target), target, at)


def _read(users: Sequence[Users]) -> tuple[Users, ...]:
    given: object = users  # callers are not type-checked
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError("users", given, "a list of at least one group, as [Users(100, channel)]")
    for place, one in enumerate(users):
        if not isinstance(one, Users):
            raise InputError(f"users[{place}]", type(one).__name__, "a group of users, as Users(100, channel)")
    first = users[0].channel
    for place, one in enumerate(users):
        if (one.channel.num_inputs, one.channel.num_outputs) != (first.num_inputs, first.num_outputs):
            shape = f"{one.channel.num_inputs} inputs, {one.channel.num_outputs} outputs"
            raise InputError(f"users[{place}]", shape, f"{first.num_inputs} and {first.num_outputs}, as in users[0]")
    blankets = [privacy_blanket(one.channel).omega for one in users]
    for place, omega in enumerate(blankets):
        if omega is None:
            raise Unsupported(f"users[{place}] hide nobody: their channel has no blanket")
        if omega != blankets[0]:
            raise Unsupported(
                f"the blankets of users[0] and users[{place}] differ: a count of draws is then not all that matters"
            )
    if sum(one.count for one in users) > _MOST_USERS:
        raise Unsupported(f"{sum(one.count for one in users)} users of unequal budgets: at most {_MOST_USERS}")
    return tuple(users)


def _covered(users: tuple[Users, ...], request: Request) -> Neighbours:
    total = sum(one.count for one in users)
    groups = ", ".join(f"{counted(one.count, 'user')} with channel {place}" for place, one in enumerate(users))
    pairs = f"any two inputs of any user, where it is public who runs which channel: {groups}"
    rounded = max((one.channel.rounding for one in users if one.channel.rounding), key=lambda r: r.row, default=None)
    public = ((Assumption.PUBLIC_RANDOMIZERS, groups),)
    return Neighbours(
        pairs, True, Adjacency.REPLACE_ONE, request.direction, total, THEOREM, rounding=rounded, assumed=public
    )


def _bound(users: tuple[Users, ...], order: Real, request: Request) -> Bracket:
    """The largest bound over who differs."""
    total, exact = sum(one.count for one in users), request.rigour is Rigour.EXACT
    if exact and total > LARGEST_EXACT:
        raise Unsupported(f"rigour exact with unequal budgets takes at most {LARGEST_EXACT} users, not {total}")
    found = [_of_one(users, place, order, request, exact) for place in range(len(users))]
    return largest_of(found)


def _of_one(users: tuple[Users, ...], place: int, order: Real, request: Request, exact: bool) -> Bracket:
    """Where a user of one group differs: X0 may hold either input of a pair, so one direction is as large as both."""
    reduced = _against_blanket(users[place].channel)
    coins = tuple(
        (one.count - (i == place), sum(map(Fraction, one.channel.blanket()), start=Fraction(0)))  # type: ignore[arg-type]
        for i, one in enumerate(users)
    )
    centre = sum(count * float(gamma) for count, gamma in coins)
    spread = sum(count * float(gamma * (1 - gamma)) for count, gamma in coins) ** 0.5
    return mean_over_counts(
        lambda m, width: bound_at(reduced, m, order, replace(request, rel=width, direction=Question.BOTH)),
        sum(one.count for one in users),
        clones_cdf(coins, exact=exact),
        (centre, spread),
        request.rel,
        exact=exact,
    )


@lru_cache(maxsize=32)
def _against_blanket(channel: Channel) -> Reduction:
    """Every pair of inputs of one channel among draws from its blanket distribution."""
    omega = privacy_blanket(channel).omega
    assert omega is not None
    alike: dict[object, PairClass] = {}  # pairs whose outputs are the same but for their names have one law
    for x, y in itertools.combinations(range(channel.num_inputs), 2):
        pair = ReductionPair(channel.rows[x], channel.rows[y], omega)
        outputs = tuple(sorted(zip(pair.a0, pair.a1, pair.a2, strict=True)))
        alike.setdefault(outputs, PairClass(f"inputs {x} and {y}", numeric(pair)))
    return Reduction(tuple(alike.values()), theorem=THEOREM, rounding=channel.rounding)


@lru_cache(maxsize=32)
def clones_cdf(coins: tuple[tuple[int, Fraction], ...], *, exact: bool = False) -> Cdf:
    """From m to both ends of the probability of at most m messages that hide each other, that of one user included."""
    total = 1 + sum(count for count, _ in coins)
    below = exact_sums(coins) if exact else _ball_sums(coins)

    @cache
    def ends(m: int) -> tuple[Fraction, Fraction]:
        if m < 1:
            return Fraction(0), Fraction(0)
        return (Fraction(1), Fraction(1)) if m >= total else below(m)

    return ends


def _ball_sums(coins: tuple[tuple[int, Fraction], ...]) -> Callable[[int], tuple[Fraction, Fraction]]:
    with working_precision(_BITS):
        product = flint.arb_poly([1])
        for count, gamma in coins:
            product *= flint.arb_poly([1 - to_arb(gamma), to_arb(gamma)]) ** count
        sums = list(itertools.accumulate(product.coeffs()))

    def ends(m: int) -> tuple[Fraction, Fraction]:
        with working_precision(_BITS):
            ball = Ball.from_arb(sums[m - 1], _BITS)
        return max(ball.lower, Fraction(0)), min(ball.upper, Fraction(1))

    return ends
