"""What is no distribution, no number and no law is refused where it enters."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from proofs_checks._divergences import kl_divergence, renyi_divergence, total_variation
from symshuffle import InputError, NotDecided, parallel, randomizer, subsample
from symshuffle.accountants.deployment.group import check_n
from symshuffle.base.numbers import as_integer, working_precision
from symshuffle.channels import chi_square, hockey_stick
from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.design import f_divergence
from symshuffle.design.information.maximum import maximise
from symshuffle.mechanisms import Mechanism

HALF = Fraction(1, 2)
NO_DISTRIBUTION = {
    "nan": [math.nan, 1.0],
    "infinite": [math.inf, 0.5],
    "negative": [1.5, -0.5],
    "negative fraction": [Fraction(3, 2), -HALF],
    "sum 0.4": [0.2, 0.2],
    "sum 2/5": [Fraction(1, 5), Fraction(1, 5)],
    "text": ["one", "half"],
    "truth values": [True, False],
    "empty": [],
}
DIVERGENCES = {
    "hockey_stick": lambda p, q: hockey_stick(p, q, 1),
    "total_variation": total_variation,
    "chi_square": chi_square,
    "kl_divergence": kl_divergence,
    "renyi_divergence": lambda p, q: renyi_divergence(p, q, 2),
}


@pytest.mark.parametrize("divergence", DIVERGENCES.values(), ids=DIVERGENCES)
def test_divergences_take_distributions_only(divergence):
    for masses in NO_DISTRIBUTION.values():
        for pair in ((masses, [HALF] * len(masses)), ([HALF] * len(masses), masses)):
            with pytest.raises(InputError):
                divergence(*pair)


def test_integers_stay_exact():
    assert standard_clone_pair(3) == standard_clone_pair(Fraction(3))


def test_text_never_reaches_the_parser_of_sympy():
    """An entry such as ``__import__('os').system(...)`` ran."""
    for entry in ("__import__('os').system('true')", "lam/2", math.nan, True):
        with pytest.raises(InputError, match=r"rows\[0\]\[0\]"):
            Mechanism.from_matrix("own", [[entry, HALF], [HALF, HALF]], parameters=())
        with pytest.raises(InputError):
            Mechanism.symmetric("own", 2, {"value": {"all": (2, entry)}})
    assert (
        Mechanism.from_matrix("own", [["1/2", HALF], [HALF, "0.5"]], parameters=()).channel().rows
        == ((HALF, HALF),) * 2
    )
    doubles = Mechanism.from_matrix("own", [[0.5, np.float64(0.5)], [np.float32(0.5), "0.5"]], parameters=())
    assert doubles.channel().rows == ((HALF, HALF),) * 2


@pytest.mark.parametrize("value", [10, "10", Fraction(20, 2), np.int32(10), 10.0, np.float64(10), np.float32(10)])
def test_integers_are_read_in_every_form(value):
    assert as_integer(value, "k", 2, 15) == check_n(value) == 10


NO_INTEGERS = (True, np.bool_(True), 10.5, np.float64(9.75), math.inf, "ten", "10.5", Fraction(1, 2), None, 1, 16)


@pytest.mark.parametrize("value", NO_INTEGERS)
def test_what_is_no_integer_of_the_range_is_refused(value):
    with pytest.raises(InputError, match=r"k (= |is missing)"):
        as_integer(value, "k", 2, 15)


def test_generators_of_f_divergences_have_a_value_at_one_and_elsewhere():
    with pytest.raises(InputError, match="generator"):
        f_divergence([HALF, HALF], [HALF, HALF], lambda t: t / 0)
    with pytest.raises(InputError, match="generator"):
        f_divergence([HALF, HALF], [HALF, HALF], lambda t: t)
    undefined = f_divergence([Fraction(1), Fraction(0)], [HALF, HALF], lambda t: (1 - t) / (2 - t))
    with pytest.raises(NotDecided, match="generator"), working_precision(64):
        undefined.ball((flint.arb(1), flint.arb(0)))  # where the ratio is 2


def test_powers_in_generators_are_products():
    p, q = [Fraction(3, 4), Fraction(1, 4)], [HALF, HALF]
    powers = (
        (lambda t: (t - 1) ** 2, lambda t: (t - 1) * (t - 1)),
        (lambda t: (1 - t) ** 4 / t**2, lambda t: (1 - t) * (1 - t) * (1 - t) * (1 - t) / (t * t)),
        (lambda t: (t.sqrt() - 1) ** 2, lambda t: (t.sqrt() - 1) * (t.sqrt() - 1)),
    )
    for power, product in powers:
        one, other = (maximise(f_divergence(p, q, generator), 3).value for generator in (power, product))
        assert one.lower <= other.upper and other.lower <= one.upper


def test_parts_of_a_parallel_composition_have_one_input():
    with pytest.raises(InputError, match="parts = 3, 2 inputs"):
        parallel((randomizer("krr").at(k=3), randomizer("rr")), (HALF, HALF))
    assert subsample(randomizer("krr").at(k=3), HALF).operator == "parallel"
