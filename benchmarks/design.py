"""Measure the design programs at the largest sizes that they are meant for, each once and alone.

``python benchmarks/design.py`` prints a section for docs/performance.md; :func:`section` returns it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symshuffle.base.results import Bracket
from symshuffle.base.solvers import cvxpy
from symshuffle.channels.geometry.groups import cyclic_group, product_of_symmetric_groups
from symshuffle.design.decision.invariant import detect_symmetry
from symshuffle.design.decision.problems import Problem, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.parametric.homotopy import derive

LAM = Fraction(20)


def random_problem(m: int, parameters: int, actions: int, *, seed: int) -> Problem:
    """A problem without symmetries."""
    rng = random.Random(seed)
    model = []
    for _ in range(parameters):
        weights = [2 ** rng.randrange(8) for _ in range(m)]
        model.append([Fraction(w, sum(weights)) for w in weights])
    loss = [[Fraction(rng.randrange(10)) for _ in range(actions)] for _ in range(parameters)]
    return Problem.of(model, loss, [Fraction(1, parameters)] * parameters)


def unequal_losses(m: int, first: int) -> Problem:
    """Guess one of m from a blurred reading; mistakes about the first ones cost three times as much."""
    loss = [[Fraction(3 if t < first else 1) * int(a != t) for a in range(m)] for t in range(m)]
    return Problem.of(smoothed_point_masses(m, Fraction(3, 4)).model, loss, [Fraction(1, m)] * m)


def ring(m: int) -> Problem:
    """Estimate a position on a circle from a blurred reading, at the loss of the distance along the circle."""
    blur = [Fraction(max(m - 2 * min(x, m - x), 0) + 1) for x in range(m)]
    model = [[blur[(x - t) % m] / sum(blur) for x in range(m)] for t in range(m)]
    loss = [[Fraction(min((a - t) % m, (t - a) % m)) for a in range(m)] for t in range(m)]
    return Problem.of(model, loss, [Fraction(1, m)] * m)


def ordered(m: int) -> Problem:
    """Ordered categories, read without noise, at the loss of their distance."""
    one_hot = [[int(x == t) for x in range(m)] for t in range(m)]
    return Problem.of(one_hot, [[abs(t - a) for a in range(m)] for t in range(m)])


def measured(name: str, run: Callable[[], Any], describe: Callable[[Any], str]) -> str:
    """One row of the table: what was asked, what came out, CPU time of the only run."""
    start = time.process_time()
    found = run()
    took = time.process_time() - start
    return f"| {name} | {describe(found)} | {took:.1f} s |"


def shown(value: Bracket) -> str:
    if value.exact is not None:
        return f"exact optimum {value.exact}" if value.exact.denominator < 10**9 else "exact optimum, a rational"
    return f"rational weak-duality bracket, gap {float(value.width):.0e}"


def section() -> str:
    """The section on design programs, as markdown."""
    cvxpy()  # its import takes seconds and is no part of any program
    wide, narrow = random_problem(400, 20, 20, seed=3), random_problem(18, 6, 6, seed=5)
    blocks = product_of_symmetric_groups([range(300), range(300, 600)])
    pair, circle = unequal_losses(600, 300), ring(20)
    rotations = cyclic_group(20)
    rows = [
        measured(
            "all 262 142 subsets, m = 18, Bayes",
            lambda: smallest_risk(narrow, LAM, method="polytope"),
            lambda d: shown(d.value),
        ),
        measured(
            "one output per action, m = 400, 20 actions, Bayes",
            lambda: smallest_risk(wide, LAM),
            lambda d: shown(d.value),
        ),
        measured(
            "one output per action, m = 400, 20 actions, minimax",
            lambda: smallest_risk(wide, LAM, criterion="minimax"),
            lambda d: shown(d.value),
        ),
        measured(
            f"Sym(300) x Sym(300), {blocks.subset_orbit_count()} orbits, Bayes",
            lambda: smallest_risk(pair, LAM, group=blocks),
            lambda d: shown(d.value),
        ),
        measured(
            "the same group, minimax over 2 orbits of parameters",
            lambda: smallest_risk(pair, LAM, group=blocks, criterion="minimax"),
            lambda d: shown(d.value),
        ),
        measured(
            f"cyclic group of 20, {rotations.subset_orbit_count()} orbits, Bayes",
            lambda: smallest_risk(circle, LAM, group=rotations),
            lambda d: shown(d.value),
        ),
        measured(
            "its orbits one by one",
            lambda: sum(1 for _ in rotations.subset_orbits()),
            lambda count: f"{count} orbits listed",
        ),
        measured(
            "symmetries of Sym(300) x Sym(300), found",
            lambda: detect_symmetry(pair, criterion="minimax"),
            lambda g: f"blocks of {', '.join(str(len(b)) for b in g.blocks)}",
        ),
        measured(
            "symmetries of a problem without any, m = 400, 20 actions",
            lambda: detect_symmetry(wide),
            lambda g: f"{len(g.generators)} generators",
        ),
        measured(
            "minimax formula, 5 ordered categories, 3 orbits of parameters",
            lambda: derive(ordered(5), criterion="minimax"),
            lambda f: f"{len(f.pieces)} pieces",
        ),
    ]
    text = """## Design programs

Every program at the largest size that it is meant for, CPU time of one run, problem and modelling library already
loaded. An exact optimum comes with a certificate that was checked over the rationals; `python benchmarks/design.py`
prints this table.

| program | result | CPU time |
|---|---|---|
"""
    return text + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(section())
