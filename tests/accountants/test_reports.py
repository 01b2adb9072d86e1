"""Several reports of a user in a period are one batch: what answers say of it, against both truths."""

import itertools
import re
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

from symshuffle import Deployment, Group, delta, randomizer
from symshuffle.accountants.deployment.experiment import experiment_of
from symshuffle.accountants.deployment.neighbours import ENUMERATED
from tests.oracles.deployments import Row, World, hockey_stick, randomized_response
from tests.shell import run

CHANNELS: tuple[tuple[Row, ...], ...] = (
    randomized_response(2, F(3)),
    randomized_response(2, F(2)),
    ((F(1, 2), F(1, 2)), (F(1, 4), F(3, 4))),
    ((F(1, 2), F(3, 8), F(1, 8)), (F(1, 4), F(1, 2), F(1, 4)), (F(1, 8), F(3, 8), F(1, 2))),
)
LEVELS = (F(6, 5), F(2))
CASES = list(itertools.product(CHANNELS, (1, 2, 3), LEVELS))


def histograms(rows: tuple[Row, ...], held: tuple[int, ...]) -> dict[Any, F]:
    """The law of the counts of one message about each input."""
    return World((rows,) * len(held)).view(tuple((x,) for x in held), set(range(len(held))), set(), set())


def one_batch(rows: tuple[Row, ...], n: int, level: F) -> F:
    """The largest divergence of one batch of two messages of every user; inputs differ from message to message."""
    inputs = range(len(rows))
    laws = {held: histograms(rows, held) for held in itertools.combinations_with_replacement(inputs, 2 * n)}
    worst = F(0)
    for rest in itertools.combinations_with_replacement(inputs, 2 * n - 2):
        for first, second in itertools.permutations(itertools.combinations_with_replacement(inputs, 2), 2):
            p, q = (laws[tuple(sorted((*own, *rest)))] for own in (first, second))
            worst = max(worst, hockey_stick(p, q, level))
    return worst


def separate(rows: tuple[Row, ...], n: int, level: F) -> F:
    """The largest divergence of two batches with a message of every user each; inputs differ from batch to batch."""
    inputs, pairs = range(len(rows)), []
    for rest in itertools.combinations_with_replacement(inputs, n - 1):
        laws = [histograms(rows, (own, *rest)) for own in inputs]
        pairs += list(itertools.permutations(laws, 2))

    def both(one: Any, other: Any) -> dict[Any, F]:
        return {(a, b): p * q for (a, p), (b, q) in itertools.product(one.items(), other.items())}

    return max(
        hockey_stick(both(one[0], other[0]), both(one[1], other[1]), level)
        for one, other in itertools.combinations_with_replacement(pairs, 2)
    )


