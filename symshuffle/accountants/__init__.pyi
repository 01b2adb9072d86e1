"""The public names of this room, and the module that each is loaded from on first use."""

from .bounds.evaluate import evaluate_law as evaluate_law
from .literature.baselines import BlanketVariable as BlanketVariable
from .literature.baselines import blanket_bennett as blanket_bennett
from .literature.baselines import blanket_hoeffding as blanket_hoeffding
from .literature.baselines import standard_clone as standard_clone
