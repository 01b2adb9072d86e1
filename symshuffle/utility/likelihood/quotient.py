r"""Merging outputs of equal likelihood ratio: the smallest experiment that is equivalent to a canonical pair.

Level sets are found by exact comparison of rationals, never by rounding. In balls nothing can be known to be equal, so
outputs stay apart; a finer partition is sufficient as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import CertificateError, InputError, Unsupported, check_kind
from symshuffle.base.numbers import Ball, Number, as_integer, equal, lower_end
from symshuffle.base.results import well_formed
from symshuffle.channels.channel import Channel
from symshuffle.utility.likelihood.law import LikelihoodRatio, exact_sum, require_common_support


@final
@dataclass(frozen=True, slots=True)
class Quotient:
    r"""The level sets of :math:`g=W_b/W_a` with what is needed to undo the merging.

    - ``rows``: the rows ``W_a`` and ``W_b``.
    - ``blocks``: the outputs of each level set, by rising ratio; outputs that neither row charges are in none.

    alphabets, Theorem 3.2.
    """

    rows: tuple[tuple[Number, ...], tuple[Number, ...]]
    blocks: tuple[tuple[int, ...], ...]
    ratios: tuple[Number, ...]

    @property
    def masses(self) -> tuple[Any, ...]:
        """The probability ``q_r`` of each block under ``W_a``; under ``W_b`` it is ``r q_r``."""
        return tuple(exact_sum(self.rows[0][y] for y in block) for block in self.blocks)

    @property
    def law(self) -> LikelihoodRatio:
        """The law of the ratio: all that is left of the channel."""
        return LikelihoodRatio.from_atoms(zip(self.ratios, self.masses, strict=True))

    @property
    def channel(self) -> Channel:
        """The two rows after merging, one output per block."""
        return Channel((self.masses, tuple(r * q for r, q in zip(self.ratios, self.masses, strict=True))))

    def kernel(self) -> Iterator[tuple[tuple[int, Any], ...]]:
        r"""The backward kernel, block by block: outputs ``y`` with :math:`K(y\mid r)=W_a(y)/q_r`.

        Applied to each message by itself, it turns the merged messages of either dataset back into the original ones;
        as it acts on messages one by one, it commutes with shuffling.
        """
        for block, mass in zip(self.blocks, self.masses, strict=True):
            entries: list[Any] = [self.rows[0][y] for y in block]
            yield tuple((y, entry / mass) for y, entry in zip(block, entries, strict=True))

    def verify(self) -> None:
        """Check sufficiency from the two rows alone: a partition, and a kernel that rebuilds both rows exactly."""
        if any(isinstance(number, Ball) for row in (*self.rows, self.ratios) for number in row):
            raise Unsupported("sufficiency is checked over the rationals; balls cannot be equal")
        self._verify()

    @well_formed()
    def _verify(self) -> None:
        seen = [y for block in self.blocks for y in block]
        charged = [y for y, masses in enumerate(zip(*self.rows, strict=True)) if any(masses)]
        if sorted(seen) != charged:
            raise CertificateError("blocks", f"{seen[:10]} are not the outputs that a row charges, each once")
        if len(set(self.ratios)) != len(self.ratios) or len(self.ratios) != len(self.blocks):
            raise CertificateError("ratios", f"{len(self.ratios)} of {len(self.blocks)} blocks, to be distinct")
        parts = zip(self.ratios, self.masses, self.kernel(), strict=True)
        for i, (r, mass, conditional) in enumerate(parts):
            shares = [share for _, share in conditional]
            if not shares or min(shares) < 0:  # their sum is 1: the masses are the sums over the blocks
                raise CertificateError(f"kernel[{i}]", f"{conditional[:10]} is no distribution on the block")
            for y, share in conditional:
                rebuilt: tuple[Any, Any] = mass * share, r * mass * share
                if rebuilt != (self.rows[0][y], self.rows[1][y]):
                    was = f"{self.rows[0][y]}, {self.rows[1][y]}"
                    raise CertificateError(f"outputs[{y}]", f"rebuilt as {rebuilt[0]}, {rebuilt[1]}; they are {was}")

    def push(self, histogram: tuple[int, ...]) -> tuple[int, ...]:
        """The histogram of blocks of a histogram of outputs."""
        return tuple(sum(histogram[y] for y in block) for block in self.blocks)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{r}</td><td>{q}</td><td>{len(block)}</td></tr>"
            for r, q, block in list(zip(self.ratios, self.masses, self.blocks, strict=True))[:50]
        )
        return f"<table><tr><th>ratio</th><th>mass under a</th><th>outputs</th></tr>{rows}</table>"


def likelihood_quotient(channel: Channel, a: int, b: int) -> Quotient:
    """Outputs of a channel grouped by the likelihood ratio of two rows.

    Parameters
    ----------
    channel : Channel
        Rational, or in balls; of any number of outputs.
    a, b : int
        The input of the background, and of the differing user.

    Returns
    -------
    Quotient
        Blocks of outputs with equal ratio, in rising order of the ratio. In balls no outputs are merged.

    Raises
    ------
    InputError
        If an entry is a double, or an output has positive probability under one row only (the message names it).

    Examples
    --------
    >>> W = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    >>> likelihood_quotient(W, 0, 1).blocks
    ((0,), (2,), (1,))
    """
    check_kind(channel, Channel, "channel", "a channel, as Channel.from_rows(...)")
    a, b = (as_integer(x, name, 0, channel.num_inputs - 1) for name, x in (("a", a), ("b", b)))
    rows = channel.rows[a], channel.rows[b]
    if any(isinstance(entry, float) for row in rows for entry in row):
        raise InputError("channel", "doubles", "rationals or balls: rounding would merge ratios that differ")
    require_common_support(channel.restrict((a, b)))
    groups: dict[object, tuple[Any, list[int]]] = {}
    for y, (base, other) in enumerate(zip(*rows, strict=True)):
        if equal(base, 0):
            continue
        top: Any = other
        ratio = top / base
        groups.setdefault(ratio if isinstance(ratio, Fraction) else y + 0.5, (ratio, []))[1].append(y)
    ordered = sorted(groups.values(), key=lambda group: (lower_end(group[0]), group[1]))
    return Quotient(rows, tuple(tuple(block) for _, block in ordered), tuple(ratio for ratio, _ in ordered))
