"""The automatic choice costs at most twice the cheapest engine that meets the request: 200 requests drawn by seed.

Every other engine is stopped after half of the processor time that the choice took, so the whole costs little more than
the choice itself. What takes less than :data:`FELT` is not told from noise, and nobody waits for it.

No public door runs a dear choice: a private name is replaced for the negative control.
"""

import random
import signal
import time
from fractions import Fraction

import pytest

from symshuffle import Exp, Unsupported, optimal_decomposition, randomizer
from symshuffle.accountants import evaluate_law
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.engines.registry import engine_classes
from symshuffle.mechanisms import registry

FELT = 0.05
"""Seconds."""
REQUESTS = 200
BITS = 192
NAMES = [name for name in registry.MECHANISMS if any(p.name == "lam" for p in randomizer(name).parameters)]


def drawn(seed):
    """Mechanism with its values, budget, users, level as a share of the budget, arithmetic and width."""
    draw = random.Random(seed)
    name = draw.choice(NAMES)
    values = tuple(sorted(draw.choice([*registry.EXAMPLES[name], *registry.LARGE.get(name, ())]).items()))
    users = round(10 ** draw.uniform(0, draw.choice((3, 7))))
    arithmetic = draw.choice(["float64", "float64", "ball", "exact"] if users < 60 else ["float64", "float64", "ball"])
    share = Fraction(draw.randrange(0, 20), 20) / max(1, round(users**0.5 / draw.choice((1, 4, 20))))
    return name, values, draw.choice(("1/10", "1", "4")), users, share, arithmetic, draw.choice((1e-2, 1e-6, 1e-10))


class OutOfTimeError(Exception):
    pass


def stopped(*_):
    raise OutOfTimeError


def seconds(law, n, arithmetic, rtol, engine=None, most=None):
    """Processor time of an answer as narrow as asked; None where there is none in time."""
    before = signal.signal(signal.SIGPROF, stopped)
    signal.setitimer(signal.ITIMER_PROF, most or 0)
    start = time.process_time()
    try:
        found = evaluate_law(law, n, engine=engine, arithmetic=arithmetic, rtol=rtol)
    except (OutOfTimeError, Unsupported):
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return None if found.aimed is not None else time.process_time() - start


def cheaper(law, n, arithmetic, rtol):
    """The engines that answer in less than half of what the automatic choice takes, each measured three times."""
    took = seconds(law, n, arithmetic, rtol)
    if took is None or took < FELT:
        return {}
    found = {}
    for label, kind in engine_classes():
        engine = kind.with_tolerance(rtol, BITS)
        if engine.refusal(law, n) is None and seconds(law, n, arithmetic, rtol, engine, most=took / 2) is not None:
            own = min(filter(None, (seconds(law, n, arithmetic, rtol, engine) for _ in range(3))))
            again = min(filter(None, (seconds(law, n, arithmetic, rtol) for _ in range(3))))
            if again > max(2 * own, FELT):
                found[label] = f"{own:.3f} s against {again:.3f} s"
    return found


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(REQUESTS))
def test_the_automatic_choice_costs_at_most_twice_the_cheapest_engine(seed):
    name, values, eps0, n, share, arithmetic, rtol = drawn(seed)
    asked = reduction(randomizer(name).at(eps0=eps0, **dict(values)))
    order, way = Exp(share * Fraction(eps0)), "forward"
    for law in asked.laws(order, way, None):
        assert law.never_positive or cheaper(law, n, arithmetic, rtol) == {}


def test_a_choice_that_is_too_dear_is_seen(monkeypatch):
    """The negative control: an automatic choice that always begins with a million idle turns."""
    from symshuffle.accountants.bounds import evaluate

    law = optimal_decomposition(randomizer("krr").at(eps0=1, k=4)).law(Exp(Fraction(1, 10)), bits=None)
    sound = evaluate._answer

    def idle(law, n, request):
        if request.engine is None:
            sum(range(10_000_000))
        return sound(law, n, request)

    assert cheaper(law, 100, "float64", 1e-6) == {}
    monkeypatch.setattr(evaluate, "_answer", idle)
    assert cheaper(law, 100, "float64", 1e-6)
