"""Rows that a user brings: against rows of the registry, against enumeration, and what is refused."""

import itertools
import math
from fractions import Fraction as F

import pytest
import sympy as sp

import symshuffle as s
from symshuffle import InputError, compare
from symshuffle.cli import main
from symshuffle.design.comparison.families import names_on_file
from symshuffle.mechanisms.names import SYNONYMS
from symshuffle.utility.estimation.canonical import estimated_composition, output_votes
from symshuffle.utility.estimation.votes import canonical_votes, channel_noise, joint_noise, mixed_votes

LOSSES = ("l2", "max", "absent", "test")
ROWS = [[F(x, 12) for x in row] for row in ([6, 3, 2, 1], [2, 7, 2, 1], [1, 3, 4, 4])]


def enumerated(rows, n):
    """The four losses of the canonical estimator over all compositions of n users, from all tuples of messages."""
    channel = s.Channel.from_rows(rows)
    k, outputs = channel.num_inputs, range(channel.num_outputs)
    votes = output_votes(channel)
    errors = {}
    for data in itertools.combinations_with_replacement(range(k), n):
        shares = [F(data.count(i), n) for i in range(k)]
        square = [F(0)] * k
        for sent in itertools.product(outputs, repeat=n):
            chance = math.prod((rows[x][y] for x, y in zip(data, sent, strict=True)), start=F(1))
            guess = estimated_composition(votes, [sent.count(y) for y in outputs])
            square = [total + chance * (a - b) ** 2 for total, a, b in zip(square, guess, shares, strict=True)]
        errors[data] = square
    held = {(data, i) for data in errors for i in range(k) if set(data) == {i}}
    absent = {(data, i) for data in errors for i in range(k) if i not in data}
    test = max(math.sqrt(errors[a][i]) + max(math.sqrt(errors[b][j]) for b, j in absent if j == i) for a, i in held)
    return {
        "l2": max(sum(one) for one in errors.values()),
        "max": max(max(one) for one in errors.values()),
        "absent": max(errors[data][i] for data, i in absent),
        "test": test,
    }


@pytest.mark.parametrize("n", [1, 2])
def test_losses_of_a_channel_are_the_largest_of_all_compositions(n):
    found, real = channel_noise(s.Channel.from_rows(ROWS)), enumerated(ROWS, n)
    for loss in LOSSES[:3]:
        assert found.loss(loss, n) == real[loss]
    assert float(found.loss("test", n).midpoint) == pytest.approx(real["test"], rel=1e-12)
    for loss in LOSSES:  # they differ by who holds what, so that each place is one
        assert "all users hold input" in found.worst(loss)


