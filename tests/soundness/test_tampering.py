"""The guard for the class: whatever is wrong with a certificate, its check passes or raises CertificateError."""

import dataclasses
import math
import signal
from fractions import Fraction as F

import pytest

from symshuffle import Bracket, CertificateError
from tests.soundness.catalogue import true_ones

WRONG = (None, -1, 0, 10**6, F(-1, 7), 0.5, math.nan, math.inf, "1/2", ())
NAMES = [type(found).__name__ for found in true_ones()]
LEFT_ALONE = {"problem", "measure", "group", "program", "model", "first", "second", "channel", "value", "trace"}
"""What was asked, and values: objects that check themselves when they are made, or claims that may be wide."""


def tampered(value, deep=3):
    """The value with one part wrong: a leaf replaced, an element dropped, doubled or swapped."""
    if dataclasses.is_dataclass(value) and not isinstance(value, Bracket):
        for field in dataclasses.fields(value):
            if field.name not in LEFT_ALONE and deep:
                for part in tampered(getattr(value, field.name), deep - (field.name != "pieces")):
                    try:
                        yield dataclasses.replace(value, **{field.name: part})
                    except Exception:  # refused when it is made
                        continue
    elif isinstance(value, tuple) and value:
        yield value[1:]
        yield (*value, value[0])
        yield value[::-1]
        for i in {0, 0 if dataclasses.is_dataclass(value[0]) else len(value) - 1}:
            for part in tampered(value[i], deep):
                yield (*value[:i], part, *value[i + 1 :])
    elif isinstance(value, dict):
        key = next(iter(value))
        yield {k: v for k, v in value.items() if k != key}
        for part in tampered(value[key], deep):
            yield {**value, key: part}
            yield {**value, part: value[key]} if isinstance(part, int | str) else {}
    else:
        yield from WRONG


def _late(*_):
    raise TimeoutError("a check that does not end")


@pytest.mark.parametrize("which", range(len(NAMES)), ids=NAMES)
def test_tampered_certificates_end_in_nothing_but_the_error_of_certificates(which):
    found = list(true_ones())[which]
    signal.signal(signal.SIGALRM, _late)
    refused = 0
    for forged in tampered(found):
        signal.alarm(10)
        try:
            forged.verify()
        except CertificateError as error:
            assert error.place
            refused += 1
        finally:
            signal.alarm(0)
    assert refused
