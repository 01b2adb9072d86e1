"""The mutations on file still fit the code (they are run by `make mutate`)."""

import pytest

from tests.mutate import copy, mutations


def test_every_mutation_applies_and_changes_its_file():
    with copy() as root:
        for mutation in mutations():
            path = root / mutation.file
            before = path.read_text(encoding="utf-8")
            mutation.apply(root)
            assert path.read_text(encoding="utf-8") != before
            path.write_text(before, encoding="utf-8")


def test_a_mutation_that_no_longer_fits_is_an_error():
    first = mutations()[0]
    with copy() as root:
        first.apply(root)
        with pytest.raises(SystemExit, match="occurs 0 times"):
            first.apply(root)
