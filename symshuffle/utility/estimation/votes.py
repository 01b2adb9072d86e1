r"""The noise of one coordinate of a vote, for every mechanism that treats all pairs of inputs alike.

The canonical estimator (:mod:`symshuffle.utility.estimation.canonical`) gives a message with template :math:`u` the
vote :math:`v_i=\frac1K+\frac{K-1}T(u_i-1)` for input ``i``: where all pairs of ``K`` inputs are alike the covariance of
the template is a multiple of the projection on contrasts, and :math:`T` its trace. The estimate is the mean vote. Its
risk needs two numbers only, the variances of a coordinate for a user who holds that input and for one who does not,

.. math:: V_0=\Big(\frac{K-1}T\Big)^2E_{W_i}(u_i-1)^2-\Big(\frac{K-1}K\Big)^2,\qquad
          V_1=\Big(\frac{K-1}T\Big)^2E_{W_j}(u_i-1)^2-\frac1{K^2}\quad(j\ne i):

with ``n`` users of any fixed composition it is :math:`(V_0+(k-1)V_1)/n`. Where only ``k`` of the ``K`` inputs are used,
the estimate keeps its coordinates there, and stays unbiased.

Strings of independent bits show any number of ones, so their templates are not rearrangements of one. The moments are
then sums over the number of ones. Beside them stands what is usually run on such strings, the *bitwise* estimator
:math:`v_i=(y_i-q)/(p-q)`, with :math:`V_0=p(1-p)/(p-q)^2` and :math:`V_1=q(1-q)/(p-q)^2`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import flint

from symshuffle.base.choices import Loss, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Number, Verdict, less, to_arb, working_precision
from symshuffle.decompositions.calculated import compiled, number_at
from symshuffle.decompositions.closed_forms import moments_on_file
from symshuffle.mechanisms.thin import THINNED
from symshuffle.utility.estimation.canonical import check_users

if TYPE_CHECKING:  # numbers of named mechanisms need no algebra
    import sympy as sp

    from symshuffle.mechanisms.model import Mechanism

LARGEST_STRING: Final = 50_000
"""Bits beyond which the sum over the number of ones is not taken: only the bitwise estimator is left."""

_LONGEST_EXACT: Final = 64
"""Bits up to which that sum is a rational, where all probabilities are."""

Sums: TypeAlias = "tuple[Any, Any, Any]"
r"""Trace, :math:`E_{W_i}(u_i-1)^2` and :math:`E_{W_j}(u_i-1)^2`."""


@final
@dataclass(frozen=True, slots=True)
class VoteNoise:
    """What one message adds to an estimate.

    Parameters
    ----------
    own, absent : Number
        Variance of a coordinate of the vote, for a user who holds that input and for one who does not.
    inputs : int
        Number ``k`` of inputs in use.
    estimator : str
        Which unbiased estimator votes.
    trace : Number or None
        Trace of the template's covariance over all inputs of the mechanism; None where it was not needed.
    """

    own: Number
    absent: Number
    inputs: int
    estimator: str
    trace: Number | None = None

    def risk(self, n: int) -> Number:
        """The expected squared error for ``n`` users of a fixed composition: the same at every one."""
        n = check_users(n)
        total: Any = self.own
        value: Number = (total + self.absent * (self.inputs - 1)) / n
        return value

    def iid_risk(self, n: int) -> Number:
        """The largest expected squared error for ``n`` users who draw inputs; it is at the uniform composition."""
        n = check_users(n)
        total: Any = self.own
        k = self.inputs
        value: Number = (total + self.absent * (k - 1) + 1 - Fraction(1, k)) / n
        return value

    def loss(self, loss: Loss | str, n: int) -> Number:
        """The error of ``n`` users that a loss looks at, at the fixed composition that is worst for it.

        Parameters
        ----------
        loss : {"l2", "max", "absent", "test"}
            As in :class:`symshuffle.base.choices.Loss`; the first three are squared errors, the last is not.
        n : int
            Number of users, at least 1.

        Examples
        --------
        >>> from symshuffle import mechanism
        >>> noise = canonical_votes(mechanism("krr").at(k=3, lam=4))
        >>> [str(noise.loss(kind, 1)) for kind in ("l2", "max", "absent")]
        ['2', '8/9', '5/9']
        """
        match choice(Loss, loss, "loss"):
            case Loss.L2:
                return self.risk(n)
            case Loss.MAX:
                return self.coordinate_variance(n)
            case Loss.ABSENT:
                absent: Any = self.absent
                alone: Number = absent / check_users(n)
                return alone
        n = check_users(n)
        with working_precision(DEFAULT_BITS):
            deviations = [(to_arb(variance) / n).sqrt() for variance in (self.own, self.absent)]
            return Ball.from_arb(deviations[0] + deviations[1], DEFAULT_BITS)

    def worst(self, loss: Loss | str) -> str:
        """Composition at which a loss is largest, in words."""
        match choice(Loss, loss, "loss"):
            case Loss.L2:
                return "every composition alike"
            case Loss.MAX if less(self.own, self.absent) is not Verdict.TRUE:
                return "all users hold the category"
            case Loss.TEST:
                return "all users hold the category, and nobody does"
        return "nobody holds the category"

    def coordinate_variance(self, n: int) -> Number:
        """The largest variance of a coordinate over all fixed compositions: all users hold the input, or none does."""
        n = check_users(n)
        value: Any = self.absent if less(self.own, self.absent) is Verdict.TRUE else self.own
        result: Number = value / n
        return result


def is_alike(mechanism: Mechanism) -> bool:
    """Whether the mechanism treats all pairs of inputs alike."""
    return mechanism.pair.by is None and not mechanism.pair.listed and mechanism.pair.every


def canonical_votes(mechanism: Mechanism, *, inputs: int | None = None, bits: int = DEFAULT_BITS) -> VoteNoise:
    """The noise of the canonical estimator's votes.

    Parameters
    ----------
    mechanism : Mechanism
        All parameters fixed.
    inputs : int, optional
        How many of its inputs are in use; default all. The estimate of the others is dropped.
    bits : int
        Precision where the result is no rational.

    Raises
    ------
    Unsupported
        If the mechanism does not treat all pairs of inputs alike, its strings are longer than ``LARGEST_STRING``, or
        its trace is 0: no estimator is unbiased then.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> canonical_votes(mechanism("krr").at(k=3, lam=4)).risk(1)
    Fraction(2, 1)

    Notes
    -----
    anchored, Theorem 6.2: with all inputs in use the risk is :math:`((K-1)^2/T-(K-1)/K)/n`.
    """
    size = _inputs(mechanism)
    used = size if inputs is None else inputs
    if not 2 <= used <= size:
        raise InputError("inputs", inputs, f"an integer in [2, {size}]")
    if not is_alike(mechanism):
        raise Unsupported(f"{mechanism.name} treats pairs of inputs differently: use AnchoredLaw.from_channel(...)")
    return _noise(mechanism.name, *_sums(mechanism, size, bits), size, used)


def _sums(mechanism: Mechanism, size: int, bits: int) -> tuple[list[Sequence[Number]], Fraction]:
    """The sums over the classes of one template together, and over each class of strings; the share of messages."""
    sums, share = _sums_in_numbers(mechanism, bits)
    return [sums[0], *(_string_sums(size, hit, miss, other, bits) for hit, miss, other in sums[1:])], share


def _sums_in_numbers(mechanism: Mechanism, bits: int) -> tuple[list[Sequence[Number]], Fraction]:
    """The sums over classes of one template; hit, miss and other of each class of strings; the share of messages."""
    from symshuffle.mechanisms.registry import is_named
    from symshuffle.mechanisms.registry import mechanism as named_mechanism
    from symshuffle.mechanisms.symbolic import value_of

    general, known = mechanism.general or mechanism, dict(mechanism.fixed)
    values = {p.name: value for p in general.parameters if (value := value_of(known[p.symbol])) is not None}
    base, share = general, Fraction(1)
    if is_named(general) and general.name.startswith(THINNED) and isinstance(p := values.get("p"), Fraction):
        base, share = named_mechanism(general.name.removeprefix(THINNED)), p
    if len(values) == len(general.parameters) and moments_on_file(base.name) is not None and is_named(base):
        closed, strings = sums_in_texts(base)
        return [[number_at(text, values, bits) for text in part] for part in (closed, *strings)], share
    parts, classes = closed_sums(general)
    shown = [(*(state.probability for state in c.states), c.members.other) for c in classes]
    return [[_evaluated(part.subs(known), bits) for part in found] for found in (parts, *shown)], Fraction(1)


def mixed_votes(parts: Sequence[tuple[Fraction, Mechanism]], *, bits: int = DEFAULT_BITS) -> VoteNoise:
    """The noise of the canonical votes where one of several mechanisms is drawn, and named with its message.

    Parameters
    ----------
    parts : sequence of (Fraction, Mechanism)
        Probabilities of sum 1, and mechanisms with all parameters fixed, of as many inputs each. One whose messages do
        not depend on the input serves any number of inputs.
    bits : int
        Precision where the result is no rational.

    Raises
    ------
    Unsupported
        If a mechanism does not treat all pairs of inputs alike, or none says anything about its input.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> always = mechanism("krr").at(k=3, lam=4)
    >>> str(mixed_votes([(Fraction(1, 2), always), (Fraction(1, 2), mechanism("constant").at(k=3))]).risk(1))
    '14/3'
    """
    found: list[tuple[Any, ...]] = []
    size = 0
    for weight, mechanism in parts:
        if all(len(output_class.states) == 1 for output_class in mechanism.classes):
            continue
        if not is_alike(mechanism):
            raise Unsupported(f"{mechanism.name} treats pairs of inputs differently: no estimator is known here")
        size = _inputs(mechanism)
        parts_of, share = _sums(mechanism, size, bits)
        found += [tuple(weight * share * part for part in sums) for sums in parts_of]
    if not found:
        raise Unsupported("messages do not depend on inputs: no estimator is unbiased")
    return _noise("the mixture", found, Fraction(1), size, size)


def vote_balls(
    general: Mechanism,
    values: Mapping[sp.Symbol, Number | int],
    *,
    share: Fraction,
    size: int,
    inputs: int,
    bits: int,
) -> VoteNoise:
    """The same as balls, for many values of the parameters of one mechanism, of ``size`` inputs.

    Parameters
    ----------
    general : Mechanism
        Treats all pairs of inputs alike; parameters open.
    values : mapping
        Of all its parameters.
    share : Fraction
        The share of messages that it sends; the others say nothing.
    """
    closed, strings = _sums_in_balls(general)
    with working_precision(bits + 32):
        known = [
            to_arb(Fraction(number) if isinstance(number := values[p.symbol], int) else number)
            for p in general.parameters
            if p.symbol in values
        ]
        sums = [[Ball.from_arb(part(*known), bits) for part in parts] for parts in (closed, *strings)]
    found: list[Sequence[Number]] = [sums[0]]
    found += [_string_sums(size, hit, miss, other, bits) for hit, miss, other in sums[1:]]
    return _noise(general.name, found, share, size, inputs)


def named_votes(
    name: str, values: Mapping[str, Any], *, share: Fraction, size: int, inputs: int, bits: int, balls: bool = False
) -> VoteNoise:
    """The same for a named mechanism of which ``share`` of the messages are sent, by the texts on file.

    ``values`` are those of all its parameters by name; ``balls`` makes every number a ball of ``bits`` bits.
    """
    kept = moments_on_file(name)
    if kept is None or kept["sums"] is None:
        raise Unsupported(f"{name} treats pairs of inputs differently: use AnchoredLaw.from_channel(...)")
    texts = (kept["sums"], *kept["strings"])
    if balls:
        with working_precision(bits + 32):
            known = {key: to_arb(Fraction(one) if isinstance(one, int) else one) for key, one in values.items()}
            sums: Any = [
                [Ball.from_arb(_in_balls(text, tuple(known))(*known.values()), bits) for text in part] for part in texts
            ]
    else:
        sums = [[number_at(text, values, bits) for text in part] for part in texts]
    found = [sums[0], *(_string_sums(size, hit, miss, other, bits) for hit, miss, other in sums[1:])]
    return _noise(name, found, share, size, inputs)


@cache
def _in_balls(text: str, names: tuple[str, ...]) -> Callable[..., Any]:
    return compiled(text, names, flint.arb, flint.arb.sqrt)


def sums_in_texts(mechanism: Mechanism) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The sums of :func:`closed_sums`, and hit, miss and other of each class of strings, as texts: kept or derived."""
    from symshuffle.mechanisms.registry import is_named
    from symshuffle.mechanisms.symbolic import written

    kept = moments_on_file(mechanism.name) if is_named(mechanism) else None
    if kept is not None and kept["sums"] is not None:
        return kept["sums"], kept["strings"]
    closed, strings = closed_sums(mechanism)
    shown = [(*(state.probability for state in c.states), c.members.other) for c in strings]
    return [*map(written, closed)], [[*map(written, parts)] for parts in shown]


