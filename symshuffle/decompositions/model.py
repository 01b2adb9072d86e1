"""Decompositions and reduction pairs as data, and the blanket of a channel with the decompositions equivalent to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

from symshuffle.base.choices import Direction, choice
from symshuffle.base.errors import InputError, check_list
from symshuffle.base.numbers import (
    FLOAT_SUM_SLACK,
    Number,
    Verdict,
    as_integer,
    as_number,
    equal,
    exact_sum,
    is_exact,
    less,
    positive_part,
    sums_to_one,
)
from symshuffle.base.results import FirstLines
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.channels.law import Law
from symshuffle.channels.shuffled import HistogramLaw, histogram_law, law_divergence


def _check_masses(name: str, masses: Sequence[Number], kind: str) -> None:
    if not sums_to_one(masses):
        raise InputError(name, f"sum {exact_sum(masses)}", f"{kind} of sum 1")
    for mass in masses:
        if less(mass, 0) is Verdict.TRUE:
            raise InputError(name, mass, f"{kind} of at least 0")


@final
@dataclass(frozen=True, slots=True)
class ReductionPair:
    """Laws of one user's message in a reduction from n users to two histograms.

    :math:`P_b` is the histogram of one draw from :math:`A_b` and ``n - 1`` independent draws from :math:`A_2`.

    Parameters
    ----------
    a0, a1, a2 : tuple of Number
        Three distributions on the same components, each of sum 1.
    unsound : bool
        True for a pair that is known to bound nothing and is kept for study; no accountant takes such a pair.

    Raises
    ------
    InputError
        If the lengths differ, a mass is negative, or the masses do not sum to 1.

    Notes
    -----
    decomposition, Definition 8.
    """

    a0: tuple[Number, ...]
    a1: tuple[Number, ...]
    a2: tuple[Number, ...]
    unsound: bool = field(default=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        for name, masses in (("a0", self.a0), ("a1", self.a1), ("a2", self.a2)):
            if len(masses) != len(self.a2):
                raise InputError(name, f"{len(masses)} masses", f"{len(self.a2)}, as in a2")
            _check_masses(name, masses, "probabilities")

    def gparv(self, exp_eps: Number | int, *, direction: Direction = "forward") -> Law:
        r"""Law of the amplification variable G, with its singular mass.

        It is the law of :math:`G=(A_0-e^{\varepsilon}A_1)/A_2` under :math:`A_2` at a ratio ``exp(eps)``; reversed,
        with :math:`A_0` and :math:`A_1` swapped (decomposition, Theorem 12 and Definition 9). Components that ``A2``
        does not charge are visible in the histogram for certain: they make the singular mass, whatever ``n`` is.
        """
        direction = choice(Direction, direction, "direction")
        first, second = (self.a0, self.a1) if direction == "forward" else (self.a1, self.a0)
        atoms: list[tuple[Any, Any]] = []
        singular: Any = Fraction(0)
        exp_eps = as_number(exp_eps, "exp_eps")
        for a, b, c in zip(first, second, self.a2, strict=True):
            excess: Any = a - exp_eps * b
            if equal(c, 0):
                singular = singular + positive_part(excess)
            else:
                atoms.append((excess / c, c))
        return Law.from_atoms(atoms, singular)

    def histogram_laws(self, n: int) -> tuple[HistogramLaw, HistogramLaw]:
        """Laws of both histograms of n users, by enumeration (slow)."""
        n = as_integer(n, "n", 1)
        others = [self.a2] * (n - 1)
        return histogram_law([self.a0, *others]), histogram_law([self.a1, *others])

    def divergence(self, n: int, exp_eps: Number | int, *, direction: Direction = "forward") -> Any:
        """Hockey-stick divergence of the two histograms of ``n`` users, by enumeration."""
        direction = choice(Direction, direction, "direction")
        first, second = self.histogram_laws(n)
        if direction == "reverse":
            first, second = second, first
        return law_divergence(first, second, exp_eps)


@final
@dataclass(frozen=True, slots=True)
class Decomposition:
    r"""Decomposition in the general clone paradigm, at one pair of inputs.

    .. math::

        R(x_1^0)=\sum_j a_j Q^j,\quad R(x_1^1)=\sum_j b_j Q^j,\quad R(x)=\sum_j c_j Q^j+\beta Q_x .

    Parameters
    ----------
    a, b, c : tuple of Number
        Weights of the shared components; ``a`` and ``b`` sum to 1.
    beta : Number
        Weight of the left-over; ``beta`` and ``c`` sum to 1.
    components : tuple of tuple of Number, optional
        The distributions :math:`Q^j` on the outputs, where they are wanted; the amplification bound does not
        depend on them.

    Raises
    ------
    InputError
        If the weights differ in number, one is negative, or they do not sum to 1.

    Notes
    -----
    decomposition, Definition 7.
    """

    a: tuple[Number, ...]
    b: tuple[Number, ...]
    c: tuple[Number, ...]
    beta: Number
    components: tuple[tuple[Number, ...], ...] = ()

    def __post_init__(self) -> None:
        if not len(self.a) == len(self.b) == len(self.c):
            raise InputError("a, b, c", f"{len(self.a)}, {len(self.b)}, {len(self.c)} weights", "as many of each")
        for name, weights in (("a", self.a), ("b", self.b), ("c and beta", (*self.c, self.beta))):
            _check_masses(name, weights, "weights")

    @property
    def gamma(self) -> Any:
        """Total weight ``1 - beta`` of the shared components."""
        return exact_sum(self.c)

    def reduction_pair(self) -> ReductionPair:
        """Laws of one user's message: the shared components and, last, the left-over."""
        zero = Fraction(0)
        return ReductionPair((*self.a, zero), (*self.b, zero), (*self.c, self.beta))

    def left_over(self, row: Sequence[Number]) -> tuple[Any, ...]:
        """Left-over distribution :math:`Q_x` of an input with output law ``row``."""
        if not self.components:
            raise InputError("components", "()", "a decomposition that carries its components")
        if equal(self.beta, 0):
            raise InputError("beta", self.beta, "a positive weight (there is no left-over)")
        return tuple((probability - shared) / self.beta for probability, shared in zip(row, self.common(), strict=True))

    def common(self) -> tuple[Any, ...]:
        r"""The shared part :math:`\sum_j c_j Q^j(y)` of every row, by output."""
        return self._mixture(self.c)

    def _mixture(self, weights: Sequence[Number]) -> tuple[Any, ...]:
        outputs = range(len(self.components[0]))
        return tuple(exact_sum([w * q[y] for w, q in zip(weights, self.components, strict=True)]) for y in outputs)

    def violations(self, channel: Channel, pair: tuple[int, int]) -> list[str]:
        """Reasons why this is no decomposition of a channel at a pair; every input of the channel needs a left-over."""
        if not self.components:
            return ["the decomposition carries no components"]
        found = []
        for name, weights, x in (("a", self.a, pair[0]), ("b", self.b, pair[1])):
            mixture = self._mixture(weights)
            off = [y for y, entry in enumerate(mixture) if equal(entry, channel.rows[x][y]) is Verdict.FALSE]
            found += [f"sum of {name}_j Q^j differs from row {x} at output {y}" for y in off]
        shared = self.common()
        for x, row in enumerate(channel.rows):
            found += [
                f"left-over of input {x} is negative at output {y}"
                for y, entry in enumerate(row)
                if less(entry, shared[y]) is Verdict.TRUE
            ]
        return found


