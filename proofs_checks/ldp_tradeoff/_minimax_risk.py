"""Worst risk of a channel, for the claims."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from symshuffle.base.choices import SafeEnd
from symshuffle.base.lp import LinearProgram
from symshuffle.base.results import Bracket, ValueMethods, check_claim, well_formed, within
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linear import dot
from symshuffle.channels.geometry.linprog import solve
from symshuffle.design.decision.problems import Problem


@final
@dataclass(frozen=True, slots=True, repr=False)
class ChannelRisk(ValueMethods):
    """The minimax risk of one channel, an answer with a proof; the rule attains it."""

    safe: ClassVar[SafeEnd] = "upper"
    problem: Problem
    channel: Channel
    value: Bracket
    rule: tuple[tuple[Fraction, ...], ...]
    prior: tuple[Fraction, ...]

    @property
    def about(self) -> str:
        """Whose risk it is."""
        return f"minimax risk of one channel with {self.channel.num_outputs} outputs, over all rules"

    @well_formed()
    def verify(self) -> None:
        """Compare the worst risk of the rule with the Bayes risk under the prior."""
        with within("rule"):
            worst = max(self.problem.risk(self.channel, self.rule))
        with within("prior"):
            least = self.problem.with_prior(self.prior).bayes_risk(self.channel)[0]
        check_claim(self.value, Bracket(least, worst, "exact", "lp", "rule and prior"), "value")


def minimax_risk(problem: Problem, channel: Channel) -> ChannelRisk:
    """Minimax risk of one channel with a rule and a least favourable prior, exact (ldp_tradeoff, equation (6))."""
    outputs, actions = channel.num_outputs, problem.num_actions
    columns = problem._columns(channel)
    costs = [Fraction(0)] * (outputs * actions) + [Fraction(1)]
    rows: list[tuple[list[Fraction], str, int]] = []
    for y in range(outputs):
        rows.append(([Fraction(int(j // actions == y)) for j in range(outputs * actions)] + [Fraction(0)], "==", 1))
    for model, loss in zip(problem.model, problem.loss, strict=True):
        seen = [dot(model, column) for column in columns]
        rows.append(([seen[y] * loss[a] for y in range(outputs) for a in range(actions)] + [Fraction(-1)], "<=", 0))
    solution = solve(LinearProgram.from_rows(costs, rows, free=[outputs * actions]))
    point = solution.primal()
    rule = tuple(tuple(point[y * actions : (y + 1) * actions]) for y in range(outputs))
    prior = tuple(-v for v in solution.certificate.dual[outputs:])
    return ChannelRisk(problem, channel, solution.value, rule, prior)
