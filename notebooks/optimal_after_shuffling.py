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
# # Optimal after shuffling
#
# For $n$ users, $k$ categories and a central target $(\varepsilon,\delta)$, which local channel gives the most accurate
# histogram? The answer is a bracket: a channel that meets the target, and a proof that no other channel of a class does
# much better. The class is that of exchangeable channels under a cap on likelihood ratios.

# %%
from fractions import Fraction

from symshuffle.design import best_shuffled, shuffled_sizes

F = Fraction

# %% [markdown]
# ## 1. A bracket

# %%
found = best_shuffled(5, n=2000, eps="1/4", delta="1e-6", lam_cap=F(12))
print(f"trace {float(found.trace):.4f}, of no channel above {float(found.upper):.4f}")
print(f"risk  {float(found.risk):.6f}, of no channel below {float(found.least_risk):.6f}")
print(f"ratio {float(found.ratio):.4f}, size {found.size}, {found.bits} bits; {found.about}")

# %% [markdown]
# Two privacy numbers belong to it. The first bounds all pairs of datasets. A real pair attains the second.

# %%
print(f"eps at most {float(found.epsilon):.5f}; a real pair has {float(found.epsilon.attained.lower):.5f}")

# %% [markdown]
# The upper end is a certificate. It divides the channels into cells by the second moment of the amplification variable
# $G$. It holds lines for each cell, and they give a law that is below all others in convex order. Checking it needs no
# search.

# %%
found.bound.verify()
print(found.bound.about)
print(f"{len(found.bound.cells)} cells, {len(found.bound.cells[0])} lines in each")

# %% [markdown]
# A channel with short messages names hyperplanes of a projective space. It has the same certified bound as all subsets
# of their size; categories that nobody holds fill it up.

# %%
blocks = found.blocks
print(f"{blocks.points} categories, subsets of {blocks.size}, {blocks.bits} bits")
print(f"risk {float(blocks.risk(found.n)):.6f}")

# %% [markdown]
# ## 2. A map
#
# The best subset size by users and categories, at $(1/2,10^{-6})$. A star marks a risk above that of always answering
# "uniform".

# %%
people = [10, 20, 50, 100, 200, 500, 1000]
sizes = shuffled_sizes([5, 20, 50, 100, 200], people, eps="1/2", delta="1e-6")
print("     k" + "".join(f"{n:>7}" for n in people))
for k in (5, 20, 50, 100, 200):
    marks = [f"{sizes[k, n][0]}{'*' if sizes[k, n][1] > 1 - F(1, k) else ''}" for n in people]
    print(f"{k:>6}" + "".join(f"{mark:>7}" for mark in marks))

# %% [markdown]
# Large subsets are best where users are few, and there the histogram is worth nothing. A gain that looks large may be
# one of these.
#
# ## 3. Few users
#
# With three users the search mixes $k$-ary response with a null output. The trace grows, but the answer stays useless.

# %%
few = best_shuffled(5, n=3, eps="1/2", delta="1/20")
for orbit in few.orbits:
    print(f"weight {float(orbit.weight):.3f}: {[(count, round(float(value), 3)) for count, value in orbit.levels]}")
print(f"risk {float(few.risk):.3f}, useful: {few.useful}")
