# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What the papers got wrong
#
# The ledger holds every numbered statement of five papers, each with a check. Most of them hold. This notebook lists
# the statements that are false as printed, and examines five of them: the printed statement, a counterexample that is
# computed here, and the corrected statement on the same numbers.
#
# Both statements are the callables of the claim, `claim.printed` and `claim.corrected.statement`; everything they are
# compared with comes from the library. None of the five touches the main result of its paper.

# %%
from collections import Counter
from fractions import Fraction

import matplotlib.pyplot as plt
import sympy as sp
from IPython.display import Markdown

import symshuffle as ss
from proofs_checks.decomposition.section33_published_pair import three_cell_laws
from proofs_checks.ldp_tradeoff import errata
from symshuffle.channels import law_divergence, symmetric_group, worst_shuffled_divergence
from symshuffle.decompositions import stronger_clone
from symshuffle.ledger import MEANINGS, load

ledger = load()
refuted = [claim for claim in ledger.claims if claim.expected == "refuted"]

# %% [markdown]
# ## The list
#
# Ids that begin with `symshuffle.` are findings without a number of their own in a paper: a sentence of the prose, a
# footnote, a step of a proof. They are sorted by what has to change. Each says whether its authors would agree or
# whether it is a matter of reading. Where the answer to a question or a conjecture is no, nobody made a mistake. The
# second column is the grade of the corrected statement.

# %%
for severity in ("result", "hypothesis", "wording", "question"):
    print(f"{MEANINGS[severity]}:")
    for claim in refuted:
        if claim.erratum.severity == severity:
            standing = claim.erratum.standing or ""
            print(f"  {claim.id:44} {claim.corrected.grade:12} {standing:8} {claim.title}")

# %%
Counter(claim.erratum.severity for claim in refuted)


# %% [markdown]
# Here are an entry of the ledger and the result of its check. The same check runs on the printed statement, on the
# corrected one, and on perturbed statements that it must reject.


# %%
def entry(name):
    """The claim in words, with its correction."""
    claim = ledger.claim(name)
    judged = f"*{MEANINGS[claim.erratum.severity]}.* {claim.erratum.because}"
    return Markdown(
        f"**{claim.source}** (`{name}`)\n\n{claim.words}\n\n**Corrected.** {claim.corrected.text}\n\n{judged}"
    )


def verdicts(name):
    """What a run of the claim finds."""
    outcome = ss.ledger.run_claim(ledger.claim(name))
    print(f"printed    {outcome.verdict}")
    print(f"corrected  {outcome.corrected.verdict}, {outcome.corrected.grade}")
    print(f"controls   {outcome.controls_rejected} of {outcome.controls} rejected")


# %% [markdown]
# ## 1. Two steps cost more than twice
#
# One user can be replaced in two steps: first by nobody, then by somebody else. Each step is covered at order
# $e^\varepsilon$ with mass $\delta$. The orders multiply, but the mass of one step is also multiplied by the order of
# the other step.

# %%
entry("vecmean.sec-2.3-adj")

# %% [markdown]
# Here are three laws on two outputs: for the message of one user, of a user who does not take part, and of another
# user.

# %%
claim = ledger.claim("vecmean.sec-2.3-adj")
somebody, nobody, other = (
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 5), Fraction(4, 5)),
    (Fraction(1, 20), Fraction(19, 20)),
)
exp_eps = Fraction(2)
steps = [(row, nobody) for row in (somebody, other)] + [(nobody, row) for row in (somebody, other)]
delta = max(ss.channels.hockey_stick(*pair, exp_eps) for pair in steps)
order, printed = claim.printed(exp_eps, delta)
found = max(ss.channels.hockey_stick(*pair, order) for pair in ((somebody, other), (other, somebody)))
print(f"zero-out neighbours at exp(eps) = {exp_eps}: delta = {delta}")
print(f"replace-one neighbours at exp(eps) = {order}: {found}")
print(f"printed bound {printed}, corrected bound {claim.corrected.statement(exp_eps, delta)[1]}")

# %% [markdown]
# The corrected bound is attained, and how far the printed one falls short grows with $\varepsilon$:

# %%
alpha, mass = sp.symbols("alpha delta", positive=True)
sp.simplify(claim.corrected.statement(alpha, mass)[1] / claim.printed(alpha, mass)[1])

# %%
verdicts("vecmean.sec-2.3-adj")

# %% [markdown]
# ## 2. A bound that bounds nothing
#
# The *stronger clone* bounds privacy amplification by a pair of three-cell histograms. The `decomposition` paper
# reports that its proof has a gap. The gap cannot be closed: real datasets exceed the bound.

# %%
entry("decomposition.eq-1")

# %%
claim = ledger.claim("decomposition.eq-1")
channel = ss.randomizer("subset-selection", k=3, s=2, lam=3).channel()
clone = stronger_clone(channel, (0, 1), position=Fraction(1))
intended, generic = (
    three_cell_laws(terms, clone.lam, clone.p, 2) for terms in (claim.printed, claim.corrected.statement)
)
exp_eps = Fraction(13, 5)
print("datasets (0, 0) and (1, 0): ", ss.channels.shuffled_divergence(channel, (0, 0), (1, 0), exp_eps))
print("intended bound:             ", law_divergence(*intended, exp_eps))
print("generic bound, equation (1):", law_divergence(*generic, exp_eps))

