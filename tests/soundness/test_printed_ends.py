"""Numbers in texts that state a bound, a level or a target: on the side on which the sentence stays true.

Values are drawn so that the seventh digit matters; what is printed is compared with the exact number.
"""

import random
import re
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import InputError, compare
from symshuffle import delta as bound_on_delta
from symshuffle.base.numbers import Exp, enclose, lower_end, target_decimal
from symshuffle.collect import audit_samples
from symshuffle.design import best_shuffled
from symshuffle.utility import matched_ratio, optimal_equivariant_risk, trace_frontier
from symshuffle.vectors import SphereLinear, private_mean
from tests.shell import answer, run

NUMBER = r"(\d[\d.]*(?:e[+-]\d+)?)"


def drawn(rng, low, high, digits=8):
    """A decimal of so many digits, whose last is none that six digits show."""
    while True:
        value = rng.randint(int(low * 10**digits), int(high * 10**digits))
        if value % 10:
            return F(value, 10**digits)


def after(pattern, text):
    """The numbers behind a pattern in a text whose lines may be broken."""
    found = re.findall(pattern, " ".join(text.split()))
    assert found, (pattern, text)
    return [F(one) for one in found]


def law(rng, capsys):
    k, lam = rng.randint(2, 4), drawn(rng, 2, 4, 3)
    line = ("law", "krr", "-p", f"k={k}", "--lam", lam, "--n", rng.randint(2, 6), "--eps", drawn(rng, 0.1, 0.5))
    found = answer(capsys, *line)["leakage"]
    shown = re.findall(rf"│ \d │ \d │ {NUMBER} +│ {NUMBER} +│", run(capsys, *line)[1])
    assert len(shown) == len(found)
    for (alone, worst), one in zip(shown, found, strict=True):
        yield F(alone), F(one["upper"]), True
        yield F(worst), F(one["envelope"]["upper"]), True


def frontier(rng, capsys):
    k, budget, cap = rng.randint(3, 8), drawn(rng, 0.01, 0.2, 4), rng.randint(2, 6)
    found = trace_frontier(k, budget, lam_cap=cap)
    for text in (run(capsys, "frontier", "--k", k, "--budget", budget, "--lam-cap", cap)[1], found._repr_html_()):
        ((slope, rest),) = re.findall(rf"S (?:<=|&le;) {NUMBER} B \+ {NUMBER}", text)
        yield F(slope), found.certificate.eta, True
        yield F(rest), found.certificate.intercept, True
        assert F(slope) * budget + F(rest) >= found.trace.lower


def subset_size(rng, capsys):
    line = ("subset-size", "--k", rng.randint(5, 12), "--eps0", drawn(rng, 0.5, 2))
    found, (_, text, _) = answer(capsys, *line), run(capsys, *line)
    (least,), most = after(rf"at least {NUMBER}", text), after(rf"at most {NUMBER}", text)
    yield least, F(found["trace_bracket"][0]), False
    for printed, name in zip(most, ("iid_constant", "fixed_constant"), strict=True):
        yield printed, F(found[f"{name}_bracket"][1]), True


def comparison(rng, capsys):
    eps, delta = drawn(rng, 0.5, 1), drawn(rng, 1e-5, 2e-5, 12)
    found = compare(2, n=50, eps=eps, delta=delta, mechanisms=["krr"])
    for text in (found.about, found.match.words):
        ((level, target),) = re.findall(rf"\({NUMBER}, {NUMBER}\)-DP", text)
        yield F(level), eps, True
        yield F(target), delta, True
    yield after(rf"certified at delta = {NUMBER}", found.about)[0], delta, True


def audits(rng, capsys):
    eps, delta = drawn(rng, 0.5, 1), drawn(rng, 0.01, 0.02)
    for rows in (["0", "1"] * 500, ["0"] * 1000):
        found = audit_samples(rows, ["1"] * 1000, eps=eps, delta=delta, disjoint=True)
        event, texts = found.worst, " ".join((found.about, *map(str, found.rows())))
        yield after(rf"\({NUMBER},", event.claimed)[0], eps, True
        yield after(rf", {NUMBER}\)-DP", event.claimed)[0], delta, True
        yield after(rf"at delta = {NUMBER}", event.bounds)[0], delta, False
        yield after(rf"at eps = {NUMBER}", event.bounds)[0], eps, False
        assert event.bounds in texts and event.ratio >= lower_end(enclose(Exp(eps), 128))
    found = audit_samples(["0", "1"] * 500, ["1"] * 1000, delta=delta, disjoint=True)
    yield after(rf"at delta = {NUMBER}", found.about)[0], delta, False
    with pytest.raises(InputError, match="runs could refute") as error:
        audit_samples(["0"] * 9, ["1"] * 9, eps=90 + eps, delta=1 - delta / 10**16, disjoint=True)
    ((level, target),) = re.findall(rf"\({NUMBER}, {NUMBER}\)-DP", str(error.value))
    yield F(level), 90 + eps, True
    yield F(target), 1 - delta / 10**16, True


