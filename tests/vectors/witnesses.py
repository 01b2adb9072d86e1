"""Independent values for randomizers of vectors, by other libraries: what the brackets and optima are compared with."""

import math

import numpy as np
from mpmath import mp
from scipy.special import roots_jacobi

from symshuffle.base.solvers import cvxpy, solve_model


def confirm_mixed_gaussian(mechanism, *, n, eps, direction="forward", digits=20):
    """The bound of Appendix C for (x, null) or (null, x), and the number of digits on which two lines agree.

    A numerical witness, not a certificate. ``n`` should be at least about 10, or the integrand falls slowly.
    """
    with mp.workdps(digits + 15):
        values = [
            _bound(mechanism, n, eps, direction == "forward", digits, factor) for factor in (mp.mpf(1), mp.mpf("1.37"))
        ]
        gap = abs(values[0] - values[1])
        agree = digits if gap == 0 else min(digits, int(-mp.log10(gap / abs(values[0]))))
        return str(mp.nstr(values[0], max(agree, 1))), agree


def _bound(mechanism, n, eps, forward, digits, factor):
    gamma, rest = (mp.mpf(q.numerator) / q.denominator for q in (mechanism.gamma, 1 - mechanism.gamma))
    shift = (
        mp.mpf(mechanism.norm.numerator)
        / mechanism.norm.denominator
        * mechanism.sigma0.denominator
        / mechanism.sigma0.numerator
    )
    ratio = mp.exp(mp.mpf(eps.numerator) / eps.denominator)
    # Nodes of the trapezoid rule in z, fine enough for the highest point of the line.
    width = mp.sqrt(2 * mp.log(10) * (digits + 12)) + 1
    count = 90 + 12 * digits
    h = 2 * width / count
    nodes, weights = [], []
    for k in range(count + 1):
        z = -width + h * k
        grown = gamma + rest * mp.exp(shift * z - shift**2 / 2)
        nodes.append(grown - ratio if forward else ratio * grown - 1)
        weights.append(h * mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi))
    spread = rest * mp.sqrt(mp.exp(shift**2) - 1) * mp.sqrt(n * gamma)
    c = factor * 2 / spread
    step = 2 * mp.pi * c / (mp.mpf("2.4") * (digits + 6)) * factor**-1
    total, k = mp.mpf(0), 0
    # E[T_-] of T with terms bounded below: forward T = S, reverse T = -S, and S_+ = T_-.
    while True:
        s = mp.mpc(c, step * k)
        transform = (
            1 - gamma + gamma * sum((w * mp.exp(-s * v) for v, w in zip(nodes, weights, strict=True)), mp.mpf(0))
        )
        term = (transform**n / s**2).real
        total += term / 2 if k == 0 else term
        if k > 3 and abs(transform**n / s**2) * (k + 1) < abs(total) * mp.mpf(10) ** (-digits - 3):
            break
        k += 1
    left = total * step / mp.pi
    if not forward:
        return left / (n * gamma)
    return (left + n * gamma * (1 - ratio)) / (n * gamma)


def on_a_lattice(gains, masses, n, size=2**15):
    """H(n) by powers of one transform: masses of G on a lattice, split between neighbours, in doubles."""
    mean, spread = float(gains @ masses), math.sqrt(float(gains**2 @ masses))
    step = (12 * spread * math.sqrt(n) + abs(mean) * n + 2 * float(np.abs(gains).max())) / (size / 2)
    place = np.floor(gains / step).astype(int)
    above, law = gains / step - place, np.zeros(size)
    np.add.at(law, place % size, masses * (1 - above))
    np.add.at(law, (place + 1) % size, masses * above)
    law[0] += 1 - masses.sum()
    sums = np.fft.irfft(np.fft.rfft(law) ** n, size)
    return float(sums[: size // 2] @ np.arange(size // 2)) * step / n


def density_program(chi, dimension, *, nodes=400):
    """The largest shrinkage m by cvxpy, on Gauss's nodes for the law of T: a witness that knows no formula.

    It is the optimum over densities on finitely many heights, which tends to the true one as ``nodes`` grows.
    """
    height, weight = roots_jacobi(nodes, (dimension - 3) / 2, (dimension - 3) / 2)
    weight = weight / weight.sum()
    cp = cvxpy()
    excess, gamma = cp.Variable(nodes), cp.Variable()
    spread = cp.sum(cp.multiply(weight, cp.square(excess)))
    limits = [weight @ excess == 0, spread <= gamma / float(chi) ** 2, excess >= gamma - 1]
    problem = cp.Problem(cp.Maximize((weight * height) @ excess), limits)
    solve_model(problem, cp.CLARABEL)
    assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
    return float(problem.value)
