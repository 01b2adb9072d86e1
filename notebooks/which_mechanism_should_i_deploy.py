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
# # Which mechanism should I deploy for n users at (eps, delta)?
#
# 200,000 users a day, 50 categories, a local budget of 2, delta at most 1e-8. Every number below is the safe end of a
# certified bracket, rounded to the safe side.

# %%
from fractions import Fraction

import matplotlib.pyplot as plt

from symshuffle import compare, epsilon, largest_eps0, privacy_loss_distribution, randomizer
from symshuffle.accountants import amplification_curve
from symshuffle.base import format_decimal

USERS, DELTA, TARGET = 200_000, "1e-8", "0.02"


def krr(eps0):
    return randomizer("krr", k=50, eps0=eps0)


def above(value):
    return format_decimal(value, digits=5, up=True)


def below(value):
    return format_decimal(value, digits=5, up=False)


# %% [markdown]
# ## 1. Which eps?
#
# `upper` covers all neighbouring datasets. Two real datasets certainly have `attained`. A better theorem could lower
# the bound to the attained value, and no further.

# %%
day = epsilon(krr(2), n=USERS, delta=DELTA, attained=True)
print(f"eps at most {above(day.bracket.upper)}, of real datasets at least {below(day.attained.lower)}")

# %% [markdown]
# The same for other numbers of users, as a picture:

# %%
curve = amplification_curve(krr(2), delta=DELTA, users=[1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.loglog([float(point.x) for point in curve.points], [float(point.y.upper) for point in curve.points], marker=".")
axes.axvline(USERS, color="0.6", linestyle=":")
axes.set(xlabel="users", ylabel="eps, at delta = 1e-8")
plt.show()

# %% [markdown]
# ## 2. Which eps0, for a target?
#
# The lower end of the bracket is the safe one.

# %%
largest = largest_eps0(krr, n=USERS, eps=TARGET, delta=DELTA, rtol=1e-4)
print(f"eps0 = {below(largest.bracket.lower)} meets ({TARGET}, {DELTA})")

# %% [markdown]
# ## 3. Which mechanism?
#
# At the same certified target the question is whose estimates of the frequencies are best. Mechanisms are matched by
# what they certify after shuffling, not by their local budgets, which differ.

# %%
table = compare(50, n=USERS, eps=TARGET, delta=DELTA, mechanisms=("krr", "oue"))
for row in table.rows:
    level, error = below(row.eps0.lower), above(row.risk.upper)
    print(f"{row.name:5} eps0 {level}  squared error {error}  {row.bits} bits a message")

# %% [markdown]
# ## 4. Over 30 days?
#
# Fresh randomness and unlinkable messages every day: the profiles of the days compose, and eps grows like the square
# root of their number. Basic composition of (eps, delta) points is far above. Answers that are kept and sent again, or
# a number of days that depends on what was seen, are not covered.

# %%
month = epsilon(krr(2), n=USERS, periods=30, delta=DELTA)
growth = float(month.bracket.upper / day.bracket.upper)
print(f"30 days: eps at most {above(month.bracket.upper)}, about {growth:.1f} times that of one")
for name, value in month.simpler:
    print(f"{name} composition: {above(value)}")

# %% [markdown]
# ## 5. With dropout?
#
# A number of users that is certain to send needs no model of who stays away, as long as it does not depend on the
# values. Independent coins are a stronger assumption, and cost less.

# %%
for words, who in (
    ("150,000 certainly send", {"min_batch_size": 150_000}),
    ("each other one with 9/10", {"dropout": "1/10"}),
):
    found = epsilon(krr(2), n=USERS, delta=DELTA, rtol=1e-3, **who)
    print(f"{words}: eps at most {above(found.bracket.upper)}")

# %% [markdown]
# ## For other accountants
#
# The privacy-loss distribution of a day, above that of every pair of datasets: `loss.save(file)` keeps it,
# `loss.to_dp_accounting()` composes it with other mechanisms. Its safety is proved; that of a composition in doubles at
# delta of 1e-14 and below is not, and there it fails (docs/deployment.md).

# %%
loss = privacy_loss_distribution(krr(2), n=USERS)
print(f"{len(loss.law.masses)} losses; delta at eps = 0.01 is at most {above(Fraction(loss.deltas()[100]))}")