@final
@dataclass(frozen=True, slots=True)
class PrivacyBlanket:
    r"""The common part of all rows of a channel.

    - ``gamma``: total variation similarity :math:`\gamma=\sum_y\inf_x W_x(y)`, in [0, 1].
    - ``omega``: blanket distribution :math:`\inf_x W_x/\gamma`; None where gamma = 0.
    - ``left_overs``: distributions :math:`(W_x-\gamma\omega)/(1-\gamma)`, by input; None where gamma = 1.

    decomposition, Section 3.2.
    """

    gamma: Number
    omega: tuple[Number, ...] | None
    left_overs: tuple[tuple[Number, ...], ...] | None


def privacy_blanket(channel: Channel) -> PrivacyBlanket:
    """Privacy blanket of a channel: the common part of its rows.

    Parameters
    ----------
    channel : Channel
        The local randomizer.

    Returns
    -------
    PrivacyBlanket
        The similarity gamma in [0, 1], the blanket distribution (None where gamma = 0), and the left-over distribution
        of each input (None where gamma = 1).

    Notes
    -----
    decomposition, Section 3.2.

    Examples
    --------
    >>> privacy_blanket(Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])).gamma
    Fraction(2, 3)
    """
    check_channel(channel)
    floor: tuple[Any, ...] = channel.blanket()
    gamma, rest = exact_sum(floor), _rest(floor)
    omega = None if equal(gamma, 0) else tuple(mass / gamma for mass in floor)
    if equal(rest, 0):
        return PrivacyBlanket(gamma, omega, None)
    rows = [zip(row, floor, strict=True) for row in channel.rows]
    return PrivacyBlanket(gamma, omega, tuple(tuple((entry - mass) / rest for entry, mass in row) for row in rows))


def _rest(floor: Sequence[Any]) -> Any:
    """The weight of the left-over; in doubles rounding of a whole blanket, which may be negative, counts as 0."""
    rest: Any = 1 - exact_sum(floor)
    return 0.0 if isinstance(rest, float) and abs(rest) <= FLOAT_SUM_SLACK else rest


def read_pair(channel: Channel, pair: Sequence[object]) -> tuple[int, int]:
    """Read two inputs of a channel."""
    check_channel(channel)
    check_list(pair, "pair", "two inputs")
    if len(pair) != 2:
        raise InputError("pair", pair, "two inputs")
    last = channel.num_inputs - 1
    return as_integer(pair[0], "first of pair", 0, last), as_integer(pair[1], "second of pair", 0, last)