def test_votes_of_products_and_mixtures_are_those_of_their_channels():
    """Closed forms of the parts against the inverted covariance of the explicit channel."""
    rr, krr = s.randomizer("rr").at(lam=3), s.randomizer("krr").at(k=3, lam=4)
    product = joint_noise([canonical_votes(rr), canonical_votes(krr)])
    explicit = channel_noise(rr.channel().tensor(krr.channel()))
    oue = s.randomizer("oue").at(D=3, lam=2)
    mixture = mixed_votes([(F(1, 3), krr), (F(2, 3), oue)])
    summed = channel_noise(s.parallel([s.randomizer("krr").at(k=3), s.randomizer("oue").at(D=3)], [F(1, 3), F(2, 3)])
                           .channel(lam=4))  # fmt: skip
    same = mixed_votes([(F(1, 3), krr), (F(2, 3), s.randomizer("oue").at(D=3, lam=4))])
    for one, other in ((product, explicit), (same, summed)):
        assert one.iid_risk(7) == other.iid_risk(7)
        for loss in LOSSES[:3]:
            assert one.loss(loss, 7) == other.loss(loss, 7)
        assert one.loss("test", 7).midpoint == pytest.approx(other.loss("test", 7).midpoint, rel=1e-12)
    assert mixture.loss("l2", 1) != same.loss("l2", 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_mechanism_brought_is_the_one_of_the_registry(loss):
    mine = s.randomizer("krr").at(k=4)
    found = compare(4, n=50, eps0=1, delta="1e-3", mechanisms=["krr", mine, ("mine", mine)], loss=loss)
    assert [row.name for row in found.rows] == ["krr", "own krr(k=4)", "own mine"]
    krr, own, named = found.rows
    assert krr.loss == own.loss == named.loss and krr.epsilon == own.epsilon and not own.excess
    assert (krr.eps0.upper, krr.bits) == (own.eps0.upper, own.bits)
    assert krr.chi_square.upper == pytest.approx(own.chi_square.upper, rel=1e-20)
    assert any("the same mechanism" in words and "own mine" in words for words in found.alike)
    assert "as small: own krr(k=4), own mine" in found.lines.number


def test_a_composition_is_matched_by_its_total_level():
    found = compare(
        4, n=50, eps=1, delta="1e-3", mechanisms=["joint(rr,2)", s.joint(s.randomizer("rr"), s.randomizer("rr"))]
    )
    text, tree = found.rows
    assert (text.name, tree.name) == ("joint(rr,2)", "joint(rr,2) 2")
    assert text.estimator == "product of canonical unbiased ones"
    assert F(999, 1000) < text.epsilon.upper <= 1 and text.neighbours.budget
    level = text.eps0.upper
    alone = s.epsilon(s.joint(s.randomizer("rr"), s.randomizer("rr")).at(eps0=level), n=50, delta="1e-3").bracket
    assert alone.upper == pytest.approx(1, rel=1e-3)
    assert "shared budget" in found.lines.assumes


def test_a_matrix_is_taken_as_it_is_and_never_the_best_where_it_spends_more():
    """Three ways to spend more, each with a twin that does not."""
    channel = s.randomizer("krr").channel(k=4, lam=9)
    kinds = [({"eps0": 1}, {"eps0": 3}), ({"budget": "1/10"}, {"budget": 9}), ({"eps": "1/4"}, {"eps": 4})]
    for small, large in kinds:
        more = compare(4, n=50, delta="1e-3", mechanisms=["krr", channel], **small)
        assert more.rows[0].excess and more.rows[0].name == "own channel" and more.best.name == "krr"
        assert any(words.startswith("own channel spends more: ") for words in more.remarks())
        assert not compare(4, n=50, delta="1e-3", mechanisms=["krr", channel], **large).row("own channel").excess
    assert "own channel" not in more.lines.number


def test_a_matrix_of_expressions_has_its_own_level_and_votes():
    lam, third = s.randomizer("krr").parameters[0].symbol, sp.Rational(1, 3)
    rows = [[lam / (lam + 2), 1 / (lam + 2), 1 / (lam + 2)],
            [1 / (2 * lam + 1), lam / (2 * lam + 1), lam / (2 * lam + 1)], [third] * 3]  # fmt: skip
    mine = s.mechanisms.Mechanism.from_matrix("mine", rows)
    (row,) = compare(3, n=20, eps0=1, delta="1e-2", mechanisms=[mine]).rows
    assert row.reason == "no estimator is unbiased: some compositions send messages of the same law"
    rows[2] = [sp.Rational(1, 4), sp.Rational(1, 4), sp.Rational(1, 2)]
    mine = s.mechanisms.Mechanism.from_matrix("mine", rows)
    (row,) = compare(3, n=20, eps0=1, delta="1e-2", mechanisms=[mine]).rows
    ratio = F(math.floor(F(math.e) * 10**12), 10**12)
    channel = mine.at(lam=ratio).channel()
    assert row.risk.exact == channel_noise(channel).risk(20)
    assert float(row.eps0.upper) == pytest.approx(math.log(channel.ratio_cap()), rel=1e-12)
    assert bool(row.excess) == (channel.ratio_cap() > ratio)


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        (s.randomizer("krr").at(k=5), "k = 4: expected 5, the number of inputs of own krr"),
        (s.randomizer("subset-selection").at(k=4), "s is missing"),
        (s.randomizer("krr").at(k=4, lam=2), "lam left open, which is matched"),
        ("joint(laplace,2)", "mechanisms of finitely many outputs"),
        ("joint(nobody(k=3),2)", "nobody"),
        (7, "mechanisms = 7: expected a name, an expression"),
    ],
)
def test_what_cannot_be_a_row_is_refused_by_name(entry, named):
    with pytest.raises(InputError, match=named.replace("(", r"\(")):
        compare(4, n=10, eps0=1, mechanisms=["krr", entry])


