"""Automorphisms of a matrix: permutations of its columns that permute its rows.

Partition refinement with backtracking: rows and columns carry colours, sums of mixed 64-bit words, and a new colour is
the old one with the multiset of (colour, entry) across it, until nothing splits. Where colours do not decide, one
column is singled out, and so is each candidate for its image. Every permutation is checked on the matrix itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from symshuffle.base.errors import Unsupported
from symshuffle.channels.geometry.groups import SymmetryGroup, cyclic_group, product_of_symmetric_groups
from symshuffle.channels.geometry.subset_orbits import cycle_of, orbits_of_points

Codes: TypeAlias = "npt.NDArray[np.int64]"
Colours: TypeAlias = "npt.NDArray[np.uint64]"

SEARCH_WORK: Final = 6 * 10**8
"""Matrix entries that refinement may read before the search stops; about 15 seconds on one core."""


def encode(*rows: Sequence[Sequence[Fraction]]) -> Codes:
    """Matrices of equally many rows, side by side, with every distinct value replaced by a number."""
    table: dict[tuple[int, int], int] = {}
    numbered = [[[table.setdefault(v.as_integer_ratio(), len(table)) for v in row] for row in part] for part in rows]
    return np.hstack([np.array(part, dtype=np.int64) for part in numbered])


def column_automorphisms(
    codes: Codes,
    movable: int,
    accepts: Callable[[Sequence[int]], bool],
    *,
    advice: str,
    fewest_passes: int = 4,
    seconds_per_entry: float = 2.5e-8,
) -> SymmetryGroup:
    """The group of permutations of the first columns that extend to an automorphism of a matrix.

    - ``movable``: how many columns are meant; the others may be permuted among themselves only.
    - ``accepts``: whether a permutation of the first columns (in image form) extends; exact.
    - returned: with its blocks of exchangeable columns; a subgroup where the search stopped at ``SEARCH_WORK``.
    - ``fewest_passes``: passes over the matrix that even a search without any choices makes.
    - ``seconds_per_entry``: time that one entry takes.
    """
    least = fewest_passes * codes.size
    if least > SEARCH_WORK:
        raise Unsupported(
            f"the search for symmetries of a {codes.shape[0]} x {codes.shape[1]} matrix would take about "
            f"{least * seconds_per_entry:.0f} s or more, at most {SEARCH_WORK * seconds_per_entry:.0f} s; {advice}"
        )
    search = _Search(codes, movable, accepts)
    blocks = list(search.blocks())
    if len(blocks) == 1:
        return product_of_symmetric_groups(blocks)
    moves, order = search.moves(blocks)
    rotation = (*range(1, movable), 0)
    if len(blocks) == movable == order and accepts(rotation):
        return cyclic_group(movable)
    return product_of_symmetric_groups(blocks, moves)


@final
@dataclass(frozen=True, slots=True)
class _Partition:
    """Colours of rows and columns that no further step splits, and the colour counts of every step.

    Isomorphic partitions have equal histories.
    """

    rows: Colours
    columns: Colours
    history: tuple[bytes, ...]


@final
class _Search:
    """The search for automorphisms of one matrix; ``start`` has the colours before any column is singled out."""

    def __init__(self, codes: Codes, movable: int, accepts: Callable[[Sequence[int]], bool]) -> None:
        self.codes = codes.astype(np.uint64)
        self.movable = movable
        self.accepts = accepts
        self.work = 0
        kinds = np.zeros(codes.shape[1], dtype=np.uint64)
        kinds[movable:] = 1
        self.start = self.refine(np.zeros(codes.shape[0], dtype=np.uint64), kinds)

    def refine(self, rows: Colours, columns: Colours) -> _Partition:
        """Split colours until nothing changes."""
        history: list[bytes] = []
        classes = (0, 0)
        while True:
            self.work += 2 * self.codes.size
            columns = _mixed(columns) + _mixed(self.codes * _ODD + _mixed(rows)[:, None]).sum(axis=0, dtype=np.uint64)
            rows = _mixed(rows) + _mixed(self.codes * _ODD + _mixed(columns)[None, :]).sum(axis=1, dtype=np.uint64)
            counted = [np.unique(colours, return_counts=True) for colours in (rows, columns)]
            history += [part.tobytes() for pair in counted for part in pair]
            found = (len(counted[0][0]), len(counted[1][0]))
            if found == classes:
                return _Partition(rows, columns, tuple(history))
            classes = found

    def single_out(self, partition: _Partition, block: Sequence[int]) -> _Partition:
        """Give the members of a block colours of their own, by their rank in the block, and refine."""
        columns = partition.columns.copy()
        columns[list(block)] += _mixed(np.arange(1, len(block) + 1, dtype=np.uint64))
        return self.refine(partition.rows, columns)

    def blocks(self) -> Iterator[list[int]]:
        """The classes of exchangeable columns: swapping two of them is an automorphism, which is an equivalence."""
        swaps = _likely_swaps(self.codes, self.movable)
        left = list(range(self.movable))
        while left:
            head, *others = left
            rivals = [y for y in others if self.start.columns[y] == self.start.columns[head]]
            self.work += 2 * self.codes.shape[0] * len(rivals)
            likely = swaps(head, rivals)
            block = [head, *(y for y in likely if self.accepts(cycle_of(self.movable, (head, y))))]
            yield block
            taken = set(block)
            left = [x for x in others if x not in taken]

    def moves(self, blocks: Sequence[Sequence[int]]) -> tuple[list[tuple[int, ...]], int]:
        """Permutations of the blocks that, with the exchanges, generate the group; and how many ways they make.

        Blocks are singled out one after the other until all colours differ: a chain of subgroups, each fixing one block
        more. Generators are found from the last subgroup back: the chosen block needs one automorphism per block that
        it can be moved to, unless those found already take it there; the order grows by the size of its orbit.
        """
        chain: list[tuple[_Partition, list[int]]] = []
        partition = self.start
        while (cell := _open_cell(partition, blocks)) is not None:
            chain.append((partition, cell))
            partition = self.single_out(partition, blocks[cell[0]])
        found: list[tuple[int, ...]] = []
        order = 1
        home = {x: i for i, block in enumerate(blocks) for x in block}
        for before, cell in reversed(chain):
            chosen = cell[0]
            source = self.single_out(before, blocks[chosen])
            reached = {chosen}
            for other in cell:
                if other in reached or len(blocks[other]) != len(blocks[chosen]):
                    continue
                move = self.match(source, self.single_out(before, blocks[other]), blocks)
                if move is not None:
                    found.append(move)
                    moved = [[home[g[block[0]]] for block in blocks] for g in found]
                    reached = next(set(orbit) for orbit in orbits_of_points(len(blocks), moved) if chosen in orbit)
            order *= len(reached)
        return found, order

    def match(self, source: _Partition, target: _Partition, blocks: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """An automorphism that takes one partition to another of equal history; None if none, or work is used up."""
        if source.history != target.history or self.work > SEARCH_WORK:
            return None
        cell = _open_cell(source, blocks)
        if cell is None:
            return self._read_off(source, target, blocks)
        colour, chosen = source.columns[blocks[cell[0]][0]], blocks[cell[0]]
        deeper = self.single_out(source, chosen)
        for block in blocks:
            if target.columns[block[0]] == colour and len(block) == len(chosen):
                move = self.match(deeper, self.single_out(target, block), blocks)
                if move is not None:
                    return move
        return None

    def _read_off(
        self, source: _Partition, target: _Partition, blocks: Sequence[Sequence[int]]
    ) -> tuple[int, ...] | None:
        """The permutation that takes every block to the block of its colour, if it is an automorphism."""
        where = {int(target.columns[block[0]]): block for block in blocks}
        image = list(range(self.movable))
        for block in blocks:
            to = where.get(int(source.columns[block[0]]))
            if to is None or len(to) != len(block):
                return None
            for x, y in zip(block, to, strict=True):
                image[x] = y
        return tuple(image) if self.accepts(image) else None


def _likely_swaps(codes: Colours, movable: int) -> Callable[[int, list[int]], list[int]]:
    """Return a function that selects the columns whose swap with column x may map the set of rows to itself.

    It returns all of these and hardly any other.

    The hash of a row is a sum over its entries, each mixed with its place, so that a swap changes it by four terms; the
    hash of the matrix is the sum of the mixed hashes of its rows.
    """
    scattered, places = codes[:, :movable] * _ODD, _mixed(np.arange(movable, dtype=np.uint64))
    words = _mixed(scattered + places[None, :])
    rows = words.sum(axis=1, dtype=np.uint64)
    matrix = _mixed(rows).sum(dtype=np.uint64)

    def likely(x: int, others: list[int]) -> list[int]:
        if not others:
            return []
        without = (rows - words[:, x])[:, None] - words[:, others]
        moved = _mixed(scattered[:, others] + places[x])
        moved += _mixed(scattered[:, [x]] + places[others][None, :])
        same = _mixed(without + moved).sum(axis=0, dtype=np.uint64) == matrix
        return [y for y, agrees in zip(others, same, strict=True) if agrees]

    return likely


def _open_cell(partition: _Partition, blocks: Sequence[Sequence[int]]) -> list[int] | None:
    """The first blocks that share a colour; None if all blocks have colours of their own."""
    cells: dict[int, list[int]] = {}
    for i, block in enumerate(blocks):
        cells.setdefault(int(partition.columns[block[0]]), []).append(i)
    return next((cell for cell in cells.values() if len(cell) > 1), None)


_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


def _mixed(words: Any) -> Any:
    """A fixed bijection of 64-bit words that scatters them (splitmix64)."""
    z = np.asarray(words, dtype=np.uint64) + _ODD
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
