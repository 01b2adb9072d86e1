"""The ledger for a browser: what is on its pages, and that nothing in them acts."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fake_ledger.first import claim

from symshuffle import InputError
from symshuffle.base import Verdict
from symshuffle.ledger import Claim, Erratum, Outcome, run_claim, verify_claims
from symshuffle.ledger.claims.comparisons import Comparison
from symshuffle.ledger.claims.registry import Ledger, bibliography, catalogue, load, papers
from symshuffle.ledger.report.entries import counts, entries, errata, groups, number_of_errata
from symshuffle.ledger.report.mathematics import to_markup, to_number
from symshuffle.ledger.report.records import bibtex
from symshuffle.ledger.report.site import check_report, one_page, site, write_report

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """A page as its tags, its attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.pieces: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())

    def values(self, *names: str) -> set[str]:
        return {value for _, name, value in self.attributes if name in names}


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return load("fake_ledger")


@pytest.fixture(scope="module")
def outcomes(ledger: Ledger) -> tuple[Outcome, ...]:
    return verify_claims(ledger)


@pytest.fixture(scope="module")
def files(ledger: Ledger, outcomes: tuple[Outcome, ...]) -> dict[str, str]:
    return site(ledger, outcomes)


def body(files: dict[str, str], name: str) -> Page:
    return Page(files[f"claims/symshuffle.{name}.html"])


def single(found: Claim, outcome: Outcome | None = None) -> str:
    return one_page(Ledger("fake_ledger", (found,), {}), [run_claim(found) if outcome is None else outcome])


def test_pages_escape_what_claims_say(files: dict[str, str], ledger: Ledger, outcomes: tuple[Outcome, ...]) -> None:
    for text in (*(files[name] for name in files if name.endswith(".html")), one_page(ledger, outcomes)):
        page = Page(text)
        assert not {"img", "iframe", "object", "embed", "base"} & set(page.tags)
        assert page.tags.count("script") == 1
        assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    page = body(files, "markup")
    assert "<script>alert(1)</script> & [bold]co[/bold]" in page.text
    assert '<img src=x onerror="alert(1)"> where a < b & [red]c[/red]' in page.text


def test_a_formula_cannot_bring_elements_of_its_own() -> None:
    for formula in (r"\text{<script>alert(1)</script>}", r"\text{<a href='x'>}", r"<img src=x>"):
        assert set(Page(to_markup(f"${formula}$")).tags) <= {"math", "mrow", "mtext", "mi", "mo", "code"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"$\frac{1}{2}$", "<mfrac>"),
        (r"$\operatorname{Var} X$ and $Var X$", "Var"),
        (r"a $\nosuchcommand$ b", '<code class="tex">\\nosuchcommand</code>'),
        (r"at $x_1$, so", '<span class="end"><math'),
    ],
)
def test_formulas(text: str, shown: str) -> None:
    assert shown in to_markup(text)


def test_a_long_formula_may_be_broken_at_its_relations_only() -> None:
    text = to_markup(r"$f(a, b) \le \frac{x = y}{z} + g = h, k$")
    assert text.count("<wbr>") == 3
    assert text.count("<math") == 4


def test_every_formula_of_the_ledger_is_set() -> None:
    for found in load().claims:
        corrected = (found.corrected.text,) if found.corrected else ()
        names = [control.name for control in found.controls]
        for text in (found.title, found.words, *found.assumptions, found.scope, *corrected, *names):
            assert 'class="tex"' not in to_markup(text), found.id
            assert text.count("$") % 2 == 0, found.id


def test_fractions_come_with_their_size() -> None:
    assert to_number("1/3") == "1/3 ≈ 0.333333"
    assert to_number("[0.3 +/- 1e-9]") == "[0.3 +/- 1e-9]"
    assert to_number("10/" + "9" * 400) == "10/" + "9" * 400 + " ≈ 1.00000e-399"


