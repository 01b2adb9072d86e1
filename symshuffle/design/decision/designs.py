"""Optimal channels of decision problems, and their certificates, checked without a list of subsets or orbits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, final

from symshuffle.base.choices import Criterion, ProgramForm, SafeEnd, choice
from symshuffle.base.errors import CertificateError, Unsupported
from symshuffle.base.numbers import Exp, parse_rational
from symshuffle.base.results import AnswerMethods, Bracket, ValueMethods, check_claim, well_formed, within
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import members
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linear import dot
from symshuffle.channels.geometry.subset_orbits import SubsetOrbit
from symshuffle.design.decision.certificate import RISKS, action_rows, check_around, check_bound
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import Problem

MOST_OUTPUTS: Final = 4096


OrbitWeight: TypeAlias = tuple[SubsetOrbit, int, Fraction]
"""An orbit of subsets in an invariant channel, the action there, and the weight of one subset."""


@final
@dataclass(frozen=True, slots=True)
class TradeoffCertificate:
    """Certificate for a bracket on the optimal risk over all LDP channels.

    It can be checked in rational arithmetic without a solver.

    Parameters
    ----------
    lam : Fraction
        Privacy level, above 1.
    prior : tuple of Fraction
        The prior of a Bayes problem; for a minimax problem, the least favourable one.
    rows : tuple of tuple of Fraction
        Shape ``(actions, inputs)``: the probability that an input leads to each action, through a channel that
        publishes nothing but the action.
    bound : tuple of Fraction
        The vector ``u``, one entry per input.
    criterion : Criterion
        Whether the average under ``prior`` is meant, or the worst case over parameters.
    group : SymmetryGroup or None
        Symmetries of the problem, where the channel is given by ``weights`` on orbits of subsets and ``rows`` is empty;
        ``bound`` is then constant on orbits of inputs.
    weights : tuple of (SubsetOrbit, int, Fraction)
        Orbit, action there, and weight of one subset.
    """

    lam: Fraction
    prior: tuple[Fraction, ...]
    rows: tuple[tuple[Fraction, ...], ...]
    bound: tuple[Fraction, ...]
    criterion: Criterion
    group: SymmetryGroup | None = None
    weights: tuple[OrbitWeight, ...] = ()

    @well_formed()
    def verify(self, problem: Problem) -> None:
        """Check every condition against the problem, in rational arithmetic.

        A CertificateError is at ``lam``, ``criterion``, ``prior``, ``rows`` or ``rows[a]`` of an action, ``group``,
        ``weights`` or ``weights[j]`` of an orbit, or ``bound``.
        """
        self.prove(problem)

    @well_formed()
    def prove(self, problem: Problem) -> Bracket:
        """Check every condition, and return the bracket that is proved."""
        if not self.lam > 1:
            raise CertificateError("lam", f"{self.lam} is no level above 1")
        if self.criterion not in tuple(RISKS):
            raise CertificateError("criterion", f"{self.criterion!r} is none")
        if self.criterion == "bayes" and self.prior != problem.prior:
            raise CertificateError("prior", "it is not the one of the problem")
        if len(self.prior) != problem.num_parameters:
            raise CertificateError("prior", f"{len(self.prior)} entries for {problem.num_parameters} parameters")
        if min(self.prior) < 0:
            raise CertificateError("prior", f"an entry {min(self.prior)} < 0")
        if sum(self.prior) != 1:
            raise CertificateError("prior", f"the entries sum to {sum(self.prior)}")
        if len(self.bound) != problem.num_inputs:
            raise CertificateError("bound", f"{len(self.bound)} entries for {problem.num_inputs} inputs")
        check_bound(problem.posterior_costs(self.prior), self.bound, self.lam)
        if self.group is None:
            return self._of_rows(problem)
        with within("group"):
            reduced = InvariantProblem.of(problem.with_prior(self.prior), self.group, criterion=self.criterion)
        return self.of_orbits(reduced)

    def _of_rows(self, problem: Problem) -> Bracket:
        """The bracket of the risk of the rows and the bound, after checking that the rows make a channel."""
        m, actions = problem.num_inputs, problem.num_actions
        if len(self.rows) != actions or any(len(row) != m for row in self.rows):
            raise CertificateError("rows", f"their shape does not fit {actions} actions and {m} inputs")
        for a, row in enumerate(self.rows):
            # A negative entry fails here too: the largest entry is then above lam times the smallest.
            if max(row) > self.lam * min(row):
                raise CertificateError(f"rows[{a}]", f"the likelihood ratio of action {a} exceeds lam = {self.lam}")
        for x in range(m):
            if (total := sum(row[x] for row in self.rows)) != 1:
                raise CertificateError("rows", f"the probabilities of input {x} do not sum to 1 but to {total}")
        risks = problem.action_risks(self.rows)
        upper = max(risks) if self.criterion == "minimax" else dot(self.prior, risks)
        lower = sum(self.bound, start=Fraction(0))
        evaluation = f"a channel attains the upper end; a linear bound holds for every LDP channel at lam = {self.lam}"
        if lower < upper:
            evaluation = f"weak duality over the rationals, gap {float(upper - lower):.1e}: {evaluation}"
        return Bracket(lower, upper, "exact", "lp", evaluation)

    def of_orbits(self, reduced: InvariantProblem) -> Bracket:
        """The bracket of the risk of the weights and the bound, after checking that the weights make a channel."""
        for j, (orbit, action, weight) in enumerate(self.weights):
            with within(f"weights[{j}]"):
                _check_weight(orbit, action, weight, reduced)
        for i in range(len(reduced.inputs)):
            total = sum((weight * orbit.column_sum(i, self.lam) for orbit, _, weight in self.weights), Fraction(0))
            if total != 1:
                raise CertificateError("weights", f"column sum {total} at input orbit {i}")
        pairs = [(orbit.representative, reduced.actions.index(action)) for orbit, action, _ in self.weights]
        risks = [Fraction(0)] * len(reduced.prices)
        for (orbit, _, weight), priced in zip(self.weights, reduced.risks(pairs, self.lam), strict=True):
            risks = [risk + weight * orbit.size * share for risk, share in zip(risks, priced, strict=True)]
        count = reduced.group.subset_orbit_count()
        evaluation = f"weights on {len(self.weights)} of {count} orbits; a linear bound for every LDP channel"
        return Bracket(sum(self.bound, start=Fraction(0)), max(risks), "exact", "orbit lp", evaluation)

    def to_json(self) -> dict[str, Any]:
        """A form that ``json.dumps`` accepts; rationals are strings."""
        orbits = [
            {
                "representative": list(members(orbit.representative)),
                "action": action,
                "size": str(orbit.size),
                "weight": str(weight),
            }
            for orbit, action, weight in self.weights
        ]
        return {
            "lam": str(self.lam),
            "criterion": self.criterion,
            "prior": [str(p) for p in self.prior],
            **({"orbits": orbits} if self.group else {"rows": [[str(v) for v in row] for row in self.rows]}),
            "bound": [str(u) for u in self.bound],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TradeoffCertificate:
        """Read the form that :meth:`to_json` wrote."""

        def read(values: Sequence[str], name: str) -> tuple[Fraction, ...]:
            return tuple(parse_rational(value, name) for value in values)

        return cls(
            parse_rational(data["lam"], "lam"),
            read(data["prior"], "prior"),
            tuple(read(row, "rows") for row in data["rows"]),
            read(data["bound"], "bound"),
            choice(Criterion, data["criterion"], "criterion"),
        )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Design(ValueMethods):
    """Optimal channel of a decision problem, with its risk and certificates.

    ``float`` returns the upper end, rounded up.

    It is an answer with a proof, whose safe upper end the channel attains.

    Parameters
    ----------
    problem : Problem
        What was solved.
    criterion : Criterion
        Bayes or minimax.
    method : ProgramForm or None
        Which program proposed the optimum; None for the program over orbits of a group.
    value : Bracket
        The optimal risk over all LDP channels at the level asked for.
    weights : tuple of (int or SubsetOrbit, int, Fraction)
        The optimal extremal channel with its rule: subset, action, weight; under a group orbits of subsets.
    certificates : tuple of TradeoffCertificate
        One at a rational level. At ``exp(eps0)``, two at rational levels around it: the risk does not increase
        with the level, so the first bounds it from below and the second from above.
    proposed : float or None
        What the floating-point solver said the optimum was; None where it gave up.
    level : Fraction or Exp
        The level asked for.
    """

    safe: ClassVar[SafeEnd] = "upper"
    problem: Problem
    criterion: Criterion
    method: ProgramForm | None
    value: Bracket
    weights: tuple[tuple[Any, int, Fraction], ...]
    certificates: tuple[TradeoffCertificate, ...]
    proposed: float | None
    level: Fraction | Exp

    @property
    def about(self) -> str:
        """Sentence that says over which channels the risk is the smallest."""
        inputs = f"{self.problem.num_inputs} inputs at lam = {self.level}"
        return f"smallest {RISKS[self.criterion]} risk over all LDP channels with {inputs}"

    @well_formed()
    def verify(self) -> None:
        """Check certificates, levels and weights against the problem itself, in rational arithmetic.

        A CertificateError is at ``criterion``, ``certificates``, ``certificates[i]`` with the part that fails,
        ``weights`` (they are not the channel of the last certificate) or ``value``.
        """
        if self.criterion not in tuple(RISKS):
            raise CertificateError("criterion", f"{self.criterion} is none")
        around = check_around(self.level, [certificate.lam for certificate in self.certificates], "certificates")
        proved = []
        for i, certificate in enumerate(self.certificates):
            if certificate.criterion != self.criterion:
                raise CertificateError(f"certificates[{i}]", f"of another criterion than {self.criterion}")
            with within(f"certificates[{i}]"):
                proved.append(certificate.prove(self.problem))
        self._check_weights(self.certificates[-1])
        ends = Bracket(proved[0].lower, proved[-1].upper, around, "lp", "certificates")
        check_claim(self.value, ends, "value")

    def _check_weights(self, last: TradeoffCertificate) -> None:
        """Refuse weights of another channel than that of the last certificate."""
        if last.group is not None:
            if self.weights != last.weights:
                raise CertificateError("weights", "they are not those of the last certificate")
            return
        if any(weight < 0 for _, _, weight in self.weights):
            raise CertificateError("weights", "a negative weight")
        with within("weights"):
            rows = action_rows(self.problem, self.weights, self.lam)
        if rows != last.rows:
            raise CertificateError("weights", "they do not make the channel of the certificate")

    def to_dict(self) -> dict[str, Any]:
        """The answer with its certificates and the weights of the channel."""
        if self.method is None:  # the certificates have the weights
            return AnswerMethods.to_dict(self) | {"certificates": [one.to_json() for one in self.certificates]}
        return AnswerMethods.to_dict(self) | {
            "criterion": self.criterion,
            "weights": [
                {"subset": subset, "action": action, "weight": str(weight)} for subset, action, weight in self.weights
            ],
            "certificates": [certificate.to_json() for certificate in self.certificates],
        }

    def _repr_html_(self, *, most: int = 32) -> str:
        if self.method is None:
            return AnswerMethods._repr_html_(self)
        inputs = "".join(f"<th>input {x}</th>" for x in range(self.problem.num_inputs))
        rows = "".join(
            f"<tr><td>{{{', '.join(map(str, members(subset)))}}} &rarr; action {action}</td>"
            + "".join(
                f"<td>{float(weight * (self.lam if subset >> x & 1 else 1)):.6g}</td>"
                for x in range(self.problem.num_inputs)
            )
            + "</tr>"
            for subset, action, weight in self.weights[:most]
        )
        hidden = len(self.weights) - most
        more = f"<caption>the first {most} of {len(self.weights)} outputs</caption>" if hidden > 0 else ""
        return f"{AnswerMethods._repr_html_(self)}<table>{more}<tr><th>output</th>{inputs}</tr>{rows}</table>"

    @property
    def lam(self) -> Fraction:
        """The rational level of the channel; at most the level that was asked for."""
        return self.certificates[-1].lam

    def num_outputs(self) -> int:
        """Number of outputs of the channel; with a symmetry group, of subsets in the orbits that have weight."""
        group = self.certificates[-1].group
        if group is None:
            return len(self.weights)
        return sum({group.kind(orbit.representative): orbit.size for orbit, _, _ in self.weights}.values())

    def channel(self) -> Channel:
        """Optimal channel: one output per subset and action, in the order of ``weights``; under a group per subset."""
        group, weights = self.certificates[-1].group, [(subset, weight) for subset, _, weight in self.weights]
        if group is not None:
            if (outputs := self.num_outputs()) > MOST_OUTPUTS:
                raise Unsupported(f"the channel has {outputs} outputs; its orbit weights describe it")
            total: dict[int, Fraction] = {}
            for orbit, weight in weights:
                for y in sorted(group.orbit_of(orbit.representative)):
                    total[y] = total.get(y, Fraction(0)) + weight
            weights = list(total.items())
        lam, inputs = self.lam, range(self.problem.num_inputs)
        return Channel(tuple(tuple(weight * (lam if y >> x & 1 else 1) for y, weight in weights) for x in inputs))

    @property
    def least_favourable_prior(self) -> tuple[Fraction, ...]:
        """The prior of the lower bound; for a minimax design, a least favourable one."""
        return self.certificates[0].prior


def _check_weight(orbit: SubsetOrbit, action: int, weight: Fraction, reduced: InvariantProblem) -> None:
    """Refuse a weight that is negative, or on what is no orbit of subsets of the group with a known action."""
    if not isinstance(weight, Fraction) or weight < 0:
        raise CertificateError("weight", f"{weight} is no rational of at least 0")
    if action not in reduced.actions:
        raise CertificateError("action", f"{action} represents no orbit of actions; these do: {reduced.actions}")
    if not 0 < orbit.representative < (1 << reduced.group.m) - 1:
        raise CertificateError("orbit", f"{orbit.representative} is no proper subset of {reduced.group.m} inputs")
    if orbit != (counted := reduced.group.subset_orbit(orbit.representative)):
        raise CertificateError("orbit", f"size and incidences {orbit} are not those counted: {counted}")
