r"""Symmetries of a decision problem, checked or found, and what is left of the problem under a group of them.

For a Bayes criterion only the costs :math:`h_{a,x}` matter: a permutation of the inputs is a symmetry if it permutes
the rows of ``h``. For the minimax criterion it has to permute the parameters (rows of the model) and the actions
(columns of the loss) consistently (ldp_tradeoff, Definition 2.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint
import numpy as np

from symshuffle.base.choices import Criterion, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.lp import LinearProgram
from symshuffle.channels.geometry.automorphisms import Codes, column_automorphisms, encode
from symshuffle.channels.geometry.groups import SymmetryGroup, trivial_group
from symshuffle.channels.geometry.linear import Matrix, Vector
from symshuffle.channels.geometry.linprog import solve
from symshuffle.channels.geometry.subset_orbits import orbits_of_points
from symshuffle.design.decision.certificate import violated_columns
from symshuffle.design.decision.problems import Problem, SubsetAction, as_integers

_ADVICE: Final = (
    "give the group by its generators instead (SymmetryGroup(m, generators), field symmetry of a problem file), or use "
    "the compact form (optimal)"
)


Priced: TypeAlias = tuple[tuple[tuple[SubsetAction, Fraction], ...], Vector, Vector, list[SubsetAction]]


@final
@dataclass(frozen=True, slots=True)
class InvariantProblem:
    r"""A decision problem and a group of its symmetries, as the data of the reduced programs.

    Averaging a channel and its rule over the group changes neither risk, so it suffices to weigh orbits of pairs
    (subset, action). One unit on the orbit of :math:`(S,a)` gives an input of the orbit ``I`` the probability
    :math:`1+(\lambda-1)\,|S\cap I|/|I|`, and adds to the risk at an orbit of parameters the posterior costs of the
    column under the uniform prior on it. None of this needs a list of the orbits of subsets.

    - ``problem``: the problem; for the minimax criterion with one orbit of parameters, under the uniform prior, which
      is then least favourable.
    - ``inputs``: orbits of inputs.
    - ``parameters``: orbits of parameters over which the largest risk is taken; empty if a prior is given.
    - ``actions``: one of each orbit; their numbers here are *places*.
    - ``prices``: posterior costs of these, under the prior or under the uniform prior on each orbit of parameters.
    """

    problem: Problem
    group: SymmetryGroup
    inputs: tuple[tuple[int, ...], ...]
    parameters: tuple[tuple[int, ...], ...]
    actions: tuple[int, ...]
    prices: tuple[Matrix, ...]

    @classmethod
    def of(cls, problem: Problem, group: SymmetryGroup, *, criterion: Criterion) -> InvariantProblem:
        """Reduce a problem."""
        if group.m != problem.num_inputs:
            raise InputError("group", f"acts on {group.m} inputs", f"a group on {problem.num_inputs} inputs")
        moved = []
        if group.generators:
            images_of = mover(problem, criterion=criterion)
            moved = [images_of(g, f"generators[{i}]") for i, g in enumerate(group.generators)]
        parameters: tuple[tuple[int, ...], ...] = ()
        if criterion == "minimax":
            parameters = orbits_of_points(problem.num_parameters, [images for images, _ in moved])
        if len(parameters) == 1:
            problem, parameters = problem.with_prior(spread_over(parameters, [Fraction(1)], problem.num_parameters)), ()
        actions = tuple(orbit[0] for orbit in orbits_of_points(problem.num_actions, [images for _, images in moved]))
        priors = [spread_over([orbit], [Fraction(1)], problem.num_parameters) for orbit in parameters] or [
            problem.required_prior()
        ]
        prices = tuple(problem.posterior_costs(prior, actions=actions) for prior in priors)
        return cls(problem, group, group.input_orbits(), parameters, actions, prices)

    def prior(self, weights: Sequence[Fraction]) -> Vector:
        """The prior over the parameters with these weights of the orbits, or the given prior if there are no orbits."""
        if not self.parameters:
            return self.problem.required_prior()
        return spread_over(self.parameters, weights, self.problem.num_parameters)

    def risks(self, pairs: Sequence[SubsetAction], lam: Fraction) -> list[Vector]:
        """What one unit of weight on each pair (subset, place) costs, by price list."""
        m = self.group.m
        inside = flint.fmpz_mat(len(pairs), m, [subset >> x & 1 for subset, _ in pairs for x in range(m)])
        found = []
        for matrix in self.prices:
            costs, scale = as_integers(matrix, m)
            sums, totals = inside * costs.transpose(), [sum(map(int, row)) for row in costs.tolist()]
            found.append([(totals[a] + (lam - 1) * int(sums[j, a])) / scale for j, (_, a) in enumerate(pairs)])
        return list(zip(*found, strict=True))

    def program(self, pairs: Sequence[SubsetAction], lam: Fraction) -> LinearProgram:
        """The program over the orbits of some pairs (subset, place), one total weight each.

        With orbits of parameters the last variable is the largest risk, free, and one row per orbit bounds the risk.
        """
        rows = len(self.inputs)
        costs, columns = [], []
        for (subset, _), risks in zip(pairs, self.risks(pairs, lam), strict=True):
            shares = (Fraction(sum(subset >> x & 1 for x in orbit), len(orbit)) for orbit in self.inputs)
            entries = [(i, 1 + (lam - 1) * share) for i, share in enumerate(shares)]
            if self.parameters:
                entries += [(rows + j, risk) for j, risk in enumerate(risks) if risk]
            costs.append(Fraction(0) if self.parameters else risks[0])
            columns.append(tuple(entries))
        count = len(self.parameters)
        if count:
            costs.append(Fraction(1))
            columns.append(tuple((rows + j, Fraction(-1)) for j in range(count)))
        senses, rhs = ("==",) * rows + ("<=",) * count, (Fraction(1),) * rows + (Fraction(0),) * count
        free = frozenset({len(pairs)}) if count else frozenset[int]()
        return LinearProgram(tuple(costs), tuple(columns), senses, rhs, free)

    def priced(self, pairs: Sequence[SubsetAction], lam: Fraction) -> Priced:
        """One round of column generation over the rationals: the program over some pairs, and what it lacks.

        Returns masses of pairs, multipliers by input, the prior, and pairs that the multipliers violate.
        """
        certificate = solve(self.program(pairs, lam)).certificate
        count = len(self.inputs)
        bound = spread_over(self.inputs, certificate.dual[:count], self.group.m)
        prior = self.prior([-y for y in certificate.dual[count:]])
        costs = self.problem.posterior_costs(prior, actions=self.actions)
        known = set(pairs)
        fresh = [pair for pair in violated_columns(costs, bound, lam) if pair not in known]
        masses = tuple((pairs[j], mass) for j, mass in certificate.primal if j < len(pairs))
        return masses, bound, prior, fresh


def spread_over(orbits: Sequence[Sequence[int]], values: Sequence[Fraction], size: int) -> Vector:
    """The value of each orbit, shared equally by its members; 0 elsewhere."""
    found = [Fraction(0)] * size
    for orbit, value in zip(orbits, values, strict=True):
        for x in orbit:
            found[x] = value / len(orbit)
    return tuple(found)


def detect_symmetry(problem: Problem, *, criterion: Criterion = "bayes") -> SymmetryGroup:
    """Group of input permutations that are symmetries of a decision problem.

    The search is a partition refinement with backtracking (`channels.geometry.automorphisms`). Every generator is a
    symmetry that was checked; the group is the full one unless the search was cut short after about 15 seconds.

    For the minimax criterion a problem of which two parameters have the same model gets the trivial group: which of
    them a symmetry moves to which would be ambiguous.

    Parameters
    ----------
    problem : Problem
        With a prior, unless the criterion is minimax.
    criterion : {"bayes", "minimax"}
        Whether the posterior costs have to be preserved, or the model and the loss.

    Returns
    -------
    SymmetryGroup
        Generators of the group.

    Raises
    ------
    InputError
        If the criterion is unknown, or a Bayes problem has no prior.
    Unsupported
        If the matrix of the problem is too large to search; the message names what to pass instead.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> detect_symmetry(smoothed_point_masses(4, 1)).order()
    24
    """
    minimax = choice(Criterion, criterion, "criterion") == "minimax"
    if minimax and len(set(problem.model)) < len(problem.model):
        return trivial_group(problem.num_inputs)
    loss = encode(problem.loss)
    codes = encode(problem.model if minimax else problem.posterior_costs(problem.required_prior()))

    def accepts(permutation: Sequence[int]) -> bool:
        rows = _matched(codes, _moved(codes, permutation))
        return not isinstance(rows, int) and not (minimax and isinstance(_answered(loss, rows), int))

    searched = encode(problem.model, problem.loss) if minimax else codes
    return column_automorphisms(searched, problem.num_inputs, accepts, advice=_ADVICE)


def mover(problem: Problem, *, criterion: Criterion) -> Callable[[Sequence[int], str], tuple[Any, Any]]:
    """Where a permutation of the inputs, with its name, takes parameters (for the minimax criterion) and actions."""
    if criterion != "minimax":
        costs = problem.posterior_costs(problem.required_prior())
        codes = encode(costs)
        return lambda moved, name: ((), _row_images(codes, costs, moved, name, "the posterior costs of action"))
    model, loss = encode(problem.model), encode(problem.loss)
    if len({row.tobytes() for row in model}) < len(model):
        # Where a symmetry takes such a parameter would be ambiguous.
        raise Unsupported("two parameters have the same model: merge them, or use a Bayes criterion")

    def images(moved: Sequence[int], name: str) -> tuple[Any, Any]:
        parameters = _row_images(model, problem.model, moved, name, "the model of parameter")
        actions = _answered(loss, parameters)
        if isinstance(actions, int):
            raise InputError(name, list(moved), f"a symmetry: it moves the losses of action {actions} to no action's")
        return parameters, actions

    return images


def _answered(loss: Codes, parameters: Sequence[int]) -> tuple[int, ...] | int:
    """Where actions go as the parameters do; the index of one that no action's losses match."""
    moved = np.empty_like(loss)
    moved[list(parameters)] = loss
    return _matched(loss.T, moved.T)


