"""Functions and constants of the library that only guide: they decide how much work is done, never what is true.

What follows each of them certifies the answer, whatever it returned within its type and range; so an edit of it breaks
no promise, and :mod:`tests.edits` draws none. ``tests/soundness/test_guides_are_free.py`` replaces every one of them by
bad versions and asks a public door for an answer that is known otherwise. What is not tried there is not listed here,
and no error term, condition of a certificate, formula or decision between exact cases may be. (So
``saddle.choose`` is not: on a lattice its nodes have to make up one period exactly.)
"""

from __future__ import annotations

from typing import Final

GUIDES: Final[dict[str, str]] = {
    "symshuffle.engines.saddle.saddle_point": "the line of a contour: every engine bounds its errors on any line",
    "symshuffle.engines.saddle.spread_out": "with which pass to begin: every pass has a bracket of its own",
    "symshuffle.engines.saddle.widths": "for which widths passes are made: every pass has a bracket of its own",
    "symshuffle.engines.saddle.tail_slopes": "slopes of Chernoff's bound on the aliases: it holds at any of its sign",
    "symshuffle.engines.saddle._reach": "the period of the aliases, which are bounded at any",
    "symshuffle.engines.saddle._tail_exponent": "whether a period is chosen as long enough; aliases are bounded",
    "symshuffle.engines.count_windows.Windows.choose": "which counts are visited: all others are bounded",
    "symshuffle.engines.count_windows._window": "the ends of one window of counts: all others are bounded",
    "symshuffle.engines.count_windows._slope": "slope of Chernoff's bound on a count: the sign is set by the caller",
    "symshuffle.engines.walk_plan._window": "which counts, and sums, lines visit: all others are bounded",
    "symshuffle.engines.walk_plan._slope": "slope of Chernoff's bound: the sign is set by the caller",
    "symshuffle.engines.walk_lines.Line._distance": "from which end a line is summed: balls tell what rounding loses",
    "symshuffle.accountants.search._guess": "where a search looks next: both ends are evaluated",
    "symshuffle.accountants.search._candidates": "where a search looks next: both ends are evaluated",
    "symshuffle.accountants.search._fine_enough": "how finely an end is confirmed, else all is searched again",
    "symshuffle.accountants.guided._next": "where a guided search looks next: both ends are evaluated",
    "symshuffle.accountants.guided._predicted": "the likely crossing: both ends are evaluated",
    "symshuffle.accountants.guided.interpolation": "the likely crossing: both ends are evaluated",
    "symshuffle.accountants.guided._useful": "which values a prediction goes through: both ends are evaluated",
    "symshuffle.accountants.guided._inside": "between what a prediction looks: both ends are evaluated",
    "symshuffle.accountants.guided._plain": "a place to look at without a prediction: both ends are evaluated",
    "symshuffle.accountants.guided._either_side": "two places to look at: both ends are evaluated",
    "symshuffle.accountants.guided._finer": "how finely a place is evaluated: the bracket there is true at any width",
    "symshuffle.accountants.guided._predicted_below": "the likely crossing: both ends are evaluated",
    "symshuffle.accountants.guided._rounded": "a place to look at, in short: both ends are evaluated",
    "symshuffle.accountants.guided._clipped": "how finely a place is evaluated: the bracket there is true at any width",
    "symshuffle.accountants.search.mills_guess": "where a search begins: both ends are evaluated",
    "symshuffle.accountants.inverses._budget_guide": "where a search begins: both ends are evaluated",
    "symshuffle.accountants.inverses._users_guide": "where a search begins: both ends are evaluated",
    "symshuffle.accountants.curves._extrapolated": "where a search begins: both ends are evaluated",
    "symshuffle.accountants.losses.Losses.guess": "at which level and tilt a search begins: both ends are evaluated",
    "symshuffle.accountants.losses.Losses.tilt": "the tilt of a sum, whose errors are bounded at any",
    "symshuffle.accountants.losses.Losses.chernoff": "slope of Chernoff's bound: it holds at any above 0",
    "symshuffle.engines.tilted._best_tilt": "the tilt of a window, whose errors are bounded at any",
    "symshuffle.engines.tilted._chernoff": "how far a window reaches: what is outside is bounded",
    "symshuffle.engines.tilted._steps": "how fine a window is: atoms are rounded to its steps on either side",
    "symshuffle.engines.bromwich_plan.rough": "from which a plan is made: every plan has a true bracket",
    "symshuffle.engines.bromwich_plan.choose": "a plan: every plan has a true bracket",
    "symshuffle.engines.bromwich._nodes": "the last node that is evaluated: all later ones are bounded",
    "symshuffle.engines.gauss.price": "whether a rule is refused before it is made",
    "symshuffle.engines.contour._split": "into how many stretches one is cut: each has a bound of its own",
    "symshuffle.engines.contour._stride": "how long stretches are to begin with: each has a bound of its own",
    "symshuffle.accountants.bounds._resolved": "whether doubles are tried first: their bracket is true as well",
    "symshuffle.accountants.gaussian_profile.log_profile": "the likely crossing: both ends are evaluated",
    "symshuffle.accountants.gaussian_profile.distance": "the likely crossing: both ends are evaluated",
    "symshuffle.accountants.gaussian_profile.level": "where a search begins: both ends are evaluated",
    "symshuffle.accountants.gaussian_profile.rising_root": "the likely crossing: both ends are evaluated",
    "symshuffle.accountants.over_rounds.Deployment.first_step": "the first lattice: every one has a true bracket",
    "symshuffle.engines.bromwich._worth": "whether sums of one term are taken out: the bracket is true either way",
    "symshuffle.engines.gauss._ranked": "the order in which ellipses are tried: each is bounded before it is used",
    "symshuffle.design.decision.programs.polytope": "columns that a solver proposes: the optimum is proved exactly",
    "symshuffle.design.decision.programs.compact": "columns that a solver proposes: the optimum is proved exactly",
    "symshuffle.design.decision.programs.generate": "columns that a solver proposes: the optimum is proved exactly",
    "symshuffle.design.decision.programs._levels": "columns that a solver proposes: the optimum is proved exactly",
    "symshuffle.design.decision.programs.columns_near": "columns that a solver proposes: the optimum is proved exactly",
    "symshuffle.design.decision.programs.tight_columns": "columns that are proposed: the optimum is proved exactly",
    "symshuffle.geometry.linprog._highs_basis": "a basis that HiGHS proposes: its vectors are proved exactly",
    "symshuffle.accountants.refined_profile.RefinedProfile._first": "which orders are looked at: chords hold at any",
    "symshuffle.accountants.refined_profile.RefinedProfile._refine": "which orders are looked at: chords hold at any",
    "symshuffle.accountants.refined_profile._shares": "which orders are looked at: chords hold at any",
    "symshuffle.accountants.over_rounds._gaussian": "for which answer a lattice is begun: every one has a true bracket",
    "symshuffle.design.information.vertices._float_basis": "a basis that doubles propose: its vectors are exact",
    "symshuffle.vectors.optimal._guess": "near which share the least error is looked for: cells prove that it is there",
}
"""By full name, and why whatever it returns leaves every promise true."""

