"""Appendices A.4 to A.7 (limits and expansions), B, and the remark of Section 6 on rounds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np

from proofs_checks.vecmean import _cases as cases
from proofs_checks.vecmean.section32 import upper_bound
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    for_all,
    identity,
    serving,
)
from symshuffle.numbers import Ball, to_arb, working_precision
from symshuffle.vectors.compare import privunit_constant
from symshuffle.vectors.mechanisms import CentralGaussian, PrivUnit
from symshuffle.vectors.minimal_risk import minimal_unbiased_risk
from symshuffle.vectors.optimal import bmg_error, bmg_optimal
from symshuffle.vectors.risk import errn
from symshuffle.vectors.sphere import cap_numbers
from symshuffle.vectors.templates import upper_normal

BITS: Final = 192


def _linear(m: Any, spread: Any) -> Any:
    """Mean error over uniform inputs of an unbiased estimator at mean square distance ``spread`` from Y/m."""
    return 1 / (m * m) - 1 + spread


def _check_symmetrised(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Any unbiased estimator, output by output: mean error over inputs by its distance from Y/m; symbolic.

    As printed too: what averaging over two rotations gains, and that an equivariant estimate is along the output.
    """
    import sympy as sp

    m, t, f1, f2 = sp.symbols("m t f1 f2", real=True)
    across = sp.Symbol("w", real=True)
    # Inputs uniform on the sphere: outputs are uniform, as the density depends on <u, v> alone. Given the output u, an
    # input t u + w and its mirror image t u - w are equally likely: the mean of <f(u), v> is t f1, and m f1 over all t.
    mirrored = (f1 * t + f2 * across + f1 * t - f2 * across) / 2
    found = [identity(mirrored, f1 * t, at="every output: mean product of an estimate with the input")]
    # So E |f - v|^2 at an output, f1 along and f2 across it. Unbiased: E <f, v> = 1, so f1 - 1/m has mean 0 over the
    # outputs, and the mean of this is that of the statement, which is affine in the spread (below).
    error = f1**2 + f2**2 - 2 * m * f1 + 1
    centred = (2 / m - 2 * m) * (f1 - 1 / m)
    at = "every output, d and cap: error up to a term of mean 0 for every unbiased estimator"
    found += [identity(error - centred, statement(m, (f1 - 1 / m) ** 2 + f2**2), at=at)]
    yield from serving("estimators", found)
    s = sp.Symbol("s", positive=True)
    yield identity(error.subs({f1: 1 / m, f2: 0}), statement(m, sp.Integer(0)), at="Y/m, every output")
    yield identity(statement(m, s) - statement(m, 0), s, at="every estimator: what it pays beyond Y/m")
    # As printed, by rotations, two for all: an average over them stays unbiased and its error is no larger.
    w, a, b, phi = sp.symbols("w a b phi", real=True)
    turn = sp.Matrix([[sp.cos(phi), -sp.sin(phi)], [sp.sin(phi), sp.cos(phi)]])
    back = (turn.T * turn * sp.Matrix([f1, f2])).applyfunc(sp.simplify)
    yield identity(back[0], f1, at="every rotation: turned, estimated without bias, turned back")
    jensen = w * a**2 + (1 - w) * b**2 - (w * a + (1 - w) * b) ** 2
    yield identity(jensen, w * (1 - w) * (a - b) ** 2, at="every two rotations: what their average gains")
    # Equivariant under the reflection that fixes u: f2 = -f2, so the estimate is along the output.
    yield identity(sp.solve(sp.Eq(f2, -f2), f2)[0], 0, at="every output: an equivariant estimate is a multiple of it")
    yield from _symmetric_cases(statement)


def _symmetric_cases(statement: Statement) -> Iterator[Comparison]:
    """A channel with the symmetry of the square, by a certified program; the plane at theta = 0, in balls."""
    # A finite picture: the messages and inputs are the corners of a regular 4-gon, with the symmetry of the square. The
    # least worst error over all unbiased estimators is that of the linear one.
    square = [
        (Fraction(1), Fraction(0)),
        (Fraction(0), Fraction(1)),
        (Fraction(-1), Fraction(0)),
        (Fraction(0), Fraction(-1)),
    ]
    from symshuffle.channel import Channel

    a = Fraction(2, 5)
    circulant = tuple(
        tuple((a, Fraction(1, 4), Fraction(1, 10), Fraction(1, 4))[(j - i) % 4] for j in range(4)) for i in range(4)
    )
    least = minimal_unbiased_risk(Channel(circulant), square).bracket
    m = a - Fraction(1, 10)
    yield compare(least.lower, statement(m, 0), at="the square: least error is that of Y/m")
    yield compare(least.upper, statement(m, 0), at="the square: least error is that of Y/m")
    # The plane at theta = 0: the added term has mean 0 at every input; its mean square over inputs is what it pays.
    mechanism = PrivUnit(Fraction(3, 5), Fraction(0), 2)
    shrinkage = cap_numbers(mechanism, bits=BITS).shrinkage
    for added in (Fraction(0), Fraction(1, 2), Fraction(2)):
        total = statement(shrinkage, added * added / 2)
        paid = _plane_error(mechanism, added)
        gap: Any = total - paid
        yield compare(gap * gap, Fraction(1, 10**30), "<=", at=f"the plane, K = {added}: average error over inputs")


