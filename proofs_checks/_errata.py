"""Errata that no numbered statement carries: what is printed, refuted, with what is true instead."""

from __future__ import annotations

from typing import Any

from symshuffle.claims.model import Claim, ClaimVerdict, Correction, Grade, Kind, Statement


def refuted(name: str, title: str, text: str, printed: Statement, corrected: Statement, **other: Any) -> Claim:
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
    **other
        Whatever else a claim has.
    """
    correction = Correction(other.pop("correction"), corrected, other.pop("corrected_grade", Grade.EXACT_CASES))
    return Claim(
        id=f"symshuffle.{name}",
        kind=Kind.STATEMENT,
        title=title,
        text=text,
        grade=Grade.REFUTED,
        printed=printed,
        expected=ClaimVerdict.REFUTED,
        corrected=correction,
        **other,
    )
