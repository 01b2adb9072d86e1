"""How a mechanism is built at k inputs, and which of its parameters are then free.

Nothing is listed by name: the registry has the mechanisms, and a mechanism knows its parameters. The one on which the
number of inputs depends is the *size*; it takes the smallest value with at least k inputs, of which k are used.
``lam`` is matched. What tells pairs of inputs apart stays open, so that bounds cover all of them. The rest is free.

Every mechanism with a budget and all pairs of inputs alike is also tried *thinned*: with probability ``1 - p`` it sends
a null symbol that says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import as_integer
from symshuffle.base.numbers.readers import KINDS, LARGEST_PARAMETER
from symshuffle.decompositions.calculated import number_at
from symshuffle.decompositions.closed_forms import ClosedForm, table
from symshuffle.mechanisms.names import mechanism_name
from symshuffle.mechanisms.thin import THINNED

if TYPE_CHECKING:  # what is on file needs no algebra
    from symshuffle.mechanisms.model import Mechanism

_BITS: Final = 64


@final
@dataclass(frozen=True, slots=True)
class Free:
    """A parameter to choose at a match.

    - ``integer``: whether it is an integer; else it is a share.
    - ``lower``, ``upper``: its range, in the other parameters; None for no upper end.
    """

    name: str
    integer: bool
    lower: str
    upper: str | None


SHARE_OF_MESSAGES: Final = Free("p", False, "0", "1")


@final
@dataclass(frozen=True, slots=True)
class Family:
    """A mechanism at k inputs, with its free parameters.

    - ``name``: as in the registry, after ``thinned`` for one that is run with probability ``p`` only.
    - ``thin``: whether a null symbol is sent with probability ``1 - p``.
    """

    name: str
    base: str
    thin: bool
    size: str | None
    at_size: int | None
    inputs: int

    @property
    def form(self) -> dict[str, Any]:
        """What is on file of the mechanism without the null symbol."""
        found: dict[str, Any] = table()[self.base]
        return found

    @property
    def general(self) -> Mechanism:
        """All parameters open, without the null symbol."""
        from symshuffle.mechanisms.registry import mechanism

        return mechanism(self.base)

    @property
    def alike(self) -> bool:
        """Whether the mechanism treats all pairs of inputs alike."""
        return self.form["by"] is None

    @property
    def has_budget(self) -> bool:
        """Whether there is a ratio cap to be matched."""
        return bool(self.form["budget"])

    @property
    def free(self) -> tuple[Free, ...]:
        """Parameters to choose at a match."""
        fixed = {self.size, self.form["by"]}
        open_ones = tuple(
            Free(p["name"], p["integer"], p["lower"], p["upper"])
            for p in self.form["parameters"]
            if p["name"] not in fixed
        )
        return (*open_ones, SHARE_OF_MESSAGES) if self.thin else open_ones

    @property
    def sized(self) -> dict[str, Fraction]:
        """The size, by name, where there is one."""
        return {} if self.size is None or self.at_size is None else {self.size: Fraction(self.at_size)}

    @property
    def all_inputs(self) -> int:
        """Number of inputs of the mechanism, of which :attr:`inputs` are used."""
        return int(self.number(self.form["inputs"]))

    def number(self, text: str) -> Fraction:
        """The rational that a text denotes at this size."""
        found = number_at(text, self.sized, _BITS)
        assert isinstance(found, Fraction)
        return found

    def at(self, *, lam: object = None, eps0: object = None, **values: object) -> Mechanism:
        """The mechanism with its size, budget and free parameters fixed."""
        from symshuffle.mechanisms.registry import thinned

        sized: dict[str, Any] = {} if self.size is None else {self.size: self.at_size}
        whole = self.general
        if self.thin and values["p"] != 1:
            whole = thinned(self.base)
        elif self.thin:
            values = {name: value for name, value in values.items() if name != "p"}
        found = whole.at(lam=lam, eps0=eps0, **sized, **values)
        if len(found.parameters) == 1 and found.parameters[0].lower == found.parameters[0].upper:
            return found.at(**{found.parameters[0].name: found.parameters[0].lower})  # one class of pairs only
        return found

    def source(self, *, lam: object = None, eps0: object = None, **values: object) -> ClosedForm | Mechanism:
        """The same for its privacy only: by its closed form where one is on file, which takes no algebra."""
        thin = self.thin and values["p"] != 1
        known = {name: str(value) for name, value in self.sized.items()}
        known |= {name: str(value) for name, value in values.items() if name != "p" or thin or not self.thin}
        name, budget = (self.name if thin else self.base), read_budget(lam=lam, eps0=eps0)
        if name not in table() or budget is None:
            return self.at(lam=lam, eps0=eps0, **values)
        kinds = ClosedForm(name, tuple(known.items()), budget).kinds
        return kinds[0] if len(kinds) == 1 else ClosedForm(name, tuple(known.items()), budget)

    def free_range(self, parameter: Free) -> tuple[float, float]:
        """The range of a free parameter at this size; infinity where it has no upper end."""
        upper = parameter.upper
        return float(self.number(parameter.lower)), float("inf") if upper is None else float(self.number(upper))


def family_name(name: str) -> str:
    """Return the name that rows have for a name or a synonym, thinned or not."""
    base = mechanism_name(name.removeprefix(THINNED))
    return THINNED + base if name.startswith(THINNED) else base


def family(name: str, k: int) -> Family:
    """The mechanism of this name at k inputs.

    Examples
    --------
    >>> found = family("hadamard", 20)
    >>> found.all_inputs, found.inputs
    (31, 20)
    >>> [parameter.name for parameter in family("thinned subset-selection", 20).free]
    ['s', 'p']
    """
    k = as_integer(k, "k", 2, LARGEST_PARAMETER)
    asked: Any = name  # callers are not type-checked
    if not isinstance(asked, str):
        raise InputError("mechanisms", asked, "names, as in symshuffle.compare(..., mechanisms=['krr'])")
    thin, name = name.startswith(THINNED), family_name(name)
    base = name.removeprefix(THINNED)
    _check_name(name, base, thin)
    found = Family(name, base, thin, None, None, k)
    inputs = found.form["inputs"]
    size = next((p for p in found.form["parameters"] if p["name"] in inputs), None)
    if size is None:
        if found.all_inputs != k:
            raise InputError("k", k, f"{found.all_inputs}, the number of inputs of {name}")
        return found
    found = Family(name, base, thin, size["name"], _smallest_size(inputs, size, k), k)
    if found.all_inputs != k and not found.alike:
        raise InputError(
            "k", k, f"{size['kind']} for {name}, which treats pairs of inputs differently: none can be left out"
        )
    return found


def _check_name(name: str, base: str, thin: bool) -> None:
    """Refuse what has no name, outputs without end, and what is not thinned."""
    if base in table() and (not thin or name in table()):
        return
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.mechanisms.registry import check_thinnable, mechanism

    general: Any = mechanism(base)
    if not isinstance(general, Mechanism):
        raise InputError("mechanisms", name, "mechanisms of finitely many outputs")
    if thin:
        check_thinnable(general)
    if base not in table():
        raise InputError("mechanisms", name, "a mechanism whose closed form is on file: run `make pages`")


def _smallest_size(inputs: str, parameter: dict[str, Any], k: int) -> int:
    """The smallest value of the size at which a mechanism has at least k inputs, whose number grows by one with it."""
    name, kind = parameter["name"], parameter["kind"]
    at_zero = number_at(inputs, {name: Fraction(0)}, _BITS)
    lower = number_at(parameter["lower"], {}, _BITS)
    assert isinstance(at_zero, Fraction) and isinstance(lower, Fraction)
    value = max(int(lower), int(k - at_zero))
    while kind is not None and not KINDS[kind](value):  # powers of two at most twice as far
        value += 1
    return value


def names() -> tuple[str, ...]:
    """All mechanisms of the registry, and after them those that can be thinned and are not registered so themselves."""
    from symshuffle.mechanisms.finite import P
    from symshuffle.mechanisms.registry import MECHANISMS, mechanism
    from symshuffle.mechanisms.symbolic import LAM
    from symshuffle.utility.estimation.votes import is_alike

    found = []
    for name in MECHANISMS:
        symbols = {parameter.symbol for parameter in mechanism(name).parameters}
        if LAM in symbols and P not in symbols and is_alike(mechanism(name)) and name not in _REGISTERED:
            found.append(THINNED + name)
    return (*MECHANISMS, *found)


def names_on_file() -> tuple[str, ...]:
    """The same, off the file of closed forms."""
    return tuple(table())


_REGISTERED: Final = frozenset({"krr", "rr"})
"""Mechanisms whose thinned form has a name of its own, aug-rr."""
