"""Mechanism expressions: what each text means, and at which character it is refused."""

from fractions import Fraction

import pytest

from symshuffle import InputError, joint, parallel, randomizer, subsample
from symshuffle.decompositions import hamming
from symshuffle.decompositions.composition import operators
from symshuffle.decompositions.composition.operators import is_composition, parse
from symshuffle.mechanisms import Laplace
from symshuffle.mechanisms.continuous import LARGEST_CELLS

F = Fraction
TWO, THREE = randomizer("krr").at(k=2), randomizer("krr").at(k=3)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("krr(k=2)", TWO),
        (" krr ( k = 2 ) ", TWO),
        ("joint(krr(k=2),3)", joint(TWO, TWO, TWO)),
        ("joint(krr(k=2),1)", joint(TWO)),
        ("joint(krr(k=2))", joint(TWO)),
        ("joint(krr(k=2),krr(k=3))", joint(TWO, THREE)),
        ("parallel(1/3:krr(k=2),2/3:krr(k=2))", parallel([TWO, TWO], [F(1, 3), F(2, 3)])),
        ("parallel(.25:krr(k=2),0.75:krr(k=2))", parallel([TWO, TWO], [F(1, 4), F(3, 4)])),
        ("subsample(krr(k=3),1/4)", subsample(THREE, F(1, 4))),
        ("hamming(joint(krr(k=2),4),2)", hamming(joint(*[TWO] * 4), 2)),
        ("laplace", Laplace()),
        ("laplace(cells=12)", Laplace(cells=12)),
        ("laplace(domain=unit,cells=9)", Laplace(domain="unit", cells=9)),
        ("krr(k=1e1)", randomizer("krr").at(k=10)),
        ("krr(k=1_000)", randomizer("krr").at(k=1000)),
    ],
)
def test_what_a_text_means(text, part):
    assert parse(text) == part


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a name at character 1"),
        ("krr(k=2", "',' or '\\)' at character 8"),
        ("krr(k=2))", "the end of the expression at character 9"),
        ("krr(k=2)x", "the end of the expression at character 9"),
        ("krr(k 2)", "'=' at character 7"),
        ("krr(k=x)", "a number at character 7"),
        ("krr(2=k)", "a name at character 5"),
        ("krr(k=2,k=3)", "each parameter once, but k again at character 9"),
        ("krr(lam=2)", "other than the budget.* at character 5"),
        ("krr(k=2,eps0=1)", "other than the budget.* at character 9"),
        ("krr; k", "a name, a number or one of .* at character 4"),
        ("krr  ; k", "a name, a number or one of .* at character 6"),
        ("joint(krr(k=2),0)", "an integer from 1 to 64.* at character 16"),
        ("joint(krr(k=2),65)", "an integer from 1 to 64.* at character 16"),
        ("joint(krr(k=2),3/2)", "an integer from 1 to 64.* at character 16"),
        ("joint(krr(k=2),krr(k=2),2)", "a name at character 25"),
        ("hamming(joint(krr(k=2),2),0)", "a distance, an integer from 1 to 64"),
        ("parallel(krr(k=2))", "a number at character 10"),
        ("parallel(1/2 krr(k=2))", "':' at character 14"),
        ("subsample(krr(k=2))", "',' at character 19"),
        ("joint(__import__,2)", "a name"),
        ("subsample(krr(k=3),2)", r"a number in \[0, 1\]"),
        ("hamming(krr(k=3),2)", "a joint composition"),
        ("nosuch(k=2)", "one of"),
        ("laplace(cells=0)", "cells, an integer from 1"),
        ("laplace(domain=third)", "'binary' or 'unit' at character 16"),
        ("laplace(cells=2,cells=3)", "domain or cells, each once, at character 17"),
        ("laplace(scale=2)", "domain or cells, each once, at character 9"),
        (f"laplace(cells={LARGEST_CELLS + 1})", "cells, an integer from 1"),
    ],
)
def test_where_a_text_is_refused(text, expected):
    with pytest.raises(InputError, match=expected):
        parse(text)


def test_the_longest_texts_and_the_most_coordinates(monkeypatch):
    assert len(parse("joint(krr(k=2),64)").parts) == 64
    many = ",".join(["krr(k=2)"] * 3)
    monkeypatch.setattr(operators, "LARGEST_JOINT", 3)
    assert len(parse(f"joint({many})").parts) == 3
    with pytest.raises(InputError, match="4 coordinates"):
        parse(f"joint({many},krr(k=2))")
    monkeypatch.setattr(operators, "_LONGEST_TEXT", 8)
    assert parse("krr(k=2)") == TWO
    with pytest.raises(InputError, match="at most 8 characters"):
        parse("krr(k=2) ")


@pytest.mark.parametrize(
    ("text", "composed"),
    [("krr", False), (" joint ", True), ("krr(k=2)", True), ("hamming", True), ("subsample", True), ("laplace", False)],
)
def test_what_is_more_than_a_name(text, composed):
    assert is_composition(text) == composed