def test_rows_without_an_estimator_have_their_reason():
    found = compare(4, n=10, eps0=1, mechanisms=["half-block(k=4)", "parallel(1/2:joint(rr,2),1/2:krr(k=4))"])
    assert all(row.loss is None and row.reason for row in found.rows)
    assert found.lines.number == "none: no row has a finite loss"
    budget = compare(4, n=10, budget="1/2", mechanisms=["krr", "joint(rr,2)"])
    assert dict(budget.absent)["joint(rr,2)"].startswith("a mechanism of your own is matched at eps0")


def test_the_command_takes_expressions_and_files(capsys, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("3/4,1/4\n1/4,3/4\n")
    words = f"compare --k 2 --n 30 --eps0 1 --delta 0.01 --mechanism krr --mechanism rr(lam) --channel {file}"
    status = main(words.replace("rr(lam)", "parallel(1/2:rr,1/2:krr(k=2))").split())
    out = " ".join(capsys.readouterr().out.split())
    assert status == 0 and "own mine.csv spends more: its level eps0 = 1.098613 is above 1, that of the others" in out
    assert "estimator: canonical unbiased" in out
    assert "parallel(1/2:rr,1/2:krr(k=2)) and krr" not in out


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_level_is_the_largest_ratio_whichever_state_comes_first(order):
    """Two states at lam and at 1/lam of a third one are lam^2 apart."""
    each = 1 / (2 * (s.mechanisms.LAM + 1 + 1 / s.mechanisms.LAM))
    states = [("low", (1, each / s.mechanisms.LAM)), ("mid", (1, each)), ("high", (1, each * s.mechanisms.LAM))]
    own = s.mechanisms.Mechanism.symmetric("three", 3, {"a": dict(states[i] for i in order)})
    found = compare(3, n=100, eps0=1, delta="1e-3", mechanisms=[own, "krr"])
    (row,) = (one for one in found.rows if one.name == "own three")
    assert row.eps0.lower <= 2 <= row.eps0.upper and row.excess and found.best.name == "krr"


def test_a_matrix_that_was_normalised_says_so(tmp_path, capsys):
    file = tmp_path / "vendor.csv"
    file.write_text("0.6,0.25,0.15\n0.2,0.633333,0.166667\n0.166667,0.166667,0.666667\n")
    asked = ["compare", "--k", "3", "--n", "100", "--eps0", "2", "--channel", str(file), "--mechanism", "krr"]
    assert main(asked) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "own vendor.csv is the normalised matrix" in words and "differ by at most 1.5e-06" in words
    exact = tmp_path / "exact.csv"
    exact.write_text("1/2,1/4,1/4\n1/4,1/2,1/4\n1/4,1/4,1/2\n")
    assert main([*asked[:8], str(exact), *asked[9:]]) == 0
    assert "normalised" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("texts", "rows"),
    [
        *(([SYNONYMS[text], text.upper()], [SYNONYMS[text]]) for text in SYNONYMS if SYNONYMS[text] in names_on_file()),
        (["krr", "krr", "K_RR", "olh"], ["krr", "olh"]),
        (["thinned oue", "thinned optimized-unary-encoding"], ["thinned oue"]),
        (["joint(rr,2)", "joint( rr, 2)", "joint(rr, rr)"], ["joint(rr,2)"]),
        (["joint(krr(k=2),2)", "krr", "joint(grr(k=2),2)"], ["joint(krr(k=2),2)", "krr"]),
        (["ANY_LDP", "any-ldp", "joint(rr,2)"], ["any-ldp", "joint(rr,2)"]),
    ],
)
def test_texts_of_one_meaning_are_one_row(texts, rows):
    """One of the rows of each case is asked for several times."""
    asked = {"budget": "1/10"} if "thinned" in rows[0] else {"eps0": 1}
    found = compare(2 if rows == ["rr"] else 4, n=50, mechanisms=texts, **asked)
    assert sorted([*(row.name for row in found.rows), *(name for name, _ in found.absent)]) == sorted(rows)
    (said,) = found.alike
    assert said.startswith(f"{rows[0]} is one row, asked for as ") and said.endswith(
        texts[-1] if len(rows) == 1 else ""
    )


def test_objects_that_a_user_brings_are_rows_of_their_own():
    mine = s.randomizer("krr").at(k=4)
    assert len(compare(4, n=50, eps0=1, mechanisms=["krr", mine, mine]).rows) == 3
