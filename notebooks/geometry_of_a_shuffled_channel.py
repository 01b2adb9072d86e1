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
# # The geometry of a shuffled channel
#
# A channel with $k$ inputs is one probability measure: the law of its likelihood-ratio *template*
# $u(y)=W_\cdot(y)/\bar W(y)$ on the simplex $\{u\ge0,\ \sum_iu_i=k\}$, of mean $(1,\dots,1)$. Privacy and accuracy of
# the shuffled experiment are functionals of this law. The notebook follows it from a channel to the best channel, in
# exact arithmetic throughout.

# %%
from fractions import Fraction

import matplotlib.pyplot as plt
import sympy as sp
from IPython.display import Math

from proofs_checks.anchored import figures
from symshuffle import Channel, Exp, Unsupported
from symshuffle.base import choices
from symshuffle.channels import shuffled_divergence
from symshuffle.mechanisms import krr, rr
from symshuffle.utility import (
    AnchoredLaw,
    Contamination,
    bayes_risk,
    best_shrinkage_risk,
    binary_envelope,
    budget_equation,
    canonical_risk,
    certify_envelope,
    completions,
    decompose,
    enumerated_risk,
    fiber,
    law_from_fiber,
    minimax_sandwich,
    optimal_subset_sizes,
    ratio_law,
    raw_cap_trace,
    rigidity_gap,
    shuffled_leakage,
    slope_constant,
    subset_trace,
    symmetrize,
    threshold_budget,
    tie_ratio,
    trace_frontier,
    transport,
    worst_canonical_risk,
)

F = Fraction

# %% [markdown]
# ## 1. A channel is a law
#
# Splitting an output at random does not change the law. Merging outputs with different likelihood ratios does.

# %%
channel = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])
law = AnchoredLaw.from_channel(channel)
law

# %%
split = Channel(tuple((row[0] / 3, 2 * row[0] / 3, row[1], row[2]) for row in channel.rows))
print("same law after a split:", AnchoredLaw.from_channel(split) == law)
print("law, channel, law:     ", AnchoredLaw.from_channel(law.to_channel()) == law)
print("trace of covariance:   ", law.trace())
print("pairwise budget:       ", law.pairwise_budget())

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
figures.draw_triangle(left)
figures.draw_ranges(right)

# %% [markdown]
# ## 2. Fibers: the law seen from a population
#
# From a composition $w$ a template becomes the vector of ratios $u/(w\cdot u)$. An interior fiber determines the whole
# law, and every other fiber. A boundary fiber may miss a part of the law; its field `lost` holds the missing mass.

# %%
seen = fiber(law, (F(1, 2), F(1, 4), F(1, 4)))
print("recovered:", law_from_fiber(seen) == law)
print("moved:    ", transport(seen, (F(1), F(0), F(0))) == fiber(law, (F(1), F(0), F(0))))

