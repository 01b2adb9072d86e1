"""Optimal LDP channels: decision problems, certified trade-offs, information measures, parametric formulas."""

from symshuffle.choices import Criterion, Method
from symshuffle.design.decision.certificate import TradeoffCertificate
from symshuffle.design.decision.optimal_channel import Design
from symshuffle.design.decision.problems import DecisionProblem, smoothed_point_masses
from symshuffle.design.decision.tradeoff import bayes_tradeoff, minimax_tradeoff

__all__ = [
    "Criterion",
    "DecisionProblem",
    "Design",
    "Method",
    "TradeoffCertificate",
    "bayes_tradeoff",
    "minimax_tradeoff",
    "smoothed_point_masses",
]