def means(rng, capsys):
    eps, delta = drawn(rng, 0.9, 1), drawn(rng, 0.5, 0.6)
    found = private_mean(
        np.zeros((40, 1)), eps=eps, delta=delta, mechanism=SphereLinear("1/9", 1), rng=np.random.default_rng(1)
    )
    ((level, target),) = re.findall(rf"\({NUMBER}, {NUMBER}\)-private", found.about)
    yield F(level), eps, True
    yield F(target), delta, True
    strong = SphereLinear("99/100", 1)
    bound = bound_on_delta(strong, n=40, eps=eps, rtol=1e-6).bracket.upper
    with pytest.raises(InputError) as error:
        private_mean(np.zeros((40, 1)), eps=eps, delta="1e-30", mechanism=strong)
    yield after(rf"delta <= {NUMBER}", str(error.value))[0], bound, True


def designs(rng, capsys):
    found = best_shuffled(2, n=5, eps=drawn(rng, 0.5, 1), delta="1e-3")
    rows = dict(re.findall(r"<th>([^<]*)</th><td>([^<]*)</td>", found._repr_html_()))
    yield F(rows["risk"]), found.risk, True
    yield F(rows["certified eps"]), found.epsilon.bracket.upper, True


def budgets(rng, capsys):
    k, cap = rng.randint(5, 9), drawn(rng, 2, 3, 4)
    for ask in (
        lambda budget: matched_ratio(k, 2, budget, lam_cap=cap),
        lambda budget: optimal_equivariant_risk(k, budget, n=9, population="iid", lam_cap=cap),
    ):
        with pytest.raises(InputError) as error:
            ask(F(10**6))
        (top,) = after(rf"\(0, {NUMBER}\]", str(error.value))
        ask(top)  # what a refusal allows is allowed
        with pytest.raises(InputError):
            ask(top * (1 + F(1, 10**5)))
    yield from ()


def plans(rng, capsys):
    eps, delta = drawn(rng, 1, 1.3, 7), drawn(rng, 1e-5, 2e-5, 12)
    line = ("collect", "plan", "--k", 3, "--n", 300, "--eps", eps, "--delta", delta, "--mechanism", "krr")
    text = run(capsys, *line, "--out", f"{eps.numerator}.json")[1]
    found = answer(capsys, *line, "--out", f"again{eps.numerator}.json")["expected"]
    yield after(rf"certified delta <= [^ ]* at eps = {NUMBER}", text)[0], eps, True
    yield after(rf" eps <= [^ ]* at delta = {NUMBER} arith", text)[0], delta, True
    printed = re.findall(rf"at most {NUMBER} users; {NUMBER} if", text)[0]
    for one, kind in zip(printed, ("max", "absent"), strict=True):
        assert F(found[kind]) * 300**2 <= F(one) ** 2 <= F(found[kind]) * 300**2 * (1 + F(1, 100))


SENTENCES = (law, frontier, subset_size, comparison, audits, means, designs, budgets, plans)


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda one: one.__name__)
def test_a_printed_number_is_on_the_side_on_which_its_sentence_is_true(sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, nearest = random.Random(f"printed {sentence.__name__}"), []
    for _ in range(2 if sentence is designs else 3):
        for printed, exact, up in sentence(rng, capsys):
            assert printed >= exact if up else printed <= exact, (printed, exact)
            assert abs(printed - exact) <= abs(exact) / 10**5
            shown = F(f"{float(exact):.6g}")
            nearest.append(shown >= exact if up else shown <= exact)
    # The control: to the nearest number of six digits some of these would be on the other side.
    assert not nearest or not all(nearest)


def test_a_level_is_shown_as_it_is_where_it_is_short():
    assert target_decimal(F("1.2345612"), up=True) == target_decimal(F("1.2345612"), up=False) == "1.2345612"
    assert (target_decimal(F(1, 3), up=True), target_decimal(F(1, 3), up=False)) == ("0.3333334", "0.3333333")
