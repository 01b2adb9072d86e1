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
# # From a mechanism to its amplification bound
#
# Every user of a shuffled protocol runs the same local randomizer, and a shuffler forgets who sent what. How private is
# the histogram that remains? This notebook walks the whole chain once, for k-ary randomized response:
#
# mechanism → optimal decomposition → law of $G$ → engine → bracket.
#
# Notation: $\lambda = e^{\varepsilon_0}$ is the local budget, $x = e^{\varepsilon}$ the target, $n$ the number of
# users.

# %%
from fractions import Fraction

import matplotlib.pyplot as plt
import sympy as sp
from IPython.display import Math

import symshuffle as ss
from symshuffle.mechanisms import LAM

# %% [markdown]
# ## 1. The mechanism, written once
#
# An output of k-ary randomized response sees one input that *hits* it and $k-1$ that *miss* it. That is the whole
# definition; it holds for every $k$ at once.

# %%
k = sp.Symbol("k", integer=True, positive=True)
total = LAM + k - 1
krr = ss.mechanisms.Mechanism.symmetric("my-krr", k, {"symbol": {"hit": (1, LAM / total), "miss": (k - 1, 1 / total)}})
krr

# %% [markdown]
# ## 2. Its optimal decomposition, derived
#
# The decomposition is computed, not looked up. The output classes are counted, the blanket of an output is its smallest
# probability, and proportional components are merged (decomposition, Theorem 7). The two inputs of the pair are
# mixtures of the same components $Q_j$, with weights $a_j$ and $b_j$. Every other user contributes $Q_j$ with
# probability $c_j$.

# %%
decomposition = ss.optimal_decomposition(krr)
decomposition

# %% [markdown]
# ## 3. The law of $G$
#
# The amplification variable is $G = (A_0 - x A_1)/A_2$ under $A_2$, where $A_0, A_1, A_2$ are the weights above
# (decomposition, Theorem 12). The left-over is the atom 0. All that follows depends on this table only.

# %%
Math(decomposition.gparv_latex())

# %% [markdown]
# The weights sum to one and $E[G] = 1 - x$, identically in $k$ and $\lambda$:

# %%
decomposition.check_sums()

# %% [markdown]
# ## 4. One number, three engines
#
# The bound on delta is $\frac1n E\big[(G_1 + \dots + G_n)_+\big]$. Three engines that cannot import each other compute
# it. `Exact` enumerates in rational arithmetic. `FFT` transforms a tilted law on a lattice; with `step=` it is
# Algorithm 7 of the paper. `Contour` inverts a Laplace transform, at a cost that does not grow with $n$. Each answers
# with a bracket.

# %%
at = krr.at(k=10, lam=3)
target = Fraction(11, 10)
engines = [ss.engines.Exact(), ss.engines.FFT(), ss.engines.Contour(rtol=1e-8)]
for engine in engines:
    print(ss.delta(at, n=100, exp_eps=target, engine=engine, arithmetic=None).bracket)

# %% [markdown]
# They have to agree. An exact rational lies in both other brackets:

# %%
exact, *others = (ss.delta(at, n=100, exp_eps=target, engine=engine, arithmetic=None).bracket for engine in engines)
[bracket.contains(exact.exact) for bracket in others]

# %% [markdown]
# ## 5. A second witness
#
# `confirm` recomputes the number in mpmath, for so few users by sums over the counts of the atoms, at 50 digits. It
# uses the atoms of $G$, as the engines do, but no lattice, no transform and no ball arithmetic.

# %%
law = ss.optimal_decomposition(at).law(target)
witness = ss.engines.recompute(law, 100, digits=50)
print(witness.value)
print(witness.route)
print(f"{float(abs(witness.exactly - exact.exact)):.0e} from the exact value")

# %% [markdown]
# ## 6. The curve
#
# How much the shuffler amplifies: $\delta(\varepsilon)$ at $\varepsilon_0 = 1$, $k = 10$, for three numbers of users.
# The upper ends of the brackets are drawn.

# %%
local = krr.at(k=10, eps0=1)
figure, axes = plt.subplots(figsize=(6, 4))
for users, last in ((100, 60), (1_000, 24), (10_000, 8)):
    levels = [Fraction(last * i, 100 * 8) for i in range(1, 9)]
    deltas = [float(ss.delta(local, n=users, exp_eps=ss.Exp(eps)).bracket.upper) for eps in levels]
    axes.semilogy([float(eps) for eps in levels], deltas, marker=".", label=f"n = {users}")
axes.set(xlabel="eps", ylabel="delta", title="10-ary randomized response, eps0 = 1")
axes.legend()
figure.tight_layout()

# %% [markdown]
# ## 7. What the bound means
#
# The upper end bounds the divergence of every pair of neighbouring datasets. The bound does not say whether a real pair
# comes close. Here is one pair, with a constant background:

# %%
bound = ss.delta(local, n=10_000, exp_eps=ss.Exp(Fraction(1, 50)), attained=True)
print(bound)
print(f"{float(bound.attained.lower):.6g} is attained by {bound.attained.datasets}")
