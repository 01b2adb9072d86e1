"""What a researcher writes to get one number: NumPy, scipy.stats, and a bound by Bennett's inequality.

k-ary randomized response over the privacy blanket: the number of users in the blanket is binomial, and given m of them
the excess of the sum is bounded by Bennett's inequality (loose, and quick). This is the denominator of ``shell``.
"""

import numpy as np
from scipy import stats


def bennett(k: int, eps0: float, eps: float, n: int) -> float:
    """A bound on delta of k-ary randomized response among n users."""
    gamma = k / (np.exp(eps0) + k - 1)
    users = np.arange(1, n + 1)
    inside = stats.binom.pmf(users, n, gamma)
    mean, largest = 1 - np.exp(eps), gamma * (np.exp(eps0) - np.exp(eps))
    variance = gamma * (1 + np.exp(2 * eps)) * (np.exp(eps0) - 1) ** 2 / k
    a = variance / largest**2
    u = -largest * mean / variance
    rate = a * ((1 + u) * np.log1p(u) - u)
    tail = largest / (users * np.log1p(u)) * np.exp(-users * rate)
    return float((inside * np.minimum(tail, largest)).sum() / gamma)


if __name__ == "__main__":
    print(bennett(10, 1.0, 0.02, 10_000))
