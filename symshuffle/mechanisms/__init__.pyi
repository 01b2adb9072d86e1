"""The public names of this room, and the module that each is loaded from on first use."""

from .finite import K as K
from .finite import krr as krr
from .finite import rr as rr
from .registry import MECHANISMS as MECHANISMS
from .registry import mechanism as mechanism
from .symbolic import EXP_EPS as EXP_EPS
