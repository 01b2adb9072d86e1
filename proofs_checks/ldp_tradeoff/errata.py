"""Slips in the prose and the proofs that no numbered statement of the ledger carries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks._convex_order import equivalent
from proofs_checks._errata import finding
from proofs_checks._symmetry import OrbitPolytope
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cones import PolyhedralCone
from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope, cone_inequalities, dominating_extremal
from symshuffle.channels.geometry.groups import SymmetryGroup, cyclic_group, symmetric_group
from symshuffle.channels.geometry.orders import blackwell
from symshuffle.design.decision.problems import Problem, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
)
from symshuffle.ledger.claims.parts import Erratum

LAM: Final = cases.LAM
RESPONSE: Final = MaximalPolytope(2, LAM).channel({1: Fraction(1, 4), 2: Fraction(1, 4)})
"""Binary randomized response at lam = 3."""


def _with_null(channel: Channel) -> Channel:
    return Channel(tuple((*row, Fraction(0)) for row in channel.rows))


def _contains(maximal: Channel, cofinal: Sequence[Channel]) -> bool:
    """Footnote 3: a cofinal class contains every maximal element."""
    return maximal in cofinal


def _check_cofinal(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For all cofinal classes of three channels of two inputs: each covers the maximal members in the stated sense.

    Order relations by certified programs, classes by enumeration.
    """
    weak = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    family = [RESPONSE, _with_null(RESPONSE), weak]
    above = [[blackwell(other, one).dominates for other in family] for one in family]
    maximal = [q for q in range(3) if all(above[b][q] for b in range(3) if above[q][b])]
    yield compare(maximal, [0, 1], at="binary response at lam = 3 with and without a null output, and a blind channel")
    for size in (1, 2, 3):
        for chosen in itertools.combinations(range(3), size):
            if all(any(above[q][b] for b in chosen) for q in range(3)):
                for q in maximal:
                    holds = statement(family[q], [family[b] for b in chosen])
                    at = f"the cofinal class of members {chosen}, and member {q}"
                    yield decide(holds, at=at, claimed="covered")


def _all_rows_extreme(cone: PolyhedralCone, rows: Sequence[Sequence[Any]]) -> bool:
    """Proof of Proposition B.3: what dominates a channel with extreme rows has extreme rows itself, every one."""
    return all(any(row) and cone.is_extreme(tuple(row)) for row in rows)


def _non_zero_rows_extreme(cone: PolyhedralCone, rows: Sequence[Sequence[Any]]) -> bool:
    return _all_rows_extreme(cone, [row for row in rows if any(row)])


