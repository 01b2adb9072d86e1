import os
from collections.abc import Iterator

import numpy as np
from fake_ledger.first import claim

from symshuffle.ledger.claims.comparisons import Comparison
from symshuffle.ledger.claims.model import Statement


def dies(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    os._exit(7)
    yield from ()


CLAIMS = (claim("wrong", printed=lambda n: n), claim("dies", check=dies))
