r"""Forms on the simplex: probabilities of histograms as polynomials of the composition, their means and their maxima.

The probability of a histogram of ``n`` i.i.d. messages is a homogeneous polynomial of degree ``n`` in the composition,
over Q. Its mean under a Dirichlet prior is a finite sum, so Bayes risks under such priors are rational numbers; and the
risk of any estimator is a form of degree ``n + 2``, whose supremum over the whole simplex lies between its values at
corners and its largest Bernstein coefficient, as closely as wanted after subdivision.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from symshuffle.base.errors import NotDecided
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import Vector, dot

Exponent: TypeAlias = tuple[int, ...]
Form: TypeAlias = dict[Exponent, Fraction]
"""A homogeneous polynomial: exponents to coefficients."""

_MOST_CELLS: Final = 20_000


def multiply(left: Mapping[Exponent, Fraction], right: Mapping[Exponent, Fraction]) -> Form:
    """Product of two forms."""
    found: Form = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(i + j for i, j in zip(a, b, strict=True))
            found[key] = found.get(key, Fraction(0)) + x * y
    return found


def add(left: Form, right: Mapping[Exponent, Fraction], factor: Fraction) -> None:
    """Add a multiple of a form to another one of the same degree, in place."""
    for key, value in right.items():
        left[key] = left.get(key, Fraction(0)) + factor * value


def linear(coefficients: Sequence[Fraction]) -> Form:
    """The form ``sum_i c_i w_i``."""
    k = len(coefficients)
    return {tuple(int(i == j) for j in range(k)): c for i, c in enumerate(coefficients) if c}


def histogram_forms(channel: Channel, n: int) -> dict[Exponent, Form]:
    """The probability of every histogram of ``n`` i.i.d. messages, as a form in the composition."""
    k = channel.num_inputs
    columns = [linear(column) for column in exact_columns(channel)]
    start = (0,) * channel.num_outputs
    forms: dict[Exponent, Form] = {start: {(0,) * k: Fraction(1)}}
    for y, column in enumerate(columns):
        grown: dict[Exponent, Form] = {}
        for histogram, form in forms.items():
            power, used = form, sum(histogram)
            for count in range(n - used + 1):
                if count:
                    power = multiply(power, column)
                key = (*histogram[:y], count, *histogram[y + 1 :])
                if y < channel.num_outputs - 1 or used + count == n:
                    scale = Fraction(1, math.factorial(count))
                    grown[key] = {exponent: value * scale for exponent, value in power.items()}
        forms = grown
    total = math.factorial(n)
    return {h: {e: value * total for e, value in form.items()} for h, form in forms.items() if form}


def dirichlet_mean(form: Mapping[Exponent, Fraction], alpha: Sequence[Fraction]) -> Fraction:
    r"""Mean of a form of degree ``n`` under a Dirichlet prior: :math:`\prod\alpha_i^{(m_i)}/(\sum\alpha)^{(n)}`."""
    whole = sum(alpha, start=Fraction(0))
    total = Fraction(0)
    for exponent, value in form.items():
        mean = value
        for a, m in zip(alpha, exponent, strict=True):
            for step in range(m):
                mean *= a + step
        for step in range(sum(exponent)):
            mean /= whole + step
        total += mean
    return total


def dirichlet_bayes_risk(channel: Channel, alpha: Sequence[Fraction], *, n: int) -> Fraction:
    r"""The exact Bayes risk of estimating the composition of ``n`` i.i.d. users under a Dirichlet prior.

    The prior has one parameter above 0 for each input. The result is a lower bound on the worst-case risk of every
    estimator.
    """
    k = channel.num_inputs
    axes = [linear([Fraction(int(i == j)) for j in range(k)]) for i in range(k)]
    risk = sum((dirichlet_mean(multiply(axis, axis), alpha) for axis in axes), start=Fraction(0))
    for form in histogram_forms(channel, n).values():
        mass = dirichlet_mean(form, alpha)
        means = [dirichlet_mean(multiply(form, axis), alpha) for axis in axes]
        risk -= dot(means, means) / mass
    return risk


def risk_form(forms: Mapping[Exponent, Form], estimates: Mapping[Exponent, Vector]) -> Form:
    r"""The i.i.d. risk :math:`\sum_hP_w(h)|t_h-w|^2` of an estimator as a form of degree ``n + 2`` on the simplex."""
    total: Form = {}
    k = len(next(iter(estimates.values())))
    ones = [Fraction(1)] * k
    squares: Form = {}
    for i in range(k):
        axis = linear([Fraction(int(i == j)) for j in range(k)])
        add(squares, multiply(axis, axis), Fraction(1))
    for histogram, form in forms.items():
        t = estimates[histogram]
        loss: Form = dict(squares)
        add(loss, multiply(linear(t), linear(ones)), Fraction(-2))
        add(loss, multiply(linear(ones), linear(ones)), dot(t, t))
        add(total, multiply(form, loss), Fraction(1))
    return total


def bernstein_coefficients(form: Mapping[Exponent, Fraction], degree: int, k: int) -> Form:
    """Coefficients in the Bernstein basis of the simplex: the largest of them bounds the form from above."""
    found: Form = {}
    for exponent in exponents(degree, k):
        multinomial = math.factorial(degree) // math.prod(math.factorial(m) for m in exponent)
        found[exponent] = form.get(exponent, Fraction(0)) / multinomial
    return found


def exponents(degree: int, k: int) -> list[Exponent]:
    """Exponents of all monomials of a degree in ``k`` variables."""
    bars = itertools.combinations(range(degree + k - 1), k - 1)
    return [tuple(b - a - 1 for a, b in itertools.pairwise((-1, *places, degree + k - 1))) for places in bars]


def largest_value(form: Mapping[Exponent, Fraction], *, gap: Fraction) -> tuple[Bracket, Vector]:
    """The supremum of a form over the whole simplex, certified, and a point of the best value found.

    A cell with its Bernstein coefficients is bounded by the largest one; corners carry values. The cell of the largest
    bound is halved along its longest edge (de Casteljau) until the bracket is as narrow as asked. Coefficients are
    rationals and every corner is a point of the simplex, so both ends are proved.

    Parameters
    ----------
    form : mapping
        Homogeneous, over Q.
    gap : Fraction
        Width of the bracket to reach, above 0.

    Raises
    ------
    NotDecided
        If that takes more than 20 000 cells.
    """
    degree, k = sum(next(iter(form))), len(next(iter(form)))
    corners = tuple(tuple(Fraction(int(i == j)) for j in range(k)) for i in range(k))
    first = bernstein_coefficients(form, degree, k)
    best, point = max((first[_corner(i, degree, k)], corners[i]) for i in range(k))
    queue = [(-max(first.values()), 0, corners, first)]
    for count in itertools.count(1):
        bound, _, cell, coefficients = queue[0]
        if -bound - best <= gap:
            evaluation = f"{count} cells of the simplex, Bernstein coefficients over Q"
            return Bracket(best, max(-bound, best), "exact", "bernstein", evaluation), point
        if count > _MOST_CELLS:
            raise NotDecided(f"a maximum over the simplex within {float(gap):.3g} takes more than {_MOST_CELLS} cells")
        heapq.heappop(queue)
        i, j = max(itertools.combinations(range(k), 2), key=lambda pair: _distance(cell[pair[0]], cell[pair[1]]))
        middle = tuple((a + b) / 2 for a, b in zip(cell[i], cell[j], strict=True))
        halves = _halve(coefficients, degree, i, j)
        for side, (kept, half) in enumerate(zip((j, i), halves, strict=True)):
            corner = half[_corner(kept, degree, k)]
            if corner > best:
                best, point = corner, middle
            vertices = tuple(middle if v == kept else vertex for v, vertex in enumerate(cell))
            heapq.heappush(queue, (-max(half.values()), 2 * count + side, vertices, half))
    raise AssertionError("unreachable")


def _corner(i: int, degree: int, k: int) -> Exponent:
    return tuple(degree if v == i else 0 for v in range(k))


def _distance(x: Vector, y: Vector) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), start=Fraction(0))


def _halve(coefficients: Form, degree: int, i: int, j: int) -> tuple[Form, Form]:
    """Coefficients on the halves of a cell cut at the middle of edge (i, j): vertex j, then vertex i, moved there."""
    return _moved(coefficients, degree, i, j), _moved(coefficients, degree, j, i)


def _moved(coefficients: Form, degree: int, stay: int, move: int) -> Form:
    """Replace vertex ``move`` by the middle: b'(.., stay=a, move=c, ..) is the c-fold mean along the edge."""
    found: Form = {}
    for exponent in coefficients:
        c, a = exponent[move], exponent[stay]
        total = Fraction(0)
        for t in range(c + 1):
            key = list(exponent)
            key[move], key[stay] = t, a + c - t
            total += math.comb(c, t) * coefficients[tuple(key)]
        found[exponent] = total / (1 << c)
    return found
