"""Functions and constants of the library that only guide: they decide how much work is done, never what is true.

What follows each of them certifies the answer, whatever it returned within its type and range; so an edit of it breaks
no promise, and :mod:`tests.edits` draws none. ``tests/soundness/test_guides_are_free.py`` replaces every one of them by
its bad versions and asks public doors for an answer that is known otherwise. No error term, condition of a certificate,
formula or decision between exact cases may be listed. (So ``saddle.choose`` is not: on a lattice its nodes have to make
up one period exactly.)
"""

import importlib
from fractions import Fraction
from typing import Any, Final

from tests.soundness.guide_changes import (
    GUESSES,
    ROUGH,
    WILD,
    Change,
    above_the_mean,
    another_level,
    astray,
    at_random,
    below_the_mean,
    changed,
    corner_moved,
    each,
    elsewhere,
    first_orders,
    halved,
    line_moved,
    moved,
    narrower,
    other_atoms,
    other_columns,
    other_proposal,
    planned,
    replanned,
    rerouted,
    scaled,
    share_moved,
    shifted,
    shuffled_basis,
    sloped,
    stuck,
)
from tests.soundness.guide_doors import N

PLANNED: Final = (
    ("c", 1.5), ("c", 0.7), ("step", 0.7), ("step", 1.4), ("far", 2), ("slope", 1.5), ("small", 100), ("size", 30)
)  # fmt: skip
A, B, D, E, P, S, V = (
    f"symshuffle.{room}."
    for room in ("accountants", "accountants.bounds", "engines.densities", "engines", "design", "engines.contours", "vectors")
)  # fmt: skip
BY_REASON: Final[dict[str, dict[str, tuple[str, tuple[Change, ...]]]]] = {
    "any line, plan or width will do: the errors of what is evaluated there are bounded": {
        S + "saddle.saddle_point": ("contour smoothed ball", (*WILD, stuck(1.0))),
        S + "saddle.is_spread_out": ("contour smoothed", (stuck(True), stuck(False))),
        S + "saddle.tail_slopes": ("contour smoothed ball", each([0.05, 0.05], [1.0, 1.0], [50.0, 50.0])),
        S + "saddle._reach": ("contour smoothed ball", (scaled(0.5), stuck(1e-3), stuck(1e3))),
        S + "saddle._tail_exponent": ("contour smoothed ball", (stuck(1e9), scaled(0.5))),
        A + "rounds.losses.Losses.tilt": ("sum", (scaled(0.3), scaled(1), stuck(1.0))),
        E + "transforms.tilted._best_tilt": ("fft", (scaled(0.5), scaled(1))),
        D + "gauss.price": ("density", (stuck(0.0), stuck(50.0))),
        S + "characteristic._split": ("contour smoothed", (halved,)),
        S + "characteristic._stride": ("contour smoothed", (stuck(1), stuck(1000))),
        D + "bromwich_plan.rough": ("density", (stuck(ROUGH),)),
        D + "bromwich_plan.BromwichPlan.tolerance": ("density", (scaled(2), stuck(1e-3), stuck(1e-30))),
        D + "bromwich_plan.choose": ("density", tuple(planned(**{name: factor}) for name, factor in PLANNED)),
        D + "gauss._ranked": ("density",
            (changed(lambda found, draw: found[::-1]), changed(lambda found, draw: found[:1]))),
        D + "jump_plan._steepest": ("jumps", 3 * (changed(line_moved),)),
        D + "jump_plan.jump_plan_for": ("jumps", 4 * (changed(replanned),)),
        D + "bromwich_plan.atoms_of": ("jumps", 2 * (changed(other_atoms),)),
        D + "jump_plan.logs": ("jumps", 2 * (shifted(0.5),)),
        D + "jump_plan._log_size": ("jumps", 2 * (shifted(0.5),)),
        D + "jump_plan.variance": ("jumps", (stuck(0.1), stuck(1e3))),
        D + "beyond._chosen": ("jumps", 3 * (changed(rerouted),)),
        D + "gauss.least_nodes": ("jumps density", (stuck(0.0), stuck(1e9))),
        D + "engine._likely": ("passes", each((Fraction(1, 10**30), True), (Fraction(1, 1000), False), (Fraction(0), False))),
    },
    "what is left out is bounded, wherever it begins": {
        E + "counting.count_tables.Windows.choose": ("counts", (changed(narrower), *4 * (changed(elsewhere),))),
        E + "counting.count_tables._window": ("counts",
            (*each((0, 0), (N, N), (0, N), (3, 5)), *(one(at) for one in (below_the_mean, above_the_mean) for at in (1.2, 2, 3)))),
        E + "counting.count_tables._slope": ("counts", (stuck(0.0), scaled(1))),
        A + "rounds.losses.Losses.chernoff": ("period", (scaled(0.5), scaled(1), stuck(1.0))),
        E + "transforms.tilted._chernoff": ("fft", 3 * (changed(sloped),)),
        E + "transforms.tilted._steps": ("fft", (stuck(50), stuck(777), changed(lambda found, draw: found // 2))),
        D + "bromwich_plan.last_node": ("density", (scaled(0.3), changed(lambda found, draw: found // 10))),
        V + "randomizers.gaussian._margin": ("upper_index largest_index", each(0, 1, 3, 40)),
        D + "jumps._last": ("jumps",
            (stuck(1), changed(lambda found, draw: found // 2), changed(lambda found, draw: found + 7))),
    },
    "where a search looks, how finely or in what order: both ends are evaluated": {
        B + "search._guess": ("plain", (scaled(0.05), stuck(Fraction(1, 3)))),
        B + "search._candidates": ("plain", (stuck([Fraction(1, 3)]), changed(lambda old, draw: reversed([*old])))),
        B + "search._near_enough": ("plain", (stuck(1e-2), stuck(1e-7))),
        B + "search._fine_enough": ("confirmed", (stuck(0.01), stuck(0.5))),
        B + "guided._next": ("users", (stuck([]), stuck([(Fraction(1), 1e-3)]), changed(moved))),
        B + "guided._predicted": ("users", each(None, (1.0, 0.0, 1e-3), (60.0, 1.0, 1e3))),
        B + "guided.interpolated": ("users", (stuck(0.0), stuck(1e3), shifted(3))),
        B + "guided._useful": ("users", (changed(lambda found, draw: found[:1]),)),
        B + "guided._inside": ("users", (stuck((0.0, 30.0)), stuck((1.0, 0.0)))),
        B + "guided._plain": ("blind", each(None, Fraction(1), Fraction(50))),
        B + "guided._either_side": ("users top",
            (stuck([(Fraction(1), 1e-3)]), stuck([(Fraction(5), 1e-13), (Fraction(50), 1e-3)]), stuck([]), changed(moved))),
        B + "guided._predicted_beside": ("top", each(None, (1.0, 1e-9, 1.0), (1.09, 1.0, 1e3))),
        B + "guided._rounded": ("users top",
            (changed(lambda found, draw: found + draw.randrange(3)), stuck(Fraction(1)))),
        B + "guided._seen": ("users", (changed(lambda found, draw: (found[0], found[1] + 1, 0.0, 1e-3)),)),
        B + "gaussian_limit.mills_guess": ("guess", GUESSES),
        A + "questions.inverses._budget_guide": ("budget", (stuck(None), *3 * (changed(astray),))),
        A + "questions.inverses._users_guide": ("users", (stuck(None), *3 * (changed(astray),))),
        A + "questions.curves._extrapolated": ("fewer", (stuck(None), *GUESSES[:2])),
        A + "rounds.losses.Losses.guess": ("rounds", each((0.0, 1.0), (5.0, 8.0), (1.5, 0.1))),
        B + "gaussian_limit.log_profile": ("users", (scaled(0.3), shifted(3))),
        B + "gaussian_limit.distance": ("users budget", (scaled(0.3), shifted(3))),
        B + "gaussian_limit.level": ("epsilon", (scaled(1), stuck(0.01), stuck(20.0))),
        B + "gaussian_limit.rising_root": ("users top", (shifted(1), stuck(0.0))),
    },
    "which road is tried first, or at what precision: the bracket of every one is true": {
        A + "rounds.over_rounds.AllRounds.first_step": ("deployment", (stuck(Fraction(1, 5)), stuck(Fraction(1, 50)))),
        A + "rounds.over_rounds._gaussian": ("deployment", (stuck(Fraction(1, 10**6)), stuck(Fraction(1, 3)))),
        D + "bromwich._worth": ("density", (stuck(True), stuck(False))),
        D + "bromwich_plan.bits_enough": ("jumps", each(24, 53, 400)),
        D + "jump_plan._threshold": ("jumps", each(20.0, 35.0, 50.0, None)),
        D + "jump_plan._at": ("jumps",
            (changed(lambda found, draw: found * 1.5), changed(lambda found, draw: found - 3))),
        D + "engine._left_serves": ("jumps", (stuck(True), stuck(False))),
    },
    "which columns or what basis a solver in doubles proposes: the optimum is proved exactly": {
        P + "information.maximum._float_basis": ("information",
            (*each([], [0], [0, 1, 2], [2, 5, 4]), changed(lambda found, draw: found[::-1]))),
        P + "decision.programs.polytope": ("polytope", 2 * (changed(other_proposal),)),
        P + "decision.programs.compact": ("compact", 2 * (changed(other_proposal),)),
        P + "decision.programs.generate": ("columns", 2 * (changed(other_proposal),)),
        P + "decision.programs._levels": ("compact", (stuck(set()), changed(other_columns))),
        P + "decision.programs.columns_near": ("compact columns", (stuck(set()), changed(other_columns))),
        P + "decision.programs.tight_columns": ("compact columns", (stuck(set()), changed(other_columns))),
        "symshuffle.channels.geometry.linprog._highs_basis": ("risk",
            (changed(shuffled_basis), stuck(([], [])), stuck(([0], [0])))),
    },
    "at which orders, levels or points to look: chords, verdicts and cells are certified at any": {
        A + "renyi.refined_profile.RefinedProfile._first": ("renyi", tuple(map(first_orders, (1, 2, 3, 40)))),
        A + "renyi.refined_profile.RefinedProfile._refine": ("renyi", (stuck(None), lambda old, draw: at_random(draw))),
        A + "renyi.refined_profile._shares": ("renyi", (changed(lambda found, draw: [draw.random() for _ in found]),)),
        V + "error.optimal._guess": ("error", (stuck(Fraction(1, 2)), stuck(Fraction(1, 10**6)))),
        V + "calibration.staircase._corner": ("under_caps",
            (stuck(None), stuck(Fraction(1, 2)), *2 * (changed(corner_moved),))),
        V + "calibration.staircase._crossing": ("under_caps",
            (stuck(0.3), stuck(-0.9), changed(lambda found, draw: found - 0.1))),
        V + "calibration.staircase._farthest": ("under_caps", (stuck(None), stuck(-1.0), *2 * (changed(share_moved),))),
        V + "calibration.staircase._estimate": ("under_caps",
            (stuck(0.0), stuck(1.0), changed(lambda found, draw: found * 3))),
        V + "privacy.dominance._finer": ("ahead",
            (*each([], [Fraction(1, 2), Fraction(41, 40), Fraction(2)]), changed(another_level), changed(lambda found, draw: found[-1:]))),
    },
}  # fmt: skip
"""Why any result leaves every promise true; by full name, the doors through which a guide is reached, and bad versions."""
GUIDES: Final = {name: found for names in BY_REASON.values() for name, found in names.items()}

SEEN_THROUGH: Final[dict[str, tuple[str, str]]] = {
    "engines.contours.ball": (
        "ball laplace_in_balls",
        "_SHORT _MOST_TERMS _intervals.turn _sums.spare _sums.far_bits",
    ),
    "engines.contours.integrand": ("ball laplace_in_balls", "ContourLine.ratios.refresh"),
    "engines.densities.bromwich": ("density", "BromwichLine.sum_in_doubles.max_terms bromwich_bracket.max_terms"),
    "engines.densities.bromwich_plan": (
        "density jumps",
        "_SHARE _FINEST _RESOLVED _on_line.max_nodes bits_enough.guard_bits BLOCK _CANCELLED _estimated.told "
        "_estimated.longer plan_for.per_factor crowded.terms",
    ),
    "engines.densities.jump_plan": ("jumps", "_threshold.least_jumps ERROR_SHARE bins.loss cut_at.halvings"),
    "engines.contours.contour": ("contour smoothed laplace", "_trapezoid.spare"),
    "engines.contours.characteristic": (
        "contour smoothed laplace laplace_in_balls",
        "ROUGH_NODES UPPER_CELLS AS_MANY_AS GAUSS_SHARE CHUNK _SHORT _split.few _stride.spread",
    ),
    "engines.counting.counts": ("counts", "Counts.for_auto.finest"),
    "engines.densities.engine": (
        "few",
        "_FIRST_TAIL _by_transform.tail_share _LEAST_TAIL density_bracket.many _likely.share "
        "density_bracket.coarse_widths _FIRST_CELLS _by_cells.enough_cells _by_transform.step _by_transform.passes "
        "_by_transform.finest _by_transform.largest_step _by_transform.negligible _left_serves.lost _likely.rtol "
        "_likely.least density_bracket.near_factor density_bracket.few_users density_bracket.near_factor_several "
        "density_bracket.several _by_cells.power",
    ),
    "engines.densities.doubling": ("few", "_edges.sample _PLACES _cells.least _shared.even_share"),
    "engines.transforms.fft": ("fft", "FFT._tilted.first FFT._tilted.growth"),
    "engines.densities.gauss": (
        "density",
        "_ORDERS _ranked.sizes _on_ellipse.arcs _ranked.points order_for.turns _stack.length rule.shortest price.grain",
    ),
    "engines.densities.beyond": (
        "jumps density",
        "_shifts_of.highest _RUNGS _SHIFTS _shifts_of.cells _shifts_of.every coarse.plenty coarse.share over.first_runs "
        "over.finer height_for.attempts height_for.least",
    ),
    "engines.densities.exponential_sums": ("density jumps", "exponential_sums.crowd exponential_sums.spare_bits"),
    "engines.contours.saddle": (
        "contour smoothed ball laplace",
        "QUIET refine.finest saddle_point.atol saddle_point.period is_spread_out.deviations refine.first "
        "refine.uninformative",
    ),
    "engines.counting.sparse": ("sparse", "Sparse.refusal.tail DEEPEST Sparse.for_auto.cheap_count"),
    "engines.transforms.tilted": ("fft", "_chernoff.quiet _steps.coarsest _steps.candidates Window.choose.margin"),
    "accountants.bounds.brackets": ("epsilon confirmed", "_WIDE _of_finite.few _FIRST_WIDTH"),
    "accountants.bounds.guided": (
        "users top",
        "guided.patience _FAR _UNKNOWN _plain.below_zero _WIDEST _NARROWEST _BLURRED _predicted.flat _FLATTEST",
    ),
    "accountants.questions.inverses": (
        "users budget",
        "_COARSE_WIDTH _of_delta.delta_width _WIDTH _of_delta.widest _budget_guide.looks _budget_guide.close_enough "
        "_FIRST_EPS0",
    ),
    "accountants.bounds.search": ("epsilon guess", "_FIRST _FINEST _DEEPEST"),
    "accountants.rounds.period": ("period", "_NEGLIGIBLE _SILENT"),
    "accountants.rounds.lattice_sums": ("rounds sum", "_OUTSIDE"),
    "accountants.rounds.one_round": ("deployment", "ROUND_WIDTH _ROUGH"),
    "accountants.rounds.over_rounds": ("deployment", "_CUT _SMALLEST _SMALLEST_OF_DENSITIES"),
    "accountants.rounds.widths": ("deployment", "WIDTH_OF_EPS WIDTH_OF_DELTA"),
    "design.decision.programs": (
        "polytope compact columns",
        "_SUPPORT generate.priced compact_vectors.simplex_variables",
    ),
    "design.decision.tradeoff": (
        "polytope compact columns",
        "_at_rational.exact_rows _form.few_inputs _SEEN _certify.patient",
    ),
    "vectors.privacy.correspondence": ("shuffled", "_REL"),
    "vectors.privacy.dominance": ("ahead", "_FIRST _finer.finest _EVALUATIONS"),
    "vectors.calibration.smallest_error": (
        "slope",
        "_certified.tries _ever_farther.first _errors_by_shape.settled _errors_by_shape.coarse _certified.finest _BESIDE "
        "_certified.back _strongest.longest _strongest.weaker _of_one_user.alone",
    ),
    "vectors.calibration.staircase": (
        "under_caps",
        "_staircase.most _corner.least _corner.rare _staircase.beyond _staircase.still _farthest.margin _crossing.settled "
        "_farthest.settled _farthest.stride _estimate.width",
    ),
}
"""By module, the doors through which its constants are seen, and those that only tune: between half and twice of them
answers may get wide or be refused, not wrong."""
KNOBS: Final = {f"symshuffle.{module}": tuple(names.split()) for module, (_, names) in SEEN_THROUGH.items()}


def tuned(module: str, name: str) -> tuple[dict[str, Any], str]:
    """Where a constant, or a default argument as ``function.argument``, is kept, and its key there."""
    owner, (*path, last) = importlib.import_module(module), name.split(".")
    for part in path:
        owner = getattr(owner, part)
    return (owner.__kwdefaults__ if path else vars(owner)), last
