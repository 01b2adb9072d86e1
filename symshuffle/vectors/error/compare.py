"""All mechanisms at one lower index: what each pays on the unit ball, and what one coefficient of a frame pays.

All mechanisms at one lower index: what each pays on the unit ball.

Spreading a vector over the coordinates of a frame, and what it costs to send one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import flint

from symshuffle.base.crossings import first_integer, halved
from symshuffle.base.errors import InputError, NotDecided, SolverFailure
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    as_integer,
    less,
    parse_inside,
    parse_rational,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.base.solvers import linprog
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.error.optimal import best_density, bmg_optimal
from symshuffle.vectors.randomizers.mechanisms import LocalGaussian
from symshuffle.vectors.randomizers.sphere import cap_complement, density_constant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def privunit_constant(theta: Fraction, dimension: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""PrivUnit's constant :math:`C(\theta,d)=q/((1-q)d\alpha^2)`: its least error is about :math:`Cd\chi_{lo}^2`.

    Even in theta, smallest at 0 (for d of at least 3 because the density of a projection is log-concave), where it is
    :math:`\frac\pi d(\Gamma(\frac{d+1}2)/\Gamma(\frac d2))^2` and rises with d to :math:`\pi/2`.

    - ``theta``: height of the cap, in (-1, 1).
    - ``dimension``: length of the vectors, at least 2.

    vecmean, Proposition 3.7.

    Examples
    --------
    >>> round(float(privunit_constant(Fraction(0), 5)), 12)
    1.422222222222
    """
    if not -1 < theta < 1:
        raise InputError("theta", theta, "a number in (-1, 1)")
    with working_precision(bits + 32):
        height, d = to_arb(theta), flint.arb(dimension)
        edge = density_constant(dimension) * (1 - height * height) ** ((d - 1) / 2) / (d - 1)
        outside = cap_complement(-height, dimension)
        return Ball.from_arb(cap_complement(height, dimension) * outside / (d * edge * edge), bits)


