"""A plan: which mechanism runs, with which rational parameters, what is certified there; and its simulation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from symshuffle.accountants.deployment.model import MOST_PERIODS
from symshuffle.base.choices import Loss, choice
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Number, as_integer, format_decimal, parse_rational, shortest, upper_end
from symshuffle.base.results import FirstLines
from symshuffle.collect.estimate import Histogram, estimated, read_confidence
from symshuffle.collect.guarantee import (
    LARGEST_EPS,
    LARGEST_USERS,
    Guarantee,
    bounded_delta,
    out_of_plan,
    read_certificate,
    rounded_up,
)
from symshuffle.collect.mechanisms import LARGEST_K, SCHEMES, scheme
from symshuffle.collect.messages import Categories, Client, chunk, read_lines
from symshuffle.collect.scheme import Integers, Scheme, uniform

if TYPE_CHECKING:
    from symshuffle.accountants.bounds.amplification import Amplification
    from symshuffle.utility.estimation.votes import VoteNoise

KIND: Final = "symshuffle collection plan"
"""Kind and version 1 begin the file of a plan."""


@final
@dataclass(frozen=True)
class Plan:
    """Plan of a private survey: mechanism, rational parameters and certified privacy.

    Parameters
    ----------
    name : str
        The mechanism.
    k : int
        Number of categories.
    root : Fraction
        The likelihood ratio exp(eps0) of a message; of RAPPOR its square root.
    parameters : mapping of str to int
        Further integer parameters of the mechanism.
    n, min_users : int
        Users who are expected, and honest users at which privacy is certified.
    eps, delta : Fraction
        The guarantee: certified (eps, delta)-DP of the shuffled messages.
    certified : mapping of str to str
        ``epsilon_at_delta``, the certified upper end, and ``covering``, the options whom it covers; empty if nothing is
        certified. Plans of older versions have further keys, from which nothing is printed.
    loss : Loss
        The loss by which the mechanism was chosen.
    labels : tuple of str
        Names of the categories.
    table : tuple of mapping
        The mechanisms that were compared.
    rounds : int
        Rounds that have the guarantee together, each with fresh randomness and n users; a file of messages, and an
        estimate from it, is of one of them.

    Raises
    ------
    InputError
        If a value is out of its range, or labels are not k different nonempty texts.
    """

    name: str
    k: int
    root: Fraction
    parameters: Mapping[str, int]
    n: int
    min_users: int
    eps: Fraction
    delta: Fraction
    certified: Mapping[str, Any]
    loss: Loss = Loss.L2
    labels: tuple[str, ...] = ()
    table: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    rounds: int = 1

    def __post_init__(self) -> None:
        for name, least, most in (
            ("k", 2, LARGEST_K),
            ("n", 1, LARGEST_USERS),
            ("min_users", 1, self.n),
            ("rounds", 1, MOST_PERIODS),
        ):
            object.__setattr__(self, name, as_integer(getattr(self, name), name, least, most))
        for name in ("root", "eps", "delta"):
            object.__setattr__(self, name, parse_rational(getattr(self, name), name))
        if not 0 < self.eps <= LARGEST_EPS:
            raise InputError("eps", self.eps, f"a number in (0, {LARGEST_EPS}], in nats")
        if not 0 < self.delta < 1:
            raise InputError("delta", self.delta, "a number in (0, 1)")
        object.__setattr__(self, "labels", Categories.of(self.labels, self.k).labels)
        object.__setattr__(self, "loss", choice(Loss, self.loss, "loss"))
        integers = {name: as_integer(value, name, 1) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", integers)
        _ = self.scheme
        self._check_table()
        known = read_certificate(self.certified, self.eps, self.delta)
        wanted = self.min_users if self.min_users < self.n else None
        if known is not None and known[1].groups[0].min_batch_size != wanted:
            expected = f"min_batch_size = {wanted}, as min_users of the plan"
            raise InputError("certified.covering", self.certified["covering"], expected)

    def _check_table(self) -> None:
        """Refuse a row of the table that is not written as the planner writes it."""
        keys = {"mechanism", "parameters", "ratio", *Loss, "bits_per_message"}
        for i, row in enumerate(self.table):
            if row.keys() != keys or row["mechanism"] not in tuple(SCHEMES):
                raise InputError(f"table[{i}]", row, "a mechanism with the keys " + ", ".join(sorted(keys)))
            for name, value in (*row["parameters"].items(), ("bits_per_message", row["bits_per_message"])):
                if type(value) is not int or value < 0:
                    raise InputError(f"table[{i}].{name}", value, "an integer of at least 0")
            for name in ("ratio", *Loss):
                text = row[name] if isinstance(row[name], str) else repr(row[name])
                value = parse_rational(text, f"table[{i}].{name}")
                written = f"{float(value):.7g}" if name == "ratio" else format_decimal(value, digits=4, up=True)
                if row[name] != written or value < 0:
                    raise InputError(f"table[{i}].{name}", text, "a decimal of at least 0, as it is written")

    @cached_property
    def scheme(self) -> Scheme:
        """The mechanism that runs."""
        return scheme(self.name, self.k, self.root, self.parameters)

    @cached_property
    def categories(self) -> Categories:
        """The categories by label."""
        return Categories(self.labels)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan, which every file of its messages carries."""
        return digest(self.content)

    @property
    def noise(self) -> VoteNoise:
        """Variances of the estimate of a share, of one user."""
        return self.scheme.noise

    def expected(self, loss: Loss | str) -> Number:
        """Expected error of the estimated shares at n users, at the worst composition, for a loss."""
        return self.noise.loss(loss, self.n)

    @property
    def content(self) -> dict[str, Any]:
        """Content of the plan's file without its digest."""
        return {
            "kind": KIND,
            "version": 1,
            "mechanism": self.name,
            "k": self.k,
            "root": str(self.root),
            "ratio": str(self.scheme.ratio),
            "parameters": dict(self.parameters),
            "n": self.n,
            "min_users": self.min_users,
            "eps": str(self.eps),
            "delta": str(self.delta),
            **({} if self.rounds == 1 else {"rounds": self.rounds}),
            "certified": dict(self.certified),
            "loss": self.loss.value,
            "labels": list(self.labels),
            "p": str(self.scheme.p),
            "q": str(self.scheme.q),
            "bits_per_message": self.scheme.bits,
            "expected": {
                kind.value: format_decimal(upper_end(self.expected(kind)), digits=7, up=True) for kind in Loss
            },
            "table": [dict(row) for row in self.table],
            "not_covered": out_of_plan(self.rounds),
        }

    def to_dict(self) -> dict[str, Any]:
        """Content of the plan's file, with its digest."""
        return self.content | {"digest": self.digest}

    def to_json(self) -> str:
        """Text of the plan's file."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    @property
    def lines(self) -> FirstLines:
        """First lines of the plan: eps, protected users, assumptions, evidence."""
        return self.guarantee().lines

    def guarantee(self, messages: int | None = None, users: object = None) -> Guarantee:
        """What the plan allows to say about so many messages; its level is certified again.

        - ``messages``: their number; None before there are any.
        - ``users``: users who sent them, one message each; default n.

        Raises
        ------
        InputError
            If there are fewer messages than ``min_users`` or more than users, or the level of the plan is not
            certified.
        """
        messages = None if messages is None else as_integer(messages, "messages", 0)
        covered = self.check_messages(messages, users)
        known = read_certificate(self.certified, self.eps, self.delta)
        about = self.digest, self.n, self.min_users, covered, messages
        if known is None:
            return Guarantee(*about, self.eps, self.delta, rounds=self.rounds)
        level, planned = known[0], known[1].changed(periods=self.rounds)
        group = planned.groups[0]
        if self.rounds > 1 and group.dropout is not None and covered > self.n:
            raise InputError("users", covered, f"at most n = {self.n}: other rounds of the plan may have no more")
        if covered != self.n and group.dropout is None and self.min_users < covered:
            group = replace(group, min_batch_size=self.min_users)
        elif group.min_batch_size is not None and group.min_batch_size >= covered:
            group = replace(group, min_batch_size=None)
        planned = replace(planned, groups=(group,))
        self._check_older()
        for eps in sorted({min(level, self.eps), self.eps}):
            bound = bounded_delta(self.scheme, covered, eps, planned)
            if bound.bracket.upper <= self.delta:
                return Guarantee(*about, eps, self.delta, bound, self.rounds)
            if bound.bracket.lower > self.delta:
                break
        certified = format_decimal(bound.bracket.upper, digits=7, up=True)
        raise InputError(
            "plan",
            f"eps = {shortest(eps)} at delta = {shortest(self.delta)}",
            f"a certified level; delta <= {certified}",
        )

    @property
    def bound(self) -> Amplification | None:
        """Bound on delta at eps, calculated anew; None if the plan has no certificate."""
        known = read_certificate(self.certified, self.eps, self.delta)
        return (
            None
            if known is None
            else bounded_delta(self.scheme, self.n, self.eps, known[1].changed(periods=self.rounds))
        )

    def _check_older(self) -> None:
        """Refuse a bound on delta, in a plan of an older version, that is below the one calculated now."""
        if "delta_at_eps" not in self.certified or self.bound is None:
            return
        written, found = self.certified["delta_at_eps"], self.bound.bracket
        if found.lower > Fraction(written):
            raise InputError("plan, certified.delta_at_eps", written, f"at least {rounded_up(found.upper)}")

    def check_messages(self, messages: int | None, users: object = None, argument: str = "messages") -> int:
        """Number of users who may have sent so many messages; arguments and errors as of :meth:`guarantee`."""
        dropout = "dropout" in self.certified.get("covering", {})  # then any number of them is covered
        least = 1 if dropout else self.min_users
        if messages is not None and messages < least:
            raise InputError(argument, messages, f"at least {least}, from which on the plan's eps is certified")
        covered = self.n if users is None else as_integer(users, "users", least, LARGEST_USERS)
        if messages is None or messages <= covered:
            return covered
        if users is not None:
            raise InputError("users", users, f"at least {messages}, the number of messages; each user sends one")
        remedy = f"; plan for n = {messages}, or state users = {messages} if nobody sent twice"
        if messages > LARGEST_USERS:
            remedy = ""
        raise InputError(argument, messages, f"at most n = {self.n} of the plan{remedy}")

    def client(self) -> Client:
        """Client that randomizes the value of one user; it does not shuffle."""
        return Client(self.scheme, self.categories)

    def estimate(self, messages: Iterable[str], *, confidence: object = "0.95", users: object = None) -> Histogram:
        """Histogram with intervals, from messages as text.

        - ``messages``: as :meth:`client` or `symshuffle collect randomize` writes them, in any order; at least
          ``min_users`` and at most ``users`` of them.
        - ``confidence``: in (0, 1): each interval covers, and all of the band do at once, with at least this
          probability.
        - ``users``: users who sent them, one message each; default n.
        """
        lines = list(messages)
        if any("\n" in line for line in lines):
            raise InputError("messages", next(line for line in lines if "\n" in line), "messages of one line each")
        if not lines:
            self.check_messages(0, users)
        rows, _ = read_lines(self.scheme, "\n".join(lines).encode(), 0, counts=False)
        return self.histogram(self.scheme.tally(rows), len(rows), confidence, users=users)

    def histogram(self, tally: Integers, n: int, confidence: object, *, users: object = None) -> Histogram:
        """Histogram from the tally of n messages; ``users`` as of :meth:`estimate`."""
        level = read_confidence(confidence)
        return estimated(self.scheme, self.labels, tally, n, level, guarantee=self.guarantee(n, users))


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content of a plan's file without its own digest."""
    return hashlib.sha256(canonical_text(content).encode()).hexdigest()


