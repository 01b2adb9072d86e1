"""Spreading a vector over the coordinates of a frame, and what it costs to send one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symshuffle.base.errors import InputError, SolverFailure
from symshuffle.base.numbers import as_integer, parse_rational
from symshuffle.base.solvers import linprog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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

    matrix, x = np.asarray(frame, dtype=np.float64), np.asarray(vector, dtype=np.float64)
    if matrix.ndim != 2 or x.shape != (matrix.shape[0],):
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
