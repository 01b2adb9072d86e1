"""The search over backgrounds: against quadrature, against a false conjecture, and as a certificate."""

# No public door shows the slack of a box alone, so that private names are called and set here.
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symshuffle import CertificateError, InputError, NotDecided
from symshuffle.base.results import AnswerMethods
from symshuffle.vectors import BlanketMixedGaussian, SphereLinear, correspondence
from symshuffle.vectors.privacy import conjecture
from symshuffle.vectors.privacy.conjecture import _Search, worst_background_on_the_line


def divergence(inputs, eps, reverse=False, points=401):
    """The divergence by the midpoint rule on outputs, all orders of the messages summed."""
    import itertools

    width = 16 / points
    z = (np.arange(points) + 0.5) * width - 8
    first, null = ([_normal(z, x)] + [_normal(z, b) for b in inputs[1:]] for x in (inputs[0], 0.0))
    p, q = (
        sum(_outer([laws[k] for k in order]) for order in itertools.permutations(range(len(laws))))
        for laws in (first, null)
    )
    if reverse:
        p, q = q, p
    return np.maximum(p - np.exp(eps) * q, 0).sum() * width ** len(inputs) / len(list(itertools.permutations(inputs)))


def _normal(z, x):
    return np.exp(-((z - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def _outer(rows):
    product = rows[0]
    for row in rows[1:]:
        product = np.multiply.outer(product, row)
    return product


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("inputs", [("1", "-1"), ("0.5", "0.25"), ("1", "-1", "-0.5"), ("0.75", "0", "1")])
def test_both_bounds_enclose_a_quadrature(inputs, reverse):
    search = _Search(len(inputs), Fraction(1), Fraction(1, 5), reverse)
    exact = divergence([float(x) for x in inputs], 0.2, reverse, 401 if len(inputs) == 2 else 101)
    rational = tuple(map(Fraction, inputs))
    assert search.merged(rational) < exact < search.value(rational) < exact + (0.002 if len(inputs) == 2 else 0.03)


def test_slopes_bound_the_change():
    rng = np.random.default_rng(11)
    for reverse in (False, True):
        search = _Search(2, Fraction(1), Fraction(1, 5), reverse)
        for _ in range(20):
            low, high = (tuple(Fraction(int(k), 64) for k in rng.integers((0, -64), 65)) for _ in range(2))
            change = abs(divergence([*map(float, low)], 0.2, reverse) - divergence([*map(float, high)], 0.2, reverse))
            assert change <= sum(s * abs(float(x - y)) for s, x, y in zip(search.slopes, low, high, strict=True))


@pytest.fixture(scope="module")
def found():
    return worst_background_on_the_line(n=2, sigma0=1, eps="1/5", tolerance="1/50")


def test_the_conjecture_stands_and_a_false_one_falls(found):
    assert found.counterexample is None and found.excess < Fraction(21, 1000)
    assert isinstance(found, AnswerMethods) and hasattr(found, "verify")
    found.verify()
    wrong = worst_background_on_the_line(n=2, sigma0=1, eps="1/5", others="-9/10")
    assert wrong.counterexample is not None
    wrong.verify()
    x, b = wrong.counterexample
    assert divergence((float(x), float(b)), 0.2) > float(wrong.conjectured.lower)
    real = wrong.bracket
    more = min(real.lower * Fraction(1001, 1000), real.upper)
    for ends in (replace(real, lower=more), replace(real, lower=real.lower / 2, upper=Fraction(99, 100))):
        with pytest.raises(CertificateError, match="counterexample"):
            replace(wrong, bracket=ends).verify()


def test_false_certificates_are_refused(found):
    value = found.conjectured.lower
    false = (
        replace(found, bracket=replace(found.bracket, upper=value * Fraction(100001, 100000))),
        replace(found, bracket=replace(found.bracket, lower=value * Fraction(1001, 1000))),
        replace(found, conjectured=replace(found.conjectured, lower=found.conjectured.upper)),
        replace(found, eps=Fraction(1, 10)),
        replace(found, counterexample=(Fraction(1), Fraction(-1, 2))),
        replace(found, counterexample=(Fraction(1), Fraction(-3))),
        replace(found, counterexample=(Fraction(1),)),
    )
    for certificate in false:
        with pytest.raises(CertificateError):
            certificate.verify()


def test_without_the_excess_of_the_grid_the_bound_would_be_believed_too_soon(monkeypatch):
    """The slack of a box is needed: with none, one box would prove anything that its middle satisfies."""
    monkeypatch.setattr(_Search, "_slack", lambda self, box: 0.0)
    assert (
        _Search(2, Fraction(1), Fraction(1, 5), False).below(Fraction(26, 100))[1] is None
    )  # false: 0.3016 is attained


def test_spent_boxes_are_no_answer(monkeypatch):
    monkeypatch.setitem(conjecture._Search.below.__kwdefaults__, "most", 3)
    with pytest.raises(NotDecided, match="coarser tolerance"):
        worst_background_on_the_line(n=2, sigma0=1, eps="1/5")


@pytest.mark.parametrize(
    "asked", [{"n": 4}, {"sigma0": "1/4"}, {"eps": -1}, {"tolerance": 0}, {"tolerance": 1}, {"others": 2}]
)
def test_wrong_arguments_are_refused(asked):
    with pytest.raises(InputError):
        worst_background_on_the_line(**{"n": 2, "sigma0": 1, "eps": "1/5"} | asked)


def test_constants_approach_one():
    rows = correspondence(BlanketMixedGaussian("0.95", "4.6"), [1000, 100_000])
    assert rows[0].mills_constant > rows[1].mills_constant > 1
    assert rows[0].upper_constant < rows[1].upper_constant < 1
    for row in rows:
        assert row.attained.lower <= row.shuffled.upper
        assert abs(row.central.lower / row.mills.lower - 1) < Fraction(1, 1000)
        assert row.to_dict()["constants"]["upper_g"] > 1
    for users, growth in (([2], 1), ([10], 0)):
        with pytest.raises(InputError):
            correspondence(SphereLinear("0.5", 3), users, growth=growth)


def test_every_box_that_is_bounded_is_counted(monkeypatch):
    plain, bounded = _Search._slack, []
    monkeypatch.setattr(_Search, "_slack", lambda self, box: bounded.append(box) or plain(self, box))
    found = worst_background_on_the_line(n=2, sigma0=1, eps="1/5", tolerance="1/50")
    assert found.boxes == len(bounded)
