"""The public names of this room, and the module that each is loaded from on first use."""

from .claims import Claim as Claim
from .claims import Program as Program
from .claims import claim as claim
from .claims import named_claim as named_claim
from .local import LocalAudit as LocalAudit
from .local import audit_local as audit_local
from .samples import PairAudit as PairAudit
from .samples import audit_pair as audit_pair
from .samples import audit_samples as audit_samples
from .shares import confidence_ends as confidence_ends
from .shuffled import ShuffledAudit as ShuffledAudit
from .shuffled import audit_shuffled as audit_shuffled
from .verdicts import Audit as Audit
from .verdicts import Outcome as Outcome
