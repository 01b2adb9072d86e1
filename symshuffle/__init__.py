"""Symbolic and certified numerics for shuffle and local differential privacy.

The names below load on first use, so that ``import symshuffle`` stays light: SymPy, cvxpy and matplotlib are imported
by the functions that need them.

Where a docstring says *number*, any kind is read exactly: an integer of Python or NumPy, a ``Fraction``, text such as
``6/5``, and a double by its shortest decimal form, so that ``0.1`` means one tenth; a truth value is no number. Where
it says ``Fraction``, a double is refused. Matrices and laws keep doubles as doubles, and nothing exact comes of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from symshuffle.accountants.adversary import WorstCase as WorstCase
    from symshuffle.accountants.amplification import Amplification as Amplification
    from symshuffle.accountants.amplification import Attained as Attained
    from symshuffle.accountants.confirm import confirm as confirm
    from symshuffle.accountants.curves import Curve as Curve
    from symshuffle.accountants.curves import amplification_curve as amplification_curve
    from symshuffle.accountants.curves import delta_curve as delta_curve
    from symshuffle.accountants.gaussian_limit import GaussianLimit as GaussianLimit
    from symshuffle.accountants.gaussian_limit import gaussian_limit as gaussian_limit
    from symshuffle.accountants.inverses import Inverse as Inverse
    from symshuffle.accountants.inverses import solve_eps0 as solve_eps0
    from symshuffle.accountants.inverses import solve_n as solve_n
    from symshuffle.accountants.neighbours import Neighbours as Neighbours
    from symshuffle.accountants.plan import rounds as rounds
    from symshuffle.accountants.privacy_loss import PrivacyLoss as PrivacyLoss
    from symshuffle.accountants.privacy_loss import privacy_loss as privacy_loss
    from symshuffle.accountants.renyi import RenyiBound as RenyiBound
    from symshuffle.accountants.renyi import renyi as renyi
    from symshuffle.accountants.solve import delta as delta
    from symshuffle.accountants.solve import epsilon as epsilon
    from symshuffle.accountants.tradeoff_function import tradeoff_curve as tradeoff_curve
    from symshuffle.accountants.unequal import Users as Users
    from symshuffle.accountants.unequal import unequal_delta as unequal_delta
    from symshuffle.accountants.unequal import unequal_epsilon as unequal_epsilon
    from symshuffle.anchored.law import AnchoredLaw as AnchoredLaw
    from symshuffle.channel import Channel as Channel
    from symshuffle.channel import direct_sum as direct_sum
    from symshuffle.choices import Adjacency as Adjacency
    from symshuffle.choices import Blanket as Blanket
    from symshuffle.choices import Criterion as Criterion
    from symshuffle.choices import CurveKind as CurveKind
    from symshuffle.choices import Direction as Direction
    from symshuffle.choices import Divergence as Divergence
    from symshuffle.choices import Domain as Domain
    from symshuffle.choices import MatchKind as MatchKind
    from symshuffle.choices import Method as Method
    from symshuffle.choices import Operator as Operator
    from symshuffle.choices import Others as Others
    from symshuffle.choices import Population as Population
    from symshuffle.choices import Question as Question
    from symshuffle.choices import Route as Route
    from symshuffle.choices import Side as Side
    from symshuffle.claims.model import Claim as Claim
    from symshuffle.claims.outcomes import Outcome as Outcome
    from symshuffle.claims.run import run as run
    from symshuffle.claims.run import run_claim as run_claim
    from symshuffle.claims.verify import verify as verify
    from symshuffle.claims.verify import verify_claims as verify_claims
    from symshuffle.comparison.compare import compare as compare
    from symshuffle.comparison.model import Comparison as Comparison
    from symshuffle.decompositions.blanket import privacy_blanket as privacy_blanket
    from symshuffle.decompositions.blanket import simplified_decomposition as simplified_decomposition
    from symshuffle.decompositions.composition import Composed as Composed
    from symshuffle.decompositions.composition import hamming as hamming
    from symshuffle.decompositions.composition import joint as joint
    from symshuffle.decompositions.composition import parallel as parallel
    from symshuffle.decompositions.composition import subsample as subsample
    from symshuffle.decompositions.symbolic import optimal_decomposition as optimal_decomposition
    from symshuffle.design.decision.optimal_channel import Design as Design
    from symshuffle.design.decision.problems import DecisionProblem as DecisionProblem
    from symshuffle.design.decision.tradeoff import bayes_tradeoff as bayes_tradeoff
    from symshuffle.design.decision.tradeoff import minimax_tradeoff as minimax_tradeoff
    from symshuffle.divergences import chi_square as chi_square
    from symshuffle.divergences import hockey_stick as hockey_stick
    from symshuffle.engines.ball import BallContour as BallContour
    from symshuffle.engines.contour import Contour as Contour
    from symshuffle.engines.counts import Counts as Counts
    from symshuffle.engines.exact import Exact as Exact
    from symshuffle.engines.fft import FFT as FFT
    from symshuffle.engines.sparse import Sparse as Sparse
    from symshuffle.engines.walk import Walk as Walk
    from symshuffle.errors import CertificateError as CertificateError
    from symshuffle.errors import InputError as InputError
    from symshuffle.errors import NotDecided as NotDecided
    from symshuffle.errors import SolverFailure as SolverFailure
    from symshuffle.errors import SymshuffleError as SymshuffleError
    from symshuffle.errors import Unsupported as Unsupported
    from symshuffle.frontiers.caps import optimal_subset_sizes as optimal_subset_sizes
    from symshuffle.frontiers.envelope import Contamination as Contamination
    from symshuffle.frontiers.envelope import binary_envelope as binary_envelope
    from symshuffle.frontiers.frontier import trace_frontier as trace_frontier
    from symshuffle.law import Law as Law
    from symshuffle.likelihood.law import LikelihoodRatio as LikelihoodRatio
    from symshuffle.likelihood.quotient import likelihood_quotient as likelihood_quotient
    from symshuffle.likelihood.worst import worst_curve as worst_curve
    from symshuffle.mechanisms.continuous import Laplace as Laplace
    from symshuffle.mechanisms.model import Mechanism as Mechanism
    from symshuffle.mechanisms.outputs import OutputClass as OutputClass
    from symshuffle.mechanisms.outputs import State as State
    from symshuffle.mechanisms.registry import mechanism as mechanism
    from symshuffle.mechanisms.symbolic import LAM as LAM
    from symshuffle.mechanisms.symbolic import Parameter as Parameter
    from symshuffle.numbers import Ball as Ball
    from symshuffle.numbers import Exp as Exp
    from symshuffle.numbers import Verdict as Verdict
    from symshuffle.results import Bracket as Bracket
    from symshuffle.results import Rigour as Rigour
    from symshuffle.results import SafeEnd as SafeEnd
    from symshuffle.shuffled import shuffled_divergence as shuffled_divergence
    from symshuffle.sweeps import sweep as sweep

_HOME: Final = {
    "accountants.adversary": ("WorstCase",),
    "accountants.amplification": ("Amplification", "Attained"),
    "accountants.confirm": ("confirm",),
    "accountants.curves": ("Curve", "amplification_curve", "delta_curve"),
    "accountants.gaussian_limit": ("GaussianLimit", "gaussian_limit"),
    "accountants.inverses": ("Inverse", "solve_eps0", "solve_n"),
    "accountants.neighbours": ("Neighbours",),
    "accountants.plan": ("rounds",),
    "accountants.privacy_loss": ("PrivacyLoss", "privacy_loss"),
    "accountants.renyi": ("RenyiBound", "renyi"),
    "accountants.solve": ("delta", "epsilon"),
    "accountants.tradeoff_function": ("tradeoff_curve",),
    "accountants.unequal": ("Users", "unequal_delta", "unequal_epsilon"),
    "anchored.law": ("AnchoredLaw",),
    "channel": ("Channel", "direct_sum"),
    "choices": (
        "Adjacency",
        "Blanket",
        "Criterion",
        "CurveKind",
        "Direction",
        "Divergence",
        "Domain",
        "MatchKind",
        "Method",
        "Operator",
        "Others",
        "Population",
        "Question",
        "Route",
        "Side",
    ),
    "claims.model": ("Claim",),
    "claims.outcomes": ("Outcome",),
    "claims.run": ("run", "run_claim"),
    "claims.verify": ("verify", "verify_claims"),
    "comparison.compare": ("compare",),
    "comparison.model": ("Comparison",),
    "decompositions.blanket": ("privacy_blanket", "simplified_decomposition"),
    "decompositions.composition": ("Composed", "hamming", "joint", "parallel", "subsample"),
    "decompositions.symbolic": ("optimal_decomposition",),
    "design.decision.problems": ("DecisionProblem",),
    "design.decision.optimal_channel": ("Design",),
    "design.decision.tradeoff": ("bayes_tradeoff", "minimax_tradeoff"),
    "divergences": ("chi_square", "hockey_stick"),
    "engines.ball": ("BallContour",),
    "engines.contour": ("Contour",),
    "engines.counts": ("Counts",),
    "engines.exact": ("Exact",),
    "engines.fft": ("FFT",),
    "engines.sparse": ("Sparse",),
    "engines.walk": ("Walk",),
    "errors": ("CertificateError", "InputError", "NotDecided", "SolverFailure", "SymshuffleError", "Unsupported"),
    "frontiers.caps": ("optimal_subset_sizes",),
    "frontiers.envelope": ("Contamination", "binary_envelope"),
    "frontiers.frontier": ("trace_frontier",),
    "law": ("Law",),
    "likelihood.law": ("LikelihoodRatio",),
    "likelihood.quotient": ("likelihood_quotient",),
    "likelihood.worst": ("worst_curve",),
    "mechanisms.continuous": ("Laplace",),
    "mechanisms.model": ("Mechanism",),
    "mechanisms.outputs": ("OutputClass", "State"),
    "mechanisms.registry": ("mechanism",),
    "mechanisms.symbolic": ("LAM", "Parameter"),
    "numbers": ("Ball", "Exp", "Verdict"),
    "results": ("Bracket", "Rigour", "SafeEnd"),
    "shuffled": ("shuffled_divergence",),
    "sweeps": ("sweep",),
}
_MODULE: Final = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE)  # noqa: PLE0605 - a list of the names above


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'symshuffle' has no attribute {name!r}")
    value = getattr(import_module(f"symshuffle.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
