"""Section 3.1: the Blackwell order, maximal channels, and properties of functionals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cases import gather
from proofs_checks.ldp_tradeoff._cones import non_extreme_output
from proofs_checks.ldp_tradeoff._properties import Functional, Property, examine, mix_channels, random_channel
from proofs_checks.ldp_tradeoff._signs import nonnegative_by_coefficients
from symshuffle.base.results import passes
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.geometry.extremal import MaximalPolytope, dominating_extremal
from symshuffle.channels.geometry.orders import BlackwellOrder, blackwell
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)


def _simulates(first: Channel, second: Channel, kernel: Channel) -> bool:
    """Equation (10) in the orientation of the package: the second channel is the first one, then the kernel."""
    if first.num_outputs != kernel.num_inputs:
        return False
    return cases.product(first.rows, kernel.rows) == [list(row) for row in second.rows]  # type: ignore[arg-type]


def _check_forged_orders(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """A separation offered for two equal channels, and a kernel that moves one percent of one of its rows."""
    separation = blackwell(cases.SINGLES, cases.PAIRS)
    yield decide(passes(partial(separation.verify, cases.SINGLES, cases.SINGLES)), at="equal", claimed="certificate")
    for trial, fine in enumerate(cases.channels(rng, 4, 3)):
        coarse = fine.push_forward(random_channel(rng, fine.num_outputs, 3))
        found = blackwell(fine, coarse)
        if found.kernel is not None:
            (first, *others), rows = found.kernel.rows[0], found.kernel.rows[1:]
            part = Fraction(first) / 100  # type: ignore[arg-type]  # exact channels
            moved = (first - part, *others[:-1], others[-1] + part)
            forged = BlackwellOrder(Channel((moved, *rows)))
            yield decide(passes(partial(forged.verify, fine, coarse)), at=f"case {trial}", claimed="certificate")


def _check_order(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 12 random pairs: the library's kernel solves the stated equation; the converse by a verified certificate.

    Subset selections of sizes 1 and 2 are incomparable, and their largest margins are exact rationals.
    """
    for trial, fine in enumerate(cases.channels(rng, 12, 3)):
        coarse = fine.push_forward(random_channel(rng, fine.num_outputs, 3))
        found = blackwell(fine, coarse)
        holds = found.kernel is not None and statement(fine, coarse, found.kernel)
        yield decide(holds, at=f"post-processing recognised with a kernel, case {trial}", claimed="dominates")
        back = blackwell(coarse, fine)
        valid = passes(partial(back.verify, coarse, fine))
        yield decide(valid, at=f"converse: kernel or separating problem, case {trial}", claimed="certificate")
    for first, second, margin in (
        (cases.SINGLES, cases.PAIRS, Fraction(12, 35)),
        (cases.PAIRS, cases.SINGLES, Fraction(36, 35)),
    ):
        separation = blackwell(first, second)
        yield decide(not separation.dominates, at="subset selection of sizes 1 and 2", claimed="incomparable")
        if not separation.dominates:
            yield compare(separation.margin(first, second), margin, at="its largest margin over bounded gains")


def _maximal(channel: Channel, family: Sequence[Channel]) -> bool:
    """Definition 3.2 on a finite family: whatever dominates the channel is dominated by it."""
    return all(blackwell(channel, other).dominates for other in family if blackwell(other, channel).dominates)


def _check_maximal(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For a family of 10 channels: the library's test by extreme columns against the stated property; certified."""
    lam, polytope = cases.LAM, MaximalPolytope(3, cases.LAM)
    family = [polytope.channel(vertex) for vertex in polytope.vertices()]
    for made in (cases.capped_channel(rng, 3, 2, lam), direct_sum([cases.SINGLES, Channel.from_rows([[1]] * 3)], [
        Fraction(1, 2), Fraction(1, 2)])):  # fmt: skip
        above, _ = dominating_extremal(made, lam)
        family += [made, polytope.channel(above)]
    twin = cases.SINGLES
    family.append(Channel(tuple((row[0] / 2, *row[1:], row[0] / 2) for row in twin.rows)))
    for index, channel in enumerate(family):
        yield compare(non_extreme_output(channel, lam) is None, statement(channel, family), at=f"member {index}")


def _relation(which: Property, values: Sequence[Fraction], weights: Sequence[Fraction], combined: Fraction) -> bool:
    """Definition 3.3: the value of the parts and of what is made of them."""
    average = sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0)) if weights else values[0]
    match which:
        case Property.DPI:
            return values[0] <= combined
        case Property.QUASI_CONVEX:
            return combined <= max(values)
        case Property.ADDITIVE:
            return combined == average
        case _:
            return combined >= average


