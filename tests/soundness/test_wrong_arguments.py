"""Wrong values of every argument of every top-level name and command: an answer, or one line that names the argument.

What is called, with which arguments, is read off the signatures; a new name or command needs a row of valid ones.
"""

import importlib
import inspect
import json
import random
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction as F
from pathlib import Path

import pytest
import typer

import symshuffle
from symshuffle import Channel, Group, InputError, Law, SymshuffleError, cli, ledger, randomizer
from symshuffle.collect import plan_survey
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.design.information.measures import hockey_stick_measure
from tests.public import PUBLIC

ROOT = Path(__file__).parents[2]
W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
KRR = randomizer("krr").at(k=3, lam=2)
LAW = Law((F(-1), F(1)), (F(1, 2), F(1, 2)))
PAIR = symshuffle.joint(randomizer("rr"), randomizer("rr"))
GUESS = symshuffle.Problem(((F(1), F(0)), (F(0), F(1))), ((F(0), F(1)), (F(1), F(0))), (F(1, 2), F(1, 2)))
LEVEL = {"exp_eps": "6/5"}
CLAIM = ledger.load().select(["ldp_tradeoff.def-3.1"])[0]

VALID = {
    "any_ldp": {"eps0": 1},
    "amplification_curve": {"subject": KRR, "delta": "1/10", "users": [3], "rtol": 0.1},
    "binary_envelope": {"experiment": symshuffle.utility.Contamination(3), "lam": F(2), "gamma": F(6, 5)},
    "chi_square": {"p": (F(1, 2), F(1, 2)), "q": (F(1, 3), F(2, 3))},
    "compare": {"k": 4, "n": 10, "eps0": 1, "mechanisms": ["krr"]},
    "recompute": {"law": LAW, "n": 3, "digits": 10},
    "delta": {"subject": KRR, "n": 3, **LEVEL},
    "profile": {"subject": KRR, "n": 3, "eps": [0]},
    "direct_sum": {"channels": [W, W], "weights": [F(1, 2), F(1, 2)]},
    "epsilon": {"subject": KRR, "n": 3, "delta": "1/10", "rtol": 0.1},
    "gaussian_limit": {"subject": KRR, "n": 3},
    "hamming": {"composition": PAIR, "distance": 1},
    "hockey_stick": {"p": (F(1, 2), F(1, 2)), "q": (F(1, 3), F(2, 3)), "gamma": 2},
    "likelihood_quotient": {"channel": W, "a": 0, "b": 1},
    "mechanism": {"name": "krr"},
    "optimal": {"problem": GUESS, "lam": 2},
    "optimal_decomposition": {"mechanism": KRR},
    "optimal_subset_sizes": {"k": 4, "lam": F(2)},
    "parallel": {"parts": [randomizer("rr"), randomizer("rr")], "weights": [F(1, 2), F(1, 2)]},
    "privacy_blanket": {"channel": W},
    "privacy_loss_distribution": {"subject": W, "n": 3, "step": 0.25, "beyond": "1/100"},
    "plan_survey": {"k": 3, "n": 9, "eps": 1, "delta": "1/10", "mechanism": "krr"},
    "prove": {"answer": symshuffle.delta(KRR, n=3, eps=1), "delta": "1/10"},
    "randomizer": {"source": "krr", "k": 3},
    "renyi": {"subject": KRR, "n": 3, "order": 2, "rtol": 0.1},
    "run_claim": {"claim": CLAIM},
    "shuffled_divergence": {"channel": W, "first": (0, 1), "second": (1, 1), "gamma": 1},
    "simplified_decomposition": {"channel": W, "pair": (0, 1)},
    "largest_eps0": {"subject": randomizer("krr").at(k=3), "n": 9, "delta": "1/10", "eps": "1/2", "rtol": 0.1},
    "smallest_n": {"subject": KRR, "delta": "1/10", "eps": "1/2"},
    "subsample": {"part": randomizer("rr"), "probability": F(1, 2)},
    "sweep": {"question": "delta", "subject": KRR, "n": 3, "eps": 1},
    "trace_frontier": {"k": 4, "budget": F(1)},
    "total_variation": {"subject": KRR, "n": 3},
    "tradeoff": {"subject": KRR, "n": 3, "type_i": [0], "num_levels": 3},
    "verify_claims": {"claims": [CLAIM]},
    "worst_datasets": {"subject": W, "n": 3, "exp_eps": F(6, 5)},
    "worst_curve": {"chi_square": F(1, 4), "n": 3, "lam": F(2), "exp_eps": F(6, 5)},
}
LISTED = {"joint": "its parts are positional, those of parallel"}

