"""Section 3.1: the standard clone, intuitive and formal, and Algorithm 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._algorithms import push_forward, standard_clone_map
from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    binomial_mass,
    channels,
    labelled_channels,
    named_channels,
    never_negative,
    one_more_user,
    polynomials,
    same_law,
    same_polynomial,
    shown,
    targets,
)
from proofs_checks.decomposition._clones import intuitive_clone, standard_clone, two_point_mixture
from symshuffle.channels.shuffled import (
    Tally,
    histogram_law,
    law_divergence,
    shuffled_law,
    worst_shuffled_divergence,
)
from symshuffle.decompositions.clones import intuitive_clone_pair, standard_clone_pair
from symshuffle.decompositions.model import ReductionPair
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    identity,
)

LAM = sp.Symbol("lambda", positive=True)
BUDGETS = (Fraction(3, 2), Fraction(2), Fraction(4))


# -- decomposition.sec-3.1-mixture


def _mixture(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """One output with open probabilities within the factor lam: the stated left-over there is at least 0.

    Decided by the signs of coefficients; its total over all outputs is 1 by symbolic identity. Then all rows of twelve
    random channels: the statement against the library's left-over, in rationals.
    """
    s, t, w, r = sp.symbols("s t w r", nonnegative=True)
    lam = 1 + w + sp.Symbol("v", positive=True)  # any budget above 0
    (left_over,) = statement([r], [lam * r - s], [lam * r - t], lam)
    yield never_negative(left_over, at="an output with R(x0) = lam R(x) - s, R(x1) = lam R(x) - t, s, t >= 0")
    yield identity(statement([1], [1], [1], LAM)[0], 1, at="sum over all outputs")
    (nothing,) = statement([r], [lam * r], [lam * r], lam)
    yield never_negative(nothing, at="an output with R(x0) = R(x1) = lam R(x), where nothing is left over")
    for channel in channels(rng, 12, ((3, 3), (4, 4), (3, 5))):
        cap: Any = channel.ratio_cap()
        clone = intuitive_clone(channel, PAIR)
        for x, row in enumerate(channel.rows):
            claimed = statement(row, channel.rows[0], channel.rows[1], cap)
            at = f"ratio cap {cap}, input {x} of {shown(channel)}"
            yield compare(clone.left_over(row), tuple(claimed), at=at)
            yield compare(min(claimed), Fraction(0), ">=", at=at)


SEC_3_1_MIXTURE = Claim(
    id="decomposition.sec-3.1-mixture",
    kind="statement",
    title="every row hides copies of two given rows",
    text=r"For an $\varepsilon_0$-LDP channel and inputs $x_1^0,x_1^1$, every row is "
    r"$R(x)=\frac{R(x_1^0)+R(x_1^1)}{2e^{\varepsilon_0}}+(1-e^{-\varepsilon_0})\,LO(x)$ with a distribution $LO(x)$.",
    source="decomposition, Section 3.1",
    assumptions=("eps0 > 0 (at eps0 = 0 the left-over has weight 0)",),
    scope="all probabilities and budgets, by the signs of coefficients; 12 random channels",
    grade="proved",
    printed=lambda row, first, second, lam: [
        (r - (a + b) / (2 * lam)) / (1 - 1 / lam) for r, a, b in zip(row, first, second, strict=True)
    ],
    check=_mixture,
    controls=(
        Control(
            "clone weight 1/(lam + 1) instead of 1/(2 lam)",
            lambda row, first, second, lam: [
                (r - (a + b) / (lam + 1)) / (1 - 2 / (lam + 1)) for r, a, b in zip(row, first, second, strict=True)
            ],
        ),
    ),
    expected="holds",
    obligations=for_all("row", "first", "second", "lam"),
)


# -- decomposition.def-5, with Algorithm 1


def _two_counts(pair: ReductionPair, n: int) -> list[dict[Tally, Any]]:
    """Both laws of the counts (n0, n1), without the count of left-overs."""
    return [{histogram[:2]: mass for histogram, mass in law.items()} for law in pair.histogram_laws(n)]


def _intuitive_term(lam: Any, n: Any, c: Any, a: Any) -> tuple[Any, tuple[Any, Any], tuple[Any, Any]]:
    """Mass of C = c and A = a, and the counts of both laws there."""
    mass = binomial_mass(n - 1, c, 1 / lam) * binomial_mass(c, a, Fraction(1, 2))
    return mass, (a + 1, c - a), (a, c - a + 1)


def _laws(statement: Statement, lam: Any, n: int, choices: Sequence[tuple[int, ...]] = ((),)) -> list[dict[Any, Any]]:
    """Both laws of counts, from what a statement says of each C, A and choice of user 1."""
    laws: list[dict[Any, Any]] = [{}, {}]
    for c, choice in itertools.product(range(n), choices):
        for a in range(c + 1):
            mass, *keys = statement(lam, n, c, a, *choice)
            for law, key in zip(laws, keys, strict=True):
                law[key] = law.get(key, Fraction(0)) + mass
    return laws


def _intuitive(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Masses and counts of the stated pair at open n, C, A and lam, against users who send 0, 1 or 2 one by one.

    Symbolic; so are the generating functions for n <= 3 at open lam. The library's pair for three budgets and n <= 4 in
    rationals. Algorithm 1 by generating functions up to four users, and the algebra of one more user.
    """
    mass, *keys = statement(LAM, USERS, CLONES, ZEROS)
    yield _placed(mass, 1)
    for own, key in zip(((1, 0), (0, 1)), keys, strict=True):
        for sent, count, others in zip(own, key, (ZEROS, CLONES - ZEROS), strict=True):
            yield identity(others + sent, count, at="counts with user 1, any n, C, A")
    for n_ in (1, 2, 3):
        yield from _generated(_laws(statement, LAM, n_), (sp.Symbol("u"), sp.Symbol("v")), n_)
    for lam in BUDGETS:
        for n_ in (1, 2, 3, 4):
            claimed = _laws(statement, lam, n_)
            for computed, law in zip(_two_counts(intuitive_clone_pair(lam), n_), claimed, strict=True):
                yield same_law(computed, law, at=f"lam={lam}, n={n_}")
    yield one_more_user()
    yield from _algorithm_1(standard_clone_map, rng)