def _check_rows(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 6 channels with extreme rows, split or padded: whether rows of what dominates them are extreme, as stated.

    Order relations by certified programs, extreme rows in exact rationals.
    """
    polytope = MaximalPolytope(3, LAM)
    cases_of = [(RESPONSE, 2), *((polytope.channel(vertex), 3) for vertex in polytope.vertices())]
    for number, (channel, inputs) in enumerate(cases_of):
        cone = PolyhedralCone(cone_inequalities(inputs, LAM))
        split = Channel(tuple((row[0] / 3, 2 * row[0] / 3, *row[1:]) for row in channel.rows))
        for name, above in (("split", split), ("padded", _with_null(channel))):
            yield decide(
                above.is_ldp(LAM) and blackwell(above, channel).dominates, at=f"{name} {number}", claimed="dominates"
            )
            holds = statement(cone, above.columns())
            yield decide(holds, at=f"rows of channel {number}, {name}, which dominates it", claimed="extreme")


def _corresponds(inputs: int) -> bool:
    """Theorem 3.10, with Lemma B.5: every maximal class has a point of the polytope, for any finite input alphabet."""
    return True


def _check_inputs(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For one, two, three inputs: whether a class above the constant channel has a point of the polytope, as stated.

    A point is computed and tested in exact rationals; with one input there is no subset, and two channels are
    equivalent.
    """
    for inputs in (1, 2, 3):
        subsets = range(1, 2**inputs - 1)
        # With no subset, the weighted rows add up to 0 and not to 1. The constant channel is LDP, and it dominates what
        # is above it, because all channels of one input are equivalent.
        constant = Channel.from_rows([[1]] * inputs)
        yield decide(constant.is_ldp(LAM), at=f"{inputs} inputs: the constant channel", claimed="LDP")
        reached = bool(subsets) and MaximalPolytope(inputs, LAM).contains(dominating_extremal(constant, LAM)[0])
        yield compare(reached, statement(inputs), at=f"{inputs} inputs: a class above the constant channel has a point")
    split = Channel.from_rows([["1/3", "2/3"]])
    yield decide(equivalent(Channel.from_rows([[1]]), split), at="two channels of one input", claimed="equivalent")


def best_orbit(problem: Problem, group: SymmetryGroup) -> Fraction:
    """The smallest minimax risk of a channel that uses the outputs of a single orbit, at lam = 3."""
    polytope, family = OrbitPolytope(group, LAM), MaximalPolytope(group.m, LAM)
    channels = [family.channel(polytope.lift({o: polytope.single_orbit_weight(orbit)}))
                for o, orbit in enumerate(polytope.orbits)]  # fmt: skip
    return min(minimax_risk(problem, channel).value.lower for channel in channels)


def two_questions() -> Problem:
    """Parameters of two kinds on three inputs: all readings are t, or none is; an answer guesses both.

    A wrong guess costs 1 for the first kind and 4/5 for the second. All permutations act, transitively on inputs and on
    the parameters of each kind.
    """
    half = Fraction(1, 2)
    model = [tuple(Fraction(int(x == t)) for x in range(3)) for t in range(3)]
    model += [tuple(half * (x != t) for x in range(3)) for t in range(3)]
    answers = list(itertools.product(range(3), repeat=2))
    loss = [tuple(Fraction(int(a != t)) for a, _ in answers) for t in range(3)]
    loss += [tuple(Fraction(4, 5) * (b != t) for _, b in answers) for t in range(3)]
    return Problem(tuple(model), tuple(loss))


def _single_orbit(one_kind: bool) -> bool:
    """Appendix C: Proposition 3.6 and Corollary 3.17 make a single orbit optimal, for the minimax risk as well.

    ``one_kind`` is whether the group is transitive on parameters, too.
    """
    return True


def _check_minimax(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For two kinds of parameters, and one kind: whether the best single orbit is minimax, as stated; exact.

    Certified linear programs at lam = 3: one problem of two kinds, three of one.
    """
    two = two_questions()
    best, optimum = best_orbit(two, symmetric_group(3)), smallest_risk(two, LAM, criterion="minimax").value.exact
    yield compare(best, Fraction(12, 25), at="two kinds of parameters: best single orbit")
    yield compare(optimum, Fraction(8, 17), at="two kinds of parameters: minimax risk over all LDP channels")
    yield compare(best == optimum, statement(False), at="two kinds of parameters: 12/25 against 8/17")
    for name, problem, group in (
        ("guessing", smoothed_point_masses(3, Fraction(3, 4)), symmetric_group(3)),
        ("ring of 4", cases.ring(4), cyclic_group(4)),
        ("ring of 5", cases.ring(5), cyclic_group(5)),
    ):
        same = best_orbit(problem, group) == smallest_risk(problem, LAM, criterion="minimax").value.exact
        yield compare(same, statement(True), at=f"{name}: best single orbit is minimax")


def _concave(risk: str) -> bool:
    """Abstract and Section 1.2: concavity is a property of Bayesian and minimax risks."""
    return True


def _check_concave(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Mixtures of the two best single orbits of one problem: whether the risk is at least the mean, as stated; exact.

    Bayes risk for the uniform prior and minimax risk at lam = 3, by certified linear programs; three weights.
    """
    problem, group = two_questions(), symmetric_group(3)
    prior = replace(problem, prior=(Fraction(1, 6),) * 6)
    polytope, family = OrbitPolytope(group, LAM), MaximalPolytope(group.m, LAM)
    whole = [polytope.single_orbit_weight(orbit) for orbit in polytope.orbits]

    def risks(share: Fraction) -> dict[str, Fraction]:
        weights = {0: share * whole[0], 1: (1 - share) * whole[1]}
        channel = family.channel(polytope.lift({o: weight for o, weight in weights.items() if weight}))
        bayes: Any = prior.bayes_risk(channel)[0]
        return {"Bayes": bayes, "minimax": minimax_risk(problem, channel).value.lower}

    first, second = risks(Fraction(1)), risks(Fraction(0))
    for risk in ("Bayes", "minimax"):
        mixed = {share: risks(share)[risk] for share in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))}
        above = all(value >= share * first[risk] + (1 - share) * second[risk] for share, value in mixed.items())
        found = f"at weight 1/2 it is {mixed[Fraction(1, 2)]}, the mean {(first[risk] + second[risk]) / 2}"
        yield compare(
            above, statement(risk), at=f"{risk} risk of mixtures: at least the mean", found=f"{above}: {found}"
        )


def _lower(inputs: int, moves: int) -> bool:
    """Introduction: the polytope of the invariant channels is one of lower dimension."""
    return True


