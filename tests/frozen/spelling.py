"""The words of today for requests and answers that were kept in the words of before.

Rows are never recorded anew for a name: their keys are digests of the requests as they were asked first.
"""

import ast
import re

KEYWORDS = {
    "min_users": "min_batch_size", "group": "group_size", "rigour": "arithmetic", "rel": "rtol", "attain": "attained",
}  # fmt: skip
OWN_KEYWORDS = {
    ("renyi", "alpha"): "order",
    ("delta_curve", "levels"): "eps",
    ("tradeoff_curve", "alphas"): "type_i",
    ("tradeoff_curve", "levels"): "num_levels",
}
"""Keywords of one function."""
NAMES = {
    "solve_n": "smallest_n",
    "solve_eps0": "largest_eps0",
    "delta_curve": "profile",
    "tradeoff_curve": "tradeoff",
    "privacy_loss": "privacy_loss_distribution",
    "confirm": "recompute",
    "Rigour": "Arithmetic",
    "DecisionProblem": "Problem",
}
ARGUMENTS = {**KEYWORDS, "rounds": "periods", "alpha": "order", "alphas": "type_i"}
RISKS = {"bayes_tradeoff": "bayes", "minimax_tradeoff": "minimax"}
UNEQUAL = {"unequal_delta": "delta", "unequal_epsilon": "epsilon"}
OPTIONS = {
    "--min-users": "--min-batch-size", "--group": "--group-size", "--rounds": "--periods", "--rigour": "--arithmetic",
    "--rel": "--rtol", "--alpha": "--order",
}  # fmt: skip
COMMANDS = {"solve-n": "smallest-n", "solve-eps0": "largest-eps0", "worst-background": "worst-datasets"}
CURVES = {"delta-eps": "profile", "eps-n": "amplification-curve", "f-dp": "tradeoff"}
KEYS = {"rigour": "arithmetic"}
"""Keys of answers."""
"""Names that only changed: of keywords, of arguments in refusals, of questions about several groups, of options."""
BY_ITSELF = r"(?:\bchannel --file|(?<=^law )--file|(?<=^check )--file|(?<=^mean )--data|--problem) (?=\S)"
"""Options of before, the file of which stands by itself."""


class _Today(ast.NodeTransformer):
    """An expression: keywords, ``rounds(source, times, n=...)``, ``Users(count, channel)`` and ``unequal_...``."""

    def visit_Name(self, node):
        return ast.Name(NAMES.get(node.id, node.id))

    def visit_Call(self, node):
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        self.generic_visit(node)
        for keyword in node.keywords:
            keyword.arg = OWN_KEYWORDS.get((called, keyword.arg), KEYWORDS.get(keyword.arg, keyword.arg))
            for inner in ast.walk(keyword.value) if keyword.arg is None else ():  # **(dict(...) | dict(...))
                if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "dict":
                    for one in inner.keywords:
                        one.arg = OWN_KEYWORDS.get((called, one.arg), one.arg)
        if called == "rounds":
            source, times = node.args
            group = ast.Call(ast.Name("Group"), [source, *(one.value for one in node.keywords)], [])
            return ast.Call(ast.Name("Deployment"), [group], [ast.keyword("periods", times)])
        if called == "Users":
            return ast.Call(ast.Name("Group"), node.args[::-1], [])
        if called in RISKS:
            problem, lam = node.args
            named = [ast.keyword("lam", lam), ast.keyword("criterion", ast.Constant(RISKS[called])), *node.keywords]
            return ast.Call(ast.Name("optimal"), [problem], named)
        if called in UNEQUAL:
            node.func = ast.Name(UNEQUAL[called])
        return node


def request_today(request):
    """A kept request in today's words: an expression, or a command with its options and the place of its file."""
    kind, _, rest = request.partition(" ")
    if kind == "claim":
        return request
    if kind != "symshuffle":
        words = "|".join([*KEYWORDS, *NAMES, "alphas?", "levels", "rounds", "Users", r"unequal_\w+", *RISKS])
        if not re.search(rf"\b({words})\b", request):
            return request
        return ast.unparse(_Today().visit(ast.parse(request, mode="eval")))
    if rest.startswith("unequal "):
        rest = ("delta" if "eps " in rest else "epsilon") + rest.removeprefix("unequal")
    rest = re.sub(r"^((?:delta|epsilon) (?:--.*)?)--rounds-file (?=\S)", r"\1", rest)
    rest = re.sub(BY_ITSELF, "", rest)
    rest = re.sub(r"^curve\b(.*?) --kind (\S+)", lambda found: CURVES[found[2]] + found[1], rest)
    rest = re.sub(r"^\S+", lambda found: COMMANDS.get(found[0], found[0]), rest)
    return f"symshuffle {' '.join(OPTIONS.get(word, word) for word in rest.split(' '))}"


def answer_today(value):
    """A kept answer in today's words: what a refusal names, and who sends and how many differ."""
    if isinstance(value, list):
        return [answer_today(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {KEYS.get(name, name): answer_today(part) for name, part in value.items()}
    if "alpha" in kept:  # an order has datasets beside it, a type I error has none
        kept["order" if "adjacency" in kept else "type_i"] = kept.pop("alpha")
    if "every_pair" in kept:  # neighbours say how many differ where it is more than one
        kept = {KEYWORDS.get(name, name): part for name, part in kept.items() if (name, part) != ("group", 1)}
    if "argument" in kept:
        kept["argument"] = re.sub(r"\w[\w-]*", lambda word: ARGUMENTS.get(word[0], word[0]), kept["argument"])
    return kept
