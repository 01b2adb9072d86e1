"""Output classes: the outputs that a mechanism treats alike, as data.

An output partitions the inputs by the probability with which they send it: each input is in one of a few *states*. A
class is the set of outputs with the same states, and says how many inputs are in each. Numbers may be of any kind:
expressions of SymPy in a mechanism, rationals, balls and quotients of polynomials where laws are counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

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
    count : number or sympy.Expr
        Number of inputs in this state, for each output of the class.
    probability : number or sympy.Expr
        Probability of the output at such an input.
    power : int or None
        Of a named randomizer: the exponent of the ratio cap in the probability, against the last state of the class;
        None where the probability is 0.
    """

    name: str
    count: Any
    probability: Any
    power: int | None = 0


@final
@dataclass(frozen=True, slots=True)
class OutputClass:
    """Class of outputs whose probabilities depend on the input in the same way.

    Parameters
    ----------
    name : str
        A word such as ``symbol``.
    size : number or sympy.Expr
        Number of outputs in the class, each counted with its weight.
    states : tuple of State
        The states of the inputs; their counts sum to the number of inputs.
    pair_counts : tuple of (int, int, number), optional
        ``(i, j, c)``: for ``c`` outputs the first input of the pair is in state ``i`` and the second in state ``j``.
        Default: the class is pair-homogeneous, every ordered pair of inputs meets the states equally often.
        Construction of a mechanism compares both with ``members``.
    members : callable, optional
        From integer parameter values to the outputs, each as the state indices of all inputs and a weight that
        multiplies the probabilities of its states. Default: all arrangements of the states over the inputs, of
        weight 1.
    number : number or sympy.Expr, optional
        Number of outputs, where their weights are not 1.
    triple_counts : tuple of (int, int, int, number), optional
        As ``pair_counts``, for three distinct inputs, where the class can say.
    """

    name: str
    size: Any
    states: tuple[State, ...]
    pair_counts: tuple[tuple[int, int, Any], ...] | None = None
    members: Callable[[Mapping[str, int]], Iterable[tuple[tuple[int, ...], Any]]] | None = None
    number: Any | None = None
    triple_counts: tuple[tuple[int, int, int, Any], ...] | None = None

    def knows(self, number: int) -> bool:
        """Whether the class counts the states of ``number`` distinct inputs."""
        return number < 3 or self.triple_counts is not None or (self.pair_counts is None and self.members is None)

    def counts(self, inputs: Any, number: int) -> tuple[tuple[tuple[int, ...], Any], ...] | None:
        """States of distinct inputs and weighted numbers of outputs; None if unknown.

        For a homogeneous class double counting gives
        :math:`N n_i (n_j - [i=j]) (n_l - [i=l] - [j=l]) / (k (k-1) (k-2))` outputs, and so on, where :math:`N` is the
        size and :math:`n_i` the number of inputs in state :math:`i`.

        Parameters
        ----------
        inputs : number or sympy.Expr
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
            return tuple(((i,), sum(count for first, _, count in pairs if first == i)) for i in places)
        if len(places) == 1:
            return (((0,) * number, self.size),)
        found = []
        for shown in itertools.product(places, repeat=number):
            count = self.size
            for m, i in enumerate(shown):
                count = count * (self.states[i].count - shown[:m].count(i)) / (inputs - m)
            found.append((shown, count))
        return tuple(found)

    def shown(self, inputs: Any, roles: Sequence[int]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Probabilities at some inputs, with the number of outputs that show them.

        Parameters
        ----------
        inputs : number or sympy.Expr
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

    def substituted(self, fix: Callable[[Any], Any]) -> OutputClass:
        """The class with every expression replaced by ``fix`` of it."""

        def patterns(counts: Any) -> Any:  # state indices, and last the count itself
            return None if counts is None else tuple((*states, fix(count)) for *states, count in counts)

        return replace(
            self,
            size=fix(self.size),
            number=None if self.number is None else fix(self.number),
            states=tuple(State(s.name, fix(s.count), fix(s.probability), s.power) for s in self.states),
            pair_counts=patterns(self.pair_counts),
            triple_counts=patterns(self.triple_counts),
        )

    def at_pair(self, first: int, second: int) -> OutputClass:
        """A class of listed outputs, its pairs counted at two given inputs."""
        found: dict[tuple[int, int], Any] = {}
        for states, weight in self.outputs({}):
            shown = states[first], states[second]
            found[shown] = found.get(shown, 0) + weight
        return replace(self, pair_counts=tuple((i, j, count) for (i, j), count in found.items()))

    def outputs(self, values: Mapping[str, int]) -> Iterator[tuple[tuple[int, ...], Any]]:
        """Outputs of the class at fixed parameters.

        Each is the state index of every input, and the weight of the output.
        """
        if self.members is not None:
            yield from self.members(values)
            return
        counts = [int(state.count) for state in self.states]
        yield from ((states, 1) for states in arrangements(counts))
