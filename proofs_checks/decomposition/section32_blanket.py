"""Section 3.2: the privacy blanket, its reduction pair and Algorithm 2."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._algorithms import blanket_laws, blanket_map, push_forward
from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    binomial_mass,
    channels,
    labelled_channels,
    named_channels,
    never_negative,
    one_more_coin,
    one_more_user,
    open_columns,
    polynomials,
    same_law,
    same_polynomial,
    shown,
    sole_coin,
    targets,
)
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.shuffled import (
    Tally,
    histogram_law,
    law_divergence,
    shuffled_law,
    worst_shuffled_divergence,
)
from symshuffle.decompositions.model import privacy_blanket
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)

NOT_LDP = (("erasure", {"k": 3, "p": "1/3"}), ("identity", {"k": 3}))


# -- decomposition.def-blanket


def _blanket(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Four mechanisms, two of them not LDP, and ten random channels: the library's blanket against the stated one.

    Every row has to be the stated blanket and the library's left-over, a distribution; gamma is at least 1/lam. Then
    gamma of products and of random choices from the stated gammas of the parts. In rationals.
    """
    labelled = named_channels(("krr", {"lam": 3, "k": 4}), ("subset-selection", {"lam": 2, "k": 4, "s": 2}), *NOT_LDP)
    labelled += labelled_channels(rng, 10, ((2, 3), (3, 4), (4, 3)))
    for label, channel in labelled:
        gamma, omega = statement(channel.columns())
        blanket = privacy_blanket(channel)
        yield compare(blanket.gamma, gamma, at=f"gamma of {label}")
        yield compare(blanket.omega, omega, at=f"omega of {label}")
        for row, found in zip(channel.rows, blanket.left_overs or (), strict=False):
            made = tuple(gamma * w + (1 - gamma) * v for w, v in zip(omega or found, found, strict=True))
            yield compare(tuple(row), made, at=f"a row of {label} is the stated blanket and the library's left-over")
        for left_over in blanket.left_overs or ():
            masses: Any = left_over
            yield compare(min(masses), Fraction(0), ">=", at=f"left-over of {label}")
            yield compare(sum(masses, Fraction(0)), 1, at=f"left-over of {label}")
        cap: Any = channel.ratio_cap()
        if cap != math.inf:
            yield compare(blanket.gamma, 1 / cap, ">=", at=f"gamma against 1/lam of {label}")
    yield from _compositions(statement, rng)


