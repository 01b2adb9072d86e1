r"""The noise of one message in an unbiased estimate, at the composition that is worst for each loss.

Where all pairs of ``K`` inputs are alike, a message with template :math:`u` votes :math:`\frac1K+\frac{K-1}T(u_i-1)`,
:math:`T` the trace of the covariance. For a user who holds the input its variance is
:math:`V_0=(\frac{K-1}T)^2E_{W_i}(u_i-1)^2-(\frac{K-1}K)^2`, for others
:math:`V_1=(\frac{K-1}T)^2E_{W_j}(u_i-1)^2-\frac1{K^2}`. Other channels are worst where all users hold one input.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import flint

from symshuffle.base.choices import Loss, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Verdict,
    as_integer,
    less,
    maximum,
    to_arb,
    working_precision,
)
from symshuffle.channels.channel import Channel, check_channel, exact_columns
from symshuffle.decompositions.calculated import compiled, number_at
from symshuffle.decompositions.closed_forms import moments_on_file
from symshuffle.mechanisms.names import THINNED
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import output_votes, vote_sizes, worst_canonical_risk

if TYPE_CHECKING:  # numbers of named mechanisms need no algebra
    import sympy as sp

    from symshuffle.mechanisms.model import Mechanism


LARGEST_STRING: Final = 10**6
"""Bits beyond which the sum over the number of ones is not taken: only the bitwise estimator is left."""


Sums: TypeAlias = "tuple[Any, Any, Any]"
r"""Trace, :math:`E_{W_i}(u_i-1)^2` and :math:`E_{W_j}(u_i-1)^2`."""


@final
@dataclass(frozen=True, slots=True)
class VoteNoise:
    """What one message adds to an estimate, at the fixed composition that is worst for each loss.

    - ``own``, ``absent``: largest variance of a coordinate for a user who holds that input, and for one who does not.
    - ``inputs``: number ``k`` of inputs in use.
    - ``trace``: trace of the template's covariance over all inputs of the mechanism; None where it was not needed.
    - ``cases``: losses that depend on who holds what: each loss of one user, and where it is largest, in words. Without
      them the risk is the same at every composition.
    - ``iid``: the i.i.d. risk of one user; None where it is largest at the uniform composition.
    """

    own: Number
    absent: Number
    inputs: int
    estimator: str
    trace: Number | None = None
    cases: Mapping[str, tuple[Number, str]] = field(default_factory=dict)
    iid: Number | None = None

    def alone(self, kind: Loss) -> Any:
        """The loss of one user; that of ``test`` is a sum of two standard deviations."""
        absent: Any = self.absent
        if kind in self.cases:
            return self.cases[kind][0]
        if kind == "l2":
            return self.own + absent * (self.inputs - 1)
        if kind == "max":
            return maximum([self.own, absent])
        return absent if kind == "absent" else deviations(self.own, absent)

    def loss(self, loss: Loss, n: int) -> Number:
        """The error of ``n`` users that a loss looks at, at the fixed composition that is worst for it."""
        kind, n = choice(Loss, loss, "loss"), as_integer(n, "n", 1)
        if kind != "test":
            value: Number = self.alone(kind) / n
            return value
        with working_precision(DEFAULT_BITS):
            return Ball.from_arb(to_arb(self.alone(kind)) / to_arb(n).sqrt(), DEFAULT_BITS)

    def risk(self, n: int) -> Number:
        """The largest expected squared error for ``n`` users of a fixed composition."""
        return self.loss("l2", n)

    def iid_risk(self, n: int) -> Number:
        """The largest expected squared error for ``n`` users who draw their inputs."""
        alone = self.alone("l2") + 1 - Fraction(1, self.inputs) if self.iid is None else self.iid
        value: Number = alone / as_integer(n, "n", 1)
        return value

    def worst(self, loss: Loss) -> str:
        """Composition at which a loss is largest, in words."""
        kind = choice(Loss, loss, "loss")
        if kind in self.cases:
            return self.cases[kind][1]
        match kind:
            case "l2":
                return "every composition alike"
            case "max" if less(self.own, self.absent) is not Verdict.TRUE:
                return "all users hold the category"
            case "test":
                return "all users hold the category, and nobody does"
        return "nobody holds the category"


def deviations(own: Number, absent: Number) -> Ball:
    """The sum of two standard deviations, from the variances."""
    with working_precision(DEFAULT_BITS):
        return Ball.from_arb(to_arb(own).sqrt() + to_arb(absent).sqrt(), DEFAULT_BITS)


def is_alike(mechanism: Mechanism) -> bool:
    """Whether the mechanism treats all pairs of inputs alike."""
    return mechanism.pair.by is None and not mechanism.pair.listed and mechanism.pair.every


def canonical_votes(mechanism: Mechanism, *, inputs: int | None = None, bits: int = DEFAULT_BITS) -> VoteNoise:
    """The noise of the canonical estimator's votes: :math:`((K-1)^2/T-(K-1)/K)/n` with all inputs in use."""
    size = _inputs(mechanism)
    used = size if inputs is None else inputs
    if not 2 <= used <= size:
        raise InputError("inputs", inputs, f"an integer in [2, {size}]")
    if not is_alike(mechanism):
        raise Unsupported(f"{mechanism.name} treats pairs of inputs differently: use AnchoredLaw.from_channel(...)")
    sums, share = _sums(mechanism, bits)
    return _noise(mechanism.name, _summed(sums, size, bits), share, size, used)


