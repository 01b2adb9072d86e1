"""Every family of claims that rests on a checker of certificates feeds it false ones in a control.

Which families do is read off their modules: they call a checker. Claims of the decomposition paper and of vecmean
itself call none; their certificate files are fed false in tests/soundness.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import proofs_checks
from symshuffle.base.errors import CertificateError
from symshuffle.base.numbers import DEFAULT_BITS, Verdict, working_precision
from symshuffle.ledger.claims.registry import load
from symshuffle.ledger.claims.run import seeded

FED = {
    "alphabets": ("alphabets.lem-3.1", "a quotient with one ratio 1 % off"),
    "anchored": ("anchored.thm-7.9", 2),
    "ldp_tradeoff": ("ldp_tradeoff.def-3.1", 1),
    "symshuffle": ("symshuffle.vecmean-clipped-linear", 1),
}
"""Family to a claim and its control that does."""

CHECKER = re.compile(r"passes\(|\.verify\(|\.verify\)")


def modules():
    for found in pkgutil.walk_packages(proofs_checks.__path__, "proofs_checks."):
        if not found.ispkg:
            yield importlib.import_module(found.name)


def test_every_family_with_a_checker_is_listed():
    calling = set()
    for module in modules():
        if CHECKER.search(Path(module.__file__).read_text()):
            calling |= {claim.id.partition(".")[0] for claim in getattr(module, "CLAIMS", ())}
    assert calling == set(FED)


@pytest.mark.parametrize("family", FED)
def test_a_control_feeds_the_checker_something_false(family, monkeypatch):
    claim_id, which = FED[family]
    claim = next(claim for claim in load().claims if claim.id == claim_id)
    control = next(c for i, c in enumerate(claim.controls) if which in (i, c.name))
    refused = []
    plain = CertificateError.__init__

    def counted(self, *args, **options):
        refused.append(args)
        plain(self, *args, **options)

    monkeypatch.setattr(CertificateError, "__init__", counted)
    with working_precision(DEFAULT_BITS):
        check = control.check or claim.check
        assert any(c.verdict is Verdict.FALSE for c in check(control.statement, seeded(claim.id)))
    assert refused
