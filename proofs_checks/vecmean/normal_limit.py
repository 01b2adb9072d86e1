"""Lemma 2.6: the profile between two templates, from an explicit bracket at every n."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np
import sympy as sp

from proofs_checks.vecmean._normal import normal_bracket, terms, tilt
from proofs_checks.vecmean._templates import leading_template
from symshuffle.base.numbers import Ball, Exp, to_arb, working_precision
from symshuffle.channels.law import Law
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    in_the_limit,
    serving,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.vectors.privacy.correspondence import profile_template
from symshuffle.vectors.privacy.pairs import FinitePair, worst_pair
from symshuffle.vectors.randomizers.mechanisms import SphereLinear

BITS: Final = 160


def _bell(b: Any) -> Any:
    return (-b * b / 2).exp() / (2 * flint.arb.pi()).sqrt() if isinstance(b, flint.arb) else _normal(b)


def _normal(b: Any) -> Any:
    return sp.exp(-(b**2) / 2) / sp.sqrt(2 * sp.pi)


def _tail(b: Any) -> Any:
    return (b / flint.arb(2).sqrt()).erfc() / 2 if isinstance(b, flint.arb) else sp.erfc(b / sp.sqrt(2)) / 2


def _root(x: Any) -> Any:
    return x.sqrt() if isinstance(x, flint.arb) else sp.sqrt(x)


def _power(x: Any) -> Any:
    return x.exp() if isinstance(x, flint.arb) else sp.exp(x)


def _terms(lam: Any, n: Any, log_mass: Any, mean: Any, variance: Any, third: Any) -> tuple[Any, Any]:
    """The value for a normal sum under the tilt lam, and how far H(n) is from it at most."""
    spread, front = _root(variance * n), _power(n * log_mass) / n
    b = lam * spread - n * mean / spread
    shift = _power(lam**2 * variance * n / 2 - lam * n * mean)
    return front * shift * spread * (_bell(b) - b * _tail(b)), front * third / variance


def _check_bracket(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every tilt, n and moment: a 1-Lipschitz function, its normal mean and the error; symbolic.

    The quoted metric is at most third / (variance^(3/2) n^(1/2)) for the standardised sum. Two laws at n = 5, 40, both
    orders, three tilts: exact values within the stated error, in balls; the library's terms are the stated ones.
    """
    lam, n, mass, variance, third = sp.symbols("lambda n log_mass variance third", positive=True)
    mean, s = sp.symbols("mean s", real=True)
    z, u = sp.symbols("z u", positive=True)
    main, error = statement(lam, n, mass, mean, variance, third)
    slope = sp.diff(s * sp.exp(-lam * s), s)
    yield identity(slope, (1 - lam * s) * sp.exp(-lam * s), at="slope of the function")
    for sign in (1, -1):  # with exp(z) = 1 + z + u at z = lam s > 0
        yield decide(
            nonnegative((1 + z + u) - sign * (1 - z), {}), at=f"{sign:+} slope", claimed="at most 1", symbolic=True
        )
    spread = sp.sqrt(variance * n)
    centre = n * mean - lam * spread**2
    square = -lam * s - (s - n * mean) ** 2 / (2 * spread**2)
    shift = lam**2 * spread**2 / 2 - lam * n * mean
    yield identity(sp.expand(square + (s - centre) ** 2 / (2 * spread**2) - shift), 0, at="the square, completed")
    place = (s - centre) / spread
    primitive = -spread * _normal(place) - centre * _tail(place)
    yield identity(sp.diff(primitive, s), s * _normal(place) / spread, at="an antiderivative")
    front = sp.exp(n * mass) / n
    value = front * sp.exp(shift) * -primitive.subs(s, 0)
    off = sp.simplify((main - value) / (front * sp.exp(shift)))
    tails = {
        atom: sp.Dummy("tail", positive=True) for atom in off.atoms(sp.erfc)
    }  # of no use in a rational normal form
    yield identity(off.xreplace(tails), 0, at="its mean under the normal law")
    metric = third / (variance ** sp.Rational(3, 2) * sp.sqrt(n))
    yield identity(error / front, spread * metric, at="the error: the metric, rescaled")
    for share in (Fraction(1, 2), Fraction(1, 10)):
        pair = worst_pair(SphereLinear(share, 1), adjacency="zero-out")
        assert isinstance(pair, FinitePair)
        for one, name in ((pair, "forward"), (pair.reverse, "reverse")):
            yield from _within(statement, one, f"c = {share}, {name}")


