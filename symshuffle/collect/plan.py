"""A plan: which mechanism runs, with which rational parameters, what is certified there; and its simulation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from symshuffle.accountants.deployment.model import Deployment
from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import Loss, choice
from symshuffle.base.errors import InputError, optional
from symshuffle.base.numbers import Number, as_integer, counted, parse_rational, shortest
from symshuffle.base.results import FirstLines
from symshuffle.collect.estimate import Histogram, estimated, read_confidence
from symshuffle.collect.guarantee import (
    LARGEST_EPS,
    LARGEST_USERS,
    Guarantee,
    bounded_delta,
    certified_level,
    check_survey,
    rounded_up,
)
from symshuffle.collect.mechanisms import LARGEST_K, scheme
from symshuffle.collect.messages import Client, chunk, labels_alike, read_labels, read_lines
from symshuffle.collect.scheme import Integers, Scheme, uniform
from symshuffle.configuration.tables import deployment_table, table_text

if TYPE_CHECKING:
    from symshuffle.accountants.bounds.answers import Answer
    from symshuffle.utility.estimation.votes import VoteNoise

TABLES: Final = ("target", "estimator", "certificate")
"""Tables that the file of a plan has beside those of its deployment."""


@final
@dataclass(frozen=True)
class SurveyPlan:
    """Plan of a private survey: its deployment, its estimator and certified privacy.

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
    deployment : Deployment
        One group of users with their number, and whom the guarantee covers. What the users run is replaced by the
        mechanism. Privacy is certified at ``min_batch_size`` messages. The guarantee holds for all periods
        together; a file of messages, and an estimate from it, belongs to one period.
    eps, delta : Fraction
        The guarantee: certified (eps, delta)-DP of the shuffled messages.
    certified_eps : Fraction, optional
        Certified upper end of epsilon at delta, a decimal as it is printed; None if nothing is certified.
    loss : Loss
        The loss by which the mechanism was chosen.
    labels : tuple of str
        Names of the categories.
    table : tuple of mapping
        The mechanisms that were compared; the file of a plan does not have it.
    notices : tuple of str
        What a user is to be told of the file that was read, and of labels that are nearly the same.

    Raises
    ------
    InputError
        If a value is out of its range, a field of the deployment is none of a survey, or labels are not k different
        nonempty texts.
    """

    name: str
    k: int
    root: Fraction
    parameters: Mapping[str, int]
    deployment: Deployment
    eps: Fraction
    delta: Fraction
    certified_eps: Fraction | None = None
    loss: Loss = "l2"
    labels: tuple[str, ...] = ()
    table: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, compare=False)
    notices: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_integer(self.k, "k", 2, LARGEST_K))
        for name in ("root", "eps", "delta"):
            object.__setattr__(self, name, parse_rational(getattr(self, name), name))
        if not 0 < self.eps <= LARGEST_EPS:
            raise InputError("eps", self.eps, f"a number in (0, {LARGEST_EPS}], in nats")
        if not 0 < self.delta < 1:
            raise InputError("delta", self.delta, "a number in (0, 1)")
        given = self.labels
        object.__setattr__(self, "labels", read_labels(given, self.k))
        alike = labels_alike(given)
        object.__setattr__(self, "notices", (*(one for one in self.notices if one not in alike), *alike))
        object.__setattr__(self, "loss", choice(Loss, self.loss, "loss"))
        integers = {name: as_integer(value, name, 1) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", integers)
        object.__setattr__(self, "deployment", self._read_deployment())
        if self.certified_eps is not None:
            level = parse_rational(self.certified_eps, "certificate.epsilon_at_delta")
            last = rounded_up(self.eps)
            if not 0 <= level <= Fraction(last):
                expected = f"a number from 0 to {last}, the eps of the plan"
                raise InputError("certificate.epsilon_at_delta", shortest(level), expected)
            object.__setattr__(self, "certified_eps", Fraction(rounded_up(level)))

    def _read_deployment(self) -> Deployment:
        """The deployment, its users with the mechanism; each is written in one way."""
        given: object = self.deployment
        if not isinstance(given, Deployment):
            raise InputError("deployment", type(given).__name__, "a deployment")
        check_survey(given)
        group = given.groups[0]
        n = as_integer(group.count, "count", 1, LARGEST_USERS)
        return replace(given, groups=(replace(group.simplified(n), randomizer=self.scheme.source()),))

    @property
    def n(self) -> int:
        """Number of users who are expected."""
        return self.deployment.groups[0].count or 0

    @property
    def min_batch_size(self) -> int:
        """Number of messages at which privacy is certified."""
        return self.deployment.groups[0].smallest(self.n)

    @property
    def rounds(self) -> int:
        """Number of batches of messages; the guarantee holds for all of them together."""
        return self.deployment.batches

    @cached_property
    def scheme(self) -> Scheme:
        """The mechanism that runs."""
        return scheme(self.name, self.k, self.root, self.parameters)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Label to number of each category."""
        return {label: j for j, label in enumerate(self.labels)}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan, which every file of its messages carries."""
        return digest(self.content)

    @property
    def noise(self) -> VoteNoise:
        """Variances of the estimate of a share, of one user."""
        return self.scheme.noise

    def expected(self, loss: Loss) -> Number:
        """Expected error of the estimated shares at n users, at the worst composition, for a loss."""
        return self.noise.loss(loss, self.n)

    @property
    def content(self) -> dict[str, Any]:
        """Content of the plan's file without its digest: that of the deployment, and the further tables."""
        numbered = read_labels((), self.k)
        return deployment_table(self.deployment) | {
            "target": {"eps": str(self.eps), "delta": str(self.delta)},
            "estimator": {
                "mechanism": self.name,
                "k": self.k,
                "p": str(self.scheme.p),
                "q": str(self.scheme.q),
                "loss": self.loss,
                **({} if self.labels == numbered else {"labels": list(self.labels)}),
            },
            "certificate": {} if self.certified_eps is None else {"epsilon_at_delta": rounded_up(self.certified_eps)},
        }

    def to_dict(self) -> dict[str, Any]:
        """Content of the plan's file, with the digest of everything else."""
        content = self.content
        return content | {"certificate": content["certificate"] | {"digest": digest(content)}}

    def to_json(self) -> str:
        """Text of the plan's file in JSON."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def to_toml(self) -> str:
        """Text of the plan's file in TOML."""
        return table_text(self.to_dict(), TABLES)

    def text(self, file: PathLike[str] | str) -> str:
        """Text of the plan's file: in JSON if its name ends in .json, else in TOML."""
        return self.to_json() if Path(file).suffix.lower() == ".json" else self.to_toml()

    def save(self, file: PathLike[str] | str) -> None:
        """Write the plan's file, whole or not at all: in JSON if its name ends in .json, else in TOML."""
        check_destination(Path(file), argument="file")
        write_atomically(Path(file), self.text(file), argument="file")

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
            If there are fewer messages than ``min_batch_size`` or more than users, or the level of the plan is not
            certified.
        """
        messages = None if messages is None else as_integer(messages, "messages", 0)
        covered = self.check_messages(messages, users)
        about = self.digest, self.n, self.min_batch_size, covered, messages
        if self.certified_eps is None:
            return Guarantee(*about, self.eps, self.delta, rounds=self.rounds)
        group = self.deployment.groups[0]
        if self.rounds > 1 and group.is_random and covered > self.n:
            raise InputError("users", covered, f"at most n = {self.n}: other rounds of the plan may have no more")
        planned = replace(self.deployment, groups=(group.recounted(covered, self.n),))
        for eps in sorted({min(self.certified_eps, self.eps), self.eps}):
            bound = bounded_delta(planned, eps)
            if bound.bracket.upper <= self.delta:
                return Guarantee(*about, eps, self.delta, bound, self.rounds)
            if bound.bracket.lower > self.delta:
                break
        least, _ = optional(lambda: certified_level(planned, self.eps, self.delta))
        larger = "" if least is None else f", at least {rounded_up(least)}"
        expected = f"a certified level{larger}, for {counted(covered, 'user')} and delta = {shortest(self.delta)}"
        raise InputError("plan: certificate.epsilon_at_delta", rounded_up(self.certified_eps), expected)

    @property
    def bound(self) -> Answer | None:
        """Bound on delta at eps, calculated anew; None if the plan has no certificate."""
        return None if self.certified_eps is None else bounded_delta(self.deployment, self.eps)

    def check_messages(self, messages: int | None, users: object = None, argument: str = "messages") -> int:
        """Number of users who may have sent so many messages; arguments and errors as of :meth:`guarantee`."""
        # Where users drop out at random, privacy is certified for any number of messages.
        least = 1 if self.deployment.groups[0].is_random else self.min_batch_size
        shown = None if messages is None else counted(messages, "message" if argument == "messages" else "row")
        if messages is not None and messages < least:
            raise InputError(argument, shown, f"at least {least}, from which on the plan's eps is certified")
        covered = self.n if users is None else as_integer(users, "users", least, LARGEST_USERS)
        if messages is None or messages <= covered:
            return covered
        if users is not None:
            raise InputError("users", users, f"at least {messages}, the number of messages; each user sends one")
        remedy = f"; plan for n = {messages}, or state users = {messages} if nobody sent twice"
        if messages > LARGEST_USERS:
            remedy = ""
        raise InputError(argument, shown, f"at most n = {self.n} of the plan{remedy}")

    def client(self) -> Client:
        """Client that randomizes the value of one user; it does not shuffle."""
        return Client(self.scheme, self.places)

    def estimate(self, messages: Iterable[str], *, confidence: object = "0.95", users: object = None) -> Histogram:
        """Histogram with intervals, from messages as text.

        - ``messages``: as :meth:`client` or `symshuffle collect randomize` writes them, in any order; at least
          ``min_batch_size`` and at most ``users`` of them.
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
    """JSON with sorted keys and no blanks, in ASCII; dates of TOML, which no plan has, as text."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)


def check_written(content: object, made: object, place: str) -> None:
    """Refuse the first key of a plan's file that is unknown, missing, or not as it follows from the others.

    Values are compared as text: true and 1.0 are no 1, and every node is spelled as it is written.
    """
    if canonical_text(content) == canonical_text(made):
        return
    if isinstance(content, dict) and isinstance(made, dict):
        for key in [*made, *content]:
            if key not in made:
                raise InputError(f"{place}{key}", content[key], "no such key in a plan")
            if key not in content:
                raise InputError(f"{place}{key}", None, f"{made[key]}, which follows from the rest of the plan")
            inner = isinstance(made[key], dict) and isinstance(content[key], dict)
            check_written(content[key], made[key], f"{place}{key}{'.' if inner else ''}")
    if isinstance(content, list) and isinstance(made, list) and len(content) == len(made):
        for i, (one, wanted) in enumerate(zip(content, made, strict=True)):
            inner = isinstance(one, dict) and isinstance(wanted, dict)
            check_written(one, wanted, f"{place}[{i}]{'.' if inner else ''}")
    raise InputError(place, content, f"{made}, which follows from the rest of the plan")


def falling(plan: SurveyPlan) -> Integers:
    """Population of n users in which category j has a share in proportion to 1/(j + 1), in the order of categories."""
    shares = 1 / np.arange(1, plan.k + 1)
    ends = np.rint(plan.n * np.cumsum(shares) / shares.sum()).astype(np.int64)
    return np.repeat(np.arange(plan.k), np.diff(ends, prepend=0))


def simulate(
    plan: SurveyPlan, *, seed: object, values: Integers | None = None, confidence: object = "0.95"
) -> Histogram:
    """Histogram of simulated messages, with the truth beside it.

    Parameters
    ----------
    plan : SurveyPlan
        The plan of the survey.
    seed : int
        Seed of the simulation, at least 0. Messages drawn with a seed are not private.
    values : array of int, optional
        Category of each user by number; default n users with shares in proportion to 1, 1/2, 1/3, ...
    confidence : number or text
        As in ``SurveyPlan.estimate``.

    Returns
    -------
    Histogram
        With ``truth``, the users in each category.

    Raises
    ------
    InputError
        If the seed is no integer of at least 0, there are fewer values than ``min_batch_size``, or one is no category.

    Examples
    --------
    >>> from symshuffle.collect import plan_survey
    >>> found = simulate(plan_survey(3, n=1000, eps=1, delta="1e-6", mechanism="krr"), seed=1)
    >>> found.truth, [row.low <= m <= row.high for row, m in zip(found.rows, found.truth)]
    ((545, 273, 182), [True, True, True])
    """
    number, level = as_integer(seed, "seed", 0), read_confidence(confidence)
    draw = uniform(np.random.default_rng(number).bytes)
    users = falling(plan) if values is None else np.asarray(values, dtype=np.int64)
    if len(users) and not 0 <= users.min() <= users.max() < plan.k:
        raise InputError("values", f"{users.min()} to {users.max()}", f"categories from 0 to {plan.k - 1}")
    plan.check_messages(len(users), max(len(users), plan.n), "values")
    made, size = plan.scheme, chunk(plan.scheme)
    tally = made.tally(made.sample(users[:1], draw)) * 0 if len(users) else np.zeros(0, dtype=np.int64)
    for i in range(0, len(users), size):
        tally = tally + made.tally(made.sample(users[i : i + size], draw))
    truth = tuple(int(m) for m in np.bincount(users, minlength=plan.k))
    return estimated(plan.scheme, plan.labels, tally, len(users), level, truth=truth, seed=number)
