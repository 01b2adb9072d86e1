r"""What is left of a decision problem under a group of its symmetries.

Averaging a channel and its rule over the group changes neither the Bayes risk nor the worst-case risk, and makes the
risk the same at all parameters of an orbit. So it suffices to weigh orbits of pairs (subset, action). One unit of
weight on the orbit of :math:`(S,a)` gives an input of the orbit ``I`` the probability
:math:`1+(\lambda-1)\,|S\cap I|/|I|`, and adds, on average over the parameters of an orbit ``T``,

.. math:: \sum_x v_x\, h^T_{a,x},\qquad h^T_{a,x}=\frac1{|T|}\sum_{t\in T}\ell(t,a)\,P(x|t),\quad v=1+(\lambda-1)1_S,

to the risk: the posterior costs under the uniform prior on ``T``. The dual variables are a prior that is constant on
orbits of parameters and a bound that is constant on orbits of inputs. None of this needs a list of the orbits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from symshuffle.base.choices import Criterion
from symshuffle.base.lp import LinearProgram, Sense
from symshuffle.design.decision.problems import DecisionProblem, SubsetAction
from symshuffle.design.decision.symmetries import induced_action
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.geometry.linear import Matrix


@final
@dataclass(frozen=True, slots=True)
class InvariantProblem:
    """A decision problem and a group of its symmetries, as the data of the reduced programs.

    - ``problem``: the problem; for the minimax criterion with one orbit of parameters, under the uniform prior, which
      is then least favourable.
    - ``inputs``: orbits of inputs.
    - ``parameters``: orbits of parameters over which the largest risk is taken; empty if a prior is given.
    """

    problem: DecisionProblem
    group: SymmetryGroup
    inputs: tuple[tuple[int, ...], ...]
    parameters: tuple[tuple[int, ...], ...]
    actions: tuple[int, ...]
    prices: tuple[Matrix, ...]

    @classmethod
    def of(cls, problem: DecisionProblem, group: SymmetryGroup, *, criterion: Criterion) -> InvariantProblem:
        """Reduce a problem."""
        minimax = criterion is Criterion.MINIMAX
        action = induced_action(problem, group, criterion=criterion)
        parameters = action.parameter_orbits(problem.num_parameters) if minimax else ()
        if len(parameters) == 1:
            problem, parameters = problem.with_prior(_uniform_on(parameters[0], problem.num_parameters)), ()
        actions = tuple(orbit[0] for orbit in action.action_orbits(problem.num_actions))
        priors = [_uniform_on(orbit, problem.num_parameters) for orbit in parameters] or [problem.required_prior()]
        prices = tuple(problem.posterior_costs(prior, actions=actions) for prior in priors)
        return cls(problem, group, group.input_orbits(), parameters, actions, prices)

    @property
    def num_rows(self) -> int:
        """Rows of the reduced program: orbits of inputs, and orbits of parameters where a maximum is taken."""
        return len(self.inputs) + len(self.parameters)

    def prior(self, weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """The prior over the parameters with these weights of the orbits, or the given prior if there are no orbits."""
        if not self.parameters:
            return self.problem.required_prior()
        prior = [Fraction(0)] * self.problem.num_parameters
        for orbit, weight in zip(self.parameters, weights, strict=True):
            for t in orbit:
                prior[t] = weight / len(orbit)
        return tuple(prior)

    def costs(self, weights: Sequence[Fraction]) -> list[list[Fraction]]:
        """The posterior costs of the representative actions, by action and input, under weights of the price lists."""
        return [
            [
                sum((w * h for w, h in zip(weights, prices, strict=True)), start=Fraction(0))
                for prices in zip(*rows, strict=True)
            ]
            for rows in zip(*self.prices, strict=True)
        ]

    def shares(self, subset: int) -> tuple[Fraction, ...]:
        """For every orbit of inputs, the part of it that belongs to a subset."""
        return tuple(Fraction(sum(subset >> x & 1 for x in orbit), len(orbit)) for orbit in self.inputs)

    def risks(self, subset: int, place: int, lam: Fraction) -> tuple[Fraction, ...]:
        """What one unit of weight on a subset and the action at a place of ``actions`` costs, by price list."""
        return tuple(
            sum(row[place], start=Fraction(0))
            + (lam - 1) * sum((h for x, h in enumerate(row[place]) if subset >> x & 1), start=Fraction(0))
            for row in self.prices
        )

    def program(self, pairs: Sequence[SubsetAction], lam: Fraction) -> LinearProgram:
        """The program over the orbits of some pairs (subset, place of the action), one total weight each.

        Without orbits of parameters the price is the cost. With them, the last variable is the largest risk, free, and
        one row per orbit of parameters bounds the risk there by it.
        """
        rows = len(self.inputs)
        costs, columns = [], []
        for subset, place in pairs:
            entries = [(i, 1 + (lam - 1) * share) for i, share in enumerate(self.shares(subset))]
            risks = self.risks(subset, place, lam)
            if self.parameters:
                costs.append(Fraction(0))
                entries += [(rows + j, risk) for j, risk in enumerate(risks) if risk]
            else:
                costs.append(risks[0])
            columns.append(tuple(entries))
        senses, rhs = [Sense.EQ] * rows, [Fraction(1)] * rows
        free: frozenset[int] = frozenset()
        if self.parameters:
            free = frozenset({len(costs)})
            costs.append(Fraction(1))
            columns.append(tuple((rows + j, Fraction(-1)) for j in range(len(self.parameters))))
            senses += [Sense.LE] * len(self.parameters)
            rhs += [Fraction(0)] * len(self.parameters)
        return LinearProgram(tuple(costs), tuple(columns), tuple(senses), tuple(rhs), free)


def _uniform_on(orbit: Sequence[int], size: int) -> tuple[Fraction, ...]:
    inside = set(orbit)
    return tuple(Fraction(int(t in inside), len(orbit)) for t in range(size))
