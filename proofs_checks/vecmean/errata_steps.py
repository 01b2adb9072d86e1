"""Steps of the appendices that do not follow as written; every conclusion stands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks._errata import refuted
from proofs_checks.vecmean import _cases as cases
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.channel import Channel
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import Clause, Control, Statement, for_all, identity
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.vectors.randomizers.gaussian import upper_normal
from symshuffle.vectors.randomizers.mechanisms import FiniteRandomizer

BITS: Final = 192
NEAR: Final = 1 + Fraction(1, 10**9)


def _whatever_remains(remainder: str) -> bool:
    """(13), taken from (11) and (12): the bracket of (11) is 2b/a^2 up to a factor 1 + o(1)."""
    return True


def _check_remainders(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Tail ratios with two remainders of order t^-5, four n: is the bracket within 4/a^2 of 2b/a^2, as stated.

    The remainder of the normal law in balls; another one, of the same size and of opposite signs, over Q.
    """
    # sigma = 1, n = 4^(k^2) users, eps sqrt(n) = k: a = k, b = 1/(2 sqrt(n)), inside the regime as k grows.
    for k in (3, 4, 5, 6):
        a, b = Fraction(k), Fraction(1, 2 ** (k * k + 1))
        main, where = 2 * b / a**2, f"a = {k}, n = 4^{k * k}"
        with working_precision(BITS):
            tails = [_tail_ratio(to_arb(a - b)), _tail_ratio(to_arb(a + b))]
            gap = abs((tails[0] - tails[1]) / to_arb(main) - 1)
            close = bool(gap < to_arb(4 / a**2))
        yield compare(close, statement("normal"), at=f"{where}, the normal tail: within 4/a^2")
        explicit = [1 / t - 1 / t**3 for t in (a - b, a + b)]
        ends = explicit[0] + 1 / (a - b) ** 5, explicit[1] - 1 / (a + b) ** 5
        off = abs((ends[0] - ends[1]) / main - 1)
        close = off < 4 / a**2
        yield compare(close, statement("signs"), at=f"{where}, remainders t^-5 and -t^-5: off by {float(off):.3g}")


def _tail_ratio(t: Any) -> Any:
    """Upper tail of the normal law over its density."""
    import flint

    return upper_normal(t) * (2 * flint.arb.pi()).sqrt() * (t * t / 2).exp()


def _centred(target: Any, null: Any) -> Any:
    """(27) at the pair of an input and the null symbol: mean product of estimate and privacy variable."""
    return target


