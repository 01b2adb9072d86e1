"""From a guarantee to a plan: the best mechanism, its rational parameters, and the certificate at exactly these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from symshuffle.accountants.deployment.model import UNSAID, Deployment
from symshuffle.accountants.deployment.subjects import with_fields
from symshuffle.base.choices import Loss, choice, members
from symshuffle.base.errors import InputError, NamedProgress, NotDecided, Unsupported
from symshuffle.base.levels import read_delta
from symshuffle.base.numbers import (
    Ball,
    Exp,
    as_integer,
    format_decimal,
    lower_end,
    parse_inside,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.collect.guarantee import (
    LARGEST_EPS,
    LARGEST_USERS,
    bounded_delta,
    certified_level,
    check_survey,
    laws_of,
)
from symshuffle.collect.mechanisms import LARGEST_K, SCHEMES, neighbouring_integers, root_of, scheme
from symshuffle.collect.plan import SurveyPlan
from symshuffle.collect.scheme import INTEGERS, Scheme
from symshuffle.mechanisms.names import mechanism_name

_SHARE: Final = Fraction(1, 10**6)
"""Largest relative amount by which a ratio (of RAPPOR its root) is rounded down, if it is certified there."""


@with_fields
def plan_survey(
    k: int,
    *,
    n: int,
    eps: object,
    delta: object,
    mechanism: str | None = None,
    loss: Loss = "l2",
    labels: Sequence[str] = (),
    progress: NamedProgress | None = None,
    **fields: Any,
) -> SurveyPlan:
    """Plan of a private survey with a certified (eps, delta) guarantee.

    Parameters
    ----------
    k : int
        Number of categories, 2 to 10^6.
    n : int
        Number of users who are expected, at most 10^9; the one who differs is counted.
    eps, delta : number or text
        The guarantee after shuffling: eps in nats, delta a probability in (0, 1).
    mechanism : str, optional
        A mechanism by name, ``krr`` for example; default: the one with the smallest loss.
    loss : {"l2", "max", "absent", "test"}
        Error by which the mechanism and its integer parameters are chosen.
    labels : sequence of str
        Names of the k categories; default ``0``, ..., ``k - 1``.
    progress : callable, optional
        As in :func:`symshuffle.compare`.
    periods : int, optional
        Number of periods with fresh randomness, 1 to 10^6. The guarantee holds for all periods together; n and the loss
        are those of one period.
    and the fields of a deployment
        What the guarantee covers, as in :func:`symshuffle.epsilon`; one report of every user, of any value. Fewer
        messages than the smallest batch are refused when estimating.

    Returns
    -------
    SurveyPlan
        Ratio rounded down by at most 1e-6 (or 1e-2 where one evaluation takes many), and eps certified at exactly the
        rounded one.

    Raises
    ------
    InputError
        If an argument is outside its range.
    Unsupported
        If no mechanism meets the guarantee, or all do at every level.

    Examples
    --------
    >>> found = plan_survey(4, n=1000, eps=1, delta="1e-6", mechanism="krr")
    >>> found.name, found.root
    ('krr', Fraction(7509, 265))
    """
    k, n = as_integer(k, "k", 2, LARGEST_K), as_integer(n, "n", 1, LARGEST_USERS)
    covered = UNSAID.with_(**fields)
    group = covered.groups[0]
    group.check(n)
    covered = replace(covered, groups=(group.simplified(n),))
    check_survey(covered)
    level, target = parse_inside(eps, "eps", f"(0, {LARGEST_EPS}]"), read_delta(delta)
    loss = choice(Loss, loss, "loss")
    mechanism = None if mechanism is None else mechanism_name(mechanism)
    if mechanism is not None and mechanism not in SCHEMES:
        raise InputError("mechanism", mechanism, "one of " + ", ".join(SCHEMES))
    asked = _Asked(n, group.smallest(n), level, target, loss, covered)
    ranked = _ranked(k, asked, mechanism, progress)
    refused = ""
    for candidate in ranked:
        try:
            return _certified(candidate, asked, tuple(labels), ranked)
        except (Unsupported, NotDecided) as error:
            refused = refused or str(error)
    raise Unsupported(f"no plan for {asked.words}: {refused}")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The guarantee that is asked for."""

    n: int
    honest: int
    eps: Fraction
    delta: Fraction
    loss: Loss
    covered: Deployment

    @property
    def rounds(self) -> int:
        """Number of batches of messages; the guarantee holds for all of them together."""
        return self.covered.batches

    @property
    def alone(self) -> _Asked:
        """What one of the rounds has in the Gaussian limit, by which mechanisms are ranked; no bound."""
        if self.rounds == 1:
            return self
        from symshuffle.accountants.questions.repeated import one_of_rounds

        eps, delta = one_of_rounds(self.eps, self.delta, self.rounds)
        return replace(self, eps=eps, delta=delta, covered=replace(self.covered, periods=1))

    def deployment(self, made: Scheme) -> Deployment:
        """The deployment that is covered, with a mechanism."""
        run = made.source(null=self.covered.adjacency.null)
        return self.covered.with_(n=self.n).with_randomizers(lambda _: run)

    @property
    def words(self) -> str:
        """In words."""
        times = "" if self.rounds == 1 else f" in each of {self.rounds} periods together"
        return f"eps = {self.eps}, delta = {self.delta} and {self.honest} users{times}"


