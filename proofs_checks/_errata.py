"""Errata that no numbered statement carries, and findings beside the text that accuse nobody."""

from __future__ import annotations

from typing import Any

from symshuffle.ledger.claims.model import Claim, Control, Correction, Statement
from symshuffle.ledger.claims.parts import Clause


def refuted(
    name: str, title: str, text: str | tuple[Clause, ...], printed: Statement, corrected: Statement, **other: Any
) -> Claim:
    """A claim ``symshuffle.<name>``: what is printed with a counterexample in its text, and what is true instead.

    Parameters
    ----------
    name, title, text, printed
        Of the claim.
    corrected : callable
        The true statement.
    correction : str
        The true statement in words.
    corrected_grade : Grade, optional
        What the check shows of it; finitely many exact cases where omitted.
    correction_check : callable, optional
        A check of its own, where the correction narrows the assumptions.
    **other
        Whatever else a claim has.
    """
    grade, check = other.pop("corrected_grade", "exact-cases"), other.pop("correction_check", None)
    correction = Correction(other.pop("correction"), corrected, grade, check)
    return Claim(
        id=f"symshuffle.{name}",
        kind="statement",
        title=title,
        text=text,
        grade="refuted",
        printed=printed,
        expected="refuted",
        corrected=correction,
        **other,
    )


def finding(
    name: str, title: str, text: str | tuple[Clause, ...], true: Statement, literal: Statement, **other: Any
) -> Claim:
    """A claim ``symshuffle.<name>`` that holds: what is true where a sentence could be read as saying more.

    Parameters
    ----------
    name, title, text
        Of the claim.
    true : callable
        The true statement.
    literal : callable
        The sentence read word for word, which the check rejects: the first control.
    controls : tuple of Control
        The others.
    grade : Grade, optional
        Finitely many exact cases where omitted.
    **other
        Whatever else a claim has.
    """
    grade = other.pop("grade", "exact-cases")
    return Claim(
        id=f"symshuffle.{name}",
        kind="statement",
        title=title,
        text=text,
        grade=grade,
        printed=true,
        expected="holds",
        controls=(Control("the sentence read word for word", literal), *other.pop("controls")),
        **other,
    )
