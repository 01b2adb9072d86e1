"""The noise of votes against explicit channels: laws of templates, enumeration of histograms, bits one by one."""

from fractions import Fraction as F

import pytest

from symshuffle import InputError, Unsupported
from symshuffle.design.comparison.families import family, names
from symshuffle.mechanisms.names import THINNED
from symshuffle.mechanisms.registry import EXAMPLES, MECHANISMS
from symshuffle.mechanisms.symbolic import evaluate
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.estimation.canonical import output_votes, worst_canonical_risk
from symshuffle.utility.estimation.moments import largest_pairwise_budget
from symshuffle.utility.estimation.votes import canonical_votes, is_alike
from tests.bitwise import bitwise_votes

STRINGS = ("rappor", "oue", "blh", "olh")


def concrete():
    for name, build in MECHANISMS.items():
        mechanism = build()
        budget = {"lam": 4} if any(p.name == "lam" for p in mechanism.parameters) else {}
        for values in EXAMPLES[name]:
            fixed = mechanism.at(**budget, **values).with_defaults()
            if is_alike(fixed) and int(fixed.inputs) <= 10 and 2 ** values.get("D", 0) <= 2**6:
                yield pytest.param(fixed, id=f"{name} {values}")
    for name in names():
        if name.startswith(THINNED):
            one = family(name, 3)
            values = {"s": 2, "g": 3, "p": F(2, 5)}
            fixed = one.at(lam=4, **{p.name: values[p.name] for p in one.free})
            yield pytest.param(fixed, id=name)


CASES = list(concrete())


@pytest.mark.parametrize("mechanism", CASES)
def test_risks_and_variances_are_those_of_the_explicit_channel(mechanism):
    channel = mechanism.channel()
    law = AnchoredLaw.from_channel(channel)
    if law.trace() == 0:
        with pytest.raises(Unsupported, match="says nothing"):
            canonical_votes(mechanism)
        return
    noise = canonical_votes(mechanism)
    assert noise.trace == law.trace()
    for n in (1, 7):
        assert noise.risk(n) == worst_canonical_risk(law, n=n, population="fixed")[0]
        assert noise.iid_risk(n) == worst_canonical_risk(law, n=n, population="iid")[0]
    votes = output_votes(channel, law)
    rows = channel.rows
    share = F(1, channel.num_inputs)
    for row, expected in ((0, noise.own), (1, noise.absent)):
        values = [share + vote[0] for vote in votes]
        mean = sum(p * v for p, v in zip(rows[row], values, strict=True))
        assert mean == (row == 0)
        assert sum(p * v * v for p, v in zip(rows[row], values, strict=True)) - mean**2 == expected


@pytest.mark.parametrize("mechanism", CASES)
def test_pair_counts_give_the_largest_chi_square(mechanism):
    expected = AnchoredLaw.from_channel(mechanism.channel()).pairwise_budget()
    if expected != float("inf"):
        general = largest_pairwise_budget(mechanism.general)
        assert evaluate(general.subs(dict(mechanism.fixed))) == expected


@pytest.mark.parametrize("name", STRINGS)
def test_bitwise_risk_against_bits_of_the_explicit_channel(name):
    """p and q are read off the channel: how often bit x is 1 under input x and under another one."""
    size = 3
    fixed = MECHANISMS[name]().at(lam=4, D=size, **({"g": 4} if name == "olh" else {}))
    rows = fixed.channel().rows
    strings = [bits for c in fixed.classes for bits, _ in c.outputs({"D": size})]
    names_of = [s.name for c in fixed.classes for _ in c.outputs({"D": size}) for s in [c]]
    one = [
        [1 if kind == "ones" else 0 if kind == "zeros" else 1 - bits[x] for x in range(size)]
        for bits, kind in zip(strings, names_of, strict=True)
    ]
    p = sum(mass for mass, bits in zip(rows[0], one, strict=True) if bits[0])
    q = sum(mass for mass, bits in zip(rows[1], one, strict=True) if bits[0])
    risk = F(0)
    for x in range(size):  # everybody holds input 0
        votes = [(bits[x] - q) / (p - q) for bits in one]
        mean = sum(mass * v for mass, v in zip(rows[0], votes, strict=True))
        assert mean == (x == 0)
        risk += sum(mass * v * v for mass, v in zip(rows[0], votes, strict=True)) - mean**2
    assert bitwise_votes(fixed).risk(1) == risk
    assert canonical_votes(fixed).risk(1) < risk


def test_unused_inputs_drop_out_of_the_risk():
    """Hadamard of order 4 with two of its three inputs: the risk of the two coordinates, from the explicit channel."""
    fixed = MECHANISMS["hadamard"]().at(lam=4, D=4)
    channel = fixed.channel()
    votes = output_votes(channel)
    risk = F(0)
    for x in (0, 1):
        values = [F(1, 3) + vote[x] for vote in votes]
        mean = sum(p * v for p, v in zip(channel.rows[0], values, strict=True))
        risk += sum(p * v * v for p, v in zip(channel.rows[0], values, strict=True)) - mean**2
    assert canonical_votes(fixed, inputs=2).risk(1) == risk
    with pytest.raises(InputError, match="inputs"):
        canonical_votes(fixed, inputs=4)


def test_balls_agree_with_rationals_for_long_strings():
    """65 bits are summed in balls, 64 in rationals; both sums contain the truth of their own size."""
    fixed = MECHANISMS["oue"]().at(lam=4, D=65)
    ball = canonical_votes(fixed).trace
    below = canonical_votes(MECHANISMS["oue"]().at(lam=4, D=64)).trace
    above = canonical_votes(MECHANISMS["oue"]().at(lam=4, D=66)).trace
    assert below < ball.lower <= ball.upper < above.lower
    assert ball.upper - ball.lower < F(1, 10**25)


def test_pairs_that_differ_are_refused():
    with pytest.raises(Unsupported, match="pairs of inputs differently"):
        canonical_votes(MECHANISMS["half-block"]().at(lam=4, k=4))
    with pytest.raises(InputError, match="open"):
        canonical_votes(MECHANISMS["krr"]().at(k=4))
