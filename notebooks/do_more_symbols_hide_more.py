# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Do more symbols hide more?
#
# A shuffler hides a message among messages that look like it. With $k$ possible inputs and a fixed local ratio cap
# $\lambda$, does a larger alphabet help? It depends on what the symbols do: the answer has two poles.

# %%
from fractions import Fraction

import sympy as sp
from IPython.display import Image, Math

from symshuffle import compare, delta, randomizer
from symshuffle.design import drawn
from symshuffle.mechanisms import LAM, K
from symshuffle.utility import (
    GRR,
    HALF_BLOCK,
    largest_chi_square,
    optimal_equivariant_risk,
    thinning_gain,
    threshold_budget,
    trace_frontier,
)

F = Fraction

# %% [markdown]
# ## 1. Two poles
#
# The budget is the chi-square divergence of two rows. In $k$-ary randomized response it falls as the alphabet grows:
# the family *dilutes*. At every even $k$, the half-block channel on a cycle has the largest value of all channels under
# the cap. The value *persists* as the number of symbols grows.

# %%
poles = [sp.latex(sp.factor(found)) for found in (GRR.chi_square, HALF_BLOCK.chi_square, largest_chi_square(LAM))]
Math(r"\chi_{{\rm GRR}}={},\qquad \chi_{{\rm HB}}={}={}".format(*poles))

# %%
for family in (GRR.at(lam=3), HALF_BLOCK.at(lam=3)):
    print(f"{family.name:10} {family.kind:10} limit of chi-square {family.limit_chi_square}")

# %% [markdown]
# ## 2. A dilution sweep to a million symbols
#
# The same local cap, the same thousand users. The bound on delta of $k$-ary response falls with $k$; that of half-block
# does not move. Any rate between these two extremes is possible: run half-block with a probability that falls with $k$,
# and otherwise send a null symbol.

# %%
slowly = HALF_BLOCK.at(lam=3).diluted(1 / sp.sqrt(K))
for k in (2, 10**2, 10**4, 10**6):
    response, block = GRR.at(lam=3).size(k).chi_square, HALF_BLOCK.at(lam=3).size(k).chi_square
    between = slowly.size(k, bits=64).chi_square
    certified = delta(randomizer("krr", k=k, lam=3), n=1000, exp_eps="11/10")
    print(
        f"k = {k:7}: chi-square {float(response):.2e} (response) {float(between):.2e} (slowly) {float(block):.2e} "
        f"(block); delta of response at exp(eps) = 1.1: {float(certified):.2e}"
    )

# %% [markdown]
# More symbols hide more only if most of them say little about any two inputs. Hiding little does not make a channel
# useful: half-block hides no more on a larger alphabet, and it does not even tell compositions apart.
#
# ## 3. The frontier
#
# What is the most accurate channel at a given chi-square budget? Up to a threshold it is $k$-ary response at one ratio,
# run with some probability. Beyond the threshold it is plain $k$-ary response. Each point comes with a law that attains
# it and a line above all templates that proves it.

# %%
Math(rf"B_*={sp.latex(threshold_budget())}")

# %%
for budget in (F(1, 10), F(2, 5), F(1)):
    best, found = optimal_equivariant_risk(10, budget, n=1000, population="fixed")
    found.verify()
    assert trace_frontier(10, budget).trace == found.trace
    orbits = ", ".join(f"{float(orbit.weight):.4f}" for orbit in found.orbits)
    print(
        f"B = {budget!s:5}: smallest risk {float(best.upper):.6f}, weights of orbits {orbits}; "
        f"plain response pays {float(thinning_gain(10, budget).upper):.4f} times that"
    )

# %% [markdown]
# ## 4. Local and central budgets
#
# The chi-square budget compares two rows. A deployment promises $(\varepsilon,\delta)$ after shuffling, whatever the
# other users hold. `compare` puts every mechanism at its best parameters under one match. First the local budget:

# %%
CHOSEN = ["krr", "aug-rr", "subset-selection", "oue", "olh", "half-block"]


def shown(found):
    for row in found.rows:
        risk = "infinite" if row.risk is None else f"{float(row.risk.upper):.5f}"
        values = ", ".join(f"{name} = {float(value):.4g}" for name, value in row.parameters)
        print(
            f"{row.name:17} {values:12} risk {risk:9} "
            f"eps0 {float(row.eps0.upper):.3f} eps {float(row.epsilon.upper):.4f}"
        )


local = compare(20, n=1000, budget="1/10", delta="1e-6", mechanisms=CHOSEN)
shown(local)

# %% [markdown]
# `aug-rr` with its null symbol is the most accurate, as the theorem says, and less private after shuffling than `krr`.
# The chi-square budget assumes that the other users hold one of the two compared inputs. They hide the messages that
# point at that input, the better the higher the ratio: it pays to run a high ratio, and a null symbol most of the time.
# Users who hold a third input hide neither, and $(\varepsilon,\delta)$ has to hold against them as well.
#
# The central budget turns the order around: no null symbol pays.

# %%
central = compare(20, n=1000, eps="1/20", delta="1e-6", mechanisms=CHOSEN)
shown(central)

# %% [markdown]
# The local level tells a third story. There large subsets are best, because the ratio is capped and only the size is
# free. Under a central target the ratio is free, and small subsets at a higher ratio are better.

# %%
capped = compare(20, n=1000, eps0=1, delta="1e-6", mechanisms=CHOSEN)
shown(capped)

# %%
Image(drawn(local, ".png"))

# %% [markdown]
# All of this is about the certified bound. Real pairs may be less exposed than the bound. The value that a real pair
# attains limits the difference. For `krr` and `aug-rr` the attained value is close to the bound, so that their order
# holds for real datasets. For `oue` the two values are not close.

# %%
for name in ("krr", "aug-rr", "oue"):
    row = local.row(name)
    print(f"{name:7} certified {float(row.epsilon.upper):.5f}, attained {float(row.attained.lower):.5f}")
