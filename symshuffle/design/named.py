"""Families of design problems whose optimum is known in closed form, with what decides their formulas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import sympy as sp

from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import Ball, Exp, as_integer, to_arb, working_precision
from symshuffle.channels.geometry.extremal import check_inputs, check_lam
from symshuffle.channels.geometry.groups import cyclic_group, dihedral_group
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.design.parametric.program import ParametricProgram, program_of_costs
from symshuffle.design.parametric.signs import sign_in_field


def weighted_guessing_problem(prior: Sequence[Fraction]) -> DecisionProblem:
    """Problem of guessing a value that is read without noise, under a prior.

    Parameters
    ----------
    prior : sequence of Fraction
        One probability per value, of sum 1; at least 2 values.

    Returns
    -------
    DecisionProblem
        With 0-1 loss.

    Raises
    ------
    InputError
        If the prior is no distribution on at least 2 values.

    Examples
    --------
    >>> weighted_guessing_problem([Fraction(2, 3), Fraction(1, 3)]).prior
    (Fraction(2, 3), Fraction(1, 3))
    """
    m = len(prior)
    one_hot = tuple(tuple(Fraction(int(x == t)) for x in range(m)) for t in range(m))
    return DecisionProblem(one_hot, tuple(tuple(1 - v for v in row) for row in one_hot), tuple(prior))


def weighted_guessing_risk(prior: Sequence[Fraction], lam: Fraction | int) -> tuple[Fraction, int]:
    r"""Smallest risk of guessing a value under a prior, and the number of values used.

    With the masses :math:`P_j` of the ``j`` likeliest values it is :math:`1-\max_j\lambda P_j/(\lambda+j-1)`. With
    V the maximum, :math:`v_x = (\lambda\pi_x - V)_+/(\lambda-1)` is the vector that bounds every channel.

    Parameters
    ----------
    prior : sequence of Fraction
        One probability per value, of sum 1.
    lam : Fraction or int
        ``exp(eps0)``, a rational above 1.

    Returns
    -------
    risk : Fraction
        The optimal probability of a wrong guess.
    j : int
        Randomized response among the ``j`` most likely values attains it.

    Raises
    ------
    InputError
        If the level is not above 1, or the prior is no distribution on at least 2 values.

    Examples
    --------
    >>> weighted_guessing_risk([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], 2)
    (Fraction(4, 9), 2)
    """
    level = check_lam(lam)
    masses = _leading_masses(prior)
    gains = [level * mass / (level + j) for j, mass in enumerate(masses)]
    best = max(gains)
    return 1 - best, gains.index(best) + 1


def weighted_guessing_breakpoints(prior: Sequence[Fraction]) -> list[Fraction]:
    """Levels ``lam`` above 1 at which the optimal number of guessed values grows.

    Parameters
    ----------
    prior : sequence of Fraction
        One probability per value, of sum 1.

    Returns
    -------
    list of Fraction
        In ascending order: from ``j`` to ``j + 1`` at ``P_j / pi_{j+1} - (j - 1)``. Values of mass zero never enter.

    Raises
    ------
    InputError
        If the prior is no distribution on at least 2 values.

    Examples
    --------
    >>> weighted_guessing_breakpoints([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    [Fraction(3, 2), Fraction(4, 1)]
    """
    ordered, masses = sorted(prior, reverse=True), _leading_masses(prior)
    levels = [masses[j] / ordered[j + 1] - j for j in range(len(ordered) - 1) if ordered[j + 1]]
    return sorted({level for level in levels if level > 1})


def _leading_masses(prior: Sequence[Fraction]) -> list[Fraction]:
    if len(prior) < 2 or sum(prior) != 1 or min(prior) < 0:
        raise InputError("prior", [str(p) for p in prior], "at least 2 probabilities that sum to 1")
    ordered = sorted(prior, reverse=True)
    return [sum(ordered[: j + 1], start=Fraction(0)) for j in range(len(ordered))]


def subset_weight(m: Any, k: Any, lam: Any) -> Any:
    """The probability of a ``k``-subset without the input: it lies in C(m-1, k-1) of them, outside C(m-1, k)."""
    return 1 / (lam * sp.binomial(m - 1, k - 1) + sp.binomial(m - 1, k))


def guessing_risk(m: Any, k: Any, gamma: Any, lam: Any) -> Any:
    r"""The risk of subset selection and a uniform guess in the subset, for smoothed point masses, symbolically.

    Subsets fall into classes by whether they contain the parameter and the input; each class is counted.
    """
    w = subset_weight(m, k, lam)
    wrong_inside = 1 - sp.Integer(1) / k
    at_theta = lam * sp.binomial(m - 1, k - 1) * wrong_inside + sp.binomial(m - 1, k)
    elsewhere = (
        lam * sp.binomial(m - 2, k - 2) * wrong_inside  # contains both
        + sp.binomial(m - 2, k - 1) * wrong_inside  # contains theta only
        + lam * sp.binomial(m - 2, k - 1)  # contains x only
        + sp.binomial(m - 2, k)  # contains neither
    )
    off_diagonal = (1 - gamma) / m
    return w * ((off_diagonal + gamma) * at_theta + (m - 1) * off_diagonal * elsewhere)


def guessing_bound_slacks(m: Any, gamma: Any, lam: Any, optimum: Any) -> tuple[Any, Any, Any]:
    r"""What it takes for ``optimum`` to bound every LDP channel from below, by the vector ``optimum / m``.

    The gap :math:`(1 - P(x|a))/m - u` at ``x = a`` and elsewhere, and the smallest value over columns of the LDP cone,
    provided that the first gap is at most zero and the second at least zero.
    """
    bound = optimum / m
    inside = (1 - (1 - gamma) / m - gamma) / m - bound
    outside = (1 - (1 - gamma) / m) / m - bound
    return inside, outside, lam * inside + (m - 1) * outside


def ring_distance(m: int, x: int, y: int) -> int:
    """Number of steps between two positions on a ring of ``m``."""
    return min((x - y) % m, (y - x) % m)


def blurred_costs(m: int, blur: Any, action: int) -> list[Any]:
    """The expected loss of an action given each reading with a blur to both neighbours, times ``m``."""
    if m < 3:
        raise InputError("m", m, "at least 3 positions")
    return [
        (1 - 2 * blur) * ring_distance(m, x, action)
        + blur * (ring_distance(m, x - 1, action) + ring_distance(m, x + 1, action))
        for x in range(m)
    ]


def candidate_risks(m: int, blur: Any, lam: Any) -> Iterator[tuple[int, int, Any]]:
    r"""The risk :math:`\sum_x S_{y,x} h_{a,x} / (k\lambda + m - k)` of one subset per orbit with every action."""
    for orbit in dihedral_group(m).subset_orbits():
        inside = [x for x in range(m) if orbit.representative >> x & 1]
        total = len(inside) * lam + m - len(inside)
        for action in range(m):
            costs = blurred_costs(m, blur, action)
            cost = sum(costs) + (lam - 1) * sum((costs[x] for x in inside), sp.Integer(0))
            yield orbit.representative, action, cost / total


_BITS: Final = 160


def uniform_information(m: int, k: int, eps0: Fraction) -> Ball:
    r"""Mutual information of subset selection at a uniform input, in nats (ldp_tradeoff, Remark 3.19)."""
    with working_precision(_BITS):
        lam = to_arb(Exp(eps0))
        total = k * lam + m - k
        return Ball.from_arb(to_arb(eps0) * k * lam / total - (total / m).log(), _BITS)


def best_uniform_size(m: int, eps0: Fraction) -> tuple[Ball, int]:
    """The largest mutual information at a uniform input, and the size of the subsets that attain it."""
    values = [(uniform_information(m, k, eps0), k) for k in range(1, check_inputs(m))]
    best = max(values, key=lambda pair: pair[0].midpoint)
    if any(other.upper > best[0].lower for other, k in values if k != best[1]):
        raise NotDecided(f"two subset sizes tie at m = {m}, eps0 = {eps0}")
    return best


LARGEST_READINGS: Final = 14
"""Readings beyond which building the program over its number field takes minutes."""


def cosine_field(m: int) -> Any:
    r"""The real number field generated by :math:`\cos(\pi/m)`; it contains every :math:`\cos(\pi j/m)`."""
    return sp.QQ.algebraic_field(sp.cos(sp.pi / m)) if m > 3 else sp.QQ


def cosine(j: int, m: int, domain: Any) -> Any:
    r"""The element :math:`\cos(\pi j/m)` of that field, as a Chebyshev polynomial of the generator."""
    generator = domain.convert(sp.cos(sp.pi / m)) if domain.is_QQ else domain.unit
    before, current = domain.one, generator
    if j % (2 * m) == 0:
        return domain.one
    for _ in range(j % (2 * m) - 1):
        before, current = current, 2 * generator * current - before
    return current


def cardioid_program(m: int, gamma: Fraction) -> ParametricProgram:
    r"""Program of the smallest Bayes risk in the cardioid model, reduced by rotations.

    Readings are ``x`` in ``0..m-1`` with :math:`P(x|\theta) = \frac1m (1 + \gamma\cos(2\pi x/m - \theta))`, the loss of
    answering ``a`` is :math:`1-\cos(\theta-a)`, the prior uniform on the circle. Actions are the multiples of
    :math:`\pi/m`; by :func:`grid_suffices` no other actions lower the risk.

    Parameters
    ----------
    m : int
        Number of readings on the circle, at least 3.
    gamma : Fraction
        Strength of the signal, a rational in (0, 1].

    Returns
    -------
    ParametricProgram
        For :func:`symshuffle.design.derive`.

    Raises
    ------
    InputError
        If ``m`` is below 3, or ``gamma`` is outside (0, 1].
    Unsupported
        If ``m`` is above ``LARGEST_READINGS``, which is 14.

    Examples
    --------
    >>> from symshuffle.design import derive
    >>> derive(cardioid_program(3, Fraction(1))).expression()
    (lambda + 5)/(2*(lambda + 2))
    """
    m = as_integer(m, "m", 3)
    if m > LARGEST_READINGS:
        raise Unsupported(
            f"m = {m}: the orbits double and their field grows with m; here up to {LARGEST_READINGS} readings"
        )
    if not 0 < gamma <= 1:
        raise InputError("gamma", gamma, "a rational in (0, 1]")
    domain = cosine_field(m)
    scale = domain(gamma.numerator) / domain(2 * gamma.denominator)
    table = [cosine(j, m, domain) for j in range(2 * m)]
    costs = [[(domain.one - scale * table[(2 * x - a) % (2 * m)]) / domain(m) for x in range(m)] for a in range(2 * m)]
    return program_of_costs(costs, cyclic_group(m), domain)


def grid_suffices(m: int) -> bool:
    r"""Whether no action off the grid of multiples of :math:`\pi/m` can improve the optimum, decided exactly.

    The best action for a subset ``y`` earns :math:`|Z_y|`, :math:`Z_y=\sum_{x\in y} e^{2\pi i x/m}`. For every size the
    largest :math:`|Z_y|^2`, an element of the field, is compared with the square of the best earning on the grid.
    """
    domain = cosine_field(m)
    table = [cosine(j, m, domain) for j in range(2 * m)]
    largest: dict[int, Any] = {}
    on_grid: dict[int, Any] = {}
    for orbit in cyclic_group(m).subset_orbits():
        inside = [x for x in range(m) if orbit.representative >> x & 1]
        k = len(inside)
        square = sum((table[2 * (x - z) % (2 * m)] for x in inside for z in inside), start=domain.zero)
        earned = [sum((table[(2 * x - a) % (2 * m)] for x in inside), start=domain.zero) for a in range(2 * m)]
        if k not in largest or sign_in_field(square - largest[k], domain) > 0:
            largest[k] = square
        for value in earned:
            if k not in on_grid or sign_in_field(value - on_grid[k], domain) > 0:
                on_grid[k] = value
    return all(on_grid[k] * on_grid[k] == largest[k] for k in largest)
