"""The users of a deployment who run one randomizer, and how many of their messages are counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, as_truth, counted, is_enclosed, parse_rational, ungrouped
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.closed_forms import ClosedForm, on_file

_MOST: Final = 10**300
"""More users than that are refused before their number is compared with that of the question."""

LARGEST_N: Final = 10**15

_DUMMIES: Final = ("blanket", "uniform")

RANDOMIZERS: Final = "a mechanism, a composition, a decomposition, a channel or its matrix"


def _integer(value: object, argument: str) -> int:
    found = as_integer(value, argument, 1)
    return found if found <= _MOST else as_integer(value, argument, 1, _MOST)


def check_n(n: object) -> int:
    """Return a number of users, from 1 to 10^15."""
    return as_integer(n, "n", 1, LARGEST_N)


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Users of a deployment who run the same randomizer.

    Parameters
    ----------
    randomizer : Mechanism, Channel, matrix or other randomizer
        What each of them runs; a matrix has one row per input. None stands for any.
    count : int, optional
        Number of users of the group, colluding ones included. None leaves it to the question.
    min_batch_size : int, optional
        Smallest number of users who send in a batch, whoever they are, colluding ones included; default: all users
        send. Not with ``dropout``.
    dropout : number or text, optional
        Probability in [0, 1), maybe as ``"5%"``, with which each other user sends nothing, independently of all
        inputs. The number of messages is public.
    colluding : int, number or text, optional
        Largest number of users whose messages are known to the reader, or their share of the count in [0, 1), as
        ``"10%"``; a share is rounded up to users. The set is fixed beforehand.
    dummies : bool
        Whether these are messages of no user: ``randomizer`` is then one distribution, ``"uniform"``, or ``"blanket"``
        for the blanket distribution of the users beside them.

    Raises
    ------
    InputError
        If a field is out of its range, or two fields exclude each other.

    Examples
    --------
    >>> Group(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]), 200, colluding="10%").honest(200)
    180
    """

    randomizer: Any = None
    count: int | None = field(default=None, metadata={"keyword": "n", "help": "Number of users of the group."})
    min_batch_size: int | None = field(
        default=None,
        metadata={
            "metavar": "M",
            "help": "At least M of the users send a message, whoever they are, colluding ones included.",
            "effect": "the bound for so many messages, which never rises with their number",
        },
    )
    dropout: Fraction | None = field(
        default=None,
        metadata={
            "metavar": "Q",
            "help": "Each other user drops out with probability Q, as 1/20 or 5%, independently and publicly.",
            "effect": "the mean of the bound over a binomial number of messages",
            "nearest": "none here: the answer is for one number of messages; give min_batch_size instead",
            "absent": ("compare",),
            "read": ("audit",),
        },
    )
    colluding: int | Fraction | None = field(
        default=None,
        metadata={
            "metavar": "C",
            "help": "Users whose messages are known to the reader: a number, or a share such as 10%.",
            "effect": "the bound for the other users, whose messages alone hide each other",
        },
    )
    dummies: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            randomizer: object = None,
            count: object = None,
            min_batch_size: object = None,
            dropout: object = None,
            colluding: object = None,
            dummies: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        dummies: object = self.dummies
        if not isinstance(dummies, bool):
            object.__setattr__(self, "dummies", as_truth(dummies, "dummies"))
        if self.randomizer is not None:
            object.__setattr__(self, "randomizer", self._read_randomizer())
        colluding = self.colluding
        if self.count is not None:
            object.__setattr__(self, "count", as_integer(self.count, "count", 1, LARGEST_N))
        if self.min_batch_size is not None:
            object.__setattr__(self, "min_batch_size", _integer(self.min_batch_size, "min_batch_size"))
        if self.dropout is not None:
            object.__setattr__(self, "dropout", self._read_dropout())
        if self.colluding is not None:
            object.__setattr__(self, "colluding", _read_colluding(self.colluding))
        if self.dummies:
            for name in ("min_batch_size", "dropout", "colluding"):
                if getattr(self, name) is not None:
                    raise InputError(name, getattr(self, name), "none for dummies, which are messages of no user")
        elif self.count is not None and (self.min_batch_size is not None or self.colluding is not None):
            self._check_count(colluding)

    def _check_count(self, colluding: object) -> None:
        """Compare the fields with the count; a refused share is shown as it was written."""
        try:
            self.check(self.count)
        except InputError as error:
            value = colluding if error.argument == "colluding" else error.value
            raise InputError(error.argument, value, error.expected) from None

    @classmethod
    def of_dummies(cls, count: object, distribution: object = "blanket") -> Group:
        """Return a group of dummies: messages of no user, each drawn independently.

        - ``distribution``: probabilities of the outputs, ``"uniform"`` or ``"blanket"``.
        """
        return cls(distribution, count, dummies=True)

    def _read_randomizer(self) -> Any:
        given = self.randomizer
        if self.dummies:
            if isinstance(given, str) and given in _DUMMIES:
                return given
            if isinstance(given, Channel):
                if given.num_inputs != 1:
                    raise InputError("dummies", f"a channel of {given.num_inputs} inputs", "one distribution")
                return given
            if isinstance(given, str) or not (isinstance(given, Sequence) or hasattr(given, "__array__")):
                raise InputError("dummies", given, "one distribution, 'uniform' or 'blanket'")
            return Channel.from_rows([list(given)])
        if isinstance(given, ClosedForm):
            return given
        if (
            hasattr(given, "__array__")
            or hasattr(given, "toarray")
            or (isinstance(given, Sequence) and not isinstance(given, str | bytes))
        ):
            return Channel.from_rows(given)
        known = callable(given) or hasattr(given, "participants") or type(given).__module__.startswith("symshuffle.")
        if isinstance(given, type) or not known or isinstance(given, Group):
            raise InputError("source", given, RANDOMIZERS)
        if isinstance(given, Channel) and not all(map(is_enclosed, given.rows)):
            return Channel.from_rows(given.rows)  # doubles are read by their shortest decimals
        return on_file(given)

    def _read_dropout(self) -> Fraction:
        expected = "a number in [0, 1), as 1/20 or 5%"
        dropout = _read_share(self.dropout, "dropout", expected)
        if not 0 <= dropout < 1:
            raise InputError("dropout", self.dropout, expected)
        if self.min_batch_size is not None:
            both = f"{self.min_batch_size}, {self.dropout}"
            raise InputError("min_batch_size, dropout", both, "one of the two, not both")
        return dropout

    @property
    def everybody(self) -> bool:
        """Whether all users send a message, and none of them colludes."""
        return self.min_batch_size is None and self.dropout is None and self.colluding is None

    @property
    def all_send(self) -> bool:
        """Whether every user certainly sends a message, and none colludes: also with a dropout of 0."""
        return self.min_batch_size is None and not self.dropout and self.colluding is None

    @property
    def sending(self) -> Fraction:
        """Probability with which each other user sends a message."""
        return 1 - (self.dropout or Fraction(0))

    @property
    def fewest(self) -> int:
        """Smallest number of users of whom one does not collude."""
        colluding = self.colluding or 0
        return colluding + 1 if isinstance(colluding, int) else math.ceil(1 / (1 - colluding))

    @property
    def without_randomizer(self) -> Group:
        """The same group with its randomizer and its number of users left open."""
        return replace(self, randomizer=None, count=None)

    def colluders(self, n: int) -> int:
        """Number of colluding users among n."""
        n = check_n(n)
        if isinstance(self.colluding, Fraction):
            return -(-self.colluding.numerator * n // self.colluding.denominator)
        return self.colluding or 0

    def honest(self, n: int) -> int:
        """Number of users among n who do not collude, at least 1."""
        n = check_n(n)
        left = n - self.colluders(n)
        if left < 1:
            raise InputError("colluding", self.colluding, f"at most {n - 1} of {counted(n, 'user')}: one is honest")
        return left

    @property
    def is_random(self) -> bool:
        """Whether the number of users who send is random."""
        return self.dropout is not None

    def smallest(self, n: int) -> int:
        """Smallest number of users among n who send if none drops out, those who collude included."""
        return n if self.min_batch_size is None else self.min_batch_size

    def simplified(self, n: int) -> Group:
        """The same among n users: a smallest batch of all of them is none."""
        return replace(self, min_batch_size=None) if self.min_batch_size == n else self

    def recounted(self, users: int, planned: int) -> Group:
        """The same with another number of users than was planned, of whom no fewer send."""
        least = self.min_batch_size
        if users != planned and not self.is_random and self.smallest(planned) < users:
            least = self.smallest(planned)
        elif least is not None and least >= users:
            least = None
        return replace(self, count=users, min_batch_size=least)

    def messages(self, n: int) -> int:
        """Smallest number of honest messages of n users if none drops out."""
        if self.min_batch_size is None and self.colluding is None:
            return n
        honest = self.honest(n)
        if self.min_batch_size is None:
            return honest
        return min(max(self.min_batch_size - self.colluders(n), 1), honest)

    @property
    def sending_words(self) -> str:
        """Who sends, in words; empty where all users do and none colludes."""
        said = "" if self.min_batch_size is None else f" of at least {counted(self.min_batch_size, 'message')}"
        said += f", each other user dropping out with probability {self.dropout}" if self.dropout else ""
        return said + (f", where {self.collusion}" if self.colluding else "")

    def check(self, n: int | None) -> None:
        """Compare the fields with a number of users; None where that is what is asked for."""
        if n is not None:
            n = check_n(n)
            as_integer(self.min_batch_size or 1, "min_batch_size", 1, n)
            self.honest(n)
        elif self.min_batch_size is not None:
            expected = "none where the number of users is asked for, which is the answer"
            raise InputError("min_batch_size", self.min_batch_size, expected)

    def check_fixed_number(self, reason: str, otherwise: str) -> None:
        """Refuse a group of which others drop out at random, with what else may be asked."""
        if self.dropout:
            raise InputError("dropout", self.dropout, f"none {reason}; give min_batch_size, or {otherwise}")

    def check_all_send(self, expected: str, place: str = "", *, at_random: bool = False) -> None:
        """Refuse a group of which some may not send, for any reason or but ``at_random``."""
        for name in ("min_batch_size",) if at_random else ("dropout", "min_batch_size"):
            if getattr(self, name) is not None:
                raise InputError(f"{place}{name}", getattr(self, name), expected)

    def expected(self, n: int) -> float:
        """About how many honest messages there are: no bound, it tells where to look."""
        messages = self.messages(n)
        return float(1 + (messages - 1) * self.sending) if self.dropout else float(messages)

    @property
    def claims(self) -> tuple[str, ...]:
        """Claims of the ledger on which the bound rests for who sends."""
        asked = {
            "claim symshuffle.more-users": self.min_batch_size,
            "claim symshuffle.dropout": self.dropout,
            "claim symshuffle.colluding-users": self.colluding,
        }
        return tuple(filter(asked.get, asked))

    @property
    def supposed(self) -> str:
        """What is supposed of who sends, and what it rests on; empty where all do and none colludes."""
        said = []
        if self.min_batch_size is not None:
            send = "sends" if self.min_batch_size == 1 else "send"
            said.append(
                f"at least {self.min_batch_size} of them {send} a message: the bound never rises with the number of "
                "messages (claim symshuffle.more-users), honest ones counted only"
            )
        if self.dropout is not None:
            said.append(
                f"each other user drops out independently with probability {self.dropout}, whatever the inputs, and "
                "the number of messages is public: a mean over it (claim symshuffle.dropout)"
            )
        if self.colluding is not None:
            said.append(
                f"{self.collusion}: their messages are known and are not counted (claim symshuffle.colluding-users)"
            )
        return "; ".join(said)

    @property
    def collusion(self) -> str:
        """Who colludes, in words; empty where none does."""
        if self.colluding is None:
            return ""
        if isinstance(self.colluding, Fraction):
            return f"a share of {self.colluding} of the users, rounded up, colludes"
        return f"{counted(self.colluding, 'user')} {'colludes' if self.colluding == 1 else 'collude'}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the fields that are set, but for the randomizer."""
        found: dict[str, Any] = {}
        for name in ("count", "min_batch_size", "dropout", "colluding"):
            value = getattr(self, name)
            if value is not None:
                found[name] = str(value) if isinstance(value, Fraction) else value
        return found


def _read_colluding(value: object) -> int | Fraction | None:
    """A number of users, or a share below 1 as a fraction; None for 0."""
    expected = "a number of users, or a share in [0, 1) such as 10%"
    found = _read_share(ungrouped(value) if isinstance(value, str) else value, "colluding", expected)
    if found == 0:
        return None
    if found == 1 and (isinstance(value, float) or "." in str(value)):
        raise InputError("colluding", value, f"{expected}; 1 user is written without a point, and all is no share")
    if not _is_per_cent(value) and found.denominator == 1 and 1 <= found <= _MOST:
        return int(found)
    if not 0 < found < 1:
        raise InputError("colluding", value, expected)
    return found


def _is_per_cent(value: object) -> bool:
    return isinstance(value, str) and value.rstrip().endswith("%")


def _read_share(value: Any, argument: str, expected: str) -> Fraction:
    """A number, or text in per cent."""
    try:
        return parse_rational(value.rstrip()[:-1], "") / 100 if _is_per_cent(value) else parse_rational(value, "")
    except InputError:
        raise InputError(argument, value, expected) from None


EVERYBODY: Final = Group()
"""All users send, and none colludes."""


def assumed_of(groups: Sequence[Group]) -> list[tuple[Assumption, str]]:
    """Return what is assumed of who sends, of several batches together, each with a detail.

    - ``groups``: the group of each batch; where they differ, each is named elsewhere.
    """
    first, alike = groups[0], len(set(groups)) == 1
    asked = {
        Assumption.ENOUGH_USERS: ("min_batch_size", f"at least {first.min_batch_size} send"),
        Assumption.DROPOUT: ("dropout", f"probability {first.dropout} for each other user"),
        Assumption.COLLUDING: ("colluding", first.collusion),
    }
    found = []
    for named, (name, detail) in asked.items():
        if any(map(attrgetter(name), groups)):
            found.append((named, detail if alike else "as named above"))
    return found
