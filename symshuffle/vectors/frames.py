"""Spreading a vector over the coordinates of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symshuffle.errors import InputError, SolverFailure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def kashin_coefficients(frame: Any, vector: Any) -> tuple[NDArray[np.float64], float]:
    r"""Coefficients of least largest size: :math:`\min|z|_\infty` subject to :math:`Uz=x`, by a linear program.

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
    """
    import numpy as np
    from scipy.optimize import linprog

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
