"""The executor of a caller changes who computes, not what is found."""

from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, compare, profile, randomizer, tradeoff
from symshuffle.accountants import amplification_curve
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions.adversary import worst_of_channel
from symshuffle.base.executors import mapped, processes, workers
from symshuffle.cli import main
from tests.words import words

KRR = randomizer("krr").at(k=3, eps0=1)


@pytest.fixture(scope="module")
def pool():
    with processes(2) as found:
        yield found


def test_curves(pool):
    seen = []
    options = {"n": 100, "eps": ["0", "0.1", "0.5"], "adjacency": "zero-out"}
    assert profile(KRR, **options, executor=pool, progress=lambda *c: seen.append(c)) == profile(KRR, **options)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    options = {"n": 100, "type_i": ["0", "0.1", "0.5"], "num_levels": 5}
    assert tradeoff(KRR, **options, executor=pool) == tradeoff(KRR, **options)
    options = {"delta": "1e-6", "users": [100, 1000]}
    here, there = amplification_curve(KRR, **options), amplification_curve(KRR, **options, executor=pool)
    for a, b in zip(here.points, there.points, strict=True):
        assert a.x == b.x and a.y.lower <= b.y.upper and b.y.lower <= a.y.upper
    assert replace(here, points=()) == replace(there, points=())
    with pytest.raises(InputError, match="executor = ProcessPoolExecutor: expected work that it can send"):
        profile(reduction(KRR), n=100, eps=["0.1"], executor=pool)  # closures do not travel


@pytest.mark.parametrize("n", [3, 30])
def test_worst_backgrounds(pool, n):
    channel = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]])
    found = worst_of_channel(channel, n, Fraction(11, 10), executor=pool)
    assert found == worst_of_channel(channel, n, Fraction(11, 10))


def test_comparisons(pool):
    options = {"n": 1000, "eps0": "0.5", "mechanisms": ["krr", "aug-rr"]}
    seen = []
    found = compare(4, **options, executor=pool, progress=lambda *told: seen.append(told))
    assert found == compare(4, **options)
    assert seen[0][2] == "krr" and [told[:2] for told in seen] == [(i, len(seen) - 1) for i in range(len(seen))]


@pytest.mark.parametrize(
    "command",
    [
        words("profile krr -p k=3 --eps0 1 --n 50 --to 0.3 --points 3"),
        ["worst-datasets", "rr", "--eps0", "1", "--eps", "0.1", "--n", "4"],
        ["compare", "--k", "3", "--n", "50", "--eps0", "1", "--mechanism", "krr"],
    ],
)
def test_jobs_of_commands(command, capsys):
    assert main([*command, "--json"]) == 0
    here = capsys.readouterr().out
    assert main([*command, "--json", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == here
    assert main([*command, "--jobs", "0"]) == 2
    assert capsys.readouterr().err == "symshuffle: --jobs = 0: expected an integer from 1 to 256\n"


@pytest.mark.parametrize(("jobs", "cores", "started"), [(22, 2, 2), (2, 8, 2), (1, 8, None), (22, 1, None)])
def test_no_more_processes_are_started_than_cores(monkeypatch, jobs, cores, started):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    with workers(jobs) as pool:
        assert (pool and pool._max_workers) == started


def test_no_more_processes_are_started_than_points():
    with processes(8) as pool:
        mapped(str, [1, 2], pool)
        assert len(pool._processes) <= 2
