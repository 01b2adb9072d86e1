"""The front door: what (eps, delta) a shuffled mechanism has, as a bracket that says what it bounds.

One chain, whatever the question: decomposition -> law of G -> engine -> bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final, Unpack

from symshuffle.accountants.amplification import Amplification as Amplification  # noqa: PLC0414  # its name here stays
from symshuffle.accountants.amplification import Attained as Attained  # noqa: PLC0414  # its name here stays
from symshuffle.accountants.bounds import bound_at, first_guess, reached_at, smallest_eps
from symshuffle.accountants.covered import Covering, Reduction, Whom, spelled_out
from symshuffle.accountants.evaluate import Engine, Request
from symshuffle.accountants.plan import WIDTH_OF_DELTA, WIDTH_OF_EPS, Rounds, unrolled
from symshuffle.accountants.reduction import Source, covering_reduction
from symshuffle.choices import Question, Rigour
from symshuffle.mechanisms.parameters import read_delta, read_target
from symshuffle.numbers import parse_rational
from symshuffle.results import Bracket

USUAL_WIDTH: Final = 1e-6
"""Relative width of the answer about one round that is aimed at where none is asked for."""


@spelled_out
def delta(
    source: Source | Rounds | Sequence[Rounds],
    *,
    n: int | None,
    exp_eps: object = None,
    eps: object = None,
    direction: Question | str = "both",
    engine: Engine | None = None,
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float | None = None,
    bits: int | None = None,
    attain: bool = False,
    **whom: Unpack[Whom],
) -> Amplification:
    """Bound the delta of a shuffled mechanism at a target level.

    Parameters
    ----------
    source : Mechanism, Decomposition, Channel, Reduction or Rounds
        What every user runs; a mechanism with all parameters fixed. Several rounds: :func:`symshuffle.rounds`, or a
        list of such. All pairs of inputs are compared, unless the source speaks about one only: a decomposition, or a
        mechanism whose pair was fixed. ``about`` of the result says which.
    n : int or None
        Number of users, at least 1, the differing one included; None where every round has its own.
    exp_eps, eps : number, text or Exp
        Target: the ratio ``exp(eps)``, at least 1, or its logarithm, at least 0. One of the two; kept exact.
    direction : {"forward", "reverse", "both"}
        Which divergence; ``both`` takes the larger.
    engine : Engine, optional
        Default: chosen by :func:`symshuffle.accountants.evaluate.choose_engine`.
    rigour : Rigour or None
        What the result must be; None leaves it at what the engine delivers.
    rel : float
        Relative width to aim at, where the engine lets one aim; default 1e-6, with dropout 1e-3, of several rounds
        1e-2.
    bits : int, optional
        Precision of balls in the law.
    attain : bool
        Whether to evaluate real neighbouring pairs (constant backgrounds) as well.
    adjacency : {"replace-one", "zero-out"}, optional
        In what neighbours differ; default replace-one.
    blanket : {"mechanism", "largest"}, optional
        Of vector mechanisms, what stands in for the messages of the others; default ``mechanism`` where there is one.
    null : sequence of Number or text, optional
        Of a channel: the output law of the null symbol (zero-out).
    min_users, dropout, group
        Who sends, and in how many users neighbours differ, as in :func:`symshuffle.accountants.reduction.reduction`.

    Examples
    --------
    >>> from symshuffle import Rigour, mechanism
    >>> krr = mechanism("krr").at(k=10, lam=3)
    >>> delta(krr, n=6, exp_eps="6/5", rigour=Rigour.EXACT).bracket.exact
    Fraction(55591, 829440)
    """
    plan, alone, n = unrolled(source, n)
    asked, covering = Request.of(direction, engine, rigour, WIDTH_OF_DELTA, bits), Covering.of(**whom)
    order = read_target(eps=eps, exp_eps=exp_eps)
    if plan is not None:
        from symshuffle.accountants import over_rounds

        request = asked if rel is None else replace(asked, rel=rel)
        return over_rounds.delta(plan, covering, request, order, attain=attain)
    reduced = covering_reduction(alone, covering)
    who, neighbours = reduced.participation, reduced.neighbours(asked.direction, n)
    request = replace(asked, rel=who.width(USUAL_WIDTH) if rel is None else rel)
    bracket = bound_at(reduced, n, order, request)

    def reached(real: Reduction) -> Fraction:
        return reached_at(real, n, order, request, approached=bool(reduced.inner))

    return Amplification("delta", bracket, neighbours, _most(reduced, n, reached) if attain else None)


def _most(reduced: Reduction, n: int, reached: Callable[[Reduction], Fraction]) -> Attained | None:
    """The real pair that has the most; None where no real pair is known."""
    found = (Attained(reached(real), datasets) for datasets, real in reduced.real_pairs(n))
    return max(found, key=lambda pair: pair.lower, default=None)


@spelled_out
def epsilon(
    source: Source | Rounds | Sequence[Rounds],
    *,
    n: int | None,
    delta: object,
    direction: Question | str = "both",
    engine: Engine | None = None,
    rigour: Rigour | str | None = Rigour.FLOAT64,
    rel: float | None = None,
    bits: int | None = None,
    attain: bool = False,
    near: object = None,
    **whom: Unpack[Whom],
) -> Amplification:
    """The smallest eps at which a shuffled mechanism is (eps, delta)-private, on the safe side.

    At ``bracket.upper`` the bound on delta meets the target; at ``bracket.lower`` it is above it.

    Parameters
    ----------
    source, n, direction, engine, rigour, bits, attain
        As in :func:`delta`.
    delta : number or text
        Target, in (0, 1); kept exact.
    rel : float
        Relative width of the bracket around eps to aim at; default 1e-6, with dropout or several rounds 1e-3.
    near : number or text, optional
        A guess of the answer to start the search from; it changes the cost of one round only.
    adjacency, blanket, null, min_users, dropout, group
        As in :func:`delta`.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If no finite eps meets the target, because a histogram reveals more than delta for certain.
    """
    plan, alone, n = unrolled(source, n)
    asked, covering = Request.of(direction, engine, rigour, WIDTH_OF_EPS, bits), Covering.of(**whom)
    target = read_delta(delta)
    if plan is not None:
        from symshuffle.accountants import over_rounds

        request = asked if rel is None else replace(asked, rel=rel)
        return over_rounds.epsilon(plan, covering, request, target, attain=attain)
    reduced = covering_reduction(alone, covering)
    who, neighbours = reduced.participation, reduced.neighbours(asked.direction, n)
    request = replace(asked, rel=who.width(USUAL_WIDTH) if rel is None else rel)
    guess = first_guess(reduced, n, target, request) if near is None else parse_rational(near, "near")
    found = smallest_eps(reduced, n, target, request, guess)
    how = f"root search on delta(eps); at the upper end: {found.at.how}"
    bracket = Bracket(found.above, found.meets, found.at.rigour, found.at.engine, how)

    def reached(real: Reduction) -> Fraction:
        return smallest_eps(real, n, target, request, guess).above

    return Amplification("epsilon", bracket, neighbours, _most(reduced, n, reached) if attain else None)
