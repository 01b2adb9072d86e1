"""How a mechanism is built at k inputs, and which of its parameters are then free.

Nothing is listed by name: the registry has the mechanisms, and a mechanism knows its parameters. The one on which the
number of inputs depends is the *size*; it takes the smallest value with at least k inputs, of which k are used.
``lam`` is matched. What tells pairs of inputs apart stays open, so that bounds cover all of them. The rest is free.

Every mechanism with a budget and all pairs of inputs alike is also tried *thinned*: with probability ``1 - p`` it sends
a null symbol that says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import as_integer
from symshuffle.decompositions.closed_forms import ClosedForm, table
from symshuffle.mechanisms.finite import P
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import MECHANISMS, SHARE, THINNED, check_thinnable, mechanism, thinned
from symshuffle.mechanisms.symbolic import LAM, LARGEST_PARAMETER, Parameter
from symshuffle.utility.estimation.votes import is_alike


@final
@dataclass(frozen=True, slots=True)
class Family:
    """A mechanism at k inputs, with its free parameters.

    Parameters
    ----------
    name : str
        As in the registry, after ``thinned`` for one that is run with probability ``p`` only.
    general : Mechanism
        All parameters open, without the null symbol: closed forms are derived from it, once for every ``k``.
    thin : bool
        Whether a null symbol is sent with probability ``1 - p``.
    size : sympy.Symbol or None
        The parameter on which the number of inputs depends.
    at_size : int or None
        Its value.
    inputs : int
        Number of inputs in use.
    """

    name: str
    general: Mechanism
    thin: bool
    size: sp.Symbol | None
    at_size: int | None
    inputs: int

    @property
    def has_budget(self) -> bool:
        """Whether there is a ratio cap to be matched."""
        return any(parameter.symbol == LAM for parameter in self.general.parameters)

    @property
    def free(self) -> tuple[Parameter, ...]:
        """Parameters to choose at a match."""
        fixed = {LAM, self.size, self.general.pair.by}
        open_ones = tuple(parameter for parameter in self.general.parameters if parameter.symbol not in fixed)
        return (*open_ones, SHARE) if self.thin else open_ones

    @property
    def all_inputs(self) -> int:
        """Number of inputs of the mechanism, of which :attr:`inputs` are used."""
        return int(self.general.inputs if self.size is None else self.general.inputs.subs(self.size, self.at_size))

    def at(self, *, lam: object = None, eps0: object = None, **values: object) -> Mechanism:
        """The mechanism with its size, budget and free parameters fixed."""
        sized: dict[str, Any] = {} if self.size is None else {str(self.size): self.at_size}
        whole = self.general
        if self.thin and values["p"] != 1:
            whole = thinned(self.general.name)
        elif self.thin:
            values = {name: value for name, value in values.items() if name != "p"}
        found = whole.at(lam=lam, eps0=eps0, **sized, **values)
        if len(found.parameters) == 1 and found.parameters[0].lower == found.parameters[0].upper:
            return found.at(**{found.parameters[0].name: found.parameters[0].lower})  # one class of pairs only
        return found

    def source(self, *, lam: object = None, eps0: object = None, **values: object) -> ClosedForm | Mechanism:
        """The same for its privacy only: by its closed form where one is on file, which takes no algebra."""
        thin = self.thin and values["p"] != 1
        known = {} if self.size is None else {str(self.size): str(self.at_size)}
        known |= {name: str(value) for name, value in values.items() if name != "p" or thin or not self.thin}
        name, budget = (self.name if thin else self.general.name), read_budget(lam=lam, eps0=eps0)
        if name not in table() or budget is None:
            return self.at(lam=lam, eps0=eps0, **values)
        kinds = ClosedForm(name, tuple(known.items()), budget).kinds
        return kinds[0] if len(kinds) == 1 else ClosedForm(name, tuple(known.items()), budget)

    def free_range(self, parameter: Parameter) -> tuple[float, float]:
        """The range of a free parameter at this size; infinity where it has no upper end."""
        known = {} if self.size is None else {self.size: sp.Integer(self.at_size)}
        upper = None if parameter.upper is None else parameter.upper.subs(known)
        return float(parameter.lower.subs(known)), float("inf") if upper is None else float(upper)


def family(name: str, k: int) -> Family:
    """The mechanism of this name at k inputs.

    Raises
    ------
    InputError
        If there is no mechanism of this name, or it has no such number of inputs.

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
    thin = name.startswith(THINNED)
    general: Any = mechanism(name.removeprefix(THINNED))
    if not isinstance(general, Mechanism):
        raise InputError("mechanisms", name, "mechanisms of finitely many outputs")
    if thin:
        check_thinnable(general)
    counted = sp.sympify(general.inputs).free_symbols
    if not counted:
        if int(general.inputs) != k:
            raise InputError("k", k, f"{general.inputs}, the number of inputs of {name}")
        return Family(name, general, thin, None, None, k)
    (size,) = counted
    (parameter,) = (p for p in general.parameters if p.symbol == size)
    value = _smallest_size(general.inputs, parameter, k)
    found = Family(name, general, thin, size, value, k)
    if found.all_inputs != k and not is_alike(general):
        kind = parameter.range if parameter.kind is None else parameter.kind.words
        raise InputError("k", k, f"{kind} for {name}, which treats pairs of inputs differently: none can be left out")
    return found


def _smallest_size(inputs: sp.Expr, parameter: Parameter, k: int) -> int:
    """The smallest value of the size at which a mechanism has at least k inputs."""
    lower = int(parameter.lower)
    value = max(lower, int(sp.solve(inputs - k, parameter.symbol)[0]))
    while True:  # powers of two at most twice as far
        if parameter.kind is None or parameter.kind.holds(value):
            return value
        value += 1


def names() -> tuple[str, ...]:
    """All mechanisms of the registry, and after them those that can be thinned and are not registered so themselves."""
    found = []
    for name in MECHANISMS:
        symbols = {parameter.symbol for parameter in mechanism(name).parameters}
        if LAM in symbols and P not in symbols and is_alike(mechanism(name)) and name not in _REGISTERED:
            found.append(THINNED + name)
    return (*MECHANISMS, *found)


_REGISTERED: Final = frozenset({"krr", "rr"})
"""Mechanisms whose thinned form has a name of its own, aug-rr."""
