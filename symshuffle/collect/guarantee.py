"""Privacy of a survey's messages: the level certified again, and every sentence that is printed about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, final

from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.deployment.experiment import Experiment, experiment_of
from symshuffle.accountants.deployment.model import UNSAID, Deployment, fields_set
from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.levels import words_of_target
from symshuffle.base.numbers import Exp, format_decimal, parse_rational, shortest
from symshuffle.base.results import MOST_DIGITS, FirstLines, at_target
from symshuffle.collect.scheme import Scheme

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


_KEYS: Final = frozenset({"epsilon_at_delta", "covering"})

OLDER_KEYS: Final = frozenset({"delta_at_eps", "rigour", "engine", "meaning"})
"""Further keys of certificates in plans of older versions; nothing that is printed is made from them."""


@final
@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a plan and a number of messages allow to say about privacy.

    Parameters
    ----------
    digest : str
        Digest of the plan.
    planned, min_users : int
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
    min_users: int
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
        return self.bound.neighbours.lines("epsilon", self.level, self.bound.bracket.rigour.words)

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
            "min_users": self.min_users,
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
def bounded_delta(made: Scheme, n: int, eps: Fraction, covered: Deployment) -> Answer:
    """Bound on delta of n users at eps: in balls, or in doubles with a stated error where balls do not decide.

    Of several periods together it is in doubles, since balls cost many times as much there.

    - ``covered``: the deployment, its randomizer and number of users left open.
    """
    from symshuffle.accountants.questions.solve import delta

    asked, order = laws_of(made, covered), Exp(eps) if eps else Fraction(1)
    if asked.several:
        return delta(asked, n=n, exp_eps=order, rigour=Rigour.FLOAT64)
    try:
        return delta(asked, n=n, exp_eps=order, rigour=Rigour.BALL)
    except (Unsupported, NotDecided):
        return delta(asked, n=n, exp_eps=order, rigour=Rigour.FLOAT64)


@lru_cache(maxsize=4)
def laws_of(made: Scheme, covered: Deployment) -> Experiment:
    """The batches of a mechanism, derived once: what is computed of one question serves the next one."""
    return experiment_of(covered.with_randomizers(lambda _: made.source(null=covered.adjacency.null)))


def rounded_up(value: Fraction) -> str:
    """A number rounded up, as plans write it."""
    return format_decimal(value, digits=MOST_DIGITS, up=True)


_FIELDS: Final = frozenset(
    (
        *("min_users", "min_batch_size", "dropout", "colluding", "group", "group_size", "adjacency", "blanket"),
        *("memoised", "threshold"),
    )
)
"""Fields of a deployment that a plan may have, by their names of today and of before."""

_OLD_NAMES: Final = {"min_users": "min_batch_size", "group": "group_size"}
"""Names of fields in plans that were written before they were called otherwise."""


def field_texts(covered: Deployment) -> dict[str, str]:
    """Return the fields of a deployment that are set, but for periods, as the file of a plan has them."""
    return {name: str(value) for name, value in fields_set(covered).items() if name not in ("n", "periods")}


def read_certificate(
    certified: Mapping[str, Any], eps: Fraction, delta: Fraction
) -> tuple[Fraction, Deployment] | None:
    """Level and covering that a plan names as certified; None if it names nothing.

    Raises
    ------
    InputError
        If there is another key, a number is not written as the planner writes it, eps is above the level that was asked
        for, or an option of the covering is unknown.
    """
    if certified == {}:
        return None
    if certified.keys() not in (_KEYS, _KEYS | OLDER_KEYS):
        wrong = (certified.keys() ^ _KEYS) - OLDER_KEYS or OLDER_KEYS - certified.keys()
        raise InputError("certified", ", ".join(sorted(map(str, wrong))), "the keys " + ", ".join(sorted(_KEYS)))
    for key in certified.keys() - {"covering"}:
        if not isinstance(certified[key], str):
            raise InputError(f"certified.{key}", certified[key], "a text")
    level = _written_number(certified, "epsilon_at_delta", eps)
    if "delta_at_eps" in certified:
        _written_number(certified, "delta_at_eps", delta)
    options = certified["covering"]
    if not isinstance(options, dict) or not options.keys() <= _FIELDS:
        raise InputError("certified.covering", options, "fields " + ", ".join(sorted(_FIELDS - _OLD_NAMES.keys())))
    named: dict[str, Any] = {_OLD_NAMES.get(str(name), str(name)): value for name, value in options.items()}
    memoised = named.get("memoised")
    read = UNSAID.changed(**{**named, **({} if memoised is None else {"memoised": memoised == "True"})})
    if field_texts(read) != named:
        raise InputError("certified.covering", options, f"{field_texts(read)}, as it is written")
    return level, read


def _written_number(certified: Mapping[str, Any], key: str, most: Fraction) -> Fraction:
    """Number of a certificate, in the decimals that the planner writes, from 0 to another one rounded up."""
    text, last = certified[key], rounded_up(most)
    value = parse_rational(text, f"certified.{key}")
    if text != rounded_up(value):
        raise InputError(f"certified.{key}", text, f"a decimal of at most {MOST_DIGITS} digits, as it is written")
    if not 0 <= value <= Fraction(last):
        raise InputError(f"certified.{key}", text, f"a number from 0 to {last}")
    return value
