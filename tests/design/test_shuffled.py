"""The best channel found for a central target, and designs with few messages."""

import itertools
import json
import re
from fractions import Fraction as F

import pytest
from typer.testing import CliRunner

from symshuffle import InputError, Law, Unsupported, cli, delta, randomizer
from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.design.shuffled.model import BlockDesign, block_designs, orbit_reduction
from symshuffle.design.shuffled.search import ExactTarget, blanket_law, ratios_by_size
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.frontiers.orbit import centre_orbit, orbit_mechanism, subset_orbit, tuple_orbit


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(
    "orbits",
    [
        (subset_orbit(4, 1, F(3)),),
        (subset_orbit(5, 2, F(2), F(1, 3)), centre_orbit(5, F(2, 3))),
        (tuple_orbit(3, [F(4), F(2)], F(1, 2)), subset_orbit(3, 2, F(3, 2), F(1, 2))),
    ],
)
def test_law_of_a_mixture_is_that_of_the_accountant(orbits, n):
    mine = evaluate_law(blanket_law(orbits, F(6, 5)), n, arithmetic="exact").exact
    channel = orbit_mechanism(orbits).channel()  # its blanket is found from the matrix
    assert mine == delta(channel, n=n, exp_eps=F(6, 5), arithmetic="exact").bracket.exact
    rational, symbolic = reduction(orbit_reduction(orbits)), reduction(orbit_mechanism(orbits))
    assert rational.neighbours("both", n) == symbolic.neighbours("both", n)
    assert [one.describe(n) for one in rational.datasets] == [one.describe(n) for one in symbolic.datasets]
    for one, two in zip(rational.datasets, symbolic.datasets, strict=True):
        laws = [sorted(Law.from_atoms(side.upper(F(6, 5), "forward", None).atoms()).atoms()) for side in (one, two)]
        assert laws[0] == laws[1]


def test_answer_meets_the_target_and_a_larger_ratio_does_not():
    found = best_shuffled(6, n=200, eps="1/2", delta="1e-4")
    assert found.size == 1
    assert found.delta.bracket.upper <= F(1, 10**4)
    assert found.epsilon.bracket.upper <= F(1, 2) + F(1, 10**5)
    assert found.trace == AnchoredLaw.from_channel(found.channel()).trace()
    assert found.epsilon.attained.lower <= found.epsilon.bracket.upper
    more = randomizer("krr").at(k=6, lam=found.ratio + F(1, 100))
    assert delta(more, n=200, eps="1/2").bracket.lower > F(1, 10**4)


def test_best_size_grows_with_the_number_of_inputs_at_few_users():
    sizes = []
    for k in (4, 40):
        ratios = ratios_by_size(ExactTarget(k, 4, F(8, 5), F(1, 10**6), None))
        sizes.append(max(ratios, key=lambda s, k=k, ratios=ratios: subset_orbit(k, s, ratios[s]).signal))
    assert sizes[0] <= 2 < sizes[1]


def test_every_size_is_tried():
    found = best_shuffled(8, n=3, exp_eps=F(3, 2), delta="1e-3")
    best = max(
        subset_orbit(8, s, lam).signal
        for s in range(1, 8)
        for lam in (F(i, 32) for i in range(33, 160))
        if delta(randomizer("subset-selection").at(k=8, s=s, lam=lam), n=3, exp_eps=F(3, 2)).bracket.upper <= F(1, 1000)
    )
    assert found.trace >= best


def test_null_output_pays_at_few_users_and_is_told_to_be_useless():
    found = best_shuffled(5, n=3, eps="1/2", delta="1/20")
    (alone,) = [orbit for orbit in found.orbits if len(orbit.levels) == 1]
    assert alone.weight > 0
    assert not found.useful
    assert found.risk > F(4, 5)


def test_cap_is_kept():
    found = best_shuffled(6, n=200, eps="1/2", delta="1e-4", lam_cap=F(2))
    assert found.ratio == 2
    assert "at most 2" in found.about


@pytest.mark.parametrize(("q", "dimension"), [(2, 2), (3, 2), (2, 3), (5, 2)])
def test_hyperplanes_form_a_2_design(q, dimension):
    design = BlockDesign(q, dimension)
    blocks = [set(block) for block in design.blocks()]
    assert {len(block) for block in blocks} == {design.size}
    assert len(blocks) == design.points
    together = {sum({x, y} <= block for block in blocks) for x, y in itertools.combinations(range(design.points), 2)}
    assert len(together) == 1


def test_blocks_have_the_bound_and_the_trace_of_all_subsets():
    fano = BlockDesign(2, 2, F(3)).channel()
    subsets = randomizer("subset-selection").at(k=7, s=3, lam=3)
    for n in (1, 2, 3):
        ends = [delta(one, n=n, exp_eps=F(6, 5), arithmetic="exact").bracket.exact for one in (fano, subsets)]
        assert ends[0] == ends[1]
    assert AnchoredLaw.from_channel(fano).trace() == subset_orbit(7, 3, F(3)).signal


def test_wrong_designs():
    with pytest.raises(InputError, match="prime"):
        BlockDesign(4, 2)
    with pytest.raises(Unsupported, match="2000"):
        BlockDesign(47, 2).blocks()
    assert block_designs(2) == (BlockDesign(2, 2),)


def test_other_losses_are_refused():
    with pytest.raises(Unsupported, match="max"):
        best_shuffled(5, n=10, eps=1, delta="1/10", loss="max")


def test_command():
    asked = ["design", "shuffled", "--k", "5", "--n", "100", "--eps", "1/2", "--delta", "1e-3"]
    shown = " ".join(CliRunner().invoke(cli.app, asked).output.split())
    assert (
        "no upper end" in shown and "exchangeable channels" in CliRunner().invoke(cli.app, [*asked, "--explain"]).output
    )
    read = re.match(
        r"risk <= (\S+) \(upper end, rounded up; sum of squared errors\); eps <= (\S+) \(upper end, rounded up\) at "
        r"delta = 0.001 protects any one of 100 users may change their value assumes honest users; fresh randomness; "
        r"unlinkable sure eps: a theorem .*; the risk is exact; the channel was found by a local search, and a better "
        r"channel is not excluded channel",
        shown,
    )
    found = json.loads(CliRunner().invoke(cli.app, [*asked, "--json"]).output)
    for said, end in ((read[1], F(found["risk"])), (read[2], F(found["certified_eps"]))):
        assert end <= F(said) <= end * F(10001, 10000)
    assert F(found["trace"]) == best_shuffled(5, n=100, eps="1/2", delta="1e-3").trace
    assert found["upper"] == "no upper end"
    assert cli.main([*asked[:-1], "2"]) == 2


def test_a_search_says_how_far_it_is():
    heard = []
    found = best_shuffled(5, n=100, eps="1/2", delta="1/1000", progress=lambda *stage: heard.append(stage))
    assert found == best_shuffled(5, n=100, eps="1/2", delta="1/1000")
    assert heard[0][2] == "4 subset sizes, alone and thinned"
    assert [stage for _, _, stage in heard[-3:]] == [
        "the certified bound of the best mixture",
        "the smallest eps of the best mixture",
        "",
    ]
    places, totals = [done for done, _, _ in heard], {total for _, total, _ in heard}
    assert places == sorted(places) and places[0] == 0 and totals == {places[-1]}
    with pytest.raises(InputError, match="progress"):
        best_shuffled(5, n=100, eps="1/2", delta="1/1000", progress=3)
