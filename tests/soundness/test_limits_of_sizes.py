"""A mechanism whose size is left open is taken in the limit of many inputs: a bound for every size, or a refusal."""

import json
from fractions import Fraction as F
from hashlib import sha256

import pytest

from symshuffle import InputError, Unsupported, delta, epsilon, prove, randomizer
from symshuffle.cli import main
from symshuffle.ledger.recheck import bound

SIZES = {"rappor": (2, 3, 5), "oue": (2, 3, 5), "blh": (2, 3, 5), "olh": (2, 3, 5), "hadamard": (4, 8)}
MORE = {"olh": {"g": 3}}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("level", [F(1), F(6, 5), F(3, 2), F(2)], ids=str)
def test_the_limit_bounds_every_size_of_replace_one(name, level):
    for lam in (F(3, 2), F(4), F(9)):
        limit = delta(randomizer(name).at(lam=lam, **MORE.get(name, {})), n=3, exp_eps=level).bracket
        for size in SIZES[name]:
            one = randomizer(name).at(lam=lam, D=size, **MORE.get(name, {}))
            assert delta(one, n=3, exp_eps=level).bracket.lower <= limit.upper * (1 + F(1, 10**6))


@pytest.mark.parametrize("name", SIZES)
def test_a_null_symbol_needs_the_size(name):
    """At exp(eps0) = 4 and n = 3, rappor has 16/729 at D = 2, and the limit is 0."""
    open_size = randomizer(name).at(lam=4, **MORE.get(name, {}))
    for ask in (
        lambda one: delta(one, n=3, exp_eps=2, adjacency="zero-out"),
        lambda one: epsilon(one.with_defaults(), n=3, delta="1/100", adjacency="zero-out"),
        lambda one: prove(delta(one, n=3, exp_eps=2, adjacency="zero-out")).content,
    ):
        with pytest.raises(InputError) as refusal:
            ask(open_size)
        assert refusal.value.argument in ("D", "parameters")
    assert main(["delta", name, "--lam", "4", "--n", "3", "--exp-eps", "2", "--adjacency", "zero-out"]) == 2


def test_the_size_of_rappor_with_a_null_symbol_is_used():
    asked = {"n": 3, "exp_eps": 2, "adjacency": "zero-out", "arithmetic": "exact"}
    assert delta(randomizer("rappor").at(lam=4, D=2), **asked).bracket.exact == F(16, 729)


@pytest.mark.parametrize("size", [None, 65, 100])
def test_no_file_proves_a_null_symbol_at_a_size_that_is_not_counted(size):
    content = prove(delta(randomizer("rappor").at(lam=4, D=64), n=1, exp_eps=2, adjacency="zero-out")).content
    bound.check(content)
    content["statement"]["mechanism"]["D"] = size
    content["statement"]["delta"] = f"1/1{'0' * 70}"
    content.pop("digest")
    content["digest"] = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    with pytest.raises(bound.CertificateError) as refusal:
        bound.check(content)
    assert "digest" not in str(refusal.value)
    if size is not None:
        with pytest.raises(Unsupported, match="above 64"):
            prove(delta(randomizer("rappor").at(lam=4, D=size), n=1, exp_eps=2, adjacency="zero-out")).content
