"""What runs through all mechanisms takes their settings from one place, and nothing is skipped silently."""

import pytest

from symshuffle.mechanisms.registry import EXAMPLES, LARGE, MECHANISMS


def test_every_mechanism_has_examples():
    assert set(EXAMPLES) == set(MECHANISMS)
    names = {name: {parameter.name for parameter in make().parameters} for name, make in MECHANISMS.items()}
    assert set(LARGE) == {name for name, found in names.items() if "lam" in found and found & {"k", "D"}}
    assert all(EXAMPLES.values())


def test_every_mechanism_says_where_it_comes_from():
    assert all(make().source.strip() for make in MECHANISMS.values())


@pytest.mark.parametrize("name", MECHANISMS)
def test_examples_fix_everything(name):
    """Of each, every probability is rational at the budget 4 but in the limit."""
    mechanism = MECHANISMS[name]()
    budget = {"lam": 4} if any(p.name == "lam" for p in mechanism.parameters) else {}
    for values in (*EXAMPLES[name], *LARGE.get(name, ())):
        fixed = mechanism.at(**budget, **values).with_defaults()
        assert all(parameter.has_limit for parameter in fixed.parameters)
        assert not fixed.parameters or values in LARGE[name]
    for values in EXAMPLES[name][:2]:
        assert mechanism.at(**budget, **values).channel().exact
