"""The public names of this room, and the module that each is loaded from on first use."""

from .estimate import Histogram as Histogram
from .estimate import drawn as drawn
from .intervals import Support as Support
from .messages import Client as Client
from .plan import Plan as Plan
from .plan import read_plan as read_plan
from .plan import simulate as simulate
from .search import make_plan as make_plan