USERS, CLONES, ZEROS = sp.symbols("n C A", integer=True, positive=True)


def _placed(mass: Any, own: Any) -> Comparison:
    """Mass of C clones with A zeros among n - 1 users, each of whom sends 0 or 1 with probability 1/(2 lam)."""
    ways = sp.factorial(USERS - 1) / (
        sp.factorial(ZEROS) * sp.factorial(CLONES - ZEROS) * sp.factorial(USERS - 1 - CLONES)
    )
    users = (1 / LAM) ** CLONES * sp.Rational(1, 2) ** CLONES * (1 - 1 / LAM) ** (USERS - 1 - CLONES)
    ratio = sp.powsimp(sp.expand_func(mass / (ways * users)), force=True)
    return identity(ratio, own, at="users with clones one by one, any n, C, A and lam")


def _generated(laws: Sequence[Mapping[Tally, Any]], own: tuple[Any, Any], n: int) -> Iterator[Comparison]:
    """Two laws of counts against the generating functions of user 1 and of n - 1 users with clones, in open lam."""
    u, v = sp.symbols("u v")
    for law, first in zip(laws, own, strict=True):
        generating = sum((mass * u ** h[0] * v ** h[1] for h, mass in law.items()), sp.Integer(0))
        users = first * ((u + v) / (2 * LAM) + 1 - 1 / LAM) ** (n - 1)
        yield identity(generating, users, at=f"generating function, user 1 sends {first}, n={n}, any lam")


