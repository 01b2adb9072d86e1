"""The public names of this room, and the module that each is loaded from on first use."""

from .audit.claims import Claim as Claim
from .audit.claims import claim as claim
from .audit.claims import named_claim as named_claim
from .audit.local import LocalAudit as LocalAudit
from .audit.local import audit_local as audit_local
from .audit.runs import Program as Program
from .audit.samples import PairAudit as PairAudit
from .audit.samples import audit_pair as audit_pair
from .audit.samples import audit_samples as audit_samples
from .audit.shares import confidence_ends as confidence_ends
from .audit.shuffled import ShuffledAudit as ShuffledAudit
from .audit.shuffled import audit_shuffled as audit_shuffled
from .audit.verdicts import Audit as Audit
from .estimate import Histogram as Histogram
from .estimate import drawn as drawn
from .intervals import Support as Support
from .messages import Client as Client
from .plan import SurveyPlan as SurveyPlan
from .plan import simulate as simulate
from .plan_file import read_plan as read_plan
from .search import plan_survey as plan_survey
