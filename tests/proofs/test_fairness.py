"""Who is accused: words that were printed, each mistake once, and never a formula of ours."""

from symshuffle.ledger.claims.registry import bibliography, load
from symshuffle.ledger.report.entries import entries, errata

LISTED = entries(load())
MOST_WORDS = 16
"""Enough to find a sentence; more would reprint it."""


def test_an_erratum_of_a_paper_says_which_words_it_accuses() -> None:
    for entry in LISTED:
        if entry.erratum is not None and entry.erratum.standing is not None:
            assert 0 < len(entry.erratum.quote.split()) <= MOST_WORDS, entry.id


def test_a_reconstruction_accuses_nobody() -> None:
    lost = {key for key, paper in bibliography().items() if not paper["displays"]}
    assert lost == {"anchored", "alphabets"}
    for entry in LISTED:
        if entry.reconstructed:
            assert entry.about in lost
            assert entry.erratum is None or entry.erratum.standing is None, entry.id
    assert sum(entry.reconstructed for entry in LISTED) > 100


def test_one_mistake_is_one_entry() -> None:
    mistakes = [mistake for _, part in errata(LISTED) for mistake in part]
    ids = [entry.id for mistake in mistakes for entry in (mistake[0], *mistake[2])]
    assert len(ids) == len(set(ids)) == sum(entry.erratum is not None for entry in LISTED)
    also = {first.id: {entry.id for entry in others} for first, _, others in mistakes if others}
    assert also["decomposition.thm-13"] == {"decomposition.lem-3", "symshuffle.ratio-pairs"}
    hadamard = [one for one in ids if "hadamard" in one or one == "decomposition.table-2"]
    assert hadamard == ["decomposition.table-2"]
