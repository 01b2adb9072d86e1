"""Optimal LDP channels: decision problems, certified trade-offs, information measures, parametric formulas."""

from symshuffle.design.certificate import TradeoffCertificate
from symshuffle.design.problems import DecisionProblem, smoothed_point_masses
from symshuffle.design.tradeoff import Criterion, Design, Method, bayes_tradeoff, minimax_tradeoff

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