def _plane_error(mechanism: PrivUnit, added: Fraction) -> Ball:
    """Average over 32 inputs of the squared error of Y/m + K cos(2 phi) e_1, by quadrature over each half circle.

    Harmonics of the error in the input are at most the third, so 32 equally spaced inputs average exactly.
    """
    numbers = cap_numbers(mechanism, bits=BITS)
    with working_precision(BITS):
        m, k, p, pi = to_arb(numbers.shrinkage), to_arb(added), to_arb(mechanism.p), flint.arb.pi()
        total = flint.arb(0)
        for i in range(32):
            angle = pi * i / 16

            def square(phi: flint.acb, _: bool) -> flint.acb:
                first = phi.cos() / m + k * (2 * phi).cos() - angle.cos()  # noqa: B023 -- used at once
                second = phi.sin() / m - angle.sin()  # noqa: B023
                return first * first + second * second

            near = flint.acb.integral(square, flint.acb(angle - pi / 2), flint.acb(angle + pi / 2)).real
            far = flint.acb.integral(square, flint.acb(angle + pi / 2), flint.acb(angle + 3 * pi / 2)).real
            total += (p * near + (1 - p) * far) / pi
        return Ball.from_arb(total / 32, BITS)


def _limit_slope(phi: Any, lower: Any, upper: Any, tau: Any) -> Any:
    """Slope of log C(tau), from the normal density and both tails."""
    return phi / lower - phi / upper + 2 * tau