def test_the_page_of_a_refuted_claim_tells_statement_counterexample_and_correction_apart(files: dict[str, str]) -> None:
    page = body(files, "drawn")
    own = "Statement of this project"
    order = [own, "Counterexample", "Corrected statement", "Evidence", "Negative controls", "The check"]
    assert sorted(order, key=page.text.index) == order
    assert "Printed statement" not in page.text
    assert {"refutation", "correction"} <= page.values("class")
    assert "holds, exact-cases: 5 exact" in page.text
    assert "three times" in page.text and "1 of 1 rejected" in page.text
    assert "symshuffle verify symshuffle.drawn --ledger fake_ledger" in page.text


def test_errata_are_one_page_by_severity_and_every_refuted_claim_leads_there(files: dict[str, str]) -> None:
    page = Page(files["errata.html"])
    assert "A constant or a hypothesis changes" in page.text and page.text.count("he authors would grant it") == 1
    assert "claims/symshuffle.drawn.html" in page.values("href")
    assert "errata.html" in Page(files["index.html"]).values("href")
    assert "../errata.html#errata-hypothesis" in body(files, "drawn").values("href")
    assert "a factor is missing" in body(files, "drawn").text
    ids = [value for value in page.values("id") if value.startswith("errata-")]
    assert ids == ["errata-hypothesis"]


def test_a_run_that_is_not_as_recorded_says_so() -> None:
    page = Page(single(claim("wrong", printed=lambda n: n)))
    assert "refuted (recorded: holds)" in page.text
    assert "= 2 found 4" in page.text
    assert "astray" in " ".join(page.values("class"))
    assert "Faults of this run" in Page(single(claim("bare", controls=()))).text


def test_a_question_is_answered_in_words() -> None:
    found = claim("asked", expected="refuted", printed=lambda n: n)
    refutation = Comparison("false", "a density", "==", Verdict.FALSE, "exact", "p=1/10")
    page = Page(single(found, replace(run_claim(found), refutation=refutation)))
    assert "the statement says a density found false" in page.text
    assert str(refutation) == "at p=1/10: false, where the statement says: a density (exact)"


def test_what_a_proof_is_about(outcomes: tuple[Outcome, ...], ledger: Ledger) -> None:
    by_id = {outcome.id: outcome for outcome in outcomes}
    proved = by_id["symshuffle.definition"]
    definition = ledger.claim("symshuffle.definition")
    assert "1 of 1 rejected; a symbolic comparison tells the statement" in Page(single(definition, proved)).text
    by_instances = replace(proved, symbolic_rejection=False)
    assert "1 of 1 rejected, by instances only" in Page(single(definition, by_instances)).text


def test_links_lead_to_files_and_anchors_and_nothing_is_loaded_from_elsewhere(files: dict[str, str]) -> None:
    pages = {name: Page(text) for name, text in files.items() if name.endswith(".html")}
    for name, page in pages.items():
        for tag, attribute, value in page.attributes:
            if attribute not in {"href", "src", "action", "srcset", "poster", "data"}:
                continue
            address = urlsplit(value)
            if address.scheme:
                assert (tag, address.hostname) == ("a", "arxiv.org"), (name, value)
            elif "=" not in address.fragment:
                target = str((Path("/") / Path(name).parent / address.path).resolve())[1:] if address.path else name
                assert target in files, (name, value)
                assert not address.fragment or address.fragment in pages[target].values("id"), (name, value)
    assert "url(" not in files["style.css"] and "@import" not in files["style.css"]


def test_every_entry_has_a_line_and_a_page_also_where_nothing_checks_it() -> None:
    whole = load()
    gone = whole.claims[0]
    listed = entries(Ledger(whole.package, whole.claims[1:], {}))
    assert {entry.id for entry in listed} == {*catalogue(), *(found.id for found in whole.claims)}
    assert (listed[0].id, listed[0].verdict, listed[0].grade) == (gone.id, "unchecked", "none")
    assert list(groups(listed)) == [*papers(), "symshuffle"]
    assert dict(counts(groups(listed)[whole.claims[0].paper], "verdict"))["unchecked"] == 1


