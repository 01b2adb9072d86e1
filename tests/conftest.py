"""One profile for all property tests, and no state of a numeric library carried from one test to the next."""

import gc
import os
from collections.abc import Iterator

import flint
import hypothesis
import mpmath
import pytest

hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("suite")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Workers share the cores already: threads that NumPy starts beside them only wait. It reads this when it is loaded."""


def pytest_collection_finish() -> None:
    """What is loaded by now stays: it is not searched for garbage again and again, and what follows is so seldom."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 100)


@pytest.fixture(autouse=True)
def _fresh_numeric_state() -> Iterator[None]:
    """Precision and error modes are global to the process: every test starts from the defaults and restores them."""
    import numpy as np

    before = np.geterr()
    flint.ctx.prec, mpmath.mp.prec = 53, 53
    yield
    assert flint.ctx.prec == 53, "a test or the library left the precision of python-flint changed"
    assert mpmath.mp.prec == 53, "a test or the library left the precision of mpmath changed"
    flint.ctx.prec, mpmath.mp.prec = 53, 53
    np.seterr(**before)
