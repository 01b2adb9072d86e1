"""Every argument of every public function of audits, empty or of a wrong kind: an answer, or one line that names it."""

import numpy as np
import pytest

from symshuffle import Channel, InputError, SymshuffleError, collect

W = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
LOCAL, SHUFFLED = collect.audit_local(W, runs=60), collect.audit_shuffled(W, n=4, runs=100)
PAIR = collect.audit_pair("a", "b", runs=60, eps=1)

WRONG = (
    [], (), {}, set(), frozenset(), "", b"", iter(()), np.array([]), np.zeros((0, 2)), [[]], [()], ((),), {"a": 1}, [1],
    [1, 2], ["a", "b"], ("a",), ("a", "b"), np.array("a"), np.array([1]), np.array(["a", "b"]), None, object(),
)  # fmt: skip
LEVEL = {"eps": 1, "exp_eps": None, "delta": None, "confidence": "0.99", "claim": None}
CALLS = {
    "claim": (collect.claim, {"source": W}),
    "Claim": (collect.Claim, {"title": "a", "channel": W, "inputs": (0, 1), "messages": ("0", "1"), "source": None}),
    "named_claim": (collect.named_claim, {"name": "krr", "parameters": {"k": "3"}, "eps0": 1, "lam": None}),
    "Program": (collect.Program, {"command": "cat", "per_process": 10, "timeout": 3}),
    "confidence_ends": (collect.confidence_ends, {"count": 0, "runs": 10, "level": "0.05"}),
    "audit_local": (collect.audit_local, {"source": W, "runs": 60, "confidence": "0.99"}),
    "audit_shuffled": (
        collect.audit_shuffled,
        {"source": W, "n": 4, "runs": 100, "confidence": "0.99", "order": "random"},
    ),
    "audit_pair": (collect.audit_pair, {"first": "a", "second": "b", "runs": 60, **LEVEL}),
    "audit_pair of datasets": (collect.audit_pair, {"first": ("a", "b"), "second": ("b", "b"), "runs": 60, **LEVEL}),
    "audit_samples": (
        collect.audit_samples,
        {"first": [0] * 30 + [1] * 30, "second": [1] * 60, "disjoint": False, "header": None, **LEVEL},
    ),
    "run of a client": (LOCAL.run, {"program": str, "progress": None}),
    "run of two inputs": (PAIR.run, {"program": str, "progress": None}),
    "run of a pipeline": (SHUFFLED.run, {"program": list, "progress": None}),
    "reply of a client": (lambda reply: LOCAL.run(lambda _: reply), {"reply": "0"}),
    "reply to two inputs": (lambda reply: PAIR.run(lambda _: reply), {"reply": "0"}),
    "reply of a pipeline": (lambda reply: SHUFFLED.run(lambda _: reply), {"reply": "0,1,1,0"}),
    "judge of a client": (LOCAL.judge, {"counts": np.array([[45, 15], [15, 45]])}),
    "judge of two inputs": (PAIR.judge, {"first": [("a",)] * 60, "second": [("b",)] * 60}),
    "judge of a pipeline": (SHUFFLED.judge, {"first": np.zeros((100, 4), int), "second": np.ones((100, 4), int)}),
    "power of a client": (LOCAL.power, {"channel": W}),
    "power of a pipeline": (SHUFFLED.power, {"channel": W, "block": None}),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_empty_or_of_a_wrong_kind_is_answered_or_refused_in_one_line(call):
    function, arguments = CALLS[call]
    for name in arguments:
        for wrong in WRONG:
            try:
                function(**{**arguments, name: wrong})
            except SymshuffleError as error:
                assert "\n" not in str(error)


@pytest.mark.parametrize("empty", [[], (), {}, set(), b"", np.array([])], ids=repr)
def test_an_empty_input_or_dataset_is_named(empty):
    for name in ("first", "second"):
        with pytest.raises(InputError, match=rf"^{name} = .*: expected an input"):
            collect.audit_pair(**{"first": "a", "second": "b", name: empty}, runs=100, eps=1)


def test_an_input_is_no_dataset_of_one_user():
    with pytest.raises(InputError, match=r"^datasets = "):
        collect.audit_pair("a", ("b",), runs=100, eps=1)
