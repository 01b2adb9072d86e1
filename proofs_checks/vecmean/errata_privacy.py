"""Slips about privacy and regularity that no numbered statement of the ledger carries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks._errata import finding, refuted
from proofs_checks._limits import gaussian_profile as normal_profile
from proofs_checks.vecmean import _cases as cases
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import chi_square, hockey_stick
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import Clause, Control, Statement, for_all, identity
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, FiniteRandomizer

HALF: Final = Fraction(1, 2)


# One law for two counterexamples: step k has probability 2^-k, and the ratio there is linear in k.


def _keeps_class(kept: bool) -> bool:
    """Proof of Lemma A.4: the processed randomizer may stand in (5), as its indices are no smaller.

    ``kept`` is whether the randomizer stays and the kernel moves into the estimator.
    """
    return True


def _check_class(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """One family of outputs (s, k, u), with u and without: mean, moments, density, atoms, size of ratios; exact sums.

    Whether it is in the class, against what the statement says of keeping and of dropping u.
    """
    import sympy as sp

    k, t = sp.symbols("k t", positive=True)
    steps = (sp.Symbol("k", positive=True), 1, sp.oo)
    # Outputs (s, k, u): a sign, a step of probability 2^-k, a uniform u. Ratio 1/2 + (1 + s x) k u / 2 >= 1/2.
    mean = sp.summation(k * 2**-k, steps) / 2
    yield identity(mean, 1, at="the ratio has mean 1 for every x, and the blanket has mass 1/2")
    for power, exact in ((2, 6), (3, 26), (4, 150)):
        yield identity(sp.summation(k**power * 2**-k, steps), exact, at=f"moment {power} of the step is finite")
    slope = sp.diff(sp.summation(2**-k * t / k, steps), t)  # of Pr[k u <= t] at t in (0, 1)
    with_density = bool(slope > HALF)
    yield decide(with_density == statement(True), at="with u: a density on (0, 1), so (Cont)", claimed="in the class")
    atoms = sp.summation(2**-k, steps)  # without u the ratio is 1/2 + (1 + s x) k / 4, on atoms only
    unbounded = all(HALF + Fraction(2 * (4 * c), 4) > c for c in (10, 100, 1000))  # x = s = 1, step 4 c
    without = not (atoms == 1 and unbounded)
    yield decide(without == statement(False), at="u dropped: atoms of mass 1, no bound", claimed="as stated")


def _regular(channel: Channel, blanket: tuple[Fraction, ...]) -> bool:
    """Appendix B: a randomizer with pure local privacy satisfies Assumption B.1, whatever its blanket."""
    return True


def _square_integrable(channel: Channel, blanket: tuple[Fraction, ...]) -> bool:
    """Condition (2) at the blanket as reference: it holds where the blanket vanishes with the randomizer only."""
    return all(mass > 0 or not entry for row in channel.rows for entry, mass in zip(row, blanket, strict=True))


def _check_regular(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """RR(3/4) with two blankets, ten random randomizers, each also with a blanket on two of three outputs; exact.

    Whether the library's chi-square divergence of every row from the blanket is finite, against the stated answer. The
    library accepts every blanket, those among them that vanish where the randomizer does not.
    """
    response = cases.response(Fraction(3, 4)).channel
    one_sided = (Fraction(1), Fraction(0))
    found = FiniteRandomizer(response, one_sided, Fraction(1, 4), one_sided)  # refused if this were no blanket
    yield compare(found.gamma, Fraction(1, 4), at="RR(3/4): (1, 0) is a blanket of mass 1/4")
    pairs: list[tuple[Channel, Any]] = [(response, one_sided), (response, (HALF, HALF))]
    for one in (cases.randomizer(rng, 2, 3) for _ in range(10)):
        edge = (HALF, HALF, Fraction(0))
        rows: Any = one.channel.rows
        narrow = FiniteRandomizer(one.channel, edge, 2 * min(min(row[:2]) for row in rows), edge)
        pairs += [(one.channel, one.blanket), (narrow.channel, narrow.blanket)]
    for number, (channel, blanket) in enumerate(pairs):
        # Condition (2) at the blanket: the mean of the squared ratio is 1 + the chi-square divergence.
        finite = all(chi_square(row, blanket) < math.inf for row in channel.rows)
        yield compare(finite, statement(channel, blanket), at=f"pair {number}: condition (2)")


def _truncated(low: Fraction, high: Fraction) -> bool:
    """Appendix B: restricted to a bounded interval of outputs, the privacy variable is bounded."""
    return True


def _check_truncated(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """One law on (0, 1], three intervals: is the ratio below 2000 there, against the stated answer; exact."""
    import sympy as sp

    k = sp.Symbol("k", positive=True)
    # Outputs in (0, 1], uniform without data; ratio 1/2 + k/4 on (2^-k, 2^(1-k)].
    yield identity(sp.summation((HALF + k / 4) * 2**-k, (k, 1, sp.oo)), 1, at="the ratio has mean 1")
    for low, high in ((Fraction(0), Fraction(1)), (Fraction(0), Fraction(1, 1000)), (Fraction(1, 1000), Fraction(1))):
        far = 8000
        bounded = not (Fraction(1, 2**far) < high and Fraction(1, 2 ** (far - 1)) > low)
        yield compare(bounded, statement(low, high), at=f"outputs in ({low}, {high}]: ratio below 2000")


def _everywhere(level: str) -> bool:
    """Section 3.1: a mechanism that meets the target at eps_n is at least as private as the central Gaussian one."""
    return True


def _check_levels(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Profiles of a shuffled bit and of the central Gaussian at two levels, along one sequence of users.

    The bit's are hockey-stick divergences over the rationals, the Gaussian's are enclosed; which is the smaller is
    compared with what the statement says of that level.
    """
    # e^eps_n = 1 + x at n = 4^(k^2) users, x = k/sqrt(n): eps_n sqrt(n) grows like sqrt(log n), inside the regime.
    for k in (2, 3, 4):
        root = 2 ** (k * k)
        x = Fraction(k, root)
        order = 1 + x
        bit, blanket = (1 - 1 / (2 * order), 1 / (2 * order)), (Fraction(1, 2), Fraction(1, 2))
        for level, exp_eps in (("eps_n", order), ("0", Fraction(1))):
            ours = max(hockey_stick(bit, blanket, exp_eps), hockey_stick(blanket, bit, exp_eps))
            central = normal_profile(Fraction(1, root), exp_eps=exp_eps)
            at = f"n = {root**2}, e^eps_n = {order}, sigma = 1: profiles of the bit and the central Gaussian at {level}"
            yield compare(ours, central, "<=" if statement(level) else ">", at=at)


