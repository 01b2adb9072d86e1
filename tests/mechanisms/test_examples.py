"""What runs through all mechanisms takes their settings from one place, and nothing is skipped silently."""

import pytest

from symshuffle.mechanisms.registry import EXAMPLES, LARGE, MECHANISMS


def test_every_mechanism_has_examples():
    made = [make() for make in MECHANISMS.values()]
    budgeted = {one.name for one in made if any(parameter.name == "lam" for parameter in one.parameters)}
    sized = budgeted & {one.name for one in made if one.inputs.free_symbols}
    for name, kept, needed in (("EXAMPLES", EXAMPLES, set(MECHANISMS)), ("LARGE", LARGE, sized)):
        assert not (wrong := set(kept) ^ needed), f"lines of {name} missing, or too many, in registry.py: {wrong}"
        assert all(kept.values()), f"{name}: an empty line"


def test_every_mechanism_says_where_it_comes_from():
    assert not [name for name, make in MECHANISMS.items() if not make().source.strip()], "source= is empty"


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