def _summed(sums: Sequence[Sequence[Number]], size: int, bits: int) -> list[Sequence[Number]]:
    """The sums over the classes of one template together, and over each class of strings."""
    return [sums[0], *(_string_sums(size, hit, miss, other, bits) for hit, miss, other in sums[1:])]


def _sums(mechanism: Mechanism, bits: int) -> tuple[list[Sequence[Number]], Fraction]:
    """The sums over classes of one template; hit, miss and other of each class of strings; the share of messages."""
    from symshuffle.mechanisms.registry import is_named
    from symshuffle.mechanisms.registry import mechanism as named_mechanism
    from symshuffle.mechanisms.symbolic import evaluate, value_of

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
    fixed = ((part.subs(known) for part in found) for found in (parts, *shown))
    return [[evaluate(part, bits=None if part.is_Rational else bits) for part in found] for found in fixed], Fraction(1)


def mixed_votes(parts: Sequence[tuple[Fraction, Mechanism]], *, bits: int = DEFAULT_BITS) -> VoteNoise:
    """The noise of the canonical votes where one of several mechanisms is drawn, and named with its message.

    - ``parts``: probabilities of sum 1, and mechanisms with all parameters fixed, of as many inputs each. One whose
      messages do not depend on the input serves any number of inputs.
    """
    found: list[tuple[Any, ...]] = []
    size = 0
    for weight, mechanism in parts:
        if all(len(output_class.states) == 1 for output_class in mechanism.classes):
            continue
        if not is_alike(mechanism):
            raise Unsupported(f"{mechanism.name} treats pairs of inputs differently: no estimator is known here")
        size = _inputs(mechanism)
        sums, share = _sums(mechanism, bits)
        found += [tuple(weight * share * part for part in summed) for summed in _summed(sums, size, bits)]
    if not found:
        raise Unsupported("messages do not depend on inputs: no estimator is unbiased")
    return _noise("the mixture", found, Fraction(1), size, size)


def named_votes(
    name: str, values: Mapping[str, Any], *, share: Fraction, size: int, inputs: int, bits: int, balls: bool = False
) -> VoteNoise:
    """The noise of the canonical votes of a named mechanism, ``share`` of whose messages are sent, by texts on file.

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
    return _noise(name, _summed(sums, size, bits), share, size, inputs)


@cache
def _in_balls(text: str, names: tuple[str, ...]) -> Callable[..., Any]:
    return compiled(text, names, flint.arb, flint.arb.sqrt)


def sums_in_texts(mechanism: Mechanism) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The sums of :func:`closed_sums`, and hit, miss and other of each class of strings, as texts: kept or derived."""
    from symshuffle.mechanisms.registry import is_named
    from symshuffle.mechanisms.symbolic import written

    kept = (moments_on_file(mechanism.name) if is_named(mechanism) else None) or {}
    if kept.get("sums") is not None:
        return kept["sums"], kept["strings"]
    closed, strings = closed_sums(mechanism)
    shown = [(*(state.probability for state in c.states), c.members.other) for c in strings]
    return [*map(written, closed)], [[*map(written, parts)] for parts in shown]


