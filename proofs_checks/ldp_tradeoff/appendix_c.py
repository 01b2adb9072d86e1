"""Appendix C: guessing one of m values, and estimating an angle on a discrete circle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._named import grid_suffices, guessing_bound_slacks, guessing_risk
from proofs_checks.ldp_tradeoff._signs import nonnegative_by_coefficients
from symshuffle.base.choices import ProgramForm, members
from symshuffle.base.numbers import Ball, Verdict, maximum, minimum, to_arb, working_precision
from symshuffle.channels.geometry.extremal import proper_subsets
from symshuffle.channels.geometry.groups import cyclic_group
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.named import cardioid_program, cosine, cosine_field
from symshuffle.design.parametric.homotopy import derive
from symshuffle.design.parametric.signs import enclosure, sign_in_field
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
    serving,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.symbolic import LAM as LAMBDA

_BITS: Final = 200
M, K, GAMMA, LAM = sp.symbols("m k gamma lambda", positive=True)

_CASES: Final = (
    (2, Fraction(1), Fraction(3)),
    (3, Fraction(1, 2), Fraction(3)),
    (4, Fraction(1), Fraction(2)),
    (4, Fraction(1, 5), Fraction(101, 100)),
    (5, Fraction(3, 10), Fraction(20)),
)


def _guessing(m: Any, k: Any, gamma: Any, lam: Any) -> tuple[Any, Any, Any]:
    """Equations (90), (94) and (91): risk of size k, the same at every parameter, and the optimum."""
    size = k * lam + m - k
    weight = m / (sp.binomial(m, k) * size)
    inside = sp.binomial(m - 1, k - 1) * (1 - 1 / k) * ((1 - gamma) / m * size + gamma * lam)
    outside = sp.binomial(m - 1, k) * ((1 - gamma) / m * size + gamma)
    bayes = 1 - (1 - gamma) / m - gamma * lam / size
    return bayes, weight * (inside + outside), 1 - (1 - gamma) / m - gamma * lam / (lam + m - 1)


def _check_guessing(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every m, k, gamma, lam: risk by counting classes, and a dual vector for the optimum, as stated; symbolic.

    Its slacks have one sign by their coefficients. Then linear programs by every method at m = 2 to 5, in exact
    rationals.
    """
    bayes, equalised, optimum = statement(M, K, GAMMA, LAM)
    counted = guessing_risk(M, K, GAMMA, LAM)
    yield identity(counted, bayes, at="risk of size k by counting classes, against (90)")
    yield identity(counted, equalised, at="risk of size k by counting classes, against (94)")
    yield identity(counted.subs(K, 1), optimum, at="size 1 attains (91)")
    inside, outside, worst = guessing_bound_slacks(M, GAMMA, LAM, optimum)
    yield identity(worst, 0, at="the bound (91) is tight at the worst column, for all m, gamma, lam")
    # With m = 2 + a, lam = 1 + b and a >= 0 < b the two gaps have one sign: all coefficients agree in sign.
    yield decide(_non_negative(-inside), at="gap at the guess is negative", claimed="<= 0", symbolic=True)
    yield decide(_non_negative(outside), at="gap elsewhere is positive", claimed=">= 0", symbolic=True)
    for m, gamma, lam in _CASES:
        problem, at = smoothed_point_masses(m, gamma), f"m={m}, gamma={gamma}, lam={lam}"
        values = statement(sp.Integer(m), sp.Integer(1), sp.Rational(gamma), sp.Rational(lam))
        claimed = Fraction(int(values[2].p), int(values[2].q))
        for method in members(ProgramForm):
            yield compare(smallest_risk(problem, lam, method=method).value.exact, claimed, at=f"{at}, Bayes, {method}")
            yield compare(
                smallest_risk(problem, lam, method=method, criterion="minimax").value.exact,
                claimed,
                at=f"{at}, minimax",
            )


