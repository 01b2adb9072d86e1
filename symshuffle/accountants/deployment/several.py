r"""Users of several groups, and dummies: draws from one blanket distribution hide each user.

Let user i run :math:`W_i(x)=\gamma_i\omega+(1-\gamma_i)L_{i,x}`, and let d dummies be drawn from :math:`\omega`. Once
it is shown who of the others drew from his left-over, and what, there remains the message of the differing user j among
:math:`N+d` draws from :math:`\omega`, N a sum of independent coins :math:`\gamma_i, i\ne j`: the divergence is at most
:math:`E[H_j(N+d+1)]`. Whoever drops out, publicly and with a probability, makes a coin of his that much rarer. Dummies
are those of a period: of several reports, each separate batch has its part of them. Where blankets differ a count of
draws is not all that matters: this is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.accountants.deployment.group import Group, assumed_of
from symshuffle.accountants.deployment.listed import numeric
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.reduced import PairClass, Reduction
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import counted
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.model import ReductionPair, privacy_blanket

MOST_USERS: Final = 100_000
"""Users of several groups together: more make products of coins that take minutes."""

THEOREM: Final = "each user's own blanket, claim symshuffle.unequal-budgets"

_OF_DUMMIES: Final = "draws from the blanket distribution, claim symshuffle.dummies"


def reduction_of_groups(deployment: Deployment, channels: Sequence[Channel]) -> Reduction:
    """Return the reduction of several groups of users, or of one with dummies.

    - ``channels``: what the groups of users run, rationals.

    Raises
    ------
    InputError
        If a group has no number of users although there are several, or shapes differ.
    Unsupported
        If blankets differ, a channel has none, or dummies are drawn from another distribution.
    """
    users = deployment.users
    omega = _common_blanket(channels)
    dummies = _number_of_dummies(deployment, omega)
    if len(users) > 1:
        for place, group in enumerate(users):
            if group.count is None:
                raise InputError(f"group[{place}].count", None, "a number of users for each of several groups")
        total = sum(group.count or 0 for group in users)
        if total > MOST_USERS:
            raise Unsupported(f"{total} users of several groups: at most {MOST_USERS}")
    for channel in channels:
        deployment.adjacency.check_inputs(channel.num_inputs)
    masses = [sum(map(Fraction, channel.blanket()), start=Fraction(0)) for channel in channels]  # type: ignore[arg-type]
    others = tuple((_sending(group, keep=len(users) > 1), mass) for group, mass in zip(users, masses, strict=True))
    cases = tuple(
        replace(
            _against_blanket(channel, deployment.adjacency.compared),
            sharing=others,
            place=place,
            dummies=dummies // deployment.reports,
        )
        for place, channel in enumerate(channels)
    )
    classes = tuple(one for case in cases for one in case.classes)
    rounded = max((one.rounding for one in channels if one.rounding), key=lambda r: r.row, default=None)
    assumed, pairs = [], "any two inputs of any user"
    if len(users) > 1:
        named = ", ".join(
            f"{counted(group.count or 0, 'user')} with channel {place}" for place, group in enumerate(users)
        )
        assumed.append((Assumption.PUBLIC_RANDOMIZERS, named))
        pairs = f"any two inputs of any user, where it is public who runs which channel: {named}"
        for place, group in enumerate(users):
            assumed += [(one, f"in group {place}, {detail}") for one, detail in assumed_of([group])]
    if dummies:
        assumed.append((Assumption.DUMMIES, f"{counted(dummies, 'dummy', 'dummies')} in each batch"))
    notes = tuple(
        f"of group {place} {group.supposed}" for place, group in enumerate(users) if len(users) > 1 and group.supposed
    )
    return Reduction(
        classes,
        deployment.adjacency.compared is None,
        pairs=pairs if deployment.adjacency.compared is None else cases[0].pairs,
        theorem="; ".join((*((THEOREM,) if len(users) > 1 else ()), *((_OF_DUMMIES,) if dummies else ()))) or THEOREM,
        group=Group() if len(users) > 1 else users[0].without_randomizer,
        rounding=rounded,
        assumed=tuple(assumed),
        cases=cases,
        notes=notes,
    )


def _sending(group: Group, *, keep: bool) -> Group:
    """A group without its randomizer; of several with its number of users."""
    return replace(group, randomizer=None) if keep else group.without_randomizer


def _common_blanket(channels: Sequence[Channel]) -> tuple[object, ...]:
    first = channels[0]
    for place, one in enumerate(channels):
        if (one.num_inputs, one.num_outputs) != (first.num_inputs, first.num_outputs):
            shape = f"{one.num_inputs} inputs, {one.num_outputs} outputs"
            expected = f"{first.num_inputs} and {first.num_outputs}, as in group[0]"
            raise InputError(f"group[{place}].randomizer", shape, expected)
    blankets = [privacy_blanket(one).omega for one in channels]
    for place, omega in enumerate(blankets):
        if omega is None:
            raise Unsupported(
                f"group[{place}] hides nobody: no output has a positive probability in all rows of its channel"
            )
        if omega != blankets[0]:
            raise Unsupported(
                f"the blankets of group[0] and group[{place}] differ, and no bound for groups with different "
                "blankets is implemented; ask about each group alone, without the users of the other groups"
            )
    assert blankets[0] is not None
    return tuple(blankets[0])


def _number_of_dummies(deployment: Deployment, omega: Sequence[object]) -> int:
    """The number of dummies, each drawn from the blanket distribution."""
    total = 0
    for group in deployment.groups:
        if not group.dummies:
            continue
        if group.count is None:
            raise InputError("dummies", None, "a number of dummies, as Group.of_dummies(100)")
        law = group.randomizer.rows[0] if isinstance(group.randomizer, Channel) else tuple(omega)
        if group.randomizer == "uniform":
            law = (Fraction(1, len(omega)),) * len(omega)
        if law != tuple(omega):
            expected = f"({', '.join(map(str, omega))}), the blanket distribution of the users"
            raise Unsupported(f"dummies with another distribution than {expected}: not supported")
        total += group.count
    return total


@lru_cache(maxsize=32)
def _against_blanket(channel: Channel, compared: tuple[tuple[int, int], ...] | None) -> Reduction:
    """Pairs of inputs of one channel among draws from its blanket distribution."""
    omega = privacy_blanket(channel).omega
    assert omega is not None
    alike: dict[object, PairClass] = {}  # pairs that differ only in the names of outputs share one law
    for x, y in itertools.combinations(range(channel.num_inputs), 2) if compared is None else compared:
        pair = ReductionPair(channel.rows[x], channel.rows[y], omega)
        outputs = tuple(sorted(zip(pair.a0, pair.a1, pair.a2, strict=True)))
        alike.setdefault(outputs, PairClass(f"inputs {x} and {y}", numeric(pair)))
    named = "" if compared is None else "inputs " + ", ".join(f"{x} and {y}" for x, y in compared)
    return Reduction(tuple(alike.values()), pairs=named, theorem=THEOREM, rounding=channel.rounding)