def sphere_linear_error(chi: Fraction, dimension: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""Worst error :math:`d^2/c^2` on the ball of the linear density of lower index chi: :math:`c^2\chi^2=d(1-c)`."""
    with working_precision(bits + 32):
        return Ball.from_arb((dimension / _root(flint.arb(dimension), to_arb(chi))) ** 2, bits)


def privunit_error(chi: Fraction, dimension: int, *, bits: int = DEFAULT_BITS) -> Ball:
    """Worst error on the ball of PrivUnit at theta = 0 with lower index exactly chi, inputs rounded to the sphere."""
    with working_precision(bits + 32):
        # There chi_lo^2 = (1 - t)/t^2 with t = 2p - 1, and m = t alpha with alpha the mean height of the half sphere.
        t = _root(flint.arb(1), to_arb(chi))
        alpha = 2 * density_constant(dimension) / (dimension - 1)
        return Ball.from_arb(1 / (t * alpha) ** 2, bits)


def _root(d: flint.arb, chi: flint.arb) -> flint.arb:
    r"""The positive root c of :math:`\chi^2c^2=d(1-c)`."""
    return 2 * d / (d + (d * d + 4 * d * chi * chi).sqrt())


def contenders(chi: object, dimension: int, *, bits: int = DEFAULT_BITS) -> dict[str, Bracket]:
    """Errors of the vector mechanisms at one lower index, the smallest error first.

    Each mechanism is tuned at this index: the mixed Gaussian against its own blanket, the pure Gaussian against the
    largest one.

    Parameters
    ----------
    chi : object
        The index, above 0, read as a rational.
    dimension : int
        Length of the vectors, at least 2 (in dimension 1 the densities on the sphere are all randomized response).
    bits : int
        Working precision.

    Returns
    -------
    dict of str to Bracket
        The worst squared error over the unit ball by name; the lower bound is d chi^2.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> list(contenders(100, 30))
    ['clipped linear density', 'Gaussian', 'linear density', 'mixed Gaussian', 'PrivUnit']
    """
    index = parse_inside(chi, "chi", "(0, inf)")
    dimension, bits = as_integer(dimension, "dimension", 2), as_integer(bits, "bits", 2)
    found = {name: error(index, dimension, bits) for name, error in _ERRORS.items()}
    return dict(sorted(found.items(), key=lambda entry: entry[1].upper))


def _gaussian_error(chi: Fraction, dimension: int) -> Ball:
    """Error of the Gaussian whose index against the largest blanket is chi: between two standard deviations.

    More noise is processing, so the index rises with the standard deviation.
    """

    def reached(sigma0: Fraction) -> bool:
        variance: Any = shuffle_index(
            LocalGaussian(sigma0, dimension), "lower", blanket="largest", bits=80
        ).inverse_square
        return bool(less(variance, 1 / chi**2))

    low, high = chi, 2 * chi + 1  # the index is below sigma0
    while not reached(high):
        high *= 2
    low, high = halved(reached, low, high, settled=30)
    return Ball(dimension * low * low, dimension * high * high)


def takeover(chi: object, first: str, then: str, *, most: int = 10**6) -> int:
    """Dimension in which one mechanism becomes more accurate than another.

    Both mechanisms have the same lower index. The comparisons in that dimension and in the one before it are certified.
    It is proved that there is only one such dimension where the mixed Gaussian takes over from the linear density,
    PrivUnit or the Gaussian: over d chi^2 its error falls with d (its second term does, at every gamma), and theirs
    rises: 1/(1 - c) with the slope c, the constant of PrivUnit (vecmean, Proposition 3.7), and the noise of the
    Gaussian, whose largest blanket shrinks as inputs are added. For other pairs that is not certified.

    Parameters
    ----------
    chi : object
        The lower index, above 0, read as a rational.
    first, then : str
        Two of the names of :func:`contenders`: which is better in dimension 2, and which takes over.
    most : int
        Dimension after which the search gives up, at least 2.

    Returns
    -------
    int
        The dimension.

    Raises
    ------
    InputError
        If a name is unknown, or ``first`` is not the better one in dimension 2.
    NotDecided
        If the two brackets overlap at the crossing, or there is none up to ``most``.

    Examples
    --------
    >>> takeover(100, "linear density", "mixed Gaussian")
    48
    """
    index = parse_inside(chi, "chi", "(0, inf)")
    for name, value in (("first", first), ("then", then)):
        if value not in _ERRORS:
            raise InputError(name, value, f"one of {', '.join(_ERRORS)}")
    most = as_integer(most, "most", 2)

    def passed(dimension: int) -> bool:
        before, after = (_ERRORS[name](index, dimension, DEFAULT_BITS) for name in (first, then))
        if before.upper >= after.lower and after.upper >= before.lower:
            raise NotDecided(f"which of {first} and {then} is more accurate in dimension {dimension} is not decided")
        return after.upper < before.lower

    if passed(2):
        raise InputError("first", first, f"the better one in dimension 2, which is {then}")
    low, high = 2, 4
    while not passed(high):
        low, high = high, 2 * high
        if high > most:
            raise NotDecided(f"{then} is not certified to be more accurate than {first} in any dimension up to {low}")
    return first_integer(passed, low, high)


def _tuned(ball: Ball) -> Bracket:
    return Bracket(ball.lower, ball.upper, "ball", "index", "tuned at the index")


_ERRORS: Final[dict[str, Callable[[Fraction, int, int], Bracket]]] = {
    # Rounding to the sphere costs 1.
    "clipped linear density": lambda chi, d, bits: best_density(chi, d, bits=bits).bracket.shifted(Fraction(1)),
    "mixed Gaussian": lambda chi, d, bits: bmg_optimal(chi, d, bits=bits).bracket,
    "linear density": lambda chi, d, bits: _tuned(sphere_linear_error(chi, d, bits=bits)),
    "PrivUnit": lambda chi, d, bits: _tuned(privunit_error(chi, d, bits=bits)),
    "Gaussian": lambda chi, d, bits: _tuned(_gaussian_error(chi, d)),
}
"""Worst errors over the ball by index, dimension and precision, under the names of :func:`contenders`."""


def kashin_coefficients(frame: Any, vector: Any) -> tuple[NDArray[np.float64], float]:
    r"""Coefficients of a vector in a frame with the smallest maximum absolute value.

    They are :math:`\min|z|_\infty` subject to :math:`Uz=x`, by a linear program in doubles.

    Parameters
    ----------
    frame : array of shape (d, N)
        The matrix U; with :math:`UU^\top=I` the constant is at least 1.
    vector : array of shape (d,)
        The vector x, not zero.

    Returns
    -------
    coefficients : array of shape (N,)
        The minimiser z.
    constant : float
        The distortion :math:`K=\sqrt N|z|_\infty/|x|`.

    Raises
    ------
    InputError
        If the shapes disagree or the vector is zero.
    SolverFailure
        If the program has no solution: the frame does not span the vector.

    Notes
    -----
    vecmean, Remark 3.9.

    Examples
    --------
    >>> import numpy as np
    >>> coefficients, constant = kashin_coefficients(np.eye(2), np.array([3.0, 4.0]))
    >>> round(constant, 4)
    1.1314
    """
    import numpy as np

    matrix, x = (_doubles(values, name) for values, name in ((frame, "frame"), (vector, "vector")))
    if matrix.ndim != 2 or not matrix.size:
        raise InputError("frame", f"shape {matrix.shape}", "a matrix of d rows and N columns")
    if x.shape != (matrix.shape[0],):
        raise InputError("vector", f"shape {x.shape}", f"shape ({matrix.shape[0]},) for a frame {matrix.shape}")
    length = float(np.linalg.norm(x))
    if not length > 0:
        raise InputError("vector", "zero", "a vector that is not zero")
    size = matrix.shape[1]
    bounds = np.block([[np.eye(size), -np.ones((size, 1))], [-np.eye(size), -np.ones((size, 1))]])
    equal = np.hstack([matrix, np.zeros((len(x), 1))])
    costs = np.append(np.zeros(size), 1.0)
    found = linprog(costs, A_ub=bounds, b_ub=np.zeros(2 * size), A_eq=equal, b_eq=x, bounds=(None, None))
    if found.status != 0:
        raise SolverFailure("HiGHS", str(found.message), f"coefficients in a frame of {size} vectors")
    return np.asarray(found.x[:-1]), float(size**0.5 * found.x[-1] / length)


def _doubles(values: Any, argument: str) -> NDArray[np.float64]:
    import numpy as np

    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(argument, values, "an array of numbers") from None
    if not np.isfinite(found).all():
        raise InputError(argument, values, "finite numbers")
    return found


def one_coefficient_error(constant: float, dimension: int, chi: float) -> float:
    r"""Squared error, at the input 0, of sending one random frame coefficient.

    A user spreads x over the N coefficients of a tight frame, draws one of them, and sends its number with a sign of
    mean :math:`tz_j\sqrt N/K`. The estimate :math:`\pm\sqrt NKu_j/t`, :math:`u_j` the column of the frame, is unbiased,
    with the error :math:`K^2d/t^2-|x|^2`. The lower index is at least :math:`\sqrt{1-t}/t`, that of one bit on the
    line; the distortion is paid as a factor :math:`K^2` on the error.

    Parameters
    ----------
    constant : float
        A bound K >= 1 of the distortions of all inputs.
    dimension : int
        Length d of the vectors.
    chi : float
        Lower index, above 0, at which :math:`t` is chosen: :math:`\chi^2t^2+t=1`.

    Returns
    -------
    float
        The error :math:`K^2d/t^2`.

    Raises
    ------
    InputError
        If an argument is out of range.

    Notes
    -----
    vecmean, Remark 3.9 with Proposition 3.8.

    Examples
    --------
    >>> round(one_coefficient_error(1.0, 1, 2.0), 6)
    6.561553
    """
    constant, chi = float(parse_rational(constant, "constant")), float(parse_rational(chi, "chi"))
    if not constant >= 1:
        raise InputError("constant", constant, "a number >= 1")
    if not chi > 0:
        raise InputError("chi", chi, "a number > 0")
    d = as_integer(dimension, "dimension", 1)
    share = 2 / (1 + (1 + 4 * chi * chi) ** 0.5)  # of the bit, t
    return float(d * (constant / share) ** 2)
