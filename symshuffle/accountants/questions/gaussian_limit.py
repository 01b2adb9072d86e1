r"""The Gaussian mechanism that many shuffled messages resemble: an approximation, and no bound.

For growing n the amplification variable of a decomposition tends to a Gaussian, and the profile of one round to that of
two Gaussians a distance :math:`\mu=\sqrt{\operatorname{Var}(G)/n}` apart, G taken at eps = 0; rounds add up in
:math:`\mu^2`. At finite n the bound, and real datasets too, may be on either side of it: whatever has to hold is read
off :func:`symshuffle.delta`, :func:`symshuffle.epsilon` or :func:`symshuffle.tradeoff_curve`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, Unpack, final

from symshuffle.accountants.covering.covered import Covering, Whom, spelled_out
from symshuffle.accountants.covering.reduction import Source
from symshuffle.accountants.questions.experiments import Experiment, certain, experiment, limit_distance
from symshuffle.accountants.rounds.plan import Rounds, plan_of, unrolled
from symshuffle.base.choices import Question, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import as_integer, parse_rational
from symshuffle.base.results import FirstLines

NO_GUARANTEE: Final = (
    "an approximation for many users by the central limit theorem, and no guarantee: the messages may be easier to "
    "tell apart than this Gaussian; what holds is the certified trade-off, delta or eps"
)
"""What is said of every number that comes from the limit."""

_STANDARD: Final = NormalDist()


@final
@dataclass(frozen=True, slots=True)
class GaussianLimit:
    """Parameter mu of Gaussian differential privacy that approximates shuffling.

    Parameters
    ----------
    mu : float
        Distance of the means of two Gaussians of variance 1, at least 0.
    rounds : int
        Number of rounds, at least 1.

    Raises
    ------
    InputError
        If ``mu`` is negative or infinite, or ``rounds`` is no integer of at least 1.

    Notes
    -----
    It has no bracket and is no :class:`~symshuffle.base.results.Answer`: nothing is proved about it.
    """

    mu: float
    rounds: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.mu < math.inf:
            raise InputError("mu", self.mu, "a distance of at least 0")
        object.__setattr__(self, "rounds", as_integer(self.rounds, "rounds", 1))

    @property
    def about(self) -> str:
        """Sentence that says what the approximation does not guarantee."""
        return NO_GUARANTEE

    @property
    def lines(self) -> FirstLines:
        """First lines of the approximation."""
        return FirstLines(
            "mu",
            f"is about {self.mu:.6g} (neither end: nothing is bounded)",
            about="which Gaussian mechanism the messages of many users resemble",
            sure="an approximation for many users by the central limit theorem, and no guarantee",
        )

    def tradeoff(self, alpha: object) -> float:
        """Type II error of the Gaussian approximation at a type I error in [0, 1].

        Raises
        ------
        InputError
            If the error is outside [0, 1].
        """
        error = float(parse_rational(alpha, "alpha"))
        if not 0 <= error <= 1:
            raise InputError("alpha", alpha, "a type I error in [0, 1]")
        if error in (0, 1):
            return 1 - error
        return _STANDARD.cdf(-_STANDARD.inv_cdf(error) - self.mu)

    def renyi(self, alpha: object) -> float:
        """Rényi divergence of order ``alpha`` of the Gaussian approximation, in nats."""
        return float(parse_rational(alpha, "alpha")) * self.mu**2 / 2

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the parameter, and that it guarantees nothing."""
        return {"mu": self.mu, "rounds": self.rounds, "certified": False, "about": self.about}


@spelled_out
def gaussian_limit(
    source: Source | Rounds | Sequence[Rounds],
    *,
    n: int | None,
    direction: Question | str = "both",
    **whom: Unpack[Whom],
) -> GaussianLimit:
    """Approximate parameter mu of Gaussian differential privacy; no guarantee.

    Parameters
    ----------
    source, n, direction, adjacency, blanket, null, min_users, dropout, group
        As in :func:`symshuffle.delta`. For a group, mu is multiplied by its size, as for any Gaussian mechanism;
        with dropout the mean number of messages replaces the number of messages.

    Returns
    -------
    GaussianLimit
        The parameter mu, at least 0, and the number of rounds.

    Raises
    ------
    InputError
        If an argument is out of its range.
    Unsupported
        If the variance of the amplification variable is unknown, or some messages reveal for certain what the user
        holds, so that no Gaussian limit exists.

    Examples
    --------
    >>> from symshuffle import mechanism, rounds
    >>> krr = mechanism("krr").at(k=4, eps0=1)
    >>> round(gaussian_limit(krr, n=10_000).mu, 5), round(gaussian_limit(rounds(krr, 4), n=10_000).mu, 5)
    (0.01016, 0.02032)
    """
    return limit_of(experiment(source, Covering.of(**whom)), n, direction)


def limit_of(asked: Experiment, n: int | None, direction: Question | str = Question.BOTH) -> GaussianLimit:
    """As :func:`gaussian_limit`, of what was reduced already.

    - ``n``: number of users; None where every round has its own.
    """
    unrolled(asked, n)  # refuses a number of users that is missing, or given twice
    question = choice(Question, direction, "direction")
    if certain(asked, question):
        raise Unsupported(
            "the Gaussian limit does not exist, because some messages reveal for certain what the user holds; ask for "
            "delta or epsilon instead"
        )
    distance = limit_distance(asked, n, question)
    if distance is None:
        raise Unsupported("the Gaussian limit: the variance of the amplification variable is not known here")
    plan = plan_of(asked)
    return GaussianLimit(math.sqrt(distance), 1 if plan is None else plan.times)
