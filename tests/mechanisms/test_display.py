"""How formulas are written: the same function, in the form a reader expects."""

from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import delta, optimal_decomposition, randomizer
from symshuffle.base import Verdict
from symshuffle.mechanisms import MECHANISMS
from symshuffle.mechanisms.display import factored, latex, text
from symshuffle.mechanisms.symbolic import same_function
from symshuffle.mechanisms.tables import array
from tests.shown import as_html, as_latex

k, s, x, lam = sp.symbols("k s x lambda", positive=True)
t0, t1 = sp.symbols("t0 t1", nonnegative=True)
SLACKS = {s: 1 + t0, k: 2 + t0 + t1}


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        (-s * (s - k), "s*(k - s)"),
        ((s - k) * (s + 1 - k) / s, "(k - s)*(k - s - 1)/s"),
        (-s / (s - k) ** 3, "s/(k - s)**3"),
        (1 - lam * x, "1 - lambda*x"),
        (lam - lam * x, "lambda*(1 - x)"),
        (-2 * s, "-2*s"),
        (-(lam - x), "x - lambda"),
        (sp.Rational(-1, 3), "-1/3"),
        ((lam - 1) / (1 + lam - 2 * sp.sqrt(lam)), "(sqrt(lambda) + 1)/(sqrt(lambda) - 1)"),
        (1 - lam ** sp.Rational(2, 3), "(1 - lambda**(1/3))*(lambda**(1/3) + 1)"),
    ],
)
def test_written_form(expression, written):
    assert text(factored(expression, SLACKS)) == written
    assert same_function(factored(expression, SLACKS), expression) is Verdict.TRUE


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_weight_opens_with_a_minus_sign(name):
    decomposition = optimal_decomposition(randomizer(name))
    weights = [weight for cell in decomposition.cells for weight in (cell.a, cell.b, cell.c)]
    weights += [weight for _, weight in decomposition.gparv()]
    assert weights
    for weight in weights:
        assert not text(weight).startswith("-")
        assert not latex(weight).startswith("-")


def test_tables_are_rectangular():
    lines = array(("G", "probability"), [("1", "2"), ("3", "4")]).splitlines()
    assert lines == [r"\begin{array}{ll}", r"G & probability \\ \hline", r"1 & 2 \\", "3 & 4", r"\end{array}"]


def test_singular_mass_is_shown_beside_the_atoms():
    shown = optimal_decomposition(randomizer("erasure")).gparv_latex().splitlines()
    assert shown[-2] == r"\text{singular} & 1 - p"
    assert "singular" not in optimal_decomposition(randomizer("krr")).gparv_latex()


def test_a_mechanism_shows_its_definition():
    shown = as_latex(randomizer("krr"))
    assert shown.startswith(r"$\displaystyle \begin{array}") and shown.endswith("$")
    assert r"\text{hit} & 1 & \frac{\lambda}{k + \lambda - 1}" in shown


def test_text_of_a_decomposition_holds_weights_and_law():
    lines = str(optimal_decomposition(randomizer("erasure"))).splitlines()
    assert lines == [
        "           a      b      c",
        "Q1         1 - p  0      0",
        "Q2         0      1 - p  0",
        "Q3         p      p      p",
        "left-over  0      0      1 - p",
        "",
        "G, with x = exp(eps)  probability",
        "1 - x                 p",
        "0                     1 - p",
        "singular              1 - p",
    ]


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        (randomizer("krr"), "krr(lam, k)"),
        (randomizer("krr").at(k=10, lam="3/2"), "krr(k=10, lam=3/2)"),
        (randomizer("krr").at(k=10, eps0=1), "krr(k=10, lam=exp(1))"),
        (optimal_decomposition(randomizer("constant")), "<decomposition of constant(k=2): 1 components, beta = 0>"),
    ],
)
def test_short_names(shown, written):
    assert repr(shown) == written


def test_a_bound_shows_its_four_lines_and_what_is_attained():
    bound = delta(randomizer("rr").at(lam=3), n=2, exp_eps=Fraction(6, 5), attained=True)
    shown = as_html(bound)
    for name in ("delta", "protects", "assumes", "sure", "attained"):
        assert f"<tr><th>{name}</th>" in shown
    assert shown.count("<tr>") == 5
    assert "\n" not in repr(bound)