def _within(statement: Statement, pair: FinitePair, name: str) -> Iterator[Comparison]:
    order, rows = Fraction(21, 20), list(zip(pair.first, pair.second, pair.reference, strict=True))
    rest = 1 - sum(pair.reference, start=Fraction(0))
    law = Law.from_atoms([(Fraction(0), rest), *(((p - order * q) / r, r) for p, q, r in rows)])
    for n in (5, 40):
        exact = Exact().bracket(law, n).exact
        assert exact is not None
        for lam in (Fraction(0), Fraction(1, 20), Fraction(1, 4)):
            with working_precision(BITS):
                found = tilt(law, lam)
                given = to_arb(lam), flint.arb(n), found.log_mass, found.mean, found.variance, found.third
                main, error = statement(*given)
                at = f"{name}, n = {n}, tilt {lam}"
                distance = Ball.from_arb(abs(to_arb(exact) - main), BITS)
                yield compare(distance, Ball.from_arb(error, BITS), "<=", at=at)
                library = terms(*given)
                near = Ball.from_arb(abs(library[0] - main) + abs(library[1] - error), BITS)
                yield compare(near, Fraction(1, 10**30), "<=", at=f"{at}: the library's terms")


def _leading(chi: Any, eps: Any, n: Any) -> Any:
    power = n ** sp.Rational(3, 2)
    return sp.exp(-(chi**2) * eps**2 * n / 2) / (sp.sqrt(2 * sp.pi) * chi**3 * eps**2 * power)


