"""All three steps on a known population, with a seed: errors beside the truth. Nothing here is private."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer
from symshuffle.collect.estimate import Histogram
from symshuffle.collect.messages import chunk
from symshuffle.collect.plan import Plan
from symshuffle.collect.randomness import Integers, uniform


def falling(plan: Plan) -> Integers:
    """Population of n users in which category j has a share in proportion to 1/(j + 1), in the order of categories."""
    shares = 1 / np.arange(1, plan.k + 1)
    ends = np.rint(plan.n * np.cumsum(shares) / shares.sum()).astype(np.int64)
    return np.repeat(np.arange(plan.k), np.diff(ends, prepend=0))


def simulate(plan: Plan, *, seed: object, values: Integers | None = None, confidence: object = "0.95") -> Histogram:
    """Histogram of simulated messages, with the truth beside it.

    Parameters
    ----------
    plan : Plan
        The plan of the survey.
    seed : int
        Seed of the simulation, at least 0. Messages drawn with a seed are not private.
    values : array of int, optional
        Category of each user by number; default n users with shares in proportion to 1, 1/2, 1/3, ...
    confidence : number or text
        As in ``Plan.estimate``.

    Returns
    -------
    Histogram
        With ``truth``, the users in each category.

    Raises
    ------
    InputError
        If the seed is no integer of at least 0, there are fewer values than ``min_users``, or one is no category.

    Examples
    --------
    >>> from symshuffle.collect import make_plan
    >>> found = simulate(make_plan(3, n=1000, eps=1, delta="1e-6", mechanism="krr"), seed=1)
    >>> found.truth, [row.low <= m <= row.high for row, m in zip(found.rows, found.truth)]
    ((545, 273, 182), [True, True, True])
    """
    draw = uniform(np.random.default_rng(as_integer(seed, "seed", 0)).bytes)
    users = falling(plan) if values is None else np.asarray(values, dtype=np.int64)
    if len(users) and not 0 <= users.min() <= users.max() < plan.k:
        raise InputError("values", f"{users.min()} to {users.max()}", f"categories from 0 to {plan.k - 1}")
    made, size = plan.scheme, chunk(plan.scheme)
    tally = made.tally(made.sample(users[:1], draw)) * 0 if len(users) else np.zeros(0, dtype=np.int64)
    for i in range(0, len(users), size):
        tally = tally + made.tally(made.sample(users[i : i + size], draw))
    found = plan.histogram(tally, len(users), confidence)
    truth = tuple(int(m) for m in np.bincount(users, minlength=plan.k))
    return replace(found, truth=truth, private=f"SIMULATED with seed {seed}, which is not private; {found.private}")
