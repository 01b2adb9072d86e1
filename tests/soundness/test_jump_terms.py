"""Sums told apart by their jumps: every error term of the bracket is seen to be needed."""

# No public door shows one term alone, so that private names are called and set here.
import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import flint
import pytest

from symshuffle import Ball, NotDecided
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import beyond, bromwich, bromwich_plan, gauss, jump_plan, jumps
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.vectors import BlanketMixedGaussian
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import worst_pair

N = 20
ERROR = 1e-6


@pytest.fixture(scope="module")
def law():
    """G = e^u - 3 with u normal, cut at 4: its upper tail is that of a log-normal law."""
    with working_precision(128):
        mass = 1 - (4 / flint.arb(2).sqrt()).erfc()
        piece = Piece(F(-4), F(4), lambda u: u.exp() - 3, lambda u: (-u * u / 2).exp() / (2 * flint.arb.pi()).sqrt())
        return ContinuousLaw((piece,), Ball.from_arb(1 - mass, 128))


@pytest.fixture(scope="module")
def truth(law):
    return bromwich_bracket(law, N, 1e-8, "float64")


def cut_at(law, threshold):
    calm, high = jump_plan.cut_at(law.pieces, threshold)
    return replace(law, pieces=tuple(calm)), tuple(high)


def bracket(law, threshold, error=ERROR):
    return jumps.bracket(law, cut_at(law, threshold), N, arithmetic="ball", error=error, bits=160)


def misses(found, truth):
    return found.upper < truth.lower or found.lower > truth.upper


def test_a_threshold_in_the_tail_gives_a_true_bracket(law, truth):
    found = bracket(law, 45)
    assert found.lower < truth.lower
    assert truth.upper < found.upper < truth.upper * F(1001, 1000)


def test_sums_of_two_jumps_are_needed(law, truth, monkeypatch):
    assert not misses(bracket(law, 20), truth)
    monkeypatch.setattr(jumps, "_several", lambda *_: flint.arb(0))
    assert misses(bracket(law, 20), truth)


@pytest.mark.parametrize("n", [2, 20])
def test_both_parts_of_the_bound_on_several_jumps_are_needed(n):
    """With no value below 0 what is bounded is known: either the term itself is a jump, or two others are."""
    p = 1e-5
    calm = Piece(F(0), F(1), lambda u: u, lambda u: u * 0 + (1 - to_arb(F(p))))
    high = (Piece(F(4), F(5), lambda u: u, lambda u: u * 0 + to_arb(F(p))),)
    with working_precision(128):
        cut = ContinuousLaw((calm,), Ball.from_arb(flint.arb(0))), high
        found = float(jumps._several(*cut, n))
    others = [math.comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)]
    exact = 4.5 * p * sum(others[1:]) + 0.5 * (1 - p) * sum(others[2:])
    assert exact < found < 1.25 * exact


def test_the_largest_jump_of_all_pieces_is_seen():
    """Of three pieces the one in the middle."""
    with working_precision(128):
        little = to_arb(F(1, 2**10))
        pieces = tuple(
            Piece(F(4), F(5), lambda u, by=by: u + by, lambda u: u * 0 + to_arb(F(1, 2**20)))
            for by in (flint.arb(0), little, flint.arb(0))
        )
        calm = ContinuousLaw((Piece(F(-1), F(0), lambda u: u, lambda u: u * 0 + 1),), Ball.from_arb(flint.arb(0)))
        found = jumps._several(calm, pieces, 2)
        assert found >= (5 + little) * to_arb(F(3, 2**20)) ** 2


def test_what_the_cut_tails_hold_is_added_to_both_ends(law):
    cut, missing = cut_at(law, 20), (F(1, 10**3), F(2, 10**3))
    loose = {"arithmetic": "ball", "error": 1e-2, "bits": 128}
    plain, wide = (jumps.bracket(seen, cut, N, **loose) for seen in (law, replace(law, missing=missing)))
    assert wide.lower == max(plain.lower - missing[0], 0)
    assert wide.upper == plain.upper + missing[1]