def _noise(name: str, found: Sequence[Sequence[Number]], share: Fraction, size: int, used: int) -> VoteNoise:
    total: list[Any] = [sum(parts[1:], start=parts[0]) * share for parts in zip(*found, strict=True)]
    if less(0, total[0]) is not Verdict.TRUE:
        raise Unsupported(f"{name} says nothing about its input: no estimator is unbiased")
    scale = (size - 1) * (size - 1) / (total[0] * total[0])
    own = scale * total[1] - Fraction((size - 1) ** 2, size**2)
    absent = scale * total[2] - Fraction(1, size**2)
    told = "canonical unbiased" if used == size else f"canonical unbiased of {size} inputs, {used} of them in use"
    return VoteNoise(own, absent, used, told, total[0])


def _inputs(mechanism: Mechanism) -> int:
    if mechanism.parameters and any(p.symbol != mechanism.pair.by for p in mechanism.parameters):
        left = ", ".join(p.name for p in mechanism.parameters)
        raise InputError("mechanism", f"{mechanism.name} with {left} open", "values for all parameters")
    return int(mechanism.inputs)


@cache
def closed_sums(mechanism: Mechanism) -> tuple[tuple[sp.Expr, sp.Expr, sp.Expr], tuple[Any, ...]]:
    """The sums over all classes of one template, in the open parameters, and the classes that are strings of bits."""
    import sympy as sp

    from symshuffle.mechanisms.members import BitStrings
    from symshuffle.mechanisms.symbolic import normal_form
    from symshuffle.utility.estimation.moments import template_class

    size = mechanism.inputs
    strings = tuple(c for c in mechanism.classes if isinstance(c.members, BitStrings))
    sums = [sp.Integer(0)] * 3
    for output_class in mechanism.classes:
        if output_class in strings:
            continue
        mass, levels = template_class(output_class, mechanism)
        for count, value in levels:
            weight = mass * count * (value - 1) ** 2
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


def _string_sums(
    size: int,
    hit: Number,
    miss: Number,
    other: Number,
    bits: int,
    *,
    longest_exact: int = 64,
    longest_whole: int = 50_000,
) -> Sums:
    """The sums over strings with 1 to ``size - 1`` ones; the other two carry no information.

    - ``longest_exact``: bits up to which the sums are rationals, where all probabilities are.
    - ``longest_whole``: bits up to which strings of every number of ones are summed; beyond, those near the mean.
    """
    if size > LARGEST_STRING:
        raise Unsupported(f"{size} bits: the canonical estimator is summed up to {LARGEST_STRING} bits")
    if size <= longest_exact and all(isinstance(x, Fraction) for x in (hit, miss, other)):
        return _added(size, hit, miss, other, (1 - other) ** size)
    with working_precision(bits + 64):
        parts = to_arb(hit), to_arb(miss), to_arb(other)
        whole = size <= longest_whole
        sums = _added(size, *parts, (1 - parts[2]) ** flint.arb(size)) if whole else _added_near_mean(size, *parts)
        trace, own, absent = (Ball.from_arb(total, bits) for total in sums)
    return trace, own, absent


def _added(size: int, hit: Any, miss: Any, other: Any, weight: Any, ends: tuple[int, int] | None = None) -> Sums:
    """The sums over numbers of ones, all or between two ends, from the weight of strings with one fewer."""
    odds, sums, (low, high) = other / (1 - other), [0, 0, 0], ends or (1, size - 1)
    for ones in range(low, high + 1):
        weight = weight * odds * (size - ones + 1) / ones
        sums = [total + term for total, term in zip(sums, string_terms(ones, size, weight, hit, miss), strict=True)]
    return sums[0], sums[1], sums[2]


