"""Comparisons of several rounds and of fewer messages: levels by values, against calls of their own."""

from fractions import Fraction as F

import pytest

from symshuffle import Deployment, InputError, compare, delta, epsilon, randomizer
from tests.shell import answer, refused

TARGET = {"eps": "1", "delta": "1e-6"}


def level(row):
    return row.eps0.lower


@pytest.mark.parametrize(
    ("name", "k", "n", "times", "eps", "target"),
    [
        ("krr", 50, 100_000, 30, "1", "1e-6"),
        ("krr", 4, 40, 3, "2", "1e-2"),  # so few users amplify next to nothing
        ("oue", 6, 2000, 12, "1/2", "1e-5"),
        ("olh", 8, 5000, 1000, "2", "1e-4"),
    ],
)
def test_all_rounds_together_meet_the_target_and_at_a_larger_level_do_not(name, k, n, times, eps, target):
    (row,) = compare(k, n=n, eps=eps, delta=target, periods=times, mechanisms=[name]).rows
    sizes = {"k" if name == "krr" else "D": k} | {key: int(value) for key, value in row.parameters if key == "g"}

    def spent(eps0):
        return delta(randomizer(name).at(eps0=eps0, **sizes), n=n, periods=times, eps=eps).bracket

    assert spent(level(row)).upper <= F(target)
    assert spent(level(row) * F(102, 100)).lower > F(target)
    assert row.epsilon.upper <= F(eps)
    assert f"in each of {times} rounds together" in row.neighbours.lines("eps", "", "").protects


def test_what_is_brought_meets_the_target_of_all_rounds():
    brought = ["any-ldp", "joint(krr(k=2),krr(k=3))", randomizer("krr").at(k=6)]
    found = compare(6, n=1000, periods=5, mechanisms=brought, **TARGET)
    assert len(found.rows) == 3
    for row in found.rows:
        assert F(99, 100) <= row.epsilon.upper <= 1
    own = next(row for row in found.rows if row.name.startswith("own"))
    assert delta(randomizer("krr").at(k=6, eps0=level(own)), n=1000, periods=5, eps=1).bracket.upper <= F(1, 10**6)


@pytest.mark.parametrize("asked", [TARGET, {"eps0": "1", "delta": "1e-6"}, {"budget": "1/2", "delta": "1e-6"}])
def test_eps_at_fewer_messages_is_that_of_so_many_users(asked):
    wanted = ["krr", "olh", "rappor"]
    fewer = compare(5, n=2000, min_batch_size=700, mechanisms=wanted, **asked)
    alone = compare(5, n=700, mechanisms=wanted, **asked)
    for row in fewer.rows:
        other = alone.row(row.name)
        assert float(level(row)) == pytest.approx(float(level(other)), rel=1e-3)
        assert float(row.epsilon.upper) == pytest.approx(float(other.epsilon.upper), rel=1e-3)
        assert row.risk.upper * 2 < other.risk.upper  # that of 2000 users
    assert compare(5, n=700, min_batch_size=700, mechanisms=["krr"], **asked).row("krr") == alone.row("krr")


@pytest.mark.parametrize("asked", [{"eps0": "2"}, {"budget": "1/2"}])
def test_a_local_match_has_the_eps_of_all_rounds(asked):
    (row,) = compare(4, n=3000, delta="1e-6", periods=7, min_batch_size=2500, mechanisms=["krr"], **asked).rows
    source = Deployment(randomizer("krr").at(k=4, eps0=level(row)), periods=7)
    found = epsilon(source, n=2500, delta="1e-6").bracket
    assert found.lower <= row.epsilon.upper
    assert row.epsilon.lower <= found.upper


@pytest.mark.parametrize("option", ["periods", "min_batch_size"])
@pytest.mark.parametrize("value", [0, 1.5, 10**7, True])
def test_wrong_values_are_refused_by_name(option, value):
    with pytest.raises(InputError, match=option):
        compare(3, n=10, mechanisms=["krr"], **TARGET, **{option: value})


@pytest.mark.parametrize("option", ["periods", "min_batch_size"])
def test_without_a_delta_there_is_nothing_to_certify(option):
    with pytest.raises(InputError, match=f"{option} = 3: expected none, unless delta is given"):
        compare(3, n=10, eps0=1, mechanisms=["krr"], **{option: 3})


LINE = ["compare", "--k", "3", "--n", "500", "--eps", "1", "--delta", "1e-6", "--mechanism", "krr"]


def test_the_command_line_names_both(capsys):
    found = answer(capsys, *LINE, "--periods", "4", "--min-batch-size", "400")
    assert (found["rounds"], found["min_batch_size"]) == (4, 400)
    assert "4 periods together" in found["about"]
    assert "400 messages" in found["about"]
    plain = answer(capsys, *LINE)
    assert not plain.keys() & {"rounds", "min_batch_size"}
    assert float(found["rows"][0]["eps0"]["upper"]) < float(plain["rows"][0]["eps0"]["upper"])
    assert "min-batch-size" in refused(capsys, *LINE, "--min-batch-size", "501")
    assert "periods" in refused(capsys, *LINE, "--periods", "0")