def _check_dimension(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Whether the orbit polytope of a group has a lower dimension than the whole polytope, for ten groups.

    Both dimensions are those of the library's polytopes; the yes or no is compared with the statement's, which knows
    how many inputs there are and how many are moved.
    """
    groups = [*(SymmetryGroup(m, ()) for m in (2, 3)), *(cyclic_group(m) for m in (2, 3, 4, 5)), symmetric_group(4)]
    groups += [SymmetryGroup(m, ((1, 0, *range(2, m)),)) for m in (3, 4, 5)]
    for group in sorted(groups, key=lambda one: one.m):
        whole, part = MaximalPolytope(group.m, LAM).dimension, OrbitPolytope(group, LAM).dimension
        moved = group.m - sum(len(orbit) == 1 for orbit in group.input_orbits())
        at = f"{group.m} inputs, {moved} of them moved: dimension {part} of {whole}"
        yield compare(part < whole, statement(group.m, moved), at=at)


CLAIMS: Final = (
    Claim(
        id="symshuffle.ldp-cofinal",
        kind="statement",
        title="does a cofinal class contain the maximal channels?",
        text=(
            Clause("said", "Footnote 3: any cofinal class of a preordered set contains all maximal elements."),
            Clause("equivalents", "It contains equivalents of all."),
            Clause(
                "instance",
                "Binary randomized response alone is cofinal, and the same with a null output is maximal as well.",
            ),
            Clause(
                "meant",
                "(The sentence with the footnote also means cofinal among LDP channels, not among maximal ones: "
                "extremal mechanisms with an all-ones row are not maximal. True of classes.)",
                "quoted",
            ),
        ),
        source="ldp_tradeoff, Section 3.2, footnote 3",
        assumptions=("the preorder of Definition 3.1 on channels, not on classes",),
        scope="all cofinal classes of a family of three channels of two inputs at lam = 3",
        grade="refuted",
        printed=_contains,
        check=_check_cofinal,
        controls=(Control("the first member of the class is enough", lambda q, chosen: q == chosen[0]),),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "reading",
            "True of classes of equivalent channels, of which the text probably speaks; a footnote.",
            quote="any cofinal set contains max(A)",
        ),
        corrected=Correction(
            text="A cofinal class contains an equivalent of every maximal element.",
            statement=lambda q, chosen: any(equivalent(q, other) for other in chosen),
            grade="exact-cases",
        ),
        obligations=for_all("maximal", "cofinal", clause=("said", "equivalents", "instance")),
    ),
    Claim(
        id="symshuffle.ldp-null-rows",
        kind="statement",
        title="rows of what dominates a channel with extreme rows",
        text=(
            Clause(
                "said",
                r"Proof of Proposition B.3: if the rows of $Q$ are extreme and $Q=W\tilde Q$, every row of "
                r"$\tilde Q$ is extreme.",
            ),
            Clause("null row", r"A null row is not (an extreme direction is not 0): $\tilde Q=Q\oplus0$."),
            Clause("proof", "The proof goes through, as the statement itself speaks of non-zero rows only.", "quoted"),
        ),
        source="ldp_tradeoff, Appendix B.3, proof of Proposition B.3, before (60)",
        assumptions=(),
        scope="binary response and the five vertices for three inputs at lam = 3, split and padded",
        grade="refuted",
        printed=_all_rows_extreme,
        check=_check_rows,
        controls=(Control("no row is extreme", lambda cone, rows: not _non_zero_rows_extreme(cone, rows)),),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "granted",
            "A step of a proof forgets null rows; the statement proved excludes them.",
            quote="implies that every row of Q~ is also an extreme direction",
        ),
        corrected=Correction(
            text=r"Every non-zero row of $\tilde Q$ is extreme.",
            statement=_non_zero_rows_extreme,
            grade="exact-cases",
        ),
        obligations=for_all("cone", "rows", clause=("said", "null row")),
    ),
    finding(
        "ldp-one-input",
        "at least two inputs",
        (
            Clause(
                "two or more",
                "Theorems 3.10 and 3.15, Proposition B.3 with Lemma B.5 and (22) are about two inputs or more.",
            ),
            Clause(
                "one",
                "With one input there is nothing to hide (there is no non-empty proper subset, the polytope is "
                "empty, and the constant channel is maximal.)",
            ),
        ),
        lambda inputs: inputs >= 2,
        _corresponds,
        source="ldp_tradeoff, Theorem 3.10, Lemma B.5",
        assumptions=(),
        scope="one, two and three inputs",
        check=_check_inputs,
        controls=(Control("three inputs at least", lambda inputs: inputs >= 3),),
        obligations=for_all("inputs", clause=("two or more", "one")),
    ),
    Claim(
        id="symshuffle.ldp-minimax-single-orbit",
        kind="statement",
        title="is a single orbit optimal for the minimax risk?",
        text=(
            Clause(
                "said",
                "Appendix C.2 infers from Proposition 3.6 and Corollary 3.17 that some $w_OS_O$ attains the "
                "optimal trade-off, in the minimax framework too.",
            ),
            Clause(
                "instance",
                "The corollary needs concavity, which the minimax risk does not have (Remark 3.4): with "
                "parameters of two kinds the best single orbit has risk $12/25$, a mixture of two orbits "
                "$8/17$.",
            ),
            Clause("appendix", "The result of the appendix stands, by its equalizer argument (111)-(123)."),
            Clause(
                "abstract",
                "(The abstract promises the expression for every problem with a transitive symmetry; it, too, "
                "leaves the concavity out.)",
                "quoted",
            ),
        ),
        source="ldp_tradeoff, Appendix C.2, after (96); abstract",
        assumptions=("an invariant problem under a group that is transitive on inputs",),
        scope="three inputs, six parameters, nine answers at lam = 3; guessing and two rings for the correction",
        grade="refuted",
        printed=_single_orbit,
        check=_check_minimax,
        controls=(Control("never", lambda one_kind: False),),
        expected="refuted",
        erratum=Erratum(
            "hypothesis",
            "granted",
            "The inference lacks the concavity that its corollary supposes; the result of the appendix stands by "
            "its other argument.",
            quote="Appendix C.2, after (96), by Proposition 3.6 and Corollary 3.17",
        ),
        corrected=Correction(
            text=(
                "Some single orbit is minimax if the group is transitive on parameters as well: then the risk of an "
                "invariant rule is the same at all of them, and is the Bayes risk of the uniform prior."
            ),
            statement=lambda one_kind: one_kind,
            grade="exact-cases",
        ),
        obligations=for_all("one_kind", clause=("said", "instance", "appendix")),
    ),
    Claim(
        id="symshuffle.ldp-minimax-not-concave",
        kind="statement",
        title="is the minimax risk concave in the channel?",
        text=(
            Clause(
                "said",
                "The abstract and Section 1.2 list concavity among the properties of Bayesian and minimax "
                "risks, Section 1.2 as what Proposition 3.6 shows.",
            ),
            Clause("Bayes", "The proposition gives it to the Bayes risk only.", "quoted"),
            Clause(
                "instance",
                "With parameters of two kinds the minimax risks of two channels are $12/25$ and $4/7$, and that "
                "of their even mixture is $17/35$, below the mean $92/175$.",
            ),
        ),
        source="ldp_tradeoff, abstract and Section 1.2, item 1",
        assumptions=(),
        scope="one problem at lam = 3, mixtures of two channels at three weights",
        grade="refuted",
        printed=_concave,
        check=_check_concave,
        controls=(
            Control("neither is", lambda risk: False),
            Control("the minimax risk is", lambda risk: risk != "Bayes"),
        ),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "reading",
            "The list may be one of all properties that occur; Remark 3.4 says that the minimax risk is not concave.",
            quote="key functional properties of Bayesian and minimax risks ... including ... concavity",
            same_as="symshuffle.ldp-minimax-single-orbit",
        ),
        corrected=Correction(
            text="The Bayes risk is concave; the minimax risk is direct-sum quasi-convex, and concave only in special "
            "problems.",
            statement=lambda risk: risk == "Bayes",
            grade="exact-cases",
        ),
        obligations=for_all("risk", clause=("said", "instance")),
    ),
    finding(
        "ldp-lower-dimension",
        "when the polytope of invariant channels has a lower dimension",
        (
            Clause(
                "three inputs",
                "$S^G$ has a lower dimension than $S$ if there are three inputs or more and the group moves one "
                "of them.",
            ),
            Clause(
                "two inputs",
                "With two inputs and their exchange both are the same point (Corollary 3.12); the trivial group "
                "changes nothing.",
            ),
        ),
        lambda inputs, moves: inputs >= 3 and moves > 0,
        _lower,
        source="ldp_tradeoff, Section 1.2, item 2",
        assumptions=(),
        scope="ten groups on two to five inputs at lam = 3",
        check=_check_dimension,
        controls=(
            Control("never", lambda inputs, moves: False),
            Control("every group that moves an input", lambda inputs, moves: moves > 0),
        ),
        obligations=for_all("inputs", "moves", clause=("three inputs", "two inputs")),
    ),
)
