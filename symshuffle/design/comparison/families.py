"""How a mechanism is built at k inputs, and which of its parameters are then free.

Nothing is listed by name: the registry has the mechanisms, and a mechanism knows its parameters. The one on which the
number of inputs depends is the *size*; it takes the smallest value with at least k inputs, of which k are used.
``lam`` is matched. What tells pairs of inputs apart stays open, so that bounds cover all of them. The rest is free.

Every mechanism with a budget and all pairs of inputs alike is also tried *thinned*: with probability ``1 - p`` it sends
a null symbol that says nothing.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import flint

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Number,
    Real,
    as_integer,
    lower_end,
    to_arb,
    working_precision,
)
from symshuffle.base.numbers.readers import KINDS, LARGEST_PARAMETER
from symshuffle.decompositions.calculated import number_at
from symshuffle.decompositions.closed_forms import ClosedForm, table
from symshuffle.decompositions.parameters import SHARE_OF_MESSAGES, FiledParameter
from symshuffle.mechanisms.hashing import hyperplane_bits
from symshuffle.mechanisms.names import NAMED_WHEN_THINNED, THINNED, mechanism_name
from symshuffle.utility.estimation.votes import VoteNoise, named_votes

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism


COMPARISON_BITS: Final = 160
"""Precision of the numbers of rows: cost only, since every ball says how wide it is."""


Parameters: TypeAlias = "tuple[tuple[str, int | Fraction], ...]"
"""Free parameters with their values, by name."""


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
    def free(self) -> tuple[FiledParameter, ...]:
        """Parameters to choose at a match."""
        fixed = {self.size, self.form["by"]}
        open_ones = tuple(FiledParameter(**p) for p in self.form["parameters"] if p["name"] not in fixed)
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
        found = number_at(text, self.sized, DEFAULT_BITS)
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

    def free_range(self, parameter: FiledParameter) -> tuple[float, float]:
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
    at_zero = number_at(inputs, {name: Fraction(0)}, DEFAULT_BITS)
    lower = number_at(parameter["lower"], {}, DEFAULT_BITS)
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
        if LAM in symbols and P not in symbols and is_alike(mechanism(name)) and name not in NAMED_WHEN_THINNED:
            found.append(THINNED + name)
    return (*MECHANISMS, *found)


def names_on_file() -> tuple[str, ...]:
    """The same, off the file of closed forms."""
    return tuple(table())


HASHED: Final = {"olh": "g", "blh": "2"}
"""Mechanisms of local hashing with their number of hash values. Their outputs are all strings of supported categories,
of which a client sends one of a small family."""


@final
@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A family with all parameters fixed."""

    family: Family
    lam: Real
    values: Parameters

    @property
    def thin(self) -> bool:
        """Whether a null symbol is sent at all."""
        return self.family.thin and self.share != 1

    @property
    def share(self) -> Fraction:
        """The share of messages that are not null symbols added to the family."""
        return Fraction(dict(self.values)["p"]) if self.family.thin else Fraction(1)

    @property
    def numbers(self) -> dict[str, Any]:
        """All parameters of the mechanism without the null symbol, by name."""
        own = {name: Fraction(value) for name, value in self.values if not (self.family.thin and name == "p")}
        return {"lam": self.lam, **self.family.sized, **own}

    @property
    def title(self) -> str:
        """The field's name for it."""
        title = str(self.family.form["row"]["title"])
        return f"{title}, or a null symbol" if self.thin else title

    @property
    def chi_square(self) -> Number:
        """The largest pairwise chi-square divergence."""
        found: Any = number_at(self.family.form["moments"]["chi square"], self.numbers, DEFAULT_BITS)
        spent: Number = found * self.share if self.thin else found
        return spent

    def level(self, bits: int | None) -> Number:
        """The local level, exact where it is rational and no precision is asked for."""
        if isinstance(self.lam, Exp):
            exact = self.lam.exponent
            return exact if bits is None else Ball(exact, exact, bits)
        if self.lam == 1:
            return Fraction(0) if bits is None else Ball(Fraction(0), Fraction(0), bits)
        with working_precision((bits or DEFAULT_BITS) + 32):
            return Ball.from_arb(to_arb(self.lam).log(), bits or DEFAULT_BITS)

    def votes(self, bits: int) -> VoteNoise:
        """The noise of the canonical estimator's votes."""
        one = self.family
        return named_votes(one.base, self.numbers, share=self.share, size=one.all_inputs, inputs=one.inputs, bits=bits)

    @property
    def bitwise(self) -> VoteNoise | None:
        """The noise of the estimator that debiases every bit by itself; None where messages are no strings of bits."""
        texts = self.family.form["row"]["bitwise"]
        if texts is None or self.thin:
            return None
        own, absent = (number_at(text, self.numbers, DEFAULT_BITS) for text in texts)
        return VoteNoise(own, absent, self.family.all_inputs, "bitwise unbiased")

    @property
    def message_bits(self) -> int:
        """Bits that name one of its outputs; of local hashing a function of a family and a value, as plans do."""
        if self.family.base in HASHED:
            g = number_at(HASHED[self.family.base], self.numbers, DEFAULT_BITS)
            return hyperplane_bits(self.family.inputs, int(lower_end(g)), more=int(self.thin))
        return bits_for(self.family.form["row"]["outputs"], self.numbers, more=int(self.thin))

    @property
    def source(self) -> ClosedForm | Mechanism:
        """The randomizer of which bounds are asked, by its closed form where one is on file."""
        return self.family.source(lam=self.lam, **dict(self.values))

    @property
    def mechanism(self) -> Mechanism:
        """The symbolic mechanism."""
        return self.family.at(lam=self.lam, **dict(self.values))

    @property
    def obstruction(self) -> str:
        """Why a mechanism whose pairs of inputs differ has no unbiased estimator."""
        size = self.family.all_inputs
        if not self.family.form["row"]["obstructed"] or size < 4 or size % 2:
            name = self.family.base
            raise Unsupported(f"{name} treats pairs of inputs differently: use AnchoredLaw.from_channel(...)")
        half = size // 2
        return (
            f"no estimator is unbiased: users half at 0 and half at {half} send messages of the same law as users half "
            f"at 1 and half at {half + 1}"
        )


def bits_for(outputs: str, values: dict[str, Any], *, more: int = 0) -> int:
    """Bits that name one of so many outputs, and ``more``: a sum, a power or a binomial coefficient of parameters.

    Examples
    --------
    >>> bits_for("binomial(k, s)", {"k": Fraction(5), "s": Fraction(2)}), bits_for("2**D", {"D": Fraction(7)})
    (4, 7)
    """
    tree = ast.parse(outputs, mode="eval").body
    if isinstance(tree, ast.Call):
        size, chosen = (_whole(part, values) for part in tree.args)
        with working_precision(DEFAULT_BITS):  # far from a power of 2 its digits need not be written out
            about = Ball.from_arb((flint.arb.bin_uiui(size, chosen) + more).log() / flint.arb(2).log(), DEFAULT_BITS)
        if math.ceil(about.lower) == math.ceil(about.upper):
            return math.ceil(about.upper)
        count = math.comb(size, chosen)
    elif isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow):
        count = _whole(tree.left, values) ** _whole(tree.right, values)
    else:
        count = _whole(tree, values)
    return (count + more - 1).bit_length()


def _whole(part: ast.expr, values: dict[str, Any]) -> int:
    found = number_at(ast.unparse(part), values, DEFAULT_BITS)
    assert isinstance(found, Fraction)
    return int(found)
