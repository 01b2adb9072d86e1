"""Laplace leaves in compositions, against merged channels, quadrature of loss densities and the mixed law itself."""

import itertools
import math
from fractions import Fraction

import pytest
import sympy as sp
from scipy.integrate import quad

from symshuffle import Channel, Exp, Unsupported, delta, epsilon, randomizer
from symshuffle.accountants import evaluate_law
from symshuffle.accountants.deployment.reduced import laws
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.choices import Direction, members
from symshuffle.decompositions.composition import (
    Composed,
    Composition,
    composed_law,
    decomposition,
    hamming,
    is_mixture,
    joint,
    mixed_law,
    parallel,
    patterns,
    subsample,
)
from symshuffle.decompositions.composition.laws import laplace_cells
from symshuffle.decompositions.composition.operators import parse
from symshuffle.engines import Contour
from symshuffle.mechanisms import Laplace
from tests.slices import some

ONE = Exp(Fraction(1))
KRR = randomizer("krr").at(k=2)
EPS = Fraction(1, 10)


def merged(lam: Fraction, root: Fraction, cells: int) -> Channel:
    """Laplace noise on a bit with the outputs of each cell merged; ``root`` is lam to the power 1/(2 cells)."""
    falling = [Fraction(1, 2) * (root**-j - root ** -(j + 1)) for j in range(2 * cells)]
    first = (Fraction(1, 2), *falling, 1 / (2 * lam))
    assert sum(first) == 1
    return Channel((first, first[::-1]))


@pytest.mark.parametrize("others", ["blanket", "second", "first"])
@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("differs", [True, False])
def test_cells_are_probabilities(others: str, side: str, differs: bool) -> None:
    cells, beta = laplace_cells(3, side, others, differs=differs)  # type: ignore[arg-type]
    assert sp.simplify(sum(cell.a for cell in cells)) == 1
    assert sp.simplify(sum(cell.b for cell in cells)) == 1
    assert sp.simplify(sum((cell.c for cell in cells), start=beta)) == 1


