"""Section 3.3, equation (1): the generic bound that the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    STUDY,
    channels,
    named_channels,
    targets,
)
from proofs_checks.decomposition._clones import generic_pair, unsound_stronger_clone_pair
from proofs_checks.decomposition._generic import dominance_steps, stop_loss
from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.decompositions.model import primary_decomposition
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    serving,
)
from symshuffle.mechanisms.symbolic import LAM


def _generic(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Rows, blanket, budget, level and order open: the steps of convex order in ``_generic``, by signs of coefficients.

    Only the stated clone probability enters. Then 17 channels in rationals: E(G-t)_+ of the blanket is at most that of
    the stated pair, and this at most the standard clone's, at every atom t; for n = 2 and 3 the blanket's divergence
    and the largest one over all backgrounds are at most the pair's. For binary response pair and blanket are equal.
    """
    yield from serving("channels", dominance_steps(statement(LAM)[1]))
    labelled = named_channels(
        ("rr", {"lam": 3}),
        ("krr", {"lam": 3, "k": 4}),
        ("subset-selection", {"lam": 3, "k": 3, "s": 2}),
        ("half-block", {"lam": 3, "k": 4}),
    )
    labelled += [("study channel", STUDY)]
    labelled += [(f"random channel {i}", w) for i, w in enumerate(channels(rng, 12, ((2, 3), (3, 4), (4, 3))))]
    for label, channel in labelled:
        lam: Any = channel.ratio_cap()
        pair = unsound_stronger_clone_pair(*statement(lam))
        yield compare(generic_pair(lam), pair, at=f"the library's pair, lam={lam}")
        clone = standard_clone_pair(lam)
        if label.startswith("rr"):
            blanket = primary_decomposition(channel, PAIR).reduction_pair()
            yield compare(pair, blanket, at=f"attained by the blanket of {label}")
        for exp_eps in targets(lam)[:3]:
            generic, standard = pair.gparv(exp_eps), clone.gparv(exp_eps)
            for direction, inputs in DIRECTIONS:
                law = primary_decomposition(channel, PAIR).reduction_pair().gparv(exp_eps, direction=direction)
                at = f"{label}, exp(eps)={exp_eps}, {direction}"
                levels: set[Any] = {*law.values, *generic.values, *standard.values}
                for level in sorted(levels):
                    below, between, above = (stop_loss(g, level) for g in (law, generic, standard))
                    yield compare(below, between, "<=", at=f"E(G-t)_+ at t={level}, {at}")
                    yield compare(between, above, "<=", at=f"standard clone, E(G-t)_+ at t={level}, {at}")
                for n in (2, 3):
                    bound = Exact().bracket(generic, n).exact
                    yield compare(Exact().bracket(law, n).exact, bound, "<=", at=f"blanket, n={n}, {at}")
                    truth, background = worst_shuffled_divergence(channel, inputs, n, exp_eps)
                    yield compare(truth, bound, "<=", at=f"truth, n={n}, background {background}, {at}")


def _at_its_best(lam: Any) -> tuple[Any, Any]:
    """Ratio cap and clone probability of the pair P(eps0, p*)."""
    return lam, 1 / (lam + 1)


GENERIC_BOUND = Claim(
    id="symshuffle.generic-bound",
    kind="statement",
    title="binary randomized response has the largest blanket bound of its budget",
    text=(
        Clause(
            "bound",
            r"For every $\varepsilon_0$-LDP randomizer, every $n$ and $\varepsilon\ge0$: "
            r"$D_{e^\varepsilon}(M_S(X^0)\Vert M_S(X^1))\le D_{e^\varepsilon}(P_0^B\Vert P_1^B)\le "
            r"D_{e^\varepsilon}(P_0(\varepsilon_0,p^*)\Vert P_1(\varepsilon_0,p^*))$ with "
            r"$p^*=\frac1{e^{\varepsilon_0}+1}$, the stronger-clone pair of equation (1).",
        ),
        Clause("pair", "The last pair is the blanket of binary randomized response."),
        Clause(
            "order",
            "Its variable $G$ dominates every other in convex order, and is dominated by that of the standard clone.",
        ),
    ),
    source="symshuffle; settles decomposition, equation (1) and the end of Section 3.3",
    assumptions=(
        "eps0 > 0",
        "eps <= eps0 (beyond it all bounds are 0)",
        "the blanket bounds the shuffled divergence, by the sum of Theorem 12 (Theorems 2 and 12)",
        "convex order survives independent sums (anchored, Lemma 4.8)",
    ),
    scope="stop-loss transforms for all rows, blankets, budgets and levels, and for the clone; 17 channels, n <= 3",
    grade="proved",
    printed=_at_its_best,
    check=_generic,
    controls=(
        Control(
            "clone probability less 1 %",
            lambda lam: (lam, Fraction(99, 100) / (lam + 1)),
        ),
        Control("excess of the ratio cap less 1 %", lambda lam: _at_its_best(1 + (lam - 1) * Fraction(99, 100))),
    ),
    expected="holds",
    obligations=(
        *for_all("channels", clause=("bound", "order")),
        *for_all("lam", clause=("bound", "pair", "order")),
    ),
)

CLAIMS: tuple[Claim, ...] = (GENERIC_BOUND,)