def primary_decomposition(channel: Channel, pair: tuple[int, int]) -> Decomposition:
    r"""The primary optimal decomposition: one component per output.

    :math:`a_y=W_{x_1^0}(y)`, :math:`b_y=W_{x_1^1}(y)`, :math:`c_y=\inf_x W_x(y)`; the infimum runs over *all* inputs
    of the channel, since any of them may be in the background (decomposition, Theorem 5).
    """
    pair, floor = read_pair(channel, pair), channel.blanket()
    outputs = range(channel.num_outputs)
    points = tuple(tuple(Fraction(int(y == z)) for z in outputs) for y in outputs)
    return Decomposition(channel.rows[pair[0]], channel.rows[pair[1]], floor, _rest(floor), points)


def simplified_weights(first: Sequence[Any], second: Sequence[Any], floor: Sequence[Any]) -> Decomposition:
    """Simplified optimal decomposition of two rows without its components, of which laws know nothing.

    - ``floor``: the smallest probability of each output over all inputs.
    """
    return merge_proportional(Decomposition(tuple(first), tuple(second), tuple(floor), _rest(floor)))


def simplified_decomposition(channel: Channel, pair: tuple[int, int]) -> Decomposition:
    """Simplified optimal decomposition of a channel at a pair of inputs.

    Outputs with equal ratios ``a : b : c`` are merged, where a and b are the probabilities at the two inputs, and c the
    smallest one over all inputs. Ratios are compared as points of the projective plane, so outputs that some input
    never sends are merged like all others; outputs of weight zero in all three laws are dropped.

    Parameters
    ----------
    channel : Channel
        The local randomizer.
    pair : tuple of int
        Input of the differing user in the first and in the second dataset.

    Returns
    -------
    Decomposition
        With one component per distinct ratio.

    Raises
    ------
    InputError
        If the pair is not two inputs of the channel.

    Notes
    -----
    decomposition, Theorem 7.

    Examples
    --------
    >>> response = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    >>> found = simplified_decomposition(response, (0, 1))
    >>> found.a, found.beta
    ((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), Fraction(1, 4))
    """
    return merge_proportional(primary_decomposition(channel, pair))


def merge_proportional(decomposition: Decomposition) -> Decomposition:
    """Merge the components of a decomposition whose weights ``(a, b, c)`` are proportional.

    Balls with the same ends count as equal: those of the merged weights have the ratios of either, and H(n), which
    rises with every value of G, is between those of the smallest and of the largest.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    triples: list[tuple[Any, Any, Any]] = list(zip(decomposition.a, decomposition.b, decomposition.c, strict=True))
    for j, triple in enumerate(triples):
        if all(equal(weight, 0) is Verdict.TRUE for weight in triple):
            continue
        key = _ratios(triple)
        if key not in groups and not is_exact(triple):
            key = next((other for other, group in groups.items() if _proportional(triples[group[0]], triple)), key)
        groups.setdefault(key, []).append(j)
    return _merged(decomposition, triples, list(groups.values()))


def _ratios(triple: tuple[Any, Any, Any]) -> tuple[Any, ...]:
    """Rationals divided by their sum; others as they are."""
    total = sum(triple) if is_exact(triple) else 1
    return triple if total == 1 else tuple(weight / total for weight in triple)


def _merged(
    decomposition: Decomposition, triples: Sequence[tuple[Any, Any, Any]], groups: Sequence[Sequence[int]]
) -> Decomposition:
    components = (
        tuple(_merged_component(decomposition, triples, group) for group in groups) if decomposition.components else ()
    )
    a, b, c = (tuple(exact_sum([triples[j][k] for j in group]) for group in groups) for k in range(3))
    return Decomposition(a, b, c, decomposition.beta, components)


def _proportional(u: Sequence[Any], v: Sequence[Any]) -> bool:
    minors = (u[i] * v[j] - u[j] * v[i] for i, j in ((0, 1), (0, 2), (1, 2)))
    return all(equal(minor, 0) is Verdict.TRUE for minor in minors)


def _merged_component(
    decomposition: Decomposition, triples: Sequence[tuple[Any, Any, Any]], group: Sequence[int]
) -> tuple[Any, ...]:
    """The mixture of the components of a group, weighted by their share, which all three weights agree on."""
    shares = [exact_sum(triples[j]) for j in group]
    whole, members = exact_sum(shares), [decomposition.components[j] for j in group]
    columns = zip(*members, strict=True)
    return tuple(exact_sum([share / whole * mass for share, mass in zip(shares, ms, strict=True)]) for ms in columns)


def first_lines(gamma: str, mechanism: str, pair: str, ranges: str) -> FirstLines:
    """First lines of a decomposition: similarity, mechanism, pair of inputs, evidence."""
    return FirstLines(
        "gamma",
        f"{gamma} (exact)",
        about=f"share of each message of {mechanism} that does not depend on the input, {pair}"
        f"{f', for all {ranges}' if ranges else ''}; a step of a bound, and no guarantee by itself",
        sure="a theorem (decomposition, Theorem 7), derived by computer algebra without rounding",
    )
