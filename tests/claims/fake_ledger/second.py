from symshuffle.ledger.claims.model import ClaimVerdict, Control, Grade, Kind, by_cases

from .first import claim, defined, nothing

CLAIMS = (
    claim(
        "definition",
        kind=Kind.DEFINITION,
        grade=Grade.PROVED,
        printed=lambda n: n % 2 == 0,
        check=defined,
        controls=(Control("odd", lambda n: n % 2 == 1),),
        expected=ClaimVerdict.DEFINITION,
        obligations=by_cases("n"),
    ),
    claim("empty", kind=Kind.NO_CONTENT, grade=None, check=nothing, controls=(), expected=ClaimVerdict.NO_CONTENT),
)