def _check_limit(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open tau: the stated slope of log C against the derivative; symbolic. Its sign: by Mills' bound from 8 on.

    On (0, 8] by cells in balls, below 1/10 by an inequality. Three heights at d = 10^4 are within 1e-3 of the limit,
    and at height 0 the distance is 1/(2d) of it.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    tau = sp.Symbol("tau", positive=True)
    # By the chain rule, the normal density being the slope of its cdf and -tau times itself its own slope.
    cdf, density = sp.symbols("Phi phi", positive=True)
    constant = sp.log(cdf * (1 - cdf) / density**2)
    ours = sp.diff(constant, cdf) * density - sp.diff(constant, density) * tau * density
    yield identity(ours, statement(density, cdf, 1 - cdf, tau), at="every tau: slope of log C")
    cdf = (1 + sp.erf(tau / sp.sqrt(2))) / 2
    density = sp.exp(-(tau**2) / 2) / sp.sqrt(2 * sp.pi)
    yield identity(sp.diff(cdf, tau), density, at="every tau: slope of the normal cdf")
    yield identity(sp.diff(density, tau), -tau * density, at="every tau: slope of the normal density")
    # C is even, as both tails change places: below 0 the slope is minus that above.
    phi, low, high = sp.symbols("phi L U", positive=True)
    turned = statement(phi, high, low, -tau)
    yield identity(turned, -statement(phi, low, high, tau), at="every tau: the slope is odd, C is even")
    beyond = sp.Symbol("m", positive=True)
    # Mills: Q >= phi tau/(1 + tau^2). Any density and lower tail will do.
    far = statement(density, cdf, density * tau / (1 + tau**2), tau) - density / cdf
    mills = nonnegative(sp.simplify(far).subs(tau, 8 + beyond), {})
    yield decide(mills, at="every tau >= 8", claimed="the slope is positive by Mills' bound", symbolic=True)
    with working_precision(BITS):
        # On cells of (0, 8]: phi/Phi falls, phi/Q and tau rise; beyond, phi/Q < tau + 1/tau (Mills), so 2 tau wins.
        steps = [flint.arb(i) / 400 for i in range(40, 3201)]
        signs = [
            bool(statement(_density(b), 1 - upper_normal(b), upper_normal(b), a) > 0)
            for a, b in itertools.pairwise(steps)
        ]
        yield decide(all(signs), at="cells of [1/10, 8]", claimed="the slope is positive")
        # Below 1/10, h = Phi - 1/2 <= tau phi(0): the slope 2 tau - 2 phi h/(1/4 - h^2) is positive where
        # phi(0)^2 < 1/4 - h^2.
        height = sp.Symbol("h", positive=True)
        near = statement(phi, sp.Rational(1, 2) + height, sp.Rational(1, 2) - height, tau)
        written = 2 * tau - 2 * phi * height / (sp.Rational(1, 4) - height**2)
        yield identity(near, written, at="every tau: slope by the distance of the tails from 1/2")
        peak, far = _density(flint.arb(0)), _density(flint.arb(0)) / 10
        yield decide(bool(peak**2 / (flint.arb(1) / 4 - far**2) < 1), at="(0, 1/10]", claimed="the slope is positive")
        target = Ball.from_arb(flint.arb.pi() / 2, BITS)
    for height, d in ((Fraction(0), 10**4), (Fraction(1), 10**4), (Fraction(-3, 2), 10**4)):
        found: Any = privunit_constant(height / 100, d)  # theta = tau / sqrt(d)
        with working_precision(BITS):
            q = upper_normal(to_arb(height))
            limit = Ball.from_arb(q * (1 - q) / _density(to_arb(height)) ** 2, BITS)
        gap: Any = found / limit - 1
        yield compare(gap * gap, Fraction(1, 10**6), "<=", at=f"tau = {height}, d = 1e4: within 1e-3 of its limit")
    first: Any = (target - privunit_constant(Fraction(0), 10**4)) * 10**4
    yield compare(first / target, Fraction(1, 2) * (1 - Fraction(1, 10**3)), ">=", at="d = 1e4: the rate is 1/(2d)")
    yield compare(first / target, Fraction(1, 2) * (1 + Fraction(1, 10**3)), "<=", at="d = 1e4: the rate is 1/(2d)")


def _density(x: flint.arb) -> flint.arb:
    """Standard normal density."""
    return (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt()


def _expansion(e: Any, d: Any) -> tuple[Any, Any]:
    """The argument u at A = e, and the error over d chi^2 to second order in e."""
    return e - e**2, 1 + Fraction(3, 2) * e + (Fraction(11, 12) + 1 / d) * e**2


def _check_expansion(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open e, d, chi: u at A = e, (45), and the library's error to second order, against the stated series; symbolic.

    At A = alpha e the first coefficient exceeds the stated one by a square.
    """
    import sympy as sp

    e, d, chi, a = sp.symbols("e d chi a", positive=True)
    u, second = statement(e, d)
    share = (1 - a) / (a**2 * chi**2)
    yield identity(share.subs({a: e}).subs(chi, e ** sp.Rational(-3, 2)), u, at="(41): u at A = chi^(-2/3)")
    yield identity(1 / (a**2 * share), chi**2 / (1 - a), at="(45)")
    error = bmg_error(e, e ** sp.Rational(-3, 2), d) * e**3 / d
    series = sp.series(sp.simplify(error), e, 0, 3).removeO()
    yield identity(sp.expand(series), sp.nsimplify(sp.expand(second)), at="every d: error over d chi^2 to second order")
    # A = alpha e: the first coefficient alpha + 1/(2 alpha^2) is 3/2 + (alpha-1)^2 (2 alpha+1)/(2 alpha^2).
    alpha = sp.Symbol("alpha", positive=True)
    excess = (alpha - 1) ** 2 * (2 * alpha + 1) / (2 * alpha**2)
    first = sp.diff(sp.expand(second), e).subs(e, 0)
    yield identity(alpha + 1 / (2 * alpha**2), sp.nsimplify(first) + excess, at="every alpha: 3/2 is the least")


def _gap(r: Any) -> Any:
    """The proof's eta with slack 1 and the constant of dimension 1, at r = (sigma + 1)^(-1/3)."""
    e = r * r
    wide = 1 / (1 - r * e)  # (sigma + 1)/sigma
    return wide * wide * (1 + Fraction(3, 2) * e + (1 / (1 - e) + 1 - e) * e * e) - 1


def _check_assembly(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every sigma > 0 and d >= 1: eta covers what Corollary 3.6 allows at index sigma + 1, by sign; limit; symbolic.

    Four sigma and three d in balls: the best mixture at sigma + 1 is within eta.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    r, m, t = sp.symbols("r m t", positive=True)
    said, e = sp.nsimplify(statement(r)), r**2
    sigma = 1 / r**3 - 1
    # Corollary 3.6, as its own claim transcribes it, at chi = sigma + 1 and in dimension d, over d sigma^2.
    allowed = ((sigma + 1) / sigma) ** 2 * sp.nsimplify(upper_bound(e, 1 + m))
    room = nonnegative(sp.factor(sp.together(1 + said - allowed)), {r: t / (1 + t)})
    at = "every sigma > 0, d >= 1: what Corollary 3.6 allows at sigma + 1"
    yield from serving("dimensions", [decide(room, at=at, claimed="covered", symbolic=True)])
    yield identity(sp.limit(said / r**2, r, 0), sp.Rational(3, 2), at="sigma to infinity: eta over (sigma+1)^(-2/3)")
    for size in (Fraction(10), Fraction(100), Fraction(1000), Fraction(10**5)):
        with working_precision(BITS):
            root = Ball.from_arb((-(to_arb(size) + 1).log() / 3).exp(), BITS)
        eta: Any = statement(root)
        for d in (1, 10, 1000):
            found = bmg_optimal(size + 1, d).bracket.upper / (d * size**2)
            yield compare(found, 1 + eta, "<=", at=f"sigma = {size}, d = {d}: (54), best mixture at sigma + 1")
        yield compare(eta, Fraction(0), ">=", at=f"sigma = {size}: eta is positive")


def _moments(k: Any, t: Any) -> Any:
    """k-th moment of the lognormal factor with E[E] = 1 at t = 1/sigma0^2."""
    import sympy as sp

    return sp.exp(sp.Integer(k) * (k - 1) * t / 2)


def _check_regularity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Moments 1 to 4 of the mixed Gaussian's factor by integration, open t, against the stated ones; symbolic.

    20 random channels over Q: the privacy variance is positive unless the law is the null law.
    """
    import sympy as sp

    t = sp.Symbol("t", positive=True)
    y = sp.Symbol("y", real=True)
    for k in range(1, 5):
        inside = sp.exp(k * (sp.sqrt(t) * y - t / 2) - y**2 / 2) / sp.sqrt(2 * sp.pi)
        ours = sp.integrate(sp.expand_power_exp(inside), (y, -sp.oo, sp.oo))
        yield identity(
            sp.simplify(ours / statement(k, t)), 1, at=f"moment {k} of the mixed Gaussian's factor is finite"
        )
    for trial in range(20):
        found = cases.randomizer(rng, 2, 3)
        rows: Any = found.channel.rows
        for reference in (found.blanket, *rows):
            spread: Any = found.privacy_variance(0, reference)
            yield decide(
                spread > 0 or rows[0] == found.bot, at=f"random channel {trial}", claimed="variance positive, (Bound)"
            )


def _rounds(sigma: Any, rounds: Any) -> Any:
    """Squared noise of every one of the rounds that together are to be one run at noise sigma."""
    return rounds * sigma**2


def _check_rounds(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open sigma, n, T: parameter and error of T rounds at the stated noise, summed up, are those of one; symbolic.

    Three cases of the library's error over Q, where the noise of a round is rational.
    """
    import sympy as sp

    sigma, n, rounds = sp.symbols("sigma n T", positive=True)
    noise = statement(sigma, rounds)
    # A round shifts the mean by 1/n at noise s/sqrt(n): squared parameter (1/n)^2/(s^2/n), and these add; errors of the
    # rounds are independent, so their average has a T-th of one.
    together = rounds * (1 / n) ** 2 / (noise / n)
    yield identity(together, (1 / n) ** 2 / (sigma**2 / n), at="every T: the parameter of one run")
    yield identity(noise / n / rounds, sigma**2 / n, at="every T: the error of one run")
    for root in (1, 2, 7):
        squared = statement(Fraction(2), Fraction(root**2))
        every: Any = errn(CentralGaussian(Fraction(2 * root), 3), 10)
        once: Any = errn(CentralGaussian(Fraction(2), 3), 10)
        at = f"sigma = 2, d = 3, n = 10, T = {root**2}"
        yield compare(Fraction(2 * root) ** 2, squared, at=f"{at}: noise of a round")
        yield compare(every / root**2, once, at=f"{at}: error of the average")


CLAIMS: Final = (
    Claim(
        id="vecmean.A.4-step2",
        kind=Kind.STATEMENT,
        title="linear estimators suffice for cap sampling",
        text=(
            r"Averaging over rotations keeps unbiasedness and does not raise the worst error; what is left is Y/m. "
            r"More precisely: an unbiased estimator $f$ has the mean error $1/m^2-1+E|f(U)-U/m|^2$ over uniform "
            r"inputs, U uniform; so Y/m is the only one of least worst error."
        ),
        source="vecmean, Appendix A.4, Step 2",
        assumptions=("unit inputs; the message has a density that depends on its product with the input alone",),
        scope=(
            "every estimator, dimension and cap, output by output; two rotations for all; a channel with the "
            "symmetry of the square, both sides; the plane at theta = 0, perturbed, in balls"
        ),
        grade=Grade.PROVED,
        printed=_linear,
        check=_check_symmetrised,
        controls=(
            Control("a perturbation that pays nothing", lambda m, spread: _linear(m, 0)),
            Control("1 % more", lambda m, spread: _linear(m, spread * Fraction(101, 100))),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("m", "spread", "estimators"),
    ),
    Claim(
        id="vecmean.A.4-step6",
        kind=Kind.STATEMENT,
        title="high-dimensional limit of the cap constant",
        text=r"$C(\tau)=\Phi Q/\varphi^2$ has its only minimum at 0, $\pi/2$; $C(\tau/\sqrt d,d)\to C(\tau)$.",
        source="vecmean, Appendix A.4, Step 6",
        assumptions=("Mills' bound beyond tau = 8",),
        scope="the slope for all tau, odd; its sign in cells on (0, 8], by Mills beyond; three heights in d = 10^4",
        grade=Grade.CERTIFIED,
        printed=_limit_slope,
        check=_check_limit,
        controls=(
            Control(
                "2.02 tau in place of 2 tau",
                lambda phi, lo, up, tau: phi / lo - phi / up + Fraction(202, 100) * tau,
            ),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("phi", "lower", "upper", "tau"),
    ),
    Claim(
        id="vecmean.eq-39-49",
        kind=Kind.STATEMENT,
        title="steps behind the error expansion",
        text=r"$u=\chi^{-2/3}-\chi^{-4/3}$, $1/(A^2u)=\chi^2/(1-A)$, error $1+\frac32e+(\frac{11}{12}+\frac1d)e^2$.",
        source="vecmean, equations (39) to (49)",
        assumptions=("A = chi^(-2/3)",),
        scope="identities; the series to second order for every d; 3/2 as the least first coefficient",
        grade=Grade.PROVED,
        printed=_expansion,
        check=_check_expansion,
        controls=(
            Control("u without its second term", lambda e, d: (e, _expansion(e, d)[1])),
            Control("first coefficient 1", lambda e, d: (e - e**2, _expansion(e, d)[1] - e * Fraction(1, 2))),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("e", "d"),
    ),
    Claim(
        id="vecmean.eq-50-55",
        kind=Kind.STATEMENT,
        title="steps behind the Gaussian correspondence",
        text=r"$\eta=((\sigma+1)/\sigma)^2(1+\frac32(\sigma+1)^{-2/3}+C(\sigma+1)^{-4/3})-1=O(\sigma^{-2/3})$.",
        source="vecmean, equations (50) to (55)",
        assumptions=("C made explicit: 1/(1-e) + 1 - e, that of dimension 1", "Corollary 3.6 (vecmean.cor-3.6)"),
        scope="every sigma and d, from Corollary 3.6; four sigma and three dimensions against the best mixture",
        grade=Grade.PROVED,
        printed=_gap,
        check=_check_assembly,
        controls=(Control("1 % less", lambda r: _gap(r) * Fraction(99, 100)),),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("r", "dimensions"),
    ),
    Claim(
        id="vecmean.ass-B.1",
        kind=Kind.DEFINITION,
        title="moment and regularity conditions",
        text=r"All moments of $\ell_\varepsilon$ are finite, variances positive, $\ell$ bounded or with a density.",
        source="vecmean, Assumption B.1",
        assumptions=(),
        scope="moments 1 to 4 of the mixed Gaussian's factor; 20 random channels of full support, where (Bound) holds",
        grade=Grade.EXACT_CASES,
        printed=_moments,
        check=_check_regularity,
        controls=(Control("exponent k^2 t / 2", lambda k, t: _moments(k, t) * _moments(2, t)),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="vecmean.sec-6-gdp",
        kind=Kind.STATEMENT,
        title="rounds of the central mechanism",
        text=r"T rounds of $GM(\sqrt T\sigma)$, averaged, have the parameter and the error of one run of $GM(\sigma)$.",
        source="vecmean, Section 6",
        assumptions=("squared parameters add",),
        scope="every sigma, n, T",
        grade=Grade.PROVED,
        printed=_rounds,
        check=_check_rounds,
        controls=(
            Control("noise T sigma", lambda s, r: r**2 * s**2),
            Control("1 % more", lambda s, r: _rounds(s, r) * Fraction(101, 100)),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("sigma", "rounds"),
    ),
)
