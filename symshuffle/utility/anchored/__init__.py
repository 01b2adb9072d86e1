"""Anchored geometry: a channel as the law of its likelihood-ratio templates, and everything that is a moment of it."""

from symshuffle.utility.anchored.enclosed import EnclosedFiber, EnclosedLaw, template_law
from symshuffle.utility.anchored.gauge import Gauge, helmert, householder
from symshuffle.utility.anchored.law import AnchoredLaw, PointLaw, check_composition, template_budget, template_signal
from symshuffle.utility.anchored.maps import (
    Fiber,
    completions,
    fiber,
    law_from_fiber,
    project,
    range_radius_squared,
    transport,
    unproject,
)
from symshuffle.utility.anchored.mixtures import (
    arrangements,
    decompose,
    is_exchangeable,
    mix_laws,
    orbit_law,
    symmetrize,
)

__all__ = [
    "AnchoredLaw",
    "EnclosedFiber",
    "EnclosedLaw",
    "Fiber",
    "Gauge",
    "PointLaw",
    "arrangements",
    "check_composition",
    "completions",
    "decompose",
    "fiber",
    "helmert",
    "householder",
    "is_exchangeable",
    "law_from_fiber",
    "mix_laws",
    "orbit_law",
    "project",
    "range_radius_squared",
    "symmetrize",
    "template_budget",
    "template_law",
    "template_signal",
    "transport",
    "unproject",
]
