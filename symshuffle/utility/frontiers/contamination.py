r"""Divergences of one user against a constant population, and the envelope that bounds them under a local cap.

In the *contamination pair* one user holds ``i`` where the other dataset has ``j``, and all other users hold ``j``. Its
shuffled divergence is :math:`E(\bar L_n-\gamma)_+` of the likelihood ratio :math:`L=W_i/W_j` under :math:`W_j`. Among
laws of mean 1 on :math:`[1/\lambda,\lambda]` that on the ends is largest in convex order (anchored, Section 4).
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.deployment.group import check_n
from symshuffle.base.choices import Arithmetic, Direction, Divergence, SafeEnd, choice, members, replace_choice
from symshuffle.base.errors import InputError, NotDecided, Unsupported, check_kind
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import (
    Ball,
    Exp,
    Number,
    Real,
    Verdict,
    as_integer,
    as_width,
    enclose,
    equal,
    is_exact,
    less,
    parse_constant,
    parse_number,
    to_arb,
    working_precision,
)
from symshuffle.base.results import AnswerMethods, Bracket
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.channels.law import Law

LARGEST_EXACT_ENVELOPE: Final = 3000
"""Users beyond which the envelope is enclosed in balls even where it is rational."""

EVERY_CHANNEL: Final = "every channel with this local ratio cap and every pair of its inputs (anchored, Theorem 4.9)"

_ORDER_BITS: Final = 192
"""Precision of an irrational order."""


@final
@dataclass(frozen=True, slots=True)
class Contamination:
    """Pair of datasets ``(i, j, ..., j)`` and ``(j, ..., j)`` of ``n`` users.

    Parameters
    ----------
    n : int
        Number of users, the differing one included.
    direction : Direction
        Which divergence.
    """

    n: int
    direction: Direction = "forward"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_n(self.n))
        replace_choice(Direction, self, "direction")

    @classmethod
    def of(cls, first: Sequence[int], second: Sequence[int]) -> Contamination:
        """The experiment of two datasets in the order given; refused unless one is constant and one user differs."""
        first, second = (
            [as_integer(x, f"{name}[{i}]", 0) for i, x in enumerate(one)]
            for name, one in (("first", first), ("second", second))
        )
        if len(first) != len(second) or not first:
            raise InputError("datasets", f"{len(first)} and {len(second)} users", "two datasets of the same size")
        pairs = zip(members(Direction), ((first, second), (second, first)), strict=True)
        for direction, (contaminated, constant) in pairs:
            if len(set(constant)) == 1 and sum(x != constant[0] for x in contaminated) == 1:
                return cls(len(first), direction)
        raise Unsupported(
            "the envelope of anchored, Theorem 4.9 applies to one user against a constant population only; for other "
            "datasets use symshuffle.delta"
        )

    @property
    def datasets(self) -> str:
        """The pair in words."""
        pair = f"one user holds i, the other {self.n - 1} hold j", f"all {self.n} hold j"
        first, second = pair if self.direction == "forward" else pair[::-1]
        return f"{first}; against: {second}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Leakage(AnswerMethods):
    """A divergence of the contamination pair, with what it is a divergence of; its safe end is the upper one.

    ``float`` returns the upper end, rounded up.

    - ``meaning``: channels or divergence that the number speaks about.
    - ``inputs``, ``divergence``: inputs i and j of one channel, and the divergence; None for the worst channel.
    - ``envelope``: that of the worst channel with the ratio cap of this one; None where the cap is infinite or a ball.
    """

    safe: ClassVar[SafeEnd] = "upper"
    bracket: Bracket
    experiment: Contamination
    meaning: str
    inputs: tuple[int, int] | None = None
    divergence: Divergence | None = None
    envelope: Leakage | None = None

    @property
    def about(self) -> str:
        """Which channels and which datasets the number speaks about."""
        pair = "" if self.inputs is None else f", i = {self.inputs[0]}, j = {self.inputs[1]}"
        return f"{self.meaning}{pair}; {self.experiment.datasets}"

    def to_dict(self) -> dict[str, Any]:
        """The answer with its experiment, or with its envelope."""
        if self.divergence is None:
            experiment = {"n": self.experiment.n, "direction": self.experiment.direction}
            return AnswerMethods.to_dict(self) | {"experiment": experiment}
        envelope = None if self.envelope is None else self.envelope.to_dict()
        return AnswerMethods.to_dict(self) | {"divergence": self.divergence, "envelope": envelope}

    def _repr_html_(self) -> str:
        if self.divergence is None:
            return AnswerMethods._repr_html_(self)
        worst = "none: the ratio cap is no rational" if self.envelope is None else str(self.envelope.bracket)
        return (
            f"{AnswerMethods._repr_html_(self)}"
            f"<table><tr><th>envelope of the ratio cap</th><td>{html.escape(worst)}</td></tr></table>"
        )


def ratio_law(channel: Channel, i: int, j: int) -> Law:
    """Law of the likelihood ratio of row ``i`` to row ``j``, under row ``j``.

    Parameters
    ----------
    channel : Channel
        The local randomizer.
    i, j : int
        Inputs, each from 0 to k - 1.

    Returns
    -------
    Law
        Of :math:`W_i/W_j` under :math:`W_j`; the mass of row ``i`` where row ``j`` has none is the singular mass.

    Raises
    ------
    InputError
        If an input is out of range.

    Examples
    --------
    >>> ratio_law(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]), 0, 1).atoms()
    ((Fraction(3, 1), Fraction(1, 4)), (Fraction(1, 3), Fraction(3, 4)))
    """
    check_channel(channel)
    atoms: list[tuple[Any, Any]] = []
    singular: Any = Fraction(0)
    for a, b in zip(*pair_of_rows(channel, i, j).rows, strict=True):
        top: Any = a
        if equal(b, 0):
            singular = singular + top
        else:
            atoms.append((top / b, b))
    # Ratios in one enclosure are one ratio in it: a mean over the enclosure is in it, and H(n) grows with every value.
    weights: dict[Any, Any] = {}
    for value, weight in atoms:
        weights[value] = weights[value] + weight if value in weights else weight
    return Law.from_atoms(weights.items(), singular)


def shuffled_leakage(
    ratio: Law,
    experiment: Contamination,
    *,
    gamma: Number | Exp | int,
    arithmetic: Arithmetic | None = None,
    rtol: object = 1e-6,
) -> Leakage:
    r"""Hockey-stick divergence of one user against a constant population.

    The channel enters by the law of its likelihood ratio.

    Parameters
    ----------
    ratio : Law
        Law of :math:`W_i/W_j` under :math:`W_j` (:func:`ratio_law`).
    experiment : Contamination
        Number of users and direction.
    gamma : Number or Exp
        Order :math:`e^\varepsilon`, at least 0.
    arithmetic, rtol
        As in :func:`symshuffle.accountants.bounds.evaluate.evaluate_law`; by default exact where the law and the order
        are rational, and in balls otherwise.

    Returns
    -------
    Leakage
        The divergence as a bracket, and the pair of datasets.

    Raises
    ------
    InputError
        If ``gamma`` is negative.
    Unsupported
        If no engine evaluates the law with the arithmetic asked for.

    Notes
    -----
    anchored, Proposition 4.1.

    Examples
    --------
    >>> response = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> shuffled_leakage(ratio_law(response, 0, 1), Contamination(2), gamma=1).bracket.exact
    Fraction(3, 8)
    """
    arithmetic = None if arithmetic is None else choice(Arithmetic, arithmetic, "arithmetic")
    order: Any = enclose(gamma, _ORDER_BITS) if isinstance(gamma, Exp) else parse_number(gamma, "gamma")
    if less(order, 0) is Verdict.TRUE:
        raise InputError("gamma", gamma, "a number of at least 0")
    atoms: Any = ratio.atoms()
    if experiment.direction == "forward":
        law = Law.from_atoms(((value - order, weight) for value, weight in atoms), ratio.singular)
    else:
        law = Law.from_atoms((1 - value * order, weight) for value, weight in atoms)
    if arithmetic is None:
        arithmetic = "exact" if is_exact((*law.values, *law.weights, law.singular)) else "ball"
    bracket = evaluate_law(law, experiment.n, arithmetic=arithmetic, rtol=as_width(rtol))
    return Leakage(bracket, experiment, "the channel with this likelihood ratio")


def pair_of_rows(channel: Channel, i: int, j: int) -> Channel:
    """Two rows of a channel, as a channel with two inputs."""
    check_channel(channel)
    last = channel.num_inputs - 1
    return channel.restrict((as_integer(i, "i", 0, last), as_integer(j, "j", 0, last)))


@takes_eps0()
def binary_envelope(experiment: Contamination, *, lam: object, gamma: object) -> Leakage:
    r"""Largest divergence of one user against a constant population under a ratio cap.

    The maximum is over all channels of ratio cap ``lam`` and all inputs i, j.

    .. math:: E(\bar K_n-\gamma)_+=q\,\Pr[B_{n-1}\ge t-1]+p\,\Pr[B_{n-1}\ge t]-\gamma\Pr[B_n\ge t],

    where :math:`p=1/(1+\lambda)=1-q`, :math:`B_m` is binomial :math:`(m,p)` and ``t`` the first count of high ratios
    with :math:`\bar K_n>\gamma`; the reverse direction is the same sum over the counts below :math:`1/\gamma`.

    Parameters
    ----------
    experiment : Contamination
        Number of users and direction; nothing else is covered.
    lam, gamma : number, text, Exp or inf
        Local ratio cap ``exp(eps0) >= 1`` and order ``exp(eps) >= 1``; the divergence is 1 without a cap, and 0 from
        ``gamma = lam`` on.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    Leakage
        Exact for rational input and n up to 3000, otherwise a ball of relative width below 1e-18.

    Raises
    ------
    InputError
        If ``lam`` or ``gamma`` is below 1, or both are infinite.

    Notes
    -----
    anchored, Theorem 4.9; attained by binary randomized response.

    Examples
    --------
    >>> binary_envelope(Contamination(2), lam=Fraction(3), gamma=Fraction(1)).bracket.exact
    Fraction(3, 8)
    """
    check_kind(experiment, Contamination, "experiment", "an experiment, as Contamination(100)")
    cap, order = (_order_or_inf(value, name) for name, value in (("lam", lam), ("gamma", gamma)))
    if isinstance(cap, float) and isinstance(order, float):
        raise InputError("gamma", gamma, "a finite order where the cap is infinite")
    return Leakage(_envelope(experiment, cap, order), experiment, EVERY_CHANNEL)


def _order_or_inf(value: object, name: str) -> Real | float:
    """A ratio of at least 1 as an exact real constant, or infinity."""
    if value == math.inf:
        return math.inf
    read = parse_constant(value, name)
    if less(read, 1) is Verdict.TRUE:
        raise InputError(name, value, "a number of at least 1, or inf")
    return read


def exact_bracket(value: Fraction, evaluation: str) -> Bracket:
    """A number known exactly by a closed form."""
    return Bracket(value, value, "exact", "closed form", evaluation)


def _envelope(
    experiment: Contamination,
    lam: Real | float,
    gamma: Real | float,
    *,
    rtol: Fraction = Fraction(1, 10**18),
    first: int = 192,
    last: int = 6144,
) -> Bracket:
    if isinstance(lam, float):
        return exact_bracket(Fraction(1), "no cap: the identity channel tells the pair apart")
    if isinstance(gamma, float) or less(gamma, lam) is not Verdict.TRUE:
        return exact_bracket(Fraction(0), "gamma >= lam: no likelihood ratio exceeds it")
    if experiment.n <= LARGEST_EXACT_ENVELOPE and isinstance(lam, Fraction) and isinstance(gamma, Fraction):
        return exact_bracket(_envelope_sum(experiment, lam, gamma), "finite binomial sum")
    ball, bits = _envelope_ball(experiment, lam, gamma, first), first
    while ball.upper - ball.lower > rtol * ball.upper and bits < last:
        bits *= 2
        ball = _envelope_ball(experiment, lam, gamma, bits)
    lower = max(ball.lower, Fraction(0))
    evaluation = f"three binomial tails as incomplete beta functions, {bits} bits"
    return Bracket(lower, max(lower, ball.upper), "ball", "closed form", evaluation)


def _envelope_sum(experiment: Contamination, lam: Fraction, gamma: Fraction) -> Fraction:
    n = experiment.n
    total = Fraction(0)
    for count in range(n + 1):
        average = (count * lam + (n - count) / lam) / n
        excess = average - gamma if experiment.direction == "forward" else 1 - gamma * average
        if excess > 0:
            total += math.comb(n, count) * lam ** (n - count) * excess
    return total / (1 + lam) ** n


def _envelope_ball(experiment: Contamination, lam: Real, gamma: Real, bits: int) -> Ball:
    n, forward = experiment.n, experiment.direction == "forward"
    with working_precision(bits):
        ratio, order = to_arb(lam), to_arb(gamma)
        p, q = 1 / (1 + ratio), ratio / (1 + ratio)
        level = order if forward else 1 / order
        place = Ball.from_arb(n * (level - 1 / ratio) / (ratio - 1 / ratio), bits)
        found: flint.arb | None = None
        # Where the threshold sits on a count, both neighbours of it give the same sum: the summand is zero there.
        for t in range(math.floor(place.lower) + 1, math.floor(place.upper) + 2):
            if forward:
                value = q * _tail(n - 1, t - 1, p) + p * _tail(n - 1, t, p) - order * _tail(n, t, p)
            else:
                seen = q * _tail(n - 1, n - t + 1, q) + p * _tail(n - 1, n - t, q)
                value = _tail(n, n - t + 1, q) - order * seen
            found = value if found is None else found.union(value)
        if found is None:
            raise NotDecided(f"which count of high ratios is the threshold is not decided at {bits} bits")
        return Ball.from_arb(found, bits)


def _tail(n: int, t: int, p: flint.arb) -> flint.arb:
    """The probability that a binomial (n, p) count is at least t."""
    if t <= 0:
        return flint.arb(1)
    return flint.arb(0) if t > n else p.beta_lower(t, n - t + 1, regularized=True)
