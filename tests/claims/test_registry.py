import sys
from pathlib import Path

import pytest

from symshuffle.base.errors import InputError
from symshuffle.ledger.claims.registry import LedgerError, catalogue, load, papers
from tests.shown import as_html


def test_catalogue_counts() -> None:
    assert papers() == ("anchored", "alphabets", "vecmean", "ldp_tradeoff", "decomposition")
    counts = {paper: sum(name.startswith(f"{paper}.") for name in catalogue()) for paper in papers()}
    assert counts == {"anchored": 65, "alphabets": 52, "vecmean": 46, "ldp_tradeoff": 43, "decomposition": 53}
    assert sum(kind == "no-content" for kind, _ in catalogue().values()) == 4
    assert all(title.strip() == title != "" for _, title in catalogue().values())


def test_catalogue_and_ledger_name_the_same_claims_once() -> None:
    ids = [claim.id for claim in load().claims if claim.paper != "symshuffle"]
    assert len(ids) == len(set(ids))
    assert sorted(ids) == sorted(catalogue())


def test_claims_of_our_own_have_names_of_their_own() -> None:
    own = [claim.id for claim in load().claims if claim.paper == "symshuffle"]
    assert len(own) == len(set(own))
    assert not {entry.partition(".")[2] for entry in own} & {entry.partition(".")[2] for entry in catalogue()}


def test_every_claim_has_a_text_a_source_and_a_scope() -> None:
    for claim in load().claims:
        assert all((claim.title, claim.text, claim.source, claim.scope)), claim.id


def test_claims_come_in_ledger_order() -> None:
    ledger = load("fake_ledger")
    names = [claim.id.removeprefix("symshuffle.") for claim in ledger.claims]
    assert names == ["true", "drawn", "markup", "definition", "empty"]
    known = list(catalogue())
    real = [claim.id for claim in load().claims if claim.id in catalogue()]
    assert real == sorted(real, key=known.index)


@pytest.mark.parametrize(
    ("selectors", "names"),
    [
        ((), ["true", "drawn", "markup", "definition", "empty"]),
        (("symshuffle.drawn",), ["drawn"]),
        (("symshuffle",), ["true", "drawn", "markup", "definition", "empty"]),
        (("*.d*",), ["drawn", "definition"]),
        (("symshuffle.empty", "*.t?ue", "symshuffle.true"), ["true", "empty"]),
    ],
)
def test_selectors(selectors: tuple[str, ...], names: list[str]) -> None:
    chosen = load("fake_ledger").select(selectors)
    assert [claim.id for claim in chosen] == [f"symshuffle.{name}" for name in names]


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("symshuffle.drwan", "close matches: symshuffle.drawn"),
        ("symshufle", "close matches: symshuffle"),
        ("zzz*", "see `symshuffle claims`"),
        ("vecmean.def-2.1", "nothing checks it yet"),
    ],
)
def test_unknown_selector_names_what_is_close(selector: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        load("fake_ledger").select(["symshuffle.true", selector])
    assert str(caught.value).startswith(f"ID = {selector}: expected")
    assert hint in str(caught.value)
    with pytest.raises(InputError):
        load("fake_ledger").claim(selector)


def test_unknown_reproduction_lists_what_exists() -> None:
    with pytest.raises(InputError, match=r"one of: symshuffle\.fig-0, symshuffle\.fig-1"):
        load("fake_ledger").reproduction("symshuffle.fig-2")


MODULE = """from fake_ledger.first import claim
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.ledger.claims.model import Kind
SLIP = Erratum("wording", "granted", "a slip", same_as="symshuffle.b")
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "defines no tuple CLAIMS"),
        ("CLAIMS = [claim('a')]", "defines no tuple CLAIMS"),
        ("CLAIMS = (claim('a'), claim('a'))", "two claims have the id symshuffle.a"),
        ("CLAIMS = (claim('a', erratum=SLIP),)", "same mistake as symshuffle.b, which has none of its own"),
        ("CLAIMS = (claim('', id='vecmean.def-9.9'),)", "vecmean.def-9.9 is not in the catalogue"),
        ("CLAIMS = (claim('', id='vecmean.def-2.1'),)", "is a definition in the catalogue, not a statement"),
    ],
)
def test_contradictory_ledgers_are_refused(
    body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = f"fake_{abs(hash((body, str(tmp_path))))}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    (tmp_path / package / "section.py").write_text(MODULE + body)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(LedgerError, match=message):
        load(package)
    assert package in sys.modules


def test_section_package_that_does_not_import_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fake_broken" / "paper").mkdir(parents=True)
    (tmp_path / "fake_broken" / "__init__.py").touch()
    (tmp_path / "fake_broken" / "paper" / "__init__.py").write_text("import no_such_module_at_all")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        load("fake_broken")


def test_a_costly_claim_is_one_of_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    costliest = load().costliest
    assert len(set(costliest)) == len(costliest) > 5
    assert set(costliest) <= {claim.id for claim in load().claims}
    (tmp_path / "fake_costs").mkdir()
    (tmp_path / "fake_costs" / "__init__.py").write_text("COSTLIEST = ('symshuffle.a', 'symshuffle.b')")
    (tmp_path / "fake_costs" / "section.py").write_text(f"{MODULE}CLAIMS = (claim('a'),)")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(LedgerError, match=r"symshuffle\.b is said to be costly, and there is no such claim"):
        load("fake_costs")


def test_a_claim_does_not_flood_a_notebook():
    claim = load().claim("decomposition.thm-9")
    assert repr(claim) == f"<claim decomposition.thm-9 ({claim.grade}): {claim.title}>"
    assert "<th>statement</th>" in as_html(claim) and len(as_html(claim)) < 5000
