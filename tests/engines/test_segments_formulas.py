"""What segments add to a contour in balls: nodes up to a height, the sum of their errors and of their decays."""

from fractions import Fraction as F

import flint
import pytest

from symshuffle.engines import saddle
from symshuffle.engines.segments import Segments
from symshuffle.mixed_law import MixedLaw, Segment, Transform
from symshuffle.numbers import working_precision

SEGMENTS = (Segment(F(-1), F(1, 2), F(1, 4), F(1)), Segment(F(1), F(-1, 3), F(1, 8), F(1, 2)))
PLAN = saddle.Plan(c=0.4, step=0.25, nodes=80, tau=0.3)


def law():
    masses = sum((s.moments(192)[0] for s in SEGMENTS), start=F(0))
    return MixedLaw((F(1, 3), F(-2)), (F(1, 5), F(4, 5) - masses), SEGMENTS)


@pytest.mark.parametrize(("height", "last"), [(8.1, 32), (8.0, 32), (7.99, 31), (25.0, 80)])
def test_nodes_end_below_the_height_and_at_the_end_of_the_line(monkeypatch, height, last):
    asked = []
    monkeypatch.setattr(MixedLaw, "rule", lambda self, c, **named: asked.append((c, named)) or (24, height))
    with working_precision(96):
        found = Segments.of(law(), 7, PLAN, 1e-3)
        c = flint.arb("0.4")
        parts = [Transform.of(s) for s in SEGMENTS]
        assert found.error(c).overlaps(sum((t.quadrature_error(24, c, flint.arb(height)) for t in parts), flint.arb(0)))
        assert found.decay(c).overlaps(parts[0].decay(c) + parts[1].decay(c))
        above = sum((w * (c * v).exp() for v, w in found.above), flint.arb(0))
        exact = sum((w * (c * v).exp() for v, w in ((flint.arb(1) / 3, flint.arb("0.2")),)), flint.arb(0))
    assert (found.order, found.last, found.atoms, len(found.transforms)) == (24, last, 2, 2)
    assert asked == [(0.4, {"end": 20.0, "tolerance": pytest.approx(1e-4 * 1e-3 / 7, rel=1e-12, abs=0)})]
    assert len(found.above) == 2 + 2 * 2 * 64 and above > exact
