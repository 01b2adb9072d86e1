"""Messages as rows of integers, as packed bytes that sort like them, and as lines of text; what runs at a user."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryFile, gettempdir
from typing import Final, final

import numpy as np
import numpy.typing as npt

from symshuffle.base.documents import folded_value
from symshuffle.base.errors import InputError, echo
from symshuffle.collect.scheme import Draw, Integers, Scheme, random_order, uniform

AT_ONCE: Final = 1 << 19
"""Integers of messages that are held unpacked at a time."""

_LONGEST: Final = 18
"""Digits of a number in a message: it fits into 64 bits."""


def chunk(scheme: Scheme) -> int:
    """Messages that are worked on at a time."""
    return max(1, min(1 << 16, AT_ONCE // max(scheme.width, 1)))


def _bytes_each(scheme: Scheme) -> int:
    return max(1, ((scheme.alphabet - 1).bit_length() + 7) // 8)


def pack(scheme: Scheme, messages: Integers) -> Integers:
    """Rows of bytes, in the order of the rows of integers: 8 digits to a byte where they are bits."""
    if scheme.is_bits:
        return np.packbits(messages.astype(np.uint8), axis=1)
    wide = np.ascontiguousarray(messages.astype(">u8")).view(np.uint8).reshape(len(messages), scheme.width, 8)
    return np.ascontiguousarray(wide[:, :, 8 - _bytes_each(scheme) :]).reshape(len(messages), -1)


def unpack(scheme: Scheme, packed: Integers) -> Integers:
    """Rows of integers."""
    if scheme.is_bits:
        return np.unpackbits(packed, axis=1, count=scheme.width)
    each = _bytes_each(scheme)
    wide = np.zeros((len(packed), scheme.width, 8), dtype=np.uint8)
    wide[:, :, 8 - each :] = packed.reshape(len(packed), scheme.width, each)
    return wide.view(">u8").reshape(len(packed), scheme.width).astype(np.int64)


def _room(count: int, width: int, short: int = 64) -> Integers:
    """Room for packed messages: in memory, or for long ones in a file without a name, gone with the process."""
    if width <= short or not count:
        return np.empty((count, width), dtype=np.uint8)
    free = shutil.disk_usage(gettempdir()).free
    if count * width >= free:
        room = f"room for them in {gettempdir()}, where {free} bytes are free"
        raise InputError("values", f"{count} rows of {width} bytes", room)
    return np.memmap(TemporaryFile(), dtype=np.uint8, mode="w+", shape=(count, width))


def randomized(scheme: Scheme, values: Integers, draw: Draw) -> Integers:
    """One packed message for each value, in the order of the values."""
    size = chunk(scheme)
    width = pack(scheme, np.zeros((1, scheme.width), dtype=np.int64)).shape[1]
    found = _room(len(values), width)
    for i in range(0, len(values), size):
        found[i : i + size] = pack(scheme, scheme.sample(values[i : i + size], draw))
    return found


def shuffled(packed: Integers, draw: Draw) -> Integers:
    """Packed messages in a uniformly random order."""
    order, found = random_order(len(packed), draw), _room(*packed.shape)
    size = max(1, AT_ONCE // packed.shape[1])
    for i in range(0, len(order), size):
        found[i : i + size] = packed[order[i : i + size]]
    return found


def arranged(packed: Integers) -> Integers:
    """Packed messages, brought into ascending order where they lie."""
    _whole(packed).sort()
    return packed


def counted(packed: Integers) -> tuple[Integers, Integers]:
    """The different messages in ascending order, and how often each occurs; brings them into order where they lie."""
    rows = _whole(arranged(packed))
    new = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    return packed[new], np.diff(np.append(new, len(rows)))


def _whole(packed: Integers) -> npt.NDArray[np.bytes_]:
    """Each message as one string of bytes: a view, in which closing zeros do not matter as all have one length."""
    return packed.view(f"S{packed.shape[1]}").reshape(-1)


def lines(scheme: Scheme, packed: Integers, most_words: int = 1 << 12) -> Iterator[bytes]:
    """Text of messages, a line each, in blocks: numbers with blanks between them, bits without.

    - ``most_words``: numbers whose text is looked up.
    """
    size = chunk(scheme)
    for i in range(0, len(packed), size):
        rows = unpack(scheme, packed[i : i + size])
        if scheme.is_bits:
            text = np.full((len(rows), scheme.width + 1), ord("\n"), dtype=np.uint8)
            text[:, :-1] = rows + ord("0")
            yield text.tobytes()
        elif scheme.width == 1:
            yield ("\n".join(map(str, rows[:, 0].tolist())) + "\n").encode()
        elif scheme.alphabet <= most_words:
            words = np.array([str(number) for number in range(scheme.alphabet)], dtype=object)
            yield "".join(" ".join(row) + "\n" for row in words[rows].tolist()).encode()
        else:
            yield "".join(" ".join(map(str, row)) + "\n" for row in rows.tolist()).encode()


def read_lines(scheme: Scheme, text: bytes, first: int, *, counts: bool) -> tuple[Integers, Integers | None]:
    """Messages from lines of text, and how often each is meant if counts follow them after a comma.

    An error names ``messages[first]``, ``messages[first + 1]``, ...
    """
    text = text.replace(b"\r\n", b"\n")
    if not text.endswith(b"\n"):
        text += b"\n"
    codes = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    bits = scheme.is_bits
    if bits and not counts:
        wanted = scheme.width + 1
        lengths = np.diff(ends, prepend=-1)
        _refuse(lengths != wanted, text, ends, first, scheme)
        digits = codes.reshape(-1, wanted)[:, :-1] - ord("0")
        _refuse(np.any(digits > 1, axis=1), text, ends, first, scheme)
        return digits, None
    if bits:
        return _read_bit_counts(scheme, text, ends, first)
    numbers, places = _numbers(codes, ends, text, first, scheme, counts=counts)
    wanted = scheme.width + counts
    _refuse(places != wanted, text, ends, first, scheme, counts=counts)
    rows = numbers.reshape(-1, wanted)
    messages = rows[:, : scheme.width]
    if counts:
        _refuse(~_comma_before_last(codes, wanted), text, ends, first, scheme, counts=True)
    wrong = np.any(messages >= scheme.alphabet, axis=1)
    if not np.any(wrong):
        wrong = scheme.wrong(messages)
    weights = rows[:, -1] if counts else None
    _refuse(wrong if weights is None else wrong | (weights < 1), text, ends, first, scheme, counts=counts)
    return messages, weights


def _comma_before_last(codes: Integers, wanted: int) -> Integers:
    """In which lines of ``wanted`` numbers and one comma the comma stands directly before the last number."""
    digit = (codes >= ord("0")) & (codes <= ord("9"))
    starts = np.flatnonzero(digit & ~np.concatenate(([False], digit[:-1]))).reshape(-1, wanted)
    commas = np.flatnonzero(codes == ord(","))
    return (starts[:, -2] < commas) & (commas < starts[:, -1])


def _numbers(
    codes: Integers, ends: Integers, text: bytes, first: int, scheme: Scheme, *, counts: bool
) -> tuple[Integers, Integers]:
    """All numbers of a text, and how many stand in each line; those of messages have no leading zeros."""
    digit = (codes >= ord("0")) & (codes <= ord("9"))
    blank = codes == ord(" ")
    comma = codes == ord(",")
    strange = ~(digit | blank | (codes == ord("\n")))
    if counts:
        strange &= ~comma
    line_of = np.searchsorted(ends, np.flatnonzero(strange)[:1])
    before = np.concatenate(([False], digit[:-1]))
    starts = np.flatnonzero(digit & ~before)
    stops = np.flatnonzero(~digit & before)
    wrong = np.zeros(len(ends), dtype=bool)
    wrong[line_of] = True
    lengths = stops - starts
    padded = (lengths > 1) & (codes[starts] == ord("0"))
    if counts and len(starts):
        padded[np.searchsorted(starts, ends) - 1] = False  # the last number of a line is a count
    wrong[np.searchsorted(ends, starts[(lengths > _LONGEST) | padded])] = True
    if counts:  # exactly one comma in a line
        commas = np.flatnonzero(comma)
        wrong |= np.bincount(np.searchsorted(ends, commas), minlength=len(ends)) != 1
    _refuse(wrong, text, ends, first, scheme, counts=counts)
    if len(starts) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(len(ends), dtype=np.int64)
    at = np.flatnonzero(digit)
    number = np.repeat(np.arange(len(starts)), lengths)
    powers = 10 ** np.arange(_LONGEST)
    values = (codes[at] - ord("0")).astype(np.int64) * powers[stops[number] - at - 1]
    return np.add.reduceat(values, np.concatenate(([0], np.cumsum(lengths)[:-1]))), np.diff(
        np.searchsorted(starts, ends), prepend=0
    )


def _read_bit_counts(scheme: Scheme, text: bytes, ends: Integers, first: int) -> tuple[Integers, Integers]:
    rows, weights, wrong = [], [], np.zeros(len(ends), dtype=bool)
    for i, line in enumerate(text[:-1].split(b"\n")):
        bits, _, count = line.partition(b",")
        is_count = count.isdigit() and len(count) <= _LONGEST and int(count) > 0
        if len(bits) != scheme.width or bits.strip(b"01") or not is_count:
            wrong[i] = True
            break
        rows.append(np.frombuffer(bits, dtype=np.uint8) - ord("0"))
        weights.append(int(count))
    _refuse(wrong, text, ends, first, scheme, counts=True)
    return np.array(rows).reshape(-1, scheme.width), np.array(weights, dtype=np.int64)


def _refuse(wrong: Integers, text: bytes, ends: Integers, first: int, scheme: Scheme, *, counts: bool = False) -> None:
    """Name the first wrong line."""
    if not np.any(wrong):
        return
    i = int(np.flatnonzero(wrong)[0])
    start = 0 if i == 0 else int(ends[i - 1]) + 1
    line = text[start : int(ends[i])].decode(errors="replace")
    wanted = f"{scheme.width} integers from 0 to {scheme.alphabet - 1} without leading zeros, with blanks between"
    if scheme.is_bits:
        wanted = f"{scheme.width} digits 0 or 1"
    elif scheme.width == 1:
        wanted = f"an integer from 0 to {scheme.alphabet - 1} without leading zeros"
    wanted += f", a message of {scheme.name}" + (", then a comma and a count from 1 to 10^18 - 1" if counts else "")
    raise InputError(f"messages[{first + i}]", line or "an empty line", wanted)


def read_labels(labels: Sequence[str], k: int | None = None) -> tuple[str, ...]:
    """Labels of k categories, which are numbered from 0; without any, the numbers are the labels.

    Raises
    ------
    InputError
        If their number is not k, or they are not different nonempty texts.
    """
    if k is not None and labels and len(labels) != k:
        raise InputError("labels", f"{len(labels)} labels", f"k = {k} of them")
    seen: set[str] = set()
    for i, label in enumerate(labels, start=1):
        if not isinstance(label, str) or not label.strip() or label != label.strip():
            raise InputError(f"label {i}", repr(label), "a text without blanks at its ends, not empty")
        if label != label.encode(errors="ignore").decode():
            raise InputError(f"label {i}", repr(label), "a text in Unicode")
        if label in seen:
            raise InputError(f"label {i}", label, "a label that no other category has")
        seen.add(label)
    return tuple(labels) or tuple(map(str, range(k or 0)))


def labels_alike(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for each label that equals an earlier one by :func:`folded_value`."""
    seen: dict[str, int] = {}
    found = []
    for i, label in enumerate(labels):
        if (first := seen.setdefault(folded_value(label), i)) != i:
            earlier, later = (echo(ascii(one)) for one in (labels[first], label))
            found.append(
                f"labels {first + 1} and {i + 1}, {earlier} and {later}, are two categories: they differ in case, "
                "blanks, invisible and compatible characters, or the notation of a number, only"
            )
    return tuple(found)