def _algorithm_1(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The image of the clone pair under a kernel, against the shuffled messages it is to simulate.

    One message that carries a generating function, with open left-overs and 1/lam, n <= 4: equal polynomials. Then two
    random channels with three backgrounds each, in rationals.
    """
    # One message that carries a whole generating function: the identity then holds for any number of outputs.
    kappa, u, v, *left = polynomials("kappa u v l2 l3 l4")
    ends = intuitive_clone_pair(Fraction(2)).a0, intuitive_clone_pair(Fraction(2)).a1
    for n in (1, 2, 3, 4):
        left_overs = [[q] for q in left[: n - 1]]
        others = [(kappa / 2, kappa / 2, 1 - kappa)] * (n - 1)
        for first, start in zip(ends, (u, v), strict=True):
            users: list[Any] = [first, *others]
            image = push_forward(histogram_law(users), statement([u], [v], left_overs))
            target = math.prod((kappa * (u + v) / 2 + (1 - kappa) * q for q in left[: n - 1]), start=start)
            at = f"n={n}, generic channel and kappa=1/lam, user 1 sends {ends.index(first)}"
            yield same_polynomial(image[n,], target, at=at)
    for channel in channels(rng, 2, ((3, 3), (4, 2))):
        clone = intuitive_clone(channel, PAIR)
        for background in ((2,), (0, 2), (2, 2)):
            rests = [clone.left_over(channel.rows[x]) for x in background]
            kernel = statement(channel.rows[0], channel.rows[1], rests)
            laws = clone.reduction_pair().histogram_laws(len(background) + 1)
            for x, law in zip(PAIR, laws, strict=True):
                target = shuffled_law(channel, (x, *background))
                yield same_law(push_forward(law, kernel), target, at=f"dataset {(x, *background)} of {shown(channel)}")


def _with_replacement(first: Any, second: Any, left_overs: Sequence[Any]) -> Any:
    """Algorithm 1 if a user could be drawn twice."""

    def kernel(histogram: Tally) -> Mapping[Tally, Any]:
        n0, n1, n2 = histogram
        average = [sum(column, Fraction(0)) / max(1, len(left_overs)) for column in zip(*left_overs, strict=True)]
        return histogram_law([first] * n0 + [second] * n1 + [average] * n2)

    return kernel


DEF_5 = Claim(
    id="decomposition.def-5",
    kind="definition",
    title="histogram pair of the standard clone, with its simulation",
    text=(
        Clause(
            "draws",
            r"User 1 sends 0 (or 1), every other user 0 or 1 with probability $\frac1{2e^{\varepsilon_0}}$ "
            "each and 2 otherwise.",
        ),
        Clause(
            "counts",
            r"Equivalently $C\sim Bin(n-1,e^{-\varepsilon_0})$, $A\sim Bin(C,\frac12)$, $P_0=(A+1,C-A)$, "
            "$P_1=(A,C-A+1)$.",
        ),
        Clause(
            "simulation",
            "Algorithm 1, which turns 0 and 1 into samples of $R(x_1^0)$ and $R(x_1^1)$ and each 2 into a "
            "sample of the left-over of a user drawn without replacement, maps the pair to the shuffled "
            "messages.",
        ),
    ),
    source="decomposition, Definition 5 and Algorithm 1",
    assumptions=("eps0 > 0",),
    scope="masses and counts for any n, C, A and lam; generating functions in open lam, n <= 3; Algorithm 1 for any "
    "channel, n <= 4, and the step to one more user",
    grade="proved",
    printed=_intuitive_term,
    check=_intuitive,
    obligations=for_all("lam", "n", "c", "a", clause=("draws", "counts", "simulation")),
    controls=(
        Control("clones for n users instead of n - 1", lambda lam, n, c, a: _intuitive_term(lam, n + 1, c, a)),
        Control("users drawn with replacement", _with_replacement, _algorithm_1),
    ),
    expected="definition",
)


# -- decomposition.lem-1


def _extreme_mixture(q0: Any, q1: Any, lam: Any) -> tuple[Any, Any]:
    """Both rows at an output, from Q0 and Q1 there."""
    return lam / (lam + 1) * q0 + 1 / (lam + 1) * q1, 1 / (lam + 1) * q0 + lam / (lam + 1) * q1


def _two_points(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The stated mixture is solved for Q0 and Q1 at one output, for open rows within the factor lam of each other.

    There is one solution, and its masses are at least 0, by the signs of coefficients. Then ten random pairs of rows:
    the library's mixture is non-negative and gives the rows back under the statement, in rationals.
    """
    r, q0, q1 = sp.symbols("r q0 q1", nonnegative=True)
    t, w = sp.symbols("t w", nonnegative=True)
    other = sp.Symbol("s", nonnegative=True)
    equations = [claimed - row for claimed, row in zip(statement(q0, q1, LAM), (r, other), strict=True)]
    solutions = sp.solve(equations, (q0, q1), dict=True)
    yield decide(len(solutions) == 1, at="any two rows", computed=str(solutions), claimed="one solution", symbolic=True)
    for solution in solutions:
        # All second rows within the factor lam of the first: r/lam at t = 0, lam r as t grows.
        within = {other: r * (1 / LAM + LAM * t) / (1 + t)}
        for q in (q0, q1):
            mass = sp.cancel(solution[q].subs(within).subs(LAM, 1 + w) * w)  # times lam - 1 > 0
            yield never_negative(mass, at=f"mass of {q} at an output, any rows within the factor lam")
    for channel in channels(rng, 10, ((2, 3), (2, 5))):
        cap: Any = channel.ratio_cap()
        mixture = two_point_mixture(channel.rows[0], channel.rows[1], cap)
        for y, (a, b) in enumerate(zip(*channel.rows, strict=True)):
            at = f"output {y} of {shown(channel)}"
            yield compare(min(mixture[0][y], mixture[1][y]), Fraction(0), ">=", at=at)
            yield compare(statement(mixture[0][y], mixture[1][y], cap), (a, b), at=at)
    yield from _budget(lambda lam: lam, rng)


def _budget(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Whether the extreme distributions of k-RR exist for the budget that a statement makes of its ratio cap."""
    for label, channel in named_channels(("krr", {"lam": 4, "k": 3}), ("rr", {"lam": 4})):
        cap: Any = statement(channel.ratio_cap())
        rows: Any = channel.rows
        masses = [(cap * a - b) / (cap - 1) for a, b in zip(rows[0], rows[1], strict=True)]
        yield compare(min(masses), Fraction(0), ">=", at=f"{label}, budget lam={cap}")


LEM_1 = Claim(
    id="decomposition.lem-1",
    kind="statement",
    title="two locally private laws mix two extreme ones",
    text=r"If $R(x_0),R(x_1)$ are within the factor $e^{\varepsilon_0}$ of each other, there are distributions with "
    r"$R(x_0)=\frac{e^{\varepsilon_0}Q_0+Q_1}{e^{\varepsilon_0}+1}$ and "
    r"$R(x_1)=\frac{Q_0+e^{\varepsilon_0}Q_1}{e^{\varepsilon_0}+1}$.",
    source="decomposition, Lemma 1",
    assumptions=("eps0 > 0",),
    scope="solved for all rows and budgets; the library's mixture on random rows",
    grade="proved",
    printed=_extreme_mixture,
    check=_two_points,
    controls=(
        Control("the second mixture not swapped", lambda q0, q1, lam: (_extreme_mixture(q0, q1, lam)[0],) * 2),
        Control("the ratio cap less 1 % suffices", lambda lam: lam * Fraction(99, 100), _budget),
    ),
    expected="holds",
    obligations=for_all("q0", "q1", "lam"),
)


# -- decomposition.thm-1


def _clone_term(
    lam: Any, n: Any, c: Any, a: Any, delta: int, *, others: int = -1
) -> tuple[Any, tuple[Any, Any], tuple[Any, Any]]:
    """Mass of C = c, A = a and Delta = delta, and the counts of both laws there."""
    clones = binomial_mass(n + others, c, 1 / lam) * binomial_mass(c, a, Fraction(1, 2))
    own = binomial_mass(1, delta, lam / (lam + 1))
    return clones * own, (a + delta, c - a + 1 - delta), (a + 1 - delta, c - a + delta)


DELTAS = ((0,), (1,))


def _standard(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Masses and counts of the stated pair at open n, C, A and lam, for either choice of user 1, symbolic.

    Generating functions at open lam for n <= 3; the library's pair for three budgets and n <= 4. Then seven channels, n
    <= 3: the largest divergence over all backgrounds is at most that of the stated laws (equal for one user of binary
    response), and the library's clone meets its conditions; in rationals.
    """
    u, v = sp.symbols("u v")
    rows = _extreme_mixture(u, v, LAM)
    yield identity(sum(rows), u + v, at="R(x0) + R(x1) = Q0 + Q1: what the clones of Section 3.1 are in these terms")
    for delta, own in ((1, LAM / (LAM + 1)), (0, 1 / (LAM + 1))):
        mass, *keys = statement(LAM, USERS, CLONES, ZEROS, delta)
        yield _placed(mass, own)
        for sent, key in zip(((delta, 1 - delta), (1 - delta, delta)), keys, strict=True):
            for one, count, others in zip(sent, key, (ZEROS, CLONES - ZEROS), strict=True):
                yield identity(others + one, count, at=f"counts with user 1, any n, C, A, Delta={delta}")
    for n in (1, 2, 3):
        yield from _generated(_laws(statement, LAM, n, DELTAS), rows, n)
    for lam in BUDGETS:
        for n in (1, 2, 3, 4):
            claimed = _laws(statement, lam, n, DELTAS)
            for computed, law in zip(_two_counts(standard_clone_pair(lam), n), claimed, strict=True):
                yield same_law(computed, law, at=f"lam={lam}, n={n}")
    labelled = named_channels(("rr", {"lam": 3}), ("krr", {"lam": 3, "k": 3}), ("half-block", {"lam": 3, "k": 4}))
    labelled += labelled_channels(rng, 4, ((3, 3), (3, 2)))
    for label, channel in labelled:
        cap: Any = channel.ratio_cap()
        yield compare(standard_clone(channel, PAIR).violations(channel, PAIR), [], at=label)
        for n in (1, 2, 3):
            laws = _laws(statement, cap, n, DELTAS)
            for exp_eps in targets(cap):
                for direction, pair in DIRECTIONS:
                    bound = law_divergence(laws[pair[0]], laws[pair[1]], exp_eps)
                    truth, background = worst_shuffled_divergence(channel, pair, n, exp_eps)
                    at = f"{label}, n={n}, exp(eps)={exp_eps}, {direction}, background {background}"
                    yield compare(truth, bound, "<=", at=at)
                    if label.startswith("rr") and n == 1:
                        yield compare(truth, bound, at=f"{at}: attained by one user with rr")


THM_1 = Claim(
    id="decomposition.thm-1",
    kind="statement",
    title="standard-clone pair bounds the shuffled divergence",
    text=(
        Clause(
            "bound",
            r"For an $\varepsilon_0$-LDP channel, $D_{e^\varepsilon}(M_S(X^0)\Vert M_S(X^1))\le "
            r"D_{e^\varepsilon}(P_0^C\Vert P_1^C)$.",
        ),
        Clause(
            "pair",
            r"Here $C\sim Bin(n-1,e^{-\varepsilon_0})$, $A\sim Bin(C,\frac12)$, $\Delta\sim "
            r"Bern(\frac{e^{\varepsilon_0}}{e^{\varepsilon_0}+1})$, $P_0^C=(A+\Delta,C-A+1-\Delta)$, "
            r"$P_1^C=(A+1-\Delta,C-A+\Delta)$.",
            "definition",
        ),
    ),
    source="decomposition, Theorem 1",
    assumptions=(
        "eps0 > 0",
        "eps >= 0",
        "Lemma 1 and the mixture of Section 3.1 (claims lem-1, sec-3.1-mixture): a general clone",
        "a general clone is a bound (Theorem 4, claim thm-4)",
    ),
    scope="law of the pair for any lam, n, C and A; all backgrounds of seven channels, n <= 3",
    grade="proved",
    printed=_clone_term,
    check=_standard,
    obligations=(
        *for_all("lam", "n", "c", "a", clause="bound"),
        *by_cases("delta", clause="bound"),
    ),
    controls=(
        Control("Bin(n, 1/lam) clones", partial(_clone_term, others=0)),
        Control(
            "user 1 keeps its own clone with probability lam/(lam + 2)",
            lambda lam, n, c, a, delta: (
                _clone_term(lam, n, c, a, delta)[0] * (lam + 1) / (lam + 2) * (1 if delta else 2),
                *_clone_term(lam, n, c, a, delta)[1:],
            ),
        ),
    ),
    expected="holds",
)

CLAIMS: tuple[Claim, ...] = (SEC_3_1_MIXTURE, DEF_5, LEM_1, THM_1)
