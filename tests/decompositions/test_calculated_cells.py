"""Texts of sums, products, powers and roots as numbers of three kinds; the laws and refusals of closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest

from symshuffle.choices import Direction, Others
from symshuffle.decompositions import calculated as module
from symshuffle.decompositions import closed_forms
from symshuffle.decompositions.calculated import CalculatedCell, calculated, calculated_law
from symshuffle.decompositions.closed_forms import closed_form
from symshuffle.errors import InputError, NotDecided
from symshuffle.numbers import Ball, Exp, working_precision
from symshuffle.numbers.spans import Span

F = Fraction
TEXTS = {
    "k + lam - 1": lambda k, x: k + x - 1,
    "-lam*(k - 2)/7": lambda k, x: -x * (k - 2) / 7,
    "lam**2 - 1/lam": lambda k, x: x**2 - 1 / x,
    "lam**(-3)/k": lambda k, x: x**-3 / k,
    "(k - 3)*lam": lambda k, x: 0.0,
    "sqrt(lam)*sqrt(k)": lambda k, x: math.sqrt(x) * math.sqrt(k),
    "lam**(3/2) + k": lambda k, x: x**1.5 + k,
    "lam - sqrt(k)": lambda k, x: x - math.sqrt(k),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", ["rational", "ball", "span"])
def test_a_text_has_the_value_of_the_formula(text, kind):
    k, lam = F(3), F(5, 2)
    if kind == "span" and "3/2" in text:  # spans have whole powers and square roots only
        with pytest.raises(NotDecided, match="exponent 3/2"):
            calculated(text)({"k": k, "lam": Span.around(lam)})
        return
    with working_precision(80):
        given = {"rational": lam, "ball": flint.arb(2.5), "span": Span.around(lam)}[kind]
        value = calculated(text)({"k": k, "lam": given})
        expected = TEXTS[text](3.0, 2.5)
        if isinstance(value, Fraction):
            assert kind == "rational" or text == "(k - 3)*lam"
            assert float(value) == pytest.approx(expected, rel=1e-15)
        else:
            ball = value.ball() if isinstance(value, Span) else Ball.from_arb(value)
            assert float(ball.midpoint) == pytest.approx(expected, rel=1e-14)
            assert ball.lower <= ball.upper
            assert isinstance(value, Span) == (kind == "span")


def test_roots_that_are_rational_stay_rational():
    root, power = calculated("sqrt(x)"), calculated("x**(3/2)")
    assert root({"x": F(9, 4)}) == F(3, 2)
    assert power({"x": F(4, 9)}) == F(8, 27)
    assert root({"x": F(0)}) == 0
    assert not isinstance(root({"x": F(8, 9)}), Fraction)  # 9 is a square, 8 is none
    assert not isinstance(root({"x": F(9, 8)}), Fraction)
    assert not isinstance(calculated("x**(1/3)")({"x": F(8)}), Fraction)
    assert not math.isfinite(float(root({"x": F(-4)})))  # not a real number, and not called one
    assert calculated("x**(-2)")({"x": F(2, 3)}) == F(9, 4)


def test_long_powers_are_left_to_balls(monkeypatch):
    monkeypatch.setattr(module, "_LONGEST_POWER", 5)
    power = calculated("x**n")
    assert power({"x": F(2), "n": F(5)}) == 32
    assert power({"x": F(2), "n": F(-5)}) == F(1, 32)
    assert not isinstance(power({"x": F(2), "n": F(6)}), Fraction)
    assert not isinstance(power({"x": F(2), "n": F(-6)}), Fraction)


def test_powers_of_spans_need_rational_exponents():
    with pytest.raises(NotDecided, match="exponent"):
        calculated("x**y")({"x": Span(2.0, 2.0), "y": Span(1.0, 1.0)})
    assert calculated("x**2")({"x": Span(3.0, 3.0)}).ball().lower <= 9


@pytest.mark.parametrize("text", ["x % 2", "f(x)", "x.real", "sqrt(x, 2)", "+x", "1.5", "x < 1", "'x'"])
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match="closed form"):
        calculated.__wrapped__(text)


CELLS = [
    CalculatedCell.of("lam/(lam + 1)", "1/(lam + 1)", "1/(lam + 1)", ["lam", "1"]),
    CalculatedCell.of("1/(lam + 1)", "lam/(lam + 1)", "1/(lam + 1)", ["1", "lam"]),
    CalculatedCell.of("0", "0", "(lam - 1)/(lam + 1)", ["0", "0"]),
]
"""Randomized response on a bit, over its blanket."""
SKEW = [CalculatedCell.of("1/2", "1/8", "1", ["1/2", "1/8"]), CalculatedCell.of("1/2", "7/8", "0", None)]


def test_laws_in_rationals_by_hand():
    law = calculated_law(CELLS, {"lam": F(3)}, F(2), Direction.FORWARD)
    assert law.atoms() == ((F(-5), F(1, 4)), (F(0), F(1, 2)), (F(1), F(1, 4)))
    assert law.singular == 0
    forward = calculated_law(SKEW, {}, F(1, 2), Direction.FORWARD)
    reverse = calculated_law(SKEW, {}, F(1, 2), Direction.REVERSE)
    # a - b/2 = 1/2 - 7/16 and 7/8 - 1/4 where the blanket is 0; the atoms 1/2 - 1/16 and 1/8 - 1/4.
    assert (forward.values, forward.singular) == ((F(7, 16),), F(1, 16))
    assert (reverse.values, reverse.singular) == ((F(-1, 8),), F(5, 8))
    assert calculated_law(SKEW, {}, F(1), Direction.FORWARD).singular == 0
    assert calculated_law(CELLS, {"lam": F(3)}, F(2), Direction.REVERSE) == law
    none = calculated_law([CalculatedCell.of("0", "0", "0", ["1", "1"]), *CELLS], {"lam": F(3)}, F(2), "forward")
    assert none.singular == 0 and len(none.values) == 3


@pytest.mark.parametrize("doubles", [False, True])
@pytest.mark.parametrize("direction", list(Direction))
def test_laws_at_exponential_levels(doubles, direction):
    lam, x = Exp(F(1)), Exp(F(1, 2))
    law = calculated_law(CELLS, {"lam": lam}, x, direction, doubles=doubles, bits=None if doubles else 90)
    q, t = math.e, math.exp(0.5)
    expected = [(1 - t * q, 1 / (q + 1)), (0.0, (q - 1) / (q + 1)), (q - t, 1 / (q + 1))]
    for (value, weight), (v, w) in zip(law.atoms(), expected, strict=True):
        for found, known in ((value, v), (weight, w)):
            assert float(getattr(found, "midpoint", found)) == pytest.approx(known, rel=1e-14)
            assert isinstance(found, F) == (known == 0.0)
    width = max(v.upper - v.lower for v in law.values if isinstance(v, Ball))
    assert (width > F(1, 2**60)) == doubles


def test_differences_that_vanish_are_rational_zeros():
    """At exp(eps) = lam the atom lam - x is 0; equal ratios leave r (1 - x), which is 0 at x = 1."""
    law = calculated_law(CELLS, {"lam": Exp(F(1))}, Exp(F(1)), Direction.FORWARD)
    assert F(0) in law.values and len(law.values) == 2
    same = [CalculatedCell.of("lam", "lam", "1", ["lam", "lam"])]
    assert calculated_law(same, {"lam": Exp(F(1))}, F(1), Direction.FORWARD).values == (0,)
    with pytest.raises(NotDecided):  # lam - lam as a text is two enclosures
        calculated_law([CalculatedCell.of("lam", "1", "1", ["lam - lam", "0"])], {"lam": Exp(F(1))}, F(2), "forward")


def test_what_algebra_has_to_settle():
    for cells, values in (
        ([CalculatedCell.of("1", "1", "lam - lam", ["1", "1"])], {"lam": Exp(F(1))}),  # a weight around 0
        ([CalculatedCell.of("1", "1", "1", ["m", "1"])], {}),  # a parameter without a value
        ([CalculatedCell.of("1", "1", "1/(lam - 3)", ["1", "1"])], {"lam": F(3)}),  # a form that does not hold
        ([CalculatedCell.of("lam", "1", "0", None)], {"lam": Exp(F(1))}),  # a singular mass that is not rational
    ):
        with pytest.raises(NotDecided):
            calculated_law(cells, values, F(2), Direction.FORWARD)


def test_cells_of_exchanged_rows():
    cell = CalculatedCell.of("a", "b", "c", ["x", "y"])
    assert cell.exchanged() == CalculatedCell.of("b", "a", "c", ["y", "x"])
    assert CalculatedCell.of("a", "b", "c", None).exchanged() == CalculatedCell.of("b", "a", "c", None)
    assert module._symmetric(tuple(CELLS)) and not module._symmetric(tuple(SKEW))
    assert not module._symmetric((cell,)) and module._symmetric((cell, cell.exchanged()))
    assert not module._symmetric((cell, cell, cell.exchanged()))


def test_numbers_that_are_decided():
    assert module._decided(F(0), 53) == 0
    assert module._decided(flint.arb(2), 53) == 2 and isinstance(module._decided(flint.arb(2), 53), F)
    assert isinstance(module._decided(flint.arb(2, 0.5), 53), Ball)
    for around in (flint.arb(0, 1), flint.arb(0), Span(0.0, 1.0), Span(-1.0, 0.0)):
        with pytest.raises(NotDecided):
            module._decided(around, 53)


def test_closed_forms_that_are_on_file():
    form = closed_form("krr", {"k": "4"}, lam=3)
    assert (form.name, form.values, form.lam, form.limits) == ("krr", (("k", "4"),), 3, ())
    assert form.law(F(2)).atoms() == ((F(-5), F(1, 6)), (F(-1), F(1, 3)), (F(0), F(1, 3)), (F(1), F(1, 6)))
    assert form.backgrounds == (Others.THIRD, Others.SECOND, Others.FIRST)
    assert closed_form("krr", {"k": "2"}, lam=3).backgrounds == (Others.SECOND, Others.FIRST)
    assert closed_form("krr", {"k": "3"}, lam=3).backgrounds[0] is Others.THIRD
    assert form.datasets("third", 5) == "X0 = (0, 2 x 4), X1 = (1, 2 x 4), inputs named 0, 1, 2"
    assert form.datasets("first", 3) == "X0 = (0, 0 x 2), X1 = (1, 0 x 2), inputs named 0, 1, 2"
    with pytest.raises(InputError, match="others"):
        form.datasets("blanket", 3)
    assert form.mechanism().name == "krr"
    assert form.law_in_doubles(F(2), others="blanket", direction="reverse") == form.law(F(2))


@pytest.mark.parametrize(
    ("name", "values", "budget", "known"),
    [
        ("krr", {"k": "2"}, {"lam": 3}, True),
        ("krr", {"k": "1"}, {"lam": 3}, False),
        ("krr", {"k": "5/2"}, {"lam": 3}, False),
        ("krr", {"k": str(10**15)}, {"lam": 3}, True),
        ("krr", {"k": str(10**15 + 1)}, {"lam": 3}, False),
        ("krr", {"k": "4"}, {}, False),
        ("krr", {}, {"lam": 3}, False),
        ("krr", {"k": "4", "d": "1"}, {"lam": 3}, False),
        ("krr", {"k": "four"}, {"lam": 3}, False),
        ("krr", {"k": "4"}, {"lam": 3, "eps0": 1}, False),
        ("nobody", {"k": "4"}, {"lam": 3}, False),
        ("erasure", {"k": "2", "p": "0"}, {}, True),
        ("erasure", {"k": "2", "p": "1"}, {}, True),
        ("erasure", {"k": "2", "p": "-1/9"}, {}, False),
        ("erasure", {"k": "2", "p": "10/9"}, {}, False),
        ("erasure", {"k": "2", "p": "1/3"}, {"lam": 3}, False),
        ("subset-selection", {"k": "4", "s": "3"}, {"lam": 3}, True),
        ("subset-selection", {"k": "4", "s": "4"}, {"lam": 3}, False),
        ("subset-selection", {"k": "4", "s": "0"}, {"lam": 3}, False),
        ("rappor", {}, {"lam": 3}, True),
    ],
)
def test_what_is_on_file_and_in_range(name, values, budget, known):
    """Ranges: k at least 2, p in [0, 1], 1 <= s < k; integers up to 10^15; a budget exactly where there is one."""
    assert (closed_form(name, values, **budget) is not None) == known


def test_a_parameter_at_its_limit():
    form = closed_form("rappor", {}, lam=3)
    assert form.limits == tuple(p["name"] for p in closed_forms.table()["rappor"]["parameters"])
    assert Others.THIRD not in form.backgrounds
    assert form.law(F(2), bits=64).singular == 0
