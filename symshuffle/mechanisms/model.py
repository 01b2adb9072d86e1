"""A mechanism as data: classes of outputs that it treats alike.

An output partitions the inputs by the probability with which they send it. A mechanism with exchangeable inputs is
therefore a short list of *output classes*, each given by the *states* that inputs can be in, how many inputs are in
each, and the probability of the output in that state. For k-ary randomized response there is one class: an output
is *hit* by one input, with probability lam/(lam + k - 1), and *missed* by k - 1 inputs, with probability
1/(lam + k - 1).

Everything else is derived from this one description: the explicit channel for small k, the closed forms for symbolic
k (by counting, :mod:`symshuffle.decompositions.symbolic`), and all exact, ball and float numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, final

import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import ungrouped
from symshuffle.channels.channel import LARGEST_CHANNEL, Channel
from symshuffle.mechanisms.counted import check_definition, check_sizes, total_probability
from symshuffle.mechanisms.display import class_table
from symshuffle.mechanisms.given import (
    LAM_PARAMETER,
    Placed,
    check_symbols,
    explicit_output,
    placed,
    read_matrix,
    read_states,
)
from symshuffle.mechanisms.names import named_parameters, unknown_parameter
from symshuffle.mechanisms.outputs import OutputClass
from symshuffle.mechanisms.pairs import ALIKE, Pairs
from symshuffle.mechanisms.symbolic import Parameter, chart, evaluate, rebuilt


@final
@dataclass(frozen=True, slots=True)
class Mechanism:
    """Local randomizer with symbolic parameters, written once.

    Parameters
    ----------
    name : str
        Name on the command line.
    title : str
        The field's name for it.
    inputs : sympy.Expr
        Number of inputs.
    classes : sequence of OutputClass
        Its outputs; where parameters have values, the classes are computed when one is read.
    parameters : tuple of Parameter
        Open parameters in order, ``lam`` first where the mechanism has one.
    pair : Pairs
        Pairs of inputs to which the pair counts apply.
    source : str
        Where the mechanism is defined.
    values : tuple of (str, object)
        Parameters that have been given values, as given.
    fixed : tuple of (sympy.Symbol, sympy.Expr)
        The same parameters as symbols and constants.
    general : Mechanism or None
        The mechanism as it was before any parameter was given a value.

    Raises
    ------
    InputError
        If the state counts of a class do not sum to the number of inputs, or the probabilities do not sum to 1 on
        average over the inputs or, where a class counts pairs itself, at either input of the pair; or if its counts are
        not those of its outputs, listed at the smallest admissible sizes.
    """

    name: str
    title: str
    inputs: sp.Expr
    classes: Sequence[OutputClass]
    parameters: tuple[Parameter, ...]
    pair: Pairs = ALIKE
    source: str = ""
    values: tuple[tuple[str, object], ...] = field(default=())
    fixed: tuple[tuple[sp.Symbol, sp.Expr], ...] = field(default=(), repr=False)
    general: Mechanism | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.values:
            return  # a specialisation of a mechanism that has been checked
        object.__setattr__(self, "inputs", rebuilt(self.inputs))
        object.__setattr__(
            self, "classes", tuple(c.substituted(lambda e: rebuilt(sp.sympify(e))) for c in self.classes)
        )
        check_definition(tuple(self.classes), self.inputs, tuple(self.parameters), self.pair)

    def __hash__(self) -> int:
        """Of what tells mechanisms apart: the classes at some values, which nobody may have asked for, are not made."""
        defined = self.classes if self.general is None else self.general
        return hash((self.name, defined, self.pair, self.fixed))

    def total_probability(self) -> sp.Expr:
        """Sum of the output probabilities, averaged over the inputs."""
        return total_probability(self.classes, self.inputs)

    def at(self, *, eps0: object = None, lam: object = None, **values: object) -> Mechanism:
        """The mechanism with some parameters fixed.

        Parameters
        ----------
        eps0 : number or text, optional
            Local budget, at least 0; the same as ``lam = exp(eps0)``, kept exact. At 0 the mechanism is constant.
        lam : number, text or Exp, optional
            Local ratio cap ``exp(eps0)``, at least 1.
        **values
            The mechanism's own parameters, such as ``k=10``; its size may be called ``k`` or ``D``.

        Raises
        ------
        InputError
            If a name is unknown, a value is outside its range, or both ``eps0`` and ``lam`` are given.
        """
        from symshuffle.base.levels import read_budget

        names = {parameter.name: parameter for parameter in self.parameters}
        given: dict[str, object] = named_parameters(values, names)
        budget = read_budget(eps0=eps0, lam=lam, constant=True)
        if budget is not None:
            given["lam"] = budget
        for name, value in given.items():
            if name not in names:
                raise unknown_parameter(name, value, self.name, names)
        known: dict[sp.Symbol, sp.Expr] = {}
        for name, parameter in names.items():
            if name in given:
                text = given[name]
                given[name] = ungrouped(text) if parameter.integer and isinstance(text, str) else text
                known[parameter.symbol] = read = parameter.read(given[name], known)
                if read.is_Rational:
                    given[name] = Fraction(int(read.p), int(read.q))
        return self._substitute(known, tuple(given.items()))

    def with_defaults(self) -> Mechanism:
        """The mechanism with every open parameter that has a default set to it."""
        for parameter in self.parameters:
            if parameter.default is not None and not parameter.has_limit:
                # One at a time: the default of a later parameter may speak about this one.
                given = ((parameter.name, parameter.default),)
                return self._substitute({parameter.symbol: parameter.default}, given).with_defaults()
        return self

    def _substitute(self, known: Mapping[sp.Symbol, sp.Expr], given: tuple[tuple[str, object], ...]) -> Mechanism:
        def fix(expression: sp.Expr) -> sp.Expr:
            return placed(sp.sympify(expression), dict(known))

        parameters = tuple(
            replace(
                p,
                lower=fix(p.lower),
                upper=None if p.upper is None else fix(p.upper),
                default=None if p.default is None else fix(p.default),
            )
            for p in self.parameters
            if p.symbol not in known
        )
        generic = self.general or self
        if any(s.count.free_symbols & known.keys() for c in generic.classes if c.members is None for s in c.states):
            check_sizes(generic.classes, generic.inputs, {**dict(self.fixed), **known})
        pair = self.pair
        if pair.by in known:
            (told,) = (p for p in self.parameters if p.symbol == pair.by)
            pair = pair.at(known[pair.by], alone=told.upper is not None and fix(told.lower) == fix(told.upper))
        return replace(
            self,
            inputs=fix(self.inputs),
            classes=Placed(self.classes, tuple(known.items())),
            parameters=parameters,
            pair=pair,
            values=(*self.values, *given),
            fixed=(*self.fixed, *known.items()),
            general=self.general or self,
        )

    @property
    def needed(self) -> tuple[Parameter, ...]:
        """Open parameters that need a value.

        Parameters with a limit do not need one, nor does the parameter that distinguishes pairs of inputs.
        """
        return tuple(p for p in self.parameters if not p.has_limit and p.symbol != self.pair.by)

    @property
    def every_pair(self) -> bool:
        """Whether the counts hold for all pairs of inputs."""
        return self.pair.every

    def pair_classes(self) -> tuple[Mechanism, ...]:
        """Mechanism at each class of pairs of inputs that it distinguishes.

        Together the classes are all pairs that it covers.

        Examples
        --------
        >>> from symshuffle import randomizer
        >>> [str(one.pair) for one in randomizer("half-block", k=4).pair_classes()]
        ['two inputs at cyclic distance 2', 'two inputs at cyclic distance 1']
        """
        return tuple(self.at_pairs(kind) for kind in self.pair_kinds())

    def pair_kinds(self) -> tuple[Pairs, ...]:
        """Classes of pairs of inputs that the mechanism distinguishes; together they are all pairs that it covers.

        Raises
        ------
        InputError
            If the parameter that tells pairs apart has a range that depends on an open one.
        """
        return self.pair.kinds(self.parameters, self.inputs)

    def at_pairs(self, kind: Pairs) -> Mechanism:
        """Mechanism with its counts at one class of pairs."""
        if self.pair.listed:
            return self.comparing(*kind.listed[0])
        if self.pair.by is None or kind.value is None:
            return self
        return self.at(**{str(self.pair.by): int(kind.value)})

    def comparing(self, first: int, second: int) -> Mechanism:
        """The mechanism of listed pairs with its counts at one of them.

        Raises
        ------
        InputError
            If the mechanism is not given by its matrix, or the inputs are not two of its inputs.
        """
        if not self.pair.listed:
            raise InputError("pair", f"{first}, {second}", f"a mechanism given by its matrix, which {self.name} is not")
        inputs = int(self.inputs)
        for which, x in (("first", first), ("second", second)):
            if not 0 <= x < inputs:
                raise InputError(f"{which} of pair", x, f"an input from 0 to {inputs - 1}")
        if first == second:
            raise InputError("pair", f"{first}, {second}", "two different inputs")
        return replace(
            self,
            classes=tuple(c.at_pair(first, second) for c in self.classes),
            pair=Pairs.only(first, second, inputs),
            general=None if self.general is None else self.general.comparing(first, second),
        )

    def input_pairs(self) -> tuple[tuple[int, int], ...]:
        """Ordered pairs of inputs to which :attr:`pair` applies."""
        integers = {str(symbol): int(value) for symbol, value in self.fixed if value.is_Integer}
        return self.pair.ordered(int(self.inputs), integers)

    @property
    def chart(self) -> dict[sp.Symbol, sp.Expr]:
        """Open parameters as functions of non-negative variables, one for each."""
        return chart(self.parameters)

    @property
    def num_outputs(self) -> sp.Expr:
        """Number of outputs, as an expression in the open parameters."""
        return sp.sympify(sum(c.size if c.number is None else c.number for c in self.classes))

    def symbolic_rows(self) -> tuple[tuple[sp.Expr, ...], ...]:
        """Channel matrix for a fixed number of inputs, in the open parameters.

        Raises
        ------
        InputError
            If the shape depends on an open parameter.
        Unsupported
            If the matrix would have more than ``LARGEST_CHANNEL`` entries.
        """
        shape = sp.sympify(self.inputs), self.num_outputs
        if any(extent.free_symbols for extent in shape):
            raise InputError("parameters", f"{shape[0]} inputs, {shape[1]} outputs", "values that fix the shape")
        if not shape[1].is_Integer or shape[0] * shape[1] > LARGEST_CHANNEL:
            raise Unsupported(
                f"{self.name} has {shape[0]} inputs and {shape[1]} outputs (limit {LARGEST_CHANNEL} entries): "
                "its decomposition is available in closed form without the matrix"
            )
        known = dict(self.fixed)
        integers = {str(symbol): int(value) for symbol, value in self.fixed if value.is_Integer}
        columns = [
            tuple(sp.sympify(weight).subs(known) * output_class.states[i].probability for i in output)
            for output_class in self.classes
            for output, weight in output_class.outputs(integers)
        ]
        return tuple(zip(*columns, strict=True))

    def channel(self, *, bits: int | None = None, **values: object) -> Channel:
        """Explicit channel of the mechanism.

        It is exact where all probabilities are rational, and has balls of ``bits`` bits otherwise.
        """
        mechanism = (self.at(**values) if values else self).with_defaults()
        cache: dict[Any, Any] = {}

        def number(entry: sp.Expr) -> Any:
            if entry not in cache:
                cache[entry] = evaluate(entry, bits=bits)
            return cache[entry]

        return Channel(tuple(tuple(number(entry) for entry in row) for row in mechanism.symbolic_rows()))

    @classmethod
    def from_matrix(
        cls,
        name: str,
        rows: Sequence[Sequence[Any]],
        *,
        parameters: Sequence[Parameter] = (LAM_PARAMETER,),
        pair: tuple[int, int] | None = None,
        title: str = "",
    ) -> Mechanism:
        """A mechanism given by its matrix.

        Parameters
        ----------
        name : str
            Its name.
        rows : sequence of sequences
            One row per input, at least 2; entries are SymPy expressions in the parameters, numbers, or text such as
            ``1/3``.
        parameters : sequence of Parameter
            The open parameters.
        pair : tuple of (int, int), optional
            The only two inputs between which a user may change. Default: bounds cover every pair of inputs.
        title : str
            The field's name for it.

        Raises
        ------
        InputError
            If an entry is no expression, contains a symbol that is not a parameter, or a row does not sum to 1.
        """
        matrix = read_matrix(rows)
        check_symbols({symbol for row in matrix for entry in row for symbol in entry.free_symbols}, parameters)
        whole = cls(
            name,
            title or name,
            sp.Integer(len(matrix)),
            tuple(explicit_output(y, [row[y] for row in matrix]) for y in range(len(matrix[0]))),
            tuple(parameters),
            pair=Pairs.among(len(matrix)),
            source="given by its matrix",
        )
        if pair is not None:
            return whole.comparing(*pair)
        return whole.comparing(0, 1) if len(matrix) == 2 else whole

    @classmethod
    def symmetric(
        cls,
        name: str,
        inputs: Any,
        classes: Mapping[str, Mapping[str, tuple[Any, Any]]],
        *,
        parameters: Sequence[Parameter] = (),
        title: str = "",
    ) -> Mechanism:
        """A mechanism that treats all inputs alike, given by its states.

        Parameters
        ----------
        name : str
            Its name.
        inputs : sympy.Expr or int
            Number of inputs.
        classes : mapping of str to mapping of str to (count, probability)
            For each class of outputs its states: how many inputs are in the state, and with which probability they
            send the output. The class has one output for every way to distribute the states over the inputs.
        parameters : sequence of Parameter, optional
            The open parameters other than ``lam`` and, where it is a symbol, the number of inputs (at least 2).

        Raises
        ------
        InputError
            If the counts of a class do not sum to the number of inputs, the probabilities do not sum to 1, or a
            symbol is no parameter.

        Examples
        --------
        Any value but one's own:

        >>> from symshuffle.mechanisms.symbolic import LAM
        >>> k = sp.Symbol("k", integer=True, positive=True)
        >>> own = 1 / (LAM * (k - 1) + 1)
        >>> Mechanism.symmetric("avoid", k, {"value": {"own": (1, own), "other": (k - 1, LAM * own)}}).num_outputs
        k
        """
        number, described, given = read_states(inputs, classes, parameters)
        return cls(name, title or name, number, described, given, source="given by its states")

    def __repr__(self) -> str:
        fixed = (f"{name}={value}" for name, value in self.values)
        return f"{self.name}({', '.join((*(p.name for p in self.parameters), *fixed))})"

    def _repr_latex_(self) -> str:
        return class_table(self.classes)
