"""A channel: the local randomizer as a matrix with one distribution per input, which may come from rounded decimals.

What a rounded matrix is, and how far a normalised one may be off, is said in :mod:`symshuffle.base.numbers.tables`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.errors import InputError, check_kind, check_list
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import (
    FLOAT_SUM_SLACK,
    Number,
    Rounding,
    Verdict,
    as_integer,
    brief,
    equal,
    exact_sum,
    is_exact,
    less,
    listed,
    maximum,
    minimum,
    natural_log,
    read_law,
    read_rows,
    summed,
    upper_end,
)

LARGEST_CHANNEL: Final = 2_000_000
"""Entries beyond which a mechanism is not written out as an explicit channel."""


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

    Attributes
    ----------
    header : bool or None
        Where the matrix was read from a file: whether its first line was one of names. Else None.

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
    header: bool | None = field(default=None, init=False, repr=False, compare=False)

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
        """Channel from numbers, text such as ``"1/3"``, a NumPy array or a sparse one of SciPy.

        There is one row per input. Doubles are read by their shortest decimal form, numbers of other types by their
        values. Where rows of decimals (or of ``float32`` and other binary formats) do not sum to 1, but to 1 within
        half a unit of the last digit times the number of entries, each row is divided by its sum, and ``rounding`` of
        the result says what the last digits may hide.

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
        if isinstance(rows, str | bytes | Mapping | Set) or not isinstance(rows, Iterable):
            raise InputError("rows", rows, "a list of rows of probabilities")
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        if getattr(rows, "ndim", 2) != 2:
            raise InputError("rows", rows, "a list of rows of probabilities: a matrix has two dimensions")
        found = []
        for x, row in enumerate(rows):
            if isinstance(row, str | bytes | Mapping | Set) or not isinstance(row, Iterable):
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
        last = self.num_inputs - 1
        kept = [as_integer(x, f"inputs[{i}]", 0, last) for i, x in enumerate(listed(inputs, "inputs"))]
        return Channel(tuple(self.rows[x] for x in kept), self.rounding)

    def push_forward(self, kernel: Channel) -> Channel:
        """Channel followed by a post-processing ``kernel``, whose inputs are the outputs of this channel."""
        check_channel(kernel, "kernel")
        if kernel.num_inputs != self.num_outputs:
            raise InputError("kernel", f"{kernel.num_inputs} inputs", f"{self.num_outputs}, one per output")
        pairs = [[zip(row, column, strict=True) for column in kernel.columns()] for row in self.rows]
        rows = tuple(tuple(exact_sum(a * b for a, b in cell) for cell in row) for row in pairs)
        return Channel(rows, summed(self.rounding, kernel.rounding))

    def merge(self, groups: Sequence[Sequence[int]]) -> Channel:
        """Channel whose outputs are groups of outputs of this channel. The groups must partition the outputs."""
        last = self.num_outputs - 1
        parts = [
            [as_integer(y, f"groups[{i}]", 0, last) for y in listed(group, f"groups[{i}]")]
            for i, group in enumerate(listed(groups, "groups"))
        ]
        if sorted(y for part in parts for y in part) != list(range(self.num_outputs)):
            raise InputError("groups", groups, f"a partition of the outputs 0..{last}")
        return Channel(
            tuple(tuple(exact_sum(row[y] for y in part) for part in parts) for row in self.rows),
            summed(self.rounding),
        )

    def tensor(self, other: Channel) -> Channel:
        """Channel that runs both channels independently on a pair of inputs, all in lexicographic order."""
        check_channel(other, "other")
        return Channel(
            tuple(tuple(a * b for a in row for b in other_row) for row in self.rows for other_row in other.rows),
            summed(self.rounding, other.rounding),
        )

    def __str__(self) -> str:
        return "\n".join("  ".join(str(entry) for entry in row) for row in self.rows)

    def _repr_html_(self) -> str:
        body = "".join("<tr>" + "".join(f"<td>{entry}</td>" for entry in row) + "</tr>" for row in self.rows)
        return f"<table>{body}</table>"


def direct_sum(channels: Sequence[Channel], weights: Sequence[object]) -> Channel:
    """Channel that runs channel ``i`` with probability ``weights[i]`` and publishes i.

    Parameters
    ----------
    channels : sequence of Channel
        At least one channel, all with the same number k of inputs.
    weights : sequence of numbers
        One probability per channel, of sum 1; read as a row of a matrix is.

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
    if not len(channels) or len(channels) != len(listed(weights, "weights")):
        raise InputError("weights", f"{len(weights)} weights", f"one per channel, of which there are {len(channels)}")
    shares, rounding = read_law(weights, "weights")
    if len({channel.num_inputs for channel in channels}) > 1:
        raise InputError("channels", [c.num_inputs for c in channels], "channels with one common number of inputs")
    return Channel(
        tuple(
            tuple(weight * entry for channel, weight in zip(channels, shares, strict=True) for entry in channel.rows[x])
            for x in range(channels[0].num_inputs)
        ),
        summed(rounding, *(channel.rounding for channel in channels)),
    )


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


def check_channel(channel: object, argument: str = "channel") -> None:
    """Refuse what is no channel."""
    check_kind(channel, Channel, argument, "a channel, as Channel.from_rows(...)")


def exact_columns(channel: Channel, expected: str = "rational entries") -> tuple[tuple[Fraction, ...], ...]:
    """Columns of a rational channel; a channel of balls or doubles is refused, in the words of what is expected."""
    check_channel(channel)
    columns = channel.columns()
    exact = tuple(tuple(entry for entry in column if isinstance(entry, Fraction)) for column in columns)
    if exact != columns:
        raise InputError("channel", "entries that are balls or doubles", expected)
    return exact