def _planted() -> dict[Property, Functional]:
    """One functional per property that violates it."""

    def size(channel: Channel) -> Fraction:
        return Fraction(gather(channel).num_outputs)

    return {
        Property.DPI: size,
        Property.QUASI_CONVEX: size,
        Property.ADDITIVE: cases.minimax,
        Property.CONCAVE: cases.minimax,
    }  # fmt: skip


def _check_properties(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For each property: a planted violation is found and violates the stated relation; a Bayes risk satisfies it.

    15 random cases of each, in exact rationals.
    """
    for which, functional in _planted().items():
        found = examine(functional, which, num_inputs=3, rng=rng, trials=80).counterexample
        yield decide(found is not None, at=f"planted violation of {which.value} found", claimed="found")
        if found is not None:
            *parts, made = found.channels
            truth = statement(which, [functional(part) for part in parts], found.weights, functional(made))
            yield decide(not truth, at=f"the counterexample to {which.value}", claimed="violates the definition")
        for trial in range(15):
            first, second = random_channel(rng, 3, 3), random_channel(rng, 3, 3)
            weights = (Fraction(1, 3), Fraction(2, 3))
            parts, made = [first, second], direct_sum([first, second], weights)
            if which is Property.DPI:
                parts, weights, made = [first], (), first.push_forward(random_channel(rng, 3, 2))  # type: ignore[assignment]
            elif which is Property.CONCAVE:
                made = mix_channels([first, second], weights)
            yield decide(
                statement(which, [cases.bayes(part) for part in parts], weights, cases.bayes(made)),
                at=f"Bayes risk has {which.value}, case {trial}",
                claimed="holds",
            )


def _implications(first: Any, second: Any, p: Any) -> tuple[Any, Any, bool]:
    """Remark 3.4 for parts of weights p and 1 - p, by the values of the risk at the parts.

    What DPI and DSA guarantee of the mixture from below, what DSA guarantees of the stack from above, and whether DPI
    and DS-QCVX imply CCV.
    """
    return p * first + (1 - p) * second, sp.Max(first, second), False


def _check_implications(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For two parts of any sizes, weights and values: bounds that DPI and DSA give, against the stated; symbolic.

    The step: a mixture is the stack with outputs merged. What does not follow is shown by a minimax risk, found by
    random search, that exceeds the average at a mixture.
    """
    inputs, outputs = sp.symbols("k m", integer=True, positive=True)
    p, gap, odds = sp.symbols("p g o", positive=True)
    first, second = (sp.MatrixSymbol(name, inputs, outputs) for name in "AB")
    merge = sp.BlockMatrix([[sp.Identity(outputs)], [sp.Identity(outputs)]])
    mixture = p * first + (1 - p) * second
    # By DSA the stated bound is the risk of the stack of these weights; by DPI that of the merged stack is no smaller.
    risks = sp.symbols("r_A r_B", real=True)
    bound, *_ = statement(*risks, p)
    weights = [sp.expand(sp.diff(bound, risk)) for risk in risks]
    linear = sum(weight * risk for weight, risk in zip(weights, risks, strict=True))
    yield identity(bound, linear, at="the stated bound is an average of the risks, by DSA that of a stack")
    merged = sp.block_collapse(sp.BlockMatrix([[weights[0] * first, weights[1] * second]]) * merge)
    at = "a mixture is that stack with outputs merged, channels of any size"
    yield decide(merged == mixture, at=at, claimed=str(mixture), computed=str(merged), symbolic=True)
    low = sp.Symbol("r", real=True)
    for name, (one, other) in {"larger": (low + gap, low), "smaller": (low, low + gap)}.items():
        average = p * one + (1 - p) * other
        _, above, _ = statement(one, other, p)
        slack = nonnegative_by_coefficients(sp.expand(above - average), {p: odds / (1 + odds)}, (gap, odds))
        at = f"DSA keeps the stack below the largest part, first part {name}"
        yield decide(slack, at=at, claimed=f"{above} - ({average}) >= 0", symbolic=True)
    *_, concave = statement(low, low, p)
    witness = examine(cases.minimax, Property.CONCAVE, num_inputs=3, rng=rng, trials=80).counterexample
    if witness is not None:
        combined = mix_channels(witness.channels[:2], witness.weights)
        average = sum(w * cases.minimax(c) for w, c in zip(witness.weights, witness.channels[:2], strict=True))
        yield compare(cases.minimax(combined), average, "<", at="a minimax risk, DPI and DS-QCVX, that is not concave")
    yield compare(concave, witness is None, at="so that implication fails")


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.def-3.1",
        kind="definition",
        title="one channel simulates another",
        text=r"$Q^{(2)}\precsim Q^{(1)}$ if $Q^{(2)}=WQ^{(1)}$ for a channel $W$.",
        source="ldp_tradeoff, Definition 3.1",
        assumptions=("rational channels",),
        scope="12 random pairs decided by certified programs, both ways; two incomparable maximal channels",
        grade="exact-cases",
        printed=_simulates,
        check=_check_order,
        controls=(
            Control("roles exchanged", lambda a, b, w: _simulates(b, a, w)),
            Control("certificates of another order", _simulates, _check_forged_orders),
        ),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.def-3.2",
        kind="definition",
        title="channels nothing strictly dominates",
        text=r"$Q$ is maximal in a class if $Q\precsim B$ implies $B\precsim Q$ for all $B$ in the class.",
        source="ldp_tradeoff, Definition 3.2",
        assumptions=("LDP channels at lam = 3 on three inputs",),
        scope="a family of 10 channels, every order relation certified, against the test by extreme columns",
        grade="exact-cases",
        printed=_maximal,
        check=_check_maximal,
        controls=(
            Control(
                "only itself may dominate",
                lambda q, family: all(other == q for other in family if blackwell(other, q).dominates),
            ),
            Control("everything is maximal", lambda q, family: True),
        ),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.def-3.3",
        kind="definition",
        title="four properties a risk may have",
        text=r"Data processing, quasi-convexity and additivity on direct sums, concavity on mixtures.",
        source="ldp_tradeoff, Definition 3.3",
        assumptions=(),
        scope="a planted violation of each is found and violates the definition; 60 random cases for a Bayes risk",
        grade="exact-cases",
        printed=_relation,
        check=_check_properties,
        controls=(
            Control(
                "data processing reversed",
                lambda which, values, weights, made: (
                    values[0] >= made if which is Property.DPI else _relation(which, values, weights, made)
                ),
            ),
        ),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.rem-3.4",
        kind="statement",
        title="which of the four properties imply others",
        text=(
            Clause("DPI and DSA", "DPI and DSA imply CCV."),
            Clause("DSA", "DSA implies DS-QCVX."),
            Clause("minimax", "DPI and DS-QCVX do not imply CCV."),
        ),
        source="ldp_tradeoff, Remark 3.4",
        assumptions=("mixtures and stacks of two parts, from which those of more are made one by one",),
        scope="channels of any size, two parts of any weights and values; an exact minimax risk that is not concave",
        grade="proved",
        printed=_implications,
        check=_check_implications,
        controls=(
            Control("quasi-convexity is enough for concavity", lambda a, b, p: (*_implications(a, b, p)[:2], True)),
            Control(
                "a mixture bounded by one percent more of the first part",
                lambda a, b, p: (_implications(a, b, p)[0] + p * a / 100, *_implications(a, b, p)[1:]),
            ),
            Control("weights exchanged", lambda a, b, p: (_implications(b, a, p)[0], *_implications(a, b, p)[1:])),
            Control(
                "the stack is below its smallest part",
                lambda a, b, p: (_implications(a, b, p)[0], sp.Min(a, b), False),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("first", "second", clause=("DPI and DSA", "DSA")),
            *for_all("p", clause=("DPI and DSA", "DSA", "minimax")),
        ),
    ),
)
