"""Text of the ledger as HTML: what stands between dollar signs is LaTeX and becomes MathML."""

from __future__ import annotations

import re
import textwrap
import unicodedata
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
def _formula(latex: str, sticking: str, short: int = 24) -> Markup:
    """A formula, in pieces that a line may be broken between if it is long, and the punctuation after it."""
    *pieces, last = _pieces(latex) if len(latex) > short else [latex]
    end = _set(last) if not sticking else Markup('<span class="end">{}{}</span>').format(_set(last), sticking)
    return Markup("<wbr>").join((*map(_set, pieces), end))


def _set(latex: str, narrow: int = 60) -> Markup:
    """MathML, or the LaTeX itself where it cannot be converted (no page is lost over a formula)."""
    root = parsed(latex)
    if root is None:
        return Markup('<code class="tex">{}</code>').format(latex)
    first = next(iter(root[0]), None) if len(root) else None
    if first is not None and first.tag == "mo" and _TOKENS.findall(latex.strip())[0].strip() in _RELATIONS:
        first.attrib["form"] = "infix"  # the rest of a formula that was cut: its relation keeps its room
    for element in root.iter("mo"):
        if len(element.text or "") > 1 and (element.text or "").isalpha():  # a name stands close to its argument
            element.attrib |= {"lspace": "0", "rspace": "0.12em"}
    formula = Markup(ElementTree.tostring(root, encoding="unicode"))
    return formula if len(latex) <= narrow else Markup('<span class="wide">{}</span>').format(formula)


def parsed(latex: str) -> ElementTree.Element | None:
    """The formula as a tree of MathML; None if it cannot be converted."""
    from latex2mathml.converter import convert

    # Three letters in a row are a name (``Var``) and no product.
    named = _NAMES.sub(lambda found: found[1] or rf"\operatorname{{{found[2]}}}", latex)
    try:
        root = ElementTree.fromstring(convert(named).replace(_NAMESPACE, ""))
    except Exception:  # the converter raises what it meets: index errors, key errors, parse errors
        return None
    unknown = {element.tag for element in root.iter()} - _ELEMENTS
    return None if unknown or any("\\" in (element.text or "") for element in root.iter()) else root


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


