"""The public names of this room, and the module that each is loaded from on first use."""

from .clones import stronger_clone as stronger_clone
from .model import Decomposition as Decomposition
from .model import ReductionPair as ReductionPair
from .symbolic import SymbolicDecomposition as SymbolicDecomposition