def category(places: Mapping[str, int], value: object, place: str) -> int:
    """Number of a category by its label.

    - ``places``: label to number.
    """
    found = places.get(str(value))
    if found is None:
        known = ", ".join([*places][:5]) + (", ..." if len(places) > 5 else "")
        shown = "an empty cell" if value in (None, "") else value
        raise InputError(place, shown, f"one of the {len(places)} categories of the plan ({known})")
    return found


WHO_SHUFFLES: Final = (
    "not shuffled: the plan's eps holds only after whoever collects these messages has removed senders and times, "
    "and has sorted the messages or put them in a uniformly random order, before anybody else sees them"
)
"""What goes with every message of a client."""


@final
@dataclass(frozen=True)
class Client:
    """Randomizer of the value of one user; it does not shuffle.

    Parameters
    ----------
    scheme : Scheme
        The mechanism that runs.
    places : mapping of str to int
        The values that a user may have, with the numbers of their categories.
    draw : callable
        Source of uniform integers; default the operating system's randomness.
    """

    scheme: Scheme
    places: Mapping[str, int]
    draw: Draw = field(default_factory=uniform, repr=False)

    @property
    def about(self) -> str:
        """Who has to shuffle."""
        return WHO_SHUFFLES

    def __call__(self, value: object) -> str:
        """Message of one user, as text."""
        made = self.scheme
        at = np.array([category(self.places, value, "value")])
        return next(lines(made, pack(made, made.sample(at, self.draw)))).decode().rstrip("\n")

    def messages(self, values: Iterable[object]) -> Iterator[str]:
        """Message of each of some users, in their order: not shuffled."""
        return (self(value) for value in values)