def _check_null(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """RR(3/4) with three blankets, inputs 1 and -1, both references, over Q: mean product against the stated one.

    And its square over the privacy variance, (28), against the variance of the estimate.
    """
    response, values = cases.response(Fraction(3, 4)).channel, (Fraction(2), Fraction(-2))
    rows: Any = response.rows
    for bot in (Fraction(1, 2), Fraction(2, 3), Fraction(1, 3)):
        null = (bot, 1 - bot)
        found = FiniteRandomizer(response, null, Fraction(1, 4), null)
        mean: Any = sum(m * v for m, v in zip(null, values, strict=True))
        index = 1 / found.inverse_square_upper()
        enough = False
        for x1, target in enumerate((1, -1)):
            for reference in rows:
                at = f"null law ({bot}, {1 - bot}), x1 = {target}, reference {tuple(map(str, reference))}"
                spread = sum((m * v * v for m, v in zip(reference, values, strict=True)), Fraction(0))
                spread -= sum((m * v for m, v in zip(reference, values, strict=True)), Fraction(0)) ** 2
                product = sum((v * (p - q) for v, p, q in zip(values, rows[x1], null, strict=True)), Fraction(0))
                said = statement(Fraction(target), mean)
                yield compare(product, said, at=f"{at}: (27)")
                bound = said**2 / found.privacy_variance(x1, reference)
                yield compare(spread, bound, ">=", at=f"{at}: (28)")
                enough = enough or (product**2 >= 1 and spread >= index)
        yield decide(enough, at=f"null law ({bot}, {1 - bot})", claimed="(30), with one of the two inputs")


def _largest_of_channel(channel: Channel, blanket: tuple[Fraction, ...]) -> Fraction:
    """Lemma A.3: the mass that goes with the processed blanket is the largest of the processed randomizer."""
    rows: Any = channel.rows
    return sum((min(column) for column in zip(*rows, strict=True)), Fraction(0))


def _largest_of_blanket(channel: Channel, blanket: tuple[Fraction, ...]) -> Fraction:
    """The largest mass with which a law is a blanket."""
    rows: Any = channel.rows
    return Fraction(min(entry / mass for row in rows for entry, mass in zip(row, blanket, strict=True) if mass))


def _check_mass(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """One channel with two outputs merged and ten random ones with random kernels, over Q.

    The library accepts the processed blanket at the stated mass, and refuses it with 1e-9 more.
    """
    simple = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    merge = Channel.from_rows([[1, 0], [1, 0], [0, 1]])
    pairs = [(simple, merge)] + [(cases.channel(rng, 2, 3), cases.kernel(rng, 3, 2)) for _ in range(10)]
    for number, (channel, kernel) in enumerate(pairs):
        before = FiniteRandomizer.from_channel(channel)
        after = channel.push_forward(kernel)
        law: Any = Channel((before.blanket,)).push_forward(kernel).rows[0]
        mass, where = statement(after, law), f"channel {number}"
        yield decide(_accepted(after, mass, law), at=where, claimed=f"the processed blanket has mass {mass}")
        yield decide(not _accepted(after, mass * NEAR, law), at=where, claimed="and none 1e-9 larger")
        yield compare(_largest_of_blanket(after, law), before.gamma, ">=", at=f"{where}: no less than before")


def _accepted(channel: Channel, gamma: Fraction, law: tuple[Fraction, ...]) -> bool:
    try:
        FiniteRandomizer(channel, law, gamma, law)
    except InputError:
        return False
    return True


def _positive(inputs: float) -> bool:
    """Lemma 2.6 and (21) for the whole class: both indices are positive, so that their templates have a value."""
    return True


def _check_zero(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Input k hides among outputs of blanket mass 2^-k or sends k: variances of open mass; symbolic.

    With 2 to 6 inputs the library's indices are positive, over Q; with all k both are 0.
    """
    import sympy as sp

    b, g = sp.symbols("b gamma", positive=True)
    # R_x = gamma B + (1 - gamma) delta_k, B(k) = b: variances of the ratio (R_x - B)/B, and at least of (R_x - B)/R_x'.
    lower = (1 - g) ** 2 * ((1 - b) ** 2 / b + (1 - b)) / g
    yield identity(lower, (1 - g) ** 2 * (1 / b - 1) / g, at="every k: inverse square of the lower index at least")
    upper = (1 - g) ** 2 * (1 - b) ** 2 / (g * b)  # the output k alone, under another input's law
    for size in (2, 3, 4, 5, 6):
        masses = [Fraction(1, 2 ** min(y + 1, size - 1)) for y in range(size)]
        rows = tuple(tuple((m + (x == y)) / 2 for y, m in enumerate(masses)) for x in range(size))
        found = FiniteRandomizer(Channel(rows), tuple(masses), Fraction(1, 2), tuple(masses))
        at, last = f"{size} inputs", {g: sp.Rational(1, 2), b: sp.Rational(1, 2 ** (size - 1))}
        yield identity(sp.Rational(found.inverse_square_lower()), lower.subs(last), at=f"{at}: lower index")
        yield compare(found.inverse_square_upper(), Fraction(str(upper.subs(last))), ">=", at=f"{at}: upper index")
        yield compare(found.inverse_square_upper() < math.inf, statement(size), at=f"{at}: positive indices")
    ends = [sp.limit(value.subs(g, sp.Rational(1, 2)), b, 0, "+") for value in (lower, upper)]
    yield compare(all(end != sp.oo for end in ends), statement(math.inf), at="all k: positive indices")


CLAIMS: Final = (
    refuted(
        "vecmean-tail-remainders",
        "does the expansion of the normal tail give the expansion of the Gaussian profile?",
        (
            Clause(
                "said",
                "Proof of Lemma A.1: from (11), where each tail has a remainder $O(a^{-5})$ of its own, and "
                "(12), follows (13), $2b/a^2$ up to $1+o(1)$.",
            ),
            Clause(
                "instance",
                r"In the regime $a^{-5}$ is not small beside $2b/a^2$, as $b=1/(2\sigma\sqrt n)$ and "
                r"$a=O(\sqrt{\log n})$: at $\sigma=1$, $n=4^{16}$, $a=4$ it is 1024 times as large, and "
                "remainders $t^{-5}$ and $-t^{-5}$ satisfy (11) and not (13).",
            ),
            Clause("lemma", "(The lemma is right.)", "quoted"),
        ),
        _whatever_remains,
        lambda remainder: remainder == "normal",
        erratum=Erratum(
            "wording",
            "granted",
            "A gap in a proof: the two remainders cancel, which has to be shown; the lemma stands.",
            quote="phi(a) e^(eps/2) (2b/a^2) (1 + o(1)) (13)",
        ),
        correction=(
            r"For the normal law the remainders cancel: $t^{-2}-3t^{-4}\le-m'(t)\le t^{-2}$ for the tail ratio $m$, "
            "integrated from $a-b$ to $a+b$ (claim vecmean.lem-A.1)."
        ),
        source="vecmean, Appendix A.1, from (11) to (13)",
        assumptions=(),
        scope="sigma = 1, n = 4^(k^2), a = k for k = 3 to 6: the normal tail in balls, another expansion over Q",
        check=_check_remainders,
        controls=(Control("never", lambda remainder: False),),
        obligations=for_all("remainder", clause=("said", "instance")),
    ),
    refuted(
        "vecmean-mean-without-datum",
        "is the estimate without a datum 0 on average?",
        (
            Clause(
                "said",
                r"Proof of Theorem 3.5: the estimator is required to have mean 0 at $\bot$, which the theorem, "
                r"Section 2.2 and the problems (5), (6) do not ask; (27) and (28) at $(e_j,\bot)$ need it.",
            ),
            Clause(
                "instance",
                r"RR(3/4) with the null law $(\frac23,\frac13)$, a blanket of mass $\frac14$, and $\hat x=2Y$: "
                r"mean $\frac23$ at $\bot$, so (27) is $\frac13$ in place of 1, and (28) would be $3\ge27$.",
            ),
            Clause("proof", "(The proof says that it requires it.)", "quoted"),
        ),
        _centred,
        lambda target, null: target - null,
        erratum=Erratum(
            "wording",
            "reading",
            "Unbiased may be meant to include the null symbol; the theorem holds without.",
            quote="and thus require E[x^(Y)] = 0",
        ),
        correction=(
            r"(27) is $x_1-E_\bot\hat x$. Of the inputs $e_j$, $-e_j$ one is at least 1 away from that mean in "
            "coordinate j, and (30) follows as printed (claim vecmean.thm-3.5)."
        ),
        source="vecmean, Appendix A.3, before (27) to (30)",
        assumptions=("inputs 1 and -1",),
        scope="RR(3/4) with three null laws, two inputs, two references",
        check=_check_null,
        controls=(
            Control("means added", lambda target, null: target + null),
            Control("1 % more", lambda target, null: (target - null) * Fraction(101, 100)),
        ),
        obligations=for_all("target", "null", clause=("said", "instance")),
    ),
    refuted(
        "vecmean-mass-of-processed",
        "which mass goes with a processed blanket?",
        (
            Clause(
                "said",
                r"Proof of Lemma A.3: $K\circ R_{BG}$ is a blanket of $K\circ R$ of mass $\gamma$, hence the "
                r"maximal mass is $\gamma'\ge\gamma$, and the index is taken with $K\circ R_{BG}$ and $\gamma'$.",
            ),
            Clause(
                "instance",
                r"That need not be a blanket: rows $(\frac12,\frac14,\frac14)$, $(\frac14,\frac12,\frac14)$ "
                r"become equal when the first two outputs are merged, $\gamma'=1$, and $(\frac23,\frac13)$ has "
                r"mass $\frac34$ at most.",
            ),
            Clause("meant", "(Right if the maximal mass for this blanket is meant.)", "quoted"),
        ),
        _largest_of_channel,
        _largest_of_blanket,
        erratum=Erratum(
            "wording",
            "reading",
            "The largest mass of this one blanket may be meant; the lemma holds in either reading.",
            quote="maximal blanket mass gamma' of R' satisfies gamma' >= gamma",
        ),
        correction=(
            r"The largest mass of $K\circ R_{BG}$ is the least ratio of a row to it, at least $\gamma$. With the "
            "largest blankets before and after the lemma holds by another argument (claim vecmean.lem-A.3)."
        ),
        source="vecmean, Appendix A.2.4, proof of Lemma A.3",
        assumptions=("finitely many outputs",),
        scope="one channel with two outputs merged; 10 random channels and kernels",
        check=_check_mass,
        controls=(Control("1 % less", lambda channel, law: _largest_of_blanket(channel, law) * Fraction(99, 100)),),
        obligations=for_all("channel", "blanket", clause=("said", "instance")),
    ),
    refuted(
        "vecmean-index-zero",
        "has every randomizer of the class positive indices?",
        (
            Clause("said", "Lemma 2.6 and (21), for every randomizer of the class."),
            Clause(
                "instance",
                r"Assumption B.1 is made pair by pair, the indices are $1/\sup$ over pairs, and the supremum may "
                r"be infinite: the blanket has $\Pr[k]=2^{-k}$ and mass $\frac12$, and input number $k$ sends "
                "$k$ otherwise. Every pair is bounded; the variances grow like $2^k$, both indices are 0, and "
                r"$f_{n,\varepsilon}(0)$ divides by 0.",
            ),
            Clause("meant", "(Uniform moment bounds may mean over pairs, too.)", "quoted"),
        ),
        _positive,
        math.isfinite,
        erratum=Erratum(
            "hypothesis",
            "reading",
            "Bounds that are uniform over pairs are perhaps meant; Theorem 3.5 excludes the other end only.",
            quote="Lemma 2.6, for every randomizer of the class",
        ),
        correction=(
            r"For randomizers with $\chi_{lo}>0$: then $\chi_{up}\ge\chi_{lo}$ is positive. In Appendix A.2.3 a "
            "randomizer of upper index 0 is excluded by one of its pairs, and nothing else changes."
        ),
        source="vecmean, Lemma 2.6; Appendix A.2.3, (21); Assumption B.1",
        assumptions=("infinitely many outputs and inputs",),
        scope="every mass of an output; 2 to 6 inputs in the library; the limit",
        check=_check_zero,
        controls=(Control("never", lambda inputs: False),),
        obligations=for_all("inputs", clause=("said", "instance")),
    ),
)
