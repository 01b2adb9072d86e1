r"""Statistical decision problems with finitely many parameters, inputs and actions, over the rationals.

A user holds :math:`x \sim P(\cdot\,|\,\theta)`, publishes an output of an LDP channel, and the analyst answers with an
action ``a`` at loss :math:`\ell(\theta, a)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias, final

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, check_rational, parse_rational, parse_rationals
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import Matrix, Vector, dot

SubsetAction: TypeAlias = "tuple[int, int]"
"""A subset of the inputs (bit mask) and an action."""


_MOST_LISTED: Final = 10_000
"""Inputs of a problem that is made here, whose matrices are squares of them."""

LARGEST_LOSS: Final = 10**15
"""Solvers propose bases in doubles; larger losses would drown the others."""


@final
@dataclass(frozen=True, slots=True)
class Problem:
    r"""Decision problem with parameters, inputs, actions, a loss and a prior.

    Parameters
    ----------
    model : tuple of tuple of Fraction
        Shape ``(parameters, inputs)``: ``model[t][x]`` is :math:`P(x\,|\,t)`; rows sum to 1.
    loss : tuple of tuple of Fraction
        Shape ``(parameters, actions)``.
    prior : tuple of Fraction or None
        One weight per parameter, summing to 1. Needed by Bayes criteria only.

    Raises
    ------
    InputError
        Naming the entry, if a shape or a sum is wrong.

    Notes
    -----
    ldp_tradeoff, Section 2.2.

    Examples
    --------
    >>> problem = smoothed_point_masses(3, Fraction(1, 2))
    >>> problem.num_inputs, problem.num_actions
    (3, 3)
    """

    model: Matrix
    loss: Matrix
    prior: Vector | None = None

    def __post_init__(self) -> None:
        _check_shape("model", self.model)
        _check_shape("loss", self.loss)
        if len(self.model[0]) < 2:
            raise InputError("model", f"{len(self.model[0])} inputs", "at least 2 inputs")
        if len(self.loss) != len(self.model):
            raise InputError("loss", f"{len(self.loss)} rows", f"{len(self.model)}, one per parameter")
        for t, losses in enumerate(self.loss):
            for a, value in enumerate(losses):
                if abs(value) > LARGEST_LOSS:
                    size = f"about 1e{len(str(abs(value.numerator // value.denominator))) - 1}"
                    raise InputError(f"loss[{t}][{a}]", size, f"at most {LARGEST_LOSS:.0e} in size: rescale the losses")
        for t, row in enumerate(self.model):
            _check_distribution(f"model[{t}]", row)
        if self.prior is not None:
            if len(self.prior) != len(self.model):
                raise InputError("prior", f"{len(self.prior)} entries", f"{len(self.model)}, one per parameter")
            _check_distribution("prior", self.prior)

    @classmethod
    def of(
        cls,
        model: Sequence[Sequence[object]],
        loss: Sequence[Sequence[object]],
        prior: Sequence[object] | None = None,
    ) -> Problem:
        """Problem from anything that reads as a rational: ``1``, ``"1/3"`` or ``0.1``, which means one tenth."""

        def read(row: Sequence[object], name: str) -> Vector:
            return tuple(parse_rational(value, f"{name}[{i}]") for i, value in enumerate(row))

        numbers = tuple(read(row, f"model[{t}]") for t, row in enumerate(model))
        losses = tuple(read(row, f"loss[{t}]") for t, row in enumerate(loss))
        return cls(numbers, losses, None if prior is None else read(prior, "prior"))

    @classmethod
    def guessing(cls, k: int) -> Problem:
        """Problem of guessing one of k equally likely inputs: the loss is 1 unless the guess is right."""
        return smoothed_point_masses(as_integer(k, "k", 2, _MOST_LISTED), Fraction(1))

    @property
    def num_parameters(self) -> int:
        """Number of parameters."""
        return len(self.model)

    @property
    def num_inputs(self) -> int:
        """Number ``m`` of inputs."""
        return len(self.model[0])

    @property
    def num_actions(self) -> int:
        """Number of actions."""
        return len(self.loss[0])

    def with_prior(self, prior: Sequence[Fraction]) -> Problem:
        """The same problem under another prior."""
        return replace(self, prior=parse_rationals(prior, "prior"))

    def required_prior(self) -> Vector:
        """Prior of the problem; raises InputError if there is none."""
        if self.prior is None:
            raise InputError("prior", None, f"{self.num_parameters} weights that sum to 1, for a Bayes criterion")
        return self.prior

    def posterior_costs(self, prior: Sequence[Fraction], *, actions: Sequence[int] | None = None) -> Matrix:
        r"""Costs :math:`h_{a,x} = \sum_\theta \pi_\theta \, \ell(\theta,a)\, P(x|\theta)`, by action and input.

        A column ``v`` of a channel costs :math:`\min_a \sum_x h_{a,x} v_x`. Rows of ``actions`` only.
        """
        chosen = range(self.num_actions) if actions is None else actions
        model, scale = as_integers(self.model, self.num_inputs)
        weights = parse_rationals(prior, "prior")
        weighed = [[p * row[a] for a in chosen] for p, row in zip(weights, self.loss, strict=True)]
        loss, loss_scale = as_integers(weighed, len(chosen))
        product, whole = loss.transpose() * model, scale * loss_scale
        return tuple(tuple(Fraction(int(entry), whole) for entry in row) for row in product.tolist())

    def risk(self, channel: Channel, rule: Sequence[Sequence[Fraction]]) -> Vector:
        r"""Risk :math:`\sum_{y,a} (PW)_{\theta y}\, D_{ya}\, \ell(\theta,a)` of a decision rule at every parameter.

        - ``rule``: shape ``(outputs, actions)``: the distribution of the action at each output (equation (3)).
        """
        columns = self._columns(channel)
        if len(rule) != len(columns) or any(len(row) != self.num_actions for row in rule):
            raise InputError(
                "rule", f"{len(rule)} rows", f"{len(columns)} distributions over {self.num_actions} actions"
            )
        rule = [parse_rationals(row, f"rule[{y}]") for y, row in enumerate(rule)]
        for y, row in enumerate(rule):
            _check_distribution(f"rule[{y}]", row)
        risks = []
        for model, loss in zip(self.model, self.loss, strict=True):
            seen = [dot(model, column) for column in columns]
            answers = [dot(loss, row) for row in rule]
            risks.append(dot(seen, answers))
        return tuple(risks)

    def action_risks(self, rows: Sequence[Sequence[Fraction]]) -> Vector:
        r"""Risk :math:`\sum_{x,a} P(x|\theta) V_{ax} \ell(\theta,a)` by parameter of a channel from inputs to actions.

        - ``rows``: shape ``(actions, inputs)``: the probability of the action given the input.
        """
        model, model_scale = as_integers(self.model, self.num_inputs)
        rows = [parse_rationals(row, f"rows[{a}]") for a, row in enumerate(rows)]
        channel, channel_scale = as_integers(rows, self.num_inputs)
        seen = (model * channel.transpose()).tolist()
        whole = model_scale * channel_scale
        return tuple(
            sum((loss * int(p) for loss, p in zip(losses, row, strict=True) if loss), start=Fraction(0)) / whole
            for losses, row in zip(self.loss, seen, strict=True)
        )

    def bayes_risk(self, channel: Channel) -> tuple[Fraction, tuple[int, ...]]:
        """The smallest Bayes risk of a channel, and the best action at every output (ldp_tradeoff, equation (6))."""
        costs = self.posterior_costs(self.required_prior())
        total, actions = Fraction(0), []
        for column in self._columns(channel):
            options = [dot(row, column) for row in costs]
            best = min(options)
            total += best
            actions.append(options.index(best))
        return total, tuple(actions)

    def _columns(self, channel: Channel) -> Matrix:
        if channel.num_inputs != self.num_inputs:
            raise InputError("channel", f"{channel.num_inputs} inputs", f"{self.num_inputs}, as the problem")
        return exact_columns(channel)


def smoothed_point_masses(m: int, gamma: Fraction | int) -> Problem:
    r"""Problem of guessing one of ``m`` values read through a uniform mixture.

    The model is :math:`P(x|\theta) = (1-\gamma)/m + \gamma 1[x=\theta]`, the prior uniform, the loss 0-1.

    Parameters
    ----------
    m : int
        Number of values, at least 2.
    gamma : Fraction or int
        Probability that the value itself is read, in [0, 1].

    Returns
    -------
    Problem
        With m parameters, m inputs and m actions.

    Raises
    ------
    InputError
        If ``m`` or ``gamma`` is out of range.

    Notes
    -----
    ldp_tradeoff, Appendix C.1, equation (80).

    Examples
    --------
    >>> smoothed_point_masses(2, Fraction(1, 2)).model
    ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    """
    m, level = as_integer(m, "m", 2, _MOST_LISTED), parse_rational(gamma, "gamma")
    if not 0 <= level <= 1:
        raise InputError("gamma", gamma, "a rational in [0, 1]")
    diagonal, rest = (1 - level) / m + level, (1 - level) / m
    return Problem(
        tuple(tuple(diagonal if x == t else rest for x in range(m)) for t in range(m)),
        tuple(tuple(Fraction(int(a != t)) for a in range(m)) for t in range(m)),
        (Fraction(1, m),) * m,
    )


def as_integers(rows: Sequence[Sequence[Fraction]], width: int) -> tuple[flint.fmpz_mat, int]:
    """A rational matrix as an integer one and its common denominator."""
    scale = math.lcm(*(value.denominator for row in rows for value in row))
    entries = [value.numerator * (scale // value.denominator) for row in rows for value in row]
    return flint.fmpz_mat(len(rows), width, entries), scale


def _check_shape(name: str, matrix: Matrix) -> None:
    if not matrix or not matrix[0]:
        raise InputError(name, matrix, "at least one row with at least one entry")
    for t, row in enumerate(matrix):
        if len(row) != len(matrix[0]):
            raise InputError(f"{name}[{t}]", f"{len(row)} entries", f"{len(matrix[0])}, as in {name}[0]")
        for i, value in enumerate(row):
            check_rational(value, f"{name}[{t}][{i}]")


def _check_distribution(name: str, values: Sequence[Fraction]) -> None:
    for i, value in enumerate(values):
        check_rational(value, f"{name}[{i}]")
    ratios = [value.as_integer_ratio() for value in values]
    for i, (numerator, _) in enumerate(ratios):
        if numerator < 0:
            raise InputError(f"{name}[{i}]", values[i], "a probability of at least 0")
    scale = math.lcm(*{denominator for _, denominator in ratios})
    if sum(numerator * (scale // denominator) for numerator, denominator in ratios) != scale:
        total = sum(values, start=Fraction(0))
        raise InputError(name, f"sum {total}", f"probabilities that sum to 1 (off by {total - 1})")
