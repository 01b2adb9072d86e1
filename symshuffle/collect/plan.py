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

from symshuffle.base.choices import Loss, Question, Rigour, choice
from symshuffle.base.errors import InputError
from symshuffle.base.levels import words_of_target
from symshuffle.base.numbers import Number, as_integer, format_decimal, parse_rational, shortest, upper_end
from symshuffle.base.results import FirstLines, at_target
from symshuffle.collect.estimate import Histogram, estimated, read_confidence
from symshuffle.collect.mechanisms import scheme
from symshuffle.collect.messages import Categories, Client, chunk, read_lines
from symshuffle.collect.scheme import Integers, Scheme, uniform

if TYPE_CHECKING:
    from symshuffle.utility.estimation.votes import VoteNoise

_KIND: Final = "symshuffle collection plan"
OUT_OF_PLAN: Final = (
    "users who do not follow the protocol, times at which messages arrive, messages that can be linked to users or to "
    "each other, and a second message of the same user"
)
"""What no bound here speaks about."""


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
        What was certified: ``epsilon`` (its upper end), ``rigour``, ``engine``, ``meaning``, and the covering options.
    loss : Loss
        The loss by which the mechanism was chosen.
    labels : tuple of str
        Names of the categories.
    table : tuple of mapping
        The mechanisms that were compared.

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

    def __post_init__(self) -> None:
        for name, least, most in (("k", 2, None), ("n", 1, None), ("min_users", 1, self.n)):
            object.__setattr__(self, name, as_integer(getattr(self, name), name, least, most))
        object.__setattr__(self, "labels", Categories.of(self.labels, self.k).labels)
        object.__setattr__(self, "loss", choice(Loss, self.loss, "loss"))
        _ = self.scheme

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
        text = json.dumps(self._content(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def noise(self) -> VoteNoise:
        """Variances of the estimate of a share, of one user."""
        return self.scheme.noise

    def expected(self, loss: Loss | str) -> Number:
        """Expected error of the estimated shares at n users, at the worst composition, for a loss."""
        return self.noise.loss(loss, self.n)

    def _content(self) -> dict[str, Any]:
        return {
            "kind": _KIND,
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
            "not_covered": OUT_OF_PLAN,
        }

    def to_dict(self) -> dict[str, Any]:
        """Content of the plan's file, with its digest."""
        return self._content() | {"digest": self.digest}

    def to_json(self) -> str:
        """Text of the plan's file."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    @property
    def lines(self) -> FirstLines:
        """First lines of the plan: eps, protected users, assumptions, evidence."""
        from symshuffle.accountants.covering.reduction import reduction

        at = words_of_target(delta=self.delta)
        if not {"epsilon_at_delta", "rigour", "covering"} <= self.certified.keys():
            asked = at_target(f"{shortest(self.eps)} was asked for", at)
            return FirstLines("epsilon", asked, about="a plan without a certificate", sure="not at all")
        number = at_target(f"<= {self.certified['epsilon_at_delta']} (upper end, rounded up)", at)
        covering = self.certified["covering"]
        covered = reduction(self.scheme.source(**covering), **covering).neighbours(Question.BOTH, self.n)
        return covered.lines("epsilon", number, Rigour(self.certified["rigour"]).words)

    def client(self) -> Client:
        """Client that randomizes the value of one user; it does not shuffle."""
        return Client(self.scheme, self.categories)

    def estimate(self, messages: Iterable[str], *, confidence: object = "0.95") -> Histogram:
        """Histogram with intervals, from messages as text; fewer than ``min_users`` are refused.

        - ``messages``: as :meth:`client` or `symshuffle collect randomize` writes them, in any order.
        - ``confidence``: in (0, 1): each interval covers, and all of the band do at once, with at least this
          probability.
        """
        text = "\n".join(messages).encode()
        if not text:
            raise self.too_few(0)
        rows, _ = read_lines(self.scheme, text, 1, counts=False)
        return self.histogram(self.scheme.tally(rows), len(rows), confidence)

    def histogram(self, tally: Integers, n: int, confidence: object) -> Histogram:
        """Histogram from the tally of n messages; fewer than ``min_users`` are refused."""
        level = read_confidence(confidence)
        if n < self.min_users:
            raise self.too_few(n)
        private = (
            f"privacy: ({float(self.eps):g}, {float(self.delta):g})-DP of the shuffled messages, certified at "
            f"{self.min_users} honest users; not covered: {OUT_OF_PLAN}"
        )
        return estimated(self.scheme, self.labels, tally, n, level, private, self.lines)

    def too_few(self, n: int) -> InputError:
        """The error that so many messages are not what was certified."""
        least = f"at least {self.min_users}, the honest users at which the plan's eps is certified (min_users)"
        return InputError("messages", n, least)


def read_plan(text: str, name: str = "plan") -> Plan:
    """Plan from the text of its file.

    Parameters
    ----------
    text : str
        Content of the file.
    name : str
        How errors call the file.

    Returns
    -------
    Plan
        The plan, with the digest that the file names.

    Raises
    ------
    InputError
        If it is no plan, or its digest is another one: it was changed by hand.
    """
    try:
        content: Any = json.loads(text)
        if not isinstance(content, dict) or content.get("kind") != _KIND or content.get("version") != 1:
            raise InputError(name, "another kind of file", "a plan written by `symshuffle collect plan`")
        found = Plan(
            content["mechanism"],
            as_integer(content["k"], "k", 2),
            parse_rational(content["root"], "root"),
            dict(content["parameters"]),
            as_integer(content["n"], "n", 1),
            as_integer(content["min_users"], "min_users", 1),
            parse_rational(content["eps"], "eps"),
            parse_rational(content["delta"], "delta"),
            dict(content["certified"]),
            content["loss"],
            tuple(content["labels"]),
            tuple(dict(row) for row in content["table"]),
        )
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(name, "a damaged file", "a plan written by `symshuffle collect plan`") from error
    if content.get("digest") != found.digest or found.to_dict() != content:
        raise InputError(name, f"digest {content.get('digest')}", f"{found.digest}; a plan is not edited by hand")
    return found


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
    draw = uniform(np.random.default_rng(as_integer(seed, "seed", 0)).bytes)
    users = falling(plan) if values is None else np.asarray(values, dtype=np.int64)
    if len(users) and not 0 <= users.min() <= users.max() < plan.k:
        raise InputError("values", f"{users.min()} to {users.max()}", f"categories from 0 to {plan.k - 1}")
    made, size = plan.scheme, chunk(plan.scheme)
    tally = made.tally(made.sample(users[:1], draw)) * 0 if len(users) else np.zeros(0, dtype=np.int64)
    for i in range(0, len(users), size):
        tally = tally + made.tally(made.sample(users[i : i + size], draw))
    found = plan.histogram(tally, len(users), confidence)
    truth = tuple(int(m) for m in np.bincount(users, minlength=plan.k))
    return replace(found, truth=truth, private=f"SIMULATED with seed {seed}, which is not private; {found.private}")
