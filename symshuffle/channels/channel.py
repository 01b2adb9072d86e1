r"""A channel: the local randomizer as a matrix with one distribution per input, which may come from rounded decimals.

A matrix is *rounded* if it has decimals (``0.333``, ``3.33e-1``, doubles; a fraction ``1/3`` is exact) and some row
does not sum to 1. Its *unit* u is the coarsest last digit among the entries that are written with the most significant
digits. From 16 digits on, which is what a double has, it is at least :math:`2^{-52}`, and as much as the sums show that
arithmetic lost, if they are off by at most 1e-12. A row with m entries that are not
fractions may be off by :math:`m u/2`, which is what the last digits of its entries can hide together: up to there a
distribution that rounds to the row exists. It is then divided by its sum S.

For every distribution q whose entries are within u/2 of the written ones v, the normalised row p = v/S has

.. math:: TV(p, q) \le \tfrac12\bigl(\lVert v/S-v\rVert_1+\lVert v-q\rVert_1\bigr)
          \le \tfrac12\bigl(\lvert S-1\rvert+m u/2\bigr),

by the triangle inequality, since :math:`\lVert v/S-v\rVert_1=\lvert 1/S-1\rvert S`; for one entry in the same way
:math:`\lvert p_y-q_y\rvert\le p_y\lvert S-1\rvert+u/2`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral
from typing import Any, Final, final

from symshuffle.base.errors import InputError, check_list
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import (
    FLOAT_SUM_SLACK,
    Ball,
    Number,
    Verdict,
    as_integer,
    as_number,
    brief,
    equal,
    exact_sum,
    format_decimal,
    is_exact,
    less,
    maximum,
    minimum,
    natural_log,
    parse_rational,
    upper_end,
)

LARGEST_CHANNEL: Final = 2_000_000
"""Entries beyond which a mechanism is not written out as an explicit channel."""

_DECIMAL: Final = re.compile(r"[+-]?(\d*)(?:(\.)(\d*))?(?:([eE])([+-]?\d+))?", re.ASCII)
_DIGITS_OF_DOUBLES: Final = 16
_SPACING_OF_DOUBLES: Final = Fraction(1, 1 << 52)
"""Distance of doubles next to 1: what was computed in doubles is known no better, with however many digits."""

_COARSEST: Final = Fraction(1, 100)
"""A unit beyond which entries are no roundings of anything that could be bounded."""


@final
@dataclass(frozen=True, slots=True)
class Rounding:
    """How far a normalised matrix may be from the matrices that round to what was written."""

    entry: Fraction
    row: Fraction

    def __str__(self) -> str:
        far = format_decimal(self.entry, digits=3, up=True)
        return (
            "the normalised matrix (each row read is divided by its sum; "
            f"the entries of a matrix that rounds to the one read differ by at most {far})"
        )


def read_rows(rows: Sequence[Sequence[object]]) -> tuple[tuple[tuple[Number, ...], ...], Rounding | None]:
    """Numbers of a matrix, doubles by their shortest decimal form, and how it was rounded; None if it is as written."""
    found = [[_read(entry, f"rows[{x}][{y}]") for y, entry in enumerate(row)] for x, row in enumerate(rows)]
    values = tuple(tuple(value for value, _ in row) for row in found)
    forms = [written for row in found for _, written in row if written is not None]
    sums: list[Any] = [sum(row, start=Fraction(0)) for row in values]
    if not any(forms) or any(isinstance(total, Ball) for total in sums) or all(total == 1 for total in sums):
        return values, None
    unit = _unit(forms, sums, [sum(written is not None for _, written in row) for row in found])
    off, distance = Fraction(0), Fraction(0)
    for x, (row, total) in enumerate(zip(found, sums, strict=True)):
        hidden = sum(written is not None for _, written in row) * unit / 2 if unit <= _COARSEST else Fraction(0)
        if abs(total - 1) > hidden:
            allowed = "rounded entries need 2 decimals" if unit > _COARSEST else f"its digits can hide {brief(hidden)}"
            expected = f"probabilities that sum to 1 (off by {brief(total - 1)}; {allowed})"
            raise InputError(f"rows[{x}]", f"sum {brief(total)}", expected)
        off, distance = max(off, abs(total - 1)), max(distance, (abs(total - 1) + hidden) / 2)
    normal = tuple(tuple(value / total for value in row) for row, total in zip(values, sums, strict=True))
    return normal, Rounding(off + unit / 2, distance)


def _read(entry: object, place: str) -> tuple[Any, tuple[int, int] | tuple[()] | None]:
    """A number; its significant digits and decimals, of a decimal; () of an integer, None of an exact number."""
    value = as_number(entry, place)
    if isinstance(value, float):
        value = parse_rational(str(entry), place)
    elif isinstance(entry, Integral):
        return value, ()
    elif not isinstance(entry, str):
        return value, None
    form = _DECIMAL.fullmatch(str(entry).strip())
    if form is None:
        return value, None  # p/q
    whole, point, decimals, exponent, shift = form.groups()
    if point is None and exponent is None:
        return value, ()
    digits = f"{whole}{decimals or ''}".lstrip("0")
    return value, (len(digits), len(decimals or "") - int(shift or 0))


def _unit(forms: Sequence[tuple[int, int] | tuple[()]], sums: Sequence[Fraction], free: Sequence[int]) -> Fraction:
    written = [form for form in forms if form]
    most = max(digits for digits, _ in written)
    unit = max(Fraction(10) ** -decimals for digits, decimals in written if digits == most)
    if most < _DIGITS_OF_DOUBLES:
        return unit
    off = [(abs(total - 1), many) for total, many in zip(sums, free, strict=True)]
    lost = [2 * far / many for far, many in off if many and far <= FLOAT_SUM_SLACK]
    return max(unit, _SPACING_OF_DOUBLES, *lost)


@final
@dataclass(frozen=True, slots=True)
class Channel:
    """Finite channel W; row ``x`` is the distribution of the output at input ``x``.

    Parameters
    ----------
    rows : tuple of tuple of Number
        Shape ``(k, m)``: ``rows[x][y]`` is the probability of output ``y`` at input ``x``.
        All entries of one kind: fractions, balls, or doubles (fractions may stand beside balls).
    rounding : Rounding or None
        Where a rounded matrix was read and its rows were divided by their sums: how far the matrices that round to it
        may be. Answers then speak about ``rows``, and say so.

    Raises
    ------
    InputError
        If the matrix is empty or ragged, an entry is negative, or a row does not sum to 1 (the message says which
        row, and by how much).

    Examples
    --------
    >>> W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> W.ratio_cap()
    Fraction(2, 1)
    """

    rows: tuple[tuple[Number, ...], ...]
    rounding: Rounding | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0]:
            raise InputError("rows", self.rows, "at least one row with at least one entry")
        for x, row in enumerate(self.rows):
            if len(row) != len(self.rows[0]):
                raise InputError(f"rows[{x}]", f"{len(row)} entries", f"{len(self.rows[0])}, as in rows[0]")
            for y, entry in enumerate(row):
                if less(entry, 0) is Verdict.TRUE:
                    raise InputError(f"rows[{x}][{y}]", entry, "a probability of at least 0")
            _check_sum(x, row)

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[object]]) -> Channel:
        """Channel from numbers, text such as ``"1/3"``, or a NumPy array.

        There is one row per input. Doubles are read by their shortest decimal form. Where rows of decimals do not sum
        to 1, but to 1 within half a unit of the last digit times the number of entries, each row is divided by its sum,
        and ``rounding`` of the result says what the last digits may hide.

        Raises
        ------
        InputError
            If an entry is no number (its row and column are named), or a row is off by more than that.

        Examples
        --------
        >>> W = Channel.from_rows([[0.333, 0.333, 0.333], [0.25, 0.25, 0.5]])
        >>> print(W)
        1/3  1/3  1/3
        1/4  1/4  1/2
        >>> W.rounding.row
        Fraction(1, 800)
        """
        found = []
        for x, row in enumerate(rows):
            if isinstance(row, str) or not isinstance(row, Iterable):
                raise InputError(f"rows[{x}]", row, "a row of probabilities: a matrix has two dimensions")
            found.append(tuple(row))
        return cls(*read_rows(found))

    @property
    def num_inputs(self) -> int:
        """Number ``k`` of inputs."""
        return len(self.rows)

    @property
    def num_outputs(self) -> int:
        """Number ``m`` of outputs."""
        return len(self.rows[0])

    @property
    def exact(self) -> bool:
        """Whether every entry is a rational number."""
        return all(is_exact(row) for row in self.rows)

    def column(self, output: int) -> tuple[Number, ...]:
        """The probabilities of one output, by input."""
        output = as_integer(output, "output", 0, self.num_outputs - 1)
        return tuple(row[output] for row in self.rows)

    def columns(self) -> tuple[tuple[Number, ...], ...]:
        """All columns, by output."""
        return tuple(zip(*self.rows, strict=True))

    def ratio_cap(self) -> Number:
        r"""Largest likelihood ratio of two rows at one output; ``inf`` if unbounded.

        It is :math:`\max_{y,x,x'} W_x(y)/W_{x'}(y)`.
        The channel is eps0-LDP exactly for ``exp(eps0) >= ratio_cap()`` (decomposition, Definition 3).
        """
        ratios: list[Number] = [Fraction(1)]
        for column in self.columns():
            top: Any = maximum(column)
            bottom: Any = minimum(column)
            if equal(top, 0):
                continue
            if equal(bottom, 0):
                return math.inf
            ratios.append(top / bottom)
        cap: Number = maximum(ratios)
        return cap

    def epsilon(self) -> float:
        """Local privacy level ``log(ratio_cap())`` in nats, as a double. It is ``inf`` if the channel is not LDP."""
        cap = self.ratio_cap()
        if cap == math.inf:
            return math.inf
        top = upper_end(cap)
        try:
            return math.log(top)
        except OverflowError:  # beyond the range of doubles
            return natural_log(top)

    @takes_eps0(as_ball=True)
    def is_ldp(self, lam: Number | int) -> Verdict:
        """Whether the channel is log(lam)-LDP, for ``lam = exp(eps0) >= 1``."""
        cap = self.ratio_cap()
        return Verdict.FALSE if cap == math.inf else ~less(lam, cap)

    def likelihood_ratios(self, numerator: int, denominator: int) -> tuple[Number | None, ...]:
        """Ratios ``W_numerator(y) / W_denominator(y)``, by output. A ratio is ``inf`` at x/0 and None at 0/0."""
        last = self.num_inputs - 1
        above = self.rows[as_integer(numerator, "numerator", 0, last)]
        below = self.rows[as_integer(denominator, "denominator", 0, last)]
        return tuple(_ratio(a, b) for a, b in zip(above, below, strict=True))

    def blanket(self) -> tuple[Number, ...]:
        r"""Unnormalised privacy blanket :math:`\inf_x W_x(y)`, by output. Its sum is the similarity gamma."""
        return tuple(minimum(column) for column in self.columns())

    def null_outputs(self) -> tuple[int, ...]:
        """Outputs of probability zero at every input."""
        return tuple(y for y, column in enumerate(self.columns()) if all(equal(entry, 0) for entry in column))

    def without_null_outputs(self) -> tuple[Channel, tuple[int, ...]]:
        """The channel without its null outputs, and which outputs were dropped."""
        dropped = self.null_outputs()
        kept = [y for y in range(self.num_outputs) if y not in set(dropped)]
        return Channel(tuple(tuple(row[y] for y in kept) for row in self.rows), self.rounding), dropped

    def restrict(self, inputs: Sequence[int]) -> Channel:
        """The channel on some of the inputs, in the order given."""
        return Channel(tuple(self.rows[x] for x in inputs), self.rounding)

    def push_forward(self, kernel: Channel) -> Channel:
        """Channel followed by a post-processing ``kernel``, whose inputs are the outputs of this channel."""
        if kernel.num_inputs != self.num_outputs:
            raise InputError("kernel", f"{kernel.num_inputs} inputs", f"{self.num_outputs}, one per output")
        pairs = [[zip(row, column, strict=True) for column in kernel.columns()] for row in self.rows]
        rows = tuple(tuple(exact_sum(a * b for a, b in cell) for cell in row) for row in pairs)
        return Channel(rows, _of_outputs(self, kernel))

    def merge(self, groups: Sequence[Sequence[int]]) -> Channel:
        """Channel whose outputs are groups of outputs of this channel. The groups must partition the outputs."""
        if sorted(itertools.chain(*groups)) != list(range(self.num_outputs)):
            raise InputError("groups", groups, f"a partition of the outputs 0..{self.num_outputs - 1}")
        return Channel(
            tuple(tuple(exact_sum(row[y] for y in group) for group in groups) for row in self.rows), _of_outputs(self)
        )

    def tensor(self, other: Channel) -> Channel:
        """Channel that runs both channels independently on a pair of inputs, all in lexicographic order."""
        return Channel(
            tuple(tuple(a * b for a in row for b in other_row) for row in self.rows for other_row in other.rows),
            _of_outputs(self, other),
        )

    def __str__(self) -> str:
        return "\n".join("  ".join(str(entry) for entry in row) for row in self.rows)

    def _repr_html_(self) -> str:
        body = "".join("<tr>" + "".join(f"<td>{entry}</td>" for entry in row) + "</tr>" for row in self.rows)
        return f"<table>{body}</table>"


def direct_sum(channels: Sequence[Channel], weights: Sequence[Number]) -> Channel:
    """Channel that runs channel ``i`` with probability ``weights[i]`` and publishes i.

    Parameters
    ----------
    channels : sequence of Channel
        At least one channel, all with the same number k of inputs.
    weights : sequence of Number
        One probability per channel, of sum 1.

    Returns
    -------
    Channel
        With k inputs and one output for each output of each channel, in the order of the channels.

    Raises
    ------
    InputError
        If the channels differ in their number of inputs, or the weights are not a distribution.

    Notes
    -----
    ldp_tradeoff, equation (1); the parallel composition of decomposition, Section 4.6.

    Examples
    --------
    >>> response = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> constant = Channel.from_rows([["1"], ["1"]])
    >>> print(direct_sum([response, constant], [Fraction(1, 2), Fraction(1, 2)]))
    1/3  1/6  1/2
    1/6  1/3  1/2
    """
    check_list(channels, "channels", "a list of channels", Channel)
    check_list(weights, "weights", "a list of probabilities")
    weights = [as_number(weight, f"weights[{i}]") for i, weight in enumerate(weights)]
    if not len(channels) or len(channels) != len(weights):
        raise InputError("weights", f"{len(weights)} weights", f"one per channel, of which there are {len(channels)}")
    if len({channel.num_inputs for channel in channels}) > 1:
        raise InputError("channels", [c.num_inputs for c in channels], "channels with one common number of inputs")
    return Channel(
        tuple(
            tuple(
                weight * entry for channel, weight in zip(channels, weights, strict=True) for entry in channel.rows[x]
            )
            for x in range(channels[0].num_inputs)
        ),
        _of_outputs(*channels),
    )


def _of_outputs(*parts: Channel) -> Rounding | None:
    """Rounding of a channel made of others: total variation adds up at most, and no output differs by more."""
    rows = [part.rounding.row for part in parts if part.rounding is not None]
    return Rounding(sum(rows), sum(rows)) if rows else None  # type: ignore[arg-type]  # not empty


def _ratio(a: Any, b: Any) -> Number | None:
    if equal(b, 0):
        return None if equal(a, 0) else math.inf
    ratio: Number = a / b
    return ratio


def _check_sum(x: int, row: Sequence[Number]) -> None:
    if any(isinstance(entry, float) for entry in row):
        excess = math.fsum(float(entry) for entry in row) - 1
        if not abs(excess) <= FLOAT_SUM_SLACK:  # also where the sum is not a number
            raise InputError(f"rows[{x}]", f"sum 1{excess:+.3g}", "probabilities that sum to 1")
        return
    total = exact_sum(row)
    if equal(total, 1) is Verdict.FALSE:
        raise InputError(
            f"rows[{x}]", f"sum {brief(total)}", f"probabilities that sum to 1 (off by {brief(total - 1)})"
        )


def exact_columns(channel: Channel, expected: str = "rational entries") -> tuple[tuple[Fraction, ...], ...]:
    """Columns of a rational channel; a channel of balls or doubles is refused, in the words of what is expected."""
    columns = channel.columns()
    exact = tuple(tuple(entry for entry in column if isinstance(entry, Fraction)) for column in columns)
    if exact != columns:
        raise InputError("channel", "entries that are balls or doubles", expected)
    return exact
