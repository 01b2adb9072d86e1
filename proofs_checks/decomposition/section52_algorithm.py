"""Section 5.2: Algorithm 7 in exact arithmetic, and what a lattice step costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import (
    PAIR,
    labelled_channels,
    named_channels,
    never_negative,
    one_over,
    plus,
    polynomials,
    same_polynomial,
)
from symshuffle.base.numbers import Exp, enclose
from symshuffle.channels.law import Law
from symshuffle.decompositions.model import primary_decomposition
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
)
from symshuffle.ledger.claims.parts import Erratum

Atoms: TypeAlias = Sequence[tuple[Fraction, Any]]


def _law(channel: Any, exp_eps: Fraction) -> Law:
    return primary_decomposition(channel, PAIR).reduction_pair().gparv(exp_eps)


def _rounded(atoms: Atoms, step: Fraction, *, up: bool = True) -> dict[int, Any]:
    """The law with every atom moved to a multiple of the step, as multiples."""
    masses: dict[int, Any] = {}
    for value, mass in atoms:
        place = math.ceil(value / step) if up else math.floor(value / step)
        masses[place] = masses.get(place, Fraction(0)) + mass
    return masses


def _convolution(masses: Mapping[int, Any], n: int) -> dict[int, Any]:
    """Law of the sum of n copies, without any wrapping; masses are rationals, or polynomials over them."""
    rational = all(isinstance(mass, Fraction) for mass in masses.values())
    scale = math.lcm(*(mass.denominator for mass in masses.values())) if rational else 1
    weights = {place: int(mass * scale) if rational else mass for place, mass in masses.items()}
    power: dict[int, Any] = {0: 1}
    for _ in range(n):
        grown: dict[int, Any] = {}
        for place, weight in power.items():
            for j, w in weights.items():
                grown[place + j] = grown.get(place + j, 0) + weight * w
        power = grown
    return {place: Fraction(weight, scale**n) for place, weight in power.items()} if rational else power


def _sums(atoms: Atoms, n: int) -> dict[Fraction, Any]:
    """Law of the sum of n copies of G itself."""
    unit = Fraction(1, math.lcm(*(value.denominator for value, _ in atoms)))
    return {unit * place: mass for place, mass in _convolution(_rounded(atoms, unit), n).items()}


def _excess(masses: Mapping[Any, Any], step: Any = 1) -> Any:
    """The mean of the positive part."""
    return sum((mass * (place * step) for place, mass in masses.items() if place > 0), Fraction(0))


# -- decomposition.alg-7


def _monotone_rounding() -> Iterator[Comparison]:
    """Raising a sum by r >= 0 raises its positive part by 0 to r: three cases of signs, any amounts."""
    s, r = sp.symbols("s r", nonnegative=True)
    # A sum of either sign, raised by r; where the sign changes, the raise is written as the sum plus r.
    for before, raised in ((s, s + r), (-s, r), (-s - r, -s)):
        gain = plus(raised) - plus(before)
        yield never_negative(gain, at=f"a sum {before} raised to {raised}")
        yield never_negative(raised - before - gain, at=f"the positive part grows by no more than the sum: {before}")


def _upper_bound(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """An open atom, law and n: rounding, length of the transforms and share as stated give an upper bound; symbolic.

    See ``_any_sum``; raising a sum raises its positive part, all signs. Then three atoms with open masses, n <= 3: on a
    lattice the value of the n-fold sum, off it no less. Four channels, three steps, n <= 5: exact divergence at most
    the value, at least that of rounding down; in rationals.
    """
    yield from _any_sum(statement)
    yield from _monotone_rounding()
    yield from _open_masses(statement)
    labelled = named_channels(("rr", {"lam": 2}), ("krr", {"lam": 3, "k": 4}))
    labelled += labelled_channels(rng, 2, ((3, 3),))
    for label, channel in labelled:
        cap: Any = channel.ratio_cap()
        exp_eps = (1 + cap) / 2
        law = _law(channel, exp_eps)
        pairs: list[tuple[Any, Any]] = list(law.atoms())
        for n in (1, 2, 3, 5):
            truth = Exact().bracket(law, n).exact
            for step in (Fraction(1, 2), Fraction(2, 7), (cap - 1) / 40):
                at = f"{label}, exp(eps)={exp_eps}, n={n}, l={step}"
                yield compare(truth, returned(statement, pairs, n, step), "<=", at=at)
                below = returned(partial(statement, up=False), pairs, n, step)
                yield compare(truth, below, ">=", at=f"rounding down, {at}")


def _any_sum(statement: Statement) -> Iterator[Comparison]:
    """Any atom, in steps: an integer and a part below 1. Any extreme multiples and n.

    The rounded atom is no less, and by less than a step more; rounded down it is no more. Sums of n rounded atoms lie
    between n times the extremes: no two of them are a multiple of the stated length apart, so that the circular
    convolution that the power of a transform is (the convolution theorem) is the n-fold one.
    """
    whole, low = sp.symbols("q low", integer=True)
    odds, width = sp.Symbol("g", positive=True), sp.Symbol("w", integer=True, nonnegative=True)
    n = sp.Symbol("n", integer=True, positive=True)
    part = 1 / (1 + odds)
    place, length, share = statement(whole, part, low, low + width, n)
    raised = sp.cancel(place - whole - part)
    yield never_negative(raised, at="a rounded atom is no less, any atom and step")
    yield never_negative(sp.cancel(1 - raised), at="a rounded atom is raised by at most a step, any atom and step")
    on_lattice, *_ = statement(whole, sp.Integer(0), low, low + width, n)
    yield identity(on_lattice, whole, at="an atom on the lattice stays, any step")
    down, *_ = statement(whole, part, low, low + width, n, up=False)
    yield never_negative(sp.cancel(whole + part - down), at="rounded down it is no more, any atom and step")
    farthest = n * (low + width) - n * low
    yield never_negative(
        sp.expand(length - 1 - farthest), at="any two sums are less than a length apart, any law and n"
    )
    yield identity(n * share, 1, at="the share of the sum, any n")


def _open_masses(statement: Statement) -> Iterator[Comparison]:
    """Values on a lattice and off it, masses open: a sequence of n atoms is a monomial, and counted by itself."""
    p, q, r = masses = polynomials("p q r")
    values = (Fraction(-5), Fraction(1), Fraction(4))
    for n in (1, 2, 3):
        atoms = list(zip(values, masses, strict=True))
        truth = _excess(_sums(atoms, n)) / n
        value = returned(statement, atoms, n, Fraction(1))
        yield same_polynomial(value, truth, at=f"on the lattice, n={n}, any masses")
    thirds = list(zip((Fraction(-5, 3), Fraction(1, 3), Fraction(4, 3)), (p, q, r), strict=True))
    for n in (1, 2, 3):
        surplus = returned(statement, thirds, n, Fraction(1)) - _excess(_sums(thirds, n)) / n
        yield never_negative(sp.sympify(surplus.as_expr()), at=f"off the lattice, n={n}, any masses")


def returned(statement: Statement, atoms: Atoms, n: int, step: Fraction) -> Any:
    """What Algorithm 7 returns with exact transforms: rounding, length and share as the statement has them.

    The power of a transform is a circular convolution of its length; places are read from the smallest possible sum.
    """
    masses: dict[int, Any] = {}
    for value, mass in atoms:
        whole = math.floor(value / step)
        place, *_ = statement(whole, value / step - whole, 0, 0, n)
        masses[place] = masses.get(place, Fraction(0)) + mass
    low, high = min(masses), max(masses)
    _, length, share = statement(0, Fraction(0), low, high, n)
    first = low * ((length - 1) // (high - low) if high > low else n)
    circular: dict[int, Any] = {}
    for place, mass in _convolution(masses, n).items():
        shown = first + (place - first) % length
        circular[shown] = circular.get(shown, Fraction(0)) + mass
    return _excess(circular, step) * share


def algorithm_7(whole: Any, part: Any, low: Any, high: Any, n: Any, *, padded: bool = True, up: bool = True) -> Any:
    """Algorithm 7 in steps l: where an atom goes, the length of the transforms, and the share of the sum.

    The atom is ``whole + part`` steps, ``0 <= part < 1``; ``low`` and ``high`` are the extreme multiples. Padded, the
    transform has the length of the n-fold sum, otherwise that of the rounded law alone.
    """
    place = whole + 1 if up and part != 0 else whole
    return place, (n if padded else 1) * (high - low) + 1, one_over(n)


def _one_share_more(*args: Any, **options: Any) -> Any:
    place, length, _ = algorithm_7(*args, **options)
    return place, length, one_over(args[-1] + 1)


ALG_7 = Claim(
    id="decomposition.alg-7",
    kind="statement",
    title="transform algorithm for the bound",
    text=(
        Clause(
            "bound",
            r"Round every atom of $G$ up to a multiple of $l$, take $FFT^{-1}(FFT(\bar G)^{\odot n})$ and "
            r"return $\frac1n$ of the integral of its positive part: an upper bound on "
            r"$D_{e^\varepsilon}(P_0^B\Vert P_1^B)$, and a lower bound if rounded down.",
        ),
        Clause(
            "length",
            "The power of a transform is a circular convolution; it is the $n$-fold convolution that the "
            r"paper asks for once the length is at least $n(\max\bar G-\min\bar G)/l+1$, as the cost "
            r"$O(\frac nl\log\frac nl)$ of Section 5.2 supposes.",
        ),
        Clause(
            "wraps",
            r"At the length of $\bar G$ itself the sum wraps around, and the result falls below the truth "
            "even in exact arithmetic (claim symshuffle.wrapped-sum).",
            "quoted",
        ),
    ),
    source="decomposition, Algorithm 7 and the paragraphs on correctness and cost, Section 5.2",
    assumptions=(
        "exact arithmetic: rounding errors of the transform come on top",
        "transforms as long as the n-fold sum",
        "the convolution theorem of the discrete Fourier transform",
        "the bound is the mean of the positive part of a sum (Theorem 12, claim thm-12)",
    ),
    scope="rounding, length and share for any atom, step, law and n; positive parts of all sums; two lattices with "
    "open masses, n <= 3; four channels, n <= 5, up and down",
    grade="proved",
    printed=algorithm_7,
    check=_upper_bound,
    controls=(
        Control("transforms of the length of the rounded law", partial(algorithm_7, padded=False)),
        Control("atoms rounded down", partial(algorithm_7, up=False)),
        Control("divided by n + 1", _one_share_more),
    ),
    expected="holds",
    obligations=for_all("whole", "part", "low", "high", "n", clause=("bound", "length")),
)


# -- decomposition.sec-5.2-errors


def _step_errors(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Mechanisms at small budgets and one between, five steps, n <= 30, and one at n = 60: (a) to (e), exactly.

    The tail of (c) is compared with the stated exponent in balls, (d) by a factor below 1 whose powers bound the error,
    (e) at l = 1/n, where the error is at most 1. Then for open a, b and l: the best Chernoff exponent is the stated
    one, and where the printed threshold and exponent follow from it; symbolic.
    """
    yield from _monotone_rounding()
    small = ("11/10", Fraction(21, 20))
    # Here 2a < b^2 < 4a: (d) holds, and Hoeffding's inequality does not give (c) ...
    between = ("3/2", Fraction(7, 5))
    for name, others, (lam, exp_eps) in (("rr", {}, small), ("krr", {"k": 10}, small), ("rr", {}, between)):
        ((label, channel),) = named_channels((name, {"lam": lam, **others}))
        law: list[tuple[Any, Any]] = list(_law(channel, exp_eps).atoms())
        mean, width = exp_eps - 1, (Fraction(lam) - 1) * (exp_eps + 1)
        for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1), Fraction(2)):
            yield from _instances(statement, law, label, mean, width, share * mean)
    # ... which is false in this range as well, close to its lower end.
    ratio, target = Fraction(67, 50), Fraction(653, 500)
    ((label, channel),) = named_channels(("rr", {"lam": ratio}))
    atoms: list[tuple[Any, Any]] = list(_law(channel, target).atoms())
    width = (ratio - 1) * (target + 1)
    yield compare(2 * (target - 1), width**2, "<", at="2a < b^2 there")
    yield compare(width**2, 4 * (target - 1), "<", at="b^2 < 4a there")
    yield from _instances(statement, atoms, label, target - 1, width, Fraction(17, 100), users=(60,))
    lam_, x = sp.symbols("lambda x", positive=True)
    yield identity((lam_ - x) - (1 - lam_ * x), (lam_ - 1) * (x + 1), at="b is the range of G")
    a, b, s = sp.symbols("a b s", positive=True)
    step = sp.Symbol("l", positive=True)
    chernoff = s * (a - step) - s**2 * b**2 / 8  # by Hoeffding's lemma, at any s > 0
    best = sp.solve(sp.diff(chernoff, s), s)[0]
    exponent = chernoff.subs(s, best)
    yield identity(exponent, statement(a, b, step, always=True), at="exponent of Hoeffding's inequality")
    threshold = _printed_exponent(a, b, 0)
    yield identity(threshold - a, a / b**2 * (2 * a - b**2), at="(d): the printed threshold reaches a iff b^2 <= 2a")
    slack = step / b**2 * (b**2 - 4 * a + 2 * step)
    yield identity(exponent - _printed_exponent(a, b, step), slack, at="(c): from Hoeffding iff b^2 + 2l >= 4a")