def _added_near_mean(size: int, hit: flint.arb, miss: flint.arb, other: flint.arb, *, reach: int = 40) -> Sums:
    """The sums over numbers of ones near their mean, enclosing the rest by Bernstein's inequality.

    - ``reach``: standard deviations from the mean up to which they are summed.
    """
    chance = float(other.mid())
    mean, wide = round(size * chance), reach + math.ceil(reach * math.sqrt(size * chance * (1 - chance)))
    low, high = max(1, mean - wide), min(size - 1, mean + wide)
    before = flint.arb.bin_uiui(size, low - 1) * other ** (low - 1) * (1 - other) ** (size - low + 1)
    away = flint.arb(wide) - abs(size * other - mean)  # least distance of what is left out
    left_out = 2 * (-(away * away) / (2 * (size * other * (1 - other) + away / 3))).exp()
    top, ratio = hit.max(miss), hit.max(miss) / hit.min(miss)  # of averages, and of levels over 1
    most = (left_out * 2 * top * size * ratio**3).upper()
    near = _added(size, hit, miss, other, before, (low, high))
    trace, own, absent = (total.union(total + most) for total in near)
    return trace, own, absent


def channel_noise(channel: Channel, *, most: int = 64) -> VoteNoise:
    """The noise of the canonical votes of an exact channel, by input held and coordinate.

    - ``most``: inputs up to which the covariance is inverted.
    """
    check_channel(channel)
    k = channel.num_inputs
    if k > most or not channel.exact:
        limit = f"{k} inputs (limit {most})" if channel.exact else "entries that are not rational"
        raise Unsupported(f"the canonical estimator of an explicit channel is not computed for {limit}")
    law = AnchoredLaw.from_channel(channel)
    if vote_sizes(law) is None:
        raise Unsupported("no estimator is unbiased: some compositions send messages of the same law")
    votes, columns = output_votes(channel, law), exact_columns(channel)

    def variance(x: int, i: int) -> Fraction:
        second = sum((column[x] * vote[i] ** 2 for column, vote in zip(columns, votes, strict=True)), start=Fraction(0))
        return second - (Fraction(int(i == x)) - Fraction(1, k)) ** 2

    table = [[variance(x, i) for i in range(k)] for x in range(k)]
    held = max(range(k), key=lambda x: sum(table[x]))
    x, i = max(itertools.product(range(k), repeat=2), key=lambda place: table[place[0]][place[1]])
    z, j = max(itertools.permutations(range(k), 2), key=lambda place: table[place[0]][place[1]])
    pairs = ((deviations(table[b][b], table[a][b]), a, b) for a, b in itertools.permutations(range(k), 2))
    both, a, b = max(pairs, key=lambda entry: entry[0].upper)
    found: dict[str, tuple[Number, str]] = {
        "l2": (sum(table[held], start=Fraction(0)), f"all users hold input {held}"),
        "max": (table[x][i], f"all users hold input {x}, category {i} is looked at"),
        "absent": (table[z][j], f"all users hold input {z}, category {j} is looked at"),
        "test": (both, f"all users hold input {b}, and all hold input {a}; category {b} is looked at"),
    }
    iid, own = worst_canonical_risk(law, n=1, population="iid")[0], max(table[x][x] for x in range(k))
    return VoteNoise(own, table[z][j], k, "canonical unbiased", cases=found, iid=iid)


def joint_noise(parts: Sequence[VoteNoise]) -> VoteNoise:
    """The noise of products of the canonical votes of parts that each treat all pairs of inputs alike.

    The second moment of a product is a product: :math:`1+V_0` of a part that matches, :math:`V_1` of one that does not.
    The sum of squares is the same at every composition of the tuples.
    """
    size = math.prod(part.inputs for part in parts)
    # Second moments of a coordinate of the product by whether any part differs: equal products are kept once.
    moments: list[tuple[Any, bool]] = [(Fraction(1), False)]
    for part in parts:
        steps: Any = ((1 + part.own, False), (part.absent, True))
        moments = list({(str(v * w), d or e): (v * w, d or e) for v, d in moments for w, e in steps}.values())
    (matching,) = (value for value, differs in moments if not differs)
    own, absent = matching - 1, maximum([value for value, differs in moments if differs])
    sums: Any = math.prod(1 + part.risk(1) for part in parts)
    both, differing = deviations(own, absent), "one that differs from it"
    found: dict[str, tuple[Number, str]] = {
        "l2": (sums - 1, "every composition alike"),
        "max": (maximum([own, absent]), f"all users hold one tuple: the one that is looked at, or {differing}"),
        "absent": (absent, "all users hold one tuple that differs from the one that is looked at"),
        "test": (both, f"all users hold the tuple that is looked at, and all hold {differing}"),
    }
    return VoteNoise(own, absent, size, "product of canonical unbiased ones", cases=found)