def _moved(codes: Codes, permutation: Sequence[int]) -> Codes:
    moved = np.empty_like(codes)
    moved[:, list(permutation)] = codes
    return moved


def _matched(known: Any, moved: Any) -> tuple[int, ...] | int:
    """For every moved row, the first known row equal to it; if the multisets differ, the index of a row that fails."""
    before, after = ([row.tobytes() for row in np.ascontiguousarray(rows)] for rows in (known, moved))
    first: dict[bytes, int] = {}
    balance: dict[bytes, int] = {}
    for a, key in enumerate(before):
        first.setdefault(key, a)
        balance[key] = balance.get(key, 0) + 1
    for a, key in enumerate(after):
        balance[key] = balance.get(key, 0) - 1
        if balance[key] < 0:
            return a
    return tuple(first[key] for key in after)


def _row_images(codes: Codes, matrix: Matrix, permutation: Sequence[int], name: str, what: str) -> tuple[int, ...]:
    """Where a permutation of the columns takes the rows; they have to be the same rows in another order."""
    images = _matched(codes, _moved(codes, permutation))
    if not isinstance(images, int):
        return images
    image = [Fraction(0)] * len(permutation)
    for x, target in enumerate(permutation):
        image[target] = matrix[images][x]
    entry = next((x for x, value in enumerate(image) if all(row[x] != value for row in matrix)), None)
    where = "" if entry is None else f" (entry {entry} would be {image[entry]})"
    raise InputError(
        name, list(permutation), f"a symmetry: it moves {what} {images} to a row that does not occur{where}"
    )
