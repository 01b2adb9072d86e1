"""Output classes: the outputs that a mechanism treats alike, as data.

An output partitions the inputs by the probability with which they send it: each input is in one of a few *states*. A
class is the set of outputs with the same states, and says how many inputs are in each.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.mechanisms.members import arrangements


@final
@dataclass(frozen=True, slots=True)
class State:
    """One of the possible states of an input, seen from an output of a class.

    Parameters
    ----------
    name : str
        A word such as ``hit``.
    count : sympy.Expr
        Number of inputs in this state, for each output of the class.
    probability : sympy.Expr
        Probability of the output at such an input.
    """

    name: str
    count: sp.Expr
    probability: sp.Expr


@final
@dataclass(frozen=True, slots=True)
class OutputClass:
    """Class of outputs whose probabilities depend on the input in the same way.

    Parameters
    ----------
    name : str
        A word such as ``symbol``.
    size : sympy.Expr
        Number of outputs in the class, each counted with its weight.
    states : tuple of State
        The states of the inputs; their counts sum to the number of inputs.
    pair_counts : tuple of (int, int, sympy.Expr), optional
        ``(i, j, c)``: for ``c`` outputs the first input of the pair is in state ``i`` and the second in state ``j``.
        Default: the class is pair-homogeneous, every ordered pair of inputs meets the states equally often.
        Construction of a mechanism compares both with ``members``.
    members : callable, optional
        From integer parameter values to the outputs, each as the state indices of all inputs and a weight that
        multiplies the probabilities of its states. Default: all arrangements of the states over the inputs, of
        weight 1.
    number : sympy.Expr, optional
        Number of outputs, where their weights are not 1.
    triple_counts : tuple of (int, int, int, sympy.Expr), optional
        As ``pair_counts``, for three distinct inputs, where the class can say.
    """

    name: str
    size: sp.Expr
    states: tuple[State, ...]
    pair_counts: tuple[tuple[int, int, sp.Expr], ...] | None = None
    members: Callable[[Mapping[str, int]], Iterable[tuple[tuple[int, ...], sp.Expr]]] | None = None
    number: sp.Expr | None = None
    triple_counts: tuple[tuple[int, int, int, sp.Expr], ...] | None = None

    def knows(self, number: int) -> bool:
        """Whether the class counts the states of ``number`` distinct inputs."""
        return number < 3 or self.triple_counts is not None or (self.pair_counts is None and self.members is None)

    def counts(self, inputs: sp.Expr, number: int) -> tuple[tuple[tuple[int, ...], sp.Expr], ...] | None:
        """States of distinct inputs and weighted numbers of outputs; None if unknown.

        For a homogeneous class double counting gives
        :math:`N n_i (n_j - [i=j]) (n_l - [i=l] - [j=l]) / (k (k-1) (k-2))` outputs, and so on, where :math:`N` is the
        size and :math:`n_i` the number of inputs in state :math:`i`.

        Parameters
        ----------
        inputs : sympy.Expr
            Number of inputs of the mechanism.
        number : {1, 2, 3}
            How many distinct inputs are looked at.
        """
        if not self.knows(number):
            return None
        listed: Any = {1: None, 2: self.pair_counts, 3: self.triple_counts}[number]
        if listed is not None:
            return tuple((tuple(states), count) for *states, count in listed)
        places = range(len(self.states))
        if number == 1 and self.pair_counts is not None:
            pairs = self.pair_counts
            return tuple(((i,), sp.Add(*(count for first, _, count in pairs if first == i))) for i in places)
        found = []
        for shown in itertools.product(places, repeat=number):
            count = self.size
            for m, i in enumerate(shown):
                count = count * (self.states[i].count - shown[:m].count(i)) / (inputs - m)
            found.append((shown, count))
        return tuple(found)

    def shown(self, inputs: sp.Expr, roles: Sequence[int]) -> Iterator[tuple[tuple[sp.Expr, ...], sp.Expr]]:
        """Probabilities at some inputs, with the number of outputs that show them.

        Parameters
        ----------
        inputs : sympy.Expr
            Number of inputs of the mechanism.
        roles : sequence of int
            One number per input, counted from 0; equal numbers stand for one and the same input.

        Raises
        ------
        Unsupported
            If the class cannot count so many distinct inputs.
        """
        counted = self.counts(inputs, max(roles) + 1)
        if counted is None:
            raise Unsupported(f"class {self.name} does not count the states of {max(roles) + 1} inputs")
        for states, count in counted:
            yield tuple(self.states[states[role]].probability for role in roles), count

    def substituted(self, fix: Callable[[sp.Expr], sp.Expr]) -> OutputClass:
        """The class with every expression replaced by ``fix`` of it."""

        def patterns(counts: Any) -> Any:  # state indices, and last the count itself
            return None if counts is None else tuple((*states, fix(count)) for *states, count in counts)

        return replace(
            self,
            size=fix(self.size),
            number=None if self.number is None else fix(self.number),
            states=tuple(State(s.name, fix(s.count), fix(s.probability)) for s in self.states),
            pair_counts=patterns(self.pair_counts),
            triple_counts=patterns(self.triple_counts),
        )

    def at_pair(self, first: int, second: int) -> OutputClass:
        """A class of listed outputs, its pairs counted at two given inputs."""
        found: dict[tuple[int, int], sp.Expr] = {}
        for states, weight in self.outputs({}):
            shown = states[first], states[second]
            found[shown] = found.get(shown, sp.Integer(0)) + weight
        return replace(self, pair_counts=tuple((i, j, count) for (i, j), count in found.items()))

    def outputs(self, values: Mapping[str, int]) -> Iterator[tuple[tuple[int, ...], sp.Expr]]:
        """Outputs of the class at fixed parameters.

        Each is the state index of every input, and the weight of the output.
        """
        if self.members is not None:
            yield from self.members(values)
            return
        counts = [int(sp.Integer(state.count)) for state in self.states]
        yield from ((states, sp.Integer(1)) for states in arrangements(counts))


@final
class Placed(Sequence[OutputClass]):
    """Output classes with every expression replaced by ``fix`` of it, made when one is looked at.

    A mechanism whose laws come from a general form is put at many values, at each of which nobody looks.
    """

    __slots__ = ("_classes", "_fix", "_known", "_made")

    def __init__(
        self,
        classes: Sequence[OutputClass],
        known: tuple[tuple[sp.Symbol, sp.Expr], ...],
        fix: Callable[[sp.Expr, dict[sp.Symbol, sp.Expr]], sp.Expr],
    ) -> None:
        self._classes, self._known, self._fix = classes, known, fix
        self._made: tuple[OutputClass, ...] | None = None

    def _all(self) -> tuple[OutputClass, ...]:
        if self._made is None:
            known = dict(self._known)
            self._made = tuple(c.substituted(lambda e: self._fix(sp.sympify(e), known)) for c in self._classes)
        return self._made

    def __getitem__(self, place: Any) -> Any:
        return self._all()[place]

    def __len__(self) -> int:
        return len(self._classes)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Placed) and other._classes is self._classes and other._known == self._known:
            return True
        return isinstance(other, Placed | tuple) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


def all_arrangements(name: str, inputs: sp.Expr, states: tuple[State, ...]) -> OutputClass:
    """The class that has one output for every way to distribute the states over the inputs.

    - ``states``: its states, whose counts sum to the number of inputs.
    """
    size, free = sp.Integer(1), inputs
    for state in states[:-1]:
        size, free = size * sp.binomial(free, state.count), free - state.count
    return OutputClass(name, size, states)


def explicit_output(y: int, column: Sequence[sp.Expr]) -> OutputClass:
    """One output as a class of its own; inputs with the same probability share a state. It counts no pair yet."""
    probabilities = list(dict.fromkeys(column))
    of_input = tuple(probabilities.index(entry) for entry in column)
    states = tuple(
        State(f"p{i}", sp.Integer(of_input.count(i)), probability) for i, probability in enumerate(probabilities)
    )
    return OutputClass(f"y{y}", sp.Integer(1), states, (), _Listed(of_input))


@final
@dataclass(frozen=True, slots=True)
class _Listed:
    """The one output of a class, by the states of all inputs."""

    states: tuple[int, ...]

    def __call__(self, values: Mapping[str, int]) -> list[tuple[tuple[int, ...], sp.Expr]]:
        return [(self.states, sp.Integer(1))]
