"""False certificate files of claims, each wrong in one thing and consistent in all others, digest included."""

import contextlib
import copy
from collections.abc import Callable
from typing import Any

from symshuffle.ledger.recheck.checker import CERTIFICATE_FORMAT, digest, recheck
from symshuffle.ledger.recheck.values import comparison_reads, file_reads, part_reads, program_reads
from tests.soundness.false_certificates import false

File = dict[str, Any]


def _comparison(computed: Any, relation: str, claimed: Any, program: Any = None) -> File:
    where = {"at": "n=1", "serves": "", "inputs": [{"n": "1"}]}
    return {
        **{"computed": computed, "relation": relation, "claimed": claimed, "verdict": "true", "program": program},
        **where,
        "reads": "",
    }


def true_file() -> File:
    """A certificate that holds."""
    program = {
        "costs": ["2", "3"],
        "columns": [[[0, "1"]], [[0, "1"]]],
        "senses": [">="],
        "rhs": ["1/2"],
        "free": [],
        "primal": [[0, "1/2"]],
        "dual": ["2"],
        "optimum": "1",
        "sign": 1,
        "reads": "",
    }
    made = {"set": ["1", "2"]}, {"map": [["1", "2"], ["3", None]]}
    comparisons = [
        _comparison("1/3", "<=", "1/2"),
        _comparison("1", "<=", "5/2", program),
        _comparison([*made], "==", [*copy.deepcopy(made)]),
        _comparison({"ball": ["0", "1"]}, "<", "2"),
    ]
    part = {"of": "printed", "statement": "it holds", "verdict": "holds", "beside": {"symbolic true": 1}}
    return retold(
        {
            **{"format": CERTIFICATE_FORMAT, "claim": "notes.one", "title": "one", "source": "notes", "scope": "n = 1"},
            **{"verdict": "holds", "grade": "certified", "versions": {"python": "3"}, "reads": "", "digest": ""},
            "parts": [{**part, "comparisons": comparisons, "reads": ""}],
        }
    )


def retold(file: Any) -> Any:
    """The file with every sentence composed anew, as far as it can be, and a digest that fits."""
    with contextlib.suppress(Exception):
        for part in file["parts"]:
            for one in part["comparisons"]:
                with contextlib.suppress(Exception):
                    if one["program"]:
                        one["program"]["reads"] = program_reads(one["program"])
                    one["reads"] = comparison_reads(one)
            part["reads"] = part_reads(part)
        file["reads"] = file_reads(file)
    with contextlib.suppress(Exception):
        file["digest"] = digest(file)
    return file


def _case(name: str, place: str, change: Callable[[File], Any], *, again: bool = True) -> None:
    """One of them; ``again`` tells the sentences again after the change."""
    file = true_file()
    changed = change(file)
    file = file if changed is None else changed
    if again:
        retold(file)
    elif isinstance(file, dict) and name != "digest":
        file["digest"] = digest(file)
    false(f"claim file: {name}", place, lambda: recheck(file))


def _part(**facts: Any) -> Callable[[File], None]:
    return lambda file: file["parts"][0].update(facts)


def _one(index: int, **facts: Any) -> Callable[[File], None]:
    return lambda file: file["parts"][0]["comparisons"][index].update(facts)


def _program(computed: str = "1", **facts: Any) -> Callable[[File], None]:
    def change(file: File) -> None:
        found = file["parts"][0]["comparisons"][1]
        found["computed"] = computed
        found["program"].update(facts)

    return change


def both(value: Any, index: int = 2) -> Callable[[File], None]:
    return _one(index, computed=value, claimed=copy.deepcopy(value))


first, second, third, fourth = (f"parts[0].comparisons[{i}]" for i in range(4))
_case("format", "format", lambda file: file.update(format="another"))
_case("no object", "file", lambda file: [])
_case("a key too many", "added", lambda file: file.update(added="1"))
_case("name of a part", "parts", _part(of="another"))
_case("verdict", "verdict", lambda file: file.update(verdict="undecided"))
_case("grade", "grade", lambda file: file.update(grade="refuted"))
_case("words for a grade", "grade", lambda file: file.update(grade="certainly"))
_case(
    "a sentence for a claim", "claim", lambda file: file.update(claim="notes.one: holds, proved\nACCEPTED: notes.two")
)
_case("another word beside", "parts[0].beside.symbolically true", _part(beside={"symbolically true": 1}))
_case("a double beside", "grade", _part(beside={"float true": 1}))