_SPACED: Final = frozenset("=<>≤≥≠∈∉→↦≈∼≡⇔⟺⇒≺≻⪯⪰≲≳∝⊂⊆⊃⊇≪≫≅←≃⟶⟼⊙∪∩∖")
_RAISED: Final = dict(zip("0123456789+-−()=n*′'", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾⁼ⁿ*′′", strict=True))
_LOWERED: Final = dict(zip("0123456789+-−()=", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎₌", strict=True)) | dict(
    zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)
)
_ABOVE: Final = dict.fromkeys("¯‾―", "\u0304") | dict.fromkeys("^ˆ", "\u0302") | dict.fromkeys("~˜", "\u0303")
_KEPT: Final = "\u00a0"
_MARKED: Final = re.compile(r"[_^][^\W_]+$")
_AFTER_SIGN: Final = re.compile(r"(?<=[−+([]) ")
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_INDEXED: Final = r"(\d+(\.\d+)?|[^\W\d_])[\u0302-\u0304′*ⁿ⁰¹²³⁴-⁹₀-₉ₐ-ₜᵢᵣᵤᵥⱼₓ]*"
_ATOM: Final = re.compile(rf"\([^()]*\)|\|[^|]*\||{_INDEXED}")
_PRODUCT: Final = re.compile(r"[^\s+−<=>(),;]+(\([^()]*\))?")


def to_lines(text: str, width: int) -> list[str]:
    """The text in lines of at most so many signs, none of them broken inside a formula that fits into one."""

    def kept(found: re.Match[str]) -> str:
        line = _line(found[1]) + found[2]
        return line.replace(" ", _KEPT) if len(line) <= width else line

    lines = textwrap.wrap(FORMULA.sub(kept, text), width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_KEPT, " ") for line in lines]


@cache
def _line(latex: str) -> str:
    root = parsed(latex)
    return latex if root is None else _AFTER_SIGN.sub("", " ".join(_text(root, script=False).split()))


def _text(element: ElementTree.Element, *, script: bool) -> str:
    """An element as text; without spaces around relations inside an index or an exponent."""
    parts = [_text(child, script=script or element.tag in _SCRIPTS) for child in element]
    match element.tag:
        case "mo":
            sign = (element.text or "").replace("\u2061", "").replace("\u2062", "")
            return f" {sign} " if not script and sign in _SPACED else f"{sign} " if sign in {",", ";"} else sign
        case "mi" | "mn" | "mtext":
            return unicodedata.normalize("NFKC", element.text or "")
        case "mspace":
            return " "
        case "mfrac":
            above, below = parts
            if element.attrib.get("linethickness", "") in {"0", "0px"}:
                return f"{above.strip()} over {below.strip()}"
            return f"{_grouped(above, product=True)}/{_grouped(below)}"
        case "msqrt":
            return f"√{_grouped(''.join(parts))}"
        case "mroot":
            return f"{_raised(parts[1])}√{_grouped(parts[0])}"
        case tag if tag in _SCRIPTS:
            return _scripted(tag, parts)
        case "mtr" | "mtable" as tag:
            return (", " if tag == "mtr" else "; ").join(part.strip() for part in parts)
        case _:
            return (element.text or "").strip() + _joined(element, parts)


def _joined(element: ElementTree.Element, parts: list[str]) -> str:
    """The parts side by side, a fraction in brackets where a factor follows it."""
    if not parts:
        return ""
    children = list(element)
    factor = [child.tag != "mo" or child.text in {"(", "[", "{", "|"} for child in children[1:]] + [False]
    bare = [child.tag == "mfrac" and followed for child, followed in zip(children, factor, strict=True)]
    text, after_word = "", False
    for child, part, one in zip(children, parts, bare, strict=True):
        word = _is_word(child)
        apart = part[:1].isalnum() and bool(text) and (after_word or word or _MARKED.search(text) is not None)
        text += " " * apart + (f"({part})" if one else part)
        after_word = word if part.strip("\u2061\u2062") else after_word
    return text


def _is_word(element: ElementTree.Element) -> bool:
    """Whether it is the name of an operator, such as tr, with or without an index."""
    named = element[0] if element.tag in _SCRIPTS else element
    return len(named.text or "") > 1 and "".join((named.text or "").split()).isalpha()


def _scripted(tag: str, parts: list[str]) -> str:
    """A base with an index, an exponent, both, or a sign above it."""
    base, first, *second = parts
    gap = " " * (base in _LARGE)
    match tag:
        case "msup":
            return base + _raised(first)
        case "msub" | "munder":
            return base + _lowered(first) + gap
        case "mover":
            mark = _ABOVE.get(first.strip())
            return base + (_raised(first) if mark is None or len(base) > 1 else mark)
        case _:
            return base + _lowered(first) + _raised(second[0]) + gap


_LARGE: Final = frozenset("∑∏∫⋃⋂∐")
_SCRIPTS: Final = frozenset(("msup", "msub", "msubsup", "munder", "mover", "munderover"))


def _grouped(text: str, *, product: bool = False) -> str:
    """In brackets, unless it is one thing, or a product where that will do."""
    text = text.strip()
    return text if _ATOM.fullmatch(text) or (product and _PRODUCT.fullmatch(text)) else f"({text})"


def _raised(text: str) -> str:
    text = text.strip()
    return _small(text, _RAISED) or (f"^{text}" if len(text) == 1 or _BRACKETS.fullmatch(text) else f"^({text})")


def _lowered(text: str) -> str:
    text = text.strip()
    bare = len(text) == 1 or (text.isalpha() and text.isascii()) or _BRACKETS.fullmatch(text)
    return _small(text, _LOWERED) or (f"_{text}" if bare else f"_({text})")


def _small(text: str, signs: dict[str, str]) -> str:
    """An index or exponent in small signs, where all of it has some and is no word in brackets; else nothing."""
    return "".join(signs.get(sign, " ") for sign in text) if text and all(sign in signs for sign in text) else ""
