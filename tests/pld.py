"""What dp_accounting makes of the exported distributions: run by `make pld`, in an environment that has it.

First exact small cases: the profile that it reads off the export is above that of all neighbouring datasets. Then
compositions of one deployment beside the certified bound: where they agree, and where theirs is too small.
"""

import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import flint

from symshuffle import epsilon, privacy_loss_distribution, randomizer
from symshuffle.accountants import PrivacyLossDistribution
from symshuffle.base.numbers import format_decimal, working_precision
from tests.exported import CASES, divergence, neighbours

ROUNDING = 1e-12
"""What its sums in doubles may lose of a delta, relative and absolute: safety of the export is proved of the masses."""

LEVELS = [i / 40 for i in range(120)]
ROUNDS = 30


def small_cases():
    """Levels at which dp_accounting reads less off an export than a real pair has."""
    found = []
    for channel, n in CASES:
        loss = privacy_loss_distribution(channel, n=n, step="0.125", beyond="1e-6").to_dp_accounting()
        with working_precision(200):
            for eps in LEVELS:
                x = flint.arb(eps).exp()
                true = max(float(divergence(outcomes, x).mid()) for outcomes in neighbours(channel, n))
                if not loss.get_delta_for_epsilon(eps) * (1 + ROUNDING) + ROUNDING >= true:
                    found.append((n, eps))
    return found


def deployment():
    """Rows: delta, the certified bracket of eps of all rounds, and what dp_accounting answers from the export."""
    krr = randomizer("krr").at(k=50, eps0=2)
    with tempfile.TemporaryDirectory() as folder:
        privacy_loss_distribution(krr, n=200_000, beyond="1e-19").save(Path(folder) / "round.json")
        loss = PrivacyLossDistribution.read(Path(folder) / "round.json").to_dp_accounting()
    composed = loss.self_compose(ROUNDS)
    whole = loss.self_compose(ROUNDS, 0)
    for exponent in range(-6, -17, -2):
        ours = epsilon(krr, n=200_000, periods=ROUNDS, delta=Fraction(10) ** exponent).bracket
        yield (
            exponent,
            ours,
            composed.get_epsilon_for_delta(10.0**exponent),
            whole.get_epsilon_for_delta(10.0**exponent),
        )


def main():
    unsafe = small_cases()
    print(f"small cases: {len(CASES) * len(LEVELS)} levels, {len(unsafe)} unsafe {unsafe[:3]}")
    print(f"krr, k = 50, eps0 = 2, n = 200,000, {ROUNDS} rounds; eps at delta:")
    print("delta   certified bracket           dp_accounting   without truncation")
    below = []
    for exponent, ours, theirs, whole in deployment():
        low, high = (format_decimal(end, digits=7, up=up) for end, up in ((ours.lower, False), (ours.upper, True)))
        print(f"1e{exponent:<4}  [{low}, {high}]  {theirs:.8f}      {whole:.8f}")
        below += [exponent for eps in (theirs, whole) if eps < ours.lower]
    print(f"below the certified bracket at 10 to the {sorted(set(below), reverse=True)}")
    return 1 if unsafe else 0


if __name__ == "__main__":
    sys.exit(main())
