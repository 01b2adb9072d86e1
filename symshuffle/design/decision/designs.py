"""Trade-offs reduced by symmetry: weights on orbits, and a certificate that is checked without a list of orbits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, final

from symshuffle.base.choices import Criterion, ProgramForm, SafeEnd, choice
from symshuffle.base.errors import CertificateError, SolverFailure, Unsupported
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import Exp
from symshuffle.base.results import AnswerMethods, Bracket, ValueMethods, check_claim, well_formed, within
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import check_lam, members
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.subset_orbits import OrbitCount, SubsetOrbit
from symshuffle.design.decision import programs
from symshuffle.design.decision.certificate import (
    LEVELS,
    REL,
    RISKS,
    TradeoffCertificate,
    action_rows,
    check_around,
    check_bound,
    levels_around,
    narrowed,
)
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import Problem

MOST_OUTPUTS: Final = 4096


OrbitWeight: TypeAlias = tuple[SubsetOrbit, int, Fraction]
"""An orbit of subsets in an invariant channel, the action there, and the weight of one subset."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class OrbitDesign(ValueMethods):
    """An optimal invariant channel: weights on orbits of subsets, which attain the safe upper end.

    ``float`` returns the upper end, rounded up.

    - ``problem``: what was solved; for a minimax criterion under the least favourable prior that was found.
    - ``bound``: the dual vector, one entry per input, constant on orbits of inputs.
    """

    safe: ClassVar[SafeEnd] = "upper"
    problem: Problem
    group: SymmetryGroup
    lam: Fraction
    criterion: Criterion
    weights: tuple[OrbitWeight, ...]
    bound: tuple[Fraction, ...]
    value: Bracket
    proposed: float | None

    @property
    def num_orbits(self) -> OrbitCount:
        """Number of orbits of subsets among which the optimum was found, or a lower bound on it."""
        return self.group.subset_orbit_count()

    @property
    def least_favourable_prior(self) -> tuple[Fraction, ...]:
        """The prior of the lower bound."""
        return self.problem.required_prior()

    @property
    def about(self) -> str:
        """What the number is the smallest of."""
        channels = f"all LDP channels with {self.group.m} inputs at lam = {self.lam}"
        return f"smallest {RISKS[self.criterion]} risk over {channels}"

    @well_formed()
    def verify(self) -> None:
        """Check symmetry, orbits, weights and bound in rational arithmetic, against the problem itself."""
        if not self.lam > 1:
            raise CertificateError("lam", f"{self.lam} is no level above 1")
        if self.criterion not in tuple(RISKS):
            raise CertificateError("criterion", f"{self.criterion!r} is none")
        with within("problem"):
            reduced = InvariantProblem.of(self.problem, self.group, criterion=self.criterion)
            self.problem.required_prior()
        check_claim(self.value, _proved(reduced, self.problem, self.lam, self.weights, self.bound), "value")

    def prove(self, problem: Problem) -> Bracket:
        """Check everything, and that this is a design of the problem; return the bracket that is proved."""
        worst = self.criterion == "minimax"
        same = replace(self.problem, prior=problem.prior) if worst else self.problem
        if same != problem:
            raise CertificateError("problem", "another one")
        self.verify()
        return self.value

    def num_outputs(self) -> int:
        """Number of outputs: subsets in the orbits that are used."""
        return sum({self.group.kind(orbit.representative): orbit.size for orbit, _, _ in self.weights}.values())

    def channel(self) -> Channel:
        """The channel itself, one output per subset."""
        outputs = self.num_outputs()
        if outputs > MOST_OUTPUTS:
            raise Unsupported(f"the channel has {outputs} outputs; its orbit weights describe it")
        weights: dict[int, Fraction] = {}
        for orbit, _, weight in self.weights:
            for y in sorted(self.group.orbit_of(orbit.representative)):
                weights[y] = weights.get(y, Fraction(0)) + weight
        columns = [
            tuple(weight * (self.lam if y >> x & 1 else 1) for x in range(self.group.m))
            for y, weight in weights.items()
        ]
        return Channel(tuple(zip(*columns, strict=True)))

    def to_json(self) -> dict[str, Any]:
        """The certificate in a form that ``json.dumps`` accepts; rationals are strings."""
        return {
            "lam": str(self.lam),
            "criterion": self.criterion,
            "prior": [str(p) for p in self.problem.required_prior()],
            "orbits": [
                {
                    "representative": list(members(orbit.representative)),
                    "action": action,
                    "size": str(orbit.size),
                    "weight": str(weight),
                }
                for orbit, action, weight in self.weights
            ],
            "bound": [str(u) for u in self.bound],
        }

    def to_dict(self) -> dict[str, Any]:
        """The answer with its certificate."""
        return AnswerMethods.to_dict(self) | {"certificate": self.to_json()}


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
    certificates : tuple of TradeoffCertificate, or of OrbitDesign
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
    certificates: tuple[TradeoffCertificate | OrbitDesign, ...]
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

    def _check_weights(self, last: TradeoffCertificate | OrbitDesign) -> None:
        """Refuse weights of another channel than that of the last certificate."""
        if not isinstance(last, TradeoffCertificate):
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
        """Number of outputs of the channel."""
        last = self.certificates[-1]
        return len(self.weights) if isinstance(last, TradeoffCertificate) else last.num_outputs()

    def channel(self) -> Channel:
        """Optimal channel: one output per subset and action, in the order of ``weights``; under a group per subset."""
        last = self.certificates[-1]
        if not isinstance(last, TradeoffCertificate):
            return last.channel()
        lam, inputs = self.lam, range(self.problem.num_inputs)
        rows = (tuple(weight * (lam if subset >> x & 1 else 1) for subset, _, weight in self.weights) for x in inputs)
        return Channel(tuple(rows))

    @property
    def least_favourable_prior(self) -> tuple[Fraction, ...]:
        """The prior of the lower bound; for a minimax design, a least favourable one."""
        first = self.certificates[0]
        return first.prior if isinstance(first, TradeoffCertificate) else first.least_favourable_prior