@cache
def _sums_in_balls(mechanism: Mechanism) -> tuple[Sequence[Callable[..., Any]], Sequence[Sequence[Callable[..., Any]]]]:
    names = tuple(parameter.name for parameter in mechanism.parameters)
    closed, strings = sums_in_texts(mechanism)
    whole, *others = (
        [compiled(text, names, flint.arb, flint.arb.sqrt) for text in part] for part in (closed, *strings)
    )
    return whole, others


def _noise(name: str, found: Sequence[Sequence[Number]], share: Fraction, size: int, used: int) -> VoteNoise:
    total: list[Any] = [sum(parts[1:], start=parts[0]) * share for parts in zip(*found, strict=True)]
    if less(0, total[0]) is not Verdict.TRUE:
        raise Unsupported(f"{name} says nothing about its input: no estimator is unbiased")
    scale = (size - 1) * (size - 1) / (total[0] * total[0])
    own = scale * total[1] - Fraction((size - 1) ** 2, size**2)
    absent = scale * total[2] - Fraction(1, size**2)
    told = "canonical unbiased" if used == size else f"canonical unbiased of {size} inputs, {used} of them in use"
    return VoteNoise(own, absent, used, told, total[0])


def bitwise_votes(mechanism: Mechanism) -> VoteNoise | None:
    """The noise of the estimator that debiases every bit by itself; None where messages are no strings of bits.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> bitwise_votes(mechanism("oue").at(D=3, lam=4)).risk(1)
    Fraction(19, 3)
    """
    from symshuffle.mechanisms.symbolic import evaluate, normal_form
    from symshuffle.mechanisms.unary import BitStrings

    if not is_alike(mechanism):
        return None
    known = dict(mechanism.fixed)
    strings = [c for c in (mechanism.general or mechanism).classes if isinstance(c.members, BitStrings)]
    if len(strings) != 1:
        return None
    (mixed,) = strings
    other = mixed.members.other.subs(known)  # type: ignore[union-attr]  # it is BitStrings
    own = normal_form(other * mixed.states[0].probability.subs(known))
    if normal_form(own + (1 - other) * mixed.states[1].probability.subs(known) - 1) != 0:
        return None  # other messages occur as well
    apart = (own - other) ** 2
    noise = [evaluate(normal_form(q * (1 - q) / apart)) for q in (own, other)]
    return VoteNoise(noise[0], noise[1], _inputs(mechanism), "bitwise unbiased")


