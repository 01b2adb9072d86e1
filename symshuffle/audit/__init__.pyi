"""The public names of this room, and the module that each is loaded from on first use."""

from .claims import Claim as Claim
from .claims import claim as claim
from .local import LocalAudit as LocalAudit
from .local import audit_local as audit_local
from .programs import Program as Program
from .verdicts import Audit as Audit
from .verdicts import Outcome as Outcome