def _proved(
    reduced: InvariantProblem,
    problem: Problem,
    lam: Fraction,
    weights: Sequence[OrbitWeight],
    bound: Sequence[Fraction],
) -> Bracket:
    """The bracket that weights and bound prove, if they do, for the problem under its prior."""
    for j, w in enumerate(weights):
        with within(f"weights[{j}]"):
            _check_weight(*w, reduced)
    for i in range(len(reduced.inputs)):
        total = sum((weight * orbit.column_sum(i, lam) for orbit, _, weight in weights), start=Fraction(0))
        if total != 1:
            raise CertificateError("weights", f"column sum {total} at input orbit {i}")
    if len(bound) != reduced.group.m:
        raise CertificateError("bound", f"{len(bound)} entries for {reduced.group.m} inputs")
    check_bound(problem.posterior_costs(problem.required_prior()), bound, lam)
    pairs = [(orbit.representative, reduced.actions.index(action)) for orbit, action, _ in weights]
    risks = [Fraction(0)] * len(reduced.prices)
    for (orbit, _, weight), priced in zip(weights, reduced.risks(pairs, lam), strict=True):
        risks = [risk + weight * orbit.size * share for risk, share in zip(risks, priced, strict=True)]
    count = reduced.group.subset_orbit_count()
    evaluation = f"weights on {len(weights)} of {count} orbits; a linear bound for every LDP channel"
    return Bracket(sum(bound, start=Fraction(0)), max(risks), "exact", "orbit lp", evaluation)


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


def orbit_tradeoff(
    problem: Problem, lam: Fraction | int, group: SymmetryGroup, *, criterion: Criterion = "bayes"
) -> OrbitDesign:
    """Smallest risk over all LDP channels, by a program reduced by symmetry.

    The program has one weight per orbit of pairs of a subset and an action. Subsets are priced, not listed: the size is
    that of the orbits of inputs and of parameters.

    Parameters
    ----------
    problem : Problem
        With a prior, unless the worst case is minimised.
    lam : Fraction
        ``exp(eps0)``, a rational above 1.
    group : SymmetryGroup
        Symmetries of the problem; they are checked.
    criterion : Criterion or str
        ``"bayes"``, or ``"minimax"`` for the worst case: the largest risk over the orbits of parameters.

    Returns
    -------
    OrbitDesign
        The risk as a bracket, the weights of the orbits, and the certificate.

    Raises
    ------
    InputError
        If the group does not act on the problem, naming the generator and the entry; or the level is not above 1.
    Unsupported
        If the group leaves too many orbits of inputs; the message names the smaller form.

    Notes
    -----
    ldp_tradeoff, equation (27) and Remark 3.16.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> from symshuffle.channels.geometry.groups import symmetric_group
    >>> orbit_tradeoff(smoothed_point_masses(50, 1), 50, symmetric_group(50)).value.exact
    Fraction(49, 99)
    """
    criterion = choice(Criterion, criterion, "criterion")
    level = check_lam(lam)
    reduced = InvariantProblem.of(problem, group, criterion=criterion)
    programs.check_orbits(len(reduced.inputs), len(reduced.actions), group)
    # Singletons of all orbits of inputs make the program feasible.
    feasible = frozenset((1 << orbit[0], 0) for orbit in reduced.inputs)
    try:
        proposal = programs.generate(reduced, level)
    except SolverFailure:
        proposal = None
    pairs = sorted(feasible | (proposal.columns if proposal else frozenset()))
    fresh = pairs
    while fresh:
        masses, bound, prior, fresh = reduced.priced(pairs, level)
        pairs = [*pairs, *fresh]
    found = problem.with_prior(prior)
    orbits = ((group.subset_orbit(subset), place, mass) for (subset, place), mass in masses)
    chosen = tuple((orbit, reduced.actions[place], mass / orbit.size) for orbit, place, mass in orbits)
    value = _proved(reduced, found, level, chosen, bound)
    return OrbitDesign(found, group, level, criterion, chosen, bound, value, proposal.value if proposal else None)


@takes_eps0()
def orbit_tradeoff_at(
    problem: Problem,
    lam: Fraction | int | Exp,
    group: SymmetryGroup,
    *,
    criterion: Criterion = "bayes",
    rtol: float = REL,
) -> Design:
    """The same at ``exp(eps0)`` too: two designs at rational levels around it bracket the value."""

    def around(bits: int) -> Design:
        levels = levels_around(lam, bits) if isinstance(lam, Exp) else (lam,)
        designs = tuple(orbit_tradeoff(problem, one, group, criterion=criterion) for one in levels)
        last, value, level = designs[-1], designs[-1].value, lam if isinstance(lam, Exp) else Fraction(lam)
        if isinstance(lam, Exp):
            evaluation = f"certificates at two rational levels around exp({lam.exponent}); the risk decreases in lam"
            value = Bracket(designs[0].value.lower, value.upper, "ball", "orbit lp", evaluation)
        return Design(problem, last.criterion, None, value, last.weights, designs, last.proposed, level)

    return narrowed(around, rtol, LEVELS)