def _evaluated(expression: sp.Expr, bits: int) -> Number:
    from symshuffle.mechanisms.symbolic import evaluate

    return evaluate(expression, bits=None if expression.is_Rational else bits)


def _inputs(mechanism: Mechanism) -> int:
    if mechanism.parameters and any(p.symbol != mechanism.pair.by for p in mechanism.parameters):
        left = ", ".join(p.name for p in mechanism.parameters)
        raise InputError("mechanism", f"{mechanism.name} with {left} open", "values for all parameters")
    return int(mechanism.inputs)


@cache
def closed_sums(mechanism: Mechanism) -> tuple[tuple[sp.Expr, sp.Expr, sp.Expr], tuple[Any, ...]]:
    """The sums over all classes of one template, in the open parameters, and the classes that are strings of bits."""
    import sympy as sp

    from symshuffle.mechanisms.symbolic import normal_form
    from symshuffle.mechanisms.unary import BitStrings
    from symshuffle.utility.estimation.moments import template_class

    size = mechanism.inputs
    strings = tuple(c for c in mechanism.classes if isinstance(c.members, BitStrings))
    sums = [sp.Integer(0)] * 3
    for output_class in mechanism.classes:
        if output_class in strings:
            continue
        found = template_class(output_class, mechanism)
        for count, value in found.levels:
            weight = found.mass * count * (value - 1) ** 2
            terms = (weight, weight * value / size, weight * (size - value) / (size * (size - 1)))
            sums = [total + term for total, term in zip(sums, terms, strict=True)]
    trace, own, absent = (normal_form(total) for total in sums)
    return (trace, own, absent), strings