@pytest.mark.parametrize(("cells", "lam"), [(8, Fraction(16)), (16, Fraction(256))])
@pytest.mark.parametrize(
    "tree", [joint(Laplace(), KRR), joint(Laplace(), Laplace()), hamming(joint(KRR, Laplace()), 2)]
)
def test_lower_side_is_the_channel_with_merged_outputs(tree: Composition, cells: int, lam: Fraction) -> None:
    """With a budget of lam each of two coordinates has its root, a power of 2; the leaf has ``cells/8`` cells."""
    share = Fraction(math.isqrt(int(lam)))
    coordinate = merged(share, Fraction(2), cells // 8)
    parts = [Laplace(cells=cells) if isinstance(part, Laplace) else part for part in tree.parts]
    cut = Composition("joint", tuple(parts), distance=tree.distance)
    channels = [coordinate if isinstance(part, Laplace) else KRR.channel(lam=share) for part in parts]
    explicit = channels[0].tensor(channels[1])
    for n, x in itertools.product((1, 3), (Fraction(6, 5), Fraction(3))):
        found = [
            evaluate_law(law, n, arithmetic="exact").lower
            for family in reduction(Composed(cut, lam)).inner
            for law in laws(family, x, "both", None)
        ]
        pair = [delta(explicit, n=n, exp_eps=x, arithmetic="exact").bracket.exact]
        if tree.distance is None:
            assert max(found) == pair[0]
        else:  # only pairs that differ in both coordinates, which are not always the worst ones
            assert max(found) <= pair[0]  # type: ignore[operator]


def hockey_stick_of_two(budget: float, eps: float) -> float:
    """The divergence of two independent Laplace coordinates, from the law of the privacy loss of one."""

    def beyond(loss: float) -> float:
        """E (1 - exp(eps - loss - L))_+ for one coordinate of loss L."""
        value = lambda l: max(0.0, 1 - math.exp(eps - loss - l))  # noqa: E731,E741
        inside = quad(lambda y: value(budget * (1 - 2 * y)) * budget / 2 * math.exp(-budget * y), 0, 1, limit=200)[0]
        return value(budget) / 2 + value(-budget) * math.exp(-budget) / 2 + inside

    middle = quad(lambda y: beyond(budget * (1 - 2 * y)) * budget / 2 * math.exp(-budget * y), 0, 1, limit=200)[0]
    return beyond(budget) / 2 + beyond(-budget) * math.exp(-budget) / 2 + middle


def test_two_coordinates_of_one_user_against_quadrature() -> None:
    bracket = delta(Composed(joint(Laplace(cells=160), Laplace(cells=160)), ONE), n=1, eps=EPS).bracket
    truth = hockey_stick_of_two(0.5, 0.1)
    assert float(bracket.lower) < truth < float(bracket.upper)
    assert float(bracket.width) < 1e-3 * truth


@pytest.mark.parametrize("n", [2, 50, 10**4])
def test_sides_of_a_joint_composition_close_in(n: int) -> None:
    eps = {2: "0.3", 50: "0.1", 10**4: "0.02"}[n]
    coarse, fine = (
        delta(Composed(joint(Laplace(cells=cells), KRR), ONE), n=n, eps=eps, rtol=1e-4).bracket for cells in (32, 96)
    )
    assert coarse.lower <= fine.lower <= fine.upper <= coarse.upper
    assert fine.width * 3 < coarse.width


MIXTURES = [
    subsample(Laplace(), Fraction(1, 10)),
    parallel([Laplace(), KRR], [Fraction(1, 2), Fraction(1, 2)]),
    subsample(parallel([Laplace(), Laplace()], [Fraction(1, 3), Fraction(2, 3)]), Fraction(1, 2)),
    parallel([Laplace(), joint(KRR, KRR)], [Fraction(1, 2), Fraction(1, 2)]),
]


@pytest.mark.parametrize(
    ("tree", "others", "direction"),
    some(itertools.product(MIXTURES, ("blanket", "second", "first"), members(Direction)), 9),
)
def test_mixtures_lie_between_their_finite_sides(tree: Composition, others: str, direction: str) -> None:
    """Of one user in closed form, against finite laws that come from the components and not from the mixture."""
    assert is_mixture(tree)
    for pattern in patterns(tree):
        options = {"lam": ONE, "others": others, "direction": direction}
        law = mixed_law(tree, pattern, Exp(EPS), **options)  # type: ignore[arg-type]
        value = law.positive_mean() + law.singular
        low, high = (
            evaluate_law(composed_law(tree, pattern, Exp(EPS), side=side, **options), 1, arithmetic="ball")  # type: ignore[arg-type]
            for side in ("lower", "upper")
        )
        assert low.lower <= value.upper
        assert value.lower <= high.upper
        assert high.upper - low.lower < Fraction(1, 10**4)


def test_mixture_by_the_contour() -> None:
    tree = subsample(Laplace(cells=16), Fraction(1, 10))
    found = delta(Composed(tree, ONE), n=10**5, eps="0.002", arithmetic="ball", rtol=1e-9).bracket
    assert found.width <= Fraction(1, 10**9) * found.upper
    sides = [
        Contour(rtol=1e-4).bracket(composed_law(tree, (True, True), Exp(Fraction(1, 500)), lam=ONE, side=side), 10**5)  # type: ignore[arg-type]
        for side in ("lower", "upper")
    ]
    assert sides[0].lower <= found.lower <= found.upper <= sides[1].upper


def test_real_pairs_stay_below() -> None:
    for tree in (joint(Laplace(cells=40), KRR), MIXTURES[1]):
        found = delta(Composed(tree, ONE), n=20, eps=EPS, attained=True, rtol=1e-4)
        assert found.attained is not None
        assert 0 < found.attained.lower < found.bracket.lower


def test_inverse_of_a_mixture() -> None:
    found = epsilon(Composed(MIXTURES[0], ONE), n=10**4, delta="1e-6").bracket
    assert 0 < found.width <= Fraction(1, 10**6) * found.upper


@pytest.mark.parametrize(
    "text", ["joint(laplace(cells=40),2)", "subsample(laplace,1/2)", "hamming(joint(laplace,krr(k=2)),1)"]
)
def test_from_the_local_budget_on_nothing_is_left(text: str) -> None:
    tree = parse(text)
    assert isinstance(tree, Composition)
    bracket = delta(Composed(tree, ONE), n=100, eps=1).bracket
    assert bracket.lower == bracket.upper == 0


def test_expressions() -> None:
    assert parse("laplace(domain=unit,cells=50)") == Laplace(domain="unit", cells=50)
    nested = parse("subsample(joint(laplace(cells=40),krr(k=3)),1/4)")
    assert isinstance(nested, Composition)
    assert not is_mixture(nested)
    assert nested.name.startswith("parallel(1/4:joint(laplace(lam, domain=binary, cells=40),krr(lam, k=3)),3/4:")


def test_what_has_no_finite_form_is_refused() -> None:
    with pytest.raises(Unsupported, match="continuum of outputs"):
        joint(Laplace(), KRR).channel(ONE)
    with pytest.raises(Unsupported, match="no finite decomposition"):
        decomposition(joint(Laplace(), KRR), (True, True))
    with pytest.raises(ValueError, match="expected an open budget"):
        joint(Laplace(ONE), KRR)
    with pytest.raises(ValueError, match="expected a ratio cap > 1"):
        delta(Laplace(), n=3, eps=EPS)
