r"""Who counts as a user: a least number of messages, users who drop out, and groups of users.

*At least m messages.* The bound H(n) of every source here is :math:`s+\frac1nE[(G_1+\dots+G_n)_+]`, which never rises
with n; so H(m) covers every number of messages from m on.

*Dropout.* Each other user sends with probability :math:`1-q`, whatever the inputs, and the number M of messages is
public: the divergence is at most :math:`E[H(M)]`, :math:`M-1\sim\mathrm{Bin}(n-1,1-q)`. On an interval of numbers H
lies between its values at the two ends, so finitely many values and binomial tails bound the mean from both sides;
intervals are halved where that gains most. By monotonicity the mean is never above :math:`H(m)+P(M<m)`, whatever m,
and it never rises with n.

*Groups.* Datasets that differ in g users are joined by a chain of g steps, and
:math:`(p-xyr)_+\le(p-xq)_++x(q-yr)_+` adds them up: :math:`D_{x^g}\le(1+x+\dots+x^{g-1})H(x)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

from symshuffle.accountants.covering.dropout import mean_over_dropouts
from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import DEFAULT_BITS, Exp, Real, as_integer, enclose, lower_end, parse_rational, upper_end
from symshuffle.base.results import Bracket

_WIDTH: Final = 1e-3
"""Relative width to aim at with dropout where none is asked for: every halving costs values of H."""

At: TypeAlias = "Callable[[int, Real, float], Bracket]"
"""From a number of messages, a ratio exp(eps) and a relative width to a bracket around H."""

_MOST: Final = 10**300
"""More users than that are refused before their number is compared with that of the question."""


def _some(users: object, argument: str) -> int:
    found = as_integer(users, argument, 1)
    return found if found <= _MOST else as_integer(users, argument, 1, _MOST)


@final
@dataclass(frozen=True, slots=True)
class Participation:
    """Who of the users sends a message, and in how many users two datasets differ.

    - ``min_users``: how many messages there are at least, whoever sends them; at least 1. None is all users.
    - ``dropout``: with which probability each other user drops out, independently of all inputs, in [0, 1). The
      number of messages is public.
    - ``group``: in how many users neighbours differ at most, at least 1.
    """

    min_users: int | None = None
    dropout: Fraction | None = None
    group: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", _some(self.group, "group"))
        if self.min_users is not None:
            object.__setattr__(self, "min_users", _some(self.min_users, "min_users"))
        if self.dropout is None:
            return
        dropout = parse_rational(self.dropout, "dropout")
        if not 0 <= dropout < 1:
            raise InputError("dropout", self.dropout, "a probability in [0, 1)")
        if self.min_users is not None:
            raise InputError("min_users, dropout", f"{self.min_users}, {self.dropout}", "one of the two, not both")
        object.__setattr__(self, "dropout", dropout)

    @property
    def everybody(self) -> bool:
        """Whether all users send, and neighbours differ in one."""
        return self == EVERYBODY

    def check(self, users: int | None) -> None:
        """Compare with a number of users; None where that is what is asked for."""
        if users is not None:
            as_integer(self.group, "group", 1, users)
            as_integer(self.min_users or 1, "min_users", 1, users)
        elif self.min_users is not None:
            raise InputError(
                "min_users", self.min_users, "none where the number of users is asked for, which is the answer"
            )

    def expected(self, users: int) -> float:
        """About how many send, of whom the user who is asked about is one: no bound, it tells where to look."""
        return float(self.min_users or 1 + (users - 1) * (1 - (self.dropout or 0)))

    def width(self, usual: float) -> float:
        """The relative width to aim at where none is asked for."""
        return max(usual, _WIDTH) if self.dropout else usual

    @property
    def claims(self) -> tuple[str, ...]:
        """Claims of the ledger on which the bound rests for who sends, and for groups."""
        asked = (("group-privacy", self.group > 1), ("more-users", self.min_users), ("dropout", self.dropout))
        return tuple(f"claim symshuffle.{name}" for name, needed in asked if needed)

    @property
    def supposed(self) -> str:
        """What is supposed of who sends, and what it rests on; empty where all do."""
        if self.min_users is not None:
            send = "sends" if self.min_users == 1 else "send"
            return (
                f"at least {self.min_users} of them {send} a message: the bound never rises with the number of "
                "messages (claim symshuffle.more-users), honest ones counted only"
            )
        if self.dropout is not None:
            return (
                f"each other user drops out independently with probability {self.dropout}, whatever the inputs, and "
                "the number of messages is public: a mean over it (claim symshuffle.dropout)"
            )
        return ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; nothing where all users send and one differs."""
        if self.everybody:
            return {}
        dropout = None if self.dropout is None else str(self.dropout)
        return {"min_users": self.min_users, "dropout": dropout, "group": self.group}


EVERYBODY: Final = Participation()
"""All users send, and neighbours differ in one of them."""


def bound_over(at: At, who: Participation, users: int, order: Real, rel: float, *, exact: bool) -> Bracket:
    """The bound on delta for who sends, at the level ``exp(eps) = order``, from bounds for fixed numbers of messages.

    - ``rel``: relative width to aim at.
    """
    if who.min_users is not None and who.min_users > users:
        who.check(users)
    one = _root(order, who.group)
    if who.dropout:
        found = mean_over_dropouts(lambda m, width: at(m, one, width), users, who.dropout, rel, exact=exact)
    else:
        found = at(who.min_users or users, one, rel)
    return found if who.group == 1 else _chained(found, one, who.group)


def _root(target: Real, group: int) -> Real:
    """A ratio whose power ``group`` is at most the target: the root itself, where it can be written."""
    if group == 1:
        return target
    if isinstance(target, Exp):
        return Exp(target.exponent / group)
    near = Fraction(float(target) ** (1 / group))
    for guess in (near.limit_denominator(10**6), near):
        if guess**group == target:
            return guess
    step = Fraction(1, 2**50)
    while near**group > target:
        near -= step
    return max(near, Fraction(1))


def group_factor(group: int, ratio: Any) -> Any:
    """What the bound for one user at a ratio is multiplied by for a group: the sum of the powers below ``group``."""
    total: Any = Fraction(0)
    for _ in range(group):
        total = 1 + ratio * total
    return total


def _chained(found: Bracket, one: Real, group: int) -> Bracket:
    ratio = one if isinstance(one, Fraction) else enclose(one, DEFAULT_BITS)
    factor = group_factor(group, ratio)
    low = min(found.lower * lower_end(factor), Fraction(1))
    high = min(found.upper * upper_end(factor), Fraction(1))
    rigour = found.rigour if isinstance(factor, Fraction) or found.rigour is not Rigour.EXACT else Rigour.BALL
    return replace(
        found, lower=low, upper=high, rigour=rigour, how=f"{group} steps between neighbours, at most 1: {found.how}"
    )
