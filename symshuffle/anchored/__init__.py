"""Anchored geometry: a channel as the law of its likelihood-ratio templates, and everything that is a moment of it."""

from symshuffle.anchored.enclosed import EnclosedFiber, EnclosedLaw, inner_product, template_law, template_of
from symshuffle.anchored.gauge import Gauge, helmert, householder
from symshuffle.anchored.law import (
    AnchoredLaw,
    PointLaw,
    arrangements,
    check_composition,
    decompose,
    mix,
    orbit_law,
    template_budget,
    template_signal,
)
from symshuffle.anchored.maps import (
    Fiber,
    completions,
    fiber,
    law_from_fiber,
    project,
    range_radius_squared,
    transport,
    unproject,
)
from symshuffle.anchored.symmetrize import (
    cyclic_group,
    generate_group,
    is_exchangeable,
    is_two_transitive,
    symmetric_group,
    symmetrize,
    symmetrize_channel,
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
    "cyclic_group",
    "decompose",
    "fiber",
    "generate_group",
    "helmert",
    "householder",
    "inner_product",
    "is_exchangeable",
    "is_two_transitive",
    "law_from_fiber",
    "mix",
    "orbit_law",
    "project",
    "range_radius_squared",
    "symmetric_group",
    "symmetrize",
    "symmetrize_channel",
    "template_budget",
    "template_law",
    "template_of",
    "template_signal",
    "transport",
    "unproject",
]
