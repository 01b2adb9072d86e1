"""The public names of this room, and the module that each is loaded from on first use."""

from .channel import direct_sum as direct_sum
from .channel_file import read_channel as read_channel
from .geometry.extremal import MaximalPolytope as MaximalPolytope
from .geometry.extremal import dominating_extremal as dominating_extremal
from .geometry.extremal import staircase_matrix as staircase_matrix
from .geometry.groups import SymmetryGroup as SymmetryGroup
from .geometry.groups import cyclic_group as cyclic_group
from .geometry.groups import product_of_symmetric_groups as product_of_symmetric_groups
from .geometry.groups import symmetric_group as symmetric_group
from .geometry.orders import blackwell as blackwell
from .geometry.orders import deficiency as deficiency
from .geometry.subset_orbits import SubsetOrbit as SubsetOrbit
from .shuffled import chi_square as chi_square
from .shuffled import hockey_stick as hockey_stick
from .shuffled import law_divergence as law_divergence
from .shuffled import shuffled_divergence as shuffled_divergence
from .shuffled import worst_shuffled_divergence as worst_shuffled_divergence
