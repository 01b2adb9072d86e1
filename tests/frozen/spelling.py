"""The words of today for requests and answers that were kept in the words of before.

Rows are never recorded anew for a name: their keys are digests of the requests as they were asked first.
"""

import ast
import re

KEYWORDS = {"min_users": "min_batch_size", "group": "group_size"}
ARGUMENTS = {**KEYWORDS, "rounds": "periods"}
UNEQUAL = {"unequal_delta": "delta", "unequal_epsilon": "epsilon"}
OPTIONS = {"--min-users": "--min-batch-size", "--group": "--group-size", "--rounds": "--periods"}
"""Names that only changed: of keywords, of arguments in refusals, of questions about several groups, of options."""
BY_ITSELF = r"(?:\bchannel --file|(?<=^law )--file|(?<=^check )--file|(?<=^mean )--data|--problem) (?=\S)"
"""Options of before, the file of which stands by itself."""


class _Today(ast.NodeTransformer):
    """An expression: keywords, ``rounds(source, times, n=...)``, ``Users(count, channel)`` and ``unequal_...``."""

    def visit_Call(self, node):
        self.generic_visit(node)
        for keyword in node.keywords:
            keyword.arg = KEYWORDS.get(keyword.arg, keyword.arg)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called == "rounds":
            source, times = node.args
            group = ast.Call(ast.Name("Group"), [source, *(one.value for one in node.keywords)], [])
            return ast.Call(ast.Name("Deployment"), [group], [ast.keyword("periods", times)])
        if called == "Users":
            return ast.Call(ast.Name("Group"), node.args[::-1], [])
        if called in UNEQUAL:
            node.func = ast.Name(UNEQUAL[called])
        return node


def request_today(request):
    """A kept request in today's words: an expression, or a command with its options and the place of its file."""
    kind, _, rest = request.partition(" ")
    if kind == "claim":
        return request
    if kind != "symshuffle":
        if not re.search(r"\b(min_users|group)=|\b(rounds|Users|unequal_\w+)\(", request):
            return request
        return ast.unparse(_Today().visit(ast.parse(request, mode="eval")))
    if rest.startswith("unequal "):
        rest = ("delta" if "eps " in rest else "epsilon") + rest.removeprefix("unequal")
    rest = re.sub(r"^((?:delta|epsilon) (?:--.*)?)--rounds-file (?=\S)", r"\1", rest)
    rest = re.sub(BY_ITSELF, "", rest)
    return f"symshuffle {' '.join(OPTIONS.get(word, word) for word in rest.split(' '))}"


def answer_today(value):
    """A kept answer in today's words: what a refusal names, and who sends and how many differ."""
    if isinstance(value, list):
        return [answer_today(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {name: answer_today(part) for name, part in value.items()}
    if "every_pair" in kept:  # neighbours say how many differ where it is more than one
        kept = {KEYWORDS.get(name, name): part for name, part in kept.items() if (name, part) != ("group", 1)}
    if "argument" in kept:
        kept["argument"] = re.sub(r"\w[\w-]*", lambda word: ARGUMENTS.get(word[0], word[0]), kept["argument"])
    return kept
