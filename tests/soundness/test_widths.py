"""A bracket wider than asked is tried again by the next engine, and says so: laws by users, widths and arithmetics."""

import importlib
import itertools
from dataclasses import dataclass
from fractions import Fraction as F

import pytest

import symshuffle as ss
from symshuffle import Bracket, Law, Unsupported
from symshuffle.accountants import evaluate_law
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.cli import main
from symshuffle.engines.registry import offers

module = importlib.import_module("symshuffle.accountants.bounds.evaluate")


def of(name, exp_eps, **parameters):
    """The law of a mechanism at a level."""
    source = reduction(ss.randomizer(name).at(**parameters))
    return source.laws(exp_eps, "forward", None)[0]


LAWS = {
    "one heavy atom": of("krr", F(21, 20), k=1000, lam=F(5, 2)),
    "a few atoms": of("krr", F(6, 5), k=3, lam=3),
    "nearly at its level": of("rr", F(299, 100), lam=3),
    "a rare large atom": Law.from_atoms([(F(1000), F(1, 10**6)), (F(-1), 1 - F(1, 10**6))]),
    "off any lattice": Law.from_atoms([(F(j * j % 97 - 60, 41 + j), F(1, 12)) for j in range(12)]),
}
ASKED = [
    *itertools.product(LAWS, (1, 300, 10_000), (1e-3, 1e-7), ("float64",)),
    *itertools.product(LAWS, (1, 300), (1e-2,), ("ball",)),
]


@pytest.mark.parametrize(("law", "n", "rtol", "arithmetic"), ASKED)
def test_a_width_is_met_or_no_engine_that_offers_meets_it(law, n, rtol, arithmetic):
    try:
        found = evaluate_law(LAWS[law], n, rtol=rtol, arithmetic=arithmetic)
    except Unsupported as refusal:
        assert len(str(refusal).splitlines()) == 1
        return
    if found.width <= F(rtol) * found.upper:
        assert found.aimed is None
        return
    assert found.aimed == rtol
    assert "was aimed at" in found.evaluation
    assert f"{rtol:.1e}" in found.evaluation
    for engine in offers(LAWS[law], n, arithmetic, rtol):
        try:
            other = engine.bracket(LAWS[law], n)
        except Unsupported:
            continue
        assert other.width > F(rtol) * other.upper, f"{engine} meets the width, and was not asked"
        assert other.width >= found.width * F(99, 100)


@dataclass(frozen=True)
class Told:
    """An engine that says what it is told to."""

    ends: tuple[F, F] | None
    name: str = "told"

    def bracket(self, law, n):
        if self.ends is None:
            raise Unsupported("not this one")
        return Bracket(*self.ends, "float64", "told", "told")


WIDE, WIDER, NARROW, NONE = Told((F(1), F(2))), Told((F(1), F(3))), Told((F(3, 2), F(3, 2))), Told(None)


@pytest.mark.parametrize("order", list(itertools.permutations((WIDE, WIDER, NARROW, NONE))))
def test_the_next_engine_is_asked_until_one_meets_the_width(monkeypatch, order):
    asked = []

    def offered(*_, **__):
        for engine in order:
            asked.append(engine)
            yield engine

    monkeypatch.setattr(module, "offers", offered)
    law = Law.from_atoms([(F(3), F(1, 2)), (F(-1), F(1, 2))])
    found = evaluate_law(law, 7)
    assert (found.lower, found.aimed) == (F(3, 2), None)
    assert asked == list(order[: order.index(NARROW) + 1])
    order = tuple(engine for engine in order if engine is not NARROW)
    found = evaluate_law(law, 7)
    assert (found.lower, found.upper, found.aimed) == (1, min(F(2), law.ceiling), 1e-6)
    assert "was aimed at" in found.evaluation


def test_what_stayed_wide_is_said_first_and_not_only_in_how(capsys):
    """Sparse enumeration leaves [0, 2e-21] here; the contour has 4.516e-70."""
    source = ss.randomizer("krr").at(k=1000, eps0=1)
    found = ss.delta(source, n=2000, eps="0.05").bracket
    assert found.aimed is None
    assert F("4.516e-70") < found.lower < found.upper < F("4.5162e-70")
    wide = ss.delta(source, n=2000, eps="0.05", engine=ss.engines.Sparse())
    assert wide.bracket.aimed == 1e-6
    assert wide.to_dict()["aimed"] == 1e-6
    capsys.readouterr()
    words = ["delta", "krr", "-p", "k=1000", "--eps0", "1", "--n", "2000", "--eps", "0.05", "--engine", "sparse"]
    assert main(words) == 0
    assert "aimed at 1.0e-06" in " ".join(capsys.readouterr().out.split())
