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
# # A private survey, from plan to histogram
#
# 20,000 users answer one question with eight possible answers. Only the user may see the answer. The published
# histogram is (1, 1e-8)-differentially private. This notebook chooses the mechanism, sends the messages, and reads the
# histogram with intervals that are guaranteed to cover.

# %%
from IPython.display import Image

from symshuffle import epsilon, randomizer
from symshuffle.collect import drawn, plan_survey, read_plan, simulate

ANSWERS = ("bus", "train", "tram", "bicycle", "car", "on foot", "ferry", "none")
plan = plan_survey(8, n=20_000, min_batch_size=18_000, eps=1, delta="1e-8", labels=ANSWERS)
for row in plan.table:
    print(f"{row['mechanism']:18}{row['parameters'] or ''!s:12}{row['l2']:>11}  expected sum of squared errors")

# %% [markdown]
# ## The plan
#
# The best mechanism runs with a *rational* ratio: the largest ratio that the guarantee allows, rounded down by at most
# one millionth. The guarantee is certified at exactly this ratio, and for 18,000 honest users: fewer messages than that
# are refused later. The plan is a file. Every other file of the survey carries its digest.

# %%
print(plan.name, plan.root, plan.bound.bracket.arithmetic)
print("eps at most", float(plan.certified_eps))
again = epsilon(
    randomizer(plan.name).at(k=8, lam=plan.root, **plan.parameters), n=20_000, min_batch_size=18_000, delta="1e-8"
)
print("asked again:", float(again.bracket.upper) < 1 + 1e-6)
print("read back:", read_plan(plan.to_toml()) == plan)

# %% [markdown]
# ## The client
#
# One value becomes one message. The sampler draws integers from the operating system's randomness and compares them
# with integers. It uses no floating-point numbers. It does not shuffle, and says who must.

# %%
client = plan.client()
print(client("tram") in {str(j) for j in range(8)})
print(client.about)

# %% [markdown]
# ## The histogram
#
# Here all three steps run on a known population, with a seed, so that the estimate can be compared with the truth. Each
# interval covers its category with probability at least 95 %, whatever the population is; the band covers all eight at
# once. Both are exact inversions of the law of a sum of two binomial counts, not normal approximations. The column
# `projected_not_covered` is the nearest histogram without negative entries: the intervals do not cover it.

# %%
found = simulate(plan, seed=2026)
print(found.to_csv())
print("all covered:", all(row.band_low <= m <= row.band_high for row, m in zip(found.rows, found.truth, strict=True)))

# %%
Image(drawn(found, ".png"))

# %% [markdown]
# ## From the shell
#
# The same in three commands, on files:
#
#     symshuffle collect plan --labels answers.txt --n 20000 --min-batch-size 18000 --eps 1 --delta 1e-8 --out plan.toml
#     symshuffle collect randomize plan.toml --values users.csv --column answer --id user --out messages.csv
#     symshuffle collect estimate plan.toml messages.csv --out histogram.csv --plot histogram.png
#
# The messages are written sorted (or, with `--order random`, in a uniformly random order), without index or time, and
# never in the order of the input. The guarantee does not cover users who do not follow the protocol, times at which
# messages arrive, messages that can be linked to users or to each other, and a second message of the same user.