def _non_negative(expression: Any) -> Verdict:
    """Whether a rational function is non-negative at m >= 2, lam > 1, gamma > 0, by the signs of all coefficients."""
    a, b = sp.symbols("a b", positive=True)
    return nonnegative_by_coefficients(expression, {M: 2 + a, LAM: 1 + b}, (a, b, GAMMA))


def _printed_with(change: str) -> Statement:
    """The printed formulas with one of them changed."""

    def perturbed(m: Any, k: Any, gamma: Any, lam: Any) -> tuple[Any, Any, Any]:
        bayes, equalised, optimum = _guessing(m, k, gamma, lam)
        match change:
            case "size two":
                return bayes, equalised, 1 - (1 - gamma) / m - gamma * lam / (2 * lam + m - 2)
            case "no binomial":
                return bayes, equalised * sp.binomial(m, k), optimum
            case _:
                return bayes - gamma / (k * lam + m - k), equalised, optimum

    return perturbed


Angles = tuple[Any, Any, Any, Any]
"""Cosine and sine of 2 pi x/m - a, and of theta - a, as four symbols."""


def _cardioid_steps(m: Any, gamma: Any, lam: Any, angles: Angles, inside: Any, k: Any, size: Any) -> tuple[Any, ...]:
    """(98): the factor before the sum; (99): the integrand in place of model times loss; (100): its mean; (103).

    ``inside`` is the sum of cos(2 pi x/m - a) over the subset.
    """
    reading, reading_sine, theta, theta_sine = angles
    factor = 1 / m
    integrand = (1 + gamma * (reading * theta + reading_sine * theta_sine)) * (1 - theta)
    mean = 1 - gamma / 2 * reading
    risk = (1 - gamma * (lam - 1) / (2 * (k * lam + m - k)) * inside) / size
    return factor, integrand, mean, risk


def _corrected_steps(m: Any, gamma: Any, lam: Any, angles: Angles, inside: Any, k: Any, size: Any) -> tuple[Any, ...]:
    _, integrand, mean, risk = _cardioid_steps(m, gamma, lam, angles, inside, k, size)
    return sp.Integer(1), integrand / m, mean / m, risk


def _gain_doubled(m: Any, gamma: Any, lam: Any, angles: Angles, inside: Any, k: Any, size: Any) -> tuple[Any, ...]:
    risk = (1 - gamma * (lam - 1) / (k * lam + m - k) * inside) / size
    return (*_corrected_steps(m, gamma, lam, angles, inside, k, size)[:3], risk)