def _instances(
    statement: Statement,
    law: Atoms,
    label: str,
    mean: Fraction,
    width: Fraction,
    step: Fraction,
    users: Sequence[int] = (1, 4, 30),
) -> Iterator[Comparison]:
    """One law and step: (a), (b), (c) and (e) for several n, by exact convolution; (d) by a Chernoff factor.

    ``mean`` is exp(eps) - 1, ``width`` the range b.
    """
    rounded = _rounded(law, step)
    for n in users:
        at = f"{label}, exp(eps)-1={mean}, l={step}, n={n}"
        sums = _sums(law, n)
        truth, above = _excess(sums), _excess(_convolution(rounded, n), step)
        tail = sum((mass for value, mass in sums.items() if value > -n * step), Fraction(0))
        yield compare(truth, above, "<=", at=f"(a) right side, {at}")
        yield compare(above - n * step, truth, "<=", at=f"(a) left side, {at}")
        yield compare(above - n * step * tail, truth, "<=", at=f"(b), {at}")
        exponent = statement(mean, width, step)
        fine = Fraction(1, n)
        near = _excess(_convolution(_rounded(law, fine), n), fine)
        yield compare(near - truth, Fraction(1), "<=", at=f"(e) at l = 1/n, {label}, exp(eps)-1={mean}, n={n}")
        if exponent is not None:
            yield compare(tail, enclose(Exp(-exponent * n)), "<=", at=f"(c), {at}")
    claimed = statement(mean, width, step)
    if claimed is not None and claimed >= 0:
        yield from _decay(rounded, step, users, at=f"(d), {label}, exp(eps)-1={mean}, l={step}")