def effect_of_reports(shown: str) -> str:
    text = " ".join(shown.split())
    found = re.search(r"reports = 2 (.*?)(?= (?:periods|memoised|threshold|colluding) = |$)", text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(("rows", "n", "level"), CASES)
def test_the_line_about_reports_names_the_truth_that_the_answer_bounds(
    rows: tuple[Row, ...], n: int, level: F, tmp_path: Any, capsys: Any
) -> None:
    pooled = one_batch(rows, n, level)
    apart = separate(rows, n, level)
    assert pooled <= apart
    file = tmp_path / "matrix.json"
    file.write_text(str([[str(p) for p in row] for row in rows]).replace("'", '"'))
    options = ("--n", str(n), "--exp-eps", str(level), "--reports", "2", "--explain")
    status, shown, _ = run(capsys, "delta", str(file), *options)
    assert status == 0
    found = delta(rows, n=n, exp_eps=level, reports=2)
    said = effect_of_reports(shown)
    assert "one batch" in said
    assert "one batch" in " ".join(shown.split()).split("same number of reports", 1)[1].split(" sure ")[0]
    if "enumerated" in said:
        assert found.bracket.exact == pooled
        assert "composition" not in said
        assert "engine enumeration" in " ".join(shown.split())
    else:
        assert "composition of so many separate batches" in said
        assert found.bracket.upper >= apart
    if n < 3:
        assert delta(rows, n=n, exp_eps=level, periods=2).bracket.upper >= apart


def test_two_reports_of_two_users_are_between_both_truths() -> None:
    rows = CHANNELS[0]
    found = delta(rows, n=2, exp_eps=2, reports=2).bracket
    assert F(73, 256) <= found.lower <= found.upper <= F(75, 256) == separate(rows, 2, F(2))


def test_an_answer_below_separate_batches_says_that_it_is_of_one() -> None:
    rows = CHANNELS[3]
    found = delta(rows, n=2, exp_eps="6/5", reports=2)
    assert found.bracket.exact == F(3923, 10240) < separate(rows, 2, F(6, 5)) == F(4043, 10240)
    assert "the divergence of separate batches may be larger" in found.about


@pytest.mark.parametrize("more", [("--threshold", "2"), ("--colluding", "1"), ("--periods", "9", "--memoised")])
def test_the_line_about_reports_is_that_of_the_engine_with_other_fields(more: tuple[str, ...], capsys: Any) -> None:
    few, many = (run(capsys, "delta", "krr", "-p", "k=2", "--lam", "3", "--n", str(n), "--exp-eps", "2", "--reports",
                     "2", "--explain", *more)[1] for n in (2, 300))  # fmt: skip
    assert effect_of_reports(few) == "the messages of a period are one batch, whose histograms are enumerated"
    said = "the messages of a period are one batch, bounded by the composition of so many separate batches"
    assert effect_of_reports(many) == said
    for shown in (few, many):
        assert "composition of the batches of all periods" not in " ".join(shown.split())


def test_effects_of_periods_that_are_composed() -> None:
    found = dict(Deployment(Group(CHANNELS[0], 9), periods=3).effects())
    assert found == {"periods = 3": "the composition of the batches of all periods"}


def test_the_largest_blanket_has_an_effect_on_vectors_alone(capsys: Any) -> None:
    asked = ("--n", "9", "--eps", "1", "--blanket", "largest", "--explain")
    for source, effect in (
        (("krr", "-p", "k=3", "--eps0", "1"), "none: this randomizer has one blanket, the largest"),
        (("gaussian", "-p", "sigma0=1"), "the distribution that replaces the messages of the other users"),
    ):
        assert f"blanket = largest {effect}" in " ".join(run(capsys, "delta", *source, *asked)[1].split())


def test_irrational_budgets_have_the_composition() -> None:
    found = delta(randomizer("krr", k=2, eps0=1), n=2, exp_eps=2, reports=2)
    assert found.neighbours.theorem != ENUMERATED
    assert "whose composition bounds it" in found.about


KINDS = {  # reports, periods and memoised of every kind of period; what the second line of an answer says of them
    (1, 1, False): "",
    (1, 30, False): " in each of 30 rounds together",
    (1, 30, True): "",
    (3, 1, False): " in 1 period, with 3 messages of every user in a period",
    (3, 30, False): " in each of 30 periods together, with 3 messages of every user in a period",
    (3, 30, True): " in 1 period, with 3 messages of every user in a period",
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_line_counts_periods_and_messages(kind: tuple[int, int, bool]) -> None:
    reports, periods, memoised = kind
    asked = Deployment(Group(RUN, 200), reports=reports, periods=periods, memoised=memoised)
    found = experiment_of(asked).neighbours("both")
    said = found.protects
    assert said == f"any one of 200 users may change their value{KINDS[kind]}"
    batches = reports * (1 if memoised else periods)
    assert product_of(said) == batches
    kept = found.to_dict().get("rounds", [{"times": 1}])
    assert sum(one["times"] * one.get("reports", 1) for one in kept) == batches
    shown = re.search(r"M sends the messages of all (\d+) (?:round|period)s? together(?:, with (\d+))?", found.together)
    assert (1 if shown is None else int(shown[1]) * int(shown[2] or 1)) == batches


def test_the_second_line_of_a_command_counts_periods_and_messages(capsys: Any) -> None:
    for n, reports, periods, said in (
        (100, 3, 2, "may change their value in each of 2 periods together, with 3 messages of every user in a period"),
        (100, 3, 1, "may change their value in 1 period, with 3 messages of every user in a period"),
        (2, 3, 1, "may change their value, with 3 messages of every user in a period"),  # enumerated
    ):
        options = ("--n", n, "--eps", "1", "--rtol", "0.1", "--reports", reports, "--periods", periods)
        status, shown, _ = run(capsys, "delta", "krr", "-p", "k=2", "--lam", "2", *options)
        assert status == 0 and f"protects any one of {n} users {said} assumes" in " ".join(shown.split())


def product_of(said: str) -> int:
    """Periods times messages of a user in each, of a line without later periods."""
    periods = re.search(r"each of (\d+) ", said)
    messages = re.search(r"with (\d+) messages", said)
    return int(periods[1] if periods else 1) * int(messages[1] if messages else 1)


@pytest.mark.parametrize("first", [(1, 2, False), (3, 2, False)])
@pytest.mark.parametrize("then", [(1, 1, False), (3, 4, False), (2, 4, False), (2, 4, True)])
@pytest.mark.parametrize("n", [200, 300])
def test_the_second_line_counts_those_of_later_periods(
    first: tuple[int, int, bool], then: tuple[int, int, bool], n: int
) -> None:
    kinds = [Deployment(Group(RUN, many), reports=reports, periods=periods, memoised=memoised)
             for many, (reports, periods, memoised) in ((200, first), (n, then))]  # fmt: skip
    said = experiment_of(replace(kinds[0], later_periods=(kinds[1],))).neighbours("both").protects
    numbers = [(1 if memoised else periods, reports) for reports, periods, memoised in (first, then)]
    whole = sum(periods for periods, _ in numbers)
    assert f" in each of {whole} {'rounds' if first[0] == then[0] == 1 else 'periods'} together" in said
    if first[0] == then[0]:
        assert (f", with {first[0]} messages of every user in a period" in said) == (first[0] > 1)
    else:
        parts = re.findall(r"in (\d+) periods? of n = (\d+) users with (\d+) messages? each", said)
        assert [tuple(map(int, part)) for part in parts] == [
            (periods, many, reports) for many, (periods, reports) in zip((200, n), numbers, strict=True)
        ]
    if n == 300 and first[0] == then[0]:
        assert "of n = 200 users" in said and "of n = 300 users" in said


RUN = randomizer("krr", k=3, lam=2)
