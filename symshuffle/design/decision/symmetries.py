r"""Symmetries of a decision problem: checked when a group is given, found when none is.

For a Bayes criterion only the costs :math:`h_{a,x}` matter, so a permutation of the inputs is a symmetry if it
permutes the rows of ``h``. For the minimax criterion it has to permute the parameters (rows of the model) and the
actions (columns of the loss) consistently (ldp_tradeoff, Definition 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from symshuffle.base.choices import Criterion, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.geometry.automorphisms import Codes, column_automorphisms, encode
from symshuffle.geometry.groups import SymmetryGroup, trivial_group
from symshuffle.geometry.linear import Matrix
from symshuffle.geometry.subset_orbits import orbits_of_points

_ADVICE: Final = (
    "give the group by its generators instead (SymmetryGroup(m, generators), field symmetry of a problem file), or use "
    "the compact form (no --symmetry)"
)


@final
@dataclass(frozen=True, slots=True)
class InducedAction:
    """How the generators of a group on the inputs permute the parameters and the actions of a problem."""

    parameters: tuple[tuple[int, ...], ...]
    actions: tuple[tuple[int, ...], ...]

    def parameter_orbits(self, size: int) -> tuple[tuple[int, ...], ...]:
        """The orbits of parameters."""
        return orbits_of_points(size, self.parameters)

    def action_orbits(self, size: int) -> tuple[tuple[int, ...], ...]:
        """The orbits of actions, actions with equal losses together."""
        return orbits_of_points(size, self.actions)


def induced_action(
    problem: DecisionProblem,
    group: SymmetryGroup,
    *,
    criterion: Criterion = Criterion.BAYES,
    costs: Matrix | None = None,
) -> InducedAction:
    """How a group acts on a problem."""
    minimax = criterion is Criterion.MINIMAX
    if group.m != problem.num_inputs:
        raise InputError("group", f"acts on {group.m} inputs", f"a group on {problem.num_inputs} inputs")
    if not group.generators:
        return InducedAction((), ())
    named = [(f"generators[{i}]", generator) for i, generator in enumerate(group.generators)]
    if minimax:
        structure = _Structure.of(problem)
        pairs = [structure.images(generator, name) for name, generator in named]
        return InducedAction(tuple(t for t, _ in pairs), tuple(a for _, a in pairs))
    costs = costs or problem.posterior_costs(problem.required_prior())
    codes = encode(costs)
    what = "the posterior costs of action"
    return InducedAction((), tuple(_row_images(codes, costs, generator, name, what) for name, generator in named))


@final
@dataclass(frozen=True, slots=True)
class _Structure:
    """Model and loss of a problem as numbers, for the minimax criterion."""

    problem: DecisionProblem
    model: Codes
    loss: Codes

    @classmethod
    def of(cls, problem: DecisionProblem) -> _Structure:
        model = encode(problem.model)
        if len({row.tobytes() for row in model}) < len(model):
            # Where a symmetry takes such a parameter would be ambiguous.
            raise Unsupported("two parameters have the same model: merge them, or use a Bayes criterion")
        return cls(problem, model, encode(problem.loss))

    def images(self, permutation: Sequence[int], name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Where a permutation of the inputs takes parameters and actions."""
        parameters = _row_images(self.model, self.problem.model, permutation, name, "the model of parameter")
        moved = np.empty_like(self.loss)
        moved[list(parameters)] = self.loss
        actions = _matched(self.loss.T, moved.T)
        if isinstance(actions, int):
            raise InputError(
                name, list(permutation), f"a symmetry: it moves the losses of action {actions} to no action's"
            )
        return parameters, actions


def parameter_permutation(problem: DecisionProblem, permutation: Sequence[int], name: str) -> tuple[int, ...]:
    """How a permutation of the inputs permutes the parameters, if it is a symmetry of model and loss."""
    return _Structure.of(problem).images(permutation, name)[0]


def detect_symmetry(problem: DecisionProblem, *, criterion: Criterion | str = Criterion.BAYES) -> SymmetryGroup:
    """Group of input permutations that are symmetries of a decision problem.

    The search is a partition refinement with backtracking (:mod:`symshuffle.geometry.automorphisms`). Every generator
    is a symmetry that was checked; the group is the full one unless the search was cut short after about 15 seconds.

    For the minimax criterion a problem of which two parameters have the same model gets the trivial group: which of
    them a symmetry moves to which would be ambiguous.

    Parameters
    ----------
    problem : DecisionProblem
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
    minimax = choice(Criterion, criterion, "criterion") is Criterion.MINIMAX
    m = problem.num_inputs
    if minimax and len(set(problem.model)) < len(problem.model):
        return trivial_group(m)
    if minimax:
        structure = _Structure.of(problem)

        def accepts(permutation: Sequence[int]) -> bool:
            try:
                structure.images(permutation, "permutation")
            except InputError:
                return False
            return True

        return column_automorphisms(encode(problem.model, problem.loss), m, accepts, advice=_ADVICE)
    codes = encode(problem.posterior_costs(problem.required_prior()))

    def permutes_rows(permutation: Sequence[int]) -> bool:
        return not isinstance(_matched(codes, _moved(codes, permutation)), int)

    return column_automorphisms(codes, m, permutes_rows, advice=_ADVICE)


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
