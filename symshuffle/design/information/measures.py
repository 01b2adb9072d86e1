r"""Information measures of a channel: sums over outputs of a function of the column.

Each measure is :math:`F(Q) = \sum_y \varphi(Q_{\cdot y})` with a function that is convex and positively homogeneous of
degree one. Such a sum satisfies the data processing inequality and is additive under direct sums (ldp_tradeoff,
Remarks 3.8 and 3.11); :mod:`symshuffle.design.information.maximum` maximises it over LDP channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint

from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import DEFAULT_BITS, Ball, parse_law, squared, to_arb, working_precision
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.extremal import proper_subsets
from symshuffle.channels.geometry.groups import SymmetryGroup, product_of_symmetric_groups
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.channels.geometry.subset_orbits import SubsetOrbit

Column: TypeAlias = "Sequence[Fraction]"

COLUMN_BITS: Final = 160
"""Bits of the balls at first; the levels of precision that are tried in turn follow from it."""

PRECISIONS: Final = (COLUMN_BITS, 2 * COLUMN_BITS, 4 * COLUMN_BITS, 8 * COLUMN_BITS)


LogTerm: TypeAlias = tuple[Vector, Vector, Vector]
r"""Vectors f, t, b: the function :math:`(f\cdot v)\,\log\frac{t\cdot v}{b\cdot v}` of a column ``v``."""


@final
@dataclass(frozen=True, slots=True)
class Measure:
    r"""A sum over outputs of a homogeneous convex function of the column.

    - ``num_inputs``: length of the columns.
    - ``rational``: the function on rational columns, where it is rational.
    - ``ball``: the same on ``arb`` columns, at the current working precision.
    - ``data``: the vectors over the inputs that the function is made of, if it is symmetric in everything else:
      inputs on which they agree are then exchangeable. Empty if nothing is known.
    - ``logs``: the function as a sum of logarithms of ratios of linear forms, where it is one.
    - ``positive_part``: the linear form ``d`` if the function is :math:`\max(0, d\cdot v)`.
    - ``quotient``: the linear forms ``t`` and ``b`` if the function is :math:`(t\cdot v)^2/(b\cdot v)`.
    """

    name: str
    num_inputs: int
    rational: Callable[[Column], Fraction] | None
    ball: Callable[[Sequence[Any]], Any]
    data: tuple[Vector, ...] = ()
    logs: tuple[LogTerm, ...] = ()
    positive_part: Vector | None = None
    quotient: tuple[Vector, Vector] | None = None

    def symmetry(self) -> SymmetryGroup:
        """The permutations of exchangeable inputs."""
        blocks: dict[Vector, list[int]] = {}
        for x in range(self.num_inputs):
            key = tuple(vector[x] for vector in self.data) if self.data else (Fraction(x),)
            blocks.setdefault(key, []).append(x)
        return product_of_symmetric_groups(blocks.values())

    def of(self, channel: Channel) -> Fraction | Ball:
        """The measure of a rational channel: exact where it is rational, otherwise a ball."""
        columns = exact_columns(channel)
        if channel.num_inputs != self.num_inputs:
            raise InputError("channel", f"{channel.num_inputs} inputs", f"{self.num_inputs}, as the measure")
        if self.rational is not None:
            return sum((self.rational(column) for column in columns), start=Fraction(0))
        with working_precision(COLUMN_BITS):
            return Ball.from_arb(sum((self.column_ball(column) for column in columns), start=flint.arb(0)), COLUMN_BITS)

    def column_ball(self, column: Sequence[Fraction | Ball]) -> Any:
        """The value of one column as an ``arb``; zero for the null column."""
        if not any(column):
            return flint.arb(0)
        return self.ball([to_arb(v) for v in column])


def _distributions(p: object, q: object) -> tuple[Vector, Vector]:
    first, second = parse_law(p, "P0"), parse_law(q, "P1")
    if len(first) != len(second):
        raise InputError("P1", f"{len(second)} entries", f"{len(first)}, as P0")
    return first, second


def _of_forms(
    name: str,
    forms: Sequence[Vector],
    ball: Callable[..., Any],
    exact: Callable[..., Any] | None = None,
    **known: Any,
) -> Measure:
    """A measure that is a function of some linear forms of the column, on balls and on rationals."""

    def in_balls(column: Sequence[Any]) -> Any:
        return ball(*(sum(to_arb(w) * v for w, v in zip(form, column, strict=True)) for form in forms))

    def rational(column: Column) -> Fraction:
        return Fraction(0 if exact is None else exact(*(dot(form, column) for form in forms)))

    return Measure(name, len(forms[0]), None if exact is None else rational, in_balls, **known)


def total_variation_measure(p: Sequence[Fraction], q: Sequence[Fraction]) -> Measure:
    r"""Total variation of the two output laws: :math:`\varphi(v) = (v\cdot(P_0-P_1))_+`."""
    return hockey_stick_measure(p, q, Fraction(1), name="total variation")


def hockey_stick_measure(
    p: Sequence[Fraction], q: Sequence[Fraction], gamma: Fraction, *, name: str = "hockey-stick divergence"
) -> Measure:
    r"""Hockey-stick divergence of the two output laws: :math:`\varphi(v) = (v\cdot P_0 - \gamma\, v\cdot P_1)_+`."""
    data = _distributions(p, q)
    if gamma < 0:
        raise InputError("gamma", gamma, "a number of at least 0")
    form = tuple(a - gamma * b for a, b in zip(*data, strict=True))
    return _of_forms(name, [form], lambda x: x.max(0 * x), lambda x: max(x, 0), data=data, positive_part=form)


def chi_square_measure(p: Sequence[Fraction], q: Sequence[Fraction]) -> Measure:
    r"""Chi-square divergence of the output laws: :math:`\varphi(v) = (v\cdot(P_0-P_1))^2 / (v\cdot P_1)`."""
    first, second = _distributions(p, q)
    return _quotient("chi-square divergence", tuple(a - b for a, b in zip(first, second, strict=True)), second)


def fisher_information(p: Sequence[Fraction], derivative: Sequence[Fraction]) -> Measure:
    r"""Fisher information of the output about a parameter: :math:`\varphi(v) = (v\cdot \dot P)^2 / (v\cdot P)`."""
    if sum(derivative) != 0:
        raise InputError("derivative", [str(v) for v in derivative], "entries that sum to 0")
    return _quotient("Fisher information", tuple(derivative), _distributions(p, p)[0])


def _quotient(name: str, top: Vector, bottom: Vector) -> Measure:
    forms = top, bottom
    return _of_forms(
        name, forms, lambda t, b: squared(t) / b, lambda t, b: t**2 / b if b else 0, data=forms, quotient=forms
    )


def kullback_leibler(p: Sequence[Fraction], q: Sequence[Fraction]) -> Measure:
    r"""Relative entropy of the output laws: :math:`\varphi(v) = (v\cdot P_0)\log\frac{v\cdot P_0}{v\cdot P_1}`."""
    first, second = _distributions(p, q)
    return _logarithmic("relative entropy", ((first, first, second),), (first, second))


def mutual_information(p: Sequence[Fraction]) -> Measure:
    r"""Mutual information, in nats: :math:`\varphi(v)=\sum_x p_x v_x \log\frac{v_x}{v\cdot p}`."""
    first = _distributions(p, p)[0]

    def at(x: int, value: Fraction) -> Vector:
        return tuple(value if z == x else Fraction(0) for z in range(len(first)))

    terms = tuple((at(x, w), at(x, Fraction(1)), first) for x, w in enumerate(first) if w)
    return _logarithmic("mutual information", terms, (first,))


def _logarithmic(name: str, terms: tuple[LogTerm, ...], data: tuple[Vector, ...]) -> Measure:
    def form(weights: Sequence[Fraction], column: Sequence[Any]) -> Any:
        return sum((to_arb(w) * v for w, v in zip(weights, column, strict=True) if w), flint.arb(0))

    def ball(column: Sequence[Any]) -> Any:
        # A form that vanishes identically stands before a logarithm that is never taken.
        parts = ([form(part, column) for part in term] for term in terms if any(term[0]))
        return sum((factor * (top / bottom).log() for factor, top, bottom in parts), flint.arb(0))

    return Measure(name, len(data[0]), None, ball, data, terms)


def renyi_power(p: Sequence[Fraction], q: Sequence[Fraction], alpha: Fraction) -> Measure:
    r"""The sum :math:`\sum_y (v\cdot P_0)^{\alpha}(v\cdot P_1)^{1-\alpha}`, behind the divergence of Renyi."""
    laws = _distributions(p, q)
    if alpha <= 1:
        raise InputError("alpha", alpha, "an order above 1")
    name = f"Renyi power of order {alpha}"
    return _of_forms(name, laws, lambda t, b: t ** to_arb(alpha) * b ** to_arb(1 - alpha), data=laws)


def f_divergence(
    p: Sequence[Fraction], q: Sequence[Fraction], generator: Callable[[Any], Any], *, name: str = "f-divergence"
) -> Measure:
    r"""Measure of a user-defined f-divergence, to be passed to ``maximise``.

    A column v contributes :math:`\varphi(v) = (v\cdot P_1)\, f\!\left(\frac{v\cdot P_0}{v\cdot P_1}\right)`.

    Parameters
    ----------
    p, q : sequence of numbers or texts
        Distributions :math:`P_0` and :math:`P_1` of the input, of one length.
    generator : callable
        The function f, from ``flint.arb`` to ``flint.arb``, convex with ``f(1) = 0``. Convexity is not checked.
    name : str
        Name that answers show.

    Returns
    -------
    Measure
        What :func:`symshuffle.design.maximise` takes.

    Raises
    ------
    InputError
        If ``f(1)`` does not enclose 0, or ``p`` and ``q`` are not distributions of one length.
    NotDecided
        Where the measure is evaluated, if ``f`` gives no finite number there.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> squares = f_divergence([Fraction(3, 4), Fraction(1, 4)], [half, half], lambda t: (t - 1) ** 2)
    >>> from symshuffle.design.information.maximum import maximise
    >>> f"{float(maximise(squares, 3)):.6f}"
    '0.062500'
    """
    with working_precision(DEFAULT_BITS):
        at_one = called(generator, flint.arb(1))
    if not isinstance(at_one, flint.arb) or not at_one.is_finite() or not at_one.contains(0):
        raise InputError("generator", f"f(1) = {at_one}", "an arb around 0")

    def ball(above: Any, below: Any) -> Any:
        found = below * called(generator, above / below)
        if not found.is_finite():
            raise NotDecided(f"the generator gives {found} at {above / below}: no finite number at this precision")
        return found

    laws = _distributions(p, q)
    return _of_forms(name, laws, ball, data=laws)


def check_exchangeable(measure: Measure, group: SymmetryGroup) -> None:
    """Check that a group only exchanges inputs that a measure cannot tell apart."""
    if group.m != measure.num_inputs or not measure.data:
        raise InputError("group", f"acts on {group.m} inputs", f"{measure.num_inputs} inputs of a measure with data")
    for i, generator in enumerate(group.generators):
        for vector in measure.data:
            moved = next((x for x, y in enumerate(generator) if vector[x] != vector[y]), None)
            if moved is not None:
                raise InputError(
                    f"generators[{i}]", list(generator), f"equal data at inputs {moved}, {generator[moved]}"
                )


def columns_up_to(m: int, group: SymmetryGroup | None) -> tuple[tuple[tuple[int, ...], ...], list[SubsetOrbit]]:
    """Orbits of inputs and of subsets; one by one where there is no group."""
    if group is not None:
        return group.input_orbits(), list(group.subset_orbits())
    singles = [SubsetOrbit(y, 1, tuple(y >> x & 1 for x in range(m))) for y in proper_subsets(m)]
    return tuple((x,) for x in range(m)), singles


def enclosed(measure: Measure, column: Column, bits: int) -> Ball:
    """The value of a column: a point where the measure is rational, otherwise a ball."""
    if measure.rational is not None:
        value = measure.rational(column)
        return Ball(value, value)
    with working_precision(bits):
        return Ball.from_arb(measure.column_ball(column), bits)


def check_homogeneous(measure: Measure) -> None:
    """Refuse a functional with an offset or a normalisation: phi(3v) must be 3 phi(v)."""
    column = [Fraction(3 + (x * x) % 5, 7) for x in range(measure.num_inputs)]
    tripled = [3 * v for v in column]
    if measure.rational is not None:
        agree = measure.rational(tripled) == 3 * measure.rational(column)
    else:
        with working_precision(COLUMN_BITS):
            agree = (measure.column_ball(tripled) - 3 * measure.column_ball(column)).contains(0)
    if not agree:
        raise InputError("measure", measure.name, "a column function with phi(3v) = 3 phi(v)")


def called(generator: Callable[[Any], Any], ratio: flint.arb) -> Any:
    """Return the value of a generator at a ball.

    In python-flint a power of a ball whose middle is 0, as ``(t - 1)**2`` at 1, is no number. Where a generator gives
    none, it is called again with whole powers as products.
    """
    found = generator(ratio)
    if isinstance(found, flint.arb) and not found.is_finite():
        with suppress(TypeError, AttributeError, ValueError):  # what takes a ball of python-flint only
            found = _plain(generator(_Ratio(ratio)))
    return found


@final
class _Ratio:
    """A ball with the arithmetic and the methods of ``flint.arb``, of which whole powers are products."""

    __slots__ = ("value",)

    def __init__(self, value: flint.arb) -> None:
        self.value = value

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is not int:
            return _wrapped(self.value ** _plain(exponent))
        power = flint.arb(1)
        for _ in range(abs(exponent)):
            power = power * self.value
        return _Ratio(power if exponent >= 0 else 1 / power)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.value, name)
        return lambda *given: _wrapped(method(*map(_plain, given)))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < _plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= _plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > _plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= _plain(other))

    def __add__(self, other: Any) -> Any:
        return _Ratio(self.value + _plain(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return _Ratio(self.value * _plain(other))

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return _Ratio(self.value - _plain(other))

    def __rsub__(self, other: Any) -> Any:
        return _Ratio(_plain(other) - self.value)

    def __truediv__(self, other: Any) -> Any:
        return _Ratio(self.value / _plain(other))

    def __rtruediv__(self, other: Any) -> Any:
        return _Ratio(_plain(other) / self.value)

    def __neg__(self) -> Any:
        return _Ratio(-self.value)

    def __abs__(self) -> Any:
        return _Ratio(abs(self.value))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, _Ratio) else value


def _wrapped(value: Any) -> Any:
    return _Ratio(value) if isinstance(value, flint.arb) else value