KNOBS: Final[dict[str, tuple[str, ...]]] = {
    "symshuffle.engines.ball": (
        "_AS_MANY_AS", "_OVERHEAD", "_SHORT", "_COARSE", "_SPARED", "_ROUGH", "_WORTH_IT", "_PRICIEST", "_RESOLVED",
    ),
    "symshuffle.engines.bromwich": ("_RESOLVED", "_HIGHEST"),
    "symshuffle.engines.bromwich_plan": ("_SHARE", "_FINEST", "_ROUGH_NODES", "BLOCK"),
    "symshuffle.engines.characteristic": ("_ROUGH", "_CELLS"),
    "symshuffle.engines.contour": (
        "_CHUNK", "_WORTH_IT", "_PRICIEST", "_AS_MANY_AS", "_SHORT", "_FEW", "_COARSE", "_SHARE_OF_GAUSS", "_SPARED",
    ),
    "symshuffle.engines.counts": ("_FINEST",),
    "symshuffle.engines.densities": (
        "_FIRST_TAIL", "_TAIL_SHARE", "_LEAST_TAIL", "_FEW", "_FEW_LINES", "_FEW_ON_CLASSES", "_MANY", "_FIRST_CELLS",
        "_ENOUGH_CELLS",
    ),
    "symshuffle.engines.fft": ("_FIRST", "_GROWTH"),
    "symshuffle.engines.gauss": (
        "_ORDERS", "_ELLIPSES", "_ARCS", "_GLANCES", "_PANEL", "_SHORTEST", "_GRAIN", "_SHIFTS", "_WORTH", "_CELLS",
        "_CHUNK", "_FINEST", "_EXCESS", "_STEPS",
    ),
    "symshuffle.engines.saddle": ("QUIET", "_FINEST", "_SETTLED", "_TRUSTED", "_SPREAD_OUT"),
    "symshuffle.engines.segments": ("_SHARE_OF_GAUSS", "_CELLS"),
    "symshuffle.engines.sparse": ("_TAIL", "_DEEPEST"),
    "symshuffle.engines.tilted": ("_QUIET", "_COARSEST", "_CANDIDATES", "_MARGIN"),
    "symshuffle.accountants.bounds": ("_WIDE", "_FEW", "_FIRST_WIDTH"),
    "symshuffle.accountants.guided": ("_PATIENCE", "_FAR", "_UNKNOWN", "_BELOW_ZERO", "_WIDEST", "_NARROWEST"),
    "symshuffle.accountants.inverses": (
        "_USUAL_WIDTH", "_COARSE_WIDTH", "_DELTA_WIDTH", "_WIDTH", "_WIDEST", "_LOOKS", "_CLOSE_ENOUGH", "_FIRST_EPS0",
    ),
    "symshuffle.accountants.search": ("_FIRST", "_FINEST"),
    "symshuffle.accountants.period": ("_SILENT",),
    "symshuffle.accountants.rounds": ("_OUTSIDE",),
    "symshuffle.accountants.one_round": ("_USUAL", "_ROUGH", "_COUNTS_PER_LEVELS"),
    "symshuffle.accountants.over_rounds": ("_CUT", "_SMALLEST"),
    "symshuffle.accountants.plan": ("WIDTH_OF_EPS", "WIDTH_OF_DELTA"),
    "symshuffle.design.decision.programs": ("_SUPPORT", "_PRICED", "_SIMPLEX_VARIABLES"),
    "symshuffle.design.decision.tradeoff": ("_EXACT_ROWS", "_FEW_INPUTS", "_SEEN", "_PATIENT"),
}  # fmt: skip
"""By module, constants that only tune: between half and twice of them answers may get wide or be refused, not wrong."""
