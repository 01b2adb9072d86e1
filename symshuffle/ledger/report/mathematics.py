"""Text of the ledger as HTML: what stands between dollar signs is LaTeX and becomes MathML."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import Final
from xml.etree import ElementTree

from markupsafe import Markup, escape

FORMULA: Final = re.compile(r"\$([^$]+)\$([.,;:)\]]*)")
_NAMESPACE: Final = ' xmlns="http://www.w3.org/1998/Math/MathML"'
_ELEMENTS: Final = frozenset(
    (
        *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot"),
        *("mover", "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose"),
    )
)
_RELATIONS: Final = frozenset(
    ("=", "<", ">", ",", ";", r"\le", r"\ge", r"\leq", r"\geq", r"\to", r"\in", r"\approx", r"\sim", r"\iff")
)
_NAMES: Final = re.compile(
    r"(\\(?:operatorname|mathrm|mathbf|mathcal|text|begin|end)\*?\s*\{[^}]*\}|\\[A-Za-z]+)"
    r"|(?<![A-Za-z])([A-Z][a-z]{2,}|[a-z]{3,}|[A-Z]{3,})(?![A-Za-z])"
)
_TOKENS: Final = re.compile(r"\\[A-Za-z]+\s*|\\.|.", flags=re.DOTALL)
_LONG: Final = 24
_WIDE: Final = 60


def to_markup(text: str) -> Markup:
    """A text with its formulas set; everything else is escaped."""
    first, *rest = FORMULA.split(text)  # text, formula, what sticks to it, text, ...
    return escape(first) + Markup("").join(
        _formula(latex, sticking) + escape(after)
        for latex, sticking, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    )


def to_search(text: str) -> str:
    """The same text as one that can be searched: in lower case, without the signs of LaTeX."""
    return " ".join(re.sub(r"[\\${}^]", " ", text).lower().split())


def to_number(text: str) -> str:
    """A value of a comparison, a fraction with its size in decimals after it."""
    fraction = re.fullmatch(r"(-?\d+)/(\d+)", text)
    return f"{text} ≈ {Decimal(fraction[1]) / Decimal(fraction[2]):.6g}" if fraction else text


@cache
def _formula(latex: str, sticking: str) -> Markup:
    """A formula, in pieces that a line may be broken between if it is long, and the punctuation after it."""
    *pieces, last = _pieces(latex) if len(latex) > _LONG else [latex]
    end = _set(last) if not sticking else Markup('<span class="end">{}{}</span>').format(_set(last), sticking)
    return Markup("<wbr>").join((*map(_set, pieces), end))


def _set(latex: str) -> Markup:
    """MathML, or the LaTeX itself where it cannot be converted (no page is lost over a formula)."""
    root = parsed(latex)
    if root is None:
        return Markup('<code class="tex">{}</code>').format(latex)
    first = next(iter(root[0]), None) if len(root) else None
    if first is not None and first.tag == "mo" and _leads(latex):
        first.attrib["form"] = "infix"  # the rest of a formula that was cut: its relation keeps its room
    for element in root.iter("mo"):
        if len(element.text or "") > 1 and (element.text or "").isalpha():  # a name stands close to its argument
            element.attrib |= {"lspace": "0", "rspace": "0.12em"}
    formula = Markup(ElementTree.tostring(root, encoding="unicode"))
    return formula if len(latex) <= _WIDE else Markup('<span class="wide">{}</span>').format(formula)


def parsed(latex: str) -> ElementTree.Element | None:
    """The formula as a tree of MathML; None if it cannot be converted."""
    from latex2mathml.converter import convert

    try:
        root = ElementTree.fromstring(convert(_named(latex)).replace(_NAMESPACE, ""))
    except Exception:  # the converter raises what it meets: index errors, key errors, parse errors
        return None
    unknown = {element.tag for element in root.iter()} - _ELEMENTS
    return None if unknown or any("\\" in (element.text or "") for element in root.iter()) else root


def _leads(latex: str) -> bool:
    """Whether a piece begins with a relation."""
    return _TOKENS.findall(latex.strip())[0].strip() in _RELATIONS


def _named(latex: str) -> str:
    """The same formula, three letters in a row being a name (``Var``) and not a product."""
    return _NAMES.sub(lambda found: found[1] or rf"\operatorname{{{found[2]}}}", latex)


def _pieces(latex: str) -> list[str]:
    """A formula, cut before its outermost relations and after its outermost commas."""
    pieces, depth = [""], 0
    for token in _TOKENS.findall(latex):
        name = token.strip()
        depth += (name in {"{", "(", "[", "\\{", "\\left", "\\langle", "\\begin"}) - (
            name in {"}", ")", "]", "\\}", "\\right", "\\rangle", "\\end"}
        )
        if depth == 0 and name in _RELATIONS:
            if name in {",", ";"}:
                pieces[-1] += token
                pieces.append("")
                continue
            if pieces[-1].strip():
                pieces.append("")
        pieces[-1] += token
    return [piece for piece in pieces if piece.strip()] if depth == 0 else [latex]
