"""Which members of a one-parameter family a channel dominates: the largest, between a kernel and a refutation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd, well_formed, within
from symshuffle.channels.channel import Channel
from symshuffle.geometry.orders import Garbling, Separation, blackwell

_MOST_STEPS: Final = 200


@final
@dataclass(frozen=True, slots=True, repr=False)
class Dominated(AnswerMethods):
    """The largest parameter at which a channel dominates the member of a family: a certified answer.

    It is a :class:`~symshuffle.base.results.Certified` answer; the safe end is the lower one, whose member is
    dominated.

    Parameters
    ----------
    channel : Channel
        What dominates.
    family : callable
        From a parameter to a channel.
    levels : tuple of (Fraction, Fraction)
        Where the parameter was searched.
    kernel : Garbling
        What turns the channel into the member at the lower end.
    separation : Separation or None
        A decision problem that the member at the upper end solves better; None where even the last one is dominated.
    bracket : Bracket
        Around the parameter.
    """

    channel: Channel
    family: Callable[[Fraction], Channel]
    levels: tuple[Fraction, Fraction]
    kernel: Garbling
    separation: Separation | None
    bracket: Bracket

    @property
    def about(self) -> str:
        """What the number is the largest of."""
        sizes = f"{self.channel.num_inputs} inputs and {self.channel.num_outputs} outputs"
        return f"largest parameter of a family whose member a channel with {sizes} dominates"

    @property
    def safe(self) -> SafeEnd:
        """The lower end: the kernel attains it."""
        return SafeEnd.LOWER

    @well_formed()
    def verify(self) -> None:
        """Check the kernel at the lower end and the decision problem at the upper one, with the family's own members.

        Raises
        ------
        CertificateError
            At ``kernel``, ``separation``, or ``bracket`` (it leaves the levels, or nothing bounds it from above).
        """
        if not self.levels[0] <= self.bracket.lower <= self.bracket.upper <= self.levels[1]:
            raise CertificateError("bracket", f"{self.bracket} is not within the levels {self.levels}")
        with within("kernel"):
            self.kernel.verify(self.channel, self.family(self.bracket.lower))
        if self.separation is not None:
            with within("separation"):
                self.separation.verify(self.channel, self.family(self.bracket.upper))
        elif self.bracket.upper != self.levels[1]:
            raise CertificateError("bracket", f"nothing separates the member at {self.bracket.upper}")
        if self.bracket.rigour is Rigour.EXACT and self.bracket.lower != self.bracket.upper:
            raise CertificateError("bracket", "two ends are not one exact number")

    def to_dict(self) -> dict[str, Any]:
        """The answer with its kernel."""
        return AnswerMethods.to_dict(self) | {"kernel": self.kernel.to_json()}


def largest_dominated(
    channel: Channel,
    family: Callable[[Fraction], Channel],
    levels: tuple[Fraction, Fraction],
    *,
    rel: float = 1e-6,
) -> Dominated:
    """The largest parameter at which a channel dominates the member of a family, by bisection with certificates.

    Parameters
    ----------
    channel : Channel
        Over the rationals.
    family : callable
        From a rational parameter to a rational channel on the same inputs, more informative the larger the parameter:
        whoever dominates a member dominates all smaller ones. That is the caller's promise.
    levels : tuple of (Fraction, Fraction)
        Where to search; the first member has to be dominated.
    rel : float
        Relative width of the bracket, in (0, 1).

    Raises
    ------
    InputError
        If the first member is not dominated, or the levels are in the wrong order.

    Examples
    --------
    Which binary randomized response is inside ternary randomized response, seen at two of its inputs?

    >>> from symshuffle.mechanisms.finite import krr, rr
    >>> pair = krr().at(k=3, lam=Fraction(4)).channel().restrict((0, 1))
    >>> found = largest_dominated(pair, lambda lam: rr().at(lam=lam).channel(), (Fraction(2), Fraction(4)))
    >>> f"{float(found):.4f}"
    '3.0000'

    Notes
    -----
    ldp_tradeoff, Section 2: Blackwell's order.
    """
    low, high = (Fraction(level) for level in levels)
    if not low < high:
        raise InputError("levels", f"{low}, {high}", "two rationals, the smaller one first")
    if not 0 < rel < 1:
        raise InputError("rel", rel, "a number in (0, 1)")
    last = blackwell(channel, family(high))
    if isinstance(last, Garbling):
        whole = Bracket(high, high, Rigour.EXACT, "bisection", "the last member is dominated")
        return Dominated(channel, family, (low, high), last, None, whole)
    first = blackwell(channel, family(low))
    if not isinstance(first, Garbling):
        raise InputError("levels", low, "a first level whose member is dominated")
    searched = low, high
    for step in range(_MOST_STEPS):
        if high - low <= Fraction(rel) * abs(high):
            break
        # Short rationals keep the programs small: two bits more than the bisection needs.
        middle = Fraction(round((low + high) / 2 * (1 << (step + 4))), 1 << (step + 4))
        middle = middle if low < middle < high else (low + high) / 2
        verdict = blackwell(channel, family(middle))
        if isinstance(verdict, Garbling):
            low, first = middle, verdict
        else:
            high, last = middle, verdict
    how = "bisection; a kernel at the lower end, a decision problem at the upper end"
    aimed = None if high - low <= Fraction(rel) * abs(high) else rel
    bracket = Bracket(low, high, Rigour.BALL, "bisection", how, aimed)
    return Dominated(channel, family, searched, first, last, bracket)