def _decay(rounded: Mapping[int, Any], step: Fraction, users: Sequence[int], *, at: str) -> Iterator[Comparison]:
    r"""Whether the error of a rounded law decays exponentially: by a base z > 1 with a mean of z^place below 1.

    The error is at most the positive part of the sum, and x_+ <= z^x/(z - 1) for integers x by Bernoulli's inequality:
    at most (l/(z - 1)) (E z^place)^n for every n. If the mean of the rounded law is not negative there is no such z, by
    Jensen's inequality, and the positive part does not fall in n.
    """
    drift = sum((place * mass for place, mass in rounded.items()), Fraction(0))
    claimed = "the rounded G has a negative mean, as exponential decay of the error needs"
    yield decide(drift < 0, at=at, computed=f"mean {step * drift}", claimed=claimed)
    if drift >= 0:
        return
    z, factor = Fraction(2), Fraction(1)
    while factor >= 1:  # the mean of z^place has a negative slope at z = 1
        z = (1 + z) / 2
        factor = sum((mass * z**place for place, mass in rounded.items()), Fraction(0))
    for n in users:
        above = _excess(_convolution(rounded, n), step)
        yield compare(above, step / (z - 1) * factor**n, "<=", at=f"{at}: error, n={n}")


def _printed_exponent(a: Any, b: Any, step: Any, *, always: bool = False) -> Any:
    """The exponent per user in (c), as printed."""
    return 2 * a**2 / b**2 - step