def canonical_text(content: Any) -> str:
    """JSON with sorted keys and no blanks, in ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def falling(plan: Plan) -> Integers:
    """Population of n users in which category j has a share in proportion to 1/(j + 1), in the order of categories."""
    shares = 1 / np.arange(1, plan.k + 1)
    ends = np.rint(plan.n * np.cumsum(shares) / shares.sum()).astype(np.int64)
    return np.repeat(np.arange(plan.k), np.diff(ends, prepend=0))


def simulate(plan: Plan, *, seed: object, values: Integers | None = None, confidence: object = "0.95") -> Histogram:
    """Histogram of simulated messages, with the truth beside it.

    Parameters
    ----------
    plan : Plan
        The plan of the survey.
    seed : int
        Seed of the simulation, at least 0. Messages drawn with a seed are not private.
    values : array of int, optional
        Category of each user by number; default n users with shares in proportion to 1, 1/2, 1/3, ...
    confidence : number or text
        As in ``Plan.estimate``.

    Returns
    -------
    Histogram
        With ``truth``, the users in each category.

    Raises
    ------
    InputError
        If the seed is no integer of at least 0, there are fewer values than ``min_users``, or one is no category.

    Examples
    --------
    >>> from symshuffle.collect import make_plan
    >>> found = simulate(make_plan(3, n=1000, eps=1, delta="1e-6", mechanism="krr"), seed=1)
    >>> found.truth, [row.low <= m <= row.high for row, m in zip(found.rows, found.truth)]
    ((545, 273, 182), [True, True, True])
    """
    number, level = as_integer(seed, "seed", 0), read_confidence(confidence)
    draw = uniform(np.random.default_rng(number).bytes)
    users = falling(plan) if values is None else np.asarray(values, dtype=np.int64)
    if len(users) and not 0 <= users.min() <= users.max() < plan.k:
        raise InputError("values", f"{users.min()} to {users.max()}", f"categories from 0 to {plan.k - 1}")
    plan.check_messages(len(users), max(len(users), plan.n))
    made, size = plan.scheme, chunk(plan.scheme)
    tally = made.tally(made.sample(users[:1], draw)) * 0 if len(users) else np.zeros(0, dtype=np.int64)
    for i in range(0, len(users), size):
        tally = tally + made.tally(made.sample(users[i : i + size], draw))
    truth = tuple(int(m) for m in np.bincount(users, minlength=plan.k))
    return estimated(plan.scheme, plan.labels, tally, len(users), level, truth=truth, seed=number)
