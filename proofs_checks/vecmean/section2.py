"""Section 2: blankets, shuffled messages, divergences, zero-out neighbours, and the two indices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
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
    serving,
)
from symshuffle.divergences import hockey_stick
from symshuffle.errors import InputError
from symshuffle.shuffled import shuffled_law, worst_shuffled_divergence
from symshuffle.vectors.finite import FiniteRandomizer

NEAR: Final = 1 + Fraction(1, 10**9)


def _largest_mass(channel: Channel) -> Fraction:
    rows: Any = channel.rows
    return sum((min(column) for column in zip(*rows, strict=True)), Fraction(0))


def _accepted(channel: Channel, gamma: Fraction, blanket: Sequence[Fraction]) -> bool:
    try:
        FiniteRandomizer(channel, tuple(blanket), gamma, tuple(blanket))
    except InputError:
        return False
    return True


def _check_blanket(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """40 random channels over Q: the stated mass is the library's; 1e-9 more is refused; residual laws."""
    for trial in range(40):
        channel = cases.channel(rng, 2 + trial % 3, 2 + trial % 4)
        found = FiniteRandomizer.from_channel(channel)
        law: Any = found.blanket
        mass = statement(channel)
        where = f"random channel {trial}"
        yield compare(found.gamma, mass, at=where)
        yield decide(_accepted(channel, mass, law), at=where, claimed="this mass is a blanket's")
        yield decide(not _accepted(channel, mass * NEAR, law), at=where, claimed="a mass 1e-9 larger is not")
        for x, residual in enumerate(found.residuals() or ()):
            yield compare(sum(residual, Fraction(0)), Fraction(1), at=f"{where}, residual law of input {x}")


def _permuted(channel: Channel, dataset: Sequence[int], orders: Sequence[tuple[int, ...]]) -> dict[Any, Fraction]:
    """Law of the published sequence where the order is one of those given, each as likely as the others."""
    rows: Any = channel.rows
    law: dict[Any, Fraction] = {}
    for outputs in itertools.product(range(channel.num_outputs), repeat=len(dataset)):
        mass = math.prod((rows[x][y] for x, y in zip(dataset, outputs, strict=True)), start=Fraction(1))
        for order in orders:
            seen = tuple(outputs[i] for i in order)
            law[seen] = law.get(seen, Fraction(0)) + mass / len(orders)
    return law


def _uniform_order(n: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(n)))


