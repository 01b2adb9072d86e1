"""Formulas as lines of a terminal: what a reader would write, with brackets where a line needs them."""

import re

import pytest

from symshuffle.ledger.claims.registry import load
from symshuffle.ledger.report.mathematics import to_lines


def to_plain(text):
    """The text in one line, however long."""
    return " ".join(to_lines(text, 10**6))


@pytest.mark.parametrize(
    ("latex", "line"),
    [
        (r"$\frac{a+1}{2b}$", "(a+1)/(2b)"),
        (r"$\frac1{e^{\varepsilon_0}+k-1}$", "1/(e^(ε₀)+k−1)"),
        (r"$\frac ab(c+d)$", "(a/b)(c+d)"),
        (r"$2\frac a{b}+1$", "2a/b+1"),
        (r"$\sqrt{k-1}\le\lambda$", "√(k−1) ≤ λ"),
        (r"$x^2,\ y_{i,j}$", "x², y_(i, j)"),
        (r"$\bar G^{*n}\ge0$", "Ḡ*ⁿ ≥ 0"),
        (r"$\sum_{i\le n}L_i$", "∑_(i≤n) Lᵢ"),
        (r"$(1-\gamma)^{n-m}$", "(1−γ)^(n−m)"),
        (r"$\frac{a}{s(b-c)}$", "a/(s(b−c))"),
        (r"$1_{x_1^0}+W_{x_0}$", "1_(x₁⁰)+W_(x₀)"),
        (r"$T_wx+e^\varepsilon R$", "T_w x+e^ε R"),
        (r"$2\log x-\log y$", "2 log x−log y"),
        (r"$\inf\limsup_nn\,a$", "inf lim supₙ n a"),
        ("no formula, $n$ users.", "no formula, n users."),
    ],
)
def test_a_formula_is_a_line(latex: str, line: str) -> None:
    import unicodedata

    assert unicodedata.normalize("NFC", to_plain(latex)) == unicodedata.normalize("NFC", line)


def test_no_text_of_the_ledger_keeps_a_macro() -> None:
    for claim in load().claims:
        corrected = [claim.corrected.text] if claim.corrected else []
        for text in (claim.title, claim.words, *claim.assumptions, claim.scope, *corrected):
            assert not re.search(r"\\[A-Za-z]|\$", to_plain(text)), claim.id


def test_no_line_ends_inside_a_formula() -> None:
    text = r"It is known that $a = b$ and that $\lambda \le \mu$ for all $n \ge 3$."
    for width in range(8, 60):
        lines = to_lines(text, width)
        assert " ".join(lines) == to_plain(text)
        assert all(any(formula in line for line in lines) for formula in ("a = b", "λ ≤ μ", "n ≥ 3"))
        assert max(map(len, lines)) <= max(width, 8)
