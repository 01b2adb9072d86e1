"""Roads for densities: the two laws in convex order of a uniform one, what is refused, and which road is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction as F
from types import SimpleNamespace

import flint
import numpy as np
import pytest

from symshuffle.continuous_law import ContinuousLaw, Piece
from symshuffle.engines import densities
from symshuffle.errors import Unsupported
from symshuffle.numbers import Ball
from symshuffle.results import Bracket, Rigour

UNIFORM = ContinuousLaw((Piece(F(-1), F(1), lambda u: u, lambda u: u * 0 + flint.arb("0.4")),), Ball(F(1, 5), F(1, 5)))


@pytest.mark.parametrize("cells", [2, 8])
def test_the_two_laws_merge_and_spread_each_cell(cells):
    """Cells of mass 0.8/cells: their middles below, half at either end above, and the mass at 0 in both."""
    below, above = densities.merged_and_spread(UNIFORM, cells)
    width = 2 / cells
    middles = {round(-1 + width * (k + 0.5), 9): 0.8 / cells for k in range(cells)}
    middles[0.0] = middles.get(0.0, 0.0) + 0.2
    found = {round(float(v), 9): float(w) for v, w in zip(below.values, below.weights, strict=True)}
    assert found == pytest.approx(middles)
    ends: dict[float, float] = {}
    for v, w in zip(above.values, above.weights, strict=True):
        ends[round(float(v), 6)] = ends.get(round(float(v), 6), 0.0) + float(w)
    expected = {round(-1 + width * k, 6): 0.8 / cells / (1 if 0 < k < cells else 2) for k in range(cells + 1)}
    expected[0.0] += 0.2
    assert ends == pytest.approx(expected, abs=1e-6)
    for law in (below, above):
        assert (np.diff(law.values) >= 0).all() and law.share == 2.0**-49
        assert 8 * 2.0**-53 <= law.shift < 1e-6


def test_pieces_share_the_cells_by_their_lengths_but_have_two_at_least():
    half = lambda u: u * 0 + flint.arb("0.25")  # noqa: E731
    law = ContinuousLaw((Piece(F(0), F(3), lambda u: u, half), Piece(F(5), F(6), lambda u: u, half)), Ball(F(0), F(0)))
    below, _ = densities.merged_and_spread(law, 8)
    assert sum(v < 4 for v in below.values) == 6 and sum(v > 4 for v in below.values) == 2
    few, _ = densities.merged_and_spread(law, 1)
    assert len(few.values) == 4


def test_two_sides_are_divided_by_the_users_and_moved_by_the_tails():
    """E[(U_1 + U_2)_+]/2 with each U uniform on [-1, 1] with chance 0.8, else 0: (0.64/3 + 0.32/4)/2."""
    truth = (0.64 / 3 + 0.32 / 4) / 2
    found = densities.two_sided(UNIFORM, 2, cells=100)
    assert float(found.lower) <= truth <= float(found.upper) < truth * 1.001
    wide = densities.two_sided(replace(UNIFORM, missing=(F(1, 100), F(1, 50))), 2, cells=100)
    assert float(found.lower - wide.lower) == pytest.approx(0.01) and float(wide.upper - found.upper) == pytest.approx(
        0.02
    )
    assert densities.two_sided(replace(UNIFORM, missing=(F(1), F(0))), 2, cells=20).lower == 0
    assert found.rigour is Rigour.FLOAT64 and found.engine == "doubling"


def test_a_bracket_wider_than_asked_says_so():
    exact = Bracket(F(3), F(4), Rigour.FLOAT64, "doubling", "how")
    assert densities._said(exact, 0.25) is exact
    wide = densities._said(exact, 0.2499)
    assert wide.aimed == 0.2499 and (wide.lower, wide.upper) == (3, 4)


@dataclass(frozen=True)
class Cut:
    """A pair whose law has given tails, whatever tail is asked for."""

    lines: int = 1
    ceiling: F | None = None

    @property
    def pair(self):
        return SimpleNamespace(stretches=(None,) * self.lines, law=lambda *_, **__: UNIFORM)

    exp_eps = F(1)


def roads(monkeypatch, *, refused=False):
    """Which road answers."""
    taken = []

    def by_transform(law, n, rigour, rel):
        if refused:
            raise Unsupported("falls slowly")
        taken.append("transform")
        return Bracket(F(1), F(1), rigour, "bromwich", "")

    def by_cells(law, n, rel):
        taken.append("cells")
        return Bracket(F(1), F(1), Rigour.FLOAT64, "doubling", "")

    monkeypatch.setattr(densities, "_by_transform", by_transform)
    monkeypatch.setattr(densities, "_by_cells", by_cells)
    return taken


def ask(n, rigour="float64", **given):
    return densities.density_bracket(Cut(**given), n, rigour=rigour, rel=0.1)


def test_few_users_go_by_cells_and_more_by_the_transform(monkeypatch):
    taken = roads(monkeypatch)
    ask(5)
    ask(6)
    assert taken == ["cells", "transform"]
    with pytest.raises(Unsupported, match="exact"):
        ask(6, "exact")
    with pytest.raises(Unsupported, match="ball at n = 5"):
        ask(5, "ball")


@pytest.mark.parametrize("reached", [1e-5, 1e-3])
def test_a_coarser_width_is_tried_where_the_one_asked_for_is_out_of_reach(monkeypatch, reached):
    asked = []

    def by_transform(law, n, rigour, rel):
        asked.append(rel)
        if rel < reached:
            raise Unsupported("falls slowly")
        return Bracket(F(99), F(100), rigour, "bromwich", "")

    monkeypatch.setattr(densities, "_by_transform", by_transform)
    monkeypatch.setattr(densities, "_by_cells", lambda *_: pytest.fail("by cells"))
    monkeypatch.setattr(densities, "_next_to_nothing", lambda *_: (F(1), ""))
    found = densities.density_bracket(Cut(), 500, rigour="ball", rel=1e-8)
    assert asked == [width for width in (1e-8, 1e-5, 1e-3) if width <= reached]
    assert (found.lower, found.upper, found.aimed, found.rigour) == (99, 100, 1e-8, Rigour.BALL)
    asked.clear()
    with pytest.raises(Unsupported, match="falls slowly"):
        reached = 2
        densities.density_bracket(Cut(), 5000, rigour="ball", rel=1e-4)
    assert asked == [1e-4, 1e-3]


@pytest.mark.parametrize(("ceiling", "upper"), [(None, F(1)), (F(1, 2), F(1, 2)), (F(1, 20), F(1, 10)), (F(7), F(1))])
def test_no_bracket_by_cells_ends_above_the_value_for_one_user(monkeypatch, ceiling, upper):
    monkeypatch.setattr(densities, "_by_cells", lambda *_: Bracket(F(1, 10), F(5), Rigour.FLOAT64, "doubling", ""))
    found = densities.density_bracket(Cut(ceiling=ceiling), 3, rigour="float64", rel=1e-8)
    assert (found.lower, found.upper) == (F(1, 10), upper)
    narrow = Bracket(F(1, 100), F(2, 100), Rigour.FLOAT64, "doubling", "")
    monkeypatch.setattr(densities, "_by_cells", lambda *_: narrow)
    assert densities.density_bracket(Cut(ceiling=F(1, 20)), 3, rigour="float64", rel=1e-8) is narrow


def test_the_error_of_a_pass_follows_what_is_known_of_the_value():
    about = densities._likely(Cut(), 6, F(1, 10**9))
    assert 0 < about < densities.two_sided(UNIFORM, 6, cells=40).upper


def test_where_the_transform_falls_too_slowly(monkeypatch):
    """Next to nothing is an answer at once; then cells, up to a thousand users and in doubles."""
    taken = roads(monkeypatch, refused=True)
    monkeypatch.setattr(densities, "_next_to_nothing", lambda *_: (densities.NOTHING, "a bound"))
    ask(1000)
    assert taken == ["cells"]
    with pytest.raises(Unsupported, match="falls slowly"):
        ask(1001)
    with pytest.raises(Unsupported, match="ball at n = 7"):
        ask(7, "ball")
    monkeypatch.setattr(densities, "_next_to_nothing", lambda *_: (densities.NOTHING / 2, "a bound"))
    found = ask(10**6, "ball")
    assert (found.lower, found.upper, found.aimed, found.engine) == (0, densities.NOTHING / 2, 0.1, "none")


def test_next_to_nothing_is_the_value_for_one_user_or_chernoffs_bound(monkeypatch):
    small = densities.NOTHING / 10
    assert densities._next_to_nothing(Cut(ceiling=small), 9)[0] == small
    n, theta = 50, 0.25
    monkeypatch.setattr(densities, "steepest_line", lambda law, n: theta)
    chernoff = (0.2 + 0.8 * math.sinh(theta) / theta) ** n / (math.e * theta * n)
    assert float(densities._next_to_nothing(Cut(), n)[0]) == pytest.approx(chernoff, rel=1e-9)
    assert densities._next_to_nothing(Cut(ceiling=F(1, 10**6)), n)[0] == F(1, 10**6)

    def nowhere(law, n):
        raise Unsupported("nowhere positive")

    monkeypatch.setattr(densities, "steepest_line", nowhere)
    assert densities._next_to_nothing(Cut(ceiling=F(1, 7)), n)[0] == F(1, 7)
    assert densities._next_to_nothing(Cut(), n)[0] == 1


def test_atoms_of_no_weight_are_dropped_and_the_others_sorted():
    found = densities._atoms([(1.0, 0.25), (-1.0, 0.75), (0.0, 0.0)], 0.5)
    assert found.values.tolist() == [-1.0, 1.0] and found.weights.tolist() == [0.75, 0.25] and found.shift == 0.5
