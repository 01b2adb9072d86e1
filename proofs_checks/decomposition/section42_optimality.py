"""Sections 4.2 and 4.3: the blanket is the best general clone; Algorithms 4 and 5; Figure 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from proofs_checks.decomposition._algorithms import (
    blanket_laws,
    blanket_to_primary,
    clone_to_blanket,
    common_left_over,
    push_forward,
)
from proofs_checks.decomposition._cases import (
    PAIR,
    STUDY,
    binomial_mass,
    channels,
    labelled_channels,
    named_channels,
    never_negative,
    open_columns,
    pointwise,
    polynomials,
    random_decomposition,
    same_law,
    shown,
    targets,
)
from proofs_checks.decomposition._clones import standard_clone
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import (
    HistogramLaw,
    Tally,
    histogram_law,
    law_divergence,
    worst_shuffled_divergence,
)
from symshuffle.decompositions.clones import standard_clone_pair, stronger_clone
from symshuffle.decompositions.model import Decomposition, primary_decomposition, privacy_blanket
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    attained,
    for_all,
    identity,
    serving,
)

# -- decomposition.thm-5, with Algorithm 4


def _bijection(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The map of Algorithm 4 takes the blanket experiment to the histograms of the primary decomposition.

    Two outputs with open masses, n <= 4, as equal laws over polynomials; seven channels, n <= 3, in rationals: no two
    outcomes fall together, and divergences stay.
    """
    a, w, gamma = polynomials("a w gamma")
    for n in (1, 2, 3, 4):
        blanket: dict[Tally, Any] = {}
        for size in range(n):
            users: list[Any] = [(a, 1 - a), *[(w, 1 - w)] * size]
            for h, mass in histogram_law(users).items():
                blanket[h] = mass * binomial_mass(n - 1, size, gamma)
        target_users: list[Any] = [(a, 1 - a, Fraction(0)), *[(gamma * w, gamma * (1 - w), 1 - gamma)] * (n - 1)]
        image = push_forward(blanket, statement(n))
        yield same_law(image, histogram_law(target_users), at=f"n={n}, generic channel, two outputs", symbolic=True)
    labelled = named_channels(("krr", {"lam": 3, "k": 3}), ("erasure", {"k": 3, "p": "1/3"}), ("identity", {"k": 3}))
    labelled += labelled_channels(rng, 4, ((3, 3), (4, 2)))
    for label, channel in labelled:
        for n in (1, 2, 3):
            laws = blanket_laws(channel, PAIR, n)
            images = [push_forward(law, statement(n)) for law in laws]
            targets_ = primary_decomposition(channel, PAIR).reduction_pair().histogram_laws(n)
            for law, image, claimed in zip(laws, images, targets_, strict=True):
                yield same_law(image, claimed, at=f"n={n}, {label}")
                yield compare(len(image), len(law), at=f"outcomes stay apart, n={n}, {label}")
            for exp_eps in (Fraction(1), Fraction(6, 5)):
                for i, j in (PAIR, PAIR[::-1]):
                    before, after = (law_divergence(x[i], x[j], exp_eps) for x in (laws, images))
                    yield compare(before, after, at=f"divergence, n={n}, exp(eps)={exp_eps}, {label}")