zero = AnchoredLaw.from_channel(Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/3", "1/6", "1/2"]]))
edge = fiber(zero, (F(1), F(0), F(0)))
least, most = completions(edge)
print("lost mass:", edge.lost, " trace of the laws with this fiber: from", least.trace(), "to", most.trace())

# %% [markdown]
# ## 3. Privacy: one scalar law, one envelope
#
# One user holds $i$, all others $j$. The divergence depends on the law of $W_i/W_j$ alone, and binary randomized
# response of the same cap bounds it. The certificate is a post-processing of randomized response that reproduces both
# rows.

# %%
ratio, cap = ratio_law(channel, 0, 2), F(18, 5)
for n in (1, 2, 3, 10):
    value = shuffled_leakage(ratio, Contamination(n), gamma=1).bracket.exact
    bound = binary_envelope(Contamination(n), lam=cap, gamma=F(1)).bracket.exact
    print(f"n = {n:2}: {float(value):.6f} <= {float(bound):.6f}")
print(certify_envelope(channel, 0, 2, lam=cap))
print("distance from the envelope:", rigidity_gap(ratio, Contamination(3), lam=cap)[0])
print(binary_envelope(Contamination(10**6), lam=Exp(F(1)), gamma=F(1001, 1000)))

# %% [markdown]
# **Which datasets?** Only these. With a mixed population binary randomized response exceeds its own envelope. For such
# a population the library refuses to return the envelope.

# %%
mixed = shuffled_divergence(rr().at(lam=2).channel(), (0, 0, 1), (1, 0, 1), 1)
print(mixed / binary_envelope(Contamination(3), lam=F(2), gamma=F(1)).bracket.exact, "of the envelope")
try:
    Contamination.of((0, 0, 1), (1, 0, 1))
except Unsupported as refusal:
    print(refusal)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
figures.draw_envelope(left)
figures.draw_profile(right)

# %% [markdown]
# ## 4. Estimation: exact risks
#
# The canonical estimator is linear and unbiased. Its risk is a closed form for every $n$; enumeration of all
# histograms agrees.

# %%
w = (F(1, 2), F(1, 4), F(1, 4))
for population in choices.members(choices.Population):
    closed, brute = (
        canonical_risk(law, w, n=4, population=population),
        enumerated_risk(channel, w, n=4, population=population),
    )
    print(population, closed, brute[0])
print("worst i.i.d. composition:", *worst_canonical_risk(law, n=1, population="iid")[1])
even = symmetrize(law)
print("budget", law.pairwise_budget(), "->", even.pairwise_budget(), "  trace", law.trace(), "->", even.trace())
print("extreme laws in the symmetrised channel:", len(decompose(even)))

# %% [markdown]
# ## 5. The best channel under a budget
#
# The definition of subset selection gives signal and budget of the two-level templates. They give the largest trace per
# budget, $\kappa_k$, and the budget up to which it is attained.

# %%
formulas = [sp.latex(formula) for formula in (slope_constant(), threshold_budget(), budget_equation())]
Math(r"\kappa_k={},\qquad B_*={},\qquad {}=0".format(*formulas))

# %% [markdown]
# Above the threshold plain $k$-ary response is optimal, at the ratio that solves the cubic: the closed form that the
# paper leaves open. Numbers come as rational brackets, with a law that attains the lower end and a line above all
# templates that proves the upper end.

# %%
for budget in (F(1, 4), F(1, 2), F(10)):
    found = trace_frontier(10, budget)
    found.verify()
    print(f"C = {budget}: {found.trace}, verified")

# %% [markdown]
# With a local cap besides, two subset sizes mix:

# %%
joint = trace_frontier(10, F(1, 2), lam_cap=F(3))
print(joint.trace.exact, [(str(orbit.weight), [count for count, _ in orbit.levels]) for orbit in joint.orbits])

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
figures.draw_frontier(left)
figures.draw_sandwich(right)

# %% [markdown]
# ## 6. The best channel under a local cap
#
# Subset selection: the best size is where one polynomial changes its sign, and ties are exact.

# %%
Math(rf"T_k(s)={sp.latex(subset_trace())},\qquad \lambda_s={sp.latex(tie_ratio())}")

# %%
print("k = 10, lam = 6:", optimal_subset_sizes(10, F(6)), "trace", raw_cap_trace(10, F(6)))
print("k = 10^6, eps0 = 1:", optimal_subset_sizes(10**6, Exp(F(1))), "trace", raw_cap_trace(10**6, Exp(F(1))))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
figures.draw_phases(left)
figures.draw_gap(right)

# %% [markdown]
# ## 7. Against every estimator
#
# The van Trees bound holds for all estimators and all channels of the same trace. At finite $n$ the canonical value is
# not the minimax value, because shrinking towards the uniform composition always lowers the risk. In the limit the two
# values agree. For few users the exact Bayes risk of a prior on the corners is the better lower bound.

# %%
trace = trace_frontier(5, F(1, 8)).trace.exact
for n in (10, 10**3, 10**5, 10**7):
    found = minimax_sandwich(5, trace, n)
    ends = [float(b.midpoint) for b in (found.lower, found.upper, found.canonical)]
    print("n = {:.0e}: {:.3e} <= minimax <= {:.3e} <= canonical {:.3e}".format(n, *ends))

# %%
response = krr().at(k=3, lam=4).channel()
corners = [tuple(F(int(i == j)) for j in range(3)) for i in range(3)]
prior = [(corner, F(3, 10)) for corner in corners] + [((F(1, 3),) * 3, F(1, 10))]
for n in (1, 2, 4):
    low = bayes_risk(response, prior, n=n)
    high = best_shrinkage_risk(3, AnchoredLaw.from_channel(response).trace(), n)
    print(f"3-ary response, lam = 4, n = {n}: {float(low):.4f} <= minimax <= {float(high):.4f}")
