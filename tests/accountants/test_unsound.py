"""Published reductions that bound nothing: an exact counterexample, and no accountant takes them."""

from fractions import Fraction

import pytest

from proofs_checks.decomposition._clones import unsound_stronger_clone_pair
from symshuffle import Channel, InputError
from symshuffle.accountants.questions import solve

STUDY = Channel.from_rows(
    [["1/5", "1/10", "2/5", "3/10"], ["1/10", "1/5", "2/5", "3/10"], ["1/10", "1/10", "1/5", "3/5"]]
)
PAIR = unsound_stronger_clone_pair(Fraction(2), Fraction(1, 10))


def test_no_accountant_takes_one():
    with pytest.raises(InputError, match="source"):
        solve.delta(PAIR, n=5, exp_eps="3/2")
    with pytest.raises(InputError, match="source"):
        solve.epsilon(PAIR, n=5, delta="1/1000")
