"""Messages of many users at once, and the unbiased estimate that each message is."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
    VectorMechanism,
)
from symshuffle.vectors.randomizers.sphere import cap_numbers, cap_numbers_float, clipped_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float64]

LENGTH_SLACK = 1e-9
"""How far a length in doubles may exceed its bound, or a unit vector's length may be from 1."""


def sample(mechanism: VectorMechanism, vectors: Any, rng: np.random.Generator) -> Vectors:
    """Random messages of a vector mechanism, one per input vector.

    Parameters
    ----------
    mechanism : VectorMechanism
        The randomizer.
    vectors : array of shape (n, d)
        The inputs: unit vectors for PrivUnit and the clipped density, otherwise vectors of the ball the mechanism is
        made for.
    rng : numpy.random.Generator
        Source of all randomness.

    Returns
    -------
    array of shape (n, d)
        The messages, in the order of the users.

    Raises
    ------
    InputError
        If the array has the wrong shape, an entry is not a number, a vector has the wrong length (nothing is clipped),
        or ``rng`` is no generator.

    Examples
    --------
    >>> import numpy as np
    >>> messages = sample(SphereLinear("1/2", 2), np.zeros((3, 2)), np.random.default_rng(1))
    >>> messages.shape
    (3, 2)
    """
    import numpy as np

    source(rng)
    x = check_vectors(mechanism, vectors)
    match mechanism:
        case BlanketMixedGaussian():
            informative = rng.random(len(x)) >= float(mechanism.gamma)
            return float(mechanism.sigma0) * rng.standard_normal(x.shape) + informative[:, None] * x
        case PrivUnit():
            return _privunit(mechanism, x, rng)
        case ClippedLinear():
            return _clipped(mechanism, x, rng)
        case SphereLinear():
            # A uniform point or its antipode: the flip u -> -u turns the density 1 into 1 + c <u, x>.
            u = _uniform(x.shape, rng)
            keep = rng.random(len(x)) < 0.5 * (1 + float(mechanism.c) * np.einsum("ij,ij->i", u, x))
            return np.where(keep[:, None], u, -u)
        case LocalLaplace():
            return x + rng.laplace(scale=float(mechanism.scale), size=x.shape)
        case _:
            return x + float(mechanism.sigma0) * rng.standard_normal(x.shape)


def source(rng: object) -> np.random.Generator:
    """The generator itself; a seed is none, because a second call would repeat the first."""
    import numpy as np

    if not isinstance(rng, np.random.Generator):
        raise InputError("rng", rng, "a numpy.random.Generator, such as numpy.random.default_rng(1)")
    return rng


def shrinkage(mechanism: VectorMechanism) -> Any:
    """The number m with mean message ``m x`` at input x: a rational, for PrivUnit and the clipped density a ball."""
    match mechanism:
        case BlanketMixedGaussian():
            return 1 - mechanism.gamma
        case PrivUnit():
            return cap_numbers(mechanism).shrinkage
        case ClippedLinear():
            return clipped_numbers(mechanism)[2]
        case SphereLinear():
            return mechanism.c / mechanism.dimension
        case _:
            return Fraction(1)


def estimate(mechanism: VectorMechanism, messages: Any) -> Vectors:
    """Unbiased estimates of the inputs, one per message.

    Each is ``message / m``, for the number m such that the mean of a message is m times its input. The mean of the
    estimates estimates the mean of the inputs.

    Parameters
    ----------
    mechanism : VectorMechanism
        The randomizer that sent the messages.
    messages : array of shape (n, d)
        The messages.

    Returns
    -------
    array of shape (n, d)
        The estimates, in the order of the messages.

    Raises
    ------
    InputError
        If the messages do not depend on the input (m is 0), as PrivUnit's at some parameters.

    Examples
    --------
    >>> import numpy as np
    >>> estimate(SphereLinear("1/2", 2), np.array([[1.0, 0.0]]))
    array([[4., 0.]])
    """
    import numpy as np

    m = shrinkage(mechanism)
    with working_precision(128):
        if to_arb(m).contains(0):
            raise InputError("p", getattr(mechanism, "p", m), "a probability other than that of the cap")
    try:
        outputs: Vectors = np.asarray(messages, dtype=np.float64) / float(m)
    except (TypeError, ValueError):
        raise InputError("messages", messages, "an array of numbers, one message a row") from None
    return outputs


