"""An optimal channel of a decision problem with its certificates, checked from the problem alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

from symshuffle.base.choices import Criterion, Method
from symshuffle.base.errors import CertificateError
from symshuffle.base.numbers import Exp
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd, ValueMethods, check_claim, well_formed, within
from symshuffle.channels.channel import Channel
from symshuffle.design.decision.certificate import TradeoffCertificate, check_around
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.geometry.extremal import members

_MOST_SHOWN: Final = 32
"""Outputs of a channel that are shown in a notebook."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Design(ValueMethods):
    """Optimal channel of a decision problem, with its risk and certificates.

    It is a :class:`~symshuffle.base.results.Certified` answer; the safe end is the upper one, which the channel
    attains.

    Parameters
    ----------
    problem : DecisionProblem
        What was solved.
    criterion : Criterion
        Bayes or minimax.
    method : Method
        Which program proposed the optimum.
    value : Bracket
        The optimal risk over all LDP channels at the level asked for.
    weights : tuple of (int, int, Fraction)
        The optimal extremal channel with its rule: subset, action, weight.
    certificates : tuple of TradeoffCertificate
        One at a rational level. At ``exp(eps0)``, two at rational levels around it: the risk does not increase
        with the level, so the first bounds it from below and the second from above.
    proposed : float or None
        What the floating-point solver said the optimum was; None where it gave up.
    level : Fraction or Exp
        The level asked for.
    """

    safe: ClassVar[SafeEnd] = SafeEnd.UPPER
    problem: DecisionProblem
    criterion: Criterion
    method: Method
    value: Bracket
    weights: tuple[tuple[int, int, Fraction], ...]
    certificates: tuple[TradeoffCertificate, ...]
    proposed: float | None
    level: Fraction | Exp

    @property
    def about(self) -> str:
        """Sentence that says over which channels the risk is the smallest."""
        inputs = f"{self.problem.num_inputs} inputs at lam = {self.level}"
        return f"smallest {self.criterion.word} risk over all LDP channels with {inputs}"

    @well_formed()
    def verify(self) -> None:
        """Check certificates, levels and weights in rational arithmetic.

        They are checked against the problem itself.

        Raises
        ------
        CertificateError
            At ``criterion``, ``certificates`` (their number or levels), ``certificates[i]`` with the part that fails,
            ``weights`` (they are not the channel of the last certificate) or ``value``.
        """
        if not isinstance(self.criterion, Criterion):
            raise CertificateError("criterion", f"{self.criterion} is none")
        around = check_around(self.level, [certificate.lam for certificate in self.certificates], "certificates")
        proved = []
        for i, certificate in enumerate(self.certificates):
            if certificate.criterion is not self.criterion:
                raise CertificateError(f"certificates[{i}]", f"of another criterion than {self.criterion.value}")
            with within(f"certificates[{i}]"):
                proved.append(certificate.prove(self.problem))
        if any(weight < 0 for _, _, weight in self.weights):
            raise CertificateError("weights", "a negative weight")
        with within("weights"):
            rows = action_rows(self.problem, self.weights, self.lam)
        if rows != self.certificates[-1].rows:
            raise CertificateError("weights", "they do not make the channel of the certificate")
        ends = Bracket(proved[0].lower, proved[-1].upper, around, "lp", "certificates")
        check_claim(self.value, ends, "value")

    def to_dict(self) -> dict[str, Any]:
        """The answer with its certificates and the weights of the channel."""
        return AnswerMethods.to_dict(self) | {
            "criterion": self.criterion.value,
            "weights": [
                {"subset": subset, "action": action, "weight": str(weight)} for subset, action, weight in self.weights
            ],
            "certificates": [certificate.to_json() for certificate in self.certificates],
        }

    def _repr_html_(self) -> str:
        inputs = "".join(f"<th>input {x}</th>" for x in range(self.problem.num_inputs))
        rows = "".join(
            f"<tr><td>{{{', '.join(map(str, members(subset)))}}} &rarr; action {action}</td>"
            + "".join(
                f"<td>{float(weight * (self.lam if subset >> x & 1 else 1)):.6g}</td>"
                for x in range(self.problem.num_inputs)
            )
            + "</tr>"
            for subset, action, weight in self.weights[:_MOST_SHOWN]
        )
        hidden = len(self.weights) - _MOST_SHOWN
        more = f"<caption>the first {_MOST_SHOWN} of {len(self.weights)} outputs</caption>" if hidden > 0 else ""
        return f"{AnswerMethods._repr_html_(self)}<table>{more}<tr><th>output</th>{inputs}</tr>{rows}</table>"

    @property
    def lam(self) -> Fraction:
        """The rational level of the channel; at most the level that was asked for."""
        return self.certificates[-1].lam

    def channel(self) -> Channel:
        """Optimal channel, with one output per pair of a subset and an action.

        Outputs are in the order of ``weights``.
        """
        lam = self.lam
        return Channel(
            tuple(
                tuple(weight * (lam if subset >> x & 1 else 1) for subset, _, weight in self.weights)
                for x in range(self.problem.num_inputs)
            )
        )

    @property
    def least_favourable_prior(self) -> tuple[Fraction, ...]:
        """The prior of the lower bound; for a minimax design, a least favourable one."""
        return self.certificates[0].prior


def action_rows(
    problem: DecisionProblem, weights: Iterable[tuple[int, int, Fraction]], lam: Fraction
) -> tuple[tuple[Fraction, ...], ...]:
    """The channel from inputs to actions that a weighted family of columns induces, by action and input."""
    rows = [[Fraction(0)] * problem.num_inputs for _ in range(problem.num_actions)]
    for subset, a, weight in weights:
        for x in range(problem.num_inputs):
            rows[a][x] += weight * (lam if subset >> x & 1 else 1)
    return tuple(tuple(row) for row in rows)
