"""The public names of this room, and the module that each is loaded from on first use."""

from .calibration.search import calibrate as calibrate
from .error.compare import contenders as contenders
from .error.compare import takeover as takeover
from .error.indices import shuffle_index as shuffle_index
from .error.minimal_risk import minimal_unbiased_risk as minimal_unbiased_risk
from .error.minimal_risk import shuffled_problem as shuffled_problem
from .error.risk import err1 as err1
from .error.risk import errn as errn
from .error.risk import hcr_bound as hcr_bound
from .means.private import private_mean as private_mean
from .privacy.conjecture import worst_background_on_the_line as worst_background_on_the_line
from .privacy.correspondence import correspondence as correspondence
from .privacy.dominance import which_order as which_order
from .randomizers.frames import kashin_coefficients as kashin_coefficients
from .randomizers.frames import one_coefficient_error as one_coefficient_error
from .randomizers.mechanisms import BlanketMixedGaussian as BlanketMixedGaussian
from .randomizers.mechanisms import CentralGaussian as CentralGaussian
from .randomizers.mechanisms import ClippedLinear as ClippedLinear
from .randomizers.mechanisms import LocalGaussian as LocalGaussian
from .randomizers.mechanisms import LocalLaplace as LocalLaplace
from .randomizers.mechanisms import PrivUnit as PrivUnit
from .randomizers.mechanisms import SphereLinear as SphereLinear
from .randomizers.mechanisms import VectorMechanism as VectorMechanism
from .randomizers.sampling import estimate as estimate
from .randomizers.sampling import sample as sample
