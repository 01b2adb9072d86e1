"""The public names of this room, and the module that each is loaded from on first use."""

from .comparison.table import Comparison as Comparison
from .comparison.table import drawn as drawn
from .decision.designs import Design as Design
from .decision.designs import TradeoffCertificate as TradeoffCertificate
from .decision.invariant import detect_symmetry as detect_symmetry
from .decision.modelling import ExtremalChannel as ExtremalChannel
from .decision.problems import Problem as Problem
from .decision.problems import smoothed_point_masses as smoothed_point_masses
from .files import read_problem as read_problem
from .information.maximum import maximise as maximise
from .information.measures import f_divergence as f_divergence
from .named import cardioid_program as cardioid_program
from .named import weighted_guessing_breakpoints as weighted_guessing_breakpoints
from .named import weighted_guessing_problem as weighted_guessing_problem
from .named import weighted_guessing_risk as weighted_guessing_risk
from .parametric.homotopy import derive as derive
from .parametric.program import PiecewiseOptimum as PiecewiseOptimum
from .shuffled.best import best_shuffled as best_shuffled
from .shuffled.best import shuffled_sizes as shuffled_sizes
from .shuffled.minorant import TraceBound as TraceBound