def _primary(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Three open rows on two outputs: the stated weights are a decomposition, and the blanket's, for any n.

    See ``_any_histogram``. Then nine channels, LDP or not: the library's primary decomposition against the stated
    weights, and valid; Algorithm 4 as a bijection for n <= 4.
    """
    yield from _any_histogram(statement)
    labelled = named_channels(("krr", {"lam": 3, "k": 3}), ("erasure", {"k": 3, "p": "1/3"}), ("identity", {"k": 3}))
    labelled += labelled_channels(rng, 6, ((3, 3), (4, 2)))
    for label, channel in labelled:
        decomposition = primary_decomposition(channel, PAIR)
        claimed = statement(*(channel.rows[x] for x in PAIR), channel.columns())
        yield compare((decomposition.a, decomposition.b, decomposition.c, decomposition.beta), claimed, at=label)
        yield compare(decomposition.violations(channel, PAIR), [], at=label)
    yield from _bijection(blanket_to_primary, rng)


def _any_histogram(statement: Statement) -> Iterator[Comparison]:
    """The mass of the blanket experiment at any multiset of two outputs, and that of the stated weights at its image.

    Further outputs would add the same factors to both sides. The image is read off Algorithm 4: its first cells give
    back the multiset, whose size is the number of blanket users and one, so that no two outcomes fall together.
    """
    columns = open_columns()
    first, second = (tuple(column[x] for column in columns) for x in PAIR)
    a, b, c, beta = statement(first, second, columns)
    for y, column in enumerate(columns):
        yield identity(a[y], first[y], at=f"first row as a mixture of outputs: output {y}")
        yield identity(b[y], second[y], at=f"second row as a mixture of outputs: output {y}")
        for x, entry in enumerate(column):
            yield never_negative(sp.expand(entry - c[y]), at=f"the shared part fits into row {x}: output {y}")
    yield identity(beta, 1 - sum(c), at="weight of the left-over, any rows")
    h, m = sp.symbols("h1 h2", integer=True, positive=True), sp.Symbol("m", integer=True, positive=True)
    n = sum(h) + m
    ((image, chance),) = blanket_to_primary(n)(h).items()
    yield identity(chance, 1, at="Algorithm 4 tosses no coin")
    for cell, count in zip(image, (*h, m), strict=True):
        yield identity(cell, count, at="Algorithm 4: the counts of the multiset, and the users without blanket")
    floor = [min(column) for column in columns]
    gamma = sum(floor)
    omega = [mass / gamma for mass in floor]
    scale = sp.factorial(n - 1) / math.prod(map(sp.factorial, (*h, m))) * (1 - gamma) ** m
    scale *= math.prod(mass**count for mass, count in zip(floor, h, strict=True))
    for name, own, weights in (("first", first, a), ("second", second, b)):
        size = sum(h) - 1
        blanket = binomial_mass(n - 1, size, gamma) * _one_own(own, omega, h, sp.factorial(size))
        primary = _one_own(weights, c, h, sp.factorial(n - 1) / sp.factorial(m)) * beta**m
        ratios = (sp.powsimp(sp.gammasimp(sp.expand_func(mass / scale))) for mass in (blanket, primary))
        yield identity(*ratios, at=f"{name} law, any n, multiset and rows")


def _one_own(own: Sequence[Any], shared: Sequence[Any], h: Sequence[Any], ways: Any) -> Any:
    """Mass of the counts ``h`` of one draw of ``own`` and all others of ``shared``, over the orders of the others."""
    total: Any = 0
    for y, chance in enumerate(own):
        rest = [count - int(y == z) for z, count in enumerate(h)]
        orders = ways / math.prod(map(sp.factorial, rest))
        total += chance * orders * math.prod(p**count for p, count in zip(shared, rest, strict=True))
    return total


def _primary_weights(first: Sequence[Any], second: Sequence[Any], columns: Sequence[Sequence[Any]]) -> Any:
    """The weights a, b, c and beta, the infimum being over all inputs."""
    c = tuple(min(column) for column in columns)
    return tuple(first), tuple(second), c, 1 - sum(c, Fraction(0))


def _pair_weights(first: Sequence[Any], second: Sequence[Any], columns: Sequence[Sequence[Any]]) -> Any:
    """The same with the infimum over the pair only."""
    return _primary_weights(first, second, [column[:2] for column in columns])


THM_5 = Claim(
    id="decomposition.thm-5",
    kind="statement",
    title="the blanket as a general mixture over outputs",
    text=(
        Clause(
            "decomposition",
            r"Over the outputs as components, $a_y=R(x_1^0)(y)$, $b_y=R(x_1^1)(y)$, $c_y=\inf_xR(x)(y)$, "
            r"$\beta=1-\gamma$ is a decomposition.",
        ),
        Clause(
            "bijection",
            "Algorithm 4, which writes the number of users without blanket into a cell of its own, is a "
            "bijection between the blanket experiment and its reduction pair.",
        ),
    ),
    source="decomposition, Theorem 5 and Algorithm 4",
    assumptions=(
        "finitely many outputs (claim symshuffle.infinitely-many-outputs)",
        "the mass of a histogram of the pair is that of Definition 8 (claim def-8)",
    ),
    scope="both laws at any n and multiset of two outputs, for all rows; nine channels, LDP or not, n <= 3; the map "
    "for any channel of two outputs, n <= 4",
    grade="proved",
    printed=_primary_weights,
    check=_primary,
    controls=(
        Control("infimum over the pair only", _pair_weights),
        Control("no cell for users without blanket", lambda n: lambda h: {(*h, 0): Fraction(1)}, _bijection),
    ),
    expected="holds",
    obligations=for_all("first", "second", "columns", clause=("decomposition", "bijection")),
)


# -- decomposition.thm-6, with Algorithm 5


def _no_better(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """One user of any decomposition, by open shared part, infimum and weights: kept left-overs complete the blanket.

    The stated share makes the user vanish with probability 1 - gamma (identities), and the kept part fits into every
    left-over (signs). Then four channels with five decompositions each, n <= 3: Algorithm 5 maps the pair to the
    blanket's, whose divergence is no larger; in rationals.
    """
    shared, floor, mu, beta, gamma = sp.symbols("s inf mu beta gamma", positive=True)
    common = (floor - shared) / mu
    keep = statement(mu, beta)
    yield identity(shared + beta * keep * common, floor, at="a user's output: the blanket, for any decomposition")
    vanishing = (beta * (1 - keep)).subs(mu, gamma - (1 - beta))
    yield identity(vanishing, 1 - gamma, at="a user vanishes with probability 1 - gamma")
    room, more = sp.symbols("t u", nonnegative=True)
    # A row is the shared part, what else the infimum has (room), and more; Q_x and Q_com are without the shared part.
    left_over = (room + more) / beta - statement(mu, beta) * room / mu
    yield never_negative(sp.cancel(left_over), at="the kept share of Q_com fits into every left-over (equation (4))")
    for channel in [STUDY, *channels(rng, 3, ((3, 3), (3, 2)))]:
        for label, decomposition in _candidates(rng, channel):
            room = [b - s for b, s in zip(channel.blanket(), decomposition.common(), strict=True)]
            yield compare(min(room), Fraction(0), ">=", at=f"equation (4), {label}, {shown(channel)}")
            common_law, kept = common_left_over(decomposition, channel)
            gap: Any = privacy_blanket(channel).gamma - decomposition.gamma
            kept_claimed = statement(gap, decomposition.beta) if gap else Fraction(0)
            yield compare(kept, kept_claimed, at=f"probability to keep a left-over, {label}, {shown(channel)}")
            kernel = clone_to_blanket(decomposition.components, common_law, kept_claimed)
            for n in (1, 2, 3) if channel.num_outputs < 4 else (1, 2):
                laws = decomposition.reduction_pair().histogram_laws(n)
                targets_ = blanket_laws(channel, PAIR, n)
                at = f"{label}, n={n}, {shown(channel)}"
                for law, target in zip(laws, targets_, strict=True):
                    yield same_law(push_forward(law, kernel), target, at=at)
                yield from _ordered(laws, targets_, channel, at)


def _ordered(
    laws: Sequence[HistogramLaw], below: Sequence[HistogramLaw], channel: Channel, at: str
) -> Iterator[Comparison]:
    """At three orders and in both directions: the divergence of the laws below is at most that of the others."""
    for exp_eps in targets(channel.ratio_cap())[:3]:
        for i, j in (PAIR, PAIR[::-1]):
            blanket, clone = (law_divergence(x[i], x[j], exp_eps) for x in (below, laws))
            yield compare(blanket, clone, "<=", at=f"exp(eps)={exp_eps}, {at}")


def _candidates(rng: np.random.Generator, channel: Channel) -> list[tuple[str, Decomposition]]:
    """General clones of a channel: named ones, the blanket, and random ones."""
    return [
        ("standard clone", standard_clone(channel, PAIR)),
        ("four-point clone", stronger_clone(channel, PAIR).four_point(channel)),
        ("the blanket itself (mu = 0)", primary_decomposition(channel, PAIR)),
        ("random decomposition", random_decomposition(rng, channel)),
        ("tight random decomposition", random_decomposition(rng, channel, tight=True)),
    ]


def _one_background(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The order of the bounds, for a decomposition that covers only the inputs that a statement names."""
    channel = STUDY
    covered = channel.restrict(statement(channel.num_inputs))
    floor = covered.blanket()
    decomposition = pointwise(channel.rows[0], channel.rows[1], floor)
    laws = decomposition.reduction_pair().histogram_laws(2)
    yield from _ordered(laws, blanket_laws(channel, PAIR, 2), channel, "decomposition for one background")


THM_6 = Claim(
    id="decomposition.thm-6",
    kind="statement",
    title="the blanket is the best general mixture",
    text=(
        Clause(
            "divergences",
            "For every general-clone decomposition a post-processing turns its reduction pair into that of "
            r"the blanket, so $D(M_S(X^0)\Vert M_S(X^1))\le D(P_0^B\Vert P_1^B)\le D(P_0^{GC}\Vert "
            "P_1^{GC})$.",
        ),
        Clause(
            "algorithm",
            r"It keeps each left-over with probability $\mu/\beta$, $\mu=\gamma-\sum_jc_j$, as a sample of "
            r"$(\gamma\omega-\sum_jc_jQ^j)/\mu$ (Algorithm 5).",
        ),
    ),
    source="decomposition, Theorem 6, equation (4) and Algorithm 5",
    assumptions=("the decomposition covers all inputs of the channel: one made for a single background can do better",),
    scope="one user's kernel for all decompositions, hence every n; Algorithm 5 exact for n <= 3, mu = 0 included",
    grade="proved",
    printed=lambda mu, beta: mu / beta,
    check=_no_better,
    controls=(
        Control("left-overs kept with probability mu", lambda mu, beta: mu),
        Control("a decomposition for one background", lambda inputs: (inputs - 1,), _one_background),
    ),
    expected="holds",
    obligations=for_all("mu", "beta", clause=("divergences", "algorithm")),
)


# -- decomposition.fig-1


Order: TypeAlias = tuple[tuple[str, str], ...]


def _figure() -> tuple[Order, Any]:
    """Which bound is below which; and the weights of the standard clone at a ratio cap: first, second, shared."""
    order = (("truth", "blanket"), ("blanket", "four-point clone"), ("blanket", "standard clone"))
    return order, lambda lam: ((lam / (lam + 1), 1 / (lam + 1)), (1 / (lam + 1), lam / (lam + 1)), (1 / (2 * lam),) * 2)


def _hierarchy(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every LDP channel, output by output; then four mechanisms at lam = 3, n <= 3, four orders, in rationals.

    By Theorems 2 and 6 a bound is smaller the more the others share, and the rows themselves are what is to be hidden.
    The shared parts are in the opposite order. The weights of the standard clone are nonnegative parts of every row.
    """
    order, level = statement()
    yield from serving("channels", _shared_parts(order))
    yield from serving("budgets", _level(level))
    lam = Fraction(3)
    labelled = named_channels(
        ("krr", {"lam": lam, "k": 3}),
        ("subset-selection", {"lam": lam, "k": 4, "s": 2}),
        ("aug-rr", {"lam": lam, "k": 3, "p": "1/2"}),
        ("half-block", {"lam": lam, "k": 4}),
    )
    generic, blankets = standard_clone_pair(lam), set()
    for label, channel in labelled:
        for n in (1, 2, 3):
            for exp_eps in targets(lam):
                heights = {
                    "truth": worst_shuffled_divergence(channel, PAIR, n, exp_eps)[0],
                    "blanket": primary_decomposition(channel, PAIR).reduction_pair().divergence(n, exp_eps),
                    "four-point clone": _four_point(channel).reduction_pair().divergence(n, exp_eps),
                    "standard clone": standard_clone(channel, PAIR).reduction_pair().divergence(n, exp_eps),
                }
                at = f"{label}, n={n}, exp(eps)={exp_eps}"
                for below, above in order:
                    yield compare(heights[below], heights[above], "<=", at=f"{below} below {above}, {at}")
                same = compare(
                    heights["standard clone"], generic.divergence(n, exp_eps), at=f"the clone is level, {at}"
                )
                yield same
                if n == 2 and exp_eps == 1:
                    blankets.add(heights["blanket"])
    yield from serving("blankets", [compare(len(blankets), 2, ">=", at="n=2, exp(eps)=1: blankets of one budget")])


def _shared_parts(order: Order) -> Iterator[Comparison]:
    """At an output: its infimum, a row with more, and clones with less of it, in the stated order turned round."""
    least, more, less, first, second, lam = sp.symbols("inf more less u v lam", positive=True)
    clone = ((lam * least - first) + (lam * least - second)) / (2 * lam)  # of rows at most lam times the infimum
    shares = {"truth": least + more, "blanket": least, "four-point clone": least - less, "standard clone": clone}
    for below, above in order:
        at = f"an output of any channel: {below} shares no less than {above}"
        yield never_negative(sp.cancel(shares[below] - shares[above]), at=at)


def _level(level: Any) -> Iterator[Comparison]:
    """Rows p and q of any ratio up to lam, and a third one: solved for both components, and what is left over."""
    lam = 1 + sp.Symbol("t", positive=True)
    least, up, other_up = sp.symbols("r u v", nonnegative=True)
    first, second, shared = level(lam)
    for name, weights in (("first", first), ("second", second)):
        yield identity(sum(weights), 1, at=f"weights of the {name} row")
    q0, q1 = sp.symbols("q0 q1")
    rows = [sum(w * q for w, q in zip(weights, (q0, q1), strict=True)) for weights in (first, second)]
    p, q = sp.symbols("p q", nonnegative=True)
    ((x0, x1),) = sp.linsolve([rows[0] - p, rows[1] - q], (q0, q1))
    for name, x, low, high in (("first", x0, q, p), ("second", x1, p, q)):
        part = sp.cancel(x.subs(low, lam * high - up))  # a ratio of at most lam
        yield never_negative(part, at=f"{name} component of any two rows")
    kept = sp.cancel(shared[0] * x0 + shared[1] * x1)
    rest = sp.cancel((least - kept).subs({p: lam * least - up, q: lam * least - other_up}))
    yield never_negative(rest, at="any third row: what is left over beside both components")
    nothing = rest.subs({up: 0, other_up: 0})
    yield identity(nothing, 0, at="nothing is left over where both rows are lam times the third one")


def _four_point(channel: Channel) -> Decomposition:
    return stronger_clone(channel, PAIR).four_point(channel)


def _more_shared(lam: Any) -> Any:
    """Weights of the standard clone, but 2 % more in common."""
    first, second, shared = _figure()[1](lam)
    return first, second, tuple(sp.Rational(51, 50) * weight for weight in shared)


FIG_1 = Claim(
    id="decomposition.fig-1",
    kind="statement",
    title="order of the bounds for a given randomizer",
    text=(
        Clause(
            "order",
            r"For each randomizer: truth $\le$ blanket = best general clone $\le$ any other general clone, the "
            "standard clone in particular.",
        ),
        Clause(
            "standard clone",
            r"The standard clone is the same for all $\varepsilon_0$-LDP randomizers, the blanket is not.",
        ),
    ),
    source="decomposition, Figure 1",
    assumptions=("Theorems 2 and 6 (claims decomposition.thm-2, thm-6): a bound is smaller the more the others share",),
    scope="shared parts and the weights of the clone at any output of any LDP channel; four mechanisms at lam = 3, "
    "n <= 3, four values of exp(eps)",
    grade="proved",
    printed=_figure,
    check=_hierarchy,
    controls=(
        Control("the clone below the blanket", lambda: ((("standard clone", "blanket"),), _figure()[1])),
        Control("the blanket is attained", lambda: ((("blanket", "truth"),), _figure()[1])),
        Control("2 % more shared by the clone", lambda: (_figure()[0], _more_shared)),
    ),
    expected="holds",
    obligations=(
        *for_all("channels", clause="order"),
        *for_all("budgets", clause="standard clone"),
        *attained("blankets", clause="standard clone"),
    ),
)

CLAIMS: tuple[Claim, ...] = (THM_5, THM_6, FIG_1)
