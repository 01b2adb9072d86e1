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
# # Means of vectors under shuffling
#
# Each of $n$ users holds a vector of the unit ball of $\mathbb R^d$ and sends one randomized message. A shuffler hides
# who sent what. An analyzer estimates the mean without bias. How close does that come to a trusted curator who adds
# Gaussian noise to the true mean? Bounds on $\delta$ are certified at finite $n$, errors are exact.
#
# The data are the handwritten digits that ship with scikit-learn: 1797 images of 64 pixels.

# %%
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from symshuffle import Channel, InputError
from symshuffle.vectors import (
    BlanketMixedGaussian,
    contenders,
    correspondence,
    err1,
    hcr_bound,
    kashin_coefficients,
    minimal_unbiased_risk,
    one_coefficient_error,
    private_mean,
    shuffled_problem,
    worst_background_on_the_line,
)

images = load_digits().data
print(images.shape, "lengths from", round(np.linalg.norm(images, axis=1).min(), 1), "up")

# %% [markdown]
# Nothing is clipped silently: vectors that are too long are refused. So every user scales the own image to length 1,
# explicitly.

# %%
try:
    private_mean(images, eps="1/2", delta="1e-5")
except InputError as refusal:
    print(refusal)

vectors = images / np.linalg.norm(images, axis=1, keepdims=True)

# %% [markdown]
# ## 1. One estimate
#
# The mechanism is calibrated to the target, and every message is simulated. The output compares the error of this run
# with the exact error and with the curator's error. Errors are root mean squares per coordinate.