def _ranked(
    k: int, asked: _Asked, name: str | None, progress: NamedProgress | None, rtol: float = 1e-4
) -> list[Scheme]:
    """Mechanisms with their integers, the smallest loss first."""
    found: list[Scheme] = []
    made, refused, alone = None, "", asked.alone
    for kind, lam, given in _proposals(k, alone, name, progress):
        for parameters in neighbouring_integers(kind, k, given):
            try:
                level, made = lam, scheme(kind, k, Fraction(2), parameters)
                if level is None or asked.covered != UNSAID:
                    level = _level(made, alone, rtol)
                found.append(scheme(kind, k, _down(root_of(kind, level)), parameters))
            except (Unsupported, NotDecided) as error:
                refused = refused or str(error)
    if not found:
        if made is not None:  # what is refused whatever the target, is refused by its own name
            laws_of(asked.deployment(made))
        raise Unsupported(f"no plan for {asked.words}: {refused}")
    different = {(made.name, *made.parameters.items()): made for made in found}
    return sorted(different.values(), key=lambda made: upper_end(made.noise.loss(asked.loss, asked.n)))


def _proposals(
    k: int, asked: _Asked, name: str | None, progress: NamedProgress | None
) -> list[tuple[str, Fraction | None, dict[str, int]]]:
    """Mechanisms, levels and integers as `compare` finds them; a mechanism without integers is not searched."""
    if name is not None and name not in INTEGERS:
        return [(name, None, {})]
    from symshuffle.design.comparison.compare import compare

    names = list(SCHEMES) if name is None else [name]
    told = compare(
        k,
        n=asked.honest,
        eps=asked.eps,
        delta=asked.delta,
        mechanisms=names,
        variants=2,
        loss=asked.loss,
        progress=progress,
    )
    return [
        (
            row.name,
            _exponential(row.eps0.lower),
            {key: int(value) for key, value in row.parameters if key in INTEGERS.get(row.name, ())},
        )
        for row in told.rows
        if row.loss is not None
    ]


def _exponential(eps0: Fraction, bits: int = 160) -> Fraction:
    """A lower end of exp(eps0)."""
    with working_precision(bits):
        return lower_end(Ball.from_arb(to_arb(Exp(eps0)), bits))


def _level(made: Scheme, asked: _Asked, rtol: float = 1e-8, rtol_of_rounds: float = 2e-3) -> Fraction:
    """The largest ratio at which the guarantee is certified, rounded down; of several rounds hardly a larger one is.

    - ``made``: for several rounds at about that ratio.
    - ``rtol_of_rounds``: relative distance of the eps of several rounds from the target: a quarter of it would cost
      twice as much.
    """
    from symshuffle.accountants.questions.inverses import largest_eps0
    from symshuffle.accountants.questions.repeated import solve_eps0_of_rounds

    def source(eps0: Fraction) -> Any:
        return made.source(Exp(eps0), null=asked.covered.adjacency.null)

    target: dict[str, Any] = {"delta": asked.delta, "eps": asked.eps}
    if asked.rounds == 1:
        open_ = asked.covered.with_randomizers(lambda _: source)
        return _exponential(largest_eps0(open_, n=asked.n, rtol=rtol, **target).safe_end)
    near = Fraction(math.log(made.ratio))
    return _exponential(
        solve_eps0_of_rounds(asked.covered, source, n=asked.n, rtol=rtol_of_rounds, near=near, **target)
    )


def _down(value: Fraction, share: Fraction = _SHARE) -> Fraction:
    """The fraction of smallest denominator that is at most this share below a number above 1."""
    return simplest(max(value * (1 - share), 1 + (value - 1) / 2), value)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of smallest denominator in an interval of positive numbers.

    Examples
    --------
    >>> print(simplest(Fraction(314, 100), Fraction(315, 100)))
    22/7
    """
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / simplest(1 / (high - below), 1 / (low - below))


def _certified(rough: Scheme, asked: _Asked, labels: tuple[str, ...], ranked: Sequence[Scheme]) -> SurveyPlan:
    """The plan of a mechanism at a rational parameter, rounded down from the largest one until it is certified."""
    largest = root_of(rough.name, _level(rough, asked))
    for i in range(5):  # some bounds are known to a thousandth only
        root = _down(largest, _SHARE * 10**i)
        made = scheme(rough.name, rough.k, root, rough.parameters)
        covered = asked.deployment(made)
        if bounded_delta(covered, asked.eps).bracket.upper <= asked.delta:
            break
    else:
        raise NotDecided(f"{made.name} is not certified at the ratio {made.ratio}")
    level = certified_level(covered, asked.eps, asked.delta)
    # Of several rounds the others were not certified, and what runs is not quite what was ranked.
    table = tuple(_row(made if one is rough and asked.rounds > 1 else one, asked) for one in ranked)
    return SurveyPlan(
        made.name, made.k, root, made.parameters, covered, asked.eps, asked.delta, level, asked.loss, labels, table
    )


def _row(made: Scheme, asked: _Asked) -> dict[str, Any]:
    """What was compared, as text."""
    losses: dict[str, str] = {
        kind: format_decimal(upper_end(made.noise.loss(kind, asked.n)), digits=4, up=True) for kind in members(Loss)
    }
    named = {"mechanism": made.name, "parameters": dict(made.parameters)}
    return named | {"ratio": f"{float(made.ratio):.7g}", **losses, "bits_per_message": made.bits}