def _check_shuffled(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Eight random channels and datasets of 2 or 3 users, over Q: law of sequences under the stated orders."""
    for trial in range(8):
        n = 2 + trial % 2
        channel = cases.channel(rng, 3, 2 + trial % 2)
        dataset = [int(x) for x in rng.integers(0, 3, size=n)]
        sequences = _permuted(channel, dataset, statement(n))
        for histogram, mass in shuffled_law(channel, dataset).items():
            ways = math.factorial(n)
            for count in histogram:
                ways //= math.factorial(count)
            one = tuple(itertools.chain(*([y] * count for y, count in enumerate(histogram))))
            for seen in set(itertools.permutations(one)):
                yield compare(mass / ways, sequences[seen], at=f"trial {trial}, dataset {dataset}, sequence {seen}")


def _stick(p: Sequence[Fraction], q: Sequence[Fraction], alpha: Fraction) -> Fraction:
    """The largest gain of an event."""
    events = itertools.product((0, 1), repeat=len(p))
    return max(sum(((a - alpha * b) * e for a, b, e in zip(p, q, event, strict=True)), Fraction(0)) for event in events)


def _check_stick(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """20 random pairs over Q: the library's divergence against the stated; a random kernel does not raise it."""
    for trial in range(20):
        p, q = (cases.distribution(rng, 2 + trial % 4) for _ in range(2))
        alpha = 1 + Fraction(int(rng.integers(0, 8)), 8)
        value = hockey_stick(p, q, alpha)
        yield compare(value, statement(p, q, alpha), at=f"random pair {trial}, alpha = {alpha}")
        merged = Channel((p, q)).push_forward(cases.kernel(rng, len(p), 2)).rows
        yield compare(hockey_stick(merged[0], merged[1], alpha), value, "<=", at=f"random pair {trial}, processed")


def _profile(channel: Channel, n: int, alpha: Fraction) -> Fraction:
    """The profile over neighbours in either order; the last row of the channel is the null law."""
    bot = channel.num_inputs - 1
    worst = Fraction(0)
    for others in itertools.product(range(bot + 1), repeat=n - 1):
        for x in range(bot):
            laws = [shuffled_law(channel, (own, *others)) for own in (x, bot)]
            for first, second in (laws, laws[::-1]):
                gain = sum(max(mass - alpha * second.get(h, 0), Fraction(0)) for h, mass in first.items())
                worst = max(worst, Fraction(gain))
    return worst


def _one_order(channel: Channel, n: int, alpha: Fraction) -> Fraction:
    """The profile with the neighbours in one order only."""
    bot = channel.num_inputs - 1
    return max(Fraction(worst_shuffled_divergence(channel, (x, bot), n, alpha)[0]) for x in range(bot))


def _check_profile(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Six random channels with null law, and RR(3/4), n <= 3, over Q: worst divergences against the profile."""
    for trial in range(6):
        found = FiniteRandomizer.from_channel(cases.channel(rng, 2, 2 + trial % 2))
        channel, n = Channel((*found.channel.rows, found.bot)), 2 + trial % 2
        bot = channel.num_inputs - 1
        alpha = Fraction(5, 4)
        pairs = [pair for x in range(bot) for pair in ((x, bot), (bot, x))]
        ours = max(Fraction(worst_shuffled_divergence(channel, pair, n, alpha)[0]) for pair in pairs)
        yield compare(ours, statement(channel, n, alpha), at=f"random channel {trial}, n = {n}")
    response = cases.response(Fraction(3, 4))
    with_bot = Channel((*response.channel.rows, response.bot))
    for n, value in ((1, "1/4"), (2, "3/16"), (3, "5/32")):
        yield compare(Fraction(value), statement(with_bot, n, Fraction(1)), at=f"RR(3/4), n = {n}, alpha = 1")


def _twice(alpha: Any, delta: Any) -> tuple[Any, Any]:
    """Order and mass at which replace-one neighbours are covered, for alpha = exp(eps)."""
    return alpha**2, 2 * delta


def _check_conversion(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open alpha, delta: the stated order and mass cover the event where both steps are tight, by sign; symbolic.

    So they do on any event, by the sum of both steps. One channel and 12 random ones at alpha = 2, over Q.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    alpha, delta, p, q, s, t = sp.symbols("alpha delta p q s t", positive=True)
    order, mass = statement(alpha, delta)
    # Attained: an event of probabilities q, s = alpha q + delta, p = alpha s + delta under x', bot, x.
    step = alpha * q + delta
    attained = sp.expand(alpha * step + delta - order * q)
    less = sp.factor(mass - attained)
    shown = f"the bound less the gain is {less}, at alpha = 2, delta = 1: {less.subs({alpha: 2, delta: 1})}"
    covered = nonnegative(mass - attained, {alpha: 1 + t})
    yield decide(covered, at="every alpha >= 1", claimed=">= 0", computed=shown, symbolic=True)
    # Enough: (p - alpha^2 q) is (p - alpha s) plus alpha (s - alpha q), outcome by outcome.
    yield identity(p - alpha**2 * q, (p - alpha * s) + alpha * (s - alpha * q), at="every outcome: the two steps")
    # Each step gains at most delta, on every event; a larger order gains the less.
    steps = sp.expand(mass - (delta + alpha * delta) + (order - alpha**2) * q)
    enough = decide(
        nonnegative(steps, {alpha: 1 + t}), at="every event: sum of both steps", claimed="covered", symbolic=True
    )
    yield from serving("events", [enough])
    tight = FiniteRandomizer.from_channel(
        Channel.from_rows([["1/2", "1/2"], ["1/20", "19/20"]]), bot=(Fraction(1, 5), Fraction(4, 5))
    )
    for where, found in [("RR-like counterexample", tight)] + [
        (f"random channel {trial}", FiniteRandomizer.from_channel(cases.channel(rng, 2, 3))) for trial in range(12)
    ]:
        rows, null = found.channel.rows, found.bot
        steps = [hockey_stick(*pair, Fraction(2)) for row in rows for pair in ((row, null), (null, row))]
        wide, allowed = statement(Fraction(2), max(steps))
        for first, second in (rows, rows[::-1]):
            yield compare(hockey_stick(first, second, wide), allowed, "<=", at=f"{where}, alpha = 2, n = 1")


def _privacy_variable(a: Any, b: Any, reference: Any, alpha: Any) -> Any:
    return (a - alpha * b) / reference


def _check_variable(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open masses and alpha: integrands of mean and variance; symbolic. Ten random channels over Q: variance."""
    import sympy as sp

    a, b, r, alpha = sp.symbols("a b r alpha", positive=True)
    # Integrated over outcomes, these are the mean 1 - alpha and, at alpha = 1, the second moment.
    yield identity(r * statement(a, b, r, alpha), a - alpha * b, at="every law: integrand of the mean")
    yield identity(r * statement(a, b, r, 1) ** 2, (a - b) ** 2 / r, at="every law: integrand of the variance")
    for trial in range(10):
        found = cases.randomizer(rng, 2, 3)
        rows: Any = found.channel.rows
        reference: Any = rows[1]
        values = [statement(x, y, z, Fraction(1)) for x, y, z in zip(rows[0], found.bot, reference, strict=True)]
        mean = sum((z * v for z, v in zip(reference, values, strict=True)), Fraction(0))
        square = sum((z * v * v for z, v in zip(reference, values, strict=True)), Fraction(0))
        yield compare(found.privacy_variance(0, reference), square - mean**2, at=f"random channel {trial}")


def _indices(found: FiniteRandomizer) -> tuple[Fraction, Fraction]:
    """The two inverse squares, each as the largest variance of the privacy variable at eps = 0."""
    rows: Any = found.channel.rows
    bot: Any = found.bot

    def variance(x: int, reference: Any) -> Fraction:
        values = [(a - b) / r for a, b, r in zip(rows[x], bot, reference, strict=True)]
        mean = sum((r * v for r, v in zip(reference, values, strict=True)), Fraction(0))
        return sum((r * (v - mean) ** 2 for r, v in zip(reference, values, strict=True)), Fraction(0))

    inputs = range(len(rows))
    gamma: Any = found.gamma
    lower = max(variance(x, found.blanket) for x in inputs) / gamma
    return lower, max(variance(x1, rows[x]) for x1 in inputs for x in inputs)


def _without_mass(found: FiniteRandomizer) -> tuple[Fraction, Fraction]:
    """The lower index without dividing by the blanket's mass."""
    gamma: Any = found.gamma
    return _indices(found)[0] * gamma, _indices(found)[1]


def _null_reference(found: FiniteRandomizer) -> tuple[Fraction, Fraction]:
    """The upper index with the null law as reference."""
    return _indices(found)[0], max(found.privacy_variance(x, found.bot) for x in range(found.channel.num_inputs))


def _check_indices(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any blanket, by outcomes: chi_up >= chi_lo, by sign. 60 random randomizers and RR over Q: both indices."""
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    g, b, q, t = sp.symbols("g b q t", positive=True)
    gap = 1 / (g * b) - 1 / (g * b + (1 - g) * q)
    yield decide(
        nonnegative(gap, {g: t / (1 + t)}),
        at="every blanket, outcome by outcome",
        claimed="chi_up >= chi_lo",
        symbolic=True,
    )
    for trial in range(60):
        found = cases.randomizer(rng, 2 + trial % 3, 2 + trial % 3)
        lower, upper = statement(found)
        where = f"random randomizer {trial}"
        yield compare(found.inverse_square_lower(), lower, at=f"{where}, lower")
        yield compare(found.inverse_square_upper(), upper, at=f"{where}, upper")
        yield compare(upper, lower, "<=", at=f"{where}, chi_up >= chi_lo")
        yield compare(found.with_largest_blanket().inverse_square_lower(), lower, "<=", at=f"{where}, largest blanket")
    for p in (Fraction(3, 5), Fraction(9, 10)):
        lower, upper = statement(cases.response(p))
        share = 2 * p - 1
        yield compare(share**2 / (1 - share), lower, at=f"RR({p}), lower")
        yield compare(share**2 / (1 - share**2), upper, at=f"RR({p}), upper")


def _leading(chi: Any, eps: Any, n: Any) -> Any:
    import sympy as sp

    power = n ** sp.Rational(3, 2)
    return sp.exp(-(chi**2) * eps**2 * n / 2) / (sp.sqrt(2 * sp.pi) * chi**3 * eps**2 * power)


def _response_profile(share: float, eps: float, n: int) -> float:
    """Largest gain between one user holding +1 or nothing, all others holding the same bit, in either order."""
    from scipy.stats import binom

    k, alpha = np.arange(n + 1), math.exp(eps)
    found = []
    for bit in (1, -1):
        said = np.array([(1 + bit * share) / 2, (1 - bit * share) / 2])  # +1 and -1 under the others' input
        mass = binom.pmf(k, n, said[0])
        own, null = np.array([(1 + share) / 2, (1 - share) / 2]), np.array([0.5, 0.5])
        for first, second in ((own, null), (null, own)):
            up, down = (first - alpha * second) / said
            found.append(float(np.maximum(k * up + (n - k) * down, 0) @ mass) / n)
    return max(found)


def _check_template(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open chi, eps, n: the template is the library's and falls in chi; symbolic. RR at three n in doubles: a trend."""
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative
    from symshuffle.vectors.templates import leading_template, profile_template

    chi, eps, n = sp.symbols("chi epsilon n", positive=True)
    written = statement(chi, eps, n)
    yield identity(leading_template(chi, eps, n) / written, 1, at="the template")
    yield identity(
        sp.diff(sp.expand_log(sp.log(written), force=True), chi), -3 / chi - chi * eps**2 * n, at="its slope"
    )
    falling = decide(nonnegative(3 / chi + chi * eps**2 * n, {}), at="every chi", claimed="f falls", symbolic=True)
    yield falling
    share, before = 0.3, math.inf
    index = math.sqrt(1 - share**2) / share
    # f is the first term of g, which it approaches slowly: their ratio is taken from the library, the limit from g.
    for users in (3200, 51200, 819200):
        level = 0.5 * math.sqrt(math.log(users) / users)
        exact = Fraction(index), Fraction(level), users
        slow = float(profile_template(*exact, order="leading") / profile_template(*exact))
        ratio = slow * _response_profile(share, level, users) / float(statement(index, level, users))
        yield compare(abs(ratio - 1), before, "<=", at=f"RR, n = {users}: closer to its limit", slack=0.0)
        before = abs(ratio - 1)
        below = float(statement(math.sqrt(1 - share) / share, level, users)) / slow
        yield compare(
            _response_profile(share, level, users), below, "<=", at=f"RR, n = {users}: lower index", slack=0.0
        )
    yield compare(before, 0.15, "<=", at="RR, n = 819200: within 15 %", slack=0.0)


CLAIMS: Final = (
    Claim(
        id="vecmean.def-2.1",
        kind=Kind.DEFINITION,
        title="local channel with a common component",
        text=r"$R_x=\gamma R_{BG}+(1-\gamma)Q_x$ with laws $Q_x$; the largest mass is $\sum_y\min_xR_x(y)$.",
        source="vecmean, Definition 2.1",
        assumptions=("finitely many outputs",),
        scope="40 random rational channels: accepted at the mass, refused 1e-9 above it, residual laws of sum 1",
        grade=Grade.EXACT_CASES,
        printed=_largest_mass,
        check=_check_blanket,
        controls=(Control("mass too large by 1e-9", lambda channel: _largest_mass(channel) * NEAR),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="vecmean.def-2.2",
        kind=Kind.DEFINITION,
        title="one shuffled message per user",
        text="The messages are published in uniformly random order; equivalently, their histogram is.",
        source="vecmean, Definition 2.2",
        assumptions=(),
        scope="8 random channels and datasets of 2 and 3 users, sequence by sequence",
        grade=Grade.EXACT_CASES,
        printed=_uniform_order,
        check=_check_shuffled,
        controls=(
            Control(
                "all cyclic shifts but one", lambda n: [tuple((i + j) % n for i in range(n)) for j in range(n - 1)]
            ),
            Control("all orders but one", lambda n: _uniform_order(n)[1:]),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="vecmean.def-2.3",
        kind=Kind.DEFINITION,
        title="hockey-stick divergence",
        text=r"$D_\alpha(P\|Q)=\int(p-\alpha q)_+$, the largest gain of an event; processing lowers it.",
        source="vecmean, Definition 2.3",
        assumptions=(r"$\alpha\ge1$",),
        scope="20 random pairs against all events; data processing under random kernels",
        grade=Grade.EXACT_CASES,
        printed=_stick,
        check=_check_stick,
        controls=(Control("alpha larger by 1 %", lambda p, q, alpha: _stick(p, q, alpha * Fraction(101, 100))),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="vecmean.def-2.4",
        kind=Kind.DEFINITION,
        title="privacy profile over ordered neighbours",
        text=r"$\delta_M(\varepsilon)$ is the largest $D_{e^\varepsilon}$ over neighbouring datasets, in both orders.",
        source="vecmean, Definition 2.4",
        assumptions=(),
        scope="6 random channels with null law, n = 2 and 3; RR(3/4) at n = 1, 2, 3",
        grade=Grade.EXACT_CASES,
        printed=_profile,
        check=_check_profile,
        controls=(Control("one order of the pair only", _one_order),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="vecmean.sec-2.3-adj",
        kind=Kind.STATEMENT,
        title="from zero-out to replace-one neighbours",
        text=(
            r"$(\varepsilon,\delta)$-DP for zero-out neighbours implies $(2\varepsilon,2\delta)$-DP for replace-one "
            "neighbours."
        ),
        source="vecmean, Section 2.3",
        assumptions=(),
        scope="the extremal event for every alpha and delta; one channel with its null law inside a blanket; 12 random",
        grade=Grade.REFUTED,
        printed=_twice,
        check=_check_conversion,
        controls=(
            Control("1 % below the corrected mass", lambda a, d: (a**2, (1 + a) * d * Fraction(99, 100))),
            Control("order alpha instead of its square", lambda a, d: (a, (1 + a) * d)),
        ),
        expected=ClaimVerdict.REFUTED,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.GRANTED,
            "The order doubles, and the mass of one step is multiplied by the order of the other; pure privacy "
            "is not affected.",
        ),
        corrected=Correction(
            text=(
                r"It implies $(2\varepsilon,(1+e^\varepsilon)\delta)$-DP, and no smaller mass will do. Counterexample: "
                r"$R_x=(1/2,1/2)$, $R_\bot=(1/5,4/5)$, $R_{x'}=(1/20,19/20)$ is $(\log2,1/10)$-DP for zero-out "
                r"neighbours, and $D_4(R_x\|R_{x'})=3/10$."
            ),
            statement=lambda alpha, delta: (alpha**2, (1 + alpha) * delta),
            grade=Grade.PROVED,
        ),
        obligations=for_all("alpha", "delta", "events"),
    ),
    Claim(
        id="vecmean.eq-leps",
        kind=Kind.STATEMENT,
        title="privacy variable against a reference law",
        text=(
            r"$\ell_\varepsilon=(R_x-e^\varepsilon R_{x'})/R_{ref}$ has mean $1-e^\varepsilon$ under $R_{ref}$ and, at "
            r"$\varepsilon=0$, variance $\int(R_x-R_{x'})^2/R_{ref}$."
        ),
        source="vecmean, Section 2.4",
        assumptions=("the reference dominates both laws",),
        scope="integrands for every law; 10 random channels",
        grade=Grade.PROVED,
        printed=_privacy_variable,
        check=_check_variable,
        controls=(Control("alpha larger by 1 %", lambda a, b, r, alpha: (a - alpha * b * Fraction(101, 100)) / r),),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("a", "b", "reference", "alpha"),
    ),
    Claim(
        id="vecmean.def-2.5",
        kind=Kind.DEFINITION,
        title="lower and upper shuffle index",
        text=(
            r"$\chi_{lo}^{-2}=\sup\frac1\gamma Var_{R_{BG}}\ell_0$, $\chi_{up}^{-2}=\sup Var_{R_x}\ell_0$; for every "
            r"valid blanket $\chi_{up}\ge\chi_{lo}$."
        ),
        source="vecmean, Definition 2.5",
        assumptions=("finitely many outputs",),
        scope="60 random randomizers with various blankets; the order for every blanket; randomized response",
        grade=Grade.EXACT_CASES,
        printed=_indices,
        check=_check_indices,
        controls=(
            Control("without the mass", _without_mass),
            Control("the null law as the only reference", _null_reference),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="vecmean.lem-2.6",
        kind=Kind.STATEMENT,
        title="asymptotic profile between two templates",
        text=(
            r"$f(\chi_{up})(1+o(1))\le\delta(\varepsilon_n)\le f(\chi_{lo})(1+o(1))$ for "
            r"$\varepsilon_n\sqrt n\to\infty$, $\varepsilon_n=O(\sqrt{\log n/n})$; f falls in $\chi$."
        ),
        source="vecmean, Lemma 2.6, which imports it",
        assumptions=("the regularity of Appendix B",),
        scope="f falls; both sides along one sequence of randomized response: a trend, no proof of the limits",
        grade=Grade.SAMPLED,
        printed=_leading,
        check=_check_template,
        controls=(
            Control("index 2 % smaller in the exponent", lambda c, e, n: _leading(c, e, n) * _nudge(c, e, n)),
            Control("power 2 of the index instead of 3", lambda c, e, n: c * _leading(c, e, n)),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
)


def _nudge(chi: Any, eps: Any, n: Any) -> Any:
    """What the exponential gains where the index in it is 2 % smaller, to first order."""
    import sympy as sp

    return sp.exp(chi**2 * eps**2 * n / 50)
