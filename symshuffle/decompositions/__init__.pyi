"""The public names of this room, and the module that each is loaded from on first use."""

from .clones import stronger_clone as stronger_clone
from .composition import Composed as Composed
from .composition import hamming as hamming
from .model import Decomposition as Decomposition
from .model import ReductionPair as ReductionPair
from .model import privacy_blanket as privacy_blanket
from .model import simplified_decomposition as simplified_decomposition
from .symbolic import SymbolicDecomposition as SymbolicDecomposition
