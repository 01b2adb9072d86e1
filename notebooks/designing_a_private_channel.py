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
# # Designing a private channel
#
# An analyst wants to make a decision about a population. Every user publishes one output of an $\varepsilon_0$-LDP
# channel. Which channel is best, how do we know, and how does the answer depend on the budget $\lambda =
# e^{\varepsilon_0}$? Five steps: a problem file, a certified optimum, its symmetries, its formula, and an objective of
# one's own.

# %%
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp
from IPython.display import Math

from symshuffle import Channel, Exp, optimal
from symshuffle.channels import MaximalPolytope, blackwell, dominating_extremal
from symshuffle.design import (
    ExtremalChannel,
    cardioid_program,
    derive,
    detect_symmetry,
    maximise,
    read_problem,
    weighted_guessing_breakpoints,
    weighted_guessing_problem,
    weighted_guessing_risk,
)
from symshuffle.mechanisms import LAM

PROBLEMS = next(
    root / "examples" / "problems"
    for root in (Path.cwd(), *Path.cwd().parents)
    if (root / "examples" / "problems").is_dir()
)
lam = Fraction(3)

# %% [markdown]
# ## 1. The channels worth considering
#
# Every LDP channel is a post-processing of an *extremal* one, whose columns take two values at ratio $\lambda$
# (ldp_tradeoff, Theorem 3.10). Those channels are the points of a polytope; for three inputs it has five vertices.

# %%
polytope = MaximalPolytope(3, lam)
for vertex in polytope.vertices():
    print({f"{subset:03b}": str(weight) for subset, weight in vertex.items()})

# %% [markdown]
# Take any LDP channel: here is a maximal one above it, and the kernel that leads back, exactly.

# %%
timid = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
weights, kernel = dominating_extremal(timid, lam)
above = polytope.channel(weights)
assert above.push_forward(kernel) == timid
print(f"{above.num_outputs} outputs above; does the given channel dominate back?", blackwell(timid, above).dominates)

# %% [markdown]
# Different maximal channels are incomparable: neither is a post-processing of the other, and each is better for some
# problem. The certificate is a decision problem.

# %%
singles, pairs = ({y: Fraction(1, 5) for y in (1, 2, 4)}, {y: Fraction(1, 7) for y in (3, 5, 6)})
verdict = blackwell(polytope.channel(singles), polytope.channel(pairs))
print("subset selection of size 1 dominates size 2:", verdict.dominates)
print(
    "a decision problem on which size 2 is better, by",
    verdict.margin(polytope.channel(singles), polytope.channel(pairs)),
)

# %% [markdown]
# ## 2. A problem, and its certified optimum
#
# A rating on five ordered steps, to be estimated at absolute loss. The optimum comes with vectors that a reader
# can check in rational arithmetic: a channel that attains it, and a linear bound that holds for *every* LDP
# channel.

# %%
rating = read_problem(PROBLEMS / "rating_on_five_steps.json").problem()
design = optimal(rating, lam=lam)
print("optimal risk:", design.value)
print("checked again:", design.certificates[0].prove(rating).exact)
design.channel()

# %% [markdown]
# In the worst case over ratings, at $\varepsilon_0 = 1$: two certificates at rational levels around $e$ bracket
# the value. The prior of the lower bound is a least favourable one.

# %%
worst = optimal(rating, lam=Exp(Fraction(1)), criterion="minimax")
print(worst.value)
print("least favourable prior:", [round(float(p), 4) for p in worst.least_favourable_prior])

# %% [markdown]
# ## 3. Symmetry
#
# A direction on a ring: the symmetries are found, and the program shrinks from 62 weights to one per orbit.

# %%
ring = read_problem(PROBLEMS / "direction_on_a_ring.json").problem()
group = detect_symmetry(ring)
reduced = optimal(ring, lam=lam, group=group)
print(f"group of order {group.order()}, {group.subset_orbit_count()} orbits, optimum {reduced.value.exact}")
assert reduced.value.exact == optimal(ring, lam=lam).value.exact

# %% [markdown]
# ## 4. The optimum as a formula
#
# The optimal basis at one level gives weights and value as functions of $\lambda$. The basis stays optimal until one of
# finitely many polynomials changes its sign. Their roots are isolated exactly, so every end point below is a theorem.

# %%
formula = derive(rating)
Math(sp.latex(formula.expression()))

# %%
for piece in formula.pieces:
    kinds = len(piece.bases[0].weights)
    print(f"[{piece.lower}, {piece.upper}]: {kinds} kinds of outputs, {piece.conditions} signs decided")

# %% [markdown]
# The discrete cardioid of the paper (Appendix C.2) has data in a number field. The program finds its closed form.

# %%
Math(sp.latex(derive(cardioid_program(5, Fraction(1))).expression()))

# %% [markdown]
# A formula that the paper does not have: guessing under *any* prior. Randomized response between the $j$
# likeliest values is optimal, and $j$ grows with the budget.

# %%
prior = [Fraction(4, 10), Fraction(3, 10), Fraction(2, 10), Fraction(1, 10)]
print("breakpoints:", *weighted_guessing_breakpoints(prior))
for level in (Fraction(6, 5), Fraction(2), Fraction(4), Fraction(9)):
    risk, size = weighted_guessing_risk(prior, level)
    certified = optimal(weighted_guessing_problem(prior), lam=level).value.exact
    print(f"lam = {level}: risk {risk}, size {size}, certified: {certified == risk}")

# %% [markdown]
# ## 5. Information, and an objective of one's own
#
# Measures that add up over outputs are maximised in the same way.

# %%
survey = read_problem(PROBLEMS / "survey_information.json").measure()
print("mutual information at eps0 = 1:", maximise(survey, Exp(Fraction(1))).value)

# %% [markdown]
# Any linear objective or constraint on the weights of the extremal columns can be written in cvxpy. The answer comes
# with a certificate. Here: guess one of four values well, but publish the output $\{0\}$ with probability at most 1/10
# when the value is 0. Coefficients that are short multiples of $\lambda$ or short ratios are read as such, so that the
# optimum is that of the rational model; `posed` encloses the effect of all others. The multipliers have the signs of
# cvxpy: the optimum grows by that of the limit for each unit of the limit.

# %%
family = ExtremalChannel(4, lam=lam)
w = family.variable()
gain = (family.staircase.max(axis=1) / 4) @ w
limit = 3 * w[0] <= 0.1
answer = family.certified(cp.Problem(cp.Maximize(gain), [*family.constraints(w), limit]))
print("certified optimum:", answer.value)
print("multiplier of the limit:", answer.duals[1], "in doubles:", limit.dual_value)

# %%
levels = np.linspace(1.02, 12, 200)
fig, ax = plt.subplots()
ax.plot(levels, [float(formula.at(sp.Float(v)).value.subs(LAM, v)) for v in levels])
for point in formula.breakpoints:
    ax.axvline(float(point), color="0.8")
_ = ax.set(xlabel=r"$\lambda = e^{\varepsilon_0}$", ylabel="optimal absolute error, five steps")
