"""Section 3.3: the published pair of the stronger clone, what it fails to bound, and how it grows with p."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import (
    PAIR,
    STUDY,
    binomial_mass,
    channels,
    never_negative,
    same_law,
    shown,
    targets,
)
from proofs_checks.decomposition._clones import unsound_stronger_clone_pair
from proofs_checks.decomposition._generic import dominance_steps
from proofs_checks.decomposition.section33_stronger_clone import POSITIONS, subset_selection
from symshuffle.channels.shuffled import Tally, law_divergence, shuffled_divergence, worst_shuffled_divergence
from symshuffle.decompositions.clones import stronger_clone
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    by_cases,
    for_all,
    identity,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.symbolic import LAM

# -- decomposition.eq-1


OWN: Final = ((1, 0), (0, 1), (0, 0))
"""Delta_1 and Delta_2: which clone user 1 is counted as, if any."""


def _term(lam: Any, p: Any, n: Any, c: Any, a: Any, one: int, two: int) -> tuple[Any, tuple[Any, Any], tuple[Any, Any]]:
    """Mass of C = c, A = a, Delta_1 = one and Delta_2 = two as displayed, and the counts of both laws there."""
    clones = binomial_mass(n - 1, c, 2 * p) * binomial_mass(c, a, Fraction(1, 2))
    own = binomial_mass(1, one, lam * p) * binomial_mass(1 - one, two, p / (1 - lam * p))
    return own * clones, (a + one, c - a + two), (a + two, c - a + one)


def three_cell_laws(term: Statement, lam: Any, p: Any, n: int) -> list[dict[Tally, Any]]:
    """Both laws of the counts (n0, n1), summed over the stated terms."""
    laws: list[dict[Tally, Any]] = [{}, {}]
    for c in range(n):
        for a, (one, two) in itertools.product(range(c + 1), OWN):
            mass, *keys = term(lam, p, n, c, a, one, two)
            for law, key in zip(laws, keys, strict=True):
                law[key] = law.get(key, Fraction(0)) + mass
    return laws


def _intended_bound(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The library's pair against the law of the displayed counts at three (lam, p), n <= 3.

    Then the divergence under a given or the worst background is to be at most that of the stated pair: two instances by
    hand, five channels at three p each, n <= 2; in rationals. The instances refute the printed bound.
    """
    for lam, p in ((Fraction(2), Fraction(1, 10)), (Fraction(3), Fraction(1, 4)), (Fraction(4), Fraction(1, 6))):
        for n in (1, 2, 3):
            computed = unsound_stronger_clone_pair(lam, p).histogram_laws(n)
            for law, claimed in zip(computed, three_cell_laws(_term, lam, p, n), strict=True):
                yield same_law({h[:2]: mass for h, mass in law.items()}, claimed, at=f"lam={lam}, p={p}, n={n}")
    smallest = stronger_clone(STUDY, PAIR)
    largest = stronger_clone(subset_selection(3), PAIR, position=Fraction(1))
    instances = [
        ("p smallest", STUDY, smallest, Fraction(3, 2), (2,)),
        ("p largest, subset selection k=3, s=2, lam=3", subset_selection(3), largest, Fraction(13, 5), (0,)),
    ]
    for label, channel, clone, exp_eps, background in instances:
        truth = shuffled_divergence(channel, (0, *background), (1, *background), exp_eps)
        first, second = three_cell_laws(statement, clone.lam, clone.p, 2)
        bound = law_divergence(first, second, exp_eps)
        at = f"{label}, p={clone.p}, n=2, exp(eps)={exp_eps}, background {background}"
        yield compare(truth, bound, "<=", at=at)
    for channel in [STUDY, subset_selection(4), *channels(rng, 3, ((3, 3),))]:
        for position in POSITIONS:
            clone = stronger_clone(channel, PAIR, position=position)
            for n in (1, 2):
                for exp_eps in targets(channel.ratio_cap())[:3]:
                    truth, worst = worst_shuffled_divergence(channel, PAIR, n, exp_eps)
                    first, second = three_cell_laws(statement, clone.lam, clone.p, n)
                    at = f"p={clone.p}, n={n}, exp(eps)={exp_eps}, background {worst} of {shown(channel)}"
                    yield compare(truth, law_divergence(first, second, exp_eps), "<=", at=at)


