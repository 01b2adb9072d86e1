"""The public names of this room, and the module that each is loaded from on first use."""

from .bounds.answers import Attained as Attained
from .bounds.evaluate import evaluate_law as evaluate_law
from .deployment.neighbours import Neighbours as Neighbours
from .literature.baselines import BlanketVariable as BlanketVariable
from .literature.baselines import blanket_bennett as blanket_bennett
from .literature.baselines import blanket_hoeffding as blanket_hoeffding
from .literature.baselines import standard_clone as standard_clone
from .questions.adversary import WorstCase as WorstCase
from .questions.curves import Curve as Curve
from .questions.curves import amplification_curve as amplification_curve
from .questions.tradeoff_function import GaussianLimit as GaussianLimit
from .rounds.privacy_loss_distribution import PrivacyLossDistribution as PrivacyLossDistribution