def _hoeffding(a: Any, b: Any, step: Any, *, always: bool = False) -> Any:
    """The exponent per user that Hoeffding's inequality gives below l = a."""
    if not always and step >= a:
        return None  # nothing is claimed
    return 2 * (a - step) ** 2 / b**2


SEC_5_2_ERRORS = Claim(
    id="decomposition.sec-5.2-errors",
    kind="statement",
    title="how much a lattice step can cost",
    text=(
        Clause("a", r"$E[\bar G^{*n}]_+-nl\le E[G^{*n}]_+\le E[\bar G^{*n}]_+$."),
        Clause(
            "b",
            r"The same with $nl\Pr[G^{*n}>-nl]$ for $nl$ (printed with $[G^{*n}]_+$, which always exceeds "
            "$-nl$).",
        ),
        Clause(
            "c",
            r"That probability is at most $\exp(-(\frac{2a^2}{b^2}-l)n)$ with $a=e^\varepsilon-1$, "
            r"$b=(e^{\varepsilon_0}-1)(e^\varepsilon+1)$.",
        ),
        Clause("d", r"The error decays exponentially in $n$ as long as $l\le\frac{2a^2}{b^2}$."),
        Clause("e", "By (a), $l=O(1/n)$ makes the error of $E[G^{*n}]_+$ $O(1)$."),
        Clause("hold", "(a), (b), (e) hold."),
        Clause(
            "small budgets",
            r"Where $b^2<2a$, that is at small budgets, (c) and (d) fail: for $a<l<\frac{2a^2}{b^2}$ the "
            "level $-nl$ lies below the mean $-na$, and rounding can raise the mean to 0.",
        ),
        Clause(
            "larger budgets",
            "For $b^2>2a$ every such $l$ is below $a$ and (d) holds; (c) follows from Hoeffding's "
            r"inequality if $b^2\ge4a$, and for $2a<b^2<4a$ it can fail too: binary response, "
            r"$e^{\varepsilon_0}=67/50$, $e^\varepsilon=653/500$, $l=17/100$, $n=60$ has $0.00306$ against "
            "$0.00031$.",
        ),
    ),
    source="decomposition, Section 5.2, time complexity and error analysis",
    assumptions=("eps <= eps0", "Hoeffding's lemma E exp(s(G - E G)) <= exp(s^2 b^2/8)"),
    scope="(a), (b) for all sums; exponent and thresholds for all a, b, l; three settings, n <= 30; one at n = 60",
    grade="refuted",
    printed=_printed_exponent,
    check=_step_errors,
    controls=(
        Control(
            "the range b taken as (lam - 1)(x - 1)", lambda a, b, step, **kw: _hoeffding(a, b * a / (a + 2), step, **kw)
        ),
        Control("exponent one percent larger", lambda a, b, step, **kw: _larger(_hoeffding(a, b, step, **kw))),
    ),
    expected="refuted",
    erratum=Erratum(
        "result",
        "granted",
        "The stated probability is exceeded at small budgets and the decay fails there; a smaller exponent and "
        "another threshold are right. (a), (b) and (e) stand.",
        quote="the error decays exponentially in n as long as l <= 2a^2/b^2",
    ),
    obligations=for_all("a", "b", "step", clause=("a", "b", "c", "d", "e", "hold", "small budgets", "larger budgets")),
    corrected=Correction(
        r"(c) For $l<a$ the probability is at most $\exp(-\frac{2(a-l)^2}{b^2}n)$; (d) so the error decays "
        r"exponentially as long as $l<a$, where $\bar G$ still has a negative mean.",
        _hoeffding,
        "proved",
    ),
)


def _larger(exponent: Any) -> Any:
    return None if exponent is None else exponent * Fraction(101, 100)


CLAIMS: tuple[Claim, ...] = (ALG_7, SEC_5_2_ERRORS)
