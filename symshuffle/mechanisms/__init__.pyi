"""The public names of this room, and the module that each is loaded from on first use."""

from .continuous import Laplace as Laplace
from .finite import K as K
from .finite import krr as krr
from .finite import rr as rr
from .model import Mechanism as Mechanism
from .outputs import OutputClass as OutputClass
from .outputs import State as State
from .registry import MECHANISMS as MECHANISMS
from .registry import mechanism as mechanism
from .symbolic import EXP_EPS as EXP_EPS
from .symbolic import LAM as LAM
from .symbolic import Parameter as Parameter
