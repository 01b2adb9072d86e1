"""The estimator that debiases every bit by itself, by algebra: a witness of the texts on file."""

from symshuffle.mechanisms.members import BitStrings
from symshuffle.mechanisms.symbolic import evaluate, normal_form
from symshuffle.utility.estimation.votes import VoteNoise, is_alike


def bitwise_votes(mechanism):
    """The noise of the estimator :math:`(y_i-q)/(p-q)` of every bit; None where messages are no strings of bits."""
    if not is_alike(mechanism):
        return None
    strings = [c for c in (mechanism.general or mechanism).classes if isinstance(c.members, BitStrings)]
    if len(strings) != 1:
        return None
    mixed, known = strings[0], dict(mechanism.fixed)
    other = mixed.members.other.subs(known)
    own = normal_form(other * mixed.states[0].probability.subs(known))
    if normal_form(own + (1 - other) * mixed.states[1].probability.subs(known) - 1) != 0:
        return None  # other messages occur as well
    noise = [evaluate(normal_form(q * (1 - q) / (own - other) ** 2)) for q in (own, other)]
    return VoteNoise(noise[0], noise[1], int(mechanism.inputs), "bitwise unbiased")