def test_what_a_search_finds() -> None:
    listed = entries(load())

    def found(text: str) -> set[str]:
        return {entry.id for entry in listed if all(word in entry.search_text for word in text.split())}

    assert "anchored.thm-4.9" in found("anchored theorem 4.9") and len(found("anchored theorem 4.9")) < 5
    assert 3 < len(found("envelope")) < 40
    assert {entry.paper for entry in listed if entry.id in found("takagi")} == {"vecmean"}


def test_page_is_the_same_each_time(ledger: Ledger, outcomes: tuple[Outcome, ...], files: dict[str, str]) -> None:
    assert site(ledger, outcomes) == files


def test_one_page_or_a_directory(ledger: Ledger, outcomes: tuple[Outcome, ...], tmp_path: Path) -> None:
    alone = write_report(ledger, outcomes, tmp_path / "ledger.html")
    assert alone == tmp_path / "ledger.html" and alone.is_file()
    assert 'id="symshuffle.drawn"' in alone.read_text(encoding="utf-8")
    index = write_report(ledger, outcomes, tmp_path / "site")
    assert index == tmp_path / "site" / "index.html"
    assert (tmp_path / "site" / "claims" / "symshuffle.drawn.html").is_file()
    check_report(tmp_path / "site", argument="--html")
    (tmp_path / "other").mkdir()
    check_report(tmp_path / "other", argument="--html")
    (tmp_path / "other" / "index.html").write_text("<p>somebody's page")
    with pytest.raises(InputError, match=r"--html = .*other: expected a directory that is new, empty"):
        check_report(tmp_path / "other", argument="--html")


def test_citations() -> None:
    found = {entry.id: entry for entry in entries(load())}
    cited = bibtex(found["ldp_tradeoff.thm-3.7"], bibliography()["ldp_tradeoff"])
    assert "@misc{nam2026ldptradeoff," in cited
    assert "{Nam, Seung-Hyun and Park, Hyun-Young and Lee, Si-Hyeon}" in cited
    assert "{Theorem 3.7" in cited and "{2605.02319}" in cited
    assert r"claim ldp\_tradeoff.thm-3.7: holds" in cited
    assert bibtex(found["symshuffle.ring-blur"], None).count("@misc") == 1
    assert "refuted, corrected statement proved" in bibtex(
        found["decomposition.lem-2"], bibliography()["decomposition"]
    )


def test_bibliography_and_catalogue_name_the_same_papers() -> None:
    assert tuple(bibliography()) == papers()


def test_errata_without_a_standing_have_a_place(ledger: Ledger) -> None:
    question = Erratum("question", None, "it falls at seven")
    asked = tuple(claim(name, expected="refuted", erratum=question) for name in ("asked", "asked-again"))
    page = Page(dict(site(replace(ledger, claims=(*ledger.claims, *asked)), ()))["errata.html"])
    assert page.text.count("it falls at seven") == 2


def test_own_statements_are_not_called_printed() -> None:
    listed = {entry.id: entry for entry in entries(load())}
    assert listed["decomposition.thm-12"].printed
    assert listed["symshuffle.ratio-pairs"].printed, "its source is a paper"
    assert not listed["symshuffle.generic-bound"].printed


def test_no_style_changes_the_letters_of_names(files: dict[str, str]) -> None:
    styles = [text for name, text in files.items() if name.endswith(".css")]
    styles += [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "static").glob("**/*.css")]
    assert styles and not [text for text in styles if "text-transform" in text or "small-caps" in text]


def test_questions_are_counted_apart_from_mistakes() -> None:
    found = errata(entry for entry in entries(load()) if entry.erratum is not None)
    sizes = {severity: len(part) for severity, part in found}
    questions = sizes.pop("question")
    assert [int(number) for number in re.findall(r"\d+", number_of_errata(found))] == [sum(sizes.values()), questions]
    assert re.findall(r"\d+", number_of_errata(found[:1])) == [str(len(found[0][1]))]