# %%
asked = {"eps": "1/2", "delta": "1e-5", "adjacency": "zero-out"}
found = private_mean(vectors, **asked, mechanism="privunit", rng=np.random.default_rng(1))
print(found.about)
print("parameters:      ", {name: str(value) for name, value in found.chosen.parameters.items()})
print(f"delta at most:    {float(found.chosen.delta.upper):.6e}")
print(f"measured:         {found.measured:.4f}")
print(f"exact, these data:{found.expected:.4f}   exact, worst case: {float(found):.4f}")
print(f"central Gaussian: {found.central:.4f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(6, 3))
for ax, picture, title in zip(axes, (found.mean, found.estimate), ("mean", "private estimate"), strict=True):
    ax.imshow(picture.reshape(8, 8), cmap="gray_r")
    ax.set_title(title)
    ax.axis("off")

# %% [markdown]
# Runs scatter around the exact error, because the estimator is unbiased and its error is known, not estimated:

# %%
runs = [
    private_mean(vectors, **asked, mechanism=found.chosen.mechanism, rng=np.random.default_rng(seed))
    for seed in range(20)
]
print(f"root mean square of 20 runs: {np.sqrt(np.mean([run.measured**2 for run in runs])):.4f}")
print(f"exact:                       {found.expected:.4f}")

# %% [markdown]
# ## 2. Neighbours
#
# The guarantee above is for removing a record (zero-out). Exchanging it for another costs more, and for the curator
# twice the sensitivity.

# %%
for adjacency in ("zero-out", "replace-one"):
    run = private_mean(vectors, eps=1, delta="1e-5", mechanism="privunit", adjacency=adjacency)
    print(f"{adjacency:12} {float(run):.4f}  central Gaussian {run.central:.4f}")

# %% [markdown]
# ## 3. Which mechanism?
#
# At one lower shuffle index $\chi$ no unbiased estimator is better than $d\chi_{up}^2$. What the mechanisms pay above
# $d\chi^2$:

# %%
for name, error in contenders(100, 64).items():
    print(f"{name:24} {float(error.upper / (64 * 100**2) - 1):8.4%}")

# %%
mixed = BlanketMixedGaussian("0.95", "4.6", dimension=64)
print("error of BMG(0.95, 4.6), d = 64:", err1(mixed), " lower bound:", float(hcr_bound(mixed).lower))

# %% [markdown]
# Frames (Kashin's representation) are a popular method in high dimension: spread the vector over many coefficients of
# about the same size, and send one coefficient as a bit. No dimension is left in the index, but the distortion $K$ of
# the frame is paid as a factor $K^2$ on the error. A linear program finds the least $K$ of an image. Here the frame is
# every other row of a random rotation of 128 dimensions:

# %%
rotation = np.linalg.qr(np.random.default_rng(7).standard_normal((128, 128)))[0]
frame = rotation[::2]  # 64 x 128, its rows orthonormal
distortions = np.array([kashin_coefficients(frame, image)[1] for image in vectors[:60]])
worst = distortions.max()
print(f"K of 60 images: {distortions.min():.3f} to {worst:.3f}")
for chi in (2, 10, 100):
    paid = one_coefficient_error(worst, 64, chi) / (64 * chi**2) - 1
    best, error = next(iter(contenders(chi, 64).items()))
    excess = float(error.upper / (64 * chi**2) - 1)
    print(f"chi = {chi:3}: one coefficient {paid:8.2%} above d chi^2, {best} {excess:8.2%}")

# %% [markdown]
# Does it help that an analyzer sees all messages at once, and may weigh them as it likes? In the worst case it does not
# help. The least error of an unbiased estimator for $n$ users, a cone program over all histograms, is 1/$n$ times the
# least error for one user.

# %%
channel = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
corners = [[1, 0], [0, 1], [-1, -1]]
for n in (1, 2, 3):
    programme = (channel, corners) if n == 1 else shuffled_problem(channel, corners, n)
    least = minimal_unbiased_risk(*programme).bracket.scaled(n)
    print(f"n = {n}: n times the least worst error is {float(least.lower):.4f} to {float(least.upper):.4f}")

# %% [markdown]
# ## 4. The Gaussian limit
#
# Where many users ask for strong privacy, the shuffled profile becomes that of a curator's Gaussian mechanism whose
# $\sigma$ is the index. The limit is approached through the Mills template $g$ far earlier than through its leading
# term $f$:

# %%
rows = correspondence(BlanketMixedGaussian("0.95", "4.6"), (100, 1000, 10_000, 100_000, 1_000_000))
print("      n   bound/f  bound/g  bound/central  real pair/g(upper index)")
for row in rows:
    constants = (row.upper_constant, row.mills_constant, row.to_central, row.lower_constant)
    print(f"{row.n:7}" + "".join(f"  {float(value):.4f}" for value in constants))

# %%
figure, ax = plt.subplots(figsize=(6, 4))
for label, value in (("f", lambda r: r.leading.upper), ("central Gaussian", lambda r: r.central.upper)):
    ax.loglog([row.n for row in rows], [abs(float(value(row) / row.mills.upper) - 1) for row in rows], label=label)
ax.loglog([row.n for row in rows], [float(row.mills_constant) - 1 for row in rows], label="BMG, bound")
ax.set(xlabel="n (users)", ylabel="distance from g, relatively")
legend = ax.legend()

# %% [markdown]
# ## 5. An open conjecture, for two and three users
#
# For Gaussian messages without their own blanket the paper relies on a conjecture: a user at $x$ is least hidden when
# all others hold $-x$. Boxes cover every background of two or three users on the line. No background exceeds the
# conjectured one by more than the tolerance.

# %%
for n, tolerance in ((2, Fraction(1, 100)), (3, Fraction(1, 10))):
    search = worst_background_on_the_line(n=n, sigma0=1, eps="1/5", tolerance=tolerance)
    print(
        f"n = {n}: no background exceeds {float(search.conjectured.lower):.4f} by over {float(tolerance):.0%};", end=" "
    )
    print("boxes:", search.boxes)
weaker = worst_background_on_the_line(n=2, sigma0=1, eps="1/5", others=0)
print("all others at 0 would be wrong: counterexample", [str(x) for x in weaker.counterexample])