def _compositions(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Gamma is multiplicative under products and linear under random choice of the mechanism."""
    for first, second in zip(channels(rng, 4, ((3, 2),)), channels(rng, 4, ((3, 3),)), strict=True):
        one, two = (statement(channel.columns())[0] for channel in (first, second))
        yield compare(
            privacy_blanket(first.tensor(second)).gamma, one * two, at=f"product of {shown(first)} and {shown(second)}"
        )
        weight = Fraction(1, 3)
        mixed = direct_sum([first, second], [weight, 1 - weight])
        yield compare(
            privacy_blanket(mixed).gamma,
            weight * one + (1 - weight) * two,
            at=f"1/3 {shown(first)} + 2/3 {shown(second)}",
        )


def _normalised(columns: Sequence[Sequence[Any]], infimum: Any) -> tuple[Any, Any]:
    """Gamma and omega, the infimum over the inputs being given as a function of a column."""
    floor = [infimum(column) for column in columns]
    gamma = sum(floor, Fraction(0))
    return gamma, tuple(mass / gamma for mass in floor) if gamma else None


DEF_BLANKET = Claim(
    id="decomposition.def-blanket",
    kind="definition",
    title="largest common component of all rows",
    text=(
        Clause("blanket", r"$\gamma=\sum_y\inf_xR(x)(y)$ and $\omega=\inf_xR(x)/\gamma$."),
        Clause("mixture", r"Every row is $R(x)=\gamma\omega+(1-\gamma)LO(x)$ with a distribution $LO(x)$."),
        Clause("LDP", r"$\gamma\ge e^{-\varepsilon_0}$ under LDP."),
    ),
    source="decomposition, Section 3.2",
    assumptions=("gamma > 0 for omega, gamma < 1 for the left-overs",),
    scope="four mechanisms, two of them not LDP, ten random channels; products and random choices of mechanisms",
    grade="exact-cases",
    printed=lambda columns: _normalised(columns, min),
    check=_blanket,
    controls=(
        Control("mean over the inputs", lambda columns: _normalised(columns, lambda c: sum(c, Fraction(0)) / len(c))),
        Control("infimum over the pair only", lambda columns: _normalised(columns, lambda c: min(c[:2]))),
    ),
    expected="definition",
    obligations=for_all("columns", clause=("blanket", "mixture", "LDP")),
)


# -- decomposition.def-6, with Algorithm 2


def _one_by_one(channel: Channel, x: int, n: int) -> dict[Tally, Any]:
    """Law of the blanket experiment, every user tossing a coin of its own."""
    blanket = privacy_blanket(channel)
    gamma: Any = blanket.gamma
    law: dict[Tally, Any] = {}
    for coins in itertools.product((0, 1), repeat=n - 1):
        mass = math.prod((gamma if coin else 1 - gamma for coin in coins), start=Fraction(1))
        if mass:
            for histogram, probability in histogram_law([channel.rows[x], *[blanket.omega or ()] * sum(coins)]).items():
                law[histogram] = law.get(histogram, Fraction(0)) + mass * probability
    return law


def _reduction_pair(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The stated law of how many users take the blanket, by induction: one user, and one more; any n and gamma.

    Then seven channels, n <= 4, in rationals: the library's laws against users who each toss a coin of their own, and
    the number of blanket users against the statement. Algorithm 2 up to four users, and the algebra of one more.
    """
    yield one_more_coin(lambda others, b, gamma: statement(others + 1, b, gamma))
    yield from sole_coin(lambda others, b, gamma: statement(others + 1, b, gamma))
    yield one_more_user()
    labelled = named_channels(("krr", {"lam": 3, "k": 3}), ("rr", {"lam": 2}), *NOT_LDP)
    labelled += labelled_channels(rng, 3, ((3, 3), (4, 2)))
    for label, channel in labelled:
        for n in (1, 2, 3, 4):
            laws = blanket_laws(channel, PAIR, n)
            for x, law in zip(PAIR, laws, strict=True):
                yield same_law(law, _one_by_one(channel, x, n), at=f"user 1 holds {x}, n={n}, {label}")
                sizes: dict[int, Any] = {}
                for histogram, mass in law.items():
                    sizes[sum(histogram) - 1] = sizes.get(sum(histogram) - 1, Fraction(0)) + mass
                claimed = {b: statement(n, b, privacy_blanket(channel).gamma) for b in range(n)}
                yield same_law(sizes, claimed, at=f"|b| for n={n}, {label}")
    yield from _algorithm_2(blanket_map, rng)


def _algorithm_2(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The image of the blanket experiment under a kernel, against the shuffled messages it is to simulate.

    One message that carries a generating function, with open left-overs and gamma, n <= 4: equal polynomials. Then two
    random channels with three backgrounds each, in rationals.
    """
    # One message that carries a whole generating function: the identity then holds for any number of outputs.
    gamma, a, w, *left = polynomials("gamma a w l2 l3 l4")
    for n in (1, 2, 3, 4):
        law: dict[Tally, Any] = {(size + 1,): binomial_mass(n - 1, size, gamma) * a * w**size for size in range(n)}
        image = push_forward(law, statement([[q] for q in left[: n - 1]], messages=1))
        target = math.prod((gamma * w + (1 - gamma) * q for q in left[: n - 1]), start=a)
        yield same_polynomial(image[n,], target, at=f"n={n}, generic channel, any outputs")
    for channel in channels(rng, 2, ((3, 3), (4, 2))):
        left_overs: Any = privacy_blanket(channel).left_overs
        for background in ((2,), (0, 2), (2, 2)):
            kernel = statement([left_overs[x] for x in background], messages=channel.num_outputs)
            for x, outcome in zip(PAIR, blanket_laws(channel, PAIR, len(background) + 1), strict=True):
                messages = shuffled_law(channel, (x, *background))
                yield same_law(
                    push_forward(outcome, kernel), messages, at=f"dataset {(x, *background)} of {shown(channel)}"
                )


def _first_users(left_overs: Sequence[Any], *, messages: int) -> Any:
    """Algorithm 2 if the left-overs always came from the first users."""

    def kernel(histogram: Tally) -> Mapping[Tally, Any]:
        missing = len(left_overs) + 1 - sum(histogram)
        law: Mapping[Tally, Any] = histogram_law(left_overs[:missing]) if missing else {(0,) * messages: Fraction(1)}
        return {tuple(i + j for i, j in zip(h, histogram, strict=True)): mass for h, mass in law.items()}

    return kernel


DEF_6 = Claim(
    id="decomposition.def-6",
    kind="definition",
    title="histogram pair of the blanket, with its simulation",
    text=(
        Clause(
            "blanket users",
            r"Every other user takes the blanket with probability $\gamma$; the outcome is their number "
            r"$|b|\sim Bin(n-1,\gamma)$.",
        ),
        Clause(
            "samples", r"The outcome also has the multiset of one sample of $R(x_1^a)$ and $|b|$ samples of $\omega$."
        ),
        Clause(
            "simulation",
            "Algorithm 2, which adds samples of the left-overs of users drawn without replacement, maps it "
            "to the messages.",
        ),
    ),
    source="decomposition, Definition 6 and Algorithm 2",
    assumptions=(),
    scope="number of blanket users by induction, any gamma and n; laws exact and Algorithm 2 for any channel, n <= 4, "
    "and the step to one more user",
    grade="proved",
    printed=lambda n, b, gamma: binomial_mass(n - 1, b, gamma),
    check=_reduction_pair,
    obligations=for_all("n", "b", "gamma", clause=("blanket users", "samples", "simulation")),
    controls=(
        Control(
            "n users toss a coin",
            binomial_mass,
        ),
        Control("left-overs of the first users, not of random ones", _first_users, _algorithm_2),
    ),
    expected="definition",
)


# -- decomposition.thm-2


def _reduction(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The stated experiments of three open rows on two outputs simulate the messages, for any n: see ``_any_user``.

    Algorithm 2 as an identity of polynomials for n <= 4. Then nine channels, n <= 3, four orders, both directions: the
    divergence over all backgrounds, by enumeration, is at most that of the stated experiments; in rationals.
    """
    yield from _any_user(statement)
    yield one_more_user()
    yield from _algorithm_2(blanket_map, rng)
    labelled = named_channels(("rr", {"lam": 3}), ("krr", {"lam": 3, "k": 3}), ("half-block", {"lam": 3, "k": 4}))
    labelled += labelled_channels(rng, 6, ((3, 3), (3, 2), (4, 2)))
    for label, channel in labelled:
        for n in (1, 2, 3):
            laws = _experiments(statement, channel, n)
            for exp_eps in targets(channel.ratio_cap()):
                for direction, (i, j) in DIRECTIONS:
                    truth, background = worst_shuffled_divergence(channel, (i, j), n, exp_eps)
                    at = f"{label}, n={n}, exp(eps)={exp_eps}, {direction}, background {background}"
                    yield compare(truth, law_divergence(laws[i], laws[j], exp_eps), "<=", at=at)


def _any_user(statement: Statement) -> Iterator[Comparison]:
    """What Algorithm 2 makes of the stated experiments, for any n, rows and number of blanket users.

    Every row is a mixture of the stated blanket and a left-over, none of whose masses is negative. With the generating
    functions w of a blanket message and q_i of a left-over, the product of gamma w + (1 - gamma) q_i over all other
    users has the coefficient gamma^b (1 - gamma)^(n-1-b) at w^b e(q), e an elementary symmetric function (claim step
    ``one_more_user``); Algorithm 2 averages over all choices of the users that send left-overs.
    """
    n, b = sp.symbols("n b", integer=True, positive=True)
    columns = open_columns()
    gamma, omega, mass = statement(columns, n, b)
    for y, column in enumerate(columns):
        for x, entry in enumerate(column):
            left_over = sp.cancel(entry - gamma * omega[y])
            yield never_negative(left_over, at=f"left-over of row {x} at output {y}, any rows")
    yield identity(sum(omega), 1, at="a blanket message is a message, any rows")
    averaged = mass / sp.binomial(n - 1, b)
    split = (gamma**b * (1 - gamma) ** (n - 1 - b)) / averaged
    yield identity(
        sp.powsimp(sp.expand_func(split)), 1, at="users who take the blanket, any rows, n and number of them"
    )
    alone = statement(columns, sp.Integer(1), sp.Integer(0))[2]
    yield identity(alone, 1, at="one user: no blanket message, any rows")


def _experiments(statement: Statement, channel: Channel, n: int) -> list[dict[Tally, Any]]:
    """Both experiments from their stated parts, the second first message in place of the first."""
    laws: list[dict[Tally, Any]] = []
    for x in PAIR:
        law: dict[Tally, Any] = {}
        for b in range(n):
            _gamma, omega, mass = statement(channel.columns(), n, b)
            for histogram, share in histogram_law([channel.rows[x], *[omega] * b]).items():
                law[histogram] = law.get(histogram, Fraction(0)) + mass * share
        laws.append(law)
    return laws


def _experiment(columns: Sequence[Sequence[Any]], n: Any, b: Any, *, covered: slice = slice(None)) -> Any:
    """Gamma, the law of a blanket message, and the probability that b of the other users send one."""
    floor = [min(column[covered]) for column in columns]
    gamma = sum(floor[1:], floor[0])
    return gamma, tuple(mass / gamma for mass in floor), binomial_mass(n - 1, b, gamma)


def _one_user_more(columns: Sequence[Sequence[Any]], n: Any, b: Any) -> Any:
    """The same if n users tossed a coin."""
    gamma, omega, _ = _experiment(columns, n, b)
    return gamma, omega, binomial_mass(n, b, gamma)


THM_2 = Claim(
    id="decomposition.thm-2",
    kind="statement",
    title="blanket pair bounds the shuffled divergence",
    text=r"$D_{e^\varepsilon}(M_S(X^0)\Vert M_S(X^1))\le D_{e^\varepsilon}(P_0^B\Vert P_1^B)$ for all inputs of the "
    r"other users and all $\varepsilon\ge0$.",
    source="decomposition, Theorem 2",
    assumptions=(
        "the blanket is the infimum over all inputs that the other users may hold",
        "post-processing cannot raise the divergence (Property 1, claim prop-1)",
    ),
    scope="the experiments simulate the messages for all rows, n and numbers of blanket users, by coefficients of a "
    "product over the users; Algorithm 2 as a map for n <= 4; all backgrounds of nine channels, n <= 3",
    grade="proved",
    printed=_experiment,
    check=_reduction,
    obligations=for_all("columns", "n", "b"),
    controls=(
        Control("blanket of the pair only", partial(_experiment, covered=slice(2))),
        Control("n users toss a coin", _one_user_more),
        Control("left-overs of the first users, not of random ones", _first_users, _algorithm_2),
    ),
    expected="holds",
)

CLAIMS: tuple[Claim, ...] = (DEF_BLANKET, DEF_6, THM_2)
