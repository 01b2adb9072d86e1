"""Row of the randomizer of which only the local budget is known: its certified eps, and no risk."""

from __future__ import annotations

from dataclasses import replace

from symshuffle.accountants.covering.any_ldp import NAME, any_ldp
from symshuffle.accountants.questions.inverses import solve_eps0
from symshuffle.accountants.questions.solve import epsilon
from symshuffle.base.choices import MatchKind, Rigour
from symshuffle.base.errors import InputError
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.matching import Match
from symshuffle.design.comparison.row import Row


def generic_row(match: Match, n: int, rel: float) -> Row:
    """Row of ``any-ldp`` at a common local level, or at the largest level that meets a central target.

    Raises
    ------
    InputError
        If a chi-square divergence is matched, which nobody knows of it.
    """
    if match.kind is MatchKind.CHI_SQUARE:
        raise InputError("mechanisms", NAME, "a match at eps0 or eps: no more is known of it than its local level")
    if match.kind is MatchKind.EPS_DELTA:
        level = solve_eps0(any_ldp(), n=n, delta=match.delta, eps=match.value, rel=rel).bracket
    else:
        level = Bracket(match.value, match.value, Rigour.EXACT, "as given", "the local level that is matched")
    source = any_ldp(eps0=level.lower)
    found = None if match.delta is None else epsilon(source, n=n, delta=match.delta, rel=rel, attain=True)
    certified = None if found is None else found.bracket
    if certified is not None and match.kind is MatchKind.EPS_DELTA and match.value < certified.upper:
        # The level was solved so that this eps is met.
        certified = replace(certified, lower=min(certified.lower, match.value), upper=match.value)
    return Row(
        source.name,
        "any randomizer of this budget",
        (),
        level,
        *(None, None, None, None, None),
        "",
        None,
        "the randomizer is not known: no estimator",
        False,
        certified,
        None if found is None else found.attained,
        "no delta was given" if found is None else found.about,
        (),
        0,
        None,
        "no free parameters",
        neighbours=None if found is None else found.neighbours,
    )
