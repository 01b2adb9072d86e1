"""Which engines are asked, in which order, for a law with a continuous part and for one without."""

from fractions import Fraction

from symshuffle.engines import registry
from symshuffle.engines.registry import ENGINES, engine_class, engine_classes, offers
from symshuffle.law import Law
from symshuffle.results import Rigour

LAW = Law((Fraction(1), Fraction(-1)), (Fraction(1, 3), Fraction(2, 3)))


def engine(continuous, *, made=True, refusal=None):
    """A stand-in that takes part, stays out, or refuses."""

    class One:
        @classmethod
        def offered(cls, law, rigour, rel):
            return cls() if made else None

        def refusal(self, law, n):
            return refusal

    One.continuous = continuous
    return One


def test_only_those_are_asked_that_take_the_law_and_do_not_refuse(monkeypatch):
    kinds = [
        engine(True),
        engine(False),
        engine(True, made=False),
        engine(False, refusal="no"),
        engine(True, refusal=""),
    ]
    monkeypatch.setattr(registry, "engine_classes", lambda: iter(enumerate(kinds)))
    found = [kinds.index(type(one)) for one in offers(LAW, 3, None, 1e-3)]
    assert found == [0, 1]
    assert [kinds.index(type(one)) for one in offers(LAW, 3, None, 1e-3, continuous=True)] == [0]


def test_labels_are_classes_in_the_order_of_the_table():
    assert [label for label, _ in engine_classes()] == list(ENGINES)
    assert engine_class("ball").__name__ == "BallContour" and engine_class("fft").__name__ == "FFT"
    assert {label for label, kind in engine_classes() if kind.continuous} == {"contour", "ball"}
    balls = {label for label, kind in engine_classes() if kind.least is Rigour.BALL}
    assert balls == {"exact", "sparse", "walk", "ball"}
