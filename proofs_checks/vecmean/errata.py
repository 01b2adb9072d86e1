"""Slips in the prose, the captions and the proofs that no numbered statement of the ledger carries."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from symshuffle.channel import Channel
from symshuffle.claims.errata import Erratum, Severity, Standing
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Correction,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    for_all,
    identity,
)
from symshuffle.divergences import chi_square, hockey_stick
from symshuffle.likelihood.normal import gaussian_profile as normal_profile
from symshuffle.vectors.finite import FiniteRandomizer
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, CentralGaussian
from symshuffle.vectors.risk import err1, errn

HALF: Final = Fraction(1, 2)


def _bound_of_mean(inverse_upper: Fraction, d: int, n: int) -> Fraction:
    """The abstract: the worst squared error of a protocol of upper index chi is at least d chi^2."""
    return d / inverse_upper


def _mean_error(p: Fraction, n: int) -> Fraction:
    """Worst squared error of the mean of n estimates Y/(2p - 1) of bits, over all datasets and reports."""
    share, worst = 2 * p - 1, Fraction(0)
    for data in itertools.product((1, -1), repeat=n):
        error = Fraction(0)
        for said in itertools.product((1, -1), repeat=n):
            mass = Fraction(1)
            for x, y in zip(data, said, strict=True):
                mass *= p if x == y else 1 - p
            error += mass * (Fraction(sum(said)) / (n * share) - Fraction(sum(data), n)) ** 2
        worst = max(worst, error)
    return worst


def _check_mean(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """RR(3/4) and RR(3/5), one to four users, over Q: worst error of the mean, enumerated, equals the stated bound."""
    for p in (Fraction(3, 4), Fraction(3, 5)):
        upper = cases.response(p).inverse_square_upper()
        for n in (1, 2, 3, 4):
            # Randomized response attains the bound for one user, so no larger one is true for n.
            yield compare(_mean_error(p, n), statement(upper, 1, n), at=f"RR({p}), {n} users")


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


def _calibrated(gamma: Fraction, sigma: Fraction, n: int, d: int) -> tuple[Fraction, Fraction]:
    """Section 5: at n = 1000 the parameters (0.95, 4.6) attain RMSE 3.16 per coordinate. Square, rounded both ways."""
    return Fraction(3155, 1000) ** 2, Fraction(3165, 1000) ** 2


def _attained(gamma: Fraction, sigma: Fraction, n: int, d: int) -> tuple[Fraction, Fraction]:
    """Squared error per coordinate by (38), as both ends."""
    share = 1 - gamma
    value = (sigma**2 / share**2 + gamma / (share * d)) / n
    return value, value


def _check_calibrated(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """BMG(0.95, 4.6), n = 1000, four d: the library's squared error per coordinate between the stated ends; over Q."""
    gamma, sigma = Fraction(19, 20), Fraction(23, 5)
    for d in (1, 2, 1000, 10**9):
        found: Any = errn(BlanketMixedGaussian(gamma, sigma, dimension=d), 1000)
        low, high = statement(gamma, sigma, 1000, d)
        yield compare(found / d, low, ">=", at=f"d = {d}: squared RMSE, from below")
        yield compare(found / d, high, "<=", at=f"d = {d}: squared RMSE, from above")


def _proportional(gamma: Any, sigma: Any, d: Any) -> Any:
    """Section 5: error in dimension d over that in dimension 1."""
    return d


def _affine(gamma: Any, sigma: Any, d: Any) -> Any:
    """Error in dimension d over that in dimension 1, by (38)."""
    noise = sigma**2 / (1 - gamma) ** 2
    return (d * noise + gamma / (1 - gamma)) / (noise + gamma / (1 - gamma))


