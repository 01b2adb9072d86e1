import random
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.base.results import Bracket, Certified
from symshuffle.channels.channel import Channel
from symshuffle.utility.anchored import AnchoredLaw, decompose, mix_laws, template_signal
from symshuffle.utility.frontiers.caps import extreme_templates, raw_cap_trace
from symshuffle.utility.frontiers.template_laws import best_law, extreme_laws

F = Fraction


def _templates(source, count, k):
    rows = ([F(source.randint(0, 6)) for _ in range(k)] for _ in range(count))
    return [tuple(k * a / sum(row) for a in row) for row in rows if sum(row)]


def test_the_best_law_is_the_best_extreme_one():
    source = random.Random(5)
    for trial in range(6):
        k = 2 + trial % 3
        points = [*_templates(source, 5, k), (F(1),) * k]
        weights = {u: F(source.randint(-5, 9)) for u in points}
        laws = list(extreme_laws(points))
        assert all(law.is_extreme() for law in laws)
        values = [sum(w * weights[u] for u, w in law.template.atoms()) for law in laws]
        found = best_law(points, weights.__getitem__)
        found.verify()
        assert isinstance(found, Certified)
        assert found.value.exact == max(values)
        assert found.law.is_extreme()


def test_extreme_laws_are_those_of_decompositions():
    channel = Channel.from_rows([["1/2", "1/4", "1/8", "1/8"], ["1/8", "1/2", "1/8", "1/4"]])
    law = AnchoredLaw.from_channel(channel)
    known = list(extreme_laws(law.templates))
    assert all(part in known for _, part in decompose(law))


def test_many_atoms_decompose():
    """More than 120 atoms took minutes."""
    source = random.Random(2)
    rows = []
    for _ in range(3):
        row = [F(source.randint(1, 40)) for _ in range(140)]
        rows.append(tuple(entry / sum(row) for entry in row))
    law = AnchoredLaw.from_channel(Channel(tuple(rows)))
    assert len(law.weights) > 120
    parts = decompose(law)
    assert mix_laws([part for _, part in parts], [share for share, _ in parts]) == law


def test_false_certificates_are_refused():
    found = best_law(extreme_templates(3, F(4)), template_signal)
    assert found.value.exact == raw_cap_trace(3, F(4))
    value = found.value.exact
    other = AnchoredLaw.from_atoms([((F(1),) * 3, F(1))])
    for place, false in (
        ("law", replace(found, law=other)),
        ("prices", replace(found, prices=tuple(z * F(99, 100) for z in found.prices))),
        ("value", replace(found, value=Bracket(value * 2, value * 2, Rigour.EXACT, "lp", ""))),
    ):
        with pytest.raises(CertificateError) as caught:
            false.verify()
        assert caught.value.place == place


def test_refusals():
    with pytest.raises(InputError, match="convex hull"):
        best_law([(F(2), F(0))], template_signal)
    with pytest.raises(InputError, match="templates"):
        best_law([], template_signal)
    with pytest.raises(InputError, match="entries"):
        best_law([(F(1), F(1)), (F(1),) * 3], template_signal)
    with pytest.raises(Unsupported, match="best_law"):
        next(extreme_laws(extreme_templates(8, F(2))))