def proved(file: File) -> None:
    file["grade"], file["parts"][0]["beside"] = "proved", {"exact true": 1}


_case("a proof without symbols", "grade", proved)
_case("sentence", "reads", lambda file: file.update(reads="it is so"), again=False)
_case("digest", "digest", lambda file: file.update(digest="sha256:0"), again=False)
_case("half a comparison", "parts[0].beside.symbolic true", _part(beside={"symbolic true": 1.5}))
_case("no comparison", "parts[0].beside.symbolic true", _part(beside={"symbolic true": 0}))
_case("a verdict on nothing", "parts[0].comparisons", _part(comparisons=[], beside={}, verdict="holds"))
_case("nothing written out", "parts", _part(comparisons=[], beside={"symbolic true": 1}))


def undecided(file: File) -> None:
    file["verdict"] = file["parts"][0]["verdict"] = "undecided"


_case("verdict of a part", "parts[0].verdict", undecided)
_case("comparisons in no list", "parts[0].comparisons", _part(comparisons={}))


def silent(file: File) -> None:
    file["parts"][0]["reads"] = "it is so"
    file["reads"] = file_reads(file)


_case("sentence of a part", "parts[0].reads", silent, again=False)
_case("verdict of a comparison", f"{first}.verdict", _one(0, verdict="undecided"))
_case("sentence of a comparison", f"{first}.reads", _one(0, reads="it is so"), again=False)
_case("a place that is no text", f"{first}.at", _one(0, at=5))
_case("inputs that are no object", f"{first}.inputs[0]", _one(0, inputs=[[]]))
_case("an argument that says more", f"{first}.inputs[0].n=2, m", _one(0, inputs=[{"n=2, m": "1"}]))
_case("relation", f"{first}.relation", _one(0, relation="=~"))
_case("order of what has none", f"{third}.relation", _one(2, relation="<="))
_case("an integer for a value", f"{third}.computed", both(5))
_case("a ball inside out", f"{fourth}.computed.ball", _one(3, computed={"ball": ["1", "0"]}))
_case("a set out of order", f"{third}.computed.set", both({"set": ["2", "1"]}))
_case("a pair that is a number", f"{third}.computed.map[0]", both({"map": ["12"]}))
_case("three for a pair", f"{third}.computed.map[0]", both({"map": [["1", "2", "3"]]}))
_case("a map out of order", f"{third}.computed.map", both({"map": [["2", "1"], ["1", "1"]]}))
_case("lowest terms", f"{first}.computed", _one(0, computed="2/6"))
_case("a denominator of 0", f"{first}.computed", _one(0, computed="1/0"))
_case("a decimal", f"{first}.computed", _one(0, computed="0.1"))
_case("an integer for a rational", f"{second}.program.dual[0]", _program(dual=[2]))
_case("another optimum", f"{second}.program.optimum", _program("5/4", optimum="5/4"))
_case("a truth for a sign", f"{second}.program.sign", _program(sign=True))
_case("a sign of 2", f"{second}.program.sign", _program("2", sign=2))
_case("another value", f"{second}.program.optimum", _program("5/4"))
_case("sentence of a program", f"{second}.program.reads", _program(reads="it is so"), again=False)
_case("a row of no sense", f"{second}.program.senses[0]", _program(senses=["=>"]))
_case("an entry that is a text", f"{second}.program.primal[0]", _program(primal=["01"]))
_case("three for an entry", f"{second}.program.primal[0]", _program(primal=[[0, "1/2", "0"]]))
_case("an index that is a double", f"{second}.program.primal[0][0]", _program(primal=[[0.0, "1/2"]]))
_case("an index before the first", f"{second}.program.free[0]", _program(free=[-1]))


def nested(file: File) -> None:
    value: Any = []
    for _ in range(200):
        value = [value]
    _one(2, computed=value, claimed=copy.deepcopy(value))(file)


_case("lists without end", "file", nested)