def check_vectors(mechanism: VectorMechanism, vectors: Any) -> Vectors:
    """The inputs as an array of doubles, or the reason why the mechanism does not take them."""
    import numpy as np

    try:
        x: Vectors = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("vectors", vectors, "an array of numbers, one vector a row") from None
    if x.ndim != 2 or x.shape[1] != mechanism.dimension:
        raise InputError("vectors", f"shape {x.shape}", f"shape (n, {mechanism.dimension})")
    finite = np.isfinite(x).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InputError(f"vectors[{row}]", x[row].tolist() if x.shape[1] < 5 else "not finite", "finite numbers")
    lengths = np.sqrt(np.einsum("ij,ij->i", x, x))
    if isinstance(mechanism, PrivUnit | ClippedLinear):
        wrong, expected = np.abs(lengths - 1) > LENGTH_SLACK, "a unit vector (round_to_sphere makes one of any vector)"
    else:
        bound = float(mechanism.norm) if isinstance(mechanism, BlanketMixedGaussian) else 1.0
        wrong, expected = lengths > bound + LENGTH_SLACK, f"a vector of length at most {bound:g}"
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"vectors[{row}]", f"length {lengths[row]:.12g}", expected)
    return x


def round_to_sphere(vectors: Any, rng: np.random.Generator) -> Vectors:
    """A random unit vector with each vector of the unit ball as its mean: its direction or the opposite one.

    PrivUnit and the clipped density then serve the whole ball; the error at x grows from ``1/m^2 - 1`` to
    ``1/m^2 - |x|^2``.
    """
    import numpy as np

    x: Vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", x, x))
    directions = _uniform(x.shape, rng)
    positive = lengths > 0
    directions[positive] = x[positive] / lengths[positive, None]
    signs = np.where(rng.random(len(x)) < 0.5 * (1 + lengths), 1.0, -1.0)
    return signs[:, None] * directions


def _uniform(shape: tuple[int, ...], rng: np.random.Generator) -> Vectors:
    import numpy as np

    z = rng.standard_normal(shape)
    return np.asarray(z / np.sqrt(np.einsum("ij,ij->i", z, z))[:, None])


def _privunit(mechanism: PrivUnit, x: Vectors, rng: np.random.Generator) -> Vectors:
    """Heights by the inverse of their distribution function in the cap or the rest, then a uniform direction across."""
    import numpy as np
    from scipy.special import betaincinv

    q, _, _ = cap_numbers_float(mechanism)
    outside = q if mechanism.theta == 0 else cap_numbers_float(PrivUnit(mechanism.p, -mechanism.theta, x.shape[1]))[0]
    in_cap = rng.random(len(x)) < float(mechanism.p)
    share = rng.random(len(x))
    # Minus the height lies below -theta with probability 1 - q: lower tails only, so that small caps lose no digits.
    half = (x.shape[1] - 1) / 2
    below = 2 * betaincinv(half, half, share * np.where(in_cap, outside, q)) - 1
    return _at_height(np.where(in_cap, -below, below), x, rng)


def _clipped(mechanism: ClippedLinear, x: Vectors, rng: np.random.Generator) -> Vectors:
    r"""Uniform with probability gamma, otherwise of height density proportional to :math:`(t-t_0)_+` by rejection.

    A proposal has the height of a uniform point above the clip; it is kept with probability (t - t0)/(1 - t0).
    """
    import numpy as np
    from scipy.special import betainc, betaincinv

    half, clip = (x.shape[1] - 1) / 2, float(mechanism.clip)
    uniform = rng.random(len(x)) < float(clipped_numbers(mechanism)[0].upper)
    height = np.where(uniform, 2 * rng.beta(half, half, size=len(x)) - 1, 0.0)
    above = float(betainc(half, half, (1 - clip) / 2))
    left = np.flatnonzero(~uniform)
    while len(left):
        t = 1 - 2 * betaincinv(half, half, above * rng.random(len(left)))
        kept = rng.random(len(left)) * (1 - clip) < t - clip
        height[left[kept]] = t[kept]
        left = left[~kept]
    return _at_height(height, x, rng)


def _at_height(height: Any, x: Vectors, rng: np.random.Generator) -> Vectors:
    """Points of the sphere at given heights over unit vectors, in a uniform direction across."""
    import numpy as np

    across = rng.standard_normal(x.shape)
    across -= np.einsum("ij,ij->i", across, x)[:, None] * x
    across /= np.sqrt(np.einsum("ij,ij->i", across, across))[:, None]
    return np.asarray(height[:, None] * x + np.sqrt(np.maximum(0.0, 1 - height**2))[:, None] * across)