# %%
levels = [1 + Fraction(i, 20) for i in range(41)]
figure, axes = plt.subplots(figsize=(6, 3.6))
curves = {
    "two real datasets": [ss.channels.shuffled_divergence(channel, (0, 0), (1, 0), level) for level in levels],
    "intended bound": [law_divergence(*intended, level) for level in levels],
    "generic bound": [law_divergence(*generic, level) for level in levels],
}
for (label, values), style in zip(curves.items(), ("-", "--", ":"), strict=True):
    shown = [(float(x), float(y)) for x, y in zip(levels, values, strict=True) if y > 0]
    axes.semilogy(*zip(*shown, strict=True), style, label=label)
axes.set(xlabel="exp(eps)", ylabel="delta", title="subset selection, k = 3, s = 2, exp(eps0) = 3, two users")
axes.legend()
figure.tight_layout()

# %%
verdicts("decomposition.eq-1")

# %% [markdown]
# ## 3. A row of a table whose probabilities add up to more than one
#
# A decomposition splits $R(x_1^0)$ into components. The weight of a component is its weight in the blanket times a
# likelihood ratio, and the weights sum to 1. The row of Hadamard response does not.

# %%
entry("decomposition.table-2")

# %%
claim = ledger.claim("decomposition.table-2")
size = sp.Symbol("D", integer=True, positive=True)


def total(statement):
    """Mass of the first row of the pair: each component's weight times its ratio."""
    p, q, r, _ = statement("HR", ss.mechanisms.LAM, sp.sqrt(ss.mechanisms.LAM), size)
    weights = {
        (ss.mechanisms.LAM, 1): p,
        (1, ss.mechanisms.LAM): p,
        (ss.mechanisms.LAM, ss.mechanisms.LAM): q,
        (1, 1): r,
    }
    return sp.factor(sum(ratios[0] * weight for ratios, weight in weights.items()))


print("printed:  ", total(claim.printed))
print("corrected:", total(claim.corrected.statement))

# %% [markdown]
# The library derives the row from the definition of the mechanism, for all domains at once. Here are the printed and
# the corrected weight at ratio one, and the derived weight:

# %%
derived = ss.optimal_decomposition(ss.randomizer("hadamard"), limits=False)
at_one = next(cell.c for cell in derived.cells if cell.ratios == (1, 1))
for name, statement in (("printed", claim.printed), ("corrected", claim.corrected.statement)):
    difference = sp.simplify(statement("HR", ss.mechanisms.LAM, sp.sqrt(ss.mechanisms.LAM), size)[2] - at_one)
    print(f"{name:9} minus derived: {difference}")

# %%
verdicts("decomposition.table-2")

# %% [markdown]
# ## 4. The dataset that leaks most
#
# Which neighbouring datasets are the worst? The conjecture: everybody else holds a third input. With few users all
# datasets can be tried. Near the local budget, the worst case is that everybody holds the value of the first user.

# %%
entry("decomposition.sec-7")

# %%
claim = ledger.claim("decomposition.sec-7")
channel, lam, pair, users = ss.randomizer("krr", k=3, lam=3).channel(), Fraction(3), (0, 1), 3


def conjectured(statement, exp_eps):
    """The largest divergence over the backgrounds that a statement names."""
    backgrounds, _ = statement("krr", lam, 3, pair, users)
    return max(ss.channels.shuffled_divergence(channel, (0, *rest), (1, *rest), exp_eps) for rest in backgrounds)


for exp_eps in map(Fraction, ("11/10", "6/5", "3/2", "2", "14/5")):
    worst, background = worst_shuffled_divergence(channel, pair, users, exp_eps)
    print(f"exp(eps) = {exp_eps!s:6} worst {worst!s:9} others hold {background}", end=", ")
    print("conjectured", conjectured(claim.printed, exp_eps))

# %% [markdown]
# The corrected statement says where the conjecture is right: its second value is the largest $e^\varepsilon$ that is
# covered.

# %%
print("printed:   up to exp(eps) =", claim.printed("krr", lam, 3, pair, users)[1])
print("corrected: up to exp(eps) =", claim.corrected.statement("krr", lam, 3, pair, users)[1])

# %%
verdicts("decomposition.sec-7")

# %% [markdown]
# ## 5. One orbit is not enough
#
# With symmetry, and a risk that is concave in the channel, the best channel uses the outputs of a single orbit. The
# minimax risk is not concave. Here are three inputs and parameters of two kinds; all permutations act.

# %%
entry("symshuffle.ldp-minimax-single-orbit")

# %%
problem = errata.two_questions()
single = errata.best_orbit(problem, symmetric_group(3))
design = ss.optimal(problem, lam=errata.LAM, criterion="minimax")
print("best channel of a single orbit:", single)
print("best channel:                  ", design.value.exact)
print("its certificate, checked again:", design.certificates[0].prove(problem).exact)

# %%
verdicts("symshuffle.ldp-minimax-single-orbit")

# %% [markdown]
# ## How to go on
#
# `symshuffle show ID` prints an entry, `symshuffle verify ID` runs it. Each correction carries a grade of its own:
# *proved* for all parameters, *certified* by exact or ball arithmetic, *exact-cases* on finitely many cases. Whoever
# doubts a finding finds its check, with the perturbed statements that it rejects, under `proofs_checks`.
