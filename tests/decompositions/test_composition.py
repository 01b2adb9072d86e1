"""Compositions against the Kronecker and block channels they stand for."""

from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, delta, randomizer
from symshuffle.channels import shuffled_divergence
from symshuffle.decompositions.composition import (
    Composed,
    Part,
    composed_law,
    hamming,
    joint,
    parallel,
    patterns,
    subsample,
)
from symshuffle.decompositions.composition.operators import parse

X = Fraction(6, 5)


def krr(k: int) -> Part:
    return randomizer("krr").at(k=k)


TREES: list[tuple[str, Fraction]] = [
    ("joint(krr(k=2),krr(k=3))", Fraction(4)),
    ("joint(krr(k=2),3)", Fraction(8)),
    ("parallel(1/3:krr(k=3),2/3:subset-selection(k=3,s=2))", Fraction(3)),
    ("subsample(krr(k=3),1/4)", Fraction(3)),
    ("joint(subsample(krr(k=2),1/2),krr(k=2))", Fraction(9)),
    ("parallel(1/2:joint(krr(k=2),2),1/2:krr(k=4))", Fraction(4)),
    ("joint(erasure(k=2,p=1/3),krr(k=2))", Fraction(4)),
]


@pytest.mark.parametrize(("text", "lam"), TREES)
@pytest.mark.parametrize("n", [1, 3])
def test_bound_is_that_of_the_explicit_channel(text: str, lam: Fraction, n: int) -> None:
    tree = parse(text)
    assert not isinstance(tree, Channel)
    composed = delta(Composed(tree, lam), n=n, exp_eps=X, arithmetic="exact", attained=True)  # type: ignore[arg-type]
    explicit = delta(tree.channel(lam), n=n, exp_eps=X, arithmetic="exact")  # type: ignore[union-attr, call-arg, misc]
    if "parallel(1/2:joint" in text:
        # Two parts that see different data: the tree allows every combination of ways to differ.
        assert composed.bracket.upper >= explicit.bracket.upper
    else:
        assert composed.bracket.exact == explicit.bracket.exact
    assert composed.attained is not None
    assert composed.attained.lower <= composed.bracket.upper


def test_patterns_of_equal_coordinates_are_counted_once() -> None:
    assert len(patterns(joint(*[krr(10)] * 4))) == 4
    assert len(patterns(joint(krr(2), krr(3)))) == 3
    assert len(patterns(hamming(joint(*[krr(10)] * 4), 2))) == 1
    assert patterns(hamming(joint(*[krr(10)] * 60), 60)) == [(True,) * 60]
    assert len(patterns(joint(krr(2), krr(3), krr(2)))) == 5


def test_joint_composition_stays_polynomial() -> None:
    tree = hamming(joint(*[krr(10)] * 12), 12)
    law = composed_law(tree, (True,) * 12, X, lam=Fraction(2) ** 12)
    assert law.exact
    assert len(law.values) <= (12 + 1) * (12 + 2) // 2 + 1


def test_subsampling_nothing_reveals_nothing() -> None:
    nothing = Composed(subsample(krr(3), Fraction(0)), Fraction(3))
    assert delta(nothing, n=2, exp_eps=Fraction(1), arithmetic="exact").bracket.exact == 0


def test_weights_must_be_probabilities() -> None:
    with pytest.raises(ValueError, match=r"weights = sum 5/6, which is -1/6 off: expected probabilities of sum 1"):
        parallel((krr(2), krr(2)), (Fraction(1, 2), Fraction(1, 3)))


def test_names_read_back() -> None:
    text = "parallel(1/2:hamming(joint(krr(k=10),4),2),1/2:oue)"
    assert parse(text).name == "parallel(1/2:hamming(joint(krr(lam, k=10),4),2),1/2:oue(lam, D))"


@pytest.mark.parametrize("text", ["subsample(krr(k=3),1/4)", "subsample(subset-selection(k=4,s=2),1)"])
def test_a_silent_part_does_not_hide_the_third_input(text: str) -> None:
    """Whoever sends a constant has no third input, and needs none."""
    tree = parse(text)
    composed = delta(Composed(tree, Fraction(3)), n=3, exp_eps=X, arithmetic="exact", attained=True)  # type: ignore[arg-type]
    channel = tree.channel(Fraction(3))  # type: ignore[union-attr, call-arg, misc]
    assert composed.attained is not None
    others = [(0, held, held) for held in range(3)], [(1, held, held) for held in range(3)]
    real = [
        shuffled_divergence(channel, *pair, X)
        for pair in (*zip(*others, strict=True), *zip(*others[::-1], strict=True))
    ]
    assert composed.attained.lower == max(real)


def test_a_total_budget_is_read_in_every_spelling():
    pair = joint(randomizer("krr").at(k=2), randomizer("krr").at(k=3))
    asked = {"n": 50, "exp_eps": Fraction(6, 5)}
    assert delta(Composed(pair, "3"), **asked).bracket == delta(Composed(pair, Fraction(3)), **asked).bracket
    with pytest.raises(InputError, match="lam = three"):
        Composed(pair, "three")
