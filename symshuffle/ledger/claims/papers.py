"""The papers whose statements the ledger holds."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Paper:
    """What is needed to cite a paper.

    - ``authors``: ``"family name, given names"``, in the printed order.
    - ``displays``: whether the text that the ledger was made from has the paper's displayed formulas. Where it has
      not, they are reconstructed from the prose and the proofs around them.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    arxiv: str
    displays: bool = True


@cache
def bibliography() -> Mapping[str, Paper]:
    """The five papers by key, in the order of the catalogue."""
    text = resources.files("symshuffle.ledger.claims").joinpath("papers.toml").read_text(encoding="utf-8")
    found = {
        key: Paper(key, **{**facts, "authors": tuple(facts["authors"])}) for key, facts in tomllib.loads(text).items()
    }
    return MappingProxyType(found)