def _check_steps(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For open angles, sums, m, k, gamma and lam: each stated line against the one before; symbolic.

    Means over the circle come from the moments of cosine and sine; (103) is derived from the model as well.
    """
    angles = reading, reading_sine, theta, theta_sine = sp.symbols("c s ct st", real=True)
    inside, size = sp.symbols("C N", positive=True)
    factor, integrand, mean, risk = statement(M, GAMMA, LAM, angles, inside, K, size)
    model = (1 + GAMMA * (reading * theta + reading_sine * theta_sine)) / M  # equation (95)
    loss = 1 - theta
    yield identity(factor, 1, at="(97) to (98): the factor before the sum over x")
    yield identity(integrand, model * loss, at="(99): model times loss under the integral")
    # Means over the circle: odd moments vanish, both squares have mean one half.
    moments = {(0, 0): sp.Integer(1), (2, 0): sp.Rational(1, 2), (0, 2): sp.Rational(1, 2)}
    terms = sp.Poly(sp.expand(integrand), theta, theta_sine).terms()
    averaged = sum((c * moments.get(powers, sp.Integer(0)) for powers, c in terms), sp.Integer(0))
    yield identity(averaged, mean, at="(99) to (100): the mean over theta")
    # Summed over x with the staircase column: the cosines of all readings add up to zero, (lam - 1) C is left.
    constant = mean.subs(reading, 0)
    slope = mean.subs(reading, 1) - constant
    weight = M / (size * (K * LAM + M - K))
    total = weight * factor * (constant * (K * LAM + M - K) + slope * (LAM - 1) * inside)
    yield identity(total, risk, at="(98) and (100) to (103), one subset")
    direct = weight / M * ((K * LAM + M - K) - GAMMA / 2 * (LAM - 1) * inside)
    yield identity(direct, risk, at="(103) from the model (95)")


def _sine_ratio(k: Any, m: Any) -> Any:
    """sin(pi k/m) / sin(pi/m): an expression where m is one, else a ball."""
    if isinstance(m, sp.Basic):
        return sp.sin(sp.pi * k / m) / sp.sin(sp.pi / m)
    return Ball.from_arb(to_arb(Fraction(k, m)).sin_pi() / to_arb(Fraction(1, m)).sin_pi(), _BITS)


def _cardioid(m: Any, k: Any, gamma: Any, lam: Any, *, size: Any = None) -> tuple[Any, Any]:
    """(109) and the term of (110) for subsets of size k."""
    with working_precision(_BITS):
        ratio = _sine_ratio(k, m)
        return ratio, 1 - gamma * (lam - 1) / (2 * (k * lam + m - k if size is None else size)) * ratio


def _same(computed: Any, claimed: Any, *, at: str) -> Comparison:
    """Identity in which every sine and cosine is a symbol of its own: angles are independent, squares were reduced."""
    pair = (
        sp.sympify(side).replace(
            lambda part: isinstance(part, sp.sin | sp.cos), lambda part: sp.Symbol(str(part), positive=True)
        )
        for side in (computed, claimed)
    )
    return identity(*pair, at=at)


def _runs(statement: Statement) -> Iterator[Comparison]:
    """Every m and k: sums of k readings of a circle, as stated at most, and so for a run; symbolic."""
    b, u, half = sp.symbols("b u h", real=True)  # h is half of how much farther an angle is
    ratio, term = statement(M, K, GAMMA, LAM)

    def run(k: Any) -> Any:
        """Sum of k cosines from the angle b on, in steps of 2 pi/m."""
        return sp.cos(b + sp.pi * (k - 1) / M) * statement(M, k, GAMMA, LAM)[0]

    def in_sines(difference: Any) -> Any:
        """By the addition theorems, in angles pi/m and pi k/m; a square of a sine by that of the cosine."""
        small, large = sp.symbols("A B", real=True)
        written = sp.expand_trig(sp.expand(difference.subs(K, large * M / sp.pi).subs(M, sp.pi / small)))
        for angle in (small, large, b, u, half):
            written = sp.rem(sp.expand(written), sp.sin(angle) ** 2 + sp.cos(angle) ** 2 - 1, sp.sin(angle))
        return written

    # By induction on k.
    step = (run(K + 1) - run(K) - sp.cos(b + 2 * sp.pi * K / M)) * sp.sin(sp.pi / M)
    yield _same(in_sines(step), 0, at="every m, k, angle: one reading more in a run")
    yield _same(run(sp.Integer(0)), 0, at="every m: no reading")
    # In every direction the k largest cosines are those of the k nearest angles, which are a run: cos falls on [0, pi],
    # as both sines below are not negative there. So no k readings have a longer sum than a run, whose length is stated.
    cosines = sp.cos(u) - sp.cos(u + 2 * half) - 2 * sp.sin(u + half) * sp.sin(half)
    yield _same(in_sines(cosines), 0, at="every two angles: which is nearer")
    longest = run(K).subs(b, -sp.pi * (K - 1) / M)
    yield _same(longest, ratio, at="every m, k: the direction of a run")
    # (103) of that sum. Weights c of sizes k lam + m - k sum to m: the risk of a channel is a mean of such terms.
    gain, weight = sp.symbols("g c", positive=True)
    yield _same(1 - GAMMA * (LAM - 1) / (2 * (K * LAM + M - K)) * ratio, term, at="every m, k: the term of (110)")
    mean = weight * term + (1 - weight) * (term + gain) - term
    yield _same(mean, (1 - weight) * gain, at="every two sizes: a mean is at least the smaller term")


def _equal_risk(statement: Statement) -> Iterator[Comparison]:
    """Every m from 3 on: sums of cosines of all readings, and of twice their angles, are 0; symbolic."""
    whole = statement(M, M, GAMMA, LAM)[0]
    yield _same(whole, 0, at="(122), every m: sum over all readings")
    doubled = statement(M / 2, M, GAMMA, LAM)[
        0
    ]  # the step of twice the angles is that of m/2 readings; sin(2 pi/m) > 0
    yield _same(doubled, 0, at="(122), every m >= 3: sum over all readings of twice the angle")
    c, c2, level = sp.symbols("c c2 L")
    expanded = sp.expand((1 - c) * (1 + level * c)).subs(c**2, (1 + c2) / 2)
    risk = expanded.subs({c: whole, c2: doubled})
    yield _same(risk, 1 - level / 2, at="(118) to (123): constant risk")


def _size(difference: Ball) -> Ball:
    """The absolute value of a ball."""
    absolute: Ball = maximum((difference, -difference))
    return absolute


def _check_cardioid(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every m, k, gamma, lam: longest sum of k readings, its term, and equal risk at all parameters; symbolic.

    For m to 10 the longest sum of k roots over all subsets, exact in a number field, against the stated; balls. Then
    the derived optimum at m = 3 to 8, one gamma and five lam each, within 1e-30 of the smallest stated term.
    """
    yield from _runs(statement)
    yield from serving("parameters", _equal_risk(statement))
    tiny = Fraction(1, 10**30)
    for m in range(3, 11):
        for k, square in _longest(m).items():
            magnitude, _ = statement(m, k, Fraction(1), Fraction(2))
            at = f"(109): largest sum of k = {k} roots of unity, all subsets, m={m}"
            yield compare(_size(square - magnitude * magnitude), tiny, "<=", at=at)
    cases_of = {3: Fraction(1), 4: Fraction(1, 2), 5: Fraction(4, 5), 6: Fraction(1), 7: Fraction(1), 8: Fraction(1)}
    for m, gamma in cases_of.items():
        yield decide(grid_suffices(m), at=f"actions at multiples of pi/m suffice, m={m}", claimed="yes")
        for lam, found in _derived(m, gamma).items():
            difference = found - minimum([statement(m, k, gamma, lam)[1] for k in range(1, m)])
            at = f"(110) against the derived formula, m={m}, gamma={gamma}, lam={lam}"
            yield compare(_size(difference), tiny, "<=", at=at)


@cache
def _longest(m: int) -> dict[int, Ball]:
    """Largest squared length of a sum of k of the m-th roots of unity, over all subsets."""
    domain = cosine_field(m)
    table = [cosine(j, m, domain) for j in range(2 * m)]
    largest: dict[int, Any] = {}
    for orbit in cyclic_group(m).subset_orbits():
        inside = [x for x in range(m) if orbit.representative >> x & 1]
        square = sum((table[2 * (x - z) % (2 * m)] for x in inside for z in inside), start=domain.zero)
        best = largest.get(len(inside), domain.zero)
        largest[len(inside)] = square if sign_in_field(square - best, domain) > 0 else best
    return {k: enclosure(square, domain, bits=_BITS) for k, square in largest.items()}


@cache
def _derived(m: int, gamma: Fraction) -> dict[Fraction, Ball]:
    """The optimum of the program, derived as a formula in lam, at five lam."""
    field, derived, found = cosine_field(m), derive(cardioid_program(m, gamma)), {}
    for lam in (Fraction(11, 10), Fraction(2), Fraction(4), Fraction(10), Fraction(60)):
        value = derived.at(lam).value.subs(LAMBDA, sp.Rational(lam.numerator, lam.denominator))
        found[lam] = enclosure(field.from_sympy(value), field, bits=_BITS)
    return found


def _columns(m: Any) -> Any:
    """The number of weights of the full program."""
    return 2**m - 2


def _averaged(m: Any, weights: Sequence[Any]) -> Any:
    """Weight of each of the subsets of an orbit in the reduced program, from their weights in the full one."""
    return sum(weights) / len(weights)


def _columns_and_weights(m: Any, weights: Sequence[Any]) -> tuple[Any, Any]:
    """Number of weights of the full program, and the one weight of an orbit."""
    return _columns(m), _averaged(m, weights)


def _any_scaling(statement: Statement) -> Iterator[Comparison]:
    """Every m: one input more doubles the subsets. Any symmetry: a subset and its image, as two subsets of an orbit.

    With their mean as weight of both, an additive invariant risk stays as it is, and what two inputs that are carried
    into each other see becomes the mean of what they saw: a feasible point remains one.
    """
    m = sp.Symbol("m", integer=True, positive=True)
    weights, (risk, one, other) = sp.symbols("c d", nonnegative=True), sp.symbols("r s t")
    columns = [statement(size, weights)[0] for size in (m, m + 1)]
    yield identity(columns[1] + 2, 2 * (columns[0] + 2), at="every m: all subsets, with or without one more input")
    yield compare(statement(2, (Fraction(1),))[0], 2, at="two inputs: two subsets of one")
    mean = statement(m, weights)[1]
    before = weights[0] * risk + weights[1] * risk
    seen = [weights[0] * a + weights[1] * b for a, b in ((one, other), (other, one))]
    kept = [
        identity(2 * mean * risk, before, at="any orbit: the risk stays"),
        identity(mean * (one + other), sum(seen) / 2, at="any orbit: a feasible point remains one"),
    ]
    yield from serving("orbits", kept)


def _check_scaling(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every m and symmetry; then rings of 4 to 10 inputs: subsets as stated, equal optima of both programs."""
    yield from _any_scaling(statement)
    for m in (4, 6, 8, 10):
        problem, group, lam = cases.ring(m), cyclic_group(m), cases.LAM
        columns, _ = statement(m, (Fraction(1),))
        yield compare(len(proper_subsets(m)), columns, at=f"columns of the full program, m={m}")
        reduced = smallest_risk(problem, lam, group=group)
        yield compare(sum(orbit.size for orbit in group.subset_orbits()), columns, at=f"orbits cover them, m={m}")
        full = smallest_risk(problem, lam, method="polytope").value.exact
        at = f"{group.subset_orbit_count()} orbits instead of {columns}, certified"
        yield compare(reduced.value.exact, full, at=at)


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.app-C.1",
        kind="statement",
        title="guessing one of m values: best loss in closed form",
        text=(
            Clause(
                "risk",
                r"Guessing $\theta\in[m]$ from $P(x|\theta)=(1-\gamma)/m+\gamma 1[x=\theta]$ under 0-1 loss: "
                r"subset selection of size $k$ has risk $1-(1-\gamma)/m-\gamma\lambda/(k\lambda+m-k)$ at every "
                r"$\theta$.",
            ),
            Clause(
                "best",
                "The best LDP channel has $k=1$, for the uniform prior and in the worst case.",
            ),
        ),
        source="ldp_tradeoff, Appendix C.1, equations (80)-(94)",
        assumptions=("m >= 2", "0 < gamma <= 1", "lam > 1"),
        scope="all m, k, gamma, lam: risk by counting, optimality by a dual vector; rational programs at m = 2..5",
        grade="proved",
        printed=_guessing,
        check=_check_guessing,
        controls=(
            Control("the optimal size is 2", _printed_with("size two")),
            Control("the number of subsets is forgotten", _printed_with("no binomial")),
            Control("numerator lam + 1", _printed_with("numerator")),
        ),
        expected="holds",
        obligations=(
            *for_all("m", "gamma", "lam", clause=("risk", "best")),
            *for_all("k", clause="risk"),
        ),
    ),
    Claim(
        id="ldp_tradeoff.eq-97-103",
        kind="statement",
        title="steps behind the average loss on the circle",
        text=(
            Clause("98", r"Line (98) puts $1/m$ before the sum over $x$ of integrals of $P(x|\theta)\ell$."),
            Clause("99", r"Line (99) integrates $(1+\gamma\cos(\cdot))\ell$ in place of $P\ell$."),
            Clause("100", r"Line (100) gives $1-\frac\gamma2\cos(2\pi x/m-a)$."),
            Clause("103", "Line (103) follows from them."),
        ),
        source="ldp_tradeoff, Appendix C.2, equations (97)-(103)",
        assumptions=("m >= 3", "the model (95), which already contains the factor 1/m"),
        scope="each line symbolic in m, k, gamma, lam and the angles",
        grade="refuted",
        printed=_cardioid_steps,
        check=_check_steps,
        controls=(Control("(103) without the factor one half", _gain_doubled),),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "granted",
            "Two slips in intermediate lines cancel; the result (103) is right.",
            quote="(98) and (99)",
        ),
        obligations=for_all("m", "gamma", "lam", "angles", "inside", "k", "size", clause=("98", "99", "100", "103")),
        corrected=Correction(
            text=(
                r"(98) has no factor $1/m$, and (99), (100) have one: the mean of $P\ell$ is "
                r"$\frac1m(1-\frac\gamma2\cos(2\pi x/m-a))$. The two slips cancel; (103) is right."
            ),
            statement=_corrected_steps,
            grade="proved",
        ),
    ),
    Claim(
        id="ldp_tradeoff.app-C.2",
        kind="statement",
        title="estimating an angle on a discrete circle: best loss in closed form",
        text=(
            Clause(
                "optimum",
                r"$\mathrm{PUT}_B=\mathrm{PUT}_M=1-\frac{\gamma(\lambda-1)}{2\sin(\pi/m)}"
                r"\max_k\frac{\sin(\pi k/m)}{k\lambda+m-k}$.",
            ),
            Clause("runs", "The best subsets are runs of consecutive readings."),
            Clause("equal", "The Bayes rule has the same risk at every parameter."),
        ),
        source="ldp_tradeoff, Appendix C.2, equations (104)-(123)",
        assumptions=(
            "m >= 3",
            "0 < gamma <= 1",
            "lam > 1",
            "(103), for one subset, by ldp_tradeoff.eq-97-103; maximal channels suffice, by ldp_tradeoff.thm-3.7",
        ),
        scope=(
            "every m, k, gamma, lam; again (109) over all subsets for m <= 10, and (110) by balls of 1e-30, m = 3..8, "
            "one gamma each, five lam"
        ),
        grade="proved",
        printed=_cardioid,
        check=_check_cardioid,
        controls=(
            Control(
                "size m - k in the denominator",
                lambda m, k, gamma, lam: _cardioid(m, k, gamma, lam, size=(m - k) * lam + k),
            ),
            Control(
                "chords of half the angle",
                lambda m, k, gamma, lam: (_sine_ratio(k, 2 * m), _cardioid(m, k, gamma, lam)[1]),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("m", "k", "gamma", "lam", clause=("optimum", "runs")),
            *for_all("parameters", clause="equal"),
        ),
    ),
    Claim(
        id="ldp_tradeoff.scaling",
        kind="statement",
        title="computing cost of the two optimisation routes",
        text=(
            Clause("full", "The full program has one weight per non-empty proper subset."),
            Clause("orbits", "Symmetry reduces them to one weight per orbit."),
        ),
        source="ldp_tradeoff, Sections 1.2 and 3.3",
        assumptions=("at least two inputs",),
        scope="every m by one more input, any orbit by two of its subsets; rings of 4 to 10 inputs: counts, and "
        "certified optima of the full and of the reduced program",
        grade="proved",
        printed=_columns_and_weights,
        check=_check_scaling,
        controls=(
            Control("the empty and the full set too", lambda m, weights: (2**m, _averaged(m, weights))),
            Control("the sum as weight of each", lambda m, weights: (_columns(m), sum(weights))),
        ),
        expected="holds",
        obligations=(*for_all("m", clause="full"), *for_all("weights", "orbits", clause="orbits")),
    ),
)