def test_sums_of_one_jump_are_needed(law, truth, monkeypatch):
    monkeypatch.setattr(jumps, "_one_jump", lambda *_, **__: (flint.arb(0), flint.arb(0)))
    assert misses(bracket(law, 20), truth)


def test_what_is_next_to_nothing_still_counts(law, line):
    """With a large error allowed a bin is bounded at once, and so are sums without a jump: by Chernoff's bound."""
    cut = cut_at(law, 20)
    with working_precision(160):
        low, high = jumps._one_jump(cut[0], cut[1], N, error=10.0)
        fine = ends(line)[1]
    assert low == 0
    assert fine < high < 40 * fine
    calm = jumps._without(cut[0], N, arithmetic="ball", error=10.0, bits=160)
    narrow = bromwich_bracket(cut[0], N, 1e-3, "float64")
    assert calm.lower == 0
    assert narrow.upper < calm.upper < 40 * narrow.upper


@pytest.fixture(scope="module")
def line(law):
    cut = cut_at(law, 20)
    return made(cut)


def made(cut, **changes):
    calm, jump = cut[0], jumps._alone(cut[1])
    atoms = bromwich_plan.atoms_of(calm.pieces, calm.zero), bromwich_plan.atoms_of(cut[1])
    plan = replace(jump_plan.jump_plan_for(*atoms, N, 1e-9), **changes)
    with working_precision(160):
        return jumps.JumpLine.of(calm, jump, N, plan)


def ends(line):
    with working_precision(160):
        return line.bounds()


def test_aliases_are_needed(law, line):
    low, high = ends(line)
    for share in (0.3, 0.4):
        coarse = made(cut_at(law, 20), step=line.plan.step / share)
        with working_precision(160):
            value = coarse.value()
            over = value * coarse.scale - high
            bound = coarse.aliases(value + coarse.rest()) * coarse.scale
        assert over > 0  # without the bound the lower end would be above the truth
        assert over < bound
        assert low <= high


def test_aliases_to_the_right_hold_the_value_and_what_is_shifted_in():
    """Of values above 0 alone the value is their mean: of 19 calm terms and one jump."""
    p = 1e-5
    calm = Piece(F(1), F(2), lambda u: u, lambda u: u * 0 + 1)
    jump = Piece(F(4), F(5), lambda u: u, lambda u: u * 0 + to_arb(F(p)))
    with working_precision(128):
        plan = bromwich_plan.BromwichPlan(0.03, 2 * math.pi / 100, 4.0, 0.1, 1e-9)
        line = jumps.JumpLine.of(ContinuousLaw((calm,), Ball.from_arb(flint.arb(0))), jumps._alone((jump,)), N, plan)
        exact = (to_arb(F(3, 2)) * (N - 1) + to_arb(F(9, 2))) * to_arb(F(p))
        value, rest = line.value(), line.rest()
        over = (value - rest) * line.scale - exact
        assert 0 < over < line.aliases(value + rest) * line.scale < over * flint.arb("1.1")


@pytest.mark.parametrize("side", ["right", "left"])
def test_aliases_of_either_side_are_needed(law, line, side):
    """On a line far to one side only the aliases of the other one are seen."""
    c = line.plan.c * (0.4 if side == "right" else 2.5)
    theta = {"right": 40 * c, "left": 1.02 * c}[side]
    coarse = made(cut_at(law, 20), c=c, slope=theta, step=line.plan.step / 0.25)
    _, high = ends(line)
    with working_precision(160):
        value = coarse.value()
        over = value * coarse.scale - high
        assert 0 < over < coarse.aliases(value + coarse.rest()) * coarse.scale


