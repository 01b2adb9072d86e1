from symshuffle.ledger.claims.model import Control, by_cases

from .first import claim, defined, nothing

CLAIMS = (
    claim(
        "definition",
        kind="definition",
        grade="proved",
        printed=lambda n: n % 2 == 0,
        check=defined,
        controls=(Control("odd", lambda n: n % 2 == 1),),
        expected="definition",
        obligations=by_cases("n"),
    ),
    claim("empty", kind="no-content", grade=None, check=nothing, controls=(), expected="no-content"),
)
