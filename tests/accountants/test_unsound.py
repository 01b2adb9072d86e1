"""Published reductions that bound nothing: an exact counterexample, and no accountant takes them."""

from fractions import Fraction

import pytest

from proofs_checks.decomposition._clones import unsound_stronger_clone_pair
from symshuffle import Channel, InputError, shuffled_divergence
from symshuffle.accountants.questions import solve

STUDY = Channel.from_rows(
    [["1/5", "1/10", "2/5", "3/10"], ["1/10", "1/5", "2/5", "3/10"], ["1/10", "1/10", "1/5", "3/5"]]
)
PAIR = unsound_stronger_clone_pair(Fraction(2), Fraction(1, 10))


def test_the_stronger_clone_falls_with_two_users():
    order = Fraction(3, 2)
    real = max(shuffled_divergence(STUDY, (0, other), (1, other), order) for other in range(3))
    assert (PAIR.divergence(2, order), real) == (Fraction(1, 100), Fraction(1, 50))


def test_no_accountant_takes_one():
    with pytest.raises(InputError, match="source"):
        solve.delta(PAIR, n=5, exp_eps="3/2")
    with pytest.raises(InputError, match="source"):
        solve.epsilon(PAIR, n=5, delta="1/1000")
