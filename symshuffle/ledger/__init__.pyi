"""The public names of this room, and the module that each is loaded from on first use."""

from .claims.comparisons import compare as compare
from .claims.comparisons import decide as decide
from .claims.comparisons import identity as identity
from .claims.comparisons import serving as serving
from .claims.model import Claim as Claim
from .claims.model import Clause as Clause
from .claims.model import Control as Control
from .claims.model import Correction as Correction
from .claims.model import attained as attained
from .claims.model import by_cases as by_cases
from .claims.model import for_all as for_all
from .claims.model import in_the_limit as in_the_limit
from .claims.outcomes import Outcome as Outcome
from .claims.parts import MEANINGS as MEANINGS
from .claims.parts import Erratum as Erratum
from .claims.registry import load as load
from .claims.run import run_claim as run_claim
from .claims.run import verify_claims as verify_claims
