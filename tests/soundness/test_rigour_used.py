"""An answer names the arithmetic that was used, and an engine that cannot give a arithmetic does not refuse for it."""

import random
from fractions import Fraction as F

import pytest

from symshuffle import randomizer
from symshuffle.accountants.bounds import evaluate as evaluation
from symshuffle.accountants.bounds.brackets import bound_at
from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.choices import STRENGTH, Arithmetic, members, weakest_arithmetic
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp
from symshuffle.base.results import Bracket
from symshuffle.engines.registry import engine_classes
from tests.shell import answer, refused

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.conformance) for seed in range(1, 6))]
SIZES = {"krr": {"k": (3, 7, 40)}, "subset-selection": {"k": (10,), "s": (2, 4)}, "rappor": {"D": (4, 10)}}


def drawn(seed):
    draw = random.Random(seed)
    name = draw.choice(list(SIZES))
    values = {key: draw.choice(some) for key, some in SIZES[name].items()}
    level = draw.choice(({"lam": draw.choice((2, 9))}, {"eps0": draw.choice((1, 4, 8))}))
    n = draw.choice((2, 12, 150, 2000))
    order = draw.choice((F(11, 10), Exp(F(3, 10)), Exp(F(14, 5))))
    return f"{name} {values} {level} n={n} {order}", reduction(randomizer(name).at(**values, **level)), n, order


def quick_engines(law):
    """Every engine under settings that take about a second."""
    return [kind.trials(law)[0] for _, kind in engine_classes()]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_refusal_where_an_engine_of_that_rigour_answers(seed):
    text, source, n, order = drawn(seed)
    laws = source.laws(order, "forward", 256)
    for arithmetic in members(Arithmetic):
        request = Method("forward", None, arithmetic, 1e-3, 256)
        try:
            found = bound_at(source, n, order, request)
        except Unsupported as reason:
            for engine in quick_engines(laws[0]):
                try:
                    given = [engine.bracket(law, n) for law in laws]
                except Unsupported:
                    continue
                best = weakest_arithmetic(one.arithmetic for one in given)
                assert STRENGTH[best] < STRENGTH[arithmetic], (
                    f"{text}: {engine.name} answers at {best}, refused: {reason}"
                )
        else:
            assert STRENGTH[found.arithmetic] >= STRENGTH[arithmetic], text


@pytest.mark.parametrize("seed", SEEDS)
def test_rigour_of_an_answer_is_that_of_its_engine(seed):
    _, source, n, order = drawn(seed)
    law = source.laws(order, "forward", 256)[0]
    for engine in quick_engines(law):
        try:
            given = engine.bracket(law, n)
        except Unsupported:
            continue
        for arithmetic in (None, "float64", given.arithmetic):
            found = evaluate(law, n, Method(engine=engine, arithmetic=arithmetic, rtol=1e-3))
            assert found.arithmetic is (given.arithmetic if not law.never_positive else found.arithmetic)
        for arithmetic in members(Arithmetic):
            if STRENGTH[arithmetic] > STRENGTH[given.arithmetic] and not law.never_positive:
                with pytest.raises(Unsupported, match="use "):
                    evaluate(law, n, Method(engine=engine, arithmetic=arithmetic, rtol=1e-3))


def test_balls_answer_where_doubles_were_asked_first(capsys):
    subset = ("delta", "subset-selection", "-p", "k=10", "-p", "s=4", "--eps0", 8, "--n", 162354, "--eps", "0.3")
    found = answer(capsys, *subset, "--arithmetic", "ball")
    assert found["arithmetic"] == "ball" and abs(float(found["upper"]) - 0.002093291) < 1e-9
    named = answer(capsys, *subset, "--engine", "ball")
    assert named["arithmetic"] == "ball" and abs(float(named["upper"]) - 0.002093291) < 1e-9
    rappor = ("delta", "rappor", "-p", "D=10", "--eps0", 4, "--n", 7075, "--eps", "2.8", "--arithmetic", "ball")
    assert answer(capsys, *rappor)["upper"].startswith("5.6228")


def test_an_engine_that_cannot_give_the_rigour_is_refused_with_what_serves(capsys):
    asked = ("delta", "krr", "-p", "k=3", "--eps0", 1, "--n", 50, "--eps", "1/2")
    line = refused(capsys, *asked, "--engine", "fft", "--arithmetic", "ball")
    assert "float64" in line and "ball" in line and "use " in line
    refused(capsys, *asked, "--engine", "contour", "--arithmetic", "exact")


class Stub:
    """An engine that answers in doubles, or refuses."""

    name, continuous = "stub", False

    def __init__(self, answers):
        self.answers = answers

    def bracket(self, law, n):
        if not self.answers:
            raise Unsupported("out of reach of the stub")
        return Bracket(F(0), F(1), "float64", "stub", "in doubles")


@pytest.mark.parametrize("answers", [False, True])
def test_next_engine_answers_where_one_refuses_or_is_too_weak(answers, monkeypatch):
    law = reduction(randomizer("krr").at(k=3, lam=2)).laws(F(6, 5), "forward", 256)[0]
    exact = next(kind for name, kind in engine_classes() if name == "exact")()
    monkeypatch.setattr(evaluation, "_offers", lambda *_: iter((Stub(answers), exact)))
    for arithmetic in ("ball", "exact"):
        found = evaluate(law, 4, Method(arithmetic=arithmetic))
        assert found.engine == "exact" and STRENGTH[found.arithmetic] >= STRENGTH[arithmetic]
