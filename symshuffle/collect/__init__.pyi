"""The public names of this room, and the module that each is loaded from on first use."""

from .client import Client as Client
from .estimate import Histogram as Histogram
from .intervals import Support as Support
from .picture import drawn as drawn
from .plan import Plan as Plan
from .plan import read_plan as read_plan
from .search import make_plan as make_plan
from .simulate import simulate as simulate
