"""Privacy of a survey's messages: the level certified again, and every sentence that is printed about it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, final

from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.deployment.experiment import Experiment, experiment_of
from symshuffle.accountants.deployment.model import Deployment, fields_set, named_fields
from symshuffle.base.choices import EVALUATED
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.levels import words_of_target
from symshuffle.base.numbers import Exp, format_decimal, shortest
from symshuffle.base.results import MOST_DIGITS, FirstLines, at_target

LARGEST_USERS: Final = 10**9
"""Users beyond which nothing is planned; counts of fewer messages fit into 64 bits."""

LARGEST_EPS: Final = 64
"""Levels in nats beyond which nothing is planned."""

_OUT_OF_PLAN: Final = (
    "users who do not follow the protocol, times at which messages arrive, messages that can be linked to users or to "
    "each other, and a second message of the same user"
)


def out_of_plan(rounds: int) -> str:
    """Return what no bound here speaks about, of a plan of so many rounds."""
    return _OUT_OF_PLAN if rounds == 1 else f"{_OUT_OF_PLAN} in a round, and a round beyond the {rounds} of the plan"


@final
@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a plan and a number of messages allow to say about privacy.

    Parameters
    ----------
    digest : str
        Digest of the plan.
    planned, min_batch_size : int
        Users of the plan, and messages from which on privacy is certified.
    users : int
        Users who are covered; each sends at most one message.
    messages : int or None
        Messages that were sent; None before there are any.
    eps, delta : Fraction
        The level; with ``bound`` it is certified, without it is what was asked for.
    bound : Answer or None
        Bound on delta at eps, calculated when this object was made; None if the plan has no certificate.
    rounds : int
        Rounds with fresh randomness, each of ``users``, which have the level together; messages are those of one.
    """

    digest: str
    planned: int
    min_batch_size: int
    users: int
    messages: int | None
    eps: Fraction
    delta: Fraction
    bound: Answer | None = None
    rounds: int = 1

    @property
    def level(self) -> str:
        """The level in words, eps rounded up."""
        at = words_of_target(delta=self.delta)
        if self.bound is None:
            return at_target(f"{shortest(self.eps)} was asked for", at)
        return at_target(f"<= {rounded_up(self.eps)} (upper end, rounded up)", at)

    @property
    def lines(self) -> FirstLines:
        """First lines: eps, protected users, assumptions, evidence."""
        if self.bound is None:
            return FirstLines("epsilon", self.level, about="a plan without a certificate", sure="not at all")
        return self.bound.neighbours.lines("epsilon", self.level, EVALUATED[self.bound.bracket.arithmetic])

    @property
    def sentence(self) -> str:
        """The level with its users, assumptions and exclusions, in one sentence."""
        lines, excluded = self.lines, f"not covered: {out_of_plan(self.rounds)}"
        if self.bound is None:
            return f"privacy: not certified, epsilon {self.level}; {excluded}"
        return f"privacy: {lines.protects}: epsilon {lines.number}; assumed: {lines.assumes}; {excluded}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        lines = self.lines
        return {
            "plan": self.digest,
            "users_planned": self.planned,
            "min_batch_size": self.min_batch_size,
            "users": self.users,
            "messages": self.messages,
            **({} if self.rounds == 1 else {"rounds": self.rounds}),
            "epsilon": rounded_up(self.eps) if self.bound else None,
            "delta": str(self.delta),
            "protects": lines.protects,
            "assumes": lines.assumes,
            "sure": lines.sure,
        }


@lru_cache(maxsize=16)
def bounded_delta(deployment: Deployment, eps: Fraction) -> Answer:
    """Bound on delta of a deployment at eps: in balls, or in doubles with a stated error where balls do not decide.

    Of several periods together it is in doubles, since balls cost many times as much there.
    """
    from symshuffle.accountants.questions.solve import delta

    asked, order = laws_of(deployment), Exp(eps) if eps else Fraction(1)
    if asked.several:
        return delta(asked, exp_eps=order, arithmetic="float64")
    try:
        return delta(asked, exp_eps=order, arithmetic="ball")
    except (Unsupported, NotDecided):
        return delta(asked, exp_eps=order, arithmetic="float64")


def certified_level(deployment: Deployment, eps: Fraction, delta: Fraction) -> Fraction:
    """Smallest level at delta that is certified, a decimal as plans write it; at most eps if eps is certified."""
    from symshuffle.accountants.questions.solve import epsilon

    found = Fraction(rounded_up(epsilon(laws_of(deployment), delta=delta).bracket.upper))
    if bounded_delta(deployment, eps).bracket.upper > delta:
        return found
    level = min(found, eps)
    # The smaller level was found with a coarser arithmetic.
    return level if bounded_delta(deployment, level).bracket.upper <= delta else eps


@lru_cache(maxsize=4)
def laws_of(deployment: Deployment) -> Experiment:
    """The batches of a deployment, derived once: what is computed of one question serves the next one."""
    return experiment_of(deployment)


def rounded_up(value: Fraction) -> str:
    """A number rounded up, as plans write it."""
    return format_decimal(value, digits=MOST_DIGITS, up=True)


def check_survey(deployment: Deployment) -> None:
    """Refuse fields of a deployment that no survey has."""
    if len(deployment.groups) > 1 or deployment.later_periods:
        name = "group" if len(deployment.groups) > 1 else "later_periods"
        raise InputError(name, "several", "one group of users in a survey, and periods of one kind")
    given = fields_set(deployment)
    for name in named_fields("absent", "survey"):
        if name in given:
            raise InputError(name, given[name], "none in a survey, in which every user sends one report of any value")
