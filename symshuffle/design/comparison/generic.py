"""Row of the randomizer of which only the local budget is known: its certified eps, and no risk."""

from __future__ import annotations

from symshuffle.accountants.covering.any_ldp import any_ldp
from symshuffle.accountants.questions.solve import epsilon
from symshuffle.base.choices import MatchKind, Rigour
from symshuffle.base.errors import InputError
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.matching import Match
from symshuffle.design.comparison.model import Row


def generic_row(match: Match, n: int, rel: float) -> Row:
    """Row of ``any-ldp`` at a common local level.

    Raises
    ------
    InputError
        If something else than the local level is matched.
    """
    source = any_ldp(eps0=match.value)
    if match.kind is not MatchKind.EPS0:
        raise InputError("mechanisms", source.name, "a match at eps0, which is all that is known of it")
    level = Bracket(match.value, match.value, Rigour.EXACT, "as given", "the local level that is matched")
    found = None if match.delta is None else epsilon(source, n=n, delta=match.delta, rel=rel, attain=True)
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
        None if found is None else found.bracket,
        None if found is None else found.attained,
        "no delta was given" if found is None else found.about,
        (),
        0,
        None,
        "no free parameters",
    )
