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


@final
@dataclass(frozen=True, slots=True)
class State:
    """One way in which an input can relate to an output of a class.

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
    """Outputs that a mechanism treats alike.

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

    def pairs(self, inputs: sp.Expr) -> Iterator[tuple[State, State, sp.Expr]]:
        r"""States of an ordered pair of distinct inputs, with the number of outputs that show them.

        For a pair-homogeneous class double counting gives :math:`N n_i (n_j - [i=j]) / (k (k-1))` outputs, where
        :math:`N` is the size and :math:`n_i` the number of inputs in state :math:`i`.
        """
        if self.pair_counts is not None:
            for i, j, count in self.pair_counts:
                yield self.states[i], self.states[j], count
            return
        for first, second in itertools.product(self.states, repeat=2):
            rest = second.count - 1 if first is second else second.count
            yield first, second, self.size * first.count * rest / (inputs * (inputs - 1))

    def triples(self, inputs: sp.Expr) -> Iterator[tuple[State, State, State, sp.Expr]] | None:
        """States of three distinct inputs, with the number of outputs that show them; None if that is not known."""
        if self.triple_counts is not None:
            return ((self.states[i], self.states[j], self.states[m], c) for i, j, m, c in self.triple_counts)
        if self.pair_counts is not None or self.members is not None:
            return None
        return (
            (first, second, third, count * (third.count - int(third is first) - int(third is second)) / (inputs - 2))
            for first, second, count in self.pairs(inputs)
            for third in self.states
        )

    def singles(self, inputs: sp.Expr) -> Iterator[tuple[State, sp.Expr]]:
        """States of one input, with the weighted number of outputs that show them."""
        if self.pair_counts is None:
            yield from ((state, self.size * state.count / inputs) for state in self.states)
            return
        for i, state in enumerate(self.states):
            yield state, sp.Add(*(count for first, _, count in self.pair_counts if first == i))

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

    def outputs(self, values: Mapping[str, int]) -> Iterator[tuple[tuple[int, ...], sp.Expr]]:
        """All outputs of the class at fixed parameters: the state index of every input, and the output's weight."""
        if self.members is not None:
            yield from self.members(values)
            return
        counts = [int(sp.Integer(state.count)) for state in self.states]
        yield from ((states, sp.Integer(1)) for states in _arrangements(counts))


def _arrangements(counts: Sequence[int], first: int = 0) -> Iterator[tuple[int, ...]]:
    """All sequences with ``counts[i]`` entries equal to ``first + i``, in lexicographic order."""
    total = sum(counts)
    if len(counts) == 1:
        yield (first,) * total
        return
    for chosen in itertools.combinations(range(total), counts[0]):
        others = [place for place in range(total) if place not in set(chosen)]
        for rest in _arrangements(counts[1:], first + 1):
            states = [first] * total
            for place, state in zip(others, rest, strict=True):
                states[place] = state
            yield tuple(states)


def all_arrangements(name: str, inputs: sp.Expr, states: tuple[State, ...]) -> OutputClass:
    """The class that has one output for every way to distribute the states over the inputs."""
    size, free = sp.Integer(1), inputs
    for state in states[:-1]:
        size, free = size * sp.binomial(free, state.count), free - state.count
    return OutputClass(name, size, states)


def explicit_output(y: int, column: Sequence[sp.Expr], pair: tuple[int, int]) -> OutputClass:
    """One output as a class of its own; inputs with the same probability share a state."""
    probabilities = list(dict.fromkeys(column))
    of_input = tuple(probabilities.index(entry) for entry in column)
    states = tuple(
        State(f"p{i}", sp.Integer(of_input.count(i)), probability) for i, probability in enumerate(probabilities)
    )
    shown = ((of_input[pair[0]], of_input[pair[1]], sp.Integer(1)),)
    return OutputClass(f"y{y}", sp.Integer(1), states, shown, lambda values: [(of_input, sp.Integer(1))])
