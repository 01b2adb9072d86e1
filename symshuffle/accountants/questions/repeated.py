r"""The largest local budget at which several rounds that are alike meet a target together.

The search begins where one round has its share of the target: in the Gaussian limit :math:`T` rounds at distance
:math:`\mu/\sqrt T` each are one at :math:`\mu`. What is returned rests on the bound on all rounds together alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from symshuffle.accountants.bounds.gaussian_limit import distance, log_profile
from symshuffle.accountants.bounds.search import shortened
from symshuffle.accountants.deployment.experiment import Experiment, experiment
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.questions.experiments import limit_distance
from symshuffle.accountants.questions.inverses import largest_eps0
from symshuffle.accountants.questions.solve import epsilon
from symshuffle.base.errors import SymshuffleError
from symshuffle.base.numbers import natural_log

WIDTH_OF_LEVEL: Final = 5e-3
"""Relative width of the eps0 of several rounds that is aimed at where none is asked for."""

SHARE_OF_EPS: Final = 0.4
"""Width of the bracket of eps at one budget, in that of eps0: two brackets then tell budgets apart that are as far."""

_MARGIN: Final = Fraction(1, 1000)
"""By how much eps stays below the target, relatively: another lattice bounds it by less than that differently."""

_MOST_STEPS: Final = 6
_STEP: Final = Fraction(1, 100)
_LEAST_POWER: Final = 0.25
"""Relative distance of two budgets that tell how eps grows with the budget, and the slowest growth that is believed."""

_SMALLEST_LOG: Final = -690.0
"""Logarithm of the smallest share of delta, within the range of doubles."""


def one_of_rounds(eps: Fraction, delta: Fraction, times: int) -> tuple[Fraction, Fraction]:
    """Return eps and delta of one of so many rounds that have a target together, in the Gaussian limit: no bound."""
    root = math.sqrt(times)
    spread = math.exp(distance(float(eps), natural_log(delta))) / root
    share = float(eps) / root
    log = min(max(log_profile(share, spread), _SMALLEST_LOG), natural_log(delta))
    return Fraction(f"{share:.6g}"), Fraction(f"{math.exp(log):.6g}")


def solve_eps0_of_rounds(
    deployment: Deployment,
    source: Callable[[Fraction], Any],
    *,
    n: int,
    eps: Fraction,
    delta: Fraction,
    rtol: float = WIDTH_OF_LEVEL,
    near: Fraction | None = None,
    bits: int | None = None,
) -> Fraction:
    """Return a local budget, in nats, at which all batches together meet a target, and hardly any larger one does.

    - ``deployment``: one group of users, whose randomizer is replaced, and at least 2 batches.
    - ``source``: from eps0 to what is run in each batch.
    - ``rtol``: how far the eps of the result may be below the target, relatively.
    - ``near``: where the search begins.

    Raises ``Unsupported`` as :func:`symshuffle.largest_eps0` does, to which it is left where few steps do not end.
    """
    times, goal = deployment.batches, eps * (1 - _MARGIN)
    least = eps / times  # by basic composition every source of this budget meets the target
    before: tuple[float, float] | None = None

    def at(eps0: Fraction) -> Experiment:
        return experiment(deployment.with_randomizers(lambda _: source(eps0)), {"n": n})

    try:
        x = _first(deployment, source, n, eps, delta) if near is None else near
        power, aim = _power(at, x), -rtol / 2  # the middle of what is accepted
        for _ in range(_MOST_STEPS):
            x = shortened(max(x * Fraction(math.exp(aim / power)), least))
            found = epsilon(at(x), delta=delta, rtol=SHARE_OF_EPS * rtol, arithmetic="float64", bits=bits).bracket.upper
            if found <= goal and found >= goal * (1 - Fraction(rtol)):
                return x
            here = math.log(x), natural_log(found / goal)
            if before is not None and here[0] != before[0]:
                power = max((here[1] - before[1]) / (here[0] - before[0]), _LEAST_POWER)
            before, aim = here, -here[1] - rtol / 2
    except (SymshuffleError, ValueError):
        pass  # some budget has no eps, or eps 0: the search on delta says whether another one meets the target
    open_ = deployment.with_randomizers(lambda _: source)
    return largest_eps0(open_, n=n, eps=eps, delta=delta, rtol=rtol, bits=bits).safe_end


def _first(
    deployment: Deployment, source: Callable[[Fraction], Any], n: int, eps: Fraction, delta: Fraction
) -> Fraction:
    share, target = one_of_rounds(eps, delta, deployment.batches)
    one = replace(deployment.with_randomizers(lambda _: source), periods=1, reports=1)
    return largest_eps0(one, n=n, eps=share, delta=target, rtol=SHARE_OF_EPS * WIDTH_OF_LEVEL).safe_end


def _power(at: Callable[[Fraction], Experiment], x: Fraction) -> float:
    """The power of the budget with which the distance of the Gaussians grows that messages tend to; 1 if unknown."""
    near, far = (limit_distance(at(shortened(x * share)), "both") for share in (1, 1 + _STEP))
    if not near or not far:
        return 1.0
    return max(math.log(far / near) / math.log1p(_STEP) / 2, _LEAST_POWER)