def _check_dimension(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two mixed Gaussians, d = 2 and 100, over Q: the library's error over that at d = 1, against the stated factor.

    The central mechanism is proportional to d.
    """
    for gamma, sigma in ((HALF, Fraction(1)), (Fraction(19, 20), Fraction(23, 5))):
        single: Any = err1(BlanketMixedGaussian(gamma, sigma))
        for d in (2, 100):
            found: Any = err1(BlanketMixedGaussian(gamma, sigma, dimension=d))
            yield compare(found / single, statement(gamma, sigma, d), at=f"gamma = {gamma}, d = {d}: error over d = 1")
    central: Any = errn(CentralGaussian(Fraction(2), 7), 10)
    yield compare(central, 7 * Fraction(4, 10), at="the central mechanism: proportional to d")


def _estimable(gamma: Fraction) -> bool:
    """Algorithm 1 has gamma in (0, 1], and (7) is said to be unbiased throughout."""
    return 0 < gamma <= 1


def _check_range(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four weights over Q: do inputs -1 and 1 have different means of the message, against the stated answer."""
    for gamma in (Fraction(0), Fraction(1, 100), Fraction(99, 100), Fraction(1)):
        means = [(1 - gamma) * x for x in (Fraction(-1), Fraction(1))]
        # Inputs of one mean have one law here, and no estimator has two means under one law.
        yield compare(means[0] != means[1], statement(gamma), at=f"gamma = {gamma}: some estimator is unbiased")


def _response_error(share: Any, spread: Any) -> Any:
    """Proposition 3.8: what every unbiased estimator of randomized response pays; ``spread`` is that of its coin."""
    return 1 / share**2 - 1


def _response_with_coin(share: Any, spread: Any) -> Any:
    """The error of Y/t times an independent factor of mean 1 and variance ``spread``."""
    return (1 + spread) / share**2 - 1


def _check_coin(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """RR of open share at input 1, Y/t times a fair coin of open spread, or of 2 and 0: mean and error; symbolic."""
    import sympy as sp

    t, c = sp.symbols("t c", positive=True)
    # Y/t times a factor of mean 1 and variance c, both drawn independently: 1 + c and 1 - c for c <= 1 by a fair coin.
    for share, spread, coins in ((t, c**2, (1 + c, 1 - c)), (HALF, Fraction(1), (Fraction(2), Fraction(0)))):
        error, mean = Fraction(0), Fraction(0)
        for y in (1, -1):
            for coin in coins:
                mass, value = (1 + y * share) / 4, y * coin / share
                error, mean = error + mass * (value - 1) ** 2, mean + mass * value
        yield identity(mean, 1, at=f"input 1, share {share}: unbiased")
        yield identity(error, statement(share, spread), at=f"input 1, share {share}: error")
    # A function f of the message alone, unbiased at both inputs: one solution, with no spread.
    f, g = sp.symbols("f g", real=True)
    means = [(f * (1 + x * t) + g * (1 - x * t)) / 2 - x for x in (1, -1)]
    (only,) = sp.solve(means, [f, g], dict=True)
    yield identity(only[f], 1 / t, at="every share: the only unbiased function of the message is Y/t, at 1")
    yield identity(only[g], -1 / t, at="every share: and at -1")
    error = ((only[f] - 1) ** 2 * (1 + t) + (only[g] - 1) ** 2 * (1 - t)) / 2
    yield identity(error, statement(t, sp.Integer(0)), at="every share: its error")


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


def _claim(name: str, title: str, text: str, printed: Statement, corrected: Statement, **other: Any) -> Claim:
    """An erratum: what is printed, a counterexample in its text, what is true instead."""
    correction = Correction(other.pop("correction"), corrected, other.pop("corrected_grade", Grade.EXACT_CASES))
    return Claim(
        id=f"symshuffle.vecmean-{name}",
        kind=Kind.STATEMENT,
        title=title,
        text=text,
        grade=Grade.REFUTED,
        printed=printed,
        expected=ClaimVerdict.REFUTED,
        corrected=correction,
        **other,
    )


CLAIMS: Final = (
    _claim(
        "error-per-user",
        "error of one user and of the mean",
        (
            r"Abstract, Sections 1 and 7: an unbiased protocol of shuffle index $\chi$ has worst mean squared error at "
            r"least $d\chi^2$. That is the error of one user; the mean of n users has an n-th of it: four users of "
            r"RR(3/4) have $3/4$ against $\chi_{up}^2=3$. (Problem (4) carries the factor n. A matter of reading.)"
        ),
        _bound_of_mean,
        lambda inverse, d, n: d / (n * inverse),
        erratum=Erratum(
            Severity.WORDING,
            Standing.READING,
            "The error per user is meant, as the problem (4) and Theorem 3.5 have it.",
        ),
        correction=r"$n\,\mathrm{Err}_n\ge d\chi_{up}^2$, as in (4) and Theorem 3.5.",
        source="vecmean, abstract, Sections 1.1 and 7",
        assumptions=(),
        scope="RR(3/4) and RR(3/5) with one to four users, all datasets and reports",
        check=_check_mean,
        controls=(Control("n^2 in place of n", lambda inverse, d, n: d / (n * n * inverse)),),
    ),
    _claim(
        "class-not-closed",
        "is the class of randomizers closed under processing?",
        (
            r"Proof of Lemma A.4: under processing only the indices have to be looked after. Lemma A.2 also puts the "
            r"processed randomizer into (5), where it has to satisfy Assumption B.1, and that is not closed. Outputs "
            r"$(s,k,u)$, s a fair sign, $\Pr[k]=2^{-k}$, u uniform, and density $\frac12+\frac12(1+sx)ku$, satisfy "
            r"(Cont); without u the privacy variable has atoms only and no bound: neither (Cont) nor (Bound)."
        ),
        _keeps_class,
        lambda kept: kept,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.GRANTED,
            "A step of a proof supposes a closed class; the lemma stands by another argument.",
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
    ),
    _claim(
        "pure-ldp-regular",
        "does pure local privacy give the regularity conditions?",
        (
            r"Appendix B: a nontrivial randomizer with pure local privacy satisfies Assumption B.1 automatically. "
            r"Definition 2.1 allows blankets that vanish where the randomizer does not: $(1,0)$ with mass $1/4$ for "
            r"RR(3/4). Then $\int R_x^2/R_{BG}=\infty$, against condition (2)."
        ),
        _regular,
        _square_integrable,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.GRANTED,
            "True for the largest blanket; the definition admits others.",
        ),
        correction="It does for the largest blanket, and for every blanket that vanishes nowhere (finite outputs).",
        source="vecmean, Appendix B, last paragraph",
        assumptions=("finitely many outputs",),
        scope="RR(3/4) with two blankets, 10 random randomizers with two each: the divergence of every row",
        check=_check_regular,
        controls=(
            Control("never", lambda channel, blanket: False),
            Control("a zero of the blanket is allowed", lambda channel, blanket: sum(m > 0 for m in blanket) > 1),
            Control("every output but the last", lambda channel, blanket: all(m > 0 for m in blanket[:-1])),
        ),
    ),
    _claim(
        "truncation",
        "does truncation to a bounded interval bound the privacy variable?",
        (
            r"Appendix B: without pure local privacy, (Bound) can be enforced by truncating the outputs to a large "
            r"bounded interval. Outputs in $(0,1]$, uniform without data, with ratio $\frac12+\frac k4$ on "
            r"$(2^{-k},2^{1-k}]$: the space is bounded, all moments are finite, the ratio is not bounded. (For "
            "Gaussians, which the authors have in mind, it is true.)"
        ),
        _truncated,
        lambda low, high: low > 0,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.READING,
            "For Gaussian outputs, which the paper uses, it is true; the sentence is general.",
        ),
        correction="Truncation to a set on which the ratios to the reference are bounded, here outputs above $2^{-K}$.",
        source="vecmean, Appendix B, last paragraph",
        assumptions=(),
        scope="three intervals of one law",
        check=_check_truncated,
        controls=(Control("never", lambda low, high: False),),
    ),
    _claim(
        "figure-3-parameters",
        "do the parameters of Figure 3 attain the stated accuracy?",
        (
            r"Section 5 and the caption of Figure 3: the randomizer with $(\gamma,\sigma_0)=(0.95,4.6)$ attains RMSE "
            r"3.16 per coordinate at $n=10^3$. It attains $\sqrt{8.464+0.019/d}$, that is 2.91, in every dimension. "
            r"(The parameters are rounded; $(0.953434,4.648486)$ attains 3.16 in dimension 1.)"
        ),
        _calibrated,
        _attained,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.READING,
            "The parameters are rounded to print; unrounded they attain the stated accuracy in dimension 1.",
        ),
        correction=r"Squared error per coordinate: $(\sigma_0^2/(1-\gamma)^2+\gamma/((1-\gamma)d))/n$, at most 8.483.",
        source="vecmean, Section 5, Scaling with the number of users; Figure 3",
        assumptions=(),
        scope="dimensions 1, 2, 1000 and 10^9, in fractions",
        check=_check_calibrated,
        controls=(
            Control("1 % more", lambda g, s, n, d: tuple(v * Fraction(101, 100) for v in _attained(g, s, n, d))),
        ),
    ),
    _claim(
        "error-in-dimension",
        "does the error of the mixed Gaussian scale as d?",
        (
            r"Section 5: both mechanisms have an error that scales as d, so RMSE is reported per coordinate. That of "
            r"the mixed Gaussian has the part $\gamma/(1-\gamma)$ besides, once for all coordinates: at $\gamma=1/2$, "
            r"$\sigma_0=1$ it is 5 for $d=1$ and 9 for $d=2$. The figures do not name their d. (A small part there.)"
        ),
        _proportional,
        _affine,
        erratum=Erratum(
            Severity.WORDING,
            Standing.READING,
            "Right up to a part that does not grow with d, small in the figures; (38) has it.",
        ),
        correction=r"$Err_1=d\sigma_0^2/(1-\gamma)^2+\gamma/(1-\gamma)$, as (38) says.",
        source="vecmean, Section 5, Setup and parameter tuning",
        assumptions=(),
        scope="two mechanisms in dimensions 1, 2 and 100",
        check=_check_dimension,
        controls=(Control("1 % more", lambda g, s, d: _affine(g, s, d) * Fraction(101, 100)),),
    ),
    _claim(
        "mass-range",
        "the range of the mixing weight",
        (
            r"Algorithm 1 has $\gamma\in(0,1]$. At $\gamma=1$ the message does not depend on the input: (7) divides by "
            r"0, and no estimator is unbiased. $\gamma=0$, the special case of Section 4.3, is excluded and has one. "
            r"(Appendix A.6 has $1-\gamma\in(0,1]$.)"
        ),
        _estimable,
        lambda gamma: 0 <= gamma < 1,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.GRANTED,
            "One end point in, the other out; the algorithm is used inside the range only.",
        ),
        correction=r"$\gamma\in[0,1)$; as the mass of a blanket, $\gamma\in(0,1)$.",
        source="vecmean, Algorithm 1, Sections 4.1 and 4.3, Appendix A.6",
        assumptions=(),
        scope="four weights, both ends among them",
        check=_check_range,
        controls=(Control("open at both ends", lambda gamma: 0 < gamma < 1),),
    ),
    _claim(
        "randomized-estimator",
        "do all unbiased estimators of randomized response have one error?",
        (
            r"Proposition 3.8: an unbiased estimator of RR(p) has error "
            r"$\chi_{lo}^2(1+\chi_{lo}^{-1}+O(\chi_{lo}^{-2}))$. Appendix A.4 admits randomized estimators: $Y/t$, "
            r"doubled or replaced by 0 by a fair coin, is unbiased and has "
            r"$2/t^2-1$; at $p=3/4$ that is 7 against 3. (A matter of reading: $Y/t$ is meant.)"
        ),
        _response_error,
        _response_with_coin,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.READING,
            "The estimator Y/t is meant; randomized ones are admitted in an appendix.",
        ),
        correction=r"The display holds for $Y/t$, the only unbiased function of the message, and for the least error.",
        corrected_grade=Grade.PROVED,
        source="vecmean, Proposition 3.8",
        assumptions=("inputs 1 and -1",),
        scope="every share and every spread of a fair two-point factor; every function of the message, solved for",
        check=_check_coin,
        controls=(Control("1 % more", lambda t, s: _response_with_coin(t, s) * Fraction(101, 100)),),
        obligations=for_all("share", "spread"),
    ),
    _claim(
        "one-level",
        "is a mechanism that meets one level of privacy as private as the central Gaussian one?",
        (
            r"Section 3.1: what is $(\varepsilon_n,\delta_n)$-DP has at $\varepsilon_n$ a profile no larger "
            r"than that of $GM(\sigma)$; equivalently, it is to leading order at least as private. At other levels it "
            r"need not be: a bit that is right with probability $1-e^{-\varepsilon_n}/2$, fair for $\perp$, is "
            r"$(\varepsilon_n,0)$-DP. At $n=256$, $e^{\varepsilon_n}=\frac98$ its $\delta(0)$ is $\frac1{18}$, that of "
            r"$GM(1)$ below $\frac1{40}$, and the ratio grows without bound. (The level $\varepsilon_n$ only is meant.)"
        ),
        _everywhere,
        lambda level: level == "eps_n",
        erratum=Erratum(
            Severity.WORDING,
            Standing.READING,
            "At the level eps_n only is probably meant; the problem (4) asks for no other.",
        ),
        correction=r"At the level $\varepsilon_n$; nothing follows for other levels.",
        source="vecmean, Section 3.1, after Proposition 3.2",
        assumptions=("zero-out neighbours; one user's datum is read",),
        scope="n = 4^(k^2) users for k = 2, 3, 4, e^eps_n = 1 + k/sqrt(n), sigma = 1; the Gaussian profile in balls",
        check=_check_levels,
        controls=(Control("at no level", lambda level: False), Control("at 0 only", lambda level: level == "0")),
    ),
)
