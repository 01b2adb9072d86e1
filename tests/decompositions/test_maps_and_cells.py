"""Simulations of one experiment by another, audits, cells by counting and slopes: small cases by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import mechanism
from symshuffle.channel import Channel
from symshuffle.choices import Others
from symshuffle.decompositions import audit
from symshuffle.decompositions import postprocessing as maps
from symshuffle.decompositions.audit import check_blanket, check_level
from symshuffle.decompositions.backgrounds import ConstantBackground, constant_backgrounds, reaches
from symshuffle.decompositions.counting import ROLES, Cell, count_cells, merge_into
from symshuffle.decompositions.model import Decomposition
from symshuffle.decompositions.rising import Slope
from symshuffle.decompositions.symbolic import (
    counted_decomposition,
    evaluate_atom,
    is_standard,
    lines_of,
    optimal_decomposition,
    quick_law,
)
from symshuffle.errors import InputError, NotDecided
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Exp

F = Fraction
HALF, THIRD, QUARTER = F(1, 2), F(1, 3), F(1, 4)
LEFT = [(F(1), F(0)), (THIRD, F(2, 3))]
"""Left-overs of two users over two messages."""


def test_images_add_up():
    law = {(1, 0): THIRD, (0, 1): F(2, 3)}
    image = maps.push_forward(law, lambda h: {(sum(h),): HALF, h: HALF})
    assert image == {(1,): HALF, (1, 0): F(1, 6), (0, 1): THIRD}


def test_users_are_drawn_without_replacement():
    """One of two users, each with probability 1/2; both of them: one sample of each."""
    one = maps._drawn_in_turn(LEFT, 1, 2)
    assert one == {(1, 0): HALF * (1 + THIRD), (0, 1): HALF * F(2, 3)}
    both = maps._drawn_in_turn(LEFT, 2, 2)
    assert both == {(2, 0): THIRD, (1, 1): F(2, 3)}
    assert maps._drawn_in_turn(LEFT, 0, 2) == {(0, 0): 1}


@pytest.mark.parametrize("make", [
    lambda: maps.standard_clone_map((HALF, HALF), (QUARTER, F(3, 4)), LEFT),
    lambda: maps.general_clone_map([(HALF, HALF), (QUARTER, F(3, 4))], LEFT),
])  # fmt: skip
def test_clones_become_samples(make):
    """One symbol 0, none of 1 and one left-over: a sample of (1/2, 1/2) and one of (2/3, 1/3), the mean of LEFT."""
    kernel = make()
    assert kernel((1, 0, 1)) == {(2, 0): THIRD, (1, 1): HALF, (0, 2): F(1, 6)}
    assert kernel((0, 1, 0)) == {(1, 0): QUARTER, (0, 1): F(3, 4)}
    assert kernel((0, 0, 2)) == {(2, 0): THIRD, (1, 1): F(2, 3)}
    with pytest.raises(InputError, match="3 users without"):
        kernel((0, 0, 3))


def test_the_blanket_experiment_is_filled_up():
    kernel = maps.blanket_map(LEFT, messages=2)
    assert kernel((2, 1)) == {(2, 1): 1}
    assert kernel((1, 1)) == {(2, 1): HALF * (1 + THIRD), (1, 2): THIRD}
    assert kernel((1, 0)) == {(3, 0): THIRD, (2, 1): F(2, 3)}
    for wrong in ((0, 0), (2, 2)):
        with pytest.raises(InputError, match="users without"):
            kernel(wrong)


def test_counts_are_written_down_and_merged():
    assert maps.blanket_to_primary(5)((1, 2)) == {(1, 2, 2): 1}
    assert maps.blanket_to_simplified([[0, 2], [1]], 6)((1, 2, 1)) == {(2, 2, 2): 1}
    kernel = maps.clone_to_blanket([(F(1), F(0))], (F(0), F(1)), THIRD)
    # Each of two left-overs stays with 1/3 as a message 1.
    assert kernel((1, 2)) == {(1, 0): F(4, 9), (1, 1): F(4, 9), (1, 2): F(1, 9)}


def test_what_left_overs_have_in_common():
    channel = Channel.from_rows([["1/2", "1/2", 0], ["1/4", "1/2", "1/4"]])
    parts = Decomposition((HALF, HALF), (QUARTER, F(3, 4)), (QUARTER, QUARTER), HALF, ((1, 0, 0), (0, 1, 0)))
    # The blanket is (1/4, 1/2, 0), the shared part (1/4, 1/4, 0): mu = 1/4 at the middle, half of the left-over.
    assert maps.common_left_over(parts, channel) == ((0, 1, 0), HALF)
    full = Decomposition((HALF, HALF), (QUARTER, F(3, 4)), (QUARTER, HALF), QUARTER, ((1, 0, 0), (0, 1, 0)))
    assert maps.common_left_over(full, channel) == ((1, 0, 0), 0)
    over = Decomposition((HALF, HALF), (QUARTER, F(3, 4)), (F(3, 8), QUARTER), F(3, 8), ((1, 0, 0), (0, 1, 0)))
    with pytest.raises(InputError, match="shared part at output 0"):
        maps.common_left_over(over, channel)


def test_laws_of_the_blanket_experiment():
    """gamma = 2/3 and omega uniform for cap 2: alone with 1/3, with one more sample with 2/3."""
    rr = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    first, second = maps.blanket_laws(rr, (0, 1), 2)
    assert first == {(1, 0): F(2, 9), (0, 1): F(1, 9), (2, 0): F(2, 9), (1, 1): THIRD, (0, 2): F(1, 9)}
    assert second[(1, 0)] == F(1, 9) and second[(0, 2)] == F(2, 9)
    apart = maps.blanket_laws(Channel.from_rows([[1, 0], [0, 1]]), (0, 1), 3)
    assert apart == ({(1, 0): 1}, {(0, 1): 1})


W = Channel.from_rows([["1/2", "1/2", 0], ["1/4", "3/4", 0]])


def test_levels_on_both_sides_of_a_claim():
    found = check_level(W, F(2))
    assert found.as_claimed and found.above == ()
    assert (found.largest.first, found.largest.second, found.largest.output, found.largest.ratio) == (0, 1, 0, 2)
    assert found.to_dict()["largest"] == {"pair": [0, 1], "output": 0, "ratio": "2"}
    below = check_level(W, F(199, 100))
    assert [p.output for p in below.above] == [0]
    assert below.to_dict()["as_claimed"] is False
    # exp(0) = 1 is rational: the output with ratio 1 is not above it.
    even = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    assert [p.output for p in check_level(even, Exp(F(0))).above] == [0, 1]
    assert [p.output for p in check_level(even, F(1)).above] == [0, 1]
    assert audit._exceeds(None, F(10)) and not audit._exceeds(F(2), Exp(F(1))) and audit._exceeds(F(3), Exp(F(1)))
    ends = check_level(W).to_dict()["eps0"]
    assert float(ends["lower"]) <= 0.6931471805599453 <= float(ends["upper"])
    with pytest.raises(InputError, match="1 input"):
        check_level(W.restrict([0]))
    with pytest.raises(InputError, match="not rational"):
        check_level(Channel.from_rows([[0.5, 0.5], [0.5, 0.5]]))


def test_blankets_on_both_sides_of_a_claim():
    """The least probabilities are (1/4, 1/2, 0), their sum 3/4."""
    right = (QUARTER, HALF, F(0))
    assert check_blanket(W, mass=F(3, 4), masses=right).as_claimed
    assert check_blanket(W).as_claimed is None and check_blanket(W).safe
    part = check_blanket(W, masses=(QUARTER, QUARTER, F(0)))
    assert (part.differs, part.as_claimed, part.safe) == ((1,), False, True)
    swapped = check_blanket(W, mass=F(3, 4), masses=(HALF, QUARTER, F(0)))
    assert (swapped.differs, swapped.safe) == ((0, 1), False)
    assert (check_blanket(W, mass=F(1)).safe, check_blanket(W, mass=F(0)).safe) == (False, True)
    assert check_blanket(W, mass=F(3, 4), masses=part.claimed_masses).as_claimed is False
    assert swapped.to_dict()["differs_at"] == [0, 1] and swapped.to_dict()["mass"] == "3/4"
    for named in ({"mass": F(-1, 9)}, {"mass": F(10, 9)}, {"masses": (F(2), F(0), F(0))}, {"masses": (F(0),)}):
        with pytest.raises(InputError, match="blanket"):
            check_blanket(W, **named)


S = sp.Symbol("s")


def test_cells_merge_by_their_ratios():
    cells = [Cell.of(*map(sp.Integer, (2, 4, 6)))]
    merge_into(cells, Cell.of(*map(sp.Integer, (1, 2, 3))))
    assert (cells[0].a, cells[0].b, cells[0].c) == (3, 6, 9)
    assert cells[0].ratios == (sp.Rational(1, 3), sp.Rational(2, 3))
    for other in ((1, 2, 4), (1, 3, 3), (2, 2, 3), (0, 0, 1)):
        merge_into(cells, Cell.of(*map(sp.Integer, other)))
    assert len(cells) == 5
    merge_into(cells, Cell.of(*map(sp.Integer, (0, 0, 0))))
    assert len(cells) == 5
    assert Cell.of(sp.Integer(1), sp.Integer(2), sp.Integer(0)).ratios is None
    mapped = cells[0].map(lambda e: e * S)
    assert (mapped.a, mapped.c, mapped.ratios) == (3 * S, 9 * S, (S / 3, 2 * S / 3))


def test_roles_of_inputs():
    """Constant backgrounds are the exact cells: of 3-RR at lam = 4 over the third input by their rows."""
    krr = mechanism("krr").at(k=3)
    cells, beta = count_cells(krr.at(lam=4).with_defaults(), ROLES[True, Others.THIRD])
    sixth = sp.Rational(1, 6)
    assert beta == 0
    assert {(c.a, c.b, c.c) for c in cells} == {
        (4 * sixth, sixth, sixth), (sixth, 4 * sixth, sixth), (sixth, sixth, 4 * sixth),
    }  # fmt: skip
    same = counted_decomposition(krr.at(lam=4), differs=False, others="second")
    assert {(c.a, c.b, c.c) for c in same.cells} == {(1, 1, 1)}
    other = counted_decomposition(krr.at(lam=4), differs=False, others="third")
    assert {(c.a, c.c) for c in other.cells} == {(4 * sixth, sixth), (sixth, 4 * sixth), (sixth, sixth)}


def test_decompositions_as_data():
    krr = mechanism("krr").at(k=3)
    found = optimal_decomposition(krr)
    assert is_standard(found) and not is_standard(counted_decomposition(krr, others="second"))
    assert sp.simplify(found.gamma - 3 / (LAM + 2)) == 0
    lines = lines_of(found.cells, found.beta)
    assert lines[-1][:2] == ["0", "0"] and lines[-1][3] == ["0", "0"] and len(lines) == len(found.cells) + 1
    assert lines_of(found.cells, None) == lines[:-1]
    law = found.map(lambda e: e.subs(LAM, 4)).law(F(2))
    assert dict(law.atoms()) == {F(2): F(1, 6), F(-7): F(1, 6), F(-1): F(1, 6), F(0): HALF}
    assert evaluate_atom(sp.sqrt(2) ** 2 - 2, 64) == 0
    assert evaluate_atom(sp.sqrt(2), 64).lower ** 2 < 2
    with pytest.raises(NotDecided):
        quick_law(krr, F(2))
    with pytest.raises(InputError, match="direction"):
        found.gparv(direction="up")
    quick = quick_law(krr.at(lam=4), F(2), others="third")
    assert dict(quick.atoms()) == {F(2): F(1, 6), F(-7): F(1, 6), F(-1, 4): F(2, 3)}


def test_backgrounds_and_their_datasets():
    three, two = mechanism("krr").at(k=3, lam=2), mechanism("krr").at(k=2, lam=2)
    assert [b.others for b in constant_backgrounds(three)] == [Others.THIRD, Others.SECOND, Others.FIRST]
    assert [b.others for b in constant_backgrounds(two)] == [Others.SECOND, Others.FIRST]
    assert reaches(three.with_defaults()) and not reaches(two.with_defaults())
    for others, place in (("first", 0), ("second", 1), ("third", 2)):
        one = ConstantBackground(three, others)
        assert one.datasets(4) == f"X0 = (0, {place} x 3), X1 = (1, {place} x 3), inputs named 0, 1, 2"
        assert one.cells.beta == 0
    with pytest.raises(InputError, match="others"):
        ConstantBackground(three, "blanket")


@pytest.mark.parametrize(("weights", "spreads"), [
    # Stop-loss at the kinks -1, 0, 1 of masses on -1, 0, 1.
    ({-1: 1, 0: -2, 1: 1}, True), ({-1: -1, 0: 2, 1: -1}, False),
    ({-2: 1, -1: -2, 1: 2, 2: -1}, False), ({-3: 1, -1: -1, 1: -1, 3: 1}, True),
])  # fmt: skip
def test_slopes_by_their_stop_loss(weights, spreads):
    loss = [sum(w * max(v - t, 0) for v, w in weights.items()) for t in weights]
    assert (min(loss) >= 0) == spreads
    slope = Slope(tuple(((sp.Integer(v), sp.Integer(0)), sp.Integer(w)) for v, w in weights.items()))
    assert slope.spreads(F(1), "forward", None) == spreads
    turned = Slope(tuple(((sp.Integer(0), sp.Integer(-v)), sp.Integer(w)) for v, w in weights.items()))
    # Forward G = 0 - x (-v) = 2 v at x = 2.
    assert turned.spreads(F(2), "forward", None) == spreads
    assert turned.spreads(F(2), "reverse", None) == spreads  # G = -v: the mirror image has the same order
