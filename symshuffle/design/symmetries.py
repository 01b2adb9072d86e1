r"""Symmetries of a decision problem: checked when a group is given, found when none is.

For a Bayes criterion only the costs :math:`h_{a,x}` matter, so a permutation of the inputs is a symmetry if it
permutes the rows of ``h``. For the minimax criterion it has to permute the parameters (rows of the model) and the
actions (columns of the loss) consistently (ldp_tradeoff, Definition 2.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from symshuffle.design.problems import DecisionProblem, Matrix
from symshuffle.errors import InputError, Unsupported
from symshuffle.geometry.symmetry import SymmetryGroup, product_of_symmetric_groups

_SEARCH_LIMIT: Final = 20_000
"""Partial assignments visited before the search for further symmetries stops; what was found stays valid."""


def check_symmetry(
    problem: DecisionProblem, group: SymmetryGroup, *, minimax: bool = False, costs: Matrix | None = None
) -> None:
    """Refuse a group that does not act on the problem.

    Raises
    ------
    InputError
        Naming the generator and the entry that it fails to preserve.
    """
    if group.m != problem.num_inputs:
        raise InputError("group", f"acts on {group.m} inputs", f"a group on {problem.num_inputs} inputs")
    if minimax:
        for i, generator in enumerate(group.generators):
            parameter_permutation(problem, generator, f"generators[{i}]")
        return
    costs = costs or problem.posterior_costs(problem.required_prior())
    for i, generator in enumerate(group.generators):
        _moved_rows(costs, generator, f"generators[{i}]", "the posterior costs of action")


def parameter_permutation(problem: DecisionProblem, permutation: Sequence[int], name: str) -> tuple[int, ...]:
    """How a permutation of the inputs permutes the parameters, if it is a symmetry of model and loss.

    Raises
    ------
    InputError
        If it is none; or if two parameters have the same model, where the answer would be ambiguous.
    """
    rows = {row: t for t, row in enumerate(problem.model)}
    if len(rows) < len(problem.model):
        raise Unsupported("two parameters have the same model: merge them, or use a Bayes criterion")
    moved = _moved_rows(problem.model, permutation, name, "the model of parameter")
    images = tuple(rows[row] for row in moved)
    losses = Counter(zip(*problem.loss, strict=True))
    for a, column in enumerate(zip(*problem.loss, strict=True)):
        image = [Fraction(0)] * len(images)
        for t, target in enumerate(images):
            image[target] = column[t]
        if losses[tuple(image)] != losses[column]:
            raise InputError(name, list(permutation), f"a symmetry: it moves the losses of action {a} to no action's")
    return images


def is_transitive_on_parameters(problem: DecisionProblem, group: SymmetryGroup) -> bool:
    """Whether the group moves every parameter to every other one, so that only the uniform prior is invariant."""
    images = [parameter_permutation(problem, g, f"generators[{i}]") for i, g in enumerate(group.generators)]
    reached, frontier = {0}, [0]
    while frontier:
        t = frontier.pop()
        for image in images:
            if image[t] not in reached:
                reached.add(image[t])
                frontier.append(image[t])
    return len(reached) == problem.num_parameters


def detect_symmetry(problem: DecisionProblem, *, minimax: bool = False) -> SymmetryGroup:
    """The group of input permutations that are symmetries of the problem, as far as the search reaches.

    Inputs that may be exchanged in pairs form blocks with their full symmetric groups; further generators are searched
    by backtracking over images of inputs. Every generator returned is a symmetry; the group may be smaller than
    the full one only if the search was cut short.
    """
    m = problem.num_inputs
    matrix: Matrix = problem.model if minimax else problem.posterior_costs(problem.required_prior())

    def accepts(permutation: Sequence[int]) -> bool:
        try:
            if minimax:
                parameter_permutation(problem, permutation, "permutation")
            else:
                _moved_rows(matrix, permutation, "permutation", "row")
        except InputError:
            return False
        return True

    def swap(x: int, y: int) -> list[int]:
        image = list(range(m))
        image[x], image[y] = y, x
        return image

    blocks: list[list[int]] = []
    for x in range(m):
        home = next((block for block in blocks if accepts(swap(block[0], x))), None)
        if home is None:
            blocks.append([x])
        else:
            home.append(x)
    exchange = product_of_symmetric_groups(blocks)
    if len(blocks) == 1:
        return exchange
    further = _search(matrix, blocks, accepts)
    if not further:
        return exchange
    rotation = (*range(1, m), 0)
    if len(blocks) == m and not minimax and accepts(rotation) and not accepts([-x % m for x in range(m)]):
        return SymmetryGroup(m, (rotation,), rotation=True)
    return SymmetryGroup(m, tuple(dict.fromkeys((*exchange.generators, *further))))


def _search(
    matrix: Matrix, blocks: Sequence[Sequence[int]], accepts: Callable[[Sequence[int]], bool]
) -> list[tuple[int, ...]]:
    """One symmetry for every pair ``i -> j`` that fixes all inputs before ``i``, where there is one.

    A partial assignment survives if the rows restricted to the assigned inputs and to their images are the same
    multiset. Exchangeable inputs need not be tried: only first elements of blocks move here.
    """
    m = sum(len(block) for block in blocks)
    columns = tuple(zip(*matrix, strict=True))
    profiles = [tuple(sorted(column)) for column in columns]
    heads = [block[0] for block in blocks]
    budget = [_SEARCH_LIMIT]

    def consistent(images: Sequence[int]) -> bool:
        before = Counter(tuple(row[x] for x in range(len(images))) for row in matrix)
        return before == Counter(tuple(row[y] for y in images) for row in matrix)

    def extend(images: list[int]) -> tuple[int, ...] | None:
        if len(images) == m:
            return tuple(images) if accepts(images) else None
        for y in range(m):
            if y in images or profiles[y] != profiles[len(images)]:
                continue
            budget[0] -= 1
            if budget[0] < 0:
                return None
            if consistent([*images, y]):
                found = extend([*images, y])
                if found:
                    return found
        return None

    generators = []
    for i in heads:
        for j in heads:
            if j > i and profiles[i] == profiles[j]:
                start = [*range(i), j]
                found = extend(start) if consistent(start) else None
                if found:
                    generators.append(found)
    return generators


def _moved_rows(matrix: Matrix, permutation: Sequence[int], name: str, what: str) -> list[tuple[Fraction, ...]]:
    """The rows after moving entry ``x`` to place ``permutation[x]``; they have to be the same rows in another order."""
    known = Counter(matrix)
    moved = []
    for a, row in enumerate(matrix):
        image = [Fraction(0)] * len(row)
        for x, target in enumerate(permutation):
            image[target] = row[x]
        moved.append(tuple(image))
        if known[moved[-1]] != known[row]:
            entry = next((x for x in range(len(row)) if all(other[x] != image[x] for other in known)), None)
            where = "" if entry is None else f" (entry {entry} would be {image[entry]})"
            raise InputError(
                name, list(permutation), f"a symmetry: it moves {what} {a} to a row that does not occur{where}"
            )
    return moved