def _closes(gamma: Fraction) -> Fraction:
    """Section 4.3: limit of the squared ratio of the upper to the lower index as the lower one grows, weight fixed."""
    return Fraction(1)


def _check_gap(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Mixed Gaussians of three weights, two noises, in balls: squared ratio of the indices, to a thousandth."""
    for gamma in (Fraction(1, 2), Fraction(9, 10), Fraction(1, 4)):
        for noise in (10**3, 10**4):
            mechanism = BlanketMixedGaussian(gamma, Fraction(noise))
            lower: Any
            upper: Any
            lower, upper = (shuffle_index(mechanism, side).inverse_square for side in ("lower", "upper"))
            ratio: Any = lower / upper
            at = f"gamma = {gamma}, sigma_0 = {noise}: squared ratio of the indices"
            yield compare(ratio, statement(gamma) * Fraction(1001, 1000), "<=", at=at)
            yield compare(ratio, statement(gamma) * Fraction(999, 1000), ">=", at=at)


CLAIMS: Final = (
    refuted(
        "vecmean-class-not-closed",
        "is the class of randomizers closed under processing?",
        (
            Clause("said", "Proof of Lemma A.4: under processing only the indices have to be looked after."),
            Clause(
                "instance",
                "Lemma A.2 also puts the processed randomizer into (5), where it has to satisfy Assumption B.1, "
                r"and that is not closed. Outputs $(s,k,u)$, s a fair sign, $\Pr[k]=2^{-k}$, u uniform, and "
                r"density $\frac12+\frac12(1+sx)ku$, satisfy (Cont); without u the privacy variable has atoms "
                "only and no bound: neither (Cont) nor (Bound).",
            ),
        ),
        _keeps_class,
        lambda kept: kept,
        erratum=Erratum(
            "hypothesis",
            "granted",
            "A step of a proof supposes a closed class; the lemma stands by another argument.",
            quote="The only closure property needed under post-processing concerns the shuffle-index",
        ),
        correction=(
            "Lemma A.2 needs no processed randomizer: the channel stays, the kernel becomes its (randomized) estimator "
            "in (5), or the conditional mean of the kernel, whose error is no larger."
        ),
        source="vecmean, Appendix A.2.4, end of the proof of Lemma A.4",
        assumptions=(),
        scope="the family with and without u: moments to order 4, density, atoms, bound",
        check=_check_class,
        controls=(Control("the processed one only", lambda kept: not kept),),
        obligations=for_all("kept", clause=("said", "instance")),
    ),
    finding(
        "vecmean-pure-ldp-regular",
        "for which blankets pure local privacy gives the regularity conditions",
        (
            Clause(
                "holds",
                "With pure local privacy, condition (2) of Assumption B.1 holds for the largest blanket and for "
                "every blanket that vanishes nowhere; also where the null symbol, which sends the blanket, is "
                "private, too.",
            ),
            Clause(
                "other blankets",
                r"Definition 2.1 allows others: $(1,0)$ with mass $1/4$ for RR(3/4), and there $\int "
                r"R_x^2/R_{BG}=\infty$.",
            ),
        ),
        _square_integrable,
        _regular,
        source="vecmean, Appendix B, last paragraph",
        assumptions=("finitely many outputs",),
        scope="RR(3/4) with two blankets, 10 random randomizers with two each: the divergence of every row",
        check=_check_regular,
        controls=(
            Control("never", lambda channel, blanket: False),
            Control("a zero of the blanket is allowed", lambda channel, blanket: sum(m > 0 for m in blanket) > 1),
            Control("every output but the last", lambda channel, blanket: all(m > 0 for m in blanket[:-1])),
        ),
        obligations=for_all("channel", "blanket", clause=("holds", "other blankets")),
    ),
    refuted(
        "vecmean-truncation",
        "does truncation to a bounded interval bound the privacy variable?",
        (
            Clause(
                "said",
                "Appendix B: without pure local privacy, (Bound) can be enforced by truncating the outputs to a "
                "large bounded interval.",
            ),
            Clause(
                "instance",
                r"Outputs in $(0,1]$, uniform without data, with ratio $\frac12+\frac k4$ on $(2^{-k},2^{1-k}]$: "
                "the space is bounded, all moments are finite, the ratio is not bounded.",
            ),
            Clause("meant", "(For Gaussians, which the authors have in mind, it is true.)", "quoted"),
        ),
        _truncated,
        lambda low, high: low > 0,
        erratum=Erratum(
            "hypothesis",
            "reading",
            "For Gaussian outputs, which the paper uses, it is true; the sentence is general.",
            quote="by truncating the output space to a large but bounded interval",
        ),
        correction="Truncation to a set on which the ratios to the reference are bounded, here outputs above $2^{-K}$.",
        source="vecmean, Appendix B, last paragraph",
        assumptions=(),
        scope="three intervals of one law",
        check=_check_truncated,
        controls=(Control("never", lambda low, high: False),),
        obligations=for_all("low", "high", clause=("said", "instance")),
    ),
    refuted(
        "vecmean-one-level",
        "is a mechanism that meets one level of privacy as private as the central Gaussian one?",
        (
            Clause(
                "said",
                r"Section 3.1: what is $(\varepsilon_n,\delta_n)$-DP has at $\varepsilon_n$ a profile no larger "
                r"than that of $GM(\sigma)$; equivalently, it is to leading order at least as private.",
            ),
            Clause(
                "instance",
                r"At other levels it need not be: a bit that is right with probability $1-e^{-\varepsilon_n}/2$, "
                r"fair for $\perp$, is $(\varepsilon_n,0)$-DP. At $n=256$, $e^{\varepsilon_n}=\frac98$ its "
                r"$\delta(0)$ is $\frac1{18}$, that of $GM(1)$ below $\frac1{40}$, and the ratio grows without "
                "bound.",
            ),
            Clause("meant", r"(The level $\varepsilon_n$ only is meant.)", "quoted"),
        ),
        _everywhere,
        lambda level: level == "eps_n",
        erratum=Erratum(
            "wording",
            "reading",
            "At the level eps_n only is probably meant; the problem (4) asks for no other.",
            quote="at least as strong as GM(sigma)",
        ),
        correction=r"At the level $\varepsilon_n$; nothing follows for other levels.",
        source="vecmean, Section 3.1, after Proposition 3.2",
        assumptions=("zero-out neighbours; one user's datum is read",),
        scope="n = 4^(k^2) users for k = 2, 3, 4, e^eps_n = 1 + k/sqrt(n), sigma = 1; the Gaussian profile in balls",
        check=_check_levels,
        controls=(Control("at no level", lambda level: False), Control("at 0 only", lambda level: level == "0")),
        obligations=for_all("level", clause=("said", "instance")),
    ),
    finding(
        "vecmean-relative-gap",
        "the two indices of the mixed Gaussian at a fixed weight",
        (
            Clause("said", r"Section 4.3 says that the relative gap can vanish as $\chi_{lo}\to\infty$.", "quoted"),
            Clause("both", r"It does where also $\gamma\to1$ (vecmean.sec-4.3-gap).", "quoted"),
            Clause("fixed weight", r"At a fixed weight and growing noise $\chi_{up}^2/\chi_{lo}^2\to1/\gamma$."),
        ),
        lambda gamma: 1 / gamma,
        _closes,
        source="vecmean, Section 4.3",
        assumptions=(r"blanket $N(0,\sigma_0^2I)$ of mass $\gamma$",),
        scope="three weights, two noises, in balls",
        check=_check_gap,
        controls=(Control("1 % less", lambda gamma: Fraction(99, 100) / gamma),),
        obligations=for_all("gamma", clause="fixed weight"),
    ),
)
