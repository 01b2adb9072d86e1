"""The public names of this room, and the module that each is loaded from on first use."""

from .extremal import MaximalPolytope as MaximalPolytope
from .extremal import dominating_extremal as dominating_extremal
from .extremal import staircase_matrix as staircase_matrix
from .groups import SymmetryGroup as SymmetryGroup
from .groups import cyclic_group as cyclic_group
from .groups import product_of_symmetric_groups as product_of_symmetric_groups
from .groups import symmetric_group as symmetric_group
from .orders import blackwell as blackwell
from .orders import deficiency as deficiency
from .subset_orbits import SubsetOrbit as SubsetOrbit