def string_terms(ones: Any, size: int, weight: Any, hit: Any, miss: Any) -> Sums:
    """The contribution of all strings with so many ones, from their weight; elementwise on arrays as well."""
    average = (ones * hit + (size - ones) * miss) / size
    high, low = hit / average, miss / average
    up, down = ones * (high - 1) * (high - 1), (size - ones) * (low - 1) * (low - 1)
    mass = weight * average
    own = mass * (up * high + down * low) / size
    absent = mass * (up * (size - high) + down * (size - low)) / (size * (size - 1))
    return mass * (up + down), own, absent


def _string_sums(size: int, hit: Number, miss: Number, other: Number, bits: int) -> Sums:
    """The sums over strings with 1 to ``size - 1`` ones; the other two carry no information."""
    if size > LARGEST_STRING:
        raise Unsupported(f"{size} bits: the canonical estimator is summed up to {LARGEST_STRING}, use bitwise_votes")
    if size <= _LONGEST_EXACT and all(isinstance(x, Fraction) for x in (hit, miss, other)):
        return _added(size, hit, miss, other, (1 - other) ** size)
    with working_precision(bits + 64):
        first, second, share = (to_arb(x) for x in (hit, miss, other))
        sums = _added(size, first, second, share, (1 - share) ** flint.arb(size))
        trace, own, absent = (Ball.from_arb(total, bits) for total in sums)
    return trace, own, absent


def _added(size: int, hit: Any, miss: Any, other: Any, weight: Any) -> Sums:
    odds = other / (1 - other)
    sums: list[Any] = [0, 0, 0]
    for ones in range(1, size):
        weight = weight * odds * (size - ones + 1) / ones
        sums = [total + term for total, term in zip(sums, string_terms(ones, size, weight, hit, miss), strict=True)]
    return sums[0], sums[1], sums[2]