def _generic_bound(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The corrected statement at open lam, n, C and A: the histograms of n users of binary response, symbolic.

    User 1 sends its symbol, every other user either symbol with the clone probability or a third one; the counts are
    placed as displayed. The steps of convex order, by signs of coefficients, at that clone probability. Then the
    comparisons that refute the printed bound.
    """
    n, c, a = sp.symbols("n c a", integer=True, positive=True)
    p = sp.Symbol("p", positive=True)
    others = (a, c - a, n - 1 - c)
    share = 1 / (LAM + 1)
    scale = sp.factorial(n - 1) / math.prod(map(sp.factorial, others)) * share**c * (1 - 2 * share) ** others[-1]
    for (one, two), own in zip(OWN, (LAM * share, share, sp.Integer(0)), strict=True):
        mass, *keys = statement(LAM, p, n, c, a, one, two)
        yield identity(mass / scale, own, at=f"any n, C, A and lam, Delta = {one}, {two}")
        for counts, sent in zip(keys, ((one, two), (two, one)), strict=True):
            for count, other, mine in zip(counts, others[:2], sent, strict=True):
                yield identity(count, other + mine, at=f"counts with user 1, any n, C, A, Delta = {one}, {two}")
    alone = statement(LAM, p, sp.Integer(1), sp.Integer(0), sp.Integer(0), 0, 1)[0]
    yield from dominance_steps(sp.cancel(alone))  # the clone probability: user 1 sends the other symbol
    yield from _intended_bound(statement, rng)


def _generic_term(lam: Any, p: Any, n: Any, c: Any, a: Any, one: int, two: int, *, clones: Any = 1) -> Any:
    """The term at the clone probability of equation (1), or at a multiple of it, whatever p is."""
    return _term(lam, clones / (lam + 1), n, c, a, one, two)


EQ_1 = Claim(
    id="decomposition.eq-1",
    kind="statement",
    title="histogram pair of the stronger clone, and what it fails to bound",
    text=(
        Clause(
            "pair",
            r"With $C\sim Bin(n-1,2p)$, $A\sim Bin(C,\frac12)$, $\Delta_1\sim Bern(e^{\varepsilon_0}p)$, "
            r"$\Delta_2\sim Bin(1-\Delta_1,\frac p{1-e^{\varepsilon_0}p})$, $P_0=(A+\Delta_1,C-A+\Delta_2)$ "
            r"and $P_1=(A+\Delta_2,C-A+\Delta_1)$.",
            "definition",
        ),
        Clause(
            "intended",
            "The intended bound for a channel with clone probability $p$ is "
            r"$D_{e^\varepsilon}(M_S(X^0)\Vert M_S(X^1))\le D_{e^\varepsilon}(P_0\Vert P_1)$.",
        ),
        Clause(
            "false",
            "The paper reports that its proof is broken; the bound itself is false, at the smallest and at "
            "the largest $p$.",
        ),
        Clause(
            "generic",
            r"The generic bound (1), the same with $p=\frac1{e^{\varepsilon_0}+1}$, which the paper calls "
            "unproved, is true.",
        ),
    ),
    source="decomposition, Section 3.3, displays before and in equation (1)",
    assumptions=(
        "eps0 > 0",
        "eps >= 0",
        "the blanket bounds the shuffled divergence, by the sum of Theorem 12 (claims thm-2, thm-12)",
        "convex order survives independent sums (anchored, Lemma 4.8), for the correction",
    ),
    scope="two channels by hand, five channels by search over all backgrounds, n <= 2; equation (1): the pair at any "
    "n, C, A and lam, and stop-loss transforms for all rows and budgets",
    grade="refuted",
    printed=_term,
    check=_intended_bound,
    controls=(
        Control(
            "half the clones of the generic bound",
            partial(_generic_term, clones=Fraction(1, 2)),
            _generic_bound,
        ),
    ),
    expected="refuted",
    erratum=Erratum(
        "question",
        None,
        "The paper itself reports that the proof of the intended bound, of earlier work, is broken; here the "
        "bound is shown to be false, and the generic one to be true.",
    ),
    obligations=(
        *for_all("lam", clause=("intended", "false", "generic")),
        *for_all("p", clause=("intended", "false")),
        *for_all("n", "c", "a", clause=("intended", "false", "generic")),
        *by_cases("one", "two", clause="generic"),
    ),
    corrected=Correction(
        r"Equation (1): with $p=\frac1{e^{\varepsilon_0}+1}$ the pair bounds every $\varepsilon_0$-LDP randomizer, "
        r"for every $n$ (claim symshuffle.generic-bound). For a given decomposition the four-point pair is a bound.",
        _generic_term,
        "proved",
        _generic_bound,
    ),
)


# -- decomposition.lem-2


def _monotone(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """A user who forgets a clone with probability 1 - p/q turns the pair of q into that of p: open p, q, lam, symbolic.

    At both ends of the stated range user 1 sends neither clone with a probability that is at least 0, by signs; the
    printed end 1 fails here. Then divergences along nine p of the range, three budgets, n <= 3, in rationals.
    """
    p, q = sp.symbols("p q", positive=True)
    keep = p / q  # every user forgets a clone with probability 1 - p/q
    for weight in (LAM * q, q):
        yield identity(weight * keep, weight.subs(q, p), at=f"a user who sends a clone with probability {weight}")
    own = 1 - q - LAM * q
    yield identity(own + (1 - keep) * (LAM * q + q), own.subs(q, p), at="user 1 sends none")
    yield identity(1 - 2 * q + (1 - keep) * 2 * q, 1 - 2 * p, at="another user sends none")
    gone = sp.symbols("u v", positive=True)
    for n, side in itertools.product((1, 2), (0, 1)):  # the pair as claim eq-1 has it: each clone kept by a coin
        of_q, of_p = (
            sum(mass * sp.prod(mark**count for mark, count in zip(marks, h, strict=True)) for h, mass in law.items())
            for law, marks in (
                (three_cell_laws(_term, LAM, q, n)[side], [1 - keep + keep * mark for mark in gone]),
                (three_cell_laws(_term, LAM, p, n)[side], gone),
            )
        )
        yield identity(of_q, of_p, at=f"the pair of q, thinned, is that of p: law {side}, n={n}")
    # Each law is that of user 1 and n - 1 others, independent, so that thinning user by user is thinning for every n.
    other = p * (gone[0] + gone[1]) + 1 - 2 * p
    for n, side in itertools.product((1, 2, 3), (0, 1)):
        law = three_cell_laws(_term, LAM, p, n)[side]
        whole = sum(mass * sp.prod(mark**count for mark, count in zip(gone, h, strict=True)) for h, mass in law.items())
        mine = LAM * p * gone[side] + p * gone[1 - side] + 1 - p - LAM * p
        yield identity(whole, mine * other ** (n - 1), at=f"the pair is of independent users: law {side}, n={n}")
    low, high, _ = statement(LAM)
    excess = sp.Symbol("w", positive=True)
    for end in (low, high):  # linear in p, so that the ends of the range decide
        neither = sp.cancel((1 - end - LAM * end).subs(LAM, 1 + excess))
        yield never_negative(neither, at=f"user 1 sends neither clone: a probability at p={end}, any lam")
    for lam in (Fraction(3, 2), Fraction(2), Fraction(4)):
        low, high, relation = statement(lam)
        grid = [low + (high - low) * Fraction(i, 8) for i in range(9)]
        pairs = []
        for p_ in grid:
            exists = 0 <= p_ * (lam + 1) <= 1
            yield decide(exists, at=f"lam={lam}, p={p_}", claimed="P0(eps0, p) is a probability law")
            pairs += [unsound_stronger_clone_pair(lam, p_)] if exists else []
        for n in (1, 2, 3):
            for exp_eps in targets(lam)[:3]:
                heights = [pair.divergence(n, exp_eps) for pair in pairs]
                for i, (before, after) in enumerate(itertools.pairwise(heights)):
                    yield compare(before, after, relation, at=f"lam={lam}, n={n}, exp(eps)={exp_eps}, step {i}")


LEM_2 = Claim(
    id="decomposition.lem-2",
    kind="statement",
    title="stronger-clone divergence grows with p",
    text=(
        Clause(
            "monotone",
            r"For $p<p'$ in $[0,1]$ and $\varepsilon>0$: $D_{e^\varepsilon}(P_0(\varepsilon_0,p)\Vert "
            r"P_1(\varepsilon_0,p))\le D_{e^\varepsilon}(P_0(\varepsilon_0,p')\Vert P_1(\varepsilon_0,p'))$.",
        ),
        Clause(
            "range",
            "The range $[0,1]$ is a slip: the display before the lemma, like Theorem 3, has "
            r"$p\in[0,\frac1{e^{\varepsilon_0}+1}]$, and beyond that the pair does not exist: user 1 would "
            r"send neither clone with probability $1-p-e^{\varepsilon_0}p<0$.",
        ),
    ),
    source="decomposition, Lemma 2",
    assumptions=(),
    scope="thinning, user by user, for all p < p', budgets and n; grid of nine p, n <= 3",
    grade="refuted",
    printed=lambda lam: (Fraction(0), Fraction(1), "<="),
    check=_monotone,
    controls=(
        Control("divergence falls with p", lambda lam: (Fraction(0), 1 / (lam + 1), ">=")),
        Control("a range that ends 1 % later", lambda lam: (Fraction(0), Fraction(101, 100) / (lam + 1), "<=")),
    ),
    expected="refuted",
    erratum=Erratum(
        "wording",
        "granted",
        "The display before the lemma and Theorem 3 have the right range; the proof is not affected.",
        quote="For any p, p' in [0, 1]",
    ),
    obligations=for_all("lam", clause=("monotone", "range")),
    corrected=Correction(
        r"The same for $p<p'$ in $[0,\frac1{e^{\varepsilon_0}+1}]$: forgetting each clone with probability $1-p/p'$ "
        r"maps the pair of p' to that of p.",
        lambda lam: (Fraction(0), 1 / (lam + 1), "<="),
        "proved",
    ),
)

CLAIMS: tuple[Claim, ...] = (EQ_1, LEM_2)