DOUBLES = Channel(((0.5, 0.5), (0.25, 0.75)))
WRONG = (
    None, True, -1, 0, 1.5, float("nan"), float("inf"), "", "x", [], object(), 10**400, {}, F(-1, 2), ("k", 3), [None],
    DOUBLES,
)  # fmt: skip


SECONDS = 20.0
"""CPU time that an answer or a refusal may take."""


class TooLongError(BaseException):
    """No exception of a library, so that nothing takes it for a refusal."""


@contextmanager
def soon() -> Iterator[None]:
    """Ends what takes more CPU time, also if it never returns; where the system has no such timer there is no limit."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ended(number, frame):
        raise TooLongError(f"no answer within {SECONDS} s of CPU")

    before = signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_what_never_returns_is_ended(monkeypatch):
    monkeypatch.setitem(globals(), "SECONDS", 0.05)
    with pytest.raises(TooLongError), soon():
        while True:
            pass


def functions():
    return {name for name in dir(symshuffle) if inspect.isfunction(getattr(symshuffle, name))}


def test_every_top_level_function_has_a_row():
    named = {name for name in functions() if getattr(symshuffle, name).__module__.startswith("symshuffle")}
    assert named - set(LISTED) <= set(VALID) <= set(PUBLIC)


def wrong_calls(name, each, seed):
    """For every parameter a sample of wrong values of it; what it is by default is none."""
    chance = random.Random(f"{name} {seed}")
    for argument, parameter in inspect.signature(PUBLIC[name]).parameters.items():
        for value in chance.sample(WRONG, each):
            if value is not parameter.default and (argument, value) != ("out", "x"):
                yield argument, value


def refusals(name, each, seed=0):
    """What the door says to each of its wrong arguments, but for answers."""
    for argument, value in wrong_calls(name, each, seed):
        try:
            with soon():
                PUBLIC[name](**VALID[name] | {argument: value})
        except SymshuffleError as error:
            yield argument, value, error
        except Exception as error:
            raise AssertionError(f"{name}({argument}={value!r}) raises {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("name", VALID)
def test_a_wrong_argument_is_an_answer_or_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for parameter, value, error in refusals(name, each=12):
        said = str(error)
        assert said and "\n" not in said and len(said) < 700, (parameter, value)
        if isinstance(error, InputError):
            assert re.search(" = | (is|are) missing: expected ", said) and ": expected " in said, (parameter, value)
    assert not list(tmp_path.iterdir())


FILES = {
    "w.csv": "2/3,1/3\n1/3,2/3\n",
    "x.csv": "0.1,0.2\n0.3,0.1\n" * 100,
    "users.toml": "[[users]]\ncount = 2\nparams = { k = 3 }\nlam = 2\n",
    "values.csv": "value\n0\n1\n2\n",
    "plan.json": json.dumps(plan_survey(3, n=9, eps=1, delta="1/10", mechanism="krr").to_dict()),
    "problem.json": (ROOT / "examples" / "problems" / "guess_one_of_four.json").read_text(encoding="utf-8"),
    "sweep.toml": 'command = "delta"\n[grid]\nmechanism = "krr"\nparam.k = [3]\neps0 = [1]\nn = [3]\neps = [1]\n',
}
SIZED = ("krr", "-p", "k=3", "--eps0", "1")
PROBLEM = ("problem.json",)
SURVEY = ("--k", "3", "--n", "9", "--eps", "1", "--delta", "1/10")
ECHO = "import sys; sys.stdout.write(sys.stdin.read())"
CLIENT = ("--program", f"{sys.executable} -c '{ECHO}'", "--claim", "krr", "-p", "k=3", "--lam", "3")
LINES = {
    "delta": (*SIZED, "--n", "3", "--eps", "1/2"),
    "epsilon": (*SIZED, "--n", "3", "--delta", "1/10"),
    "decompose": SIZED,
    "largest-eps0": ("krr", "-p", "k=3", "--n", "9", "--delta", "1/10", "--eps", "1/2"),
    "smallest-n": (*SIZED, "--delta", "1/10", "--eps", "1/2"),
    "profile": (*SIZED, "--n", "3", "--to", "1", "--points", "2"),
    "amplification-curve": (*SIZED, "--delta", "1/10", "--from", "2", "--to", "3", "--points", "2"),
    "tradeoff": (*SIZED, "--n", "3", "--points", "3"),
    "renyi": (*SIZED, "--n", "3", "--order", "2"),
    "gdp": (*SIZED, "--n", "3"),
    "frontier": ("--k", "4", "--budget", "1/2"),
    "subset-size": ("--k", "4", "--eps0", "1"),
    "law": SIZED,
    "worst-datasets": (*SIZED, "--n", "3", "--eps", "1/2"),
    "compare": ("--k", "4", "--n", "10", "--eps0", "1", "--mechanism", "krr"),
    "pld": (*SIZED, "--n", "3", "--out", "pld.json"),
    "calibrate": ("sphere-linear", "--n", "200", "--d", "1", "--eps", "1", "--delta", "1/10"),
    "mean": ("x.csv", "--mechanism", "sphere-linear", "--eps", "1", "--delta", "1/10"),
    "sweep": ("sweep.toml", "--out", "swept", "--jobs", "1"),
    "check": ("w.csv", "--eps0", "1"),
    "design schema": (),
    "design bayes": (*PROBLEM, "--lam", "3"),
    "design minimax": (*PROBLEM, "--lam", "3"),
    "design mutual-information": (*PROBLEM, "--lam", "3"),
    "design f-divergence": (*PROBLEM, "--lam", "3"),
    "design shuffled": ("--k", "3", "--n", "4", "--eps", "1", "--delta", "1/10"),
    "collect plan": (*SURVEY, "--mechanism", "krr", "--out", "made.json"),
    "collect randomize": ("plan.json", "--values", "values.csv", "--column", "value", "--out", "messages.csv"),
    "collect estimate": ("plan.json", "--simulate", "--seed", "1", "--out", "histogram.csv"),
    "audit local": (*CLIENT, "--runs", "60"),
    "audit shuffled": (*CLIENT, "--n", "2", "--runs", "60"),
    "audit samples": ("x.csv", "w.csv", "--eps", "1"),
}
"""A valid line of every command; those of a group are two words."""


def write_files():
    """Write what the valid lines read into the working folder."""
    for name, text in FILES.items():
        Path(name).write_text(text)


WRITTEN = ("", "x", "-1", "0", "1.5", "nan", "inf", "1e400", "1/0", "nodir/x")


def changed(command):
    """The valid line of a command with one of its words, or its options, replaced by what is wrong."""
    chance, line = random.Random(command), LINES[command]
    places = [i for i, word in enumerate(line) if not word.startswith("-") and word != "1/2"]
    for place in places:
        for word in chance.sample(WRITTEN, 3):
            if (command, word) != ("mean", "1.5"):  # a level, whose search takes its time
                yield [*command.split(), *line[:place], word, *line[place + 1 :]]
    for option in chance.sample(
        ("--engine", "--arithmetic", "--rtol", "--bits", "--direction", "--group-size", "--dropout"), 2
    ):
        yield [*command.split(), *line, option, chance.choice(WRITTEN)]


def shortened(command):
    """The valid line of a command without one of its options, or of its arguments."""
    line = LINES[command]
    for place, word in enumerate(line):
        if word.startswith("-") and (command, word) != ("mean", "--mechanism"):  # a search that takes its time
            valued = place + 1 < len(line) and not line[place + 1].startswith("--")
            yield [*command.split(), *line[:place], *line[place + 1 + valued :]]
        elif not place or not line[place - 1].startswith("-"):
            yield [*command.split(), *line[:place], *line[place + 1 :]]


@pytest.mark.parametrize("command", LINES)
def test_what_is_not_given_is_said_to_be_missing(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words in shortened(command):
        write_files()
        with soon():
            cli.main(words)
        said = capsys.readouterr().err
        assert not re.search(r"\b(None|null)\b", said), (words, said)


def digits_apart(command):
    """The valid line of a command with one of its numbers, also of a parameter, in digits with something between."""
    line = [*command.split(), *LINES[command]]
    for place, word in enumerate(line):
        name, mark, value = word.rpartition("=")
        if re.fullmatch(r"\d+(/\d+)?", value):
            yield from ([*line[:place], f"{name}{mark}{wrong}", *line[place + 1 :]] for wrong in ("1_0", "1__0", "1 0"))


@pytest.mark.parametrize("command", LINES)
def test_numbers_have_nothing_between_their_digits(command, tmp_path, monkeypatch, capsys):
    """Underscores are read between groups of three digits of an integer only."""
    monkeypatch.chdir(tmp_path)
    write_files()
    for words in digits_apart(command):
        with soon():
            assert cli.main(words) == 2, words
        said = capsys.readouterr().err
        assert any(wrong in said for wrong in ("1_0", "1__0", "1 0")), words


NOT_ASKED = {
    *cli.FAMILIES["ledger"], *cli.FAMILIES["catalogue"], "mechanisms", "example",
}  # fmt: skip
"""Commands that are asked about a claim or a file alone, or about nothing."""


def commands():
    """Every command, those of a group with its name."""
    for family, alone in cli.FAMILIES.items():
        app = importlib.import_module(f"symshuffle.cli.{family}").app
        yield from alone or (f"{family} {one.name or one.callback.__name__}" for one in app.registered_commands)


def test_every_command_has_a_line():
    wrong = (set(commands()) - NOT_ASKED) ^ set(LINES)
    assert not wrong, f"lines of LINES missing, or too many: {wrong}"


def test_every_module_with_commands_names_them_in_the_table():
    """What `FAMILIES` does not name is not reached, or reached late, and no wrong word is tried on it."""
    for path in sorted(Path(cli.__file__).parent.glob("*.py")):
        module = None if path.stem == "__init__" else importlib.import_module(f"symshuffle.cli.{path.stem}")
        if hasattr(module, "app"):
            known = {one.name or one.callback.__name__.replace("_", "-") for one in module.app.registered_commands}
            named = set(cli.FAMILIES.get(path.stem, ("no line",))) or known
            assert known == named, f"line of FAMILIES in cli/__init__.py: {path.stem}"


@pytest.mark.parametrize("command", LINES)
def test_a_wrong_word_is_an_answer_or_one_line(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files()
    for words in changed(command):
        before = set(tmp_path.iterdir())
        with soon():
            status = cli.main(words)
        said = capsys.readouterr().err
        assert status in ((0, 1, 2, 3) if words[0] == "audit" else (0, 2)), words
        if status == 2:
            assert said.startswith("symshuffle: ") and said.count("\n") == 1, words
            assert set(tmp_path.iterdir()) == before, words


def options(command):
    """Every option of a command, by its longest name; those that take no value as well."""
    parser = typer.main.get_command(cli.application((cli.family_of(command.split()[0]),)))
    for word in command.split():
        parser = getattr(parser, "commands", {}).get(word, parser)
    found = (max(one.opts, key=len) for one in parser.params)
    return [option for option in found if option.startswith("--")]


@pytest.mark.parametrize("command", LINES)
def test_a_wrong_value_of_every_option_is_refused_with_what_is_allowed(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for option in options(command):
        for path in tmp_path.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        write_files()
        with soon():
            status = cli.main([*command.split(), *LINES[command], f"{option}=sideways"])
        said = capsys.readouterr().err.splitlines()
        if status == 2:
            refused = re.fullmatch(r"symshuffle: (.+?)(?: = .*| is missing| are missing): expected .+", said[-1])
            assert refused and "Value error" not in said[-1] and "Usage" not in said[-1], said
            of_others = ("-p", "problem.json: kind", "--claim", "--column", "--values")  # the option does not go with
            named = re.sub(r"\[\d+\]", "", refused[1])
            assert option in named.split(", ") or named.startswith(of_others), said


def test_a_choice_and_a_switch_are_refused_by_name(capsys):
    for word, said in (
        ("--direction=sideways", "--direction = sideways: expected one of forward, reverse, both"),
        ("--rtol=2", "--rtol = 2: expected a relative width, a number in (0, 1), at least 1e-300"),
        ("--header=x", "--header = x: expected no value: it is a switch"),
    ):
        assert cli.main(["delta", *LINES["delta"], word]) == 2
        assert capsys.readouterr().err == f"symshuffle: {said}\n"


def test_a_matrix_is_not_spilled_into_a_refusal():
    with pytest.raises(InputError) as refusal:
        symshuffle.delta([Group(KRR, 2), Group(DOUBLES, DOUBLES)], **LEVEL)
    assert str(refusal.value).startswith("count = 0.5 0.5 0.25 0.75: expected")
    with pytest.raises(InputError, match=r"^n = 0.5 0.5 0.25 0.75: expected"):
        symshuffle.delta(KRR, n=DOUBLES, **LEVEL)


def test_a_trace_of_nothing_is_named():
    with pytest.raises(InputError, match=r"^trace = 0: expected"):
        symshuffle.utility.best_shrinkage_risk(2, F(0), 10)


def test_a_fault_of_the_library_is_shown_as_one(monkeypatch):
    def planted(*_, **__):
        raise AttributeError("planted")

    monkeypatch.setattr(ClosedForm, "law", planted)
    with pytest.raises(AttributeError, match="planted"):
        symshuffle.delta(randomizer("krr").at(k=3, lam="17/9"), n=3, **LEVEL)
    monkeypatch.setattr(symshuffle.accountants.questions.solve, "experiment", planted)
    with pytest.raises(AttributeError, match="planted"):
        cli.main(["delta", "krr", "-p", "k=3", "--lam", "17/9", "--n", "3", "--exp-eps", "6/5"])


MEASURE = (F(1, 2), F(1, 2)), (F(1, 3), F(2, 3))
RANGES = {
    "delta.eps": ("[0", lambda v: symshuffle.delta(KRR, n=3, eps=v)),
    "delta.exp_eps": ("[1", lambda v: symshuffle.delta(KRR, n=3, exp_eps=v)),
    "delta.dropout": ("[0, 1)", lambda v: symshuffle.delta(KRR, n=3, dropout=v, **LEVEL)),
    "epsilon.delta": ("(0, 1)", lambda v: symshuffle.epsilon(KRR, n=3, delta=v, rtol=0.1)),
    "renyi.order": ("[1", lambda v: symshuffle.renyi(KRR, n=3, order=v, rtol=0.1)),
    "hockey_stick.gamma": ("[0", lambda v: symshuffle.channels.hockey_stick(*MEASURE, v)),
    "subsample.probability": ("[0, 1]", lambda v: symshuffle.subsample(randomizer("rr"), v)),
    "mechanism.p": ("[0, 1]", lambda v: randomizer("aug-rr").at(k=3, lam=2, p=v)),
    "mechanism.lam": ("[1", lambda v: randomizer("krr").at(k=3, lam=v)),
    "mechanism.eps0": ("[0", lambda v: randomizer("krr").at(k=3, eps0=v)),
    "smoothed_point_masses.gamma": ("[0, 1]", lambda v: symshuffle.design.smoothed_point_masses(3, v)),
    "hockey_stick_measure.gamma": ("[0", lambda v: hockey_stick_measure(*MEASURE, v)),
    "optimal.lam": ("(1", lambda v: symshuffle.optimal(GUESS, lam=v)),
    "trace_frontier.budget": ("[0", lambda v: symshuffle.utility.trace_frontier(4, v)),
    "tradeoff.type_i": ("[0, 1]", lambda v: symshuffle.tradeoff(KRR, n=3, type_i=[v], num_levels=3)),
    "SphereLinear.c": ("(0, 1)", lambda v: symshuffle.vectors.SphereLinear(v, 2)),
    "PrivUnit.p": ("(0, 1)", lambda v: symshuffle.vectors.PrivUnit(v, 0, 2)),
    "BlanketMixedGaussian.gamma": ("(0, 1)", lambda v: symshuffle.vectors.BlanketMixedGaussian(v, 2)),
    "LocalGaussian.sigma0": ("(0", symshuffle.vectors.LocalGaussian),
    "confidence_ends.level": ("(0, 1)", lambda v: symshuffle.collect.confidence_ends(1, 4, v)),
}
"""What doors take of rational numbers: brackets as in intervals, open above where nothing is written."""


@pytest.mark.parametrize("door", RANGES)
def test_the_ends_of_a_range_are_those_that_are_said(door):
    said, ask = RANGES[door]
    low, _, high = said.strip("[]()").partition(", ")
    for end, away, taken in ((low, -1, said[0] == "["), (high, 1, said[-1] == "]")):
        if end:
            for value, good in ((F(end), taken), (F(end) + F(away, 10**6), False), (F(end) - F(away, 10**6), True)):
                if good:
                    ask(value)
                else:
                    with pytest.raises(InputError) as refusal:
                        ask(value)
                    assert refusal.value.argument.partition("[")[0] == door.partition(".")[2], value