def test_nodes_that_are_left_out_are_bounded(line):
    """A line that stops early misses what its stretches hold."""
    few = replace(line, nodes=max(2, line.nodes // 8))
    with working_precision(160):
        off = abs(few.value() - line.value())
        assert off > line.rest()
        assert off < few.rest()
        assert few._stretches(few.nodes + 1, few.end) * few.step / flint.arb.pi() > off


def test_what_is_beyond_the_height_is_bounded(line):
    """With the height moved down to a few nodes, the bound that holds from there on is all there is."""
    few = max(2, line.nodes // 8)
    height = few * line.plan.step * (1 - 1e-9)
    with working_precision(160):
        c = to_arb(F(line.plan.c))
        size, whole = gauss.expectation(line.calm, c), line._whole(c)
        atom = to_arb(line.calm.zero)
        share = beyond.far(beyond.cell_shifts(line.calm, c), size - atom, height)
        still = ((atom + share) / size).upper().min(flint.arb(1))
        low = replace(line, nodes=few, height=height, far=(still ** (N - 1) * whole / line.scale).upper())
        off = abs(low.value() - line.value())
        assert off < low.rest()
        assert off > replace(low, far=flint.arb(0)).rest()


def shrunken(monkeypatch, share, of_jumps=None):
    """Rules that say less than the truth by a share, and say that they may; jumps alone have no mass at 0."""
    plain, share_of = gauss.rule, {False: share, True: share if of_jumps is None else of_jumps}

    def less(law, c, **named):
        found, share = plain(law, c, **named), share_of[law.zero.upper == 0]
        lost = sum(((c * v).exp() * w for v, w in zip(found.values, found.weights, strict=True)), start=flint.arb(0))
        weights = tuple(w * (1 - share) for w in found.weights)
        return replace(found, weights=weights, error=found.error + lost.upper() * share)

    monkeypatch.setattr(gauss, "rule", less)


def test_what_is_known_of_true_values_is_not_taken_for_a_share_of_the_rules_sums(law, line, monkeypatch):
    """The bound from a height on is a number, whatever the rules say that it is divided by."""
    shrunken(monkeypatch, flint.arb("0.1"))
    other = made(cut_at(law, 20))
    with working_precision(160):
        assert other.scale < line.scale * flint.arb("0.2")
        assert abs(other.far * other.scale / (line.far * line.scale) - 1) < 1e-6


def along(law, s):
    """The transform of the pieces of a law, by integrals."""
    return sum((p.integral(lambda u, p=p: (s * p.value(u)).exp()) for p in law.pieces), start=flint.acb(0))


def test_stretches_allow_for_the_errors_of_both_rules(law, line, monkeypatch):
    """At single nodes, against integrals along the line; the rules say less than the truth."""
    shrunken(monkeypatch, flint.arb("0.01"), flint.arb("0.6"))
    other = made(cut_at(law, 20))
    with working_precision(160):
        for node in (1, 2, 5):
            s = flint.acb(line.c, line.step * node)
            calm, jump = along(line.calm, s), along(line.jump, s)
            truth = abs((calm + to_arb(line.calm.zero)) ** (N - 1) * jump / (s * s))
            bound = other._stretches(node, node) * other.scale
            assert truth <= bound
            assert node > 1 or bound < 3 * truth


def test_bromwich_allows_on_stretches_for_a_rule_that_says_less(law, monkeypatch):
    shrunken(monkeypatch, flint.arb("0.1"))
    with working_precision(160):
        plan, seen = bromwich_plan.plan_for(law, N, 1e-3)
        other = bromwich.BromwichLine.of(seen, N, plan)
        other = replace(other, step=other.step / 10**6)
        truth = gauss.expectation(seen, other.c) ** N / other.c**2  # the first node is nearly on the real line
        assert truth * flint.arb("0.9999") <= other._stretches(1, 1) * other.log_scale.exp()


def test_what_is_left_out_counts_at_both_ends(line, monkeypatch):
    """A line that stops early is below the truth or above it, and its bracket holds it."""
    low, high = ends(line)
    for nodes in (1, 3, 6):
        least, most = ends(replace(line, nodes=nodes))
        assert least <= high
        assert low <= most
    seen = []
    monkeypatch.setattr(jumps.JumpLine, "value", lambda self: flint.arb(8))
    monkeypatch.setattr(jumps.JumpLine, "rest", lambda self: flint.arb(2))
    monkeypatch.setattr(jumps.JumpLine, "aliases", lambda self, value: seen.append(value) or flint.arb(1))
    least, most = ends(replace(line, scale=flint.arb(2)))
    assert (least, most, seen) == (2 * (8 - 2 - 1), 2 * (8 + 2), [8 + 2])


def test_slopes_that_are_not_above_the_line_are_refused(line):
    with working_precision(160), pytest.raises(NotDecided, match="slopes above c"):
        replace(line, plan=replace(line.plan, slope=0.9 * line.plan.c)).aliases(flint.arb(1))


def test_bins_hold_every_jump_once(law, monkeypatch):
    monkeypatch.setitem(jump_plan.bins.__kwdefaults__, "loss", 1e-3)
    cut = cut_at(law, 3)
    parts = list(jump_plan.bins(*cut, N, 1e-40))
    assert len(parts) > 1
    runs = sorted((p.low, p.high) for bin_ in parts for p in bin_)
    assert runs[0][0] == cut[0].pieces[-1].high
    assert runs[-1][1] == law.pieces[-1].high
    assert all(one[1] == other[0] for one, other in itertools.pairwise(runs))


def test_errors_of_both_rules_are_in_the_sum(line):
    with working_precision(160):
        plain = line.value().rad()
        for k in (0, 1):
            rules = list(line.rules)
            rules[k] = replace(rules[k], error=line.totals[k] * flint.arb("1e-6"))
            wide = replace(line, rules=tuple(rules)).value().rad()
            moved = list(line.tilted)
            moved[k] = tuple(w * flint.arb("1.000001") for w in moved[k])
            assert wide > 1000 * plain
            assert abs(replace(line, tilted=tuple(moved)).value() - line.value()) < wide


def test_sums_below_a_mass_of_one_on_a_line_to_the_left(law, monkeypatch):
    """E[S_+] = E[S] + E[(-S)_+] holds on an event, with E[S] = n E[G; calm] (mass of the others)."""
    calm = cut_at(law, 20)[0]
    right = bromwich_bracket(calm, N, 1e-6, "float64")

    def left(seen, n, rtol):
        return bromwich_plan.choose(bromwich_plan.rough(seen.mirrored), n, 1e-9), seen.mirrored

    monkeypatch.setattr(bromwich, "plan_for", left)
    other = bromwich_bracket(calm, N, 1e-6, "float64")
    assert not misses(other, right)
    assert other.width < F(1, 10**4) * right.upper


def test_one_large_value_decides_and_the_bracket_is_narrow():
    """By jumps, or by one line of a transform to the left, the bracket is narrow and the number right."""
    pair = worst_pair(BlanketMixedGaussian("0.5", 2), adjacency="zero-out")
    found = pair_delta(pair, 300, F(33, 20), rtol=1e-8)
    assert found.width <= F(1, 10**8) * found.upper
    # The rest of the sum is nearly normal, around 299 E[G]: one large value on top of it.
    law = pair.law(F(33, 20), tail=F(1, 10**60), bits=512)
    with working_precision(512):
        mean, spread = -0.65 * 299, math.sqrt(299 * ((math.exp(0.25) - 1 + 1.3**2) / 2 - 0.65**2))

        def one(u):
            return flint.acb(law.pieces[0].value(u).real + mean).real

        total, width = 0.0, 1 / 64
        for k in range(int(7 / width), int(17 / width)):
            u = (k + 0.5) * width
            gap = float(one(flint.acb(u)))
            z = gap / spread
            gain = spread * (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) + z * math.erfc(-z / math.sqrt(2)) / 2)
            total += gain * float(law.pieces[0].density(flint.acb(u)).real) * width
    assert abs(total / float(found.upper) - 1) < 0.02