def _check_limit(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open chi, eps, n and moments: the leading term of the bracket is the template, all others vanish; symbolic.

    With t = chi eps sqrt(n) and s = 1/sqrt(n): cumulants under the tilt chi^2 eps as series in s, remainders as powers
    of t^3 s, which vanishes where t = O(sqrt(log n)). Mills' ratio from two sides, pairs of larger index, truncation,
    error. Randomized response at n up to 10^48, in balls: between 95 and 100 % of the template.
    """
    chi, eps, n, t, s, size = sp.symbols("chi epsilon n t s C", positive=True)
    written = statement(chi, eps, n)
    yield identity(leading_template(chi, eps, n) / written, 1, at="the library's template")
    slope = sp.diff(sp.expand_log(sp.log(written), force=True), chi)
    yield identity(slope, -3 / chi - chi * eps**2 * n, at="its slope in the index")
    yield decide(nonnegative(3 / chi + chi * eps**2 * n, {}), at="every chi", claimed="f falls", symbolic=True)
    scaled = written.subs({eps: t * s / chi, n: s**-2}, simultaneous=True)
    found = list(_leading_term(scaled, chi, t, s))
    # The error beside the leading term, and t^3 s, along t = C sqrt(log n), where L = log n.
    third, length, eta = sp.symbols("beta L eta", positive=True)
    error = s**2 * sp.exp(-(t**2) / 2) * third * chi**2 / scaled
    found.append(identity(error, sp.sqrt(2 * sp.pi) * t**2 * s * third * chi**3, at="the error beside the template"))
    for name, one in (("error", t**2 * s), ("remainders", t**3 * s)):
        along = one.subs({t: size * sp.sqrt(length), s: sp.exp(-length / 2)})
        found.append(identity(sp.limit(along, length, sp.oo), 0, at=f"{name} along t = C sqrt(log n)"))
    # Pairs of variance 1 / ((1 + eta) chi^2): M(lam)^n / (e n lam) at lam = chi^2 eps.
    bound = s**2 * sp.exp(-(t**2) + t**2 / (2 * (1 + eta))) / (sp.E * chi * t * s)
    share = sp.sqrt(2 * sp.pi) * t * sp.exp(-(t**2) * eta / (2 * (1 + eta))) / sp.E
    found.append(identity(bound / scaled, share, at="pairs of larger index beside the template"))
    z = eta * t**2 / (2 * (1 + eta))
    found.append(identity(sp.limit(t / (1 + z), t, sp.oo), 0, at="exp(-z) is at most 1/(1 + z)"))
    # Truncation at n^(1/8): with k - 1 = 8 (C^2/2 + 1) moments it costs n^-(C^2/2 + 1).
    at_log = written.subs(
        {eps: size * sp.sqrt(length) * sp.exp(-length / 2) / chi, n: sp.exp(length)}, simultaneous=True
    )
    lost = sp.sqrt(2 * sp.pi) * size**2 * chi * length * sp.exp(-length / 2)
    found.append(identity(sp.exp(-length * (size**2 / 2 + 1)) / at_log, lost, at="the truncation beside the template"))
    found.append(identity(sp.limit(lost, length, sp.oo), 0, at="the truncation, n to infinity"))
    yield from serving("eps sqrt(n) to infinity", found)
    yield from _mills()
    yield from _response()


def _leading_term(scaled: Any, chi: Any, t: Any, s: Any) -> Iterator[Comparison]:
    """Cumulants of G = D - e L_1 with e = exp(eps) - 1 and open moments, to the third order in s."""
    cross, square, cube, mixed = sp.symbols("E[D*L1] E[L1^2] E[D^3] rest", real=True)
    level = t * s / chi
    excess, lam = level + level**2 / 2 + level**3 / 6, chi**2 * level
    mean, second = -excess, chi**-2 - 2 * excess * cross + excess**2 * square
    third = cube + excess * mixed
    grown = _to_third(lam * mean + lam**2 * second / 2 + lam**3 * third / 6, s)  # begins at s^2, as its logarithm does
    tilted_mean = _to_third((mean + lam * second + lam**2 * third / 2) * (1 - grown), s)
    spread = _to_third((second + lam * third) * (1 - grown) - tilted_mean**2, s)
    drift = _to_third(lam * tilted_mean, s)
    yield identity(drift.coeff(s, 2), 0, at="the tilt centres the sum")
    leading = sp.exp(grown.coeff(s, 2)) * sp.sqrt(spread.coeff(s, 0)) * s / (sp.sqrt(2 * sp.pi) * t**2)
    yield identity(scaled / leading, 1, at="the leading term is the template")
    for name, series in (("n log M", grown), ("n lam m", drift)):
        below = all(series.coeff(s, k) == 0 for k in (0, 1))
        powers = below and all(sp.degree(series.coeff(s, k), t) <= k for k in (2, 3))
        yield decide(bool(powers), at=name, claimed="t^2, then t^3 s", symbolic=True)


def _to_third(series: Any, s: Any) -> Any:
    """A polynomial in s without its powers above the third."""
    expanded = sp.expand(series)
    return sum(expanded.coeff(s, k) * s**k for k in range(4))


def _mills() -> Iterator[Comparison]:
    """1 - 3/t^2 and 1 on either side of t^2 sqrt(2 pi) exp(t^2/2) (phi - t Phibar), by slopes: all end at 0."""
    a = sp.Symbol("a", positive=True)
    upper, lower = 1 / a - a**-3 + 3 * a**-5, 1 / a - a**-3
    for name, ratio, sign in (("above the tail", upper, 1), ("below the tail", lower, -1)):
        slope = sp.expand(-(sp.diff(ratio, a) - a * ratio)) - 1  # -(phi ratio)' / phi, less that of the tail
        yield decide(nonnegative(sign * slope, {}), at=name, claimed="its slope is on one side", symbolic=True)
    yield identity(sp.expand(a**2 * (1 - a * upper)), 1 - 3 / a**2, at="1 - 3/t^2")
    yield identity(sp.expand(a**2 * (1 - a * lower)), 1, at="1")


def _response() -> Iterator[Comparison]:
    """Randomized response, chi^2 = (1 - c)/c^2 at c = 1/2: eps = sqrt(log n / n)/chi to nine digits."""
    pair = worst_pair(SphereLinear(Fraction(1, 2), 1), adjacency="zero-out")
    for exponent in (24, 48):
        n = 10**exponent
        with working_precision(BITS):
            index = flint.arb(2).sqrt()
            level = Fraction(f"{float((flint.arb(n).log() / n).sqrt() / index):.8e}")
            template = profile_template(Ball.from_arb(index, BITS), level, n, order="leading")
        for one in (pair, pair.reverse):
            bracket = normal_bracket(one, n, Exp(level), bits=4 * BITS)
            yield compare(bracket.lower / template.upper, Fraction(95, 100), ">=", at=f"RR, n = 10^{exponent}")
            yield compare(bracket.upper / template.lower, 1, "<=", at=f"RR, n = 10^{exponent}")


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-normal-bracket",
        kind="statement",
        title="explicit constants beside the normal limit, for every n",
        text=(
            r"For every $\lambda\ge0$ and n, with mean m, variance $\sigma^2$ and third absolute central moment "
            r"$\beta$ under the tilt $e^{\lambda G}/M$: "
            r"$|H(n)-\frac{M^n}nE\psi(N)|\le\frac{M^n}n\frac\beta{\sigma^2}$, "
            r"$\psi(s)=s_+e^{-\lambda s}$ and N normal with the mean and variance of the tilted sum."
        ),
        source="own; vecmean, Lemma 2.6 has no rate",
        assumptions=(
            "Goldstein (2010), Theorem 1.1: a standardised sum is within beta/(sigma^3 sqrt n) of the normal law in "
            "Wasserstein's metric",
            r"$M(\lambda)$ is finite, or the tail of G is cut with its own certificate",
        ),
        scope="every tilt, n and moment; two laws in both orders at n = 5 and 40, three tilts, in balls",
        grade="proved",
        printed=_terms,
        check=_check_bracket,
        controls=(
            Control("1 % off", lambda *given: (_terms(*given)[0] * sp.Rational(101, 100), _terms(*given)[1])),
            Control("half the error", lambda *given: (_terms(*given)[0], _terms(*given)[1] / 2)),
            Control("a tilted mean of 0", lambda lam, n, k, m, *rest: _terms(lam, n, k, 0 * m, *rest)),
        ),
        expected="holds",
        obligations=for_all("lam", "n", "log_mass", "mean", "variance", "third"),
    ),
    Claim(
        id="vecmean.lem-2.6",
        kind="statement",
        title="asymptotic profile between two templates",
        text=(
            Clause(
                "templates",
                r"$f(\chi_{up})(1+o(1))\le\delta(\varepsilon_n)\le f(\chi_{lo})(1+o(1))$ for $\varepsilon_n\sqrt "
                r"n\to\infty$, $\varepsilon_n=O(\sqrt{\log n/n})$.",
            ),
            Clause("order", r"f falls in $\chi$."),
        ),
        source="vecmean, Lemma 2.6, which imports it",
        assumptions=(
            "all moments of Assumption B.1 (1) bounded over all pairs of inputs too; its condition (3) is not needed",
            "the bound of Appendix C, and symshuffle.vecmean-normal-bracket with the theorem that it quotes",
            "Taylor's remainders by moments, after truncation at n^(1/8) (proofs_checks.vecmean._normal)",
        ),
        scope="leading term, remainders, error, truncation, pairs of larger index; RR at n = 10^24 and 10^48 in balls",
        grade="proved",
        printed=_leading,
        check=_check_limit,
        controls=(
            Control(
                "index 2 % smaller in the exponent", lambda c, e, n: _leading(c, e, n) * sp.exp(c**2 * e**2 * n / 50)
            ),
            Control("power 2 of the index instead of 3", lambda c, e, n: c * _leading(c, e, n)),
            Control("1 % off", lambda c, e, n: _leading(c, e, n) * sp.Rational(101, 100)),
        ),
        expected="holds",
        obligations=(
            *for_all("chi", clause=("templates", "order")),
            *for_all("eps", clause="templates"),
            *in_the_limit("n", "eps sqrt(n) to infinity", clause="templates"),
        ),
    ),
)
